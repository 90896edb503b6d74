"""The chart of the years: a bar for each year, a letter on each part that has room for it."""

from __future__ import annotations

import json
from typing import Any

import pytest

pytest.importorskip("altair")

import altair as alt

from gpuplan import Plan, load_scenario, make_plan
from gpuplan.catalog import Catalog
from gpuplan.report.charts.cost import years_chart, years_rows
from gpuplan.report.charts.look import DARK, LIGHT, Look
from gpuplan.widgets.chart import split_rows


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
