"""A design in a notebook: its scenario and plan are values to watch, and every widget of it follows them."""

from collections.abc import Callable
from typing import Any

from ipywidgets import Dropdown, FloatSlider, IntSlider, Layout

from gpuplan.analysis.variants import has_input
from gpuplan.app.screen import WorkbookApp, step_named
from gpuplan.app.state import Workbook
from gpuplan.app.workbook_traits import WorkbookTraits
from gpuplan.catalog import Catalog
from gpuplan.plan import Asked, planned
from gpuplan.report.tables.known import input_words
from gpuplan.report.tables.plan import catalog_choices
from gpuplan.scenario import Problem, ScenarioError, field_of, show
from gpuplan.widgets.chart import Chart

OFFERED = (
    *("catalog", "chart", "choice", "failed", "observe", "plan"),
    *("scenario", "set", "slider", "unobserve", "widget", "workbook"),
)
"""Names that Tab offers for a design: traits have many names of their own."""
WIDTH = "min(100%, 34rem)"
"""Width of a slider: its label, a track that a hand can set, and its value."""
REFUSED = "#d55e00"
STYLE = {"description_width": "initial"}


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
        super().__init__(Workbook(self.catalog, plan.scenario))

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

    def workbook(self) -> WorkbookApp:
        """Return the whole workbook of this design."""
        self.state.go("usecases")
        return WorkbookApp(self.state)

    def slider(self, path: str, low: float, high: float, step: float = 1) -> FloatSlider:
        """Return a slider for a number; it springs back from a value that cannot be planned, and says so."""
        spec, now = field_of(path), self.plan.planned(path)
        if isinstance(now, str | bool) or spec.kind in ("id", "bool"):
            why = "a number for a slider; design.choice offers what it may be"
            raise ScenarioError([Problem(path, show(now), why)])
        whole = spec.kind == "int" and all(float(end).is_integer() for end in (low, high, step))
        kind, form = (IntSlider, "d") if whole else (FloatSlider, _form(spec.kind, step))
        ends = {"value": low, "min": low, "max": high, "step": step}
        widget = kind(**ends, readout_format=form, style=STYLE, layout=Layout(width=WIDTH))

        def put(value: Any) -> None:
            if value is not None:
                widget.min, widget.max = min(widget.min, value), max(widget.max, value)
                widget.value = value

        return self._bound(path, widget, put)

    def choice(self, path: str, *values: Any) -> Dropdown:
        """Return a choice for an input such as ``network.transport`` or ``hardware.gpu``: of all values, or of some."""
        spec = field_of(path)
        if not values and spec.kind not in ("choice", "bool", "id"):
            raise ScenarioError([Problem(path, show(spec.kind), "a choice; design.slider moves a number")])
        every = [id for id, _ in catalog_choices(self.catalog, spec.table)] if spec.table else spec.choices
        options = list(values) or [*[None] * spec.optional, *(every or (True, False))]
        widget = Dropdown(style=STYLE, layout=Layout(width=WIDTH))

        def put(value: Any) -> None:
            if value not in options:
                options.append(value)
            widget.options = [(input_words(self.plan, path, option), option) for option in options]
            widget.value = value

        return self._bound(path, widget, put)

    def chart(self, name: str, *about: Any) -> Chart:
        """Return a chart of `Plan.plot` that follows the design, such as ``design.chart("cost")``."""
        widget = Chart(self.plan.plot.spec(name, *about))
        self.observe(lambda change: setattr(widget, "chart", change["new"].plot.spec(name, *about)), "plan")
        return widget

    def _bound(self, path: str, made: Any, put: Callable[[Any], None]) -> Any:
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
                said("")

        def said(why: str, value: Any = None) -> None:
            label = self.scenario.label(path)
            made.description = f"{label}: {show(value)} refused" if why else label
            made.tooltip = why or label
            if made.style.has_trait("handle_color"):
                made.style.handle_color = REFUSED if why else None

        def moved(change: Any) -> None:
            if following:
                return
            try:
                self.scenario = self.scenario.with_value(path, change["new"])
            except ValueError as error:  # of the scenario, or of a model that cannot answer
                follow()
                said(str(error), change["new"])

        follow()
        made.add_class("gp-input")
        made.observe(moved, "value")
        self.observe(follow, "plan")
        return made


def _form(kind: str, step: float) -> str:
    """Return the number format of a slider: as many digits as its step has."""
    digits = max(0, len(f"{step:.6f}".rstrip("0").partition(".")[2]) - 2 * (kind == "share"))
    return f".{digits}{'%' if kind == 'share' else 'f'}"
