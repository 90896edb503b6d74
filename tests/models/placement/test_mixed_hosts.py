"""Hosts that differ or are limited by CPU and memory: against a brute force and a programme, conservation, bound, monotony."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Sequence

import pytest
from brute_force import (
    FAMILIES,
    check_hosts,
    design,
    fits_on,
    limited,
    random_requests,
    vms_asked,
    vms_in,
)
from random_cases import cases, often

from gpuplan.models.placement import Request, Room, place_mixed
from gpuplan.models.placement.fit import Rules
from gpuplan.models.placement.identical_hosts import IdenticalHosts
from gpuplan.models.placement.mixed_hosts import MixedHosts
from gpuplan.models.placement.requests import vms_in as vms_on


def fewest_new(requests: Sequence[Request], room: Room, existing: Sequence[Room], spare: int) -> int:
    """Fewest new hosts so that everything fits after any loss, every way being tried."""
    for new in itertools.count():
        rooms = [*existing, *[room] * new]
        if all(
            fits_on(requests, [r for i, r in enumerate(rooms) if i not in lost])
            for lost in itertools.combinations(range(len(rooms)), min(spare, len(rooms)))
        ):
            return new
    raise AssertionError


def test_hosts_that_differ_against_brute_force() -> None:
    for rng in cases(21, 500, few=60):
        room = Room(rng.randint(2, 4), rng.choice([0, 8, 12]), rng.choice([0, 8, 16]))
        existing = [
            Room(rng.randint(1, 4), rng.choice([0, 8, 12]), rng.choice([0, 8]))
            for _ in range(rng.randint(0, 2))
        ]
        requests = limited(rng, random_requests(rng, room.gpus, most=5, shares=2), Room(0, 8, 8))
        spare = rng.randint(0, 1)
        placed = place_mixed(requests, room=room, existing=existing, spare=spare)
        rooms = [*existing, *[room] * (len(placed.hosts) - len(existing))]
        check_hosts(placed.hosts, rooms, requests)
        assert vms_in(placed.hosts) == vms_asked(requests)
        best = len(existing) + fewest_new(requests, room, existing, spare)
        assert placed.bound <= best == len(placed.hosts), (requests, room, existing, spare)
        assert placed.method == ("volume" if placed.bound == len(placed.hosts) else "heuristic")


def test_hosts_with_several_boards_against_brute_force() -> None:
    """VMs go to the boards that they run on; new hosts have one of these, and after any loss every VM has a place."""
    for rng in cases(623, 500, few=60):
        room = Room(rng.randint(2, 4), rng.choice([0, 8, 12]), board="new")
        existing = [
            Room(rng.randint(1, 4), rng.choice([0, 8]), board=rng.choice(["new", "old", "older"]))
            for _ in range(rng.randint(1, 3))
        ]
        requests = [
            r._replace(boards=rng.choice([(), ("new",), ("new", "old"), ("new", "old", "older")]))
            for r in limited(rng, random_requests(rng, room.gpus, most=5, shares=2), Room(0, 8, 8))
        ]
        spare = rng.randint(0, 1)
        placed = place_mixed(requests, room=room, existing=existing, spare=spare)
        rooms = [*existing, *[room] * (len(placed.hosts) - len(existing))]
        check_hosts(placed.hosts, rooms, requests)
        assert vms_in(placed.hosts) == vms_asked(requests)
        best = len(existing) + fewest_new(requests, room, existing, spare)
        assert placed.bound <= best == len(placed.hosts), (requests, room, existing, spare)


def test_vms_too_large_for_new_hosts_take_those_that_are_there_or_are_refused() -> None:
    """Refused only if there is no room; after a loss only such VMs, and no more than must, are without a place."""
    held = 0
    for rng in cases(622, 300, few=50):
        existing = [
            Room(rng.randint(3, 6), rng.choice([0, 12]), board=rng.choice(["old", "new"]))
            for _ in range(rng.randint(1, 3))
        ]
        requests = [
            Request("large", rng.randint(1, 3), gpus=rng.randint(3, 6), vcpus=rng.choice([0, 4])),
            Request("old", rng.randint(0, 2), gpus=1, boards=("old",)),
            Request("cpu", rng.randint(0, 2), gpus=1, vcpus=10),
            Request("small", rng.randint(0, 4), gpus=1, vcpus=rng.choice([0, 2])),
        ]
        requests, room = [r for r in requests if r.vms], Room(2, 8, board="new")
        stuck = [r for r in requests if r.gpus > 2 or r.vcpus > 8 or r.boards]
        if not fits_on(stuck, existing):
            with pytest.raises(ValueError, match=r"fit|largest|host has"):
                place_mixed(requests, room=room, existing=existing, spare=1)
            continue
        placed = place_mixed(requests, room=room, existing=existing, spare=1)
        rooms = [*existing, *[room] * (len(placed.hosts) - len(existing))]
        check_hosts(placed.hosts, rooms, requests)
        assert vms_in(placed.hosts) == vms_asked(requests)
        for lost in range(len(rooms)):
            left = [one for at, one in enumerate(rooms) if at != lost]
            kept = [one for at, one in enumerate(existing) if at != lost]
            if fits_on(stuck, kept):
                held += 1
                assert fits_on(requests, left), (requests, existing, lost)
            else:
                assert fits_on([r for r in requests if r not in stuck], left)
    assert held


def test_less_demand_never_takes_more_hosts() -> None:
    for rng in cases(181, 500, few=25):
        requests, room = design(rng, int(10 ** rng.uniform(0.7, 3.3)))
        less = [r._replace(vms=max(1, r.vms - rng.choice([0, 0, 1, r.vms // 10]))) for r in requests]
        fewer, more = (len(place_mixed(each, room=room).hosts) for each in (less, requests))
        assert fewer <= more, (less, requests, room)


def test_a_person_more_does_not_save_hosts() -> None:
    """On hosts of 4 GPUs, 96 vCPUs and 512 GiB; 120 people once took 116 hosts, and 121 took 108."""
    room = Room(4, 96, 512)

    def hosts(people: int) -> int:
        requests = [
            Request("analysts", people, family=FAMILIES["third"], profile="third", vcpus=20, memory_gib=200),
            Request("trainers", people // 2, gpus=2, vcpus=44, memory_gib=96),
            Request("developers", people, family=FAMILIES["half"], profile="half", vcpus=12, memory_gib=120),
        ]
        placed = place_mixed(requests, room=room)
        assert placed.bound == len(placed.hosts)
        return len(placed.hosts)

    counts = [hosts(people) for people in range(100, 124)]
    assert counts == sorted(counts)


def test_memory_or_cpu_may_bind_instead_of_gpus() -> None:
    request = Request("a", 12, gpus=1, vcpus=16, memory_gib=200)
    assert len(place_mixed([request], room=Room(4)).hosts) == 3
    assert len(place_mixed([request], room=Room(4, 32, 0)).hosts) == 6
    placed = place_mixed([request], room=Room(4, 64, 384))
    assert (len(placed.hosts), placed.bound, placed.method) == (12, 12, "volume")


def test_what_is_arranged_fits_and_what_fits_is_arranged() -> None:
    found = refused = 0
    for rng in cases(24, 300, few=60):
        requests = limited(rng, random_requests(rng, 3, most=5, shares=2), Room(0, 8, 8))
        rules = Rules(requests)
        varied = MixedHosts(IdenticalHosts(rules))
        rooms = Counter(
            rules.counted(Room(rng.randint(2, 4), rng.choice([8, 12]), rng.choice([8, 16])))
            for _ in range(rng.randint(1, 3))
        )
        if not all(any(rules.most_on(room, k) for room in rooms) for k in range(len(requests))):
            continue
        blocks, impossible = varied.arrange(rules.vms, rooms, thorough=True)
        if blocks is None:
            assert impossible
            assert not fits_on(requests, list(rooms.elements()))
            refused += 1
            continue
        found += 1
        used, placed = Counter[Room](), Counter[int]()
        for times, room, content in blocks:
            used[room] += times
            for k, n in vms_on(content).items():
                placed[k] += times * n
            free, vcpus, memory, *_ = rules.state(room, content)
            assert free >= 0
            assert vcpus >= 0 or not room.vcpus
            assert memory >= 0 or not room.memory_gib
        assert used <= rooms
        assert tuple(placed[k] for k in range(len(requests))) == rules.vms
    assert often(found, 100)
    assert often(refused, 20)


def test_the_greedy_orders_look_at_each_resource() -> None:
    """32 vCPUs on hosts of 12: 6 + 6, 6 + 4 + 1 and 6 + 1 + 1 + 1, which only the order by memory finds."""
    room = Room(8, 12, 12)
    requests = [
        Request(name, vms, gpus=1, vcpus=vcpus, memory_gib=memory)
        for name, vms, vcpus, memory in (("a", 4, 1, 3), ("b", 4, 6, 2), ("c", 1, 4, 4))
    ]
    mixed = MixedHosts(IdenticalHosts(Rules(requests)))
    found = [sum(block.times for block in blocks) for blocks in mixed.greedy((4, 4, 1), {}, room)]
    assert min(found) == -(-32 // 12) == 3


def test_a_kind_that_hardly_fits_bounds_the_new_hosts() -> None:
    """5 VMs of 3 GPUs: none on three old hosts of 2, one on each new host of 4, though 15 - 6 GPUs are 3 hosts."""
    mixed = MixedHosts(IdenticalHosts(Rules([Request("a", 5, gpus=3)])))
    assert mixed.bound((5,), Counter({Room(2): 3}), Room(4)) == 5
    assert mixed.bound((5,), Counter({Room(2): 1, Room(8): 1}), Room(4)) == 3  # two are on the host of 8


def test_cpu_of_one_and_memory_of_another_prove_a_host_each() -> None:
    """On hosts of 10 vCPUs and 10 GiB: one VM takes all vCPUs, two others 6 GiB each. Any sum over all says two hosts."""
    requests = [
        Request("a", 2, gpus=1, vcpus=1, memory_gib=6),
        Request("b", 1, gpus=2, vcpus=10, memory_gib=4),
    ]
    placed = place_mixed(requests, room=Room(4, 10, 10))
    assert max(2 + 2, 2 + 10, 2 * 6 + 4) <= 2 * 10
    assert (len(placed.hosts), placed.bound, placed.method) == (3, 3, "volume")


@pytest.mark.parametrize(
    ("vcpus", "memory", "laid"),
    [
        (0, 0, True),
        (0, 64, True),
        (32, 0, True),
        (32, 64, True),
        (31, 0, False),
        (0, 63, False),
        (32, 63, False),
    ],
)
def test_what_fills_the_gpus_is_laid_where_each_stated_limit_holds(
    vcpus: int, memory: int, laid: bool
) -> None:
    """Four VMs of a GPU, 8 vCPUs and 16 GiB on a host of 4 GPUs; where nothing is stated, nothing binds."""
    mixed = MixedHosts(IdenticalHosts(Rules([Request("a", 8, gpus=1, vcpus=8, memory_gib=16)])))
    blocks = mixed.equal.solve((8,), 4).blocks
    room = Room(4, vcpus, memory)
    found = mixed._laid(blocks, {}, room)
    assert (found is not None) is laid
    assert found is None or [(times, on) for times, on, _ in found] == [(2, room)]
