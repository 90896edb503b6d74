"""Solving: the answer of everything tried one by one, a bound that holds, and what binds."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest
from analysis.solve.random_questions import MOST, answers, random_question
from random_cases import of_the_day
from solved import small_scenario, small_space, solution

from gpuplan import load_scenario, make_plan, solve
from gpuplan.analysis import solve as module
from gpuplan.analysis.candidates import asked
from gpuplan.analysis.solve import Solution
from gpuplan.analysis.solve.designs import Design, Space, space_of
from gpuplan.analysis.solve.search import Progress, Search
from gpuplan.analysis.variants import standing
from gpuplan.catalog import Catalog
from gpuplan.scenario import Group, Hardware, Scenario, ScenarioError
from gpuplan.scenario.sections import Limits

HERE: dict[str, Any] = {"workers": 1, "seconds": math.inf}
"""In this process, as long as it takes."""


@pytest.fixture(scope="module")
def space(catalog: Catalog) -> Space:
    whole = space_of(
        load_scenario("starter"), catalog, boards=["h100-nvl-94gb", "l40s-48gb", "v100-pcie-32gb"]
    )
    return replace(whole, hosts=whole.hosts[::5], links=(10, 100), terms=(3, 5))


def solved(scenario: Scenario, catalog: Catalog, space: Space, **limits: float) -> Solution:
    return solve(scenario, catalog, maximise="users:data-scientists", space=space, **HERE, **limits)


@pytest.fixture(scope="module")
def found(starter: Scenario, catalog: Catalog, space: Space) -> Solution:
    return solved(starter, catalog, space, budget=1.4e6, power_kw=40)


@pytest.mark.parametrize("seed", of_the_day(range(100, 104), few=2))
def test_the_answer_is_that_of_trying_everything(
    seed: int, catalog: Catalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    scenario, space, quantity = random_question(seed, catalog)
    quantity = replace(quantity, high=MOST)
    monkeypatch.setattr(module, "quantity_of", lambda *_: quantity)
    result = solve(scenario, catalog, maximise=quantity.key, space=space, **HERE)
    every = answers(scenario, catalog, space, quantity)
    if not every:
        assert result.best is None and result.clash is not None
        return
    most = max(every)
    assert result.best is not None and result.proven
    assert result.best.steps == most == result.bound
    assert result.best.net_present == pytest.approx(min(cost for cost, *_ in every[most]), abs=1e-6)


def test_the_design_is_planned_within_every_limit(found: Solution, catalog: Catalog) -> None:
    assert found.best and found.design and found.proven
    plan = make_plan(found.design, catalog)
    assert plan.standing.valid and plan.totals.unplaced_vms == 0
    assert {each.key: each.met for each in plan.within} == {"budget": True, "power_kw": True}
    assert plan.costs and plan.costs.net_present == pytest.approx(found.best.net_present)
    assert plan.scenario.get("groups.data-scientists.people") == found.best.steps


def test_the_next_step_costs_what_is_said(
    found: Solution, starter: Scenario, catalog: Catalog, space: Space
) -> None:
    assert found.best and found.bound is not None and found.bound >= found.best.value
    binding = next(each for each in found.binding if each.key == "budget")
    assert binding.needed is not None and binding.needed > 1.4e6
    less, more = (
        solved(starter, catalog, space, budget=binding.needed + by, power_kw=40).best for by in (-1, 1)
    )
    assert less and less.steps == found.best.steps
    assert more and more.steps > found.best.steps


def test_what_is_found_after_the_time_is_up_is_the_answer_and_not_a_limit_that_binds(
    found: Solution, starter: Scenario, catalog: Catalog, space: Space, monkeypatch: pytest.MonkeyPatch
) -> None:
    def late(search: Search, _bound: float | None) -> None:
        search.until = 0 if search.most else search.until

    monkeypatch.setattr(Search, "_tell", late)
    monkeypatch.setattr(module, "ALSO_S", math.inf)
    hurried = solved(starter, catalog, space, budget=1.4e6, power_kw=40)
    assert found.best and hurried.best and hurried.best.steps == found.best.steps
    assert hurried.binding == found.binding


def test_more_budget_never_serves_fewer(starter: Scenario, catalog: Catalog, space: Space) -> None:
    served = []
    for budget in (0.9e6, 1.2e6, 1.8e6):
        best = solved(starter, catalog, space, budget=budget).best
        served.append(best.steps if best else 0)
    assert served == sorted(served) and served[-1] > served[0]


def test_solving_for_cost_with_the_users_found_gives_the_same_design(
    found: Solution, catalog: Catalog, space: Space
) -> None:
    assert found.best
    asked = found.quantity.at(found.scenario, found.best.steps)
    least = solve(asked, catalog, minimise="cost", space=space, **HERE).best
    assert least and least.net_present == pytest.approx(found.best.net_present)
    assert (least.hosts, least.gpus) == (found.best.hosts, found.best.gpus)


def test_every_board_is_somewhere(found: Solution, catalog: Catalog, space: Space) -> None:
    told = {each.design.hosts.gpu for each in found.found} | set(found.missed)
    tried = {hosts.gpu for hosts in space.hosts} | {"v100-pcie-32gb"}
    assert told <= tried
    assert told | {gpu for gpu, _ in found.left_out} >= {"h100-nvl-94gb", "l40s-48gb"}


def test_limits_that_clash_are_told_with_what_would_do(
    starter: Scenario, catalog: Catalog, space: Space
) -> None:
    result = solve(starter, catalog, space=space, **HERE, budget=0.3e6, power_kw=200)
    assert result.best is None and result.clash
    assert result.clash.limits == ("budget",)
    (relaxed,) = result.clash.relaxed
    assert relaxed.key == "budget" and relaxed.needed
    again = solve(starter, catalog, space=space, **HERE, budget=relaxed.needed + 1, power_kw=200)
    assert again.best and again.best.net_present == pytest.approx(relaxed.needed)


def test_progress_closes_the_gap(starter: Scenario, catalog: Catalog, space: Space) -> None:
    seen: list[Progress] = []
    result = solve(
        starter,
        catalog,
        maximise="users:data-scientists",
        space=space,
        workers=1,
        budget=1.4e6,
        told=seen.append,
    )
    assert result.best and [each.best.steps for each in seen if each.best] == sorted(
        each.best.steps for each in seen if each.best
    )
    assert (seen[-1].done, seen[-1].of) == (result.done, result.of)
    bounds = [each.bound for each in seen if each.bound is not None]
    assert bounds and all(bound >= result.best.value for bound in bounds)
    assert seen[-1].gap == 0


def test_what_was_found_is_kept_when_the_time_is_up(
    starter: Scenario, catalog: Catalog, space: Space
) -> None:
    result = solve(
        starter, catalog, maximise="users:data-scientists", space=space, workers=1, budget=1.4e6, seconds=0
    )
    assert result.best and not result.proven
    assert result.bound is None or result.bound >= result.best.value


@pytest.mark.parametrize(
    ("asked", "path"),
    [
        ({"maximise": "users:nobody", "budget": 1e6}, "solve for"),
        ({"maximise": "people", "budget": 1e6}, "solve for"),
        ({"maximise": "users:data-scientists"}, "limits"),
        ({"maximise": "cost", "budget": 1e6}, "maximise"),
        ({"minimise": "gpus", "budget": 1e6}, "minimise"),
        ({"maximise": "gpus", "minimise": "cost", "budget": 1e6}, "minimise"),
        ({"maximise": "gpus", "budget": "a lot"}, "limits.budget"),
        ({"maximise": "gpus", "budget": "1.5M EUR"}, "limits.budget"),
        ({"maximise": "gpus", "racks": -1}, "limits.racks"),
    ],
)
def test_what_cannot_be_asked_is_named(asked: dict[str, object], path: str, catalog: Catalog) -> None:
    with pytest.raises(ScenarioError) as error:
        solve("starter", catalog, **asked)  # type: ignore[arg-type]
    assert [problem.path for problem in error.value.problems] == [path]


@pytest.mark.parametrize("limits", [{}, {"budget_start": 400_000}])
def test_a_stated_total_holds_every_workload(catalog: Catalog, limits: dict[str, Any]) -> None:
    scenario = small_scenario().with_value("groups.a.people", 41)  # 21 at once, a GPU each
    scenario = replace(
        scenario, limits=Limits()
    )  # a list of boards would have all others measured where limits clash
    space = replace(small_space(), hosts=small_space().hosts[:2], mixes=(("a",),))
    found = solve(scenario, catalog, maximise="gpus", space=space, workers=1, budget=2e6, **limits)
    assert found.quantity.asked == 21
    if not limits:
        assert found.proven and found.best and found.best.steps >= 21 and standing(found.plan).valid
        return
    assert found.clash and found.clash.limits == ("budget_start",)
    (raised,) = found.clash.relaxed
    enough = solve(scenario, catalog, maximise="gpus", space=space, workers=1, budget_start=raised.needed)
    assert enough.best


def test_a_start_that_binds_below_a_budget_says_what_one_more_takes(catalog: Catalog) -> None:
    found = solution(catalog, budget=2e6, budget_start=300_000)
    (binding,) = found.binding
    assert found.best and binding.key == "budget_start" and binding.needed
    more = solution(catalog, budget=2e6, budget_start=binding.needed)
    assert more.best and more.best.steps > found.best.steps


def test_the_least_of_no_demand_is_refused(catalog: Catalog) -> None:
    with pytest.raises(ScenarioError) as error:
        solve(small_scenario().with_value("groups.a.people", 0), catalog, minimise="cost", **HERE)
    assert [problem.path for problem in error.value.problems] == ["groups"]


def test_one_step_more_takes_the_least_of_all_designs_also_of_those_not_tried(catalog: Catalog) -> None:
    group = Group("a", name="A", people=3, active_share=0.1, gpus_each=0.25)
    scenario = Scenario(groups=(group,), hardware=Hardware(gpu="t4-16gb", gpus_per_host=1))
    scenario = scenario.with_value("network.link_gbit_s", 100).with_value("availability.host_failures", 1)
    own = asked(scenario)
    hosts = [
        replace(own, gpu=gpu, gpus_per_host=n) for gpu in ("t4-16gb", "l4-24gb", "l40s-48gb") for n in (1, 4)
    ]
    space = Space(tuple(hosts), (own.link_gbit_s,), (3,))
    found = solve(scenario, catalog, maximise="users:a", space=space, power_kw=1.2, **HERE)
    (binding,) = found.binding
    assert found.best and found.proven
    more = found.quantity.at(scenario, found.best.steps + 1)
    peaks = [make_plan(Design(each, 3).apply(more, catalog), catalog).power.peak_w for each in hosts]
    assert binding.needed == pytest.approx(min(peaks) / 1000)
