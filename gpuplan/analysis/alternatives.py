"""Alternatives of the same plan, priced alike over the same years: less or more failover capacity, hosts for power-on orders, another board, silos, rented GPUs, and no growth; and what is nearby."""

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import NamedTuple

from gpuplan.analysis.candidates import asked, default_space, unfit
from gpuplan.analysis.compare import design_name, short_names
from gpuplan.analysis.rent_or_buy import RentOrBuy, rent_terms
from gpuplan.analysis.silos import left_out, priced_silos
from gpuplan.analysis.variants import SOUND, Standing, Variant, outcome, standing, together
from gpuplan.catalog import Catalog
from gpuplan.plan import Plan
from gpuplan.plan.checks import check_plan
from gpuplan.plan.cost import Costs
from gpuplan.plan.over_time.power_on import distinct
from gpuplan.scenario import Scenario, ScenarioError
from gpuplan.wording import NAMES, hours, said, stated_percent

IN_SHORT = NAMES["alternative in short"]


@dataclass(frozen=True, slots=True)
class Alternative:
    """One way to serve the demand of the plan, with its cost over the same years."""

    key: str
    """``plan``, ``n0`` and so on, ``orders`` or ``best``, ``board``, ``silos``, ``rent-TERM`` or ``no-growth``."""
    name: str
    hosts: tuple[int, ...]
    """Hosts in each year from 1; none where GPUs are rented."""
    gpus: tuple[int, ...]
    net_present: float
    low: float | None
    """Net present cost with the prices of each cause at their ends, or of the offers; None where no range is known."""
    high: float | None
    difference: float
    gives_up: str
    """Features of the plan that this alternative lacks, or its gain where that is the point."""
    excludes: tuple[str, ...]
    standing: Standing = SOUND

    @property
    def chosen(self) -> bool:
        """True for the plan itself."""
        return self.key == "plan"

    @property
    def short_name(self) -> str:
        """Short name for narrow columns."""
        return IN_SHORT.get(self.key, self.name)


class Planned(NamedTuple):
    """An alternative and what its cost is the sum of."""

    alternative: Alternative
    designs: tuple[tuple[Plan, float], ...] = ()
    """Designs, each with the factor of its cost."""
    rent: RentOrBuy | None = None
    """GPU-hours that are rented instead."""


def alternatives(plan: Plan) -> tuple[Alternative, ...]:
    """The plan and its alternatives with the same demand, prices and years, the plan first; none without hosts."""
    return tuple(option.alternative for option in planned_alternatives(plan))


def planned_alternatives(plan: Plan) -> tuple[Planned, ...]:
    """Return the plan and its alternatives, each with its designs."""
    return plan.once("alternatives", lambda: tuple(_planned(plan)))


def with_cheapest_rent(alternatives: Sequence[Alternative]) -> list[Alternative]:
    """Return the alternatives with only the cheapest way to rent."""
    rents = [option for option in alternatives if option.key.startswith("rent-")]
    cheapest = min(rents, key=lambda each: each.net_present, default=None)
    return [option for option in alternatives if option not in rents or option is cheapest]


def _planned(plan: Plan) -> Iterator[Planned]:
    costs = plan.costs
    if costs is None:
        return
    name = said("alternative.plan", failures=plan.scenario.availability.host_failures)
    yield Planned(_priced(plan, costs, "plan", name, ""), ((plan, 1.0),))
    for variant in (*_postures(plan), *_orders(plan), *_other_board(plan)):
        yield from _chosen(variant, plan, costs)
    yield from _silos(plan, costs)
    yield from _rented(plan, costs)
    if costs.hosts[-1] != costs.hosts[0] or costs.used_gpu_hours[0] != costs.used_gpu_hours[-1]:
        yield from _chosen(_without_growth(plan), plan, costs)


def _chosen(variant: Variant, plan: Plan, of: Costs) -> Iterator[Planned]:
    """Yield a variant with its plan, if it can be planned and serves its purpose."""
    other = outcome(variant.scenario, plan.catalog, check=plan.check).plan
    if other and other.costs and (reason := variant.reason(other)) is not None:
        yield Planned(_priced(other, of, variant.key, variant.label, reason), ((other, 1.0),))


