"""What if in a real browser, in the app and as a page from a file: moved by keys, it says what the plan says."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from browsing import at, caught_up, figures, finished, go, open_tab, violations
from random_cases import of_the_day

from gpuplan import load_catalog, load_scenario, make_plan
from gpuplan.deliver.what_if import WhatIf, what_if, what_if_page
from gpuplan.wording import money, number, said

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def found() -> WhatIf:
    """The answers of the smallest example."""
    return what_if(make_plan(load_scenario("enterprise"), load_catalog()))


@pytest.fixture
def opened(browser: Any, found: WhatIf, tmp_path: Path) -> Iterator[Any]:
    """The page in a tab; nothing but itself may be requested, and nothing logged."""
    file = tmp_path / "what-if.html"
    file.write_text(what_if_page(found), encoding="utf-8")
    context = browser.new_context(viewport={"width": 1280, "height": 800}, offline=True)
    page = context.new_page()
    heard: list[str] = []
    page.on("request", lambda request: heard.append(request.url))
    page.on("console", lambda message: heard.append(message.text))
    page.on("pageerror", lambda error: heard.append(str(error)))
    page.goto(file.as_uri())
    yield page
    assert heard == [file.as_uri()]
    context.close()


def text(page: Any, key: str) -> str:
    return str(page.locator(f'[data-at="{key}"]').text_content())


def test_a_moved_slider_shows_the_figures_of_the_plan(opened: Any, found: WhatIf) -> None:
    designed = text(opened, "row-net_present")
    opened.keyboard.press("Tab")  # Print
    for _ in range(2):
        opened.keyboard.press("Tab")
        opened.keyboard.press("ArrowRight")
    people, failures, _ = found.axes
    assert opened.locator("#axis-1").evaluate("e => e === document.activeElement")
    scenario = found.scenario.with_value(people.path, people.values[people.own + 1])
    plan = make_plan(scenario.with_value(failures.path, failures.values[failures.own + 1]), load_catalog())
    assert plan.costs
    assert text(opened, "hosts") == number(plan.totals.hosts)
    assert text(opened, "gpus") == number(plan.totals.gpus)
    assert text(opened, "row-net_present") == money(plan.costs.net_present, "").strip() != designed
    assert "4 users" in str(opened.locator("#axis-0").get_attribute("aria-valuetext"))
    opened.locator("#back").press("Enter")
    assert text(opened, "row-net_present") == designed
    assert opened.locator("#back").is_disabled()


@pytest.mark.parametrize(("theme", "width"), of_the_day([("light", 1280), ("dark", 820), ("light", 390)], 1))
def test_it_is_accessible_and_nothing_scrolls_sideways(opened: Any, theme: str, width: int) -> None:
    opened.emulate_media(color_scheme=theme)
    opened.set_viewport_size({"width": width, "height": 800})
    opened.locator("#axis-0").press("ArrowRight")
    assert opened.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert violations(opened) == []


def test_the_sliders_and_the_chart_fit_a_screen(opened: Any) -> None:
    lowest = "Math.max(...[...document.querySelectorAll('.sliders, .chart')].map(e => e.getBoundingClientRect().bottom))"
    assert opened.evaluate(f"{lowest} <= innerHeight")


def test_two_sheets_of_paper_hold_it(opened: Any) -> None:
    from io import BytesIO

    from pypdf import PdfReader

    opened.locator("#axis-0").press("ArrowRight")
    pages = PdfReader(BytesIO(opened.pdf(prefer_css_page_size=True))).pages
    texts = [" ".join(page.extract_text().split()) for page in pages]
    assert len(pages) == 2 and "2 / 2" in texts[1]
    assert "4 users" in texts[0] and said("whatif.fixed") in texts[1]
    assert said("whatif.back") not in " ".join(texts)


HOSTS = ".gp-try .gp-fact b >> nth=0"


def positions(page: Any) -> list[str]:
    return page.locator("[role=slider]").evaluate_all("(all) => all.map((each) => each.ariaValueNow)")  # type: ignore[no-any-return]


def test_keys_move_a_slider_in_the_app_and_apply_is_undone_in_one_step(example: Callable[..., Any]) -> None:
    page = example("starter", "cost")
    open_tab(page, "what-if")
    finished(page)
    strip, own, hosts = figures(page), positions(page), page.locator(HOSTS).inner_text()
    failures = at(page, "slide-availability.host_failures")
    failures.focus()
    page.keyboard.press("ArrowRight")
    caught_up(page)
    plan = make_plan(load_scenario("starter").with_value("availability.host_failures", 2), load_catalog())
    assert page.locator(HOSTS).inner_text() == number(plan.totals.hosts) != hosts
    assert figures(page) == strip, "the strip stays the design's"
    assert failures.evaluate("e => e === document.activeElement")
    assert "N+2" in str(failures.get_attribute("aria-valuetext"))
    go(page, "usecases")
    open_tab(page, "what-if")
    assert page.locator(HOSTS).inner_text() == number(plan.totals.hosts), "both steps show the same"
    at(page, "what-if-apply").click()
    caught_up(page)
    assert figures(page)["totals.hosts"] == number(plan.totals.hosts)
    at(page, "undo").click()
    caught_up(page)
    assert figures(page) == strip and positions(page) == own and page.locator(HOSTS).inner_text() == hosts


def test_a_page_that_is_loaded_again_has_nothing_half_applied(example: Callable[..., Any]) -> None:
    page = example("starter", "usecases")
    open_tab(page, "what-if")
    strip, own = figures(page), positions(page)
    at(page, "slide-availability.host_failures").press("ArrowRight")
    caught_up(page)
    assert positions(page) != own
    page.reload()
    page.locator(".gp-slider").first.wait_for()
    caught_up(page)
    assert positions(page) == own and figures(page) == strip
