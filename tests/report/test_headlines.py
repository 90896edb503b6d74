"""The message of each step: one sentence, true for any design, which never contradicts the figures."""

from __future__ import annotations

from dataclasses import replace

import pytest
from approved import has_approved, is_approved

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
    assert is_approved(HEADLINES["usecases"](plan).sentence, "28 GPUs")
    assert is_approved(HEADLINES["hosts"](plan).sentence)


def test_the_network_says_for_what_it_is_enough_and_for_what_too_slow(
    plans: dict[str, Plan], catalog: Catalog
) -> None:
    assert is_approved(HEADLINES["network"](plans["enterprise"]).sentence, "100 Gbit/s", "4 VMs")
    slow = plans["enterprise"].scenario.with_value("network.link_gbit_s", 10)
    said = HEADLINES["network"](make_plan(slow.with_value("network.transport", "tcp"), catalog)).sentence
    assert has_approved(said, "10 Gbit/s") and "; too slow for " in said


def test_what_holds_in_the_best_arrangement_only_says_so(plans: dict[str, Plan]) -> None:
    assert not all(made.now.all_start for made in plans["current"].power_on.values())
    said = HEADLINES["hosts"](plans["current"]).sentence
    assert has_approved(said)


def test_what_is_lost_is_said(catalog: Catalog) -> None:
    plan = make_plan(load_scenario("enterprise").with_value("availability.host_failures", 0), catalog)
    assert has_approved(HEADLINES["hosts"](plan).sentence, "18 VMs")


def test_one_workload_and_a_load_that_is_carried_in_part(catalog: Catalog) -> None:
    scenario = load_scenario("starter")
    alone = make_plan(scenario.with_groups(scenario.groups[:1]), catalog)
    assert "workload needs " in HEADLINES["demand"](alone).sentence
    stated = scenario.with_value("demand.stated_gpus", 8).with_value("demand.rule", "stated")
    said = HEADLINES["hosts"](make_plan(stated, catalog)).sentence
    assert has_approved(said) and "have no GPU" in said


def test_what_is_to_fix_is_said_before_what_is_to_confirm(plans: dict[str, Plan]) -> None:
    plan = plans["enterprise"]
    said = HEADLINES["design"](plan).sentence
    assert is_approved(said, "42 assumptions")
    stop = replace(check_plan(plan)[0], level="stop")
    assert is_approved(to_confirm(plan, [stop]), "42 assumptions")
    assert is_approved(to_confirm(plan, []), "42 assumptions")
