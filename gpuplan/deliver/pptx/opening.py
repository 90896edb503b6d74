"""The first slides: the decision on one page, the request, and when GPUs are needed."""

from collections.abc import Iterator
from functools import partial
from typing import Any

from gpuplan.analysis.alternatives import Alternative
from gpuplan.analysis.demand import WeekDemand, hour_demand, rule_answers, week_demand
from gpuplan.deliver.pptx.blocks import Chart, Series, Tile, Tiles, Words, piled
from gpuplan.deliver.pptx.deck import Deck, Slide
from gpuplan.deliver.pptx.measure import LEAD, SMALL, cut, first_of
from gpuplan.deliver.pptx.money import signed
from gpuplan.deliver.pptx.paging import Listing
from gpuplan.report.diagrams import group_symbols
from gpuplan.report.drawing import COLOURS, OKABE_ITO
from gpuplan.report.figures import waits
from gpuplan.report.headlines import HEADLINES
from gpuplan.report.table import Table, tabulate
from gpuplan.wording import (
    MODE_NAMES,
    NAMES,
    RULE_NAMES,
    TEXTS,
    amount,
    hours,
    mean_gpus,
    number,
    rounded_money,
    said,
)

MOST_ALTERNATIVES = 3
"""Most alternatives beside the recommendation; all have their own slide."""
MOST_GROUPS = 10
NAME_WIDTH, KEY_WIDTH = 230, 170
"""Width of a name beside a bar, and in a legend, in points."""
SHOWN_DAY = 2
GREY = COLOURS[0]
MODES = NAMES["mode in the deck"]


def executive_slide(deck: Deck) -> Iterator[Slide]:
    """The recommendation, four key figures, and the alternatives with why they are not recommended."""
    plan, summary = deck.plan, deck.summary
    keys = ("totals.hosts", "totals.gpus_after_failure", "cost.net_present")
    (build, carried), more = summary.recommendation, (summary.survives, summary.money_about)
    if not plan.pools:
        yield Slide([build], Words([carried], LEAD), keys, more=[carried, *more])
        return
    several = " in clusters" * (len(plan.pools) > 1)
    shorter = (f"deck.executive.{size}{several}" for size in ("long", "short", "shortest"))
    choices = summary.choices[:MOST_ALTERNATIVES]
    body: Words | Listing = Words(["" if plan.costs else said("deck.executive.no cost")])
    if plan.costs and choices:
        body = Listing(_choices_table(deck, choices, plan.costs.currency), (3.7, 1.1, 1.6, 2, 6))
    titles, tiles = (
        [build, *map(deck.figures.said, shorter)],
        Tiles([Tile(*tile) for tile in deck.figures.tiles("deck")]),
    )
    yield Slide(titles, body, keys, more=[carried, *more], top=tiles, gap=22)


def _choices_table(deck: Deck, choices: tuple[Alternative, ...], currency: str) -> Table:
    own: dict[str, Any] = {"hosts": lambda each: number(each.hosts[0]) if each.hosts else "\u2013"}
    own["cost"] = lambda each: rounded_money(each.net_present)[0]
    own |= {"difference": lambda each: signed(each.difference), "why": partial(why_not, deck)}
    return tabulate("choices", choices, currency, **own, title=said("deck.executive.about"))


def why_not(deck: Deck, choice: Alternative) -> str:
    """Say in a few words why an alternative is not recommended."""
    short = {posture.host_failures: posture.short_h for posture in deck.plan.postures}
    chosen, dearer = deck.plan.scenario.availability.host_failures, choice.difference > 0
    kind = choice.key.partition("-")[0] if choice.key.startswith("rent-") else choice.key
    if kind in ("n0", "n1", "n2") and chosen in short:
        other, here = short.get(int(kind[1]), 0.0), short[chosen]
        if dearer:
            return said("deck.why.more", hours=hours(max(0.0, here - other)))
        return said("deck.why.fewer", there=hours(other), here=hours(here))
    keys = (f"deck.why.{kind}", f"deck.why.{kind} {'dearer' if dearer else 'cheaper'}")
    return next((said(key) for key in keys if key in TEXTS), choice.gives_up)


