"""The first slides: the title, the decision on one page, the request, and when GPUs are needed."""

from __future__ import annotations

from typing import Any

from gpuplan.analysis.alternatives import Alternative
from gpuplan.analysis.demand import WeekDemand, hour_demand, rule_answers, week_demand
from gpuplan.deliver.pptx.deck import Deck, Tile, put
from gpuplan.deliver.pptx.measure import BODY, COVER, LEAD, SMALL, TITLE, Box, box_of, cut
from gpuplan.deliver.pptx.native import Look, Series, add_chart, fill, label_values
from gpuplan.deliver.pptx.notes import Reasons
from gpuplan.deliver.pptx.paging import fitted, put_table
from gpuplan.locales import written_day
from gpuplan.report.colours import COLOURS, OKABE_ITO
from gpuplan.report.diagrams import group_symbols
from gpuplan.report.figures import Figures, waits
from gpuplan.report.headlines import HEADLINES
from gpuplan.report.table import Column, Table
from gpuplan.wording import (
    MODE_NAMES,
    NAMES,
    RULE_NAMES,
    amount,
    hours,
    mean_gpus,
    number,
    rounded_money,
    said,
    short_number,
)

MOST_ALTERNATIVES = 3
"""Most alternatives beside the recommendation; all have their own slide."""
MOST_GROUPS = 10
"""Most workloads with a separate bar."""
NAME_WIDTH = 230
"""Width of a name beside a bar or in a legend, in points."""
SHOWN_DAY = 2
"""The weekday whose hours are shown."""
GREY = COLOURS[0]


def title_slide(deck: Deck) -> None:
    """Design, customer, author, version and day."""
    plan, paper = deck.plan, deck.plan.scenario.document
    layout = deck.layout_with(kinds={3, 4})
    slide = deck.show.slides.add_slide(layout or deck.layout)
    customer = plan.scenario.customer
    lead = said("deck.title.customer", customer=customer) if customer else said("deck.title.design")
    version = said(
        "deck.title.version",
        version=paper.version or "0.1",
        status=NAMES["document.status"][paper.status or "draft"],
    )
    details = [
        said("deck.title.author", author=paper.author) if paper.author else "",
        version,
        written_day(deck.day),
    ]
    title = slide.shapes.title
    box = box_of(title)
    lines = max(1, int(box.height / (COVER * 1.2)))
    size = COVER if len(plan.scenario.name) < 60 else TITLE
    put(title, cut(plan.scenario.name, size, box.width - 15, lines, bold=True), size, bold=True)
    _title_words(deck, slide, lead, [each for each in details if each])
    first = said("deck.title.first", name=plan.scenario.name)
    deck.finish(slide, first, Reasons(more=[*deck.summary.recommendation]))


def _title_words(deck: Deck, slide: Any, lead: str, details: list[str]) -> None:
    """Write the text below the title: into the placeholders of the layout, else into separate boxes."""
    places = {int(p.placeholder_format.type): p for p in slide.placeholders}
    subtitle, body = places.get(4), places.get(2)
    if subtitle is None:
        deck.text(slide, [lead, *details], deck.box, LEAD)
        return
    if body is None:
        lead = " \u00b7 ".join([lead, *details])
    box = box_of(subtitle)
    put(subtitle, cut(lead, LEAD, box.width - 15, max(1, int(box.height / 24))), LEAD)
    if body is not None:
        frame, width = body.text_frame, box_of(body).width
        for at, text in enumerate(details):
            paragraph = frame.paragraphs[0] if at == 0 else frame.add_paragraph()
            paragraph.text = cut(text, BODY, width)


# The decision on one page


