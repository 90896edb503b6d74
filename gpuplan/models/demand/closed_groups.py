"""Closed groups: chances of waiting and of being denied where a fixed number of people send all requests (Engset).
[iversen-teletraffic-2010]_

Parameters:
    units: Largest number of units (GPUs or parts). [-]
    people (sequence of int): People of each class. [-]
    shares (sequence of float): Share of the time that one of them is active, 0 to 1; where requests are denied, that it
        would be if never denied. [-]
    sizes (sequence of int): Units that one of them takes while active. [-]
"""

import math
from collections.abc import Sequence

import numpy as np

from gpuplan.models.demand.queueing import (
    _MOST_UNITS,
    Floats,
    _denied,
    _duration,
    _number,
    _same_length,
    _sizes,
    _whole,
    peakedness_of_mix,
)

_CUT = 1e-40
"""Terms of a binomial distribution below this share of the largest are left out. [-]"""

_SEEN = 1e-20
"""Least chance that a capacity is not exceeded, at which a tilted distribution still speaks for it. [-]"""

_MOST_ODDS = 1e12
"""Odds of a user who is always active, for limits. [-]"""


def closed_wait_chance(
    units: int, *, people: Sequence[int], shares: Sequence[float], sizes: Sequence[int]
) -> Floats:
    """Probability that a request of each class finds too few units free when no request is denied.

    A row for each number of units 0, 1, ..., a column for each class. P(demand of the others > units - size): the
    requester was idle and sees what the others want. The demand is taken as neither thinned by those who are held up
    nor prolonged by their wait, so frequent waiting is understated: for one-unit requests a simulation of the queue
    found 3.5 % where it says 3.3 %, 23 % where it says 20 %, and 51 % where it says 43 %. For a class without people it
    is what one more person would meet.

    >>> closed_wait_chance(2, people=[2, 1], shares=[0.5, 0.5], sizes=[1, 2]).tolist()
    [[1.0, 1.0], [0.75, 1.0], [0.5, 0.75]]
    """
    units = _whole("units", units)
    people, odds, sizes = _group(people, shares, sizes)
    curve = np.ones((units + 1, len(sizes)))
    for column, (first, chances) in enumerate(_others(people, odds, sizes)):
        above = np.append(np.minimum(1.0, np.cumsum(chances[::-1])[::-1]), 0.0)  # at least first + index
        wanted = np.arange(units + 1) - sizes[column] + 1 - first
        curve[:, column] = np.where(wanted < 1, 1.0, above[np.clip(wanted, 0, len(above) - 1)])
    return curve


def closed_wait_longer_chance(
    units: int,
    *,
    people: Sequence[int],
    shares: Sequence[float],
    sizes: Sequence[int],
    duration_h: float,
    wait_h: float,
) -> Floats:
    """Chance that a request of each class of a closed group waits longer than a stated time, for every number of units up to a limit.

    Parameters:
        duration_h: Mean time for which a unit is held. [h]
        wait_h: The wait that is too long. [h]

    A row for each number of units 0, 1, ..., a column for each class. closed_wait_chance * exp(-(units - load) * wait_h
    / (z * duration_h)), the exponent not above 0, with the mean units wanted (load) and their peakedness z if requests
    were independent: the waits of M/M/c. Approximate: those who wait ask for nothing more, so the queue of a closed
    group is shorter. For one-unit requests a simulation found 1.6 % where it says 2.1 %, and 7.4 % where it says 8.7 %.

    >>> late = closed_wait_longer_chance(8, people=[10], shares=[0.5], sizes=[1], duration_h=2.0, wait_h=1.0)
    >>> round(float(late[8, 0]), 4)  # 0.0195 wait at all
    0.0044
    """
    waits = closed_wait_chance(units, people=people, shares=shares, sizes=sizes)
    duration_h, wait_h = _duration(duration_h), _number("wait_h", wait_h)
    loads = [n * p for n, p in zip(people, shares, strict=True)]
    load = sum(a * size for a, size in zip(loads, sizes, strict=True))
    if not load:
        return waits
    z = peakedness_of_mix(loads, sizes=sizes)
    spare = np.maximum(0.0, np.arange(units + 1) - load)
    return np.asarray(waits * np.exp(-spare * wait_h / (z * duration_h))[:, None])


def closed_blocking(
    units: int, *, people: Sequence[int], shares: Sequence[float], sizes: Sequence[int]
) -> Floats:
    """Probability that a request of each class of a closed group is denied.

    A row for each number of units 0, 1, ..., a column for each class; 1 where the request is larger. Engset with
    several sizes, exact: P(D > units - size | D <= units), D the demand with one person of the class fewer. Who is
    denied is idle again and asks after another idle time, on average (1 - share) / share durations; the distributions
    do not matter. A share of 1 stands for the limit: the idle time goes to 0, taken at odds of 1e12, and each try
    counts. For a class without people it is what one more person would meet.

    >>> closed_blocking(2, people=[2], shares=[0.5], sizes=[1]).round(4).tolist()
    [[1.0], [0.5], [0.0]]
    """
    units = _whole("units", units)
    people, odds, sizes = _group(people, shares, sizes)
    growth = _closed_growth(units, people, odds, sizes)
    return np.column_stack([_denied(column, size) for size, column in zip(sizes, growth.T, strict=True)])


