"""The first slides: the answer with its verdict, the needs of the workloads, and when GPUs are needed."""

from collections.abc import Iterator
from functools import partial

from gpuplan.analysis.demand import WeekDemand, hour_demand, week_demand
from gpuplan.deliver.pptx.blocks import (
    Card,
    Chart,
    Picture,
    Series,
    Sketch,
    Tile,
    Tiles,
    Words,
    cards,
    piled,
    squares,
    unit_of_squares,
)
from gpuplan.deliver.pptx.deck import Deck, Slide
from gpuplan.deliver.pptx.measure import BODY, LEAD, SMALL, Box, cut, first_of
from gpuplan.deliver.pptx.paging import Listing
from gpuplan.report.diagrams import group_symbols
from gpuplan.report.drawing import COLOURS
from gpuplan.report.figures import waits
from gpuplan.report.headlines import HEADLINES, to_confirm
from gpuplan.report.table import filled
from gpuplan.report.tables.demand import peak_words
from gpuplan.report.workloads import gets, sentence
from gpuplan.wording import NAMES, capital, said

MOST_GROUPS = 7
KEY_WIDTH, SQUARE = 170, 22
"""Width of a name in a legend, and of a square with the room after it, in points."""
SHOWN_DAY = 2
GREY = COLOURS[0]
STATES = {
    "good": ("0A7355", "E6F4EE", "\u2713"),
    "warn": ("8F5200", "FDF1DD", "!"),
    "bad": ("B3261E", "FBE9E7", "\u2715"),
    "open": ("525D6D", "F3F5F8", "?"),
}
"""State of a part of the verdict -> its colour, that of its ground, and its sign."""
TONES = {
    "yes": "good",
    "missing": "bad",
    "lost": "bad",
    "unknown": "warn",
    "no": "warn",
    "static": "warn",
    "risk": "warn",
}
STATE_NAMES = NAMES["verdict on a slide"]


def executive_slide(deck: Deck) -> Iterator[Slide]:
    """The recommendation, four key figures, and what holds of the design under which condition."""
    plan, summary, figures = deck.plan, deck.summary, deck.figures
    keys = ("totals.hosts", "totals.gpus_after_failure", "cost.net_present")
    (build, carried), more = summary.recommendation, (summary.survives, summary.money_about)
    points = capital(to_confirm(plan, deck.messages))
    if not plan.pools:
        yield Slide([build], Words([carried], LEAD), follows=[points], keys=keys, more=[carried, *more])
        return
    priced = "" if figures.cost else " without cost"
    titles = [figures.said(f"deck.executive.{size}{priced}") for size in ("long", "short")]
    excluded = plan.costs.excludes if plan.costs else ()
    left = [said(key, names="; ".join(excluded), count=len(excluded)) for key in EXCLUDES if excluded]
    follows = [*(f"{points}. {words}" for words in left), points]
    body = Picture("Verdict", partial(cards, [*_verdict(deck)]), plan.verdict.sentence)
    tiles = Tiles([Tile(*tile) for tile in figures.tiles("deck")])
    yield Slide(titles, body, build, follows, keys, more=[carried, *more], top=tiles)


EXCLUDES = ("deck.cost.excludes", "deck.cost.excludes count")


def _verdict(deck: Deck) -> Iterator[Card]:
    """What holds of the design: that its VMs fit, start and restart, also in maintenance."""
    plan, verdict = deck.plan, deck.plan.verdict
    yield _state("fits", verdict.fits, verdict.fit_sentence)
    if verdict.starts:
        yield _state("starts", verdict.starts, verdict.start_sentence)
    after = (verdict.loss_sentence, verdict.restart_sentence, deck.figures.said("executive.left"))
    lost = verdict.placed.missing + verdict.placed.lost
    yield _state("survives", "lost" if lost else verdict.survives or "yes", " ".join(filter(None, after)))
    for level in (level for level in plan.postures if level.chosen):
        key, state = ("exposed", "risk") if level.exposed_h else ("covered", "yes")
        yield _state("maintenance", state, said(f"deck.verdict.{key}", level=level))


