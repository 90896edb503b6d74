"""Serving the workbook to one person or to a team: Voila in this process, and what keeps visitors apart.

`server` starts it all. A request comes in through `connections` (limits), is known by `identity` or `hub` (who is it),
answered by `pages` or, for the connection of an open page, by `channels`; `sessions` has the process of each page.
"""

from gpuplan.app import forking  # before all of Jupyter: it says what of it is not needed
from gpuplan.app.serve.server import HEALTH, serve

__all__ = ["HEALTH", "serve"]
