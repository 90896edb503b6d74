"""Parts of a document: paragraphs, tables and figures in chapters, as a page holds them; its renderers add the looks."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from gpuplan.analysis.compare import Comparison
from gpuplan.analysis.customer import earnings
from gpuplan.analysis.demand import week_demand
from gpuplan.catalog import Catalog
from gpuplan.deliver.executive import Executive, executive
from gpuplan.facts import own_specs
from gpuplan.plan.cost import Costs
from gpuplan.plan.hosts import Pool
from gpuplan.report.drawing import Sheet
from gpuplan.report.figures import Figures
from gpuplan.report.table import Cell, Column, Table, heads, numeric, texts
from gpuplan.report.tables.plan import clusters_alike
from gpuplan.wording import money, number, run_words, said

LOOKS = own_specs("gpuplan.deliver.document", "looks")
"""Names of styles in a Word file and fonts of scripts; columns of tables that are filled in by hand."""
MOST_ROWS = 40
"""Most rows of a table, unless its chapter says otherwise."""


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Running text."""

    text: str
    tone: str = ""
    """Empty, ``lead`` (the sentence that matters), ``note`` (an aside) or ``box`` (on what it is based)."""


@dataclass(frozen=True, slots=True)
class Bullets:
    """Points of a list."""

    items: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Grid:
    """A table; all cells are text as shown."""

    heads: tuple[str, ...]
    rows: tuple[tuple["str | Figure", ...], ...]
    caption: str = ""
    right: tuple[int, ...] = ()
    """Columns whose text ends at the right, as numbers do."""
    widths: tuple[float, ...] = ()
    """Share of the width of each column; empty if it follows from the text."""
    totals: tuple[int, ...] = ()
    """Rows that sum up the others, from 0."""
    small: bool = False
    """True if it is set tighter, as on the first page."""
    open: tuple[int, ...] = ()
    """Columns whose empty cells are filled in by hand."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A vector drawing."""

    svg: str
    caption: str
    alt: str
    """Description for readers who cannot see it."""
    width: float = 1.0
    """Share of the width of the text."""


@dataclass(frozen=True, slots=True)
class KeyFigures:
    """The answer at a glance: label, value and a note for each."""

    items: tuple[tuple[str, str, str], ...]


@dataclass(frozen=True, slots=True)
class DecisionBlock:
    """A numbered design decision."""

    number: int
    title: str
    decision: str
    justification: str
    implication: str


@dataclass(frozen=True, slots=True)
class Decisions:
    """Decisions as cards, side by side."""

    items: tuple[DecisionBlock, ...]


@dataclass(frozen=True, slots=True)
class References:
    """The sources by their numbers, set small in two columns."""

    items: tuple[tuple[str, str], ...]
    """Number, and title with producer and year."""


Block = Paragraph | Bullets | Grid | Figure | KeyFigures | Decisions | References


@dataclass(frozen=True, slots=True)
class Section:
    """Part of a chapter."""

    title: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class Chapter:
    """A chapter: its own blocks, then its sections."""

    title: str
    blocks: tuple[Block, ...] = ()
    sections: tuple[Section, ...] = ()


@dataclass(frozen=True, slots=True)
class Document:
    """A design document."""

    title: str
    customer: str
    about: str
    """Version, status, day and author in a line."""
    day: str
    made_with: str
    """Program and catalog that it was made with."""
    front: tuple[Block, ...]
    """The first page, for who decides."""
    control: tuple[Block, ...]
    """Author, approver and reading instructions; the contents follow."""
    chapters: tuple[Chapter, ...]
    locale: str = ""
    """In which it is written; empty: as international documents are."""
    paper: str = ""
    cover: tuple[Block, ...] = ()
    """What is planned, drawn for the cover."""
    layout: str = "document.xml.j2"
    """Lays out the Word file."""
    foot: str = ""
    """What is at the foot of each page before the firm's."""
    top: int = 24
    """Margin above the text. [mm]"""
    kind: str = ""
    """What it is, in the head of each page; empty for a low-level design."""


class Citations:
    """Numbers the sources in the order in which the document first cites them."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self.numbers: dict[str, int] = {}

    def number(self, source: str) -> int | None:
        """Number of a source; None for the customer's own statements, which are no document."""
        if source not in self._catalog.sources:
            return None
        return self.numbers.setdefault(source, len(self.numbers) + 1)

    def __call__(self, sources: Iterable[str]) -> str:
        """The sources behind a sentence: `` [1, 4-6]``; nothing without any."""
        numbers = sorted({n for source in sources if (n := self.number(source)) is not None})
        return f" [{run_words(numbers, dash='-')}]" if numbers else ""


