"""A table is data, defined once; its renderer decides how it looks on paper, screen or terminal.

The tables of a topic are built in ``gpuplan/report/tables/``. Each column says what kind of quantity it holds, and so every
renderer words, aligns and stores a value alike: ``words`` and ``text`` for readers, ``records``, ``csv_text`` and ``frame`` for
programs, ``screen`` for the app; documents, slides and sheets take the same table.
"""

from __future__ import annotations

import csv
import io
import re
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice, zip_longest
from math import isfinite
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from gpuplan.facts import Brief, own_rows
from gpuplan.locales import per_cent, written, written_day
from gpuplan.wording import (
    PAGE_WIDTH,
    TEXTS,
    basis_word,
    capital,
    hours,
    money,
    number,
    percent,
    points,
    said,
    share_words,
    told,
    unsigned,
    wait_words,
    watts,
)

if TYPE_CHECKING:
    import pandas as pd

NARROWEST = 16
"""Characters that a column of text keeps when a line is too long."""
NOTHING = "\u2013"
"""Shown on the screen in place of an amount of none."""


def one_place(value: float) -> str:
    """Format a mean or a quantile of a count with one decimal, which suffices."""
    return written(value, ",.0f" if round(value, 1) == round(value) else ",.1f")


def two_places(value: float) -> str:
    """Format a rate or a duration with two decimals."""
    return written(value, ",.2f")


def between(ends: tuple[float, float], words: Callable[[float], str]) -> str:
    """Return a range in words with its unit once: ``0 to 3 %``; one value where both ends read the same."""
    low, high = map(words, ends)
    return low if low == high else f"{unsigned(low)} to {high}"


UNSORTED = 12
"""Most rows of a table that the screen does not sort; ``MOST`` in ``widgets/static/common.js``."""
SCALES = ((1, ""), (1_000, "thousands of "), (1_000_000, "millions of "))
"""Scales for amounts of money where a page is too narrow."""
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")
"""Characters that a spreadsheet reads as the beginning of a formula."""


class Kind(NamedTuple):
    """A kind of quantity: the format of a value whose unit is in the head, and whether it is aligned as a number."""

    words: Callable[[Any], str]
    numeric: bool = True


def _bare_money(value: float) -> str:
    return money(value, "").strip()


KEY = "key"
"""The kind of an id that programs join tables by; no reader sees it."""
KINDS: Mapping[str, Kind] = {
    "text": Kind(str, numeric=False),
    KEY: Kind(str, numeric=False),
    "day": Kind(written_day, numeric=False),
    "number": Kind(number),
    "whole": Kind(lambda value: number(round(value))),
    "duration": Kind(two_places),
    "mean": Kind(one_place),
    "money": Kind(_bare_money),
    "price": Kind(_bare_money),
    "change": Kind(_bare_money),
    "share": Kind(percent),
    "portion": Kind(share_words),
    "range": Kind(share_words, numeric=False),
    "points": Kind(points),
    "hours": Kind(hours),
    "wait": Kind(wait_words),
    "watts": Kind(watts),
    "yes": Kind(number, numeric=False),
    "basis": Kind(basis_word, numeric=False),
    "sources": Kind(", ".join, numeric=False),
}
KIND_UNITS = {
    "number": "1",
    "whole": "1",
    "mean": "1",
    "hours": "h",
    "wait": "h",
    "watts": "W",
    "share": "1",
    "portion": "1",
    "range": "1",
    "points": "%",
}
"""Units of kinds whose values need no unit in the head: counts, and shares, of which 1 is all."""


