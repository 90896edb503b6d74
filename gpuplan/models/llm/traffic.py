"""Traffic: random requests, their wait for the first token, and the number of replicas that start most of them in time.

A replica works on all its requests together and reads prompts between the steps of the others. The formulas take it as a
``replica_queue`` with a ``pace``; ``gpuplan.simulation.batching`` plays the same requests one after the other.
[gpuplan-method]_
"""

import math
from bisect import bisect_left
from typing import NamedTuple

import numpy as np

from gpuplan.models.llm.pace import Pace, Traffic
from gpuplan.models.llm.replica_queue import ReplicaQueue
from gpuplan.units import above_zero, at_least_one, not_negative

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
