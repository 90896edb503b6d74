"""Display of an object outside its own module: cards and charts that the package registers, loaded when first shown."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import altair as alt
    import pandas as pd

WAYS: dict[str, Callable[..., Any]] = {}
"""``card``, ``plot`` and others -> the function above that shows an object this way; the package's ``__init__`` fills it in."""


class Carded:
    """An object that is shown as a card or a table in a cell of a notebook."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        return str(WAYS["card"](self))


class Study(Carded):
    """An object about many plans, with a tidy frame and a chart in a notebook."""

    __slots__ = ()

    @property
    def frame(self) -> "pd.DataFrame":
        """One design a row under a key of its own; units of the columns in ``attrs["units"]``."""
        frame: pd.DataFrame = WAYS["frame"](self)
        return frame

    def plot(self, figure: str = "") -> "alt.LayerChart":
        """Draw a figure of the designs, such as ``hosts``; by default the net present cost."""
        chart: alt.LayerChart = WAYS["study"](self, figure)
        return chart
