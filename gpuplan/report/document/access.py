"""Chapter 3: how each group reaches a GPU, with the reasons."""

from __future__ import annotations

from gpuplan.plan import Plan
from gpuplan.plan.access import GroupPlan
from gpuplan.report.document.blocks import Block, Bullets, Chapter, Paragraph, chapter, section
from gpuplan.report.document.summary import vms
from gpuplan.report.document.writing import Citations, grid_of, tabled
from gpuplan.report.tables.plan import groups
from gpuplan.wording import MODE_NAMES, number

MOST_GROUPS = 20
"""Groups whose access is reasoned in full."""


def access_chapter(plan: Plan, cite: Citations) -> Chapter:
    """Chapter 3: how each group reaches a GPU, and why."""
    title = "Workloads and access"
    if not plan.groups:
        return Chapter(title, (Paragraph("No workload group is described yet."),))
    table = groups(plan).only("group", "use_case", "people", "vms", "gpus_each", "access", "profile")
    lead = (
        "A workload is a group of users or jobs of one kind. How a group reaches its GPUs follows from what it needs, from the "
        "GPU and from the vSphere version."
    )
    left = f"The access of {number(len(plan.groups) - MOST_GROUPS)} groups more is in the workbook."
    return chapter(
        title,
        Paragraph(lead),
        tabled(table, caption="Workload groups"),
        (section(group.name, _reasons(group, cite)) for group in plan.groups[:MOST_GROUPS]),
        section("Other groups", Paragraph(left)) if len(plan.groups) > MOST_GROUPS else None,
    )


def _reasons(group: GroupPlan, cite: Citations) -> list[Block]:
    why = " ".join(r.text + cite(r.sources) for r in group.reasons)
    blocks: list[Block] = [Paragraph(f"{MODE_NAMES[group.mode]}. {why}".strip())]
    if group.against:
        costs = " ".join(r.text + cite(r.sources) for r in group.against)
        blocks.append(Paragraph(f"What speaks against it: {costs}"))
    if group.profile_reason:
        blocks.append(Paragraph(f"Profile {group.profile}: {group.profile_reason.removesuffix('.')}."))
    kept = [t.feature for t in group.traits if t.verdict == "yes"]
    if kept:
        blocks.append(Paragraph(f"Keeps {', '.join(kept)}."))
    limits = [f"{t.feature}: {t.text}{cite(t.sources)}" for t in group.traits if t.verdict != "yes"]
    if limits:
        blocks += [Paragraph("What it gives up, or has within limits:"), Bullets(tuple(limits))]
    rows = [
        (
            MODE_NAMES[r.mode],
            number(r.possible),
            r.reason.text + cite(r.reason.sources),
        )
        for r in group.ruled_out
    ]
    blocks += grid_of(
        f"{group.name}: rejected options",
        ("Access mode", "Possible", "Why not"),
        rows,
        widths=(0.22, 0.16, 0.62),
    )
    blocks += [
        Paragraph(f"{vms(missing.vms)} no GPU: {missing.reason.removesuffix('.')}.", "note")
        for missing in group.unplaced
    ]
    return blocks
