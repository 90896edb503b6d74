"""The last slides: decisions and next steps with owners and due dates, and the appendix: details for questions in the room, table by table, over as many slides as necessary."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from gpuplan.deliver.executive import OWNERS, Action, actions, due
from gpuplan.deliver.pptx.blocks import Words
from gpuplan.deliver.pptx.deck import Deck, Reasons, Slide
from gpuplan.deliver.pptx.measure import BODY, SMALL
from gpuplan.deliver.pptx.paging import Listing, text_table
from gpuplan.locales import written_day
from gpuplan.plan.link_verdicts import link_verdicts
from gpuplan.report.figures import what_to_do
from gpuplan.report.table import Table, texts
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
    decided = {each.code for each in deck.summary.first_decisions}
    found = [each for each in actions(deck.plan, deck.messages) if each.code not in decided]
    levels = {message.code: message.level for message in deck.messages}
    weight = {"stop": 0, "warn": 1, "note": 2}
    ranked = sorted(found, key=lambda each: (weight[levels[each.code]], each.due))
    first = sorted(ranked[:MOST_STEPS], key=lambda each: each.due)
    return first, [each for each in found if each not in first]


def steps_table(name: str, title: str, head: str, found: Sequence[Action]) -> Table:
    """Actions in a few words, or in their own where there are none, with owner and day."""
    rows = []
    for each in found:
        key = f"deck.step.{each.code}"
        what = said(key) if key in TEXTS else each.what.removesuffix(".")
        rows.append((what, OWNERS[each.owner], written_day(each.due)))
    return text_table(name, title, (head, "deck.column.owner", "deck.column.due"), rows)


def step_reasons(found: Sequence[Action]) -> Reasons:
    """Actions in whole sentences, and why they are necessary."""
    return Reasons(more=[f"{each.what} {each.why}" for each in found])


def decisions_slide(deck: Deck) -> Iterator[Slide]:
    """The customer's decisions, with due dates."""
    if found := deck.summary.first_decisions:
        by = max(each.due for each in found)
        title = said("deck.decisions.title", count=len(found), day=written_day(by))
        table = steps_table("decisions_needed", title, "deck.column.decision", found)
        yield Slide([title], Listing(table, WIDTHS), step_reasons(found))


def next_steps_slide(deck: Deck) -> Iterator[Slide]:
    """The next steps, at most six."""
    found, others = next_steps(deck)
    if not found:
        yield Slide([said("deck.steps.none")], Words([said("deck.steps.quotation")]))
        return
    key = "deck.steps.title first" if others else "deck.steps.title"
    title = said(key, count=len(found), more=len(others))
    table = steps_table("next_steps", title, "deck.column.step", found)
    yield Slide([title], Listing(table, WIDTHS), step_reasons(found))


# Appendix


def _paged(
    deck: Deck, table: Table, title: str, widths: Sequence[float], why: Reasons, most: int = 1000
) -> Iterator[Slide]:
    """Yield a table over as many slides as it takes; larger where one slide holds it so."""
    if not table.rows:
        return
    found = Listing(table.shown(), widths, (BODY, SMALL), most, lines=6).pages(deck.box)
    for at, page in enumerate(found, 1):
        name = said("deck.appendix.page", title=title, number=at, of=len(found)) if len(found) > 1 else title
        yield Slide([name], page._replace(about=name), why, first=title)


def designs(deck: Deck) -> Iterator[Slide]:
    """This design and others."""
    if found := deck.compared:
        rows = tuple(row for row in found.rows if row.key in LEADING)
        table = designs_beside(replace(found, rows=rows), deck.plan.catalog).without("differs")
        widths = (3.6, *(10 / len(found.names) for _ in found.names))
        why = Reasons(more=[*found.notes, *(each.sentence for each in found.differences)])
        yield from _paged(deck, table, said("deck.appendix.compared"), widths, why)


def decisions(deck: Deck) -> Iterator[Slide]:
    """Every decision; why, in the notes."""
    found = deck.plan.decisions
    table = decided(deck.plan).only("number", "title", "decision")
    sources = [source for each in found for source in each.sources]
    why = Reasons(sources=sources, more=[f"{each.title}: {each.justification}" for each in found])
    title = said("deck.appendix.decisions", count=len(found))
    yield from _paged(deck, table, title, (0.7, 3, 8.8), why)


