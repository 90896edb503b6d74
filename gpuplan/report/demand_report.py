"""The demand of a plan as plain data and as text: the week, the rules, the methods, silos against the pool, growth."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gpuplan.analysis.demand import Methods, chance_curve, methods, rule_answers, week_demand
from gpuplan.analysis.purchase_plan import purchase_plan
from gpuplan.analysis.silos import silos
from gpuplan.analysis.simulation import PoolSimulation, simulation_dict
from gpuplan.locales import spoken
from gpuplan.plan import Plan
from gpuplan.plan.hosts import whole_pools
from gpuplan.plan.sizing_rule import burst_fact
from gpuplan.report.plan_data import plain
from gpuplan.report.summary import hosts_lost, total_words, waits
from gpuplan.report.table import records
from gpuplan.report.tables import demand
from gpuplan.report.text import chapter, page, wrapped
from gpuplan.wording import (
    NAMES,
    RULE_NAMES,
    amount,
    believe_words,
    moment,
    number,
    percent,
    share_words,
    target_words,
    week_hours,
    whole,
    years_left_out,
)


def demand_dict(plan: Plan, simulations: Sequence[PoolSimulation] = ()) -> dict[str, Any]:
    """The demand of a plan as plain JSON values, all finite.

    Keys ``rule``, ``stated_gpus``, ``gpus_demanded``, ``groups_gpus``, ``rules``, ``weeks``, ``mixes``,
    ``methods``, ``silos``, ``purchase_plan``, ``simulated``.
    """
    against = silos(plan)
    alone = against.together
    return {
        "rule": plan.scenario.demand.rule,
        "stated_gpus": plan.scenario.demand.stated_gpus,
        "gpus_demanded": plan.totals.gpus_demanded,
        "groups_gpus": plan.lines["demand.groups_gpus"].value,
        "rules": records(demand.rules(rule_answers(plan))),
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
        "methods": [
            _methods(plan, methods(plan, pool)) for pool in whole_pools(plan.pools) if _asks(plan, pool)
        ],
        "silos": {
            "groups": records(demand.silos(plan, against)),
            "together": {
                "gpus": alone.installed_gpus,
                "hosts": alone.hosts,
                "utilisation": alone.utilisation,
            },
            "pool": _silo(against.pool),
        },
        "purchase_plan": records(demand.growth(purchase_plan(plan))),
        "simulated": [simulation_dict(simulation) for simulation in simulations],
    }


def _asks(plan: Plan, pool: str) -> bool:
    """Whether any group asks for GPUs of a pool; a stated total may have GPUs of no group."""
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
            {"chance_installed" if name == "chance" else name: value for name, value in plain(answer).items()}
            for answer in found.answers
        ],
        "curve": [plain(point) for point in chance_curve(plan, found.pool)],
    }


@spoken
def demand_text(plan: Plan, simulations: Sequence[PoolSimulation] = ()) -> str:
    """The demand of a plan as text for a terminal."""
    if not plan.groups:
        return page(plan.scenario.name, _planned(plan))
    years = purchase_plan(plan)
    return page(
        plan.scenario.name,
        _planned(plan),
        wrapped(demand.peak_words(plan)),
        _queue(plan),
        chapter(demand.rules(rule_answers(plan))),
        chapter(demand.week(plan)),
        *(
            _methods_text(plan, methods(plan, kind), pool.name)
            for kind, pool in whole_pools(plan.pools).items()
            if _asks(plan, kind)
        ),
        *(simulation_text(plan, simulation) for simulation in simulations),
        chapter(demand.silos(plan, silos(plan))),
        chapter(demand.growth(years), years_left_out(len(years), plan.scenario.demand.years)),
    )


def _planned(plan: Plan) -> str:
    """How many GPUs are planned for, and why."""
    stated, needed = plan.scenario.demand.stated_gpus, plan.lines["demand.groups_gpus"].value
    if not plan.groups:
        return wrapped(total_words(plan))
    rule = RULE_NAMES[plan.scenario.demand.rule].lower()
    text = f"{amount(whole(plan.totals.gpus_demanded), 'GPU')} planned; sizing rule: {rule}."
    if stated is not None:
        text += f" {amount(stated, 'GPU')} stated, {number(whole(needed))} needed by the groups."
    return wrapped(text)


def _queue(plan: Plan) -> str:
    """How likely requests beyond the plan wait; nothing without requests."""
    if (chances := waits(plan)) is None:
        return ""
    now, after = chances
    return wrapped(
        f"Requests beyond the plan queue: the probability of waiting in the busiest hours is {now}, {after} with "
        f"{amount(hosts_lost(plan), 'host')} lost."
    )


def _methods_text(plan: Plan, found: Methods, name: str) -> str:
    target, bursts = found.target, burst_fact(plan.catalog)
    measured = plan.scenario.demand.peakedness is not None
    promise = target_words(target.rule, target.chance, target.wait_h * 60, target.each)
    said = believe_words(found.believe, float(bursts.low or 1), float(bursts.high or 1), measured)
    return chapter(
        demand.methods(found),
        f"{said} The formulas treat the GPUs as one pool without host boundaries; --simulate includes them.",
        title=f"{name}: {promise}",
    )


ENDED = NAMES["end of simulation"]


@spoken
def simulation_text(plan: Plan, simulation: PoolSimulation) -> str:
    """A simulation as text."""
    found, when = simulation.simulated, "busiest hours" if simulation.when == "busiest" else "whole week"
    growing = (
        " The queue was still growing at the end: wait times depend on how long it ran."
        if found.growing
        else ""
    )
    down = f", {simulation.down} down" if simulation.down else ""
    return chapter(
        demand.simulated(plan, simulation_dict(simulation)),
        f"utilisation {percent(found.utilisation.value)}; {number(found.requests)} requests in {number(round(found.hours))} h; "
        f"{ENDED[found.ended]}; {share_words(0.95)} intervals.{growing} Requests come independently of each other: bursts are not in it. Where "
        "jobs come in bursts, trust the replay of an audit.",
        title=f"Simulated on {amount(simulation.hosts, 'host')} with {amount(simulation.gpus, 'GPU')}{down} ({when})",
    )
