"""Recursions over the units that requests share, and permitted numbers, loads and sizes of requests."""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from gpuplan.units import number_between, whole_number

_MOST_UNITS = 10_000_000
"""Servers, units and people beyond this are refused rather than counted through for minutes. [-]"""

_MOST = 1e9
"""Largest load, duration or wait that is taken; a billion hours are over a hundred thousand years. [-]"""

Floats = NDArray[np.float64]


def _whole(name: str, value: int, least: int = 0) -> int:
    """A count; most are of the plain type, which is quick to see."""
    if type(value) is int and least <= value <= _MOST_UNITS:
        return value
    return whole_number(name, value, least=least, most=_MOST_UNITS)


def _number(name: str, value: float, most: float = _MOST) -> float:
    """A number from 0 on; most are of the plain type, which is quick to see."""
    if type(value) is float and 0 <= value <= most:
        return value
    return number_between(name, value, most=most)


def _duration(duration_h: float) -> float:
    """The mean duration, refused if it is 0."""
    if not _number("duration_h", duration_h) > 0:
        raise ValueError(f"duration_h is {duration_h!r}: must be above 0")
    return float(duration_h)


def _same_length(**columns: Sequence[float]) -> None:
    """Check that all columns have one value for each class, and that there is at least one class."""
    if len({len(column) for column in columns.values()}) > 1 or not all(columns.values()):
        counts = ", ".join(f"{len(column)} {name}" for name, column in columns.items())
        raise ValueError(f"{counts}: each class needs one of each, and there is at least one class")


def _sizes(sizes: Sequence[int]) -> list[int]:
    """Sizes of requests, at least one of them."""
    _same_length(sizes=sizes)
    return [_whole(f"sizes[{i}]", size, least=1) for i, size in enumerate(sizes)]


def _mix(loads: Sequence[float], sizes: Sequence[int]) -> tuple[list[float], list[int]]:
    """Loads and sizes of the classes."""
    _same_length(loads=loads, sizes=sizes)
    return [_number(f"loads[{i}]", load) for i, load in enumerate(loads)], _sizes(sizes)


def _growth(capacity: int, loads: Sequence[float], sizes: Sequence[int]) -> list[float]:
    """log(Q(j) / Q(j - 1)) for j = 1 to the capacity, Q(j) the weight of all states with up to j units in use."""
    flows = [(load * size, size) for load, size in zip(loads, sizes, strict=True)]
    widest = max(sizes)
    states = [0.0] * (widest - 1) + [1.0]
    total = 1.0
    growth = []
    for j in range(1, capacity + 1):
        state = 0.0
        for flow, size in flows:
            state += flow * states[-size]
        state /= j
        growth.append(math.log1p(state / total))
        total += state
        states.append(state)
        if total > 1e200:
            states[-widest:] = [weight / 1e200 for weight in states[-widest:]]
            total /= 1e200
    return growth


def _denied(growth: Floats, size: int) -> Floats:
    """1 - Q(n - size) / Q(n) for n = 0, 1, ..., from log(Q(j) / Q(j - 1)) for j = 1, 2, ...; 1 where n < size.

    Sums of `size` neighbours without differences: the rest of a block plus the first part of the next one.
    """
    chances = np.ones(len(growth) + 1)
    ends = np.arange(size - 1, len(growth))
    if len(ends):
        blocks = np.pad(growth, (0, -len(growth) % size)).reshape(-1, size)
        begun = np.cumsum(blocks, axis=1).ravel()
        left = np.cumsum(blocks[:, ::-1], axis=1)[:, ::-1].ravel()
        starts = ends - size + 1
        chances[size:] = -np.expm1(-(begun[ends] + np.where(starts % size, left[starts], 0.0)))
    return chances


def _erlang_b_below_one(servers: float, load: float) -> float:
    """Erlang B for servers from 0 up to below 1."""
    if servers == 0 or load == 0:
        return float(servers == 0)
    if load < 1:
        from scipy.special import gamma, gammaincc

        below = load**servers * math.exp(-load) / (gamma(servers + 1) * gammaincc(servers + 1, load))
        return min(1.0, float(below))  # rounding alone lifts it above 1, next to 0 servers
    fraction = 0.0
    for k in range(
        math.ceil(100 / load) + 8, 0, -1
    ):  # exact to rounding; the larger the load, the fewer terms it takes
        fraction = k * (k - 1 - servers) / (load + 2 * k - servers - fraction)
    return (load - servers - fraction) / load
