"""Simulation: a plan's people and jobs on its own hosts, with its placement policy."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gpuplan.analysis.demand import busiest_mix, sizing_target, week_demand
from gpuplan.models.placement import Request
from gpuplan.plan import Plan
from gpuplan.plan.requests import group_requests
from gpuplan.plan.sizing_rule import Target
from gpuplan.plan.trail import Trail
from gpuplan.plan.working_week import Ask, Week, weeks
from gpuplan.simulation.arrivals import Stream
from gpuplan.simulation.jobs import Estimate, Outcome, Progress, Simulated, simulate

WHEN = ("busiest", "week")
"""Simulated as if the busiest hours never ended, as the formulas have it, or through the hours of the week."""


@dataclass(frozen=True)
class PoolSimulation:
    """Results of a simulation of one pool with a given number of its hosts."""

    pool: str
    hosts: int
    gpus: int
    down: int
    when: str
    target: Target
    simulated: Simulated
    disappointed: float
    """Chance of the target's disappointment: of the unluckiest group, or of all requests."""
    half_width: float | None
    """Half-width of its 95 % interval."""


def request_streams(plan: Plan, pool_id: str, when: str) -> tuple[Stream, ...]:
    """Return a pool's groups as streams of requests, one for each chance of its people to be active."""
    requests = _requests(plan)
    asks = {ask.group: ask for ask in busiest_mix(plan, pool_id).asks}
    by_group = weeks(plan.sized, plan.catalog)[week_demand(plan)[0].season]
    streams = []
    for group_id, ask in asks.items():
        group = next(g for g in plan.sized.groups if g.id == group_id)
        parts = _parts(ask) if when == "busiest" else _week_parts(by_group[group_id])
        streams += [
            Stream(
                group_id,
                gpus=group.gpus_each,
                vms=group.vms_each,
                per_gpu=_per_gpu(requests[group_id]),
                family=family.name if (family := requests[group_id].family) else "",
                people=people,
                rates_per_h=rates,
                duration_h=ask.work_h,
            )
            for people, rates in parts
            if any(rates)
        ]
    return tuple(streams)


def _parts(ask: Ask) -> list[tuple[int, tuple[float, ...]]]:
    """Return (people, chances to be active), or (0, arrivals per hour), for a mix that never ends."""
    if ask.people:
        return [(n, (p,)) for n, p in zip(ask.people, ask.chances, strict=True)]
    return [(0, (ask.load / ask.work_h,))]


def _week_parts(week: Week) -> list[tuple[int, tuple[float, ...]]]:
    """Return the same for each quarter of an hour of the week; once if it never changes."""
    if not week.closed:
        return [(0, _once(week.rates.tolist()))]
    off_share = week.group.off_hours_share or 0.0
    return [
        (n, _once(np.where(on, week.group.active_share, off_share).tolist()))
        for n, on in zip(week.people, week.on, strict=True)
        if n
    ]


def _once(rates: list[float]) -> tuple[float, ...]:
    return tuple(rates) if len(set(rates)) > 1 else (rates[0],)


def _requests(plan: Plan) -> dict[str, Request]:
    """Return the request of a VM of each group to a host, also of groups absent from the sizing mix."""
    groups = [replace(g, vms_placed=max(1, g.vms_placed)) for g in plan.groups if g.mode]
    return group_requests(Trail(), plan.sized, plan.catalog, groups)


def _per_gpu(request: Request) -> int:
    """Return the number of such VMs that fit on one GPU by their profile; 0 where the share alone says so."""
    if request.family is None or request.family.capacity or request.shares > 1:
        return 0
    at = request.family.profiles.index(request.profile)
    return max(layout[at] for layout in request.family.layouts)


