"""VMs as Terraform makes them: as many as are placed, with the devices they are placed on."""

from __future__ import annotations

from collections import Counter

import pytest

from gpuplan import Plan, load_scenario, make_plan
from gpuplan.catalog import Catalog
from gpuplan.deliver.infrastructure.vms import (
    LEAST_MMIO_GIB,
    _mmio_gib,
    all_vms,
    cluster_id,
    sizes,
    vms_of,
)
from gpuplan.report.physical import gpus_of
from gpuplan.report.tables.acceptance import RESTARTS


def test_every_placed_vm_is_made_once(example: Plan) -> None:
    made = Counter[str]()
    for vms in all_vms(example):
        if not vms.server:
            made[vms.group] += vms.count
    assert made == {group.id: group.vms_placed for group in example.groups}
    slugs = [vms.slug for vms in all_vms(example)]
    assert len(slugs) == len(set(slugs))


def test_the_enterprise_example_by_hand(plans: dict[str, Plan]) -> None:
    """Three VMs with four V100 of 32 GB and a profile each, the others over the network from servers on the rest."""
    found = {vms.slug: vms for vms in all_vms(plans["enterprise"])}
    researchers, servers = found["researchers"], found["bitfusion_server"]
    assert (researchers.kind, researchers.count, researchers.profile, researchers.vgpus) == (
        "vgpu",
        3,
        "V100D-32C",
        4,
    )
    assert researchers.mmio_gib == 256  # a power of two, at least 2 x 4 x 32
    assert found["data_scientists"].share == "0.5" and found["developers"].share == "0.125"
    assert servers.kind == "vgpu-server" and sum(len(spot.gpus) for spot in servers.spots) == 16
    assert servers.least_memory_gib == 1.5 * 32 * max(len(spot.gpus) for spot in servers.spots)
    assert not researchers.pinned and not servers.pinned


@pytest.mark.parametrize(("gpus", "gib"), [(1, 64), (2, 128), (3, 256), (4, 256)])
def test_memory_mapped_io_is_a_power_of_two(plans: dict[str, Plan], gpus: int, gib: int) -> None:
    """At least twice the 32 GB of each GPU, and at least 64."""
    assert _mmio_gib(plans["enterprise"], gpus) == gib >= LEAST_MMIO_GIB


def test_vms_in_passthrough_hold_devices_of_their_own(catalog: Catalog) -> None:
    scenario = load_scenario("enterprise").with_value("demand.stated_gpus", None)
    plan = make_plan(scenario.with_value("groups.researchers.access", "passthrough"), catalog)
    held = Counter(
        (vms.cluster, spot.host, gpu)
        for vms in all_vms(plan)
        if vms.pinned
        for spot in vms.spots
        for gpu in spot.gpus
    )
    assert held and max(held.values()) == 1
    (researchers,) = (vms for vms in all_vms(plan) if vms.group == "researchers")
    assert researchers.pinned and len(researchers.spots) == researchers.count
    assert all(len(spot.gpus) == 4 for spot in researchers.spots)


def test_restart_priorities_follow_the_ranks(plans: dict[str, Plan], catalog: Catalog) -> None:
    assert {vms.restart for vms in all_vms(plans["current"])} <= {"", *RESTARTS}
    scenario = plans["current"].scenario
    for at, group in enumerate(scenario.groups, 1):
        scenario = scenario.with_value(f"groups.{group.id}.priority", 1 if at == 1 else 2)
    found = {vms.group: vms.restart for vms in all_vms(make_plan(scenario, catalog))}
    assert found["fine-tuning"] == "highest" and found["developers"] == "high"


def test_sizes_are_asked_for_once_with_the_highest_least(plans: dict[str, Plan]) -> None:
    found = sizes(tuple(all_vms(plans["enterprise"])))
    names = [size.variable for size in found]
    assert len(names) == len(set(names)) == 2 * len({vms.label for vms in all_vms(plans["enterprise"])})


def test_gpus_of_groups_and_vms_of_a_cluster(plans: dict[str, Plan]) -> None:
    (pool,) = plans["enterprise"].pools
    assert cluster_id(pool) == "vgpu"
    assert sum(gpus_of(pool, {"researchers"})) == 12
    assert vms_of(pool)["data-scientists"] == 16
