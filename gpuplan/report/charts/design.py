"""Charts of a design: GPUs left after host failures, payments by year and part, and training on its network against others."""

import json
import math
from collections.abc import Sequence
from typing import Any

from gpuplan.analysis.purchases import Purchases
from gpuplan.locales import per_cent
from gpuplan.models import cost
from gpuplan.plan import Plan
from gpuplan.plan.cost import Costs
from gpuplan.plan.hosts import whole_pools
from gpuplan.plan.training.scaling import Curve
from gpuplan.plan.training.speed import RDMA
from gpuplan.report.charts.look import SCHEMA, WIDE, Look, Spec, config, drawn, filled, named_colours
from gpuplan.report.drawing import COLOURS, OKABE_ITO, PARTS, pen_on
from gpuplan.wording import (
    NAMES,
    TRANSPORT_NAMES,
    kept_range,
    kept_share,
    money,
    number,
    said,
    short_number,
    three_digits,
)

STATES = {
    True: said("chart.capacity.all fit"),
    False: said("chart.capacity.not all fit"),
    None: said("chart.capacity.not known"),
}
"""Texts that say whether every VM on the hosts can restart after a loss."""


def capacity_rows(plan: Plan) -> list[dict[str, Any]]:
    """GPUs left after no, one, two and more losses, beside what the placed VMs occupy; of the clusters of a pool in the tightest."""
    tightest = [
        min(pool.clusters, key=lambda each: each.losses[1].gpus_left - each.gpus_occupied)
        for pool in whole_pools(plan.pools).values()
    ]
    rows = []
    for pool in tightest:
        name = pool.name if pool.id == pool.kind else said("chart.capacity.tightest", pool=pool.name)
        for level in pool.losses:
            row = {"pool": name, "lost": level.lost, "left": level.gpus_left, "occupied": pool.gpus_occupied}
            rows.append(row | {"state": STATES[level.fits]})
    return rows


def capacity_chart(rows: list[dict[str, Any]], look: Look) -> Spec:
    """GPUs left after host failures against what is occupied, for each pool."""
    many = len({r["pool"] for r in rows}) > 1
    colours = dict(zip(STATES.values(), (OKABE_ITO[2], OKABE_ITO[5], look.soft), strict=True))
    states = {r["state"] for r in rows}
    shown = {state: ink for state, ink in colours.items() if state in states}
    wide = {"width": 240 if look.below else 260} if many else {"width": 560} if look.paper else WIDE
    height = 30 * len({r["lost"] for r in rows})
    inks = list(shown.values())
    spec = filled("capacity", look, {"states": list(shown), "inks": inks, "wide": wide, "height": height})
    title = {"title": spec["title"]} if look.paper else {}
    placed = {"facet": spec["pools"]["column"], "columns": 1} if look.below else {"facet": spec["pools"]}
    drawn = placed | {"spec": spec["layered"]} if many else spec["layered"]
    return {"$schema": SCHEMA, **title, "data": {"values": rows}, **drawn, "config": config(look)}


SMALLEST_LETTER = 0.05
"""Share of the tallest column from which a part has room for its letter."""
HALF_BAR = 0.42
"""Half the width of a column, as a share of the distance of two."""


def year_names(costs: Costs) -> list[str]:
    """The start, and the years after it."""
    years = range(1, costs.years + 1)
    return [said("chart.years.start"), *(said("chart.years.year", year=year) for year in years)]


def years_rows(costs: Costs) -> dict[str, Any]:
    """Parts piled up above each year, with what is left at the end below zero, and the sum of each year."""
    years = year_names(costs)
    tops = [
        cost.total_cost(*(p.yearly[at] for p in costs.parts if p.yearly[at] > 0)) for at in range(len(years))
    ]
    tall = SMALLEST_LETTER * max(tops)
    rows = []
    paid, left = [0.0] * len(years), [0.0] * len(years)  # base of the next part, above zero and below
    for part in costs.parts:
        letter, colour = PARTS[part.name]
        for at, value in enumerate(part.yearly):
            if not value:
                continue
            pile = paid if value > 0 else left
            low, pile[at] = pile[at], pile[at] + value
            row: Spec = {"part": f"{letter} {part.name}", "year": years[at], "at": at}
            row |= {"left": at - HALF_BAR, "right": at + HALF_BAR, "cost": value}
            row |= {"low": low, "high": pile[at], "middle": low + value / 2}
            row |= {"words": money(value, costs.currency), "letter": letter if abs(value) > tall else ""}
            rows.append(row | {"ink": COLOURS[colour], "pen": pen_on(COLOURS[colour])})
    cash = [(at, value) for at, value in enumerate(costs.cash) if value]
    sums = [{"at": at, "top": tops[at], "words": short_number(value)} for at, value in cash]
    return {"rows": rows, "sums": sums, "currency": costs.currency}


def years_chart(data: Spec, look: Look) -> Spec:
    """Cash by year, stacked by part; every part has its letter, what is worth something at the end is below zero."""
    parts = list({row["part"]: row["ink"] for row in data["rows"]}.items())
    colours = named_colours("part", parts, look, values=[name for name, _ in reversed(parts)])
    start, year = (json.dumps(said(f"chart.years.{key}", year="#")) for key in ("start", "year"))
    ticks = f"datum.value % 1 ? '' : datum.value ? replace({year}, '#', datum.value) : {start}"
    return drawn("years", look, data, colours=colours, years=ticks)


DASHES = ([1, 0], [8, 4], [3, 3], [10, 3, 2, 3])


