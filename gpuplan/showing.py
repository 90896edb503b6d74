"""How a thing is shown where its own room cannot draw it: cards and charts that the package registers, loaded when first shown."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

WAYS: dict[str, Callable[[Any], Any]] = {}
"""``card`` and ``plot`` -> what draws a thing in that way; the package's own file fills it in."""


class Carded:
    """A thing that is a card or a table in a cell of a notebook."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        return str(WAYS["card"](self))
