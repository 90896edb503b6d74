"""Results of the cost sheet: total, net present cost and cost of a GPU-hour, with their names in formulas."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from gpuplan.deliver.xlsx.book import Book
from gpuplan.deliver.xlsx.cells import Editable, Live, address, sum_of, tab
from gpuplan.deliver.xlsx.money import Money
from gpuplan.models import cost
from gpuplan.plan import Plan
from gpuplan.wording import number, said


class Row(NamedTuple):
    """A row of the cost sheet: its label, its cells from the start to the last year, their sum, and a note."""

    at: int
    part: str
    cells: Sequence[Any]
    item: str = ""
    note: Any = ""
    kind: str = "money"
    total: Live | None = None
    bold: bool = False

    def held(self) -> tuple[Any, ...]:
        """Its cells from left to right."""
        return (self.part, self.item, *self.cells, self.total, self.note)


def summed(row: Row) -> Row:
    """The row with the sum of all years."""
    values = [cell.value if isinstance(cell, Live | Editable) else cell for cell in row.cells]
    in_all = cost.total_cost(*(value or 0.0 for value in values))
    return row._replace(total=Live(sum_of([row.at], range(2, 2 + len(row.cells))), in_all))


NAMES = {
    "total": "total_cost",
    "net_present": "net_present_cost",
    "gpu_hour_installed": "gpu_hour_installed",
    "gpu_hour_used": "gpu_hour_used",
}
"""Result -> its name in formulas."""


def results(money: Money) -> Iterator[Row]:
    """Total, net present cost and cost of a GPU-hour."""
    found = {
        "total": (Live(address(money.cash_row, 3 + money.last), money.costs.total), "money"),
        "net_present": (_net_present(money), "money"),
        "hours_installed": (_hours(money, "installed", money.costs.gpu_hours), "int"),
        "hours_used": (_hours(money, "used", money.costs.used_gpu_hours), "int"),
        "gpu_hour_installed": (_gpu_hour(money, "installed", money.costs.gpu_hour_installed), "price"),
        "gpu_hour_used": (_gpu_hour(money, "used", money.costs.gpu_hour_used), "price"),
    }
    notes = {"net_present": _span(money.plan), "hours_used": said("sheet.result.hours note")}
    for name, at in money.results.items():
        value, kind = found[name]
        cells = (value, *[None] * money.last)
        yield Row(at, said(f"sheet.result.{name}"), cells, note=notes.get(name, ""), kind=kind)


def name_results(book: Book, money: Money) -> None:
    """Give the results their names."""
    costs = money.costs
    values = (costs.total, costs.net_present, costs.gpu_hour_installed, costs.gpu_hour_used)
    for (result, name), value in zip(NAMES.items(), values, strict=True):
        kind = "price" if "hour" in name else "money"
        book.name(name, money.result_at(result), said(f"sheet.result.{result}"), value, kind=kind)
    start = address(money.cash_row, 2, tab("years"))
    book.name("paid_at_start", start, said("sheet.result.at start"), costs.cash[0], kind="money")


def _later(money: Money, row: int) -> str:
    """Return the present value of a row of later years."""
    return f"NPV(discount_rate,{money.year_at(row, 1)}:{money.year_at(row, money.last)})"


def _net_present(money: Money) -> Live:
    cash = money.cash_row
    return Live(f"{money.year_at(cash, 0)}+{_later(money, cash)}", money.costs.net_present)


def _hours(money: Money, kind: str, given: Sequence[float]) -> Live:
    discounted = cost.net_present_cost([0.0, *given], rate=money.factor("discount_rate"))
    return Live(_later(money, money.driver_row[f"hours_{kind}"]), discounted)


def _gpu_hour(money: Money, kind: str, each: float | None) -> Live:
    paid, hours = (address(money.results[name], 2) for name in ("net_present", f"hours_{kind}"))
    none = said("sheet.none")
    return Live(f'IF({hours}=0,"{none}",{paid}/{hours})', none if each is None else each)


def _span(plan: Plan) -> str:
    """The range of the net present cost as planned."""
    low, high = plan.cost_ranges.net_present if plan.cost_ranges else (0.0, 0.0)
    return said("sheet.result.span", low=number(round(low)), high=number(round(high)))
