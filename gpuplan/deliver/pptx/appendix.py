"""The last slides: decisions and next steps with owners and due dates, and the appendix: details for questions in the room, table by table, over as many slides as necessary."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from gpuplan.deliver.executive import OWNERS, Action, actions, due
from gpuplan.deliver.pptx.blocks import Words
from gpuplan.deliver.pptx.deck import Deck, Slide
from gpuplan.deliver.pptx.measure import BODY, SMALL
from gpuplan.deliver.pptx.paging import Listing
from gpuplan.locales import written_day
from gpuplan.plan.link_verdicts import link_verdicts
from gpuplan.report.figures import what_to_do
from gpuplan.report.table import Table, Worded, columns, tabulate, texts
from gpuplan.report.tables.availability import failures, postures
from gpuplan.report.tables.cost import bill_of_materials
from gpuplan.report.tables.known import planning_values
from gpuplan.report.tables.network import cabling, speed_kept
from gpuplan.report.tables.plan import decisions as decided
from gpuplan.report.tables.platform import host_line
from gpuplan.report.tables.sensitivity import compared as designs_beside
from gpuplan.wording import TEXTS, said

MOST_STEPS = 6
WIDTHS = (7, 2.1, 2.3)
MOST_ROWS = 40
"""Most rows of a potentially long table; the rest is in the workbook."""
MOST_FAILURES, MOST_MATERIALS = 10, 24
LEADING = (
    "totals.hosts", "totals.gpus", "totals.gpus_after_failure", "short_h", "kept", "power.typical", "cost.net_present",
    "cost.gpu_hour_used",
)  # fmt: skip
"""Results for the comparison of designs."""


# Decisions and next steps


def next_steps(deck: Deck) -> tuple[list[Action], list[Action]]:
    """(the steps of the slide, all others): the first due first, one that is on the slide of decisions not again."""
    decided = {action.code for action in deck.summary.first_decisions}
    steps = [action for action in actions(deck.plan, deck.messages) if action.code not in decided]
    levels = {message.code: message.level for message in deck.messages}
    weight = {"stop": 0, "warn": 1, "note": 2}
    ranked = sorted(steps, key=lambda each: (weight[levels[each.code]], each.due))
    first = sorted(ranked[:MOST_STEPS], key=lambda each: each.due)
    return first, [action for action in steps if action not in first]


def steps_table(name: str, title: str, steps: Sequence[Action]) -> Table:
    """Actions in a few words, or in their own where there are none, with owner and day."""
    return tabulate(name, steps, what=_in_short, owner=Worded(OWNERS.get), title=title)


def _in_short(step: Action) -> str:
    key = f"deck.step.{step.code}"
    return said(key) if key in TEXTS else step.what.removesuffix(".")


def step_reasons(steps: Sequence[Action]) -> list[str]:
    """Actions in whole sentences, and why they are necessary."""
    return [f"{step.what} {step.why}" for step in steps]


def decisions_slide(deck: Deck) -> Iterator[Slide]:
    """The customer's decisions, with due dates."""
    if needed := deck.summary.first_decisions:
        by = max(action.due for action in needed)
        title = said("deck.decisions.title", count=len(needed), day=written_day(by))
        table = steps_table("decisions_needed", title, needed)
        yield Slide([title], Listing(table, WIDTHS), more=step_reasons(needed))


def next_steps_slide(deck: Deck) -> Iterator[Slide]:
    """The next steps, at most six."""
    first, others = next_steps(deck)
    if not first:
        yield Slide([said("deck.steps.none")], Words([said("deck.steps.quotation")]))
        return
    key = "deck.steps.title first" if others else "deck.steps.title"
    title = said(key, count=len(first), more=len(others))
    table = steps_table("next_steps", title, first)
    yield Slide([title], Listing(table, WIDTHS), more=step_reasons(first))


# Appendix


def details(table: Table, widths: Sequence[float], most: int = 1000) -> Listing:
    """A table over as many slides as it takes; larger where one slide holds it so."""
    return Listing(table.shown(), widths, (BODY, SMALL), most, lines=6, paged=True)


def designs(deck: Deck) -> Iterator[Slide]:
    """This design and others."""
    if comparison := deck.compared:
        rows = tuple(row for row in comparison.rows if row.key in LEADING)
        table = designs_beside(replace(comparison, rows=rows), deck.plan.catalog).without("differs")
        body = details(table, (3.6, *(10 / len(comparison.names) for _ in comparison.names)))
        notes = [*comparison.notes, *(difference.sentence for difference in comparison.differences)]
        yield Slide([said("deck.appendix.compared")], body, more=notes)


