"""A table is data once: what it holds is said here, what it looks like on paper, screen or terminal by whoever renders it.

The tables of a topic are built in ``gpuplan/report/tables/``. Each column says what kind of quantity it holds, and so every
renderer words, aligns and stores a value alike: ``words`` and ``text`` for readers, ``records``, ``csv_text`` and ``frame`` for
programs, ``screen`` for the app; documents, slides and sheets take the same table.
"""

from __future__ import annotations

import csv
import io
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from gpuplan.wording import bare_amount, basis_word, hours, number, percent, watts

if TYPE_CHECKING:
    import pandas as pd

WIDTH = 100
"""Characters of a line in a terminal."""
NOTHING = "\u2013"
"""Stands for no amount on the screen."""


class Kind(NamedTuple):
    """A kind of quantity: how a value of it reads where its unit stands in the head, and whether it is aligned as a number."""

    words: Callable[[Any, str], str]
    numeric: bool = True


KINDS: Mapping[str, Kind] = {
    "text": Kind(lambda value, _: str(value), numeric=False),
    "number": Kind(lambda value, _: number(value)),
    "money": Kind(bare_amount),
    "share": Kind(lambda value, _: percent(value)),
    "hours": Kind(lambda value, _: hours(value)),
    "watts": Kind(lambda value, _: watts(value)),
    "basis": Kind(lambda value, _: basis_word(value), numeric=False),
    "sources": Kind(lambda value, _: ", ".join(value), numeric=False),
}


@dataclass(frozen=True, slots=True)
class Column:
    """A column: its name for programs, its head for readers, and the kind of quantity in it, one of `KINDS`."""

    key: str
    label: str
    kind: str = "text"
    unit: str = ""
    """What the values are measured in; the code of the currency for money."""
    detail: bool = False
    """Whether it is for programs and sheets only: too much for a page."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A value that is more than its column says."""

    value: Any
    words: str | None = None
    """How it reads, where not as its kind does: why there is no value, or what it means."""
    low: float | None = None
    high: float | None = None
    basis: str = ""
    line: str = ""
    """Key of the plan's line that explains it: "why?"."""
    tone: str = ""
    """``good``, ``warn``, ``bad``, ``small`` or ``total``."""
    more: Mapping[str, Any] = field(default_factory=dict)
    """What only the screen draws beside it."""


@dataclass(frozen=True, slots=True)
class Table:
    """Rows under columns, and what has to be said of them."""

    name: str
    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Any, ...], ...]
    """Plain values, or cells where there is more to say."""
    totals: int = 0
    """How many of the last rows sum up the others."""
    notes: tuple[str, ...] = ()

    def cells(self) -> Iterator[tuple[Cell, ...]]:
        """The rows, every value a cell."""
        for row in self.rows:
            yield tuple(value if isinstance(value, Cell) else Cell(value) for value in row)

    def shown(self) -> Table:
        """The table without what is too much for a page."""
        at = [n for n, column in enumerate(self.columns) if not column.detail]
        if len(at) == len(self.columns):
            return self
        return replace(
            self,
            columns=tuple(self.columns[n] for n in at),
            rows=tuple(tuple(row[n] for n in at) for row in self.rows),
        )


def words(cell: Cell, column: Column) -> str:
    """What a reader sees of a value: its own words, or those of its kind; nothing where there is none."""
    if cell.words is not None:
        return cell.words
    return "" if cell.value is None or cell.value == "" else KINDS[column.kind].words(cell.value, column.unit)


def heads(table: Table) -> tuple[str, ...]:
    """The heads of the columns."""
    return tuple(column.label for column in table.columns)


def numeric(table: Table) -> tuple[int, ...]:
    """The columns that are aligned as numbers, from 0."""
    return tuple(at for at, column in enumerate(table.columns) if KINDS[column.kind].numeric)


def texts(table: Table) -> list[tuple[str, ...]]:
    """The rows as a reader sees them."""
    return [
        tuple(words(cell, column) for cell, column in zip(row, table.columns, strict=True))
        for row in table.cells()
    ]


def text(table: Table) -> str:
    """The table for a terminal."""
    shown = table.shown()
    return grid_text(heads(shown), texts(shown), numeric(shown))


def grid_text(heads: Sequence[str], rows: Iterable[Sequence[Any]], right: Sequence[int] = ()) -> str:
    """Rows of text in columns, heads above them unless all are empty; the last column is wrapped to the width of the page."""
    lines = [[str(cell) for cell in row] for row in rows]
    if any(heads):
        lines.insert(0, list(heads))
    widths = [max((len(line[at]) for line in lines), default=0) for at in range(len(heads))]
    found = []
    for line in lines:
        start = "".join(
            (cell.rjust(width) if at in right else cell.ljust(width)) + "  "
            for at, (cell, width) in enumerate(zip(line[:-1], widths[:-1], strict=True))
        )
        last = line[-1].rjust(widths[-1]) if len(heads) - 1 in right else line[-1]
        room = max(30, WIDTH - len(start))
        folded = textwrap.wrap(last, room, break_long_words=False, break_on_hyphens=False) or [""]
        found += [(start + folded[0]).rstrip(), *(" " * len(start) + more for more in folded[1:])]
    return "\n".join(found)


def records(table: Table) -> list[dict[str, Any]]:
    """The rows as plain values by column, as JSON holds them."""
    return [
        {column.key: cell.value for column, cell in zip(table.columns, row, strict=True)}
        for row in table.cells()
    ]


def csv_text(table: Table) -> str:
    """The table as CSV, unrounded."""
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow([column.key for column in table.columns])
    writer.writerows([["" if cell.value is None else cell.value for cell in row] for row in table.cells()])
    return out.getvalue()


def frame(table: Table) -> pd.DataFrame:
    """The table as a pandas frame; pandas comes with ``gpuplan[app]``."""
    import pandas as pd

    return pd.DataFrame(
        [[cell.value for cell in row] for row in table.cells()],
        columns=[column.key for column in table.columns],
    )


def screen(table: Table, more: str = "") -> dict[str, Any]:
    """The table as the app draws it."""
    shown = table.shown()
    rows = [
        [
            {
                "text": words(cell, column),
                "key": cell.line,
                "numeric": KINDS[column.kind].numeric,
                "tone": cell.tone,
            }
            | dict(cell.more)
            for cell, column in zip(row, shown.columns, strict=True)
        ]
        for row in shown.cells()
    ]
    return {
        "title": shown.title,
        "heads": [{"text": column.label, "numeric": KINDS[column.kind].numeric} for column in shown.columns],
        "rows": rows,
        "more": more or " ".join(shown.notes),
    }


def scaled(table: Table, divisor: int) -> Table:
    """The same with its money in thousands, millions or other multiples, rounded."""
    money = {at for at, column in enumerate(table.columns) if column.kind == "money"}

    def less(at: int, value: Any) -> Any:
        cell = value if isinstance(value, Cell) else Cell(value)
        if at not in money or not isinstance(cell.value, int | float):
            return value
        return replace(cell, value=round(cell.value / divisor))

    return replace(
        table, rows=tuple(tuple(less(at, value) for at, value in enumerate(row)) for row in table.rows)
    )
