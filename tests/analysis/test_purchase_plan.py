"""The purchase plan: hosts bought as the groups grow."""

from __future__ import annotations

from typing import Any

from gpuplan import Plan, load_scenario, make_plan
from gpuplan.analysis.purchase_plan import purchase_plan
from gpuplan.catalog import Catalog
from gpuplan.plan.growth import group_peaks, grow
from gpuplan.plan.working_week import weeks
from gpuplan.scenario import Scenario, from_dict


def planned(catalog: Catalog, *groups: dict[str, Any], **sections: Any) -> Plan:
    data = {"groups": [{"id": f"g{n}", **g} for n, g in enumerate(groups, 1)], **sections}
    return make_plan(from_dict(data), catalog)


def test_growth_buys_hosts_for_the_year_they_are_needed(catalog: Catalog) -> None:
    plan = planned(
        catalog,
        {"people": 16, "growth": 0.5},
        {"people": 8},
        demand={"years": 4},
        hardware={"gpus_per_host": 4},
    )
    years = purchase_plan(plan)
    assert [y.people for y in years] == [24, 32, 44, 62]
    assert [y.gpus_demanded for y in years] == [24, 32, 44, 62]
    assert [y.hosts for y in years] == [7, 9, 12, 17]  # division rounded up, and one spare
    assert [y.hosts_bought for y in years] == [7, 2, 3, 5]
    assert [y.gpus for y in years] == [4 * y.hosts for y in years]


def test_hosts_once_bought_stay_and_those_there_are_not_bought(catalog: Catalog) -> None:
    plan = planned(
        catalog,
        {"people": 32, "growth": -0.5},
        demand={"years": 3},
        hardware={"gpus_per_host": 4, "existing_hosts": 3},
    )
    years = purchase_plan(plan)
    assert [(y.hosts, y.hosts_bought) for y in years] == [(9, 6), (9, 0), (9, 0)]
    assert [y.gpus for y in years] == [36, 36, 36]


def grown(plan: Plan, year: int) -> Scenario:
    return grow(plan.scenario, year, group_peaks(weeks(plan.scenario, plan.catalog)))


def test_a_stated_total_grows_with_the_groups(catalog: Catalog) -> None:
    scenario = load_scenario("enterprise")
    plan = make_plan(scenario, catalog)
    for group in scenario.groups:
        scenario = scenario.with_value(f"groups.{group.id}.growth", 0.25)
    assert grown(plan, 0) == plan.scenario
    assert grown(make_plan(scenario, catalog), 1).demand.stated_gpus == 28
    scenario = scenario.with_value("demand.rule", "stated")
    assert grown(make_plan(scenario, catalog), 1).demand.stated_gpus == 35
    assert grown(plan, 3).demand.stated_gpus == 28
    jobs = planned(
        catalog,
        {"people": 0, "jobs_per_day": 48, "growth": 0.5},
        demand={"rule": "stated", "stated_gpus": 14},
    )
    assert grown(jobs, 1).demand.stated_gpus == 21


def test_years_that_no_design_can_hold_are_left_out(catalog: Catalog) -> None:
    plan = planned(catalog, {"people": 30_000, "growth": 1}, demand={"years": 3})
    assert [y.year for y in purchase_plan(plan)] == [1, 2]
    fading = planned(catalog, {"people": 1, "jobs_per_day": 0.015, "growth": -0.3}, demand={"years": 3})
    assert len(purchase_plan(fading)) == 3
