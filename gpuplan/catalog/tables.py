"""Tables: CSV files checked line by line, and columns that define the content of their cells."""

import csv
import datetime
import io
import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from gpuplan.facts import Value, did_you_mean
from gpuplan.wording import NAMES, said

Cell = Value | tuple[str, ...] | None
"""A parsed cell: empty is None, a list of ids is a tuple."""

MAX_BYTES = 20_000_000
"""Largest file that is read. A catalog is small; anything bigger is a mistake."""

_CONTROL = re.compile("[\x00-\x1f\x7f\u2028\u2029]")
_T = TypeVar("_T")
NEEDS = NAMES["catalog cell"]
"""Type of a column -> what a cell holds, in words."""
RANGES = {
    (True, True): "catalog.from to",
    (True, False): "catalog.at least",
    (False, True): "catalog.at most",
}
"""(has a low end, has a high end) -> the key of a range in words."""


class CatalogError(ValueError):
    """A table that cannot be used, or something that is not in the catalog."""

    def __init__(self, message: str, *, file: str = "", row: int | None = None, column: str = "") -> None:
        self.file, self.row, self.column = file, row, column
        where = [file] if file else []
        where += [f"line {row}"] if row is not None else []
        where += [f"column {column}"] if column else []
        super().__init__(": ".join([", ".join(where), message] if where else [message]))


class NotAllowed(Exception):
    """An invalid cell; the message gives the allowed content."""


def short(text: str) -> str:
    """Return a text for a message: quoted, cut if long."""
    return repr(text if len(text) <= 60 else text[:57] + "...")