BY_KEY = "\ue000"
"""Marks heads and titles with texts in ``data/words``: ``table.TABLE.COLUMN``, or ``table.COLUMN`` if shared."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column: its name for programs, its head for readers, and the kind of quantity in it, one of `KINDS`."""

    key: str
    label: str = BY_KEY
    kind: str = "text"
    unit: str = ""
    """Unit of the values; the currency code for money."""
    detail: bool = False
    """True if the column is for programs and sheets only: too much for a page."""
    of: str | Callable[[Any], Any] = field(default="", compare=False, repr=False)
    """Value for this column from a row's subject: an attribute (the column's own name if empty) or a function."""
    words: Callable[[Any], str | None] | None = field(default=None, compare=False, repr=False)
    """Format of its values, where it differs from its kind's."""

    def __post_init__(self) -> None:
        """Its head is in the locale in which the table is made."""
        object.__setattr__(self, "label", per_cent(self.label))

    def held(self, thing: Any) -> Any:
        """Return the value of a row's subject in this column."""
        if callable(self.of):
            value = self.of(thing)
        else:
            name = self.of or self.key
            value = thing[name] if isinstance(thing, Mapping) else attrgetter(name)(thing)
        return value if self.words is None else Cell(value, words=self.words(value))


COLUMNS: dict[str, list[dict[str, str]]] = {}
"""Table -> its columns: key, kind, unit, whether it is a detail, key of its head, and attribute of the rows' subjects."""
for _row in own_rows("words/columns"):
    COLUMNS.setdefault(_row["table"], []).append(_row)


class Worded(NamedTuple):
    """A format of a column's values that differs from its kind's, and how to get them."""

    words: Callable[[Any], str | None]
    of: str | Callable[[Any], Any] = ""


def columns(
    table: str,
    currency: str = "",
    /,
    *,
    heads: Mapping[str, str] | None = None,
    hidden: Mapping[str, bool] | None = None,
    **getters: Callable[[Any], Any] | Worded,
) -> tuple[Column, ...]:
    """Return the columns of a table, as ``data/words/columns.csv`` lists them.

    ``getters`` return the values of columns that are no attributes of a row's subject; ``heads`` and ``hidden`` say
    which head a column has, and whether it is a detail, where that is not always the same.
    """
    rows = COLUMNS[table]
    if unknown := getters.keys() - {row["column"] for row in rows}:
        raise KeyError(f"{table} has no column {', '.join(sorted(unknown))}")
    listing = []
    for row in rows:
        name, getter = row["column"], getters.get(row["column"], row["of"])
        words, of = getter if isinstance(getter, Worded) else (None, getter)
        head = {"": BY_KEY, "-": "", "currency": currency}.get(row["head"])
        if head is None:
            head = told(TEXTS.get(row["head"], row["head"]), {"currency": currency})
        unit = currency if row["unit"] == "currency" else row["unit"]
        detail = (hidden or {}).get(name, row["detail"] == "yes")
        label = (heads or {}).get(name, head)
        listing.append(Column(name, label, row["kind"] or "text", unit, detail, of or row["of"], words))
    return tuple(listing)


@dataclass(frozen=True, slots=True)
class Cell:
    """A value with details beyond its column's."""

    value: Any
    words: str | None = None
    """Text of the value, where it differs from its kind's format: why there is none, or what it means."""
    low: float | None = None
    high: float | None = None
    line: str = ""
    """Key of the plan's line that explains it: "why?"."""
    tone: str = ""
    """``good``, ``warn``, ``bad``, ``small`` or ``total``."""
    more: Mapping[str, Any] = field(default_factory=dict)
    """Further values that only the screen draws."""


