"""The workloads, each statement once: how they reach GPUs, what that means for them, and their demand."""

from collections.abc import Iterable

from gpuplan.analysis.demand import methods, rule_answers
from gpuplan.analysis.llm_traffic import traffic_of
from gpuplan.deliver.document.blocks import MOST_ROWS, Block, Bullets, Draft, and_more
from gpuplan.deliver.document.requirements import promise
from gpuplan.plan.access import GroupPlan, Reason
from gpuplan.plan.llm.retrieval import why_share
from gpuplan.plan.llm.serving import why_size
from gpuplan.plan.llm.tuning import why_job
from gpuplan.plan.sizing_rule import Target
from gpuplan.report.figures import waits
from gpuplan.report.llm_report import started
from gpuplan.report.table import Table, columns
from gpuplan.report.tables import demand
from gpuplan.scenario import RISKS
from gpuplan.wording import (
    METHOD_NAMES,
    MODE_NAMES,
    NAMES,
    amount,
    number,
    said,
    some_of,
    stated_percent,
    whole,
)

VERDICTS = NAMES["verdict on a feature"]


def reasons(draft: Draft) -> list[Block]:
    """Say why each workload has its kind of GPU access, and what speaks against it; shared reasons appear once."""
    sides = (("reasons", "logical.reason"), ("against", "logical.against"))
    points = [point for side in sides for point in _said_once(draft, *side)]
    points += [
        said("logical.no gpu", vms=case.vms, group=group.name, reason=case.reason.removesuffix("."))
        for group in draft.plan.groups
        for case in group.unplaced
    ]
    return [Bullets(tuple(points[:MOST_ROWS])), *and_more(len(points) - MOST_ROWS)] if points else []


def _said_once(draft: Draft, what: str, key: str) -> list[str]:
    """The reasons of the workloads, those that hold for the same ones in one point."""
    by_text: dict[str, tuple[Reason, dict[str, None], dict[str, None]]] = {}
    for group in draft.plan.groups:
        for reason in getattr(group, what):
            _, modes, names = by_text.setdefault(reason.text, (reason, {}, {}))
            modes[MODE_NAMES[group.mode]], names[group.name] = None, None
    points: dict[tuple[tuple[str, ...], tuple[str, ...]], list[str]] = {}
    for text, (reason, modes, names) in by_text.items():
        points.setdefault((tuple(modes), tuple(names)), []).append(text + draft.cite(reason.sources))
    return [
        said(key, mode=", ".join(modes), names=names, text=" ".join(texts))
        for (modes, names), texts in points.items()
    ]


def features(draft: Draft) -> Table:
    """Say what each feature of vSphere does for the workloads; identical ones share a row."""
    rows: dict[tuple[str, str, str], list[GroupPlan]] = {}
    sources: dict[tuple[str, str, str], dict[str, None]] = {}
    for group in draft.plan.groups:
        for trait in group.traits:
            key = (trait.feature, trait.verdict, trait.text)
            rows.setdefault(key, []).append(group)
            sources.setdefault(key, {}).update(dict.fromkeys(trait.sources))
    order = list(dict.fromkeys(feature for feature, _, _ in rows))
    lines = tuple(
        (key[0], VERDICTS[key[1]], _whom(draft, affected), key[2] + draft.cite(sources[key]))
        for key, affected in sorted(rows.items(), key=lambda item: order.index(item[0][0]))
    )
    return Table("kept_features", columns("kept_features"), lines, title=said("logical.features"))


def _whom(draft: Draft, affected: Iterable[GroupPlan]) -> str:
    names = [group.name for group in affected]
    return said("logical.all") if len(names) == len(draft.plan.groups) > 1 else some_of(names)


def rejected(draft: Draft) -> Table:
    """The modes that were not chosen, each reason once."""
    merged: dict[tuple[str, bool, str], tuple[tuple[str, ...], list[GroupPlan]]] = {}
    for group in draft.plan.groups:
        for other in group.ruled_out:
            key = (other.mode, other.possible, other.reason.text)
            merged.setdefault(key, (other.reason.sources, []))[1].append(group)
    rows = tuple(
        (MODE_NAMES[mode], number(possible), _whom(draft, affected), text + draft.cite(sources))
        for (mode, possible, text), (sources, affected) in sorted(merged.items(), key=lambda item: item[0][0])
    )
    return Table("modes_not_chosen", columns("modes_not_chosen"), rows, title=said("logical.rejected"))


def language_models(draft: Draft) -> str:
    """Describe the needs of language models, and the reason for the GPUs of each replica."""
    plan = draft.plan
    models = [model for model in plan.llm.serving.values() if model.replicas]
    sized = [(model, why) for model in models if (why := why_size(model))]
    sentences = [said("demand.replica", name=m.name, gpus=amount(m.gpus, "GPU"), why=why) for m, why in sized]
    starts = [(model.name, started(traffic_of(plan, model.id))) for model in models]
    sentences += [f"{name}: {sentence[0].lower()}{sentence[1:]}" for name, sentence in starts]
    sentences += [
        said("demand.job", name=model.name, gpus=amount(model.gpus * model.hosts, "GPU"), why=why)
        for model in plan.llm.tuning.values()
        if (why := why_job(model))
    ]
    sentences += [f"{model.name}: {why_share(model)}." for model in plan.llm.retrieval.values()]
    return " ".join(sentences)


def method(draft: Draft) -> str:
    """Say what the sizing rule promises, what it takes, and what the customer states."""
    plan = draft.plan
    needed, stated = plan.lines["demand.groups_gpus"].value, plan.scenario.demand.stated_gpus
    text = said("demand.the groups need", promise=promise(plan), gpus=amount(whole(needed), "GPU"))
    if stated is None:
        return text
    if stated == needed:
        return said("demand.the customer states the", text=text)
    gpus = whole(plan.totals.gpus_demanded)
    return said("demand.the customer states another", text=text, stated=stated, gpus=gpus)


def waiting(draft: Draft) -> str:
    """The probability of waiting beyond the plan; empty without requests."""
    if not (chances := waits(draft.plan)):
        return ""
    inputs = draft.plan.scenario.demand
    aim = said("demand.no target", chance=stated_percent(inputs.chance))
    if inputs.rule in RISKS:
        aim = said("demand.the target is", target=Target.of(draft.plan.scenario).words)
    sources = draft.cite(draft.plan.lines["totals.waiting"].sources)
    now, after = chances
    return draft.said("demand.the plan covers the", now=now, after=after, aim=aim, sources=sources)


def rules(draft: Draft) -> Table:
    """GPUs by sizing rule."""
    return demand.rules(rule_answers(draft.plan))


def closest(draft: Draft) -> str:
    """Name the assumption about arrivals that is closest to this work."""
    plan = draft.plan
    if not plan.pools or not any(g.pool == plan.pools[0].kind and g.mode for g in plan.groups):
        return ""
    study = methods(plan, plan.pools[0].kind)
    return said("demand.closest to this work", method=METHOD_NAMES[study.believe].lower())
