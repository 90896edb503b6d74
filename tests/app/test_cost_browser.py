"""The cost step in a real browser: what a person sees and does there."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from browsing import at, caught_up, enter, figure, have, open_tab, refused, wait_figure, wait_other

from gpuplan import load_catalog, load_scenario, make_plan
from gpuplan.app.screen import PAGES

pytestmark = pytest.mark.browser

PRICE = "prices.vcf-core-year"
COST = "cost.net_present"
TABS = PAGES["cost"].tabs


@pytest.fixture
def cost(example: Callable[[str, str], Any]) -> Callable[[str], Any]:
    """Opens an example at this step."""

    def at(name: str) -> Any:
        page = example(name, "cost")
        page.locator(".gp-chart svg text", has_text="Start").first.wait_for()
        return page

    return at


def shown(page: Any) -> str:
    return str(figure(page, COST).locator("b").inner_text())


def test_a_price_edited_in_place_changes_the_strip_and_undo_restores_it(cost: Callable[[str], Any]) -> None:
    page = cost("enterprise")
    before = shown(page)
    open_tab(page, "prices")
    price = at(page, PRICE)
    assert price.input_value() == ""
    price.fill("700")
    after = wait_other(page, COST, before)
    assert price.evaluate("node => node === document.activeElement")  # typing is never interrupted
    price.press("Tab")
    row = have(page, ".gp-sheet tbody", PRICE)
    back = row.locator("[data-at^=set-]")
    back.wait_for()  # back to the catalog
    at(page, "undo").click()
    wait_figure(page, COST, before)
    enter(page, PRICE, "700")
    wait_figure(page, COST, after)
    back.click()
    wait_figure(page, COST, before)


def test_ways_to_buy_for_growth_stand_beside_the_hosts_they_own(cost: Callable[[str], Any]) -> None:
    page = cost("current")
    open_tab(page, "growth")
    rows = page.locator(".gp-card tr", has_text="52")
    rows.first.wait_for()
    assert page.locator(".gp-card td.gp-bad:visible").count() == 3
    chart = page.locator(".gp-chart svg:visible")
    chart.locator("text", has_text="Year 5").first.wait_for()
    before = page.locator(".gp-card td.gp-strong:visible").first.inner_text()
    assert before in str(chart.first.text_content())


def test_what_the_cost_leaves_out_is_printed_by_name(cost: Callable[[str], Any]) -> None:
    page = cost("enterprise")
    plan = make_plan(load_scenario("enterprise"), load_catalog())
    assert plan.costs is not None and plan.costs.excludes
    said = page.locator(".gp-said", has_text="Cost excludes: ").first
    page.emulate_media(media="print")
    assert all(name in said.inner_text() for name in plan.costs.excludes)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_on_paper_no_year_is_cut_off_and_dark_is_light(app: Any, tab: Callable[..., Any], theme: str) -> None:
    opened = tab().start(f"{app.url}?theme={theme}").step("enterprise", "cost")
    opened.locator(".gp-chart svg text", has_text="Start").first.wait_for()
    caught_up(opened)
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
    page = cost("starter")
    before = shown(page)
    enter(page, "cost.currency", "EUR")
    page.locator(".gp-problem:visible", has_text="EUR").first.wait_for()
    assert shown(page) == before
    page.locator(".gp-stale-word").wait_for()
    enter(page, "cost.usd_rate", "many")
    refused(page, "cost.usd_rate", '"many"')
    enter(page, "cost.usd_rate", "2")
    figure(page, COST).filter(has_text="EUR").wait_for()
    page.locator(".gp-problem:visible").first.wait_for(state="detached")


def test_why_a_gpu_hour_costs_so_much_down_to_a_price(cost: Callable[[str], Any]) -> None:
    page = cost("enterprise")
    page.locator(".gp-prices").get_by_role("button", name="GPU-hour used").click()
    drawer = page.locator(".gp-drawer")
    for key in ("cost.net_present", "cost.years.0"):
        at(drawer, key).click()
    at(drawer, "cost.years.0").wait_for(state="detached")
    drawer.locator(".gp-basis").wait_for()
    page.keyboard.press("Escape")
    open_tab(page, "power")
    at(page, "power.typical").click()
    at(drawer, "power.peak").wait_for()


def test_a_long_table_is_searched_sorted_by_number_and_turned_and_paper_has_all_rows(
    cost: Callable[[str], Any],
) -> None:
    page = cost("enterprise")
    at(page, "tab-bill").click()
    rows = page.locator(".gp-part-panel tbody tr:not(.gp-off)")
    at(page, "table-0-search").wait_for()
    whole = page.locator(".gp-part-panel tbody tr")
    assert rows.count() < whole.count()
    first = rows.first.inner_text()
    at(page, "table-0-next").click()
    assert rows.first.inner_text() != first
    head = page.locator("th", has=at(page, "table-0-sort-4"))
    at(page, "table-0-sort-4").click()
    assert head.get_attribute("aria-sort") == "ascending"
    column = "(all) => all.map((each) => parseFloat(each.cells[4].innerText.replace(/[^0-9.]/g, ''))).filter(Number.isFinite)"
    paid = rows.evaluate_all(column)
    assert paid == sorted(paid)
    assert len(paid) > 3
    assert len({len(str(price)) for price in paid}) > 1, "as texts they would stand in another order"
    at(page, "table-0-sort-4").click()
    assert head.get_attribute("aria-sort") == "descending"
    assert rows.evaluate_all(column)[0] == max(paid)
    at(page, "table-0-search").press_sequentially("nvidia ai")
    assert rows.count() == 1
    page.emulate_media(media="print")
    assert all(row.is_visible() for row in whole.all())
    page.emulate_media(media="screen")
    at(page, "table-0-search").fill("no such part")
    assert rows.count() == 0
    page.locator("[role=status]", has_text="No match").wait_for()


def test_where_a_price_comes_from_opens_at_the_price(cost: Callable[[str], Any]) -> None:
    page = cost("starter")
    for tab in ("bill", "prices"):
        open_tab(page, tab)
        listed = page.locator(".gp-cites:visible")
        opener, sources = listed.first.locator("summary"), listed.first.locator("li")
        assert opener.get_attribute("aria-label") and not sources.first.is_visible()
        opener.press("Enter")
        sources.nth(1).wait_for()
        assert re.search(r"\d{4}", sources.first.inner_text()), "its day"
        page.keyboard.press("Escape")
        sources.first.wait_for(state="hidden")
        opener.click()
        sources.first.wait_for()
        listed.nth(1).locator("summary").click()
        sources.first.wait_for(state="hidden")


def test_what_else_it_could_cost_arrives_after_the_rest_and_follows_a_change(
    cost: Callable[[str], Any],
) -> None:
    page = cost("current")
    beside = page.locator(".gp-prices .gp-card", has=page.locator("h2 small", has_text="(NPV)"))
    silos = beside.locator("tr", has_text="Silos")
    silos.wait_for()
    assert shown(page).endswith(beside.locator("tr", has_text="This design").locator("td").last.inner_text())
    before = silos.inner_text()
    enter(page, "cost.years", "3")
    silos.filter(has_not_text=before.split("\t")[-1]).wait_for()
    assert shown(page).endswith(beside.locator("tr", has_text="This design").locator("td").last.inner_text())
    open_tab(page, "alternatives")
    page.locator("td", has_text="Silos: separate hosts for each workload").wait_for()


@pytest.mark.by_day("axe", 3)
@pytest.mark.parametrize(("theme", "width"), [("light", 820), ("dark", 1280)])
def test_axe_finds_nothing_and_nothing_scrolls_sideways(
    audited: Callable[[str, int], Any], theme: str, width: int
) -> None:
    opened = audited(theme, width)
    page = opened.step("current", "cost")
    for tab in TABS:
        open_tab(page, tab.name)
        opened.unfold()
        if tab.name in ("years", "alternatives"):
            page.locator("td", has_text=re.compile("Rented on demand")).first.wait_for()
        caught_up(page)
        assert opened.faults() == [], tab.name
