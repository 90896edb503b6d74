"""Terms of the field on a real page: what one means under the pointer, and all of them in a list for the keyboard."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from browsing import at, caught_up, finished, focused, go, open_tab, take, until, violations

pytestmark = pytest.mark.browser

MARKED = (
    "[...CSS.highlights.get('gp-term')].map((m) => m.startContainer.data.slice(m.startOffset, m.endOffset))"
)
"""JavaScript: the words that are marked, in their order."""
MIDDLE = """(word) => {
  const mark = [...CSS.highlights.get("gp-term")].find((m) => m.startContainer.data.slice(m.startOffset, m.endOffset) === word);
  const range = document.createRange();
  range.setStart(mark.startContainer, mark.startOffset);
  range.setEnd(mark.endContainer, mark.endOffset);
  range.startContainer.parentElement.scrollIntoView({ block: "center" });
  const box = range.getBoundingClientRect();
  return [box.x + box.width / 2, box.y + box.height / 2];
}"""
STILL = """() => {
  const after = window.setTimeout;
  window.setTimeout = (act, ms, ...rest) => after(act, ms === 120 ? 2 ** 31 - 1 : ms, ...rest);  // STAY in glossary.js
  window.goOn = () => { window.setTimeout = after; };
}"""
"""Holds the time for which a meaning stays while the pointer is on its way to it: on a busy machine it takes longer."""
STOPS = "[...document.querySelectorAll('.gp-app *')].filter((each) => each.tabIndex >= 0).length"
SIZES = (
    "[...document.querySelectorAll('.gp-work *')].map((each) => each.getBoundingClientRect().height).join()"
)


def test_a_term_says_what_it_means_under_the_pointer(example: Callable[[str, str], Any]) -> None:
    page = example("enterprise", "hosts")
    finished(page)  # what arrives later would close what is shown of a term
    until(page, f"{MARKED}.includes('failover capacity')")
    words = page.evaluate(MARKED)
    assert len(words) == len(set(words)), "only where it stands first"
    tip = page.locator(".gp-tip")
    stops, sizes = page.evaluate(STOPS), page.evaluate(SIZES)
    page.mouse.move(*page.evaluate(MIDDLE, "failover capacity"))
    tip.filter(has_text="VMs of a host that fails").wait_for()
    box = tip.bounding_box()
    assert box["x"] >= 0 and box["x"] + box["width"] <= 1280 and box["y"] + box["height"] <= 800
    assert (page.evaluate(STOPS), page.evaluate(SIZES)) == (stops, sizes), (
        "nothing moves, and Tab finds nothing new"
    )
    page.evaluate(STILL)
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2, steps=4)
    caught_up(page)
    page.evaluate("goOn()")
    assert tip.is_visible(), "the pointer may go on to it"
    page.keyboard.press("Escape")
    tip.wait_for(state="hidden")
    page.mouse.move(*page.evaluate(MIDDLE, "failover capacity"))
    tip.wait_for()
    page.mouse.move(640, 20, steps=3)
    tip.wait_for(state="hidden")


def test_marks_follow_what_is_on_the_screen(example: Callable[[str, str], Any]) -> None:
    page = example("enterprise", "hosts")
    open_tab(page, "hardware")
    until(page, f"{MARKED}.includes('Passthrough')")
    assert page.evaluate(
        "!JSON.stringify([...CSS.highlights.get('gp-term')].map((m) => m.startContainer.isConnected)).includes('false')"
    )
    go(page, "demand")
    until(page, f"{MARKED}.includes('Passthrough')", False)


def test_the_list_is_searched_by_keyboard(visit: Any) -> None:
    page = visit.page
    take(page, "enterprise")
    at(page, "usecases").focus()
    page.keyboard.press("Tab")
    focused(page, "glossary")
    page.keyboard.press("Enter")
    focused(page, "glossary-search")
    entries = page.locator(".gp-terms li")
    assert entries.count() > 40
    page.keyboard.type("ttft")
    until(page, "document.querySelectorAll('.gp-terms li').length", 1)
    at(page, "term-first token").filter(has_text="how long a user waits").wait_for()
    page.locator(".gp-drawer [role=status]", has_text="1 of ").wait_for()
    focused(page, "glossary-search")
    assert violations(page) == []
    page.keyboard.press("Escape")
    page.locator(".gp-drawer").wait_for(state="detached")
    focused(page, "glossary")
    page.keyboard.press("Enter")
    until(page, "document.querySelectorAll('.gp-terms li').length > 40")
    page.reload()
    at(page, "glossary-search").wait_for()
    until(page, "document.querySelectorAll('.gp-terms li').length > 40")
