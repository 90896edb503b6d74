"""Each limit just above, at and below the figure of each example: met or over exactly, and the same on every surface."""

from __future__ import annotations

import math
from functools import cache

import pytest

from gpuplan import Limits, Plan, check_plan, load_catalog, load_scenario, make_plan, plan_dict, plan_frames
from gpuplan.plan.limits import NAMED, Within
from gpuplan.report import plan_text
from gpuplan.scenario import decode_scenario, field_of

EXAMPLES = ("starter", "enterprise", "assistant", "current")
AMOUNTS = [name for name in Limits.__slots__ if name not in (*NAMED, "delivery_date", "delivery_weeks")]


def limited(example: str, **limits: float | str) -> Plan:
    scenario = load_scenario(example)
    for name, limit in limits.items():
        scenario = scenario.with_value(f"limits.{name}", limit)
    return make_plan(scenario, load_catalog())


@cache
def figures(example: str) -> dict[str, Within]:
    return {each.key: each for each in limited(example, **dict.fromkeys(AMOUNTS, 0)).within}


def at(example: str, name: str, limit: float) -> Within:
    (found,) = limited(example, **{name: limit}).within
    return found


@pytest.mark.parametrize("example", EXAMPLES)
@pytest.mark.parametrize("name", AMOUNTS)
def test_a_limit_is_met_up_to_the_figure_and_over_below_it(example: str, name: str) -> None:
    of = figures(example)[name]
    if of.value is None:
        assert of.met is None and of.why
        return
    value = float(of.value)
    whole = field_of(f"limits.{name}").kind == "int"
    above, below = (value + 1, value - 1) if whole else (math.nextafter(value, math.inf), value * (1 - 1e-9))
    for limit in (above, value):
        found = at(example, name, limit)
        assert found.met is not False and found.over in (0, None)
        assert found.met or "excludes" in found.why  # only what is missing leaves it open
    under = at(example, name, below)
    assert under.met is False and under.over == value - below


def test_every_surface_says_the_same() -> None:
    plan = limited("assistant", racks=2, power_kw=1, ports=40, vendors="HPE", boards="l40s-48gb")
    frame, data = plan_frames(plan)["within"], plan_dict(plan)["within"]
    messages = {m.path.removeprefix("limits."): m for m in check_plan(plan)}
    text = plan_text(plan)
    for each, row, entry in zip(plan.within, frame.to_dict("records"), data, strict=True):
        assert (row["key"], row["value"], row["met"]) == (each.key, each.value, each.met)
        assert (entry["key"], entry["value"], entry["over"]) == (each.key, each.value, each.over)
        assert (each.key in messages) is (each.met is not True)
        assert each.name in text


def test_without_limits_no_surface_has_any() -> None:
    plan = limited("starter")
    assert "within" not in plan_dict(plan) and plan_frames(plan)["within"].empty
    assert not [m for m in check_plan(plan) if m.path.startswith("limits.")]


def test_a_file_read_again_has_the_same_limits() -> None:
    plan = limited("starter", budget=1.5e6, racks=2, vendors="Dell, HPE", delivery_date="2027-06-01")
    again = make_plan(decode_scenario(plan.scenario.to_yaml().encode()), load_catalog())
    assert again.within == plan.within
