"""A sheet in progress: rows as high as their texts need, all cells but inputs protected, printed on whole pages."""

import math
import re
import unicodedata
from bisect import bisect
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from gpuplan.deliver.xlsx.cells import KINDS, NUMBERS, SIZE, Editable, Live, Styles, limits, plain
from gpuplan.facts import own_specs

FORMULA_STARTS = ("=", "+", "-", "@")
INDENTED = ("text", "head")
"""Kinds of cells that keep a distance from a number to their left."""
HIGHEST = 400.0
"""Most points of a row; a spreadsheet allows 409."""
LINE, MARGIN = 1.32, 2.5
"""Height of a line as a multiple of its font size, and the margin of a row's lines, in points."""
WIDTHS: Mapping[str, float] = {
    letter: width
    for letters, width in own_specs("gpuplan.deliver.xlsx", "letters").items()
    for letter in letters
}
"""Letters and their width in the widest of Calibri, Arial and DejaVu Sans, in digits of the same font."""
BOLD = 1.08
BREAKS = re.compile("(?<=[/?&=_-])")
"""Characters after which a word longer than a line may be broken; some programs break it anywhere."""
EMPTY = 8.43
INSET = {"align": "left", "indent": 1}
INDENT = 1.3
"""Width that an indent takes from a text."""
NOTES = 110.0
PRINTED = 152.0
"""Width of a landscape page at 8 points or more."""
ALLOWED = {"autofilter": True, "sort": True, "format_columns": True, "format_rows": True, "objects": True}
"""Actions that a reader may take on a protected sheet."""


@lru_cache(maxsize=2048)
def _letter(letter: str) -> float:
    """Width of a letter; there are few different ones in a workbook."""
    if unicodedata.combining(letter) or unicodedata.category(letter) in ("Mn", "Me", "Cf"):
        return 0.0
    if unicodedata.east_asian_width(letter) in "WF" or ord(letter) > 0xFFFF:
        return 2.1
    return WIDTHS.get(letter, 1.35)


def wide(text: str, *, size: float = SIZE, bold: bool = False) -> float:
    """Return the width of a text on one line."""
    return sum(map(_letter, text)) * size / SIZE * (BOLD if bold else 1)


def widest_word(text: str, *, bold: bool = False) -> float:
    """Return the width of the longest word, which a narrower column would break."""
    return max((wide(word, bold=bold) for word in text.split()), default=0.0)


def lines(text: str, width: float, *, size: float = SIZE, bold: bool = False) -> int:
    """Count the lines of a text in a column of a width; a word longer than a line is broken."""
    room, count = width / (size / SIZE * (BOLD if bold else 1)), 0
    for paragraph in text.split("\n"):
        count += 1
        at = 0.0
        for word in paragraph.split(" "):
            long = sum(map(_letter, word))
            needed = long if not at else at + _letter(" ") + long
            if needed <= room:
                at = needed
                continue
            count += bool(at)
            more, at = _broken(word, room) if long > room else (0, long)
            count += more
    return count


def _broken(word: str, room: float) -> tuple[int, float]:
    """(lines that a long word takes beyond its first, how full the last one is)."""
    count, at = 0, 0.0
    for part in BREAKS.split(word):
        long = sum(map(_letter, part))
        if at and at + long > room:
            count, at = count + 1, 0.0
        at += long
        while at > room:
            count, at = count + 1, at - room
    return count, at


def shown(text: str, width: float, *, size: float = SIZE, bold: bool = False) -> str:
    """Return the text, or as much as the highest row shows, with an ellipsis."""
    most = int((HIGHEST - MARGIN) / (size * LINE))
    if len(text) <= most * width / 3 and lines(text, width, size=size, bold=bold) <= most:
        return text
    ends = range(1, len(text) + 1)
    end = bisect(ends, False, key=lambda n: lines(text[:n] + "…", width, size=size, bold=bold) > most)
    return text if end == len(text) else text[:end].rstrip() + "…"


def middle_cut(text: str, width: float) -> str:
    """The text, or its beginning and its end with an ellipsis between them, on one line so wide."""
    if wide(text) <= width:
        return text
    kept = len(text)
    while kept > 2 and wide(_ends(text, kept)) > width:
        kept -= 1
    return _ends(text, kept)


def _ends(text: str, kept: int) -> str:
    """Return ``kept`` letters of a text, from its beginning and its end."""
    return f"{text[: (kept + 1) // 2].rstrip()}…{text[len(text) - kept // 2 :].lstrip()}"


