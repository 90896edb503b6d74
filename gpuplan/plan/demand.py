"""Demand: VMs and GPUs of each group, at their peaks or in the busiest hours of the week.

Where the groups are not simply added up at their peaks, each pool of hosts is sized for the mix of groups, active together, that
needs the most hosts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from gpuplan.catalog import Catalog
from gpuplan.facts import Brief, Fact
from gpuplan.models import demand, placement
from gpuplan.models.demand import working_hours
from gpuplan.plan.access import GroupPlan, Wanted, allocate, with_pools
from gpuplan.plan.inputs import derived
from gpuplan.plan.layouts import placed_mixed
from gpuplan.plan.requests import existing_hosts, group_requests, members_of, room_of, rooms_of
from gpuplan.plan.sizing_rule import FUNCTIONS, Needed, burst_fact, needed, target_fact
from gpuplan.plan.trail import Inputs, Line, Trail
from gpuplan.plan.validation import request_problems
from gpuplan.plan.weighing import Weighed
from gpuplan.plan.working_week import Ask, Mix, mixes, peak_jobs, weeks, work_fact
from gpuplan.scenario import Group, Scenario, ScenarioError
from gpuplan.wording import TEXTS


class GroupDemand(NamedTuple):
    """Lines on the demand of a group."""

    active: Line
    vms: Line
    gpus: Line


@dataclass(frozen=True, repr=False)
class Demand(Brief):
    """Demand of all groups."""

    groups: Mapping[str, GroupDemand]
    hours: tuple[PoolDemand, ...]
    """The mixes of each pool, where peaks are not added up."""
    by_groups: Line
    """GPUs of all groups."""
    planned: Line
    """GPUs to plan for: the demand of the groups, or the stated total where that sizes the design."""


def demand_of(trail: Trail, scenario: Scenario, catalog: Catalog, shape: Callable[[], Shaped]) -> Demand:
    """From people to VMs and GPUs: at the peaks of the groups, or in the busiest hours and at the stated risk."""
    added_up = scenario.demand.rule in ("sum", "stated")
    wanted = {group.id: group_demand(trail, scenario, catalog, group, added_up) for group in scenario.groups}
    hours: tuple[PoolDemand, ...] = ()
    if not added_up:
        hours = pool_demands(scenario, catalog, shape())
        wanted = demand_lines(trail, scenario, catalog, hours, wanted)
    gpus_of = {group_id: lines.gpus for group_id, lines in wanted.items()}
    by_groups = trail.add_up("demand.groups_gpus", demand.total_demand_gpus, gpus_of)
    if scenario.deciding_total_gpus is None:
        planned = trail.repeat("demand.gpus", by_groups)
    else:
        inputs: Inputs = {"groups_gpus": by_groups, "stated_gpus": scenario.fact("demand.stated_gpus")}
        when = "stated" if scenario.groups else "stated alone"
        planned = trail.compute("demand.gpus", demand.planned_demand_gpus, inputs, when=when)
    return Demand(wanted, hours, by_groups, planned)


def group_demand(
    trail: Trail, scenario: Scenario, catalog: Catalog, group: Group, planned: bool
) -> GroupDemand:
    """Return the demand of a group at its own peak, which is the planned demand where peaks are added up."""
    here, at = trail.about(f"groups.{group.id}", name=group.name), f"groups.{group.id}"
    key = "active" if planned else "peak_active"
    if group.jobs_per_day is None:
        people, share = scenario.fact(f"{at}.people"), scenario.fact(f"{at}.active_share")
        active = here.compute(key, demand.active_people, when="people", people=people, active_share=share)
    else:
        peak, work_h = peak_jobs(scenario, catalog, group), work_fact(scenario, catalog, group)
        inputs = {"jobs_per_day": scenario.fact(f"{at}.jobs_per_day"), "work_h": work_h}
        active = here.record(key, working_hours.jobs_underway, peak, inputs, when="jobs")
    return vm_lines(trail, scenario, group, active, peak=not planned)


def vm_lines(
    trail: Trail, scenario: Scenario, group: Group, active: Line, *, peak: bool = False
) -> GroupDemand:
    """Return VMs and GPUs of a group's active users: as planned, or at its own ``peak`` where planning differs."""
    here, at = trail.about(f"groups.{group.id}", name=group.name), f"groups.{group.id}"
    vms_each, gpus_each = scenario.fact(f"{at}.vms_each"), scenario.fact(f"{at}.gpus_each")
    least = {"reserved_vms": scenario.fact(f"{at}.reserved_vms")} if group.reserved_vms else {}
    name, when = "peak_vms" if peak else "vms", "reserved" if least else ""
    vms = here.compute(name, demand.group_vms, least, when=when, active=active, vms_each=vms_each)
    key = "peak_gpus" if peak else "demand_gpus"
    return GroupDemand(active, vms, here.compute(key, demand.group_demand_gpus, vms=vms, gpus_each=gpus_each))


