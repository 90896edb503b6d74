"""Power-on on the hosts step: its sentence, its settings, and what orders gave, few at first and thousands when they are tried."""

from __future__ import annotations

import json
from typing import Any

import pytest
from approved import has_approved, is_approved

pytest.importorskip("altair")
pytest.importorskip("traitlets")

from gpuplan import load_scenario
from gpuplan.analysis.power_on import power_on, studies_plain
from gpuplan.app.events import EVENTS
from gpuplan.app.screen import WorkbookApp
from gpuplan.app.state import Workbook
from gpuplan.app.steps.hosts import picture_data
from gpuplan.app.steps.power_on import SETTINGS, power_on_data, settings_form, tried_data
from gpuplan.app.steps.watch import play_of
from gpuplan.catalog import Catalog
from gpuplan.scenario import from_dict

MIXED = {
    "groups": [
        {"id": "a", "name": "Trainers", "people": 4, "gpus_each": 2, "remote_allowed": False},
        {"id": "b", "name": "Scientists", "people": 12, "gpus_each": 0.5, "remote_allowed": False},
        {"id": "c", "name": "Developers", "people": 16, "gpus_each": 0.25, "remote_allowed": False},
    ],
    "hardware": {"gpu": "l40s-48gb"},
}


@pytest.fixture
def mixed(catalog: Catalog) -> Workbook:
    return Workbook(catalog, from_dict(MIXED))


def card(book: Workbook) -> dict[str, Any]:
    data = tried_data(book)
    assert json.loads(json.dumps(data, allow_nan=False)) == data
    return data


def tried(book: Workbook, orders: int) -> None:
    """As if the command had ended."""
    book.powering_on.plan = book.plan
    lines = [{"done": 1, "tried": studies_plain(book.plan, power_on(book.plan, orders=orders))}]
    book.powering_on.runner.found = json.loads(json.dumps(lines))
    book.powering_on.runner.state = "done"


def test_the_sentence_stands_beside_the_proof(mixed: Workbook) -> None:
    said = picture_data(mixed)["pools"][0]["power_on"]
    assert said == mixed.plan.power_on["vgpu"].sentence
    assert has_approved(said, "5 hosts")


def test_where_bitfusion_shares_gpus_the_tab_says_why_it_is_empty(catalog: Catalog) -> None:
    """Bitfusion places its clients, not vSphere."""
    book = Workbook(catalog, load_scenario("enterprise"))
    assert picture_data(book)["pools"][0]["power_on"] == ""
    assert "Bitfusion shares" in power_on_data(book)["text"][0][0]["text"]
    assert not settings_form(book)["shown"]
    assert not card(book)["shown"]


def test_the_tab_begins_with_the_orders_that_start_every_vm(mixed: Workbook) -> None:
    low, high = (round(100 * share) for share in mixed.plan.power_on["vgpu"].now.chance)
    (said,) = power_on_data(mixed)["text"][0]
    assert is_approved(said["text"], low, high, "100")


def test_settings_side_by_side_and_a_button_that_takes_one(mixed: Workbook) -> None:
    assert [field["path"] for field in settings_form(mixed)["fields"]] == list(SETTINGS)
    settings, named, readings = card(mixed)["tables"]
    assert settings["rows"][0][0]["text"] == "Current settings"
    uses = {row[0]["text"]: row[0]["acts"][0] for row in settings["rows"][1:]}
    assert uses["GPU policy group"]["event"] == "set"
    assert "acts" not in settings["rows"][0][0]
    assert all("95\u00a0%:" in row[1]["note"] for row in settings["rows"])
    EVENTS["set"](mixed, uses["GPU policy group"]["rest"])
    assert mixed.scenario.platform.gpu_policy == "group"
    assert mixed.plan.power_on["vgpu"].now.all_start
    assert len(named["rows"]) >= 2
    assert len(readings["rows"]) == 2


def test_what_nearly_every_order_takes_is_priced(mixed: Workbook) -> None:
    """The hosts and the money that are named are those of the plan that is sized for it."""
    before = mixed.plan
    assert not any(text.startswith("Sized") for text in card(mixed)["text"])
    tried(mixed, 300)
    said = next(text for text in card(mixed)["text"] if text.startswith("Sized for 99 %"))
    mixed.edit("availability.sized_for", "orders")
    after = mixed.plan
    assert after.totals.hosts > before.totals.hosts
    assert has_approved(said, f"{after.totals.hosts} hosts", before.totals.hosts)
    assert before.costs and after.costs
    dearer = (after.costs.net_present - before.costs.net_present) / 1e3
    assert float(said.partition("USD ")[2].split()[0]) == pytest.approx(dearer, rel=0.01)
    assert has_approved(card(mixed)["text"], "99 %")


def test_thousands_of_orders_take_the_place_of_the_few(mixed: Workbook) -> None:
    few = mixed.plan.power_on["vgpu"]
    tried(mixed, 1500)
    assert card(mixed)["text"][0].startswith("1500 orders were tried")
    assert [button["text"] for button in card(mixed)["buttons"]] == ["Try again"]
    said = picture_data(mixed)["pools"][0]["power_on"]
    low, high = few.now.interval
    chance = card(mixed)["tables"][0]["rows"][0][1]["text"]
    assert has_approved(said, "5 hosts")
    assert low <= float(chance.split(" ")[0]) / 100 <= high
    settings = card(mixed)["tables"][0]["rows"]
    assert all(row[-1]["text"].isdigit() for row in settings), "hosts for every setting"
    mixed.edit("groups.c.people", "12")
    assert card(mixed)["text"][0].startswith(f"{mixed.plan.power_on['vgpu'].orders} orders were tried")
    mixed.undo()
    assert card(mixed)["text"][0].startswith("1500 orders were tried")


def test_the_worst_order_of_thousands_is_watched(mixed: Workbook) -> None:
    """One that the few of the plan did not have."""
    mixed.watch("vgpu")
    (pool,), worst = mixed.plan.pools, [2] * 16 + [1] * 12 + [0] * 4
    before = play_of(mixed, pool)
    tried(mixed, 50)
    for found in mixed.powering_on.runner.found[0]["tried"]["clusters"][0]["found"]["now"]:
        found[-1] = worst
    play = play_of(mixed, pool)
    assert before and play
    assert [step.kind for step in before.steps] != worst
    assert [step.kind for step in play.steps] == worst


def test_an_input_of_the_details_is_reached_from_a_message(catalog: Catalog) -> None:
    """They are open when it is looked for."""
    book = Workbook(catalog, from_dict(MIXED))
    WorkbookApp(book)._receive("visit", {"path": "platform.gpu_policy"})
    assert (book.step, settings_form(book)["shown"]) == ("hosts", True)


def test_progress_and_time_left(mixed: Workbook) -> None:
    runner = mixed.powering_on.runner
    runner.state, runner.started = "running", False
    assert card(mixed)["progress"]["text"] == "Starting\u2026"
    runner.started, runner.done, runner.step, runner.left_s = True, 0.25, "vGPU cluster", 150.0
    data = card(mixed)
    assert [button["event"] for button in data["buttons"]] == ["cancel-power-on"]
    assert is_approved(data["progress"]["text"], "2 min")
    runner.state = "cancelled"
    assert has_approved(card(mixed)["text"])


def test_the_command_is_started_on_the_design(mixed: Workbook, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []
    monkeypatch.setattr(mixed.powering_on.runner, "start_on", lambda *all: asked.append(all))
    EVENTS["power-on"](mixed, {})
    assert asked == [(mixed.plan.scenario, "power-on", "-", "--progress")]
    EVENTS["cancel-power-on"](mixed, {})
