"""The deck's own master: theme, title slide, content slide, divider and closing slide, in the colours and fonts of a brand."""

from __future__ import annotations

from collections.abc import Iterator
from io import BytesIO
from typing import Any
from xml.sax.saxutils import quoteattr

from lxml import etree
from pptx import Presentation
from pptx.opc.constants import RELATIONSHIP_TYPE
from pptx.oxml import parse_xml
from pptx.oxml.ns import qn

from gpuplan.deliver.brand import Brand
from gpuplan.deliver.pptx.measure import BODY, COVER, LEAD, POINT, SMALL, TITLE, Box, cut
from gpuplan.deliver.pptx.sketch import NAMESPACES, fill_xml, line_xml, run_xml
from gpuplan.deliver.texts import one_line
from gpuplan.report.colours import OKABE_ITO

SLIDE = Box(0, 0, 960, 540)
MARGIN = 44
BAND = 330
"""Height of the coloured part of the title slide."""
RELATIONS = 'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"'
TITLE_BOX = Box(MARGIN, 38, 872, 76)
FOOTER, NUMBER = Box(MARGIN, 507, 560, 22), Box(866, 507, 50, 22)
LOGO, SMALL_LOGO = Box(676, 372, 240, 84), Box(716, 506, 140, 24)
"""Position of the logo on the title slide, and above the number of the others."""
NAMES = {"title": "Title Slide", "secHead": "Section Header", "titleOnly": "Title Only", "blank": "Closing"}
"""Kind of a kept layout -> its name."""


def own_presentation(brand: Brand) -> Any:
    """Return an empty presentation with gpuplan's own master."""
    show: Any = Presentation()
    _, _, show.slide_width, show.slide_height = SLIDE.emu
    master = show.slide_master
    for layout in list(show.slide_layouts):
        kind = layout.element.get("type")
        if kind not in NAMES:
            show.slide_layouts.remove(layout)
            continue
        layout.name = NAMES[kind]
        if kind == "blank":
            layout.element.set("type", "cust")
        _drawn(layout, list(LAYOUTS[kind](brand)))
        _with_logo(layout, brand, {"titleOnly": SMALL_LOGO, "secHead": None}.get(kind, LOGO))
    places = (*_head(), _place("body", 1, Box(MARGIN, 122, 872, 370), BODY, "tx1"), *_footer())
    _drawn(master, [xml for xml in places if "<p:ph " in xml])
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
        for child in list(place):
            place.remove(child)
        place.append(place.makeelement(qn("a:srgbClr"), {"val": colour}))
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


def _drawn(page: Any, shapes: list[str]) -> None:
    """Replace what is on a master or a layout."""
    tree = page.shapes._spTree
    for child in list(tree)[2:]:
        tree.remove(child)
    for number, xml in enumerate(shapes, 2):
        tree.append(parse_xml(xml.replace('id="0"', f'id="{number}"', 1)))


def _with_logo(layout: Any, brand: Brand, room: Box | None) -> None:
    """The logo at the right of its place, as large as fits."""
    if not brand.logo or room is None:
        return
    image, relation = layout.part.get_or_add_image_part(BytesIO(brand.logo))
    wide, high = image.scale(None, None)
    factor = min(room.width * POINT / wide, room.height * POINT / high)
    width, height = wide * factor / POINT, high * factor / POINT
    left, top = room.left + room.width - width, room.top + (room.height - height) / 2
    name = quoteattr(one_line(brand.name) or "Logo")
    layout.shapes._spTree.append(
        parse_xml(
            f'<p:pic {NAMESPACES} {RELATIONS}><p:nvPicPr><p:cNvPr id="{len(layout.shapes) + 20}" name="Logo" descr={name}/>'
            '<p:cNvPicPr><a:picLocks noChangeAspect="1"/></p:cNvPicPr><p:nvPr userDrawn="1"/></p:nvPicPr>'
            f'<p:blipFill><a:blip r:embed="{relation}"/><a:stretch><a:fillRect/></a:stretch></p:blipFill>'
            f"<p:spPr>{_frame(Box(left, top, width, height))}"
            '<a:prstGeom prst="rect"><a:avLst/></a:prstGeom></p:spPr></p:pic>'
        )
    )


# Layouts


def _title_layout(brand: Brand) -> Iterator[str]:
    """Draw a band of the accent to three edges with stylised hosts; below it the author of the design, and the logo."""
    yield _area("Band", SLIDE._replace(height=BAND), "accent1")
    yield from _hosts(Box(668, 46, 248, 240))
    yield _place("ctrTitle", 0, Box(MARGIN, 60, 590, 160), COVER, "bg1", anchor="b", bold=True)
    yield _place("subTitle", 1, Box(MARGIN, 228, 590, 72), LEAD, "bg1")
    yield _place("body", 13, Box(MARGIN, 366, 600, 120), BODY, "tx1")
    if brand.name and not brand.logo:
        yield _words("Brand", LOGO, cut(brand.name, LEAD, LOGO.width, 2, bold=True), LEAD, align="r")


def _section_layout(_brand: Brand) -> Iterator[str]:
    yield _area("Band", SLIDE, "accent1")
    yield from _hosts(Box(668, 46, 248, 240))
    yield _place("title", None, Box(MARGIN, 190, 590, 96), COVER, "bg1", anchor="b", bold=True)
    yield _place("body", 1, Box(MARGIN, 296, 872, 150), LEAD, "bg1")


def _content_layout(_brand: Brand) -> Iterator[str]:
    yield from _head()
    yield from _footer()


