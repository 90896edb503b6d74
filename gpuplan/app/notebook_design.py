"""A design in a notebook: its scenario and plan are values to watch, and every widget of it follows them."""

from collections.abc import Callable
from typing import Any

import ipywidgets

from gpuplan.analysis.variants import has_input
from gpuplan.app.live import Headline, LiveTable
from gpuplan.app.screen import WorkbookApp, step_named
from gpuplan.app.state import Workbook
from gpuplan.app.workbook_traits import WorkbookTraits
from gpuplan.catalog import Catalog
from gpuplan.facts import did_you_mean
from gpuplan.plan import Asked, planned
from gpuplan.report.plot import SPECS
from gpuplan.report.tables.known import input_words
from gpuplan.report.tables.plan import catalog_choices
from gpuplan.scenario import Problem, ScenarioError, field_of, show
from gpuplan.widgets.chart import Chart
from gpuplan.widgets.kept import Kept
from gpuplan.wording import said

OFFERED = (
    *("catalog", "chart", "choice", "failed", "headline", "observe", "plan", "plot"),
    *("scenario", "set", "slider", "table", "unobserve", "widget", "workbook"),
)
"""Names that Tab offers for a design: traits have many names of their own."""
WIDTH = "min(100%, 34rem)"
"""Width of a slider: its label, a track that a hand can set, and its value."""
REFUSED = "#d55e00"
STYLE = {"description_width": "initial"}


class Slider(Kept, ipywidgets.FloatSlider):  # type: ignore[misc]
    """A slider for a number."""


class WholeSlider(Kept, ipywidgets.IntSlider):  # type: ignore[misc]
    """A slider for a whole number."""


class Choice(Kept, ipywidgets.Dropdown):  # type: ignore[misc]
    """A menu."""


class LivePlot:
    """Charts of a design that follow it; `Plan.plot` has the same once, and those that plan many designs."""

    def __init__(self, design: "Design") -> None:
        self._design = design

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"there is no live chart {name!r}{did_you_mean(name, SPECS)}")

    def cost(self) -> Chart:
        """Draw the payments at the start and in each year, by part."""
        return self._design.chart("cost")

    def demand(self, place: str = "UTC") -> Chart:
        """GPUs needed on average in each hour of a Wednesday and a Saturday, by group, on the clock of a place."""
        return self._design.chart("demand", place)

    def waiting(self, pool: str = "") -> Chart:
        """The probability of waiting by the number of GPUs of a pool, for each assumption about arrivals."""
        return self._design.chart("waiting", pool)

    def capacity(self) -> Chart:
        """GPUs left when hosts are lost, against those that the placed VMs occupy."""
        return self._design.chart("capacity")

    def network(self, view: str = "efficiency") -> Chart:
        """Training over the number of hosts, this network against others; the view is ``efficiency`` or ``speed``."""
        return self._design.chart("network", view)


