"""Continuous batching, played request by request: requests that wait, times of reading prompts and of tokens.

A step gives every running request of a replica one token. Prompts are read with the steps, those that came first before the
others, and delay them. A request is let in at the end of a step if a place is free and the cache has room for its prompt and its
whole answer; requests wait in the order in which they came. The balancer sends a request to the replica with the fewest.
Between two events, many steps are taken at once.
"""

from __future__ import annotations

import heapq
import math
from bisect import bisect_right
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gpuplan.models.llm.pace import Floats, Pace, Traffic, lengths
from gpuplan.simulation.jobs import Estimate
from gpuplan.units import above_zero, at_least_one, not_negative

DAY_S = 86400.0
REPEATS = 10
WARM_UP = 0.125


@dataclass(frozen=True, slots=True, eq=False)
class Played:
    """Result for each request, in the order of arrival [s]."""

    arrival_s: Floats
    let_in_s: Floats
    first_s: Floats
    done_s: Floats
    found: Floats
    """Number of requests in all replicas at each arrival."""
    answers: Floats
    tokens_read: float
    tokens_made: float
    busy_s: float
    """Time in which replicas worked until the last request came, added up."""


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


def play(
    pace: Pace, arrival_s: Floats, *, tokens_in: Floats, tokens_out: Floats, replicas: int = 1
) -> Played:
    """Requests as they came, played on some replicas.

    Parameters
    ----------
    arrival_s : array of float
        When each request comes, in order. [s]
    tokens_in : array of float
        Tokens of its prompt. [-]
    tokens_out : array of float
        Tokens of its answer, at least 1. [-]
    replicas : int
        Replicas behind the balancer. [-]

    Notes
    -----
    Exact for the rules that the module states; steps and prompts are fitted to published runs, waits are not, and engines add some
    of their own. Engines also let more requests in than they may be able to finish and take some back;
    here each reserves its whole length, so the cache is never short. The first token comes with the end of the prompt.
    [orca-2022]_ [sarathi-serve-2024]_

    Examples
    --------
    >>> from gpuplan.models.llm.pace import pace_of
    >>> replica = pace_of(lambda n, context: 10, lambda tokens: 0.1 * tokens, requests=64, context_tokens=100, longest_tokens=1000)
    >>> one = play(replica, np.array([0.0]), tokens_in=np.array([1000.0]), tokens_out=np.array([11.0]))
    >>> one.first_s.round(3).item(), one.done_s.round(3).item()
    (0.1, 0.2)
    """
    at_least_one(replicas=replicas)
    if len(arrival_s) == 0 or not len(arrival_s) == len(tokens_in) == len(tokens_out):
        raise ValueError("each request needs an arrival, tokens in and tokens out, and there is at least one")
    above_zero(tokens_in=float(np.min(tokens_in)), tokens_out=float(np.min(tokens_out)))
    if np.any(np.diff(arrival_s) < 0):
        raise ValueError("arrival_s must be in order")
    work = _Work(pace, tokens_in, np.maximum(1, np.round(tokens_out)))
    run = [_Replica(pace, work) for _ in range(replicas)]
    loads = [0] * replicas
    ends: list[tuple[float, int, int]] = []
    ahead = np.zeros(len(arrival_s))
    out = 0

    def take(until: float) -> int:
        done = 0
        while ends and ends[0][0] <= until:
            end, n, version = heapq.heappop(ends)
            replica = run[n]
            if version != replica.version:
                continue
            finished = replica.finish()
            loads[n] -= finished
            done += finished
            if replica.begin(end):
                heapq.heappush(ends, (replica.end, n, replica.version))
        return done

    for i, now in enumerate(arrival_s.tolist()):
        out -= take(now)
        ahead[i] = out
        n = loads.index(min(loads))
        if run[n].arrive(i, now):
            heapq.heappush(ends, (run[n].end, n, run[n].version))
        loads[n] += 1
        out += 1
    busy = sum(replica.busy_until(float(arrival_s[-1])) for replica in run)
    take(math.inf)
    return Played(
        arrival_s=arrival_s,
        let_in_s=np.array(work.let_in),
        first_s=np.array(work.first) + pace.wait_s,
        done_s=np.array(work.done) + pace.wait_s,
        found=ahead,
        answers=np.array(work.tokens_out, dtype=float),
        tokens_read=sum(replica.tokens_read for replica in run),
        tokens_made=float(sum(replica.tokens_made for replica in run)),
        busy_s=busy,
    )


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

    Parameters
    ----------
    rates_per_second : sequence of float
        Requests that arrive in a second in each of so many equal parts of a day; one: always the same. [-]
    replicas : int
        Replicas behind the balancer. [-]
    first_token_s : float
        Time within which a request is promised its first token. [s]
    count : int
        Requests that are played, about. [-]
    seed : int
        Where the random numbers start; the same seed gives the same result. [-]

    Notes
    -----
    Ten runs that know nothing of each other give the intervals (95 %, Student's t). With one rate the first eighth of a run is
    left out. Times between arrivals are gamma with a variance of peakedness times the square of their mean, which in the long run
    makes the variance of the number of arrivals peakedness times their mean; rates that vary bend time. Where a day has more
    requests than a run, each part of the day is played for as much shorter. Above some 90 % load a run forgets its empty start
    only slowly: times are then too short, unless ``count`` is larger. [law-2015]_ [vllm-serving-benchmark]_

    Examples
    --------
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
            answers = np.maximum(
                1, np.round(_drawn(traffic.tokens_out, traffic.spread_out, len(arrival), source))
            )
            prompts = np.maximum(
                1, np.round(_drawn(traffic.tokens_in, traffic.spread_in, len(arrival), source))
            )
            runs.append(play(pace, arrival, tokens_in=prompts, tokens_out=answers, replicas=replicas))
            parts.append(part)
    if not runs:
        raise ValueError(f"count is {count}: too few for a request to come")
    return summary(runs, parts, rates=len(rates_per_second), replicas=replicas, first_token_s=first_token_s)


def arrivals(
    rates_per_second: Sequence[float], peakedness: float, *, count: int, source: np.random.Generator
) -> tuple[Floats, Floats]:
    """Times of arrivals over a day, or over as much of each of its parts as holds so many, and the part of each.

    Parameters
    ----------
    rates_per_second : sequence of float
        Requests that arrive in a second, in each of so many equal parts of a day. [-]
    peakedness : float
        Variance over mean of the number of arrivals. [-]
    count : int
        Arrivals, about. [-]
    source : Generator
        Random numbers. [-]

    Notes
    -----
    Times, and the part of the day of each. [s] Sums of gamma times of mean 1 are mapped through the expected number of
    arrivals by then. [vllm-serving-benchmark]_

    Examples
    --------
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


def _drawn(mean: float, spread: float, count: int, source: np.random.Generator) -> Floats:
    """Lengths by chance."""
    return lengths(mean, spread, shares=np.clip(source.random(count), 1e-12, 1 - 1e-12))


def summary(
    runs: Sequence[Played],
    parts: Sequence[Floats],
    *,
    rates: int,
    replicas: int,
    first_token_s: float,
) -> Simulated:
    """Figures that users saw in one or several runs.

    Parameters
    ----------
    parts : sequence of array
        Part of the day of each request of each run. [-]
    rates : int
        Parts of the day; one: the first eighth of a run is its warm-up. [-]
    replicas : int
        Replicas. [-]
    first_token_s : float
        Time within which a request is promised its first token. [s]

    Notes
    -----
    Half widths are None for a single run. The value is that of all runs together, its interval that of the values of
    the runs. [law-2015]_

    Examples
    --------
    >>> from gpuplan.models.llm.pace import pace_of
    >>> replica = pace_of(lambda n, context: 10, lambda tokens: 0.1 * tokens, requests=64, context_tokens=100, longest_tokens=1000)
    >>> one = play(replica, np.arange(8.0), tokens_in=np.full(8, 1000.0), tokens_out=np.full(8, 11.0))
    >>> summary([one], [np.zeros(8)], rates=24, replicas=1, first_token_s=0.2).kept_share
    Estimate(value=1.0, half_width=None)
    """
    skips = [int(len(run.arrival_s) * WARM_UP) if rates == 1 and len(runs) > 1 else 0 for run in runs]
    firsts = [(run.first_s - run.arrival_s)[skip:] for run, skip in zip(runs, skips, strict=True)]
    together = np.concatenate(firsts)
    figures = [_figures(run, skip, replicas, first_token_s) for run, skip in zip(runs, skips, strict=True)]
    weights = np.array([len(first) for first in firsts], dtype=float)
    whole = dict(zip(("p50_s", "p95_s", "p99_s"), np.quantile(together, (0.5, 0.95, 0.99)), strict=True))
    estimates = {
        name: _estimate(np.array([f[name] for f in figures]), weights, whole.get(name)) for name in figures[0]
    }
    part = np.concatenate([p[skip:] for p, skip in zip(parts, skips, strict=True)])
    by_part = [together[part == n] for n in range(rates)]
    waits = [(run.let_in_s - run.arrival_s)[skip:] for run, skip in zip(runs, skips, strict=True)]
    early, late = (
        sum(float(w[at].mean()) for w in waits if len(w) >= 8) for at in (slice(0, 200), slice(-200, None))
    )
    longest = max(float((run.done_s - run.first_s).mean()) for run in runs)
    return Simulated(
        **estimates,
        by_part_p95_s=tuple(float(np.quantile(p, 0.95)) if len(p) else 0.0 for p in by_part),
        count=sum(len(run.arrival_s) for run in runs),
        growing=rates == 1 and late > 2 * early + len(runs) * longest,
    )


def _figures(run: Played, skip: int, replicas: int, first_token_s: float) -> dict[str, float]:
    """Return the figures of one run."""
    first = (run.first_s - run.arrival_s)[skip:]
    several = run.answers[skip:] > 1
    token_s = (run.done_s - run.first_s)[skip:][several] / (run.answers[skip:][several] - 1)
    begin = run.arrival_s[skip]
    span = max(float(run.arrival_s[-1] - begin), 1e-9)
    wait = (run.let_in_s - run.arrival_s)[skip:]
    p50, p95, p99 = np.quantile(first, (0.5, 0.95, 0.99))
    return {
        "mean_s": float(first.mean()),
        "p50_s": float(p50),
        "p95_s": float(p95),
        "p99_s": float(p99),
        "kept_share": float((first <= first_token_s).mean()),
        "token_s": float(token_s.mean()) if len(token_s) else 0.0,
        "busy_share": min(1.0, run.busy_s / replicas / max(float(run.arrival_s[-1]), 1e-9)),
        "requests": float((run.done_s - run.arrival_s)[skip:].sum()) / span / replicas,
        "waiting": float(wait.sum()) / span / replicas,
    }


def _estimate(values: Floats, weights: Floats, value: float | None) -> Estimate:
    """A figure of all runs, and the half width of its interval from their own."""
    from scipy.special import stdtrit

    count = len(values)
    mean = float((values * weights).sum() / weights.sum()) if value is None else float(value)
    if count < 2:
        return Estimate(mean, None)
    return Estimate(mean, float(stdtrit(count - 1, 0.975)) * float(values.std(ddof=1)) / math.sqrt(count))


class _Work:
    """The requests: their lengths, and the times of their events."""

    def __init__(self, pace: Pace, tokens_in: Floats, tokens_out: Floats) -> None:
        self.tokens_in: list[float] = tokens_in.tolist()
        self.tokens_out: list[int] = tokens_out.astype(int).tolist()
        self.read_s: list[float] = pace.read(tokens_in).tolist()
        self.kept: list[float] = np.minimum(tokens_in + tokens_out, pace.cache_tokens).tolist()
        self.let_in = [math.inf] * len(tokens_in)
        self.first = [math.inf] * len(tokens_in)
        self.done = [math.inf] * len(tokens_in)


class _Replica:
    """One replica: requests that wait, are read and run, and its steps until the next event."""

    def __init__(self, pace: Pace, work: _Work) -> None:
        counts = np.arange(pace.requests + 1)
        self._base: list[float] = np.interp(counts, pace.batches, pace.step_s).tolist()
        self._slope: list[float] = np.interp(counts, pace.batches, pace.context_s).tolist()
        self._pace, self._work = pace, work
        self._chunk = pace.chunk_tokens or math.inf
        self._waiting: deque[int] = deque()
        self._reading: deque[list[float]] = deque()
        self._running: list[tuple[int, int]] = []
        self._taken: list[tuple[list[float], float]] = []
        self._context = self._held = self._began = 0.0
        self._step = self._steps = 0
        self.end = math.inf
        self.version = 0
        self.tokens_read = self.busy_s = 0.0
        self.tokens_made = 0

    def arrive(self, request: int, now: float) -> bool:
        """Take a request; whether the next event changes by it."""
        self._waiting.append(request)
        if self.end == math.inf:
            return self.begin(now)
        if self._taken or len(self._waiting) > 1 or not self._has_room(request) or self._steps <= 1:
            return False
        return self._stop_after(now)

    def _stop_after(self, now: float) -> bool:
        """End the steps with the one that is under way."""
        slope = self._slope[len(self._running)]
        step_s = self._base[len(self._running)] + slope * self._context / len(self._running)
        gone = now - self._began
        if slope * gone * 1e6 > step_s * step_s:
            first = step_s / slope - 0.5
            steps = math.ceil(math.sqrt(first * first + 2 * gone / slope) - first)
        else:
            steps = math.ceil(gone / step_s)
        steps = max(1, steps)
        if steps >= self._steps:
            return False
        self._steps = steps
        self.end = max(now, self._began + steps * step_s + slope * steps * (steps - 1) / 2)
        self.version += 1
        return True

    def _has_room(self, request: int) -> bool:
        inside = len(self._running) + len(self._reading)
        return inside < self._pace.requests and (
            not inside or self._held + self._work.kept[request] <= self._pace.cache_tokens
        )

    def begin(self, now: float) -> bool:
        """Let requests in and begin the work until the next event; return True if there is anything to do."""
        work, waiting = self._work, self._waiting
        while waiting and self._has_room(waiting[0]):
            request = waiting.popleft()
            work.let_in[request] = now
            self._held += work.kept[request]
            self._reading.append([request, 0.0])
        self.version += 1
        self._began = now
        running = len(self._running)
        slope = self._slope[running]
        step_s = self._base[running] + slope * self._context / running if running else 0.0
        if self._reading:
            seconds = self._take_prompts()
            self._steps = 1 if running else 0
            self.end = now + max(seconds, step_s + self._pace.overlap_share * seconds)
        elif running:
            steps = self._steps = self._running[0][0] - self._step
            self.end = now + steps * step_s + slope * steps * (steps - 1) / 2
        else:
            self._steps, self.end = 0, math.inf
            return False
        return True

    def _take_prompts(self) -> float:
        """Choose the prompts to read with the next step, the first ones first; return its time."""
        work, budget, seconds = self._work, self._chunk, 0.0
        for entry in self._reading:
            request, read = int(entry[0]), entry[1]
            rest = work.tokens_in[request] - read
            part = min(rest, budget)
            if part == rest and not read:
                seconds += work.read_s[request]
            else:
                seconds += self._read_s(read + part) - self._read_s(read)
            self._taken.append((entry, part))
            budget -= part
            if budget <= 0 or self._chunk == math.inf:
                break
        return seconds

    def _read_s(self, tokens: float) -> float:
        """Return the time to read these tokens, between the points of the law."""
        points, times = self._pace.prompts, self._pace.prompt_s
        n = min(max(bisect_right(points, tokens), 1), len(points) - 1)
        return times[n - 1] + (tokens - points[n - 1]) * (times[n] - times[n - 1]) / (
            points[n] - points[n - 1]
        )

    def busy_until(self, now: float) -> float:
        """Time in which it has worked."""
        return self.busy_s + (now - self._began if self.end < math.inf else 0.0)

    def finish(self) -> int:
        """Take the steps until now; how many requests are done with them."""
        now, work = self.end, self._work
        self.busy_s += now - self._began
        tokens = len(self._running) * self._steps
        self._step += self._steps
        self._context += tokens
        self.tokens_made += tokens
        done = 0
        while self._running and self._running[0][0] <= self._step:
            request = heapq.heappop(self._running)[1]
            self._context -= work.tokens_in[request] + work.tokens_out[request]
            self._leave(request, now)
            done += 1
        for entry, part in self._taken:
            entry[1] += part
            self.tokens_read += part
            request = int(entry[0])
            if entry[1] < work.tokens_in[request]:
                continue
            self._reading.popleft()
            work.first[request] = now
            self.tokens_made += 1
            if work.tokens_out[request] > 1:
                heapq.heappush(self._running, (self._step + work.tokens_out[request] - 1, request))
                self._context += work.tokens_in[request] + 1
            else:
                self._leave(request, now)
                done += 1
        self._taken.clear()
        return done

    def _leave(self, request: int, now: float) -> None:
        self._work.done[request] = now
        self._held -= self._work.kept[request]
