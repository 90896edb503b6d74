"""Chapter 4: users and hours of GPU demand, the sizing rules, and growth."""

from __future__ import annotations

from gpuplan.analysis.demand import methods, rule_answers, week_demand
from gpuplan.analysis.llm_traffic import traffic_of
from gpuplan.deliver.document.blocks import Block, Chapter, Paragraph, chapter, section
from gpuplan.deliver.document.requirements import promise
from gpuplan.deliver.document.writing import Citations, drawn, tabled
from gpuplan.plan import Plan
from gpuplan.plan.llm.retrieval import why_share
from gpuplan.plan.llm.serving import why_size
from gpuplan.plan.llm.tuning import why_job
from gpuplan.plan.sizing_rule import Target
from gpuplan.report.figures import Figures, total_words, waits
from gpuplan.report.llm_report import started
from gpuplan.report.tables.cost import hosts_by_year
from gpuplan.report.tables.demand import peak_words, rules
from gpuplan.report.tables.models import retrieval, serving, tuning
from gpuplan.report.tables.plan import groups
from gpuplan.scenario import RISKS
from gpuplan.wording import (
    METHOD_NAMES,
    amount,
    number,
    said,
    stated_percent,
    whole,
)


def demand_chapter(plan: Plan, cite: Citations) -> Chapter:
    """Write chapter 4: users and hours of GPU demand, the sizing rules, and growth."""
    if not plan.groups:
        return Chapter(said("demand.title"), (Paragraph(total_words(plan)),))
    grows = any(group.growth for group in plan.scenario.groups)
    return chapter(
        said("demand.title"),
        Paragraph(_method(plan)),
        tabled(groups(plan), caption=said("demand.table demand by group")),
        section(said("demand.language models"), _models(plan)) if any(plan.llm.parts.values()) else None,
        Paragraph(peak_words(plan)),
        section(said("demand.through the day"), _day(plan)),
        section(said("demand.waiting beyond the plan"), _enough(plan, cite)),
        section(said("demand.growth"), tabled(hosts_by_year(plan.costs))) if plan.costs and grows else None,
    )


def _models(plan: Plan) -> list[Block]:
    """Describe the needs of language models, and the reason for the GPUs of each replica."""
    made = [each for each in plan.llm.serving.values() if each.replicas]
    jobs = [(each, why_job(each)) for each in plan.llm.tuning.values()]
    sentences = [
        said("demand.replica", name=each.name, gpus=amount(each.gpus, "GPU"), why=why)
        for each in made
        if (why := why_size(each))
    ]
    sentences += [
        f"{each.name}: {sentence[0].lower()}{sentence[1:]}"
        for each in made
        for sentence in [started(traffic_of(plan, each.id))]
    ]
    sentences += [
        said("demand.job", name=each.name, gpus=amount(each.gpus * each.hosts, "GPU"), why=why)
        for each, why in jobs
        if why
    ]
    served, tuned = (
        tabled(serving(plan), caption=said("demand.table llm serving")),
        tabled(tuning(plan), caption=said("demand.table fine tuning")),
    )
    sentences += [f"{each.name}: {why_share(each)}." for each in plan.llm.retrieval.values()]
    found = tabled(retrieval(plan), caption=said("demand.table embeddings and rag"))
    return [*([Paragraph(" ".join(sentences))] if sentences else []), *served, *tuned, *found]


def _method(plan: Plan) -> str:
    needed, stated = plan.lines["demand.groups_gpus"].value, plan.scenario.demand.stated_gpus
    text = said("demand.the groups need", promise=promise(plan), gpus=amount(whole(needed), "GPU"))
    if stated is None:
        return text
    if stated == needed:
        return said("demand.the customer states the", text=text)
    return said(
        "demand.the customer states another", text=text, stated=stated, gpus=whole(plan.totals.gpus_demanded)
    )


def _day(plan: Plan) -> list[Block]:
    from gpuplan.report import charts

    week = week_demand(plan)[0]
    return drawn(
        charts.day_svg(plan),
        said("demand.day figure"),
        said("demand.day figure alt", gpus=number(round(week.peak_gpus, 1))),
    )


def _enough(plan: Plan, cite: Citations) -> list[Block]:
    from gpuplan.report import charts

    asked, blocks = plan.scenario.demand, list[Block]()
    if chances := waits(plan):
        now, after = chances
        aim = said("demand.no target", chance=stated_percent(asked.chance))
        if asked.rule in RISKS:
            aim = said("demand.the target is", target=Target.of(plan.scenario).words)
        sources = cite(plan.lines["totals.waiting"].sources)
        text = Figures(plan).said(
            "demand.the plan covers the", now=now, after=after, aim=aim, sources=sources
        )
        blocks.append(Paragraph(text))
    blocks += drawn(
        charts.waiting_svg(plan),
        said("demand.enough figure"),
        said("demand.enough figure alt"),
    )
    blocks += tabled(rules(rule_answers(plan)))
    if plan.pools and any(g.pool == plan.pools[0].kind and g.mode for g in plan.groups):
        known = methods(plan, plan.pools[0].kind)
        blocks.append(
            Paragraph(
                said(
                    "demand.closest to this work",
                    method=METHOD_NAMES[known.believe].lower(),
                ),
                "note",
            )
        )
    return blocks
