"""A table is data, built once in ``tables/``; renderers word and align it by the kinds of its columns."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice, starmap
from math import isfinite
from operator import attrgetter
from typing import Any, NamedTuple

from gpuplan.facts import Brief, own_rows
from gpuplan.locales import per_cent
from gpuplan.report.kinds import KEY, KINDS
from gpuplan.wording import TEXTS, capital, said, told, worded

NOTHING = "\u2013"
"""Shown on the screen in place of an amount of none."""
UNSORTED = 12
"""Most rows of a table that the screen does not sort; ``MOST`` in ``widgets/static/common.js``."""
BY_KEY = "\ue000"
"""Marks heads and titles with texts in ``data/words``: ``table.TABLE.COLUMN``, or ``table.COLUMN`` if shared."""
COLUMNS: dict[str, list[dict[str, str]]] = {}
"""Table -> its columns: key, kind, unit, whether it is a detail, key of its head, and attribute of the rows' subjects."""
for _row in own_rows("words/columns"):
    COLUMNS.setdefault(_row["table"], []).append(_row)
SETS = {"standing": COLUMNS.pop("standing")}
"""Columns that several tables have: a row of ``set`` stands for those that the table does not have itself."""
CELLS: Mapping[tuple[str, str], tuple[str, dict[str, str]]] = {
    (row["table"], row["column"]): (row["format"], {"line": row["line"], "tone": row["tone"]})
    for row in own_rows("words/cells")
}
"""(table, column) -> format of its values, the line that explains them, and their tone, where it has some."""


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
    line: str = field(default="", compare=False, repr=False)
    """Key of the plan's line that explains a value, by the row's subject."""
    tone: str = field(default="", compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "label", per_cent(self.label))

    def held(self, thing: Any) -> Any:
        """Return the value of a row's subject in this column."""
        if callable(self.of):
            value = self.of(thing)
        else:
            name = self.of or self.key
            value = thing[name] if isinstance(thing, Mapping) else attrgetter(name)(thing)
        if not (self.words or self.line or self.tone):
            return value
        cell = value if isinstance(value, Cell) else Cell(value, self.words(value) if self.words else None)
        return replace(cell, line=cell.line or self.line.format(row=thing), tone=cell.tone or self.tone)


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

    ``getters`` get what is no attribute of a row's subject; ``heads`` and ``hidden`` differ by design.
    """
    rows = list(_with_sets(COLUMNS[table]))
    if unknown := getters.keys() - {row["column"] for row in rows} - SETS.keys():
        raise KeyError(f"{table} has no column {', '.join(sorted(unknown))}")
    listing = []
    for row in rows:
        name, getter = row["column"], getters.get(row["column"], row["of"])
        if (of_set := row.get("set", "")) in getters:
            getter = _part_of(getters[of_set], name)
        spec, more = CELLS.get((table, name), ("", {}))
        words, of = getter if isinstance(getter, Worded) else (_format(spec), getter)
        head = {"": BY_KEY, "-": "", "currency": currency}.get(row["head"])
        if head is None:
            head = told(TEXTS.get(row["head"], row["head"]), {"currency": currency})
        unit = currency if row["unit"] == "currency" else row["unit"]
        detail = (hidden or {}).get(name, row["detail"] == "yes")
        label, kind, of = (heads or {}).get(name, head), row["kind"] or "text", of or row["of"]
        listing.append(Column(name, label, kind, unit, detail, of, words, **more))
    return tuple(listing)


def _with_sets(rows: Sequence[dict[str, str]]) -> Iterator[dict[str, str]]:
    """Yield the rows of columns, with those of a set in place of its row."""
    own = {row["column"] for row in rows}
    for row in rows:
        if row["of"] != "set":
            yield row
            continue
        for part in SETS[row["column"]]:
            if part["column"] not in own:
                yield {**part, "of": f"{row['column']}.{part['column']}", "set": row["column"]}


def _part_of(getter: Any, name: str) -> Callable[[Any], Any]:
    return lambda thing: getattr(getter(thing), name)


def _format(spec: str) -> Callable[[Any], str | None] | None:
    return (lambda value: None if value is None else worded(value, spec)) if spec else None


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
        title = said(f"table.{self.name}") if self.title == BY_KEY else self.title
        object.__setattr__(self, "title", per_cent(title))
        if any(column.label == BY_KEY for column in self.columns):
            object.__setattr__(self, "columns", tuple(map(self._headed, self.columns)))

    def _headed(self, column: Column) -> Column:
        if column.label != BY_KEY:
            return column
        specific, shared = f"table.{self.name}.{column.key}", f"table.{column.key}"
        return replace(column, label=said(specific if specific in TEXTS else shared, currency=column.unit))

    def cells(self) -> Iterator[tuple[Cell, ...]]:
        """Return the rows with every value as a cell."""
        for row in self.rows:
            yield tuple(value if isinstance(value, Cell) else Cell(value) for value in row)

    def shown(self) -> "Table":
        """Return the table without the details that are too much for a page."""
        return self.without(*(column.key for column in self.columns if column.detail))

    def without(self, *keys: str) -> "Table":
        """Return the table without some columns."""
        at = [n for n, column in enumerate(self.columns) if column.key not in keys]
        return self if len(at) == len(self.columns) else self.at(at)

    def at(self, places: Sequence[int]) -> "Table":
        """Return the table with the columns at these places, in their order."""
        rows = tuple(tuple(row[n] for n in places) for row in self.rows)
        return replace(self, columns=tuple(self.columns[n] for n in places), rows=rows)

    def keyless(self) -> "Table":
        """Return the table without the ids that only programs need."""
        return self.without(*(column.key for column in self.columns if column.kind == KEY))

    def only(self, *keys: str) -> "Table":
        """Return the table with only some columns, all of them shown."""
        some = self.without(*(column.key for column in self.columns if column.key not in keys))
        return replace(some, columns=tuple(replace(column, detail=False) for column in some.columns))

    def top(self, rows: int) -> "Table":
        """Return the first rows and the totals."""
        end = len(self.rows) - self.totals
        return replace(self, rows=(*self.rows[: min(rows, end)], *self.rows[end:]))

    def beside(self, column: Column, cells: Sequence[Any], after: str) -> "Table":
        """Return the table with one more column, after another."""
        at = 1 + next(n for n, other in enumerate(self.columns) if other.key == after)
        columns = (*self.columns[:at], column, *self.columns[at:])
        rows = tuple((*row[:at], more, *row[at:]) for row, more in zip(self.rows, cells, strict=True))
        return replace(self, columns=columns, rows=rows)

    def dressed(self, key: str, dress: Callable[[int, Cell], Mapping[str, Any]]) -> "Table":
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
) -> "Table":
    """Build a table with a row about each thing, and totals below."""
    rows = [tuple(column.held(thing) for column in columns) for thing in things]
    rows += map(tuple, totals)
    valid = [at for at, column in enumerate(columns) if column.key == "valid"]
    if valid and not all(row[valid[0]] for row in rows):  # then a page shows it, too
        standing = ("valid", "unplaced_vms")
        columns = [replace(col, detail=False) if col.key in standing else col for col in columns]
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
) -> "Table":
    """Build a table with a row about each thing, under its own `columns`."""
    return listed(name, columns(name, currency, **given), things, totals=totals, notes=notes, title=title)


def filled(
    name: str, rows: Iterable[tuple[Any, ...]], currency: str = "", /, *, title: str = BY_KEY, **given: Any
) -> "Table":
    """Build a table of rows as they are, under its own `columns`."""
    notes = tuple(given.pop("notes", ()))
    return Table(name, columns(name, currency, **given), tuple(rows), notes=notes, title=title)


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
    return [tuple(starmap(words, zip(row, table.columns, strict=True))) for row in table.cells()]


def records(table: Table) -> list[dict[str, Any]]:
    """Return the rows as plain values by column, as for JSON; without the totals, which any program can compute."""
    rows = islice(table.cells(), len(table.rows) - table.totals)
    return [{c.key: cell.value for c, cell in zip(table.columns, row, strict=True)} for row in rows]


def screen(table: Table, title: str = "", more: str = "") -> dict[str, Any]:
    """Return the table for the app, under a title if its card has several; a long one can be sorted there."""
    shown = table.shown()
    rows = [list(starmap(_drawn, zip(row, shown.columns, strict=True))) for row in shown.cells()]
    if len(rows) - shown.totals > UNSORTED:
        for drawn, row in zip(rows, shown.cells(), strict=True):
            for entry, cell in zip(drawn, row, strict=True):
                order = None if entry["text"] == NOTHING else _order(cell.value)
                if order not in (None, entry["text"]):
                    entry.setdefault("sort", order)
    head = [{"text": column.label, "numeric": KINDS[column.kind].numeric} for column in shown.columns]
    note = more or " ".join(shown.notes)
    return {"title": capital(title), "heads": head, "rows": rows, "totals": shown.totals, "more": note}


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
    if isinstance(value, int | float):
        return value if isfinite(value) else None
    return value if isinstance(value, str) else None
