"""Rules of power-on: one reading where all is known, every combination where sources differ; orders that a plan tries by them."""

from __future__ import annotations

import random
from itertools import permutations
from typing import Any

import pytest
from random_cases import cases, often

from gpuplan import load_scenario, make_plan
from gpuplan.catalog import Catalog
from gpuplan.models import power_on
from gpuplan.models.placement import Request, Room
from gpuplan.plan.over_time import rules as module
from gpuplan.plan.over_time.rules import (
    Enough,
    Reading,
    alike,
    lacks,
    more_hosts,
    orders_within,
    reached,
    readings_of,
    sizing_orders,
    starts_always,
    tried,
)
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


READING = Reading("host-spread", "host with most headroom", power_on.Rules(), ("gpuplan-method",))
ONES_AND_TWO = (Request("a", 2, gpus=1), Request("b", 1, gpus=2))
"""On two hosts of two GPUs one order of three starts not all: both small ones first, each on a host of its own."""


def enough(share: float, most: int = 64) -> Enough:
    return Enough((READING,), share, most)


def test_two_of_three_orders_start_all() -> None:
    found = tried(ONES_AND_TWO, (Room(2),) * 2, power_on.Rules(), 200)
    low, high = power_on.chance_interval(found.started, found.orders)
    assert low < 2 / 3 < high


@pytest.mark.parametrize(("share", "more"), [(0.5, 0), (0.99, 1), (1.0, 1)])
def test_a_host_more_has_room_for_the_large_one(share: float, more: int) -> None:
    assert more_hosts(ONES_AND_TWO, (Room(2),) * 2, Room(2), enough(share)) == (more, True)


def test_a_cluster_is_never_larger_than_it_may_be() -> None:
    asked = (Request("a", 30, gpus=1), Request("b", 2, gpus=4))
    rooms, room = (Room(4),) * 10, Room(4)
    more, found = more_hosts(asked, rooms, room, enough(1.0))
    assert more > 5 and found
    assert more_hosts(asked, rooms, room, enough(1.0, most=12)) == (2, False)
    assert not reached(asked, (*rooms, room, room), enough(1.0), sizing_orders(asked, 10, 1.0))


def test_more_orders_that_start_never_take_fewer_hosts() -> None:
    draw = random.Random(3)
    for _ in range(15):
        gpus = draw.choice((2, 4))
        kinds = [(draw.randint(1, 6), draw.randint(1, gpus)) for _ in range(draw.randint(2, 3))]
        asked = tuple(Request(f"g{at}", vms, gpus=each) for at, (vms, each) in enumerate(kinds))
        rooms = (Room(gpus),) * -(-sum(vms * each for vms, each in kinds) // gpus)
        found = [more_hosts(asked, rooms, Room(gpus), enough(share))[0] for share in (0.5, 0.8, 0.95, 1.0)]
        assert found == sorted(found)
        for share, more in zip((0.5, 0.8, 0.95, 1.0), found, strict=True):
            there = (*rooms, *[Room(gpus)] * more)
            assert reached(asked, there, enough(share), sizing_orders(asked, len(rooms), share))


@pytest.mark.slow
def test_the_share_holds_in_other_orders_than_those_tried() -> None:
    """At the limit 2.5 % of the designs may miss it by chance; a point estimate of 200 orders misses in one of four."""
    short, designs = 0, 0
    for rng in cases(381, 120, few=60):
        gpus = rng.choice((4, 8))
        kinds = [(rng.randrange(2, 9), rng.randrange(1, gpus)) for _ in range(rng.randrange(2, 4))]
        asked = tuple(Request(f"g{at}", vms, gpus=each) for at, (vms, each) in enumerate(kinds))
        rooms = (Room(gpus),) * -(-sum(vms * each for vms, each in kinds) // gpus)
        share = rng.choice((0.5, 0.7, 0.8, 0.9, 0.95, 0.99, 0.999, 1.0))
        more, found = more_hosts(asked, rooms, Room(gpus), enough(share, most=200))
        assert found, (kinds, share)
        there = (*rooms, *[Room(gpus)] * more)
        again = power_on.power_on_orders(asked, rooms=there, rules=READING.rules, orders=4000, seed=9)
        designs += not alike(asked)
        short += power_on.chance_interval(again.started, 4000)[1] < share
        assert share < 1 or again.started == 4000
    assert short <= 0.03 * designs


def test_no_order_leaves_a_vm_off_where_it_is_proven_that_all_start() -> None:
    proven = 0
    for rng in cases(382, 400, few=150):
        room = Room(rng.choice((2, 4)), vcpus=rng.choice((0, 16)), memory_gib=rng.choice((0, 64)))
        asked = tuple(
            Request(
                f"g{at}",
                rng.randrange(1, 4),
                gpus=rng.randrange(1, room.gpus + 1),
                vcpus=rng.randrange(1, 9) * bool(room.vcpus),
                memory_gib=rng.randrange(1, 33) * bool(room.memory_gib),
            )
            for at in range(rng.randrange(1, 4))
        )
        rooms = (room,) * rng.randrange(1, 8)
        if starts_always(asked, rooms, READING.rules):
            proven += 1
            kinds = tuple(kind for kind, request in enumerate(asked) for _ in range(request.vms))
            orders = tuple(set(permutations(kinds)))[:3000] if len(kinds) < 8 else 2000
            found = power_on.power_on_orders(asked, rooms=rooms, rules=READING.rules, orders=orders)
            assert found.started == found.orders
    assert often(proven, 60)


def test_too_few_orders_show_nothing() -> None:
    """Without a failure, 200 orders show 98.1 %: 99 % takes 381 of them."""
    few, many = power_on.chance_interval(380, 380)[0], power_on.chance_interval(381, 381)[0]
    assert few < 0.99 < many
    asked = (Request("a", 900, gpus=1), Request("b", 100, gpus=2))
    assert 0 < sizing_orders(asked, 50, 0.9) < 381 and not sizing_orders(asked, 50, 0.99)


def test_orders_are_as_many_as_can_be_tried() -> None:
    two = (READING, READING)
    assert orders_within((Request("a", 40, gpus=1),), 64, two) == 1, "all orders are the same"
    assert orders_within(ONES_AND_TWO, 2, two) == module.ORDERS
    assert orders_within(ONES_AND_TWO, 2, two * 4) == module.ORDERS // 4
    large = (Request("a", 400, gpus=1), Request("b", 40, gpus=2))
    assert module.FEWEST <= orders_within(large, 40, two) < module.ORDERS
    assert orders_within(large, 40, two, 4) == orders_within(large, 400, two) == 0
    huge = (Request("a", 9000, gpus=1), Request("b", 3000, gpus=2))
    assert more_hosts(huge, (Room(8),) * 2000, Room(8), enough(1.0)) == (0, False)
