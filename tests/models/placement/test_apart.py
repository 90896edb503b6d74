"""VMs kept apart: nothing is added or lost, hosts hold what stands on them, and no host has two more than another where that can be."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from gpuplan.models import placement
from gpuplan.models.placement import Request, Room
from gpuplan.models.placement.apart import set_apart
from gpuplan.models.placement.layout import Host


def counts(hosts: tuple[Host, ...], group: str) -> list[int]:
    return [
        len({slot.vm for load in host for slot in load.slots if slot.group == group})
        for host in hosts
        if host
    ]


def every(hosts: tuple[Host, ...]) -> Counter[tuple[str, int, str]]:
    return Counter(
        (slot.group, slot.vm, slot.profile) for host in hosts for load in host for slot in load.slots
    )


@given(st.lists(st.tuples(st.integers(1, 9), st.sampled_from([1, 2, 4])), min_size=2, max_size=4))
def test_the_same_vms_stand_on_the_same_hosts_which_hold_them(asked: list[tuple[int, int]]) -> None:
    requests = tuple(Request(f"g{n}", vms, gpus=gpus) for n, (vms, gpus) in enumerate(asked))
    packed = placement.place(requests, gpus_per_host=4).hosts
    rooms = [Room(4)] * len(packed)
    found = set_apart(packed, requests=requests, rooms=rooms, groups=["g0"])
    assert every(found) == every(packed)
    assert [bool(host) for host in found] == [bool(host) for host in packed]
    assert all(sum(load.gpus for load in host) <= 4 for host in found)
    assert max(counts(found, "g0"), default=0) <= max(counts(packed, "g0"), default=0)


def test_whole_gpus_are_exchanged_for_as_many() -> None:
    requests = (Request("serve", 4, gpus=1), Request("learn", 2, gpus=2))
    packed = placement.place(requests, gpus_per_host=4).hosts
    found = set_apart(packed, requests=requests, rooms=[Room(4)] * 2, groups=["serve"])
    assert counts(found, "serve") == [2, 2] and counts(found, "learn") == [1, 1]


def test_what_cpu_or_memory_do_not_allow_is_left() -> None:
    requests = (Request("serve", 2, gpus=2, memory_gib=10), Request("learn", 2, gpus=2, memory_gib=100))
    packed = placement.place(requests, gpus_per_host=4).hosts
    wide, narrow = [Room(4, memory_gib=200)] * 2, [Room(4, memory_gib=100)] * 2
    apart = set_apart(packed, requests=requests, rooms=wide, groups=["serve"])
    assert counts(apart, "serve") == [1, 1]
    assert set_apart(packed, requests=requests, rooms=narrow, groups=["serve"]) == packed
