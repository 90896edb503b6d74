"""Events: each that a card or the page sends is known, and does what it says."""

from __future__ import annotations

import re

import pytest

pytest.importorskip("ipywidgets")

from gpuplan import load_scenario
from gpuplan.app.events import EVENTS
from gpuplan.app.screen import ON_PAGE, WorkbookApp
from gpuplan.app.state import STEPS, Workbook
from gpuplan.widgets.part import STATIC

GIVEN = re.compile(r'send\("([a-z-]+)"')


def test_what_the_cards_send_is_known() -> None:
    sent = {
        kind
        for file in STATIC.glob("*.js")
        if file.name != "vega.js"
        for kind in GIVEN.findall(file.read_text())
    }
    assert len(sent) > 15
    assert sent <= EVENTS.keys() | ON_PAGE.keys()


def test_a_number_is_explained_and_asked_again_it_closes(book: Workbook) -> None:
    EVENTS["why"](book, {"key": "totals.hosts"})
    assert book.drawer == "totals.hosts"
    EVENTS["why"](book, {"key": "totals.hosts"})
    assert book.drawer == ""


def test_arguments_are_what_the_action_wants(book: Workbook) -> None:
    pool = book.plan.pools[0].id
    EVENTS["fail"](book, {"pool": pool, "host": "2"})
    assert book.failed[pool] == (2,)
    EVENTS["move"](book, {"id": book.scenario.groups[0].id, "by": "1"})
    EVENTS["undo"](book, {})
    assert book.scenario == load_scenario("enterprise")


def test_what_to_look_at_is_of_the_audit_or_of_the_screen(book: Workbook) -> None:
    EVENTS["look"](book, {"what": "clock", "value": "Austin"})
    assert book.looked == {"clock": "Austin"}


def test_a_file_that_is_too_large_is_refused_with_its_size(book: Workbook) -> None:
    EVENTS["too-large"](book, {"name": "a.yaml", "size": 10_000_000})
    assert "10,000,000 bytes" in book.notice[1]


def test_the_tab_before_never_stands_under_the_name_of_the_next(book: Workbook) -> None:
    app = WorkbookApp(book)
    nav, work = app._columns.children
    page, seen = work.children[-1], []
    nav.observe(lambda change: seen.append(change["new"]["current"]), "data")
    page.observe(lambda change: seen.append(len(change["new"])), "children")
    for step, _ in STEPS[1:]:
        seen.clear()
        app._receive("go", {"step": step})
        assert seen == [step, 0, 1], step
