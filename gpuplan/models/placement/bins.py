"""Bins and their content: filled largest first, or by the columns of a programme, which are all known or generated."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from operator import attrgetter

import numpy as np

from gpuplan.models.placement.programme import Amounts, _most_valuable, _relaxed_programme, whole_programme

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
