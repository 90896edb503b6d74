"""Layout of a report for a terminal: chapters of sentences, tables, or sentences under a heading."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Sequence

from gpuplan.report.table import Table, grid_text, text
from gpuplan.wording import PAGE_WIDTH


class Block(str):
    """Lines that are laid out already, as any text of several lines is; a sentence is wrapped."""


Content = str | Table | Iterable["Content"]
"""A sentence, lines as they are, a table with its title and notes, or several of these; what is empty is left out."""


def page(title: str, *content: Content) -> str:
    """A report: its title, and the chapters that have something to say."""
    lead = [f"{title}\n{'=' * len(title)}"] if title else []
    return "\n\n".join([*lead, *_laid(content)]) + "\n"


def _laid(content: Iterable[Content]) -> Iterator[str]:
    for part in content:
        if isinstance(part, Table):
            part = chapter(part)
        if not isinstance(part, str):
            yield from _laid(part)
        elif part:
            yield _lines(part)


def _lines(text: str) -> str:
    return text if isinstance(text, Block) or "\n" in text else wrapped(text)


def chapter(
    about: Table | str, *said: str, before: str = "", below: Sequence[str] = (), title: str = ""
) -> Block:
    """A table under its title, or a heading, and the sentences on it; nothing where there are no rows, or no sentences."""
    if isinstance(about, str):
        return Block(heading(about) + "\n".join(map(_lines, filter(None, said))) if any(said) else "")
    if not about.rows:
        return Block()
    lead = f"{wrapped(before)}\n\n" if before else ""
    after = "".join(f"\n{_lines(sentence)}" for sentence in (*said, *about.notes) if sentence)
    return Block(heading(title or about.title) + lead + text(about, below) + after)


def pairs(rows: Iterable[tuple[str, str]]) -> Block:
    """Return names, each with a description."""
    return Block(grid_text(("", ""), rows))


def heading(text: str) -> str:
    """A heading with a line under it."""
    return f"{text}\n{'-' * len(text)}\n" if text else ""


def wrapped(text: str, rest: str = "  ") -> Block:
    """Wrap text to the width of the page, indented like its first line, and further lines by ``rest`` more."""
    margin = " " * (len(text) - len(text.lstrip(" ")))
    return Block(textwrap.fill(text, PAGE_WIDTH.get(), subsequent_indent=margin + rest))
