"""Every step as a screen: its first tab fits, no other is longer than two, nothing scrolls sideways, and axe finds nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from browsing import at, caught_up, go, open_tab, take
from random_cases import of_the_day

from gpuplan.app.screen import PAGES
from gpuplan.app.state import STEPS

pytestmark = pytest.mark.browser
SCREEN = {"width": 1280, "height": 800}
SIZE = "[document.documentElement.scrollWidth, document.documentElement.scrollHeight]"
EXAMPLES = ("starter", "enterprise", "current", "assistant")


def tabs() -> list[tuple[str, str]]:
    """Every tab of every step, the first of each step first."""
    return [(step, tab.name) for step, _ in STEPS if step != "start" for tab in PAGES[step].tabs]


def enter(page: Any, step: str, tab: str) -> None:
    """Go to a tab."""
    if not page.locator(f'.gp-head[data-step="{step}"]').count():
        go(page, step)
    if at(page, f"tab-{tab}").count():
        open_tab(page, tab)
    caught_up(page)


@pytest.mark.parametrize("example", of_the_day(EXAMPLES, 1))
def test_the_first_tab_of_each_step_is_one_screen_and_no_other_is_longer_than_two(
    visit: Any, example: str
) -> None:
    page = visit.page
    page.set_viewport_size(SCREEN)
    take(page, example)
    shown = set()
    for step, tab in tabs():
        enter(page, step, tab)
        wide, tall = page.evaluate(SIZE)
        assert wide <= SCREEN["width"], (step, tab)
        assert tall <= SCREEN["height"] * (2 if step in shown else 1), (step, tab, tall)
        shown.add(step)


PHONE = {"width": 390, "height": 844}
SMALL = """() => [...document.querySelectorAll(".gp-acts > button, nav button, .gp-tabs button, .gp-page :is(select, .gp-field input)")]
  .filter((each) => each.offsetParent && !["checkbox", "radio", "range"].includes(each.type))
  .filter((each) => each.getBoundingClientRect().height < 44).map((each) => each.outerHTML.slice(0, 120))"""
"""JavaScript: what a finger would miss of what is pressed or filled in."""


@pytest.mark.parametrize("example", of_the_day(EXAMPLES, 1))
def test_a_phone_shows_every_step_without_scrolling_sideways_and_its_fields_are_for_fingers(
    visit: Any, example: str
) -> None:
    page = visit.page
    page.set_viewport_size(PHONE)
    take(page, example)
    for step, _ in STEPS[1:]:
        enter(page, step, PAGES[step].tabs[0].name)
        assert page.evaluate("document.scrollingElement.scrollWidth") <= PHONE["width"], step
        assert page.evaluate(SMALL) == [], step


@pytest.mark.by_day("axe", 3)
@pytest.mark.parametrize(("theme", "width"), [("light", 1280), ("dark", 1920), ("light", 820)])
def test_axe_finds_nothing_on_any_tab(audited: Callable[[str, int], Any], theme: str, width: int) -> None:
    """A third of the tabs each day, all at night; in dark only the colours are others, and on a tablet only the widths."""
    only = {"runOnly": ["color-contrast", "link-in-text-block"]} if theme == "dark" else {}
    opened = audited(theme, width)
    page = opened.page
    assert opened.faults(**only) == []
    take(page, "enterprise")
    background = page.evaluate("getComputedStyle(document.querySelector('.gp-app')).backgroundColor")
    assert background == {"light": "rgb(245, 246, 248)", "dark": "rgb(16, 21, 29)"}[theme]
    for step, tab in of_the_day(tabs(), 12):
        enter(page, step, tab)
        opened.unfold()
        caught_up(page)
        if width < 1280:
            assert page.evaluate(SIZE)[0] <= width, (step, tab)
        else:
            assert opened.faults(**only) == [], (step, tab)
