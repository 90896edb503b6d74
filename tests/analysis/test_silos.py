"""Silos in hosts, GPUs and money."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from gpuplan import Plan, load_scenario, make_plan
from gpuplan.analysis.silos import left_out, priced_silos, silo_costs, silos
from gpuplan.catalog import Catalog
from gpuplan.scenario import from_dict


def planned(catalog: Catalog, *groups: dict[str, Any], **sections: Any) -> Plan:
    data = {"groups": [{"id": f"g{n}", **g} for n, g in enumerate(groups, 1)], **sections}
    return make_plan(from_dict(data), catalog)


def test_silos_against_the_pool(catalog: Catalog) -> None:
    groups = (
        {"people": 20, "active_share": 0.25},
        {"people": 20, "active_share": 0.25, "hours": "08:00-20:00"},
        {"people": 2, "gpus_each": 4, "hours": "20:00-08:00"},
    )
    plan = planned(catalog, *groups, demand={"rule": "wait"}, availability={"host_failures": 1})
    found = silos(plan)
    for silo, group in zip(found.groups, groups, strict=True):
        alone = planned(catalog, group, demand={"rule": "wait"}, availability={"host_failures": 1})
        assert (silo.gpus, silo.hosts) == (alone.totals.gpus_demanded, alone.totals.hosts)
    assert [s.busy_gpus for s in found.groups] == pytest.approx([5, 2.5, 4])
    assert found.pool.busy_gpus == pytest.approx(11.5)
    assert found.groups[1].utilisation == pytest.approx(2.5 / found.groups[1].installed_gpus)
    assert found.together.installed_gpus > found.pool.installed_gpus
    assert found.together.hosts > found.pool.hosts
    assert found.together.utilisation < found.pool.utilisation
    assert found.pool.hosts == plan.totals.hosts


def test_a_stated_total_is_left_out_of_the_comparison(catalog: Catalog) -> None:
    plan = make_plan(
        load_scenario("enterprise").with_value("demand.stated_gpus", 60).with_value("demand.rule", "stated"),
        catalog,
    )
    assert silos(plan).pool.gpus == 28


def test_silos_add_up_and_are_those_of_the_demand(example: Plan) -> None:
    found, counted = silo_costs(example), silos(example)
    assert found is not None
    assert found.net_present == pytest.approx(sum(silo.net_present for silo in found.groups))
    assert found.total == pytest.approx(sum(silo.total for silo in found.groups))
    assert found.saved == pytest.approx(found.net_present - found.pool_net_present)
    assert (found.hosts, found.gpus) == (counted.together.hosts, counted.together.installed_gpus)
    assert (found.pool_hosts, found.pool_gpus) == (counted.pool.hosts, counted.pool.installed_gpus)
    assert [silo.group for silo in found.groups] == [group.id for group in example.scenario.groups]


def test_a_silo_is_its_group_alone_with_its_share_of_the_pools_switches(
    plans: dict[str, Plan], catalog: Catalog
) -> None:
    plan = plans["current"]
    priced, found = priced_silos(plan), silo_costs(plan)
    assert found is not None and plan.costs is not None and priced.unjoined.costs is not None
    bought = {m.key: m.cost for m in priced.unjoined.costs.materials}
    assert (
        not any(bought[key] for key in ("leaf", "spine", "host-cables", "switch-cables"))
        and bought["adapters"]
    )
    each = (plan.costs.net_present - priced.unjoined.costs.net_present) / plan.costs.hosts[-1]
    for silo in found.groups:
        own = priced.alone[silo.group].costs
        assert own is not None and silo.hosts == own.hosts[0]
        assert silo.net_present == pytest.approx(own.net_present + own.hosts[-1] * each)
    group = plan.scenario.groups[0]
    alone = make_plan(plan.scenario.with_groups([group]), catalog)
    only = silo_costs(alone)
    assert only is not None and alone.costs is not None
    assert only.saved == pytest.approx(0, abs=1) and only.net_present == pytest.approx(
        alone.costs.net_present
    )


def test_silos_are_not_cheaper_because_nothing_joins_them(plans: dict[str, Plan], catalog: Catalog) -> None:
    groups = [replace(group, people=round(group.people * 78.5)) for group in plans["current"].scenario.groups]
    found = silo_costs(make_plan(plans["current"].scenario.with_groups(groups), catalog))
    assert found is not None and found.hosts > found.pool_hosts > 600
    assert found.saved > 0


def test_the_pool_is_the_plan_where_nothing_is_left_aside(plans: dict[str, Plan]) -> None:
    plan = plans["current"]
    found = silo_costs(plan)
    assert found is not None and plan.costs is not None
    assert plan.scenario.demand.stated_gpus is None
    assert found.pool_net_present == plan.costs.net_present


def test_what_a_design_has_once_is_not_counted_for_every_silo(
    plans: dict[str, Plan], catalog: Catalog
) -> None:
    plan = plans["current"]
    more = plan.scenario.with_value("cost.management_hosts", 4).with_value("cost.spare_gpus", 3)
    assert silo_costs(make_plan(more, catalog)) == silo_costs(plan)


def test_the_claimed_utilisation_of_silos_as_the_cost_of_a_used_hour(plans: dict[str, Plan]) -> None:
    plan = plans["current"]
    found = silo_costs(plan)
    assert found is not None and found.claimed_gpu_hour is not None and plan.costs is not None
    installed = plan.costs.gpu_hour_installed
    assert installed is not None
    assert found.claimed_gpu_hour == pytest.approx((installed / 0.3, installed / 0.275, installed / 0.25))


def test_without_groups_there_are_no_silos(plans: dict[str, Plan], catalog: Catalog) -> None:
    plan = make_plan(plans["enterprise"].scenario.with_groups([]), catalog)
    assert plan.costs is not None and plan.totals.hosts == 8
    assert silo_costs(plan) is None


@pytest.mark.parametrize("people", [6, None])
def test_a_group_that_only_existing_hosts_take_is_left_out_of_both(
    catalog: Catalog, people: int | None
) -> None:
    """VMs with four GPUs are on owned hosts of four; new hosts have two, and carry the other group, if there is one."""
    others = [{"people": people, "access": "passthrough"}] if people else []
    hardware = {"gpu": "l40s-48gb", "gpus_per_host": 2}
    plan = planned(
        catalog,
        {"people": 2, "gpus_each": 4, "access": "passthrough"},
        *others,
        hardware=hardware | {"existing": "3 x 4 l40s-48gb"},
    )
    assert not plan.placed.missing
    kept = [f"g{n}" for n in range(2, 2 + len(others))]
    found, costs = silos(plan), silo_costs(plan)
    assert [silo.group for silo in found.groups] == kept
    alone = planned(catalog, *others, hardware=hardware)
    assert (found.pool.hosts, found.pool.gpus) == (alone.totals.hosts, alone.totals.gpus_demanded)
    assert (costs is None) == (not others) and len(left_out(plan, kept)) == 1
    assert costs is None or [silo.group for silo in costs.groups] == kept
    assert costs is None or left_out(plan, kept)[0] in costs.excludes
