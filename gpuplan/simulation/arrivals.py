"""Arrivals: the classes of requests, and their times, durations and asks drawn by chance."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

HOURS_PER_WEEK = 168
MOST_ACTIVE = 0.99
"""A higher chance of being active is simulated as this: at 1 a person would send the next request immediately."""


@dataclass(frozen=True, slots=True)
class Stream:
    """One class of requests for GPUs.

    ``gpus`` of one VM are whole, or a fraction of one GPU; a request starts ``vms`` VMs together. Fractions share a
    GPU within their ``family`` ("": equal fractions), ``per_gpu`` of them by a profile table (0: as their ``gpus``
    add up). With ``people`` the stream is a closed group, and ``rates_per_h`` are chances that one is active;
    without, requests per hour of a Poisson stream; in equal parts of a week. ``cv`` is that of the duration: 0 fixed,
    1 exponential, else lognormal. ``takes`` are vCPUs and GiB of memory of a VM, ``clusters`` those whose hosts it
    may take ((): all).
    """

    name: str
    gpus: float = 1
    vms: int = 1
    per_gpu: int = 0
    family: str = ""
    people: int = 0
    rates_per_h: tuple[float, ...] = (1.0,)
    duration_h: float = 1.0
    cv: float = 1.0
    takes: tuple[int, int] = (0, 0)
    clusters: tuple[int, ...] = ()

    @property
    def candidates_per_h(self) -> Floats:
        """Candidates per hour in each part of the week: of a closed group, if all its people were idle."""
        rates = np.array(self.rates_per_h, dtype=np.float64)
        if not self.people:
            return rates
        active = np.minimum(rates, MOST_ACTIVE)
        return self.people * active / ((1 - active) * self.duration_h)

    @property
    def requests_per_h(self) -> float:
        """Requests per hour on average, if no request were denied or had to wait."""
        if not self.people:
            return sum(self.rates_per_h) / len(self.rates_per_h)
        active = [min(p, MOST_ACTIVE) for p in self.rates_per_h]
        return self.people * sum(active) / len(active) / self.duration_h


class Source:
    """The candidates of one stream, each kind of chance from a generator of its own: no chunk size matters."""

    def __init__(self, stream: Stream, number: int, seed: np.random.SeedSequence) -> None:
        self._gaps, self._thin, self._asks, self._lasts = map(np.random.default_rng, seed.spawn(4))
        self._stream, self._number = stream, number
        self._rates = stream.candidates_per_h
        self.rate = float(self._rates.max())
        self._last = 0.0
        self._times = np.zeros(0)

    def until(self, time: float) -> tuple[Floats, Floats, Ints, Floats]:
        """Times, durations, stream numbers and asks of the candidates up to a time."""
        if self.rate == 0:
            return np.zeros(0), np.zeros(0), np.zeros(0, dtype=np.int64), np.zeros(0)
        parts = [self._times]
        while self._last <= time:
            expected = self.rate * (time - self._last)
            gaps = self._gaps.standard_exponential(int(expected + 3 * math.sqrt(expected)) + 16)
            gaps /= self.rate
            gaps[0] += self._last
            parts.append(np.cumsum(gaps))
            self._last = float(parts[-1][-1])
        times = np.concatenate(parts)
        cut = int(np.searchsorted(times, time, side="right"))
        times, self._times = times[:cut], times[cut:]
        if self._rates.min() < self.rate:
            part = (times % HOURS_PER_WEEK * (len(self._rates) / HOURS_PER_WEEK)).astype(np.int64)
            part = np.minimum(part, len(self._rates) - 1)
            times = times[self._thin.random(len(times)) * self.rate < self._rates[part]]
        count = len(times)
        stream = self._stream
        asks = self._asks.random(count) * (stream.people * stream.vms) if stream.people else np.zeros(count)
        return times, self._durations(count), np.full(count, self._number), asks

    def _durations(self, count: int) -> Floats:
        mean, cv = self._stream.duration_h, self._stream.cv
        if cv == 0:
            return np.full(count, mean)
        if cv == 1:
            return self._lasts.standard_exponential(count) * mean
        spread = math.log1p(cv * cv)
        return np.exp(self._lasts.standard_normal(count) * math.sqrt(spread) + (math.log(mean) - spread / 2))
