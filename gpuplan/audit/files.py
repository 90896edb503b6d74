"""Opening a file from outside, within limits that apply before memory is used: its text, packed with gzip or not.

Of a workbook (XLSX) each sheet as rows of text: what a cell shows last is read, and no formula is computed.
"""

import csv
import gzip
import io
import math
import re
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from statistics import mode
from typing import IO, Any, BinaryIO
from xml.etree import ElementTree
from zipfile import BadZipFile, ZipFile

from gpuplan.audit.trace import refusal

MAX_CHARACTERS = 2_000_000_000
MAX_LINE = 1_000_000
MAX_RATIO = 100
FREE_BYTES = 200_000
"""A packed file may unpack to a limited multiple of its size; a smaller one to as much as a file of this size."""

HEAD_BYTES = 4096
FIRST_LINES = 20
"""Lines among which the header of a table is, below those of a title."""
GZIP = b"\x1f\x8b"
UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")
KINDS = {
    b"PK": "audit.file.zip",
    b"PAR1": "audit.file.parquet",
    b"%PDF": "audit.file.pdf",
    b"\xd0\xcf\x11\xe0": "audit.file.old workbook",
    b"\x89PNG": "audit.file.picture",
    b"\xff\xd8\xff": "audit.file.picture",
    b"GIF8": "audit.file.picture",
    GZIP: "audit.file.gzip",
    b"BZh": "audit.file.bzip2",
    b"\xfd7zXZ": "audit.file.xz",
    b"\x28\xb5\x2f\xfd": "audit.file.zstd",
}
"""First bytes of files that are not text -> the key of their refusal."""


@contextmanager
def refusing() -> Iterator[None]:
    """Refuse a file that is found to be damaged while it is read."""
    try:
        yield
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise refusal("audit.file.packed", error=error) from error
    except csv.Error as error:
        raise refusal("audit.file.no csv", error=error) from error
    except RecursionError as error:
        raise refusal("audit.file.nested") from error


class _Counted(io.RawIOBase):
    """A stream that counts the bytes read from another one and leaves it open, until the limit is exceeded."""

    def __init__(self, below: Any, most: Callable[[], float]) -> None:
        self.below, self.most = below, most
        self.bytes = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        part = self.below.read(len(buffer))
        buffer[: len(part)] = part
        self.bytes += len(part)
        if self.bytes > self.most():
            raise refusal("audit.file.unpacks", most=MAX_RATIO)
        return len(part)


def open_text(file: BinaryIO) -> tuple[io.TextIOWrapper, str]:
    """Return the text of a file, and its beginning without white space."""
    raw = _Counted(file, lambda: math.inf)
    packed = io.BufferedReader(raw)
    head = packed.peek(HEAD_BYTES)[:HEAD_BYTES]
    if head.startswith(GZIP):
        unpacked = gzip.GzipFile(fileobj=packed)
        packed = io.BufferedReader(_Counted(unpacked, lambda: MAX_RATIO * max(raw.bytes, FREE_BYTES)))
        head = packed.peek(HEAD_BYTES)[:HEAD_BYTES]
    if kind := next((key for magic, key in KINDS.items() if head.startswith(magic)), ""):
        raise refusal(kind)
    encoding = "utf-16" if head.startswith(UTF16_MARKS) else "utf-8-sig"
    if b"\0" in head and encoding == "utf-8-sig":
        empty = [4 * head[at::2].count(0) > len(head) for at in (0, 1)]
        if empty[0] == empty[1]:
            raise refusal("audit.file.binary")
        encoding = "utf-16-be" if empty[0] else "utf-16-le"
    start = head.decode(encoding, errors="replace").lstrip()
    if not start:
        raise refusal("audit.file.empty")
    return io.TextIOWrapper(packed, encoding=encoding, errors="replace"), start


