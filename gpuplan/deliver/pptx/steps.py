"""Slides of the customer's decisions and of the next steps, with owners and due dates."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gpuplan.deliver.executive import OWNERS, Action, actions
from gpuplan.deliver.pptx.blocks import Words
from gpuplan.deliver.pptx.deck import Deck, Slide
from gpuplan.deliver.pptx.notes import Reasons
from gpuplan.deliver.pptx.paging import Listing, text_table
from gpuplan.locales import written_day
from gpuplan.report.table import Table
from gpuplan.wording import TEXTS, said

MOST_STEPS = 6
WIDTHS = (7, 2.1, 2.3)


def next_steps(deck: Deck) -> tuple[list[Action], list[Action]]:
    """(the steps of the slide, all others): the first due first, one that is on the slide of decisions not again."""
    decided = {each.code for each in deck.summary.first_decisions}
    found = [each for each in actions(deck.plan, deck.messages) if each.code not in decided]
    levels = {message.code: message.level for message in deck.messages}
    weight = {"stop": 0, "warn": 1, "note": 2}
    ranked = sorted(found, key=lambda each: (weight[levels[each.code]], each.due))
    first = sorted(ranked[:MOST_STEPS], key=lambda each: each.due)
    return first, [each for each in found if each not in first]


def steps_table(name: str, title: str, head: str, found: Sequence[Action]) -> Table:
    """Actions in a few words, or in their own where there are none, with owner and day."""
    rows = []
    for each in found:
        key = f"deck.step.{each.code}"
        what = said(key) if key in TEXTS else each.what.removesuffix(".")
        rows.append((what, OWNERS[each.owner], written_day(each.due)))
    return text_table(name, title, (head, "deck.column.owner", "deck.column.due"), rows)


def step_reasons(found: Sequence[Action]) -> Reasons:
    """Actions in whole sentences, and why they are necessary."""
    return Reasons(more=[f"{each.what} {each.why}" for each in found])


def decisions_slide(deck: Deck) -> Iterator[Slide]:
    """The customer's decisions, with due dates."""
    if found := deck.summary.first_decisions:
        by = max(each.due for each in found)
        title = said("deck.decisions.title", count=len(found), day=written_day(by))
        table = steps_table("decisions_needed", title, "deck.column.decision", found)
        yield Slide([title], Listing(table, WIDTHS), step_reasons(found))


def next_steps_slide(deck: Deck) -> Iterator[Slide]:
    """The next steps, at most six."""
    found, others = next_steps(deck)
    if not found:
        yield Slide([said("deck.steps.none")], Words(said("deck.steps.quotation")))
        return
    key = "deck.steps.title first" if others else "deck.steps.title"
    title = said(key, count=len(found), more=len(others))
    table = steps_table("next_steps", title, "deck.column.step", found)
    yield Slide([title], Listing(table, WIDTHS), step_reasons(found))
