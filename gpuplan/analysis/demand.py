"""Demand beside a plan: hours of the week, the other sizing rules, and the methods that say how often GPUs are too few."""

import contextlib
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from gpuplan.analysis.variants import dearer, outcome
from gpuplan.catalog import SEASONS, offset_min, zone_of
from gpuplan.models.demand import working_hours
from gpuplan.models.placement import Room
from gpuplan.plan import Plan
from gpuplan.plan.sizing_rule import Target, method_of, odds_of, peakedness_range
from gpuplan.plan.working_week import Mix, Week, mixes, weeks
from gpuplan.scenario import GROUP_RULES, MAX_GPUS, RISKS, Scenario, ScenarioError, sites_people
from gpuplan.units import exact


@dataclass(frozen=True)
class WeekDemand:
    """Mean GPUs needed by each group in each quarter of an hour of a week, UTC, Monday first."""

    season: str
    gpus: Mapping[str, np.ndarray]
    offsets_min: Mapping[str, int]
    """Minutes by which each place named by a group is ahead of UTC."""
    peak_gpus: float
    sum_of_peaks_gpus: float
    peak_quarter: int
    everybody_gpus: float
    """GPUs needed on average if all groups worked at the same time, and everywhere."""

    @property
    def steady(self) -> bool:
        """True if the demand of every group is constant around the clock."""
        return all(float(load.min()) == float(load.max()) for load in self.gpus.values())


def week_demand(plan: Plan) -> tuple[WeekDemand, ...]:
    """Return the representative weeks of the year, the one with the highest peak first; identical ones once."""
    demands: list[WeekDemand] = []
    for week in sorted(_season_weeks(plan), key=lambda week: -week.peak_gpus):
        if not any(all(np.array_equal(week.gpus[g], other.gpus[g]) for g in week.gpus) for other in demands):
            demands.append(week)
    return tuple(demands)


def _season_weeks(plan: Plan) -> Iterator[WeekDemand]:
    scenario, by_season = plan.sized, weeks(plan.sized, plan.catalog)
    per_user = {g.id: float(g.vms_each * exact(g.gpus_each)) for g in scenario.groups}
    names = dict.fromkeys(name for g in scenario.groups for name, _ in sites_people(g.sites))
    for season, monday in SEASONS:
        gpus = {g: week.loads * per_user[g] for g, week in by_season[season].items()}
        total = np.sum(list(gpus.values()), axis=0) if gpus else np.zeros(working_hours.QUARTERS_PER_WEEK)
        offsets = {name: offset_min(zone_of(name, plan.catalog), monday) for name in names}
        peak, sum_of_peaks = float(total.max()), float(sum(load.max() for load in gpus.values()))
        everybody = float(sum(_everybody(w) * per_user[g] for g, w in by_season[season].items()))
        yield WeekDemand(season, gpus, offsets, peak, sum_of_peaks, int(total.argmax()), everybody)


def _everybody(week: Week) -> float:
    """Return concurrent requests of a group if it works everywhere at the same time."""
    shares = (week.group.active_share, week.group.off_hours_share or 0.0)
    return sum(week.people) * max(shares) if week.closed else float(week.loads.max())


@dataclass(frozen=True)
class HourDemand:
    """Mean GPUs needed by one group, or by several small ones, in each hour of some days."""

    group: str
    """Empty for several small groups together."""
    gpus: tuple[tuple[float, ...], ...]


def local_quarters(week: WeekDemand, quarters: Sequence[int], place: str) -> tuple[int, ...]:
    """Return quarters of an hour of the week, UTC, on the clock of a place."""
    ahead = week.offsets_min.get(place, 0) // working_hours.MINUTES_PER_QUARTER
    return tuple(sorted((quarter + ahead) % working_hours.QUARTERS_PER_WEEK for quarter in quarters))


def by_hours(week: WeekDemand, quarters: np.ndarray, days: Sequence[int], place: str = "UTC") -> np.ndarray:
    """Return the means by hour of some days (0 is Monday), on the clock of a place, of a value in each quarter of the week."""
    ahead = week.offsets_min.get(place, 0) // working_hours.MINUTES_PER_QUARTER
    return np.asarray(np.roll(quarters, ahead).reshape(7, 24, -1).mean(axis=2)[list(days)])


