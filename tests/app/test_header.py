"""What is around every step: the answer strip, the steps, the drawer, and a field for a form."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("traitlets")

from gpuplan.app.header import (
    bar_data,
    drawer_data,
    field_data,
    message_data,
    nav_data,
    step_of,
    strip_data,
)
from gpuplan.app.rows import cell_at
from gpuplan.app.screen import WorkbookApp, sent_in
from gpuplan.app.state import STEPS, Workbook
from gpuplan.plan.checks import check_plan
from gpuplan.plan.checks.message import Message
from gpuplan.scenario import FIELDS, GROUP_FIELDS, parse_value


def values(book: Workbook) -> dict[str, str]:
    return {figure["key"]: figure["value"] for figure in strip_data(book)["figures"]}


def test_the_strip_follows_every_change(book: Workbook) -> None:
    assert values(book) == values(book) | {
        "demand.gpus": "28",
        "totals.hosts": "8",
        "totals.gpus": "32",
        "totals.gpus_after_failure": "28",
        "totals.unplaced_vms_after_failure": "All placed",
    }
    book.edit("groups.data-scientists.people", "80")
    assert values(book)["totals.hosts"] == "11"
    assert not strip_data(book)["stale"]
    book.edit("groups.data-scientists.people", "x")
    assert values(book)["totals.hosts"] == "11"
    assert strip_data(book)["stale"]


def notes(book: Workbook) -> dict[str, str]:
    return {figure["key"]: figure["note"] for figure in strip_data(book)["figures"]}


def test_placement_is_one_figure_and_waiting_none(book: Workbook) -> None:
    key = "totals.unplaced_vms_after_failure"
    assert notes(book)[key] == "also after any host failure"
    assert not any("waiting" in figure for figure in values(book))
    book.edit("availability.host_failures", "2")
    assert notes(book)[key] == "also after any 2 host failures"
    book.edit("availability.host_failures", "0")
    assert (values(book)[key], notes(book)[key]) == ("All placed", "18 VMs not after a host failure")
    book.edit("groups.data-scientists.people", "64")
    book.edit("demand.rule", "stated")
    assert values(book)[key] == "22 not placed"
    assert notes(book)[key].endswith("after a host failure")


def test_a_probability_is_asked_why_in_per_cent(book: Workbook) -> None:
    for figure, key in (("0.39 %", "totals.waiting"), ("55 %", "totals.waiting_after_failure")):
        book.drawer = key
        assert drawer_data(book)["title"] == f"Why {figure}?"


@pytest.mark.parametrize(
    ("rule", "stated", "note"),
    [
        ("sum", "28", "from the groups"),
        ("stated", "28", "stated total"),
        ("sum", "", "from the groups"),
        ("hours", "", "busiest hours"),
        ("wait", "", "at the target"),
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


def test_why_goes_on_along_the_inputs(book: Workbook) -> None:
    for key in book.plan.lines:
        book.drawer = key
        data = drawer_data(book)
        assert data["kind"] == "why"
        assert all(row["key"] == "" or row["key"] in book.plan.lines for row in data["inputs"])
    book.drawer = "no such number"
    assert drawer_data(book) == {"kind": "closed"}


def test_a_blank_design_asks_for_nothing(blank: Workbook) -> None:
    assert bar_data(blank)["name"] == ""
    assert bar_data(blank)["fragment"] == ""
    strip = strip_data(blank)
    assert not strip["shown"]
    assert {f["note"] for f in strip["figures"] if f["key"] != "messages"} == {
        "no workloads yet",
        "none yet",
    }


def test_the_bar(book: Workbook) -> None:
    data = bar_data(book)
    assert (data["name"], data["can_undo"], data["can_redo"]) == ("Enterprise example", False, False)
    assert data["fragment"] == book.fragment()
    book.edit("name", "")
    assert bar_data(book)["name"] == "Enterprise example"
    assert "1 to 80 characters" in bar_data(book)["name_problem"]
    assert bar_data(book)["can_undo"]
    book.edit("name", "<b>bold</b>")
    assert bar_data(book)["name"] == "<b>bold</b>"
    book.say("warn", "Mind the gap.")
    assert bar_data(book)["notice"] == {"level": "warn", "text": "Mind the gap."}


def test_the_bar_says_who_looks_on_and_what_a_link_would_carry(book: Workbook) -> None:
    data = bar_data(book)
    assert (data["customer"], data["internal"], data["share"]) == (False, False, "")
    book.edit("internal.notes", "Ask Bob.")
    assert bar_data(book)["internal"]
    book.look_as(customer=True)
    data = bar_data(book)
    assert data["customer"]
    assert data["share"] == book.fragment(customer=True) != data["fragment"] == book.fragment()
    assert step_of("internal.notes") == "cost"


def test_a_step_with_an_error_says_so(book: Workbook) -> None:
    def wrong() -> set[str]:
        return {step["id"] for step in nav_data(book)["steps"] if step["error"]}

    assert [step["id"] for step in nav_data(book)["steps"]] == [step for step, _ in STEPS]
    assert wrong() == set()
    book.edit("groups.hpc.people", "x")
    assert wrong() == {"usecases"}
    book.edit("availability.host_failures", "x")
    assert wrong() == {"usecases", "hosts"}


def test_every_input_is_in_a_step() -> None:
    steps = {step for step, _ in STEPS}
    for path in [f.path for f in FIELDS] + [f"groups.a.{f.path}" for f in GROUP_FIELDS]:
        assert step_of(path) in steps


def paths_in(data: Any) -> Iterator[str]:
    """The inputs that the data of a card asks for."""
    if isinstance(data, dict):
        if isinstance(data.get("path"), str):
            yield data["path"]
        data = list(data.values())
    for each in data if isinstance(data, list) else ():
        yield from paths_in(each)


def test_every_input_is_asked_for_on_some_step(book: Workbook) -> None:
    asked = set()
    app = WorkbookApp(book)
    for path, value in (
        ("demand.rule", "sum"),
        ("demand.rule", "wait-time"),
        ("training.model", "qwen2.5-7b"),
    ):
        book.edit(path, value)
        for step, _ in STEPS:
            book.go(step)
            found = (at for part in sent_in(app) for at in paths_in(getattr(part, "data", None)))
            asked |= {cell.path if (cell := cell_at(at)) else at for at in found}
    assert {field.path for field in FIELDS} - asked == {"name"}, "the name is in the bar"


def test_how_a_gpu_is_shared_is_asked_beside_the_hardware() -> None:
    assert {step_of(p) for p in ("platform.vsphere", "platform.vgpu_sizes", "hardware.gpu")} == {"hosts"}
    assert step_of("platform.bitfusion") == "usecases"


def test_when_gpus_are_wanted_is_asked_in_the_demand_step() -> None:
    asked = ("demand.rule", "demand.years", "groups.a.sites", "groups.a.growth", "platform.assignment")
    assert {step_of(path) for path in asked} == {"demand"}
    assert {step_of(path) for path in ("demand.stated_gpus", "groups.a.people")} == {"usecases"}


def test_the_network_is_asked_in_its_own_step() -> None:
    asked = ("network.link_gbit_s", "network.leaf", "training.hosts", "groups.a.workload")
    assert {step_of(path) for path in asked} == {"network"}


def test_money_is_asked_in_the_cost_step_and_ranges_where_they_are_tried() -> None:
    assert {step_of(path) for path in ("cost.years", "cost.usd_rate", "prices.gpus/a40-48gb")} == {"cost"}
    assert {step_of(f"ranges.{path}") for path in ("cost.pue", "groups.a.people", "prices.rack-year")} == {
        "compare"
    }


def test_a_message_about_a_price_names_what_is_priced(book: Workbook) -> None:
    message = Message("cost-excludes", "note", "", path="prices.electricity-kwh")
    assert message_data(book, message)["where"] == "Price of Electricity"
    message = Message("cost-excludes", "note", "", path="prices.gpus/a40-48gb")
    assert message_data(book, message)["where"] == "Price of gpus/a40-48gb"


def test_a_range_is_shown_as_it_is_typed(book: Workbook) -> None:
    for path, text in (
        ("groups.hpc.people", "20 to 60"),
        ("groups.hpc.active_share", "20% to 60%"),
        ("prices.rack-year", "11520.5 to 20860"),
    ):
        book.edit(f"ranges.{path}", text)
        assert not book.problem_of(f"ranges.{path}")
        assert field_data(book, f"ranges.{path}")["value"] == text


def test_messages_say_where_to_change(book: Workbook) -> None:
    for message in check_plan(book.plan):
        data = message_data(book, message)
        assert (data["level"], data["code"], data["text"]) == (message.level, message.code, message.text)
        assert len(data["sources"]) == len(message.sources)
        if message.path:
            assert data["where"], message


def test_fields(book: Workbook) -> None:
    for spec in FIELDS:
        data = field_data(book, spec.path)
        assert data["label"] == spec.label
        assert json.loads(json.dumps(data, allow_nan=False)) == data
    data = field_data(book, "groups.hpc.active_share")
    assert (data["value"], data["problem"], data["assumed"]) == ("100 %", "", True)
    assert field_data(book, "groups.data-scientists.gpus_each")["value"] == "1/2"
    assert field_data(book, "demand.stated_gpus")["value"] == "28"
    assert not field_data(book, "demand.stated_gpus")["assumed"]
    data = field_data(book, "groups.hpc.growth", empty="none")
    assert (data["kind"], data["value"], data["empty"]) == ("text", "", "none")
    data = field_data(book, "groups.hpc.days", empty="every day")
    assert data["value"] == ""
    assert data["options"][0] == {"value": "", "text": "every day"}
    data = field_data(book, "groups.hpc.work_h")
    assert (data["kind"], data["unit"]) == ("text", "h")
    book.edit("groups.hpc.active_share", "lots")
    data = field_data(book, "groups.hpc.active_share")
    assert data["value"] == "lots"
    assert "a share from 0 to 1" in data["problem"]


@pytest.mark.parametrize("share", ["1/8", "1/7", "1/3", "0.3", "1", "2", "0.05", "0.35", "16"])
def test_what_a_field_shows_is_read_back_as_what_it_is(book: Workbook, share: str) -> None:
    book.edit("groups.hpc.gpus_each", share)
    shown = field_data(book, "groups.hpc.gpus_each")["value"]
    spec = next(f for f in GROUP_FIELDS if f.path == "gpus_each")
    assert parse_value(spec, shown, "") == book.scenario.get("groups.hpc.gpus_each")
