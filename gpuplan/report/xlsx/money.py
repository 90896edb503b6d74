"""What the sheets about cost calculate with: every item, price and factor, where its cell is, and what it costs in each year."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import NamedTuple, TypeVar

from gpuplan.facts import Fact
from gpuplan.models import power
from gpuplan.models.availability import HOURS_PER_YEAR
from gpuplan.models.cost import later_price
from gpuplan.models.licences import ordered_licences, perpetual_payment, subscription_payments
from gpuplan.plan import Plan
from gpuplan.plan.bill_of_materials import (
    BY_CORE,
    WORDS,
    Material,
    included_years,
)
from gpuplan.plan.cash_flow import HARDWARE, PARTS
from gpuplan.plan.power import usual_power_w
from gpuplan.plan.prices import TERM_PRICES, catalog_factor, factor, server_price
from gpuplan.report.tables.cost import bill_of_materials, prices
from gpuplan.report.xlsx.book import HEAD, Editable, Live, address, column_of
from gpuplan.scenario import Scenario
from gpuplan.wording import amount, number

BILL, YEARS = "Bill of materials", "Cost by year"
RUNNING = {
    "Power": "electricity-kwh",
    "Cooling": "electricity-kwh",
    "Space": "rack-year",
    "Administration": "administration-host-year",
}
"""Part -> what its price is known by."""
RESULTS = ("total", "net_present", "hours_installed", "hours_used", "gpu_hour_installed", "gpu_hour_used")
"""Results of the sheet of costs, from top to bottom."""
DRIVERS = ("hosts", "gpus", "busy", "load", "kwh", "racks", "hours_installed", "hours_used")
"""What running costs follow from, from top to bottom."""
Name = TypeVar("Name")


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
    """How many are bought or licensed anew at the start of each year."""
    paid: tuple[tuple[int, ...], ...]
    """For the start and the end of each year, the lots that are paid for then, by their index."""
    times: int = 1
    """Years of a subscription that are paid at once; the price is that of one."""


class _Factor(NamedTuple):
    """A row of the sheet of factors."""

    name: str
    label: str
    value: float
    unit: str
    basis: str
    sources: tuple[str, ...]
    note: str
    cell: float | Editable
    """The value, as it stands on the sheet."""


class Money:
    """Where the numbers of the cost stand in the workbook, and by which formulas they follow from each other."""

    def __init__(self, plan: Plan) -> None:
        assert plan.costs is not None and plan.power is not None and plan.counts is not None
        self.plan, self.costs, self.power, self.counts = plan, plan.costs, plan.power, plan.counts
        self.last = self.costs.years
        self.bill, self.price_table = bill_of_materials(plan), prices(plan)
        self.prices: dict[str, Fact | None] = {price.key: price.fact for price in self.costs.prices}
        self.prices |= dict.fromkeys(item.key for item in self.costs.unknown)
        self.price_row = {key: at for at, key in enumerate(self.prices, start=HEAD + 1)}
        self.value = {key: float(fact.value) if fact else 0.0 for key, fact in self.prices.items()}
        self.keys = _price_keys(plan, self.costs.materials)
        self.items = self._items()
        self.factors = self._factors()
        self._lay_out()

    def factor(self, name: str) -> float:
        """Value of a factor."""
        return next(f.value for f in self.factors if f.name == name)

    def price_at(self, key: str) -> str:
        """Address of a price."""
        return address(self.price_row[key], column_of(self.price_table, "value"), "Prices")

    def prices_known(self) -> str:
        """Addresses of the words that say which prices are known."""
        at = len(self.price_table.columns)
        return f"{address(HEAD + 1, at, 'Prices')}:{address(HEAD + len(self.prices), at)}"

    def bill_at(self, material: int, key: str) -> str:
        """Address of a cell of the bill of materials, from another sheet."""
        return address(HEAD + 1 + material, column_of(self.bill, key), BILL)

    def missing(self, key: str) -> Live:
        """A word where the price is not known, or was deleted: the formulas then count nothing for it."""
        word = "price not known: left out"
        return Live(f'IF({self.price_at(key)}="","{word}","")', "" if self.prices[key] else word)

    def year_at(self, row: int, year: int) -> str:
        """Address of a year of a row of the sheet of costs."""
        return address(row, 2 + year)

    def driver_at(self, name: str, year: int) -> str:
        """Address of what a year's running costs follow from."""
        return self.year_at(self.driver_row[name], year)

    def result_at(self, name: str) -> str:
        """Address of a result of the sheet of costs, from another sheet."""
        return address(self.results[name], 2, YEARS)

    def _lay_out(self) -> None:
        """Rows of the sheet of costs, and above which of them a title stands."""
        priced = {item.part for item in self.items}
        always = ("Hardware support", "Power", "Cooling", "Space", "Administration", "Value left")
        self.parts = [name for name in PARTS if name in priced or name in always]
        own = [n for n, item in enumerate(self.items) if item.units == n]
        self.part_row, at = _rows(self.parts, HEAD + 2)
        self.cash_row = at
        self.results, at = _rows(RESULTS, at + 4)
        items, at = _rows(range(len(self.items)), at + 2)
        self.item_row = list(items.values())
        self.unit_row, at = _rows(own, at + 2)
        self.driver_row, _ = _rows(DRIVERS, at + 2)
        self.sections = {
            HEAD + 1: "Cost by part",
            self.results["total"] - 1: "Result",
            self.driver_row["hosts"] - 1: "What these follow from",
        }
        if self.items:
            self.sections[self.item_row[0] - 1] = "Cost of each item"
            self.sections[self.unit_row[own[0]] - 1] = "Units bought or licensed anew"

    def _items(self) -> list[_Item]:
        found: list[_Item] = []
        at_once = (*((lot,) for lot in range(self.last)), ())
        given = self.plan.scenario.cost
        for at, material in enumerate(self.costs.materials):
            key, lots = self.keys.get(material.key, ""), self._lots(material)
            licences = dict.fromkeys(("platform", "management-platform"), given.platform_licence)
            licences |= {"ai-add-on": "private-ai", "gpu-software": given.gpu_licence}
            licence = licences.get(material.key)
            if not key and licence != "socket":
                continue
            item = _Item(material.part, material.name, at, key, len(found), lots, at_once)
            if licence in (*BY_CORE, "private-ai"):
                found += self._subscribed(item, licence, 0)
            elif licence == "subscription":
                found += self._subscribed(item, "nvaie", self._included())
            elif licence == "perpetual":
                free = self._included()
                found.append(
                    item._replace(paid=self._paid(lambda **when: perpetual_payment(1, price=1, **when), free))
                )
                supported = int(
                    self.plan.catalog.products["nvidia-ai-enterprise"].fact("support_years").value
                )
                found += self._supported(item, "nvaie-support-year", free + supported)
            else:
                found.append(item)
                if licence == "socket":
                    found += self._supported(item, "platform-support-socket-year", 0)
        return found

    def _included(self) -> int:
        """Years of GPU software that come with a board."""
        return included_years(self.plan.scenario, self.plan.catalog)

    def _lots(self, material: Material) -> tuple[float, ...]:
        """How many of a material are bought at the start of each year."""
        held: list[int] = []
        for hosts in self.plan.growth.hosts:
            many = self.counts.of(hosts).get(material.key)
            if many is None:
                return (material.quantity, *[0.0] * (self.last - 1))
            held.append(max(many, held[-1]) if held else many)
        by_core = material.key == "platform" and self.plan.scenario.cost.platform_licence in BY_CORE
        return ordered_licences(held, minimum_order=int(self.counts.least_order.value) if by_core else 0)

    def _paid(self, cash: Callable[..., Sequence[float]], included: int) -> tuple[tuple[int, ...], ...]:
        """The lots that are paid for at the start and in each year, by the cash of one licence of each."""
        lots = range(self.last)
        of_lot = [cash(horizon_years=self.last, bought_year=lot, years_included=included) for lot in lots]
        return tuple(tuple(lot for lot in lots if of_lot[lot][year]) for year in range(self.last + 1))

    def _subscribed(self, item: _Item, product: str, included: int) -> list[_Item]:
        """A subscription: its terms, and below them the years that are renewed alone."""
        term, alone = self.plan.scenario.cost.licence_term_years, TERM_PRICES[product][1]

        def cash(each: float, renewal: float, **when: int) -> Sequence[float]:
            return subscription_payments(1, yearly_price=each, renewal_price=renewal, term_years=term, **when)

        whole = self._paid(partial(cash, 1, 0), included)
        found = [
            item._replace(
                name=f"{item.name}, {term} years in advance" if term > 1 else item.name,
                paid=whole,
                times=term,
            )
        ]
        if term > 1 and alone in self.price_row:
            singles = self._paid(partial(cash, 0, 1), included)
            found.append(item._replace(name=f"{item.name}, renewed for a year", price=alone, paid=singles))
        return found

    def _supported(self, item: _Item, price: str, included: int) -> list[_Item]:
        """Support of licences, year by year in advance; none where its price is not asked for."""
        if price not in self.price_row:
            return []
        paid = self._paid(lambda **when: subscription_payments(1, yearly_price=1, **when), included)
        return [item._replace(name=f"{item.name}: support", price=price, paid=paid)]

    def item_cost(self, item: _Item, year: int) -> float:
        """What is paid for an item in a year."""
        lots = self.items[item.units].lots
        price = self.value[item.price] * (1 - self.costs.materials[item.material].discount) * item.times
        if item.part in HARDWARE:
            price = later_price(price, yearly_change=self.factor("hardware_price_change"), year=year)
        return price * sum(lots[lot] for lot in item.paid[year])

    def part_cost(self, name: str) -> tuple[float, ...]:
        """What is paid for a part at the start and in each year."""
        found = next((part for part in self.costs.parts if part.name == name), None)
        return found.yearly if found else (0.0,) * (self.last + 1)

    def kwh(self, year: int) -> float:
        """Energy of hosts and switches in a year from 1, without cooling."""
        held = {
            self.costs.materials[item.material].key: sum(item.lots[:year])
            for n, item in enumerate(self.items)
            if item.units == n
        }
        hosts_w = power.typical_power_w(
            self.power.hosts_peak_w
            + (self.costs.hosts[year - 1] - self.costs.hosts[0]) * self.power.host_peak_w,
            idle_share=self.power.idle_share,
            load=self.costs.used_gpu_hours[year - 1] / self.costs.gpu_hours[year - 1],
        )
        switches_w = [held.get(name, 0) * self.factor(f"{name}_w") for name in ("leaf", "spine")]
        return power.energy_kwh(power.total_power_w(hosts_w, *switches_w, self.power.management_w))

    def _factors(self) -> list[_Factor]:
        catalog, scenario, use = self.plan.catalog, self.plan.scenario, self.power
        found = [
            _share("discount_rate", "Discount rate a year", factor(scenario, catalog, "discount_rate")),
            _share("hardware_discount", "Discount on hardware", scenario.fact("cost.hardware_discount")),
            _share("licence_discount", "Discount on licences", scenario.fact("cost.licence_discount")),
            _share("support_share", "Hardware support a year, share of the hardware",
                   factor(scenario, catalog, "support_share")),
            _share("warranty_years", "Years of warranty, free of support",
                   factor(scenario, catalog, "warranty_years"), "int", high=None),
            _share("hardware_price_change", "Price change of hardware a year",
                   scenario.fact("cost.later_price_change"), low=-1),
            _share("residual_share", "Value left at the end, share of the hardware",
                   factor(scenario, catalog, "residual_share")),
            _share("power_usage_effectiveness", "PUE: power of the building over that of the machines",
                   factor(scenario, catalog, "pue"), "num", low=1, high=None),
        ]  # fmt: skip
        if scenario.cost.utilisation is not None:
            found.append(_share("stated_utilisation", "GPU-hours used", scenario.fact("cost.utilisation")))
        new = self.costs.hosts[0] - self.counts.existing
        per_host = scenario.hardware.gpus_per_host
        drawn = {"leaf_w": use.leaf_w, "spine_w": self._spine_w()}
        self.unknown_w = {
            name for name, watts in drawn.items() if name.removesuffix("_w") in self.keys and not watts
        }
        fill = "not known: what one of them usually draws may be filled in"
        notes = dict.fromkeys(self.unknown_w, fill)
        reserve = catalog_factor(catalog, "host_u")
        unknown_height = f"with {amount(reserve.value, reserve.unit)} for a host of unknown height"
        derived: list[tuple[str, str, float, str, str]] = [
            ("hours_per_year", "Hours of a year", HOURS_PER_YEAR, "h", ""),
            ("planned_hosts", "Hosts at the start, as placed", self.costs.hosts[0], "host", ""),
            ("existing_hosts", "Hosts there already", self.counts.existing, "host", ""),
            ("existing_gpus", "GPUs there already", self.costs.gpus[0] - new * per_host, "GPU", ""),
            ("gpus_per_board", "GPUs of a board, as used", per_host / self.counts.boards_per_host, "GPU", ""),
            ("hosts_peak_w", "All GPU hosts at full load", use.hosts_peak_w, "W", "at the start"),
            ("host_peak_w", "A new host at full load", use.host_peak_w, "W", ""),
            ("idle_share", "Share of its peak that a host draws idle", use.idle_share, "1", ""),
            ("leaf_w", "A leaf switch", drawn["leaf_w"], "W", notes.get("leaf_w", "")),
            ("spine_w", "A spine switch", drawn["spine_w"], "W", notes.get("spine_w", "")),
            ("hosts_per_rack", "Hosts in a rack", use.hosts_per_rack, "host", unknown_height),
        ]
        if many := self.counts.management_hosts:
            derived += [
                ("management_hosts", "Hosts bought for the management domain", many, "host", ""),
                ("management_w", "All of these at full load", use.management_w, "W", ""),
            ]
        for name, label, value, unit, note in derived:
            cell = Editable(value, "num") if name in self.unknown_w else value
            found.append(_Factor(name, label, value, unit, "derived", ("gpuplan-method",), note, cell))
        return found

    def _spine_w(self) -> float:
        """What a spine switch draws; of one that the fabric does not need, what it usually does."""
        spine = next((m for m in self.costs.materials if m.key == "spine"), None)
        if spine is None or spine.quantity:
            return self.power.spine_w
        return usual_power_w(self.plan.catalog.switches[spine.item.removeprefix("switches/")]) or 0.0


