"""Tables of the demand: sizing rules, hours of the week, methods, simulations, silos against the pool, growth."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from gpuplan.analysis.demand import MethodAnswer, Methods, RuleAnswer, WeekDemand, week_demand
from gpuplan.analysis.rent_or_buy import Year
from gpuplan.analysis.silos import Silos, left_out
from gpuplan.analysis.variants import together
from gpuplan.models.demand import QUARTERS_PER_WEEK
from gpuplan.plan import Plan
from gpuplan.plan.demand import PoolDemand
from gpuplan.plan.hosts import pool_names
from gpuplan.plan.working_week import Mix
from gpuplan.report.table import Cell, Table, Worded, filled, tabulate
from gpuplan.report.tables.cost import NONE, toned
from gpuplan.report.tables.plan import group_names
from gpuplan.wording import (
    FORMULA_NAMES,
    METHOD_NAMES,
    NAMES,
    mean_gpus,
    moment,
    number,
    percent,
    said,
    week_hours,
    whole,
)

ALONE, POOLED = said("table.silos.all"), said("table.silos.pooled")
"""Rows below the groups: statically partitioned, and pooled."""
Simulated = Mapping[str, Any]
"""A simulation as ``simulation_dict`` gives it."""
CHANCES = NAMES["chance in a table"]


def rules(found: Sequence[RuleAnswer]) -> Table:
    """Tabulate the GPU demand by each sizing rule."""
    gpus = Worded(lambda gpus: said("table.not applicable") if gpus is None else number(whole(gpus)))
    return tabulate(
        "rules", found, rule=lambda a: Cell(a.rule, words=_chosen(NAMES["rule"][a.rule], a.chosen)), gpus=gpus
    )


def _chosen(name: str, chosen: bool) -> str:
    return said("table.chosen", name=name) if chosen else name


def saved_gpus(week: WeekDemand) -> float:
    """Return the GPUs that different hours save on average: the difference of the two means as shown."""
    return mean_gpus(mean_gpus(week.everybody_gpus) - mean_gpus(week.peak_gpus))


def peak_words(plan: Plan) -> str:
    """Say when the average GPU demand peaks, and what groups and sites with other hours lend each other."""
    week, *others = week_demand(plan)
    season = said("table.clocks as in", season=week.season) if others else ""
    gpus = mean_gpus(week.peak_gpus)
    if not saved_gpus(week):
        return said("table.busiest on average when", gpus=gpus)
    when, at_once = moment(week.peak_quarter), mean_gpus(week.everybody_gpus)
    words = {"gpus": gpus, "when": when, "season": season, "at_once": at_once}
    key = f"table.busiest on average{'' if plan.scenario.demand.rule == 'hours' else ' alone'}"
    return said(key, **words, saved=saved_gpus(week))


def promise_words(plan: Plan) -> str:
    """Say in a sentence what a sizing rule provides users and language models with; nothing of a rule by risk."""
    models = len(plan.llm.models)
    kind = "models" if models == len(plan.groups) else "both"
    rule, users = plan.scenario.demand.rule, NAMES["promise of a rule"]
    return (NAMES[f"promise of a rule, {kind}"] if models else users).get(rule, users.get(rule, ""))


def week(
    plan: Plan,
    found: Sequence[PoolDemand] | None = None,
    when: Callable[[Mix], str] = lambda mix: week_hours(mix.quarters),
    clock: str = "UTC",
) -> Table:
    """Tabulate the GPUs and hosts that each cluster, or some of them, needs through the week, on a clock."""
    names = group_names(plan)
    clusters = pool_names(plan.pools)
    rows = (
        (
            Cell(pool.pool, words=clusters.get(pool.pool)),
            want.mix.gpus,
            want.gpus,
            Cell(hosts, words=said("table.week.sized for", hosts=hosts) if at == pool.chosen else f"{hosts}"),
            when(want.mix),
            at == pool.chosen,
            ", ".join(f"{names[g]}: {n}" for g, n in want.requests.items() if n),
        )
        for pool in (plan.hours if found is None else found)
        for at, (want, hosts) in enumerate(zip(pool.needed, pool.hosts, strict=True))
    )
    return filled("week", rows, heads={"when": said("table.week.when", clock=clock)})


def leftover(plan: Plan) -> Table:
    """Tabulate what jobs that may be stopped get of the GPU-hours that others leave; empty without such jobs."""
    names, groups = group_names(plan), plan.leftover.groups if plan.leftover else ()
    note = said("table.leftover.condition")
    return tabulate("leftover", groups, name=lambda one: names[one.group], notes=[note])


def leftover_hours(plan: Plan) -> Table:
    """Tabulate the GPUs that others leave on average in each hour of the day, UTC; empty where no job may be stopped."""
    left = plan.leftover
    if left is None:
        return filled("leftover_hours", ())
    by_hour = [
        sum(gpus.values(), np.zeros(QUARTERS_PER_WEEK)).reshape(7, 24, -1).mean(axis=2)
        for gpus in (left.left_gpus, left.left_gpus_after_failure)
    ]
    columns = [days.mean(axis=0).tolist() for week in by_hour for days in (week[:5], week[5:])]
    rows = ((f"{hour:02}:00", *gpus) for hour, gpus in enumerate(zip(*columns, strict=True)))
    return filled("leftover_hours", rows)


def held_for_each(method: str, rule: str) -> bool:
    """True if a method tells groups apart; others answer for all requests together, of which large ones wait longer."""
    return method == "closed" or (method == "poisson" and rule == "denied")


def methods(found: Methods) -> Table:
    """Tabulate the GPUs that each arrival assumption needs for the target, and the probability with those installed."""
    rule = found.target.rule

    def formula(answer: MethodAnswer) -> str:
        name = FORMULA_NAMES.get((answer.method, rule), "")
        together = found.target.each and not held_for_each(answer.method, rule)
        return said("table.methods.together", formula=name) if together else name

    own: dict[str, Any] = {"formula": formula, "gpus": _gpus, "chance": _chance}
    own["method"] = lambda a: Cell(a.method, words=_chosen(METHOD_NAMES[a.method], a.chosen))
    heads = {"chance": said("table.methods.chance", gpus=number(found.gpus))}
    return tabulate("methods", found.answers, **own, heads=heads)


def _gpus(answer: MethodAnswer) -> Cell:
    low, high = answer.low_gpus, answer.high_gpus
    words = said("table.not applicable") if answer.gpus is None else number(answer.gpus)
    if low is not None and high is not None:
        words = said("table.methods.gpus range", low=low, high=high, gpus=words)
    return Cell(answer.gpus, words, low, high)


def _chance(answer: MethodAnswer) -> Cell:
    low, high = answer.low_chance, answer.high_chance
    words = None
    if low is not None and high is not None:
        words = said("table.range", low=percent(low), high=percent(high))
    return Cell(answer.chance, words, low, high)


def simulated(plan: Plan, found: Simulated) -> Table:
    """Tabulate a simulation's results for each group and for all requests."""
    names = {group.id: group.name for group in plan.scenario.groups}
    own: dict[str, Any] = {name: partial(_uncertain, name) for name in ("waited", "waited_longer", "denied")}
    own["group_id"] = lambda seen: seen["group"] if seen["group"] in names else ""
    own["name"] = lambda seen: names.get(seen["group"], said("table.simulated.all"))
    return tabulate("simulated", (*found["groups"], found["overall"]), **own)


