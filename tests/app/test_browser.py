"""The real app in a real browser: what a person sees and does."""

from __future__ import annotations

import json
import re
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
import yaml
from benchmark_results import Measured, vllm
from browsing import (
    REVISION,
    STATE,
    at,
    caught_up,
    choose,
    download,
    enter,
    fail,
    figure,
    figures,
    finished,
    focused,
    go,
    have,
    home,
    is_value,
    message,
    notice,
    open_tab,
    open_workload,
    pick,
    refused,
    reveal,
    take,
    unfold,
    until,
    wait_figure,
)
from model_configs import config_of
from random_cases import of_the_day
from waiting import LIMIT_S, LONG_S, soon

from gpuplan import load_catalog
from gpuplan.app.history import link_of
from gpuplan.app.screen import PAGES
from gpuplan.app.state import STEPS
from gpuplan.app.steps.methods import WHEN
from gpuplan.scenario import decode_scenario

pytestmark = pytest.mark.browser

ENTERPRISE = {
    "demand.gpus": "28 GPUs",
    "totals.hosts": "8",
    "totals.gpus": "32",
    "totals.unplaced_vms_after_failure": "All VMs fit",
    "messages": "4 open points",
}


def enterprise(page: Any) -> None:
    take(page, "enterprise")
    page.locator(".gp-workload").nth(4).wait_for()


def down(page: Any, *hosts: int) -> None:
    """Wait until what is said of the hosts speaks of these."""
    said = page.locator(".gp-verdict b").first
    numbers = r"\D+".join(map(str, hosts))
    said.filter(has_text=re.compile(rf"^\D*{numbers}\D*$")).wait_for()


def verdict(page: Any) -> str:
    return str(page.locator(".gp-verdict").first.inner_text())


def test_enterprise_example_is_one_click_away(visit: Any) -> None:
    enterprise(visit.page)
    shown = figures(visit.page)
    assert shown == shown | ENTERPRISE
    assert set(shown) - set(ENTERPRISE) == {"cost.net_present"}


@pytest.mark.parametrize(
    ("name", "hosts", "gpus", "after"),
    [
        ("starter", "8", "16", "14 after a host failure"),
        ("current", "10", "40", "36 after a host failure"),
    ],
)
def test_other_examples(visit: Any, name: str, hosts: str, gpus: str, after: str) -> None:
    take(visit.page, name)
    wait_figure(visit.page, "totals.hosts", hosts)
    assert figures(visit.page)["totals.gpus"] == gpus
    assert figure(visit.page, "totals.gpus").locator(".gp-figure-note").inner_text() == after


def test_typing_a_number_changes_every_figure_at_once(visit: Any) -> None:
    page = visit.page
    enterprise(page)
    reveal(page, "groups.researchers.people").fill("5")  # 2 more x 4 GPUs: 36 GPUs, 9 + 1 hosts
    wait_figure(page, "totals.hosts", "10")
    assert figures(page)["demand.gpus"] == "36 GPUs"
    at(page, "undo").click()
    wait_figure(page, "totals.hosts", "8")
    at(page, "redo").click()
    wait_figure(page, "totals.hosts", "10")


def test_the_first_number_of_a_presenter_moves_hosts_and_cost(visit: Any) -> None:
    """64 data scientists for 32: 36 GPUs on 10 hosts, all placed; the stated 28 stand beside, and either is a click away."""
    page = visit.page
    enterprise(page)
    before = figures(page)["cost.net_present"]
    reveal(page, "groups.data-scientists.people").fill("64")
    wait_figure(page, "totals.hosts", "10")
    caught_up(page)
    shown = figures(page)
    assert (shown["demand.gpus"], shown["totals.gpus"]) == ("36 GPUs", "40")
    assert shown["cost.net_present"] != before
    at(page, "take-total").click()
    wait_figure(page, "totals.hosts", "8")
    at(page, "take-groups").click()
    wait_figure(page, "totals.hosts", "10")


def test_a_failed_host_shows_who_lands_where(visit: Any) -> None:
    page = visit.step("enterprise", "hosts")
    fail(page, 3)
    page.locator(".gp-host.failed").wait_for()
    assert re.findall(r"\d+|H3", page.locator(".gp-host.landing .gp-host-head").inner_text()) == ["8", "H3"]
    down(page, 3)
    assert re.findall(r"\d+", verdict(page)) == ["3", "1"], "host 3 is lost, one VM restarts"
    fail(page, 4)
    down(page, 3, 4)
    assert verdict_row(page, "Data scientists") == ["Data scientists", "8", "0", "0", "8 VM 1\u20138"]
    at(page, "restore").click()
    page.locator(".gp-host.failed").first.wait_for(state="detached")
    page.locator(".gp-verdict.gp-good").wait_for()
    assert "host" not in page.locator(".gp-verdict b").first.inner_text(), "it speaks of no host"


def verdict_row(page: Any, group: str) -> list[str]:
    rows = page.locator(".gp-verdict + .gp-tables tbody tr", has_text=group)
    return [re.sub(r"^[A-Z](?=[A-Z][a-z])", "", text) for text in rows.locator("td").all_inner_texts()]


def test_maintenance_and_a_failure_at_once(visit: Any) -> None:
    page = visit.step("enterprise", "hosts")
    at(page, "click-maintain").click()
    fail(page, 1)
    page.locator('.gp-host.maintenance[data-at="vgpu-host-1"]').wait_for()
    row = verdict_row(page, "High-performance researchers")
    assert row[:2] == ["High-performance researchers", "2"]
    moves, stun, limit = map(int, re.findall(r"\d+", row[2]))
    assert moves == 1
    assert stun > limit
    at(page, "click-fail").click()
    fail(page, 4)
    down(page, 1, 4)
    assert verdict_row(page, "Data scientists")[-1] == "8 VM 1\u20138"
    assert at(page, "vgpu-host-1").get_attribute("aria-pressed") == "true"


def test_the_worst_failure_and_the_worst_pair(visit: Any) -> None:
    page = visit.step("enterprise", "hosts")
    at(page, "vgpu-worst-1").click()
    down(page, 6)
    assert re.findall(r"\d+", verdict(page))[1] == "18", "VMs restart"
    at(page, "vgpu-worst-2").click()
    down(page, 4, 6)
    assert re.findall(r"\d+", verdict(page))[2] == "20", "VMs without a GPU"
    open_tab(page, "failures")
    title = page.locator("h3", has_text="worst two-host failures")
    pairs = page.locator(".gp-page .gp-tables", has=title).locator("tbody tr")
    pairs.first.wait_for()
    worst = pairs.first.locator("td").all_inner_texts()[:4]
    assert re.findall(r"\d+", worst[0])[:2] == ["4", "6"]
    assert worst[1:] == ["6", "0", "20"]
    at(page, "pools.vgpu.failure.6").click()
    page.locator(".gp-drawer .gp-formula", has_text=re.compile(r"^18\b.*\b0\b.*\b0\b")).wait_for()


