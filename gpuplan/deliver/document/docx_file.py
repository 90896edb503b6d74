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
from docx.oxml import parse_xml
from docx.oxml.ns import qn
from docx.shared import Mm, Pt
from lxml import etree

from gpuplan.deliver.brand import PLAIN, Brand
from gpuplan.deliver.document.blocks import LOOKS, Document, Figure, Paragraph
from gpuplan.deliver.html import FILLED, clean, language, one_line, templates
from gpuplan.deliver.office import same_bytes, set_properties
from gpuplan.deliver.template import KEPT, checked_template, usable_template
from gpuplan.locales import speaking
from gpuplan.report.drawing import SIZE, figure_png, shortened, text_width
from gpuplan.wording import said

if TYPE_CHECKING:
    from markupsafe import Markup


OWN_STYLES = LOOKS["names"]
PAPERS = {"": (210, 297), "a4": (210, 297), "letter": (215.9, 279.4)}
"""Paper -> its width and height in mm; A4 where none is chosen."""


def filled(template: str, **given: object) -> str:
    """Fill a template of the Word file."""
    return templates("document").get_template(template).render(given)


def dress(word: Any, document: Document, brand: Brand) -> None:
    """Give the usual file its page, styles and numbered headings."""
    section = word.sections[0]
    section.page_width, section.page_height = map(Mm, PAPERS[document.paper])
    section.left_margin = section.right_margin = Mm(MARGIN)
    section.top_margin, section.bottom_margin = Mm(document.top), Mm(20)
    section.header_distance = section.footer_distance = Mm(11)
    word.styles.element[:] = list(_styles(document, brand, "Normal"))
    word.part.numbering_part.element[:] = list(parse_xml(filled("numbering.xml.j2", brand=brand)))


def _styles(document: Document, brand: Brand, normal: str) -> Any:
    """The styles of the usual file; ``normal`` is the one that the others are based on."""
    asian = document.locale if document.locale[:2] in LOOKS["east_asian"] else "ja-JP"
    fonts = {"east_asian": LOOKS["east_asian"][asian[:2]], "right_to_left": LOOKS["right_to_left"]}
    given = {"language": language(), "asian": asian, "gap": CELL_MARGINS}
    return parse_xml(filled("styles.xml.j2", brand=brand, normal=normal, **fonts, **given))


