"""A replica as a queue whose speed depends on the number of its requests: its Markov chain, and first-token times."""

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from gpuplan.models.llm.pace import Floats, Pace, Traffic, lengths

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
