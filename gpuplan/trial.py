"""Trial: a plan's people and jobs simulated on its own hosts, with its placement policy."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from gpuplan.models.simulation import Outcome, Progress, Simulated, Stream, simulate
from gpuplan.plan import Plan
from gpuplan.records import Pool
from gpuplan.sizing import Ask, Target, Week, weeks
from gpuplan.study import pool_mixes, risk_target, week_demand

WHEN = ("busiest", "week")
"""Simulated as if the busiest hours never ended, as the formulas have it, or through the hours of the week."""


@dataclass(frozen=True)
class Trial:
    """What a simulation of one pool found with so many of its hosts."""

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
    """Of its 95 % interval."""


def trial_streams(plan: Plan, pool_id: str, when: str) -> tuple[Stream, ...]:
    """The groups of a pool as streams of requests."""
    pool = _pool(plan, pool_id)
    asks = {ask.group: ask for ask in pool_mixes(plan)[pool_id][0].asks}
    season = week_demand(plan)[0].season
    by_group = weeks(plan.scenario, plan.catalog)[season]
    found = []
    for group_id, ask in asks.items():
        group = next(g for g in plan.scenario.groups if g.id == group_id)
        rates, people = _rates(ask) if when == "busiest" else _week_rates(by_group[group_id])
        if not any(rates):
            continue
        found.append(
            Stream(
                group_id,
                gpus=group.gpus_each,
                vms=group.vms_each,
                per_gpu=_per_gpu(pool, group_id),
                family=_family(pool, group_id),
                people=people,
                rates_per_h=rates,
                duration_h=ask.work_h,
            )
        )
    return tuple(found)


def _rates(ask: Ask) -> tuple[tuple[float, ...], int]:
    if ask.people:
        people = sum(ask.people)
        return (ask.load / people,), people
    return (ask.load / ask.work_h,), 0


def _week_rates(week: Week) -> tuple[tuple[float, ...], int]:
    loads = week.loads
    people = 0 if week.group.jobs_per_day is not None else sum(week.people)
    rates = loads / (people or week.work_h)
    kept = rates.tolist() if (rates != rates[0]).any() else rates[:1].tolist()
    return tuple(kept), people


def _per_gpu(pool: Pool, group_id: str) -> int:
    """How many VMs of a group fit on one GPU by its profile; 0 where the share alone says so."""
    request = next((r for r in pool.requests if r.group == group_id), None)
    if request is None or request.family is None or request.family.capacity or request.shares > 1:
        return 0
    at = request.family.profiles.index(request.profile)
    return max(layout[at] for layout in request.family.layouts)


def _family(pool: Pool, group_id: str) -> str:
    request = next((r for r in pool.requests if r.group == group_id), None)
    return request.family.name if request and request.family else ""


def _pool(plan: Plan, pool_id: str) -> Pool:
    return next(p for p in plan.pools if p.id == pool_id)


def trial(
    plan: Plan,
    pool_id: str,
    *,
    hosts: int | None = None,
    down: int = 0,
    when: str = "busiest",
    seed: int = 1,
    progress: Callable[[Progress], bool] | None = None,
) -> Trial:
    """Simulate a pool with so many of its hosts, or more of the new ones, of which some are down.

    Parameters
    ----------
    plan : Plan
        The plan. [-]
    pool_id : str
        Id of the pool. [-]
    hosts : int or None
        Hosts; those of the plan if None. [host]
    down : int
        Hosts that are down all the time, those with most GPUs. [host]
    when : str
        ``busiest`` or ``week``. [-]
    seed : int
        Where the random numbers start. [-]
    progress : callable or None
        Called now and then; it ends the simulation by returning False. [-]

    Returns
    -------
    trial : Trial
        Waits and denials with their intervals. [-]

    Raises
    ------
    ValueError
        If a request does not fit on these hosts at all.
    """
    pool, target = _pool(plan, pool_id), risk_target(plan.scenario)
    gpus = [room.gpus for room in pool.rooms]
    if hosts is not None:
        gpus = [*gpus[:hosts], *([pool.new_room.gpus] * (hosts - len(gpus)))]
    up = sorted(gpus, reverse=True)[down:]
    found = simulate(
        trial_streams(plan, pool_id, when),
        hosts=up,
        policy=plan.scenario.platform.assignment,
        longest_wait_h=0.0 if target.rule == "turned-away" else math.inf,
        wait_h=target.wait_h if target.rule == "wait-time" else 0.0,
        seed=seed,
        progress=progress,
    )
    worst = _worst(found, target)
    return Trial(pool_id, len(up), sum(up), down, when, target, found, worst[0], worst[1])


def _worst(found: Simulated, target: Target) -> tuple[float, float | None]:
    """The chance that the target limits, and its half width."""

    def of(outcome: Outcome) -> tuple[float, float | None]:
        figure = {
            "wait": outcome.waited,
            "wait-time": outcome.waited_longer,
            "turned-away": outcome.turned_away,
        }[target.rule]
        return figure.value, figure.half_width

    if not target.each:
        return of(found.overall)
    return max(
        (of(outcome) for outcome in found.streams if outcome.requests),
        key=lambda f: f[0],
        default=(0.0, None),
    )


def trial_hosts(plan: Plan, pool_id: str, around: int = 2) -> tuple[int, ...]:
    """Numbers of hosts to simulate for a curve: around those of the plan, as few as can hold the largest request."""
    pool = _pool(plan, pool_id)
    least = max(1, pool.existing_hosts)
    return tuple(range(max(least, pool.hosts_for_demand - around), pool.hosts + around + 1))


def trial_dict(result: Trial) -> dict[str, Any]:
    """A trial as plain JSON values."""

    def outcome(one: Outcome) -> dict[str, Any]:
        return {
            "group": one.name,
            "requests": one.requests,
            **{
                name: {"value": figure.value, "half_width": figure.half_width}
                for name in ("turned_away", "waited", "waited_longer", "mean_wait_h")
                for figure in [getattr(one, name)]
            },
            "wait_p50_h": one.wait_p50_h,
            "wait_p90_h": one.wait_p90_h,
            "wait_p95_h": one.wait_p95_h,
        }

    found = result.simulated
    return {
        "pool": result.pool,
        "hosts": result.hosts,
        "gpus": result.gpus,
        "down": result.down,
        "when": result.when,
        "rule": result.target.rule,
        "for_whom": "each" if result.target.each else "all",
        "chance": {"value": result.disappointed, "half_width": result.half_width},
        "groups": [outcome(one) for one in found.streams],
        "overall": outcome(found.overall),
        "utilisation": {"value": found.utilisation.value, "half_width": found.utilisation.half_width},
        "peak_gpus": found.peak_gpus,
        "requests": found.requests,
        "hours": found.hours,
        "ended": found.ended,
        "growing": found.growing,
    }
