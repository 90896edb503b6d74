"""Study: what a plan's demand looks like beside it. Hours of the week, other rules and methods, silos, growth.

Nothing here changes a plan. All of it is worked out again from the plan's scenario and catalog.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from gpuplan.catalog import SEASONS, Catalog, offset_min, zone_of
from gpuplan.models.demand import working_hours
from gpuplan.plan import Plan, gpus_by_rule, make_plan, plan_totals
from gpuplan.plan.demand import (
    Mix,
    Target,
    Week,
    method_of,
    mixes,
    odds_of,
    peakedness_range,
    poisson_peakedness,
    weeks,
)
from gpuplan.plan.growth import group_peaks, grow
from gpuplan.plan.results import Pool, Totals
from gpuplan.scenario import FIELD_BY_PATH, MAX_GPUS, RULES, Group, Scenario, ScenarioError, sites_people
from gpuplan.units import exact

RISKS = RULES[2:]
"""The rules that accept a risk."""


@dataclass(frozen=True)
class WeekDemand:
    """Mean GPUs wanted by each group in each quarter of an hour of a week, UTC, Monday first."""

    season: str
    gpus: Mapping[str, np.ndarray]
    offsets_min: Mapping[str, int]
    """How far each place named by a group is ahead of UTC."""
    peak_gpus: float
    """Peak of the sum."""
    sum_of_peaks_gpus: float
    peak_quarter: int
    peaks_gpus: Mapping[str, float]
    """Peak of each group."""
    everybody_gpus: float
    """GPUs wanted on average if all groups worked at the same time, and everywhere."""

    @property
    def lent_gpus(self) -> float:
        """GPUs that groups, and places of one group, with different hours lend each other."""
        return max(0.0, self.everybody_gpus - self.peak_gpus)

    @property
    def steady(self) -> bool:
        """Whether every group wants the same around the clock."""
        return all(float(each.min()) == float(each.max()) for each in self.gpus.values())


def week_demand(plan: Plan) -> tuple[WeekDemand, ...]:
    """The weeks that stand for the year, the one with the highest peak first; those that are the same once."""
    scenario = plan.scenario
    found: list[WeekDemand] = []
    by_season = weeks(scenario, plan.catalog)
    for season, monday in SEASONS:
        each = {g.id: float(g.vms_each * exact(g.gpus_each)) for g in scenario.groups}
        gpus = {g: week.loads * each[g] for g, week in by_season[season].items()}
        at_once = sum(_everybody(week) * each[g] for g, week in by_season[season].items())
        total = np.sum(list(gpus.values()), axis=0) if gpus else np.zeros(working_hours.QUARTERS_PER_WEEK)
        names = dict.fromkeys(name for g in scenario.groups for name, _ in sites_people(g.sites))
        found.append(
            WeekDemand(
                season,
                gpus,
                {name: offset_min(zone_of(name, plan.catalog), monday) for name in names},
                float(total.max()),
                float(sum(each.max() for each in gpus.values())),
                int(total.argmax()),
                {g: float(each.max()) for g, each in gpus.items()},
                float(at_once),
            )
        )
    ordered = sorted(found, key=lambda week: -week.peak_gpus)
    kept: list[WeekDemand] = []
    for week in ordered:
        if not any(all(np.array_equal(week.gpus[g], other.gpus[g]) for g in week.gpus) for other in kept):
            kept.append(week)
    return tuple(kept)


def _everybody(week: Week) -> float:
    """Requests of a group under way at once if it works everywhere at the same time."""
    shares = (week.group.active_share, week.group.off_hours_share or 0.0)
    return sum(week.people) * max(shares) if week.closed else float(week.loads.max())


@dataclass(frozen=True)
class HourDemand:
    """Mean GPUs wanted by one group, or by several small ones, in each hour of some days."""

    group: str
    """Empty for several small groups together."""
    gpus: tuple[tuple[float, ...], ...]
    """For each day 24 hours."""


def local_quarters(week: WeekDemand, quarters: Sequence[int], place: str) -> tuple[int, ...]:
    """Quarters of an hour of the week, UTC, on the clock of a place."""
    ahead = week.offsets_min.get(place, 0) // working_hours.MINUTES_PER_QUARTER
    return tuple(sorted((quarter + ahead) % working_hours.QUARTERS_PER_WEEK for quarter in quarters))


def hour_demand(
    week: WeekDemand, days: Sequence[int], *, place: str = "UTC", most: int = 8
) -> tuple[HourDemand, ...]:
    """Mean GPUs by hour of some days (0 is Monday) on the clock of a place, the groups in the order of the scenario.

    Of more than ``most`` groups, those that want least are put together.
    """
    ahead = week.offsets_min.get(place, 0) // working_hours.MINUTES_PER_QUARTER
    by_hour = {
        group: np.roll(gpus, ahead).reshape(7, 24, -1).mean(axis=2)[list(days)]
        for group, gpus in week.gpus.items()
    }
    shown = list(by_hour)
    if len(shown) > most:
        large = sorted(shown, key=lambda group: -float(week.gpus[group].sum()))[: most - 1]
        shown = [group for group in shown if group in large]
    found = [(group, by_hour[group]) for group in shown]
    if rest := [gpus for group, gpus in by_hour.items() if group not in shown]:
        found.append(("", np.sum(rest, axis=0)))
    return tuple(HourDemand(group, tuple(tuple(day) for day in gpus.tolist())) for group, gpus in found)


def stated_gap_gpus(plan: Plan) -> float | None:
    """GPUs by which the groups, by the rule of the scenario, want more than the stated total; None without one."""
    stated = plan.scenario.demand.stated_gpus
    return None if stated is None else float(exact(plan.lines["demand.groups_gpus"].value) - stated)


@dataclass(frozen=True)
class RuleAnswer:
    """GPUs by one rule for what is enough."""

    rule: str
    gpus: float | None
    method: str
    chosen: bool


def rule_answers(plan: Plan) -> tuple[RuleAnswer, ...]:
    """GPUs that the groups would demand by each rule, every other input being the same; None where no answer is known."""
    scenario = plan.scenario
    gpus = gpus_by_rule(scenario.with_value("demand.rule", RULES[0]), plan.catalog)
    method, chosen = method_of(scenario), scenario.demand.rule
    return tuple(
        RuleAnswer(rule, gpus.get(rule), method if rule in RISKS else "", rule == chosen) for rule in RULES
    )


def pool_mixes(plan: Plan) -> dict[str, tuple[Mix, ...]]:
    """The mixes of each pool of hosts, the largest first."""
    by_season = weeks(plan.scenario, plan.catalog, plan.groups)
    pools = dict.fromkeys(g.pool for g in plan.groups if g.mode)
    return {
        pool: mixes(by_season, [g.id for g in plan.groups if g.pool == pool and g.mode]) for pool in pools
    }


def busiest_mix(plan: Plan, pool_id: str) -> Mix:
    """The mix of a pool that is studied: the one that its hosts are sized for, else the one that wants most at the target."""
    for pool in plan.hours:
        if pool.pool == pool_id and plan.scenario.demand.rule in RISKS:
            return pool.needed[pool.chosen].mix
    target = risk_target(plan.scenario)
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


def gpus_without_spare(pool: Pool) -> int:
    """GPUs of the hosts for the demand, without those for failure and maintenance."""
    return sum(sorted(room.gpus for room in pool.rooms)[: pool.hosts_for_demand])


@dataclass(frozen=True)
class MethodAnswer:
    """GPUs for a mix by one method, and how often so many as are planned are too few."""

    method: str
    """``closed``, ``poisson``, ``bursty``."""
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
    """GPUs that the methods' chances are given for: those of the hosts for the demand, without spare ones."""
    answers: tuple[MethodAnswer, ...]
    believe: str
    """Which method to believe: ``closed`` or ``bursty``."""


