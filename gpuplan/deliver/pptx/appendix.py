"""The last slides: decisions and next steps with owners and due dates, and the appendix: details for questions in the room, table by table, over as many slides as necessary."""

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
from gpuplan.report.tables.explore import compared as designs_beside
from gpuplan.report.tables.known import planning_values
from gpuplan.report.tables.network import cabling, speed_kept
from gpuplan.report.tables.plan import decisions as decided
from gpuplan.report.tables.platform import host_line
from gpuplan.wording import NAMES, said

MOST_STEPS, STEPS = 6, NAMES["step of the deck"]
"""Most steps of the slide, and actions in a few words by the code of their message."""
WIDTHS = (7, 2.1, 2.3)
MOST_ROWS = 40
MOST_FAILURES, MOST_MATERIALS = 10, 24
LEADING = (
    "totals.hosts", "totals.gpus", "totals.gpus_after_failure", "short_h", "kept", "power.typical", "cost.net_present",
    "cost.gpu_hour_used",
)  # fmt: skip


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

    def in_short(step: Action) -> str:
        return STEPS.get(step.code) or step.what.removesuffix(".")

    return tabulate(name, steps, what=in_short, owner=Worded(OWNERS.get), title=title)


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


def details(
    title: str,
    table: Table,
    widths: Sequence[float],
    keys: Sequence[str] = (),
    *,
    most: int = 1000,
    sources: Sequence[str] = (),
    more: Sequence[str] = (),
) -> Slide:
    """A table over as many slides as it takes; larger where one slide holds it so."""
    body = Listing(table.shown(), widths, (BODY, SMALL), most, lines=6, paged=True)
    return Slide([title], body, keys, sources, more)


def designs(deck: Deck) -> Iterator[Slide]:
    """This design and others."""
    if comparison := deck.compared:
        rows = tuple(row for row in comparison.rows if row.key in LEADING)
        table = designs_beside(replace(comparison, rows=rows), deck.plan.catalog).without("differs")
        widths = (3.6, *(10 / len(comparison.names) for _ in comparison.names))
        notes = [*comparison.notes, *(difference.sentence for difference in comparison.differences)]
        yield details(said("deck.appendix.compared"), table, widths, more=notes)


def decisions(deck: Deck) -> Iterator[Slide]:
    """Every decision; why, in the notes."""
    taken, table = deck.plan.decisions, decided(deck.plan).only("number", "title", "decision")
    sources = [source for decision in taken for source in decision.sources]
    reasons = [f"{decision.title}: {decision.justification}" for decision in taken]
    title = said("deck.appendix.decisions", count=len(taken))
    yield details(title, table, (0.7, 3, 8.8), sources=sources, more=reasons)


def availability(deck: Deck) -> Iterator[Slide]:
    """Numbers of hosts for failures, and what each failure costs."""
    table, keys = postures(deck.plan), ("totals.hosts_for_failures",)
    shares = (1.8, 0.9, 0.9, 2.2, 3.2, 3.2)
    yield details(said("deck.appendix.postures"), table, shares, keys, more=table.notes)
    lost = failures(deck.plan).without("gpus_not_placed", "proven").keyless()
    rows = sorted(lost.cells(), key=lambda row: (-row[5].value, -row[3].value, -row[4].value))
    lost = replace(lost, rows=tuple(rows))
    if len(deck.plan.pools) == 1:
        lost = lost.without("pool")
    widths = (2.6, 1.5, 1.8, 2, 2.6, 2)[-len(lost.columns) :]
    yield details(said("deck.appendix.failures"), lost, widths, keys, most=MOST_FAILURES, more=table.notes)


def materials(deck: Deck) -> Iterator[Slide]:
    """The lines of the bill that are paid, the dearest first."""
    table = bill_of_materials(deck.plan).only("name", "quantity", "unit_price", "cost")
    bought = [row for row in table.cells() if row[1].value]
    rows = sorted(bought, key=lambda row: -abs(float(row[3].value or 0)))
    table, title = replace(table, rows=tuple(rows)), said("deck.appendix.materials")
    yield details(title, table, (6.4, 1.9, 2, 2.4), ("cost.total",), most=MOST_MATERIALS, more=table.notes)


def host(deck: Deck) -> Iterator[Slide]:
    """The parts of a host; the rules behind them, in the notes."""
    table = host_line(deck.plan)
    rules = [f"{part}: {rule}" for part, rule in texts(table.only("part", "rule"))]
    yield details(said("deck.appendix.host"), table.only("part", "size", "basis"), (3, 6, 2.4), more=rules)


def network(deck: Deck) -> Iterator[Slide]:
    """State the speed of workloads over the network, and its ports."""
    if deck.plan.pools and any(verdict.use for verdict in link_verdicts(deck.plan)):
        yield details(said("deck.appendix.network"), speed_kept(deck.plan).keyless(), (3, 4.4, 2.8, 1.8))
    if fabric := deck.plan.cabling:
        yield details(said("deck.appendix.cabling"), cabling(fabric), (3, 9), ("network.ports.shared",))


def values(deck: Deck) -> Iterator[Slide]:
    """The planning values, with their ranges."""
    table = planning_values(deck.plan).only("name", "shown", "range")
    title, why = said("deck.appendix.values", count=len(table.rows)), said("deck.appendix.values why")
    yield details(title, table, (6.4, 2.8, 2.8), most=MOST_ROWS, more=[why])


def risks(deck: Deck) -> Iterator[Slide]:
    """The risks, with the owner and due date of each."""
    messages = [message for message in deck.messages if message.level != "note"]
    days = [due(deck.plan, message.days, decided=message.owner == "customer") for message in messages]
    rows = tuple((m.text, OWNERS[m.owner], written_day(day)) for m, day in zip(messages, days, strict=True))
    table, more = Table("risks", columns("risks"), rows, title=""), list(map(what_to_do, messages))
    yield details(said("deck.appendix.risks"), table, WIDTHS, most=MOST_ROWS, more=more)


def more_steps(deck: Deck) -> Iterator[Slide]:
    """The steps that the main slides leave out."""
    _, others = next_steps(deck)
    title, more = said("deck.appendix.steps"), step_reasons(others)
    yield details(title, steps_table("next_steps", "", others), WIDTHS, most=MOST_ROWS, more=more)


def sources(deck: Deck) -> Iterator[Slide]:
    """The sources of the slides' statements, by title and producer."""
    in_catalog = [deck.plan.catalog.sources[item] for item in deck.cited]
    cited = sorted({(item.title, item.producer, item.published[:4]) for item in in_catalog})
    table = Table("slide_sources", columns("slide_sources"), tuple(cited), title="")
    yield details(said("deck.appendix.sources"), table, (7.4, 4, 1), most=MOST_ROWS)


APPENDIX = (designs, decisions, availability, materials, host, network, values, risks, more_steps, sources)
