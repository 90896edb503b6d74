"""Hints on a real page: above the tabs, never over anything, and gone for good once they are closed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from browsing import at, caught_up, go, take

pytestmark = pytest.mark.browser

OVER = """() => {
  const box = document.querySelector(".gp-hint").getBoundingClientRect();
  return [...document.querySelectorAll(".gp-head > :not(.gp-hint), .gp-tabs, .gp-page")].some((other) => {
    const b = other.getBoundingClientRect();
    return b.left < box.right && box.left < b.right && b.top < box.bottom - 1 && box.top + 1 < b.bottom;
  });
}"""
"""JavaScript: whether the hint stands over something."""


def test_a_hint_is_closed_once_and_never_comes_back(app: Any, tab: Callable[..., Any]) -> None:
    visit = tab().start(app.url)
    page = visit.page
    hint = page.locator(".gp-hint")
    assert hint.count() == 0, "none on the start page"
    take(page, "enterprise")
    hint.wait_for()
    assert not page.evaluate(OVER)
    height = page.locator(".gp-tab-row").bounding_box()["height"]
    at(page, "close-hint").focus()
    page.keyboard.press("Enter")
    hint.wait_for(state="detached")
    assert page.locator(".gp-tab-row").bounding_box()["height"] == height, "nothing moves"
    assert page.evaluate("document.activeElement.dataset.at").startswith("tab-")
    go(page, "cost")
    hint.wait_for()
    assert not page.evaluate(OVER), "above nine tabs, too"
    page.reload()
    page.locator('.gp-head[data-step="cost"]').wait_for()
    hint.wait_for()
    go(page, "usecases")
    caught_up(page)
    assert hint.count() == 0
    page.evaluate("localStorage.setItem('gpuplan-hints', '{7')")  # not ours
    page.reload()
    page.locator('.gp-head[data-step="usecases"]').wait_for()
    hint.wait_for()
    at(page, "view").click()
    hint.wait_for(state="detached")
    assert visit.errors == []
