"""The chapter on designs that were considered beside this one."""

from __future__ import annotations

from dataclasses import replace

from gpuplan.analysis.compare import Comparison
from gpuplan.catalog import Catalog
from gpuplan.deliver.document.blocks import Bullets, Chapter, Paragraph, chapter
from gpuplan.deliver.document.writing import tabled
from gpuplan.report.tables.sensitivity import compared
from gpuplan.wording import said


def compared_chapter(found: Comparison, catalog: Catalog) -> Chapter:
    """What differs between this design and others: a sentence for each result, then inputs and results side by side."""
    sentences = [each.sentence for each in found.differences]
    table = replace(compared(found, catalog).without("differs"), notes=())
    return chapter(
        said("compared.title"),
        Paragraph(sentences[0] if sentences else said("compared.the designs have the"), "lead"),
        Bullets(tuple(sentences[1:])) if sentences[1:] else None,
        *(Paragraph(note, "note") for note in found.notes),
        tabled(table, caption=said("compared.table inputs that differ and")),
    )
