"""Chapter 6: what failures and maintenance do."""

from __future__ import annotations

from gpuplan.plan import Plan
from gpuplan.report.document.blocks import Block, Chapter, Paragraph, chapter, section
from gpuplan.report.document.hosts import MOST_HOSTS
from gpuplan.report.document.summary import vms
from gpuplan.report.document.writing import Citations, grid_of, tabled
from gpuplan.report.tables.plan import clusters_alike, failures, losses, postures
from gpuplan.wording import MODE_NAMES, hours


def availability_chapter(plan: Plan, cite: Citations) -> Chapter:
    """Chapter 6: what failures and maintenance do."""
    if not plan.pools:
        return Chapter("Availability", (Paragraph("Without hosts nothing can fail."),))
    totals, clusters = plan.totals, clusters_alike(plan)
    lost = totals.unplaced_vms_after_failure
    lead = (
        f"After the worst failure of one host {vms(lost)} no GPU."
        if lost
        else "Every VM was placed again after the loss of each host in turn; nobody is left without a GPU."
    )
    chosen = next((p for p in plan.postures if p.chosen), None)
    if not lost and chosen is not None and chosen.short_h > 0:
        lead += f" More hosts that fail at once leave somebody without a GPU: {hours(chosen.short_h)} a year are to be expected."
    return chapter(
        "Availability",
        Paragraph(lead, "lead"),
        section(
            "When a host fails",
            tabled(failures(plan, *clusters), most=MOST_HOSTS),
            tabled(losses(plan, *clusters)),
        ),
        section("Hours at risk", _hours(plan, cite)),
        section("Maintenance", _maintenance(plan)),
    )


def _hours(plan: Plan, cite: Citations) -> list[Block]:
    sources = plan.lines["availability.host_up"].sources if "availability.host_up" in plan.lines else ()
    return [
        *tabled(postures(plan)),
        Paragraph(
            "Short by failures: expected hours of a year in which somebody has no GPU. The hours rest on how often a host fails and how "
            f"long its repair takes.{cite(sources)}",
            "note",
        ),
    ]


def _maintenance(plan: Plan) -> list[Block]:
    stand = plan.scenario.availability
    text = (
        "A failure during maintenance is accepted: the spare host is also the one that stands in for a host in maintenance."
        if stand.maintenance_failure_accepted
        else "A failure during maintenance is not accepted: a host more stands in for the one in maintenance."
    )
    rows = [
        (g.name, MODE_NAMES[g.mode], t.text, "no vMotion" if g.stun_s is None else f"{round(g.stun_s)} s")
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
