"""The plan as a workbook: sheets for each topic, and a cost that recalculates when a price, a discount or a quantity is changed.

Cost formulas refer to the sheets Bill of materials, Prices and Factors; each carries the value of the plan, so that it shows
without calculation. Hosts, placement and power come from the plan and do not change with the workbook.
"""

from __future__ import annotations

import datetime
import io
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from gpuplan.facts import Fact
from gpuplan.models import cost, power
from gpuplan.models.availability import HOURS_PER_YEAR
from gpuplan.plan import Plan
from gpuplan.plan.bill_of_materials import (
    GPU_LICENCES,
    PLATFORMS,
    Counts,
    Material,
    included_years,
    server_price,
)
from gpuplan.plan.checks import check_plan
from gpuplan.plan.cost import HARDWARE, PARTS, Costs
from gpuplan.plan.customer import earned_in_all, earnings
from gpuplan.plan.power import usual_power_w
from gpuplan.plan.prices import catalog_factor, factor, newest_price
from gpuplan.plan.results import Line, Pool
from gpuplan.report.cost_report import INTERNAL, PER
from gpuplan.report.document import clean
from gpuplan.report.explain import formula_text
from gpuplan.report.tables import group_names, idle_text
from gpuplan.scenario import FIELDS, GROUP_FIELDS, field_of
from gpuplan.wording import (
    MODE_NAMES,
    TRANSPORT_NAMES,
    VERDICTS,
    amount,
    basis_word,
    number,
    stated_percent,
    week_hours,
)

MAX_TEXT = 32_767
"""Longest text that a cell holds."""
MAX_HOST_ROWS = 500
"""Beyond so many hosts a row stands for all hosts of a kind."""
HEAD = 3
"""Row of the heads, from 0; title and note stand above."""
BILL, YEARS = "Bill of materials", "Cost by year"
FORMATS: Mapping[str, Mapping[str, Any]] = {
    "text": {"text_wrap": True},
    "line": {},
    "int": {"num_format": "#,##0"},
    "num": {"num_format": "#,##0.0##"},
    "small": {"num_format": "0.0#####"},
    "money": {"num_format": "#,##0"},
    "price": {"num_format": "#,##0.00##"},
    "percent": {"num_format": "0.00%"},
    "title": {"bold": True, "font_size": 14},
    "section": {"bold": True, "font_size": 12, "bottom": 1},
    "head": {"bold": True, "text_wrap": True, "bg_color": "#E7E9ED", "bottom": 1},
}
TINT = "#FFF4CC"
"""Of cells that are meant to be changed."""
RUNNING = {
    "Power": "electricity-kwh",
    "Cooling": "electricity-kwh",
    "Space": "rack-year",
    "Administration": "administration-host-year",
}
"""Part -> what its price is known by."""
STATUS = {
    "bought": "at the start",
    "yearly": "each year",
    "included": "included",
    "there": "there already",
    "to be sized": "to be sized",
}


class Live(NamedTuple):
    """A formula and the value that it has in the plan; ``kind`` where it is not that of its column."""

    formula: str
    value: Any
    kind: str = ""


class Editable(NamedTuple):
    """A value that is meant to be changed; None where nobody knows it."""

    value: float | None
    kind: str = ""


class Column(NamedTuple):
    """Head, width in characters and kind of a column."""

    head: str
    width: float
    kind: str = "text"


class Block(NamedTuple):
    """One of several tables of a sheet."""

    title: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[Any]]


def xlsx_bytes(plan: Plan) -> bytes:
    """The plan as a workbook in the format of Excel; the same plan always gives the same bytes.

    Parameters
    ----------
    plan : Plan
        The plan; of the customer's version if the workbook is for the customer. [-]

    Returns
    -------
    xlsx_bytes : bytes
        The file. [-]
    """
    book = _Book(plan)
    money = _Money(plan) if plan.costs else None
    _summary(book, plan, money)
    _groups(book, plan, money)
    _hosts(book, plan)
    _demand(book, plan)
    _availability(book, plan)
    _network(book, plan)
    _bill(book, plan, money)
    _cost_by_year(book, plan, money)
    _power(book, plan)
    _inputs(book, plan)
    _prices(book, plan, money)
    _factors(book, money)
    _trail(book, plan)
    _sources(book, plan)
    _messages(book, plan)
    _decisions(book, plan)
    _internal(book, plan)
    return book.content()


def _clean(text: str) -> str:
    """A text without what a cell cannot hold."""
    text = clean(text).replace("\r", "")
    return text if len(text) <= MAX_TEXT else text[: MAX_TEXT - 1] + "…"


def _unit(unit: str) -> str:
    """A unit as it is shown: a count has none."""
    return "" if unit == "1" else unit