def pick(mapping: Mapping[str, _T], key: str, what: str) -> _T:
    """The value of a name; the error for another name gives the nearest."""
    try:
        return mapping[key]
    except KeyError:
        close = did_you_mean(key, mapping)
        raise CatalogError(said("catalog.nothing", what=what, key=short(key), close=close)) from None


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a file, whose errors give its position."""

    file: str
    number: int
    cells: tuple[str, ...]

    def error(self, column: str, message: str) -> CatalogError:
        """Return the error for a cell, or for the whole line."""
        return CatalogError(message, file=self.file, row=self.number, column=column)


def read_lines(path: Path, columns: tuple[str, ...]) -> list[Line]:
    """Lines of a CSV file, checked for size, encoding and header but not yet for content."""
    name = f"{path.parent.name}/{path.name}"
    lines = []
    for line in csv_lines(path, name):
        if any(map(_CONTROL.search, line.cells)):
            raise line.error("", said("catalog.control"))
        lines.append(line)
    _check_shape(name, lines, columns)
    return lines[1:]


def csv_lines(path: Path, name: str) -> Iterator[Line]:
    """Yield the lines of a CSV file that have any text; errors call it by a name."""
    reader = csv.reader(io.StringIO(text_of(path, name), newline=""), strict=True)
    try:
        for raw in reader:
            cells = tuple([cell.strip() for cell in raw])
            if any(cells):
                yield Line(name, reader.line_num, cells)
    except csv.Error as error:
        raise CatalogError(said("catalog.no CSV", error=error), file=name, row=reader.line_num) from None


def text_of(path: Path, name: str) -> str:
    """Text of a file, checked for size and encoding; errors call it by a name."""
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
        size = max(len(data), path.stat().st_size)
    except FileNotFoundError:
        raise CatalogError(said("catalog.no file"), file=name) from None
    except OSError as error:
        why = error.strerror or said("catalog.no reason")
        raise CatalogError(said("catalog.unreadable", why=why), file=name) from None
    if size > MAX_BYTES:
        raise CatalogError(said("catalog.bytes", size=f"{size:,}", most=f"{MAX_BYTES:,}"), file=name)
    if b"\0" in data:
        raise CatalogError(said("catalog.no text"), file=name)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        where = data.count(b"\n", 0, error.start) + 1
        raise CatalogError(said("catalog.no UTF-8"), file=name, row=where) from None


def _check_shape(name: str, lines: list[Line], columns: tuple[str, ...]) -> None:
    if not lines:
        raise CatalogError(said("catalog.empty", columns=",".join(columns)), file=name)
    header = lines[0].cells
    if header != columns:
        odd = [c for c in header if c not in columns] or [c for c in columns if c not in header]
        why = said("catalog.look at", column=short(odd[0])) if odd else ""
        why += said("catalog.commas") if len(header) == 1 else ""
        message = said("catalog.columns", columns=",".join(columns), why=why)
        raise CatalogError(message, file=name, row=lines[0].number)
    for line in lines:
        if len(line.cells) != len(columns):
            raise line.error("", said("catalog.cells", cells=len(line.cells), columns=len(columns)))


# ---- cells


def _matching(pattern: str, needs: str, convert: Callable[[str], _T]) -> Callable[[str], _T]:
    """Return a reader of cells of one form; NotAllowed says what it needs."""
    form = re.compile(pattern)

    def parse(text: str) -> _T:
        try:
            if form.fullmatch(text):
                return convert(text)
        except ValueError:
            pass
        raise NotAllowed(needs)

    return parse


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError
    return number


def _day(text: str) -> str:
    if len(text) == 10:
        datetime.date.fromisoformat(text)
    return text


def _parse_ids(text: str) -> tuple[str, ...]:
    return tuple(_parse_id(part.strip()) for part in text.split(";"))


_parse_id = _matching(r"[A-Za-z0-9][A-Za-z0-9._+/-]*", NEEDS["exact id"], str)
parse_number = _matching(
    r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,3})?", NEEDS["exact number"], _finite
)
_parse_date = _matching(r"[0-9]{4}(-(0[1-9]|1[0-2])(-(0[1-9]|[12][0-9]|3[01]))?)?", NEEDS["exact date"], _day)
TYPES: Mapping[str, Callable[[str], Cell]] = {
    "id": _parse_id,
    "text": str,
    "int": _matching(r"[+-]?[0-9]{1,15}", NEEDS["int"], int),
    "number": parse_number,
    "bool": _matching("true|false", NEEDS["bool"], lambda text: text == "true"),
    "date": _parse_date,
    "ids": _parse_ids,
}
"""Type of a column -> the reader of a cell."""


@dataclass(frozen=True, slots=True)
class Column:
    """Content allowed in a column, or in a parameter of a fact table."""

    name: str
    type: str
    unit: str
    """As in `gpuplan.units`; ``1`` for a count, empty for anything that is not a number."""
    min: float | None
    max: float | None
    allowed: tuple[str, ...]
    """The only texts allowed; empty where any is."""
    required: bool
    references: str
    """Table of the ids in the cell; ``any`` for ``table/id``."""
    description: str

    def parse(self, text: str) -> Cell:
        """Value of a cell; NotAllowed when it does not fit."""
        if not text:
            if self.required:
                raise NotAllowed(said("catalog.cell empty", needs=self.expects()))
            return None
        try:
            value = TYPES[self.type](text)
        except NotAllowed as error:
            raise NotAllowed(said("catalog.not allowed", value=short(text), needs=error)) from None
        if self.allowed and text not in self.allowed:
            raise NotAllowed(said("catalog.not allowed", value=short(text), needs=self.expects()))
        if isinstance(value, int | float) and not isinstance(value, bool):
            low, high = self.min, self.max
            if (low is not None and value < low) or (high is not None and value > high):
                raise NotAllowed(said("catalog.out of range", value=short(text), needs=self.expects()))
        return value

    def expects(self) -> str:
        """Allowed content of the column, in words."""
        if self.allowed:
            return said("catalog.one of", names=", ".join(self.allowed))
        what, ends = NEEDS[self.type], (self.min is not None, self.max is not None)
        low, high = (None if end is None else f"{end:g}" for end in (self.min, self.max))
        if any(ends):
            what = said(RANGES[ends], what=what, low=low, high=high)
        return what if self.unit in ("", "1") else said("catalog.in unit", what=what, unit=self.unit)
