"""What the sheets about cost calculate with: every item, price and factor, where its cell is, and what it costs in each year."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from gpuplan.facts import Fact
from gpuplan.models import power
from gpuplan.models.availability import HOURS_PER_YEAR
from gpuplan.models.licences import subscription_cost, term_licence_purchases
from gpuplan.plan import Plan
from gpuplan.plan.bill_of_materials import (
    GPU_LICENCES,
    WORDS,
    Counts,
    Material,
    included_years,
    server_price,
)
from gpuplan.plan.cost import PARTS
from gpuplan.plan.power import usual_power_w
from gpuplan.plan.prices import catalog_factor, factor
from gpuplan.report.tables.cost import bill_of_materials, prices
from gpuplan.report.xlsx.book import HEAD, Live, address, column_of
from gpuplan.wording import amount, number

BILL, YEARS = "Bill of materials", "Cost by year"


RUNNING = {
    "Power": "electricity-kwh",
    "Cooling": "electricity-kwh",
    "Space": "rack-year",
    "Administration": "administration-host-year",
}
"""Part -> what its price is known by."""


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


class Money:
    """Where the numbers of the cost stand in the workbook, and by which formulas they follow from each other."""

    def __init__(self, plan: Plan) -> None:
        assert plan.costs is not None and plan.power is not None and plan.cabling is not None
        self.plan, self.costs, self.power = plan, plan.costs, plan.power
        self.last = self.costs.years
        self.counts = Counts(plan.scenario, plan.catalog, plan.pools, plan.cabling)
        self.bill, self.price_table = bill_of_materials(plan), prices(plan)
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
        known = self.prices[self.price_row[key] - HEAD - 1].fact is not None
        word = "price not known: left out"
        return Live(f'IF({self.price_at(key)}="","{word}","")', "" if known else word)

    def year_at(self, row: int, year: int) -> str:
        """Address of a year of a row of the sheet of costs."""
        return address(row, 2 + year)

    def result_at(self, name: str) -> str:
        """Address of a result of the sheet of costs, from another sheet."""
        return address(self.results[name], 2, YEARS)

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
                subscription_cost(1, yearly_price=1, year=year, bought_year=lot, years_included=included)
                for year in years[1:]
            ]

        def terms(lot: int) -> Sequence[float]:
            return term_licence_purchases(
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
        "platform": WORDS["platform", scenario.cost.platform_licence]["price"],
        "gpu-software": GPU_LICENCES.get(scenario.cost.gpu_licence, ("", ""))[0],
        "management-hosts": "management-host",
        "compute-hosts": "compute-host",
        "storage": "storage-tb",
    }
    keys |= {m.key: m.item for m in materials if m.key in ("leaf", "spine")}
    known = {price.key for price in costs.prices} | {item.key for item in costs.unknown}
    return {m.key: keys[m.key] for m in materials if keys.get(m.key) in known}
