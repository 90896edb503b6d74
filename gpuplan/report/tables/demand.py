"""The tables of the demand: what is enough, hours of the week, methods, simulations, silos against the pool, growth."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from gpuplan.analysis.demand import MethodAnswer, Methods, RuleAnswer, week_demand
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
    moment,
    number,
    percent,
    week_hours,
    whole,
)

ALONE, POOLED = "All silos", "Pooled"
"""Rows below the groups: each with hosts of its own, and all on shared ones."""


def rules(found: Sequence[RuleAnswer]) -> Table:
    """How many GPUs each rule takes for enough."""
    return listed(
        "rules",
        "What is enough",
        (
            Column(
                "rule", "Rule", of=lambda a: Cell(a.rule, words=RULE_NAMES[a.rule] + " (chosen)" * a.chosen)
            ),
            Column(
                "gpus",
                "GPUs",
                "number",
                words=lambda gpus: "cannot say" if gpus is None else number(whole(gpus)),
            ),
            Column("method", "Assumption", words=lambda method: METHOD_NAMES.get(method, "")),
            Column("chosen", "Chosen", "yes", detail=True),
        ),
        found,
    )


def _mean(gpus: float) -> float:
    """GPUs on average as a sentence has them: whole where they are many."""
    return round(gpus, 1) if gpus < 100 else round(gpus)


def peak_words(plan: Plan) -> str:
    """When most GPUs are needed on average, and what groups and places with other hours lend each other."""
    week, *others = week_demand(plan)
    season = f" (clocks as in {week.season})" if others else ""
    gpus = amount(_mean(week.peak_gpus), "GPU")
    if round(week.peak_gpus, 1) == round(week.everybody_gpus, 1):
        return f"Busiest on average: {gpus}, with all groups at their peak at the same time."
    return (
        f"Busiest on average: {gpus}, {moment(week.peak_quarter)} UTC{season}; with all groups at their peak at the same time it would be "
        f"{number(_mean(week.everybody_gpus))}, so groups and places with other hours lend each other "
        f"{number(_mean(week.lent_gpus))}."
    )


def _utc(mix: Mix) -> str:
    return week_hours(mix.quarters)


def week(
    plan: Plan,
    found: Sequence[PoolDemand] | None = None,
    when: Callable[[Mix], str] = _utc,
    clock: str = "UTC",
) -> Table:
    """The GPUs and hosts that each cluster, or some of them, needs through the week, on a clock."""
    names = group_names(plan)
    clusters = pool_names(plan.pools)
    return Table(
        "week",
        "Through the week",
        (
            Column("pool", "Cluster"),
            Column("mean_gpus", "Mean GPUs", "number"),
            Column("gpus", "GPUs", "number"),
            Column("hosts", "Hosts", "number"),
            Column("when", f"When ({clock})"),
            Column("chosen", "Sized for it", "yes", detail=True),
            Column("requests", "Requests by group", detail=True),
        ),
        tuple(
            (
                Cell(pool.pool, words=clusters.get(pool.pool)),
                Cell(want.mix.gpus, words=number(round(want.mix.gpus, 2))),
                want.gpus,
                Cell(hosts, words=f"{hosts}" + " (sized for)" * (at == pool.chosen)),
                when(want.mix),
                at == pool.chosen,
                ", ".join(f"{names[g]}: {n}" for g, n in want.requests.items() if n),
            )
            for pool in (plan.hours if found is None else found)
            for at, (want, hosts) in enumerate(zip(pool.needed, pool.hosts, strict=True))
        ),
    )


def methods(found: Methods) -> Table:
    """How many GPUs each assumption about arrivals takes for the target, and the chance with those installed."""
    rule = found.target.rule

    def formula(answer: MethodAnswer) -> str:
        together = found.target.each and not held_for_each(answer.method, rule)
        return FORMULA_NAMES.get((answer.method, rule), "") + ", all requests as one" * together

    return listed(
        "methods",
        "Methods",
        (
            Column("method", "Assumption", of=_method),
            Column("formula", "Formula", of=formula),
            Column("gpus", "GPUs", "number", of=_gpus),
            Column(
                "chance", f"Chance with {number(found.gpus)}, without failover capacity", "share", of=_chance
            ),
        ),
        found.answers,
    )


def _method(answer: MethodAnswer) -> Cell:
    return Cell(answer.method, words=METHOD_NAMES[answer.method] + " (chosen)" * answer.chosen)


def _gpus(answer: MethodAnswer) -> Cell:
    low, high = answer.low_gpus, answer.high_gpus
    words = "cannot say" if answer.gpus is None else number(answer.gpus)
    if low is not None and high is not None:
        words = f"{number(low)} to {number(high)}, {words}"
    return Cell(answer.gpus, words, low, high)


def _chance(answer: MethodAnswer) -> Cell:
    low, high = answer.low_chance, answer.high_chance
    words = None if low is None or high is None else f"{percent(low)} to {percent(high)}"
    return Cell(answer.chance, words, low, high)


Simulated = Mapping[str, Any]
"""A simulation as ``simulation_dict`` gives it."""
CHANCES = NAMES["chance in a table"]


def simulated(plan: Plan, found: Simulated) -> Table:
    """What a simulation saw of each group, and of all requests."""
    names = {group.id: group.name for group in plan.scenario.groups}
    return listed(
        "simulated",
        "Simulated",
        (
            Column(
                "group_id", "Id", detail=True, of=lambda seen: seen["group"] if seen["group"] in names else ""
            ),
            Column("name", "Group", of=lambda seen: names.get(seen["group"], "All")),
            Column("requests", "Requests", "number"),
            Column("waited", "Waited", "share", of=partial(_uncertain, "waited")),
            Column(
                "waited_longer", "Waited over the limit", "share", of=partial(_uncertain, "waited_longer")
            ),
            Column("denied", "Denied", "share", of=partial(_uncertain, "denied")),
            Column("wait_p90_h", "90 % wait at most", "wait", "h"),
        ),
        (*found["groups"], found["overall"]),
    )


def simulated_hosts(found: Sequence[Simulated]) -> Table:
    """What simulations saw with some numbers of hosts."""
    rule, each = found[0]["rule"], found[0]["for_whom"] == "each"
    return listed(
        "simulated_hosts",
        "Simulated",
        (
            Column("hosts", "Hosts", words=lambda hosts: amount(hosts, "host")),
            Column("gpus", "GPUs", "number"),
            Column(
                "chance",
                f"{CHANCES[rule]}, {'unluckiest group' if each else 'all'}",
                "share",
                of=partial(_uncertain, "chance"),
            ),
            Column(
                "wait_p90_h",
                "90 % wait at most",
                "wait",
                "h",
                of=lambda simulation: simulation["overall"]["wait_p90_h"],
            ),
            Column(
                "utilisation",
                "GPUs allocated",
                "share",
                of=lambda simulation: simulation["utilisation"]["value"],
            ),
        ),
        found,
    )


def _uncertain(name: str, seen: Simulated) -> Cell:
    """A share with its interval."""
    value, width = seen[name]["value"], seen[name]["half_width"]
    return Cell(value, words=percent(value) + (f" \u00b1 {percent(width)}" if width else ""))


def silos(plan: Plan, found: Silos) -> Table:
    """Each group with hosts of its own against all of them on shared ones, in GPUs and hosts."""
    names = {group.id: group.name for group in plan.scenario.groups}
    pool, tone = found.pool, "good" if found.saved_gpus > 0 else ""
    saved = "Saved by sharing" if found.saved_gpus >= 0 else "More than in silos"
    apart = (found.hosts, found.gpus, found.utilisation)
    return listed(
        "silos",
        "Silos against the pool, with failover capacity",
        (
            Column("group_id", "Id", detail=True, of="group"),
            Column("name", "Silo", of=lambda silo: names[silo.group]),
            Column("gpus_demanded", "GPU demand", "number", of="gpus"),
            Column("hosts", "Hosts", "number"),
            Column("gpus", "GPUs", "number", of="installed_gpus"),
            Column("utilisation", "Utilisation", "share"),
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
        "Growth",
        (
            Column("year", "", words=lambda year: f"Year {year}"),
            Column("people", "Users, summed over groups", "number"),
            Column("gpus_demanded", "GPU demand", "number", words=lambda gpus: number(whole(gpus))),
            Column("hosts", "Hosts", "number"),
            Column("gpus", "GPUs", "number"),
            Column("hosts_bought", "Hosts to buy", "number"),
        ),
        found,
    )
