"""Many power-on orders in parallel: the number in which every VM starts, and the VMs left over in the others.

All orders take their next VM at the same time, so that a step is a few operations on arrays of orders x hosts. The
rules are those of ``Cluster``, in a table of host content x VM to start, which grows as new contents occur.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from threading import RLock
from typing import Any, NamedTuple

import numpy as np

from gpuplan.models.placement.fit import Rules as Fits
from gpuplan.models.placement.requests import Request, Room
from gpuplan.models.power_on.gpu_states import NEUTRAL, WHOLE, Gpus, Rules
from gpuplan.units import at_least_one, whole_from_zero, whole_number

AT_ONCE = 1024
"""Orders tried in parallel, few enough for their arrays to stay in the cache of the processor."""
UNKNOWN = -2
Z_95 = 1.959963984540054


class Orders(NamedTuple):
    """Result of many power-on orders."""

    orders: int
    started: int
    """Orders in which every VM starts."""
    missing: tuple[tuple[int, int], ...]
    """(VMs that do not start, in how many orders), fewest first."""
    missing_by_kind: tuple[float, ...]
    """Mean number of VMs of each request that do not start, over all orders."""
    stranded_gpus: float
    """Mean of the GPUs' worth that is idle in the orders in which a VM does not start."""
    worst: tuple[int, ...]
    """Kinds of the order in which the VMs that do not start are worth most GPUs; of several the first that was tried."""


def power_on_orders(
    requests: Sequence[Request],
    *,
    rooms: Sequence[Room],
    rules: Rules,
    orders: int | Sequence[Sequence[int]],
    seed: int = 0,
    tick: Callable[[int], None] | None = None,
) -> Orders:
    """In how many power-on orders every VM starts, and what stays idle where one does not.

    Parameters:
        orders (int or sequence of sequences of int): How many random orders are tried, or these orders of kinds, all of one
            length. [-]
        seed: Where random orders begin; the same seed gives the same orders. [-]
        tick (callable, optional): Called with the number of orders that are done. [-]

    Each order of the VMs is equally likely. One after another they are placed on the hosts that can take them, as in ``Cluster``; a VM that
    does not start stays off and the next is tried. ``chance_interval`` says how far the chance may be off for having tried so few.
    [denneman-drs-placement]_ [denneman-gpu-modes]_

    >>> kinds = [Request("a", 2, gpus=1), Request("b", 1, gpus=2)]
    >>> found = power_on_orders(kinds, rooms=[Room(2), Room(2)], rules=Rules(), orders=[(0, 0, 1), (0, 1, 0), (1, 0, 0)])
    >>> found.started, found.missing, found.worst
    (2, ((0, 2), (1, 1)), (0, 0, 1))
    """
    tables = _Hosts(requests, rooms, rules)
    if not isinstance(orders, Sequence):
        whole_from_zero(orders=orders)
    whole_from_zero(seed=seed)
    count = orders if isinstance(orders, int) else len(orders)
    histogram, by_kind = Counter[int](), np.zeros(len(requests))
    idle, worst, dearest = 0.0, tuple[int, ...](), -1.0
    for kinds in _in_turn(requests, orders, seed):
        lacking = tables.tried(kinds)
        missing, lost = lacking.sum(axis=1), lacking @ tables.worth
        histogram.update(missing.tolist())
        by_kind += lacking.sum(axis=0)
        idle += float((tables.spare_gpus(kinds) + lost)[missing > 0].sum())
        if lost.size and (missing > 0).any() and float(lost.max()) > dearest:
            dearest, worst = float(lost.max()), tuple(kinds[int(lost.argmax())].tolist())
        if tick:
            tick(histogram.total())
    stuck = count - histogram[0]
    return Orders(
        count,
        histogram[0],
        tuple(sorted((n, often) for n, often in histogram.items() if often)),
        tuple((by_kind / max(1, count)).tolist()),
        idle / stuck if stuck else 0.0,
        worst,
    )


def _in_turn(requests: Sequence[Request], orders: int | Sequence[Sequence[int]], seed: int) -> Iterator[Any]:
    """Yield the kinds of VMs of the next orders, drawn at random or as they are listed."""
    if not isinstance(orders, int):
        listed = np.array(orders, dtype=np.float64)
        if not np.isin(listed, np.arange(len(requests))).all():
            raise ValueError(f"orders must be of kinds from 0 to {len(requests) - 1}")
        yield from (listed[at : at + AT_ONCE].astype(np.int64) for at in range(0, len(listed), AT_ONCE))
        return
    vms = np.repeat(np.arange(len(requests)), [request.vms for request in requests])
    random = np.random.RandomState(seed)  # its stream is the same in every version of numpy
    for first in range(0, orders, AT_ONCE):
        draws = random.random_sample((min(AT_ONCE, orders - first), len(vms)))
        yield vms[np.argsort(draws, axis=1, kind="stable")]


