"""Totals over all pools of hosts: the answer in a few numbers, utilisation over the year, and waits in the busiest hours."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from gpuplan.catalog import Catalog
from gpuplan.models import availability, cost, demand, placement
from gpuplan.models.availability import failover
from gpuplan.plan.access import GroupPlan
from gpuplan.plan.demand import peakedness_fact
from gpuplan.plan.hosts import Pool, after_loss_line, counted_vms, whole_pools
from gpuplan.plan.inputs import derived, resting_on
from gpuplan.plan.requests import Requests
from gpuplan.plan.sizing_rule import FUNCTIONS, Target, odds_of, peakedness_range
from gpuplan.plan.trail import Inputs, Line, Trail
from gpuplan.plan.working_week import Week, mixes
from gpuplan.scenario import UNASSIGNED, Scenario
from gpuplan.units import exact
from gpuplan.wording import TEXTS


@dataclass(frozen=True, slots=True)
class Totals:
    """The answer in a few numbers."""

    hosts: int
    hosts_for_demand: int
    hosts_for_failures: int
    gpus: int
    gpus_after_failure: int
    gpus_demanded: float
    unplaced_vms: int
    unplaced_vms_after_failure: int


def totals(
    trail: Trail, scenario: Scenario, asked: Line, pools: Sequence[Pool], groups: Sequence[GroupPlan]
) -> Totals:
    """Sums over the pools."""
    here = trail.about("totals")

    def total(name: str) -> Line:
        parts = {pool.id: trail[f"pools.{pool.id}.{name}"] for pool in pools}
        if len(parts) == 1:
            return here.repeat(name, next(iter(parts.values())))
        return here.add_up(name, availability.sum_over_pools, parts)

    hosts, needed = total("hosts"), total("hosts_for_demand")
    spare, gpus = total("hosts_for_failures"), total("gpus")
    rooms = [room for pool in pools for room in pool.rooms]
    remaining = after_loss_line(here, scenario, gpus, hosts, rooms)
    missing = sum(u.vms for g in groups for u in g.unplaced)
    worst = max((f.unplaced for pool in pools for f in pool.failures), default=0)
    not_placed = here.record("unplaced_vms", placement.place, missing, demand=asked)
    lost: Inputs = {"unplaced": not_placed, "lost": counted_vms("plan/worst_host_failure", worst)}
    after = here.record("unplaced_vms_after_failure", failover.after_failure, missing + worst, lost)
    return Totals(
        hosts=hosts.value,
        hosts_for_demand=needed.value,
        hosts_for_failures=spare.value,
        gpus=gpus.value,
        gpus_after_failure=remaining.value,
        gpus_demanded=asked.value,
        unplaced_vms=missing,
        unplaced_vms_after_failure=after.value,
    )


def held_gpus_lines(
    trail: Trail, scenario: Scenario, asked: Requests, by_season: Mapping[str, Mapping[str, Week]]
) -> dict[str, Line]:
    """Add mean GPUs allocated over the year: to each group, to no group at the same rate, and in total."""
    parts: Inputs = {}
    for plan in asked.groups:
        weeks = [season[plan.id] for season in by_season.values()]
        share = plan.vms_placed / plan.vms if plan.vms else 0.0
        requests = share * sum(float(week.loads.mean()) for week in weeks) / len(weeks)
        behind = [scenario.fact(f"groups.{plan.id}.{name}") for name in ("people", "active_share")]
        parts[plan.id] = trail.about(f"groups.{plan.id}", name=plan.name).compute(
            "held_gpus",
            demand.group_demand_gpus,
            vms=resting_on(behind, f"groups/{plan.id}/requests_under_way", requests, "requests under way"),
            gpus_each=derived(
                f"groups/{plan.id}/gpus_allocated", weeks[0].gpus, "GPUs allocated to a request"
            ),
        )
    if UNASSIGNED in asked.by_group:
        peak = sum(plan.vms_placed * exact(plan.gpus_each) for plan in asked.groups)
        share = min(1.0, sum(float(part.value) for part in parts.values()) / float(peak)) if peak else 1.0
        parts[UNASSIGNED] = derived("demand/unassigned_busy_gpus", asked.by_group[UNASSIGNED].vms * share)
    whole = trail.add_up("demand.busy_gpus", demand.total_demand_gpus, parts)
    return {key: part for key, part in parts.items() if isinstance(part, Line)} | {"": whole}


def utilisation_line(trail: Trail, scenario: Scenario, busy: Line, gpus: Line) -> Line:
    """Add the share of time in which the GPUs are used: stated, or the mean allocation of the groups."""
    stated = scenario.fact("cost.utilisation")
    named: Inputs = {"busy_gpus": busy, "gpus": gpus}
    if stated.value is not None:
        named["stated"] = replace(stated, key="cost/stated_utilisation")  # the line has the key of the input
    when = "" if stated.value is None else "stated"
    return trail.compute("cost.utilisation", cost.planned_utilisation, named, when=when)


def waiting_lines(
    trail: Trail,
    scenario: Scenario,
    catalog: Catalog,
    pools: Sequence[Pool],
    groups: Sequence[GroupPlan],
    by_season: Mapping[str, Mapping[str, Week]],
) -> dict[str, Line]:
    """Add lines for the chance that a request has to wait in the busiest hours, normally and after a failure.

    A closed group of people where all are closed, else bursts as stated or planned. ``by_season`` are the year's weeks,
    with the allocation of each group.
    """
    target = replace(Target.of(scenario), rule="wait")
    busy = []
    for pool in whole_pools(pools).values():
        for mix in mixes(by_season, [g.id for g in groups if g.pool == pool.kind and g.mode]):
            odds = odds_of(mix, target)
            closed = odds.known("closed")
            z = 1.0 if closed or not odds.asks else peakedness_range(scenario, catalog, odds)[1]
            counts, method = (pool.gpus, pool.gpus_after_failure), "closed" if closed else "bursty"
            busy.append((counts, [odds.chance(gpus, method, z) for gpus in counts], method, mix.gpus, z))
    for at, (key, about) in enumerate(
        (("waiting", "installed"), ("waiting_after_failure", "left after a failure"))
    ):
        cases = [
            (chances[at], method, counts[at], load_gpus, z) for counts, chances, method, load_gpus, z in busy
        ]
        if not cases:
            continue
        chance, method, gpus, load, z = max(cases)
        inputs: Inputs = {
            "gpus": derived(f"plan/GPUs {about}", gpus, "GPUs of the likeliest pool"),
            "load": derived("plan/GPUs needed on average", load),
        }
        if method == "bursty":
            inputs["peakedness"] = peakedness_fact(scenario, catalog, z)
        bursts = {"bursts": TEXTS["totals.peakedness"] * (method == "bursty")}
        trail.record(f"totals.{key}", FUNCTIONS[method, "wait"], 100 * chance, inputs, words=bursts)
    return trail.lines