@dataclass(frozen=True, slots=True, repr=False)
class PoolDemand(Brief):
    """Load of one pool through the week: each mix that matters, with the hosts that it needs."""

    pool: str
    needed: tuple[Needed, ...]
    hosts: tuple[int, ...]
    """Hosts that each mix needs, without failover capacity."""
    chosen: int
    """Index of the mix that needs the most hosts: the pool is sized for it."""


class Shaped(NamedTuple):
    """Requests of the groups and their times; independent of the sizing rule."""

    requests: Mapping[str, placement.Request]
    """Request of one VM of each group."""
    mixes: Mapping[str, tuple[Mix, ...]]
    """The mixes of each pool."""
    there: Mapping[str, tuple[placement.Room, ...]]
    """Hosts already in each pool."""


def shaped(scenario: Scenario, catalog: Catalog, weighed: Mapping[str, Weighed]) -> Shaped:
    """Return the request of one VM of each group, whatever their number, the mixes of each pool and its hosts."""
    plans: Sequence[GroupPlan] = [
        allocate(None, scenario, catalog, group, weighed[group.id], _at_peak(scenario, catalog, group), None)
        for group in scenario.groups
    ]
    plans = with_pools(scenario, catalog, plans, weighed)
    requests = group_requests(Trail(), scenario, catalog, plans)
    members = members_of(plans)
    rooms = rooms_of(scenario, existing_hosts(scenario, members, plans, requests))
    one_each = {id: request._replace(vms=1) for id, request in requests.items()}
    if problems := request_problems(scenario, one_each, members, rooms):
        raise ScenarioError(problems)
    by_season = weeks(scenario, catalog, plans)
    return Shaped(requests, {pool: mixes(by_season, groups) for pool, groups in members.items()}, rooms)


def group_vms(group: Group, active: int) -> int:
    """VMs of a group with so many active users, at least those that are reserved."""
    return demand.group_vms(active, vms_each=group.vms_each, reserved_vms=group.reserved_vms or 0)


def _at_peak(scenario: Scenario, catalog: Catalog, group: Group) -> Wanted:
    """Return the demand of a group at its own peak, at least one VM, without lines."""
    active = (
        demand.active_people(group.people, active_share=group.active_share)
        if group.jobs_per_day is None
        else peak_jobs(scenario, catalog, group)
    )
    vms = group_vms(group, active)
    return Wanted(active, max(1, vms), demand.group_demand_gpus(vms, gpus_each=group.gpus_each))


def pool_demands(scenario: Scenario, catalog: Catalog, shape: Shaped) -> tuple[PoolDemand, ...]:
    """The mixes of each pool by the rule of the scenario, and the one that needs the most hosts."""
    groups = {group.id: group for group in scenario.groups}
    demands = []
    for pool, together in shape.mixes.items():
        wants = [needed(scenario, catalog, mix) for mix in together]
        there, hosts = shape.there.get(pool, ()), []
        for want in wants:
            counts = {id: group_vms(groups[id], n) for id, n in want.requests.items()}
            vms = [shape.requests[id]._replace(vms=count) for id, count in counts.items() if count]
            hosts.append(_hosts(scenario, vms, there))
        chosen = max(range(len(wants)), key=lambda i: (hosts[i], wants[i].gpus, -i))
        demands.append(PoolDemand(pool, tuple(wants), tuple(hosts), chosen))
    return tuple(demands)


def _hosts(
    scenario: Scenario, requests: Sequence[placement.Request], existing: tuple[placement.Room, ...]
) -> int:
    """Hosts that a mix needs, without failover capacity; more than VMs where these do not fit."""
    room = room_of(scenario, scenario.hardware.gpus_per_host)
    if existing or room.vcpus or room.memory_gib:
        try:
            return len(placed_mixed(tuple(requests), room, existing).hosts)
        except ValueError:  # VMs too large for a new host: the plan refuses them
            return len(existing) + 1 + sum(request.vms for request in requests)
    return len(placement.place(tuple(requests), gpus_per_host=room.gpus).hosts)