@dataclass(frozen=True, slots=True, repr=False)
class Table(Brief):
    """Rows under columns, with notes."""

    name: str
    title: str = field(default=BY_KEY, kw_only=True)
    columns: tuple[Column, ...]
    rows: tuple[tuple[Any, ...], ...]
    """Plain values, or cells with further details."""
    totals: int = 0
    """Number of rows at the end that sum up the others."""
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Title and heads are in the language and the locale in which the table is made."""
        title = said(f"table.{self.name}") if self.title == BY_KEY else self.title
        object.__setattr__(self, "title", per_cent(title))
        if any(column.label == BY_KEY for column in self.columns):
            object.__setattr__(self, "columns", tuple(map(self._headed, self.columns)))

    def _headed(self, column: Column) -> Column:
        """Return a column with its head; for money, with the currency too."""
        if column.label != BY_KEY:
            return column
        specific, shared = f"table.{self.name}.{column.key}", f"table.{column.key}"
        return replace(column, label=said(specific if specific in TEXTS else shared, currency=column.unit))

    def cells(self) -> Iterator[tuple[Cell, ...]]:
        """Return the rows with every value as a cell."""
        for row in self.rows:
            yield tuple(value if isinstance(value, Cell) else Cell(value) for value in row)

    def shown(self) -> Table:
        """Return the table without the details that are too much for a page."""
        return self.without(*(column.key for column in self.columns if column.detail))

    def without(self, *keys: str) -> Table:
        """Return the table without some columns."""
        at = [n for n, column in enumerate(self.columns) if column.key not in keys]
        if len(at) == len(self.columns):
            return self
        return replace(
            self,
            columns=tuple(self.columns[n] for n in at),
            rows=tuple(tuple(row[n] for n in at) for row in self.rows),
        )

    def keyless(self) -> Table:
        """Return the table without the ids that only programs need."""
        return self.without(*(column.key for column in self.columns if column.kind == KEY))

    def only(self, *keys: str) -> Table:
        """Return the table with only some columns, all of them shown."""
        some = self.without(*(column.key for column in self.columns if column.key not in keys))
        return replace(some, columns=tuple(replace(column, detail=False) for column in some.columns))

    def top(self, rows: int) -> Table:
        """Return the first rows and the totals."""
        end = len(self.rows) - self.totals
        return replace(self, rows=(*self.rows[: min(rows, end)], *self.rows[end:]))

    def beside(self, column: Column, cells: Sequence[Any], after: str) -> Table:
        """Return the table with one more column, after another."""
        at = 1 + next(n for n, other in enumerate(self.columns) if other.key == after)
        return replace(
            self,
            columns=(*self.columns[:at], column, *self.columns[at:]),
            rows=tuple((*row[:at], more, *row[at:]) for row, more in zip(self.rows, cells, strict=True)),
        )

    def dressed(self, key: str, dress: Callable[[int, Cell], Mapping[str, Any]]) -> Table:
        """Return the table with more for the screen to draw in a column, by row number and cell."""
        at = next(n for n, column in enumerate(self.columns) if column.key == key)
        rows = [list(row) for row in self.cells()]
        for n, row in enumerate(rows):
            row[at] = replace(row[at], more={**row[at].more, **dress(n, row[at])})
        return replace(self, rows=tuple(tuple(row) for row in rows))


def listed(
    name: str,
    columns: Sequence[Column],
    things: Iterable[Any],
    *,
    totals: Sequence[Sequence[Any]] = (),
    notes: Sequence[str] = (),
    title: str = BY_KEY,
) -> Table:
    """Build a table with a row about each thing, and totals below."""
    rows = [tuple(column.held(thing) for column in columns) for thing in things]
    rows += map(tuple, totals)
    return Table(name, tuple(columns), tuple(rows), len(totals), tuple(notes), title=title)


def tabulate(
    name: str,
    things: Iterable[Any],
    currency: str = "",
    /,
    *,
    totals: Sequence[Sequence[Any]] = (),
    notes: Sequence[str] = (),
    title: str = BY_KEY,
    **given: Any,
) -> Table:
    """Build a table with a row about each thing, under its own `columns`."""
    return listed(name, columns(name, currency, **given), things, totals=totals, notes=notes, title=title)


def words(cell: Cell, column: Column) -> str:
    """Return the text of a value as readers see it: its own, or its kind's format; empty without a value."""
    if cell.words is not None:
        return cell.words
    return "" if cell.value is None or cell.value == "" else KINDS[column.kind].words(cell.value)


def heads(table: Table) -> tuple[str, ...]:
    """Return the heads of the columns."""
    return tuple(column.label for column in table.columns)


def numeric(table: Table) -> tuple[int, ...]:
    """Return the columns that are aligned as numbers, from 0."""
    return tuple(at for at, column in enumerate(table.columns) if KINDS[column.kind].numeric)


def texts(table: Table) -> list[tuple[str, ...]]:
    """Return the rows as text for readers."""
    return [
        tuple(words(cell, column) for cell, column in zip(row, table.columns, strict=True))
        for row in table.cells()
    ]


