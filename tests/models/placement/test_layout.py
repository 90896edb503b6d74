"""Placement: against a brute force, proofs, conservation, directions; spare hosts."""

from __future__ import annotations

import tracemalloc
from collections import Counter

import pytest
from brute_force import (
    FAMILIES,
    check_hosts,
    check_placement,
    fewest_hosts,
    large_mix,
    limited,
    random_requests,
    vms_asked,
    vms_in,
)
from random_cases import cases

from gpuplan.models.placement import Family, Request, Room, count_hosts, place, place_mixed
from gpuplan.models.placement import layout as layout_module
from gpuplan.models.placement.fit import Rules

# ---- place


def test_place_is_optimal_on_thousands_of_small_cases() -> None:
    for rng in cases(9, 3000, few=150):
        gpus = rng.randint(1, 6)
        requests = random_requests(rng, gpus)
        placed = place(requests, gpus_per_host=gpus)
        check_placement(placed, requests, gpus)
        assert len(placed.hosts) == placed.bound == fewest_hosts(requests, gpus), requests
        assert all(one.gpus == one.bound for one in placed.shared)


V100 = Family("memory", capacity=32_768)


def test_eight_requests_of_three_on_hosts_of_four() -> None:
    placed = place([Request("research", 8, gpus=3)], gpus_per_host=4)
    assert len(placed.hosts) == placed.bound == 8  # 24 GPUs would be six hosts by division
    assert count_hosts(24, gpus_per_host=4) == 6


def test_the_worked_designs() -> None:
    starter = [
        Request("scientists", 10, gpus=1),
        Request("developers", 16, family=V100, weight=8192),
    ]
    assert len(place(starter, gpus_per_host=2).hosts) == 7  # 10 + 16/4 = 14 GPUs, 2 per host
    enterprise = [
        Request("researchers", 3, gpus=4),
        Request("scientists", 16, family=V100, weight=16_384),
        Request("hpc", 2, gpus=1),
        Request("developers", 16, family=V100, weight=4096),
        Request("distributed", 4, gpus=1),
    ]
    assert len(place(enterprise, gpus_per_host=4).hosts) == 7  # 12 + 8 + 2 + 2 + 4 = 28


def test_profiles_that_cannot_share_a_gpu_take_more_than_their_sum() -> None:
    # a half and a third of a GPU are 5/6 of one, but two profiles need two
    requests = [
        Request("a", 1, family=FAMILIES["half"], profile="half"),
        Request("b", 1, family=FAMILIES["third"], profile="third"),
    ]
    assert place(requests, gpus_per_host=1).gpus_occupied == 2


def test_a_group_stays_together() -> None:
    placed = place([Request("a", 4, gpus=1), Request("b", 4, gpus=1)], gpus_per_host=4)
    assert [{slot.group for load in host for slot in load.slots} for host in placed.hosts] == [{"a"}, {"b"}]


def test_too_large_a_vm_is_refused() -> None:
    with pytest.raises(ValueError, match="a: a VM needs 5 GPUs in one host, and the largest host has 4"):
        place([Request("a", 1, gpus=5)], gpus_per_host=4)


def test_nothing_asked() -> None:
    placed = place([], gpus_per_host=4)
    assert (placed.hosts, placed.bound, placed.gpus_occupied) == ((), 0, 0)
    assert place([Request("a", 0, gpus=4)], gpus_per_host=4).hosts == ()


def test_ten_thousand_hosts_finish_and_conserve() -> None:
    requests = large_mix(1.1)
    placed = place(requests, gpus_per_host=8)
    check_hosts(placed.hosts, [Room(8)] * len(placed.hosts), requests)
    assert vms_in(placed.hosts) == vms_asked(requests)
    assert placed.method != "heuristic"
    assert placed.bound == len(placed.hosts) > 9000


@pytest.mark.nightly  # each allocation is counted, which takes as long again
def test_ten_thousand_hosts_take_less_than_half_a_gigabyte() -> None:
    tracemalloc.start()
    place(large_mix(1.1), gpus_per_host=8)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 500_000_000


# ---- count_hosts


def test_count_hosts() -> None:
    assert count_hosts(28, gpus_per_host=4) == count_hosts(14, gpus_per_host=2) == 7
    assert count_hosts(0, gpus_per_host=4) == 0
    assert count_hosts(28.001, gpus_per_host=4) == 8
    assert count_hosts(0.1 * 3 + 3.7, gpus_per_host=4) == 1  # 4.000000000000001 in floats


def test_division_never_asks_for_more_than_placement() -> None:
    for rng in cases(5, 300, few=60):
        gpus = rng.randint(1, 8)
        requests = random_requests(rng, gpus, kinds="wwse")
        whole = sum(float(worth * r.vms) for worth, r in zip(Rules(requests).worth, requests, strict=True))
        assert count_hosts(whole, gpus_per_host=gpus) <= len(place(requests, gpus_per_host=gpus).hosts)


# ---- directions


def test_more_demand_never_needs_fewer_hosts_and_larger_hosts_never_more() -> None:
    for rng in cases(11, 400, few=60):
        gpus = rng.randint(2, 8)
        requests = random_requests(rng, gpus, most=20)
        at = rng.randrange(len(requests))
        more = [r._replace(vms=r.vms + (i == at)) for i, r in enumerate(requests)]
        hosts = len(place(requests, gpus_per_host=gpus).hosts)
        assert hosts <= len(place(more, gpus_per_host=gpus).hosts)
        assert len(place(requests, gpus_per_host=gpus + 1).hosts) <= hosts


