"""The design document as HTML: everything of it is there in order, nothing of it runs, nothing is requested."""

from __future__ import annotations

import re
from base64 import b64decode, b64encode
from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest
from branding import ACME
from summaries import brief_document

from gpuplan import Plan
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
from gpuplan.deliver.document.html_file import html_text
from gpuplan.deliver.html import LONGEST_WORD

SVG = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 4"><title>T</title><rect width="8" height="4"/></svg>'
VOID = {"meta", "wbr", "img", "col"}


class Reader(HTMLParser):
    """Checks that tags are closed in order, and keeps tags, attributes and cells."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.pieces: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag
        if tag in ("p", "li", "td", "th", "h1", "h2", "h3", "dt", "dd", "caption", "figcaption"):
            self.pieces.append("\n")

    def handle_data(self, data: str) -> None:
        if self.open[-1:] != ["style"]:
            self.pieces.append(data)

    @property
    def lines(self) -> list[str]:
        return [line.strip() for line in "".join(self.pieces).split("\n") if line.strip()]

    def count(self, tag: str) -> int:
        return sum(found == tag for found, _ in self.tags)


def small(text: str) -> Document:
    """A document with each kind of block, all of whose texts are this one."""
    return Document(
        title=text,
        customer=text,
        about=text,
        day="2026-11-21",
        made_with=text,
        front=(Paragraph(text),),
        control=(),
        chapters=(
            Chapter(
                text,
                (
                    Paragraph(text, "lead"),
                    Bullets((text, text)),
                    Grid(
                        (text, ""), ((text, "1"), ("", "2")), text, right=(1,), widths=(0.7, 0.3), totals=(1,)
                    ),
                ),
                (
                    Section(
                        text,
                        (
                            Figure(SVG, text, text, 0.5),
                            KeyFigures(((text, text, text),)),
                            Decisions((DecisionBlock(1, text, text, text, text),)),
                            References((("7", text),)),
                        ),
                    ),
                ),
            ),
        ),
    )


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>",
        '=HYPERLINK("http://example.com", "x")',
        "</style></title><b>&amp;",
        "a\x0bb\x00c\ud800d\ufffe",
        '" onload="alert(1)',
        "\\\";}@import 'x';",
    ],
)
def test_names_are_harmless(text: str) -> None:
    page = html_text(small(text))
    found = Reader(page)
    assert found.count("script") == found.count("link") == 0
    assert not any(name.startswith("on") for _, attributes in found.tags for name in attributes)
    clean = re.sub("[\x00\x0b\ud800\ufffe]", "", text)
    assert not re.search("[\x00\x0b\ud800\ufffe]", page)
    page.encode()
    assert found.lines.count(clean) >= 10
    assert "@import" not in page.partition("<style>")[2].partition("</style>")[0]
    assert found.count("b") == 2  # table, figure


def test_landmarks_headings_and_names() -> None:
    found = Reader(html_text(small("Text")))
    assert found.count("h1") == found.count("main") == found.count("header") == found.count("nav") == 1
    html = dict(found.tags)["html"]
    assert html["lang"] == "en-GB"
    ids = [a["id"] for _, a in found.tags if "id" in a]
    links = [a["href"] for tag, a in found.tags if tag == "a"]
    assert ids == ["chapter-1", "chapter-1-1"]
    assert links == ["#chapter-1", "#chapter-1-1"]
    images = [a for tag, a in found.tags if tag == "img"]
    assert [image["alt"] for image in images] == ["Text"]
    assert images[0]["style"] == "width: 50%"
    data = images[0]["src"]
    assert data is not None
    assert b64decode(data.partition("base64,")[2]).decode() == SVG
    assert [a.get("scope") for tag, a in found.tags if tag == "th"] == ["col", "row"]


def test_numbers_end_at_the_right_and_the_last_row_sums_up() -> None:
    page = html_text(small("Text"))
    assert '<td class="right short">1</td>' in page
    assert page.count('<tr class="total">') == 1
    assert page.index("<tr class=") > page.index('<td class="right short">1</td>')
    assert '<col style="width: 70.0%"><col style="width: 30.0%">' in page


def test_long_words_may_be_broken_and_others_not() -> None:
    url = "https://example.com/" + "a" * 60 + "/b"
    page = html_text(small(url))
    assert "https://<wbr>example.<wbr>com/" in page
    lead = page.partition('<p class="lead">')[2].partition("</p>")[0]
    assert max(len(word) for word in lead.split("<wbr>")) <= LONGEST_WORD + 2
    assert "".join(Reader(page).lines).count(url) >= 10
    assert "<wbr>" not in html_text(small("Distributed machine learning"))


def test_pages_carry_the_name_and_their_number() -> None:
    style = html_text(small("A")).partition("<style>")[2].partition("</style>")[0]
    assert "counter(page)" in style
    assert '@bottom-left { content: "A"' in style
    assert style.count("{") == style.count("}")
    assert "url(" not in style
    assert "prefers-color-scheme: dark" in style


def test_a_brand_has_its_colours_fonts_logo_and_footer() -> None:
    page = html_text(small("Text"), brand=ACME)
    assert "--accent: #7A1F3D" in page and '"Georgia"' in page and '"Verdana"' in page
    assert b64encode(ACME.logo).decode() in page
    style = page.partition("<style>")[2].partition("</style>")[0]
    assert '@bottom-left { content: "ACME' in style
    assert "--accent: #7A1F3D" not in html_text(small("Text"))


def test_what_is_filled_in_later_is_marked() -> None:
    page = html_text(small("a \u2039VLAN\u203a b"))
    assert "a <i>\u2039VLAN\u203a</i> b" in page


def test_the_examples(example: Plan) -> None:
    document = brief_document(example)
    page = html_text(document)
    found = Reader(page)
    assert html_text(document) == page
    lines = [line.replace("\n", " ") for line in found.lines]
    at = 0
    for n, chapter in enumerate(document.chapters, 1):
        at = lines.index(f"{n}{chapter.title}", at)
        blocks = (*chapter.blocks, *(b for section in chapter.sections for b in section.blocks))
        for block in blocks:
            if isinstance(block, Paragraph):
                at = lines.index(block.text, at)
            elif isinstance(block, Grid):
                for row in block.rows:
                    for cell in filter(None, row):
                        at = lines.index(cell, at)
            elif isinstance(block, Decisions):
                for each in block.items:
                    at = lines.index(f"{each.number}{each.title}", at)
                    assert lines[at + 2] == each.decision
            elif isinstance(block, Figure):
                at = next(i for i in range(at, len(lines)) if lines[i].endswith(block.caption))
    images = [a["src"] for tag, a in found.tags if tag == "img"]
    assert len(images) >= 4
    for source in images:
        assert source is not None
        assert ElementTree.fromstring(b64decode(source.partition("base64,")[2])).tag.endswith("svg")
    assert not re.search(r'(?:src|href)="(?!#|data:)', page)
    assert found.count("script") == 0