def test_the_worst_failure_beside_a_host_in_maintenance(visit: Any) -> None:
    page = visit.step("enterprise", "hosts")
    at(page, "click-maintain").click()
    fail(page, 6)
    page.locator(".gp-worst > span", has_text="6").wait_for()
    at(page, "vgpu-worst-1").click()
    down(page, 6, 8)
    assert re.findall(r"\d+", verdict(page))[2] == "18", "VMs without a GPU"
    assert page.locator(".gp-host.maintenance").count() == 1
    assert page.locator(".gp-verdict + .gp-tables tr", has_text="Developers").locator(".gp-note-warn").count()


def test_a_sharing_mode_that_does_not_exist_is_refused_with_its_rule(visit: Any) -> None:
    page = visit.step("enterprise", "hosts")
    at(page, "platform.vsphere").select_option("8.0u3")
    open_tab(page, "hardware")
    sizes = at(page, "platform.vgpu_sizes")
    sizes.select_option("mixed")
    refused(page, "platform.vgpu_sizes", "Volta", "Turing", "NVIDIA")
    assert figures(page)["totals.hosts"] == "8"
    page.locator(".gp-allowed h2", has_text="vSphere 8.0 Update 3").wait_for()
    at(page, "allowed-mixed").click()
    have(page, "details", "allowed-mixed").locator("p", has_text="Turing").wait_for()
    assert at(page, "allowed-mixed").locator(".gp-sign.gp-no").count() == 1
    sizes.select_option("equal")
    page.locator('[data-at="platform.vgpu_sizes"][aria-invalid=false]').wait_for()


def test_inputs_of_a_vm_keep_what_is_typed(visit: Any) -> None:
    page = visit.page
    enterprise(page)
    open_tab(page, "vms")
    field = at(page, "groups.hpc.vcpus_each")
    if not field.is_visible():
        unfold(page, "groups.hpc.vcpus_each")
    field.fill("0")
    field.press("Tab")
    refused(page, "groups.hpc.vcpus_each", "vCPUs per VM", '"0"', "1")
    focused(page, "groups.hpc.memory_gib_each")
    at(page, "undo").click()
    page.locator('[data-at="groups.hpc.vcpus_each"][aria-invalid=false]').wait_for()
    is_value(page, "groups.hpc.vcpus_each", "")


def test_a_message_leads_to_a_field_that_is_folded_away(visit: Any) -> None:
    page = visit.page
    enterprise(page)
    figure(page, "messages").click()
    at(page, "messages-next").click()
    path = "hardware.vcpus_per_core"
    message(page, "inputs-assumed").get_by_role("button").click()
    focused(page, path)
    assert at(page, path).get_attribute("placeholder").startswith("1 ")
    at(page, path).fill("2")
    page.locator("[data-at='undo']:enabled").wait_for()


def test_many_hosts_are_a_picture_of_their_kinds(visit: Any, tmp_path: Path) -> None:
    page = visit.page
    file = tmp_path / "large.yaml"
    groups = [
        {"id": "large", "name": "Large", "use_case": "high-end-training", "people": 100, "gpus_each": 8},
        {"id": "half", "name": "Half", "people": 640, "gpus_each": 0.5, "remote_allowed": False},
    ]
    file.write_text(yaml.safe_dump({"name": "Large", "hardware": {"gpus_per_host": 8}, "groups": groups}))
    choose(page, file)
    wait_figure(page, "totals.hosts", "143")  # two clusters of 51, one of 41
    go(page, "hosts")
    tiles = page.locator(".gp-host")
    tiles.first.wait_for()
    counts = ["50", "1", "50", "1", "40", "1"]
    assert [tiles.nth(i).locator("b").inner_text() for i in range(6)] == [f"\u00d7\u202f{n}" for n in counts]
    tiles.first.click()
    down(page, 1)
    assert re.findall(r"\d+", verdict(page)) == ["1", "1"], "one VM restarts"
    tiles.first.click()
    down(page, 1, 2)
    assert re.findall(r"\d+", verdict(page))[2] == "1", "one VM is without a GPU"
    assert re.findall(r"\d+", tiles.first.locator(".gp-host-head span").inner_text()) == ["2"]
    back = page.locator(".gp-back")
    back.filter(has_text="2").or_(back).first.focus()
    page.keyboard.press("Enter")
    down(page, 1)
    page.locator(".gp-back:focus").wait_for()
    page.keyboard.press("Enter")
    page.locator(".gp-host:focus").wait_for()  # nobody is left to bring back
    back.wait_for(state="detached")
    tiles.last.click()  # the only host of its kind
    page.locator(".gp-host.failed:disabled").wait_for()
    back.press("Enter")
    page.locator(".gp-host:focus").wait_for()


def test_posture_changes_the_spare_hosts(visit: Any) -> None:
    page = visit.step("enterprise", "hosts")
    accepted = at(page, "availability.maintenance_failure_accepted")
    at(page, "n2").click()
    wait_figure(page, "totals.hosts", "9")
    accepted.uncheck()
    wait_figure(page, "totals.hosts", "10")
    at(page, "n0").click()
    wait_figure(page, "totals.hosts", "8")
    accepted.check()
    wait_figure(page, "totals.hosts", "7")
    figure(page, "totals.hosts").get_by_text("7 without failover").wait_for()


def test_the_chart_is_drawn_without_the_internet(visit: Any) -> None:
    page = visit.step("enterprise", "hosts")
    open_tab(page, "failures")
    page.locator(".gp-chart svg").wait_for()
    caught_up(page)
    assert {"32", "28", "24"} <= set(page.locator(".gp-chart svg text").all_text_contents())


def test_why_explains_a_figure_down_to_its_inputs(visit: Any) -> None:
    page = visit.page
    enterprise(page)
    figure(page, "totals.hosts").click()
    drawer = page.locator(".gp-drawer")
    formula = drawer.locator(".gp-formula")
    formula.filter(has_text=re.compile(r"^7\s.*\+ 1\s.*= 8$")).wait_for()
    at(drawer, "pools.vgpu.hosts_for_demand").click()
    formula.filter(has_text=re.compile(r"^28\s.*/ 4\s.*= 7\b")).wait_for()
    assert "Sharing GPUs in Machine Learning Environments" in drawer.inner_text(), "the source"
    at(drawer, "back").click()
    formula.filter(has_text=re.compile(r"= 8$")).wait_for()
    page.keyboard.press("Escape")
    drawer.wait_for(state="detached")