def decisions(deck: Deck) -> Iterator[Slide]:
    """Every decision; why, in the notes."""
    taken = deck.plan.decisions
    body = details(decided(deck.plan).only("number", "title", "decision"), (0.7, 3, 8.8))
    sources = [source for decision in taken for source in decision.sources]
    reasons = [f"{decision.title}: {decision.justification}" for decision in taken]
    title = said("deck.appendix.decisions", count=len(taken))
    yield Slide([title], body, sources=sources, more=reasons)


def availability(deck: Deck) -> Iterator[Slide]:
    """Numbers of hosts for failures, and what each failure costs."""
    table, keys = postures(deck.plan), ("totals.hosts_for_failures",)
    body = details(table, (1.8, 0.9, 0.9, 2.2, 3.2, 3.2))
    yield Slide([said("deck.appendix.postures")], body, keys, more=table.notes)
    lost = failures(deck.plan).without("gpus_not_placed", "proven").keyless()
    rows = sorted(lost.cells(), key=lambda row: (-row[5].value, -row[3].value, -row[4].value))
    lost = replace(lost, rows=tuple(rows))
    if len({pool.id for pool in deck.plan.pools}) == 1:
        lost = lost.without("pool")
    body = details(lost, (2.6, 1.5, 1.8, 2, 2.6, 2)[-len(lost.columns) :], MOST_FAILURES)
    yield Slide([said("deck.appendix.failures")], body, keys, more=table.notes)


def materials(deck: Deck) -> Iterator[Slide]:
    """The lines of the bill that are paid, the dearest first."""
    table = bill_of_materials(deck.plan).only("name", "quantity", "unit_price", "cost")
    bought = [row for row in table.cells() if row[1].value]
    rows = sorted(bought, key=lambda row: -abs(float(row[3].value or 0)))
    body = details(replace(table, rows=tuple(rows)), (6.4, 1.9, 2, 2.4), MOST_MATERIALS)
    yield Slide([said("deck.appendix.materials")], body, ("cost.total",), more=table.notes)


def host(deck: Deck) -> Iterator[Slide]:
    """The parts of a host; the rules behind them, in the notes."""
    table = host_line(deck.plan)
    rules = [f"{part}: {rule}" for part, rule in texts(table.only("part", "rule"))]
    body = details(table.only("part", "size", "basis"), (3, 6, 2.4))
    yield Slide([said("deck.appendix.host")], body, more=rules)


def network(deck: Deck) -> Iterator[Slide]:
    """State the speed of workloads over the network, and its ports."""
    if deck.plan.pools and any(verdict.use for verdict in link_verdicts(deck.plan)):
        body = details(speed_kept(deck.plan).keyless(), (3, 4.4, 2.8, 1.8))
        yield Slide([said("deck.appendix.network")], body)
    if fabric := deck.plan.cabling:
        body = details(cabling(fabric), (3, 9))
        yield Slide([said("deck.appendix.cabling")], body, ("network.ports.shared",))


def values(deck: Deck) -> Iterator[Slide]:
    """The planning values, with their ranges."""
    table = planning_values(deck.plan).only("name", "shown", "range")
    title = said("deck.appendix.values", count=len(table.rows))
    body = details(table, (6.4, 2.8, 2.8), MOST_ROWS)
    yield Slide([title], body, more=[said("deck.appendix.values why")])


def risks(deck: Deck) -> Iterator[Slide]:
    """The risks, with the owner and due date of each."""
    messages = [message for message in deck.messages if message.level != "note"]
    days = [due(deck.plan, message.days, decided=message.owner == "customer") for message in messages]
    rows = tuple((m.text, OWNERS[m.owner], written_day(day)) for m, day in zip(messages, days, strict=True))
    title = said("deck.appendix.risks")
    body = details(Table("risks", columns("risks"), rows, title=title), WIDTHS, MOST_ROWS)
    yield Slide([title], body, more=[what_to_do(message) for message in messages])


def more_steps(deck: Deck) -> Iterator[Slide]:
    """The steps that the main slides leave out."""
    _, others = next_steps(deck)
    title = said("deck.appendix.steps")
    body = details(steps_table("next_steps", title, others), WIDTHS, MOST_ROWS)
    yield Slide([title], body, more=step_reasons(others))


def sources(deck: Deck) -> Iterator[Slide]:
    """The sources of the slides' statements, by title and producer."""
    in_catalog = [deck.plan.catalog.sources[item] for item in deck.cited]
    cited = sorted({(item.title, item.producer, item.published[:4]) for item in in_catalog})
    title = said("deck.appendix.sources")
    table = Table("slide_sources", columns("slide_sources"), tuple(cited), title=title)
    yield Slide([title], details(table, (7.4, 4, 1), MOST_ROWS))


APPENDIX = (designs, decisions, availability, materials, host, network, values, risks, more_steps, sources)
"""All chapters, in order."""
