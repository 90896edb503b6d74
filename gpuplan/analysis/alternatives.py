"""Alternatives of the same plan, priced alike over the same years: less or more failover capacity, hosts for power-on orders, another board, silos, rented GPUs, and no growth."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import zip_longest

from gpuplan.analysis.differences import design_name, short_names
from gpuplan.analysis.nearby import nearby
from gpuplan.analysis.rent_or_buy import RentOrBuy, rent_terms
from gpuplan.analysis.silos import net_present, priced_silos
from gpuplan.plan import Plan, make_plan
from gpuplan.plan.checks import check_plan
from gpuplan.plan.cost import Costs
from gpuplan.plan.over_time.power_on import distinct
from gpuplan.scenario import ScenarioError
from gpuplan.wording import NAMES, hours, said, stated_percent

IN_SHORT = NAMES["alternative in short"]


@dataclass(frozen=True, slots=True)
class Alternative:
    """One way to serve the demand of the plan, and what it costs over the same years."""

    key: str
    """``plan``, ``n0`` and so on, ``orders`` or ``best``, ``board``, ``silos``, ``rent-TERM`` or ``no-growth``."""
    name: str
    hosts: tuple[int, ...]
    """In each year from 1; none where GPUs are rented."""
    gpus: tuple[int, ...]
    net_present: float
    low: float | None
    """Net present cost with the prices of each cause at their ends, or of the offers; None where no range is known."""
    high: float | None
    difference: float
    """More than this plan; negative if it costs less."""
    gives_up: str
    """What the plan has and this has not; what it gains where that is the point."""
    excludes: tuple[str, ...]
    """What its cost leaves out because its price is not known."""

    @property
    def chosen(self) -> bool:
        """Whether it is the plan itself."""
        return self.key == "plan"


def alternatives(plan: Plan) -> tuple[Alternative, ...]:
    """The plan and its alternatives, the plan first; none without hosts.

    Each is planned with the same demand, growth, prices and years; only the last leaves the growth out, and says so.
    """
    return tuple(each for each, _ in planned_alternatives(plan))


Planned = tuple[Alternative, Plan | None]
"""An alternative and its plan; None where it is none of its own, as with silos and rented GPUs."""


def planned_alternatives(plan: Plan) -> tuple[Planned, ...]:
    """The plan and its alternatives, each with its plan."""
    return plan.once("alternatives", lambda: _planned(plan))


def _planned(plan: Plan) -> tuple[Planned, ...]:
    if plan.costs is None:
        return ()
    of = plan.costs
    return (
        _priced(plan, of, "plan", _posture_name(plan), ""),
        *_postures(plan, of),
        *_orders(plan, of),
        *_other_board(plan, of),
        *_silos(plan, of),
        *_rented(plan, of),
        *_without_growth(plan, of),
    )


def _priced(plan: Plan, of: Costs, key: str, name: str, gives_up: str) -> Planned:
    """A plan as an alternative to one of these costs."""
    costs = plan.costs or of
    low, high = _ends(plan)
    more = costs.net_present - of.net_present
    found = Alternative(
        key, name, costs.hosts, costs.gpus, costs.net_present, low, high, more, gives_up, costs.excludes
    )
    return found, plan


def _ends(plan: Plan) -> tuple[float | None, float | None]:
    return plan.cost_ranges.net_present if plan.cost_ranges else (None, None)


def _posture_name(plan: Plan) -> str:
    return said("alternative.plan", failures=plan.scenario.availability.host_failures)


def _postures(plan: Plan, of: Costs) -> Iterator[Planned]:
    """N+0 to N+2 without the chosen one."""
    chosen = plan.scenario.availability.host_failures
    short = {posture.host_failures: posture.short_h for posture in plan.postures}
    for failures in sorted({0, 1, 2} - {chosen}):
        try:
            other = make_plan(plan.scenario.with_value("availability.host_failures", failures), plan.catalog)
        except ScenarioError:
            continue
        if other.costs is None:
            continue
        told = []
        lost = other.totals.unplaced_vms_after_failure - other.totals.unplaced_vms
        if failures < chosen and lost > 0:
            told.append(said("alternative.failure", lost=lost))
        if failures in short:
            told.append(
                said("alternative.shortfall", there=hours(short[failures]), here=hours(short[chosen]))
            )
        key = f"n{failures}"
        yield _priced(other, of, key, IN_SHORT[key], "; ".join(told))


def _orders(plan: Plan, of: Costs) -> Iterator[Planned]:
    """The other rule by which hosts are enough: the best arrangement, or orders of power-on where hosts help them."""
    asked = plan.scenario.availability
    share = stated_percent(asked.orders_share)
    gained = said("alternative.every vm starts", share=share)
    if asked.sized_for == "orders":
        best = make_plan(plan.scenario.with_value("availability.sized_for", "best"), plan.catalog)
        if best.costs and best.totals.hosts < plan.totals.hosts:
            gained = gained if _reached(plan) else said("alternative.more orders")
            told = said("alternative.best gives up", gained=gained)
            yield _priced(best, of, "best", said("alternative.best"), told)
    elif not all(made.at_demand.all_start for made in distinct(plan.power_on)):
        other = make_plan(plan.scenario.with_value("availability.sized_for", "orders"), plan.catalog)
        if other.costs and other.totals.hosts > plan.totals.hosts and _reached(other):
            yield _priced(other, of, "orders", said("alternative.orders", share=share), gained)


def _reached(plan: Plan) -> bool:
    """Whether the share of orders that is asked for starts every VM in all clusters."""
    return all(division.reached for division in plan.divisions.values())


def _other_board(plan: Plan, of: Costs) -> Iterator[Planned]:
    """The nearest design with another board for the same work."""
    own = plan.scenario.hardware.gpu
    scenario = next(
        (near for _, near in nearby(plan.scenario, plan.catalog) if near.hardware.gpu != own), None
    )
    if scenario is None:
        return
    try:
        other = make_plan(scenario, plan.catalog)
    except ScenarioError:
        return
    if other.costs is None:
        return
    name = short_names((design_name(plan.scenario, plan.catalog), design_name(scenario, plan.catalog)))[1]
    dearer = other.costs.net_present > of.net_present
    yield _priced(
        other, of, "board", name, said("executive.why not dearer") if dearer else _against(plan, other)
    )


def _against(plan: Plan, other: Plan) -> str:
    """What speaks against a cheaper design: what has to be confirmed of it and not of this one."""
    here = {message.code for message in check_plan(plan)}
    more = [m.text for m in check_plan(other) if m.level != "note" and m.code not in here]
    return more[0] if more else said("executive.why not cheaper")


def _silos(plan: Plan, of: Costs) -> Iterator[Planned]:
    """Each group with hosts of its own; what the plan has once, it has in all, and a host costs as much for switches."""
    if len(plan.groups) < 2:
        return
    priced = priced_silos(plan)
    pool, costs = priced.pool.costs, [each.costs for each in priced.alone.values() if each.costs]
    if pool is None or not costs:
        return
    more = priced.sum(net_present) - pool.net_present
    counts = [
        tuple(
            now + sum(silos) - pooled
            for now, pooled, *silos in zip_longest(
                getattr(of, name), getattr(pool, name), *(getattr(each, name) for each in costs)
            )
        )
        for name in ("hosts", "gpus")
    ]
    told = said("alternative.silos give up")
    left_out = tuple(dict.fromkeys((*of.excludes, *(name for each in costs for name in each.excludes))))
    low, high = (of.net_present + more + priced.sum(end) - priced.sum(net_present) for end in (_low, _high))
    name = said("alternative.silos")
    found = Alternative(
        "silos", name, counts[0], counts[1], of.net_present + more, low, high, more, told, left_out
    )
    yield found, None


def _low(plan: Plan) -> float:
    return plan.cost_ranges.net_present[0] if plan.cost_ranges else net_present(plan)


def _high(plan: Plan) -> float:
    return plan.cost_ranges.net_present[1] if plan.cost_ranges else net_present(plan)


def _rented(plan: Plan, of: Costs) -> Iterator[Planned]:
    """The same GPU-hours rented, by each way that is offered."""
    for found in rent_terms(plan):
        more = found.rent_net_present - of.net_present
        gpus = tuple(gpus - found.spare_gpus for gpus in of.gpus)
        on_demand = found.term == "on-demand"
        told = said("alternative.on demand gives up" if on_demand else "alternative.rent gives up")
        if found.breakeven_utilisation is not None and found.breakeven_utilisation <= 1:
            told += "; " + said(
                "alternative.rent breaks even",
                even=found.breakeven_utilisation,
                planned=found.utilisation,
            )
        key = f"rent-{found.term}"
        low, high = _between_offers(found)
        rented = Alternative(
            key, _rented_name(found), (), gpus, found.rent_net_present, low, high, more, told, ()
        )
        yield rented, None


def _between_offers(found: RentOrBuy) -> tuple[float | None, float | None]:
    """What the cheapest and the dearest offer of this GPU by the same way cost; None where the rent is stated."""
    prices = [row.gpu_hour_price for row in found.rows if row.term == found.term]
    if found.row is None or not prices:
        return None, None
    each = found.rent_net_present / found.gpu_hour_price
    return min(prices) * each, max(prices) * each


def _rented_name(found: RentOrBuy) -> str:
    term = NAMES["rental term"][found.term]
    if not found.row:
        return said("alternative.rent", term=term)
    return said("alternative.rent from", term=term, provider=found.row.provider)


def _without_growth(plan: Plan, of: Costs) -> Iterator[Planned]:
    """The demand of today in all years, where it grows."""
    if of.hosts[-1] == of.hosts[0] and of.used_gpu_hours[0] == of.used_gpu_hours[-1]:
        return
    still = plan.scenario.with_groups([replace(group, growth=None) for group in plan.scenario.groups])
    other = make_plan(still, plan.catalog)
    told = said("alternative.no growth gives up")
    yield _priced(other, of, "no-growth", said("alternative.no growth"), told)