def demand_lines(
    trail: Trail,
    scenario: Scenario,
    catalog: Catalog,
    hours: Sequence[PoolDemand],
    peaks: Mapping[str, GroupDemand],
) -> dict[str, GroupDemand]:
    """Return the demand of each group in the mix that its pool is sized for; without a pool, at its own peak."""
    gpus_of = {group_id: lines.gpus for group_id, lines in peaks.items()}
    trail.add_up("demand.sum_of_peaks_gpus", demand.total_demand_gpus, gpus_of)
    groups = {group.id: group for group in scenario.groups}
    served = {ask.group for pool in hours for ask in pool.needed[pool.chosen].mix.asks}
    demands = {}
    for group in scenario.groups:
        if group.id not in served:  # no access mode is possible
            keys = (f"groups.{group.id}.{name}" for name in ("active", "vms", "demand_gpus"))
            repeated = (
                trail.repeat(key, line, line.label) for key, line in zip(keys, peaks[group.id], strict=True)
            )
            demands[group.id] = GroupDemand(*repeated)
    for pool in hours:
        want = pool.needed[pool.chosen]
        inputs = _target_lines(trail, scenario, catalog, pool.pool, want, groups)
        for ask in want.mix.asks:
            demands[ask.group] = _group_lines(trail, scenario, groups[ask.group], want, inputs)
    return demands


def _load_line(trail: Trail, scenario: Scenario, catalog: Catalog, group: Group, ask: Ask) -> Line:
    """Requests of a group under way on average in the hours for which its pool is sized."""
    here, at = trail.about(f"groups.{group.id}", name=group.name), f"groups.{group.id}"
    if group.jobs_per_day is None:
        names: tuple[str, ...] = ("people", "active_share", "sites", "hours")
        function: Callable[..., Any] = demand.mean_active
    else:
        names, function = ("jobs_per_day", "work_h", "hours"), working_hours.jobs_underway
    inputs = {
        name: work_fact(scenario, catalog, group) if name == "work_h" else scenario.fact(f"{at}.{name}")
        for name in names
        if name not in ("sites", "hours") or (getattr(group, name) and (group.hours or group.days))
    }
    when = "people" if group.jobs_per_day is None else "jobs"
    return here.record("busy_load", function, ask.load, inputs, when=when)


def _target_lines(
    trail: Trail, scenario: Scenario, catalog: Catalog, pool: str, want: Needed, groups: Mapping[str, Group]
) -> Inputs:
    """Add lines from the load of a pool to its GPU demand; return the inputs of the groups' lines."""
    here = trail.about(f"pools.{pool}")
    parts = {}
    for ask in want.mix.asks:
        key, there = f"groups/{ask.group}/GPUs that one takes", groups[ask.group]
        load = _load_line(trail, scenario, catalog, there, ask)
        behind: Inputs = {"load": load, "gpus": derived(key, ask.gpus, "GPUs of one request")}
        of_group, gpus = trail.about(f"groups.{ask.group}", name=there.name), ask.load * ask.gpus
        parts[ask.group] = of_group.record("busy_gpus", demand.group_demand_gpus, gpus, behind)
    named = {f"part{n}": part for n, part in enumerate(parts.values())}
    sum_of = {"sum": " + ".join(f"{{{name}}}" for name in named)}
    busy = here.record("busy_gpus", demand.total_demand_gpus, want.mix.gpus, named, words=sum_of)
    if not want.method:
        return {}
    inputs: Inputs = {"busy_gpus": busy, "chance": target_fact(scenario)}
    if scenario.demand.rule == "wait-time":
        inputs["wait_min"] = scenario.fact("demand.wait_min")
    if want.peakedness is not None:
        inputs["peakedness"] = peakedness_fact(scenario, catalog, want.peakedness)
    function, rule = FUNCTIONS[want.method, scenario.demand.rule], scenario.demand.rule
    words = {"bursts": TEXTS["demand.peakedness"] if "peakedness" in inputs else ""}
    return {"gpus": here.record("gpus_for_target", function, want.gpus, inputs, when=rule, words=words)}


def peakedness_fact(scenario: Scenario, catalog: Catalog, value: float) -> Fact:
    """The peakedness of one mix, which follows from the stated one of all groups, or from the planning value."""
    stated = scenario.fact("demand.peakedness")
    if stated.value is not None:
        return replace(stated, value=value)
    return replace(burst_fact(catalog), key="assumptions/bursts/peakedness", value=value, low=None, high=None)


def _group_lines(
    trail: Trail, scenario: Scenario, group: Group, want: Needed, inputs: Mapping[str, Fact | Line]
) -> GroupDemand:
    here = trail.about(f"groups.{group.id}", name=group.name)
    function: Callable[..., Any] = demand.planned_requests if want.method else demand.active_people
    when, behind = "target" if want.method else "mean", {**inputs, "load": here["busy_load"]}
    active = here.record("active", function, want.requests[group.id], behind, when=when)
    return vm_lines(trail, scenario, group, active)
