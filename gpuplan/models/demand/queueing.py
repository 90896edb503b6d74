"""Queueing: chances of waiting and of being turned away in closed form, for an open crowd and for a closed group."""

import math
from collections.abc import Callable, Sequence
from numbers import Integral, Real

import numpy as np
from numpy.typing import NDArray

_MOST_UNITS = 10_000_000
"""Servers, units and people beyond this are refused rather than counted through for minutes. [-]"""

_MOST = 1e9
"""Largest load, duration or wait that is taken; a billion hours are over a hundred thousand years. [-]"""

_CUT = 1e-40
"""Terms of a binomial distribution below this share of the largest are left out. [-]"""

_SEEN = 1e-20
"""Least chance that a capacity is not exceeded, at which a tilted distribution still speaks for it. [-]"""

_MOST_ODDS = 1e12
"""Odds that stand for somebody who is always active where a limit is taken. [-]"""

Floats = NDArray[np.float64]


# ---- one GPU (or part) each: Erlang B and C


def erlang_b(servers: int, *, load: float) -> float:
    """Chance that a request is turned away when all servers are busy and nobody waits.

    Parameters
    ----------
    servers : int
        Servers (GPUs or parts), taken one at a time. [-]
    load : float
        Offered load in erlang: mean number busy if there were no limit. [-]

    Returns
    -------
    erlang_b : float
        Share of requests turned away, 0 to 1. [-]

    Notes
    -----
    B(0) = 1, B(n) = load B(n-1) / (n + load B(n-1)). Requests come at random (Poisson) from many people; exact
    whatever the distribution of the durations. Chances below 1e-308 come out as 0.

    Examples
    --------
    >>> round(erlang_b(10, load=5), 6)
    0.018385

    References
    ----------
    .. [1] iversen-teletraffic-2010
    """
    return erlang_b_real(_whole("servers", servers), load=load)


def erlang_b_curve(servers: int, *, load: float) -> Floats:
    """Chance that a request is turned away, for every number of servers up to a largest one.

    Parameters
    ----------
    servers : int
        Largest number of servers. [-]
    load : float
        Offered load in erlang. [-]

    Returns
    -------
    erlang_b_curve : array of float
        Chance with 0, 1, ... servers. [-]

    Notes
    -----
    One pass of the recursion of erlang_b, whose values it gives.

    Examples
    --------
    >>> erlang_b_curve(2, load=1).tolist()
    [1.0, 0.5, 0.2]

    References
    ----------
    .. [1] iversen-teletraffic-2010
    """
    servers, load = _whole("servers", servers), _number("load", load)
    chance = 1.0
    chances = [chance]
    for n in range(1, servers + 1):
        chance = load * chance / (n + load * chance)
        chances.append(chance)
    return np.array(chances)


def erlang_b_real(servers: float, *, load: float) -> float:
    """Chance of being turned away by Erlang B, continued to servers that are not whole.

    Parameters
    ----------
    servers : float
        Servers, whole or not. [-]
    load : float
        Offered load in erlang. [-]

    Returns
    -------
    erlang_b_real : float
        Share of requests turned away, 0 to 1. [-]

    Notes
    -----
    1 / B(x, a) = a * integral over t > 0 of exp(-a t) (1 + t)^x = exp(a) a^(-x) Gamma(x + 1, a). Worked out for
    the part of x after the point, by the continued fraction of the incomplete gamma function, then by the
    recursion of erlang_b, which forgets rounding errors. Equal to erlang_b for whole x. Only a step of other
    formulas: there is no half server.

    Examples
    --------
    >>> erlang_b_real(2, load=1)
    0.2
    >>> round(erlang_b_real(2.5, load=1), 6)
    0.115327

    References
    ----------
    .. [1] jagerman-erlang-loss-1974
    """
    load = _number("load", load)
    whole = math.floor(_number("servers", servers, most=_MOST_UNITS))
    rest = float(servers - whole)
    chance = _erlang_b_below_one(rest, load)
    for n in range(1, whole + 1):
        grown = load * chance
        chance = grown / (rest + n + grown)
    return chance


def erlang_c(servers: int, *, load: float) -> float:
    """Chance that a request has to wait when all servers are busy and everybody waits.

    Parameters
    ----------
    servers : int
        Servers (GPUs or parts), taken one at a time. [-]
    load : float
        Offered load in erlang. [-]

    Returns
    -------
    erlang_c : float
        Share of requests that wait, 0 to 1; 1 where the load is not below the servers. [-]

    Notes
    -----
    C = n B / (n - load (1 - B)) with B of erlang_b. Exact for random (Poisson) arrivals and exponential durations,
    an approximation for others. With load >= servers the queue grows without end.

    Examples
    --------
    >>> round(erlang_c(10, load=5), 6)
    0.036105

    References
    ----------
    .. [1] iversen-teletraffic-2010
    """
    return erlang_c_real(_whole("servers", servers), load=load)


