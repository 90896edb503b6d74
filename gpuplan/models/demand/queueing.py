"""Queueing: chances of waiting and of being denied in closed form, for an open crowd and for a closed group.
[fredericks-congestion-1980]_ [whitt-multi-server-1992]_

Parameters:
    servers: Servers (GPUs or parts), taken one at a time; not whole only as a step of other formulas. [-]
    load: Offered load in erlang: mean units in use if there were no limit. [-]
    loads (sequence of float): Requests in progress of each class if there were no limit, in erlang. [-]
    sizes (sequence of int or float): Units that a request of each class takes. [-]
    peakedness: Variance over mean of the units in use if there were no limit; 1 is random. [-]
"""

import math
from bisect import bisect_left
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from gpuplan.units import number_between, whole_number

_MOST_UNITS = 10_000_000
"""Servers, units and people beyond this are refused rather than counted through for minutes. [-]"""

_MOST = 1e9
"""Largest load, duration or wait that is taken; a billion hours are over a hundred thousand years. [-]"""

Floats = NDArray[np.float64]
_whole = partial(whole_number, most=_MOST_UNITS)
_number = partial(number_between, most=_MOST)


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
    _same_length(sizes=sizes)
    return [_whole(f"sizes[{i}]", size, least=1) for i, size in enumerate(sizes)]


def _mix(loads: Sequence[float], sizes: Sequence[int]) -> tuple[list[float], list[int]]:
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


# ---- one GPU (or part) each: Erlang B and C


def erlang_b(servers: float, *, load: float) -> float:
    """Probability that a request is denied because all servers are busy and no request waits.

    B(0) = 1, B(n) = load B(n-1) / (n + load B(n-1)). Requests come at random (Poisson) from many people; exact
    whatever the distribution of the durations. [iversen-teletraffic-2010]_ Chances below 1e-308 come out as 0.

    Continued to servers that are not whole by 1 / B(x, a) = a * integral over t > 0 of exp(-a t) (1 + t)^x = exp(a)
    a^(-x) Gamma(x + 1, a) [jagerman-erlang-loss-1974]_: worked out for the part of x after the point, by the
    continued fraction of the incomplete gamma function, then by the same recursion, which forgets rounding errors.

    >>> round(erlang_b(10, load=5), 6)
    0.018385
    >>> round(erlang_b(2.5, load=1), 6)
    0.115327
    """
    load = _number("load", load)
    whole = math.floor(_number("servers", servers, most=_MOST_UNITS))
    rest = float(servers - whole)
    chance = _erlang_b_below_one(rest, load)
    for n in range(1, whole + 1):
        grown = load * chance
        chance = grown / (rest + n + grown)
    return chance


def erlang_c(servers: float, *, load: float) -> float:
    """Probability that a request has to wait because all servers are busy.

    It is 1 where the load is not below the servers. C = n B / (n - load (1 - B)) with B of erlang_b. Exact for random
    (Poisson) arrivals and exponential durations, an approximation for others. With load >= servers the queue grows
    without end. [iversen-teletraffic-2010]_

    >>> round(erlang_c(10, load=5), 6)
    0.036105
    """
    denied = erlang_b(servers, load=load)
    return 1.0 if load >= servers else min(1.0, servers * denied / (servers - load + load * denied))


# ---- bursts: peakedness


def peakedness_of_mix(loads: Sequence[float], *, sizes: Sequence[float]) -> float:
    """Variance over mean of the units in use when requests of several sizes come at random.

    sum(load size^2) / sum(load size): the requests of each class in progress are Poisson, whatever the distribution
    of the durations. 1 for single units. Real arrivals in bursts are peakier than this. [fredericks-congestion-1980]_

    >>> peakedness_of_mix([4, 1], sizes=[1, 4])
    2.5
    """
    _same_length(loads=loads, sizes=sizes)
    loads = [_number(f"loads[{i}]", load) for i, load in enumerate(loads)]
    for i, size in enumerate(sizes):
        if not _number(f"sizes[{i}]", size) > 0:
            raise ValueError(f"sizes[{i}] is {size!r}: must be above 0")
    if not any(loads):
        raise ValueError(f"loads are {loads}: at least one must be above 0")
    largest = max(loads)
    parts = [load / largest * size for load, size in zip(loads, sizes, strict=True)]
    return math.fsum(part * size for part, size in zip(parts, sizes, strict=True)) / math.fsum(parts)


def hayward_b(servers: float, *, load: float, peakedness: float) -> float:
    """Probability of denial when demand is burstier or smoother than random arrivals.

    Hayward's approximation: Erlang B with servers / peakedness servers and load / peakedness. Exact for peakedness 1,
    and for requests that all take the same number of units, where peakedness is that number and divides the servers.
    For mixed sizes it is one figure for all of them: the large ones fare worse, the small ones better.
    [fredericks-congestion-1980]_

    >>> round(hayward_b(20, load=10, peakedness=2), 6)
    0.018385
    """
    n, a = _scaled(servers, load, peakedness)
    return erlang_b(n, load=a)


