"""The sheets of one's own prices, of the planning prices with their sources, of the factors and of the bill of materials."""

from collections.abc import Sequence
from typing import Any

from gpuplan.deliver.xlsx.book import HEAD, Book, at_column, column_of, worded
from gpuplan.deliver.xlsx.cells import TABS, Editable, Live, address, area
from gpuplan.deliver.xlsx.money import Money
from gpuplan.models import cost
from gpuplan.plan.bill_of_materials import Material
from gpuplan.plan.cash_flow import HARDWARE
from gpuplan.report.table import tabulate
from gpuplan.report.tables.cost import PAID
from gpuplan.report.tables.orders import orders, paid_orders, phases
from gpuplan.wording import said


def own_sheet(book: Book, money: Money) -> None:
    """Write every price with a cell for the reader's own, which then replaces the planning price."""
    currency, table = money.costs.currency, money.price_table
    about = [dict(zip((c.key for c in table.columns), row, strict=True)) for row in book.block(table).rows]
    rows = [_own_cells(money, key, shown) for key, shown in zip(money.prices, about, strict=True)]
    block = worded("own_prices", [*rows, _own_totals(money)], currency)
    note = said("sheet.own.note", currency=currency)
    if money.follows:
        note = f"{note} {said('sheet.own.terms note')}"
    book.topic(TABS["own"], note, block._replace(totals=1))
    for key, row in zip(money.prices, rows, strict=True):
        name, label = money.price_name[key], said("sheet.name.own price", item=row["name"])
        book.name(f"own_{name}", money.own_at(key, "own"), label, None, kind="price", editable=True)
        what, value = said("sheet.name.price", item=row["name"]), money.planned(key)
        book.name(name, money.price_at(key), what, value, kind="price")
    change, at = said("sheet.name.difference"), at_column("own_prices", "difference")
    total = address(HEAD + 1 + len(money.prices), at, TABS["own"])
    book.name("own_price_difference", total, change, 0.0, kind="change")


def _own_cells(money: Money, key: str, known: dict[str, Any]) -> dict[str, Any]:
    """Return the cells of a price, which the reader's own replaces, or for a subscription another term's."""
    value, row = money.planned(key), money.price_row[key]
    planned, own, used, change = (
        address(row, at_column("own_prices", name)) for name in ("planned", "own", "used", "change")
    )
    weight, quantity = money.weight_at(key), money.discounted(key)
    listed_at = address(row, column_of(money.price_table, "value"), TABS["prices"])
    otherwise = f'IF(ISNUMBER({planned}),{planned},"")'
    if key in money.follows:
        term, ratio = money.follows[key]
        other = address(money.price_row[term], at_column("own_prices", "own"))
        otherwise = f'IF({other}="",{otherwise},{other}*{ratio!r})'
    return known | {
        "planned": said("sheet.not known") if value is None else Live(listed_at, value),
        "own": Editable(None, "price"),
        "used": Live(f'IF({own}="",{otherwise},{own})', "" if value is None else value),
        "change": Live(f'IF({used}="",0,{used})-IF(ISNUMBER({planned}),{planned},0)', 0.0),
        "cost": Live(f'IF({used}="",0,{used}*{weight})', (value or 0.0) * quantity),
        "difference": Live(f"{change}*{weight}", 0.0),
    }


def _own_totals(money: Money) -> dict[str, Any]:
    first, last = HEAD + 1, HEAD + len(money.prices)
    cells: dict[str, Any] = {"name": said("sheet.own.total")}
    for name, value in (("cost", money.costs.net_present), ("difference", 0.0)):
        at = at_column("own_prices", name)
        cells[name] = Live(f"SUM({area(first, at, last, at)})", value)
    return cells


def prices_sheet(book: Book, money: Money) -> None:
    """Write the planning prices, with certainty and source."""
    unknown, fill = said("sheet.not known"), said("sheet.prices.fill in")
    live: dict[str, list[Any]] = {
        "value": [float(fact.value) if fact else unknown for fact in money.prices.values()],
        "note": [fact.note if fact else fill for fact in money.prices.values()],
    }
    block = book.block(money.price_table, live, titles=True)
    book.topic(TABS["prices"], said("sheet.prices.note", currency=money.costs.currency), block)


