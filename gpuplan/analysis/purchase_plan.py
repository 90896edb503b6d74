"""Hosts to buy: at the start of each year as the demand grows, and for more failures, with the price of the risk removed."""

from dataclasses import dataclass
from functools import partial

from gpuplan.analysis.variants import Standing, outcome_of, standing
from gpuplan.models import cost
from gpuplan.plan import Plan
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
    standing: Standing


def purchase_plan(plan: Plan) -> tuple[Year, ...]:
    """Return the hosts to buy at the start of each year; hosts once bought stay and serve whichever group of their kind needs them.

    Year k has the demand after k - 1 years of growth; years that no design can hold are left out.
    """
    years: list[Year] = []
    held = {part.scenario.hardware.of: sum(pool.existing_hosts for pool in part.pools) for part in plan.parts}
    peaks = group_peaks(plan.weeks)
    for year in range(1, plan.scenario.demand.years + 1):
        try:
            scenario = grow(plan.scenario, year - 1, peaks)
            design = plan if year == 1 else plan.with_scenario(scenario)
            totals, stands = design.totals, standing(design, standing(plan).stops)
        except ScenarioError:
            break
        before = sum(held.values())
        kinds = {part.scenario.hardware.of: part for part in design.parts}
        held = {name: max(held[name], part.totals.hosts) for name, part in kinds.items()}
        hosts = sum(held.values())
        people = sum(group.people for group in scenario.groups)
        gpus = sum(
            part.totals.gpus + (held[name] - part.totals.hosts) * part.scenario.hardware.gpus_per_host
            for name, part in kinds.items()
        )
        years.append(Year(year, people, totals.gpus_demanded, hosts, gpus, hosts - before, stands))
    return tuple(years)


@dataclass(frozen=True, slots=True)
class PostureCost:
    """The design with a given host failure tolerance: its cost, and the risk it removes."""

    host_failures: int
    chosen: bool
    hosts: int
    gpus: int
    net_present: float
    short_h: float
    """Expected hours a year in which failures leave users without a GPU."""
    exposed_h: float
    """Hours a year of maintenance in which one failure more does."""
    extra_cost: float
    """More than the posture before it, net present; 0 for the first."""
    hours_removed: float
    """Hours short, by failures alone or in maintenance, fewer over all years than with the posture before it; 0 for the
    first."""
    hour_price: float | None
    excludes: tuple[str, ...] = ()
    unplaced_vms: int = 0


def posture_costs(plan: Plan) -> tuple[PostureCost, ...]:
    """N+0, N+1, N+2 and the chosen posture, each planned again, with the price of each hour of risk removed."""
    chosen = plan.scenario.availability.host_failures
    risks = {posture.host_failures: posture for posture in plan.postures}
    postures: list[PostureCost] = []
    before = 0.0
    for failures in sorted({0, 1, 2, chosen}):
        design = plan if failures == chosen else outcome_of(partial(plan.tolerating, failures)).plan
        if design is None or design.costs is None:
            continue
        costs, risk = design.costs, risks[failures]
        short = (risk.short_h + risk.maintenance_short_h) * costs.years
        extra = costs.net_present - postures[-1].net_present if postures else 0.0
        removed = before - short if postures else 0.0
        postures.append(
            PostureCost(
                host_failures=failures,
                chosen=failures == chosen,
                hosts=design.totals.hosts,
                gpus=design.totals.gpus,
                net_present=costs.net_present,
                short_h=risk.short_h,
                exposed_h=risk.exposed_h,
                extra_cost=extra,
                hours_removed=removed,
                hour_price=cost.avoided_hour_price(extra, hours_removed_h=removed) if removed > 0 else None,
                excludes=costs.excludes,
                unplaced_vms=design.totals.unplaced_vms,
            )
        )
        before = short
    return tuple(postures)
