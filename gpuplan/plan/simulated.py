"""Rules by risk on the hosts, VMs and profiles that are planned: requests are simulated, and hosts added until the target holds."""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from functools import cache
from typing import Any, NamedTuple

from gpuplan.models.placement import Request, Room
from gpuplan.plan.demand import PoolDemand
from gpuplan.plan.layouts import Kept, Layout
from gpuplan.plan.over_time.rules import least
from gpuplan.plan.sizing_rule import Target
from gpuplan.plan.working_week import Ask, Mix
from gpuplan.scenario import OTHER_VMS, Scenario
from gpuplan.simulation.arrivals import Stream
from gpuplan.simulation.jobs import Estimate, Outcome, Simulated, simulate

MOST_REQUESTS = 500_000
"""Requests after which a simulation that decides nothing ends, so that 40 hosts take no longer than some seconds."""
UNLIMITED = 1 << 40
"""vCPUs or memory of a host that are not counted."""
Parts = Callable[[Ask], list[tuple[int, tuple[float, ...]]]]
"""(people, their chances to be active), or (0, arrivals per hour), of the parts of a group."""


class Offer(NamedTuple):
    """Resources of a host for VMs with GPUs."""

    gpus: int
    spare: tuple[int, int]
    """vCPUs and GiB of memory."""


Host = tuple[int, Offer]
"""The number of its cluster, and what it offers."""
MOST_HOSTS = 1000
"""Hosts of a pool beyond which it is not simulated: a request then takes a hundred times as long as on ten."""
LOOKS = 1.5
"""Half widths of an interval that have to hold: a run that looks at it again and again ends at the first that does."""
MOST_RESULTS = 256
"""Results of simulations that are kept: designs that differ elsewhere share them, and each may take a second."""


class Promise(NamedTuple):
    """What a rule by risk promises to the groups of one pool."""

    mixes: tuple[tuple[Stream, ...], ...]
    """Requests of each mix that matters, of the one that the pool is sized for first."""
    target: Target
    policy: str
    """Choice of the host for a VM: pack or spread."""
    boards: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """(group, boards that its VMs run on) where a cluster with one of them serves it, even without a VM of it."""

    @property
    def groups(self) -> set[str]:
        """Its groups, also those without a VM when the pool is most crowded."""
        return {stream.name for streams in self.mixes for stream in streams}

    def of_groups(self, groups: Iterable[str]) -> "Promise":
        """The promise to some of the groups."""
        mixes = (tuple(stream for stream in streams if stream.name in groups) for streams in self.mixes)
        return self._replace(mixes=tuple(dict.fromkeys(streams for streams in mixes if streams)))

    def among(self, clusters: Sequence[Layout]) -> "Promise":
        """The promise where a request takes a host of a cluster that has VMs of its group, or a board for them."""
        if len(clusters) == 1:
            return self
        homes: dict[str, tuple[int, ...]] = {}
        for number, laid in enumerate(clusters):
            there = {request.group for request in laid.asked}
            there |= {group for group, boards in self.boards if laid.rooms[0].board in boards}
            homes |= {group: (*homes.get(group, ()), number) for group in there}
        mixes = (
            tuple(replace(stream, clusters=homes.get(stream.name, ())) for stream in streams)
            for streams in self.mixes
        )
        return self._replace(mixes=tuple(mixes), boards=())


Results = dict[tuple[tuple[Host, ...], Promise], Kept]
RESULTS: Results = {}
"""The last results of simulations; those of another process may be added."""
_only_known = ContextVar("only results that are known", default=False)


class NotSimulatedError(Exception):
    """A simulation would be needed, where only known results may be used."""


@contextmanager
def known_results() -> Iterator[None]:
    """Raise a NotSimulatedError in place of a simulation: for a first answer that may not wait."""
    token = _only_known.set(True)
    try:
        yield
    finally:
        _only_known.reset(token)


def promise_of(scenario: Scenario, pool: PoolDemand, requests: Mapping[str, Request]) -> Promise:
    """Return what the rule of a scenario promises to the groups of a pool."""
    mixes = [want.mix for want in (pool.needed[pool.chosen], *pool.needed)]
    streams = dict.fromkeys(streams_of(scenario, mix, requests, endless) for mix in mixes)
    return Promise(tuple(streams), Target.of(scenario), scenario.platform.assignment, boards_of(requests))


