"""Tables of a trace: columns by their names, rows a block at a time, and an account of what is left out and why."""

import csv
import io
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain, compress, islice
from typing import Any, Self

import numpy as np

from gpuplan.audit.columns import Column, Known, given_column, holds_names, stem_of, timed
from gpuplan.audit.files import FIRST_LINES, Lines, header_of, titles_of
from gpuplan.audit.trace import Reading, Skipped, TraceError, refusal
from gpuplan.audit.values import DATE, SLASHED, THOUSANDS, UNITS, BadValue, Clock, Unit, is_missing, turned
from gpuplan.scenario import Problem, show
from gpuplan.wording import said

MAX_ROWS = 20_000_000
MAX_COLUMNS = 20_000
HEAD_ROWS = 100
"""First rows, by whose values columns are recognised."""
BLOCK_ROWS = 500
"""Rows read together: with many more lists, Python's garbage collector scans all of them again and again."""
MOST_AHEAD = 200_000
"""Rows that are looked at for a date that tells day and month apart."""
COUNTS = {"requests", "tokens_in", "tokens_out", "times", "nodes", "tasks"}
ORDERS = ("dmy", "mdy")
"""Names of the units of dates: which of day and month is first."""
DOTTED = re.compile(r"\d{1,3}(?:\.\d{3})*")
SHOWN_COLUMNS = 40
SHOWN_REASONS = 3


Cells = Sequence[list[str]]
Numbered = Iterable[tuple[int, list[str]]]
"""Number of the line, and cells, of each row."""


