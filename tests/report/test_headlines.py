"""The message of each step: one sentence, true for any design, which never contradicts the figures."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gpuplan.catalog import Catalog
from gpuplan.plan import Plan, make_plan
from gpuplan.plan.checks import check_plan
from gpuplan.report.headlines import EMPTY, HEADLINES, to_confirm
from gpuplan.scenario import from_dict, load_scenario


@pytest.mark.parametrize("example", ["starter", "enterprise", "current"])
def test_every_message_is_a_sentence(plans: dict[str, Plan], example: str) -> None:
    for step, said in HEADLINES.items():
        sentence, _ = said(plans[example])
        assert sentence[0].isupper() or sentence[0].isdigit(), step
        assert sentence.endswith(".") and len(sentence) < 110, (step, sentence)


def test_an_empty_design_says_what_to_do(catalog: Catalog) -> None:
    blank = make_plan(from_dict({}), catalog)
    steps = ("usecases", "demand", "hosts", "network", "cost", "design")
    assert {HEADLINES[step](blank).sentence for step in steps} == {EMPTY}


def test_the_enterprise_example(plans: dict[str, Plan]) -> None:
    plan = plans["enterprise"]
    assert HEADLINES["usecases"](plan).sentence == "Five workloads need 28 GPUs."
    assert HEADLINES["hosts"](plan).sentence == "Seven hosts carry the load; any one host failure is covered."


def test_the_network_says_for_what_it_is_enough_and_for_what_too_slow(
    plans: dict[str, Plan], catalog: Catalog
) -> None:
    assert (
        HEADLINES["network"](plans["enterprise"]).sentence
        == "100 Gbit/s PVRDMA is enough for remote GPUs and training on 4 VMs; vMotion exceeds the stun limit."
    )
    slow = plans["enterprise"].scenario.with_value("network.link_gbit_s", 10)
    said = HEADLINES["network"](make_plan(slow.with_value("network.transport", "tcp"), catalog)).sentence
    assert said.startswith("10 Gbit/s TCP is enough for remote GPUs of ") and "; too slow for " in said


def test_what_holds_in_the_best_arrangement_only_says_so(plans: dict[str, Plan]) -> None:
    assert not all(made.now.all_start for made in plans["current"].power_on.values())
    said = HEADLINES["hosts"](plans["current"]).sentence
    assert said.endswith("any two host failures are covered in the best arrangement.")


def test_what_is_lost_is_said(catalog: Catalog) -> None:
    plan = make_plan(load_scenario("enterprise").with_value("availability.host_failures", 0), catalog)
    assert HEADLINES["hosts"](plan).sentence.startswith(
        "Seven hosts carry the load. All 41 planned VMs are placed; after"
    )


def test_one_workload_and_a_load_that_is_carried_in_part(catalog: Catalog) -> None:
    scenario = load_scenario("starter")
    alone = make_plan(scenario.with_groups(scenario.groups[:1]), catalog)
    assert "workload needs " in HEADLINES["demand"](alone).sentence
    stated = scenario.with_value("demand.stated_gpus", 8).with_value("demand.rule", "stated")
    said = HEADLINES["hosts"](make_plan(stated, catalog)).sentence
    assert "hosts carry part of the load" in said and "have no GPU" in said


def test_what_is_to_fix_is_said_before_what_is_to_confirm(plans: dict[str, Plan]) -> None:
    plan = plans["enterprise"]
    said = HEADLINES["design"](plan).sentence
    assert said == "Ten decisions shape the design; four points and 40 planning values to confirm."
    stop = replace(check_plan(plan)[0], level="stop")
    assert to_confirm(plan, [stop]) == "one point to fix, 40 planning values to confirm"
    assert to_confirm(plan, []) == "40 planning values to confirm"
