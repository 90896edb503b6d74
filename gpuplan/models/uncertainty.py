"""Uncertainty: the range of a total from the effect of each cause."""

import math
from collections.abc import Sequence


def combined_range(
    planned: float, *, ends: Sequence[tuple[float, float]], outermost: tuple[float, float] | None = None
) -> tuple[float, float]:
    """Range of a total whose causes of uncertainty do not depend on each other.

    Parameters:
        planned: Total as planned. [currency]
        ends (sequence of tuple of float): Total with each cause at its low and at its high end, everything else as planned.
            [currency]
        outermost (tuple of float or None): Total with all causes at their low and at their high end; None if it is not known.
            [currency]

    Low and high. [currency] low = planned - sqrt(sum of (planned - lower end) ** 2), high = planned + sqrt(sum of
    (higher end - planned) ** 2): the root sum of squares, each side for itself. What shares a cause, such as the price
    of every GPU, belongs to one pair of ends and moves together. Exact for independent normal causes and a total that
    is linear in them; with skewed ranges it is off by a few per cent of the range, and never beyond ``outermost``:
    where causes multiply, the root sum of squares alone can go further than all of them together. [jcgm-gum-2008]_

    >>> combined_range(100, ends=[(97, 103), (96, 108)])
    (95.0, 108.54400374531753)
    >>> combined_range(100, ends=[])
    (100.0, 100.0)
    >>> combined_range(100, ends=[(25, 100), (25, 100)], outermost=(6.25, 100))
    (6.25, 100.0)
    """
    most = (
        (-math.inf, math.inf) if outermost is None else (min(planned, *outermost), max(planned, *outermost))
    )
    if not math.isfinite(math.fsum([planned, *(end for pair in [*ends, outermost or ()] for end in pair)])):
        raise ValueError(
            f"planned is {planned}, ends are {list(ends)} and outermost is {outermost}; all must be finite"
        )
    below = math.hypot(*(max(0.0, planned - min(pair)) for pair in ends))
    above = math.hypot(*(max(0.0, max(pair) - planned) for pair in ends))
    return max(planned - below, most[0]), min(planned + above, most[1])
