"""The plan as a workbook of Excel: its sheets in order."""

from __future__ import annotations

from collections.abc import Callable

from gpuplan.analysis.compare import Comparison
from gpuplan.locales import spoken
from gpuplan.plan import Plan
from gpuplan.report.xlsx import cost_sheets, sheets
from gpuplan.report.xlsx.book import Book
from gpuplan.report.xlsx.money import BILL, YEARS, Money


@spoken
def xlsx_bytes(plan: Plan, compared: Comparison | None = None) -> bytes:
    """The plan, and what it is compared with, as a workbook in the format of Excel; the same plan always gives the same bytes."""
    book = Book(plan)
    money = Money(plan) if plan.costs else None

    def live(name: str, sheet: Callable[[Book, Plan, Money], None]) -> None:
        """A sheet that calculates, empty where nothing is bought."""
        sheet(book, plan, money) if money else book.topics(name, "", [])

    sheets.summary_sheet(book, plan, money)
    sheets.groups_sheet(book, plan, money)
    sheets.hosts_sheet(book, plan)
    sheets.plain_sheet(book, plan, "Power-on")
    sheets.demand_sheet(book, plan)
    sheets.plain_sheet(book, plan, "Availability")
    sheets.network_sheet(book, plan)
    sheets.plain_sheet(book, plan, "Platform")
    live(BILL, cost_sheets.bill_sheet)
    live(YEARS, cost_sheets.cost_by_year_sheet)
    sheets.plain_sheet(book, plan, "Alternatives")
    if compared is not None:
        sheets.compared_sheet(book, compared, plan.catalog)
    sheets.power_sheet(book, plan)
    sheets.inputs_sheet(book, plan)
    live("Prices", cost_sheets.prices_sheet)
    live("Factors", cost_sheets.factors_sheet)
    for name in ("Trail", "Sources", "Messages", "Decisions"):
        sheets.plain_sheet(book, plan, name)
    cost_sheets.internal_sheet(book, plan)
    return book.content()
