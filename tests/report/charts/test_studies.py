"""What charts of studies draw: an axis with most numbers, marks for what cannot be bought, and every draw once."""

from __future__ import annotations

from typing import Any

import pytest

from gpuplan.report.charts import studies
from gpuplan.report.charts.look import NOTEBOOK
from gpuplan.report.charts.studies import (
    BINS,
    SHAPES,
    STATES,
    draws_chart,
    draws_rows,
    study_chart,
    study_rows,
)


def row(gpu: str, people: int, hosts: int | None, *, valid: bool = True) -> dict[str, Any]:
    return {
        "gpu": gpu,
        "people": people,
        "hosts": hosts,
        "valid": valid,
        "refused": "" if hosts else "too few",
    }


ROWS = [row("a", 1, 2), row("a", 2, 3, valid=False), row("b", 1, 4), row("b", 2, None)]


def test_numbers_are_the_axis_and_each_other_value_is_a_line() -> None:
    data = study_rows(ROWS, ["gpu", "people"], "hosts", {"people": "Users"}, {"hosts": "host"})
    assert (data["axis"], data["kind"], data["names"]) == ("Users", "quantitative", ["a", "b"])
    assert [(at["x"], at["series"], at["value"]) for at in data["rows"]] == [
        (1, "a", 2), (2, "a", 3), (1, "b", 4), (2, "b", None)
    ]  # fmt: skip
    assert [at["state"] for at in data["rows"]] == [
        STATES[s] for s in ("valid", "invalid", "valid", "refused")
    ]
    assert data["rows"][3]["words"] == "too few" and set(SHAPES) == set(STATES.values())
    drawn = study_chart(data, NOTEBOOK)["layer"]
    assert [layer["mark"]["type"] for layer in drawn] == ["line", "point", "text"]
    assert len(drawn[1]["data"]["values"]) == 3 and len(drawn[2]["data"]["values"]) == 1


def test_texts_alone_are_points_and_many_lines_a_map(monkeypatch: pytest.MonkeyPatch) -> None:
    data = study_rows(ROWS, ["gpu"], "hosts", {}, {})
    assert data["kind"] == "nominal"
    assert [layer["mark"]["type"] for layer in study_chart(data, NOTEBOOK)["layer"]] == ["point", "text"]
    monkeypatch.setattr(studies, "MANY", 1)
    data = study_rows(ROWS, ["gpu", "people"], "hosts", {}, {})
    assert [layer["mark"]["type"] for layer in study_chart(data, NOTEBOOK)["layer"]] == ["rect", "text"]


def test_without_any_figure_there_is_no_chart() -> None:
    assert study_rows([row("b", 2, None)], ["gpu"], "hosts", {}, {}) == {}
    assert draws_rows([], {}, "", "") == {}


def test_few_whole_numbers_have_a_bar_each_and_others_intervals() -> None:
    for values, kind, binned in (
        ([8, 9, 9, 11], "ordinal", False),
        ([8.5, 9.0], "quantitative", {"maxbins": BINS}),
    ):
        bars, lines, words = draws_chart(draws_rows(values, {0.5: 9}, "Hosts", "host"), NOTEBOOK)["layer"]
        assert [row["value"] for row in bars["data"]["values"]] == values
        assert (bars["encoding"]["x"]["type"], bars["encoding"]["x"]["bin"]) == (kind, binned)
        assert [row["value"] for row in lines["data"]["values"]] == [9] and "9 hosts" in str(words["data"])
