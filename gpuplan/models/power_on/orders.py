"""Many orders of power-on at once: in how many of them every VM starts, and what is left over where not.

All orders take their next VM at the same time, so that a step is a few operations on arrays of orders x hosts x GPUs. The rules are those
of ``Cluster``, read from the numbers of ``Gpus`` as tables that grow with what is met.
"""

import math
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from gpuplan.models.placement.fit import Request, Room
from gpuplan.models.power_on.gpu_states import NEUTRAL, WHOLE, Gpus, Rules, whole_gpus

AT_ONCE = 1024
"""Orders that are tried at once, so that their arrays stay in the cache of the processor."""
UNKNOWN = -2
Z_95 = 1.959963984540054


class Orders(NamedTuple):
    """What became of many orders of power-on."""

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
    """In how many orders of power-on every VM starts, and what is left over where one does not.

    Parameters
    ----------
    requests : sequence of Request
        VMs by kind. [-]
    rooms : sequence of Room
        What each host offers. [-]
    rules : Rules
        One reading of how vSphere places them. [-]
    orders : int or sequence of sequences of int
        How many random orders are tried, or these orders of kinds, all of one length. [-]
    seed : int
        Where random orders begin; the same seed gives the same orders. [-]
    tick : callable, optional
        Called with the number of orders that are done. [-]

    Returns
    -------
    power_on_orders : Orders
        Orders in which all start, VMs that do not, idle GPUs and the worst order. [-]

    Notes
    -----
    Each order of the VMs is equally likely. One after another they are placed on the hosts that can take them, as in ``Cluster``; a VM that
    does not start stays off and the next is tried. ``chance_interval`` says how far the chance may be off for having tried so few.

    Examples
    --------
    >>> kinds = [Request("a", 2, gpus=1), Request("b", 1, gpus=2)]
    >>> found = power_on_orders(kinds, rooms=[Room(2), Room(2)], rules=Rules(), orders=[(0, 0, 1), (0, 1, 0), (1, 0, 0)])
    >>> found.started, found.missing, found.worst
    (2, ((0, 2), (1, 1)), (0, 0, 1))

    References
    ----------
    .. [1] denneman-drs-placement
    .. [2] denneman-gpu-modes
    """
    tables = _Tables(requests, rooms, rules)
    vms = np.repeat(np.arange(len(requests)), [request.vms for request in requests])
    given = None if isinstance(orders, int) else np.array(orders, dtype=np.int64)
    count = orders if isinstance(orders, int) else len(orders)
    random = np.random.RandomState(seed)  # its stream is the same in every version of numpy
    histogram, by_kind = Counter[int](), np.zeros(len(requests))
    idle, worst, dearest = 0.0, tuple[int, ...](), -1.0
    for first in range(0, count, AT_ONCE):
        many = min(AT_ONCE, count - first)
        if given is None:
            kinds = vms[np.argsort(random.random_sample((many, len(vms))), axis=1, kind="stable")]
        else:
            kinds = given[first : first + many]
        lacking = tables.tried(kinds)
        missing, lost = lacking.sum(axis=1), lacking @ tables.worth
        histogram.update(missing.tolist())
        by_kind += lacking.sum(axis=0)
        idle += float((tables.spare_gpus(kinds) + lost)[missing > 0].sum())
        if lost.size and (missing > 0).any() and float(lost.max()) > dearest:
            dearest, worst = float(lost.max()), tuple(kinds[int(lost.argmax())].tolist())
        if tick:
            tick(first + many)
    stuck = count - histogram[0]
    return Orders(
        count,
        histogram[0],
        tuple(sorted((n, often) for n, often in histogram.items() if often)),
        tuple((by_kind / max(1, count)).tolist()),
        idle / stuck if stuck else 0.0,
        worst,
    )


def chance_interval(started: int, orders: int) -> tuple[float, float]:
    """Within which bounds a chance lies of which so many tries are known.

    Parameters
    ----------
    started : int
        Orders in which every VM started. [-]
    orders : int
        Orders that were tried. [-]

    Returns
    -------
    chance_interval : tuple of float
        Lower and upper bound, 95 % confident. [-]

    Notes
    -----
    Wilson's interval: (p + z^2/2n -+ z sqrt(p (1 - p)/n + z^2/4n^2)) / (1 + z^2/n), z = 1.96.

    Examples
    --------
    >>> [round(bound, 4) for bound in chance_interval(97, 100)]
    [0.9155, 0.9897]

    References
    ----------
    .. [1] gpuplan-method
    """
    share, square = started / orders, Z_95**2
    middle = share + square / (2 * orders)
    half = Z_95 * math.sqrt(share * (1 - share) / orders + square / (4 * orders**2))
    scale = 1 + square / orders
    return min(share, max(0.0, (middle - half) / scale)), max(share, min(1.0, (middle + half) / scale))


