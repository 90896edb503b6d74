"""The chart of what is left when hosts are lost."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("altair")
pytest.importorskip("traitlets")

import altair as alt
from approved import is_approved

import gpuplan
from gpuplan import Plan, load_scenario, make_plan
from gpuplan.analysis.purchases import purchase_ways
from gpuplan.app.state import Workbook
from gpuplan.app.steps.training import scaling_head, scaling_rows
from gpuplan.catalog import Catalog
from gpuplan.plan.training.scaling import Curve
from gpuplan.report.charts.design import (
    CHOSEN,
    THICK,
    capacity_chart,
    capacity_rows,
    curve_look,
    purchases_chart,
    purchases_rows,
    scaling_chart,
    years_chart,
    years_rows,
)
from gpuplan.report.charts.look import DARK, LIGHT, Look
from gpuplan.widgets.chart import split_rows
from gpuplan.wording import NAMES


def test_the_chart_shows_the_levels(plans: dict[str, Plan]) -> None:
    rows = capacity_rows(plans["enterprise"])
    assert [row["left"] for row in rows] == [32, 28, 24]
    assert is_approved([row["state"] for row in rows])
    assert {row["occupied"] for row in rows} == {28}


def test_the_chart_names_only_what_it_may_show(plans: dict[str, Plan]) -> None:
    rows = capacity_rows(plans["enterprise"])
    for shown in (rows, rows[:2]):
        drawn = capacity_chart(shown, DARK)
        domain = drawn["layer"][0]["encoding"]["color"]["scale"]["domain"]
        assert domain == list(dict.fromkeys(row["state"] for row in shown))


def rows_of(plan: Plan) -> dict[str, Any]:
    assert plan.costs is not None
    return years_rows(plan.costs)


@pytest.fixture
def data(catalog: Catalog) -> dict[str, Any]:
    return rows_of(make_plan(load_scenario("current"), catalog))


@pytest.mark.parametrize("look", [LIGHT, DARK])
def test_the_chart_is_valid_and_holds_every_row(data: dict[str, Any], look: Look) -> None:
    spec = years_chart(data, look)
    alt.Chart.from_dict(json.loads(json.dumps(spec, allow_nan=False)))
    bars, letters, sums = spec["layer"]
    assert bars["data"]["values"] == letters["data"]["values"] == data["rows"]
    assert [row["at"] for row in sums["data"]["values"]] == [0, 1, 2, 3, 4, 5]


@pytest.mark.parametrize("look", [LIGHT, DARK])
def test_purchases_are_drawn_against_what_is_needed(catalog: Catalog, look: Look) -> None:
    found = purchase_ways(make_plan(load_scenario("current"), catalog))
    data = purchases_rows(found)
    spec = purchases_chart(data, look)
    alt.Chart.from_dict(json.loads(json.dumps(spec, allow_nan=False)))
    years = [row["planned"] for row in data["need"]]
    assert years == [*found.need["planned"], found.need["planned"][-1]]  # the last year lasts to its end
    for way in found.ways:
        drawn = [row["hosts"] for row in data["rows"] if row["way"] == NAMES["way to buy"][way.key]]
        assert drawn == [*way.owned, way.owned[-1]]
    looks = spec["layer"][2]["encoding"]
    assert (
        len({*looks["color"]["scale"]["range"]})
        == len(looks["strokeDash"]["scale"]["range"])
        == len(found.ways)
    )
    assert purchases_rows(purchase_ways(make_plan(load_scenario("starter"), catalog))) == {}


def test_parts_stand_on_each_other_and_what_is_left_hangs_below_zero(catalog: Catalog) -> None:
    data = rows_of(make_plan(load_scenario("current").with_value("cost.residual_share", 0.2), catalog))
    for at in range(6):
        column = [row for row in data["rows"] if row["at"] == at]
        assert all(row["high"] - row["low"] == pytest.approx(row["cost"]) for row in column)
        assert all(row["middle"] == pytest.approx((row["low"] + row["high"]) / 2) for row in column)
        for sign in (1, -1):
            pile = [row for row in column if sign * row["cost"] > 0]
            assert [row["low"] for row in pile] == [0.0, *(row["high"] for row in pile[:-1])][: len(pile)]
        paid = sum(row["cost"] for row in column if row["cost"] > 0)
        assert paid == pytest.approx(next(each["top"] for each in data["sums"] if each["at"] == at))
    assert min(row["high"] for row in data["rows"]) < 0


def test_other_years_change_rows_and_no_more_than_rows(catalog: Catalog) -> None:
    before, after = (
        split_rows(years_chart(rows_of(make_plan(scenario, catalog)), LIGHT))
        for scenario in (load_scenario("current"), load_scenario("current").with_value("cost.years", 4))
    )
    assert before[0] == after[0]
    assert before[1] != after[1]


def test_large_parts_have_their_letter_and_small_ones_none(data: dict[str, Any]) -> None:
    tops: dict[str, float] = {}
    for row in data["rows"]:
        tops[row["year"]] = tops.get(row["year"], 0.0) + max(0.0, row["cost"])
    tallest = max(tops.values())
    assert {bool(row["letter"]) for row in data["rows"]} == {True, False}
    for row in data["rows"]:
        assert bool(row["letter"]) == (abs(row["cost"]) > 0.05 * tallest)


def test_the_same_part_has_the_same_colour_and_letter_in_every_year(data: dict[str, Any]) -> None:
    looks: dict[str, set[str]] = {}
    for row in data["rows"]:
        looks.setdefault(row["part"], set()).add(row["ink"])
    assert all(len(inks) == 1 for inks in looks.values())


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
