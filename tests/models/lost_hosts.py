"""Placements whose hosts are lost, and what holds for every survey of such losses."""

from __future__ import annotations

import itertools
import math
import random
from collections import Counter
from collections.abc import Sequence

from gpuplan.models.availability.failover import after_failure
from gpuplan.models.availability.survey import Loss, failure_survey
from gpuplan.models.placement import Host, Load, Request, Room, place
from gpuplan.models.placement.fit import Rules

Layout = tuple[Host, ...]


def check_survey(
    layout: Sequence[Host], requests: Sequence[Request], rooms: Sequence[Room], lost: int
) -> tuple[Loss, ...]:
    """The survey says of each set of hosts what its failure does."""
    survey = failure_survey(layout, requests=requests, rooms=rooms, lost=lost)
    worth = dict(zip((r.group for r in requests), Rules(requests).worth, strict=True))
    counted: Counter[tuple[int, int, int, float]] = Counter()
    for failed in itertools.combinations(range(len(layout)), lost):
        found = after_failure(layout, requests=requests, rooms=rooms, failed=failed)
        gpus = float(sum(worth[group] for group, _ in found.unplaced))
        counted[len(found.restarted), len(found.moved), len(found.unplaced), gpus] += 1
    said: Counter[tuple[int, int, int, float]] = Counter()
    for loss in survey:
        said[loss[2:6]] += loss.alike
        found = after_failure(layout, requests=requests, rooms=rooms, failed=loss.hosts)
        assert loss[2:5] == (len(found.restarted), len(found.moved), len(found.unplaced))
    assert said == counted
    assert sum(said.values()) == math.comb(len(layout), lost)
    keys = [(-x.unplaced_gpus, -x.unplaced, -x.moved, -x.restarted, x.hosts) for x in survey]
    assert keys == sorted(keys)
    return survey


def placed_with(requests: Sequence[Request], gpus: int, spare: int) -> tuple[Layout, list[Room]]:
    hosts = (*place(requests, gpus_per_host=gpus).hosts, *[()] * spare)
    return hosts, [Room(gpus)] * len(hosts)


def scattered(
    rng: random.Random, requests: Sequence[Request], hosts: int, gpus: int
) -> tuple[Layout, list[Room]] | None:
    """The VMs of a placement thrown on hosts at random; None if they do not land."""
    chunks: list[list[Load]] = []  # loads that have a VM in common stay together
    for host in place(requests, gpus_per_host=gpus).hosts:
        apart: list[list[Load]] = []
        for load in host:
            joined = [c for c in apart if {s for ld in c for s in ld.slots} & set(load.slots)]
            apart = [c for c in apart if c not in joined] + [[*itertools.chain(*joined), load]]
        chunks += apart
    rng.shuffle(chunks)
    filled: list[list[Load]] = [[] for _ in range(hosts)]
    for chunk in chunks:
        size = sum(load.gpus for load in chunk)
        room = [host for host in filled if sum(load.gpus for load in host) + size <= gpus]
        if not room:
            return None
        rng.choice(room).extend(chunk)
    return tuple(tuple(host) for host in filled), [Room(gpus)] * hosts
