"""The charts of a plan as altair charts, for notebooks: ``plan.plot.cost()``.

Each is the chart of the screen and of the documents, to be changed like any chart of altair. A chart in a cell asks no other host: JupyterLab,
Notebook and Voila draw it with the Vega that they bring, and a picture goes with it for pages without (see `offline`).
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from gpuplan.analysis.explore import explore
from gpuplan.analysis.sensitivity import tornado
from gpuplan.plan import Plan
from gpuplan.plan.llm_job import job_curves
from gpuplan.report.charts.availability import capacity_chart, capacity_rows
from gpuplan.report.charts.explore import frontier_chart, frontier_rows, tornado_chart, tornado_rows
from gpuplan.report.charts.look import NOTEBOOK, Spec
from gpuplan.report.charts.network import scaling_chart, scaling_rows
from gpuplan.report.charts.paper import day_spec, picture, waiting_spec, years_spec
from gpuplan.report.explore_report import exploration_dict
from gpuplan.report.plan_data import plain
from gpuplan.scenario import pick
from gpuplan.wording import NAMES

RENDERER = "gpuplan"
"""What altair calls the way to show a chart without the internet."""
MIME = "application/vnd.vegalite.v5+json"
"""The newest Vega-Lite that JupyterLab 4 and Voila bring a renderer for; what altair writes is in it, too."""
SHOWN = {"renderer": "svg", "actions": {"export": True, "source": False, "compiled": False, "editor": False}}
"""As text and shapes, in the colours of the page; the menu saves a picture and offers no editor on the internet."""
WIDTH = 560
TOP_ONLY = ("$schema", "config", "padding", "autosize")
"""What altair refuses in a chart that is laid over another or put beside one."""


class Plot:
    """The charts of a plan, see `Plan.plot`; each method gives one of altair."""

    def __init__(self, plan: Plan) -> None:
        offline()
        self._plan = plan

    def __repr__(self) -> str:
        charts = ", ".join(f"{name}()" for name in vars(Plot) if not name.startswith("_"))
        return f"charts of {self._plan.scenario.name!r}: {charts}"

    def cost(self) -> Any:
        """What is paid at the start and in each year, by part."""
        return _chart(years_spec(self._plan, NOTEBOOK), "No cost: the design has no hosts or no prices")

    def demand(self, place: str = "UTC") -> Any:
        """GPUs needed on average in each hour of a Wednesday and a Saturday, by group, on the clock of a place."""
        return _chart(day_spec(self._plan, NOTEBOOK, place), "No workloads yet")

    def waiting(self, pool: str = "") -> Any:
        """The probability of waiting by the number of GPUs of a pool, for each assumption about arrivals."""
        return _chart(waiting_spec(self._plan, NOTEBOOK, pool), "No requests for GPUs")

    def capacity(self) -> Any:
        """GPUs left when hosts are lost, against those that the placed VMs occupy."""
        rows = capacity_rows(self._plan)
        return _chart(capacity_chart(rows, NOTEBOOK) if rows else None, "No hosts")

    def network(self, view: str = "efficiency") -> Any:
        """Training over the number of hosts, this network against others; the view is ``efficiency`` or ``speed``."""
        views, plan = NAMES["view of the scaling"], self._plan
        pick(views, view, "view")
        curves = job_curves(plan.scenario, plan.catalog)
        rows = scaling_rows(curves, view, plan.network.training[-1].unit)
        return _chart(scaling_chart(rows, NOTEBOOK), "")

    def tornado(self, view: str = "cost") -> Any:
        """How far each input moves the answer within its range: the design is planned twice for each; the view is ``cost`` or ``hosts``."""
        plan = self._plan
        pick(NAMES["view of the tornado"], view, "view")
        if plan.costs is None:
            return _chart(None, "No cost: the design has no hosts or no prices")
        now = plan.costs.net_present if view == "cost" else plan.totals.hosts
        rows = tornado_rows(plain(tornado(plan)), view, now, plan.costs.currency)
        return _chart(tornado_chart(rows, NOTEBOOK) if rows["rows"] else None, "No input moves the answer")

    def frontier(self) -> Any:
        """Net present cost against capacity shortfall of every priced design for the same demand; exploring takes some seconds."""
        plan = self._plan
        rows = frontier_rows(exploration_dict(explore(plan.scenario, plan.catalog), plan.scenario))
        return _chart(frontier_chart(rows, NOTEBOOK) if rows else None, "No design has every price")


def _chart(spec: Spec | None, nothing: str) -> Any:
    """A chart of altair that can be laid over others, or words where there is nothing to draw."""
    import altair as alt

    if spec is None:
        spec = {
            "data": {"values": [{}]},
            "layer": [{"mark": {"type": "text", "text": nothing, "color": NOTEBOOK.ink}}],
        }
    kept = {name: _rounded(part) for name, part in spec.items() if name not in TOP_ONLY}
    return alt.Chart.from_dict(kept | ({"width": WIDTH} if "width" in kept else {}))


def _rounded(part: Any) -> Any:
    """Without digits that no chart shows: what a notebook keeps is the same on every machine."""
    if isinstance(part, float):
        return float(f"{part:.9g}")
    if isinstance(part, list | tuple):
        return [_rounded(each) for each in part]
    return {name: _rounded(each) for name, each in part.items()} if isinstance(part, dict) else part


def offline() -> None:
    """Have altair show the charts of this session without the internet, unless it was told to show them otherwise.

    By itself altair writes a page that loads Vega from another host. From the first ``plan.plot`` or ``gpuplan.Chart`` on, charts in cells are
    data for the renderer of JupyterLab, Notebook or Voila with a picture beside it, which ``nbconvert`` keeps.
    """
    import altair as alt

    if RENDERER not in alt.renderers.names():
        alt.renderers.register(RENDERER, _shown)
    if alt.renderers.active == "default":
        alt.renderers.enable(RENDERER)


def _shown(spec: Spec, **_options: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """A chart as a cell keeps it: what it is drawn from, its picture, and what it shows in words."""
    bundle: dict[str, Any] = {MIME: {name: part for name, part in spec.items() if name != "$schema"}}
    with suppress(ValueError):  # its rows are on another host: no picture
        bundle["image/svg+xml"] = picture(spec)
    bundle["text/plain"] = spec.get("description", "a chart")
    return bundle, {MIME: {"embed_options": SHOWN}, "image/svg+xml": {"alt": bundle["text/plain"]}}