def hayward_c(servers: float, *, load: float, peakedness: float) -> float:
    """Probability of waiting when demand is burstier or smoother than random arrivals.

    It is 1 where the load is not below the servers. Erlang C with servers / peakedness servers and load / peakedness.
    The scaling is Hayward's, published for being denied; for waiting it is an engineering approximation that keeps
    (servers - load) / sqrt(load peakedness), on which the infinite-server approximation of the chance of waiting rests.
    Exact for peakedness 1, and for requests that all take the same number of units together for an exponential time,
    where peakedness is that number and divides the servers. Whole requests of mixed sizes, first come first served,
    wait more than it says, for the one at the head holds up those behind: simulated mixes of 1, 2, 4 and 8 units up to
    1.7 times. Nor does it know bursts that outlast the requests: while the load stays above the servers, nearly every
    request waits.

    >>> round(hayward_c(20, load=10, peakedness=2), 6)
    0.036105
    """
    n, a = _scaled(servers, load, peakedness)
    return erlang_c(n, load=a)


def hayward_wait_longer_chance(
    servers: float, *, load: float, peakedness: float, duration_h: float, wait_h: float
) -> float:
    """Probability of waiting longer than a stated time when demand is burstier or smoother than random arrivals.

    Parameters:
        duration_h: Mean time a request holds its units. [h]
        wait_h: The stated time. [h]

    It is 1 where the load is not below the servers. hayward_c * exp(-(servers - load) / peakedness * wait_h /
    duration_h), first come first served. With peakedness 1 it is Erlang C's. Exact where hayward_c is, and low where it
    is low: simulated mixes up to 1.6 times at a fifth of the duration.

    >>> round(hayward_wait_longer_chance(20, load=10, peakedness=2, duration_h=2, wait_h=0.5), 5)
    0.01034
    """
    duration_h, wait_h = _duration(duration_h), _number("wait_h", wait_h)
    waits = hayward_c(servers, load=load, peakedness=peakedness)
    return waits * math.exp(-max(0.0, servers - load) / peakedness * wait_h / duration_h)


# ---- requests of several sizes: Kaufman-Roberts


def kaufman_roberts(capacity: int, *, loads: Sequence[float], sizes: Sequence[int]) -> Floats:
    """Probability that a request of each class is denied when classes of several sizes share one pool.

    Parameters:
        capacity: Largest number of units (GPUs or parts) in the pool. [-]

    A row for each capacity 0, 1, ..., a column for each class; 1 where the request is larger than the pool. j q(j) =
    sum over the classes of load size q(j - size); denied in the states above capacity - size. One recursion serves
    every capacity: the weights q(j) do not depend on it. Requests come at random (Poisson) and any free units will do,
    on whatever host. Exact, whatever the distribution of the durations. [kaufman-blocking-1981]_
    [roberts-heterogeneous-1981]_

    >>> kaufman_roberts(5, loads=[2, 1], sizes=[1, 2])[[1, 5]].round(4).tolist()
    [[0.6667, 1.0], [0.1722, 0.3819]]
    """
    capacity = _whole("capacity", capacity)
    loads, sizes = _mix(loads, sizes)
    growth = np.array(_growth(capacity, loads, sizes))
    return np.column_stack([_denied(growth, size) for size in sizes])


# ---- the other way round


def least_servers(chance: Callable[[int], float], *, target: float, start: int) -> int:
    """Fewest servers that keep a probability within its target.

    Parameters:
        chance: Chance for a number of servers; more servers must never raise it. [-]
        target: Largest chance that is accepted, above 0 and below 1. [-]
        start: Number of servers to try first, such as the load. [-]

    Doubling from start until the chance is low enough, then bisection; with a chance that is not above the target
    at a number and above it at a larger one, any of the numbers where it falls below is given. Chances of being
    denied of a mix of sizes do rise in places: a unit more may let a large request in that shuts small ones
    out. For a mix use the largest chance of all classes, and a curve where the sizes do not divide each other.
    [gpuplan-method]_

    >>> least_servers(lambda n: erlang_b(n, load=5), target=0.02, start=5)
    10
    """
    if not 0 < _number("target", target) < 1:
        raise ValueError(f"target is {target!r}: must be above 0 and below 1")
    low, high = -1, _whole("start", start)
    while chance(high) > target:
        if high == _MOST_UNITS:
            raise ValueError(f"target {target!r} is not reached with {_MOST_UNITS:,} servers")
        low, high = high, min(2 * high + 1, _MOST_UNITS)
    return high - bisect_left(range(high - 1, low, -1), True, key=lambda n: chance(n) > target)


def _scaled(servers: float, load: float, peakedness: float) -> tuple[float, float]:
    if not _number("peakedness", peakedness) > 0:
        raise ValueError(f"peakedness is {peakedness!r}: must be above 0")
    n, a = _number("servers", servers) / peakedness, _number("load", load) / peakedness
    if not (n <= _MOST_UNITS and a <= _MOST):
        raise ValueError(
            f"peakedness is {peakedness!r}: too small for {servers!r} servers and load {load!r}, "
            f"over the peakedness they may be {_MOST_UNITS:,} and {_MOST:,.0f}"
        )
    return n, a
