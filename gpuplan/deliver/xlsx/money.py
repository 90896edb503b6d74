"""Items, prices and factors of the cost sheets, with their cells and their payments in each year."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import count
from typing import Any, NamedTuple, TypeVar

from gpuplan.deliver.priced_items import PricedItems
from gpuplan.deliver.xlsx.book import HEAD, Book, SheetColumn, at_column, column_of, ordered
from gpuplan.deliver.xlsx.cells import TABS, Editable, Live, address, sum_of
from gpuplan.facts import Fact
from gpuplan.locales import written_day
from gpuplan.models import cost
from gpuplan.models.availability import HOURS_PER_YEAR
from gpuplan.plan import Plan
from gpuplan.plan.bill_of_materials import FIRST, KindCounts
from gpuplan.plan.cash_flow import PARTS
from gpuplan.plan.prices import PriceList, catalog_factor
from gpuplan.report.tables.cost import bill_of_materials, prices
from gpuplan.wording import NAMES, amount, number, said, told

RESULTS, DRIVERS = NAMES["result of the cost sheet"], NAMES["driver of running costs"]
"""Results of the sheet of costs and drivers of running costs, from top to bottom, with their names."""
OF_KIND = ("hosts", "gpus", "busy")
"""Drivers that each of several kinds of hosts has, too."""
SECTIONS, FACTORS = NAMES["section of the cost sheet"], NAMES["factor"]
Name = TypeVar("Name")
LIMITS: Mapping[str, Mapping[str, Any]] = {
    "warranty_years": {"kind": "int"},
    "hardware_price_change": {"low": -1, "high": 1},
    "power_usage_effectiveness": {"kind": "num", "low": 1},
}
"""Limits and formats of the factors that are no share from 0 to 1."""


class _Factor(NamedTuple):
    name: str
    label: str
    value: float
    unit: str
    basis: str
    sources: tuple[str, ...]
    note: str
    cell: float | Editable


class Money(PricedItems):
    """Cells of the cost's numbers in the workbook, and the formulas that connect them."""

    def __init__(self, plan: Plan) -> None:
        super().__init__(plan)
        self.bill = bill_of_materials(plan).without("currency", "known", "item")
        first = ("name", "value", "per", "low", "high", "basis", "as_of", "sources")
        self.price_table = ordered(prices(plan).without("currency", "stated", "old"), *first)
        self.price_row = {key: at for at, key in enumerate(self.prices, start=HEAD + 1)}
        self.price_name = _price_names(self.prices)
        terms = PriceList(plan.scenario, plan.catalog)
        self.follows = {key: pair for key in self.prices if (pair := terms.follows(key, self.prices))}
        self.unknown_w = {f"{name}_w" for name, w in self.drawn.items() if name in self.keys and not w}
        self.factors = self._factors()
        self._lay_out()

    def planned(self, key: str) -> float | None:
        """The planning price; None where it is unknown."""
        fact = self.prices[key]
        return None if fact is None else float(fact.value)

    def note(self, key: str) -> str:
        """The note of a sheet of costs: their currency, their day, and what they leave out."""
        costs = self.costs
        text = said(key, currency=costs.currency, day=written_day(costs.as_of))
        left_out = said("sheet.excludes", names="; ".join(costs.excludes)) if costs.excludes else ""
        return f"{text} {left_out}".rstrip()

    def price_at(self, key: str) -> str:
        """Return the address of the price in use: the reader's own, else the planning price."""
        return self.own_at(key, "used")

    def own_at(self, key: str, column: str) -> str:
        """Address of a cell of the sheet of own prices."""
        return address(self.price_row[key], at_column("own_prices", column), TABS["own"])

    def bill_at(self, material: int, key: str) -> str:
        """Address of a cell of the bill of materials, from another sheet."""
        return address(HEAD + 1 + material, column_of(self.bill, key), TABS["bill"])

    def missing(self, key: str) -> Live:
        """Return a word where the price is unknown, or was deleted: the formulas then count nothing for it."""
        word = said("sheet.price not known")
        return Live(f'IF({self.price_at(key)}="","{word}","")', "" if self.prices[key] else word)

    def year_at(self, row: int, year: int) -> str:
        """Address of a year of a row of the sheet of costs."""
        return address(row, 2 + year)

    def driver_at(self, name: str, year: int) -> str:
        """Return the address of a year's driver of running costs."""
        return self.year_at(self.driver_row[name], year)

    def weight_at(self, key: str) -> str:
        """Address of the discounted quantity behind a price, from another sheet."""
        return address(self.weight_row[key], 3 + self.last, TABS["years"])

    def _lay_out(self) -> None:
        """Assign the rows of the cost sheet, and the titles above some of them."""
        priced = {item.part for item in self.items}
        self.parts = [name for name in PARTS if name in priced or name in PARTS[7:]]
        with_units = [n for n, item in enumerate(self.items) if item.units == n]
        self.part_row, at = _rows(self.parts, HEAD + 2)
        self.cash_row = at
        self.results, at = _rows(RESULTS, at + 4)
        items, at = _rows(range(len(self.items)), at + 2)
        self.item_row = list(items.values())
        paid, at = _rows(range(len(self.items)), at + 2)
        self.paid_row = list(paid.values())
        self.unit_row, at = _rows(with_units, at + 3)
        self.driver_names = self._driver_names()
        self.driver_row, at = _rows(self.driver_names, at + 2)
        self.weight_row, _ = _rows(self.prices, at + 3)
        starts = {"parts": HEAD + 2, "results": self.results["total"], "drivers": self.driver_row["hosts"]}
        starts["weights"] = at + 2
        if self.items:
            units = self.unit_row[with_units[0]] - 1
            starts |= {"items": self.item_row[0], "paid": self.paid_row[0], "units": units}
        self.sections = {at - 1: SECTIONS[name] for name, at in starts.items()}
        notes = {"weights": "sheet.years.weights note", "units": "sheet.years.units note"}
        self.section_notes = {starts[name]: said(key) for name, key in notes.items() if name in starts}

    def _driver_names(self) -> dict[str, str]:
        """Each driver of running costs by its key; those of each of several kinds of hosts after those of all."""
        kinds = {kind.suffix or FIRST: kind.pools[0].whole_name for kind in self.counts.kinds}
        each = ((name, *kind) for kind in kinds.items() if kinds.keys() - {FIRST} for name in OF_KIND)
        return DRIVERS | {name + of: f"{DRIVERS[name]}: {hosts}" for name, of, hosts in each}

    def _factors(self) -> list[_Factor]:
        kinds, names = self.counts.kinds, dict(FACTORS)
        factors = [_share(name, fact) for name, fact in self.facts.items()]
        notes = dict.fromkeys(self.unknown_w, said("sheet.factor.fill in"))
        reserve = catalog_factor(self.plan.catalog, "host_u")
        notes["hosts_busy_w"] = said("sheet.factor.at the start")
        notes["hosts_per_rack"] = said("sheet.factor.reserve", height=amount(reserve.value, reserve.unit))
        derived: list[tuple[str, float, str]] = [("hours_per_year", HOURS_PER_YEAR, "h")]
        of_kinds = [self._of_kind(kind) for kind in kinds]
        for name in of_kinds[0]:
            for kind, (value, unit) in zip(kinds, (each[name] for each in of_kinds), strict=True):
                names[key := factor_of(name, kind)] = FACTORS[name] + f" ({kind.name})" * bool(kind.name)
                derived.append((key, value, unit))
        derived[-len(kinds) : -len(kinds)] = [(f"{name}_w", watts, "W") for name, watts in self.drawn.items()]
        if many := self.counts.management_hosts:
            derived += [("management_hosts", many, "host"), ("management_w", self.power.management_w, "W")]
        for name, value, unit in derived:
            cell = Editable(value, "num") if name in self.unknown_w else value
            label, note = names[name], notes.get(name, "")
            factors.append(_Factor(name, label, value, unit, "derived", ("gpuplan-method",), note, cell))
        return factors

    def _of_kind(self, kind: KindCounts) -> dict[str, tuple[float, str]]:
        """Return the factors of the hosts of a kind, with their units."""
        power = self.power.kinds[kind.name]
        return {
            "planned_hosts": (kind.hosts(self.plan.growth.hosts[0]), "host"),
            "existing_hosts": (kind.existing, "host"),
            "existing_gpus": (sum(host.gpus for host in kind.owned), "GPU"),
            "gpus_per_board": (kind.gpus_per_host / kind.boards_per_host, "GPU"),
            "hosts_busy_w": (power.all_busy_w, "W"),
            "host_busy_w": (power.busy_w, "W"),
            "idle_share": (power.idle_share, "1"),
            "hosts_per_rack": (power.per_rack, "host"),
        }


