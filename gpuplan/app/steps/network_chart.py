"""The scaling chart of the network step as Vega-Lite: the network of the design against others."""

from __future__ import annotations

from typing import Any

from gpuplan.app.chart import DARK, LIGHT, SCHEMA, theme
from gpuplan.report.marks import OKABE_ITO

Spec = dict[str, Any]

CHOSEN = OKABE_ITO[0]
LINKS = {"10": OKABE_ITO[5], "25": OKABE_ITO[3], "100": OKABE_ITO[2], "400": OKABE_ITO[4]}
"""Colour of an alternative by its link."""
WAYS = {False: ("triangle-up", [5, 3]), True: ("square", [1, 0])}
"""Point and dashes of an alternative over TCP, and over RDMA."""
HOSTS = [1, 2, 4, 8, 16, 32, 64]


def scaling_chart(data: Spec, dark: bool) -> Spec:
    """Efficiency or throughput over hosts: the design's network thick with its range, the alternatives thin."""
    efficiency = data["view"] == "efficiency"
    names = [each["name"] for each in data["names"]]
    inks = [CHOSEN if each["chosen"] else LINKS[each["link"]] for each in data["names"]]
    points = ["circle" if each["chosen"] else WAYS[each["rdma"]][0] for each in data["names"]]
    dashes = [[1, 0] if each["chosen"] else WAYS[each["rdma"]][1] for each in data["names"]]
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
    key: Spec = {"title": None, "legend": {"orient": "right", "symbolSize": 90, "labelLimit": 260}}
    encoding: Spec = {
        "x": x,
        "y": {"field": "value", "type": "quantitative", **y},
        "color": {
            "field": "name",
            "type": "nominal",
            "scale": {"domain": names, "range": inks},
            **key,
        },
    }
    tooltip: list[Spec] = [
        {"field": "name", "type": "nominal", "title": "Network"},
        {"field": "hosts", "type": "quantitative", "title": "Hosts"},
        {"field": "words", "type": "nominal", "title": "Efficiency"},
        {"field": "per_s", "type": "nominal", "title": "Together"},
    ]
    own = {"values": [row for row in data["rows"] if row["chosen"]]}
    dash = {
        "field": "name",
        "type": "nominal",
        "scale": {"domain": names, "range": dashes},
        "legend": None,
    }
    shape = {
        "field": "name",
        "type": "nominal",
        "scale": {"domain": names, "range": points},
        **key,
    }
    band = {
        "data": own,
        "mark": {"type": "area", "opacity": 0.18, "color": CHOSEN},
        "encoding": {
            "x": x,
            "y": {"field": "low", "type": "quantitative", **y},
            "y2": {"field": "high"},
        },
    }
    others = {
        "data": {"values": [row for row in data["rows"] if not row["chosen"]]},
        "mark": {"type": "line", "strokeWidth": 1.5},
        "encoding": encoding | {"strokeDash": dash},
    }
    chosen = {"data": own, "mark": {"type": "line", "strokeWidth": 4}, "encoding": encoding}
    marks = {
        "data": {"values": data["rows"]},
        "mark": {"type": "point", "filled": True, "size": 46, "opacity": 1, "aria": False},
        "encoding": encoding | {"shape": shape, "tooltip": tooltip},
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
