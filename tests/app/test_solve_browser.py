"""Solving in a real browser: progress, Stop, the answer, the design in use and back, and the budget that walks."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from browsing import at, caught_up, enter, figure, finished, go, open_tab, refused, until
from solved import small_scenario

from gpuplan.app.history import link_of

pytestmark = pytest.mark.browser

COST = "cost.net_present"


@pytest.fixture
def solving(app: Any, tab: Callable[..., Any]) -> Any:
    """A small design with a budget, at the tab."""
    design = small_scenario().with_value("limits.budget", 1_500_000)
    page = tab().design(f"{app.url}#{link_of(design).fragment}").page
    go(page, "compare")
    open_tab(page, "solve")
    return page


@pytest.mark.by_day("minutes", 2)
def test_the_best_design_is_found_used_taken_back_and_walked_along(app: Any, solving: Any) -> None:
    page = solving
    before = figure(page, COST).locator("b").inner_text()
    at(page, "solve-go").click()
    with app.halted("solve"):
        page.get_by_role("progressbar").wait_for()
    finished(page, "solve")
    page.locator(".gp-fact b", has_text=re.compile("^40$")).wait_for()
    page.locator(".gp-fact b", has_text=re.compile("^proven$")).wait_for()
    at(page, "use-best").click()
    page.locator(".gp-notice.gp-note").wait_for()
    figure(page, COST).locator("em").wait_for()
    at(page, "undo").click()
    caught_up(page)
    assert figure(page, COST).locator("b").inner_text() == before
    slider, marked = (
        at(page, "run-budget"),
        "document.querySelector('.gp-walk').closest('.gp-part').innerText",
    )
    words = page.evaluate(marked)
    slider.focus()
    slider.press("Home")
    caught_up(page)
    assert page.evaluate(marked) != words
    few = page.evaluate(marked)
    page.locator(".gp-chart svg .mark-symbol.role-mark path").nth(5).click()
    until(page, f"{marked} === {few!r}", False)
    caught_up(page)
    at(page, "use-point").click()
    page.locator(".gp-notice.gp-note").wait_for()


def test_a_search_that_is_stopped_keeps_its_best(app: Any, solving: Any) -> None:
    page = solving
    at(page, "solve-go").click()
    page.locator(".gp-fact b", has_text=re.compile(r"^\d+$")).first.wait_for()
    page.evaluate("document.querySelector('[data-at=solve-stop]')?.click()")  # if it has not ended by itself
    at(page, "solve-go").wait_for()
    caught_up(page)
    assert page.get_by_role("progressbar").count() == 0
    page.locator(".gp-fact b", has_text=re.compile(r"^\d+$")).first.wait_for()


def test_a_budget_in_another_currency_is_refused_beside_it_and_nothing_can_be_solved(solving: Any) -> None:
    page = solving
    before = figure(page, COST).locator("b").inner_text()
    enter(page, "limits.budget", "EUR 2M")
    refused(page, "limits.budget", "EUR 2M", "USD")
    assert at(page, "solve-go").is_disabled() and figure(page, COST).locator("b").inner_text() == before
