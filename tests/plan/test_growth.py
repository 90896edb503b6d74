"""Growth: what a scenario asks for later, and that the money follows the purchase plan."""

from __future__ import annotations

from typing import Any

import pytest
from assistants import assistant

from gpuplan import Plan, load_scenario, make_plan
from gpuplan.analysis.demand import week_demand
from gpuplan.analysis.rent_or_buy import purchase_plan
from gpuplan.catalog import Catalog
from gpuplan.plan.growth import group_peaks, grow
from gpuplan.plan.plan import _hosts
from gpuplan.plan.working_week import weeks
from gpuplan.scenario import Scenario, from_dict


def grown(scenario: Scenario, catalog: Catalog, year: int) -> Scenario:
    return grow(scenario, year, group_peaks(weeks(scenario, catalog)))


def test_people_grow_by_the_power_of_the_years_and_are_rounded_up(catalog: Catalog) -> None:
    groups = [
        {"id": "a", "people": 10, "growth": 0.25},
        {"id": "b", "people": 10, "growth": -0.5},
        {"id": "c", "people": 7},
        {"id": "d", "people": 0, "jobs_per_day": 40, "growth": 0.1},
    ]
    scenario = from_dict({"groups": groups})
    found = {year: grown(scenario, catalog, year) for year in range(4)}
    assert found[0] == scenario
    # 12.5, 15.625, 19.53; 5, 2.5, 1.25
    assert [[g.people for g in found[year].groups] for year in range(4)] == [
        [10, 10, 7, 0],
        [13, 5, 7, 0],
        [16, 3, 7, 0],
        [20, 2, 7, 0],
    ]
    assert [found[year].groups[3].jobs_per_day for year in range(4)] == pytest.approx([40, 44, 48.4, 53.24])


def test_a_scenario_without_growth_stays_as_it_is(catalog: Catalog) -> None:
    scenario = from_dict({"groups": [{"id": "a", "people": 10}]})
    assert grown(scenario, catalog, 5) is scenario


def test_a_stated_total_grows_as_its_groups_do_together(catalog: Catalog) -> None:
    groups = [{"id": "a", "people": 10, "growth": 0.5}, {"id": "b", "people": 30}]
    scenario = from_dict({"groups": groups, "demand": {"rule": "stated", "stated_gpus": 80}})
    # 45 people of the first 40, then 52.5
    assert [grown(scenario, catalog, year).demand.stated_gpus for year in (0, 1, 2)] == [80, 90, 105]


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("availability.mtbf_h", 31_111),
        ("availability.repair_h", 11),
        ("availability.maintenance_h_per_host", 3),
    ],
)
def test_years_are_not_planned_again_for_what_changes_no_host(
    catalog: Catalog, path: str, value: int
) -> None:
    scenario = load_scenario("current")
    growth = make_plan(scenario, catalog).growth
    planned = _hosts.cache_info().misses
    assert make_plan(scenario.with_value(path, value), catalog).growth == growth
    assert _hosts.cache_info().misses == planned


def test_peaks_are_those_of_the_weeks(catalog: Catalog, example: Plan) -> None:
    found = group_peaks(weeks(example.scenario, catalog))
    seasons = week_demand(example)
    for group in example.scenario.groups:
        assert found[group.id] == pytest.approx(max(w.gpus[group.id].max() for w in seasons)), group.id


