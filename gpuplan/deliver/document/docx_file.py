"""The design document as a Word file that users can go on editing, from ``templates/document.xml.j2``, in its own look or that of a template."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from io import BytesIO
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

import docx
from docx.enum.section import WD_SECTION
from docx.enum.style import WD_STYLE_TYPE
from docx.enum.text import WD_TAB_ALIGNMENT
from docx.opc.constants import RELATIONSHIP_TYPE
from docx.opc.packuri import PackURI
from docx.opc.part import Part
from docx.oxml import OxmlElement, parse_xml
from docx.oxml.ns import qn
from docx.shared import Mm, Pt, RGBColor
from lxml import etree

from gpuplan.deliver.brand import PLAIN, Brand
from gpuplan.deliver.document.blocks import Document, Figure
from gpuplan.deliver.html import FILLED, clean, one_line, templates
from gpuplan.deliver.office import language as spoken_language
from gpuplan.deliver.office import same_bytes, set_properties
from gpuplan.deliver.template import KEPT, checked_template, usable_template
from gpuplan.facts import own_specs
from gpuplan.locales import speaking
from gpuplan.report.drawing import figure_png

if TYPE_CHECKING:
    from markupsafe import Markup


LOOKS = own_specs("gpuplan.deliver.document", "looks")
"""Looks of the styles: those of the usual file, those that a template lacks, and those of the contents; and names in the file."""
OWN_STYLES = LOOKS["names"]
PAPERS = {"": (210, 297), "a4": (210, 297), "letter": (215.9, 279.4)}
"""Paper -> its width and height in mm; A4 where none is chosen."""


def _give(
    style: Any,
    brand: Brand,
    size: float,
    colour: str,
    before: float,
    after: float,
    spacing: float | None = None,
    bold: bool | None = None,
) -> None:
    """Give a style a look; colour and weight are as they were where none is stated."""
    style.font.size, form = Pt(size), style.paragraph_format
    if colour:
        style.font.color.rgb = RGBColor.from_string(getattr(brand, colour))
    if bold is not None:
        style.font.bold = bold
    form.space_before, form.space_after, form.line_spacing = Pt(before), Pt(after), spacing


def filled(template: str, **given: object) -> str:
    """Fill a template of the Word file."""
    return templates("document").get_template(template).render(given)


def dress(word: Any, brand: Brand, paper: str) -> None:
    """Give the usual file its page, styles and numbered headings."""
    section = word.sections[0]
    section.page_width, section.page_height = map(Mm, PAPERS[paper])
    section.left_margin = section.right_margin = Mm(22)
    section.top_margin, section.bottom_margin = Mm(20), Mm(20)
    for name, look in LOOKS["usual"].items():
        style = word.styles[name]
        _give(style, brand, *look)
        heads = name.startswith(("Title", "Heading"))
        style.font.name, style.font.italic = brand.headings if heads else brand.text, False
        for theme in ("asciiTheme", "hAnsiTheme"):
            style.element.rPr.rFonts.attrib.pop(qn(f"w:{theme}"), None)
        for border in style.element.iter(qn("w:pBdr")):
            border.getparent().remove(border)
    _numbered_headings(word)


def _numbered_headings(word: Any) -> None:
    numbering, styles = word.part.numbering_part.element, word.styles
    taken = [int(a.get(qn("w:abstractNumId"))) for a in numbering.iter(qn("w:abstractNum"))]
    identity = max(taken, default=0) + 1
    headings = [styles[f"Heading {level}"] for level in (1, 2)]
    level_styles = [heading.style_id for heading in headings]
    numbers = filled("numbering.xml.j2", identity=identity, styles=level_styles)
    numbering.find(qn("w:num")).addprevious(parse_xml(numbers))
    number = numbering.add_num(identity).numId
    for level, heading in enumerate(headings):
        properties = heading.element.get_or_add_pPr().get_or_add_numPr()
        properties.get_or_add_ilvl().val = level
        properties.get_or_add_numId().val = number
    styles["TOC Heading"].element.get_or_add_pPr().get_or_add_numPr().get_or_add_numId().val = 0


def add_styles(word: Any, brand: Brand, *, own: bool) -> None:
    """Add the styles that a template lacks; those that it has stay as they are."""
    present = {style.name for style in word.styles}
    for name, look in LOOKS["added"].items():
        if OWN_STYLES[name] not in present:
            style = word.styles.add_style(OWN_STYLES[name], WD_STYLE_TYPE.PARAGRAPH)
            style.base_style = word.styles.default(WD_STYLE_TYPE.PARAGRAPH)
            _give(style, brand, *look)
    for level, look in enumerate(LOOKS["contents"].values() if own else (), 1):
        style = word.styles.add_style(f"toc {level}", WD_STYLE_TYPE.PARAGRAPH, builtin=True)
        style.base_style = word.styles["Normal"]
        form = style.paragraph_format
        form.left_indent, form.line_spacing = Pt(18 * (level - 1)), 1.0
        _give(style, brand, *look)
    for language in word.styles.element.iter(qn("w:lang")):
        language.set(qn("w:val"), spoken_language())


def emptied(word: Any) -> None:
    """Remove the body text of a template; its page, headers and footers stay."""
    body, sections = word.element.body, [section._sectPr for section in word.sections]
    for child in list(word.element):
        if child is not body:
            word.element.remove(child)  # the page background, which refers to a picture
    last = sections[-1]
    for section in reversed(sections[:-1]):
        present = {reference.get(qn("w:type")) + reference.tag for reference in references(last)}
        for reference in reversed(references(section)):
            if reference.get(qn("w:type")) + reference.tag not in present:
                last.insert(0, reference)
    for child in [child for child in body if child is not last] + last.findall(qn("w:printerSettings")):
        child.getparent().remove(child)
    _keep_parts(word)


def _keep_parts(word: Any) -> None:
    """Leave out the parts of a file that are content, or that Word 2007 alone reads."""
    for key, relation in list(word.part.rels.items()):
        if relation.reltype.rpartition("/")[2] not in KEPT:
            del word.part.rels[key]


def references(section: Any) -> list[Any]:
    """The headers and footers that a section refers to."""
    return [child for child in section if child.tag in (qn("w:headerReference"), qn("w:footerReference"))]


EMU_PER_TWIP = 635
LONGEST_KEPT = 14
"""Characters of a word that a column keeps on one line."""
COLUMN_GAP = 254_000
"""Gap between two columns of text, in English Metric Units."""
CHARACTER, CELL_MARGINS = 102, 230
"""Widths in a table in twentieths of a point: a bold character of 9 points, and the margins of a cell."""
TALLEST = 0.86
"""Share of a page that a drawing may take with its caption below; a lower one would make the text of a tall drawing too small."""
PIECES = re.compile("([\t\n\r])")


BOOKMARK = "_Toc{:09}"
"""Name of the bookmark of a heading, by its place in the contents."""
FIRST_PAGES = dict.fromkeys(map(BOOKMARK.format, range(1, 1000)), 1)
"""Pages of a document that is printed to learn them: the printing program puts its own in their place."""


def docx_bytes(
    document: Document,
    *,
    brand: Brand = PLAIN,
    template: bytes | None = None,
    pages: Mapping[str, int] | None = None,
) -> bytes:
    """The design document as a DOCX file, the same bytes for the same document; a template goes before the brand.

    The contents have page numbers where ``pages`` has them, as `heading_pages` reads them from the printed file.
    """
    if template is None:
        word = docx.Document()
        _keep_parts(word)
        dress(word, brand, document.paper)
        return _written(document, word, brand, pages or {}, own=True)
    with usable_template("docx"):
        word = docx.Document(BytesIO(checked_template(template, "docx").file))
        emptied(word)
        return _written(document, word, brand, pages or {}, own=False)


def heading_pages(pdf: bytes) -> dict[str, int]:
    """The page of each chapter and section by its bookmark, from the outline of the document printed as PDF."""
    from pypdf import PdfReader

    printed = PdfReader(BytesIO(pdf))
    marks = map(printed.get_destination_page_number, _flat(printed.outline))
    return {BOOKMARK.format(at): page + 1 for at, page in enumerate(marks, 1) if page is not None}


def _flat(outline: Iterable[Any]) -> Iterator[Any]:
    for mark in outline:
        yield from _flat(mark) if isinstance(mark, list) else (mark,)


def _settle(settings: Any) -> None:
    """Have Word open the file as one of its own version, and ask nothing."""
    for asked in settings.findall(qn("w:updateFields")):
        settings.remove(asked)
    for mode in settings.iter(qn("w:compatSetting")):
        if mode.get(qn("w:name")) == "compatibilityMode":
            mode.set(qn("w:val"), "15")


def _written(document: Document, word: Any, brand: Brand, pages: Mapping[str, int], *, own: bool) -> bytes:
    _settle(word.settings.element)
    with speaking(document.locale):
        add_styles(word, brand, own=own)
        about = {"title": document.title, "subject": document.customer, "author": brand.name}
        properties, related = word.core_properties, word.part.package.rels
        set_properties(properties, related, **about, comments=document.made_with, day=document.day)
        _Writer(word, brand, pages, own=own).write(document)
    stream = BytesIO()
    word.save(stream)
    return same_bytes(stream.getvalue(), day=document.day, company=brand.name)


class _Writer:
    """Writes a document into a Word file that has its look; its templates ask for styles, widths and pictures."""

    def __init__(self, word: Any, brand: Brand, pages: Mapping[str, int], *, own: bool) -> None:
        self.word, self.brand, self.own = word, brand, own
        self.counts = Counter[str]()
        self.known = {s.name: s.style_id for s in word.styles if s.type == WD_STYLE_TYPE.PARAGRAPH}
        grid = None if own or "Table Grid" not in {s.name for s in word.styles} else "Table Grid"
        page, margin = word.sections[-1], Mm(24)
        across = (page.left_margin or margin) + (page.right_margin or margin)
        along = (page.top_margin or margin) + (page.bottom_margin or margin)
        self.width = (page.page_width or Mm(210)) - across
        self.height = (page.page_height or Mm(297)) - along
        self.shown = {
            "brand": brand,
            "known": self.known,
            "look": OWN_STYLES,
            "grid_style": word.part.get_style_id(grid, WD_STYLE_TYPE.TABLE),
            "pieces": lambda text: list(filter(None, PIECES.split(clean(text)))),
            "filled": lambda text: [
                (part, bool(FILLED.fullmatch(part))) for part in FILLED.split(clean(text)) if part
            ],
            "one_line": one_line,
            "bookmark": BOOKMARK.format,
            "pages": pages,
            "count": self._count,
            "twips": self._twips,
            "equal": lambda columns: [int(self.width / EMU_PER_TWIP / columns)] * columns,
            "picture": self._figure,
        }

    def write(self, document: Document) -> None:
        self._footer(document.title)
        body, last = self.word.element.body, self.word.sections[-1]._sectPr
        below = (document.customer, document.about)
        parts = self._parts(
            "document.xml.j2",
            **{field.name: getattr(document, field.name) for field in fields(document)},
            logo=self._logo() if self.brand.logo and self.own else None,
            below="  \u00b7  ".join(one_line(text) for text in below if text),
            numbered=self.own,
            tab=round((self.width - COLUMN_GAP) / 2 / EMU_PER_TWIP),
        )
        for part in parts:
            last.addprevious(part)
        for at, mark in enumerate(body.findall("/".join(map(qn, ("w:p", "w:pPr", "w:sectPr"))))):
            mark.getparent().replace(mark, last.clone())
            for reference in references(last):
                last.remove(reference)
            self.word.sections[-1].start_type = WD_SECTION.CONTINUOUS
            columns = last.find(qn("w:cols"))
            if columns is None:
                columns = OxmlElement("w:cols")
                last.append(columns)
            columns.set(qn("w:num"), str(1 if at % 2 else 2))
            columns.set(qn("w:space"), str(COLUMN_GAP // EMU_PER_TWIP))

    def _parts(self, template: str, **given: Any) -> list[Any]:
        return list(parse_xml(filled(template, **self.shown, **given)))

    def _footer(self, title: str) -> None:
        """Add page numbers, unless the template has its own footer."""
        footer = self.word.sections[-1].footer
        used = any(p.text.strip() for p in footer.paragraphs) or any(
            footer._element.find(f".//{qn(f'w:{tag}')}") is not None for tag in LOOKS["footers"]
        )
        if used and not footer.is_linked_to_previous:
            return
        paragraph = footer.paragraphs[0] if footer.paragraphs else footer.add_paragraph()
        paragraph.style = self.word.styles[OWN_STYLES["note"]]
        paragraph.paragraph_format.tab_stops.add_tab_stop(self.width, WD_TAB_ALIGNMENT.RIGHT)
        name = one_line(title)
        named = (self.brand.footer, name if len(name) <= 60 else name[:59] + "\u2026")
        paragraph._p.extend(self._parts("footer.xml.j2", left="  \u00b7  ".join(filter(None, named)) + "\t"))

    def _count(self, kind: str) -> int:
        self.counts[kind] += 1
        return self.counts[kind]

    def _twips(self, cells: Sequence[Sequence[str]], shares: Sequence[float]) -> list[int]:
        """Widths of a table's columns in twentieths of a point; empty without a column."""
        columns = max((len(row) for row in cells), default=0)
        shares = shares if len(shares) == columns else ()
        return _widths(cells, shares, int(self.width / EMU_PER_TWIP)) if columns else []

    def _logo(self) -> Markup:
        picture = self._picture(self.brand.logo, self.brand.name, height=Pt(28))
        _shrink(picture, int(self.width * 0.4), picture.extent.cy)
        return _serialised(picture)

    def _figure(self, figure: Figure) -> Markup:
        """A drawing as SVG, and as PNG for programs without it."""
        wide = int(self.width * min(1.0, figure.width))
        picture = self._picture(figure_png(clean(figure.svg)), clean(figure.alt), width=wide)
        _shrink(picture, picture.extent.cx, int(TALLEST * self.height))
        at = self.counts["Figure"] + 1
        picture.docPr.set("name", f"Figure {at}")
        name, svg = PackURI(f"/word/media/drawing{at}.svg"), clean(figure.svg).encode()
        drawing = Part(name, "image/svg+xml", svg, self.word.part.package)
        relation = self.word.part.relate_to(drawing, RELATIONSHIP_TYPE.IMAGE)
        blip = picture.graphic.graphicData.pic.blipFill.blip
        blip.append(parse_xml(filled("svg.xml.j2", relation=relation)))
        return _serialised(picture)

    def _picture(self, content: bytes, about: str, **size: int) -> Any:
        picture = self.word.part.new_pic_inline(BytesIO(content), **size)
        picture.docPr.set("id", str(self._count("picture")))
        picture.docPr.set("descr", about)
        return picture


