"""The tables of the demand: what is enough, hours of the week, methods, simulations, silos against the pool, growth."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from gpuplan.analysis.demand import MethodAnswer, Methods, RuleAnswer
from gpuplan.analysis.purchase_plan import Year
from gpuplan.analysis.silos import Silo, Silos
from gpuplan.plan import Plan
from gpuplan.plan.demand import PoolDemand
from gpuplan.plan.working_week import Mix
from gpuplan.report.table import Cell, Column, Table
from gpuplan.report.tables.cost import ALONE, POOLED
from gpuplan.report.tables.plan import group_names
from gpuplan.wording import (
    FORMULA_NAMES,
    METHOD_NAMES,
    RULE_NAMES,
    amount,
    held_for_each,
    number,
    percent,
    week_hours,
)


def rules(found: Sequence[RuleAnswer]) -> Table:
    """How many GPUs each rule takes for enough."""
    return Table(
        "rules",
        "What is enough",
        (
            Column("rule", "Rule"),
            Column("gpus", "GPUs", "number"),
            Column("method", "Assumption"),
            Column("chosen", "Chosen", "yes", detail=True),
        ),
        tuple(
            (
                Cell(a.rule, words=RULE_NAMES[a.rule] + " (chosen)" * a.chosen),
                Cell(a.gpus, words="cannot say" if a.gpus is None else None),
                Cell(a.method, words=METHOD_NAMES.get(a.method, "")),
                a.chosen,
            )
            for a in found
        ),
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
    clusters = {pool.id: pool.name for pool in plan.pools}
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
                Cell(hosts, words=f"{hosts}" + " *" * (at == pool.chosen)),
                when(want.mix),
                at == pool.chosen,
                ", ".join(f"{names[g]}: {n}" for g, n in want.requests.items() if n),
            )
            for pool in (plan.hours if found is None else found)
            for at, (want, hosts) in enumerate(zip(pool.needed, pool.hosts, strict=True))
        ),
        notes=("* the hosts are sized for it",),
    )


def methods(found: Methods) -> Table:
    """How many GPUs each assumption about arrivals takes for the target, and the chance with those installed."""
    return Table(
        "methods",
        "Methods",
        (
            Column("method", "Assumption"),
            Column("formula", "Formula"),
            Column("gpus", "GPUs", "number"),
            Column("chance", f"Chance with {number(found.gpus)}, without spare hosts", "share"),
        ),
        tuple(_method(found, answer) for answer in found.answers),
    )


def _method(found: Methods, answer: MethodAnswer) -> tuple[Any, ...]:
    rule = found.target.rule
    together = found.target.each and not held_for_each(answer.method, rule)
    gpus = "cannot say" if answer.gpus is None else number(answer.gpus)
    if answer.low_gpus is not None and answer.high_gpus is not None:
        gpus = f"{number(answer.low_gpus)} to {number(answer.high_gpus)}, {gpus}"
    chance = None
    if answer.low_chance is not None and answer.high_chance is not None:
        chance = f"{percent(answer.low_chance)} to {percent(answer.high_chance)}"
    return (
        Cell(answer.method, words=METHOD_NAMES[answer.method] + " (chosen)" * answer.chosen),
        FORMULA_NAMES.get((answer.method, rule), "") + ", all requests together" * together,
        Cell(answer.gpus, words=gpus, low=answer.low_gpus, high=answer.high_gpus),
        Cell(answer.chance, words=chance, low=answer.low_chance, high=answer.high_chance),
    )


Simulated = Mapping[str, Any]
"""A simulation as ``simulation_dict`` gives it."""
CHANCES = {"wait": "Wait", "wait-time": "Wait too long", "turned-away": "Turned away"}


def simulated(plan: Plan, found: Simulated) -> Table:
    """What a simulation saw of each group, and of all requests."""
    names = {group.id: group.name for group in plan.scenario.groups}
    return Table(
        "simulated",
        "Simulated",
        (
            Column("group", "Id", detail=True),
            Column("name", "Group"),
            Column("requests", "Requests", "number"),
            Column("waited", "Waited", "share"),
            Column("waited_longer", "Waited longer", "share"),
            Column("turned_away", "Turned away", "share"),
            Column("wait_p90_h", "90 % wait at most", "wait", "h"),
        ),
        tuple(
            (
                seen["group"] if seen["group"] in names else "",
                names.get(seen["group"], "All"),
                seen["requests"],
                *(_uncertain(seen[name]) for name in ("waited", "waited_longer", "turned_away")),
                seen["wait_p90_h"],
            )
            for seen in (*found["groups"], found["overall"])
        ),
    )


def simulated_hosts(found: Sequence[Simulated]) -> Table:
    """What simulations saw with some numbers of hosts."""
    rule, each = found[0]["rule"], found[0]["for_whom"] == "each"
    return Table(
        "simulated_hosts",
        "Simulated",
        (
            Column("hosts", "Hosts"),
            Column("gpus", "GPUs", "number"),
            Column("chance", f"{CHANCES[rule]}, {'unluckiest group' if each else 'all'}", "share"),
            Column("wait_p90_h", "90 % wait at most", "wait", "h"),
            Column("utilisation", "GPUs held", "share"),
        ),
        tuple(
            (
                Cell(trial["hosts"], words=amount(trial["hosts"], "host")),
                trial["gpus"],
                _uncertain(trial["chance"]),
                trial["overall"]["wait_p90_h"],
                trial["utilisation"]["value"],
            )
            for trial in found
        ),
    )


def _uncertain(figure: Mapping[str, Any]) -> Cell:
    """A share with its interval."""
    width = figure["half_width"]
    return Cell(
        figure["value"], words=percent(figure["value"]) + (f" \u00b1 {percent(width)}" if width else "")
    )


def silos(plan: Plan, found: Silos) -> Table:
    """Each group with hosts of its own against all of them on shared ones, in GPUs and hosts."""
    names = {group.id: group.name for group in plan.scenario.groups}
    return Table(
        "silos",
        "Silos against the pool, with spare hosts",
        (
            Column("group", "Id", detail=True),
            Column("name", "Group alone"),
            Column("gpus_demanded", "GPUs demanded", "number"),
            Column("hosts", "Hosts", "number"),
            Column("gpus", "GPUs", "number"),
            Column("utilisation", "Utilisation", "share"),
        ),
        (
            *((s.group, names[s.group], *_silo(s)) for s in found.groups),
            (
                "",
                Cell(ALONE, tone="total"),
                Cell(None, words="", tone="total"),
                Cell(found.hosts, tone="total"),
                Cell(found.gpus, tone="total"),
                Cell(found.utilisation, tone="total"),
            ),
            ("", Cell(POOLED, tone="strong"), *_silo(found.pool)),
            _saved(found),
        ),
        totals=3,
    )


def _saved(found: Silos) -> tuple[Any, ...]:
    tone = "good" if found.saved_gpus > 0 else ""
    none = Cell(None, words="")
    return (
        "",
        Cell("Saved by sharing" if found.saved_gpus >= 0 else "More than in silos", tone=tone),
        none,
        Cell(abs(found.saved_hosts), tone=tone),
        Cell(abs(found.saved_gpus), tone=tone),
        none,
    )


def _silo(silo: Silo) -> tuple[Any, ...]:
    return silo.gpus, silo.hosts, silo.installed_gpus, silo.utilisation


def growth(found: Sequence[Year]) -> Table:
    """The demand of each year, and the hosts to buy for it."""
    return Table(
        "growth",
        "Growth",
        (
            Column("year", "Year"),
            Column("people", "Users", "number"),
            Column("gpus_demanded", "GPUs demanded", "number"),
            Column("hosts", "Hosts", "number"),
            Column("gpus", "GPUs", "number"),
            Column("hosts_bought", "Hosts to buy", "number"),
        ),
        tuple(
            (
                Cell(y.year, words=f"+{y.year}" if y.year else "now"),
                y.people,
                y.gpus_demanded,
                y.hosts,
                y.gpus,
                y.hosts_bought,
            )
            for y in found
        ),
    )
