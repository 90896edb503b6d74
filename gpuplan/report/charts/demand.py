"""GPU demand hour by hour, how often GPUs run short, and the utilisation that an audit measured."""

import itertools
import operator
from collections.abc import Sequence
from typing import Any

from gpuplan.analysis.demand import CurvePoint, Methods, WeekDemand, by_hours, hour_demand
from gpuplan.analysis.llm_traffic import ServingWeek
from gpuplan.locales import DAY_NAMES, written
from gpuplan.plan import Plan
from gpuplan.report.charts.look import Look, Spec, drawn, named_colours
from gpuplan.report.drawing import COLOURS, OKABE_ITO, pen_on
from gpuplan.wording import (
    METHOD_NAMES,
    NAMES,
    mean_gpus,
    number,
    percent,
    rough,
    said,
    stated_percent,
    whole,
)

LINE = {"closed": (OKABE_ITO[0], [1, 0]), "poisson": (OKABE_ITO[2], [7, 4]), "bursty": (OKABE_ITO[5], [2, 3])}
LEAST_CHANCE = 0.001
"""Lower end of the probability axis; lines leave the chart there."""
FLOOR = 1e-6
"""A logarithmic axis has no zero: smaller values are drawn here, below the chart."""
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
    marks = _marks(plan)
    tall = letter_share * max(week.everybody_gpus, plan.totals.gpus_demanded)
    rows, letters, groups = [], [], []
    below = [[0.0] * 24 for _ in SHOWN_DAYS]  # base of the bars
    for demand in hour_demand(week, tuple(SHOWN_DAYS), place=place):
        name, ink = marks[demand.group]
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


def _marks(plan: Plan) -> dict[str, tuple[str, str]]:
    """Return the name of each group with its letter, and its colour; the empty id is that of small ones together."""
    inks = {group.id: COLOURS[1 + at % len(OKABE_ITO)] for at, group in enumerate(plan.scenario.groups)}
    marks = {
        group.id: (f"{group.letter} {group.name}", inks.get(group.id, COLOURS[0])) for group in plan.groups
    }
    return marks | {"": (said("chart.day.others"), COLOURS[0])}


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
    """Mean GPUs by hour, stacked by group, a weekday beside a day of the weekend; lines at numbers of GPUs are named at the right."""
    more = _two_days(data, look)
    lines = [line | {"x": more["end"]} for line in data["lines"]]
    return drawn(
        "day", look, data, **more, levels=lines, paper_height=320 + 22 * -(-len(data["groups"]) // 2)
    )


def _two_days(data: Spec, look: Look) -> Spec:
    """Return the parts of a chart of two days that do not depend on what it shows: clock, names of days, colours of groups."""
    starts = [DAY_WIDTH * at for at in range(len(data["days"]))]
    return {
        "end": starts[-1] + 24,
        "clock": f"datum.value % {DAY_WIDTH} == 24 ? '' : format(datum.value % {DAY_WIDTH}, '02d') + ':00'",
        "hours": [start + hour for start in starts for hour in range(0, 24, 6)],
        "hour": said("chart.day.hour", place=data["place"]) if look.paper else None,
        "mornings": [{"x": start, "day": day} for start, day in zip(starts, data["days"], strict=True)],
        "colours": named_colours("group", data["groups"], look, orient="bottom", columns=2, labelLimit=290),
    }


def serving_rows(
    plan: Plan, week: WeekDemand, served: Sequence[ServingWeek], view: str, place: str = "UTC"
) -> dict[str, Any]:
    """Requests of language models in the hours of two days, and the most that their replicas carry in time."""
    marks, rows, most = _marks(plan), [], []
    for each in served:
        name, per_request = marks[each.group][0], each.tokens_out if view == "tokens" else each.stay_s
        for line, quarters in enumerate((each.per_second, each.carried_per_second)):
            days = by_hours(week, quarters * per_request, tuple(SHOWN_DAYS), place).tolist()
            for at, (of_week, day) in enumerate(zip(SHOWN_DAYS, days, strict=True)):
                for hour, value in enumerate([*day, day[-1]]):
                    spot = {"x": DAY_WIDTH * at + hour, "value": value, "group": name, "carried": bool(line)}
                    told = {"clock": f"{DAY_NAMES[of_week]} {hour % 24:02}:00", "shown": rough(value)}
                    rows.append({**spot, **told, "run": f"{name} {line} {at}"})
        highest = max(days[0])
        words = said("chart.serving.carried", letter=name.partition(" ")[0], most=rough(highest))
        most.append({"x": days[0].index(highest), "value": highest, "words": words})
    groups = [marks[each.group] for each in served]
    shown = {"rows": rows, "most": most, "groups": groups, "place": place, "days": list(SHOWN_DAYS.values())}
    return shown | {"axis": NAMES["view of the hours"][view]} if rows else {}


def hours_chart(data: Spec, look: Look) -> Spec:
    """Draw GPUs by hour; or what users ask of language models as lines, and what their replicas carry as dashed ones."""
    return day_chart(data, look) if "lines" in data else drawn("serving", look, data, **_two_days(data, look))


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
    """Draw the probability that a number of GPUs is too small, one line per method, with the target and the installed GPUs."""
    methods = {row["method"] for row in data["rows"]}
    shown = [(METHOD_NAMES[method], *way) for method, way in LINE.items() if METHOD_NAMES[method] in methods]
    names, inks, dashes = map(list, zip(*shown, strict=True))
    first, *_, last = sorted(row["gpus"] for row in data["rows"])
    target = {"chance": max(data["target"], LEAST_CHANCE), "gpus": last, "words": data["target_words"]}
    installed = {"chance": 1, "gpus": data["installed"], "words": data["installed_words"]}
    room = data["installed"] < (first + last) / 2  # for its words, at the right
    more: Spec = {
        part: _on_the_axis(data[part], ("chance", "low", "high"), FLOOR) for part in ("rows", "band")
    }
    more |= {"methods": names, "inks": inks, "dashes": dashes, "band_ink": LINE["bursty"][0]}
    more |= {"least": LEAST_CHANCE, "chance_title": f"{CHANCE_TITLES[data['rule']]}, %"}
    more |= {"target_end": [target], "installed_end": [installed]}
    more["beside"] = {"align": "left", "dx": 4} if room else {"align": "right", "dx": -4}
    more["seen"] = _on_the_axis(data["simulated"], ("chance",), LEAST_CHANCE)
    more["about"] = said("chart.odds.about simulated" if data["simulated"] else "chart.odds.about")
    return drawn(
        "odds", look, data, **more, clip=not look.paper
    )  # on paper the lines end where they leave it


def _on_the_axis(rows: Sequence[Spec], names: Sequence[str], least: float) -> list[Spec]:
    return [row | {name: max(row[name], least) for name in names} for row in rows]


def week_chart(data: Spec, look: Look) -> Spec:
    """Draw the utilisation that an audit found by hour of the week: GPUs stacked by group, or each group's activity."""
    inks = [
        COLOURS[0] if name == "others" else OKABE_ITO[at % len(OKABE_ITO)]
        for at, name in enumerate(data["groups"])
    ]
    stacked = data["stacked"]
    how = {"interpolate": "step-after"} if stacked else {}
    names, mark = f"{list(DAY_NAMES)}[datum.value / 24]", "area" if stacked else "line"
    more = {"inks": inks, "mark": mark, "how": how, "stack": "zero" if stacked else None}
    return drawn("week", look, data, **more, day_names=names, use=data["title"])
