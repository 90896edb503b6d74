"""Growth: the demand of a scenario after some years, and the hosts that it takes.

The design as planned carries year 1; year k has the demand after k - 1 years of growth.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

from gpuplan.models.demand import working_hours
from gpuplan.plan.availability import RELIABILITY
from gpuplan.plan.hosts import Pool, whole_pools
from gpuplan.plan.trail import Line
from gpuplan.plan.working_week import Week
from gpuplan.scenario import GROUP_FIELD_BY_NAME, Availability, Scenario, ScenarioError
from gpuplan.units import exact


@dataclass(frozen=True, slots=True)
class Growth:
    """Hosts of each pool in all of its clusters, and GPUs in use, in each year from 1."""

    hosts: tuple[Mapping[str, int], ...]
    busy_gpus: tuple[float, ...]
    """GPUs allocated on average."""
    left_out: int | None
    """First year in which a group exceeds the largest design; None if there is none."""
    kinds: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    """Kind of hosts -> its GPUs allocated on average, where there are several kinds."""


def growth_of(
    scenario: Scenario,
    pools: Sequence[Pool],
    held_gpus: Mapping[str, Line],
    by_season: Mapping[str, Mapping[str, Week]],
    modes: Mapping[str, str],
    hosts_for: Callable[[Scenario], Mapping[str, int]],
) -> Growth:
    """Hosts of each pool and GPUs installed in each year of the analysis period; hosts once bought stay.

    ``modes`` are the access modes of the groups, which they keep; ``hosts_for`` gives the hosts of each pool that a scenario takes.
    """
    hosts = [{kind: pool.hosts for kind, pool in whole_pools(pools).items()}]
    busy = [float(held_gpus[""].value)]
    years = scenario.cost.years
    if not any(group.growth for group in scenario.groups):
        return Growth(tuple(hosts * years), tuple(busy * years), None)
    peaks = group_peaks(by_season)
    now = {group.id: float(held_gpus[group.id].value) for group in scenario.groups}
    for grown_years in range(1, years):
        try:
            counts = hosts_for(grow(_bare(scenario, modes), grown_years, peaks))
        except ScenarioError:
            left = years - grown_years
            return Growth((*hosts, *hosts[-1:] * left), (*busy, *busy[-1:] * left), grown_years + 1)
        grown = {pool: counts.get(pool, 0) for pool in hosts[-1]}
        if pools:  # none where no group gets a GPU
            grown[pools[0].kind] += sum(n for pool, n in counts.items() if pool not in grown)
        hosts.append({pool: max(before, grown[pool]) for pool, before in hosts[-1].items()})
        then = sum(
            now[group.id] * working_hours.growth_factor(grown_years, growth=group.growth or 0.0)
            for group in scenario.groups
        )
        busy.append(busy[0] * (then / sum(now.values()) if sum(now.values()) else 1.0))
    return Growth(tuple(hosts), tuple(busy), None)


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
