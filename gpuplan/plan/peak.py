"""The busiest hours: the mix of people that the hosts of each pool are sized for, and how often somebody waits.

Used where the groups are not simply added up at their peaks: people with working hours, or a risk that is accepted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, NamedTuple

from gpuplan.catalog import Catalog
from gpuplan.facts import Fact, derived
from gpuplan.models import demand, placement
from gpuplan.models.demand import closed_groups, queueing, working_hours
from gpuplan.plan.access import (
    allocate,
    existing_rooms,
    placed_varied,
    requests_of,
    room_of,
    with_pool,
    work_fact,
)
from gpuplan.plan.demand import (
    Ask,
    Mix,
    Needed,
    Target,
    Week,
    burst_fact,
    mixes,
    needed,
    odds_of,
    peakedness_range,
    weeks,
)
from gpuplan.plan.results import GroupPlan, Line, Pool, Trail
from gpuplan.plan.validation import request_problems
from gpuplan.scenario import Group, Scenario, ScenarioError
from gpuplan.units import exact


@dataclass(frozen=True, slots=True)
class PoolDemand:
    """What one pool must carry through the week: each mix that matters, with the hosts that it needs."""

    pool: str
    needed: tuple[Needed, ...]
    hosts: tuple[int, ...]
    """Hosts that each mix needs, without spare ones."""
    chosen: int
    """Which of them needs the most hosts: the pool is sized for it."""


class Shaped(NamedTuple):
    """What the groups ask for, and when; the same by every rule for what is enough."""

    requests: Mapping[str, placement.Request]
    """What one VM of each group asks for."""
    mixes: Mapping[str, tuple[Mix, ...]]
    """The mixes of each pool."""
    there: Mapping[str, tuple[placement.Room, ...]]
    """Hosts already in each pool."""


def shaped(
    scenario: Scenario, catalog: Catalog, trail: Trail, peaks: Mapping[str, tuple[Line, Line]]
) -> Shaped:
    """Requests, mixes and hosts already there; ``peaks`` are the lines (VMs, GPUs) of each group at its own peak."""
    shapes, requests = _shapes(scenario, catalog, trail, peaks)
    by_pool: dict[str, list[str]] = {}
    for plan in shapes:
        if plan.vms_placed:
            by_pool.setdefault(plan.pool, []).append(plan.id)
    by_season = weeks(scenario, catalog, shapes)
    return Shaped(
        requests,
        {pool: mixes(by_season, members) for pool, members in by_pool.items()},
        existing_rooms(scenario, by_pool, shapes),
    )


def busiest(scenario: Scenario, catalog: Catalog, shape: Shaped) -> tuple[PoolDemand, ...]:
    """The mixes of each pool by the rule of the scenario, and the one that needs the most hosts."""
    each = {group.id: group.vms_each for group in scenario.groups}
    found = []
    for pool, together in shape.mixes.items():
        wants = [needed(scenario, catalog, mix) for mix in together]
        hosts = [
            _hosts(
                scenario,
                [shape.requests[g]._replace(vms=n * each[g]) for g, n in want.requests.items() if n],
                shape.there.get(pool, ()),
            )
            for want in wants
        ]
        chosen = max(range(len(wants)), key=lambda i: (hosts[i], wants[i].gpus, -i))
        found.append(PoolDemand(pool, tuple(wants), tuple(hosts), chosen))
    return tuple(found)


def deciding(scenario: Scenario, catalog: Catalog, shape: Shaped) -> list[Needed]:
    """The mix that each pool is sized for, by the rule of the scenario; where there is but one, no hosts are counted."""
    found = []
    for pool, together in shape.mixes.items():
        if together[1:]:
            (sized,) = busiest(scenario, catalog, shape._replace(mixes={pool: together}))
            found.append(sized.needed[sized.chosen])
        else:
            found.append(needed(scenario, catalog, together[0]))
    return found


def _shapes(
    scenario: Scenario, catalog: Catalog, trail: Trail, peaks: Mapping[str, tuple[Line, Line]]
) -> tuple[list[GroupPlan], dict[str, placement.Request]]:
    """How each group reaches its GPUs and what one of its VMs asks for, however many there are."""
    scratch = Trail(values_only=True)
    scratch.lines = dict(trail.lines)
    for group in scenario.groups:
        scratch.lines[f"groups.{group.id}.active"] = trail.lines[f"groups.{group.id}.peak_active"]
    plans = []
    for group in scenario.groups:
        vms, gpus = peaks[group.id]
        plans.append(
            allocate(
                scratch, scenario, catalog, group, replace(vms, value=max(1, int(vms.value))), gpus, None
            )
        )
    plans = [with_pool(plan, scenario, plans) for plan in plans]
    requests = requests_of(scratch, scenario, catalog, plans)
    if problems := request_problems(scenario, requests):
        raise ScenarioError(problems)
    return plans, requests


def _hosts(
    scenario: Scenario, requests: Sequence[placement.Request], existing: tuple[placement.Room, ...]
) -> int:
    """Hosts that a mix needs, without spare ones."""
    room = room_of(scenario, scenario.hardware.gpus_per_host)
    if existing or room.vcpus or room.memory_gib:
        return len(placed_varied(tuple(requests), room, existing).hosts)
    return len(placement.place(tuple(requests), gpus_per_host=room.gpus).hosts)


def demand_lines(
    trail: Trail,
    scenario: Scenario,
    catalog: Catalog,
    hours: Sequence[PoolDemand],
    peaks: Mapping[str, tuple[Line, Line]],
) -> dict[str, tuple[Line, Line]]:
    """(VMs, GPUs) of each group in the mix that its pool is sized for; what has no pool stays at its peak."""
    trail.add_up(
        "demand.sum_of_peaks_gpus",
        "Sum of the peaks of the groups",
        "GPU",
        demand.total_demand_gpus,
        {group_id: lines[1] for group_id, lines in peaks.items()},
    )
    groups = {group.id: group for group in scenario.groups}
    served = {ask.group for pool in hours for ask in pool.needed[pool.chosen].mix.asks}
    found = {}
    for group in scenario.groups:
        if group.id not in served:  # no access mode is possible
            at = f"groups.{group.id}"
            for name, peak in (("active", "peak_active"), ("vms", "peak_vms"), ("demand_gpus", "peak_gpus")):
                line = trail.lines[f"{at}.{peak}"]
                trail.repeat(f"{at}.{name}", line.label, line)
            found[group.id] = trail.lines[f"{at}.vms"], trail.lines[f"{at}.demand_gpus"]
    for pool in hours:
        want = pool.needed[pool.chosen]
        inputs = _target_lines(trail, scenario, catalog, pool.pool, want, groups)
        for ask in want.mix.asks:
            found[ask.group] = _group_lines(trail, scenario, groups[ask.group], want, inputs)
    return found


def _load_line(trail: Trail, scenario: Scenario, catalog: Catalog, group: Group, ask: Ask) -> Line:
    """Requests of a group under way on average in the hours for which its pool is sized."""
    at, name = f"groups.{group.id}", group.name
    if group.jobs_per_day is None:
        inputs: dict[str, Fact | Line] = {
            "people": scenario.fact(f"{at}.people"),
            "active_share": scenario.fact(f"{at}.active_share"),
        }
        inputs |= {n: scenario.fact(f"{at}.{n}") for n in ("sites", "hours") if getattr(group, n) is not None}
        formula = "{people} x {active_share} of those who are on duty then = {value}"
        function: Callable[..., Any] = demand.mean_active
    else:
        inputs = {
            "jobs_per_day": scenario.fact(f"{at}.jobs_per_day"),
            "work_h": work_fact(scenario, catalog, group),
        }
        inputs |= {"hours": scenario.fact(f"{at}.hours")} if group.hours is not None else {}
        formula = "{jobs_per_day} a day, each for {work_h_u}: {value} at once"
        function = working_hours.jobs_underway
    label = f"{name}: active on average in the busiest hours"
    return trail.record(f"{at}.busy_load", label, "1", function, formula, ask.load, inputs)


def _target_lines(
    trail: Trail,
    scenario: Scenario,
    catalog: Catalog,
    pool: str,
    want: Needed,
    groups: Mapping[str, Group],
) -> dict[str, Fact | Line]:
    """Lines from the load of a pool to the GPUs that are enough for it; what the groups' lines have as input."""
    at = f"pools.{pool}"
    parts = {}
    for ask in want.mix.asks:
        load = _load_line(trail, scenario, catalog, groups[ask.group], ask)
        parts[ask.group] = trail.record(
            f"groups.{ask.group}.busy_gpus",
            f"{groups[ask.group].name}: GPUs wanted on average in the busiest hours",
            "GPU",
            demand.group_demand_gpus,
            "{load} x {gpus_u} taken by each = {value}",
            ask.load * ask.gpus,
            {
                "load": load,
                "gpus": derived(
                    f"groups/{ask.group}/GPUs that one takes",
                    ask.gpus,
                    "GPU",
                    "all its VMs, as profiles fill GPUs",
                ),
            },
        )
    busy = trail.record(
        f"{at}.busy_gpus",
        "GPUs wanted on average in the busiest hours",
        "GPU",
        demand.total_demand_gpus,
        " + ".join(f"{{part{n}}}" for n in range(len(parts))) + " = {value}",
        want.mix.gpus,
        {f"part{n}": part for n, part in enumerate(parts.values())},
    )
    if not want.method:
        return {}
    chance = scenario.fact("demand.chance")
    chance = replace(chance, value=float(100 * exact(scenario.demand.chance)), unit="%")
    inputs: dict[str, Fact | Line] = {"busy_gpus": busy, "chance": chance}
    if scenario.demand.rule == "wait-time":
        inputs["wait_min"] = scenario.fact("demand.wait_min")
    formula = TARGETS[scenario.demand.rule]
    if want.peakedness is not None:
        inputs["peakedness"] = _peakedness_fact(scenario, catalog, want.peakedness)
        formula = "peakedness {peakedness}: " + formula
    line = trail.record(
        f"{at}.gpus_for_target",
        "GPUs at the target",
        "GPU",
        FUNCTIONS[want.method, scenario.demand.rule],
        "{busy_gpus_u} wanted on average, in one pool without the bounds of hosts; " + formula,
        want.gpus,
        inputs,
    )
    return {"gpus": line}


