"""Size of a replica of a language model: the arrivals of requests, on how many GPUs it works, and how many of them are needed."""

import math
from collections.abc import Iterable
from dataclasses import replace
from functools import lru_cache
from typing import Any, NamedTuple

from gpuplan.models import demand
from gpuplan.models.llm import replicas
from gpuplan.models.llm.pace import Pace, Traffic, replica_pace
from gpuplan.models.llm.replicas import Limits, Load, Promise, Replicas
from gpuplan.models.llm.speeds import Replica
from gpuplan.models.llm.traffic import answers, replicas_for
from gpuplan.plan.llm.asks import Asks
from gpuplan.plan.llm.engine import Engine
from gpuplan.plan.llm.sessions import LEVELS, Reuse, reuse_of

SELDOM = 1e-3
"""Requests a second that hardly ever meet."""


TRAFFIC = ("tokens_in", "tokens_out", "spread_in", "spread_out", "peakedness")
"""Inputs of a group that describe its requests."""


known_answers = lru_cache(maxsize=512)(answers)
known_replicas = lru_cache(maxsize=256)(replicas_for)
"""The same as without their names' first word, remembered: plans that differ elsewhere have the same requests."""


class Arrivals(NamedTuple):
    """Requests of a group, and the share of them for which its promise applies."""

    traffic: Traffic
    first_token_s: float
    """Promised."""
    share: float
    """Of the requests for which the promise is to be kept."""
    chunk_tokens: float
    """Of a prompt, read between two steps of the others."""

    def reusing(self, cached_tokens: float, spread_in: float) -> "Arrivals":
        """Return the same where the cache holds this part of a prompt on average, and the rest has this spread."""
        traffic = replace(
            self.traffic,
            tokens_in=self.traffic.tokens_in - cached_tokens,
            spread_in=spread_in,
            longest_in=max(self.traffic.longest_in, self.traffic.tokens_in) - cached_tokens,
        )
        return self._replace(traffic=traffic)

    def kept(self, pace: Pace, per_second: float, count: int) -> bool:
        """True if this many replicas keep the promise for the share."""
        promised = {"requests_per_second": per_second, "first_token_s": self.first_token_s}
        outcome = known_answers(pace, self.traffic, **promised, replicas=count)
        return outcome.kept_share >= self.share

    def needed(self, pace: Pace, per_second: float, least: int = 1) -> int:
        """Replicas that keep the promise; a ValueError in words where no number does."""
        promised = {"requests_per_second": per_second, "first_token_s": self.first_token_s}
        return known_replicas(pace, self.traffic, **promised, share=self.share, least=least)


def arrivals_of(asks: Asks) -> Arrivals:
    """Return the arrivals of a group's requests, as stated or planned; none is longer than model and longest context allow."""
    usual: dict[str, float] = {name: float(asks.value(name)) for name in TRAFFIC}
    context = asks.catalog.row("llm_models", str(asks.group.model))["context_tokens"]
    most = float(asks.group.longest_context or context)
    return Arrivals(
        Traffic(
            **usual,
            longest_in=max(usual["tokens_in"], most - usual["tokens_out"]),
            longest_out=max(usual["tokens_out"], most - usual["tokens_in"]),
        ),
        float(asks.value("first_token_s")),
        float(asks.value("kept_share")),
        float(asks.value("chunk_tokens")),
    )


@lru_cache(maxsize=64)  # 14 ms each
def pace_of(replica: Replica, requests: int, traffic: Traffic, chunk_tokens: float) -> Pace:
    """Return the pace of a replica whose memory holds this many requests."""
    most = min(requests, replica.setup.sequences)
    return replica_pace(replica, traffic=traffic, requests=most, chunk_tokens=chunk_tokens)


class Size(NamedTuple):
    """A replica size in GPUs: its performance, or why it does not work."""

    gpus: float
    found: Replicas | None
    """None where a promise is broken even for one user, or the model does not fit."""
    limits: Limits
    late: str = ""
    """Reason why too many first tokens are late, at any number of replicas."""
    sessions: float = 0.0
    """Share of the sessions that find their context in the cache."""
    for_sessions: int = 1
    """Replicas whose cache keeps that share."""
    for_all_sessions: int = 1
    """The same for practically all of them."""

    @property
    def gpus_in_all(self) -> float:
        """GPUs of all replicas."""
        return self.gpus * self.found.replicas if self.found else math.inf


class Asked(NamedTuple):
    """Requests and promises of the users of a group, and the least number of replicas."""

    load: Load
    promise: Promise
    arrivals: Arrivals
    least: int
    reuse: Reuse | None = None

    def promising(
        self, first_token_s: float | None = None, tokens_per_second: float | None = None
    ) -> "Asked":
        """Return the same requests with another promise."""
        first = first_token_s or self.arrivals.first_token_s
        speed = tokens_per_second or self.promise.tokens_per_second
        promise = replace(self.promise, first_token_s=first, tokens_per_second=speed)
        return self._replace(promise=promise, arrivals=self.arrivals._replace(first_token_s=first))


