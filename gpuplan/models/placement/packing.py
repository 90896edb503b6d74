"""Packing: the fewest equal bins that hold everything, with proof.

Pure integers, no GPUs and no hosts: ``pack`` fills bins of one capacity with sizes, ``cover`` chooses
among given layouts. Both look for a good answer and for a bound, and say which argument closes the gap.

Parameters
----------
sizes : mapping of int to int
    How many there are of each size. [-]
capacity : int
    Capacity of each bin, in the unit of the sizes. [-]
columns : sequence of sequences of int
    What one of each column adds to every row. [-]
needed : sequence of int
    Least sum of each row. [-]
costs : sequence of int
    Cost of each column, whole numbers. [-]

References
----------
.. [1] gilmore-gomory-1961
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

MAX_PATTERNS = 20_000
MAX_SIZES = 200
SOLVER_NODES = 200_000
"""Nodes times columns of the search of a solver in whole numbers; no time, so that an answer can be had again."""
SOLVER_SECONDS = 30.0
"""The last guard against a search that does not end."""
FIRST_COLUMNS = 400
"""Columns of a programme that are tried first, where there are more."""
GENERATION_STEPS = 1.5e9
"""Steps of the knapsacks by which patterns are generated."""
GENERATED_NODES = 20
PRICE_UNIT = 2**32
"""Prices of the relaxed programme are rounded down to whole multiples of 1 / PRICE_UNIT."""

Counts = tuple[tuple[int, int], ...]
"""(size, how many) pairs, largest size first."""

Amounts = tuple[int, ...]
"""How many of each size or profile are in one bin."""

Uses = dict[Amounts, int]
"""How often each pattern is used."""

Patterns = tuple[tuple[tuple[int, ...], int], ...]
"""(what is in one bin, how many such bins) pairs."""


class Packing(NamedTuple):
    """Bins filled with sizes: each pattern with how often it is used, and the proof."""

    patterns: Patterns
    bins: int
    bound: int
    """No packing has fewer bins."""
    method: str
    """What proves the bound: ``volume``, ``large``, ``programme``; ``heuristic`` if there is a gap."""


def pack(sizes: Mapping[int, int], *, capacity: int, search: bool = True) -> Packing:
    """The fewest equal bins that hold all sizes, with proof.

    Parameters
    ----------
    search : bool
        Whether to go on where first-fit decreasing leaves a gap to the bound. [-]

    Notes
    -----
    First-fit decreasing; if it meets the volume bound ceil(sum / capacity) or the Martello-Toth
    bound L2 it is optimal. Otherwise the programme over all maximal patterns (Gilmore-Gomory) is
    solved by HiGHS: relaxed and rounded, and if that leaves a gap, in whole numbers (a limited search). With
    more than 20000 patterns they are generated one by one, each the best for the prices that the
    relaxed programme puts on the sizes, found by an exact knapsack (until 1.5e9 steps of it, then 20 nodes of the
    search for whole numbers of what was generated); the answer is the best of that and first fit. Prices are
    whole numbers, and by duality sum(price * count) / (most that one bin is worth) is a bound
    whichever they are (Farley), so the bound also holds when generation stops early. Where a
    gap is left the answer is labelled ``heuristic``.

    Examples
    --------
    >>> pack({3: 8}, capacity=4).bins
    8
    >>> pack({4: 3, 1: 16}, capacity=4)[1:]
    (7, 7, 'volume')

    References
    ----------
    .. [1] martello-toth-1990
    .. [2] gilmore-gomory-1961
    """
    return _pack(_counts_of(sizes, capacity), capacity, search)


def bins_bound(sizes: Mapping[int, int], *, capacity: int) -> int:
    """A number of equal bins below which no packing of the sizes can go, without a search.

    Returns
    -------
    bins_bound : int
        The larger of the volume bound and the Martello-Toth bound L2. [-]

    Notes
    -----
    ceil(sum / capacity), and for every threshold: sizes too large to share a bin need bins of their
    own, and the small ones what room those leave.

    Examples
    --------
    >>> bins_bound({3: 8}, capacity=4)
    8

    References
    ----------
    .. [1] martello-toth-1990
    """
    counts = _counts_of(sizes, capacity)
    return max(-(-sum(s * n for s, n in counts) // capacity), _martello_toth(counts, capacity))


def bins_enough(sizes: Mapping[int, int], *, capacity: int) -> int:
    """A number of equal bins in which the sizes surely fit, without a search.

    Returns
    -------
    bins_enough : int
        Bins that first-fit decreasing takes. [-]

    Notes
    -----
    Together with ``bins_bound`` it answers most questions of whether sizes fit in so many bins.

    Examples
    --------
    >>> bins_enough({3: 8}, capacity=4)
    8

    References
    ----------
    .. [1] martello-toth-1990
    """
    counts = _counts_of(sizes, capacity)
    return _bins(_first_fit_decreasing([s for s, _ in counts], [n for _, n in counts], capacity))


def cover(needed: Sequence[int], *, layouts: Sequence[Sequence[int]]) -> Packing:
    """The fewest GPUs on which the needed shares of each profile fit, with proof.

    Parameters
    ----------
    needed : sequence of int
        How many shares of each profile are needed. [-]
    layouts : sequence of sequences of int
        For each layout of a GPU how many shares of each profile are on it; any fewer fit too. [-]

    Returns
    -------
    cover : Packing
        Patterns (shares of each profile on one GPU) with their multiplicity, number of GPUs, lower bound
        and method of proof; the patterns add up to what is needed. [-]

    Notes
    -----
    One profile: ceil(needed / most on one GPU). Otherwise a greedy choice of layouts; if it meets the
    volume bound (each share counted as 1 / most on one GPU, divided by the most that a layout holds
    of that) it is optimal. Else the programme over the layouts is solved by HiGHS: relaxed and rounded,
    and if that leaves a gap, in whole numbers (a limited search; ``heuristic`` if the gap stays).

    Raises
    ------
    ValueError
        If no layout holds a profile that is needed.

    Examples
    --------
    >>> mig = [(1, 0, 3), (2, 0, 0), (1, 1, 1), (0, 3, 1), (0, 0, 7)]  # some of 3g, 2g, 1g
    >>> cover([3, 2, 4], layouts=mig)[1:]
    (3, 3, 'programme')
    >>> cover([9], layouts=[(4,)]).bins
    3
    """
    kept = [i for i, n in enumerate(needed) if n > 0]
    cut = {tuple(min(layout[i], needed[i]) for i in kept) for layout in layouts}
    columns = tuple(sorted((c for c in cut if any(c)), reverse=True))
    amounts = tuple(needed[i] for i in kept)
    if any(not any(c[i] for c in columns) for i in range(len(kept))):
        raise ValueError(f"no layout holds every profile that is needed: {list(needed)}")
    found = _cover(amounts, columns)
    patterns = []
    for chosen, times in found.patterns:
        full = [0] * len(needed)
        for i, amount in zip(kept, chosen, strict=True):
            full[i] = amount
        patterns.append((tuple(full), times))
    return found._replace(patterns=tuple(patterns))


def maximal_patterns(
    sizes: Sequence[int], *, counts: Sequence[int], capacity: int
) -> list[tuple[int, ...]] | None:
    """All ways to fill one bin to which no further size can be added.

    Parameters
    ----------
    sizes : sequence of int
        Sizes, largest first, each once. [-]
    counts : sequence of int
        How many there are of each size. [-]

    Returns
    -------
    maximal_patterns : list of tuple of int, or None
        How many of each size are in the bin, for each way; None if there are more than 20000 ways or
        more than 200 sizes. [-]

    Notes
    -----
    A depth-first search that knows the smallest size of which some are left out: a way is maximal if
    less room is left at the end. Where even all smaller sizes leave more, the search goes back.

    Examples
    --------
    >>> maximal_patterns([3, 2, 1], counts=[9, 9, 9], capacity=4)
    [(1, 0, 1), (0, 2, 0), (0, 1, 2), (0, 0, 4)]
    """
    if len(sizes) > MAX_SIZES:
        return None
    found: list[tuple[int, ...]] = []
    rest = [sum(s * n for s, n in zip(sizes[i:], counts[i:], strict=True)) for i in range(len(sizes) + 1)]

    def extend(index: int, room: int, short: int, chosen: tuple[int, ...]) -> bool:
        if index == len(sizes):
            found.append(chosen)
            return len(found) <= MAX_PATTERNS
        size = sizes[index]
        for amount in range(min(counts[index], room // size), -1, -1):
            left, limit = room - amount * size, short if amount == counts[index] else min(short, size)
            if left - rest[index + 1] >= limit:
                break
            if not extend(index + 1, left, limit, (*chosen, amount)):
                return False
        return True

    return found if extend(0, capacity, capacity + 1, ()) else None


def whole_programme(
    columns: Sequence[Sequence[int]],
    needed: Sequence[int],
    *,
    costs: Sequence[int],
    most: Sequence[int] = (),
    nodes: int = 0,
) -> tuple[tuple[int, ...] | None, int | None]:
    """The cheapest choice of whole numbers of columns that reaches what is needed in every row.

    Parameters
    ----------
    most : sequence of int
        How often each column may be taken; empty: as often as is needed. [-]
    nodes : int
        Nodes after which the search stops with the best that it has; 0: as many as the number of columns allows. [-]

    Returns
    -------
    whole_programme : tuple
        How often each column is taken (None if nothing was found), and a cost below which no choice can go
        (None if none was proven). [-]

    Notes
    -----
    Mixed-integer linear programme, solved by HiGHS by branch and cut. The limit is a number of nodes, so that the answer
    does not depend on the speed of the computer (200000 / columns, from 20 to 5000); a clock of 30 s is the last
    guard.

    Examples
    --------
    >>> whole_programme([(1, 1), (2, 0)], (3, 1), costs=(1, 1))
    ((1, 1), 2)
    """
    import numpy as np  # imported here: most plans are proven without a solver
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import csc_array

    solved = milp(
        np.array(costs, dtype=float),
        constraints=LinearConstraint(
            csc_array(np.array(columns, dtype=float).T), lb=np.array(needed, dtype=float)
        ),
        integrality=np.ones(len(columns)),
        bounds=Bounds(0, np.array(most, dtype=float) if most else np.inf),
        options={
            "node_limit": nodes or min(5000, max(20, SOLVER_NODES // len(columns))),
            "time_limit": SOLVER_SECONDS,
        },
    )
    proven = solved.mip_dual_bound
    bound = math.ceil(proven - 1e-6) if proven is not None and math.isfinite(proven) else None
    if solved.x is None:
        return None, bound
    return tuple(int(x) for x in np.rint(solved.x)), bound


def relaxed_programme(
    columns: Sequence[Sequence[int]], needed: Sequence[int], *, costs: Sequence[int]
) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """The cheapest choice of columns that reaches what is needed in every row, if parts of columns may be taken.

    Returns
    -------
    relaxed_programme : tuple
        How often each column is taken, and the price of one more in each row (dual values). [-]

    Notes
    -----
    Linear programme, solved by HiGHS. Whatever is needed costs at least the sum of the prices.

    Examples
    --------
    >>> relaxed_programme([(2, 0), (0, 4)], (3, 1), costs=(1, 1))
    ((1.5, 0.25), (0.5, 0.25))
    """
    import numpy as np  # imported here: most plans are proven without a solver
    from scipy.optimize import linprog
    from scipy.sparse import csc_array

    matrix = csc_array(np.array(columns, dtype=float).T)
    solved = linprog(np.array(costs, dtype=float), A_ub=-matrix, b_ub=-np.array(needed, dtype=float))
    prices = tuple(max(0.0, -float(price)) for price in solved.ineqlin.marginals)
    return tuple(float(x) for x in solved.x), prices


def _counts_of(sizes: Mapping[int, int], capacity: int) -> Counts:
    counts = {s: n for s, n in sorted(sizes.items(), reverse=True) if n > 0}
    if counts and (min(counts) < 1 or max(counts) > capacity):
        raise ValueError(f"sizes must be from 1 to the capacity {capacity}, not {sorted(counts)}")
    return tuple(counts.items())


@lru_cache(maxsize=256)
def _pack(counts: Counts, capacity: int, search: bool) -> Packing:
    sizes, needed = tuple(s for s, _ in counts), tuple(n for _, n in counts)
    uses = _first_fit_decreasing(sizes, needed, capacity)
    volume = -(-sum(s * n for s, n in counts) // capacity)
    bound, method = volume, "volume"
    if sum(uses.values()) > bound:
        bound, method = max(volume, _martello_toth(counts, capacity)), "large"
    if sum(uses.values()) > bound and not search:
        method = "heuristic"
    elif sum(uses.values()) > bound:
        found = maximal_patterns(sizes, counts=needed, capacity=capacity)
        if found is None:
            others, proven = _generated(sizes, needed, capacity, bound, uses)
        else:
            others, proven = _programme(
                found, needed, lambda left: _first_fit_decreasing(sizes, left, capacity)
            )
        bound = max(bound, proven)
        uses = min(others, uses, key=_bins)
        method = "programme" if _bins(uses) == bound else "heuristic"
    patterns = tuple(
        (tuple(s for s, amount in zip(sizes, amounts, strict=True) for _ in range(amount)), times)
        for amounts, times in uses.items()
    )
    return Packing(patterns, _bins(uses), bound, method)


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

    def greedy(left: Sequence[int]) -> Uses:
        return _most_valuable_first(columns, left, values)

    uses = greedy(needed)
    if _bins(uses) > bound and len(columns) <= MAX_PATTERNS:
        others, proven = _programme(columns, needed, greedy)
        bound = max(bound, proven)
        uses = min(others, uses, key=_bins)
        method = "programme"
    ordered = tuple(sorted(uses.items(), reverse=True))
    return Packing(ordered, _bins(uses), bound, method if _bins(uses) == bound else "heuristic")


def _most_valuable_first(columns: Sequence[Amounts], needed: Sequence[int], values: Sequence[int]) -> Uses:
    """Bins filled one after the other with the column of which most is still needed."""
    uses: Uses = {}
    left = list(needed)
    while any(left):

        def gain(column: Amounts) -> tuple[int, float]:
            taken = [min(a, n) for a, n in zip(column, left, strict=True)]
            worth = sum(v * t for v, t in zip(values, taken, strict=True))
            scarce = sum(v / max(1, n) * t for v, n, t in zip(values, left, taken, strict=True))
            return worth, -scarce

        _take(uses, left, max(columns, key=gain), max(left))
    return uses


def _bins(uses: Uses) -> int:
    return sum(uses.values())


def _take(uses: Uses, left: list[int], column: Amounts, times: int) -> None:
    """Use a column so many times, cut down to what is left; stop when nothing of it is needed."""
    while times > 0:
        taken = tuple(min(a, n) for a, n in zip(column, left, strict=True))
        if not any(taken):
            return
        often = min(times, *(n // a for a, n in zip(taken, left, strict=True) if a))
        uses[taken] = uses.get(taken, 0) + often
        for i, a in enumerate(taken):
            left[i] -= a * often
        times -= often


def _first_fit_decreasing(sizes: Sequence[int], counts: Sequence[int], capacity: int) -> Uses:
    """Bins filled one after the other, the largest size that fits first; equal bins taken at once."""
    uses: Uses = {}
    left = list(counts)
    while any(left):
        room = capacity
        taken = []
        for size, count in zip(sizes, left, strict=True):
            fit = min(count, room // size)
            taken.append(fit)
            room -= fit * size
        _take(uses, left, tuple(taken), min(n // a for n, a in zip(left, taken, strict=True) if a))
    return uses


def _martello_toth(counts: Counts, capacity: int) -> int:
    """Bound L2: sizes that exclude each other need bins of their own, small ones what room is left."""
    best = 0
    for alpha in {0, *(s for s, _ in counts if 2 * s <= capacity)}:
        alone = sum(n for s, n in counts if s > capacity - alpha)
        half = [(s, n) for s, n in counts if s <= capacity - alpha and 2 * s > capacity]
        small = sum(s * n for s, n in counts if alpha <= s and 2 * s <= capacity)
        room = sum(n for _, n in half) * capacity - sum(s * n for s, n in half)
        best = max(best, alone + sum(n for _, n in half) + max(0, -(-(small - room) // capacity)))
    return best


def _programme(
    columns: Sequence[Amounts], needed: Amounts, rest: Callable[[Sequence[int]], Uses]
) -> tuple[Uses, int]:
    """Bins over all columns and a proven bound; ``rest`` fills what whole columns leave over."""
    import numpy as np

    times, duals = relaxed_programme(columns, needed, costs=[1] * len(columns))
    prices = _whole(duals)
    worth = np.array(columns, dtype=np.int64) @ np.array(prices, dtype=np.int64)
    dearest = int(worth.max())
    bound = _price_bound(prices, needed, dearest)
    rounded = _filled(columns, needed, [int(t + 1e-6) for t in times], rest)
    if _bins(rounded) == bound:
        return rounded, bound
    # first with the columns of the relaxed programme and those that are worth most, then with all that a choice with fewer bins can have
    order = np.lexsort((-worth, np.array(times) <= 0))
    best = rounded
    if len(columns) > FIRST_COLUMNS:
        here = [columns[i] for i in order[:FIRST_COLUMNS]]
        chosen, _ = whole_programme(here, needed, costs=[1] * len(here))
        if chosen is not None:
            best = min(best, _filled(here, needed, chosen, rest), key=_bins)
    if _bins(best) == bound:
        return best, bound
    spare = dearest * (_bins(best) - 1) - sum(p * n for p, n in zip(prices, needed, strict=True))
    here = [columns[i] for i in order if dearest - int(worth[i]) <= spare]
    chosen, proven = whole_programme(here, needed, costs=[1] * len(here))
    if chosen is not None:
        best = min(best, _filled(here, needed, chosen, rest), key=_bins)
    return best, max(bound, min(proven or 0, _bins(best)))


def _whole(prices: Iterable[float]) -> list[int]:
    return [int(price * PRICE_UNIT) for price in prices]


def _price_bound(prices: Sequence[int], needed: Sequence[int], dearest: int) -> int:
    """Bins needed if no bin is worth more than the dearest, whatever the prices are."""
    return -(-sum(p * n for p, n in zip(prices, needed, strict=True)) // dearest) if dearest else 0


def _filled(
    columns: Sequence[Amounts],
    needed: Amounts,
    times: Iterable[int],
    rest: Callable[[Sequence[int]], Uses],
) -> Uses:
    """Bins filled by columns, each so many times; what the columns leave is filled by ``rest``."""
    left = list(needed)
    uses: Uses = {}
    for column, often in zip(columns, times, strict=True):
        _take(uses, left, column, often)
    for column, often in rest(left).items():
        uses[column] = uses.get(column, 0) + often
    return dict(sorted(uses.items(), reverse=True))


def _generated(
    sizes: Amounts, needed: Amounts, capacity: int, known: int, first_fit: Uses
) -> tuple[Uses, int]:
    """Bins over patterns that are generated where the relaxed programme asks for them, and a bound."""
    unit = math.gcd(*sizes)
    sizes, capacity = tuple(s // unit for s in sizes), capacity // unit

    def rest(left: Sequence[int]) -> Uses:
        return _first_fit_decreasing(sizes, left, capacity)

    best, columns = first_fit, list(first_fit)
    lots = sum(min(n, capacity // s).bit_length() for n, s in zip(needed, sizes, strict=True))
    most = len(columns) + max(10, int(GENERATION_STEPS / (lots * capacity)))
    bound = known
    while _bins(best) > bound:
        times, duals = relaxed_programme(columns, needed, costs=[1] * len(columns))
        prices = _whole(duals)
        dearest, column = most_valuable(prices, sizes, needed=needed, capacity=capacity)
        bound = max(bound, _price_bound(prices, needed, dearest))
        done = column in columns or bound >= math.ceil(sum(times) - 1e-6)
        if done or len(columns) >= most:
            rounded = _filled(columns, needed, [int(t + 1e-6) for t in times], rest)
            best = min(best, rounded, key=_bins)
            break
        columns.append(column)
    if _bins(best) > bound:
        chosen, _ = whole_programme(columns, needed, costs=[1] * len(columns), nodes=GENERATED_NODES)
        if chosen is not None:
            best = min(best, _filled(columns, needed, chosen, rest), key=_bins)
    return best, bound


def most_valuable(
    prices: Sequence[int], sizes: Amounts, *, needed: Amounts, capacity: int
) -> tuple[int, Amounts]:
    """The choice of sizes for one bin that is worth most.

    Parameters
    ----------
    prices : sequence of int
        What one of each size is worth, whole numbers. [-]
    sizes : tuple of int
        The sizes, in the same order. [-]
    needed : tuple of int
        How many of each size may be taken. [-]

    Returns
    -------
    most_valuable : tuple
        What the choice is worth, and how many of each size it has. [-]

    Notes
    -----
    A knapsack over all capacities up to that of the bin, with lots of 1, 2, 4, ... of each size.

    Examples
    --------
    >>> most_valuable((3, 5), (2, 3), needed=(9, 9), capacity=7)
    (11, (2, 1))

    References
    ----------
    .. [1] martello-toth-1990
    """
    import numpy as np

    best = np.zeros(capacity + 1, dtype=np.int64)
    steps: list[tuple[int, int, Any]] = []
    for index, (price, size) in enumerate(zip(prices, sizes, strict=True)):
        left, lot = min(needed[index], capacity // size) if price else 0, 1
        while left:  # lots of 1, 2, 4, ... and what remains make every number up to the limit
            lot = min(lot, left)
            better = best[: capacity + 1 - lot * size] + lot * price
            taken = better > best[lot * size :]
            best[lot * size :] = np.where(taken, better, best[lot * size :])
            steps.append((index, lot, np.packbits(taken)))
            left, lot = left - lot, 2 * lot
    chosen, room = [0] * len(sizes), capacity
    for index, lot, taken in reversed(steps):
        at = room - lot * sizes[index]
        if at >= 0 and taken[at >> 3] >> (7 - at % 8) & 1:
            chosen[index] += lot
            room = at
    return int(best[capacity]), tuple(chosen)
