"""The answer strip: six figures that never contradict each other, what a change moved, and hosts that are down."""

from __future__ import annotations

import pytest
from approved import is_approved

pytest.importorskip("traitlets")

from gpuplan.app.header import drawer_data
from gpuplan.app.history import link_of
from gpuplan.app.state import Workbook
from gpuplan.app.strip import strip_data
from gpuplan.catalog import Catalog
from gpuplan.plan.checks import check_plan
from gpuplan.plan.known import unconfirmed
from gpuplan.scenario import load_scenario
from gpuplan.wording import short_number


def values(book: Workbook) -> dict[str, str]:
    return {figure["key"]: figure["value"] for figure in strip_data(book)["figures"]}


def test_the_strip_follows_every_change(book: Workbook) -> None:
    assert values(book) == values(book) | {
        "demand.gpus": "28 GPUs",
        "totals.hosts": "8",
        "totals.gpus": "32",
        "totals.unplaced_vms_after_failure": "All VMs fit",
    }
    book.edit("groups.data-scientists.people", "80")
    assert values(book)["totals.hosts"] == "11"
    assert not strip_data(book)["stale"]
    book.edit("groups.data-scientists.people", "x")
    assert values(book)["totals.hosts"] == "11"
    assert strip_data(book)["stale"]


def test_the_strip_says_what_is_over_a_limit(book: Workbook) -> None:
    book.edit("limits.budget", "2M")
    book.edit("limits.racks", "1")
    shown = {figure["key"]: figure for figure in strip_data(book)["figures"]}
    assert "464 k" in shown["cost.net_present"]["note"] and shown["cost.net_present"]["tone"] == "warn"
    assert "1 rack" in shown["totals.hosts"]["note"] and shown["totals.hosts"]["tone"] == "warn"
    book.edit("limits.racks", "2")
    assert {f["key"]: f for f in strip_data(book)["figures"]}["totals.hosts"]["tone"] == ""


def notes(book: Workbook) -> dict[str, str]:
    return {figure["key"]: figure["note"] for figure in strip_data(book)["figures"]}


def test_placement_is_one_figure_and_waiting_none(book: Workbook) -> None:
    key = "totals.unplaced_vms_after_failure"
    assert is_approved(notes(book)[key])
    assert not any("waiting" in figure for figure in values(book))
    book.edit("availability.host_failures", "2")
    assert is_approved(notes(book)[key])
    book.edit("availability.host_failures", "0")
    assert values(book)[key] == "All VMs fit"
    assert is_approved(notes(book)[key], "18 VMs")
    book.edit("groups.data-scientists.people", "64")
    book.edit("demand.rule", "stated")
    assert values(book)[key] == "22 not placed"
    assert notes(book)[key].endswith("after a host failure")


@pytest.mark.parametrize(
    ("rule", "stated", "note"),
    [
        ("sum", "28", "everyone at peak"),
        ("stated", "28", "as stated"),
        ("sum", "", "everyone at peak"),
        ("hours", "", "in the busiest hour"),
        ("wait", "", "at most 5 % wait"),
    ],
)
def test_the_strip_says_what_the_demand_is(book: Workbook, rule: str, stated: str, note: str) -> None:
    book.edit("demand.rule", rule)
    book.edit("demand.stated_gpus", stated)
    assert notes(book)["demand.gpus"] == note


def test_every_figure_of_the_strip_can_be_asked_why(book: Workbook) -> None:
    for figure in strip_data(book)["figures"]:
        book.drawer = figure["key"]
        data = drawer_data(book)
        if figure["key"] == "messages":
            assert data["kind"] == "messages"
            assert len(data["messages"]) == len(check_plan(book.plan))
            continue
        assert data["kind"] == "why"
        assert figure["value"].lower() in data["title"].lower()
        assert data["sentence"]
        assert data["formula"]
        assert data["sources"]


def test_a_blank_design_asks_for_nothing(blank: Workbook) -> None:
    strip = strip_data(blank)
    assert not strip["shown"]
    assert strip["figures"][-1]["tone"] == ("" if unconfirmed(blank.plan) else "good")
    notes = {figure["note"] for figure in strip["figures"] if figure["key"] != "messages"}
    assert notes == {"no workloads yet", "none yet"}


def was(book: Workbook) -> dict[str, str]:
    return {figure["key"]: figure["was"] for figure in strip_data(book)["figures"] if figure["was"]}


def test_what_a_change_moved_is_said_with_the_difference(book: Workbook) -> None:
    assert was(book) == {}
    book.edit("groups.data-scientists.people", "80")
    moved = was(book)
    assert moved["demand.gpus"] == "was 28 GPUs, +12"
    assert (moved["totals.hosts"], moved["totals.gpus"]) == ("was 8, +3", "was 32, +12")
    assert moved["cost.net_present"].startswith("was USD 2.5 M, +")
    book.edit("groups.data-scientists.people", "x")
    assert was(book) == {}
    book.edit("groups.data-scientists.people", "32")
    assert was(book)["totals.hosts"] == "was 11, \u22123"
    book.open_example("starter")
    assert was(book) == {}


def test_of_a_small_change_of_cost_the_difference_stands_alone(book: Workbook) -> None:
    """Rounded figures before and after would tell another one."""
    before = book.plan.costs
    book.edit("cost.hardware_discount", "5 %")
    after = book.plan.costs
    assert before and after
    saved = before.net_present - after.net_present
    assert 0 < saved < 0.05 * before.net_present
    assert was(book)["cost.net_present"] == f"\u2212{short_number(saved)}"
    book.edit("cost.hardware_discount", "50 %")
    assert was(book)["cost.net_present"].startswith("was USD 2.4 M, \u2212")