def factor_of(name: str, kind: KindCounts) -> str:
    """Return the name in formulas of a factor of a kind of hosts."""
    return name + re.sub(r"\W", "_", kind.suffix)


def _share(name: str, fact: Fact) -> _Factor:
    value, label = float(fact.value), FACTORS[name]
    cell = Editable(value, **{"kind": "percent", **LIMITS.get(name, {"high": 1})})
    return _Factor(name, label, value, "1", fact.basis, fact.sources, fact.note, cell)


def _price_names(keys: Iterable[str]) -> dict[str, str]:
    """Map each price to its name in formulas: ``gpus/h100-nvl-94gb`` is ``price_h100_nvl_94gb``."""
    names: dict[str, str] = {}
    for key in keys:
        name = "price_" + re.sub(r"[^a-z0-9]+", "_", key.rpartition("/")[2].lower()).strip("_")
        free = (name if n == 1 else f"{name}_{n}" for n in count(1))
        names[key] = next(option for option in free if option not in names.values())
    return names


def _rows(names: Iterable[Name], start: int) -> tuple[dict[Name, int], int]:
    """Return (row of each, the first row below them)."""
    rows = {name: at for at, name in enumerate(names, start)}
    return rows, start + len(rows)


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

    def kind_in(self, column: SheetColumn) -> str:
        """The kind of its cell in a column: in a year's, its own."""
        return self.kind if column.kind == "money" else column.kind

    def summed(self) -> "Row":
        """The row with the sum of all years."""
        values = [cell.value if isinstance(cell, Live | Editable) else cell for cell in self.cells]
        in_all = cost.total_cost(*(float(value or 0) for value in values))
        return self._replace(total=Live(sum_of([self.at], range(2, 2 + len(self.cells))), in_all))


