"""Pieces of cards: the letters of groups, tables, and what cannot be worked out."""

from __future__ import annotations

import pytest

pytest.importorskip("traitlets")

from gpuplan.app.cards import COLOURS, cell, group_cell, group_colours, heads, number_heads, table, tried
from gpuplan.app.state import Workbook


def test_colours(book: Workbook) -> None:
    colours = group_colours(book)
    assert set(colours) == {g.id for g in book.scenario.groups}
    assert set(colours.values()) <= set(range(1, COLOURS + 1))
    for _ in range(2 * COLOURS):
        book.add_group("dev-test")
    assert max(group_colours(book).values()) == COLOURS


def test_a_group_has_its_letter_in_its_colour_and_no_group_a_dot(book: Workbook) -> None:
    group = book.plan.groups[1]
    assert group_cell(book, group.id, group.name) == cell(group.name) | {"chip": [group.letter, 2]}
    assert group_cell(book, "", "other groups")["chip"] == ["\u00b7", 0]


def test_heads_of_numbers_are_those_after_the_first() -> None:
    assert number_heads("Group", "GPUs") == heads("Group", "GPUs", numeric=(1,))
    assert [head["numeric"] for head in heads("Group", "GPUs")] == [False, False]
    assert table([], [], more="nothing") == {"title": "", "heads": [], "rows": [], "more": "nothing"}


def test_what_cannot_be_worked_out_says_why_and_is_tried_once(book: Workbook) -> None:
    asked = []

    def work() -> int:
        asked.append(1)
        raise ValueError("the queue has no end")

    for _ in range(2):
        assert tried(book, "work", work) == (None, "the queue has no end")
    assert len(asked) == 1
    assert tried(book, "other work", lambda: 5) == (5, "")