def executive_slide(deck: Deck) -> None:
    """Add the slide of the recommendation, four key figures, and the alternatives with why they are not recommended."""
    plan, summary = deck.plan, deck.summary
    slide = deck.slide(
        _recommended(deck),
        summary.recommendation[0],
        Reasons(
            keys=("totals.hosts", "totals.gpus_after_failure", "cost.net_present"),
            more=[summary.recommendation[1], summary.survives, summary.money_about],
        ),
    )
    if not plan.pools:
        deck.text(slide, summary.recommendation[1], deck.box, LEAD)
        return
    tall = deck.tiles(slide, _key_tiles(deck), deck.box)
    below = deck.box.below(tall + 22)
    found = summary.choices[:MOST_ALTERNATIVES]
    if not found or plan.costs is None:
        deck.text(slide, said("deck.executive.no cost") if plan.costs is None else "", below)
        return
    table = choices_table(deck, found)
    widths = (3.7, 1.1, 1.6, 2, 6)
    page = fitted(table, below, widths, (LEAD, BODY), lines=2)[0]
    put_table(slide, page, said("deck.executive.about"))


def _recommended(deck: Deck) -> list[str]:
    """Return the recommendation, shortened where two lines cannot hold it."""
    first = deck.summary.recommendation[0]
    if not deck.plan.pools:
        return [first]
    figures = Figures(deck.plan)
    return [first, *map(figures.said, IN_CLUSTERS if len(deck.plan.pools) > 1 else IN_ONE_CLUSTER)]


IN_ONE_CLUSTER = ("deck.executive.long", "deck.executive.short", "deck.executive.shortest")
IN_CLUSTERS = (
    "deck.executive.long in clusters",
    "deck.executive.short in clusters",
    "deck.executive.shortest in clusters",
)


def _key_tiles(deck: Deck) -> list[Tile]:
    """Return tiles for capacity, hardware, failure tolerance and cost."""
    plan, figures, placed = deck.plan, Figures(deck.plan), deck.plan.placed
    survives = amount(figures.down, "host") if placed.survived >= figures.down else said("deck.tile.none")
    left = figures.said("deck.tile.left")
    if placed.missing or placed.lost:
        left = figures.said("deck.tile.missing" if placed.missing else "deck.tile.lost")
    carried = figures.said("deck.tile.carried" if plan.groups else "deck.tile.carried total")
    cost, over = figures.cost, ""
    if cost:
        over = figures.said("deck.tile.cost range" if cost.span else "deck.tile.cost")
    return [
        Tile(said("deck.tile.carries"), amount(figures.demand, "GPU"), carried),
        Tile(said("deck.tile.hosts"), amount(plan.totals.hosts, "host"), figures.said("deck.tile.hosts for")),
        Tile(said("deck.tile.survives"), survives, left),
        Tile(said("deck.tile.net present"), cost.price if cost else figures.money, over),
    ]


def choices_table(deck: Deck, found: tuple[Alternative, ...]) -> Table:
    """Tabulate alternatives with their cost and why they are not recommended."""
    assert deck.plan.costs is not None
    currency = deck.plan.costs.currency
    rows = []
    for each in found:
        cost = rounded_money(each.net_present)[0]
        more = signed(each.difference)
        hosts = number(each.hosts[0]) if each.hosts else "\u2013"
        rows.append((each.name, hosts, cost, more, why_not(deck, each)))
    columns = (
        Column("name", said("deck.column.alternative")),
        Column("hosts", said("deck.column.hosts"), "number"),
        Column("cost", said("deck.column.cost", currency=currency), "number"),
        Column("more", said("deck.column.difference"), "number"),
        Column("why", said("deck.column.why not")),
    )
    return Table("choices", columns, tuple(rows), title=said("deck.executive.about"))


def signed(amount: float) -> str:
    """An amount as a difference."""
    if abs(amount) < 0.5:
        return "\u00b10"
    sign = "+" if amount > 0 else "\u2212"
    return f"{sign}{short_number(abs(amount))}"


