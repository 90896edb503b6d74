"""Packing: the fewest equal bins that hold everything, with proof.

Pure integers, no GPUs and no hosts: ``pack`` fills bins of one capacity with sizes, ``cover`` chooses
among given layouts. Both look for a good answer and for a bound, and say which argument closes the gap.
[martello-toth-1990]_

Parameters:
    sizes (mapping of int to int): How many there are of each size. [-]
    capacity: Capacity of each bin, in the unit of the sizes. [-]
"""

import math
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from gpuplan.models.placement import programme
from gpuplan.models.placement.bins import BY_COUNT, Bins
from gpuplan.models.placement.programme import Amounts, _maximal_patterns
from gpuplan.units import each, whole_from_zero

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
