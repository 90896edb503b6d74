"""The sheet of the bill of materials: its quantities may be changed, its prices are those that are used."""

from __future__ import annotations

from typing import Any

from gpuplan.deliver.xlsx.blocks import column_of
from gpuplan.deliver.xlsx.book import HEAD, Book
from gpuplan.deliver.xlsx.cells import Editable, Live, address, area, tab
from gpuplan.deliver.xlsx.money import Money
from gpuplan.locales import written_day
from gpuplan.models import cost
from gpuplan.plan import Plan
from gpuplan.plan.bill_of_materials import Material
from gpuplan.plan.cash_flow import HARDWARE
from gpuplan.report.tables.cost import PAID
from gpuplan.wording import said


def bill_sheet(book: Book, plan: Plan, money: Money) -> None:
    """The bill of materials: its quantities may be changed."""
    costs = money.costs
    paid = [_paid_cells(money, at, material) for at, material in enumerate(costs.materials)]
    keys = ("quantity", "unit_price", "discount", "cost")
    block = book.block(
        money.bill,
        {key: [cells.get(key) for cells in paid] for key in keys},
        titles=True,
    )
    totals = [_total(money, status) for status in PAID]
    note = said("sheet.bill.note", currency=costs.currency, day=written_day(costs.as_of))
    if costs.excludes:
        note += " " + said("sheet.excludes", names="; ".join(costs.excludes))
    book.topic(tab("bill"), note, block._replace(rows=[*block.rows, *totals], totals=len(totals), notes=()))


def _paid_cells(money: Money, at: int, material: Material) -> dict[str, Any]:
    """The cells of a line of the bill that calculate; as they are where nothing is paid."""
    key = money.keys.get(material.key)
    if not key:
        return {"quantity": material.quantity}
    where, unknown = money.price_at(key), said("sheet.not known")
    quantity, price, discount = (
        address(HEAD + 1 + at, column_of(money.bill, name)) for name in ("quantity", "unit_price", "discount")
    )
    cells: dict[str, Any] = {
        "quantity": Editable(material.quantity),
        "unit_price": Live(
            f'IF({where}="","{unknown}",{where})', material.price.value if material.price else unknown
        ),
        "discount": Live(
            "hardware_discount" if material.part in HARDWARE else "licence_discount", material.discount
        ),
    }
    if material.status in PAID:
        formula = f'IF(ISNUMBER({price}),{quantity}*{price}*(1-{discount}),"")'
        cells["cost"] = Live(formula, "" if material.cost is None else material.cost)
    return cells


def _total(money: Money, status: str) -> list[Any]:
    """A row with the sum of all that is paid at one time."""
    table, materials = money.bill, money.costs.materials
    when, amounts = (
        area(HEAD + 1, at, HEAD + len(materials), at)
        for at in (column_of(table, "status"), column_of(table, "cost"))
    )
    total = cost.total_cost(*(m.cost or 0.0 for m in materials if m.status == status))
    word = PAID[status]
    cells = {
        "part": said("sheet.bill.total", when=word),
        "cost": Live(f'SUMIF({when},"{word}",{amounts})', total),
        "status": word,
    }
    return [cells.get(column.key) for column in table.columns]
