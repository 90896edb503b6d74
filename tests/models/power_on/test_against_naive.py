"""``Cluster`` places, refuses and lets go VM by VM as a simulator of lists and loops does; no state on the way breaks a rule."""

from __future__ import annotations

import random
from collections import Counter

import pytest
from naive_power_on import Naive, Standing
from power_on_cases import odd_case

from gpuplan.models.placement import Request, Room
from gpuplan.models.power_on import Cluster, Rules, Spot


@pytest.mark.parametrize("first", range(0, 400, 100))
def test_every_vm_stands_where_the_naive_one_puts_it(first: int) -> None:
    for seed in range(first, first + 100):
        draw = random.Random(seed)
        requests, rooms, rules = odd_case(draw)
        cluster, naive = Cluster(requests, rooms, rules), Naive(requests, rooms, rules)
        waiting = [(kind, vm) for kind, request in enumerate(requests) for vm in range(1, request.vms + 1)]
        draw.shuffle(waiting)
        for _ in range(2 * len(waiting)):
            if cluster.spots and (not waiting or draw.random() < 0.2):
                who = draw.choice(sorted(cluster.spots))
                assert cluster.stop(*who) == naive.stop(*who)
                waiting.append(who)
            if waiting:
                kind, vm = waiting.pop(0)
                without = [draw.randrange(len(rooms))] if draw.random() < 0.1 else []
                spot = cluster.start(kind, vm, without=without)
                assert spot == naive.start(kind, vm, without), seed
                assert spot is None or spot.host not in without
        assert set(cluster.spots.items()) == set(naive.standing.items())
        assert_rules_are_kept(cluster, requests, rooms, rules)


def assert_rules_are_kept(cluster: Cluster, requests: list[Request], rooms: list[Room], rules: Rules) -> None:
    """Counted from the spots alone: locks, places, partitions, CPU, memory, worth."""
    ways = dict(rules.ways)
    on: dict[tuple[int, int], list[tuple[Request, int]]] = {}
    for (kind, _), spot in cluster.spots.items():
        request = requests[kind]
        for i, gpu in enumerate(spot.gpus):
            assert 0 <= gpu < rooms[spot.host].gpus
            on.setdefault((spot.host, gpu), []).append((request, spot.starts[i] if spot.starts else 0))
        if request.family is None and request.gpus:
            assert len(set(spot.gpus)) == len(spot.gpus) >= request.gpus
            if rules.partitions:
                size = len(spot.gpus)
                assert size in (1, 2, 4, 8) and size < 2 * request.gpus
                assert (
                    spot.gpus == tuple(range(spot.gpus[0], spot.gpus[0] + size)) and not spot.gpus[0] % size
                )
            elif 1 < request.gpus <= rules.domain:
                assert len({gpu // rules.domain for gpu in spot.gpus}) == 1
    for there in on.values():
        families = {request.family for request, _ in there}
        assert len(families) == 1
        family = families.pop()
        if family is None:
            assert len(there) == 1
        elif (way := ways.get(family.name)) and way.pieces:
            pieces = [next(p for p in way.pieces if p.name == request.profile) for request, _ in there]
            places = [
                at
                for piece, (_, start) in zip(pieces, there, strict=True)
                for at in range(start, start + piece.size)
            ]
            assert len(places) == len(set(places)) and max(places) < way.region
            assert all(start in piece.starts for piece, (_, start) in zip(pieces, there, strict=True))
            assert all(n <= piece.most for piece, n in Counter(pieces).items())
            assert not way.compute_slices or sum(p.compute for p in pieces) <= way.compute_slices
        else:
            assert len(there) <= family.layouts[0][0]
    for host, room in enumerate(rooms):
        here = [requests[kind] for (kind, _), spot in cluster.spots.items() if spot.host == host]
        assert not room.vcpus or sum(request.vcpus for request in here) <= room.vcpus
        assert not room.memory_gib or sum(request.memory_gib for request in here) <= room.memory_gib
    worth = sum(cluster.gpus.fits.worth[kind] for kind, _ in cluster.spots)
    assert cluster.idle_gpus() == pytest.approx(sum(room.gpus for room in rooms) - worth)
    slots = [slot for host in cluster.hosts() for load in host for slot in load.slots]
    assert len({(slot.group, slot.vm) for slot in slots}) == len(cluster.spots)


def test_a_spot_and_a_standing_are_the_same_tuple() -> None:
    assert Spot(1, (2,), (3,)) == Standing(1, (2,), (3,))
