"""Hosts: their number for a demand, for failures and for a stated total."""

from __future__ import annotations

from collections import Counter
from typing import Any

from approved import has_approved

from gpuplan import Plan, Scenario, load_scenario, make_plan
from gpuplan.catalog import Catalog
from gpuplan.models.placement import Request, place
from gpuplan.plan.checks import check_plan
from gpuplan.scenario import UNASSIGNED, Group, from_dict


def planned(catalog: Catalog, **data: Any) -> Plan:
    return make_plan(from_dict(data), catalog)


def groups(*items: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"id": f"g{number}", **item} for number, item in enumerate(items, 1)]


# ---- the two worked designs: the table of the reference architecture


def test_bitfusion_servers_by_passthrough_have_hosts_of_their_own(catalog: Catalog) -> None:
    scenario = load_scenario("enterprise").with_value("platform.bitfusion_servers", "passthrough")
    plan = make_plan(scenario, catalog)
    assert {p.id: p.hosts_for_demand for p in plan.pools} == {"vgpu": 3, "bitfusion": 4}  # 12 / 4 and 16 / 4
    assert {p.id: p.hosts for p in plan.pools} == {
        "vgpu": 4,
        "bitfusion": 5,
    }  # each with a spare host of its own
    assert (plan.totals.hosts, plan.totals.gpus, plan.totals.gpus_after_failure) == (9, 36, 32)
    codes = {m.code for m in check_plan(plan)}
    assert "bitfusion-fed-by-vgpu" not in codes


def test_eight_requests_of_three_need_nine_hosts(catalog: Catalog) -> None:
    plan = planned(
        catalog,
        groups=groups({"people": 8, "gpus_each": 3, "use_case": "high-end-training"}),
        hardware={"gpus_per_host": 4},
        availability={"host_failures": 1},
    )
    assert (plan.totals.hosts_for_demand, plan.totals.hosts) == (8, 9)
    assert plan.lines["pools.passthrough.count_hosts"].value == 6  # what division would say
    assert plan.pools[0].method == "large"


def test_a_stated_total_above_the_groups(catalog: Catalog) -> None:
    plan = planned(catalog, groups=groups({"people": 20}), demand={"rule": "stated", "stated_gpus": 28})
    assert plan.totals.gpus_demanded == 28
    assert plan.totals.hosts_for_demand == 7
    slots = Counter(s.group for p in plan.pools for h in p.placement for load in h for s in load.slots)
    assert slots == {"g1": 20, UNASSIGNED: 8}
    assert plan.lines["demand.unassigned_gpus"].value == 8
    assert "stated-above-groups" in {m.code for m in check_plan(plan)}


def test_a_stated_total_alone(catalog: Catalog) -> None:
    plan = planned(catalog, demand={"stated_gpus": 14}, hardware={"gpus_per_host": 2})
    assert (plan.totals.hosts, plan.totals.gpus) == (8, 16)
    assert [p.id for p in plan.pools] == ["gpu"]


def test_a_stated_total_below_the_groups(catalog: Catalog) -> None:
    plan = planned(
        catalog,
        groups=groups(
            {"people": 10, "gpus_each": 2, "access": "vgpu"}, {"people": 10}, {"people": 3, "gpus_each": 0.5}
        ),
        demand={"rule": "stated", "stated_gpus": 25},
    )
    # 20 for the first, 5 of 10 for the second, nothing for the third
    assert [g.vms_placed for g in plan.groups] == [10, 5, 0]
    assert [u.vms for g in plan.groups for u in g.unplaced] == [5, 3]
    assert plan.totals.unplaced_vms == 8
    assert plan.totals.gpus_demanded == plan.pools[0].gpus_demanded == 25
    message = next(m for m in check_plan(plan) if m.code == "beyond-stated-total")
    assert message.level == "stop"


def test_a_remainder_that_no_vm_fits_into_is_nobody_s(catalog: Catalog) -> None:
    # 3 x 4 = 12 against 10: two VMs, and 2 GPUs that the third cannot use
    plan = planned(
        catalog, groups=groups({"people": 3, "gpus_each": 4}), demand={"rule": "stated", "stated_gpus": 10}
    )
    assert plan.groups[0].vms_placed == 2
    assert plan.lines["demand.unassigned_gpus"].value == 2
    assert plan.pools[0].gpus_demanded == 10
    # half a GPU left over: the message says what is really planned for nobody
    plan = planned(
        catalog, groups=groups({"people": 5, "gpus_each": 0.5}), demand={"rule": "stated", "stated_gpus": 14}
    )
    assert plan.lines["demand.unassigned_gpus"].value == 11
    message = next(m for m in check_plan(plan) if m.code == "stated-above-groups")
    assert "11 whole GPUs" in message.text


def test_passthrough_and_vgpu_do_not_share_hosts(catalog: Catalog) -> None:
    plan = planned(
        catalog,
        groups=groups({"people": 3}, {"people": 3, "access": "passthrough"}),
        hardware={"gpus_per_host": 4},
    )
    assert {p.id: p.hosts for p in plan.pools} == {"vgpu": 2, "passthrough": 2}
    assert plan.totals.hosts == 4


def test_the_plan_s_hosts_are_those_of_its_requests(catalog: Catalog) -> None:
    group = Group("a", people=7, gpus_each=3)
    plan = make_plan(Scenario(groups=(group,)), catalog)
    assert plan.pools[0].placement[:7] == place([Request("a", 7, gpus=3)], gpus_per_host=4).hosts
    assert plan.pools[0].placement[7:] == ((),)
    assert plan.group("a").vms == 7


def test_spare_hosts_beside_smaller_ones_already_there(catalog: Catalog) -> None:
    """10 GPUs beside one host with 2: two new of 4 hold 8 and the old one 2; one more for a failure."""
    plan = planned(
        catalog,
        groups=groups({"people": 10}),
        hardware={"gpus_per_host": 4, "existing_hosts": 1, "existing_gpus_per_host": 2},
    )
    lines = {
        name: plan.lines[f"pools.vgpu.{name}"] for name in ("hosts_for_demand", "hosts_for_failures", "hosts")
    }
    assert [line.value for line in lines.values()] == [3, 1, 4]
    assert plan.pools[0].hosts == 4
    assert (plan.lines["pools.vgpu.gpus"].value, plan.totals.gpus_after_failure) == (3 * 4 + 2, 2 * 4 + 2)
    assert has_approved(lines["hosts_for_demand"].formula, "1", "2")
