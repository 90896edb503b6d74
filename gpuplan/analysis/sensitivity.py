"""Sensitivity: which inputs move cost and hosts most, each planned at its low and high, and where the hosts change."""

import math
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from fractions import Fraction
from functools import partial
from typing import Any

from gpuplan.analysis.variants import Progress, outcome_of, stepwise
from gpuplan.catalog import Catalog
from gpuplan.facts import Fact
from gpuplan.locales import written
from gpuplan.plan import Plan
from gpuplan.plan.prices import catalog_factor
from gpuplan.plan.sizing_rule import burst_fact, method_of, poisson_peakedness
from gpuplan.plan.working_week import work_fact
from gpuplan.scenario import RISKS, Group, Scenario, ScenarioError, field_of
from gpuplan.units import exact
from gpuplan.wording import said

FACTORS = (
    *("discount_rate", "support_share", "residual_share", "pue"),
    *("host_base_w", "rack_kw", "sockets", "cores_per_socket"),
)
"""Factors of the catalog that a scenario can state and that cost follows."""
GRAIN = {"int": 1, "share": 1000}
"""Kind of an input -> steps per unit in which it is varied."""
CHANCE_GRAIN = 10_000
REACH = 4
"""Numbers are varied up to this multiple of the stated value, and at least to 100 more."""


@dataclass(frozen=True, slots=True)
class Range:
    """Range of values that an input may take."""

    path: str
    label: str
    unit: str
    now: float
    low: float
    high: float
    basis: str
    note: str
    """Reason for the width of the range, and for an end that cannot be planned."""


@dataclass(frozen=True, slots=True)
class Bar(Range):
    """An input at its low and at its high, everything else as it is."""

    cost_low: float | None
    cost_high: float | None
    hosts_low: int | None
    hosts_high: int | None
    unplaced_low: int | None = 0
    """VMs without a GPU at the low end: then its hosts and its cost serve fewer."""
    unplaced_high: int | None = 0


def tornado(plan: Plan, progress: Progress | None = None) -> tuple[Bar, ...]:
    """Plan every input whose range is known at both ends, the one that moves the cost most first.

    A range is that of the scenario, else that of the catalog, else the planning range for the demand. Inputs that
    move nothing are left out unless the scenario states their range; a plan without hosts has no bars.
    """
    return plan.once("tornado", lambda: _bars(plan, progress))


def _bars(plan: Plan, progress: Progress | None) -> tuple[Bar, ...]:
    if plan.costs is None:
        return ()
    now = (plan.costs.net_present, plan.totals.hosts)
    stated = {path for path, _ in plan.scenario.ranges}
    bars: list[tuple[float, Bar]] = []
    for span in stepwise(list(ranges_of(plan)), progress):
        bar = _bar(plan, span)
        costs = [cost for cost in (bar.cost_low, bar.cost_high, now[0]) if cost is not None]
        hosts = [count for count in (bar.hosts_low, bar.hosts_high, now[1]) if count is not None]
        swing = max(costs) - min(costs)
        cut = bar.cost_low is None or bar.cost_high is None
        if swing > 1e-9 * abs(now[0]) or len(set(hosts)) > 1 or cut or span.path in stated:
            bars.append((swing, bar))
    return tuple(bar for _, bar in sorted(bars, key=lambda item: (-item[0], item[1].path)))


def _bar(plan: Plan, given: Range) -> Bar:
    notes, ends = [given.note], list[dict[str, Any]]()
    of_money, left_out = given.path.startswith("prices."), plan.costs.excludes if plan.costs else ()

    def planned(value: float) -> Plan:
        scenario = plan.scenario.with_value(given.path, value)
        return plan.relinked(scenario) if of_money else plan.with_scenario(scenario)

    for end, value in (("low", given.low), ("high", given.high)):
        outcome = outcome_of(partial(planned, value))
        if outcome.plan is None:
            why = "; ".join(problem.message for problem in outcome.problems)
            notes.append(said("sensitivity.not planned", end=end, why=why))
        elif outcome.costs is None:
            notes.append(said("sensitivity.no demand", end=end))
        elif more := [name for name in outcome.costs.excludes if name not in left_out]:
            notes.append(said("sensitivity.also leaves out", end=end, names="; ".join(more)))
        totals = outcome.plan.totals if outcome.plan else None
        if unplaced := totals and totals.unplaced_vms:
            notes.append(said("sensitivity.unplaced", end=end, vms=unplaced))
        hosts = totals and totals.hosts
        ends.append({f"cost_{end}": outcome.net_present, f"hosts_{end}": hosts, f"unplaced_{end}": unplaced})
    return Bar(**asdict(given) | {"note": _joined(*notes)} | ends[0] | ends[1])


