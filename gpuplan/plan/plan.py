"""The plan: a pure function of a scenario and a catalog, and the place where models are chained.

Read ``_make`` from top to bottom: demand, access mode, sharing, placement and hosts,
availability, the chance of waiting, totals, network, power, cost, decisions.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import NamedTuple

from gpuplan.catalog import Catalog
from gpuplan.facts import Fact, derived, weakest
from gpuplan.models import availability, cost, demand, placement
from gpuplan.models.availability import failover
from gpuplan.models.demand import working_hours
from gpuplan.plan.access import (
    allocate,
    existing_rooms,
    placed_varied,
    remembered,
    requests_of,
    room_of,
    with_pool,
    work_fact,
)
from gpuplan.plan.availability import risk_postures
from gpuplan.plan.clusters import spare_hosts
from gpuplan.plan.cost import Costs, Growth, costs
from gpuplan.plan.decisions import decide
from gpuplan.plan.demand import Week, peak_jobs, weeks
from gpuplan.plan.fabric import Cabling, cabling
from gpuplan.plan.growth import group_peaks, grow
from gpuplan.plan.network import NetworkUse, network_use
from gpuplan.plan.peak import (
    PoolDemand,
    Shaped,
    busiest,
    deciding,
    demand_lines,
    shaped,
    vm_lines,
    waiting_lines,
)
from gpuplan.plan.power import PowerUse, power_use
from gpuplan.plan.results import Decision, GroupPlan, Line, LossLevel, Pool, Posture, Totals, Trail
from gpuplan.plan.validation import demand_problems, request_problems, scenario_problems
from gpuplan.scenario import RULES, Availability, Group, Scenario, ScenarioError
from gpuplan.scenario import UNASSIGNED as UNASSIGNED
from gpuplan.units import exact

POOL_NAMES = {
    "vgpu": "vGPU cluster",
    "passthrough": "Passthrough cluster",
    "bitfusion": "Bitfusion cluster",
    "gpu": "GPU cluster",
}

WORST_SHOWN = 8


@dataclass(frozen=True, slots=True)
class Plan:
    """The answer to a scenario: frozen, with the trail of every number.

    ``lines`` maps a key such as ``totals.hosts`` to its `Line`; ``pools`` are groups of equal
    hosts; ``groups`` hold the access decisions.
    """

    scenario: Scenario
    catalog: Catalog = field(repr=False)
    totals: Totals
    groups: tuple[GroupPlan, ...]
    pools: tuple[Pool, ...]
    postures: tuple[Posture, ...]
    decisions: tuple[Decision, ...]
    lines: Mapping[str, Line]
    hours: tuple[PoolDemand, ...] = ()
    """The mixes of each pool, where the groups are not simply added up at their peaks."""
    network: NetworkUse = field(default_factory=NetworkUse)
    """What the network does to remote GPUs and to training on several hosts."""
    cabling: Cabling | None = None
    """Ports, switches and cables; None without GPU hosts."""
    power: PowerUse | None = None
    """Power, heat and space; None without GPU hosts."""
    costs: Costs | None = None
    """What it costs over the years; None without GPU hosts."""

    def group(self, group_id: str) -> GroupPlan:
        """The group with this id."""
        return next(g for g in self.groups if g.id == group_id)


def make_plan(scenario: Scenario, catalog: Catalog) -> Plan:
    """The plan for a scenario with a catalog: the same two always give the same plan.

    Parameters
    ----------
    scenario : Scenario
        The customer's question. [-]
    catalog : Catalog
        Hardware, software, rules and their sources. [-]

    Returns
    -------
    make_plan : Plan
        Hosts, placement, decisions and the trail of every number. [-]

    Raises
    ------
    ScenarioError
        Naming each field that the catalog or the hardware does not allow.
    """
    return _make(scenario, catalog, whole=True)


def plan_costs(scenario: Scenario, catalog: Catalog) -> tuple[Totals, Costs | None]:
    """Totals and costs of a plan, without what no cost depends on: risk, waiting and decisions.

    Parameters
    ----------
    scenario : Scenario
        The customer's question. [-]
    catalog : Catalog
        Hardware, software, rules and their sources. [-]

    Returns
    -------
    plan_costs : tuple
        Totals and costs, as in the plan; no costs without GPU hosts. [-]

    Raises
    ------
    ScenarioError
        Naming each field that the catalog or the hardware does not allow.
    """
    if problems := scenario_problems(scenario, catalog):
        raise ScenarioError(problems)
    usual = Availability()
    times = {name: getattr(usual, name) for name in RISK_TIMES}
    paths = {f"availability.{name}" for name in RISK_TIMES}
    return _plan_costs(
        replace(
            scenario,
            availability=replace(scenario.availability, **times),
            origins=tuple((path, origin) for path, origin in scenario.origins if path not in paths),
        ),
        catalog,
    )


RISK_TIMES = ("mtbf_h", "repair_h", "maintenance_h_per_host", "stun_limit_s")
"""Inputs of the availability on which the risk rests, and neither hosts nor cost."""


@lru_cache(maxsize=32)
def _plan_costs(scenario: Scenario, catalog: Catalog) -> tuple[Totals, Costs | None]:
    made = _make(scenario, catalog, whole=False)
    return made.totals, made.costs


def _make(scenario: Scenario, catalog: Catalog, *, whole: bool) -> Plan:
    if problems := scenario_problems(scenario, catalog):
        raise ScenarioError(problems)
    trail = Trail()

    # Demand, access mode and sharing
    sized = _size(trail, scenario, catalog)
    groups = sized.groups

    # Placement, hosts and availability, pool by pool
    pools = _pools(trail, scenario, sized)
    by_season = weeks(scenario, catalog, groups)
    if whole:
        waiting_lines(trail, scenario, catalog, pools, groups, by_season)
    totals = _totals(trail, scenario, sized.asked, pools, groups)
    postures = risk_postures(trail, scenario, catalog, pools) if whole else ()

    # Network: what it does to the work, and the fabric
    use = network_use(trail, scenario, catalog, groups, pools)
    fabric = cabling(trail, scenario, catalog, pools, use)

    # Power and cost, over the years
    busy = _busy_gpus(trail, scenario, sized, by_season)
    watts, money = None, None
    if pools:
        load = _load(trail, scenario, busy[""], trail.lines["totals.gpus"])
        watts = power_use(trail, scenario, catalog, pools, fabric, load)
        growth = _growth(scenario, catalog, pools, busy, by_season)
        money = costs(trail, scenario, catalog, pools, fabric, watts, growth, _shares(trail, pools))

    # Decisions
    last_hosts = money.hosts[-1] if money else 0
    lines = dict(trail.lines)
    decisions: tuple[Decision, ...] = ()
    if whole:
        decisions = decide(scenario, catalog, totals, groups, pools, postures, lines, fabric, last_hosts)
    return Plan(
        scenario=scenario,
        catalog=catalog,
        totals=totals,
        groups=groups,
        pools=pools,
        postures=postures,
        decisions=decisions,
        lines=lines,
        hours=sized.hours,
        network=use,
        cabling=fabric,
        power=watts,
        costs=money,
    )


def plan_totals(scenario: Scenario, catalog: Catalog) -> Totals:
    """The totals of a plan, without what does not enter them: network, power, cost and decisions.

    Parameters
    ----------
    scenario : Scenario
        The customer's question. [-]
    catalog : Catalog
        Hardware, software, rules and their sources. [-]

    Returns
    -------
    plan_totals : Totals
        Hosts and GPUs, as in the plan. [-]

    Raises
    ------
    ScenarioError
        Naming each field that the catalog or the hardware does not allow.
    """
    if problems := scenario_problems(scenario, catalog):
        raise ScenarioError(problems)
    trail = Trail(values_only=True)
    sized = _size(trail, scenario, catalog)
    return _totals(trail, scenario, sized.asked, _pools(trail, scenario, sized), sized.groups)


def _pools(trail: Trail, scenario: Scenario, sized: _Sized) -> tuple[Pool, ...]:
    """Each pool of hosts, with its placement and what failures do to it."""
    return tuple(
        _pool(trail, scenario, pool_id, members, sized.requests, sized.groups, sized.rooms.get(pool_id, ()))
        for pool_id, members in sized.members.items()
    )


class _Sized(NamedTuple):
    """What is asked for, before it is placed on hosts."""

    asked: Line
    hours: tuple[PoolDemand, ...]
    groups: tuple[GroupPlan, ...]
    requests: dict[str, placement.Request]
    members: dict[str, list[str]]
    """Pool -> its groups, and the part of a stated total that no group asks for."""
    rooms: dict[str, tuple[placement.Room, ...]]
    """Pool -> hosts already there."""


def _size(trail: Trail, scenario: Scenario, catalog: Catalog) -> _Sized:
    """From people to VMs, their GPUs and how they reach them, group by group."""
    # Demand: people -> VMs -> GPUs at the peak, or in the busiest hours and at the stated risk
    wanted, hours, by_groups = _demand(trail, scenario, catalog)
    asked = trail.compute(
        "demand.gpus",
        "GPUs demanded",
        "GPU",
        demand.planned_demand_gpus,
        "{groups_gpus} GPUs by the groups = {value}"
        if scenario.demand.stated_gpus is None
        else "the stated {stated_gpus} GPUs win over the groups' {groups_gpus}",
        groups_gpus=by_groups,
        stated_gpus=scenario.fact("demand.stated_gpus"),
    )

    # Access mode and sharing, group by group, within the stated total
    left = None if scenario.demand.stated_gpus is None else Fraction(scenario.demand.stated_gpus)
    groups: list[GroupPlan] = []
    for group in scenario.groups:
        plan = allocate(trail, scenario, catalog, group, *wanted[group.id], left)
        if left is not None:
            left -= plan.vms_placed * exact(group.gpus_each)
        groups.append(plan)
    groups = [with_pool(plan, scenario, groups) for plan in groups]
    requests = requests_of(trail, scenario, catalog, groups)
    if problems := request_problems(scenario, requests):
        raise ScenarioError(problems)
    by_pool: dict[str, list[str]] = {}
    for plan in groups:
        if plan.vms_placed:
            by_pool.setdefault(plan.pool, []).append(plan.id)
    unassigned = 0 if left is None else int(left)
    if unassigned:
        home = max(by_pool, key=lambda p: sum(g.demand_gpus for g in groups if g.pool == p), default="gpu")
        by_pool.setdefault(home, []).append(UNASSIGNED)
        requests[UNASSIGNED] = placement.Request(UNASSIGNED, unassigned, gpus=1)
    return _Sized(asked, hours, tuple(groups), requests, by_pool, existing_rooms(scenario, by_pool, groups))


def _busy_gpus(
    trail: Trail, scenario: Scenario, sized: _Sized, by_season: Mapping[str, Mapping[str, Week]]
) -> dict[str, Line]:
    """GPUs that each group holds on average over the year, those of no group like the others, and all together."""
    parts: dict[str, Fact | Line] = {}
    for plan in sized.groups:
        held = [season[plan.id] for season in by_season.values()]
        share = plan.vms_placed / plan.vms if plan.vms else 0.0
        requests = share * sum(float(week.loads.mean()) for week in held) / len(held)
        behind = [scenario.fact(f"groups.{plan.id}.{name}") for name in ("people", "active_share")]
        parts[plan.id] = trail.compute(
            f"groups.{plan.id}.held_gpus",
            f"{plan.name}: GPUs held on average",
            "GPU",
            demand.group_demand_gpus,
            "{vms} requests under way on average x {gpus_each} GPUs = {value}",
            vms=Fact(
                f"groups/{plan.id}/requests_under_way",
                requests,
                "1",
                None,
                None,
                weakest(fact.basis for fact in behind),
                tuple(dict.fromkeys(s for fact in behind for s in fact.sources)),
                "",
                "over all hours of the year, by the group's people, active share and hours",
            ),
            gpus_each=derived(
                f"groups/{plan.id}/gpus_held", held[0].gpus, "GPU", "GPUs that one of them really takes"
            ),
        )
    if UNASSIGNED in sized.requests:
        peak = sum(plan.vms_placed * exact(plan.gpus_each) for plan in sized.groups)
        share = min(1.0, sum(float(part.value) for part in parts.values()) / float(peak)) if peak else 1.0
        parts[UNASSIGNED] = derived(
            "demand/unassigned_busy_gpus",
            sized.requests[UNASSIGNED].vms * share,
            "GPU",
            "stated GPUs of no group, held as much of the time as those of the groups",
        )
    whole = trail.add_up("demand.busy_gpus", "GPUs held on average", "GPU", demand.total_demand_gpus, parts)
    return {key: part for key, part in parts.items() if isinstance(part, Line)} | {"": whole}


def _load(trail: Trail, scenario: Scenario, busy: Line, gpus: Line) -> Line:
    """Share of their time in which the GPUs are used: stated, or what the groups hold on average."""
    stated = scenario.fact("cost.utilisation")
    named: dict[str, Fact | Line] = {"busy_gpus": busy, "gpus": gpus}
    if stated.value is not None:
        named["stated"] = replace(stated, key="cost/stated_utilisation")  # the line has the key of the input
    return trail.compute(
        "cost.utilisation",
        "GPU-hours used",
        "1",
        cost.planned_utilisation,
        "{busy_gpus_u} held on average / {gpus_u} installed = {value}"
        if stated.value is None
        else "{stated} of them, as stated",
        **named,
    )


def _shares(trail: Trail, pools: Sequence[Pool]) -> dict[str, Line]:
    """GPUs that each group demands of the hosts, and the stated ones of no group."""
    found = {}
    for pool in pools:
        for part in trail.lines[f"pools.{pool.id}.gpus_demanded"].inputs:
            head, _, rest = part.key.partition(".")
            found[rest.split(".")[0] if head == "groups" else UNASSIGNED] = trail.lines[part.key]
    return found


def _growth(
    scenario: Scenario,
    catalog: Catalog,
    pools: Sequence[Pool],
    busy: Mapping[str, Line],
    by_season: Mapping[str, Mapping[str, Week]],
) -> Growth:
    """Hosts of each pool and GPUs held, from the start to the last year looked at; hosts once bought stay."""
    hosts = [{pool.id: pool.hosts for pool in pools}]
    held = [float(busy[""].value)]
    grows = any(group.growth for group in scenario.groups)
    peaks = group_peaks(scenario, by_season) if grows else {}
    left_out = None
    now = sum(float(busy[group.id].value) for group in scenario.groups)
    for year in range(1, scenario.cost.years + 1):
        counts: Mapping[str, int] | None = hosts[-1]
        factor = 1.0
        if grows and left_out is None:
            try:
                counts = host_counts(grow(_bare(scenario), year, peaks), catalog)
            except ScenarioError:
                left_out, counts = year, None
        if counts is None or left_out is not None:
            hosts.append(hosts[-1])
            held.append(held[-1])
            continue
        if now:
            then = sum(
                float(busy[g.id].value) * working_hours.growth_factor(year, growth=g.growth or 0.0)
                for g in scenario.groups
            )
            factor = then / now
        grown = {pool: counts.get(pool, 0) for pool in hosts[-1]}
        grown[pools[0].id] += sum(n for pool, n in counts.items() if pool not in grown)
        hosts.append({pool: max(before, grown[pool]) for pool, before in hosts[-1].items()})
        held.append(held[0] * factor)
    return Growth(tuple(hosts), tuple(held), left_out)


def _bare(scenario: Scenario) -> Scenario:
    """A scenario without what changes no host: its network, money, notes and where its inputs are known from."""
    return Scenario(
        groups=scenario.groups,
        demand=scenario.demand,
        hardware=scenario.hardware,
        availability=scenario.availability,
        platform=scenario.platform,
    )


@lru_cache(maxsize=512)
def host_counts(scenario: Scenario, catalog: Catalog) -> Mapping[str, int]:
    """Hosts of each pool, spare ones included, as in the plan of a scenario but without anything else of it.

    Parameters
    ----------
    scenario : Scenario
        The customer's question. [-]
    catalog : Catalog
        Hardware, software, rules and their sources. [-]

    Returns
    -------
    host_counts : mapping of str to int
        Hosts by the id of the pool. [host]

    Raises
    ------
    ScenarioError
        Naming each field that the catalog or the hardware does not allow.
    """
    if problems := scenario_problems(scenario, catalog):
        raise ScenarioError(problems)
    sized = _size(Trail(values_only=True), scenario, catalog)
    return {
        pool: len(
            _layout(scenario, tuple(sized.requests[m] for m in members), sized.rooms.get(pool, ())).hosts
        )
        for pool, members in sized.members.items()
    }


@lru_cache(maxsize=512)
def gpus_by_rule(scenario: Scenario, catalog: Catalog) -> Mapping[str, float]:
    """GPUs that the groups of a scenario demand by each rule for what is enough, whatever rule and total it states.

    Parameters
    ----------
    scenario : Scenario
        The customer's question. [-]
    catalog : Catalog
        Hardware, software, rules and their sources. [-]

    Returns
    -------
    gpus_by_rule : mapping of str to float
        GPUs by the rule; one that cannot answer is left out. [GPU]
    """
    if scenario_problems(scenario.with_value("demand.rule", "sum"), catalog):
        return {}
    found: dict[str, float] = {}
    trail = Trail(values_only=True)
    peaks = {group.id: _group_demand(trail, scenario, catalog, group, False) for group in scenario.groups}
    shape: Shaped | None = None
    for rule in RULES:
        asked = scenario.with_value("demand.rule", rule)
        gpus = {group_id: float(line.value) for group_id, (_, line) in peaks.items()}
        with contextlib.suppress(ScenarioError):
            if demand_problems(asked):
                continue
            if rule != "sum":
                shape = shape or shaped(scenario, catalog, trail, peaks)
                for want in deciding(asked, catalog, shape):
                    gpus |= _requests_gpus(scenario, want.requests)
            found[rule] = demand.total_demand_gpus(*gpus.values())
    return found


def _requests_gpus(scenario: Scenario, requests: Mapping[str, int]) -> dict[str, float]:
    """GPUs for so many requests of each group."""
    groups = {group.id: group for group in scenario.groups}
    return {
        group_id: demand.group_demand_gpus(
            demand.group_vms(count, vms_each=groups[group_id].vms_each), gpus_each=groups[group_id].gpus_each
        )
        for group_id, count in requests.items()
    }


def _demand(
    trail: Trail, scenario: Scenario, catalog: Catalog
) -> tuple[dict[str, tuple[Line, Line]], tuple[PoolDemand, ...], Line]:
    """(VMs, GPUs) of each group, the mixes of each pool where peaks are not added up, and the GPUs of all groups."""
    added_up = scenario.demand.rule == "sum"
    wanted = {group.id: _group_demand(trail, scenario, catalog, group, added_up) for group in scenario.groups}
    hours: tuple[PoolDemand, ...] = ()
    if not added_up:
        hours = busiest(scenario, catalog, shaped(scenario, catalog, trail, wanted))
        wanted = demand_lines(trail, scenario, catalog, hours, wanted)
    by_groups = trail.add_up(
        "demand.groups_gpus",
        "Sum of the groups",
        "GPU",
        demand.total_demand_gpus,
        {group_id: lines[1] for group_id, lines in wanted.items()},
    )
    return wanted, hours, by_groups


def _group_demand(
    trail: Trail, scenario: Scenario, catalog: Catalog, group: Group, planned: bool
) -> tuple[Line, Line]:
    """(VMs, GPUs) of a group at its own peak, which is what is planned for where the peaks are added up."""
    at, name = f"groups.{group.id}", group.name
    key = f"{at}.active" if planned else f"{at}.peak_active"
    if group.jobs_per_day is None:
        active = trail.compute(
            key,
            f"{name}: active at the peak",
            "1",
            demand.active_people,
            "{people} x {active_share}, rounded up = {value}",
            people=scenario.fact(f"{at}.people"),
            active_share=scenario.fact(f"{at}.active_share"),
        )
    else:
        active = trail.record(
            key,
            f"{name}: under way at the peak",
            "1",
            working_hours.jobs_underway,
            "{jobs_per_day} a day, each for {work_h_u}: at the peak {value} on average, rounded up",
            peak_jobs(scenario, catalog, group),
            {
                "jobs_per_day": scenario.fact(f"{at}.jobs_per_day"),
                "work_h": work_fact(scenario, catalog, group),
            },
        )
    return vm_lines(trail, scenario, group, active, peak=not planned)


@dataclass(frozen=True)
class _Layout:
    """What stands on which host, and what follows from that alone: worked out once, when it is asked for."""

    asked: tuple[placement.Request, ...]
    existing: tuple[placement.Room, ...]
    room: placement.Room
    needed: placement.Placement
    """Without spare hosts."""
    hosts: tuple[placement.Host, ...]
    """With them."""
    varied: bool

    @cached_property
    def rooms(self) -> tuple[placement.Room, ...]:
        """What each host offers."""
        return (*self.existing, *(self.room for _ in range(len(self.hosts) - len(self.existing))))

    @cached_property
    def hosts_by_gpus(self) -> placement.Placement:
        """The placement if only GPUs counted."""
        return placement.place(self.asked, gpus_per_host=self.room.gpus)

    @cached_property
    def new_needed(self) -> tuple[int, ...]:
        """New hosts that carry the demand when 0, 1, 2, ... of the hosts already there are down, never fewer with more down."""
        if set(self.existing) <= {self.room}:
            return (sum(bool(host) for host in self.needed.hosts),)
        counts = [len(self.needed.hosts) - len(self.existing)]
        for down in range(1, min(len(self.existing), MOST_EXISTING_DOWN) + 1):
            left = self.existing[down:]
            placed = placed_varied(self.asked, self.room, left)
            counts.append(max(counts[-1], len(placed.hosts) - len(left)))
        return tuple(counts)

    @cached_property
    def failures(self) -> tuple[failover.Loss, ...]:
        """What the loss of any host would do."""
        return failover.failure_survey(self.hosts, requests=self.asked, rooms=self.rooms, lost=1)

    @cached_property
    def idle(self) -> tuple[failover.Idle, ...]:
        """What nobody uses on hosts that somebody is on."""
        return failover.idle_gpus(self.hosts, requests=self.asked, rooms=self.rooms)


MOST_EXISTING_DOWN = 8
"""Of hosts already there, as many are looked at down at once; more count as too many."""


def _layout(
    scenario: Scenario, asked: tuple[placement.Request, ...], existing: tuple[placement.Room, ...]
) -> _Layout:
    """Everything that is asked of one pool, placed on the fewest hosts and on those with the spare ones."""
    room = room_of(scenario, scenario.hardware.gpus_per_host)
    return _placed(asked, existing, room, spare_hosts(scenario))


@remembered
def _placed(
    asked: tuple[placement.Request, ...],
    existing: tuple[placement.Room, ...],
    room: placement.Room,
    lost: int,
) -> _Layout:
    """The same by what it depends on: designs that differ in their network or prices alone share it."""
    varied = bool(existing or room.vcpus or room.memory_gib)
    if varied:
        needed = placed_varied(asked, room, existing)
        hosts = placed_varied(asked, room, existing, lost).hosts
    else:
        needed = placement.place(asked, gpus_per_host=room.gpus)
        hosts = (*needed.hosts, *(() for _ in range(lost)))
    return _Layout(asked, existing, room, needed, hosts, varied)


def _pool(
    trail: Trail,
    scenario: Scenario,
    pool_id: str,
    members: Sequence[str],
    requests: Mapping[str, placement.Request],
    groups: Sequence[GroupPlan],
    existing: tuple[placement.Room, ...],
) -> Pool:
    """The hosts for the groups of one pool: the fewest on which everything fits, plus the spare ones."""
    at, name = f"pools.{pool_id}", POOL_NAMES[pool_id]
    asked = tuple(requests[member] for member in members)
    gpus_per_host = scenario.hardware.gpus_per_host
    laid = _layout(scenario, asked, existing)
    needed, layout, rooms, varied = laid.needed, laid.hosts, laid.rooms, laid.varied
    used = sum(bool(host) for host in needed.hosts)

    demanded = _demand_lines(trail, scenario, pool_id, members, requests, groups)
    if varied and not existing:
        alone = laid.hosts_by_gpus
        trail.record(
            f"{at}.hosts_by_gpus",
            f"{name}: hosts if only GPUs counted",
            "host",
            placement.place,
            "the GPUs of all VMs fit on {value_u}"
            + f", at least {alone.bound}" * (alone.method == "heuristic"),
            len(alone.hosts),
            {"gpus_demanded": demanded},
        )
    lines = _host_lines(trail, scenario, pool_id, demanded, needed, rooms, len(existing), varied)
    failures = laid.failures
    _failure_lines(trail, at, name, failures)
    return Pool(
        id=pool_id,
        name=name,
        access=tuple(dict.fromkeys(g.mode for g in groups if g.id in members)),
        gpu_mode="vgpu" if pool_id == "vgpu" else "passthrough",
        server=scenario.hardware.server or "",
        gpu=scenario.hardware.gpu,
        hosts=len(layout),
        hosts_for_demand=used,
        hosts_for_failures=len(layout) - used,
        existing_hosts=len(existing),
        gpus_per_host=gpus_per_host,
        gpus=lines["gpus"].value,
        gpus_after_failure=lines["gpus_after_failure"].value,
        gpus_demanded=demanded.value,
        gpus_occupied=needed.gpus_occupied,
        requests=asked,
        rooms=rooms,
        new_room=laid.room,
        placement=layout,
        bound=needed.bound,
        hosts_without_spare=len(needed.hosts),
        new_needed=laid.new_needed,
        method=needed.method,
        shared=needed.shared,
        idle=laid.idle,
        unplaced=tuple(u for g in groups if g.id in members for u in g.unplaced),
        failures=failures,
        losses=tuple(
            _loss_level(n, needed, laid.new_needed, layout, rooms, len(existing), failures) for n in range(3)
        ),
    )


def _demand_lines(
    trail: Trail,
    scenario: Scenario,
    pool_id: str,
    members: Sequence[str],
    requests: Mapping[str, placement.Request],
    groups: Sequence[GroupPlan],
) -> Line:
    """GPUs that the members of a pool demand, each part with a line."""
    parts = {g.id: trail.lines[f"groups.{g.id}.demand_gpus"] for g in groups if g.id in members}
    if UNASSIGNED in members:
        parts[UNASSIGNED] = trail.record(
            "demand.unassigned_gpus",
            "Stated, but of no group",
            "GPU",
            demand.planned_demand_gpus,
            "{stated_gpus} stated; what the VMs placed of the groups' {groups_gpus} leave, in whole GPUs = {value}",
            float(requests[UNASSIGNED].vms),
            {
                "groups_gpus": trail.lines["demand.groups_gpus"],
                "stated_gpus": scenario.fact("demand.stated_gpus"),
            },
        )
    for plan in (g for g in groups if g.id in members and g.vms_placed < g.vms):
        parts[plan.id] = trail.record(
            f"groups.{plan.id}.admitted_gpus",
            f"{plan.name}: GPUs within the stated total",
            "GPU",
            demand.admitted_vms,
            "{value} of {gpus} GPUs fit into the stated total",
            demand.group_demand_gpus(plan.vms_placed, gpus_each=plan.gpus_each),
            {"gpus": parts[plan.id], "stated": scenario.fact("demand.stated_gpus")},
        )
    label = f"{POOL_NAMES[pool_id]}: GPUs demanded"
    return trail.add_up(f"pools.{pool_id}.gpus_demanded", label, "GPU", demand.total_demand_gpus, parts)


def _host_lines(
    trail: Trail,
    scenario: Scenario,
    pool_id: str,
    demanded: Line,
    needed: placement.Placement,
    rooms: Sequence[placement.Room],
    existing: int,
    varied: bool,
) -> dict[str, Line]:
    """Lines from the demand of a pool to its hosts and GPUs, before and after a failure."""
    at, name = f"pools.{pool_id}", POOL_NAMES[pool_id]
    per_host = scenario.fact("hardware.gpus_per_host")
    place = placement.place_mixed if varied else placement.place
    for share in needed.shared:
        trail.record(
            f"{at}.shared.{share.family}",
            f"{name}: GPUs shared as {share.family}",
            "GPU",
            place,
            "{value_u} can hold all of them; fewer cannot"
            if share.gpus == share.bound
            else f"{{value_u}} can hold all of them; the least is {share.bound}",
            share.gpus,
            {"gpus_demanded": demanded},
        )
    occupied = trail.record(
        f"{at}.gpus_occupied",
        f"{name}: GPUs occupied",
        "GPU",
        place,
        "a demand of {gpus_demanded_u} occupies {value_u}",
        needed.gpus_occupied,
        {"gpus_demanded": demanded},
    )
    counted = trail.compute(
        f"{at}.count_hosts",
        f"{name}: hosts by division",
        "host",
        placement.count_hosts,
        "{gpus_u} / {gpus_per_host} per host, rounded up = {value}",
        gpus=demanded,
        gpus_per_host=per_host,
    )
    used = sum(bool(host) for host in needed.hosts)
    for_demand = trail.record(
        f"{at}.hosts_for_demand",
        f"{name}: hosts for the demand",
        "host",
        place,
        _proof_formula(needed, varied, existing),
        used,
        {"gpus_occupied": occupied, "gpus_per_host": per_host, "count_hosts": counted},
    )
    failures = scenario.fact("availability.host_failures")
    accepted = scenario.fact("availability.maintenance_failure_accepted")
    if varied:
        spare = trail.record(
            f"{at}.hosts_for_failures",
            f"{name}: hosts for failure and maintenance",
            "host",
            placement.place_mixed,
            "{value} more than the demand takes, so that everything is placed again after the loss of any {host_failures}"
            + ("" if accepted.value else " while one is in maintenance"),
            len(rooms) - used,
            {"host_failures": failures, "hosts_for_demand": for_demand},
        )
    else:
        spare = trail.compute(
            f"{at}.hosts_for_failures",
            f"{name}: hosts for failure and maintenance",
            "host",
            availability.spare_hosts,
            "{host_failures} for failures and maintenance = {value}"
            if accepted.value
            else "{host_failures} for failures + 1 for maintenance = {value}",
            host_failures=failures,
            maintenance_failure_accepted=accepted,
        )
    hosts = trail.compute(
        f"{at}.hosts",
        f"{name}: hosts",
        "host",
        availability.total_hosts,
        "{hosts_for_demand} for the demand + {hosts_for_failures} spare = {value}",
        hosts_for_demand=for_demand,
        hosts_for_failures=spare,
    )
    there = {}
    if existing:
        each = scenario.fact("hardware.existing_gpus_per_host")
        there = {
            "existing_hosts": scenario.fact("hardware.existing_hosts"),
            "existing_gpus_per_host": replace(each, value=rooms[0].gpus),
        }
    gpus = trail.compute(
        f"{at}.gpus",
        f"{name}: GPUs",
        "GPU",
        availability.installed_gpus,
        "({hosts} - {existing_hosts}) x {gpus_per_host} + {existing_hosts} x {existing_gpus_per_host} = {value}"
        if existing
        else "{hosts_u} x {gpus_per_host} = {value}",
        hosts=hosts,
        gpus_per_host=per_host,
        **there,
    )
    remaining = _after_loss(
        trail, scenario, f"{at}.gpus_after_failure", f"{name}: GPUs after failure", gpus, hosts, rooms
    )
    return {"gpus": gpus, "gpus_after_failure": remaining}


def _proof_formula(placed: placement.Placement, varied: bool, existing: int) -> str:
    if existing:
        new, least = len(placed.hosts) - existing, max(0, placed.bound - existing)
        proof = "fewer new ones cannot do" if new == least else f"the least is {least} new"
        return f"the demand takes {{value_u}}; beside the {existing} already there {new} new, and {proof}"
    if varied and placed.method != "heuristic":
        return "a placement on {value_u} exists; fewer have too little of what the VMs need"
    return {
        "volume": "{gpus_occupied_u} occupied / {gpus_per_host} per host, rounded up = {value}; a placement on "
        "{value_u} exists, and fewer have too few GPUs",
        "large": "a placement on {value_u} exists; VMs too large to share a host rule out fewer",
        "programme": "a placement on {value_u} exists; the integer programme over all ways to fill a host "
        "shows that fewer cannot do",
        "heuristic": f"a placement on {{value_u}} exists; the least is {placed.bound}",
    }[placed.method]


def _after_loss(
    trail: Trail,
    scenario: Scenario,
    key: str,
    label: str,
    gpus: Line,
    hosts: Line,
    rooms: Sequence[placement.Room],
) -> Line:
    """GPUs left when the number of hosts to tolerate, and at least one, is lost; the largest where hosts differ."""
    failures = scenario.fact("availability.host_failures")
    count = min(max(1, int(failures.value)), len(rooms))
    lost = replace(failures, value=count)
    if any(room.gpus != scenario.hardware.gpus_per_host for room in rooms):
        value = availability.gpus_without_largest([room.gpus for room in rooms], hosts_lost=count)
        formula = "{gpus_u} in {hosts_u}, without the {hosts_lost} with most GPUs = {value}"
        inputs: dict[str, Fact | Line] = {"gpus": gpus, "hosts": hosts, "hosts_lost": lost}
        return trail.record(key, label, "GPU", availability.gpus_without_largest, formula, value, inputs)
    return trail.compute(
        key,
        label,
        "GPU",
        availability.gpus_after_failure,
        "{gpus_u} - {hosts_lost} x {gpus_per_host_u} = {value}",
        gpus=gpus,
        gpus_per_host=scenario.fact("hardware.gpus_per_host"),
        hosts_lost=lost,
        hosts=hosts,
    )


def _loss_level(
    lost: int,
    needed: placement.Placement,
    new_needed: tuple[int, ...],
    layout: Sequence[placement.Host],
    rooms: Sequence[placement.Room],
    existing: int,
    failures: Sequence[failover.Loss],
) -> LossLevel:
    """Whether everything fits after any so many losses, and whether it does without moving anybody.

    Hosts of one size are all alike to a new placement, so what counts is how many of each size are left. An empty host
    can take over what any lost host of its size held, so as many empty hosts as losses need no moves.
    """
    old = existing if len(new_needed) > 1 else 0
    new = len(rooms) - old
    ways = [(down, lost - down) for down in range(lost + 1) if down <= old and lost - down <= new]
    fits: bool | None = all(
        down < len(new_needed) and new - others >= new_needed[down] for down, others in ways
    )
    if not fits and needed.method == "heuristic" and len(rooms) - lost >= needed.bound:
        fits = None
    without: bool | None = None
    if lost == 0 or (not old and sum(not host for host in layout) >= lost):
        without = True
    elif lost == 1:
        without = all(not f.unplaced and not f.moved for f in failures)
    elif fits is False:
        without = False
    largest = sorted((room.gpus for room in rooms), reverse=True)
    return LossLevel(lost, sum(largest[lost:]), fits, without)


def _failure_lines(trail: Trail, at: str, name: str, failures: Sequence[failover.Loss]) -> None:
    """A line for each kind of host that can be lost."""
    for loss in failures:
        counts = {"restarted": loss.restarted, "moved": loss.moved, "unplaced": loss.unplaced}
        trail.record(
            f"{at}.failure.{loss.hosts[0] + 1}",
            f"{name}: VMs that restart when host {loss.hosts[0] + 1} is lost",
            "VM",
            failover.after_failure,
            "{restarted} restart, {moved} others move to make room, {unplaced} are not placed",
            loss.restarted,
            {count: _placed_fact(f"plan/VMs_{count}", value) for count, value in counts.items()},
        )


def _placed_fact(key: str, value: int) -> Fact:
    """A count of VMs that the placement itself gives."""
    return derived(key, value, "VM", "counted in the placement, each host failed in turn")


def _totals(
    trail: Trail, scenario: Scenario, asked: Line, pools: Sequence[Pool], groups: Sequence[GroupPlan]
) -> Totals:
    """Sums over the pools."""

    def total(name: str, label: str, unit: str) -> Line:
        parts = {pool.id: trail.lines[f"pools.{pool.id}.{name}"] for pool in pools}
        if len(parts) == 1:
            return trail.repeat(f"totals.{name}", label, next(iter(parts.values())))
        return trail.add_up(f"totals.{name}", label, unit, availability.sum_over_pools, parts)

    hosts = total("hosts", "Hosts", "host")
    needed = total("hosts_for_demand", "Hosts for the demand", "host")
    spare = total("hosts_for_failures", "Hosts for failure and maintenance", "host")
    gpus = total("gpus", "GPUs", "GPU")
    rooms = [room for pool in pools for room in pool.rooms]
    key, label = "totals.gpus_after_failure", "GPUs after failure"
    remaining = _after_loss(trail, scenario, key, label, gpus, hosts, rooms)
    missing = sum(u.vms for g in groups for u in g.unplaced)
    worst = max((f.unplaced for pool in pools for f in pool.failures), default=0)
    not_placed = trail.record(
        "totals.unplaced_vms",
        "VMs not placed",
        "VM",
        placement.place,
        "{value_u} without a GPU",
        missing,
        {"demand": asked},
    )
    after = trail.record(
        "totals.unplaced_vms_after_failure",
        "VMs not placed after the worst host failure",
        "VM",
        failover.after_failure,
        "{unplaced} in normal operation + {lost} more when the worst host fails = {value}",
        missing + worst,
        {
            "unplaced": not_placed,
            "lost": _placed_fact("plan/worst_host_failure", worst),
        },
    )
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


def fail_hosts(
    plan: Plan, pool_id: str, failed: Sequence[int], maintenance: Sequence[int] = ()
) -> failover.Outcome:
    """What happens when hosts of a pool fail, others being in maintenance.

    Parameters
    ----------
    plan : Plan
        The plan. [-]
    pool_id : str
        Id of the pool. [-]
    failed : sequence of int
        Numbers of the failed hosts, from 1. [-]
    maintenance : sequence of int
        Numbers of the hosts in maintenance, from 1; they are emptied before the others fail. [-]

    Returns
    -------
    fail_hosts : Outcome
        Loads afterwards, evacuations, restarts, moves and what is not placed; host numbers in it count from 0. [-]
    """
    pool = next(p for p in plan.pools if p.id == pool_id)
    return failover.after_failure(
        pool.placement,
        requests=pool.requests,
        rooms=pool.rooms,
        failed={n - 1 for n in failed},
        maintenance={n - 1 for n in maintenance},
    )


def worst_failures(
    plan: Plan, pool_id: str, lost: int, maintenance: Sequence[int] = ()
) -> tuple[failover.Loss, ...]:
    """The loss of any so many hosts of a pool, hosts filled alike once, the worst first.

    Parameters
    ----------
    plan : Plan
        The plan. [-]
    pool_id : str
        Id of the pool. [-]
    lost : int
        Hosts lost at once. [host]
    maintenance : sequence of int
        Numbers of the hosts in maintenance, from 1. [-]

    Returns
    -------
    worst_failures : tuple of Loss
        The worst, at most as many as a reader looks at if there are many kinds; host indices count from 0. [-]
    """
    pool = next(p for p in plan.pools if p.id == pool_id)
    if not maintenance and lost == 1:
        return pool.failures
    return failover.failure_survey(
        pool.placement,
        requests=pool.requests,
        rooms=pool.rooms,
        lost=lost,
        maintenance={n - 1 for n in maintenance},
        most=WORST_SHOWN,
    )
