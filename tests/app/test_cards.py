"""Pieces of cards: the letters of groups, tables, and what cannot be worked out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from approved import is_approved

from gpuplan.app.background import Runner
from gpuplan.app.cards import background_card
from gpuplan.app.state import Workbook

pytest.importorskip("ipywidgets")

from gpuplan.app.cards import (
    COLOURS,
    HEADS,
    Contents,
    chip,
    details,
    group_colours,
    panel,
    paragraph,
    sheet,
    tried,
)
from gpuplan.plan.access import GroupPlan
from gpuplan.report.table import Column, Table, screen
from gpuplan.wording import TEXTS


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


def test_a_card_holds_a_sentence_a_table_or_what_its_file_draws(
    book: Workbook, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(HEADS, "test_cards.drawn", {"title": "Title", "hint": "hint"})  # type: ignore[misc]
    table = Table("t", (Column("name", "Group"), Column("gpus", "GPUs", "number")), (("A", 4),), title="")

    def card(contents: Contents) -> dict[str, Any]:
        def drawn(_workbook: Workbook) -> Contents:
            return contents

        return dict(panel()(drawn)(book))

    head = {"shown": True, "stale": False, "title": "Title", "hint": "hint"}
    assert card(None) == {"shown": False}
    assert card("Nothing yet.") == head | {"text": [[{"text": "Nothing yet."}]]}
    assert card(table) == head | {"tables": [screen(table)]}
    assert card({"hint": "another"}) == head | {"hint": "another"}
    assert [each["numeric"] for each in sheet(table, ["a"])["heads"]] == [False, True]
    assert sheet(table, ["a"])["rows"][0]["id"] == "a"
    assert sheet(table, ["a"])["rows"][0]["name"] == "A"


def test_details_are_worked_out_while_they_are_open(book: Workbook, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(HEADS, "test_cards.data", {"title": "Title", "hint": "{count:host}"})  # type: ignore[misc]
    asked = []

    @details("key", lambda workbook: workbook.plan.groups)
    def data(_workbook: Workbook, groups: Sequence[GroupPlan]) -> dict[str, Any]:
        asked.append(len(groups))
        return {"text": ["Said."]}

    hint = f"{len(book.plan.groups)} hosts"
    assert (data(book)["title"], data(book)["hint"], data(book)["text"], asked) == ("Title", hint, [], [])
    book.fold("key", True)
    assert data(book)["text"] == ["Said."]
    assert asked == [len(book.plan.groups)]


def test_a_paragraph_says_what_its_pieces_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(TEXTS, "here", "a **b of {n:#}**[ c](groups) {hosts:host} {why}.")  # type: ignore[misc]
    assert paragraph("here", n=2, hosts=3, why={"text": "d", "key": "e"}) == [
        {"text": "a "},
        {"text": "b of 2", "strong": True},
        {"text": " c", "visit": "groups"},
        {"text": " 3 hosts "},
        {"text": "d", "key": "e"},
        {"text": "."},
    ]


def test_names_in_a_paragraph_are_no_marks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(TEXTS, "here", "{name} and **{name}**")  # type: ignore[misc]
    name = "**a** [b](c)"
    assert paragraph("here", name=name) == [{"text": f"{name} and "}, {"text": name, "strong": True}]


def test_what_cannot_be_worked_out_says_why_and_is_tried_once(book: Workbook) -> None:
    asked = []

    def work() -> int:
        asked.append(1)
        raise ValueError("the queue has no end")

    for _ in range(2):
        assert is_approved(tried(book, "work", work))
    assert len(asked) == 1
    assert tried(book, "other work", lambda: 5) == (5, "")


pytest.importorskip("ipywidgets")


def runner(**state: object) -> Runner:
    made = Runner(lambda: None)
    for name, value in state.items():
        setattr(made, name, value)
    return made


def test_it_can_be_started_and_started_again(book: Workbook) -> None:
    card = background_card(book, runner(), "explore", "Explore", off=False)
    (button,) = card["buttons"]
    assert (button["text"], button["event"], button["off"]) == ("Explore", "explore", False)
    assert card["progress"] is None
    (button,) = background_card(book, runner(state="done"), "explore", "Explore again", off=True)["buttons"]
    assert (button["text"], button["off"]) == ("Explore again", True)


def test_while_it_runs_it_can_be_stopped_and_says_how_far_it_is(book: Workbook) -> None:
    card = background_card(
        book, runner(state="running", started=True, done=0.254), "explore", "Explore again", off=False
    )
    (button,) = card["buttons"]
    assert (button["text"], button["event"]) == ("Stop", "cancel-explore")
    assert card["progress"] == {"done": 0.254, "text": "25 %"}
    named = background_card(
        book,
        runner(state="running", started=True, done=0.5, step="8 of 16", left_s=12.4),
        "explore",
        "Explore again",
        off=False,
    )
    assert named["progress"] == {"done": 0.5, "text": "8 of 16, 12 s left"}
    ready = background_card(book, runner(state="running"), "explore", "Explore")
    assert ready["progress"] == {"done": None, "text": "Starting\u2026"}


def test_what_went_wrong_is_said(book: Workbook) -> None:
    failed = background_card(
        book, runner(state="failed", error="no memory"), "explore", "Explore again", off=False
    )
    assert failed["problem"] == "no memory"
