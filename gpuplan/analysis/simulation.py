"""Simulation: a plan's people and jobs on its own hosts, with its placement policy."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

import numpy as np

from gpuplan.analysis.demand import busiest_mix, sizing_target, week_demand
from gpuplan.plan import Plan
from gpuplan.plan.layouts import Layout
from gpuplan.plan.simulated import (
    Offer,
    Promise,
    boards_of,
    by_group,
    disappointed,
    endless,
    offer_of,
    offers,
    played,
    streams_of,
)
from gpuplan.plan.sizing_rule import Target
from gpuplan.plan.working_week import Ask, weeks
from gpuplan.simulation.arrivals import Stream
from gpuplan.simulation.jobs import Outcome, Progress, Simulated

FIGURES = ("denied", "waited", "waited_longer", "mean_wait_h")
WAITS = ("wait_p50_h", "wait_p90_h", "wait_p95_h")


@dataclass(frozen=True)
class PoolSimulation:
    """Results of a simulation of one pool with a given number of its hosts."""

    pool: str
    hosts: int
    gpus: int
    down: int
    when: str
    """``busiest``: as if the busiest hours never ended, as the formulas have it; ``week``: through the hours of the week."""
    target: Target
    simulated: Simulated
    disappointed: float
    """Chance of the target's disappointment: of the unluckiest group, or of all requests."""
    half_width: float | None


def request_streams(plan: Plan, pool_id: str, when: str) -> tuple[Stream, ...]:
    """Return a pool's groups as streams of requests, one for each chance of its people to be active."""
    by_group = weeks(plan.sized, plan.catalog)[week_demand(plan)[0].season]

    def through_the_week(ask: Ask) -> list[tuple[int, tuple[float, ...]]]:
        week = by_group[ask.group]
        if not week.closed:
            return [(0, _once(week.rates.tolist()))]
        off_share = week.group.off_hours_share or 0.0
        pairs = zip(week.people, week.on, strict=True)
        active = week.group.active_share
        return [(n, _once(np.where(on, active, off_share).tolist())) for n, on in pairs if n]

    requests = {**plan.shape.requests, **plan.requests.by_group}
    parts = endless if when == "busiest" else through_the_week
    return streams_of(plan.sized, busiest_mix(plan, pool_id), requests, parts)


def _once(rates: list[float]) -> tuple[float, ...]:
    return tuple(rates) if len(set(rates)) > 1 else (rates[0],)


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

    A request takes a host of any cluster with VMs of its group, hosts for the demand first. ``progress`` ends it by
    returning False. A ValueError if a request does not fit on these hosts at all.
    """
    clusters, target = [c.layout for c in plan.divisions[pool_id].clusters], sizing_target(plan.scenario)
    if (hosts is not None and hosts < 1) or down < 0:
        raise ValueError(f"hosts is {hosts}, down {down}: must be at least 1, and at least 0")
    up = sorted(_offered(clusters, hosts), key=lambda host: -host[1].gpus)[down:]
    together = plan.scenario.availability.split == "few-large"
    boards = boards_of({**plan.shape.requests, **plan.requests.by_group}) if together else ()
    streams = request_streams(plan, pool_id, when)
    promise = Promise((streams,), target, plan.scenario.platform.assignment, boards)
    result = played(promise.among(clusters), up, seed=seed, progress=progress)
    gpus = sum(offer.gpus for _, offer in up)
    return PoolSimulation(pool_id, len(up), gpus, down, when, target, result, *disappointed(result, target))


def _offered(clusters: Sequence[Layout], hosts: int | None) -> list[tuple[int, Offer]]:
    """Return what hosts offer, each with the number of its cluster: hosts for the demand first, in turn."""
    there = [offers(laid) for laid in clusters]
    rows = [row for spare in (0, 1) for row in zip_longest(*(pair[spare] for pair in there))]
    ordered = [(number, offer) for row in rows for number, offer in enumerate(row) if offer]
    if hosts is None:
        return ordered
    more = range(hosts - len(ordered))
    return ordered[:hosts] + [(n % len(clusters), offer_of(clusters[0].room)) for n in more]


def hosts_to_simulate(plan: Plan, pool_id: str, around: int = 2) -> tuple[int, ...]:
    """Return numbers of hosts for a curve: around the planned one, from the fewest that hold the largest request."""
    pool = plan.whole_pool(pool_id)
    least = max(1, pool.existing_hosts)
    return tuple(range(max(least, pool.hosts_for_demand - around), pool.hosts + around + 1))


def simulation_dict(result: PoolSimulation) -> dict[str, Any]:
    """Return a simulation as plain JSON values."""

    def outcome(one: Outcome) -> dict[str, Any]:
        figures = {name: getattr(one, name)._asdict() for name in FIGURES}
        waits = {name: getattr(one, name) for name in WAITS}
        return {"group": one.name, "requests": one.requests, **figures, **waits}

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
