"""Parts of chapters: numbered sources, and tables and figures as a page holds them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from gpuplan.catalog import Catalog
from gpuplan.deliver.document.blocks import Block, Figure, Grid, Paragraph
from gpuplan.plan import Plan
from gpuplan.report.table import Cell, Column, Table, heads, numeric, texts
from gpuplan.wording import NAMES, amount, number, run_words, said, verb

MOST_ROWS = 40
"""Rows of any other table."""


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


def grid_of(
    caption: str,
    heads: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    right: Sequence[int] = (),
    widths: Sequence[float] = (),
    most: int = MOST_ROWS,
) -> list[Block]:
    """Return a table of at most ``most`` rows, and the number of further ones; empty without rows."""
    if not rows:
        return []
    shown = tuple(tuple(row) for row in rows[:most])
    grid = Grid(tuple(heads), shown, caption, tuple(right), tuple(widths))
    return [grid, *and_more(len(rows) - len(shown))]


def tabled(
    table: Table,
    cite: Citations | None = None,
    *,
    caption: str = "",
    widths: Sequence[float] = (),
    most: int = MOST_ROWS,
) -> list[Block]:
    """Return a topic's table for a page: at most ``most`` rows and all totals, sources by number, notes below."""
    shown = (_cited(table.top(most), cite) if cite else table.top(most)).shown()
    if not shown.rows:
        return []
    totals = tuple(at for at, row in enumerate(shown.cells()) if row[0].tone == "total")
    kept = tuple(widths) if len(widths) == len(shown.columns) else ()
    rows = tuple(texts(shown))
    grid = Grid(heads(shown), rows, caption or shown.title, numeric(shown), kept, totals)
    notes = [Paragraph(note, "note") for note in shown.notes]
    return [grid, *and_more(len(table.rows) - len(rows)), *notes]


def of_clusters(plan: Plan, table: Table) -> Table:
    """The table without the name of the cluster where there is only one."""
    return table.without("pool") if len(plan.pools) < 2 else table


def _cited(table: Table, cite: Citations) -> Table:
    """The table with its sources by their numbers, for which a page has room."""

    def told(cell: Cell, column: Column) -> Cell:
        is_cited = column.kind == "sources" and cell.value
        return replace(cell, words=cite(cell.value).strip()) if is_cited else cell

    columns = tuple(replace(col, detail=col.detail and col.kind != "sources") for col in table.columns)
    return replace(
        table, columns=columns, rows=tuple(tuple(map(told, row, columns)) for row in table.cells())
    )


def vms(count: int) -> str:
    """A count of VMs with its verb: ``3 VMs have``."""
    return f"{amount(count, 'VM')} {verb(count, 'have')}"


def and_more(left: int) -> list[Block]:
    """Say how many rows are left out; empty without any."""
    return [Paragraph(said("writing.and more in the", left=number(left)), "note")] if left > 0 else []


def drawn(svg: str | None, caption: str, alt: str, width: float = 1.0) -> list[Block]:
    """A figure, or nothing where there is no drawing."""
    return [] if svg is None else [Figure(svg, caption, alt, width)]


BASIS_MEANS = NAMES["meaning of basis"]
