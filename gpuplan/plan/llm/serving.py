"""Serving: the replicas of a language model that its users need, the GPUs of each, and their limits."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, NamedTuple

from gpuplan.locales import written
from gpuplan.models import demand
from gpuplan.models.llm import memory, replicas, serving
from gpuplan.models.llm.memory import Held
from gpuplan.models.llm.replicas import Limits, Load, Promise, Replicas
from gpuplan.models.llm.shape import Range
from gpuplan.models.llm.speculation import speculation_gain
from gpuplan.models.llm.speeds import Replica
from gpuplan.plan.llm.arrivals import Arrivals, arrivals_of, pace_of
from gpuplan.plan.llm.asks import Asks, as_vms
from gpuplan.plan.llm.engine import Engine, unpacked
from gpuplan.plan.llm.sessions import LEVELS, Reuse, check_session, reuse_of, session_of
from gpuplan.scenario import ScenarioError, sites_people
from gpuplan.wording import amount, number, said, stated_percent


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


class Step(NamedTuple):
    """Performance that users see with this many replicas."""

    replicas: int
    requests: float
    first_token_s: Range
    tokens_per_s: Range
    keeps: bool
    """True if the promises are kept."""
    queued: int = 0
    """Requests that find no place in the memory, and wait."""


@dataclass(frozen=True)
class Serving:
    """The replicas of a language model that a group needs."""

    id: str
    name: str
    model: str
    """Its name."""
    weights: str
    cache: str
    asks: Mapping[str, Any]
    """Inputs of the group as they are counted with."""
    gpus: float
    """Of a replica."""
    replicas: int
    off_hours: int
    """Replicas outside the group's hours."""
    requests: float
    """At once, of all users."""
    load: Load
    limits: Limits
    enough: int
    """Replicas that keep the promises on average."""
    found: Replicas
    held: Held
    cache_used_gib: float
    """Of each GPU, by the requests that a replica then has."""
    sizes: tuple[Size, ...]
    with_fewer: tuple[Step, ...]
    """Performance with one replica, two and so on up to one more than planned; the last few where there are many."""
    prompt_s: float
    """Time to read a prompt, with no other request."""
    step_s: float
    """A step of all requests of a replica."""
    unseen: str
    """The part for which no published run was found; empty where there is one."""
    several_sites: bool
    unpacked: bool
    """True if the board does not compute in the precision of the weights."""
    reuse: Reuse | None
    """What prompts repeat; None where each is new."""
    draft_gain: float
    """Speed of an answer with drafted tokens over that without, at the planned load."""

    @property
    def as_group(self) -> dict[str, Any]:
        """The inputs of the group as its VMs."""
        known = self.asks["off_hours_share"] is not None and self.replicas
        off = self.off_hours / self.replicas if known else None
        return as_vms(self.replicas, self.gpus, off, self.several_sites)

    @property
    def limit(self) -> str:
        """The limit that decides the number of replicas: memory, speed, first token, or availability."""
        if self.in_time:
            return "first_token"
        if self.replicas == self.size.for_sessions > max(self.enough, int(self.asks["least_replicas"])):
            return "sessions"
        return "availability" if self.replicas > self.enough else self.limits.by

    @property
    def in_time(self) -> bool:
        """True if it takes more replicas to start the promised share of requests in time than to keep the mean."""
        return self.replicas > max(self.enough, int(self.asks["least_replicas"]), self.size.for_sessions)

    @property
    def cached_tokens(self) -> float:
        """Tokens of a prompt that the cache holds from earlier requests."""
        return self.reuse.cached(self.size.sessions) if self.reuse else 0.0

    @property
    def hit_share(self) -> float:
        """Share of a prompt that is not read again."""
        return self.cached_tokens / float(self.asks["tokens_in"])

    @property
    def size(self) -> Size:
        """The size of a replica that was chosen."""
        return next(size for size in self.sizes if size.gpus == self.gpus)

    @property
    def steps(self) -> tuple[Step, ...]:
        """One replica fewer, as planned, one more."""
        return tuple(step for step in self.with_fewer if abs(step.replicas - self.replicas) <= 1)

    def after(self, replicas: int) -> Step | None:
        """Return the performance with this many replicas left; None without any."""
        steps = [step for step in self.with_fewer if step.replicas <= replicas]
        return steps[-1] if steps else None

    @property
    def users(self) -> str:
        """The users of the model, in words."""
        asks = self.asks
        if asks["requests_per_s"] is not None:
            return said("llm.requests", requests=asks["requests_per_s"])
        return said("llm.users", people=asks["people"], share=stated_percent(asks["active_share"]))

    @property
    def promises(self) -> str:
        """Their requests and promises, in words."""
        names = ("tokens_in", "tokens_out", "first_token_s", "tokens_per_s")
        return said("llm.promises", **{name: self.asks[name] for name in names})

    @property
    def said(self) -> str:
        """Both."""
        return f"{self.users}, {self.promises}"

    @property
    def tokens_per_s(self) -> Range:
        """Tokens a second that a user gets after the first one."""
        return token_speed(self.found.time_per_token_ms)