def erlang_c_curve(servers: int, *, load: float) -> Floats:
    """Chance that a request has to wait, for every number of servers up to a largest one.

    Parameters
    ----------
    servers : int
        Largest number of servers. [-]
    load : float
        Offered load in erlang. [-]

    Returns
    -------
    erlang_c_curve : array of float
        Chance with 0, 1, ... servers. [-]

    Notes
    -----
    One pass of the recursion of erlang_b; the values of erlang_c.

    Examples
    --------
    >>> [round(chance, 4) for chance in erlang_c_curve(3, load=1).tolist()]
    [1.0, 1.0, 0.3333, 0.0909]

    References
    ----------
    .. [1] iversen-teletraffic-2010
    """
    turned_away = erlang_b_curve(servers, load=load)
    chances = np.ones(servers + 1)
    enough = np.arange(servers + 1) > load
    n, b = np.arange(servers + 1)[enough], turned_away[enough]
    chances[enough] = np.minimum(1.0, n * b / (n - load + load * b))
    return chances


def erlang_c_real(servers: float, *, load: float) -> float:
    """Chance of waiting by Erlang C, continued to servers that are not whole.

    Parameters
    ----------
    servers : float
        Servers, whole or not. [-]
    load : float
        Offered load in erlang. [-]

    Returns
    -------
    erlang_c_real : float
        Share of requests that wait, 0 to 1; 1 where the load is not below the servers. [-]

    Notes
    -----
    C = x B / (x - load (1 - B)) with B of erlang_b_real. Only a step of other formulas: there is no half server.

    Examples
    --------
    >>> round(erlang_c_real(10, load=5), 6)
    0.036105

    References
    ----------
    .. [1] jagerman-erlang-loss-1974
    .. [2] iversen-teletraffic-2010
    """
    turned_away = erlang_b_real(servers, load=load)
    if load >= servers:
        return 1.0
    return min(1.0, servers * turned_away / (servers - load + load * turned_away))


# ---- how long one waits


def mean_wait_h(servers: int, *, load: float, duration_h: float) -> float:
    """Mean time that a request waits for a server, those that wait not at all counted with 0.

    Parameters
    ----------
    servers : int
        Servers (GPUs or parts), taken one at a time. [-]
    load : float
        Offered load in erlang, below the servers. [-]
    duration_h : float
        Mean time a request holds its server. [h]

    Returns
    -------
    mean_wait_h : float
        Mean wait over all requests. [h]

    Notes
    -----
    C * duration_h / (servers - load). Exact for random arrivals and exponential durations, in the long run.

    Examples
    --------
    >>> round(mean_wait_h(10, load=5, duration_h=2), 5)
    0.01444

    References
    ----------
    .. [1] iversen-teletraffic-2010
    """
    duration_h = _duration(duration_h)
    waits = erlang_c(servers, load=load)
    return waits * duration_h / _spare(servers, load)


def wait_longer_chance(servers: int, *, load: float, duration_h: float, wait_h: float) -> float:
    """Chance that a request waits longer than a stated time.

    Parameters
    ----------
    servers : int
        Servers (GPUs or parts), taken one at a time. [-]
    load : float
        Offered load in erlang. [-]
    duration_h : float
        Mean time a request holds its server. [h]
    wait_h : float
        The stated time. [h]

    Returns
    -------
    wait_longer_chance : float
        Share of requests that wait longer, 0 to 1; 1 where the load is not below the servers. [-]

    Notes
    -----
    C * exp(-(servers - load) wait_h / duration_h). Exact for random arrivals, exponential durations and first come
    first served.

    Examples
    --------
    >>> round(wait_longer_chance(10, load=5, duration_h=2, wait_h=0.5), 5)
    0.01034

    References
    ----------
    .. [1] iversen-teletraffic-2010
    """
    _whole("servers", servers)
    return hayward_wait_longer_chance(servers, load=load, peakedness=1, duration_h=duration_h, wait_h=wait_h)