def why_not(deck: Deck, each: Alternative) -> str:
    """Say in a few words why an alternative is not recommended."""
    short = {posture.host_failures: posture.short_h for posture in deck.plan.postures}
    chosen = deck.plan.scenario.availability.host_failures
    kind = each.key.partition("-")[0] if each.key.startswith("rent-") else each.key
    if kind in ("n0", "n1", "n2") and chosen in short:
        there, here = short.get(int(kind[1]), 0.0), short[chosen]
        if each.difference > 0:
            return said("deck.why.more", hours=hours(max(0.0, here - there)))
        return said("deck.why.fewer", there=hours(there), here=hours(here))
    if kind == "board":
        return said("deck.why.board dearer" if each.difference > 0 else "deck.why.board cheaper")
    if kind in WHY_NOT or (kind == "silos" and each.difference > 0):
        return said(WHY_NOT.get(kind, "deck.why.silos"))
    return each.gives_up


WHY_NOT = {"rent": "deck.why.rent", "orders": "deck.why.orders", "no-growth": "deck.why.no-growth"}


# The request


def asked_slide(deck: Deck) -> None:
    """GPUs by workload, the largest first."""
    plan = deck.plan
    reasons = Reasons(
        keys=("demand.gpus", *(f"groups.{group.id}.demand_gpus" for group in plan.groups[:MOST_GROUPS])),
        more=[said("deck.asked.carries", names=deck.summary.carries)],
    )
    headline = HEADLINES["usecases"](plan)
    slide = deck.slide(headline.sentence, headline.sentence, reasons)
    if not plan.groups:
        deck.text(slide, said("deck.asked.nothing" if not plan.pools else "deck.asked.total"), deck.box, LEAD)
        return
    symbols = group_symbols(plan)
    ranked = sorted(plan.groups, key=lambda group: -group.demand_gpus)
    shown = ranked if len(ranked) <= MOST_GROUPS else ranked[: MOST_GROUPS - 1]
    bars = [
        (f"{symbols[g.id].letter}  {_short(g.name)}", float(g.demand_gpus), symbols[g.id].colour)
        for g in shown
    ]
    if rest := ranked[len(shown) :]:
        name = said("deck.hosts.other groups", count=len(rest))
        bars.append((name, float(sum(g.demand_gpus for g in rest)), GREY))
    bars.reverse()
    left, right = deck.box.sides(deck.box.width * 0.68, 28)
    values = [value for _, value, _ in bars]
    chart = add_chart(
        slide,
        left._replace(height=min(left.height, 40 + 50 * len(bars))),
        [name for name, _, _ in bars],
        [Series(said("deck.asked.series"), values, OKABE_ITO[0])],
        Look(gap=40),
        said("deck.asked.about"),
    )
    pattern = "#,##0" if all(value.is_integer() for value in values) else "#,##0.##"
    label_values(chart, pattern)
    for at, (_, _, colour) in enumerate(bars):
        fill(chart.plots[0].series[0].points[at], colour)
    _asked_words(deck, slide, right)


def _asked_words(deck: Deck, slide: Any, box: Box) -> None:
    """Write the number of VMs, and how they reach their GPUs."""
    plan = deck.plan
    by_mode: dict[str, float] = {}
    for group in plan.groups:
        by_mode[group.mode] = by_mode.get(group.mode, 0.0) + float(group.demand_gpus)
    tiles = [Tile(said("deck.asked.vms"), number(plan.placed.vms), said("deck.asked.peak"))]
    most = 2 if box.height >= 320 else 1
    for mode, gpus in sorted(by_mode.items(), key=lambda item: -item[1])[:most]:
        tiles.append(Tile(MODE_NAMES[mode], amount(_rounded(gpus), "GPU"), said(MODES[mode])))
    deck.tiles(slide, tiles, box, columns=1)


MODES = {
    "passthrough": "deck.mode.passthrough",
    "vgpu": "deck.mode.vgpu",
    "mig": "deck.mode.mig",
    "bitfusion": "deck.mode.bitfusion",
    "": "deck.mode.none",
}


def _rounded(gpus: float) -> float:
    return round(gpus, 2)


