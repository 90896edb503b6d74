"""The scaling chart of the network step as Vega-Lite: the network of the design against others."""

from __future__ import annotations

from typing import Any

from gpuplan.report.colours import OKABE_ITO
from gpuplan.widgets.chart import DARK, LIGHT, SCHEMA, theme

Spec = dict[str, Any]

CHOSEN = OKABE_ITO[0]
LINKS = {"10": OKABE_ITO[5], "25": OKABE_ITO[3], "100": OKABE_ITO[2], "400": OKABE_ITO[4]}
"""Colour of an alternative by its link."""
WAYS: dict[bool, tuple[str, list[int]]] = {False: ("triangle-up", [5, 3]), True: ("square", [1, 0])}
"""Point and dashes of an alternative over TCP, and over RDMA."""
THIN, THICK = 1.5, 4.0
HOSTS = [1, 2, 4, 8, 16, 32, 64]


def look(*, chosen: bool, link: str, rdma: bool) -> Spec:
    """How the curve of a network is drawn."""
    if chosen:
        return {"ink": CHOSEN, "point": "circle", "dash": [1, 0], "width": THICK}
    point, dash = WAYS[rdma]
    return {"ink": LINKS[link], "point": point, "dash": dash, "width": THIN}


def scaling_chart(data: Spec, dark: bool) -> Spec:
    """Efficiency or throughput over hosts: the design's network thick with its range, the alternatives thin.

    How each curve looks stands in its rows and its name above the chart, so that another network is a matter of rows.
    """
    efficiency = data["view"] == "efficiency"
    x: Spec = {
        "field": "hosts",
        "type": "quantitative",
        "title": "Hosts",
        "scale": {"type": "log", "base": 2, "domain": [1, 64]},
        "axis": {"values": HOSTS, "format": "d", "grid": False},
    }
    y: Spec = {"title": "Efficiency", "scale": {"domain": [0, 1]}, "axis": {"format": ".0%", "tickCount": 5}}
    if not efficiency:
        y = {
            "title": f"{data['unit'].capitalize()} a second",
            "scale": {"type": "log"},
            "axis": {"format": "~s", "tickCount": 5},
        }
    encoding: Spec = {
        "x": x,
        "y": {"field": "value", "type": "quantitative", **y},
        "detail": {"field": "name"},
        "color": {"field": "ink", "type": "nominal", "scale": None},
    }
    tooltip: list[Spec] = [
        {"field": "name", "type": "nominal", "title": "Network"},
        {"field": "hosts", "type": "quantitative", "title": "Hosts"},
        {"field": "words", "type": "nominal", "title": "Efficiency"},
        {"field": "per_s", "type": "nominal", "title": "Together"},
    ]
    own = {"values": [row for row in data["rows"] if row["chosen"]]}
    band = {
        "data": own,
        "mark": {"type": "area", "opacity": 0.18, "color": CHOSEN, "aria": False},
        "encoding": {
            "x": x,
            "y": {"field": "low", "type": "quantitative", **y},
            "y2": {"field": "high"},
        },
    }
    others = {
        "data": {"values": [row for row in data["rows"] if not row["chosen"]]},
        "mark": {"type": "line", "strokeWidth": THIN, "aria": False},
        "encoding": encoding | {"strokeDash": {"field": "dash", "type": "nominal", "scale": None}},
    }
    chosen = {
        "data": own,
        "mark": {"type": "line", "strokeWidth": THICK, "aria": False},
        "encoding": encoding,
    }
    marks = {
        "data": {"values": data["rows"]},
        "mark": {"type": "point", "filled": True, "size": 46, "opacity": 1, "aria": False},
        "encoding": encoding
        | {"shape": {"field": "point", "type": "nominal", "scale": None}, "tooltip": tooltip},
    }
    shades = DARK if dark else LIGHT
    about = (
        "Efficiency of training over the number of hosts"
        if efficiency
        else "Throughput of training over the number of hosts"
    )
    return {
        "$schema": SCHEMA,
        "width": "container",
        "height": 260,
        "autosize": {"type": "fit-x", "contains": "padding"},
        "description": f"{about}, the network of this design against others; the same stands in the table below",
        "layer": [*([band] if efficiency else []), others, chosen, marks],
        "config": theme(dark) | {"axisX": {"labelColor": shades["ink2"]}},
    }
