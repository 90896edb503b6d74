"""Hosts that differ, or on which CPU and memory count: a few new hosts beside those that are there, and a bound.

``MixedHosts`` tries a portfolio of greedy orders and the exact placement of the GPUs, and knows the simple bounds. If
that leaves a gap, ``_Priced`` goes on: column generation, in which the relaxed programme over the hosts seen so far says
at which prices a host would be worth having. Nothing here is exact; the bound says how far it may be off.
"""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import NamedTuple

from gpuplan.models.placement.fit import Block, Blocks, Content, Kinds, Room, vms_in
from gpuplan.models.placement.identical_hosts import IdenticalHosts
from gpuplan.models.placement.packing import bins_bound, relaxed_programme, whole_programme

PRICE_ROUNDS = 12
PRICE_UNIT = 10**6
"""Prices are rounded down to whole multiples of 1 / PRICE_UNIT."""
GPU_UNIT = 2**16
"""Parts of a GPU are rounded down to whole multiples of 1 / GPU_UNIT."""
PRICE_WEIGHTS = (
    (1.0, 1.0, 1.0),
    (1.0, 0.0, 0.0),
    (0.0, 1.0, 0.0),
    (0.0, 0.0, 1.0),
    (1.0, 0.3, 0.3),
    (0.3, 1.0, 1.0),
)
"""Weights of GPUs, vCPUs and memory by which it is judged what a VM takes."""