def token_speed(each_ms: Range) -> Range:
    """Tokens a second of a time per token."""
    return Range(1e3 / each_ms.value, 1e3 / each_ms.high, 1e3 / each_ms.low)


def serving_of(asks: Asks, engine: Engine) -> Serving:
    """The replicas that a group needs; a ScenarioError where its promises cannot be kept."""
    group = asks.group
    promise = Promise(float(asks.value("first_token_s")), float(asks.value("tokens_per_s")))
    reuse = reuse_of(asks, engine, promised_stay_s(asks))
    wanted = Asked(_load(asks), promise, arrivals_of(asks), int(asks.value("least_replicas")), reuse)
    sizes = tuple(_size(engine, gpus, wanted, _longest(asks)) for gpus in engine.sizes)
    size = min(sizes, key=lambda each: (each.gpus_in_all, each.gpus))
    if size.found is None:
        raise _refusal(asks, engine, sizes, wanted)
    off_hours = _off_hours(asks, engine, size.gpus, wanted)
    steps = tuple(_steps(engine, size, wanted))
    engine, wanted = _reusing(engine, wanted, size.sessions)
    load, chosen, usage = wanted.load, size.found, engine.held(size.gpus)
    setup = engine.on(size.gpus).setup
    each_gib = memory.request_gib(engine.shape, setup=setup, tokens=load.tokens_in + load.tokens_out)
    return Serving(
        id=group.id,
        name=group.name,
        model=str(engine.model["name"]),
        weights=engine.weights,
        cache=engine.cache,
        asks={name: asks.value(name) for name in ASKED},
        gpus=size.gpus,
        replicas=chosen.replicas if load.requests_per_second else 0,
        off_hours=off_hours,
        requests=chosen.requests * chosen.replicas if load.requests_per_second else 0.0,
        load=load,
        limits=chosen.limits,
        enough=_on_average(engine, size.gpus, load, wanted.promise).replicas
        if load.requests_per_second
        else 0,
        found=chosen,
        held=usage,
        cache_used_gib=usage.cache_gib if size.sessions else min(usage.cache_gib, each_gib * chosen.requests),
        sizes=sizes,
        with_fewer=steps,
        **_times(engine, size.gpus, load, chosen.requests),
        unseen=engine.unseen,
        several_sites=len(sites_people(group.sites)) > 1,
        unpacked=unpacked(engine, asks.catalog),
        reuse=reuse,
        draft_gain=speculation_gain(
            engine.on(size.gpus),
            requests=max(1.0, chosen.requests),
            context_tokens=load.tokens_in + load.tokens_out / 2,
        ),
    )


ASKED = (
    "people",
    "active_share",
    "off_hours_share",
    "tokens_in",
    "tokens_out",
    "first_token_s",
    "tokens_per_s",
    "longest_context",
    "requests_per_s",
    "least_replicas",
)
"""Inputs of a group that describe the requests of its users."""


