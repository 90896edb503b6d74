"""Cards of work beside the page: the button that starts and stops it, and how far it is."""

from __future__ import annotations

import pytest

from gpuplan.app.background import Runner
from gpuplan.app.state import Workbook
from gpuplan.app.work_cards import background_card

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
