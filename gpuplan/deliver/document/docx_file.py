"""The design document as a Word file: headings, captions and tables that users can go on editing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from io import BytesIO
from itertools import zip_longest
from typing import Any

from gpuplan.deliver.brand import PLAIN, Brand
from gpuplan.deliver.document import (
    Block,
    Bullets,
    DecisionBlock,
    Document,
    Figure,
    Grid,
    KeyFigures,
    Paragraph,
    References,
)
from gpuplan.deliver.office import same_bytes, set_properties
from gpuplan.deliver.template import LOOKS, checked_template, usable_template
from gpuplan.deliver.texts import FILLED, clean, one_line
from gpuplan.locales import speaking
from gpuplan.wording import said

EMU_PER_TWIP = 635
LONGEST_KEPT = 14
"""Characters of a word that a column keeps on one line."""
COLUMN_GAP = 254_000
"""Gap between two columns of text, in English Metric Units."""
CHARACTER, CELL_MARGINS = 102, 230
"""Widths in a table in twentieths of a point: a bold character of 9 points, and the margins of a cell."""
SVG_EXTENSION = "{96DAC541-7B7A-43D3-8B79-37D633B846F1}"
"""Marks a picture that also exists as SVG."""
SVG_NAMESPACE = "http://schemas.microsoft.com/office/drawing/2016/SVG/main"
ACCENT, INK, QUIET, SHADE = PLAIN.accent, PLAIN.ink, PLAIN.quiet, PLAIN.shade
WHITE = "FFFFFF"
AFTER_UPDATE = (
    "hdrShapeDefaults", "footnotePr", "endnotePr", "compat", "docVars", "rsids", "mathPr", "attachedSchema", "themeFontLang",
    "clrSchemeMapping", "doNotIncludeSubdocsInStats", "shapeDefaults", "decimalSymbol", "listSeparator",
)  # fmt: skip
"""Elements that follow the request to update fields in the settings of a Word file."""
LEVEL = (
    '<w:lvl w:ilvl="{level}"><w:start w:val="1"/><w:numFmt w:val="decimal"/><w:pStyle w:val="{style}"/><w:lvlText w:val="{text}"/>'
    '<w:lvlJc w:val="left"/><w:pPr><w:ind w:left="567" w:hanging="567"/></w:pPr></w:lvl>'
)
"""Numbering of the headings of one level."""
OWN_FOOTERS = ("tbl", "instrText", "fldSimple", "sdt")
"""Elements of a footer that a template fills by other means than text."""
OWN_STYLES = {
    "lead": "gpuplan lead",
    "note": "gpuplan note",
    "cell": "gpuplan table",
    "small": "gpuplan small table",
    "reference": "gpuplan reference",
}


def docx_bytes(document: Document, *, brand: Brand = PLAIN, template: bytes | None = None) -> bytes:
    """The design document as a DOCX file, the same bytes for the same document; a template goes before the brand."""
    from docx import Document as word_file

    if template is None:
        return _written(document, word_file(), brand, own=True)
    with usable_template("docx"):
        word = word_file(BytesIO(checked_template(template, "docx").file))
        _emptied(word)
        return _written(document, word, brand, own=False)


def _written(document: Document, word: Any, brand: Brand, *, own: bool) -> bytes:
    with speaking(document.locale):
        _Writer(word, brand, own=own, paper=document.paper).write(document)
    stream = BytesIO()
    word.save(stream)
    return same_bytes(stream.getvalue(), day=document.day)


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
    """Remove the body text of a template; its page, headers and footers stay."""
    body = word.element.body
    for child in list(word.element):
        if child is not body:
            word.element.remove(child)  # the page background, which refers to a picture
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
TALLEST = 0.86
"""Share of a page that a drawing may take with its caption below; a lower one would make the text of a tall drawing too small."""


class _Writer:
    """Writes the blocks of a document to a Word file."""

    def __init__(self, word: Any, brand: Brand, *, own: bool, paper: str) -> None:
        from docx.enum.style import WD_STYLE_TYPE
        from docx.shared import Mm

        self.word, self.brand, self.own, self.paper = word, brand, own, paper
        self.bookmarks = 0
        self.counts = {"Table": 0, "Figure": 0}
        if own:
            self._own_page()
            self._own_styles()
            self._numbered_headings()
        self._added_styles()
        self.known = {s.name: s.style_id for s in word.styles if s.type == WD_STYLE_TYPE.PARAGRAPH}
        page, margin = word.sections[-1], Mm(24)
        across = (page.left_margin or margin) + (page.right_margin or margin)
        along = (page.top_margin or margin) + (page.bottom_margin or margin)
        self.width = (page.page_width or Mm(210)) - across
        self.height = (page.page_height or Mm(297)) - along

    def write(self, document: Document) -> None:
        """Write the whole document."""
        self._properties(document)
        self._footer(document.title)
        self._title(document)
        for block in document.front:
            self._block(block)
        heading = self._paragraph(said("document.control"), "TOC Heading")
        heading.paragraph_format.page_break_before = True
        for block in document.control:
            self._block(replace(block, caption="") if isinstance(block, Grid) else block)
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
        section.left_margin = section.right_margin = Mm(22)
        section.top_margin, section.bottom_margin = Mm(20), Mm(20)

    def _own_styles(self) -> None:
        ink, accent, quiet = self.brand.ink, self.brand.accent, self.brand.quiet
        sizes = {
            "Normal": (10, ink, 0, 5),
            "Title": (22, accent, 0, 2),
            "Subtitle": (10, quiet, 0, 8),
            "Heading 1": (18, accent, 22, 8),
            "Heading 2": (13, accent, 14, 4),
            "Caption": (9, quiet, 6, 3),
            "List Bullet": (10, ink, 0, 3),
        }
        for name, (size, colour, before, after) in sizes.items():
            style = self.word.styles[name]
            _look(style, size, colour, before, after)
            heads = name.startswith(("Title", "Heading"))
            style.font.name, style.font.italic = self.brand.headings if heads else self.brand.text, False
            style.paragraph_format.line_spacing = 1.0 if name == "Title" else 1.08
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
        ink, quiet = self.brand.ink, self.brand.quiet
        looks = {
            OWN_STYLES["lead"]: (12, ink, True, 6),
            OWN_STYLES["note"]: (9, quiet, False, 6),
            OWN_STYLES["cell"]: (9, "", False, 0),
            OWN_STYLES["small"]: (8.5, "", False, 0),
            OWN_STYLES["reference"]: (8, ink, False, 2),
        }
        tight = (OWN_STYLES["cell"], OWN_STYLES["small"], OWN_STYLES["reference"])
        for name, (size, colour, bold, after) in looks.items():
            if name not in held:
                style = self.word.styles.add_style(name, WD_STYLE_TYPE.PARAGRAPH)
                style.base_style = self.word.styles.default(WD_STYLE_TYPE.PARAGRAPH)
                _look(style, size, colour, 0, after)
                style.font.bold = bold or None
                style.paragraph_format.line_spacing = 1.0 if name in tight else None
        if self.own:
            for level, indent in ((1, 0), (2, 18)):
                style = self.word.styles.add_style(f"toc {level}", WD_STYLE_TYPE.PARAGRAPH, builtin=True)
                style.base_style = self.word.styles["Normal"]
                style.font.size = _points(10 if level == 1 else 9)
                style.font.bold = level == 1
                form = style.paragraph_format
                form.left_indent, form.line_spacing = _points(indent), 1.0
                form.space_before, form.space_after = _points(3 if level == 1 else 0), _points(1)
        for language in self.word.styles.element.iter(_qn("w:lang")):
            language.set(_qn("w:val"), "en-GB")

    def _properties(self, document: Document) -> None:
        set_properties(
            self.word.core_properties,
            self.word.part.package.rels,
            title=document.title,
            subject=document.customer,
            comments=document.made_with,
            day=document.day,
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
        """Add page numbers, unless the template has its own footer."""

        footer = self.word.sections[-1].footer
        filled = any(p.text.strip() for p in footer.paragraphs) or any(
            footer._element.find(f".//{_qn(f'w:{tag}')}") is not None for tag in OWN_FOOTERS
        )
        if filled and not footer.is_linked_to_previous:
            return
        paragraph = footer.paragraphs[0] if footer.paragraphs else footer.add_paragraph()
        paragraph.style = self.word.styles[OWN_STYLES["note"]]
        name = one_line(title)
        parts = [self.brand.footer, name if len(name) <= 60 else name[:59] + "\u2026"]
        paragraph.add_run("  \u00b7  ".join(filter(None, parts)) + "\t")
        _right_tab(paragraph, self.width)
        paragraph.add_run(said("document.page"))
        self._field(paragraph, "PAGE", "1")
        paragraph.add_run(said("document.of pages"))
        self._field(paragraph, "NUMPAGES", "1")

    # Parts of the document

    def _title(self, document: Document) -> None:
        """Write the head of the first page: the logo, the kind of document and the customer."""
        if self.brand.logo and self.own:
            self._logo()
        self._paragraph(one_line(document.title), "Title")
        below = (document.customer, document.about)
        self._paragraph("  \u00b7  ".join(one_line(text) for text in below if text), "Subtitle")

    def _logo(self) -> None:
        """Add the firm's logo at the right, as high as two lines."""
        from docx.enum.text import WD_ALIGN_PARAGRAPH

        paragraph = self._paragraph("")
        paragraph.alignment = WD_ALIGN_PARAGRAPH.RIGHT
        paragraph.paragraph_format.space_after = _points(0)
        picture = paragraph.add_run().add_picture(BytesIO(self.brand.logo), height=_points(28))
        most = int(self.width * 0.4)
        if picture.width > most:
            picture.height, picture.width = int(picture.height * most / picture.width), most
        picture._inline.docPr.set("descr", self.brand.name)

    def _contents(self, document: Document) -> None:
        """Write the chapters and sections with their pages, which Word and LibreOffice fill in on opening."""
        title = self._paragraph(said("document.contents"), "TOC Heading")
        if "TOC Heading" not in self.known:
            title.runs[0].bold, title.runs[0].font.size = True, _points(16)
        entries = [
            (level, text)
            for chapter in document.chapters
            for level, text in [(1, chapter.title), *((2, section.title) for section in chapter.sections)]
        ]
        numbers = _numbers([level for level, _ in entries])
        with self._in_columns():
            self._listed(entries, numbers)

    def _listed(self, entries: Sequence[tuple[int, str]], numbers: Sequence[str]) -> None:
        """Write the lines of the contents."""
        wide = int((self.width - COLUMN_GAP) / 2)
        for at, ((level, text), number) in enumerate(zip(entries, numbers, strict=True), 1):
            paragraph = self._paragraph("", f"toc {level}")
            if level == 2 and "toc 2" not in self.known:
                paragraph.paragraph_format.left_indent = _points(18)
            _right_tab(paragraph, wide, dotted=True)
            link = _element("hyperlink", anchor=_bookmark(at), history="1")
            before = f"{number}  " if self.own else ""
            link.append(paragraph.add_run(f"{before}{one_line(text)}\t")._r)
            paragraph._p.append(link)
            self._field(paragraph, f"PAGEREF {_bookmark(at)} \\h", "\u2026")

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
            self._figures(block)
        elif isinstance(block, References):
            self._references(block)
        else:
            self._decision(block)

    def _figures(self, figures: KeyFigures) -> None:
        """Write the answer at a glance: tiles beside each other."""
        columns = len(figures.items)
        twips = [int(self.width / EMU_PER_TWIP / columns)] * columns
        table = self._empty_table(1, twips, borders=False)
        for (label, value, note), cell, width in zip(
            figures.items, table.tr_lst[0].tc_lst, twips, strict=True
        ):
            _set_width(cell.get_or_add_tcPr().get_or_add_tcW(), width)
            cell.tcPr.append(_element("shd", val="clear", color="auto", fill=self.brand.shade))
            first = cell.p_lst[0]
            lines = (
                (label, 8.5, False, self.brand.quiet),
                (value, 15, True, self.brand.accent),
                (note, 8.5, False, self.brand.ink),
            )
            for at, (text, size, bold, colour) in enumerate(lines):
                paragraph = first if at == 0 else cell.add_p()
                paragraph.style = self.word.styles[OWN_STYLES["cell"]].style_id
                _set_text(paragraph, clean(text), bold=bold, size=size, colour=colour)
        self._gap()

    def _references(self, block: References) -> None:
        """Write the sources in two columns."""
        with self._in_columns():
            for number, text in block.items:
                paragraph = self._paragraph("", OWN_STYLES["reference"])
                form = paragraph.paragraph_format
                form.left_indent, form.first_line_indent = _points(20), _points(-20)
                form.tab_stops.add_tab_stop(_points(20))
                paragraph.add_run(f"{number}\t{clean(text)}")

    @contextmanager
    def _in_columns(self) -> Iterator[None]:
        """Set the enclosed content in two columns, between two breaks of the section."""
        from docx.enum.section import WD_SECTION

        _columns(self.word.add_section(WD_SECTION.CONTINUOUS), 2)
        yield
        _columns(self.word.add_section(WD_SECTION.CONTINUOUS), 1)

    def _grid(self, grid: Grid) -> None:
        if grid.caption:
            self._caption("Table", grid.caption).paragraph_format.keep_with_next = True
        heads = grid.heads if any(grid.heads) else ()
        bold = () if heads else (0,)
        look = "small" if grid.small else "cell"
        self._table(
            grid.rows, heads, right=grid.right, widths=grid.widths, totals=grid.totals, bold=bold, look=look
        )
        self._gap(4 if grid.small else 0)

    def _decision(self, decision: DecisionBlock) -> None:
        rows = [
            (said("decisions.decision"), decision.decision),
            (said("decisions.justification"), decision.justification),
            (said("decisions.implication"), decision.implication),
        ]
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
        most = int(TALLEST * self.height)
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

    # Elements of the parts

    def _paragraph(self, text: str, style: str = "") -> Any:
        """Add a paragraph in a style, or in the usual one if the template lacks it."""
        paragraph = self.word.add_paragraph(text)
        if style in self.known:
            paragraph._p.style = self.known[style]
        return paragraph

    def _gap(self, points: float = 0) -> None:
        """Add room after a table."""
        paragraph = self._paragraph("", OWN_STYLES["cell"])
        if points:
            paragraph.paragraph_format.line_spacing = _points(points)

    def _caption(self, kind: str, text: str) -> Any:
        self.counts[kind] += 1
        paragraph = self._paragraph("", "Caption")
        paragraph.add_run(
            said("document.table number") if kind == "Table" else said("document.figure number")
        )
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
        look: str = "cell",
    ) -> None:
        """Add a table whose first row is repeated on every page and whose rows are not split."""
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
        style = self.word.styles[OWN_STYLES[look]].style_id
        for at, (row, texts) in enumerate(zip(table.tr_lst, cells, strict=True)):
            head = bool(heads) and at == 0
            properties = row.get_or_add_trPr()
            properties.append(_element("cantSplit"))
            if head:
                properties.append(_element("tblHeader"))
            for column, (cell, width) in enumerate(zip(row.tc_lst, twips, strict=True)):
                _set_width(cell.get_or_add_tcPr().get_or_add_tcW(), width)
                if head:
                    cell.tcPr.append(_element("shd", val="clear", color="auto", fill=self.brand.shade))
                paragraph = cell.p_lst[0]
                paragraph.style = style
                if at in kept:
                    paragraph.get_or_add_pPr().get_or_add_keepNext()
                if column in right:
                    paragraph.alignment = WD_ALIGN_PARAGRAPH.RIGHT
                text = clean(texts[column]) if column < len(texts) else ""
                for part in filter(None, FILLED.split(text)):
                    colour = self.brand.quiet if FILLED.fullmatch(part) else ""
                    _set_text(paragraph, part, bold=at in strong or column in bold, colour=colour)

    def _empty_table(self, rows: int, twips: Sequence[int], *, borders: bool = True) -> Any:
        """Add a table with columns of some widths, in twentieths of a point."""
        table = self.word.add_table(rows=rows, cols=len(twips))
        width = table._tbl.tblPr.find(_qn("w:tblW"))
        if not borders:
            width.addnext(_borders(WHITE, "insideV", size="24"))
        elif not self.own and "Table Grid" in {style.name for style in self.word.styles}:
            table.style = "Table Grid"
        else:
            width.addnext(_borders(self.brand.line, "top", "bottom", "insideH"))
        table.autofit = False
        _set_width(width, sum(twips))
        for column, each in zip(table._tbl.tblGrid.gridCol_lst, twips, strict=True):
            column.set(_qn("w:w"), str(each))
        return table._tbl