def risk_target(scenario: Scenario) -> Target:
    """The target that is studied: that of the scenario, and the chance of waiting where the scenario accepts no risk."""
    target = Target.of(scenario)
    return target if target.rule in RISKS else replace(target, rule="wait")


def methods(plan: Plan, pool_id: str) -> Methods:
    """GPUs for the busiest mix of a pool by each method, beside each other."""
    scenario, catalog = plan.scenario, plan.catalog
    target = risk_target(scenario)
    mix = busiest_mix(plan, pool_id)
    odds = odds_of(mix, target)
    gpus = gpus_without_spare(next(p for p in plan.pools if p.id == pool_id))
    chosen = method_of(replace(scenario, demand=replace(scenario.demand, rule=target.rule)))
    answers = []
    for method in ("closed", "poisson", "bursty"):
        if not odds.asks or not odds.known(method):
            answers.append(MethodAnswer(method, None, None, None, None, None, None, None, method == chosen))
            continue
        if method != "bursty":
            answers.append(
                MethodAnswer(
                    method,
                    odds.least(method),
                    None,
                    None,
                    odds.chance(gpus, method),
                    None,
                    None,
                    None,
                    method == chosen,
                )
            )
            continue
        z = peakedness_range(scenario, catalog, odds)
        low, value, high = (odds.least(method, each) for each in z)
        chances = [odds.chance(gpus, method, each) for each in z]
        answers.append(
            MethodAnswer(method, value, low, high, chances[1], chances[0], chances[2], z, method == chosen)
        )
    jobs = any(not ask.people for ask in odds.asks)
    believe = "bursty" if jobs else "closed"
    return Methods(pool_id, target, mix.gpus, gpus, tuple(answers), believe)


