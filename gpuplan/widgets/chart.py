"""Charts that work offline: Vega in a packaged file, one for the page, and a widget that sends rows apart from the rest.

``alt.JupyterChart`` loads Vega from the internet, makes a chart again whenever a number changes, and needs altair in
every session. `Chart` is drawn by ``static/chart.js``: while only the rows change, Vega keeps what it has made.

After an update of altair, make the bundle again with ``python -m gpuplan.widgets.chart``; this needs
``vl-convert-python``.
"""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path
from typing import Any

import anywidget
import ipywidgets
import traitlets

from gpuplan.report.colours import OKABE_ITO
from gpuplan.widgets.part import Sent

STATIC = Path(__file__).parent / "static"
BUNDLE = STATIC / "vega.js"
"""Vega, Vega-Lite and Vega-Embed as altair uses them; the altair is named in the first line."""

SCHEMA = "https://vega.github.io/schema/vega-lite/v6.1.0.json"
"""What a chart is written in; the name is never fetched."""

LIGHT = {"ink": "#1a2230", "ink2": "#5a6576", "line": "#dfe3e9"}
DARK = {"ink": "#e8edf4", "ink2": "#9aa7b8", "line": "#2b3644"}
FONT = '"Segoe UI", system-ui, -apple-system, Roboto, sans-serif'


def write_bundle(path: Path = BUNDLE) -> int:
    """Write the bundle for the installed altair; its return value is the size of the file.

    Parameters
    ----------
    path : Path
        File to write.

    Returns
    -------
    int
        Characters written.
    """
    import altair
    import vl_convert
    from altair.utils._importers import vl_version_for_vl_convert

    give = "export default { initialize() { (globalThis.gpuplanVega ??= Promise.withResolvers()).resolve(vegaEmbed); } };"
    source = vl_convert.javascript_bundle(give, vl_version=vl_version_for_vl_convert())
    return path.write_text(f"// Vega for altair {altair.__version__}\n{source}", encoding="utf-8")


class Vega(anywidget.AnyWidget):
    """Brings Vega to the page, once for all charts."""

    _esm = BUNDLE if BUNDLE.exists() else ""


_brought: list[Vega] = []


def _vega() -> Vega:
    """The one of this session; one that was closed belongs to a session that has ended."""
    if not _brought or _brought[0].comm is None:
        _brought[:] = [Vega()]
    return _brought[0]


class Chart(Sent):
    """A chart that follows its data: make it once, then assign ``.chart``.

    Parameters
    ----------
    chart : altair.TopLevelMixin or dict, optional
        First chart, of altair or as Vega-Lite; None shows nothing until one is assigned.
    """

    _esm = STATIC / "chart.js"
    spec = traitlets.Dict().tag(sync=True)
    """The chart as Vega-Lite, with names in place of its rows."""
    rows = traitlets.Dict().tag(sync=True)
    """Name -> rows."""
    vega = traitlets.Instance(Vega).tag(sync=True, **ipywidgets.widget_serialization)

    def __init__(self, chart: Any = None) -> None:
        self._chart = chart
        spec, rows = _split(chart)
        super().__init__(vega=_vega(), spec=spec, rows=rows)

    @property
    def chart(self) -> Any:
        """What is drawn, as it was assigned."""
        return self._chart

    @chart.setter
    def chart(self, chart: Any) -> None:
        self._chart = chart
        with self.hold_sync():
            self.spec, self.rows = _split(chart)


def _split(chart: Any) -> tuple[dict[str, Any], dict[str, list[Any]]]:
    return split_rows({} if chart is None else chart if isinstance(chart, dict) else chart.to_dict())


def split_rows(whole: dict[str, Any]) -> tuple[dict[str, Any], dict[str, list[Any]]]:
    """A chart with names in place of its rows, and the rows by name; the same list gets the same name.

    Parameters
    ----------
    whole : dict
        A chart as Vega-Lite.

    Returns
    -------
    tuple
        The chart without rows, and name -> rows.
    """
    rows: list[list[Any]] = []

    def without(part: Any) -> Any:
        if isinstance(part, list):
            return [without(each) for each in part]
        if not isinstance(part, dict):
            return part
        return {key: named(each) if key == "data" else without(each) for key, each in part.items()}

    def named(data: Any) -> Any:
        if not isinstance(data, dict) or set(data) != {"values"}:
            return data
        values = data["values"]
        at = next((n for n, known in enumerate(rows) if known is values), len(rows))
        if at == len(rows):
            rows.append(values)
        return {"name": f"rows-{at}"}

    spec = without(whole)
    return spec, {f"rows-{at}": values for at, values in enumerate(rows)}


def theme(dark: bool) -> dict[str, Any]:
    """Look of every chart, as an altair config: ``chart.configure(**theme(dark))``.

    Parameters
    ----------
    dark : bool
        True for the dark palette.

    Returns
    -------
    dict
        Vega-Lite config: transparent background, the page's fonts and ink.
    """
    ink = DARK if dark else LIGHT
    return {
        "background": "transparent",
        "font": FONT,
        "view": {"stroke": None},
        "title": {
            "color": ink["ink"],
            "subtitleColor": ink["ink2"],
            "fontSize": 14,
            "fontWeight": 600,
            "anchor": "start",
        },
        "axis": {
            "labelColor": ink["ink2"],
            "titleColor": ink["ink2"],
            "labelFontSize": 12,
            "titleFontSize": 12,
            "titleFontWeight": 400,
            "gridColor": ink["line"],
            "domainColor": ink["line"],
            "tickColor": ink["line"],
        },
        "legend": {
            "labelColor": ink["ink"],
            "titleColor": ink["ink2"],
            "labelFontSize": 12,
            "titleFontSize": 12,
            "titleFontWeight": 400,
        },
        "header": {"labelColor": ink["ink"], "titleColor": ink["ink2"]},
        "text": {"color": ink["ink"], "fontSize": 12},
        "rule": {"color": ink["ink2"]},
        "range": {"category": list(OKABE_ITO)},
    }


@cache
def bundled_altair() -> str:
    """Version of altair that the packaged bundle was made for."""
    with BUNDLE.open(encoding="utf-8") as file:
        return file.readline().rpartition(" ")[2].strip()


if __name__ == "__main__":
    print(f"{BUNDLE}: {write_bundle():,} characters for altair {bundled_altair()}", file=sys.stderr)
