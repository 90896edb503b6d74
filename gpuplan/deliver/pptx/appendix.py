"""The appendix: details for questions in the room, table by table, over as many slides as necessary."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from gpuplan.analysis.compare import Comparison
from gpuplan.deliver.executive import OWNERS, due
from gpuplan.deliver.pptx.deck import Deck, put
from gpuplan.deliver.pptx.measure import BODY, LEAD, SMALL, box_of, cut
from gpuplan.deliver.pptx.notes import Reasons
from gpuplan.deliver.pptx.paging import fitted, put_table
from gpuplan.deliver.pptx.steps import WIDTHS, next_steps, steps_table
from gpuplan.locales import written_day
from gpuplan.plan.checks.message import Message
from gpuplan.plan.link_verdicts import link_verdicts
from gpuplan.report.figures import what_to_do
from gpuplan.report.table import Column, Table, texts
from gpuplan.report.tables.availability import failures, postures
from gpuplan.report.tables.cost import bill_of_materials
from gpuplan.report.tables.known import planning_values
from gpuplan.report.tables.network import cabling, speed_kept
from gpuplan.report.tables.plan import decisions as decided
from gpuplan.report.tables.platform import host_line
from gpuplan.report.tables.sensitivity import compared as designs_beside
from gpuplan.wording import NAMES, said

MOST_ROWS = 40
"""Most rows of a potentially long table; the rest is in the workbook."""
MOST_FAILURES, MOST_MATERIALS = 10, 24
LEADING = (
    "totals.hosts", "totals.gpus", "totals.gpus_after_failure", "short_h", "kept", "power.typical", "cost.net_present",
    "cost.gpu_hour_used",
)  # fmt: skip
"""Results for the comparison of designs."""


def appendix(deck: Deck, messages: Sequence[Message], compared: Comparison | None) -> None:
    """Add the divider, and all slides of the appendix."""
    _divider(deck)
    if compared is not None:
        _compared(deck, compared)
    _decisions(deck)
    if deck.plan.pools:
        _postures(deck)
        _materials(deck)
        _host(deck)
        _network(deck)
    _planning_values(deck)
    _risks(deck, messages)
    _steps(deck, messages)
    _sources(deck)
    _closing(deck)


def _divider(deck: Deck) -> None:
    layout = deck.layout_with(kinds={1, 2}, type="secHead") or deck.layout
    slide = deck.show.slides.add_slide(layout)
    title, about = said("deck.appendix"), said("deck.appendix.about")
    if layout is deck.layout:
        deck.title(slide.shapes.title, [title])
        deck.text(slide, about, deck.box, LEAD)
    else:
        put(slide.shapes.title, title, 0)
        body = next(p for p in slide.placeholders if int(p.placeholder_format.type) == 2)
        put(body, about, 0)
    deck.finish(slide, title, Reasons(more=[said("deck.appendix.notes")]))


def _paged(
    deck: Deck,
    table: Table,
    title: str,
    widths: Sequence[float],
    reasons: Reasons = Reasons(),  # noqa: B008
    *,
    most: int = 1000,
) -> None:
    """A table over as many slides as it takes; larger where one slide holds it so."""
    shown = table.shown()
    if not shown.rows:
        return
    found = fitted(shown, deck.box, widths, (BODY, SMALL), most=most)
    for at, page in enumerate(found, 1):
        name = said("deck.appendix.page", title=title, number=at, of=len(found)) if len(found) > 1 else title
        slide = deck.slide(name, title, reasons)
        put_table(slide, page, name)


def _compared(deck: Deck, found: Comparison) -> None:
    rows = tuple(row for row in found.rows if row.key in LEADING)
    table = designs_beside(replace(found, rows=rows), deck.plan.catalog).without("differs")
    widths = (3.6, *(10 / len(found.names) for _ in found.names))
    told = Reasons(more=[*found.notes, *(each.sentence for each in found.differences)])
    _paged(deck, table, said("deck.appendix.compared"), widths, told)


def _decisions(deck: Deck) -> None:
    """Every decision; why, in the notes."""
    found = deck.plan.decisions
    table = decided(deck.plan).only("number", "title", "decision")
    told = Reasons(
        more=[f"{each.title}: {each.justification}" for each in found],
        sources=[source for each in found for source in each.sources],
    )
    _paged(deck, table, said("deck.appendix.decisions", count=len(found)), (0.7, 3, 8.8), told)


def _postures(deck: Deck) -> None:
    table = postures(deck.plan)
    told = Reasons(keys=("totals.hosts_for_failures",), more=list(table.notes))
    _paged(deck, table, said("deck.appendix.postures"), (1.8, 0.9, 0.9, 2.2, 3.2, 3.2), told)
    lost = failures(deck.plan).without("gpus_not_placed", "proven").keyless()
    lost = replace(
        lost, rows=tuple(sorted(lost.cells(), key=lambda row: (-row[5].value, -row[3].value, -row[4].value)))
    )
    if len({pool.id for pool in deck.plan.pools}) == 1:
        lost = lost.without("pool")
    widths = (2.6, 1.5, 1.8, 2, 2.6, 2)[-len(lost.columns) :]
    _paged(deck, lost, said("deck.appendix.failures"), widths, told, most=MOST_FAILURES)


def _materials(deck: Deck) -> None:
    """The lines of the bill that are paid, the dearest first."""
    table = bill_of_materials(deck.plan).only("name", "quantity", "unit_price", "cost")
    bought = [row for row in table.cells() if row[1].value]
    rows = sorted(bought, key=lambda row: -abs(float(row[3].value or 0)))
    _paged(
        deck,
        replace(table, rows=tuple(rows)),
        said("deck.appendix.materials"),
        (6.4, 1.9, 2, 2.4),
        Reasons(keys=("cost.total",), more=list(table.notes)),
        most=MOST_MATERIALS,
    )


def _host(deck: Deck) -> None:
    table = host_line(deck.plan)
    told = Reasons(more=[f"{part}: {rule}" for part, rule in texts(table.only("part", "rule"))])
    _paged(deck, table.only("part", "size", "basis"), said("deck.appendix.host"), (3, 6, 2.4), told)


def _network(deck: Deck) -> None:
    fabric = deck.plan.cabling
    if any(each.use for each in link_verdicts(deck.plan)):
        table = speed_kept(deck.plan).keyless()
        _paged(deck, table, said("deck.appendix.network"), (3, 4.4, 2.8, 1.8))
    if fabric is not None:
        _paged(
            deck,
            cabling(fabric),
            said("deck.appendix.cabling"),
            (3, 9),
            Reasons(keys=("network.ports.shared",)),
        )


def _planning_values(deck: Deck) -> None:
    table = planning_values(deck.plan)
    told = Reasons(more=[said("deck.appendix.values why")])
    shown = table.only("name", "shown", "range")
    _paged(
        deck,
        shown,
        said("deck.appendix.values", count=len(table.rows)),
        (6.4, 2.8, 2.8),
        told,
        most=MOST_ROWS,
    )


def _risks(deck: Deck, messages: Sequence[Message]) -> None:
    """Add the risks, with the owner and due date of each."""
    found = [each for each in messages if each.level != "note"]
    columns = (
        Column("risk", said("deck.column.risk")),
        Column("owner", said("deck.column.owner")),
        Column("due", said("deck.column.due")),
    )
    rows = tuple(
        (
            each.text,
            OWNERS[each.owner],
            written_day(due(deck.plan, each.days, decided=each.owner == "customer")),
        )
        for each in found
    )
    table = Table("risks", columns, rows, title=said("deck.appendix.risks"))
    told = Reasons(more=[what_to_do(each) for each in found])
    _paged(deck, table, said("deck.appendix.risks"), WIDTHS, told, most=MOST_ROWS)


def _steps(deck: Deck, messages: Sequence[Message]) -> None:
    _, others = next_steps(deck, messages)
    table = steps_table("more_steps", said("deck.appendix.steps"), said("deck.column.step"), others)
    told = Reasons(more=[f"{each.what} {each.why}" for each in others])
    _paged(deck, table, said("deck.appendix.steps"), WIDTHS, told, most=MOST_ROWS)


def _sources(deck: Deck) -> None:
    """Add the sources of the slides' statements, by title and producer."""
    known = deck.plan.catalog.sources
    columns = (
        Column("title", said("deck.column.source")),
        Column("producer", said("deck.column.producer")),
        Column("year", said("deck.column.year")),
    )
    cited = sorted(
        {(known[each].title, known[each].producer, known[each].published[:4]) for each in deck.cited}
    )
    table = Table("slide_sources", columns, tuple(cited), title=said("deck.appendix.sources"))
    _paged(deck, table, said("deck.appendix.sources"), (7.4, 4, 1), most=MOST_ROWS)