def boards_of(requests: Mapping[str, Request]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Return the boards that the VMs of each group run on, where these are told apart."""
    return tuple((id, request.boards) for id, request in requests.items() if request.boards)


def streams_of(
    scenario: Scenario, mix: Mix, requests: Mapping[str, Request], parts: Parts
) -> tuple[Stream, ...]:
    """Return the groups of a mix as streams of requests, one for each chance of its people to be active."""
    groups = {group.id: group for group in scenario.groups}
    return tuple(
        Stream(
            ask.group,
            gpus=request.gpus or groups[ask.group].gpus_each,
            vms=groups[ask.group].vms_each,
            per_gpu=_per_gpu(request),
            family=request.family.name if request.family else "",
            people=people,
            rates_per_h=rates,
            duration_h=ask.work_h,
            takes=(request.vcpus, request.memory_gib),
        )
        for ask, request in ((ask, requests[ask.group]) for ask in mix.asks)
        for people, rates in parts(ask)
        if any(rates)
    )


def endless(ask: Ask) -> list[tuple[int, tuple[float, ...]]]:
    """Return the parts of a group in a mix that never ends."""
    if ask.people:
        return [(n, (p,)) for n, p in zip(ask.people, ask.chances, strict=True)]
    return [(0, (ask.load / ask.work_h,))]


def _per_gpu(request: Request) -> int:
    """Return the number of such VMs that fit on one GPU by their profile; 0 where the share alone says so."""
    if request.family is None or request.family.capacity or request.shares > 1:
        return 0
    at = request.family.profiles.index(request.profile)
    return max(layout[at] for layout in request.family.layouts)


def offer_of(room: Room) -> Offer:
    """Return what an empty host offers."""
    return Offer(room.gpus, (room.vcpus or UNLIMITED, room.memory_gib or UNLIMITED))


def offers(laid: Layout) -> tuple[list[Offer], list[Offer]]:
    """Return what the hosts for the demand of a cluster offer, and its other hosts, without what VMs without a GPU take."""
    others = {request.group: request for request in laid.asked if request.group.startswith(OTHER_VMS)}
    busy, free = list[Offer](), list[Offer]()
    for at, room in enumerate(laid.rooms):
        host = laid.needed.hosts[at] if at < len(laid.needed.hosts) else ()
        there = Counter(group for group, _ in {(s.group, s.vm) for load in host for s in load.slots})
        gpus, (vcpus, memory_gib) = offer_of(room)
        for group, request in others.items():
            vcpus -= there[group] * request.vcpus
            memory_gib -= there[group] * request.memory_gib
        (busy if host else free).append(Offer(gpus, (vcpus, memory_gib)))
    free.sort(reverse=True)
    return busy + free[: laid.more], free[laid.more :]


def played(promise: Promise, hosts: Sequence[Host], **how: Any) -> Simulated:
    """Simulate the first mix of a promise on hosts; clusters that share no group have queues of their own.

    Raises a ValueError if a request does not fit on these hosts at all.
    """
    target = promise.target
    results, gpus = list[Simulated](), list[int]()
    for streams, numbers in _apart(promise.mixes[0]):
        there = sorted(host for host in hosts if not numbers or host[0] in numbers)
        if not there:
            raise ValueError(f"stream {streams[0].name!r}: none of these hosts is in a cluster of its VMs")
        results.append(
            simulate(
                streams,
                hosts=[offer.gpus for _, offer in there],
                spare=[offer.spare for _, offer in there],
                clusters=[number for number, _ in there],
                policy=promise.policy,
                longest_wait_h=0.0 if target.rule == "denied" else math.inf,
                wait_h=target.wait_h if target.rule == "wait-time" else 0.0,
                **how,
            )
        )
        gpus.append(sum(offer.gpus for _, offer in there))
    return results[0] if len(results) == 1 else _all(results, gpus)


def _apart(streams: Sequence[Stream]) -> list[tuple[list[Stream], set[int]]]:
    """Return the streams with the clusters that they share, apart from those on other clusters."""
    parts: list[tuple[list[Stream], set[int]]] = []
    for stream in streams:
        joined, numbers = [stream], set(stream.clusters)
        for part in [part for part in parts if not part[1] or not numbers or part[1] & numbers]:
            parts.remove(part)
            joined, numbers = part[0] + joined, part[1] | numbers
        parts.append((joined, numbers))
    return parts


def _all(results: Sequence[Simulated], gpus: Sequence[int]) -> Simulated:
    """Return the results of clusters that share nothing, and have these GPUs, as those of one pool."""
    return Simulated(
        tuple(stream for r in results for stream in r.streams),
        _together([r.overall for r in results], [r.hours for r in results]),
        _mean([r.utilisation for r in results], gpus),
        tuple(sum(hour) for hour in zip(*(r.busy_by_hour for r in results), strict=True)),
        sum(r.peak_gpus for r in results),
        sum(r.requests for r in results),
        min(r.hours for r in results),
        next((r.ended for r in results if r.ended != "tight"), "tight"),
        any(r.growing for r in results),
    )


def kept(
    promise: Promise | None, asked: Sequence[Request], lay: Callable[[int], list[Layout]]
) -> list[Layout]:
    """Return the clusters of some VMs with the fewest hosts more than the formula takes on which the promise is kept.

    ``lay`` gives the clusters with so many hosts more, or with as many as they may have; where those change nothing,
    none is added. Very large pools are not simulated.
    """
    first = lay(0)
    if promise is None or sum(laid.used for laid in first) > MOST_HOSTS:
        return first
    if not any(promise.mixes):
        return [replace(laid, kept=Kept(0.0, 0.0, True)) for laid in first]

    clusters = cache(lambda more: lay(more) if more else first)
    before = sum(laid.more for laid in first)
    tried = cache(lambda more: _tried(promise, clusters(more), before))
    most = sum(request.vms for request in asked if request.gpus or request.family)
    more = 0 if tried(0).held else least(lambda hosts: tried(hosts).held, 0, most)
    if not tried(more).held and tried(more).value >= tried(0).value:
        more = 0
    result = tried(more)._replace(at_first=tried(0).value)
    return [replace(laid, kept=result) for laid in clusters(more)]


def _tried(promise: Promise, clusters: Sequence[Layout], before: int) -> Kept:
    """The result on these clusters, which had so many hosts beyond the best arrangement before."""
    hosts = tuple((number, offer) for number, laid in enumerate(clusters) for offer in offers(laid)[0])
    return _kept(hosts, promise.among(clusters))._replace(more=sum(laid.more for laid in clusters) - before)


def _kept(hosts: tuple[Host, ...], promise: Promise) -> Kept:
    """Return whether a promise is kept on these hosts, in the mix in which it holds least."""
    results = []
    for streams in promise.mixes:
        key = hosts, promise._replace(mixes=(streams,))
        if key not in RESULTS:
            if _only_known.get():
                raise NotSimulatedError
            while len(RESULTS) >= MOST_RESULTS:
                del RESULTS[next(iter(RESULTS))]
            RESULTS[key] = _in_mix(key[1], hosts)
        results.append(RESULTS[key])
        if not results[-1].held:
            break
    return min(results, key=lambda result: (result.held, -result.value))


def _in_mix(promise: Promise, hosts: tuple[Host, ...]) -> Kept:
    """Return the same in one mix; where its interval stays around the target, half of it has to be kept."""
    target = promise.target
    try:
        found = played(
            promise, hosts, most_requests=MOST_REQUESTS, enough=lambda found: holds(found, target) is not None
        )
    except ValueError:  # some VMs can never start together
        return Kept(1.0, 0.0, False)
    (value, half), held = disappointed(found, target), holds(found, target)
    return Kept(value, half, value <= target.chance / 2 if held is None else held)


def holds(found: Simulated, target: Target) -> bool | None:
    """True if a target holds for all that it limits, with their intervals; None if the interval of one is around it."""
    if found.growing:
        return False
    ends = [(value, LOOKS * (math.inf if half is None else half)) for value, half in _figures(found, target)]
    if any(value - half > target.chance for value, half in ends):
        return False
    return True if all(value + half <= target.chance for value, half in ends) else None


def disappointed(found: Simulated, target: Target) -> tuple[float, float | None]:
    """Return the chance that the target limits, of the unluckiest group or of all requests, and its half width."""
    return max(_figures(found, target), key=lambda figure: figure.value, default=Estimate(0.0, None))


def _figures(found: Simulated, target: Target) -> list[Estimate]:
    name = {"wait": "waited", "wait-time": "waited_longer", "denied": "denied"}[target.rule]
    outcomes = by_group(found) if target.each else (found.overall,)
    return [getattr(outcome, name) for outcome in outcomes if outcome.requests]


def by_group(found: Simulated) -> tuple[Outcome, ...]:
    """Return the outcome of each group's requests over all its streams; percentiles are those of its slowest stream."""
    streams: dict[str, list[Outcome]] = {}
    for outcome in found.streams:
        streams.setdefault(outcome.name, []).append(outcome)
    return tuple(
        parts[0] if len(parts) == 1 else _together(parts, [1.0] * len(parts)) for parts in streams.values()
    )


def _mean(figures: Sequence[Estimate], weights: Sequence[float]) -> Estimate:
    """Return the weighted mean of some figures, with the mean of their half widths."""
    total = sum(weights)
    if not total:
        return Estimate(0.0, None)
    halves = [figure.half_width for figure, n in zip(figures, weights, strict=True) if n]
    half = None
    if None not in halves:
        half = sum(n * (f.half_width or 0.0) for n, f in zip(weights, figures, strict=True)) / total
    return Estimate(sum(n * f.value for n, f in zip(weights, figures, strict=True)) / total, half)


def _together(parts: Sequence[Outcome], hours: Sequence[float]) -> Outcome:
    """Return some streams as one; those of simulations that ran for other hours count by their requests an hour."""

    def over(name: str, counted: str) -> Estimate:
        weights = [getattr(part, counted) / ran for part, ran in zip(parts, hours, strict=True)]
        return _mean([getattr(part, name) for part in parts], weights)

    merged: dict[str, Any] = {
        name: sum(getattr(part, name) for part in parts)
        for name in ("requests", "served", "denied_requests", "still_waiting")
    }
    merged |= {name: over(name, "requests") for name in ("denied", "waited", "waited_longer")}
    merged["mean_wait_h"] = over("mean_wait_h", "served")
    for name in ("wait_p50_h", "wait_p90_h", "wait_p95_h", "wait_p99_h"):
        merged[name] = max(getattr(part, name) for part in parts)
    return replace(parts[0], **merged)
