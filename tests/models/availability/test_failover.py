"""Failover: conservation, against placing everything again by brute force, and the survey against each single failure."""

from __future__ import annotations

import itertools
import random
from collections import Counter
from collections.abc import Collection, Sequence

import pytest
from brute_force import (
    FAMILIES,
    MIG,
    check_hosts,
    fewest_hosts,
    fits_on,
    limited,
    random_requests,
    vms_in,
)
from lost_hosts import check_survey, placed_with, scattered
from random_cases import cases, often

from gpuplan.models.availability.failover import Outcome, after_failure
from gpuplan.models.availability.idle import idle_gpus
from gpuplan.models.availability.restart import Pool
from gpuplan.models.availability.survey import Loss, failure_survey
from gpuplan.models.gpu_layouts import gpu_layouts
from gpuplan.models.placement import Family, Host, Load, Request, Room, Slot, place, place_mixed
from gpuplan.models.placement.fit import Rules
from gpuplan.models.placement.mixed_hosts import Arranged, MixedHosts


def where(hosts: Sequence[Host]) -> dict[tuple[str, int], int]:
    return {(s.group, s.vm): i for i, host in enumerate(hosts) for load in host for s in load.slots}


def check_outcome(
    layout: Sequence[Host],
    requests: Sequence[Request],
    rooms: Sequence[Room],
    failed: Collection[int],
    outcome: Outcome,
    maintenance: Collection[int] = (),
) -> None:
    """Every VM is kept, moved, or not placed, exactly once, and what is said of it leads to where it is."""
    check_hosts(outcome.hosts, rooms, requests)
    lost = {*failed, *maintenance}
    assert all(not outcome.hosts[i] for i in lost)
    before, after = where(layout), where(outcome.hosts)
    assert vms_in(outcome.hosts) == set(after)
    assert set(after) | set(outcome.unplaced) == set(before)
    assert not set(after) & set(outcome.unplaced)
    assert len(set(outcome.unplaced)) == len(outcome.unplaced)
    at = dict(before)
    steps = [
        *((g, v, start, to) for g, v, start, to in outcome.evacuated),
        *outcome.moved,
        *((g, v, None, to) for g, v, to in outcome.restarted),
    ]
    assert {(g, v) for g, v, *_ in outcome.evacuated} <= {vm for vm, i in before.items() if i in maintenance}
    assert all(start in maintenance and to not in maintenance for _, _, start, to in outcome.evacuated)
    assert all(start not in lost for _, _, start, _ in outcome.moved if not maintenance)
    assert all(to not in lost for _, _, to in outcome.restarted)
    if maintenance:
        changed = {(g, v) for g, v, *_ in steps}
        assert {vm for vm, i in after.items() if i != before[vm]} <= changed
        last = {(g, v): to for g, v, _, to in steps}
        assert all(last.get(vm, i) == i or vm in changed for vm, i in after.items())
        return
    for group, vm, start, to in steps:
        assert start is None or at[group, vm] == start != to
        at[group, vm] = to
    assert all(at[vm] == i for vm, i in after.items())
    assert {(g, v) for g, v, _ in outcome.restarted} == {vm for vm in after if before[vm] in lost}
    assert set(outcome.unplaced) <= {vm for vm, i in before.items() if i in lost}


# ---- equal hosts


def test_any_tolerated_set_of_failures_is_survived() -> None:
    tried = 0
    for rng in cases(2026, 300, few=60):
        gpus, spare = rng.randint(1, 5), rng.randint(1, 2)
        requests = random_requests(rng, gpus, shares=rng.choice([1, 1, 3]), kinds="wweesm")
        hosts, rooms = placed_with(requests, gpus, spare)
        for size in range(spare + 1):
            for failed in itertools.combinations(range(len(hosts)), size):
                outcome = after_failure(hosts, requests=requests, rooms=rooms, failed=failed)
                check_outcome(hosts, requests, rooms, failed, outcome)
                assert not outcome.unplaced
                tried += 1
    assert often(tried, 1500)


def test_too_many_failures_are_told_as_they_are() -> None:
    lost = 0
    for rng in cases(4, 300, few=60):
        gpus = rng.randint(1, 5)
        requests = random_requests(rng, gpus)
        hosts, rooms = placed_with(requests, gpus, 0)
        for size in range(1, len(hosts) + 1):
            for failed in itertools.combinations(range(len(hosts)), size):
                outcome = after_failure(hosts, requests=requests, rooms=rooms, failed=failed)
                check_outcome(hosts, requests, rooms, failed, outcome)
                assert outcome.unplaced  # the hosts are the fewest that hold everything
                lost += 1
    assert often(lost, 500)


