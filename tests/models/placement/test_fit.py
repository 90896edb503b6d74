"""Filling: one GPU and one host against a brute force, and what is refused."""

from __future__ import annotations

import random
from collections import Counter

import pytest
from brute_force import FAMILIES, limited, on_host, random_requests
from random_cases import cases, often

from gpuplan.models.placement import Request, Room, place, place_mixed
from gpuplan.models.placement.fit import Rules
from gpuplan.models.placement.requests import Content, vms_in


def test_what_is_not_a_request_is_refused() -> None:
    half = FAMILIES["half"]
    for wrong, message in (
        (Request("a", 1), "no GPUs, no shares, no vCPUs and no memory"),
        (Request("a", 1, vcpus=4), "VMs without a GPU"),
        (Request("a", 1, family=half, profile="quarter"), "half has no profile 'quarter'"),
        (Request("a", 1, family=half, profile="half", shares=9), "a: a VM needs 5 GPUs in one host"),
        (Request("a", 1, family=FAMILIES["memory"], weight=11), "a share does not fit on one GPU"),
        (Request("a", 1, family=FAMILIES["memory"], weight=0), "a share does not fit on one GPU"),
    ):
        with pytest.raises(ValueError, match=message):
            place([wrong], gpus_per_host=4)
    with pytest.raises(ValueError, match="a group has one request"):
        place([Request("a", 1, gpus=1), Request("a", 1, gpus=2)], gpus_per_host=4)


@pytest.mark.parametrize(
    ("request_", "lacks"),
    [
        (Request("a", 1, gpus=5), "a VM needs 5 GPUs in one host, and the largest host has 4"),
        (Request("a", 1, gpus=1, vcpus=65), "a VM needs 65 vCPUs in one host, and the largest host has 64"),
        (Request("a", 1, gpus=1, memory_gib=999), "a VM needs 999 GiB of memory in one host"),
    ],
)
def test_what_a_vm_lacks_is_said(request_: Request, lacks: str) -> None:
    with pytest.raises(ValueError, match=lacks):
        place_mixed([request_], room=Room(4, 64, 512))


def random_host(rng: random.Random, rules: Rules, room: Room) -> Content:
    """A host onto which VMs of random kinds were put until some did not fit."""
    state, content = rules.state(room), Content()
    for _ in range(rng.randint(0, 8)):
        kind = rng.randrange(len(rules.requests))
        fit = rules.fit(state, kind)
        if fit is not None:
            content, state = rules.put(content, kind, fit), fit.state
            assert state == rules.state(room, content)  # what is left is what the content leaves
    return content


def test_one_more_vm_fits_exactly_where_there_is_a_way() -> None:
    yes = no = 0
    for rng in cases(61, 1000, few=100):
        room = Room(rng.randint(1, 4), 12, 16)
        requests = limited(rng, random_requests(rng, room.gpus, shares=4, kinds="wees"), Room(0, 6, 6))
        rules = Rules(requests)
        content = random_host(rng, rules, room)
        free, vcpus, memory, *_ = rules.state(room, content)
        shared = []
        for f, slots in content:
            if f >= 0:
                used = sum(requests[k].weight or 1 for k, _ in slots)
                shared.append((rules.families[f].name, (used,)))
        host = free, tuple(sorted(shared)), vcpus if rules.counted(room).vcpus else 99, memory, ""
        for kind, request in enumerate(requests):
            fits = rules.fit(rules.state(room, content), kind) is not None
            assert fits == any(True for _ in on_host(host, request))
            yes, no = yes + fits, no + (not fits)
    assert often(yes, 300)
    assert often(no, 300)


def test_what_is_put_on_a_host_is_what_was_there_and_one_more() -> None:
    for rng in cases(62, 500, few=100):
        room = Room(rng.randint(1, 4))
        rules = Rules(random_requests(rng, room.gpus, shares=3))
        content = random_host(rng, rules, room)
        for kind, request in enumerate(rules.requests):
            fit = rules.fit(rules.state(room, content), kind)
            if fit is None:
                continue
            more = rules.put(content, kind, fit)
            assert vms_in(more) == vms_in(content) + Counter([kind])
            slots = Counter(slot for part in more for slot in part.slots)
            assert slots[kind, vms_in(content)[kind]] == request.shares
            assert sum(fit.opens) + sum(n for _, n in fit.joins) == (request.shares if request.family else 0)


def test_most_on_a_host_is_what_fits_one_by_one() -> None:
    for rng in cases(63, 300, few=60):
        room = Room(rng.randint(1, 4), rng.choice([0, 12]), rng.choice([0, 16]))
        rules = Rules(limited(rng, random_requests(rng, room.gpus, shares=4), Room(0, 6, 6)))
        for kind in range(len(rules.requests)):
            most = rules.most_on(room, kind)
            assert vms_in(rules.filled(room, {kind: most + 5})) == +Counter({kind: most})


def test_worth_of_a_vm() -> None:
    half, mig, memory = FAMILIES["half"], FAMILIES["mig"], FAMILIES["memory"]
    rules = Rules(
        [
            Request("a", 1, gpus=3),
            Request("b", 1, family=half, profile="half", shares=3),
            Request("c", 1, family=mig, profile="1g"),
            Request("d", 1, family=memory, weight=4, shares=2),
        ]
    )
    assert [float(w) for w in rules.worth] == [3, 1.5, pytest.approx(1 / 7), 0.8]
    assert rules.largest_first == [0, 1, 3, 2]


def test_an_instance_joins_a_running_gpu_only_beside_larger_ones() -> None:
    """3g, 2g and 1g fit on a GPU: a 2g starts beside a running 3g, and not where a 1g runs as well."""
    names = ("3g", "2g", "1g")
    mig = FAMILIES["mig"]._replace(sizes=(4, 2, 1), in_order=True)
    rules = Rules([Request(name, 2, family=mig, profile=name) for name in names])
    large, small = ((0, 0),), ((0, 0), (2, 0))
    for running, joins in ((large, True), (small, False)):
        state = rules.state(Room(2), ((0, running),))
        fresh, later = rules.fit(state, 1), rules.fit_later(state, 1)
        assert fresh is not None and later is not None
        assert (fresh.new_gpus, later.new_gpus) == (0, 0 if joins else 1)


def test_what_nobody_asks_for_need_not_fit() -> None:
    """A request of no VMs is no reason to refuse the others."""
    requests = [Request("a", 5, gpus=1, vcpus=8), Request("b", 0, gpus=8), Request("c", 0, gpus=1, vcpus=99)]
    assert len(place_mixed(requests, room=Room(4, 64, 0)).hosts) == 2
    with pytest.raises(ValueError, match="c: a VM needs 99 vCPUs"):
        place_mixed([*requests[:2], requests[2]._replace(vms=1)], room=Room(4, 64, 0))