class Log:
    """Counter of rows, and of those left out."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.rows = 0
        self.left: dict[tuple[str, bool], Skipped] = {}
        """By the reason, and whether the file is at fault or the row merely contains no data."""
        self.latest_s = 0.0
        """Latest time read."""
        self.columns: Mapping[str, Column] = {}
        self.notes: tuple[str, ...] = ()
        self.weighed = False

    def add(
        self,
        why: tuple[str, bool],
        rows: int,
        line: int = 0,
        example: str | None = None,
        gpu_h: float = 0.0,
        unknown: int = 0,
    ) -> None:
        """Leave out some rows; of those left out for the same reason the first stay the example."""
        old = self.left.get(why) or Skipped(why[0], 0, line, "" if example is None else show(example))
        self.left[why] = old._replace(
            rows=old.rows + rows, gpu_h=old.gpu_h + gpu_h, unknown=old.unknown + unknown
        )

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
        left = sorted(self.left.items(), key=lambda of: (-of[1].rows, of[1].first_line, not of[0][1]))
        zone, all_notes = self.clock.zone.key, {**notes, **self.clock.notes()}
        return Reading(
            format=format,
            rows=self.rows,
            used=used,
            skipped=tuple(entry._replace(unknown=entry.unknown * self.weighed) for _, entry in left),
            notes=(*self.notes, *(said(key, n=n, zone=zone, **values) for key, n in all_notes.items() if n)),
            columns=columns,
            time_zone=zone,
            units=self.columns,
        )

    def check(self, used: int, none: str) -> None:
        """Refuse a file of which more than half is bad, or nothing is left: then by the key of ``none``."""
        if not self.rows:
            raise refusal("audit.no rows")
        bad = sum(entry.rows for (_, fault), entry in self.left.items() if fault)
        if used and 2 * bad <= self.rows:
            return
        worst = [of for of in self.left.items() if of[0][1] or 2 * bad <= self.rows]
        worst.sort(key=lambda of: (-of[1].rows, of[0][1], of[1].first_line))
        raise TraceError(
            Problem("", "", said("audit.bad rows" if bad else none, bad=bad, rows=self.rows)),
            *(
                Problem(f"line {entry.first_line}", entry.example, f"{entry.reason} ({entry.rows} rows)")
                for _, entry in worst[:SHOWN_REASONS]
            ),
        )


def _since_1970(texts: Iterable[str]) -> np.ndarray | None:
    """Return seconds since 1970 where all texts are such: at once, in a third of the time."""
    try:
        numbers = np.array([*texts], dtype=float)
    except ValueError:
        return None
    return numbers if len(numbers) and numbers.min() >= 1e8 and numbers.max() < Clock.LATEST_S else None


class Rows:
    """Rows read together; each value that is read leaves out the rows in which it cannot be."""

    def __init__(
        self, log: Log, lines: Sequence[int], columns: Mapping[str, Sequence[str]], cells: Cells = ()
    ) -> None:
        self.columns, self.lines, self.cells = columns, lines, cells
        self.kept = np.ones(len(lines), dtype=bool)
        self.left: list[tuple[tuple[str, bool], np.ndarray]] = []
        """Reason for which rows were left out, and these rows; without those that did not run."""
        self._log = log
        log.rows += len(lines)
        if log.rows > MAX_ROWS:
            raise refusal("audit.too many samples", most=MAX_ROWS)

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
        void: bool = False,
        **values: object,
    ) -> None:
        """Leave out those of the rows that are still included, for the reason with this key; ``void`` did not run."""
        out = self.kept & np.asarray(which, dtype=bool)
        if out.any():
            first = int(out.argmax())
            why = said(key, **values), fault
            self._log.add(why, int(out.sum()), self.lines[first], examples[first] if examples else "")
            self.kept &= ~out
            if not void:
                self.left.append((why, out))

    def hashes(self, *keys: str) -> list[int]:
        """Return a hash of each row's cells in those of the columns that there are."""
        columns = [self.columns[key] for key in keys if key in self.columns]
        return list(map(hash, zip(*columns, strict=True)))

    def unit(self, key: str) -> float:
        """Return the factor of the unit of a column, 1 where none is stated."""
        column = self._log.columns.get(key)
        return column.unit.factor if column and column.unit else 1.0

    def weigh(self, gpu_h: np.ndarray) -> None:
        """Count the GPU-hours of the rows left out; not a number where they are not known."""
        self._log.weighed = True
        for why, out in self.left:
            unknown = int(np.isnan(gpu_h[out]).sum())
            self._log.add(why, 0, gpu_h=float(np.nansum(gpu_h[out])), unknown=unknown)

    def read(
        self, key: str, parse: Callable[[str], float], what: str = "", *, missing: float | None = None
    ) -> np.ndarray:
        """Return the numbers of a column; a missing one is ``missing``, else no fault unless ``what`` is to be said."""
        values = np.full(len(self.kept), np.nan)
        try:
            values[self.kept] = np.fromiter(map(parse, self.texts(key)), float)
        except BadValue:
            if missing is not None:
                return self.read(key, lambda text: missing if is_missing(text) else parse(text), what)
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
            values: dict[str, Any] = {"what": what or key, **next(iter(bad_values.values())).values}
            self.leave_out([text in bad_values for text in column], reason, examples, fault=fault, **values)

    def time(
        self, key: str, what: str = "", *, missing_s: float | None = None, else_s: float | None = None
    ) -> np.ndarray:
        """Return times of a column in seconds since 1970, UTC; ``missing_s`` where none is stated, if permitted.

        With ``else_s`` no row is left out, and this is the time of those that cannot be read.
        """
        clock, unit_s = self._log.clock, self.unit(key)
        parse = clock if unit_s == 1 else partial(clock, unit_s=unit_s)
        if else_s is not None:
            return self.read(key, partial(_tried, parse, else_s))
        if unit_s == 1 and (known := _since_1970(self.texts(key))) is not None:
            clock.relative, times = False, np.full(len(self.kept), np.nan)
            times[self.kept] = known
        else:
            times = self.read(key, parse, what, missing=missing_s)
        clock.count(self.texts(key))
        self._log.latest_s = float(times.max(initial=self._log.latest_s, where=np.isfinite(times)))
        return times


def _tried(parse: Callable[[str], float], otherwise: float, text: str) -> float:
    try:
        return parse(text)
    except BadValue:
        return otherwise