def text(table: Table, below: Sequence[str] = ()) -> str:
    """Lay out the table for a terminal; values of the columns ``below`` go under each row."""
    shown = table.shown()
    rows = shown.without(*below)
    lines = _grid(heads(rows), texts(rows), numeric(rows))
    if below:
        under = shown.without(*(column.key for column in shown.columns if column.key not in below))
        said = ["; ".join(filter(None, cells)) for cells in texts(under)]
        lines[1:] = [
            f"{line}\n{indented(more, 12)}" if more else line
            for line, more in zip(lines[1:], said, strict=True)
        ]
    return "\n".join(lines)


def grid_text(heads: Sequence[str], rows: Iterable[Sequence[Any]], right: Sequence[int] = ()) -> str:
    """Rows of text in columns, heads above them unless all are empty, wrapped to the width of the page: the last column first."""
    return "\n".join(_grid(heads, rows, right))


def _grid(heads: Sequence[str], rows: Iterable[Sequence[Any]], right: Sequence[int]) -> list[str]:
    """Lay out the heads and each row, on several lines where a cell is folded."""
    lines = [[str(cell) for cell in row] for row in rows]
    widths = _widths(heads, lines, right)
    if any(heads):
        lines.insert(0, list(heads))
    grid = []
    for line in lines:
        folded = [_folded(cell, width) for cell, width in zip(line, widths, strict=True)]
        tall = zip_longest(*folded, fillvalue="")
        grid.append("\n".join(_set(cells, widths, right) for cells in tall))
    return grid


def _set(cells: Sequence[str], widths: Sequence[int], right: Sequence[int]) -> str:
    """One line of a grid."""
    aligned = (
        cell.rjust(width) if at in right else cell.ljust(width)
        for at, (cell, width) in enumerate(zip(cells, widths, strict=True))
    )
    return "  ".join(aligned).rstrip()


def _widths(heads: Sequence[str], lines: Sequence[Sequence[str]], right: Sequence[int]) -> list[int]:
    """Return the column widths: if a line is too long, shrink the last text, then heads of numbers, then any text."""
    count = len(heads)
    widths = [max(map(len, (heads[at], *(line[at] for line in lines)))) for at in range(count)]
    least = [min(width, NARROWEST) for width in widths]
    for at in right:
        least[at] = max(map(len, (*heads[at].split(), *(line[at] for line in lines))))
    texts = [at for at in range(count) if at not in right]
    if count - 1 in texts:
        widths[-1] = min(widths[-1], max(30, PAGE_WIDTH.get() - sum(width + 2 for width in widths[:-1])))
    for columns in (right, texts):
        while sum(width + 2 for width in widths) - 2 > PAGE_WIDTH.get():
            widest = max(columns, key=lambda at: widths[at] - least[at], default=None)
            if widest is None or widths[widest] <= least[widest]:
                break
            widths[widest] -= 1
    return widths


def _folded(cell: str, width: int) -> list[str]:
    if len(cell) <= width:
        return [cell]
    return textwrap.wrap(cell, width, break_long_words=False, break_on_hyphens=False)


def indented(text: str, spaces: int) -> str:
    """Wrap text to the width of the page with all lines indented, and no id broken at its hyphens."""
    margin = " " * spaces
    return textwrap.fill(
        text, PAGE_WIDTH.get(), initial_indent=margin, subsequent_indent=margin, break_on_hyphens=False
    )


def records(table: Table) -> list[dict[str, Any]]:
    """Return the rows as plain values by column, as for JSON; without the totals, which any program can compute."""
    return [
        {column.key: cell.value for column, cell in zip(table.columns, row, strict=True)}
        for row in islice(table.cells(), len(table.rows) - table.totals)
    ]


