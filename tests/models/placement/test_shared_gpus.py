"""Shared GPUs of one host: the fewest by ways to divide them against packing, and what is on each."""

from __future__ import annotations

import itertools

import pytest
from brute_force import FAMILIES
from random_cases import cases

from gpuplan.models.placement import Family, Request, shared_gpus
from gpuplan.models.placement.fit import Rules
from gpuplan.models.placement.requests import vms_in
from gpuplan.models.placement.shared_gpus import SharedGpus, _maximal

MIG = FAMILIES["mig"]


def shared_by(*requests: Request) -> SharedGpus:
    return SharedGpus(Rules(requests))


def test_the_fewest_gpus_are_those_of_the_packing() -> None:
    shared = shared_by(*(Request(p, 9, family=MIG, profile=p) for p in MIG.profiles))
    mixes = list(itertools.product(range(6), range(5), range(9)))
    fewest = shared.fewest(0, mixes, most=8)
    for mix, gpus in zip(mixes, fewest.tolist(), strict=True):
        assert gpus == min(9, shared.packed(0, dict(enumerate(mix))).bins), mix


def test_memory_is_divided_like_profiles() -> None:
    weights = (2, 3, 5)
    shared = shared_by(*(Request(str(w), 9, family=FAMILIES["memory"], weight=w) for w in weights))
    assert set(shared.on_one(0) or ()) == {
        (5, 0, 0),
        (3, 1, 0),
        (2, 2, 0),
        (2, 0, 1),
        (1, 1, 1),
        (0, 3, 0),
        (0, 0, 2),
    }
    assert shared.fewest(0, [[0, 0, 0], [5, 0, 0], [1, 0, 2], [1, 2, 0], [9, 9, 9]], most=4).tolist() == [
        0,
        1,
        2,
        1,
        5,
    ]


def test_more_than_the_host_has_is_more_than_the_most() -> None:
    shared = shared_by(Request("a", 9, family=MIG, profile="3g"), Request("b", 9, family=MIG, profile="1g"))
    assert shared.fewest(0, [[4, 0], [5, 0]], most=2).tolist() == [2, 3]


def test_where_the_ways_are_too_many_each_mix_is_packed(monkeypatch: pytest.MonkeyPatch) -> None:
    shared = shared_by(*(Request(p, 9, family=MIG, profile=p) for p in MIG.profiles))
    mixes = [[3, 2, 4], [0, 0, 8], [2, 0, 1]]
    known = shared.fewest(0, mixes, most=8).tolist()
    monkeypatch.setattr(SharedGpus, "ways", lambda *_: None)
    assert shared.fewest(0, mixes, most=8).tolist() == known == [3, 2, 2]
    monkeypatch.setattr(shared_gpus, "MOST_LOOKED", 0)
    assert shared.fewest(0, [[3, 3, 4]], most=8) is None


def test_every_share_of_a_vm_has_its_place_and_no_gpu_is_over_full() -> None:
    half = Family("half", ("half",), ((2,),))
    requests = [
        Request("whole", 9, gpus=2),
        Request("half", 9, family=half, profile="half", shares=3),
        *(Request(p, 9, family=MIG, profile=p, shares=2) for p in MIG.profiles),
    ]
    shared = shared_by(*requests)
    for rng in cases(5, 100, few=40):
        vms = {k: rng.randint(0, 3) for k in range(len(requests))}
        content = shared.content(vms)
        assert vms_in(content) == {k: n for k, n in vms.items() if n}
        slots = [slot for part in content for slot in part.slots]
        for kind, n in vms.items():
            assert all(slots.count((kind, vm)) == requests[kind].shares for vm in range(n))
        for part in content:
            if part.family >= 0:
                used = shared.rules.used_by(part.family, (kind for kind, _ in part.slots))
                assert any(
                    all(a <= b for a, b in zip(used, layout, strict=True))
                    for layout in shared.rules.layouts[part.family]
                )


def test_only_what_is_part_of_nothing_else_is_maximal() -> None:
    assert _maximal([(1, 2), (1, 1), (0, 2), (2, 0), (2, 0)]) == [(2, 0), (1, 2)]
