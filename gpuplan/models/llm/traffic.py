"""Traffic: random requests, their wait for the first token, and the number of replicas that start most of them in time.

A replica works on all its requests together and reads prompts between the steps of the others. The formulas take it as a
``ReplicaQueue`` with a ``pace``; ``gpuplan.simulation.batching`` plays the same requests one after the other.
[gpuplan-method]_
"""

import math
from bisect import bisect_left
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from gpuplan.models.llm.pace import Floats, Pace, Traffic, lengths
from gpuplan.units import above_zero, at_least_one, not_negative

SAMPLES = 4096
"""Number of evenly spaced quantiles of the random terms over which percentiles are taken."""
MOST_STATES = 200_000
"""States of the chain; with more of them, several are taken as one."""


class Chain(NamedTuple):
    """Probabilities of the number of requests in all replicas."""

    each: Floats
    """Requests on each replica, by state; the last one represents all states with waiting requests."""
    chance: Floats
    most: float
    rate_left: float
    """Requests a second that could be finished beyond those that come, when all places are taken."""
    load: float
    requests: float


@dataclass(frozen=True, slots=True)
class ReplicaQueue:
    """Replicas with their traffic; ``traffic.answers`` states the assumptions."""

    pace: Pace
    traffic: Traffic

    @property
    def most(self) -> float:
        """Requests that a replica works on at once, by its places and its cache."""
        return max(1.0, min(self.pace.requests, self.pace.cache_tokens / self.traffic.reserved_tokens))

    @property
    def most_per_second(self) -> float:
        """Requests a second that a replica finishes at most."""
        return float(self.finished(np.array([self.most]))[0])

    def read_times(self) -> tuple[Floats, Floats]:
        """Times to read prompts of even quantiles, and their chunks."""
        traffic, chunk = self.traffic, self.pace.chunk_tokens
        even = (np.arange(256) + 0.5) / 256
        tokens = lengths(traffic.tokens_in, traffic.spread_in, shares=even, longest=traffic.longest_in)
        tokens *= traffic.tokens_in / tokens.mean()
        return self.pace.read(tokens), tokens / chunk if chunk else np.ones(len(tokens))

    def held_up(self, each: Floats) -> Floats:
        """By how much a prompt lengthens the steps of a replica that works on so many; on its own it is read in its own time."""
        read, chunks = self.read_times()
        mean, pieces = float(read.mean()), float(np.maximum(chunks, 1).mean())
        step = self.pace.step(np.maximum(each - 1, 1.0), self.traffic.context_tokens)
        beside = np.where(each > 1, step, 0.0)
        return np.maximum(mean - pieces * beside, self.pace.overlap_share * mean)

    def finished(self, each: Floats) -> Floats:
        """Requests a second that a replica finishes when it works on so many."""
        traffic = self.traffic
        steps = max(traffic.tokens_out - 1, 0.0) * self.pace.step(each, traffic.context_tokens) / each
        return np.asarray(1 / (steps + self.held_up(each)))

    def chain(self, arrivals: float, replicas: int) -> Chain | None:
        """The chain of states of all replicas, or None where more comes than they can do."""
        traffic, most = self.traffic, self.most
        top = replicas * self.most_per_second
        if arrivals >= top:
            return None
        short = math.erfc(math.sqrt(math.log1p(traffic.answer_spread**2)) / 2)
        coarse = max(0.1, 1 + (traffic.peakedness - 1) * short)
        count = min(MOST_STATES, max(1, round(replicas * most / coarse)))
        total = np.linspace(0, replicas * most, count + 1)
        states = total / replicas
        rates = replicas * np.minimum(states[1:], 1) * self.finished(np.maximum(states[1:], 1.0))
        weights = np.concatenate([[0.0], np.cumsum(np.log(arrivals / rates))])
        chance = np.exp(weights - weights.max())
        load = arrivals / top
        chance[-1] /= 1 - load
        chance /= chance.sum()
        waiting = chance[-1] * load / (1 - load) * coarse
        requests = float((chance * states).sum() + waiting / replicas)
        return Chain(states, chance, most, top - arrivals, load, requests)

    def first_tokens(self, arrivals: float, replicas: int, chain: Chain) -> Floats:
        """Times to the first token at even points of all that chance decides."""
        pace, traffic = self.pace, self.traffic
        state, place, length, queue, rest = _even_points(5)
        index = np.searchsorted(np.cumsum(chain.chance), state * (1 - 1e-12))
        requests = chain.each[np.minimum(index, len(chain.each) - 1)]
        step = np.where(requests >= 1, pace.step(np.maximum(requests, 1.0), traffic.context_tokens), 0.0)
        read, chunks = self.read_times()
        tokens = lengths(traffic.tokens_in, traffic.spread_in, shares=length, longest=traffic.longest_in)
        pieces = np.ceil(tokens / pace.chunk_tokens) if pace.chunk_tokens else 1.0
        alone = pace.read(tokens)
        prompt = np.maximum(alone, pieces * step + pace.overlap_share * alone)
        longer = (traffic.peakedness + self._stay_variability(chain, read)) / 2 / chain.rate_left
        wait = np.where(index >= len(chain.each) - 1, -np.log1p(-place) * longer, 0.0)
        service = np.maximum(read, chunks * float(step.mean()) + pace.overlap_share * read)
        before = self._queue_wait(service, arrivals / replicas, replicas, chain.requests, queue)
        return np.asarray(pace.wait_s + wait + before + rest * step + prompt)

    def _stay_variability(self, chain: Chain, read: Floats) -> float:
        """Squared coefficient of variation of the time that a request keeps its place when all are taken."""
        traffic = self.traffic
        step = float(self.pace.step(np.array([chain.most]), traffic.context_tokens)[0])
        decode = max(traffic.tokens_out - 1, 0.0) * step
        whole = decode + float(read.mean())
        return float(((decode * traffic.answer_spread) ** 2 + read.var()) / whole**2)

    def _queue_wait(
        self, service: Floats, arrivals: float, replicas: int, at_once: float, points: Floats
    ) -> Floats:
        """Return the waits of prompts for earlier ones on their replica: none, or exponential.

        The balancer deals requests nearly in turn, less so for similar answers, which end together. Bursts come as
        bunches, as far as the next comes before a prompt is read. Waiting prompts are read together, so each also waits
        for later ones (``gate``); if prompts are most of the work, the replica with the fewest is the least busy.
        """
        from scipy.special import gammainc

        traffic = self.traffic
        gate = min(1.0, max(0.0, self.pace.chunk_tokens / traffic.tokens_in - 1))
        mean, turns = float(service.mean()), math.exp(-2 * traffic.answer_spread)
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


