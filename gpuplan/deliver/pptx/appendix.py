"""The appendix: details for questions in the room, table by table, over as many slides as necessary."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from gpuplan.analysis.demand import rule_answers
from gpuplan.deliver.executive import OWNERS, due, edition
from gpuplan.deliver.pptx.blocks import Tile, Tiles, Words
from gpuplan.deliver.pptx.deck import Deck, Slide
from gpuplan.deliver.pptx.measure import BODY, LEAD, SMALL
from gpuplan.deliver.pptx.money import drawback, signed
from gpuplan.deliver.pptx.paging import Listing
from gpuplan.deliver.pptx.roadmap import WIDTHS, next_steps, step_reasons, steps_table
from gpuplan.locales import written_day
from gpuplan.plan.known import unconfirmed
from gpuplan.plan.link_verdicts import link_verdicts
from gpuplan.report.figures import sentences, what_to_do
from gpuplan.report.headlines import HEADLINES
from gpuplan.report.table import Table, filled, tabulate, texts
from gpuplan.report.tables.availability import failures
from gpuplan.report.tables.cost import bill_of_materials
from gpuplan.report.tables.demand import rules as sizing_rules
from gpuplan.report.tables.explore import compared as designs_beside
from gpuplan.report.tables.known import planning_values
from gpuplan.report.tables.network import cabling, fabric_words, network_name, part_failures, speed_kept
from gpuplan.report.tables.plan import decisions as decided
from gpuplan.report.tables.platform import host_line, power_points
from gpuplan.report.tables.platform import power as power_parts
from gpuplan.wording import NAMES, number, rounded_money, said, spanned

MOST_ROWS, LEAST_VALUES, MOST_VALUES, MOST_SOURCES = 40, 4, 12, 5
MOST_FAILURES, MOST_MATERIALS = 10, 24
TIERS = NAMES["tier of a source"]
NETWORK = (
    "network.ports.shared",
    "network.ports.rdma",
    "network.fabric.leaves",
    "network.fabric.oversubscription",
)
POWER = ("power.typical", "power.peak", "power.facility", "power.racks")
LEADING = (
    "totals.hosts", "totals.gpus", "totals.gpus_after_failure", "short_h", "kept", "power.typical", "cost.net_present",
    "cost.gpu_hour_used",
)  # fmt: skip


def details(
    name: str,
    table: Table,
    widths: Sequence[float],
    keys: Sequence[str] = (),
    *,
    most: int = MOST_ROWS,
    sources: Sequence[str] = (),
    more: Sequence[str] = (),
    **words: object,
) -> Iterator[Slide]:
    """A table over as many slides as it takes, under the title and scope of its name; none without rows."""
    if table.rows:
        words = {"count": len(table.rows), **words}
        title, scope = (said(f"deck.appendix.{name}{part}", **words) for part in ("", " scope"))
        body = Listing(table.shown(), widths, (LEAD, BODY, SMALL), most, lines=6, paged=True)
        yield Slide([title], body, scope, (), keys, sources, more)


def rules(deck: Deck) -> Iterator[Slide]:
    """GPUs by sizing rule."""
    answers = rule_answers(deck.plan) if deck.plan.groups else ()
    return details("rules", sizing_rules(answers), (6, 2), ("demand.gpus",))


def designs(deck: Deck) -> Iterator[Slide]:
    """This design and others."""
    if comparison := deck.compared:
        rows = tuple(row for row in comparison.rows if row.key in LEADING)
        table = designs_beside(replace(comparison, rows=rows), deck.plan.catalog).without("differs")
        widths = (3.6, *(10 / len(comparison.names) for _ in comparison.names))
        notes = [*comparison.notes, *(difference.sentence for difference in comparison.differences)]
        yield from details("compared", table, widths, more=notes)


def decisions(deck: Deck) -> Iterator[Slide]:
    """Every decision; why, in the notes."""
    taken, table = deck.plan.decisions, decided(deck.plan).only("number", "title", "decision")
    sources = [source for decision in taken for source in decision.sources]
    reasons = [f"{decision.title}: {decision.justification}" for decision in taken]
    return details("decisions", table, (0.7, 3, 8.8), sources=sources, more=reasons)


def alternatives(deck: Deck) -> Iterator[Slide]:
    """All alternatives, with range and difference, and why not."""
    own: dict[str, Any] = {"hosts": lambda each: number(each.hosts[0]) if each.hosts else "\u2013"}
    own["cost"] = lambda each: rounded_money(each.net_present)[0]
    ends = partial(map, lambda end: rounded_money(end)[0])
    own["range"] = lambda each: "" if each.low is None else spanned(*ends((each.low, each.high)))
    own |= {"difference": lambda each: signed(each.difference), "why": drawback}
    currency, choices = deck.plan.scenario.cost.currency, deck.summary.choices if deck.plan.costs else ()
    table = tabulate("choices", choices, currency, **own, title="")
    return details("choices", table, (3.4, 0.9, 1.5, 2.2, 1.5, 5), ("cost.net_present",))


def availability(deck: Deck) -> Iterator[Slide]:
    """What each failure of a host costs."""
    table = failures(deck.plan)
    lost = table.without("gpus_not_placed", "proven").keyless()
    rows = sorted(lost.cells(), key=lambda row: (-row[5].value, -row[3].value, -row[4].value))
    lost = replace(lost, rows=tuple(rows)).without(*["pool"] * (len(deck.plan.pools) == 1))
    widths, keys = (2.6, 1.5, 1.8, 2, 2.6, 2)[-len(lost.columns) :], ("totals.hosts_for_failures",)
    return details("failures", lost, widths, keys, most=MOST_FAILURES, more=table.notes)


def materials(deck: Deck) -> Iterator[Slide]:
    """The lines of the bill that are paid, the dearest first."""
    table = bill_of_materials(deck.plan).only("name", "quantity", "unit_price", "cost")
    bought = [row for row in table.cells() if row[1].value]
    rows = sorted(bought, key=lambda row: -abs(float(row[3].value or 0)))
    table, keys = replace(table, rows=tuple(rows)), ("cost.total",)
    return details("materials", table, (6.4, 1.9, 2, 2.4), keys, most=MOST_MATERIALS, more=table.notes)


def host(deck: Deck) -> Iterator[Slide]:
    """The parts of a host beside the ports, switches and cables; the rules behind them, in the notes."""
    table, fabric, title = host_line(deck.plan), deck.plan.cabling, said("deck.appendix.host")
    if table.rows:
        more = [f"{part}: {rule}" for part, rule in texts(table.only("part", "rule"))]
        parts = Listing(table.only("part", "size", "basis"), (3, 5, 2), (BODY, SMALL))
        named = filled("slide_points", texts(cabling(fabric)) if fabric else (), title=title)
        ports = Listing(named, (3, 5), (BODY, SMALL)) if fabric else None
        keys, scope = ("network.ports.shared",) * bool(fabric), said("deck.appendix.host scope")
        yield Slide([title], parts, scope, (), keys, more=more, side=ports, share=0.5)


def network(deck: Deck) -> Iterator[Slide]:
    """The speed that workloads keep over the network, or what a failed part leaves; with the link and its switches."""
    plan, fabric, inputs = deck.plan, deck.plan.cabling, deck.plan.scenario.network
    if not plan.pools:
        return
    table, scope = speed_kept(plan).keyless().shown(), said("deck.network.about")
    verdicts = link_verdicts(plan)
    if fabric and fabric.failures and not any(verdict.use for verdict in verdicts):
        table, scope = part_failures(fabric).only("part", "left"), said("deck.network.failures")
    title = HEADLINES["network"](plan).sentence
    titles = [title, said("deck.network.title", link=network_name(inputs.link_gbit_s, inputs.transport))]
    tiles = Tiles([Tile(*tile) for tile in deck.figures.tiles("network")])
    sources = [source for verdict in verdicts if verdict.use for source in verdict.use.sources]
    more = [fabric_words(fabric) if fabric else "", *(f"{each.name}: {each.words}" for each in verdicts)]
    body = Listing(table, (3, 4.4, 2.8, 1.8)[: len(table.columns)], (BODY, SMALL))
    yield Slide(titles, body, scope, [title], NETWORK, sources, more, top=tiles)


def power(deck: Deck) -> Iterator[Slide]:
    """What draws power and fills the racks, beside what follows from it."""
    if use := deck.plan.power:
        title = said("deck.power.title" if use.racks else "deck.power.title beyond", use=use)
        parts = Listing(power_parts(use), (3, 1.6, 1.8, 1.8, 1.6), (BODY, SMALL))
        points = Listing(filled("slide_points", power_points(use), title=title), (1, 2), (BODY, SMALL))
        scope, titles = said("deck.power.about"), [title, said("deck.power.short", use=use)]
        yield Slide(titles, parts, scope, (), POWER, side=points, share=0.55)


def values(deck: Deck) -> Iterator[Slide]:
    """The assumptions that move the cost most, else the first; the others are in the workbook."""
    count, strongest = len(unconfirmed(deck.plan)), deck.summary.drivers[:MOST_VALUES]
    table = planning_values(deck.plan).only("name", "shown", "range").top(MOST_VALUES)
    if len(strongest) >= LEAST_VALUES:
        ends = ((rounded_money(each.at_low)[0], rounded_money(each.at_high)[0]) for each in strongest)
        rows = [(each.label, each.low, each.high, *at) for each, at in zip(strongest, ends, strict=True)]
        table = filled("slide_drivers", rows, deck.plan.scenario.cost.currency, title="")
    widths = (6.4, 2.8, 2.8) if len(table.columns) == 3 else (5.4, 1.6, 1.6, 1.7, 1.7)
    return details("values", table, widths, count=count, shown=len(table.rows))


def risks(deck: Deck) -> Iterator[Slide]:
    """The risks, with the owner and due date of each."""
    messages = [message for message in deck.messages if message.level != "note"]
    days = [due(deck.plan, message.days, decided=message.owner == "customer") for message in messages]
    rows = [(m.text, OWNERS[m.owner], written_day(day)) for m, day in zip(messages, days, strict=True)]
    return details("risks", filled("risks", rows, title=""), WIDTHS, more=[*map(what_to_do, messages)])


def more_steps(deck: Deck) -> Iterator[Slide]:
    """The steps that the main slides leave out."""
    _, others = next_steps(deck)
    return details("steps", steps_table("next_steps", "", others), WIDTHS, more=step_reasons(others))


def sources(deck: Deck) -> Iterator[Slide]:
    """The sources that most slides rest on, and which edition this is."""
    catalog, title = deck.plan.catalog.sources, said("deck.appendix.sources")
    others = [catalog[item] for item, _ in deck.cited.most_common() if catalog[item].producer != "gpuplan"]
    first = others[:MOST_SOURCES]
    rows = [(item.title, item.producer, item.published[:4], TIERS[item.tier]) for item in first]
    paper = {**edition(deck.plan), "digest": deck.plan.catalog.digest}
    words = Words(sentences("end of the deck", deck.plan.scenario.document, **paper), SMALL, quiet=True)
    scope = said("deck.appendix.sources scope", more=len(others) - len(rows))
    body = Listing(filled("slide_sources", rows, title=title), (6, 3, 1, 3), (BODY, SMALL)) if rows else None
    yield Slide([title], body, scope, more=[said("deck.closing.notes")], foot=words)


# fmt: off
APPENDIX = (
    rules, designs, decisions, alternatives, availability, materials, host, network, power, values, risks, more_steps,
    sources,
)
# fmt: on
