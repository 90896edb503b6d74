"""The scaling chart: Vega-Lite that altair's own schema accepts, and that shows what it was given."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("altair")
pytest.importorskip("traitlets")

import altair as alt

import gpuplan
from gpuplan import load_scenario
from gpuplan.app.state import Workbook
from gpuplan.app.steps.training import scaling_head, scaling_rows
from gpuplan.catalog import Catalog
from gpuplan.plan.training.scaling import Curve
from gpuplan.report.charts.look import DARK, LIGHT
from gpuplan.report.charts.network import CHOSEN, THICK, curve_look, scaling_chart
from gpuplan.widgets.chart import split_rows


@pytest.fixture
def book(catalog: Catalog) -> Workbook:
    return Workbook(catalog, load_scenario("current"))


def layer(spec: dict[str, Any], kind: str) -> list[dict[str, Any]]:
    return [each for each in spec["layer"] if each["mark"]["type"] == kind]


@pytest.mark.parametrize("link", ["1", "10", "25", "40", "100", "400"])
@pytest.mark.parametrize("view", ["efficiency", "speed"])
def test_it_is_valid_vega_lite(book: Workbook, link: str, view: str) -> None:
    book.edit("network.link_gbit_s", link)
    book.look("scaling", view)
    spec = scaling_chart(scaling_rows(book), DARK if view == "speed" else LIGHT)
    alt.Chart.from_dict(spec, validate=True)
    assert "Throughput" in spec["description"] if view == "speed" else "Efficiency" in spec["description"]
    assert len(layer(spec, "area")) == (view == "efficiency")  # a range is known of the efficiency


def test_the_design_is_thick_with_its_band_and_the_others_differ_by_more_than_colour(book: Workbook) -> None:
    data = scaling_rows(book)
    spec = scaling_chart(data, LIGHT)
    others, own = layer(spec, "line")
    assert own["mark"]["strokeWidth"] > 2 * others["mark"]["strokeWidth"]
    (band,) = layer(spec, "area")
    assert band["data"] == own["data"]
    legend = scaling_head(book)["legend"]
    assert {row["name"] for row in own["data"]["values"]} == {legend[0]["name"]}
    assert (legend[0]["ink"], legend[0]["point"], legend[0]["width"]) == (CHOSEN, "circle", THICK)
    assert len({(each["ink"], each["point"]) for each in legend}) == len(legend)
    for each in legend[1:]:
        assert (each["dash"] == [1, 0]) == ("RDMA" in each["name"])
    for row in data["rows"]:  # what is drawn is what the names above the chart say
        (named,) = (each for each in legend if each["name"] == row["name"])
        assert {key: row[key] for key in named} == named


def test_another_network_changes_rows_and_no_more_than_rows(book: Workbook) -> None:
    before = split_rows(scaling_chart(scaling_rows(book), LIGHT))
    book.edit("network.link_gbit_s", "25")
    after = split_rows(scaling_chart(scaling_rows(book), LIGHT))
    assert before[0] == after[0]
    assert before[1] != after[1]


def test_the_legend_can_draw_every_point() -> None:
    """A point that panel.js does not know stops the card."""
    script = (Path(gpuplan.__file__).parent / "widgets/static/panel.js").read_text(encoding="utf-8")
    drawn = script[script.index("const points = {") :].splitlines()[0]
    for links in (1, 2):
        for transport in ("tcp", "roce"):
            look = curve_look(Curve(100, transport, "", False, (), links))
            assert re.search(rf'[ "]{look["point"]}"?: \(\)', drawn), look["point"]
