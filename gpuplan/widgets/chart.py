"""Charts that work offline: Vega in a packaged file (``make bundle``), a widget that sends rows apart, and its picture."""

from collections.abc import Callable
from html import escape
from pathlib import Path
from typing import Any

import anywidget
import ipywidgets
import traitlets

from gpuplan.locales import SPOKEN, Locale
from gpuplan.report.charts.look import Look, Spec
from gpuplan.report.charts.paper import described, picture
from gpuplan.widgets.kept import Kept, Output, words
from gpuplan.widgets.part import OnEvent, Sent
from gpuplan.wording import said

STATIC = Path(__file__).parent / "static"
BUNDLE = STATIC / "vega.js"
"""Vega, Vega-Lite and Vega-Embed as altair uses them; the altair is named in the first line."""


class Vega(anywidget.AnyWidget):
    """Brings Vega to the page, once for all charts."""

    _esm = BUNDLE if BUNDLE.exists() else ""


_brought: list[Vega] = []


def _vega() -> Vega:
    """Return this session's Vega; a closed one belongs to a session that has ended."""
    if not _brought or _brought[0].comm is None:
        _brought[:] = [Vega()]
    return _brought[0]


class Chart(Kept, Sent):
    """A chart that follows its data: make it once, of altair or as Vega-Lite, then assign ``.chart``; None shows nothing."""

    _esm = STATIC / "chart.js"
    _css = STATIC / "chart.css"
    changing = ("spec", "rows")
    spec = traitlets.Dict().tag(sync=True)
    """The chart as Vega-Lite, with names in place of its rows."""
    rows = traitlets.Dict().tag(sync=True)
    vega = traitlets.Instance(Vega).tag(sync=True, **ipywidgets.widget_serialization)

    def __init__(self, chart: Any = None) -> None:
        self._chart = chart
        spec, rows = _split(chart)
        super().__init__(vega=_vega(), spec=spec, rows=rows)
        self.add_class("gp-own-chart")

    def kept(self) -> list[Output]:
        """Return what the chart shows in words, and its picture."""
        drawn = self._chart if self._chart is None or isinstance(self._chart, dict) else self._chart.to_dict()
        if not drawn:
            return []
        text, (png, width) = described(drawn) or said("chart.a chart"), picture(drawn)
        about = {"image/png": {"alt": text, "width": width}}
        return [words(f"<p>{escape(text)}</p>", text), Output({"image/png": png, "text/plain": text}, about)]

    @property
    def chart(self) -> Any:
        """Chart that is drawn, as it was assigned."""
        return self._chart

    @chart.setter
    def chart(self, chart: Any) -> None:
        """Chart that is drawn, as it was assigned."""
        self._chart = chart
        with self.hold_sync():
            self.spec, self.rows = _split(chart)


class ChartPlace(ipywidgets.Box):  # type: ignore[misc]
    """Place of a chart while there is something to draw; drawn again when its data or the look changes."""

    children: Any

    def __init__(self, wide: bool = True, on_event: OnEvent | None = None) -> None:
        super().__init__()
        self._on_event = on_event
        self._chart: Chart | None = None
        self._last: tuple[Look, Locale, Any] | None = None
        self.add_class("gp-chart")
        if wide:
            self.add_class("gp-chart-wide")

    def show(self, data: Any, draw: Callable[[Any, Look], Spec], look: Look, *, stale: bool) -> None:
        """Draw the data if it changed, or nothing if there is none; ``stale`` greys it out."""
        mark = self.add_class if stale else self.remove_class
        mark("gp-stale")
        now = (look, SPOKEN.get(), data)
        if now == self._last:
            return
        self._last = now
        if data:
            drawn = draw(data, look)
            if self._chart is None:
                self._chart = Chart(drawn)
                if self._on_event:
                    self._chart.hear(self._on_event)
            else:
                self._chart.chart = drawn
        children = (self._chart,) if data else ()
        if self.children != children:
            self.children = children


def _split(chart: Any) -> tuple[dict[str, Any], dict[str, list[Any]]]:
    return split_rows({} if chart is None else chart if isinstance(chart, dict) else chart.to_dict())


def split_rows(whole: dict[str, Any]) -> tuple[dict[str, Any], dict[str, list[Any]]]:
    """Return a chart with names in place of its rows, and the rows by name; the same list gets the same name."""
    rows: list[list[Any]] = []

    def without(part: Any) -> Any:
        if isinstance(part, list):
            return [without(item) for item in part]
        if not isinstance(part, dict):
            return part
        return {key: named(item) if key == "data" else without(item) for key, item in part.items()}

    def named(data: Any) -> Any:
        if not isinstance(data, dict) or set(data) != {"values"}:
            return data
        values = data["values"]
        at = next((n for n, other in enumerate(rows) if other is values), len(rows))
        if at == len(rows):
            rows.append(values)
        return {"name": f"rows-{at}"}

    spec = without(whole)
    return spec, {f"rows-{at}": values for at, values in enumerate(rows)}
