"""Blocks of slides: words, key figures, charts whose numbers can be edited, pictures of shapes; and text in the placeholders of a layout."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

from pptx.chart.data import CategoryChartData
from pptx.enum.chart import XL_CHART_TYPE
from pptx.oxml import parse_xml
from pptx.oxml.ns import nsdecls
from pptx.util import Pt

from gpuplan.deliver.html import one_line, templates
from gpuplan.deliver.pptx.measure import (
    BODY,
    KEY,
    LEAD,
    LINE_HEIGHT,
    SMALL,
    TITLE,
    Box,
    Grid,
    box_of,
    cut,
    emu,
    text_height,
    text_lines,
    text_width,
)

GAP = 16
TILE, TILE_INSET = 104, 14
"""Height of a tile, and the margin at its sides."""
AFTER_PARAGRAPH = 0.28
"""Room below a paragraph, in lines."""
SCALES = ((1e9, "#,##0.0,,,", "bn"), (1e6, "#,##0.0,,", "M"), (1e4, "#,##0,", "k"))
"""Thresholds of the multiples in which numbers are shown, with their formats."""


CARD, HIGH_CARD, CARD_PAD, CARD_GAP = 150, 240, 12, 14
"""Least width of a card, least height where they are in rows, the margin in it, and the room between cards."""
EDGE = "B9C1CC"


class Block(Protocol):
    """Something that is put into a place on a slide."""

    def put(self, deck: Any, slide: Any, box: Box) -> None:
        """Draw it."""


class Shown(NamedTuple):
    """A block of a certain height, above or below the body of a slide."""

    block: Block
    tall: float

    def height(self, _width: float) -> float:
        """Return its height."""
        return self.tall

    def put(self, deck: Any, slide: Any, box: Box) -> None:
        """Draw it."""
        self.block.put(deck, slide, box)


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
    ground: str = ""
    """Colour of its ground, with a margin at the sides; empty for none."""

    def height(self, width: float) -> float:
        """Return the height that all of it takes."""
        lines = sum(text_lines(text, self.size, width) + AFTER_PARAGRAPH for text in self.texts)
        return lines * self.size * LINE_HEIGHT

    def put(self, deck: Grid, slide: Any, box: Box) -> None:
        """Write them."""
        left, shown, inset = box.height / (self.size * LINE_HEIGHT), [], 16 * bool(self.ground)
        room = (box.width - 2 * inset) / deck.narrow
        for text in self.texts:
            if left >= 1:
                kept = cut(text, self.size, room, int(left))
                left -= text_lines(kept, self.size, room) + AFTER_PARAGRAPH
                shown.append((kept, self.size, False, "tx2" if self.quiet else "tx1"))
        look = {"ground": self.ground, "inset": inset, "anchor": "ctr" if inset else "t", "spaced": not inset}
        add(slide, "words", name="", box=box, paragraphs=shown, **look)


class Tile(NamedTuple):
    """A key figure."""

    label: str
    value: str
    note: str = ""


class Tiles(NamedTuple):
    """Key figures beside each other, or below each other over the whole height."""

    tiles: Sequence[Tile]
    upright: bool = False

    def height(self, _width: float) -> float:
        """Return the height of a row."""
        return TILE

    def put(self, deck: Grid, slide: Any, box: Box) -> None:
        """Draw them, with all values in the same size."""
        columns = 1 if self.upright else len(self.tiles)
        rows = len(self.tiles) // columns
        wide, high = (box.width - (columns - 1) * GAP) / columns, (box.height - (rows - 1) * GAP) / rows
        room = wide - 2 * TILE_INSET
        typical = room / deck.narrow
        high_lines = {
            size: int(high / (SMALL * LINE_HEIGHT) - 1 - size / SMALL) for size in (KEY, TITLE, LEAD, BODY)
        }
        size = next(
            size
            for size, lines in high_lines.items()
            if size == BODY
            or all(
                text_width(tile.value, size, bold=True) <= typical
                and text_lines(tile.note, SMALL, room) <= lines
                for tile in self.tiles
            )
        )
        for at, tile in enumerate(self.tiles):
            note = cut(tile.note, SMALL, room, max(1, high_lines[size]))
            parts = (
                (cut(tile.label, SMALL, typical), SMALL, False, "tx2"),
                (cut(tile.value, size, typical, bold=True), size, True, "accent1"),
                (note or None, SMALL, False, "tx1"),
            )
            name, place = one_line(f"Figure: {tile.label}"), box.cell(at, columns, wide, high, GAP)
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
    kind: str = "BAR_CLUSTERED"
    gap: int = 45
    """Gap between bars, in per cent of their width."""
    overlap: int | None = None
    legend: str = ""
    """Side of the key, such as ``b``; empty for none."""
    axis: str = ""
    """Title of the value axis; without one the axis is omitted."""
    pattern: str = "#,##0"
    start: float | None = 0
    """Limits of the axis; None where the program decides."""
    end: float | None = None
    summed: bool = False
    """True if the last series is the sums of the columns, which are written above them."""

    def put(self, _deck: Grid, slide: Any, box: Box) -> None:
        """Draw it."""
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
    """Columns of several parts, with their key below and an axis."""
    return Chart(about, names, series, kind="COLUMN_STACKED", gap=gap, overlap=100, legend="b", axis=axis)


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
        form: str = "",
        text: str = "",
        pen: str = "tx1",
        size: int = SMALL,
        name: str = "Box",
    ) -> None:
        """A rectangle with rounded corners, or another form, and a bold word in its middle if there is one; an empty colour leaves its area or its edge clear."""
        curve = 0 if form else min(50_000, round(100_000 * round_by / max(1, min(area.width, area.height))))
        look = {"curve": curve, "form": form or "roundRect", "fill": fill, "line": line, "width": width}
        self._add(
            "rect", name, area, **look, dashed=dashed, text=text, pen=pen, size=size, bold=True, align="ctr"
        )

    def text(
        self,
        box: Box,
        text: str,
        *,
        bold: bool = False,
        colour: str = "tx1",
        align: str = "l",
        size: int = SMALL,
        lines: int = 1,
    ) -> Box:
        """A line of text in the middle of an area's height, or several from its top, cut where they are too long; return the place below."""
        room = box.width / self.loose
        shown = cut(text, size, room, lines, bold=bold)
        high = text_height(shown, size, room, bold=bold) if lines > 1 else box.height
        area = box.above(high)
        if shown:
            look = {"pen": colour, "bold": bold, "align": align, "size": size, "wrap": lines > 1}
            self._add("text", "Text", area, text=shown, **look)
        return box.down(high)._replace(height=box.height - high)

    def _add(self, kind: str, name: str, area: Box, **look: object) -> None:
        place = area._replace(left=area.left + self.box.left, top=area.top + self.box.top)
        self.shapes.append({"kind": kind, "name": name, "box": place, "size": SMALL, "wrap": False, **look})