@dataclass(frozen=True)
class CurvePoint:
    """How often so many GPUs are too few, by one method."""

    method: str
    gpus: int
    chance: float
    low: float
    high: float


def chance_curve(
    plan: Plan, pool_id: str, most_points: int = 60, *, known: Methods | None = None
) -> tuple[CurvePoint, ...]:
    """The curve of each method around the answers for the busiest mix of a pool; ``known`` are these, if they were asked for."""
    known = known or methods(plan, pool_id)
    odds = odds_of(busiest_mix(plan, pool_id), known.target)
    if not odds.asks:
        return ()
    ends = [a.gpus for a in known.answers if a.gpus is not None] + [known.gpus]
    first = max(odds.least_gpus, math.floor(0.6 * min([*ends, known.load_gpus])))
    last = min(MAX_GPUS, math.ceil(1.15 * max(ends)) + 2)
    step = max(1, math.ceil((last - first) / most_points))
    found = []
    for answer in known.answers:
        if answer.gpus is None:
            continue
        for gpus in range(first, last + 1, step):
            if answer.peakedness is None:
                chance = odds.chance(gpus, answer.method)
                found.append(CurvePoint(answer.method, gpus, chance, chance, chance))
            else:
                low, value, high = (odds.chance(gpus, answer.method, z) for z in answer.peakedness)
                found.append(CurvePoint(answer.method, gpus, value, min(low, value), max(high, value)))
    return tuple(found)


@dataclass(frozen=True)
class Silo:
    """A group with GPUs and hosts of its own, or all groups together."""

    group: str
    gpus: int
    busy_gpus: float
    """GPUs wanted on average, over the whole week."""
    hosts: int
    """Hosts with the spare ones that the posture asks for."""
    installed_gpus: int

    @property
    def utilisation(self) -> float:
        """Share of its GPUs that are held, on average over the week."""
        return self.busy_gpus / self.installed_gpus if self.installed_gpus else 0.0


@dataclass(frozen=True)
class Silos:
    """Each group alone against all of them together, at the same target."""

    groups: tuple[Silo, ...]
    pool: Silo

    @property
    def gpus(self) -> int:
        """GPUs of all silos."""
        return sum(silo.installed_gpus for silo in self.groups)

    @property
    def hosts(self) -> int:
        """Hosts of all silos."""
        return sum(silo.hosts for silo in self.groups)

    @property
    def saved_gpus(self) -> int:
        """GPUs that the pool needs fewer than the silos; negative if it needs more."""
        return self.gpus - self.pool.installed_gpus

    @property
    def saved_hosts(self) -> int:
        """Hosts that the pool needs fewer than the silos; negative if it needs more."""
        return self.hosts - self.pool.hosts

    @property
    def utilisation(self) -> float:
        """Share of the GPUs of all silos that are held, on average over the week."""
        return sum(silo.busy_gpus for silo in self.groups) / self.gpus if self.gpus else 0.0


