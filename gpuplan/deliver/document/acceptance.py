"""Acceptance tests, risks with owner and date, next steps, and the record of what was built."""

from __future__ import annotations

from gpuplan.deliver.document.blocks import Chapter, Paragraph, chapter, section
from gpuplan.deliver.document.writing import MOST_ROWS, Citations, grid_of, tabled
from gpuplan.deliver.executive import OWNERS, actions, due
from gpuplan.locales import written_day
from gpuplan.plan import Plan
from gpuplan.plan.checks import check_plan
from gpuplan.report.figures import what_to_do
from gpuplan.report.tables.build import acceptance, as_built
from gpuplan.wording import NAMES, said

LEVELS = NAMES["level"]
MOST_BUILT = 32


def acceptance_chapter(plan: Plan, cite: Citations) -> Chapter:
    """What is tried before hand-over, with what the plan expects."""
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
    """What may go wrong or is open, who acts on it and by when."""
    found = check_plan(plan)
    rows = [
        (
            f"K{n}",
            LEVELS[m.level],
            m.text + cite(m.sources),
            what_to_do(m),
            OWNERS[m.owner],
            written_day(due(plan, m.days, decided=m.owner == "customer")),
        )
        for n, m in enumerate(found, 1)
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
