"""Cash flow: the cost of each part of a design in each year, from the purchase to the end of the analysis period.

Models: ``gpuplan.models.cost``, which dates payments, and ``gpuplan.models.licences``. Growth of year k is bought at
its start, in column k - 1, with subscriptions and support, so the last column buys nothing. Unpriced items are omitted.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gpuplan.facts import Fact, weakest
from gpuplan.models import cost, power
from gpuplan.models.licences import ordered_licences, perpetual_payment, subscription_payments
from gpuplan.plan.bill_of_materials import BY_CORE, FIRST, Counts, KindCounts, Material, software_of
from gpuplan.plan.growth import Growth
from gpuplan.plan.power import PowerUse, racks_at_sites, usual_power_w
from gpuplan.plan.prices import TERM_PRICES, Price, factor
from gpuplan.scenario import PERPETUAL
from gpuplan.wording import PART, said

RESIDUAL = PART["Residual value"]
"""Value left at the end, the only part below zero."""
PARTS = tuple(PART.values())
HARDWARE = PARTS[:5]
"""Parts that are bought, supported, and worth something at the end."""
RANGED = ("discount_rate", "pue", "support_share")
"""Cost factors whose ranges widen the totals too."""


Paid = npt.NDArray[np.float64]
PriceOf = Callable[..., Price | None]
"""Gives a price as ``PriceList.price`` does."""


@dataclass(frozen=True, slots=True)
class CostPart:
    """Cost of one part, year by year from the purchase."""

    name: str
    yearly: tuple[float, ...]
    basis: str

    @property
    def key(self) -> str:
        """Name in the keys of lines, which stay when a label changes: ``platform-licences``."""
        english = next(english for english, name in PART.items() if name == self.name)
        return "value-left" if self.name == RESIDUAL else english.lower().replace(" ", "-")

    @property
    def total(self) -> float:
        """Over all years."""
        return cost.total_cost(*self.yearly)


@dataclass(frozen=True, slots=True)
class Payment:
    """A payment at one price: a quantity in each year from the purchase, bought or for a year, at today's price."""

    part: str
    price: Price
    discount: float
    quantities: tuple[float, ...]
    hosts: str = ""
    """Kind of hosts that it is for, as the key of its material says; empty for all, or the only one."""


class Case(NamedTuple):
    """Prices, by their keys, and factors that are other ones than planned."""

    prices: Mapping[str, float]
    factors: Mapping[str, float]


