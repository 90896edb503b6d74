"""Chapter 6: what failures and maintenance do."""

from __future__ import annotations

from collections.abc import Sequence

from gpuplan.plan import Plan
from gpuplan.plan.access import GroupPlan
from gpuplan.plan.hosts import Pool
from gpuplan.report.document.blocks import Block, Chapter, Paragraph, chapter, section
from gpuplan.report.document.hosts import MOST_HOSTS
from gpuplan.report.document.writing import Citations, grid_of, tabled
from gpuplan.report.tables import rehearsal
from gpuplan.report.tables.availability import failures, losses, postures
from gpuplan.report.tables.plan import clusters_alike
from gpuplan.report.tables.vsphere_rules import behaviour, hand_over
from gpuplan.wording import MODE_NAMES, hours, some_of

RULES = ("denneman-drs-placement", "denneman-gpu-modes")
"""Where the rules of placement are described."""


def availability_chapter(plan: Plan, cite: Citations) -> Chapter:
    """Chapter 6: what failures and maintenance do."""
    if not plan.pools:
        return Chapter("Availability", (Paragraph("Without hosts nothing can fail."),))
    clusters = clusters_alike(plan)
    lead = f"{plan.placed.sentence} Each host was failed in turn."
    chosen = next((p for p in plan.postures if p.chosen), None)
    if plan.placed.state == "all" and chosen is not None and chosen.short_h > 0:
        lead += f" With more hosts down at once fewer are up than the planned peak needs: {hours(chosen.short_h)} a year are to be expected."
    return chapter(
        "Availability",
        Paragraph(lead, "lead"),
        section(
            "When a host fails",
            tabled(failures(plan, *clusters), most=MOST_HOSTS),
            tabled(losses(plan, *clusters)),
        ),
        section("Capacity shortfall and exposure", _hours(plan, cite)),
        section("Maintenance", _maintenance(plan)),
        section("Upgrades, host by host", _upgrades(plan, clusters, cite)),
        section("What vSphere does by itself", tabled(behaviour(plan), cite, widths=(0.14, 0.6, 0.14, 0.12))),
        section("Checks at hand-over", tabled(hand_over(plan), cite, widths=(0.16, 0.7, 0.14))),
    )


def _hours(plan: Plan, cite: Citations) -> list[Block]:
    sources = plan.lines["availability.host_up"].sources if "availability.host_up" in plan.lines else ()
    return [
        *tabled(postures(plan)),
        Paragraph(
            f"The hours rest on how often a host fails and how long its repair takes.{cite(sources)}",
            "note",
        ),
    ]


def _stun(group: GroupPlan) -> str:
    """How long one VM stands still while it is moved."""
    if group.stun_s is None:
        return "not known" if group.stun_not_known else "no vMotion"
    return f"{round(group.stun_s)} s"


def _upgrades(plan: Plan, clusters: Sequence[Pool], cite: Citations) -> list[Block]:
    """Whether each cluster can be upgraded host by host, and who moves where."""
    found = rehearsal.rehearsals(plan, *clusters)
    several = len(plan.pools) > 1
    said = [
        f"{each.pool.name}: " * several
        + f"{rehearsal.upgrade_sentence(each)} {rehearsal.design_sentence(each)}"
        for each in found
    ]
    left_out = [
        pool.name for pool in clusters if pool.id in plan.rehearsed and plan.rehearsed[pool.id].too_large
    ]
    said += [f"{some_of(left_out)}: {rehearsal.TOO_LARGE}"] if left_out else []
    start = list(dict.fromkeys(rehearsal.start_sentence(each) for each in found))
    return [
        *(Paragraph(text) for text in said),
        *tabled(rehearsal.upgrades(plan, *clusters), most=MOST_HOSTS),
        *(Paragraph(f"{text}{cite(RULES)}", "note") for text in start),
    ]


def _maintenance(plan: Plan) -> list[Block]:
    stand = plan.scenario.availability
    text = (
        "A failure during maintenance is accepted: the failover host also covers maintenance."
        if stand.maintenance_failure_accepted
        else "A failure during maintenance is not accepted: a host more stands in for the one in maintenance."
    )
    rows = [
        (g.name, MODE_NAMES[g.mode], t.text, _stun(g))
        for g in plan.groups
        for t in g.traits
        if t.feature == "Maintenance"
    ]
    return [
        Paragraph(text),
        *grid_of(
            "What maintenance of a host means to each group",
            ("Group", "Access", "In maintenance", "VM stands still for"),
            rows,
            right=(3,),
            widths=(0.24, 0.14, 0.44, 0.18),
        ),
    ]