@lru_cache(maxsize=1)  # without it a sizing takes a quarter longer
def _even_points(dimensions: int) -> Floats:
    """Points that fill a cube evenly, the same each time (an additive recurrence)."""
    ratio = 2.0
    for _ in range(40):
        ratio = (1 + ratio) ** (1 / (dimensions + 1))
    steps = ratio ** -np.arange(1.0, dimensions + 1)
    points = (0.5 + np.outer(steps, np.arange(1, SAMPLES + 1))) % 1.0
    points.flags.writeable = False
    return np.asarray(points)


MOST_REPLICAS = 100_000


class Answers(NamedTuple):
    """Experience of the users of some replicas, by formula."""

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
    """Concurrent requests on each replica, waiting ones included."""


def answers(
    pace: Pace,
    traffic: Traffic,
    *,
    requests_per_second: float,
    replicas: int = 1,
    first_token_s: float = math.inf,
) -> Answers:
    """Times to the first token with random arrivals, each going to the replica with the fewest requests, by formula.

    Parameters:
        requests_per_second: Requests that arrive in a second, to all replicas together. [-]
        replicas: Replicas. [-]
        first_token_s: Time within which a request is promised its first token. [s]

    Assumes that the load stays as it is, and that replicas share it evenly. Requests in all replicas are a chain of states: one
    more at the rate of arrivals, one less at the rate at which so many are finished; a finished one has cost its share of the steps
    and its prompt. Below the most at once this is processor sharing, where only the mean of the lengths counts [kelly-networks-1979]_; with
    exponential lengths it is exact. Bursts make the chain coarser (Hayward) by 1 + (peakedness - 1) E[min of two answers] / E[an
    answer] [whitt-blocking-1984]_. A request then waits for a place (exponentially, by the rates left over, times half the sum of the variabilities
    of arrivals and lengths), for prompts before its own [whitt-qna-1983]_, for the end of a step, and for its own prompt. Percentiles are of
    4,096 even points of these. Up to 80 % load and independent arrivals p95 is within a quarter of the simulation; at 90 % load,
    or in bursts, it is 0.5 to 1.5 times that.

    >>> from gpuplan.models.llm.pace import pace_of
    >>> replica = pace_of(lambda n, context: 10 + 0.1 * n, lambda tokens: 0.1 * tokens, requests=64, context_tokens=2200, longest_tokens=9000)
    >>> idle = answers(replica, Traffic(2000, 400), requests_per_second=0.001, first_token_s=1)
    >>> round(idle.p50_s, 2), idle.kept_share
    (0.2, 1.0)
    >>> busy = answers(replica, Traffic(2000, 400), requests_per_second=3.5, first_token_s=1)
    >>> idle.p95_s < busy.p95_s and busy.kept_share < 1
    True
    """
    at_least_one(replicas=replicas)
    above_zero(
        requests_per_second=requests_per_second, tokens_in=traffic.tokens_in, tokens_out=traffic.tokens_out
    )
    above_zero(peakedness=traffic.peakedness, first_token_s=min(first_token_s, 1e9))
    not_negative(spread_in=traffic.spread_in, spread_out=traffic.spread_out)
    queue = ReplicaQueue(pace, traffic)
    chain = queue.chain(requests_per_second, replicas)
    if chain is None:
        most = replicas * queue.most_per_second
        late = math.inf
        return Answers(late, late, late, late, 0.0, late, requests_per_second / most, 1.0, late)
    sample = queue.first_tokens(requests_per_second, replicas, chain)
    p50, p95, p99 = np.quantile(sample, (0.5, 0.95, 0.99))
    requests = np.minimum(np.maximum(chain.each, 1.0), chain.most)
    weight = chain.chance * np.minimum(chain.each, chain.most)
    token = queue.held_up(requests) * requests / max(traffic.tokens_out, 1.0)
    token += pace.step(requests, traffic.context_tokens)
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

    Parameters:
        requests_per_second: Requests that arrive in a second, to all replicas together. [-]
        first_token_s: Time within which a request is promised its first token. [s]
        share: Share of the requests for which it must hold, above 0 and below 1. [-]
        least: Replicas at least. [-]

    Doubling from as many as can carry the load at all, then halving the interval; ``answers`` says what is assumed.
    Refused if not even an idle replica starts so many requests in time: with the time in which it does.

    >>> from gpuplan.models.llm.pace import pace_of
    >>> replica = pace_of(lambda n, context: 10 + 0.1 * n, lambda tokens: 0.1 * tokens, requests=64, context_tokens=2200, longest_tokens=9000)
    >>> [replicas_for(replica, Traffic(2000, 400), requests_per_second=n, first_token_s=1) for n in (1, 10, 100)]
    [1, 4, 36]
    """
    above_zero(first_token_s=first_token_s, requests_per_second=requests_per_second)
    if not 0 < share < 1:
        raise ValueError(f"share is {share!r}; it must be above 0 and below 1")
    at_least_one(least=least)
    queue = ReplicaQueue(pace, traffic)
    prompts = np.quantile(queue.read_times()[0], share)
    soonest = float(prompts) + pace.wait_s
    nearest = f"promise at least {math.ceil(soonest * 1.05 * 20) / 20:g} s, or take more GPUs per replica or shorter prompts"
    if soonest > first_token_s:
        raise ValueError(
            f"{100 * share:g} % of the requests within {first_token_s:g} s is sooner than an idle replica starts them; {nearest}"
        )

    promised = {"requests_per_second": requests_per_second, "first_token_s": first_token_s}

    def kept(count: int) -> bool:
        return answers(pace, traffic, **promised, replicas=count).kept_share >= share

    high = max(least, math.ceil(requests_per_second / queue.most_per_second))
    low = high - 1
    while not kept(high):
        if high > MOST_REPLICAS:
            raise ValueError(
                f"{100 * share:g} % of the requests within {first_token_s:g} s is not reached with {MOST_REPLICAS:,} replicas; {nearest}"
            )
        low, high = high, high + max(1, high // 4)
    return high - bisect_left(range(high - 1, low, -1), True, key=lambda count: not kept(count))


def replica_curve(
    pace: Pace, traffic: Traffic, *, requests_per_second: float, first_token_s: float, most: int = 12
) -> tuple[tuple[int, Answers], ...]:
    """Experience of users with ever more replicas, from the fewest that carry the load.

    Parameters:
        requests_per_second: Requests that arrive in a second, to all replicas together. [-]
        first_token_s: Time within which a request is promised its first token. [s]
        most: Points at most. [-]

    Each with its number of replicas. Ends where one more replica brings less than a thousandth of the requests.

    >>> from gpuplan.models.llm.pace import pace_of
    >>> replica = pace_of(lambda n, context: 10 + 0.1 * n, lambda tokens: 0.1 * tokens, requests=64, context_tokens=2200, longest_tokens=9000)
    >>> found = replica_curve(replica, Traffic(2000, 400), requests_per_second=10, first_token_s=0.5)
    >>> all(fewer.kept_share < more.kept_share for (_, fewer), (_, more) in zip(found, found[1:-1]))
    True
    """
    at_least_one(most=most)
    above_zero(requests_per_second=requests_per_second)
    first = math.floor(requests_per_second / ReplicaQueue(pace, traffic).most_per_second) + 1
    promised = {"requests_per_second": requests_per_second, "first_token_s": first_token_s}
    points: list[tuple[int, Answers]] = []
    for count in range(first, first + most):
        now = answers(pace, traffic, **promised, replicas=count)
        points.append((count, now))
        if len(points) > 1 and now.kept_share - points[-2][1].kept_share < 0.001 and now.kept_share > 0.5:
            break
    return tuple(points)
