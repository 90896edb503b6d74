"""The design document as a Word file: headings, captions and tables that a person can go on working with."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime
from io import BytesIO
from itertools import zip_longest
from typing import Any
from zipfile import ZipFile, is_zipfile

from gpuplan.locales import speaking, written_day
from gpuplan.report.document import (
    Block,
    Bullets,
    DecisionBlock,
    Document,
    Figure,
    Grid,
    KeyFigures,
    Paragraph,
    clean,
)
from gpuplan.report.template import LOOKS, ZIP_DATE, checked_template, packed_parts, usable_template

EMU_PER_TWIP = 635
CHARACTER, CELL_MARGINS = 112, 240
"""Widths in a table in twentieths of a point: of a bold character of 9 points, and of what a cell leaves free."""
SVG_EXTENSION = "{96DAC541-7B7A-43D3-8B79-37D633B846F1}"
"""Says that a picture also exists as SVG."""
SVG_NAMESPACE = "http://schemas.microsoft.com/office/drawing/2016/SVG/main"
ACCENT, INK, QUIET, LINE, SHADE = "0B5CAD", "1A2230", "5A6576", "C5CBD5", "E8EEF6"
FONT = "Calibri"
AFTER_UPDATE = (
    "hdrShapeDefaults", "footnotePr", "endnotePr", "compat", "docVars", "rsids", "mathPr", "attachedSchema", "themeFontLang",
    "clrSchemeMapping", "doNotIncludeSubdocsInStats", "shapeDefaults", "decimalSymbol", "listSeparator",
)  # fmt: skip
"""What follows the wish to update fields in the settings of a Word file."""
LEVEL = (
    '<w:lvl w:ilvl="{level}"><w:start w:val="1"/><w:numFmt w:val="decimal"/><w:pStyle w:val="{style}"/><w:lvlText w:val="{text}"/>'
    '<w:lvlJc w:val="left"/><w:pPr><w:ind w:left="567" w:hanging="567"/></w:pPr></w:lvl>'
)
"""How headings of a level are numbered."""
OWN_FOOTERS = ("tbl", "instrText", "fldSimple", "sdt")
"""Elements of a footer that a template fills by other means than text."""
OWN_STYLES = {"lead": "gpuplan lead", "note": "gpuplan note", "cell": "gpuplan table"}


def docx_bytes(document: Document, *, template: bytes | None = None) -> bytes:
    """The design document as a DOCX file, the same bytes for the same document."""
    from docx import Document as word_file

    if template is None:
        return _written(document, word_file(), own=True)
    with usable_template("docx"):
        word = word_file(BytesIO(checked_template(template, "docx").file))
        _emptied(word)
        return _written(document, word, own=False)


def _written(document: Document, word: Any, *, own: bool) -> bytes:
    with speaking(document.locale):
        _Writer(word, own=own, paper=document.paper).write(document)
    stream = BytesIO()
    word.save(stream)
    return same_bytes(stream.getvalue(), day=document.as_of)


def same_bytes(file: bytes, *, day: str) -> bytes:
    """An Office file without the moment in which it was written."""
    with ZipFile(BytesIO(file)) as packed:
        parts = {info.filename: packed.read(info) for info in packed.infolist()}
    for name, content in parts.items():
        if name.endswith(".xlsx") and is_zipfile(BytesIO(content)):
            parts[name] = same_bytes(content, day=day)
        elif name == "docProps/core.xml":
            moment = f"{moment_of(day):%Y-%m-%dT%H:%M:%SZ}"
            parts[name] = re.sub(
                rb"(<dcterms:(?:created|modified)[^>]*>)[^<]*", rb"\g<1>" + moment.encode(), content
            )
    return packed_parts(parts)


def moment_of(day: str) -> datetime:
    """An ISO day, month or year as a moment; that of the oldest zip file if there is none."""
    return datetime.fromisoformat(f"{day}-01-01"[:10]) if day else datetime(*ZIP_DATE)


def set_properties(
    properties: Any, relations: Any, *, title: str, subject: str, comments: str = "", day: str
) -> None:
    """What an Office file says of itself; the thumbnail of a template goes."""
    properties.title, properties.subject = one_line(title)[:255], one_line(subject)[:255]
    properties.comments = clean(comments)[:255]
    properties.author = properties.last_modified_by = "gpuplan"
    properties.keywords = properties.category = ""
    properties.language = "en-GB"
    properties.revision = 1
    properties.created = properties.modified = moment_of(day)
    for key, relation in list(relations.items()):
        if relation.reltype.endswith("/thumbnail"):
            relations.pop(key)


def add_svg(part: Any, blip: Any, drawing: Any) -> None:
    """Make a picture show an SVG drawing where the program can."""
    relation = part.relate_to(
        drawing, "http://schemas.openxmlformats.org/officeDocument/2006/relationships/image"
    )
    main = "http://schemas.openxmlformats.org/drawingml/2006/main"
    extensions = blip.makeelement(f"{{{main}}}extLst")
    extension = blip.makeelement(f"{{{main}}}ext", {"uri": SVG_EXTENSION})
    embed = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}embed"
    vector = blip.makeelement(f"{{{SVG_NAMESPACE}}}svgBlip", {embed: relation}, {"asvg": SVG_NAMESPACE})
    extension.append(vector)
    extensions.append(extension)
    blip.append(extensions)


def _emptied(word: Any) -> None:
    """Take what a template says out of it; its page, headers and footers stay."""
    body = word.element.body
    for child in list(word.element):
        if child is not body:
            word.element.remove(child)  # the background of the page, which names a picture
    sections = list(word.sections)
    last = sections[-1]._sectPr
    for section in reversed(sections[:-1]):
        held = {reference.get(_qn("w:type")) + reference.tag for reference in _references(last)}
        for reference in reversed(_references(section._sectPr)):
            if reference.get(_qn("w:type")) + reference.tag not in held:
                last.insert(0, reference)
    for child in list(body):
        if child is not last:
            body.remove(child)
    for child in list(last):
        if child.tag == _qn("w:printerSettings"):
            last.remove(child)
    for key, relation in list(word.part.rels.items()):
        if relation.reltype.rpartition("/")[2] not in LOOKS:
            del word.part.rels[key]


def _references(section: Any) -> list[Any]:
    return [child for child in section if child.tag in (_qn("w:headerReference"), _qn("w:footerReference"))]


def _qn(tag: str) -> str:
    from docx.oxml.ns import qn

    return qn(tag)


def _element(tag: str, text: str = "", **attributes: str) -> Any:
    """An element of WordprocessingML."""
    from docx.oxml import OxmlElement

    element = OxmlElement(f"w:{tag}")
    for name, value in attributes.items():
        element.set(_qn(f"w:{name}"), value)
    if text:
        element.text = text
        element.set("{http://www.w3.org/XML/1998/namespace}space", "preserve")
    return element


PAPERS = {"": (210, 297), "a4": (210, 297), "letter": (215.9, 279.4)}
"""Paper -> its width and height in mm; A4 where none is chosen."""


class _Writer:
    """Writes the blocks of a document to a Word file."""

    def __init__(self, word: Any, *, own: bool, paper: str) -> None:
        from docx.enum.style import WD_STYLE_TYPE
        from docx.shared import Mm

        self.word, self.own, self.paper = word, own, paper
        self.bookmarks = 0
        self.counts = {"Table": 0, "Figure": 0}
        if own:
            self._own_page()
            self._own_styles()
            self._numbered_headings()
        self._added_styles()
        self.known = {style.name for style in word.styles if style.type == WD_STYLE_TYPE.PARAGRAPH}
        page, margin = word.sections[-1], Mm(24)
        across = (page.left_margin or margin) + (page.right_margin or margin)
        along = (page.top_margin or margin) + (page.bottom_margin or margin)
        self.width = (page.page_width or Mm(210)) - across
        self.height = (page.page_height or Mm(297)) - along

    def write(self, document: Document) -> None:
        """The whole document."""
        self._properties(document)
        self._footer(document.title)
        self._cover(document)
        self._contents(document)
        for at, chapter in enumerate(document.chapters):
            heading = self._heading(chapter.title, 1)
            if at == 0:
                heading.paragraph_format.page_break_before = True
            for block in chapter.blocks:
                self._block(block)
            for section in chapter.sections:
                self._heading(section.title, 2)
                for block in section.blocks:
                    self._block(block)

    # The page, its styles and properties

    def _own_page(self) -> None:
        from docx.shared import Mm

        section = self.word.sections[0]
        section.page_width, section.page_height = map(Mm, PAPERS[self.paper])
        section.left_margin = section.right_margin = Mm(24)
        section.top_margin, section.bottom_margin = Mm(24), Mm(22)
        section.different_first_page_header_footer = True

    def _own_styles(self) -> None:
        sizes = {
            "Normal": (10.5, INK, 0, 6),
            "Title": (30, ACCENT, 160, 12),
            "Subtitle": (16, QUIET, 0, 6),
            "Heading 1": (18, ACCENT, 20, 8),
            "Heading 2": (13, ACCENT, 14, 4),
            "Caption": (9, QUIET, 6, 4),
            "List Bullet": (10.5, INK, 0, 3),
        }
        for name, (size, colour, before, after) in sizes.items():
            style = self.word.styles[name]
            _look(style, size, colour, before, after)
            style.font.name, style.font.italic = FONT, False
            style.paragraph_format.line_spacing = 1.1
            fonts = style.element.rPr.rFonts
            for theme in ("asciiTheme", "hAnsiTheme"):
                fonts.attrib.pop(_qn(f"w:{theme}"), None)
            for border in style.element.iter(_qn("w:pBdr")):
                border.getparent().remove(border)

    def _numbered_headings(self) -> None:
        """Let Word number chapters and sections."""
        from docx.oxml import parse_xml
        from docx.oxml.ns import nsdecls

        numbering, styles = self.word.part.numbering_part.element, self.word.styles
        taken = [int(a.get(_qn("w:abstractNumId"))) for a in numbering.iter(_qn("w:abstractNum"))]
        identity = max(taken, default=0) + 1
        levels = [
            LEVEL.format(level=level, style=styles[f"Heading {level + 1}"].style_id, text=text)
            for level, text in enumerate(("%1", "%1.%2"))
        ]
        head = f'<w:abstractNum {nsdecls("w")} w:abstractNumId="{identity}"><w:multiLevelType w:val="multilevel"/>'
        numbering.find(_qn("w:num")).addprevious(parse_xml(f"{head}{''.join(levels)}</w:abstractNum>"))
        number = numbering.add_num(identity).numId
        for level in range(2):
            properties = styles[f"Heading {level + 1}"].element.get_or_add_pPr().get_or_add_numPr()
            properties.get_or_add_ilvl().val = level
            properties.get_or_add_numId().val = number
        styles["TOC Heading"].element.get_or_add_pPr().get_or_add_numPr().get_or_add_numId().val = 0

    def _added_styles(self) -> None:
        """Styles that no template has; those that the template has stay as they are."""
        from docx.enum.style import WD_STYLE_TYPE

        held = {style.name for style in self.word.styles}
        looks = {
            OWN_STYLES["lead"]: (12, INK, True, 8),
            OWN_STYLES["note"]: (9.5, QUIET, False, 6),
            OWN_STYLES["cell"]: (9, "", False, 0),
        }
        for name, (size, colour, bold, after) in looks.items():
            if name not in held:
                style = self.word.styles.add_style(name, WD_STYLE_TYPE.PARAGRAPH)
                style.base_style = self.word.styles.default(WD_STYLE_TYPE.PARAGRAPH)
                _look(style, size, colour, 0, after)
                style.font.bold = bold or None
                style.paragraph_format.line_spacing = 1.0 if name == OWN_STYLES["cell"] else None
        if self.own:
            for level, indent in ((1, 0), (2, 18)):
                style = self.word.styles.add_style(f"toc {level}", WD_STYLE_TYPE.PARAGRAPH, builtin=True)
                style.base_style = self.word.styles["Normal"]
                style.paragraph_format.left_indent = _points(indent)
                style.paragraph_format.space_after = _points(3)
        for language in self.word.styles.element.iter(_qn("w:lang")):
            language.set(_qn("w:val"), "en-GB")

    def _properties(self, document: Document) -> None:
        set_properties(
            self.word.core_properties,
            self.word.part.package.rels,
            title=document.title,
            subject=document.customer,
            comments=document.made_with,
            day=document.as_of,
        )
        settings = self.word.settings.element
        if settings.find(_qn("w:updateFields")) is None:
            update = _element("updateFields", val="true")
            following = [child for child in settings if child.tag.rpartition("}")[2] in AFTER_UPDATE]
            if following:
                following[0].addprevious(update)
            else:
                settings.append(update)

    def _footer(self, title: str) -> None:
        """Page numbers, unless the template has a footer of its own."""
        from docx.enum.text import WD_ALIGN_PARAGRAPH

        footer = self.word.sections[-1].footer
        filled = any(p.text.strip() for p in footer.paragraphs) or any(
            footer._element.find(f".//{_qn(f'w:{tag}')}") is not None for tag in OWN_FOOTERS
        )
        if filled and not footer.is_linked_to_previous:
            return
        paragraph = footer.paragraphs[0] if footer.paragraphs else footer.add_paragraph()
        paragraph.alignment = WD_ALIGN_PARAGRAPH.RIGHT
        name = one_line(title)
        paragraph.add_run(f"{name if len(name) <= 60 else name[:59] + '…'}  ·  Page ")
        self._field(paragraph, "PAGE", "1")
        paragraph.add_run(" of ")
        self._field(paragraph, "NUMPAGES", "1")

    # Parts of the document

    def _cover(self, document: Document) -> None:
        self._paragraph(one_line(document.title), "Title")
        if document.customer:
            self._paragraph(one_line(document.customer), "Subtitle")
        if document.as_of:
            self._paragraph(f"As of {written_day(document.as_of)}")
        self._paragraph(one_line(document.made_with), OWN_STYLES["note"])

    def _contents(self, document: Document) -> None:
        """A table of contents that Word fills with page numbers when the file is opened."""
        title = self._paragraph("Contents", "TOC Heading")
        title.paragraph_format.page_break_before = True
        if "TOC Heading" not in self.known:
            title.runs[0].bold, title.runs[0].font.size = True, _points(16)
        entries = [
            (level, text)
            for chapter in document.chapters
            for level, text in [(1, chapter.title), *((2, section.title) for section in chapter.sections)]
        ]
        first = paragraph = self._paragraph("", "toc 1")
        self._field_char(first, "begin", dirty="true")
        run = first.add_run()
        run._r.append(_element("instrText", ' TOC \\o "1-2" \\h \\z \\u '))
        self._field_char(first, "separate")
        for at, (level, text) in enumerate(entries, 1):
            if at > 1:
                paragraph = self._paragraph("", f"toc {level}")
            if level == 2 and "toc 2" not in self.known:
                paragraph.paragraph_format.left_indent = _points(18)
            link = _element("hyperlink", anchor=_bookmark(at), history="1")
            run = paragraph.add_run(one_line(text))
            link.append(run._r)
            paragraph._p.append(link)
        self._field_char(paragraph, "end")

    def _heading(self, text: str, level: int) -> Any:
        self.bookmarks += 1
        paragraph = self._paragraph("", f"Heading {level}")
        start = _element("bookmarkStart", id=str(self.bookmarks), name=_bookmark(self.bookmarks))
        paragraph._p.append(start)
        run = paragraph.add_run(one_line(text))
        paragraph._p.append(_element("bookmarkEnd", id=str(self.bookmarks)))
        paragraph.paragraph_format.keep_with_next = True
        if f"Heading {level}" not in self.known:
            run.bold, run.font.size = True, _points(18 if level == 1 else 13)
            paragraph._p.get_or_add_pPr().append(_element("outlineLvl", val=str(level - 1)))
        return paragraph

    def _block(self, block: Block) -> None:
        if isinstance(block, Paragraph):
            self._paragraph(clean(block.text), OWN_STYLES.get(block.tone, ""))
        elif isinstance(block, Bullets):
            for item in block.items:
                bullet = "" if "List Bullet" in self.known else "• "
                self._paragraph("", "List Bullet").add_run(bullet + clean(item))
        elif isinstance(block, Grid):
            self._grid(block)
        elif isinstance(block, Figure):
            self._figure(block)
        elif isinstance(block, KeyFigures):
            self._table(block.items, (), widths=(0.3, 0.25, 0.45), bold=(1,))
            self._gap()
        else:
            self._decision(block)

    def _grid(self, grid: Grid) -> None:
        if grid.caption:
            self._caption("Table", grid.caption).paragraph_format.keep_with_next = True
        self._table(grid.rows, grid.heads, right=grid.right, widths=grid.widths, totals=grid.totals)
        self._gap()

    def _decision(self, decision: DecisionBlock) -> None:
        rows = [
            ("Decision", decision.decision),
            ("Justification", decision.justification),
            ("Implication", decision.implication),
        ]
        if decision.sources:
            rows.append(("Sources", "; ".join(decision.sources)))
        head = (str(decision.number), decision.title)
        self._table(rows, head, widths=(0.17, 0.83), together=True, bold=(0,))
        self._gap()

    def _figure(self, figure: Figure) -> None:
        from docx.enum.text import WD_ALIGN_PARAGRAPH
        from docx.opc.packuri import PackURI
        from docx.opc.part import Part

        from gpuplan.report.drawing import figure_png

        paragraph = self._paragraph("")
        paragraph.alignment = WD_ALIGN_PARAGRAPH.CENTER
        paragraph.paragraph_format.keep_with_next = True
        picture = paragraph.add_run().add_picture(
            BytesIO(figure_png(clean(figure.svg))), width=int(self.width * min(1.0, figure.width))
        )
        most = int(0.72 * self.height)
        if picture.height > most:
            picture.width, picture.height = int(picture.width * most / picture.height), most
        properties = picture._inline.docPr
        at = self.counts["Figure"] + 1
        properties.set("name", f"Figure {at}")
        properties.set("descr", clean(figure.alt))
        blip = picture._inline.graphic.graphicData.pic.blipFill.blip
        name, svg = PackURI(f"/word/media/drawing{at}.svg"), clean(figure.svg).encode()
        add_svg(self.word.part, blip, Part(name, "image/svg+xml", svg, self.word.part.package))
        self._caption("Figure", figure.caption)

    # What they are made of

    def _paragraph(self, text: str, style: str = "") -> Any:
        """A paragraph in a style, or in the usual one if the template lacks it."""
        return self.word.add_paragraph(text, style if style in self.known else None)

    def _gap(self) -> None:
        """Room after a table."""
        self._paragraph("", OWN_STYLES["cell"])

    def _caption(self, kind: str, text: str) -> Any:
        self.counts[kind] += 1
        paragraph = self._paragraph("", "Caption")
        paragraph.add_run(f"{kind} ")
        self._field(paragraph, f"SEQ {kind} \\* ARABIC", str(self.counts[kind]))
        paragraph.add_run(f": {one_line(text)}")
        return paragraph

    def _field(self, paragraph: Any, code: str, shown: str) -> None:
        self._field_char(paragraph, "begin")
        paragraph.add_run()._r.append(_element("instrText", f" {code} "))
        self._field_char(paragraph, "separate")
        paragraph.add_run(shown)
        self._field_char(paragraph, "end")

    def _field_char(self, paragraph: Any, kind: str, **more: str) -> None:
        paragraph.add_run()._r.append(_element("fldChar", fldCharType=kind, **more))

    def _table(
        self,
        rows: Sequence[Sequence[str]],
        heads: Sequence[str],
        *,
        right: Sequence[int] = (),
        widths: Sequence[float] = (),
        bold: Sequence[int] = (),
        totals: Sequence[int] = (),
        together: bool = False,
    ) -> None:
        """A table whose first row is repeated on every page and whose rows are not split."""
        from docx.enum.text import WD_ALIGN_PARAGRAPH

        cells = [*([heads] if heads else []), *rows]
        columns = max((len(row) for row in cells), default=0)
        if not columns:
            return
        shares = widths if len(widths) == columns else ()
        twips = _widths(cells, shares, int(self.width / EMU_PER_TWIP))
        strong = {row + bool(heads) for row in totals} | ({0} if heads else set())
        kept = range(len(cells) - 1) if together else range(bool(heads))
        table = self._empty_table(len(cells), twips)
        style = self.word.styles[OWN_STYLES["cell"]].style_id
        for at, (row, texts) in enumerate(zip(table.tr_lst, cells, strict=True)):
            head = bool(heads) and at == 0
            properties = row.get_or_add_trPr()
            properties.append(_element("cantSplit"))
            if head:
                properties.append(_element("tblHeader"))
            for column, (cell, width) in enumerate(zip(row.tc_lst, twips, strict=True)):
                _set_width(cell.get_or_add_tcPr().get_or_add_tcW(), width)
                if head:
                    cell.tcPr.append(_element("shd", val="clear", color="auto", fill=SHADE))
                paragraph = cell.p_lst[0]
                paragraph.style = style
                if at in kept:
                    paragraph.get_or_add_pPr().get_or_add_keepNext()
                if column in right:
                    paragraph.alignment = WD_ALIGN_PARAGRAPH.RIGHT
                text = clean(texts[column]) if column < len(texts) else ""
                _set_text(paragraph, text, bold=at in strong or column in bold)

    def _empty_table(self, rows: int, twips: Sequence[int]) -> Any:
        """A table with columns of some widths, in twentieths of a point."""
        table = self.word.add_table(rows=rows, cols=len(twips))
        width = table._tbl.tblPr.find(_qn("w:tblW"))
        if not self.own and "Table Grid" in {style.name for style in self.word.styles}:
            table.style = "Table Grid"
        else:
            width.addnext(_borders())
        table.autofit = False
        _set_width(width, sum(twips))
        for column, each in zip(table._tbl.tblGrid.gridCol_lst, twips, strict=True):
            column.set(_qn("w:w"), str(each))
        return table._tbl


def _set_text(paragraph: Any, text: str, *, bold: bool) -> None:
    run = paragraph.add_r()
    run.text = text
    if bold:
        run.get_or_add_rPr().get_or_add_b()


def _set_width(element: Any, twips: int) -> None:
    element.set(_qn("w:type"), "dxa")
    element.set(_qn("w:w"), str(twips))


def _points(size: float) -> Any:
    """A length in points as the library takes it."""
    from docx.shared import Pt

    return Pt(size)


def _look(style: Any, size: float, colour: str, before: float, after: float) -> None:
    from docx.shared import RGBColor

    style.font.size = _points(size)
    if colour:
        style.font.color.rgb = RGBColor.from_string(colour)
    form = style.paragraph_format
    form.space_before, form.space_after = _points(before), _points(after)


def _bookmark(at: int) -> str:
    return f"_Toc{at:09}"


def _borders() -> Any:
    borders = _element("tblBorders")
    for side in ("top", "bottom", "insideH"):
        borders.append(_element(side, val="single", sz="4", space="0", color=LINE))
    return borders


def one_line(text: str) -> str:
    """The text on one line, without the characters that XML cannot hold; spaces that do not break stay."""
    return re.sub("[ \t\r\n]+", " ", clean(text)).strip()


def _widths(cells: Sequence[Sequence[str]], shares: Sequence[float], width: int) -> list[int]:
    """Widths of columns in twentieths of a point: each as wide as its longest word, the rest as stated or by the text."""
    columns = list(zip_longest(*cells, fillvalue=""))
    words = [max(map(len, " ".join(texts).split()), default=1) for texts in columns]
    least = [CELL_MARGINS + CHARACTER * min(word, 18) for word in words]
    wished = [CELL_MARGINS + CHARACTER * min(max(map(len, texts)), 44) for texts in columns]
    if shares:
        wished = [int(width * share / sum(shares)) for share in shares]
    if sum(least) >= width:
        return [int(width * each / sum(least)) for each in least]
    more = [max(0, wish - each) for wish, each in zip(wished, least, strict=True)]
    free = width - sum(least)
    if not sum(more):
        return [each + free // len(columns) for each in least]
    return [each + int(free * extra / sum(more)) for each, extra in zip(least, more, strict=True)]