TARGETS = {
    "wait": "with {value_u} at most {chance_u} wait, with one fewer more",
    "turned-away": "with {value_u} at most {chance_u} are turned away, with one fewer more",
    "wait-time": "with {value_u} at most {chance_u} wait longer than {wait_min_u}, with one fewer more",
}
FUNCTIONS: Mapping[tuple[str, str], Callable[..., Any]] = {
    ("closed", "wait"): closed_groups.closed_wait_chance,
    ("closed", "wait-time"): closed_groups.closed_wait_longer_chance,
    ("closed", "turned-away"): closed_groups.closed_blocking,
    ("poisson", "wait"): queueing.hayward_c,
    ("poisson", "turned-away"): queueing.kaufman_roberts,
    ("poisson", "wait-time"): queueing.hayward_wait_longer_chance,
    ("bursty", "wait"): queueing.hayward_c,
    ("bursty", "turned-away"): queueing.hayward_b,
    ("bursty", "wait-time"): queueing.hayward_wait_longer_chance,
}
"""(method, rule) -> the model function that gives the chance."""


def _peakedness_fact(scenario: Scenario, catalog: Catalog, value: float) -> Fact:
    """The peakedness of one mix, which follows from the stated one of all groups, or from the planning value."""
    stated = scenario.fact("demand.peakedness")
    if stated.value is not None:
        return replace(stated, value=value)
    return replace(burst_fact(catalog), key="assumptions/bursts/peakedness", value=value, low=None, high=None)


