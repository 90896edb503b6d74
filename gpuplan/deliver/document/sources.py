"""Acceptance tests, risks with owner and date, design decisions, and the sources and figures that the design rests on."""

from __future__ import annotations

from collections import Counter

from gpuplan.deliver.document.blocks import (
    Block,
    Chapter,
    DecisionBlock,
    Paragraph,
    References,
    chapter,
    section,
)
from gpuplan.deliver.document.writing import BASIS_MEANS, MOST_ROWS, Citations, grid_of, tabled
from gpuplan.deliver.executive import OWNERS, actions, due
from gpuplan.facts import BASES
from gpuplan.locales import written_day
from gpuplan.plan import Plan
from gpuplan.plan.checks import check_plan
from gpuplan.plan.known import inputs
from gpuplan.plan.trail import Line
from gpuplan.report.figures import what_to_do
from gpuplan.report.tables.build import acceptance, as_built
from gpuplan.wording import BASIS_WORDS, NAMES, amount, basis_word, capital, number, percent, said, watts

LEVELS = NAMES["level"]
MOST_BUILT = 32


def acceptance_chapter(plan: Plan, cite: Citations) -> Chapter:
    """Write the chapter of acceptance tests before hand-over, with the results that the plan expects."""
    title = said("acceptance.title")
    if not plan.pools:
        return Chapter(title, (Paragraph(said("acceptance.nothing")),))
    return chapter(
        title,
        Paragraph(said("acceptance.lead")),
        tabled(acceptance(plan), cite, widths=(0.06, 0.12, 0.28, 0.32, 0.12, 0.1)),
        section(
            said("acceptance.as built"),
            tabled(as_built(plan, MOST_BUILT), widths=(0.22, 0.22, 0.19, 0.19, 0.18)),
        ),
    )


def risks_chapter(plan: Plan, cite: Citations) -> Chapter:
    """Write the chapter of risks and open points, with owners and due dates."""
    messages = check_plan(plan)
    rows = [
        (
            f"K{n}",
            LEVELS[m.level],
            m.text + cite(m.sources),
            what_to_do(m),
            OWNERS[m.owner],
            written_day(due(plan, m.days, decided=m.owner == "customer")),
        )
        for n, m in enumerate(messages, 1)
    ]
    heads = (
        said("table.number"),
        *(said(f"risks.{key}") for key in ("weight", "risk", "action")),
        said("table.owner"),
        said("table.due"),
    )
    open_points = len(actions(plan))
    return chapter(
        said("risks.title"),
        Paragraph(said("risks.lead", count=open_points)) if rows else Paragraph(said("risks.nothing")),
        grid_of(
            said("risks.title"), heads, rows, widths=(0.06, 0.11, 0.36, 0.24, 0.11, 0.12), most=2 * MOST_ROWS
        ),
    )


MOST_CITED = 4
"""Most sources named for a decision: its own, and the first behind its numbers, which the tables cite."""
MOST_SOURCES = 140
"""Most sources, as two pages hold."""
HEADLINE = ("demand.gpus", "power.typical", "power.peak", "cost.net_present")
"""Main results beside the totals."""


def decisions_chapter(plan: Plan, cite: Citations) -> Chapter:
    """The design decisions in full."""
    blocks: tuple[Block, ...] = tuple(
        DecisionBlock(
            d.number, d.title, d.decision, d.justification, f"{d.implication}{cite(d.sources[:MOST_CITED])}"
        )
        for d in plan.decisions
    )
    return Chapter(said("decisions.title"), blocks or (Paragraph(said("decisions.nothing")),))


def sources_chapter(plan: Plan, cite: Citations) -> Chapter:
    """Write the chapter about the certainty of the numbers, and the cited sources."""
    counts = Counter(i.basis for i in inputs(plan).values())
    stated = [basis for basis in BASES if counts[basis]]
    bases = [(capital(BASIS_WORDS[name]), BASIS_MEANS[name], number(counts[name])) for name in stated]
    lines = [line for key, line in plan.lines.items() if key.startswith("totals.") or key in HEADLINE]
    headline = [(line.label, _result(line), basis_word(line.basis)) for line in lines]
    heads = tuple(said(f"sources.bases.{key}") for key in ("basis", "means", "count"))
    kinds = grid_of(said("sources.bases"), heads, bases, right=(2,), widths=(0.24, 0.62, 0.14))
    heads = tuple(said(f"sources.results.{key}") for key in ("result", "value", "weakest"))
    results = grid_of(said("sources.results"), heads, headline, right=(1,))
    return chapter(
        said("sources.title"),
        section(said("sources.known"), Paragraph(said("sources.how")), kinds, results),
        section(said("sources.list"), _references(plan, cite) or Paragraph(said("sources.none"))),
    )


def _references(plan: Plan, cite: Citations) -> list[Block]:
    """The sources by title, producer and year; of very many those that are cited first."""
    cited = [(str(n), _titled(plan, id)) for id, n in cite.numbers.items()]
    left = len(cited) - MOST_SOURCES
    more = [Paragraph(said("sources.more", count=left), "note")] if left > 0 else []
    return [References(tuple(cited[:MOST_SOURCES])), *more] if cited else []


def _titled(plan: Plan, id: str) -> str:
    source = plan.catalog.sources[id]
    origin = ", ".join(filter(None, (source.producer, (source.published or "")[:4])))
    return ". ".join(filter(None, (source.title, origin)))


def _result(line: Line) -> str:
    """A main result, as other chapters show it."""
    if line.unit == "%":
        return percent(line.value / 100)
    return watts(line.value) if line.unit == "W" else amount(line.value, line.unit)
