"""Power-on watched in the browser: by keyboard and by clicks, over a reload, and back to the plan."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from browsing import at, choose, focused, go, open_tab, until

from gpuplan.scenario import from_dict

pytestmark = pytest.mark.browser

VM = r"document.querySelector('.gp-slide').innerText.match(/VM (\d+) of/)[1]"
"""JavaScript: how many VMs were powered on."""
MIXED = {
    "groups": [
        {"id": "a", "name": "Trainers", "people": 4, "gpus_each": 2, "remote_allowed": False},
        {"id": "b", "name": "Scientists", "people": 12, "gpus_each": 0.5, "remote_allowed": False},
        {"id": "c", "name": "Developers", "people": 16, "gpus_each": 0.25, "remote_allowed": False},
    ],
    "hardware": {"gpu": "l40s-48gb"},
    "platform": {"gpu_policy": "spread", "drs_consolidation": False},
}


def test_vms_arrive_one_by_one(app: Any, audited: Callable[[str, int], Any], tmp_path: Path) -> None:
    """A host that has failed before is down again afterwards; what is watched is there again when the page is loaded again."""
    path = tmp_path / "mixed.yaml"
    path.write_text(from_dict(MIXED).to_yaml(), encoding="utf-8")
    opened = audited("dark", 1280)
    page = opened.page

    def watched(vm: int) -> None:
        page.locator(".gp-slide", has_text=f"VM {vm} of 32").wait_for()

    choose(page, path)
    go(page, "hosts")
    at(page, "vgpu-host-2").click()
    page.locator(".gp-host.failed").wait_for()
    at(page, "vgpu-watch").click()
    focused(page, "watch-play")
    watched(0)
    for _ in range(3):
        at(page, "watch-slider").press("ArrowRight")
    watched(3)
    assert page.locator(".gp-host.landing .gp-gpu.new").count() == 1
    page.locator('[data-at^="watch-to-"]').first.click()
    page.locator(".gp-arrival.gp-bad").wait_for()
    assert opened.faults() == []
    page.reload()
    page.locator(".gp-arrival.gp-bad").wait_for()
    at(page, "watch-first").click()
    watched(0)
    at(page, "watch-play").click()
    until(page, f"Number({VM}) > 1")
    at(page, "watch-play").click()
    at(page, "watch-leave").click()
    focused(page, "vgpu-watch")
    page.locator(".gp-host.failed").wait_for()
    open_tab(page, "power-on")
    at(page, "power-on-go").click()
    with app.halted("power-on"):
        at(page, "power-on-stop").click()
        at(page, "power-on-go").wait_for()
    assert opened.faults() == []
    assert opened.external == [] and opened.errors == []
