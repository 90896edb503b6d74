"""The low-level design: its first page, its control and its chapters, as ``data/words/chapters.csv`` lays them out."""

from collections.abc import Mapping
from functools import partial
from itertools import chain
from types import SimpleNamespace
from typing import Any

from gpuplan.analysis.compare import Comparison
from gpuplan.deliver.document import brief, cost, front, physical, requirements, workloads
from gpuplan.deliver.document.blocks import (
    Block,
    Chapter,
    Content,
    Document,
    Draft,
    Figure,
    Section,
    blocks_of,
)
from gpuplan.deliver.executive import Executive, document_day
from gpuplan.facts import own_rows
from gpuplan.locales import spoken
from gpuplan.plan import Plan
from gpuplan.report import architecture, charts, diagrams, fabrics, figures, limits, solve_report, tables
from gpuplan.report.figures import has, paper_of
from gpuplan.report.table import Table
from gpuplan.report.tables import acceptance, build, orders
from gpuplan.wording import said

Row = Mapping[str, str]
ROWS: dict[str, list[dict[str, str]]] = {}
for _row in own_rows("words/chapters"):
    ROWS.setdefault(_row["title"], []).append(_row)
BRIEF = "brief.title"
"""Title of the rows that make the executive brief."""
MODULES = {
    module.__name__.rpartition(".")[2]: module
    for module in (brief, cost, front, physical, requirements, workloads)
}
DRAWN = (architecture, charts, diagrams, fabrics, figures, limits, solve_report)
TABLED = (
    tables.alternatives,
    tables.availability,
    tables.cost,
    tables.demand,
    tables.explore,
    tables.known,
    tables.models,
    tables.network,
    tables.purchases,
    tables.solve,
)
REPORT: dict[str, Any] = {
    module.__name__.rpartition(".")[2]: module
    for module in (*DRAWN, *TABLED, tables.plan, tables.platform, acceptance, build, orders)
}
"""Name of a module -> where a row finds its content: functions of a draft, and of a plan."""
REPORT["design_rows"] = SimpleNamespace(
    **{name: partial(acceptance.design_rows, name) for name in acceptance.ROWS}
)


@spoken
def design_document(
    plan: Plan, compared: Comparison | None = None, *, summary: Executive | None = None
) -> Document:
    """The low-level design of a plan; one chapter more if it is compared with other designs, and one if something is internal."""
    draft = Draft(plan)
    draft.compared, draft.summary = compared, summary or draft.summary
    cover, front_page, control, *chapters = (chapter_of(title, draft) for title in ROWS if title != BRIEF)
    return Document(
        title=plan.scenario.name,
        customer=plan.scenario.customer,
        about=front.about(plan),
        day=document_day(plan),
        made_with=front.made_with(plan),
        front=front_page.blocks,
        control=control.blocks,
        chapters=tuple(chapter for chapter in chapters if chapter.blocks or chapter.sections),
        locale=plan.scenario.format.locale or "",
        paper=paper_of(plan),
        cover=cover.blocks,
    )


def chapter_of(title: str, draft: Draft) -> Chapter:
    """A chapter by the key of its title: its own blocks, then its sections; what has no content is left out."""
    parts: dict[str, list[Block]] = {"": []}
    for row in ROWS[title]:
        if has(draft, row["needs"]):
            parts.setdefault(row["section"], []).extend(blocks_of(draft, row, _content(draft, row)))
    draft.text += repr([part for part in chain(*parts.values()) if not isinstance(part, Figure)])
    own = tuple(parts.pop(""))
    sections = tuple(Section(said(key), tuple(part)) for key, part in parts.items() if part)
    return Chapter(said(title), own, sections)


def _content(draft: Draft, row: Row) -> Content:
    """The content of a row: a text by its key, a function of the draft, or one of the report."""
    plan, of = draft.plan, row["of"]
    if row["text"]:
        return draft.said(row["text"])
    module, _, name = (row["content"] or row["report"]).partition(".")
    content: Content
    if row["content"]:
        content = getattr(MODULES[module], name)(draft)
        return content
    others = {
        "": (plan,),
        "clusters alike": (plan, *draft.alike),
        "solution": (draft.summary.solution,),
        "boards": (draft.summary.boards,),
    }
    subjects = others.get(of) or (getattr(plan, of),)
    content = getattr(REPORT[module], name)(*subjects) if subjects[0] else None
    if isinstance(content, Table):
        content = content.only(*row["only"].split()) if row["only"] else content
        one = ("pool", not draft.several), ("site", not any(pool.site for pool in plan.pools))
        content = content.without(*row["without"].split(), *(key for key, left_out in one if left_out))
    return content