class Draft(Figures):
    """A document in progress: a plan with its figures, its citations so far, its summary, and what it is compared with."""

    compared: Comparison | None = None
    text: str = ""
    """All that it says so far."""

    @cached_property
    def cite(self) -> Citations:
        """Numbers of the sources."""
        return Citations(self.plan.catalog)

    @cached_property
    def summary(self) -> Executive:
        """Facts and decisions of the first page."""
        return executive(self.plan)

    @cached_property
    def alike(self) -> list[Pool]:
        """The clusters, of those with the same load one."""
        return clusters_alike(self.plan)

    @property
    def several(self) -> bool:
        """True if it has more than one cluster."""
        return len(self.plan.pools) > 1

    @property
    def costs(self) -> Costs:
        """Cost of the plan, where it has hosts."""
        assert self.plan.costs is not None
        return self.plan.costs

    @property
    def clusters(self) -> int:
        """Number of clusters."""
        return len(self.plan.pools)

    @property
    def racks(self) -> int:
        """Number of racks; 0 if they are not known."""
        return self.plan.power.racks if self.plan.power else 0

    @property
    def growing(self) -> bool:
        """True if a workload grows."""
        return any(group.growth for group in self.plan.scenario.groups)

    @property
    def internal(self) -> bool:
        """True if it has notes or a margin, which the customer's version leaves out."""
        return bool((self.plan.scenario.internal.notes or "").strip() or earnings(self.plan))

    @property
    def peak(self) -> float:
        """GPUs that the groups need at most on average."""
        return round(week_demand(self.plan)[0].peak_gpus, 1)

    @property
    def paid(self) -> str:
        """All payments."""
        return money(self.costs.total, self.costs.currency)


Content = Table | str | Iterable[Block | str] | Sequence[Sheet] | None
"""Content of a row of a chapter: a table, a text or several, drawings, or blocks as they are."""


def blocks_of(draft: Draft, row: Mapping[str, str], content: Content) -> Iterator[Block]:
    """Set the content of a row of ``chapters.csv`` as its style says; a drawing where it describes one."""
    style, caption = row["style"], draft.said(row["caption"]) if row["caption"] else ""
    if isinstance(content, Table):
        cite, widths = draft.cite if style == "cited" else None, _shares(row["widths"], content)
        most, small = int(row["most"] or MOST_ROWS), style == "small"
        yield from tabled(content, cite, caption=caption, widths=widths, most=most, small=small)
    elif row["alt"]:
        yield from _figures(draft, row, caption, content)
    else:
        given: Iterable[Any] = [content] if isinstance(content, str) else content or ()
        parts: list[Block | str] = list(filter(None, given))
        if parts and style == "list":
            parts = [Bullets(tuple(map(str, parts)))]
        for part in parts:
            yield Paragraph(part, style) if isinstance(part, str) else part


def _figures(draft: Draft, row: Mapping[str, str], caption: str, content: Any) -> Iterator[Block]:
    """Set a drawing, or several on pages of their own that say what each shows."""
    sheets = [Sheet(content, "")] if isinstance(content, str) else [*(content or ())]
    for sheet in sheets:
        alt = f"{draft.said(row['alt'])} {sheet.about}" if sheets[1:] else draft.said(row["alt"])
        yield Figure(sheet.svg, sheet.about or caption, alt, float(row["widths"] or 1))


def _shares(stated: str, table: Table) -> list[float]:
    """Widths of columns as stated, by place or by the key of those that are shown."""
    shares = [part.rpartition("=") for part in stated.split()]
    keys = [column.key for column in table.shown().columns]
    widths = [float(share) for key, _, share in shares if not key or key in keys]
    return [width / sum(widths) for width in widths] if "=" in stated else widths


def tabled(
    table: Table,
    cite: Citations | None = None,
    *,
    caption: str = "",
    widths: Sequence[float] = (),
    most: int = MOST_ROWS,
    small: bool = False,
) -> list[Block]:
    """Return a topic's table for a page: at most ``most`` rows and all totals, sources by number, notes below."""
    shown = (_cited(table.top(most), cite) if cite else table.top(most)).shown()
    if not shown.rows:
        return []
    totals = tuple(at for at, row in enumerate(shown.cells()) if row[0].tone == "total")
    kept = tuple(widths) if len(widths) == len(shown.columns) else ()
    rows = tuple(texts(shown))
    empty = LOOKS["open"].get(shown.name, ())
    to_fill = tuple(at for at, column in enumerate(shown.columns) if column.key in empty)
    grid = Grid(heads(shown), rows, caption or shown.title, numeric(shown), kept, totals, small, to_fill)
    notes = [Paragraph(note, "note") for note in shown.notes]
    return [grid, *and_more(len(table.rows) - len(rows)), *notes]


def _cited(table: Table, cite: Citations) -> Table:
    """The table with its sources by their numbers, for which a page has room."""

    def told(cell: Cell, column: Column) -> Cell:
        is_cited = column.kind == "sources" and cell.value
        return replace(cell, words=cite(cell.value).strip()) if is_cited else cell

    columns = tuple(replace(col, detail=col.detail and col.kind != "sources") for col in table.columns)
    rows = tuple(tuple(map(told, row, columns)) for row in table.cells())
    return replace(table, columns=columns, rows=rows)


def and_more(left: int) -> list[Block]:
    """Say how many rows are left out; empty without any."""
    return [Paragraph(said("writing.and more in the", left=number(left)), "note")] if left > 0 else []