def chance_interval(started: int, orders: int) -> tuple[float, float]:
    """Within which bounds a chance lies of which so many tries are known.

    Parameters:
        started: Orders in which every VM started. [-]
        orders: Orders that were tried. [-]

    Lower and upper bound, 95 % confident. [-] Wilson's interval: (p + z^2/2n -+ z sqrt(p (1 - p)/n + z^2/4n^2)) / (1 +
    z^2/n), z = 1.96. [gpuplan-method]_

    >>> [round(bound, 4) for bound in chance_interval(97, 100)]
    [0.9155, 0.9897]
    """
    at_least_one(orders=orders)
    whole_number("started", started, most=orders)
    share, square = started / orders, Z_95**2
    middle = share + square / (2 * orders)
    half = Z_95 * math.sqrt(share * (1 - share) / orders + square / (4 * orders**2))
    scale = 1 + square / orders
    return min(share, max(0.0, (middle - half) / scale)), max(share, min(1.0, (middle + half) / scale))


@lru_cache(maxsize=8)
def _table(requests: tuple[Request, ...], rules: Rules) -> "_Table":
    """Return the kept table for these VMs: readings with another host choice or more hosts share it (half the time)."""
    return _Table(requests, rules)


class _Table:
    """Content of a host, by number, and its content after one more VM of each kind.

    Where GPUs are only counted their order on a host does not matter, and hosts with the same GPUs have one number.
    """

    def __init__(self, requests: tuple[Request, ...], rules: Rules) -> None:
        self.gpus = Gpus(requests, rules)
        linked = rules.domain or rules.partitions
        self._sorted = not linked and all(
            not way.pieces and len(family.profiles) < 2
            for way, family in zip(self.gpus.ways, self.gpus.fits.families, strict=True)
        )
        self._alike: dict[object, int] = {}
        self._contents: list[tuple[int, ...]] = []
        self._numbers: dict[tuple[int, ...], int] = {}
        self._after = np.full((64, len(requests)), UNKNOWN, dtype=np.int32)
        self.held = np.zeros(64, dtype=np.int64)
        """For each number, GPUs that VMs have whole, or that a host does not have."""
        self._growing = RLock()

    def number(self, gpus: Sequence[int]) -> int:
        """Return the number of the content of a host's GPUs."""
        key = tuple(sorted(gpus)) if self._sorted else tuple(gpus)
        with self._growing:
            if key not in self._numbers:
                if len(self._contents) == len(self.held):
                    self._after = np.concatenate([self._after, np.full_like(self._after, UNKNOWN)])
                    self.held = np.concatenate([self.held, np.zeros_like(self.held)])
                self.held[len(self._contents)] = key.count(WHOLE)
                self._numbers[key] = len(self._contents)
                self._contents.append(key)
            return self._numbers[key]

    def _first_alike(self, state: int) -> int:
        """Return the content of a GPU; where shares are only counted, the first equivalent content met."""
        family, shares = self.gpus.contents[state]
        if family < 0 or self.gpus.ways[family].pieces:
            return state
        used = self.gpus.fits.used_by(family, (kind for kind, _ in shares))
        return self._alike.setdefault((family, used), state)

    def _found(self, state: int, kind: int) -> int:
        """Return the content of a host after one more VM; -1 if it cannot take it."""
        placed = self.gpus.placed(self._contents[state], kind)
        return -1 if placed is None else self.number([self._first_alike(gpu) for gpu in placed.states])

    def after(self, states: Any, kinds: Any) -> Any:
        """Return the content of the hosts of each order after its next VM; -1 for those that cannot take it."""
        contents = self._after[states, kinds]
        if contents.min() == UNKNOWN:
            order, host = np.nonzero(contents == UNKNOWN)
            with self._growing:
                for state, kind in set(
                    zip(states[order, host].tolist(), kinds[order, 0].tolist(), strict=True)
                ):
                    number = self._found(state, kind)  # may make the table larger
                    self._after[state, kind] = number
            contents = self._after[states, kinds]
        return contents


