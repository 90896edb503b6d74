"""Silos: each group on its own hosts compared with all on shared ones, in hosts, GPUs and cost, at the same target."""

import math
from collections.abc import Container, Iterator
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from typing import Any

from gpuplan.analysis.demand import WeekDemand, week_demand
from gpuplan.analysis.variants import Standing, standing, together
from gpuplan.catalog import Catalog
from gpuplan.models import cost
from gpuplan.plan import Plan
from gpuplan.plan.cost import Costs
from gpuplan.plan.prices import price_keys
from gpuplan.plan.sizing_rule import poisson_peakedness
from gpuplan.scenario import FIELD_BY_PATH, Group, Scenario, ScenarioError, views
from gpuplan.wording import said

JOINED = ("switches/", "cable-")
"""Beginnings of the prices of what joins the hosts of all silos."""
PEAKEDNESS = FIELD_BY_PATH["demand.peakedness"]


@dataclass(frozen=True)
class Silo:
    """A group with GPUs and hosts of its own, or all groups together."""

    group: str
    gpus: int
    busy_gpus: float
    """GPUs needed on average, over the whole week."""
    hosts: int
    installed_gpus: int
    standing: Standing

    @property
    def utilisation(self) -> float:
        """Return the share of its GPUs that are allocated, on average over the week."""
        return self.busy_gpus / self.installed_gpus if self.installed_gpus else 0.0


@dataclass(frozen=True)
class Silos:
    """Silos against the pool, at the same target."""

    groups: tuple[Silo, ...]
    pool: Silo

    @property
    def together(self) -> Silo:
        """All silos together."""
        counted: dict[str, Any] = {"standing": together(silo.standing for silo in self.groups)}
        for field in fields(Silo)[1:-1]:
            counted[field.name] = sum(getattr(silo, field.name) for silo in self.groups)
        return Silo("", **counted)

    @property
    def saved_gpus(self) -> int:
        """GPUs that the pool needs fewer than the silos; negative if it needs more."""
        return self.together.installed_gpus - self.pool.installed_gpus

    @property
    def saved_hosts(self) -> int:
        """Hosts that the pool needs fewer than the silos; negative if it needs more."""
        return self.together.hosts - self.pool.hosts


def silos(plan: Plan, *, week: WeekDemand | None = None) -> Silos:
    """Plan each group by itself, and the pool, without a stated total; ``week`` is the busiest, if known."""
    week = week or week_demand(plan)[0]
    alone, pool = silo_plans(plan)
    rows = [_silo(design, group, float(week.gpus[group].mean())) for group, design in alone.items()]
    return Silos(tuple(rows), _silo(pool, "", sum(silo.busy_gpus for silo in rows)))


def _silo(plan: Plan, group: str, busy_gpus: float) -> Silo:
    gpus = math.ceil(plan.totals.gpus_demanded - 1e-9)
    return Silo(group, gpus, busy_gpus, plan.totals.hosts, plan.totals.gpus, standing(plan, ()))


def silo_plans(plan: Plan) -> tuple[dict[str, Plan], Plan]:
    """Return the plan of each silo by its group's id, and of the pool, without groups that no new host takes."""
    scenario = _unstated(plan.scenario)
    alone = {}
    for group in scenario.groups:
        with suppress(ScenarioError):
            alone[group.id] = plan.with_scenario(_alone(scenario, group, plan.catalog))
    return alone, _pool(plan, alone)


def left_out(plan: Plan, alone: Container[str]) -> tuple[str, ...]:
    """Say which groups have no silo."""
    names = ", ".join(group.name for group in plan.scenario.groups if group.id not in alone)
    return (said("silos.left out", names=names),) if names else ()


def _pool(plan: Plan, alone: Container[str]) -> Plan:
    """Return the plan of all groups with a silo together, without a stated total and existing hosts."""
    scenario = _unstated(plan.scenario)
    if gone := [group for group in scenario.groups if group.id not in alone]:
        scenario = scenario.with_groups([group for group in scenario.groups if group not in gone])
    return plan if scenario == plan.scenario else plan.with_scenario(scenario)


def _unstated(scenario: Scenario) -> Scenario:
    """Return a scenario without a stated total, existing hosts and VMs without a GPU."""
    demand = scenario.demand
    rule = "sum" if demand.rule == "stated" else demand.rule
    hardware = replace(scenario.hardware, existing=None, other_vms=None)
    return replace(scenario, demand=replace(demand, stated_gpus=None, rule=rule), hardware=hardware)


def _alone(whole: Scenario, group: Group, catalog: Catalog) -> Scenario:
    """Return the scenario of one of its groups, with the peakedness that matches the stated one of the whole."""
    home = next(view for view in views(whole) if group in view.groups)
    single = home.with_groups([group])
    names = ("peakedness_low", "peakedness", "peakedness_high")
    stated = {name: z for name in names if (z := getattr(single.demand, name)) is not None}
    if not stated:
        return single
    ratio = poisson_peakedness(single, catalog) / poisson_peakedness(whole, catalog)
    scaled = {name: min(max(z * ratio, PEAKEDNESS.low), PEAKEDNESS.high) for name, z in stated.items()}
    return replace(single, demand=replace(single.demand, **scaled))


