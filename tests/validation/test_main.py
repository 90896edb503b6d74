"""`make refit`: parameters, errors and the exit code."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from approved import has_approved

from gpuplan.catalog import Catalog
from validation import calibration, report
from validation.__main__ import main
from validation.llm_memory_runs import kept


def test_the_catalog_holds_what_a_fit_gives(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is predicted from the others is in test_report.py: here all is fitted, and nothing left out."""
    monkeypatch.setattr(report, "left_out_errors", lambda catalog: ())
    monkeypatch.setattr(report, "_ranges", lambda catalog: [])
    monkeypatch.setattr(report, "unseen", lambda catalog, area: calibration.points(catalog))
    code = main([])
    out = capsys.readouterr().out
    assert code == 0, out
    assert has_approved(out)


def test_a_parameter_that_no_fit_gives_is_told_with_exit_code_1(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only remoting is fitted again: the other areas are in the test above, and take 15 s."""

    def fit(catalog: Catalog, area: str) -> dict[str, float]:
        return calibration.fit(catalog, area) if area == calibration.COLD else {}

    monkeypatch.setattr(report, "fit", fit)
    monkeypatch.setattr(report, "NAMES", ())
    monkeypatch.setattr(report, "left_out_errors", lambda catalog: ())
    monkeypatch.setattr(report, "_ranges", lambda catalog: [])
    monkeypatch.setattr(report, "unseen", lambda catalog, area: calibration.points(catalog))
    (tmp_path / "assumptions.csv").write_text(
        "item,parameter,value,low,high,unit,basis,source,locator,note\n"
        "remoting,ready_s,0.9,0.8,1,s,fitted,gpuless-thesis,,\n",
        encoding="utf-8",
    )
    code = main(["--json", "--catalog", str(tmp_path)])
    out = capsys.readouterr().out
    data = json.loads(out, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))
    assert code == 1
    assert [(p["parameter"], p["value"]) for p in data["parameters"] if p["moved"]] == [("ready_s", 0.9)]


def test_memory_has_a_row_for_each_figure(catalog: Catalog) -> None:
    lines = report.memory_text(kept(catalog)).splitlines()
    assert len(lines) == 3 + len({figure.quantity for figure in kept(catalog)})
