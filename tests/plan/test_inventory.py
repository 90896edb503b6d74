"""What fits on the hosts already there, by priority, and what is bought for the rest."""

from __future__ import annotations

import pytest
from approved import has_approved

from gpuplan import Catalog, Scenario, ScenarioError, check_plan, make_plan
from gpuplan.report.tables.platform import inventory
from gpuplan.scenario import from_dict


def asked(existing: str, *, hardware: dict[str, object] | None = None, **levels: int) -> Scenario:
    """Ten VMs with a GPU and four with two, on hosts of four, none of them spare."""
    groups = [
        {"id": "one", "name": "One", "people": 10, "access": "passthrough"},
        {"id": "two", "name": "Two", "people": 4, "gpus_each": 2, "access": "passthrough"},
    ]
    return from_dict(
        {
            "groups": [group | {"priority": levels.get(str(group["id"]), 1)} for group in groups],
            "hardware": {"gpu": "l40s-48gb", "gpus_per_host": 4, "existing": existing, **(hardware or {})},
            "availability": {"host_failures": 0},
        }
    )


def uses(scenario: Scenario, catalog: Catalog) -> dict[str, tuple[int, int, int]]:
    """VMs there, elsewhere and without a place, of each group."""
    found = make_plan(scenario, catalog).inventory
    assert found is not None
    return {use.id: (use.there, use.elsewhere, use.rest) for use in found.groups}


def test_the_groups_come_by_priority(catalog: Catalog) -> None:
    assert uses(asked("2 x 4", one=1, two=2), catalog) == {"one": (8, 0, 2), "two": (0, 0, 4)}
    assert uses(asked("2 x 4", one=2, two=1), catalog) == {"one": (0, 0, 10), "two": (4, 0, 0)}


def test_what_is_bought_is_what_the_design_buys(catalog: Catalog) -> None:
    plan = make_plan(asked("2 x 4; 1 x 2"), catalog)
    found = plan.inventory
    assert found is not None
    # 18 GPUs, 10 are there: two hosts of 4 for the other 8
    assert (found.buy, found.proven) == (2, True)
    assert found.buy == plan.totals.hosts - 3
    assert [kind.gpus_used for kind in found.kinds] == [8, 2]
    assert plan.lines["inventory.gpus_used"].value == 10
    assert plan.lines["inventory.hosts_to_buy"].value == 2


def test_kinds_have_their_own_cpu_and_memory(catalog: Catalog) -> None:
    scenario = asked("2 x 4, 32 vCPUs; 1 x 4", hardware={"vcpus_per_host": 64})
    for group in ("one", "two"):
        scenario = scenario.with_value(f"groups.{group}.vcpus_each", 16)
    (pool,) = make_plan(scenario, catalog).pools
    assert [room.vcpus for room in pool.rooms[:3]] == [32, 32, 64]
    for host, room in zip(pool.placement, pool.rooms, strict=True):
        assert 16 * sum(len(load.slots) for load in host) <= room.vcpus


def test_hosts_with_another_gpu_are_hosts_of_the_design_if_that_does_the_work(catalog: Catalog) -> None:
    """18 GPUs: 4 on a host like new ones, 8 on hosts with A100, and 6 in two new hosts. T4 has less memory."""
    large = make_plan(asked("1 x 4; 2 x 4 a100-pcie-80gb"), catalog)
    found = large.inventory
    assert found is not None
    assert sum(use.elsewhere * gpus for use, gpus in zip(found.groups, (1, 2), strict=True)) == 8
    assert (large.pools[0].existing_hosts, found.buy, large.totals.hosts) == (3, 2, 5)
    assert "other" not in inventory(make_plan(asked("2 x 4 t4-16gb"), catalog)).notes[-1]
    small = uses(asked("2 x 4 t4-16gb"), catalog)
    assert all(elsewhere == 0 for _, elsewhere, _ in small.values())


def test_what_the_hosts_are_bought_for_is_said(catalog: Catalog) -> None:
    """18 GPUs: on 2 x 4, 8 of them; on 5 x 4, all, without and with a host that may fail; on 6 x 4 with one too."""

    def said(existing: str, failures: int) -> str:
        scenario = asked(existing).with_value("availability.host_failures", failures)
        return " ".join(inventory(make_plan(scenario, catalog)).notes)

    assert has_approved(said("2 x 4", 0), "3 hosts")
    assert has_approved(said("5 x 4", 0))
    assert has_approved(said("5 x 4", 1), "1 host")
    assert has_approved(said("6 x 4", 1))


def test_vms_of_a_group_are_on_the_hosts_of_their_own_cluster(catalog: Catalog) -> None:
    """Two clusters with a spare host each: the second group has the hosts that are left, and what it lacks is bought."""
    scenario = asked("5 x 4").with_value("availability.split", "by-group")
    plan = make_plan(scenario.with_value("availability.host_failures", 1), catalog)
    found = plan.inventory
    assert found is not None
    for pool in plan.pools:
        (group,) = (request.group for request in pool.requests)
        (use,) = (use for use in found.groups if use.id == group)
        hosts = pool.placement[: pool.existing_hosts]
        there = {slot.vm for host in hosts for load in host for slot in load.slots}
        assert use.there == len(there) and use.rest == use.vms - use.there
    assert sum(kind.vms for kind in found.kinds) == sum(use.there for use in found.groups) < 14
    assert found.buy == plan.totals.hosts - 5 and sum(use.rest for use in found.groups)