def test_what_is_typed_into_one_field_is_one_change(book: Workbook) -> None:
    path = "groups.data-scientists.people"
    book.edit(path, "6", live=True)
    book.edit(path, "64", live=True)
    assert was(book)["demand.gpus"] == "was 28 GPUs, +8"
    book.edit(path, "64")
    assert was(book)["demand.gpus"] == "was 28 GPUs, +8"
    book.edit(path, "80")
    assert was(book)["demand.gpus"] == "was 36 GPUs, +4"


def test_what_is_typed_and_given_up_moves_nothing(book: Workbook) -> None:
    path, before = "groups.data-scientists.people", book.scenario
    for text in ("6", "64"):
        book.edit(path, text, live=True)
    book.untype(path)
    assert (book.scenario, book.can_undo, was(book)) == (before, False, {})
    book.edit(path, "64", live=True)
    book.untype("groups.hpc.people")  # another field
    assert book.scenario.get(path) == 64
    book.edit(path, "64")
    book.untype(path)  # it was entered
    assert book.scenario.get(path) == 64


def test_a_design_that_is_opened_is_no_change_of_the_one_before(blank: Workbook) -> None:
    drawn: list[dict[str, str]] = []
    blank.observe(lambda _change: drawn.append(was(blank)), ["revision", "step"])
    assert blank.restore(link_of(load_scenario("enterprise")).fragment)
    blank.open_example("starter")
    blank.open_recent(link_of(load_scenario("current")).fragment)
    blank.look_as(True)
    assert len(drawn) >= 4 and not any(drawn)
    blank.edit("availability.host_failures", "2")
    assert "totals.hosts" in drawn[-1]


def test_what_only_the_best_arrangement_places_says_so(catalog: Catalog) -> None:
    book = Workbook(catalog, load_scenario("current"))
    assert is_approved(notes(book)["totals.unplaced_vms_after_failure"])
    book.edit("platform.gpu_policy", "group")
    fails = not all(made.now.all_start for made in book.plan.power_on.values())
    assert fails == (book.plan.verdict.starts == "no")
    assert is_approved(notes(book)["totals.unplaced_vms_after_failure"])


def test_spare_hosts_say_what_they_are_for(book: Workbook) -> None:
    assert notes(book)["totals.hosts"] == "7 + 1 failover"
    book.edit("availability.maintenance_failure_accepted", False)
    assert notes(book)["totals.hosts"] == "7 + 1 failover + 1 maintenance"
    book.edit("availability.host_failures", "0")
    assert notes(book)["totals.hosts"] == "7 + 1 failover"


def test_hosts_are_boxes_by_their_purpose_and_the_range_of_the_cost_is_a_bar(book: Workbook) -> None:
    hosts, cost, *quiet = strip_data(book)["figures"]
    assert (hosts["key"], hosts["boxes"], hosts["beside"]) == ("totals.hosts", (7, 1), "")
    assert 0.5 < cost["range"]["low"] < cost["range"]["typical"] < cost["range"]["high"] < 1
    assert not any(figure["boxes"] or figure["range"] for figure in quiet)
    book.edit("groups.data-scientists.growth", "50 %")
    grown = strip_data(book)["figures"][0]
    assert grown["beside"] and grown["value"] == "8"
    book.edit("groups.data-scientists.people", "400")
    assert strip_data(book)["figures"][0]["boxes"] == (), "too many to count by eye"


def test_availability_has_a_sign_and_a_word_for_its_tone(book: Workbook) -> None:
    key = "totals.unplaced_vms_after_failure"
    assert {f["key"]: f["sign"] for f in strip_data(book)["figures"]}[key] == "\u2713"
    book.edit("groups.data-scientists.people", "64")
    book.edit("demand.rule", "stated")
    assert {f["key"]: f["sign"] for f in strip_data(book)["figures"]}[key] == "\u2715"


def test_hosts_that_are_down_on_the_screen_are_marked(book: Workbook) -> None:
    pool = book.plan.pools[0].id
    book.toggle_host(pool, 3)
    assert values(book)["totals.gpus"] == "32", "another step is on the screen"
    book.step = "hosts"
    assert values(book)["totals.gpus"] == "28"
    assert is_approved(notes(book)["totals.gpus"], "1 host")
    assert values(book)["totals.unplaced_vms_after_failure"] == "All VMs fit"
    book.toggle_host(pool, 1)
    assert (
        values(book)["totals.unplaced_vms_after_failure"] == f"{len(book.outcome(pool).unplaced)} not placed"
    )
    assert is_approved(notes(book)["totals.unplaced_vms_after_failure"], "2 hosts")
    book.restore_hosts()
    assert values(book)["totals.gpus"] == "32"


def test_a_figure_of_what_is_down_is_not_set_against_the_design_before(book: Workbook) -> None:
    pool = book.plan.pools[0].id
    book.step = "hosts"
    book.toggle_host(pool, 1)
    book.edit("availability.host_failures", "2")
    was = {figure["key"]: figure["was"] for figure in strip_data(book)["figures"]}
    assert was["totals.hosts"] == "was 8, +1" and was["totals.gpus"] == "", (
        "32 on the screen are 36 without one"
    )
