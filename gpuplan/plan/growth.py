"""Growth: the demand of a scenario after some years, and the hosts that it takes.

The design as planned carries year 1; year k has the demand after k - 1 years of growth.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import accumulate

from gpuplan.models.demand import working_hours
from gpuplan.plan.availability import RELIABILITY
from gpuplan.plan.hosts import Pool, whole_pools
from gpuplan.plan.trail import Line
from gpuplan.plan.working_week import Week
from gpuplan.scenario import GROUP_FIELD_BY_NAME, Availability, Group, Scenario, ScenarioError
from gpuplan.units import exact


@dataclass(frozen=True, slots=True)
class Growth:
    """Hosts of each pool in all of its clusters, and GPUs in use, in each year from 1."""

    needed: tuple[Mapping[str, int], ...]
    """Hosts that the demand of each year takes."""
    busy_gpus: tuple[float, ...]
    """GPUs allocated on average."""
    left_out: int | None
    """First year in which a group exceeds the largest design; None if there is none."""
    kinds: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    """Kind of hosts -> its GPUs allocated on average, where there are several kinds."""

    @property
    def hosts(self) -> tuple[Mapping[str, int], ...]:
        """Hosts that are there: those needed, and once bought they stay."""
        return tuple(
            accumulate(self.needed, lambda there, now: {pool: max(n, now[pool]) for pool, n in there.items()})
        )


def growth_of(
    scenario: Scenario,
    later: Scenario,
    pools: Sequence[Pool],
    held_gpus: Mapping[str, Line],
    by_season: Mapping[str, Mapping[str, Week]],
    modes: Mapping[str, str],
    hosts_for: Callable[[Scenario], Mapping[str, int]],
) -> Growth:
    """Hosts of each pool that each year of the analysis period needs, and GPUs in use, if demand is that of ``later``.

    That is the scenario itself, or one with other users, growth or years. ``modes`` are the access modes of the groups, which they
    keep; ``hosts_for`` gives the hosts of each pool that a scenario takes.
    """
    needed = [{kind: pool.hosts for kind, pool in whole_pools(pools).items()}]
    busy = [float(held_gpus[""].value)]
    years, same = later.cost.years, later.groups == scenario.groups
    if same and not any(group.growth for group in scenario.groups):
        return Growth(tuple(needed * years), tuple(busy * years), None)
    peaks, now = group_peaks(by_season), sum(float(held_gpus[group.id].value) for group in scenario.groups)
    for grown_years in range(same, years):
        try:
            counts = hosts_for(grow(_bare(later, modes), grown_years, peaks))
        except ScenarioError:
            left = years - len(needed)
            return Growth((*needed, *needed[-1:] * left), (*busy, *busy[-1:] * left), grown_years + 1)
        grown = {pool: counts.get(pool, 0) for pool in needed[0]}
        if pools:  # none where no group gets a GPU
            grown[pools[0].kind] += sum(n for pool, n in counts.items() if pool not in grown)
        then = _held_gpus(held_gpus, scenario, later, grown_years)
        needed[grown_years:], busy[grown_years:] = [grown], [busy[0] * (then / now if now else 1.0)]
    return Growth(tuple(needed), tuple(busy), None)


def _held_gpus(held: Mapping[str, Line], scenario: Scenario, later: Scenario, years: int) -> float:
    """GPUs that the groups of a scenario hold on average after some years, with other users or growth."""
    users = {group.id: _users(group) for group in scenario.groups}
    return sum(
        float(held[group.id].value)
        * (_users(group) / users[group.id] if users[group.id] else 1.0)
        * working_hours.growth_factor(years, growth=group.growth or 0.0)
        for group in later.groups
    )


def _users(group: Group) -> float:
    """Users of a group, or what stands in their place: its jobs a day or its requests a second."""
    given = (group.jobs_per_day, group.requests_per_s, group.people)
    return next(float(value) for value in given if value is not None)


def _bare(scenario: Scenario, modes: Mapping[str, str]) -> Scenario:
    """Return a scenario without inputs that change no host once access is set: network, cost, reliability, notes, origins."""
    usual = {name: getattr(Availability(), name) for name in RELIABILITY}
    groups = tuple(replace(g, access=modes.get(g.id) or g.access) for g in scenario.groups)
    availability = replace(scenario.availability, **usual)
    return scenario.only("demand", "hardware", "platform", groups=groups, availability=availability)


def grow(scenario: Scenario, year: int, peaks_gpus: Mapping[str, float]) -> Scenario:
    """The scenario after some years of growth, people rounded up; it may hold more than a design can.

    A stated total that sizes the design grows as the peaks of all groups, in GPUs, do together.
    """
    if year == 0 or not any(group.growth for group in scenario.groups):
        return scenario
    least = GROUP_FIELD_BY_NAME["jobs_per_day"].low
    groups, now, then = [], Fraction(0), Fraction(0)
    for group in scenario.groups:
        factor = exact(working_hours.growth_factor(year, growth=group.growth or 0.0))
        jobs, requests = group.jobs_per_day, group.requests_per_s
        groups.append(
            replace(
                group,
                people=math.ceil(group.people * factor),
                jobs_per_day=None if jobs is None else max(least, float(exact(jobs) * factor)),
                requests_per_s=None if requests is None else float(exact(requests) * factor),
            )
        )
        peak = exact(peaks_gpus.get(group.id, 0.0))
        now, then = now + peak, then + peak * factor
    demand, total = scenario.demand, scenario.deciding_total_gpus
    if total is not None and now:
        demand = replace(demand, stated_gpus=math.ceil(total * then / now))
    return replace(scenario.with_groups(groups), demand=demand)


def group_peaks(by_season: Mapping[str, Mapping[str, Week]]) -> dict[str, float]:
    """GPUs that each group (by its id) wants at its peak, by its own hours, over the weeks of all seasons."""
    groups = {id: week.group for season in by_season.values() for id, week in season.items()}
    return {
        id: max(float(season[id].loads.max()) for season in by_season.values())
        * float(group.vms_each * exact(group.gpus_each))
        for id, group in groups.items()
    }