def test_workloads_on_another_kind_of_hosts_are_on_new_ones(catalog: Catalog) -> None:
    """Three owned hosts hold the ten VMs of one kind; what is bought carries the other four, and is not spare alone."""
    kind = {"kinds": [{"name": "own", "gpu": "a100-pcie-80gb", "gpus_per_host": 4}]}
    scenario = asked("3 x 4 a100-pcie-80gb", hardware=kind).with_value("groups.one.hosts", "own")
    plan = make_plan(scenario, catalog)
    found = plan.inventory
    assert found is not None and found.buy == plan.totals.hosts - 3 == 2
    assert {use.id: (use.there, use.rest) for use in found.groups} == {"one": (10, 0), "two": (0, 4)}
    bought = inventory(plan).notes[-1]
    assert "2 hosts" in bought and "4 VMs" in bought


def test_without_hosts_there_is_no_inventory(catalog: Catalog) -> None:
    scenario = asked("1 x 4").with_value("hardware.existing", None)
    assert make_plan(scenario, catalog).inventory is None


def test_vms_without_a_gpu_take_cpu_of_the_hosts(catalog: Catalog) -> None:
    scenario = asked("1 x 4", hardware={"vcpus_per_host": 64, "other_vms": "Web: 6 x 32 vCPUs"})
    plan = make_plan(scenario, catalog)
    (pool,) = plan.pools
    bare = [slot for host in pool.placement for load in host for slot in load.slots if load.gpus == 0]
    assert len(bare) == 6
    assert pool.gpus_occupied == 18
    assert plan.inventory is not None
    assert plan.inventory.groups[-1].there == 2


@pytest.mark.parametrize(
    "hardware", [{"other_vms": "3 x 8 vCPUs"}, {"other_vms": "3 x 8 GiB", "vcpus_per_host": 64}]
)
def test_vms_without_a_gpu_are_not_counted_until_a_host_states_what_they_take(
    hardware: dict[str, object], catalog: Catalog
) -> None:
    plan = make_plan(asked("1 x 4", hardware=hardware), catalog)
    assert plan.totals.hosts == make_plan(asked("1 x 4"), catalog).totals.hosts
    assert "resource-not-counted" in {message.code for message in check_plan(plan)}


@pytest.mark.parametrize(
    ("hardware", "path"),
    [
        ({"other_vms": "3 x 80 vCPUs", "vcpus_per_host": 64}, "hardware.other_vms"),
        ({"existing": "3 x 2 l40z"}, "hardware.existing"),
    ],
)
def test_what_cannot_be_planned_is_refused(hardware: dict[str, object], path: str, catalog: Catalog) -> None:
    with pytest.raises(ScenarioError) as refused:
        make_plan(asked("1 x 4", hardware=hardware), catalog)
    assert [problem.path for problem in refused.value.problems] == [path]


TRAINERS = {"id": "trainers", "name": "Trainers", "people": 1, "gpus_each": 4, "access": "passthrough"}
DEVELOPERS = {"id": "developers", "name": "Developers", "people": 32, "gpus_each": "1/4"}


def over_pools(existing: str, trainers: int, developers: int) -> Scenario:
    """4 GPUs by passthrough and 8 as vGPUs, on hosts of 4."""
    return from_dict(
        {
            "groups": [TRAINERS | {"priority": trainers}, DEVELOPERS | {"priority": developers}],
            "hardware": {"gpu": "l40s-48gb", "gpus_per_host": 4, "existing": existing},
        }
    )


@pytest.mark.parametrize(
    ("existing", "levels", "there"),
    [
        ("2 x 4", (1, 9), {"trainers": 1, "developers": 16}),
        ("2 x 4", (9, 1), {"trainers": 0, "developers": 32}),
        ("2 x 4", (5, 5), {"trainers": 0, "developers": 32}),  # all join the larger pool
        ("3 x 2; 1 x 4", (9, 1), {"trainers": 0, "developers": 32}),  # the small ones do not hold 8 GPUs
        ("4 x 2; 1 x 4", (9, 1), {"trainers": 1, "developers": 32}),  # they do
        ("9 x 2", (1, 9), {"trainers": 0, "developers": 32}),  # too small for 4 GPUs
    ],
)
def test_priority_holds_over_pools(
    catalog: Catalog, existing: str, levels: tuple[int, int], there: dict[str, int]
) -> None:
    """Who comes first has the smallest hosts that hold its VMs, whichever its pool; no host is lost, or counted twice."""
    scenario = over_pools(existing, *levels)
    assert {id: use[0] for id, use in uses(scenario, catalog).items()} == there
    plan = make_plan(scenario, catalog)
    hosts = sorted(int(part.split(" x ")[1]) for part in existing.split("; ") for _ in range(int(part[0])))
    joined = [room.gpus for pool in plan.pools for room in pool.rooms[: pool.existing_hosts]]
    assert sorted(joined) == hosts
    notes = inventory(plan).notes
    assert any("same priority" in note for note in notes) is (levels[0] == levels[1])


def test_a_group_between_two_of_another_pool_has_its_turn(catalog: Catalog) -> None:
    """First eight single GPUs, then two jobs of four, then the developers: 4 x 2 hold the first, 1 x 4 the second."""
    scenario = over_pools("4 x 2; 1 x 4", 2, 3)
    first = {"id": "first", "name": "First", "people": 8, "priority": 1}
    data = scenario.to_dict()
    data["groups"].append(first)
    found = uses(from_dict(data), catalog)
    assert {id: use[0] for id, use in found.items()} == {"first": 8, "trainers": 1, "developers": 0}


def test_kinds_that_are_alike_are_counted_together(catalog: Catalog) -> None:
    found = make_plan(asked("A: 1 x 2; A: 1 x 2"), catalog).inventory
    assert found is not None
    assert [(kind.hosts, kind.gpus_used) for kind in found.kinds] == [(2, 4)]
