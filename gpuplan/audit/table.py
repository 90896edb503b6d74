"""Tables of a trace: columns by their names, rows a block at a time, and an account of what is left out and why.

Rows are read a block at a time, and a block column by column.
"""

from __future__ import annotations

import csv
import io
import re
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, compress

import numpy as np

from gpuplan.audit.files import Lines
from gpuplan.audit.trace import Reading, Skipped, TraceError, refusal
from gpuplan.audit.values import UNIT_S, BadValue, Clock, is_missing
from gpuplan.facts import own_rows
from gpuplan.scenario import Problem, one_line, show

MAX_ROWS = 20_000_000
MAX_COLUMNS = 20_000
MAX_NAME = 60
MAX_NAMES = 200_000
"""Groups, users or GPUs of a file."""
BLOCK_ROWS = 500
"""Rows read together: with many more lists, Python's garbage collector scans all of them again and again."""
NO_GROUP = "no group"
SHOWN_COLUMNS = 40
SHOWN_REASONS = 3

COLUMNS: dict[str, dict[str, tuple[str, ...]]] = {}
"""Format -> value -> names of the column by which it is recognised, the first one first."""
for _row in own_rows("words/trace_columns"):
    COLUMNS.setdefault(_row["format"], {})[_row["what"]] = tuple(_row["names"].split())


@dataclass(slots=True)
class _Left:
    """Rows left out for one reason."""

    reason: str
    fault: bool
    """True if the file is at fault, False if the row merely contains no data."""
    rows: int
    first: tuple[int, int]
    """Line, and position among the rows read."""
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

    def count(self, reason: str) -> int:
        """Return the rows left out for a reason that is no fault."""
        entry = self.left.get((reason, False))
        return entry.rows if entry else 0

    def reading(
        self, format: str, used: int, columns: Mapping[str, str], notes: Mapping[str, object]
    ) -> Reading:
        """Return what could be read from the file, with the notes that apply."""
        left = sorted(self.left.values(), key=lambda e: (-e.rows, e.first[0], not e.fault, e.first))
        return Reading(
            format=format,
            rows=self.rows,
            used=used,
            skipped=tuple(Skipped(e.reason, e.rows, e.first[0], e.example) for e in left),
            notes=tuple(note for note, so in {**notes, **self.clock.notes()}.items() if so),
            columns=columns,
            time_zone=self.clock.zone.key,
        )

    def check(self, used: int, what: str) -> None:
        """Refuse a file of which more than half is bad, or nothing is left."""
        if not self.rows:
            raise refusal("the file has a header and no rows")
        bad = sum(entry.rows for entry in self.left.values() if entry.fault)
        if used and 2 * bad <= self.rows:
            return
        worst = [entry for entry in self.left.values() if entry.fault or 2 * bad <= self.rows]
        worst.sort(key=lambda e: (-e.rows, e.fault, e.first))
        first = (
            f"{bad} of {self.rows} rows cannot be read" if bad else f"none of {self.rows} rows holds {what}"
        )
        raise TraceError(
            Problem("", "", first),
            *(
                Problem(f"line {e.first[0]}", e.example, f"{e.reason} ({e.rows} rows)")
                for e in worst[:SHOWN_REASONS]
            ),
        )


class Rows:
    """Rows read together; each value that is read leaves out the rows in which it cannot be."""

    def __init__(self, log: Log, lines: Sequence[int], columns: Mapping[str, Sequence[str]]) -> None:
        self.columns = columns
        self.kept = np.ones(len(lines), dtype=bool)
        """The rows that are still in."""
        self._log, self._lines = log, lines
        log.rows += len(lines)
        if log.rows > MAX_ROWS:
            raise refusal(f"more than {MAX_ROWS} samples: read a part of the period")

    def rest(self) -> Rows:
        """Return only the rows that are still included, where that saves most of the work on the others."""
        if self.kept.all():
            return self
        kept = self.kept.tolist()
        lines = list(compress(self._lines, kept))
        columns = {key: list(compress(column, kept)) for key, column in self.columns.items()}
        self._log.rows -= len(lines)  # they are counted again
        return Rows(self._log, lines, columns)

    def texts(self, key: str) -> Iterable[str]:
        """Return a column of the rows that are still included."""
        return self.columns[key] if self.kept.all() else compress(self.columns[key], self.kept.tolist())

    def leave_out(
        self,
        which: np.ndarray | Sequence[bool],
        reason: str,
        examples: Sequence[str] | None = None,
        *,
        fault: bool = False,
    ) -> None:
        """Leave out those of the rows that are still included."""
        out = self.kept & np.asarray(which, dtype=bool)
        if out.any():
            first = int(out.argmax())
            place = (self._lines[first], first)
            self._log.add(reason, int(out.sum()), place, examples[first] if examples else "", fault=fault)
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
        wrong: dict[tuple[str, bool], dict[str, str]] = {}
        for text in set(self.texts(key)):
            try:
                parse(text)
            except BadValue as bad:
                fault = bool(what) or not is_missing(bad.value)
                reason = f"{what or key} {bad.reason}" if fault else f"{key} is not known"
                wrong.setdefault((reason, fault), {})[text] = bad.value
        column = self.columns[key]
        for (reason, fault), shown in wrong.items():
            examples = [shown.get(text, "") for text in column]
            self.leave_out([text in shown for text in column], reason, examples, fault=fault)

    def time(self, key: str, what: str = "", *, missing_s: float | None = None) -> np.ndarray:
        """Return times of a column in seconds since 1970, UTC; ``missing_s`` where none is stated, if permitted."""
        clock = self._log.clock
        if missing_s is None:
            times = self.read(key, clock, what)
        else:
            times = self.read(key, lambda text: missing_s if is_missing(text) else clock(text), what)
        clock.count(self.texts(key))
        return times


