"""Recent designs in a real browser: kept there and nowhere else, opened again, not for the customer, and forgotten."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from browsing import at, take, until

pytestmark = pytest.mark.browser

KEPT = "JSON.parse(localStorage.getItem('gpuplan-recent')).map((each) => each.name)"


def test_recent_designs(app: Any, tab: Callable[..., Any]) -> None:
    visit = tab().start(app.url)
    page = visit.page
    recent = page.locator(".gp-recent")
    assert recent.count() == 0
    page.evaluate(
        "localStorage.setItem('gpuplan-recent', '[7, {\"name\": 1}]')"
    )  # not ours: it is passed over
    take(page, "enterprise")
    name = page.locator(".gp-name")
    for number in range(8):
        name.fill(f"Design {number}")
        name.press("Enter")
        until(page, f"{KEPT}[0]", f"Design {number}")  # a design counts when it has stood for a second
    assert page.evaluate(KEPT) == [f"Design {number}" for number in range(7, 1, -1)]
    page.locator(".gp-brand").click()
    recent.wait_for()
    assert recent.get_by_role("link").count() == 6
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    at(page, "view").click()
    recent.wait_for(state="detached")
    at(page, "view").click()
    recent.get_by_role("link", name="Design 4").click()
    page.locator("nav [aria-current=step][data-at=usecases]").wait_for()
    until(page, "document.querySelector('.gp-name').value", "Design 4")
    until(page, f"{KEPT}[0]", "Design 4")  # else it would be kept after all is forgotten
    page.locator(".gp-brand").click()
    recent.get_by_role("button").click()
    recent.wait_for(state="detached")
    assert page.evaluate("localStorage.getItem('gpuplan-recent')") is None
    assert at(page, "blank").evaluate("node => node === document.activeElement")
    assert visit.errors == []
