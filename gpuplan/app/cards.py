"""The page of a step as data: cards and charts in boxes, which ``screen`` makes widgets of; card contents."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from gpuplan.app.background import Runner
from gpuplan.app.state import Workbook
from gpuplan.app.uploading import CHUNK_BYTES, Upload
from gpuplan.report.charts.look import Look, Spec
from gpuplan.report.headlines import Headline
from gpuplan.report.table import Table, screen
from gpuplan.widgets import contract
from gpuplan.wording import money, share_words, wait_words

COLOURS = 8
"""Colours for groups in the stylesheet; after the last they start again, and the letter tells them apart."""
AT_ONCE = 10
"""Number of groups up to which slow work is done without a click."""

Data = Callable[[Workbook], Mapping[str, Any]]


@dataclass(frozen=True)
class Card:
    """A part drawn from plain data by one of the JavaScript files in ``widgets/static``."""

    name: str
    data: Data
    slow: bool = False
    """True if it is sent last, because its data takes long to work out."""

    def __call__(self, workbook: Workbook) -> Mapping[str, Any]:
        """Return its current data."""
        return self.data(workbook)


@dataclass(frozen=True)
class Picture:
    """A chart, drawn from rows; it is hidden while there are none."""

    rows: Callable[[Workbook], Any]
    draw: Callable[[Any, Look], Spec]
    slow: bool = False
    wide: bool = True
    """True if it is as wide as its place."""

    def __call__(self, workbook: Workbook) -> Any:
        """Return its current rows."""
        return self.rows(workbook)


@dataclass(frozen=True)
class Box:
    """Cards and charts together; ``style`` names classes of the stylesheet."""

    style: str
    children: tuple[Place, ...]


Place = Card | Picture | Box


@dataclass(frozen=True)
class Tab:
    """A part of a step that has the screen to itself; its name is the one of places of inputs."""

    name: str
    title: str
    content: Box
    badge: Callable[[Workbook], str] = lambda _workbook: ""
    """Text beside its title, such as the number of open points."""
    needs: str = ""
    """What it is empty without: ``workloads`` or ``hosts``."""


@dataclass(frozen=True)
class Page:
    """A step: its message in a sentence, and its tabs, of which the first has the picture and the inputs that change it."""

    message: Callable[[Workbook], Headline]
    tabs: tuple[Tab, ...]

    def tab(self, name: str) -> Tab:
        """Return one of its tabs; the first if the name is unknown."""
        return next((tab for tab in self.tabs if tab.name == name), self.tabs[0])


Contents = dict[str, Any] | Table | str | None
"""Contents of a card: data for its file in ``widgets/static``, a table or a sentence alone; None hides the card."""
T = TypeVar("T")


Carding = Callable[[Callable[[Workbook], Contents]], Card]
"""Decorator that makes a card of a function returning its contents."""


def panel(
    title: str = "", hint: str = "", *, needs: str = "", draws: str = "panel", slow: bool = False
) -> Carding:
    """Return a card under a title, unless its contents have one; ``draws`` names its file in ``widgets/static``.

    It is hidden without the part of the plan that it ``needs``.
    """

    def carded(contents: Callable[[Workbook], Contents]) -> Card:
        def data(workbook: Workbook) -> dict[str, Any]:
            body = None if needs and not getattr(workbook.plan, needs) else contents(workbook)
            if body is None:
                return {"shown": False}
            if isinstance(body, str):
                body = {"text": [said(body)]}
            head = {name: text for name, text in (("title", title), ("hint", hint)) if text}
            return {"shown": True, "stale": workbook.stale, **head, **_tabled(body)}

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
    """Return details whose contents are requested while they are open; ``old`` are those of another design."""

    def folded(contents: Callable[[Workbook], Contents]) -> Card:
        def data(workbook: Workbook) -> dict[str, Any]:
            visible, opened = bool(shown(workbook)), key in workbook.opened
            body = contents(workbook) if visible and opened else None
            if isinstance(body, str):
                body = {"text": [body]}
            return {
                "shown": visible,
                "key": key,
                "title": title,
                "hint": hint if isinstance(hint, str) else hint(workbook),
                "open": opened,
                "stale": workbook.stale or old(workbook),
                "text": [],
                "tables": [],
                **_tabled(body or {}),
            }

        return Card("tables", data, slow)

    return folded


def _tabled(found: dict[str, Any] | Table) -> dict[str, Any]:
    return {"tables": [screen(found)]} if isinstance(found, Table) else found


def said(*pieces: str | contract.Piece) -> list[contract.Piece]:
    """Return a paragraph; a piece that is more than words names its action."""
    return [{"text": piece} if isinstance(piece, str) else piece for piece in pieces]


def visit(text: str, path: str) -> contract.Piece:
    """Return words in a paragraph that lead to an input."""
    return {"text": text, "visit": path}


def strong(text: str) -> contract.Piece:
    """Return emphasised words for a paragraph."""
    return {"text": text, "strong": True}


def attributes(of: object, *names: str) -> dict[str, Any]:
    """Return some attributes by their names."""
    return {name: getattr(of, name) for name in names}


def act(event: str, text: str, on: str, **rest: Any) -> contract.Act:
    """Return a button for a cell: its text, what it acts on, and the content of its event."""
    return {"event": event, "rest": rest, "text": text, "name": on}


def sheet(table: Table, ids: Sequence[str]) -> dict[str, Any]:
    """Return a table with inputs in it; its rows have ids, and their first cells as names."""
    shown = screen(table)
    rows = zip(ids, shown["rows"], strict=True)
    return {
        "heads": shown["heads"],
        "rows": [{"id": row_id, "name": cells[0]["text"], "cells": cells} for row_id, cells in rows],
    }


def figure(label: str, value: str, note: str, key: str = "") -> contract.Figure:
    """Return a figure with its label, and a note below it."""
    return {"label": label, "value": value, "note": note, "key": key}


def select(what: str, label: str, value: str, options: Mapping[str, str]) -> contract.Select:
    """Return a menu for choosing a view."""
    listed: list[contract.Option] = [{"value": option, "text": text} for option, text in options.items()]
    return {"what": what, "label": label, "value": value, "options": listed}


def tried(workbook: Workbook, key: str, work: Callable[[], T]) -> tuple[T | None, str]:
    """Return (result of ``work``, nothing), or (nothing, why it failed); once for each plan."""

    def once() -> tuple[T | None, str]:
        try:
            return work(), ""
        except ValueError as error:
            return None, str(error)

    return workbook.once(key, once)


def asked(workbook: Workbook, what: str) -> bool:
    """True if something that takes long for many groups is to be worked out."""
    return len(workbook.plan.groups) <= AT_ONCE or what in workbook.opened


def rate(value: float) -> str:
    """Return a rate or a ratio to two digits, never as a fraction."""
    return f"{float(f'{value:.2g}'):,g}"


def bare(value: float) -> str:
    """Return an amount of money where the currency is stated elsewhere."""
    return money(value, "").strip()


def group_colours(workbook: Workbook) -> dict[str, int]:
    """Return the colour number of each group, 1 to 8, in the order of the table."""
    return {g.id: 1 + i % COLOURS for i, g in enumerate(workbook.plan.scenario.groups)}


def chip(workbook: Workbook, group: str) -> dict[str, Any]:
    """Return the letter of a group in its colour; a dot for groups that are not named."""
    letters = {planned.id: planned.letter for planned in workbook.plan.groups}
    return {"chip": [letters.get(group, "\u00b7"), group_colours(workbook).get(group, 0)]}


def lettered(
    workbook: Workbook, table: Table, column: str = "name", ids: Sequence[str] | None = None
) -> Table:
    """Return a table of groups with coloured letters before their names; ids are in the column of groups or given."""
    if ids is None:
        at = [col.key for col in table.columns].index("group_id")
        ids = [row[at] for row in table.rows]
    return table.dressed(column, lambda n, _: chip(workbook, ids[n]) if ids[n] else {})


def source_titles(workbook: Workbook, sources: Sequence[str]) -> str:
    """Return the titles of the sources that the catalog knows."""
    by_id = workbook.catalog.sources
    return "; ".join(by_id[s].title for s in sources if s in by_id)


ADD_GROUP: contract.Button = {
    "text": "Add a workload",
    "event": "visit",
    "rest": {"path": "groups"},
    "key": "add-group",
    "primary": True,
}
"""The button of a card without workloads."""


STARTING = "Starting\u2026"
IDLE: Mapping[str, Any] = {
    "shown": True,
    "hint": "",
    "inputs": [],
    "buttons": [],
    "progress": None,
    "problem": "",
    "text": [],
    "tables": [],
    "after": [],
    "old": False,
    "stale": False,
}
"""Contents of a work card with nothing to show."""


def background_card(
    workbook: Workbook,
    runner: Runner,
    key: str,
    texts: tuple[str, str],
    *,
    again: bool = False,
    off: bool = False,
    empty: bool = False,
) -> dict[str, Any]:
    """Return the data that the cards of background work share.

    ``key`` names its events (``KEY`` and ``cancel-KEY``), ``texts`` are those of its button for the first time and for
    when there are results (``again``); ``off`` is true if it cannot be started, ``empty`` if a group comes first.
    """
    running = runner.state == "running"
    stop = {"text": "Stop", "event": f"cancel-{key}", "key": f"{key}-stop"}
    go = {
        "text": texts[again],
        "event": key,
        "key": f"{key}-go",
        "primary": True,
        "off": off or workbook.stale,
    }
    return {
        **IDLE,
        "buttons": [stop if running else ADD_GROUP if empty else go],
        "progress": _progress(runner) if running else None,
        "problem": runner.error,
        "stale": workbook.stale,
    }


def _progress(runner: Runner) -> contract.Progress:
    """Return the progress and the remaining time; before the work begins, that it is being prepared."""
    if not runner.started:
        return {"done": None, "text": STARTING}
    left = f", {_left(runner.left_s)} left" if runner.left_s >= 1 else ""
    return {"done": runner.done, "text": (runner.step or share_words(runner.done)) + left}


def _left(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 90 else wait_words(seconds / 3600)


def upload_data(upload: Upload, label: str, accept: str, event: str) -> dict[str, Any]:
    """Return the button for uploading a file, and its progress."""
    sent = attributes(upload, "name", "got")
    return {"label": label, "accept": accept, "piece": CHUNK_BYTES, "event": event, **sent}


def receiving(upload: Upload) -> contract.Progress:
    """Return the progress of an upload."""
    done = upload.got / upload.size
    return {"done": done, "text": f"Receiving {upload.name[:60]}: {share_words(done)}"}
