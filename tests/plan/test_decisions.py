"""Decisions: numbered, complete, and true to the numbers of the plan."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from approved import has_approved, is_approved

from gpuplan import Plan, load_scenario, make_plan
from gpuplan.catalog import Catalog
from gpuplan.plan.decisions import WORDS
from gpuplan.scenario import from_dict


def texts(plan: Plan) -> dict[str, str]:
    return {d.title: d.decision for d in plan.decisions}


def planned(catalog: Catalog, **data: Any) -> Plan:
    return make_plan(from_dict(data), catalog)


def test_each_decision_is_complete(example: Plan) -> None:
    assert [d.number for d in example.decisions] == list(range(1, len(example.decisions) + 1))
    for decision in example.decisions:
        for text in (decision.title, decision.decision, decision.justification, decision.implication):
            assert text
            assert "  " not in text
        assert decision.decision.endswith(".")
        assert decision.sources
        assert all(source in example.catalog.sources for source in decision.sources)
        assert all(key in example.lines for key in decision.lines)


def test_starter(plans: dict[str, Plan]) -> None:
    found = texts(plans["starter"])
    assert is_approved(found["GPUs per host"], "PowerEdge R740xd", "2", "Tesla V100 PCIe 32GB")
    assert is_approved(found["Hosts for demand"], "14 GPUs", "7 hosts", "2 GPUs")
    assert has_approved(found["Failover capacity"], "1")
    assert is_approved(found["Capacity"], "8 hosts", "2 GPUs", "16 GPUs", "14", "1 host")
    assert "Passthrough" in found["Bitfusion servers"]
    assert "10 Gbit/s Ethernet" in found["Network"]
    assert "GPU allocation" not in found


def test_enterprise(plans: dict[str, Plan]) -> None:
    found = texts(plans["enterprise"])
    assert "with 4 Tesla V100" in found["GPUs per host"]
    assert is_approved(found["Hosts for demand"], "28 GPUs", "7 hosts", "4 GPUs")
    assert is_approved(found["Capacity"], "8 hosts", "4 GPUs", "32 GPUs", "28", "1 host")
    assert "vGPU" in found["GPU allocation"]
    assert has_approved(found["Bitfusion servers"])
    assert "PVRDMA" in found["Network"]


def test_two_clusters_say_so(catalog: Catalog) -> None:
    scenario = load_scenario("enterprise").with_value("platform.bitfusion_servers", "passthrough")
    found = texts(make_plan(scenario, catalog))
    assert has_approved(found["Failover capacity"], "1")
    assert has_approved(found["Capacity"], "9 hosts", "2 clusters", "4 GPUs", "36 GPUs", "32", "1 host")
    assert has_approved(found)
    assert has_approved(found)


def test_spare_hosts(catalog: Catalog) -> None:
    groups = [{"id": "a", "people": 8}]
    for failures, accepted, title, words in [
        (0, True, "No failover capacity", "N+0"),
        (2, True, "Failover capacity", "2 additional hosts for failures"),
        (1, False, "Failover capacity", "2 additional hosts, 1 for failures and 1 for maintenance"),
    ]:
        availability = {"host_failures": failures, "maintenance_failure_accepted": accepted}
        assert words in texts(planned(catalog, groups=groups, availability=availability))[title]


def test_a_loss_that_is_not_survived_is_not_called_survived(catalog: Catalog) -> None:
    plan = planned(catalog, groups=[{"id": "a", "people": 8}], availability={"host_failures": 0})
    capacity = next(d for d in plan.decisions if d.title == "Capacity")
    assert has_approved(capacity.justification, "4 VMs")


def test_passthrough(catalog: Catalog) -> None:
    plan = planned(catalog, groups=[{"id": "a", "name": "HPC", "people": 2, "access": "passthrough"}])
    assert is_approved(texts(plan)["Passthrough"])
    assert "GPU allocation" not in texts(plan)


def test_each_sentence_of_a_decision_says_something_new(plans: dict[str, Plan]) -> None:
    found = {d.title: d for d in plans["enterprise"].decisions}
    assert is_approved(found["Hosts for demand"].justification, "6 hosts", "24 GPUs", "28", "7 hosts")
    assert has_approved(found["Failover capacity"].implication, "128 h", "5.4 %")
    assert "growth" not in found["Cost and licences"].justification
    costs = plans["current"].costs
    assert costs is not None and costs.hosts[0] == 10
    growing = next(d for d in plans["current"].decisions if d.title == "Cost and licences")
    assert has_approved(growing.decision, "10 hosts")
    assert has_approved(growing.justification, f"{costs.hosts[-1]} hosts")


def test_nothing_asked_nothing_decided(catalog: Catalog) -> None:
    assert planned(catalog).decisions == ()


def test_a_promise_is_a_decision(catalog: Catalog) -> None:
    scenario = load_scenario("enterprise").with_value("demand.stated_gpus", None)
    assert make_plan(scenario, catalog).decisions[0].title == "GPUs per host"
    for rule, words in {
        "hours": "28 GPUs, for all users active in the busiest hours.",
        "wait": "31 GPUs, so that at most 5 % of the requests of each workload have to wait.",
        "wait-time": "so that at most 5 % of the requests of each workload wait longer than 10 min.",
    }.items():
        first = make_plan(scenario.with_value("demand.rule", rule), catalog).decisions[0]
        assert first.title == "GPU demand"
        assert words in first.decision
        assert "28 GPUs" in first.justification + first.decision
        assert set(first.lines) > {"demand.groups_gpus"}


def test_a_stated_total_that_sizes_the_design_is_a_decision(catalog: Catalog) -> None:
    by_total = load_scenario("enterprise").with_value("demand.rule", "stated")
    first = make_plan(by_total, catalog).decisions[0]
    assert first.title == "GPU demand"
    assert is_approved(first.decision, "28 GPUs")
    assert is_approved(first.implication)
    more = make_plan(by_total.with_value("groups.data-scientists.people", 64), catalog).decisions[0]
    assert "need 36 GPUs" in more.justification
    assert has_approved(more.implication, "2 VMs", "16 VMs", "4 VMs")


def test_the_fabric_is_a_decision(plans: dict[str, Plan], catalog: Catalog) -> None:
    found = {name: next(d for d in plan.decisions if d.title == "Fabric") for name, plan in plans.items()}
    assert has_approved(found["starter"].decision, "8 GPU hosts", "2 leaf switches")
    assert has_approved(found["starter"].justification, "2", "10 Gbit/s")
    assert has_approved(found["enterprise"].justification, "2", "100 Gbit/s", "1")
    assert "at most 1:1" in found["enterprise"].justification
    assert has_approved(found["enterprise"].implication)
    with_compute = make_plan(load_scenario("starter").with_value("network.compute_hosts", 90), catalog)
    fabric = next(d for d in with_compute.decisions if d.title == "Fabric")
    assert has_approved(fabric.decision, "8 GPU hosts", "90")
    assert "spine switches" in fabric.decision
    assert "not counted" not in fabric.implication


def test_a_fabric_without_switches_says_why(catalog: Catalog) -> None:
    plan = planned(catalog, groups=[{"id": "a", "people": 2}], network={"link_gbit_s": 1})
    (fabric,) = [d for d in plan.decisions if d.title == "Fabric"]
    assert has_approved(fabric.decision, "1 Gbit/s")
    assert fabric.lines == ("network.ports.shared",)
    assert all(key in plan.lines for key in fabric.lines)
    assert planned(catalog).cabling is None


def test_licences_and_cost_are_a_decision(plans: dict[str, Plan], catalog: Catalog) -> None:
    found = {
        name: next(d for d in plan.decisions if d.title == "Cost and licences")
        for name, plan in plans.items()
    }
    # 8 hosts x 2 processors x 32 cores
    assert is_approved(found["enterprise"].decision, "3 years", "8 hosts", "512 cores")
    assert has_approved(found["enterprise"].justification, "32 GPUs")
    assert "NVIDIA" not in found["starter"].justification  # its GPUs are passed through
    assert has_approved(found["current"].justification, "5 years from 90 days")
    for name, decision in found.items():
        assert {"cost.net_present", "cost.total", "cost.licensed_cores"} == set(decision.lines)
        assert "USD" in decision.justification, name
    owned = load_scenario("enterprise").with_value("cost.platform_licence", "owned")
    text = texts(make_plan(owned, catalog))["Cost and licences"]
    assert has_approved(text, "8 hosts")
    socket = load_scenario("enterprise").with_value("cost.platform_licence", "socket")
    text = texts(make_plan(socket, catalog))["Cost and licences"]
    assert "8 hosts, 16 licences." in text  # two processors of 32 cores, one licence each


def test_a_cost_in_another_currency_is_told_in_it(catalog: Catalog) -> None:
    scenario = load_scenario("enterprise")
    scenario = replace(scenario, cost=replace(scenario.cost, currency="EUR", usd_rate=0.9))
    last = make_plan(scenario, catalog).decisions[-1]
    assert "EUR" in last.justification
    assert "USD" not in last.justification


@pytest.mark.parametrize(("name", "beyond"), [("starter", 2), ("enterprise", 4), ("current", 9)])
def test_capacity_beyond_the_demand_is_all_that_stands_idle(catalog: Catalog, name: str, beyond: int) -> None:
    """GPUs of the spare hosts and what is left over on the others, not only what one failure takes."""
    plan = make_plan(load_scenario(name), catalog)
    capacity = next(d for d in plan.decisions if d.title == "Capacity")
    assert has_approved(capacity.implication, f"{beyond} GPUs")
    assert plan.totals.gpus - plan.totals.gpus_demanded == beyond


@pytest.mark.parametrize("case", WORDS)
def test_the_table_of_decisions_is_whole(catalog: Catalog, case: str) -> None:
    row = WORDS[case]
    assert all(row[name] for name in ("title", "decision", "justification", "implication"))
    assert all(source in catalog.sources for source in row["sources"].split())