def test_where_restarting_does_not_do_others_move() -> None:
    moved = 0
    for rng in cases(8, 800, few=100):
        gpus = rng.randint(2, 5)
        requests = random_requests(rng, gpus)
        thrown = scattered(rng, requests, len(place(requests, gpus_per_host=gpus).hosts) + 1, gpus)
        if thrown is None:
            continue
        hosts, rooms = thrown
        for failed in range(len(hosts)):
            outcome = after_failure(hosts, requests=requests, rooms=rooms, failed={failed})
            check_outcome(hosts, requests, rooms, {failed}, outcome)
            assert not outcome.unplaced  # one host may be lost, wherever the VMs are
            moved += bool(outcome.moved)
    assert often(moved, 20)


def test_hosts_of_one_board_are_as_hosts_whose_board_is_not_told() -> None:
    """The board of equal hosts decides nothing: the same VMs restart, move and stay down."""
    moved = 0
    for rng in cases(9, 400, few=60):
        gpus = rng.randint(2, 5)
        requests = random_requests(rng, gpus)
        thrown = scattered(rng, requests, len(place(requests, gpus_per_host=gpus).hosts) + 1, gpus)
        if thrown is None:
            continue
        hosts, rooms = thrown
        told = [request._replace(boards=("a",)) for request in requests]
        on_board = [room._replace(board="a") for room in rooms]
        for failed in range(len(hosts)):
            outcome = after_failure(hosts, requests=requests, rooms=rooms, failed={failed})
            assert after_failure(hosts, requests=told, rooms=on_board, failed={failed}) == outcome
            moved += bool(outcome.moved)
        surveys = [
            failure_survey(hosts, requests=requests, rooms=rooms, lost=1),
            failure_survey(hosts, requests=told, rooms=on_board, lost=1),
        ]
        assert surveys[0] == surveys[1]
    assert often(moved, 10)


def test_all_failures_against_placing_everything_again_by_brute_force() -> None:
    partly = 0
    for rng in cases(5, 250, few=40):
        gpus = rng.randint(1, 4)
        requests = random_requests(rng, gpus, most=6, shares=rng.choice([1, 1, 2]), kinds="wwee")
        thrown = scattered(rng, requests, fewest_hosts(requests, gpus) + rng.randint(0, 1), gpus)
        if thrown is None or sum(r.vms for r in requests) != len(where(thrown[0])):
            continue
        hosts, rooms = thrown
        for size in range(1, len(hosts)):
            for failed in itertools.combinations(range(len(hosts)), size):
                outcome = after_failure(hosts, requests=requests, rooms=rooms, failed=failed)
                check_outcome(hosts, requests, rooms, failed, outcome)
                left = [Room(gpus)] * (len(hosts) - size)
                assert bool(outcome.unplaced) == (not fits_on(requests, left))
                if outcome.unplaced:
                    # nobody of those without a place would fit beside the others, however they are placed
                    after = Counter(group for group, _ in where(outcome.hosts))
                    for group in {group for group, _ in outcome.unplaced}:
                        more = [r._replace(vms=after[r.group] + (r.group == group)) for r in requests]
                        assert not fits_on(more, left), (requests, hosts, failed)
                    partly += bool(outcome.restarted)
    assert often(partly, 20)


def test_only_those_who_must_move() -> None:
    # two hosts of 4 with two 1-GPU VMs each, and a 4-GPU VM on a third that fails: one host is emptied
    requests = [Request("small", 4, gpus=1), Request("big", 1, gpus=4)]
    one = [Load(1, (Slot("small", vm),)) for vm in range(1, 5)]
    hosts = ((one[0], one[1]), (one[2], one[3]), (Load(4, (Slot("big", 1),)),))
    outcome = after_failure(hosts, requests=requests, rooms=[Room(4)] * 3, failed={2})
    check_outcome(hosts, requests, [Room(4)] * 3, {2}, outcome)
    assert [vm for *vm, _, _ in outcome.moved] in ([["small", 1], ["small", 2]], [["small", 3], ["small", 4]])
    assert len(outcome.restarted) == 1


