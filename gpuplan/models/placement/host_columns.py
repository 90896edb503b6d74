"""Columns: hosts of several kinds filled by column generation, some of any number.

A column is what stands on one host of a kind. The relaxed programme over the columns known so far says at which prices a
VM is worth having; for each kind of host the fills that are worth most at these prices become columns, until there is
none. Whole hosts are then fixed, and the rest is solved again. The answer is not proven; the prices prove a bound.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from gpuplan.models.placement.fit import Block, Blocks, Content, Part, Room, Rules, vms_in
from gpuplan.models.placement.packing import most_valuable, whole_programme

MOST_ROUNDS = 150
"""Rounds in which fills are looked for before the first hosts are fixed."""
ROUNDS_BETWEEN = 3
"""The same after each step."""
NOISE = (0.0, 0.05, 0.15)
"""How far the orders that are tried stray from that by worth."""
FACTORS = (0.0, 0.5, 0.8, 1.0, 1.2, 1.5, 2.0, 3.0)
"""Multiples of the prices of vCPUs and memory at which the best fill of one GPU is looked for."""
FEW_FILLS = 6
"""With fewer new fills by orders in a round, those by programme are looked for too."""
PROGRAMME_NODES = 200
VALUE_UNIT = 10**4
"""Values are rounded to whole multiples of 1 / VALUE_UNIT."""
UNPLACED = 16.0
"""What a VM costs that must have a place and has none, in new hosts."""
ALMOST = 1e-6
NEARLY_ONE = 0.7
"""Columns that are taken so often at least are taken once where none is taken more often."""

PATIENCE = 10
LITTLE = 0.001
"""Fills are looked for until so many rounds together lower the cost by a smaller part than this."""

Way = Callable[[Room, Any, Any, Sequence[int], Sequence[int]], Iterator[Content]]
"""A way to fill a host: its room, prices of VMs and of the host's resources, kinds to look at, VMs left."""

SCARCEST = 3
"""Best fit by what is scarcest on a host."""

Fill = tuple[tuple[int, int], ...]
"""(kind, how many) on one host."""


class Place(NamedTuple):
    """Hosts of one kind: what each offers, and how many there are; None: any number, at a cost of 1 each."""

    room: Room
    hosts: int | None


class Relaxed(NamedTuple):
    """The relaxed programme solved: its cost, how often each column is taken, and prices of VMs and of hosts."""

    cost: float
    times: Any
    prices: Any
    rents: Any


