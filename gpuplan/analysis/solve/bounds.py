"""Bounds: the most that hosts of a kind can serve within the limits, before any design with them is planned.

A design needs at least the hosts whose GPUs are its demand, and failover capacity, in each year; and hosts
without workloads cost and take no more than the same hosts with them.
"""

import math
from bisect import bisect
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

from gpuplan.analysis.candidates import Candidate
from gpuplan.analysis.solve.designs import Design
from gpuplan.analysis.solve.trial import Question, furthest, least_of, over_limits, with_term, yearly_of
from gpuplan.analysis.variants import outcome
from gpuplan.catalog import Catalog
from gpuplan.models.cost import net_present_cost
from gpuplan.plan import Plan, make_plan
from gpuplan.plan.bill_of_materials import LICENCES
from gpuplan.plan.cost import Costs
from gpuplan.plan.growth import Growth, grow
from gpuplan.plan.llm.own_models import with_models
from gpuplan.plan.plan import plan_of
from gpuplan.scenario import Availability, Demand, Limits, Scenario, ScenarioError, Training
from gpuplan.wording import PART

MANY_GPUS = 64
"""GPUs of hosts whose licences are compared by term: so many that no smallest order counts."""
FIRST = 8
"""Hosts of which a unit tells what they take."""
SPACE = PART["Space"]
STRIDE = 1.05
"""Ratio of the amounts at which designs are bounded."""
IDLE = 0.01
"""Share of the GPU-hours used by hosts without workloads: less than any design uses."""


class Bound(NamedTuple):
    """What hosts of a kind can serve at most, or cost at least."""

    design: Design
    steps: int
    """Most that they serve within the limits; all that can be asked for where nothing bounds them."""
    least: float
    """Least of the figure that is to be small; 0 where it is not known."""


class Unit(NamedTuple):
    """What hosts of a kind take without workloads: so much with `FIRST` of them, and with each one more."""

    limits: Mapping[str, tuple[float, float]]
    """Limit -> what the first take, and one more; the budget without the space of racks."""
    later: float
    """Least net present cost of one more host that is bought in any later year."""
    per_rack: int
    rack: float
    """Net present cost of the space of a rack."""


Units = Mapping[Candidate, Unit | None]
"""Hosts, whatever their access mode -> what they take; None where that is not known."""


def bare(hosts: Candidate) -> Candidate:
    """Return hosts without what no bound depends on."""
    return replace(hosts, sharing="as asked", host_failures=0)


class ToBound(NamedTuple):
    """Hosts with one board, whose demand is the same."""

    question: Question
    designs: tuple[Design, ...]
    units: Units
    floor: int = 1
    """Amount that is found already; what does not serve it is bounded no further."""


def bounds(catalog: Catalog, task: ToBound) -> list[Bound]:
    """Return the bound of each design with a board."""
    question, quantity = task.question, task.question.quantity
    hardware, found, limits = question.scenario.hardware, list[Bound](), question.scenario.limits
    demands = Demands(question.scenario, catalog, task.designs)
    amounts = amounts_from(task.floor, quantity.high)
    near = bisect(amounts, quantity.asked)
    for design in task.designs:
        unit, owned = task.units[bare(design.hosts)], hardware.gpu == design.hosts.gpu and hardware.existing
        if unit is None or owned or hardware.kinds:
            found.append(Bound(design, quantity.high, 0.0))
            continue

        def least(
            steps: int, hosts: Candidate = design.hosts, unit: Unit = unit
        ) -> tuple[float, Mapping[str, float]]:
            needed = hosts_for(demands.of(quantity.at(question.scenario, steps)), hosts)
            return needed[0], least_with(unit, needed)

        def fits(at: int) -> tuple[bool, float]:
            return not over_limits(least(amounts[at])[1], limits), 0.0

        if not quantity.most:
            found.append(Bound(design, quantity.asked, objective_of(quantity.figure, *least(quantity.asked))))
        elif not fits(0)[0]:
            found.append(Bound(design, task.floor - 1, 0.0))
        else:
            near = furthest(0, len(amounts) - 1, near, fits)
            most = amounts[near + 1] - 1 if near + 1 < len(amounts) else quantity.high
            found.append(Bound(design, most, 0.0))
    return found


def amounts_from(low: int, high: int) -> list[int]:
    """Return amounts of which each is `STRIDE` times the one before it, so that boards share few demands."""
    amounts = [low]
    while amounts[-1] < high:
        amounts.append(min(high, max(amounts[-1] + 1, round(amounts[-1] * STRIDE))))
    return amounts


class Demands:
    """GPUs of a board that a scenario asks for now and in its last year, with the most GPUs per host that any design has."""

    def __init__(self, scenario: Scenario, catalog: Catalog, designs: Sequence[Design]) -> None:
        self._catalog = catalog
        self._design = max(designs, key=lambda design: design.hosts.gpus_per_host)
        grows = any(group.growth for group in scenario.groups)
        self._years = dict.fromkeys((0, scenario.cost.years - 1 if grows else 0))
        self._known: dict[Scenario, tuple[float, ...]] = {}

    def of(self, scenario: Scenario) -> tuple[float, ...]:
        """Return the GPUs of the first year, and of the last where anything grows; infinite where no host can hold them."""
        if scenario not in self._known:
            own = self._design.apply(scenario, self._catalog)
            self._known[scenario] = tuple(self._planned(grow(own, year, {})) for year in self._years)
        return self._known[scenario]

    def _planned(self, scenario: Scenario) -> float:
        try:
            plan = plan_of(scenario, with_models(scenario, self._catalog), False)
            return float(plan.demand.planned.value)
        except ScenarioError:
            return math.inf