class _Hosts:
    """The hosts of many orders, and VMs that start on them."""

    def __init__(self, requests: Sequence[Request], rooms: Sequence[Room], rules: Rules) -> None:
        fits = Fits(requests)
        self.kinds, self.rules, self.rooms = len(requests), rules, [fits.counted(room) for room in rooms]
        self.worth = np.array([float(worth) for worth in fits.worth])
        self.whole = np.array([0 if r.family else r.gpus for r in requests])
        self.vcpus, self.memory = (
            np.array([getattr(r, name) for r in requests]) for name in ("vcpus", "memory_gib")
        )
        widest = max((room.gpus for room in rooms), default=0)
        singles = tuple(request._replace(group=str(at), vms=1) for at, request in enumerate(requests))
        self.table = _table(singles, rules._replace(host="", consolidate=False))
        self.takes = self._where(requests, Room.takes)
        self.own = self._where(requests, lambda room, request: room.board in request.boards[:1])
        self.lacking = np.array([widest - room.gpus for room in rooms], dtype=np.int64)
        first = [[NEUTRAL] * room.gpus + [WHOLE] * (widest - room.gpus) for room in rooms]
        self.first = np.array([self.table.number(gpus) for gpus in first], dtype=np.int32)

    def _where(self, requests: Sequence[Request], holds: Callable[[Room, Request], bool]) -> Any:
        """Return for each request on which hosts something holds."""
        return np.array([[holds(room, request) for room in self.rooms] for request in requests], dtype=bool)

    def spare_gpus(self, kinds: Any) -> Any:
        """GPUs' worth that would be idle if every VM of an order ran."""
        return sum(room.gpus for room in self.rooms) - self.worth[kinds].sum(axis=1)

    def tried(self, kinds: Any) -> Any:
        """Return for each order the number of VMs of each kind that do not start."""
        orders, hosts = len(kinds), len(self.rooms)
        rows, turn = np.arange(orders), np.arange(hosts)
        state, last = np.tile(self.first, (orders, 1)), np.full((orders, 1), -1)
        load = _Load(self.rooms, orders)
        lacking = np.zeros((orders, self.kinds), dtype=np.int64)
        for step in range(kinds.shape[1] if hosts else 0):
            now = kinds[:, step]
            after = self.table.after(state, now[:, None])
            able = (after >= 0) & self.takes[now]
            if load.counted:
                able &= load.room_for(self.vcpus[now], self.memory[now])
            if self.rules.own_first:
                own = able & self.own[now]
                able = np.where(own.any(axis=1, keepdims=True), own, able)
            if self.rules.consolidate:
                busy = np.where(able, self.table.held[state] - self.lacking, -1)
                able &= (self.whole[now] == 0)[:, None] | (busy == busy.max(axis=1, keepdims=True))
            used = (turn - last - 1) % hosts if self.rules.host == "turn" else load.used
            host = np.where(able, used, np.inf).argmin(axis=1)
            starts = able[rows, host]
            row, at, kind = rows, host, now
            if not starts.all():
                lacking[rows[~starts], now[~starts]] += 1
                row, at, kind = rows[starts], host[starts], now[starts]
            state[row, at] = after[row, at]
            last[row, 0] = at
            load.add(row, at, self.vcpus[kind], self.memory[kind])
        if not hosts:
            np.add.at(lacking, (np.repeat(rows, kinds.shape[1]), kinds.ravel()), 1)
        return lacking


class _Load:
    """CPU and memory used on the hosts of each order, where these are counted; else the number of VMs."""

    def __init__(self, rooms: Sequence[Room], orders: int) -> None:
        self.vcpus, self.memory = (np.array([room.sizes[at] for room in rooms], dtype=float) for at in (1, 2))
        self.counted = bool(self.vcpus.any() or self.memory.any())
        self.used = np.zeros((orders, len(rooms)))
        if self.counted:
            self.used_vcpus, self.used_memory = (np.zeros((orders, len(rooms))) for _ in range(2))

    def room_for(self, vcpus: Any, memory: Any) -> Any:
        """On which hosts a VM of each order has CPU and memory."""
        return ((self.vcpus == 0) | (self.used_vcpus + vcpus[:, None] <= self.vcpus)) & (
            (self.memory == 0) | (self.used_memory + memory[:, None] <= self.memory)
        )

    def add(self, rows: Any, hosts: Any, vcpus: Any, memory: Any) -> None:
        """Add one VM of each of these orders to its host."""
        if not self.counted:
            self.used[rows, hosts] += 1
            return
        self.used_vcpus[rows, hosts] += vcpus
        self.used_memory[rows, hosts] += memory
        offered, more = self.vcpus[hosts], self.memory[hosts]
        by_vcpus = self.used_vcpus[rows, hosts] / np.where(offered > 0, offered, np.inf)
        by_memory = self.used_memory[rows, hosts] / np.where(more > 0, more, np.inf)
        limited = (offered > 0) | (more > 0)
        self.used[rows, hosts] = np.where(
            limited, np.maximum(by_vcpus, by_memory), self.used[rows, hosts] + 1
        )
