"""The host line: by hand, against what is stated, and against the hosts that makers submitted."""

from __future__ import annotations

import statistics
from typing import Any

import pytest
from approved import has_approved, is_approved

from gpuplan import Plan, make_plan
from gpuplan.catalog import Catalog
from gpuplan.plan.checks import check_plan
from gpuplan.plan.host_line import NOT_SOLD, TOO_LITTLE, WORDS, HostLine, HostPart
from gpuplan.plan.inputs import sources_of
from gpuplan.scenario import from_dict

GROUP = {
    "id": "a",
    "people": 4,
    "gpus_each": 2,
    "vcpus_each": 24,
    "memory_gib_each": 200,
    "access": "passthrough",
}


def plan_of(catalog: Catalog, group: dict[str, Any] | None = None, **given: Any) -> Plan:
    """Two VMs on each of two hosts of four L40S, and a spare host."""
    hardware = {"gpu": "l40s-48gb", "gpus_per_host": 4, **given.pop("hardware", {})}
    return make_plan(from_dict({"groups": [GROUP | (group or {})], "hardware": hardware, **given}), catalog)


def line_of(catalog: Catalog, **given: Any) -> HostLine:
    found = plan_of(catalog, **given).host_line
    assert found is not None
    return found


def part(line: HostLine, key: str) -> HostPart:
    return next(each for each in line.parts if each.key == key)


def test_by_hand(catalog: Catalog) -> None:
    """48 vCPUs / 0.92 / 2 = 26.1 cores; 400 GB / 0.92 = 435, more than 1.6 x 192 = 307."""
    line = line_of(catalog)
    assert (line.hosts, line.cores, line.memory_gib) == (3, 32, 512)
    assert [each.key for each in line.parts] == [
        "chassis",
        "gpus",
        "processors",
        "memory",
        "adapters",
        "boot",
        "data",
        "supplies",
    ]
    assert part(line, "processors").size == "2 x 32 cores"
    assert is_approved(part(line, "adapters").size, "2", "25 Gbit/s")
    assert not line.short


def test_more_vcpus_for_each_core_take_fewer_cores(catalog: Catalog) -> None:
    assert line_of(catalog, hardware={"vcpus_per_core": 2}).cores == 16


def test_the_platform_takes_its_part_of_each_host(catalog: Catalog) -> None:
    """48 + 8 + 4 vCPUs / 0.92 / 2 = 32.6; 400 + 32 + 16 GB / 0.92 = 487."""
    line = line_of(catalog, management={"edges": "large", "supervisor": "small"})
    assert (line.cores, line.memory_gib) == (48, 512)
    assert has_approved(part(line, "processors").rule, "12")


def test_without_stated_vms_the_gpus_decide(catalog: Catalog) -> None:
    """16 cores for each of 4 GPUs; 1.6 x 192 GB = 307, up to 512."""
    line = line_of(catalog, group={"vcpus_each": None, "memory_gib_each": None})
    assert (line.cores, line.memory_gib) == (32, 512)
    assert "not stated" in part(line, "processors").rule and "not stated" in part(line, "memory").rule


def test_vsan_takes_disks_memory_and_cores(catalog: Catalog) -> None:
    """40 TB: 40,000 x 1.5 x 1.3 x 1.1 = 85,800 GB on two hosts: 14 disks of 3.2 TB. 48 / 0.82 / 2 = 29.3; 432 / 0.92 = 470."""
    line = line_of(catalog, hardware={"storage": "vsan"}, cost={"storage_tb": 40})
    assert part(line, "data").size == "14 x 3.2 TB NVMe"
    assert (line.cores, line.memory_gib) == (32, 512)
    unsized = line_of(catalog, hardware={"storage": "vsan"})
    assert part(unsized, "data").size == "4 x 3.2 TB NVMe" and "not stated" in part(unsized, "data").rule


def test_what_is_stated_is_shown_with_whether_it_suffices(catalog: Catalog) -> None:
    """27 cores on each processor are needed."""
    for cores, short in ((24, True), (27, False)):
        plan = plan_of(catalog, cost={"cores_per_socket": cores})
        assert plan.host_line is not None and plan.host_line.cores == cores
        assert bool(part(plan.host_line, "processors").short) is short
        codes = {m.code: m for m in check_plan(plan)}
        assert ("host-too-small" in codes) is short
        if short:
            assert codes["host-too-small"].path == "cost.cores_per_socket"
    stated = line_of(catalog, hardware={"vcpus_per_host": 48, "memory_gib_per_host": 400})
    assert part(stated, "processors").size == "2 x 32 cores" and part(stated, "memory").size == "400 GB"
    assert not stated.short and stated.cores == 32
    platform = line_of(catalog, hardware={"vcpus_per_host": 48}, management={"edges": "large"})
    assert [each.key for each in platform.short] == ["processors"], "the edge has no room beside the VMs"


def test_power_supplies_of_a_known_chassis(catalog: Catalog) -> None:
    """Six of 19.2 kW together: 9.6 kW when a side is lost, against full load."""
    sxm = {"gpu": "h100-sxm5-80gb", "server": "dell-xe9680", "gpus_per_host": 8}
    plan = plan_of(catalog, {"access": "vgpu"}, hardware=sxm)
    assert plan.host_line is not None and plan.power is not None
    found = part(plan.host_line, "supplies")
    assert found.size.startswith("6, 19.2 kW")
    assert bool(found.short) == (plan.power.host_peak_w > 9600)
    assert ("supplies-too-small" in {m.code for m in check_plan(plan)}) == bool(found.short)


