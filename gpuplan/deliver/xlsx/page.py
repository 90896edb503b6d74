"""A sheet in progress: rows as high as their texts need, all cells but inputs protected, printed on whole pages."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from gpuplan.deliver.xlsx import measure
from gpuplan.deliver.xlsx.cells import FORMULA_STARTS, Editable, Live, limits, plain
from gpuplan.deliver.xlsx.look import INDENTED, NUMBERS, Styles, is_bold, size_of

EMPTY = 8.43
"""Width of a column without a specific one."""
INSET = {"align": "left", "indent": 1}
INDENT = 1.3
"""Width that an indent takes from a text."""
NOTES = 110.0
"""Width of notes."""
PRINTED = 152.0
"""Width of a landscape page at 8 points or more."""
ALLOWED = {"autofilter": True, "sort": True, "format_columns": True, "format_rows": True, "objects": True}
"""Actions that a reader may take on a protected sheet."""


class Page:
    """A sheet with columns of these widths."""

    def __init__(self, sheet: Any, styles: Styles, widths: Sequence[float]) -> None:
        self.sheet, self._styles = sheet, styles
        self.widths = [math.ceil(4 * width) / 4 for width in widths]
        self._heights: dict[int, float] = {}
        for col, width in enumerate(self.widths):
            sheet.set_column(col, col, width)

    def width(self, first: int, last: int) -> float:
        """Width of some columns together."""
        return sum(self.widths[col] if col < len(self.widths) else EMPTY for col in range(first, last + 1))

    def put(
        self, row: int, col: int, value: Any, kind: str = "text", *, bold: bool = False, **look: Any
    ) -> None:
        """Write a cell: text is never a formula, a number has the format of its kind or of its size."""
        held, real = plain(value, kind)
        indented = bool(col) and real in INDENTED
        if isinstance(held, str):
            held = self._fitting(row, held, self.width(col, col) - indented * INDENT, kind, bold)
        self._write(row, col, value, held, real, bold, look | (INSET if indented else {}))

    def span(
        self,
        row: int,
        first: int,
        last: int,
        value: Any,
        kind: str = "note",
        *,
        bold: bool = False,
        **look: Any,
    ) -> None:
        """Write a cell over several columns."""
        held, real = plain(value, kind)
        if isinstance(held, str):
            held = self._fitting(row, held, self.width(first, last), kind, bold)
        if last > first:
            self.sheet.merge_range(row, first, row, last, "", self._styles.of(real, bold=bold, **look))
        self._write(row, first, value, held, real, bold, look)

    def note(self, row: int, text: str, kind: str = "note") -> None:
        """Write a text over as many columns as are read in one glance; nothing without a text."""
        if text:
            last = 0
            while self.width(0, last + 1) <= max(NOTES, self.widths[0]):
                last += 1
            self.span(row, 0, last, text, kind)

    def high(self, row: int, points: float) -> None:
        """Make a row at least as high as given."""
        self._heights[row] = max(points, self._heights.get(row, 0.0))

    def close(self) -> None:
        """Set the heights of the rows, and protect all cells but inputs."""
        for row, points in sorted(self._heights.items()):
            self.sheet.set_row(row, points)
        self.sheet.protect("", ALLOWED)

    def print_columns(self, count: int) -> None:
        """Print only the first columns; the others are beside the printed page."""
        if count < len(self.widths):
            self.sheet.print_area(0, 0, max(self._heights), count - 1)

    def _fitting(self, row: int, text: str, width: float, kind: str, bold: bool) -> str:
        """The text, shortened to what the highest row shows, and the row made high enough for it."""
        size, bold = size_of(kind), bold or is_bold(kind)
        text = measure.shown(text, width, size=size, bold=bold)
        self.high(row, measure.height(measure.lines(text, width, size=size, bold=bold), size))
        return text

    def _write(
        self, row: int, col: int, value: Any, held: Any, kind: str, bold: bool, look: dict[str, Any]
    ) -> None:
        tinted = isinstance(value, Editable)
        right = isinstance(held, str) and kind in NUMBERS
        if isinstance(value, Editable):
            self.sheet.data_validation(row, col, row, col, limits(value))
        if isinstance(value, Live):
            style = self._styles.of(kind, bold=bold, right=right, **look)
            self.sheet.write_formula(row, col, f"={value.formula}", style, held)
        elif isinstance(held, int | float):
            self.sheet.write_number(row, col, held, self._styles.of(kind, bold=bold, tinted=tinted, **look))
        elif held:
            quoted = held.startswith(FORMULA_STARTS)
            style = self._styles.of(kind, bold=bold, tinted=tinted, quoted=quoted, right=right, **look)
            self.sheet.write_string(row, col, held, style)
        else:
            self.sheet.write_blank(row, col, None, self._styles.of(kind, bold=bold, tinted=tinted, **look))
