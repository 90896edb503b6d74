"""A workbook that is written: styles, kinds of cells, sheets with tables, addresses."""

from __future__ import annotations

import datetime
import io
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from gpuplan.locales import SPOKEN, written
from gpuplan.plan import Plan
from gpuplan.report import table as report
from gpuplan.report.document import clean
from gpuplan.report.document.writing import as_of, paper_of
from gpuplan.wording import capital, runs

MAX_TEXT = 32_767
"""Longest text that a cell holds."""
HEAD = 3
"""Row of the heads, from 0; title and note stand above."""
FORMATS: Mapping[str, Mapping[str, Any]] = {
    "text": {"text_wrap": True},
    "line": {},
    "int": {"num_format": "#,##0"},
    "num": {"num_format": "#,##0.0##"},
    "small": {"num_format": "0.0#####"},
    "money": {"num_format": "#,##0"},
    "price": {"num_format": "#,##0.00##"},
    "percent": {"num_format": "0.00%"},
    "title": {"bold": True, "font_size": 14},
    "section": {"bold": True, "font_size": 12, "bottom": 1},
    "head": {"bold": True, "text_wrap": True, "bg_color": "#E7E9ED", "bottom": 1},
}
KIND_LOOKS: Mapping[str, tuple[str, float]] = {
    "number": ("num", 13),
    "whole": ("num", 13),
    "mean": ("num", 13),
    "duration": ("num", 13),
    "money": ("money", 14),
    "price": ("price", 13),
    "share": ("percent", 11),
    "portion": ("percent", 11),
    "range": ("percent", 11),
    "points": ("num", 11),
    "hours": ("num", 13),
    "wait": ("num", 13),
    "watts": ("num", 13),
}
"""Format and width of the kinds of columns that hold numbers; any other is text, as wide as its longest."""
PAPERS = {"": 9, "a4": 9, "letter": 1}
"""Paper -> its number in a workbook; A4 where none is chosen."""
INDIAN = "[>=10000000]##\\,##\\,##\\,##0;[>=100000]##\\,##\\,##0;#,##0"
"""Whole numbers in lakh and crore. Other signs between digits are those of the reader's own spreadsheet."""
NARROW, WIDE = 10, 60
"""Width of a column of text, at least and at most."""
TINT = "#FFF4CC"
"""Of cells that are meant to be changed."""


class Live(NamedTuple):
    """A formula and the value that it has in the plan; ``kind`` where it is not that of its column."""

    formula: str
    value: Any
    kind: str = ""


class Editable(NamedTuple):
    """A value that is meant to be changed, within limits; None where it is not known."""

    value: float | None
    kind: str = ""
    low: float = 0
    high: float | None = None


class SheetColumn(NamedTuple):
    """Head, width in characters and format of a column."""

    head: str
    width: float
    kind: str = "text"


class Block(NamedTuple):
    """One of several tables of a sheet, and what is said below it."""

    title: str
    columns: Sequence[SheetColumn]
    rows: Sequence[Sequence[Any]]
    notes: Sequence[str] = ()
    totals: int = 0
    """How many of the last rows sum up the others."""


def _clean(text: str) -> str:
    """A text without what a cell cannot hold."""
    text = clean(text).replace("\r", "")
    return text if len(text) <= MAX_TEXT else text[: MAX_TEXT - 1] + "…"


