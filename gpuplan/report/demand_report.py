"""The demand of a plan as plain data and as text: the week, the rules, the methods, silos against the pool, growth."""

from collections.abc import Sequence
from typing import Any

from gpuplan.analysis.demand import Methods, chance_curve, methods, rule_answers, week_demand
from gpuplan.analysis.rent_or_buy import purchase_plan
from gpuplan.analysis.silos import silos
from gpuplan.analysis.simulation import PoolSimulation, simulation_dict
from gpuplan.analysis.variants import standing
from gpuplan.locales import moment, spoken, week_hours
from gpuplan.plan import Plan
from gpuplan.plan.hosts import WholePool, whole_pools
from gpuplan.plan.sizing_rule import burst_fact
from gpuplan.report.figures import Figures, total_words, waits
from gpuplan.report.plan_data import as_json, fields_of
from gpuplan.report.tables import demand
from gpuplan.report.tables.demand import believe_words, years_left_out
from gpuplan.report.text import chapter, page
from gpuplan.wording import NAMES, RULE_NAMES, said

ENDED = NAMES["end of simulation"]


def demand_dict(plan: Plan, simulations: Sequence[PoolSimulation] = ()) -> dict[str, Any]:
    """Return the demand of a plan as plain JSON values, all finite."""
    against = silos(plan)
    inputs, alone, pooled = plan.scenario.demand, against.together, against.pool
    names = ("season", "peak_gpus", "sum_of_peaks_gpus", "everybody_gpus")
    return as_json(
        rule=inputs.rule,
        stated_gpus=inputs.stated_gpus,
        gpus_demanded=plan.totals.gpus_demanded,
        groups_gpus=plan.lines["demand.groups_gpus"].value,
        rules=demand.rules(rule_answers(plan)),
        weeks=[
            {name: getattr(week, name) for name in names}
            | {"peak_at": moment(week.peak_quarter), "utc_offsets_min": dict(week.offsets_min)}
            | {"quarter_hours_gpus": dict(week.gpus)}
            for week in week_demand(plan)
        ],
        mixes=[
            {"pool": pool.pool, "when": week_hours(want.mix.quarters), "season": want.mix.season}
            | {"mean_gpus": want.mix.gpus, "gpus": want.gpus, "requests": dict(want.requests)}
            | {"hosts": hosts, "sized_for": at == pool.chosen}
            for pool in plan.hours
            for at, (want, hosts) in enumerate(zip(pool.needed, pool.hosts, strict=True))
        ],
        methods=[_methods(plan, methods(plan, pool)) for pool in _asked(plan)],
        silos={
            "groups": demand.silos(plan, against),
            "together": {"gpus": alone.installed_gpus, "hosts": alone.hosts}
            | {"utilisation": alone.utilisation},
            "pool": {"gpus_demanded": pooled.gpus, "hosts": pooled.hosts}
            | {"gpus": pooled.installed_gpus, "utilisation": pooled.utilisation},
        },
        purchase_plan=demand.growth(purchase_plan(plan)),
        simulated=[simulation_dict(simulation) for simulation in simulations],
        **(
            {"leftover": demand.leftover(plan), "hours": demand.leftover_hours(plan)} if plan.leftover else {}
        ),
    )


def _asked(plan: Plan) -> dict[str, WholePool]:
    """The pools that some group asks for GPUs of; a stated total may have GPUs of no group."""
    kinds = {group.pool for group in plan.groups if group.mode}
    return {kind: pool for kind, pool in whole_pools(plan.pools).items() if kind in kinds}


def _methods(plan: Plan, found: Methods) -> dict[str, Any]:
    renamed = {"chance": "chance_installed"}
    answers = (fields_of(answer).items() for answer in found.answers)
    shown: dict[str, Any] = {"pool": found.pool, "rule": found.target.rule, "load_gpus": found.load_gpus}
    shown |= {"installed_gpus": found.gpus, "believe": found.believe}
    shown["answers"] = [{renamed.get(name, name): value for name, value in fields} for fields in answers]
    return shown | {"curve": chance_curve(plan, found.pool)}


@spoken
def demand_text(plan: Plan, simulations: Sequence[PoolSimulation] = ()) -> str:
    """Return the demand of a plan as text for a terminal."""
    if not plan.groups:
        return page(plan.scenario.name, total_words(plan))
    years = purchase_plan(plan)
    inputs = plan.scenario.demand
    key = "demand.planned" if inputs.stated_gpus is None else "demand.planned and stated"
    text = Figures(plan).said(key, rule=RULE_NAMES[inputs.rule].lower(), stated=inputs.stated_gpus)
    wrong = standing(plan).words
    return page(
        plan.scenario.name,
        f"{text} {said('standing.sentence', wrong=wrong)}" if wrong else text,
        demand.peak_words(plan),
        _queue(plan),
        demand.rules(rule_answers(plan)),
        demand.week(plan),
        demand.leftover(plan),
        demand.leftover_hours(plan),
        (_methods_text(plan, methods(plan, kind), pool.name) for kind, pool in _asked(plan).items()),
        (_simulation(plan, simulation) for simulation in simulations),
        demand.silos(plan, silos(plan)),
        chapter(demand.growth(years), years_left_out(len(years), plan.scenario.demand.years)),
    )


def _queue(plan: Plan) -> str:
    if (chances := waits(plan)) is None:
        return ""
    now, after = chances
    return Figures(plan).said("demand.queue", now=now, after=after)


def _methods_text(plan: Plan, found: Methods, name: str) -> str:
    target, bursts = found.target, burst_fact(plan.catalog)
    measured = plan.scenario.demand.peakedness is not None
    believed = believe_words(found.believe, float(bursts.low or 1), float(bursts.high or 1), measured)
    about = f"{believed} {said('demand.one pool')}"
    return chapter(demand.methods(found), about, title=f"{name}: {target.words}")


def _simulation(plan: Plan, simulation: PoolSimulation) -> str:
    result = simulation.simulated
    figures = said("demand.simulation", result=result, ended=ENDED[result.ended], share=0.95)
    growing = [said("demand.simulation still growing")] if result.growing else []
    when = said("demand.busiest hours" if simulation.when == "busiest" else "demand.whole week")
    key = "demand.simulated with hosts down" if simulation.down else "demand.simulated on"
    title = said(key, of=simulation, when=when)
    about = " ".join((figures, *growing, said("demand.simulation without bursts")))
    return chapter(demand.simulated(plan, simulation_dict(simulation)), about, title=title)
