"""Design: the numbered decisions, the messages, the assumptions to confirm, and the sources of the plan."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from gpuplan.app.cards import Card, Contents, act, attributes, card, panel
from gpuplan.app.header import message_data
from gpuplan.app.state import Workbook
from gpuplan.plan.known import unconfirmed
from gpuplan.report import number
from gpuplan.report.architecture import logical_svg
from gpuplan.report.headlines import Headline, design
from gpuplan.report.table import Cell, Column, Table
from gpuplan.report.tables.known import assumed_name, assumption_log, planning_values, stated_at
from gpuplan.report.tables.plan import sources
from gpuplan.widgets import contract
from gpuplan.wording import run_words, said

MAP_WIDE = 570
"""Width of the map of the design, so that its texts are as large as those beside it."""


@partial(Card, "design")
def decisions_data(workbook: Workbook) -> dict[str, Any]:
    numbers = _cited(workbook)
    listed = []
    for decision in workbook.plan.decisions:
        shown = attributes(decision, "number", "title", "decision", "justification", "implication")
        cites = run_words(sorted({numbers[s] for s in decision.sources if s in numbers}))
        listed.append(shown | {"cites": cites, "key": decision.lines[0] if decision.lines else ""})
    return {"stale": workbook.stale, "decisions": listed}


@card("design", slow=True)
def map_data(workbook: Workbook) -> dict[str, Any]:
    """Return the logical design as the document draws it."""
    picture = logical_svg(workbook.plan, MAP_WIDE) if workbook.plan.pools else ""
    return {"stale": workbook.stale, "picture": picture}


def message(workbook: Workbook) -> Headline:
    """Return how many messages and planning values are open."""
    return design(workbook.plan, workbook.messages)


def _cited(workbook: Workbook) -> Mapping[str, int]:
    """Return the number of each source that decisions, access modes and messages cite."""
    plan = workbook.plan
    cited = [source for decision in plan.decisions for source in decision.sources]
    cited += [source for group in plan.groups for reason in group.reasons for source in reason.sources]
    cited += [source for message in workbook.messages for source in message.sources]
    ordered = [id for id in dict.fromkeys(cited) if id in plan.catalog.sources]
    return {id: n for n, id in enumerate(ordered, 1)}


@partial(Card, "design")
def messages_data(workbook: Workbook) -> dict[str, Any]:
    messages = [message_data(workbook, message) for message in workbook.messages]
    return {"stale": workbook.stale, "messages": messages}


@panel()
def values_data(workbook: Workbook) -> Contents:
    table = planning_values(workbook.plan)
    if not table.rows:
        return said("screen.design.all confirmed")
    keys = [row[0] for row in table.rows]
    acts = [_acts(workbook, key, said("screen.design.confirm"), yes=True) for key in keys]
    return _with_acts(table, said("screen.design.customer"), acts)


@panel()
def confirmed_data(workbook: Workbook) -> Contents:
    table, undo = assumption_log(workbook.plan), said("screen.design.undo")
    held = [_acts(workbook, row[0], undo, yes=False) if not row[-1] else [] for row in table.rows]
    cells = [Cell("", tone="nowrap", more={"acts": acts}) for acts in held]
    return table.beside(Column("acts", ""), cells, after="withdrawn")


def _acts(workbook: Workbook, key: str, text: str, *, yes: bool) -> list[contract.Act]:
    """Return actions to confirm an input or undo that, and its link; for a catalog value, to the input replacing it."""
    name, place = assumed_name(workbook.plan, key), stated_at(workbook.plan, key)
    acts = [act("visit", said("screen.design.go to"), name, path=place)] if place else []
    editable = place == key and not workbook.locked(key)
    return [act("confirm", text, name, path=key, yes=yes), *acts] if editable else acts


def _with_acts(table: Table, head: str, acts: list[list[contract.Act]]) -> Table:
    """Return the table with the actions of each row; a reason shared by several rows is in the first of them."""
    at = [column.key for column in table.columns].index("note")
    reasons = [row[at] for row in table.rows]

    def reason(n: int, cell: Cell) -> dict[str, Any]:
        return {"tone": "small", "text": "" if n and cell.value == reasons[n - 1] else cell.value}

    cells = [Cell("", tone="nowrap", more={"acts": buttons}) for buttons in acts]
    table = table.dressed("note", reason).dressed("range", lambda *_: {"tone": "nowrap"})
    table = table.dressed("name", lambda *_: {"tone": "known-name"})
    return table.beside(Column("acts", head), cells, after="note")


@panel()
def sources_data(workbook: Workbook) -> Contents:
    table = sources(workbook.plan, _cited(workbook))
    if not table.rows:
        return said("screen.design.no source")
    at = [column.key for column in table.columns].index("url")
    urls = [row[at] for row in table.rows]
    return table.dressed("title", lambda n, _: {"note": urls[n], "tone": "source"}).without("url")


def weighty_badge(workbook: Workbook) -> str:
    """Return the number of messages to fix or to confirm."""
    count = sum(message.level != "note" for message in workbook.messages)
    return number(count) if count else ""


def unconfirmed_badge(workbook: Workbook) -> str:
    """Return the number of planning values to confirm."""
    return number(len(unconfirmed(workbook.plan)))
