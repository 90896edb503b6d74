"""Bounds: the most that hosts of a kind can serve within the limits, before any design with them is planned.

A design needs at least the hosts whose GPUs are its demand, and failover capacity, in each year; and hosts
without workloads cost and take no more than the same hosts with them.
"""

import math
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
from gpuplan.plan import make_plan
from gpuplan.plan.bill_of_materials import LICENCES
from gpuplan.plan.cost import Costs
from gpuplan.plan.growth import Growth, grow
from gpuplan.plan.llm.own_models import with_models
from gpuplan.plan.plan import plan_of
from gpuplan.scenario import Availability, Demand, Limits, Scenario, ScenarioError, Training

MANY_GPUS = 64
"""GPUs of hosts whose licences are compared by term: so many that no smallest order counts."""
IDLE = 0.01
"""Share of the GPU-hours used by hosts without workloads: less than any design uses."""


class Bound(NamedTuple):
    """What hosts of a kind can serve at most, or cost at least."""

    design: Design
    steps: int
    """Most that they serve within the limits; all that can be asked for where nothing bounds them."""
    least: float
    """Least of the figure that is to be small; 0 where it is not known."""


class ToBound(NamedTuple):
    """Hosts with one board, whose demand is the same."""

    question: Question
    designs: tuple[Design, ...]


def bounds(catalog: Catalog, task: ToBound) -> list[Bound]:
    """Return the bound of each design with a board; one like the one before it is looked at beyond that one's first."""
    question, quantity = task.question, task.question.quantity
    hardware, found = question.scenario.hardware, list[Bound]()
    demands = Demands(question.scenario, catalog, task.designs)
    near = max(1, quantity.asked)
    for design in task.designs:
        owned = hardware.existing and design.hosts.gpu == hardware.gpu
        if owned or hardware.kinds:
            found.append(Bound(design, quantity.high, 0.0))
            continue

        def least(steps: int, design: Design = design) -> tuple[int, Mapping[str, float]]:
            hosts = hosts_for(demands.of(quantity.at(question.scenario, steps)), design.hosts)
            return hosts[0], least_with(question, catalog, design, hosts)

        def fits(steps: int) -> tuple[bool, float]:
            taken, limits = least(steps)[1], question.scenario.limits
            stated = {key: float(limit) for key in taken if (limit := getattr(limits, key))}
            return not over_limits(taken, limits), max((taken[k] / stated[k] for k in stated), default=0.0)

        if not quantity.most:
            found.append(Bound(design, quantity.asked, objective_of(quantity.figure, *least(quantity.asked))))
        elif near < quantity.high and found and not fits(near + 1)[0]:
            found.append(Bound(design, near, 0.0))
        else:
            near = furthest(0, quantity.high, near, fits)
            found.append(Bound(design, near, 0.0))
    return found


class Demands:
    """GPUs of a board that a scenario asks for in each year, with the most GPUs per host that any design has."""

    def __init__(self, scenario: Scenario, catalog: Catalog, designs: Sequence[Design]) -> None:
        self._catalog = catalog
        self._design = max(designs, key=lambda design: design.hosts.gpus_per_host)
        grows = any(group.growth for group in scenario.groups)
        self._years = scenario.cost.years if grows else 1
        self._known: dict[Scenario, tuple[float, ...]] = {}

    def of(self, scenario: Scenario) -> tuple[float, ...]:
        """Return the GPUs of each year; 0 where they cannot be told, as that bounds nothing."""
        if scenario not in self._known:
            own = self._design.apply(scenario, self._catalog)
            self._known[scenario] = tuple(self._planned(grow(own, year, {})) for year in range(self._years))
        return self._known[scenario]

    def _planned(self, scenario: Scenario) -> float:
        try:
            plan = plan_of(scenario, with_models(scenario, self._catalog), False)
            return float(plan.demand.planned.value)
        except ScenarioError:
            return 0.0


def hosts_for(gpus: Sequence[float], hosts: Candidate) -> tuple[int, ...]:
    """Return the fewest hosts of each year whose GPUs are a demand, with failover capacity; hosts once bought stay."""
    needed = [math.ceil(n / hosts.gpus_per_host - 1e-9) + hosts.host_failures if n else 0 for n in gpus]
    return tuple(max(needed[: year + 1]) for year in range(len(needed)))


def least_with(
    question: Question, catalog: Catalog, design: Design, hosts: Sequence[int]
) -> Mapping[str, float]:
    """Return of each limit the least that so many hosts in each year take without workloads; nothing where that is not known."""
    if not hosts[0]:
        return {}
    first = replace(design.hosts, host_failures=0, sharing="as asked", link_gbit_s=min(question.space.links))
    bare = replace(
        Design(first, design.term).apply(replace(question.scenario, groups=()), catalog),
        demand=replace(Demand(), rule="stated", stated_gpus=hosts[0] * first.gpus_per_host),
        availability=Availability(host_failures=0),
        training=Training(),
        limits=Limits(),
        origins=(),
    )
    bare = replace(bare, cost=replace(bare.cost, utilisation=IDLE))
    return _least_of(bare, catalog, question.space.terms, tuple(hosts))


@lru_cache(maxsize=4096)  # amounts near each other take as many hosts: half of the time of a frontier
def _least_of(
    bare: Scenario, catalog: Catalog, terms: tuple[int, ...], hosts: tuple[int, ...]
) -> Mapping[str, float]:
    plan = outcome(bare, catalog, check=False).plan
    if plan is None or not plan.pools:
        return {}
    if hosts[-1] > hosts[0]:
        each = (*hosts, *hosts[-1:] * (bare.cost.years - len(hosts)))
        needed = tuple({plan.pools[0].kind: count} for count in each[: bare.cost.years])
        vars(plan)["growth"] = Growth(needed, plan.growth.busy_gpus, None)
    if (costs := plan.costs) is None:
        return {}
    platform, software = (yearly_of(costs, name) for name in LICENCES)
    shares = _of_terms(bare.only("cost", "prices"), catalog, terms)
    rest = 1 - min(shares[0], 1.0), 1 - min(shares[1], 1.0)
    net = costs.net_present - rest[0] * _present(costs, platform) - sum(software)
    return least_of(plan, (net, costs.cash[0] - rest[1] * platform[0] - software[0]))


def objective_of(figure: str, hosts: int, least: Mapping[str, float]) -> float:
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
