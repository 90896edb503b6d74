"""How a report for a terminal is set: headings, wrapped sentences, tables under them."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence

from gpuplan.report.table import Table, grid_text, text
from gpuplan.wording import PAGE_WIDTH


def page(title: str, *chapters: str) -> str:
    """A report: its title, and the chapters that have something to say."""
    return "\n\n".join([f"{title}\n{'=' * len(title)}", *filter(None, chapters)]) + "\n"


def chapter(table: Table, *said: str, before: str = "", below: Sequence[str] = (), title: str = "") -> str:
    """A table under its title, with sentences before it and after it; nothing where the table is empty."""
    if not table.rows:
        return ""
    lead = f"{wrapped(before)}\n\n" if before else ""
    after = "".join(f"\n{wrapped(sentence)}" for sentence in (*said, *table.notes) if sentence)
    return heading(title or table.title) + lead + text(table, below) + after


def pairs(rows: Iterable[tuple[str, str]]) -> str:
    """Names with what is said of each."""
    return grid_text(("", ""), rows)


def heading(text: str) -> str:
    """A heading with a line under it."""
    return f"{text}\n{'-' * len(text)}\n"


def wrapped(text: str, first: str = "", rest: str | None = None) -> str:
    """Text wrapped to the width of the page."""
    return textwrap.fill(
        text, PAGE_WIDTH.get(), initial_indent=first, subsequent_indent=first + "  " if rest is None else rest
    )
