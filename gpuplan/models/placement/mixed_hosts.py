"""Hosts that differ, or on which CPU and memory count: the fewest new hosts beside those that are there, and a bound.

``MixedHosts`` tries a portfolio of greedy orders and the exact placement of the GPUs, and knows the simple bounds. If
that leaves a gap, ``_Programme`` goes on over all ways to fill a host (``host_patterns``): exact where these can be listed,
else the bound says how far it may be off.
"""

import math
import operator
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from gpuplan.models.placement.fit import Rules
from gpuplan.models.placement.greedy import Greedy
from gpuplan.models.placement.host_columns import UNPLACED, HostColumns, Place, placed_vms
from gpuplan.models.placement.host_fills import ALMOST
from gpuplan.models.placement.host_patterns import HostPatterns
from gpuplan.models.placement.identical_hosts import IdenticalHosts, Merged
from gpuplan.models.placement.packing import bins_bound
from gpuplan.models.placement.programme import relaxed_programme, whole_programme
from gpuplan.models.placement.requests import Block, Blocks, Kinds, Room
from gpuplan.models.placement.shared_gpus import SharedGpus

MOST_PRICINGS = 200
"""Rounds of the relaxed programme in which patterns are added."""
MOST_KINDS = 500
"""Kinds of VMs times kinds of hosts; with more, only likely fills are looked for."""
MOST_SEARCHED, FEW_VMS = 20, 60
"""With more kinds of more VMs, what the relaxed answer leaves over is not searched host by host."""
PRICE_UNIT = 2**24
"""Prices are rounded down to whole multiples of 1 / PRICE_UNIT."""
ROUNDED_BACK = (0, 3, 10)
"""How much less than the relaxed answer, rounded down, is taken as it is before the rest is searched in whole numbers."""
FIRST_COLUMNS = 400
"""Patterns of a programme in whole numbers that are tried first."""

NOWHERE = -1
Column = tuple[int, tuple[int, ...]]
"""(place, pattern): VMs of each kind on a host of that place."""


class New(NamedTuple):
    """New hosts beside others: how many, how many at least, and what is on all hosts.

    More hosts than VMs stand for no placement, as a host without a VM is of no use.
    """

    hosts: int
    bound: int
    blocks: Blocks


class Arranged(NamedTuple):
    """What is on hosts that are there. Without blocks either nothing fits, or no placement was found in the search."""

    blocks: Blocks | None
    impossible: bool = False
    """Whether it is proven that not everything fits."""


