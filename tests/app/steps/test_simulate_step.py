"""The simulation card: its button, its progress, and its tables."""

from __future__ import annotations

from gpuplan import load_scenario, make_plan
from gpuplan.app.model import Workbook
from gpuplan.app.steps.simulate_step import simulate_data
from gpuplan.catalog import Catalog
from gpuplan.trial import trial, trial_dict


def found(book: Workbook, *hosts: int) -> None:
    """As if a simulation had ended."""
    plan = make_plan(book.scenario, book.catalog)
    lines = [{"trial": trial_dict(trial(plan, plan.pools[0].id, hosts=n))} for n in hosts]
    book.simulating.scenario = book.scenario
    book.simulating.runner.found = lines
    book.simulating.runner.state = "done"


def test_before_during_and_after(catalog: Catalog) -> None:
    book = Workbook(catalog, load_scenario("starter"))
    data = simulate_data(book)
    assert [b["text"] for b in data["buttons"]] == ["Simulate"]
    assert not data["buttons"][0]["off"]
    assert data["tables"] == []
    assert data["progress"] is None
    book.simulating.runner.state, book.simulating.runner.done = "running", 0.25
    data = simulate_data(book)
    assert [b["event"] for b in data["buttons"]] == ["cancel-simulation"]
    assert data["progress"]["text"] == "25 %"
    found(book, 7, 8)
    data = simulate_data(book)
    hosts, groups = data["tables"]
    assert [row[0]["text"] for row in hosts["rows"]] == ["7 hosts", "8 hosts"]
    assert [row[0].get("tag") for row in hosts["rows"]] == [None, "planned"]
    assert hosts["rows"][0][2]["tone"] == "bad"
    assert "\u00b1" in hosts["rows"][0][2]["text"]
    assert [row[0]["text"] for row in groups["rows"]] == ["Data scientists", "Developers"]
    assert not data["old"]


def test_results_of_another_design_are_marked(catalog: Catalog) -> None:
    book = Workbook(catalog, load_scenario("starter"))
    found(book, 8)
    book.edit("groups.developers.people", "12")
    data = simulate_data(book)
    assert data["old"]
    assert data["text"][0] == "This was another design: simulate again."


def test_there_is_nothing_to_simulate_without_groups(catalog: Catalog) -> None:
    book = Workbook(catalog)
    assert not simulate_data(book)["shown"]
    book.edit("demand.stated_gpus", "8")
    assert not simulate_data(book)["shown"]
    broken = Workbook(catalog, load_scenario("starter"))
    broken.edit("hardware.gpus_per_host", "none")
    assert simulate_data(broken)["buttons"][0]["off"]


def test_an_error_is_shown(catalog: Catalog) -> None:
    book = Workbook(catalog, load_scenario("starter"))
    book.simulating.runner.state, book.simulating.runner.error = "failed", "it is too large"
    assert simulate_data(book)["problem"] == "it is too large"
