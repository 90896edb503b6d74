"""Cost: what a design costs from the day it is bought to the end of the years looked at.

The models are ``gpuplan.models.cost``. Column 0 is the purchase; column k holds what is paid in year k: running it, licences,
and the hosts bought for the growth of that year. What has no price is left out and named.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from gpuplan.catalog import Catalog
from gpuplan.facts import Fact, derived, weakest
from gpuplan.models import cost, power
from gpuplan.models.licences import subscription_cost, term_licence_purchases
from gpuplan.plan.bill_of_materials import Counts, Material, bill, included_years
from gpuplan.plan.fabric import Cabling
from gpuplan.plan.growth import Growth
from gpuplan.plan.hosts import Pool
from gpuplan.plan.power import PowerUse, usual_power_w
from gpuplan.plan.prices import Price, PriceList, Unknown, factor
from gpuplan.plan.trail import Line, Trail, resting_on
from gpuplan.scenario import UNASSIGNED, Scenario
from gpuplan.wording import counted

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
    "Value left",
)
HARDWARE = ("Servers", "GPUs", "Network", "Spares", "Workload domain")
"""Parts that are bought, supported, and worth something at the end."""


@dataclass(frozen=True, slots=True)
class CostPart:
    """What one part costs, year by year from the purchase."""

    name: str
    yearly: tuple[float, ...]
    basis: str

    @property
    def total(self) -> float:
        """Over all years."""
        return cost.total_cost(*self.yearly)


@dataclass(frozen=True, slots=True)
class GroupCost:
    """What a group's share of the GPUs costs."""

    id: str
    share: float
    total: float


@dataclass(frozen=True, slots=True)
class Costs:
    """The money of a design, in one currency."""

    currency: str
    years: int
    discount_rate: float
    hosts: tuple[int, ...]
    """At the start, and in each year."""
    gpus: tuple[int, ...]
    growth_left_out: int | None
    materials: tuple[Material, ...]
    parts: tuple[CostPart, ...]
    cash: tuple[float, ...]
    """All parts together, year by year from the purchase."""
    total: float
    net_present: float
    groups: tuple[GroupCost, ...]
    """Sums to the total."""
    utilisation: float
    """Share of the hours of all GPUs in which they are used, over the years."""
    gpu_hours: tuple[float, ...]
    """Installed, in each year from 1."""
    used_gpu_hours: tuple[float, ...]
    gpu_hour_installed: float | None
    gpu_hour_used: float | None
    """None where nothing is used."""
    prices: tuple[Price, ...]
    unknown: tuple[Unknown, ...]
    not_counted: tuple[str, ...]
    """What costs money, but nobody knows how much of it there is."""
    as_of: str

    @property
    def excludes(self) -> tuple[str, ...]:
        """What the cost leaves out because nobody knows its price, or how much of it there is."""
        return (*(item.name for item in self.unknown), *self.not_counted)

    @property
    def outside(self) -> tuple[str, ...]:
        """What belongs to the design but is there already, or is sized elsewhere."""
        return tuple(m.name for m in self.materials if m.status in ("there", "to be sized"))

    @property
    def hardware(self) -> float:
        """What is paid for hardware at the start."""
        return cost.total_cost(*(p.yearly[0] for p in self.parts if p.name in HARDWARE))

    def part(self, name: str) -> CostPart:
        """The part with this name."""
        return next(p for p in self.parts if p.name == name)


def costs(
    trail: Trail,
    scenario: Scenario,
    catalog: Catalog,
    pools: Sequence[Pool],
    fabric: Cabling,
    use: PowerUse,
    growth: Growth,
) -> Costs:
    """What a design costs over the years."""
    given = scenario.cost
    prices = PriceList(scenario, catalog)
    trail = trail.saying(currency=prices.currency)
    counts = Counts(scenario, catalog, pools, fabric)
    materials = bill(trail, scenario, catalog, prices, counts, growth.hosts)
    flows = _Flows(scenario, catalog, prices, counts, use, growth, materials)
    parts = flows.parts()
    cash = _cash_lines(trail, parts, flows)
    rate = factor(scenario, catalog, "discount_rate")
    present = _present_line(trail, cash, rate)
    gpus = tuple(counts.gpus(hosts) for hosts in growth.hosts)
    installed = tuple(cost.installed_gpu_hours(n) for n in gpus[1:])
    used = tuple(
        cost.used_gpu_hours(n, utilisation=flows.load(year)) for year, n in enumerate(gpus[1:], start=1)
    )
    per_hour = {
        name: _hour_line(trail, name, present, hours, rate, flows)
        for name, hours in (("installed", installed), ("used", used))
    }
    return Costs(
        currency=prices.currency,
        years=given.years,
        discount_rate=float(rate.value),
        hosts=tuple(sum(hosts.values()) for hosts in growth.hosts),
        gpus=gpus,
        growth_left_out=growth.left_out,
        materials=materials,
        parts=parts,
        cash=tuple(float(line.value) for line in cash),
        total=float(trail["cost.total"].value),
        net_present=float(present.value),
        groups=_group_costs(trail, _shares(trail, pools)),
        utilisation=cost.total_cost(*used) / cost.total_cost(*installed),
        gpu_hours=installed,
        used_gpu_hours=used,
        gpu_hour_installed=per_hour["installed"],
        gpu_hour_used=per_hour["used"],
        prices=tuple(prices.found.values()),
        unknown=tuple(prices.unknown.values()),
        not_counted=flows.not_counted,
        as_of=prices.as_of,
    )


