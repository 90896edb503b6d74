"""Tables of the demand: sizing rules, hours of the week, methods, simulations, silos against the pool, growth."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from gpuplan.analysis.demand import MethodAnswer, Methods, RuleAnswer, WeekDemand, week_demand
from gpuplan.analysis.purchase_plan import Year
from gpuplan.analysis.silos import Silos
from gpuplan.plan import Plan
from gpuplan.plan.demand import PoolDemand
from gpuplan.plan.hosts import pool_names
from gpuplan.plan.working_week import Mix
from gpuplan.report.table import Cell, Column, Table, listed
from gpuplan.report.tables.cost import NONE, toned
from gpuplan.report.tables.plan import group_names
from gpuplan.wording import (
    FORMULA_NAMES,
    METHOD_NAMES,
    NAMES,
    RULE_NAMES,
    amount,
    held_for_each,
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


def rules(found: Sequence[RuleAnswer]) -> Table:
    """Tabulate the GPU demand by each sizing rule."""
    return listed(
        "rules",
        (
            Column("rule", of=lambda a: Cell(a.rule, words=_chosen(RULE_NAMES[a.rule], a.chosen))),
            Column(
                "gpus",
                kind="number",
                words=lambda gpus: said("table.not applicable") if gpus is None else number(whole(gpus)),
            ),
            Column("method", words=lambda method: METHOD_NAMES.get(method, "")),
            Column("chosen", kind="yes", detail=True),
        ),
        found,
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
    gpus = amount(mean_gpus(week.peak_gpus), "GPU")
    if not saved_gpus(week):
        return said("table.busiest on average when", gpus=gpus)
    return said(
        "table.busiest on average",
        gpus=gpus,
        when=moment(week.peak_quarter),
        season=season,
        at_once=number(mean_gpus(week.everybody_gpus)),
        saved=number(saved_gpus(week)),
    )


def _utc(mix: Mix) -> str:
    return week_hours(mix.quarters)


def week(
    plan: Plan,
    found: Sequence[PoolDemand] | None = None,
    when: Callable[[Mix], str] = _utc,
    clock: str = "UTC",
) -> Table:
    """Tabulate the GPUs and hosts that each cluster, or some of them, needs through the week, on a clock."""
    names = group_names(plan)
    clusters = pool_names(plan.pools)
    return Table(
        "week",
        (
            Column("pool"),
            Column("mean_gpus", kind="mean"),
            Column("gpus", kind="number"),
            Column("hosts", kind="number"),
            Column("when", said("table.week.when", clock=clock)),
            Column("chosen", kind="yes", detail=True),
            Column("requests", detail=True),
        ),
        tuple(
            (
                Cell(pool.pool, words=clusters.get(pool.pool)),
                want.mix.gpus,
                want.gpus,
                Cell(
                    hosts,
                    words=said("table.week.sized for", hosts=hosts) if at == pool.chosen else f"{hosts}",
                ),
                when(want.mix),
                at == pool.chosen,
                ", ".join(f"{names[g]}: {n}" for g, n in want.requests.items() if n),
            )
            for pool in (plan.hours if found is None else found)
            for at, (want, hosts) in enumerate(zip(pool.needed, pool.hosts, strict=True))
        ),
    )


def methods(found: Methods) -> Table:
    """Tabulate the GPUs that each arrival assumption needs for the target, and the probability with those installed."""
    rule = found.target.rule

    def formula(answer: MethodAnswer) -> str:
        name = FORMULA_NAMES.get((answer.method, rule), "")
        together = found.target.each and not held_for_each(answer.method, rule)
        return said("table.methods.together", formula=name) if together else name

    return listed(
        "methods",
        (
            Column("method", of=_method),
            Column("formula", of=formula),
            Column("gpus", kind="number", of=_gpus),
            Column(
                "chance",
                said("table.methods.chance", gpus=number(found.gpus)),
                "share",
                of=_chance,
            ),
        ),
        found.answers,
    )


def _method(answer: MethodAnswer) -> Cell:
    return Cell(answer.method, words=_chosen(METHOD_NAMES[answer.method], answer.chosen))


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


Simulated = Mapping[str, Any]
"""A simulation as ``simulation_dict`` gives it."""
CHANCES = NAMES["chance in a table"]


def simulated(plan: Plan, found: Simulated) -> Table:
    """Tabulate a simulation's results for each group and for all requests."""
    names = {group.id: group.name for group in plan.scenario.groups}
    return listed(
        "simulated",
        (
            Column("group_id", detail=True, of=lambda seen: seen["group"] if seen["group"] in names else ""),
            Column("name", of=lambda seen: names.get(seen["group"], said("table.simulated.all"))),
            Column("requests", kind="number"),
            Column("waited", kind="share", of=partial(_uncertain, "waited")),
            Column("waited_longer", kind="share", of=partial(_uncertain, "waited_longer")),
            Column("denied", kind="share", of=partial(_uncertain, "denied")),
            Column("wait_p90_h", kind="wait", unit="h"),
        ),
        (*found["groups"], found["overall"]),
    )


