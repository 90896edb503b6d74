"""Hosts that differ, or on which CPU and memory count: the fewest new hosts beside the existing ones, and a bound.

``MixedHosts`` tries a portfolio of greedy orders and the exact placement of the GPUs, and knows the simple bounds. If
that leaves a gap, ``MixedProgramme`` goes on over all ways to fill a host (``host_patterns``): exact where these can be listed,
else the bound says how far it may be off.
"""

import math
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from gpuplan.models.placement.fit import Rules
from gpuplan.models.placement.host_columns import UNPLACED, HostColumns, Place, _placed_vms
from gpuplan.models.placement.host_fills import Greedy
from gpuplan.models.placement.host_patterns import HostPatterns
from gpuplan.models.placement.identical_hosts import IdenticalHosts, Merged
from gpuplan.models.placement.mixed_programme import MixedProgramme, New
from gpuplan.models.placement.packing import _bins_bound
from gpuplan.models.placement.requests import Block, Blocks, Kinds, Room
from gpuplan.models.placement.shared_gpus import SharedGpus

MOST_KINDS = 500
"""Kinds of VMs times kinds of hosts; above this, only likely fills are tried."""


class Arranged(NamedTuple):
    """Content of existing hosts. Without blocks either nothing fits, or the search found no placement."""

    blocks: Blocks | None
    impossible: bool = False
    """True if it is proven that not everything fits."""