def test_a_bad_number_is_said_beside_its_field_and_the_last_good_plan_stays(visit: Any) -> None:
    page = visit.page
    enterprise(page)
    people = "groups.data-scientists.people"
    enter(page, people, "-3")
    refused(page, people, '"-3"', "0", "100\u202f000")
    shown = figures(page)
    assert shown == shown | ENTERPRISE
    page.locator(".gp-stale-word").wait_for()
    go(page, "hosts")
    at(page, "hardware.gpus_per_host").fill("6")
    refused(page, "hardware.gpus_per_host", "6", "PowerEdge C4140", "4")
    go(page, "usecases")
    assert at(page, people).input_value() == "-3"
    at(page, people).fill("32")
    go(page, "hosts")
    at(page, "hardware.gpus_per_host").fill("4")
    page.locator(".gp-stale-word").wait_for(state="detached")


def test_the_page_is_set_in_the_typeface_that_comes_with_it_and_asks_no_other_host(visit: Any) -> None:
    page = visit.page
    enterprise(page)
    until(page, "[...document.fonts].some((face) => face.family === 'Inter' && face.status === 'loaded')")
    widths = """(digits) => [...digits].map((digit) => {
      const line = Object.assign(document.createElement("span"), { textContent: digit.repeat(20) });
      document.querySelector(".gp-head h1").append(line);
      const { width } = line.getBoundingClientRect();
      line.remove();
      return width;
    })"""
    assert len(set(page.evaluate(widths, "0123456789"))) == 1
    assert visit.errors == []


BOXES = """() => Object.fromEntries([...document.querySelectorAll(".gp-figure, nav button, .gp-tabs button, .gp-head")]
  .map((each) => [each.dataset.at ?? "head", Object.values(each.getBoundingClientRect().toJSON())]))"""
"""JavaScript: the place of everything around the inputs."""


def test_nothing_around_the_inputs_moves_when_an_error_comes_or_goes(visit: Any) -> None:
    page, path = visit.page, "cost.discount_rate"
    enterprise(page)
    enter(page, "groups.hpc.people", "6")
    before = page.evaluate(BOXES)
    enter(page, "groups.hpc.people", "x")
    refused(page, "groups.hpc.people", '"x"')
    marked = [".gp-workload-row", '.gp-tabs [data-at="tab-groups"]', 'nav [data-at="usecases"]']
    for each in marked:
        page.locator(f"{each} .gp-wrong").wait_for()
    assert page.evaluate(BOXES) == before
    enter(page, "groups.hpc.people", "6")
    page.locator(".gp-stale-word").wait_for(state="detached")
    assert page.locator(".gp-wrong").count() == 0 and page.evaluate(BOXES) == before
    reveal(page, path)
    before = page.evaluate(BOXES)
    enter(page, path, "many")
    refused(page, path, '"many"')
    page.locator(".gp-tabs .gp-wrong").wait_for()
    assert page.evaluate(BOXES) == before


def test_an_input_that_does_not_go_with_what_was_typed_is_named_and_one_click_away(visit: Any) -> None:
    page = visit.page
    enterprise(page)
    enter(page, "hardware.gpus_per_host", "1")
    refused(page, "hardware.gpus_per_host", "GPUs per VM", "4", "at most 1")
    at(page, "wrong").click()
    focused(page, "groups.researchers.gpus_each")


def test_escape_takes_back_what_is_being_typed(visit: Any) -> None:
    page = visit.page
    enterprise(page)
    people = reveal(page, "groups.data-scientists.people")
    people.press("End")
    people.press("Backspace")
    people.press("Backspace")
    people.press_sequentially("64")
    wait_figure(page, "demand.gpus", "36 GPUs")
    assert figure(page, "demand.gpus").locator("em").inner_text() == "was 28 GPUs, +8"
    people.press("Escape")
    wait_figure(page, "demand.gpus", "28 GPUs")
    assert people.input_value() == "32"
    people.press("Tab")
    caught_up(page)
    assert "Data scientists" not in (at(page, "undo").get_attribute("title") or "")


def test_what_is_assumed_is_confirmed_with_one_click_and_by_whom_is_added_later(visit: Any) -> None:
    page = visit.page
    enterprise(page)
    path = "groups.hpc.active_share"
    reveal(page, path)
    mark = at(page, f"known-{path}")
    mark.click()
    mark.filter(has_text="confirmed").wait_for()
    caught_up(page)
    focused(page, f"known-{path}")
    mark.click()
    page.keyboard.type("Ann, 5 May")
    page.keyboard.press("Enter")
    until(page, f"document.querySelector('[data-at=\"known-{path}\"]').title.includes('Ann, 5 May')")
    focused(page, f"known-{path}")
    mark.click()
    at(page, f"doubt-{path}").click()
    mark.filter(has_text="assumed").wait_for()
    at(page, "undo").click()
    mark.filter(has_text="confirmed").wait_for()


def test_names_with_html_are_text(visit: Any) -> None:
    page = visit.page
    enterprise(page)
    enter(page, "groups.developers.name", '<img src=x onerror="document.title=1"><b>Bold</b>')
    page.locator(".gp-workload-name", has_text="<b>Bold</b>").wait_for()
    open_tab(page, "access")
    page.locator(".gp-modes", has_text="<b>Bold</b>").wait_for()
    for step in ("hosts", "design"):
        go(page, step)
    assert page.locator(".gp-app img[onerror]").count() == 0
    assert page.title() == "gpuplan"


def test_workloads_are_added_by_kind_copied_moved_and_deleted(visit: Any) -> None:
    page = visit.page
    at(page, "blank").click()
    rows = page.locator(".gp-workload")
    page.locator(".gp-empty:visible").first.wait_for()
    at(page, "add-high-end-training").click()
    wait_figure(page, "demand.gpus", "4 GPUs")
    focused(page, "groups.training.name")
    page.locator("[data-at^=duplicate-]").click()
    wait_figure(page, "demand.gpus", "8 GPUs")
    at(page, "add-dev-test").click()
    focused(page, "groups.development.name")
    assert page.locator(".gp-workload-open").count() == 1, "one is open at a time"
    at(page, "move-1-development").click()
    page.locator('.gp-workload:nth-child(2)[data-group="development"]').wait_for()
    open_workload(page, "training")
    page.locator('[data-at="delete-training"]').click()
    wait_figure(page, "demand.gpus", "5 GPUs")
    rows.nth(2).wait_for(state="detached")  # drawn after the strip
    assert rows.count() == 2


def test_the_first_field_of_a_workload_is_six_stops_away(visit: Any) -> None:
    page = visit.page
    enterprise(page)
    caught_up(page)
    page.reload()  # the keyboard begins where the page does
    at(page, "workload-researchers").wait_for()
    caught_up(page)
    page.keyboard.press("Tab")
    focused(page, "skip")
    page.keyboard.press("Enter")
    focused(page, "workload-researchers")
    page.keyboard.press("Enter")
    page.locator("[data-at=workload-researchers][aria-expanded=true]").wait_for()
    stops = 1
    while page.evaluate("document.activeElement.dataset.at") != "groups.researchers.name":
        page.keyboard.press("Tab")
        stops += 1
        assert stops <= 6
    open_workload(page, "hpc")
    assert page.locator("[data-at^=workload-][aria-expanded=true]").count() == 1
    at(page, "workload-hpc").click()
    page.locator(".gp-workload-open").wait_for(state="detached")


