"""The charts of the compare step: what each mark stands for is never said by its colour alone."""

from __future__ import annotations

import json
from typing import Any

import pytest

pytest.importorskip("altair")

import altair as alt

from gpuplan.report.charts.explore import OTHER, WINNER, frontier_chart, tornado_chart
from gpuplan.report.charts.look import DARK, LIGHT, Look

OPTION = {
    "label": "A",
    "cost": 1e6,
    "short_h": 0.0,
    "waiting": 0.0,
    "money": "USD 1",
    "hours": "none",
    "wait": "0 %",
}


@pytest.mark.parametrize("look", [LIGHT, DARK])
def test_a_frontier_of_one_design_can_be_drawn(look: Look) -> None:
    data = {
        "rows": [OPTION | {"kind": WINNER}],
        "kinds": [WINNER, OTHER],
        "currency": "EUR",
    }
    spec = frontier_chart(data, look)
    alt.LayerChart.from_dict(json.loads(json.dumps(spec, allow_nan=False)))
    points = spec["layer"][0]["encoding"]
    assert points["shape"]["scale"]["domain"] == points["color"]["scale"]["domain"] == [WINNER]
    assert points["y"]["scale"]["domain"][1] > 0
    assert "EUR" in points["x"]["title"]


@pytest.mark.parametrize("view", ["cost", "hosts"])
def test_the_ends_of_a_bar_carry_the_value_of_the_input(view: str) -> None:
    def end(name: str, value: float, at: str) -> dict[str, Any]:
        return {
            "input": "PUE",
            "end": f"at its {name} end",
            "value": value,
            "middle": 8,
            "at": at,
            "words": "",
            "right": value > 8,
        }

    rows = [end("low", 7, "1.2"), end("high", 10, "2.5")]
    data = {"rows": rows, "middle": 8, "title": "Hosts", "view": view, "inputs": ["PUE"]}
    spec = tornado_chart(data, LIGHT)
    alt.LayerChart.from_dict(json.loads(json.dumps(spec, allow_nan=False)))
    _, right, left, now = spec["layer"]
    assert [row["at"] for row in right["data"]["values"]] == ["2.5"]
    assert [row["at"] for row in left["data"]["values"]] == ["1.2"]
    assert now["data"]["values"] == [{"value": 8}]
