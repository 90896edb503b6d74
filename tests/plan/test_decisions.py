"""Decisions: numbered, complete, and true to the numbers of the plan."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

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
    assert found["GPUs per host"] == "Each GPU host is a PowerEdge R740xd with 2 Tesla V100 PCIe 32GB."
    assert found["Hosts for the demand"] == "A demand of 14 GPUs needs at least 7 hosts with 2 GPUs each."
    assert found["Failover capacity"].startswith(
        "1 additional host for high availability and maintenance; a failure during"
    )
    assert found["Capacity"] == "8 hosts with 2 GPUs each give 16 GPUs, and 14 when 1 host is lost."
    assert "GPUs in passthrough" in found["Bitfusion servers"]
    assert "10 Gbit/s Ethernet" in found["Network"]
    assert "Allocation of GPUs" not in found


def test_enterprise(plans: dict[str, Plan]) -> None:
    found = texts(plans["enterprise"])
    assert "with 4 Tesla V100" in found["GPUs per host"]
    assert found["Hosts for the demand"] == "A demand of 28 GPUs needs at least 7 hosts with 4 GPUs each."
    assert found["Capacity"] == "8 hosts with 4 GPUs each give 32 GPUs, and 28 when 1 host is lost."
    assert "vComputeServer" in found["Allocation of GPUs"]
    assert "another consumer of vGPUs" in found["Bitfusion servers"]
    assert "PVRDMA" in found["Network"]


def test_two_clusters_say_so(catalog: Catalog) -> None:
    scenario = load_scenario("enterprise").with_value("platform.bitfusion_servers", "passthrough")
    found = texts(make_plan(scenario, catalog))
    assert "1 additional host in each cluster" in found["Failover capacity"]
    assert found["Capacity"].startswith(
        "9 hosts in 2 clusters with 4 GPUs each give 36 GPUs, and 32 when 1 host is"
    )
    assert "Hosts for the demand in the vGPU cluster" in found
    assert "Hosts for the demand in the Bitfusion cluster" in found


def test_spare_hosts(catalog: Catalog) -> None:
    groups = [{"id": "a", "people": 8}]
    for failures, accepted, title, words in [
        (0, True, "No failover capacity", "No host is added"),
        (2, True, "Failover capacity", "2 additional hosts for high availability"),
        (1, False, "Failover capacity", "2 additional hosts: 1 for failures and 1 for maintenance"),
    ]:
        availability = {"host_failures": failures, "maintenance_failure_accepted": accepted}
        assert words in texts(planned(catalog, groups=groups, availability=availability))[title]


def test_a_loss_that_is_not_survived_is_not_called_survived(catalog: Catalog) -> None:
    plan = planned(catalog, groups=[{"id": "a", "people": 8}], availability={"host_failures": 0})
    capacity = next(d for d in plan.decisions if d.title == "Capacity")
    assert "4 VMs have no GPU" in capacity.justification


def test_passthrough(catalog: Catalog) -> None:
    plan = planned(catalog, groups=[{"id": "a", "name": "HPC", "people": 2, "access": "passthrough"}])
    assert texts(plan)["Passthrough"] == "Whole GPUs by DirectPath I/O, on hosts of their own, for HPC."
    assert "Allocation of GPUs" not in texts(plan)


def test_each_sentence_of_a_decision_says_something_new(plans: dict[str, Plan]) -> None:
    found = {d.title: d for d in plans["enterprise"].decisions}
    assert found["Hosts for the demand"].justification == (
        "6 hosts would provide 24 GPUs; the VMs occupy 28. A placement on 7 hosts exists."
    )
    assert found["Failover capacity"].implication.endswith(
        ": 128 h a year are exposed to this, with a probability of 5.4 % a year."
    )
    assert "growth" not in found["Cost and licences"].justification
    costs = plans["current"].costs
    assert costs is not None and costs.hosts[0] == 10
    growing = next(d for d in plans["current"].decisions if d.title == "Cost and licences")
    assert ": 10 hosts at the start," in growing.decision
    assert f"the design and growth to {costs.hosts[-1]} hosts cost USD" in growing.justification


def test_nothing_asked_nothing_decided(catalog: Catalog) -> None:
    assert planned(catalog).decisions == ()


def test_a_promise_is_a_decision(catalog: Catalog) -> None:
    scenario = load_scenario("enterprise").with_value("demand.stated_gpus", None)
    assert make_plan(scenario, catalog).decisions[0].title == "GPUs per host"
    for rule, words in {
        "hours": "28 GPUs carry every user active in the busiest hours of the week.",
        "wait": "31 GPUs, so that at most 5 % of the requests of each group have to wait.",
        "wait-time": "so that at most 5 % of the requests of each group wait longer than 10 min.",
    }.items():
        first = make_plan(scenario.with_value("demand.rule", rule), catalog).decisions[0]
        assert first.title == "GPU demand"
        assert words in first.decision
        assert "28 GPUs" in first.justification + first.decision
        assert set(first.lines) > {"demand.groups_gpus"}


def test_a_stated_total_that_sizes_the_design_is_a_decision(catalog: Catalog) -> None:
    by_total = load_scenario("enterprise").with_value("demand.rule", "stated")
    first = make_plan(by_total, catalog).decisions[0]
    assert (first.title, first.decision) == ("GPU demand", "28 GPUs, the customer's stated total.")
    assert first.implication == "Every group has its GPUs within it."
    more = make_plan(by_total.with_value("groups.data-scientists.people", 64), catalog).decisions[0]
    assert "need 36 GPUs" in more.justification
    assert "HPC users: 2 VMs, Developers: 16 VMs, Distributed machine learning: 4 VMs" in more.implication


def test_the_fabric_is_a_decision(plans: dict[str, Plan], catalog: Catalog) -> None:
    found = {name: next(d for d in plan.decisions if d.title == "Fabric") for name, plan in plans.items()}
    assert found["starter"].decision.startswith(
        "Each GPU host has 2 teamed ports of 10 Gbit/s. 8 GPU hosts connect"
    )
    assert "to 2 leaf switches" in found["starter"].decision
    assert "2 teamed ports of 100 Gbit/s and 1 for PVRDMA only" in found["enterprise"].decision
    assert "at most 1:1" in found["enterprise"].justification
    assert "Hosts without GPUs are not counted" in found["enterprise"].implication
    with_compute = make_plan(load_scenario("starter").with_value("network.compute_hosts", 90), catalog)
    fabric = next(d for d in with_compute.decisions if d.title == "Fabric")
    assert "8 GPU hosts and 90 compute hosts connect" in fabric.decision
    assert "spine switches" in fabric.decision
    assert "not counted" not in fabric.implication


def test_a_fabric_without_switches_says_why(catalog: Catalog) -> None:
    plan = planned(catalog, groups=[{"id": "a", "people": 2}], network={"link_gbit_s": 1})
    (fabric,) = [d for d in plan.decisions if d.title == "Fabric"]
    assert (
        "switches still to be chosen: no switch in the catalog has ports of 1 Gbit/s for hosts"
        in fabric.decision
    )
    assert fabric.lines == ("network.ports.shared",)
    assert all(key in plan.lines for key in fabric.lines)
    assert planned(catalog).cabling is None


def test_licences_and_cost_are_a_decision(plans: dict[str, Plan], catalog: Catalog) -> None:
    found = {
        name: next(d for d in plan.decisions if d.title == "Cost and licences")
        for name, plan in plans.items()
    }
    # 8 hosts x 2 processors x 32 cores
    assert found["enterprise"].decision == (
        "VMware Cloud Foundation is licensed by subscription per core, 3 years in advance: 8 hosts, 512 cores. The 32 GPUs in "
        "hosts that share GPUs need NVIDIA AI Enterprise, one licence each, subscription."
    )
    assert "NVIDIA" not in found["starter"].decision  # its GPUs are passed through
    assert "is bundled with the board for 5 years" in found["current"].decision
    for name, decision in found.items():
        assert {"cost.net_present", "cost.total", "cost.licensed_cores"} == set(decision.lines)
        assert "USD" in decision.justification, name
    owned = load_scenario("enterprise").with_value("cost.platform_licence", "owned")
    text = texts(make_plan(owned, catalog))["Cost and licences"]
    assert text.startswith("The platform is already owned: 8 hosts. The 32 GPUs")
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
    assert f" {beyond} GPUs beyond the demand" in capacity.implication
    assert plan.totals.gpus - plan.totals.gpus_demanded == beyond


@pytest.mark.parametrize("case", WORDS)
def test_the_table_of_decisions_is_whole(catalog: Catalog, case: str) -> None:
    row = WORDS[case]
    assert all(row[name] for name in ("title", "decision", "justification", "implication"))
    assert all(source in catalog.sources for source in row["sources"].split())
