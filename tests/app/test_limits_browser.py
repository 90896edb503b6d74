"""Limits in a real browser: entered on the workloads step, drawn as bars in the drawer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from browsing import at, caught_up, enter, open_tab, refused, violations

pytestmark = pytest.mark.browser


def test_bars_follow_the_limits(example: Callable[[str, str], Any]) -> None:
    page = example("starter", "usecases")
    open_tab(page, "basis")
    enter(page, "limits.budget", "USD 1.5 million")
    enter(page, "limits.racks", "4")
    enter(page, "limits.delivery_weeks", "16")
    caught_up(page)
    page.locator(".gp-figures [data-at=messages]").click()
    page.locator(".gp-limits").wait_for()
    bar = page.locator('[data-limit="limits.budget"]')
    track, past = bar.locator(".gp-limit-all"), bar.locator(".gp-limit-over")
    widths = [node.evaluate("node => node.getBoundingClientRect().width") for node in (track, past)]
    assert 0 < widths[1] < 0.1 * widths[0]  # 3 % over
    half = page.locator('[data-limit="limits.racks"] .gp-limit-part')
    assert half.evaluate("node => node.getBoundingClientRect().width") == pytest.approx(widths[0] / 2, abs=1)
    assert page.locator('[data-limit="limits.delivery_weeks"] .gp-limit-open').count() == 1
    assert not violations(page)
    at(page, "limit-limits.racks").click()
    enter(page, "limits.racks", "2.5 racks")
    refused(page, "limits.racks", "whole number")
