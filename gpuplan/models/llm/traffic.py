"""Traffic: requests that come as they come, what they wait for their first token, and how many replicas start most of them in time.

A replica works on all its requests together and reads prompts between the steps of the others. The formulas here take a replica
as a queue whose speed depends on how many it works on; ``batching`` plays the same requests one after the other.

Parameters
----------
requests_per_second : float
    Requests that arrive in a second, to all replicas together. [-]
first_token_s : float
    Time within which a request is promised its first token. [s]
requests : int
    Most requests at once: what the promises or the engine allow. [-]
chunk_tokens : float
    Tokens of prompts that are read with one step; 0: a whole prompt. [-]

References
----------
.. [1] gpuplan-method
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gpuplan.models.llm.memory import held, request_gib
from gpuplan.models.llm.serving import Replica, decode_step_ms, prompt_ms
from gpuplan.units import above_zero, at_least_one, not_negative, zero_to_one

Floats = NDArray[np.float64]

GRID = 48
"""Points of a law between which it is taken as straight."""
SAMPLES = 4096
MOST_REPLICAS = 100_000
MOST_STATES = 200_000
"""States of the chain; with more of them, several are taken as one."""


@dataclass(frozen=True, slots=True)
class Pace:
    """How fast one replica works, as points of its two laws, and how much it takes at once; ``pace_of`` makes it.

    A step takes ``step_s`` + ``context_s`` times the mean context of its requests. Prompts are read ``chunk_tokens`` at a time
    (0: one whole prompt), each together with a step, which it lengthens by ``overlap_share`` of its own time.
    """

    batches: tuple[float, ...]
    step_s: tuple[float, ...]
    context_s: tuple[float, ...]
    prompts: tuple[float, ...]
    prompt_s: tuple[float, ...]
    requests: int
    """Most at once, by the promises or by the engine."""
    cache_tokens: float = math.inf
    """Tokens that the KV cache holds; each request reserves its prompt and its answer."""
    chunk_tokens: float = 8192
    overlap_share: float = 1.0
    wait_s: float = 0.0
    """Time of a request beside all this: tokenising, the way there and back."""

    def step(self, requests: Floats, context_tokens: float) -> Floats:
        """Time of a step of so many requests."""
        return np.asarray(
            np.interp(requests, self.batches, self.step_s)
            + context_tokens * np.interp(requests, self.batches, self.context_s)
        )

    def read(self, tokens: Floats) -> Floats:
        """Time to read prompts of so many tokens when nothing else is done."""
        found = np.interp(tokens, self.prompts, self.prompt_s)
        rise = (self.prompt_s[-1] - self.prompt_s[-2]) / (self.prompts[-1] - self.prompts[-2])
        return np.asarray(found + np.maximum(0, tokens - self.prompts[-1]) * rise)


@dataclass(frozen=True, slots=True)
class Traffic:
    """What requests are like. Lengths are lognormal; a spread is the standard deviation over the mean, 0: all alike."""

    tokens_in: float
    tokens_out: float
    spread_in: float = 0.0
    spread_out: float = 0.0
    peakedness: float = 1.0
    """Variance over mean of the requests that arrive in a short time; 1: independent of each other (Poisson)."""

    @property
    def context_tokens(self) -> float:
        """Mean context of a token of an answer: long answers have more of them."""
        return self.tokens_in + self.tokens_out * (1 + self.spread_out**2) / 2

    @property
    def reserved_tokens(self) -> float:
        """Cache that a request which is worked on reserves, on average: long answers stay longer."""
        return self.tokens_in + self.tokens_out * (1 + self.spread_out**2)


class Answers(NamedTuple):
    """What users of some replicas see, by formula."""

    mean_s: float
    """Time to the first token; infinite where more comes than the replicas can do."""
    p50_s: float
    p95_s: float
    p99_s: float
    kept_share: float
    """Share of the requests that start within the promise."""
    token_s: float
    """Time between two tokens of an answer, on average."""
    load_share: float
    """Requests that come over the most that the replicas can do."""
    busy_share: float
    """Share of the time in which a replica works on at least one request."""
    requests: float
    """At once on each replica, waiting ones included."""


def pace_of(
    step_ms: Callable[[float, float], float],
    prompt_ms: Callable[[float], float],
    *,
    requests: int,
    context_tokens: float,
    longest_tokens: float,
    cache_tokens: float = math.inf,
    chunk_tokens: float = 8192,
    overlap_share: float = 1.0,
    wait_ms: float = 0.0,
) -> Pace:
    """Two laws of a replica as points, so that traffic on it is worked out quickly.

    Parameters
    ----------
    step_ms : callable
        Time of a step by requests at once and their mean context. [ms]
    prompt_ms : callable
        Time to read a prompt by its tokens. [ms]
    context_tokens : float
        Mean context; between half of it and one and a half times it the law of steps is taken as straight. [-]
    longest_tokens : float
        Longest prompt for which the law of prompts is asked; beyond it, it goes on as straight. [-]
    cache_tokens : float
        Tokens that the KV cache of the replica holds. [-]
    overlap_share : float
        How much of reading a prompt those that decode wait for. [-]
    wait_ms : float
        Time of a request beside steps and prompts. [ms]

    Notes
    -----
    48 points each, evenly by ratio; about 150 calls of the laws, after which traffic needs none.

    Examples
    --------
    >>> found = pace_of(lambda n, context: 10 + 0.1 * n, lambda tokens: 0.05 * tokens, requests=8, context_tokens=1000, longest_tokens=8000)
    >>> found.step(4.0, 1000.0).round(4).item(), found.read(2000.0).round(4).item()
    (0.0104, 0.1)
    """
    at_least_one(requests=requests)
    above_zero(context_tokens=context_tokens, longest_tokens=longest_tokens)
    not_negative(chunk_tokens=chunk_tokens, wait_ms=wait_ms)
    zero_to_one(overlap_share=overlap_share)
    batches = sorted(
        {float(n) for n in np.unique(np.geomspace(1, requests, GRID).round())} | {float(requests)}
    )
    near, far = context_tokens / 2, context_tokens * 1.5
    ends = [(step_ms(n, near) / 1e3, step_ms(n, far) / 1e3) for n in batches]
    slopes = [max(0.0, high - low) / (far - near) for low, high in ends]
    most = max(longest_tokens, 2.0)
    prompts = [0.0, *np.geomspace(1, most, GRID).tolist()]
    return Pace(
        batches=tuple(batches),
        step_s=tuple(max(low - slope * near, 1e-9) for (low, _), slope in zip(ends, slopes, strict=True)),
        context_s=tuple(slopes),
        prompts=tuple(prompts),
        prompt_s=(0.0, *(prompt_ms(tokens) / 1e3 for tokens in prompts[1:])),
        requests=requests,
        cache_tokens=cache_tokens,
        chunk_tokens=chunk_tokens,
        overlap_share=overlap_share,
        wait_s=wait_ms / 1e3,
    )


def replica_pace(
    replica: Replica,
    *,
    traffic: Traffic,
    requests: int,
    chunk_tokens: float = 8192,
) -> Pace:
    """The laws of a replica of a model on a board.

    Notes
    -----
    Steps and prompts as ``serving`` has them; the cache holds what weights and engine leave, at the length of a mean request.

    Raises
    ------
    ValueError
        If the model does not fit.

    Examples
    --------
    >>> from gpuplan.models.llm.shape import Board, Setup, Shape
    >>> llama = Shape(70.55, 70.55, layers=80, hidden_size=8192, heads=64, vocabulary=128256, context_tokens=131072, kv_heads=8)
    >>> replica = Replica(llama, Board(79.19, 3350, 989, 1978, link_gb_s=450), Setup("fp8", tensor=4))
    >>> found = replica_pace(replica, traffic=Traffic(2000, 400), requests=64)
    >>> 400_000 < found.cache_tokens < 900_000
    True
    """
    setup = replica.setup
    left = held(
        replica.shape, setup=setup, memory_gib=replica.board.memory_gib, overheads=replica.overheads
    ).cache_gib
    if left <= 0:
        raise ValueError(
            f"the model does not fit on {setup.gpus} GPUs in {setup.weights}; take more GPUs per replica"
        )
    usual = traffic.reserved_tokens
    return pace_of(
        lambda n, context: decode_step_ms(replica, requests=n, context_tokens=context),
        lambda tokens: prompt_ms(replica, tokens_in=tokens),
        requests=requests,
        context_tokens=traffic.context_tokens,
        longest_tokens=max(32768.0, 8 * traffic.tokens_in),
        cache_tokens=left / request_gib(replica.shape, setup=setup, tokens=usual) * usual,
        chunk_tokens=chunk_tokens,
        overlap_share=replica.speeds.overlap_share,
        wait_ms=replica.speeds.wait_ms,
    )


def answers(
    pace: Pace,
    traffic: Traffic,
    *,
    requests_per_second: float,
    replicas: int = 1,
    first_token_s: float = math.inf,
) -> Answers:
    """Times to the first token with random arrivals, each going to the replica with the fewest requests, by formula.

    Parameters
    ----------
    replicas : int
        Replicas. [-]

    Notes
    -----
    Assumes that the load stays as it is, and that replicas share it evenly. Requests in all replicas are a chain of states: one
    more at the rate of arrivals, one less at the rate at which so many are finished; a finished one has cost its share of the steps
    and its prompt. Below the most at once this is processor sharing, where only the mean of the lengths counts [1]_; with
    exponential lengths it is exact. Bursts make the chain coarser (Hayward) by 1 + (peakedness - 1) E[min of two answers] / E[an
    answer] [2]_. A request then waits for a place (exponentially, by the rates left over, times half the sum of the variabilities
    of arrivals and lengths), for prompts before its own [3]_, for the end of a step, and for its own prompt. Percentiles are of
    4,096 even points of these. Up to 80 % load and independent arrivals p95 is within a quarter of the simulation; at 90 % load,
    or in bursts, it is 0.5 to 1.5 times that.

    Examples
    --------
    >>> replica = pace_of(lambda n, context: 10 + 0.1 * n, lambda tokens: 0.1 * tokens, requests=64, context_tokens=2200, longest_tokens=9000)
    >>> idle = answers(replica, Traffic(2000, 400), requests_per_second=0.001, first_token_s=1)
    >>> round(idle.p50_s, 2), idle.kept_share
    (0.2, 1.0)
    >>> busy = answers(replica, Traffic(2000, 400), requests_per_second=3.5, first_token_s=1)
    >>> idle.p95_s < busy.p95_s and busy.kept_share < 1
    True

    References
    ----------
    .. [1] kelly-networks-1979
    .. [2] whitt-blocking-1984
    .. [3] whitt-qna-1983
    """
    at_least_one(replicas=replicas)
    above_zero(
        requests_per_second=requests_per_second, tokens_in=traffic.tokens_in, tokens_out=traffic.tokens_out
    )
    above_zero(peakedness=traffic.peakedness, first_token_s=min(first_token_s, 1e9))
    not_negative(spread_in=traffic.spread_in, spread_out=traffic.spread_out)
    chain = _chain(pace, traffic, requests_per_second, replicas)
    if chain is None:
        most = replicas * float(_finished(pace, traffic, np.array([_most(pace, traffic)]))[0])
        late = math.inf
        return Answers(late, late, late, late, 0.0, late, requests_per_second / most, 1.0, late)
    sample = _first_tokens(pace, traffic, requests_per_second, replicas, chain)
    p50, p95, p99 = np.quantile(sample, (0.5, 0.95, 0.99))
    each = np.minimum(np.maximum(chain.each, 1.0), chain.most)
    weight = chain.chance * np.minimum(chain.each, chain.most)
    token = _held_up(pace, traffic, each) * each / max(traffic.tokens_out, 1.0)
    token += pace.step(each, traffic.context_tokens)
    return Answers(
        mean_s=float(sample.mean()),
        p50_s=float(p50),
        p95_s=float(p95),
        p99_s=float(p99),
        kept_share=float((sample <= first_token_s).mean()),
        token_s=float((weight * token).sum() / weight.sum()),
        load_share=chain.load,
        busy_share=float((chain.chance * np.minimum(chain.each, 1.0)).sum()),
        requests=chain.requests,
    )


def replicas_for(
    pace: Pace,
    traffic: Traffic,
    *,
    requests_per_second: float,
    first_token_s: float,
    share: float = 0.95,
    least: int = 1,
) -> int:
    """Fewest replicas with which a given share of requests starts within the promised time, by formula.

    Parameters
    ----------
    share : float
        Share of the requests for which it must hold, above 0 and below 1. [-]
    least : int
        Replicas at least. [-]

    Notes
    -----
    Doubling from as many as can carry the load at all, then halving the interval; ``answers`` says what is assumed.

    Raises
    ------
    ValueError
        If not even an idle replica starts so many requests in time: with the time in which it does.

    Examples
    --------
    >>> replica = pace_of(lambda n, context: 10 + 0.1 * n, lambda tokens: 0.1 * tokens, requests=64, context_tokens=2200, longest_tokens=9000)
    >>> [replicas_for(replica, Traffic(2000, 400), requests_per_second=n, first_token_s=1) for n in (1, 10, 100)]
    [1, 4, 36]
    """
    above_zero(first_token_s=first_token_s, requests_per_second=requests_per_second)
    if not 0 < share < 1:
        raise ValueError(f"share is {share!r}; it must be above 0 and below 1")
    at_least_one(least=least)
    prompts = np.quantile(_read_times(pace, traffic)[0], share)
    soonest = float(prompts) + pace.wait_s
    nearest = f"promise at least {math.ceil(soonest * 1.05 * 20) / 20:g} s, or take more GPUs per replica or shorter prompts"
    if soonest > first_token_s:
        raise ValueError(
            f"{100 * share:g} % of the requests within {first_token_s:g} s is sooner than an idle replica starts them; {nearest}"
        )

    def kept(count: int) -> bool:
        found = answers(
            pace,
            traffic,
            requests_per_second=requests_per_second,
            replicas=count,
            first_token_s=first_token_s,
        )
        return found.kept_share >= share

    most = float(_finished(pace, traffic, np.array([_most(pace, traffic)]))[0])
    high = max(least, math.ceil(requests_per_second / most))
    low = high - 1
    while not kept(high):
        if high > MOST_REPLICAS:
            raise ValueError(
                f"{100 * share:g} % of the requests within {first_token_s:g} s is not reached with {MOST_REPLICAS:,} replicas; {nearest}"
            )
        low, high = high, high + max(1, high // 4)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if kept(middle) else (middle, high)
    return high


def replica_curve(
    pace: Pace,
    traffic: Traffic,
    *,
    requests_per_second: float,
    first_token_s: float,
    most: int = 12,
) -> tuple[tuple[int, Answers], ...]:
    """What users see with ever more replicas, from the fewest that carry the load.

    Parameters
    ----------
    most : int
        Points at most. [-]

    Returns
    -------
    replica_curve : tuple of (int, Answers)
        Replicas, and what users of so many see. [-]

    Notes
    -----
    Ends where one more replica brings less than a thousandth of the requests.

    Examples
    --------
    >>> replica = pace_of(lambda n, context: 10 + 0.1 * n, lambda tokens: 0.1 * tokens, requests=64, context_tokens=2200, longest_tokens=9000)
    >>> found = replica_curve(replica, Traffic(2000, 400), requests_per_second=10, first_token_s=0.5)
    >>> all(fewer.kept_share < more.kept_share for (_, fewer), (_, more) in zip(found, found[1:-1]))
    True
    """
    at_least_one(most=most)
    above_zero(requests_per_second=requests_per_second)
    each = float(_finished(pace, traffic, np.array([_most(pace, traffic)]))[0])
    first = math.floor(requests_per_second / each) + 1
    found: list[tuple[int, Answers]] = []
    for count in range(first, first + most):
        now = answers(
            pace,
            traffic,
            requests_per_second=requests_per_second,
            replicas=count,
            first_token_s=first_token_s,
        )
        found.append((count, now))
        if len(found) > 1 and now.kept_share - found[-2][1].kept_share < 0.001 and now.kept_share > 0.5:
            break
    return tuple(found)


# ---- the parts of it


class _Chain(NamedTuple):
    """How likely how many requests are in all replicas."""

    each: Floats
    """On each replica, by state; the last one stands for all with requests that wait."""
    chance: Floats
    most: float
    rate_left: float
    """Requests a second that could be finished beyond those that come, when all places are taken."""
    load: float
    requests: float


def _most(pace: Pace, traffic: Traffic) -> float:
    """Requests that a replica works on at once, by its places and its cache."""
    return max(1.0, min(pace.requests, pace.cache_tokens / traffic.reserved_tokens))


def lengths(mean: float, spread: float, *, shares: Floats) -> Floats:
    """Quantiles of a lognormal length.

    Parameters
    ----------
    mean : float
        Mean length. [-]
    spread : float
        Standard deviation over the mean. [-]
    shares : array of float
        Shares that are not longer, above 0 and below 1. [-]

    Returns
    -------
    lengths : array of float
        Lengths. [-]

    Notes
    -----
    exp(m + s z) with s^2 = log(1 + spread^2) and m = log(mean) - s^2 / 2.

    Examples
    --------
    >>> lengths(1000, 1, shares=np.array([0.5, 0.95])).round(0).tolist()
    [707.0, 2781.0]
    """
    from scipy.special import ndtri

    square = math.log1p(spread**2)
    return np.asarray(np.exp(math.log(mean) - square / 2 + math.sqrt(square) * ndtri(shares)))


def _read_times(pace: Pace, traffic: Traffic) -> tuple[Floats, Floats]:
    """Times to read prompts of even quantiles, and their chunks."""
    tokens = lengths(traffic.tokens_in, traffic.spread_in, shares=(np.arange(256) + 0.5) / 256)
    tokens *= traffic.tokens_in / tokens.mean()
    chunks = tokens / pace.chunk_tokens if pace.chunk_tokens else np.ones(len(tokens))
    return pace.read(tokens), chunks


def _held_up(pace: Pace, traffic: Traffic, each: Floats) -> Floats:
    """By how much a prompt lengthens the steps of a replica that works on so many; on its own it is read in its own time."""
    read, chunks = _read_times(pace, traffic)
    mean, pieces = float(read.mean()), float(np.maximum(chunks, 1).mean())
    beside = np.where(each > 1, pace.step(np.maximum(each - 1, 1.0), traffic.context_tokens), 0.0)
    return np.maximum(mean - pieces * beside, pace.overlap_share * mean)


def _finished(pace: Pace, traffic: Traffic, each: Floats) -> Floats:
    """Requests a second that a replica finishes when it works on so many."""
    steps = max(traffic.tokens_out - 1, 0.0) * pace.step(each, traffic.context_tokens) / each
    return np.asarray(1 / (steps + _held_up(pace, traffic, each)))


def _chain(pace: Pace, traffic: Traffic, arrivals: float, replicas: int) -> _Chain | None:
    """The chain of states of all replicas, or None where more comes than they can do."""
    most = _most(pace, traffic)
    top = replicas * float(_finished(pace, traffic, np.array([most]))[0])
    if arrivals >= top:
        return None
    short = math.erfc(math.sqrt(math.log1p(traffic.spread_out**2)) / 2)
    coarse = max(0.1, 1 + (traffic.peakedness - 1) * short)
    count = min(MOST_STATES, max(1, round(replicas * most / coarse)))
    total = np.linspace(0, replicas * most, count + 1)
    each = total / replicas
    rates = replicas * np.minimum(each[1:], 1) * _finished(pace, traffic, np.maximum(each[1:], 1.0))
    weights = np.concatenate([[0.0], np.cumsum(np.log(arrivals / rates))])
    chance = np.exp(weights - weights.max())
    load = arrivals / top
    chance[-1] /= 1 - load
    chance /= chance.sum()
    waiting = chance[-1] * load / (1 - load) * coarse
    return _Chain(each, chance, most, top - arrivals, load, float((chance * each).sum() + waiting / replicas))


def _first_tokens(pace: Pace, traffic: Traffic, arrivals: float, replicas: int, chain: _Chain) -> Floats:
    """Times to the first token at even points of all that chance decides."""
    state, place, own, queue, rest = _even_points(5)
    found = np.searchsorted(np.cumsum(chain.chance), state * (1 - 1e-12))
    each = chain.each[np.minimum(found, len(chain.each) - 1)]
    step = np.where(each >= 1, pace.step(np.maximum(each, 1.0), traffic.context_tokens), 0.0)
    read, chunks = _read_times(pace, traffic)
    tokens = lengths(traffic.tokens_in, traffic.spread_in, shares=own)
    pieces = np.ceil(tokens / pace.chunk_tokens) if pace.chunk_tokens else 1.0
    alone = pace.read(tokens)
    prompt = np.maximum(alone, pieces * step + pace.overlap_share * alone)
    stay = _stay_variability(pace, traffic, chain, read)
    longer = (traffic.peakedness + stay) / 2 / chain.rate_left
    wait = np.where(found >= len(chain.each) - 1, -np.log1p(-place) * longer, 0.0)
    usual = float(step.mean())
    service = np.maximum(read, chunks * usual + pace.overlap_share * read)
    gate = min(1.0, max(0.0, pace.chunk_tokens / traffic.tokens_in - 1))
    before = _queue_wait(service, arrivals / replicas, traffic, replicas, chain.requests, queue, gate)
    return np.asarray(pace.wait_s + wait + before + rest * step + prompt)


def _even_points(dimensions: int) -> Floats:
    """Points that fill a cube evenly, the same each time (an additive recurrence)."""
    ratio = 2.0
    for _ in range(40):
        ratio = (1 + ratio) ** (1 / (dimensions + 1))
    steps = ratio ** -np.arange(1.0, dimensions + 1)
    return np.asarray((0.5 + np.outer(steps, np.arange(1, SAMPLES + 1))) % 1.0)


def _stay_variability(pace: Pace, traffic: Traffic, chain: _Chain, read: Floats) -> float:
    """Squared coefficient of variation of the time that a request keeps its place when all are taken."""
    step = float(pace.step(np.array([chain.most]), traffic.context_tokens)[0])
    decode = max(traffic.tokens_out - 1, 0.0) * step
    whole = decode + float(read.mean())
    return float(((decode * traffic.spread_out) ** 2 + read.var()) / whole**2)


def _queue_wait(
    service: Floats,
    arrivals: float,
    traffic: Traffic,
    replicas: int,
    at_once: float,
    points: Floats,
    gate: float,
) -> Floats:
    """Waits of prompts for those before them on their replica: none, or exponential.

    The balancer deals requests nearly in turn, the less so the more alike the answers are, for then they end together as well.
    Bursts come as bunches, as far as the next one comes before a prompt is read. What waits together is read together, so that each
    also waits for those after it (``gate``); where prompts are most of the work, the replica with the fewest is also the least busy.
    """
    from scipy.special import gammainc

    mean, turns = float(service.mean()), math.exp(-2 * traffic.spread_out)
    busy = min(arrivals * mean, 0.999)
    spread = float(service.var()) / mean**2
    bunch = traffic.peakedness / replicas + turns * (1 - 1 / replicas)
    if bunch > 1:
        near = math.exp(-busy) / max(1 - float(gammainc(1 / bunch, busy / bunch)), 1e-9)
        bunch = min(bunch, max(1.0, 2 * near - 1))
        waits = 1 - (1 - busy) * 2 / (bunch + 1)
        wait = mean / (1 - busy) * (busy * (1 + spread) + bunch - 1) / 2
    else:
        smooth = 1 + bunch + busy * spread
        smooth /= 1 + busy * (spread - 1) + busy**2 * (4 * bunch + spread)
        waits = busy + (bunch - 1) * busy * (1 - busy) * smooth
        wait = mean * busy / (1 - busy) * (bunch + spread) / 2
        wait *= math.exp(-2 * (1 - busy) * (1 - bunch) ** 2 / (3 * busy * (bunch + spread)))
    wait *= 1 + gate * waits / (1 + waits)
    reading = min(1.0, arrivals * (wait + mean) / max(at_once, 1e-9))
    wait *= 1 - reading / 2 * (1 - 1 / replicas)
    return np.where(
        points < waits, -np.log(np.maximum(points, 1e-12) / waits) * wait / max(waits, 1e-12), 0.0
    )
