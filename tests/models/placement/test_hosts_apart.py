"""Equal hosts with the shares of a VM let apart: exact for single shares, for others a bound."""

from __future__ import annotations

import itertools
import random
from collections import Counter

import pytest
from brute_force import FAMILIES, check_placement, fewest_hosts, random_requests
from random_cases import cases, often

from gpuplan.models.placement import Request, Room, hosts_apart, packing, place
from gpuplan.models.placement.fit import Rules
from gpuplan.models.placement.hosts_apart import HostsApart
from gpuplan.models.placement.identical_hosts import IdenticalHosts


def test_whole_gpus_and_single_shares_are_exact() -> None:
    for rng in cases(23, 100, few=25):
        gpus = rng.randint(1, 4)
        requests = random_requests(rng, gpus, most=6)
        rules = Rules(requests)
        solution = HostsApart(rules).apart(rules.vms, Room(gpus))
        assert solution.hosts == solution.bound == fewest_hosts(requests, gpus)


def test_of_vms_with_several_shares_it_is_a_bound() -> None:
    """Three VMs of two thirds each: their six thirds fill two GPUs, but none of these has two of the VMs whole."""
    thirds = [Request("a", 3, family=FAMILIES["third"], profile="third", shares=2)]
    rules = Rules(thirds)
    assert HostsApart(rules).apart(rules.vms, Room(1)).bound == 2
    assert fewest_hosts(thirds, 1) == 3


def test_several_shares_of_one_size_are_placed_optimally() -> None:
    methods: Counter[str] = Counter()
    for rng in cases(10, 1500, few=100):
        gpus = rng.randint(1, 4)
        requests = random_requests(rng, gpus, shares=5, kinds="wee")
        placed = place(requests, gpus_per_host=gpus)
        check_placement(placed, requests, gpus)
        assert len(placed.hosts) == placed.bound == fewest_hosts(requests, gpus), requests
        methods[placed.method] += 1
    assert methods["heuristic"] == 0
    assert often(methods["programme"], 10)


def test_several_shares_of_mixed_sizes_are_placed_optimally_in_any_order() -> None:
    methods: Counter[str] = Counter()
    for rng in cases(13, 1000, few=80):
        gpus = rng.randint(1, 2)
        requests = random_requests(rng, gpus, most=5, shares=3, kinds="wemmms")
        placed = place(requests, gpus_per_host=gpus)
        check_placement(placed, requests, gpus)
        assert len(placed.hosts) == placed.bound == fewest_hosts(requests, gpus), requests
        methods[placed.method] += 1
        rng.shuffle(requests)
        first = requests[0]
        vms = rng.randint(0, first.vms)
        split = [first._replace(vms=vms), *requests[1:], first._replace(group="rest", vms=first.vms - vms)]
        for others in (requests, split):
            again = place(others, gpus_per_host=gpus)
            check_placement(again, others, gpus)
            assert len(again.hosts) == len(placed.hosts)
    assert methods["heuristic"] == 0
    assert often(methods["programme"], 10)


@pytest.mark.parametrize(
    ("family", "asked", "gpus", "hosts"),
    [
        ("mixed", [(2, "8C", 4), (3, "16C", 2)], 2, 2),
        ("mig", [(2, "1g", 1), (1, "2g", 3), (3, "1g", 4)], 3, 1),
        ("mixed", [(16, "8C", 4), (17, "16C", 2), (2, "16C", 1)], 8, 4),
        ("mixed", [(4, "8C", 4), (17, "16C", 2), (2, "16C", 1), (12, "8C", 4)], 8, 4),
    ],
)
def test_mixes_that_a_greedy_order_misses(
    family: str, asked: list[tuple[int, str, int]], gpus: int, hosts: int
) -> None:
    for each in itertools.permutations(asked):
        requests = [
            Request(f"g{i}", vms, family=FAMILIES[family], profile=profile, shares=shares)
            for i, (vms, profile, shares) in enumerate(each)
        ]
        placed = place(requests, gpus_per_host=gpus)
        check_placement(placed, requests, gpus)
        assert len(placed.hosts) == placed.bound == hosts


def test_with_too_many_ways_the_answer_depends_on_no_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hosts_apart, "MOST_LOOKED", 2)
    for rng in cases(14, 150, few=40):
        gpus = rng.randint(1, 4)
        requests = random_requests(rng, gpus, most=12, shares=4, kinds="wemms")
        placed = place(requests, gpus_per_host=gpus)
        check_placement(placed, requests, gpus)
        assert (placed.method == "heuristic") == (len(placed.hosts) > placed.bound)
        rng.shuffle(requests)
        assert len(place(requests, gpus_per_host=gpus).hosts) == len(placed.hosts)


def test_several_shares_of_mixed_sizes_are_bounded() -> None:
    optimal = 0
    for rng in cases(12, 400, few=50):
        gpus = rng.randint(1, 3)
        requests = random_requests(rng, gpus, most=4, shares=3)
        placed = place(requests, gpus_per_host=gpus)
        check_placement(placed, requests, gpus)
        best = fewest_hosts(requests, gpus)
        assert placed.bound <= best <= len(placed.hosts), requests
        if placed.method != "heuristic":
            assert len(placed.hosts) == best
        optimal += len(placed.hosts) == best
    assert often(optimal, 392)