def _letters(col: int) -> str:
    return ("" if col < 26 else chr(64 + col // 26)) + chr(65 + col % 26)


def address(row: int, col: int, sheet: str = "") -> str:
    """Address of a cell, rows and columns counted from 0."""
    where = f"'{sheet}'!" if " " in sheet else f"{sheet}!" if sheet else ""
    return f"{where}${_letters(col)}${row + 1}"


def sum_of(rows: Iterable[int], cols: Iterable[int]) -> str:
    """Sum of the cells in all these rows and columns, neighbours taken together; 0 without any."""
    columns = runs(cols)
    terms = [
        address(down[0], across[0])
        if len(down) == len(across) == 1
        else f"SUM({address(down[0], across[0])}:{address(down[-1], across[-1])})"
        for down in runs(rows)
        for across in columns
    ]
    return f"({'+'.join(terms)})" if len(terms) > 1 else "".join(terms) or "0"


def column_of(table: report.Table, key: str) -> int:
    """Where a column of a table stands, from 0."""
    return next(at for at, column in enumerate(table.columns) if column.key == key)


def _laid(column: report.Column, values: Sequence[Any]) -> SheetColumn:
    """A column of a topic's table on a sheet: the unit in its head, and as wide as its kind or its text needs."""
    said = not column.unit or re.search(rf"\b{re.escape(column.unit)}\b", column.label)
    unit = "" if said else f", {column.unit}"
    kind, width = KIND_LOOKS.get(column.kind, ("text", 0))
    longest = max((len(str(value)) for value in values), default=0)
    head = (column.label or capital(column.key.replace("_", " "))) + unit
    return SheetColumn(head, width or min(max(longest + 1, NARROW), WIDE), kind)


def _localised(style: Mapping[str, Any]) -> Mapping[str, Any]:
    """A style with its numbers grouped as in the locale."""
    indian = SPOKEN.get().grouping == 2 and style.get("num_format") == "#,##0"
    return {**style, "num_format": INDIAN} if indian else style


class Book:
    """The workbook that is written, its styles and its ways to lay out a sheet."""

    def __init__(self, plan: Plan) -> None:
        import xlsxwriter

        self._file = io.BytesIO()
        self._book = xlsxwriter.Workbook(
            self._file,
            {
                "in_memory": True,
                "strings_to_formulas": False,
                "strings_to_urls": False,
                "strings_to_numbers": False,
            },
        )
        self._book.set_properties(
            {
                "title": _clean(plan.scenario.name)[:255],
                "subject": "Design workbook",
                "created": datetime.datetime.fromisoformat(as_of(plan)),
            }
        )
        self._styles: dict[tuple[Any, ...], Any] = {}
        self._plan = plan
        self._paper = paper_of(plan)

    def content(self) -> bytes:
        """The bytes of the file."""
        self._book.close()
        return self._file.getvalue()

    def name(self, name: str, address: str) -> None:
        """Give a cell a name of its own."""
        self._book.define_name(name, f"={address}")

    def _style(self, kind: str, bold: bool = False, tinted: bool = False, quoted: bool = False) -> Any:
        key = (kind, bold, tinted, quoted)
        if key not in self._styles:
            made = self._book.add_format({"valign": "top", **_localised(FORMATS[kind])})
            if bold:
                made.set_bold()
                made.set_top(1)
            if tinted:
                made.set_bg_color(TINT)
                made.set_border(4)
            if quoted:
                made.set_quote_prefix()
            self._styles[key] = made
        return self._styles[key]

    def put(self, sheet: Any, row: int, col: int, value: Any, kind: str = "text", bold: bool = False) -> None:
        """Write a cell: text is never a formula, a number has the format of its kind or of its size."""
        given, kind = _written(value, kind)
        tinted = isinstance(value, Editable)
        if isinstance(value, Editable):
            sheet.data_validation(row, col, row, col, _limits(value))
        if isinstance(value, Live):
            sheet.write_formula(row, col, f"={value.formula}", self._style(kind, bold), given)
        elif isinstance(given, int | float):
            sheet.write_number(row, col, given, self._style(kind, bold, tinted))
        elif given:
            quoted = given.startswith(("=", "+", "-", "@"))
            sheet.write_string(row, col, given, self._style(kind, bold, tinted, quoted))
        elif tinted or bold or kind == "head":
            sheet.write_blank(row, col, None, self._style(kind, bold, tinted))

    def sheet(self, name: str, note: str = "", title: str = "") -> Any:
        """A new sheet with title and note, set up for print."""
        made = self._book.add_worksheet(name)
        self.put(made, 0, 0, title or name, "title")
        self.put(made, 1, 0, note, "line")
        made.set_landscape()
        made.set_paper(PAPERS[self._paper])
        made.fit_to_pages(1, 0)
        made.set_footer("&L&A&R&P / &N")
        made.hide_gridlines(2)
        return made

    def block(self, table: report.Table, live: Mapping[str, Sequence[Any]] | None = None) -> Block:
        """A topic's table, details and all: numbers as they are; ``live`` has what stands in some columns instead."""
        table = table.keyless()
        cells = [
            [self._value(cell, column) for cell, column in zip(row, table.columns, strict=True)]
            for row in table.cells()
        ]
        for key, values in (live or {}).items():
            at = column_of(table, key)
            for row, value in zip(cells, values, strict=False):
                row[at] = value
        columns = [_laid(column, [row[at] for row in cells]) for at, column in enumerate(table.columns)]
        return Block(table.title, columns, cells, table.notes, table.totals)

    def _value(self, cell: report.Cell, column: report.Column) -> Any:
        """What a cell of the sheet holds: a number where its column has numbers, else what a reader sees."""
        if column.kind == "sources":
            return source_titles(self._plan, cell.value or ())
        if isinstance(cell.value, str) and cell.words is None and column.kind in KIND_LOOKS:
            return cell.value
        is_number = isinstance(cell.value, int | float) and column.kind in KIND_LOOKS
        return cell.value if is_number else report.words(cell, column)

    def topic(self, name: str, note: str, block: Block) -> Any:
        """A sheet with one table that can be filtered."""
        sheet = self.sheet(name, " ".join((note, *block.notes)))
        for col, column in enumerate(block.columns):
            sheet.set_column(col, col, column.width)
        self._rows(sheet, HEAD, block)
        if count := len(block.rows) - block.totals:
            sheet.autofilter(HEAD, 0, HEAD + count, len(block.columns) - 1)
        sheet.freeze_panes(HEAD + 1, 1)
        sheet.repeat_rows(HEAD)
        return sheet

    def topics(self, name: str, note: str, blocks: Iterable[Block], title: str = "") -> Any:
        """A sheet with several tables below each other."""
        sheet = self.sheet(name, note, title)
        held = [block for block in blocks if block.rows]
        for col in range(max((len(block.columns) for block in held), default=0)):
            wide = max(block.columns[col].width for block in held if col < len(block.columns))
            sheet.set_column(col, col, wide)
        at = HEAD
        for block in held:
            self.put(sheet, at, 0, block.title, "section")
            self._rows(sheet, at + 1, block)
            at += len(block.rows) + 2
            for below, words in enumerate(block.notes):
                self.put(sheet, at + below, 0, words, "line")
            at += len(block.notes) + 1
        if not held:
            self.put(sheet, HEAD, 0, "Nothing to show for this design.")
        sheet.freeze_panes(HEAD, 0)
        sheet.repeat_rows(0)
        return sheet

    def _rows(self, sheet: Any, head: int, block: Block) -> None:
        for col, column in enumerate(block.columns):
            self.put(sheet, head, col, column.head, "head")
        last = head + len(block.rows) - block.totals
        for at, row in enumerate(block.rows, start=head + 1):
            for col, (column, value) in enumerate(zip(block.columns, row, strict=True)):
                self.put(sheet, at, col, value, column.kind, bold=at > last)


def _written(value: Any, kind: str) -> tuple[Any, str]:
    """(what a cell holds, a number or a text, and its format)."""
    if isinstance(value, Live | Editable):
        kind, value = value.kind or kind, value.value
    if isinstance(value, bool):
        return "yes" if value else "no", kind
    if not isinstance(value, int | float):
        return "" if value is None else _clean(str(value)), kind
    if kind in ("text", "num"):
        kind = "int" if float(value).is_integer() else "num" if abs(value) >= 0.1 else "small"
    return value, kind


def _limits(value: Editable) -> dict[str, Any]:
    """What a cell that may be changed takes: a number within its limits."""
    rule: dict[str, Any] = {"validate": "decimal", "ignore_blank": True, "error_title": "Not allowed"}
    low, high = value.low, value.high
    if high is None:
        return rule | {
            "criteria": ">=",
            "value": low,
            "error_message": f"A number of at least {written(low, 'g')}.",
        }
    between = {"criteria": "between", "minimum": low, "maximum": high}
    return rule | between | {"error_message": f"A number from {written(low, 'g')} to {written(high, 'g')}."}


def source_titles(plan: Plan, ids: Iterable[str]) -> str:
    """Titles of sources."""
    known = plan.catalog.sources
    words = ["this scenario" if id == "scenario" else known[id].title if id in known else id for id in ids]
    return "; ".join(dict.fromkeys(words))
