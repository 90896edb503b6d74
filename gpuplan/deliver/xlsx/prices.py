"""The sheets of one's own prices, of the planning prices with their sources, and of the factors of the formulas."""

from __future__ import annotations

from typing import Any

from gpuplan.deliver.xlsx.blocks import Block, SheetColumn, column_of
from gpuplan.deliver.xlsx.book import HEAD, Book
from gpuplan.deliver.xlsx.cells import Editable, Live, address, tab
from gpuplan.deliver.xlsx.money import OWN, Money
from gpuplan.facts import Fact
from gpuplan.plan import Plan
from gpuplan.report.table import Column, listed
from gpuplan.wording import said

LOOKS = {
    **dict.fromkeys(("planned", "low", "high", "own", "used"), "price"),
    "change": "price",
    "cost": "money",
    "difference": "change",
}
"""Columns of amounts on the sheet of own prices, and their formats."""


def own_sheet(book: Book, plan: Plan, money: Money) -> None:
    """Write every price with a cell for the reader's own, which then replaces the planning price."""
    currency = money.costs.currency
    table = money.price_table
    about = [dict(zip((c.key for c in table.columns), row, strict=True)) for row in book.block(table).rows]
    rows = [
        [_own_cells(money, key, fact, known)[column] for column in OWN]
        for (key, fact), known in zip(money.prices.items(), about, strict=True)
    ]
    columns = [
        SheetColumn(said(f"sheet.own.{name}", currency=currency), LOOKS.get(name, "text")) for name in OWN
    ]
    block = Block("", columns, [*rows, _own_totals(money)], totals=1)
    book.topic(tab("own"), said("sheet.own.note", currency=currency), block)
    for key, fact in money.prices.items():
        name, what = money.price_name[key], str(rows[list(money.prices).index(key)][0])
        value = None if fact is None else float(fact.value)
        book.name(
            f"own_{name}",
            money.own_at(key, "own"),
            said("sheet.name.own price", item=what),
            None,
            kind="price",
            editable=True,
        )
        book.name(name, money.price_at(key), said("sheet.name.price", item=what), value, kind="price")
    book.name(
        "own_price_difference",
        money.own_total("difference"),
        said("sheet.name.difference"),
        0.0,
        kind="change",
    )


def _own_cells(money: Money, key: str, fact: Fact | None, known: dict[str, Any]) -> dict[str, Any]:
    """Return the cells of a price: a reader's own price overrides the planning price, with its effect beside it."""
    value = None if fact is None else float(fact.value)
    row = money.price_row[key]
    planned, own, used, change = (
        address(row, OWN.index(name)) for name in ("planned", "own", "used", "change")
    )
    weight, quantity = money.weight_at(key), money.discounted(key)
    return {
        "name": known["name"],
        "per": known["per"],
        "planned": said("sheet.not known") if value is None else Live(money.planned_at(key), value),
        "low": known["low"],
        "high": known["high"],
        "basis": known["basis"],
        "own": Editable(None, "price"),
        "used": Live(
            f'IF({own}="",IF(ISNUMBER({planned}),{planned},""),{own})', "" if value is None else value
        ),
        "change": Live(f'IF({own}="",0,{own}-IF(ISNUMBER({planned}),{planned},0))', 0.0),
        "cost": Live(f'IF({used}="",0,{used}*{weight})', (value or 0.0) * quantity),
        "difference": Live(f"{change}*{weight}", 0.0),
    }


def _own_totals(money: Money) -> list[Any]:
    """Return the totals of all prices: the net present cost, and the difference that the reader's own prices make."""
    first, last = HEAD + 1, HEAD + len(money.prices)
    cells: dict[str, Any] = {"name": said("sheet.own.total")}
    for name, value in (("cost", money.costs.net_present), ("difference", 0.0)):
        at = OWN.index(name)
        cells[name] = Live(f"SUM({address(first, at)}:{address(last, at)})", value)
    return [cells.get(name) for name in OWN]


def prices_sheet(book: Book, plan: Plan, money: Money) -> None:
    """Write the planning prices, with certainty and source."""
    facts = money.prices.values()
    fill = said("sheet.prices.fill in")
    live: dict[str, list[Any]] = {
        "value": [float(fact.value) if fact else said("sheet.not known") for fact in facts],
        "note": [fact.note if fact else fill for fact in facts],
    }
    block = book.block(money.price_table, live, titles=True)
    book.topic(tab("prices"), said("sheet.prices.note", currency=money.costs.currency), block)


def factors_sheet(book: Book, plan: Plan, money: Money) -> None:
    """Write the factors of the formulas beside prices and quantities."""
    table = listed(
        "factors",
        (
            Column("label", said("sheet.factors.label")),
            Column("value", said("sheet.factors.value"), "number"),
            Column("unit", said("sheet.unit"), of=lambda factor: "" if factor.unit == "1" else factor.unit),
            Column("name", said("sheet.factors.name")),
            Column("basis", said("sheet.factors.basis"), "basis"),
            Column("sources", said("sheet.factors.sources"), "sources"),
            Column("note", said("sheet.note")),
        ),
        money.factors,
        title=tab("factors"),
    )
    cells = [factor.cell for factor in money.factors]
    block = book.block(table, {"value": cells}, titles=True)
    book.topic(tab("factors"), said("sheet.factors.says"), block)
    at = column_of(table, "value")
    for row, factor in enumerate(money.factors, start=HEAD + 1):
        editable = isinstance(factor.cell, Editable)
        kind = factor.cell.kind if isinstance(factor.cell, Editable) else "num"
        book.name(
            factor.name,
            address(row, at, tab("factors")),
            factor.label,
            factor.value,
            kind=kind,
            editable=editable,
        )
