"""The logical design: domains and clusters in a drawing, the workloads, and the effects of their access to GPUs.

A statement that holds for several workloads appears once, with all their names.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from gpuplan.deliver.document.blocks import Block, Bullets, Chapter, Paragraph, chapter, section
from gpuplan.deliver.document.writing import MOST_ROWS, Citations, and_more, drawn, grid_of, tabled, vms
from gpuplan.plan import Plan
from gpuplan.plan.access import GroupPlan, Reason
from gpuplan.report.tables.plan import groups
from gpuplan.wording import MODE_NAMES, number, said, some_of


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
        said("logical.no gpu", vms=vms(each.vms), group=group.name, reason=each.reason.removesuffix("."))
        for group in plan.groups
        for each in group.unplaced
    ]
    return [Bullets(tuple(points[:MOST_ROWS])), *and_more(len(points) - MOST_ROWS)] if points else []


def _said_once(
    found: Sequence[GroupPlan], what: str, cite: Citations, key: str = "logical.reason"
) -> list[str]:
    """The reasons of some workloads, those that hold for the same ones in one point."""
    held: dict[str, tuple[Reason, dict[str, None], dict[str, None]]] = {}
    for group in found:
        for reason in getattr(group, what):
            _, modes, names = held.setdefault(reason.text, (reason, {}, {}))
            modes[MODE_NAMES[group.mode]], names[group.name] = None, None
    points: dict[tuple[tuple[str, ...], tuple[str, ...]], list[str]] = {}
    for text, (reason, modes, names) in held.items():
        points.setdefault((tuple(modes), tuple(names)), []).append(text + cite(reason.sources))
    return [
        said(
            key,
            mode=", ".join(modes),
            names=names,
            text=" ".join(texts),
        )
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
    shown = sorted(rows.items(), key=lambda item: order.index(item[0][0]))
    told = [
        (
            feature,
            said(f"logical.verdict {verdict}"),
            _whom(plan, held),
            text + cite(sources[feature, verdict, text]),
        )
        for (feature, verdict, text), held in shown
    ]
    heads = tuple(said(f"logical.features.{key}") for key in ("feature", "verdict", "workloads", "text"))
    return grid_of(said("logical.features"), heads, told, widths=(0.15, 0.11, 0.26, 0.48))


def _whom(plan: Plan, held: Iterable[GroupPlan]) -> str:
    names = [group.name for group in held]
    return said("logical.all") if len(names) == len(plan.groups) > 1 else some_of(names)


def _rejected(plan: Plan, cite: Citations) -> list[Block]:
    """The modes that were not chosen, each reason once."""
    held: dict[tuple[str, bool, str], tuple[tuple[str, ...], list[GroupPlan]]] = {}
    for group in plan.groups:
        for each in group.ruled_out:
            held.setdefault((each.mode, each.possible, each.reason.text), (each.reason.sources, []))[
                1
            ].append(group)
    rows = [
        (MODE_NAMES[mode], number(possible), _whom(plan, groups), text + cite(sources))
        for (mode, possible, text), (sources, groups) in sorted(held.items(), key=lambda item: item[0][0])
    ]
    heads = tuple(said(f"logical.rejected.{key}") for key in ("mode", "possible", "workloads", "why"))
    return grid_of(said("logical.rejected"), heads, rows, widths=(0.15, 0.1, 0.27, 0.48))
