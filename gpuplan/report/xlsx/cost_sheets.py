"""The sheets that calculate again when a price, a discount or a quantity is changed.

Cost formulas refer to the sheets Bill of materials, Prices and Factors; each carries the value of the plan, so that it shows
without calculation. Hosts, placement and power come from the plan and do not change with the workbook.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gpuplan.models import cost
from gpuplan.models.availability import HOURS_PER_YEAR
from gpuplan.plan import Plan
from gpuplan.plan.bill_of_materials import Material
from gpuplan.plan.cost import HARDWARE
from gpuplan.report.table import Column, Table
from gpuplan.report.tables.cost import INTERNAL, PAID, cost_by_year, margin
from gpuplan.report.xlsx.book import HEAD, Book, Editable, Live, SheetColumn, address, column_of, sum_of
from gpuplan.report.xlsx.money import BILL, RUNNING, YEARS, Money
from gpuplan.wording import stated_percent


def bill_sheet(book: Book, money: Money | None) -> None:
    """The bill of materials: its quantities may be changed."""
    if money is None:
        book.topics(BILL, "", [])
        return
    costs, table = money.costs, money.bill
    live: dict[str, list[Any]] = {key: [] for key in ("quantity", "unit_price", "known", "discount", "cost")}
    for at, material in enumerate(costs.materials):
        for key, value in _paid_cells(money, at, material).items():
            live[key].append(value)
    block = book.block(table, live)
    totals = [_total(money, status) for status in PAID]
    block = block._replace(rows=[*block.rows, *totals], totals=len(totals), notes=())
    note = (
        f"On the day of the installation, in {costs.currency} of {costs.as_of}. Tinted cells may be changed."
    )
    if costs.excludes:
        note += f" As planned, the totals exclude: {'; '.join(costs.excludes)}."
    sheet = book.topic(BILL, note, block)
    for at, material in enumerate(costs.materials, start=HEAD + 1):
        if material.key in money.keys:
            book.limit(sheet, at, column_of(table, "quantity"))


def _paid_cells(money: Money, at: int, material: Material) -> dict[str, Any]:
    """The cells of a line of the bill that calculate; as they are where nothing is paid."""
    key = money.keys.get(material.key)
    if not key:
        return {
            "quantity": material.quantity,
            "unit_price": None,
            "known": "",
            "discount": None,
            "cost": None,
        }
    where = money.price_at(key)
    quantity, price, discount = (
        address(HEAD + 1 + at, column_of(money.bill, name)) for name in ("quantity", "unit_price", "discount")
    )
    cost_formula = f'IF({price}="","",{quantity}*{price}*(1-{discount}))'
    paid = material.status in PAID
    return {
        "quantity": Editable(material.quantity),
        "unit_price": Live(f'IF({where}="","",{where})', material.price.value if material.price else ""),
        "known": Live(f'IF({where}="","not known","yes")', "yes" if material.price else "not known"),
        "discount": Live(
            "hardware_discount" if material.part in HARDWARE else "licence_discount", material.discount
        ),
        "cost": Live(cost_formula, "" if material.cost is None else material.cost) if paid else None,
    }


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


def cost_by_year_sheet(book: Book, plan: Plan, money: Money | None) -> None:
    """The cost of each part and item in each year, as formulas."""
    if money is None:
        book.topics(YEARS, "", [])
        return
    costs, last = money.costs, money.last
    note = f"In {costs.currency} of {costs.as_of}. What is bought in a year is paid in that year."
    if costs.excludes:
        note += f" As planned, it excludes: {'; '.join(costs.excludes)}."
    if costs.growth_left_out:
        note += f" From year {costs.growth_left_out} on the growth is more than one design can hold: hosts as in the year before."
    sheet = book.sheet(YEARS, note)
    part, *when, _ = (column.label for column in cost_by_year(plan).columns)
    heads = (part, "Item", *when, "Unit", "Note")
    widths = (34, 44, *(13,) * (last + 2), 9, 80)
    for col, (head, width) in enumerate(zip(heads, widths, strict=True)):
        book.put(sheet, HEAD, col, head, "head")
        sheet.set_column(col, col, width)

    def row(
        at: int,
        part: str,
        item: str,
        cells: Sequence[Any],
        unit: str,
        note: str | Live = "",
        kind: str = "money",
        *,
        summed: bool = True,
        bold: bool = False,
    ) -> None:
        values = [cell.value if isinstance(cell, Live | Editable) else cell for cell in cells]
        total: Any = None
        if summed:
            total = Live(sum_of([at], range(2, 3 + last)), cost.total_cost(*(v or 0.0 for v in values)))
        for col, value in enumerate((part, item, *cells, total, unit, note)):
            book.put(sheet, at, col, value, kind if 2 <= col <= 3 + last else "text", bold)

    years = range(last + 1)
    book.put(sheet, HEAD + 1, 0, "Cost by part", "section")
    for name in money.parts:
        yearly = money.part_cost(name)
        cells = [Live(_part_formula(money, name, year), yearly[year]) for year in years]
        missing: Any = money.missing(RUNNING[name]) if name in RUNNING else ""
        row(money.part_row[name], name, "", cells, costs.currency, missing)
    parts = [money.part_row[name] for name in money.parts]
    cash = [Live(sum_of(parts, [2 + year]), costs.cash[year]) for year in years]
    row(money.cash_row, "All parts", "", cash, costs.currency, bold=True)
    added = [
        Live(sum_of([money.cash_row], range(2, 3 + year)), cost.total_cost(*costs.cash[: year + 1]))
        for year in years
    ]
    row(money.cash_row + 1, "Added up", "", added, costs.currency, summed=False)
    _results(book, sheet, money)

    book.put(sheet, money.item_row[0] - 1 if money.items else HEAD, 0, "Cost of each item", "section")
    for at, item in zip(money.item_row, money.items, strict=True):
        discount = money.bill_at(item.material, "discount")
        units = money.unit_row[item.units]
        each = f"{money.price_at(item.price)}*(1-{discount})"
        cells = [
            Live(
                f"{each}*{sum_of([units], [2 + lot for lot in lots])}" if lots else "0",
                money.item_cost(item, year),
            )
            for year, lots in enumerate(item.paid)
        ]
        missing = money.missing(item.price)
        rule = money.bill_at(item.material, "rule")
        words = "; ".join(word for word in (missing.value, costs.materials[item.material].rule) if word)
        why = Live(f'{missing.formula}&IF({money.price_at(item.price)}="","; ","")&{rule}', words)
        row(at, item.part, item.name, cells, costs.currency, why)

    if money.items:
        book.put(sheet, min(money.unit_row.values()) - 1, 0, "Units bought or licensed anew", "section")
        anew = "Start: the bill of materials. Later years: by the hosts that the placement of the grown design takes."
        book.put(sheet, min(money.unit_row.values()) - 1, 5 + last, anew)
    for n, at in money.unit_row.items():
        item = money.items[n]
        material = costs.materials[item.material]
        start = Live(money.bill_at(item.material, "quantity"), item.lots[0])
        unit = "" if material.unit == "1" else material.unit
        amounts: list[Any] = [start, *(Editable(lot) for lot in item.lots[1:])]
        row(at, item.part, item.name, amounts, unit, kind="num")
        for year in years[1:]:
            book.limit(sheet, at, 2 + year)
    _drivers(book, sheet, money, row)
    sheet.freeze_panes(HEAD + 1, 2)
    sheet.repeat_rows(HEAD)


def _part_formula(money: Money, name: str, year: int) -> str:
    """What is paid for a part in a year."""
    here = [at for at, item in zip(money.item_row, money.items, strict=True) if item.part == name]
    hardware = [money.part_row[part] for part in HARDWARE if part in money.part_row]
    driver = {key: money.year_at(at, year) for key, at in money.driver_row.items()}
    if name == "Value left":
        worth = f"-residual_share*{sum_of(hardware, range(2, 3 + money.last))}"
        return worth if year == money.last else "0"
    if here:
        return sum_of(here, [2 + year])
    if not year:
        return "0"
    return {
        "Hardware support": f"support_share*{sum_of(hardware, range(2, 3 + year))}",
        "Power": f"{driver['kwh']}*{money.price_at(RUNNING['Power'])}",
        "Cooling": f"{money.year_at(money.part_row['Power'], year)}*(power_usage_effectiveness-1)",
        "Space": f"{driver['racks']}*{money.price_at(RUNNING['Space'])}",
        "Administration": f"{driver['hosts']}*{money.price_at(RUNNING['Administration'])}",
    }[name]


def _results(book: Book, sheet: Any, money: Money) -> None:
    """Total, net present cost and cost of a GPU-hour."""
    costs, last = money.costs, money.last
    rate = money.factor("discount_rate")
    book.put(sheet, money.results["total"] - 1, 0, "Result", "section")
    cash = money.cash_row
    later = f"{money.year_at(cash, 1)}:{money.year_at(cash, last)}"
    hours = {
        name: f"{money.year_at(money.driver_row[name], 1)}:{money.year_at(money.driver_row[name], last)}"
        for name in ("hours_installed", "hours_used")
    }
    here = {name: address(at, 2) for name, at in money.results.items()}
    found: dict[str, tuple[str, Live, str, str]] = {
        "total": ("Paid in all", Live(address(cash, 3 + last), costs.total), costs.currency, "money"),
        "net_present": (
            "Net present cost",
            Live(f"{money.year_at(cash, 0)}+NPV(discount_rate,{later})", costs.net_present),
            costs.currency,
            "money",
        ),
    }
    for name, given in (("hours_installed", costs.gpu_hours), ("hours_used", costs.used_gpu_hours)):
        discounted = cost.net_present_cost([0.0, *given], rate=rate)
        label = f"GPU-hours {name.removeprefix('hours_')}, discounted"
        found[name] = (label, Live(f"NPV(discount_rate,{hours[name]})", discounted), "GPU-hour", "int")
    for kind, each in (("installed", costs.gpu_hour_installed), ("used", costs.gpu_hour_used)):
        formula = f'IF({here[f"hours_{kind}"]}=0,"none",{here["net_present"]}/{here[f"hours_{kind}"]})'
        label = f"Cost of a GPU-hour {kind}"
        found[f"gpu_hour_{kind}"] = (
            label, Live(formula, "none" if each is None else each), costs.currency, "price",
        )  # fmt: skip
    notes = {
        "net_present": "the start, and each year discounted from its end",
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


def _drivers(book: Book, sheet: Any, money: Money, row: Any) -> None:
    """Hosts, GPUs, their use, energy and racks of each year."""
    costs, use = money.costs, money.power
    years = range(money.last + 1)
    book.put(sheet, money.driver_row["hosts"] - 1, 0, "What these follow from", "section")
    unit_rows = {costs.materials[money.items[n].material].key: at for n, at in money.unit_row.items()}

    def held(key: str, year: int) -> str:
        return sum_of([unit_rows[key]] if key in unit_rows else [], range(2, 3 + year))

    def at(name: str, year: int) -> str:
        return money.year_at(money.driver_row[name], year)

    hosts = [Live(f"existing_hosts+{held('servers', y)}", costs.hosts[y]) for y in years]
    gpus = [Live(f"existing_gpus+{held('gpus', y)}*gpus_per_board", costs.gpus[y]) for y in years]
    grown = (
        "grows with the hosts bought; when the design grows, by its placement"
        if len(set(costs.hosts)) > 1
        else ""
    )
    row(money.driver_row["hosts"], "Hosts", "", hosts, "host", grown, "int", summed=False)
    row(money.driver_row["gpus"], "GPUs", "", gpus, "GPU", grown, "int", summed=False)
    stated = money.plan.scenario.cost.utilisation is not None
    used = [hours / HOURS_PER_YEAR for hours in costs.used_gpu_hours]
    busy = [None, *used]
    row(money.driver_row["busy"], "GPUs used on average", "", busy, "GPU",
        "as stated" if stated else "by the groups, at most all GPUs", "num", summed=False)  # fmt: skip
    share = [None] + [
        Live(
            "stated_utilisation"
            if stated
            else f"IF({at('gpus', y)}=0,0,MIN(1,{at('busy', y)}/{at('gpus', y)}))",
            used[y - 1] / costs.gpus[y],
        )
        for y in years[1:]
    ]
    row(money.driver_row["load"], "Share of the GPU-hours used", "", share, "", "", "percent", summed=False)
    kwh: list[Any] = [None]
    racks: list[Any] = [None]
    for year in years[1:]:
        load = at("load", year)
        host_w = f"(hosts_peak_w+({at('hosts', year)}-planned_hosts)*host_peak_w)*(idle_share+(1-idle_share)*{load})"
        switches = f"{held('leaf', year)}*leaf_w+{held('spine', year)}*spine_w"
        kwh.append(Live(f"({host_w}+{switches})*hours_per_year/1000", money.kwh(year)))
        per = use.hosts_per_rack
        racks.append(
            Live(
                f"IF(hosts_per_rack=0,0,ROUNDUP({at('hosts', year)}/hosts_per_rack,0))",
                -(-costs.hosts[year] // per) if per else 0,
            )
        )
    left_out = f"without {', '.join(use.unknown_power)}" if use.unknown_power else ""
    left_out += ", unless filled in on Factors" * bool(left_out and money.unknown_w)
    row(
        money.driver_row["kwh"], "Energy of hosts and switches", "", kwh, "kWh", left_out, "int", summed=False
    )
    row(money.driver_row["racks"], "Racks", "", racks, "", "", "int", summed=False)
    for name, label, values in (
        ("hours_installed", "GPU-hours installed", costs.gpu_hours),
        ("hours_used", "GPU-hours used", costs.used_gpu_hours),
    ):
        cells = [None] + [
            Live(
                f"{at('gpus', y)}*hours_per_year" + f"*{at('load', y)}" * (name == "hours_used"),
                values[y - 1],
            )
            for y in years[1:]
        ]
        row(money.driver_row[name], label, "", cells, "GPU-hour", "", "int", summed=False)


def prices_sheet(book: Book, plan: Plan, money: Money | None) -> None:
    """Every price that counts: each may be changed."""
    if money is None:
        book.topics("Prices", "", [])
        return
    table = money.price_table
    at = column_of(table, "value")
    live: dict[str, list[Any]] = {
        "value": [Editable(float(price.fact.value) if price.fact else None) for price in money.prices],
        "note": [
            price.fact.note if price.fact else "fill in the price: the cost counts it at once"
            for price in money.prices
        ],
    }
    block = book.block(table, live)
    known = [
        Live(f'IF({address(row, at)}="","not known","yes")', "yes" if price.fact else "not known")
        for row, price in enumerate(money.prices, start=HEAD + 1)
    ]
    block = block._replace(
        columns=[*block.columns, SheetColumn("Known", 11)],
        rows=[[*row, word] for row, word in zip(block.rows, known, strict=True)],
    )
    note = f"In {money.costs.currency}, before any discount. Tinted cells may be changed: costs follow."
    sheet = book.topic("Prices", note, block)
    for row in range(HEAD + 1, HEAD + 1 + len(block.rows)):
        book.limit(sheet, row, at)
    for key, name in (
        (f"gpus/{plan.scenario.hardware.gpu}", "gpu_price"),
        ("electricity-kwh", "electricity_price"),
    ):
        if key in money.price_row:
            book.name(name, money.price_at(key))


def factors_sheet(book: Book, money: Money | None) -> None:
    """What the formulas calculate with beside prices and quantities."""
    if money is None:
        book.topics("Factors", "", [])
        return
    table = Table(
        "factors",
        "Factors",
        (
            Column("name", "Name in formulas"),
            Column("label", "What"),
            Column("value", "Value", "number"),
            Column("unit", "Unit"),
            Column("basis", "Basis", "basis"),
            Column("sources", "Source", "sources"),
            Column("note", "Note"),
        ),
        tuple(
            (f.name, f.label, f.value, "" if f.unit == "1" else f.unit, f.basis, f.sources, f.note)
            for f in money.factors
        ),
    )
    values = [Editable(f.value, f.kind) if f.editable else f.value for f in money.factors]
    note = "Tinted cells may be changed; a share of 0.1 is 10 per cent. The others follow from the design and stay as planned."
    sheet = book.topic("Factors", note, book.block(table, {"value": values}))
    for at, f in enumerate(money.factors, start=HEAD + 1):
        book.name(f.name, address(at, 2, "Factors"))
        if f.editable:
            pue = f.name == "power_usage_effectiveness"
            book.limit(sheet, at, 2, None if pue or f.unit == "W" else 1, low=int(pue))


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