def test_splitting_a_request_never_needs_more_hosts() -> None:
    for rng in cases(14, 300, few=60):
        gpus = rng.randint(2, 6)
        requests = random_requests(rng, gpus, most=12, shares=4, kinds="wee")
        at = rng.randrange(len(requests))
        one = requests[at]
        if one.gpus > 1:
            part = rng.randint(1, one.gpus - 1)
            split = [one._replace(gpus=part), one._replace(group="rest", gpus=one.gpus - part)]
        elif one.shares > 1:
            part = rng.randint(1, one.shares - 1)
            split = [one._replace(shares=part), one._replace(group="rest", shares=one.shares - part)]
        else:
            part = rng.randint(0, one.vms)
            split = [one._replace(vms=part), one._replace(group="rest", vms=one.vms - part)]
        parts = [*requests[:at], *split, *requests[at + 1 :]]
        assert len(place(parts, gpus_per_host=gpus).hosts) <= len(place(requests, gpus_per_host=gpus).hosts)


# ---- place_mixed: existing and spare hosts


def test_identical_hosts_without_limits_need_what_place_says() -> None:
    for rng in cases(23, 200, few=50):
        requests = random_requests(rng, 4, most=15)
        exactly = place(requests, gpus_per_host=4)
        for spare in range(3):
            placed = place_mixed(requests, room=Room(4), spare=spare)
            assert len(placed.hosts) == placed.bound == len(exactly.hosts) + spare
            assert placed.method == "volume"
            assert all(not host for host in placed.hosts[len(exactly.hosts) :])
        both = place_mixed(requests, room=Room(4), existing=[Room(4)] * 2, spare=1)
        assert len(both.hosts) == max(2, len(exactly.hosts) + 1)


def test_a_spare_host_more_never_means_fewer_hosts() -> None:
    for rng in cases(22, 60, few=12):
        room = Room(4, 64, 256)
        existing = [Room(rng.choice([2, 4, 8]), 64, rng.choice([128, 512])) for _ in range(rng.randint(0, 5))]
        requests = limited(rng, random_requests(rng, 4, most=25, shares=3), Room(0, 32, 128))
        placed = [place_mixed(requests, room=room, existing=existing, spare=n) for n in range(3)]
        hosts, bounds = [len(one.hosts) for one in placed], [one.bound for one in placed]
        assert hosts == sorted(hosts)
        assert bounds == sorted(bounds)
        assert all(a <= b for a, b in zip(bounds, hosts, strict=True))


def test_nothing_new_is_needed_where_the_existing_hosts_do() -> None:
    request = Request("a", 4, gpus=2)
    placed = place_mixed([request], room=Room(4), existing=[Room(8), Room(8)], spare=1)
    assert (len(placed.hosts), placed.bound) == (2, 2)
    assert place_mixed([], room=Room(4), existing=[Room(8)], spare=1).hosts == ((),)
    assert place_mixed([], room=Room(4)).hosts == ()


def test_the_largest_host_may_be_lost_too() -> None:
    """A VM that fits on the only large host alone has nowhere to go when that is lost; the others have their spare host."""
    large, small = Request("a", 1, gpus=8), Request("b", 4, gpus=2)
    for spare, new in ((0, 0), (1, 0), (2, 0)):
        assert len(place_mixed([large], room=Room(4), existing=[Room(8)], spare=spare).hosts) == 1 + new
    for spare in range(3):
        placed = place_mixed([large, small], room=Room(4), existing=[Room(8)], spare=spare)
        assert len(placed.hosts) == 1 + 2 + spare
    with pytest.raises(ValueError, match="cannot hold all of these"):
        place_mixed([large._replace(vms=2)], room=Room(4), existing=[Room(8)])


@pytest.mark.parametrize(("spare", "new"), [(0, 0), (1, 2), (2, 4), (3, 5)])
def test_spare_hosts_beside_larger_ones_already_there(spare: int, new: int) -> None:
    """16 GPUs on two hosts of 8: for each of the two that is lost it takes two new ones of 4, for a new one another."""
    request = Request("a", 16, gpus=1)
    placed = place_mixed([request], room=Room(4), existing=[Room(8)] * 2, spare=spare)
    assert (len(placed.hosts), placed.bound) == (2 + new, 2 + new)


@pytest.mark.parametrize("existing", [2, 3])
@pytest.mark.parametrize("spare", [0, 1, 2, 3])
def test_hosts_already_there_that_are_like_new_ones_are_spare_ones_too(existing: int, spare: int) -> None:
    """8 GPUs take two hosts of 4, new or not, and the spare ones."""
    placed = place_mixed([Request("a", 8, gpus=1)], room=Room(4), existing=[Room(4)] * existing, spare=spare)
    assert len(placed.hosts) == max(existing, 2 + spare)


def test_of_many_losses_only_those_of_the_largest_hosts_are_looked_at(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A host that offers as much of everything as another is the worse one to lose; 0 is without a limit."""
    small, large, free, other = Room(2, 32, 256), Room(4, 64, 512), Room(4, 0, 0), Room(4, 16, 512)
    every = Counter({small: 2, large: 2})
    assert sorted(map(dict, layout_module.worst_losses(every, lost=1)), key=str) == [{small: 1}, {large: 1}]
    monkeypatch.setattr(layout_module, "MOST_LOSSES", 0)

    def losses(*rooms: Room, lost: int = 1) -> list[Counter[Room]]:
        return layout_module.worst_losses(Counter(dict.fromkeys(rooms, 2)), lost=lost)

    assert losses(small, large) == [Counter({large: 1})]
    assert losses(small, large, lost=3) == [Counter({large: 2, small: 1})]
    assert losses(large, free) == [Counter({free: 1})]
    assert losses(small, other) == [
        Counter({small: 1}),
        Counter({other: 1}),
    ]  # neither offers more of everything
