"""The programme for hosts that differ: proven on sixty VMs, near its bound on hundreds."""

from __future__ import annotations

from brute_force import (
    check_hosts,
    design,
    fits_by_programme,
    large_mix,
    vms_asked,
    vms_in,
)
from random_cases import cases, often

from gpuplan.models.placement import Room, place_mixed


def test_every_design_of_sixty_vms_is_proven_and_a_programme_without_patterns_agrees() -> None:
    compared = 0
    for rng in cases(18, 200, few=25):
        requests, room = design(rng, rng.randint(5, 60), kinds=10)
        placed = place_mixed(requests, room=room)
        hosts = len(placed.hosts)
        check_hosts(placed.hosts, [room] * hosts, requests)
        assert vms_in(placed.hosts) == vms_asked(requests)
        assert hosts == placed.bound, (requests, room)
        if 2 <= hosts <= 6:
            compared += 1
            assert fits_by_programme(requests, [room] * hosts)
            assert not fits_by_programme(requests, [room] * (hosts - 1)), (requests, room)
    assert often(compared, 20)


def test_large_designs_are_close_to_the_bound() -> None:
    for vms in (300, 1000, 3000, 10_000, 30_000):
        for rng in cases(vms, 8, few=1):
            requests, room = design(rng, vms)
            placed = place_mixed(requests, room=room)
            hosts = len(placed.hosts)
            check_hosts(placed.hosts, [room] * hosts, requests)
            assert vms_in(placed.hosts) == vms_asked(requests)
            assert hosts - placed.bound <= max(1, 0.005 * placed.bound), (requests, room)


def test_five_hundred_hosts_that_differ() -> None:
    requests = [r._replace(vcpus=4, memory_gib=24) for r in large_mix(0.045)]
    existing = [Room(4, 64, 512)] * 40 + [Room(8, 128, 1024)] * 60
    placed = place_mixed(requests, room=Room(8, 128, 1024), existing=existing, spare=2)
    rooms = [*existing, *[Room(8, 128, 1024)] * (len(placed.hosts) - len(existing))]
    check_hosts(placed.hosts, rooms, requests)
    assert vms_in(placed.hosts) == vms_asked(requests)
    assert placed.bound <= len(placed.hosts) <= placed.bound + 1
