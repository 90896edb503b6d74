"""Inventory: the part of the demand that fits on existing hosts of several kinds, the more important groups first.

``place_most`` answers level by level: the placed VMs of one priority keep a place, not always the same one, whatever
comes later.
"""

import itertools
import math
import operator
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from gpuplan.models.placement.fit import Rules
from gpuplan.models.placement.host_columns import HostColumns, Place, _placed_vms, _trimmed
from gpuplan.models.placement.host_patterns import HostPatterns
from gpuplan.models.placement.layout import Host, _laid
from gpuplan.models.placement.programme import whole_programme
from gpuplan.models.placement.requests import Block, Blocks, Request, Room, vms_in
from gpuplan.models.placement.shared_gpus import SharedGpus
from gpuplan.units import each, whole_from_zero

KEPT = 1000
"""Worth of a VM of a higher priority relative to the dearest one of the current priority."""
FIRST_COME = 0.0001
"""The part by which a VM of the first request is worth more than its equal of the last one: ties keep their order."""
MOST_LISTED, MOST_PATTERNS = 40, 3000
"""Kinds of VMs times kinds of hosts, and ways to fill a host, up to which all are examined."""
VALUE_UNIT = 10**6


class Most(NamedTuple):
    """VMs that fit on existing hosts, and an upper bound."""

    hosts: tuple[Host, ...]
    """One host for each room, with its loads."""
    placed: tuple[int, ...]
    """VMs of each request that have a place."""
    gpus: float
    """GPUs' worth of VMs that have a place."""
    bound: float
    """No placement has more."""


def place_most(requests: Sequence[Request], *, rooms: Sequence[Room], priorities: Sequence[int] = ()) -> Most:
    """VMs that fit on existing hosts, filling as many GPUs as possible with the first priority, then the next.

    Parameters:
        priorities (sequence of int): Of each request its priority, 1 before 2; empty: all are equal. [-]

    A share is worth its part of a GPU; a VM without a GPU as many GPUs as come with the largest part that it takes of all hosts'
    vCPUs or memory. First everything is placed greedily, largest first. If something is left and all full ways to
    fill a host are few, a programme in whole numbers over them finds the best, and proves it. Else it is column
    generation: the relaxed programme over fills of hosts known so far prices VMs, the fills that are worth most at these
    prices are added, and hosts are fixed whose fills are taken wholly, until none is left. One priority after the
    other, those before it being required; where they cannot be placed again, what is there is filled up. The answer is proven
    where it meets the bound: all that is demanded, all GPUs there are, or what that programme says.
    [gilmore-gomory-1961]_

    >>> asked = [Request("training", 2, gpus=4), Request("notebooks", 9, gpus=1)]
    >>> place_most(asked, rooms=[Room(4), Room(4), Room(2)]).placed
    (2, 2)
    >>> place_most(asked, rooms=[Room(4), Room(4), Room(2)], priorities=(2, 1)).placed
    (0, 9)
    """
    each(whole_from_zero, priorities=priorities)
    rules = Rules(requests)
    counted = [rules.counted(room) for room in rooms]
    places = [Place(room, n) for room, n in sorted(Counter(counted).items(), reverse=True)]
    values, levels = _values(rules, counted), tuple(priorities) or (1,) * len(requests)
    blocks, placed, could = Blocks(), [0] * len(requests), 0.0
    for level in sorted(set(levels)):
        now = [one == level for one in levels]
        wanted = [r.vms if new else n for r, new, n in zip(requests, now, placed, strict=True)]
        worth = [v if new else 0.0 for v, new in zip(values, now, strict=True)]
        ways, lost = _ways(rules, places, blocks, wanted, values, worth)
        blocks = max(ways, key=lambda way: _sum(values, _placed_vms(way, len(values))))
        placed = _placed_vms(blocks, len(values))
        could += _sum(worth, wanted) - lost
    gpus = _sum(rules.worth, placed)
    bound = max(gpus, min(_sum(rules.worth, rules.vms), sum(room.gpus for room in counted)))
    if all(rules.worth) and gpus + _step(rules) > could:  # what is worth more is worth a step more
        bound = gpus
    return Most(tuple(_laid(rules, blocks, rooms=counted)), tuple(placed), float(gpus), float(bound))


