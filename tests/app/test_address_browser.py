"""Steps and tabs in the address: Back and Forward go through what was seen, a reload stays, a link opens where it was shared."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from browsing import at, caught_up, enter, go, open_tab, take, until

from gpuplan import load_scenario
from gpuplan.app.history import PLACE, link_of

pytestmark = pytest.mark.browser

PEOPLE = "groups.data-scientists.people"


def stands(page: Any, step: str, name: str = "") -> None:
    """Wait until a step is on the screen, with a tab, and the address says so."""
    page.locator(f'.gp-head[data-step="{step}"]').wait_for()
    if name:
        page.locator(f'[data-at="tab-{name}"][aria-selected=true]').wait_for()
    until(page, f"location.hash.includes('{PLACE}{step}/{name}')")
    caught_up(page)


def test_back_goes_through_what_was_seen_and_keeps_what_was_changed(
    app: Any, tab: Callable[..., Any]
) -> None:
    visit = tab().start(app.url)
    page = visit.page
    take(page, "enterprise")
    stands(page, "usecases", "groups")
    for step in ("demand", "hosts", "cost"):
        go(page, step)
    open_tab(page, "money")
    stands(page, "cost", "money")
    enter(page, "cost.discount_rate", "7 %")
    go(page, "design")
    stands(page, "design")
    edited = page.evaluate("location.hash")
    page.go_back()
    stands(page, "cost", "money")
    page.go_back()
    stands(page, "cost")
    page.go_back()
    stands(page, "hosts")
    page.go_forward()
    stands(page, "cost")
    assert page.evaluate("location.hash").split(PLACE)[0] == edited.split(PLACE)[0]  # nothing is taken back
    page.reload()
    stands(page, "cost")
    page.go_forward()
    stands(page, "cost", "money")
    page.go_back()
    page.go_back()
    stands(page, "hosts")
    at(page, "undo").click()
    caught_up(page)
    stands(page, "hosts")
    go(page, "network")  # what lay ahead ends here
    page.go_forward()
    stands(page, "network")
    for step in ("hosts", "demand", "usecases"):
        page.go_back()
        stands(page, step)
    page.go_back()
    page.locator(".gp-start").first.wait_for()
    page.go_forward()
    stands(page, "usecases")
    assert visit.errors == []


CLICK = (
    "keys => keys.forEach((key) => document.querySelector(`:is(nav, .gp-tabs) [data-at='${key}']`).click())"
)
"""JavaScript: click one after another, faster than any of them is carried out."""


def test_of_steps_that_are_clicked_through_the_last_is_entered(app: Any, tab: Callable[..., Any]) -> None:
    visit = tab().start(app.url)
    page = visit.page
    take(page, "enterprise")
    stands(page, "usecases", "groups")
    seen = page.evaluate("history.length")
    page.evaluate(CLICK, ["demand", "hosts", "network", "compare", "design", "cost"])
    stands(page, "cost")
    assert page.evaluate("history.length") == seen + 2, (
        "the first, which was sent before the others, and the last"
    )
    page.evaluate(CLICK, ["tab-money", "tab-bill", "tab-power", "hosts", "cost"])
    stands(page, "cost", "power")
    assert visit.errors == []


def test_a_link_opens_the_step_that_was_shared(app: Any, tab: Callable[..., Any], page: Any) -> None:
    reader, page = page(), tab().start(app.url).page
    page.evaluate(
        "Object.defineProperty(navigator, 'clipboard', { value: { writeText: async (text) => { window.copied = text; } } })"
    )
    take(page, "enterprise")
    go(page, "hosts")
    open_tab(page, "power-on")
    at(page, "share").click()
    until(page, "Boolean(window.copied)")
    link = page.evaluate("window.copied")
    assert "?" not in link.partition("#")[0]
    other = reader.open(link).page
    stands(other, "hosts", "power-on")
    fragment = link_of(load_scenario("starter")).fragment
    for place, step in (
        (f"{PLACE}network/fabric", "network"),
        (f"{PLACE}no-such/step", "usecases"),
        ("", "hosts"),
    ):
        other.evaluate("(link) => { location.hash = link; }", fragment + place)
        until(other, "document.querySelector('.gp-name').value", "Starter example")
        stands(other, step)
        other.go_back()
        until(other, "document.querySelector('.gp-name').value", "Enterprise example")
        stands(other, "hosts", "power-on")
    other.evaluate(
        "(place) => { location.hash = location.hash.split('&')[0] + place; }", f"{PLACE}cost/prices"
    )
    stands(other, "cost", "prices")
    other.go_back()
    stands(other, "hosts", "power-on")