def height(count: int, size: float = SIZE) -> float:
    """Return the height of a row with ``count`` lines, in points."""
    return min(HIGHEST, round(4 * (count * size * LINE + MARGIN)) / 4)


def fitted(needs: Iterable[tuple[float, float]], room: float) -> list[float]:
    """Widths of columns, given the least and the natural one of each: none is narrowed more than the room for all asks for."""
    columns = [(least, max(least, natural)) for least, natural in needs]
    cap = max((natural for _, natural in columns), default=0.0)

    def at(cap: float) -> list[float]:
        return [max(least, min(natural, cap)) for least, natural in columns]

    while cap > 1 and sum(at(cap)) > room:
        cap -= 1
    widths = at(cap)
    left = room - sum(widths)
    for n, (_, natural) in sorted(enumerate(columns), key=lambda column: -column[1][1]):
        more = max(0.0, min(left, natural - widths[n]))
        widths[n], left = widths[n] + more, left - more
    return widths


class Page:
    """A sheet with columns of these widths."""

    def __init__(self, sheet: Any, styles: Styles, widths: Sequence[float]) -> None:
        self.sheet, self._styles = sheet, styles
        self.widths = [math.ceil(4 * width) / 4 for width in widths]
        self._heights: dict[int, float] = {}
        for col, width in enumerate(self.widths):
            sheet.set_column(col, col, width)

    def width(self, first: int, last: int) -> float:
        """Width of some columns together."""
        return sum(self.widths[col] if col < len(self.widths) else EMPTY for col in range(first, last + 1))

    def put(
        self,
        row: int,
        col: int,
        value: Any,
        kind: str = "text",
        *,
        last: int | None = None,
        bold: bool = False,
        **look: Any,
    ) -> None:
        """Write a cell, or one as far as the ``last`` column: text is never a formula, a number has the format of its kind or size."""
        content, real = plain(value, kind)
        inset = INSET if col and last is None and real in INDENTED else {}
        last = col if last is None else last
        if isinstance(content, str):
            content = self._fitting(row, content, self.width(col, last) - INDENT * bool(inset), kind, bold)
        if last > col:
            self.sheet.merge_range(row, col, row, last, "", self._styles.of(real, bold=bold, **look))
        self._write(row, col, value, content, real, bold, look | inset)

    def note(self, row: int, text: str, kind: str = "note") -> None:
        """Write a text over as many columns as are read in one glance; nothing without a text."""
        if text:
            last = 0
            while self.width(0, last + 1) <= max(NOTES, self.widths[0]):
                last += 1
            self.put(row, 0, text, kind, last=last)

    def high(self, row: int, points: float) -> None:
        """Make a row at least as high as given."""
        self._heights[row] = max(points, self._heights.get(row, 0.0))

    def close(self) -> None:
        """Set the heights of the rows, and protect all cells but inputs."""
        for row, points in sorted(self._heights.items()):
            self.sheet.set_row(row, points)
        self.sheet.protect("", ALLOWED)

    def print_columns(self, count: int) -> None:
        """Print only the first columns; the others are beside the printed page."""
        if count < len(self.widths):
            self.sheet.print_area(0, 0, max(self._heights), count - 1)

    def _fitting(self, row: int, text: str, width: float, kind: str, bold: bool) -> str:
        """The text, shortened to what the highest row shows, and the row made high enough for it."""
        size, bold = float(KINDS[kind].get("font_size", SIZE)), bold or bool(KINDS[kind].get("bold"))
        text = shown(text, width, size=size, bold=bold)
        self.high(row, height(lines(text, width, size=size, bold=bold), size))
        return text

    def _write(
        self, row: int, col: int, value: Any, held: Any, kind: str, bold: bool, look: dict[str, Any]
    ) -> None:
        if tinted := isinstance(value, Editable):
            self.sheet.data_validation(row, col, row, col, limits(value))
        live, text = isinstance(value, Live), isinstance(held, str)
        quoted = text and not live and held.startswith(FORMULA_STARTS)
        right = text and kind in NUMBERS and bool(held or live)
        style = self._styles.of(kind, bold=bold, tinted=tinted, quoted=quoted, right=right, **look)
        if live:
            self.sheet.write_formula(row, col, f"={value.formula}", style, held)
        elif text and held:
            self.sheet.write_string(row, col, held, style)
        else:
            self.sheet.write(row, col, None if text else held, style)