def _priced(plan: Plan, of: Costs, key: str, name: str, gives_up: str) -> Alternative:
    costs = plan.costs or of
    stands = standing(plan, None if key in ("plan", "board") else ())
    more = costs.net_present - of.net_present
    return Alternative(
        *(key, name, costs.hosts, costs.gpus, costs.net_present, stands.low, stands.high),
        *(more, _beside(stands, gives_up), costs.excludes, stands),
    )


def _beside(stands: Standing, gives_up: str) -> str:
    return "; ".join(filter(None, (stands.words, gives_up)))


def _postures(plan: Plan) -> Iterator[Variant]:
    path, chosen = "availability.host_failures", plan.scenario.availability.host_failures
    short = {posture.host_failures: posture.short_h for posture in plan.postures}
    for failures in sorted({0, 1, 2} - {chosen}):

        def gives_up(other: Plan, failures: int = failures) -> str:
            drawbacks = []
            lost = other.totals.unplaced_vms_after_failure - other.totals.unplaced_vms
            if failures < chosen and lost > 0:
                drawbacks.append(said("alternative.failure", lost=lost))
            if failures in short:
                theirs, here = hours(short[failures]), hours(short[chosen])
                drawbacks.append(said("alternative.shortfall", there=theirs, here=here))
            return "; ".join(drawbacks)

        key = f"n{failures}"
        yield Variant(key, IN_SHORT[key], plan.scenario.with_value(path, failures), gives_up)


def _orders(plan: Plan) -> Iterator[Variant]:
    """Yield the other sizing rule for hosts: the best arrangement, or orders of power-on where hosts help them."""
    availability, path, hosts = plan.scenario.availability, "availability.sized_for", plan.totals.hosts
    share = stated_percent(availability.orders_share)
    starts = said("alternative.every vm starts", share=share)

    def fewer(best: Plan) -> str | None:
        gained = starts if _reached(plan) else said("alternative.more orders")
        return said("alternative.best gives up", gained=gained) if best.totals.hosts < hosts else None

    def more(other: Plan) -> str | None:
        return starts if other.totals.hosts > hosts and _reached(other) else None

    if availability.sized_for == "orders":
        yield Variant("best", said("alternative.best"), plan.scenario.with_value(path, "best"), fewer)
    elif not all(trial.at_demand.all_start for trial in distinct(plan.power_on)):
        name = said("alternative.orders", share=share)
        yield Variant("orders", name, plan.scenario.with_value(path, "orders"), more)


def _reached(plan: Plan) -> bool:
    """True if the required share of power-on orders starts every VM in all clusters."""
    return all(division.reached for division in plan.divisions.values())


def _other_board(plan: Plan) -> Iterator[Variant]:
    """Yield the nearest design with another board for the same work."""
    board = plan.scenario.hardware.gpu
    for _, scenario in nearby(plan.scenario, plan.catalog):
        if scenario.hardware.gpu != board:
            names = [design_name(design, plan.catalog) for design in (plan.scenario, scenario)]
            label = short_names(names)[1]
            if plan.parts[1:]:
                label = said("alternative.in place", design=label, gpu=plan.catalog.gpus[board].name)
            yield Variant("board", label, scenario, lambda other: against(plan, other))


def against(plan: Plan, other: Plan) -> str:
    """Return the case against another design: that it is no cheaper, or else the points only it has to confirm."""
    if plan.costs and other.costs and other.costs.net_present > plan.costs.net_present:
        return said("executive.why not dearer")
    here = {message.code for message in check_plan(plan)}
    more = [m.text for m in check_plan(other) if m.level != "note" and m.code not in here]
    return more[0] if more else said("executive.why not cheaper")


