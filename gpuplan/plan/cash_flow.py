"""Cash flow: what each part of a design costs in each year, from the day it is bought to the end of the analysis period.

The models are ``gpuplan.models.cost``, which says when what is paid, and ``gpuplan.models.licences``. What the growth of year k takes is bought at the start of
that year, in column k - 1, with its subscriptions and support; so the last column buys nothing. What has no price is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from itertools import pairwise

from gpuplan.catalog import Catalog
from gpuplan.facts import Fact, weakest
from gpuplan.models import cost, power
from gpuplan.models.licences import ordered_licences, perpetual_payment, subscription_payments
from gpuplan.plan.bill_of_materials import BY_CORE, Counts, Material, included_years
from gpuplan.plan.growth import Growth
from gpuplan.plan.power import PowerUse, racks_at_sites, usual_power_w
from gpuplan.plan.prices import TERM_PRICES, Price, factor
from gpuplan.scenario import Scenario
from gpuplan.wording import said

RESIDUAL = "Residual value"
"""What comes back at the end, the only part below zero."""
PARTS = (
    "Servers",
    "GPUs",
    "Network",
    "Spares",
    "Workload domain",
    "Platform licences",
    "GPU software",
    "Hardware support",
    "Power",
    "Cooling",
    "Space",
    "Administration",
    RESIDUAL,
)
HARDWARE = ("Servers", "GPUs", "Network", "Spares", "Workload domain")
"""Parts that are bought, supported, and worth something at the end."""
RANGED = ("discount_rate", "pue", "support_share")
"""Factors of the money whose ranges are those of its totals too."""


PriceOf = Callable[..., Price | None]
"""Gives a price as ``PriceList.price`` does."""


@dataclass(frozen=True, slots=True)
class CostPart:
    """What one part costs, year by year from the purchase."""

    name: str
    yearly: tuple[float, ...]
    basis: str

    @property
    def key(self) -> str:
        """What it is called in the keys of lines, which stay when a name changes: ``platform-licences``."""
        return "value-left" if self.name == RESIDUAL else self.name.lower().replace(" ", "-")

    @property
    def total(self) -> float:
        """Over all years."""
        return cost.total_cost(*self.yearly)


class Flows:
    """The yearly flows of each part, and what they rest on."""

    def __init__(
        self,
        scenario: Scenario,
        catalog: Catalog,
        price: PriceOf,
        counts: Counts,
        use: PowerUse,
        growth: Growth,
        materials: Sequence[Material],
    ) -> None:
        self.scenario, self.catalog, self.price, self.counts = scenario, catalog, price, counts
        self.use, self.growth = use, growth
        self.materials = {m.key: m for m in materials}
        self.years = scenario.cost.years
        held = [counts.of(hosts) for hosts in growth.hosts]
        self.held = [
            {key: max(many[key] for many in held[: at + 1]) for key in held[0]} for at in range(self.years)
        ]
        """How many of everything there are in each year from 1; what was bought stays."""
        self.spine_w = use.spine_w
        spine, spine_name = counts.spine(growth.hosts)
        unknown = dict.fromkeys(use.unknown_power)
        if spine and not held[0]["spine"]:
            self.spine_w = usual_power_w(catalog.switches[spine]) or 0.0
            if not self.spine_w:
                unknown[said("cost.switches", name=spine_name)] = None
        self.not_counted = self._not_counted([bool(many["leaf"]) for many in held], tuple(unknown))
        self.factors = {name: factor(scenario, catalog, name) for name in RANGED}
        self.energy_kwh = [power.energy_kwh(self._typical_w(year)) for year in range(1, self.years + 1)]
        self.kept_hosts = [sum(many.values()) + counts.management_hosts for many in growth.hosts]
        self.racks = [self._racks(hosts) for hosts in self.kept_hosts] if use.hosts_per_rack else []
        """What runs in each year from 1, whatever the prices."""
        self.paid: dict[str, list[float]] = {}
        self.facts: dict[str, list[Fact]] = {}
        """What each part rests on."""

    def _not_counted(self, designed: Sequence[bool], unknown_power: Sequence[str]) -> tuple[str, ...]:
        """What costs money, but in an unknown quantity; ``designed`` says when there is a fabric."""
        by_core = self.scenario.cost.platform_licence in (*BY_CORE, "owned")
        compute = self.materials.get("compute-hosts")
        left_out = {
            said("cost.excludes switches"): not designed[0],
            said("cost.excludes growth of switches"): designed[0] and not all(designed),
            said("cost.excludes links"): self.counts.several_fabrics(self.growth.hosts),
            said("cost.excludes support"): self.counts.existing,
            said("cost.excludes space"): not self.use.hosts_per_rack,
            said("cost.excludes electricity", names=", ".join(unknown_power)): unknown_power,
            said("cost.excludes licences"): self.counts.management_hosts and not by_core,
            said("cost.excludes compute hosts"): compute is not None and compute.status == "bought",
        }
        return tuple(words for words, holds in left_out.items() if holds)

    def parts(self) -> tuple[CostPart, ...]:
        """Every part that costs or brings something."""
        self.paid = {name: [0.0] * (self.years + 1) for name in PARTS}
        self.facts = {}
        for material in self.materials.values():
            if material.status == "bought" and material.part in HARDWARE and material.price:
                self._pay(material.part, self._bought(material), material.price.fact)
        self._platform()
        self._gpu_software()
        self._support()
        self._running()
        self._left()
        return tuple(
            CostPart(name, tuple(self.paid[name]), weakest(fact.basis for fact in self.facts[name]))
            for name in PARTS
            if name in self.facts
        )

    def at_prices(self, price: PriceOf, factors: Mapping[str, Fact]) -> tuple[CostPart, ...]:
        """Every part once more, at other prices and with other factors."""
        other = copy(self)
        other.price, other.factors = price, dict(factors)
        other.materials = {key: _repriced(material, price) for key, material in self.materials.items()}
        return other.parts()

    def load(self, year: int) -> float:
        """Share of the time in which the GPUs are used in a year from 1."""
        if self.scenario.cost.utilisation is not None:
            return self.scenario.cost.utilisation
        gpus = self.counts.gpus(self.growth.hosts[year - 1])
        return min(1.0, self.growth.busy_gpus[year - 1] / gpus)

    def _pay(self, part: str, yearly: Iterable[float], *facts: Fact) -> None:
        """What is paid for a part, year by year from the purchase, and what that rests on."""
        for year, value in enumerate(yearly):
            self.paid[part][year] += value
        self.facts.setdefault(part, []).extend(facts)

    def _more(self, key: str) -> list[int]:
        """How many are bought at the start of each year beyond those of the year before."""
        held = [many[key] for many in self.held]
        return [held[0], *(now - before for before, now in pairwise(held))]

    def _bought(self, material: Material) -> list[float]:
        """What is paid for a material at the start of each year; nothing if its price is not known."""
        if material.price is None:
            return []
        if material.key not in self.held[0]:
            return [material.cost or 0.0]
        change = self.scenario.cost.later_price_change if material.part in HARDWARE else 0.0
        return [
            cost.purchase_cost(
                more,
                unit_price=cost.later_price(material.price.value, yearly_change=change, year=year),
                discount=material.discount,
            )
            if more
            else 0.0
            for year, more in enumerate(self._more(material.key))
        ]

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
            name = f"{material.name}: support"
            support = self.price("platform-support-socket-year", name, "socket-year")
            if material.price is not None:
                self._pay("Platform licences", self._bought(material), material.price.fact)
            for bought, licences in enumerate(self._more("platform")):
                self._supported(material, support, licences, bought, 0)
        if add_on := self.materials.get("ai-add-on"):
            self._subscribed(add_on, "private-ai", self._more(add_on.key), 0)
        if "Platform licences" in self.facts:
            self._pay("Platform licences", (), self.counts.cores, self.counts.sockets)

    def _gpu_software(self) -> None:
        material, choice = self.materials.get("gpu-software"), self.scenario.cost.gpu_licence
        if material is None or material.price is None:
            return
        free, orders = included_years(self.scenario, self.catalog), self._more("gpu-software")
        if choice == "subscription":
            self._subscribed(material, "nvaie", orders, free)
            return
        supported = int(self.catalog.products["nvidia-ai-enterprise"].fact("support_years").value)
        support = None
        if free + supported < self.years:
            name = f"{material.name}, support after year {supported}"
            support = self.price("nvaie-support-year", name, "gpu-year")
        each = cost.purchase_cost(1, unit_price=material.price.value, discount=material.discount)
        for bought, licences in enumerate(orders):
            if not licences:
                continue
            when = {"horizon_years": self.years, "bought_year": bought, "years_included": free}
            self._pay("GPU software", perpetual_payment(licences, price=each, **when), material.price.fact)
            self._supported(material, support, licences, bought, free + supported)

    def _subscribed(self, material: Material, product: str, orders: Sequence[int], included: int) -> None:
        """What the orders of a subscription cost, term by term; renewals by the year at the price of one year."""
        if material.price is None:
            return
        term, price = self.scenario.cost.licence_term_years, material.price

        def payments(each: float, alone: float) -> list[tuple[float, ...]]:
            return [
                subscription_payments(
                    licences,
                    yearly_price=each,
                    horizon_years=self.years,
                    term_years=term,
                    renewal_price=alone,
                    bought_year=year,
                    years_included=included,
                )
                for year, licences in enumerate(orders)
                if licences
            ]

        renewal = price
        if any(map(sum, payments(0.0, 1.0))):
            renewal = (
                self.price(TERM_PRICES[product][1], f"{material.name}, 1-year subscription", price.per)
                or price
            )
        net = [
            cost.purchase_cost(1, unit_price=p.value, discount=material.discount) for p in (price, renewal)
        ]
        self._pay(material.part, (), price.fact, renewal.fact)
        for cash in payments(*net):
            self._pay(material.part, cash)

    def _supported(
        self, material: Material, price: Price | None, licences: int, bought: int, free: int
    ) -> None:
        """What support of the licences bought at one time costs, year by year in advance, after the years that are included."""
        if price is not None and licences:
            each = cost.purchase_cost(1, unit_price=price.value, discount=material.discount)
            when = {"horizon_years": self.years, "bought_year": bought, "years_included": free}
            self._pay(material.part, subscription_payments(licences, yearly_price=each, **when), price.fact)

    def _hardware(self) -> list[float]:
        """What is paid for hardware in each year."""
        return [
            cost.total_cost(*(self.paid[part][year] for part in HARDWARE)) for year in range(self.years + 1)
        ]

    def _hardware_facts(self) -> list[Fact]:
        return [fact for part in HARDWARE for fact in self.facts.get(part, ())]

    def _support(self) -> None:
        """Hardware support, in advance, of what is no longer under warranty."""
        share, warranty = self.factors["support_share"], factor(self.scenario, self.catalog, "warranty_years")
        self._pay("Hardware support", (), share, warranty, *self._hardware_facts())
        for bought, paid in enumerate(self._hardware()):
            if not paid:
                continue
            cash = subscription_payments(
                paid,
                yearly_price=float(share.value),
                horizon_years=self.years,
                bought_year=bought,
                years_included=int(warranty.value),
            )
            self._pay("Hardware support", cash)

    def _running(self) -> None:
        """Power and cooling, space, and people: paid at the end of each year."""
        use = self.use
        energy = self.price("electricity-kwh", said("cost.electricity"), "kwh")
        space = self.price("rack-year", said("cost.space"), "rack-year")
        people = self.price("administration-host-year", said("cost.administration"), "host-year")

        def yearly(price: Price, many: Iterable[float]) -> list[float]:
            return [0.0, *(cost.purchase_cost(each, unit_price=price.value) for each in many)]

        if energy is not None:
            pue = self.factors["pue"]
            it = yearly(energy, self.energy_kwh)
            self._pay("Power", it, energy.fact, *use.facts)
            self._pay("Cooling", [paid * (float(pue.value) - 1) for paid in it], energy.fact, pue, *use.facts)
        if space is not None and self.racks:
            self._pay("Space", yearly(space, self.racks), space.fact)
        if people is not None:
            self._pay("Administration", yearly(people, self.kept_hosts), people.fact)

    def _racks(self, hosts: int) -> int:
        managing = self.counts.management_hosts
        return racks_at_sites(self.counts.fabric, hosts - managing, managing, self.use.hosts_per_rack)

    def _typical_w(self, year: int) -> float:
        """Typical power of hosts and switches in a year from 1, without cooling."""
        new = sum(self.growth.hosts[year - 1].values()) - sum(self.growth.hosts[0].values())
        hosts_w = power.typical_power_w(
            self.use.hosts_peak_w + new * self.use.host_peak_w,
            idle_share=self.use.idle_share,
            load=self.load(year),
        )
        held = self.held[year - 1]
        return power.total_power_w(
            hosts_w, held["leaf"] * self.use.leaf_w, held["spine"] * self.spine_w, self.use.management_w
        )

    def _left(self) -> None:
        share = factor(self.scenario, self.catalog, "residual_share")
        left = cost.residual_price(cost.total_cost(*self._hardware()), share=float(share.value))
        if left:
            self._pay(RESIDUAL, [*[0.0] * self.years, -left], share, *self._hardware_facts())


def _repriced(material: Material, price: PriceOf) -> Material:
    """A line of the bill at another price."""
    if material.price is None:
        return material
    other = price(material.price.key, material.name, material.price.per)
    if other is None or other is material.price:
        return material
    paid = cost.purchase_cost(material.quantity, unit_price=other.value, discount=material.discount)
    return replace(material, price=other, cost=paid)
