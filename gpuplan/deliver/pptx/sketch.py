"""Shapes from the templates of the deck, and editable pictures: boxes, words and lines as one group, in the fonts and colours of the slides."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from pptx.oxml import parse_xml
from pptx.oxml.ns import nsdecls

from gpuplan.deliver.html import templates
from gpuplan.deliver.pptx.measure import POINT, SMALL, Box, Grid, cut
from gpuplan.deliver.texts import one_line

# Shapes from templates


def render(template: str, /, **values: object) -> Any:
    """Return what the template ``templates/TEMPLATE.xml.j2`` draws, with values filled in."""
    page = templates("pptx").get_template(f"{template}.xml.j2")
    common = {"Box": Box, "emu": _emu, "one_line": one_line, "nsdecls": nsdecls}
    return parse_xml(page.render(common, **values))


def add(slide: Any, template: str, /, **values: object) -> None:
    """Put a shape on a slide, above all others."""
    tree = slide.shapes._spTree
    tree.append(render(template, number=tree.max_shape_id + 1, **values))


def _emu(points: float) -> int:
    """Return a length in the units of the file."""
    return round(points * POINT)


# Pictures


class Sketch:
    """Shapes in the order in which they are drawn; places are in points from the corner of the picture."""

    def __init__(self, box: Box, loose: float) -> None:
        self.box = box
        self.loose = loose
        """Upper bound of its text width relative to the widest font."""
        self.shapes: list[dict[str, object]] = []
        """What ``templates/sketch.xml.j2`` draws."""

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

    def text(
        self, area: Box, text: str, *, bold: bool = False, colour: str = "tx1", align: str = "l"
    ) -> None:
        """A line of text in the middle of an area's height, cut where the area is too narrow for it."""
        shown = cut(text, SMALL, area.width / self.loose, bold=bold)
        self._add("text", "Text", area, text=shown, pen=colour, bold=bold, align=align)

    def arrow(self, x: float, top: float, bottom: float, colour: str, width: float) -> None:
        """An upright line with heads at both ends."""
        self._add("line", "Line", Box(x, top, 0, bottom - top), line=colour, width=width)

    def _add(self, kind: str, name: str, area: Box, **look: object) -> None:
        place = area._replace(left=area.left + self.box.left, top=area.top + self.box.top)
        self.shapes.append({"kind": kind, "name": name, "box": place, **look})

    def put_on(self, slide: Any, name: str, about: str) -> None:
        """Put the picture on a slide, with words for readers who do not see it."""
        add(slide, "sketch", shapes=self.shapes, box=self.box, name=name, about=one_line(about))


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
