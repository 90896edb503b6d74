"""The demand of a plan as plain data and as text: the week, the rules, the methods, silos against the pool, growth."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gpuplan.analysis.demand import (
    Methods,
    chance_curve,
    methods,
    purchase_plan,
    rule_answers,
    silos,
    week_demand,
)
from gpuplan.analysis.simulation import Trial, by_group, trial_dict
from gpuplan.plan import Plan
from gpuplan.plan.demand import burst_fact
from gpuplan.report.table import grid_text
from gpuplan.report.text import heading, wrapped
from gpuplan.wording import (
    FORMULA_NAMES,
    METHOD_NAMES,
    RULE_NAMES,
    amount,
    believe_words,
    held_for_each,
    moment,
    number,
    percent,
    target_words,
    wait_words,
    week_hours,
    years_left_out,
)


def demand_dict(plan: Plan, trials: Sequence[Trial] = ()) -> dict[str, Any]:
    """The demand of a plan as plain JSON values, all finite.

    Parameters
    ----------
    plan : Plan
        The plan. [-]
    trials : sequence of Trial
        Simulations of its pools, if any were run. [-]

    Returns
    -------
    demand_dict : dict
        Keys ``rule``, ``stated_gpus``, ``gpus_demanded``, ``sum_of_peaks_gpus``, ``rules``, ``weeks``, ``mixes``, ``methods``,
        ``silos``, ``purchase_plan``, ``simulated``. [-]
    """
    against = silos(plan)
    names = {group.id: group.name for group in plan.scenario.groups}
    return {
        "rule": plan.scenario.demand.rule,
        "stated_gpus": plan.scenario.demand.stated_gpus,
        "gpus_demanded": plan.totals.gpus_demanded,
        "groups_gpus": plan.lines["demand.groups_gpus"].value,
        "rules": [
            {"rule": a.rule, "gpus": a.gpus, "method": a.method, "chosen": a.chosen}
            for a in rule_answers(plan)
        ],
        "weeks": [
            {
                "season": week.season,
                "peak_gpus": week.peak_gpus,
                "sum_of_peaks_gpus": week.sum_of_peaks_gpus,
                "everybody_gpus": week.everybody_gpus,
                "peak_at": moment(week.peak_quarter),
                "utc_offsets_min": dict(week.offsets_min),
                "quarter_hours_gpus": {g: [round(x, 6) for x in v.tolist()] for g, v in week.gpus.items()},
            }
            for week in week_demand(plan)
        ],
        "mixes": [
            {
                "pool": pool.pool,
                "when": week_hours(want.mix.quarters),
                "season": want.mix.season,
                "mean_gpus": want.mix.gpus,
                "gpus": want.gpus,
                "requests": dict(want.requests),
                "hosts": hosts,
                "sized_for": at == pool.chosen,
            }
            for pool in plan.hours
            for at, (want, hosts) in enumerate(zip(pool.needed, pool.hosts, strict=True))
        ],
        "methods": [_methods(plan, methods(plan, pool.id)) for pool in plan.pools if _asks(plan, pool.id)],
        "silos": {
            "groups": [{"group": s.group, "name": names[s.group], **_silo(s)} for s in against.groups],
            "together": {"gpus": against.gpus, "hosts": against.hosts, "utilisation": against.utilisation},
            "pool": _silo(against.pool),
        },
        "purchase_plan": [
            {
                "year": y.year,
                "people": y.people,
                "gpus_demanded": y.gpus_demanded,
                "hosts": y.hosts,
                "gpus": y.gpus,
                "hosts_bought": y.hosts_bought,
            }
            for y in purchase_plan(plan)
        ],
        "simulated": [trial_dict(trial) for trial in trials],
    }


def _asks(plan: Plan, pool: str) -> bool:
    """Whether any group asks for GPUs of a pool; a stated total may have GPUs for nobody."""
    return any(group.pool == pool and group.mode for group in plan.groups)


def _silo(silo: Any) -> dict[str, Any]:
    return {
        "gpus_demanded": silo.gpus,
        "hosts": silo.hosts,
        "gpus": silo.installed_gpus,
        "utilisation": silo.utilisation,
    }


def _methods(plan: Plan, found: Methods) -> dict[str, Any]:
    return {
        "pool": found.pool,
        "rule": found.target.rule,
        "load_gpus": found.load_gpus,
        "installed_gpus": found.gpus,
        "believe": found.believe,
        "answers": [
            {
                "method": a.method,
                "gpus": a.gpus,
                "low_gpus": a.low_gpus,
                "high_gpus": a.high_gpus,
                "chance_installed": a.chance,
                "low_chance": a.low_chance,
                "high_chance": a.high_chance,
                "peakedness": list(a.peakedness) if a.peakedness else None,
                "chosen": a.chosen,
            }
            for a in found.answers
        ],
        "curve": [
            {"method": p.method, "gpus": p.gpus, "chance": p.chance, "low": p.low, "high": p.high}
            for p in chance_curve(plan, found.pool)
        ],
    }


def demand_text(plan: Plan, trials: Sequence[Trial] = ()) -> str:
    """The demand of a plan as text for a terminal.

    Parameters
    ----------
    plan : Plan
        The plan. [-]
    trials : sequence of Trial
        Simulations of its pools, if any were run. [-]

    Returns
    -------
    demand_text : str
        The week, the rules, the methods beside each other, simulations, silos, and purchases by year. [-]
    """
    scenario = plan.scenario
    parts = [f"{scenario.name}\n{'=' * len(scenario.name)}"]
    stated = scenario.demand.stated_gpus
    groups = plan.lines["demand.groups_gpus"].value
    first = f"{amount(plan.totals.gpus_demanded, 'GPU')} are planned for: {RULE_NAMES[scenario.demand.rule].lower()}."
    if stated is not None:
        first = f"The customer states {amount(stated, 'GPU')}, which wins; the groups give {number(groups)}."
    parts.append(wrapped(first))
    week, *others = week_demand(plan)
    season = f" (clocks as in {week.season})" if others else ""
    parts.append(
        wrapped(
            f"Busiest on average: {amount(week.peak_gpus, 'GPU')}, {moment(week.peak_quarter)} UTC{season}; everybody at work at the "
            f"same time would be {number(week.everybody_gpus)}, so groups and places with other hours lend each other "
            f"{number(week.lent_gpus)}."
        )
    )
    parts.append(
        heading("What is enough")
        + grid_text(
            ("Rule", "GPUs", "Assumption"),
            [
                (
                    RULE_NAMES[a.rule] + (" (chosen)" if a.chosen else ""),
                    "" if a.gpus is None else number(a.gpus),
                    METHOD_NAMES.get(a.method, ""),
                )
                for a in rule_answers(plan)
            ],
            right=(1,),
        )
    )
    if plan.hours:
        parts.append(
            heading("Through the week")
            + grid_text(
                ("Cluster", "Mean GPUs", "GPUs", "Hosts", "When (UTC)"),
                [
                    (
                        pool.pool,
                        number(round(want.mix.gpus, 2)),
                        number(want.gpus),
                        f"{hosts}{' *' if at == pool.chosen else ''}",
                        week_hours(want.mix.quarters),
                    )
                    for pool in plan.hours
                    for at, (want, hosts) in enumerate(zip(pool.needed, pool.hosts, strict=True))
                ],
                right=(1, 2, 3),
            )
            + "\n* the hosts are sized for it"
        )
    for pool in plan.pools:
        if _asks(plan, pool.id):
            parts.append(_methods_text(plan, methods(plan, pool.id), pool.name))
    for trial in trials:
        parts.append(trial_text(plan, trial))
    parts.append(_silos_text(plan))
    parts.append(_years_text(plan))
    return "\n\n".join(parts) + "\n"


def _methods_text(plan: Plan, found: Methods, name: str) -> str:
    rule, bursts = found.target.rule, burst_fact(plan.catalog)
    measured = plan.scenario.demand.peakedness is not None
    rows = []
    for a in found.answers:
        gpus = "cannot say" if a.gpus is None else number(a.gpus)
        if a.low_gpus is not None and a.high_gpus is not None:
            gpus = f"{number(a.low_gpus)} to {number(a.high_gpus)}, {gpus}"
        chance = "" if a.chance is None else percent(a.chance)
        if a.low_chance is not None and a.high_chance is not None:
            chance = f"{percent(a.low_chance)} to {percent(a.high_chance)}"
        formula = FORMULA_NAMES.get((a.method, rule), "")
        if found.target.each and not held_for_each(a.method, rule):
            formula += ", all requests together"
        rows.append((METHOD_NAMES[a.method] + (" (chosen)" if a.chosen else ""), formula, gpus, chance))
    return (
        heading(
            f"{name}: {target_words(rule, found.target.chance, found.target.wait_h * 60, found.target.each)}"
        )
        + grid_text(("Assumption", "Formula", "GPUs", f"Chance with {found.gpus}, without spare hosts"), rows)
        + "\n"
        + wrapped(
            believe_words(found.believe, float(bursts.low or 1), float(bursts.high or 1), measured)
            + " The formulas see one pool of GPUs without the bounds of hosts, which a simulation sees (--simulate)."
        )
    )


def trial_text(plan: Plan, trial: Trial) -> str:
    """A simulation as text."""
    names = {group.id: group.name for group in plan.scenario.groups}
    found, when = trial.simulated, "busiest hours" if trial.when == "busiest" else "whole week"

    def share(figure: Any) -> str:
        return percent(figure.value) + (
            "" if figure.half_width is None else f" +- {percent(figure.half_width)}"
        )

    rows = [
        (
            names.get(o.name, "All"),
            number(o.requests),
            share(o.waited),
            share(o.waited_longer),
            share(o.turned_away),
            wait_words(o.wait_p90_h),
        )
        for o in (*by_group(found), found.overall)
    ]
    about = f"utilisation {percent(found.utilisation.value)}; {number(found.requests)} requests in {number(round(found.hours))} h"
    ended = {
        "tight": "ended when the intervals were tight",
        "limit": "ended at the limit of requests",
        "cancelled": "cancelled",
    }[found.ended]
    growing = (
        " The queue still grew at the end: the waits depend on how long it ran." if found.growing else ""
    )
    down = f", {trial.down} down" if trial.down else ""
    return (
        heading(f"Simulated on {amount(trial.hosts, 'host')} with {amount(trial.gpus, 'GPU')}{down} ({when})")
        + grid_text(
            ("Group", "Requests", "Waited", "Waited longer", "Turned away", "90 % wait at most"),
            rows,
            right=(1,),
        )
        + "\n"
        + wrapped(
            f"{about}; {ended}; 95 % intervals.{growing} Requests come independently of each other: bursts are not in it. Where jobs "
            "come in bursts, believe the replay of an audit."
        )
    )


def _silos_text(plan: Plan) -> str:
    found = silos(plan)
    names = {group.id: group.name for group in plan.scenario.groups}
    rows = [
        (names[s.group], number(s.gpus), s.hosts, number(s.installed_gpus), percent(s.utilisation))
        for s in found.groups
    ]
    rows.append(("All alone", "", found.hosts, number(found.gpus), percent(found.utilisation)))
    pool = found.pool
    rows.append(
        ("Together", number(pool.gpus), pool.hosts, number(pool.installed_gpus), percent(pool.utilisation))
    )
    return heading("Silos against the pool, with spare hosts") + grid_text(
        ("Group", "GPUs demanded", "Hosts", "GPUs", "Utilisation"), rows, right=(1, 2, 3, 4)
    )


def _years_text(plan: Plan) -> str:
    years = purchase_plan(plan)
    rows = [
        (y.year or "now", number(y.people), number(y.gpus_demanded), y.hosts, number(y.gpus), y.hosts_bought)
        for y in years
    ]
    left_out = years_left_out(len(years), plan.scenario.demand.years)
    text = heading("Growth") + grid_text(
        ("Year", "People", "GPUs demanded", "Hosts", "GPUs", "Hosts to buy"), rows, right=(1, 2, 3, 4, 5)
    )
    return text + (f"\n{left_out}" if left_out else "")
