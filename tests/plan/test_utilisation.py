"""Utilisation: GPUs held on average, and their share of those installed."""

from __future__ import annotations

from typing import Any

import pytest

from gpuplan import Plan, load_scenario
from gpuplan.catalog import Catalog
from gpuplan.plan.cost import Costs
from gpuplan.scenario import Scenario

PRICES = {
    "servers/dell-c4140": 20_000,
    "gpus/v100-pcie-32gb": 9_000,
    "adapter-100g": 1_000,
    "switches/sn2700": 12_000,
    "cable-100g": 100,
    "vcf-core-year": 300,
    "nvaie-year": 4_000,
    "nvaie-5-years": 18_000,
    "nvaie-perpetual": 22_000,
    "nvaie-support-year": 900,
    "electricity-kwh": 0.2,
    "rack-year": 10_000,
    "administration-host-year": 3_000,
}


def costs_of(plan: Plan) -> Costs:
    assert plan.costs is not None
    return plan.costs


def priced(scenario: Scenario, **cost: Any) -> Scenario:
    """The scenario with the prices and factors of these tests."""
    for key, price in PRICES.items():
        scenario = scenario.with_value(f"prices.{key}", price)
    given = {
        "years": 5,
        "discount_rate": 0.1,
        "pue": 1.5,
        "rack_kw": 8,
        "sockets": 2,
        "cores_per_socket": 24,
        "support_share": 0.1,
        "residual_share": 0,
        "host_base_w": 500,
    }
    for name, value in (given | cost).items():
        scenario = scenario.with_value(f"cost.{name}", value)
    return scenario


@pytest.fixture
def enterprise(catalog: Catalog) -> Scenario:
    """The enterprise design with stated money."""
    return priced(load_scenario("enterprise"))


# ---- a table by hand


@pytest.mark.parametrize(
    ("name", "busy", "gpus"),
    [
        # around the clock: 20 x 0.5 + 32 x 0.5 x 1/4; the enterprise groups hold what they demand
        ("starter", 14, 16),
        ("enterprise", 28, 32),
        # 3 x 4 of 12 h on every day; 20 people (12.5 and 7.5) half a GPU for 9 of 24 h on 5 of 7 days and 5 % of all people
        # else; 14 of a MIG slice; 24 of an eighth on work days; 6 GPUs of the distributed job
        ("current", None, 40),
    ],
)
def test_utilisation_by_hand(
    catalog: Catalog, plans: dict[str, Plan], name: str, busy: float | None, gpus: int
) -> None:
    plan = plans[name]
    line = plan.lines["cost.utilisation"]
    if busy is None:
        days = 9 / 24 * 5 / 7
        held = {
            "fine-tuning": 6 * 0.5 * 4 * 12 / 24,
            "data-scientists": 40 * 0.5 * (0.4 * days + 0.05 * (1 - days)),
            "inference": 14 / 7,
            "developers": 60 * 0.4 * 0.125 * days,
            "distributed": 6,
        }
        for group, hours in held.items():
            found = plan.lines[f"groups.{group}.held_gpus"].value
            # work that takes a while lasts beyond the hours and begins with them: never more than the ramps of a day
            assert found == pytest.approx(hours, rel=0.02), group
        busy = sum(plan.lines[f"groups.{group}.held_gpus"].value for group in held)
    assert line.value == pytest.approx(busy / gpus)
    costs = costs_of(plan)
    assert costs.gpus[0] == gpus
    if name != "current":
        assert costs.utilisation == pytest.approx(busy / gpus)


# ---- licences
