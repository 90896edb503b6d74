"""A design in a notebook: its scenario and plan are values to watch, and every widget of it follows them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gpuplan.app import bound
from gpuplan.app.holding import Holding
from gpuplan.app.screen import WorkbookApp, step_named
from gpuplan.app.state import Workbook
from gpuplan.catalog import Catalog
from gpuplan.plan import Asked, planned
from gpuplan.report.plot import offline
from gpuplan.widgets.chart import Chart

if TYPE_CHECKING:
    from ipywidgets import Dropdown, FloatSlider

OFFERED = (
    "catalog",
    "chart",
    "choice",
    "failed",
    "observe",
    "plan",
    "scenario",
    "set",
    "slider",
    "unobserve",
    "widget",
    "workbook",
)
"""Names that Tab offers for a design: traits have many names of their own."""


class Design(Holding):
    """A scenario with its plan, for use in a notebook.

    ``scenario``, ``plan`` and ``failed`` are traits: ``observe``, ``ipywidgets.link`` and ``interact`` work with them. A change by code, by a
    slider or by a click in one of its widgets reaches all of them. Invalid values are refused; the last good plan stays.
    ``design["groups.research.people"]`` is an input, completed by Tab, to read and to set.

    Parameters
    ----------
    scenario : Scenario, Plan, Design or str
        A scenario, or an object with one, or the name of an example or a file. [-]
    catalog : Catalog, optional
        The plan's catalog, or the shipped one if none is given. [-]

    Raises
    ------
    ScenarioError
        Naming each field that the catalog or the hardware does not allow.
    """

    def __init__(self, scenario: Asked, catalog: Catalog | None = None) -> None:
        plan = planned(scenario, catalog)  # refused here, not by the screen
        self.catalog = plan.catalog
        offline()
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
        return self.scenario.get(path)

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
        return bound.slider(self, path, low, high, step)

    def choice(self, path: str, *values: Any) -> Dropdown:
        """Return a choice for an input such as ``network.transport`` or ``hardware.gpu``: of all values, or of some."""
        return bound.choice(self, path, *values)

    def chart(self, name: str, *about: Any) -> Chart:
        """Return a chart of `Plan.plot` that follows the design, such as ``design.chart("cost")``."""
        made = Chart(self.plan.plot.spec(name, *about))
        self.observe(lambda change: setattr(made, "chart", change["new"].plot.spec(name, *about)), "plan")
        return made
