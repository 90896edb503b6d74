"""Shapes and text as SVG, 640 units wide (on 16 cm, text of 13 units is 9 points high), and the colours of all charts and drawings."""

import unicodedata
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple
from xml.etree import ElementTree
from xml.sax.saxutils import escape

from gpuplan.facts import own_rows
from gpuplan.wording import PART, said

OKABE_ITO = ("#0072b2", "#56b4e9", "#009e73", "#e69f00", "#cc79a7", "#d55e00", "#f0e442", "#9b8cd6")
"""Colours of groups in their order; each has a letter beside it, because they repeat after eight."""
COLOURS = ("#8b94a3", *OKABE_ITO, "#f4a582", "#5e4fa2")
"""Colours by their number, as in the stylesheet; the first one is for what is of no single group."""
PARTS = {PART[row["part"]]: (row["letter"], int(row["colour"])) for row in own_rows("words/cost_parts")}
"""Part of the cost -> its letter, one of its name that no other part has, and the number of its colour; parts that belong together are alike."""


WIDTH, PAGE = 640, 720
"""Width of a drawing, and its greatest height that a page of any paper has room for."""
FONT = "Calibri, Carlito, Arial, Helvetica, DejaVu Sans, sans-serif"
SIZE = 13
"""Size of text, in units of the drawing."""
LINE = 17
"""Distance between two lines of text."""
INK, SOFT, EDGE, PALE, WHITE = "#1a2230", "#525d6d", "#8b94a3", "#f3f5f8", "#ffffff"
ACCENT, TINT, ORANGE, GREEN = "#0b5cad", "#e8f0f9", "#e69f00", "#009e73"


HATCH = 7
"""Distance of the lines that mark what is free."""


def clean_text(text: str) -> str:
    """Text on one line, without what XML forbids or what turns the direction of the text after it."""
    kept = "".join(" " if c.isspace() else c for c in text if c.isspace() or not _is_left_out(c))
    return kept.strip()


def _is_left_out(letter: str) -> bool:
    return (
        unicodedata.category(letter) in ("Cc", "Cs")
        or letter in "\ufffe\uffff"
        or "\u202a" <= letter <= "\u202e"
        or "\u2066" <= letter <= "\u2069"
    )


def _letter_width(letter: str) -> float:
    """Width of a letter for a font size of 1, as in the wider of the fonts."""
    if unicodedata.combining(letter) or unicodedata.category(letter) in ("Mn", "Me", "Cf"):
        return 0.0
    if unicodedata.east_asian_width(letter) in "WF" or ord(letter) > 0xFFFF:
        return 1.05
    if letter in "iljI.,'|:;!()[] \u202f":
        return 0.35
    if letter in "mwMW@%":
        return 0.97
    return 0.69 if letter.isupper() else 0.61


def text_width(text: str, *, bold: bool = False) -> float:
    """Estimate the width of a line of text in units of the drawing; rather more than less."""
    return sum(map(_letter_width, text)) * SIZE * (1.1 if bold else 1)


def shortened(text: str, width: float, *, bold: bool = False) -> str:
    """A text, cleaned, that fits into a width; what is too long ends with an ellipsis."""
    text = clean_text(text)
    if text_width(text, bold=bold) <= width:
        return text
    while text and text_width(text + "\u2026", bold=bold) > width:
        text = text[:-1]
    return text.rstrip() + "\u2026"


def wrapped(text: str, width: float) -> list[str]:
    """A text in lines that fit into a width; a word that is longer than a line is broken."""
    lines: list[str] = []
    for word in clean_text(text).split(" "):
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and text_width(longer) <= width:
            lines[-1] = longer
            continue
        lines.append("")
        for letter in word:
            if lines[-1] and text_width(lines[-1] + letter) > width:
                lines.append("")
            lines[-1] += letter
    return lines


def pen_on(colour: str) -> str:
    """Colour of text that can be read on a colour: white on the dark blue, else dark."""
    return WHITE if colour == OKABE_ITO[0] else "#10151d"


@lru_cache(maxsize=32)  # a picture takes 0.1 s, and document and deck share them
def figure_png(svg: str, *, width_px: int = 1600) -> bytes:
    """A figure as a PNG picture, for files that cannot hold drawings."""
    import vl_convert

    wide = float(ElementTree.fromstring(svg).attrib["width"])
    return bytes(vl_convert.svg_to_png(svg, scale=width_px / wide))