class HostColumns:
    """Hosts of several kinds, filled so that what has no place costs least; each VM without one costs its ``value``.

    >>> from gpuplan.models.placement.fit import Request
    >>> rules = Rules([Request("three", 5, gpus=3), Request("two", 5, gpus=2)])
    >>> blocks = HostColumns(rules, [Place(Room(5), 3)], (3.0, 2.0)).solved(rules.vms)
    >>> [(block.times, dict(vms_in(block.content))) for block in blocks]
    [(3, {0: 1, 1: 1})]
    """

    def __init__(self, rules: Rules, places: Sequence[Place], values: Sequence[float]) -> None:
        import numpy as np  # imported here: most plans have no hosts of several kinds

        self.np, self.rules, self.places, self.values = (
            np,
            rules,
            tuple(places),
            np.array(values, dtype=float),
        )
        self.columns: dict[tuple[int, Fill], Content] = {}
        """(number of the place, its fill): the content of such a host."""
        self._entries: tuple[list[int], list[int], list[int]] = ([], [], [])
        self._random = np.random.default_rng(1)
        requests = rules.requests
        self.needs = np.array(
            [[float(w), r.vcpus, r.memory_gib] for w, r in zip(rules.worth, requests, strict=True)]
        )
        """GPUs, vCPUs and memory of a VM of each kind."""
        whole = [float(w) for w in rules.worth]
        filled = [r.shares / n if n else w for r, n, w in zip(requests, rules.per_gpu, whole, strict=True)]
        self.held = np.column_stack([filled, self.needs[:, 1:]])
        """The same, a share holding what a GPU full of its like gives it."""

    def solved(self, vms: Sequence[int]) -> Blocks:
        """What stands on which hosts; empty ones are left out."""
        left, there = list(vms), [place.hosts for place in self.places]
        blocks: list[Block] = []
        rounds = MOST_ROUNDS
        ways: tuple[Way, ...] = self._by_orders, self._by_programme
        while any(left):
            relaxed = self._generated(left, there, rounds, ways)
            fixed = self._fixed(relaxed.times, left, there)
            if not fixed:
                break
            blocks += fixed
            rounds, ways = ROUNDS_BETWEEN, (self._by_orders,)
        return self.filled_up(tuple(blocks), vms)

    # ---- the relaxed programme

    def _relaxed(self, left: Sequence[int], there: Sequence[int | None]) -> Relaxed:
        from scipy.optimize import linprog
        from scipy.sparse import csc_array

        np, kinds = self.np, len(left)
        rows, columns, amounts = self._entries
        at = np.arange(kinds)
        matrix = csc_array(
            (
                np.concatenate([np.ones(kinds), np.array(amounts, dtype=float)]),
                (
                    np.concatenate([at, np.array(rows, dtype=int)]),
                    np.concatenate([at, np.array(columns, dtype=int) + kinds]),
                ),
            ),
            shape=(kinds + len(there), kinds + len(self.columns)),
        )
        new = np.array([there[place] is None for place, _ in self.columns], dtype=float)
        costs = np.concatenate([self.values, new])
        needed = np.array([*left, *(-(n or 0) for n in there)], dtype=float)
        solved = linprog(costs, A_ub=-matrix, b_ub=-needed, method="highs")
        prices = np.maximum(0.0, -solved.ineqlin.marginals)
        return Relaxed(float(solved.fun), solved.x[kinds:], prices[:kinds], prices[kinds:])

    def _generated(
        self, left: Sequence[int], there: Sequence[int | None], rounds: int, ways: Sequence[Way]
    ) -> Relaxed:
        """The relaxed programme with the fills that its prices ask for, until they gain next to nothing."""
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
        rows, columns, amounts = self._entries
        number = len(self.columns)
        self.columns[key] = content
        for kind, n in counts.items():
            rows.append(kind)
            columns.append(number)
            amounts.append(n)
        if self.places[place].hosts is not None:
            rows.append(len(self.values) + place)
            columns.append(number)
            amounts.append(-1)
        return True

    # ---- fills that are worth having

    def _priced(
        self, relaxed: Relaxed, left: Sequence[int], there: Sequence[int | None], ways: Sequence[Way]
    ) -> int:
        """Add the fills that are worth more than a host of their place costs; how many were new."""
        wanted = [k for k, n in enumerate(left) if n and relaxed.prices[k] > ALMOST]
        open_ = [at for at, hosts in enumerate(there) if hosts != 0]
        weights = {at: self._weights(self.places[at].room, relaxed.prices, left) for at in open_}
        found = 0
        for by in ways:
            for at in open_:
                room = self.places[at].room
                rent = 1.0 if there[at] is None else relaxed.rents[at]
                for content in by(room, relaxed.prices, weights[at], wanted, left):
                    worth = sum(relaxed.prices[k] * n for k, n in vms_in(content).items())
                    if worth > rent + ALMOST:
                        found += self._add(at, content)
            if found >= FEW_FILLS:
                break
        return found

    def _by_orders(
        self, room: Room, prices: Any, weights: Any, wanted: Sequence[int], left: Sequence[int]
    ) -> Iterator[Content]:
        """Fills that take those VMs first that are worth most for what they take of the host."""
        np = self.np
        for needs in (self.needs, self.held):
            worth = prices / np.maximum(needs @ weights, 1e-12)
            for noise in NOISE:
                straying = worth * (1 + noise * self._random.standard_normal(len(worth)))
                yield self._filled(room, sorted(wanted, key=lambda k: -straying[k]), left)

    def _weights(self, room: Room, prices: Any, left: Sequence[int]) -> Any:
        """What a GPU, a vCPU and a GiB of this host are worth if VMs could be divided at will."""
        from scipy.optimize import linprog

        counted = [i for i, n in enumerate(room) if i == 0 or n]
        solved = linprog(
            -prices,
            A_ub=self.needs.T[counted],
            b_ub=[room[i] for i in counted],
            bounds=[(0, n) for n in left],
            method="highs",
        )
        weights = self.np.zeros(len(room))
        weights[counted] = self.np.maximum(0.0, -solved.ineqlin.marginals)
        return weights

    def _filled(self, room: Room, order: Sequence[int], left: Sequence[int]) -> Content:
        """A host with VMs in this order, as many of each as fit."""
        state, content = self.rules.state(room), Content()
        for kind in order:
            request = self.rules.requests[kind]
            for _ in range(left[kind]):
                free, vcpus, memory, _ = state
                if request.gpus > free or 0 <= vcpus < request.vcpus or 0 <= memory < request.memory_gib:
                    break
                fit = self.rules.fit_once(state, kind)
                if fit is None:
                    break
                state, content = fit.state, self.rules.put(content, kind, fit)
        return content

    def _by_programme(
        self, room: Room, prices: Any, weights: Any, wanted: Sequence[int], left: Sequence[int]
    ) -> Iterator[Content]:
        """The dearest fill from whole VMs and from GPUs that are shared well, by a small programme."""
        items = list(self._items(room, prices, weights, wanted, left))
        if not items:
            return
        worth = [round(VALUE_UNIT * sum(prices[k] * n for k, n in fill)) for _, fill in items]
        takes = [
            [gpus, *(sum(self.needs[k][i] * n for k, n in fill) for i in (1, 2))] for gpus, fill in items
        ]
        limits = [room.gpus, room.vcpus or math.inf, room.memory_gib or math.inf]
        most = [min(left[k] // n for k, n in fill) for _, fill in items]
        counted = [i for i, n in enumerate(limits) if n < math.inf]
        chosen, _ = whole_programme(
            [[-int(take[i]) for i in counted] for take in takes],
            [-int(limits[i]) for i in counted],
            costs=[-w for w in worth],
            most=most,
            nodes=PROGRAMME_NODES,
        )
        if chosen is not None:
            yield self._content(
                [fill for (_, fill), n in zip(items, chosen, strict=True) for _ in range(n)], left
            )

    def _items(
        self, room: Room, prices: Any, weights: Any, wanted: Sequence[int], left: Sequence[int]
    ) -> Iterator[tuple[int, Fill]]:
        """(GPUs, fill) of what can stand on a host by itself: one VM, or one GPU shared within a family."""
        rules = self.rules
        _, vcpu, memory = weights
        for k in wanted:
            if rules.most_on(room, k) and (rules.family_of[k] < 0 or rules.requests[k].shares > 1):
                shared = -(-rules.requests[k].shares // rules.per_gpu[k]) if rules.per_gpu[k] else 0
                yield rules.requests[k].gpus or shared, ((k, 1),)
        shares = [k for k in wanted if rules.family_of[k] >= 0 and rules.requests[k].shares == 1]
        found: set[Fill] = set()
        for factor in FACTORS:
            values = {
                k: prices[k] - factor * (vcpu * self.needs[k][1] + memory * self.needs[k][2]) for k in shares
            }
            found.update(self._shared_gpus({k: v for k, v in values.items() if v > ALMOST}, left))
        for fill in sorted(found):
            yield 1, fill

    def _shared_gpus(self, values: Mapping[int, float], left: Sequence[int]) -> Iterator[Fill]:
        """Of each family one GPU that is shared by what is worth most on it."""
        rules = self.rules
        for f in range(len(rules.families)):
            best: dict[int, int] = {}  # of each profile or size the VM that is worth most
            for k in sorted(values, key=lambda k: -values[k]):
                if rules.family_of[k] == f:
                    best.setdefault(rules.units[k], k)
            if not best:
                continue
            worth = {unit: round(VALUE_UNIT * values[k]) for unit, k in best.items()}
            if capacity := rules.families[f].capacity:
                _, counts = most_valuable(
                    list(worth.values()),
                    tuple(worth),
                    needed=tuple(left[k] for k in best.values()),
                    capacity=capacity,
                )
            else:
                options = (
                    tuple(min(layout[unit], left[k]) for unit, k in best.items())
                    for layout in rules.layouts[f]
                )
                counts = max(
                    options, key=lambda on: sum(n * w for n, w in zip(on, worth.values(), strict=True))
                )
            yield tuple(sorted((k, n) for k, n in zip(best.values(), counts, strict=True) if n))

    def _content(self, fills: Sequence[Fill], left: Sequence[int]) -> Content:
        """A host with these items on it, of each kind no more than are left."""
        rules, given, content = self.rules, Counter[int](), Content()
        for fill in fills:
            slots: tuple[tuple[int, int], ...] = ()
            for k, n in fill:
                slots += tuple((k, given[k] + i) for i in range(min(n, left[k] - given[k])))
            if not slots:
                continue
            given.update(k for k, _ in slots)
            kind = slots[0][0]
            if rules.family_of[kind] >= 0 and rules.requests[kind].shares > 1:
                content += tuple(self._several(kind, slots[0]))
            else:
                content += (Part(rules.family_of[kind], slots),)
        return content

    def _several(self, kind: int, one: tuple[int, int]) -> Iterator[Part]:
        """GPUs of a VM with several shares that has them for itself."""
        shares, most = self.rules.requests[kind].shares, self.rules.per_gpu[kind]
        for at in range(0, shares, most):
            yield Part(self.rules.family_of[kind], (one,) * min(most, shares - at))

    # ---- whole hosts

    def _fixed(self, times: Any, left: list[int], there: list[int | None]) -> list[Block]:
        """Hosts of the columns that are taken once or more, else one of that which is taken most."""
        columns = list(self.columns.items())
        often = {at: int(n + ALMOST) for at, n in enumerate(times) if n >= 1 - ALMOST}
        if not often and len(times) and times.max() > ALMOST:
            least = min(NEARLY_ONE, times.max())
            often = {at: 1 for at, n in enumerate(times) if n >= least}
        blocks = []
        for at, n in sorted(often.items(), key=lambda each: -times[each[0]]):
            (place, fill), content = columns[at]
            hosts = there[place]
            n = n if hosts is None else min(n, hosts)
            whole = min(n, *(left[k] // amount for k, amount in fill))
            if n and not whole:
                content, whole = trimmed(content, left), 1
            if n and content:
                blocks.append(Block(whole, self.places[place].room, content))
                for k, amount in vms_in(content).items():
                    left[k] -= whole * amount
                there[place] = None if hosts is None else hosts - whole
        return blocks

    def filled_up(self, blocks: Blocks, vms: Sequence[int]) -> Blocks:
        """These hosts and the empty ones with what is not on them yet, the largest first, as far as it fits."""
        left, there = list(vms), {place.room: place.hosts for place in self.places}
        for times, room, content in blocks:
            hosts = there[room]
            there[room] = None if hosts is None else hosts - times
            for kind, n in vms_in(content).items():
                left[kind] -= n * times
        empty = tuple(Block(n, room, ()) for room, n in there.items() if n)
        new = next((room for room, n in there.items() if n is None), None)
        found, _ = self.rules.filled_up((*blocks, *empty), left, new, self.rules.largest_first, SCARCEST)
        return found


def placed_vms(blocks: Blocks, kinds: int) -> list[int]:
    """VMs of each kind on these hosts.

    Parameters
    ----------
    blocks : tuple of Block
        What stands on how many hosts. [-]
    kinds : int
        How many kinds of VMs there are. [-]

    Returns
    -------
    placed_vms : list of int
        VMs by number of their kind. [VM]

    Notes
    -----
    Those of one host times the number of hosts that are filled alike.

    Examples
    --------
    >>> placed_vms((Block(3, Room(2), (Part(-1, ((1, 0),)),)),), 2)
    [0, 3]

    References
    ----------
    .. [1] gpuplan-method
    """
    counts = Counter[int]()
    for block in blocks:
        for kind, n in vms_in(block.content).items():
            counts[kind] += n * block.times
    return [counts[kind] for kind in range(kinds)]


def trimmed(content: Content, left: Sequence[int]) -> Content:
    """What is on a host without the VMs of which there are no more.

    Parameters
    ----------
    content : tuple of Part
        What is on the host. [-]
    left : sequence of int
        How many VMs of each kind there still are. [VM]

    Returns
    -------
    trimmed : tuple of Part
        What stays. [-]

    Notes
    -----
    The VMs with the lowest numbers stay; a GPU that nobody is on any more is free.

    Examples
    --------
    >>> trimmed((Part(-1, ((0, 0),)), Part(-1, ((0, 1),))), (1,))
    (Part(family=-1, slots=((0, 0),)),)

    References
    ----------
    .. [1] gpuplan-method
    """
    kept = (
        Part(part.family, tuple(slot for slot in part.slots if slot[1] < left[slot[0]])) for part in content
    )
    return tuple(part for part in kept if part.slots)