class Names(dict[str, int]):
    """Codes for names, each cut to the length that a table can show; two that look the same then stay apart."""

    def __init__(self) -> None:
        super().__init__()
        self.shown: dict[str, None] = {}
        self.alike: dict[str, int] = {}

    def __missing__(self, text: str) -> int:
        if text != text.strip():
            self[text] = self[text.strip()]
            return self[text]
        code = self[text] = len(self.shown)
        if code >= MAX_NAMES:
            raise refusal(
                f"a column of names holds {MAX_NAMES} different ones or more: name the columns by hand if it is none"
            )
        name = one_line(text[: 2 * MAX_NAME] or NO_GROUP)
        shown = name[:MAX_NAME]
        n = self.alike.get(shown, 1)
        while shown in self.shown:
            n += 1
            shown = f"{name[: MAX_NAME - len(str(n)) - 1]}~{n}"
        self.alike[name[:MAX_NAME]] = n
        self.shown[shown] = None
        return code

    def codes(self, texts: Iterable[str]) -> list[int]:
        """Return the code of each name, in the order of first occurrence."""
        return [self[text] for text in texts]


class Collected:
    """Columns of the rows that are used, put together block by block."""

    def __init__(self, **kinds: str) -> None:
        self._columns = {name: array(kind) for name, kind in kinds.items()}

    def __len__(self) -> int:
        return min(map(len, self._columns.values()))

    def __getitem__(self, name: str) -> np.ndarray:
        column = self._columns[name]
        return np.frombuffer(column, dtype=np.dtype(column.typecode))

    def add(self, **values: np.ndarray | Sequence[float]) -> None:
        """Append to each column."""
        for name, part in values.items():
            column = self._columns[name]
            column.frombytes(np.asarray(part, dtype=np.dtype(column.typecode)).tobytes())


def _norm(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")


def _without_unit(name: str) -> tuple[str, float]:
    stem, _, unit = name.rpartition("_")
    return (stem, UNIT_S[unit]) if stem and unit in UNIT_S else (name, 1.0)


class Table:
    """A CSV with its header, its delimiter and the recognised columns."""

    def __init__(self, text: io.TextIOWrapper) -> None:
        self._lines = Lines(text)
        lines = iter(self._lines)
        self._blank = 0
        while not (first := next(lines)).strip():
            self._blank += 1
        self.delimiter = max(",;\t|", key=first.count)
        self._reader = csv.reader(chain([first], lines), delimiter=self.delimiter, skipinitialspace=True)
        self.header = [name.strip() for name in next(self._reader)]
        if self.header and not self.header[-1]:
            self.header.pop()
        if len(self.header) > MAX_COLUMNS:
            raise refusal(
                f"more than the {MAX_COLUMNS} that are read",
                where="line 1",
                value=f"{len(self.header)} columns",
            )
        self.names = [_norm(name) for name in self.header]
        if len(self.header) < 2:
            raise refusal(
                "no delimiter found: expected a header whose columns are divided by comma, semicolon, tab or |",
                where="line 1",
                value=show(first.strip()),
            )

    def blocks(self, log: Log) -> Iterator[tuple[list[int], list[list[str]]]]:
        """Lines and cells of the rows that have as many cells as the header, a block at a time.

        A last empty cell, as ``sacct --parsable`` writes it, does no harm.
        """
        width = len(self.header)
        rows = 0
        lines: list[int] = []
        cells: list[list[str]] = []
        piece = self._lines.pieces
        for row in self._reader:
            line = self._reader.line_num + self._blank
            if len(cells) >= BLOCK_ROWS or (piece != self._lines.pieces and cells):
                yield lines, cells
                lines, cells, piece = [], [], self._lines.pieces
            if not row:
                if self._reader.line_num > 2 * MAX_ROWS:
                    raise refusal("the file is mostly empty lines", where=f"line {line}")
                continue
            if len(row) == width + 1 and not row[-1].strip():
                row.pop()
            if len(row) == width:
                lines.append(line)
                cells.append(row)
            else:
                log.rows += 1
                reason = f"has not the {width} cells of the header"
                log.add(reason, 1, (line, 0), self.delimiter.join(row), fault=True)
            rows += 1
            if rows >= MAX_ROWS:
                raise refusal(f"{MAX_ROWS} rows or more: read a part of the period", where=f"line {line}")
        if cells:
            yield lines, cells

    def rows(self, at: Mapping[str, int], log: Log, *, header_again: str = "") -> Iterator[Rows]:
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
            Problem(f"columns.{key}", show(name), f"no such column; there are {self.listed()}")
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

    def unit_s(self, place: int) -> float:
        """Return the seconds of the unit at the end of a column's name, else 1."""
        return _without_unit(self.names[place])[1]

    def columns(self, at: Mapping[str, int]) -> dict[str, str]:
        """Return value -> name of the column that contains it."""
        return {key: self.header[place] for key, place in at.items()}

    def listed(self) -> str:
        """List the first columns of the file by their names."""
        return ", ".join(show(name) for name in self.header[:SHOWN_COLUMNS])

    def missing(self, format: str, needs: str) -> TraceError:
        """Return the refusal of a file in which a column is missing."""
        return refusal(f"format {format} needs {needs}", where="line 1", value=self.listed())


def unknown_keys(given: Mapping[str, str], known: Iterable[str]) -> list[Problem]:
    """Return problems of columns named by hand for values that are not read."""
    message = "not read here; known are " + ", ".join(known)
    return [Problem(f"columns.{key}", show(key), message) for key in given if key not in known]
