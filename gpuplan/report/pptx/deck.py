"""A deck that is written: its layouts, and ways to put text, tiles, tables, pictures and charts on a slide."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from io import BytesIO
from itertools import accumulate
from typing import Any, NamedTuple

from gpuplan.plan import Plan
from gpuplan.report.document import clean
from gpuplan.report.document.writing import as_of
from gpuplan.report.docx_file import ACCENT, INK, QUIET, SHADE, add_svg, one_line, set_properties
from gpuplan.report.explain import explain
from gpuplan.report.table import Table, heads, numeric, texts
from gpuplan.report.untrusted import TemplateError
from gpuplan.wording import capital, number

POINT = 12_700
"""English Metric Units in a point."""
INCH = 72 * POINT
SLIDE = (int(13.333 * INCH), int(7.5 * INCH))
SIZES = (18, 16, 14, 12)
"""Sizes of text in points, the first that fits is taken."""
LINE_HEIGHT = 1.2
INSET = 0.1 * INCH
"""Left and right in a box and in a cell; half as much above and below."""
COLOURS = ("0072B2", "E69F00", "009E73", "CC79A7", "56B4E9", "D55E00", "F0E442", "5A6576")
PATTERNS = ((1e7, "#,##0.0,,", "millions of "), (1e4, "#,##0,", "thousands of "))
"""From how much on numbers of a chart are shown in which multiples, and how."""
EXCLUDES_HEIGHT = int(0.65 * INCH)
MORE = "in the design document"


class Box(NamedTuple):
    """A place on a slide in English Metric Units."""

    left: int
    top: int
    width: int
    height: int

    def split(self, height: int, gap: float = 0) -> tuple[Box, Box]:
        """The upper part, so many units high, and what is below it and a gap."""
        start = height + int(gap)
        upper = Box(self.left, self.top, self.width, height)
        return upper, Box(self.left, self.top + start, self.width, self.height - start)


def box_of(shape: Any) -> Box:
    """Where a shape is."""
    return Box(shape.left, shape.top, shape.width, shape.height)


# Text and its room


def text_lines(text: str, size: float, width: float) -> int:
    """Lines that a text takes, rather too many than too few."""
    lines = 0
    for paragraph in text.split("\n"):
        used, lines = 0.0, lines + 1
        for word in paragraph.split(" "):
            long = _text_width(word, size)
            if used and used + long > width:
                lines, used = lines + 1, 0.0
            while long > width:
                lines, long = lines + 1, long - width
            used += long + _text_width(" ", size)
    return lines


def _text_width(text: str, size: float) -> float:
    """Width of a text in points, as wide as in Arial."""
    return size * sum(map(_character_width, text))


def _character_width(character: str) -> float:
    if ord(character) > 0x2E80:
        return 1.0
    if character in " iljtfrI.,:;'|!()[]/\u202f\u00a0":
        return 0.34
    if character in "mwMW@%…":
        return 1.0
    return 0.72 if character.isupper() else 0.58


def _height(text: str, size: float, width: float) -> float:
    """Height of a text in points."""
    return text_lines(text, size, width) * size * LINE_HEIGHT


def _cut(text: str, size: float, width: float, lines: int) -> str:
    """The text, or as much of it as so many lines hold."""
    text = one_line(text)
    if text_lines(text, size, width) <= lines:
        return text
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        if text_lines(text[:middle].rstrip() + "…", size, width) <= lines:
            low = middle
        else:
            high = middle - 1
    return text[:low].rstrip() + "…"


def rgb(colour: str) -> Any:
    """A colour as the library takes it."""
    from pptx.dml.color import RGBColor

    made: Any = RGBColor
    return made.from_string(colour)


def chart_data(categories: Sequence[str], series: Mapping[str, Sequence[float]]) -> Any:
    """Numbers of a chart, as a workbook inside the slides holds them."""
    from pptx.chart.data import CategoryChartData

    made: Any = CategoryChartData
    data = made(number_format="#,##0")
    data.categories = categories
    for name, values in series.items():
        data.add_series(name, values)
    return data


# The file and its slides


def widen(show: Any) -> None:
    """Make the slides 16:9, with their titles at the left."""
    from pptx.oxml.ns import qn

    factor = SLIDE[0] / show.slide_width
    show.slide_width, show.slide_height = SLIDE
    for page in (show.slide_master, *show.slide_layouts):
        for shape in page.placeholders:
            if shape._element.spPr.xfrm is not None:
                shape.left, shape.width = int(shape.left * factor), int(shape.width * factor)
    title = next(s for s in show.slide_master.placeholders if s.placeholder_format.type == 1)
    title.left, title.top = int(0.6 * INCH), int(0.35 * INCH)
    title.width, title.height = SLIDE[0] - int(1.2 * INCH), int(1.0 * INCH)
    level = show.slide_master.element.find(f".//{qn('p:titleStyle')}/{qn('a:lvl1pPr')}")
    level.set("algn", "l")
    level.find(qn("a:defRPr")).set("b", "1")


def emptied(show: Any) -> None:
    """Take the slides of a template out of it, and what names them."""
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

    def __init__(self, show: Any, plan: Plan) -> None:
        self.show, self.plan = show, plan
        self.as_of = as_of(plan)
        self.layout, self.title_box = self._layout()
        self.drawings = 0
        top = self.title_box.top + self.title_box.height + int(0.15 * INCH)
        bottom = show.slide_height - int(0.65 * INCH)
        self.box = Box(self.title_box.left, top, self.title_box.width, bottom - top)
        set_properties(
            show.core_properties,
            show.part.package._rels,
            title=plan.scenario.name,
            subject=plan.scenario.customer,
            day=self.as_of,
        )

    def _layout(self) -> tuple[Any, Box]:
        """The layout for all slides but the first: a title at the top, and nothing to fill below it."""
        small = {13, 15, 16}  # number of the slide, footer, date
        layouts = [layout for master in self.show.slide_masters for layout in master.slide_layouts]
        for layout in sorted(layouts, key=lambda each: each.name.strip().casefold() != "title only"):
            kinds = {int(p.placeholder_format.type or 0): p for p in layout.placeholders}
            title = kinds.get(1) or kinds.get(3)
            if title is None or title.width is None or set(kinds) - small - {1, 3}:
                continue
            box = box_of(title)
            if self._has_room(box):
                return layout, box
        raise TemplateError(
            "template has no layout with a title at the top and room below it; add one named Title Only"
        )

    def _has_room(self, title: Box) -> bool:
        """Whether a title is on the slide, large enough, and has room below it."""
        wide, high = self.show.slide_width, self.show.slide_height
        large = title.width > 0.6 * wide and title.height > 0.5 * INCH
        inside = title.left >= 0 and title.left + title.width <= wide
        return large and inside and high - title.top - title.height > 0.55 * high

    def slide(self, title: str, keys: Sequence[str] = (), sources: Sequence[str] = (), why: str = "") -> Any:
        """A slide with its title, and notes that say why and from where."""
        slide = self.show.slides.add_slide(self.layout)
        self.fill(slide.shapes.title, capital(title), self.title_box, (28, 24, 20, 18), bold=True)
        for shape in self.layout.placeholders:
            if int(shape.placeholder_format.type or 0) == 13:
                slide.shapes._spTree.append(deepcopy(shape._element))
        self._notes(slide, keys, sources, why)
        return slide

    def _notes(self, slide: Any, keys: Sequence[str], sources: Sequence[str], why: str) -> None:
        parts = [why] if why else []
        cited = dict.fromkeys(sources)
        for key in keys:
            if key not in self.plan.lines:
                continue
            known = explain(self.plan, key)
            parts.append(f"Why {known.label}: {known.formula}. {known.sentence}")
            parts.append(known.basis_text)
            cited.update(dict.fromkeys(source.id for source in known.sources))
        held = [self.plan.catalog.sources[s] for s in cited if s in self.plan.catalog.sources]
        listed = [", ".join(part for part in (s.title, s.producer, s.published, s.url) if part) for s in held]
        parts.append("Sources:\n" + "\n".join(listed or ["The scenario, and the arithmetic of gpuplan."]))
        slide.notes_slide.notes_text_frame.text = clean("\n".join(parts))

    def fill(
        self, shape: Any, text: str, box: Box, sizes: Sequence[int], *, bold: bool = False, colour: str = ""
    ) -> None:
        """Put text into a shape, at the first size at which it fits; the last one holds as much as fits."""
        from pptx.util import Pt

        width = (box.width - 2 * INSET) / POINT * (0.94 if bold else 1)
        height = (box.height - INSET) / POINT
        text = one_line(text)
        size = next((s for s in sizes if _height(text, s, width) <= height), sizes[-1])
        frame = shape.text_frame
        frame.word_wrap = True
        frame.text = _cut(text, size, width, max(1, int(height / (size * LINE_HEIGHT))))
        for run in frame.paragraphs[0].runs:
            run.font.size, run.font.bold = Pt(size), bold
            if colour:
                run.font.color.rgb = rgb(colour)

    def text(
        self,
        slide: Any,
        text: str,
        box: Box,
        sizes: Sequence[int] = SIZES,
        *,
        bold: bool = False,
        colour: str = INK,
    ) -> None:
        """A box with text."""
        self.fill(slide.shapes.add_textbox(*box), text, box, sizes, bold=bold, colour=colour)

    def points(self, slide: Any, items: Sequence[str], box: Box) -> None:
        """Points of a list, at the first size at which they fit; those that do not fit are counted."""
        from pptx.util import Pt

        width, height = (box.width - 2 * INSET) / POINT, (box.height - INSET) / POINT
        for size in SIZES:
            shown = [f"•  {_cut(item, size, width - 2 * size, 3)}" for item in items]
            tall = [_height(item, size, width) + size / 2 for item in shown]
            if sum(tall) <= height:
                break
        if sum(tall) > height:
            fits = _fitting(tall, height - 1.5 * size * LINE_HEIGHT)
            shown = [*shown[:fits], f"•  and {number(len(items) - fits)} more {MORE}"]
        frame = slide.shapes.add_textbox(*box).text_frame
        frame.word_wrap = True
        for at, item in enumerate(shown):
            paragraph = frame.paragraphs[0] if at == 0 else frame.add_paragraph()
            run = paragraph.add_run()
            run.text = item
            run.font.size, run.font.color.rgb = Pt(size), rgb(INK)
            paragraph.space_after = Pt(size / 2)

    def tiles(self, slide: Any, items: Sequence[tuple[str, str, str]], box: Box, columns: int = 3) -> None:
        """Key figures: label, value and a note for each."""
        from pptx.enum.shapes import MSO_SHAPE

        gap = int(0.2 * INCH)
        rows = -(-len(items) // columns)
        width = (box.width - (columns - 1) * gap) // columns
        height = min((box.height - (rows - 1) * gap) // rows, int(2.3 * INCH))
        for at, (label, value, note) in enumerate(items):
            left = box.left + at % columns * (width + gap)
            top = box.top + at // columns * (height + gap)
            back = slide.shapes.add_shape(MSO_SHAPE.RECTANGLE, left, top, width, height)
            back.fill.solid()
            back.fill.fore_color.rgb = rgb(SHADE)
            back.line.fill.background()
            back.shadow.inherit = False
            back.name = f"Back of {label}"
            for text, start, share, sizes, bold, colour in (
                (label, 0.04, 0.2, (16, 14, 12), False, QUIET),
                (value, 0.24, 0.34, (32, 28, 24, 20, 16), True, ACCENT),
                (note, 0.58, 0.4, (14, 12), False, INK),
            ):
                inside = Box(left, top + int(start * height), width, int(share * height))
                self.text(slide, text, inside, sizes, bold=bold, colour=colour)

    def table(
        self, slide: Any, table: Table, box: Box, *, widths: Sequence[float], about: str, lines: int = 3
    ) -> int:
        """A topic's table at the first size at which it fits, its height; rows that do not fit are counted, its totals stay.

        A column more than ``widths`` says is as wide as the narrowest."""
        from pptx.enum.text import PP_ALIGN
        from pptx.util import Pt

        shares = [*widths, *[min(widths)] * (len(table.columns) - len(widths))]
        each = [int(box.width * share / sum(shares)) for share in shares]
        cells, tall, size = _laid(table, each, box.height, lines)
        frame = slide.shapes.add_table(len(cells), len(each), box.left, box.top, sum(each), sum(tall))
        frame._element.nvGraphicFramePr.cNvPr.set("descr", clean(about))
        made, right = frame.table, numeric(table)
        for column, width in enumerate(each):
            made.columns[column].width = width
        for at, (row, line) in enumerate(zip(made.rows, cells, strict=True)):
            row.height = tall[at]
            for column, (cell, text) in enumerate(zip(row.cells, line, strict=True)):
                cell.text = text
                paragraph = cell.text_frame.paragraphs[0]
                paragraph.font.size = Pt(size)
                paragraph.font.bold = at == 0 or at >= len(cells) - table.totals
                if column in right:
                    paragraph.alignment = PP_ALIGN.RIGHT
        return sum(tall)

    def picture(self, slide: Any, svg: str, about: str, box: Box) -> None:
        """A drawing, as SVG and as PNG for programs that know no SVG."""
        from pptx.opc.package import Part
        from pptx.opc.packuri import PackURI

        from gpuplan.report.drawing import figure_png

        self.drawings += 1
        shown = slide.shapes.add_picture(BytesIO(figure_png(clean(svg))), box.left, box.top)
        factor = min(box.width / shown.width, box.height / shown.height)
        shown.width, shown.height = int(shown.width * factor), int(shown.height * factor)
        shown.left = box.left + (box.width - shown.width) // 2
        shown._element.nvPicPr.cNvPr.set("descr", clean(about))
        shown.name = f"Drawing {self.drawings}"
        name = PackURI(f"/ppt/media/drawing{self.drawings}.svg")
        drawing = Part(name, "image/svg+xml", slide.part.package, clean(svg).encode())
        add_svg(slide.part, shown._element.xpath(".//a:blip")[0], drawing)

    def chart(self, slide: Any, kind: Any, data: Any, box: Box, scale: tuple[str, float], about: str) -> Any:
        """A chart whose numbers can be edited, and their pattern; ``scale`` is their unit and the most of them."""
        from pptx.util import Pt

        frame = slide.shapes.add_chart(kind, *box, data)
        frame._element.nvGraphicFramePr.cNvPr.set("descr", clean(about))
        chart = frame.chart
        chart.font.size = Pt(12)
        chart.has_title = chart.has_legend = False
        unit, most = scale
        pattern, multiple = next((how for least, *how in PATTERNS if most >= least), ("#,##0", ""))
        axis = chart.value_axis
        axis.has_title = True
        axis.axis_title.text_frame.text = f"{multiple}{unit}"
        axis.axis_title.text_frame.paragraphs[0].runs[0].font.size = Pt(12)
        axis.tick_labels.number_format = pattern
        axis.tick_labels.number_format_is_linked = False
        return chart, pattern

    def above_excludes(self, excludes: Sequence[str]) -> Box:
        """The place above the words on what a cost excludes; all of it where it excludes nothing."""
        return self.box.split(self.box.height - EXCLUDES_HEIGHT)[0] if excludes else self.box

    def excludes(self, slide: Any, excludes: Sequence[str]) -> None:
        """The words on what a cost excludes, at the bottom."""
        if excludes:
            below = self.box.split(self.box.height - EXCLUDES_HEIGHT)[1]
            self.text(slide, f"Cost excludes: {'; '.join(excludes)}", below, (14, 12), colour=QUIET)


def _laid(
    table: Table, widths: Sequence[int], room: int, lines: int
) -> tuple[list[Sequence[str]], list[int], int]:
    """(cells of each row, head included, how tall each row is, size) of a table where there is some room."""
    inner = [(width - 2 * INSET) / POINT * 0.94 for width in widths]

    def height(row: Sequence[str]) -> int:
        return int((max(map(_height, row, [size] * len(row), inner)) + 0.1 * 72) * POINT)

    for size in SIZES:
        cells: list[Sequence[str]] = [
            [_cut(text, size, width, lines) for text, width in zip(row, inner, strict=True)]
            for row in (heads(table), *texts(table))
        ]
        tall = list(map(height, cells))
        if sum(tall) <= room:
            return cells, tall, size
    last = len(cells) - table.totals
    left = room - sum(tall[last:]) - int((size * LINE_HEIGHT + 0.1 * 72) * POINT)
    fits = max(1, _fitting(tall[:last], left))
    more = [f"and {number(last - fits)} more", *[""] * (len(widths) - 1)]
    return [*cells[:fits], more, *cells[last:]], [*tall[:fits], height(more[:1]), *tall[last:]], size


def _fitting(tall: Sequence[float], room: float) -> int:
    """How many of the first there is room for."""
    return sum(below <= room for below in accumulate(tall))
