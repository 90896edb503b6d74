"""Hosts that differ: the fewest new ones by a programme over the full ways to fill each host."""

import math
import operator
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from gpuplan.models.placement.host_fills import ALMOST
from gpuplan.models.placement.host_patterns import HostPatterns
from gpuplan.models.placement.programme import _relaxed_programme, whole_programme
from gpuplan.models.placement.requests import Block, Blocks, Room

MOST_PRICINGS = 200
"""Rounds of the relaxed programme in which patterns are added."""

MOST_SEARCHED, FEW_VMS = 20, 60
"""With more kinds of more VMs, the rest of the relaxed solution is not searched host by host."""

PRICE_UNIT = 2**24
"""Prices are rounded down to whole multiples of 1 / PRICE_UNIT."""
ROUNDED_BACK = (0, 3, 10)
"""Reductions of the rounded-down relaxed solution, which is fixed before the rest is searched in whole numbers."""
FIRST_COLUMNS = 400
"""Patterns of a programme in whole numbers that are tried first."""
NOWHERE = -1
Column = tuple[int, tuple[int, ...]]
"""(place, pattern): VMs of each kind on a host of that place."""


class New(NamedTuple):
    """New hosts beside others: number, lower bound, and content of all hosts.

    More hosts than VMs mean no placement, as a host without a VM is useless.
    """

    hosts: int
    bound: int
    blocks: Blocks

    @staticmethod
    def count_of(blocks: Blocks, room: Room) -> int:
        """Hosts of one kind among blocks."""
        return sum(block.times for block in blocks if block.room == room)


class MixedProgramme:
    """The fewest new hosts by a programme over full patterns of hosts, relaxed and in whole numbers as ``place_mixed`` says.

    A pattern is added if it is worth more, at the prices of the relaxed programme, than the host that it takes.
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
        """Columns of the relaxed programme: a VM of each kind without a place, and patterns of each place."""

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
        """Round down the relaxed solution, or take one host of it, and repeat for the rest."""
        chosen = _rounded_down(times)
        if not chosen:
            return
        used, left = Counter[int](), list(self.asked)
        for (at, pattern), often in chosen:
            used[at] += often
            left = [max(0, n - often * filled) for n, filled in zip(left, pattern, strict=True)]
        new, most = self.places[0], self.best.hosts - used[0]
        unused = (n - used[at] for at, n in enumerate(self.there, 1))
        rooms = Counter({room: n for room, n in zip(self.places[1:], unused, strict=True) if n})
        filled = self._blocks(chosen, [n - m for n, m in zip(self.asked, left, strict=True)])
        if most > 0 and filled is not None:
            patterns = HostPatterns(self.patterns.shared, left)
            rest = MixedProgramme(patterns, rooms, new, New(most, 0, ())).solved()
            if rest.blocks or not any(left):
                self.best = New(used[0] + New.count_of(rest.blocks, new), 0, (*filled, *rest.blocks))

    def _relaxed(self) -> list[tuple[Column, float]]:
        """Return how often the relaxed programme takes each pattern."""
        for rounds in range(1, MOST_PRICINGS + 1):
            columns = list(self.columns)
            needed = [*self.asked, *(-n for n in self.there)]
            costs = [self._cost(at) for at, _ in columns]
            times, prices = _relaxed_programme([self._row(one) for one in columns], needed, costs=costs)
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
        """Return the contribution of a pattern: VMs of each kind, minus the host that it takes."""
        at, pattern = column
        return (*pattern, *(-int(at == other) for other in range(1, len(self.places))))

    def _likely(self, prices: Sequence[float]) -> bool:
        """Add unlisted patterns, found by orders, that are worth more than their host; True if there are any."""
        before = len(self.columns)
        values, takes = prices[: len(self.asked)], [1.0, *prices[len(self.asked) :]]
        for at, (room, take) in enumerate(zip(self.places, takes, strict=True)):
            for pattern in self.patterns.likely(room, values):
                if sum(map(operator.mul, values, pattern)) > take + ALMOST:
                    self.columns.setdefault((at, pattern))
        return len(self.columns) > before

    def _price(self, prices: Sequence[float]) -> None:
        """A bound from these prices, and the patterns that are worth more than the host that they take."""
        # whole numbers, rounded so that the bound needs no trust in floats
        whole = [int(p * PRICE_UNIT) for p in prices]
        self.prices, takes = whole[: len(self.asked)], [PRICE_UNIT, *whole[len(self.asked) :]]
        dearest = [self.patterns.dearest(room, self.prices) for room in self.places]
        self.dearest = [one.most for one in dearest]
        if self.dearest[0]:
            self.bound = max(self.bound, -(-self._worth_left() // self.dearest[0]))
        for at, (one, take) in enumerate(zip(dearest, takes, strict=True)):
            for pattern in one.patterns:
                if self._worth(pattern) > take:
                    self.columns.setdefault((at, pattern))

    def _worth(self, pattern: Sequence[int]) -> int:
        return sum(p * n for p, n in zip(self.prices, pattern, strict=True))

    def _worth_left(self) -> int:
        """Return the worth of all VMs beyond the most that the existing hosts can hold."""
        capacity = sum(most * n for most, n in zip(self.dearest[1:], self.there, strict=True))
        return self._worth(self.asked) - capacity

    def _candidates(self) -> tuple[list[Column], bool]:
        """Patterns that an answer with a host less could have, those that are worth most first; and whether all are known."""
        spare = self.dearest[0] * (self.best.hosts - 1) - self._worth_left()
        candidates, complete = [], True
        for at, room in enumerate(self.places):
            full = self.patterns.full(room)
            complete = complete and full is not None
            known = [pattern for place, pattern in self.columns if place == at]
            rows = known if full is None else full.tolist()
            lacks = [(self.dearest[at] - self._worth(row), (at, tuple(row))) for row in map(tuple, rows)]
            candidates += [pair for pair in lacks if pair[0] <= spare]
        return [column for _, column in sorted(candidates)], complete

    def _try(self, columns: Sequence[Column], rounded: Sequence[tuple[Column, int]]) -> int:
        """Solve the rest of some patterns in whole numbers; return the least number of new hosts that this proves."""
        needed = [*self.asked, *(-n for n in self.there)]
        for column, often in rounded:
            needed = [n - often * one for n, one in zip(needed, self._row(column), strict=True)]
        kinds = len(self.asked)
        left = [*(max(0, n) for n in needed[:kinds]), *needed[kinds:]]
        costs = [self._cost(at) for at, _ in columns]
        chosen, proven = whole_programme([self._row(one) for one in columns], left, costs=costs)
        if chosen is not None:
            blocks = self._blocks([*rounded, *zip(columns, chosen, strict=True)], self.asked)
            if blocks is not None and New.count_of(blocks, self.places[0]) < self.best.hosts:
                self.best = New(New.count_of(blocks, self.places[0]), 0, blocks)
        return proven or 0

    def _blocks(self, chosen: Iterable[tuple[Column, int]], asked: Sequence[int]) -> Blocks | None:
        """Return hosts filled by patterns, without more VMs than requested; None if something is left over."""
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


def _rounded_down(times: Sequence[tuple[Column, float]]) -> list[tuple[Column, int]]:
    """Whole hosts of the relaxed solution; if there are none, one of the pattern that it takes most."""
    taken = [(column, often) for column, often in times if column[0] != NOWHERE and any(column[1])]
    whole = [(column, int(often + 1e-6)) for column, often in taken if often >= 1 - 1e-6]
    return whole or [(column, 1) for column, _ in sorted(taken, key=lambda pair: -pair[1])[:1]]