def hour_demand(
    week: WeekDemand, days: Sequence[int], *, place: str = "UTC", most: int = 8
) -> tuple[HourDemand, ...]:
    """Return mean GPUs by hour of some days (0 is Monday) by the clock of a place; beyond ``most`` groups, the rest together."""
    by_hour = {group: by_hours(week, gpus, days, place) for group, gpus in week.gpus.items()}
    shown = list(by_hour)
    if len(shown) > most:
        large = sorted(shown, key=lambda group: -float(week.gpus[group].sum()))[: most - 1]
        shown = [group for group in shown if group in large]
    series = [(group, by_hour[group]) for group in shown]
    if rest := [gpus for group, gpus in by_hour.items() if group not in shown]:
        series.append(("", np.sum(rest, axis=0)))
    return tuple(HourDemand(group, tuple(tuple(day) for day in gpus.tolist())) for group, gpus in series)


def stated_gap_gpus(plan: Plan) -> float | None:
    """Return the GPUs that groups need beyond the stated total, by the scenario's rule; None without one or groups."""
    stated = plan.scenario.demand.stated_gpus
    if stated is None or not plan.groups:
        return None
    return float(exact(plan.lines["demand.groups_gpus"].value) - stated)


@dataclass(frozen=True)
class RuleAnswer:
    """GPUs by one sizing rule."""

    rule: str
    gpus: float | None
    method: str
    chosen: bool


def rule_answers(plan: Plan) -> tuple[RuleAnswer, ...]:
    """Return the GPU demand of the groups by each rule, all other inputs equal; None where no answer is known."""
    scenario = plan.scenario
    gpus = gpus_by_rule(plan)
    method, chosen = method_of(scenario), scenario.demand.rule
    methods = {rule: method if rule in RISKS else "" for rule in GROUP_RULES}
    return tuple(RuleAnswer(rule, gpus.get(rule), methods[rule], rule == chosen) for rule in GROUP_RULES)


def gpus_by_rule(plan: Plan) -> dict[str, float]:
    """Return the GPU demand of a plan's groups by each rule, whatever total it states; omit rules without an answer."""
    by_rule: dict[str, float] = {}
    for rule in GROUP_RULES:
        with contextlib.suppress(ScenarioError):
            by_rule[rule] = plan.demand_by(rule).by_groups.value
    return by_rule


@dataclass(frozen=True)
class Saving:
    """Saving by sizing for shared hours instead of for all peaks together."""

    rule: str
    made: bool
    """True if the plan itself does so; otherwise it would."""
    hosts: int
    money: float | None
    """Net present cost, in the plan's currency; None where nothing is priced."""


def sharing_saves(plan: Plan) -> Saving | None:
    """Return the saving from sharing GPUs across hours and places; None where there is none."""
    scenario = plan.scenario
    rule = scenario.demand.rule
    if rule == "stated" or scenario.deciding_total_gpus is not None or not plan.pools:
        return None
    another = scenario.with_value("demand.rule", "hours" if rule == "sum" else "sum")
    if (other := outcome(another, plan.catalog).plan) is None:
        return None
    large, small = (plan, other) if rule == "sum" else (other, plan)
    hosts = large.totals.hosts - small.totals.hosts
    if hosts <= 0:
        return None
    return Saving(small.scenario.demand.rule, rule != "sum", hosts, dearer(large, small))


def pool_mixes(plan: Plan) -> dict[str, tuple[Mix, ...]]:
    """Return the mixes of each pool of hosts, the largest first."""
    by_season = plan.weeks
    pools = dict.fromkeys(g.pool for g in plan.groups if g.mode)
    placed = [g for g in plan.groups if g.mode]
    return {pool: mixes(by_season, [g.id for g in placed if g.pool == pool]) for pool in pools}


def busiest_mix(plan: Plan, pool_id: str) -> Mix:
    """Return the mix of a pool to study: the one that its hosts are sized for, else the one with the highest demand."""
    for pool in plan.hours:
        if pool.pool == pool_id and plan.scenario.demand.rule in RISKS:
            return pool.needed[pool.chosen].mix
    target = sizing_target(plan.scenario)
    several = pool_mixes(plan)[pool_id]
    if not several[1:]:
        return several[0]
    method = method_of(replace(plan.scenario, demand=replace(plan.scenario.demand, rule=target.rule)))

    def least(mix: Mix) -> int:
        odds = odds_of(mix, target)
        if not odds.asks or not odds.known(method):
            return math.ceil(mix.gpus)
        bursty = method == "bursty"
        z = peakedness_range(plan.scenario, plan.catalog, odds)[1] if bursty else 1.0
        return odds.least(method, z)

    return max(several, key=least)