def csv_text(table: Table) -> str:
    """The records as CSV, unrounded; text that a spreadsheet would take for a formula is quoted with an apostrophe."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([column.key for column in table.columns])
    writer.writerows([[_harmless(flat(value)) for value in row.values()] for row in records(table)])
    return out.getvalue()


def _harmless(value: Any) -> Any:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"'{value}" if isinstance(value, str) and value.startswith(FORMULA_STARTS) else value


def frame(table: Table) -> pd.DataFrame:
    """The records as a pandas frame; pandas comes with ``gpuplan[app]``.

    ``attrs`` has the title, the units of columns with a single unit, and the heads of the columns as ``labels``.
    """
    import pandas as pd

    rows = [[flat(value) for value in row.values()] for row in records(table)]
    df = pd.DataFrame(rows, columns=[column.key for column in table.columns])
    df = df[[column.key for column in sorted(table.columns, key=lambda column: column.kind != KEY)]]
    by_row = {"unit", "per"} & {column.key for column in table.columns}
    units = {
        column.key: column.unit or KIND_UNITS.get(column.kind, "")
        for column in table.columns
        if not (by_row and column.kind == "number")
    }
    df.attrs = {
        "title": table.title,
        "units": {key: unit for key, unit in units.items() if unit},
        "labels": {column.key: column.label for column in table.columns if column.label},
    }
    return df


def flat(value: Any) -> Any:
    """Return a value as text or number for one cell of a sheet."""
    return "; ".join(map(str, value)) if isinstance(value, tuple | list) else value


MIXED = re.compile("[a-z]+[A-Z]")
"""Beginning of a name such as vGPU."""


def screen(table: Table, title: str = "", more: str = "") -> dict[str, Any]:
    """Return the table for the app, under a title if its card has several; a long one can be sorted there."""
    shown = table.shown()
    rows = [
        [_drawn(cell, column) for cell, column in zip(row, shown.columns, strict=True)]
        for row in shown.cells()
    ]
    if len(rows) - shown.totals > UNSORTED:
        for drawn, row in zip(rows, shown.cells(), strict=True):
            for entry, cell in zip(drawn, row, strict=True):
                order = None if entry["text"] == NOTHING else _order(cell.value)
                if order not in (None, entry["text"]):
                    entry.setdefault("sort", order)
    return {
        "title": title if MIXED.match(title) else capital(title),
        "heads": [{"text": column.label, "numeric": KINDS[column.kind].numeric} for column in shown.columns],
        "rows": rows,
        "totals": shown.totals,
        "more": more or " ".join(shown.notes),
    }


def _drawn(cell: Cell, column: Column) -> dict[str, Any]:
    """Return a cell for the screen: certainty becomes a badge, and a missing number a dash."""
    numeric = KINDS[column.kind].numeric
    drawn = {"text": words(cell, column), "key": cell.line, "numeric": numeric, "tone": cell.tone}
    if column.kind == "basis":
        drawn |= {"text": "", "basis": cell.value} if cell.value else {}
    elif numeric and cell.words is None and cell.value is None:
        drawn["text"] = NOTHING
    return drawn | dict(cell.more)


def _order(value: Any) -> float | str | None:
    """Return the sort key of a value whose text does not sort: the number itself, or the name of a choice."""
    if isinstance(value, int | float):
        return value if isfinite(value) else None
    return value if isinstance(value, str) else None


def scaled(table: Table, divisor: int) -> Table:
    """Return the table with its money in thousands, millions or other multiples, rounded."""
    amounts = {at for at, column in enumerate(table.columns) if column.kind == "money"}

    def less(at: int, value: Any) -> Any:
        cell = value if isinstance(value, Cell) else Cell(value)
        if at not in amounts or cell.words is not None or not isinstance(cell.value, int | float):
            return value
        return replace(cell, value=round(cell.value / divisor))

    def smaller(row: tuple[Any, ...]) -> tuple[Any, ...]:
        changed = tuple(less(at, value) for at, value in enumerate(row))
        return row if all(new is old for new, old in zip(changed, row, strict=True)) else changed

    return replace(table, rows=tuple(map(smaller, table.rows)))


def fitted(table: Table) -> tuple[str, Table]:
    """Return (``thousands of `` or similar, the table with its money so scaled), so that the lines fit on a page."""
    options = [(word, scaled(table, divisor)) for divisor, word in SCALES]
    return next((option for option in options if _fits(table, option[1])), options[-1])


def _fits(table: Table, smaller: Table) -> bool:
    """True if the rows with money fit on a page; scaling makes no others narrower."""
    paid = tuple(new for old, new in zip(table.rows, smaller.rows, strict=True) if old is not new)
    return max(map(len, text(replace(smaller, rows=paid, totals=0)).splitlines())) <= PAGE_WIDTH.get()
