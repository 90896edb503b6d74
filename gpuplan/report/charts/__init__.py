"""Charts: a Vega-Lite specification each, from plain rows, alike on screen and paper; a `Look` tells them apart.

Written out rather than made by altair, which validates what it makes and takes a second and 43 MB to import. By topic:
``demand``, ``cost``, ``availability``, ``network``, ``explore``; ``paper`` draws those of documents as SVG.
"""

from gpuplan.report.charts.paper import day_svg, waiting_svg, years_svg
