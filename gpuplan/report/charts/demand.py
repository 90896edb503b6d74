"""GPU demand hour by hour, how often GPUs run short, and the utilisation that an audit measured."""

import itertools
import operator
from collections.abc import Sequence
from typing import Any

from gpuplan.analysis.demand import CurvePoint, Methods, WeekDemand, hour_demand
from gpuplan.locales import DAY_NAMES, written
from gpuplan.plan import Plan
from gpuplan.report.charts.look import (
    Look,
    Spec,
    as_is,
    chart,
    field,
    labels,
    layer,
    named_colours,
    names_below,
    told_apart,
    tooltip,
)
from gpuplan.report.colours import COLOURS, OKABE_ITO
from gpuplan.report.drawing import pen_on
from gpuplan.wording import METHOD_NAMES, NAMES, mean_gpus, number, percent, said, stated_percent, whole

LINE = {"closed": (OKABE_ITO[0], [1, 0]), "poisson": (OKABE_ITO[2], [7, 4]), "bursty": (OKABE_ITO[5], [2, 3])}
LEAST_CHANCE = 0.001
"""Lower end of the probability axis; lines leave the chart there."""
FLOOR = 1e-6
"""A logarithmic axis has no zero: smaller values are drawn here, below the chart."""
NOT_STACKED = {"stack": None}
"""Vega-Lite 5, which JupyterLab draws with, stacks an area along the other axis if one is logarithmic."""
CHANCE_TITLES = NAMES["chance"]
SHOWN_DAYS = {2: said("chart.day.weekday"), 5: said("chart.day.weekend")}
DAY_WIDTH = 26
"""Hours between the beginnings of two consecutive days in the chart."""
SMALLEST_LETTER = 0.08
"""Share of the height of the chart from which a bar has room for its letter."""


