"""What cards are made of: cells and tables, figures, choices, details that are worked out when they are opened."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, TypeVar

from gpuplan.app.state import Workbook
from gpuplan.report.table import Table
from gpuplan.wording import money

COLOURS = 8
"""Colours for groups in the stylesheet; after the last they start again, and the letter tells them apart."""
AT_ONCE = 10
"""Up to so many groups, what takes long for many is worked out unasked."""

Cell = dict[str, Any]
T = TypeVar("T")


def cell(text: str, *, key: str = "", numeric: bool = False, tone: str = "") -> Cell:
    """A cell of a table; ``key`` names the number's trail."""
    return {"text": text, "key": key, "numeric": numeric, "tone": tone}


def heads(*texts: str, numeric: Collection[int] = ()) -> list[dict[str, Any]]:
    """Heads of a table; ``numeric`` are the columns of numbers, from 0."""
    return [{"text": text, "numeric": at in numeric} for at, text in enumerate(texts)]


def number_heads(*texts: str) -> list[dict[str, Any]]:
    """Heads of a table of numbers, each row of which begins with a name."""
    return heads(*texts, numeric=range(1, len(texts)))


def table(
    heads: Sequence[dict[str, Any]], rows: Sequence[list[Cell]], *, title: str = "", more: str = ""
) -> dict[str, Any]:
    """A table; ``more`` is what is said below it."""
    return {"title": title, "heads": heads, "rows": rows, "more": more}


def figure(label: str, value: str, note: str, key: str = "") -> dict[str, Any]:
    """A figure with its label, and a note below it."""
    return {"label": label, "value": value, "note": note, "key": key}


def select(what: str, label: str, value: str, options: Mapping[str, str]) -> dict[str, Any]:
    """A choice of what to look at."""
    listed = [{"value": each, "text": text} for each, text in options.items()]
    return {"what": what, "label": label, "value": value, "options": listed}


def details(workbook: Workbook, key: str, title: str, hint: str, shown: bool) -> dict[str, Any]:
    """Details that are worked out when they are opened, still empty."""
    return {
        "shown": shown,
        "key": key,
        "title": title,
        "hint": hint,
        "open": key in workbook.opened,
        "stale": workbook.stale,
        "text": [],
        "tables": [],
    }


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


def group_cell(workbook: Workbook, group: str, name: str) -> Cell:
    """The name of a group behind its letter in its colour; a dot stands for groups that are not named."""
    letters = {each.id: each.letter for each in workbook.plan.groups}
    return cell(name) | {"chip": [letters.get(group, "\u00b7"), group_colours(workbook).get(group, 0)]}


def lettered(
    workbook: Workbook, table: Table, column: str = "name", ids: Sequence[str] | None = None
) -> Table:
    """A table of groups with the letter of each in its colour before its name; their ids are in the column of groups or given."""
    if ids is None:
        at = [each.key for each in table.columns].index("group")
        ids = [row[at] for row in table.rows]
    return table.dressed(
        column, lambda n, _: {"chip": group_cell(workbook, ids[n], "")["chip"]} if ids[n] else {}
    )


def source_titles(workbook: Workbook, sources: Sequence[str]) -> str:
    """Titles of the sources that the catalog knows."""
    known = workbook.catalog.sources
    return "; ".join(known[s].title for s in sources if s in known)
