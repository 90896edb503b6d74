"""Silos: each group with hosts of its own against all of them on shared ones, in hosts, GPUs and money, at the same target."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from gpuplan.analysis.demand import WeekDemand, week_demand
from gpuplan.catalog import Catalog
from gpuplan.models import cost
from gpuplan.plan import Plan, make_plan
from gpuplan.plan.cost import Costs
from gpuplan.plan.sizing_rule import poisson_peakedness
from gpuplan.scenario import FIELD_BY_PATH, Group, Scenario


@dataclass(frozen=True)
class Silo:
    """A group with GPUs and hosts of its own, or all groups together."""

    group: str
    gpus: int
    busy_gpus: float
    """GPUs wanted on average, over the whole week."""
    hosts: int
    """Hosts with the spare ones that the posture asks for."""
    installed_gpus: int

    @property
    def utilisation(self) -> float:
        """Share of its GPUs that are held, on average over the week."""
        return self.busy_gpus / self.installed_gpus if self.installed_gpus else 0.0


@dataclass(frozen=True)
class Silos:
    """Each group alone against all of them together, at the same target."""

    groups: tuple[Silo, ...]
    pool: Silo

    @property
    def gpus(self) -> int:
        """GPUs of all silos."""
        return sum(silo.installed_gpus for silo in self.groups)

    @property
    def hosts(self) -> int:
        """Hosts of all silos."""
        return sum(silo.hosts for silo in self.groups)

    @property
    def saved_gpus(self) -> int:
        """GPUs that the pool needs fewer than the silos; negative if it needs more."""
        return self.gpus - self.pool.installed_gpus

    @property
    def saved_hosts(self) -> int:
        """Hosts that the pool needs fewer than the silos; negative if it needs more."""
        return self.hosts - self.pool.hosts

    @property
    def utilisation(self) -> float:
        """Share of the GPUs of all silos that are held, on average over the week."""
        return sum(silo.busy_gpus for silo in self.groups) / self.gpus if self.gpus else 0.0


def silos(plan: Plan, *, week: WeekDemand | None = None) -> Silos:
    """Each group planned alone with the same rule, hardware and posture, and the pool; a stated total is left aside.

    ``week`` is the one with the highest peak, if it was asked for.
    """
    week = week or week_demand(plan)[0]
    alone, pool = silo_plans(plan)
    found = [_silo(own, group, float(week.gpus[group].mean())) for group, own in alone.items()]
    return Silos(tuple(found), _silo(pool, "", sum(silo.busy_gpus for silo in found)))


def _silo(plan: Plan, group: str, busy_gpus: float) -> Silo:
    gpus = math.ceil(plan.totals.gpus_demanded - 1e-9)
    return Silo(group, gpus, busy_gpus, plan.totals.hosts, plan.totals.gpus)


def silo_plans(plan: Plan) -> tuple[dict[str, Plan], Plan]:
    """The plan of each group alone, by its id, and that of all together; without a stated total and hosts already there."""
    scenario = _unstated(plan.scenario)
    alone = {
        group.id: make_plan(_alone(scenario, group, plan.catalog), plan.catalog) for group in scenario.groups
    }
    return alone, plan if scenario == plan.scenario else make_plan(scenario, plan.catalog)


def _unstated(scenario: Scenario) -> Scenario:
    """A scenario without a stated total, hosts already there and VMs without a GPU."""
    asked = scenario.demand
    return replace(
        scenario,
        demand=replace(asked, stated_gpus=None, rule="sum" if asked.rule == "stated" else asked.rule),
        hardware=replace(scenario.hardware, existing=None, other_vms=None),
    )


def _alone(scenario: Scenario, group: Group, catalog: Catalog) -> Scenario:
    """The scenario of one of its groups, as bursty as it is in the whole."""
    return _as_bursty(scenario.with_groups([group]), scenario, catalog)


def _as_bursty(own: Scenario, whole: Scenario, catalog: Catalog) -> Scenario:
    """A part of a scenario with the peakedness that makes it as bursty as the stated one makes the whole."""
    names = ("peakedness_low", "peakedness", "peakedness_high")
    stated = {name: z for name in names if (z := getattr(own.demand, name)) is not None}
    if not stated:
        return own
    ratio = poisson_peakedness(own, catalog) / poisson_peakedness(whole, catalog)
    scaled = {name: min(max(z * ratio, PEAKEDNESS.low), PEAKEDNESS.high) for name, z in stated.items()}
    return replace(own, demand=replace(own.demand, **scaled))


PEAKEDNESS = FIELD_BY_PATH["demand.peakedness"]


@dataclass(frozen=True, slots=True)
class SiloCost:
    """What a group costs with hosts of its own."""

    group: str
    name: str
    hosts: int
    gpus: int
    total: float
    net_present: float


@dataclass(frozen=True, slots=True)
class SiloCosts:
    """Each group with hosts of its own against all of them on shared ones, at the same target."""

    groups: tuple[SiloCost, ...]
    total: float
    net_present: float
    hosts: int
    gpus: int
    pool_total: float
    pool_net_present: float
    pool_hosts: int
    pool_gpus: int
    saved: float
    """Net present cost that the pool saves; negative if it costs more."""
    currency: str
    excludes: tuple[str, ...]
    claimed_gpu_hour: tuple[float, float, float] | None
    """Cost of a used GPU-hour of this design if its GPUs were used as little as those bound to single machines are said to
    be: at the high, the planning and the low end of that claim."""


def silo_costs(plan: Plan) -> SiloCosts | None:
    """What silos cost beside the pool; None without hosts or groups.

    A stated total and hosts already there are left aside. So is what the design has once, however its
    GPUs are divided: storage, management and compute hosts, boards on the shelf.
    """
    plan = bought_once(plan)
    if plan.costs is None or not plan.groups:
        return None
    alone, pool = silo_plans(plan)
    groups = tuple(_cost_of(own, group, own.groups[0].name) for group, own in alone.items())
    shared = _cost_of(pool, "", "")
    planned = [own.costs for own in (*alone.values(), pool) if own.costs]
    net_present = cost.total_cost(*(silo.net_present for silo in groups))
    return SiloCosts(
        groups=groups,
        total=cost.total_cost(*(silo.total for silo in groups)),
        net_present=net_present,
        hosts=sum(silo.hosts for silo in groups),
        gpus=sum(silo.gpus for silo in groups),
        pool_total=shared.total,
        pool_net_present=shared.net_present,
        pool_hosts=shared.hosts,
        pool_gpus=shared.gpus,
        saved=net_present - shared.net_present,
        currency=plan.costs.currency,
        excludes=tuple(dict.fromkeys(name for costs in planned for name in costs.excludes)),
        claimed_gpu_hour=_claimed(plan.costs, plan.catalog),
    )


def bought_once(plan: Plan) -> Plan:
    """The plan without what it has once, however its GPUs are divided."""
    given = plan.scenario.cost
    bare = replace(given, storage_tb=0, management_hosts=0, compute_hosts_bought=False, spare_gpus=0)
    return plan if bare == given else make_plan(replace(plan.scenario, cost=bare), plan.catalog)


def _cost_of(plan: Plan, group: str, name: str) -> SiloCost:
    total, net_present = (plan.costs.total, plan.costs.net_present) if plan.costs else (0.0, 0.0)
    return SiloCost(group, name, plan.totals.hosts, plan.totals.gpus, total, net_present)


def _claimed(costs: Costs, catalog: Catalog) -> tuple[float, float, float] | None:
    """Cost of a used GPU-hour at the utilisation that is claimed for silos."""
    if costs.gpu_hour_installed is None:
        return None
    fact = catalog.assumptions["silo-gpu-utilisation"].fact("utilisation_pct")
    high, value, low = (
        cost.gpu_hour_cost(costs.gpu_hour_installed, gpu_hours=float(pct or 0) / 100)
        for pct in (fact.high, fact.value, fact.low)
    )
    return high, value, low