class MixedHosts:
    """Hosts of several kinds filled with VMs of each kind; ``rooms`` counts the existing hosts of each kind.

    >>> from gpuplan.models.placement.fit import Request, Rules
    >>> mixed = MixedHosts(IdenticalHosts(Rules([Request("research", 6, gpus=2, memory_gib=256)])))
    >>> found = mixed.new_hosts((6,), Counter(), Room(4, 0, 384))
    >>> found.hosts, found.bound
    (6, 6)
    """

    def __init__(self, equal: IdenticalHosts) -> None:
        self.equal, self.rules = equal, equal.rules
        self._arranged: dict[tuple[Kinds, tuple[tuple[Room, int], ...], bool], Arranged] = {}
        self._new: dict[tuple[Kinds, tuple[tuple[Room, int], ...], Room], tuple[New, bool]] = {}
        """New hosts, and whether the programmes were tried too."""
        self._ways: tuple[Kinds, Merged, SharedGpus, dict[Room, Any]] | None = None
        """Ways to fill hosts with the most recent VMs: the same whichever hosts are lost."""

    def arrange(self, vms: Kinds, rooms: Counter[Room], *, thorough: bool) -> Arranged:
        """Hosts filled by the first way that does it: by the greedy orders, or (``thorough``) by the programme too."""
        key = (vms, tuple(sorted(rooms.items())), thorough)
        if key not in self._arranged:
            arranged = Arranged(next(self._portfolio(vms, rooms, None), None))
            if arranged.blocks is None and thorough:
                arranged = self._searched(vms, rooms)
            self._arranged[key] = arranged
        return self._arranged[key]

    def most_vms(self, vms: Kinds, rooms: Counter[Room], room: Room) -> Kinds:
        """The most of these VMs that new hosts beside these rooms can hold: of those too large for a new host some are left out."""
        if self.new_hosts(vms, rooms, room).hosts <= sum(vms):
            return vms
        kinds = self.rules.unfit(vms, {room})
        held = tuple(0 if kind in kinds else n for kind, n in enumerate(vms))
        for kind in kinds:
            fewer = [(*held[:kind], n, *held[kind + 1 :]) for n in range(vms[kind], -1, -1)]
            held = fewer[
                bisect_left(
                    fewer[:-1], True, key=lambda some: self.new_hosts(some, rooms, room).hosts <= sum(some)
                )
            ]
        return held

    def _searched(self, vms: Kinds, rooms: Counter[Room]) -> Arranged:
        """Hosts filled as if any number were there of one kind, if no more than there are turn out to be needed."""
        if self.rules.unfit(vms, rooms):
            return Arranged(None, impossible=True)
        for room in sorted(rooms, reverse=True):
            others = Counter({other: n for other, n in rooms.items() if other != room})
            if self.bound(vms, others, room) > rooms[room]:
                return Arranged(None, impossible=True)
            new = self.new_hosts(vms, others, room)
            if new.bound > rooms[room]:
                return Arranged(None, impossible=True)
            if new.hosts <= rooms[room]:
                return Arranged(new.blocks)
        return Arranged(None)

    def new_hosts(self, vms: Kinds, rooms: Counter[Room], room: Room, enough: int = 0) -> New:
        """Hosts of another kind that are needed beside these rooms, and what is on all of them; ``enough`` end the search.

        More hosts than VMs mean that no placement was found, or that there is none if the bound is as large.
        """
        key = (vms, tuple(sorted(rooms.items())), room)
        best, searched = self._new.get(key) or (self._greedily(vms, rooms, room), False)
        if best.hosts > max(best.bound, enough) and not searched:
            searched, many = True, sum(map(bool, vms)) * (1 + len(rooms)) > MOST_KINDS
            for more in (self._by_columns,) if many else (self._fewest, self._by_columns):
                if best.hosts > best.bound:
                    best = more(vms, rooms, room, best)
        self._new[key] = best, searched
        return best

    def _greedily(self, vms: Kinds, rooms: Counter[Room], room: Room) -> New:
        """Return the same by the greedy orders."""
        bound = self.bound(vms, rooms, room)
        best = New(sum(vms) + 1, bound, ())
        for blocks in self._portfolio(vms, rooms, room):
            best = min(best, New(New.count_of(blocks, room), bound, blocks), key=lambda new: new.hosts)
            if best.hosts <= bound:
                break
        return best

    def _fewest(self, vms: Kinds, rooms: Counter[Room], room: Room, best: New) -> New:
        """Return the same by the programme, with identical requests merged."""
        if self._ways is None or self._ways[0] != vms:
            merged = Merged(self.rules, vms, gpus_only=False)
            self._ways = vms, merged, SharedGpus(Rules(merged.requests)), {}
        _, merged, shared, listed = self._ways
        patterns = HostPatterns(shared, shared.rules.vms, listed)
        new = MixedProgramme(patterns, rooms, room, best).solved()
        if not new.blocks:
            return best._replace(bound=min(new.bound, best.hosts))
        return new._replace(blocks=merged.told_apart(new.blocks))

    def _by_columns(self, vms: Kinds, rooms: Counter[Room], room: Room, best: New) -> New:
        """The same by column generation over likely fills of a host of each kind, if it finds fewer."""
        places = [*(Place(one, n) for one, n in rooms.items()), Place(room, None)]
        blocks = HostColumns(self.rules, places, (UNPLACED,) * len(vms)).solved(vms)
        complete = _placed_vms(blocks, len(vms)) == list(vms)
        fewer = complete and New.count_of(blocks, room) < best.hosts
        return New(New.count_of(blocks, room), best.bound, blocks) if fewer else best

    def _portfolio(self, vms: Kinds, rooms: Mapping[Room, int], extra: Room | None) -> Iterator[Blocks]:
        """Yield the placements found, the exact one of the GPUs first."""
        every = [*rooms, *([extra] if extra else [])]
        gpus = {room.gpus for room in every}
        if len(gpus) == 1 and all(
            n == 0 or (self.rules.worth[kind] and self.rules.most_on(Room(max(gpus)), kind))
            for kind, n in enumerate(vms)
        ):
            laid = self._laid(self.equal.solve(vms, *gpus).blocks, rooms, extra)
            if laid is not None:
                yield laid
        yield from self.greedy(vms, rooms, extra)

    def _laid(self, blocks: Blocks, rooms: Mapping[Room, int], extra: Room | None) -> Blocks | None:
        """Blocks of hosts that have equal GPUs laid on rooms in which CPU and memory suffice as well."""
        left = dict(rooms)
        if extra:
            left[extra] = left.get(extra, 0) + sum(block.times for block in blocks)
        laid = []
        for times, _, content in blocks:
            for room, n in left.items():
                if n and times and self.rules.offers(room, content):
                    laid.append(Block(min(n, times), room, content))
                    left[room] -= min(n, times)
                    times -= min(n, times)
            if times:
                return None
        return tuple(laid)

    def greedy(self, vms: Kinds, rooms: Mapping[Room, int], extra: Room | None) -> Iterator[Blocks]:
        """Placements by the greedy orders: largest first by GPUs, memory, vCPUs and the largest part of a host."""
        rules = self.rules
        parts = self.parts([*rooms, *([extra] if extra else [])])
        # what fits on no new host goes first, as the others can still go there
        stuck = [extra is not None and not rules.most_on(extra, k) for k in range(len(vms))]
        for by in (0, 2, 1, 3):
            size = [part[by] if by < 3 else max(part) for part in parts]
            order = sorted(
                (k for k, n in enumerate(vms) if n),
                key=lambda k: (not stuck[k], -size[k], -parts[k][0], rules.family_of[k] >= 0, k),
            )
            for best_fit in (True, False):
                blocks = Greedy(rules).placed(vms, rooms, extra, order, by if best_fit else None)
                if blocks is not None:
                    yield blocks

    def parts(self, every: Sequence[Room]) -> list[tuple[float, ...]]:
        """Part of the largest host's GPUs, vCPUs and memory that a VM of each kind takes."""
        offers = [
            max((math.inf if i and not room.sizes[i] else room.sizes[i] for room in every), default=0)
            or math.inf
            for i in range(3)
        ]
        needs = [
            (float(w), r.vcpus, r.memory_gib)
            for w, r in zip(self.rules.worth, self.rules.requests, strict=True)
        ]
        return [tuple(need / offer for need, offer in zip(amounts, offers, strict=True)) for amounts in needs]

    def bound(self, vms: Kinds, rooms: Counter[Room], room: Room) -> int:
        """A number of new hosts below which nothing can go; more than VMs if one fits on no host."""
        if self.rules.unfit(vms, {room, *rooms}):
            return sum(vms) + 1
        bounds = [0]
        for i in range(3):
            if i == 0 or all(one.sizes[i] for one in (room, *rooms)):  # no host without a limit
                bounds += self._bounds_by(i, vms, rooms, room)
        for kind, n in enumerate(vms):  # hosts that hold one kind only
            rest = n - sum(times * self.rules.most_on(one, kind) for one, times in rooms.items())
            most = self.rules.most_on(room, kind)
            if rest > 0 and most:
                bounds.append(-(-rest // most))
        return max(bounds)

    def _bounds_by(self, i: int, vms: Kinds, rooms: Counter[Room], room: Room) -> tuple[int, int]:
        """Bounds by one resource (0 GPUs, 1 vCPUs, 2 memory): its volume, and sizes that exclude each other."""
        sizes = Counter[int]()
        for request, n in zip(self.rules.requests, vms, strict=True):
            sizes[(request.gpus, request.vcpus, request.memory_gib)[i]] += n
        need = sum(size * n for size, n in sizes.items())
        need -= sum(one.sizes[i] * times for one, times in rooms.items())
        largest = max(one.sizes[i] for one in (room, *rooms))  # as if all hosts were as large
        if i:
            del sizes[0]
            excluding = _bins_bound(sizes, capacity=largest)
        else:
            need += sum(packed.bound for packed in self.equal.packed_gpus(vms).values())
            on_gpus = tuple(n if worth else 0 for n, worth in zip(vms, self.rules.worth, strict=True))
            excluding = self.equal.solve(on_gpus, largest).bound
        return -(-need // room.sizes[i]), excluding - rooms.total()
