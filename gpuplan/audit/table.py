"""Tables of a trace: columns by their names, rows a block at a time, and an account of what is left out and why."""

import csv
import io
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, compress
from typing import Self

import numpy as np

from gpuplan.audit.files import Lines
from gpuplan.audit.trace import Reading, Skipped, TraceError, refusal
from gpuplan.audit.values import UNIT_S, BadValue, Clock, is_missing
from gpuplan.facts import own_rows
from gpuplan.scenario import Problem, show
from gpuplan.wording import said

MAX_ROWS = 20_000_000
MAX_COLUMNS = 20_000
BLOCK_ROWS = 500
"""Rows read together: with many more lists, Python's garbage collector scans all of them again and again."""
SHOWN_COLUMNS = 40
SHOWN_REASONS = 3

COLUMNS: dict[str, dict[str, tuple[str, ...]]] = {}
"""Format -> value -> names of the column by which it is recognised, the first one first."""
for _row in own_rows("words/trace_columns"):
    COLUMNS.setdefault(_row["format"], {})[_row["what"]] = tuple(_row["names"].split())


@dataclass(slots=True)
class _Left:
    reason: str
    fault: bool
    """True if the file is at fault, False if the row merely contains no data."""
    rows: int
    first: tuple[int, int]
    example: str


