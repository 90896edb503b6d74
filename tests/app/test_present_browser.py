"""Presenting in a real browser: keys from step to step, the one input under discussion, and back."""

from __future__ import annotations

from typing import Any

import pytest
from browsing import at, caught_up, figures, go, open_tab, pick, until, violations

pytestmark = pytest.mark.browser
FIELDS = "[...document.querySelectorAll('.gp-page .gp-field')].filter((each) => each.offsetParent).length"


def on_step(page: Any, step: str) -> None:
    page.locator(f'.gp-head[data-step="{step}"]').wait_for()
    caught_up(page)


def test_a_design_is_presented_step_by_step(visit: Any) -> None:
    page = visit.step("enterprise", "demand")
    before = figures(page)
    at(page, "present").click()
    page.locator(".gp-presenting .gp-show").wait_for()
    on_step(page, "demand")
    assert figures(page) == before
    assert not at(page, "save").is_visible() and not page.locator("nav").is_visible()
    for key, step in (("ArrowRight", "hosts"), ("PageDown", "network"), ("PageUp", "hosts")):
        page.keyboard.press(key)
        on_step(page, step)
        until(page, FIELDS, 0)
    assert violations(page) == []
    at(page, "discuss").select_option("hardware.gpu")
    until(page, FIELDS, 1)
    pick(page, "hardware.gpu", "a100-pcie-80gb")
    caught_up(page)
    assert figures(page) != before, "what is discussed can be changed"
    page.locator("body").press("Escape")
    page.locator(".gp-app:not(.gp-presenting)").wait_for()
    on_step(page, "demand")
    assert at(page, "view").get_attribute("aria-pressed") == "false"


def test_the_input_that_was_worked_on_is_the_one_under_discussion(visit: Any) -> None:
    page = visit.step("enterprise", "hosts")
    at(page, "hardware.gpus_per_host").focus()
    at(page, "present").click()
    page.locator(".gp-presenting .gp-show").wait_for()
    until(page, FIELDS, 1)
    assert at(page, "hardware.gpus_per_host").is_visible()
    at(page, "edit").click()
    page.locator(".gp-app:not(.gp-presenting)").wait_for()
    go(page, "cost")
    open_tab(page, "prices")
    at(page, "present").click()
    on_step(page, "cost")
    assert page.locator("[data-at=tab-prices][aria-selected=true]").count() == 1
