"""The design document in a real browser: on the screen, and printed on A4 and letter paper."""

from __future__ import annotations

from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from browsing import violations
from random_cases import of_the_day

from gpuplan import load_catalog, load_scenario, make_plan
from gpuplan.deliver.document import design_document
from gpuplan.deliver.document.html_file import html_text

pytestmark = pytest.mark.browser

MARGINS_MM = 32
PX_PER_MM = 96 / 25.4


@pytest.fixture(scope="module", params=["starter", "enterprise", "current"])
def file(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The document of an example as a file."""
    document = design_document(make_plan(load_scenario(request.param), load_catalog()))
    path = tmp_path_factory.mktemp("document") / f"{request.param}.html"
    path.write_text(html_text(document), encoding="utf-8")
    return path


@pytest.fixture
def opened(browser: Any, file: Path) -> Iterator[Any]:
    """The document in a tab; nothing but itself may be requested, and nothing logged."""
    context = browser.new_context(bypass_csp=True)
    page = context.new_page()
    asked: list[str] = []
    page.on("request", lambda r: asked.append(r.url))
    page.on("console", lambda message: asked.append(message.text))
    page.goto(file.as_uri())
    yield page
    assert [what for what in asked if what != file.as_uri() and not what.startswith("data:")] == []
    context.close()


@pytest.mark.by_day("axe", 3)
@pytest.mark.parametrize("file", ["enterprise"], indirect=True)
@pytest.mark.parametrize(("theme", "width"), [("light", 1280), ("dark", 820)])
def test_axe_finds_nothing(opened: Any, theme: str, width: int) -> None:
    opened.emulate_media(color_scheme=theme)
    opened.set_viewport_size({"width": width, "height": 900})
    assert violations(opened) == []


def test_nothing_scrolls_sideways_and_every_figure_is_drawn(opened: Any) -> None:
    for width in (1280, 820, 390):
        opened.set_viewport_size({"width": width, "height": 900})
        assert opened.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert opened.evaluate("[...document.images].every(i => i.complete && i.naturalWidth > 0)")


@pytest.mark.parametrize(("paper", "width_mm"), of_the_day([("A4", 210), ("Letter", 215.9)], 1))
def test_paper_holds_every_table_and_figure(opened: Any, paper: str, width_mm: float) -> None:
    from pypdf import PdfReader

    width = int((width_mm - MARGINS_MM) * PX_PER_MM)
    opened.emulate_media(media="print")
    opened.set_viewport_size({"width": width, "height": 900})
    beyond = "[...document.querySelectorAll('table, img, p, dl')].filter(e => e.getBoundingClientRect().right > innerWidth + 1)"
    assert opened.evaluate(f"{beyond}.map(e => e.textContent.slice(0, 80))") == []
    chapters = opened.locator("h2[id]").count()
    pages = PdfReader(BytesIO(opened.pdf(format=paper))).pages
    texts = [page.extract_text() for page in pages]
    assert chapters + 2 <= len(pages) <= 60
    assert all(f"{n} / {len(pages)}" in text for n, text in enumerate(texts, 1))
    assert all(len(text) > 60 for text in texts)