def _letters(col: int) -> str:
    return ("" if col < 26 else chr(64 + col // 26)) + chr(65 + col % 26)


def _at(row: int, col: int, sheet: str = "") -> str:
    """Address of a cell, rows and columns counted from 0."""
    where = f"'{sheet}'!" if " " in sheet else f"{sheet}!" if sheet else ""
    return f"{where}${_letters(col)}${row + 1}"


def _sum(rows: Iterable[int], cols: Iterable[int]) -> str:
    """Sum of the cells in all these rows and columns, neighbours taken together; 0 without any."""
    columns = _runs(cols)
    terms = [
        _at(down[0], across[0])
        if len(down) == len(across) == 1
        else f"SUM({_at(down[0], across[0])}:{_at(down[-1], across[-1])})"
        for down in _runs(rows)
        for across in columns
    ]
    return f"({'+'.join(terms)})" if len(terms) > 1 else "".join(terms) or "0"


def _runs(numbers: Iterable[int]) -> list[list[int]]:
    """Ascending numbers as runs without gaps."""
    found: list[list[int]] = []
    for n in numbers:
        if found and found[-1][-1] == n - 1:
            found[-1].append(n)
        else:
            found.append([n])
    return found


class _Book:
    """The workbook that is written, its styles and its ways to lay out a sheet."""

    def __init__(self, plan: Plan) -> None:
        import xlsxwriter

        self._file = io.BytesIO()
        self._book = xlsxwriter.Workbook(
            self._file,
            {
                "in_memory": True,
                "strings_to_formulas": False,
                "strings_to_urls": False,
                "strings_to_numbers": False,
            },
        )
        as_of = plan.costs.as_of if plan.costs else plan.scenario.cost.as_of or newest_price(plan.catalog)
        self._book.set_properties(
            {
                "title": _clean(plan.scenario.name)[:255],
                "subject": "Design workbook",
                "created": datetime.datetime.fromisoformat(as_of),
            }
        )
        self._styles: dict[tuple[Any, ...], Any] = {}

    def content(self) -> bytes:
        """The bytes of the file."""
        self._book.close()
        return self._file.getvalue()

    def name(self, name: str, address: str) -> None:
        """Give a cell a name of its own."""
        self._book.define_name(name, f"={address}")

    def _style(self, kind: str, bold: bool = False, tinted: bool = False, quoted: bool = False) -> Any:
        key = (kind, bold, tinted, quoted)
        if key not in self._styles:
            made = self._book.add_format({"valign": "top", **FORMATS[kind]})
            if bold:
                made.set_bold()
                made.set_top(1)
            if tinted:
                made.set_bg_color(TINT)
                made.set_border(4)
            if quoted:
                made.set_quote_prefix()
            self._styles[key] = made
        return self._styles[key]

    def put(self, sheet: Any, row: int, col: int, value: Any, kind: str = "text", bold: bool = False) -> None:
        """Write a cell: text is never a formula, a number has the format of its kind or of its size."""
        tinted = isinstance(value, Editable)
        if isinstance(value, Live | Editable):
            kind = value.kind or kind
        given: Any = value.value if isinstance(value, Live | Editable) else value
        if isinstance(given, bool):
            given = "yes" if given else "no"
        is_number = isinstance(given, int | float)
        if is_number and kind in ("text", "num"):
            whole = float(given).is_integer()
            kind = "int" if whole else "num" if abs(given) >= 0.1 else "small"
        if isinstance(value, Live):
            sheet.write_formula(row, col, f"={value.formula}", self._style(kind, bold), given)
        elif given in (None, ""):
            if tinted or bold or kind == "head":
                sheet.write_blank(row, col, None, self._style(kind, bold, tinted))
        elif is_number:
            sheet.write_number(row, col, given, self._style(kind, bold, tinted))
        else:
            text = _clean(str(given))
            quoted = text.startswith(("=", "+", "-", "@"))
            sheet.write_string(row, col, text, self._style(kind, bold, tinted, quoted))

    def sheet(self, name: str, note: str = "", title: str = "") -> Any:
        """A new sheet with title and note, set up for print."""
        made = self._book.add_worksheet(name)
        self.put(made, 0, 0, title or name, "title")
        self.put(made, 1, 0, note, "line")
        made.set_landscape()
        made.set_paper(9)
        made.fit_to_pages(1, 0)
        made.set_footer("&L&A&R&P / &N")
        made.hide_gridlines(2)
        return made

    def table(
        self,
        name: str,
        note: str,
        columns: Sequence[Column],
        rows: Sequence[Sequence[Any]],
        tail: Sequence[Sequence[Any]] = (),
    ) -> Any:
        """A sheet with one table that can be filtered; ``tail`` are rows that sum it up."""
        sheet = self.sheet(name, note)
        for col, column in enumerate(columns):
            sheet.set_column(col, col, column.width)
        self._rows(sheet, HEAD, columns, rows, tail)
        if rows:
            sheet.autofilter(HEAD, 0, HEAD + len(rows), len(columns) - 1)
        sheet.freeze_panes(HEAD + 1, 1)
        sheet.repeat_rows(HEAD)
        return sheet

    def blocks(self, name: str, note: str, blocks: Sequence[Block], title: str = "") -> Any:
        """A sheet with several tables below each other."""
        sheet = self.sheet(name, note, title)
        held = [block for block in blocks if block.rows]
        for col in range(max((len(block.columns) for block in held), default=0)):
            wide = max(block.columns[col].width for block in held if col < len(block.columns))
            sheet.set_column(col, col, wide)
        at = HEAD
        for block in held:
            self.put(sheet, at, 0, block.title, "section")
            self._rows(sheet, at + 1, block.columns, block.rows)
            at += len(block.rows) + 3
        if not held:
            self.put(sheet, HEAD, 0, "Nothing to show for this design.")
        sheet.freeze_panes(HEAD, 0)
        sheet.repeat_rows(0)
        return sheet

    def _rows(
        self,
        sheet: Any,
        head: int,
        columns: Sequence[Column],
        rows: Sequence[Sequence[Any]],
        tail: Sequence[Sequence[Any]] = (),
    ) -> None:
        for col, column in enumerate(columns):
            self.put(sheet, head, col, column.head, "head")
        for at, row in enumerate((*rows, *tail), start=head + 1):
            for col, (column, value) in enumerate(zip(columns, row, strict=True)):
                self.put(sheet, at, col, value, column.kind, bold=at > head + len(rows))

    @staticmethod
    def limit(sheet: Any, row: int, col: int, high: float | None = None, low: float = 0) -> None:
        """Let a cell take numbers from ``low`` on only, or up to ``high``."""
        rule = {"validate": "decimal", "ignore_blank": True, "error_title": "Not allowed"}
        if high is None:
            rule |= {"criteria": ">=", "value": low, "error_message": f"A number of at least {low:g}."}
        else:
            between = {"criteria": "between", "minimum": low, "maximum": high}
            rule |= {**between, "error_message": f"A number from {low:g} to {high:g}."}
        sheet.data_validation(row, col, row, col, rule)


# ---- the money as formulas


class _Item(NamedTuple):
    """Something that is paid for by the piece."""

    part: str
    name: str
    material: int
    """Index of its material in the bill; the discount stands there."""
    price: str
    """Key of its price."""
    units: int
    """Index of the item whose units these are: support has those of what it supports."""
    lots: tuple[float, ...]
    """How many are bought or licensed anew, at the start and in each year."""
    paid: tuple[tuple[int, ...], ...]
    """For each year, from the start, the lots that are paid for in it, by the year they are from."""


class _Price(NamedTuple):
    """A row of the sheet of prices."""

    key: str
    name: str
    per: str
    fact: Fact | None
    as_of: str
    stated: bool
    old: bool


class _Factor(NamedTuple):
    """A row of the sheet of factors."""

    name: str
    label: str
    value: float
    unit: str
    basis: str
    sources: tuple[str, ...]
    note: str
    editable: bool
    kind: str


class _Money:
    """Where the numbers of the cost stand in the workbook, and by which formulas they follow from each other."""

    def __init__(self, plan: Plan) -> None:
        assert plan.costs is not None and plan.power is not None
        self.plan, self.costs, self.power = plan, plan.costs, plan.power
        self.last = self.costs.years
        self.counts = Counts(plan.scenario, plan.catalog, plan.pools, plan.cabling)
        self.prices = [
            *(_Price(p.key, p.name, p.per, p.fact, p.as_of, p.stated, p.old) for p in self.costs.prices),
            *(_Price(u.key, u.name, u.per, None, "", False, False) for u in self.costs.unknown),
        ]
        self.price_row = {price.key: HEAD + 1 + at for at, price in enumerate(self.prices)}
        self.value = {price.key: float(price.fact.value) if price.fact else 0.0 for price in self.prices}
        self.keys = _price_keys(plan, self.costs.materials)
        self.items = self._items()
        self.factors = self._factors()
        self._lay_out()

    def factor(self, name: str) -> float:
        """Value of a factor."""
        return next(f.value for f in self.factors if f.name == name)

    def price_at(self, key: str) -> str:
        """Address of a price."""
        return _at(self.price_row[key], 3, "Prices")

    def missing(self, key: str) -> Live:
        """A word where the price is not known, or was deleted: the formulas then count nothing for it."""
        known = self.prices[self.price_row[key] - HEAD - 1].fact is not None
        word = "price not known: left out"
        return Live(f'IF({self.price_at(key)}="","{word}","")', "" if known else word)

    def year_at(self, row: int, year: int) -> str:
        """Address of a year of a row of the sheet of costs."""
        return _at(row, 2 + year)

    def result_at(self, name: str) -> str:
        """Address of a result of the sheet of costs, from another sheet."""
        return _at(self.results[name], 2, YEARS)

    def _lay_out(self) -> None:
        """Rows of the sheet of costs."""
        priced = {item.part for item in self.items}
        always = ("Hardware support", "Power", "Cooling", "Space", "Administration", "Value left")
        self.parts = [name for name in PARTS if name in priced or name in always]
        at = HEAD + 2
        self.part_row = {name: at + n for n, name in enumerate(self.parts)}
        at += len(self.parts)
        self.cash_row = at
        at += 4
        names = (
            "total",
            "net_present",
            "hours_installed",
            "hours_used",
            "gpu_hour_installed",
            "gpu_hour_used",
        )
        self.results = {name: at + n for n, name in enumerate(names)}
        at += len(names) + 2
        self.item_row = [at + n for n in range(len(self.items))]
        at += len(self.items) + 2
        own = [n for n, item in enumerate(self.items) if item.units == n]
        self.unit_row = {n: at + i for i, n in enumerate(own)}
        at += len(own) + 2
        drivers = ("hosts", "gpus", "busy", "load", "kwh", "racks", "hours_installed", "hours_used")
        self.driver_row = {name: at + n for n, name in enumerate(drivers)}

    def _items(self) -> list[_Item]:
        found: list[_Item] = []
        years = range(self.last + 1)
        at_once = tuple((year,) for year in years)
        running = ((), *(tuple(range(year + 1)) for year in years[1:]))
        for at, material in enumerate(self.costs.materials):
            key = self.keys.get(material.key, "")
            lots = self._lots(material)
            if material.key == "platform" and self.plan.scenario.cost.platform_licence == "socket":
                found.append(_Item(material.part, material.name, at, key, len(found), lots, at_once))
                support = "platform-support-socket-year"
                name = f"{material.name}: support"
                found.append(_Item(material.part, name, at, support, len(found) - 1, lots, running))
            elif not key:
                continue
            elif material.key == "platform":
                found.append(_Item(material.part, material.name, at, key, len(found), lots, running))
            elif material.key == "gpu-software":
                found += self._gpu_software(at, material, key, lots, len(found))
            else:
                found.append(_Item(material.part, material.name, at, key, len(found), lots, at_once))
        return found

    def _lots(self, material: Material) -> tuple[float, ...]:
        """How many of a material are bought at the start and in each year."""
        start = self.counts.at_start()
        first = self.plan.pools[0].id
        held: list[float] = []
        for hosts in self.costs.hosts:
            grown = {**start, first: start[first] + hosts - self.costs.hosts[0]}
            many = self.counts.of(grown).get(material.key, material.quantity)
            held.append(max(many, held[-1]) if held else many)
        return (held[0], *(after - before for before, after in pairwise(held)))

    def _gpu_software(
        self, at: int, material: Material, key: str, lots: tuple[float, ...], index: int
    ) -> list[_Item]:
        """Licences of GPU software, by the year or for a term, and their support."""
        plan, choice, last = self.plan, self.plan.scenario.cost.gpu_licence, self.last
        free = included_years(plan.scenario, plan.catalog)
        supported = int(plan.catalog.products["nvidia-ai-enterprise"].fact("support_years").value)
        years = range(last + 1)

        def yearly(lot: int, included: int) -> list[float]:
            return [0.0] + [
                cost.subscription_cost(1, yearly_price=1, year=year, bought_year=lot, years_included=included)
                for year in years[1:]
            ]

        def terms(lot: int) -> Sequence[float]:
            return cost.term_licence_purchases(
                1,
                price=1,
                term_years=5 if choice == "5-years" else last + 1,
                horizon_years=last,
                bought_year=lot,
                years_included=free,
            )

        flows = [yearly(lot, free) if choice == "year" else terms(lot) for lot in years]
        paid = tuple(tuple(lot for lot in years if flows[lot][year]) for year in years)
        support = "nvaie-support-year"
        later = [yearly(lot, free + supported) for lot in years]
        renewed = tuple(tuple(lot for lot in years if later[lot][year]) for year in years)
        has_support = support in self.price_row
        if len(plan.pools) > 1:
            lots = self._licences(material, key, paid, free, renewed if has_support else None)
        found = [_Item(material.part, material.name, at, key, index, lots, paid)]
        if has_support:
            found.append(_Item(material.part, f"{material.name}: support", at, support, index, lots, renewed))
        return found

    def _licences(
        self,
        material: Material,
        key: str,
        paid: Sequence[Sequence[int]],
        free: int,
        renewed: Sequence[Sequence[int]] | None,
    ) -> tuple[int, ...]:
        """Licences of each year by what is paid for them, as only some of several pools take them."""
        part = next((p for p in self.costs.parts if p.name == material.part), None)
        net = self.value[key] * (1 - material.discount)
        found = [int(material.quantity)]
        for lot in range(1, self.last + 1):
            year, bought = lot + free, 0
            if part is not None and net and year <= self.last:
                known = net * sum(found[b] for b in paid[year] if b < lot)
                if renewed:
                    each = self.value["nvaie-support-year"] * (1 - material.discount)
                    known += each * sum(found[b] for b in renewed[year] if b < lot)
                bought = round((part.yearly[year] - known) / net)
            found.append(bought)
        return tuple(found)

    def item_cost(self, item: _Item, year: int) -> float:
        """What is paid for an item in a year."""
        lots = self.items[item.units].lots
        price = self.value[item.price] * (1 - self.costs.materials[item.material].discount)
        return price * sum(lots[lot] for lot in item.paid[year])

    def part_cost(self, name: str) -> tuple[float, ...]:
        """What is paid for a part at the start and in each year."""
        found = next((part for part in self.costs.parts if part.name == name), None)
        return found.yearly if found else (0.0,) * (self.last + 1)

    def kwh(self, year: int) -> float:
        """Energy of hosts and switches in a year, without cooling."""
        held = {
            self.costs.materials[item.material].key: sum(item.lots[: year + 1])
            for n, item in enumerate(self.items)
            if item.units == n
        }
        hosts_w = power.typical_power_w(
            self.power.hosts_peak_w + (self.costs.hosts[year] - self.costs.hosts[0]) * self.power.host_peak_w,
            idle_share=self.power.idle_share,
            load=self.costs.used_gpu_hours[year - 1] / self.costs.gpu_hours[year - 1],
        )
        switches_w = [held.get(name, 0) * self.factor(f"{name}_w") for name in ("leaf", "spine")]
        return power.energy_kwh(power.total_power_w(hosts_w, *switches_w))

    def _factors(self) -> list[_Factor]:
        catalog, scenario = self.plan.catalog, self.plan.scenario
        found = [
            self._editable("discount_rate", "Discount rate a year", factor(scenario, catalog, "discount_rate")),
            self._editable("hardware_discount", "Discount on hardware", scenario.fact("cost.hardware_discount")),
            self._editable("licence_discount", "Discount on licences", scenario.fact("cost.licence_discount")),
            self._editable("support_share", "Hardware support a year, share of the hardware",
                           factor(scenario, catalog, "support_share")),
            self._editable("residual_share", "Value left at the end, share of the hardware",
                           factor(scenario, catalog, "residual_share")),
            self._editable("power_usage_effectiveness", "PUE: power of the building over that of the machines",
                           factor(scenario, catalog, "pue"), "num"),
        ]  # fmt: skip
        if scenario.cost.utilisation is not None:
            found.append(
                self._editable("stated_utilisation", "GPU-hours used", scenario.fact("cost.utilisation"))
            )
        new = self.costs.hosts[0] - self.counts.existing
        per_host = scenario.hardware.gpus_per_host
        spine = next((m for m in self.costs.materials if m.key == "spine"), None)
        spine_w = self.power.spine_w
        if spine is not None and not spine.quantity:
            spine_w = usual_power_w(catalog.switches[spine.item.removeprefix("switches/")]) or 0.0
        drawn = {"leaf": self.power.leaf_w, "spine": spine_w}
        self.unknown_w = {f"{name}_w" for name, watts in drawn.items() if name in self.keys and not watts}
        reserve = catalog_factor(catalog, "host_u")
        fill = "not known: what one of them usually draws may be filled in"
        derived: list[tuple[str, str, float, str, str]] = [
            ("hours_per_year", "Hours of a year", HOURS_PER_YEAR, "h", ""),
            ("planned_hosts", "Hosts at the start, as placed", self.costs.hosts[0], "host", ""),
            ("existing_hosts", "Hosts there already", self.counts.existing, "host", ""),
            ("existing_gpus", "GPUs there already", self.costs.gpus[0] - new * per_host, "GPU", ""),
            ("gpus_per_board", "GPUs of a board, as used", per_host / self.counts.boards_per_host, "GPU", ""),
            ("hosts_peak_w", "All GPU hosts at full load", self.power.hosts_peak_w, "W", "at the start"),
            ("host_peak_w", "A new host at full load", self.power.host_peak_w, "W", ""),
            ("idle_share", "Share of its peak that a host draws idle", self.power.idle_share, "1", ""),
            ("leaf_w", "A leaf switch", self.power.leaf_w, "W", fill if "leaf_w" in self.unknown_w else ""),
            ("spine_w", "A spine switch", spine_w, "W", fill if "spine_w" in self.unknown_w else ""),
            (
                "hosts_per_rack",
                "Hosts in a rack",
                self.power.hosts_per_rack,
                "host",
                f"with {amount(reserve.value, reserve.unit)} for a host of unknown height",
            ),
        ]
        return found + [
            _Factor(
                name, label, value, unit, "derived", ("gpuplan-method",), note, name in self.unknown_w, "num"
            )
            for name, label, value, unit, note in derived
        ]

    @staticmethod
    def _editable(name: str, label: str, fact: Fact, kind: str = "percent") -> _Factor:
        value = float(fact.value)
        return _Factor(name, label, value, "1", fact.basis, fact.sources, fact.note, True, kind)


def _price_keys(plan: Plan, materials: Sequence[Material]) -> dict[str, str]:
    """Material -> what its price is known by, for those that money is paid for."""
    scenario, costs = plan.scenario, plan.costs
    assert costs is not None
    link, fabric = scenario.network.link_gbit_s, plan.cabling
    up = fabric.switches.up_gbit_s if fabric and fabric.switches else 0
    gpu = f"gpus/{scenario.hardware.gpu}"
    keys = {
        "servers": server_price(scenario, plan.catalog)[0],
        "gpus": gpu,
        "spare-gpus": gpu,
        "adapters": f"adapter-{link}g",
        "host-cables": f"cable-{link}g",
        "switch-cables": f"cable-{number(up)}g",
        "platform": PLATFORMS[scenario.cost.platform_licence][2],
        "gpu-software": GPU_LICENCES.get(scenario.cost.gpu_licence, ("", ""))[0],
        "management-hosts": "management-host",
        "compute-hosts": "compute-host",
        "storage": "storage-tb",
    }
    keys |= {m.key: m.item for m in materials if m.key in ("leaf", "spine")}
    known = {price.key for price in costs.prices} | {item.key for item in costs.unknown}
    return {m.key: keys[m.key] for m in materials if keys.get(m.key) in known}


# ---- sheets


def _titles(plan: Plan, ids: Iterable[str]) -> str:
    """Titles of sources."""
    known = plan.catalog.sources
    words = ["this scenario" if id == "scenario" else known[id].title if id in known else id for id in ids]
    return "; ".join(dict.fromkeys(words))


def _summary(book: _Book, plan: Plan, money: _Money | None) -> None:
    scenario, totals, costs = plan.scenario, plan.totals, plan.costs
    as_of = costs.as_of if costs else scenario.cost.as_of or newest_price(plan.catalog)
    gpu = plan.catalog.gpus[scenario.hardware.gpu].name
    about: list[tuple[Any, ...]] = [
        ("Design", scenario.name, "", ""),
        ("Customer", scenario.customer, "", ""),
        ("GPU", gpu, "", ""),
        ("As of", as_of, "", "day of the prices"),
        ("Catalog", plan.catalog.digest, "", "fingerprint of the figures that the design rests on"),
    ]
    answer: list[tuple[Any, ...]] = [
        ("GPUs demanded", totals.gpus_demanded, "GPU", ""),
        ("Hosts", totals.hosts, "host", f"{totals.hosts_for_demand} for the demand, {totals.hosts_for_failures} for failure and maintenance"),
        ("GPUs", totals.gpus, "GPU", ""),
        ("GPUs after failure", totals.gpus_after_failure, "GPU", ""),
        ("VMs not placed", totals.unplaced_vms, "VM", ""),
        ("VMs not placed after the worst host failure", totals.unplaced_vms_after_failure, "VM", ""),
    ]  # fmt: skip
    if plan.power:
        answer += [
            ("Power, typical", plan.power.typical_w / 1000, "kW", "without cooling"),
            ("Power, peak", plan.power.peak_w / 1000, "kW", "without cooling"),
        ]
    blocks = [
        Block("Design", _about_columns(), about),
        Block("Answer", _about_columns(), answer),
    ]
    if money is not None and costs is not None:
        blocks.append(Block(f"Cost over {costs.years} years", _about_columns(), _summary_cost(money, costs)))
    guide = [
        ("Tinted cells", "may be changed: prices, factors, discounts, quantities", "", f"on Prices, Factors, {BILL} and {YEARS}"),
        ("Money", "follows at once, by formulas", "", f"{BILL}, {YEARS} and this sheet"),
        ("Hosts, placement, risk and power", "stay as planned", "", "make the design anew in gpuplan to change them"),
        ("Every number", "is explained on Trail", "", "with formula, inputs, basis and sources"),
    ]  # fmt: skip
    blocks.append(Block("How to read this workbook", _about_columns(), guide))
    book.blocks("Summary", "", blocks, title=scenario.name)


def _about_columns() -> list[Column]:
    return [Column("", 42), Column("Value", 44), Column("Unit", 10), Column("Note", 70)]


def _summary_cost(money: _Money, costs: Costs) -> list[tuple[Any, ...]]:
    currency = costs.currency
    rows: list[tuple[Any, ...]] = [
        ("Net present cost", Live(money.result_at("net_present"), costs.net_present, "money"), currency, ""),
        ("Paid in all", Live(money.result_at("total"), costs.total, "money"), currency, ""),
        ("Paid at the start", Live(_at(money.cash_row, 2, YEARS), costs.cash[0], "money"), currency, ""),
    ]
    for name, value in (("installed", costs.gpu_hour_installed), ("used", costs.gpu_hour_used)):
        where = money.result_at(f"gpu_hour_{name}")
        rows.append(
            (f"A GPU-hour {name}", Live(where, "none" if value is None else value, "price"), currency, "")
        )
    rows.append(("Discount rate a year", Live("discount_rate", costs.discount_rate, "percent"), "", ""))
    known = f"{_at(HEAD + 1, 4, 'Prices')}:{_at(HEAD + len(money.prices), 4)}"
    missing = sum(price.fact is None for price in money.prices)
    unknown = Live(f'COUNTIF({known},"not known")', missing, "int")
    rows.append(("Prices not known", unknown, "", "counted as nothing until they are filled in on Prices"))
    if costs.excludes:
        rows.append(
            (
                "Cost excludes",
                "; ".join(costs.excludes),
                "",
                "as planned; what is filled in on Prices or Factors counts at once",
            )
        )
    if costs.outside:
        rows.append(("Not part of it", "; ".join(costs.outside), "", "there already, or sized elsewhere"))
    return rows


def _groups(book: _Book, plan: Plan, money: _Money | None) -> None:
    currency = plan.costs.currency if plan.costs else plan.scenario.cost.currency
    columns = [
        Column("Group", 30),
        Column("Access mode", 18),
        Column("People", 9, "int"),
        Column("Active at the peak", 10, "int"),
        Column("VMs", 9, "int"),
        Column("VMs placed", 9, "int"),
        Column("GPUs each (GPU)", 10, "num"),
        Column("GPUs demanded (GPU)", 11, "num"),
        Column("vGPU profile", 16),
        Column("Cluster", 20),
        Column("Share of the GPUs", 11, "percent"),
        Column(f"Share of the cost ({currency})", 14, "money"),
        Column("Why this access mode", 70),
        Column("Sources", 40),
    ]
    pools = {pool.id: pool.name for pool in plan.pools}
    people = {group.id: group.people for group in plan.scenario.groups}
    shares = {g.id: g for g in plan.costs.groups} if plan.costs else {}
    names = group_names(plan)
    plans = {group.id: group for group in plan.groups}
    rows: list[tuple[Any, ...]] = []
    for id in dict.fromkeys((*plans, *shares)):
        share = shares.get(id)
        paid: tuple[Any, ...] = (None, None)
        if share is not None and money is not None:
            at = HEAD + 1 + len(rows)
            paid = (share.share, Live(f"{_at(at, 10)}*{money.result_at('total')}", share.total))
        group = plans.get(id)
        if group is None:
            rows.append((names[id], *(None,) * 9, *paid, "", ""))
            continue
        unplaced = [u.reason for u in group.unplaced]
        rows.append(
            (
                group.name,
                MODE_NAMES[group.mode],
                people[id],
                group.active,
                group.vms,
                group.vms_placed,
                group.gpus_each,
                group.demand_gpus,
                group.profile,
                pools.get(group.pool, ""),
                *paid,
                " ".join([*(r.text for r in group.reasons), *unplaced]),
                _titles(plan, (s for r in group.reasons for s in r.sources)),
            )
        )
    book.table(
        "Groups", "Who asks for GPUs, how they reach them, and their share of the cost.", columns, rows
    )


def _hosts(book: _Book, plan: Plan) -> None:
    names = group_names(plan)
    hosts = [
        (pool, at, _contents(pool, at, names)) for pool in plan.pools for at in range(len(pool.placement))
    ]
    kinds: Counter[tuple[Any, ...]] = Counter()
    first: dict[tuple[Any, ...], int] = {}
    few = len(hosts) <= MAX_HOST_ROWS
    for pool, at, content in hosts:
        kind = (pool.name, content, at if few else None)
        kinds[kind] += 1
        first.setdefault(kind, at)
    rows = [
        (pool, first[kind] + 1, count, *content)
        for kind, count in kinds.items()
        for pool, content, _ in [kind]
    ]
    columns = [
        Column("Cluster", 22),
        Column("Host" if few else "First such host", 8, "int"),
        Column("Hosts alike", 8, "int"),
        Column("There already", 9),
        Column("GPUs (GPU)", 8, "int"),
        Column("GPUs taken (GPU)", 8, "int"),
        Column("VMs", 8, "int"),
        Column("On it", 90),
    ]
    note = (
        "One row for each host."
        if few
        else f"{number(len(hosts))} hosts; one row for all that are filled alike."
    )
    book.table("Hosts", note, columns, rows)


def _contents(pool: Pool, at: int, names: Mapping[str, str]) -> tuple[str, int, int, int, str]:
    """(there already, GPUs, GPUs taken, VMs, what is on it) of a host, equal loads counted."""
    counts: Counter[str] = Counter()
    vms = set()
    for load in pool.placement[at]:
        vms |= {(slot.group, slot.vm) for slot in load.slots}
        groups = Counter(slot.group for slot in load.slots)
        who = " + ".join(f"{n} x {names[g]}" for g, n in groups.items())
        if load.family:
            counts[f"GPU with {who} ({load.family.name})"] += 1
        else:
            counts[f"{names[load.slots[0].group]} with {amount(load.gpus, 'GPU')}"] += 1
    gpus, taken = pool.rooms[at].gpus, sum(load.gpus for load in pool.placement[at])
    words = [f"{n} x {what}" if n > 1 else what for what, n in counts.items()]
    if gpus > taken:
        words.append(f"{amount(gpus - taken, 'GPU')} free")
    return "yes" if at < pool.existing_hosts else "no", gpus, taken, len(vms), "; ".join(words)


LINE_COLUMNS = (
    Column("Figure", 60),
    Column("Value", 18),
    Column("Unit", 10),
    Column("Formula", 90),
    Column("Basis", 18),
)


def _lines(plan: Plan, *starts: str) -> list[tuple[Any, ...]]:
    """Lines of the trail whose keys start so."""
    return [
        (line.label, line.value, _unit(line.unit), formula_text(line), basis_word(line.basis))
        for key, line in plan.lines.items()
        if key.startswith(starts)
    ]


def _demand(book: _Book, plan: Plan) -> None:
    ends = (".active", ".vms", ".demand_gpus", ".held_gpus")
    groups = [
        (line.label, line.value, _unit(line.unit), formula_text(line), basis_word(line.basis))
        for key, line in plan.lines.items()
        if key.startswith("groups.") and key.endswith(ends)
    ]
    names = group_names(plan)
    pools = {pool.id: pool.name for pool in plan.pools}
    busy = [
        (
            pools.get(pool.pool, pool.pool),
            want.gpus,
            hosts,
            week_hours(want.mix.quarters),
            at == pool.chosen,
            ", ".join(f"{names[g]}: {n}" for g, n in want.requests.items() if n),
        )
        for pool in plan.hours
        for at, (want, hosts) in enumerate(zip(pool.needed, pool.hosts, strict=True))
    ]
    busy_columns = [
        Column("Cluster", 60),
        Column("GPUs enough (GPU)", 18, "num"),
        Column("Hosts", 10, "int"),
        Column("When (UTC)", 90),
        Column("Sized for it", 18),
        Column("Requests by group", 60),
    ]
    book.blocks(
        "Demand",
        "From people to GPUs.",
        [
            Block("In all", LINE_COLUMNS, _lines(plan, "demand.", "totals.")),
            Block("Busiest hours", busy_columns, busy),
            Block("By group", LINE_COLUMNS, groups),
        ],
    )


def _availability(book: _Book, plan: Plan) -> None:
    postures = [
        (
            f"N+{p.host_failures}",
            p.chosen,
            p.hosts,
            p.gpus,
            p.short_h,
            p.exposed_h,
            p.maintenance_short_h,
            p.chance,
        )
        for p in plan.postures
    ]
    columns = [
        Column("Posture", 34),
        Column("Chosen", 12),
        Column("Hosts", 12, "int"),
        Column("GPUs (GPU)", 12, "int"),
        Column("Short by failures (h a year)", 14, "num"),
        Column("Maintenance in which one failure is too much (h a year)", 18, "num"),
        Column("Short in maintenance (h a year)", 14, "num"),
        Column("Chance of that in a year", 14, "percent"),
    ]
    failures = [
        (pool.name, loss.hosts[0] + 1, loss.alike, loss.restarted, loss.moved, loss.unplaced, loss.unplaced_gpus, loss.proven)
        for pool in plan.pools
        for loss in pool.failures
    ]  # fmt: skip
    failed = [
        Column("Cluster", 34),
        Column("Host lost", 12, "int"),
        Column("Hosts filled alike", 12, "int"),
        Column("VMs restarted", 12, "int"),
        Column("VMs moved", 14, "int"),
        Column("VMs without a place", 18, "int"),
        Column("GPUs of these (GPU)", 14, "num"),
        Column("Proven the worst", 14),
    ]
    levels = [
        (pool.name, level.lost, level.gpus_left, *(_yes(x) for x in (level.fits, level.without_moving)))
        for pool in plan.pools
        for level in pool.losses
    ]
    level_columns = [
        Column("Cluster", 34),
        Column("Hosts down at once", 12, "int"),
        Column("GPUs left (GPU)", 12, "int"),
        Column("All have a place", 12),
        Column("By restarts alone", 14),
    ]
    book.blocks(
        "Availability",
        "What failures and maintenance do to the design.",
        [
            Block("Spare hosts and risk", columns, postures),
            Block("Loss of one host, by what is on it", failed, failures),
            Block("Loss of several hosts", level_columns, levels),
        ],
    )


def _yes(known: bool | None) -> str:
    return "not known" if known is None else "yes" if known else "no"


def _network(book: _Book, plan: Plan) -> None:
    given, fabric = plan.scenario.network, plan.cabling
    facts: list[tuple[Any, ...]] = [
        ("Link", given.link_gbit_s, "Gbit/s", "", ""),
        ("Transport", TRANSPORT_NAMES[given.transport], "", "", ""),
        ("Frame", given.mtu_bytes, "byte", "", ""),
    ]
    if fabric is not None:
        facts += [
            ("Adapters with two ports in each GPU host", fabric.adapters, "", "", ""),
            ("Distributed switches", fabric.distributed_switches, "", "", ""),
        ]
        held = fabric.switches
        if held is None:
            facts.append(("Switches", "none", "", fabric.reason, ""))
        else:
            facts += [
                ("Leaf switch", held.leaf_name, "", f"{held.shape.leaves} of them", ""),
                ("Spine switch", held.spine_name or "none", "", f"{held.shape.spines} of them", ""),
                ("Cables from hosts to leaves", held.shape.host_cables, "", "", ""),
                ("Cables between switches", held.shape.uplink_cables + held.shape.peer_cables, "", "", ""),
            ]
    remote = [
        (r.name, r.kept, r.kept_low, f"{r.workload_name}; {r.users} users of a link, {number(r.needs_gbit_s)} Gbit/s each; {VERDICTS[r.verdict]}", basis_word(r.basis), r.kept_high)
        for r in plan.network.remote
    ]  # fmt: skip
    training = [
        (t.name, t.efficiency, t.efficiency_low, f"{t.workload_name}; {t.hosts} hosts with {amount(t.gpus_per_host, 'GPU')} each; {VERDICTS[t.verdict]}", basis_word(t.basis), t.efficiency_high)
        for t in plan.network.training
    ]  # fmt: skip

    def ranged(what: str, value: str) -> list[Column]:
        return [
            Column(what, 60),
            Column(value, 18, "percent"),
            Column("Low", 10, "percent"),
            Column("Work", 90),
            Column("Basis", 18),
            Column("High", 10, "percent"),
        ]

    pairs = [Column("", 60), Column("", 18), Column("", 10), Column("", 90)]
    settings = [(s.where, "", "", s.what) for s in fabric.settings] if fabric else []
    failures = [(f.part, f.left, "", f.affected) for f in fabric.failures] if fabric else []
    rules = [(v.code, _yes(v.met), "", v.text) for v in plan.network.rules]
    named = {0: "Setting of", 3: "What"}
    book.blocks(
        "Network",
        "Links, fabric, and what the network does to the work.",
        [
            Block("Links and fabric", LINE_COLUMNS, facts),
            Block("GPUs over the network", ranged("Group", "Speed kept"), remote),
            Block("Training on several hosts", ranged("Job", "Efficiency"), training),
            Block("Settings", [c._replace(head=named.get(i, "")) for i, c in enumerate(pairs)], settings),
            Block("When a part fails", _heads(pairs, "Part", "Left", "", "Who notices"), failures),
            Block("Rules of the vendor", _heads(pairs, "Rule", "Met", "", "Why"), rules),
            Block("Figures", LINE_COLUMNS, _lines(plan, "network.")),
        ],
    )


def _heads(columns: Sequence[Column], *heads: str) -> list[Column]:
    return [column._replace(head=head) for column, head in zip(columns, heads, strict=True)]


def _bill(book: _Book, plan: Plan, money: _Money | None) -> None:
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
            where, here = money.price_at(key), _at(at, 4)
            value = material.price.value if material.price else ""
            discount = "hardware_discount" if material.part in HARDWARE else "licence_discount"
            known = Live(f'IF({where}="","not known","yes")', "yes" if material.price else "not known")
            formula = f'IF({here}="","",{_at(at, 2)}*{here}*(1-{_at(at, 6)}))'
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
                _unit(material.unit),
                *paid,
                STATUS[material.status],
                material.rule,
                material.item,
                _titles(plan, material.sources),
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
    paid, values = f"{_at(HEAD + 1, 8)}:{_at(end, 8)}", f"{_at(HEAD + 1, 7)}:{_at(end, 7)}"
    total = cost.total_cost(*(m.cost or 0.0 for m in costs.materials if m.status == status))
    return Live(f'SUMIF({paid},"{word}",{values})', total)


def _cost_by_year(book: _Book, plan: Plan, money: _Money | None) -> None:
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
            total = Live(_sum([at], range(2, 3 + last)), cost.total_cost(*(v or 0.0 for v in values)))
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
    cash = [Live(_sum(parts, [2 + year]), costs.cash[year]) for year in years]
    row(money.cash_row, "All parts", "", cash, costs.currency, bold=True)
    added = [
        Live(_sum([money.cash_row], range(2, 3 + year)), cost.total_cost(*costs.cash[: year + 1]))
        for year in years
    ]
    row(money.cash_row + 1, "Added up", "", added, costs.currency, summed=False)
    _results(book, sheet, money)

    book.put(sheet, money.item_row[0] - 1 if money.items else HEAD, 0, "Cost of each item", "section")
    for at, item in zip(money.item_row, money.items, strict=True):
        discount = _at(HEAD + 1 + item.material, 6, BILL)
        units = money.unit_row[item.units]
        each = f"{money.price_at(item.price)}*(1-{discount})"
        cells = [
            Live(
                f"{each}*{_sum([units], [2 + lot for lot in lots])}" if lots else "0",
                money.item_cost(item, year),
            )
            for year, lots in enumerate(item.paid)
        ]
        missing = money.missing(item.price)
        rule = _at(HEAD + 1 + item.material, 9, BILL)
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
        start = Live(_at(HEAD + 1 + item.material, 2, BILL), item.lots[0])
        unit = _unit(material.unit)
        amounts: list[Any] = [start, *(Editable(lot) for lot in item.lots[1:])]
        row(at, item.part, item.name, amounts, unit, kind="num")
        for year in years[1:]:
            book.limit(sheet, at, 2 + year)
    _drivers(book, sheet, money, row)
    sheet.freeze_panes(HEAD + 1, 2)
    sheet.repeat_rows(HEAD)


def _part_formula(money: _Money, name: str, year: int) -> str:
    """What is paid for a part in a year."""
    here = [at for at, item in zip(money.item_row, money.items, strict=True) if item.part == name]
    hardware = [money.part_row[part] for part in HARDWARE if part in money.part_row]
    driver = {key: money.year_at(at, year) for key, at in money.driver_row.items()}
    if name == "Value left":
        worth = f"-residual_share*{_sum(hardware, range(2, 3 + money.last))}"
        return worth if year == money.last else "0"
    if here:
        return _sum(here, [2 + year])
    if not year:
        return "0"
    return {
        "Hardware support": f"support_share*{_sum(hardware, range(2, 3 + year))}",
        "Power": f"{driver['kwh']}*{money.price_at(RUNNING['Power'])}",
        "Cooling": f"{money.year_at(money.part_row['Power'], year)}*(power_usage_effectiveness-1)",
        "Space": f"{driver['racks']}*{money.price_at(RUNNING['Space'])}",
        "Administration": f"{driver['hosts']}*{money.price_at(RUNNING['Administration'])}",
    }[name]


def _results(book: _Book, sheet: Any, money: _Money) -> None:
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
    here = {name: _at(at, 2) for name, at in money.results.items()}
    found: dict[str, tuple[str, Live, str, str]] = {
        "total": ("Paid in all", Live(_at(cash, 3 + last), costs.total), costs.currency, "money"),
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


def _drivers(book: _Book, sheet: Any, money: _Money, row: Any) -> None:
    """Hosts, GPUs, their use, energy and racks of each year."""
    costs, use = money.costs, money.power
    years = range(money.last + 1)
    book.put(sheet, money.driver_row["hosts"] - 1, 0, "What these follow from", "section")
    unit_rows = {costs.materials[money.items[n].material].key: at for n, at in money.unit_row.items()}

    def held(key: str, year: int) -> str:
        return _sum([unit_rows[key]] if key in unit_rows else [], range(2, 3 + year))

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


def _power(book: _Book, plan: Plan) -> None:
    use = plan.power
    parts = [
        (
            part.name,
            part.peak_w or "not known",
            "W",
            f"{number(part.count)} of them, typically "
            + (f"{number(round(part.typical_w))} W" if part.typical_w else "not known"),
            "",
        )
        for part in (use.parts if use else ())
    ]
    columns = _heads(LINE_COLUMNS, "Machines", "At peak", "Unit", "How many, and typical power", "")
    note = "On the day of the installation."
    if use and use.excludes:
        note += f" Not known: {'; '.join(use.excludes)}."
    blocks = [Block("By kind", columns, parts), Block("In all", LINE_COLUMNS, _lines(plan, "power."))]
    book.blocks("Power", note, blocks)


def _inputs(book: _Book, plan: Plan) -> None:
    scenario = plan.scenario
    paths = [field.path for field in FIELDS if not field.path.startswith("internal.")]
    paths += [f"groups.{group.id}.{field.path}" for group in scenario.groups for field in GROUP_FIELDS]
    paths += [f"{name}.{key}" for name in ("prices", "ranges") for key, _ in getattr(scenario, name)]
    rows: list[tuple[Any, ...]] = []
    for path in paths:
        label, value = _input_label(plan, path), scenario.get(path)
        if value is None or value == "":
            rows.append(
                (
                    label,
                    None,
                    "",
                    "",
                    "",
                    "",
                    "",
                    "empty: a planning value of the catalog, or nothing asked",
                    path,
                )
            )
            continue
        if isinstance(value, tuple):
            value = " to ".join(number(end) for end in value)
        origin, unit = scenario.origin(path), scenario.fact(path).unit
        known = (
            basis_word(origin.basis),
            _titles(plan, [origin.source]),
            origin.locator,
            origin.as_of,
            origin.note,
        )
        if path.startswith("prices."):
            unit = scenario.cost.currency
        rows.append((label, value, _unit(unit), *known, path))
    columns = [
        Column("Input", 48),
        Column("Value", 26),
        Column("Unit", 9),
        Column("Basis", 18),
        Column("Source", 34),
        Column("Where", 20),
        Column("As of", 11),
        Column("Note", 50),
        Column("In the scenario file", 38),
    ]
    note = "A record of what the design was made from. Change inputs in gpuplan: hosts and placement follow from them there."
    book.table("Inputs", note, columns, rows)


def _input_label(plan: Plan, path: str) -> str:
    """How an input is called on the screen, with the group or the price that it belongs to."""
    head, _, rest = path.partition(".")
    label = field_of(path).label
    if head == "groups":
        return f"{plan.scenario.get(path.rpartition('.')[0] + '.name')}: {label}"
    if head == "ranges":
        return f"Range: {_input_label(plan, rest)}"
    return f"{label}: {rest}" if head == "prices" else label


def _prices(book: _Book, plan: Plan, money: _Money | None) -> None:
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
            Live(f'IF({_at(at, 3)}="","not known","yes")', word),
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
            row += (fact.low, fact.high, *known, _titles(plan, fact.sources), fact.locator, fact.note)
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


def _factors(book: _Book, money: _Money | None) -> None:
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
            _unit(f.unit),
            basis_word(f.basis),
            _titles(money.plan, f.sources),
            f.note,
        )
        for f in money.factors
    ]
    note = "Tinted cells may be changed; a share of 0.1 is 10 per cent. The others follow from the design and stay as planned."
    sheet = book.table("Factors", note, columns, rows)
    for at, f in enumerate(money.factors, start=HEAD + 1):
        book.name(f.name, _at(at, 2, "Factors"))
        if f.editable:
            pue = f.name == "power_usage_effectiveness"
            book.limit(sheet, at, 2, None if pue or f.unit == "W" else 1, low=int(pue))


def _trail(book: _Book, plan: Plan) -> None:
    columns = [
        Column("Key", 40),
        Column("What", 46),
        Column("Value", 16),
        Column("Unit", 9),
        Column("Formula", 70),
        Column("Inputs", 70),
        Column("Basis", 18),
        Column("Sources", 44),
        Column("What it means", 60),
        Column("Model", 30),
    ]
    rows = [
        (
            line.key,
            line.label,
            line.value,
            _unit(line.unit),
            formula_text(line),
            _given(line),
            basis_word(line.basis),
            "; ".join(line.sources),
            line.sentence,
            line.function,
        )
        for line in plan.lines.values()
    ]
    note = "Every number of the design, in the order in which they were computed; titles of the sources stand on Sources."
    book.table("Trail", note, columns, rows)


def _given(line: Line) -> str:
    """The inputs of a line with their values."""
    return "; ".join(f"{i.label} = {amount(i.value, i.unit)}" for i in line.inputs)


def _sources(book: _Book, plan: Plan) -> None:
    cited = [s for line in plan.lines.values() for s in line.sources]
    cited += [s for decision in plan.decisions for s in decision.sources]
    cited += [s for group in plan.groups for reason in group.reasons for s in reason.sources]
    cited += [s for message in check_plan(plan) for s in message.sources]
    cited += [origin.source for _, origin in plan.scenario.origins]
    if plan.costs:
        cited += [s for material in plan.costs.materials for s in material.sources]
        cited += [s for price in plan.costs.prices for s in price.fact.sources]
    remarks: dict[str, str] = {}
    for note in plan.scenario.notes:
        text = f"{note.text} ({note.locator})" if note.locator else note.text
        remarks[note.source] = f"{remarks[note.source]} {text}" if note.source in remarks else text
    known = plan.catalog.sources
    rows = [
        (s.id, s.title, s.producer, s.published, s.accessed, s.kind, s.url, s.note, remarks.get(s.id, ""))
        for id in dict.fromkeys([*cited, *remarks])
        if (s := known.get(id)) is not None
    ]
    columns = [
        Column("Id", 32),
        Column("Title", 60),
        Column("Producer", 24),
        Column("Published", 11),
        Column("Read", 11),
        Column("Kind", 13),
        Column("Address", 50),
        Column("Note", 60),
        Column("Remark", 60),
    ]
    book.table("Sources", "Every source that the design rests on.", columns, rows)


def _messages(book: _Book, plan: Plan) -> None:
    columns = [
        Column("Level", 10),
        Column("What to know", 90),
        Column("What to change", 60),
        Column("Code", 28),
        Column("Input", 30),
        Column("Sources", 44),
    ]
    rows = [(m.level, m.text, m.change, m.code, m.path, _titles(plan, m.sources)) for m in check_plan(plan)]
    idle = [
        ("idle", f"{pool.name}: {idle_text(plan, idle)}", "", "", "", "")
        for pool in plan.pools
        for idle in pool.idle
    ]
    book.table(
        "Messages", "What to know about this design, and what GPUs it leaves idle.", columns, [*rows, *idle]
    )


def _decisions(book: _Book, plan: Plan) -> None:
    columns = [
        Column("Number", 9, "int"),
        Column("Title", 30),
        Column("Decision", 60),
        Column("Justification", 60),
        Column("Implication", 60),
        Column("Sources", 44),
    ]
    rows = [
        (d.number, d.title, d.decision, d.justification, d.implication, _titles(plan, d.sources))
        for d in plan.decisions
    ]
    book.table("Decisions", "Design decisions.", columns, rows)


def _internal(book: _Book, plan: Plan) -> None:
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
