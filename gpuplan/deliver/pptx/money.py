"""Cost slides: by year, against the alternatives, with the strongest drivers and the growth."""

from __future__ import annotations

from typing import Any

from gpuplan.deliver.executive import Driver
from gpuplan.deliver.pptx.deck import GAP, TILE, Deck, Tile
from gpuplan.deliver.pptx.measure import SMALL, cut, text_width
from gpuplan.deliver.pptx.native import (
    Look,
    Series,
    add_chart,
    fill,
    label_point,
    label_values,
    scale_of,
    totals_above,
)
from gpuplan.deliver.pptx.notes import Reasons
from gpuplan.deliver.pptx.opening import signed
from gpuplan.plan.cash_flow import CostPart
from gpuplan.plan.cost import Costs
from gpuplan.report.charts.cost import year_names
from gpuplan.report.colours import COLOURS, OKABE_ITO, PARTS
from gpuplan.report.drawing import pen_on
from gpuplan.report.figures import Figures
from gpuplan.wording import headline_money, number, rounded_money, said, short_number, watts

SERIES = 7
"""Most parts of the cost with a separate colour; the smallest are combined."""
LETTER_SHARE = 0.07
"""Share of the tallest column from which a part has room for its letter."""
MOST_DRIVERS, MOST_CHOICES = 6, 7
LOW, HIGH = OKABE_ITO[0], OKABE_ITO[3]
OTHER = COLOURS[0]


# By year


def cost_series(costs: Costs) -> tuple[CostPart, ...]:
    """Return the parts of the cost for a chart: the largest, and the others combined; they sum to the payments."""
    ranked = sorted(costs.parts, key=lambda part: -sum(abs(value) for value in part.yearly))
    if len(ranked) <= SERIES + 1:
        return tuple(costs.parts)
    shown = {part.name for part in ranked[:SERIES]}
    others = [part for part in costs.parts if part.name not in shown]
    rest = tuple(sum(values) for values in zip(*(part.yearly for part in others), strict=True))
    return (
        *(part for part in costs.parts if part.name in shown),
        CostPart(said("deck.cost.others"), rest, ""),
    )


def cost_slide(deck: Deck, costs: Costs) -> None:
    """Add the slide of payments at the start and in each year, by part, with totals."""
    figures = Figures(deck.plan)
    title = figures.said("deck.cost.title")
    slide = deck.slide(
        [title, figures.said("deck.cost.short")],
        title,
        Reasons(
            keys=("cost.net_present", "cost.total", "cost.years.0"),
            more=[f"{figures.money} {figures.cost_about}", _largest(costs)],
        ),
    )
    names = said("deck.cost.excludes", names="; ".join(costs.excludes)) if costs.excludes else ""
    notes = [cut(names, SMALL, deck.box.width, 2)] if names else []
    box, foot = deck.footed(notes, SMALL)
    parts = cost_series(costs)
    tops = [sum(max(0.0, part.yearly[at]) for part in parts) for at in range(len(costs.cash))]
    pattern, letter = scale_of(max(tops))
    stacked = [
        Series(
            f"{_letter(part.name)}  {part.name}",
            part.yearly,
            COLOURS[PARTS[part.name][1]] if part.name in PARTS else OTHER,
        )
        for part in parts
    ]
    chart = add_chart(
        slide,
        box,
        year_names(costs),
        [*stacked, Series(said("deck.cost.total"), tops, OTHER)],
        Look(
            "COLUMN_STACKED",
            gap=55,
            overlap=100,
            legend="right",
            axis=said("deck.cost.axis", currency=costs.currency, letter=letter).strip(),
            pattern=pattern,
            start=None if min(costs.cash) < 0 else 0,
        ),
        said("deck.cost.about"),
    )
    _letters(chart, parts, max(tops))
    sums = {at: short_number(paid) for at, paid in enumerate(costs.cash) if paid or tops[at]}
    totals_above(chart, sums, pattern)
    if notes:
        deck.text(slide, notes, foot, SMALL, quiet=True)


def _largest(costs: Costs) -> str:
    largest = max(costs.parts, key=lambda part: part.total, default=None)
    if largest is None or not costs.total:
        return ""
    money = headline_money(largest.total, costs.currency)
    return said("deck.cost.largest", part=largest.name, money=money, share=largest.total / costs.total)


