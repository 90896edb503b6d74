"""Traits of a design and its widgets in a notebook: the scenario, its plan, and the hosts that are down."""

from typing import Any

from traitlets import Dict, HasTraits, Instance, observe, validate

from gpuplan.app.state import Workbook
from gpuplan.plan import Plan, fail_hosts, host_numbers, scenario_of
from gpuplan.scenario import Scenario


class _Question(Instance[Any]):
    """A scenario, or its equivalent: a plan, another design, the name of an example or of a file."""

    def validate(self, obj: Any, value: Any) -> Any:
        return super().validate(obj, scenario_of(value))


class WorkbookTraits(HasTraits):
    """Traits that follow an open workbook, and lead it; a value that cannot be planned is refused."""

    scenario = _Question(
        Scenario, help="The customer's question; assign another one, or the name of an example or a file."
    )
    plan = Instance(Plan, help="The answer; it follows the scenario.")
    failed = Dict(help="Failed hosts of each cluster by number, such as {'vgpu': (3,)}.")

    def __init__(self, state: Workbook, **traits: Any) -> None:
        self.state = state
        super().__init__(scenario=state.planned, plan=state.plan, failed=_down(state), **traits)
        state.observe(self._follow, "revision")

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
        numbers = {pool: host_numbers(hosts) for pool, hosts in proposal["value"].items()}
        failed = {pool: hosts for pool, hosts in numbers.items() if hosts}
        for pool, hosts in failed.items():
            fail_hosts(self.state.plan, pool, hosts)  # refuses unknown hosts
        return failed

    @observe("failed")
    def _failed(self, change: Any) -> None:
        now = _down(self.state)
        for pool in {*now, *change["new"]}:
            if now.get(pool) != (hosts := change["new"].get(pool)):
                self.state.put_down(pool, hosts or (), self.state.maintenance.get(pool, ()))

    def _follow(self, _change: Any) -> None:
        """Take over a change made elsewhere; while an input is refused, the last good design stays."""
        if not self.state.stale:
            with self.hold_trait_notifications():
                self.scenario, self.plan = self.state.planned, self.state.plan
                self.failed = _down(self.state)


def _down(state: Workbook) -> dict[str, tuple[int, ...]]:
    """Return the hosts that failed, without the clusters in which all run."""
    return {pool: hosts for pool, hosts in state.failed.items() if hosts}
