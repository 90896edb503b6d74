"""The sheet of costs: parts, items, results and drivers of each year, as formulas with their values."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from gpuplan.deliver.priced_items import RUNNING
from gpuplan.deliver.xlsx.book import HEAD, Book, SheetColumn, need_of, printed_widths, widest
from gpuplan.deliver.xlsx.cells import TABS, Editable, Live, sum_of
from gpuplan.deliver.xlsx.money import Money, Row, factor_of, results
from gpuplan.deliver.xlsx.page import Page
from gpuplan.models import cost
from gpuplan.models.availability import HOURS_PER_YEAR
from gpuplan.plan import Plan
from gpuplan.plan.bill_of_materials import FIRST, KindCounts
from gpuplan.plan.cash_flow import HARDWARE, RESIDUAL
from gpuplan.plan.prices import Price, Unknown
from gpuplan.report.tables.cost import PER, cost_by_year, growth_words
from gpuplan.wording import PART, said


def cost_by_year_sheet(book: Book, plan: Plan, money: Money) -> None:
    """The cost of each part and item in each year, as formulas."""
    costs, last = money.costs, money.last
    table = cost_by_year(plan)
    part, *when = (column.label for column in table.columns[: last + 3])
    more = book.block(table.without(*(column.key for column in table.columns[1 : last + 3]), "basis"))
    when_columns = [SheetColumn(head, "money") for head in when]
    named = [SheetColumn(part), SheetColumn(said("sheet.years.item"))]
    columns = [*named, *when_columns, SheetColumn(said("sheet.note")), *more.columns[1:]]
    blocks = (_parts, _items, _paid_units, _units, _drivers, _weights, results)
    rows = [row for rows in blocks for row in rows(money)]
    beside = {name: cells for name, *cells in reversed(more.rows)}  # GPUs as a part, not the count below
    filled = [
        (row, [row.part, row.item, *row.cells, row.total, row.note, *beside.pop(row.part, ())])
        for row in rows
    ]
    widths, printed = printed_widths(_needs(columns, filled))
    note = f"{money.note('sheet.years.note')} {growth_words(costs)}".rstrip()
    page = book.titled(TABS["years"], note, widths)
    for col, column in enumerate(columns):
        page.put(HEAD, col, column.head, "head of numbers" if column.kind == "money" else "head")
    for at, title in money.sections.items():
        page.note(at, title, "section")
    for at, words in money.section_notes.items():
        page.note(at, words)
    for row, cells in filled:
        _write(page, row, cells, columns)
    page.sheet.freeze_panes(HEAD + 1, 2)
    page.sheet.repeat_rows(HEAD)
    page.print_columns(printed)


def _needs(
    columns: Sequence[SheetColumn], filled: Sequence[tuple[Row, Sequence[Any]]]
) -> list[tuple[float, float]]:
    widths = []
    for at, column in enumerate(columns):
        needs = [need_of(column, [])]
        own = ((row, cells[at]) for row, cells in filled if at < len(cells) and (row.item or at > 1))
        needs += [need_of(column._replace(kind=row.kind_in(column)), [cell]) for row, cell in own]
        widths.append(widest(needs))
    return widths


def _write(page: Page, row: Row, cells: Sequence[Any], columns: Sequence[SheetColumn]) -> None:
    """Write the cells of a row; a row without an item has its name over both columns."""
    for col, (value, column) in enumerate(zip(cells, columns, strict=False)):
        if col < 2 and not row.item:
            if not col:
                page.put(row.at, 0, value, last=1, bold=row.bold)
        else:
            page.put(row.at, col, value, row.kind_in(column), bold=row.bold)


def _parts(money: Money) -> Iterator[Row]:
    """Yield the cost of each part, their total, and the cumulative total."""
    costs, years = money.costs, range(money.last + 1)
    for name in money.parts:
        yearly = money.part_cost(name)
        cells = [Live(_part_formula(money, name, year), yearly[year]) for year in years]
        missing = money.missing(RUNNING[name]) if name in RUNNING else ""
        yield Row(money.part_row[name], name, cells, note=missing).summed()
    parts = [money.part_row[name] for name in money.parts]
    cash = [Live(sum_of(parts, [2 + year]), costs.cash[year]) for year in years]
    yield Row(money.cash_row, said("sheet.years.all"), cash, bold=True).summed()
    added = [
        Live(sum_of([money.cash_row], range(2, 3 + year)), cost.total_cost(*costs.cash[: year + 1]))
        for year in years
    ]
    yield Row(money.cash_row + 1, said("sheet.years.added up"), added)


def _part_formula(money: Money, name: str, year: int) -> str:
    here = [at for at, item in zip(money.item_row, money.items, strict=True) if item.part == name]
    hardware = [money.part_row[part] for part in HARDWARE if part in money.part_row]
    if name == RESIDUAL:
        return _residual_formula(hardware, year, money.last)
    if here:
        return sum_of(here, [2 + year])
    if name == PART["Hardware support"]:
        return _support_formula(hardware, year, money.last)
    if not year:
        return "0"
    return {
        PART["Power"]: f"{money.driver_at('kwh', year)}*N({money.price_at(RUNNING[PART['Power']])})",
        PART[
            "Cooling"
        ]: f"{money.year_at(money.part_row[PART['Power']], year)}*(power_usage_effectiveness-1)",
        PART["Space"]: f"{money.driver_at('racks', year)}*N({money.price_at(RUNNING[PART['Space']])})",
        PART[
            "Administration"
        ]: f"{_managed(money, year)}*N({money.price_at(RUNNING[PART['Administration']])})",
    }[name]


def _managed(money: Money, year: int) -> str:
    return f"({money.driver_at('hosts', year)}{_managing(money, 'hosts')})"


def _managing(money: Money, what: str) -> str:
    """Hosts of the management domain, or their watts, added where some are bought."""
    return f"+management_{what}" * bool(money.counts.management_hosts)


def _support_formula(hardware: Sequence[int], year: int, last: int) -> str:
    """Return the formula of support for hardware out of warranty, paid for the following year."""
    if year == last:
        return "0"
    due = [f"IF({year - lot}>=warranty_years,{sum_of(hardware, [2 + lot])},0)" for lot in range(year + 1)]
    return f"support_share*({'+'.join(due)})"


def _residual_formula(hardware: Sequence[int], year: int, last: int) -> str:
    """Return the formula of the residual value of all years' hardware after the last one."""
    return f"-residual_share*{sum_of(hardware, range(2, 3 + last))}" if year == last else "0"


