"""The tables of money: by year, part and group, the bill of materials, prices, silos, rent or buy, spare hosts, margin; and power."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import accumulate, pairwise
from typing import Any

from gpuplan.analysis.posture_costs import PostureCost
from gpuplan.analysis.rent_or_buy import TERMS, RentOrBuy, rent_or_buy, rentals
from gpuplan.analysis.silos import SiloCosts
from gpuplan.plan import Plan
from gpuplan.plan.bill_of_materials import Material
from gpuplan.plan.cost import Costs
from gpuplan.plan.customer import earned_in_all, earnings
from gpuplan.plan.power import PowerUse
from gpuplan.report.table import NOTHING, Cell, Column, Table
from gpuplan.report.tables.plan import group_names, posture_name
from gpuplan.wording import amount, capital, money, number, percent, stated_percent

PER = {
    "each": "each",
    "core-year": "core-year",
    "socket": "processor",
    "gpu-year": "GPU-year",
    "gpu": "GPU",
    "gpu-hour": "GPU-hour",
    "kwh": "kWh",
    "rack-year": "rack-year",
    "host-year": "host-year",
    "tb": "TB",
}
"""Per what a price is, in words."""


STATUS = {"included": "included", "there": "there already", "to be sized": "to be sized"}
"""What stands in place of the cost of what is not paid."""
PAID = {"bought": "at the start", "yearly": "each year"}
"""When what is paid is paid."""
TERM_NAMES = {
    "on-demand": "on demand",
    "reserved-1-year": "reserved for a year",
    "hosted-1-year": "hosted for a year",
    "capacity-block": "capacity block",
}
INTERNAL = "Internal: not for the customer"
"""Title of what the customer's version does not have."""
ALONE, POOLED = "All silos", "Pooled"
"""Rows below the groups: each with hosts of its own, and all on shared ones."""


def cost_by_year(plan: Plan) -> Table:
    """What is paid for each part in each year, and the hosts and GPU-hours of the year."""
    costs, years = plan.costs, range(1, plan.scenario.cost.years + 1)
    columns = (
        Column("part", "Part"),
        Column("at_start", "Start", "money"),
        *(Column(f"year_{year}", f"Year {year}", "money") for year in years),
        Column("total", "Total", "money"),
        Column("basis", "Weakest input", "basis", detail=True),
    )
    if costs is None:
        return Table("cost_by_year", "Cost by year", columns, ())
    cash = [Cell(value, line=f"cost.years.{at}", tone="total") for at, value in enumerate(costs.cash)]

    def counts(name: str, values: Iterable[float | None]) -> tuple[Any, ...]:
        told = (Cell(value, words=None if value is None else number(round(value))) for value in values)
        return (name, *told, Cell(None, words=""), None)

    return Table(
        "cost_by_year",
        "Cost by year",
        columns,
        (
            *((part.name, *map(_in_a_year, part.yearly), part.total, part.basis) for part in costs.parts),
            (
                Cell("All parts", tone="total"),
                *cash,
                Cell(costs.total, line="cost.total", tone="total"),
                None,
            ),
            counts("GPU hosts", costs.hosts),
            counts("GPUs", costs.gpus),
            counts("GPU-hours used", (None, *costs.used_gpu_hours)),
        ),
        totals=4,
        notes=(
            "Hosts bought for growth are paid in the year in which they are needed; what was bought stays.",
        ),
    )


def hosts_by_year(costs: Costs) -> Table:
    """Hosts and GPUs of each year, and how many hosts are new in it."""
    bought = (costs.hosts[0], *(now - before for before, now in pairwise(costs.hosts)))
    return Table(
        "hosts_by_year",
        "Growth",
        (
            Column("year", ""),
            Column("hosts", "Hosts", "number"),
            Column("gpus", "GPUs", "number"),
            Column("hosts_new", "Of the hosts, new in that year", "number"),
        ),
        tuple(
            (Cell(year, words=f"Year {year}" if year else "Start"), hosts, gpus, new)
            for year, (hosts, gpus, new) in enumerate(zip(costs.hosts, costs.gpus, bought, strict=True))
        ),
        notes=("A year counts from the day the design is installed. Hosts once bought stay.",),
    )


def _in_a_year(value: float) -> Cell:
    """What is paid in a year, and a dash where nothing is."""
    return Cell(value, words=None if value else NOTHING)


