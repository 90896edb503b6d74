"""The cheapest single change that keeps a limit: planned again it does, and no other change does it for less."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest
from assistants import assistant
from kinds_of_hosts import design

from gpuplan import Plan, check_plan, load_catalog, load_scenario, make_plan
from gpuplan.analysis.mending import INPUTS, OVER, measured, mended, mendings
from gpuplan.analysis.variants import standing
from gpuplan.models.llm.shape import BITS
from gpuplan.scenario import from_dict


@cache
def limited(**limits: Any) -> Plan:
    scenario = load_scenario("starter")
    for name, limit in limits.items():
        scenario = scenario.with_value(f"limits.{name}", limit)
    return make_plan(scenario, load_catalog())


def test_what_mends_is_planned_and_keeps_every_limit() -> None:
    plan = limited(budget=1.5e6, racks=2)
    found = mendings(plan)["budget"]
    assert found is not None and found.met
    other = make_plan(found.scenario, load_catalog())
    assert plan.costs and other.costs and standing(other).valid
    assert all(each.met for each in other.within)
    assert found.difference == other.costs.net_present - plan.costs.net_present < 0
    assert found.gives_up and found.change in found.sentence


def test_no_setting_of_its_own_does_it_for_less() -> None:
    plan = limited(budget=1.5e6, racks=2)
    found = mendings(plan)["budget"]
    assert found is not None
    for path, values in INPUTS.items():
        for value in values:
            other = make_plan(plan.scenario.with_value(path, value), load_catalog())
            if (
                standing(other).valid
                and all(each.met for each in other.within)
                and other.costs
                and plan.costs
            ):
                assert other.costs.net_present - plan.costs.net_present >= found.difference


def test_no_other_limit_is_missed_for_it() -> None:
    found = mendings(limited(power_kw=8.5, boards="v100-pcie-32gb", vendors="Dell"))["power_kw"]
    assert found is None or "v100" in found.scenario.hardware.gpu


def test_where_nothing_does_the_nearest_is_named_or_nothing() -> None:
    found = mendings(limited(co2_t=1))["co2_t"]
    assert found is not None and not found.met
    assert found.measured.over < 53
    assert mendings(limited(delivery_weeks=1)) == {}


def test_a_design_within_its_limits_plans_nothing_more() -> None:
    assert mendings(limited(budget=1e9)) == {}


@pytest.mark.parametrize("limits", [{"budget": 1.5e6}, {"co2_t": 1}])
def test_the_message_says_it_where_it_is_asked_for(limits: dict[str, Any]) -> None:
    plan = limited(**limits)
    (asked,) = (m for m in check_plan(mended(plan)) if m.code == OVER)
    (plain,) = (m for m in check_plan(plan) if m.code == OVER)
    assert asked.text == plain.text and asked.change != plain.change
    assert plain in check_plan(plan)


def promised(**given: Any) -> Plan:
    return make_plan(assistant(**given), load_catalog())


@pytest.mark.parametrize(
    ("given", "path"),
    [
        ({"weights": "bf16", "tokens_per_s": 90}, "groups.assistant.tokens_per_s"),
        ({"tokens_per_s": 400}, "groups.assistant.tokens_per_s"),
        (
            {"model": "llama-3.1-8b", "replica_gpus": 0.5, "tokens_per_s": 150},
            "groups.assistant.tokens_per_s",
        ),
    ],
)
def test_a_promise_that_is_missed_is_mended_by_what_keeps_it(given: dict[str, Any], path: str) -> None:
    plan = promised(**given)
    found = mendings(plan)[path]
    assert found is not None and found.met
    other = make_plan(found.scenario, load_catalog())
    assert plan.costs and other.costs and found.difference == other.costs.net_present - plan.costs.net_present
    assert measured(other)[path].met and measured(plan)[path].over > 1
    (said,) = (m for m in check_plan(mended(plan)) if m.code == "promise-missed")
    assert said.path == path and said.change == found.sentence


def test_fewer_bits_and_gpus_left_open_are_named_where_they_keep_a_promise() -> None:
    bits = mendings(promised(weights="bf16", tokens_per_s=90))["groups.assistant.tokens_per_s"]
    assert bits and BITS[str(bits.scenario.groups[0].weights)] < 16
    size = mendings(promised(replica_gpus=1, tokens_per_s=60))["groups.assistant.tokens_per_s"]
    assert size and size.scenario.groups[0].replica_gpus is None


def test_agreeing_on_another_target_is_the_last_resort() -> None:
    (found,) = mendings(promised(tokens_per_s=400)).values()
    assert found and found.scenario.groups[0].tokens_per_s < 400
    late = make_plan(
        assistant(use_case="fine-tuning", jobs_per_day=1, tuning_tokens=2000, hours="09:00-17:00"),
        load_catalog(),
    )
    for path, mending in mendings(late).items():
        assert path == "groups.assistant.replica_gpus"
        assert mending is None or mending.measured.over < measured(late)[path].over


def test_a_design_of_several_kinds_is_mended_by_its_first() -> None:
    plan = make_plan(from_dict(design(limits={"budget": 1000})), load_catalog())
    assert "budget" in mendings(plan)
    assert len(check_plan(mended(plan))) == len(check_plan(plan))
