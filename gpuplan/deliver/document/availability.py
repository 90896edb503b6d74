"""Chapter 6: what failures and maintenance do."""

from __future__ import annotations

from gpuplan.deliver.document.blocks import Block, Chapter, Paragraph, chapter, section
from gpuplan.deliver.document.hosts import MOST_HOSTS
from gpuplan.deliver.document.writing import Citations, of_clusters, tabled
from gpuplan.plan import Plan
from gpuplan.report.tables.availability import failures, losses, postures
from gpuplan.report.tables.plan import clusters_alike
from gpuplan.wording import hours, said


def availability_chapter(plan: Plan, cite: Citations) -> Chapter:
    """Chapter 6: what failures and maintenance do."""
    if not plan.pools:
        return Chapter(said("availability.title"), (Paragraph(said("availability.without hosts there is")),))
    clusters = clusters_alike(plan)
    lead = said("availability.the check failed each", sentence=plan.placed.sentence)
    chosen = next((p for p in plan.postures if p.chosen), None)
    if plan.placed.state == "all" and chosen is not None and chosen.short_h > 0:
        lead += said("availability.if more hosts fail", short_h=hours(chosen.short_h))
    return chapter(
        said("availability.title"),
        Paragraph(lead, "lead"),
        section(
            said("availability.when a host fails"),
            tabled(of_clusters(plan, failures(plan, *clusters)), most=MOST_HOSTS),
            tabled(of_clusters(plan, losses(plan, *clusters))),
        ),
        section(said("availability.capacity shortfall and exposure"), _hours(plan, cite)),
    )


def _hours(plan: Plan, cite: Citations) -> list[Block]:
    sources = plan.lines["availability.host_up"].sources if "availability.host_up" in plan.lines else ()
    return [
        *tabled(postures(plan)),
        Paragraph(
            said("availability.the hours follow from", sources=cite(sources)),
            "note",
        ),
    ]