class Design(WorkbookTraits):
    """A scenario with its plan, for use in a notebook.

    ``scenario``, ``plan`` and ``failed`` are traits: ``observe``, ``ipywidgets.link`` and ``interact`` work with
    them, and a change anywhere reaches all. Invalid values are refused; the last good plan stays.
    ``design["groups.research.people"]`` is an input, completed by Tab, to read and to set.

    Parameters:
        scenario (Scenario, Plan, Design or str): A scenario, or an object with one, or the name of an example or a file. [-]
        catalog: The plan's catalog, or the shipped one if none is given. [-]
    """

    def __init__(self, scenario: Asked, catalog: Catalog | None = None) -> None:
        plan = planned(scenario, catalog)  # refused here, not by the screen
        self.catalog = plan.catalog
        self._refused = ""
        super().__init__(Workbook(self.catalog, plan.scenario))
        self.observe(lambda _change: self._refuse(""), "plan")

    def __repr__(self) -> str:
        return f"Design({self.plan!r})"

    def __dir__(self) -> list[str]:
        return list(OFFERED)

    def _repr_html_(self) -> str:
        return self.plan._repr_html_()

    def set(self, path: str, value: Any) -> None:
        """Set an input, such as ``design.set("groups.research.people", 12)``; a ScenarioError lists allowed values."""
        self.scenario = self.scenario.with_value(path, value)

    def __getitem__(self, path: str) -> Any:
        return self.plan.set_up.get(path)

    def __setitem__(self, path: str, value: Any) -> None:
        self.set(path, value)

    def _ipython_key_completions_(self) -> list[str]:
        return list(self.scenario.paths)

    def widget(self, step: str) -> WorkbookApp:
        """Return a step of the workbook, such as ``hosts`` or ``cost``, as a widget that follows the design."""
        return WorkbookApp(self.state, step_named(step))

    def headline(self) -> Headline:
        """Return hosts, cost, GPUs and the verdict, each with its condition, as a widget that follows the design."""
        return Headline(self.state)

    def table(self, name: str) -> LiveTable:
        """Return a table of `plan_tables`, or those of a step, such as ``hosts``, as a widget that follows the design."""
        return LiveTable(self.state, name)

    @property
    def plot(self) -> LivePlot:
        """Charts that follow the design, such as ``design.plot.cost()``."""
        return LivePlot(self)

    def workbook(self) -> WorkbookApp:
        """Return the whole workbook of this design."""
        self.state.go("usecases")
        return WorkbookApp(self.state)

    def slider(self, path: str, low: float, high: float, step: float = 1) -> Slider | WholeSlider:
        """Return a slider for a number; it springs back from a value that cannot be planned, and says so."""
        spec, now = field_of(path), self.plan.planned(path)
        if isinstance(now, str | bool) or spec.kind in ("id", "bool"):
            why = "a number for a slider; design.choice offers what it may be"
            raise ScenarioError([Problem(path, show(now), why)])
        whole = spec.kind == "int" and all(float(end).is_integer() for end in (low, high, step))
        kind, form = (WholeSlider, "d") if whole else (Slider, _form(spec.kind, step))
        ends = {"value": low, "min": low, "max": high, "step": step}
        widget = kind(**ends, readout_format=form, style=STYLE, layout=ipywidgets.Layout(width=WIDTH))

        def put(value: Any) -> None:
            if value is not None:
                widget.min, widget.max = min(widget.min, value), max(widget.max, value)
                widget.value = value

        self._bind(path, widget, put)
        return widget

    def choice(self, path: str, *values: Any) -> Choice:
        """Return a choice for an input such as ``network.transport`` or ``hardware.gpu``: of all values, or of some."""
        spec = field_of(path)
        if not values and spec.kind not in ("choice", "bool", "id"):
            raise ScenarioError([Problem(path, show(spec.kind), "a choice; design.slider moves a number")])
        every = [id for id, _ in catalog_choices(self.catalog, spec.table)] if spec.table else spec.choices
        options = list(values) or [*[None] * spec.optional, *(every or (True, False))]
        widget = Choice(style=STYLE, layout=ipywidgets.Layout(width=WIDTH))

        def put(value: Any) -> None:
            if value not in options:
                options.append(value)
            widget.options = [(input_words(self.plan, path, option), option) for option in options]
            widget.value = value

        self._bind(path, widget, put)
        return widget

    def chart(self, name: str, *about: Any) -> Chart:
        """Return a chart of `Plan.plot` that follows the design, such as ``design.chart("cost")``."""
        widget = Chart(self.plan.plot.spec(name, *about))
        self.observe(lambda change: setattr(widget, "chart", change["new"].plot.spec(name, *about)), "plan")
        return widget

    def _refuse(self, why: str) -> None:
        """Say in the cards of the design why its last good plan stays, until there is another."""
        if why:
            self._refused = said("screen.open.last plan", why=why)
            self.state.say("stop", self._refused)
        elif self._refused:
            self.state.dismiss(self._refused)
            self._refused = ""

    def _bind(self, path: str, made: Any, put: Callable[[Any], None]) -> None:
        """Tie a widget to an input: a value that cannot be planned springs back, and the widget says so."""
        following = False

        def follow(_change: Any = None) -> None:
            nonlocal following
            made.disabled = not has_input(self.scenario, path)
            if not made.disabled:
                following = True
                try:
                    put(self.plan.planned(path))
                finally:
                    following = False
                refused("")

        def refused(why: str, value: Any = None) -> None:
            label, stated = self.scenario.label(path), self.plan.planned(path) is not None
            made.description = f"{label}: {show(value)} refused" if why else label
            made.tooltip = why or label
            if made.has_trait("readout"):
                made.readout = stated  # where it stands is else no value of the plan
                if not (stated or why):
                    made.description = f"{label}: {said('screen.training.not stated')}"
            if made.style.has_trait("handle_color"):
                made.style.handle_color = REFUSED if why else None

        def moved(change: Any) -> None:
            if following:
                return
            try:
                self.scenario = self.scenario.with_value(path, change["new"])
            except ValueError as error:  # of the scenario, or of a model that cannot answer
                follow()
                refused(str(error), change["new"])
                self._refuse(str(error))

        follow()
        made.add_class("gp-input")
        made.observe(moved, "value")
        self.observe(follow, "plan")


def _form(kind: str, step: float) -> str:
    """Return the number format of a slider: as many digits as its step has."""
    digits = max(0, len(f"{step:.6f}".rstrip("0").partition(".")[2]) - 2 * (kind == "share"))
    return f".{digits}{'%' if kind == 'share' else 'f'}"