def cost_by_part(plan: Plan) -> Table:
    """What each part costs over all years."""
    costs, currency = plan.costs, plan.scenario.cost.currency
    columns = (
        Column("part", "Part"),
        Column("total", f"TCO, {currency}", "money", currency),
        Column("share", "Share", "portion"),
        Column("basis", "Weakest input", "basis"),
    )
    if costs is None:
        return Table("cost_by_part", "By part", columns, ())
    parts = [
        (
            part.name,
            Cell(part.total, line=f"cost.parts.{part.name.lower().replace(' ', '-')}"),
            part.total / costs.total if costs.total > 0 and part.total >= 0 else None,
            Cell(part.basis, basis=part.basis),
        )
        for part in costs.parts
    ]
    total = (
        Cell("All parts", tone="total"),
        Cell(costs.total, line="cost.total", tone="total"),
        Cell(None, words="", tone="total"),
        Cell(None, tone="total"),
    )
    return Table("cost_by_part", "By part", columns, (*parts, total), totals=1)


def cost_by_group(plan: Plan) -> Table:
    """What each group costs over all years, by the GPUs that it demands."""
    names, currency = group_names(plan), plan.scenario.cost.currency
    return Table(
        "cost_by_group",
        "By group, by the GPUs that each demands",
        (
            Column("group", "Id", detail=True),
            Column("name", "Group"),
            Column("total", f"TCO, {currency}", "money", currency),
            Column("share", "Share", "portion"),
        ),
        tuple(
            (each.id, names[each.id], Cell(each.total, line=f"groups.{each.id}.cost"), each.share)
            for each in (plan.costs.groups if plan.costs else ())
        ),
    )


def bill_of_materials(plan: Plan) -> Table:
    """Everything the design is made of: quantity, rule, price and cost."""
    costs = plan.costs
    currency = costs.currency if costs else plan.scenario.cost.currency
    discounted = any(m.discount for m in (costs.materials if costs else ()))
    return Table(
        "materials",
        "Bill of materials, on the day it is installed",
        (
            Column("part", "Part", detail=True),
            Column("name", "Item"),
            Column("quantity", "Quantity", "number"),
            Column("unit", "Unit", detail=True),
            Column("rule", "Rule"),
            Column("status", "Paid", detail=True),
            Column("unit_price", f"Price of one, {currency}", "price", currency),
            Column("known", "Price known", detail=True),
            Column("discount", "Discount", "share", detail=not discounted),
            Column("cost", f"Cost, {currency}", "money", currency),
            Column("currency", "Currency", detail=True),
            Column("item", "Catalog", detail=True),
            Column("sources", "Sources", "sources"),
        ),
        tuple(
            (
                m.part,
                Cell(m.name, more={"note": m.part}),
                Cell(m.quantity, words=_quantity(m)),
                Cell(m.unit, words="" if m.unit == "1" else m.unit),
                Cell(m.rule, tone="small"),
                Cell(m.status, words=PAID.get(m.status, STATUS.get(m.status))),
                _price_of_one(m),
                Cell(not m.unknown, words="not known" if m.unknown else "yes" if m.price else ""),
                Cell(m.discount, words=stated_percent(m.discount) if m.discount else ""),
                _paid(m),
                currency,
                m.item,
                m.sources,
            )
            for m in (costs.materials if costs else ())
        ),
        notes=("Prices of one are shown rounded; the cost is worked out before rounding.",),
    )


def _quantity(material: Material) -> str:
    return amount(material.quantity, material.unit) if material.quantity else ""


def _price_of_one(material: Material) -> Cell:
    """The price of one and its discount, or why there is none."""
    if material.price is None:
        unknown = "not known" if material.unknown else STATUS.get(material.status, "")
        return Cell(None, words=unknown, tone="bad gp-whole" if material.unknown else "small")
    return Cell(material.price.value)


def _paid(material: Material) -> Cell:
    """What all of it costs, at once or a year; nothing where nothing is paid."""
    if material.cost is None or material.status in STATUS:
        return Cell(material.cost, words=None if material.cost is None else NOTHING)
    yearly = f"{money(material.cost, '').strip()} a year" if material.status == "yearly" else None
    return Cell(material.cost, words=yearly, line=f"cost.materials.{material.key}")


