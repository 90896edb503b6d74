"""Uncertainty: the range of a total from what each cause moves it by."""

import math
from collections.abc import Sequence


def combined_range(planned: float, *, ends: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """Range of a total whose causes of uncertainty do not depend on each other.

    Parameters
    ----------
    planned : float
        Total as planned. [currency]
    ends : sequence of tuple of float
        Total with each cause at its low and at its high end, everything else as planned. [currency]

    Returns
    -------
    combined_range : tuple of float
        Low and high of the total. [currency]

    Raises
    ------
    ValueError
        If a number is not finite.

    Notes
    -----
    low = planned - sqrt(sum of (planned - lower end) ** 2), high = planned + sqrt(sum of (higher end - planned) ** 2): the
    root sum of squares, each side for itself. What shares a cause, such as the price of every GPU, belongs to one
    pair of ends and moves together. Exact for independent normal causes and a total that is linear in them; with
    skewed ranges it is off by a few per cent of the range. All causes at their worst end at once are not in it.

    Examples
    --------
    >>> combined_range(100, ends=[(97, 103), (96, 108)])
    (95.0, 108.54400374531753)
    >>> combined_range(100, ends=[])
    (100.0, 100.0)

    References
    ----------
    .. [1] jcgm-gum-2008
    """
    if not math.isfinite(math.fsum([planned, *(end for pair in ends for end in pair)])):
        raise ValueError(f"planned is {planned} and ends are {list(ends)}; all must be finite")
    below = math.hypot(*(max(0.0, planned - min(pair)) for pair in ends))
    above = math.hypot(*(max(0.0, max(pair) - planned) for pair in ends))
    return planned - below, planned + above