def test_the_workloads_of_every_example_fit_the_screen_when_closed(visit: Any) -> None:
    page = visit.page
    page.set_viewport_size({"width": 1280, "height": 800})
    for example in ("starter", "enterprise", "current", "assistant"):
        take(page, example)
        caught_up(page)
        assert page.evaluate("document.documentElement.scrollHeight") <= 800, example
        cut = page.evaluate("""() => [...document.querySelectorAll(".gp-workload-row :is(b, small, span)")]
            .filter((node) => node.scrollWidth > node.clientWidth + 1 && getComputedStyle(node).display !== "inline")
            .map((node) => node.textContent)""")
        assert cut == [], example
        home(page)


def test_saved_file_opens_again_and_a_bad_file_changes_nothing(visit: Any, tmp_path: Path) -> None:
    page = visit.page
    enterprise(page)
    enter(
        page, "groups.developers.people", "80"
    )  # 32 active x 1/8 = 4 GPUs: the groups need 30, and 28 are stated
    wait_figure(page, "demand.gpus", "30 GPUs")
    arrived = download(page, "save")
    assert arrived.suggested_filename == "enterprise-example.yaml"
    saved = tmp_path / "saved.yaml"
    arrived.save_as(saved)
    assert [g["people"] for g in yaml.safe_load(saved.read_text())["groups"]] == [3, 32, 2, 80, 1]

    home(page)
    take(page, "starter")
    wait_figure(page, "totals.gpus", "16")
    for name, content, words in [
        ("list.yaml", "- 1", ("list.yaml", "mapping")),
        ("bad.yaml", "hardware: {gpu: v9000}", ("bad.yaml", "hardware.gpu", '"v9000"')),
        ("big.yaml", "#" * 1_000_001, ("big.yaml", "1,000,001", "1,000,000")),
    ]:
        file = tmp_path / name
        file.write_text(content)
        choose(page, file)
        notice(page, "stop", *words)
        assert figures(page)["totals.gpus"] == "16"
    choose(page, saved)
    wait_figure(page, "demand.gpus", "30 GPUs")
    caught_up(page)  # the workloads of the design before are gone
    open_workload(page, "developers")
    is_value(page, "groups.developers.people", "80")


def test_reload_and_a_new_tab_restore_the_design_from_the_fragment(
    app: Any, visit: Any, tab: Callable[..., Any]
) -> None:
    first = visit.page
    enterprise(first)
    enter(first, "groups.hpc.people", "4")
    wait_figure(first, "demand.gpus", "30 GPUs")
    first.wait_for_url("**/#s=**")
    first.wait_for_url(
        f"**/#{link_of(decode_scenario(Path(download(first, 'save').path()).read_bytes())).fragment}**"
    )
    assert "?" not in first.url
    first.reload()
    first.locator(".gp-workload").nth(4).wait_for()
    is_value(first, "groups.hpc.people", "4")
    other = tab().design(first.url)
    open_workload(other.page, "hpc")
    is_value(other.page, "groups.hpc.people", "4")
    broken = tab().start(app.url + "#s=broken")
    broken.page.locator(".gp-notice.gp-stop").wait_for()
    assert broken.errors == []


def test_decisions_are_numbered_with_justification_and_implication(visit: Any) -> None:
    page = visit.page
    enterprise(page)
    go(page, "design")
    cards = page.locator(".gp-decisions > li")
    assert cards.count() == 10
    assert [c.locator(".gp-decision-number").inner_text() for c in cards.all()] == [
        str(n) for n in range(1, 11)
    ]
    assert cards.locator("dd:visible").count() == 0
    at(page, "decisions-all").click()
    for card in cards.all():
        assert card.locator("dt").count() == card.locator("dd").count() == 2
        assert all(card.locator("dd").all_inner_texts()), "why it was taken, and what it implies"
    at(page, "tab-messages").click()
    message(page, "bitfusion-fed-by-vgpu").wait_for()
    message(page, "bitfusion-end-of-life").get_by_role("button").click()
    focused(page, "platform.bitfusion")


@pytest.mark.by_day("axe", 3)
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_in_what_happens(
    app: Any, audited: Callable[[str, int], Any], tmp_path: Path, theme: str
) -> None:
    """In dark only the colours are others; what stands on the tabs is looked at in ``test_screens_browser``."""
    only = {"runOnly": ["color-contrast", "link-in-text-block"]} if theme == "dark" else {}
    opened = audited(theme, 1280)
    page = opened.page
    enterprise(page)
    go(page, "hosts")
    at(page, "click-maintain").click()
    fail(page, 1)
    page.locator(".gp-host.maintenance").wait_for()
    at(page, "click-fail").click()
    fail(page, 4)
    page.locator(".gp-host.failed").wait_for()
    assert opened.faults(**only) == [], "failed"
    go(page, "demand")
    open_tab(page, "simulate")
    simulated = simulation(page)
    at(page, "simulate-go").click()
    with app.halted("demand"):
        simulated.get_by_role("progressbar").wait_for()
        assert opened.faults(**only) == [], "while it simulates"
    open_tab(page, "audit")
    read(upload(page, tmp_path, JOBS), 240)
    assert opened.faults(**only) == [], "audited"
    open_tab(page, "simulate")
    at(page, "simulate-go").wait_for(timeout=1000 * LONG_S)
    assert opened.faults(**only) == [], "simulated"
    open_tab(page, "waiting")
    page.locator(".gp-chart-wide .mark-symbol.role-mark path").first.wait_for()  # points in the chart
    assert opened.faults(**only) == [], "its points in the chart"
    figure(page, "totals.hosts").click()
    page.locator(".gp-drawer").wait_for()
    assert opened.faults(**only) == []


def test_app_opens_with_a_file_and_a_catalog_folder(
    server: Callable[..., Any], tab: Callable[..., Any], tmp_path: Path
) -> None:
    folder = tmp_path / "catalog"
    folder.mkdir()
    (folder / "servers.csv").write_text(
        "item,parameter,value,low,high,unit,basis,source,locator,note\n"
        "own-box,name,Our own box,,,,quoted,own-list,,\nown-box,vendor,Own,,,,quoted,own-list,,\n"
    )
    (folder / "sources.csv").write_text(
        "id,title,producer,url,published,accessed,tier,note\nown-list,Our list,We,,,2026-11-20,maker,\n"
    )
    own = tmp_path / "own.yaml"
    own.write_text(
        "name: Our design\ndemand: {stated_gpus: 6}\nhardware: {server: own-box, gpus_per_host: 2}\n"
    )
    opened = tab().design(server(scenario=own, catalog=folder).url)
    wait_figure(opened.page, "totals.hosts", "4")  # 6 / 2 + 1
    go(opened.page, "hosts")
    opened.page.locator(".gp-pool h2", has_text="4 x Our own box").wait_for()
    assert opened.errors == []


