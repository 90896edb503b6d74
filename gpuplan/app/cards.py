"""The page of a step as data: cards and charts in boxes, which ``screen`` makes widgets of; contents of cards, also of work beside the page."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence, Sized
from dataclasses import dataclass
from typing import Any, TypeVar

from gpuplan.app.background import Runner
from gpuplan.app.plan_view import PlanView
from gpuplan.app.state import Workbook
from gpuplan.app.uploading import CHUNK_BYTES, Upload
from gpuplan.facts import own_rows
from gpuplan.report.charts.look import Look, Spec
from gpuplan.report.headlines import Headline
from gpuplan.report.table import Table, screen
from gpuplan.widgets import contract
from gpuplan.wording import TEXTS, money, said, share_words, told, wait_words

COLOURS = 8
"""Colours for groups in the stylesheet; after the last they start again, and the letter tells them apart."""
AT_ONCE = 10
"""Number of groups up to which slow work is done without a click."""

Data = Callable[[Workbook], Mapping[str, Any]]
Body = dict[str, Any] | Table
"""Contents of details: data for its file, or a table alone."""
Contents = Body | str | None
"""Contents of a card: data for its file in ``widgets/static``, a table or a sentence alone; None hides the card."""
T = TypeVar("T")
HEADS = {row["card"]: {"title": row["heading"], "hint": row["hint"]} for row in own_rows("words/pages")}
"""Module and name of a card -> its heading, and the hint beside that."""
MARKED = re.compile(r"\*\*(.+?)\*\*|\[(.+?)\]\((.+?)\)|\{(\w+)\}")
"""Marks in a text: ``**emphasised**``, ``[words](path of the input to which they lead)``, and a value."""
FIGURES = {row["figure"]: row for row in own_rows("words/figures")}


@dataclass(frozen=True)
class Card:
    """A part drawn from plain data by one of the JavaScript files in ``widgets/static``."""

    name: str
    data: Data
    slow: bool = False
    """True if it is sent last, because its data takes long to work out."""

    def __call__(self, workbook: Workbook) -> Mapping[str, Any]:
        return self.data(workbook)


@dataclass(frozen=True)
class Picture:
    """A chart, drawn from rows; it is hidden while there are none."""

    rows: Callable[[Workbook], Any]
    draw: Callable[[Any, Look], Spec]
    slow: bool = False
    wide: bool = True

    def __call__(self, workbook: Workbook) -> Any:
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
    needs: str = ""
    """What it is empty without: ``workloads`` or ``hosts``."""


@dataclass(frozen=True)
class Page:
    """A step: its message in a sentence, and its tabs, of which the first has the picture and the inputs that change it."""

    message: Callable[[Workbook], Headline]
    tabs: tuple[Tab, ...]

    def tab(self, name: str) -> Tab:
        return next((tab for tab in self.tabs if tab.name == name), self.tabs[0])


def _head(contents: Callable[[Workbook], Any]) -> dict[str, str]:
    head = HEADS.get(f"{contents.__module__.rpartition('.')[2]}.{contents.__name__}", {})
    return {name: text for name, text in head.items() if text}


def card(draws: str, *, slow: bool = False) -> Callable[[Data], Card]:
    """Return a card under its heading; ``draws`` names its file in ``widgets/static``."""

    def carded(contents: Data) -> Card:
        head = _head(contents)

        def data(workbook: Workbook) -> Mapping[str, Any]:
            body = contents(workbook)
            return {**body, **head} if len(body) > 1 else body  # else it is hidden

        return Card(draws, data, slow)

    return carded


def panel(
    *, needs: str = "", draws: str = "panel", slow: bool = False
) -> Callable[[Callable[..., Contents]], Card]:
    """Return a card under its heading; it is hidden without the part of the plan that it ``needs``, and made from that, or without rows."""

    def carded(contents: Callable[..., Contents]) -> Card:
        head = _head(contents)

        def data(workbook: Workbook) -> dict[str, Any]:
            parts = (getattr(workbook.plan, needs),) if needs else ()
            body = contents(workbook, *parts) if all(parts) else None
            if body is None or (isinstance(body, Table) and not body.rows):
                return {"shown": False}
            if isinstance(body, str):
                body = {"text": [plain(body)]}
            return {"shown": True, "stale": workbook.stale, **head, **_tabled(body)}

        return Card(draws, data, slow)

    return carded


def details(
    key: str,
    shown: Callable[[Workbook], Any],
    *,
    hint: Callable[[Any], str] | None = None,
    old: Callable[[Workbook], bool] = lambda _workbook: False,
    slow: bool = False,
) -> Callable[[Callable[..., Body]], Card]:
    """Return details made, while they are open, from what is ``shown``; ``old`` are those of another design."""

    def folded(contents: Callable[..., Body]) -> Card:
        head = {"title": "", "hint": ""} | _head(contents)

        def data(workbook: Workbook) -> dict[str, Any]:
            of, opened = shown(workbook), key in workbook.opened
            count = len(of) if isinstance(of, Sized) else 0
            return {
                **head,
                "shown": bool(of),
                "key": key,
                "hint": hint(of) if hint and of else told(head["hint"], {"count": count}),
                "open": opened,
                "stale": workbook.stale or old(workbook),
                "text": [],
                "tables": [],
                **_tabled(contents(workbook, of) if of and opened else {}),
            }

        return Card("tables", data, slow)

    return folded


def _tabled(found: Body) -> dict[str, Any]:
    return {"tables": [screen(found)]} if isinstance(found, Table) else found


def paragraph(key: str, /, **values: Any) -> list[contract.Piece]:
    """Return a text of ``data/words/screen.csv`` in pieces: its marks, and values that are pieces themselves."""
    pieces, text, at = list[contract.Piece](), TEXTS[key], 0
    for mark in MARKED.finditer(text):
        emphasised, words, path, name = mark.groups()
        linked: contract.Piece | list[contract.Piece] = values.get(name, [])
        if name and not isinstance(linked, dict | list):
            continue  # filled in with the text around it
        pieces += plain(told(text[at : mark.start()], values))
        at = mark.end()
        if emphasised:
            pieces.append({"text": told(emphasised, values), "strong": True})
        elif words:
            pieces.append(visit(told(words, values), told(path, values)))
        else:
            pieces += linked if isinstance(linked, list) else [linked]
    return pieces + plain(told(text[at:], values))


def plain(*texts: str) -> list[contract.Piece]:
    """Return texts as pieces of a paragraph."""
    return [{"text": text} for text in texts if text]


def visit(text: str, path: str) -> contract.Piece:
    """Return words in a paragraph that lead to an input."""
    return {"text": text, "visit": path}


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
    listed = [{"id": row_id, "name": cells[0]["text"], "cells": cells} for row_id, cells in rows]
    return {"heads": shown["heads"], "rows": listed}


def figure(name: str, /, **values: object) -> contract.Figure:
    """Return a figure of ``data/words/figures.csv``: its label, its value, a note, and the line that explains it."""
    row = FIGURES[name]
    return {part: told(row[part], values) for part in ("label", "value", "note", "key")}  # type: ignore[return-value]


def figures(names: Iterable[str], /, **values: object) -> list[contract.Figure]:
    """Return figures made of the same values."""
    return [figure(name, **values) for name in names]


def select(what: str, label: str, value: str, options: Mapping[str, str]) -> contract.Select:
    """Return a menu for choosing a view."""
    listed: list[contract.Option] = [{"value": option, "text": text} for option, text in options.items()]
    return {"what": what, "label": label, "value": value, "options": listed}


def menu(workbook: Workbook, what: str, label: str, options: Mapping[str, str]) -> contract.Select:
    """Return a menu with the view that is chosen in the workbook."""
    return select(what, label, workbook.chosen(what, options), options)


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


def bare(value: float) -> str:
    """Return an amount of money where the currency is stated elsewhere."""
    return money(value, "").strip()


def group_colours(workbook: PlanView) -> dict[str, int]:
    """Return the colour number of each group, 1 to 8, in the order of the table."""
    return {g.id: 1 + i % COLOURS for i, g in enumerate(workbook.plan.scenario.groups)}


def chip(workbook: Workbook, group: str) -> dict[str, Any]:
    """Return the letter of a group in its colour; a dot for groups that are not named."""
    letters = {planned.id: planned.letter for planned in workbook.plan.groups}
    return {"chip": [letters.get(group, "\u00b7"), group_colours(workbook).get(group, 0)]}


def lettered(book: Workbook, table: Table, column: str = "name", ids: Sequence[str] | None = None) -> Table:
    """Return a table of groups with coloured letters before their names; ids are in the column of groups or given."""
    if ids is None:
        at = [col.key for col in table.columns].index("group_id")
        ids = [row[at] for row in table.rows]
    return table.dressed(column, lambda n, _: chip(book, ids[n]) if ids[n] else {})


def source_titles(workbook: Workbook, sources: Sequence[str]) -> str:
    """Return the titles of the sources that the catalog knows."""
    known = workbook.catalog.sources
    return "; ".join(known[source].title for source in sources if source in known)


ADD_GROUP = contract.Button(
    text=said("screen.add a workload"), event="visit", rest={"path": "groups"}, key="add-group", primary=True
)
STARTING = said("screen.starting")
IDLE: Mapping[str, Any] = {
    "shown": True,
    "progress": None,
    **dict.fromkeys(("old", "stale"), False),
    **dict.fromkeys(("hint", "problem"), ""),
    **{name: [] for name in ("inputs", "buttons", "text", "tables", "after")},
}
"""Contents of a work card with nothing to show."""


def background_card(
    workbook: Workbook, runner: Runner, key: str, text: str, *, off: bool = False, empty: bool = False
) -> dict[str, Any]:
    """Return the data of a card of background work; ``key`` names its events, ``empty``: a group comes first."""
    running = runner.busy
    stop = {"text": said("screen.stop"), "event": f"cancel-{key}", "key": f"{key}-stop"}
    go = {"text": text, "event": key, "key": f"{key}-go", "primary": True, "off": off or workbook.stale}
    button = stop if running else ADD_GROUP if empty else go
    progress = _progress(runner) if running else None
    shown = {"buttons": [button], "progress": progress, "problem": runner.error, "stale": workbook.stale}
    return {**IDLE, **shown}


def _progress(runner: Runner) -> contract.Progress:
    """Return the progress and the remaining time; before the work begins, that it is being prepared."""
    if not runner.started:
        return {"done": None, "text": STARTING}
    text = runner.step or share_words(runner.done)
    if (seconds := runner.left_s) >= 1:
        left = f"{seconds:.0f} s" if seconds < 90 else wait_words(seconds / 3600)
        text = said("screen.time left", step=text, left=left)
    return {"done": runner.done, "text": text}


def upload_data(upload: Upload, label: str, accept: str, event: str) -> dict[str, Any]:
    """Return the button for uploading a file, and its progress."""
    button = {"label": label, "accept": accept, "piece": CHUNK_BYTES, "event": event}
    return button | attributes(upload, "name", "got")


def receiving(upload: Upload) -> contract.Progress:
    """Return the progress of an upload."""
    done = upload.got / upload.size
    return {"done": done, "text": said("screen.receiving", name=upload.name[:60], done=share_words(done))}