def _load(asks: Asks, share: str = "active_share") -> Load:
    """Return the requests a second of the users at the peak, or at another share of them."""
    group = asks.group
    tokens = {name: float(asks.value(name)) for name in ("tokens_in", "tokens_out")}
    part = getattr(group, share) or 0.0
    if group.requests_per_s is not None:
        beside = part / group.active_share if group.active_share else 0.0
        return Load(**tokens, requests_per_second=group.requests_per_s * beside)
    return Load(
        **tokens, requests_per_second=demand.active_people(group.people, active_share=part) / _round_s(asks)
    )


def _round_s(asks: Asks) -> float:
    """Return the time from a request of a user to the next one, at the pace that is promised: the board does not change it."""
    return float(asks.value("think_s")) + float(asks.value("tool_s")) + promised_stay_s(asks)


def promised_stay_s(asks: Asks) -> float:
    """Return the time of a request at the promised pace."""
    answer = (float(asks.value("tokens_out")) - 1) / float(asks.value("tokens_per_s"))
    return float(asks.value("first_token_s")) + answer


def _longest(asks: Asks) -> int:
    """Tokens of the longest request."""
    return int(asks.group.longest_context or math.ceil(session_of(asks).last_tokens))


def check_lengths(asks: Asks) -> None:
    """Reject requests beyond the context of the model, or beyond the longest request that is stated."""
    model = asks.catalog.row("llm_models", str(asks.group.model))
    usual = int(asks.value("tokens_in") + asks.value("tokens_out"))
    longest = asks.group.longest_context
    most = int(model["context_tokens"])
    words = {"model": model["name"], "most": written(most, ",")}
    if longest is not None and longest > most:
        raise asks.refuse("longest_context", written(longest, ","), "limit.context", **words)
    if usual > most:
        raise asks.refuse("tokens_in", written(asks.value("tokens_in"), ","), "limit.context", **words)
    if longest is not None and longest < usual:
        least = written(usual, ",")
        raise asks.refuse("longest_context", written(longest, ","), "limit.usual request", usual=least)
    check_session(asks, longest or most)


class Asked(NamedTuple):
    """Requests and promises of the users of a group, and the least number of replicas."""

    load: Load
    promise: Promise
    arrivals: Arrivals
    least: int
    reuse: Reuse | None = None


@lru_cache(maxsize=512)  # candidates and years of growth ask for the same
def _sized(replica: Replica, asked: Asked) -> tuple[Replicas | None, Limits, str]:
    """Size the replicas, None if a promise cannot be kept or nothing fits; the limits of one; why requests are late."""
    promised: dict[str, Any] = {"load": asked.load, "promise": asked.promise}
    most = replicas.limits(replica, **promised)
    if not most.memory or not most.speed:
        return None, most, ""
    pace = pace_of(replica, most.memory, asked.arrivals)
    try:
        asked.arrivals.needed(pace, SELDOM)
        result = replicas.replicas(replica, **promised, least=asked.least)
        if not asked.arrivals.kept(pace, rate := asked.load.requests_per_second, result.replicas):
            least = asked.arrivals.needed(pace, rate, result.replicas + 1)
            result = replicas.replicas(replica, **promised, least=least)
    except ValueError as error:
        return None, most, str(error)
    return result, most, ""


SELDOM = 1e-3
"""Requests a second that hardly ever meet."""


def _reusing(engine: Engine, asked: Asked, sessions: float) -> tuple[Engine, Asked]:
    """Return an engine whose cache keeps this share of the sessions, and the requests with what it still has to read."""
    if asked.reuse is None:
        return engine, asked
    cached, arrivals = asked.reuse.cached(sessions), asked.arrivals
    spread = asked.reuse.spread(sessions, arrivals.traffic.spread_in)
    load = replace(asked.load, tokens_in=asked.load.tokens_in - cached)
    asked = asked._replace(load=load, arrivals=arrivals.reusing(cached, spread))
    return engine.having(cached_tokens=cached), asked


