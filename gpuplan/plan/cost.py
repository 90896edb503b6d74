"""Cost: what a design costs from the day it is bought to the end of the years looked at.

The models are ``gpuplan.models.cost``. Column 0 is the purchase; column k holds what is paid in year k: running it, licences,
and the hosts bought for the growth of that year. What has no price is left out and named.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from gpuplan.catalog import Catalog
from gpuplan.facts import Fact, derived, weakest
from gpuplan.models import cost, power
from gpuplan.models.licences import subscription_cost, term_licence_purchases
from gpuplan.plan.bill_of_materials import Counts, Material, bill, included_years
from gpuplan.plan.clusters import divided, most_hosts
from gpuplan.plan.fabric import Cabling
from gpuplan.plan.growth import Growth
from gpuplan.plan.hosts import Pool, spare_hosts
from gpuplan.plan.power import PowerUse, usual_power_w
from gpuplan.plan.prices import Price, PriceList, Unknown, factor
from gpuplan.plan.trail import Line, Trail, resting_on
from gpuplan.scenario import UNASSIGNED, Scenario

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
    fabric: Cabling | None,
    use: PowerUse,
    growth: Growth,
) -> Costs:
    """What a design costs over the years."""
    given = scenario.cost
    prices = PriceList(scenario, catalog)
    counts = Counts(scenario, catalog, pools, fabric)
    materials = bill(trail, scenario, catalog, prices, counts, growth.hosts)
    flows = _Flows(scenario, catalog, prices, counts, use, growth, materials)
    parts = flows.parts()
    cash = _cash_lines(trail, prices, parts, flows)
    rate = factor(scenario, catalog, "discount_rate")
    present = _present_line(trail, prices, cash, rate)
    gpus = tuple(counts.gpus(hosts) for hosts in growth.hosts)
    installed = tuple(cost.installed_gpu_hours(n) for n in gpus[1:])
    used = tuple(
        cost.used_gpu_hours(n, utilisation=flows.load(year)) for year, n in enumerate(gpus[1:], start=1)
    )
    per_hour = {
        name: _hour_line(trail, prices, name, present, hours, rate, flows)
        for name, hours in (("installed", installed), ("used", used))
    }
    total = float(trail["cost.total"].value)
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
        total=total,
        net_present=float(present.value),
        groups=_group_costs(trail, prices, _shares(trail, pools), total),
        utilisation=cost.total_cost(*used) / cost.total_cost(*installed),
        gpu_hours=installed,
        used_gpu_hours=used,
        gpu_hour_installed=per_hour["installed"],
        gpu_hour_used=per_hour["used"],
        prices=tuple(prices.found.values()),
        unknown=tuple(prices.unknown.values()),
        not_counted=tuple(flows.not_counted),
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
        self.not_counted: list[str] = []
        """What costs money, but nobody knows how much of it there is."""
        if not held[0]["leaf"]:
            self.not_counted.append("Switches and their cables: no design of the fabric")
        elif not all(many["leaf"] for many in held):
            self.not_counted.append("Switches and cables for the growth: the fabric cannot grow that far")
        most, spare = most_hosts(catalog), spare_hosts(scenario)
        short = any(found.more for pool in counts.pools if (found := divided(scenario, catalog, pool)))
        if short or any(
            spare and hosts[pool.id] > max(most, pool.hosts)
            for hosts in growth.hosts
            for pool in counts.pools
        ):
            self.not_counted.append(f"Spare hosts of every further cluster: one has at most {most} hosts")
        if counts.existing:
            self.not_counted.append("Hardware support of the hosts already there")
        if not use.hosts_per_rack:
            self.not_counted.append("Space: one host alone is more than a rack may carry")
        unknown = list(use.unknown_power)
        self.spine_w = use.spine_w
        spine, name = counts.spine(growth.hosts)
        if spine and not held[0]["spine"]:
            self.spine_w = usual_power_w(catalog.switches[spine]) or 0.0
            if not self.spine_w and f"{name} switches" not in unknown:
                unknown.append(f"{name} switches")
        if unknown:
            self.not_counted.append(f"Electricity of {', '.join(unknown)} (power not known)")
        if any(m.status == "bought" and m.key in ("management-hosts", "compute-hosts") for m in materials):
            self.not_counted.append("Licences, power, space and people for management and compute hosts")
        self.facts: dict[str, list[Fact]] = {}

    def parts(self) -> tuple[CostPart, ...]:
        """Every part that costs or brings something."""
        found = {name: [0.0] * (self.years + 1) for name in PARTS}
        for material in self.materials.values():
            if material.status == "bought" and material.part in HARDWARE:
                self._add(found[material.part], self._bought(material))
                self._note(material.part, material.price.fact if material.price else None)
        self._platform(found["Platform licences"])
        self._gpu_software(found["GPU software"])
        self._support(found)
        self._running(found)
        self._left(found)
        return tuple(
            CostPart(name, tuple(found[name]), weakest(fact.basis for fact in self.facts[name]))
            for name in PARTS
            if self.facts.get(name)
        )

    def load(self, year: int) -> float:
        """Share of the time in which the GPUs are used in a year."""
        if self.scenario.cost.utilisation is not None:
            return self.scenario.cost.utilisation
        gpus = self.counts.gpus(self.growth.hosts[year])
        return min(1.0, self.growth.busy_gpus[year] / gpus)

    def _note(self, part: str, *facts: Fact | None) -> None:
        self.facts.setdefault(part, []).extend(fact for fact in facts if fact is not None)

    @staticmethod
    def _add(yearly: list[float], more: Sequence[float]) -> None:
        for year, value in enumerate(more):
            yearly[year] += value

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
        return [
            cost.purchase_cost(
                self._more(material.key, year), unit_price=material.price.value, discount=material.discount
            )
            for year in range(self.years + 1)
        ]

    def _platform(self, yearly: list[float]) -> None:
        material, support = self.materials["platform"], None
        if self.scenario.cost.platform_licence == "socket":
            self._add(yearly, self._bought(material))
            support = self.prices.price(
                "platform-support-socket-year", f"{material.name}: support", "socket-year"
            )
        each = support if material.status == "bought" else material.price
        if each is not None:
            price = cost.purchase_cost(1, unit_price=each.value, discount=material.discount)
            for year in range(1, self.years + 1):
                yearly[year] += subscription_cost(self.held[year]["platform"], yearly_price=price, year=year)
        facts = [price.fact for price in (material.price, support) if price]
        if facts:
            self._note("Platform licences", *facts, self.counts.cores, self.counts.sockets)

    def _gpu_software(self, yearly: list[float]) -> None:
        material = self.materials.get("gpu-software")
        if material is None or material.price is None:
            return
        choice = self.scenario.cost.gpu_licence
        free = included_years(self.scenario, self.catalog)
        each = cost.purchase_cost(1, unit_price=material.price.value, discount=material.discount)
        self._note("GPU software", material.price.fact)
        support = None
        supported = int(self.catalog.products["nvidia-ai-enterprise"].fact("support_years").value)
        if choice == "perpetual" and free + supported < self.years:
            support = self.prices.price(
                "nvaie-support-year", f"{material.name}, support after year {supported}", "gpu-year"
            )
            self._note("GPU software", support.fact if support else None)
        for bought in range(self.years + 1):
            licences = self._more("gpu-software", bought)
            if not licences:
                continue
            if choice == "year":
                paid = [0.0] + [
                    subscription_cost(
                        licences, yearly_price=each, year=year, bought_year=bought, years_included=free
                    )
                    for year in range(1, self.years + 1)
                ]
            else:
                paid = list(
                    term_licence_purchases(
                        licences,
                        price=each,
                        term_years=5 if choice == "5-years" else self.years + 1,
                        horizon_years=self.years,
                        bought_year=bought,
                        years_included=free,
                    )
                )
            self._add(yearly, paid)
            if support is not None:
                later = [
                    subscription_cost(
                        licences,
                        yearly_price=support.value * (1 - material.discount),
                        year=year,
                        bought_year=bought,
                        years_included=free + supported,
                    )
                    for year in range(1, self.years + 1)
                ]
                self._add(yearly, [0.0, *later])

    def _hardware(self, found: Mapping[str, Sequence[float]], year: int) -> float:
        """What has been paid for hardware until a year."""
        return cost.total_cost(*(found[part][y] for part in HARDWARE for y in range(year + 1)))

    def _support(self, found: dict[str, list[float]]) -> None:
        share = factor(self.scenario, self.catalog, "support_share")
        for year in range(1, self.years + 1):
            found["Hardware support"][year] = cost.purchase_cost(
                self._hardware(found, year), unit_price=float(share.value)
            )
        self._note("Hardware support", share, *(f for part in HARDWARE for f in self.facts.get(part, ())))

    def _running(self, found: dict[str, list[float]]) -> None:
        prices, scenario = self.prices, self.scenario
        pue = factor(scenario, self.catalog, "pue")
        energy = prices.price("electricity-kwh", "Electricity", "kwh")
        space = prices.price("rack-year", "Space for a rack", "rack-year")
        people = prices.price("administration-host-year", "Administration of a host", "host-year")
        for year in range(1, self.years + 1):
            hosts = sum(self.growth.hosts[year].values())
            kwh = power.energy_kwh(self._typical_w(year))
            if energy is not None:
                it = cost.purchase_cost(kwh, unit_price=energy.value)
                found["Power"][year] = it
                found["Cooling"][year] = it * (float(pue.value) - 1)
            if space is not None and self.use.hosts_per_rack:
                racks = power.racks(hosts, hosts_per_rack=self.use.hosts_per_rack)
                found["Space"][year] = cost.purchase_cost(racks, unit_price=space.value)
            if people is not None:
                found["Administration"][year] = cost.purchase_cost(hosts, unit_price=people.value)
        if energy is not None:
            self._note("Power", energy.fact, *self.use.facts)
            self._note("Cooling", energy.fact, pue, *self.use.facts)
        if space is not None and self.use.hosts_per_rack:
            self._note("Space", space.fact)
        if people is not None:
            self._note("Administration", people.fact)

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

    def _left(self, found: dict[str, list[float]]) -> None:
        share = factor(self.scenario, self.catalog, "residual_share")
        left = cost.residual_price(self._hardware(found, self.years), share=float(share.value))
        if left:
            found["Value left"][self.years] = -left
            self._note("Value left", share, *(f for part in HARDWARE for f in self.facts.get(part, ())))


def _cash_lines(
    trail: Trail, prices: PriceList, parts: Sequence[CostPart], flows: _Flows
) -> tuple[Line, ...]:
    """A line for each part, for each year, and for their sum."""
    held: dict[str, dict[int, Fact]] = {}
    for part in parts:
        key, behind = part.name.lower().replace(" ", "-"), flows.facts[part.name]
        held[part.name] = {
            year: resting_on(behind, f"cost/{key}/year_{year}", paid, prices.currency, f"{part.name}, {when}")
            for year, paid in enumerate(part.yearly)
            for when in [f"year {year}" if year else "at the start"]
            if paid
        }
        trail.add_up(
            f"cost.parts.{key}",
            part.name,
            prices.currency,
            cost.total_cost,
            {f"year_{year}": fact for year, fact in held[part.name].items()},
        )
    lines = tuple(
        trail.add_up(
            f"cost.years.{year}",
            f"Paid in year {year}" if year else "Paid at the start",
            prices.currency,
            cost.total_cost,
            {name: yearly[year] for name, yearly in held.items() if year in yearly},
        )
        for year in range(flows.years + 1)
    )
    trail.add_up(
        "cost.total",
        f"Cost over {flows.years} year{'s' * (flows.years > 1)}",
        prices.currency,
        cost.total_cost,
        {line.key: line for line in lines},
    )
    return lines


def _present_line(trail: Trail, prices: PriceList, cash: Sequence[Line], rate: Fact) -> Line:
    named: dict[str, Fact | Line] = {f"year{year}": line for year, line in enumerate(cash)}
    terms = ["{year0}"] + [
        f"{{year{year}}} / (1 + {{rate}})" + f"^{year}" * (year > 1) for year in range(1, len(cash))
    ]
    return trail.record(
        "cost.net_present",
        "Net present cost",
        prices.currency,
        cost.net_present_cost,
        " + ".join(terms) + " = {value}",
        cost.net_present_cost([float(line.value) for line in cash], rate=float(rate.value)),
        named | {"rate": rate},
    )


def _hour_line(
    trail: Trail,
    prices: PriceList,
    name: str,
    present: Line,
    hours: Sequence[float],
    rate: Fact,
    flows: _Flows,
) -> float | None:
    """Net present cost by the GPU-hour: the level price that pays for it, hours of later years discounted like money."""
    discounted = cost.net_present_cost([0.0, *hours], rate=float(rate.value))
    if not discounted:
        return None
    basis = "derived" if name == "installed" else weakest(f.basis for f in flows.use.facts)
    what = "8,760 h a year of every GPU" if name == "installed" else "hours in which GPUs are used"
    note = f"{what}, later years discounted like the money"
    line = trail.compute(
        f"cost.gpu_hour_{name}",
        f"Cost of a GPU-hour {name}",
        prices.currency,
        cost.gpu_hour_cost,
        "{total_cost_u} / {gpu_hours} GPU-hours = {value_u}",
        total_cost=present,
        gpu_hours=replace(derived(f"cost/gpu_hours_{name}", discounted, "1", note), basis=basis),
    )
    return float(line.value)


def _shares(trail: Trail, pools: Sequence[Pool]) -> dict[str, Line]:
    """GPUs that each group demands of the hosts, and the stated ones of no group."""
    found = {}
    for pool in pools:
        for part in trail[f"pools.{pool.id}.gpus_demanded"].inputs:
            head, _, rest = part.key.partition(".")
            found[rest.split(".")[0] if head == "groups" else UNASSIGNED] = trail[part.key]
    return found


def _group_costs(
    trail: Trail, prices: PriceList, shares: Mapping[str, Line], total: float
) -> tuple[GroupCost, ...]:
    """The total, divided by the GPUs that each group demands."""
    gpus = {group: float(line.value) for group, line in shares.items()}
    whole = sum(gpus.values())
    if not whole:
        return ()
    found = []
    for group, part in zip(gpus, cost.allocated_cost(total, shares=list(gpus.values())), strict=True):
        trail.record(
            f"groups.{group}.cost",
            "Share of the cost",
            prices.currency,
            cost.allocated_cost,
            f"{{total}} x {{gpus_u}} of {whole:g} = {{value}}",
            part,
            {"total": trail["cost.total"], "gpus": shares[group]},
        )
        found.append(GroupCost(group, gpus[group] / whole, part))
    return tuple(found)
