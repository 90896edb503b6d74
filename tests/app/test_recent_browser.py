"""Recent designs in a real browser: kept there and nowhere else, opened again, not for the customer, and forgotten."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from browsing import at, choose, download, enter, focused, home, open_tab, until

from gpuplan.scenario import load_scenario

pytestmark = pytest.mark.browser

LISTED = "JSON.parse(localStorage.getItem('gpuplan-recent'))"
KEPT = f"{LISTED}.map((each) => each.name)"
FRAGMENTS = f"{LISTED}.map((each) => each.fragment)"


def opened(page: Any, folder: Path, name: str, customer: str = "") -> None:
    """Open a file with a design, and wait until it is listed: a design counts when it has stood for a second."""
    scenario = load_scenario("starter").with_value("name", name).with_value("customer", customer)
    (folder / "design.yaml").write_text(scenario.to_yaml())
    choose(page, folder / "design.yaml")
    until(page, f"{LISTED}?.[0].name === {name!r} && {LISTED}[0].customer === {customer!r}")


def test_recent_designs(app: Any, tab: Callable[..., Any], tmp_path: Path) -> None:
    visit = tab().start(app.url)
    page = visit.page
    recent = page.locator(".gp-recent")
    assert recent.locator("table").count() == 0
    page.evaluate(
        "localStorage.setItem('gpuplan-recent', '[7, {\"name\": 1}]')"
    )  # not ours: it is passed over
    for number in range(8):
        opened(page, tmp_path, f"Design {number}")
    assert page.evaluate(KEPT) == [f"Design {number}" for number in range(7, -1, -1)]
    name = page.locator(".gp-name")
    name.fill("Another name")  # of the same design
    name.press("Enter")
    until(page, f"{KEPT}[0]", "Another name")
    assert page.evaluate(f"{KEPT}.slice(1)") == [f"Design {number}" for number in range(6, -1, -1)]
    home(page)
    recent.wait_for()
    assert recent.get_by_role("link").count() == 3
    recent.locator("summary").click()
    assert recent.get_by_role("link").count() == 8
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    at(page, "view").click()
    recent.wait_for(state="detached")
    at(page, "view").click()
    recent.get_by_role("link", name="Design 4").click()
    page.locator("nav [aria-current=step][data-at=usecases]").wait_for()
    until(page, "document.querySelector('.gp-name').value", "Design 4")
    until(page, f"{KEPT}[0]", "Design 4")  # else it would be kept after all is forgotten
    home(page)
    recent.get_by_role("button", name="Remove Design 4").click()
    focused(page, "put-back")
    assert "Design 4" not in page.evaluate(KEPT)
    at(page, "put-back").click()
    until(page, f"{KEPT}[0]", "Design 4")
    at(page, "clear-designs").click()
    assert page.evaluate("localStorage.getItem('gpuplan-recent')") is None
    at(page, "put-back").click()
    until(page, f"{KEPT}.length", 8)
    at(page, "clear-designs").click()
    recent.get_by_role("link").first.wait_for(state="detached")
    at(page, "view").click()  # and nothing of it is on the page that the customer sees
    recent.wait_for(state="detached")
    assert visit.errors == []


def test_versions_of_a_design_are_kept_under_their_names(
    app: Any, tab: Callable[..., Any], page: Any, tmp_path: Path
) -> None:
    """Each with its date and figures, beside the design as it is now; a file carries the list to another browser."""
    visit, other = tab().start(app.url), page().start(app.url)
    page = visit.page
    opened(page, tmp_path, "Offer", "ACME")
    for people, name in (("40", "Before the workshop"), ("48", "After it")):
        enter(page, "groups.data-scientists.people", people)
        at(page, "version").click()
        at(page, "version-name").fill(name)
        at(page, "version-keep").click()
        until(page, f"{LISTED}[0].version", name)
    enter(page, "groups.data-scientists.people", "56")
    home(page)
    until(page, f"{LISTED}.map((each) => each.version).join()", ",After it,Before the workshop")
    assert page.evaluate(f"new Set({LISTED}.map((each) => each.design)).size") == 1
    recent = page.locator(".gp-recent")
    assert recent.locator("tbody tr").count() == 1
    recent.locator("tbody button[aria-expanded]").click()
    assert recent.locator("tbody tr").count() == 3
    recent.get_by_role("link", name="Before the workshop").click()
    page.locator('.gp-head[data-step="usecases"]').wait_for()
    home(page)
    until(page, f"{LISTED}.length", 3)  # opened again it is the version that it was
    saved = download(page, "export-designs").path()
    assert other.page.locator(".gp-recent table").count() == 0
    for content, count in ((Path(saved).read_bytes(), 3), (b"[7]", 3), (Path(saved).read_bytes(), 3)):
        (tmp_path / "designs.json").write_bytes(content)
        other.page.locator("input[accept='.json'][aria-label*=list]").last.set_input_files(
            tmp_path / "designs.json"
        )
        other.page.locator(".gp-recent [role=status]", has_text="designs.json").wait_for()
        until(other.page, f"{LISTED}.length", count)
    other.page.locator(".gp-recent a", has_text="Offer").first.click()
    other.page.locator('.gp-head[data-step="usecases"]').wait_for()
    assert visit.errors == other.errors == []


def test_no_design_takes_the_place_of_another(app: Any, tab: Callable[..., Any], tmp_path: Path) -> None:
    """Designs of one name are told apart by what they are, with customer, day and figures; each click opens its own."""
    first = tab().start(app.url)
    page = first.page
    opened(page, tmp_path, "Offer", "ACME")
    opened(page, tmp_path, "Offer", "Bolt")
    assert page.evaluate(f"{LISTED}.map((each) => each.customer)") == ["Bolt", "ACME"]
    home(page)
    at(page, "blank").click()
    until(page, f"{LISTED}.length", 3)
    untitled = page.evaluate(f"{LISTED}[0].name")
    open_tab(page, "basis")
    enter(page, "customer", "Cog")
    until(page, f"{LISTED}[0].customer", "Cog")
    enter(page, "customer", "Dyn")  # another customer's is another design
    page.locator(".gp-brand").click()
    at(page, "blank").click()  # at once: what was changed is kept all the same
    until(page, f"{LISTED}[0].customer", "")
    assert page.evaluate(f"{LISTED}.map((each) => each.customer)") == ["", "Dyn", "Cog", "Bolt", "ACME"]
    assert page.evaluate(KEPT) == [untitled, untitled, untitled, "Offer", "Offer"]
    home(page)
    page.locator(".gp-recent summary").click()
    rows = page.locator(".gp-recent tbody tr")
    assert all(part in rows.nth(4).inner_text() for part in ("ACME", "V100", "USD"))
    rows.nth(4).get_by_role("link").click()
    until(page, "document.querySelector('.gp-name').value", "Offer")
    until(page, f"{LISTED}[0].customer", "ACME")
    assert page.evaluate(f"{LISTED}.length") == 5


def test_two_tabs_with_one_design_keep_what_each_made_of_it(
    app: Any, tab: Callable[..., Any], tmp_path: Path
) -> None:
    one = tab().start(app.url).page
    opened(one, tmp_path, "Offer", "ACME")
    other = one.context.new_page()
    other.goto(app.url)
    other.locator(".gp-recent a").click()
    other.wait_for_url("**/#s=**")
    for page, name in ((one, "Of the first"), (other, "Of the other")):
        page.locator(".gp-name").fill(name)
        page.locator(".gp-name").press("Enter")
        until(page, f"{KEPT}[0]", name)
    assert set(one.evaluate(KEPT)) == {"Of the first", "Of the other"}
    other.close()


def test_a_design_without_room_is_still_named(app: Any, tab: Callable[..., Any], tmp_path: Path) -> None:
    page = tab().start(app.url).page
    page.evaluate(
        """() => localStorage.setItem('gpuplan-recent', JSON.stringify([...Array(30).keys()].map((at) =>
            ({ name: `Old ${at}`, day: '2026-11-01', fragment: `s=${at}`, design: `${at}`, customer: 'ACME' }))))"""
    )
    opened(page, tmp_path, "New")
    assert page.evaluate(KEPT) == ["New", *(f"Old {at}" for at in range(30))]
    assert page.evaluate(f"{FRAGMENTS}.filter((each) => !each).length") == 1
    home(page)
    recent = page.locator(".gp-recent")
    recent.locator("summary").click()
    last = recent.locator("tbody tr").last
    assert "Old 29" in last.inner_text() and last.get_by_role("link").count() == 0
