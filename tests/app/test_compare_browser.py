"""The compare step in a real browser: exploring, choosing, what moves the answer, designs side by side."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from browsing import (
    at,
    caught_up,
    enter,
    figure,
    finished,
    focused,
    have,
    is_value,
    open_tab,
    refused,
    unfold,
    until,
)

from gpuplan.app.steps.sensitivity import VIEWS

pytestmark = pytest.mark.browser

COST = "cost.net_present"


@pytest.fixture
def compare(example: Callable[[str, str], Any]) -> Callable[[str], Any]:
    """Opens an example at this step."""
    return lambda name: example(name, "compare")


def done(page: Any, what: str) -> None:
    """Start work in the background, and wait for its end."""
    at(page, f"{what}-go").click()
    finished(page, what)
    at(page, f"{what}-go").wait_for()


def explored(page: Any) -> Any:
    """Explore the design, and the row of the winner."""
    open_tab(page, "explore")
    done(page, "explore")
    return page.locator("tr", has=page.locator(".gp-tag.gp-good")).first


def rows(page: Any, key: str) -> Any:
    """The rows of the table that is folded under a key."""
    return have(page, "details[open]", key).locator("tbody tr")


def to_win(page: Any) -> Any:
    """The buttons that ask what would make a design win."""
    return page.locator("[data-at^='look-other,']")


@pytest.mark.by_day("minutes", 2)
def test_exploring_marks_the_winner_says_what_another_takes_and_its_design_can_be_used(
    compare: Callable[[str], Any],
) -> None:
    page = compare("current")
    winner = explored(page)
    page.locator(".gp-chart svg text", has_text="recommended").first.wait_for()
    page.locator("tr.gp-row-now").locator(to_win(page)).click()
    focused(page, "look-other")
    have(page, ".gp-part", "look-other").locator("tbody tr").first.wait_for()
    at(page, "explore-frontier").click()
    rows(page, "explore-frontier").filter(has=page.locator(".gp-tag.gp-good")).wait_for()
    at(page, "explore-rejected").click()
    rows(page, "explore-rejected").first.wait_for()
    name = winner.locator("td").first.evaluate("(cell) => cell.firstChild.textContent").strip()
    have(page, ".gp-card", "explore-go").locator(
        ".gp-said", has_text=re.compile(r"USD\s.*\d")
    ).first.wait_for()
    before = figure(page, COST).locator("b").inner_text()
    assert winner.locator("td").first.locator("small").count() == 0, "it is another one than the design"
    second = page.locator("tbody tr", has=to_win(page)).first
    assert re.search(r"\d", second.locator(".gp-why-not").inner_text()), "how much more it costs"
    winner.locator("[data-at^=use-option]").press("Enter")
    page.locator(".gp-notice.gp-note", has_text=name).wait_for()
    page.locator("tr.gp-row-now", has=page.locator(".gp-tag.gp-good")).first.wait_for()
    focused(page, "explore-go")
    figure(page, COST).locator("em").wait_for()  # by how much, as both may round to the same
    at(page, "undo").click()
    page.locator("tr.gp-row-now", has_not=page.locator(".gp-tag.gp-good")).first.wait_for()
    assert figure(page, COST).locator("b").inner_text() == before


def test_boards_are_cards_with_bars_and_one_is_used_and_undone(compare: Callable[[str], Any]) -> None:
    page = compare("starter")
    before = figure(page, COST).locator("b").inner_text()
    open_tab(page, "boards")
    done(page, "boards")
    cards = page.locator(".gp-board")
    best = cards.filter(has=page.locator(".gp-tag")).first
    best.locator(".gp-board-bar").first.wait_for()
    assert cards.first.get_attribute("data-at") == best.get_attribute("data-at"), "the cheapest is first"
    assert re.search(r"\d", best.locator(".gp-board-hosts").inner_text())
    cannot = page.locator(".gp-board.gp-cannot")
    assert cannot.count() and re.search(r"\d", cannot.first.locator(".gp-board-told").first.inner_text())
    assert cannot.locator("button").count() == 0
    widths = best.locator(".gp-board-track i").evaluate_all(
        "(bars) => bars.map((bar) => bar.getBoundingClientRect().width / bar.parentNode.getBoundingClientRect().width)"
    )
    assert len(widths) > 3 and all(0 < width <= 1.001 for width in widths)
    best.locator("button").click()
    page.locator(".gp-board.on").wait_for()
    figure(page, COST).locator("em").wait_for()
    at(page, "undo").click()
    caught_up(page)
    page.locator(".gp-board.on").wait_for(state="detached")
    assert figure(page, COST).locator("b").inner_text() == before
    at(page, "boards-works").click()
    rows(page, "boards-works").first.wait_for()


def test_exploring_is_stopped_and_leaves_the_design_alone(app: Any, compare: Callable[[str], Any]) -> None:
    page = compare("starter")
    before = figure(page, COST).inner_text()
    open_tab(page, "explore")
    at(page, "explore-go").click()
    with app.halted("explore"):
        page.get_by_role("progressbar").wait_for()
        open_tab(page, "designs")
        at(page, "keep").click()  # the page goes on meanwhile
        page.locator("[data-at^=forget-kept]").wait_for()
        open_tab(page, "explore")
        at(page, "explore-stop").click()
        at(page, "explore-go").wait_for()
    caught_up(page)
    assert page.get_by_role("progressbar").count() == 0
    assert page.locator(".gp-tag.gp-good").count() == 0
    assert figure(page, COST).inner_text() == before


def test_the_tornado_and_a_range_stated_in_place(compare: Callable[[str], Any]) -> None:
    page = compare("starter")
    open_tab(page, "inputs")
    done(page, "sensitivity")
    page.locator(".gp-chart svg text", has_text="Cores per processor").first.wait_for()
    at(page, "look-swing").select_option(VIEWS["hosts"])
    page.locator(".gp-chart svg text", has_text=re.compile("^Hosts$")).first.wait_for()
    path = "ranges.cost.cores_per_socket"
    field = at(page, path)
    unfold(page, path)
    old = page.locator(".gp-sheet.gp-stale")
    enter(page, path, "80 to 20")
    refused(page, path, '"80 to 20"')
    enter(page, path, "24 to 48")
    old.wait_for()
    done(page, "sensitivity")
    old.wait_for(state="detached")
    assert field.input_value() == "24 to 48"
    at(page, "thresholds").click()
    rows(page, "thresholds").first.wait_for()


def test_designs_side_by_side(compare: Callable[[str], Any]) -> None:
    page = compare("starter")
    side = have(page, ".gp-part", "keep")
    at(page, "try-N+2").wait_for()
    finished(page)
    hosts = side.locator("tbody tr").first
    hosts.locator("td b", has_text="9").first.wait_for()
    hosts.locator("em").wait_for()
    assert hosts.locator("td b").all_inner_texts()[:2] == ["8", "9"]
    sized = "document.querySelectorAll('.gp-side-part').length > 6"
    until(page, f"{sized} && document.documentElement.scrollHeight <= innerHeight")
    widths = side.locator(".gp-side-part").evaluate_all(
        "(all) => all.map((each) => each.getBoundingClientRect().width)"
    )
    assert 0 < min(widths) < max(widths)
    at(page, "try-N+2").click()
    hosts.locator("td.gp-side-now b", has_text="9").wait_for()
    hosts.locator("td.gp-side-kept.gp-side-best b", has_text="8").wait_for()
    assert side.locator("textarea").count() == 1, "it was pinned already"
    enter(page, "kept-name-0", "As quoted")
    at(page, "open-kept-As quoted").wait_for()
    open_tab(page, "all")
    page.locator("tr", has_text=re.compile("^Host failures")).locator(".gp-differs", has_text="2").wait_for()
    page.reload()
    open_tab(page, "designs")
    is_value(page, "kept-name-0", "As quoted")
    at(page, "open-kept-As quoted").click()
    hosts.locator("td.gp-side-now b", has_text="8").wait_for()
    at(page, "undo").click()
    hosts.locator("td.gp-side-now b", has_text="9").wait_for()
    at(page, "forget-kept-As quoted").click()
    at(page, "kept-name-0").wait_for(state="detached")


@pytest.mark.by_day("axe", 3)
@pytest.mark.parametrize(("theme", "width"), [("light", 1280), ("dark", 820)])
def test_axe_finds_nothing_and_nothing_scrolls_sideways(
    audited: Callable[[str, int], Any], theme: str, width: int
) -> None:
    opened = audited(theme, width)
    page = opened.step("starter", "compare")
    faults = []
    page.locator("[data-at^=try-]").first.wait_for()
    faults += opened.faults()
    page.locator("[data-at^=try-]").first.click()
    page.locator("[data-at^=forget-kept]").wait_for()
    faults += opened.faults()
    at(page, "undo").click()
    explored(page)
    page.locator("tr.gp-row-now").locator(to_win(page)).click()
    have(page, ".gp-part", "look-other").locator("tbody tr").first.wait_for()
    opened.unfold()
    for key in ("explore-frontier", "explore-rejected"):
        rows(page, key).first.wait_for()
    caught_up(page)
    faults += opened.faults()
    open_tab(page, "inputs")
    done(page, "sensitivity")
    opened.unfold()
    rows(page, "thresholds").first.wait_for()
    caught_up(page)
    assert [*faults, *opened.faults()] == []
