"""Opening a file from outside: its text, packed with gzip or not, within limits that apply before memory is used."""

import csv
import gzip
import io
import math
import re
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from statistics import mode
from typing import Any, BinaryIO

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