def _set_text(paragraph: Any, text: str, *, bold: bool = False, size: float = 0, colour: str = "") -> None:
    run = paragraph.add_r()
    run.text = text
    if bold:
        run.get_or_add_rPr().get_or_add_b()
    if colour:
        run.get_or_add_rPr().append(_element("color", val=colour))
    if size:
        run.get_or_add_rPr().append(_element("sz", val=str(round(2 * size))))


def _right_tab(paragraph: Any, width: int, *, dotted: bool = False) -> None:
    """A tab at the right edge of the text, with dots up to it if wanted."""
    from docx.enum.text import WD_TAB_ALIGNMENT, WD_TAB_LEADER

    leader = WD_TAB_LEADER.DOTS if dotted else WD_TAB_LEADER.SPACES
    paragraph.paragraph_format.tab_stops.add_tab_stop(width, WD_TAB_ALIGNMENT.RIGHT, leader)


def _columns(section: Any, count: int) -> None:
    """Set the text of a section in columns."""
    held = section._sectPr.find(_qn("w:cols"))
    if held is None:
        held = _element("cols")
        section._sectPr.append(held)
    held.set(_qn("w:num"), str(count))
    held.set(_qn("w:space"), str(COLUMN_GAP // EMU_PER_TWIP))


def _numbers(levels: Sequence[int]) -> list[str]:
    """The numbers of chapters and sections in their order."""
    found, chapter, section = [], 0, 0
    for level in levels:
        chapter, section = (chapter + 1, 0) if level == 1 else (chapter, section + 1)
        found.append(str(chapter) if level == 1 else f"{chapter}.{section}")
    return found


def _set_width(element: Any, twips: int) -> None:
    element.set(_qn("w:type"), "dxa")
    element.set(_qn("w:w"), str(twips))


def _points(size: float) -> Any:
    """Return a length in points as the library's type."""
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


def _borders(colour: str, *sides: str, size: str = "4") -> Any:
    borders = _element("tblBorders")
    for side in sides:
        borders.append(_element(side, val="single", sz=size, space="0", color=colour))
    return borders


def _widths(cells: Sequence[Sequence[str]], shares: Sequence[float], width: int) -> list[int]:
    """Widths of columns in twentieths of a point: each as wide as its longest word, the rest as stated or by the text."""
    columns = list(zip_longest(*cells, fillvalue=""))
    words = [max(map(len, " ".join(texts).split()), default=1) for texts in columns]
    least = [CELL_MARGINS + CHARACTER * min(word, LONGEST_KEPT) for word in words]
    wished = [CELL_MARGINS + CHARACTER * min(max(map(len, texts)), 44) for texts in columns]
    if shares:
        wished = [int(width * share / sum(shares)) for share in shares]
    elif sum(wished) < width:
        return [int(width * each / sum(wished)) for each in wished]
    if sum(least) >= width:
        return [int(width * each / sum(least)) for each in least]
    more = [max(0, wish - each) for wish, each in zip(wished, least, strict=True)]
    free = width - sum(least)
    if not sum(more):
        return [each + free // len(columns) for each in least]
    return [each + int(free * extra / sum(more)) for each, extra in zip(least, more, strict=True)]
