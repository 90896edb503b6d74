"""Serving: the replicas of a language model that its users need, the GPUs of each, and their limits."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, NamedTuple

from gpuplan.locales import written
from gpuplan.models.llm import memory, replicas, serving
from gpuplan.models.llm.memory import Held
from gpuplan.models.llm.replicas import Limits, Load, Promise, Replicas
from gpuplan.models.llm.shape import Range
from gpuplan.models.llm.speculation import speculation_gain
from gpuplan.plan.llm.asks import Asks, as_vms
from gpuplan.plan.llm.engine import Engine, unpacked
from gpuplan.plan.llm.promises import LIKELY, MET, MISSED, Target, longest, nearest, surely, targets
from gpuplan.plan.llm.sessions import Reuse, check_session
from gpuplan.plan.llm.sizing import (
    Arrivals,
    Asked,
    Size,
    asked_of,
    load_of,
    pace_of,
    reusing,
    size_of,
    sizes_of,
    smallest,
)
from gpuplan.scenario import sites_people
from gpuplan.wording import number, said, stated_percent

ASKED = (
    *("people", "active_share", "off_hours_share", "tokens_in", "tokens_out"),
    *("first_token_s", "tokens_per_s", "longest_context", "requests_per_s", "least_replicas"),
)
"""Inputs of a group that describe the requests of its users."""
MOST_STEPS = 16
"""Most steps computed below the planned replicas; a host runs no more replicas than this."""
NO_WAY = {limit: said(f"llm.no way {limit}") for limit in ("memory", "speed", "first_token")}
"""Limit of a replica -> why it is not possible."""


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


class Steps(Sequence[Step]):
    """Steps that are computed when they are first read: a plan of a year of growth has no use for them.

    They take 60 % of the time in which a language model is sized.
    """

    def __init__(self, work: Callable[[], Iterable[Step]]) -> None:
        self._work = work

    @cached_property
    def _all(self) -> tuple[Step, ...]:
        return tuple(self._work())

    def __len__(self) -> int:
        return len(self._all)

    def __getitem__(self, at: Any) -> Any:
        return self._all[at]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and self._all == tuple(other)

    def __reduce__(self) -> Any:
        return tuple, (self._all,)


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
    with_fewer: Sequence[Step]
    """Performance with one replica, two and so on up to one more than planned; the last few where there are many."""
    targets: tuple[Target, ...]
    """Its promises, and how far they are kept."""
    surely: Size | None
    """Size that keeps those that are likely at the slow end of the ranges, too; None if there is none."""
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
    def standing(self) -> str:
        """How far all promises are kept: ``met``, ``likely`` or ``missed``."""
        standings = {target.standing for target in self.targets}
        return next(name for name in (MISSED, LIKELY, MET) if name in standings)

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
    group, wanted = asks.group, asked_of(asks, engine)
    sizes = sizes_of(engine, planned := wanted, longest(asks))
    if (size := smallest(sizes)) is None:
        sizes = sizes_of(engine, planned := nearest(asks, engine, sizes, wanted), longest(asks))
        size = smallest(sizes)
    assert size and size.found
    off_hours = _off_hours(asks, engine, size.gpus, planned)
    here, served = reusing(engine, planned, size.sessions)
    kept = targets(here, size.gpus, size.found, wanted, served)
    safe = surely(asks, engine, planned) if any(each.standing == LIKELY for each in kept) else None
    steps = Steps(partial(_steps, engine, size, planned))
    engine, load, chosen, usage = here, served.load, size.found, here.held(size.gpus)
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
        enough=_on_average(engine, size.gpus, load, served.promise).replicas
        if load.requests_per_second
        else 0,
        found=chosen,
        held=usage,
        cache_used_gib=usage.cache_gib if size.sessions else min(usage.cache_gib, each_gib * chosen.requests),
        sizes=sizes,
        with_fewer=steps,
        targets=kept,
        surely=safe,
        **_times(engine, size.gpus, load, chosen.requests),
        unseen=engine.unseen,
        several_sites=len(sites_people(group.sites)) > 1,
        unpacked=unpacked(engine, asks.catalog),
        reuse=wanted.reuse,
        draft_gain=speculation_gain(
            engine.on(size.gpus),
            requests=max(1.0, chosen.requests),
            context_tokens=load.tokens_in + load.tokens_out / 2,
        ),
    )


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


def _off_hours(asks: Asks, engine: Engine, gpus: float, asked: Asked) -> int:
    """Replicas outside the group's hours: none where no user is active then."""
    if not asks.group.off_hours_share:
        return 0
    result = size_of(engine, gpus, asked._replace(load=load_of(asks, "off_hours_share"))).found
    return result.replicas if result else 0


def _times(engine: Engine, gpus: float, load: Load, requests: float) -> dict[str, float]:
    """Return the seconds that a replica takes per prompt and per step."""
    replica, context = engine.on(gpus), load.tokens_in + load.tokens_out / 2
    step = serving.decode_step_ms(replica, requests=max(1.0, requests), context_tokens=context)
    prompt = serving.prompt_ms(replica, tokens_in=load.tokens_in)
    return {"prompt_s": prompt / 1e3, "step_s": step / 1e3}


def _steps(engine: Engine, size: Size, asked: Asked) -> Iterator[Step]:
    """Compute the performance with fewer replicas, which keep fewer sessions, as planned, and with one more."""
    if size.found is None or not (rate := asked.load.requests_per_second):
        return
    now, sessions = size.found.replicas, size.sessions
    for count in range(max(1, now - MOST_STEPS), now + 2):
        if asked.reuse and count < now:
            sessions = min(size.sessions, asked.reuse.level(engine, size.gpus, rate, count))
        here, still = reusing(engine, asked, sessions if count < now else size.sessions)
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
        pace = pace_of(replica, size.limits.memory, arrivals.traffic, arrivals.chunk_tokens)
        keeps = arrivals.kept(pace, load.requests_per_second, count)
    queued = max(0, math.ceil((per_replica - in_it) * count - 1e-9))
    return Step(count, per_replica, Range(*(ms / 1e3 for ms in first)), token_speed(token), keeps, queued)


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