def _joined(*notes: str) -> str:
    """Notes one after the other, each but the last with its full stop."""
    *first, last = [note for note in notes if note] or [""]
    return " ".join([*(f"{note.removesuffix('.')}." for note in first), last])


def ranges_of(plan: Plan) -> Iterator[Range]:
    """Yield inputs that may turn out otherwise, the ranges of the scenario first, each input once."""
    seen: set[str] = set()
    for span in (*_stated(plan), *_prices(plan), *_factors(plan), *_demand(plan)):
        if span.path not in seen and span.low < span.high:
            seen.add(span.path)
            yield span


def _stated(plan: Plan) -> Iterator[Range]:
    scenario = plan.scenario
    for path, (low, high) in scenario.ranges:
        now, origin = plan.planned(path), scenario.origin(f"ranges.{path}")
        ends = (low if now is None else now, low, high)
        label, unit = scenario.label(path), _unit(scenario, path)
        yield Range(path, label, unit, *ends, origin.basis, origin.note)


def _prices(plan: Plan) -> Iterator[Range]:
    for price in plan.costs.prices if plan.costs else ():
        fact = price.given
        if fact.low is not None and fact.high is not None:
            key = "sensitivity.purchase price" if price.purchase else "sensitivity.price"
            ends = (float(fact.value), fact.low, fact.high)
            label = said(key, name=price.name)
            yield Range(f"prices.{price.key}", label, fact.unit, *ends, fact.basis, fact.note)


def _factors(plan: Plan) -> Iterator[Range]:
    scenario, catalog = plan.scenario, plan.catalog
    server = catalog.servers[scenario.hardware.server] if scenario.hardware.server else None
    planned = {"cores_per_socket": plan.cores}
    if (racks := plan.lines.get("power.hosts_per_rack")) and isinstance(racks.given["rack_kw"], Fact):
        planned["rack_kw"] = racks.given["rack_kw"]
    for name in FACTORS:
        known = name == "sockets" and server is not None and "cpu_sockets" in server.facts
        of_kinds = name in ("sockets", "cores_per_socket") and plan.parts[1:]
        if scenario.get(f"cost.{name}") is not None or known or of_kinds:
            continue
        fact = planned[name] if name in planned else catalog_factor(catalog, name)
        spec = field_of(f"cost.{name}")
        kind = int if spec.kind == "int" else float
        now, low, high = (kind(end or 0) for end in (fact.value, fact.low, fact.high))
        yield Range(f"cost.{name}", spec.label, fact.unit, now, low, high, fact.basis, fact.note)


def _demand(plan: Plan) -> Iterator[Range]:
    """Yield the demand inputs of the groups, within the planning ranges."""
    scenario, catalog = plan.scenario, plan.catalog
    inputs: list[tuple[str, Any]] = [("demand.stated_gpus", scenario.deciding_total_gpus)]
    for group in scenario.groups:
        inputs += [(f"groups.{group.id}.{name}", value) for name, value in _asked(scenario, catalog, group)]
    for path, now in inputs:
        if now is not None:
            yield _planning_range(plan, path, now)
    if scenario.demand.rule in RISKS and method_of(scenario) == "bursty":
        yield _bursts(scenario, catalog)


def likely(plan: Plan, path: str) -> Range:
    """Return the range that the scenario states for an input, else its planning range."""
    stated = {span.path: span for span in _stated(plan)}
    return stated.get(path) or _planning_range(plan, path, plan.scenario.get(path) or 0.0)


def _planning_range(plan: Plan, path: str, now: float) -> Range:
    """Return the planning range of the catalog for an input, cut to its permitted values."""
    scenario, spec = plan.scenario, field_of(path)
    row = next(row for row in plan.catalog.rows("ranges") if row["field"] == path.rpartition(".")[2])
    ends_by = [exact(row[end]) for end in ("low", "high")]
    low, high = (exact(now) * end if row["way"] == "times" else exact(now) + end for end in ends_by)
    most = exact(spec.high)
    if row["field"] == "off_hours_share":
        most = exact(scenario.get(path.replace("off_hours_share", "active_share")))
    bounds = (max(low, exact(spec.low)), min(high, most))
    cut = said("sensitivity.most", most=written(float(most), "g")) if high > most else ""
    ends: tuple[float, float] = (float(bounds[0]), float(bounds[1]))
    if spec.kind == "int":
        ends = (math.floor(bounds[0]), math.ceil(bounds[1]))
        if (Fraction(ends[0]), Fraction(ends[1])) != bounds:
            cut = f"{said('sensitivity.rounded')} {cut}".strip()
    note = _joined(row.note, cut)
    return Range(path, scenario.label(path), _unit(scenario, path), now, *ends, row.basis, note)