NIGHT = """
name: Day and night
groups:
  - {id: ds, name: Data scientists, people: 40, active_share: 0.5, gpus_each: 0.5, hours: "09:00-18:00", days: weekdays}
  - {id: night, name: Night training, use_case: high-end-training, people: 3, gpus_each: 4, access: vgpu, hours: "20:00-06:00"}
"""


def night(page: Any, folder: Path) -> None:
    """Open a design with a day shift and a night shift, and enter the demand step."""
    file = folder / "night.yaml"
    file.write_text(NIGHT)
    choose(page, file)
    wait_figure(page, "demand.gpus", "22 GPUs")
    go(page, "demand")


def rule(page: Any, name: str) -> Any:
    """The card of a sizing rule."""
    return have(page, ".gp-rule", f"rule-{name}")


def gpus_of(card: Any, gpus: int) -> Any:
    """The number of GPUs on a card of a rule."""
    return card.locator(".gp-why-big", has_text=re.compile(rf"^{gpus}\b"))


def test_a_rule_changes_the_design_and_can_be_asked_why(visit: Any) -> None:
    page = visit.step("enterprise", "demand")
    at(page, "rule-wait").click()
    caught_up(page)
    assert gpus_of(rule(page, "wait"), 31).count() == 1
    wait_figure(page, "demand.gpus", "31 GPUs")
    wait_figure(page, "totals.hosts", "9")
    stated = page.locator(".gp-promise p", has=at(page, "take-total"))
    assert re.findall(r"\d+", stated.inner_text())[:2] == ["28", "31"], "stated, and what the groups need"
    at(page, "take-groups").click()
    stated.wait_for(state="detached")
    focused(page, "rule-wait")
    why = rule(page, "wait").locator("button.gp-why-big")
    why.click()
    page.locator(".gp-drawer .gp-formula").wait_for()
    page.keyboard.press("Escape")
    rule(page, "wait").locator("button.gp-why-big:focus").wait_for()
    at(page, "undo").click()
    at(page, "undo").click()
    wait_figure(page, "demand.gpus", "28 GPUs")


@pytest.mark.parametrize("pressed", ["hosts", "tab-pool", "cost.net_present"])
def test_what_is_pressed_while_the_answer_arrives_is_carried_out(visit: Any, pressed: str) -> None:
    page = visit.step("enterprise", "demand")
    at(page, "rule-wait").click()
    chance = at(page, "demand.chance")
    chance.focus()
    caught_up(page)
    box = at(page, pressed).bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    before = page.evaluate(REVISION)
    page.mouse.down()
    chance.evaluate(
        "(field) => { field.value = '5 %'; field.dispatchEvent(new Event('input', { bubbles: true })); }"
    )
    until(page, f"{REVISION} !== '{before}'")
    caught_up(page)
    page.mouse.up()
    at(page, pressed).and_(
        page.locator("[aria-current=step], [aria-selected=true], [aria-expanded=true]")
    ).wait_for()


def test_the_target_moves_with_the_slider_and_with_the_number(visit: Any) -> None:
    page = visit.step("enterprise", "demand")
    at(page, "rule-wait-time").click()
    is_value(page, "demand.wait_min", "10")
    at(page, "rule-wait").click()
    at(page, "demand.wait_min").wait_for(state="detached")
    gpus = gpus_of(rule(page, "wait"), 31)
    gpus.wait_for()
    slider = at(page, "slider")
    slider.focus()
    page.keyboard.press("ArrowRight")
    is_value(page, "demand.chance", "10 %")
    page.keyboard.press("Home")
    is_value(page, "demand.chance", "0.1 %")
    until(page, "document.querySelector('[data-at=slider]').ariaValueText", "0.1 %")
    gpus.wait_for(state="detached")
    enter(page, "demand.chance", "70 %")
    refused(page, "demand.chance", "Target probability", '"70 %"')
    at(page, "demand.chance").fill("5 %")
    gpus.wait_for()
    until(page, "document.querySelector('[data-at=slider]').ariaValueText", "5 %")
    at(page, "rule-hours").click()
    slider.wait_for(state="hidden")


def test_hours_and_places_lend_each_other_gpus(visit: Any, tmp_path: Path) -> None:
    page = visit.page
    night(page, tmp_path)
    at(page, "rule-hours").click()
    wait_figure(page, "demand.gpus", "12 GPUs")
    page.locator(".gp-said", has_text="10 GPUs").first.wait_for()
    open_tab(page, "pool")
    page.locator(".gp-tables tr", has_text="Fri 09:00-18:00").wait_for()  # through the week
    open_tab(page, "people")
    assert at(page, "groups.ds.sites").get_attribute("placeholder") == "UTC"
    enter(page, "groups.ds.sites", "Bangalore 25, Austin 15")
    open_tab(page, "rule")
    at(page, "look-clock").select_option("Austin")
    page.get_by_text(re.compile(r"\d\sGPUs, \w{3} \d\d:\d\d\xa0Austin")).first.wait_for()
    assert page.locator(".gp-chart svg").first.is_visible()
    enter(page, "groups.ds.hours", "9 to 5")
    refused(page, "groups.ds.hours", "Hours", '"9 to 5"')


def test_without_hours_a_link_leads_to_the_inputs(visit: Any) -> None:
    page = visit.step("enterprise", "demand")
    at(page, "visit-groups.researchers.sites").click()
    focused(page, "groups.researchers.sites")


def test_the_charts_of_the_demand_are_as_wide_as_their_place(visit: Any) -> None:
    page = visit.step("enterprise", "demand")
    as_wide = "[...document.querySelectorAll('.gp-chart-wide')].filter((chart) => chart.offsetParent).every((chart) => chart.getBoundingClientRect().width - 4 <= chart.querySelector('svg')?.getBoundingClientRect().width)"
    for tab, text, width in (("rule", "Sat", 1600), ("waiting", "28", 1280)):
        open_tab(page, tab)
        chart = page.locator(".gp-chart-wide:visible").first
        chart.locator("svg text", has_text=text).first.wait_for()
        until(page, as_wide)
        before = chart.bounding_box()["width"]
        page.set_viewport_size({"width": width, "height": 900})
        until(page, as_wide)
        assert chart.bounding_box()["width"] != before


