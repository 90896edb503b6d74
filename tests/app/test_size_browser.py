"""Designs of any size on the screen: ten thousand hosts, and names as long as they may be."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from browsing import caught_up, figures, go
from random_cases import of_the_day

from gpuplan.app.state import STEPS
from gpuplan.scenario import from_dict

pytestmark = pytest.mark.browser

OUTSIDE = """() => [...document.querySelectorAll(".gp-app *")].filter((node) => {
  const box = node.getBoundingClientRect(), card = node.closest(".gp-card, .gp-figure")?.getBoundingClientRect();
  if (!box.width || !card || (node.closest("svg") && node.tagName !== "svg")) return false;
  for (let at = node; at && !at.matches(".gp-card"); at = at.parentElement) {
    if (getComputedStyle(at).overflowX !== "visible" && at !== node) return false;
  }
  return box.right > card.right + 1;
}).map((node) => `${node.tagName}.${node.className}: ${node.textContent.slice(0, 60)}`)"""

CUT = """() => [...document.querySelectorAll('.gp-app :is(.gp-grid, .gp-field) .gp-digits')]
  .filter((input) => input.offsetParent && input.scrollWidth > input.clientWidth).map((input) => input.value)"""

LARGE = {
    "name": "Ten thousand hosts",
    "groups": [
        {"id": "a", "name": "W" * 60, "people": 10_000, "gpus_each": 8, "remote_allowed": False},
        {"id": "b", "name": "names_with_underscores_" * 2, "people": 30_000, "gpus_each": 2},
        {"id": "c", "name": "\u0645\u062c\u0645\u0648\u0639\u0629", "people": 80_000, "gpus_each": 0.25},
    ],
    "hardware": {"gpu": "l40s-48gb", "gpus_per_host": 16},
}


@pytest.mark.by_day("minutes", 2)
def test_ten_thousand_hosts_and_long_names_stay_in_their_places(
    server: Callable[..., Any], tab: Callable[..., Any], tmp_path: Path
) -> None:
    """No sideways scroll and nothing beyond its card on any step, two of them each day; a host of a kind can still be failed."""
    path = tmp_path / "large.yaml"
    path.write_text(from_dict(LARGE).to_yaml(), encoding="utf-8")
    opened = tab().design(server(scenario=path).url)
    large = opened.page
    for step, _ in of_the_day(STEPS[1:], 2):
        go(large, step)
        caught_up(large)
        assert large.evaluate("document.documentElement.scrollWidth") == 1280, step
        assert large.evaluate(OUTSIDE) == [], step
        assert large.evaluate(CUT) == [], f"digits are cut off: {step}"
    go(large, "hosts")
    large.locator('[data-at="look-cluster"]').select_option("vgpu-4")
    large.locator('[data-at^="vgpu-4-kind-"]').first.click()
    large.locator(".gp-host.failed").first.wait_for()
    assert large.locator(".gp-host").count() <= 64
    shown = figures(large)
    assert (shown["demand.gpus"], shown["totals.hosts"]) == ("160\u202f000 GPUs", "10\u202f159")
    assert opened.external == [] and opened.errors == []
