"""Cost: the cost of a design from the purchase to the end of the analysis period.

``cash_flow`` dates the payments; this module adds them up, each total a line. Items without a price are only named.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from gpuplan.facts import Brief, Fact, weakest
from gpuplan.locales import written
from gpuplan.models import cost
from gpuplan.plan.bill_of_materials import FIRST, Counts, Material, bill
from gpuplan.plan.cash_flow import HARDWARE, CostPart, Flows
from gpuplan.plan.growth import Growth
from gpuplan.plan.hosts import Pool
from gpuplan.plan.inputs import derived, resting_on
from gpuplan.plan.management import ManagementDomain
from gpuplan.plan.power import PowerUse
from gpuplan.plan.prices import Price, PriceList, Unknown, factor
from gpuplan.plan.trail import Line, Trail
from gpuplan.scenario import UNASSIGNED, pick
from gpuplan.wording import counted, said


@dataclass(frozen=True, slots=True)
class GroupCost:
    """Cost of a group's share of the GPUs."""

    id: str
    share: float
    total: float


@dataclass(frozen=True, slots=True, repr=False)
class Costs(Brief):
    """The money of a design, in one currency."""

    currency: str
    years: int
    discount_rate: float
    hosts: tuple[int, ...]
    """In each year from 1, as the GPUs and their hours are; the design as planned carries year 1."""
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
    """Installed."""
    used_gpu_hours: tuple[float, ...]
    gpu_hour_installed: float | None
    gpu_hour_used: float | None
    """None without any use."""
    prices: tuple[Price, ...]
    unknown: tuple[Unknown, ...]
    not_counted: tuple[str, ...]
    """Items that cost money, but in an unknown quantity."""
    as_of: str
    orders: Mapping[str, tuple[float, ...]]
    """Units of each material, by its key, that are ordered for each year from 1."""
    decided: str
    """ISO day of the decision: as stated, else that of the prices."""

    @property
    def lapsed(self) -> tuple[Price, ...]:
        """Quoted prices that no longer hold on the day of the decision."""
        return tuple(price for price in self.prices if price.lapsed)

    @property
    def excludes(self) -> tuple[str, ...]:
        """Items that the cost leaves out because their price or quantity is not known."""
        return (*(item.name for item in self.unknown), *self.not_counted)

    @property
    def outside(self) -> tuple[str, ...]:
        """Items that belong to the design but exist already, or are sized elsewhere."""
        return tuple(m.name for m in self.materials if m.status in ("there", "to be sized"))

    @property
    def hardware(self) -> float:
        """Payment for hardware at the start."""
        return cost.total_cost(*(p.yearly[0] for p in self.parts if p.name in HARDWARE))

    def part(self, name: str) -> CostPart:
        """The part with this name."""
        return pick({part.name: part for part in self.parts}, name, "part of the cost")


def costs(trail: Trail, counts: Counts, use: PowerUse, growth: Growth, domain: ManagementDomain) -> Costs:
    """Return the costs of a design over the analysis period."""
    scenario, catalog = counts.scenario, counts.catalog
    memory_gib = {"management-host": domain.memory_gib}
    prices = PriceList(scenario, catalog, counts.memory_gib | memory_gib)
    trail = trail.saying(currency=prices.currency)
    materials = bill(trail, prices, counts, growth.hosts, domain)
    flows = Flows(prices.price, counts, use, growth, materials)
    parts = flows.parts()
    cash = _cash_lines(trail, parts, flows, prices.currency)
    rate = factor(scenario, catalog, "discount_rate")
    present = _present_line(trail, cash, rate)
    gpus = tuple(counts.gpus(hosts) for hosts in growth.hosts)
    installed = tuple(cost.installed_gpu_hours(n) for n in gpus)
    used = tuple(cost.used_gpu_hours(n, utilisation=flows.load(year)) for year, n in enumerate(gpus, start=1))
    per_hour = {
        name: _hour_line(trail, name, present, hours, rate, flows)
        for name, hours in (("installed", installed), ("used", used))
    }
    return Costs(
        currency=prices.currency,
        years=scenario.cost.years,
        discount_rate=float(rate.value),
        hosts=tuple(sum(hosts.values()) for hosts in growth.hosts),
        gpus=gpus,
        growth_left_out=growth.left_out,
        materials=materials,
        parts=parts,
        cash=tuple(float(line.value) for line in cash),
        total=float(trail["cost.total"].value),
        net_present=float(present.value),
        groups=_costs_of_groups(trail, counts, flows, parts),
        utilisation=cost.total_cost(*used) / cost.total_cost(*installed),
        gpu_hours=installed,
        used_gpu_hours=used,
        gpu_hour_installed=per_hour["installed"],
        gpu_hour_used=per_hour["used"],
        prices=tuple(prices.found.values()),
        unknown=tuple(prices.unknown.values()),
        not_counted=flows.not_counted,
        as_of=prices.as_of,
        orders={material.key: flows.lots(material) for material in materials},
        decided=prices.decided,
    )


