"""Columns: hosts of several kinds filled by column generation, some of any number.

A column is the content of one host of a kind. The relaxed programme over the columns known so far prices the VMs; for
each kind of host the most valuable fills at these prices become columns, until there is none. Whole hosts are then
fixed, and the rest is solved again. It complements the programme of ``mixed_hosts``, as neither replaces the other: 40
kinds of VMs take this a second and that 14, but this took 165 hosts where 162 do, and proves nothing. [gpuplan-method]_
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from gpuplan.models.placement.fit import Rules
from gpuplan.models.placement.host_fills import ALMOST, Fill, Greedy, HostFills, Priced
from gpuplan.models.placement.host_patterns import HostPatterns
from gpuplan.models.placement.programme import _relaxed_programme
from gpuplan.models.placement.requests import Block, Blocks, Content, Part, Room, vms_in
from gpuplan.models.placement.shared_gpus import SharedGpus
from gpuplan.units import each, whole_from_zero

MOST_ROUNDS = 150
"""Rounds of searching for fills before the first hosts are fixed."""
ROUNDS_BETWEEN = 3
"""The same after each step."""
FEW_FILLS = 6
"""With fewer new fills by orders in a round, fills by programme are tried too."""
UNPLACED = 16.0
"""Cost of an unplaced VM that must be placed, in new hosts."""
NEARLY_ONE = 0.7
"""Columns that are taken so often at least are taken once where none is taken more often."""

PATIENCE = 10
LITTLE = 0.001
"""The search for fills ends when this many rounds together lower the cost by a smaller part."""

Way = Callable[[Priced], Iterator[Content]]
"""A way to fill a host."""

VALUE_UNIT = 10**4
"""Prices of the programme that fills a host are rounded to whole multiples of 1 / VALUE_UNIT."""

SCARCEST = 3
"""Best fit by the scarcest resource of a host."""


class Place(NamedTuple):
    """Hosts of one kind: resources of each, and number; None: any number, at a cost of 1 each."""

    room: Room
    hosts: int | None


class Relaxed(NamedTuple):
    """The relaxed programme solved: its cost, how often each column is taken, and prices of VMs and of hosts."""

    cost: float
    times: Sequence[float]
    prices: Sequence[float]
    rents: Sequence[float]


class HostColumns:
    """Hosts of several kinds, filled at the least cost of unplaced VMs; each VM without a place costs its ``value``.

    >>> from gpuplan.models.placement.requests import Request
    >>> rules = Rules([Request("three", 5, gpus=3), Request("two", 5, gpus=2)])
    >>> blocks = HostColumns(rules, [Place(Room(5), 3)], (3.0, 2.0)).solved(rules.vms)
    >>> [(block.times, dict(vms_in(block.content))) for block in blocks]
    [(3, {0: 1, 1: 1})]
    """

    def __init__(self, rules: Rules, places: Sequence[Place], values: Sequence[float]) -> None:
        self.rules, self.places, self.values = rules, tuple(places), tuple(values)
        self.columns: dict[tuple[int, Fill], Content] = {}
        """(number of the place, its fill): the content of such a host."""
        self.fills = HostFills(rules)

    def solved(self, vms: Sequence[int]) -> Blocks:
        """Content of each host; empty ones are left out."""
        left, hosts = list(vms), [place.hosts for place in self.places]
        blocks: list[Block] = []
        rounds = MOST_ROUNDS
        patterns = HostPatterns(SharedGpus(self.rules), vms)
        ways: tuple[Way, ...] = self.fills.by_orders, partial(_dearest, patterns)
        while any(left):
            relaxed = self._generated(left, hosts, rounds, ways)
            fixed = self._fixed(relaxed.times, left, hosts)
            if not fixed:
                break
            blocks += fixed
            rounds, ways = ROUNDS_BETWEEN, (self.fills.by_orders,)
        return self.filled_up(tuple(blocks), vms)

    # ---- the relaxed programme

    def _relaxed(self, left: Sequence[int], there: Sequence[int | None]) -> Relaxed:
        kinds = len(left)
        unplaced = [((kind, 1),) for kind in range(kinds)]
        taken = [(*fill, *self._host_of(place)) for place, fill in self.columns]
        columns = np.zeros((kinds + len(taken), kinds + len(there)), dtype=int)
        for at, column in enumerate((*unplaced, *taken)):
            for row, amount in column:
                columns[at, row] = amount
        costs = [*self.values, *(float(there[place] is None) for place, _ in self.columns)]
        times, prices = _relaxed_programme(columns, [*left, *(-(n or 0) for n in there)], costs=costs)
        return Relaxed(float(np.dot(costs, times)), times[kinds:], prices[:kinds], prices[kinds:])

    def _host_of(self, place: int) -> Fill:
        """The row of a place, of which a column takes a host; none where there are any number."""
        return () if self.places[place].hosts is None else ((len(self.values) + place, -1),)

    def _generated(
        self, left: Sequence[int], there: Sequence[int | None], rounds: int, ways: Sequence[Way]
    ) -> Relaxed:
        """Solve the relaxed programme with the fills that its prices ask for, until they gain next to nothing."""
        costs: list[float] = []
        for _ in range(rounds):
            relaxed = self._relaxed(left, there)
            costs.append(relaxed.cost)
            slow = len(costs) > PATIENCE and costs[-PATIENCE] - costs[-1] < LITTLE * costs[-1]
            if relaxed.cost < ALMOST or slow or not self._priced(relaxed, left, there, ways):
                return relaxed
        return self._relaxed(left, there)

    def _add(self, place: int, content: Content) -> bool:
        """A column more; whether it was not known."""
        counts = vms_in(content)
        key = place, tuple(sorted(counts.items()))
        if not counts or key in self.columns:
            return False
        self.columns[key] = content
        return True

    # ---- fills that are worth having

    def _priced(
        self, relaxed: Relaxed, left: Sequence[int], there: Sequence[int | None], ways: Sequence[Way]
    ) -> int:
        """Add the fills that are worth more than a host of their place costs; how many were new."""
        hosts = {
            at: self.fills.priced(self.places[at].room, relaxed.prices, left)
            for at, n in enumerate(there)
            if n != 0
        }
        added = 0
        for by in ways:
            for at, host in hosts.items():
                rent = 1.0 if there[at] is None else relaxed.rents[at]
                for content in by(host):
                    worth = sum(relaxed.prices[k] * n for k, n in vms_in(content).items())
                    if worth > rent + ALMOST:
                        added += self._add(at, content)
            if added >= FEW_FILLS:
                break
        return added

    # ---- whole hosts

    def _fixed(self, times: Sequence[float], left: list[int], there: list[int | None]) -> list[Block]:
        """Hosts of the columns that are taken, as far as there are hosts and VMs for them."""
        columns = list(self.columns.items())
        blocks = []
        for at, n in sorted(_whole(times).items(), key=lambda pair: -times[pair[0]]):
            (place, fill), content = columns[at]
            hosts = there[place]
            n = n if hosts is None else min(n, hosts)
            whole = min(n, *(left[k] // amount for k, amount in fill))
            if n and not whole:
                content, whole = _trimmed(content, left), 1
            if n and content:
                blocks.append(Block(whole, self.places[place].room, content))
                for k, amount in vms_in(content).items():
                    left[k] -= whole * amount
                there[place] = None if hosts is None else hosts - whole
        return blocks

    def filled_up(self, blocks: Blocks, vms: Sequence[int]) -> Blocks:
        """These hosts and the empty ones with what is not on them yet, the largest first, as far as it fits."""
        left, free = list(vms), {place.room: place.hosts for place in self.places}
        for times, room, content in blocks:
            hosts = free[room]
            free[room] = None if hosts is None else hosts - times
            for kind, n in vms_in(content).items():
                left[kind] -= n * times
        empty = tuple(Block(n, room, ()) for room, n in free.items() if n)
        new = next((room for room, n in free.items() if n is None), None)
        filled, _ = Greedy(self.rules).filled_up(
            (*blocks, *empty), left, new, self.rules.largest_first, SCARCEST
        )
        return filled


def _dearest(patterns: HostPatterns, host: Priced) -> Iterator[Content]:
    """Yield the dearest fill with worthwhile VMs, by a programme."""
    wanted = [k in host.wanted for k in range(len(host.prices))]
    prices = [round(VALUE_UNIT * price) * wants for price, wants in zip(host.prices, wanted, strict=True)]
    for pattern in patterns.by_programme(host.room, prices).patterns:
        yield patterns.content(host.room, [n * wants for n, wants in zip(pattern, wanted, strict=True)])


def _whole(times: Sequence[float]) -> dict[int, int]:
    """How often each column is taken that is taken once or more; else once that which is taken most."""
    often = {at: int(n + ALMOST) for at, n in enumerate(times) if n >= 1 - ALMOST}
    most = max(times, default=0.0)
    if often or most <= ALMOST:
        return often
    least = min(NEARLY_ONE, most)
    return {at: 1 for at, n in enumerate(times) if n >= least}


def _placed_vms(blocks: Blocks, kinds: int) -> list[int]:
    """VMs of each kind on these hosts.

    By number of their kind. Those of one host times the number of hosts that are filled alike.
    """
    whole_from_zero(kinds=kinds)
    counts = Counter[int]()
    for block in blocks:
        for kind, n in vms_in(block.content).items():
            counts[kind] += n * block.times
    return [counts[kind] for kind in range(kinds)]


def _trimmed(content: Content, left: Sequence[int]) -> Content:
    """Content of a host without the VMs of which there are no more.

    The VMs with the lowest numbers stay; a GPU without VMs is free.
    """
    each(whole_from_zero, left=left)
    kept = (
        Part(part.family, tuple(slot for slot in part.slots if slot[1] < left[slot[0]])) for part in content
    )
    return tuple(part for part in kept if part.slots)
