"""The low-level design: its first page, its control and its chapters in the order in which it is built from."""

from __future__ import annotations

from dataclasses import replace

from gpuplan.analysis.compare import Comparison
from gpuplan.catalog import Catalog
from gpuplan.deliver.document import front
from gpuplan.deliver.document.blocks import Bullets, Chapter, Document, Paragraph, chapter
from gpuplan.deliver.document.cost import cost_chapter, internal_chapters
from gpuplan.deliver.document.operations import availability_chapter, operations_chapter, services_chapter
from gpuplan.deliver.document.physical import (
    hosts_chapter,
    network_chapter,
    physical_chapter,
    software_chapter,
)
from gpuplan.deliver.document.requirements import requirements_chapter
from gpuplan.deliver.document.sources import (
    acceptance_chapter,
    decisions_chapter,
    risks_chapter,
    sources_chapter,
)
from gpuplan.deliver.document.workloads import access_chapter, demand_chapter
from gpuplan.deliver.document.writing import Citations, tabled
from gpuplan.deliver.executive import Executive, document_day, executive
from gpuplan.locales import spoken
from gpuplan.plan import Plan
from gpuplan.report.figures import paper_of
from gpuplan.report.tables.sensitivity import compared
from gpuplan.wording import said


@spoken
def design_document(
    plan: Plan, compared: Comparison | None = None, *, summary: Executive | None = None
) -> Document:
    """The low-level design of a plan; one chapter more if it is compared with other designs, and one if something is internal."""
    cite = Citations(plan.catalog)
    return Document(
        title=plan.scenario.name,
        customer=plan.scenario.customer,
        about=front.about(plan),
        day=document_day(plan),
        made_with=front.made_with(plan),
        front=tuple(front.front_page(plan, summary or executive(plan))),
        control=tuple(front.control(plan)),
        chapters=(
            requirements_chapter(plan, cite),
            access_chapter(plan, cite),
            decisions_chapter(plan, cite),
            demand_chapter(plan, cite),
            hosts_chapter(plan),
            physical_chapter(plan, cite),
            software_chapter(plan, cite),
            network_chapter(plan, cite),
            services_chapter(plan, cite),
            availability_chapter(plan, cite),
            operations_chapter(plan, cite),
            acceptance_chapter(plan, cite),
            cost_chapter(plan, cite),
            *([compared_chapter(compared, plan.catalog)] if compared else []),
            risks_chapter(plan, cite),
            sources_chapter(plan, cite),
            *internal_chapters(plan),
        ),
        locale=plan.scenario.format.locale or "",
        paper=paper_of(plan),
    )


def compared_chapter(found: Comparison, catalog: Catalog) -> Chapter:
    """Compare this design with others: a sentence for each result, then inputs and results side by side."""
    sentences = [difference.sentence for difference in found.differences]
    table = replace(compared(found, catalog).without("differs"), notes=())
    return chapter(
        said("compared.title"),
        Paragraph(sentences[0] if sentences else said("compared.the designs have the"), "lead"),
        Bullets(tuple(sentences[1:])) if sentences[1:] else None,
        *(Paragraph(note, "note") for note in found.notes),
        tabled(table, caption=said("compared.table inputs that differ and")),
    )