def factors_sheet(book: Book, money: Money) -> None:
    """Write the factors of the formulas beside prices and quantities."""
    table = tabulate("factors", money.factors, title=TABS["factors"])
    cells = [factor.cell for factor in money.factors]
    book.topic(TABS["factors"], said("sheet.factors.says"), book.block(table, {"value": cells}, titles=True))
    for row, factor in enumerate(money.factors, start=HEAD + 1):
        where, cell = address(row, column_of(table, "value"), TABS["factors"]), factor.cell
        kind, editable = (cell.kind, True) if isinstance(cell, Editable) else ("num", False)
        book.name(factor.name, where, factor.label, factor.value, kind=kind, editable=editable)


def bill_sheet(book: Book, money: Money) -> None:
    """The bill of materials: its quantities may be changed."""
    costs = money.costs
    paid = [_paid_cells(money, at, material) for at, material in enumerate(costs.materials)]
    live = {key: [cells.get(key) for cells in paid] for key in ("quantity", "unit_price", "discount", "cost")}
    block, totals = book.block(money.bill, live, titles=True), [_total(money, status) for status in PAID]
    priced = block._replace(rows=[*block.rows, *totals], totals=len(totals), notes=())
    book.topic(TABS["bill"], money.note("sheet.bill.note"), priced)


def _paid_cells(money: Money, at: int, material: Material) -> dict[str, Any]:
    """The cells of a line of the bill that calculate; as they are where nothing is paid."""
    key = money.keys.get(material.key)
    if not key:
        return {"quantity": material.quantity}
    where, unknown = money.price_at(key), said("sheet.not known")
    quantity, price, discount = (
        address(HEAD + 1 + at, column_of(money.bill, name)) for name in ("quantity", "unit_price", "discount")
    )
    discounted = "hardware_discount" if material.part in HARDWARE else "licence_discount"
    planned = material.price.value if material.price else unknown
    used, off = Live(f'IF({where}="","{unknown}",{where})', planned), Live(discounted, material.discount)
    cells: dict[str, Any] = {"quantity": Editable(material.quantity), "unit_price": used, "discount": off}
    if material.status in PAID:
        formula = f'IF(ISNUMBER({price}),{quantity}*{price}*(1-{discount}),"")'
        cells["cost"] = Live(formula, "" if material.cost is None else material.cost)
    return cells


def _total(money: Money, status: str) -> list[Any]:
    table, materials = money.bill, money.costs.materials
    when, amounts = (
        area(HEAD + 1, at, HEAD + len(materials), at)
        for at in (column_of(table, "status"), column_of(table, "cost"))
    )
    total = cost.total_cost(*(m.cost or 0.0 for m in materials if m.status == status))
    word = PAID[status]
    paid = Live(f'SUMIF({when},"{word}",{amounts})', total)
    cells = {"part": said("sheet.bill.total", when=word), "cost": paid, "status": word}
    return [cells.get(column.key) for column in table.columns]


def orders_sheet(book: Book, money: Money) -> None:
    """What an order states of each item, and how many are ordered when: quantities are those of the sheets where they may be changed."""
    plan, years = money.plan, range(money.last)
    at = {material.key: n for n, material in enumerate(money.costs.materials)}
    units = {money.items[n].material: row for n, row in money.unit_row.items()}
    live: dict[str, list[Any]] = {f"year_{year + 1}": [] for year in years} | {"total": []}
    for order in paid_orders(plan):
        n = at[order.material.key]
        cells = [money.bill_at(n, "quantity"), *(_later_units(units.get(n), year) for year in years[1:])]
        values = zip(cells, order.phases, strict=True)
        for year, (cell, value) in enumerate(values, start=1):
            live[f"year_{year}"].append(Live(cell, value) if cell else value)
        live["total"].append(Live("+".join(filter(None, cells)), sum(order.phases)))
    for year in years:
        live[f"year_{year + 1}"].append(_hardware_paid(money, [year]))
    live["total"].append(_hardware_paid(money, years))
    blocks = [book.block(orders(plan), {"quantity": live["year_1"][:-1]})]
    if (grown := phases(plan)).rows:
        blocks.append(book.block(grown, live))
    book.topics(TABS["orders"], said("sheet.orders.note"), blocks)


def _hardware_paid(money: Money, years: Sequence[int]) -> Live:
    """What is paid for hardware at the start of these years, from 0."""
    parts = {name: money.part_row[name] for name in HARDWARE if name in money.part_row}
    cells = [address(row, 2 + year, TABS["years"]) for row in parts.values() for year in years]
    paid = sum(money.part_cost(name)[year] for name in parts for year in years)
    return Live("+".join(cells) or "0", paid, "money")


def _later_units(row: int | None, year: int) -> str:
    return "" if row is None else address(row, 2 + year, TABS["years"])
