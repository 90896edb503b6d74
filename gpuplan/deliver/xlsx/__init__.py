"""The plan as a workbook of Excel: sheets for each topic, and a cost that calculates again when a price or a quantity is changed."""

from gpuplan.analysis.compare import Comparison
from gpuplan.deliver.brand import PLAIN, Brand
from gpuplan.deliver.executive import Executive
from gpuplan.deliver.xlsx import choices, limits, overview, prices, sheets, years
from gpuplan.deliver.xlsx.book import Book
from gpuplan.deliver.xlsx.money import Money, name_results
from gpuplan.locales import spoken
from gpuplan.plan import Plan

__all__ = ["xlsx_bytes"]


@spoken
def xlsx_bytes(
    plan: Plan, summary: Executive, compared: Comparison | None = None, *, brand: Brand = PLAIN
) -> bytes:
    """The plan, what an executive decides on, and what it is compared with, as a workbook in the format of Excel; the same plan always gives the same bytes."""
    book = Book(plan, brand)
    money = Money(plan) if plan.costs else None
    first = overview.overview_page(book)
    if money is not None:
        prices.own_sheet(book, money)
        prices.bill_sheet(book, money)
        prices.orders_sheet(book, money)
        years.cost_by_year_sheet(book, plan, money)
        name_results(book, money)
        prices.factors_sheet(book, money)
    alternatives = choices.alternatives_sheet(book, summary, money)
    sheets.plain_sheet(book, plan, "purchases")
    limits.limits_sheet(book, plan)
    if summary.boards:
        sheets.boards_sheet(book, summary.boards)
    if summary.solution:
        limits.solution_sheet(book, summary.solution)
    drivers = choices.drivers_sheet(book, plan, summary)
    if compared is not None:
        sheets.compared_sheet(book, compared, plan.catalog)
    sheets.decisions_sheet(book, plan, summary)
    sheets.groups_sheet(book, plan, money)
    sheets.demand_sheet(book, plan)
    sheets.hosts_sheet(book, plan)
    sheets.plain_sheet(book, plan, "power-on")
    failures = sheets.availability_sheet(book, plan)
    sheets.network_sheet(book, plan)
    sheets.plain_sheet(book, plan, "platform")
    sheets.power_sheet(book, plan)
    sheets.site_sheet(book, plan)
    sheets.inputs_sheet(book, plan)
    if money is not None:
        prices.prices_sheet(book, money)
    for name in ("messages", "trail", "sources"):
        sheets.plain_sheet(book, plan, name)
    overview.Overview(book, first, plan, summary, money).fill(alternatives, drivers, failures)
    sheets.names_sheet(book)
    sheets.internal_sheet(book, plan)
    return book.content()
