"""Charts that work offline: altair's widget with its JavaScript in a packaged file.

``alt.JupyterChart`` loads Vega from the internet, and ``enable_offline()`` makes the bundle again in every
session (about 2 s and 100 MB). `Chart` reads a bundle that is part of the package.

After an update of altair, make the bundle again with ``python -m gpuplan.app.chart``; this needs
``vl-convert-python``.
"""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path
from typing import Any

import altair as alt

BUNDLE = Path(__file__).parent / "static" / "vega.js"
"""Vega, Vega-Lite, Vega-Embed and altair's own widget code, for the altair named in the first line."""

EMBED_OPTIONS: dict[str, Any] = {"actions": False, "renderer": "svg", "ast": True}
"""No menu (it is unnamed and offers an editor on the internet), vector output for print, and no ``eval``:
with ``ast`` Vega interprets its expressions, which the page's Content-Security-Policy demands."""

LIGHT = {"ink": "#1a2230", "ink2": "#5a6576", "line": "#dfe3e9"}
DARK = {"ink": "#e8edf4", "ink2": "#9aa7b8", "line": "#2b3644"}
FONT = '"Segoe UI", system-ui, -apple-system, Roboto, sans-serif'
OKABE_ITO = ("#0072b2", "#56b4e9", "#009e73", "#e69f00", "#cc79a7", "#d55e00")
"""Colours of groups in their order; never the only mark of a difference."""


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
    alt.JupyterChart.enable_offline(True)
    try:
        source = str(alt.JupyterChart._esm)
    finally:
        alt.JupyterChart.enable_offline(False)
    return path.write_text(f"// Vega for altair {alt.__version__}\n{source}", encoding="utf-8")


if __name__ == "__main__" and not BUNDLE.exists():
    write_bundle()  # the class below reads it


class Chart(alt.JupyterChart):
    """A chart that follows its data: make it once, then assign ``.chart``.

    Parameters
    ----------
    chart : altair.TopLevelMixin, optional
        First chart; None shows nothing until one is assigned.
    **kwargs
        Traits of ``alt.JupyterChart``.
    """

    _esm = BUNDLE  # type: ignore[assignment]
    _is_offline = True

    def __init__(self, chart: Any = None, **kwargs: Any) -> None:
        kwargs.setdefault("embed_options", dict(EMBED_OPTIONS))
        super().__init__(chart, **kwargs)


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
    print(f"{BUNDLE}: {write_bundle():,} characters for altair {alt.__version__}", file=sys.stderr)
