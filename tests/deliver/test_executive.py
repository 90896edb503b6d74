"""What an executive decides on: alternatives are plans of that change, drivers are planned at both ends, decisions have owner and day."""

from __future__ import annotations

import pytest

from gpuplan import Plan, make_plan
from gpuplan.catalog import Catalog
from gpuplan.deliver.executive import (
    MOST_DRIVERS,
    OWNERS,
    Executive,
    actions,
    decisions,
    document_day,
    due,
    executive,
    recommendation,
)
from gpuplan.plan.checks import check_plan
from gpuplan.plan.prices import newest_price
from gpuplan.report.figures import Figures, what_to_do
from gpuplan.wording import said


@pytest.fixture(scope="module")
def summaries(plans: dict[str, Plan]) -> dict[str, Executive]:
    return {name: executive(plan) for name, plan in plans.items()}


def test_the_recommendation_of_the_enterprise_example_by_hand(plans: dict[str, Plan]) -> None:
    built, kept = recommendation(plans["enterprise"])
    for words in ("8 hosts", "PowerEdge C4140", "32 GPUs", "Tesla V100 PCIe 32GB", "28 GPUs"):
        assert words in built
    assert kept == plans["enterprise"].verdict.fit_sentence


def test_nothing_is_recommended_where_there_is_no_host(plans: dict[str, Plan]) -> None:
    empty = plans["enterprise"].but(pools=())
    assert recommendation(empty)[0] == said("executive.nothing")
    assert Figures(empty.but(costs=None)).money == said("executive.no cost")


@pytest.mark.parametrize("name", ["starter", "enterprise", "current"])
def test_other_failure_tolerances_are_planned(
    name: str, plans: dict[str, Plan], summaries: dict[str, Executive], catalog: Catalog
) -> None:
    plan = plans[name]
    found = {each.key: each for each in summaries[name].choices}
    others = {f"n{n}": n for n in (0, 1, 2) if n != plan.scenario.availability.host_failures}
    assert others.keys() <= found.keys()
    for key, failures in others.items():
        again = make_plan(plan.scenario.with_value("availability.host_failures", failures), catalog)
        assert again.costs is not None and plan.costs is not None
        each = found[key]
        assert (each.hosts[0], each.net_present) == (again.totals.hosts, again.costs.net_present)
        assert each.difference == pytest.approx(again.costs.net_present - plan.costs.net_present)


def test_every_alternative_says_why_not_and_only_the_cheapest_rent_is_shown(
    summaries: dict[str, Executive],
) -> None:
    for summary in summaries.values():
        keys = [each.key for each in summary.choices]
        assert len(keys) == len(set(keys)) >= 3
        assert sum(key.startswith("rent-") for key in keys) <= 1
        assert all(each.gives_up for each in summary.choices)
        priced = [each.alternative for each in summary.priced if each.alternative.key.startswith("rent-")]
        shown = [each for each in summary.choices if each.key.startswith("rent-")]
        assert all(each.net_present == min(rent.net_present for rent in priced) for each in shown)


def test_the_decisions_of_any_design_are_asked_of_the_customer(
    plans: dict[str, Plan], summaries: dict[str, Executive]
) -> None:
    for name, plan in plans.items():
        found = summaries[name].decisions
        assert {each.owner for each in found} == {"customer"}
        assert {"decide-order", "decide-failures", "decide-board"} <= {each.code for each in found}
        assert [each.due for each in found] == sorted(each.due for each in found)
        assert all(each.due > document_day(plan) for each in found)
        (order,) = (each for each in found if each.code == "decide-order")
        assert order.due == due(plan, 30) and f"{plan.totals.hosts} hosts" in order.what
    assert not list(decisions(plans["starter"].but(pools=(), groups=(), divisions={})))


def test_the_day_is_the_one_stated_else_that_of_the_prices(plans: dict[str, Plan], catalog: Catalog) -> None:
    plan = plans["starter"]
    scenario = plan.scenario.with_value("document.date", None).with_value("cost.as_of", None)
    assert document_day(plan.but(scenario=scenario)) == newest_price(catalog)
    assert document_day(plan.but(scenario=scenario.with_value("cost.as_of", "2026-03"))) == "2026-03"
    assert due(plan.but(scenario=scenario.with_value("document.date", "2028-02-28")), 2) == "2028-03-01"


def test_what_moves_the_cost_is_planned_at_both_ends(
    summaries: dict[str, Executive], plans: dict[str, Plan]
) -> None:
    for name, plan in plans.items():
        drivers = summaries[name].drivers
        assert plan.costs is not None and len(drivers) >= MOST_DRIVERS
        swings = [each.cost_high - each.cost_low for each in drivers]
        assert swings == sorted(swings, reverse=True)
        for each in drivers:
            assert each.cost_low <= plan.costs.net_present <= each.cost_high
            assert {each.cost_low, each.cost_high} <= {each.at_low, each.at_high, plan.costs.net_present}


def test_decisions_and_steps_have_an_owner_and_a_day(plans: dict[str, Plan], catalog: Catalog) -> None:
    plan = plans["enterprise"]
    steps = actions(plan)
    assert {each.owner for each in steps} <= set(OWNERS)
    assert [each.due for each in steps] == sorted(each.due for each in steps)
    assert all(each.due > plan.scenario.cost.as_of for each in steps)  # type: ignore[operator]
    codes = {m.code for m in check_plan(plan) if what_to_do(m)}
    assert len(steps) <= len(codes)
    dated = plan.scenario.with_value("document.date", "2026-12-30").with_value(
        "document.decide_by", "2027-02-01"
    )
    later = make_plan(dated, catalog)
    assert due(later, 3) == "2027-01-02"
    assert {each.due for each in executive(later).decisions} == {"2027-02-01"}
