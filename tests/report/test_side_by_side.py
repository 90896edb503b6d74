"""Designs in columns: shares of one axis, the best of each row, what is a tie, and what is missed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from gpuplan import load_scenario, make_plan
from gpuplan.analysis.compare import THIS
from gpuplan.catalog import Catalog
from gpuplan.plan import Plan
from gpuplan.report.side_by_side import COST, TOKEN, WORK, Amount, Design, _row, cheapest, design, others


@pytest.fixture(scope="module")
def plan(catalog: Catalog) -> Plan:
    return make_plan(load_scenario("starter"), catalog)


def places(designs: list[Design], key: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = _row(key, designs)["places"]
    return found


def best(designs: list[Design], key: str) -> list[bool]:
    return [bool(place["best"]) for place in places(designs, key)]


def test_figures_are_the_plans_and_shares_of_the_longest_bar(plan: Plan) -> None:
    more = plan.scenario.with_value("availability.host_failures", 2)
    found, notes = others(plan, [("N+2", more)])
    designs = [design(THIS, plan, plan), *found]
    other = make_plan(more, plan.catalog)
    hosts = places(designs, "totals.hosts")
    assert [place["text"] for place in hosts] == [str(each.totals.hosts) for each in (plan, other)]
    assert hosts[1]["share"] == 1 and hosts[0]["share"] == plan.totals.hosts / other.totals.hosts
    assert plan.costs and other.cost_ranges
    cost = places(designs, COST)
    high = other.cost_ranges.net_present[1]
    assert cost[1]["high"] == 1 and cost[0]["share"] == pytest.approx(plan.costs.net_present / high)
    assert not notes, "boards, currency, years and what is left out are the same"
    assert all(each.amounts["points"].value > 0 for each in designs)
    assert "points" not in design(THIS, plan, plan, checked=False).amounts


def test_prices_that_move_together_tell_designs_of_the_same_hosts_apart(plan: Plan) -> None:
    """One more host costs more whatever the prices are, though the ranges overlap; another board may cost less."""
    more = plan.scenario.with_value("availability.host_failures", 2)
    found, _ = others(plan, [("N+2", more)])
    designs = [design(THIS, plan, plan), *found]
    here, there = (each.amounts[COST].ends for each in designs)
    assert here and there and here[1] > there[0], "the ranges overlap"
    assert best(designs, COST) == [True, False]
    assert cheapest(designs).startswith(THIS)
    assert best(designs, WORK) == [True, True], "the same board"


def test_a_cost_within_the_range_of_the_difference_is_a_tie() -> None:
    causes = {"gpu": (80.0, 120.0)}
    own = Design("A", ("USD", 5), {COST: Amount(100.0, "100", ends=(80.0, 120.0), causes=causes)}, "good")

    def other(value: float, **ends: tuple[float, float]) -> Design:
        cost = Amount(value, f"{value}", ends=(value - 20, value + 20), causes=ends)
        return own._replace(name="B", amounts={COST: cost})

    assert best([own, other(103.0, gpu=(82.4, 123.6))], COST) == [True, False], "the same share of it"
    assert best([own, other(103.0, server=(93.0, 113.0))], COST) == [True, True]
    assert best([own, other(160.0, server=(150.0, 170.0))], COST) == [True, False]
    assert not any(best([own, other(103.0)._replace(money=("EUR", 5))], COST)), "another currency"
    assert places([own, other(103.0)._replace(money=("EUR", 5))], COST)[0]["share"] is None
    assert best([own, other(50.0)._replace(tone="bad")], COST) == [True, False], "it does not do the work"


def test_a_missed_promise_is_said_and_never_the_best(catalog: Catalog) -> None:
    scenario = load_scenario("assistant")
    plan = make_plan(scenario, catalog)
    slow = scenario.with_groups(
        [
            replace(group, tokens_per_s=300.0) if group.id == "assistant" else group
            for group in scenario.groups
        ]
    )
    (missed,), _ = others(plan, [("fast", slow)])
    assert missed.missed and missed.tone == "bad" and "300" in missed.standing
    designs = [design(THIS, plan, plan), missed]
    assert best(designs, TOKEN) == [True, False]
    assert cheapest([missed, missed]) == cheapest([missed, missed._replace(amounts={})]) != ""


def test_a_design_that_cannot_be_planned_is_a_column_with_its_reason(plan: Plan) -> None:
    none = replace(plan.scenario, hardware=replace(plan.scenario.hardware, gpu="no-such-gpu"))
    (refused,), notes = others(plan, [("none", none)])
    assert not refused.amounts
    assert refused.tone == "bad" and refused.standing
    assert not notes
    assert places([design(THIS, plan, plan), refused], "totals.hosts")[1]["text"] == ""
