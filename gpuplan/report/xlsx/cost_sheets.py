"""The sheets that calculate again when a price, a discount or a quantity is changed.

Cost formulas refer to the sheets Bill of materials, Prices and Factors; each carries the value of the plan, so that it shows
without calculation. Hosts, placement and power come from the plan and do not change with the workbook.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from gpuplan.locales import written_day
from gpuplan.models import cost
from gpuplan.models.availability import HOURS_PER_YEAR
from gpuplan.plan import Plan
from gpuplan.plan.bill_of_materials import Material
from gpuplan.plan.cash_flow import HARDWARE
from gpuplan.plan.power import racks_at_sites
from gpuplan.report.table import Column, Table, listed
from gpuplan.report.tables.cost import INTERNAL, PAID, cost_by_year, growth_words, margin
from gpuplan.report.xlsx.book import HEAD, Book, Editable, Live, SheetColumn, address, column_of, sum_of
from gpuplan.report.xlsx.money import BILL, RUNNING, YEARS, Money
from gpuplan.wording import number, stated_percent


def bill_sheet(book: Book, plan: Plan, money: Money) -> None:
    """The bill of materials: its quantities may be changed."""
    costs = money.costs
    paid = [_paid_cells(money, at, material) for at, material in enumerate(costs.materials)]
    keys = ("quantity", "unit_price", "known", "discount", "cost")
    block = book.block(money.bill, {key: [cells.get(key) for cells in paid] for key in keys})
    totals = [_total(money, status) for status in PAID]
    note = f"On the day of the installation, in {costs.currency} of {written_day(costs.as_of)}. Tinted cells may be changed."
    if costs.excludes:
        note += f" As planned, the totals exclude: {'; '.join(costs.excludes)}."
    book.topic(BILL, note, block._replace(rows=[*block.rows, *totals], totals=len(totals), notes=()))


def _paid_cells(money: Money, at: int, material: Material) -> dict[str, Any]:
    """The cells of a line of the bill that calculate; as they are where nothing is paid."""
    key = money.keys.get(material.key)
    if not key:
        return {"quantity": material.quantity}
    where = money.price_at(key)
    quantity, price, discount = (
        address(HEAD + 1 + at, column_of(money.bill, name)) for name in ("quantity", "unit_price", "discount")
    )
    cells: dict[str, Any] = {
        "quantity": Editable(material.quantity),
        "unit_price": Live(f'IF({where}="","",{where})', material.price.value if material.price else ""),
        "known": Live(f'IF({where}="","not known","yes")', "yes" if material.price else "not known"),
        "discount": Live(
            "hardware_discount" if material.part in HARDWARE else "licence_discount", material.discount
        ),
    }
    if material.status in PAID:
        formula = f'IF({price}="","",{quantity}*{price}*(1-{discount}))'
        cells["cost"] = Live(formula, "" if material.cost is None else material.cost)
    return cells


def _total(money: Money, status: str) -> list[Any]:
    """A row with the sum of all that is paid at one time."""
    table, materials = money.bill, money.costs.materials
    when, amounts = (
        f"{address(HEAD + 1, at)}:{address(HEAD + len(materials), at)}"
        for at in (column_of(table, "status"), column_of(table, "cost"))
    )
    total = cost.total_cost(*(m.cost or 0.0 for m in materials if m.status == status))
    word = PAID[status]
    cells = {
        "part": f"Total {word}",
        "cost": Live(f'SUMIF({when},"{word}",{amounts})', total),
        "status": word,
    }
    return [cells.get(column.key) for column in table.columns]


class Row(NamedTuple):
    """A row of the sheet of costs: what it is, its cells from the start to the last year, and what is said of it."""

    at: int
    part: str
    cells: Sequence[Any]
    unit: str
    item: str = ""
    note: Any = ""
    kind: str = "money"
    summed: bool = True
    bold: bool = False


def cost_by_year_sheet(book: Book, plan: Plan, money: Money) -> None:
    """The cost of each part and item in each year, as formulas."""
    costs, last = money.costs, money.last
    note = f"In {costs.currency} of {written_day(costs.as_of)}. Running costs are paid at the end of their year; what a year takes is bought at its start, in the column of the year before."
    if costs.excludes:
        note += f" As planned, it excludes: {'; '.join(costs.excludes)}."
    sheet = book.sheet(YEARS, f"{note} {growth_words(costs)}".rstrip())
    table = cost_by_year(plan)
    part, *when = (column.label for column in table.columns[: last + 3])
    more = book.block(table.without(*(column.key for column in table.columns[1 : last + 3]), "basis"))
    heads = (part, "Item", *when, "Unit", "Note", *(column.head for column in more.columns[1:]))
    widths = (34, 44, *(13,) * (last + 2), 9, 80, *(column.width for column in more.columns[1:]))
    for col, (head, width) in enumerate(zip(heads, widths, strict=True)):
        book.put(sheet, HEAD, col, head, "head")
        sheet.set_column(col, col, width)
    for at, title in money.sections.items():
        book.put(sheet, at, 0, title, "section")
    if money.unit_row:
        anew = "Start: the bill of materials. Later: by the hosts that the placement of the grown design takes in the year after."
        book.put(sheet, min(money.unit_row.values()) - 1, 5 + last, anew)
    beside = {name: cells for name, *cells in reversed(more.rows)}  # GPUs as a part, not as the count below
    for row in (*_parts(money), *_items(money), *_units(money), *_drivers(money)):
        _write(book, sheet, row, last)
        for col, value in enumerate(beside.pop(row.part, ()), start=6 + last):
            book.put(sheet, row.at, col, value, more.columns[col - 5 - last].kind)
    _results(book, sheet, money)
    sheet.freeze_panes(HEAD + 1, 2)
    sheet.repeat_rows(HEAD)


def _write(book: Book, sheet: Any, row: Row, last: int) -> None:
    values = [cell.value if isinstance(cell, Live | Editable) else cell for cell in row.cells]
    in_all = cost.total_cost(*(value or 0.0 for value in values)) if row.summed else None
    total = Live(sum_of([row.at], range(2, 3 + last)), in_all) if row.summed else None
    for col, value in enumerate((row.part, row.item, *row.cells, total, row.unit, row.note)):
        book.put(sheet, row.at, col, value, row.kind if 2 <= col <= 3 + last else "text", row.bold)


def _parts(money: Money) -> Iterator[Row]:
    """What each part costs, all of them, and all of them until then."""
    costs, years = money.costs, range(money.last + 1)
    for name in money.parts:
        yearly = money.part_cost(name)
        cells = [Live(_part_formula(money, name, year), yearly[year]) for year in years]
        missing = money.missing(RUNNING[name]) if name in RUNNING else ""
        yield Row(money.part_row[name], name, cells, costs.currency, note=missing)
    parts = [money.part_row[name] for name in money.parts]
    cash = [Live(sum_of(parts, [2 + year]), costs.cash[year]) for year in years]
    yield Row(money.cash_row, "All parts", cash, costs.currency, bold=True)
    added = [
        Live(sum_of([money.cash_row], range(2, 3 + year)), cost.total_cost(*costs.cash[: year + 1]))
        for year in years
    ]
    yield Row(money.cash_row + 1, "Added up", added, costs.currency, summed=False)


def _part_formula(money: Money, name: str, year: int) -> str:
    """What is paid for a part in a year."""
    here = [at for at, item in zip(money.item_row, money.items, strict=True) if item.part == name]
    hardware = [money.part_row[part] for part in HARDWARE if part in money.part_row]
    if name == "Value left":
        worth = f"-residual_share*{sum_of(hardware, range(2, 3 + money.last))}"
        return worth if year == money.last else "0"
    if here:
        return sum_of(here, [2 + year])
    if name == "Hardware support":
        return _support_formula(hardware, year, money.last)
    if not year:
        return "0"
    return {
        "Power": f"{money.driver_at('kwh', year)}*{money.price_at(RUNNING['Power'])}",
        "Cooling": f"{money.year_at(money.part_row['Power'], year)}*(power_usage_effectiveness-1)",
        "Space": f"{money.driver_at('racks', year)}*{money.price_at(RUNNING['Space'])}",
        "Administration": f"({money.driver_at('hosts', year)}{_managing(money, 'hosts')})*{money.price_at(RUNNING['Administration'])}",
    }[name]


def _managing(money: Money, what: str) -> str:
    """Hosts of the management domain, or their watts, added where some are bought."""
    return f"+management_{what}" * bool(money.counts.management_hosts)


def _support_formula(hardware: Sequence[int], year: int, last: int) -> str:
    """Support of what is no longer under warranty, paid for the year after."""
    if year == last:
        return "0"
    due = [f"IF({year - lot}>=warranty_years,{sum_of(hardware, [2 + lot])},0)" for lot in range(year + 1)]
    return f"support_share*({'+'.join(due)})"


def _items(money: Money) -> Iterator[Row]:
    """What each item costs."""
    for at, item in zip(money.item_row, money.items, strict=True):
        price, rule = money.price_at(item.price), money.bill_at(item.material, "rule")
        each = f"{price}*(1-{money.bill_at(item.material, 'discount')})" + f"*{item.times}" * (item.times > 1)
        units = money.unit_row[item.units]
        cells = [
            Live(
                f"{each}{_later(item.part, year)}*{sum_of([units], [2 + lot for lot in lots])}"
                if lots
                else "0",
                money.item_cost(item, year),
            )
            for year, lots in enumerate(item.paid)
        ]
        missing = money.missing(item.price)
        words = "; ".join(filter(None, (missing.value, money.costs.materials[item.material].rule)))
        why = Live(f'{missing.formula}&IF({price}="","; ","")&{rule}', words)
        yield Row(at, item.part, cells, money.costs.currency, item.name, why)


def _later(part: str, year: int) -> str:
    """What hardware of a later year costs more or less by."""
    return f"*(1+hardware_price_change)^{year}" if year and part in HARDWARE else ""


def _units(money: Money) -> Iterator[Row]:
    """How many of each item are bought or licensed anew."""
    for n, at in money.unit_row.items():
        item = money.items[n]
        unit = money.costs.materials[item.material].unit
        start = Live(money.bill_at(item.material, "quantity"), item.lots[0])
        cells = (start, *map(Editable, item.lots[1:]), None)
        yield Row(at, item.part, cells, "" if unit == "1" else unit, item.name, kind="num")


def _results(book: Book, sheet: Any, money: Money) -> None:
    """Total, net present cost and cost of a GPU-hour."""
    costs, last, cash = money.costs, money.last, money.cash_row
    here = {name: address(at, 2) for name, at in money.results.items()}

    def later(row: int) -> str:
        return f"NPV(discount_rate,{money.year_at(row, 1)}:{money.year_at(row, last)})"

    def hours(kind: str, given: Sequence[float]) -> tuple[str, Live, str, str]:
        discounted = cost.net_present_cost([0.0, *given], rate=money.factor("discount_rate"))
        live = Live(later(money.driver_row[f"hours_{kind}"]), discounted)
        return f"GPU-hours {kind}, discounted", live, "GPU-hour", "int"

    def gpu_hour(kind: str, each: float | None) -> tuple[str, Live, str, str]:
        formula = f'IF({here[f"hours_{kind}"]}=0,"none",{here["net_present"]}/{here[f"hours_{kind}"]})'
        return (
            f"Cost of a GPU-hour {kind}",
            Live(formula, "none" if each is None else each),
            costs.currency,
            "price",
        )

    found = {
        "total": ("Total paid", Live(address(cash, 3 + last), costs.total), costs.currency, "money"),
        "net_present": (
            "Net present cost",
            Live(f"{money.year_at(cash, 0)}+{later(cash)}", costs.net_present),
            costs.currency,
            "money",
        ),
        "hours_installed": hours("installed", costs.gpu_hours),
        "hours_used": hours("used", costs.used_gpu_hours),
        "gpu_hour_installed": gpu_hour("installed", costs.gpu_hour_installed),
        "gpu_hour_used": gpu_hour("used", costs.gpu_hour_used),
    }
    notes = {
        "net_present": f"the start, and each year discounted from its end; {_span(money.plan)}",
        "hours_used": "hours of later years are discounted like the money",
        "total": f"as planned, excludes: {'; '.join(costs.excludes)}" if costs.excludes else "",
    }
    for name, at in money.results.items():
        label, value, unit, kind = found[name]
        book.put(sheet, at, 0, label, bold=True)
        book.put(sheet, at, 2, value, kind, bold=True)
        book.put(sheet, at, 4 + last, unit)
        book.put(sheet, at, 5 + last, notes.get(name, ""))
    names = {"total": "total_cost", "net_present": "net_present_cost"}
    for name in ("total", "net_present", "gpu_hour_installed", "gpu_hour_used"):
        book.name(names.get(name, name), money.result_at(name))


def _span(plan: Plan) -> str:
    """The range of the net present cost as planned."""
    low, high = plan.cost_ranges.net_present if plan.cost_ranges else (0.0, 0.0)
    return f"as planned, {number(round(low))} to {number(round(high))} by the ranges of prices and factors"


def _drivers(money: Money) -> Iterator[Row]:
    """Hosts, GPUs, their use, energy and racks of each year."""
    costs, use, at = money.costs, money.power, money.driver_at
    years = range(1, money.last + 1)
    unit_rows = {costs.materials[money.items[n].material].key: row for n, row in money.unit_row.items()}
    stated = money.plan.scenario.cost.utilisation is not None
    used = [hours / HOURS_PER_YEAR for hours in costs.used_gpu_hours]

    def held(key: str, year: int) -> str:
        return sum_of([unit_rows[key]] if key in unit_rows else [], range(2, 2 + year))

    def row(
        name: str, label: str, cells: Sequence[Any], unit: str = "", note: str = "", kind: str = "int"
    ) -> Row:
        return Row(money.driver_row[name], label, cells, unit, note=note, kind=kind, summed=False)

    def by_year(formula: Callable[[int], str], values: Sequence[Any]) -> list[Any]:
        return [None, *(Live(formula(year), value) for year, value in zip(years, values, strict=True))]

    def load(year: int) -> str:
        gpus = at("gpus", year)
        return "stated_utilisation" if stated else f"IF({gpus}=0,0,MIN(1,{at('busy', year)}/{gpus}))"

    def kwh(year: int) -> str:
        hosts_w = f"(hosts_peak_w+({at('hosts', year)}-planned_hosts)*host_peak_w)"
        host_w = f"{hosts_w}*(idle_share+(1-idle_share)*{at('load', year)})"
        return f"({host_w}{_managing(money, 'w')}+{held('leaf', year)}*leaf_w+{held('spine', year)}*spine_w)*hours_per_year/1000"

    grown = "grows with the hosts bought; when the design grows, by its placement" * (
        len(set(costs.hosts)) > 1
    )
    left_out = f"without {', '.join(use.unknown_power)}" if use.unknown_power else ""
    left_out += ", unless filled in on Factors" * bool(left_out and money.unknown_w)
    hosts = by_year(lambda y: f"existing_hosts+{held('servers', y)}", costs.hosts)
    gpus = by_year(lambda y: f"existing_gpus+{held('gpus', y)}*gpus_per_board", costs.gpus)
    shares = [busy / gpus for busy, gpus in zip(used, costs.gpus, strict=True)]
    fabric, beside, each = money.counts.fabric, money.counts.management_hosts, use.hosts_per_rack
    racks = [racks_at_sites(fabric, hosts, beside, each) if each else 0 for hosts in costs.hosts]
    busy = "as stated" if stated else "by the groups, at most all GPUs"
    yield row("hosts", "Hosts", hosts, "host", grown)
    yield row("gpus", "GPUs", gpus, "GPU", grown)
    yield row("busy", "GPUs used on average", [None, *used], "GPU", busy, "num")
    yield row("load", "Share of the GPU-hours used", by_year(load, shares), kind="percent")
    yield row(
        "kwh", "Energy of hosts and switches", by_year(kwh, list(map(money.kwh, years))), "kWh", left_out
    )
    managing = _managing(money, "hosts")
    taken = by_year(
        lambda y: f"IF(hosts_per_rack=0,0,ROUNDUP(({at('hosts', y)}{managing})/hosts_per_rack,0))", racks
    )
    apart = len(fabric.site_hosts) > 1
    yield row("racks", "Racks", [None, *racks] if apart else taken, note="each site has its own" * apart)
    installed = by_year(lambda y: f"{at('gpus', y)}*hours_per_year", costs.gpu_hours)
    yield row("hours_installed", "GPU-hours installed", installed, "GPU-hour")
    in_use = by_year(lambda y: f"{at('gpus', y)}*hours_per_year*{at('load', y)}", costs.used_gpu_hours)
    yield row("hours_used", "GPU-hours used", in_use, "GPU-hour")


def prices_sheet(book: Book, plan: Plan, money: Money) -> None:
    """Every price that counts: each may be changed."""
    table, facts = money.price_table, money.prices.values()
    fill = "fill in the price: the cost counts it at once"
    live: dict[str, list[Any]] = {
        "value": [Editable(float(fact.value) if fact else None) for fact in facts],
        "note": [fact.note if fact else fill for fact in facts],
    }
    block = book.block(table, live)
    at = column_of(table, "value")
    known = [
        Live(f'IF({address(row, at)}="","not known","yes")', "yes" if fact else "not known")
        for row, fact in enumerate(facts, start=HEAD + 1)
    ]
    block = block._replace(
        columns=[*block.columns, SheetColumn("Known", 11)],
        rows=[[*row, word] for row, word in zip(block.rows, known, strict=True)],
    )
    note = f"In {money.costs.currency}, before any discount. Tinted cells may be changed: costs follow."
    book.topic("Prices", note, block)
    named = {f"gpus/{plan.scenario.hardware.gpu}": "gpu_price", "electricity-kwh": "electricity_price"}
    for key, name in named.items():
        if key in money.prices:
            book.name(name, money.price_at(key))


def factors_sheet(book: Book, plan: Plan, money: Money) -> None:
    """What the formulas calculate with beside prices and quantities."""
    table = listed(
        "factors",
        "Factors",
        (
            Column("name", "Name in formulas"),
            Column("label", "What"),
            Column("value", "Value", "number"),
            Column("unit", "Unit", of=lambda factor: "" if factor.unit == "1" else factor.unit),
            Column("basis", "Basis", "basis"),
            Column("sources", "Source", "sources"),
            Column("note", "Note"),
        ),
        money.factors,
    )
    note = "Tinted cells may be changed; a share of 0.1 is 10 per cent. The others follow from the design and stay as planned."
    book.topic("Factors", note, book.block(table, {"value": [factor.cell for factor in money.factors]}))
    for at, factor in enumerate(money.factors, start=HEAD + 1):
        book.name(factor.name, address(at, 2, "Factors"))


def internal_sheet(book: Book, plan: Plan) -> None:
    """What the customer's version does not have: no sheet where nothing is internal."""
    held, table = plan.scenario.internal, margin(plan)
    notes = tuple((line,) for line in (held.notes or "").split("\n") if line.strip())
    blocks = [book.block(Table("notes", "Notes", (Column("note", "Note"),), notes))]
    if table is not None:
        title = f"Margin of {stated_percent(held.margin or 0)}, over all years"
        blocks.append(book.block(table)._replace(title=title))
    if any(block.rows for block in blocks):
        book.topics("Internal", "This sheet is left out of the version for the customer.", blocks, INTERNAL)