def asked_of(asks: Asks, engine: Engine) -> Asked:
    """Return what the users of a group ask for and are promised."""
    promise = Promise(float(asks.value("first_token_s")), float(asks.value("tokens_per_s")))
    reuse = reuse_of(asks, engine, promised_stay_s(asks))
    return Asked(load_of(asks), promise, arrivals_of(asks), int(asks.value("least_replicas")), reuse)


def load_of(asks: Asks, share: str = "active_share") -> Load:
    """Return the requests a second of the users at the peak, or at another share of them."""
    tokens = {name: float(asks.value(name)) for name in ("tokens_in", "tokens_out")}
    part = getattr(group := asks.group, share) or 0.0
    if group.requests_per_s is not None:
        beside = part / group.active_share if group.active_share else 0.0
        return Load(**tokens, requests_per_second=group.requests_per_s * beside)
    active = demand.active_people(group.people, active_share=part)
    return Load(**tokens, requests_per_second=active / round_s(asks))


def round_s(asks: Asks) -> float:
    """Return the time from a request of a user to the next one at the promised pace: the board does not change it."""
    return promised_stay_s(asks) + sum(float(asks.value(name)) for name in ("think_s", "tool_s"))


def promised_stay_s(asks: Asks) -> float:
    """Return the time of a request at the promised pace."""
    answer = (float(asks.value("tokens_out")) - 1) / float(asks.value("tokens_per_s"))
    return float(asks.value("first_token_s")) + answer


@lru_cache(maxsize=512)  # candidates and years of growth ask for the same
def sized(replica: Replica, asked: Asked) -> tuple[Replicas | None, Limits, str]:
    """Size the replicas, None if a promise cannot be kept or nothing fits; the limits of one; why requests are late."""
    promised: dict[str, Any] = {"load": asked.load, "promise": asked.promise}
    most = replicas.limits(replica, **promised)
    if not most.memory or not most.speed:
        return None, most, ""
    pace = pace_of(replica, most.memory, asked.arrivals.traffic, asked.arrivals.chunk_tokens)
    try:
        asked.arrivals.needed(pace, SELDOM)
        result = replicas.replicas(replica, **promised, least=asked.least)
        if not asked.arrivals.kept(pace, rate := asked.load.requests_per_second, result.replicas):
            least = asked.arrivals.needed(pace, rate, result.replicas + 1)
            result = replicas.replicas(replica, **promised, least=least)
    except ValueError as error:
        return None, most, str(error)
    return result, most, ""


def reusing(engine: Engine, asked: Asked, sessions: float) -> tuple[Engine, Asked]:
    """Return an engine whose cache keeps this share of the sessions, and the requests with what it still has to read."""
    if asked.reuse is None:
        return engine, asked
    cached, arrivals = asked.reuse.cached(sessions), asked.arrivals
    spread = asked.reuse.spread(sessions, arrivals.traffic.spread_in)
    load = replace(asked.load, tokens_in=asked.load.tokens_in - cached)
    asked = asked._replace(load=load, arrivals=arrivals.reusing(cached, spread))
    return engine.having(cached_tokens=cached), asked


def size_of(engine: Engine, gpus: float, asked: Asked, longest: int = 0) -> Size:
    """Size a replica on this many GPUs, with the hits that the cache of all replicas then keeps.

    More replicas keep more sessions, so prompts are shorter and fewer are needed: for each share that is kept the larger of
    both numbers works. Each grows with the users and falls with memory and speed, and so does the least of them.
    """

    if asked.reuse is None:
        return _size_at(engine, gpus, asked, longest)
    tried: list[Size] = []
    for sessions in LEVELS:
        here, still = reusing(engine, asked, sessions)
        least = asked.reuse.least(engine, gpus, asked.load.requests_per_second, sessions)
        size = _size_at(here, gpus, still._replace(least=max(least, asked.least)), longest)
        tried.append(size._replace(sessions=sessions, for_sessions=least))
        if size.gpus_in_all > gpus * least:  # fewer hits save no replica: it is not the cache that decides
            break
    best = min(tried, key=lambda size: size.gpus_in_all)
    return best._replace(for_all_sessions=tried[0].for_sessions)


def _size_at(engine: Engine, gpus: float, asked: Asked, longest: int) -> Size:
    if not asked.load.requests_per_second:
        asked = asked._replace(load=replace(asked.load, requests_per_second=SELDOM))
    result, most, late = sized(engine.on(gpus), asked)
    if longest and not engine.requests_held(gpus, longest):
        return Size(gpus, None, most._replace(memory=0))
    return Size(gpus, result, most, late)


def sizes_of(engine: Engine, asked: Asked, longest: int) -> tuple[Size, ...]:
    """Size a replica on each number of GPUs that it may have."""
    return tuple(size_of(engine, gpus, asked, longest) for gpus in engine.sizes)


def smallest(sizes: Iterable[Size]) -> Size | None:
    """The size with the fewest GPUs in all, of those the smallest; None if none works."""
    found = (size for size in sizes if size.found)
    return min(found, key=lambda size: (size.gpus_in_all, size.gpus), default=None)