def _shrink(picture: Any, wide: int, high: int) -> None:
    """Fit a picture into a room; its sides keep their ratio."""
    shape, frame = picture.extent, picture.graphic.graphicData.pic.spPr
    if shape.cx > wide:
        shape.cy, shape.cx = int(shape.cy * wide / shape.cx), wide
    if shape.cy > high:
        shape.cx, shape.cy = int(shape.cx * high / shape.cy), high
    frame.cx, frame.cy = shape.cx, shape.cy


def _serialised(picture: Any) -> Markup:
    from markupsafe import Markup

    return Markup(f"<w:r><w:drawing>{etree.tostring(picture, encoding='unicode')}</w:drawing></w:r>")


def _widths(cells: Sequence[Sequence[str]], shares: Sequence[float], width: int) -> list[int]:
    """Widths of columns in twentieths of a point: each as wide as its longest word, the rest as stated or by the text."""
    columns = list(zip_longest(*cells, fillvalue=""))
    words = [max(map(len, " ".join(texts).split()), default=1) for texts in columns]
    least = [CELL_MARGINS + CHARACTER * min(word, LONGEST_KEPT) for word in words]
    wished = [CELL_MARGINS + CHARACTER * min(max(map(len, texts)), 44) for texts in columns]
    if shares:
        wished = [int(width * share / sum(shares)) for share in shares]
    elif sum(wished) < width:
        return [int(width * size / sum(wished)) for size in wished]
    if sum(least) >= width:
        return [int(width * size / sum(least)) for size in least]
    more = [max(0, wish - size) for wish, size in zip(wished, least, strict=True)]
    free = width - sum(least)
    if not sum(more):
        return [size + free // len(columns) for size in least]
    return [size + int(free * extra / sum(more)) for size, extra in zip(least, more, strict=True)]
