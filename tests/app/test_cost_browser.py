"""The cost step in a real browser: what a person sees and does there."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

pytestmark = pytest.mark.browser

PRICE = "Price, VMware Cloud Foundation"


@pytest.fixture
def cost(example: Callable[[str, str], Any]) -> Callable[[str], Any]:
    """Opens an example at this step."""

    def at(name: str) -> Any:
        page = example(name, "Cost")
        page.locator(".gp-chart svg text", has_text="Start").first.wait_for()
        return page

    return at


def figure(page: Any) -> Any:
    return page.locator(".gp-figure", has_text="Cost over")


def wait_value(page: Any, other_than: str) -> str:
    figure(page).locator("b", has_not_text=re.compile(f"^{re.escape(other_than)}$")).wait_for(timeout=5000)
    return str(figure(page).locator("b").inner_text())


def test_a_price_edited_in_place_changes_the_strip_and_undo_restores_it(cost: Callable[[str], Any]) -> None:
    page = cost("Enterprise example")
    before = figure(page).locator("b").inner_text()
    price = page.get_by_label(PRICE, exact=True)
    assert price.input_value() == ""
    price.fill("700")
    after = wait_value(page, before)
    assert after != before
    assert price.evaluate("node => node === document.activeElement")  # typing is never interrupted
    price.press("Tab")
    row = page.locator(".gp-sheet tbody", has_text="VMware Cloud Foundation")
    row.get_by_text("stated in this design").wait_for(timeout=5000)
    page.get_by_role("button", name="Undo").click()
    assert wait_value(page, after) == before
    price.fill("700")
    price.press("Tab")
    assert wait_value(page, before) == after
    row.get_by_role("button", name="back to the catalog").click()
    assert wait_value(page, after) == before


def test_a_price_that_nobody_knows_is_named_and_can_be_stated(cost: Callable[[str], Any]) -> None:
    page = cost("Enterprise example")
    page.locator("nav").get_by_text("Network").click()
    page.get_by_label("Link per GPU host", exact=True).select_option("10")
    page.locator(".gp-figure", has_text="excl.").wait_for(timeout=5000)
    figure(page).click()
    drawer = page.locator(".gp-drawer")
    drawer.get_by_text("The cost excludes").wait_for()
    left_out = drawer.locator("[data-at^='visit-prices.']").first
    name = left_out.inner_text()
    left_out.click()
    field = page.get_by_label(f"Price, {name}", exact=True)
    field.wait_for()
    page.wait_for_function(
        "label => document.activeElement.getAttribute('aria-label') === label", arg=f"Price, {name}"
    )
    assert field.get_attribute("placeholder") == "unknown"
    many = int(re.findall(r"excl\. (\d+)", figure(page).inner_text())[0])
    page.keyboard.type("100")
    page.keyboard.press("Tab")
    text = f"excl. {many - 1} " if many > 1 else "net present"
    page.locator(".gp-figure", has_text=text).wait_for(timeout=5000)


def test_what_the_cost_leaves_out_is_printed_by_name(cost: Callable[[str], Any]) -> None:
    page = cost("Starter example")
    said = page.locator(".gp-said", has_text="Cost excludes")
    names = said.get_by_role("button").all_inner_texts()
    assert names
    page.emulate_media(media="print")
    assert all(name in said.inner_text() for name in names)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_on_paper_no_year_is_cut_off_and_dark_is_light(
    app: Any, page: Callable[..., Any], theme: str
) -> None:
    visit = page().open(f"{app.url}?theme={theme}", "Enterprise example")
    opened = visit.step("Enterprise example", "Cost")
    opened.locator(".gp-chart svg text", has_text="Start").first.wait_for()
    opened.emulate_media(media="print")
    narrower = """node => {
      node.style.width = "600px";  // as paper is narrower than the screen, without a chance to draw again
      return [node, node.querySelector("svg")].map(each => each.getBoundingClientRect().right);
    }"""
    paper, drawn = opened.locator(".gp-chart:visible").first.evaluate(narrower)
    assert drawn <= paper + 1
    looks = "(node) => [getComputedStyle(node).color, getComputedStyle(node).backgroundColor]"
    assert opened.locator(".gp-card:visible").first.evaluate(looks) == [
        "rgb(26, 34, 48)",
        "rgb(255, 255, 255)",
    ]


def test_a_wrong_rate_is_said_beside_its_field_and_the_last_plan_stays(cost: Callable[[str], Any]) -> None:
    page = cost("Starter example")
    before = figure(page).locator("b").inner_text()
    currency = page.get_by_label("Currency", exact=True)
    currency.fill("EUR")
    currency.press("Tab")
    page.get_by_text("how much EUR is one US dollar?").first.wait_for(timeout=5000)
    assert figure(page).locator("b").inner_text() == before
    page.get_by_text("figures of the last good plan").wait_for()
    rate = page.get_by_label("One US dollar is", exact=True)
    rate.fill("many")
    rate.press("Tab")
    page.get_by_text("is not allowed: a number").first.wait_for(timeout=5000)
    rate.fill("2")
    rate.press("Tab")
    page.locator(".gp-figure", has_text="EUR").wait_for(timeout=5000)
    page.locator(".gp-problem:visible").first.wait_for(state="detached", timeout=5000)


def test_why_a_gpu_hour_costs_so_much_down_to_a_price(cost: Callable[[str], Any]) -> None:
    page = cost("Enterprise example")
    page.locator(".gp-fact", has_text="A GPU-hour used").get_by_role("button").click()
    drawer = page.locator(".gp-drawer")
    drawer.get_by_role("button", name="Net present cost").click()
    drawer.get_by_role("button", name="Paid at the start").click()
    drawer.get_by_text("How well").or_(drawer.get_by_text("Known from")).first.wait_for()
    page.keyboard.press("Escape")
    page.locator(".gp-figure", has_text="Typical power").click()
    drawer.get_by_text("At peak it is").wait_for()


def test_alternatives_are_worked_out_when_they_are_opened(cost: Callable[[str], Any]) -> None:
    page = cost("Current-generation example")
    for summary, text in (
        ("Silos against the pool", "Alone the groups need"),
        ("Rent or buy", "it is cheaper to"),
        ("N+1 or N+2", "An hour removed"),
        ("Year by year", "GPU-hours used"),
    ):
        page.locator("summary", has_text=summary).click()
        page.locator("details[open]", has_text=text).first.wait_for(timeout=10000)


@pytest.mark.parametrize(("theme", "width"), [("light", 820), ("dark", 1280), ("light", 1920)])
def test_axe_finds_nothing_and_nothing_scrolls_sideways(
    audited: Callable[[str, int], Any], theme: str, width: int
) -> None:
    opened = audited(theme, width)
    opened.step("Current-generation example", "Cost")
    opened.unfold()
    for text in ("Alone the groups need", "it is cheaper to", "An hour removed", "GPU-hours used"):
        opened.page.locator("details[open]", has_text=text).first.wait_for(timeout=10000)
    assert opened.faults() == []
