"""What every loss of hosts would do: against each failure by itself, the worst first, and surveys that are cut short."""

from __future__ import annotations

import random

import pytest
from brute_force import (
    large_mix,
    limited,
    random_requests,
    vms_in,
)
from lost_hosts import check_survey, placed_with, scattered
from random_cases import cases, often

from gpuplan.models.availability import survey as surveys
from gpuplan.models.availability.failover import after_failure
from gpuplan.models.availability.survey import Loss, failure_survey
from gpuplan.models.placement import Family, Load, Request, Room, Slot, place, place_mixed


def test_the_survey_says_what_each_failure_does() -> None:
    moved = unplaced = 0
    for rng in cases(41, 400, few=40):
        gpus = rng.randint(1, 5)
        requests = random_requests(rng, gpus, most=9, shares=rng.choice([1, 1, 3]), kinds="wweesm")
        if rng.random() < 0.5:
            hosts, rooms = placed_with(requests, gpus, rng.randint(0, 1))
        else:
            thrown = scattered(rng, requests, len(place(requests, gpus_per_host=gpus).hosts) + 1, gpus)
            if thrown is None:
                continue
            hosts, rooms = thrown
        for lost in range(min(3, len(hosts) + 1)):
            survey = check_survey(hosts, requests, rooms, lost)
            moved += any(loss.moved for loss in survey)
            unplaced += any(loss.unplaced for loss in survey)
    assert often(moved, 10)
    assert often(unplaced, 50)


def test_the_survey_of_hosts_with_limits() -> None:
    for rng in cases(42, 80, few=20):
        requests = limited(rng, random_requests(rng, 2, most=8, shares=2), Room(0, 8, 16))
        room, existing = Room(2, 16, 24), [Room(4, 16, 32)] * rng.randint(0, 2)
        placed = place_mixed(requests, room=room, existing=existing, spare=rng.randint(0, 1))
        rooms = [*existing, *[room] * (len(placed.hosts) - len(existing))]
        for lost in range(1, min(3, len(rooms) + 1)):
            check_survey(placed.hosts, requests, rooms, lost)


def test_hosts_filled_alike_are_looked_at_once() -> None:
    requests = [Request("a", 8, gpus=3)]
    hosts, rooms = placed_with(requests, 4, 1)
    survey = failure_survey(hosts, requests=requests, rooms=rooms, lost=1)
    assert survey == (Loss((0,), 8, 1, 0, 0, 0.0), Loss((8,), 1, 0, 0, 0, 0.0))
    survey = failure_survey(hosts, requests=requests, rooms=rooms, lost=2)
    assert survey == (
        Loss((0, 1), 28, 1, 0, 1, 3.0, impossible=True),
        Loss((0, 8), 8, 0, 0, 1, 3.0, impossible=True),
    )
    assert failure_survey(hosts, requests=requests, rooms=rooms, lost=10) == ()


@pytest.mark.parametrize(
    ("scale", "hosts"), [pytest.param(1.1, 9000, marks=pytest.mark.nightly), (0.0069, 50)]
)
def test_large_surveys_look_at_every_host(scale: float, hosts: int) -> None:
    requests = large_mix(scale)
    layout, rooms = placed_with(requests, 8, 1)
    assert len(layout) > hosts
    survey = failure_survey(layout, requests=requests, rooms=rooms, lost=1)
    assert not any(loss.unplaced for loss in survey)
    assert sum(loss.alike for loss in survey) == len(layout)
    outcome = after_failure(layout, requests=requests, rooms=rooms, failed={17})
    assert not outcome.unplaced
    assert vms_in(outcome.hosts) == vms_in(layout)


def test_the_worst_are_the_first_of_all() -> None:
    for rng in cases(43, 150, few=40):
        gpus = rng.randint(1, 5)
        requests = random_requests(rng, gpus, most=12, shares=rng.choice([1, 3]), kinds="wweesm")
        hosts, rooms = placed_with(requests, gpus, rng.randint(0, 1))
        for lost in (1, 2):
            survey = failure_survey(hosts, requests=requests, rooms=rooms, lost=lost)
            worst = failure_survey(hosts, requests=requests, rooms=rooms, lost=lost, most=3)
            assert worst == survey[:3]
            assert all(loss.proven for loss in survey)


def test_a_survey_that_is_cut_short_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    cut = 0
    for rng in cases(44, 40, few=20):
        requests = random_requests(rng, 4, most=14, kinds="wwes")
        hosts, rooms = placed_with(requests, 4, 0)
        every = {loss.hosts: loss for loss in failure_survey(hosts, requests=requests, rooms=rooms, lost=2)}
        monkeypatch.setattr(surveys, "SURVEY_STEPS", 8)
        worst = failure_survey(hosts, requests=requests, rooms=rooms, lost=2, most=4)
        monkeypatch.undo()
        assert len(worst) == min(4, len(every))
        for loss in worst:  # the figures hold in any case
            assert loss._replace(proven=True) == every[loss.hosts]
            cut += not loss.proven
        sure = [loss for loss in worst if loss.proven]
        assert sure == list(every.values())[: len(sure)]
    assert often(cut, 20)


def test_the_survey_during_maintenance() -> None:
    unplaced = 0
    for rng in cases(45, 120, few=40):
        gpus = rng.randint(2, 4)
        requests = random_requests(rng, gpus, most=9, shares=rng.choice([1, 3]), kinds="wweesm")
        hosts, rooms = placed_with(requests, gpus, rng.randint(0, 2))
        if len(hosts) < 3:
            continue
        serviced = rng.randrange(len(hosts))
        survey = failure_survey(hosts, requests=requests, rooms=rooms, lost=1, maintenance={serviced})
        assert sum(loss.alike for loss in survey) == len(hosts) - 1
        for loss in survey:
            assert serviced not in loss.hosts
            found = after_failure(
                hosts, requests=requests, rooms=rooms, failed=loss.hosts, maintenance={serviced}
            )
            assert loss[2:5] == (len(found.restarted), len(found.moved), len(found.unplaced))
            unplaced += bool(loss.unplaced)
    assert often(unplaced, 1)


def test_the_worst_of_many_different_hosts_are_found() -> None:
    rng = random.Random(46)
    memory = Family("memory", capacity=32_768)
    requests = [
        Request(f"g{i}", rng.randint(1, 50), family=memory, weight=rng.randint(1_600, 31_000))
        for i in range(60)
    ]
    layout, rooms = placed_with(requests, 8, 0)
    survey = failure_survey(layout, requests=requests, rooms=rooms, lost=2, most=8)
    assert len(survey) == 8


def test_a_survey_that_is_cut_short_moves_nobody_where_a_restart_does(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The single VM restarts beside a pair and a single; placing all again would put the pairs on one host."""
    monkeypatch.setattr(surveys, "SURVEY_STEPS", 0)
    pairs = [Load(2, (Slot("p", vm),)) for vm in (1, 2)]
    ones = [Load(1, (Slot("s", vm),)) for vm in (1, 2, 3)]
    hosts = ((pairs[0], ones[0]), (pairs[1], ones[1]), (ones[2],))
    requests = [Request("p", 2, gpus=2), Request("s", 3, gpus=1)]
    survey = failure_survey(hosts, requests=requests, rooms=[Room(4)] * 3, lost=1, most=3)
    assert [(loss.hosts, loss.alike, loss.restarted, loss.moved, loss.unplaced) for loss in survey] == [
        ((0,), 2, 2, 0, 0),
        ((2,), 1, 1, 0, 0),
    ]