def _items(money: Money) -> Iterator[Row]:
    for at, paid, item in zip(money.item_row, money.paid_row, money.items, strict=True):
        price = f"N({money.price_at(item.price)})"  # an unknown price is an empty text
        years = range(money.last + 1)
        cells = [Live(f"{money.year_at(paid, year)}*{price}", money.item_cost(item, year)) for year in years]
        yield Row(at, item.part, cells, item.name, money.missing(item.price)).summed()


def _paid_units(money: Money) -> Iterator[Row]:
    """Yield the paid units of each item, after the discount."""
    for at, item in zip(money.paid_row, money.items, strict=True):
        factor = f"(1-{money.bill_at(item.material, 'discount')})" + f"*{item.times}" * (item.times > 1)
        units = money.unit_row[item.units]
        cells = []
        for year, lots in enumerate(item.paid):
            formula = f"{factor}{_later(item.part, year)}*{sum_of([units], [2 + lot for lot in lots])}"
            cells.append(Live(formula if lots else "0", money.paid_units(item, year)))
        yield Row(at, item.part, cells, item.name, kind="num")


def _later(part: str, year: int) -> str:
    return f"*(1+hardware_price_change)^{year}" if year and part in HARDWARE else ""


def _units(money: Money) -> Iterator[Row]:
    for n, at in money.unit_row.items():
        item = money.items[n]
        start = Live(money.bill_at(item.material, "quantity"), item.lots[0])
        cells = (start, *map(Editable, item.lots[1:]), None)
        yield Row(at, item.part, cells, item.name, kind="num").summed()