def test_a_chart_follows_its_rows_and_is_not_made_again(visit: Any) -> None:
    page = visit.page
    enterprise(page)
    enter(page, "groups.data-scientists.people", "40")
    go(page, "demand")
    day = page.locator(".gp-chart-wide").first
    day.locator("svg text", has_text=": 30").wait_for()
    caught_up(page)
    day.locator("svg").evaluate("svg => { svg.dataset.made = 'once'; }")
    bars = day.locator("svg[data-made=once] .mark-rect path")
    assert bars.count() == 10, "one for each group and day, as all work around the clock"
    before = bars.nth(2).get_attribute("d")
    at(page, "undo").click()
    day.locator("svg[data-made=once] text", has_text=": 28").wait_for()
    caught_up(page)
    assert bars.nth(2).get_attribute("d") != before
    bars.nth(2).hover()
    page.locator("#vg-tooltip-element", has_text="8.00").wait_for()
    at(page, "theme").click()
    day.locator("svg:not([data-made]) text", has_text=": 28").wait_for()
    assert day.locator("svg").count() == 1


def test_every_step_begins_at_its_top(visit: Any) -> None:
    page = visit.page
    enterprise(page)
    page.set_viewport_size({"width": 1280, "height": 360})
    for step in ("demand", "hosts", "network", "design", "demand", "usecases"):
        page.evaluate("scrollTo(0, document.documentElement.scrollHeight)")
        until(page, "scrollY > 100")
        go(page, step)
        caught_up(page)  # charts have grown
        assert page.evaluate("scrollY") == 0, step
    go(page, "demand")
    caught_up(page)
    page.evaluate("scrollTo(0, 100)")
    until(page, "scrollY === 100")
    at(page, "rule-hours").click()
    page.locator("[data-at=undo]:enabled").wait_for()
    caught_up(page)
    assert page.evaluate("scrollY") > 0  # drawn again, not entered


def test_the_focus_stays_near_a_button_that_goes(visit: Any, tmp_path: Path) -> None:
    page = visit.page
    file = tmp_path / "many.yaml"
    groups = [{"id": f"g{n}", "name": f"Group {n}", "people": 2, "growth": 0.5} for n in range(12)]
    file.write_text(yaml.safe_dump({"name": "Many", "groups": groups}))
    choose(page, file)
    wait_figure(page, "demand.gpus", "24 GPUs")
    go(page, "demand")
    open_tab(page, "pool")
    at(page, "silos").press("Enter")
    page.locator("h2:focus").wait_for()
    at(page, "silos").wait_for(state="detached")
    at(page, "growth").press("Enter")
    focused(page, "demand.years")
    have(page, ".gp-card", "demand.years").locator(".gp-tables tbody tr").first.wait_for()


def test_silos_growth_and_methods(visit: Any) -> None:
    page = visit.step("enterprise", "demand")
    open_tab(page, "pool")
    page.locator(".gp-pair > .gp-card .gp-said", has_text="52").filter(has_text="13").wait_for()
    enter(page, "groups.developers.growth", "50 %")
    open_tab(page, "pool")
    years = have(page, ".gp-card", "demand.years").locator(".gp-tables tbody tr")
    years.nth(2).wait_for()
    at(page, "demand.years").fill("2")
    years.nth(2).wait_for(state="detached")
    open_tab(page, "rule")
    at(page, "rule-wait").click()
    open_tab(page, "waiting")
    if not at(page, "demand.method").is_visible():
        unfold(page, "demand.method")
    at(page, "demand.method").select_option("bursty")
    page.locator("tr", has_text="Erlang C, Hayward").locator(".gp-tag").wait_for()


def test_a_long_list_is_searched_while_typing_and_says_what_does_not_fit(visit: Any) -> None:
    page = visit.step("assistant", "usecases")
    server, listed = at(page, "hardware.server"), page.locator("#gp-choices [role=option]")
    before = server.input_value()
    server.click()
    assert listed.count() == len(load_catalog().servers) + 1
    reasons = listed.evaluate_all("(all) => all.map((each) => Boolean(each.querySelector('small')))")
    assert reasons == sorted(reasons) and {*reasons} == {True, False}
    server.press_sequentially("dl380a")
    assert 0 < listed.count() < 5
    server.press("Escape")
    assert server.input_value() == before and not listed.count()
    server.press("ArrowDown")
    server.press_sequentially("dl380a")
    first = str(listed.first.get_attribute("data-text"))
    server.press("Enter")
    caught_up(page)
    focused(page, "hardware.server")
    is_value(page, "hardware.server", first)
    assert server.get_attribute("aria-expanded") == "false"


def test_a_model_from_a_file_is_chosen_and_there_after_a_reload(visit: Any, tmp_path: Path) -> None:
    page, path = visit.step("assistant", "usecases"), "groups.assistant.model"
    chosen = f"document.querySelector('[data-at=\"{path}\"]')?.value"
    config = config_of(load_catalog().row("llm_models", "qwen3-8b"))
    (tmp_path / "ours-8b.json").write_text(json.dumps(config))
    reveal(page, path)
    with page.expect_file_chooser() as chooser:
        at(page, "model-file").click()
    chooser.value.set_files(tmp_path / "ours-8b.json")
    until(page, chosen, "ours-8b")
    page.reload()
    reveal(page, path)
    until(page, chosen, "ours-8b")
    enter(page, "groups.assistant.people", "410")  # the form is drawn again
    caught_up(page)
    dropped = page.evaluate_handle(
        "() => { const all = new DataTransfer(); all.items.add(new File(['{}'], 'no model.json')); return all; }"
    )
    at(page, path).dispatch_event("drop", {"dataTransfer": dropped})
    page.locator(".gp-notice", has_text="hidden_size").wait_for()
    until(page, chosen, "ours-8b")


# --- simulation and audit: in the background

JOBS = "submit,duration,gpus,group\n" + "".join(
    f"2024-05-{6 + hour // 24:02} {hour % 24:02}:00:00,{3600 * (1 + hour % 3)},{1 + hour % 2},{'ab'[hour % 2]}\n"
    for hour in range(240)
)


def simulation(page: Any) -> Any:
    """The card of the simulation."""
    return have(page, ".gp-card", "run-when")


def upload(page: Any, folder: Path, text: str, name: str = "jobs.csv") -> Any:
    """Choose a file for the audit; its card."""
    file = folder / name
    file.write_text(text)
    audit = have(page, ".gp-card", "run-audit-format")
    audit.locator("input[type=file]").set_input_files(file)
    return audit


def read(audit: Any, rows: int) -> None:
    """Wait until all rows of a file have been read."""
    said = audit.locator(".gp-said", has_text=re.compile(rf"\b{rows}\b.*\b{rows}\b"))
    said.first.wait_for(timeout=1000 * LONG_S)


