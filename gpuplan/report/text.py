"""Layout of a report for a terminal: chapters of sentences and tables, in columns as wide as the page allows."""

import textwrap
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import zip_longest
from typing import Any

from gpuplan.report.table import Cell, Table, heads, numeric, texts
from gpuplan.wording import PAGE_WIDTH

NARROWEST = 16
"""Characters that a column of text keeps when a line is too long."""
SCALES = ((1, ""), (1_000, "thousands of "), (1_000_000, "millions of "))
"""Scales for amounts of money where a page is too narrow."""
Content = str | Table | Iterable["Content"]
"""A sentence, lines as they are, a table with its title and notes, or several of these; what is empty is left out."""


class Block(str):
    """Lines that are laid out already, as any text of several lines is; a sentence is wrapped."""


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


def text(table: Table, below: Sequence[str] = ()) -> str:
    """Lay out the table for a terminal; values of the columns ``below`` go under each row."""
    shown = table.shown()
    rows = shown.without(*below)
    lines = _grid(heads(rows), texts(rows), numeric(rows))
    if below:
        under = shown.without(*(column.key for column in shown.columns if column.key not in below))
        said = ["; ".join(filter(None, cells)) for cells in texts(under)]
        lines[1:] = [
            f"{line}\n{indented(more, 12)}" if more else line
            for line, more in zip(lines[1:], said, strict=True)
        ]
    return "\n".join(lines)


def grid_text(heads: Sequence[str], rows: Iterable[Sequence[Any]], right: Sequence[int] = ()) -> str:
    """Rows of text in columns, heads above them unless all are empty, wrapped to the width of the page: the last column first."""
    return "\n".join(_grid(heads, rows, right))


def _grid(heads: Sequence[str], rows: Iterable[Sequence[Any]], right: Sequence[int]) -> list[str]:
    lines = [[str(cell) for cell in row] for row in rows]
    widths = _widths(heads, lines, right)
    if any(heads):
        lines.insert(0, list(heads))
    grid = []
    for line in lines:
        folded = [_folded(cell, width) for cell, width in zip(line, widths, strict=True)]
        tall = zip_longest(*folded, fillvalue="")
        grid.append("\n".join(_set(cells, widths, right) for cells in tall))
    return grid


def _set(cells: Sequence[str], widths: Sequence[int], right: Sequence[int]) -> str:
    aligned = (
        cell.rjust(width) if at in right else cell.ljust(width)
        for at, (cell, width) in enumerate(zip(cells, widths, strict=True))
    )
    return "  ".join(aligned).rstrip()


def _widths(heads: Sequence[str], lines: Sequence[Sequence[str]], right: Sequence[int]) -> list[int]:
    """Return the column widths: if a line is too long, shrink the last text, then heads of numbers, then any text."""
    count = len(heads)
    widths = [max(map(len, (heads[at], *(line[at] for line in lines)))) for at in range(count)]
    least = [min(width, NARROWEST) for width in widths]
    for at in right:
        least[at] = max(map(len, (*heads[at].split(), *(line[at] for line in lines))))
    texts = [at for at in range(count) if at not in right]
    if count - 1 in texts:
        widths[-1] = min(widths[-1], max(30, PAGE_WIDTH.get() - sum(width + 2 for width in widths[:-1])))
    for columns in (right, texts):
        while sum(width + 2 for width in widths) - 2 > PAGE_WIDTH.get():
            widest = max(columns, key=lambda at: widths[at] - least[at], default=None)
            if widest is None or widths[widest] <= least[widest]:
                break
            widths[widest] -= 1
    return widths


def _folded(cell: str, width: int) -> list[str]:
    if len(cell) <= width:
        return [cell]
    return textwrap.wrap(cell, width, break_long_words=False, break_on_hyphens=False)


def indented(text: str, spaces: int) -> str:
    """Wrap text to the width of the page with all lines indented, and no id broken at its hyphens."""
    margin = " " * spaces
    return textwrap.fill(
        text, PAGE_WIDTH.get(), initial_indent=margin, subsequent_indent=margin, break_on_hyphens=False
    )


def scaled(table: Table, divisor: int) -> Table:
    """Return the table with its money in thousands, millions or other multiples, rounded."""
    amounts = {at for at, column in enumerate(table.columns) if column.kind == "money"}

    def less(at: int, value: Any) -> Any:
        cell = value if isinstance(value, Cell) else Cell(value)
        if at not in amounts or cell.words is not None or not isinstance(cell.value, int | float):
            return value
        return replace(cell, value=round(cell.value / divisor))

    def smaller(row: tuple[Any, ...]) -> tuple[Any, ...]:
        changed = tuple(less(at, value) for at, value in enumerate(row))
        return row if all(new is old for new, old in zip(changed, row, strict=True)) else changed

    return replace(table, rows=tuple(map(smaller, table.rows)))


def fitted(table: Table) -> tuple[str, Table]:
    """Return (``thousands of `` or similar, the table with its money so scaled), so that the lines fit on a page."""
    options = [(word, scaled(table, divisor)) for divisor, word in SCALES]
    return next((option for option in options if _fits(table, option[1])), options[-1])


def _fits(table: Table, smaller: Table) -> bool:
    """True if the rows with money fit on a page; scaling makes no others narrower."""
    paid = tuple(new for old, new in zip(table.rows, smaller.rows, strict=True) if old is not new)
    return max(map(len, text(replace(smaller, rows=paid, totals=0)).splitlines())) <= PAGE_WIDTH.get()