def _weights(money: Money) -> Iterator[Row]:
    """Yield the quantity behind each price, with support and residual value, and its discounted sum."""
    priced: tuple[Price | Unknown, ...] = (*money.costs.prices, *money.costs.unknown)
    per = {price.key: (price.name, price.per) for price in priced}
    for key, at in money.weight_row.items():
        indices = [n for n, item in enumerate(money.items) if item.price == key]
        hardware = [money.paid_row[n] for n in indices if money.items[n].part in HARDWARE]
        paid = [money.paid_row[n] for n in indices]
        cells = []
        for year, value in enumerate(money.quantities(key)):
            terms = [sum_of(paid, [2 + year])] * bool(paid)
            if hardware:
                ends = (hardware, year, money.last)
                terms += [_support_formula(*ends), _residual_formula(*ends)]
            terms += _running_terms(money, key, year)
            cells.append(Live("+".join(term for term in terms if term != "0") or "0", value))
        name, unit = per[key]
        first, later = money.year_at(at, 0), f"{money.year_at(at, 1)}:{money.year_at(at, money.last)}"
        total = Live(f"{first}+NPV(discount_rate,{later})", money.discounted(key))
        yield Row(at, name, cells, note=PER.get(unit, unit), kind="num", total=total)


def _running_terms(money: Money, key: str, year: int) -> list[str]:
    """The quantity of a price that is paid each year."""
    if not year:
        return []
    watts = f"{money.driver_at('kwh', year)}*power_usage_effectiveness"
    terms = {
        PART["Power"]: watts,
        PART["Space"]: money.driver_at("racks", year),
        PART["Administration"]: _managed(money, year),
    }
    return [term for part, term in terms.items() if RUNNING[part] == key]


def _drivers(money: Money) -> Iterator[Row]:
    costs, drivers, at = money.costs, _Drivers(money), money.driver_at
    used = [hours / HOURS_PER_YEAR for hours in costs.used_gpu_hours]
    grown = said("sheet.driver.grown") if len(set(costs.hosts)) > 1 else ""
    left_out = ""
    if names := ", ".join(money.power.unknown_power):
        left_out = said(
            "sheet.driver.without unless" if money.unknown_w else "sheet.driver.without", names=names
        )
    busy = said("sheet.driver.busy stated" if drivers.stated else "sheet.driver.busy of groups")
    shares = [busy / gpus for busy, gpus in zip(used, costs.gpus, strict=True)]
    years = range(1, money.last + 1)
    racks, apart = list(map(money.racks, years)), len(money.counts.fabric.site_hosts) > 1
    row = drivers.row
    yield row("hosts", lambda year: drivers.sum_of("hosts", drivers.hosts, year), costs.hosts, grown)
    yield row("gpus", lambda year: drivers.sum_of("gpus", drivers.gpus, year), costs.gpus, grown)
    yield row("busy", None, used, busy, "num")
    yield row("load", drivers.load, shares, kind="percent")
    yield row("kwh", drivers.kwh, list(map(money.kwh, years)), left_out)
    yield row("racks", None if apart else drivers.racks, racks, said("sheet.driver.sites") * apart)
    yield row("hours_installed", lambda year: f"{at('gpus', year)}*hours_per_year", costs.gpu_hours)
    in_use = costs.used_gpu_hours
    yield row("hours_used", lambda year: f"{at('gpus', year)}*hours_per_year*{at('load', year)}", in_use)
    hosts = money.plan.growth.hosts
    for kind in drivers.several:
        of, own = kind.suffix or FIRST, money.plan.growth.kinds[kind.name]
        yield row(f"hosts{of}", partial(drivers.hosts, kind), list(map(kind.hosts, hosts)))
        yield row(f"gpus{of}", partial(drivers.gpus, kind), list(map(kind.gpus, hosts)))
        yield row(f"busy{of}", None, own, busy, "num")