class Sheet(NamedTuple):
    """A drawing on a page, and what it shows."""

    svg: str
    about: str


def numbered(pages: Iterable[tuple["Drawing", float]], about: str) -> list[Sheet]:
    """Drawings with their heights as sheets, numbered where there are several."""
    drawn = list(pages)
    words = [said("drawing.page", about=about, page=at, pages=len(drawn)) for at in range(1, len(drawn) + 1)]
    named = zip(drawn, words if drawn[1:] else [about], strict=True)
    return [Sheet(drawing.svg(high, text), text) for (drawing, high), text in named]


class Area(NamedTuple):
    """An area of the drawing."""

    x: float
    y: float
    wide: float
    high: float


class Drawing:
    """Shapes and texts, in the order in which they are drawn."""

    def __init__(self, wide: int = WIDTH) -> None:
        self.wide = wide
        self.shapes: list[str] = []

    def box(
        self,
        area: Area,
        *,
        fill: str = WHITE,
        stroke: str = EDGE,
        dashed: bool = False,
        rx: float = 4,
        id: str = "",
    ) -> None:
        """Draw a rectangle; ``id`` says what it represents, for readers of the file."""
        named = f' id="{id}"' if id else ""
        x, y, wide, high = map(_n, area)
        self.shapes.append(
            f'<rect{named} x="{x}" y="{y}" width="{wide}" height="{high}" rx="{_n(rx)}" fill="{fill}" '
            f'stroke="{stroke}"{_dashes("4 3" if dashed else "")}/>'
        )

    def text(
        self,
        x: float,
        y: float,
        text: str,
        *,
        room: float = WIDTH,
        anchor: str = "start",
        fill: str = INK,
        bold: bool = False,
    ) -> None:
        """A line of text, cut where it needs more room; nothing for an empty one."""
        if not text:
            return
        weight = ' font-weight="bold"' if bold else ""
        self.shapes.append(
            f'<text x="{_n(x)}" y="{_n(y)}" font-family="{FONT}" font-size="{SIZE}"{weight} text-anchor="{anchor}" '
            f'fill="{fill}">{escape(shortened(text, room, bold=bold))}</text>'
        )

    def line(
        self, x1: float, y1: float, x2: float, y2: float, *, stroke: str, width: float = 1, dashes: str = ""
    ) -> None:
        """A line, solid or with dashes of the lengths given."""
        self.shapes.append(
            f'<line x1="{_n(x1)}" y1="{_n(y1)}" x2="{_n(x2)}" y2="{_n(y2)}" stroke="{stroke}" stroke-width="{_n(width)}"'
            f"{_dashes(dashes)}/>"
        )

    def path(
        self, points: Sequence[tuple[float, float]], *, stroke: str, width: float = 1, dashes: str = ""
    ) -> None:
        """A line through several points."""
        way = " ".join(f"{_n(x)},{_n(y)}" for x, y in points)
        self.shapes.append(
            f'<polyline points="{way}" fill="none" stroke="{stroke}" stroke-width="{_n(width)}"{_dashes(dashes)}/>'
        )

    def hatch(self, area: Area) -> None:
        """Fill a rectangle with slanted lines: it is free; one too narrow for a line stays empty."""
        x, y, wide, high = area
        starts = (HATCH * at - high for at in range(1, int((wide + high) / HATCH) + 1))
        ends = ((at, max(0.0, -at), min(high, wide - at)) for at in starts)
        lines = (
            f"M{_n(x + at + a)} {_n(y + high - a)}L{_n(x + at + b)} {_n(y + high - b)}"
            for at, a, b in ends
            if b > a
        )
        if wide >= HATCH and (way := "".join(lines)):
            self.shapes.append(f'<path d="{way}" fill="none" stroke="{EDGE}" stroke-width="0.7"/>')

    def svg(self, height: float, about: str) -> str:
        """The file; ``about`` is its title."""
        wide, tall = self.wide + 4, _n(height + 4)
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{wide}" height="{tall}" viewBox="-2 -2 {wide} {tall}">'
            f"<title>{escape(clean_text(about))}</title>"
            f'<rect x="-2" y="-2" width="{wide}" height="{tall}" fill="{WHITE}"/>{"".join(self.shapes)}</svg>'
        )


def _n(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")


def _dashes(lengths: str) -> str:
    return f' stroke-dasharray="{lengths}"' if lengths else ""