def purchases_rows(found: Purchases) -> Spec:
    """Hosts of each way to buy in each year, and those needed; the last year lasts to its end. Empty without growth."""
    if found.need is None:
        return {}
    years = [*range(len(found.need["planned"])), len(found.need["planned"]) - 1]
    ends = zip(*([hosts[year] for year in years] for hosts in found.need.values()), strict=True)
    need = [{"at": at, **dict(zip(found.need, hosts, strict=True))} for at, hosts in enumerate(ends, 1)]
    rows: list[Spec] = []
    for way in found.ways:
        for at, year in enumerate(years, 1):
            owned, rented, both = way.owned[year], way.rented[year], "chart.purchases.and rented"
            row: Spec = {"way": NAMES["way to buy"][way.key], "at": at, "hosts": owned}
            row |= {"shown": int(at < len(years)), "year": said("chart.purchases.year", year=at)}
            row["words"] = said(both, owned=owned, rented=rented) if rented else str(owned)
            rows.append(row | {"needed": said("chart.purchases.low to high", **need[at - 1])})
    return {"rows": rows, "need": need, "years": list(range(1, len(years)))}


def purchases_chart(data: Spec, look: Look) -> Spec:
    """Hosts owned in each year by each way to buy, against those needed and the band of low and high demand."""
    ways = list(dict.fromkeys(row["way"] for row in data["rows"]))
    year = f"'{said('chart.purchases.year', year='')}' + datum.value"
    return drawn(
        "purchases", look, data, ways=ways, inks=OKABE_ITO[: len(ways)], dashes=DASHES[: len(ways)], year=year
    )


CHOSEN = OKABE_ITO[0]
LINKS = {"10": OKABE_ITO[5], "25": OKABE_ITO[3], "100": OKABE_ITO[2], "400": OKABE_ITO[4]}
WAYS: dict[bool, tuple[str, list[int]]] = {False: ("triangle-up", [5, 3]), True: ("square", [1, 0])}
"""Point and dashes of an alternative over TCP, and over RDMA."""
THIN, THICK = 1.5, 4.0


def curve_name(curve: Curve) -> str:
    """A link and its transport in a few words."""
    how = TRANSPORT_NAMES[curve.transport] if curve.chosen or curve.transport not in RDMA else "RDMA"
    several = f"{curve.links} \u00d7 " if curve.links > 1 else ""
    name = f"{several}{number(curve.link_gbit_s)} Gbit/s {how}"
    return said("chart.scaling.this design", network=name) if curve.chosen else name


def curve_look(curve: Curve) -> Spec:
    """Return the look of a network's curve; with several links a host it has another point."""
    if curve.chosen:
        return {"ink": CHOSEN, "point": "circle", "dash": [1, 0], "width": THICK}
    point, dash = WAYS[curve.transport in RDMA]
    point = "diamond" if curve.links > 1 else point
    return {"ink": LINKS[number(curve.link_gbit_s)], "point": point, "dash": dash, "width": THIN}


def scaling_rows(curves: Sequence[Curve], view: str, unit: str) -> Spec:
    """Efficiency or throughput of each network at each number of hosts."""
    rows: list[Spec] = []
    for curve, step in ((each, step) for each in curves for step in each.steps):
        row: Spec = {"name": curve_name(curve), "chosen": curve.chosen, "hosts": step.hosts}
        row |= {"low": step.low, "high": step.high}
        row["value"] = step.efficiency if view == "efficiency" else step.per_s
        row["words"] = f"{kept_share(step.efficiency)} ({kept_range(step.low, step.high)})"
        row["per_s"] = said("chart.scaling.a second", unit=f"{three_digits(step.per_s)} {unit}")
        rows.append(row | curve_look(curve))
    return {"view": view, "unit": unit, "rows": rows}


def _efficiency(lowest: float) -> Spec:
    """The axis of efficiency: it says so where it does not begin at zero."""
    begin = max(0, math.floor(10 * lowest) / 10)
    sign = per_cent("1 %")[1:]
    title = said("chart.scaling.efficiency from", share=begin) if begin else said("chart.scaling.efficiency")
    axis = {"labelExpr": f"format(100 * datum.value, 'd') + '{sign}'", "tickCount": 5}
    return {"title": title, "scale": {"domain": [begin, 1], "zero": False}, "axis": axis}


def scaling_chart(data: Spec, look: Look) -> Spec:
    """Draw efficiency or throughput over hosts by the looks in the rows: the design thick, others thin."""
    efficiency, rows = data["view"] == "efficiency", data["rows"]
    y = _efficiency(min((row["low"] for row in rows), default=0))
    if not efficiency:
        title = said("chart.scaling.a second", unit=data["unit"].capitalize())
        y = {"title": title, "scale": {"type": "log"}, "axis": {"format": "~s", "tickCount": 5}}
    named = list({row["name"]: row["ink"] for row in rows}.items())
    key = {"orient": "bottom", "columns": 2, "labelLimit": 290, "symbolType": "stroke"}
    as_is = {"field": "ink", "type": "nominal", "scale": None}
    more: Spec = {"efficiency": efficiency, "y": y, "chosen": CHOSEN}
    more["colours"] = named_colours("name", named, look, **key) if look.paper else as_is
    more["thick"] = [row for row in rows if row["chosen"]]
    more["thin"] = [row for row in rows if not row["chosen"]]
    more["about"] = said("chart.scaling.about efficiency" if efficiency else "chart.scaling.about throughput")
    return drawn("scaling", look, data, **more)
