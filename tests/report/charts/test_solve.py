"""What each budget buys, as rows and as a chart."""

from __future__ import annotations

from typing import Any

import pytest

from gpuplan.report.charts.look import DARK, LIGHT, PAPER, Look
from gpuplan.report.charts.solve import KINDS, curve_chart, curve_rows, under


def found(*points: tuple[float, float]) -> dict[str, Any]:
    designs = [{"value": v, "net_present": c, "hosts": 1, "label": f"for {v:g}"} for v, c in points]
    return {"points": designs, "currency": "EUR", "quantity": {"name": "users of A"}}


POINTS = found((5, 100.0), (10, 200.0), (30, 900.0))


@pytest.mark.parametrize(("budget", "value"), [(None, None), (99, None), (100, 5), (899, 10), (5000, 30)])
def test_the_most_for_a_budget_is_marked(budget: float | None, value: float | None) -> None:
    best = under(POINTS, budget)
    marked = [p["value"] for p in curve_rows(POINTS, budget)["points"] if p["kind"] == KINDS["chosen"]]
    assert (best and best["value"], marked) == (value, [value] if value else [])


def test_the_line_goes_on_to_the_budget_and_the_design_as_it_is_stands_beside_it() -> None:
    rows = curve_rows(POINTS, 1000.0, (12, 950.0))
    beyond = curve_rows(POINTS, None, (12, 9500.0))["rows"]
    assert beyond[-1]["cost"] < 9500, "what was not searched is not said to buy no more"
    assert rows["rows"][-1] == {"cost": 1000.0, "value": 30} and rows["lines"][0]["cost"] == 1000.0
    assert rows["points"][-1]["kind"] == KINDS["asked"] and rows["points"][-1]["click"] is None
    assert rows["points"][0]["click"] == {"type": "look", "what": "budget", "value": "100.0"}
    assert curve_rows(found()) == {}


@pytest.mark.parametrize("look", [LIGHT, DARK, PAPER])
def test_the_axes_name_what_is_served_and_the_currency(look: Look) -> None:
    layers = curve_chart(curve_rows(POINTS, 150.0), look)["layer"]
    axes = layers[0]["encoding"]
    assert axes["y"]["title"] == "Users of A" and "EUR" in axes["x"]["title"]
    assert layers[-1]["encoding"]["shape"]["scale"]["domain"] == [KINDS["point"], KINDS["chosen"]]
