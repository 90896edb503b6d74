"""The network step in a real browser: what a person sees and does there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

pytestmark = pytest.mark.browser


@pytest.fixture
def network(example: Callable[[str, str], Any]) -> Callable[[str], Any]:
    """Opens an example at this step."""

    def at(name: str) -> Any:
        page = example(name, "Network")
        page.get_by_role("img", name="leaf switches").wait_for()
        return page

    return at


def row(page: Any, card: str, name: str) -> Any:
    """A row of the first table of a card."""
    box = page.locator(".gp-card", has=page.get_by_role("heading", name=card, exact=False))
    return box.locator("tbody tr", has_text=name).first


def drawing(page: Any) -> str:
    return str(page.locator("svg.gp-fabric").get_attribute("aria-label"))


def test_a_slower_link_shows_at_once_what_it_costs(network: Callable[[str], Any]) -> None:
    page = network("Enterprise example")
    scientists = row(page, "GPUs over the network", "Data scientists")
    assert "90 %" in scientists.inner_text()
    assert "carried" in scientists.inner_text()
    assert "2 shared + 1 RDMA ports of 100 Gbit/s each" in drawing(page)
    page.get_by_label("Link per GPU host", exact=True).select_option("10")
    page.get_by_label("Transport", exact=True).select_option("tcp")
    scientists.get_by_text("not carried").wait_for(timeout=5000)
    assert "52 %" in scientists.inner_text()
    page.locator("tr", has_text="40 to 100 Gbit/s beyond a trial").get_by_text("not met").wait_for()
    assert "RDMA" not in drawing(page)
    assert "ports of 10 Gbit/s each" in drawing(page)
    leaves = page.locator('[data-at="network.fabric.leaves"]').inner_text()
    assert drawing(page).startswith(f"{leaves} leaf switches")
    assert page.locator(".gp-f-leaf").count() == int(leaves)
    page.locator(".gp-figure", has_text="Messages").click()
    page.locator(".gp-drawer").get_by_text("Data scientists: ResNet-50 training").wait_for()
    page.get_by_role("button", name="Undo").click()
    page.get_by_role("button", name="Undo").click()
    scientists.get_by_text("carried").wait_for(timeout=5000)


def test_why_a_share_is_lost_down_to_the_time_of_a_step(network: Callable[[str], Any]) -> None:
    page = network("Enterprise example")
    row(page, "GPUs over the network", "HPC users").get_by_role("button", name="Why 97 %").click()
    drawer = page.locator(".gp-drawer")
    assert "HPC users: slowdown over the network" in drawer.inner_text()
    drawer.get_by_role("button", name="HPC users: time of a step over the network").click()
    drawer.get_by_text("round trips").first.wait_for()
    page.keyboard.press("Escape")
    page.locator(".gp-fact", has_text="Oversubscription").get_by_role("button").click()
    drawer.get_by_text("Oversubscription of the busiest leaf").wait_for()


def test_the_starter_design_shows_what_was_measured(network: Callable[[str], Any]) -> None:
    page = network("Starter example")
    carries = "What this link carries"
    assert "97 %" in row(page, carries, "ResNet-50 training, batch 256").inner_text()
    small = page.locator(
        "tr", has=page.get_by_role("cell", name="ResNet-50 inference, batch 1", exact=True)
    ).inner_text()
    assert "62 %" in small
    assert "not carried" in small
    assert page.get_by_role("img", name="62 %, between").count() >= 1


def test_the_work_of_a_group_is_chosen_with_the_keyboard(network: Callable[[str], Any]) -> None:
    page = network("Starter example")
    work = page.get_by_label("Work of Data scientists")
    work.focus()
    work.select_option("resnet-50-infer-1")
    line = row(page, "GPUs over the network", "Data scientists")
    line.get_by_text("not carried").wait_for(timeout=5000)
    page.locator('[data-at="groups.data-scientists.workload"]:focus').wait_for()
    page.get_by_role("button", name="Link per GPU host", exact=True).first.click()
    page.locator('[data-at="network.link_gbit_s"]:focus').wait_for()


def test_training_is_a_chart_and_the_same_as_a_table(network: Callable[[str], Any]) -> None:
    page = network("Starter example")
    page.get_by_label("Training job", exact=True).select_option("vgg-16-train-64")
    page.get_by_text("a second host is not worth it").wait_for(timeout=5000)
    chart = page.locator(".gp-chart svg")
    page.locator(".gp-curves li", has_text="10 Gbit/s TCP (this design)").wait_for()
    chart.locator("text", has_text="Efficiency").first.wait_for()
    page.locator('[data-at="look-scaling"]').select_option("speed")
    chart.locator("text", has_text="Samples a second").first.wait_for()
    page.locator("summary", has_text="The same as a table").click()
    head = page.get_by_role("columnheader", name="10 Gbit/s TCP (this design)")
    head.wait_for()
    page.get_by_label("Epochs", exact=True).fill("90")
    page.get_by_text("90 epochs of").wait_for(timeout=5000)


@pytest.mark.parametrize(("theme", "width"), [("dark", 820), ("light", 1280), ("dark", 1920)])
def test_axe_finds_nothing_and_nothing_scrolls_sideways(
    audited: Callable[[str, int], Any], theme: str, width: int
) -> None:
    opened = audited(theme, width)
    opened.step("Starter example", "Network")
    opened.unfold()
    opened.page.get_by_role("columnheader", name="10 Gbit/s TCP (this design)").wait_for()
    opened.page.locator(".gp-curves li", has_text="this design").wait_for()
    opened.page.locator(".gp-chart svg").first.wait_for()
    assert opened.faults() == []
    assert opened.errors == []