class New(NamedTuple):
    """New hosts beside others: how many, how many at least, and what is on all hosts."""

    hosts: int
    bound: int
    blocks: Blocks


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
        self.least_gpus = self._least_gpus()
        """GPUs that a VM of each kind takes at least, however well its GPUs are filled with other profiles."""
        self._arranged: dict[tuple[Kinds, tuple[tuple[Room, int], ...], bool], Blocks | None] = {}
        self._new: dict[tuple[Kinds, tuple[tuple[Room, int], ...], Room], New | None] = {}

    def arrange(self, vms: Kinds, rooms: Counter[Room], *, thorough: bool) -> Blocks | None:
        """Hosts filled by the first way that does it; None if none is found by the greedy orders, or by prices too."""
        key = (vms, tuple(sorted(rooms.items())), thorough)
        if key not in self._arranged:
            found = next(self._portfolio(vms, rooms, None), None)
            if found is None and thorough:
                found = self._by_prices(vms, rooms)
            self._arranged[key] = found
        return self._arranged[key]

    def _by_prices(self, vms: Kinds, rooms: Counter[Room]) -> Blocks | None:
        """Hosts filled as if any number were there of one kind, if no more than there are turn out to be needed."""
        for room in sorted(rooms):
            others = Counter({other: n for other, n in rooms.items() if other != room})
            if self._bound(vms, others, room) <= rooms[room]:
                new = self._new_hosts(vms, others, room)
                if new is not None and new.hosts <= rooms[room]:
                    return new.blocks
        return None

    def new_hosts(self, vms: Kinds, rooms: Counter[Room], room: Room) -> New:
        """Hosts of another kind that are needed beside these rooms, and what is on all of them."""
        found = self._new_hosts(vms, rooms, room)
        if found is None:
            self.rules.check(vms, {room, *rooms})
            raise ValueError(
                "no order was found in which everything fits: the new hosts are too small for some VMs"
            )
        return found

    def _new_hosts(self, vms: Kinds, rooms: Counter[Room], room: Room) -> New | None:
        key = (vms, tuple(sorted(rooms.items())), room)
        if key not in self._new:
            found = (New(_count(blocks, room), 0, blocks) for blocks in self._portfolio(vms, rooms, room))
            best = min(found, key=lambda new: new.hosts, default=None)
            if best is not None:
                bound = self._bound(vms, rooms, room)
                if best.hosts > bound:
                    priced = _Priced(self, vms, rooms, room, best.blocks).solved()
                    bound = max(bound, priced.bound)
                    best = min(best, priced, key=lambda new: new.hosts)
                best = best._replace(bound=bound)
            self._new[key] = best
        return self._new[key]

    def _portfolio(self, vms: Kinds, rooms: Mapping[Room, int], extra: Room | None) -> Iterator[Blocks]:
        """Placements that were found, the exact one of the GPUs first."""
        every = [*rooms, *([extra] if extra else [])]
        gpus = {room.gpus for room in every}
        if len(gpus) == 1 and all(
            n == 0 or self.rules.most_on(Room(*gpus), kind) for kind, n in enumerate(vms)
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
                blocks = rules.greedy(vms, rooms, extra, order, by if best_fit else None)
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

    def _least_gpus(self) -> list[Fraction]:
        rules, least = self.rules, list(self.rules.worth)
        for f, layouts in enumerate(rules.layouts):
            if layouts:  # a mixed GPU may hold more than one GPU's worth: (1 of 2) + (4 of 7) = 15/14
                most = [rules.more(f, rules.unused(f), p) for p in range(len(rules.profiles[f]))]
                fullest = max(
                    sum(Fraction(n, m) for n, m in zip(layout, most, strict=True)) for layout in layouts
                )
                least = [w / fullest if rules.family_of[k] == f else w for k, w in enumerate(least)]
        return least

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
            excluding = self.equal.solve(vms, largest).bound
        return -(-need // room[i]), excluding - rooms.total()


def _count(blocks: Blocks, room: Room) -> int:
    """Hosts of one kind."""
    return sum(block.times for block in blocks if block.room == room)


class _Priced:
    """Column generation: the relaxed programme over patterns of hosts, that are generated at its prices.

    A pattern is what is on a host of one kind. New ones are what a greedy order puts there, those VMs first that are
    worth most for what they take; if that finds nothing new, the dearest choice of VMs by a small programme in which a
    GPU can be divided at will. That one also proves a bound: no host is worth more than it says, whatever the prices.
    """

    def __init__(self, mixed: MixedHosts, vms: Kinds, rooms: Counter[Room], new: Room, start: Blocks) -> None:
        self.mixed, self.rules, self.vms, self.rooms, self.start = mixed, mixed.rules, vms, rooms, start
        self.kinds = [k for k, n in enumerate(vms) if n]
        self.places = [new, *rooms]
        """The first is any number of new hosts, the others are there so often."""
        self.parts = mixed.parts(self.places)
        self.columns: dict[tuple[int, ...], tuple[int, Content]] = {}
        """Row by row what a pattern adds: VMs of each kind, minus one host of the place that it uses; and the pattern
        itself, as (place, content)."""
        self.bound = 0
        for block in start:
            self._add(self.places.index(block.room), block.content)

    def solved(self) -> New:
        """New hosts, and the bound that was proven."""
        kinds = self.kinds
        needed = [*(self.vms[k] for k in kinds), *(-self.rooms[room] for room in self.places[1:])]
        for _ in range(PRICE_ROUNDS):
            costs = [int(at == 0) for at, _ in self.columns.values()]
            times, prices = relaxed_programme(list(self.columns), needed, costs=costs)
            if self.bound >= math.ceil(sum(t * c for t, c in zip(times, costs, strict=True)) - 1e-6):
                break  # more patterns cannot lead below the bound
            before = len(self.columns)
            price = dict(zip(kinds, prices[: len(kinds)], strict=True))
            for at, room in enumerate(self.places):
                limit = prices[len(kinds) + at - 1] if at else 1.0  # what a host of this place costs
                for weights in PRICE_WEIGHTS:
                    content = self._dense(room, price, weights)
                    if sum(price[k] * n for k, n in vms_in(content).items()) > limit + 1e-6:
                        self._add(at, content)
            if len(self.columns) == before:
                self._prove(price)
            if len(self.columns) == before:
                break
        blocks = self._rounded(times)
        return New(_count(blocks, self.places[0]), self.bound, blocks)

    def _add(self, at: int, content: Content) -> None:
        counts = vms_in(content)
        hosts = (-int(at == other) for other in range(1, len(self.places)))
        self.columns.setdefault((*(counts[k] for k in self.kinds), *hosts), (at, content))

    def _dense(self, room: Room, price: Mapping[int, float], weights: Sequence[float]) -> Content:
        """A host filled with those VMs first that are worth most for what they take."""
        worth = {
            k: p / (sum(w * part for w, part in zip(weights, self.parts[k], strict=True)) or 1e-9)
            for k, p in price.items()
            if p > 0
        }
        return self.rules.filled(room, {k: self.vms[k] for k in sorted(worth, key=lambda k: -worth[k])})

    def _prove(self, price: Mapping[int, float]) -> None:
        """A bound from these prices; the choices that it rests on become patterns."""
        # whole numbers, rounded so that every true choice is allowed: the bound needs no trust in floats
        whole = {k: int(p * PRICE_UNIT) for k, p in price.items()}
        new, *there = (self._dearest(at, room, whole) for at, room in enumerate(self.places))
        total = sum(whole[k] * self.vms[k] for k in self.kinds)
        total -= sum(value * self.rooms[room] for value, room in zip(there, self.places[1:], strict=True))
        if new > 0:
            self.bound = max(self.bound, -(-total // new))

    def _dearest(self, at: int, room: Room, whole: Mapping[int, int]) -> int:
        """What a host of one place is worth at most at these prices."""
        rules, kinds = self.rules, self.kinds
        needs = [
            (
                -int(self.mixed.least_gpus[k] * GPU_UNIT),
                -rules.requests[k].vcpus if room.vcpus else 0,
                -rules.requests[k].memory_gib if room.memory_gib else 0,
                *(-int(k == other) for other in kinds),
            )
            for k in kinds
        ]
        most = [min(self.vms[k], rules.most_on(room, k)) for k in kinds]
        limits = [-room.gpus * GPU_UNIT, -room.vcpus, -room.memory_gib, *(-n for n in most)]
        chosen, least = whole_programme(needs, limits, costs=[-whole[k] for k in kinds])
        if chosen is not None:
            counts = dict(zip(kinds, chosen, strict=True))
            self._add(at, rules.filled(room, {k: counts[k] for k in rules.largest_first if k in counts}))
        if least is None:  # no proof: then the sum of what the most of each kind is worth
            return sum(whole[k] * n for k, n in zip(kinds, most, strict=True))
        return -least

    def _rounded(self, times: Sequence[float]) -> Blocks:
        """Whole multiples of the patterns, and what they leave over by the best greedy order."""
        new, left, there = self.places[0], list(self.vms), Counter(self.rooms)
        blocks = []
        for (at, content), often in zip(self.columns.values(), times, strict=False):  # the last are not in it
            room, counts = self.places[at], vms_in(content)
            n = min([int(often + 1e-6), *(left[k] // amount for k, amount in counts.items())])
            n = min(n, there[room]) if at else n
            if n > 0:
                blocks.append(Block(n, room, content))
                for k, amount in counts.items():
                    left[k] -= n * amount
                if at:
                    there[room] -= n
        found = self.mixed.greedy(tuple(left), there, new)
        best = min(found, key=lambda blocks: _count(blocks, new), default=None)
        return self.start if best is None else (*blocks, *best)