def wait_quantile_h(servers: int, *, load: float, duration_h: float, share: float) -> float:
    """Time within which a stated share of the requests gets a server.

    Parameters
    ----------
    servers : int
        Servers (GPUs or parts), taken one at a time. [-]
    load : float
        Offered load in erlang, below the servers. [-]
    duration_h : float
        Mean time a request holds its server. [h]
    share : float
        Share of the requests, from 0 up to below 1; 0.9 is the 90th percentile. [-]

    Returns
    -------
    wait_quantile_h : float
        The time; 0 if that share does not wait at all. [h]

    Notes
    -----
    The least t with wait_longer_chance <= 1 - share: max(0, duration_h / (servers - load) * log(C / (1 - share))).
    Exact for random arrivals, exponential durations and first come first served.

    Examples
    --------
    >>> wait_quantile_h(10, load=5, duration_h=2, share=0.9)
    0.0
    >>> round(wait_quantile_h(10, load=8, duration_h=2, share=0.9), 4)
    1.409

    References
    ----------
    .. [1] iversen-teletraffic-2010
    """
    duration_h = _duration(duration_h)
    if not _number("share", share) < 1:
        raise ValueError(f"share is {share!r}: must be below 1, the longest wait has no limit")
    waits = erlang_c(servers, load=load)
    spare = _spare(servers, load)
    return duration_h / spare * math.log(waits / (1 - share)) if waits > 1 - share else 0.0


# ---- bursts: peakedness


