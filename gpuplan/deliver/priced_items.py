"""Priced items of a design, by item and year, and the quantity behind each price.

The cost is linear in each price: price times its quantity of every year, discounted, sums up to the net present cost. So a design can
be priced with other prices without planning it again. The workbook lays the same quantities out as formulas.
"""

from collections import defaultdict
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import replace
from functools import partial
from itertools import zip_longest
from typing import NamedTuple

from gpuplan.analysis.alternatives import Planned
from gpuplan.analysis.rent_or_buy import USED
from gpuplan.analysis.silos import JOINED
from gpuplan.facts import Fact
from gpuplan.models import power
from gpuplan.models.cost import later_price, net_present_cost
from gpuplan.models.licences import perpetual_payment, subscription_payments
from gpuplan.plan import Plan
from gpuplan.plan.bill_of_materials import BY_CORE, EXISTING_SOFTWARE, Material, software_of
from gpuplan.plan.cash_flow import HARDWARE, PARTS, Flows
from gpuplan.plan.prices import TERM_PRICES, factor
from gpuplan.wording import PART, said

RUNNING = {
    PART["Power"]: "electricity-kwh",
    PART["Cooling"]: "electricity-kwh",
    PART["Space"]: "rack-year",
    PART["Administration"]: "administration-host-year",
}


class Item(NamedTuple):
    """An item that is paid for by the unit."""

    part: str
    name: str
    material: int
    """Index of its material in the bill, which has the discount."""
    price: str
    units: int
    """Index of the item whose units it counts: support has the units of the supported item."""
    lots: tuple[float, ...]
    """Units bought or licensed anew at the start of each year."""
    paid: tuple[tuple[int, ...], ...]
    """Indices of the lots paid for at the start and at the end of each year."""
    times: int = 1
    """Years of a subscription that are paid at once; the price is for one year."""


class Quantity(NamedTuple):
    """What an alternative pays for at a price, from the start on."""

    key: str
    name: str
    value: float
    """The planning price, which a design may have other than another for the same key; 0 where it is unknown."""
    kind: str
    """What discounts it: ``hardware``, ``licence``, ``running``, ``energy``, ``loaded``, ``used``, or a switch."""
    amounts: Sequence[float]


def quantities_of(option: Planned, stated: float | None) -> tuple[Quantity, ...]:
    """Return the quantities behind the cost of an alternative, those of all its designs; ``stated`` utilisation is a factor."""
    found: dict[tuple[str, str, float], Quantity] = {}
    for design, times in option.designs:
        if design.costs is None:
            continue
        items, names = PricedItems(design), {price.key: price.name for price in design.costs.prices}
        names |= {item.key: item.name for item in design.costs.unknown}
        for (key, kind), amounts in items.yearly().items():
            value = items.value[key]
            if key.startswith(JOINED) and not value:
                continue  # silos share the switches of the pool
            known = found.get((key, kind, value), Quantity(key, names[key], value, kind, ()))
            pairs = zip_longest(known.amounts, amounts, fillvalue=0.0)
            found[key, kind, value] = known._replace(amounts=[had + times * more for had, more in pairs])
    if (rent := option.rent) and rent.gpu_hour_price:
        share = stated if stated and rent.term in USED else 1.0
        hours = [paid / rent.gpu_hour_price / share for paid in rent.rent_cash]
        kind = "used" if stated and rent.term in USED else "running"
        name = said("sheet.quantities.rent")
        found["", kind, 0.0] = Quantity(f"rent/{rent.term}", name, rent.gpu_hour_price, kind, hours)
    return tuple(found.values())


