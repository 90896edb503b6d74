"""The charts of a plan for notebooks, ``plan.plot.cost()``: altair charts that ask no other host."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from gpuplan.analysis.compare import Comparison
from gpuplan.analysis.explore import explore
from gpuplan.analysis.grid import Grid
from gpuplan.analysis.monte_carlo import MonteCarlo
from gpuplan.analysis.ranking import Exploration
from gpuplan.analysis.sensitivity import tornado
from gpuplan.analysis.solve import Frontier
from gpuplan.analysis.variants import Progress
from gpuplan.extras import needs_extra
from gpuplan.facts import did_you_mean, own_specs
from gpuplan.plan import Plan
from gpuplan.plan.training.llm_job import job_curves
from gpuplan.report.charts.design import capacity_chart, capacity_rows, scaling_chart, scaling_rows
from gpuplan.report.charts.explore import frontier_chart, frontier_rows, tornado_chart, tornado_rows
from gpuplan.report.charts.look import NOTEBOOK, WIDE, Spec, config
from gpuplan.report.charts.paper import day_spec, described, picture, waiting_spec, years_spec
from gpuplan.report.charts.solve import curve_chart, curve_rows
from gpuplan.report.charts.studies import draws_chart, draws_rows, study_chart, study_rows
from gpuplan.report.explore_report import exploration_dict
from gpuplan.report.plan_data import fields_of, plain
from gpuplan.scenario import Problem, ScenarioError, pick, show
from gpuplan.showing import Study
from gpuplan.wording import NAMES, said

if TYPE_CHECKING:
    import altair as alt

RENDERER = "gpuplan"
"""Name of altair's renderer that shows a chart without the internet, see `offline`."""
MIME = "application/vnd.vegalite.v5+json"
"""MIME type of the newest Vega-Lite that JupyterLab 4 and Voila render; altair's charts use it, too."""
WIDTH = 560
WIDTH_NAME = re.compile(r"\bwidth\b")
NO_COST = said("chart.none.cost")
Drawn = tuple[Spec | None, str]
"""A chart, or None, and the text where there is nothing to draw."""
TOP_ONLY = ("$schema", "config", "padding", "autosize")
"""Keys that altair rejects in layered or concatenated charts."""
CHANNELS = ("color", "fill", "stroke", "strokeDash", "shape", "size", "opacity")
"""What a chart shares with none that it is joined with: it would merge colours and legends."""
MANY_PLANS = ("tornado", "frontier")


