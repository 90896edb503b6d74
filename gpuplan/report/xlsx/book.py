"""A workbook that is written: styles, kinds of cells, sheets with tables, addresses."""

from __future__ import annotations

import datetime
import io
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from gpuplan.plan import Plan
from gpuplan.plan.prices import newest_price
from gpuplan.plan.trail import Line
from gpuplan.report.document import clean
from gpuplan.report.explain import formula_text
from gpuplan.wording import amount, basis_word

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


TINT = "#FFF4CC"
"""Of cells that are meant to be changed."""


class Live(NamedTuple):
    """A formula and the value that it has in the plan; ``kind`` where it is not that of its column."""

    formula: str
    value: Any
    kind: str = ""


class Editable(NamedTuple):
    """A value that is meant to be changed; None where nobody knows it."""

    value: float | None
    kind: str = ""


class Column(NamedTuple):
    """Head, width in characters and kind of a column."""

    head: str
    width: float
    kind: str = "text"


class Block(NamedTuple):
    """One of several tables of a sheet."""

    title: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[Any]]


def _clean(text: str) -> str:
    """A text without what a cell cannot hold."""
    text = clean(text).replace("\r", "")
    return text if len(text) <= MAX_TEXT else text[: MAX_TEXT - 1] + "…"


def shown_unit(unit: str) -> str:
    """A unit as it is shown: a count has none."""
    return "" if unit == "1" else unit