class Flows:
    """The yearly flows of each part, and their inputs: quantities, computed once, times prices."""

    def __init__(
        self, price: PriceOf, counts: Counts, use: PowerUse, growth: Growth, materials: Sequence[Material]
    ) -> None:
        self.price, self.counts, self.use, self.growth = price, counts, use, growth
        self.scenario, self.catalog = scenario, catalog = counts.scenario, counts.catalog
        self.materials = {m.key: m for m in materials}
        self.years = scenario.cost.years
        needs = [counts.of(hosts, year) for year, hosts in enumerate(growth.hosts)]
        self.held = [
            {key: max(many[key] for many in needs[: at + 1]) for key in needs[0]} for at in range(self.years)
        ]
        """Quantity of every item in each year from 1; bought items stay."""
        self.spine_w = use.spine_w
        spine, spine_name = counts.spine(growth.hosts)
        unknown = dict.fromkeys(use.unknown_power)
        if spine and not needs[0]["spine"]:
            self.spine_w = usual_power_w(catalog.switches[spine]) or 0.0
            if not self.spine_w:
                unknown[said("cost.switches", name=spine_name)] = None
        self.not_counted = self._not_counted([bool(many["leaf"]) for many in needs], tuple(unknown))
        self.factors = {name: factor(scenario, catalog, name) for name in RANGED}
        self.residual = factor(scenario, catalog, "residual_share")
        self.payments: list[Payment] = []
        self.facts: dict[str, list[Fact]] = {}
        """Facts behind each part."""
        self._hardware()
        self._platform()
        for key, included in software_of(counts).items():
            self._gpu_software(key, included)
        self.support_years = self._support()
        """Share of hardware purchases to support in each year, by year of purchase."""
        self._running()
        if float(self.residual.value):
            self._rests(RESIDUAL, self.residual, *self._hardware_facts())

    def _not_counted(self, designed: Sequence[bool], unknown_power: Sequence[str]) -> tuple[str, ...]:
        """List costs of unknown quantity; ``designed`` says when there is a fabric."""
        by_core = self.scenario.cost.platform_licence in (*BY_CORE, "owned")
        compute = self.materials.get("compute-hosts")
        left_out = {
            said("cost.excludes switches"): not designed[0],
            said("cost.excludes growth of switches"): designed[0] and not all(designed),
            said("cost.excludes links"): self.counts.several_fabrics(self.growth.hosts),
            said("cost.excludes support"): self.counts.existing,
            said("cost.excludes owned licences"): any(
                h.kind.platform_until == PERPETUAL for h in self.counts.owned
            ),
            said("cost.excludes space"): not self.use.hosts_per_rack,
            said("cost.excludes electricity", names=", ".join(unknown_power)): unknown_power,
            said("cost.excludes licences"): self.counts.management_hosts and not by_core,
            said("cost.excludes compute hosts"): compute is not None and compute.status == "bought",
        }
        return tuple(words for words, holds in left_out.items() if holds)

    def parts(self) -> tuple[CostPart, ...]:
        """Every part that costs or brings something, as planned."""
        (planned,) = self.paid(Case({}, {})).tolist()
        return tuple(
            CostPart(name, tuple(paid), weakest(fact.basis for fact in self.facts[name]))
            for name, paid in zip(PARTS, planned, strict=True)
            if name in self.facts and (name != RESIDUAL or any(paid))
        )

    def paid(self, *cases: Case) -> Paid:
        """Return the cost by case, part of `PARTS` and year from the purchase. Shape: cases, parts, years + 1."""
        paid = np.zeros((len(cases), len(PARTS), self.years + 1))
        at = {name: place for place, name in enumerate(PARTS)}
        for payment in self.payments:
            planned = payment.price
            prices = np.array([case.prices.get(planned.key, planned.value) for case in cases])
            paid[:, at[payment.part]] += np.outer(prices * (1 - payment.discount), payment.quantities)
        share, pue = (
            np.array([case.factors.get(name, self.factors[name].value) for case in cases], float)[:, None]
            for name in ("support_share", "pue")
        )
        hardware = paid[:, [at[part] for part in HARDWARE]].sum(axis=1)
        paid[:, at[PART["Hardware support"]]] = hardware @ self.support_years * share
        paid[:, at[PART["Cooling"]]] = paid[:, at[PART["Power"]]] * (pue - 1)
        paid[:, at[RESIDUAL], -1] = -float(self.residual.value) * hardware.sum(axis=1)
        return paid

    def of_kinds(self, parts: Sequence[CostPart]) -> dict[str, float]:
        """Kind of hosts -> its part of the cost: its hosts, boards and software, and its share of what all have together.

        Licences by core are shared by cores, power by power, support and residual value by hardware, all else by hosts.
        """
        kinds, start = self.counts.kinds, self.growth.hosts[0]
        hosts = [float(kind.hosts(start)) for kind in kinds]
        cores = [float(self.counts.cores_of(kind, kind.hosts(start))) for kind in kinds]
        power_w = [self.use.kinds[kind.name].part.typical_w for kind in kinds]
        hardware = np.zeros(len(kinds))
        by = {PART["Platform licences"]: cores, PART["Power"]: power_w, PART["Cooling"]: power_w}
        totals = np.zeros(len(kinds))
        for part in parts:
            own = np.array([self._own(part.name, kind.suffix) for kind in kinds])
            weights = (
                hardware if part.name in (PART["Hardware support"], RESIDUAL) else by.get(part.name, hosts)
            )
            paid = own + (part.total - own.sum()) * np.array(weights) / max(1e-9, sum(weights))
            totals += paid
            hardware += paid * (part.name in HARDWARE)
        return {kind.name: float(paid) for kind, paid in zip(kinds, totals, strict=True)}

    def _own(self, part: str, suffix: str) -> float:
        """Payments for a part that are for one kind of hosts alone."""
        mine = (each for each in self.payments if each.part == part and each.hosts == (suffix or FIRST))
        return sum(each.price.value * (1 - each.discount) * sum(each.quantities) for each in mine)

    def load(self, year: int, kind: KindCounts | None = None) -> float:
        """Share of the time in which the GPUs, or those of one kind of hosts, are used in a year from 1."""
        if self.scenario.cost.utilisation is not None:
            return self.scenario.cost.utilisation
        of, busy = kind or self.counts, self.growth.busy_gpus
        if kind is not None and self.growth.kinds:
            busy = self.growth.kinds[kind.name]
        return min(1.0, busy[year - 1] / of.gpus(self.growth.hosts[year - 1]))

    def _rests(self, part: str, *facts: Fact) -> None:
        """Record facts behind a part, in addition to its prices."""
        self.facts.setdefault(part, []).extend(facts)

    def _pay(
        self, part: str, price: Price, quantities: Sequence[float], discount: float = 0.0, key: str = ""
    ) -> None:
        """Add a payment for a part, year by year from the purchase, at one price; for a material by its key."""
        rest = [0.0] * (self.years + 1 - len(quantities))
        paid = (*quantities, *rest)
        self.payments.append(Payment(part, price, discount, paid, self.counts.hosts_of(key)))
        self._rests(part, price.fact)

    def _more(self, key: str) -> list[int]:
        """Return the purchases at the start of each year beyond the stock of the year before."""
        stock = [many[key] for many in self.held]
        return [stock[0], *(now - before for before, now in pairwise(stock))]

    def _buy(self, material: Material) -> None:
        """Add the purchases of a material at the start of each year, where its price is known."""
        if material.price is None:
            return
        change = self.scenario.cost.later_price_change if material.part in HARDWARE else 0.0
        more = self._more(material.key) if material.key in self.held[0] else [material.quantity]
        quantities = [
            many * cost.later_price(1.0, yearly_change=change, year=year) if many else 0.0
            for year, many in enumerate(more)
        ]
        self._pay(material.part, material.price, quantities, material.discount, material.key)

    def _hardware(self) -> None:
        for material in self.materials.values():
            if material.status == "bought" and material.part in HARDWARE:
                self._buy(material)

    def _platform(self) -> None:
        material, choice = self.materials["platform"], self.scenario.cost.platform_licence
        if choice in BY_CORE:
            orders = ordered_licences(
                [many["platform"] for many in self.held], minimum_order=int(self.counts.least_order.value)
            )
            self._subscribed(material, choice, orders, 0)
            if managing := self.materials.get("management-platform"):
                self._subscribed(managing, choice, [int(managing.quantity), *[0] * self.years], 0)
        elif choice == "socket":
            support = self.price(
                "platform-support-socket-year", said("cost.support of", name=material.name), "socket-year"
            )
            self._buy(material)
            for bought, licences in enumerate(self._more("platform")):
                self._supported(material, support, licences, bought, 0)
        if add_on := self.materials.get("ai-add-on"):
            self._subscribed(add_on, "private-ai", self._more(add_on.key), 0)
        if PART["Platform licences"] in self.facts:
            behind = (fact for kind in self.counts.kinds for fact in (kind.cores, kind.sockets))
            self._rests(PART["Platform licences"], *behind)

    def _gpu_software(self, key: str, free: int) -> None:
        material, choice = self.materials.get(key), self.scenario.cost.gpu_licence
        if material is None or material.price is None:
            return
        orders = self._more(key)
        if choice == "subscription":
            self._subscribed(material, "nvaie", orders, free)
            return
        supported = int(self.catalog.products["nvidia-ai-enterprise"].fact("support_years").value)
        support = None
        if free + supported < self.years:
            name = said("cost.support after", name=material.name, year=supported)
            support = self.price("nvaie-support-year", name, "gpu-year")
        for bought, licences in enumerate(orders):
            if not licences:
                continue
            when = {"horizon_years": self.years, "bought_year": bought, "years_included": free}
            bought_once = perpetual_payment(licences, price=1.0, **when)
            self._pay(PART["GPU software"], material.price, bought_once, material.discount, key)
            self._supported(material, support, licences, bought, free + supported)

    def _subscribed(self, material: Material, product: str, orders: Sequence[int], included: int) -> None:
        """Orders of a subscription, term by term; renewals by the year at the price of one year."""
        if material.price is None:
            return
        term, price = self.scenario.cost.licence_term_years, material.price
        when = {"horizon_years": self.years, "term_years": term, "years_included": included}

        def licence_years(in_term: float, alone: float) -> list[float]:
            """Licences in each year, times the years that are paid for then."""
            by_order = [
                subscription_payments(
                    licences, yearly_price=in_term, renewal_price=alone, bought_year=year, **when
                )
                for year, licences in enumerate(orders)
            ]
            return [sum(year) for year in zip(*by_order, strict=True)]

        self._pay(material.part, price, licence_years(1.0, 0.0), material.discount, material.key)
        if any(alone := licence_years(0.0, 1.0)):
            name = said("cost.one year", name=material.name)
            renewal = self.price(TERM_PRICES[product][1], name, price.per, price.key) or price
            self._pay(material.part, renewal, alone, material.discount, material.key)

    def _supported(
        self, material: Material, price: Price | None, licences: int, bought: int, free: int
    ) -> None:
        """Support of the licences bought at one time, year by year in advance, after the years that are included."""
        if price is not None and licences:
            when = {"horizon_years": self.years, "bought_year": bought, "years_included": free}
            yearly = subscription_payments(licences, yearly_price=1.0, **when)
            self._pay(material.part, price, yearly, material.discount, material.key)

    def _hardware_facts(self) -> list[Fact]:
        return [fact for part in HARDWARE for fact in self.facts.get(part, ())]

    def _support(self) -> Paid:
        """Years of support, paid in advance, for hardware out of warranty, by the year in which it is bought."""
        warranty = factor(self.scenario, self.catalog, "warranty_years")
        self._rests(
            PART["Hardware support"], self.factors["support_share"], warranty, *self._hardware_facts()
        )
        when = {"horizon_years": self.years, "years_included": int(warranty.value)}
        bought = range(self.years + 1)
        return np.array(
            [subscription_payments(1.0, yearly_price=1.0, bought_year=year, **when) for year in bought]
        )

    def _running(self) -> None:
        """Power and cooling, space, and people: paid at the end of each year."""
        use, years = self.use, range(1, self.years + 1)
        energy = self.price("electricity-kwh", said("cost.electricity"), "kwh")
        space = self.price("rack-year", said("cost.space"), "rack-year")
        people = self.price("administration-host-year", said("cost.administration"), "host-year")
        hosts = [sum(many.values()) + self.counts.management_hosts for many in self.growth.hosts]
        if energy is not None:
            self._pay(
                PART["Power"], energy, [0.0, *(power.energy_kwh(self.typical_w(year)) for year in years)]
            )
            self._rests(PART["Power"], *use.facts)
            self._rests(PART["Cooling"], energy.fact, self.factors["pue"], *use.facts)
        if space is not None and use.hosts_per_rack:
            self._pay(PART["Space"], space, [0.0, *map(self.racks, years)])
        if people is not None:
            self._pay(PART["Administration"], people, [0.0, *hosts])

    def lots(self, material: Material) -> tuple[float, ...]:
        """Return the units of a material that are bought or licensed anew at the start of each year."""
        if material.key not in self.held[0]:
            return (material.quantity, *[0.0] * (self.years - 1))
        by_core = material.key == "platform" and self.scenario.cost.platform_licence in BY_CORE
        least = int(self.counts.least_order.value) if by_core else 0
        return ordered_licences([stock[material.key] for stock in self.held], minimum_order=least)

    def racks(self, year: int) -> int:
        """Racks of a year from 1, of each kind of hosts apart."""
        hosts, counts = self.growth.hosts[year - 1], self.counts
        of_kinds = [kind.hosts(hosts) for kind in counts.kinds]
        per_rack = [self.use.kinds[kind.name].per_rack for kind in counts.kinds]
        return racks_at_sites(counts.fabric, of_kinds, counts.management_hosts, per_rack)

    def typical_w(self, year: int) -> float:
        """Typical power of hosts and switches in a year from 1, without cooling."""
        stock = self.held[year - 1]
        return power.total_power_w(
            *(self._kind_w(kind, year) for kind in self.counts.kinds),
            stock["leaf"] * self.use.leaf_w,
            stock["spine"] * self.spine_w,
            self.use.management_w,
        )

    def _kind_w(self, kind: KindCounts, year: int) -> float:
        of, more = self.use.kinds[kind.name], kind.hosts(self.growth.hosts[year - 1])
        busy_w = of.all_busy_w + (more - kind.hosts(self.counts.at_start())) * of.busy_w
        return power.typical_power_w(busy_w, idle_share=of.idle_share, load=self.load(year, kind))
