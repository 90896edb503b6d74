"""Purchase plan: hosts to buy at the start of each year, as the demand grows."""

from __future__ import annotations

from dataclasses import dataclass

from gpuplan.plan import Plan, make_plan
from gpuplan.plan.growth import group_peaks, grow
from gpuplan.scenario import ScenarioError


@dataclass(frozen=True)
class Year:
    """Hosts needed in a year, and those bought at its start."""

    year: int
    people: int
    gpus_demanded: float
    hosts: int
    gpus: int
    hosts_bought: int


def purchase_plan(plan: Plan) -> tuple[Year, ...]:
    """Return the hosts to buy at the start of each year; hosts once bought stay and serve whichever group needs them.

    Year 1 has the demand as planned, and year k the demand after k - 1 years of growth, as the cash flow counts them. A
    stated total grows as the GPUs of the groups do together. Years in which a group has grown beyond what a design can
    hold are left out.
    """
    found: list[Year] = []
    peaks = group_peaks(plan.weeks)
    for year in range(1, plan.scenario.demand.years + 1):
        try:
            scenario = grow(plan.scenario, year - 1, peaks)
            totals = plan.totals if year == 1 else make_plan(scenario, plan.catalog).totals
        except ScenarioError:
            break
        before = found[-1].hosts if found else sum(pool.existing_hosts for pool in plan.pools)
        hosts = max(before, totals.hosts)
        found.append(
            Year(
                year,
                sum(g.people for g in scenario.groups),
                totals.gpus_demanded,
                hosts,
                totals.gpus + (hosts - totals.hosts) * plan.scenario.hardware.gpus_per_host,
                hosts - before,
            )
        )
    return tuple(found)
