"""Programmes over columns: the ways to fill a bin, their cheapest choice, and the most valuable one at given prices."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from gpuplan.units import at_least_one, each, whole_from_zero

MAX_PATTERNS = 20_000
MAX_SIZES = 200

SOLVER_NODES = 200_000
"""Nodes times columns of the search of a solver in whole numbers; no time, so that an answer can be had again."""

SOLVER_SECONDS = 30.0
"""The last guard against a search that does not end."""

Amounts = tuple[int, ...]
"""Number of each size or profile in one bin."""


def _maximal_patterns(
    sizes: Sequence[int], *, counts: Sequence[int], capacity: int
) -> list[tuple[int, ...]] | None:
    """All ways to fill one bin to which no further size can be added.

    How many of each size are in the bin, for each way; None if there are more than 20000 ways or more than 200 sizes. A
    depth-first search that knows the smallest size of which some are left out: a way is maximal if less room is left at
    the end. Where even all smaller sizes leave more, the search goes back.
    """
    each(at_least_one, sizes=sizes)
    each(whole_from_zero, counts=counts)
    whole_from_zero(capacity=capacity)
    if len(sizes) > MAX_SIZES:
        return None
    patterns: list[tuple[int, ...]] = []
    rest = [sum(s * n for s, n in zip(sizes[i:], counts[i:], strict=True)) for i in range(len(sizes) + 1)]

    def extend(index: int, room: int, short: int, chosen: tuple[int, ...]) -> bool:
        if index == len(sizes):
            patterns.append(chosen)
            return len(patterns) <= MAX_PATTERNS
        size = sizes[index]
        for amount in range(min(counts[index], room // size), -1, -1):
            left, limit = room - amount * size, short if amount == counts[index] else min(short, size)
            if left - rest[index + 1] >= limit:
                break
            if not extend(index + 1, left, limit, (*chosen, amount)):
                return False
        return True

    return patterns if extend(0, capacity, capacity + 1, ()) else None


def whole_programme(
    columns: Sequence[Sequence[int]],
    needed: Sequence[int],
    *,
    costs: Sequence[int],
    nodes: int = 0,
) -> tuple[tuple[int, ...] | None, int | None]:
    """The cheapest choice of whole numbers of columns that reaches what is needed in every row.

    Parameters:
        columns (sequence of sequences of int): What one of each column adds to every row. [-]
        needed (sequence of int): Least sum of each row. [-]
        costs (sequence of int): Cost of each column, whole numbers. [-]
        nodes: Nodes after which the search stops with the best that it has; 0: as many as the number of columns allows. [-]

    How often each column is taken (None if nothing was found), and a cost below which no choice can go (None if none
    was proven). Mixed-integer linear programme, solved by HiGHS by branch and cut. The limit is a number of nodes, so
    that the answer does not depend on the speed of the computer (200000 / columns, from 20 to 5000); a clock of 30 s is
    the last guard. [gilmore-gomory-1961]_

    >>> whole_programme([(1, 1), (2, 0)], (3, 1), costs=(1, 1))
    ((1, 1), 2)
    """
    whole_from_zero(nodes=nodes)
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import csc_array

    solved = milp(
        _whole("costs", costs),
        constraints=LinearConstraint(csc_array(_whole("columns", columns).T), lb=_whole("needed", needed)),
        integrality=np.ones(len(columns)),
        bounds=Bounds(0, np.inf),
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


def _relaxed_programme(
    columns: Any, needed: Sequence[int], *, costs: Sequence[float]
) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """The cheapest choice of columns that reaches what is needed in every row, if parts of columns may be taken.

    How often each column is taken, and the price of one more in each row (dual values). [-] Linear programme, solved by
    HiGHS. Whatever is needed costs at least the sum of the prices.
    """
    from scipy.optimize import linprog  # imported here: most plans are proven without a solver
    from scipy.sparse import csc_array

    matrix = csc_array(_whole("columns", columns).T)
    solved = linprog(costs, A_ub=-matrix, b_ub=-_whole("needed", needed), method="highs")
    if solved.x is None:
        raise ValueError("columns at these costs do not reach what is needed")
    prices = tuple(max(0.0, -float(price)) for price in solved.ineqlin.marginals)
    return tuple(float(x) for x in solved.x), prices


def _whole(name: str, values: Sequence[int] | Sequence[Sequence[int]]) -> Any:
    """Rows of whole numbers, of either sign, for the solver."""
    rows = np.array(values, dtype=float)
    if not (np.isfinite(rows) & (rows == np.rint(rows))).all():
        raise ValueError(f"{name} must be whole numbers")
    return rows


def _most_valuable(
    prices: Sequence[int], sizes: Amounts, *, needed: Amounts, capacity: int
) -> tuple[int, Amounts]:
    """The choice of sizes for one bin that is worth most.

    What the choice is worth, and how many of each size it has. A knapsack over all capacities up to that of the bin,
    with lots of 1, 2, 4, ... of each size. [martello-toth-1990]_
    """
    each(whole_from_zero, prices=prices, needed=needed)
    each(at_least_one, sizes=sizes)
    whole_from_zero(capacity=capacity)
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
