"""The purchase plan: hosts bought as the groups grow."""

from __future__ import annotations

from typing import Any

import pytest

from gpuplan import Plan, load_scenario, make_plan
from gpuplan.analysis.purchase_plan import posture_costs, purchase_plan
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


def test_spare_hosts_are_priced_by_the_hours_that_they_remove(example: Plan, catalog: Catalog) -> None:
    found = posture_costs(example)
    assert [p.host_failures for p in found] == [0, 1, 2]
    assert [p.chosen for p in found].count(True) == 1
    for before, posture in zip((None, *found), found, strict=False):
        plan = make_plan(
            example.scenario.with_value("availability.host_failures", posture.host_failures), catalog
        )
        risk = next(p for p in plan.postures if p.chosen)
        assert plan.costs is not None
        assert (posture.hosts, posture.gpus) == (plan.totals.hosts, plan.totals.gpus)
        assert posture.net_present == plan.costs.net_present
        assert (posture.short_h, posture.exposed_h) == (risk.short_h, risk.exposed_h)
        if before is None:
            assert (posture.extra_cost, posture.hours_removed, posture.hour_price) == (0, 0, None)
        else:
            assert posture.extra_cost == pytest.approx(posture.net_present - before.net_present)
            assert posture.hours_removed >= plan.costs.years * (before.short_h - posture.short_h) - 1e-9
            assert posture.hour_price == pytest.approx(posture.extra_cost / posture.hours_removed)


def test_a_posture_beyond_two_is_shown_too(plans: dict[str, Plan], catalog: Catalog) -> None:
    plan = make_plan(plans["starter"].scenario.with_value("availability.host_failures", 4), catalog)
    assert [p.host_failures for p in posture_costs(plan)] == [0, 1, 2, 4]


def test_what_the_cost_of_each_posture_leaves_out(plans: dict[str, Plan]) -> None:
    found = posture_costs(plans["enterprise"])
    assert any("S5448F" in name for name in found[2].excludes)  # one host more takes larger switches
    assert not any("S5448F" in name for name in found[1].excludes)