def _state(part: str, state: str, text: str) -> Card:
    tone = TONES.get(state, "open")
    colour, ground, mark = STATES[tone]
    name = STATE_NAMES.get(state, STATE_NAMES[tone])
    return Card(said(f"deck.verdict.{part}"), text, [name], colour, ground, mark)


def asked_slide(deck: Deck) -> Iterator[Slide]:
    """What each workload needs, the largest first, with its GPUs as squares."""
    plan = deck.plan
    title = HEADLINES["usecases"](plan).sentence
    keys = ("demand.gpus", *(f"groups.{group.id}.demand_gpus" for group in plan.groups[:MOST_GROUPS]))
    carried = [said("deck.asked.carries", names=deck.summary.carries)]
    if not plan.groups:
        words = said("deck.asked.total" if plan.pools else "deck.asked.nothing")
        yield Slide([title], Words([words], LEAD), keys=keys, more=carried)
        return
    demand, stated = HEADLINES["demand"](plan).sentence, {g.id: g for g in plan.scenario.groups}
    symbols, looks = group_symbols(plan), _looks(deck, 1000)
    shown, rest = first_of(sorted(plan.groups, key=lambda group: -group.demand_gpus), MOST_GROUPS)
    rows = [
        (
            looks[group.id][0],
            gets(plan, stated[group.id], group).first,
            " \u00b7 ".join(filter(None, sentence(plan, stated[group.id], group))),
            round(float(group.demand_gpus), 2),
        )
        for group in shown
    ]
    if rest:
        more = round(float(sum(group.demand_gpus for group in rest)), 2)
        rows.append((said("deck.hosts.other groups", count=len(rest)), "", "", more))
    gpus, colours = [row[3] for row in rows], [symbols[group.id].colour for group in shown] + [GREY]
    unit = unit_of_squares(max(gpus), 9)

    def beside(sketch: Sketch, at: int, place: Box) -> None:
        if at:
            squares(sketch, place.down((place.height - 18) / 2), gpus[at - 1], unit, colours[at - 1])
        else:
            sketch.text(place, said("deck.asked.square", gpus=unit), colour="tx2")

    table = filled("slide_needs", rows, title=said("deck.asked.about"))
    body = Listing(table, (2.3, 1.5, 4.4, 0.9), (LEAD, BODY, SMALL), lines=3, beside=beside)
    follows = [peak_words(plan).split("\n")[0] or demand]
    yield Slide([title], body, demand, follows, keys, more=carried)


def _looks(deck: Deck, width: float) -> dict[str, tuple[str, str]]:
    """(letter and name, colour) of each group."""
    symbols = group_symbols(deck.plan)
    own = ((group, symbols[group.id]) for group in deck.plan.groups)
    return {g.id: (f"{symbol.letter}  {cut(g.name, SMALL, width)}", symbol.colour) for g, symbol in own}


def when_slide(deck: Deck) -> Iterator[Slide]:
    """GPUs by hour of a weekday, where workloads have hours."""
    plan = deck.plan
    if not plan.groups or (week := week_demand(plan)[0]).steady:
        return
    title, words = HEADLINES["demand"](plan).sentence, waits(plan)
    waiting = [said("deck.when.waiting", now=words[0], after=words[1])] if words else []
    why = said("deck.when.hours why")
    side = Tiles([Tile(*tile) for tile in deck.figures.tiles("deck hours")], upright=True)
    title_short = said("deck.when.title", demand=deck.figures.demand)
    yield Slide(
        [title_short],
        _hours(deck, week),
        said("deck.when.scope"),
        waiting or [why],
        ("demand.gpus",),
        more=[title, why, *waiting],
        side=side,
    )


def _hours(deck: Deck, week: WeekDemand) -> Chart:
    parts, looks = hour_demand(week, (SHOWN_DAY,)), _looks(deck, KEY_WIDTH)
    others = said("deck.when.others"), GREY
    stacked = [Series(*looks.get(load.group, others), [round(v, 3) for v in load.gpus[0]]) for load in parts]
    clock = [f"{hour:02}" for hour in range(24)]
    return piled(said("deck.when.about"), clock, stacked, said("deck.when.axis"), gap=0)
