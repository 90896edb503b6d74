"""Pieces of cards: the letters of groups, tables, and what cannot be worked out."""

from __future__ import annotations

from typing import Any

import pytest
from approved import is_approved

from gpuplan.app.background import Runner
from gpuplan.app.cards import background_card
from gpuplan.app.state import Workbook

pytest.importorskip("ipywidgets")

from gpuplan.app.cards import (
    COLOURS,
    Contents,
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
from gpuplan.report.table import Column, Table, screen


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


TEXTS = ("Explore", "Explore again")


def runner(**state: object) -> Runner:
    made = Runner(lambda: None)
    for name, value in state.items():
        setattr(made, name, value)
    return made


def test_it_can_be_started_and_started_again(book: Workbook) -> None:
    card = background_card(book, runner(), "explore", TEXTS, again=False, off=False)
    (button,) = card["buttons"]
    assert (button["text"], button["event"], button["off"]) == ("Explore", "explore", False)
    assert card["progress"] is None
    (button,) = background_card(book, runner(state="done"), "explore", TEXTS, again=True, off=True)["buttons"]
    assert (button["text"], button["off"]) == ("Explore again", True)


def test_while_it_runs_it_can_be_stopped_and_says_how_far_it_is(book: Workbook) -> None:
    card = background_card(
        book, runner(state="running", started=True, done=0.254), "explore", TEXTS, again=False, off=False
    )
    (button,) = card["buttons"]
    assert (button["text"], button["event"]) == ("Stop", "cancel-explore")
    assert card["progress"] == {"done": 0.254, "text": "25 %"}
    named = background_card(
        book,
        runner(state="running", started=True, done=0.5, step="8 of 16", left_s=12.4),
        "explore",
        TEXTS,
        again=False,
        off=False,
    )
    assert named["progress"] == {"done": 0.5, "text": "8 of 16, 12 s left"}
    ready = background_card(book, runner(state="running"), "explore", TEXTS)
    assert ready["progress"] == {"done": None, "text": "Starting\u2026"}


def test_what_went_wrong_is_said(book: Workbook) -> None:
    failed = background_card(
        book, runner(state="failed", error="no memory"), "explore", TEXTS, again=False, off=False
    )
    assert failed["problem"] == "no memory"
