"""How many GPUs are enough by what is assumed about arrivals."""

from __future__ import annotations

from typing import Any

import pytest
from approved import has_approved, is_approved

from gpuplan import load_scenario, make_plan
from gpuplan.analysis.simulation import simulate_pool, simulation_dict
from gpuplan.app.state import Workbook
from gpuplan.app.steps.methods import simulate_data
from gpuplan.catalog import Catalog

pytest.importorskip("altair")
pytest.importorskip("traitlets")

from gpuplan.app.steps import methods
from gpuplan.scenario import from_dict
from gpuplan.wording import TEXTS


def said(data: dict[str, Any], key: str = "text") -> str:
    return " ".join("".join(part["text"] for part in parts) for parts in data[key])


def rows_of(table: dict[str, Any]) -> list[list[str]]:
    return [[cell["text"] for cell in row] for row in table["rows"]]


def test_methods_stand_beside_each_other(book: Workbook) -> None:
    book.edit("demand.rule", "wait")
    book.edit("demand.stated_gpus", "")
    data = methods.odds_data(book)
    rows = rows_of(data["tables"][0])
    assert [row[0] for row in rows] == ["Known users", "Independent arrivals", "Bursts"]
    assert is_approved(
        [cell.get("note") for cell in (row[0] for row in data["tables"][0]["rows"])],
        "binomial",
        "Erlang C, Hayward",
    )
    assert int(rows[0][1]) == 31 < int(rows[1][1]) < int(rows[2][1])
    closed, _, bursty = data["tables"][0]["rows"]
    assert (closed[0]["tag"], closed[1]["key"]) == ("used", "pools.vgpu.gpus_for_target")
    low, high = (int(text) for text in bursty[1]["note"].split(" to "))
    assert low <= int(bursty[1]["text"]) <= high
    assert has_approved(said(data, "after"), "31 GPUs")
    keys = [part["key"] for part in data["text"][0] if part.get("key")]
    assert keys == ["pools.vgpu.busy_gpus", "totals.waiting", "totals.waiting_after_failure"]
    assert set(keys) <= set(book.plan.lines)


def test_without_a_target_the_methods_are_a_question(book: Workbook) -> None:
    data = methods.odds_data(book)
    assert has_approved(said(data), "5 %")
    assert not any("tag" in row[0] for row in data["tables"][0]["rows"])


def test_jobs_are_believed_to_come_in_bursts(book: Workbook) -> None:
    book.edit("groups.hpc.jobs_per_day", "20")
    data = methods.odds_data(book)
    assert rows_of(data["tables"][0])[0][1:] == ["not applicable", "\u2013"]
    assert has_approved(said(data, "after"))
    assert "audit" in said(data, "after")


def test_what_is_assumed_about_bursts_is_shown_and_can_be_stated(book: Workbook) -> None:
    form = methods.assumption_form(book)
    empties = [float(field["empty"].removesuffix(" (assumed)")) for field in form["fields"][1:4]]
    value, low, high = empties
    assert low <= value <= high
    assert is_approved(form["hint"])
    book.edit("demand.peakedness", "9")
    assert methods.assumption_form(book)["hint"] == "automatic, peakedness stated"
    assert book.plan.scenario.demand.peakedness == 9


def test_each_pool_of_hosts_has_its_methods(catalog: Catalog) -> None:
    groups = [
        {"id": "a", "people": 8, "active_share": 0.5, "access": "passthrough"},
        {"id": "b", "people": 40, "active_share": 0.5, "gpus_each": 0.5, "access": "vgpu"},
    ]
    book = Workbook(catalog, from_dict({"groups": groups}))
    pools = {pool.id: pool for pool in book.plan.pools}
    assert len(pools) == 2
    (select,) = methods.odds_head(book)["selects"]
    assert [option["value"] for option in select["options"]] == list(pools)
    seen = set()
    for pool in pools.values():
        book.look("pool", pool.id)
        assert methods.odds_rows(book)["installed"] == 4 * pool.hosts_for_demand
        seen.add(str(methods.odds_data(book)["tables"]))
    assert len(seen) == 2
    book.look("pool", "no such pool")
    assert methods.odds_rows(book)["installed"] == 4 * book.plan.pools[0].hosts_for_demand


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
    assert [row[0].get("chip") for row in groups["rows"]] == [["D", 1], ["E", 2], None]
    assert [row[4]["text"] for row in groups["rows"]] == ["0 %"] * 3  # nothing is uncertain
    assert groups["more"] == ""
    assert not data["old"]
    assert data["after"] == [TEXTS["screen.methods.independent"]]


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