def test_who_cannot_be_restarted_is_placed_by_moving_others_if_only_one_fits() -> None:
    # two 3-GPU VMs are lost; two hosts with two free GPUs each are left: one of them fits if the small ones move together
    requests = [Request("small", 4, gpus=1), Request("big", 2, gpus=3)]
    one = [Load(1, (Slot("small", vm),)) for vm in range(1, 5)]
    big = [Load(3, (Slot("big", vm),)) for vm in (1, 2)]
    hosts = ((one[0], one[1]), (one[2], one[3]), (big[0],), (big[1],))
    rooms = [Room(4)] * 4
    outcome = after_failure(hosts, requests=requests, rooms=rooms, failed={2, 3})
    check_outcome(hosts, requests, rooms, {2, 3}, outcome)
    assert (len(outcome.restarted), len(outcome.moved), len(outcome.unplaced)) == (1, 1, 1)


def test_vms_keep_their_numbers_when_some_are_missing() -> None:
    requests = [
        Request("a", 9, gpus=2),
        Request("b", 9, gpus=1),
    ]  # VMs 7 and 9 only, as after an earlier change
    hosts = (
        (Load(2, (Slot("a", 7),)),),
        (Load(2, (Slot("a", 9),)), Load(1, (Slot("b", 3),))),
        (Load(1, (Slot("b", 5),)), Load(1, (Slot("b", 6),))),
    )
    rooms = [Room(3)] * 3
    for failed in range(3):
        outcome = after_failure(hosts, requests=requests, rooms=rooms, failed={failed})
        check_outcome(hosts, requests, rooms, {failed}, outcome)


def test_no_failure_changes_nothing() -> None:
    requests = [Request("a", 3, gpus=2)]
    hosts, rooms = placed_with(requests, 4, 0)
    assert after_failure(hosts, requests=requests, rooms=rooms, failed=()) == Outcome(hosts, (), (), (), ())
    survey = failure_survey(hosts, requests=requests, rooms=rooms, lost=0)
    assert survey == (Loss((), 1, 0, 0, 0, 0.0),)


def test_all_shares_of_a_vm_restart_in_one_host() -> None:
    half = FAMILIES["half"]
    pair = tuple(Slot("pair", 1, "half") for _ in range(2))
    requests = [
        Request("pair", 1, family=half, profile="half", shares=2),
        Request("one", 3, family=half, profile="half"),
    ]
    one = [Load(1, (Slot("one", vm, "half"),), half) for vm in range(1, 4)]
    hosts = ((Load(1, pair, half),), (one[0],), (one[1], one[2]))
    rooms = [Room(1), Room(1), Room(2)]
    outcome = after_failure(hosts, requests=requests, rooms=rooms, failed={0})
    check_outcome(hosts, requests, rooms, {0}, outcome)
    assert outcome.restarted == (("pair", 1, 2),)  # one share on each GPU of the third host


def test_all_hosts_lost() -> None:
    requests = [Request("a", 3, gpus=2)]
    hosts, rooms = placed_with(requests, 4, 0)
    outcome = after_failure(hosts, requests=requests, rooms=rooms, failed=range(len(hosts)))
    assert len(outcome.unplaced) == 3
    assert all(not host for host in outcome.hosts)


# ---- hosts that differ, maintenance


def test_hosts_that_differ_survive_what_they_were_made_for() -> None:
    tried = moved = 0
    for rng in cases(31, 120, few=30):
        room = Room(4, 64, 256)
        existing = [Room(rng.choice([2, 4, 8]), 64, rng.choice([256, 512])) for _ in range(rng.randint(0, 3))]
        requests = limited(rng, random_requests(rng, 2, most=10, shares=2), Room(0, 32, 128))
        placed = place_mixed(requests, room=room, existing=existing, spare=1)
        rooms = [*existing, *[room] * (len(placed.hosts) - len(existing))]
        for failed in range(len(rooms)):
            outcome = after_failure(placed.hosts, requests=requests, rooms=rooms, failed={failed})
            check_outcome(placed.hosts, requests, rooms, {failed}, outcome)
            assert not outcome.unplaced
            tried += 1
            moved += bool(outcome.moved)
        check_survey(placed.hosts, requests, rooms, 1)
    assert often(tried, 300)


