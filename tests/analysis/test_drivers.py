"""What drives a design: GPUs through the week, and the design without each workload."""

from __future__ import annotations

import pytest

from gpuplan.analysis.demand import week_demand
from gpuplan.analysis.drivers import Load, drivers, home_of, loads
from gpuplan.catalog import Catalog
from gpuplan.plan import Plan, make_plan
from gpuplan.scenario import from_dict


def of(plan: Plan) -> tuple[Load, ...]:
    return loads(plan, week_demand(plan)[0])


def test_the_first_is_what_is_planned(example: Plan) -> None:
    first = of(example)[0]
    assert first.parts[0] == "planned"
    assert first.gpus == {group.id: pytest.approx(group.demand_gpus) for group in example.groups}


def test_parts_of_the_week_are_told_once(example: Plan) -> None:
    shown = of(example)
    assert sorted(part for load in shown for part in load.parts) == ["day", "night", "planned", "weekend"]
    assert len({tuple(load.gpus.values()) for load in shown}) == len(shown)


def test_work_around_the_clock_is_one_load(plans: dict[str, Plan]) -> None:
    (load,) = of(plans["enterprise"])
    assert load.parts == ("planned", "day", "night", "weekend")


def test_who_works_when(catalog: Catalog) -> None:
    office = {
        "people": 10,
        "gpus_each": 1,
        "hours": "09:00-18:00",
        "days": "weekdays",
        "sites": "Bangalore 8, Austin 2",
    }
    groups = [
        {"id": "office", **office},
        {"id": "batch", "people": 3, "gpus_each": 2, "hours": "20:00-08:00", "sites": "Bangalore"},
    ]
    scenario = from_dict({"groups": groups, "demand": {"rule": "hours"}, "hardware": {"gpus_per_host": 4}})
    plan = make_plan(scenario.with_value("groups.office.active_share", 1.0), catalog)
    assert home_of(plan.scenario) == "Bangalore"
    by_part = {part: load.gpus for load in of(plan) for part in load.parts}
    assert by_part["day"] == {"office": 8, "batch": 0}
    assert by_part["night"] == {"office": 2, "batch": 6}, "Austin works while it is night in Bangalore"
    assert by_part["weekend"]["office"] == 2, "Friday ends in Austin on Saturday in Bangalore"


def test_a_design_without_a_workload_is_planned(plans: dict[str, Plan]) -> None:
    plan = plans["enterprise"]
    found = drivers(plan)
    assert {each.group for each in found.without} == {group.id for group in plan.groups}
    for each in found.without:
        other = plan.with_scenario(
            plan.scenario.with_groups([group for group in plan.scenario.groups if group.id != each.group])
        )
        assert each.hosts == plan.totals.hosts - other.totals.hosts
        assert plan.costs and other.costs and each.money == plan.costs.net_present - other.costs.net_present
    assert [each.group for each in drivers(plan, most=2).without] == ["researchers", "data-scientists"]


def test_the_next_host_is_the_first_with_one_more(plans: dict[str, Plan]) -> None:
    plan = plans["enterprise"]
    host = drivers(plan).next_host
    assert host is not None
    there, before = (
        plan.with_scenario(
            plan.scenario.with_value("groups.researchers.people", int(host.at) - less)
        ).totals.hosts
        for less in (0, 1)
    )
    assert (there, before) == (host.hosts, plan.totals.hosts)
    assert host.more == host.at - 3


def test_a_single_workload_has_nothing_beside_it(catalog: Catalog) -> None:
    plan = make_plan(from_dict({"groups": [{"id": "a", "people": 8, "gpus_each": 1}]}), catalog)
    found = drivers(plan)
    assert not found.without and found.next_host


def test_workloads_on_two_kinds_of_hosts(catalog: Catalog) -> None:
    hardware = {"gpu": "l40s-48gb", "gpus_per_host": 4}
    groups = [{"id": "a", "people": 8}, {"id": "b", "people": 6, "hosts": "Large"}]
    two = from_dict({"groups": groups, "hardware": hardware | {"kinds": [{"name": "Large", **hardware}]}})
    (load,) = of(make_plan(two, catalog))
    assert load.gpus == {"a": 8, "b": 6}