def simulate_pool(
    plan: Plan,
    pool_id: str,
    *,
    hosts: int | None = None,
    down: int = 0,
    when: str = "busiest",
    seed: int = 1,
    progress: Callable[[Progress], bool] | None = None,
) -> PoolSimulation:
    """Simulate a pool with some hosts (None: the plan's), of which ``down``, those with most GPUs, are always down.

    A request takes a host of any of its clusters.

    ``progress`` is called now and then and ends the simulation by returning False. A ValueError if a request does not fit
    on these hosts at all.
    """
    pool, target = plan.whole_pool(pool_id), sizing_target(plan.scenario)
    if (hosts is not None and hosts < 1) or down < 0:
        raise ValueError(f"hosts is {hosts}, down {down}: must be at least 1, and at least 0")
    gpus = [room.gpus for room in pool.rooms]
    if hosts is not None:
        gpus = [*gpus[:hosts], *([plan.scenario.hardware.gpus_per_host] * (hosts - len(gpus)))]
    up = sorted(gpus, reverse=True)[down:]
    result = simulate(
        request_streams(plan, pool_id, when),
        hosts=up,
        policy=plan.scenario.platform.assignment,
        longest_wait_h=0.0 if target.rule == "denied" else math.inf,
        wait_h=target.wait_h if target.rule == "wait-time" else 0.0,
        seed=seed,
        progress=progress,
    )
    worst = _worst(result, target)
    return PoolSimulation(pool_id, len(up), sum(up), down, when, target, result, worst[0], worst[1])


def _worst(found: Simulated, target: Target) -> tuple[float, float | None]:
    """Return the chance that the target limits, and its half width."""

    def of(outcome: Outcome) -> tuple[float, float | None]:
        figure = {"wait": outcome.waited, "wait-time": outcome.waited_longer, "denied": outcome.denied}[
            target.rule
        ]
        return figure.value, figure.half_width

    if not target.each:
        return of(found.overall)
    groups = [of(outcome) for outcome in by_group(found) if outcome.requests]
    return max(groups, key=lambda figure: figure[0], default=(0.0, None))


def by_group(found: Simulated) -> tuple[Outcome, ...]:
    """Return the outcome of each group's requests over all its streams; percentiles are those of its slowest stream."""
    streams: dict[str, list[Outcome]] = {}
    for outcome in found.streams:
        streams.setdefault(outcome.name, []).append(outcome)
    return tuple(parts[0] if len(parts) == 1 else _together(parts) for parts in streams.values())


def _together(parts: Sequence[Outcome]) -> Outcome:
    def over(name: str, weights: str) -> Estimate:
        counts = [getattr(part, weights) for part in parts]
        figures = [getattr(part, name) for part in parts]
        total = sum(counts)
        if not total:
            return Estimate(0.0, None)
        halves = [figure.half_width for figure, n in zip(figures, counts, strict=True) if n]
        half = None
        if None not in halves:
            half = sum(n * (f.half_width or 0.0) for n, f in zip(counts, figures, strict=True)) / total
        return Estimate(sum(n * f.value for n, f in zip(counts, figures, strict=True)) / total, half)

    merged: dict[str, Any] = {
        name: sum(getattr(part, name) for part in parts)
        for name in ("requests", "served", "denied_requests", "still_waiting")
    }
    merged |= {name: over(name, "requests") for name in ("denied", "waited", "waited_longer")}
    merged["mean_wait_h"] = over("mean_wait_h", "served")
    for name in ("wait_p50_h", "wait_p90_h", "wait_p95_h", "wait_p99_h"):
        merged[name] = max(getattr(part, name) for part in parts)
    return replace(parts[0], **merged)


def hosts_to_simulate(plan: Plan, pool_id: str, around: int = 2) -> tuple[int, ...]:
    """Return numbers of hosts for a curve: around the planned one, from the fewest that hold the largest request."""
    pool = plan.whole_pool(pool_id)
    least = max(1, pool.existing_hosts)
    return tuple(range(max(least, pool.hosts_for_demand - around), pool.hosts + around + 1))


FIGURES = ("denied", "waited", "waited_longer", "mean_wait_h")
WAITS = ("wait_p50_h", "wait_p90_h", "wait_p95_h")


def simulation_dict(result: PoolSimulation) -> dict[str, Any]:
    """Return a simulation as plain JSON values."""

    def outcome(one: Outcome) -> dict[str, Any]:
        return {
            "group": one.name,
            "requests": one.requests,
            **{name: getattr(one, name)._asdict() for name in FIGURES},
            **{name: getattr(one, name) for name in WAITS},
        }

    simulated = result.simulated
    return {
        **{name: getattr(result, name) for name in ("pool", "hosts", "gpus", "down", "when")},
        "rule": result.target.rule,
        "for_whom": "each" if result.target.each else "all",
        "chance": {"value": result.disappointed, "half_width": result.half_width},
        "groups": [outcome(one) for one in by_group(simulated)],
        "overall": outcome(simulated.overall),
        "utilisation": simulated.utilisation._asdict(),
        **{name: getattr(simulated, name) for name in ("peak_gpus", "requests", "hours", "ended", "growing")},
    }
