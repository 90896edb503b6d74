"""Patterns: every way to fill one host, as numbers of VMs of each kind, where GPUs, CPU and memory count.

A pattern is *full* if no further VM fits. ``HostPatterns`` lists the full ones of a host if they are few enough, and
finds the most valuable one at given prices: from the list, or by a small programme.
"""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from gpuplan.models.placement import programme
from gpuplan.models.placement.host_fills import HostFills
from gpuplan.models.placement.requests import Content, Room, vms_in
from gpuplan.models.placement.shared_gpus import SharedGpus

MOST_COUNTS = 2_800_000
"""Limit on the numbers in all full and partial ways to fill a host when the full ones are listed."""
MOST_PATTERNS = 30_000
"""Full ways to fill a host that are listed."""
COLUMNS_AT_ONCE = 20
"""Patterns that are taken from the list at the same prices."""
MOST_PRICE = 2**20
"""Prices of a programme in whole numbers are no larger."""
MOST_DIVIDED = 400
"""Ways to divide a GPU that a programme chooses among; with more, as if it could be divided at will."""
GPU_UNIT = 2**16
"""Parts of such a GPU are rounded down to whole multiples of 1 / GPU_UNIT."""


class Dearest(NamedTuple):
    """Valuable patterns at some prices, the dearest first, and an upper bound on the worth of any."""

    patterns: list[tuple[int, ...]]
    most: int