def header_of(lines: Sequence[str]) -> tuple[int, str]:
    """Return which of the first lines is the header of a table, below those of a title; and its delimiter."""
    numbers = [at for at, line in enumerate(lines) if line.strip()]
    for at in numbers[: FIRST_LINES // 2]:
        delimiter = max(",;\t|", key=lines[at].count)
        cells, *rows = (
            next(csv.reader([line.strip()], delimiter=delimiter)) for line in lines[at:] if line.strip()
        )
        if is_header(cells, rows):
            return at, delimiter
    return numbers[0], max(",;\t|", key=lines[numbers[0]].count)


def header_at(rows: Sequence[Sequence[str]]) -> int:
    """Return which of the rows of a sheet is its header, below those of a title."""
    first = rows[:FIRST_LINES]
    found = (
        at for at, row in enumerate(first[: FIRST_LINES // 2]) if is_header(row, filter(any, first[at + 1 :]))
    )
    return next(found, 0)


def titles_of(lines: Iterable[str]) -> list[str]:
    """Return the lines above a header that say something: neither empty nor ``sep=``, and no comments."""
    stripped = (line.strip(" ,;|\t\r\n") for line in lines)
    return [line for line in stripped if not re.match(r"$|#|sep=.?$", line, re.IGNORECASE)]


def is_header(cells: Sequence[str], rows: Iterable[Sequence[str]]) -> bool:
    """True if a row has as many cells as those below it usually have, or nearly: a line of a title has fewer."""
    count, *counts = (sum(bool(cell.strip()) for cell in row) for row in (cells, *rows))
    usual = mode(counts) if counts else 0
    return min(count, usual) >= 2 and 4 * count >= 3 * usual


class Lines:
    """The lines of a text, which is read in pieces of MAX_LINE characters; ``pieces`` says how many there were."""

    def __init__(self, text: io.TextIOBase) -> None:
        self.pieces = 0
        self._text = text

    def __iter__(self) -> Iterator[str]:
        size = 0
        rest = ""
        while piece := self._text.read(MAX_LINE):
            self.pieces += 1
            size += len(piece)
            if size > MAX_CHARACTERS:
                raise refusal("audit.file.long", most=MAX_CHARACTERS)
            first, *others = piece.split("\n")
            if not others and rest:
                raise refusal("audit.file.long line", most=MAX_LINE)
            rest += first
            if others:
                yield rest
                rest = others.pop()
                yield from others
        if rest:
            yield rest


MAX_BYTES = 500_000_000
"""Most bytes that a workbook may unpack to."""
MAX_COLUMNS = 16_384
"""Columns of a sheet, as in every program that writes such files."""
MAX_CELLS = 20_000_000
_DATES = {14, 15, 16, 17, 22}
"""Built-in formats of days and moments."""
_TIMES = {*range(18, 22), 45, 46, 47}
"""Built-in formats of times of the day and lengths of time."""


class Workbook:
    """The sheets of a workbook."""

    def __init__(self, file: BinaryIO) -> None:
        try:
            self._zip = ZipFile(file)
            self._parts = {part.filename: part for part in self._zip.infolist()}
        except (BadZipFile, OSError, ValueError, NotImplementedError) as error:
            raise refusal("audit.file.packed", error=error) from None
        if "xl/workbook.xml" not in self._parts:
            raise refusal("audit.file.zip")
        packed = sum(part.compress_size for part in self._parts.values())
        size = sum(part.file_size for part in self._parts.values())
        if size > min(MAX_BYTES, MAX_RATIO * max(packed, FREE_BYTES)):
            raise refusal("audit.file.unpacks", most=MAX_RATIO)
        self._texts = list(map(_text, self._items("si", "sharedStrings")))
        self._dates, self._times = self._timed()

    def _timed(self) -> tuple[set[str], set[str]]:
        """Return the styles of days and moments, and those of times of the day and lengths of time."""
        dates, times = {*_DATES}, {*_TIMES}
        for item in self._items("numFmt", "styles"):
            id, code = _format(item), item.get("formatCode", "")
            if re.search(r"[dy]", re.sub(r'".*?"|\[.*?\]|\\.', "", code)):
                dates.add(id)
            elif re.search(r"\[?[hs]+\]?:|:[ms]", code):
                times.add(id)
        cells = (style for styles in self._items("cellXfs", "styles") for style in styles)
        formats = {str(at): _format(style) for at, style in enumerate(cells)}
        moments = {style for style, id in formats.items() if id in dates}
        return moments, {style for style, id in formats.items() if id in times}

    def sheets(self) -> Iterator[tuple[str, Iterator[list[str]]]]:
        """Yield the name and the rows of each sheet with cells; what a row has left of its first cell is empty."""
        yield from ((name, (values for _, values in rows)) for name, rows in self.numbered())

    def numbered(self) -> Iterator[tuple[str, Iterator[tuple[int, list[str]]]]]:
        """Yield the same with the number of each row, as the sheet shows it."""
        links = self._items("Relationship", "_rels/workbook.xml.rels")
        targets = {link.get("Id"): link.get("Target", "") for link in links}
        for sheet in self._items("sheet", "workbook"):
            link = next((value for key, value in sheet.items() if key.endswith("}id")), None)
            target = targets.get(link, "").removeprefix("/").removeprefix("xl/")
            if f"xl/{target}" in self._parts:
                yield sheet.get("name", ""), self._rows(target)

    def _rows(self, target: str) -> Iterator[tuple[int, list[str]]]:
        cells = number = 0
        for row in self._items("row", target):
            values, at_row = list[str](), row.get("r", "")
            number = int(at_row) if re.fullmatch("[0-9]{1,7}", at_row) else number + 1
            for cell in row:
                at = _column(cell.get("r", ""), len(values))
                cells += 1
                if at >= MAX_COLUMNS or cells > MAX_CELLS:
                    raise refusal("audit.file.cells", columns=MAX_COLUMNS, cells=f"{MAX_CELLS:,}")
                values += [""] * (at - len(values))
                values.append(self._value(cell))
            yield number, values

    def _value(self, cell: Any) -> str:
        kind, value = cell.get("t", "n"), next(_named(cell, "v"), None)
        text = (value.text or "") if value is not None else ""
        if kind == "s":
            return self._texts[int(text)] if text.isdigit() and int(text) < len(self._texts) else ""
        if kind == "inlineStr":
            return _text(cell)
        if kind == "b":
            return "True" if text == "1" else "False"
        style = cell.get("s")
        timed = kind == "n" and style in self._dates | self._times
        if timed and re.fullmatch(r"\d{1,6}(\.\d+)?", text):
            if style in self._times or float(text) < 1:
                minutes, seconds = divmod(round(float(text) * 86400, 3), 60)
                return f"{minutes // 60:.0f}:{minutes % 60:02.0f}:{seconds:06.3f}".removesuffix(".000")
            return (datetime(1899, 12, 30) + timedelta(seconds=round(float(text) * 86400))).isoformat(" ")
        return text

    def _items(self, name: str, part: str) -> Iterator[Any]:
        """Yield the elements of a name in a part, one at a time."""
        path = f"xl/{part}" if "." in part else f"xl/{part}.xml"
        if path not in self._parts:
            return
        try:
            with self._zip.open(path) as file:
                for _, element in ElementTree.iterparse(_Plain(file)):
                    if element.tag.rpartition("}")[2] == name:
                        yield element
                        element.clear()
        except (ElementTree.ParseError, BadZipFile, OSError, RuntimeError, NotImplementedError) as error:
            raise refusal("audit.file.packed", error=error) from None


class _Plain:
    """A part of a workbook, without declarations of a document type: no program writes them, and entities can grow."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file, self._end = file, b""

    def read(self, size: int = -1) -> bytes:
        part = self._file.read(size)
        if re.search(rb"<!(DOCTYPE|ENTITY)", (self._end + part).replace(b"\0", b"")):
            raise refusal("audit.file.entities")
        self._end = part[-20:]
        return part


def _format(element: Any) -> int:
    """Number of the format that an element names, 0 for none."""
    number = element.get("numFmtId", "")
    return int(number) if re.fullmatch(r"\d{1,9}", number) else 0


def _named(element: Any, name: str) -> Iterator[Any]:
    return (part for part in element.iter() if part.tag.rpartition("}")[2] == name)


def _text(element: Any) -> str:
    return "".join(part.text or "" for part in _named(element, "t"))


def _column(reference: str, otherwise: int) -> int:
    """Number from 0 of the column of ``C7``; the next one where a cell has no reference."""
    letters = re.match(r"[A-Z]{1,7}", reference)
    if letters is None:
        return otherwise
    at = 0
    for letter in letters[0]:
        at = 26 * at + ord(letter) - 64
    return at - 1
