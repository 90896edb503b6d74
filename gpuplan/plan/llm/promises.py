"""Promises to the users of a language model: how far a plan keeps them, and the nearest that the hardware can keep."""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from gpuplan.locales import written
from gpuplan.models.llm import memory, serving
from gpuplan.models.llm.replicas import Replicas
from gpuplan.models.llm.shape import Range
from gpuplan.plan.llm.asks import Asks
from gpuplan.plan.llm.engine import Engine
from gpuplan.plan.llm.sessions import LEVELS, session_of
from gpuplan.plan.llm.sizing import (
    SELDOM,
    Asked,
    Size,
    asked_of,
    pace_of,
    reusing,
    size_of,
    sizes_of,
    smallest,
)
from gpuplan.scenario import ScenarioError

MET, LIKELY, MISSED = "met", "likely", "missed"


class Target(NamedTuple):
    """A promise to users, and how far the plan keeps it."""

    name: str
    """The input: ``first_token_s`` or ``tokens_per_s``."""
    asked: float
    planned: float
    """The same, or the nearest that the hardware can keep."""
    standing: str
    """``met`` also at the slow end of the range, ``likely`` at its value, or ``missed``."""


def targets(engine: Engine, gpus: float, found: Replicas, asked: Asked, planned: Asked) -> tuple[Target, ...]:
    """How far so many replicas keep promises, where they were planned for the nearest that can be kept."""
    slow = found.first_token_ms.high / found.first_token_ms.value
    arrivals = planned.arrivals._replace(first_token_s=planned.arrivals.first_token_s / slow)
    pace = pace_of(engine.on(gpus), found.limits.memory, arrivals.traffic, arrivals.chunk_tokens)
    soon = arrivals.kept(pace, planned.load.requests_per_second or SELDOM, found.replicas)
    first, nearest_s = asked.arrivals.first_token_s, planned.arrivals.first_token_s
    speed, given = (each.promise.tokens_per_second or 0.0 for each in (asked, planned))
    fast = 1e3 / found.time_per_token_ms.high >= speed
    return (
        Target("first_token_s", first, nearest_s, MISSED if nearest_s > first else MET if soon else LIKELY),
        Target("tokens_per_s", speed, given, MISSED if given < speed else MET if fast else LIKELY),
    )


def surely(asks: Asks, engine: Engine, asked: Asked) -> Size | None:
    """The fewest GPUs that keep all promises also at the slow end of the ranges; None if no size of a replica does."""
    kept = []
    for gpus in engine.sizes:
        replica = engine.on(gpus)
        slow = replica.ranges.first[1] ** replica.speeds.own_first_width
        first = asked.arrivals.first_token_s / slow
        safe = asked._replace(
            promise=replace(asked.promise, safe=True), arrivals=asked.arrivals._replace(first_token_s=first)
        )
        kept.append(size_of(engine, gpus, safe, longest(asks)))
    return smallest(kept)


def nearest(asks: Asks, engine: Engine, sizes: Sequence[Size], asked: Asked) -> Asked:
    """The requests with the nearest promises that this hardware keeps; a ScenarioError where the model does not fit."""
    fitting = [size for size in sizes if size.limits.memory]
    if not fitting:
        raise _does_not_fit(asks, engine, sizes)
    here, still = reusing(engine, asked, LEVELS[0])
    usual: Any = {"tokens_in": still.load.tokens_in, "tokens_out": still.load.tokens_out}

    def alone_ms(size: Size, of: Callable[..., Range] = serving.time_per_token_ms) -> float:
        return float(of(here.on(size.gpus), requests=1.0, **usual).value)

    there = asks
    if not any(size.limits.speed for size in fitting):
        there = there.having("tokens_per_s", 0.995 * 1e3 / min(map(alone_ms, fitting)))
        asked = asked_of(there, engine)
        fitting = [size_of(engine, size.gpus, asked) for size in fitting]
    if any(size.found for size in fitting):
        return asked
    quick = [size for size in fitting if size.limits.speed]
    first = {size.gpus: alone_ms(size, serving.first_token_ms) / 1e3 for size in quick}
    gpus = min(first, key=lambda each: first[each])
    soonest = _soonest(engine, gpus, asked, first[gpus])
    asked = asked_of(there.having("first_token_s", soonest), engine)
    while _least(asks, engine, asked) is None:  # the share that is kept is counted in points
        asked = asked_of(there.having("first_token_s", 1.05 * asked.arrivals.first_token_s), engine)
    return asked


def _least(asks: Asks, engine: Engine, asked: Asked) -> Size | None:
    return smallest(sizes_of(engine, asked, longest(asks)))


def _soonest(engine: Engine, gpus: float, asked: Asked, alone_s: float) -> float:
    """Return the shortest wait for a first token that a replica on this many GPUs can promise."""

    def kept(first_token_s: float) -> bool:
        return size_of(engine, gpus, asked.promising(first_token_s=first_token_s)).found is not None

    low = high = alone_s
    while not kept(high):
        low, high = high, 1.5 * high
    for _ in range(5):
        middle = (low + high) / 2
        low, high = (low, middle) if kept(middle) else (middle, high)
    return math.ceil(20 * high) / 20


def _does_not_fit(asks: Asks, engine: Engine, sizes: Sequence[Size]) -> ScenarioError:
    """That the model, or its longest request, does not fit on the GPUs of a host."""
    most, gpu = max(size.gpus for size in sizes), engine.gpu.name
    replica = engine.on(most)
    room = engine.held(most).cache_gib * (replica.setup.gpus if most >= 1 else 1)
    name = asks.catalog.row("llm_precisions", engine.weights)["name"]
    if adapters := engine.most_adapters(most):
        words = {"gpus": most, "gpu": gpu, "most": adapters, "rank": engine.setup.adapters.rank}
        return asks.refuse("adapters", engine.setup.adapters.count, "limit.adapters", **words)
    if room > 0:
        low, high = 1, longest(asks)
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if engine.requests_held(most, middle) else (low, middle)
        where = "longest_context" if asks.group.longest_context else "tokens_in"
        words = {"gpus": most, "gpu": gpu, "tokens": written(low, ",")}
        return asks.refuse(where, written(asks.value(where), ","), "limit.longest request", **words)
    weights = memory.weights_gib(engine.shape, precision=engine.weights, kept=str(engine.kept.value))
    have = replica.board.memory_gib * max(1, most)
    words = {"weights": written(weights, ",.0f"), "have": written(have, ",.0f"), "precision": name}
    stated = asks.group.replica_gpus is not None
    where, value = ("replica_gpus", written(most, "g")) if stated else ("model", asks.group.model)
    return asks.refuse(where, value, "limit.weights", gpus=most, gpu=gpu, **words)


def longest(asks: Asks) -> int:
    """Tokens of the longest request."""
    return int(asks.group.longest_context or math.ceil(session_of(asks).last_tokens))
