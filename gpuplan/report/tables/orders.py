"""Tables for procurement: what an order states of each item, and how many are ordered when."""

from functools import partial
from typing import Any

from gpuplan.analysis.procurement import PAID, Order
from gpuplan.analysis.procurement import orders as ordered
from gpuplan.plan import Plan
from gpuplan.plan.cash_flow import HARDWARE
from gpuplan.report.table import NOTHING, Cell, Column, Table, columns, listed, tabulate
from gpuplan.report.tables.cost import price_day
from gpuplan.wording import amount, number, said


def paid_orders(plan: Plan) -> list[Order]:
    """The orders that cost something."""
    return [order for order in ordered(plan) if order.material.status in PAID]


def orders(plan: Plan) -> Table:
    """Tabulate part number, lead time, term, day of the price and alternates of each item that is paid for."""
    own: dict[str, Any] = {
        name: lambda of, name=name: getattr(of.material, name) for name in ("name", "unit")
    }
    own |= {"lead": _lead, "term": _term, "alternates": lambda of: "; ".join(of.alternates)}
    own["quantity"] = lambda of: Cell(
        of.material.quantity, words=amount(of.material.quantity, of.material.unit) or None
    )
    own["as_of"] = lambda of: price_day(of.material.price) if of.material.price else ""
    return tabulate("orders", paid_orders(plan), **own, notes=(said("table.orders.note"),))


def _lead(of: Order) -> str:
    if of.lead_weeks is None:
        return ""
    fewest, most = of.lead_weeks
    return said(
        "table.orders.weeks" if most else "table.orders.weeks or more", fewest=number(fewest), most=most
    )


def _term(of: Order) -> str:
    if of.term_years is None:
        return ""
    yearly = of.material.status == "yearly"
    return said("table.orders.subscription" if yearly else "table.orders.warranty", years=of.term_years)


def phases(plan: Plan) -> Table:
    """Tabulate the quantity of each item by the year for which it is ordered, and the hardware paid; none without growth."""
    found, costs, currency = paid_orders(plan), plan.costs, plan.scenario.cost.currency
    first = columns("phases", name=lambda of: of.material.name)
    if costs is None or not any(any(order.phases[1:]) for order in found):
        return Table("phases", first, ())
    years = range(costs.years)
    heads = [said("table.phases.year", year=n + 1) if n else said("table.phases.start") for n in years]
    shown = [Column(f"year_{n + 1}", head, "number", of=partial(_ordered, n)) for n, head in enumerate(heads)]
    total = Column("total", said("table.phases.total"), "number", of=lambda of: sum(of.phases))
    paid = [sum(part.yearly[n] for part in costs.parts if part.name in HARDWARE) for n in years]
    last = [Cell(round(value), tone="total") for value in (*paid, sum(paid))]
    totals = ((Cell(said("table.phases.paid", currency=currency), tone="total"), *last),)
    notes = (said("table.phases.note"),)
    return listed("phases", (*first, *shown, total), found, totals=totals, notes=notes)


def _ordered(year: int, of: Order) -> Cell:
    many = of.phases[year]
    return Cell(many, words=None if many else NOTHING)
