"""Software: versions, drivers and firmware, VM classes with their vGPU profiles, licences, and what runs on Kubernetes."""

from __future__ import annotations

from gpuplan.deliver.document.blocks import Block, Chapter, Paragraph, chapter, section
from gpuplan.deliver.document.writing import Citations, of_clusters, tabled
from gpuplan.plan import Plan
from gpuplan.report.physical import on_kubernetes
from gpuplan.report.tables.build import licences, software, vm_classes
from gpuplan.report.tables.plan import shared_gpus
from gpuplan.wording import said


def software_chapter(plan: Plan, cite: Citations) -> Chapter:
    """What is installed in which version, and what each VM gets."""
    title = said("software.title")
    if not plan.pools:
        return Chapter(title, (Paragraph(said("software.nothing")),))
    return chapter(
        title,
        section(said("software.versions"), tabled(software(plan), cite, widths=(0.26, 0.5, 0.14, 0.1))),
        section(
            said("software.classes"),
            tabled(vm_classes(plan), widths=(0.2, 0.25, 0.11, 0.15, 0.2, 0.09)),
            tabled(of_clusters(plan, shared_gpus(plan))),
        ),
        section(said("software.licences"), tabled(licences(plan), cite)),
        section(said("software.kubernetes"), _kubernetes(plan)),
    )


def _kubernetes(plan: Plan) -> list[Block]:
    names = [group.name for group in on_kubernetes(plan)]
    return [Paragraph(said("software.on kubernetes", names=names))] if names else []