def _group_lines(
    trail: Trail, scenario: Scenario, group: Group, want: Needed, inputs: Mapping[str, Fact | Line]
) -> tuple[Line, Line]:
    """(VMs, GPUs) of a group in the mix for which its pool is sized."""
    at, name = f"groups.{group.id}", group.name
    load = trail.lines[f"{at}.busy_load"]
    active = trail.record(
        f"{at}.active",
        f"{name}: active at once, planned for",
        "1",
        demand.planned_requests if want.method else demand.active_people,
        "its part of the {gpus_u}; {load} are active on average; {value}"
        if want.method
        else "{load}, rounded up = {value}",
        want.requests[group.id],
        {**inputs, "load": load},
    )
    return vm_lines(trail, scenario, group, active)


def vm_lines(
    trail: Trail, scenario: Scenario, group: Group, active: Line, *, peak: bool = False
) -> tuple[Line, Line]:
    """(VMs, GPUs) of a group with so many active: as planned, or at its own ``peak`` where that is not what is planned for."""
    at, name = f"groups.{group.id}", group.name
    keys, tail = (("peak_vms", "peak_gpus"), " at its own peak") if peak else (("vms", "demand_gpus"), "")
    vms = trail.compute(
        f"{at}.{keys[0]}",
        f"{name}: VMs{tail}",
        "VM",
        demand.group_vms,
        "{active} active x {vms_each} each = {value}",
        active=active,
        vms_each=scenario.fact(f"{at}.vms_each"),
    )
    gpus = trail.compute(
        f"{at}.{keys[1]}",
        f"{name}: GPUs{tail}",
        "GPU",
        demand.group_demand_gpus,
        "{vms_u} x {gpus_each_u} each = {value}",
        vms=vms,
        gpus_each=scenario.fact(f"{at}.gpus_each"),
    )
    return vms, gpus


