"""A group with a language model becomes its VMs, and everything downstream follows as for every group."""

from __future__ import annotations

import pytest
from assistants import assistant

from gpuplan import make_plan
from gpuplan.catalog import Catalog
from gpuplan.plan.llm import llm_of
from gpuplan.plan.trail import Trail
from gpuplan.report import explain
from gpuplan.scenario import ScenarioError, from_dict

OTHERS = {"id": "science", "name": "Science", "people": 6, "gpus_each": 1}


def test_without_a_model_the_scenario_is_the_customers_own(catalog: Catalog) -> None:
    scenario = from_dict({"groups": [OTHERS]})
    trail = Trail()
    assert llm_of(trail, scenario, catalog).scenario is scenario
    assert not trail.lines


def test_the_design_holds_the_replicas_and_the_scenario_stays_as_stated(catalog: Catalog) -> None:
    plan = make_plan(assistant(beside=(OTHERS,)), catalog)
    made, group = plan.llm.serving["assistant"], plan.group("assistant")
    assert plan.scenario.get("groups.assistant.people") == 400
    assert (group.vms, group.gpus_each) == (made.replicas, made.gpus)
    assert plan.demand.by_groups.value == made.replicas * made.gpus + 6
    assert plan.totals.unplaced_vms_after_failure == 0
    # the same VMs, stated by hand, make the same design
    alike = {"id": "assistant", "name": "Assistant", "people": made.replicas, "gpus_each": made.gpus}
    by_hand = make_plan(
        from_dict(
            {
                "groups": [{**alike, "use_case": "inference"}, OTHERS],
                "hardware": plan.scenario.to_dict()["hardware"],
            }
        ),
        catalog,
    )
    assert by_hand.totals == plan.totals
    assert by_hand.costs and plan.costs and by_hand.costs.total == plan.costs.total


def test_the_trail_leads_from_the_vms_to_the_users_and_the_fit(catalog: Catalog) -> None:
    plan = make_plan(assistant(), catalog)

    def behind(key: str) -> set[str]:
        keys = {each.key for each in plan.lines[key].inputs}
        return keys | {deeper for each in keys if each in plan.lines for deeper in behind(each)}

    found = behind("groups.assistant.demand_gpus")
    assert {
        "groups.assistant.replicas",
        "groups.assistant.replica_requests",
        "groups.assistant.requests_by_speed",
        "groups.assistant.people",
        "groups.assistant.tokens_per_s",
        "assumptions/llm-serving",
        "llm_models/llama-3.3-70b/total_parameters",
    } <= found
    assert "aiconfigurator-silicon-sample" in plan.lines["groups.assistant.demand_gpus"].sources


def test_users_outside_the_hours_want_the_replicas_that_they_need(catalog: Catalog) -> None:
    day = assistant(hours="09:00-18:00", off_hours_share=0.02, people=2000)
    made = make_plan(day, catalog).llm.serving["assistant"]
    assert 0 < made.off_hours < made.replicas
    quiet = make_plan(assistant(hours="09:00-18:00"), catalog)
    always = make_plan(assistant(), catalog)
    held = (plan.lines["groups.assistant.held_gpus"].value for plan in (quiet, always))
    assert next(held) == pytest.approx(9 / 24 * next(held))


def test_growth_is_of_the_users(catalog: Catalog) -> None:
    """2,000 users that double each year need twice the replicas, not a rounding more."""
    plan = make_plan(assistant(people=2000, growth=1.0), catalog)
    later = make_plan(assistant(people=4000), catalog)
    assert plan.growth.hosts[1] == later.hosts_by_pool()


def test_a_rule_that_looks_at_hours_and_chance_takes_all_replicas(catalog: Catalog) -> None:
    for rule in ("hours", "wait"):
        plan = make_plan(assistant(beside=(OTHERS,)).with_value("demand.rule", rule), catalog)
        assert plan.group("assistant").vms == plan.llm.serving["assistant"].replicas


def test_what_does_not_fit_names_the_group(catalog: Catalog) -> None:
    with pytest.raises(ScenarioError) as error:
        make_plan(assistant(hardware={"gpu": "t4-16gb", "gpus_per_host": 2}, weights="int8"), catalog)
    [problem] = error.value.problems
    assert problem.path == "groups.assistant.model"
    assert "GiB" in problem.message and "2 x Tesla T4" in problem.message


def test_each_line_explains_itself(catalog: Catalog) -> None:
    for scenario in (assistant(), assistant(requests_per_s=5, weights=None, replica_gpus=4)):
        plan = make_plan(scenario, catalog)
        lines = [line for line in plan.llm.serving and plan.lines.values() if "models.llm" in line.function]
        assert len(lines) >= 12
        for line in lines:
            why = explain(plan, line.key)
            assert "{" not in why.formula and why.sentence and line.sources, line.key


def test_stated_is_quoted_and_what_is_fitted_is_not_better_than_fitted(catalog: Catalog) -> None:
    lines = make_plan(assistant(), catalog).lines
    at = "groups.assistant."
    assert lines[f"{at}requests_at_once"].basis == "fitted"
    assert lines[f"{at}requests_by_speed"].basis in ("fitted", "assumed")
    least = [lines[f"{at}requests_by_{what}"].value for what in ("memory", "speed", "first_token")]
    assert lines[f"{at}replica_requests"].value == min(least)
    assert lines[f"{at}active"].inputs[0].key == f"{at}replicas"
