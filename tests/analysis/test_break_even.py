"""What would win: the values at which another design costs as little as the winner."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from stated_money import unpriced

from gpuplan import load_scenario, make_plan
from gpuplan.analysis.break_even import to_win
from gpuplan.analysis.candidates import asked
from gpuplan.analysis.option import Option, assess
from gpuplan.analysis.ranking import Exploration
from gpuplan.catalog import Catalog
from gpuplan.scenario import Scenario


@pytest.fixture(scope="module")
def duels(found: Exploration) -> list[tuple[Option, Option]]:
    """The winner against others: another GPU, another way to share, one failure more."""
    assert found.winner is not None
    others = [o for o in found.ranked if o != found.winner and o.candidate.host_failures]
    picked = [
        next(o for o in others if o.candidate.gpu != found.winner.candidate.gpu),
        next(o for o in others if o.candidate.sharing != found.winner.candidate.sharing),
        next(o for o in others if o.candidate.host_failures == 2),
    ]
    return [(found.winner, other) for other in picked]


def test_what_would_have_to_be_true(
    duels: list[tuple[Option, Option]], starter: Scenario, catalog: Catalog
) -> None:
    possible = 0
    for winner, other in duels:
        for condition in to_win(starter, catalog, winner, other):
            assert condition.text.startswith(condition.label)
            if not condition.possible:
                assert condition.needed is None
                continue
            possible += 1
            if condition.path in ("cost.years", "cost.gpu_licence", "cost.platform_licence"):
                assert gap(starter, catalog, winner, other, condition.path, condition.needed) <= 0
                continue
            scale = winner.net_present or 0
            assert abs(gap(starter, catalog, winner, other, condition.path, condition.needed)) <= 1e-6 * scale
            near = gap(starter, catalog, winner, other, condition.path, 0.99 * condition.needed)
            far = gap(starter, catalog, winner, other, condition.path, 1.01 * condition.needed)
            assert near * far < 0
            assert ("at most" in condition.text) == (far > 0)
    assert possible >= 3


def test_a_price_far_from_any_known_is_not_called_likely(starter: Scenario, catalog: Catalog) -> None:
    """Two designs that differ by one price: that of 10 % more is within what is known of it, that of 10 times is not."""
    own = asked(starter)
    winner = assess(starter, catalog, own)
    other = assess(starter, catalog, replace(own, host_failures=own.host_failures + 1))
    for condition in to_win(starter, catalog, winner, other):
        assert not condition.beyond or condition.path.startswith("prices.")
        if condition.possible and condition.path.startswith("prices."):
            plan = make_plan(own.apply(starter, catalog), catalog)
            assert plan.costs is not None
            price = next(p for p in plan.costs.prices if f"prices.{p.key}" == condition.path)
            assert condition.beyond != (price.fact.low <= condition.needed <= price.fact.high)
            assert condition.beyond == ("known of it" in condition.text)


def gap(scenario: Scenario, catalog: Catalog, winner: Option, other: Option, path: str, value: Any) -> float:
    """By how much the other is dearer with an input at some value."""
    costs = [
        make_plan(option.candidate.apply(scenario.with_value(path, value), catalog), catalog).costs
        for option in (other, winner)
    ]
    assert costs[0] is not None and costs[1] is not None
    return costs[0].net_present - costs[1].net_present


def test_what_cannot_change_the_order_is_said(
    duels: list[tuple[Option, Option]], found: Exploration, starter: Scenario, catalog: Catalog
) -> None:
    winner, other = duels[0]
    conditions = {c.path: c for c in to_win(starter, catalog, winner, other)}
    assert {f"prices.gpus/{o.candidate.gpu}" for o in duels[0]} <= set(conditions)
    for condition in conditions.values():
        if condition.path == "cost.discount_rate" and not condition.possible:
            assert gap(starter, catalog, winner, other, condition.path, 0.5) > 0
    assert to_win(starter, catalog, winner, winner) == ()
    few = next(o for o in found.ranked if o.candidate.host_failures == 0)
    (condition,) = to_win(starter, catalog, winner, few)
    assert (condition.path, condition.now, condition.needed) == ("availability.host_failures", 1, 0)
    unplannable = replace(winner, candidate=replace(winner.candidate, gpu="a16-64gb", gpus_per_host=3))
    assert to_win(starter, catalog, winner, unplannable) == ()


def test_an_unpriced_board_wins_below_some_price(catalog: Catalog) -> None:
    scenario = load_scenario("current")
    own = asked(scenario)
    catalog = unpriced(catalog, "gpus/l40-48gb")
    smaller = scenario.with_value("hardware.gpu", "l40-48gb").with_value("platform.vgpu_sizes", "equal")
    smaller = smaller.with_groups([g for g in smaller.groups if not g.isolation])
    base = assess(smaller, catalog, replace(own, gpu="l40s-48gb"))
    other = assess(smaller, catalog, replace(own, gpu="l40-48gb"))
    assert other.unpriced
    condition = next(c for c in to_win(smaller, catalog, base, other) if c.path == "prices.gpus/l40-48gb")
    assert condition.now is None and condition.possible and "not known" in condition.text
    assert abs(gap(smaller, catalog, base, other, condition.path, condition.needed)) <= 1e-6 * (
        base.net_present or 0
    )
