"""Many designs planned in the background: what is run, and what is kept of it."""

from __future__ import annotations

import asyncio

import pytest
from waiting import LONG_S, soon

from gpuplan import load_scenario, make_plan
from gpuplan.app.exploring import Exploring
from gpuplan.catalog import Catalog

pytestmark = pytest.mark.usefixtures("plain_script")


def ended(exploring: Exploring) -> None:
    soon(lambda: exploring.runner.state != "running", "it is still running", LONG_S)


def test_a_design_is_tried_at_the_ends_of_its_ranges(catalog: Catalog) -> None:
    changes: list[float] = []
    sensitivity = Exploring("sensitivity", "sensitivity", lambda: changes.append(sensitivity.runner.done))
    plan = make_plan(load_scenario("starter"), catalog)
    sensitivity.start(plan)
    assert sensitivity.found is None
    ended(sensitivity)
    assert sensitivity.runner.error == ""
    assert sensitivity.plan is plan
    assert changes[-1] == 1.0
    assert len(set(changes)) > 3
    found = sensitivity.found
    assert found is not None
    assert {"bars", "thresholds"} <= set(found)
    assert found["bars"]


def test_exploring_can_be_stopped_and_leaves_nothing(catalog: Catalog) -> None:
    exploring = Exploring("explore", "exploration", lambda: None)
    exploring.start(make_plan(load_scenario("starter"), catalog))
    exploring.runner.cancel()
    assert exploring.runner.state == "cancelled"
    assert exploring.found is None


def test_what_is_worked_out_once_is_forgotten_with_the_next_start(catalog: Catalog) -> None:
    exploring = Exploring("explore", "exploration", lambda: None)
    asked: list[int] = []
    for _ in range(2):
        exploring.once("a", lambda: asked.append(1))
    assert len(asked) == 1
    exploring.start(make_plan(load_scenario("starter"), catalog))
    exploring.runner.cancel()
    exploring.once("a", lambda: asked.append(1))
    assert len(asked) == 2


def test_what_takes_long_is_worked_out_beside_the_page(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gpuplan.app.running.running_loop", asyncio.get_running_loop)
    seen: list[object] = []

    async def page() -> None:
        arrived = asyncio.Event()
        exploring = Exploring("explore", "exploration", arrived.set)
        for _ in range(2):
            seen.append(exploring.later("a", lambda: seen.append("worked") or "found"))
        await asyncio.wait_for(arrived.wait(), 10)
        seen.append(exploring.later("a", lambda: "again"))

    asyncio.run(page())
    assert [each for each in seen if each != "worked"] == [None, None, "found"]
    assert seen.count("worked") == 1