def prices(plan: Plan) -> Table:
    """Every price that counts, with its range, and those that nobody knows."""
    costs = plan.costs
    currency = costs.currency if costs else plan.scenario.cost.currency
    known = [
        (
            price.key,
            price.name,
            price.value,
            Cell(price.per, words=PER.get(price.per, price.per)),
            price.fact.low,
            price.fact.high,
            currency,
            Cell(price.fact.basis, words="stated" if price.stated else None, basis=price.fact.basis),
            Cell(price.as_of, words=price.as_of + " (old)" * price.old),
            price.stated,
            price.old,
            price.fact.sources,
            price.fact.locator,
            price.fact.note,
        )
        for price in (costs.prices if costs else ())
    ]
    unknown = [
        (
            item.key,
            item.name,
            Cell(None, words="unknown"),
            Cell(item.per, words=PER.get(item.per, item.per)),
            None,
            None,
            currency,
            Cell("unknown", words=""),
            "",
            False,
            False,
            (),
            "",
            "",
        )
        for item in (costs.unknown if costs else ())
    ]
    return Table(
        "prices",
        "Prices",
        (
            Column("key", "Key"),
            Column("name", "What"),
            Column("value", f"Price, {currency}", "price", currency),
            Column("per", "Per"),
            Column("low", "Low", "price", currency),
            Column("high", "High", "price", currency),
            Column("currency", "Currency", detail=True),
            Column("basis", "Basis", "basis"),
            Column("as_of", "As of"),
            Column("stated", "Stated", "yes", detail=True),
            Column("old", "Old", "yes", detail=True),
            Column("sources", "Source", "sources"),
            Column("locator", "Where", detail=True),
            Column("note", "Note", detail=True),
        ),
        (*known, *unknown),
    )


def power(use: PowerUse) -> Table:
    """What draws power and fills the racks."""
    return Table(
        "power",
        "Power and space",
        (
            Column("part", "Part"),
            Column("count", "Number", "number"),
            Column("typical_w", "Typical", "watts", "W"),
            Column("peak_w", "At peak", "watts", "W"),
            Column("rack_units_u", "Height", "number", "U"),
        ),
        (
            *(
                (
                    capital(part.name),
                    part.count,
                    _known(part.typical_w, bool(part.peak_w)),
                    _known(part.peak_w, bool(part.peak_w)),
                    _height(part.rack_units_u),
                )
                for part in use.parts
            ),
            (
                Cell("All parts", tone="total"),
                Cell(None, words=""),
                Cell(use.typical_w, line="power.typical", tone="total"),
                Cell(use.peak_w, line="power.peak", tone="total"),
                _height(use.rack_units_u),
            ),
        ),
        totals=1,
    )


def _known(value: float, known: bool) -> Cell:
    return Cell(value) if known else Cell(None, words="not known")


def _height(units: float | None) -> Cell:
    return Cell(units, words="not known" if units is None else f"{number(units)} U")


def silos(found: SiloCosts) -> Table:
    """Each group with hosts of its own against all of them on shared ones, in money."""
    rows = (
        (ALONE, found.hosts, found.gpus, found.total, found.net_present),
        (POOLED, found.pool_hosts, found.pool_gpus, found.pool_total, found.pool_net_present),
    )
    return Table(
        "silo_costs",
        "Silos against the pool, with spare hosts",
        (
            Column("group", "Id", detail=True),
            Column("name", "Group alone"),
            Column("hosts", "Hosts", "number"),
            Column("gpus", "GPUs", "number"),
            Column("total", f"TCO, {found.currency}", "money", found.currency),
            Column("net_present", f"Net present cost, {found.currency}", "money", found.currency),
        ),
        (
            *((s.group, s.name, s.hosts, s.gpus, s.total, s.net_present) for s in found.groups),
            *(
                ("", *(Cell(value, tone=tone) for value in row))
                for row, tone in zip(rows, ("total", "strong"), strict=True)
            ),
        ),
        totals=2,
        notes=(
            "A stated total and hosts already there are left aside, so the pool here may differ from the design.",
        ),
    )


def rent_terms(plan: Plan) -> list[RentOrBuy]:
    """The design against each way to rent that is offered, or against the one that the scenario states."""
    if plan.scenario.get(f"prices.rent/{plan.scenario.hardware.gpu}") is not None:
        terms = ["on-demand"]
    else:
        offered = {row.term for row in rentals(plan)}
        terms = [term for term in TERMS if term in offered]
    found = [rent_or_buy(plan, term) for term in terms]
    return [each for term, each in zip(terms, found, strict=True) if each is not None and each.term == term]


def rent(found: Sequence[RentOrBuy]) -> Table:
    """Buying against each way to rent."""
    currency = found[0].currency
    return Table(
        "rent_or_buy",
        "Rent or buy",
        (
            Column("term", "Way to rent"),
            Column("offer", "Offer"),
            Column("gpu_hour_price", "A GPU-hour", "money", currency),
            Column("rent_net_present", "Rent, net present", "money", currency),
            Column("own_net_present", "Buy, net present", "money", currency),
            Column("cheaper", "Cheaper"),
            Column("breakeven", "Break-even"),
            Column("crossover", "Crossover"),
        ),
        tuple(_rent_row(each) for each in found),
        notes=(
            f"{currency}. On demand, rent is paid for the GPU-hours used; by other terms for all hours of the GPUs without spare "
            "hosts. Break-even is the utilisation at which both cost the same.",
        ),
    )