class _Flows:
    """The yearly flows of each part, and what they rest on."""

    def __init__(
        self,
        scenario: Scenario,
        catalog: Catalog,
        prices: PriceList,
        counts: Counts,
        use: PowerUse,
        growth: Growth,
        materials: Sequence[Material],
    ) -> None:
        self.scenario, self.catalog, self.prices, self.counts = scenario, catalog, prices, counts
        self.use, self.growth = use, growth
        self.materials = {m.key: m for m in materials}
        self.years = scenario.cost.years
        held = [counts.of(hosts) for hosts in growth.hosts]
        self.held = [
            {key: max(many[key] for many in held[: year + 1]) for key in held[0]} for year in range(len(held))
        ]
        """How many of everything there are in each year; what was bought stays."""
        self.spine_w = use.spine_w
        spine, spine_name = counts.spine(growth.hosts)
        unknown = dict.fromkeys(use.unknown_power)
        if spine and not held[0]["spine"]:
            self.spine_w = usual_power_w(catalog.switches[spine]) or 0.0
            if not self.spine_w:
                unknown[f"{spine_name} switches"] = None
        self.not_counted = self._not_counted([bool(many["leaf"]) for many in held], tuple(unknown))
        self.paid = {name: [0.0] * (self.years + 1) for name in PARTS}
        self.facts: dict[str, list[Fact]] = {}
        """What each part rests on."""

    def _not_counted(self, designed: Sequence[bool], unknown_power: Sequence[str]) -> tuple[str, ...]:
        """What costs money, but nobody knows how much of it there is; ``designed`` says when there is a fabric."""
        others = [self.materials[key].status for key in ("management-hosts", "compute-hosts")]
        left_out = {
            "Switches and their cables: no design of the fabric": not designed[0],
            "Switches and cables for the growth: the fabric cannot grow that far": designed[0]
            and not all(designed),
            "Hardware support of the hosts already there": self.counts.existing,
            "Space: one host alone is more than a rack may carry": not self.use.hosts_per_rack,
            f"Electricity of {', '.join(unknown_power)} (power not known)": unknown_power,
            "Licences, power, space and people for management and compute hosts": "bought" in others,
        }
        return tuple(words for words, holds in left_out.items() if holds)

    def parts(self) -> tuple[CostPart, ...]:
        """Every part that costs or brings something."""
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

    def load(self, year: int) -> float:
        """Share of the time in which the GPUs are used in a year."""
        if self.scenario.cost.utilisation is not None:
            return self.scenario.cost.utilisation
        gpus = self.counts.gpus(self.growth.hosts[year])
        return min(1.0, self.growth.busy_gpus[year] / gpus)

    def _pay(self, part: str, yearly: Iterable[float], *facts: Fact) -> None:
        """What is paid for a part, year by year from the purchase, and what that rests on."""
        for year, value in enumerate(yearly):
            self.paid[part][year] += value
        self.facts.setdefault(part, []).extend(facts)

    def _more(self, key: str, year: int) -> int:
        """How many are bought in a year beyond those of the year before."""
        now = self.held[year][key]
        return now - (self.held[year - 1][key] if year else 0)

    def _bought(self, material: Material) -> list[float]:
        """What is paid for a material in each year; nothing if nobody knows its price."""
        if material.price is None:
            return []
        if material.key not in self.held[0]:
            return [material.cost or 0.0]
        each = material.price.value
        return [
            cost.purchase_cost(self._more(material.key, year), unit_price=each, discount=material.discount)
            for year in range(self.years + 1)
        ]

    def _later(self, paid: Callable[[int], float]) -> list[float]:
        """What is paid in each year from the first, and nothing at the start."""
        return [0.0, *(paid(year) for year in range(1, self.years + 1))]

    def _platform(self) -> None:
        material, support = self.materials["platform"], None
        paid = [0.0]
        if self.scenario.cost.platform_licence == "socket":
            paid = self._bought(material)
            name = f"{material.name}: support"
            support = self.prices.price("platform-support-socket-year", name, "socket-year")
        facts = [price.fact for price in (material.price, support) if price]
        if not facts:
            return
        self._pay("Platform licences", paid, *facts, self.counts.cores, self.counts.sockets)
        each = support if material.status == "bought" else material.price
        if each is not None:
            price = cost.purchase_cost(1, unit_price=each.value, discount=material.discount)
            held = [many["platform"] for many in self.held]
            yearly = self._later(lambda year: subscription_cost(held[year], yearly_price=price, year=year))
            self._pay("Platform licences", yearly)

    def _gpu_software(self) -> None:
        material = self.materials.get("gpu-software")
        if material is None or material.price is None:
            return
        part, choice = "GPU software", self.scenario.cost.gpu_licence
        free = included_years(self.scenario, self.catalog)
        each = cost.purchase_cost(1, unit_price=material.price.value, discount=material.discount)
        self._pay(part, (), material.price.fact)
        supported = int(self.catalog.products["nvidia-ai-enterprise"].fact("support_years").value)
        support = None
        if choice == "perpetual" and free + supported < self.years:
            name = f"{material.name}, support after year {supported}"
            support = self.prices.price("nvaie-support-year", name, "gpu-year")
        if support is not None:
            self._pay(part, (), support.fact)
        for bought in range(self.years + 1):
            licences = self._more("gpu-software", bought)
            if licences and choice == "year":
                self._pay(part, self._subscribed(licences, bought, each, free))
            elif licences:
                term = 5 if choice == "5-years" else self.years + 1
                paid = term_licence_purchases(
                    licences,
                    price=each,
                    term_years=term,
                    horizon_years=self.years,
                    bought_year=bought,
                    years_included=free,
                )
                self._pay(part, paid)
            if licences and support is not None:
                yearly = support.value * (1 - material.discount)
                self._pay(part, self._subscribed(licences, bought, yearly, free + supported))

    def _subscribed(self, licences: int, bought: int, price: float, included: int) -> list[float]:
        """What licences bought in a year cost by the year, beyond the years that are included."""
        return self._later(
            lambda year: subscription_cost(
                licences, yearly_price=price, year=year, bought_year=bought, years_included=included
            )
        )

    def _hardware(self, year: int) -> float:
        """What has been paid for hardware until a year."""
        return cost.total_cost(*(self.paid[part][y] for part in HARDWARE for y in range(year + 1)))

    def _hardware_facts(self) -> list[Fact]:
        return [fact for part in HARDWARE for fact in self.facts.get(part, ())]

    def _support(self) -> None:
        share = factor(self.scenario, self.catalog, "support_share")
        each = float(share.value)
        yearly = self._later(lambda year: cost.purchase_cost(self._hardware(year), unit_price=each))
        self._pay("Hardware support", yearly, share, *self._hardware_facts())

    def _running(self) -> None:
        """Power and cooling, space, and people."""
        prices, use = self.prices, self.use
        energy = prices.price("electricity-kwh", "Electricity", "kwh")
        space = prices.price("rack-year", "Space for a rack", "rack-year")
        people = prices.price("administration-host-year", "Administration of a host", "host-year")
        hosts = [sum(many.values()) for many in self.growth.hosts]

        def yearly(price: Price, many: Callable[[int], float]) -> list[float]:
            return self._later(lambda year: cost.purchase_cost(many(year), unit_price=price.value))

        if energy is not None:
            pue = factor(self.scenario, self.catalog, "pue")
            it = yearly(energy, lambda year: power.energy_kwh(self._typical_w(year)))
            self._pay("Power", it, energy.fact, *use.facts)
            self._pay("Cooling", [paid * (float(pue.value) - 1) for paid in it], energy.fact, pue, *use.facts)
        if space is not None and use.hosts_per_rack:
            racks = yearly(space, lambda year: power.racks(hosts[year], hosts_per_rack=use.hosts_per_rack))
            self._pay("Space", racks, space.fact)
        if people is not None:
            self._pay("Administration", yearly(people, lambda year: hosts[year]), people.fact)

    def _typical_w(self, year: int) -> float:
        """Typical power of hosts and switches in a year, without cooling."""
        new = sum(self.growth.hosts[year].values()) - sum(self.growth.hosts[0].values())
        hosts_w = power.typical_power_w(
            self.use.hosts_peak_w + new * self.use.host_peak_w,
            idle_share=self.use.idle_share,
            load=self.load(year),
        )
        held = self.held[year]
        return power.total_power_w(hosts_w, held["leaf"] * self.use.leaf_w, held["spine"] * self.spine_w)

    def _left(self) -> None:
        share = factor(self.scenario, self.catalog, "residual_share")
        left = cost.residual_price(self._hardware(self.years), share=float(share.value))
        if left:
            self._pay("Value left", [*[0.0] * self.years, -left], share, *self._hardware_facts())