def _size(engine: Engine, gpus: float, asked: Asked, longest: int = 0) -> Size:
    """Size a replica on this many GPUs, with the hits that the cache of all replicas then keeps.

    More replicas keep more sessions, so prompts are shorter and fewer are needed: for each share that is kept the larger of
    both numbers works. Each grows with the users and falls with memory and speed, and so does the least of them.
    """

    if asked.reuse is None:
        return _size_at(engine, gpus, asked, longest)
    tried: list[Size] = []
    for sessions in LEVELS:
        here, still = _reusing(engine, asked, sessions)
        least = asked.reuse.least(engine, gpus, asked.load.requests_per_second, sessions)
        size = _size_at(here, gpus, still._replace(least=max(least, asked.least)), longest)
        tried.append(size._replace(sessions=sessions, for_sessions=least))
        if size.gpus_in_all > gpus * least:  # fewer hits save no replica: it is not the cache that decides
            break
    best = min(tried, key=lambda size: size.gpus_in_all)
    return best._replace(for_all_sessions=tried[0].for_sessions)


def _size_at(engine: Engine, gpus: float, asked: Asked, longest: int) -> Size:
    """Size a replica on this many GPUs for the requests, the longest included."""
    if not asked.load.requests_per_second:
        asked = asked._replace(load=replace(asked.load, requests_per_second=SELDOM))
    result, most, late = _sized(engine.on(gpus), asked)
    if longest and not engine.requests_held(gpus, longest):
        return Size(gpus, None, most._replace(memory=0))
    return Size(gpus, result, most, late)


def _off_hours(asks: Asks, engine: Engine, gpus: float, asked: Asked) -> int:
    """Replicas outside the group's hours: none where no user is active then."""
    if not asks.group.off_hours_share:
        return 0
    result = _size(engine, gpus, asked._replace(load=_load(asks, "off_hours_share"))).found
    return result.replicas if result else 0


def _times(engine: Engine, gpus: float, load: Load, requests: float) -> dict[str, float]:
    """Return the seconds that a replica takes per prompt and per step."""
    replica, context = engine.on(gpus), load.tokens_in + load.tokens_out / 2
    step = serving.decode_step_ms(replica, requests=max(1.0, requests), context_tokens=context)
    prompt = serving.prompt_ms(replica, tokens_in=load.tokens_in)
    return {"prompt_s": prompt / 1e3, "step_s": step / 1e3}


MOST_STEPS = 16
"""Most steps computed below the planned replicas; a host runs no more replicas than this."""


def _steps(engine: Engine, size: Size, asked: Asked) -> Iterator[Step]:
    """Compute the performance with fewer replicas, which keep fewer sessions, as planned, and with one more."""
    if size.found is None or not (rate := asked.load.requests_per_second):
        return
    now, sessions = size.found.replicas, size.sessions
    for count in range(max(1, now - MOST_STEPS), now + 2):
        if asked.reuse and count < now:
            sessions = min(size.sessions, asked.reuse.level(engine, size.gpus, rate, count))
        here, still = _reusing(engine, asked, sessions if count < now else size.sessions)
        yield _step_with(here, size, still.load, still.arrivals, size.found, count)


def _on_average(engine: Engine, gpus: float, load: Load, promise: Promise, least: int = 1) -> Replicas:
    """Replicas that keep a promise on average, for identical users, whatever the arrivals of their requests."""
    return replicas.replicas(engine.on(gpus), load=load, promise=promise, least=least)


def _each(engine: Engine, size: Size, load: Load, planned: Replicas, count: int) -> float:
    """Return concurrent requests on each replica; faster answers mean fewer."""
    result = _on_average(engine, size.gpus, load, Promise(), count)
    if result.replicas > count:  # they arrive faster than these replicas answer
        return max(size.limits.memory + 1.0, planned.requests * planned.replicas / count)
    return result.requests


def _step_with(
    engine: Engine, size: Size, load: Load, arrivals: Arrivals, planned: Replicas, count: int
) -> Step:
    """Compute the performance with this many replicas: requests beyond the memory wait in a queue."""
    per_replica = _each(engine, size, load, planned, count)
    in_it = min(max(1.0, per_replica), float(size.limits.memory))
    replica = engine.on(size.gpus)
    at = {"requests": in_it, "tokens_in": load.tokens_in, "tokens_out": load.tokens_out}
    first, token = serving.first_token_ms(replica, **at), serving.time_per_token_ms(replica, **at)
    keeps = math.ceil(per_replica - 1e-9) <= size.limits.requests
    if keeps and count < planned.replicas:
        pace = pace_of(replica, size.limits.memory, arrivals)
        keeps = arrivals.kept(pace, load.requests_per_second, count)
    queued = max(0, math.ceil((per_replica - in_it) * count - 1e-9))
    return Step(count, per_replica, Range(*(ms / 1e3 for ms in first)), token_speed(token), keeps, queued)


