"""Limits in words and as a drawing: what is exceeded and by how much, and what is not known."""

from __future__ import annotations

from typing import Any

import pytest

from gpuplan import Plan, load_catalog, load_scenario, make_plan
from gpuplan.report.limits import limit_state, limits_exceeded, limits_svg, over_words, within_words

CATALOG = load_catalog()


def limited(**limits: Any) -> Plan:
    scenario = load_scenario("starter")
    for name, value in limits.items():
        scenario = scenario.with_value(f"limits.{name}", value)
    return make_plan(scenario, CATALOG)


DESIGNS = {
    "within": {"budget": 9e6, "power_kw": 90, "racks": 9},
    "over": {"budget": 1e6, "power_kw": 2, "racks": 1, "boards": "l40s-48gb"},
    "unknown": {"delivery_weeks": 16, "rack_units": 40, "vendors": "Dell", "budget_start": 0},
}


@pytest.fixture(scope="module")
def designs() -> dict[str, Plan]:
    return {name: limited(**limits) for name, limits in DESIGNS.items()}


def test_words_name_what_is_exceeded_and_what_is_open(designs: dict[str, Plan]) -> None:
    over = designs["over"]
    assert all(each.name in limits_exceeded(over) for each in over.within)
    assert limits_exceeded(designs["within"]) == "" == limits_exceeded(limited())
    for plan in designs.values():
        for each in plan.within:
            assert (each.name in within_words(plan)) is (each.met is not True)


def test_excess_is_rounded_with_its_unit(designs: dict[str, Plan]) -> None:
    words = {each.key: over_words(designs["over"], each) for each in designs["over"].within}
    assert words == {"budget": "USD 545 k", "power_kw": "7.05 kW", "racks": "1 rack", "boards": ""}


@pytest.mark.parametrize("name", [*DESIGNS])
def test_the_drawing_has_each_limit_with_its_state(designs: dict[str, Plan], name: str) -> None:
    plan = designs[name]
    drawn = limits_svg(plan) or ""
    for each in plan.within:
        assert each.name in drawn
        assert limit_state(plan, each) in drawn
    assert ("#b3261e" in drawn) is any(each.met is False for each in plan.within)
    assert limits_svg(limited()) is None