class Log:
    """Counter of rows, and of those left out."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.rows = 0
        self.left: dict[tuple[str, bool], _Left] = {}

    def add(self, reason: str, rows: int, first: tuple[int, int], example: str, *, fault: bool) -> None:
        """Leave out some rows; of those left out for the same reason the first stay the example."""
        entry = self.left.get((reason, fault))
        if entry is None:
            self.left[reason, fault] = _Left(reason, fault, rows, first, show(example))
        else:
            entry.rows += rows

    def count(self, key: str) -> int:
        """Return the rows left out for a reason that is no fault."""
        entry = self.left.get((said(key), False))
        return entry.rows if entry else 0

    def reading(
        self,
        format: str,
        used: int,
        columns: Mapping[str, str],
        notes: Mapping[str, object],
        **values: object,
    ) -> Reading:
        """Return what could be read from the file, with the notes that apply: key -> what its text has as ``n``."""
        left = sorted(self.left.values(), key=lambda e: (-e.rows, e.first[0], not e.fault, e.first))
        zone, all_notes = self.clock.zone.key, {**notes, **self.clock.notes()}
        return Reading(
            format=format,
            rows=self.rows,
            used=used,
            skipped=tuple(Skipped(e.reason, e.rows, e.first[0], e.example) for e in left),
            notes=tuple(said(key, n=n, zone=zone, **values) for key, n in all_notes.items() if n),
            columns=columns,
            time_zone=zone,
        )

    def check(self, used: int, none: str) -> None:
        """Refuse a file of which more than half is bad, or nothing is left: then by the key of ``none``."""
        if not self.rows:
            raise refusal("audit.no rows")
        bad = sum(entry.rows for entry in self.left.values() if entry.fault)
        if used and 2 * bad <= self.rows:
            return
        worst = [entry for entry in self.left.values() if entry.fault or 2 * bad <= self.rows]
        shown = sorted(worst, key=lambda e: (-e.rows, e.fault, e.first))[:SHOWN_REASONS]
        raise TraceError(
            Problem("", "", said("audit.bad rows" if bad else none, bad=bad, rows=self.rows)),
            *(Problem(f"line {e.first[0]}", e.example, f"{e.reason} ({e.rows} rows)") for e in shown),
        )


class Rows:
    """Rows read together; each value that is read leaves out the rows in which it cannot be."""

    def __init__(self, log: Log, lines: Sequence[int], columns: Mapping[str, Sequence[str]]) -> None:
        self.columns = columns
        self.kept = np.ones(len(lines), dtype=bool)
        self._log, self._lines = log, lines
        log.rows += len(lines)
        if log.rows > MAX_ROWS:
            raise refusal("audit.too many samples", most=MAX_ROWS)

    def rest(self) -> "Rows":
        """Return only the rows that are still included, where that saves most of the work on the others."""
        if self.kept.all():
            return self
        kept = self.kept.tolist()
        lines = list(compress(self._lines, kept))
        columns = {key: list(compress(column, kept)) for key, column in self.columns.items()}
        self._log.rows -= len(lines)  # they are counted again
        return Rows(self._log, lines, columns)

    def texts(self, key: str, missing: str = "") -> Iterable[str]:
        """Return a column of the rows that are still included; the same text for all where there is none."""
        if key not in self.columns:
            return [missing] * int(self.kept.sum())
        return self.columns[key] if self.kept.all() else compress(self.columns[key], self.kept.tolist())

    def leave_out(
        self,
        which: np.ndarray | Sequence[bool],
        key: str,
        examples: Sequence[str] | None = None,
        *,
        fault: bool = False,
        **values: object,
    ) -> None:
        """Leave out those of the rows that are still included, for the reason with this key."""
        out = self.kept & np.asarray(which, dtype=bool)
        if out.any():
            first = int(out.argmax())
            place, example = (self._lines[first], first), examples[first] if examples else ""
            self._log.add(said(key, **values), int(out.sum()), place, example, fault=fault)
            self.kept &= ~out

    def read(self, key: str, parse: Callable[[str], float], what: str = "") -> np.ndarray:
        """Return the numbers of a column; a missing one is no fault unless ``what`` says what each row needs."""
        values = np.full(len(self.kept), np.nan)
        try:
            values[self.kept] = np.fromiter(map(parse, self.texts(key)), float)
        except BadValue:
            self._leave_out_unread(key, parse, what)
            values[self.kept] = np.fromiter(map(parse, self.texts(key)), float)
        return values

    def _leave_out_unread(self, key: str, parse: Callable[[str], float], what: str) -> None:
        wrong: dict[tuple[str, bool], dict[str, BadValue]] = {}
        for text in set(self.texts(key)):
            try:
                parse(text)
            except BadValue as bad:
                fault = bool(what) or not is_missing(bad.value)
                wrong.setdefault((bad.key if fault else "audit.row.not known", fault), {})[text] = bad
        column = self.columns[key]
        for (reason, fault), bad_values in wrong.items():
            examples = [bad_values[text].value if text in bad_values else "" for text in column]
            values = {"what": what or key, **next(iter(bad_values.values())).values}
            self.leave_out([text in bad_values for text in column], reason, examples, fault=fault, **values)

    def time(self, key: str, what: str = "", *, missing_s: float | None = None) -> np.ndarray:
        """Return times of a column in seconds since 1970, UTC; ``missing_s`` where none is stated, if permitted."""
        clock = self._log.clock
        if missing_s is None:
            times = self.read(key, clock, what)
        else:
            times = self.read(key, lambda text: missing_s if is_missing(text) else clock(text), what)
        clock.count(self.texts(key))
        return times


def _without_unit(name: str) -> tuple[str, float]:
    stem, _, unit = name.rpartition("_")
    return (stem, UNIT_S[unit]) if stem and unit in UNIT_S else (name, 1.0)


class Table:
    """Rows of text under a header, and the recognised columns: a format gives the header and its rows."""

    def __init__(
        self,
        header: Sequence[str],
        rows: Iterable[tuple[int, list[str]]],
        *,
        delimiter: str = ",",
        lines: Lines | None = None,
    ) -> None:
        """Take names of columns, and rows as (number of the line in the file, cells); ``lines`` is read for them."""
        self.header = [name.strip() for name in header]
        self.delimiter = delimiter
        self._rows = rows
        self._lines = lines
        if self.header and not self.header[-1]:
            self.header.pop()
        if len(self.header) > MAX_COLUMNS:
            columns = said("audit.columns", n=len(self.header))
            raise refusal("audit.too many columns", where="line 1", value=columns, most=MAX_COLUMNS)
        self.names = [re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_") for name in self.header]

    @classmethod
    def of_text(cls, text: io.TextIOWrapper) -> Self:
        """Return the table of a CSV, divided by whichever delimiter is most frequent in its header."""
        source = Lines(text)
        lines = iter(source)
        blank = 0
        while not (first := next(lines)).strip():
            blank += 1
        delimiter = max(",;\t|", key=first.count)
        reader = csv.reader(chain([first], lines), delimiter=delimiter, skipinitialspace=True)
        header = next(reader)
        rows = ((reader.line_num + blank, row) for row in reader)
        table = cls(header, rows, delimiter=delimiter, lines=source)
        if len(table.header) < 2:
            raise refusal("audit.no delimiter", where="line 1", value=show(first.strip()))
        return table

    def blocks(self, log: Log) -> Iterator[tuple[list[int], list[list[str]]]]:
        """Yield lines and cells of rows as long as the header, a block at a time; a last empty cell does no harm."""
        width = len(self.header)
        rows = 0
        lines: list[int] = []
        cells: list[list[str]] = []
        source = self._lines or Lines(io.StringIO())
        piece = source.pieces
        for line, row in self._rows:
            if len(cells) >= BLOCK_ROWS or (piece != source.pieces and cells):
                yield lines, cells
                lines, cells, piece = [], [], source.pieces
            if not row:
                if line > 2 * MAX_ROWS:
                    raise refusal("audit.empty lines", where=f"line {line}")
                continue
            if len(row) == width + 1 and not row[-1].strip():
                row.pop()
            if len(row) == width:
                lines.append(line)
                cells.append(row)
            else:
                log.rows += 1
                reason = said("audit.row.cells", width=width)
                log.add(reason, 1, (line, 0), self.delimiter.join(row), fault=True)
            rows += 1
            if rows >= MAX_ROWS:
                raise refusal("audit.too many rows", where=f"line {line}", most=MAX_ROWS)
        if cells:
            yield lines, cells

    def rows(self, at: Mapping[str, int], log: Log, *, header_again: str = "") -> "Iterator[Rows]":
        """Yield the same with the columns to read; skip rows that repeat the header, first detected by one column."""
        for lines, cells in self.blocks(log):
            if header_again:
                place = at[header_again]
                name = self.header[place]
                again = [row[place] == name and [c.strip() for c in row] == self.header for row in cells]
                if any(again):
                    lines = [line for line, so in zip(lines, again, strict=True) if not so]
                    cells = [row for row, so in zip(cells, again, strict=True) if not so]
            yield Rows(log, lines, {key: [row[place] for row in cells] for key, place in at.items()})

    def find(self, known: Mapping[str, tuple[str, ...]], given: Mapping[str, str]) -> dict[str, int]:
        """Return the column of each value: as given, else by the common names, with or without a unit at their end."""
        problems = unknown_keys(given, known) + [
            Problem(f"columns.{key}", show(name), said("audit.no such column", names=self.listed()))
            for key, name in given.items()
            if key in known and name not in self.header
        ]
        if problems:
            raise TraceError(*problems)
        places = {key: self.header.index(name) for key, name in given.items()}
        plain = [_without_unit(name)[0] for name in self.names]
        for key, options in known.items():
            for option in options if key not in places else ():
                place = next((names.index(option) for names in (self.names, plain) if option in names), None)
                if place is not None and place not in places.values():
                    places[key] = place
                    break
        return places

    def unit_s(self, place: int | None) -> float:
        """Return the seconds of the unit at the end of a column's name, else 1."""
        return 1.0 if place is None else _without_unit(self.names[place])[1]

    def columns(self, at: Mapping[str, int]) -> dict[str, str]:
        """Return value -> name of the column that contains it."""
        return {key: self.header[place] for key, place in at.items()}

    def listed(self) -> str:
        """List the first columns of the file by their names."""
        return ", ".join(show(name) for name in self.header[:SHOWN_COLUMNS])

    def missing(self, key: str, **values: object) -> TraceError:
        """Return the refusal of a file in which a column is missing."""
        return refusal(key, where="line 1", value=self.listed(), **values)


def unknown_keys(given: Mapping[str, str], known: Iterable[str]) -> list[Problem]:
    """Return problems of columns named by hand for values that are not read."""
    message = said("audit.not read here", names=", ".join(known))
    return [Problem(f"columns.{key}", show(key), message) for key in given if key not in known]
