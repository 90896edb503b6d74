"""The design document: its chapters in order."""

from __future__ import annotations

from importlib.metadata import version

from gpuplan.analysis.compare import Comparison
from gpuplan.locales import spoken
from gpuplan.plan import Plan
from gpuplan.report.document.access import access_chapter
from gpuplan.report.document.availability import availability_chapter
from gpuplan.report.document.blocks import Document
from gpuplan.report.document.compared import compared_chapter
from gpuplan.report.document.cost import cost_chapter, internal_chapters
from gpuplan.report.document.demand import demand_chapter
from gpuplan.report.document.hosts import hosts_chapter
from gpuplan.report.document.network import network_chapter
from gpuplan.report.document.requirements import requirements_chapter
from gpuplan.report.document.sources import decisions_chapter, sources_chapter
from gpuplan.report.document.summary import summary_chapter
from gpuplan.report.document.writing import Citations, as_of, paper_of


@spoken
def design_document(plan: Plan, compared: Comparison | None = None) -> Document:
    """The design document of a plan: ten chapters, from the summary to the sources; one more if it is compared with other designs, and one if something is internal."""
    cite = Citations(plan.catalog)
    return Document(
        title=plan.scenario.name,
        customer=plan.scenario.customer,
        as_of=as_of(plan),
        made_with=f"gpuplan {version('gpuplan')}, catalog {plan.catalog.digest}",
        chapters=(
            summary_chapter(plan),
            requirements_chapter(plan, cite),
            access_chapter(plan, cite),
            demand_chapter(plan, cite),
            hosts_chapter(plan, cite),
            availability_chapter(plan, cite),
            network_chapter(plan, cite),
            cost_chapter(plan, cite),
            *([compared_chapter(compared, plan.catalog)] if compared else []),
            decisions_chapter(plan, cite),
            sources_chapter(plan, cite),
            *internal_chapters(plan),
        ),
        locale=plan.scenario.format.locale or "",
        paper=paper_of(plan),
    )
