"""Beside the plan: hours of the week, other rules and methods, silos, growth."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gpuplan import Plan, load_scenario, make_plan
from gpuplan.analysis.demand import (
    RISKS,
    busiest_mix,
    chance_curve,
    gpus_by_rule,
    methods,
    rule_answers,
    sharing_saves,
    week_demand,
)
from gpuplan.catalog import Catalog
from gpuplan.scenario import from_dict

DAY = {"hours": "09:00-18:00", "days": "weekdays"}


TWO_SITES = {"people": 40, "active_share": 0.5, "gpus_each": 0.5, "sites": "Bangalore 25, Austin 15", **DAY}


TRAINING = {"people": 2, "gpus_each": 4, "hours": "20:00-06:00"}


def planned(catalog: Catalog, *groups: dict[str, Any], **sections: Any) -> Plan:
    data = {"groups": [{"id": f"g{n}", **g} for n, g in enumerate(groups, 1)], **sections}
    return make_plan(from_dict(data), catalog)


def test_the_peak_of_the_sum_and_the_sum_of_the_peaks(catalog: Catalog) -> None:
    first, second = week_demand(planned(catalog, TWO_SITES, TRAINING))
    assert {first.season, second.season} == {"January", "July"}
    week = first
    # by day at most 25 x 0.5 x 0.5; at night 8 GPUs, until 06:00 UTC beside Bangalore's morning from 03:30
    assert week.gpus["g1"].max() == 6.25
    assert week.gpus["g2"].max() == 8
    assert (week.peak_gpus, week.sum_of_peaks_gpus) == (14.25, 14.25)
    assert week.everybody_gpus == 18  # 3.75 above the peak: Bangalore and Austin lend each other GPUs, too
    assert week.offsets_min == {
        "Bangalore": 330,
        "Austin": -360 if week.season == "January" else -300,
        "UTC": 0,
    }
    assert week.peak_quarter == int(np.argmax(week.gpus["g1"] + week.gpus["g2"]))
    apart = week_demand(planned(catalog, {**TRAINING, "sites": "UTC"}, {"people": 9, **DAY}))
    assert [(w.peak_gpus, w.sum_of_peaks_gpus, w.everybody_gpus) for w in apart] == [(9, 17, 17)]


def test_gpu_hours_of_a_week_are_those_of_the_people(catalog: Catalog) -> None:
    for week in week_demand(planned(catalog, TWO_SITES, TRAINING)):
        assert week.gpus["g1"].sum() / 4 == pytest.approx(40 * 0.5 * 0.5 * 45)
        assert week.gpus["g2"].sum() / 4 == pytest.approx(2 * 4 * 70)


def test_every_rule_is_answered_as_the_plan_by_that_rule(catalog: Catalog) -> None:
    plan = planned(catalog, TWO_SITES, TRAINING, {"people": 30, "active_share": 0.2})
    answers = rule_answers(plan)
    assert [a.rule for a in answers if a.chosen] == ["sum"]
    for answer in answers:
        other = make_plan(plan.scenario.with_value("demand.rule", answer.rule), catalog)
        planned_gpus = (
            sum(want.gpus for pool in other.hours for want in [pool.needed[pool.chosen]])
            or other.totals.gpus_demanded
        )
        assert answer.gpus == pytest.approx(planned_gpus)
    sizes = {a.rule: a.gpus or 0 for a in answers}
    assert sizes["hours"] <= sizes["sum"]


def test_a_method_that_cannot_answer_says_so(catalog: Catalog) -> None:
    mixed = planned(catalog, {"people": 30}, {"people": 5, "jobs_per_day": 40}, demand={"method": "closed"})
    assert {a.rule: a.gpus is None for a in rule_answers(mixed)} == {
        "sum": False,
        "hours": False,
        **dict.fromkeys(RISKS, True),
    }
    jobs = planned(catalog, {"people": 5, "jobs_per_day": 40, "work_h": 3})
    found = methods(jobs, "vgpu")
    assert [(a.method, a.gpus is None) for a in found.answers] == [
        ("closed", True),
        ("poisson", False),
        ("bursty", False),
    ]
    assert found.believe == "bursty"


@pytest.mark.parametrize("rule", RISKS)
def test_the_curve_goes_through_the_answers(rule: str, catalog: Catalog) -> None:
    plan = planned(
        catalog,
        {"people": 60, "active_share": 0.3, "gpus_each": 0.5},
        {"people": 10, "active_share": 0.4, "gpus_each": 2},
        demand={"rule": rule},
    )
    found = methods(plan, "vgpu")
    curve = chance_curve(plan, "vgpu", most_points=1000)
    for answer in found.answers:
        points = {p.gpus: p for p in curve if p.method == answer.method}
        assert bool(points) == (answer.gpus is not None)
        if answer.gpus is None:
            continue
        assert points[answer.gpus].chance <= 0.05 < points[answer.gpus - 1].chance
        assert points[found.gpus].chance == answer.chance
        assert all(0 <= p.low <= p.chance <= p.high <= 1 for p in points.values())
        if answer.low_gpus is not None and answer.high_gpus is not None:
            assert answer.low_gpus < answer.gpus < answer.high_gpus
    assert len(chance_curve(plan, "vgpu")) <= 3 * 61


def test_the_studied_mix_is_the_one_that_the_hosts_are_sized_for(catalog: Catalog) -> None:
    groups = (
        {"people": 20, "active_share": 0.95, "hours": "09:00-17:00"},
        {"people": 200, "active_share": 0.09, "hours": "17:00-09:00"},
    )
    plan = planned(catalog, *groups, demand={"rule": "wait"})
    (chosen,) = [a for a in methods(plan, "vgpu").answers if a.chosen]
    assert chosen.gpus == plan.totals.gpus_demanded > 20
    added = planned(catalog, *groups)
    assert {a.method: a.gpus for a in methods(added, "vgpu").answers}["closed"] == chosen.gpus
    assert busiest_mix(added, "vgpu") == busiest_mix(plan, "vgpu")


def test_jobs_are_counted_where_the_peaks_are_added_up(catalog: Catalog) -> None:
    plan = planned(catalog, {"people": 0, "jobs_per_day": 200, "work_h": 3})
    assert plan.totals.gpus_demanded == 25
    assert plan.lines["groups.g1.active"].function == "models.demand.working_hours.jobs_underway"


def test_sharing_saves_what_two_plans_differ_by(catalog: Catalog) -> None:
    """The saving of the current example is that between its two designs, whichever of them is the plan."""
    peaks = make_plan(load_scenario("current"), catalog)
    hours = make_plan(peaks.scenario.with_value("demand.rule", "hours"), catalog)
    assert peaks.costs and hours.costs
    would, does = sharing_saves(peaks), sharing_saves(hours)
    assert would and does and (would.made, does.made) == (False, True)
    assert would.hosts == does.hosts == peaks.totals.hosts - hours.totals.hosts > 0
    assert would.money == does.money == peaks.costs.net_present - hours.costs.net_present


def test_nothing_is_saved_where_peaks_coincide_or_a_total_decides(catalog: Catalog) -> None:
    assert sharing_saves(make_plan(load_scenario("enterprise"), catalog)) is None
    stated = load_scenario("current").with_value("demand.stated_gpus", 31).with_value("demand.rule", "stated")
    assert sharing_saves(make_plan(stated, catalog)) is None


@pytest.mark.parametrize("example", ["starter", "enterprise", "current", "assistant"])
def test_demand_by_another_rule_is_that_of_a_plan_by_that_rule(catalog: Catalog, example: str) -> None:
    plan = make_plan(load_scenario(example), catalog)
    for rule, gpus in gpus_by_rule(plan).items():
        anew = make_plan(plan.scenario.with_value("demand.rule", rule), catalog)
        assert gpus == anew.demand.by_groups.value, rule
