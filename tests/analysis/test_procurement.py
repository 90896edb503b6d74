"""Orders: what procurement needs of each item, with quantities by phase that are the plan's."""

from __future__ import annotations

import pytest

from gpuplan import Plan
from gpuplan.analysis.procurement import PAID, Order, orders
from gpuplan.catalog import Catalog
from gpuplan.models.cost import later_price
from gpuplan.plan.cash_flow import HARDWARE


def paid(plan: Plan) -> dict[str, Order]:
    return {order.material.key: order for order in orders(plan) if order.material.status in PAID}


def test_phases_times_prices_are_the_hardware_of_each_year_to_the_cent(example: Plan) -> None:
    costs = example.costs
    assert costs is not None
    change = example.scenario.cost.later_price_change
    for year in range(costs.years):
        bought = sum(
            later_price(order.material.price.value, yearly_change=change, year=year)
            * (1 - order.material.discount)
            * order.phases[year]
            for order in orders(example)
            if order.material.part in HARDWARE and order.material.price and order.material.status == "bought"
        )
        planned = sum(part.yearly[year] for part in costs.parts if part.name in HARDWARE)
        assert bought == pytest.approx(planned, abs=0.005)


def test_start_is_the_bill_and_phases_follow_the_hosts(plans: dict[str, Plan]) -> None:
    plan = plans["current"]
    assert plan.costs is not None
    for order in orders(plan):
        assert order.phases[0] == pytest.approx(order.material.quantity) or order.material.key == "platform"
    found = paid(plan)
    hosts = [sum(found["servers"].phases[: n + 1]) for n in range(plan.costs.years)]
    assert tuple(hosts) == plan.costs.hosts
    assert found["servers"].per_host == 1 and found["gpus"].per_host == 4 and found["adapters"].per_host == 2
    assert found["leaf"].per_host is None


def test_an_item_has_its_number_lead_time_term_and_alternates(
    plans: dict[str, Plan], catalog: Catalog
) -> None:
    found = paid(plans["current"])
    gpus, licences = found["gpus"], found["platform"]
    assert gpus.part_number == "900-21010-0020-000" and gpus.lead_weeks == (36, 52)
    assert gpus.term_years == 3 and licences.term_years == plans["current"].scenario.cost.licence_term_years
    assert 1 <= len(gpus.alternates) <= 3 and not licences.alternates and licences.lead_weeks is None
    assert any("MCX623106AN-CDAT" in name for name in found["adapters"].alternates)
    assert not {catalog.switches["sn2700"].name} & set(found["leaf"].alternates)  # is sold no more
    for row in catalog.rows("part_numbers"):
        of, _, id = row["item"].partition("/")
        assert id in catalog.items(of), row
