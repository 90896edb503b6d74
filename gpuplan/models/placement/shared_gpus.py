"""Shared GPUs of one host: the fewest that VMs of several kinds take on it, and the VMs on each.

Shares of one VM may be on one GPU or on several of its host, so only the number of shares of each size counts. All
fullest ways to divide 1, 2, ... GPUs of a family are listed; shares fit on that number if one way covers them.
"""

import math
import operator
from collections import Counter, defaultdict, deque
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from gpuplan.models.placement import packing, programme
from gpuplan.models.placement.fit import Rules
from gpuplan.models.placement.requests import Content, Part

MOST_WAYS = 40_000
"""Limit on ways to divide the GPUs of a host among shares, times the ways to divide one GPU."""
AT_ONCE = 2_000_000
"""Comparisons of a mix of shares with a way to divide GPUs in one step."""
MOST_LOOKED = 150_000
"""Limit for larger cases on the possible rests of a mix of shares beside a GPU, over all mixes computed one by one."""


class SharedGpus:
    """Shares of each family on the GPUs of one host.

    >>> from gpuplan.models.placement.requests import Family, Request
    >>> mig = Family("mig", ("3g", "1g"), ((2, 0), (1, 3), (0, 7)))
    >>> shared = SharedGpus(Rules([Request("a", 9, family=mig, profile="3g"), Request("b", 9, family=mig, profile="1g")]))
    >>> shared.fewest(0, [[3, 0], [1, 3], [1, 4]], most=4).tolist()
    [2, 1, 2]
    """

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self.units = [
            sorted({unit for of, unit in zip(rules.family_of, rules.units, strict=True) if of == f})
            for f in range(len(rules.families))
        ]
        """Requested sizes of share of each family: numbers of profiles, or memory."""
        self._on_one: dict[int, tuple[tuple[int, ...], ...] | None] = {}
        self._holds: dict[int, _Holds] = {}

    def on_one(self, family: int) -> tuple[tuple[int, ...], ...] | None:
        """The fullest ways to divide one GPU, as shares of each unit; None if there are too many."""
        if family not in self._on_one:
            capacity, units = self.rules.families[family].capacity, self.units[family]
            if capacity:
                largest_first = units[::-1]
                patterns = programme._maximal_patterns(
                    largest_first, counts=[capacity // unit for unit in largest_first], capacity=capacity
                )
                many = patterns is None or len(patterns) > MOST_WAYS
                ways = None if many else tuple(way[::-1] for way in patterns or ())
            else:
                ways = tuple(_maximal([tuple(one[u] for u in units) for one in self.rules.layouts[family]]))
            self._on_one[family] = ways
        return self._on_one[family]

    def ways(self, family: int, gpus: int) -> Any:
        """The fullest ways to divide so many GPUs, a row each; None if there are too many."""
        one = self.on_one(family)
        return None if one is None else _ways(one, gpus)

    def fewest(self, family: int, amounts: Any, *, most: int) -> Any:
        """The fewest GPUs for each row of shares by unit, more than ``most`` if they do not fit; None if that is not known."""
        amounts = np.asarray(amounts)
        if self.ways(family, most) is None:
            return self._fewest_by_mix(family, amounts, most)
        fewest, left = np.full(len(amounts), most + 1), np.arange(len(amounts))
        for gpus in range(most, -1, -1):
            ways, step = self.ways(family, gpus), 1 + AT_ONCE // len(self.ways(family, gpus))
            fits = [
                (amounts[left[at : at + step], None] <= ways).all(axis=2).any(axis=1)
                for at in range(0, len(left), step)
            ]
            left = left[np.concatenate(fits)] if fits else left
            fewest[left] = gpus
        return fewest

    def _fewest_by_mix(self, family: int, amounts: Any, most: int) -> Any:
        """The same with each mix worked out by itself."""
        one = self.on_one(family)
        if one is None:
            return None
        holds = self._holds.setdefault(family, _Holds(one))
        fewest = []
        for mix in amounts.tolist():
            fewest.append(holds.fewest(tuple(mix), most))
            if holds.looked > MOST_LOOKED:
                return None
        return np.array(fewest)

    def packed(self, family: int, amounts: Mapping[int, int], *, search: bool = True) -> packing.Packing:
        """The fewest GPUs of a family for so many shares of each profile, or of each amount of memory."""
        capacity = self.rules.families[family].capacity
        if capacity:
            return packing.pack(amounts, capacity=capacity, search=search)
        needed = [amounts.get(p, 0) for p in range(len(self.rules.profiles[family]))]
        return packing.cover(needed, layouts=self.rules.layouts[family])

    def needs(self, family: int, packed: packing.Packing) -> Iterator[tuple[Counter[int], int]]:
        """(shares of each profile, or of each amount of memory, on a GPU; how many such GPUs)."""
        for pattern, often in packed.patterns:
            if self.rules.families[family].capacity:
                yield Counter(pattern), often
            else:
                yield Counter({unit: amount for unit, amount in enumerate(pattern) if amount}), often

    def content(self, vms: Mapping[int, int]) -> Content:
        """A host with so many VMs of each kind, each family on its fewest GPUs."""
        rules, content = self.rules, list[Part]()
        shares: dict[int, dict[int, deque[tuple[int, int]]]] = defaultdict(lambda: defaultdict(deque))
        for k, n in vms.items():
            for vm in range(n):
                if rules.family_of[k] < 0:
                    content.append(Part(-1, ((k, vm),)))
                else:
                    shares[rules.family_of[k]][rules.units[k]] += [(k, vm)] * rules.requests[k].shares
        for f, queues in sorted(shares.items()):
            packed = self.packed(f, {unit: len(queue) for unit, queue in queues.items()})
            for needs, often in self.needs(f, packed):
                for _ in range(often):
                    slots = [queues[unit].popleft() for unit, n in needs.items() for _ in range(n)]
                    content.append(Part(f, tuple(slots)))
        return tuple(content)


class _Holds:
    """Test whether a number of GPUs can take a mix of shares, from the ways to divide one of them."""

    def __init__(self, one: Sequence[tuple[int, ...]]) -> None:
        units = range(len(one[0]))
        self.by_unit = [[way for way in one if way[unit]] for unit in units]
        self.most = [max(way[unit] for way in one) for unit in units]
        whole = math.lcm(*self.most)
        self.sizes = [whole // most for most in self.most]
        """Size of a share of each unit, as if its GPU were full of equal ones."""
        self.fullest = max(self._size(way) for way in one)
        self.known: dict[tuple[tuple[int, ...], int], bool] = {}
        self.looked = 0

    def _size(self, mix: Sequence[int]) -> int:
        return sum(map(operator.mul, mix, self.sizes))

    def fewest(self, mix: tuple[int, ...], most: int) -> int:
        """Return the fewest GPUs for a mix; ``most`` + 1 for more, or if the search is too large."""
        least = -(-self._size(mix) // self.fullest)
        return next((gpus for gpus in range(least, most + 1) if self._hold(mix, gpus)), most + 1)

    def _hold(self, mix: tuple[int, ...], gpus: int) -> bool:
        if not any(mix):
            return True
        if self._size(mix) > gpus * self.fullest or self.looked > MOST_LOOKED:
            return False
        if (mix, gpus) not in self.known:
            scarcest = min((u for u, n in enumerate(mix) if n), key=lambda u: self.most[u])
            self.looked += len(self.by_unit[scarcest])
            rests = (
                tuple(max(0, n - taken) for n, taken in zip(mix, way, strict=True))
                for way in self.by_unit[scarcest]
            )
            self.known[mix, gpus] = any(self._hold(rest, gpus - 1) for rest in rests)
        return self.known[mix, gpus]


@lru_cache(maxsize=128)
def _ways(one: tuple[tuple[int, ...], ...], gpus: int) -> Any:
    """Return ways to divide this number of GPUs, from the ways to divide one."""
    if gpus == 0:
        return np.zeros((1, len(one[0])), dtype=np.int32)
    fewer = _ways(one, gpus - 1)
    if fewer is None or len(fewer) * len(one) > MOST_WAYS:
        return None
    more = np.unique((fewer[:, None] + np.array(one, dtype=np.int32)).reshape(-1, len(one[0])), axis=0)
    return np.array(_maximal([tuple(way) for way in more.tolist()]), dtype=np.int32)


def _maximal(patterns: Sequence[tuple[int, ...]]) -> list[tuple[int, ...]]:
    """Those patterns that are not part of another one.

    Largest first. A pattern that holds another comes before it in descending order, so each is compared with those that
    were kept. [gpuplan-method]_
    """
    exact = np.array(sorted(set(patterns), reverse=True), dtype=float)
    if not (np.isfinite(exact) & (exact >= 0) & (exact == np.rint(exact))).all():
        raise ValueError("patterns must be whole numbers, at least 0")
    every = exact.astype(np.int32)
    kept: list[int] = []
    for at, row in enumerate(every):
        if not (every[kept] >= row).all(axis=1).any():
            kept.append(at)
    return [tuple(map(int, every[at])) for at in kept]