def peakedness_of_mix(loads: Sequence[float], *, sizes: Sequence[float]) -> float:
    """Variance over mean of the units in use when requests of several sizes come at random.

    Parameters
    ----------
    loads : sequence of float
        Requests in progress of each class if there were no limit, in erlang. [-]
    sizes : sequence of float
        Units that a request of each class takes. [-]

    Returns
    -------
    peakedness_of_mix : float
        Peakedness of the demand in units. [-]

    Notes
    -----
    sum(load size^2) / sum(load size): the requests of each class in progress are Poisson, whatever the distribution
    of the durations. 1 for single units. Real arrivals in bursts are peakier than this.

    Examples
    --------
    >>> peakedness_of_mix([4, 1], sizes=[1, 4])
    2.5

    References
    ----------
    .. [1] fredericks-congestion-1980
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
    """Chance of being turned away when the demand is burstier or smoother than at random.

    Parameters
    ----------
    servers : float
        Units (GPUs or parts) there are. [-]
    load : float
        Mean units in use if there were no limit. [-]
    peakedness : float
        Variance over mean of the units in use if there were no limit; 1 is random. [-]

    Returns
    -------
    hayward_b : float
        Share turned away, 0 to 1. [-]

    Notes
    -----
    Hayward's approximation: Erlang B with servers / peakedness servers and load / peakedness. Exact for peakedness 1,
    and for requests that all take the same number of units, where peakedness is that number and divides the servers.
    For mixed sizes it is one figure for all of them: the large ones fare worse, the small ones better.

    Examples
    --------
    >>> round(hayward_b(20, load=10, peakedness=2), 6)
    0.018385

    References
    ----------
    .. [1] fredericks-congestion-1980
    """
    n, a = _scaled(servers, load, peakedness)
    return erlang_b_real(n, load=a)


def hayward_c(servers: float, *, load: float, peakedness: float) -> float:
    """Chance of waiting when the demand is burstier or smoother than at random.

    Parameters
    ----------
    servers : float
        Units (GPUs or parts) there are. [-]
    load : float
        Mean units in use if there were no limit. [-]
    peakedness : float
        Variance over mean of the units in use if there were no limit; 1 is random. [-]

    Returns
    -------
    hayward_c : float
        Share that waits, 0 to 1; 1 where the load is not below the servers. [-]

    Notes
    -----
    Erlang C with servers / peakedness servers and load / peakedness. The scaling is Hayward's, published for being
    turned away; for waiting it is an engineering approximation that keeps (servers - load) / sqrt(load peakedness),
    on which the infinite-server approximation of the chance of waiting rests. Exact for peakedness 1, and for
    requests that all take the same number of units together for an exponential time, where peakedness is that
    number and divides the servers. Whole requests of mixed sizes, first come first served, wait more than it
    says, for the one at the head holds up those behind: simulated mixes of 1, 2, 4 and 8 units up to 1.7 times. Nor
    does it know bursts that outlast the requests: while the load stays above the servers, nearly everybody waits.

    Examples
    --------
    >>> round(hayward_c(20, load=10, peakedness=2), 6)
    0.036105

    References
    ----------
    .. [1] fredericks-congestion-1980
    .. [2] whitt-multi-server-1992
    """
    n, a = _scaled(servers, load, peakedness)
    return erlang_c_real(n, load=a)


def hayward_wait_longer_chance(
    servers: float, *, load: float, peakedness: float, duration_h: float, wait_h: float
) -> float:
    """Chance of waiting longer than a stated time when the demand is burstier or smoother than at random.

    Parameters
    ----------
    servers : float
        Units (GPUs or parts) there are. [-]
    load : float
        Mean units in use if there were no limit. [-]
    peakedness : float
        Variance over mean of the units in use if there were no limit; 1 is random. [-]
    duration_h : float
        Mean time a request holds its units. [h]
    wait_h : float
        The stated time. [h]

    Returns
    -------
    hayward_wait_longer_chance : float
        Share that waits longer, 0 to 1; 1 where the load is not below the servers. [-]

    Notes
    -----
    hayward_c * exp(-(servers - load) / peakedness * wait_h / duration_h): wait_longer_chance with servers and load
    over the peakedness. Exact where hayward_c is, and low where it is low: simulated mixes up to 1.6 times at
    a fifth of the duration.

    Examples
    --------
    >>> round(hayward_wait_longer_chance(20, load=10, peakedness=2, duration_h=2, wait_h=0.5), 5)
    0.01034

    References
    ----------
    .. [1] fredericks-congestion-1980
    .. [2] whitt-multi-server-1992
    """
    duration_h, wait_h = _duration(duration_h), _number("wait_h", wait_h)
    waits = hayward_c(servers, load=load, peakedness=peakedness)
    return waits * math.exp(-max(0.0, servers - load) / peakedness * wait_h / duration_h)


# ---- requests of several sizes: Kaufman-Roberts


def kaufman_roberts(
    capacity: int, *, loads: Sequence[float], sizes: Sequence[int], kept_free: Sequence[int] = ()
) -> tuple[float, ...]:
    """Chance that a request of each class is turned away when classes of several sizes share one pool.

    Parameters
    ----------
    capacity : int
        Units (GPUs or parts) in the pool. [-]
    loads : sequence of float
        Requests in progress of each class if there were no limit, in erlang. [-]
    sizes : sequence of int
        Units that a request of each class takes. [-]
    kept_free : sequence of int
        Units that must stay free after a request of each class is admitted; empty for none. [-]

    Returns
    -------
    kaufman_roberts : tuple of float
        Share of the requests of each class that is turned away, 0 to 1. [-]

    Notes
    -----
    j q(j) = sum over the classes of load size q(j - size), a class left out where j > capacity - kept_free; turned away
    in the states above capacity - size - kept_free. Requests come at random (Poisson) and any free units will do,
    on whatever host. Without kept_free exact, whatever the distribution of the durations. With it Roberts'
    approximation, which does not ask which class lasts longer. On 350 random pools of up to 24 units it was
    within 0.05 of the exact chance with equal durations (0.004 on average), and within 0.1 where they differ 10 or
    100 fold (0.011 on average).

    Examples
    --------
    >>> [round(chance, 7) for chance in kaufman_roberts(5, loads=[2, 1], sizes=[1, 2])]
    [0.1721854, 0.3818985]
    >>> [round(chance, 4) for chance in kaufman_roberts(5, loads=[2, 1], sizes=[1, 2], kept_free=[1, 0])]
    [0.3253, 0.3253]

    References
    ----------
    .. [1] kaufman-blocking-1981
    .. [2] roberts-heterogeneous-1981
    .. [3] iversen-teletraffic-2010
    """
    capacity = _whole("capacity", capacity)
    loads, sizes = _mix(loads, sizes)
    kept = [_whole(f"kept_free[{i}]", units) for i, units in enumerate(kept_free)] or [0] * len(sizes)
    _same_length(kept_free=kept, sizes=sizes)
    growth = _growth(capacity, loads, sizes, kept)
    spans = [size + units for size, units in zip(sizes, kept, strict=True)]
    return tuple(
        -math.expm1(-math.fsum(growth[capacity - span :])) if span <= capacity else 1.0 for span in spans
    )


def kaufman_roberts_curve(capacity: int, *, loads: Sequence[float], sizes: Sequence[int]) -> Floats:
    """Chance that a request of each class is turned away, for every capacity up to a largest one.

    Parameters
    ----------
    capacity : int
        Largest number of units in the pool. [-]
    loads : sequence of float
        Requests in progress of each class if there were no limit, in erlang. [-]
    sizes : sequence of int
        Units that a request of each class takes. [-]

    Returns
    -------
    kaufman_roberts_curve : array of float
        Row for each capacity 0, 1, ..., column for each class; 1 where the request is larger than the pool. [-]

    Notes
    -----
    The values of kaufman_roberts without kept_free, from one recursion: the weights q(j) do not depend on the capacity.

    Examples
    --------
    >>> kaufman_roberts_curve(5, loads=[2, 1], sizes=[1, 2])[[1, 5]].round(4).tolist()
    [[0.6667, 1.0], [0.1722, 0.3819]]

    References
    ----------
    .. [1] kaufman-blocking-1981
    .. [2] roberts-heterogeneous-1981
    """
    capacity = _whole("capacity", capacity)
    loads, sizes = _mix(loads, sizes)
    growth = np.array(_growth(capacity, loads, sizes, [0] * len(sizes)))
    return np.column_stack([_turned_away(growth, size) for size in sizes])


def equal_kept_free(sizes: Sequence[int]) -> tuple[int, ...]:
    """Units to keep free for each class so that all classes are turned away equally often.

    Parameters
    ----------
    sizes : sequence of int
        Units that a request of each class takes. [-]

    Returns
    -------
    equal_kept_free : tuple of int
        Units that must stay free after a request of each class is admitted. [-]

    Notes
    -----
    Largest size - own size: everybody is admitted exactly while the largest request would fit. That the chances are
    equal is exact for requests that come at random; how large they are is approximate, see kaufman_roberts. The small
    requests pay for it.

    Examples
    --------
    >>> equal_kept_free([1, 2, 8])
    (7, 6, 0)

    References
    ----------
    .. [1] iversen-teletraffic-2010
    """
    sizes = _sizes(sizes)
    return tuple(max(sizes) - size for size in sizes)


# ---- a closed group of people


def closed_demand(people: Sequence[int], *, shares: Sequence[float], sizes: Sequence[int]) -> Floats:
    """Distribution of the units that a closed group of people wants at once.

    Parameters
    ----------
    people : sequence of int
        People of each class. [-]
    shares : sequence of float
        Share of the time that one of them is active, 0 to 1. [-]
    sizes : sequence of int
        Units that one of them takes while active. [-]

    Returns
    -------
    closed_demand : array of float
        Chance that 0, 1, ... units are wanted, up to everybody active; adds up to 1. [-]

    Notes
    -----
    Sum over the classes of size * binomial(people, share), by convolution of positive terms. Everybody is active
    independently of the others; deadlines and office hours make people alike and the tails heavier. Terms of
    a class below 1e-40 of its largest are left out; chances above 1e-30 are good to 10 digits or more.

    Examples
    --------
    >>> closed_demand([2, 1], shares=[0.5, 0.5], sizes=[1, 2]).tolist()
    [0.125, 0.25, 0.25, 0.25, 0.125]

    References
    ----------
    .. [1] iversen-teletraffic-2010
    """
    people, odds, sizes = _group(people, shares, sizes)
    first, chances = _demand(people, odds, sizes)
    demand = np.zeros(sum(n * size for n, size in zip(people, sizes, strict=True)) + 1)
    demand[first : first + len(chances)] = chances
    return demand


def closed_short_chance(
    units: int, *, people: Sequence[int], shares: Sequence[float], sizes: Sequence[int]
) -> float:
    """Share of the time in which a closed group of people wants more units than there are.

    Parameters
    ----------
    units : int
        Units (GPUs or parts) there are. [-]
    people : sequence of int
        People of each class. [-]
    shares : sequence of float
        Share of the time that one of them is active, 0 to 1. [-]
    sizes : sequence of int
        Units that one of them takes while active. [-]

    Returns
    -------
    closed_short_chance : float
        P(demand > units), 0 to 1. [-]

    Notes
    -----
    Upper tail of closed_demand: what is wanted if nobody were ever turned away or held up.

    Examples
    --------
    >>> closed_short_chance(2, people=[2, 1], shares=[0.5, 0.5], sizes=[1, 2])
    0.375

    References
    ----------
    .. [1] iversen-teletraffic-2010
    """
    units = _whole("units", units)
    return _above(units, *_demand(*_group(people, shares, sizes)))


def closed_short_curve(
    units: int, *, people: Sequence[int], shares: Sequence[float], sizes: Sequence[int]
) -> Floats:
    """Share of the time in which a closed group wants more than there is, for every number of units up to a largest.

    Parameters
    ----------
    units : int
        Largest number of units. [-]
    people : sequence of int
        People of each class. [-]
    shares : sequence of float
        Share of the time that one of them is active, 0 to 1. [-]
    sizes : sequence of int
        Units that one of them takes while active. [-]

    Returns
    -------
    closed_short_curve : array of float
        P(demand > units) for 0, 1, ... units. [-]

    Notes
    -----
    The values of closed_short_chance.

    Examples
    --------
    >>> closed_short_curve(4, people=[2, 1], shares=[0.5, 0.5], sizes=[1, 2]).tolist()
    [0.875, 0.625, 0.375, 0.125, 0.0]

    References
    ----------
    .. [1] iversen-teletraffic-2010
    """
    units = _whole("units", units)
    first, chances = _demand(*_group(people, shares, sizes))
    curve = np.zeros(max(units + 1, first + len(chances)))
    curve[: first + len(chances) - 1] = 1.0
    curve[first : first + len(chances) - 1] = np.minimum(1.0, np.cumsum(chances[:0:-1])[::-1])
    return curve[: units + 1]


def closed_wait_chance(
    units: int, *, people: Sequence[int], shares: Sequence[float], sizes: Sequence[int]
) -> tuple[float, ...]:
    """Chance that a request of each class finds too few units free when nobody is ever turned away.

    Parameters
    ----------
    units : int
        Units (GPUs or parts) there are. [-]
    people : sequence of int
        People of each class. [-]
    shares : sequence of float
        Share of the time that one of them is active, 0 to 1. [-]
    sizes : sequence of int
        Units that one of them takes while active. [-]

    Returns
    -------
    closed_wait_chance : tuple of float
        Chance for each class, 0 to 1. [-]

    Notes
    -----
    P(demand of the others > units - size): who asks was idle and sees what the others want. The demand is taken as neither thinned by those who are held
    up nor prolonged by their wait, so frequent waiting is understated: for one-unit requests a simulation of the queue
    found 3.5 % where it says 3.3 %, 23 % where it says 20 %, and 51 % where it says 43 %. For a class without people it is what one more person would meet.

    Examples
    --------
    >>> closed_wait_chance(2, people=[2, 1], shares=[0.5, 0.5], sizes=[1, 2])
    (0.5, 0.75)

    References
    ----------
    .. [1] iversen-teletraffic-2010
    """
    units = _whole("units", units)
    people, odds, sizes = _group(people, shares, sizes)
    others = _others(people, odds, sizes)
    return tuple(
        _above(units - size, first, chances) for size, (first, chances) in zip(sizes, others, strict=True)
    )


def closed_wait_curve(
    units: int, *, people: Sequence[int], shares: Sequence[float], sizes: Sequence[int]
) -> Floats:
    """Chance that a request of each class finds too few units free, for every number of units up to a limit.

    Parameters
    ----------
    units : int
        Largest number of units (GPUs or parts). [-]
    people : sequence of int
        People of each class. [-]
    shares : sequence of float
        Share of the time that one of them is active, 0 to 1. [-]
    sizes : sequence of int
        Units that one of them takes while active. [-]

    Returns
    -------
    closed_wait_curve : ndarray
        Chances with 0 to that many units, one row each and one column for each class. [-]

    Notes
    -----
    As ``closed_wait_chance``.

    Examples
    --------
    >>> closed_wait_curve(2, people=[2, 1], shares=[0.5, 0.5], sizes=[1, 2]).tolist()
    [[1.0, 1.0], [0.75, 1.0], [0.5, 0.75]]

    References
    ----------
    .. [1] iversen-teletraffic-2010
    """
    units = _whole("units", units)
    people, odds, sizes = _group(people, shares, sizes)
    curve = np.ones((units + 1, len(sizes)))
    for own, (first, chances) in enumerate(_others(people, odds, sizes)):
        above = np.append(np.minimum(1.0, np.cumsum(chances[::-1])[::-1]), 0.0)  # at least first + index
        wanted = np.arange(units + 1) - sizes[own] + 1 - first
        curve[:, own] = np.where(wanted < 1, 1.0, above[np.clip(wanted, 0, len(above) - 1)])
    return curve


def closed_wait_longer_curve(
    units: int,
    *,
    people: Sequence[int],
    shares: Sequence[float],
    sizes: Sequence[int],
    duration_h: float,
    wait_h: float,
) -> Floats:
    """Chance that a request of each class of a closed group waits longer than a stated time, for every number of units up to a limit.

    Parameters
    ----------
    units : int
        Largest number of units (GPUs or parts). [-]
    people : sequence of int
        People of each class. [-]
    shares : sequence of float
        Share of the time that one of them is active, 0 to 1. [-]
    sizes : sequence of int
        Units that one of them takes while active. [-]
    duration_h : float
        Mean time for which a unit is held. [h]
    wait_h : float
        The wait that is too long. [h]

    Returns
    -------
    closed_wait_longer_curve : ndarray
        Chances with 0 to that many units, one row each and one column for each class. [-]

    Notes
    -----
    closed_wait_curve * exp(-(units - load) * wait_h / (z * duration_h)), the exponent not above 0, with the mean units wanted
    (load) and their peakedness z if requests were independent: the waits of M/M/c. Approximate: those who wait ask for
    nothing more, so the queue of a closed group is shorter. For one-unit requests a simulation found 1.6 % where it says 2.1 %, and 7.4 %
    where it says 8.7 %.

    Examples
    --------
    >>> curve = closed_wait_longer_curve(8, people=[10], shares=[0.5], sizes=[1], duration_h=2.0, wait_h=1.0)
    >>> round(float(curve[8, 0]), 4)  # 0.0195 wait at all
    0.0044

    References
    ----------
    .. [1] iversen-teletraffic-2010
    """
    curve = closed_wait_curve(units, people=people, shares=shares, sizes=sizes)
    duration_h, wait_h = _duration(duration_h), _number("wait_h", wait_h)
    loads = [n * p for n, p in zip(people, shares, strict=True)]
    load = sum(a * size for a, size in zip(loads, sizes, strict=True))
    if not load:
        return curve
    z = peakedness_of_mix(loads, sizes=sizes)
    spare = np.maximum(0.0, np.arange(units + 1) - load)
    return np.asarray(curve * np.exp(-spare * wait_h / (z * duration_h))[:, None])


def closed_blocking(
    units: int, *, people: Sequence[int], shares: Sequence[float], sizes: Sequence[int]
) -> tuple[float, ...]:
    """Chance that a request of each class of a closed group is turned away.

    Parameters
    ----------
    units : int
        Units (GPUs or parts) there are. [-]
    people : sequence of int
        People of each class. [-]
    shares : sequence of float
        Share of the time that one of them would be active if never turned away, 0 to 1. [-]
    sizes : sequence of int
        Units that one of them takes while active. [-]

    Returns
    -------
    closed_blocking : tuple of float
        Share of the requests of each class that is turned away, 0 to 1. [-]

    Notes
    -----
    Engset with several sizes, exact: P(D > units - size | D <= units), D the demand with one person of the class fewer.
    Who is turned away is idle again and asks after another idle time, on average (1 - share) / share durations;
    the distributions do not matter. A share of 1 stands for the limit: the idle time goes to 0, taken at odds of 1e12,
    and each try counts. For a class without people it is what one more person would meet.

    Examples
    --------
    >>> closed_blocking(1, people=[2], shares=[0.5], sizes=[1])
    (0.5,)

    References
    ----------
    .. [1] iversen-teletraffic-2010
    """
    units = _whole("units", units)
    people, odds, sizes = _group(people, shares, sizes)
    growth = _closed_growth(units, max(1, units - max(sizes) + 1), people, odds, sizes)
    return tuple(
        -math.expm1(-math.fsum(column[units - size :])) if size <= units else 1.0
        for size, column in zip(sizes, growth.T, strict=True)
    )


def closed_blocking_curve(
    units: int, *, people: Sequence[int], shares: Sequence[float], sizes: Sequence[int]
) -> Floats:
    """Chance that a request of each class of a closed group is turned away, for every number of units up to a largest.

    Parameters
    ----------
    units : int
        Largest number of units. [-]
    people : sequence of int
        People of each class. [-]
    shares : sequence of float
        Share of the time that one of them would be active if never turned away, 0 to 1. [-]
    sizes : sequence of int
        Units that one of them takes while active. [-]

    Returns
    -------
    closed_blocking_curve : array of float
        Row for each number of units 0, 1, ..., column for each class; 1 where the request is larger. [-]

    Notes
    -----
    The values of closed_blocking.

    Examples
    --------
    >>> closed_blocking_curve(2, people=[2], shares=[0.5], sizes=[1]).round(4).tolist()
    [[1.0], [0.5], [0.0]]

    References
    ----------
    .. [1] iversen-teletraffic-2010
    """
    units = _whole("units", units)
    people, odds, sizes = _group(people, shares, sizes)
    growth = _closed_growth(units, 1, people, odds, sizes)
    return np.column_stack([_turned_away(column, size) for size, column in zip(sizes, growth.T, strict=True)])


# ---- the other way round


def least_servers(chance: Callable[[int], float], *, target: float, start: int) -> int:
    """Fewest servers with which a chance is not above its target.

    Parameters
    ----------
    chance : callable
        Chance for a number of servers; more servers must never raise it. [-]
    target : float
        Largest chance that is accepted, above 0 and below 1. [-]
    start : int
        Number of servers to try first, such as the load. [-]

    Returns
    -------
    least_servers : int
        The least n from 0 on with chance(n) <= target. [-]

    Notes
    -----
    Doubling from start until the chance is low enough, then bisection; with a chance that is not above the target
    at a number and above it at a larger one, any of the numbers where it falls below is given. Chances of being
    turned away of a mix of sizes do rise in places: a unit more may let a large request in that shuts small ones
    out. For a mix use the largest chance of all classes, and a curve where the sizes do not divide each other.

    Examples
    --------
    >>> least_servers(lambda n: erlang_b(n, load=5), target=0.02, start=5)
    10

    References
    ----------
    .. [1] gpuplan-method
    """
    if not 0 < _number("target", target) < 1:
        raise ValueError(f"target is {target!r}: must be above 0 and below 1")
    low, high = -1, _whole("start", start)
    while chance(high) > target:
        if high == _MOST_UNITS:
            raise ValueError(f"target {target!r} is not reached with {_MOST_UNITS:,} servers")
        low, high = high, min(2 * high + 1, _MOST_UNITS)
    while high - low > 1:
        middle = (low + high) // 2
        if chance(middle) > target:
            low = middle
        else:
            high = middle
    return high


# ---- what is asked for


def _whole(name: str, value: int, least: int = 0) -> int:
    """A count, refused if it is none."""
    if type(value) is int and least <= value <= _MOST_UNITS:
        return value
    if isinstance(value, bool) or not isinstance(value, Integral) or not least <= value <= _MOST_UNITS:
        raise ValueError(f"{name} is {value!r}: must be a whole number from {least} to {_MOST_UNITS:,}")
    return int(value)


def _number(name: str, value: float, most: float = _MOST) -> float:
    """A number from 0 on, refused if it is none."""
    if type(value) is float and 0 <= value <= most:
        return value
    if isinstance(value, bool) or not isinstance(value, Real) or not 0 <= value <= most:
        raise ValueError(f"{name} is {value!r}: must be a number from 0 to {most:,.0f}")
    return float(value)


def _duration(duration_h: float) -> float:
    """The mean duration, refused if it is 0."""
    if not _number("duration_h", duration_h) > 0:
        raise ValueError(f"duration_h is {duration_h!r}: must be above 0")
    return float(duration_h)


def _spare(servers: int, load: float) -> float:
    """Servers above the load, refused if there are none."""
    if load >= servers:
        raise ValueError(f"load {load!r} is not below the {servers} servers: the wait grows without end")
    return servers - load


def _scaled(servers: float, load: float, peakedness: float) -> tuple[float, float]:
    """Servers and load over the peakedness."""
    if not _number("peakedness", peakedness) > 0:
        raise ValueError(f"peakedness is {peakedness!r}: must be above 0")
    n, a = _number("servers", servers) / peakedness, _number("load", load) / peakedness
    if not (n <= _MOST_UNITS and a <= _MOST):
        raise ValueError(
            f"peakedness is {peakedness!r}: too small for {servers!r} servers and load {load!r}, "
            f"over the peakedness they may be {_MOST_UNITS:,} and {_MOST:,.0f}"
        )
    return n, a


def _same_length(**columns: Sequence[float]) -> None:
    """One value for each class everywhere, and at least one class."""
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


# ---- the recursions


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


def _growth(
    capacity: int, loads: Sequence[float], sizes: Sequence[int], kept_free: Sequence[int]
) -> list[float]:
    """log(Q(j) / Q(j - 1)) for j = 1 to the capacity, Q(j) the weight of all states with up to j units in use."""
    flows = [
        (load * size, size, capacity - units)
        for load, size, units in zip(loads, sizes, kept_free, strict=True)
    ]
    widest = max(sizes)
    states = [0.0] * (widest - 1) + [1.0]
    total = 1.0
    growth = []
    for j in range(1, capacity + 1):
        state = 0.0
        for flow, size, last in flows:
            if j <= last:
                state += flow * states[-size]
        state /= j
        growth.append(math.log1p(state / total))
        total += state
        states.append(state)
        if total > 1e200:
            states[-widest:] = [weight / 1e200 for weight in states[-widest:]]
            total /= 1e200
    return growth


def _turned_away(growth: Floats, size: int) -> Floats:
    """1 - Q(n - size) / Q(n) for n = 0, 1, ..., from log(Q(j) / Q(j - 1)) for j = 1, 2, ...; 1 where n < size.

    Sums of `size` neighbours without differences: what is left of a block and what is there of the next one.
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
    """First number of units wanted that counts, and the chances from there on."""
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


