"""Bounds: the most that hosts of a kind can serve within the limits, before any design with them is planned.

Hosts without workloads cost and take no more than the same hosts with them, which gives the most hosts within the limits;
and a design needs at least the hosts whose GPUs are its demand, and the spare ones for failures.
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
from gpuplan.plan.llm.own_models import with_models
from gpuplan.plan.plan import plan_of
from gpuplan.scenario import Availability, Demand, Limits, Scenario, ScenarioError, Training

HOSTS_FIRST = 8
"""Hosts of the first look, beyond which the limits are reached in proportion."""
MOST_HOSTS = 4096
MANY_GPUS = 64
"""GPUs of hosts whose licences are compared by term: so many that no smallest order counts."""
IDLE = 0.01
"""Share of the GPU-hours used by hosts without workloads: less than any design uses."""


class Bound(NamedTuple):
    """What hosts of a kind can serve at most, or cost at least."""

    design: Design
    steps: int
    """Most that they serve within the limits; none where nothing bounds them."""
    least: float
    """Least of the figure that is to be small; 0 where it is not known."""


class ToBound(NamedTuple):
    """Hosts with one board, whose demand is the same."""

    question: Question
    designs: tuple[Design, ...]


def bounds(catalog: Catalog, task: ToBound) -> list[Bound]:
    """Return the bound of each design with a board."""
    question, quantity = task.question, task.question.quantity
    kinds: dict[Candidate, int | None] = {}
    demands: dict[int, float] = {}
    largest = max(task.designs, key=lambda design: design.hosts.gpus_per_host)

    def demanded(steps: int) -> float:
        if steps not in demands:
            demands[steps] = demand_of(quantity.at(question.scenario, steps), catalog, largest)
        return demands[steps]

    found = []
    for design in task.designs:
        hosts = replace(design.hosts, sharing="as asked")
        owned = question.scenario.hardware.existing and hosts.gpu == question.scenario.hardware.gpu
        if owned or question.scenario.hardware.kinds:
            found.append(Bound(design, quantity.high, 0.0))
            continue
        if not quantity.most:
            count = hosts_for(demanded(quantity.asked), hosts)
            least = least_with(question, catalog, design, count)
            found.append(Bound(design, quantity.asked, objective_of(quantity.figure, count, least)))
            continue
        if hosts not in kinds:
            near = next(reversed(kinds.values()), None)
            kinds[hosts] = _most_hosts(question, catalog, design, near)
        most = kinds[hosts]
        if most is None:
            found.append(Bound(design, quantity.high, 0.0))
            continue
        room = (most - hosts.host_failures) * hosts.gpus_per_host
        if room <= 0:
            found.append(Bound(design, 0, 0.0))
            continue

        def fits(steps: int, room: int = room) -> tuple[bool, float]:
            gpus = demanded(steps)
            return gpus <= room + 1e-9, gpus / room

        found.append(Bound(design, furthest(0, quantity.high, max(1, quantity.asked), fits), 0.0))
    return found


def hosts_for(gpus: float, hosts: Candidate) -> int:
    """Return the fewest hosts whose GPUs are a demand, with the spare ones for failures."""
    return math.ceil(gpus / hosts.gpus_per_host - 1e-9) + hosts.host_failures if gpus else 0


def demand_of(scenario: Scenario, catalog: Catalog, design: Design) -> float:
    """Return the GPUs that a design is asked for; 0 where they cannot be told, as that bounds nothing."""
    scenario = design.apply(scenario, catalog)
    try:
        plan = plan_of(scenario, with_models(scenario, catalog), False)
        return float(plan.demand.planned.value)
    except ScenarioError:
        return 0.0


def least_with(question: Question, catalog: Catalog, design: Design, hosts: int) -> Mapping[str, float]:
    """Return of each limit the least that so many hosts without workloads take; nothing where that is not known."""
    if not hosts:
        return {}
    first = replace(design.hosts, host_failures=0, sharing="as asked", link_gbit_s=min(question.space.links))
    bare = replace(
        Design(first, design.term).apply(replace(question.scenario, groups=()), catalog),
        demand=replace(Demand(), rule="stated", stated_gpus=hosts * first.gpus_per_host),
        availability=Availability(host_failures=0),
        training=Training(),
        limits=Limits(),
        origins=(),
    )
    bare = replace(bare, cost=replace(bare.cost, utilisation=IDLE))
    return _least_of(bare, catalog, question.space.terms)


@lru_cache(maxsize=4096)  # amounts near each other take as many hosts: half of the time of a frontier
def _least_of(bare: Scenario, catalog: Catalog, terms: tuple[int, ...]) -> Mapping[str, float]:
    plan = outcome(bare, catalog, check=False).plan
    if plan is None or plan.costs is None:
        return {}
    costs = plan.costs
    platform, software = (yearly_of(costs, name) for name in LICENCES)
    shares = _of_terms(bare.only("cost", "prices"), catalog, terms)
    rest = 1 - min(shares[0], 1.0), 1 - min(shares[1], 1.0)
    net = costs.net_present - rest[0] * _present(costs, platform) - sum(software)
    return least_of(plan, (net, costs.cash[0] - rest[1] * platform[0] - software[0]))


def _most_hosts(question: Question, catalog: Catalog, design: Design, like: int | None) -> int | None:
    """Return the most hosts of a kind within the limits, or of others ``like`` it; None where no limit bounds them."""
    bounded = False

    def fits(hosts: int) -> tuple[bool, float]:
        nonlocal bounded
        least = least_with(question, catalog, design, hosts)
        over = bool(over_limits(least, question.scenario.limits))
        bounded = bounded or over
        limits = {key: getattr(question.scenario.limits, key) for key in least}
        return not over, max((least[key] / limit for key, limit in limits.items() if limit), default=0.0)

    if like is not None and not fits(like + 1)[0]:
        return like
    most = furthest(0, MOST_HOSTS, HOSTS_FIRST, fits)
    return most if bounded else None


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