class Card(NamedTuple):
    """One of several things of a kind: a name, some words, and what belongs to it at the foot."""

    head: str
    text: str
    foot: Sequence[str] = ()
    """Lines at the foot, the last one bold."""
    tone: str = "accent1"
    """Colour of its edge and of its mark."""
    ground: str = "FFFFFF"
    """Colour of its ground, and of its foot where it has a mark."""
    mark: str = ""
    """A sign of its state."""
    shorter: str = ""
    """Its words where there is no room for all."""
    draw: Callable[[Sketch, Box], float] | None = None
    """Draws between head and text, and returns the height that it takes."""


def cards(shown: Sequence[Card], sketch: Sketch) -> None:
    """Draw cards beside each other, in rows where they would be too narrow."""
    box = sketch.box
    across = max(1, int((box.width + CARD_GAP) / (CARD + CARD_GAP)))
    rows = min(-(-len(shown) // across), max(1, int(box.height / HIGH_CARD)))
    columns = -(-len(shown) // rows)
    wide = (box.width - (columns - 1) * CARD_GAP) / columns
    high = (box.height - (rows - 1) * CARD_GAP) / rows
    room = (wide - 2 * CARD_PAD - 34 * bool(shown[0].mark)) / sketch.loose
    lines = {
        size: max(text_lines(card.head, size, room, bold=True) for card in shown)
        for size in (18, BODY, SMALL)
    }
    size = 18 if lines[18] == 1 else BODY if lines[BODY] <= 2 else SMALL
    for at, card in enumerate(shown):
        place = Box(0, 0, box.width, box.height).cell(at, columns, wide, high, CARD_GAP)
        _card(sketch, card, place, size, min(3, lines[size]))


def _card(sketch: Sketch, card: Card, area: Box, size: int, lines: int) -> None:
    marked, line = bool(card.mark), SMALL * LINE_HEIGHT + 2
    sketch.rect(area, fill="FFFFFF" if marked else card.ground, line=EDGE, form="rect", name="Card")
    sketch.rect(area.above(4), fill=card.tone, form="rect", name="Edge")
    inside = Box(area.left + CARD_PAD, area.top + 14, area.width - 2 * CARD_PAD, area.height - 14 - CARD_PAD)
    head = inside.above(max(26.0, lines * size * LINE_HEIGHT + 1))
    place = inside.below(head.height + 8)
    if marked:
        state = head._replace(width=26, height=26)
        sketch.rect(state, fill=card.tone, form="ellipse", text=card.mark, pen="FFFFFF", name="State")
        head = head.right(34)
    tone = card.tone if marked else "tx1"
    sketch.text(head, card.head, bold=True, size=size, colour=tone, lines=lines)
    if card.draw:
        place = place.below(card.draw(sketch, place))
    low = len(card.foot) * line + 8 * bool(card.foot)
    foot = inside.below(inside.height - low)
    room = place._replace(height=foot.top - place.top)
    choices = ((text, size) for text in (card.text, card.shorter or card.text) for size in (18, BODY, SMALL))
    held = (c for c in choices if text_height(*c, room.width / sketch.loose) <= room.height)
    text, size = next(held, (card.shorter or card.text, SMALL))
    sketch.text(room, text, size=size, lines=max(2, int(room.height / (size * LINE_HEIGHT))))
    if card.foot:
        rule = foot.above(0.75) if not marked else foot.down(6).above(low - 6)
        sketch.rect(rule, fill=card.ground if marked else EDGE, form="rect", name="Rule")
    for at, words in enumerate(card.foot, 1):
        last = at == len(card.foot)
        below = foot.down(6 + (at - 1) * line).above(line)
        sketch.text(below.right(6 * marked), words, bold=last, colour=tone if last else "tx2")


def unit_of_squares(most: float, places: float) -> int:
    """Return what a square stands for, so that there are no more than so many."""
    return next(n for n in (1, 2, 5, 10, 20, 50, 100, 200, 500, 10**3, 10**4, 10**6) if most / n <= places)


def squares(
    sketch: Sketch, box: Box, count: float, unit: float, colour: str, *, new: float = 0, side: float = 18
) -> None:
    """A square for each unit in rows, the last one filled in part; what is new has a bold edge."""
    across, most = max(1, int((box.width + 4) / (side + 4))), int(-(-count // unit))
    for at in range(most):
        place = box.cell(at, across, side, side, 4)
        part = min(1.0, count / unit - at)
        sketch.rect(place._replace(width=max(1.5, side * part)), fill=colour, form="rect", name="Unit")
        if new and (at + 1) * unit > count - new:
            sketch.rect(place, line="1A2230", width=2, form="rect", name="Unit")
        elif part < 1:
            sketch.rect(place, line=colour, width=1, form="rect", name="Unit")


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
