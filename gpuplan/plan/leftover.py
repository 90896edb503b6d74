"""What is left for jobs that may be stopped: GPUs that others leave, quarter of an hour by quarter of an hour."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from gpuplan.catalog import Catalog
from gpuplan.facts import Brief
from gpuplan.models.demand import QUARTERS_PER_WEEK, planned_people, served_gpus
from gpuplan.plan.access import GroupPlan
from gpuplan.plan.hosts import Pool
from gpuplan.plan.inputs import derived
from gpuplan.plan.trail import Trail
from gpuplan.plan.working_week import Week, weeks
from gpuplan.scenario import Group, Scenario

QUARTERS_PER_HOUR = 4
Home = tuple[str, str]
"""A pool of hosts, and the tenant whose they are, where hosts of tenants are apart."""
Left = Mapping[Home, np.ndarray]


@dataclass(frozen=True, slots=True, repr=False)
class Served(Brief):
    """GPU-hours a week of a group whose jobs may be stopped, on average over the year."""

    group: str
    pool: str
    asked_gpu_h: float
    gpu_h: float
    """While all hosts run, failover capacity included."""
    gpu_h_after_failure: float
    """While that capacity is taken back."""

    @property
    def share(self) -> float:
        """Share of what it asks for that it gets while all hosts run."""
        return self.gpu_h / self.asked_gpu_h if self.asked_gpu_h else 1.0


@dataclass(frozen=True, repr=False, eq=False)
class Leftover(Brief):
    """GPUs that the planned VMs leave on average, and what the groups get of them whose jobs may be stopped."""

    groups: tuple[Served, ...]
    left_gpus: Left
    """Where such groups run, for each quarter of an hour of the week, UTC, Monday first, in the first season."""
    left_gpus_after_failure: Left


def planned_for(trail: Trail, scenario: Scenario) -> Scenario:
    """Return a scenario without users in the groups whose jobs may be stopped: no host is planned for them."""
    if not any(group.preemptible for group in scenario.groups):
        return scenario
    for group in scenario.groups:
        if group.preemptible:
            at, here = f"groups.{group.id}", trail.about(f"groups.{group.id}", name=group.name)
            facts = {name: scenario.fact(f"{at}.{name}") for name in ("people", "preemptible")}
            here.stand_in(f"{at}.people", here.compute("planned_people", planned_people, facts))
    return scenario.with_groups(
        replace(group, people=0, jobs_per_day=None) if group.preemptible else group
        for group in scenario.groups
    )


def leftover_of(
    trail: Trail,
    scenario: Scenario,
    catalog: Catalog,
    groups: Sequence[GroupPlan],
    pools: Sequence[Pool],
    planned: Mapping[str, Mapping[str, Week]],
) -> Leftover | None:
    """Return what each group gets, by priority, of what the planned VMs leave; None where no job may be stopped.

    Means of the working weeks, as if free parts of GPUs were joined: an upper bound for jobs that need whole ones.
    ``scenario`` has the groups as they ask, ``planned`` the weeks of what hosts are planned for.
    """
    asking = sorted((g for g in scenario.groups if g.preemptible), key=lambda group: group.priority)
    if not asking:
        return None
    apart = scenario.availability.tenants_apart in ("host", "cluster")
    home = _homes(scenario, groups, apart)
    asked, there = weeks(scenario, catalog, groups), _capacities(pools, apart)
    totals, theirs = {group.id: np.zeros(3) for group in asking}, {home[group.id] for group in asking}
    seasons: list[list[Left]] = []
    for season, by_group in planned.items():
        needs = {group.id: _needs(group, asked[season][group.id]) for group in asking}
        busy = _busy(by_group, needs, home)
        lefts = [_left(one, busy) for one in there]
        seasons.append([{at: gpus for at, gpus in left.items() if at in theirs} for left in lefts])
        for group in asking:
            totals[group.id] += _given(lefts, home[group.id], needs[group.id][1]) / len(planned)
    served = tuple(Served(g.id, home[g.id][0], *map(float, totals[g.id])) for g in asking)
    for one, group in zip(served, asking, strict=True):
        here = trail.about(f"groups.{one.group}", name=group.name)
        wanted_h = derived(f"groups/{one.group}/gpu_hours_asked", one.asked_gpu_h, "GPU-hours a week")
        here.record("left_gpu_h", served_gpus, one.gpu_h, asked=wanted_h)
        here.record("left_gpu_h_after_failure", served_gpus, one.gpu_h_after_failure, asked=wanted_h)
    return Leftover(served, *seasons[0])


def _homes(scenario: Scenario, groups: Sequence[GroupPlan], apart: bool) -> dict[str, Home]:
    """Return where each group runs."""
    tenants = {group.id: group.tenant or "" if apart else "" for group in scenario.groups}
    return {plan.id: (plan.pool, tenants[plan.id]) for plan in groups}


def _busy(
    planned: Mapping[str, Week], needs: Mapping[str, tuple[np.ndarray, np.ndarray]], home: Mapping[str, Home]
) -> Mapping[Home, np.ndarray]:
    """Return the GPUs that planned VMs use where they run, those of reserved VMs of jobs that may be stopped included."""
    busy: dict[Home, np.ndarray] = defaultdict(lambda: np.zeros(QUARTERS_PER_WEEK))
    for id, week in planned.items():
        busy[home[id]] = busy[home[id]] + week.loads * week.gpus + (needs[id][0] if id in needs else 0.0)
    return busy


def _left(gpus: Mapping[Home, int], busy: Mapping[Home, np.ndarray]) -> dict[Home, np.ndarray]:
    """Return the GPUs that are not in use."""
    return {at: np.maximum(count - busy[at], 0.0) for at, count in gpus.items()}


def _needs(group: Group, week: Week) -> tuple[np.ndarray, np.ndarray]:
    """Return the GPUs that jobs of a group use of its reserved VMs, and those that they need of what others leave."""
    needed = week.loads * week.gpus
    reserved = np.minimum(needed, week.gpus * (group.reserved_vms or 0) / group.vms_each)
    return reserved, needed - reserved


def _given(lefts: Sequence[dict[Home, np.ndarray]], at: Home, wanted: np.ndarray) -> np.ndarray:
    """Return the GPU-hours a week that a group asks for, and those that it takes of each of ``lefts``."""
    hours = [wanted.sum()]
    for left in lefts:
        gpus = served_gpus(left.get(at, 0.0 * wanted), asked_gpus=wanted)
        left[at] = left.get(at, 0.0 * wanted) - gpus
        hours.append(gpus.sum())
    return np.array(hours) / QUARTERS_PER_HOUR


def _capacities(pools: Sequence[Pool], apart: bool) -> tuple[dict[Home, int], dict[Home, int]]:
    """Return the GPUs of each pool, of each tenant where hosts are apart: while all hosts run, and after a failure."""
    clusters = defaultdict[Home, list[Pool]](list)
    for pool in pools:
        clusters[pool.kind, pool.tenant if apart else ""].append(pool)
    gpus = {at: sum(pool.gpus for pool in some) for at, some in clusters.items()}
    lost = {at: max(pool.gpus - pool.gpus_after_failure for pool in some) for at, some in clusters.items()}
    return gpus, {at: gpus[at] - lost[at] for at in gpus}
