"""The chart of the years: a bar for each year, a letter on each part that has room for it."""

from __future__ import annotations

import json
from typing import Any

import pytest

pytest.importorskip("altair")

import altair as alt

from gpuplan import load_scenario
from gpuplan.app.model import Workbook
from gpuplan.app.steps.cost_chart import years_chart
from gpuplan.app.steps.cost_step import years_rows
from gpuplan.catalog import Catalog


@pytest.fixture
def data(catalog: Catalog) -> dict[str, Any]:
    return years_rows(Workbook(catalog, load_scenario("current")))


@pytest.mark.parametrize("dark", [False, True])
def test_the_chart_is_valid_and_holds_every_row(data: dict[str, Any], dark: bool) -> None:
    spec = years_chart(data, dark)
    alt.Chart.from_dict(json.loads(json.dumps(spec, allow_nan=False)))
    bars, letters, sums = spec["layer"]
    assert bars["data"]["values"] == letters["data"]["values"] == data["rows"]
    assert [row["year"] for row in sums["data"]["values"]] == data["years"]


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