def asked_slide(deck: Deck) -> Iterator[Slide]:
    """GPUs by workload, the largest first."""
    plan = deck.plan
    title = HEADLINES["usecases"](plan).sentence
    keys = ("demand.gpus", *(f"groups.{group.id}.demand_gpus" for group in plan.groups[:MOST_GROUPS]))
    carried = [said("deck.asked.carries", names=deck.summary.carries)]
    if not plan.groups:
        words = said("deck.asked.total" if plan.pools else "deck.asked.nothing")
        yield Slide([title], Words([words], LEAD), keys, more=carried)
        return
    shown, rest = first_of(sorted(plan.groups, key=lambda group: -group.demand_gpus), MOST_GROUPS)
    looks = _looks(deck, NAME_WIDTH)
    bars = [(*looks[group.id], float(group.demand_gpus)) for group in shown]
    if rest:
        name = said("deck.hosts.other groups", count=len(rest))
        bars.append((name, GREY, float(sum(group.demand_gpus for group in rest))))
    names, colours, values = zip(*reversed(bars), strict=True)
    pattern = "#,##0" if all(value.is_integer() for value in values) else "#,##0.##"
    series = Series(said("deck.asked.series"), OKABE_ITO[0], values, pattern, colours)
    chart = Chart(said("deck.asked.about"), names, [series], (40, 50), gap=40)
    yield Slide([title], chart, keys, more=carried, side=Tiles([*_asked_tiles(deck)], columns=1))


def _looks(deck: Deck, width: float) -> dict[str, tuple[str, str]]:
    """(letter and name, colour) of each group."""
    symbols = group_symbols(deck.plan)
    own = ((group, symbols[group.id]) for group in deck.plan.groups)
    return {g.id: (f"{symbol.letter}  {cut(g.name, SMALL, width)}", symbol.colour) for g, symbol in own}


def _asked_tiles(deck: Deck) -> Iterator[Tile]:
    yield Tile(said("deck.asked.vms"), number(deck.plan.placed.vms), said("deck.asked.peak"))
    by_mode: dict[str, float] = {}
    for group in deck.plan.groups:
        by_mode[group.mode] = by_mode.get(group.mode, 0.0) + float(group.demand_gpus)
    most = 2 if deck.box.height >= 320 else 1
    for mode, gpus in sorted(by_mode.items(), key=lambda item: -item[1])[:most]:
        yield Tile(MODE_NAMES[mode], amount(round(gpus, 2), "GPU"), MODES[mode])


def when_slide(deck: Deck) -> Iterator[Slide]:
    """GPUs by hour of a weekday; without hours, by sizing rule."""
    plan = deck.plan
    if not plan.groups:
        return
    week, title = week_demand(plan)[0], HEADLINES["demand"](plan).sentence
    words = waits(plan)
    waiting = [said("deck.when.waiting", now=words[0], after=words[1])] if words else []
    if week.steady:
        chart, notes = _rules(deck), [said("deck.when.rules note"), *waiting]
    else:
        chart, note = _hours(deck, week)
        notes = [note]
    about = said("deck.when.rules why" if week.steady else "deck.when.hours why")
    foot = Words(notes, SMALL, quiet=True)
    yield Slide([title], chart, ("demand.gpus",), more=[about, *waiting], foot=foot)


def _hours(deck: Deck, week: WeekDemand) -> tuple[Chart, str]:
    """(GPUs by hour, what is read from them)."""
    parts, looks = hour_demand(week, (SHOWN_DAY,)), _looks(deck, KEY_WIDTH)
    others = said("deck.when.others"), GREY
    stacked = [Series(*looks.get(load.group, others), [round(v, 3) for v in load.gpus[0]]) for load in parts]
    clock = [f"{hour:02}" for hour in range(24)]
    chart = piled(said("deck.when.about"), clock, stacked, said("deck.when.axis"), gap=12)
    peak = max(sum(values) for values in zip(*(load.gpus[0] for load in parts), strict=True))
    return chart, said("deck.when.note", peak=number(mean_gpus(peak)), planned=deck.figures.demand)


def _rules(deck: Deck) -> Chart:
    plan, stated = deck.plan, deck.plan.scenario.deciding_total_gpus is not None
    bars = []
    for answer in rule_answers(plan):
        if answer.gpus is not None:
            name = RULE_NAMES[answer.rule]
            if not stated and plan.scenario.demand.rule == answer.rule:
                name = said("deck.when.chosen", rule=name)
            bars.append((name, float(answer.gpus), deck.brand.accent * answer.chosen))
    if stated:
        bars.append((RULE_NAMES["stated"], float(plan.totals.gpus_demanded), deck.brand.accent))
    names, values, colours = zip(*reversed(bars), strict=True)
    pattern = "#,##0" if all(value.is_integer() for value in values) else "#,##0.#"
    series = Series(said("deck.asked.series"), GREY, values, pattern, colours)
    return Chart(said("deck.when.rules about"), names, [series], (60, 56), gap=40)