class Plot:
    """The charts of a plan, see `Plan.plot`; each method returns an altair chart."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan

    def __repr__(self) -> str:
        return f"charts of {self._plan.scenario.name!r}: {', '.join(f'{name}()' for name in CHARTS)}"

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"there is no chart {name!r}{did_you_mean(name, CHARTS)}")

    def spec(self, name: str, *about: Any) -> Spec:
        """A chart as Vega-Lite, as wide as its place: it follows a design that moves, so those that plan many designs are refused."""
        if name in MANY_PLANS:
            why = f"plan.plot.{name}(), once: it plans many designs"
            raise ScenarioError([Problem("chart", show(name), why)])
        chart, nothing = pick(SPECS, name, "chart")(self._plan, *about)
        spec = chart or _words(nothing)
        return spec | WIDE if "layer" in spec else _of_width(spec, spec["spec"]["width"])

    def cost(self) -> alt.LayerChart:
        """Draw the payments at the start and in each year, by part."""
        return _chart(*SPECS["cost"](self._plan))

    def demand(self, place: str = "UTC") -> alt.LayerChart:
        """GPUs needed on average in each hour of a Wednesday and a Saturday, by group, on the clock of a place."""
        return _chart(*SPECS["demand"](self._plan, place))

    def waiting(self, pool: str = "") -> alt.LayerChart:
        """The probability of waiting by the number of GPUs of a pool, for each assumption about arrivals."""
        return _chart(*SPECS["waiting"](self._plan, pool))

    def capacity(self) -> alt.LayerChart:
        """GPUs left when hosts are lost, against those that the placed VMs occupy."""
        return _chart(*_capacity(self._plan))

    def network(self, view: str = "efficiency") -> alt.LayerChart:
        """Training over the number of hosts, this network against others; the view is ``efficiency`` or ``speed``."""
        return _chart(*_network(self._plan, view))

    def tornado(self, view: str = "cost", progress: Progress | None = None) -> alt.LayerChart:
        """Draw how far each input moves ``cost`` or ``hosts``; ``progress`` receives inputs done, and all."""
        plan = self._plan
        pick(NAMES["view of the tornado"], view, "view")
        if plan.costs is None:
            return _chart(None, NO_COST)
        now = plan.costs.net_present if view == "cost" else plan.totals.hosts
        rows = tornado_rows(plain(tornado(plan, progress=progress)), view, now, plan.costs.currency)
        return _chart(tornado_chart(rows, NOTEBOOK) if rows["rows"] else None, said("chart.none.tornado"))

    def frontier(self, progress: Progress | None = None) -> alt.LayerChart:
        """Draw cost against shortfall of many designs; ``progress`` receives designs done, and all."""
        plan = self._plan
        return _explored(explore(plan.scenario, plan.catalog, progress=progress or progress_line()))


def _capacity(plan: Plan) -> Drawn:
    rows = capacity_rows(plan)
    return capacity_chart(rows, NOTEBOOK) if rows else None, said("chart.none.capacity")


def _network(plan: Plan, view: str = "efficiency") -> Drawn:
    pick(NAMES["view of the scaling"], view, "view")
    curves = job_curves(plan.scenario, plan.catalog)
    return scaling_chart(scaling_rows(curves, view, plan.network.training[-1].unit), NOTEBOOK), ""


SPECS: Mapping[str, Callable[..., Drawn]] = {
    "cost": lambda plan: (years_spec(plan, NOTEBOOK), NO_COST),
    "demand": lambda plan, place="UTC": (day_spec(plan, NOTEBOOK, place), said("chart.none.demand")),
    "waiting": lambda plan, pool="": (waiting_spec(plan, NOTEBOOK, pool), said("chart.none.waiting")),
    "capacity": _capacity,
    "network": _network,
}
"""Charts of one plan that can follow a design."""
CHARTS = (*SPECS, *MANY_PLANS)


def _words(nothing: str) -> Spec:
    text = {"type": "text", "text": nothing, "color": NOTEBOOK.ink}
    return {"data": {"values": [{}]}, "layer": [{"mark": text}]}


@needs_extra()
def _chart(spec: Spec | None, nothing: str) -> alt.LayerChart:
    """Return an altair chart that can be laid over others, or text where there is nothing to draw."""
    import altair as alt

    kept = {name: part for name, part in (spec or _words(nothing)).items() if name not in TOP_ONLY}
    width = WIDTH if "width" in kept else kept["spec"]["width"] if "spec" in kept else 0
    sized = _of_width(kept | ({"width": WIDTH} if "width" in kept else {}), width)
    inside = {"layer": [{"layer": sized["layer"]}]} if "layer" in sized else {"hconcat": [sized]}
    of_its_own = {kind: dict.fromkeys(CHANNELS, "independent") for kind in ("scale", "legend")}
    chart: alt.LayerChart = _own(
        alt.Chart.from_dict((sized if "layer" in sized else {}) | inside | {"resolve": of_its_own})
    )
    return chart


def _of_width(part: Any, width: float) -> Any:
    """Return a part of a chart with a number for its width in expressions: beside another chart that has no name."""
    if isinstance(part, list):
        return [_of_width(item, width) for item in part]
    if not isinstance(part, dict):
        return part
    return {
        key: WIDTH_NAME.sub(str(width), item) if key == "expr" else _of_width(item, width)
        for key, item in part.items()
    }


def _own(chart: Any) -> Any:
    """Have a chart show itself without the internet, also laid over others or beside them; all other charts stay as they are."""
    kind: Any = type(chart)
    object.__setattr__(chart, "__class__", _own_kind(kind))  # altair's own sets a property of the chart
    return chart


@cache
def _own_kind(kind: Any) -> Any:
    """The kind of altair chart that shows itself so, unless the user chose a renderer."""
    if kind.__module__ == __name__:
        return kind

    def bundle(chart: Any, **which: Any) -> Any:
        altair = sys.modules["altair"]
        own = altair.renderers.active in ("default", RENDERER)
        return _shown(_styled(chart.to_dict())) if own else kind._repr_mimebundle_(chart, **which)

    def joined(how: str) -> Callable[[Any, Any], Any]:
        return lambda chart, other: _own(getattr(kind, how)(chart, other))

    def over(chart: Any, other: Any) -> Any:
        laid = other.copy(deep=False)
        laid.width = laid.height = sys.modules["altair"].Undefined  # it has the size of the chart below
        return _own(kind.__add__(chart, laid))

    ways = {"__add__": over} | {how: joined(how) for how in ("__and__", "__or__")}
    return type(kind.__name__, (kind,), {"__module__": __name__, "_repr_mimebundle_": bundle} | ways)


def _styled(spec: Spec) -> Spec:
    """Return a chart, or charts that are joined, in the look of a notebook, changed by what it says itself."""
    look, own = config(NOTEBOOK), spec.get("config", {})
    merged = {
        name: look[name] | part if isinstance(look.get(name), dict) else part for name, part in own.items()
    }
    return spec | {"config": look | merged}


def study(found: Study, figure: str = "") -> alt.LayerChart:
    """Draw a figure of the designs of a study, or the one chart that an exploration and a frontier have."""
    if isinstance(found, Exploration | Frontier):
        pick({"": None}, figure, "figure")
        return _explored(found) if isinstance(found, Exploration) else curve(found)
    frame, figure = found.frame, figure or "net_present"
    pick(frame.attrs["units"], figure, "figure")
    if isinstance(found, MonteCarlo):
        about = {str(kind): words for kind, words in frame.attrs.items()}
        return _distribution(found, frame[figure].dropna(), figure, about)
    axes = (
        list(found.inputs)
        if isinstance(found, Grid)
        else [str(frame.index.name) if isinstance(found, Comparison) else "label"]
    )
    known = frame.reset_index().astype(object)
    records: list[Any] = known.where(known.notna(), None).to_dict("records")
    data = study_rows(records, axes, figure, frame.attrs["labels"], frame.attrs["units"])
    return _chart(study_chart(data, NOTEBOOK) if data else None, NO_COST)


def _distribution(found: MonteCarlo, values: Any, figure: str, about: Mapping[str, Any]) -> alt.LayerChart:
    known = hasattr(found.points[0], figure)
    quantiles = {share: found.quantile(figure, share).value for share in (0.1, 0.5, 0.9) if known}
    label, unit = about["labels"].get(figure, figure), about["units"][figure]
    data = draws_rows(values.tolist(), quantiles, label, unit)
    return _chart(draws_chart(data, NOTEBOOK) if data else None, NO_COST)


def _explored(found: Exploration) -> alt.LayerChart:
    rows = frontier_rows(exploration_dict(found, found.scenario))
    return _chart(frontier_chart(rows, NOTEBOOK) if rows else None, said("chart.none.frontier"))


def curve(found: Frontier, budget: float | None = None) -> alt.LayerChart:
    """Draw what each budget buys, and mark the design that serves most for one."""
    about = {"quantity": {"name": found.quantity.name}, "currency": found.scenario.cost.currency}
    rows = curve_rows(about | {"points": [fields_of(each) for each in found.points]}, budget)
    return _chart(curve_chart(rows, NOTEBOOK) if rows else None, said("solved.none yet"))


def _rounded(part: Any) -> Any:
    """Round away digits that no chart shows, so that a notebook keeps the same on every machine."""
    if isinstance(part, float):
        return float(f"{part:.9g}")
    if isinstance(part, list | tuple):
        return [_rounded(value) for value in part]
    return {name: _rounded(value) for name, value in part.items()} if isinstance(part, dict) else part


@needs_extra()
def offline() -> None:
    """Have all altair charts of this session shown without the internet, as those of a plan are: data, words and a picture."""
    import altair as alt

    alt.renderers.register(RENDERER, _shown)
    alt.renderers.enable(RENDERER)


def _shown(spec: Spec, **_options: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """A chart as a cell keeps it: data, words and a picture for pages that run no scripts."""
    spec = _rounded(spec)
    text = described(spec) or said("chart.a chart")
    bundle: dict[str, Any] = {MIME: {name: part for name, part in spec.items() if name != "$schema"}}
    about: dict[str, Any] = {MIME: {"embed_options": own_specs("gpuplan.report.charts", "notebook")}}
    with suppress(ValueError):  # its rows are on another host: no picture
        bundle["image/png"], width = picture(spec)
        about["image/png"] = {"alt": text, "width": width}
    return bundle | {"text/plain": text}, about


def progress_line() -> Progress | None:
    """Show a line in a notebook's cell with the progress, and remove it on completion."""
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    if not hasattr(shell, "kernel"):
        return None
    show: Any = import_module("IPython.display")
    line = show.display(show.HTML(""), display_id=True)

    def told(done: int, of: int) -> None:
        line.update(show.HTML(said("chart.planned", done=done, of=of) if done < of else ""))

    return told