def _letter(name: str) -> str:
    return PARTS[name][0] if name in PARTS else "\u00b7"


def _letters(chart: Any, parts: tuple[CostPart, ...], tallest: float) -> None:
    """The letter of a part in each column that has room for it."""
    for at, part in enumerate(parts):
        colour = COLOURS[PARTS[part.name][1]] if part.name in PARTS else OTHER
        for year, value in enumerate(part.yearly):
            if abs(value) > LETTER_SHARE * tallest:
                label_point(chart, at, year, _letter(part.name), colour=pen_on(colour), at="CENTER")


# Alternatives


def alternatives_slide(deck: Deck, costs: Costs) -> None:
    """Add the slide of this design and its alternatives, priced on the same basis, with each cost difference."""
    found = deck.summary.choices[:MOST_CHOICES]
    if not found:
        return
    silos = next((each for each in found if each.key == "silos"), None)
    titles = []
    if silos and silos.difference > 0:
        titles.append(said("deck.choices.silos", more=headline_money(silos.difference, costs.currency)))
    cheaper = [each for each in found if each.difference < 0]
    key = "deck.choices.title" if cheaper else "deck.choices.none"
    titles.append(said(key, count=len(found), cheaper=len(cheaper)))
    slide = deck.slide(
        titles,
        titles[0],
        Reasons(
            keys=("cost.net_present",),
            more=[
                said("deck.choices.alike"),
                *(f"{each.name}: {each.gives_up}" for each in found if each.gives_up),
            ],
        ),
    )
    own = said("deck.choices.this")
    bars = [
        (own, costs.net_present, 0.0),
        *((each.name, each.net_present, each.difference) for each in found),
    ]
    bars.sort(key=lambda each: -each[1])
    names = [cut(name, SMALL, 280) for name, _, _ in bars]
    chart = add_chart(
        slide,
        deck.box._replace(height=min(deck.box.height, 50 + 50 * len(bars))),
        names,
        [
            Series(
                said("deck.choices.series", currency=costs.currency),
                [value for _, value, _ in bars],
                "AEB6C2",
            )
        ],
        Look(gap=45, end=1.4 * max(value for _, value, _ in bars)),
        said("deck.choices.about"),
    )
    for at, (name, value, more) in enumerate(bars):
        text = rounded_money(value)[0]
        if name == own:
            fill(chart.plots[0].series[0].points[at], deck.brand.accent)
        else:
            text = said("deck.choices.label", money=text, difference=signed(more))
        label_point(chart, 0, at, text, bold=name == own)


# Cost drivers


def drivers_slide(deck: Deck, costs: Costs) -> None:
    """The assumptions that move the cost most, at their low and at their high end."""
    found = deck.summary.drivers[:MOST_DRIVERS]
    if not found:
        return
    first = found[0]
    low, high = (rounded_money(end)[0] for end in (first.cost_low, first.cost_high))
    title = said(
        "deck.drivers.title",
        name=_driver_name(deck, first.label),
        low=low,
        high=high,
        currency=costs.currency,
    )
    slide = deck.slide(
        [title, said("deck.drivers.short")],
        title,
        Reasons(
            more=[said("deck.drivers.how"), *(_driver_words(each, costs) for each in found)],
        ),
    )
    rows = found[::-1]
    now = costs.net_present
    ends = [[each.at_low - now for each in rows], [each.at_high - now for each in rows]]
    most = max(abs(value) for values in ends for value in values)
    note = said("deck.drivers.from", money=headline_money(now, costs.currency))
    box, foot = deck.footed([note], SMALL)
    chart = add_chart(
        slide,
        box._replace(height=min(box.height, 90 + 52 * len(rows))),
        [_driver_name(deck, each.label) for each in rows],
        [
            Series(said("deck.drivers.low"), ends[0], LOW),
            Series(said("deck.drivers.high"), ends[1], HIGH),
        ],
        Look(gap=55, overlap=100, legend="bottom", start=-1.5 * most, end=1.5 * most),
        said("deck.drivers.about"),
    )
    for at, each in enumerate(rows):
        for series, (words, value) in enumerate(((each.low, ends[0][at]), (each.high, ends[1][at]))):
            if abs(value) > 0.005 * most:
                text = said("deck.drivers.label", end=words, difference=signed(value))
                label_point(chart, series, at, text, bold=False)
    deck.text(slide, note, foot, SMALL, quiet=True)


