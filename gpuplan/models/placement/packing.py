"""Packing: the fewest equal bins that hold everything, with proof.

Pure integers, no GPUs and no hosts: ``pack`` fills bins of one capacity with sizes, ``cover`` chooses
among given layouts. Both look for a good answer and for a bound, and say which argument closes the gap.
[martello-toth-1990]_
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from operator import attrgetter
from typing import NamedTuple

import numpy as np

from gpuplan.models.placement import programme
from gpuplan.models.placement.programme import (
    Amounts,
    _maximal_patterns,
    _most_valuable,
    _relaxed_programme,
    whole_programme,
)
from gpuplan.units import each, whole_from_zero

FIRST_COLUMNS = 400
"""Columns of a programme that are tried first, where there are more."""
GENERATION_STEPS = 1.5e9
"""Steps of the knapsacks by which patterns are generated."""
GENERATED_NODES = 20
PRICE_UNIT = 2**32
"""Prices of the relaxed programme are rounded down to whole multiples of 1 / PRICE_UNIT."""
BY_COUNT = attrgetter("count")


class Bins(dict[Amounts, int]):
    """Bins by content, as amounts of each size: number of uses of each pattern."""

    @property
    def count(self) -> int:
        """Bins in all."""
        return sum(self.values())

    def take(self, left: list[int], column: Amounts, times: int) -> None:
        """Use a column so many times, cut down to what is left; stop when nothing of it is needed."""
        while times > 0:
            taken = tuple(min(a, n) for a, n in zip(column, left, strict=True))
            if not any(taken):
                return
            often = min(times, *(n // a for a, n in zip(taken, left, strict=True) if a))
            self[taken] = self.get(taken, 0) + often
            for i, a in enumerate(taken):
                left[i] -= a * often
            times -= often

    @classmethod
    def first_fit(cls, sizes: Sequence[int], counts: Sequence[int], capacity: int) -> Bins:
        """Bins filled one after the other, the largest size that fits first; equal bins taken at once."""
        uses, left = cls(), list(counts)
        while any(left):
            room = capacity
            taken = []
            for size, count in zip(sizes, left, strict=True):
                fit = min(count, room // size)
                taken.append(fit)
                room -= fit * size
            uses.take(left, tuple(taken), min(n // a for n, a in zip(left, taken, strict=True) if a))
        return uses

    @classmethod
    def filled(
        cls,
        columns: Sequence[Amounts],
        needed: Amounts,
        times: Iterable[int],
        rest: Callable[[Sequence[int]], Bins],
    ) -> Bins:
        """Bins filled by columns, each so many times; what the columns leave is filled by ``rest``."""
        left, uses = list(needed), cls()
        for column, often in zip(columns, times, strict=True):
            uses.take(left, column, often)
        for column, often in rest(left).items():
            uses[column] = uses.get(column, 0) + often
        return cls(sorted(uses.items(), reverse=True))

    @classmethod
    def cheapest(
        cls, columns: Sequence[Amounts], needed: Amounts, rest: Callable[[Sequence[int]], Bins]
    ) -> tuple[Bins, int]:
        """Bins over all columns and a proven bound; ``rest`` fills what whole columns leave over."""
        times, duals = _relaxed_programme(columns, needed, costs=[1] * len(columns))
        prices = _whole(duals)
        worth = np.array(columns, dtype=np.int64) @ np.array(prices, dtype=np.int64)
        dearest = int(worth.max())
        bound = _price_bound(prices, needed, dearest)
        rounded = cls.filled(columns, needed, [int(t + 1e-6) for t in times], rest)
        if rounded.count == bound:
            return rounded, bound
        # first with the columns of the relaxed programme and those that are worth most, then with all that a choice with fewer bins can have
        order = np.lexsort((-worth, np.array(times) <= 0))
        best = rounded
        if len(columns) > FIRST_COLUMNS:
            here = [columns[i] for i in order[:FIRST_COLUMNS]]
            chosen, _ = whole_programme(here, needed, costs=[1] * len(here))
            if chosen is not None:
                best = min(best, cls.filled(here, needed, chosen, rest), key=BY_COUNT)
        if best.count == bound:
            return best, bound
        spare = dearest * (best.count - 1) - sum(p * n for p, n in zip(prices, needed, strict=True))
        here = [columns[i] for i in order if dearest - int(worth[i]) <= spare]
        chosen, proven = whole_programme(here, needed, costs=[1] * len(here))
        if chosen is not None:
            best = min(best, cls.filled(here, needed, chosen, rest), key=BY_COUNT)
        return best, max(bound, min(proven or 0, best.count))

    @classmethod
    def generated(
        cls, sizes: Amounts, needed: Amounts, capacity: int, known: int, first_fit: Bins
    ) -> tuple[Bins, int]:
        """Bins over patterns that are generated where the relaxed programme asks for them, and a bound."""
        unit = math.gcd(*sizes)
        sizes, capacity = tuple(s // unit for s in sizes), capacity // unit

        def rest(left: Sequence[int]) -> Bins:
            return cls.first_fit(sizes, left, capacity)

        best, columns = first_fit, list(first_fit)
        lots = sum(min(n, capacity // s).bit_length() for n, s in zip(needed, sizes, strict=True))
        most = len(columns) + max(10, int(GENERATION_STEPS / (lots * capacity)))
        bound = known
        while best.count > bound:
            times, duals = _relaxed_programme(columns, needed, costs=[1] * len(columns))
            prices = _whole(duals)
            dearest, column = _most_valuable(prices, sizes, needed=needed, capacity=capacity)
            bound = max(bound, _price_bound(prices, needed, dearest))
            done = column in columns or bound >= math.ceil(sum(times) - 1e-6)
            if done or len(columns) >= most:
                rounded = cls.filled(columns, needed, [int(t + 1e-6) for t in times], rest)
                best = min(best, rounded, key=BY_COUNT)
                break
            columns.append(column)
        if best.count > bound:
            chosen, _ = whole_programme(columns, needed, costs=[1] * len(columns), nodes=GENERATED_NODES)
            if chosen is not None:
                best = min(best, cls.filled(columns, needed, chosen, rest), key=BY_COUNT)
        return best, bound


def _whole(prices: Iterable[float]) -> list[int]:
    return [int(price * PRICE_UNIT) for price in prices]


def _price_bound(prices: Sequence[int], needed: Sequence[int], dearest: int) -> int:
    """Bins needed if no bin is worth more than the dearest, whatever the prices are."""
    return -(-sum(p * n for p, n in zip(prices, needed, strict=True)) // dearest) if dearest else 0


Counts = tuple[tuple[int, int], ...]
"""(size, how many) pairs, largest size first."""

Patterns = tuple[tuple[tuple[int, ...], int], ...]
"""(content of one bin, number of such bins) pairs."""


class Packing(NamedTuple):
    """Bins filled with sizes: each pattern with how often it is used, and the proof."""

    patterns: Patterns
    bins: int
    bound: int
    """No packing has fewer bins."""
    method: str
    """Argument that proves the bound: ``volume``, ``large``, ``programme``; ``heuristic`` if there is a gap."""


def pack(sizes: Mapping[int, int], *, capacity: int, search: bool = True) -> Packing:
    """The fewest equal bins that hold all sizes, with proof.

    Parameters:
        sizes (mapping of int to int): How many there are of each size. [-]
        capacity: Capacity of each bin, in the unit of the sizes. [-]
        search: Whether to go on where first-fit decreasing leaves a gap to the bound. [-]

    First-fit decreasing; if it meets the volume bound ceil(sum / capacity) or the Martello-Toth
    bound L2 it is optimal. Otherwise the programme over all maximal patterns (Gilmore-Gomory) is
    solved by HiGHS: relaxed and rounded, and if that leaves a gap, in whole numbers (a limited search). With
    more than 20000 patterns they are generated one by one, each the best for the prices that the
    relaxed programme puts on the sizes, found by an exact knapsack (until 1.5e9 steps of it, then 20 nodes of the
    search for whole numbers of what was generated); the answer is the best of that and first fit. Prices are
    whole numbers, and by duality sum(price * count) / (most that one bin is worth) is a bound
    whichever they are (Farley), so the bound also holds when generation stops early. Where a
    gap is left the answer is labelled ``heuristic``. [martello-toth-1990]_ [gilmore-gomory-1961]_

    >>> pack({3: 8}, capacity=4).bins
    8
    >>> pack({4: 3, 1: 16}, capacity=4)[1:]
    (7, 7, 'volume')
    """
    return _pack(_counts_of(sizes, capacity), capacity, search)


def _bins_bound(sizes: Mapping[int, int], *, capacity: int) -> int:
    """A number of equal bins below which no packing of the sizes can go, without a search.

    The larger of the volume bound and the Martello-Toth bound L2: ceil(sum / capacity), and for every threshold: sizes
    too large to share a bin need bins of their own, and the small ones what room those leave.
    """
    counts = _counts_of(sizes, capacity)
    return max(-(-sum(s * n for s, n in counts) // capacity), _martello_toth(counts, capacity))


def _bins_enough(sizes: Mapping[int, int], *, capacity: int) -> int:
    """A number of equal bins in which the sizes surely fit, without a search.

    First-fit decreasing. Together with ``_bins_bound`` it answers most questions of whether sizes fit in so many bins.
    """
    counts = _counts_of(sizes, capacity)
    return Bins.first_fit([s for s, _ in counts], [n for _, n in counts], capacity).count


def cover(needed: Sequence[int], *, layouts: Sequence[Sequence[int]]) -> Packing:
    """The fewest GPUs on which the needed shares of each profile fit, with proof.

    Parameters:
        needed (sequence of int): How many shares of each profile are needed. [-]
        layouts (sequence of sequences of int): For each layout of a GPU how many shares of each profile are on it; any fewer
            fit too. [-]

    Patterns (shares of each profile on one GPU) with their multiplicity, which add up to what is needed. One profile:
    ceil(needed / most on one GPU). Otherwise a greedy choice of layouts; if it meets the volume bound (each share
    counted as 1 / most on one GPU, divided by the most that a layout holds of that) it is optimal. Else the programme
    over the layouts is solved by HiGHS: relaxed and rounded, and if that leaves a gap, in whole numbers (a limited
    search; ``heuristic`` if the gap stays). Refused if no layout holds a profile that is needed. [gilmore-gomory-1961]_

    >>> mig = [(1, 0, 3), (2, 0, 0), (1, 1, 1), (0, 3, 1), (0, 0, 7)]  # some of 3g, 2g, 1g
    >>> cover([3, 2, 4], layouts=mig)[1:]
    (3, 3, 'programme')
    >>> cover([9], layouts=[(4,)]).bins
    3
    """
    each(whole_from_zero, needed=needed)
    kept = [i for i, n in enumerate(needed) if n > 0]
    cut = {tuple(min(layout[i], needed[i]) for i in kept) for layout in layouts}
    columns = tuple(sorted((c for c in cut if any(c)), reverse=True))
    amounts = tuple(needed[i] for i in kept)
    if any(not any(c[i] for c in columns) for i in range(len(kept))):
        raise ValueError(f"no layout holds every profile that is needed: {list(needed)}")
    each(whole_from_zero, layouts=columns)
    packing = _cover(amounts, columns)
    patterns = []
    for chosen, times in packing.patterns:
        full = [0] * len(needed)
        for i, amount in zip(kept, chosen, strict=True):
            full[i] = amount
        patterns.append((tuple(full), times))
    return packing._replace(patterns=tuple(patterns))


def _counts_of(sizes: Mapping[int, int], capacity: int) -> Counts:
    whole_from_zero(capacity=capacity)
    each(whole_from_zero, sizes=sizes)
    counts = {s: n for s, n in sorted(sizes.items(), reverse=True) if n > 0}
    if counts and (min(counts) < 1 or max(counts) > capacity):
        raise ValueError(f"sizes must be from 1 to the capacity {capacity}, not {sorted(counts)}")
    return tuple(counts.items())


@lru_cache(maxsize=256)
def _pack(counts: Counts, capacity: int, search: bool) -> Packing:
    sizes, needed = tuple(s for s, _ in counts), tuple(n for _, n in counts)
    uses = Bins.first_fit(sizes, needed, capacity)
    volume = -(-sum(s * n for s, n in counts) // capacity)
    bound, method = volume, "volume"
    if uses.count > bound:
        bound, method = max(volume, _martello_toth(counts, capacity)), "large"
    if uses.count > bound and not search:
        method = "heuristic"
    elif uses.count > bound:
        ways = _maximal_patterns(sizes, counts=needed, capacity=capacity)
        if ways is None:
            others, proven = Bins.generated(sizes, needed, capacity, bound, uses)
        else:
            others, proven = Bins.cheapest(ways, needed, lambda left: Bins.first_fit(sizes, left, capacity))
        bound = max(bound, proven)
        uses = min(others, uses, key=BY_COUNT)
        method = "programme" if uses.count == bound else "heuristic"
    patterns = tuple(
        (tuple(s for s, amount in zip(sizes, amounts, strict=True) for _ in range(amount)), times)
        for amounts, times in uses.items()
    )
    return Packing(patterns, uses.count, bound, method)


@lru_cache(maxsize=256)
def _cover(needed: Amounts, columns: tuple[Amounts, ...]) -> Packing:
    if not needed:
        return Packing((), 0, 0, "volume")
    most = [max(c[i] for c in columns) for i in range(len(needed))]
    unit = math.lcm(*most)
    values = [unit // m for m in most]
    fullest = max(sum(v * a for v, a in zip(values, c, strict=True)) for c in columns)
    bound = max(
        -(-sum(v * n for v, n in zip(values, needed, strict=True)) // fullest),
        *(-(-n // m) for n, m in zip(needed, most, strict=True)),
    )
    method = "volume"

    def greedy(left: Sequence[int]) -> Bins:
        return _most_valuable_first(columns, left, values)

    uses = greedy(needed)
    if uses.count > bound and len(columns) <= programme.MAX_PATTERNS:
        others, proven = Bins.cheapest(columns, needed, greedy)
        bound = max(bound, proven)
        uses = min(others, uses, key=BY_COUNT)
        method = "programme"
    ordered = tuple(sorted(uses.items(), reverse=True))
    return Packing(ordered, uses.count, bound, method if uses.count == bound else "heuristic")


def _most_valuable_first(columns: Sequence[Amounts], needed: Sequence[int], values: Sequence[int]) -> Bins:
    """Bins filled one after the other with the column of which most is still needed."""
    uses = Bins()
    left = list(needed)
    while any(left):

        def gain(column: Amounts) -> tuple[int, float]:
            taken = [min(a, n) for a, n in zip(column, left, strict=True)]
            worth = sum(v * t for v, t in zip(values, taken, strict=True))
            scarce = sum(v / max(1, n) * t for v, n, t in zip(values, left, taken, strict=True))
            return worth, -scarce

        uses.take(left, max(columns, key=gain), max(left))
    return uses


def _martello_toth(counts: Counts, capacity: int) -> int:
    """Return bound L2: sizes that exclude each other need bins of their own, small ones the remaining room."""
    best = 0
    for alpha in {0, *(s for s, _ in counts if 2 * s <= capacity)}:
        alone = sum(n for s, n in counts if s > capacity - alpha)
        half = [(s, n) for s, n in counts if s <= capacity - alpha and 2 * s > capacity]
        small = sum(s * n for s, n in counts if alpha <= s and 2 * s <= capacity)
        room = sum(n for _, n in half) * capacity - sum(s * n for s, n in half)
        best = max(best, alone + sum(n for _, n in half) + max(0, -(-(small - room) // capacity)))
    return best
