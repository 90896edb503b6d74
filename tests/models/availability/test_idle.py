"""What is idle on hosts in use, and what still fits: by hand and by brute force."""

from __future__ import annotations

from collections import Counter

import pytest
from brute_force import (
    FAMILIES,
    fits_on,
    random_requests,
)
from lost_hosts import placed_with
from random_cases import cases, often

from gpuplan.models.availability.idle import Idle, fits, idle_gpus
from gpuplan.models.placement import Family, Load, Request, Room, Slot, place
from gpuplan.models.placement.fit import Rules


def test_what_fits_is_what_a_brute_force_finds() -> None:
    both = Counter[bool]()
    for rng in cases(49, 200, few=50):
        gpus = rng.randint(1, 3)
        requests = random_requests(rng, gpus, most=6, shares=rng.choice([1, 3]))
        for hosts in range(4):
            found = fits(requests, rooms=[Room(gpus)] * hosts)
            assert found == fits_on(requests, [Room(gpus)] * hosts)
            both[found] += 1
    assert often(min(both.values()), 50)


def test_what_fits_on_hosts_that_differ() -> None:
    request = Request("a", 3, gpus=2, vcpus=8)
    assert fits([request], rooms=[Room(4, 16), Room(2)])
    assert fits([request], rooms=[Room(0), Room(4, 16), Room(2)])
    assert not fits([request], rooms=[Room(4, 15), Room(2)])
    assert not fits([request], rooms=[Room(0)])
    assert not fits([request], rooms=[])
    assert fits([request._replace(vms=0)], rooms=[])


def test_idle_hand_values() -> None:
    half, memory = FAMILIES["half"], FAMILIES["memory"]
    requests = [
        Request("threes", 2, gpus=3),
        Request("twos", 1, gpus=2),
        Request("halves", 1, family=half, profile="half"),
        Request("bits", 1, family=memory, weight=4),
    ]
    hosts = (
        (Load(3, (Slot("threes", 1),)),),
        (Load(3, (Slot("threes", 2),)),),
        (
            Load(2, (Slot("twos", 1),)),
            Load(1, (Slot("halves", 1, "half"),), half),
            Load(1, (Slot("bits", 1, "", 4),), memory),
        ),
        (),
    )
    found = idle_gpus(hosts, requests=requests, rooms=[Room(4)] * 4)
    assert found == (
        Idle("whole", "", 1, 2, 2.0, ("halves", "bits")),
        Idle("share", "half", 1, 1, 0.5, ("halves",)),
        Idle("share", "memory", 6, 1, 0.6, ("bits",)),
    )


def test_gpus_are_stranded_where_memory_is_used_up() -> None:
    requests = [Request("a", 1, gpus=2, memory_gib=200)]
    hosts = ((Load(2, (Slot("a", 1),)),),)
    rooms = [Room(4, 0, 256)]
    assert idle_gpus(hosts, requests=requests, rooms=rooms) == (Idle("whole", "", 2, 1, 2.0, ()),)


def test_idle_and_used_are_all_there_is() -> None:
    for rng in cases(51, 200, few=50):
        gpus = rng.randint(1, 5)
        requests = random_requests(rng, gpus, kinds="wee")
        hosts, rooms = placed_with(requests, gpus, 1)
        worth = sum(float(w * r.vms) for w, r in zip(Rules(requests).worth, requests, strict=True))
        idle = idle_gpus(hosts, requests=requests, rooms=rooms)
        assert worth + sum(one.gpus for one in idle) == pytest.approx(gpus * sum(map(bool, hosts)))
        for one in idle:
            for group in one.fits:  # one more really fits
                more = [r._replace(vms=r.vms + (r.group == group)) for r in requests]
                assert len(place(more, gpus_per_host=gpus).hosts) <= len(hosts)


def test_mixed_profiles_on_a_gpu_that_is_half_used() -> None:
    family = Family("mig", ("3g", "1g"), ((2, 0), (1, 4), (0, 7)))
    requests = [Request("a", 1, family=family, profile="3g"), Request("b", 0, family=family, profile="1g")]
    hosts = ((Load(1, (Slot("a", 1, "3g"),), family),),)
    found = idle_gpus(hosts, requests=requests, rooms=[Room(1)])
    assert found == (Idle("share", "mig", 4, 1, 4 / 7, ("a", "b")),)
