"""The plan as a workbook of Excel: its sheets in order."""

from __future__ import annotations

from gpuplan.plan import Plan
from gpuplan.report.xlsx.book import Book
from gpuplan.report.xlsx.cost_sheets import (
    bill_sheet,
    cost_by_year_sheet,
    factors_sheet,
    internal_sheet,
    prices_sheet,
)
from gpuplan.report.xlsx.money import Money
from gpuplan.report.xlsx.sheets import (
    availability_sheet,
    decisions_sheet,
    demand_sheet,
    groups_sheet,
    hosts_sheet,
    inputs_sheet,
    messages_sheet,
    network_sheet,
    power_sheet,
    sources_sheet,
    summary_sheet,
    trail_sheet,
)


def xlsx_bytes(plan: Plan) -> bytes:
    """The plan as a workbook in the format of Excel; the same plan always gives the same bytes."""
    book = Book(plan)
    money = Money(plan) if plan.costs else None
    summary_sheet(book, plan, money)
    groups_sheet(book, plan, money)
    hosts_sheet(book, plan)
    demand_sheet(book, plan)
    availability_sheet(book, plan)
    network_sheet(book, plan)
    bill_sheet(book, money)
    cost_by_year_sheet(book, plan, money)
    power_sheet(book, plan)
    inputs_sheet(book, plan)
    prices_sheet(book, plan, money)
    factors_sheet(book, money)
    trail_sheet(book, plan)
    sources_sheet(book, plan)
    messages_sheet(book, plan)
    decisions_sheet(book, plan)
    internal_sheet(book, plan)
    return book.content()
