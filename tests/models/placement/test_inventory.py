"""What fits on hosts that are there: against every choice of VMs, by priority, and large."""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence
from fractions import Fraction

import pytest
from brute_force import check_hosts, fits_on, limited, random_requests, vms_in
from random_cases import cases, often

from gpuplan.models.placement import Family, Request, Room, place_most
from gpuplan.models.placement.fit import Rules

ROOMS = [Room(4, 32, 64), Room(2, 32, 64), Room(2, 8, 16)]


def some_requests(rng: random.Random) -> list[Request]:
    """A few VMs with CPU and memory, some of them without a GPU."""
    requests = limited(rng, random_requests(rng, 3, most=5, shares=2), Room(0, 8, 8))
    if rng.random() < 0.5:
        requests.append(
            Request("bare", rng.randint(1, 2), vcpus=rng.randint(1, 6), memory_gib=rng.randint(0, 6))
        )
    return requests


def choices(requests: Sequence[Request], rooms: Sequence[Room]) -> list[tuple[int, ...]]:
    """Every number of VMs of each request that fits together, every way being tried."""
    return [
        chosen
        for chosen in itertools.product(*(range(r.vms + 1) for r in requests))
        if fits_on([r._replace(vms=n) for r, n in zip(requests, chosen, strict=True)], rooms)
    ]


def worth(
    requests: Sequence[Request], placed: Sequence[int], levels: Sequence[int] = ()
) -> tuple[Fraction, ...]:
    """GPUs' worth of each priority, VMs without a GPU counting nothing."""
    each = [w * n for w, n in zip(Rules(requests).worth, placed, strict=True)]
    of = levels or [1] * len(requests)
    return tuple(
        sum((w for w, one in zip(each, of, strict=True) if one == level), Fraction())
        for level in sorted(set(of))
    )


def test_as_much_as_any_choice_of_vms() -> None:
    best = 0
    for rng in cases(31, 200, few=50):
        rooms = [
            Room(rng.randint(1, 4), rng.randint(8, 14), rng.choice([0, 12])) for _ in range(rng.randint(1, 3))
        ]
        requests = some_requests(rng)
        most = place_most(requests, rooms=rooms)
        kept = [r._replace(vms=n) for r, n in zip(requests, most.placed, strict=True)]
        check_hosts(most.hosts, rooms, kept)
        assert len(vms_in(most.hosts)) == sum(most.placed)
        assert most.gpus == pytest.approx(float(worth(requests, most.placed)[0]))
        possible = choices(requests, rooms)
        assert most.placed in possible
        highest = max(worth(requests, one)[0] for one in possible)
        assert most.gpus <= float(highest) + 1e-9 <= most.bound + 1e-9
        if all(Rules(requests).worth):  # else CPU and memory are worth something too
            assert most.gpus == pytest.approx(float(highest)), (requests, rooms)
            assert most.bound == most.gpus
            best += 1
    assert often(best, 80)


def test_priorities_before_anything_else() -> None:
    best = 0
    for rng in cases(32, 150, few=40):
        rooms = [Room(rng.randint(1, 4), rng.randint(8, 14)) for _ in range(rng.randint(1, 3))]
        requests = some_requests(rng)
        levels = [rng.randint(1, 3) for _ in requests]
        most = place_most(requests, rooms=rooms, priorities=levels)
        check_hosts(
            most.hosts, rooms, [r._replace(vms=n) for r, n in zip(requests, most.placed, strict=True)]
        )
        found = worth(requests, most.placed, levels)
        highest = max(worth(requests, one, levels) for one in choices(requests, rooms))
        assert found <= highest
        if all(Rules(requests).worth):
            assert found == highest, (requests, rooms, levels)
            best += 1
    assert often(best, 60)


def test_a_group_that_comes_later_takes_no_place_from_one_before_it() -> None:
    asked = [Request("late", 4, gpus=4), Request("first", 3, gpus=1)]
    rooms = [Room(4)] * 3
    assert place_most(asked, rooms=rooms).placed == (3, 0)
    assert place_most(asked, rooms=rooms, priorities=(2, 1)).placed == (2, 3)


def test_all_of_it_where_there_is_room() -> None:
    half = Family("half", ("half",), ((2,),))
    asked = [
        Request("whole", 5, gpus=1, vcpus=4),
        Request("half", 5, family=half, profile="half", vcpus=4),
        Request("bare", 6, vcpus=2, memory_gib=4),
    ]
    most = place_most(asked, rooms=ROOMS)
    assert (most.placed, most.gpus, most.bound) == ((5, 5, 6), 7.5, 7.5)
    assert [load.gpus for load in most.hosts[0]].count(0) + [
        load.gpus for host in most.hosts[1:] for load in host
    ].count(0) == 6


def test_nothing_there_and_nothing_asked() -> None:
    assert place_most([Request("a", 2, gpus=1)], rooms=[]).placed == (0,)
    assert place_most([], rooms=ROOMS).hosts == ((), (), ())


def test_the_first_of_equals_comes_first() -> None:
    asked = [Request(name, 2, gpus=2) for name in "abc"]
    assert place_most(asked, rooms=[Room(2)] * 3).placed == (2, 1, 0)


def test_hundreds_of_hosts_of_several_kinds_are_nearly_full() -> None:
    rng, shared = random.Random(33), Family("shared", capacity=1000)
    asked = [
        Request(
            f"g{at}",
            rng.randint(20, 60),
            gpus=rng.choice([1, 1, 2]),
            vcpus=rng.choice([4, 8, 12]),
            memory_gib=48,
        )
        for at in range(12)
    ] + [
        Request(
            f"s{at}",
            60,
            family=shared,
            weight=rng.choice([160, 230, 320, 470, 650, 810]),
            vcpus=4,
            memory_gib=16,
        )
        for at in range(12)
    ]
    rooms = [Room(8, 96, 384)] * 60 + [Room(2, 104, 512)] * 40 + [Room(4, 32, 128)] * 20
    most = place_most(asked, rooms=rooms)
    check_hosts(most.hosts, rooms, [r._replace(vms=n) for r, n in zip(asked, most.placed, strict=True)])
    assert most.bound == sum(room.gpus for room in rooms)
    assert most.gpus >= 0.98 * most.bound