def test_many_hosts_that_differ_survive_what_they_were_made_for() -> None:
    rng = random.Random(33)
    for _ in range(4):
        room, spare = Room(8, 96, 768), rng.randint(1, 2)
        existing = [Room(4, 64, 512)] * 6 + [Room(8, 64, 512)] * 5 + [room] * 3
        requests = [
            r._replace(vms=6 * r.vms)
            for r in limited(rng, random_requests(rng, 4, most=14), Room(0, 24, 128))
        ]
        placed = place_mixed(requests, room=room, existing=existing, spare=spare)
        rooms = [*existing, *[room] * (len(placed.hosts) - len(existing))]
        check_hosts(placed.hosts, rooms, requests)
        for failed in itertools.combinations((0, 5, 6, 10, 11, len(rooms) - 1), spare):
            outcome = after_failure(placed.hosts, requests=requests, rooms=rooms, failed=failed)
            check_outcome(placed.hosts, requests, rooms, failed, outcome)
            assert not outcome.unplaced


def test_a_vm_that_fits_on_no_host_that_is_left_is_not_placed() -> None:
    requests = [Request("large", 1, gpus=8), Request("small", 2, gpus=2)]
    hosts = (
        (Load(8, (Slot("large", 1),)),),
        (Load(2, (Slot("small", 1),)), Load(2, (Slot("small", 2),))),
        (),
    )
    rooms = [Room(8), Room(4), Room(4)]
    outcome = after_failure(hosts, requests=requests, rooms=rooms, failed={0})
    assert outcome == Outcome(((), *hosts[1:]), (), (), (), (("large", 1),), impossible=True)
    check_survey(hosts, requests, rooms, 1)
    check_survey(hosts, requests, rooms, 2)


def test_maintenance_and_then_a_failure() -> None:
    both = unplaced = 0
    for rng in cases(32, 300, few=60):
        gpus = rng.randint(2, 4)
        requests = random_requests(rng, gpus, shares=rng.choice([1, 3]), kinds="wwees")
        hosts, rooms = placed_with(requests, gpus, rng.randint(0, 2))
        if len(hosts) < 3:
            continue
        serviced, failed = rng.sample(range(len(hosts)), 2)
        outcome = after_failure(
            hosts, requests=requests, rooms=rooms, failed={failed}, maintenance={serviced}
        )
        check_outcome(hosts, requests, rooms, {failed}, outcome, {serviced})
        evacuated = {vm[:2] for vm in outcome.evacuated}
        both += bool(evacuated & {vm[:2] for vm in outcome.restarted})
        unplaced += bool(outcome.unplaced)
        if len(hosts) >= fewest_hosts(requests, gpus) + 2:
            assert not outcome.unplaced
        alone = after_failure(hosts, requests=requests, rooms=rooms, failed=(), maintenance={serviced})
        check_outcome(hosts, requests, rooms, (), alone, {serviced})
        assert not alone.restarted
    assert often(both, 1) and often(unplaced, 1)


def test_evacuated_and_then_restarted_is_told_twice() -> None:
    requests = [Request("a", 2, gpus=2)]
    hosts = ((Load(2, (Slot("a", 1),)),), (Load(2, (Slot("a", 2),)),), ())
    outcome = after_failure(hosts, requests=requests, rooms=[Room(4)] * 3, failed={1}, maintenance={0})
    assert outcome.evacuated == (("a", 1, 0, 1),)  # the fullest host
    assert sorted(outcome.restarted) == [("a", 1, 2), ("a", 2, 2)]
    assert not outcome.unplaced
    same = after_failure(hosts, requests=requests, rooms=[Room(4)] * 3, failed={0, 1}, maintenance={0})
    assert same == outcome


def test_cpu_and_memory_are_respected_in_a_restart() -> None:
    requests = [Request("a", 3, gpus=1, vcpus=8, memory_gib=64)]
    one = [Load(1, (Slot("a", vm),)) for vm in range(1, 4)]
    rooms = [Room(4, 16, 64), Room(4, 8, 512), Room(4, 16, 128)]
    hosts = ((one[0],), (one[1],), (one[2],))
    outcome = after_failure(hosts, requests=requests, rooms=rooms, failed={1})
    assert outcome.restarted == (("a", 2, 2),)  # no memory left on the first host
    outcome = after_failure(hosts, requests=requests, rooms=rooms, failed={1, 2})
    assert len(outcome.unplaced) == 2


