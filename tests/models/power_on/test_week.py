"""A week of coming and going: hand-worked, counted, and no worse than nothing where there is room for all."""

from __future__ import annotations

import random
from math import isclose

from power_on_cases import MIG, case

from gpuplan.models.gpu_layouts import gpu_layouts
from gpuplan.models.placement import Family, Load, Request, Room, Slot, place_mixed
from gpuplan.models.power_on import Rules, Way, arranged, lived_week

QUARTER = Family("12C", ("12C",), ((4,),))


def test_holes_that_small_vms_leave_keep_a_large_one_out() -> None:
    # eight small VMs fill two GPUs; half of them leave, and the large one finds a neutral GPU only if one GPU lost all four of its own
    requests = [Request("small", 8, family=QUARTER, profile="12C"), Request("large", 1, gpus=1)]
    full = lived_week(requests, rooms=[Room(2)], rules=Rules(), wanted=[(8, 0), (4, 1)], weeks=700)
    assert full.missing[0] == 0 and abs(full.missing[1] - (1 - 2 / 70)) < 0.02
    assert isclose(full.stranded_gpus[1], full.missing[1]) and full.back == 9
    assert isclose(full.refused, full.missing[1]) and full.busiest == 0
    fresh = lived_week(requests, rooms=[Room(2)], rules=Rules(), wanted=[(4, 1)], weeks=100)
    group = Rules(ways=(("12C", Way("fullest")),))
    assert fresh.first_start > 0  # spread takes both GPUs before the large one comes
    assert lived_week(requests, rooms=[Room(2)], rules=group, wanted=[(4, 1)], weeks=100).first_start == 0


def test_services_never_leave_and_one_that_waits_is_tried_each_hour() -> None:
    always = lived_week([Request("a", 3, gpus=1)], rooms=[Room(2)], rules=Rules(), wanted=[(3,)] * 24)
    assert (always.back, always.refused, set(always.missing)) == (3.0, 1.0, {1.0})
    assert always.first_start == 1 / 3
    freed = lived_week(
        [Request("a", 2, gpus=1), Request("b", 1, gpus=1)],
        rooms=[Room(2)],
        rules=Rules(),
        wanted=[(2, 0), (2, 1), (1, 1)],
    )
    assert freed.missing == (0.0, 1.0, 0.0) and freed.stranded_gpus == (0.0, 0.0, 0.0)


def test_what_is_wanted_runs_or_waits_and_room_for_all_refuses_nobody() -> None:
    for seed in range(20):
        draw = random.Random(seed)
        requests, rooms, rules = case(draw)
        wanted = [[draw.randint(0, request.vms) for request in requests] for _ in range(12)]
        given = {"rooms": rooms, "rules": rules, "wanted": wanted, "weeks": 2}
        found = lived_week(requests, seed=seed, **given)
        assert found == lived_week(requests, seed=seed, **given)
        ups = [
            sum(max(0, n - m) for m, n in zip(a, b, strict=True))
            for a, b in zip([[0] * len(requests), *wanted], wanted, strict=False)
        ]
        assert found.back == sum(ups) and 0 <= found.refused <= found.back
        assert all(0 <= n <= sum(hour) for n, hour in zip(found.missing, wanted, strict=True))
        assert all(not idle or n for idle, n in zip(found.stranded_gpus, found.missing, strict=True))
        roomy = lived_week(
            requests,
            rooms=[Room(8, 10_000, 100_000)] * sum(r.vms for r in requests),
            rules=Rules(),
            wanted=wanted,
            weeks=1,
        )
        assert not any(roomy.missing) and roomy.refused == roomy.first_start == 0


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