def _soonest(engine: Engine, gpus: float, asked: Asked, alone_s: float) -> float | None:
    """Return the shortest wait for a first token that a replica on this many GPUs can promise."""

    def kept(first_token_s: float) -> bool:
        promise = replace(asked.promise, first_token_s=first_token_s)
        arrivals = asked.arrivals._replace(first_token_s=first_token_s)
        return _size(engine, gpus, asked._replace(promise=promise, arrivals=arrivals)).found is not None

    low = high = max(alone_s, asked.arrivals.first_token_s)
    while not kept(high):
        if high >= LONGEST_WAIT_S:
            return None
        low, high = high, min(LONGEST_WAIT_S, 1.5 * high)
    for _ in range(5):
        middle = (low + high) / 2
        low, high = (low, middle) if kept(middle) else (middle, high)
    return math.ceil(20 * high) / 20


LONGEST_WAIT_S = 600.0
"""Longest wait for a first token that an input takes."""


def _refusal(asks: Asks, engine: Engine, sizes: Sequence[Size], asked: Asked) -> ScenarioError:
    """Say why no size works, and name the nearest that does."""
    gpu = engine.gpu.name
    fitting = [size for size in sizes if size.limits.memory]
    if not fitting:
        return _does_not_fit(asks, engine, sizes)
    here, still = _reusing(engine, asked, 1.0)
    usual: Any = {"tokens_in": still.load.tokens_in, "tokens_out": still.load.tokens_out}

    def alone_ms(size: Size, of: Callable[..., Range] = serving.time_per_token_ms) -> float:
        return float(of(here.on(size.gpus), requests=1.0, **usual).value)

    quick = [size for size in fitting if size.limits.speed]
    if not quick:
        best = written(math.floor(1e4 / min(map(alone_ms, fitting))) / 10, "g")
        wanted, words = written(asked.promise.tokens_per_second, "g"), {"best": best, "gpu": gpu}
        return asks.refuse("tokens_per_s", wanted, "limit.tokens a second", gpus=fitting[-1].gpus, **words)
    first = {size.gpus: alone_ms(size, serving.first_token_ms) / 1e3 for size in quick}
    gpus = min(first, key=lambda each: first[each])
    nearest = _soonest(engine, gpus, asked, first[gpus])
    wanted = written(asked.promise.first_token_s, "g")
    words = {"wait": written(first[gpus], ".2g"), "gpus": amount(gpus, gpu)}
    words["share"] = stated_percent(asked.arrivals.share)
    if nearest is None:
        return asks.refuse("first_token_s", wanted, "limit.first token", **words)
    least = written(nearest, "g")
    return asks.refuse("first_token_s", wanted, "limit.first token at least", least=least, **words)


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
        longest = _longest(asks)
        low, high = 1, longest
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


def why_size(made: Serving) -> str:
    """Explain the number of GPUs of a replica: the need of other sizes, or why they do not work."""
    cannot: dict[str, list[str]] = {}
    others = [size for size in made.sizes if size.gpus != made.gpus]
    for size in others:
        if not size.found:
            limit = "first_token" if size.late else size.limits.by
            cannot.setdefault(NO_WAY[limit], []).append(number(size.gpus))
    parts = [f"{', '.join(sizes)}: {why}" for why, sizes in cannot.items()]
    parts += [said("llm.size", gpus=size.gpus, in_all=size.gpus_in_all) for size in others if size.found]
    return "; ".join(parts)


NO_WAY = {limit: said(f"llm.no way {limit}") for limit in ("memory", "speed", "first_token")}
"""Limit of a replica -> why it is not possible."""
