"""Layouts: what the loss of hosts leaves, and spare hosts beside those already there."""

from __future__ import annotations

import itertools
from collections import Counter
from typing import Any

from brute_force import limited, random_requests
from random_cases import cases

from gpuplan import Plan, load_scenario, make_plan
from gpuplan.catalog import Catalog
from gpuplan.models.placement import Room, place_mixed
from gpuplan.plan.layouts import SETS_DOWN, layouts, placed
from gpuplan.plan.requests import spare_hosts
from gpuplan.scenario import from_dict


def planned(catalog: Catalog, people: int, **hardware: Any) -> Plan:
    data = {"groups": [{"id": "a", "people": people}], "hardware": {"gpus_per_host": 4, **hardware}}
    return make_plan(from_dict(data), catalog)


def test_a_layout_by_hand(catalog: Catalog) -> None:
    """Ten GPUs on hosts of 4: three, and one more that is empty."""
    plan = planned(catalog, 10)
    (laid,) = layouts(plan.scenario, catalog, plan.requests).values()
    assert spare_hosts(plan.scenario) == 1
    assert (laid.used, len(laid.hosts), laid.hosts[-1]) == (3, 4, ())
    assert sorted(plan.requests.by_group) == ["a"] and laid.asked[0].vms == 10


def test_of_hosts_already_there_up_to_eight_are_looked_at_down_at_once(catalog: Catalog) -> None:
    """60 GPUs beside 12 old hosts with 2 each: 36 on new ones of 4, and half a host more for each that is down."""
    for existing, looked_at in ((3, 3), (12, 8)):
        plan = planned(catalog, 60, existing_hosts=existing, existing_gpus_per_host=2)
        needed = [-(-(60 - 2 * (existing - down)) // 4) for down in range(looked_at + 1)]
        assert list(plan.pools[0].new_needed) == needed


def test_new_hosts_needed_when_hosts_are_down_are_those_of_each_placement_alone() -> None:
    """Each set of hosts down, placed on its own: the bounds between sets save work and change nothing."""
    for rng in cases(611, 200, few=25):
        requests = tuple(limited(rng, random_requests(rng, 4, most=7, shares=1), Room(0, 8, 8)))
        kinds = [Room(rng.randint(4, 6), 8, 8), Room(4, rng.randint(8, 9), 8), Room(rng.randint(5, 8), 8, 9)]
        existing = tuple(kind for kind in kinds for _ in range(rng.randint(0, 2)))
        laid = placed(requests, existing, Room(4, 8, 8), rng.randint(0, 2))
        if not laid.other_hosts:
            continue
        hosts, needs = laid.new_needed_by_kind
        new = len(laid.hosts) - len(existing)
        counts, alone = Counter(existing), dict[tuple[int, ...], int]()
        for down in itertools.product(*(range(n + 1) for n in hosts)):
            lost = Counter(dict(zip(sorted(counts), down, strict=True)))
            left = list((counts - lost).elements())
            alone[down] = len(place_mixed(requests, room=Room(4, 8, 8), existing=left).hosts) - len(left)
        worst = [
            max(n for down, n in alone.items() if sum(down) == lost) for lost in range(len(existing) + 1)
        ]
        assert list(laid.new_needed) == worst
        for down, n in alone.items():
            assert min(needs[down], new + 1) >= min(n, new + 1)
            assert sum(down) > SETS_DOWN or min(needs[down], new + 1) == min(n, new + 1)


def test_what_the_loss_of_hosts_does(catalog: Catalog) -> None:
    """8 GPUs on two hosts of 4 and a spare one, or on four old hosts of 2 and one of 4: one is survived, two are not."""
    for existing, left in (
        ({}, [12, 8, 4]),
        ({"existing_hosts": 4, "existing_gpus_per_host": 2}, [12, 8, 6]),
    ):
        (pool,) = planned(catalog, 8, server="dell-r740xd", **existing).pools
        assert pool.server == "dell-r740xd"
        assert [(level.fits, level.without_moving) for level in pool.losses] == [
            (True, True),
            (True, True),
            (False, False),
        ]
        assert [level.gpus_left for level in pool.losses] == left


def test_without_a_spare_host_one_loss_is_one_too_many(catalog: Catalog) -> None:
    design = {"groups": [{"id": "a", "people": 8}], "hardware": {"gpus_per_host": 4}}
    (pool,) = make_plan(from_dict({**design, "availability": {"host_failures": 0}}), catalog).pools
    assert [level.fits for level in pool.losses][:2] == [True, False]


def test_the_largest_hosts_already_there_may_be_those_that_are_lost(catalog: Catalog) -> None:
    """8 hosts of 2 GPUs and 2 of 8 are 32 + 4 spare; without both large ones 20 are left for 28, however they are listed."""
    found = []
    for there in ("A: 8 x 2; B: 2 x 8", "B: 2 x 8; A: 8 x 2"):
        scenario = load_scenario("enterprise").with_value("hardware.existing", there)
        (pool,) = make_plan(scenario, catalog).pools
        found.append(([level.fits for level in pool.losses], pool.new_needed))
        two = next(level for level in pool.losses if level.lost == 2)
        assert two.gpus_left < 28 and two.fits is False
    assert found[0] == found[1]
