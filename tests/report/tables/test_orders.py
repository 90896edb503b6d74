"""Tables for procurement: a row for each item that is paid for, and phases only where a design grows."""

from __future__ import annotations

from gpuplan import Plan
from gpuplan.analysis.procurement import PAID
from gpuplan.report.tables.orders import orders, paid_orders, phases


def test_each_item_that_is_paid_for_has_a_row(plans: dict[str, Plan]) -> None:
    plan = plans["current"]
    assert plan.costs is not None
    paid = [material for material in plan.costs.materials if material.status in PAID]
    assert [order.material for order in paid_orders(plan)] == paid
    assert len(orders(plan).rows) == len(paid) == len(phases(plan).rows) - 1
    assert len(phases(plan).columns) == plan.costs.years + 2
    values = [cell.value for cell in next(iter(phases(plan).cells()))]
    assert values[1:] == [10, 2, 2, 2, 3, 19]


def test_a_design_that_does_not_grow_has_no_phases(plans: dict[str, Plan]) -> None:
    assert orders(plans["enterprise"]).rows and not phases(plans["enterprise"]).rows