def _silos(plan: Plan, of: Costs) -> Iterator[Planned]:
    """Yield each group with hosts of its own; shared items count once for all, switches cost the same per host."""
    if len(plan.groups) < 2:
        return
    priced = priced_silos(plan)
    pool, costs = priced.pool.costs, [item.costs for item in priced.alone.values() if item.costs]
    if pool is None or not costs:
        return
    hosts, gpus = (
        tuple(
            now + sum(silos) - pooled
            for now, pooled, *silos in zip_longest(*(getattr(item, name) for item in (of, pool, *costs)))
        )
        for name in ("hosts", "gpus")
    )
    alone = priced.sum("net_present")
    more = alone - pool.net_present
    low, high = (of.net_present + more + priced.sum(end) - alone for end in ("low", "high"))
    excludes = tuple(dict.fromkeys(name for item in (of, *costs) for name in item.excludes))
    excludes += left_out(plan, priced.alone)
    stands = together(standing(silo, ()) for silo in priced.alone.values())._replace(low=low, high=high)
    name, drawback = said("alternative.silos"), _beside(stands, said("alternative.silos give up"))
    cost = of.net_present + more
    silos = Alternative("silos", name, hosts, gpus, cost, low, high, more, drawback, excludes, stands)
    yield Planned(silos, ((plan, 1.0), *priced.differences()))


def _rented(plan: Plan, of: Costs) -> Iterator[Planned]:
    for rental in rent_terms(plan):
        more = rental.rent_net_present - of.net_present
        gpus = tuple(gpus - rental.spare_gpus for gpus in of.gpus)
        on_demand = rental.term == "on-demand"
        drawback = said("alternative.on demand gives up" if on_demand else "alternative.rent gives up")
        if rental.breakeven_utilisation is not None and rental.breakeven_utilisation <= 1:
            shares = {"even": rental.breakeven_utilisation, "planned": rental.utilisation}
            drawback += "; " + said("alternative.rent breaks even", **shares)
        key, (low, high) = f"rent-{rental.term}", _between_offers(rental)
        offer, term = rental.row, NAMES["rental term"][rental.term]
        name = said("alternative.rent", term=term)
        name = said("alternative.rent from", term=term, provider=offer.provider) if offer else name
        stands, cost = standing(plan)._replace(low=low, high=high), rental.rent_net_present
        drawback = _beside(stands, drawback)
        yield Planned(
            Alternative(key, name, (), gpus, cost, low, high, more, drawback, (), stands), rent=rental
        )


def _between_offers(found: RentOrBuy) -> tuple[float | None, float | None]:
    """Return the cost of the cheapest and the dearest offer of this GPU in the same way; None if the rent is stated."""
    prices = [row.gpu_hour_price for row in found.rows if row.term == found.term]
    if found.row is None or not prices:
        return None, None
    gpu_hours = found.rent_net_present / found.gpu_hour_price
    return min(prices) * gpu_hours, max(prices) * gpu_hours


def _without_growth(plan: Plan) -> Variant:
    still = plan.scenario.with_groups([replace(group, growth=None) for group in plan.scenario.groups])
    drawback = said("alternative.no growth gives up")
    return Variant("no-growth", said("alternative.no growth"), still, lambda _: drawback)


def nearby(scenario: Scenario, catalog: Catalog) -> tuple[tuple[str, Scenario], ...]:
    """Return (name, scenario) of up to three designs: one more failure, an equivalent board, other GPUs per host."""
    current, space = asked(scenario), default_space(scenario, catalog)
    servers, count = dict.fromkeys((current.server, *space.servers)), current.gpus_per_host
    decisions = (
        [replace(current, host_failures=current.host_failures + 1)],
        [replace(current, gpu=gpu, server=server) for gpu in space.gpus[1:] for server in servers],
        [replace(current, gpus_per_host=each) for each in (2 * count, *[count // 2] * (count % 2 == 0))],
    )
    designs = []
    for candidates in decisions:
        for candidate in candidates:
            if unfit(scenario, catalog, candidate):
                continue
            with contextlib.suppress(ScenarioError):
                designs.append(candidate.apply(scenario, catalog))
                break
    names = [design_name(each, catalog) for each in (scenario, *designs)]
    return tuple(zip([short_names((names[0], name))[1] for name in names[1:]], designs, strict=True))
