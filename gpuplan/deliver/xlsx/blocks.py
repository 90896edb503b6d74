"""Tables for a sheet: their columns and rows, and the widths of the columns."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from gpuplan.deliver.xlsx import measure
from gpuplan.deliver.xlsx.cells import digits, plain
from gpuplan.deliver.xlsx.look import NUMBERS
from gpuplan.deliver.xlsx.page import PRINTED
from gpuplan.report import table as report
from gpuplan.wording import capital

KIND_LOOKS: Mapping[str, str] = {
    "number": "num",
    "whole": "num",
    "mean": "num",
    "duration": "num",
    "money": "money",
    "price": "price",
    "share": "percent",
    "portion": "percent",
    "range": "percent",
    "points": "num",
    "hours": "num",
    "wait": "num",
    "watts": "num",
}
"""Kinds of columns that hold numbers -> kinds of cells; any other is text."""
NARROW, WIDE = 7.0, 90.0
"""Width of a column of text, at least and at most."""
BROKEN = 26.0
"""Length from which a word may be broken."""
COMFORTS = (36.0, 24.0, 18.0, 14.0, 10.0)
"""Widths below which long texts are not squeezed, the first that leaves room for all columns."""
ROOM = 2.0
"""Room of a cell beside its text."""
GROWTH = 2
"""Further digits that an amount of money may need when inputs change."""


class SheetColumn(NamedTuple):
    """Head and kind of a column."""

    head: str
    kind: str = "text"


class Block(NamedTuple):
    """One of several tables of a sheet, with the text below it."""

    title: str
    columns: Sequence[SheetColumn]
    rows: Sequence[Sequence[Any]]
    notes: Sequence[str] = ()
    totals: int = 0
    """Number of rows at the end that sum up the others."""


def column_of(table: report.Table, key: str) -> int:
    """Return the index of a table's column, from 0."""
    return next(at for at, column in enumerate(table.columns) if column.key == key)


def ordered(table: report.Table, *first: str) -> report.Table:
    """Return the table with some columns first: those for which a page has room."""
    keys = [column.key for column in table.columns]
    at = sorted(range(len(keys)), key=lambda n: first.index(keys[n]) if keys[n] in first else len(first))
    return replace(
        table,
        columns=tuple(table.columns[n] for n in at),
        rows=tuple(tuple(row[n] for n in at) for row in table.rows),
    )


def need_of(column: SheetColumn, values: Iterable[Any], comfort: float = COMFORTS[0]) -> tuple[float, float]:
    """(least, natural) width of a column: numbers whole, words unbroken, and a line for most texts."""
    numeric = column.kind in NUMBERS
    least = max(NARROW, min(BROKEN, measure.widest_word(column.head, bold=True))) + ROOM
    natural = max(least, min(measure.wide(column.head, bold=True) + ROOM, 14 if numeric else WIDE))
    for value in values:
        held, kind = plain(value, column.kind)
        if isinstance(held, str):
            long = max(map(measure.wide, held.split("\n"))) + ROOM
            least = max(least, min(BROKEN, measure.widest_word(held)) + ROOM)
            least, natural = max(least, min(long, comfort)), max(natural, min(WIDE, long))
        else:
            taken = digits(held, kind) * measure.BOLD + ROOM + GROWTH * (kind in ("money", "change"))
            least, natural = max(least, taken), max(natural, taken)
    return least, natural


def laid(column: report.Column) -> SheetColumn:
    """A column of a topic's table on a sheet, the unit in its head."""
    told = not column.unit or re.search(rf"\b{re.escape(column.unit)}\b", column.label)
    unit = "" if told else f", {column.unit}"
    head = (column.label or capital(column.key.replace("_", " "))) + unit
    return SheetColumn(head, KIND_LOOKS.get(column.kind, "text"))


def needs_of(blocks: Sequence[Block], comfort: float) -> list[tuple[float, float]]:
    """(least, natural) width of each of the columns that tables below each other share."""
    needs: list[tuple[float, float]] = []
    for block in blocks:
        for at, column in enumerate(block.columns):
            least, natural = need_of(column, [row[at] for row in block.rows], comfort)
            if at == len(needs):
                needs.append((0.0, 0.0))
            needs[at] = max(needs[at][0], least), max(needs[at][1], natural)
    return needs


def printed_widths(needs: Sequence[tuple[float, float]]) -> tuple[list[float], int]:
    """Return (widths of columns, number on a page): columns without room are beside the page in full width."""
    count, taken = 0, 0.0
    for least, _ in needs:
        taken += least
        if count and taken > PRINTED:
            break
        count += 1
    return [*measure.fitted(needs[:count], PRINTED), *(natural for _, natural in needs[count:])], count


def all_printed(blocks: Sequence[Block]) -> list[float]:
    """Return widths at which all columns fit on a page, with texts squeezed as far as necessary."""
    needs: list[tuple[float, float]] = []
    for comfort in COMFORTS:
        needs = needs_of(blocks, comfort)
        if sum(least for least, _ in needs) <= PRINTED:
            break
    return measure.fitted(needs, PRINTED)
