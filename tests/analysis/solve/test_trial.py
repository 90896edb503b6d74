"""Trials: the cheapest link and term within the limits, and the largest amount that fits."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import pytest

from gpuplan import load_scenario
from gpuplan.analysis.candidates import asked
from gpuplan.analysis.solve.designs import Design, as_asked, space_of
from gpuplan.analysis.solve.quantities import quantity_of
from gpuplan.analysis.solve.trial import Climb, Found, Miss, Question, climbed, furthest, planned, tried
from gpuplan.catalog import Catalog
from gpuplan.scenario import Group, Hardware, Scenario


def question(catalog: Catalog, wanted: str = "users:data-scientists", **limits: float) -> Question:
    scenario = load_scenario("starter")
    for name, value in limits.items():
        scenario = scenario.with_value(f"limits.{name}", value)
    space = replace(space_of(scenario, catalog, boards=[]), links=(10, 25, 100), terms=(1, 3, 5))
    return Question(scenario, quantity_of(scenario, wanted), space)


@pytest.mark.parametrize("limits", [{}, {"budget": 1.6e6}, {"budget_start": 0.65e6}, {"ports": 40}])
def test_link_and_term_are_the_cheapest_within_the_limits(limits: dict[str, float], catalog: Catalog) -> None:
    of, costs = question(catalog, **limits), {}
    for link, term in product(of.space.links, of.space.terms):
        design = Design(replace(asked(of.scenario), link_gbit_s=link), term)
        found = tried(replace(of, space=replace(of.space, links=(link,), terms=(term,))), catalog, design, 20)
        if isinstance(found, Found):
            costs[found.net_present] = (link, term)
    best = tried(of, catalog, as_asked(of.scenario), 20)
    if not costs:
        assert isinstance(best, Miss) and best.limits
        return
    assert isinstance(best, Found)
    assert best.net_present == pytest.approx(min(costs))
    plan = planned(of, catalog, best.design, 20)
    assert plan.costs and plan.costs.net_present == pytest.approx(best.net_present)
    assert all(each.met is not False for each in plan.within)


@pytest.mark.parametrize("limit", [1, 2, 7, 100, 999, 1000])
@pytest.mark.parametrize("near", [1, 90, 5000])
def test_the_furthest_is_found_wherever_it_is_looked_for(limit: int, near: int) -> None:
    asked_of: list[int] = []

    def fits(at: int) -> tuple[bool, float]:
        asked_of.append(at)
        return at <= limit, at / limit

    assert furthest(1, 1000, near, fits) == limit
    assert len(asked_of) <= 18 and len(set(asked_of)) == len(asked_of)


def test_what_its_checks_take_is_searched_to_the_last_step(catalog: Catalog) -> None:
    of, most = question(catalog, rack_units=12), 15
    group = replace(of.scenario.groups[0], people=3, access="vgpu")
    demand = replace(of.scenario.demand, rule="wait", stated_gpus=None)
    of = replace(of, scenario=replace(of.scenario.with_groups([group]), demand=demand))
    design = as_asked(of.scenario)
    fits = [isinstance(tried(of, catalog, design, n, whole=True), Found) for n in range(1, most + 1)]
    done = climbed(catalog, Climb(of, design, 1, most))
    assert done.found and done.found.steps == sum(fits) == fits.index(False)
    assert isinstance(tried(of, catalog, design, done.found.steps + 1), Found)  # but for its checks


def test_a_design_that_misses_a_promise_is_no_answer(catalog: Catalog) -> None:
    group = Group(
        "chat",
        name="Chat",
        use_case="llm-serving",
        model="llama-3.3-70b",
        people=60,
        first_token_s=2.0,
        tokens_per_s=30.0,
    )
    hardware = Hardware(gpu="l40s-48gb", server="dell-xe7745", gpus_per_host=8)
    scenario = Scenario(name="Promises", groups=(group,), hardware=hardware)
    space = replace(space_of(scenario, catalog, boards=["l40s-48gb"]), links=(25,), terms=(3,))
    of = Question(scenario, quantity_of(scenario, "users:chat"), space)
    serving = planned(of, catalog, as_asked(scenario), 60).llm.serving["chat"]
    assert serving.standing == "missed"
    miss = tried(of, catalog, as_asked(scenario), 60)
    assert isinstance(miss, Miss) and miss.reason and not miss.limits