def _cash_lines(trail: Trail, parts: Sequence[CostPart], flows: _Flows) -> tuple[Line, ...]:
    """A line for each part, for each year, and for their sum."""
    held: dict[str, dict[int, Fact]] = {}
    for part in parts:
        key, behind = part.name.lower().replace(" ", "-"), flows.facts[part.name]
        held[part.name] = {
            year: resting_on(
                behind, f"cost/{key}/year_{year}", paid, flows.prices.currency, f"{part.name}, {when}"
            )
            for year, paid in enumerate(part.yearly)
            for when in [f"year {year}" if year else "at the start"]
            if paid
        }
        named = {f"year_{year}": fact for year, fact in held[part.name].items()}
        trail.add_up(f"cost.parts.{key}", cost.total_cost, named, name=part.name)
    lines = tuple(
        trail.add_up(
            f"cost.years.{year}",
            cost.total_cost,
            {name: yearly[year] for name, yearly in held.items() if year in yearly},
            when=f"in year {year}" if year else "at the start",
        )
        for year in range(flows.years + 1)
    )
    by_key = {line.key: line for line in lines}
    trail.add_up("cost.total", cost.total_cost, by_key, years=counted(flows.years, "year"))
    return lines


def _present_line(trail: Trail, cash: Sequence[Line], rate: Fact) -> Line:
    value = cost.net_present_cost([float(line.value) for line in cash], rate=float(rate.value))
    terms = ["{year0}"] + [
        f"{{year{year}}} / (1 + {{rate}})" + f"^{year}" * (year > 1) for year in range(1, len(cash))
    ]
    named = {f"year{year}": line for year, line in enumerate(cash)}
    discounted = {"sum": " + ".join(terms)}
    return trail.record("cost.net_present", cost.net_present_cost, value, named, words=discounted, rate=rate)