class Table:
    """Rows of text under a header, and the recognised columns: a format gives the header and its rows."""

    def __init__(self, header: Sequence[str], rows: Numbered, lines: Lines | None = None) -> None:
        """Take names of columns, and rows as (number of the line in the file, cells); ``lines`` is read for them."""
        self.header = [name.strip() for name in header]
        self.again = list[int]()
        """Lines that repeat the header, as a file made of several has them."""
        self.titles: Sequence[str] = ()
        """Lines above the header."""
        self.delimiter = ","
        self._lines = lines or Lines(io.StringIO())
        if self.header and not self.header[-1]:
            self.header.pop()
        if len(self.header) > MAX_COLUMNS:
            columns = said("audit.columns", n=len(self.header))
            raise refusal("audit.too many columns", where="line 1", value=columns, most=MAX_COLUMNS)
        self.names = [re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_") for name in self.header]
        self._stems: dict[str, list[tuple[str, Unit | None]]] = {}
        self.read: dict[str, Column] = {}
        """Value -> the column in which it is, as found last."""
        self.notes: tuple[str, ...] = ()
        self._ordered: Unit | None = None
        self._others = self._without_headers(rows, "".join(header[:1]))
        self._head = list(islice(self._others, HEAD_ROWS))
        self._ahead = list[tuple[int, list[str]]]()
        self._rows = chain(self._head, self._ahead, self._others)

    @classmethod
    def of_text(cls, text: io.TextIOWrapper) -> Self:
        """Return the table of a CSV, divided by whichever delimiter is most frequent in its header."""
        source = Lines(text)
        lines = iter(source)
        first = list(islice(lines, FIRST_LINES))
        above, delimiter = header_of(first)
        reader = csv.reader(chain(first[above:], lines), delimiter=delimiter, skipinitialspace=True)
        header = next(reader)
        rows = _closed(reader, delimiter, len(header), above)
        table = cls(header, rows, source)
        table.delimiter, table.titles = delimiter, titles_of(first[:above])
        if len(table.header) < 2:
            raise refusal("audit.no delimiter", where="line 1", value=show(first[above].strip()))
        return table

    def _without_headers(self, rows: Numbered, first: str) -> Numbered:
        width = len(self.header)
        for line, row in rows:
            if row and row[0] == first and [*map(str.strip, row[:width])] == self.header:
                self.again.append(line)
            else:
                yield line, row

    def blocks(self, log: Log) -> Iterator[tuple[list[int], list[list[str]]]]:
        """Yield lines and cells of rows as long as the header, a block at a time; a last empty cell does no harm."""
        width, rows = len(self.header), 0
        lines, cells = list[int](), list[list[str]]()
        source, piece = self._lines, self._lines.pieces
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
                log.add(
                    (said("audit.row.cells", width=width), True), 1, line, self.delimiter.join(row), unknown=1
                )
            rows += 1
            if rows >= MAX_ROWS:
                raise refusal("audit.too many rows", where=f"line {line}", most=MAX_ROWS)
        if cells:
            yield lines, cells

    def below(self, header: Sequence[str]) -> "Table":
        """Return the table whose first row was taken as its header."""
        first = self.header + [""] * (len(header) - len(self.header))
        return Table(header, chain([(1, first)], self._rows), self._lines)

    def changed(self, header: Sequence[str], change: Callable[[list[str]], Iterable[list[str]]]) -> "Table":
        """Return a table with other columns, in which a row gives any number of rows; bad rows stay bad."""
        width = len(self.header)
        whole = ((line, row, [row, row[:width]][len(row) == width + 1]) for line, row in self._rows if row)
        rows = (
            (line, new)
            for line, row, cells in whole
            for new in (change(cells) if len(cells) == width else [["".join(row)]])
        )
        table = Table(header, rows, self._lines)
        table.delimiter, table.again = self.delimiter, self.again
        return table

    def dotted(self, at: Mapping[str, int]) -> set[str]:
        """Return the whole counts whose points divide thousands, as in ``1.000`` of a file divided by semicolons."""
        texts = {key: self.values(at[key]) for key in COUNTS & at.keys() if self.delimiter == ";"}
        points = {key for key, values in texts.items() if any("." in text for text in values)}
        return {key for key in points if all(map(DOTTED.fullmatch, texts[key]))}

    def rows(self, at: Mapping[str, int], log: Log) -> "Iterator[Rows]":
        """Yield the same with the columns to read."""
        log.columns, log.notes = {key: self.read[key] for key in at if key in self.read}, self.notes
        unread = [repr(name) for place, name in enumerate(self.header) if place not in at.values()]
        names = ", ".join(unread[:SHOWN_COLUMNS] + ["..."] * (len(unread) > SHOWN_COLUMNS))
        log.notes += (said("audit.columns unread", names=names),) if unread else ()
        dotted = self.dotted(at)
        if unclear := next((key for key, column in log.columns.items() if column.by == "unclear"), None):
            name, values = self.header[at[unclear]], self.values(at[unclear])
            raise refusal("audit.day or month", where=name, value=show(values[0]), column=f"{unclear}={name}")
        for lines, cells in self.blocks(log):
            yield Rows(log, lines, self._texts(at, cells, dotted), cells)

    def _texts(self, at: Mapping[str, int], cells: Cells, dotted: Iterable[str] = ()) -> dict[str, list[str]]:
        """Return the columns to read, with dates as ISO writes them and numbers without signs between thousands."""
        columns = {key: [row[place] for row in cells] for key, place in at.items()}
        for key in dotted:
            columns[key] = [text.replace(".", "") for text in columns[key]]
        for key, texts in columns.items() if self.delimiter == "," else ():
            if "," in "".join(texts):
                columns[key] = [t.replace(",", "") if THOUSANDS.fullmatch(t) else t for t in texts]
        for key in at.keys() & self.read.keys():
            unit = self.read[key].unit
            if unit and unit.name in ORDERS:
                columns[key] = [turned(text, day_first=unit.name == "dmy") for text in columns[key]]
        return columns

    def find(self, known: Mapping[str, Known], given: Mapping[str, str]) -> dict[str, int]:
        """Return the column of each value: as given, else by its names however spelled; and keep its unit by both.

        What is given is a name, with its unit after a colon where the name states none or another; empty for none.
        """
        self.notes, self.read = (), {}
        problems = unknown_keys(given, known)
        for key in [key for key, text in given.items() if key in known and text]:
            if column := given_column(self.header, given[key], known[key]):
                self.read[key] = timed(column, self.values(column.place), known[key][1])
            else:
                message = said("audit.no such column", names=self.listed())
                problems.append(Problem(f"columns.{key}", show(given[key]), message))
        if problems:
            raise TraceError(*problems)
        for key, (names, holds) in known.items():
            if key not in given and (column := self._look_for(names, holds)):
                self.read[key] = timed(column, self.values(column.place), holds)
        self._order_dates(known)
        return {key: column.place for key, column in self.read.items()}

    def _order_dates(self, known: Mapping[str, Known]) -> None:
        """Find whether dates have the day or the month first, by the first value of any time that can be only one."""
        places = {key: column.place for key, column in self.read.items() if known[key][1] == "time"}
        units = {key: unit for key in places if (unit := self.read[key].unit) and unit.name in ORDERS}
        slashed = {key: at for key, at in places.items() if key not in units and self._has_slashed(at)}
        if slashed and not units and not self._ordered:
            self._ordered = self._first_order([*slashed.values()])
        unit = next(iter(units.values()), self._ordered)
        self.read |= {key: Column(at, unit, "order" if unit else "unclear") for key, at in slashed.items()}

    def _has_slashed(self, place: int) -> bool:
        """True if most of the first values of a column are dates with the year last."""
        texts = self.values(place)
        return 2 * sum(bool(SLASHED.match(text)) for text in texts) > len(texts)

    def _first_order(self, places: Sequence[int]) -> Unit | None:
        """Return the order of the first date that can have only one; rows that are read for it are kept."""
        for _, row in chain(self._head, self._read_ahead()):
            for text in (row[place] for place in places if place < len(row)):
                if (match := SLASHED.match(text.strip())) and (int(match[1]) > 12) != (int(match[3]) > 12):
                    return UNITS["time"]["dmy" if int(match[1]) > 12 else "mdy"]
        return None

    def _read_ahead(self) -> Numbered:
        """Yield rows after the first ones, which are kept: each format of a file may look for its times."""
        yield from self._ahead
        for row in islice(self._others, MOST_AHEAD - len(self._ahead)):
            self._ahead.append(row)
            yield row

    def _look_for(self, names: Iterable[str], holds: str) -> Column | None:
        """Return the first column of a name whose values may be what it says; note which group holds other values."""
        for name, _, word in (option.partition(":") for option in names):
            for place, unit in self._of_stem(*stem_of(name, holds), holds):
                texts = self.values(place)
                if holds == "name" and not holds_names(texts, name):
                    self.notes += (said("audit.note.not a group", name=show(self.header[place])),)
                elif name != "gpu" or holds != "gpus" or any(text[:1].isdigit() for text in texts):
                    return Column(place, UNITS[holds][word] if word else unit)
        return None

    def _of_stem(self, stem: str, stated: Unit | None, holds: str) -> list[tuple[int, Unit | None]]:
        """Return the columns that are not taken and have a stem, and the stated unit if there is one."""
        if holds not in self._stems:
            self._stems[holds] = [stem_of(name, holds) for name in self.header]
        taken = {column.place for column in self.read.values()}
        found = ((place, unit) for place, (other, unit) in enumerate(self._stems[holds]) if other == stem)
        return [(place, unit) for place, unit in found if place not in taken and stated in (None, unit)]

    def values(self, place: int) -> list[str]:
        """Return the first values of a column, without missing ones."""
        texts = (row[place] for _, row in self._head if len(row) > place)
        return [text.strip() for text in texts if not is_missing(text)]

    def dates_only(self, place: int) -> bool:
        """True if the times of a column are days without a time of day."""
        texts = self.values(place)
        return bool(texts) and all(DATE.fullmatch(text) or SLASHED.fullmatch(text) for text in texts)

    def first_rows(self, at: Mapping[str, int], clock: Clock) -> Rows:
        """Return the first rows, to compare columns with each other before all are read."""
        log = Log(Clock(clock.zone))
        log.columns = self.read
        rows = [row for _, row in self._head if len(row) == len(self.header)]
        return Rows(log, range(len(rows)), self._texts(at, rows))

    def columns(self, at: Mapping[str, int]) -> dict[str, str]:
        """Return value -> name of the column that contains it."""
        return {key: self.header[place] for key, place in at.items()}

    def listed(self) -> str:
        """List the first columns of the file by their names."""
        return ", ".join(show(name) for name in self.header[:SHOWN_COLUMNS])

    def missing(self, key: str, **values: object) -> TraceError:
        """Return the refusal of a file in which a column is missing."""
        return refusal(key, where="line 1", value=self.listed(), **values)


def _closed(reader: Any, delimiter: str, width: int, blank: int) -> Numbered:
    """Yield line and cells of each row; a quote that is never closed, and so holds rows of the file, is refused."""
    line = reader.line_num + blank
    for row in reader:
        begin, line = line + 1, reader.line_num + blank
        if line > begin:
            more = (
                len(row) - 1 + sum(cell.count(delimiter) for cell in row) - (line - begin + 1) * (width - 1)
            )
            if more == 0 or (more > 0 and len(row) != width):
                raise refusal("audit.open quote", where=f"line {begin}", value=show(row[0]))
        yield line, row


def unknown_keys(given: Mapping[str, str], known: Iterable[str]) -> list[Problem]:
    """Return problems of columns named by hand for values that are not read."""
    message = said("audit.not read here", names=", ".join(known))
    return [Problem(f"columns.{key}", show(key), message) for key in given if key not in known]
