"""Chapters 9 and 10: design decisions, and the sources and figures that the design rests on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from gpuplan.facts import BASES
from gpuplan.plan import Plan
from gpuplan.plan.known import inputs
from gpuplan.plan.trail import Line
from gpuplan.report.document.blocks import Block, Chapter, DecisionBlock, Paragraph, chapter, section
from gpuplan.report.document.writing import BASIS_MEANS, MOST_CITED, Citations, grid_of, tabled
from gpuplan.report.tables.plan import sources
from gpuplan.wording import BASIS_WORDS, amount, basis_word, capital, number, percent, watts

MOST_SOURCES = 200
HEADLINE = ("demand.gpus", "power.typical", "power.peak", "cost.net_present")
"""Main results beside the totals."""


def decisions_chapter(plan: Plan, cite: Citations) -> Chapter:
    """Chapter 9: the design decisions in full."""
    blocks: tuple[Block, ...] = tuple(
        DecisionBlock(d.number, d.title, d.decision, d.justification, d.implication, _listed(cite, d.sources))
        for d in plan.decisions
    )
    return Chapter("Design decisions", blocks or (Paragraph("Without hosts there is nothing to decide."),))


def _listed(cite: Citations, sources: Sequence[str]) -> tuple[str, ...]:
    titles = cite.titles(sources)
    rest = cite(sources[MOST_CITED:]).strip() if len(titles) > MOST_CITED else ""
    return (*titles[:MOST_CITED], f"and {rest}") if rest else titles


def sources_chapter(plan: Plan, cite: Citations) -> Chapter:
    """Chapter 10: how well the numbers are known, and every source."""
    for line in plan.asked_lines.values():
        cite(line.sources)
    known = Counter(i.basis for i in inputs(plan).values())
    bases = [(capital(BASIS_WORDS[basis]), BASIS_MEANS[basis], number(known[basis])) for basis in BASES]
    headline = [
        (line.label, _result(line), basis_word(line.basis))
        for key, line in plan.lines.items()
        if key.startswith("totals.") or key in HEADLINE
    ]
    how = (
        "Every number is worked out from inputs of which it is recorded how they are known. A result is called after the weakest of "
        "its inputs."
    )
    kinds = grid_of(
        "Inputs of this design, by how they are known",
        ("Known how", "What it means", "Inputs"),
        bases,
        right=(2,),
        widths=(0.24, 0.62, 0.14),
    )
    heads = ("Result", "Value", "Weakest input")
    results = grid_of("The main results and their weakest input", heads, headline, right=(1,))
    widths = (0.05, 0.34, 0.17, 0.11, 0.33)
    listed = tabled(sources(plan, cite.numbers), widths=widths, most=MOST_SOURCES)
    return chapter(
        "Sources, and how numbers are known",
        section("How numbers are known", Paragraph(how), kinds, results),
        section("Sources", listed or Paragraph("No source is cited.")),
    )


def _result(line: Line) -> str:
    """A main result, as other chapters show it."""
    if line.unit == "%":
        return percent(line.value / 100)
    return watts(line.value) if line.unit == "W" else amount(line.value, line.unit)
