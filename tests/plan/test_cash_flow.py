"""Cash flow: at other prices it is the cash flow of the plan with those prices stated, and the flows themselves are untouched."""

from __future__ import annotations

from dataclasses import replace

import pytest
from stated_money import costs_of

from gpuplan import Plan, make_plan
from gpuplan.plan.bill_of_materials import Counts
from gpuplan.plan.cash_flow import Flows


@pytest.mark.parametrize("cause", ["GPUs", "Servers", "Network", "vcf", "electricity"])
def test_at_other_prices_it_is_the_plan_with_those_stated(example: Plan, cause: str) -> None:
    costs, scenario = costs_of(example), example.scenario
    assert example.cabling is not None and example.power is not None
    prices = {price.key: price for price in costs.prices}
    counts = Counts(scenario, example.catalog, example.pools, example.cabling)
    flows = Flows(
        scenario,
        example.catalog,
        lambda key, *_: prices.get(key),
        counts,
        example.power,
        example.growth,
        costs.materials,
    )
    assert flows.parts() == costs.parts
    moved = {
        key: replace(price, fact=replace(price.fact, value=price.fact.high))
        if price.cause == cause
        else price
        for key, price in prices.items()
    }
    found = flows.at_prices(lambda key, *_: moved.get(key), flows.support_share)
    for key, price in moved.items():
        if price.cause == cause:
            scenario = scenario.with_value(f"prices.{key}", price.value)
    stated = costs_of(make_plan(scenario, example.catalog))
    assert [part.name for part in found] == [part.name for part in stated.parts]
    for part in found:
        assert part.yearly == pytest.approx(stated.part(part.name).yearly)
    assert flows.parts() == costs.parts