def hosts_for(gpus: Sequence[float], hosts: Candidate) -> tuple[float, ...]:
    """Return the fewest hosts whose GPUs are a demand, with failover capacity, now and later; hosts once bought stay."""
    needed = [
        n if n in (0, math.inf) else math.ceil(n / hosts.gpus_per_host - 1e-9) + hosts.host_failures
        for n in gpus
    ]
    return tuple(max(needed[: year + 1]) for year in range(len(needed)))


def least_with(unit: Unit, hosts: Sequence[float]) -> Mapping[str, float]:
    """Return of each limit the least that so many hosts take without workloads, now and later."""
    first = hosts[0]
    if math.inf in hosts:
        return dict.fromkeys((*unit.limits, "racks"), math.inf)
    if not first:
        return {}
    taken = {key: at + (first - FIRST) * more for key, (at, more) in unit.limits.items()}
    racks = math.ceil(first / unit.per_rack) if unit.per_rack else 0
    taken["budget"] += racks * unit.rack
    taken["budget"] += (hosts[-1] - first) * unit.later
    return taken | {"racks": racks}


def measured_alone(catalog: Catalog, task: tuple[Question, Candidate]) -> tuple[Candidate, Unit | None]:
    """Return hosts with what they take without workloads."""
    return task[1], _unit_of(catalog, *task)


def _unit_of(catalog: Catalog, question: Question, hosts: Candidate) -> Unit | None:
    """From plans of two numbers of hosts: all that they take grows in proportion but the space of racks."""
    bought = [_hosts_alone(question, catalog, hosts, count) for count in (FIRST, FIRST + 1)]
    few, more = bought
    if few is None or more is None or few.costs is None or more.costs is None or few.power is None:
        return None
    terms = question.space.terms
    one, two = (_least(plan, catalog, terms) for plan in (few, more))
    limits = {key: (one[key], two[key] - one[key]) for key in one if key != "racks"}
    grows = any(group.growth for group in question.scenario.groups)
    years = range(1, few.scenario.cost.years) if grows else ()
    paid = [_bought_later(few, catalog, terms, year) - one["budget"] for year in years]
    rack = _present(few.costs, yearly_of(few.costs, SPACE)) / few.power.racks if few.power.racks else 0.0
    return Unit(limits, min(paid, default=0.0), few.power.hosts_per_rack, rack)


def _hosts_alone(question: Question, catalog: Catalog, hosts: Candidate, count: int) -> Plan | None:
    scenario = Design(
        replace(hosts, link_gbit_s=min(question.space.links)), question.scenario.cost.licence_term_years
    )
    alone = replace(
        scenario.apply(replace(question.scenario, groups=()), catalog),
        demand=replace(Demand(), rule="stated", stated_gpus=count * hosts.gpus_per_host),
        availability=Availability(host_failures=0),
        training=Training(),
        limits=Limits(),
        origins=(),
    )
    plan = outcome(replace(alone, cost=replace(alone.cost, utilisation=IDLE)), catalog, check=False).plan
    return plan if plan and plan.pools else None


def _bought_later(plan: Plan, catalog: Catalog, terms: tuple[int, ...], year: int) -> float:
    """Return the least net present cost with one host more that is bought in a later year."""
    pool, years = plan.pools[0].kind, plan.scenario.cost.years
    needed = tuple({pool: FIRST + (at >= year)} for at in range(years))
    grown = plan.relinked(plan.scenario)
    vars(grown)["growth"] = Growth(needed, plan.growth.busy_gpus, None)
    return _least(grown, catalog, terms)["budget"]


def _least(plan: Plan, catalog: Catalog, terms: tuple[int, ...]) -> dict[str, float]:
    """Return of each limit the least that hosts without workloads take with any term, the budget without space."""
    costs = plan.costs
    assert costs
    platform, software, space = (yearly_of(costs, name) for name in (*LICENCES, SPACE))
    shares = _of_terms(plan.scenario.only("cost", "prices"), catalog, terms)
    rest = 1 - min(shares[0], 1.0), 1 - min(shares[1], 1.0)
    net = costs.net_present - rest[0] * _present(costs, platform) - sum(software) - _present(costs, space)
    return least_of(plan, (net, costs.cash[0] - rest[1] * platform[0] - software[0] - space[0]))


def objective_of(figure: str, hosts: float, least: Mapping[str, float]) -> float:
    """Return the least of a figure that is to be small, with so many hosts."""
    if figure == "hosts":
        return float(hosts)
    keys = {"net_present": "budget", "first": "budget_start", "peak_w": "power_kw"}
    value = least.get(keys.get(figure, figure), 0.0)
    return value * 1000 if figure == "peak_w" else value


def _present(costs: Costs, yearly: Sequence[float]) -> float:
    return net_present_cost(list(yearly), rate=costs.discount_rate)


@lru_cache(maxsize=64)  # the same for every number of hosts: without it three terms are priced for each
def _of_terms(scenario: Scenario, catalog: Catalog, terms: tuple[int, ...]) -> tuple[float, float]:
    """Return the least cost of platform licences with any term, in parts of that with the scenario's, and of its start."""
    bare = replace(scenario, demand=replace(Demand(), rule="stated", stated_gpus=MANY_GPUS))
    plan = make_plan(bare, catalog, check=False)
    paid = []
    for each in (plan, *(with_term(plan, term) for term in terms)):
        if each.costs:
            yearly = yearly_of(each.costs, LICENCES[0])
            paid.append((_present(each.costs, yearly), yearly[0]))
    own = paid[0] if paid else (0.0, 0.0)
    net, first = (
        min(values) / own[at] if own[at] else 1.0 for at, values in enumerate(zip(*paid, strict=True))
    )
    return net, first