def add_styles(word: Any, document: Document, brand: Brand) -> None:
    """Add the styles of ours that a template lacks; those that it has stay as they are."""
    present = {style.name for style in word.styles}
    normal = word.styles.default(WD_STYLE_TYPE.PARAGRAPH).style_id
    for style in _styles(document, brand, normal):
        name = style.find(qn("w:name"))
        named = "" if name is None else name.get(qn("w:val"))
        if named in {*OWN_STYLES.values(), *LOOKS["grids"][:1]} - {""} - present:
            word.styles.element.append(style)
    for spoken in word.styles.element.iter(qn("w:lang")):
        spoken.set(qn("w:val"), language())


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
MARGIN = 18
"""Margin of a page at its left and right. [mm]"""
LONGEST_KEPT = (24, 18, 14, 10)
"""Characters of a word that a column keeps on one line: as many as there is room for."""
LONGEST_LINE = 44
"""Characters of a cell for which a column is made wide enough."""
COLUMN_GAP = 254_000
"""Gap between two columns of text, in English Metric Units."""
CELL_MARGINS, CARD_GAP = 160, 260
"""Widths in a table in twentieths of a point: the margin of a cell, and the gap between cards."""
EM = 9.5 * 20 / SIZE
"""Size of the text of tables in twentieths of a point, over that of drawings."""
LETTERS = {"Calibri": 0.86}
WIDEST = 1.12
"""Width of the letters of a font over those of the fonts of drawings: of those that are known, and of any other."""
LEAST_BAND, BELOW_BAND = Mm(116), Mm(62)
"""Height of the band of a cover, and of what is below it besides the drawing."""
LONGEST_TITLE = 50
"""Characters of a title that is set large."""
LEAST_DRAWN = 0.85
"""Least share of its size to which a drawing is made smaller for the cover."""
FROM_RIGHT = re.compile(
    "([\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]+(?:[\\s\u00a0]+[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]+)*)"
)
"""Words of letters that are written from right to left."""
TALLEST = 0.86
"""Share of a page that a drawing may take with its caption below; a lower one would make the text of a tall drawing too small."""
MOST_OF_EDGE = 0.7
"""Most share of the width that a side of the head or the foot of a page may take."""
WORDS = re.compile("[ \\n-]")
"""Where a line may be broken; spaces within numbers are others."""
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
        with speaking(document.locale):
            dress(word, document, brand)
        return _written(document, word, brand, pages or {}, own=True)
    with usable_template("docx"):
        word = docx.Document(BytesIO(checked_template(template, "docx").file))
        emptied(word)
        with speaking(document.locale):
            add_styles(word, document, brand)
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
        grid = next(name for name in LOOKS["grids"][:: 1 if own else -1] if name in word.styles)
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
            "is_later": lambda text: bool(FILLED.fullmatch(text)),
            "directed": lambda text: [
                (part, at % 2 == 1) for at, part in enumerate(FROM_RIGHT.split(clean(text))) if part
            ],
            "own": own,
            "one_line": one_line,
            "bookmark": BOOKMARK.format,
            "pages": pages,
            "count": self._count,
            "twips": self._twips,
            "beside": self._beside,
            "picture": self._figure,
        }

    def write(self, document: Document) -> None:
        self._edges(document)
        body, last = self.word.element.body, self.word.sections[-1]._sectPr
        parts = self._parts(
            document.layout,
            **{field.name: getattr(document, field.name) for field in fields(document)},
            logo=self._logo() if self.brand.logo and self.own else None,
            page=self._cover(document),
            across=int(self.width / EMU_PER_TWIP),
            tab=round((self.width - COLUMN_GAP) / 2 / EMU_PER_TWIP),
        )
        for part in parts:
            last.addprevious(part)
        for mark in body.findall("/".join(map(qn, ("w:p", "w:pPr", "w:sectPr")))):
            self._end_section(mark, last)

    def _cover(self, document: Document) -> dict[str, Any]:
        """The answer and the sizes of the cover, in twentieths of a point: the band takes what the drawing leaves, if there is room."""
        page, title = self.word.sections[-1], 38 if len(document.title) <= LONGEST_TITLE else 24
        lead = next((b.text for b in document.front if isinstance(b, Paragraph) and b.tone == "lead"), "")
        told = ((title, document.title), (13, document.customer), (13, document.about), (14, lead))
        more = sum(Pt(1.3 * points) * self._more_lines(text, points) for points, text in told)
        band, below = LEAST_BAND + more, page.page_height - BELOW_BAND
        drawn = sum(int(self.width * _height(block)) for block in document.cover if isinstance(block, Figure))
        drawn = min(drawn, below - band) if drawn * LEAST_DRAWN <= below - band else 0
        sizes = {
            "wide": page.page_width,
            "margin": Mm(MARGIN),
            "band": min(below - drawn, page.page_height // 2),
        }
        twips = {name: size // EMU_PER_TWIP for name, size in sizes.items()}
        return twips | {"drawing": drawn, "title": title, "lead": lead}

    def _more_lines(self, text: str, points: int) -> int:
        """Lines that a text takes after its first, rather more than less."""
        return int(Pt(text_width(text, bold=True) / SIZE * points) / (0.9 * self.width))

    def _end_section(self, mark: Any, last: Any) -> None:
        """Make a section of what is before a mark: the cover, without margin and head, or so many columns of text."""
        columns = mark.find(qn("w:cols"))
        section = last.clone()
        mark.getparent().replace(mark, section)
        if columns is None:
            section.pgMar.top = section.pgMar.header = 0
            section.remove(section.find(qn("w:headerReference")))
            return
        for present in section.findall(qn("w:cols")):
            section.remove(present)
        section.insert_element_before(columns, *LOOKS["after_columns"])
        columns.set(qn("w:space"), str(COLUMN_GAP // EMU_PER_TWIP))
        for reference in references(last):
            last.remove(reference)
        self.word.sections[-1].start_type = WD_SECTION.CONTINUOUS

    def _parts(self, template: str, **given: Any) -> list[Any]:
        return list(parse_xml(filled(template, **self.shown, **given)))

    def _edges(self, document: Document) -> None:
        """Head and foot of the pages; a template has its own head, and a foot if nothing is in it."""
        letter = LETTERS.get(self.brand.text, WIDEST)
        section, room = self.word.sections[-1], 0.95 * self.width / Pt(9.5) * SIZE / letter
        if self.own:
            kind = document.kind or said("document.kind")
            about = ((kind, document.about), (document.customer, document.title))
            right, left = (" \u00b7 ".join(map(one_line, filter(None, part))) for part in about)
            right = shortened(right, MOST_OF_EDGE * room)
            left = shortened(left, room - text_width(right))
            self._edge(section.header, f"{left}\t{right}", numbered=False)
        footer = section.footer
        used = any(p.text.strip() for p in footer.paragraphs) or any(
            footer._element.find(f".//{qn(f'w:{tag}')}") is not None for tag in LOOKS["footers"]
        )
        if not used or footer.is_linked_to_previous:
            named = (document.foot, self.brand.footer or self.brand.name, "" if self.own else document.title)
            text = shortened(" \u00b7 ".join(map(one_line, filter(None, named))), MOST_OF_EDGE * room)
            self._edge(footer, f"{text}\t", numbered=True)

    def _edge(self, edge: Any, text: str, *, numbered: bool) -> None:
        paragraph = edge.paragraphs[0] if edge.paragraphs else edge.add_paragraph()
        if not self.own:
            paragraph.style = self.word.styles[OWN_STYLES["note"]]
        paragraph.paragraph_format.tab_stops.add_tab_stop(self.width, WD_TAB_ALIGNMENT.RIGHT)
        paragraph._p.extend(self._parts("edge.xml.j2", text=text, numbered=numbered))

    def _count(self, kind: str) -> int:
        self.counts[kind] += 1
        return self.counts[kind]

    def _twips(self, cells: Sequence[Sequence[str]], shares: Sequence[float], head: bool) -> list[int]:
        """Widths of a table's columns in twentieths of a point: each as wide as its longest word, the rest as stated or by the text."""
        width, letter = int(self.width / EMU_PER_TWIP), EM * LETTERS.get(self.brand.text, WIDEST)
        columns = list(zip_longest(*cells, fillvalue=""))

        def room(text: str) -> int:
            return CELL_MARGINS + round(letter * text_width(text, bold=True))

        for most in LONGEST_KEPT:
            kept = ([word[:most] for text in texts[head:] for word in WORDS.split(text)] for texts in columns)
            heads = (WORDS.split(texts[0]) if head else [] for texts in columns)
            least = [
                max(map(room, [*some, *whole]), default=0) for some, whole in zip(kept, heads, strict=True)
            ]
            if sum(least) <= width:
                break
        if len(shares) == len(columns):
            wished = [int(width * share / sum(shares)) for share in shares]
        else:
            wished = [max(map(room, (text[:LONGEST_LINE] for text in texts)), default=0) for texts in columns]
        return _shared(least, wished, width) if columns else []

    def _beside(self, count: int) -> list[int]:
        """Widths of cards side by side and of the gaps between them."""
        gaps = CARD_GAP * (count - 1)
        wide = (int(self.width / EMU_PER_TWIP) - gaps) // count
        return [wide, *[CARD_GAP, wide] * (count - 1)]

    def _logo(self) -> Markup:
        picture = self._picture(self.brand.logo, self.brand.name, height=Pt(28))
        _shrink(picture, int(self.width * 0.4), picture.extent.cy)
        return _serialised(picture)

    def _figure(self, figure: Figure, high: int = 0) -> Markup:
        """A drawing as SVG, and as PNG for programs without it; not higher than a page, or than stated."""
        wide = int(self.width * min(1.0, figure.width))
        drawn = clean(self.brand.drawn(figure.svg))
        picture = self._picture(
            figure_png(drawn, width_px=max(400, round(1600 * figure.width))), clean(figure.alt), width=wide
        )
        _shrink(picture, picture.extent.cx, high or int(TALLEST * self.height))
        at = self._count("drawing")
        picture.docPr.set("name", f"Figure {at}")
        name = PackURI(f"/word/media/drawing{at}.svg")
        drawing = Part(name, "image/svg+xml", drawn.encode(), self.word.part.package)
        relation = self.word.part.relate_to(drawing, RELATIONSHIP_TYPE.IMAGE)
        blip = picture.graphic.graphicData.pic.blipFill.blip
        blip.append(parse_xml(filled("svg.xml.j2", relation=relation)))
        return _serialised(picture)

    def _picture(self, content: bytes, about: str, **size: int) -> Any:
        picture = self.word.part.new_pic_inline(BytesIO(content), **size)
        picture.docPr.set("id", str(self._count("picture")))
        picture.docPr.set("descr", about)
        for side in "TBLR":
            picture.set(f"dist{side}", "0")  # unset, LibreOffice moves the picture by 3 mm
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


def _shared(least: Sequence[int], wished: Sequence[int], width: int) -> list[int]:
    """Divide a width: each column its least, and what is left as they wish for more."""
    if sum(least) >= width:
        return [width * size // sum(least) for size in least]
    more = [max(1, wish - size) for wish, size in zip(wished, least, strict=True)]
    free = width - sum(least)
    return [size + free * extra // sum(more) for size, extra in zip(least, more, strict=True)]


def _height(figure: Figure) -> float:
    """Height of a drawing over its width."""
    drawn = etree.fromstring(clean(figure.svg).encode()).attrib
    return float(drawn["height"]) / float(drawn["width"])
