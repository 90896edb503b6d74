"""Tables on slides: their rows at one size over as many slides as they take, never smaller."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from gpuplan.deliver.pptx.measure import (
    BODY,
    INSET,
    LEAD,
    LINE_HEIGHT,
    NARROW,
    POINT,
    SMALL,
    Box,
    cut,
    text_lines,
)
from gpuplan.deliver.pptx.sketch import NAMESPACES, fill_xml, run_xml
from gpuplan.deliver.texts import one_line
from gpuplan.report.table import Table, heads, numeric, texts
from gpuplan.wording import said

CELL = {SMALL: 8, BODY: 16, LEAD: 20}
"""Size of the text of a table -> the total margin above and below it in a cell."""
AFTER_NUMBER = 14
"""Margin at the left of a text cell beside a column of numbers."""
MOST_LINES = 6
"""Most lines of a cell; longer text is cut."""
PLAIN_STYLE = "{2D5ABB26-0587-4C30-8999-92F81FD0307C}"
"""The style of tables without lines and colours: they are set cell by cell, in the colours of the theme."""
RULE = '<a:schemeClr val="tx2"><a:lumMod val="40000"/><a:lumOff val="60000"/></a:schemeClr>'


class Column(NamedTuple):
    """A column of a table on slides."""

    width: float
    left: float
    """Margin at the left of its cells."""
    right: bool
    """True if it is aligned at the right."""

    @property
    def room(self) -> float:
        """Width for text."""
        return self.width - self.left - INSET / 2


class Row(NamedTuple):
    """A row of a table on a slide."""

    cells: tuple[str, ...]
    tall: float
    """Its height in the widest font."""
    least: float
    """Its height in the narrowest font; a program makes it as high as its text needs."""
    bold: bool


class Page(NamedTuple):
    """The part of a table on one slide."""

    box: Box
    columns: Sequence[Column]
    rows: Sequence[Row]
    """The head first."""
    size: int


def pages(
    table: Table,
    box: Box,
    shares: Sequence[float],
    *,
    size: int = SMALL,
    most: int = 1000,
    lines: int = MOST_LINES,
) -> list[Page]:
    """A table by slide, about as many rows on each, with the head; of more than ``most`` rows the rest is counted.

    ``shares`` are the widths of the columns as parts of all; a column more is as wide as the narrowest."""
    columns = _columns(table, box.width, shares)
    head, *rows = _measured(table, columns, size, most, lines)
    found = _split(head, rows, box.height)
    for room in range(int(sum(row.tall for row in rows) / max(1, len(found))), int(box.height), 12):
        even = _split(head, rows, room)
        if len(even) == len(found):
            found = even
            break
    return [Page(box, columns, each, size) for each in found]


def fitted(
    table: Table,
    box: Box,
    shares: Sequence[float],
    sizes: Sequence[int],
    *,
    most: int = 1000,
    lines: int = MOST_LINES,
) -> list[Page]:
    """A table by slide, at the first of the sizes at which one slide holds it; at the last if none does."""
    found = [pages(table, box, shares, size=size, most=most, lines=lines) for size in sizes]
    return next((each for each in found if len(each) == 1), found[-1])


def _columns(table: Table, width: float, shares: Sequence[float]) -> list[Column]:
    each = [*shares, *[min(shares)] * (len(table.columns) - len(shares))][: len(table.columns)]
    right = numeric(table)
    return [
        Column(
            width * share / sum(each),
            INSET / 2 + AFTER_NUMBER * (at - 1 in right and at not in right),
            at in right,
        )
        for at, share in enumerate(each)
    ]


def _measured(table: Table, columns: Sequence[Column], size: int, most: int, lines: int) -> list[Row]:
    """Return the head and the rows, each cell cut to ``lines`` lines."""
    rows = _rows(table, most)
    found = []
    for at, row in enumerate([heads(table), *rows]):
        bold = at == 0 or at > len(rows) - table.totals
        cells = tuple(
            cut(text, size, column.room, 1 if column.right and at else lines, bold=bold)
            for text, column in zip(row, columns, strict=True)
        )
        tall, least = (
            max(
                text_lines(text, size, column.room / narrow, bold=bold)
                for text, column in zip(cells, columns, strict=True)
            )
            for narrow in (1, NARROW)
        )
        high = size * LINE_HEIGHT
        found.append(Row(cells, tall * high + CELL[size], least * high + CELL[size], bold))
    return found


def _rows(table: Table, most: int) -> list[tuple[str, ...]]:
    """The rows as they are shown: of too many the first and the totals, with how many are left out."""
    every = texts(table)
    last = len(every) - table.totals
    if last <= most:
        return every
    more = (said("deck.more", count=last - most), *[""] * (len(table.columns) - 1))
    return [*every[:most], more, *every[last:]]


def _split(head: Row, rows: Sequence[Row], room: float) -> list[list[Row]]:
    """The rows by slide, each begun with the head."""
    found: list[list[Row]] = []
    for row in rows:
        if not found or sum(each.tall for each in found[-1]) + row.tall > room:
            found.append([head])
        found[-1].append(row)
    return found


def put_table(slide: Any, page: Page, about: str) -> None:
    """Put a page of a table on a slide; ``about`` is for readers who cannot see it."""
    from pptx.oxml import parse_xml

    place = page.box.above(sum(row.least for row in page.rows)).emu
    frame = slide.shapes.add_table(1, 1, *place)
    frame._element.nvGraphicFramePr.cNvPr.set("descr", one_line(about))
    columns = "".join(f'<a:gridCol w="{round(column.width * POINT)}"/>' for column in page.columns)
    rows = "".join(_row_xml(page, row, head=at == 0) for at, row in enumerate(page.rows))
    made = parse_xml(
        f"<a:tbl {NAMESPACES}><a:tblPr><a:tableStyleId>{PLAIN_STYLE}</a:tableStyleId></a:tblPr>"
        f"<a:tblGrid>{columns}</a:tblGrid>{rows}</a:tbl>"
    )
    old = frame._element.graphic.graphicData.tbl
    old.getparent().replace(old, made)


def _row_xml(page: Page, row: Row, *, head: bool) -> str:
    cells = "".join(
        _cell_xml(text, column, row, page.size, head=head)
        for text, column in zip(row.cells, page.columns, strict=True)
    )
    return f'<a:tr h="{round(row.least * POINT)}">{cells}</a:tr>'


def _cell_xml(text: str, column: Column, row: Row, size: int, *, head: bool) -> str:
    """Return the XML of a cell with a rule below; the head's rule has the accent colour."""
    align = "r" if column.right else "l"
    colour = "accent1" if head else "tx1"
    run = (
        run_xml(text, size, colour, bold=row.bold)
        if text
        else f'<a:endParaRPr lang="en-GB" sz="{100 * size}"/>'
    )
    edge = f"<a:solidFill>{RULE}</a:solidFill>" if not head else fill_xml("accent1")
    none = "".join(f'<a:{side} w="0"><a:noFill/></a:{side}>' for side in ("lnL", "lnR", "lnT"))
    sides = f'marL="{round(column.left * POINT)}" marR="{round(INSET / 2 * POINT)}"'
    ends = f'marT="{round(CELL[size] / 2 * POINT)}" marB="{round(CELL[size] / 2 * POINT)}"'
    return (
        f'<a:tc><a:txBody><a:bodyPr/><a:lstStyle/><a:p><a:pPr algn="{align}"/>{run}</a:p></a:txBody>'
        f'<a:tcPr {sides} {ends} anchor="{"b" if head else "t"}">{none}<a:lnB w="{19_050 if head else 6_350}">{edge}</a:lnB>'
        "<a:noFill/></a:tcPr></a:tc>"
    )