def _closing(deck: Deck) -> None:
    """Add the responsible people, the version, and the tools used."""
    plan, paper = deck.plan, deck.plan.scenario.document
    lines = [
        said("deck.title.author", author=paper.author) if paper.author else "",
        said("deck.closing.approver", approver=paper.approver) if paper.approver else "",
        said(
            "deck.title.version",
            version=paper.version or "0.1",
            status=NAMES["document.status"][paper.status or "draft"],
        ),
        said("deck.closing.day", day=written_day(deck.day)),
        said("deck.closing.catalog", digest=plan.catalog.digest),
    ]
    layout = next((each for each in deck.layouts() if deck.own and each.name == "Closing"), deck.layout)
    slide = deck.show.slides.add_slide(layout)
    title = said("deck.closing")
    if layout is deck.layout:
        deck.title(slide.shapes.title, [title])
        deck.text(slide, lines, deck.box, BODY)
    else:
        put(slide.shapes.title, title, 0)
        body = next(p for p in slide.placeholders if int(p.placeholder_format.type) == 2)
        for at, text in enumerate(filter(None, lines)):
            paragraph = body.text_frame.paragraphs[0] if at == 0 else body.text_frame.add_paragraph()
            paragraph.text = cut(text, BODY, box_of(body).width)
    deck.finish(slide, title, Reasons(more=[said("deck.closing.notes")]))
