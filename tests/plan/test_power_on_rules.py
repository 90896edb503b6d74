"""Readings of the rules of power-on: one where all is known, every combination where sources differ."""

from __future__ import annotations

from typing import Any

import pytest

from gpuplan import load_scenario, make_plan
from gpuplan.catalog import Catalog
from gpuplan.plan.power_on_rules import Reading, lacks, readings_of
from gpuplan.scenario import from_dict

HALF_AND_QUARTER = ({"gpus_each": 0.5}, {"gpus_each": 0.25})
SLICED = {"isolation": True, "access": "mig"}
MIG = ({"gpus_each": "3/7", **SLICED}, {"gpus_each": "1/7", **SLICED})


def readings(
    catalog: Catalog, gpu: str, groups: tuple[dict[str, Any], ...], gpus: int = 4, **platform: Any
) -> tuple[Reading, ...]:
    data = {
        "groups": [
            {"id": f"g{at}", "people": 3, "remote_allowed": False, **g} for at, g in enumerate(groups)
        ],
        "hardware": {"gpu": gpu, "gpus_per_host": gpus},
        "platform": {"vsphere": "9.0.1", **platform},
    }
    plan = make_plan(from_dict(data), catalog)
    (pool,) = plan.pools
    return readings_of(plan.sized, catalog, pool.kind, pool.requests)


def gpu_ways(found: tuple[Reading, ...]) -> set[tuple[str, str]]:
    return {(way.gpu, way.start) for reading in found for _, way in reading.rules.ways}


@pytest.mark.parametrize(("policy", "gpu"), [("spread", "fewest"), ("group", "fullest")])
def test_with_one_size_on_a_gpu_the_policy_decides(catalog: Catalog, policy: str, gpu: str) -> None:
    found = readings(catalog, "l40s-48gb", HALF_AND_QUARTER, gpu_policy=policy)
    assert [reading.rules.host for reading in found] == ["spread", "turn"]
    assert gpu_ways(found) == {(gpu, "lowest")}
    assert all(not way.pieces for reading in found for _, way in reading.rules.ways)


def test_vms_alike_have_one_reading(catalog: Catalog) -> None:
    assert len(readings(catalog, "l40s-48gb", ({"gpus_each": 0.5}, {"gpus_each": 0.5}))) == 1


def test_of_mixed_sizes_both_ends_are_looked_at(catalog: Catalog) -> None:
    found = readings(catalog, "l40s-48gb", HALF_AND_QUARTER, vgpu_sizes="mixed", gpu_policy="group")
    assert gpu_ways(found) == {(gpu, start) for gpu in ("fewest", "fullest") for start in ("lowest", "open")}
    assert len(found) == 8 and {reading.rules.host for reading in found} == {"spread", "turn"}


@pytest.mark.parametrize(
    ("gpu", "first", "row"),
    [("h100-pcie-80gb", 4, "mig-hopper-listed"), ("a100-pcie-80gb", 0, "mig-ampere-lowest")],
)
def test_mig_fills_one_gpu_first_and_starts_where_it_was_seen(
    catalog: Catalog, gpu: str, first: int, row: str
) -> None:
    found = readings(catalog, gpu, MIG)
    assert gpu_ways(found) == {("fullest", "lowest"), ("fullest", "open")}
    pieces = {piece.name: piece for piece in found[0].rules.ways[0][1].pieces}
    (three,) = (piece for piece in pieces.values() if piece.compute == 3)
    assert three.starts[0] == first and row in found[0].name
    assert len(pieces) > 2, "also the profiles that nobody asks for: a start may keep room for them"


def test_consolidation_sees_vgpus_alone_and_since_8_0_u2(catalog: Catalog) -> None:
    whole = ({"gpus_each": 1}, {"gpus_each": 2})
    found = readings(catalog, "l40s-48gb", whole, drs_consolidation=True)
    assert all(reading.rules.consolidate for reading in found)
    through = tuple({**group, "access": "passthrough"} for group in whole)
    found = readings(catalog, "l40s-48gb", through, drs_consolidation=True)
    assert found and not any(reading.rules.consolidate for reading in found)
    assert lacks("8.0u1", catalog, "host-consolidate") == "8.0u2"
    assert lacks("8.0u2", catalog, "host-consolidate") is None


@pytest.mark.parametrize(
    ("gpu", "wanted", "domain", "partitions"),
    [
        ("h100-sxm5-80gb", "auto", 0, True),
        ("h100-sxm5-80gb", "no", 0, False),
        ("h200-nvl-141gb", "auto", 4, False),
        ("h100-pcie-80gb", "auto", 0, False),
        ("h100-pcie-80gb", "yes", 2, False),
    ],
)
def test_vms_with_several_gpus_have_them_in_one_domain(
    catalog: Catalog, gpu: str, wanted: str, domain: int, partitions: bool
) -> None:
    found = readings(catalog, gpu, ({"gpus_each": 1}, {"gpus_each": 2}), gpus=8, nvlink_groups=wanted)
    assert {(reading.rules.domain, reading.rules.partitions) for reading in found} == {(domain, partitions)}
    alone = readings(catalog, gpu, ({"gpus_each": 1}, {"gpus_each": 0.5}), gpus=8, nvlink_groups=wanted)
    assert not any(reading.rules.domain or reading.rules.partitions for reading in alone)


def test_bitfusion_shares_gpus_without_vsphere(catalog: Catalog) -> None:
    plan = make_plan(load_scenario("starter"), catalog)
    assert [readings_of(plan.sized, catalog, pool.kind, pool.requests) for pool in plan.pools] == [()]


def test_every_row_of_the_rules_is_in_some_reading(catalog: Catalog) -> None:
    several = ({"gpus_each": 1}, {"gpus_each": 2})
    tried = [
        *(readings(catalog, "l40s-48gb", HALF_AND_QUARTER, gpu_policy=each) for each in ("spread", "group")),
        readings(catalog, "l40s-48gb", HALF_AND_QUARTER, vgpu_sizes="mixed"),
        readings(catalog, "l40s-48gb", several, drs_consolidation=True),
        *(readings(catalog, f"{gpu}-80gb", MIG) for gpu in ("h100-pcie", "a100-pcie")),
        readings(
            catalog, "rtx-pro-6000-se-96gb", ({"gpus_each": 0.5, **SLICED}, {"gpus_each": 0.25, **SLICED})
        ),
        *(readings(catalog, gpu, several, gpus=8) for gpu in ("h100-sxm5-80gb", "h200-nvl-141gb")),
    ]
    used = {row for found in tried for reading in found for row in reading.name.split()}
    assert used == {row.id for row in catalog.rows("power_on_rules")}
    assert all(reading.sources and reading.words for found in tried for reading in found)
