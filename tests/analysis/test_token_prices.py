"""Tokens of the design by its load, of rented GPUs, and at a price per token."""

from __future__ import annotations

import pytest
from assistants import assistant

from gpuplan import make_plan
from gpuplan.analysis.token_prices import token_prices
from gpuplan.catalog import Catalog


def test_half_the_load_costs_twice_for_each_token_and_the_same_for_each_user(catalog: Catalog) -> None:
    plan = make_plan(assistant(), catalog)
    full, half, quarter, *rest = token_prices(plan)
    assert (full.way, full.load, half.load, quarter.load) == ("design", 1, 0.5, 0.25)
    assert half.million_in == pytest.approx(2 * full.million_in)
    assert quarter.million_out == pytest.approx(4 * full.million_out)
    assert full.user_month == half.user_month == plan.token_costs["assistant"].user_month
    assert {price.way for price in rest} <= {"rent"}


def test_a_service_is_paid_for_the_tokens_that_users_take_not_for_full_replicas_at_night(
    catalog: Catalog,
) -> None:
    scenario = assistant(hours="09:00-18:00", off_hours_share=0.0001)
    for way, price in (("in", 0.5), ("out", 2.0)):
        scenario = scenario.with_value(f"prices.tokens-{way}", price)
    own, full, *_, service = token_prices(make_plan(scenario, catalog))
    assert own.own and not full.own and own.load == service.load == pytest.approx(0.375, rel=0.01)
    assert full.million_out == pytest.approx(own.million_out * own.load)
    assert service.year == pytest.approx((0.5 * 5 + 2.0) * own.year / (own.million_in * 5 + own.million_out))


def test_a_stated_rent_and_a_stated_price_stand_beside_it(catalog: Catalog) -> None:
    scenario = assistant().with_value("prices.rent/h100-sxm5-80gb", 3.0)
    for way, price in (("in", 0.5), ("out", 2.0)):
        scenario = scenario.with_value(f"prices.tokens-{way}", price)
    plan = make_plan(scenario, catalog)
    found = {price.way: price for price in token_prices(plan)}
    planned = plan.token_costs["assistant"]
    assert found["rent"].year == pytest.approx(3.0 * planned.gpu_hours)
    assert (found["price"].million_in, found["price"].million_out) == (0.5, 2.0)
    assert found["price"].year == pytest.approx((0.5 * planned.tokens_in + 2.0 * planned.tokens_out) / 1e6)
    assert plan.costs and make_plan(assistant(), catalog).costs.total == plan.costs.total  # type: ignore[union-attr]
