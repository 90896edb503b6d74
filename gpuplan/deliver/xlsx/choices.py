"""The sheets of alternatives and cost drivers: the content of the executive page, with the figures of its charts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from gpuplan.deliver.executive import Driver, Executive, Priced
from gpuplan.deliver.xlsx import measure
from gpuplan.deliver.xlsx.blocks import Block, SheetColumn
from gpuplan.deliver.xlsx.book import HEAD, Book
from gpuplan.deliver.xlsx.cells import Live, address, area, cleaned, tab
from gpuplan.deliver.xlsx.money import Money
from gpuplan.plan import Plan
from gpuplan.plan.prices import Price, Unknown
from gpuplan.report.table import NOTHING
from gpuplan.report.tables.alternatives import count_over_years
from gpuplan.wording import said, stated_percent

COLUMNS = ("name", "hosts", "gpus", "planned", "low", "high", "live", "difference", "why")
LOOKS = {
    **dict.fromkeys(("planned", "low", "high", "live"), "money"),
    **dict.fromkeys(("difference",), "change"),
}
DRIVERS = ("label", "low", "high", "at_low", "at_high", "less", "more", "chart")
DRIVER_LOOKS = {"at_low": "money", "at_high": "money", "less": "change", "more": "change"}
LABEL = 30.0
"""Width of an assumption's name in a chart."""
SAME = 0.5
"""Amounts of money that differ by less count as equal."""


class Shown(NamedTuple):
    """Location of a chart's figures: sheet, first and last row."""

    sheet: str
    first: int
    last: int


def alternatives_sheet(book: Book, plan: Plan, summary: Executive, money: Money | None) -> Shown | None:
    """Write the plan and its alternatives priced alike, as planned and with one's own prices; return the rows."""
    if money is None or len(summary.priced) < 2:
        return None
    found = _ordered(summary)
    why = {choice.key: choice.gives_up for choice in summary.choices}
    matrix = HEAD + len(found) + 4
    rows = [
        [_cells(money, priced, why, at, matrix)[column] for column in COLUMNS]
        for at, priced in enumerate(found)
    ]
    currency = money.costs.currency
    columns = [
        SheetColumn(said(f"sheet.alternatives.{name}", currency=currency), LOOKS.get(name, "text"))
        for name in COLUMNS
    ]
    basis = said(
        "sheet.alternatives.basis",
        years=money.costs.years,
        rate=stated_percent(money.costs.discount_rate),
    )
    quantities = _quantities(money, found)
    page = book.topics(
        tab("alternatives"),
        said("sheet.alternatives.note"),
        [Block(said("sheet.alternatives.title"), columns, rows), quantities._replace(notes=(basis,))],
    )
    assert page is not None
    return Shown(tab("alternatives"), HEAD + 2, HEAD + 1 + len(found))


def _ordered(summary: Executive) -> list[Priced]:
    """Return the plan, then the alternatives in the order of the executive page, then the others."""
    order = {choice.key: at for at, choice in enumerate(summary.choices)}
    return sorted(
        summary.priced,
        key=lambda each: (
            not each.alternative.chosen,
            order.get(each.alternative.key, len(order)),
        ),
    )


def _cells(money: Money, priced: Priced, why: dict[str, str], at: int, matrix: int) -> dict[str, Any]:
    """The row of an alternative; its live cost follows one's own prices where the quantities behind it are known."""
    each = priced.alternative
    row = HEAD + 2 + at
    live = address(row, COLUMNS.index("live"))
    return {
        "name": each.short_name,
        "hosts": count_over_years(each.hosts) if each.hosts else NOTHING,
        "gpus": count_over_years(each.gpus) if each.gpus else NOTHING,
        "planned": each.net_present,
        "low": each.low,
        "high": each.high,
        "live": Live(_live(money, priced, at, matrix), each.net_present),
        "difference": None
        if each.chosen
        else Live(f'IF(ISNUMBER({live}),{live}-net_present_cost,"")', each.difference),
        "why": why.get(each.key, each.gives_up),
    }


def _live(money: Money, priced: Priced, at: int, matrix: int) -> str:
    """Return an alternative's cost at the prices in use: a word where other inputs changed, which it ignores."""
    each, quantities = priced
    if each.chosen:
        return "net_present_cost"
    here = address(HEAD + 2 + at, COLUMNS.index("planned"))
    now = money.costs.net_present
    word = said("sheet.alternatives.not comparable")
    if quantities is None:
        return f'IF(ABS(net_present_cost-{now!r})<{SAME},{here},"{word}")'
    cost = here
    if quantities:
        rows = area(matrix + 1, 1 + at, matrix + len(money.prices), 1 + at)
        cost = f"{here}+SUMPRODUCT({money.all_own('change')},{rows})"
    return f'IF(ABS(net_present_cost-own_price_difference-{now!r})<{SAME},{cost},"{word}")'


def _quantities(money: Money, found: Sequence[Priced]) -> Block:
    """The discounted quantity behind each price in each alternative."""
    rows = []
    for at, key in enumerate(money.prices):
        cells: list[Any] = [_item(money, at)]
        for each, quantities in found:
            if each.chosen:
                cells.append(Live(money.weight_at(key), money.discounted(key)))
            else:
                cells.append(quantities.get(key, 0.0) if quantities else None)
        rows.append(cells)
    heads = [SheetColumn(each.short_name, "num") for each, _ in found]
    title = said("sheet.alternatives.quantities")
    return Block(title, [SheetColumn(said("sheet.alternatives.price")), *heads], rows)


def _item(money: Money, at: int) -> str:
    """Return the item that a price is for."""
    priced: tuple[Price | Unknown, ...] = (*money.costs.prices, *money.costs.unknown)
    return priced[at].name


def drivers_sheet(book: Book, plan: Plan, summary: Executive) -> Shown | None:
    """Write each assumption at either end of its range, the strongest cost driver first; return the rows."""
    if plan.costs is None or not summary.drivers:
        return None
    now, currency = plan.costs.net_present, plan.costs.currency
    columns = [
        SheetColumn(said(f"sheet.drivers.{name}", currency=currency), DRIVER_LOOKS.get(name, "text"))
        for name in DRIVERS
    ]
    rows = [[_driver(each, now)[name] for name in DRIVERS] for each in summary.drivers]
    note = said("sheet.drivers.note")
    book.topic(tab("drivers"), note, Block("", columns, rows))
    return Shown(tab("drivers"), HEAD + 1, HEAD + len(rows))


def _driver(each: Driver, now: float) -> dict[str, Any]:
    """Return the row of an assumption: its ends, the cost there, and the differences from the current cost."""
    return {
        "label": each.label,
        "low": each.low,
        "high": each.high,
        "at_low": each.at_low,
        "at_high": each.at_high,
        "less": min(0.0, each.cost_low - now),
        "more": max(0.0, each.cost_high - now),
        "chart": measure.middle_cut(cleaned(each.label), LABEL),
    }
