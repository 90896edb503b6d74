"""Look of a workbook's cells, in the colours and fonts of a brand."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gpuplan.deliver.brand import Brand
from gpuplan.deliver.xlsx.measure import SIZE
from gpuplan.locales import SPOKEN

INDIAN = "[>=10000000]##\\,##\\,##\\,##0;[>=100000]##\\,##\\,##0;#,##0"
"""Whole numbers in lakh and crore. Other separators follow the reader's own spreadsheet."""
MONEY, CHANGE = '#,##0;-#,##0;"\u2013"', '+#,##0;-#,##0;"\u2013"'
"""Amounts of money, and their changes: a dash for nothing."""
TINT = "FFF4CC"
"""Tint of cells that are meant to be changed."""
ROW: Mapping[str, Any] = {"bottom": 1, "bottom_color": "line"}
"""Border below the cells of a table."""
RIGHT: Mapping[str, Any] = {"align": "right"}
WRAP: Mapping[str, Any] = {"text_wrap": True}
HEAD: Mapping[str, Any] = {"bold": True, "font_color": "white", "bg_color": "accent", "valign": "bottom"}
INDENTED = ("text", "head")
"""Kinds of cells that keep a distance from a number to their left."""
TILE: Mapping[str, Any] = {"bg_color": "shade", "indent": 1, "align": "left"}
BAND: Mapping[str, Any] = {"font_color": "white", "bg_color": "accent", "indent": 1, "valign": "vcenter"}
KINDS: Mapping[str, Mapping[str, Any]] = {
    "text": {**ROW, **WRAP},
    "int": {**ROW, **RIGHT, "num_format": "#,##0"},
    "num": {**ROW, **RIGHT, "num_format": "#,##0.0##"},
    "small": {**ROW, **RIGHT, "num_format": "0.0#####"},
    "money": {**ROW, **RIGHT, "num_format": MONEY},
    "price": {**ROW, **RIGHT, "num_format": "#,##0.00##"},
    "percent": {**ROW, **RIGHT, "num_format": "0.00%"},
    "change": {**ROW, **RIGHT, "num_format": CHANGE},
    "head": {**HEAD, **WRAP},
    "head of numbers": {**HEAD, **WRAP, **RIGHT},
    "title": {"bold": True, "font_size": 14, "font_color": "accent", "font_name": "headings", **WRAP},
    "section": {"bold": True, "font_size": 12, "font_color": "accent", "font_name": "headings", **WRAP},
    "note": {"font_color": "quiet", **WRAP},
    "band": {**BAND, **WRAP, "bold": True, "font_size": 18, "font_name": "headings"},
    "band below": {**BAND, **WRAP},
    "lead": {"bold": True, "font_size": 11, **WRAP},
    "plain": {**WRAP},
    "tile": {**TILE, **WRAP, "font_color": "quiet", "valign": "bottom"},
    "tile value": {
        **TILE,
        "shrink": True,
        "bold": True,
        "font_size": 16,
        "font_color": "accent",
        "num_format": "#,##0",
    },
    "tile note": {**TILE, **WRAP, "font_color": "quiet"},
}
"""Kinds of cells: in tables, above and below them, and on the first sheet."""
NUMBERS = ("int", "num", "small", "money", "price", "percent", "change")
"""Kinds of cells that hold numbers."""
COLOURS = ("accent", "ink", "quiet", "shade", "line")


def size_of(kind: str) -> float:
    """Font size of a kind of cell, in points."""
    return float(KINDS[kind].get("font_size", SIZE))


def is_bold(kind: str) -> bool:
    """True if the text of a kind of cell is bold."""
    return bool(KINDS[kind].get("bold"))


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
            given = {"valign": "top", "font_color": "ink", **KINDS[kind], **more}
            if bold:
                given |= {"bold": True, "top": 1, "top_color": "quiet"}
            if tinted:
                given |= {"bg_color": f"#{TINT}", "border": 1, "border_color": "line", "locked": False}
            if right:
                given |= {**RIGHT, **WRAP}
            made = self._book.add_format({name: self._value(name, value) for name, value in given.items()})
            if quoted:
                made.set_quote_prefix()
            self._made[key] = made
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
