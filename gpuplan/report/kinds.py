"""Kinds of quantities in a table: how a value whose unit is in the head is written, and whether it is a number."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from gpuplan.locales import written, written_day
from gpuplan.wording import TOLD, basis_word, hours, number, percent, points, unsigned, wait_words, watts

KEY = "key"
"""The kind of an id that programs join tables by; no reader sees it."""


def two_places(value: float) -> str:
    """Format a rate or a duration with two decimals."""
    return written(value, ",.2f")


def between(ends: tuple[float, float], words: Callable[[float], str]) -> str:
    """Return a range in words with its unit once: ``0 to 3 %``; one value where both ends read the same."""
    low, high = map(words, ends)
    return low if low == high else f"{unsigned(low)} to {high}"


class Kind(NamedTuple):
    """A kind of quantity: the format of a value whose unit is in the head, and whether it is aligned as a number."""

    words: Callable[[Any], str]
    numeric: bool = True


KINDS: Mapping[str, Kind] = {
    "text": Kind(str, numeric=False),
    KEY: Kind(str, numeric=False),
    "day": Kind(written_day, numeric=False),
    "number": Kind(number),
    "whole": Kind(TOLD["whole"]),
    "duration": Kind(two_places),
    "mean": Kind(TOLD["1"]),
    "money": Kind(TOLD["money"]),
    "price": Kind(TOLD["money"]),
    "change": Kind(TOLD["money"]),
    "share": Kind(percent),
    "portion": Kind(TOLD["share"]),
    "range": Kind(TOLD["share"], numeric=False),
    "points": Kind(points),
    "hours": Kind(hours),
    "wait": Kind(wait_words),
    "watts": Kind(watts),
    "yes": Kind(number, numeric=False),
    "basis": Kind(basis_word, numeric=False),
    "sources": Kind(", ".join, numeric=False),
}
