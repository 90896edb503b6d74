"""Several runs of requests that come by chance, and the figures that users see in them."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gpuplan.models.llm.pace import Floats, Pace, Traffic, lengths
from gpuplan.simulation.batching.played import Played, play
from gpuplan.simulation.jobs import Estimate
from gpuplan.units import above_zero, at_least_one, not_negative

DAY_S = 86400.0
REPEATS = 10
WARM_UP = 0.125


@dataclass(frozen=True, slots=True)
class Simulated:
    """Experience of the users of some replicas, with the half width of a 95 % interval."""

    mean_s: Estimate
    """Time to the first token."""
    p50_s: Estimate
    p95_s: Estimate
    p99_s: Estimate
    kept_share: Estimate
    token_s: Estimate
    busy_share: Estimate
    requests: Estimate
    """Concurrent requests on each replica, waiting ones included."""
    waiting: Estimate
    """Number of these that wait for a place."""
    by_part_p95_s: tuple[float, ...]
    """95th percentile of the time to the first token in each part of the day."""
    count: int
    growing: bool
    """True if the queue grew to the end: the replicas cannot keep up."""


def simulate(
    pace: Pace,
    traffic: Traffic,
    *,
    rates_per_second: Sequence[float],
    replicas: int = 1,
    first_token_s: float = math.inf,
    count: int = 50_000,
    seed: int = 1,
) -> Simulated:
    """Times to the first token when requests come as they come over the day, by simulation of continuous batching.

    Parameters:
        rates_per_second (sequence of float): Requests that arrive in a second in each of so many equal parts of a day; one:
            always the same. [-]
        replicas: Replicas behind the balancer. [-]
        first_token_s: Time within which a request is promised its first token. [s]
        count: Requests that are played, about. [-]
        seed: Where the random numbers start; the same seed gives the same result. [-]

    Ten runs that know nothing of each other give the intervals (95 %, Student's t). With one rate the first eighth of a run is
    left out. Times between arrivals are gamma with a variance of peakedness times the square of their mean, which in the long run
    makes the variance of the number of arrivals peakedness times their mean; rates that vary bend time. Where a day has more
    requests than a run, each part of the day is played for as much shorter. Above some 90 % load a run forgets its empty start
    only slowly: times are then too short, unless ``count`` is larger. [law-2015]_ [vllm-serving-benchmark]_

    >>> from gpuplan.models.llm.pace import pace_of
    >>> replica = pace_of(lambda n, context: 10 + 0.1 * n, lambda tokens: 0.1 * tokens, requests=64, context_tokens=2200, longest_tokens=9000)
    >>> found = simulate(replica, Traffic(2000, 400), rates_per_second=[0.01], count=500)
    >>> round(found.p50_s.value, 2), found.growing
    (0.2, False)
    """
    at_least_one(replicas=replicas, count=count)
    not_negative(**{f"rates_per_second[{n}]": rate for n, rate in enumerate(rates_per_second)})
    if not rates_per_second or not max(rates_per_second) > 0:
        raise ValueError(f"rates_per_second are {list(rates_per_second)}: at least one must be above 0")
    runs, parts = [], []
    for source in np.random.default_rng(seed).spawn(REPEATS):
        arrival, part = arrivals(rates_per_second, traffic.peakedness, count=count // REPEATS, source=source)
        if len(arrival):
            answers = _drawn(
                traffic.tokens_out, traffic.spread_out, traffic.longest_out, len(arrival), source
            )
            prompts = _drawn(traffic.tokens_in, traffic.spread_in, traffic.longest_in, len(arrival), source)
            runs.append(play(pace, arrival, tokens_in=prompts, tokens_out=answers, replicas=replicas))
            parts.append(part)
    if not runs:
        raise ValueError(f"count is {count}: too few for a request to come")
    return summary(runs, parts, rates=len(rates_per_second), replicas=replicas, first_token_s=first_token_s)


def arrivals(
    rates_per_second: Sequence[float], peakedness: float, *, count: int, source: np.random.Generator
) -> tuple[Floats, Floats]:
    """Times of arrivals over a day, or over as much of each of its parts as holds so many, and the part of each.

    Parameters:
        rates_per_second (sequence of float): Requests that arrive in a second, in each of so many equal parts of a day. [-]
        peakedness: Variance over mean of the number of arrivals. [-]
        count: Arrivals, about. [-]
        source: Random numbers. [-]

    Times, and the part of the day of each. [s] Sums of gamma times of mean 1 are mapped through the expected number of
    arrivals by then. [vllm-serving-benchmark]_

    >>> times, part = arrivals([1.0, 3.0], 1, count=4000, source=np.random.default_rng(1))
    >>> bool(2.5 < (part == 1).sum() / (part == 0).sum() < 3.5)
    True
    """
    above_zero(peakedness=peakedness)
    rates = np.array(rates_per_second, dtype=float)
    if len(rates) == 1:
        edges = np.array([0.0, count / rates[0]])
    else:
        day = float(rates.mean()) * DAY_S
        edges = np.arange(len(rates) + 1) * DAY_S / len(rates) * (min(1.0, count / day) if day else 1.0)
    expected = np.concatenate([[0.0], np.cumsum(rates * np.diff(edges))])
    most = int(expected[-1] + 6 * math.sqrt(expected[-1] * max(1.0, peakedness)) + 20)
    inner = np.cumsum(source.gamma(1 / peakedness, peakedness, most))
    inner = inner[inner < expected[-1]]
    times = np.interp(inner, expected, edges)
    part = np.minimum(np.searchsorted(edges, times, side="right") - 1, len(rates) - 1)
    return times, part


def _drawn(mean: float, spread: float, longest: float, count: int, source: np.random.Generator) -> Floats:
    """Whole tokens by chance."""
    shares = np.clip(source.random(count), 1e-12, 1 - 1e-12)
    drawn = lengths(mean, spread, shares=shares, longest=longest)
    return np.maximum(1, np.round(drawn))


def summary(
    runs: Sequence[Played], parts: Sequence[Floats], *, rates: int, replicas: int, first_token_s: float
) -> Simulated:
    """Figures that users saw in one or several runs.

    Parameters:
        parts (sequence of array): Part of the day of each request of each run. [-]
        rates: Parts of the day; one: the first eighth of a run is its warm-up. [-]
        replicas: Replicas. [-]
        first_token_s: Time within which a request is promised its first token. [s]

    Half widths are None for a single run. The value is that of all runs together, its interval that of the values of
    the runs. [law-2015]_

    >>> from gpuplan.models.llm.pace import pace_of
    >>> replica = pace_of(lambda n, context: 10, lambda tokens: 0.1 * tokens, requests=64, context_tokens=100, longest_tokens=1000)
    >>> one = play(replica, np.arange(8.0), tokens_in=np.full(8, 1000.0), tokens_out=np.full(8, 11.0))
    >>> summary([one], [np.zeros(8)], rates=24, replicas=1, first_token_s=0.2).kept_share
    Estimate(value=1.0, half_width=None)
    """
    warm_up = WARM_UP if rates == 1 and len(runs) > 1 else 0.0
    seen = [run.after(int(len(run.arrival_s) * warm_up)) for run in runs]
    firsts = [run.first_s - run.arrival_s for run in seen]
    together = np.concatenate(firsts)
    figures = [_figures(run, replicas, first_token_s) for run in seen]
    weights = np.array([len(first) for first in firsts], dtype=float)
    whole = dict(zip(("p50_s", "p95_s", "p99_s"), np.quantile(together, (0.5, 0.95, 0.99)), strict=True))
    estimates = {
        name: _estimate(np.array([f[name] for f in figures]), weights, whole.get(name)) for name in figures[0]
    }
    part = np.concatenate([p[-len(first) :] for p, first in zip(parts, firsts, strict=True)])
    by_part = [together[part == n] for n in range(rates)]
    return Simulated(
        **estimates,
        by_part_p95_s=tuple(float(np.quantile(p, 0.95)) if len(p) else 0.0 for p in by_part),
        count=sum(len(run.arrival_s) for run in runs),
        growing=rates == 1 and _grows(runs, seen),
    )


def _grows(runs: Sequence[Played], seen: Sequence[Played]) -> bool:
    """True if late requests wait much longer for a place than early ones."""
    waits = [run.let_in_s - run.arrival_s for run in seen if len(run.arrival_s) >= 8]
    early, late = (sum(float(wait[at].mean()) for wait in waits) for at in (slice(0, 200), slice(-200, None)))
    longest = max(float((run.done_s - run.first_s).mean()) for run in runs)
    return late > 2 * early + len(runs) * longest


def _figures(run: Played, replicas: int, first_token_s: float) -> dict[str, float]:
    first = run.first_s - run.arrival_s
    several = run.answers > 1
    token_s = (run.done_s - run.first_s)[several] / (run.answers[several] - 1)
    span = max(float(run.arrival_s[-1] - run.arrival_s[0]), 1e-9)
    p50, p95, p99 = np.quantile(first, (0.5, 0.95, 0.99))
    return {
        "mean_s": float(first.mean()),
        "p50_s": float(p50),
        "p95_s": float(p95),
        "p99_s": float(p99),
        "kept_share": float((first <= first_token_s).mean()),
        "token_s": float(token_s.mean()) if len(token_s) else 0.0,
        "busy_share": min(1.0, run.busy_s / replicas / max(float(run.arrival_s[-1]), 1e-9)),
        "requests": float((run.done_s - run.arrival_s).sum()) / span / replicas,
        "waiting": float((run.let_in_s - run.arrival_s).sum()) / span / replicas,
    }


def _estimate(values: Floats, weights: Floats, value: float | None) -> Estimate:
    """A figure of all runs, and the half width of its interval from their own."""
    from scipy.special import stdtrit

    count = len(values)
    mean = float((values * weights).sum() / weights.sum()) if value is None else float(value)
    if count < 2:
        return Estimate(mean, None)
    return Estimate(mean, float(stdtrit(count - 1, 0.975)) * float(values.std(ddof=1)) / math.sqrt(count))