class _Tables:
    """The rules as arrays, and a step of many orders."""

    def __init__(self, requests: Sequence[Request], rooms: Sequence[Room], rules: Rules) -> None:
        self.requests, self.rules, self.gpus = tuple(requests), rules, Gpus(requests, rules)
        fits = self.gpus.fits
        self.rooms = [fits.counted(room) for room in rooms]
        self.widest = max((room.gpus for room in rooms), default=0)
        self.shares = np.array([r.shares if r.family else 0 for r in requests])
        self.whole = np.array([0 if r.family else r.gpus for r in requests])
        self.vcpus = np.array([r.vcpus for r in requests])
        self.memory = np.array([r.memory_gib for r in requests])
        self.worth = np.array([float(worth) for worth in fits.worth])
        self.sign = np.array([-1 if fullest else 1 for fullest in self.gpus.fullest])
        self.offered_vcpus = np.array([room.vcpus for room in self.rooms], dtype=float)
        self.offered_memory = np.array([room.memory_gib for room in self.rooms], dtype=float)
        self.bits = 1 << np.arange(self.widest, dtype=np.int64)
        self._added = np.full((64, len(requests)), UNKNOWN, dtype=np.int32)
        self._rooms = np.full((64, len(requests)), UNKNOWN, dtype=np.int32)
        self._taken: dict[int, Any] = {}

    def spare_gpus(self, kinds: Any) -> Any:
        """GPUs' worth that would be idle if every VM of an order ran."""
        return sum(room.gpus for room in self.rooms) - self.worth[kinds].sum(axis=1)

    # ---- tables that grow with what is met

    def _looked_up(self, table: Any, find: Callable[[int, int], int], states: Any, kinds: Any) -> Any:
        """Entries of a table of states x kinds, those that are not known yet worked out."""
        found = table[states, kinds]
        if found.size and found.min() == UNKNOWN:
            at = found == UNKNOWN
            states, kinds = np.broadcast_arrays(states, kinds)
            for state, kind in set(zip(states[at].tolist(), kinds[at].tolist(), strict=True)):
                table[state, kind] = find(state, kind)
            found = table[states, kinds]
        return found

    def _grown(self) -> None:
        """Tables with a row for each number that GPUs have now."""
        if (rows := len(self.gpus.contents)) > len(self._added):
            more = np.full(
                (max(rows, 2 * len(self._added)) - len(self._added), len(self.requests)), UNKNOWN, np.int32
            )
            self._added, self._rooms = (np.concatenate([table, more]) for table in (self._added, self._rooms))

    def added(self, states: Any, kinds: Any) -> Any:
        """What is on GPUs after one more share."""
        self._grown()
        return self._looked_up(self._added, self.gpus.added, states, kinds)

    def room(self, states: Any, kinds: Any) -> Any:
        """How many more shares of a kind GPUs take."""
        self._grown()
        return self._looked_up(self._rooms, self.gpus.room, states, kinds)

    def whole_gpus(self, free: Any, count: int) -> Any:
        """The GPUs that VMs with so many whole ones take, a bit each; 0 where there are too few."""
        if count not in self._taken:
            self._taken[count] = np.full(1 << self.widest, UNKNOWN, dtype=np.int64)
        table = self._taken[count]
        found = table[free]
        if found.size and found.min() == UNKNOWN:
            for mask in set(free[found == UNKNOWN].tolist()):
                table[mask] = whole_gpus(mask, count, self.widest, self.rules.domain, self.rules.partitions)
            found = table[free]
        return found

    # ---- orders

    def tried(self, kinds: Any) -> Any:
        """Of each order how many VMs of each kind do not start."""
        orders, hosts = len(kinds), len(self.rooms)
        self.rows = np.arange(orders)
        self.state = np.full((orders, hosts, self.widest), NEUTRAL, dtype=np.int32)
        for host, room in enumerate(self.rooms):
            self.state[:, host, room.gpus :] = WHOLE  # GPUs that a smaller host does not have
        self.used_vcpus, self.used_memory = (np.zeros((orders, hosts), dtype=np.int64) for _ in range(2))
        self.vms, self.taken = (np.zeros((orders, hosts), dtype=np.int64) for _ in range(2))
        self.last = np.full(orders, -1)
        first = np.zeros(orders, dtype=np.int64)
        able = [self._able(first[:1], np.array([host])) for host in range(hosts)]
        self.able = np.repeat(
            np.stack(able, axis=1) if able else np.zeros((1, 0, len(self.requests)), bool), orders, axis=0
        )
        lacking = np.zeros((orders, len(self.requests)), dtype=np.int64)
        for step in range(kinds.shape[1]):
            now = kinds[:, step]
            host, starts = self._hosts(now)
            np.add.at(lacking, (self.rows[~starts], now[~starts]), 1)
            if starts.any():
                self._start(self.rows[starts], now[starts], host[starts])
        return lacking

    def _hosts(self, kinds: Any) -> tuple[Any, Any]:
        """Which host each order gives its VM to, and whether there is one."""
        able = self.able[self.rows, :, kinds]
        if self.rules.consolidate:
            held = np.where(able, self.taken, -1)
            able = able & (
                (self.whole[kinds] == 0)[:, None] | (held == held.max(axis=1, initial=-1)[:, None])
            )
        if self.rules.host == "turn":
            used = (np.arange(len(self.rooms)) - self.last[:, None] - 1) % max(1, len(self.rooms))
        else:
            used = self._used_share()
        starts = able.any(axis=1)
        if not starts.any():
            return np.zeros(len(kinds), dtype=np.int64), starts
        return np.where(able, used, np.inf).argmin(axis=1), starts

    def _used_share(self) -> Any:
        """What is used of each host, as in ``Cluster``."""
        by_vcpus, by_memory = self.offered_vcpus, self.offered_memory
        if not by_vcpus.any() and not by_memory.any():
            return self.vms
        vcpus = np.divide(self.used_vcpus, by_vcpus, out=np.zeros(self.vms.shape), where=by_vcpus > 0)
        memory = np.divide(self.used_memory, by_memory, out=np.zeros(self.vms.shape), where=by_memory > 0)
        return np.where((by_vcpus > 0) | (by_memory > 0), np.maximum(vcpus, memory), self.vms)

    def _start(self, rows: Any, kinds: Any, hosts: Any) -> None:
        """The VM of each of these orders on its host."""
        states = self.state[rows, hosts]
        for share in range(int(self.shares[kinds].max(initial=0))):
            at = np.flatnonzero(self.shares[kinds] > share)
            here, kind = states[at], kinds[at, None]
            after = self.added(here, kind)
            used = np.array(self.gpus.used)[here] * self.sign[kind]
            gpu = np.where(after >= 0, used, np.iinfo(np.int64).max).argmin(axis=1)
            states[at, gpu] = after[np.arange(len(at)), gpu]
        for count in set(self.whole[kinds].tolist()) - {0}:
            at = np.flatnonzero(self.whole[kinds] == count)
            taken = self.whole_gpus((states[at] == NEUTRAL) @ self.bits, count)[:, None] & self.bits > 0
            states[at] = np.where(taken, WHOLE, states[at])
            self.taken[rows[at], hosts[at]] += taken.sum(axis=1)
        self.state[rows, hosts] = states
        self.used_vcpus[rows, hosts] += self.vcpus[kinds]
        self.used_memory[rows, hosts] += self.memory[kinds]
        self.vms[rows, hosts] += 1
        self.last[rows] = hosts
        self.able[rows, hosts] = self._able(rows, hosts)

    def _able(self, rows: Any, hosts: Any) -> Any:
        """Which kinds the host of each order can take."""
        states, every = self.state[rows, hosts], np.arange(len(self.requests))
        room = self.room(states[:, :, None], every[None, None, :]).sum(axis=1)
        able = (self.shares > 0) & (room >= self.shares) | (self.shares == 0) & (self.whole == 0)
        free = (states == NEUTRAL) @ self.bits
        for kind in np.flatnonzero(self.whole).tolist():
            able[:, kind] = self.whole_gpus(free, int(self.whole[kind])) > 0
        for offered, used, needed in (
            (self.offered_vcpus, self.used_vcpus, self.vcpus),
            (self.offered_memory, self.used_memory, self.memory),
        ):
            left = (offered[hosts] - used[rows, hosts])[:, None]
            able &= (needed <= left) | (offered[hosts] == 0)[:, None]
        return able