@dataclass(frozen=True, slots=True)
class SiloCost:
    """Cost of a group with hosts of its own."""

    group: str
    name: str
    hosts: int
    gpus: int
    total: float
    net_present: float
    unplaced_vms: int


@dataclass(frozen=True, slots=True)
class SiloCosts:
    """Cost of each group on its own hosts and of all of them on shared ones, at the same target."""

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
    """Cost of a used GPU-hour of this design if its GPUs were used as little as is claimed for GPUs bound to single
    machines: at the high, the planning and the low end of that claim."""


@dataclass(frozen=True)
class PricedSilos:
    """Silos and pool without what the design has once: storage, management and compute hosts, spare boards."""

    alone: dict[str, Plan]
    """Silos by their group's id, with switches for nothing: silos in one data centre are joined as the pool is."""
    pool: Plan
    unjoined: Plan

    def cost(self, group: str, what: str) -> float:
        """Return the cost of a silo, named as in `paid`: its own, and its share by hosts of switches and cables."""
        silo = self.alone[group]
        switches = paid(self.pool, what) - paid(self.unjoined, what)
        hosts, in_pool = (design.costs.hosts[-1] if design.costs else 0 for design in (silo, self.pool))
        return paid(silo, what) + switches * hosts / max(1, in_pool)

    def sum(self, what: str) -> float:
        """Return the cost of all silos together."""
        return cost.total_cost(*(self.cost(group, what) for group in self.alone))

    def differences(self) -> Iterator[tuple[Plan, float]]:
        """Yield the designs, each with the factor of its cost, that sum up to the cost of all silos less the pool's."""
        hosts, (in_pool,) = (
            [design.costs.hosts[-1] if design.costs else 0 for design in designs]
            for designs in (self.alone.values(), [self.pool])
        )
        share = sum(hosts) / max(1, in_pool)
        yield from ((silo, 1.0) for silo in self.alone.values())
        yield self.pool, share - 1
        yield self.unjoined, -share


def paid(plan: Plan, what: str) -> float:
    """Return the ``total`` or ``net_present`` cost of a plan, or ``low`` or ``high`` of the latter; 0 without hosts."""
    if plan.cost_ranges and what in ("low", "high"):
        return plan.cost_ranges.net_present[what == "high"]
    costs = plan.costs
    return 0.0 if costs is None else costs.total if what == "total" else costs.net_present


def priced_silos(plan: Plan) -> PricedSilos:
    """Return silos and pool of a plan, to compare by cost."""
    inputs = plan.scenario.cost
    bare = replace(inputs, storage_tb=0, management_hosts=0, compute_hosts_bought=False, spare_gpus=0)
    pool = plan if bare == inputs else plan.with_scenario(replace(plan.scenario, cost=bare))
    free = {key: 0.0 for key in price_keys(plan.catalog) if key.startswith(JOINED)}
    prices = tuple(sorted((dict(pool.scenario.prices) | free).items()))
    ranges = tuple(entry for entry in pool.scenario.ranges if entry[0] not in free)
    scenario = replace(pool.scenario, prices=prices, ranges=ranges)
    alone, unjoined = silo_plans(plan.with_scenario(scenario))
    return PricedSilos(alone, _pool(pool, alone), unjoined)


def silo_costs(plan: Plan) -> SiloCosts | None:
    """Return the cost of silos beside the pool; None without hosts or groups.

    Both are without a stated total, existing hosts, storage, management and compute hosts, and spare boards.
    """
    if plan.costs is None or not plan.groups:
        return None
    priced = priced_silos(plan)
    alone, pool = priced.alone, priced.pool
    if not alone:
        return None
    groups = []
    for group, design in alone.items():
        total, net_present = (priced.cost(group, what) for what in ("total", "net_present"))
        counts = (design.totals.hosts, design.totals.gpus, total, net_present, design.totals.unplaced_vms)
        groups.append(SiloCost(group, design.groups[0].name, *counts))
    planned = [design.costs for design in (*alone.values(), pool) if design.costs]
    return SiloCosts(
        groups=tuple(groups),
        total=priced.sum("total"),
        net_present=priced.sum("net_present"),
        hosts=sum(silo.hosts for silo in groups),
        gpus=sum(silo.gpus for silo in groups),
        pool_total=paid(pool, "total"),
        pool_net_present=paid(pool, "net_present"),
        pool_hosts=pool.totals.hosts,
        pool_gpus=pool.totals.gpus,
        saved=priced.sum("net_present") - paid(pool, "net_present"),
        currency=plan.costs.currency,
        excludes=(*dict.fromkeys(n for costs in planned for n in costs.excludes), *left_out(plan, alone)),
        claimed_gpu_hour=_claimed(pool.costs or plan.costs, plan.catalog),
    )


def _claimed(costs: Costs, catalog: Catalog) -> tuple[float, float, float] | None:
    if costs.gpu_hour_installed is None:
        return None
    fact = catalog.assumptions["silo-gpu-utilisation"].fact("utilisation_pct")
    shares = (float(pct or 0) / 100 for pct in (fact.high, fact.value, fact.low))
    high, value, low = (cost.gpu_hour_cost(costs.gpu_hour_installed, gpu_hours=share) for share in shares)
    return high, value, low
