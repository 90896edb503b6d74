"""The charts of the demand step as Vega-Lite: written out, because altair takes a tenth of a second to check each of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ipywidgets

from gpuplan.app.state import Workbook
from gpuplan.report.colours import OKABE_ITO
from gpuplan.widgets.chart import DARK, LIGHT, SCHEMA, Chart, theme
from gpuplan.wording import METHOD_NAMES

Spec = dict[str, Any]

LINES = {
    "closed": (OKABE_ITO[0], [1, 0]),
    "poisson": (OKABE_ITO[2], [7, 4]),
    "bursty": (OKABE_ITO[5], [2, 3]),
}
"""Colour and dashes of each method."""
LEAST_CHANCE = 0.001
"""Lower end of the axis of chances; lines leave the chart there."""
FLOOR = 1e-6
"""A logarithmic axis has no zero: what is less is drawn here, below the chart."""
CHANCE_TITLES = {
    "wait": "Chance of waiting",
    "wait-time": "Chance of a long wait",
    "turned-away": "Chance of being turned away",
}


class StepChart:
    """A chart that is made once, and drawn again when its data or the theme changes.

    Parameters
    ----------
    rows : callable
        Gives the data of the chart, or nothing if there is nothing to draw.
    draw : callable
        Gives the Vega-Lite specification from the data, and whether the theme is dark.
    wide : bool
        Whether it is as wide as its place.
    """

    def __init__(
        self, rows: Callable[[Workbook], Any], draw: Callable[[Any, bool], Spec], wide: bool = True
    ) -> None:
        self._rows, self._draw = rows, draw
        self._chart: Chart | None = None
        self._last: tuple[bool, Any] | None = None
        self.widget = ipywidgets.Box(children=())
        self.widget.add_class("gp-chart")
        if wide:
            self.widget.add_class("gp-chart-wide")

    def show(self, workbook: Workbook, dark: bool) -> None:
        """Draw what the plan on the screen gives, if it changed."""
        mark = self.widget.add_class if workbook.stale else self.widget.remove_class
        mark("gp-stale")
        now = (dark, self._rows(workbook))
        if now == self._last:
            return
        self._last = now
        if now[1]:
            drawn = self._draw(now[1], dark)
            if self._chart is None:
                self._chart = Chart(drawn)
            else:
                self._chart.chart = drawn
        children = (self._chart,) if now[1] else ()
        if self.widget.children != children:
            self.widget.children = children


def _chart(layers: list[Spec], height: int, about: str, dark: bool) -> Spec:
    return {
        "$schema": SCHEMA,
        "width": "container",
        "height": height,
        "autosize": {"type": "fit-x", "contains": "padding"},
        "description": about,
        "layer": layers,
        "config": theme(dark),
    }


def _inline(rows: list[Spec]) -> Spec:
    return {"values": rows}


def _field(name: str, kind: str = "quantitative", **rest: Any) -> Spec:
    return {"field": name, "type": kind, **rest}


def day_chart(data: Spec, dark: bool) -> Spec:
    """Mean GPUs by hour, stacked by group, a weekday beside a day of the weekend."""
    shades = DARK if dark else LIGHT
    clock = "datum.value % 26 == 24 ? '' : format(datum.value % 26, '02d') + ':00'"
    hours = [26 * at + hour for at in range(len(data["days"])) for hour in range(0, 24, 6)]
    x = _field(
        "x",
        title=None,
        scale={"domain": [0, 26 * len(data["days"]) - 2], "nice": False},
        axis={"values": hours, "labelExpr": clock, "grid": False},
    )
    y: Spec = {"title": "GPUs wanted on average", "axis": {"tickCount": 5}}
    groups = {"domain": [name for name, _ in data["groups"]], "range": [ink for _, ink in data["groups"]]}
    bars = {
        "data": _inline(data["rows"]),
        "mark": {"type": "rect", "aria": False},
        "encoding": {
            "x": x,
            "x2": {"field": "end"},
            "y": _field("low", **y),
            "y2": {"field": "high"},
            "color": _field("group", "nominal", scale=groups, legend=None),
            "tooltip": [
                _field("group", "nominal", title="Group"),
                _field("clock", "nominal", title=data["place"]),
                _field("gpus", "nominal", title="GPUs"),
            ],
        },
    }
    letters = {
        "data": _inline(data["letters"]),
        "mark": {"type": "text", "fontSize": 11, "fontWeight": 600, "aria": False},
        "encoding": {
            "x": _field("x"),
            "y": _field("y", **y),
            "color": {"field": "ink", "type": "nominal", "scale": None},
            "text": {"field": "letter"},
        },
    }
    days = {
        "data": _inline([{"x": 26 * at, "day": day} for at, day in enumerate(data["days"])]),
        "mark": {"type": "text", "align": "left", "y": -8, "color": shades["ink2"], "aria": False},
        "encoding": {"x": _field("x"), "text": {"field": "day"}},
    }
    lines = _levels(data["lines"], shades["ink"], 26 * len(data["days"]) - 2)
    about = "GPUs wanted on average in each hour of a Wednesday and a Saturday, stacked by group"
    return _chart([bars, letters, days, *lines], 230, about, dark)


def _levels(lines: list[Spec], ink: str, end: int) -> list[Spec]:
    """Lines at numbers of GPUs, with their words at the right end; how many there are is a matter of rows."""
    rows, y = [line | {"x": end} for line in lines], _field("gpus")
    dashes: Spec = {"scale": {"domain": [True, False], "range": [[6, 4], [1, 0]]}, "legend": None}
    rules = {
        "data": _inline(rows),
        "mark": {"type": "rule", "color": ink, "strokeWidth": 1.5},
        "encoding": {"y": y, "strokeDash": _field("dashed", "nominal", **dashes)},
    }
    words = [
        {
            "data": _inline([row for row in rows if row["below"] is below]),
            "mark": {"type": "text", "align": "right", "dy": 11 if below else -9, "color": ink},
            "encoding": {"x": _field("x"), "y": y, "text": {"field": "words"}},
        }
        for below in (False, True)
    ]
    return [rules, *words]


def odds_chart(data: Spec, dark: bool) -> Spec:
    """How often so many GPUs are too few, a line for each method."""
    ink = (DARK if dark else LIGHT)["ink"]
    found = {row["method"] for row in data["rows"]}
    shown = [(METHOD_NAMES[method], *look) for method, look in LINES.items() if METHOD_NAMES[method] in found]
    names = [name for name, _, _ in shown]
    rows = [row | {name: max(row[name], FLOOR) for name in ("chance", "low", "high")} for row in data["rows"]]
    title = CHANCE_TITLES[data["rule"]]
    y: Spec = {
        "title": title,
        "scale": {"type": "log", "domain": [LEAST_CHANCE, 1]},
        "axis": {"values": [0.001, 0.01, 0.1, 1], "labelExpr": "format(100 * datum.value, '~g') + ' %'"},
    }
    x = _field("gpus", title="GPUs", scale={"zero": False, "nice": False})
    key: Spec = {
        "title": None,
        "legend": {"orient": "bottom", "symbolType": "stroke", "symbolSize": 600, "symbolStrokeWidth": 2.5},
    }
    band = {
        "data": _inline([row for row in rows if row["method"] == METHOD_NAMES["bursty"]]),
        "mark": {"type": "area", "opacity": 0.18, "clip": True, "color": LINES["bursty"][0], "aria": False},
        "encoding": {"x": x, "y": _field("low", **y), "y2": {"field": "high"}},
    }
    lines = {
        "data": _inline(rows),
        "mark": {"type": "line", "strokeWidth": 2.5, "clip": True, "aria": False},
        "encoding": {
            "x": x,
            "y": _field("chance", **y),
            "color": _field(
                "method", "nominal", scale={"domain": names, "range": [ink for _, ink, _ in shown]}, **key
            ),
            "strokeDash": _field(
                "method", "nominal", scale={"domain": names, "range": [d for _, _, d in shown]}, **key
            ),
            "tooltip": [
                _field("method", "nominal", title="Assumption"),
                _field("gpus", "nominal", title="GPUs"),
                _field("shown", "nominal", title="Chance"),
            ],
        },
    }
    last = max(row["gpus"] for row in rows)
    target = _inline([{"chance": data["target"], "gpus": last, "words": data["target_words"]}])
    installed = _inline([{"chance": 1, "gpus": data["installed"], "words": data["installed_words"]}])
    at_chance, at_gpus, words = _field("chance", **y), _field("gpus"), {"field": "words"}
    marks = [
        {
            "data": target,
            "mark": {"type": "rule", "strokeDash": [6, 4], "strokeWidth": 1.5, "color": ink},
            "encoding": {"y": at_chance},
        },
        {
            "data": target,
            "mark": {"type": "text", "align": "right", "dy": -7, "color": ink},
            "encoding": {"x": at_gpus, "y": at_chance, "text": words},
        },
        {
            "data": installed,
            "mark": {"type": "rule", "strokeWidth": 1.5, "color": ink},
            "encoding": {"x": at_gpus},
        },
        {
            "data": installed,
            "mark": {"type": "text", "align": "left", "dx": 4, "dy": -7, "color": ink},
            "encoding": {"x": at_gpus, "y": at_chance, "text": words},
        },
    ]
    about = "How often so many GPUs are too few, by each assumption about arrivals"
    if not data["simulated"]:
        return _chart([band, lines, *marks], 250, about, dark)
    seen = {
        "data": _inline([row | {"chance": max(row["chance"], LEAST_CHANCE)} for row in data["simulated"]]),
        "mark": {"type": "point", "filled": True, "size": 60, "color": ink, "clip": True, "aria": False},
        "encoding": {
            "x": x,
            "y": _field("chance", **y),
            "tooltip": [
                _field("gpus", title="GPUs, simulated on hosts"),
                _field("shown", "nominal", title="Chance"),
            ],
        },
    }
    return _chart([band, lines, *marks, seen], 250, f"{about}, and as simulated on the hosts", dark)


def week_chart(data: Spec, dark: bool) -> Spec:
    """The use that an audit found by hour of the week: GPUs stacked by group, or the activity of each group."""
    inks = [
        "#8b94a3" if name == "others" else OKABE_ITO[at % len(OKABE_ITO)]
        for at, name in enumerate(data["groups"])
    ]
    x = _field(
        "hour",
        title=f"Hour of the week, {data['zone']}",
        scale={"domain": [0, 168], "nice": False},
        axis={
            "values": list(range(0, 168, 24)),
            "labelExpr": "['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'][datum.value / 24]",
            "labelAlign": "left",
        },
    )
    y = _field("value", title=data["title"], stack="zero" if data["stacked"] else None)
    layer = {
        "data": _inline(data["rows"]),
        "mark": {"type": "area", "interpolate": "step-after"} if data["stacked"] else {"type": "line"},
        "encoding": {
            "x": x,
            "y": y,
            "color": _field(
                "group",
                "nominal",
                title=None,
                scale={"domain": data["groups"], "range": inks},
                legend={"orient": "bottom", "columns": 4},
            ),
            "tooltip": [
                _field("group", "nominal", title="Group"),
                _field("when", "nominal", title=data["zone"]),
                _field("value", title=data["title"], format=".1f"),
            ],
        },
    }
    return _chart([layer], 180, f"{data['title']} in each hour of the week, by group", dark)