def test_the_page_goes_on_while_hosts_are_simulated(app: Any, visit: Any) -> None:
    page = visit.step("starter", "demand")
    open_tab(page, "simulate")
    simulated = simulation(page)
    at(page, "simulate-go").click()
    enter(page, "groups.developers.people", "33")
    wait_figure(page, "demand.gpus", "15 GPUs")
    go(page, "demand")
    at(page, "simulate-go").wait_for(timeout=1000 * LONG_S)
    simulated.locator(".gp-old").wait_for()  # it was another design
    at(page, "run-when").select_option(WHEN["week"])
    at(page, "simulate-go").click()
    with app.halted("demand"):
        focused(page, "simulate-stop")
    at(page, "simulate-go").wait_for(timeout=1000 * LONG_S)
    focused(page, "simulate-go")
    assert simulated.locator(".gp-old").count() == 0
    planned = simulated.locator("tr", has=page.locator(".gp-tag"))
    assert planned.count() == 2, "for the demand, and as planned"
    assert all("\u00b1" in row.inner_text() for row in planned.all())
    assert simulated.locator("tr", has_text="Data scientists").count() == 1


def test_a_simulation_can_be_stopped(app: Any, visit: Any) -> None:
    page = visit.step("enterprise", "demand")
    open_tab(page, "simulate")
    at(page, "simulate-go").click()
    with app.halted("demand"):
        simulation(page).get_by_role("progressbar").wait_for()
        at(page, "simulate-stop").click()
        at(page, "simulate-go").wait_for(timeout=1000 * LONG_S)
    assert simulation(page).get_by_role("progressbar").count() == 0


def test_jobs_are_audited_become_the_design_and_are_replayed(visit: Any, tmp_path: Path) -> None:
    page = visit.step("enterprise", "demand")
    open_tab(page, "audit")
    audit = upload(page, tmp_path, JOBS)
    read(audit, 240)
    audit.locator("svg").wait_for()
    at(page, "audit-replay").click()
    replayed = audit.locator(".gp-said", has_text=re.compile(r"\b8\b.*\b32\b"))  # the hosts and GPUs planned
    replayed.first.wait_for(timeout=1000 * LONG_S)
    audit.locator("tr", has_text="Kaufman-Roberts").wait_for()
    at(page, "audit-use").click()
    notice(page, "note", "2", "jobs.csv")
    open_tab(page, "people")
    page.get_by_label("b, 2 GPUs").first.wait_for()
    open_tab(page, "rule")
    gpus = page.locator(".gp-rule.on", has=at(page, "rule-wait-time")).locator(".gp-why-big")  # as for jobs
    gpus.wait_for()
    wait_figure(page, "demand.gpus", gpus.inner_text())
    assert figures(page)["demand.gpus"] != "28 GPUs"
    at(page, "undo").click()
    wait_figure(page, "demand.gpus", "28 GPUs")
    open_tab(page, "audit")
    at(page, "audit-forget").click()
    at(page, "audit-forget").wait_for(state="detached")
    audit.locator("svg").wait_for(state="detached")
    at(page, "run-file").wait_for()


def test_results_of_benchmarks_plan_the_design_again(visit: Any, tmp_path: Path) -> None:
    page = visit.step("assistant", "demand")
    open_tab(page, "validation")
    with page.expect_download() as kit:
        at(page, "validation-kit").click()
    assert kit.value.suggested_filename.endswith("-validation.zip")
    card = have(page, ".gp-card", "validation-kit")
    for n in (1, 8):
        run = Measured(concurrency=n, isl=2000, osl=400, model="meta-llama/Llama-3.3-70B-Instruct")
        (tmp_path / f"assistant--c{n}.json").write_text(json.dumps(vllm(run)))
        card.locator("input[type=file]").set_input_files(tmp_path / f"assistant--c{n}.json")
        card.locator(".gp-said", has_text=f"assistant--c{n}.json").first.wait_for(timeout=1000 * LONG_S)
    assert card.locator("table").count() == 3
    (tmp_path / "odd.json").write_text("{}")
    card.locator("input[type=file]").set_input_files(tmp_path / "odd.json")
    card.get_by_role("alert").filter(has_text="odd.json").wait_for()
    at(page, "validation-forget").click()
    card.locator("table").first.wait_for(state="detached")


def test_a_file_that_cannot_be_audited_is_named_with_its_line(visit: Any, tmp_path: Path) -> None:
    page = visit.step("enterprise", "demand")
    open_tab(page, "audit")
    audit = upload(page, tmp_path, "submit,duration,gpus\n2024-05-06 00:00:00,-5,1\n", "bad.csv")
    alert = audit.get_by_role("alert")
    alert.filter(has_text="line 2").wait_for(timeout=1000 * LONG_S)
    assert "Traceback" not in alert.inner_text()
    upload(page, tmp_path, "", "empty.csv")
    alert.or_(audit.locator(".gp-said")).filter(has_text="empty.csv").first.wait_for()
    upload(page, tmp_path, JOBS.replace("gpus", "cards", 1), "odd.csv")
    at(page, "run-audit-columns").fill("gpus=cards")
    at(page, "audit-again").click()
    read(audit, 240)
    wait_figure(page, "demand.gpus", "28 GPUs")


def test_what_was_sent_goes_with_the_page(visit: Any, tmp_path: Path) -> None:
    page = visit.step("enterprise", "demand")
    open_tab(page, "audit")
    # another server may hold the same file of another test
    mine = JOBS.replace(",a\n", f",{uuid4().hex}\n", 1)
    read(upload(page, tmp_path, mine, "secret-jobs.csv"), 240)
    kept = Path(tempfile.gettempdir()).glob("gpuplan-*/session-*/gpuplan-upload-*/arriving")
    there = [each for each in kept if each.read_text(encoding="utf-8") == mine]
    assert len(there) == 1, "under a name of ours, whatever the file was called"
    page.close(run_before_unload=True)
    soon(lambda: not there[0].parents[1].exists(), "the folder of the session is still there")


def test_the_workbook_works_on_a_page_of_voilas_own(tab: Callable[..., Any], tmp_path: Path) -> None:
    """As ``voila notebooks/workbook.ipynb`` shows it, without what our own page adds."""
    notebook = Path(__file__).resolve().parents[2] / "notebooks" / "workbook.ipynb"
    with socket.create_server(("localhost", 0)) as free:
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "voila", str(notebook), "--no-browser", f"--port={port}"]
    log = tmp_path / "log"
    with log.open("wb") as file, subprocess.Popen(command, stdout=file, stderr=file, cwd=tmp_path) as voila:
        try:
            soon(lambda: b"running at" in log.read_bytes(), "Voila did not start", 2 * LIMIT_S)
            visit = tab().start(f"http://localhost:{port}/")
            page = visit.page
            page.locator(
                '.gp-pick[data-at="enterprise"]'
            ).click()  # not `take`: a page of Voila's own declares no state
            open_workload(page, "developers")
            at(page, "groups.developers.people").fill("81")
            at(page, "groups.developers.people").press("Tab")
            page.locator("[data-at=undo]:enabled").wait_for()
            page.wait_for_url(re.compile("#s="))
            scenario = yaml.safe_load(Path(download(page, "save").path()).read_text(encoding="utf-8"))
            assert [g["people"] for g in scenario["groups"] if g["name"] == "Developers"] == [81]
            assert [error for error in visit.errors if "net::" not in error] == []
        finally:
            voila.terminate()


