"""Requests as they came, played on replicas behind a balancer."""

import heapq
import math
from bisect import bisect_right
from collections import deque
from dataclasses import dataclass, replace

import numpy as np

from gpuplan.models.llm.pace import Floats, Pace
from gpuplan.units import above_zero, at_least_one


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

    def after(self, requests: int) -> "Played":
        """The same without the first requests."""
        columns = ("arrival_s", "let_in_s", "first_s", "done_s", "found", "answers")
        return replace(self, **{name: getattr(self, name)[requests:] for name in columns})


def play(
    pace: Pace, arrival_s: Floats, *, tokens_in: Floats, tokens_out: Floats, replicas: int = 1
) -> Played:
    """Requests as they came, played on some replicas.

    Parameters:
        arrival_s (array of float): When each request comes, in order. [s]
        tokens_in (array of float): Tokens of its prompt. [-]
        tokens_out (array of float): Tokens of its answer, at least 1. [-]
        replicas: Replicas behind the balancer. [-]

    Exact for the rules that the module states; steps and prompts are fitted to published runs, waits are not, and engines add some
    of their own. Engines also let more requests in than they may be able to finish and take some back;
    here each reserves its whole length, so the cache is never short. The first token comes with the end of the prompt.
    [orca-2022]_ [sarathi-serve-2024]_

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
        points, times = self._pace.prompts, self._pace.prompt_s
        n = min(max(bisect_right(points, tokens), 1), len(points) - 1)
        return times[n - 1] + (tokens - points[n - 1]) * (times[n] - times[n - 1]) / (
            points[n] - points[n - 1]
        )

    def busy_until(self, now: float) -> float:
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
