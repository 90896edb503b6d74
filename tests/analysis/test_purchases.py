"""Purchases: the ways to buy against the plan's own cost, regret, shortfall, and what they rest on."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from kinds_of_hosts import design

from gpuplan import Plan, load_scenario, make_plan
from gpuplan.analysis.purchases import CASES, PLANNED, Purchases, Way, purchase_ways
from gpuplan.catalog import Catalog
from gpuplan.plan.cost_ranges import together
from gpuplan.plan.growth import group_peaks, grow
from gpuplan.plan.prices import ORDER_DAYS, due_day
from gpuplan.scenario import Scenario, from_dict


def ways(found: Purchases) -> dict[str, Way]:
    return {way.key: way for way in found.ways}


@pytest.fixture(scope="module")
def current(plans: dict[str, Plan]) -> Purchases:
    return purchase_ways(plans["current"])


def test_by_year_costs_what_the_plan_costs(catalog: Catalog) -> None:
    for name in ("current", "assistant"):
        plan = make_plan(load_scenario(name), catalog)
        year = ways(purchase_ways(plan))["year"]
        assert round(year.costs[PLANNED], 2) == round(plan.costs.net_present, 2)
        assert year.owned == plan.costs.hosts
        assert year.rented == (0,) * plan.costs.years
        assert sum(step.hosts for step in year.steps) == year.owned[-1]
    low, high = together(plan.counts, plan.power, plan.growth, plan.costs)
    assert low < plan.costs.net_present < high


@pytest.mark.parametrize("name", ["assistant", "current"])
def test_all_now_costs_what_a_design_for_the_last_year_costs(catalog: Catalog, name: str) -> None:
    scenario = load_scenario(name).with_value("cost.utilisation", 0.5)
    plan = make_plan(scenario, catalog)
    last = grow(scenario, 4, group_peaks(plan.weeks))
    groups = [replace(group, growth=None, access=plan.group(group.id).mode) for group in last.groups]
    whole = make_plan(last.with_groups(groups), catalog)
    bought = plan.buying(replace(plan.growth, needed=plan.growth.hosts[-1:] * 5))
    cost = ways(purchase_ways(plan))["now"].costs[PLANNED]
    assert bought.costs.hosts == whole.costs.hosts and cost == bought.costs.net_present
    parts = [{part.name: part.total for part in each.costs.parts} for each in (bought, whole)]
    if name == "current":  # its fabric is the one of the first year, with switches for more hosts
        for apart in parts:
            del apart["Network"], apart["Hardware support"], apart["Power"], apart["Cooling"]
    else:
        assert round(cost, 2) == round(whole.costs.net_present, 2)
    assert parts[0] == pytest.approx(parts[1])


def test_other_hosts_leave_the_plan_as_it_is(catalog: Catalog) -> None:
    plan = make_plan(load_scenario("current"), catalog)
    cost, lines = plan.costs.net_present, dict(plan.lines)
    same = plan.buying(plan.growth)
    assert same.costs == plan.costs
    twice = plan.buying(
        replace(plan.growth, needed=tuple({k: 2 * n for k, n in year.items()} for year in plan.growth.hosts))
    )
    assert twice.costs.net_present > 1.5 * cost
    assert plan.costs.net_present == cost and {k: v.value for k, v in plan.lines.items()} == {
        k: v.value for k, v in lines.items()
    }


def test_regret_is_measured_against_the_cheapest_way_of_each_case(current: Purchases) -> None:
    assert {way.key for way in current.ways} == {"now", "year", "threshold", "rent"}
    for case in CASES:
        least = min(way.costs[case] for way in current.ways)
        assert any(way.costs[case] == least for way in current.ways)
    for way in current.ways:
        apart = [way.costs[case] - min(each.costs[case] for each in current.ways) for case in CASES]
        assert way.regret == max(apart) >= 0
    assert current.chosen is min(current.ways, key=lambda way: way.regret)
    assert current.least.costs[PLANNED] <= min(way.costs[PLANNED] for way in current.ways)


def test_what_demand_takes_beyond_the_forecast_is_late(current: Purchases) -> None:
    found = ways(current)
    assert found["year"].short > found["now"].short > 0  # hosts ordered on sight come after 52 weeks
    assert found["rent"].short == 0
    assert current.need["low"] <= current.need["planned"] <= current.need["high"]


def test_orders_are_placed_a_lead_time_before_the_hosts_are_needed(
    plans: dict[str, Plan], current: Purchases
) -> None:
    for way in current.ways:
        for step in way.steps:
            order, day = map(datetime.date.fromisoformat, (step.order_by, step.day))
            assert (day - order).days == 7 * step.lead_weeks == 7 * 52
            assert step.order_by >= plans["current"].costs.decided
    first = ways(current)["year"].steps[0]
    scenario = plans["current"].scenario
    assert first.order_by == due_day(scenario, plans["current"].catalog, ORDER_DAYS, decided=True)
    assert first.price == pytest.approx(162_144.8)  # server, 4 boards, and what memory it has more
    paid = [part.yearly[0] for part in plans["current"].costs.parts if part.name in ("Servers", "GPUs")]
    assert first.hosts * first.price == pytest.approx(sum(paid))


def test_without_growth_there_is_nothing_to_stagger(plans: dict[str, Plan]) -> None:
    found = purchase_ways(plans["starter"])
    assert not found.ways and found.chosen is None and found.why


def test_growth_that_is_only_possible_is_tried_too(catalog: Catalog) -> None:
    scenario = from_dict({"groups": [{"id": "a", "people": 60}], "ranges": {"groups.a.growth": [0.0, 0.5]}})
    found = purchase_ways(make_plan(scenario, catalog))
    assert found.need["low"] == found.need["planned"] and found.need["high"][-1] > found.need["planned"][-1]
    assert ways(found)["now"].owned == ways(found)["year"].owned and ways(found)["year"].short > 0


def test_a_board_that_nobody_rents_out_has_no_such_way(catalog: Catalog) -> None:
    groups = [{"id": "a", "people": 60, "growth": 0.3}]
    plan = make_plan(from_dict({"groups": groups, "hardware": {"gpu": "v100-pcie-32gb"}}), catalog)
    found = purchase_ways(plan)
    assert "rent" not in ways(found) and found.why
    assert not any(found.least.rented)
    stated = make_plan(plan.scenario.with_value("prices.rent/v100-pcie-32gb", 0.01), catalog)
    assert purchase_ways(stated).chosen.key == "rent" and not purchase_ways(stated).offers


def growing(**more: Any) -> Scenario:
    return from_dict({"groups": [{"id": "a", "people": 60, "growth": 0.3}], **more})


@pytest.mark.parametrize(
    ("ranges", "is_as"),
    [
        ({"groups.a.growth": [0.3, 0.3], "cost.later_price_change": [0.0, 0.0]}, lambda need: need["low"] == need["high"]),
        ({"groups.a.growth": [0.3, 0.3], "groups.a.people": [30, 120]}, lambda need: need["low"][0] < need["planned"][0] < need["high"][0]),
        ({"groups.a.growth": [0.0, 0.6]}, lambda need: need["low"] == need["planned"][:1] * 5 and need["high"][0] == need["low"][0]),
    ],
)  # fmt: skip
def test_stated_ranges_are_those_that_are_tried(
    catalog: Catalog, ranges: dict[str, Any], is_as: Callable[[Any], bool]
) -> None:
    found = purchase_ways(make_plan(growing(ranges=ranges), catalog))
    assert is_as(found.need)
    assert {span.path for span in found.ranges} == {*ranges, "groups.a.growth", "cost.later_price_change"}


def test_prices_that_change_move_what_is_bought_later(catalog: Catalog) -> None:
    still, moving = (
        ways(purchase_ways(make_plan(growing(ranges={"cost.later_price_change": ends}), catalog)))
        for ends in ([0.0, 0.0], [-0.2, 0.2])
    )
    for demand in ("low", "high"):
        low, high = (demand, "low"), (demand, "high")
        assert moving["year"].costs[low] < still["year"].costs[low]
        assert moving["year"].costs[high] > still["year"].costs[high]
        assert still["year"].costs[low] < still["year"].costs[high]
    assert moving["now"].costs["low", "high"] == still["now"].costs["low", "high"]  # nothing is bought later
    assert moving["year"].costs[PLANNED] == still["year"].costs[PLANNED]


def test_hosts_that_are_there_are_not_bought(catalog: Catalog) -> None:
    board = {"gpu": "l40s-48gb", "gpus_per_host": 4}
    new = make_plan(growing(hardware=board), catalog)
    there = make_plan(growing(hardware={**board, "existing": "2 x 4"}), catalog)
    own, bought = ways(purchase_ways(there)), ways(purchase_ways(new))
    for key in ("now", "year"):
        assert own[key].owned == bought[key].owned
        assert sum(step.hosts for step in own[key].steps) == bought[key].owned[-1] - 2
        assert own[key].costs[PLANNED] < bought[key].costs[PLANNED]


@pytest.mark.parametrize("cluster", ["first", None])
def test_kinds_of_hosts_are_bought_apart(catalog: Catalog, cluster: str | None) -> None:
    data = design(cluster)
    data["groups"] = [{**group, "growth": 0.3} for group in data["groups"]]
    plan = make_plan(from_dict(data), catalog)
    assert plan.buying(plan.growth).costs.net_present == plan.costs.net_present
    found = ways(purchase_ways(plan))
    assert round(found["year"].costs[PLANNED], 2) == round(plan.costs.net_present, 2)
    boards = {step.board for step in found["year"].steps}
    assert boards == {"l40s-48gb", "h200-nvl-141gb"}
    assert {step.price for step in found["year"].steps if step.board == "l40s-48gb"} != {
        step.price for step in found["year"].steps if step.board == "h200-nvl-141gb"
    }