def gpus_without_spare(rooms: Sequence[Room], hosts_for_demand: int) -> int:
    """Return the GPUs of the hosts for the demand, without those for failure and maintenance."""
    return sum(sorted(room.gpus for room in rooms)[:hosts_for_demand])


@dataclass(frozen=True)
class MethodAnswer:
    """GPUs for a mix by one method, and how often the planned number is too small."""

    method: str
    gpus: int | None
    low_gpus: int | None
    high_gpus: int | None
    chance: float | None
    low_chance: float | None
    high_chance: float | None
    peakedness: tuple[float, float, float] | None
    chosen: bool


@dataclass(frozen=True)
class Methods:
    """All methods for the busiest mix of one pool."""

    pool: str
    target: Target
    load_gpus: float
    gpus: int
    """GPUs to which the methods' probabilities refer: those of the hosts for the demand, without failover capacity."""
    answers: tuple[MethodAnswer, ...]
    believe: str


def sizing_target(scenario: Scenario) -> Target:
    """Return the target studied: the scenario's own, with the chance of waiting where it accepts no risk."""
    target = Target.of(scenario)
    return target if target.rule in RISKS else replace(target, rule="wait")


def methods(plan: Plan, pool_id: str) -> Methods:
    """Return the GPUs for the busiest mix of a pool by each method."""
    scenario, catalog = plan.scenario, plan.catalog
    target = sizing_target(scenario)
    mix = busiest_mix(plan, pool_id)
    odds = odds_of(mix, target)
    clusters = plan.whole_pool(pool_id).clusters
    gpus = sum(gpus_without_spare(pool.rooms, pool.hosts_for_demand) for pool in clusters)
    chosen = method_of(replace(scenario, demand=replace(scenario.demand, rule=target.rule)))
    answers = []
    for method in ("closed", "poisson", "bursty"):
        known = bool(odds.asks) and odds.known(method)
        z = peakedness_range(scenario, catalog, odds) if known and method == "bursty" else None
        ratios = z or (None, 1.0 if known else None, None)
        low, value, high = (None if ratio is None else odds.least(method, ratio) for ratio in ratios)
        low_chance, chance, high_chance = (
            None if ratio is None else odds.chance(gpus, method, ratio) for ratio in ratios
        )
        chances = (chance, low_chance, high_chance)
        answers.append(MethodAnswer(method, value, low, high, *chances, z, method == chosen))
    believe = "bursty" if any(not ask.people for ask in odds.asks) else "closed"
    return Methods(pool_id, target, mix.gpus, gpus, tuple(answers), believe)


@dataclass(frozen=True)
class CurvePoint:
    """Frequency with which a number of GPUs is too small, by one method."""

    method: str
    gpus: int
    chance: float
    low: float
    high: float


def chance_curve(
    plan: Plan, pool_id: str, most_points: int = 60, *, known: Methods | None = None
) -> tuple[CurvePoint, ...]:
    """Return the curve of each method around its answers for the busiest mix of a pool; ``known`` reuses methods."""
    known = known or methods(plan, pool_id)
    odds = odds_of(busiest_mix(plan, pool_id), known.target)
    if not odds.asks:
        return ()
    ends = [a.gpus for a in known.answers if a.gpus is not None] + [known.gpus]
    first = max(odds.least_gpus, math.floor(0.6 * min([*ends, known.load_gpus])))
    last = min(MAX_GPUS, math.ceil(1.15 * max(ends)) + 2)
    step = max(1, math.ceil((last - first) / most_points))
    points = []
    for answer in known.answers:
        if answer.gpus is None:
            continue
        for gpus in range(first, last + 1, step):
            chances = [odds.chance(gpus, answer.method, z) for z in answer.peakedness or (1.0,)]
            low, value, high = chances[0], chances[len(chances) // 2], chances[-1]
            points.append(CurvePoint(answer.method, gpus, value, min(low, value), max(high, value)))
    return tuple(points)