def _hour_line(
    trail: Trail, name: str, present: Line, hours: Sequence[float], rate: Fact, flows: _Flows
) -> float | None:
    """Net present cost by the GPU-hour: the level price that pays for it, hours of later years discounted like money."""
    discounted = cost.net_present_cost([0.0, *hours], rate=float(rate.value))
    if not discounted:
        return None
    basis, what = "derived", "8,760 h a year of every GPU"
    if name == "used":
        basis, what = weakest(f.basis for f in flows.use.facts), "hours in which GPUs are used"
    note = f"{what}, later years discounted like the money"
    gpu_hours = replace(derived(f"cost/gpu_hours_{name}", discounted, "1", note), basis=basis)
    key = f"cost.gpu_hour_{name}"
    return float(trail.compute(key, cost.gpu_hour_cost, total_cost=present, gpu_hours=gpu_hours).value)


def _shares(trail: Trail, pools: Sequence[Pool]) -> dict[str, Line]:
    """GPUs that each group demands of the hosts, and the stated ones of no group."""
    found = {}
    for kind in dict.fromkeys(pool.kind for pool in pools):
        for part in trail[f"pools.{kind}.gpus_demanded"].inputs:
            head, _, rest = part.key.partition(".")
            found[rest.split(".")[0] if head == "groups" else UNASSIGNED] = trail[part.key]
    return found


def _group_costs(trail: Trail, shares: Mapping[str, Line]) -> tuple[GroupCost, ...]:
    """The total, divided by the GPUs that each group demands."""
    gpus = {group: float(line.value) for group, line in shares.items()}
    whole, total = sum(gpus.values()), trail["cost.total"]
    if not whole:
        return ()
    costs = cost.allocated_cost(float(total.value), shares=list(gpus.values()))
    words = {"whole": f"{whole:g}"}
    for (group, line), part in zip(shares.items(), costs, strict=True):
        here = trail.about(f"groups.{group}")
        here.record("cost", cost.allocated_cost, part, words=words, total=total, gpus=line)
    return tuple(
        GroupCost(group, n / whole, part) for (group, n), part in zip(gpus.items(), costs, strict=True)
    )
