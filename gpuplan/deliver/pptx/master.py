"""The deck's own master: theme, title slide, content slide, divider and closing slide, in the colours and fonts of a brand."""

from __future__ import annotations

from io import BytesIO
from typing import Any

from lxml import etree
from pptx import Presentation
from pptx.opc.constants import RELATIONSHIP_TYPE
from pptx.oxml import parse_xml
from pptx.oxml.ns import qn

from gpuplan.deliver.brand import Brand
from gpuplan.deliver.pptx.measure import BODY, LEAD, POINT, SMALL, TITLE, Box, cut
from gpuplan.deliver.pptx.sketch import render
from gpuplan.deliver.texts import one_line
from gpuplan.report.colours import OKABE_ITO

LOGO, SMALL_LOGO = Box(676, 372, 240, 84), Box(716, 506, 140, 24)
"""Position of the logo on the title slide, and above the number of the others."""


def own_presentation(brand: Brand) -> Any:
    """Return an empty presentation with gpuplan's own master."""
    show: Any = Presentation()
    _, _, show.slide_width, show.slide_height = Box(0, 0, 960, 540).emu
    firm = cut(brand.name, LEAD, LOGO.width, 2, bold=True) if brand.name and not brand.logo else ""
    pages = {page.tag: page for page in render("master", firm=firm, logo=LOGO)}
    for layout in list(show.slide_layouts):
        kind = layout.element.get("type")
        if kind not in pages:
            show.slide_layouts.remove(layout)
            continue
        layout.name = pages[kind].get("name")
        if kind == "blank":
            layout.element.set("type", "cust")
        _fill(layout, pages[kind])
        _with_logo(layout, brand, {"titleOnly": SMALL_LOGO, "secHead": None}.get(kind, LOGO))
    master = show.slide_master
    _fill(master, pages["master"])
    _styles(master)
    _theme(master, brand)
    for key, relation in list(show.part.rels.items()):
        if relation.reltype.endswith("/printerSettings"):
            show.part.rels.pop(key)
    return show


def _theme(master: Any, brand: Brand) -> None:
    """The colours and the fonts of the brand, under the names that every program shows in its menus."""
    part = master.part.part_related_by(RELATIONSHIP_TYPE.THEME)
    theme = parse_xml(part.blob)
    theme.set("name", one_line(brand.name) or "gpuplan")
    accents = (brand.accent, *(OKABE_ITO[at].lstrip("#").upper() for at in (1, 2, 3, 4, 5)))
    colours = {"dk1": brand.ink, "lt1": "FFFFFF", "dk2": brand.quiet, "lt2": brand.shade}
    colours |= {f"accent{at}": colour for at, colour in enumerate(accents, 1)}
    colours |= {"hlink": brand.accent, "folHlink": brand.quiet}
    for name, colour in colours.items():
        place = theme.find(f".//{qn(f'a:{name}')}")
        place[:] = [place.makeelement(qn("a:srgbClr"), {"val": colour})]
    for kind, font in (("majorFont", brand.headings), ("minorFont", brand.text)):
        theme.find(f".//{qn(f'a:{kind}')}/{qn('a:latin')}").set("typeface", font)
    part._blob = etree.tostring(theme, xml_declaration=True, encoding="UTF-8", standalone=True)


def _styles(master: Any) -> None:
    """Sizes of titles and of text in the master."""
    styles = master.element.find(qn("p:txStyles"))
    first = styles.find(qn("p:titleStyle")).find(qn("a:lvl1pPr"))
    first.set("algn", "l")
    first.find(qn("a:defRPr")).set("sz", str(100 * TITLE))
    first.find(qn("a:defRPr")).set("b", "1")
    for level, size in zip(styles.find(qn("p:bodyStyle")), (LEAD, BODY, *[SMALL] * 7), strict=False):
        level.find(qn("a:defRPr")).set("sz", str(100 * size))


def _fill(page: Any, shapes: Any) -> None:
    """Replace what is on a master or a layout."""
    for number, shape in enumerate(shapes, 2):
        shape[0][0].set("id", str(number))
    page.shapes._spTree[2:] = list(shapes)


def _with_logo(layout: Any, brand: Brand, room: Box | None) -> None:
    """The logo at the right of its place, as large as fits."""
    if not brand.logo or room is None:
        return
    image, relation = layout.part.get_or_add_image_part(BytesIO(brand.logo))
    wide, high = image.scale(None, None)
    factor = min(room.width * POINT / wide, room.height * POINT / high)
    width, height = wide * factor / POINT, high * factor / POINT
    left, top = room.left + room.width - width, room.top + (room.height - height) / 2
    name = one_line(brand.name) or "Logo"
    shown = Box(left, top, width, height)
    logo = render("logo", id=len(layout.shapes) + 20, name=name, box=shown, relation=relation)
    layout.shapes._spTree.append(logo)
