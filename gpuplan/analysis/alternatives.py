"""Economics: what a design costs beside its alternatives: silos, renting by the hour, more or fewer spare hosts.

Nothing here changes a plan. Everything is planned again from the plan's scenario and catalog.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, replace

from gpuplan.analysis.demand import gpus_without_spare, silo_plans
from gpuplan.catalog import Catalog, Row
from gpuplan.models import cost
from gpuplan.plan import Plan, make_plan, plan_costs
from gpuplan.plan.cost import Costs
from gpuplan.scenario import ScenarioError

TERMS = ("on-demand", "reserved-1-year", "hosted-1-year", "capacity-block")
"""Ways to rent, those that bind least first; all but the first are paid for whether the GPU is used or not."""


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

    As in ``study.silos`` a stated total and hosts already there are left aside. So is what the design has once, however its
    GPUs are divided: storage, management and compute hosts, boards on the shelf.

    Parameters
    ----------
    plan : Plan
        The plan. [-]

    Returns
    -------
    silo_costs : SiloCosts or None
        Money, hosts and GPUs of each silo, of all, and of the pool. [-]
    """
    given = plan.scenario.cost
    bare = replace(given, storage_tb=0, management_hosts=0, compute_hosts_bought=False, spare_gpus=0)
    if bare != given:
        plan = make_plan(replace(plan.scenario, cost=bare), plan.catalog)
    if plan.costs is None or not plan.groups:
        return None
    alone, pool = silo_plans(plan)
    groups = tuple(
        SiloCost(
            group,
            own.groups[0].name,
            own.totals.hosts,
            own.totals.gpus,
            own.costs.total if own.costs else 0.0,
            own.costs.net_present if own.costs else 0.0,
        )
        for group, own in alone.items()
    )
    planned = [own.costs for own in (*alone.values(), pool) if own.costs]
    net_present = cost.total_cost(*(silo.net_present for silo in groups))
    pool_net_present = pool.costs.net_present if pool.costs else 0.0
    return SiloCosts(
        groups=groups,
        total=cost.total_cost(*(silo.total for silo in groups)),
        net_present=net_present,
        hosts=sum(silo.hosts for silo in groups),
        gpus=sum(silo.gpus for silo in groups),
        pool_total=pool.costs.total if pool.costs else 0.0,
        pool_net_present=pool_net_present,
        pool_hosts=pool.totals.hosts,
        pool_gpus=pool.totals.gpus,
        saved=net_present - pool_net_present,
        currency=plan.costs.currency,
        excludes=tuple(dict.fromkeys(name for costs in planned for name in costs.excludes)),
        claimed_gpu_hour=_claimed(plan.costs, plan.catalog),
    )


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


@dataclass(frozen=True, slots=True)
class RentRow:
    """An offer to rent a GPU."""

    id: str
    name: str
    provider: str
    term: str
    gpus: float
    gpu_hour_price: float
    """Price of one GPU for an hour, in the currency of the plan."""
    as_of: str
    basis: str
    sources: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RentOrBuy:
    """The design bought, against the same GPU-hours rented."""

    gpu_hour_price: float
    row: RentRow | None
    """The offer that is compared, the cheapest of its term; None if the scenario states the rent."""
    rows: tuple[RentRow, ...]
    """All offers of this GPU, the cheapest first."""
    term: str
    """On demand, rent is paid for the hours used; by any other term for all hours of the GPUs without spare hosts."""
    own_cash: tuple[float, ...]
    rent_cash: tuple[float, ...]
    own_net_present: float
    rent_net_present: float
    breakeven_utilisation: float | None
    """Share of the hours of all GPUs at which both cost the same, above 1 if renting is cheaper at any; None where rent
    does not depend on it, or where a used hour costs more in power than in rent."""
    crossover_year: float | None
    """When what has been paid for the design is first no more than the rent paid; None if it never is in these years."""
    cheaper: str
    """``buy`` or ``rent``, by the net present cost."""
    utilisation: float
    currency: str
    excludes: tuple[str, ...]
    """What the cost of buying leaves out because nobody knows its price."""


def rentals(plan: Plan, gpu: str = "") -> tuple[RentRow, ...]:
    """Offers of a GPU, or of that of the plan, in the currency of the plan, the cheapest first."""
    rate = plan.scenario.cost.usd_rate or 1.0
    rows = [row for row in plan.catalog.rows("rentals") if row["gpu"] == (gpu or plan.scenario.hardware.gpu)]
    return tuple(sorted((_offer(row, rate) for row in rows), key=lambda row: (row.gpu_hour_price, row.id)))


def _offer(row: Row, rate: float) -> RentRow:
    return RentRow(
        row.id,
        f"{row['provider']} {row['instance']}",
        row["provider"],
        row["term"],
        row["gpus"],
        row["price_usd"] * rate / row["gpus"],
        row["as_of"],
        row.basis,
        row.sources,
    )


