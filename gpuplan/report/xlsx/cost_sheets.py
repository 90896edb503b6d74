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
from gpuplan.plan.cost import HARDWARE, Costs
from gpuplan.plan.customer import earned_in_all, earnings
from gpuplan.report.tables.cost import INTERNAL, PER
from gpuplan.report.xlsx.book import (
    HEAD,
    Block,
    Book,
    Column,
    Editable,
    Live,
    address,
    shown_unit,
    source_titles,
    sum_of,
)
from gpuplan.report.xlsx.money import BILL, RUNNING, YEARS, Money
from gpuplan.wording import basis_word, stated_percent

STATUS = {
    "bought": "at the start",
    "yearly": "each year",
    "included": "included",
    "there": "there already",
    "to be sized": "to be sized",
}


def bill_sheet(book: Book, plan: Plan, money: Money | None) -> None:
    if money is None:
        book.blocks(BILL, "", [])
        return
    costs = money.costs
    currency = costs.currency
    columns = [
        Column("Part", 18),
        Column("Item", 42),
        Column("Quantity", 10, "num"),
        Column("Unit", 9),
        Column(f"Price of one ({currency})", 13, "price"),
        Column("Price known", 11),
        Column("Discount", 10, "percent"),
        Column(f"Cost ({currency})", 14, "money"),
        Column("Paid", 13),
        Column("How many, and why", 60),
        Column("Catalog", 26),
        Column("Sources", 50),
    ]
    rows: list[tuple[Any, ...]] = []
    for at, material in enumerate(costs.materials, start=HEAD + 1):
        key = money.keys.get(material.key)
        quantity: Any = material.quantity
        paid: tuple[Any, ...] = (None, "", None, None)
        if key:
            quantity = Editable(material.quantity)
            where, here = money.price_at(key), address(at, 4)
            value = material.price.value if material.price else ""
            discount = "hardware_discount" if material.part in HARDWARE else "licence_discount"
            known = Live(f'IF({where}="","not known","yes")', "yes" if material.price else "not known")
            formula = f'IF({here}="","",{address(at, 2)}*{here}*(1-{address(at, 6)}))'
            total = Live(formula, "" if material.cost is None else material.cost)
            paid = (
                Live(f'IF({where}="","",{where})', value),
                known,
                Live(discount, material.discount),
                total if material.status in ("bought", "yearly") else None,
            )
        rows.append(
            (
                material.part,
                material.name,
                quantity,
                shown_unit(material.unit),
                *paid,
                STATUS[material.status],
                material.rule,
                material.item,
                source_titles(plan, material.sources),
            )
        )
    end = HEAD + len(rows)
    tail = [
        (f"Total {word}", "", None, "", None, "", None, _total(costs, status, word, end), word, "", "", "")
        for status, word in (("bought", STATUS["bought"]), ("yearly", STATUS["yearly"]))
    ]
    note = f"On the day of the installation, in {currency} of {costs.as_of}. Tinted cells may be changed."
    if costs.excludes:
        note += f" As planned, the totals exclude: {'; '.join(costs.excludes)}."
    sheet = book.table(BILL, note, columns, rows, tail)
    for at, material in enumerate(costs.materials, start=HEAD + 1):
        if material.key in money.keys:
            book.limit(sheet, at, 2)


def _total(costs: Costs, status: str, word: str, end: int) -> Live:
    """Sum of all that is paid at one time."""
    paid, values = f"{address(HEAD + 1, 8)}:{address(end, 8)}", f"{address(HEAD + 1, 7)}:{address(end, 7)}"
    total = cost.total_cost(*(m.cost or 0.0 for m in costs.materials if m.status == status))
    return Live(f'SUMIF({paid},"{word}",{values})', total)


