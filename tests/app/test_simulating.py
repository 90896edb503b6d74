"""A design simulated in the background: what is run, and what is kept of it."""

from __future__ import annotations

import pytest
from waiting import LONG_S, soon

from gpuplan import load_scenario
from gpuplan.app.simulating import Simulating

pytestmark = pytest.mark.usefixtures("plain_script")


def ended(simulating: Simulating) -> None:
    soon(lambda: simulating.runner.state != "running", "it is still running", LONG_S)


def test_a_design_is_simulated_with_a_few_numbers_of_hosts() -> None:
    changes: list[float] = []
    simulating = Simulating(lambda: changes.append(simulating.runner.done))
    scenario = load_scenario("starter")
    simulating.start(scenario, "week")
    ended(simulating)
    assert simulating.runner.error == ""
    assert (simulating.scenario, simulating.when) == (scenario, "week")
    assert [t["hosts"] for t in simulating.trials] == [5, 6, 7, 8, 9, 10]
    assert {t["when"] for t in simulating.trials} == {"week"}
    assert changes[-1] == 1.0
    simulating.start(scenario, "busiest")
    assert simulating.trials == []
    simulating.runner.cancel()
