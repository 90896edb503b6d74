"""Chapter 4: who needs GPUs when, how many are enough, and growth."""

from __future__ import annotations

from gpuplan.analysis.demand import methods, rule_answers, week_demand
from gpuplan.plan import Plan
from gpuplan.plan.llm.retrieval import why_share
from gpuplan.plan.llm.serving import why_size
from gpuplan.plan.llm.traffic import traffic_of
from gpuplan.plan.llm.tuning import why_job
from gpuplan.report.document.blocks import Block, Chapter, Paragraph, chapter, section
from gpuplan.report.document.requirements import promise
from gpuplan.report.document.writing import Citations, drawn, hosts_lost, tabled, total_words, waits
from gpuplan.report.tables.cost import hosts_by_year
from gpuplan.report.tables.demand import peak_words, rules
from gpuplan.report.tables.models import retrieval, serving, tuning
from gpuplan.report.tables.plan import groups
from gpuplan.report.traffic_report import said as started
from gpuplan.wording import (
    METHOD_NAMES,
    amount,
    number,
    stated_percent,
    target_words,
    whole,
)

METHOD_MEANS = (
    "Known users: demand is limited by their number. Independent arrivals: requests come one by one. Bursts: many "
    "requests come together, as in traces of real clusters."
)


def demand_chapter(plan: Plan, cite: Citations) -> Chapter:
    """Chapter 4: who needs GPUs when, how many are enough, and growth."""
    if not plan.groups:
        return Chapter("Demand", (Paragraph(total_words(plan)),))
    grows = any(group.growth for group in plan.scenario.groups)
    return chapter(
        "Demand",
        Paragraph(_method(plan)),
        tabled(groups(plan), caption="Demand by group"),
        section("Language models", _models(plan)) if any(plan.llm.parts.values()) else None,
        Paragraph(peak_words(plan)),
        section("Through the day", _day(plan)),
        section("Queue: requests beyond the plan", _enough(plan, cite)),
        section("Growth", tabled(hosts_by_year(plan.costs))) if plan.costs and grows else None,
    )


def _models(plan: Plan) -> list[Block]:
    """What language models need, and why each replica has as many GPUs."""
    made = [each for each in plan.llm.serving.values() if each.replicas]
    jobs = [(each, why_job(each)) for each in plan.llm.tuning.values()]
    said = [
        f"{each.name}: {amount(each.gpus, 'GPU')} per replica; {why}."
        for each in made
        if (why := why_size(each))
    ]
    said += [
        f"{each.name}: {sentence[0].lower()}{sentence[1:]}"
        for each in made
        for sentence in started(traffic_of(plan.scenario, plan.catalog, each))
    ]
    said += [
        f"{each.name}: a job takes {amount(each.gpus * each.hosts, 'GPU')}; {why}."
        for each, why in jobs
        if why
    ]
    served, tuned = tabled(serving(plan), caption="LLM serving"), tabled(tuning(plan), caption="Fine-tuning")
    said += [f"{each.name}: {why_share(each)}." for each in plan.llm.retrieval.values()]
    found = tabled(retrieval(plan), caption="Embeddings and RAG")
    return [*([Paragraph(" ".join(said))] if said else []), *served, *tuned, *found]


def _method(plan: Plan) -> str:
    needed, stated = plan.lines["demand.groups_gpus"].value, plan.scenario.demand.stated_gpus
    text = f"{promise(plan)} The groups need {amount(whole(needed), 'GPU')}."
    if stated is None:
        return text
    if stated == needed:
        return f"{text} The customer states as many."
    return f"{text} The customer states {amount(stated, 'GPU')}; the design provides {amount(whole(plan.totals.gpus_demanded), 'GPU')}."


def _day(plan: Plan) -> list[Block]:
    from gpuplan.report import charts

    week = week_demand(plan)[0]
    return drawn(
        charts.day_svg(plan),
        "GPUs that the groups want on average through the day",
        f"Chart of the GPUs that each group wants by hour; the most at once is {number(round(week.peak_gpus, 1))}.",
    )


def _enough(plan: Plan, cite: Citations) -> list[Block]:
    from gpuplan.report import charts

    asked, blocks = plan.scenario.demand, list[Block]()
    if chances := waits(plan):
        now, after = chances
        aim = f"No probability of waiting is stated as a target; the figure and the table take {stated_percent(asked.chance)}."
        if asked.rule in ("wait", "wait-time", "denied"):
            each = asked.for_whom == "each"
            aim = f"The target is {target_words(asked.rule, asked.chance, asked.wait_min, each)}."
        text = (
            "The plan covers the demand above. Requests beyond it queue: if users and jobs arrive at random with the stated activity, "
            f"the probability of waiting in the busiest hours is {now} with all hosts up and {after} with "
            f"{amount(hosts_lost(plan), 'host')} lost. The figure below leaves failover capacity out. {aim}{cite(plan.lines['totals.waiting'].sources)}"
        )
        blocks.append(Paragraph(text))
    blocks += drawn(
        charts.waiting_svg(plan),
        "Probability of waiting by the number of GPUs",
        "Chart of the probability of waiting over the number of GPUs, by the assumption about arrivals.",
    )
    blocks += tabled(rules(rule_answers(plan)))
    if plan.pools and any(g.pool == plan.pools[0].kind and g.mode for g in plan.groups):
        known = methods(plan, plan.pools[0].kind)
        blocks.append(
            Paragraph(
                f"{METHOD_MEANS} Closest to this work: {METHOD_NAMES[known.believe].lower()}.",
                "note",
            )
        )
    return blocks
