"""Tables on slides: their rows at one size over as many slides as they take, never smaller."""

from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

from gpuplan.deliver.pptx.blocks import Picture, Sketch, add
from gpuplan.deliver.pptx.measure import BODY, INSET, LEAD, SMALL, Box, Grid, cut, text_height
from gpuplan.report.table import Table, heads, numeric, texts
from gpuplan.wording import said

CELL = {SMALL: 8, BODY: 16, LEAD: 20}
"""Size of the text of a table -> the total margin above and below it in a cell."""
SPREAD = 56
"""Most room that is added to a row, so that a table fills its place."""
BESIDE, BESIDE_GAP = 0.26, 16
"""Share of the width for what is drawn beside the rows, and the room before it."""
AFTER_NUMBER = 14
"""Margin at the left of a text cell beside a column of numbers."""
PLAIN_STYLE = "{2D5ABB26-0587-4C30-8999-92F81FD0307C}"
"""The style of tables without lines and colours: they are set cell by cell, in the colours of the theme."""


class Column(NamedTuple):
    """A column of a table on slides."""

    width: float
    left: float
    right: bool

    @property
    def room(self) -> float:
        """Width for text."""
        return self.width - self.left - INSET / 2


class Row(NamedTuple):
    """A row of a table on a slide."""

    cells: Sequence[str]
    tall: float
    head: bool
    bold: bool


class Page(NamedTuple):
    """The part of a table on one slide."""

    about: str
    """For readers who cannot see it."""
    box: Box
    columns: Sequence[Column]
    rows: Sequence[Row]
    size: int

    @property
    def cut(self) -> int:
        """Number of its texts that are not whole."""
        return sum(text.endswith("\u2026") for row in self.rows for text in row.cells)

    def spread(self) -> "Page":
        """Return it with higher rows, as far as its place has room for them."""
        head, *rows = self.rows
        spare = self.box.height - sum(row.tall for row in self.rows)
        more = max(0.0, min(SPREAD, spare / max(1, len(rows))))
        return self._replace(rows=[head, *(row._replace(tall=row.tall + more) for row in rows)])

    def put(self, _deck: Grid, slide: Any, _box: Box) -> None:
        """Draw it in its own place."""
        place = self.box.above(sum(row.tall for row in self.rows))
        above = CELL[self.size] / 2
        add(slide, "table", page=self, box=place, style=PLAIN_STYLE, right=INSET / 2, above=above)


class Listing(NamedTuple):
    """A table of the plan."""

    table: Table
    shares: Sequence[float]
    """Widths of the columns as parts of all; a column more is as wide as they are on average."""
    sizes: Sequence[int] = (LEAD, BODY)
    """The first is taken at which one slide holds the table; the last if none does."""
    most: int = 1000
    """Most rows; the rest is counted."""
    lines: int = 2
    """Most lines of a cell; longer text is cut."""
    paged: bool = False
    """True if it takes as many slides as it needs, else the rest of it is left out."""
    beside: Callable[[Sketch, int, Box], object] | None = None
    """Draws something into a place beside each row, the head's number being 0."""

    def put(self, deck: Grid, slide: Any, box: Box) -> None:
        """Draw its first page, and what belongs beside it."""
        wide = box.width * (1 - BESIDE * bool(self.beside))
        page = self.pages(box._replace(width=wide), deck.loose)[0]
        page.put(deck, slide, box)
        if self.beside:
            high = sum(row.tall for row in page.rows)
            place = box.right(wide + BESIDE_GAP).above(high)
            Picture("Beside the table", partial(self._beside, page), self.table.title).put(deck, slide, place)

    def _beside(self, page: Page, sketch: Sketch) -> None:
        top = 0.0
        for at, row in enumerate(page.rows):
            if self.beside:
                self.beside(sketch, at, Box(0, top, sketch.box.width, row.tall))
            top += row.tall

    def pages(self, box: Box, loose: float) -> list[Page]:
        """The table by slide, about as many rows on each, with the head; as large and whole as one slide has room for."""
        fewer = [self.lines] if self.paged else range(self.lines, 0, -1)
        tried = [
            self._replace(lines=lines)._pages(box, size, loose) for lines in fewer for size in self.sizes
        ]
        single = (pages for pages in tried if len(pages) == 1)
        best = min(single, key=lambda pages: pages[0].cut, default=None)
        if best or self.paged:
            return best or tried[-1]
        least = self._replace(lines=1, most=min(self.most, len(self.table.rows)) - 1)
        return least.pages(box, loose) if least.most else tried[-1]

    def _pages(self, box: Box, size: int, loose: float) -> list[Page]:
        columns = _columns(self.table, box.width, self.shares)
        head, *rows = self._rows(columns, size, loose)
        parts = _split(head, rows, box.height)
        for room in range(int(sum(row.tall for row in rows) / max(1, len(parts))), int(box.height), 12):
            even = _split(head, rows, room)
            if len(even) == len(parts):
                parts = even
                break
        return [Page(self.table.title, box, columns, part, size).spread() for part in parts]

    def _rows(self, columns: Sequence[Column], size: int, loose: float) -> list[Row]:
        """Return the head and the rows: of too many the first and the totals, with how many are left out."""
        rows, totals = texts(self.table), self.table.totals
        if (last := len(rows) - totals) > self.most:
            more = (said("deck.more", count=last - self.most), *[""] * (len(columns) - 1))
            rows = [*rows[: self.most], more, *rows[last:]]
        return [
            _row(row, columns, size, self.lines, loose, head=not at, bold=not at or at > len(rows) - totals)
            for at, row in enumerate([heads(self.table), *rows])
        ]


def _row(
    row: Sequence[str],
    columns: Sequence[Column],
    size: int,
    lines: int,
    loose: float,
    *,
    head: bool,
    bold: bool,
) -> Row:
    """Measure a row, each cell cut to ``lines`` lines; a number below the head to one."""
    rooms = [column.room / loose for column in columns]
    cells = [
        cut(text, size, room, 1 if column.right and not head else lines, bold=bold)
        for text, room, column in zip(row, rooms, columns, strict=True)
    ]
    high = (text_height(text, size, room, bold=bold) for text, room in zip(cells, rooms, strict=True))
    return Row(cells, CELL[size] + max(high), head, bold)


def _columns(table: Table, width: float, shares: Sequence[float]) -> list[Column]:
    others = [sum(shares) / len(shares)] * (len(table.columns) - len(shares))
    weights = [*shares, *others][: len(table.columns)]
    right = [at in numeric(table) for at in range(len(weights))]
    after = [False, *(before and not here for before, here in pairwise(right))]
    return [
        Column(width * share / sum(weights), INSET / 2 + AFTER_NUMBER * apart, number)
        for share, apart, number in zip(weights, after, right, strict=True)
    ]


def _split(head: Row, rows: Sequence[Row], room: float) -> list[list[Row]]:
    """The rows by slide, each begun with the head."""
    parts: list[list[Row]] = []
    for row in rows:
        if not parts or sum(other.tall for other in parts[-1]) + row.tall > room:
            parts.append([head])
        parts[-1].append(row)
    return parts