class MixedHosts:
    """Hosts of several kinds filled with so many VMs of each kind; ``rooms`` says how many hosts of each kind are there.

    >>> from gpuplan.models.placement.fit import Request, Rules
    >>> mixed = MixedHosts(IdenticalHosts(Rules([Request("research", 6, gpus=2, memory_gib=256)])))
    >>> found = mixed.new_hosts((6,), Counter(), Room(4, 0, 384))
    >>> found.hosts, found.bound
    (6, 6)
    """

    def __init__(self, equal: IdenticalHosts) -> None:
        self.equal, self.rules = equal, equal.rules
        self._arranged: dict[tuple[Kinds, tuple[tuple[Room, int], ...], bool], Arranged] = {}
        self._new: dict[tuple[Kinds, tuple[tuple[Room, int], ...], Room], New] = {}
        self._ways: tuple[Kinds, Merged, HostPatterns] | None = None
        """Ways to fill hosts with the VMs asked for last: the same whichever hosts are lost."""

    def arrange(self, vms: Kinds, rooms: Counter[Room], *, thorough: bool) -> Arranged:
        """Hosts filled by the first way that does it: by the greedy orders, or (``thorough``) by the programme too."""
        key = (vms, tuple(sorted(rooms.items())), thorough)
        if key not in self._arranged:
            found = Arranged(next(self._portfolio(vms, rooms, None), None))
            if found.blocks is None and thorough:
                found = self._searched(vms, rooms)
            self._arranged[key] = found
        return self._arranged[key]

    def _searched(self, vms: Kinds, rooms: Counter[Room]) -> Arranged:
        """Hosts filled as if any number were there of one kind, if no more than there are turn out to be needed."""
        for room in sorted(rooms, reverse=True):
            others = Counter({other: n for other, n in rooms.items() if other != room})
            if self._bound(vms, others, room) > rooms[room]:
                return Arranged(None, impossible=True)
            new = self._new_hosts(vms, others, room)
            if new.bound > rooms[room]:
                return Arranged(None, impossible=True)
            if new.hosts <= rooms[room]:
                return Arranged(new.blocks)
        return Arranged(None)

    def new_hosts(self, vms: Kinds, rooms: Counter[Room], room: Room) -> New:
        """Hosts of another kind that are needed beside these rooms, and what is on all of them."""
        found = self._new_hosts(vms, rooms, room)
        if found.hosts > sum(vms):
            self.rules.check(vms, {room, *rooms})
            if found.bound > sum(vms):
                raise ValueError(
                    "the VMs do not fit: some are too large for new hosts, and those already there cannot hold all of these"
                )
            raise ValueError(
                "no placement was found within the limits of the search: some VMs are too large for new hosts"
            )
        return found

    def _new_hosts(self, vms: Kinds, rooms: Counter[Room], room: Room) -> New:
        key = (vms, tuple(sorted(rooms.items())), room)
        if key not in self._new:
            bound = self._bound(vms, rooms, room)
            best = New(sum(vms) + 1, bound, ())
            for blocks in self._portfolio(vms, rooms, room):
                best = min(best, New(_count(blocks, room), bound, blocks), key=lambda new: new.hosts)
                if best.hosts <= bound:
                    break
            many = sum(map(bool, vms)) * (1 + len(rooms)) > MOST_KINDS
            for more in (self._by_columns,) if many else (self._fewest, self._by_columns):
                if best.hosts > best.bound:
                    best = more(vms, rooms, room, best)
            self._new[key] = best
        return self._new[key]

    def _fewest(self, vms: Kinds, rooms: Counter[Room], room: Room, best: New) -> New:
        """The same by the programme, requests that ask for the same being one in it."""
        if self._ways is None or self._ways[0] != vms:
            merged = Merged(self.rules, vms, gpus_only=False)
            shared = SharedGpus(Rules(merged.requests))
            self._ways = vms, merged, HostPatterns(shared, shared.rules.vms)
        _, merged, patterns = self._ways
        found = _Programme(patterns, rooms, room, best).solved()
        if not found.blocks:
            return best._replace(bound=min(found.bound, best.hosts))
        return found._replace(blocks=merged.told_apart(found.blocks))

    def _by_columns(self, vms: Kinds, rooms: Counter[Room], room: Room, best: New) -> New:
        """The same by column generation over likely fills of a host of each kind, if it finds fewer."""
        places = [*(Place(one, n) for one, n in rooms.items()), Place(room, None)]
        blocks = HostColumns(self.rules, places, (UNPLACED,) * len(vms)).solved(vms)
        complete = placed_vms(blocks, len(vms)) == list(vms)
        fewer = complete and _count(blocks, room) < best.hosts
        return New(_count(blocks, room), best.bound, blocks) if fewer else best

    def _portfolio(self, vms: Kinds, rooms: Mapping[Room, int], extra: Room | None) -> Iterator[Blocks]:
        """Placements that were found, the exact one of the GPUs first."""
        every = [*rooms, *([extra] if extra else [])]
        gpus = {room.gpus for room in every}
        if len(gpus) == 1 and all(
            n == 0 or (self.rules.worth[kind] and self.rules.most_on(Room(*gpus), kind))
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
                _, vcpus, memory, _ = self.rules.state(room, content)
                enough = (not room.vcpus or vcpus >= 0) and (not room.memory_gib or memory >= 0)
                if n and times and enough:
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
            size = [each[by] if by < 3 else max(each) for each in parts]
            order = sorted(
                (k for k, n in enumerate(vms) if n),
                key=lambda k: (not stuck[k], -size[k], -parts[k][0], rules.family_of[k] >= 0, k),
            )
            for best_fit in (True, False):
                blocks = Greedy(rules).placed(vms, rooms, extra, order, by if best_fit else None)
                if blocks is not None:
                    yield blocks

    def parts(self, every: Sequence[Room]) -> list[tuple[float, ...]]:
        """What part of the largest host's GPUs, vCPUs and memory a VM of each kind takes."""
        offers = [
            max((math.inf if i and not room[i] else room[i] for room in every), default=0) or math.inf
            for i in range(3)
        ]
        needs = [
            (float(w), r.vcpus, r.memory_gib)
            for w, r in zip(self.rules.worth, self.rules.requests, strict=True)
        ]
        return [tuple(need / offer for need, offer in zip(each, offers, strict=True)) for each in needs]

    def _bound(self, vms: Kinds, rooms: Counter[Room], room: Room) -> int:
        """A number of new hosts below which nothing can go."""
        bounds = [0]
        for i in range(len(room)):
            if i == 0 or all(one[i] for one in (room, *rooms)):  # no host without a limit
                bounds += self._bounds_by(i, vms, rooms, room)
        for kind, n in enumerate(vms):  # hosts that hold one kind only
            rest = n - sum(times * self.rules.most_on(one, kind) for one, times in rooms.items())
            most = self.rules.most_on(room, kind)
            if rest > 0 and most:
                bounds.append(-(-rest // most))
        return max(bounds)

    def _bounds_by(self, i: int, vms: Kinds, rooms: Counter[Room], room: Room) -> tuple[int, int]:
        """Bounds by one resource (0 GPUs, 1 vCPUs, 2 memory): its volume, and sizes that exclude each other."""
        asked = Counter[int]()
        for request, n in zip(self.rules.requests, vms, strict=True):
            asked[(request.gpus, request.vcpus, request.memory_gib)[i]] += n
        need = sum(size * n for size, n in asked.items())
        need -= sum(one[i] * times for one, times in rooms.items())
        largest = max(one[i] for one in (room, *rooms))  # as if all hosts were as large
        if i:
            del asked[0]
            excluding = bins_bound(asked, capacity=largest)
        else:
            need += sum(packed.bound for packed in self.equal.packed_gpus(vms).values())
            on_gpus = tuple(n if worth else 0 for n, worth in zip(vms, self.rules.worth, strict=True))
            excluding = self.equal.solve(on_gpus, largest).bound
        return -(-need // room[i]), excluding - rooms.total()


def _count(blocks: Blocks, room: Room) -> int:
    """Hosts of one kind."""
    return sum(block.times for block in blocks if block.room == room)


class _Programme:
    """The fewest new hosts by a programme over full patterns of hosts.

    First relaxed: patterns are added as long as one is worth more, at the prices of the relaxed programme, than the host
    that it takes (column generation); the prices also prove a bound, as no host is worth more than its dearest pattern.
    Then in whole numbers: the relaxed answer rounded down and a programme for the rest; one over the patterns that are worth
    most; and one over all that an answer with a host less could have, which is a proof too.
    """

    def __init__(self, patterns: HostPatterns, rooms: Counter[Room], new: Room, known: New) -> None:
        self.patterns, vms = patterns, patterns.vms
        self.best = known._replace(blocks=())
        self.bound = known.bound
        self.places = [new, *rooms]
        """The first is any number of new hosts, the others are there so often."""
        self.asked = list(vms)
        self.there = [rooms[room] for room in self.places[1:]]
        unplaced = ((NOWHERE, tuple(int(k == at) for k in range(len(vms)))) for at in range(len(vms)))
        self.columns: dict[Column, None] = dict.fromkeys(unplaced)
        """What the relaxed programme knows: a VM of each kind without a place, and patterns of each place."""

    def solved(self) -> New:
        """Fewer new hosts, if there are (else no blocks), and the bound that was proven."""
        times = self._relaxed()
        columns = [column for column, _ in times]
        for back in ROUNDED_BACK:
            rounded = [
                (column, max(0, int(often + 1e-6) - back)) for column, often in times if column[0] != NOWHERE
            ]
            if self.best.hosts > self.bound:
                likely = dict.fromkeys([*columns, *self._candidates()[0][:FIRST_COLUMNS]])
                self._try(list(likely), rounded)
        if self.best.hosts > self.bound:
            every, complete = self._candidates()
            if complete:
                proven = self._try([*columns[: len(self.asked)], *every], [])
                self.bound = max(self.bound, min(proven, self.best.hosts))
            elif len(self.asked) <= MOST_SEARCHED or sum(self.asked) <= FEW_VMS:
                self._dive(times)
        return self.best._replace(bound=self.bound)

    def _dive(self, times: Sequence[tuple[Column, float]]) -> None:
        """The relaxed answer rounded down, or one host of it, and the same again for what is left over."""
        taken = [(column, often) for column, often in times if column[0] != NOWHERE and any(column[1])]
        if not taken:
            return
        chosen = [(column, int(often + 1e-6)) for column, often in taken if often >= 1 - 1e-6]
        chosen = chosen or [(max(taken, key=lambda each: each[1])[0], 1)]
        used, left = Counter[int](), list(self.asked)
        for (at, pattern), often in chosen:
            used[at] += often
            left = [max(0, n - often * held) for n, held in zip(left, pattern, strict=True)]
        new, most = self.places[0], self.best.hosts - used[0]
        there = (n - used[at] for at, n in enumerate(self.there, 1))
        rooms = Counter({room: n for room, n in zip(self.places[1:], there, strict=True) if n})
        held = self._blocks(chosen, [n - m for n, m in zip(self.asked, left, strict=True)])
        if most > 0 and held is not None:
            patterns = HostPatterns(self.patterns.shared, left)
            rest = _Programme(patterns, rooms, new, New(most, 0, ())).solved()
            if rest.blocks or not any(left):
                self.best = New(used[0] + _count(rest.blocks, new), 0, (*held, *rest.blocks))

    def _relaxed(self) -> list[tuple[Column, float]]:
        """How often each pattern is taken by the relaxed programme."""
        for rounds in range(1, MOST_PRICINGS + 1):
            columns = list(self.columns)
            needed = [*self.asked, *(-n for n in self.there)]
            costs = [self._cost(at) for at, _ in columns]
            times, prices = relaxed_programme([self._row(one) for one in columns], needed, costs=costs)
            lowest = math.ceil(sum(t * c for t, c in zip(times, costs, strict=True)) - 1e-6)
            if self.bound < lowest and rounds < MOST_PRICINGS and self._likely(prices):
                continue
            self._price(prices)
            if self.bound >= lowest or len(self.columns) == len(columns):
                break  # more patterns cannot lead below the bound
        return list(zip(columns, times, strict=True))

    def _cost(self, at: int) -> int:
        """New hosts that a column takes; a VM without a place counts more than any number of them."""
        return {0: 1, NOWHERE: sum(self.asked) + 1}.get(at, 0)

    def _row(self, column: Column) -> tuple[int, ...]:
        """What a pattern adds: VMs of each kind, minus the host that it takes."""
        at, pattern = column
        return (*pattern, *(-int(at == other) for other in range(1, len(self.places))))

    def _likely(self, prices: Sequence[float]) -> bool:
        """Whether patterns by orders, where they cannot be listed, are worth more than their host takes; those are added."""
        known = len(self.columns)
        values, takes = prices[: len(self.asked)], [1.0, *prices[len(self.asked) :]]
        for at, (room, take) in enumerate(zip(self.places, takes, strict=True)):
            for pattern in self.patterns.likely(room, values):
                if sum(map(operator.mul, values, pattern)) > take + ALMOST:
                    self.columns.setdefault((at, pattern))
        return len(self.columns) > known

    def _price(self, prices: Sequence[float]) -> None:
        """A bound from these prices, and the patterns that are worth more than the host that they take."""
        # whole numbers, rounded so that the bound needs no trust in floats
        whole = [int(p * PRICE_UNIT) for p in prices]
        self.prices, takes = whole[: len(self.asked)], [PRICE_UNIT, *whole[len(self.asked) :]]
        found = [self.patterns.dearest(room, self.prices) for room in self.places]
        self.dearest = [one.most for one in found]
        if self.dearest[0]:
            self.bound = max(self.bound, -(-self._worth_left() // self.dearest[0]))
        for at, (one, take) in enumerate(zip(found, takes, strict=True)):
            for pattern in one.patterns:
                if self._worth(pattern) > take:
                    self.columns.setdefault((at, pattern))

    def _worth(self, pattern: Sequence[int]) -> int:
        return sum(p * n for p, n in zip(self.prices, pattern, strict=True))

    def _worth_left(self) -> int:
        """What all VMs are worth beyond the most that the hosts already there can hold."""
        held = sum(most * n for most, n in zip(self.dearest[1:], self.there, strict=True))
        return self._worth(self.asked) - held

    def _candidates(self) -> tuple[list[Column], bool]:
        """Patterns that an answer with a host less could have, those that are worth most first; and whether all are known."""
        spare = self.dearest[0] * (self.best.hosts - 1) - self._worth_left()
        found, complete = [], True
        for at, room in enumerate(self.places):
            rows = self.patterns.full(room)
            if rows is None:
                complete = False
                rows = [pattern for place, pattern in self.columns if place == at]
            lacks = [(self.dearest[at] - self._worth(row), (at, tuple(row))) for row in map(tuple, rows)]
            found += [each for each in lacks if each[0] <= spare]
        return [column for _, column in sorted(found)], complete

    def _try(self, columns: Sequence[Column], rounded: Sequence[tuple[Column, int]]) -> int:
        """A programme in whole numbers for what some patterns leave over; the least number of new hosts that it proves."""
        needed = [*self.asked, *(-n for n in self.there)]
        for column, often in rounded:
            needed = [n - often * one for n, one in zip(needed, self._row(column), strict=True)]
        kinds = len(self.asked)
        left = [*(max(0, n) for n in needed[:kinds]), *needed[kinds:]]
        costs = [self._cost(at) for at, _ in columns]
        chosen, proven = whole_programme([self._row(one) for one in columns], left, costs=costs)
        if chosen is not None:
            blocks = self._blocks([*rounded, *zip(columns, chosen, strict=True)], self.asked)
            if blocks is not None and _count(blocks, self.places[0]) < self.best.hosts:
                self.best = New(_count(blocks, self.places[0]), 0, blocks)
        return proven or 0

    def _blocks(self, chosen: Iterable[tuple[Column, int]], asked: Sequence[int]) -> Blocks | None:
        """Hosts filled by patterns, each so often, with no more than is asked for; None if something is left over."""
        left, filled = list(asked), Counter[Column]()
        for (at, pattern), often in chosen:
            if at == NOWHERE:
                continue
            while often and any(taken := tuple(map(min, pattern, left))):
                times = min(often, *(n // a for a, n in zip(taken, left, strict=True) if a))
                filled[at, taken] += times
                left = [n - times * a for a, n in zip(taken, left, strict=True)]
                often -= times
        blocks = []
        for (at, pattern), times in filled.items():
            content = self.patterns.content(self.places[at], pattern)
            if self.patterns.pattern(content) != pattern:
                return None
            blocks.append(Block(times, self.places[at], content))
        return None if any(left) else tuple(blocks)