class HostPatterns:
    """Ways to fill a host with VMs of some kinds, none more often than requested.

    >>> from gpuplan.models.placement.fit import Request, Rules
    >>> shared = SharedGpus(Rules([Request("a", 9, gpus=1, memory_gib=2), Request("b", 9, gpus=2, memory_gib=1)]))
    >>> HostPatterns(shared, (9, 9)).full(Room(4, 0, 6)).tolist()
    [[0, 2], [2, 1], [3, 0]]
    """

    def __init__(self, shared: SharedGpus, vms: Sequence[int], listed: dict[Room, Any] | None = None) -> None:
        self.shared, self.rules, self.vms = shared, shared.rules, tuple(vms)
        self.requests, self.family_of = self.rules.requests, self.rules.family_of
        self._full: dict[Room, Any] = {} if listed is None else listed
        self._fills = HostFills(self.rules)

    def most(self, room: Room) -> list[int]:
        """Most VMs of each kind that a host can have."""
        return [min(n, self.rules.most_on(room, kind)) for kind, n in enumerate(self.vms)]

    def full(self, room: Room) -> Any:
        """All full patterns of a host, a row each; None if there are too many."""
        if room not in self._full:
            self._full[room] = self._listed(room)
        return self._full[room]

    def _listed(self, room: Room) -> Any:
        rows, most = np.zeros((1, len(self.vms)), dtype=np.int32), self.most(room)
        for at in sorted(range(len(most)), key=lambda at: most[at]):
            layers = [rows]
            for _ in range(most[at]):
                more = self._one_more(layers[-1], at)
                fits = self._fit(more, room)
                if fits is None or sum(map(len, layers)) * len(most) > MOST_COUNTS:
                    return None
                layers.append(more[fits])
            rows = np.concatenate(layers)
        for at, limit in enumerate(most):
            fits = self._fit(self._one_more(rows, at), room)
            if fits is None:
                return None
            rows = rows[~fits | (rows[:, at] >= limit)]
        return rows if len(rows) <= MOST_PATTERNS else None

    def _one_more(self, rows: Any, at: int) -> Any:
        more = rows.copy()
        more[:, at] += 1
        return more

    def _fit(self, rows: Any, room: Room) -> Any:
        """Return which of these numbers of VMs fit on a host; None if that takes too much computing."""
        fits = np.ones(len(rows), dtype=bool)
        for needs, limit in self._beside_gpus(room):
            fits &= rows @ np.array(needs) <= limit
        gpus = rows @ np.array(
            [0 if f >= 0 else r.gpus for f, r in zip(self.family_of, self.requests, strict=True)]
        )
        fits &= gpus <= room.gpus
        for f in self._families():
            shares = rows @ self._shares(f)
            if shares.shape[1] == 1:
                taken = -(-shares[:, 0] // self.rules.per_gpu[self.rules.family_of.index(f)])
            else:
                different, which = np.unique(shares, axis=0, return_inverse=True)
                taken = self.shared.fewest(f, different, most=room.gpus)
                if taken is None:
                    return None
                taken = taken[which.reshape(-1)]
            gpus = gpus + taken
        return fits & (gpus <= room.gpus)

    def _beside_gpus(self, room: Room) -> Iterator[tuple[list[int], int]]:
        """Yield the vCPUs of a VM of each kind and those of the host, then the same of memory, where they count."""
        if room.vcpus:
            yield [request.vcpus for request in self.requests], room.vcpus
        if room.memory_gib:
            yield [request.memory_gib for request in self.requests], room.memory_gib

    def _families(self) -> list[int]:
        return sorted(set(self.family_of) - {-1})

    def _shares(self, f: int) -> Any:
        """Shares of each unit of a family in a VM of each kind."""
        units = self.shared.units[f]
        shares = np.zeros((len(self.vms), len(units)), dtype=np.int32)
        for kind, request in enumerate(self.requests):
            if self.family_of[kind] == f:
                shares[kind, units.index(self.rules.units[kind])] = request.shares
        return shares

    def likely(self, room: Room, prices: Sequence[float]) -> Iterator[tuple[int, ...]]:
        """Patterns that may be worth much at these prices, quickly, where there are too many to list."""
        if self.full(room) is None:
            for content in self._fills.by_orders(self._fills.priced(room, prices, self.most(room))):
                yield self.pattern(content)

    def dearest(self, room: Room, prices: Sequence[int]) -> Dearest:
        """Patterns that are worth most at these prices of a VM of each kind."""
        rows = self.full(room)
        if rows is None:
            return self.by_programme(room, prices)
        worth = rows.astype(np.int64) @ np.array(prices, dtype=np.int64)
        best = np.argsort(-worth, kind="stable")[:COLUMNS_AT_ONCE]
        return Dearest([tuple(row) for row in rows[best].tolist()], int(worth.max(initial=0)))

    def by_programme(self, room: Room, prices: Sequence[int]) -> Dearest:
        """The dearest pattern by a programme in whole numbers, where there are too many to list or few are asked for."""
        most = self.most(room)
        rows = list(self._programme_rows(room, most))
        width = max(len(row) for row, _ in rows)
        table = [(*row, *[0] * (width - len(row))) for row, _ in rows]
        unit = 1 + max(prices) // MOST_PRICE  # rounded up, so that what is proven holds
        chosen, least = programme.whole_programme(
            list(zip(*table, strict=True)),
            [limit for _, limit in rows],
            costs=[*(-price // unit for price in prices), *[0] * (width - len(prices))],
        )
        patterns = [] if chosen is None else [chosen[: len(self.vms)]]
        if least is None:  # no proof: then the sum of what the most of each kind is worth
            return Dearest(patterns, sum(p * n for p, n in zip(prices, most, strict=True)))
        return Dearest(patterns, -least * unit)

    def _programme_rows(self, room: Room, most: Sequence[int]) -> Iterator[tuple[tuple[int, ...], int]]:
        """Yield rows (contribution of each variable, lower limit): VMs of each kind, then GPUs divided in each way."""
        every = range(len(self.vms))
        for at in every:
            yield tuple(-int(at == other) for other in every), -most[at]
        for needs, limit in self._beside_gpus(room):
            yield tuple(-need for need in needs), -limit
        listed = {f: self.shared.on_one(f) for f in self._families()}
        divided = {f: ways for f, ways in listed.items() if ways is not None and len(ways) <= MOST_DIVIDED}
        unit = 1 if len(divided) == len(listed) else GPU_UNIT
        gpus = [
            -int((0 if f in divided else worth) * unit)
            for f, worth in zip(self.family_of, self.rules.worth, strict=True)
        ]
        for f, ways in divided.items():
            for at, needs in enumerate((-self._shares(f)).T.tolist()):
                others = [0] * (len(gpus) - len(needs))
                yield (*needs, *others, *(way[at] for way in ways)), 0
            gpus += [-unit] * len(ways)
        yield tuple(gpus), -unit * room.gpus

    def content(self, room: Room, pattern: Sequence[int]) -> Content:
        """A host with the VMs of a pattern; of one that was found as if GPUs could be divided at will, as many as fit."""
        vms = {kind: n for kind, n in enumerate(pattern) if n}
        content = self.shared.content(vms)
        if self.rules.state(room, content)[0] >= 0:
            return content
        return self.rules.filled(room, {k: vms[k] for k in self.rules.largest_first if k in vms})

    def pattern(self, content: Content) -> tuple[int, ...]:
        """Count the VMs of each kind on a host."""
        counts = vms_in(content)
        return tuple(counts[kind] for kind in range(len(self.vms)))
