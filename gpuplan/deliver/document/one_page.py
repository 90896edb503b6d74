"""The executive brief on its one page: as many rows of each table as fit."""

import re
from collections.abc import Iterable
from dataclasses import replace
from math import ceil
from typing import NamedTuple

from gpuplan.deliver.document.blocks import Chapter, Document, Figure, Grid, KeyFigures, Paragraph, Section
from gpuplan.deliver.document.brief import SIDES, Page
from gpuplan.deliver.document.chapters import BRIEF, chapter_of
from gpuplan.deliver.document.front import made_with
from gpuplan.deliver.executive import Executive, document_day, edition
from gpuplan.locales import spoken
from gpuplan.plan import Plan
from gpuplan.report.drawing import SIZE, text_width, wrapped
from gpuplan.report.figures import paper_of
from gpuplan.wording import said

TOP = 19
"""Margin above the text. [mm]"""
PAGES = {"": (493.0, 727.0), "a4": (493.0, 727.0), "letter": (510.0, 677.0)}
"""Paper -> width and height of its text in points."""
POINTS = {"title": 22.0, "lead": 11.0, "value": 20.0}
"""Size of text in points, where it is not that of a table."""
SMALL, LEADING, MARGIN, HEAD, GAP, RULE = 9.5, 1.22, 4.0, 30.0, 14.0, 5.0
"""Size of the text of tables, height of a line over its size, margin of a cell, height of a heading, a gap and a rule with their room."""
NARROW = {"Calibri": 0.76}
"""Font -> width of its letters over those by which text is measured, where they are narrower."""
ROWS = (
    *((4, 3, 5), (4, 3, 4), (4, 3, 3), (3, 3, 3), (3, 2, 3), (2, 2, 3), (2, 1, 3), (1, 1, 3)),
    *((1, 1, 2), (1, 1, 1), (0, 1, 1), (0, 0, 1)),
)
"""Alternatives, assumptions and decisions, from those that an executive wants to those that have room on any page."""
PAIRS = (("brief.pay", "brief.survives"), ("brief.uncertain", "brief.needs"))
"""Sections that stand side by side."""


@spoken
def executive_brief(plan: Plan, summary: Executive, *, font: str) -> Document:
    """The brief of a plan, with as many rows as fit on its page in a font."""
    page, paper = Page(plan), paper_of(plan)
    measure = Measure(PAGES[paper][0], NARROW.get(font, 1.0))
    for choices, drivers, most in ROWS:
        shown = replace(summary, choices=summary.choices[:choices], drivers=summary.drivers[:drivers])
        page.summary, page.most = replace(shown, most_decisions=most), most
        chapter = chapter_of(BRIEF, page)
        bands = _bands(chapter.sections)
        blocks = (measure.block(block, measure.width) for block in chapter.blocks)
        if sum(blocks) + sum(map(measure.band, bands)) <= PAGES[paper][1]:
            break
    return Document(
        title=plan.scenario.name,
        customer=plan.scenario.customer,
        about=said("brief.about", **edition(plan)),
        day=document_day(plan),
        made_with=made_with(plan),
        front=chapter.blocks,
        control=(),
        chapters=bands,
        locale=plan.scenario.format.locale or "",
        paper=paper,
        layout="brief.xml.j2",
        foot=page.said("brief.foot"),
        kind=said("brief.title"),
        top=TOP,
    )


class Measure(NamedTuple):
    """Height of blocks on a page, rather more than less."""

    width: float
    narrow: float
    """Width of letters over those by which text is measured."""

    def lines(self, text: str, size: float, wide: float, *, bold: bool = False) -> float:
        """Height of a text in a width."""
        units = wide * SIZE / size / self.narrow
        return max(len(wrapped(text, units)), ceil(text_width(text, bold=bold) / units)) * size * LEADING

    def block(self, block: object, wide: float) -> float:
        """Height of a block, or of what is in a cell of a table, in a width."""
        match block:
            case Paragraph(text, tone):
                return self.lines(text, POINTS.get(tone, SMALL), wide, bold=tone == "title") + RULE
            case Figure(svg, _, _, share):
                across, tall = map(float, re.findall(r'(?:width|height)="([\d.]+)"', svg)[:2])
                return self.width * share * tall / across + RULE
            case KeyFigures(items):
                notes = (self.lines(note, SMALL, wide / len(items) - GAP) for *_, note in items)
                return POINTS["value"] * LEADING + max(notes) + GAP
            case Grid(named, rows, _, _, widths):
                shown = [named, *rows] if any(named) else rows
                lines = (zip(row, widths, strict=True) for row in shown)
                return sum(
                    max(self.block(cell, share * wide - MARGIN) for cell, share in row) + RULE
                    for row in lines
                )
            case _:
                return self.lines(str(block), SMALL, wide)

    def band(self, band: Chapter) -> float:
        """Height of a section, or of two side by side."""
        shares = SIDES if len(band.sections) > 1 else (1.0,)
        parts = zip(band.sections, shares, strict=True)
        return HEAD + max(
            sum(self.block(block, share * self.width) for block in part.blocks) for part, share in parts
        )


def _bands(sections: Iterable[Section]) -> tuple[Chapter, ...]:
    """The sections, two side by side where both fit into half of the page."""
    pairs = {(said(one), said(two)) for one, two in PAIRS}
    bands = list[Chapter]()
    for section in sections:
        if bands and (bands[-1].sections[0].title, section.title) in pairs:
            bands[-1] = replace(bands[-1], sections=(*bands[-1].sections, section))
        else:
            bands.append(Chapter("", (), (section,)))
    return tuple(bands)