def _letters(col: int) -> str:
    return ("" if col < 26 else chr(64 + col // 26)) + chr(65 + col % 26)


def address(row: int, col: int, sheet: str = "") -> str:
    """Address of a cell, rows and columns counted from 0."""
    where = f"'{sheet}'!" if " " in sheet else f"{sheet}!" if sheet else ""
    return f"{where}${_letters(col)}${row + 1}"


def sum_of(rows: Iterable[int], cols: Iterable[int]) -> str:
    """Sum of the cells in all these rows and columns, neighbours taken together; 0 without any."""
    columns = _runs(cols)
    terms = [
        address(down[0], across[0])
        if len(down) == len(across) == 1
        else f"SUM({address(down[0], across[0])}:{address(down[-1], across[-1])})"
        for down in _runs(rows)
        for across in columns
    ]
    return f"({'+'.join(terms)})" if len(terms) > 1 else "".join(terms) or "0"


def _runs(numbers: Iterable[int]) -> list[list[int]]:
    """Ascending numbers as runs without gaps."""
    found: list[list[int]] = []
    for n in numbers:
        if found and found[-1][-1] == n - 1:
            found[-1].append(n)
        else:
            found.append([n])
    return found


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
        as_of = plan.costs.as_of if plan.costs else plan.scenario.cost.as_of or newest_price(plan.catalog)
        self._book.set_properties(
            {
                "title": _clean(plan.scenario.name)[:255],
                "subject": "Design workbook",
                "created": datetime.datetime.fromisoformat(as_of),
            }
        )
        self._styles: dict[tuple[Any, ...], Any] = {}

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
            made = self._book.add_format({"valign": "top", **FORMATS[kind]})
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
        tinted = isinstance(value, Editable)
        if isinstance(value, Live | Editable):
            kind = value.kind or kind
        given: Any = value.value if isinstance(value, Live | Editable) else value
        if isinstance(given, bool):
            given = "yes" if given else "no"
        is_number = isinstance(given, int | float)
        if is_number and kind in ("text", "num"):
            whole = float(given).is_integer()
            kind = "int" if whole else "num" if abs(given) >= 0.1 else "small"
        if isinstance(value, Live):
            sheet.write_formula(row, col, f"={value.formula}", self._style(kind, bold), given)
        elif given in (None, ""):
            if tinted or bold or kind == "head":
                sheet.write_blank(row, col, None, self._style(kind, bold, tinted))
        elif is_number:
            sheet.write_number(row, col, given, self._style(kind, bold, tinted))
        else:
            text = _clean(str(given))
            quoted = text.startswith(("=", "+", "-", "@"))
            sheet.write_string(row, col, text, self._style(kind, bold, tinted, quoted))

    def sheet(self, name: str, note: str = "", title: str = "") -> Any:
        """A new sheet with title and note, set up for print."""
        made = self._book.add_worksheet(name)
        self.put(made, 0, 0, title or name, "title")
        self.put(made, 1, 0, note, "line")
        made.set_landscape()
        made.set_paper(9)
        made.fit_to_pages(1, 0)
        made.set_footer("&L&A&R&P / &N")
        made.hide_gridlines(2)
        return made

    def table(
        self,
        name: str,
        note: str,
        columns: Sequence[Column],
        rows: Sequence[Sequence[Any]],
        tail: Sequence[Sequence[Any]] = (),
    ) -> Any:
        """A sheet with one table that can be filtered; ``tail`` are rows that sum it up."""
        sheet = self.sheet(name, note)
        for col, column in enumerate(columns):
            sheet.set_column(col, col, column.width)
        self._rows(sheet, HEAD, columns, rows, tail)
        if rows:
            sheet.autofilter(HEAD, 0, HEAD + len(rows), len(columns) - 1)
        sheet.freeze_panes(HEAD + 1, 1)
        sheet.repeat_rows(HEAD)
        return sheet

    def blocks(self, name: str, note: str, blocks: Sequence[Block], title: str = "") -> Any:
        """A sheet with several tables below each other."""
        sheet = self.sheet(name, note, title)
        held = [block for block in blocks if block.rows]
        for col in range(max((len(block.columns) for block in held), default=0)):
            wide = max(block.columns[col].width for block in held if col < len(block.columns))
            sheet.set_column(col, col, wide)
        at = HEAD
        for block in held:
            self.put(sheet, at, 0, block.title, "section")
            self._rows(sheet, at + 1, block.columns, block.rows)
            at += len(block.rows) + 3
        if not held:
            self.put(sheet, HEAD, 0, "Nothing to show for this design.")
        sheet.freeze_panes(HEAD, 0)
        sheet.repeat_rows(0)
        return sheet

    def _rows(
        self,
        sheet: Any,
        head: int,
        columns: Sequence[Column],
        rows: Sequence[Sequence[Any]],
        tail: Sequence[Sequence[Any]] = (),
    ) -> None:
        for col, column in enumerate(columns):
            self.put(sheet, head, col, column.head, "head")
        for at, row in enumerate((*rows, *tail), start=head + 1):
            for col, (column, value) in enumerate(zip(columns, row, strict=True)):
                self.put(sheet, at, col, value, column.kind, bold=at > head + len(rows))

    @staticmethod
    def limit(sheet: Any, row: int, col: int, high: float | None = None, low: float = 0) -> None:
        """Let a cell take numbers from ``low`` on only, or up to ``high``."""
        rule = {"validate": "decimal", "ignore_blank": True, "error_title": "Not allowed"}
        if high is None:
            rule |= {"criteria": ">=", "value": low, "error_message": f"A number of at least {low:g}."}
        else:
            between = {"criteria": "between", "minimum": low, "maximum": high}
            rule |= {**between, "error_message": f"A number from {low:g} to {high:g}."}
        sheet.data_validation(row, col, row, col, rule)


# ---- sheets


def source_titles(plan: Plan, ids: Iterable[str]) -> str:
    """Titles of sources."""
    known = plan.catalog.sources
    words = ["this scenario" if id == "scenario" else known[id].title if id in known else id for id in ids]
    return "; ".join(dict.fromkeys(words))


LINE_COLUMNS = (
    Column("Figure", 60),
    Column("Value", 18),
    Column("Unit", 10),
    Column("Formula", 90),
    Column("Basis", 18),
)


def line_rows(plan: Plan, *starts: str) -> list[tuple[Any, ...]]:
    """Lines of the trail whose keys start so."""
    return [
        (line.label, line.value, shown_unit(line.unit), formula_text(line), basis_word(line.basis))
        for key, line in plan.lines.items()
        if key.startswith(starts)
    ]


def yes_or_no(known: bool | None) -> str:
    return "not known" if known is None else "yes" if known else "no"


def headed(columns: Sequence[Column], *heads: str) -> list[Column]:
    return [column._replace(head=head) for column, head in zip(columns, heads, strict=True)]


def given_value(line: Line) -> str:
    """The inputs of a line with their values."""
    return "; ".join(f"{i.label} = {amount(i.value, i.unit)}" for i in line.inputs)
