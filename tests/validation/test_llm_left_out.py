"""Page and chapter say what sources that were left out of the fit find."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from gpuplan.catalog import Catalog
from gpuplan.plan.llm_parts import ranges_of, speeds_of
from validation import __main__, llm_left_out
from validation.__main__ import main
from validation.llm_fit import LeftOut, spreads
from validation.llm_left_out import (
    AIMS,
    KEPT,
    NAMES,
    Seen,
    aim_rows,
    far_models,
    keep,
    kept_fits,
    page,
    seen,
    whole_rows,
)

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def fits(catalog: Catalog) -> tuple[LeftOut, ...]:
    return kept_fits(catalog)


@pytest.fixture(scope="module")
def figures(fits: tuple[LeftOut, ...]) -> tuple[Seen, ...]:
    return seen(fits)


def test_page_and_chapter_have_the_tables_of_the_fits_kept(
    catalog: Catalog, figures: tuple[Seen, ...]
) -> None:
    text = (ROOT / "tests" / "VALIDATION.md").read_text(encoding="utf-8")
    tables = page(catalog, figures).split("\n\n")
    assert len(tables) == 4
    assert [table.strip() in text for table in tables] == [True] * 4
    cells = json.loads((ROOT / "notebooks" / "08_language_models.ipynb").read_text(encoding="utf-8"))["cells"]
    chapter = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown"]
    assert sum(tables[0].strip() in cell for cell in chapter) == 1


def test_the_readme_has_the_medians_of_the_best_and_the_worst_source(figures: tuple[Seen, ...]) -> None:
    text = " ".join((ROOT / "notebooks" / "README.md").read_text(encoding="utf-8").split())
    ends = " to ".join((r"(\d+)", r"(\d+) %"))
    said = re.search(f"off by {ends} in the median, the first token by {ends}, a busy [^,]+ by {ends}", text)
    assert said
    medians: list[int] = []
    for name in NAMES.values():
        found = [int(row[3].rstrip(" %")) for row in whole_rows(figures) if row[1] == name]
        medians += [min(found), max(found)]
    assert [int(number) for number in said.groups()] == medians


def test_all_sources_are_left_out_and_all_figures_predicted(figures: tuple[Seen, ...]) -> None:
    assert {each.source for each in figures} == set(json.loads(KEPT.read_text(encoding="utf-8")))
    assert {each.prediction.quantity for each in figures} == set(NAMES)
    assert all(each.prediction.predicted and each.prediction.low for each in figures)


def test_no_fit_without_a_source_is_that_of_the_catalog(catalog: Catalog, fits: tuple[LeftOut, ...]) -> None:
    assert all(group.speeds != speeds_of(catalog) for group in fits)


def test_the_ranges_of_the_catalog_are_those_of_such_fits(
    catalog: Catalog, fits: tuple[LeftOut, ...]
) -> None:
    """Within a fifth: the fits start from the parameters of the catalog, and stop after some steps."""
    ends = {"tpot_ms": "token", "ttft_ms": "first", "tokens_per_s": "rate"}
    for each in spreads(fits):
        found = getattr(
            ranges_of(catalog, each.load, experts=each.experts, known=each.known), ends[each.quantity]
        )
        assert found == pytest.approx((each.low, each.high), rel=0.2), each


def test_aims_name_sources_on_one_side_only(figures: tuple[Seen, ...]) -> None:
    rows = aim_rows(figures)
    assert [row[0] for row in rows] == [aim.name for aim in AIMS]
    for _, met, missed in rows:
        assert not {name for name in met.split(", ") if name != "–" and name in missed}


def test_models_named_are_off_by_more_than_a_third(catalog: Catalog, figures: tuple[Seen, ...]) -> None:
    far = far_models(catalog, figures)
    assert far and all(int(row[3]) >= llm_left_out.LEAST for row in far)
    assert all(abs(int(row[4].rstrip(" %"))) >= 100 * llm_left_out.FAMILY for row in far)


def test_the_command_keeps_each_fit_and_prints_the_page(
    capsys: pytest.CaptureFixture[str],
    catalog: Catalog,
    fits: tuple[LeftOut, ...],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(llm_left_out, "left_out", lambda catalog: iter(fits))
    keep(catalog, tmp_path / "fits.json")
    assert (tmp_path / "fits.json").read_text(encoding="utf-8") == KEPT.read_text(encoding="utf-8")
    monkeypatch.setattr(llm_left_out, "keep", lambda catalog: None)
    monkeypatch.setattr(__main__, "kept_fits", lambda catalog: fits)
    assert main(["--left-out"]) == 0
    assert capsys.readouterr().out == page(catalog, seen(fits))
