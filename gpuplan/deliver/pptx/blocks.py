"""Blocks of slides: words, key figures, charts whose numbers can be edited, pictures of shapes; and text in the placeholders of a layout."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from pptx.chart.data import CategoryChartData
from pptx.enum.chart import XL_CHART_TYPE
from pptx.oxml import parse_xml
from pptx.oxml.ns import nsdecls
from pptx.util import Pt

from gpuplan.deliver.html import one_line, templates
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
    emu,
    text_lines,
    text_width,
)

GAP = 16
TILE, TILE_INSET = 96, 12
"""Height of a tile, and the margin at its sides."""
AFTER_PARAGRAPH = 0.28
"""Room below a paragraph, in lines."""
SCALES = ((1e9, "#,##0.0,,,", "bn"), (1e6, "#,##0.0,,", "M"), (1e4, "#,##0,", "k"))
"""Thresholds of the multiples in which numbers are shown, with their formats."""


def render(template: str, /, **values: object) -> Any:
    """Return what the template ``templates/TEMPLATE.xml.j2`` draws, with values filled in."""
    page = templates("pptx").get_template(f"{template}.xml.j2")
    common = {"Box": Box, "emu": emu, "one_line": one_line, "nsdecls": nsdecls}
    return parse_xml(page.render(common, **values))


def add(slide: Any, template: str, /, **values: object) -> None:
    """Put a shape on a slide, above all others."""
    tree = slide.shapes._spTree
    tree.append(render(template, number=tree.max_shape_id + 1, **values))


class Words(NamedTuple):
    """Paragraphs below each other, as much of each as fits."""

    texts: Sequence[str]
    size: int = BODY
    quiet: bool = False

    def height(self, width: float) -> float:
        """Return the height that all of it takes."""
        lines = sum(text_lines(text, self.size, width) + AFTER_PARAGRAPH for text in self.texts)
        return lines * self.size * LINE_HEIGHT

    def put(self, _deck: Grid, slide: Any, box: Box) -> None:
        """Write them."""
        left, shown = box.height / (self.size * LINE_HEIGHT), []
        for text in self.texts:
            if left >= 1:
                kept = cut(text, self.size, box.width, int(left))
                left -= text_lines(kept, self.size, box.width) + AFTER_PARAGRAPH
                shown.append((kept, self.size, False, "tx2" if self.quiet else "tx1"))
        add(slide, "words", name="", box=box, ground="", inset=0, anchor="t", paragraphs=shown, spaced=True)


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
        wide = (box.width - (columns - 1) * GAP) / columns
        room = wide - 2 * TILE_INSET
        typical = room / deck.narrow
        values = [tile.value for tile in self.tiles]
        large = (s for s in (TITLE, LEAD) if all(text_width(v, s, bold=True) <= typical for v in values))
        size = next(large, BODY)
        for at, tile in enumerate(self.tiles):
            parts = (
                (cut(tile.label, SMALL, typical), SMALL, False, "tx2"),
                (cut(tile.value, size, typical, bold=True), size, True, "accent1"),
                (cut(tile.note, SMALL, room, 2) if tile.note else None, SMALL, False, "tx1"),
            )
            name, place = one_line(f"Figure: {tile.label}"), box.cell(at, columns, wide, TILE, GAP)
            look = {"ground": "bg2", "inset": TILE_INSET, "anchor": "ctr", "spaced": False}
            add(slide, "words", name=name, box=place, paragraphs=parts, **look)


class Label(NamedTuple):
    """Words of a bar."""

    text: str
    bold: bool = True
    colour: str = ""


class Series(NamedTuple):
    """Numbers of one kind, in one colour."""

    name: str
    colour: str
    values: Sequence[float]
    pattern: str = ""
    """Format of the number at the end of every bar; empty for none."""
    colours: Sequence[str] = ()
    """Colour of each bar; empty where it is that of the series."""
    labels: Sequence[Label | None] = ()
    at: str = "outEnd"


class Chart(NamedTuple):
    """Bars or columns with their look."""

    about: str
    """For readers who cannot see it."""
    names: Sequence[str]
    series: Sequence[Series]
    tall: tuple[float, float] | None = None
    """Most height: of everything else, and of each category."""
    kind: str = "BAR_CLUSTERED"
    gap: int = 45
    """Gap between bars, in per cent of their width."""
    overlap: int | None = None
    legend: str = ""
    """Side of the key: ``r`` or ``b``; empty for none."""
    axis: str = ""
    """Title of the value axis; without one the axis is omitted."""
    pattern: str = "#,##0"
    start: float | None = 0
    """Limits of the axis; None where the program decides."""
    end: float | None = None
    spans: Sequence[tuple[float, float]] = ()
    summed: bool = False
    """True if the last series is the sums of the columns, which are written above them."""

    def put(self, _deck: Grid, slide: Any, box: Box) -> None:
        """Draw it."""
        if self.tall:
            box = box._replace(height=min(box.height, self.tall[0] + self.tall[1] * len(self.names)))
        factory: Any = CategoryChartData
        data = factory(number_format="General")
        data.categories = [one_line(item) for item in self.names]
        for item in self.series:
            data.add_series(one_line(item.name), item.values)
        frame = slide.shapes.add_chart(getattr(XL_CHART_TYPE, self.kind), *box.emu, data)
        frame._element.nvGraphicFramePr.cNvPr.set("descr", one_line(self.about))
        space = frame.chart._chartSpace
        *shown, workbook = space
        for child in shown:
            space.remove(child)
        for child in list(render("chart", chart=self, data=data)):
            workbook.addprevious(child)


def piled(about: str, names: Sequence[str], series: Sequence[Series], axis: str, gap: int) -> Chart:
    """Columns of several parts, with their key at the right and an axis."""
    return Chart(about, names, series, kind="COLUMN_STACKED", gap=gap, overlap=100, legend="r", axis=axis)


def scale_of(most: float) -> tuple[str, str]:
    """Return (pattern, letter) of the multiple for amounts of this size."""
    return next(((pattern, letter) for least, pattern, letter in SCALES if most >= least), ("#,##0", ""))


class Sketch:
    """Shapes in the order in which they are drawn; places are in points from the corner of the picture."""

    def __init__(self, box: Box, loose: float) -> None:
        self.box = box
        self.loose = loose
        """Upper bound of its text width relative to the widest font."""
        self.shapes: list[dict[str, object]] = []

    def rect(
        self,
        area: Box,
        *,
        fill: str = "",
        line: str = "",
        width: float = 0.75,
        dashed: bool = False,
        round_by: float = 3,
        text: str = "",
        pen: str = "tx1",
        name: str = "Box",
    ) -> None:
        """A rectangle with rounded corners, and a bold word in its middle if there is one; an empty colour leaves its area or its edge clear."""
        curve = min(50_000, round(100_000 * round_by / max(1, min(area.width, area.height))))
        look = {"curve": curve, "fill": fill, "line": line, "width": width, "dashed": dashed}
        self._add("rect", name, area, **look, text=text, pen=pen, bold=True, align="ctr")

    def text(self, box: Box, text: str, *, bold: bool = False, colour: str = "tx1", align: str = "l") -> None:
        """A line of text in the middle of an area's height, cut where the area is too narrow for it."""
        shown = cut(text, SMALL, box.width / self.loose, bold=bold)
        self._add("text", "Text", box, text=shown, pen=colour, bold=bold, align=align)

    def arrow(self, x: float, top: float, bottom: float, colour: str, width: float) -> None:
        """An upright line with heads at both ends."""
        self._add("line", "Line", Box(x, top, 0, bottom - top), line=colour, width=width)

    def _add(self, kind: str, name: str, area: Box, **look: object) -> None:
        place = area._replace(left=area.left + self.box.left, top=area.top + self.box.top)
        self.shapes.append({"kind": kind, "name": name, "box": place, **look})


class Picture(NamedTuple):
    """A sketch on a slide."""

    name: str
    draw: Callable[[Sketch], object]
    about: str

    def put(self, deck: Grid, slide: Any, box: Box) -> None:
        """Draw it."""
        sketch = Sketch(box, deck.loose)
        self.draw(sketch)
        add(slide, "sketch", shapes=sketch.shapes, box=box, name=self.name, about=one_line(self.about))


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
    for at, text in enumerate(texts):
        paragraph = place.text_frame.paragraphs[0] if at == 0 else place.text_frame.add_paragraph()
        paragraph.text = cut(text, BODY, box_of(place).width, lines)