class _Drivers:
    """Formulas of what running costs follow from in a year; of several kinds of hosts from what each kind has."""

    def __init__(self, money: Money) -> None:
        self.money, self.at, self.kinds = money, money.driver_at, money.counts.kinds
        self.several = self.kinds if self.kinds[1:] else ()
        materials = money.costs.materials
        self.unit_rows = {materials[money.items[n].material].key: row for n, row in money.unit_row.items()}
        self.stated = money.plan.scenario.cost.utilisation is not None

    def row(
        self,
        key: str,
        formula: Callable[[int], str] | None,
        values: Sequence[float],
        note: str = "",
        kind: str = "int",
    ) -> Row:
        """A row of formulas with their values, or of values alone."""
        cells = [Live(formula(n), value) if formula else value for n, value in enumerate(values, start=1)]
        money = self.money
        return Row(money.driver_row[key], money.driver_names[key], [None, *cells], note=note, kind=kind)

    def hosts(self, kind: KindCounts, year: int) -> str:
        return f"{factor_of('existing_hosts', kind)}+{self._held(f'servers{kind.suffix}', year)}"

    def gpus(self, kind: KindCounts, year: int) -> str:
        new = f"{self._held(f'gpus{kind.suffix}', year)}*{factor_of('gpus_per_board', kind)}"
        return f"{factor_of('existing_gpus', kind)}+{new}"

    def sum_of(self, name: str, own: Callable[[KindCounts, int], str], year: int) -> str:
        """The rows of several kinds, or else the formula of the only one."""
        each = [self.at(self._key(name, kind), year) for kind in self.several]
        return "+".join(each or [own(self.kinds[0], year)])

    def load(self, year: int, kind: KindCounts | None = None) -> str:
        """Share of the time in which the GPUs, or those of a kind of hosts, are used."""
        if self.stated:
            return "stated_utilisation"
        gpus, busy = (self.at(self._key(name, kind), year) for name in ("gpus", "busy"))
        return f"IF({gpus}=0,0,MIN(1,{busy}/{gpus}))"

    def kwh(self, year: int) -> str:
        hosts_w = "+".join(self._watts(kind, year) for kind in self.kinds)
        switches_w = f"{self._held('leaf', year)}*leaf_w+{self._held('spine', year)}*spine_w"
        return f"({hosts_w}{_managing(self.money, 'w')}+{switches_w})*hours_per_year/1000"

    def racks(self, year: int) -> str:
        """Racks of each kind of hosts, those of the management domain with the first; none where one holds no host."""
        each, others = [], _managing(self.money, "hosts")
        held = [factor_of("hosts_per_rack", kind) for kind in self.kinds]
        for kind, per_rack in zip(self.kinds, held, strict=True):
            each.append(f"ROUNDUP(({self.at(self._key('hosts', kind), year)}{others})/{per_rack},0)")
            others = ""
        return f"IF({'*'.join(held)}=0,0,{'+'.join(each)})"

    def _key(self, name: str, kind: KindCounts | None) -> str:
        return name + (kind.suffix or FIRST) if kind and self.several else name

    def _watts(self, kind: KindCounts, year: int) -> str:
        load = self.load(year, kind) if self.several else self.at("load", year)
        more = f"({self.at(self._key('hosts', kind), year)}-{factor_of('planned_hosts', kind)})"
        busy_w = f"({factor_of('hosts_busy_w', kind)}+{more}*{factor_of('host_busy_w', kind)})"
        idle = factor_of("idle_share", kind)
        return f"{busy_w}*({idle}+(1-{idle})*{load})"

    def _held(self, key: str, year: int) -> str:
        return sum_of([self.unit_rows[key]] if key in self.unit_rows else [], range(2, 2 + year))
