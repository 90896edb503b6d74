"""Size of text on a slide, and boxes in points; estimates are generous, whichever font a program has."""

from bisect import bisect
from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol, TypeVar

from gpuplan.deliver.html import one_line

POINT = 12_700
"""English Metric Units in a point."""
COVER, KEY, TITLE, LEAD, BODY, SMALL = 44, 34, 28, 20, 16, 14
"""The type scale of all slides, in points: nothing is smaller than the last."""
LINE_HEIGHT = 1.2
BOLD = 1.08
NARROW, LOOSE = 0.84, 0.88
"""Text width in the narrowest of the usual fonts relative to the widest; and in most of them."""
WIDE = {"verdana", "dejavu sans", "lucida sans", "lucida sans unicode", "century gothic", "courier new"}
INSET = 7.2
"""Margin at the left and right of a box and of a cell; half as much above and below."""


Thing = TypeVar("Thing")


def emu(points: float) -> int:
    """Return a length in the units of the file."""
    return round(points * POINT)


class Box(NamedTuple):
    """A place on a slide, in points."""

    left: float
    top: float
    width: float
    height: float

    @property
    def emu(self) -> tuple[int, int, int, int]:
        """Return the box in the units of the file."""
        ends = (self.left, self.top, self.left + self.width, self.top + self.height)
        left, top, right, bottom = map(emu, ends)
        return left, top, right - left, bottom - top

    def above(self, height: float) -> "Box":
        """Return its upper part."""
        return self._replace(height=height)

    def below(self, height: float) -> "Box":
        """Return the area under its upper part."""
        return self._replace(top=self.top + height, height=self.height - height)

    def down(self, height: float) -> "Box":
        """Return it at a lower place."""
        return self._replace(top=self.top + height)

    def right(self, width: float) -> "Box":
        """Return the area at the right of a part of a width."""
        return self._replace(left=self.left + width, width=self.width - width)

    def cell(self, at: int, across: int, width: float, height: float, gap: float) -> "Box":
        """Return a cell of a grid, which is filled row by row."""
        row, column = divmod(at, across)
        return Box(self.left + column * (width + gap), self.top + row * (height + gap), width, height)

    def sides(self, left: float, gap: float) -> "tuple[Box, Box]":
        """Return a part of a width at the left, and the rest right of a gap."""
        return self._replace(width=left), self.right(left + gap)


class Grid(Protocol):
    """Width of text in a deck, relative to the widest font: upper bound, and typical."""

    loose: float
    narrow: float


def box_of(shape: Any) -> Box:
    """Return the position and size of a shape."""
    return Box(*(length / POINT for length in (shape.left, shape.top, shape.width, shape.height)))


def text_width(text: str, size: float, *, bold: bool = False) -> float:
    """Width of a text in points, as in the widest of the usual fonts."""
    return size * sum(map(_character_width, text)) * (BOLD if bold else 1)


def _character_width(character: str) -> float:
    if ord(character) > 0x2E80:
        return 1.0
    if character in " iljtfrI.,:;'|!()[]/\u202f\u00a0":
        return 0.34
    if character in "mwMW@%\u2026+\u00d7\u2013":
        return 1.0
    return 0.72 if character.isupper() else 0.58


def text_widths(*fonts: str) -> tuple[float, float]:
    """Return (upper bound, typical) of the width of text in some fonts, relative to the widest."""
    return (1.07, 1.07) if WIDE & {font.casefold() for font in fonts} else (LOOSE, NARROW)


def text_lines(text: str, size: float, width: float, *, bold: bool = False) -> int:
    """Lines that a text takes."""
    lines = 0
    for paragraph in text.split("\n"):
        used, lines = 0.0, lines + 1
        for word in paragraph.split(" "):
            long = text_width(word, size, bold=bold)
            if used and used + long > width:
                lines, used = lines + 1, 0.0
            while long > width:
                lines, long = lines + 1, long - width
            used += long + text_width(" ", size, bold=bold)
    return lines


def text_height(text: str, size: float, width: float, *, bold: bool = False) -> float:
    """Height of the lines that a text takes."""
    return text_lines(text, size, width, bold=bold) * size * LINE_HEIGHT


def cut(text: str, size: float, width: float, lines: int = 1, *, bold: bool = False) -> str:
    """Return the text on one line of the file, or as much as ``lines`` lines of the slide hold."""
    text = one_line(text)
    if text_lines(text, size, width, bold=bold) <= lines:
        return text
    ends = range(1, len(text) + 1)
    most = bisect(
        ends,
        False,
        key=lambda end: text_lines(f"{text[:end].rstrip()}\u2026", size, width, bold=bold) > lines,
    )
    return text[:most].rstrip(" ,;:") + "\u2026"


def fitted(wordings: Sequence[str], box: Box, sizes: Sequence[int], *, bold: bool = False) -> tuple[str, int]:
    """Return the first wording that a place holds on two lines at most, and its size, the largest of some."""
    lines = 1
    for size in sizes:
        lines = min(2, max(1, int(box.height / (size * LINE_HEIGHT))))
        for text in map(one_line, wordings):
            if text_lines(text, size, box.width, bold=bold) <= lines:
                return text, size
    return cut(wordings[-1], sizes[-1], box.width, lines, bold=bold), sizes[-1]


def first_of(things: Sequence[Thing], most: int) -> tuple[Sequence[Thing], Sequence[Thing]]:
    """Split things into those with a place of their own and the rest, which shares the last place."""
    shown = things if len(things) <= most else things[: most - 1]
    return shown, things[len(shown) :]
