"""The charts of the demand step: Vega-Lite that altair's own schema accepts, and that shows what it was given."""

from __future__ import annotations

from typing import Any

import pytest
from approved import has_approved, is_approved

pytest.importorskip("altair")
pytest.importorskip("traitlets")

import altair as alt

from gpuplan import load_scenario
from gpuplan.app.state import Workbook
from gpuplan.app.steps.demand import day_rows
from gpuplan.app.steps.methods import odds_rows
from gpuplan.catalog import Catalog
from gpuplan.report.charts.demand import (
    FLOOR,
    LEAST_CHANCE,
    LINE,
    _stretches,
    day_chart,
    hours_chart,
    odds_chart,
)
from gpuplan.report.charts.look import DARK, LIGHT
from gpuplan.scenario import METHODS
from gpuplan.widgets.chart import split_rows
from gpuplan.wording import METHOD_NAMES


@pytest.fixture
def book(catalog: Catalog) -> Workbook:
    return Workbook(catalog, load_scenario("current"))


def layers(spec: dict[str, Any], kind: str) -> list[dict[str, Any]]:
    return [layer for layer in spec["layer"] if layer["mark"]["type"] == kind]


@pytest.mark.parametrize("rule", ["sum", "wait", "wait-time", "denied"])
def test_both_are_valid_vega_lite(book: Workbook, rule: str) -> None:
    book.edit("demand.rule", rule)
    for spec in (day_chart(day_rows(book), LIGHT), odds_chart(odds_rows(book), DARK)):
        alt.Chart.from_dict(spec, validate=True)
        assert spec["description"]


def test_the_hours_of_language_models_are_lines(catalog: Catalog) -> None:
    book = Workbook(catalog, load_scenario("assistant"))
    book.look("hours", "tokens")
    data = day_rows(book)
    spec = hours_chart(data, LIGHT)
    alt.Chart.from_dict(spec, validate=True)
    (lines,) = layers(spec, "line")
    assert lines["data"]["values"] == data["rows"] and lines["encoding"]["y"]["title"] == "Tokens/s"
    assert (
        hours_chart(day_rows(Workbook(catalog, load_scenario("current"))), LIGHT)["description"]
        != spec["description"]
    )


def test_the_hours_are_bars_under_their_lines(book: Workbook) -> None:
    data = day_rows(book)
    spec = day_chart(data, LIGHT)
    (bars,) = layers(spec, "rect")
    assert bars["data"]["values"] == data["rows"]
    scale = bars["encoding"]["color"]["scale"]
    assert list(zip(scale["domain"], scale["range"], strict=True)) == data["groups"]
    (rules,) = layers(spec, "rule")
    assert [row["gpus"] for row in rules["data"]["values"]] == [line["gpus"] for line in data["lines"]]


def test_only_rows_are_sent_when_only_rows_change() -> None:
    line = {"gpus": 28, "words": "planned", "below": False, "dashed": False}
    row = {"x": 0, "end": 1, "low": 0.0, "group": "A", "clock": "", "gpus": "3.00"}
    letter = {"x": 0.5, "y": 1.5, "letter": "A", "ink": "#000"}
    data = {"groups": [("A", "#111")], "days": ["Wed"], "place": "UTC"}
    specs, rows = [], []
    for lines, gpus in (([line], 3.0), ([line, line | {"below": True}], 4.0)):
        changing = {"lines": lines, "rows": [row | {"high": gpus}], "letters": [letter][: int(gpus) - 3]}
        spec, named = split_rows(day_chart(data | changing, LIGHT))
        specs.append(spec)
        rows.append(named)
    assert specs[0] == specs[1]
    assert "values" not in str(specs[0]["layer"][0]["data"])
    used = [layer["data"]["name"] for layer in specs[0]["layer"]]
    assert set(used) == set(rows[0]) == set(rows[1])
    assert rows[1][used[0]] == [row | {"high": 4.0}]


def test_each_method_has_a_line_of_its_own_colour_and_dashes(book: Workbook) -> None:
    assert set(LINE) == set(METHODS) - {"auto"}
    assert len({colour for colour, _ in LINE.values()}) == len({str(dash) for _, dash in LINE.values()}) == 3
    book.edit("groups.data-scientists.jobs_per_day", "20")
    (line,) = layers(odds_chart(odds_rows(book), LIGHT), "line")
    assert line["encoding"]["color"]["scale"]["domain"] == [METHOD_NAMES["poisson"], METHOD_NAMES["bursty"]]
    (area,) = layers(odds_chart(odds_rows(book), LIGHT), "area")
    assert {row["method"] for row in area["data"]["values"]} == {METHOD_NAMES["bursty"]}


def test_no_chance_is_zero_on_a_logarithmic_axis(book: Workbook) -> None:
    data = odds_rows(book)
    assert min(row["chance"] for row in data["rows"]) < FLOOR < LEAST_CHANCE
    (line,) = layers(odds_chart(data, LIGHT), "line")
    assert min(row["chance"] for row in line["data"]["values"]) == FLOOR
    assert line["mark"]["clip"]


def test_the_target_and_what_is_installed_are_rules(book: Workbook) -> None:
    book.edit("demand.chance", "0.1")
    rules = [rule["data"]["values"][0] for rule in layers(odds_chart(odds_rows(book), LIGHT), "rule")]
    assert is_approved([rule["words"] for rule in rules], "target 10 %", "32 GPUs")
    assert (rules[0]["chance"], rules[1]["gpus"]) == (0.1, 32)


def test_what_was_simulated_is_points_and_without_there_is_no_layer_of_them(book: Workbook) -> None:
    data = odds_rows(book)
    assert data["simulated"] == []
    assert layers(odds_chart(data, LIGHT), "point") == []
    points = [{"gpus": 40, "chance": 0.0, "shown": "0 %"}, {"gpus": 36, "chance": 0.2, "shown": "20 %"}]
    spec = odds_chart(data | {"simulated": points}, LIGHT)
    alt.Chart.from_dict(spec, validate=True)
    (seen,) = layers(spec, "point")
    assert [row["chance"] for row in seen["data"]["values"]] == [LEAST_CHANCE, 0.2]
    assert seen["mark"]["aria"] is False
    assert has_approved(spec["description"])


def test_a_dark_theme_has_light_ink(book: Workbook) -> None:
    for look in (LIGHT, DARK):
        assert layers(day_chart(day_rows(book), look), "rule")[0]["mark"]["color"] == look.ink


def test_hours_in_which_nothing_changes_are_one_bar() -> None:
    day, night = [0.0] * 9 + [3.0] * 8 + [0.0] * 7, [1.0] * 12 + [2.0] * 12
    assert [(first, last) for first, last, *_ in _stretches([0.0] * 24, day)] == [(0, 9), (9, 17), (17, 24)]
    assert _stretches(day, night) == [
        (0, 9, 0.0, 1.0),
        (9, 12, 3.0, 1.0),
        (12, 17, 3.0, 2.0),
        (17, 24, 0.0, 2.0),
    ]
    assert _stretches([0.0] * 24, [1.0] * 24) == [(0, 24, 0.0, 1.0)]