def _group(
    people: Sequence[int], shares: Sequence[float], sizes: Sequence[int]
) -> tuple[list[int], list[float], list[int]]:
    """People, odds of being active (infinite for always) and sizes of the classes."""
    _same_length(people=people, shares=shares, sizes=sizes)
    counts = [_whole(f"people[{i}]", n) for i, n in enumerate(people)]
    chances = [_number(f"shares[{i}]", share, most=1) for i, share in enumerate(shares)]
    takes = _sizes(sizes)
    most = sum(n * size for n, size in zip(counts, takes, strict=True))
    if most > _MOST_UNITS:
        raise ValueError(f"people times sizes are {most:,} units: may be up to {_MOST_UNITS:,}")
    return counts, [p / (1 - p) if p < 1 else math.inf for p in chances], takes


def _binomial(people: int, odds: float) -> tuple[int, Floats]:
    """First number of people active that counts, and the chances from there on."""
    if math.isinf(odds):
        return people, np.ones(1)
    mode = min(people, int((people + 1) * odds / (1 + odds)))
    above = np.arange(mode, people)
    below = np.arange(mode, 0, -1)
    up = np.cumprod((people - above) / (above + 1) * odds)
    down = np.cumprod(below / (people - below + 1) / odds) if mode else up[:0]
    weights = np.concatenate([down[::-1], [1.0], up])
    counted = np.flatnonzero(weights > _CUT)
    weights = weights[counted[0] : counted[-1] + 1]
    return int(counted[0]), weights / weights.sum()


def _demand(people: Sequence[int], odds: Sequence[float], sizes: Sequence[int]) -> tuple[int, Floats]:
    """Return the first number of requested units that counts, and the chances from there on."""
    first, chances = 0, np.ones(1)
    for n, odd, size in zip(people, odds, sizes, strict=True):
        least, active = _binomial(n, odd)
        longer = np.zeros(len(chances) + (len(active) - 1) * size)
        if len(active) < len(chances):
            for k, chance in enumerate(active):
                longer[k * size : k * size + len(chances)] += chance * chances
        else:
            for k, chance in enumerate(chances):
                longer[k : k + (len(active) - 1) * size + 1 : size] += chance * active
        first, chances = first + least * size, longer
    return first, chances / chances.sum()


def _others(people: Sequence[int], odds: Sequence[float], sizes: Sequence[int]) -> list[tuple[int, Floats]]:
    """The demand with one person of each class fewer, in turn."""
    first, fewer = _demand([max(0, n - 1) for n in people], odds, sizes)
    return [
        (first, chances) for chances in _each_left_out(fewer, list(zip(people, odds, sizes, strict=True)))
    ]


def _each_left_out(chances: Floats, classes: Sequence[tuple[int, float, int]]) -> list[Floats]:
    """A demand with one person more of every class but one, in turn: by halves, each half with the people of the other."""
    if len(classes) < 2:
        return [chances] * len(classes)
    half = len(classes) // 2
    front, back = classes[:half], classes[half:]
    return _each_left_out(_joined_by(chances, back), front) + _each_left_out(_joined_by(chances, front), back)


def _joined_by(chances: Floats, classes: Sequence[tuple[int, float, int]]) -> Floats:
    """A demand with one person more of each of these classes that has any."""
    for n, odd, size in classes:
        if n:
            active = 1 / (1 + 1 / odd) if odd else 0.0
            longer = np.zeros(len(chances) + size)
            longer[: len(chances)] += (1 - active) * chances
            longer[size:] += active * chances
            chances = longer
    return chances


def _tilt(units: int, people: Sequence[int], odds: Sequence[float], sizes: Sequence[int]) -> float:
    """Least t >= 0 for which the mean demand is not above the units, the odds being odds exp(-t size)."""

    def mean(tilt: float) -> float:
        tilted = [odd * math.exp(-tilt * size) for odd, size in zip(odds, sizes, strict=True)]
        return sum(n * size * x / (1 + x) for n, size, x in zip(people, sizes, tilted, strict=True))

    if mean(0.0) <= units:
        return 0.0
    low, high = 0.0, 1.0
    while mean(high) > units:
        low, high = high, 2 * high
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if mean(middle) > units else (low, middle)
    return high


def _closed_growth(units: int, people: Sequence[int], odds: Sequence[float], sizes: Sequence[int]) -> Floats:
    """log(P(D <= j) / P(D <= j - 1)) for j = 1 to the units, D the demand without one person of each class.

    Far below the mean the chances themselves are too small for a number. There
    the odds are tilted so that the mean demand is at the units: that multiplies the chance of j by exp(-tilt j), which
    is taken back. One tilt serves until the chance of a demand so low falls under _SEEN, then the next one does.
    """
    growth = np.zeros((units, len(people)))
    odds = [min(odd, _MOST_ODDS) for odd in odds]
    high = units
    while high >= 1:
        tilt = _tilt(high, people, odds, sizes)
        back = math.exp(-tilt)
        tilted = [odd * math.exp(-tilt * size) for odd, size in zip(odds, sizes, strict=True)]
        others = _others(people, tilted, sizes)
        low = max(first + 1 + int(np.searchsorted(np.cumsum(chances), _SEEN)) for first, chances in others)
        low = min(high, max(1, low))
        first = others[0][0]  # the same for all
        wanted = np.zeros((max(0, high - first + 1), len(others)))
        for column, (_, chances) in enumerate(others):
            wanted[: len(chances), column] = chances[: len(wanted)]
        total = np.zeros(len(others))
        fewer = np.empty_like(wanted)
        for j, chance in enumerate(wanted):
            total *= back
            fewer[j] = total
            total += chance
        counted = slice(low - first, len(wanted))
        growth[low - 1 : high] = np.log1p(wanted[counted] / fewer[counted])
        high = low - 1
    return growth
