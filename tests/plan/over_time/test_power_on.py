"""Power-on in the plan: what orders do to the VMs of a cluster, what changes that, and hosts that are sized for it."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from approved import has_approved
from power_on_designs import DEFAULTS, stated

from gpuplan import Plan, load_scenario, make_plan
from gpuplan.analysis.alternatives import alternatives
from gpuplan.catalog import Catalog
from gpuplan.models.power_on import Play
from gpuplan.plan.over_time.power_on import PowerOn
from gpuplan.plan.over_time.rules import FEWEST, ORDERS
from gpuplan.scenario import from_dict


def planned(catalog: Catalog, *groups: dict[str, Any], **sections: Any) -> Plan:
    data: dict[str, Any] = {
        "groups": [{"id": f"g{at}", "access": "vgpu", **g} for at, g in enumerate(groups)],
        "hardware": {"gpu": "l40s-48gb", "gpus_per_host": 2},
        "availability": {"host_failures": 0},
    }
    stated = {"platform": DEFAULTS | sections.pop("platform", {})}
    return make_plan(from_dict(data | stated | sections), catalog)


def only(plan: Plan) -> PowerOn:
    (made,) = plan.power_on.values()
    return made


ONES_AND_TWO = ({"people": 2, "gpus_each": 1}, {"people": 1, "gpus_each": 2})


def test_by_hand_one_order_of_three_leaves_the_large_vm_without_gpus(catalog: Catalog) -> None:
    """Two hosts of two GPUs; two VMs with one GPU and one with both: if the small ones start first, each takes a host."""
    made = only(planned(catalog, *ONES_AND_TWO))
    low, high = made.now.interval
    assert low < 2 / 3 < high and made.pool.hosts == 2
    assert made.now.most_missing == 1 and made.now.stranded_gpus == 2
    assert made.now.missing[1] == pytest.approx(1 - made.now.chance[0])
    assert made.tried("largest").all_start and not made.tried("smallest").all_start
    assert made.tried("host").all_start and made.hosts_by_size == 2
    assert has_approved(made.sentence, "2 hosts")
    assert has_approved(made.sentence, "1 VM")


def test_the_worst_order_is_one_that_can_be_watched(catalog: Catalog) -> None:
    made = only(planned(catalog, *ONES_AND_TWO))
    assert made.worst is not None
    reading, order = made.worst
    steps = Play(made.pool.requests, made.rooms, reading.rules, order).steps
    assert sum(step.spot is None for step in steps) == made.now.most_missing
    assert Counter(order) == {kind: request.vms for kind, request in enumerate(made.pool.requests)}


def test_spread_opens_a_gpu_for_each_vm_and_group_does_not(catalog: Catalog) -> None:
    """One host of two GPUs, two halves and two quarters: spread gives each half a GPU, whichever size comes first."""
    sizes = ({"people": 2, "gpus_each": 0.5}, {"people": 2, "gpus_each": 0.25})
    made = only(planned(catalog, *sizes))
    assert made.pool.hosts == 1 and made.now.chance[1] < 0.9
    assert made.tried("group").all_start and made.best.key == "group"
    grouped = only(planned(catalog, *sizes, platform={"gpu_policy": "group"}))
    assert grouped.now.found == made.tried("group").found
    assert grouped.now.all_start and grouped.worst is None and set(grouped.settings) >= {"spread"}


def test_vms_alike_start_in_every_order(catalog: Catalog) -> None:
    made = only(planned(catalog, {"people": 9, "gpus_each": 0.5}, {"people": 4, "gpus_each": 0.5}))
    assert made.orders == 1 and made.now.all_start
    assert has_approved(made.sentence)


def test_hosts_kept_out_of_power_on_start_no_vm(catalog: Catalog) -> None:
    """With the spare host all start; if it is kept empty the small VMs may take both others."""
    spare = planned(catalog, *ONES_AND_TWO, availability={"host_failures": 1})
    kept = planned(catalog, *ONES_AND_TWO, availability={"host_failures": 1, "reserved_hosts": 1})
    assert only(spare).now.all_start and not only(kept).now.all_start
    assert len(only(kept).rooms) == len(only(spare).rooms) - 1 == 2
    assert only(spare).at_demand.found == only(kept).now.found


def test_every_number_is_explained(catalog: Catalog) -> None:
    plan = planned(catalog, *ONES_AND_TWO)
    made, lines = only(plan), plan.lines
    at = f"pools.{made.pool.id}"
    assert lines[f"{at}.power_on_chance"].value == made.now.chance[0]
    assert lines[f"{at}.power_on_missing"].value == made.now.missing[1]
    assert lines[f"{at}.power_on_stranded"].value == made.now.stranded_gpus == 2
    assert "denneman-drs-placement" in lines[f"{at}.power_on_chance"].sources
    assert {given.name for given in lines[f"{at}.power_on_chance"].inputs} >= {
        "hosts",
        "orders",
        "gpu_policy",
    }


def test_a_larger_design_is_tried_less_and_a_huge_one_not(catalog: Catalog) -> None:
    hardware = {"gpu": "l40s-48gb", "gpus_per_host": 4}

    def made(people: int) -> PowerOn:
        groups = ({"people": people, "gpus_each": 0.125}, {"people": people // 8, "gpus_each": 1})
        plan = planned(catalog, *groups, hardware=hardware)
        found = [each for each in plan.power_on.values() if len(each.pool.requests) > 1]
        assert (
            bool([key for key in plan.lines if key.startswith(f"pools.{found[0].pool.id}.power_on_")])
            == found[0].known
        )
        return found[0]

    small, large, huge = made(8), made(600), made(4000)
    assert (small.orders, huge.orders) == (ORDERS, 0) and FEWEST <= large.orders < ORDERS
    assert "too many" in huge.sentence
    assert has_approved(large.sentence, large.orders)


@pytest.mark.parametrize("example", ["current"], indirect=True)
def test_of_an_example_the_advice_was_tried(example: Plan) -> None:
    """Policy and order together do what neither does alone; group hosts take one host more."""
    made = only(example)
    assert made.scenario.platform.gpu_policy == "group" and made.best is made.as_planned
    assert (made.now.chance, made.best.key, made.best.all_start) == ((0, 0), "largest", True)
    assert not made.tried("spread").all_start and not made.tried("spread, largest").all_start
    assert made.hosts_by_size == made.pool.hosts_for_demand + 1
    (decision,) = (each for each in example.decisions if each.case.startswith("power-on"))
    assert "group" in decision.decision and "largest" in decision.decision
    assert f"takes {made.hosts_by_size} hosts" in decision.implication


def test_a_setting_that_helps_is_tried_as_often_as_if_it_were_set(catalog: Catalog) -> None:
    """Of other settings fewer orders are tried, but all that start in few need not start in more."""
    made = only(planned(catalog, {"people": 90, "gpus_each": 1}, {"people": 5, "gpus_each": 2}))
    helps, does_not = made.tried("consolidation"), made._tried("smallest", parts=4)
    assert helps.all_start and helps.orders == made.orders == ORDERS and not does_not.all_start
    assert FEWEST < made._tried("consolidation").orders < ORDERS


def sized(catalog: Catalog, share: float, *groups: dict[str, Any], **more: Any) -> Plan:
    asked = {"host_failures": 1, "sized_for": "orders", "orders_share": share, **more}
    return planned(catalog, *groups, availability=asked)


def test_hosts_for_orders_come_beside_the_spare_ones(catalog: Catalog) -> None:
    plan = sized(catalog, 0.99, *ONES_AND_TWO)
    (pool,) = plan.pools
    assert (pool.hosts_at_best, pool.hosts_for_demand, pool.hosts_for_failures) == (2, 3, 1)
    assert pool.hosts == plan.totals.hosts == 4 == len(pool.placement)
    assert only(plan).at_demand.all_start and plan.divisions["vgpu"].reached
    assert len(only(plan).demand_rooms) == 3
    lines = plan.lines
    assert (lines["pools.vgpu.hosts_at_best"].value, lines["pools.vgpu.hosts_for_demand"].value) == (2, 3)
    assert [posture.hosts for posture in plan.postures] == [3, 4, 5]
    assert [level.fits for level in pool.losses] == [True, True, True], (
        "two of four do in the best arrangement"
    )
    assert sized(catalog, 0.5, *ONES_AND_TWO).totals.hosts == 3


@pytest.mark.parametrize("more", [{}, {"hosts_per_cluster": 5}, {"split": "by-group"}])
def test_never_fewer_hosts_than_the_best_arrangement_and_never_fewer_for_more_orders(
    catalog: Catalog, more: dict[str, Any]
) -> None:
    groups = (
        {"people": 5, "gpus_each": 1},
        {"people": 2, "gpus_each": 2},
        {"people": 5, "gpus_each": 0.5},
    )
    best = planned(catalog, *groups, availability={"host_failures": 1, **more})
    found = [sized(catalog, share, *groups, **more) for share in (0.5, 0.9, 1.0)]
    hosts = [plan.totals.hosts for plan in (best, *found)]
    assert hosts == sorted(hosts)
    for plan in found:
        assert all(pool.hosts <= more.get("hosts_per_cluster", 64) for pool in plan.pools)
        assert sum(pool.hosts_at_best for pool in plan.pools) >= sum(p.hosts_at_best for p in best.pools)
    if more.get("split") == "by-group":
        assert hosts[0] == hosts[-1], "VMs of each cluster are alike"


def test_hosts_already_there_that_nobody_needs_carry_orders_first(catalog: Catalog) -> None:
    there = {"gpu": "l40s-48gb", "gpus_per_host": 2, "existing": [{"hosts": 6, "gpus_per_host": 2}]}
    plan = sized(catalog, 0.99, *ONES_AND_TWO)
    with_them = make_plan(from_dict(_data(plan) | {"hardware": there}), catalog)
    (pool,) = with_them.pools
    assert (pool.hosts, pool.hosts_for_demand, pool.existing_hosts) == (6, 3, 6)


def test_hosts_too_small_for_a_vm_stand_in_for_no_new_one(catalog: Catalog) -> None:
    """Beside two hosts of one GPU four VMs of two GPUs and a half: if the half starts on a new host, it takes a fifth."""
    there = {"gpu": "l40s-48gb", "gpus_per_host": 2, "existing": [{"hosts": 2, "gpus_per_host": 1}]}
    groups = ({"people": 4, "gpus_each": 2}, {"people": 1, "gpus_each": 0.5})
    asked = {"host_failures": 0, "sized_for": "orders"}
    plan = planned(catalog, *groups, availability=asked, hardware=there)
    (pool,) = plan.pools
    assert (pool.hosts_at_best, pool.hosts_for_demand, pool.hosts) == (5, 6, 7)
    assert plan.divisions["vgpu"].reached and only(plan).at_demand.all_start and only(plan).now.all_start


def test_mixed_sizes_are_no_way_out_where_a_share_is_guaranteed(catalog: Catalog) -> None:
    """The fixed-share scheduler, which gives a guaranteed share, excludes mixed sizes."""
    groups = ({"people": 4, "gpus_each": 0.5}, {"people": 8, "gpus_each": 0.25})
    assert "mixed" in only(planned(catalog, *groups)).settings
    guaranteed = groups[0], {**groups[1], "isolation": True}
    assert "mixed" not in only(planned(catalog, *guaranteed)).settings


def _data(plan: Plan) -> dict[str, Any]:
    return {
        "groups": [
            {"id": g.id, "people": g.people, "gpus_each": g.gpus_each, "access": "vgpu"}
            for g in plan.scenario.groups
        ],
        "availability": {"host_failures": 1, "sized_for": "orders"},
        "platform": DEFAULTS,
    }


def test_growth_cost_and_alternatives_follow(catalog: Catalog) -> None:
    groups = ({"people": 4, "gpus_each": 1, "growth": 0.5}, {"people": 2, "gpus_each": 2})
    best = planned(catalog, *groups, cost={"years": 3})
    orders = make_plan(best.scenario.with_value("availability.sized_for", "orders"), catalog)
    assert best.costs and orders.costs
    pairs = list(zip(best.costs.hosts, orders.costs.hosts, strict=True))
    assert all(fewer <= more for fewer, more in pairs) and pairs[0][0] < pairs[0][1]
    assert orders.costs.net_present > best.costs.net_present
    (row,) = (each for each in alternatives(best) if each.key == "orders")
    assert row.hosts == orders.costs.hosts and row.difference > 0
    (row,) = (each for each in alternatives(orders) if each.key == "best")
    assert row.hosts == best.costs.hosts and row.difference < 0


def test_hosts_that_do_not_help_are_no_alternative(catalog: Catalog) -> None:
    """So many hosts as a cluster may have start every VM in too few orders: policy and order do, hosts do not."""
    plan = make_plan(stated(load_scenario("current")), catalog)
    assert "orders" not in {each.key for each in alternatives(plan)}
