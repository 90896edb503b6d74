"""The network step in a real browser: what a person sees and does there."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from browsing import at, caught_up, figure, finished, focused, have, is_value, open_tab

from gpuplan.app.screen import PAGES
from gpuplan.app.steps.training import VIEWS

NETWORK = PAGES["network"]
pytestmark = pytest.mark.browser


@pytest.fixture
def network(example: Callable[[str, str], Any]) -> Callable[[str], Any]:
    """Opens an example at this step."""

    def at(name: str) -> Any:
        page = example(name, "network")
        page.locator(".gp-lane-name").first.wait_for()
        return page

    return at


def row(page: Any, group: str) -> Any:
    """What is said of a group's GPUs over the network."""
    return have(page, "tr", f"groups.{group}.workload")


def drawing(page: Any) -> str:
    if not page.locator("svg.gp-fabric").count():
        open_tab(page, "fabric")
        page.locator("svg.gp-fabric").wait_for()
    return str(page.locator("svg.gp-fabric").get_attribute("aria-label"))


def enough(line: Any) -> Any:
    """The mark of a row for which the link is enough."""
    return line.locator(".gp-mark-word.gp-good")


def test_a_slower_link_shows_at_once_what_it_costs(network: Callable[[str], Any]) -> None:
    page = network("enterprise")
    assert re.search(r"\b2 shared \+ 1 RDMA\b.*\b100 Gbit/s", drawing(page)), "ports of a host"
    open_tab(page, "verdict")
    scientists = page.locator(".gp-lane", has_text="Data scientists")
    assert "90 %" in scientists.inner_text()
    assert enough(scientists).count() == 1
    finished(page)
    page.locator("h1", has_text="100 Gbit/s PVRDMA is enough for remote GPUs").filter(
        has_text="25 Gbit/s"
    ).wait_for()
    at(page, "link-10").click()
    at(page, "network.transport").select_option("tcp")
    scientists.locator(".gp-mark-word.gp-bad").wait_for()
    caught_up(page)
    assert "52 %" in scientists.inner_text()
    is_value(page, "network.link_gbit_s", "10")
    page.locator("h1", has_text="too slow for").wait_for()
    open_tab(page, "remote")
    rule = page.locator("tr", has_text="40 to 100 Gbit/s")
    assert rule.locator(".gp-mark-word.gp-bad, .gp-mark-word.gp-warn").count() == 1, "it is not met"
    assert "RDMA" not in drawing(page)
    assert "10 Gbit/s" in drawing(page)
    leaves = at(page, "network.fabric.leaves").inner_text()
    assert drawing(page).startswith(f"{leaves} ")
    assert page.locator(".gp-f-leaf").count() == int(leaves)
    figure(page, "messages").click()
    page.locator(".gp-drawer [data-code]", has_text="Data scientists").filter(
        has_text="ResNet-50"
    ).first.wait_for()
    at(page, "undo").click()
    at(page, "undo").click()
    open_tab(page, "verdict")
    enough(scientists).wait_for()


def test_why_a_share_is_lost_down_to_the_time_of_a_step(network: Callable[[str], Any]) -> None:
    page = network("enterprise")
    open_tab(page, "remote")
    why = row(page, "hpc").locator(".gp-why").first
    assert why.inner_text() == "97 %"
    why.click()
    drawer = page.locator(".gp-drawer")
    step = at(drawer, "network.remote.hpc.time_s")
    step.click()
    drawer.locator(".gp-formula").wait_for()
    step.wait_for(state="detached")
    page.keyboard.press("Escape")
    drawer.wait_for(state="detached")
    open_tab(page, "fabric")
    at(page, "network.fabric.oversubscription").click()
    drawer.locator(".gp-formula", has_text="/").wait_for()


def test_the_starter_design_shows_what_was_measured(network: Callable[[str], Any]) -> None:
    page = network("starter")
    open_tab(page, "traffic")

    def carries(workload: str) -> Any:
        return page.locator("tr", has=page.get_by_role("cell", name=workload, exact=True))

    assert "97 %" in carries("ResNet-50 training, batch 256").first.inner_text()
    small = carries("ResNet-50 inference, batch 1").first
    assert "62 %" in small.inner_text()
    assert small.locator(".gp-mark-word.gp-bad").count() == 1
    assert page.get_by_role("img", name="62 %").count() >= 1


def test_the_work_of_a_group_is_chosen_with_the_keyboard(network: Callable[[str], Any]) -> None:
    page = network("starter")
    open_tab(page, "remote")
    work = at(page, "groups.data-scientists.workload")
    work.focus()
    work.select_option("resnet-50-infer-1")
    row(page, "data-scientists").locator(".gp-mark-word.gp-bad").wait_for()
    focused(page, "groups.data-scientists.workload")
    page.locator("[data-at^='visit-network.link_gbit_s']").first.click()
    focused(page, "network.link_gbit_s")


def test_training_is_a_chart_and_the_same_as_a_table(network: Callable[[str], Any]) -> None:
    page = network("starter")
    open_tab(page, "training")
    page.locator(".gp-said", has_text="An example only, until you enter a job").wait_for()
    at(page, "training.workload").select_option("vgg-16-train-64")
    curves = page.locator(".gp-curves li", has_text="10 Gbit/s TCP (")
    curves.wait_for()
    page.locator(".gp-said", has_text="An example").wait_for(state="detached")
    chart = page.locator(".gp-chart svg")
    chart.locator("text", has_text="Efficiency").first.wait_for()
    at(page, "look-scaling").select_option(VIEWS["speed"])
    chart.locator("text", has_text="Samples").first.wait_for()
    at(page, "scaling").click()
    page.get_by_role("columnheader", name="10 Gbit/s TCP (").wait_for()
    at(page, "training.epochs").fill("90")
    at(page, "network.job.hours").wait_for()


@pytest.mark.by_day("axe", 3)
@pytest.mark.parametrize(("theme", "width"), [("dark", 820), ("light", 1280)])
def test_axe_finds_nothing_and_nothing_scrolls_sideways(
    audited: Callable[[str, int], Any], theme: str, width: int
) -> None:
    opened = audited(theme, width)
    page = opened.step("starter", "network")
    for tab in NETWORK.tabs:
        open_tab(page, tab.name)
        opened.unfold()
        caught_up(page)
        assert opened.faults() == [], tab.name
    assert opened.errors == []