# ---- the survey


def test_the_mix_of_which_28_gpus_do_not_survive_a_failure() -> None:
    # 28 GPUs' worth on 8 hosts of 4: by arithmetic one host may be lost, by placement it may not
    half, third = FAMILIES["half"], FAMILIES["third"]
    requests = [
        Request("threes", 6, gpus=3),
        Request("pairs", 2, gpus=2),
        Request("halves", 9, family=half, profile="half"),
        Request("thirds", 4, family=third, profile="third"),
    ]
    assert float(sum(w * r.vms for w, r in zip(Rules(requests).worth, requests, strict=True))) < 28
    placed = place(requests, gpus_per_host=4)
    assert len(placed.hosts) == placed.bound == 8
    survey = failure_survey(placed.hosts, requests=requests, rooms=[Room(4)] * 8, lost=1)
    assert all(loss.unplaced for loss in survey)


# ---- empty hosts, the order of MIG instances


def test_empty_hosts_take_over_what_a_restart_cannot_place() -> None:
    # largest first, the fours come together, and a three is left over
    requests = [Request("four", 2, gpus=4), Request("three", 4, gpus=3), Request("ten", 1, gpus=10)]
    four = [Load(4, (Slot("four", vm),)) for vm in (1, 2)]
    three = [Load(3, (Slot("three", vm),)) for vm in range(1, 5)]
    hosts = (
        (four[0], *three[:2]),
        (four[1], *three[2:]),
        (Load(10, (Slot("ten", 1),)),),
        (),
        (),
    )
    rooms = [Room(10)] * 5
    outcome = after_failure(hosts, requests=requests, rooms=rooms, failed={0, 1})
    check_outcome(hosts, requests, rooms, {0, 1}, outcome)
    assert outcome.hosts == ((), (), hosts[2], hosts[0], hosts[1])
    assert (len(outcome.restarted), outcome.moved, outcome.unplaced) == (6, (), ())
    check_survey(hosts, requests, rooms, 2)


def test_as_many_empty_hosts_as_losses_move_nobody() -> None:
    for rng in cases(47, 150, few=50):
        gpus, lost = rng.randint(1, 5), rng.randint(1, 2)
        requests = random_requests(rng, gpus, most=10, shares=3, kinds="wwemm")
        hosts, rooms = placed_with(requests, gpus, lost)
        survey = failure_survey(hosts, requests=requests, rooms=rooms, lost=lost)
        assert not any(
            loss.moved or loss.unplaced
            for loss in survey
            if not set(loss.hosts) & set(range(len(hosts) - lost, len(hosts)))
        )


def test_an_empty_host_takes_over_only_what_it_is_large_enough_for() -> None:
    requests = [Request("a", 2, gpus=2, memory_gib=100)]
    pair = [Load(2, (Slot("a", vm),)) for vm in (1, 2)]
    hosts = ((*pair,), ())
    for room, unplaced in ((Room(4, 0, 200), 0), (Room(4, 0, 199), 1), (Room(3), 1), (Room(8), 0)):
        rooms = [Room(4, 0, 256), room]
        outcome = after_failure(hosts, requests=requests, rooms=rooms, failed={0})
        assert len(outcome.unplaced) == unplaced


def started(running: Sequence[str], more: Sequence[str]) -> bool:
    """Whether MIG instances can be made one after the other, each at its lowest free start."""
    pieces = {piece.name: piece for piece in MIG}
    taken: set[int] = set()
    for name in (*sorted(running, key=lambda n: -pieces[n].size), *more):
        spans = (range(at, at + pieces[name].size) for at in pieces[name].starts)
        span = next((s for s in spans if taken.isdisjoint(s)), None)
        if span is None:
            return False
        taken |= set(span)
    return True


