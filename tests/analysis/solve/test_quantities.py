"""Quantities: what can be asked for, in which steps, and what is refused with what would do."""

from __future__ import annotations

import pytest
from kinds_of_hosts import design

from gpuplan import load_scenario, make_plan
from gpuplan.analysis.solve.quantities import offered, quantity_of
from gpuplan.catalog import Catalog
from gpuplan.scenario import Scenario, ScenarioError, from_dict


@pytest.mark.parametrize("name", ["starter", "enterprise", "assistant", "current"])
def test_what_is_offered_can_be_asked_and_more_of_it_is_more(name: str) -> None:
    scenario = load_scenario(name)
    for key in offered(scenario):
        quantity = quantity_of(scenario, key)
        if not quantity.most:
            assert quantity.at(scenario, 5) == scenario
            continue
        now, then = (quantity.at(scenario, steps).get(quantity.path) for steps in (5, 50))
        assert now < then and quantity.low <= quantity.asked <= quantity.high


@pytest.fixture(scope="module")
def assistant() -> Scenario:
    return load_scenario("assistant")


def test_users_are_people_and_those_at_once_their_share(assistant: Scenario) -> None:
    users = quantity_of(assistant, "users:assistant")
    assert users.at(assistant, 312).get("groups.assistant.people") == 312
    once = quantity_of(assistant, "concurrency:assistant")
    people = once.at(assistant, 30).get("groups.assistant.people")
    share = assistant.get("groups.assistant.active_share")
    assert people * share >= 30 > (people - 1) * share


def test_requests_a_second_are_varied_by_a_hundredth_of_those_stated(assistant: Scenario) -> None:
    stated = assistant.with_value("groups.assistant.requests_per_s", 4.0)
    quantity = quantity_of(stated, "requests:assistant")
    assert (quantity.step, quantity.asked) == (0.04, 100)
    assert quantity.at(stated, 150).get("groups.assistant.requests_per_s") == pytest.approx(6)
    with pytest.raises(ScenarioError):
        quantity_of(stated, "users:assistant")  # the requests decide


def test_work_is_a_stated_total(starter: Scenario) -> None:
    wanted = quantity_of(starter, "gpus").at(starter, 30)
    assert wanted.deciding_total_gpus == 30


def test_users_who_are_not_there_yet_are_none_as_asked(starter: Scenario) -> None:
    nobody = starter.with_value("groups.developers.people", 0)
    assert quantity_of(nobody, "users:developers").asked == 0
    idle = starter.with_value("groups.developers.active_share", 0.0)
    assert not {"users:developers", "concurrency:developers"} & {*offered(idle)}
    with pytest.raises(ScenarioError):
        quantity_of(idle, "concurrency:developers")


@pytest.mark.parametrize("jobs", [0.7, 2.6, 3.0, 17.0])
def test_the_jobs_as_asked_are_a_whole_number_of_steps(assistant: Scenario, jobs: float) -> None:
    scenario = assistant.with_value("groups.tuning.jobs_per_day", jobs)
    quantity = quantity_of(scenario, "jobs:tuning")
    assert quantity.value(quantity.asked) == pytest.approx(jobs)
    assert quantity.at(scenario, quantity.asked).get(quantity.path) == pytest.approx(jobs)


@pytest.mark.parametrize("name", ["starter", "enterprise", "assistant", "current"])
def test_what_is_offered_decides_the_demand(name: str, catalog: Catalog) -> None:
    scenario = load_scenario(name)
    for quantity in (quantity_of(scenario, key) for key in offered(scenario)):
        if quantity.most:
            few, many = (quantity.at(scenario, steps) for steps in (1, 9 * quantity.asked))
            few_gpus, many_gpus = (
                make_plan(s, catalog, check=False).demand.planned.value for s in (few, many)
            )
            assert few_gpus < many_gpus


def test_a_total_of_several_kinds_is_not_offered() -> None:
    scenario = from_dict(design())
    assert "gpus" not in offered(scenario)
    with pytest.raises(ScenarioError):
        quantity_of(scenario, "gpus")


@pytest.mark.parametrize(
    "wanted", ["users", "users:nobody", "replicas:developers", "jobs:developers", "speed", ""]
)
def test_what_decides_nothing_is_refused_with_what_would_do(wanted: str, starter: Scenario) -> None:
    with pytest.raises(ScenarioError) as error:
        quantity_of(starter, wanted)
    (problem,) = error.value.problems
    assert (
        problem.value == wanted and "users:data-scientists" in problem.message
    ) or "developers" in problem.message
