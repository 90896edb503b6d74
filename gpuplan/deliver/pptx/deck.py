"""The deck in progress: its layouts, its slides with their notes, and ways to put text, tiles and tables on them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import deepcopy
from typing import Any, NamedTuple

from gpuplan.deliver.brand import Brand
from gpuplan.deliver.executive import Executive, document_day
from gpuplan.deliver.office import set_properties
from gpuplan.deliver.pptx.measure import (
    BODY,
    INSET,
    LEAD,
    LINE_HEIGHT,
    LOOSE,
    NARROW,
    POINT,
    SMALL,
    TITLE,
    WIDE,
    Box,
    box_of,
    cut,
    first_fitting,
    text_lines,
    text_width,
)
from gpuplan.deliver.pptx.notes import MOST_SOURCES, Reasons, sources_of, told
from gpuplan.deliver.pptx.sketch import Sketch
from gpuplan.deliver.texts import one_line
from gpuplan.deliver.untrusted import TemplateError
from gpuplan.plan import Plan

GAP = 16
SMALL_PLACES = {13, 15, 16}
"""Placeholder types of slide number, footer and date."""
TILE, TILE_INSET = 96, 12
"""Height of a tile, and the margin at its sides."""


class Tile(NamedTuple):
    """A key figure."""

    label: str
    value: str
    note: str = ""


def emptied(show: Any) -> None:
    """Remove the slides of a template, and all references to them."""
    from pptx.oxml.ns import qn

    for slide in list(show.element.get_or_add_sldIdLst()):
        slide.getparent().remove(slide)
    for child in list(show.element):
        if child.tag == qn("p:custShowLst"):
            show.element.remove(child)
        elif child.tag == qn("p:extLst"):
            for extension in list(child):
                if any(inner.tag.endswith("}sectionLst") for inner in extension):
                    child.remove(extension)
            if not len(child):
                show.element.remove(child)


class Deck:
    """Slides on one grid."""

    def __init__(self, show: Any, plan: Plan, summary: Executive, brand: Brand) -> None:
        self.show, self.plan, self.summary, self.brand = show, plan, summary, brand
        self.day = document_day(plan)
        self.layout, self.title_box = self._content_layout()
        wide = font_of(show).casefold() in WIDE
        self.loose, self.narrow = (1.0, 1.0) if wide else (LOOSE, NARROW)
        """Text width in the deck's font relative to the widest font: upper bound, and typical."""
        self.cited: dict[str, None] = {}
        """Sources of the statements on the slides so far."""
        bottom = show.slide_height / POINT - 44
        top = self.title_box.top + self.title_box.height + 8
        self.box = Box(self.title_box.left, top, self.title_box.width, bottom - top)
        set_properties(
            show.core_properties,
            show.part.package._rels,
            title=plan.scenario.name,
            subject=plan.scenario.customer,
            day=self.day,
        )

    # Layouts

    def layouts(self) -> Iterator[Any]:
        """All layouts of the file."""
        for master in self.show.slide_masters:
            yield from master.slide_layouts

    def layout_with(self, *, kinds: set[int], type: str = "") -> Any:
        """Return the first layout with such placeholders, and of a type if one is named; None without one."""
        return next(
            (
                each
                for each in self.layouts()
                if kinds <= kinds_of(each) and (not type or each.element.get("type") == type)
            ),
            None,
        )

    def _content_layout(self) -> tuple[Any, Box]:
        """Return the layout for all slides with content: a title at the top, and no placeholder below it."""
        for layout in sorted(self.layouts(), key=lambda each: each.name.strip().casefold() != "title only"):
            kinds = {int(p.placeholder_format.type or 0): p for p in layout.placeholders}
            title = kinds.get(1) or kinds.get(3)
            if title is None or title.width is None or set(kinds) - SMALL_PLACES - {1, 3}:
                continue
            box = box_of(title)
            if self._has_room(box):
                return layout, box
        raise TemplateError(
            "template has no layout with a title at the top and room below it; add one named Title Only"
        )

    def _has_room(self, title: Box) -> bool:
        """True if a title is on the slide, large enough, and has room below it."""
        wide, high = self.show.slide_width / POINT, self.show.slide_height / POINT
        large = title.width > 0.6 * wide and title.height > 36
        inside = title.left >= 0 and title.left + title.width <= wide
        return large and inside and high - title.top - title.height > 0.55 * high

    # Slides

    def slide(self, titles: str | Sequence[str], first: str, reasons: Reasons = Reasons()) -> Any:  # noqa: B008
        """A slide with the first of its titles that two lines hold; its notes say what to say first, and the reasons."""
        slide = self.show.slides.add_slide(self.layout)
        wordings = [titles] if isinstance(titles, str) else titles
        self.title(slide.shapes.title, [each.removesuffix(".") for each in wordings])
        self.finish(slide, first, reasons)
        return slide

    def title(self, shape: Any, wordings: Sequence[str]) -> None:
        """The message of a slide, on two lines at most; smaller only where the title of a template has no room for it."""
        width = self.title_box.width - self._inset()
        known = {one_line(each) for each in wordings}
        for size in (TITLE, LEAD, BODY, SMALL):
            lines = min(2, max(1, int(self.title_box.height / (size * LINE_HEIGHT))))
            text = first_fitting(wordings, size, width, lines, bold=True)
            if self.own or text in known:
                break
        put(shape, text, size, bold=True)

    def _inset(self) -> float:
        """Return the margin at the sides of a title: none in the deck's own layouts."""
        return 0 if self.own else 2 * INSET

    @property
    def own(self) -> bool:
        """True if the layouts are the deck's own."""
        return bool(
            self.layout.name == "Title Only" and any(s.name == "Accent rule" for s in self.layout.shapes)
        )

    def finish(self, slide: Any, first: str, reasons: Reasons) -> None:
        """Footer, number and notes of a slide."""
        for place in slide.slide_layout.placeholders:
            kind = int(place.placeholder_format.type or 0)
            if kind != 13 and not (kind == 15 and self.own):
                continue
            slide.shapes._spTree.append(deepcopy(place._element))
            if kind == 15:
                put(slide.shapes[-1], cut(self.footer, SMALL, box_of(place).width), 0)
        self.cited |= dict.fromkeys(sources_of(self.plan, reasons)[:MOST_SOURCES])
        slide.notes_slide.notes_text_frame.text = told(self.plan, first, reasons)

    @property
    def footer(self) -> str:
        """Return the footer of each slide."""
        return " \u00b7 ".join(filter(None, (one_line(self.brand.footer), one_line(self.plan.scenario.name))))

    # Content of slides

    def text(
        self,
        slide: Any,
        paragraphs: Sequence[str] | str,
        box: Box,
        size: int = BODY,
        *,
        bold: bool = False,
        quiet: bool = False,
        anchor: str = "t",
    ) -> None:
        """Write paragraphs below each other, as much of each as fits."""
        from pptx.util import Pt

        shown = [paragraphs] if isinstance(paragraphs, str) else [p for p in paragraphs if p]
        left = box.height / (size * LINE_HEIGHT)
        shape = slide.shapes.add_textbox(*box.emu)
        frame = _plain_frame(shape, anchor)
        for at, text in enumerate(shown):
            if left < 1:
                break
            kept = cut(text, size, box.width, int(left), bold=bold)
            left -= text_lines(kept, size, box.width, bold=bold)
            paragraph = frame.paragraphs[0] if at == 0 else frame.add_paragraph()
            paragraph.space_after = Pt(size / 3)
            _run(paragraph, kept, size, bold=bold, colour="TEXT_2" if quiet else "TEXT_1")
            left -= 0.28

    def footed(self, paragraphs: Sequence[str], size: int) -> tuple[Box, Box]:
        """Return the area for a picture, and one for a text below it, as high as it needs."""
        lines = sum(text_lines(text, size, self.box.width) + 0.28 for text in paragraphs)
        high = lines * size * LINE_HEIGHT
        return self.box.above(self.box.height - high - 10), self.box.below(self.box.height - high)

    def sketch(self, box: Box) -> Sketch:
        """An empty picture."""
        return Sketch(box, self.loose)

    def tiles(self, slide: Any, tiles: Sequence[Tile], box: Box, columns: int = 0) -> float:
        """Draw key figures beside each other, in several rows if there are many; return their height."""
        columns = columns or len(tiles)
        across = box.columns(columns, GAP)
        width = (across[0].width - 2 * TILE_INSET) / self.narrow
        size = next(
            (s for s in (TITLE, LEAD) if all(text_width(t.value, s, bold=True) <= width for t in tiles)), BODY
        )
        for at, tile in enumerate(tiles):
            row, column = divmod(at, columns)
            self._tile(slide, tile, across[column].below(row * (TILE + GAP)).above(TILE), size)
        rows = -(-len(tiles) // columns)
        return rows * (TILE + GAP) - GAP

    def _tile(self, slide: Any, tile: Tile, box: Box, size: int) -> None:
        from pptx.enum.dml import MSO_THEME_COLOR

        shape = slide.shapes.add_textbox(*box.emu)
        shape.name = one_line(f"Figure: {tile.label}")
        shape.fill.solid()
        shape.fill.fore_color.theme_color = MSO_THEME_COLOR.BACKGROUND_2
        frame = _plain_frame(shape, "ctr", inset=TILE_INSET)
        width = box.width - 2 * TILE_INSET
        parts = (
            (tile.label, SMALL, 1, False, "TEXT_2"),
            (tile.value, size, 1, True, "ACCENT_1"),
            (tile.note, SMALL, 2, False, "TEXT_1"),
        )
        for at, (text, points, lines, bold, colour) in enumerate(parts):
            paragraph = frame.paragraphs[0] if at == 0 else frame.add_paragraph()
            if text:
                room = width if lines > 1 else width / self.narrow
                _run(paragraph, cut(text, points, room, lines, bold=bold), points, bold=bold, colour=colour)


def font_of(show: Any) -> str:
    """The font of the text of a presentation."""
    from pptx.opc.constants import RELATIONSHIP_TYPE
    from pptx.oxml import parse_xml
    from pptx.oxml.ns import qn

    theme = parse_xml(show.slide_masters[0].part.part_related_by(RELATIONSHIP_TYPE.THEME).blob)
    found = theme.find(f".//{qn('a:minorFont')}/{qn('a:latin')}")
    return "" if found is None else str(found.get("typeface", ""))


def kinds_of(layout: Any) -> set[int]:
    """Return the placeholder types of a layout."""
    return {int(place.placeholder_format.type or 0) for place in layout.placeholders}


def put(shape: Any, text: str, size: int, *, bold: bool | None = None) -> None:
    """Put text into a placeholder, at a size, or at its layout's size if none is given."""
    from pptx.util import Pt

    shape.text_frame.text = one_line(text)
    for run in shape.text_frame.paragraphs[0].runs:
        if size:
            run.font.size = Pt(size)
        if bold is not None:
            run.font.bold = bold


def _plain_frame(shape: Any, anchor: str, inset: float = 0) -> Any:
    """The text of a shape, without room at its edges."""
    from pptx.enum.text import MSO_ANCHOR, MSO_AUTO_SIZE
    from pptx.util import Pt

    frame = shape.text_frame
    frame.word_wrap, frame.auto_size = True, MSO_AUTO_SIZE.NONE
    frame.margin_left = frame.margin_right = Pt(inset)
    frame.margin_top = frame.margin_bottom = 0
    frame.vertical_anchor = {"t": MSO_ANCHOR.TOP, "ctr": MSO_ANCHOR.MIDDLE, "b": MSO_ANCHOR.BOTTOM}[anchor]
    return frame


def _run(paragraph: Any, text: str, size: int, *, bold: bool, colour: str) -> None:
    """Text in a colour of the theme."""
    from pptx.enum.dml import MSO_THEME_COLOR
    from pptx.enum.text import PP_ALIGN
    from pptx.util import Pt

    paragraph.alignment = PP_ALIGN.LEFT
    run = paragraph.add_run()
    run.text = text
    run.font.size, run.font.bold = Pt(size), bold
    run.font.color.theme_color = getattr(MSO_THEME_COLOR, colour)
