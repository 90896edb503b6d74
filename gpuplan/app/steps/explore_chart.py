"""The charts of the compare step as Vega-Lite: the frontier of the explored designs, and the tornado."""

from __future__ import annotations

from typing import Any

from gpuplan.app.steps.cost_chart import MONEY
from gpuplan.report.colours import OKABE_ITO
from gpuplan.widgets.chart import DARK, LIGHT, SCHEMA, theme

Spec = dict[str, Any]

LOOKS = {
    "the winner": ("diamond", OKABE_ITO[5]),
    "as it was asked": ("square", OKABE_ITO[0]),
    "on the frontier": ("triangle-up", OKABE_ITO[2]),
    "beaten by another": ("circle", "#8b94a3"),
}
"""Point and colour of each kind of design."""
ENDS = {"at its low end": OKABE_ITO[1], "at its high end": OKABE_ITO[3]}
"""Colour of the two ends of a bar."""
HOURS = [0, 0.01, 0.1, 1, 10, 100, 1000]


def frontier_chart(data: Spec, dark: bool) -> Spec:
    """Net present cost against hours short of hosts; the larger a point, the more have to wait."""
    names = [kind for kind in data["kinds"] if any(row["kind"] == kind for row in data["rows"])]
    top = max(row["short_h"] for row in data["rows"])
    shades = DARK if dark else LIGHT
    points = {
        "mark": {"type": "point", "filled": True, "opacity": 0.85, "aria": False, "strokeWidth": 1.5},
        "encoding": {
            "x": {
                "field": "cost",
                "type": "quantitative",
                "title": f"Net present cost, {data['currency']}",
                "scale": {"zero": False, "nice": True, "padding": 16},
                "axis": {"labelExpr": MONEY, "tickCount": 6},
            },
            "y": {
                "field": "short_h",
                "type": "quantitative",
                "title": "Hours a year short of hosts",
                "scale": {"type": "symlog", "constant": 0.01, "nice": False, "domain": [0, 1.3 * top or 1]},
                "axis": {"values": HOURS, "labelExpr": "format(datum.value, '~g')"},
            },
            "color": {
                "field": "kind",
                "type": "nominal",
                "title": None,
                "scale": {"domain": names, "range": [LOOKS[name][1] for name in names]},
                "legend": {"orient": "top", "symbolSize": 110},
            },
            "shape": {
                "field": "kind",
                "type": "nominal",
                "title": None,
                "scale": {"domain": names, "range": [LOOKS[name][0] for name in names]},
            },
            "size": {
                "field": "waiting",
                "type": "quantitative",
                "title": "Chance of waiting, %",
                "scale": {
                    "range": [80, 420],
                    "domain": [0, max(1, *(row["waiting"] for row in data["rows"]))],
                },
                "legend": {
                    "orient": "right",
                    "tickCount": 3,
                    "symbolFillColor": "#8b94a3",
                    "symbolStrokeWidth": 0,
                    "format": ".3~g",
                },
            },
            "stroke": {
                "condition": {"test": "datum.kind != 'beaten by another'", "value": shades["ink"]},
                "value": "transparent",
            },
            "tooltip": [
                {"field": "label", "type": "nominal", "title": "Design"},
                {"field": "money", "type": "nominal", "title": "Net present"},
                {"field": "hours", "type": "nominal", "title": "Short a year"},
                {"field": "wait", "type": "nominal", "title": "Have to wait"},
            ],
        },
    }
    marked = [row for row in data["rows"] if row["kind"] in ("the winner", "as it was asked")]
    words = {
        "data": {"values": marked},
        "mark": {
            "type": "text",
            "align": "left",
            "dx": 12,
            "dy": {"expr": "datum.kind == 'the winner' ? -9 : 15"},  # two designs may lie side by side
            "fontWeight": 600,
            "color": shades["ink"],
            "aria": False,
        },
        "encoding": {
            "x": {"field": "cost", "type": "quantitative"},
            "y": {"field": "short_h", "type": "quantitative"},
            "text": {"field": "kind"},
        },
    }
    return {
        "$schema": SCHEMA,
        "width": "container",
        "height": 270,
        "autosize": {"type": "fit-x", "contains": "padding"},
        "description": "Net present cost against hours a year short of hosts of every priced design; the frontier stands in the table below",
        "data": {"values": data["rows"]},
        "layer": [points, words],
        "config": theme(dark),
    }


def tornado_chart(data: Spec, dark: bool) -> Spec:
    """A bar for each input, from the answer at its low end to that at its high end, around the answer now."""
    shades = DARK if dark else LIGHT
    rows = {"values": data["rows"]}
    y: Spec = {
        "field": "input",
        "type": "nominal",
        "sort": data["inputs"],
        "title": None,
        "axis": {"labelLimit": 300, "ticks": False, "domain": False, "labelColor": shades["ink"]},
    }
    x: Spec = {
        "field": "value",
        "type": "quantitative",
        "title": data["title"],
        "scale": {"zero": False, "padding": 70},
        "axis": {
            "tickCount": 6,
            **({"labelExpr": MONEY} if data["view"] == "cost" else {"format": "d", "tickMinStep": 1}),
        },
    }
    bars = {
        "data": rows,
        "mark": {"type": "bar", "height": 14},
        "encoding": {
            "x": x,
            "x2": {"field": "middle"},
            "y": y,
            "color": {
                "field": "end",
                "type": "nominal",
                "title": None,
                "scale": {"domain": list(ENDS), "range": list(ENDS.values())},
                "legend": {"orient": "top"},
            },
            "tooltip": [
                {"field": "input", "type": "nominal", "title": "Input"},
                {"field": "at", "type": "nominal", "title": "Is"},
                {"field": "words", "type": "nominal", "title": data["title"]},
            ],
        },
    }

    def ends(right: bool) -> Spec:
        return {
            "data": {"values": [row for row in data["rows"] if row["right"] is right]},
            "mark": {
                "type": "text",
                "align": "left" if right else "right",
                "dx": 5 if right else -5,
                "fontSize": 11,
                "color": shades["ink2"],
                "aria": False,
            },
            "encoding": {"x": x, "y": y, "text": {"field": "at"}},
        }

    now = {
        "data": {"values": [{"value": data["middle"]}]},
        "mark": {"type": "rule", "color": shades["ink"], "strokeWidth": 1.5},
        "encoding": {"x": x},
    }
    return {
        "$schema": SCHEMA,
        "width": "container",
        "height": {"step": 24},
        "autosize": {"type": "fit-x", "contains": "padding"},
        "description": "How far each input moves the answer within its own range; the same stands in the table below",
        "layer": [bars, ends(True), ends(False), now],
        "config": theme(dark),
    }
