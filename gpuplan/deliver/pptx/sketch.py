"""An editable picture of shapes: boxes, words and lines as one group, in the fonts and colours of the slides."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple
from xml.sax.saxutils import escape, quoteattr

from pptx.oxml import parse_xml

from gpuplan.deliver.pptx.measure import SMALL, Box, Grid, cut
from gpuplan.deliver.texts import one_line

NAMESPACES = (
    'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" '
    'xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main"'
)
ANCHORS = {"left": "l", "center": "ctr", "right": "r"}


def colour_xml(colour: str, *, alpha: float = 1) -> str:
    """A colour of the theme by its name, any other by its six digits."""
    kind = "srgbClr" if len(colour) == 6 else "schemeClr"
    clear = f'<a:alpha val="{round(100_000 * alpha)}"/>' if alpha < 1 else ""
    return f'<a:{kind} val="{colour}">{clear}</a:{kind}>'


def fill_xml(colour: str, *, alpha: float = 1) -> str:
    """Return the XML of a fill; an empty colour leaves the area clear."""
    return f"<a:solidFill>{colour_xml(colour, alpha=alpha)}</a:solidFill>" if colour else "<a:noFill/>"


def line_xml(colour: str, width: float = 0.75, *, dashed: bool = False, arrow: bool = False) -> str:
    """Return the XML of an edge or a line; an empty colour draws none."""
    dashes = '<a:prstDash val="dash"/>' if dashed else ""
    head = '<a:headEnd type="triangle"/><a:tailEnd type="triangle"/>' if arrow else ""
    return f'<a:ln w="{round(12_700 * width)}">{fill_xml(colour)}{dashes}{head}</a:ln>'


def run_xml(text: str, size: float, colour: str, *, bold: bool = False) -> str:
    """A run of text."""
    weight = ' b="1"' if bold else ' b="0"'
    return (
        f'<a:r><a:rPr lang="en-GB" sz="{round(100 * size)}"{weight} dirty="0">{fill_xml(colour)}</a:rPr>'
        f"<a:t>{escape(one_line(text))}</a:t></a:r>"
    )


def frame_xml(area: Box, *, inside: bool = False) -> str:
    """Return the XML of a place; of a group, the same for what is inside of it."""
    left, top, wide, high = area.emu
    places = [("off", "ext"), ("chOff", "chExt")][: 1 + inside]
    found = (f'<a:{at} x="{left}" y="{top}"/><a:{size} cx="{wide}" cy="{high}"/>' for at, size in places)
    return f"<a:xfrm>{''.join(found)}</a:xfrm>"


class Sketch:
    """Shapes in the order in which they are drawn; places are in points from the corner of the picture."""

    def __init__(self, box: Box, loose: float) -> None:
        self.box = box
        self.loose = loose
        """Upper bound of its text width relative to the widest font."""
        self.shapes: list[tuple[str, str]] = []
        """Name and XML of each; its number is filled in when the picture is put on a slide."""

    def rect(
        self,
        area: Box,
        *,
        fill: str = "",
        line: str = "",
        width: float = 0.75,
        dashed: bool = False,
        alpha: float = 1,
        round_by: float = 3,
        text: str = "",
        pen: str = "tx1",
        name: str = "",
    ) -> None:
        """A rectangle with rounded corners, and a bold word in its middle if there is one."""
        curve = min(50_000, round(100_000 * round_by / max(1, min(area.width, area.height))))
        shape = (
            f'<a:prstGeom prst="roundRect"><a:avLst><a:gd name="adj" fmla="val {curve}"/></a:avLst></a:prstGeom>'
            f"{fill_xml(fill, alpha=alpha)}{line_xml(line, width, dashed=dashed)}"
        )
        words = run_xml(text, SMALL, pen, bold=True) if text else '<a:endParaRPr lang="en-GB" sz="1400"/>'
        self._add(name or "Box", area, shape, f'<a:p><a:pPr algn="ctr"/>{words}</a:p>')

    def text(
        self, area: Box, text: str, *, bold: bool = False, colour: str = "tx1", align: str = "left"
    ) -> None:
        """A line of text in the middle of an area's height, cut where the area is too narrow for it."""
        shown = cut(text, SMALL, area.width / self.loose, bold=bold)
        words = f'<a:p><a:pPr algn="{ANCHORS[align]}"/>{run_xml(shown, SMALL, colour, bold=bold)}</a:p>'
        shape = '<a:prstGeom prst="rect"><a:avLst/></a:prstGeom><a:noFill/><a:ln><a:noFill/></a:ln>'
        self._add("Text", area, shape, words)

    def line(
        self,
        x1: float,
        y1: float,
        x2: float,
        y2: float,
        colour: str,
        width: float = 1,
        *,
        arrow: bool = False,
    ) -> None:
        """A straight line, level or upright, with heads at both ends if it is an arrow."""
        place = self._placed(Box(min(x1, x2), min(y1, y2), abs(x2 - x1), abs(y2 - y1)))
        xml = (
            '<p:cxnSp><p:nvCxnSpPr><p:cNvPr id="{id}" name="{name}"/><p:cNvCxnSpPr/><p:nvPr/></p:nvCxnSpPr><p:spPr>'
            f'{place}<a:prstGeom prst="line"><a:avLst/></a:prstGeom>{line_xml(colour, width, arrow=arrow)}</p:spPr></p:cxnSp>'
        )
        self.shapes.append(("Line", xml))

    def _placed(self, area: Box) -> str:
        return frame_xml(area._replace(left=area.left + self.box.left, top=area.top + self.box.top))

    def _add(self, name: str, area: Box, shape: str, words: str) -> None:
        xml = (
            '<p:sp><p:nvSpPr><p:cNvPr id="{id}" name="{name}"/><p:cNvSpPr/><p:nvPr/></p:nvSpPr>'
            f"<p:spPr>{self._placed(area)}{shape}</p:spPr>"
            '<p:txBody><a:bodyPr wrap="none" lIns="0" tIns="0" rIns="0" bIns="0" anchor="ctr"><a:noAutofit/></a:bodyPr>'
            f"<a:lstStyle/>{words}</p:txBody></p:sp>"
        )
        self.shapes.append((name, xml))

    def put_on(self, slide: Any, name: str, about: str) -> None:
        """Put the picture on a slide, with words for readers who do not see it."""
        number = max((shape.shape_id for shape in slide.shapes), default=1) + 1
        inner = "".join(
            xml.replace('id="{id}" name="{name}"', f'id="{number + at}" name={quoteattr(f"{each} {at}")}', 1)
            for at, (each, xml) in enumerate(self.shapes, 1)
        )
        described = f"name={quoteattr(name)} descr={quoteattr(one_line(about))}"
        slide.shapes._spTree.append(
            parse_xml(
                f'<p:grpSp {NAMESPACES}><p:nvGrpSpPr><p:cNvPr id="{number}" {described}/><p:cNvGrpSpPr/><p:nvPr/></p:nvGrpSpPr>'
                f"<p:grpSpPr>{frame_xml(self.box, inside=True)}</p:grpSpPr>{inner}</p:grpSp>"
            )
        )


class Picture(NamedTuple):
    """A sketch on a slide."""

    name: str
    draw: Callable[[Sketch], object]
    about: str
    """For readers who do not see it."""

    def put(self, deck: Grid, slide: Any, box: Box) -> None:
        """Draw it."""
        sketch = Sketch(box, deck.loose)
        self.draw(sketch)
        sketch.put_on(slide, self.name, self.about)
