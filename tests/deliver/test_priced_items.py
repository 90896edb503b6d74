"""What money is paid for: prices times their quantities are the cost of the plan, and of a plan with another price."""

from __future__ import annotations

import pytest

from gpuplan import Plan, make_plan
from gpuplan.analysis.alternatives import planned_alternatives
from gpuplan.catalog import Catalog
from gpuplan.deliver.priced_items import PricedItems, quantities_of
from gpuplan.deliver.xlsx.quantities import sumprod


def net_present(items: PricedItems, **other: float) -> float:
    """Prices times discounted quantities, some prices exchanged."""
    return sum(
        other.get(key, price) * items.discounted(key)
        for key, price in items.value.items()
        if items.prices[key]
    )


def test_prices_times_quantities_are_the_net_present_cost(example: Plan) -> None:
    assert example.costs is not None
    assert net_present(PricedItems(example)) == pytest.approx(example.costs.net_present, rel=1e-9)


def test_quantities_by_their_weights_are_the_cost_of_each_alternative(plans: dict[str, Plan]) -> None:
    """Discounts, support, residual value and cooling are weights of a year; silos are sums and differences of designs."""
    plan = changed(
        plans["enterprise"], hardware_discount=0.1, licence_discount=0.2, residual_share=0.05, utilisation=0.6
    )
    items, options = PricedItems(plan), planned_alternatives(plan)
    assert {option.alternative.key for option in options} >= {"plan", "n0", "n2", "board", "silos"}
    for option in options:
        paid = quantities_of(option, plan.scenario.cost.utilisation)
        weights = {each.kind: items.weights(each.kind) for each in paid}
        total = sum(each.value * sumprod(each.amounts, weights[each.kind]) for each in paid)
        assert total == pytest.approx(option.alternative.net_present), option.alternative.key


def changed(plan: Plan, **cost: float) -> Plan:
    scenario = plan.scenario
    for name, value in cost.items():
        scenario = scenario.with_value(f"cost.{name}", value)
    return plan.with_scenario(scenario)


def test_items_of_a_part_sum_to_its_cost(example: Plan) -> None:
    items = PricedItems(example)
    for part in {item.part for item in items.items}:
        own = [item for item in items.items if item.part == part and item.price]
        for year, cost in enumerate(items.part_cost(part)):
            assert sum(items.item_cost(item, year) for item in own) == pytest.approx(cost, abs=1e-6)
    assert items.part_cost("no such part") == (0.0,) * (items.last + 1)


@pytest.mark.parametrize("name", ["starter", "enterprise", "current"])
def test_another_price_costs_what_a_plan_with_it_does(
    name: str, plans: dict[str, Plan], catalog: Catalog
) -> None:
    plan = plans[name]
    items, gpu = PricedItems(plan), f"gpus/{plan.scenario.hardware.gpu}"
    for key in (gpu, "electricity-kwh"):
        price = 1.5 * items.value[key]
        again = make_plan(plan.scenario.with_value(f"prices.{key}", price), catalog)
        assert again.costs is not None
        assert net_present(items, **{key: price}) == pytest.approx(again.costs.net_present, rel=1e-6)


def test_quantities_of_the_enterprise_example_by_hand(plans: dict[str, Plan]) -> None:
    """8 hosts with 4 GPUs each at the start, none later; two racks in each of five years."""
    items = PricedItems(plans["enterprise"])
    (gpus,) = (item for item in items.items if item.price == "gpus/v100-pcie-32gb")
    assert gpus.lots == (32, 0, 0, 0, 0)
    assert gpus.paid == ((0,), (1,), (2,), (3,), (4,), ())
    assert items.paid_units(gpus, 0) == pytest.approx(
        32 * (1 - plans["enterprise"].scenario.cost.hardware_discount)
    )
    assert [items.racks(year) for year in range(1, 6)] == [2] * 5


def test_hosts_of_later_years_are_bought_when_they_are_needed(plans: dict[str, Plan]) -> None:
    """10, 12, 14, 16 and 19 hosts with four GPUs."""
    items = PricedItems(plans["current"])
    (gpus,) = (item for item in items.items if item.price == "gpus/h100-nvl-94gb")
    assert gpus.lots == (40, 8, 8, 8, 12)
