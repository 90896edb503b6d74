"""Size of text on a sheet: its width, its lines in a column, and the height of a row that shows it completely.

Widths are in digits of the normal font, as a spreadsheet measures its columns. Letters count as in the widest of the usual fonts,
so that a row is rather a little too high than too low.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from functools import lru_cache

SIZE = 10
"""Size of the normal font, in points."""
HIGHEST = 400.0
"""Most points of a row; a spreadsheet allows 409."""
LINE, MARGIN = 1.32, 2.5
"""Height of a line as a multiple of its font size, and the margin of a row's lines, in points."""
WIDTHS: Mapping[str, float] = {
    letter: width
    for letters, width in {
        "iljI.,'|:;![]` \u202f\u00a0": 0.5,
        'rtf()-/"*\u00b0\u2013J': 0.7,
        "ckvxyzs?": 0.93,
        "aeg0123456789_": 1.0,
        "bdhnopqu$#<>=+~^": 1.05,
        "AFLPSTXYZEB&": 1.2,
        "CDGHKNOQRUV": 1.32,
        "mw": 1.58,
        "MW@%\u2014\u2026": 1.8,
    }.items()
    for letter in letters
}
"""Letters and their width in the widest of Calibri, Arial and DejaVu Sans, in digits of the same font."""
BOLD = 1.08


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


BREAKS = re.compile("(?<=[/?&=_-])")
"""Characters after which a word longer than a line may be broken; some programs break it anywhere."""


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
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        fits = lines(text[:middle] + "…", width, size=size, bold=bold) <= most
        low, high = (middle, high) if fits else (low, middle - 1)
    return text if low == len(text) else text[:low].rstrip() + "…"


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
    found = at(cap)
    left = room - sum(found)
    for n, (_, natural) in sorted(enumerate(columns), key=lambda column: -column[1][1]):
        more = max(0.0, min(left, natural - found[n]))
        found[n], left = found[n] + more, left - more
    return found
