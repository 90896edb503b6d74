"""The guided start in a browser: by keyboard from three questions to a first design."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from browsing import at, caught_up, figures, focused, open_workload, violations
from waiting import LONG_S

pytestmark = pytest.mark.browser


def test_three_answers_by_keyboard_make_a_first_design(visit: Any) -> None:
    page = visit.page
    press = page.keyboard.press
    at(page, "guide-go").wait_for(state="hidden")
    at(page, "guide-llm-serving").focus()
    press("Space")
    at(page, "guide-go").wait_for()
    at(page, "guide-small-workstation").focus()
    press("Space")
    for key in ("guide-high-end-training", "guide-hpc", "guide-dev-test", "guide-count-llm-serving"):
        press("Tab")
        focused(page, key)
    page.keyboard.type("lots")
    press("Tab")
    focused(page, "guide-count-small-workstation")
    page.keyboard.type("1,200")
    press("Enter")
    page.locator('[data-at="guide-count-llm-serving"][aria-invalid=true]:focus').wait_for()
    assert at(page, "guide-count-small-workstation").input_value() == "1,200", "what was right stays"
    press("Control+a")
    page.keyboard.type("400")
    press("Enter")
    page.locator(".gp-workload").nth(1).wait_for(timeout=1000 * LONG_S)
    caught_up(page)
    assert figures(page)["totals.unplaced_vms_after_failure"] == "All VMs fit"
    open_workload(page, "notebooks")
    assert at(page, "groups.notebooks.people").input_value() == "1\u202f200"
    assert at(page, "known-groups.notebooks.people").filter(has_text="assumed").count() == 0
    assert at(page, "known-groups.notebooks.gpus_each").inner_text() == "assumed"
    assert at(page, "known-hardware.gpu").inner_text() == "assumed"


def test_answers_survive_a_reload_and_go_with_the_first_design(visit: Any) -> None:
    page = visit.page
    at(page, "guide-hpc").check()
    at(page, "guide-count-hpc").fill("7")
    at(page, "guide-availability.host_failures").select_option("2")
    page.reload()
    at(page, "guide-go").wait_for()
    assert at(page, "guide-hpc").is_checked() and not at(page, "guide-llm-serving").is_checked()
    assert at(page, "guide-count-hpc").input_value() == "7"
    assert at(page, "guide-availability.host_failures").input_value() == "2"
    at(page, "guide-go").click()
    page.locator(".gp-workload").wait_for(timeout=1000 * LONG_S)
    page.locator('nav [data-at="start"]').click()
    at(page, "guide-hpc").wait_for()
    assert not at(page, "guide-hpc").is_checked()


@pytest.mark.by_day("axe", 3)
def test_axe_finds_nothing_in_the_questions_and_they_fit_the_screen(
    audited: Callable[[str, int], Any],
) -> None:
    opened = audited("light", 1280)
    page = opened.page
    page.set_viewport_size({"width": 1280, "height": 800})
    assert page.evaluate("document.documentElement.scrollHeight") <= 800
    for box in page.locator(".gp-guide-kinds input").all():
        box.check()
    at(page, "guide-go").wait_for()
    assert page.evaluate("document.querySelector('.gp-guide').getBoundingClientRect().bottom") <= 800
    assert violations(page) == []
