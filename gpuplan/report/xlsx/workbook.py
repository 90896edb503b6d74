"""The plan as a workbook of Excel: its sheets in order."""

from __future__ import annotations

from collections.abc import Callable

from gpuplan.plan import Plan
from gpuplan.report.xlsx.book import Book
from gpuplan.report.xlsx.cost_sheets import (
    bill_sheet,
    cost_by_year_sheet,
    factors_sheet,
    internal_sheet,
    prices_sheet,
)
from gpuplan.report.xlsx.money import BILL, YEARS, Money
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

    def live(name: str, sheet: Callable[[Book, Plan, Money], None]) -> None:
        """A sheet that calculates, empty where nothing is bought."""
        sheet(book, plan, money) if money else book.topics(name, "", [])

    summary_sheet(book, plan, money)
    groups_sheet(book, plan, money)
    hosts_sheet(book, plan)
    demand_sheet(book, plan)
    availability_sheet(book, plan)
    network_sheet(book, plan)
    live(BILL, bill_sheet)
    live(YEARS, cost_by_year_sheet)
    power_sheet(book, plan)
    inputs_sheet(book, plan)
    live("Prices", prices_sheet)
    live("Factors", factors_sheet)
    trail_sheet(book, plan)
    sources_sheet(book, plan)
    messages_sheet(book, plan)
    decisions_sheet(book, plan)
    internal_sheet(book, plan)
    return book.content()
