"""The mix that the hosts are sized for, and the chance of waiting, in whole plans."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from gpuplan import Plan, ScenarioError, load_scenario, make_plan
from gpuplan.catalog import Catalog
from gpuplan.models.placement import place
from gpuplan.scenario import from_dict

DAY = {"hours": "09:00-18:00", "days": "weekdays"}


NIGHT = {"hours": "20:00-06:00"}


HARDWARE = {"gpu": "l40s-48gb", "gpus_per_host": 4}
MOVED = {"stun_limit_s": 1000}
"""Whole GPUs keep vMotion, so all groups share hosts."""


def planned(catalog: Catalog, *groups: dict[str, Any], **demand: Any) -> Plan:
    data = {
        "groups": [{"id": f"g{n}", **g} for n, g in enumerate(groups, 1)],
        "demand": demand,
        "hardware": HARDWARE,
        "availability": MOVED,
    }
    return make_plan(from_dict(data), catalog)


def test_day_and_night_share_the_same_gpus(catalog: Catalog) -> None:
    groups = ({"people": 16, "gpus_each": 0.5, **DAY}, {"people": 3, "gpus_each": 4, **NIGHT})
    added = planned(catalog, *groups)
    shared = planned(catalog, *groups, rule="hours")
    assert (added.totals.gpus_demanded, shared.totals.gpus_demanded) == (20, 12)
    assert (added.totals.hosts, shared.totals.hosts) == (6, 4)
    (pool,) = shared.hours
    assert pool.hosts == (3, 2)
    assert [g.vms for g in shared.groups] == [0, 3]  # the night takes the most hosts
    assert shared.lines["demand.sum_of_peaks_gpus"].value == 20
    assert shared.totals.unplaced_vms == 0


def test_every_mix_fits_on_the_hosts_for_the_demand(catalog: Catalog) -> None:
    groups = (
        {"people": 9, "gpus_each": 0.5, "sites": "Bangalore", **DAY},
        {"people": 5, "gpus_each": 3, "sites": "Austin", **DAY},
        {"people": 2, "gpus_each": 4, **NIGHT},
        {"people": 20, "active_share": 0.5, "gpus_each": 0.125},
    )
    for rule in ("hours", "wait", "denied", "wait-time"):
        plan = planned(catalog, *groups, rule=rule)
        (pool,), (hours,) = plan.pools, plan.hours
        assert pool.hosts_for_demand == max(hours.hosts) == hours.hosts[hours.chosen]
        shapes = {r.group: r for r in pool.requests}
        for want, hosts in zip(hours.needed, hours.hosts, strict=True):
            if set(shapes) >= {g for g, n in want.requests.items() if n}:
                asked = tuple(shapes[g]._replace(vms=n) for g, n in want.requests.items() if n)
                assert len(place(asked, gpus_per_host=4).hosts) == hosts


def test_pools_that_cannot_lend_each_other_gpus_are_sized_apart(catalog: Catalog) -> None:
    groups = (
        {"people": 10, "active_share": 0.3},
        {"people": 10, "active_share": 0.3, "access": "passthrough"},
    )
    plan = planned(catalog, *groups, rule="wait")
    alone = planned(catalog, groups[0], rule="wait")
    assert {pool.id for pool in plan.pools} == {"vgpu", "passthrough"}
    assert plan.totals.gpus_demanded == 2 * alone.totals.gpus_demanded
    together = planned(catalog, *(groups[0], groups[0]), rule="wait")
    assert together.totals.gpus_demanded < plan.totals.gpus_demanded


def test_the_target_moves_the_gpus(catalog: Catalog) -> None:
    group = {"people": 40, "active_share": 1 / 3}
    by_chance = [
        planned(catalog, group, rule="wait", chance=chance).totals.gpus_demanded
        for chance in (0.5, 0.2, 0.1, 0.05, 0.01, 0.001)
    ]
    assert by_chance == sorted(by_chance)
    assert by_chance[0] < by_chance[-1] <= 40
    assert planned(catalog, group, rule="sum").totals.gpus_demanded == 14
    tight = planned(catalog, group, rule="wait", chance=0.05)
    line = tight.lines["pools.vgpu.gpus_for_target"]
    assert line.value == tight.totals.gpus_demanded == 19
    assert line.function == "models.demand.closed_groups.closed_wait_chance"
    late = [
        planned(catalog, group, rule="wait-time", wait_min=minutes).totals.gpus_demanded
        for minutes in (0, 10, 60, 600)
    ]
    assert late == sorted(late, reverse=True)


def test_more_people_never_want_fewer_gpus(catalog: Catalog) -> None:
    for rule, method in itertools.product(
        ("hours", "wait", "wait-time", "denied"), ("auto", "poisson", "bursty")
    ):
        found = [
            planned(
                catalog,
                {"people": n, "active_share": 0.3, **DAY},
                {"people": 10, "gpus_each": 2, "active_share": 0.5},
                rule=rule,
                method=method,
            ).totals.gpus_demanded
            for n in range(0, 40, 3)
        ]
        assert found == sorted(found), (rule, method)


def test_bursts_are_not_held_down_by_the_number_of_people(catalog: Catalog) -> None:
    """Who starts several jobs at once asks for more than one place."""
    group = {"people": 10, "active_share": 0.5}
    closed = planned(catalog, group, rule="wait", chance=0.001).totals.gpus_demanded
    bursty = planned(catalog, group, rule="wait", method="bursty").totals.gpus_demanded
    assert closed <= 10 < bursty


def test_groups_drive_the_design_beside_a_stated_total(catalog: Catalog) -> None:
    group = {"people": 40, "active_share": 1 / 3}
    plan = planned(catalog, group, rule="wait", stated_gpus=28)
    assert plan.totals.gpus_demanded == plan.lines["demand.groups_gpus"].value == 19
    assert "demand.unassigned_gpus" not in plan.lines
    by_total = planned(catalog, group, rule="stated", stated_gpus=28)
    assert by_total.totals.gpus_demanded == 28
    assert by_total.lines["demand.groups_gpus"].value == 14  # 40 / 3 active, rounded up
    assert by_total.lines["demand.unassigned_gpus"].value == 14


def test_the_first_number_of_a_presenter_moves_the_design(catalog: Catalog) -> None:
    """64 data scientists for 32: 8 active VMs of half a GPU more, 36 GPUs on 9 + 1 hosts, everything placed."""
    enterprise = load_scenario("enterprise")
    plan = make_plan(enterprise.with_value("groups.data-scientists.people", 64), catalog)
    totals = plan.totals
    assert (totals.gpus_demanded, totals.hosts, totals.gpus, totals.gpus_after_failure) == (36, 10, 40, 36)
    assert (totals.unplaced_vms, totals.unplaced_vms_after_failure) == (0, 0)
    before = make_plan(enterprise, catalog)
    assert plan.costs and before.costs and plan.costs.net_present > before.costs.net_present


def test_the_rule_of_a_stated_total_needs_one(catalog: Catalog) -> None:
    with pytest.raises(ScenarioError, match="stated_gpus is empty"):
        planned(catalog, {"people": 4}, rule="stated")


@pytest.mark.parametrize(
    ("group", "demand", "path"),
    [
        ({"jobs_per_day": 4}, {"rule": "wait", "method": "closed"}, "demand.method"),
        ({"sites": "Atlantis"}, {}, "groups.g1.sites"),
        ({"active_share": 0.2, "off_hours_share": 0.5}, {}, "groups.g1.off_hours_share"),
        ({}, {"peakedness": 4, "peakedness_low": 5}, "demand.peakedness_low"),
        ({}, {"peakedness": 4, "peakedness_high": 3}, "demand.peakedness"),
    ],
)
def test_what_cannot_be_answered_is_refused_at_its_field(
    group: dict[str, Any], demand: dict[str, Any], path: str, catalog: Catalog
) -> None:
    with pytest.raises(ScenarioError) as caught:
        planned(catalog, group, **demand)
    assert [p.path for p in caught.value.problems] == [path]


def test_existing_hosts_and_memory_are_counted_in_every_mix(catalog: Catalog) -> None:
    data = {
        "groups": [
            {"id": "day", "people": 8, "memory_gib_each": 128, **DAY},
            {"id": "night", "people": 2, "gpus_each": 4, "memory_gib_each": 64, **NIGHT},
        ],
        "demand": {"rule": "hours"},
        "hardware": {**HARDWARE, "memory_gib_per_host": 256, "existing_hosts": 1},
        "availability": MOVED,
    }
    plan = make_plan(from_dict(data), catalog)
    (hours,) = plan.hours
    assert sorted(hours.hosts) == [2, 4]  # two VMs fill the memory of a host by day
    assert plan.totals.hosts_for_demand == 4


@pytest.mark.parametrize("what", ["vcpus", "memory_gib"])
def test_what_else_a_vm_takes_of_a_host_is_counted_in_every_mix(catalog: Catalog, what: str) -> None:
    """8 VMs of which two fill a host of 4 GPUs take 4 hosts by day; 2 VMs with 4 GPUs take 2 at night."""
    per_host = {"vcpus": "vcpus_per_host", "memory_gib": "memory_gib_per_host"}[what]
    data = {
        "groups": [
            {"id": "day", "people": 8, f"{what}_each": 32, **DAY},
            {"id": "night", "people": 2, "gpus_each": 4, f"{what}_each": 16, **NIGHT},
        ],
        "demand": {"rule": "hours"},
        "hardware": {**HARDWARE, per_host: 64},
        "availability": MOVED,
    }
    plan = make_plan(from_dict(data), catalog)
    (hours,) = plan.hours
    assert sorted(hours.hosts) == [2, 4]
    assert plan.totals.hosts_for_demand == 4


def test_the_line_of_a_load_rests_on_the_sites_and_hours_that_are_stated(catalog: Catalog) -> None:
    usual = {"people", "active_share"}
    for stated, more in (({}, set()), (DAY, {"hours"}), ({"sites": "Austin", **DAY}, {"hours", "sites"})):
        plan = planned(catalog, {"id": "a", "people": 8, **stated}, rule="hours")
        assert {i.name for i in plan.lines["groups.a.busy_load"].inputs} == usual | more


@pytest.mark.parametrize("rule", ["sum", "hours"])
def test_a_peak_is_what_is_planned_for_only_where_peaks_are_added_up(catalog: Catalog, rule: str) -> None:
    """By the busiest hours the peak of a group is a line of its own, beside what its pool is sized for."""
    groups = [{"id": "a", "people": 8, "active_share": 0.5, **DAY}, {"id": "b", "people": 6, **NIGHT}]
    lines = planned(catalog, *groups, rule=rule).lines
    peaks = {name: f"groups.{name}.{'active' if rule == 'sum' else 'peak_active'}" for name in "ab"}
    assert [lines[key].value for key in peaks.values()] == [4, 6]
    assert {key for key in lines if key.endswith(".peak_active")} == (
        set(peaks.values()) if rule == "hours" else set()
    )
