"""A design held in the hand: in a notebook its scenario and plan are values to watch, and every widget of it moves with them."""

from __future__ import annotations

from typing import Any

from ipywidgets import FloatSlider, IntSlider
from traitlets import Dict, HasTraits, Instance, observe, validate

from gpuplan.app.screen import WorkbookApp
from gpuplan.app.state import STEPS, Workbook
from gpuplan.catalog import Catalog, load_catalog
from gpuplan.plan import Plan, fail_hosts, make_plan
from gpuplan.scenario import Scenario, ScenarioError, load_scenario, pick
from gpuplan.widgets.chart import Chart

AS_WIDE_AS_ITS_PLACE = {"width": "container", "autosize": {"type": "fit-x", "contains": "padding"}}


class Design(HasTraits):
    """A scenario with its plan, for the cells of a notebook.

    ``scenario``, ``plan`` and ``failed`` are traits: ``observe``, ``ipywidgets.link`` and ``interact`` work with them. A change by code, by a
    slider or by a click in one of its widgets reaches all of them. What cannot be planned is refused, and the last good plan stays.
    ``design["groups.research.people"]`` is an input, completed by Tab, to read and to set.

    Parameters
    ----------
    scenario : Scenario or str
        A scenario, or the name of an example or a file. [-]
    catalog : Catalog, optional
        The shipped one if none is given. [-]

    Raises
    ------
    ScenarioError
        Naming each field that the catalog or the hardware does not allow.
    """

    scenario = Instance(
        Scenario, help="The customer's question; assign another one, or `set` one input of it."
    )
    plan = Instance(Plan, help="The answer; it follows the scenario.")
    failed = Dict(help="Failed hosts of each cluster by number, such as {'vgpu': (3,)}.")

    def __init__(self, scenario: Scenario | str, catalog: Catalog | None = None) -> None:
        asked = load_scenario(scenario) if isinstance(scenario, str) else scenario
        self.catalog = load_catalog() if catalog is None else catalog
        make_plan(asked, self.catalog)  # refused here, not by the screen
        self.state = Workbook(self.catalog, asked)
        super().__init__(scenario=asked, plan=self.state.plan)
        self.state.observe(self._follow, "revision")

    def set(self, path: str, value: Any) -> None:
        """One input, such as ``design.set("groups.research.people", 12)``; a ScenarioError says what is allowed."""
        self.scenario = self.scenario.with_value(path, value)

    def __getitem__(self, path: str) -> Any:
        return self.scenario.get(path)

    def __setitem__(self, path: str, value: Any) -> None:
        self.set(path, value)

    def _ipython_key_completions_(self) -> list[str]:
        return list(self.scenario.paths)

    def widget(self, step: str) -> WorkbookApp:
        """A step of the workbook, such as ``hosts`` or ``cost``, as a widget that moves with the others of this design."""
        pick(dict(STEPS), step, "step")
        return WorkbookApp(self.state, step)

    def workbook(self) -> WorkbookApp:
        """The whole workbook of this design."""
        self.state.go("usecases")
        return WorkbookApp(self.state)

    def slider(self, path: str, low: float, high: float, step: float = 1) -> FloatSlider:
        """A slider of an input; what it is moved to and cannot be planned springs back."""
        whole = all(float(end).is_integer() for end in (low, high, step))
        kind, now = IntSlider if whole else FloatSlider, self[path]
        style = {"description_width": "initial"}
        made = kind(
            min=low, max=high, step=step, value=now, description=self.scenario.label(path), style=style
        )

        def moved(change: Any) -> None:
            try:
                self[path] = change["new"]
            except ScenarioError:
                made.value = change["old"]

        made.observe(moved, "value")
        self.observe(lambda change: setattr(made, "value", change["new"].get(path)), "scenario")
        return made

    def chart(self, name: str, *about: Any) -> Chart:
        """A chart of `Plan.plot` that follows the design, such as ``design.chart("cost")``."""
        pick({each: each for each in dir(self.plan.plot) if not each.startswith("_")}, name, "chart")

        def drawn(plan: Plan) -> dict[str, Any]:
            spec: dict[str, Any] = getattr(plan.plot, name)(*about).to_dict()
            return spec | AS_WIDE_AS_ITS_PLACE if "layer" in spec else spec

        made = Chart(drawn(self.plan))
        self.observe(lambda change: setattr(made, "chart", drawn(change["new"])), "plan")
        return made

    @validate("scenario")
    def _plannable(self, proposal: Any) -> Scenario:
        scenario: Scenario = proposal["value"]
        if scenario != self.state.scenario:
            self.state.exchange(scenario)
        return scenario

    @validate("plan")
    def _made(self, proposal: Any) -> Plan:
        plan: Plan = proposal["value"]
        if plan is not self.state.plan:
            raise AttributeError("the plan follows from the scenario: assign that, or set one of its inputs")
        return plan

    @validate("failed")
    def _there(self, proposal: Any) -> dict[str, tuple[int, ...]]:
        failed = {pool: tuple(hosts) for pool, hosts in proposal["value"].items() if tuple(hosts)}
        for pool, hosts in failed.items():
            fail_hosts(self.state.plan, pool, hosts)  # refuses what is not there
        return failed

    @observe("failed")
    def _failed(self, change: Any) -> None:
        now = {pool: hosts for pool, hosts in self.state.failed.items() if hosts}
        for pool in {*now, *change["new"]}:
            if now.get(pool) != (hosts := change["new"].get(pool)):
                self.state.put_down(pool, hosts or (), self.state.maintenance.get(pool, ()))

    def _follow(self, _change: Any) -> None:
        """Take over what was changed in a widget; while an input is refused, the last good design stays."""
        if not self.state.stale:
            with self.hold_trait_notifications():
                self.scenario, self.plan = self.state.planned, self.state.plan
                self.failed = {pool: hosts for pool, hosts in self.state.failed.items() if hosts}
