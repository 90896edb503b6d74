"""What drives a design: the GPUs of each workload through the week, the design without each, and what brings the next host."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from gpuplan.analysis.demand import WeekDemand
from gpuplan.analysis.solve.quantities import Quantity, offered, quantity_of
from gpuplan.analysis.variants import dearer, outcome
from gpuplan.models import demand
from gpuplan.models.demand.working_hours import MINUTES_PER_QUARTER, QUARTERS_PER_WEEK
from gpuplan.plan import Plan
from gpuplan.plan.demand import group_vms
from gpuplan.plan.sizing_rule import needed
from gpuplan.plan.working_week import Mix
from gpuplan.scenario import RISKS, Scenario, sites_people

PER_DAY = QUARTERS_PER_WEEK // 7
WEEKDAYS, MORNING, EVENING = 5, 8 * PER_DAY // 24, 20 * PER_DAY // 24
"""A day is from 08:00 to 20:00, Monday to Friday."""
MOST_MORE = 4
"""Times its present size up to which a workload is tried for the next host."""


class Load(NamedTuple):
    """GPUs of each workload in the parts of the week with the same demand, each at its busiest time."""

    parts: tuple[str, ...]
    """``planned``, ``day``, ``night`` and ``weekend``."""
    gpus: Mapping[str, float]


def home_of(scenario: Scenario) -> str:
    """Return the place with the most users, whose clock says what is day and night."""
    users = Counter[str]()
    for group in scenario.groups:
        sites = sites_people(group.sites)
        every = sum(part for _, part in sites)
        users.update({name: group.people * part // every for name, part in sites})
    return max(users, key=lambda name: users[name], default="UTC")


def loads(plan: Plan, week: WeekDemand) -> tuple[Load, ...]:
    """Return the GPUs planned for, and those by the same rule by day, by night and at the weekend; equal ones once."""
    planned = {group.id: float(group.demand_gpus) for group in plan.groups}
    by_gpus: dict[tuple[float, ...], list[str]] = {tuple(planned.values()): ["planned"]}
    for part, quarters in _parts(week.offsets_min.get(home_of(plan.scenario), 0)):
        gpus = dict.fromkeys(planned, 0.0) | dict(_gpus_in(plan, week, quarters))
        by_gpus.setdefault(tuple(gpus.values()), []).append(part)
    return tuple(Load(tuple(parts), dict(zip(planned, gpus, strict=True))) for gpus, parts in by_gpus.items())


def _parts(ahead_min: int) -> Iterator[tuple[str, np.ndarray]]:
    """Yield day, night and weekend of a place, with their quarters of an hour of the week, UTC."""
    quarters = np.arange(QUARTERS_PER_WEEK)
    day, at = np.divmod((quarters + ahead_min // MINUTES_PER_QUARTER) % QUARTERS_PER_WEEK, PER_DAY)
    working, light = day < WEEKDAYS, (at >= MORNING) & (at < EVENING)
    yield "day", quarters[working & light]
    yield "night", quarters[working & ~light]
    yield "weekend", quarters[~working]


def _gpus_in(plan: Plan, week: WeekDemand, quarters: np.ndarray) -> Iterator[tuple[str, float]]:
    """Yield the GPUs of each workload at the busiest of these times, pool by pool, by the rule of the plan."""
    scenario, groups = plan.sized, {group.id: group for group in plan.sized.groups}
    rule = scenario.demand.rule if scenario.demand.rule in RISKS else "hours"
    sized_for = {pool.pool: pool.needed[pool.chosen] for pool in plan.hours}
    for pool in dict.fromkeys(group.pool for group in plan.groups):
        members = [group.id for group in plan.groups if group.pool == pool]
        want = sized_for.get(pool)
        if want is None or not set(want.mix.quarters) & set(quarters.tolist()):
            total = np.sum([week.gpus[group] for group in members], axis=0)[quarters]
            busiest = (int(quarters[total.argmax()]),)
            asks = tuple(plan.weeks[week.season][group].ask(busiest) for group in members)
            want = needed(scenario, plan.catalog, Mix(asks, week.season, busiest), rule)
        for id, active in want.requests.items():
            gpus_each = groups[id].gpus_each
            yield id, demand.group_demand_gpus(group_vms(groups[id], active), gpus_each=gpus_each)


class Without(NamedTuple):
    """A design without one workload, beside the design with it."""

    group: str
    hosts: int
    """Hosts that it needs fewer."""
    money: float | None
    """Net present cost that it saves; None where nothing is priced."""


class NextHost(NamedTuple):
    """Where the next host comes if one workload grows."""

    hosts: int
    name: str
    """What grows, in words: ``users of Support assistant``."""
    at: float
    more: float
    unit: str


class Drivers(NamedTuple):
    """What each workload adds to hosts and cost, the dearest first, and what brings the next host."""

    without: tuple[Without, ...]
    next_host: NextHost | None


def drivers(plan: Plan, most: int = 8) -> Drivers:
    """Plan a design without each of its workloads, of the ``most`` largest; and the largest grown until a host is added."""
    largest = sorted(plan.groups, key=lambda group: -group.demand_gpus)[:most]
    without = [each for group in largest if (each := _without(plan, group.id))]
    without.sort(key=lambda each: (-(each.money or 0.0), -each.hosts))
    return Drivers(tuple(without), _next_host(plan, [group.id for group in largest]))


def _without(plan: Plan, id: str) -> Without | None:
    others = plan.scenario.with_groups([group for group in plan.scenario.groups if group.id != id])
    other = outcome(others, plan.catalog, check=plan.check).plan if others.groups else None
    if other is None:
        return None
    return Without(id, plan.totals.hosts - other.totals.hosts, dearer(plan, other))


def _next_host(plan: Plan, largest: Sequence[str]) -> NextHost | None:
    """Grow the first of the workloads that is counted in something until the design has more hosts."""
    wanted = {key.partition(":")[2]: key for key in reversed(offered(plan.scenario))}
    grown = next((wanted[id] for id in largest if id in wanted), None)
    if grown is None:
        return None
    quantity = quantity_of(plan.scenario, grown)
    low, high = quantity.asked, min(quantity.high, MOST_MORE * quantity.asked)
    hosts = _hosts(plan, quantity, high)
    if hosts <= plan.totals.hosts:
        return None
    while high - low > 1:
        middle = (low + high) // 2
        if (there := _hosts(plan, quantity, middle)) > plan.totals.hosts:
            high, hosts = middle, there
        else:
            low = middle
    return NextHost(
        hosts, quantity.name, quantity.value(high), quantity.value(high - quantity.asked), quantity.unit
    )


def _hosts(plan: Plan, quantity: Quantity, steps: int) -> int:
    other = outcome(quantity.at(plan.scenario, steps), plan.catalog, check=plan.check).plan
    return other.totals.hosts if other else 0