def _share(
    name: str, label: str, fact: Fact, kind: str = "percent", *, low: float = 0, high: float | None = 1
) -> _Factor:
    """A factor that may be changed within limits."""
    value = float(fact.value)
    return _Factor(
        name, label, value, "1", fact.basis, fact.sources, fact.note, Editable(value, kind, low, high)
    )


def _rows(names: Iterable[Name], start: int) -> tuple[dict[Name, int], int]:
    """(row of each, the first one below them)."""
    found = {name: at for at, name in enumerate(names, start)}
    return found, start + len(found)


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
        "platform": _platform_licence(scenario),
        "management-platform": _platform_licence(scenario),
        "ai-add-on": TERM_PRICES["private-ai"][scenario.cost.licence_term_years],
        "gpu-software": _gpu_licence(scenario),
        "management-hosts": "management-host",
        "compute-hosts": "compute-host",
        "storage": "storage-tb",
    }
    keys |= {m.key: m.item for m in materials if m.key in ("leaf", "spine")}
    known = {price.key for price in costs.prices} | {item.key for item in costs.unknown}
    return {m.key: keys[m.key] for m in materials if keys.get(m.key) in known}


def _platform_licence(scenario: Scenario) -> str:
    """What the price of the platform is known by."""
    if scenario.cost.platform_licence in BY_CORE:
        return TERM_PRICES[scenario.cost.platform_licence][scenario.cost.licence_term_years]
    return WORDS["platform", scenario.cost.platform_licence]["price"]


def _gpu_licence(scenario: Scenario) -> str:
    """What the price of the GPU software is known by."""
    subscribed = TERM_PRICES["nvaie"][scenario.cost.licence_term_years]
    return {"subscription": subscribed, "perpetual": "nvaie-perpetual"}.get(scenario.cost.gpu_licence, "")
