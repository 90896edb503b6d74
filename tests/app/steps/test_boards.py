"""Boards for the same work in the app: a card each with bars, a design that is used and undone, and one that is old."""

from __future__ import annotations

import json
from typing import Any

import pytest
from explored_screen import done

pytest.importorskip("traitlets")

from gpuplan import load_scenario
from gpuplan.analysis.same_work import same_work
from gpuplan.app.events import EVENTS
from gpuplan.app.state import Workbook
from gpuplan.app.steps import boards as step
from gpuplan.catalog import Catalog
from gpuplan.report.explore_report import boards_dict

BOARDS = ("v100-pcie-32gb", "l40s-48gb", "h100-nvl-94gb", "p4-8gb")


@pytest.fixture(scope="module")
def compared(catalog: Catalog) -> dict[str, Any]:
    """Boards for the starter example, as the command prints them."""
    scenario = load_scenario("starter")
    data = boards_dict(same_work(scenario, catalog, BOARDS), scenario)
    kept: dict[str, Any] = json.loads(json.dumps(data, allow_nan=False))
    return kept


@pytest.fixture
def book(catalog: Catalog, compared: dict[str, Any]) -> Workbook:
    book = Workbook(catalog, load_scenario("starter"))
    done(book.boards, "boards", compared, book)
    return book


def cards(book: Workbook) -> dict[str, dict[str, Any]]:
    return {card["gpu"]: card for card in step.cards_data(book)["cards"]}


def test_each_board_is_a_card_with_bars_or_a_reason(book: Workbook, compared: dict[str, Any]) -> None:
    drawn = cards(book)
    assert list(drawn) == [board["gpu"] for board in compared["boards"]]
    assert drawn["p4-8gb"]["told"] and not drawn["p4-8gb"]["bars"] and not drawn["p4-8gb"]["use"]
    for board in compared["boards"][:-1]:
        card = drawn[board["gpu"]]
        assert len(card["bars"]) == 3 and card["hosts"] == f"{board['hosts']} hosts"
        assert all(0 <= bar["share"] <= 1 for bar in (*card["bars"], *card["works"]))
        assert [bar["basis"] for bar in card["works"]] == [
            "assumed" if work["basis"] == "assumed" else "" for work in board["works"]
        ]
    assert [card["gpu"] for card in drawn.values() if card["best"]] == [compared["cheapest"]]
    for name in ("hosts", "net_present", "peak_w"):
        assert (
            max(card["bars"][step.SIZES.index(name)]["share"] for card in drawn.values() if card["bars"]) == 1
        )


def test_before_it_is_compared_there_is_a_button_and_no_card(catalog: Catalog) -> None:
    fresh = Workbook(catalog, load_scenario("starter"))
    assert step.cards_data(fresh) == {"shown": False}
    assert [button["event"] for button in step.boards_data(fresh)["buttons"]] == ["boards"]


def test_a_design_is_used_and_undone(book: Workbook, compared: dict[str, Any]) -> None:
    before = book.scenario
    EVENTS["use-board"](book, {"gpu": "h100-nvl-94gb"})
    hosts = next(board["hosts"] for board in compared["boards"] if board["gpu"] == "h100-nvl-94gb")
    assert book.scenario.hardware.gpu == "h100-nvl-94gb" and book.plan.totals.hosts == hosts
    assert cards(book)["h100-nvl-94gb"]["now"] and not cards(book)["h100-nvl-94gb"]["use"]
    book.undo()
    assert book.scenario == before and not any(card["now"] for card in cards(book).values())


def test_what_cannot_or_is_old_is_not_used(book: Workbook) -> None:
    before = book.scenario
    EVENTS["use-board"](book, {"gpu": "p4-8gb"})
    EVENTS["use-board"](book, {"gpu": "no-board"})
    assert book.scenario == before
    book.edit("groups.developers.people", 90)
    changed = book.scenario
    EVENTS["use-board"](book, {"gpu": "h100-nvl-94gb"})
    assert book.scenario == changed and step.cards_data(book)["old"] and step.boards_data(book)["old"]
    assert not any(card["use"] for card in cards(book).values())
