"""Charts: a Vega-Lite specification each (``NAME.yaml``), from plain rows, alike on screen and paper; a `Look` tells them apart.

Not made by altair, which validates what it makes and takes a second and 43 MB to import. ``demand``, ``design`` and ``explore`` make the
rows; ``paper`` draws those of documents as SVG.
"""

from gpuplan.report.charts.paper import curve_svg, day_svg, purchases_svg, waiting_svg, years_svg

__all__ = ["curve_svg", "day_svg", "purchases_svg", "waiting_svg", "years_svg"]