def test_planning_values_follow_from_the_hosts_that_were_submitted(catalog: Catalog) -> None:
    """Of those with 4 GPUs or more: cores for each GPU, and memory for each GB of the GPUs, least, median and most."""
    rows = [row for row in catalog.rows("host_examples") if row["gpus"] >= 4]
    assert len(rows) == 17
    cores = [row["sockets"] * row["cores_per_socket"] / row["gpus"] for row in rows]
    memory = [row["memory_gib"] / (row["gpus"] * row["gpu_memory_gib"]) for row in rows]
    item = catalog.assumptions["gpu-host"]
    fact = item.fact("cores_per_gpu")
    assert (fact.value, fact.low, fact.high) == (statistics.median(cores), min(cores), max(cores))
    fact = item.fact("memory_per_gpu_memory")
    assert (fact.low, fact.high) == (round(min(memory), 2), round(max(memory), 2))
    design = next(row for row in catalog.rows("host_examples") if row.basis == "published")
    assert fact.value == design["memory_gib"] / (design["gpus"] * design["gpu_memory_gib"])


def test_the_words_of_parts_are_whole(catalog: Catalog) -> None:
    for row in WORDS.values():
        assert row["name"] and row["size"] and row["rule"]
        assert all(source in catalog.sources for source in sources_of(catalog, row["sources"]))


def test_processors_that_can_be_ordered_follow_from_the_vcpus_that_a_host_is_to_offer(
    catalog: Catalog,
) -> None:
    """90 vCPUs on two processors: 45 cores each, up to 48; with two vCPUs for each core 23, up to 32."""
    for ratio, cores in ((None, 48), (2, 32)):
        line = line_of(catalog, hardware={"vcpus_per_host": 90, "vcpus_per_core": ratio})
        assert (line.cores, part(line, "processors").size) == (cores, f"2 x {cores} cores")
    both = line_of(catalog, hardware={"vcpus_per_host": 90}, cost={"cores_per_socket": 24})
    assert part(both, "processors").size == "2 x 24 cores" and not both.short


def test_what_is_not_sold_is_said(catalog: Catalog) -> None:
    """16 VMs of 96 vCPUs and 1,000 GB: eight on a host are 768 / 0.92 / 2 = 418 cores, and 8,000 / 0.92 GB."""
    sxm = {"gpu": "h100-sxm5-80gb", "gpus_per_host": 8, "server": "dell-xe9680"}
    large = {"people": 16, "gpus_each": 1, "vcpus_each": 96, "memory_gib_each": 1000, "access": "vgpu"}
    plan = plan_of(catalog, large, hardware=sxm)
    assert plan.host_line is not None
    short = {each.key: each.short for each in plan.host_line.short}
    assert short.pop("supplies") == TOO_LITTLE  # half of 19.2 kW for 12.5
    assert short == dict.fromkeys(("processors", "memory"), NOT_SOLD)
    assert has_approved(part(plan.host_line, "memory").rule, "4\u202f096 GB")
    said = [m.text for m in check_plan(plan) if m.code == "host-not-sold"]
    assert len(said) == 2 and "(192)" in said[0]


def test_memory_is_ordered_up_to_what_the_server_takes(catalog: Catalog) -> None:
    """4 x 700 GB / 0.92 = 3,044 GB: the R740 takes 3,072, and 4 x 900 GB are too much for it."""
    for each, short in ((700, False), (900, True)):
        group = {"people": 16, "gpus_each": 1, "memory_gib_each": each}
        line = line_of(
            catalog, group=group, hardware={"gpu": "t4-16gb", "server": "dell-r740", "gpus_per_host": 4}
        )
        assert bool(line.short) == short and (short or line.memory_gib == 3072)


@pytest.mark.parametrize(
    ("given", "cores"),
    [
        ({}, 32),
        ({"group": {"vcpus_each": 48}}, 56),
        ({"group": {"vcpus_each": 6}}, 16),
        ({"group": {"vcpus_each": None}}, 32),
        ({"group": {"vcpus_each": None, "gpus_each": 1}, "hardware": {"gpus_per_host": 8}}, 64),
        ({"group": {"vcpus_each": None, "gpus_each": 1}, "hardware": {"gpus_per_host": 1}}, 32),
        ({"hardware": {"vcpus_per_host": 90}}, 48),
        ({"cost": {"cores_per_socket": 28}}, 28),
    ],
)
def test_licences_are_counted_for_the_processors_that_are_ordered(
    catalog: Catalog, given: dict[str, Any], cores: int
) -> None:
    """96 / 0.92 / 2 = 52.2 cores, up to 56; 12 / 0.92 / 2 = 6.5, up to 16; without vCPUs the usual 32 at least, and 16 for each GPU."""
    plan = plan_of(catalog, **given)
    assert plan.host_line is not None and plan.costs is not None
    licensed = next(m for m in plan.costs.materials if m.key == "platform")
    assert plan.host_line.cores == cores == plan.planned("cost.cores_per_socket")
    assert licensed.quantity == max(72, plan.totals.hosts * 2 * cores)
    assert f"x {cores} cores" in licensed.rule
    assert plan.line("cost.licensed_cores").value == licensed.quantity


def test_hosts_already_there_are_licensed_as_usual(catalog: Catalog) -> None:
    there = {"existing": "Old: 4 x 4 l40s-48gb"}
    plan = plan_of(catalog, {"vcpus_each": None, "memory_gib_each": None, "access": "vgpu"}, hardware=there)
    assert plan.host_line is not None and plan.host_line.hosts == 0 and plan.cores.value == 32
