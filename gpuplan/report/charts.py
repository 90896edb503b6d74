"""Charts of a plan as SVG, for documents: cost by year and by part, the hours of a day, and the chance of waiting.

Vega-Lite draws them from plain dictionaries with the data inside: no network and no browser is needed. Text stays text;
a letter or a pattern of dashes stands beside every colour.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any
from xml.etree import ElementTree

from gpuplan.analysis.demand import CurvePoint, Methods, chance_curve, hour_demand, methods, week_demand
from gpuplan.models import cost
from gpuplan.plan import Plan
from gpuplan.plan.results import Pool
from gpuplan.report.colours import OKABE_ITO, PARTS
from gpuplan.report.diagrams import (
    FONT,
    INK,
    OTHER,
    SIZE,
    SOFT,
    Symbol,
    clean_text,
    group_symbols,
    pen_on,
    shortened,
)
from gpuplan.wording import METHOD_NAMES, bare_amount, counted, number, stated_percent

Spec = dict[str, Any]

WIDTH = 640
GRID = "#dfe3e9"
SVG = "http://www.w3.org/2000/svg"
LEAST_CHANCE = 0.001
"""Lower end of the axis of chances."""
CHANCES = {
    "wait": "Chance of waiting",
    "wait-time": "Chance of a long wait",
    "turned-away": "Chance of being turned away",
}
LINES = {
    "closed": (OKABE_ITO[0], [1, 0]),
    "poisson": (OKABE_ITO[2], [7, 4]),
    "bursty": (OKABE_ITO[5], [2, 3]),
}
"""Colour and dashes of each method."""
DAYS = ((2, "Wednesday"), (5, "Saturday"))
DAY_WIDTH = 26
"""Hours from the beginning of one day to that of the next in the chart."""
MONEY = "replace(format(datum.value, '~s'), 'G', ' bn')"


def years_svg(plan: Plan) -> str | None:
    """What is paid at the start and in each year, by part; None if nothing is paid.

    Parameters
    ----------
    plan : Plan
        The plan. [-]

    Returns
    -------
    years_svg : str or None
        The chart. [-]
    """
    costs = plan.costs
    if costs is None or not any(costs.cash):
        return None
    years = [
        "Start",
        *(f"Year {year}" if costs.years <= 6 else str(year) for year in range(1, costs.years + 1)),
    ]
    paid = [
        cost.total_cost(*(p.yearly[at] for p in costs.parts if p.yearly[at] > 0)) for at in range(len(years))
    ]
    rows = []
    for order, part in enumerate(costs.parts):
        letter, _ = PARTS[part.name]
        for year, value in zip(years, part.yearly, strict=True):
            if value:
                shown = letter if abs(value) > 0.04 * max(paid) else ""
                pen = pen_on(_part_colour(part.name))
                name = _part_name(part.name)
                rows.append(
                    {"part": name, "year": year, "cost": value, "letter": shown, "pen": pen, "order": order}
                )
    parts = [part.name for part in costs.parts if any(part.yearly)]
    x = _field("year", "ordinal", title=None, sort=years, axis={"labelAngle": 0, "ticks": False})
    y = _field(
        "cost", stack="zero", title=f"Paid, {costs.currency}", axis={"labelExpr": MONEY, "tickCount": 5}
    )
    colours = {"domain": [_part_name(p) for p in parts], "range": [_part_colour(p) for p in parts]}
    legend = {"title": None, "values": [_part_name(p) for p in reversed(parts)]}
    bars = {
        "data": {"values": rows},
        "mark": {"type": "bar", "stroke": "#ffffff", "strokeWidth": 1},
        "encoding": {
            "x": x,
            "y": y,
            "color": _field("part", "nominal", scale=colours, legend=legend),
            "order": _field("order"),
        },
    }
    letters = {
        "data": {"values": rows},
        "mark": {"type": "text", "fontWeight": "bold"},
        "encoding": {
            "x": x,
            "y": y | {"bandPosition": 0.5},
            "detail": {"field": "part"},
            "order": _field("order"),
            "color": _field("pen", "nominal", scale=None),
            "text": {"field": "letter"},
        },
    }
    totals = [
        {"year": year, "cost": top, "words": _short(value)}
        for year, top, value in zip(years, paid, costs.cash, strict=True)
        if value
    ]
    sums = {
        "data": {"values": totals},
        "mark": {"type": "text", "dy": -10, "color": INK, "fontWeight": "bold"},
        "encoding": {"x": x, "y": _field("cost"), "text": {"field": "words"}},
    }
    layers = [bars, letters, sums]
    return _svg(
        layers, 360, f"What is paid at the start and in each of {counted(costs.years, 'year')}, by part"
    )


def _short(value: float) -> str:
    """An amount of money in three digits."""
    for size, letter in ((1e9, " bn"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= 0.9995 * size:
            return f"{float(f'{value / size:.3g}'):g}{letter}"
    return f"{float(f'{value:.3g}'):g}"


def _part_name(name: str) -> str:
    return f"{PARTS[name][0]} {name}"


def _part_colour(name: str) -> str:
    number_of_colour = PARTS[name][1]
    return OKABE_ITO[number_of_colour - 1] if number_of_colour else OTHER


def parts_svg(plan: Plan) -> str | None:
    """What each part costs over the years, with its amount beside it; None if nothing is paid.

    Parameters
    ----------
    plan : Plan
        The plan. [-]

    Returns
    -------
    parts_svg : str or None
        The chart. [-]
    """
    costs = plan.costs
    if costs is None:
        return None
    rows = [
        {
            "part": _part_name(part.name),
            "cost": part.total,
            "end": max(0.0, part.total),
            "words": bare_amount(part.total, costs.currency),
            "ink": _part_colour(part.name),
        }
        for part in costs.parts
        if part.total
    ]
    if not rows:
        return None
    order = [row["part"] for row in rows]
    y = _field("part", "nominal", title=None, sort=order, axis={"ticks": False, "labelLimit": 220})
    x = _field(
        "cost",
        title=f"Paid over {counted(costs.years, 'year')}, {costs.currency}",
        axis={"labelExpr": MONEY, "tickCount": 5},
        scale={"domainMax": 1.18 * max(float(part.total) for part in costs.parts), "nice": False},
    )
    bars = {
        "data": {"values": rows},
        "mark": {"type": "bar", "height": {"band": 0.7}},
        "encoding": {"x": x, "y": y, "color": _field("ink", "nominal", scale=None)},
    }
    words = {
        "data": {"values": rows},
        "mark": {"type": "text", "align": "left", "dx": 5, "color": INK},
        "encoding": {"x": _field("end"), "y": y, "text": {"field": "words"}},
    }
    return _svg([bars, words], 60 + 27 * len(rows), "What each part costs over the years")


def day_svg(plan: Plan) -> str | None:
    """GPUs wanted on average in each hour of a Wednesday and a Saturday, by group; None if nobody wants one.

    Parameters
    ----------
    plan : Plan
        The plan. [-]

    Returns
    -------
    day_svg : str or None
        The chart. [-]
    """
    week = week_demand(plan)[0]
    if not plan.groups or not week.everybody_gpus:
        return None
    symbols = group_symbols(plan)
    names = {group.id: f"{symbols[group.id].letter} {clean_text(group.name)}" for group in plan.groups}
    planned = plan.totals.gpus_demanded
    top = 1.12 * max(planned, week.peak_gpus)
    demand = hour_demand(week, [day for day, _ in DAYS])
    spans = [_spans([found.gpus[at] for found in demand]) for at in range(len(DAYS))]
    rows, groups = [], []
    for order, found in enumerate(demand):
        letter, colour, pen = symbols.get(found.group, Symbol("\u00b7", OTHER, INK))
        groups.append((shortened(names.get(found.group, "\u00b7 other groups"), 270), colour))
        for at, day in enumerate(found.gpus):
            _, _, best = max((day[begin], stop - begin, begin) for begin, stop in spans[at])
            for begin, stop in spans[at]:
                first, last, gpus = DAY_WIDTH * at + begin, DAY_WIDTH * at + stop, day[begin]
                rows.append(
                    {
                        "x": first,
                        "end": last,
                        "middle": (first + last) / 2,
                        "group": str(order),
                        "gpus": gpus,
                        "letter": letter if begin == best and gpus > 0.05 * top else "",
                        "pen": pen,
                        "order": order,
                    }
                )
    end = DAY_WIDTH * len(DAYS) - 2
    ticks = [DAY_WIDTH * at + hour for at in range(len(DAYS)) for hour in range(0, 24, 6)]
    clock = f"format(datum.value % {DAY_WIDTH}, '02d') + ':00'"
    x = _field(
        "x",
        bin="binned",
        title=f"Hour, UTC: {DAYS[0][1]} at the left, {DAYS[1][1]} at the right",
        scale={"domain": [0, end], "nice": False},
        axis={"values": ticks, "labelExpr": clock, "grid": False},
    )
    y = _field(
        "gpus",
        stack="zero",
        title="GPUs wanted on average",
        axis={"tickCount": 5},
        scale={"domain": [0, top], "nice": False},
    )
    order_names = [str(at) for at in range(len(groups))]
    labels = " : ".join(f"datum.label == '{at}' ? legend_{at}" for at in order_names)
    colours = {"domain": order_names, "range": [colour for _, colour in groups]}
    legend = {
        "title": None,
        "orient": "bottom",
        "columns": 2,
        "labelLimit": 290,
        "labelExpr": f"{labels} : ''",
    }
    bars = {
        "data": {"values": rows},
        "mark": {"type": "bar", "binSpacing": 0},
        "encoding": {
            "x": x,
            "x2": {"field": "end"},
            "y": y,
            "color": _field("group", "nominal", scale=colours, legend=legend),
            "order": _field("order"),
        },
    }
    letters = {
        "data": {"values": rows},
        "mark": {"type": "text", "fontWeight": "bold"},
        "encoding": {
            "x": _field("middle"),
            "y": y | {"bandPosition": 0.5},
            "detail": {"field": "group"},
            "color": _field("pen", "nominal", scale=None),
            "order": _field("order"),
            "text": {"field": "letter"},
        },
    }
    level = {"values": [{"x": end, "gpus": planned, "words": f"planned: {number(planned)} GPUs"}]}
    rule = {
        "data": level,
        "mark": {"type": "rule", "color": INK, "strokeWidth": 1.5},
        "encoding": {"y": _field("gpus")},
    }
    words = {
        "data": level,
        "mark": {"type": "text", "align": "right", "dy": -9, "color": INK},
        "encoding": {"x": _field("x"), "y": _field("gpus"), "text": {"field": "words"}},
    }
    params = [{"name": f"legend_{at}", "value": name} for at, (name, _) in enumerate(groups)]
    about = "GPUs wanted on average in each hour of a Wednesday and a Saturday, by group"
    tall = 320 + 22 * -(-len(groups) // 2)
    return _svg([bars, letters, rule, words], tall, about, params)


def _spans(hours: Sequence[Sequence[float]]) -> list[tuple[int, int]]:
    """Hours of a day, from and to, between which no group changes what it wants."""
    edges = [h for h in range(1, 24) if any(abs(each[h] - each[h - 1]) > 1e-9 for each in hours)]
    return list(itertools.pairwise([0, *edges, 24]))


def waiting_svg(plan: Plan) -> str | None:
    """How often so many GPUs are too few, a line for each assumption; None if nobody asks for a GPU.

    Parameters
    ----------
    plan : Plan
        The plan; of several pools the one with the most GPUs is shown. [-]

    Returns
    -------
    waiting_svg : str or None
        The chart. [-]
    """
    asked = {group.pool for group in plan.groups if group.mode and group.vms_placed}
    pools = [pool for pool in plan.pools if pool.id in asked]
    if not pools:
        return None
    pool = max(pools, key=lambda each: each.gpus)
    points = chance_curve(plan, pool.id)
    return _waiting(pool, methods(plan, pool.id), points) if points else None


def _waiting(pool: Pool, known: Methods, points: tuple[CurvePoint, ...]) -> str:
    shown = [method for method in LINES if any(p.method == method for p in points)]
    names = [METHOD_NAMES[method] for method in shown]
    rows: list[Spec] = []
    band: list[Spec] = []
    for method in shown:
        line = [p for p in points if p.method == method]
        found = _above_floor([(p.gpus, p.chance) for p in line])
        rows += [{"method": METHOD_NAMES[method], "gpus": at, "chance": chance} for at, chance in found]
        if method == "bursty":
            lows = _above_floor([(p.gpus, p.low) for p in line])
            highs = _above_floor([(p.gpus, p.high) for p in line])
            band = [{"gpus": at, "low": low, "high": _between(highs, at)} for at, low in lows]
            after = lows[-1][0] if lows else 0.0
            band += [{"gpus": at, "low": LEAST_CHANCE, "high": y} for at, y in highs if at > after]
    last = max(p.gpus for p in points)
    x = _field(
        "gpus",
        title=f"GPUs of the {clean_text(pool.name)} without spare hosts, in the busiest hours",
        scale={"domain": [min(p.gpus for p in points), max(last, known.gpus)], "nice": False},
        axis={"tickMinStep": 1, "format": "d"},
    )
    y = _field(
        "chance",
        title=f"{CHANCES[known.target.rule]}, %",
        scale={"type": "log", "domain": [LEAST_CHANCE, 1]},
        axis={"values": [0.001, 0.01, 0.1, 1], "labelExpr": "format(100 * datum.value, '~g')"},
    )
    key = {
        "title": None,
        "legend": {
            "orient": "bottom",
            "symbolType": "stroke",
            "symbolSize": 900,
            "symbolStrokeWidth": 2.5,
            "columnPadding": 24,
        },
    }
    area = {
        "data": {"values": band},
        "mark": {"type": "area", "opacity": 0.18, "color": LINES["bursty"][0]},
        "encoding": {"x": x, "y": y | {"field": "low"}, "y2": {"field": "high"}},
    }
    lines = {
        "data": {"values": rows},
        "mark": {"type": "line", "strokeWidth": 2.5},
        "encoding": {
            "x": x,
            "y": y,
            "color": _field(
                "method", "nominal", scale={"domain": names, "range": [LINES[m][0] for m in shown]}, **key
            ),
            "strokeDash": _field(
                "method", "nominal", scale={"domain": names, "range": [LINES[m][1] for m in shown]}, **key
            ),
        },
    }
    aim = max(known.target.chance, LEAST_CHANCE)
    target = {
        "values": [{"chance": aim, "gpus": last, "words": f"target {stated_percent(known.target.chance)}"}]
    }
    here = {"values": [{"chance": 1, "gpus": known.gpus, "words": f"this design: {number(known.gpus)}"}]}
    right = known.gpus < 0.75 * last + 0.25 * min(p.gpus for p in points)
    marks = [
        {
            "data": target,
            "mark": {"type": "rule", "strokeDash": [6, 4], "strokeWidth": 1.5, "color": INK},
            "encoding": {"y": _field("chance")},
        },
        {
            "data": target,
            "mark": {"type": "text", "align": "right", "dy": -8, "color": INK},
            "encoding": {"x": _field("gpus"), "y": _field("chance"), "text": {"field": "words"}},
        },
        {
            "data": here,
            "mark": {"type": "rule", "strokeWidth": 1.5, "color": INK},
            "encoding": {"x": _field("gpus")},
        },
        {
            "data": here,
            "mark": {
                "type": "text",
                "align": "left" if right else "right",
                "dx": 5 if right else -5,
                "dy": -9,
                "color": INK,
            },
            "encoding": {"x": _field("gpus"), "y": _field("chance"), "text": {"field": "words"}},
        },
    ]
    about = "How often so many GPUs are too few, by each assumption about arrivals"
    return _svg([*([area] if band else []), lines, *marks], 360, about)


def _above_floor(line: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """The points of a falling line down to the least chance that is drawn, and the one where it gets there."""
    found: list[tuple[float, float]] = []
    for at, chance in line:
        if chance < LEAST_CHANCE:
            if found:
                before, above = found[-1]
                share = math.log(above / LEAST_CHANCE) / math.log(above / max(chance, 1e-12))
                found.append((before + share * (at - before), LEAST_CHANCE))
            break
        found.append((at, chance))
    return found


def _between(line: Sequence[tuple[float, float]], at: float) -> float:
    """Height of a line at a place, on a logarithmic axis."""
    for (x1, y1), (x2, y2) in itertools.pairwise(line):
        if x1 <= at <= x2:
            return math.exp(math.log(y1) + (at - x1) / (x2 - x1) * math.log(y2 / y1))
    return line[-1][1]


def _field(name: str, kind: str = "quantitative", **rest: Any) -> Spec:
    return {"field": name, "type": kind, **rest}


CONFIG: Spec = {
    "background": "#ffffff",
    "font": FONT,
    "padding": 6,
    "view": {"stroke": None},
    "axis": {
        "labelColor": INK,
        "titleColor": INK,
        "labelFontSize": SIZE,
        "titleFontSize": SIZE,
        "titleFontWeight": "normal",
        "titlePadding": 8,
        "gridColor": GRID,
        "domainColor": SOFT,
        "tickColor": SOFT,
    },
    "legend": {
        "labelColor": INK,
        "labelFontSize": SIZE,
        "symbolType": "square",
        "symbolSize": 160,
        "rowPadding": 4,
    },
    "text": {"fontSize": SIZE},
}


def _svg(layers: list[Spec], height: int, about: str, params: list[Spec] | None = None) -> str:
    """Draw layers; 640 units wide with all that is around them."""
    import vl_convert

    spec = {
        "width": WIDTH,
        "height": height,
        "autosize": {"type": "fit", "contains": "padding"},
        "params": params or [],
        "layer": layers,
        "config": CONFIG,
    }
    return _plain(str(vl_convert.vegalite_to_svg(spec, allowed_base_urls=[])), about)


def _plain(svg: str, about: str) -> str:
    """The drawing with its title, and without what only a web page with a style sheet and a script needs."""
    root = ElementTree.fromstring(svg)
    dropped = ("class", "role", "pointer-events")
    for node in root.iter():
        for child in [
            c for c in node if c.tag == f"{{{SVG}}}path" and (c.get("display") == "none" or not c.get("d"))
        ]:
            node.remove(child)
        for name in [n for n in node.attrib if n in dropped or n.startswith("aria-")]:
            del node.attrib[name]
        node.tag = node.tag.removeprefix(f"{{{SVG}}}")
    title = ElementTree.Element("title")
    title.text = about
    root.insert(0, title)
    root.set("xmlns", SVG)
    return ElementTree.tostring(root, encoding="unicode")
