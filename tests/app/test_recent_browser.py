"""Recent designs in a real browser: kept there and nowhere else, opened again, not for the customer, and forgotten."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

pytestmark = pytest.mark.browser

KEPT = "JSON.parse(localStorage.getItem('gpuplan-recent')).map((each) => each.name)"


def test_recent_designs(app: Any, page: Callable[..., Any]) -> None:
    visit = page().open(app.url, "Enterprise example")
    tab = visit.page
    recent = tab.get_by_role("region", name="Recent designs")
    assert recent.count() == 0
    tab.evaluate(
        "localStorage.setItem('gpuplan-recent', '[7, {\"name\": 1}]')"
    )  # not ours: it is passed over
    tab.get_by_text("Enterprise example").first.click()
    name = tab.get_by_label("Name of the design", exact=True)
    for number in range(8):
        name.fill(f"Design {number}")
        name.press("Enter")
        tab.wait_for_timeout(1300)  # a design counts when it has stood for a second
    assert tab.evaluate(KEPT) == [f"Design {number}" for number in range(7, 1, -1)]
    tab.locator(".gp-brand").click()
    recent.wait_for()
    assert recent.get_by_role("link").count() == 6
    assert tab.evaluate("document.documentElement.scrollWidth <= innerWidth")
    tab.get_by_role("button", name="Customer view").click()
    recent.wait_for(state="detached")
    tab.get_by_role("button", name="Customer view").click()
    recent.get_by_role("link", name="Design 4").click()
    tab.get_by_role("heading", name="Use cases", level=1).wait_for()
    assert name.input_value() == "Design 4"
    tab.locator(".gp-brand").click()
    recent.get_by_role("button", name="Forget them").click()
    recent.wait_for(state="detached")
    assert tab.evaluate("localStorage.getItem('gpuplan-recent')") is None
    assert tab.get_by_role("button", name="Start blank").evaluate("node => node === document.activeElement")
    assert visit.errors == []