@lru_cache(maxsize=1024)
def _chances(
    mix: Mix, target: Target, counts: tuple[int, ...], method: str, peakedness: float
) -> tuple[float, ...]:
    """How often each number of GPUs is too few for a mix."""
    odds = odds_of(mix, target)
    return tuple(odds.chance(gpus, method, peakedness) for gpus in counts)


def waiting_lines(
    trail: Trail,
    scenario: Scenario,
    catalog: Catalog,
    pools: Sequence[Pool],
    groups: Sequence[GroupPlan],
    by_season: Mapping[str, Mapping[str, Week]],
) -> None:
    """Lines for the chance that somebody finds too few GPUs free in the busiest hours, normally and after a failure.

    A closed group of people where all are one, else as bursty as is stated or planned for. ``by_season`` are the weeks of the
    year with what each group holds.
    """
    target = replace(Target.of(scenario), rule="wait")
    busy = []
    for pool in pools:
        for mix in mixes(by_season, [g.id for g in groups if g.pool == pool.id and g.mode]):
            odds = odds_of(mix, target)
            closed = odds.known("closed")
            z = 1.0 if closed or not odds.asks else peakedness_range(scenario, catalog, odds)[1]
            counts, method = (pool.gpus, pool.gpus_after_failure), "closed" if closed else "bursty"
            busy.append((counts, _chances(mix, target, counts, method, z), method, mix.gpus, z))
    for at, (key, label, about) in enumerate(
        (
            ("waiting", "Chance of waiting", "installed"),
            ("waiting_after_failure", "Chance of waiting after a failure", "left after a failure"),
        )
    ):
        found = [
            (chances[at], method, counts[at], load_gpus, z) for counts, chances, method, load_gpus, z in busy
        ]
        if not found:
            continue
        chance, method, gpus, load, z = max(found)
        inputs: dict[str, Fact | Line] = {
            "gpus": derived(f"plan/GPUs {about}", gpus, "GPU", "in the pool where it is most likely"),
            "load": derived("plan/GPUs wanted on average", load, "GPU", "in its busiest hours"),
        }
        if method == "bursty":
            inputs["peakedness"] = _peakedness_fact(scenario, catalog, z)
        trail.record(
            f"totals.{key}",
            label,
            "%",
            FUNCTIONS[method, "wait"],
            "{load_u} wanted on average, {gpus_u} there"
            + ", peakedness {peakedness}" * (method == "bursty")
            + ": {value_u} of the requests find too few free",
            100 * chance,
            inputs,
        )