def _cash_lines(trail: Trail, parts: Sequence[CostPart], flows: Flows, currency: str) -> tuple[Line, ...]:
    when = {
        year: said("cost.year", year=year) if year else said("cost.start") for year in range(flows.years + 1)
    }
    facts: dict[str, dict[int, Fact]] = {}
    for part in parts:
        key, yearly, name = part.key, facts.setdefault(part.name, {}), "cost of a part in a year"
        known = resting_on(flows.facts[part.name], key, 0, name, part=part.name, when="")
        for year, paid in enumerate(part.yearly):
            if paid:
                fact = derived(f"cost/{key}/year_{year}", paid, name, part=part.name, when=when[year])
                yearly[year] = replace(fact, basis=known.basis, sources=known.sources, unit=currency)
        named = {f"year_{year}": fact for year, fact in yearly.items()}
        trail.add_up(f"cost.parts.{key}", cost.total_cost, named, name=part.name)
    lines = tuple(
        trail.add_up(
            f"cost.years.{year}",
            cost.total_cost,
            {name: yearly[year] for name, yearly in facts.items() if year in yearly},
            when=said("cost.in year", year=year) if year else when[year],
        )
        for year in when
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
    discounted = {"sum": " + ".join(terms), "years": len(cash) - 1}
    return trail.record("cost.net_present", cost.net_present_cost, value, named, words=discounted, rate=rate)


def _hour_line(
    trail: Trail, name: str, present: Line, hours: Sequence[float], rate: Fact, flows: Flows
) -> float | None:
    """Net present cost by the GPU-hour: the level price that pays for it, hours of later years discounted like money."""
    discounted = cost.net_present_cost([0.0, *hours], rate=float(rate.value))
    if not discounted:
        return None
    basis = weakest(f.basis for f in flows.use.facts) if name == "used" else "derived"
    gpu_hours = replace(derived(f"cost/gpu_hours_{name}", discounted), basis=basis)
    key = f"cost.gpu_hour_{name}"
    return float(trail.compute(key, cost.gpu_hour_cost, total_cost=present, gpu_hours=gpu_hours).value)


def _costs_of_groups(
    trail: Trail, counts: Counts, flows: Flows, parts: Sequence[CostPart]
) -> tuple[GroupCost, ...]:
    """The total, divided by the GPUs that each group demands; of several kinds of hosts, the cost of each kind."""
    total = trail["cost.total"]
    if not counts.kinds[1:]:
        return _group_costs(trail, _shares(trail, counts.pools), total)
    costs: list[GroupCost] = []
    of_kinds = flows.of_kinds(parts)
    for kind in counts.kinds:
        named = kind.pools[0].whole_name
        key = f"cost.kinds.{kind.suffix.removeprefix(FIRST) or 'first_kind'}"
        line = trail.record(key, cost.allocated_cost, of_kinds[kind.name], words={"name": named}, total=total)
        costs += _group_costs(trail, _shares(trail, kind.pools), line)
    paid = float(total.value) or 1.0
    return tuple(replace(group, share=group.total / paid) for group in costs)


def _shares(trail: Trail, pools: Sequence[Pool]) -> dict[str, Line]:
    """GPUs that each group demands of the hosts, and the stated ones of no group."""
    shares = {}
    for kind in dict.fromkeys(pool.kind for pool in pools):
        for part in trail[f"pools.{kind}.gpus_demanded"].inputs:
            head, _, rest = part.key.partition(".")
            shares[rest.split(".")[0] if head == "groups" else UNASSIGNED] = trail[part.key]
    return shares


def _group_costs(trail: Trail, shares: Mapping[str, Line], total: Line) -> tuple[GroupCost, ...]:
    """A total, divided by the GPUs that each group demands."""
    gpus = {group: float(line.value) for group, line in shares.items()}
    whole = sum(gpus.values())
    if not whole:
        return ()
    costs = cost.allocated_cost(float(total.value), shares=list(gpus.values()))
    words = {"whole": written(whole, "g")}
    for (group, line), part in zip(shares.items(), costs, strict=True):
        here = trail.about(f"groups.{group}")
        here.record("cost", cost.allocated_cost, part, words=words, total=total, gpus=line)
    return tuple(
        GroupCost(group, n / whole, part) for (group, n), part in zip(gpus.items(), costs, strict=True)
    )