def day_rows(
    plan: Plan, week: WeekDemand, place: str = "UTC", *, letter_share: float = SMALLEST_LETTER
) -> dict[str, Any]:
    """GPUs needed on average by group in the hours of two days, on the clock of a place, piled up; and lines across."""
    if not plan.groups or not week.everybody_gpus:
        return {}
    names = {each.id: f"{each.letter} {each.name}" for each in plan.groups} | {"": said("chart.day.others")}
    numbers = {group.id: 1 + at % len(OKABE_ITO) for at, group in enumerate(plan.scenario.groups)}
    tall = letter_share * max(week.everybody_gpus, plan.totals.gpus_demanded)
    rows, letters, groups = [], [], []
    below = [[0.0] * 24 for _ in SHOWN_DAYS]  # base of the bars
    for demand in hour_demand(week, tuple(SHOWN_DAYS), place=place):
        name, ink = names[demand.group], COLOURS[numbers.get(demand.group, 0)]
        groups.append((name, ink))
        for at, (of_week, day) in enumerate(zip(SHOWN_DAYS, demand.gpus, strict=True)):
            start = DAY_WIDTH * at
            highest = [hour for hour in range(24) if day[hour] == max(day)]
            hour = highest[len(highest) // 2]
            if day[hour] > tall:
                y = below[at][hour] + day[hour] / 2
                letter = name.partition(" ")[0]
                letters.append({"x": start + hour + 0.5, "y": y, "letter": letter, "ink": pen_on(ink)})
            for first, last, low, gpus in _stretches(below[at], day):
                spot = {"x": start + first, "end": start + last, "low": low, "high": low + gpus}
                hours = f"{DAY_NAMES[of_week]} {first:02}:00-{last:02}:00"
                rows.append({**spot, "group": name, "clock": hours, "gpus": written(gpus, ".2f")})
            below[at] = [low + gpus for low, gpus in zip(below[at], day, strict=True)]
    lines = _day_lines(week.everybody_gpus, plan.totals.gpus_demanded)
    shown = {"rows": rows, "letters": letters, "groups": groups, "lines": lines}
    return shown | {"place": place, "days": list(SHOWN_DAYS.values())}


def _stretches(below: Sequence[float], day: Sequence[float]) -> list[tuple[int, int, float, float]]:
    """List (from, to, base, GPUs) of the hours in which neither curve changes."""
    stretches = []
    bars = enumerate(zip(below, day, strict=True))
    for (low, gpus), alike in itertools.groupby(bars, key=operator.itemgetter(1)):
        hours = [hour for hour, _ in alike]
        stretches.append((hours[0], hours[-1] + 1, low, gpus))
    return stretches


def _day_lines(everybody: float, planned: float) -> list[dict[str, Any]]:
    """Return the lines of the chart; where they are close, the text of the lower one is below it."""
    mean, needed = number(mean_gpus(everybody)), number(whole(planned))
    if mean == needed:
        words = said("chart.day.planned at peak", gpus=needed)
        return [{"gpus": planned, "words": words, "below": False, "dashed": False}]
    close = abs(everybody - planned) < 0.09 * max(everybody, planned)
    lines = (
        (everybody, said("chart.day.all at peak", gpus=mean), everybody < planned, True),
        (planned, said("chart.day.planned", gpus=needed), planned < everybody, False),
    )
    return [{"gpus": n, "words": of, "below": close and low, "dashed": dash} for n, of, low, dash in lines]


def day_chart(data: Spec, look: Look) -> Spec:
    """Mean GPUs by hour, stacked by group, a weekday beside a day of the weekend."""
    days = data["days"]
    end = DAY_WIDTH * len(days) - 2
    hours = [DAY_WIDTH * at + hour for at in range(len(days)) for hour in range(0, 24, 6)]
    clock = f"datum.value % {DAY_WIDTH} == 24 ? '' : format(datum.value % {DAY_WIDTH}, '02d') + ':00'"
    title = said("chart.day.hour", place=data["place"]) if look.paper else None
    axis = {"values": hours, "labelExpr": clock, "grid": False}
    x = field("x", title=title, scale={"domain": [0, end], "nice": False}, axis=axis)
    y: Spec = {"title": said("chart.day.axis"), "axis": {"tickCount": 5}}
    ends: Spec = {"x2": {"field": "end"}, "y": field("low", **y), "y2": {"field": "high"}}
    ink = named_colours("group", data["groups"], look, orient="bottom", columns=2, labelLimit=290)
    tips = tooltip(group=said("chart.day.group"), clock=data["place"], gpus=said("chart.day.gpus"))
    bars = layer(data["rows"], "rect", {}, x=x, **ends, color=ink, tooltip=tips)
    bold = {"fontSize": look.small, "fontWeight": 600}
    letters = labels(data["letters"], "letter", bold, x=field("x"), y=field("y", **y), color=as_is("ink"))
    mornings = [{"x": DAY_WIDTH * at, "day": day} for at, day in enumerate(days)]
    named = labels(mornings, "day", {"align": "left", "y": -22, "color": look.soft}, x=field("x"))
    about = said("chart.day.about")
    paper_height = 320 + 22 * -(-len(data["groups"]) // 2)
    return chart([bars, letters, named, *_levels(data["lines"], look, end)], look, about, 210, paper_height)


def _levels(lines: list[Spec], look: Look, end: int) -> list[Spec]:
    """Draw lines at numbers of GPUs, with labels at the right end; their number depends on the rows."""
    rows, y = [line | {"x": end} for line in lines], field("gpus")
    dashes: Spec = {"scale": {"domain": [True, False], "range": [[6, 4], [1, 0]]}, "legend": None}
    dashed = field("dashed", "nominal", **dashes)
    rules = layer(rows, "rule", {"color": look.ink, "strokeWidth": 1.5}, y=y, strokeDash=dashed)
    words = []
    for below in (False, True):
        how = {"align": "right", "dy": 11 if below else -9, "color": look.ink}
        words.append(labels([row for row in rows if row["below"] is below], "words", how, x=field("x"), y=y))
    return [rules, *words]


def odds_rows(known: Methods, points: Sequence[CurvePoint]) -> dict[str, Any]:
    """Return the probability, by method, that a number of GPUs is too small, with the target and the installed GPUs."""
    rows = [
        {"method": METHOD_NAMES[p.method], "gpus": p.gpus, "shown": percent(p.chance)}
        | {"chance": p.chance, "low": p.low, "high": p.high}
        for p in points
    ]
    target, band = known.target, [row for row in rows if row["method"] == METHOD_NAMES["bursty"]]
    data: Spec = {"rows": rows, "band": band, "target": target.chance}
    data["target_words"] = said("chart.odds.target", chance=stated_percent(target.chance))
    data |= {"installed": known.gpus, "installed_words": said("chart.odds.installed", gpus=known.gpus)}
    return data | {"rule": target.rule, "gpus_title": said("chart.odds.gpus"), "simulated": []}


def odds_chart(data: Spec, look: Look) -> Spec:
    """Draw the probability that a number of GPUs is too small, one line per method."""
    methods = {row["method"] for row in data["rows"]}
    shown = [(METHOD_NAMES[method], *way) for method, way in LINE.items() if METHOD_NAMES[method] in methods]
    rows, band = (
        [row | {name: max(row[name], FLOOR) for name in ("chance", "low", "high")} for row in data[part]]
        for part in ("rows", "band")
    )
    clip = {"clip": not look.paper}  # on paper the lines end where they leave the chart
    axis = {"values": [0.001, 0.01, 0.1, 1], "labelExpr": "format(100 * datum.value, '~g')"}
    scale = {"type": "log", "domain": [LEAST_CHANCE, 1]}
    y: Spec = {"title": f"{CHANCE_TITLES[data['rule']]}, %", "scale": scale, "axis": axis}
    at_chance = field("chance", **y)
    x = field("gpus", title=data["gpus_title"], scale={"zero": False, "nice": False})
    stroke = {"symbolType": "stroke", "symbolSize": 600, "symbolStrokeWidth": 2.5}
    key = {"orient": "bottom", **stroke, "columnPadding": 24, **names_below(look)}

    spread = {"opacity": 0.18, **clip, "color": LINE["bursty"][0]}
    wide = layer(band, "area", spread, x=x | NOT_STACKED, y=field("low", **y), y2={"field": "high"})
    ink = told_apart("method", {name: ink for name, ink, _ in shown}, key)
    dash = told_apart("method", {name: dashes for name, _, dashes in shown}, key)
    heads = {"method": said("chart.odds.method"), "gpus": said("chart.odds.gpus")}
    tips = tooltip(**heads, shown=said("chart.odds.chance"))
    thin = {"strokeWidth": 2.5, **clip}
    lines = layer(rows, "line", thin, x=x, y=at_chance, color=ink, strokeDash=dash, tooltip=tips)
    layers = [wide, lines, *_aims(data, look, at_chance)]
    about = said("chart.odds.about simulated" if data["simulated"] else "chart.odds.about")
    if data["simulated"]:
        seen = [row | {"chance": max(row["chance"], LEAST_CHANCE)} for row in data["simulated"]]
        how = {"filled": True, "size": 60, "color": look.ink, **clip}
        tips = tooltip(gpus=said("chart.odds.simulated"), shown=said("chart.odds.chance"))
        layers.append(layer(seen, "point", how, x=x, y=at_chance, tooltip=tips))
    return chart(layers, look, about, 250, 360)


def _aims(data: Spec, look: Look, y: Spec) -> list[Spec]:
    """Draw the target as a horizontal line and the installed GPUs as a vertical one, each labelled at its end."""
    last = max(row["gpus"] for row in data["rows"])
    first = min(row["gpus"] for row in data["rows"])
    target = [{"chance": max(data["target"], LEAST_CHANCE), "gpus": last, "words": data["target_words"]}]
    installed = [{"chance": 1, "gpus": data["installed"], "words": data["installed_words"]}]
    room = data["installed"] < (first + last) / 2  # for its words, at the right
    beside = {"align": "left", "dx": 4} if room else {"align": "right", "dx": -4}
    rule = {"color": look.ink, "strokeWidth": 1.5}
    x = field("gpus")
    return [
        layer(target, "rule", {"strokeDash": [6, 4], **rule}, y=y),
        labels(target, "words", {"align": "right", "dy": -7, "color": look.ink}, x=x, y=y),
        layer(installed, "rule", rule, x=x),
        labels(installed, "words", {**beside, "dy": -7, "color": look.ink}, x=x, y=y),
    ]


def week_chart(data: Spec, look: Look) -> Spec:
    """Draw the utilisation that an audit found by hour of the week: GPUs stacked by group, or each group's activity."""
    inks = {
        name: COLOURS[0] if name == "others" else OKABE_ITO[at % len(OKABE_ITO)]
        for at, name in enumerate(data["groups"])
    }
    days = f"{list(DAY_NAMES)}[datum.value / 24]"
    axis = {"values": list(range(0, 168, 24)), "labelExpr": days, "labelAlign": "left"}
    scale = {"domain": [0, 168], "nice": False}
    title, stacked = data["title"], data["stacked"]
    mark, how = ("area", {"interpolate": "step-after"}) if stacked else ("line", {})
    x = field("hour", title=said("chart.week.hour", zone=data["zone"]), scale=scale, axis=axis)
    y = field("value", title=title, stack="zero" if stacked else None)
    ink = told_apart("group", inks, {"orient": "bottom", "columns": 4})
    tips = tooltip(group=said("chart.week.group"), when=data["zone"])
    tips = [*tips, field("value", title=title, format=".1f")]
    use = layer(data["rows"], mark, how, x=x, y=y, color=ink, tooltip=tips)
    return chart([use], look, said("chart.week.about", use=title), 180)
