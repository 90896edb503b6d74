"""A cluster fills and empties: choice of host, locks that go when the last VM has left, pictures that add up."""

from __future__ import annotations

import random

from power_on_cases import case

from gpuplan.models.availability.failover import after_failure
from gpuplan.models.placement import Family, Request, Room
from gpuplan.models.power_on import Cluster, Rules, Spot, Way

QUARTER = Family("8C", ("8C",), ((4,),))


def spots(cluster: Cluster, *kinds: int) -> list[tuple[int, ...]]:
    """(host, GPUs) of VMs that are started one after another."""
    found = []
    for at, kind in enumerate(kinds, 1):
        spot = cluster.start(kind, at)
        found.append((spot.host, *spot.gpus) if spot else ())
    return found


def test_spread_takes_neutral_gpus_and_group_fills_one_first() -> None:
    requests = [Request("a", 4, family=QUARTER, profile="8C"), Request("b", 1, gpus=1)]
    assert spots(Cluster(requests, [Room(2)], Rules()), 0, 0, 1) == [(0, 0), (0, 1), ()]
    group = Rules(ways=(("8C", Way("fullest")),))
    assert spots(Cluster(requests, [Room(2)], group), 0, 0, 1) == [(0, 0), (0, 0), (0, 1)]


def test_hosts_are_spread_by_what_is_used_or_taken_in_turn() -> None:
    requests = [
        Request("a", 9, gpus=1, vcpus=4, memory_gib=8),
        Request("b", 9, gpus=1, vcpus=12, memory_gib=8),
    ]
    rooms = [Room(4, 64, 512)] * 2
    assert [host for host, _ in spots(Cluster(requests, rooms, Rules()), 1, 0, 0, 0, 0)] == [0, 1, 1, 1, 0]
    turn = Cluster(requests, rooms, Rules("turn"))
    assert [host for host, _ in spots(turn, 1, 0, 0, 0, 0)] == [0, 1, 0, 1, 0]


def test_consolidation_sees_whole_gpus_only() -> None:
    requests = [Request("a", 4, family=QUARTER, profile="8C"), Request("b", 3, gpus=1)]
    cluster = Cluster(requests, [Room(4)] * 3, Rules(consolidate=True))
    assert [host for host, *_ in spots(cluster, 0, 1, 1, 0, 1)] == [0, 1, 1, 2, 1]


def test_a_vm_that_leaves_takes_its_lock_with_it() -> None:
    requests = [Request("a", 4, family=QUARTER, profile="8C"), Request("b", 1, gpus=2)]
    cluster = Cluster(requests, [Room(2)], Rules())
    cluster.start(0, 1)
    assert cluster.start(1, 1) is None and cluster.idle_gpus() == 1.75
    assert cluster.stop(0, 1) == Spot(0, (0,), (0,))
    assert cluster.start(1, 1) == Spot(0, (0, 1), ()) and cluster.idle_gpus() == 0


def test_all_that_stops_leaves_an_empty_cluster_and_a_copy_is_its_own() -> None:
    for seed in range(40):
        requests, rooms, rules = case(random.Random(seed))
        cluster = Cluster(requests, rooms, rules)
        empty = list(cluster.states)
        for kind, request in enumerate(requests):
            for vm in range(request.vms):
                cluster.start(kind, vm + 1)
        other, full = cluster.copy(), list(cluster.states)
        for kind, vm in random.Random(seed).sample(sorted(other.spots), len(other.spots)):
            other.stop(kind, vm)
        assert other.states == empty and not any((*other.vcpus, *other.memory_gib, *other.vms, *other.whole))
        assert cluster.states == full


def test_what_stands_on_the_hosts_can_fail() -> None:
    requests = [Request("a", 6, family=QUARTER, profile="8C"), Request("b", 2, gpus=1)]
    cluster = Cluster(requests, [Room(2)] * 3, Rules(ways=(("8C", Way("fullest")),)))
    spots(cluster, 0, 0, 0, 0, 0, 0)
    cluster.start(1, 1), cluster.start(1, 2)
    hosts = cluster.hosts()
    assert [[(load.gpus, len(load.slots)) for load in host] for host in hosts] == [
        [(1, 2), (1, 1)],
        [(1, 2), (1, 1)],
        [(1, 2)],
    ]
    outcome = after_failure(hosts, requests=requests, rooms=[Room(2)] * 3, failed=[2])
    assert len(outcome.restarted) == 2 and not outcome.unplaced