class PricedItems:
    """The items of a design, what is paid for them in each year, and the quantity behind each price."""

    def __init__(self, plan: Plan) -> None:
        assert plan.costs is not None and plan.power is not None and plan.counts is not None
        self.plan, self.costs, self.power, self.counts = plan, plan.costs, plan.power, plan.counts
        self.last = self.costs.years
        self.prices: dict[str, Fact | None] = {price.key: price.fact for price in self.costs.prices}
        self.prices |= dict.fromkeys(item.key for item in self.costs.unknown)
        self.value = {key: float(fact.value) if fact else 0.0 for key, fact in self.prices.items()}
        self.keys = {m.key: m.price_key for m in self.costs.materials if m.price_key in self.prices}
        self.facts = self._facts()
        priced = {price.key: price for price in self.costs.prices}
        design = (self.counts, self.power, plan.growth, self.costs.materials)
        self.flows = Flows(lambda key, *_: priced.get(key), *design)
        self.drawn = {"leaf": self.power.leaf_w, "spine": self.flows.spine_w}
        self.items = self._items()

    def factor(self, name: str) -> float:
        """Value of a factor."""
        return float(self.facts[name].value)

    def _facts(self) -> dict[str, Fact]:
        catalog, scenario = self.plan.catalog, self.plan.scenario
        facts = {
            "discount_rate": factor(scenario, catalog, "discount_rate"),
            "hardware_discount": scenario.fact("cost.hardware_discount"),
            "licence_discount": scenario.fact("cost.licence_discount"),
            "support_share": factor(scenario, catalog, "support_share"),
            "warranty_years": factor(scenario, catalog, "warranty_years"),
            "hardware_price_change": scenario.fact("cost.later_price_change"),
            "residual_share": factor(scenario, catalog, "residual_share"),
            "power_usage_effectiveness": factor(scenario, catalog, "pue"),
        }
        if scenario.cost.utilisation is not None:
            facts["stated_utilisation"] = scenario.fact("cost.utilisation")
        return facts

    def _items(self) -> list[Item]:
        items: list[Item] = []
        at_once = (*((lot,) for lot in range(self.last)), ())
        cost = self.plan.scenario.cost
        for at, material in enumerate(self.costs.materials):
            key, lots = self.keys.get(material.key, ""), self.costs.orders[material.key]
            licences = dict.fromkeys(("platform", "management-platform"), cost.platform_licence)
            licences |= {"ai-add-on": "private-ai", "gpu-software": cost.gpu_licence}
            licences[EXISTING_SOFTWARE] = cost.gpu_licence
            licence = licences.get(material.key.partition("@")[0])
            if not key and licence != "socket":
                continue
            item = Item(material.part, material.name, at, key, len(items), lots, at_once)
            if licence in (*BY_CORE, "private-ai"):
                items += self._subscribed(item, licence, 0)
            elif licence == "subscription":
                items += self._subscribed(item, "nvaie", self._included(material))
            elif licence == "perpetual":
                free, product = self._included(material), self.plan.catalog.products["nvidia-ai-enterprise"]
                items.append(item._replace(paid=self._paid(partial(perpetual_payment, 1, price=1), free)))
                supported = int(product.fact("support_years").value)
                items += self._supported(item, "nvaie-support-year", free + supported)
            else:
                items.append(item)
                if licence == "socket":
                    items += self._supported(item, "platform-support-socket-year", 0)
        return items

    def _included(self, material: Material) -> int:
        return software_of(self.counts)[material.key]

    def _paid(self, cash: Callable[..., Sequence[float]], included: int) -> tuple[tuple[int, ...], ...]:
        """Return the lots that are paid for at the start and in each year, by the cash of one licence of each."""
        lots = range(self.last)
        of_lot = [cash(horizon_years=self.last, bought_year=lot, years_included=included) for lot in lots]
        return tuple(tuple(lot for lot in lots if of_lot[lot][year]) for year in range(self.last + 1))

    def _subscribed(self, item: Item, product: str, included: int) -> list[Item]:
        """A subscription: its terms, and below them the years that are renewed alone."""
        term, alone = self.plan.scenario.cost.licence_term_years, TERM_PRICES[product][1]

        def cash(each: float, renewal: float, **when: int) -> Sequence[float]:
            return subscription_payments(1, yearly_price=each, renewal_price=renewal, term_years=term, **when)

        whole = self._paid(partial(cash, 1, 0), included)
        name = said("sheet.item.in advance", item=item.name, years=term) if term > 1 else item.name
        items = [item._replace(name=name, paid=whole, times=term)]
        if term > 1 and alone in self.prices:
            singles = self._paid(partial(cash, 0, 1), included)
            renewed = said("sheet.item.renewed", item=item.name)
            items.append(item._replace(name=renewed, price=alone, paid=singles))
        return items

    def _supported(self, item: Item, price: str, included: int) -> list[Item]:
        """Return support of licences, paid yearly in advance; none where its price is not requested."""
        if price not in self.prices:
            return []
        paid = self._paid(partial(subscription_payments, 1, yearly_price=1), included)
        return [item._replace(name=said("sheet.item.support", item=item.name), price=price, paid=paid)]

    def paid_units(self, item: Item, year: int) -> float:
        """Return the units of an item paid in a year, after the discount; hardware at the price level of the start."""
        lots = self.items[item.units].lots
        per_unit = item.times * (1 - self.costs.materials[item.material].discount)
        if item.part in HARDWARE:
            per_unit = later_price(per_unit, yearly_change=self.factor("hardware_price_change"), year=year)
        return per_unit * sum(lots[lot] for lot in item.paid[year])

    def item_cost(self, item: Item, year: int) -> float:
        """Return the payment for an item in a year."""
        return self.value[item.price] * self.paid_units(item, year)

    def quantities(self, key: str) -> list[float]:
        """Return a price's quantities from the start on, hardware's with support and residual, power's with cooling."""
        years = range(self.last + 1)
        hardware = [self._of_price(key, year, HARDWARE) for year in years]
        quantities = [self._of_price(key, year) for year in years]
        warranty, share = self.factor("warranty_years"), self.factor("support_share")
        for year in range(self.last):
            due = (hardware[lot] for lot in range(year + 1) if year - lot >= warranty)
            quantities[year] += share * sum(due)
        quantities[self.last] -= self.factor("residual_share") * sum(hardware)
        for year in years[1:]:
            if key == RUNNING[PART["Power"]]:
                quantities[year] += self.kwh(year) * self.factor("power_usage_effectiveness")
            if key == RUNNING[PART["Space"]]:
                quantities[year] += self.racks(year)
            if key == RUNNING[PART["Administration"]]:
                quantities[year] += self.costs.hosts[year - 1] + self.counts.management_hosts
        return quantities

    def yearly(self) -> dict[tuple[str, str], list[float]]:
        """Return the quantities of each price from the start on by what discounts them: before all factors of the cost."""
        found: dict[tuple[str, str], list[float]] = defaultdict(lambda: [0.0] * (self.last + 1))
        for item in filter(lambda item: item.price, self.items):
            lots = self.items[item.units].lots
            amounts = found[item.price, "hardware" if item.part in HARDWARE else "licence"]
            for year, paid in enumerate(item.paid):
                amounts[year] += item.times * sum(lots[lot] for lot in paid)
        scenario, idle = self.plan.scenario, copy(self.flows)
        stated = scenario.cost.utilisation
        idle.scenario = replace(scenario, cost=replace(scenario.cost, utilisation=0.0))
        for year in range(1, self.last + 1):
            kwh = still = self.kwh(year)
            if stated is not None:
                still = power.energy_kwh(idle.typical_w(year))
                found[RUNNING[PART["Power"]], "loaded"][year] = (kwh - still) / stated
            found[RUNNING[PART["Power"]], "energy"][year] = still
            for name in (name for name, watts in self.drawn.items() if not watts):
                found[RUNNING[PART["Power"]], name][year] = self.flows.held[year - 1][name]
            found[RUNNING[PART["Space"]], "running"][year] = self.racks(year)
            people = self.costs.hosts[year - 1] + self.counts.management_hosts
            found[RUNNING[PART["Administration"]], "running"][year] = people
        return {of: amounts for of, amounts in found.items() if of[0] in self.prices and any(amounts)}

    def weights(self, kind: str) -> list[float]:
        """Return the present value of one of a kind in `Quantity` that is paid for at the start and in each year."""
        of, years = self.factor, range(self.last + 1)
        present = [(1 + of("discount_rate")) ** -year for year in years]
        if kind == "hardware":
            last, share, change = present[-1], 1 - of("hardware_discount"), 1 + of("hardware_price_change")
            due = [
                sum(present[n] for n in years[year:-1] if n - year >= of("warranty_years")) for year in years
            ]
            held = [
                now + of("support_share") * due[n] - of("residual_share") * last
                for n, now in enumerate(present)
            ]
            return [share * change**year * each for year, each in enumerate(held)]
        if kind == "licence":
            return [now * (1 - of("licence_discount")) for now in present]
        pue = of("power_usage_effectiveness") if kind in ("energy", "loaded") else 1.0
        use = of("stated_utilisation") if kind in ("loaded", "used") else float(kind not in self.drawn)
        return [now * pue * use for now in present]

    def discounted(self, key: str) -> float:
        """Return the discounted quantity behind a price: the change of the net present cost per unit of the price."""
        return net_present_cost(self.quantities(key), rate=self.factor("discount_rate"))

    def _of_price(self, key: str, year: int, parts: Sequence[str] = PARTS) -> float:
        return sum(self.paid_units(i, year) for i in self.items if i.price == key and i.part in parts)

    def racks(self, year: int) -> int:
        """Racks of a year from 1; none where a host is more than one carries."""
        return self.flows.racks(year) if self.power.hosts_per_rack else 0

    def part_cost(self, name: str) -> tuple[float, ...]:
        """Return the payments for a part at the start and in each year."""
        part = next((other for other in self.costs.parts if other.name == name), None)
        return part.yearly if part else (0.0,) * (self.last + 1)

    def kwh(self, year: int) -> float:
        """Energy of hosts and switches in a year from 1, without cooling."""
        return power.energy_kwh(self.flows.typical_w(year))