def simulated_hosts(found: Sequence[Simulated]) -> Table:
    """Tabulate simulation results by number of hosts."""
    rule, by_group = found[0]["rule"], found[0]["for_whom"] == "each"
    whom = "table.simulated_hosts.worst group" if by_group else "table.simulated_hosts.all"
    own: dict[str, Any] = {"chance": partial(_uncertain, "chance")}
    own["wait_p90_h"] = lambda simulation: simulation["overall"]["wait_p90_h"]
    own["utilisation"] = lambda simulation: simulation["utilisation"]["value"]
    return tabulate("simulated_hosts", found, **own, heads={"chance": said(whom, chance=CHANCES[rule])})


def _uncertain(name: str, seen: Simulated) -> Cell:
    value, width = seen[name]["value"], seen[name]["half_width"]
    return Cell(value, words=percent(value) + (f" \u00b1 {percent(width)}" if width else ""))


def silos(plan: Plan, found: Silos) -> Table:
    """Tabulate silos against the pool, in GPUs and hosts."""
    names = {group.id: group.name for group in plan.scenario.groups}
    pool, tone = found.pool, "good" if found.saved_gpus > 0 else ""
    saved = said("table.silos.saved" if found.saved_gpus >= 0 else "table.silos.more")
    alone = found.together
    apart = toned((alone.hosts, alone.installed_gpus, alone.utilisation), "total")
    shared = (pool.gpus, pool.hosts, pool.installed_gpus, pool.utilisation)
    fewer = toned((abs(found.saved_hosts), abs(found.saved_gpus)), tone)
    totals = (
        ("", Cell(ALONE, tone="total"), replace(NONE, tone="total"), *apart, *alone.standing),
        ("", Cell(POOLED, tone="strong"), *shared, *pool.standing),
        ("", Cell(saved, tone=tone), NONE, *fewer, NONE, *together((alone.standing, pool.standing))),
    )
    notes = left_out(plan, {silo.group for silo in found.groups})
    return tabulate("silos", found.groups, notes=notes, name=lambda silo: names[silo.group], totals=totals)


def growth(found: Sequence[Year]) -> Table:
    """The demand of each year, and the hosts to buy at its start."""
    year, gpus = Worded(lambda year: said("table.year", year=year)), Worded(lambda gpus: number(whole(gpus)))
    return tabulate("growth", found, year=year, gpus_demanded=gpus)


def believe_words(method: str, low: float, high: float, measured: bool = False) -> str:
    """Say why to trust a method; ``low`` and ``high`` are the planning values for bursts, if none is ``measured``."""
    if method == "closed":
        return said("demand.believe closed")
    if measured:
        return said("demand.believe measured")
    key = "demand.believe as peaked" if round(low) == 1 else "demand.believe more peaked"
    return said(key, low=round(low), high=round(high))


def years_left_out(years: int, asked: int) -> str:
    """Say that growth is not planned for all requested years; empty if it is."""
    return said("demand.years left out", year=years + 1) if years < asked else ""