def _asked(scenario: Scenario, catalog: Catalog, group: Group) -> Iterator[tuple[str, Any]]:
    """Yield the inputs of a group from which its demand follows, with their current values."""
    if group.jobs_per_day is None:
        yield "people", group.people
        yield "active_share", group.active_share
        yield "off_hours_share", group.off_hours_share
    else:
        yield "jobs_per_day", group.jobs_per_day
    yield "work_h", work_fact(scenario, catalog, group).value
    yield "growth", group.growth or 0.0


def _bursts(scenario: Scenario, catalog: Catalog) -> Range:
    demand, bursts, path = scenario.demand, burst_fact(catalog), "demand.peakedness"
    even = poisson_peakedness(scenario, catalog)
    value, low, high = (even * float(x or 0) for x in (bursts.value, bursts.low, bursts.high))
    now = value if demand.peakedness is None else demand.peakedness
    low = min(now, low) if demand.peakedness_low is None else demand.peakedness_low
    high = max(now, high) if demand.peakedness_high is None else demand.peakedness_high
    return Range(path, field_of(path).label, "1", now, low, high, bursts.basis, bursts.note)


def _unit(scenario: Scenario, path: str) -> str:
    return scenario.cost.currency if path.startswith("prices.") else scenario.fact(path).unit


@dataclass(frozen=True, slots=True)
class Threshold:
    """The nearest values of an input at which the number of hosts changes."""

    path: str
    label: str
    unit: str
    now: float
    below: float | None
    """Nearest smaller value; None if there is none within the range tried."""
    hosts_below: int | None
    above: float | None
    hosts_above: int | None
    unplaced_below: int | None = None
    unplaced_above: int | None = None


def thresholds(plan: Plan, progress: Progress | None = None) -> tuple[Threshold, ...]:
    """Return how far people and active share by group, stated total and accepted chance may go before hosts change."""
    scenario = plan.scenario
    users = [group.id for group in scenario.groups if group.jobs_per_day is None]
    paths = [f"groups.{id}.{name}" for id in users for name in ("people", "active_share")]
    paths += ["demand.stated_gpus"] * (scenario.deciding_total_gpus is not None)
    paths += ["demand.chance"] * (scenario.demand.rule in RISKS)
    return tuple(_threshold(plan, path) for path in stepwise(paths, progress))


def _threshold(plan: Plan, path: str) -> Threshold:
    scenario, spec = plan.scenario, field_of(path)
    now = scenario.get(path)
    grain = CHANCE_GRAIN if path == "demand.chance" else GRAIN[spec.kind]
    at = exact(now) * grain
    most = int(spec.high * grain)
    if spec.kind == "int":
        most = min(most, REACH * math.ceil(at) + 100)

    def value(step: int) -> float:
        return step if spec.kind == "int" else step / grain

    def hosts(step: int) -> int | None:
        try:
            design = plan.with_scenario(scenario.with_value(path, value(step)))
            return sum(design.hosts_by_pool().values())
        except ScenarioError:
            return None

    below = _first(math.ceil(at) - 1, math.ceil(spec.low * grain), plan.totals.hosts, hosts)
    above = _first(math.floor(at) + 1, most, plan.totals.hosts, hosts)
    ends = [(None, None) if end is None else (value(end[0]), end[1]) for end in (below, above)]
    designs = [None if at is None else plan.with_scenario(scenario.with_value(path, at)) for at, _ in ends]
    unplaced = [design.totals.unplaced_vms if design else None for design in designs]
    return Threshold(path, scenario.label(path), _unit(scenario, path), now, *ends[0], *ends[1], *unplaced)


def _first(start: int, end: int, now: int, hosts: Callable[[int], int | None]) -> tuple[int, int] | None:
    """The step nearest to the start at which the hosts are others than now, and how many; by doubling, then by halving."""
    way = 1 if end >= start else -1
    if (end - start) * way < 0:
        return None
    same, stride, changed = start - way, 1, None
    while changed is None:
        at = same + way * stride
        at = end if (end - at) * way < 0 else at
        if hosts(at) != now:
            changed = at
        elif at == end:
            return None
        else:
            same, stride = at, 2 * stride
    while abs(changed - same) > 1:
        middle = (same + changed) // 2
        if hosts(middle) != now:
            changed = middle
        else:
            same = middle
    count = hosts(changed)
    return None if count is None else (changed, count)
