"""Display of an object outside its own module: cards and charts that the package registers, loaded when first shown."""

from collections.abc import Callable
from typing import Any

WAYS: dict[str, Callable[..., Any]] = {}
"""``card``, ``plot`` and others -> the function above that shows an object this way; the package's ``__init__`` fills it in."""


class Carded:
    """An object that is shown as a card or a table in a cell of a notebook."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        return str(WAYS["card"](self))
