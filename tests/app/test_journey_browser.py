"""The whole journey with the keyboard alone, the focus always seen; and each step on paper, nothing cut."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gpuplan.app.state import STEPS
from gpuplan.report import KINDS

pytestmark = pytest.mark.browser

FOCUS = """() => {
  const node = document.activeElement;
  const { outlineStyle, outlineWidth } = getComputedStyle(node);
  const box = node.getBoundingClientRect();
  return {
    name: node.getAttribute("aria-label") ?? node.labels?.[0]?.innerText ?? node.innerText ?? "",
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
    """Name of what has the focus, which must be seen."""
    found = page.evaluate(FOCUS)
    assert found["seen"] and not found["lost"], (found["where"], passed)
    return str(found["name"])


def tab_to(page: Any, name: str, key: str = "Tab") -> None:
    """Press a key until something of that name has the focus; every stop on the way must be seen."""
    passed: list[str] = []
    for _ in range(150):
        page.keyboard.press(key)
        passed.append(focus(page, passed))
        if re.search(name, passed[-1]):
            return
    raise AssertionError(f"no {name} among {passed}")


def wait_figure(page: Any, label: str, value: str) -> None:
    page.locator(".gp-figure", has=page.locator("small", has_text=re.compile(f"^{label}$"))).locator(
        "b", has_text=re.compile(f"^{value}$")
    ).wait_for(timeout=5000)


def test_the_journey_with_the_keyboard_alone(app: Any, page: Callable[..., Any]) -> None:
    visit = page().open(app.url, "Enterprise example")
    page = visit.page
    press = page.keyboard.press

    tab_to(page, "Enterprise example")
    press("Enter")
    wait_figure(page, "Hosts", "8")
    page.get_by_label("People, Data scientists").wait_for()
    assert "Use cases" in focus(page), "what was pressed is gone: the focus is on the step that came"

    tab_to(page, "^Hosts\n", "Shift+Tab")
    press("Enter")
    drawer = page.locator(".gp-drawer")
    drawer.get_by_text("Why 8 hosts?").wait_for()
    tab_to(page, "vGPU cluster: hosts for the demand")
    press("Enter")
    drawer.get_by_text("Why 7 hosts?").wait_for()
    press("Escape")
    drawer.wait_for(state="detached")
    assert focus(page).startswith("Hosts"), "back at the figure that was asked"

    tab_to(page, "^Stated total")
    press("Control+a")
    page.keyboard.type("30")
    wait_figure(page, "Hosts", "9")
    tab_to(page, "^Bitfusion may be used")
    press("Control+z")
    wait_figure(page, "Hosts", "8")
    focus(page)

    tab_to(page, "Hosts and", "Shift+Tab")
    press("Enter")
    page.get_by_role("heading", name="Hosts and availability", level=1).wait_for()
    assert "Hosts and" in focus(page)
    tab_to(page, r"N\+1")
    press("ArrowRight")
    wait_figure(page, "Hosts", "9")
    assert "N+2" in focus(page)
    press("Control+z")
    wait_figure(page, "Hosts", "8")
    tab_to(page, "Host 3")
    press("Enter")
    page.locator(".gp-host.failed").wait_for()
    assert "Host 3" in focus(page)

    tab_to(page, "Deliver", "Shift+Tab")
    for step, title in STEPS[1:]:
        if step in ("usecases", "hosts"):
            continue
        tab_to(page, title, "Shift+Tab" if step == "demand" else "Tab")
        press("Enter")
        page.locator(f"nav [aria-current=step][data-at={step}]").wait_for()
        page.get_by_role("heading", name=title, level=1).wait_for()
        assert title in focus(page)
    tab_to(page, f"Download: {re.escape(KINDS['yaml'])}")
    with page.expect_download() as download:
        press("Enter")
    assert "name: Enterprise example" in Path(download.value.path()).read_text(encoding="utf-8")
    page.get_by_text(f"Made: {KINDS['yaml']}").wait_for()
    assert "Download" in focus(page)

    page.emulate_media(media="print")
    page.set_viewport_size(A4)
    for step, title in STEPS[1:]:
        page.locator(f"nav [data-at={step}]").dispatch_event("click")  # the list of steps is not printed
        page.get_by_role("heading", name=title, level=1).wait_for()
        assert page.evaluate(CUT, A4["height"]) == [], f"cut on paper: {title}"
    assert (visit.external, visit.errors) == ([], [])
