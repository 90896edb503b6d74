"""Shapes from the templates of the deck."""

from __future__ import annotations

from typing import Any

from pptx.oxml import parse_xml
from pptx.oxml.ns import nsdecls

from gpuplan.deliver.html import templates
from gpuplan.deliver.pptx.measure import POINT, Box
from gpuplan.deliver.texts import one_line


def drawn(template: str, /, **values: object) -> Any:
    """Return what the template ``templates/TEMPLATE.xml.j2`` draws, with values filled in."""
    page = templates("pptx").get_template(f"{template}.xml.j2")
    known = {"Box": Box, "emu": _emu, "one_line": one_line, "hex": hex_colour, "nsdecls": nsdecls}
    return parse_xml(page.render(known, **values))


def add(slide: Any, template: str, /, **values: object) -> None:
    """Put a shape on a slide, above all others."""
    tree = slide.shapes._spTree
    tree.append(drawn(template, number=tree.max_shape_id + 1, **values))


def hex_colour(colour: str) -> str:
    """Return a colour in the notation of the file."""
    return colour.lstrip("#").upper()


def _emu(points: float) -> int:
    """Return a length in the units of the file."""
    return round(points * POINT)
