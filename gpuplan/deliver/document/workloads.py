"""The logical design: domains and clusters in a drawing, the workloads, and the effects of their access to GPUs.

A statement that holds for several workloads appears once, with all their names.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from gpuplan.analysis.demand import methods, rule_answers, week_demand
from gpuplan.analysis.llm_traffic import traffic_of
from gpuplan.deliver.document.blocks import Block, Bullets, Chapter, Paragraph, chapter, section
from gpuplan.deliver.document.requirements import promise
from gpuplan.deliver.document.writing import MOST_ROWS, Citations, and_more, drawn, grid_of, tabled, vms
from gpuplan.plan import Plan
from gpuplan.plan.access import GroupPlan, Reason
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
from gpuplan.wording import METHOD_NAMES, MODE_NAMES, amount, number, said, some_of, stated_percent, whole


def access_chapter(plan: Plan, cite: Citations) -> Chapter:
    """The logical design."""
    from gpuplan.report.architecture import logical_svg

    title = said("logical.title")
    if not plan.groups and not plan.pools:
        return Chapter(title, (Paragraph(said("logical.nothing")),))
    table = groups(plan).only("group", "use_case", "people", "vms", "gpus_each", "access", "profile")
    return chapter(
        title,
        Paragraph(said("logical.lead")),
        drawn(logical_svg(plan), said("logical.figure"), said("logical.about", clusters=len(plan.pools)))
        if plan.pools
        else None,
        section(said("logical.workloads"), tabled(table, caption=said("logical.workloads"))),
        section(said("logical.access"), _reasons(plan, cite)),
        section(said("logical.features"), _features(plan, cite)),
        section(said("logical.rejected"), _rejected(plan, cite)),
    )


def _reasons(plan: Plan, cite: Citations) -> list[Block]:
    """Say why each workload has its kind of GPU access, and what speaks against it; shared reasons appear once."""
    points = [
        *_said_once(plan.groups, "reasons", cite),
        *_said_once(plan.groups, "against", cite, "logical.against"),
    ]
    points += [
        said("logical.no gpu", vms=vms(case.vms), group=group.name, reason=case.reason.removesuffix("."))
        for group in plan.groups
        for case in group.unplaced
    ]
    return [Bullets(tuple(points[:MOST_ROWS])), *and_more(len(points) - MOST_ROWS)] if points else []


def _said_once(
    found: Sequence[GroupPlan], what: str, cite: Citations, key: str = "logical.reason"
) -> list[str]:
    """The reasons of some workloads, those that hold for the same ones in one point."""
    by_text: dict[str, tuple[Reason, dict[str, None], dict[str, None]]] = {}
    for group in found:
        for reason in getattr(group, what):
            _, modes, names = by_text.setdefault(reason.text, (reason, {}, {}))
            modes[MODE_NAMES[group.mode]], names[group.name] = None, None
    points: dict[tuple[tuple[str, ...], tuple[str, ...]], list[str]] = {}
    for text, (reason, modes, names) in by_text.items():
        points.setdefault((tuple(modes), tuple(names)), []).append(text + cite(reason.sources))
    return [
        said(key, mode=", ".join(modes), names=names, text=" ".join(texts))
        for (modes, names), texts in points.items()
    ]


def _features(plan: Plan, cite: Citations) -> list[Block]:
    """Say what each feature of vSphere does for the workloads; identical ones share a row."""
    rows: dict[tuple[str, str, str], list[GroupPlan]] = {}
    sources: dict[tuple[str, str, str], dict[str, None]] = {}
    for group in plan.groups:
        for trait in group.traits:
            key = (trait.feature, trait.verdict, trait.text)
            rows.setdefault(key, []).append(group)
            sources.setdefault(key, {}).update(dict.fromkeys(trait.sources))
    order = list(dict.fromkeys(feature for feature, _, _ in rows))
    lines = []
    for key, affected in sorted(rows.items(), key=lambda item: order.index(item[0][0])):
        feature, verdict, text = key
        words = (feature, said(f"logical.verdict {verdict}"), _whom(plan, affected))
        lines.append((*words, text + cite(sources[key])))
    heads = tuple(said(f"logical.features.{key}") for key in ("feature", "verdict", "workloads", "text"))
    return grid_of(said("logical.features"), heads, lines, widths=(0.15, 0.11, 0.26, 0.48))


def _whom(plan: Plan, held: Iterable[GroupPlan]) -> str:
    names = [group.name for group in held]
    return said("logical.all") if len(names) == len(plan.groups) > 1 else some_of(names)


def _rejected(plan: Plan, cite: Citations) -> list[Block]:
    """The modes that were not chosen, each reason once."""
    merged: dict[tuple[str, bool, str], tuple[tuple[str, ...], list[GroupPlan]]] = {}
    for group in plan.groups:
        for other in group.ruled_out:
            _, affected = merged.setdefault(
                (other.mode, other.possible, other.reason.text), (other.reason.sources, [])
            )
            affected.append(group)
    rows = [
        (MODE_NAMES[mode], number(possible), _whom(plan, groups), text + cite(sources))
        for (mode, possible, text), (sources, groups) in sorted(merged.items(), key=lambda item: item[0][0])
    ]
    heads = tuple(said(f"logical.rejected.{key}") for key in ("mode", "possible", "workloads", "why"))
    return grid_of(said("logical.rejected"), heads, rows, widths=(0.15, 0.1, 0.27, 0.48))


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
    models = [model for model in plan.llm.serving.values() if model.replicas]
    sentences = [
        said("demand.replica", name=model.name, gpus=amount(model.gpus, "GPU"), why=why)
        for model in models
        if (why := why_size(model))
    ]
    starts = [(model.name, started(traffic_of(plan, model.id))) for model in models]
    sentences += [f"{name}: {sentence[0].lower()}{sentence[1:]}" for name, sentence in starts]
    sentences += [
        said("demand.job", name=model.name, gpus=amount(model.gpus * model.hosts, "GPU"), why=why)
        for model in plan.llm.tuning.values()
        if (why := why_job(model))
    ]
    sentences += [f"{model.name}: {why_share(model)}." for model in plan.llm.retrieval.values()]
    return [
        *([Paragraph(" ".join(sentences))] if sentences else []),
        *tabled(serving(plan), caption=said("demand.table llm serving")),
        *tabled(tuning(plan), caption=said("demand.table fine tuning")),
        *tabled(retrieval(plan), caption=said("demand.table embeddings and rag")),
    ]


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

    demand, blocks = plan.scenario.demand, list[Block]()
    if chances := waits(plan):
        now, after = chances
        aim = said("demand.no target", chance=stated_percent(demand.chance))
        if demand.rule in RISKS:
            aim = said("demand.the target is", target=Target.of(plan.scenario).words)
        sources = cite(plan.lines["totals.waiting"].sources)
        text = Figures(plan).said(
            "demand.the plan covers the", now=now, after=after, aim=aim, sources=sources
        )
        blocks.append(Paragraph(text))
    blocks += drawn(charts.waiting_svg(plan), said("demand.enough figure"), said("demand.enough figure alt"))
    blocks += tabled(rules(rule_answers(plan)))
    if plan.pools and any(g.pool == plan.pools[0].kind and g.mode for g in plan.groups):
        study = methods(plan, plan.pools[0].kind)
        blocks.append(
            Paragraph(said("demand.closest to this work", method=METHOD_NAMES[study.believe].lower()), "note")
        )
    return blocks