def cost_by_year_sheet(book: Book, plan: Plan, money: Money | None) -> None:
    if money is None:
        book.blocks(YEARS, "", [])
        return
    costs, last = money.costs, money.last
    note = f"In {costs.currency} of {costs.as_of}. What is bought in a year is paid in that year."
    if costs.excludes:
        note += f" As planned, it excludes: {'; '.join(costs.excludes)}."
    if costs.growth_left_out:
        note += f" From year {costs.growth_left_out} on the growth is more than one design can hold: hosts as in the year before."
    sheet = book.sheet(YEARS, note)
    heads = ("Part", "Item", "Start", *(f"Year {y}" for y in range(1, last + 1)), "Total", "Unit", "Note")
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
        discount = address(HEAD + 1 + item.material, 6, BILL)
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
        rule = address(HEAD + 1 + item.material, 9, BILL)
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
        start = Live(address(HEAD + 1 + item.material, 2, BILL), item.lots[0])
        unit = shown_unit(material.unit)
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
    if money is None:
        book.blocks("Prices", "", [])
        return
    currency = money.costs.currency
    columns = [
        Column("Key", 28),
        Column("What", 40),
        Column("Per", 17),
        Column(f"Price ({currency})", 14, "price"),
        Column("Known", 11),
        Column(f"Low ({currency})", 12, "price"),
        Column(f"High ({currency})", 12, "price"),
        Column("Basis", 18),
        Column("As of", 11),
        Column("Stated", 9),
        Column("Over a year old", 9),
        Column("Source", 44),
        Column("Where", 26),
        Column("Note", 60),
    ]
    rows = []
    for at, price in enumerate(money.prices, start=HEAD + 1):
        fact = price.fact
        word = "yes" if fact else "not known"
        row: tuple[Any, ...] = (
            price.key,
            price.name,
            PER.get(price.per, price.per.replace("-", " and ")),
            Editable(float(fact.value) if fact else None),
            Live(f'IF({address(at, 3)}="","not known","yes")', word),
        )
        if fact is None:
            row += (
                None,
                None,
                "not known",
                "",
                False,
                False,
                "",
                "",
                "fill in the price: the cost counts it at once",
            )
        else:
            known = (basis_word(fact.basis), price.as_of, price.stated, price.old)
            row += (fact.low, fact.high, *known, source_titles(plan, fact.sources), fact.locator, fact.note)
        rows.append(row)
    note = f"In {currency}, before any discount. Tinted cells may be changed: costs follow."
    sheet = book.table("Prices", note, columns, rows)
    for at in range(HEAD + 1, HEAD + 1 + len(rows)):
        book.limit(sheet, at, 3)
    for key, name in (
        (f"gpus/{plan.scenario.hardware.gpu}", "gpu_price"),
        ("electricity-kwh", "electricity_price"),
    ):
        if key in money.price_row:
            book.name(name, money.price_at(key))


def factors_sheet(book: Book, money: Money | None) -> None:
    if money is None:
        book.blocks("Factors", "", [])
        return
    columns = [
        Column("Name in formulas", 28),
        Column("What", 52),
        Column("Value", 14, "num"),
        Column("Unit", 9),
        Column("Basis", 18),
        Column("Source", 44),
        Column("Note", 70),
    ]
    rows = [
        (
            f.name,
            f.label,
            Editable(f.value, f.kind) if f.editable else f.value,
            shown_unit(f.unit),
            basis_word(f.basis),
            source_titles(money.plan, f.sources),
            f.note,
        )
        for f in money.factors
    ]
    note = "Tinted cells may be changed; a share of 0.1 is 10 per cent. The others follow from the design and stay as planned."
    sheet = book.table("Factors", note, columns, rows)
    for at, f in enumerate(money.factors, start=HEAD + 1):
        book.name(f.name, address(at, 2, "Factors"))
        if f.editable:
            pue = f.name == "power_usage_effectiveness"
            book.limit(sheet, at, 2, None if pue or f.unit == "W" else 1, low=int(pue))


def internal_sheet(book: Book, plan: Plan) -> None:
    """What the customer's version does not have: no sheet where nothing is internal."""
    held, found = plan.scenario.internal, earnings(plan)
    if not held.notes and not found:
        return
    notes = [(line, "", "", "") for line in (held.notes or "").split("\n") if line.strip()]
    unit = plan.costs.currency if plan.costs else ""
    columns = [
        Column("Part", 60),
        Column(f"We pay ({unit})", 20, "money"),
        Column(f"The customer pays ({unit})", 20, "money"),
        Column(f"We earn ({unit})", 20, "money"),
    ]
    rows = [
        (each.part, each.paid, each.price, each.earned)
        for each in (*found, *([earned_in_all(found)] if found else ()))
    ]
    blocks = [
        Block("Notes", [Column("Note", 60), *(Column("", 20) for _ in range(3))], notes),
        Block(f"Margin of {stated_percent(held.margin or 0)}, over all years", columns, rows),
    ]
    book.blocks("Internal", "This sheet is left out of the version for the customer.", blocks, INTERNAL)
