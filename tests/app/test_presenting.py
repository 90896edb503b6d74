"""Presenting: the customer's view from step to step, and back to where one was."""

from __future__ import annotations

import pytest

from gpuplan import load_catalog, load_scenario
from gpuplan.app.memory import memory_of, resume
from gpuplan.app.presenting import SHOWN, edit_again, present, present_data, turn
from gpuplan.app.state import Workbook


@pytest.fixture
def book() -> Workbook:
    book = Workbook(load_catalog(), load_scenario("starter").with_value("internal.margin", 0.2))
    book.go("cost")
    book.open_tab("cost", "prices")
    return book


def test_it_shows_the_customers_version_and_returns_to_where_one_was(book: Workbook) -> None:
    own = book.plan.scenario
    book.open_tab("hosts", "hardware")
    present(book)
    assert book.customer and book.seen != book.scenario and present_data(book)["on"]
    assert book.tabs == {"cost": "prices"}, "others begin with their first tab"
    turn(book, -1)
    book.open_tab("network", "fabric")
    assert (book.step, present_data(book)["at"]) == ("network", 4)
    edit_again(book)
    assert (book.step, book.tabs["cost"], book.customer) == ("cost", "prices", False)
    assert (
        book.tabs["hosts"] == "hardware"
        and "network" not in book.tabs
        and book.plan.scenario == own
        and not present_data(book)["on"]
    )


def test_the_customers_view_stays_where_it_was_chosen_before(book: Workbook) -> None:
    book.look_as(True)
    present(book)
    edit_again(book)
    assert book.customer


def test_a_page_that_is_loaded_again_goes_on_presenting(book: Workbook) -> None:
    present(book)
    again = Workbook(load_catalog())
    resume(again, *memory_of(book), "")
    assert again.customer and present_data(again)["on"]
    edit_again(again)
    assert (again.step, again.tabs["cost"], again.customer) == ("cost", "prices", False)


def test_steps_end_at_the_first_and_the_last(book: Workbook) -> None:
    turn(book, 1)
    assert book.step == "cost", "only while one presents"
    present(book)
    for by, end in ((1, SHOWN[-1]), (-1, SHOWN[0])):
        for _ in range(2 * len(SHOWN)):
            turn(book, by)
        assert book.step == end


def test_what_is_not_presented_begins_with_the_first_step_and_nothing_without_a_design() -> None:
    book = Workbook(load_catalog(), load_scenario("starter"))
    book.go("deliver")
    present(book)
    assert book.step == SHOWN[0]
    blank = Workbook(load_catalog())
    present(blank)
    assert not present_data(blank)["on"] and not blank.customer
