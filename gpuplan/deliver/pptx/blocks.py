"""What slides are built of: words, key figures, and text in the placeholders of a layout."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from pptx.enum.dml import MSO_THEME_COLOR
from pptx.enum.text import MSO_ANCHOR, MSO_AUTO_SIZE, PP_ALIGN
from pptx.util import Pt

from gpuplan.deliver.pptx.measure import (
    BODY,
    LEAD,
    LINE_HEIGHT,
    SMALL,
    TITLE,
    Box,
    Grid,
    box_of,
    cut,
    text_lines,
    text_width,
)
from gpuplan.deliver.texts import one_line

GAP = 16
TILE, TILE_INSET = 96, 12
"""Height of a tile, and the margin at its sides."""
AFTER_PARAGRAPH = 0.28
"""Room below a paragraph, in lines."""


class Words(NamedTuple):
    """Paragraphs below each other, as much of each as fits."""

    texts: Sequence[str] | str
    size: int = BODY
    quiet: bool = False

    def height(self, width: float) -> float:
        """Return the height that all of it takes."""
        lines = sum(text_lines(text, self.size, width) + AFTER_PARAGRAPH for text in self.texts)
        return lines * self.size * LINE_HEIGHT

    def put(self, deck: Grid, slide: Any, box: Box) -> None:
        """Write them."""
        shown = [self.texts] if isinstance(self.texts, str) else [text for text in self.texts if text]
        left = box.height / (self.size * LINE_HEIGHT)
        frame = _plain_frame(slide.shapes.add_textbox(*box.emu))
        for at, text in enumerate(shown):
            if left < 1:
                break
            kept = cut(text, self.size, box.width, int(left))
            left -= text_lines(kept, self.size, box.width) + AFTER_PARAGRAPH
            paragraph = frame.paragraphs[0] if at == 0 else frame.add_paragraph()
            paragraph.space_after = Pt(self.size / 3)
            _run(paragraph, kept, self.size, colour="TEXT_2" if self.quiet else "TEXT_1")


class Tile(NamedTuple):
    """A key figure."""

    label: str
    value: str
    note: str = ""


class Tiles(NamedTuple):
    """Key figures beside each other, in several rows if there are many."""

    tiles: Sequence[Tile]
    columns: int = 0
    """Number in a row; 0 for all."""

    def height(self, _width: float) -> float:
        """Return the height of all rows."""
        return -(-len(self.tiles) // (self.columns or len(self.tiles))) * (TILE + GAP) - GAP

    def put(self, deck: Grid, slide: Any, box: Box) -> None:
        """Draw them, with all values in the same size."""
        columns = self.columns or len(self.tiles)
        across = box.columns(columns, GAP)
        width = (across[0].width - 2 * TILE_INSET) / deck.narrow
        values = [tile.value for tile in self.tiles]
        fitting = (s for s in (TITLE, LEAD) if all(text_width(v, s, bold=True) <= width for v in values))
        size = next(fitting, BODY)
        for at, tile in enumerate(self.tiles):
            row, column = divmod(at, columns)
            _put_tile(deck, slide, tile, across[column].below(row * (TILE + GAP)).above(TILE), size)


def _put_tile(deck: Grid, slide: Any, tile: Tile, box: Box, size: int) -> None:
    shape = slide.shapes.add_textbox(*box.emu)
    shape.name = one_line(f"Figure: {tile.label}")
    shape.fill.solid()
    shape.fill.fore_color.theme_color = MSO_THEME_COLOR.BACKGROUND_2
    frame = _plain_frame(shape, "MIDDLE", inset=TILE_INSET)
    width = box.width - 2 * TILE_INSET
    parts = (
        (tile.label, SMALL, width / deck.narrow, 1, "TEXT_2"),
        (tile.value, size, width / deck.narrow, 1, "ACCENT_1"),
        (tile.note, SMALL, width, 2, "TEXT_1"),
    )
    for at, (text, points, room, lines, colour) in enumerate(parts):
        paragraph = frame.paragraphs[0] if at == 0 else frame.add_paragraph()
        if text:
            bold = text is tile.value
            _run(paragraph, cut(text, points, room, lines, bold=bold), points, bold=bold, colour=colour)


# Text of shapes


def put(shape: Any, text: str, size: int, *, bold: bool | None = None) -> None:
    """Put text into a placeholder, at a size, or at its layout's size if none is given."""
    shape.text_frame.text = one_line(text)
    for run in shape.text_frame.paragraphs[0].runs:
        if size:
            run.font.size = Pt(size)
        if bold is not None:
            run.font.bold = bold


def put_lines(place: Any, texts: Sequence[str], lines: int = 1) -> None:
    """Put paragraphs into a placeholder, each of so many lines at most."""
    for at, text in enumerate(filter(None, texts)):
        paragraph = place.text_frame.paragraphs[0] if at == 0 else place.text_frame.add_paragraph()
        paragraph.text = cut(text, BODY, box_of(place).width, lines)


def _plain_frame(shape: Any, anchor: str = "TOP", inset: float = 0) -> Any:
    """The text of a shape, without room at its edges."""
    frame = shape.text_frame
    frame.word_wrap, frame.auto_size = True, MSO_AUTO_SIZE.NONE
    frame.margin_left = frame.margin_right = Pt(inset)
    frame.margin_top = frame.margin_bottom = 0
    frame.vertical_anchor = getattr(MSO_ANCHOR, anchor)
    return frame


def _run(paragraph: Any, text: str, size: int, *, bold: bool = False, colour: str) -> None:
    """Text in a colour of the theme."""
    paragraph.alignment = PP_ALIGN.LEFT
    run = paragraph.add_run()
    run.text = text
    run.font.size, run.font.bold = Pt(size), bold
    run.font.color.theme_color = getattr(MSO_THEME_COLOR, colour)
