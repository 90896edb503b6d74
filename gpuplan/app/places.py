"""Place of an input on the screen: its step, and the tab of that step."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import NamedTuple

from gpuplan.facts import own_rows


class Found(NamedTuple):
    """A tab of a step."""

    step: str
    tab: str


PLACES = tuple((row["path"], Found(row["step"], row["tab"])) for row in own_rows("words/input_places"))
"""Beginning or end of an input's path -> place where it is entered; the first that fits counts."""


def place_of(path: str) -> Found:
    """Return the step and the tab of an input."""
    return next(found for pattern, found in PLACES if fnmatchcase(path, pattern))
