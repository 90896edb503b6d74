"""Pieces of cards: the letters of groups, tables, and what cannot be worked out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from approved import is_approved

pytest.importorskip("ipywidgets")

from gpuplan.app.cards import (
    COLOURS,
    Box,
    Card,
    Contents,
    Page,
    Picture,
    Place,
    chip,
    details,
    group_colours,
    panel,
    said,
    sheet,
    strong,
    tried,
    visit,
)
from gpuplan.app.screen import PAGES
from gpuplan.app.state import STEPS, Workbook
from gpuplan.catalog import Catalog
from gpuplan.report.table import Column, Table, screen
from gpuplan.widgets.part import STATIC


def test_colours(book: Workbook) -> None:
    colours = group_colours(book)
    assert set(colours) == {g.id for g in book.scenario.groups}
    assert set(colours.values()) <= set(range(1, COLOURS + 1))
    for _ in range(2 * COLOURS):
        book.add_group("dev-test")
    assert max(group_colours(book).values()) == COLOURS


def test_a_group_has_its_letter_in_its_colour_and_no_group_a_dot(book: Workbook) -> None:
    group = book.plan.groups[1]
    assert chip(book, group.id) == {"chip": [group.letter, 2]}
    assert chip(book, "") == {"chip": ["\u00b7", 0]}


def test_a_card_holds_a_sentence_a_table_or_what_its_file_draws(book: Workbook) -> None:
    table = Table("t", (Column("name", "Group"), Column("gpus", "GPUs", "number")), (("A", 4),), title="")

    def card(contents: Contents) -> dict[str, Any]:
        return panel("Title", "hint")(lambda _workbook: contents)(book)

    head = {"shown": True, "stale": False, "title": "Title", "hint": "hint"}
    assert card(None) == {"shown": False}
    assert card("Nothing yet.") == head | {"text": [[{"text": "Nothing yet."}]]}
    assert card(table) == head | {"tables": [screen(table)]}
    assert card({"hint": "another"}) == head | {"hint": "another"}
    assert [each["numeric"] for each in sheet(table, ["a"])["heads"]] == [False, True]
    assert sheet(table, ["a"])["rows"][0]["id"] == "a"
    assert sheet(table, ["a"])["rows"][0]["name"] == "A"


def test_details_are_worked_out_while_they_are_open(book: Workbook) -> None:
    asked = []

    @details("key", "Title", lambda _workbook: "hint", lambda workbook: workbook.plan.groups)
    def data(_workbook: Workbook) -> Contents:
        asked.append(1)
        return "Said."

    assert (data(book)["hint"], data(book)["text"], asked) == ("hint", [], [])
    book.fold("key", True)
    assert data(book)["text"] == ["Said."]
    assert asked == [1]


def test_a_paragraph_says_what_its_pieces_do() -> None:
    assert said("a ", strong("b"), visit(" c", "groups")) == [
        {"text": "a "},
        {"text": "b", "strong": True},
        {"text": " c", "visit": "groups"},
    ]


def test_what_cannot_be_worked_out_says_why_and_is_tried_once(book: Workbook) -> None:
    asked = []

    def work() -> int:
        asked.append(1)
        raise ValueError("the queue has no end")

    for _ in range(2):
        assert is_approved(tried(book, "work", work))
    assert len(asked) == 1
    assert tried(book, "other work", lambda: 5) == (5, "")


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
    assert len(pictures) == 8
    assert sum(bool(picture.rows(book)) for picture in pictures) <= 2
