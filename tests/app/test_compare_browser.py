"""The compare step in a real browser: exploring, choosing, what moves the answer, designs side by side."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

pytestmark = pytest.mark.browser


@pytest.fixture
def compare(example: Callable[[str, str], Any]) -> Callable[[str], Any]:
    """Opens an example at this step."""

    def at(name: str) -> Any:
        return example(name, "Compare")

    return at


def explored(page: Any) -> Any:
    """Explore the design, and the row of the winner."""
    page.get_by_role("button", name="Explore designs").click()
    page.get_by_role("button", name="Explore again").wait_for(timeout=60000)
    return page.locator("tr", has_text="winner").first


def test_exploring_marks_the_winner_and_its_design_can_be_used(compare: Callable[[str], Any]) -> None:
    page = compare("Current-generation example")
    winner = explored(page)
    name = winner.locator("td").first.inner_text().split("winner")[0].strip()
    page.get_by_text(re.compile("wins at USD")).wait_for()
    before = page.locator(".gp-figure", has_text="Cost over").inner_text()
    assert (
        page.locator("tr", has_text="as it was asked")
        .or_(page.locator("tr", has_text="on the screen"))
        .count()
    )
    second = page.locator("tbody tr", has=page.get_by_role("button", name="What would make it win?")).first
    assert "costs" in second.inner_text()
    winner.get_by_role("button", name="Use").press("Enter")
    page.get_by_text(f"The design is now {name}").wait_for(timeout=5000)
    winner.get_by_text("on the screen").wait_for()
    assert page.locator("[data-at='explore-go']").evaluate("node => node === document.activeElement")
    assert page.locator(".gp-figure", has_text="Cost over").inner_text() != before
    page.get_by_role("button", name="Undo").click()
    page.locator("tr.gp-row-now", has_not=page.locator(".gp-tag", has_text="winner")).wait_for(timeout=5000)
    assert page.locator(".gp-figure", has_text="Cost over").inner_text() == before


def test_what_would_make_another_design_win_and_the_frontier(compare: Callable[[str], Any]) -> None:
    page = compare("Current-generation example")
    explored(page)
    chart = page.locator(".gp-chart svg").first
    chart.locator("text", has_text="the winner").first.wait_for()
    page.get_by_role("button", name="What would make it win?").first.click()
    page.locator('[data-at="look-other"]:focus').wait_for(timeout=10000)
    page.get_by_role("columnheader", name="Needed").wait_for()
    page.locator("summary", has_text="The frontier as a table").click()
    page.locator("details[open] tr", has_text="winner").wait_for(timeout=5000)
    page.locator("summary", has_text="Ruled out").click()
    page.get_by_role("columnheader", name="Reason").wait_for(timeout=5000)


def test_exploring_is_stopped_and_leaves_the_design_alone(compare: Callable[[str], Any]) -> None:
    page = compare("Starter example")
    page.get_by_role("button", name="Explore designs").click()
    page.get_by_role("progressbar", name="Progress").wait_for()
    page.get_by_role("button", name="Keep this design").click()  # the page goes on meanwhile
    page.get_by_role("columnheader", name="On the screen").wait_for(timeout=5000)
    page.get_by_role("button", name="Stop").click()
    page.get_by_text("Stopped; nothing was changed.").wait_for(timeout=5000)
    page.get_by_role("button", name="Explore designs").wait_for()


def test_the_tornado_and_a_range_stated_in_place(compare: Callable[[str], Any]) -> None:
    page = compare("Starter example")
    page.get_by_role("button", name="Try the ranges").click()
    page.get_by_role("button", name="Try the ranges again").wait_for(timeout=60000)
    page.locator(".gp-chart svg text", has_text="Cores per processor").first.wait_for()
    page.locator('[data-at="look-swing"]').select_option("hosts")
    page.locator(".gp-chart svg text", has_text=re.compile("^Hosts$")).first.wait_for()
    page.locator("summary", has_text="Ranges, and the same as a table").click()
    field = page.get_by_label("Low and high, Cores per processor", exact=True)
    field.fill("80 to 20")
    field.press("Tab")
    page.locator(".gp-sheet .gp-problem", has_text="is not allowed").first.wait_for(timeout=5000)
    field.fill("24 to 48")
    field.press("Tab")
    page.get_by_text("a range has changed since").wait_for(timeout=5000)
    page.get_by_role("button", name="Try the ranges again").click()
    page.get_by_text("a range has changed since").wait_for(state="detached", timeout=60000)
    assert field.input_value() == "24 to 48"
    page.locator("summary", has_text="Where the number of hosts changes").click()
    page.get_by_role("columnheader", name="Above it").wait_for(timeout=5000)


def test_designs_side_by_side(compare: Callable[[str], Any]) -> None:
    page = compare("Starter example")
    page.get_by_role("button", name="Keep this design").click()
    page.get_by_text("Nothing differs.").wait_for(timeout=5000)
    page.locator("nav").get_by_text("Cost").click()
    page.get_by_label("Years to look at", exact=True).fill("3")
    page.get_by_label("Years to look at", exact=True).press("Tab")
    page.locator(".gp-figure", has_text="Cost over 3 years").wait_for(timeout=5000)
    page.locator("nav").get_by_text("Compare").click()
    row = page.locator("tr", has_text="Years to look at")
    row.locator(".gp-differs", has_text="3").first.wait_for(timeout=5000)
    page.get_by_role("button", name="Open: Starter example").click()
    page.get_by_text("Nothing differs.").wait_for(timeout=5000)
    page.get_by_role("button", name="Undo").click()
    row.wait_for(timeout=5000)
    page.get_by_role("button", name="Forget: Starter example").click()
    row.wait_for(state="detached", timeout=5000)


@pytest.mark.parametrize(("theme", "width"), [("light", 1280), ("dark", 820)])
def test_axe_finds_nothing_and_nothing_scrolls_sideways(
    audited: Callable[[str, int], Any], theme: str, width: int
) -> None:
    opened = audited(theme, width)
    opened.step("Current-generation example", "Compare")
    explored(opened.page)
    opened.page.get_by_role("button", name="Try the ranges").click()
    opened.page.get_by_role("button", name="Try the ranges again").wait_for(timeout=60000)
    opened.page.get_by_role("button", name="Keep this design").click()
    opened.page.get_by_role("button", name="What would make it win?").first.click()
    opened.page.get_by_role("columnheader", name="Needed").wait_for(timeout=10000)
    opened.unfold()
    for text in ("Reason", "Above it", "Its cost leaves out", "The design on the screen"):
        opened.page.get_by_role("columnheader", name=text).first.wait_for(timeout=10000)
    assert opened.faults() == []
