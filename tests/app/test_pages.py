"""The pages are as the file lays them out: cards in boxes, in tabs, in steps."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

pytest.importorskip("ipywidgets")

from gpuplan.app.cards import Box, Card, Page, Picture, Place
from gpuplan.app.screen import PAGES
from gpuplan.app.state import STEPS, Workbook
from gpuplan.catalog import Catalog
from gpuplan.facts import own_rows
from gpuplan.widgets.part import STATIC


def places(place: Place | Page) -> Iterator[Place]:
    if isinstance(place, Page):
        for tab in place.tabs:
            yield from places(tab.content)
        return
    yield place
    if isinstance(place, Box):
        for child in place.children:
            yield from places(child)


def test_every_step_has_a_page_of_cards_that_can_be_drawn(catalog: Catalog) -> None:
    assert list(PAGES) == [step for step, _ in STEPS]
    for page in PAGES.values():
        cards = [place for place in places(page) if isinstance(place, Card)]
        assert cards
        assert all((STATIC / f"{card.name}.js").exists() for card in cards)


def test_every_class_of_a_box_is_in_the_stylesheet() -> None:
    style = (STATIC / "app.css").read_text(encoding="utf-8")
    boxes = [place for page in PAGES.values() for place in places(page) if isinstance(place, Box)]
    for name in {name for box in boxes for name in box.style.split()}:
        assert f".{name}" in style, name


def test_an_empty_design_has_no_charts(catalog: Catalog) -> None:
    book = Workbook(catalog)
    pictures = [place for page in PAGES.values() for place in places(page) if isinstance(place, Picture)]
    assert len(pictures) == 12
    assert sum(bool(picture.rows(book)) for picture in pictures) <= 2


def test_every_row_is_on_its_page() -> None:
    for step, page in PAGES.items():
        shown = [place for place in places(page) if not isinstance(place, Box)]
        assert len(shown) == sum(row["step"] == step for row in own_rows("words/pages"))


def test_cards_of_one_box_share_it_until_another_begins() -> None:
    parts = PAGES["hosts"].tab("failures").content
    assert (parts.style, [part.style for part in parts.children if isinstance(part, Box)]) == (
        "gp-page",
        ["gp-card"] * 3,
    )
    first, *others = (part for part in parts.children if isinstance(part, Box))
    assert [len(part.children) for part in (first, *others)] == [2, 1, 1]


def test_a_tab_says_how_much_is_open(book: Workbook) -> None:
    badges = {tab.name: tab.badge(book) for page in PAGES.values() for tab in page.tabs}
    assert badges["prices"].endswith("assumed") and int(badges["values"]) > 0
    assert badges["years"] == ""
