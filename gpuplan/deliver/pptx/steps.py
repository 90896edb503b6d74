"""Slides of the customer's decisions and of the next steps, with owners and due dates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gpuplan.deliver.executive import OWNERS, Action, actions
from gpuplan.deliver.pptx.deck import Deck
from gpuplan.deliver.pptx.measure import BODY, LEAD
from gpuplan.deliver.pptx.notes import Reasons
from gpuplan.deliver.pptx.paging import fitted, put_table
from gpuplan.locales import written_day
from gpuplan.plan.checks.message import Message
from gpuplan.report.table import Column, Table
from gpuplan.wording import TEXTS, said

MOST_STEPS = 6
WIDTHS = (7, 2.1, 2.3)


def step_words(action: Action) -> str:
    """An action in a few words; its own where there are none."""
    key = f"deck.step.{action.code}"
    return said(key) if key in TEXTS else action.what.removesuffix(".")


def next_steps(deck: Deck, messages: Sequence[Message]) -> tuple[list[Action], list[Action]]:
    """(the steps of the slide, all others): the first due first, one that is on the slide of decisions not again."""
    decided = {each.code for each in deck.summary.first_decisions}
    found = [each for each in actions(deck.plan, messages) if each.code not in decided]
    levels = {message.code: message.level for message in messages}
    weight = {"stop": 0, "warn": 1, "note": 2}
    ranked = sorted(found, key=lambda each: (weight[levels[each.code]], each.due))
    first = sorted(ranked[:MOST_STEPS], key=lambda each: each.due)
    return first, [each for each in found if each not in first]


def steps_table(name: str, title: str, head: str, found: Sequence[Action]) -> Table:
    """Actions in a few words, with owner and day."""
    columns = (
        Column("what", head),
        Column("owner", said("deck.column.owner")),
        Column("due", said("deck.column.due")),
    )
    rows = tuple((step_words(each), OWNERS[each.owner], written_day(each.due)) for each in found)
    return Table(name, columns, rows, title=title)


def _put(deck: Deck, slide: Any, table: Table) -> None:
    """Put a table on one slide, in large text where all of it fits."""
    page = fitted(table, deck.box, WIDTHS, (LEAD, BODY), lines=2)[0]
    put_table(slide, page, table.title)


def decisions_slide(deck: Deck) -> None:
    """Add the slide of the customer's decisions, with due dates."""
    found = deck.summary.first_decisions
    if not found:
        return
    by = max(each.due for each in found)
    title = said("deck.decisions.title", count=len(found), day=written_day(by))
    slide = deck.slide(title, title, Reasons(more=[f"{each.what} {each.why}" for each in found]))
    table = steps_table("decisions_needed", title, said("deck.column.decision"), found)
    _put(deck, slide, table)


def next_steps_slide(deck: Deck, messages: Sequence[Message]) -> None:
    """Add the slide of the next steps, at most six."""
    found, others = next_steps(deck, messages)
    title = (
        said("deck.steps.title")
        if not others
        else said("deck.steps.title first", count=len(found), more=len(others))
    )
    if not found:
        title = said("deck.steps.none")
    slide = deck.slide(title, title, Reasons(more=[f"{each.what} {each.why}" for each in found]))
    if not found:
        deck.text(slide, said("deck.steps.quotation"), deck.box)
        return
    table = steps_table("next_steps", title, said("deck.column.step"), found)
    _put(deck, slide, table)