def _closing_layout(brand: Brand) -> Iterator[str]:
    yield _area("Band", Box(0, 0, 960, 24), "accent1")
    yield _place("title", None, Box(MARGIN, 72, 872, 60), TITLE, "accent1", bold=True)
    yield _place("body", 1, Box(MARGIN, 146, 600, 320), BODY, "tx1")
    if brand.name and not brand.logo:
        yield _words("Brand", LOGO, cut(brand.name, LEAD, LOGO.width, 2, bold=True), LEAD, align="r")


LAYOUTS = {
    "title": _title_layout,
    "secHead": _section_layout,
    "titleOnly": _content_layout,
    "blank": _closing_layout,
}


def _head() -> Iterator[str]:
    """The accent rule and the message of a slide."""
    yield _area("Accent rule", Box(MARGIN, 28, 56, 5), "accent1")
    yield _place("title", None, TITLE_BOX, TITLE, "tx1", bold=True)


def _footer() -> Iterator[str]:
    """The rule at the bottom, the words below it, and the number of the slide."""
    yield _area("Footer rule", Box(MARGIN, 501, 872, 0.75), "bg2")
    yield _place("ftr", 11, FOOTER, SMALL, "tx2", anchor="ctr")
    yield _place("sldNum", 12, NUMBER, SMALL, "tx2", anchor="ctr", align="r")


def _hosts(box: Box) -> Iterator[str]:
    """Draw rows of GPUs, some of them allocated, as an ornament."""
    shown = (0.30, 0.16, 0.16, 0.30, 0.16, 0.30, 0.30, 0.08, 0.16, 0.30, 0.08, 0.08, 0.30, 0.16, 0.08, 0.08)
    gap = 14.0
    wide, high = (box.width - 3 * gap) / 4, (box.height - 3 * gap) / 4
    for at, alpha in enumerate(shown):
        row, column = divmod(at, 4)
        area = Box(box.left + column * (wide + gap), box.top + row * (high + gap), wide, high)
        yield _area(f"GPU {at + 1}", area, "bg1", alpha=alpha, shape="roundRect")


def _frame(area: Box) -> str:
    left, top, wide, high = area.emu
    return f'<a:xfrm><a:off x="{left}" y="{top}"/><a:ext cx="{wide}" cy="{high}"/></a:xfrm>'


def _area(name: str, area: Box, fill: str, *, alpha: float = 1, shape: str = "rect") -> str:
    """Return a coloured area that users cannot change on a slide."""
    return (
        f'<p:sp {NAMESPACES}><p:nvSpPr><p:cNvPr id="0" name="{name}"/><p:cNvSpPr/><p:nvPr userDrawn="1"/></p:nvSpPr>'
        f'<p:spPr>{_frame(area)}<a:prstGeom prst="{shape}"><a:avLst/></a:prstGeom>{fill_xml(fill, alpha=alpha)}'
        f'{line_xml("")}</p:spPr><p:txBody><a:bodyPr/><a:lstStyle/><a:p><a:endParaRPr lang="en-GB" sz="1400"/></a:p></p:txBody></p:sp>'
    )


def _words(name: str, area: Box, text: str, size: int, *, align: str) -> str:
    """Return text that appears on every slide of a layout."""
    return (
        f'<p:sp {NAMESPACES}><p:nvSpPr><p:cNvPr id="0" name="{name}"/><p:cNvSpPr txBox="1"/><p:nvPr userDrawn="1"/></p:nvSpPr>'
        f'<p:spPr>{_frame(area)}<a:prstGeom prst="rect"><a:avLst/></a:prstGeom><a:noFill/></p:spPr>'
        '<p:txBody><a:bodyPr wrap="square" lIns="0" tIns="0" rIns="0" bIns="0" anchor="ctr"/><a:lstStyle/>'
        f'<a:p><a:pPr algn="{align}"/>{run_xml(text, size, "accent1", bold=True)}</a:p></p:txBody></p:sp>'
    )


def _place(
    kind: str,
    index: int | None,
    area: Box,
    size: int,
    colour: str,
    *,
    anchor: str = "t",
    align: str = "l",
    bold: bool = False,
) -> str:
    """Return a placeholder, with the look of its content."""
    number = "" if index is None else f' idx="{index}"'
    small = {"ftr": ' sz="quarter"', "sldNum": ' sz="quarter"'}.get(kind, "")
    name = {"ctrTitle": "Title", "title": "Title", "subTitle": "Subtitle", "body": "Text", "ftr": "Footer"}
    weight = ' b="1"' if bold else ' b="0"'
    text = '<a:r><a:rPr lang="en-GB"/><a:t> </a:t></a:r>'
    if kind == "sldNum":
        text = '<a:fld id="{B6F15528-21DE-4FAA-801E-634DDDAF4B2B}" type="slidenum"><a:rPr lang="en-GB"/><a:t>\u2039#\u203a</a:t></a:fld>'
    return (
        f'<p:sp {NAMESPACES}><p:nvSpPr><p:cNvPr id="0" name="{name.get(kind, "Slide number")}"/>'
        f'<p:cNvSpPr><a:spLocks noGrp="1"/></p:cNvSpPr><p:nvPr><p:ph type="{kind}"{small}{number}/></p:nvPr></p:nvSpPr>'
        f'<p:spPr>{_frame(area)}<a:prstGeom prst="rect"><a:avLst/></a:prstGeom></p:spPr>'
        f'<p:txBody><a:bodyPr lIns="0" tIns="0" rIns="0" bIns="0" anchor="{anchor}"><a:normAutofit/></a:bodyPr>'
        f'<a:lstStyle><a:lvl1pPr marL="0" indent="0" algn="{align}"><a:spcBef><a:spcPts val="0"/></a:spcBef><a:buNone/>'
        f'<a:defRPr sz="{100 * size}"{weight}>{fill_xml(colour)}</a:defRPr></a:lvl1pPr></a:lstStyle>'
        f"<a:p>{text}</a:p></p:txBody></p:sp>"
    )