def rent_or_buy(plan: Plan, term: str = "on-demand") -> RentOrBuy | None:
    """The design bought against its GPU-hours rented; None if nobody is known to rent out this GPU.

    Parameters
    ----------
    plan : Plan
        The plan. [-]
    term : str
        How it is rented; where nobody offers it like that, the way that binds least. [-]

    Returns
    -------
    rent_or_buy : RentOrBuy or None
        Yearly cash of both, what they are worth today, and where they cross. [-]
    """
    if term not in TERMS:
        raise ValueError(f"term is {term!r}; it must be one of {', '.join(TERMS)}")
    costs, rows = plan.costs, rentals(plan)
    stated = plan.scenario.get(f"prices.rent/{plan.scenario.hardware.gpu}")
    if costs is None or (stated is None and not rows):
        return None
    row = None
    if stated is None:
        whole = {row["id"] for row in plan.catalog.rows("rentals") if row["use"] == "default"}
        offers = [row for row in rows if row.id in whole] or list(rows)
        term = next(t for t in (term, *TERMS) if any(row.term == t for row in offers))
        row = next(row for row in offers if row.term == term)
    price = float(stated) if row is None else row.gpu_hour_price
    spare = sum(pool.gpus - gpus_without_spare(pool) for pool in plan.pools)
    paid = (
        costs.used_gpu_hours
        if term == "on-demand"
        else tuple(hours - cost.installed_gpu_hours(spare) for hours in costs.gpu_hours)
    )
    rent = (0.0, *(cost.rent_cost(hours, hour_price=price) for hours in paid))
    rent_net_present = cost.net_present_cost(rent, rate=costs.discount_rate)
    return RentOrBuy(
        gpu_hour_price=price,
        row=row,
        rows=rows,
        term=term,
        own_cash=costs.cash,
        rent_cash=rent,
        own_net_present=costs.net_present,
        rent_net_present=rent_net_present,
        breakeven_utilisation=_breakeven(plan, price) if term == "on-demand" else None,
        crossover_year=cost.crossover_year(costs.cash, rent_cash=rent),
        cheaper="buy" if costs.net_present <= rent_net_present else "rent",
        utilisation=costs.utilisation,
        currency=costs.currency,
        excludes=costs.excludes,
    )


def _breakeven(plan: Plan, price: float) -> float | None:
    """Utilisation at which owning costs as much as renting: a used hour of one's own costs power, which grows with it."""
    hours = []
    for utilisation in (0.5, 1.0):
        _, costs = plan_costs(plan.scenario.with_value("cost.utilisation", utilisation), plan.catalog)
        if costs is None or costs.gpu_hour_installed is None:
            return None
        hours.append(costs.gpu_hour_installed)
    power = 2 * (hours[1] - hours[0])
    if price <= power:
        return None
    return cost.breakeven_utilisation(hours[1] - power, rent_hour_price=price - power)


def no_rental(plan: Plan) -> str:
    """Why the design is not compared with renting, naming GPUs of the same architecture that are rented out."""
    gpu = plan.catalog.gpus[plan.scenario.hardware.gpu]
    rented = dict.fromkeys(row["gpu"] for row in plan.catalog.rows("rentals") if row["gpu"])
    alike = [
        plan.catalog.gpus[id].name
        for id in rented
        if plan.catalog.gpus[id].value("architecture") == gpu.value("architecture")
    ]
    near = f" Rented out are {', '.join(dict.fromkeys(alike))} of the same architecture." if alike else ""
    return f"The catalog knows nobody who rents out the {gpu.name}.{near} State the rent of a GPU-hour to compare with it."


@dataclass(frozen=True, slots=True)
class PostureCost:
    """The design with so many host failures to tolerate: what it costs, and what that buys."""

    host_failures: int
    chosen: bool
    hosts: int
    gpus: int
    net_present: float
    short_h: float
    """Expected hours a year in which failures leave somebody without a GPU."""
    exposed_h: float
    """Hours a year of maintenance in which one failure more does."""
    extra_cost: float
    """More than the posture before it, net present; 0 for the first."""
    hours_removed: float
    """Hours short, by failures alone or in maintenance, fewer over all years than with the posture before it; 0 for the
    first."""
    hour_price: float | None
    """Of each hour removed; None if none is."""
    excludes: tuple[str, ...] = ()
    """What its cost leaves out because nobody knows its price."""


def posture_costs(plan: Plan) -> tuple[PostureCost, ...]:
    """N+0, N+1, N+2 and the chosen posture, each planned again, with the price of each hour of risk that it removes.

    Parameters
    ----------
    plan : Plan
        The plan. [-]

    Returns
    -------
    posture_costs : tuple of PostureCost
        Fewest failures first; what cannot be planned is left out. [-]
    """
    chosen = plan.scenario.availability.host_failures
    found: list[PostureCost] = []
    before = 0.0
    for failures in sorted({0, 1, 2, chosen}):
        with contextlib.suppress(ScenarioError):
            totals, costs = plan.totals, plan.costs
            if failures != chosen:
                scenario = plan.scenario.with_value("availability.host_failures", failures)
                totals, costs = plan_costs(scenario, plan.catalog)
            if costs is None:
                continue
            risk = next(p for p in plan.postures if p.host_failures == failures)
            short = (risk.short_h + risk.maintenance_short_h) * costs.years
            extra = costs.net_present - found[-1].net_present if found else 0.0
            removed = before - short if found else 0.0
            found.append(
                PostureCost(
                    host_failures=failures,
                    chosen=failures == chosen,
                    hosts=totals.hosts,
                    gpus=totals.gpus,
                    net_present=costs.net_present,
                    short_h=risk.short_h,
                    exposed_h=risk.exposed_h,
                    extra_cost=extra,
                    hours_removed=removed,
                    hour_price=cost.avoided_hour_price(extra, hours_removed_h=removed)
                    if removed > 0
                    else None,
                    excludes=costs.excludes,
                )
            )
            before = short
    return tuple(found)