def _rent_row(found: RentOrBuy) -> tuple[Any, ...]:
    even, year, row = found.breakeven_utilisation, found.crossover_year, found.row
    cheaper = found.cheaper
    return (
        Cell(found.term, words=TERM_NAMES[found.term]),
        Cell(row.name, more={"note": f"{row.as_of}, {row.basis}"})
        if row
        else Cell("stated", more={"note": "in this design"}),
        found.gpu_hour_price,
        Cell(found.rent_net_present, tone="strong" if cheaper == "rent" else ""),
        Cell(found.own_net_present, tone="strong" if cheaper == "buy" else ""),
        cheaper,
        Cell(even, words="whatever the use" if even is None else "never" if even > 1 else percent(even)),
        Cell(year, words="not in these years" if year is None else f"year {year:.1f}"),
    )


def rent_by_year(found: Sequence[RentOrBuy], *, added_up: bool = False) -> Table:
    """What is paid in each year to buy and by each way to rent, or until then."""
    years = range(1, len(found[0].own_cash))
    ways = [("Buy", found[0].own_cash)]
    ways += [(f"Rent {TERM_NAMES[each.term]}", each.rent_cash) for each in found]
    return Table(
        "rent_by_year",
        "Paid until then" if added_up else "Paid each year",
        (
            Column("way", "Paid until then" if added_up else ""),
            Column("at_start", "Start", "money"),
            *(Column(f"year_{year}", f"Year {year}", "money") for year in years),
        ),
        tuple((name, *(accumulate(cash) if added_up else cash)) for name, cash in ways),
    )


def offers(plan: Plan, found: Sequence[RentOrBuy]) -> Table:
    """Other offers of this GPU than those compared, the cheapest first."""
    compared = {each.row.id for each in found if each.row is not None}
    known = plan.catalog.sources
    return Table(
        "offers",
        "Other offers",
        (
            Column("offer", "Offer"),
            Column("term", "Term"),
            Column("gpu_hour_price", "A GPU-hour", "money", found[0].currency),
            Column("as_of", "As of"),
            Column("sources", "Source", "sources"),
        ),
        tuple(
            (
                row.name,
                Cell(row.term, words=TERM_NAMES[row.term]),
                row.gpu_hour_price,
                row.as_of,
                Cell(
                    row.sources,
                    words="; ".join(known[s].title for s in row.sources if s in known),
                    tone="small",
                ),
            )
            for row in found[0].rows
            if row.id not in compared
        ),
    )


def posture_costs(found: Sequence[PostureCost], currency: str) -> Table:
    """What each more failure to tolerate costs, and the price of each hour of risk that it removes."""
    return Table(
        "posture_costs",
        "Host failure tolerance, and what it costs",
        (
            Column("posture", ""),
            Column("hosts", "Hosts", "number"),
            Column("gpus", "GPUs", "number"),
            Column("net_present", f"Net present cost, {currency}", "money", currency),
            Column("hours_short", "Short a year", "hours", "h"),
            Column("hours_exposed", "Open in maintenance", "hours", "h"),
            Column("extra_cost", f"More cost, {currency}", "money", currency),
            Column("hours_removed", "Hours removed", "hours", "h"),
            Column("hour_price", f"An hour removed, {currency}", "money", currency),
        ),
        tuple(
            (
                Cell(posture_name(each.host_failures), words=posture_name(each.host_failures, each.chosen)),
                each.hosts,
                each.gpus,
                each.net_present,
                Cell(each.short_h, line=f"postures.n{each.host_failures}.short_h" if each.chosen else ""),
                each.exposed_h,
                *((each.extra_cost, each.hours_removed, each.hour_price) if at else (None, None, None)),
            )
            for at, each in enumerate(found)
        ),
        notes=(
            "More cost and hours removed, over all years, are against the line above. Hours removed are those short of hosts by "
            "failures alone and by failures in maintenance.",
        ),
    )


def margin(plan: Plan) -> Table | None:
    """What the seller pays and earns by part over all years; None without a margin."""
    found = earnings(plan)
    if not found:
        return None
    return Table(
        "internal",
        INTERNAL,
        (
            Column("part", "All years"),
            Column("paid", "We pay", "money", found[0].currency),
            Column("price", "The customer pays", "money", found[0].currency),
            Column("earned", "We earn", "money", found[0].currency),
        ),
        (
            *((each.part, each.paid, each.price, each.earned) for each in found),
            tuple(
                Cell(value, tone="total")
                for each in (earned_in_all(found),)
                for value in (each.part, each.paid, each.price, each.earned)
            ),
        ),
        totals=1,
    )
