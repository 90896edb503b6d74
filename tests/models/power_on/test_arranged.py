"""An arrangement becomes a cluster: every VM where it was, no GPU held twice, and what is idle agrees."""

from __future__ import annotations

import random
from math import isclose

from power_on_cases import MIG, case

from gpuplan.models.placement import Family, Load, Request, Room, Slot, place_mixed
from gpuplan.models.power_on import Rules, Way, arranged
from gpuplan.models.sharing import gpu_layouts


def test_every_arrangement_runs_as_it_is_placed() -> None:
    for seed in range(80):
        requests, rooms, rules = case(random.Random(seed))
        room, rules = max(rooms), rules._replace(domain=0, partitions=False)
        hosts = place_mixed(requests, room=room).hosts
        cluster = arranged(requests, rooms=[room] * len(hosts), rules=rules, layout=hosts)
        assert len(cluster.spots) == sum(request.vms for request in requests)
        assert [
            sorted((slot.group, slot.vm) for load in host for slot in load.slots) for host in cluster.hosts()
        ] == [sorted((slot.group, slot.vm) for load in host for slot in load.slots) for host in hosts]
        idle = len(hosts) * room.gpus - sum(float(cluster.gpus.fits.worth[k]) for k, _ in cluster.spots)
        assert isclose(cluster.idle_gpus(), idle)
        for (kind, vm), spot in list(cluster.spots.items()):
            cluster.stop(kind, vm)
            assert spot.host in cluster.able(kind), seed
            cluster.put(kind, vm, spot)


def test_slices_lie_where_they_may_begin() -> None:
    family = Family("MIG", tuple(piece.name for piece in MIG), gpu_layouts(MIG, region=8, compute_slices=7))
    requests = [
        Request("one", 3, family=family, profile="1g"),
        Request("four", 1, family=family, profile="4g"),
        Request("whole", 1, gpus=2),
    ]
    slots = (Slot("one", 1, "1g"), Slot("four", 1, "4g"), Slot("one", 2, "1g"), Slot("one", 3, "1g"))
    host = (Load(1, slots, family), Load(2, (Slot("whole", 1),)))
    rules = Rules(ways=(("MIG", Way(pieces=MIG, region=8, compute_slices=7)),))
    cluster = arranged(requests, rooms=[Room(4)], rules=rules, layout=[host])
    assert cluster.spots[2, 1].gpus == (0, 1)
    assert [
        (cluster.spots[vm].gpus, cluster.spots[vm].starts) for vm in ((1, 1), (0, 1), (0, 2), (0, 3))
    ] == [
        ((2,), (0,)),
        ((2,), (4,)),
        ((2,), (5,)),
        ((2,), (6,)),
    ]
