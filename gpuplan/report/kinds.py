"""Kinds of quantities in a table: how a value whose unit is in the head is written, and whether it is a number."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple

from gpuplan.facts import own_rows
from gpuplan.locales import written_day
from gpuplan.wording import basis_word, hours, points, spanned, unsigned, worded

KEY = "key"
"""The kind of an id that programs join tables by; no reader sees it."""


def between(ends: tuple[float, float], words: Callable[[float], str]) -> str:
    """Return a range in words with its unit once: ``0 to 3 %``; one value where both ends read the same."""
    low, high = map(words, ends)
    return low if low == high else spanned(unsigned(low), high)


class Kind(NamedTuple):
    """A kind of quantity: the format of a value whose unit is in the head, and whether it is aligned as a number."""

    words: Callable[[Any], str]
    numeric: bool
    unit: str
    """Unit of values that need none in the head: counts, and shares, of which 1 is all."""
    cell: str
    """Kind of cell of a workbook that holds the numbers; empty if it holds text."""


OWN: Mapping[str, Callable[[Any], str]] = {
    "": str, "day": written_day, "points": points, "hours": hours, "basis": basis_word, "sources": ", ".join,
}  # fmt: skip
"""Formats that texts have not, or have for other values."""
KINDS = {
    row["kind"]: Kind(
        OWN.get(row["format"]) or partial(worded, spec=row["format"]),
        bool(row["numeric"]),
        row["unit"],
        row["cell"],
    )
    for row in own_rows("words/kinds")
}
