"""Messages about limits: exceeded by how much, and not known."""

from __future__ import annotations

import pytest

from gpuplan import Scenario, check_plan, load_scenario, make_plan
from gpuplan.plan.checks.message import Message


def found(**limits: object) -> dict[str, Message]:
    scenario = load_scenario("starter")
    for name, limit in limits.items():
        scenario = scenario.with_value(f"limits.{name}", limit)
    messages = check_plan(make_plan(scenario))
    return {m.path: m for m in messages if m.code in ("over-limit", "limit-not-known")}


def test_each_limit_has_its_message() -> None:
    told = found(racks=1, power_kw=9, budget=1e9, vendors="HPE", boards="l4-24gb", delivery_weeks=9)
    assert {path: message.level for path, message in told.items()} == {
        "limits.power_kw": "warn",
        "limits.racks": "warn",
        "limits.vendors": "warn",
        "limits.boards": "warn",
        "limits.delivery_weeks": "note",
    }


@pytest.mark.parametrize(
    ("limits", "named"),
    [
        ({"racks": 1}, ("1 rack", "2 racks")),
        ({"power_kw": 9}, ("9.046 kW", "9 kW")),
        ({"vendors": "HPE"}, ("HPE", "Dell")),
        ({"boards": "l4-24gb"}, ("L4", "V100")),
    ],
)
def test_the_message_names_limit_and_value(limits: dict[str, object], named: tuple[str, ...]) -> None:
    (message,) = found(**limits).values()
    assert all(name in message.text for name in named)


def test_a_design_without_hosts_has_none() -> None:
    assert not [m for m in check_plan(make_plan(_empty())) if m.path.startswith("limits.")]


def _empty() -> Scenario:
    return (
        load_scenario("starter")
        .with_groups(())
        .with_value("demand.stated_gpus", None)
        .with_value("limits.racks", 0)
    )
