"""Acceptance tests, risks with owner and date, design decisions, and the sources and figures that the design rests on."""

from collections import Counter

from gpuplan.deliver.document.blocks import Block, DecisionBlock, Draft, Paragraph, References
from gpuplan.deliver.executive import OWNERS, actions, due
from gpuplan.facts import BASES
from gpuplan.locales import written_day
from gpuplan.plan.checks import check_plan
from gpuplan.plan.known import inputs
from gpuplan.plan.trail import Line
from gpuplan.report.figures import what_to_do
from gpuplan.report.table import Table, columns
from gpuplan.wording import BASIS_WORDS, NAMES, amount, basis_word, capital, number, percent, said, watts

LEVELS, BASIS_MEANS = NAMES["level"], NAMES["meaning of basis"]
MOST_CITED = 4
"""Most sources named for a decision: its own, and the first behind its numbers, which the tables cite."""
MOST_SOURCES = 140
"""Most sources, as two pages hold."""
HEADLINE = ("demand.gpus", "power.typical", "power.peak", "cost.net_present")


def open_points(draft: Draft) -> str:
    """Count the actions that are open."""
    if not check_plan(draft.plan):
        return said("risks.nothing")
    return said("risks.lead", count=len(actions(draft.plan)))


def risks(draft: Draft) -> Table:
    """Risks and open points, with owners and due dates."""
    rows = []
    for n, m in enumerate(check_plan(draft.plan), 1):
        what, day = m.text + draft.cite(m.sources), due(draft.plan, m.days, decided=m.owner == "customer")
        rows.append((f"K{n}", LEVELS[m.level], what, what_to_do(m), OWNERS[m.owner], written_day(day)))
    return Table("open_points", columns("open_points"), tuple(rows), title=said("risks.title"))


def decisions(draft: Draft) -> list[Block]:
    """The design decisions in full."""
    blocks = list[Block]()
    for d in draft.plan.decisions:
        implication = d.implication + draft.cite(d.sources[:MOST_CITED])
        blocks.append(DecisionBlock(d.number, d.title, d.decision, d.justification, implication))
    return blocks or [Paragraph(said("decisions.nothing"))]


def bases(draft: Draft) -> Table:
    """The number of inputs of each basis."""
    counts = Counter(i.basis for i in inputs(draft.plan).values())
    rows = [(capital(BASIS_WORDS[b]), BASIS_MEANS[b], number(counts[b])) for b in BASES if counts[b]]
    return Table("inputs_by_basis", columns("inputs_by_basis"), tuple(rows), title=said("sources.bases"))


def results(draft: Draft) -> Table:
    """The main results with their weakest input."""
    lines = (line for key, line in draft.plan.lines.items() if key.startswith("totals.") or key in HEADLINE)
    rows = tuple((line.label, _result(line), basis_word(line.basis)) for line in lines)
    return Table("main_results", columns("main_results"), rows, title=said("sources.results"))


def _result(line: Line) -> str:
    """A main result, as other chapters show it."""
    if line.unit == "%":
        return percent(line.value / 100)
    return watts(line.value) if line.unit == "W" else amount(line.value, line.unit)


def references(draft: Draft) -> list[Block]:
    """The sources by title, producer and year; of very many those that are cited first."""
    cited = [(str(n), _titled(draft, id)) for id, n in draft.cite.numbers.items()]
    left = len(cited) - MOST_SOURCES
    more = [Paragraph(said("sources.more", count=left), "note")] if left > 0 else []
    return [References(tuple(cited[:MOST_SOURCES])), *more] if cited else [Paragraph(said("sources.none"))]


def _titled(draft: Draft, id: str) -> str:
    source = draft.plan.catalog.sources[id]
    origin = ", ".join(filter(None, (source.producer, (source.published or "")[:4])))
    return ". ".join(filter(None, (source.title, origin)))
