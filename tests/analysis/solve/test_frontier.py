"""Frontier: real designs, none of which serves more for less, and the budget that walks along them."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from solved import small_scenario, small_space

from gpuplan import load_scenario, make_plan
from gpuplan.analysis.solve.designs import space_of
from gpuplan.analysis.solve.frontier import Frontier, frontier
from gpuplan.catalog import Catalog


@pytest.fixture(scope="module")
def curve(catalog: Catalog) -> Frontier:
    scenario = load_scenario("starter").with_value("limits.budget", 1e6).with_value("limits.power_kw", 60)
    whole = space_of(scenario, catalog, boards=["h100-nvl-94gb", "l40s-48gb"])
    few = replace(whole, hosts=whole.hosts[::6], links=(100,), terms=(3,))
    return frontier(
        scenario, catalog, maximise="users:data-scientists", points=4, space=few, workers=1, seconds=math.inf
    )


def test_more_costs_more_and_each_is_planned(curve: Frontier, catalog: Catalog) -> None:
    assert curve.complete and len(curve.points) >= 2
    steps, costs = zip(*((each.steps, each.net_present) for each in curve.points), strict=True)
    assert list(steps) == sorted(set(steps)) and list(costs) == sorted(set(costs))
    for each in curve.points:
        scenario = each.design.apply(curve.quantity.at(curve.scenario, each.steps), catalog)
        plan = make_plan(scenario, catalog)
        assert plan.costs and plan.costs.net_present == pytest.approx(each.net_present)
        assert not plan.totals.unplaced_vms and plan.power and plan.power.peak_w <= 60e3


def test_a_budget_buys_the_last_design_that_it_pays_for(curve: Frontier) -> None:
    first, *_, last = curve.points
    assert curve.at(first.net_present - 1) is None
    assert curve.at(first.net_present) == first
    assert curve.at(1e12) == last


def test_a_frontier_of_totals_starts_at_those_that_hold_the_workloads(catalog: Catalog) -> None:
    scenario, space = small_scenario(), replace(small_space(), hosts=small_space().hosts[:2])
    curve = frontier(scenario, catalog, maximise="gpus", points=4, space=space, workers=1)
    assert curve.quantity.asked == 20
    assert [point.steps for point in curve.points][-1] == 30
    assert all(point.steps >= 20 and point.gpus >= point.steps for point in curve.points)