def availability(deck: Deck) -> Iterator[Slide]:
    """Numbers of hosts for failures, and what each failure costs."""
    table = postures(deck.plan)
    why = Reasons(("totals.hosts_for_failures",), more=list(table.notes))
    yield from _paged(deck, table, said("deck.appendix.postures"), (1.8, 0.9, 0.9, 2.2, 3.2, 3.2), why)
    lost = failures(deck.plan).without("gpus_not_placed", "proven").keyless()
    rows = sorted(lost.cells(), key=lambda row: (-row[5].value, -row[3].value, -row[4].value))
    lost = replace(lost, rows=tuple(rows))
    if len({pool.id for pool in deck.plan.pools}) == 1:
        lost = lost.without("pool")
    widths = (2.6, 1.5, 1.8, 2, 2.6, 2)[-len(lost.columns) :]
    yield from _paged(deck, lost, said("deck.appendix.failures"), widths, why, MOST_FAILURES)


def materials(deck: Deck) -> Iterator[Slide]:
    """The lines of the bill that are paid, the dearest first."""
    table = bill_of_materials(deck.plan).only("name", "quantity", "unit_price", "cost")
    bought = [row for row in table.cells() if row[1].value]
    rows = sorted(bought, key=lambda row: -abs(float(row[3].value or 0)))
    table, why = replace(table, rows=tuple(rows)), Reasons(("cost.total",), more=list(table.notes))
    yield from _paged(deck, table, said("deck.appendix.materials"), (6.4, 1.9, 2, 2.4), why, MOST_MATERIALS)


def host(deck: Deck) -> Iterator[Slide]:
    """The parts of a host; the rules behind them, in the notes."""
    table = host_line(deck.plan)
    why = Reasons(more=[f"{part}: {rule}" for part, rule in texts(table.only("part", "rule"))])
    shown = table.only("part", "size", "basis")
    yield from _paged(deck, shown, said("deck.appendix.host"), (3, 6, 2.4), why)


def network(deck: Deck) -> Iterator[Slide]:
    """How fast workloads are over the network, and its ports."""
    if deck.plan.pools and any(each.use for each in link_verdicts(deck.plan)):
        table = speed_kept(deck.plan).keyless()
        yield from _paged(deck, table, said("deck.appendix.network"), (3, 4.4, 2.8, 1.8), Reasons())
    if fabric := deck.plan.cabling:
        why = Reasons(("network.ports.shared",))
        yield from _paged(deck, cabling(fabric), said("deck.appendix.cabling"), (3, 9), why)


def values(deck: Deck) -> Iterator[Slide]:
    """The planning values, with their ranges."""
    table = planning_values(deck.plan).only("name", "shown", "range")
    title = said("deck.appendix.values", count=len(table.rows))
    why = Reasons(more=[said("deck.appendix.values why")])
    yield from _paged(deck, table, title, (6.4, 2.8, 2.8), why, MOST_ROWS)


def risks(deck: Deck) -> Iterator[Slide]:
    """The risks, with the owner and due date of each."""
    found = [each for each in deck.messages if each.level != "note"]
    rows = []
    for each in found:
        day = due(deck.plan, each.days, decided=each.owner == "customer")
        rows.append((each.text, OWNERS[each.owner], written_day(day)))
    title = said("deck.appendix.risks")
    table = text_table("risks", title, ("deck.column.risk", "deck.column.owner", "deck.column.due"), rows)
    why = Reasons(more=[what_to_do(each) for each in found])
    yield from _paged(deck, table, title, WIDTHS, why, MOST_ROWS)


def more_steps(deck: Deck) -> Iterator[Slide]:
    """The steps that the main slides leave out."""
    _, others = next_steps(deck)
    title = said("deck.appendix.steps")
    table = steps_table("more_steps", title, "deck.column.step", others)
    yield from _paged(deck, table, title, WIDTHS, step_reasons(others), MOST_ROWS)


def sources(deck: Deck) -> Iterator[Slide]:
    """The sources of the slides' statements, by title and producer."""
    known = [deck.plan.catalog.sources[each] for each in deck.cited]
    cited = sorted({(each.title, each.producer, each.published[:4]) for each in known})
    title = said("deck.appendix.sources")
    table = text_table(
        "slide_sources", title, ("deck.column.source", "deck.column.producer", "deck.column.year"), cited
    )
    yield from _paged(deck, table, title, (7.4, 4, 1), Reasons(), MOST_ROWS)


APPENDIX = (designs, decisions, availability, materials, host, network, values, risks, more_steps, sources)
"""All chapters, in order."""