def _short(name: str, width: float = NAME_WIDTH) -> str:
    """A name that fits beside a bar."""
    return cut(name, SMALL, width)


# Hours


def when_slide(deck: Deck) -> None:
    """Add the slide of GPUs by hour of a weekday; without hours, of the GPUs by sizing rule."""
    plan = deck.plan
    if not plan.groups:
        return
    week = week_demand(plan)[0]
    if week.steady:
        _rules_slide(deck)
    else:
        _hours_slide(deck, week)


def _waiting_words(deck: Deck) -> list[str]:
    found = waits(deck.plan)
    return [said("deck.when.waiting", now=found[0], after=found[1])] if found else []


def _hours_slide(deck: Deck, week: WeekDemand) -> None:
    plan, symbols = deck.plan, group_symbols(deck.plan)
    headline = HEADLINES["demand"](plan).sentence
    slide = deck.slide(
        headline,
        headline,
        Reasons(keys=("demand.gpus",), more=[said("deck.when.hours why"), *_waiting_words(deck)]),
    )
    found = hour_demand(week, (SHOWN_DAY,))
    names = {group.id: f"{symbols[group.id].letter}  {_short(group.name, 170)}" for group in plan.groups}
    colours = {group.id: symbols[group.id].colour for group in plan.groups}
    others = said("deck.when.others")
    stacked = [
        Series(
            names.get(each.group, others), [round(v, 3) for v in each.gpus[0]], colours.get(each.group, GREY)
        )
        for each in found
    ]
    planned = Figures(plan).demand
    hours_of_day = [f"{hour:02}" for hour in range(24)]
    look = Look(
        "COLUMN_STACKED", gap=12, overlap=100, legend="right", axis=said("deck.when.axis"), pattern="#,##0"
    )
    peak = max(sum(values) for values in zip(*(each.gpus[0] for each in found), strict=True))
    note = said("deck.when.note", peak=number(mean_gpus(peak)), planned=planned)
    upper, lower = deck.footed([note], SMALL)
    add_chart(slide, upper, hours_of_day, stacked, look, said("deck.when.about"))
    deck.text(slide, note, lower, SMALL, quiet=True)


def _rules_slide(deck: Deck) -> None:
    """Add the slide of GPUs by sizing rule, with the rule of the design highlighted."""
    plan = deck.plan
    headline = HEADLINES["demand"](plan).sentence
    slide = deck.slide(
        headline,
        headline,
        Reasons(keys=("demand.gpus",), more=[said("deck.when.rules why"), *_waiting_words(deck)]),
    )
    answers = [each for each in rule_answers(plan) if each.gpus is not None]
    bars = [(_rule_name(deck, each.rule), float(each.gpus or 0), each.chosen) for each in answers]
    if plan.scenario.deciding_total_gpus is not None:
        bars.append((RULE_NAMES["stated"], float(plan.totals.gpus_demanded), True))
    bars.reverse()
    notes = [said("deck.when.rules note"), *_waiting_words(deck)]
    upper, lower = deck.footed(notes, SMALL)
    chart = add_chart(
        slide,
        upper._replace(height=min(upper.height, 60 + 56 * len(bars))),
        [name for name, _, _ in bars],
        [Series(said("deck.asked.series"), [value for _, value, _ in bars], GREY)],
        Look(gap=40),
        said("deck.when.rules about"),
    )
    label_values(chart, "#,##0.#" if any(not value.is_integer() for _, value, _ in bars) else "#,##0")
    for at, (_, _, chosen) in enumerate(bars):
        if chosen:
            fill(chart.plots[0].series[0].points[at], deck.brand.accent)
    deck.text(slide, notes, lower, SMALL, quiet=True)


def _rule_name(deck: Deck, rule: str) -> str:
    chosen = deck.plan.scenario.demand.rule == rule and deck.plan.scenario.deciding_total_gpus is None
    name = RULE_NAMES[rule]
    return said("deck.when.chosen", rule=name) if chosen else name