def _driver_name(deck: Deck, label: str, width: float = 400) -> str:
    """The name of an input; of a long one of a group the name of the group is cut."""
    group = next((g.name for g in deck.plan.groups if label.startswith(f"{g.name}: ")), "")
    what = label.removeprefix(group)
    return (
        cut(group, SMALL, max(60.0, width - text_width(what, SMALL))) + what
        if group
        else cut(label, SMALL, width)
    )


def _driver_words(each: Driver, costs: Costs) -> str:
    low, high = (rounded_money(end)[0] for end in (each.at_low, each.at_high))
    return said(
        "deck.drivers.words",
        name=each.label,
        low=each.low,
        high=each.high,
        at_low=low,
        at_high=high,
        currency=costs.currency,
    )


# Growth, or power and space


def growth_slide(deck: Deck, costs: Costs) -> None:
    """Hosts and GPUs by year."""
    title = said("deck.growth.title", first=costs.hosts[0], last=costs.hosts[-1], year=costs.years)
    slide = deck.slide(
        title,
        title,
        Reasons(keys=("totals.hosts", "cost.net_present"), more=[said("deck.growth.how"), *_growths(deck)]),
    )
    chart = add_chart(
        slide,
        deck.box,
        year_names(costs)[1:],
        [
            Series(said("deck.growth.hosts"), costs.hosts, deck.brand.accent),
            Series(said("deck.growth.gpus"), costs.gpus, OKABE_ITO[1]),
        ],
        Look("COLUMN_CLUSTERED", gap=60, overlap=-8, legend="bottom"),
        said("deck.growth.about"),
    )
    label_values(chart, "#,##0")
    label_values(chart, "#,##0", series=1)


def _growths(deck: Deck) -> list[str]:
    return [
        said("deck.growth.group", name=group.name, share=group.growth)
        for group in deck.plan.scenario.groups
        if group.growth
    ]


def power_slide(deck: Deck) -> None:
    """Power and space."""
    use = deck.plan.power
    if use is None:
        return
    key = "deck.power.title" if use.racks else "deck.power.title beyond"
    title = said(key, typical=watts(use.typical_w), peak=watts(use.peak_w), racks=use.racks)
    slide = deck.slide(
        title,
        title,
        Reasons(
            keys=("power.typical", "power.peak", "power.facility", "power.racks"),
            more=[said("deck.cost.excludes", names="; ".join(use.excludes))] if use.excludes else [],
        ),
    )
    bars = [
        (said("deck.power.cooled"), use.facility_w),
        (said("deck.power.peak"), use.peak_w),
        (said("deck.power.typical"), use.typical_w),
    ]
    unit = 1e6 if max(watts for _, watts in bars) >= 999_950 else 1e3
    chart = add_chart(
        slide,
        deck.box.above(deck.box.height - TILE - GAP - 4),
        [name for name, _ in bars],
        [Series(said("deck.power.series"), [round(value / unit, 3) for _, value in bars], deck.brand.accent)],
        Look(gap=45),
        said("deck.power.about"),
    )
    label_values(chart, '#,##0.00" MW"' if unit > 1000 else '#,##0.0" kW"')
    tiles = [
        Tile(
            said("deck.power.racks"),
            number(use.racks) if use.racks else "\u2013",
            said("deck.power.each", hosts=use.hosts_per_rack),
        ),
        Tile(
            said("deck.power.energy"),
            said("deck.power.mwh", mwh=round(use.energy_kwh / 1000)),
            said("deck.power.with cooling"),
        ),
        Tile(
            said("deck.power.co2"),
            said("deck.power.tonnes", tonnes=round(use.emissions_kg / 1000)),
            said("deck.power.a year"),
        ),
        Tile(said("deck.power.host"), watts(use.host_peak_w), said("deck.power.full load")),
    ]
    deck.tiles(slide, tiles, deck.box.below(deck.box.height - TILE))