def _above(units: int, first: int, chances: Floats) -> float:
    """Chance of more than so many units; the sum is over the tail, so that small chances keep their digits."""
    if units < first:
        return 1.0
    return min(1.0, float(chances[units - first + 1 :].sum()))


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


def _closed_growth(
    units: int, least: int, people: Sequence[int], odds: Sequence[float], sizes: Sequence[int]
) -> Floats:
    """log(P(D <= j) / P(D <= j - 1)) for j = 1 to the units, D the demand without one person of each class.

    Rows below the least are 0. Far below the mean the chances themselves are too small for a number. There
    the odds are tilted so that the mean demand is at the units: that multiplies the chance of j by exp(-tilt j), which
    is taken back. One tilt serves until the chance of a demand so low falls under _SEEN, then the next one does.
    """
    growth = np.zeros((units, len(people)))
    odds = [min(odd, _MOST_ODDS) for odd in odds]
    high = units
    while high >= least:
        tilt = _tilt(high, people, odds, sizes)
        back = math.exp(-tilt)
        tilted = [odd * math.exp(-tilt * size) for odd, size in zip(odds, sizes, strict=True)]
        others = _others(people, tilted, sizes)
        low = max(first + 1 + int(np.searchsorted(np.cumsum(chances), _SEEN)) for first, chances in others)
        low = min(high, max(least, low))
        first = others[0][0]  # the same for all
        wanted = np.zeros((max(0, high - first + 1), len(others)))
        for own, (_, chances) in enumerate(others):
            wanted[: len(chances), own] = chances[: len(wanted)]
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
