"""One replica: requests that wait, are read and run, step by step."""

import heapq
import math
from bisect import bisect_right
from collections import deque

import numpy as np

from gpuplan.models.llm.pace import Floats, Pace


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