def test_mig_instances_join_a_running_gpu_only_where_they_can_start() -> None:
    names = tuple(piece.name for piece in MIG)
    layouts = gpu_layouts(MIG, region=8, compute_slices=7, in_order=True)
    family = Family("MIG", names, layouts, sizes=tuple(piece.size for piece in MIG), in_order=True)
    joined = refused = 0
    for rng in cases(48, 300, few=50):
        gpus = rng.randint(1, 2)
        requests = [
            Request(f"g{i}", rng.randint(1, 5), family=family, profile=rng.choice(names)) for i in range(3)
        ]
        hosts, rooms = placed_with(requests, gpus, rng.randint(0, 1))
        if len(hosts) < 2:
            continue
        for failed in range(len(hosts)):
            outcome = after_failure(hosts, requests=requests, rooms=rooms, failed={failed})
            check_outcome(hosts, requests, rooms, {failed}, outcome)
            any_order = [r._replace(family=family._replace(in_order=False)) for r in requests]
            loose = tuple(tuple(load._replace(family=any_order[0].family) for load in host) for host in hosts)
            freely = after_failure(loose, requests=any_order, rooms=rooms, failed={failed})
            refused += bool(outcome.moved) and not freely.moved
            if outcome.moved or outcome.unplaced:
                continue
            for before, after in zip(hosts, outcome.hosts, strict=True):
                for old, new in itertools.zip_longest(before if after else (), after):
                    running = [slot.profile for slot in old.slots] if old else []
                    more = [slot.profile for slot in new.slots[len(running) :]]
                    assert started(running, more)
                    joined += bool(running and more)
        check_survey(hosts, requests, rooms, 1)
    assert often(joined, 20)
    assert often(refused, 1)


def test_a_smaller_instance_on_a_running_gpu_keeps_a_larger_one_away() -> None:
    names = tuple(piece.name for piece in MIG)
    layouts = gpu_layouts(MIG, region=8, compute_slices=7, in_order=True)
    family = Family("MIG", names, layouts, sizes=tuple(piece.size for piece in MIG), in_order=True)
    requests = [
        Request("small", 1, family=family, profile="1g"),
        Request("middle", 1, family=family, profile="2g"),
    ]
    small, middle = (Load(1, (Slot(r.group, 1, r.profile),), family) for r in requests)
    rooms = [Room(1)] * 3
    outcome = after_failure(((small,), (middle,), ()), requests=requests, rooms=rooms, failed={1})
    assert outcome.restarted == (("middle", 1, 2),)  # a free GPU
    outcome = after_failure(((middle,), (small,), ()), requests=requests, rooms=rooms, failed={1})
    assert outcome.restarted == (("small", 1, 0),)
    idle = idle_gpus(((small,),), requests=requests, rooms=[Room(1)])
    assert idle[0].fits == ("small",)


# ---- does everything fit


# ---- what is idle


@pytest.mark.parametrize("memory", [0, 100])
def test_does_not_fit_is_said_where_it_is_proven(memory: int) -> None:
    """Three VMs of 3 GPUs on three hosts of 4: with one lost, two hosts hold two of them."""
    requests = [Request("a", 3, gpus=3, memory_gib=min(memory, 50))]
    rooms = [Room(4, 0, memory)] * 3
    hosts = place_mixed(requests, room=rooms[0]).hosts
    outcome = after_failure(hosts, requests=requests, rooms=rooms, failed={0})
    (loss,) = failure_survey(hosts, requests=requests, rooms=rooms, lost=1)
    assert (len(outcome.unplaced), outcome.impossible) == (1, True)
    assert (loss.unplaced, loss.impossible) == (1, True)


def test_not_found_in_the_search_is_not_called_impossible(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two hosts are enough for the VMs of three, but a search that ends before it finds out proves nothing."""
    requests = [Request("a", 3, gpus=1, memory_gib=50), Request("b", 3, gpus=1, memory_gib=50)]
    rooms = [Room(4, 0, 150)] * 3
    one = requests[0]._replace(vms=1), requests[1]._replace(vms=1)
    host = place_mixed(one, room=rooms[0]).hosts[0]
    hosts = [
        tuple(load._replace(slots=(load.slots[0]._replace(vm=vm),)) for load in host) for vm in (1, 2, 3)
    ]
    assert not after_failure(hosts, requests=requests, rooms=rooms, failed={0}).unplaced
    monkeypatch.setattr(MixedHosts, "arrange", lambda *_, **__: Arranged(None))
    monkeypatch.setattr(Pool, "restart", lambda _, kinds, gone: [None] * len(kinds))
    outcome = after_failure(hosts, requests=requests, rooms=rooms, failed={0})
    (loss,) = failure_survey(hosts, requests=requests, rooms=rooms, lost=1)
    assert (len(outcome.unplaced), outcome.impossible) == (2, False)
    assert (loss.unplaced, loss.impossible) == (2, False)