CHANGES = (
    ("usecases", "groups.developers.people", "fill", ("0", "500", "3")),
    ("usecases", "groups.data-scientists.remote_allowed", "click", ("", "", "")),
    ("demand", "groups.data-scientists.hours", "fill", ("08:00-18:00",)),
    ("demand", "rule-wait", "click", ("",)),
    ("demand", "rule-denied", "click", ("",)),
    ("hosts", "n0", "click", ("",)),
    ("hosts", "n2", "click", ("",)),
    ("usecases", "hardware.gpu", "pick", ("t4-16gb", "a100-pcie-80gb")),
    ("hosts", "hardware.gpus_per_host", "fill", ("2", "4")),
    ("network", "network.link_gbit_s", "select_option", ("10", "400", "25")),
    ("network", "network.transport", "select_option", ("tcp",)),
    ("usecases", "cost.years", "fill", ("8", "2")),
    ("cost", "cost.currency", "fill", ("EUR", "USD")),
)
PARTS = r"""() => [...document.querySelectorAll(".gp-page .gp-part, .gp-part-strip, .gp-part-nav")].map((part) => {
  const inputs = [...part.querySelectorAll("input, select, textarea")].map((i) => [i.dataset.at, i.value, i.checked, i.disabled]);
  const copy = part.cloneNode(true);
  for (const node of copy.querySelectorAll("*")) {
    for (const name of ["id", "for", "aria-describedby"]) node.removeAttribute(name);  // made up anew on each page
    if (node.closest(".gp-figures, nav, .gp-tabs")) node.removeAttribute("tabindex");  // where the keyboard was last
    for (const name of ["value", "class"]) if (!node.getAttribute(name)) node.removeAttribute(name);
  }
  for (const said of copy.querySelectorAll("[role=status]")) said.textContent = "";  // what moved last, and its mark
  for (const node of copy.querySelectorAll(".gp-moved")) node.classList.remove("gp-moved");
  for (const node of copy.querySelectorAll(".gp-figure em")) node.remove();  // what it was before the last change
  copy.normalize();
  return [part.className, copy.innerHTML, JSON.stringify(inputs)];
})"""


OWN_NAME = re.compile(r'name="gp-[a-z]+-[a-z0-9]+"|data-keep="[0-9a-f]{32}"')
"""Radio buttons and widgets of one view: each page has its own, by chance."""


def all_parts(page: Any, step: str) -> list[list[str]]:
    """The parts of a step as they stand on the page, once all is drawn."""
    go(page, step)
    finished(page)
    page.locator(".gp-page", has_text="Planning \u2026").wait_for(state="detached")  # beside the page
    parts: list[list[str]] = page.evaluate(PARTS)
    return [[OWN_NAME.sub("", text) for text in part] for part in parts]


def test_what_changes_comes_in_three_messages(app: Any, tab: Callable[..., Any]) -> None:
    """What is worked out at once, then the check of the target, and of the restarts on its hosts; each costs some time."""
    visit = tab()
    came: list[bytes] = []
    visit.page.on("websocket", lambda line: line.on("framereceived", lambda data: came.append(bytes(data))))
    page = visit.start(app.url).step("enterprise", "demand")
    at(page, "rule-wait").click()
    chance = at(page, "demand.chance")
    chance.wait_for()
    caught_up(page)

    def idle() -> bool:
        """The session is idle as often as it was busy, with what the test did before, too."""
        told = [data for data in came if b"comm_msg" in data]
        return sum(b'"busy"' in data for data in told) == sum(b'"idle"' in data for data in told)

    def typed(share: str) -> None:
        """All that comes of a number that is typed, to the last word: that the session is idle and nothing is worked out any more."""
        chance.fill(share)
        until(page, "document.querySelector('[data-at=slider]').ariaValueText", share)
        finished(page)
        soon(lambda: page.wait_for_timeout(1) or idle())

    typed("10 %")
    came.clear()
    typed("20 %")
    updates = [data for data in came if b"comm_msg" in data]
    assert sum(b'"states"' in data for data in updates) == 3
    assert len(updates) <= 10, (
        "busy, took the event, the slider, idle, and that the work beside the page is done"
    )


HELD = """() => {
  const after = window.setTimeout;
  window.performance.now = () => 0;  // so that what is typed follows what was sent at once
  window.setTimeout = (act, ms, ...rest) => {
    if (ms === 15) window.pass = act;
    return after(act, ms === 15 ? 2 ** 31 - 1 : ms, ...rest);
  };
}"""
"""What is typed is sent when the test says so."""


def test_a_page_is_busy_from_the_first_key_until_what_was_typed_is_shown(
    app: Any, tab: Callable[..., Any]
) -> None:
    page = tab().start(app.url).page
    take(page, "enterprise")
    people = reveal(page, "groups.data-scientists.people")
    page.evaluate(HELD)
    people.fill("40")  # goes at once
    caught_up(page)
    revision = page.evaluate(REVISION)
    people.fill("64")
    assert page.evaluate(STATE) == "busy"
    page.evaluate("window.pass()")
    caught_up(page)
    assert int(page.evaluate(REVISION)) - int(revision) in (
        1,
        2,
    )  # the restarts of the first may be checked between
    people.fill("48")
    people.press("Escape")
    caught_up(page)  # what waited is called off
    assert people.input_value() == "32", "what the field showed when typing began"


@pytest.mark.by_day("minutes", 2)
def test_a_page_that_was_changed_is_like_one_made_anew(app: Any, tab: Callable[..., Any]) -> None:
    """Parts are changed where they differ: nothing of what was there before may be left."""
    changed = tab().start(app.url).page
    enterprise(changed)
    for step, _ in STEPS[1:]:
        go(changed, step)
    for step, key, act, values in of_the_day(CHANGES, 5):
        if "." not in key:
            go(changed, step)
        for value in values:
            control = reveal(changed, key) if "." in key else at(changed, key)
            if act == "pick":
                pick(changed, key, value)
            else:
                getattr(control, act)(*[value] if value else [])
            if act == "fill":
                control.press("Tab")
            caught_up(changed)
    go(changed, "usecases")
    open_tab(changed, "groups")
    open_workload(changed, "data-scientists")
    at(changed, "workload-data-scientists").click()
    for step, page in PAGES.items():
        if len(page.tabs) > 1:
            go(changed, step)
            open_tab(changed, page.tabs[0].name)
    design = decode_scenario(Path(download(changed, "save").path()).read_bytes())
    anew = tab().design(f"{app.url}#{link_of(design).fragment}").page
    for step, _ in of_the_day(STEPS[1:], 4):
        for mine, theirs in zip(all_parts(changed, step), all_parts(anew, step), strict=True):
            assert mine == theirs