def _ways(
    rules: Rules,
    places: Sequence[Place],
    blocks: Blocks,
    asked: Sequence[int],
    values: Sequence[float],
    worth: Sequence[float],
) -> tuple[list[Blocks], float]:
    """Return placements of the requests that keep all VMs of these blocks, and the least worth that is lost."""
    before = _placed_vms(blocks, len(asked))
    required = KEPT * max(values, default=1.0)
    columns = HostColumns(
        rules, places, [v if new else required for v, new in zip(values, worth, strict=True)]
    )
    ways, lost = [columns.filled_up(blocks, asked), columns.filled_up((), asked)], 0.0
    if all(_placed_vms(way, len(asked)) != asked for way in ways):
        listed, lost = _by_list(rules, places, asked, before, worth)
        ways.append(columns.solved(asked) if listed is None else listed)
    kept = [way for way in ways if all(map(operator.ge, _placed_vms(way, len(asked)), before))]
    return kept, lost


def _sum(values: Sequence[Any], vms: Sequence[int]) -> Any:
    return sum(map(operator.mul, values, vms))


def _step(rules: Rules) -> Fraction:
    """Return a common divisor of all sums of GPUs' worth."""
    common = math.lcm(*(worth.denominator for worth in rules.worth))
    return Fraction(math.gcd(*(int(worth * common) for worth in rules.worth)), common)


def _by_list(
    rules: Rules, places: Sequence[Place], asked: Sequence[int], kept: Sequence[int], worth: Sequence[float]
) -> tuple[Blocks | None, float]:
    """Return the best choice by a programme over all full ways to fill a host, if few, and the least loss."""
    patterns = HostPatterns(SharedGpus(rules), asked)
    fills = _listed(patterns, places)
    if fills is None:
        return None, 0.0
    lost = list(itertools.compress(range(len(worth)), worth))
    columns = [(*_unit(k, len(asked)), *[0] * len(places)) for k in lost]
    columns += [(*row, *(-one for one in _unit(at, len(places)))) for at, row in fills]
    costs = [round(VALUE_UNIT * worth[k]) for k in lost] + [0] * len(fills)
    needed = [a if value else k for a, k, value in zip(asked, kept, worth, strict=True)]
    needed += [-(place.hosts or 0) for place in places]
    chosen, least = whole_programme(columns, needed, costs=costs)
    least_lost = max(0.0, ((least or 0) - sum(asked)) / VALUE_UNIT)  # values were rounded
    if chosen is None:
        return None, least_lost
    used = [
        Block(often, places[at].room, patterns.content(places[at].room, row))
        for (at, row), often in zip(fills, chosen[len(lost) :], strict=True)
        if often
    ]
    return _cut_down(used, asked), least_lost


def _unit(at: int, size: int) -> list[int]:
    return [int(at == other) for other in range(size)]


def _listed(patterns: HostPatterns, places: Sequence[Place]) -> list[tuple[int, tuple[int, ...]]] | None:
    """All full ways to fill a host of each place, with its number; None if there are too many."""
    if sum(map(bool, patterns.vms)) * len(places) > MOST_LISTED:
        return None
    rows = [patterns.full(place.room) for place in places]
    if any(one is None for one in rows) or sum(map(len, rows)) > MOST_PATTERNS:
        return None
    return [(at, tuple(row)) for at, ways in enumerate(rows) for row in ways.tolist()]


def _cut_down(blocks: Sequence[Block], asked: Sequence[int]) -> Blocks:
    """Return the same hosts with no more VMs of a kind than requested."""
    left, kept = list(asked), list[Block]()
    for block in blocks:
        for _ in range(block.times):
            if fill := _trimmed(block.content, left):
                kept.append(Block(1, block.room, fill))
                for kind, n in vms_in(fill).items():
                    left[kind] -= n
    return tuple(kept)


def _values(rules: Rules, rooms: Sequence[Room]) -> list[float]:
    """GPUs' worth of a VM of each kind; of one without a GPU by its part of all vCPUs or memory."""
    gpus, vcpus, memory = (sum(room.sizes[i] for room in rooms) for i in range(3))
    values = [
        float(worth)
        or gpus * max(request.vcpus / vcpus if vcpus else 0.0, request.memory_gib / memory if memory else 0.0)
        for worth, request in zip(rules.worth, rules.requests, strict=True)
    ]
    count = len(values)
    return [value * (1 + FIRST_COME * (count - at) / count) for at, value in enumerate(values)]
