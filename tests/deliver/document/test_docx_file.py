"""The Word file holds every chapter, cell and decision of the document, in order, and takes a user's template."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from io import BytesIO
from typing import Any
from zipfile import ZipFile

import pytest
from branding import ACME
from docx import Document as word_file
from docx.oxml import OxmlElement
from docx.oxml.ns import qn
from docx.shared import Mm
from lxml import etree

from gpuplan import Plan
from gpuplan.deliver.document import design_document
from gpuplan.deliver.document.blocks import (
    Bullets,
    Chapter,
    DecisionBlock,
    Decisions,
    Document,
    Figure,
    Grid,
    KeyFigures,
    Paragraph,
    References,
    Section,
)
from gpuplan.deliver.document.docx_file import docx_bytes
from gpuplan.deliver.html import clean, one_line

SVG = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 40 20" width="40" height="20"><title>Hosts</title>'
    '<rect width="40" height="20" fill="#0072b2"/></svg>'
)
TALL = SVG.replace('"0 0 40 20"', '"0 0 20 200"').replace('width="40" height="20"', 'width="20" height="200"')
ROWS = tuple((f"Host {n}", str(n), f"word {n} <b>") for n in range(1, 61))
DECISIONS = (
    DecisionBlock(1, "GPUs per host", "Four each.", "A VM needs four.", "No VM has more. [1, 2]"),
    DecisionBlock(2, "Spare hosts", "One.", "One may fail.", "It idles."),
)
DOCUMENT = Document(
    title="=HYPERLINK(1) <script>\x0b & plan",
    customer="Müller\x00 & Söhne",
    about="version 1",
    day="2026-11-21",
    made_with="gpuplan 0.1.0, catalog 0123",
    front=(
        Paragraph("Eight hosts\x0b carry it.", "lead"),
        KeyFigures((("Hosts", "8", "7 and 1 spare"), ("GPUs", "32", "28 after a failure"))),
    ),
    control=(Grid(("", ""), (("Version", "1"), ("Author", "\u2039to fill in\u203a"))),),
    chapters=(
        Chapter(
            "Summary",
            (
                Bullets(("First point", "Second <b>point</b>")),
                Figure(SVG, "The hosts", "Eight boxes with <four> GPUs", 0.8),
                Paragraph("An aside.", "note"),
            ),
        ),
        Chapter(
            "Hosts",
            (Paragraph("Text."),),
            (
                Section(
                    "All hosts",
                    (Grid(("Host", "GPUs", "Note"), ROWS, "The hosts", (1,), (2, 1, 3), (len(ROWS) - 1,)),),
                ),
                Section("Tall", (Figure(TALL, "A tower", "A tall drawing"), Grid(("Empty",), ()))),
            ),
        ),
        Chapter("Design decisions", (Decisions(DECISIONS),)),
        Chapter("Sources", (References((("1", "A paper. Maker, 2020"), ("2", "A <guide>"))),)),
    ),
)


def opened(file: bytes) -> Any:
    return word_file(BytesIO(file))


def parts(file: bytes) -> dict[str, bytes]:
    with ZipFile(BytesIO(file)) as packed:
        return {name: packed.read(name) for name in packed.namelist()}


def cells(table: Any) -> list[list[str]]:
    return [
        ["".join(t.text or "" for t in cell.iter(qn("w:t"))) for cell in row.tc_lst]
        for row in table._tbl.tr_lst
    ]


@pytest.fixture(scope="module")
def file() -> bytes:
    return docx_bytes(DOCUMENT)


def test_headings_are_those_of_the_document_in_order(file: bytes) -> None:
    found = [(p.style.name, p.text) for p in opened(file).paragraphs if p.style.name.startswith("Heading")]
    assert found == [
        ("Heading 1", "Summary"),
        ("Heading 1", "Hosts"),
        ("Heading 2", "All hosts"),
        ("Heading 2", "Tall"),
        ("Heading 1", "Design decisions"),
        ("Heading 1", "Sources"),
    ]


def test_every_cell_and_decision_is_there_in_order(file: bytes) -> None:
    tables = [cells(table) for table in opened(file).tables]
    assert "plan" in tables[0][0][0] and "Müller & Söhne" in tables[0][0][0]
    assert tables[1] == [["Version", "1"], ["Author", "\u2039to fill in\u203a"]]
    assert tables[2] == [["Hosts87 and 1 spare", "", "GPUs3228 after a failure"]]
    assert tables[3] == [["Host", "GPUs", "Note"], *[list(row) for row in ROWS]]
    assert tables[4] == [["Empty"]]
    assert tables[5] == [
        [
            "1\u2002GPUs per hostDecisionFour each.JustificationA VM needs four.ImplicationNo VM has more. [1, 2]",
            "",
            "2\u2002Spare hostsDecisionOne.JustificationOne may fail.ImplicationIt idles.",
        ]
    ]


def test_the_design_of_each_example_is_there_in_order(example: Plan) -> None:
    document = design_document(example)
    word = opened(docx_bytes(document))
    headings = [p.text for p in word.paragraphs if p.style.name in ("Heading 1", "Heading 2")]
    blocks: list[Any] = [*document.control, *document.front]
    titles = []
    for chapter in document.chapters:
        titles += [chapter.title, *(section.title for section in chapter.sections)]
        blocks += [*chapter.blocks, *(block for section in chapter.sections for block in section.blocks)]
    assert headings == [one_line(title) for title in titles]
    expected = []
    for block in blocks:
        if isinstance(block, Grid):
            expected.append(
                [list(row) for row in ([block.heads] if any(block.heads) else []) + list(block.rows)]
            )
        elif isinstance(block, KeyFigures):
            expected.append([list(intersperse("".join(item) for item in block.items))])
        elif isinstance(block, Decisions):
            cards = word.tables[1 + len(expected)]
            decided = [
                "".join((str(d.number), "\u2002", d.title, "Decision", d.decision)) for d in block.items
            ]
            shown = [cell for row in cells(cards) for cell in row if cell]
            assert [text.partition("Justification")[0] for text in shown] == decided
            assert len(decided) == len(example.decisions)
            expected.append([])
    found = [cells(table) for table in word.tables][1:]
    assert len(found) == len(expected)
    for seen, wanted in zip(found, expected, strict=True):
        assert seen[: len(wanted)] == wanted
    texts = [p.text for p in word.paragraphs]
    assert all(clean(b.text) in texts for b in blocks if isinstance(b, Paragraph))
    figures = [b for b in (*document.cover, *blocks) if isinstance(b, Figure)]
    assert len(word.inline_shapes) == len(figures) > 1


def intersperse(items: Iterable[str]) -> Iterator[str]:
    """Cards, and the gaps between them."""
    for at, item in enumerate(items):
        yield from ("", item) if at else (item,)


def test_running_text_is_there_and_names_are_harmless(file: bytes) -> None:
    word = opened(file)
    band = [p.text for p in word.tables[0].cell(0, 0).paragraphs if p.text]
    assert band == [
        "=HYPERLINK(1) <script> & plan",
        "Low-level design",
        "for Müller & Söhne",
        "version 1",
        "Eight hosts carry it.",
    ]
    texts = [p.text for p in word.paragraphs]
    told = (
        "Eight hosts carry it.",
        "First point",
        "Second <b>point</b>",
        "An aside.",
        "Text.",
        "2\tA <guide>",
    )
    at = [texts.index(t) for t in told]
    assert at == sorted(at)


def test_tables_repeat_their_head_and_rows_stay_whole(file: bytes) -> None:
    table = opened(file).tables[3]
    rows = table._tbl.tr_lst
    assert [row.find(f".//{qn('w:tblHeader')}") is not None for row in rows] == [True] + [False] * 60
    assert all(row.find(f".//{qn('w:cantSplit')}") is not None for row in rows)
    right = [[cell.find(f".//{qn('w:jc')}") is not None for cell in row.tc_lst] for row in rows]
    assert right == [[False, True, False]] * 61
    assert rows[-1].tc_lst[0].find(f".//{qn('w:b')}") is not None
    assert rows[-2].tc_lst[0].find(f".//{qn('w:b')}") is None
    widths = [int(column.get(qn("w:w"))) for column in table._tbl.tblGrid.gridCol_lst]
    assert widths[0] == pytest.approx(2 * widths[1], rel=0.15)
    assert sum(widths) * 635 == pytest.approx(Mm(210 - 36), rel=0.001)


def test_columns_are_as_wide_as_their_longest_word() -> None:
    grid = Grid(("Verdict", "What"), (("carried", "long words " * 40),), widths=(0.01, 0.99))
    document = document_of(Chapter("C", (grid, replace(grid, widths=()))))
    for table in opened(docx_bytes(document)).tables[1:]:
        first, second = (int(column.get(qn("w:w"))) for column in table._tbl.tblGrid.gridCol_lst)
        assert first > 7 * 5.2 * 20
        assert second > 4 * first


def test_tables_have_their_properties_in_the_order_of_the_schema(file: bytes) -> None:
    order = ["tblStyle", "tblW", "tblInd", "tblLayout", "tblCellMar", "tblLook", "tblCaption"]
    for table in opened(file).tables:
        found = [etree.QName(child).localname for child in table._tbl.tblPr]
        assert found == [name for name in order if name in found]


def document_of(*chapters: Chapter) -> Document:
    """A document with nothing but these chapters."""
    return Document("", "", "", "", "", (), (), chapters)


def test_captions_count_and_the_contents_have_pages(file: bytes) -> None:
    word = opened(docx_bytes(DOCUMENT, pages={f"_Toc{at:09}": at + 2 for at in range(1, 7)}))
    captions = [p.text for p in word.paragraphs if p.style.name == "Caption"]
    assert captions == ["Figure 1:\u2002The hosts", "Table 1:\u2002The hosts", "Figure 2:\u2002A tower"]
    codes = [e.text.strip() for e in word.element.body.iter(qn("w:instrText"))]
    links = [link.get(qn("w:anchor")) for link in word.element.body.iter(qn("w:hyperlink"))]
    assert codes[:6] == [f"PAGEREF {mark} \\h" for mark in links]
    assert codes[6:] == ["SEQ Figure \\* ARABIC", "SEQ Table \\* ARABIC", "SEQ Figure \\* ARABIC"]
    kinds = [e.get(qn("w:fldCharType")) for e in word.element.body.iter(qn("w:fldChar"))]
    assert kinds == ["begin", "separate", "end"] * 9
    contents = [p.text for p in word.paragraphs if p.style.name.startswith("toc")]
    assert [text.partition("\t")[0] for text in contents] == [
        "1  Summary",
        "2  Hosts",
        "2.1  All hosts",
        "2.2  Tall",
        "3  Design decisions",
        "4  Sources",
    ]
    assert [text.rpartition("\t")[2] for text in contents] == [str(at + 2) for at in range(1, 7)]
    marks = [mark.get(qn("w:name")) for mark in word.element.body.iter(qn("w:bookmarkStart"))]
    assert links == marks
    assert len(marks) == 6


def test_without_pages_the_contents_are_links(file: bytes) -> None:
    word = opened(file)
    assert len(list(word.element.body.iter(qn("w:hyperlink")))) == 6
    assert not [e for e in word.element.body.iter(qn("w:instrText")) if "PAGEREF" in (e.text or "")]


def test_word_opens_it_as_a_file_of_its_own_and_asks_nothing(file: bytes) -> None:
    def change(word: Any) -> None:
        word.settings.element.insert(0, OxmlElement("w:updateFields"))

    for each in (file, docx_bytes(DOCUMENT, template=template(change))):
        settings = opened(each).settings.element
        modes = {e.get(qn("w:name")): e.get(qn("w:val")) for e in settings.iter(qn("w:compatSetting"))}
        assert modes["compatibilityMode"] == "15"
        assert settings.find(qn("w:updateFields")) is None


def test_figures_are_svg_with_a_png_and_a_text(file: bytes) -> None:
    word, held = opened(file), parts(file)
    properties = list(word.element.body.iter(qn("wp:docPr")))
    assert [p.get("descr") for p in properties] == ["Eight boxes with <four> GPUs", "A tall drawing"]
    assert len({p.get("id") for p in properties}) == 2
    for at, (blip, svg) in enumerate(zip(word.element.body.iter(qn("a:blip")), (SVG, TALL), strict=True), 1):
        vector = next(e for e in blip.iter() if e.tag.endswith("}svgBlip"))
        drawing = word.part.related_parts[vector.get(qn("r:embed"))]
        assert drawing.blob.decode() == svg
        assert held[f"word/media/drawing{at}.svg"].decode() == svg
        assert word.part.related_parts[blip.get(qn("r:embed"))].blob.startswith(b"\x89PNG")
    section = word.sections[0]
    for shape in word.inline_shapes:
        assert shape.width <= Mm(174)
        assert shape.height <= section.page_height - section.top_margin - section.bottom_margin
    assert word.inline_shapes[0].width == pytest.approx(0.8 * Mm(174), rel=0.001)
    assert word.inline_shapes[1].height == pytest.approx(10 * word.inline_shapes[1].width, rel=0.02)
    assert (
        b'Extension="svg"' in held["[Content_Types].xml"] or b"image/svg+xml" in held["[Content_Types].xml"]
    )


def test_page_language_and_properties(file: bytes) -> None:
    word = opened(file)
    cover, section, *_ = word.sections
    assert {(round(s.page_width.mm), round(s.page_height.mm)) for s in word.sections} == {(210, 297)}
    assert "Page 1 of 1" in cover.footer.paragraphs[0].text == section.footer.paragraphs[0].text
    assert cover.top_margin == 0 and cover.header.paragraphs[0].text == ""
    head = "Müller & Söhne \u00b7 =HYPERLINK(1) <script> & plan\tLow-level design \u00b7 version 1"
    assert section.header.paragraphs[0].text == head
    languages = {e.get(qn("w:val")) for e in word.styles.element.iter(qn("w:lang"))}
    assert languages == {"en-GB"}
    known = word.core_properties
    assert (known.title, known.subject) == ("=HYPERLINK(1) <script> & plan", "Müller & Söhne")
    assert (known.author, known.last_modified_by, known.language) == ("gpuplan", "gpuplan", "en-GB")
    assert known.created.date().isoformat() == "2026-11-21"


def test_all_parts_are_well_formed_and_the_file_is_the_same_each_time(file: bytes) -> None:
    held = parts(file)
    for name, content in held.items():
        if name.endswith((".xml", ".rels", ".svg")):
            etree.fromstring(content)
    assert docx_bytes(DOCUMENT) == file
    assert "docProps/thumbnail.jpeg" not in held


def test_an_empty_document_is_a_file() -> None:
    word = opened(docx_bytes(document_of()))
    assert [p.text for p in word.paragraphs if p.text] == ["Document control", "Contents", "At a glance"]


def template(change: Any = None) -> bytes:
    word = word_file()
    word.add_paragraph("Old text of the template")
    word.add_table(1, 1)
    word.sections[0].header.paragraphs[0].text = "ACME header"
    word.sections[0].footer.paragraphs[0].text = "ACME footer"
    word.sections[0].page_width = Mm(216)
    word.styles["Heading 1"].font.name = "Courier New"
    if change:
        change(word)
    stream = BytesIO()
    word.save(stream)
    return stream.getvalue()


def test_a_template_keeps_its_looks_and_loses_its_text() -> None:
    word = opened(docx_bytes(DOCUMENT, template=template()))
    texts = [p.text for p in word.paragraphs]
    assert "Old text of the template" not in texts
    assert "Summary" in texts
    assert len(word.tables) == 5
    assert word.sections[-1].header.paragraphs[0].text == "ACME header"
    assert [p.text for p in word.sections[-1].footer.paragraphs] == ["ACME footer"]
    assert round(word.sections[-1].page_width.mm) == 216
    assert word.styles["Heading 1"].font.name == "Courier New"
    assert word.tables[0].style.name == "Table Grid"


def test_a_header_of_an_earlier_section_stays() -> None:
    def change(word: Any) -> None:
        word.add_section().header.is_linked_to_previous = True

    word = opened(docx_bytes(DOCUMENT, template=template(change)))
    assert {section.header.paragraphs[0].text for section in word.sections} == {"ACME header"}
    assert [columns(section) for section in word.sections] == ["1", "2", "1", "2", "1"]


def columns(section: Any) -> str:
    """Columns of text in a section."""
    held = section._sectPr.find(qn("w:cols"))
    return str(held.get(qn("w:num"), "1"))


def test_contents_and_sources_stand_in_two_columns(file: bytes) -> None:
    assert [columns(section) for section in opened(file).sections] == ["1", "1", "2", "1", "2", "1"]


def test_a_brand_has_its_colours_fonts_logo_and_footer(file: bytes) -> None:
    word = opened(docx_bytes(replace(DOCUMENT, paper="letter"), brand=ACME))
    assert word.styles["Heading 1"].font.name == "Georgia" and word.styles["Normal"].font.name == "Verdana"
    assert str(word.styles["Heading 1"].font.color.rgb) == ACME.ink
    assert ACME.accent.encode() in parts(docx_bytes(DOCUMENT, brand=ACME))["word/numbering.xml"]
    assert "ACME Systems, confidential" in word.sections[0].footer.paragraphs[0].text
    assert (word.core_properties.author, word.tables[0].cell(0, 0).paragraphs[0].text) == (
        ACME.name,
        ACME.name,
    )
    assert round(word.sections[0].page_width.mm) == 216
    pictures = [part.blob for part in word.part.related_parts.values() if part.content_type == "image/png"]
    assert ACME.logo in pictures
    assert len(pictures) == 1 + sum(name.endswith(".png") for name in parts(file))
    assert ACME.accent.encode() not in parts(file)["word/styles.xml"]


def test_words_from_right_to_left_and_fonts_of_each_script() -> None:
    title, name = (
        "\u05de\u05e8\u05db\u05d6 \u05e0\u05ea\u05d5\u05e0\u05d9\u05dd",
        "GPU \u05de\u05e8\u05db\u05d6 8",
    )
    document = replace(document_of(Chapter("C", (Paragraph(name),))), title=title, locale="ja-JP")
    word = opened(docx_bytes(document))
    (paragraph,) = (p for p in word.paragraphs if p.text == name)
    assert [(run.text, run.font.rtl) for run in paragraph.runs] == [
        ("GPU ", None),
        (title.split()[0], True),
        (" 8", None),
    ]
    fonts = word.styles.element.find(f".//{qn('w:rPrDefault')}//{qn('w:rFonts')}").attrib
    assert fonts[qn("w:eastAsia")] == "Yu Gothic" and fonts[qn("w:cs")] == "Arial"


def test_what_is_filled_in_later_is_shaded_and_labels_are_no_header(file: bytes) -> None:
    control = opened(file).tables[1]
    fills = [[shd.get(qn("w:fill")) for shd in row.iter(qn("w:shd"))] for row in control._tbl.tr_lst]
    assert fills == [[], ["FFF6E0"]]
    assert control._tbl.tblPr.find(qn("w:tblLook")).get(qn("w:firstRow")) == "0"


def test_rows_and_headings_keep_with_what_follows(file: bytes) -> None:
    word = opened(file)
    rows = word.tables[3]._tbl.tr_lst
    kept = [at for at, row in enumerate(rows) if row.find(f".//{qn('w:keepNext')}") is not None]
    assert kept == [0, 1, 2, len(rows) - 2]
    for name in ("Heading 1", "Heading 2", "gpuplan lead"):
        assert word.styles[name].paragraph_format.keep_with_next
    captions = [p for p in word.paragraphs if p.style.name == "Caption"]
    assert [p.paragraph_format.keep_with_next for p in captions] == [None, True, None]


def test_no_text_is_smaller_than_eight_points(file: bytes) -> None:
    word = opened(file)
    sizes = [
        int(e.get(qn("w:val"))) / 2
        for root in (word.element, word.styles.element)
        for e in root.iter(qn("w:sz"))
    ]
    assert sizes and min(sizes) >= 8


def test_a_template_without_styles_falls_back() -> None:
    def change(word: Any) -> None:
        for name in (
            "Heading 1",
            "Heading 2",
            "Caption",
            "List Bullet",
            "Title",
            "Subtitle",
            "Table Grid",
            "TOC Heading",
        ):
            word.styles[name].delete()

    word = opened(docx_bytes(DOCUMENT, template=template(change)))
    texts = [p.text for p in word.paragraphs]
    assert "• First point" in texts
    levels = [e.get(qn("w:val")) for e in word.element.body.iter(qn("w:outlineLvl"))]
    assert levels == ["0", "0", "1", "1", "0", "0"]
    found = [cells(table)[0][0] for table in word.tables][1:]
    assert [text.partition("\u2002")[0] for text in found[1:]] == ["Host", "Empty", "1"]
    assert word.tables[0].style.name == "gpuplan grid"


def texts(file: bytes) -> list[str]:
    """Texts of paragraphs; a template numbers its headings itself, so the contents have no numbers."""
    return [re.sub(r"^\d+(\.\d+)*  ", "", p.text) for p in opened(file).paragraphs if p.text]


def test_a_written_file_is_a_template_for_the_next(file: bytes) -> None:
    again = docx_bytes(DOCUMENT, template=file)
    assert texts(again)[2:] == texts(file)  # its title is no cover
    assert sorted(n for n in parts(again) if "media" in n) == sorted(n for n in parts(file) if "media" in n)


def changed(file: bytes, name: str, content: bytes) -> bytes:
    stream = BytesIO()
    with ZipFile(stream, "w") as packed:
        for part, old in {**parts(file), name: content}.items():
            packed.writestr(part, content if part == name else old)
    return stream.getvalue()


def test_a_dotx_is_a_template_too() -> None:
    types = parts(template())["[Content_Types].xml"].replace(b"document.main+xml", b"template.main+xml")
    word = opened(docx_bytes(DOCUMENT, template=changed(template(), "[Content_Types].xml", types)))
    assert word.sections[-1].header.paragraphs[0].text == "ACME header"


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (b"", "template is no DOCX file"),
        (b"%PDF-1.7 nothing of a zip file", "template is no DOCX file"),
        (template()[:-200], "template is no DOCX file"),
        (changed(template(), "word/vbaProject.bin", b"x"), "template has macros"),
        (changed(template(), "word/document.xml", b"<w:document"), "template cannot be read as a DOCX file"),
        (changed(template(), "[Content_Types].xml", b"<Types/>"), "template is no DOCX file: it is a file"),
    ],
)
def test_a_bad_template_is_named(bad: bytes, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        docx_bytes(DOCUMENT, template=bad)