def test_shares_of_one_vm_may_be_on_several_gpus_of_a_host() -> None:
    third = FAMILIES["third"]
    placed = place([Request("a", 3, family=third, profile="third", shares=2)], gpus_per_host=2)
    assert (len(placed.hosts), placed.gpus_occupied) == (1, 2)  # six shares on two GPUs
    placed = place([Request("a", 3, family=third, profile="third", shares=2)], gpus_per_host=1)
    assert len(placed.hosts) == 3  # on one GPU there is room for one VM of two
    placed = place([Request("a", 1, family=third, profile="third", shares=6)], gpus_per_host=2)
    assert len(placed.hosts) == 1
    assert len({slot for load in placed.hosts[0] for slot in load.slots}) == 1


def test_single_shares_take_the_room_that_several_leave() -> None:
    third = FAMILIES["third"]
    pairs = Request("pairs", 2, family=third, profile="third", shares=2)
    singles = Request("singles", 2, family=third, profile="third")
    placed = place([pairs, singles], gpus_per_host=1)
    assert (len(placed.hosts), placed.gpus_occupied) == (2, 2)


def test_the_same_with_several_shares_of_one_size() -> None:
    for rng in cases(13, 150, few=40):
        gpus = rng.randint(2, 6)
        requests = random_requests(rng, gpus, most=14, shares=4, kinds="wee")
        at = rng.randrange(len(requests))
        more = [r._replace(vms=r.vms + (i == at)) for i, r in enumerate(requests)]
        hosts = len(place(requests, gpus_per_host=gpus).hosts)
        assert hosts <= len(place(more, gpus_per_host=gpus).hosts)
        assert len(place(requests, gpus_per_host=gpus + 1).hosts) <= hosts


def test_too_many_patterns_leave_a_heuristic_with_its_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    gaps = 0
    for rng in cases(18, 300, few=60):
        gpus = rng.randint(1, 4)
        requests = random_requests(rng, gpus, most=12, shares=5, kinds="wee")
        exactly = place(requests, gpus_per_host=gpus)
        with monkeypatch.context() as patch:
            patch.setattr(hosts_apart, "MOST_LOOKED", 0)
            found = place(requests, gpus_per_host=gpus)
        check_placement(found, requests, gpus)
        assert found.bound <= exactly.bound <= len(exactly.hosts) <= len(found.hosts)
        gaps += found.method == "heuristic"
    assert often(gaps, 1)


def test_no_more_patterns_than_allowed_are_made(monkeypatch: pytest.MonkeyPatch) -> None:
    third, half = FAMILIES["third"], FAMILIES["half"]
    rules = Rules(
        [
            Request("a", 6, family=third, profile="third", shares=2),
            Request("b", 6, family=half, profile="half", shares=3),
            Request("c", 6, gpus=2),
        ]
    )
    hosts = hosts_apart.HostWays(IdenticalHosts(rules), rules.vms, Room(6), [0, 1])
    every = hosts._patterns()
    assert every is not None and len(set(every)) == len(every) > 10
    for most in range(len(every) + 2):
        monkeypatch.setattr(hosts_apart, "MOST_LOOKED", most)
        assert hosts._patterns() is None
    monkeypatch.setattr(hosts_apart, "MOST_LOOKED", 100 * len(every))
    assert hosts._patterns() == every


def test_whole_gpus_beside_several_shares_of_mixed_sizes() -> None:
    """A host that VMs of whole GPUs share with divided ones holds no more than its GPUs, by the programme too."""
    rng = random.Random(5)
    together = 0
    for _ in range(80):
        gpus = rng.randint(2, 4)
        shares = [
            Request(p, rng.randint(1, 4), family=FAMILIES["mixed"], profile=p, shares=rng.randint(1, 4))
            for p in FAMILIES["mixed"].profiles
        ]
        whole = Request("whole", rng.randint(1, 5), gpus=rng.randint(2, gpus))
        requests = [whole, Request("single", rng.randint(1, 5), gpus=1), *shares]
        try:
            placed = place(requests, gpus_per_host=gpus)
        except ValueError:  # a VM with more shares than fit on a host
            continue
        check_placement(placed, requests, gpus)
        if placed.method == "programme":
            groups = [{slot.group for load in host for slot in load.slots} for host in placed.hosts]
            together += any("whole" in each and len(each) > 1 for each in groups)
    assert together


@pytest.mark.parametrize(
    "requests",
    [
        [
            Request("whole", 3, gpus=1),
            *(
                Request(f"{n}", vms, family=FAMILIES["third"], profile="third", shares=n)
                for n, vms in ((1, 3), (2, 1), (4, 4))
            ),
        ],
        [
            Request(name, vms, family=FAMILIES["mixed"], profile=name, shares=3)
            for name, vms in (("16C", 3), ("12C", 3), ("8C", 4))
        ],
    ],
    ids=["one size", "several sizes"],
)
def test_without_an_answer_of_the_programme_a_heuristic_stands_with_its_bound(
    monkeypatch: pytest.MonkeyPatch, requests: list[Request]
) -> None:
    exactly = place(requests, gpus_per_host=2)
    assert exactly.method == "programme"
    packing._pack.cache_clear()
    for module in (hosts_apart, packing):
        monkeypatch.setattr(module, "whole_programme", lambda *_, **__: (None, None))
    found = place(requests, gpus_per_host=2)
    packing._pack.cache_clear()
    check_placement(found, requests, 2)
    assert found.method == "heuristic"
    assert found.bound < exactly.bound == len(exactly.hosts) <= len(found.hosts)