def simulated_hosts(found: Sequence[Simulated]) -> Table:
    """Tabulate simulation results by number of hosts."""
    rule, each = found[0]["rule"], found[0]["for_whom"] == "each"
    return listed(
        "simulated_hosts",
        (
            Column("hosts", words=lambda hosts: amount(hosts, "host")),
            Column("gpus", kind="number"),
            Column(
                "chance",
                said(f"table.simulated_hosts.{'worst group' if each else 'all'}", chance=CHANCES[rule]),
                "share",
                of=partial(_uncertain, "chance"),
            ),
            Column(
                "wait_p90_h", kind="wait", unit="h", of=lambda simulation: simulation["overall"]["wait_p90_h"]
            ),
            Column("utilisation", kind="share", of=lambda simulation: simulation["utilisation"]["value"]),
        ),
        found,
    )


def _uncertain(name: str, seen: Simulated) -> Cell:
    """A share with its interval."""
    value, width = seen[name]["value"], seen[name]["half_width"]
    return Cell(value, words=percent(value) + (f" \u00b1 {percent(width)}" if width else ""))


def silos(plan: Plan, found: Silos) -> Table:
    """Tabulate silos against the pool, in GPUs and hosts."""
    names = {group.id: group.name for group in plan.scenario.groups}
    pool, tone = found.pool, "good" if found.saved_gpus > 0 else ""
    saved = said("table.silos.saved" if found.saved_gpus >= 0 else "table.silos.more")
    alone = found.together
    apart = (alone.hosts, alone.installed_gpus, alone.utilisation)
    return listed(
        "silos",
        (
            Column("group_id", detail=True, of="group"),
            Column("name", of=lambda silo: names[silo.group]),
            Column("gpus_demanded", kind="number", of="gpus"),
            Column("hosts", kind="number"),
            Column("gpus", kind="number", of="installed_gpus"),
            Column("utilisation", kind="share"),
        ),
        found.groups,
        totals=(
            ("", Cell(ALONE, tone="total"), Cell(None, words="", tone="total"), *toned(apart, "total")),
            ("", Cell(POOLED, tone="strong"), pool.gpus, pool.hosts, pool.installed_gpus, pool.utilisation),
            (
                "",
                Cell(saved, tone=tone),
                NONE,
                *toned((abs(found.saved_hosts), abs(found.saved_gpus)), tone),
                NONE,
            ),
        ),
    )


def growth(found: Sequence[Year]) -> Table:
    """The demand of each year, and the hosts to buy at its start."""
    return listed(
        "growth",
        (
            Column("year", "", words=lambda year: said("table.year", year=year)),
            Column("people", kind="number"),
            Column("gpus_demanded", kind="number", words=lambda gpus: number(whole(gpus))),
            Column("hosts", kind="number"),
            Column("gpus", kind="number"),
            Column("hosts_bought", kind="number"),
        ),
        found,
    )
