"""Cells: their contents (values, formulas with their current value, editable values), their formats, references to them."""

import re
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from xlsxwriter.utility import xl_rowcol_to_cell

from gpuplan.deliver.brand import Brand
from gpuplan.deliver.html import clean
from gpuplan.facts import own_specs
from gpuplan.locales import SPOKEN, written
from gpuplan.wording import NAMES, number, runs, said

SIZE = 10
TABS = NAMES["sheet"]
INDIAN = "[>=10000000]##\\,##\\,##\\,##0;[>=100000]##\\,##\\,##0;#,##0"
"""Whole numbers in lakh and crore. Other separators follow the reader's own spreadsheet."""
TINT = "FFF4CC"
"""Tint of cells that are meant to be changed."""
RIGHT: Mapping[str, Any] = {"align": "right"}
WRAP: Mapping[str, Any] = {"text_wrap": True}
KINDS: Mapping[str, Mapping[str, Any]] = own_specs("gpuplan.deliver.xlsx", "looks")
"""Kinds of cells: in tables, above and below them, and on the first sheet."""
MONEY, CHANGE = KINDS["money"]["num_format"], KINDS["change"]["num_format"]
"""Amounts of money, and their changes: a dash for nothing."""
SPECS: Mapping[str, str] = {
    "int": ",.0f", "num": ",.3f", "small": ".6f", "money": ",.0f", "change": "+,.0f", "price": ",.4f", "percent": ".2%",
}  # fmt: skip
"""Kinds of numbers and their longest printed form."""
NUMBERS = tuple(SPECS)
COLOURS = ("accent", "ink", "quiet", "shade", "line")
MAX_TEXT, MOST_PROMPT = 32_767, 255
DIRECTIONS = re.compile("[\u202a-\u202e\u2066-\u2069]")
"""Marks that turn the direction of the text after them."""
EXACT = 1000
"""Numbers from here on are shown without decimals."""


class Styles:
    """The formats of a workbook, each made once."""

    def __init__(self, book: Any, brand: Brand) -> None:
        self._book, self._brand = book, brand
        self._made: dict[tuple[Any, ...], Any] = {}

    def of(
        self,
        kind: str,
        *,
        bold: bool = False,
        tinted: bool = False,
        quoted: bool = False,
        right: bool = False,
        **more: Any,
    ) -> Any:
        """Return the format of a kind of cell: a total, an editable value, text like a formula or among numbers."""
        key = (kind, bold, tinted, quoted, right, *more.items())
        if key not in self._made:
            look = {"valign": "top", "font_color": "ink", **KINDS[kind], **more}
            if bold:
                look |= {"bold": True, "top": 1, "top_color": "quiet"}
            if tinted:
                look |= {"bg_color": f"#{TINT}", "border": 1, "border_color": "line", "locked": False}
            if right:
                look |= {**RIGHT, **WRAP}
            style = self._book.add_format({name: self._value(name, value) for name, value in look.items()})
            if quoted:
                style.set_quote_prefix()
            self._made[key] = style
        return self._made[key]

    def _value(self, name: str, value: Any) -> Any:
        """Return a property as the brand and the locale define it."""
        if name == "font_name":
            return getattr(self._brand, value)
        if value in COLOURS:
            return f"#{getattr(self._brand, value)}"
        if value in ("#,##0", MONEY) and SPOKEN.get().grouping == 2:
            return INDIAN
        return value


class Live(NamedTuple):
    """A formula and its value in the plan; ``kind`` where it differs from the column's."""

    formula: str
    value: Any
    kind: str = ""


class Editable(NamedTuple):
    """A value that readers may change, within limits; None where it is unknown."""

    value: float | str | None
    kind: str = ""
    low: float = 0
    high: float | None = None
    allowed: str = ""
    """What a text may be."""


def cleaned(text: str) -> str:
    """Return a text without characters that a cell cannot hold or that would turn the text around."""
    text = DIRECTIONS.sub("", clean(text).replace("\r", ""))
    return text if len(text) <= MAX_TEXT else text[: MAX_TEXT - 1] + "…"


def plain(value: Any, kind: str) -> tuple[Any, str]:
    """Return (content of a cell, a number or a text, and its kind)."""
    if isinstance(value, Live | Editable):
        kind, value = value.kind or kind, value.value
    if isinstance(value, bool):
        return number(value), kind
    if not isinstance(value, int | float):
        return "" if value is None else cleaned(str(value)), kind
    if kind in ("text", "num"):
        whole = float(value).is_integer() or abs(value) >= EXACT
        kind = "int" if whole else "num" if abs(value) >= 0.1 else "small"
    return value, kind


def digits(value: float, kind: str) -> int:
    """Count the characters of a number on the sheet, including the group separators of lakh and crore."""
    text = format(value, SPECS.get(kind, ",.3f"))
    least = {"num": 1, "small": 1, "price": 2}.get(kind, 0)
    whole, _, part = text.partition(".")
    if least:
        text = f"{whole}.{part.rstrip('0').ljust(least, '0')}"
    return len(text) + (SPOKEN.get().grouping == 2)


def limits(value: Editable) -> dict[str, Any]:
    """Return the validation of an editable cell: a number within its limits; a text is told what it may be."""
    if value.allowed:
        return {"validate": "any", "input_message": value.allowed[:MOST_PROMPT]}
    low, high = value.low, value.high
    if high is None:
        least = said("sheet.at least", low=written(low, "g"))
        rule = {"criteria": ">=", "value": low, "error_message": least}
    else:
        message = said("sheet.between", low=written(low, "g"), high=written(high, "g"))
        rule = {"criteria": "between", "minimum": low, "maximum": high, "error_message": message}
    return {"validate": "decimal", "ignore_blank": True, "error_title": said("sheet.not allowed")} | rule


def address(row: int, col: int, sheet: str = "") -> str:
    """Address of a cell, rows and columns counted from 0."""
    cell: str = xl_rowcol_to_cell(row, col, row_abs=True, col_abs=True)
    quoted = sheet if sheet.isalnum() else f"'{sheet}'"
    return f"{quoted}!{cell}" if sheet else cell


def area(top: int, left: int, bottom: int, right: int, sheet: str = "") -> str:
    """Address of all cells between two corners."""
    return f"{address(top, left, sheet)}:{address(bottom, right)}"


def sum_of(rows: Iterable[int], cols: Iterable[int]) -> str:
    """Sum of the cells in all these rows and columns, neighbours taken together; 0 without any."""
    columns = runs(cols)
    terms = [
        address(down[0], across[0])
        if len(down) == len(across) == 1
        else f"SUM({area(down[0], across[0], down[-1], across[-1])})"
        for down in runs(rows)
        for across in columns
    ]
    return f"({'+'.join(terms)})" if len(terms) > 1 else "".join(terms) or "0"
