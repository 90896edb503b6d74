"""The page of a step as data: cards and charts in boxes, which ``screen`` makes widgets of; and what is in a card."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from gpuplan.app.state import Workbook
from gpuplan.report.charts.look import Look, Spec
from gpuplan.report.headlines import Headline
from gpuplan.report.table import Table, screen
from gpuplan.wording import money

COLOURS = 8
"""Colours for groups in the stylesheet; after the last they start again, and the letter tells them apart."""
AT_ONCE = 10
"""Up to so many groups, what takes long for many is worked out unasked."""

Data = Callable[[Workbook], dict[str, Any]]


@dataclass(frozen=True)
class Card:
    """What one of the JavaScript files in ``widgets/static`` draws from plain data."""

    name: str
    data: Data
    slow: bool = False
    """Whether it is sent last, because its data takes long to work out."""

    def __call__(self, workbook: Workbook) -> dict[str, Any]:
        """Its data now."""
        return self.data(workbook)


@dataclass(frozen=True)
class Picture:
    """A chart, drawn from rows; nothing is shown while there are none."""

    rows: Callable[[Workbook], Any]
    draw: Callable[[Any, Look], Spec]
    slow: bool = False
    wide: bool = True
    """Whether it is as wide as its place."""


@dataclass(frozen=True)
class Box:
    """Cards and charts together; ``style`` names classes of the stylesheet."""

    style: str
    children: tuple[Place, ...]


Place = Card | Picture | Box


@dataclass(frozen=True)
class Tab:
    """A part of a step that stands on the screen alone; its name is that in ``places``."""

    name: str
    title: str
    content: Box
    badge: Callable[[Workbook], str] = lambda _workbook: ""
    """What stands beside its title, such as how many points are open."""


@dataclass(frozen=True)
class Page:
    """A step: its message in a sentence, and its tabs, of which the first has the picture and the inputs that change it."""

    message: Callable[[Workbook], Headline]
    tabs: tuple[Tab, ...]

    def tab(self, name: str) -> Tab:
        """One of its tabs; the first if it has no such."""
        return next((tab for tab in self.tabs if tab.name == name), self.tabs[0])


def box(style: str, *children: Place) -> Box:
    """A box of the given style."""
    return Box(style, children)


def tab(
    name: str, title: str, *content: Place, badge: Callable[[Workbook], str] = lambda _workbook: ""
) -> Tab:
    """A part of a step whose cards stand below each other."""
    return Tab(name, title, box("gp-page", *content), badge)


def wide_card(*children: Place) -> Box:
    """A card as wide as the page."""
    return Box("gp-card gp-wide", children)


def parted_card(*children: Place) -> Box:
    """A card as wide as the page, with a line between what stands in it."""
    return Box("gp-card gp-wide gp-parted", children)


Contents = dict[str, Any] | Table | str | None
"""What is in a card: what its file in ``widgets/static`` draws, a table or a sentence alone; None if the card is not shown."""
T = TypeVar("T")


Carding = Callable[[Callable[[Workbook], Contents]], Card]
"""Makes a card of a function that gives what is in it."""


def panel(title: str = "", hint: str = "", *, draws: str = "panel", slow: bool = False) -> Carding:
    """A card under a title, unless its contents have their own; ``draws`` names its file in ``widgets/static``."""

    def carded(contents: Callable[[Workbook], Contents]) -> Card:
        def data(workbook: Workbook) -> dict[str, Any]:
            found = contents(workbook)
            if found is None:
                return {"shown": False}
            if isinstance(found, str):
                found = {"text": [said(found)]}
            head = {name: text for name, text in (("title", title), ("hint", hint)) if text}
            return {"shown": True, "stale": workbook.stale, **head, **_tabled(found)}

        return Card(draws, data, slow)

    return carded


def details(
    key: str,
    title: str,
    hint: str | Callable[[Workbook], str],
    shown: Callable[[Workbook], Any],
    *,
    old: Callable[[Workbook], bool] = lambda _workbook: False,
    slow: bool = False,
) -> Carding:
    """Details whose contents are asked for while they are open; ``old`` are those of another design."""

    def folded(contents: Callable[[Workbook], Contents]) -> Card:
        def data(workbook: Workbook) -> dict[str, Any]:
            there, opened = bool(shown(workbook)), key in workbook.opened
            found = contents(workbook) if there and opened else None
            if isinstance(found, str):
                found = {"text": [found]}
            return {
                "shown": there,
                "key": key,
                "title": title,
                "hint": hint if isinstance(hint, str) else hint(workbook),
                "open": opened,
                "stale": workbook.stale or old(workbook),
                "text": [],
                "tables": [],
                **_tabled(found or {}),
            }

        return Card("tables", data, slow)

    return folded


def _tabled(found: dict[str, Any] | Table) -> dict[str, Any]:
    return {"tables": [screen(found)]} if isinstance(found, Table) else found


def said(*pieces: str | dict[str, Any]) -> list[dict[str, Any]]:
    """A paragraph; what in it is more than words says what it does."""
    return [{"text": piece} if isinstance(piece, str) else piece for piece in pieces]


def visit(text: str, path: str) -> dict[str, Any]:
    """Words in a paragraph that lead to an input."""
    return {"text": text, "visit": path}


def strong(text: str) -> dict[str, Any]:
    """Words in a paragraph that stand out."""
    return {"text": text, "strong": True}


def attributes(of: object, *names: str) -> dict[str, Any]:
    """Some attributes by their names."""
    return {name: getattr(of, name) for name in names}


def act(event: str, text: str, on: str, **rest: Any) -> dict[str, Any]:
    """Something to press in a cell: what it says, what it is done to, and what the event holds."""
    return {"event": event, "rest": rest, "text": text, "name": on}


def sheet(table: Table, ids: Sequence[str]) -> dict[str, Any]:
    """A table with inputs in it, whose rows are known by ids and named by what is first in them."""
    shown = screen(table)
    rows = zip(ids, shown["rows"], strict=True)
    return {
        "heads": shown["heads"],
        "rows": [{"id": each, "name": cells[0]["text"], "cells": cells} for each, cells in rows],
    }


def figure(label: str, value: str, note: str, key: str = "") -> dict[str, Any]:
    """A figure with its label, and a note below it."""
    return {"label": label, "value": value, "note": note, "key": key}


def select(what: str, label: str, value: str, options: Mapping[str, str]) -> dict[str, Any]:
    """A choice of what to look at."""
    listed = [{"value": each, "text": text} for each, text in options.items()]
    return {"what": what, "label": label, "value": value, "options": listed}


def tried(workbook: Workbook, key: str, work: Callable[[], T]) -> tuple[T | None, str]:
    """(what ``work`` gives, nothing), or (nothing, why it cannot be worked out); once for each plan."""

    def once() -> tuple[T | None, str]:
        try:
            return work(), ""
        except ValueError as error:
            return None, str(error)

    return workbook.once(key, once)


def asked(workbook: Workbook, what: str) -> bool:
    """Whether something that takes long for many groups is worked out."""
    return len(workbook.plan.groups) <= AT_ONCE or what in workbook.opened


def rate(value: float) -> str:
    """A rate or a ratio to two digits, never as a fraction."""
    return f"{float(f'{value:.2g}'):,g}"


def bare(value: float) -> str:
    """An amount of money where the currency is said elsewhere."""
    return money(value, "").strip()


def group_colours(workbook: Workbook) -> dict[str, int]:
    """Colour number of each group, 1 to 8, in the order of the table."""
    return {g.id: 1 + i % COLOURS for i, g in enumerate(workbook.plan.scenario.groups)}


def chip(workbook: Workbook, group: str) -> dict[str, Any]:
    """The letter of a group in its colour; a dot stands for groups that are not named."""
    letters = {each.id: each.letter for each in workbook.plan.groups}
    return {"chip": [letters.get(group, "\u00b7"), group_colours(workbook).get(group, 0)]}


def lettered(
    workbook: Workbook, table: Table, column: str = "name", ids: Sequence[str] | None = None
) -> Table:
    """A table of groups with the letter of each in its colour before its name; their ids are in the column of groups or given."""
    if ids is None:
        at = [each.key for each in table.columns].index("group_id")
        ids = [row[at] for row in table.rows]
    return table.dressed(column, lambda n, _: chip(workbook, ids[n]) if ids[n] else {})


def source_titles(workbook: Workbook, sources: Sequence[str]) -> str:
    """Titles of the sources that the catalog knows."""
    known = workbook.catalog.sources
    return "; ".join(known[s].title for s in sources if s in known)
