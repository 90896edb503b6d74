"""Workbooks (XLSX) from outside, sheet by sheet as rows of text: what a cell shows last is read, and no formula is computed."""

import re
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import IO, Any, BinaryIO
from xml.etree import ElementTree
from zipfile import BadZipFile, ZipFile

from gpuplan.audit.files import FREE_BYTES, MAX_RATIO
from gpuplan.audit.trace import refusal

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
        links = self._items("Relationship", "_rels/workbook.xml.rels")
        targets = {link.get("Id"): link.get("Target", "") for link in links}
        for sheet in self._items("sheet", "workbook"):
            link = next((value for key, value in sheet.items() if key.endswith("}id")), None)
            target = targets.get(link, "").removeprefix("/").removeprefix("xl/")
            if f"xl/{target}" in self._parts:
                yield sheet.get("name", ""), self._rows(target)

    def _rows(self, target: str) -> Iterator[list[str]]:
        cells = 0
        for row in self._items("row", target):
            values: list[str] = []
            for cell in row:
                at = _column(cell.get("r", ""), len(values))
                cells += 1
                if at >= MAX_COLUMNS or cells > MAX_CELLS:
                    raise refusal("audit.file.cells", columns=MAX_COLUMNS, cells=f"{MAX_CELLS:,}")
                values += [""] * (at - len(values))
                values.append(self._value(cell))
            yield values

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