def silos(plan: Plan, *, week: WeekDemand | None = None) -> Silos:
    """Each group planned alone with the same rule, hardware and posture, and the pool; a stated total is left aside.

    ``week`` is the one with the highest peak, if it was asked for.
    """
    week, scenario = week or week_demand(plan)[0], _unstated(plan.scenario)
    found = [
        _silo(
            _alone(scenario, group, plan.catalog), plan.catalog, group.id, float(week.gpus[group.id].mean())
        )
        for group in scenario.groups
    ]
    busy_gpus = sum(silo.busy_gpus for silo in found)
    if scenario == plan.scenario:
        return Silos(tuple(found), Silo("", busy_gpus=busy_gpus, **_sizes_of(plan.totals)))
    return Silos(tuple(found), _silo(scenario, plan.catalog, "", busy_gpus))


def silo_plans(plan: Plan) -> tuple[dict[str, Plan], Plan]:
    """The plan of each group alone, by its id, and that of all together; without a stated total and hosts already there."""
    scenario = _unstated(plan.scenario)
    alone = {
        group.id: make_plan(_alone(scenario, group, plan.catalog), plan.catalog) for group in scenario.groups
    }
    return alone, plan if scenario == plan.scenario else make_plan(scenario, plan.catalog)


def _unstated(scenario: Scenario) -> Scenario:
    """A scenario without a stated total and hosts already there."""
    return replace(
        scenario,
        demand=replace(scenario.demand, stated_gpus=None),
        hardware=replace(scenario.hardware, existing_hosts=0),
    )


def _alone(scenario: Scenario, group: Group, catalog: Catalog) -> Scenario:
    """The scenario of one of its groups, as bursty as it is in the whole."""
    return _as_bursty(scenario.with_groups([group]), scenario, catalog)


def _as_bursty(own: Scenario, whole: Scenario, catalog: Catalog) -> Scenario:
    """A part of a scenario with the peakedness that makes it as bursty as the stated one makes the whole."""
    names = ("peakedness_low", "peakedness", "peakedness_high")
    stated = {name: z for name in names if (z := getattr(own.demand, name)) is not None}
    if not stated:
        return own
    ratio = poisson_peakedness(own, catalog) / poisson_peakedness(whole, catalog)
    scaled = {name: min(max(z * ratio, PEAKEDNESS.low), PEAKEDNESS.high) for name, z in stated.items()}
    return replace(own, demand=replace(own.demand, **scaled))


PEAKEDNESS = FIELD_BY_PATH["demand.peakedness"]


def _silo(scenario: Scenario, catalog: Catalog, group: str, busy_gpus: float) -> Silo:
    return Silo(group, busy_gpus=busy_gpus, **_sizes(replace(scenario, origins=()), catalog))


@lru_cache(maxsize=256)
def _sizes(scenario: Scenario, catalog: Catalog) -> dict[str, int]:
    """Sizes of a plan; kept, since a change of one group leaves the silos of the others alone."""
    return _sizes_of(plan_totals(scenario, catalog))


def _sizes_of(totals: Totals) -> dict[str, int]:
    """GPUs demanded, hosts and GPUs."""
    gpus = math.ceil(totals.gpus_demanded - 1e-9)
    return {"gpus": gpus, "hosts": totals.hosts, "installed_gpus": totals.gpus}


@dataclass(frozen=True)
class Year:
    """What the design needs after some years of growth, and what is bought for that year."""

    year: int
    people: int
    gpus_demanded: float
    hosts: int
    gpus: int
    hosts_bought: int


def purchase_plan(plan: Plan) -> tuple[Year, ...]:
    """Hosts to buy at the start and for each year of growth; hosts once bought stay, and serve whom they are needed for.

    A stated total grows as the GPUs of the groups do together. Years in which a group has grown beyond what a design can
    hold are left out.
    """
    found: list[Year] = []
    peaks = group_peaks(plan.scenario, weeks(plan.scenario, plan.catalog))
    for year in range(plan.scenario.demand.years + 1):
        try:
            scenario = grow(plan.scenario, year, peaks) if year else plan.scenario
            totals = plan_totals(scenario, plan.catalog) if year else plan.totals
        except ScenarioError:
            break
        before = found[-1].hosts if found else plan.scenario.hardware.existing_hosts
        hosts = max(before, totals.hosts)
        found.append(
            Year(
                year,
                sum(g.people for g in scenario.groups),
                totals.gpus_demanded,
                hosts,
                totals.gpus + (hosts - totals.hosts) * plan.scenario.hardware.gpus_per_host,
                hosts - before,
            )
        )
    return tuple(found)
