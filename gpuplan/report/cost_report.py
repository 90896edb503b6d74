"""The cost of a plan as plain data and as text: by year, part and group, the bill of materials, prices, and the alternatives."""

from collections import Counter
from typing import Any

from gpuplan.analysis.alternatives import alternatives
from gpuplan.analysis.customer import earnings
from gpuplan.analysis.rent_or_buy import no_rental, posture_costs, rent_or_buy, rent_terms
from gpuplan.analysis.silos import silo_costs
from gpuplan.facts import BASES
from gpuplan.locales import spoken, written_day
from gpuplan.plan import Plan
from gpuplan.plan.cost import Costs
from gpuplan.plan.power import PowerUse
from gpuplan.report.plan_data import as_json, costs_dict, fields_of, power_dict
from gpuplan.report.tables import cost, platform
from gpuplan.report.tables.alternatives import alternative_words, rent_by_year
from gpuplan.report.tables.alternatives import alternatives as alternatives_table
from gpuplan.report.tables.models import token_costs
from gpuplan.report.text import chapter, fitted, page, pairs
from gpuplan.wording import basis_word, said


def cost_dict(plan: Plan) -> dict[str, Any]:
    """Return the cost of a plan and of its alternatives as plain JSON values, unrounded and all finite.

    Keys ``name``, ``costs`` (as in ``plan_dict``, its materials apart), ``bill_of_materials``, ``power``,
    ``silos``, ``rent_or_buy``, ``no_rental`` (why there is nothing to compare with), ``postures`` and ``alternatives``; with a
    margin also ``internal``, what the seller pays and earns by part.
    """
    money_of, rent = costs_dict(plan) or {}, rent_or_buy(plan)
    bought = money_of.pop("materials", [])
    earned = [fields_of(part) | {"earned": part.earned} for part in earnings(plan)]
    return as_json(
        name=plan.scenario.name,
        costs=money_of or None,
        bill_of_materials=bought,
        power=power_dict(plan.power),
        silos=silo_costs(plan),
        rent_or_buy=rent,
        no_rental="" if rent or plan.costs is None else no_rental(plan),
        postures=posture_costs(plan),
        alternatives=alternatives(plan),
        **({"internal": earned} if earned else {}),
    )


@spoken
def cost_text(plan: Plan) -> str:
    """Return the cost of a plan as text."""
    costs, use = plan.costs, plan.power
    if costs is None or use is None:
        return page(plan.scenario.name, said("cost.nothing bought"))
    unit, years = fitted(cost.cost_by_year(plan))
    return page(
        plan.scenario.name,
        _answer(plan, costs, use),
        chapter(years, title=said("cost.payments by year", unit=unit, currency=costs.currency)),
        chapter(cost.cost_by_part(plan), before=cost.ranges_words(plan)),
        cost.cost_by_group(plan),
        token_costs(plan),
        chapter(cost.bill_of_materials(plan), below=("rule", "sources")),
        chapter(cost.prices(plan).without("name"), _unknown(costs), before=_known(costs)),
        platform.power(use),
        pairs(platform.power_points(use)),
        chapter(alternatives_table(plan), *alternative_words(plan), below=("gives_up",)),
        _rent_by_year(plan),
        _internal(plan),
    )


def _answer(plan: Plan, costs: Costs, use: PowerUse) -> str:
    span = cost.headlines(plan)
    exact = said("cost.answer net present", **span, costs=costs)
    used = "cost.answer installed" if costs.gpu_hour_used is None else "cost.answer installed and used"
    rows = (
        (said("summary.net present"), exact),
        (said("cost.answer for"), cost.hosts_over_years(costs)),
        (said("cost.answer total"), span["total"]),
        (said("cost.answer start"), said("cost.answer at start", **span)),
        (said("cost.answer per gpu hour"), said(used, **span, use=cost.use_words(plan))),
        (said("summary.power"), said("cost.answer power", use=use)),
        (said("cost.answer excludes"), "; ".join(costs.excludes)),
        (said("cost.answer lapsed"), "; ".join(price.name for price in costs.lapsed)),
        (said("cost.answer outside"), "; ".join(costs.outside)),
    )
    return chapter("", pairs(row for row in rows if row[1]), cost.growth_words(costs))


def _known(costs: Costs) -> str:
    counts = Counter(price.fact.basis for price in costs.prices)
    kinds = ", ".join(f"{counts[basis]} {basis_word(basis)}" for basis in BASES if counts[basis])
    known = {"prices": len(costs.prices), "old": sum(price.old for price in costs.prices)}
    day, unknown = written_day(costs.as_of), len(costs.unknown)
    return said("cost.prices known", **known, kinds=kinds, day=day, unknown=unknown)


def _unknown(costs: Costs) -> str:
    prices = "; ".join(said("cost.price unknown", item=item) for item in costs.unknown)
    return said("cost.prices unknown", prices=prices) if prices else ""


def _rent_by_year(plan: Plan) -> str:
    rentals = rent_terms(plan)
    if not rentals:
        return ""
    unit, paid = fitted(rent_by_year(rentals, added_up=True))
    return chapter(paid, title=said("cost.rent to date", unit=unit, currency=rentals[0].currency))


def _internal(plan: Plan) -> str:
    table = cost.margin(plan)
    if table is None:
        return ""
    margin = plan.scenario.internal.margin or 0
    return chapter(table, before=said("cost.with a margin", unit=table.columns[1].unit, margin=margin))
