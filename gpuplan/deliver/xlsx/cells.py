"""Contents of cells and references to them: values, formulas with their current value, editable values."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from gpuplan.deliver.texts import clean
from gpuplan.locales import SPOKEN, written
from gpuplan.wording import runs, said

MAX_TEXT = 32_767
"""Longest text that a cell holds."""
DIRECTIONS = re.compile("[\u202a-\u202e\u2066-\u2069]")
"""Marks that turn the direction of the text after them."""
EXACT = 1000
"""Numbers from here on are shown without decimals."""
FORMULA_STARTS = ("=", "+", "-", "@")


class Live(NamedTuple):
    """A formula and its value in the plan; ``kind`` where it differs from the column's."""

    formula: str
    value: Any
    kind: str = ""


class Editable(NamedTuple):
    """A value that readers may change, within limits; None where it is unknown."""

    value: float | None
    kind: str = ""
    low: float = 0
    high: float | None = None


def cleaned(text: str) -> str:
    """Return a text without characters that a cell cannot hold or that would turn the text around."""
    text = DIRECTIONS.sub("", clean(text).replace("\r", ""))
    return text if len(text) <= MAX_TEXT else text[: MAX_TEXT - 1] + "…"


def plain(value: Any, kind: str) -> tuple[Any, str]:
    """Return (content of a cell, a number or a text, and its kind)."""
    if isinstance(value, Live | Editable):
        kind, value = value.kind or kind, value.value
    if isinstance(value, bool):
        return "yes" if value else "no", kind
    if not isinstance(value, int | float):
        return "" if value is None else cleaned(str(value)), kind
    if kind in ("text", "num"):
        whole = float(value).is_integer() or abs(value) >= EXACT
        kind = "int" if whole else "num" if abs(value) >= 0.1 else "small"
    return value, kind


SPECS: Mapping[str, str] = {
    "int": ",.0f",
    "num": ",.3f",
    "small": ".6f",
    "money": ",.0f",
    "change": "+,.0f",
    "price": ",.4f",
    "percent": ".2%",
}
"""Kinds of numbers and their longest printed form."""


def digits(value: float, kind: str) -> int:
    """Count the characters of a number on the sheet, including the group separators of lakh and crore."""
    text = format(value, SPECS.get(kind, ",.3f"))
    least = {"num": 1, "small": 1, "price": 2}.get(kind, 0)
    whole, _, part = text.partition(".")
    if least:
        text = f"{whole}.{part.rstrip('0').ljust(least, '0')}"
    return len(text) + (SPOKEN.get().grouping == 2)


def limits(value: Editable) -> dict[str, Any]:
    """Return the validation of an editable cell: a number within its limits."""
    rule: dict[str, Any] = {
        "validate": "decimal",
        "ignore_blank": True,
        "error_title": said("sheet.not allowed"),
    }
    low, high = value.low, value.high
    if high is None:
        told = said("sheet.at least", low=written(low, "g"))
        return rule | {"criteria": ">=", "value": low, "error_message": told}
    told = said("sheet.between", low=written(low, "g"), high=written(high, "g"))
    return rule | {"criteria": "between", "minimum": low, "maximum": high, "error_message": told}


def _letters(col: int) -> str:
    return ("" if col < 26 else chr(64 + col // 26)) + chr(65 + col % 26)


def address(row: int, col: int, sheet: str = "") -> str:
    """Address of a cell, rows and columns counted from 0."""
    return f"{of_sheet(sheet)}${_letters(col)}${row + 1}"


def area(top: int, left: int, bottom: int, right: int, sheet: str = "") -> str:
    """Address of all cells between two corners."""
    return f"{address(top, left, sheet)}:{address(bottom, right)}"


def of_sheet(sheet: str) -> str:
    """Return the sheet part of an address."""
    return f"'{sheet}'!" if sheet and not sheet.isalnum() else f"{sheet}!" if sheet else ""


def sum_of(rows: Iterable[int], cols: Iterable[int], sheet: str = "") -> str:
    """Sum of the cells in all these rows and columns, neighbours taken together; 0 without any."""
    columns = runs(cols)
    terms = [
        address(down[0], across[0], sheet)
        if len(down) == len(across) == 1
        else f"SUM({area(down[0], across[0], down[-1], across[-1], sheet)})"
        for down in runs(rows)
        for across in columns
    ]
    return f"({'+'.join(terms)})" if len(terms) > 1 else "".join(terms) or "0"


def tab(key: str) -> str:
    """Name of a sheet."""
    return said(f"sheet.tab.{key}")