def results(money: Money) -> Iterator[Row]:
    """Total, net present cost and cost of a GPU-hour."""
    costs, cash, none = money.costs, money.cash_row, said("sheet.none")
    low, high = money.plan.cost_ranges.net_present if money.plan.cost_ranges else (0.0, 0.0)

    def later(row: int) -> str:
        """The present value of a row of later years."""
        return f"NPV(discount_rate,{money.year_at(row, 1)}:{money.year_at(row, money.last)})"

    def hours(kind: str, years: Sequence[float]) -> Live:
        discounted = cost.net_present_cost([0.0, *years], rate=money.factor("discount_rate"))
        return Live(later(money.driver_row[f"hours_{kind}"]), discounted)

    def gpu_hour(kind: str, value: float | None) -> Live:
        paid, hours = (address(money.results[name], 2) for name in ("net_present", f"hours_{kind}"))
        return Live(f'IF({hours}=0,"{none}",{paid}/{hours})', none if value is None else value)

    figures = {
        "total": (Live(address(cash, 3 + money.last), costs.total), "money"),
        "net_present": (Live(f"{money.year_at(cash, 0)}+{later(cash)}", costs.net_present), "money"),
        "hours_installed": (hours("installed", costs.gpu_hours), "int"),
        "hours_used": (hours("used", costs.used_gpu_hours), "int"),
        "gpu_hour_installed": (gpu_hour("installed", costs.gpu_hour_installed), "price"),
        "gpu_hour_used": (gpu_hour("used", costs.gpu_hour_used), "price"),
    }
    span = said("sheet.result.span", low=number(round(low)), high=number(round(high)))
    notes = {"net_present": span, "hours_used": said("sheet.result.hours note")}
    for name, at in money.results.items():
        value, kind = figures[name]
        label = told(RESULTS[name], {"years": costs.years})
        yield Row(at, label, (value, *[None] * money.last), note=notes.get(name, ""), kind=kind)


def name_results(book: Book, money: Money) -> None:
    """Give the results their names."""
    costs = money.costs
    for name, result, value, kind in (
        ("total_cost", "total", costs.total, "money"),
        ("net_present_cost", "net_present", costs.net_present, "money"),
        ("gpu_hour_installed", "gpu_hour_installed", costs.gpu_hour_installed, "price"),
        ("gpu_hour_used", "gpu_hour_used", costs.gpu_hour_used, "price"),
    ):
        where = address(money.results[result], 2, TABS["years"])
        book.name(name, where, told(RESULTS[result], {"years": costs.years}), value, kind=kind)
    start = address(money.cash_row, 2, TABS["years"])
    book.name("paid_at_start", start, said("sheet.result.at start"), costs.cash[0], kind="money")