@pytest.mark.parametrize(
    "data",
    [
        {"groups": [{"id": "a", "people": 20, "growth": 0.4}]},
        {"groups": [{"id": "a", "people": 20, "growth": 0.4}], "demand": {"rule": "stated", "stated_gpus": 30}},
        {"groups": [{"id": "a", "people": 20, "growth": 0.4}], "hardware": {"existing_hosts": 4}},
        {"groups": [{"id": "a", "people": 20, "growth": 0.4}, {"id": "b", "people": 9, "access": "passthrough"}]},
        {
            "groups": [{"id": "a", "people": 30, "growth": 0.4, "hours": "09:00-17:00", "work_h": 2}],
            "demand": {"rule": "wait"},
        },
        {"groups": [{"id": "a", "people": 0, "jobs_per_day": 60, "growth": 0.4}]},
    ],
)  # fmt: skip
def test_the_money_buys_the__hosts_the_purchase_plan(catalog: Catalog, data: dict[str, Any]) -> None:
    scenario = from_dict(data).with_value("demand.years", 5).with_value("cost.years", 5)
    plan = make_plan(scenario, catalog)
    years = purchase_plan(plan)
    assert plan.costs is not None
    assert plan.costs.hosts == tuple(year.hosts for year in years)
    assert plan.costs.gpus == tuple(year.gpus for year in years)
    assert years[-1].hosts > years[0].hosts


def test_the_years_of_the_money_are_not_those_of_the_demand(catalog: Catalog) -> None:
    scenario = load_scenario("current").with_value("demand.years", 1)
    plan = make_plan(scenario, catalog)
    longer = make_plan(scenario.with_value("demand.years", 4), catalog)
    assert plan.costs is not None and longer.costs is not None
    assert plan.costs.hosts == longer.costs.hosts
    assert plan.costs.cash == longer.costs.cash


def test_a_design_without_hosts_has_none_later(catalog: Catalog) -> None:
    """One GPU of an NVSwitch system is not passed through: no VM is placed in any year."""
    groups = [{"id": "a", "people": 8, "access": "passthrough", "growth": 0.3}]
    hardware = {"gpu": "h200-sxm5-141gb", "server": "dell-xe9680", "gpus_per_host": 8}
    plan = make_plan(from_dict({"groups": groups, "hardware": hardware}), catalog)
    assert plan.placed.missing == 8 and plan.growth.hosts == ({},) * plan.scenario.cost.years
    assert plan.costs is None


def test_requests_a_second_grow_as_people_do(catalog: Catalog) -> None:
    asked = grow(assistant(requests_per_s=2, growth=0.5), 2, {}).groups[0]
    assert (asked.people, asked.requests_per_s) == (900, 4.5)
    now, then = (make_plan(assistant(requests_per_s=4, growth=g), catalog).growth for g in (None, 1.0))
    assert now and then and sum(then.hosts[-1].values()) > sum(now.hosts[-1].values())


def test_other_growth_of_the_same_design_is_that_of_a_scenario_with_it(catalog: Catalog) -> None:
    scenario = load_scenario("current")
    plan = make_plan(scenario, catalog)
    faster = scenario.with_value("groups.data-scientists.growth", 0.5)
    assert plan.growing(scenario) == plan.growth
    assert plan.growing(faster).needed == make_plan(faster, catalog).growth.needed
    assert plan.growing(faster).busy_gpus == make_plan(faster, catalog).growth.busy_gpus


def test_more_users_need_more_hosts_from_the_first_year_on(catalog: Catalog) -> None:
    scenario = from_dict({"groups": [{"id": "a", "people": 60}]})
    plan, twice = make_plan(scenario, catalog), scenario.with_value("groups.a.people", 120)
    grown = plan.growing(twice)
    assert grown.needed == (make_plan(twice, catalog).hosts_by_pool(),) * 5
    assert grown.busy_gpus[0] == 2 * plan.growth.busy_gpus[0]


def test_hosts_stay_while_fewer_are_needed(catalog: Catalog) -> None:
    scenario = from_dict({"groups": [{"id": "a", "people": 90, "growth": -0.4}]})
    growth = make_plan(scenario, catalog).growth
    (needed,) = ([year[pool] for year in growth.needed] for pool in growth.needed[0])
    assert needed == sorted(needed, reverse=True) and needed[-1] < needed[0]
    assert growth.hosts == (growth.needed[0],) * 5
