"""Pages of the steps as data: every step has one, every card a file that draws it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

pytest.importorskip("ipywidgets")

from gpuplan.app.page import Box, Card, Picture, Place
from gpuplan.app.screen import PAGES
from gpuplan.app.state import STEPS, Workbook
from gpuplan.catalog import Catalog
from gpuplan.widgets.part import STATIC


def places(place: Place) -> Iterator[Place]:
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
    assert len(pictures) == 8
    assert sum(bool(picture.rows(book)) for picture in pictures) <= 2
