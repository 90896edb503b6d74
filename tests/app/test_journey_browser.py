"""The whole journey with the keyboard alone, the focus always seen; and each step on paper, nothing cut."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from browsing import at, caught_up, focused, wait_figure
from waiting import LONG_S

from gpuplan.app.state import STEPS
from gpuplan.deliver import KINDS

pytestmark = pytest.mark.browser

FOCUS = """() => {
  const node = document.activeElement;
  const { outlineStyle, outlineWidth } = getComputedStyle(node);
  const box = node.getBoundingClientRect();
  return {
    name: node.dataset.at ?? "",
    lost: node === document.body,
    seen: outlineStyle !== "none" && parseFloat(outlineWidth) >= 2 && box.width > 0 && box.height > 0,
    where: node.outerHTML.slice(0, 120),
  };
}"""

A4 = {"width": 703, "height": 1032}
"""What margins of 12 mm leave of it."""
CUT = """(height) => {
  const whole = (node) => {
    for (let each = node; !each.classList.contains("gp-page"); each = each.parentElement) {
      if (getComputedStyle(each).breakInside.startsWith("avoid") && each.getBoundingClientRect().height <= height) return true;
    }
    return false;
  };
  const cut = [];
  for (const node of document.querySelectorAll(".gp-page :is(svg, .gp-host, tr, p)")) {
    const box = node.getBoundingClientRect();
    if (!box.width || !box.height) continue;
    const figure = node.matches("svg, .gp-host") && box.height > 20;
    if (box.right > innerWidth + 1 || (figure && !whole(node))) cut.push(node.outerHTML.slice(0, 120));
  }
  return cut;
}"""


def focus(page: Any, passed: list[str] | None = None) -> str:
    """Key of what has the focus, which must be seen."""
    found = page.evaluate(FOCUS)
    assert found["seen"] and not found["lost"], (found["where"], passed)
    return str(found["name"])


def reached(page: Any, key: str) -> None:
    """Wait until what has this key has the focus, which must be seen."""
    caught_up(page)
    focused(page, key)
    focus(page)


def tab_to(page: Any, name: str, key: str = "Tab") -> None:
    """Press a key until what has this key has the focus; every stop on the way must be seen."""
    caught_up(page)
    passed: list[str] = []
    for _ in range(150):
        page.keyboard.press(key)
        passed.append(focus(page, passed))
        if passed[-1] == name:
            return
    raise AssertionError(f"no {name} among {passed}")


def test_the_journey_with_the_keyboard_alone(app: Any, tab: Callable[..., Any]) -> None:
    visit = tab().start(app.url)
    page = visit.page
    press = page.keyboard.press

    tab_to(page, "enterprise")
    press("Enter")
    wait_figure(page, "totals.hosts", "8")
    at(page, "workload-data-scientists").wait_for()
    reached(page, "usecases")  # what was pressed is gone: the focus is on the step that came

    tab_to(page, "totals.hosts", "Shift+Tab")
    tab_to(page, "demand.gpus", "ArrowRight")  # the figures are one stop
    tab_to(page, "totals.hosts", "ArrowLeft")
    press("Enter")
    drawer = page.locator(".gp-drawer")
    formula = drawer.locator(".gp-formula")
    formula.filter(has_text=re.compile(r"= 8\b")).wait_for()
    tab_to(page, "pools.vgpu.hosts_for_demand")
    press("Enter")
    formula.filter(has_text=re.compile(r"= 7\b")).wait_for()
    press("Escape")
    drawer.wait_for(state="detached")
    reached(page, "totals.hosts")  # back at the figure that was asked

    tab_to(page, "workload-data-scientists")
    press("Enter")
    at(page, "groups.data-scientists.people").wait_for()
    reached(page, "workload-data-scientists")  # its inputs come next
    tab_to(page, "groups.data-scientists.people")
    press("Control+a")
    page.keyboard.type("36")
    wait_figure(page, "totals.hosts", "9")
    press("Enter")  # it is entered, so undo takes back the edit, though the field has the focus
    press("Control+z")
    wait_figure(page, "totals.hosts", "8")
    at(page, "redo").locator("visible=true").wait_for()
    reached(page, "groups.data-scientists.people")
    press("Control+y")
    wait_figure(page, "totals.hosts", "9")
    tab_to(page, "add-llm-serving")
    press("Control+z")
    wait_figure(page, "totals.hosts", "8")
    focus(page)

    tab_to(page, "usecases", "Shift+Tab")
    tab_to(page, "hosts", "ArrowDown")  # so are the steps
    press("Enter")
    page.locator(".gp-head[data-step=hosts]").wait_for()
    reached(page, "hosts")
    tab_to(page, "n1")
    press("ArrowRight")
    wait_figure(page, "totals.hosts", "9")
    reached(page, "n2")
    press("Control+z")
    wait_figure(page, "totals.hosts", "8")
    tab_to(page, "vgpu-host-3")
    press("Enter")
    page.locator(".gp-host.failed").wait_for()
    reached(page, "vgpu-host-3")

    tab_to(page, "hosts", "Shift+Tab")
    for step, _ in STEPS[1:]:
        if step in ("usecases", "hosts"):
            continue
        tab_to(page, step, "ArrowUp" if step == "demand" else "ArrowDown")
        press("Enter")
        page.locator(f"nav [aria-current=step][data-at={step}]").wait_for()
        page.locator(f".gp-head[data-step={step}]").wait_for()
        reached(page, step)
    tab_to(page, "deliver-yaml")
    with page.expect_download(timeout=1000 * LONG_S) as download:
        press("Enter")
    assert "name: Enterprise example" in Path(download.value.path()).read_text(encoding="utf-8")
    page.get_by_text(KINDS["yaml"]).nth(1).wait_for()  # beside the button: that it is made
    assert focus(page).startswith("deliver-")

    page.emulate_media(media="print")
    page.set_viewport_size(A4)
    for step, title in STEPS[1:]:
        page.locator(f"nav [data-at={step}]").dispatch_event("click")  # the list of steps is not printed
        page.locator(f".gp-head[data-step={step}]").wait_for()
        caught_up(page)
        assert page.evaluate(CUT, A4["height"]) == [], f"cut on paper: {title}"
    assert (visit.external, visit.errors) == ([], [])
