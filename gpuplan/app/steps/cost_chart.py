"""The chart of the cost step as Vega-Lite: what is paid at the start and in each year, by part."""

from __future__ import annotations

from typing import Any

from gpuplan.widgets.chart import DARK, LIGHT, SCHEMA, theme

Spec = dict[str, Any]

MONEY = "replace(format(datum.value, '~s'), 'G', ' bn')"
"""Words at an axis of money."""


def years_chart(data: Spec, dark: bool) -> Spec:
    """Cash by year, stacked by part; every part has its letter, what is worth something at the end is below zero."""
    shades = DARK if dark else LIGHT
    rows = {"values": data["rows"]}
    x: Spec = {
        "type": "quantitative",
        "title": None,
        "scale": {"zero": False, "nice": False},
        "axis": {
            "labelExpr": "datum.value ? 'Year ' + datum.value : 'Start'",
            "tickMinStep": 1,
            "ticks": False,
            "domain": False,
            "grid": False,
        },
    }
    y: Spec = {
        "type": "quantitative",
        "title": f"Paid, {data['currency']}",
        "axis": {"labelExpr": MONEY, "tickCount": 5},
    }
    bars = {
        "data": rows,
        "mark": {
            "type": "rect",
            "stroke": "#ffffff" if not dark else "#18202b",
            "strokeWidth": 1,
            "aria": False,
        },
        "encoding": {
            "x": x | {"field": "left"},
            "x2": {"field": "right"},
            "y": y | {"field": "low"},
            "y2": {"field": "high"},
            "color": {"field": "ink", "type": "nominal", "scale": None, "legend": None},
            "tooltip": [
                {"field": "part", "type": "nominal", "title": "Part"},
                {"field": "year", "type": "nominal", "title": "When"},
                {"field": "words", "type": "nominal", "title": "Paid"},
            ],
        },
    }
    letters = {
        "data": rows,
        "mark": {"type": "text", "fontSize": 11, "fontWeight": 600, "aria": False},
        "encoding": {
            "x": x | {"field": "at"},
            "y": y | {"field": "middle"},
            "color": {"field": "pen", "type": "nominal", "scale": None},
            "text": {"field": "letter"},
        },
    }
    sums = {
        "data": {"values": data["sums"]},
        "mark": {"type": "text", "dy": -8, "color": shades["ink"], "fontWeight": 600},
        "encoding": {
            "x": x | {"field": "at"},
            "y": y | {"field": "top"},
            "text": {"field": "words"},
        },
    }
    return {
        "$schema": SCHEMA,
        "width": "container",
        "height": 270,
        "autosize": {"type": "fit-x", "contains": "padding"},
        "description": "What is paid at the start and in each year, by part; the same stands in the table below",
        "layer": [bars, letters, sums],
        "config": theme(dark),
    }
