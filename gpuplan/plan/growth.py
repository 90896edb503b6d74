"""Growth: what a scenario asks for after some years."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction

from gpuplan.models.demand import working_hours
from gpuplan.plan.demand import Week
from gpuplan.scenario import GROUP_FIELD_BY_NAME, Scenario
from gpuplan.units import exact


def grow(scenario: Scenario, year: int, peaks_gpus: Mapping[str, float]) -> Scenario:
    """The scenario after some years of growth, people rounded up; it may hold more than a design can.

    Parameters
    ----------
    scenario : Scenario
        The customer's question. [-]
    year : int
        Years from the start. [-]
    peaks_gpus : mapping of str to float
        GPUs that each group wants at its peak: a stated total grows as they do together. [GPU]

    Returns
    -------
    grow : Scenario
        The same question of more people. [-]
    """
    if year == 0 or not any(group.growth for group in scenario.groups):
        return scenario
    least = GROUP_FIELD_BY_NAME["jobs_per_day"].low
    groups, now, then = [], Fraction(0), Fraction(0)
    for group in scenario.groups:
        factor = exact(working_hours.growth_factor(year, growth=group.growth or 0.0))
        jobs = group.jobs_per_day
        groups.append(
            replace(
                group,
                people=math.ceil(group.people * factor),
                jobs_per_day=None if jobs is None else max(least, float(exact(jobs) * factor)),
            )
        )
        peak = exact(peaks_gpus.get(group.id, 0.0))
        now, then = now + peak, then + peak * factor
    stated = scenario.demand.stated_gpus
    if stated is not None and now:
        stated = math.ceil(stated * then / now)
    return replace(scenario.with_groups(groups), demand=replace(scenario.demand, stated_gpus=stated))


def group_peaks(scenario: Scenario, by_season: Mapping[str, Mapping[str, Week]]) -> dict[str, float]:
    """GPUs that each group wants at its peak, by its own hours.

    Parameters
    ----------
    scenario : Scenario
        The customer's question. [-]
    by_season : mapping
        Weeks of the year, by season and group. [-]

    Returns
    -------
    group_peaks : dict of str to float
        By the id of the group. [GPU]
    """
    return {
        group.id: max(float(season[group.id].loads.max()) for season in by_season.values())
        * float(group.vms_each * exact(group.gpus_each))
        for group in scenario.groups
    }
