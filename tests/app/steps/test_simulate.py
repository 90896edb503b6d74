"""The simulation card: its button, its progress, and its tables."""

from __future__ import annotations

from approved import is_approved

from gpuplan import load_scenario, make_plan
from gpuplan.analysis.simulation import simulate_pool, simulation_dict
from gpuplan.app.state import Workbook
from gpuplan.app.steps.simulate import BELIEVE, simulate_data
from gpuplan.catalog import Catalog


def found(book: Workbook, *hosts: int) -> None:
    """As if a simulation had ended."""
    plan = make_plan(book.scenario, book.catalog)
    lines = [{"simulation": simulation_dict(simulate_pool(plan, plan.pools[0].id, hosts=n))} for n in hosts]
    book.simulating.scenario = book.scenario
    book.simulating.runner.found = lines
    book.simulating.runner.state = "done"


def test_before_during_and_after(catalog: Catalog) -> None:
    book = Workbook(catalog, load_scenario("starter"))
    data = simulate_data(book)
    assert [b["text"] for b in data["buttons"]] == ["Simulate"]
    assert not data["buttons"][0]["off"]
    assert data["tables"] == data["after"] == []
    assert data["progress"] is None
    runner = book.simulating.runner
    runner.state, runner.started, runner.done = "running", True, 0.25
    data = simulate_data(book)
    assert [b["event"] for b in data["buttons"]] == ["cancel-simulate"]
    assert data["progress"]["text"] == "25 %"
    found(book, 7, 8)
    data = simulate_data(book)
    hosts, groups = data["tables"]
    assert [row[0]["text"] for row in hosts["rows"]] == ["7 hosts", "8 hosts"]
    assert [row[0].get("tag") for row in hosts["rows"]] == ["for the demand", "planned"]
    assert hosts["rows"][0][2]["tone"] == "bad"
    assert "\u00b1" in hosts["rows"][0][2]["text"]
    assert [row[0]["text"] for row in groups["rows"]] == ["Data scientists", "Developers", "All"]
    assert [row[0].get("chip") for row in groups["rows"]] == [["D", 1], ["V", 2], None]
    assert [row[4]["text"] for row in groups["rows"]] == ["0 %"] * 3  # nothing is uncertain
    assert groups["more"] == ""
    assert not data["old"]
    assert data["after"] == [BELIEVE]


def test_the_fewest_hosts_that_keep_the_target_are_named(catalog: Catalog) -> None:
    book = Workbook(catalog, load_scenario("starter"))
    found(book, 8)
    assert is_approved(simulate_data(book)["text"], "5 %")
    found(book, 8, 9, 12, 13)
    assert is_approved(simulate_data(book)["text"], "12 hosts", "5 %")
    book.simulating.runner.state = "running"
    assert simulate_data(book)["text"] == []


def test_groups_without_requests_in_these_hours_are_named(catalog: Catalog) -> None:
    book = Workbook(catalog, load_scenario("current"))
    found(book, 10)
    groups = simulate_data(book)["tables"][1]
    assert "Developers" not in [row[0]["text"] for row in groups["rows"]]
    assert is_approved(groups["more"])


def test_hosts_without_a_spare_one_are_planned_and_no_more(catalog: Catalog) -> None:
    book = Workbook(catalog, load_scenario("starter"))
    book.edit("availability.host_failures", "0")
    found(book, 7)
    (row,) = simulate_data(book)["tables"][0]["rows"]
    assert row[0]["tag"] == "planned"


def test_results_of_another_design_are_marked(catalog: Catalog) -> None:
    book = Workbook(catalog, load_scenario("starter"))
    found(book, 8)
    book.edit("groups.developers.people", "12")
    data = simulate_data(book)
    assert data["old"]
    assert is_approved(data["text"])


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
    assert is_approved(simulate_data(book)["problem"])
