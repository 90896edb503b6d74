"""Charts on the page: made once and drawn again when something changed, by a packaged Vega."""

from __future__ import annotations

import importlib.metadata
import re
from typing import Any

import pytest
from bundle import bundled_altair

pytest.importorskip("altair")
pytest.importorskip("traitlets")

from gpuplan import load_scenario
from gpuplan.app.state import Workbook
from gpuplan.app.steps.demand import day_rows
from gpuplan.catalog import Catalog
from gpuplan.report.charts.demand import day_chart
from gpuplan.report.charts.look import DARK, LIGHT, Look
from gpuplan.widgets import chart as charts
from gpuplan.widgets.chart import STATIC, ChartPlace


@pytest.fixture
def book(catalog: Catalog) -> Workbook:
    return Workbook(catalog, load_scenario("current"))


def test_a_chart_is_made_once_and_drawn_when_something_changed(book: Workbook) -> None:
    drawn: list[Look] = []

    def draw(data: dict[str, Any], look: Look) -> dict[str, Any]:
        drawn.append(look)
        return day_chart(data, look)

    chart = ChartPlace()

    def show(look: Look) -> None:
        chart.show(day_rows(book), draw, look, stale=book.stale)

    show(LIGHT)
    (first,) = chart.children
    show(LIGHT)
    assert drawn == [LIGHT]
    show(DARK)
    book.edit("groups.data-scientists.people", "50")
    show(DARK)
    assert drawn == [LIGHT, DARK, DARK]
    assert chart.children == (first,)
    assert first.chart == day_chart(day_rows(book), DARK)
    book.edit("hardware.gpus_per_host", "many")
    show(DARK)
    assert "gp-stale" in chart._dom_classes
    assert len(drawn) == 3
    book.open_example("blank")
    show(DARK)
    assert chart.children == ()
    assert "gp-stale" not in chart._dom_classes


def test_bundle_belongs_to_the_installed_altair() -> None:
    installed = importlib.metadata.version("altair")  # Vega changes with altair's minor versions
    assert bundled_altair().split(".")[:2] == installed.split(".")[:2], "run: make bundle"
    source = charts.BUNDLE.read_text(encoding="utf-8")
    assert "https://esm.sh" not in source
    assert "cdn.jsdelivr" not in source


def test_no_part_asks_for_the_width_of_the_window_and_what_is_fixed_stands_in_no_container() -> None:
    style = (STATIC / "app.css").read_text(encoding="utf-8")
    assert not re.findall(r"@media \((?:min|max)-width", style)
    contained = re.findall(r"\.(gp-[\w-]+) \{[^}]*\bcontainer:", style)
    assert set(contained) == {"gp-bar-row", "gp-part-nav", "gp-work", "gp-part-strip", "gp-part-panel"}, (
        "the notice and the drawer stand in none of them"
    )
