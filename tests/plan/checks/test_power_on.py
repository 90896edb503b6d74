"""Messages about orders of power-on: only where they matter, with what was tried and helps."""

from __future__ import annotations

from typing import Any

from approved import has_approved, is_approved

from gpuplan import Plan, check_plan, make_plan
from gpuplan.catalog import Catalog
from gpuplan.plan.checks.message import Message
from gpuplan.scenario import from_dict

L40S = {"hardware": {"gpu": "l40s-48gb", "gpus_per_host": 2}, "availability": {"host_failures": 0}}


def group(at: int, people: int, gpus: float) -> dict[str, Any]:
    return {"id": f"g{at}", "people": people, "gpus_each": gpus, "access": "vgpu"}


def messages(catalog: Catalog, **data: Any) -> dict[str, Message]:
    return {m.code: m for m in check_plan(make_plan(from_dict(data), catalog))}


def test_orders_are_a_risk_only_where_vms_stay_off(catalog: Catalog, plans: dict[str, Plan]) -> None:
    assert "power-on-orders" not in {m.code for m in check_plan(plans["enterprise"])}  # Bitfusion shares them
    assert "power-on-orders" not in messages(catalog, groups=[group(0, 9, 0.5)], **L40S)
    assert "power-on-orders" in {m.code for m in check_plan(plans["current"])}


def test_what_is_advised_was_tried(catalog: Catalog) -> None:
    found = messages(catalog, groups=[group(0, 2, 0.5), group(1, 2, 0.25)], **L40S)["power-on-orders"]
    assert has_approved(found.change) and found.path == "platform.gpu_policy"
    found = messages(catalog, groups=[group(0, 2, 1), group(1, 1, 2)], **L40S)["power-on-orders"]
    assert is_approved(found.change, "2 hosts")
    assert found.path == "platform.drs_consolidation"
    whole = [group(0, 2, 1) | {"access": "passthrough"}, group(1, 1, 2) | {"access": "passthrough"}]
    found = messages(catalog, groups=whole, **L40S)["power-on-orders"]
    assert "largest VMs first" in found.change and found.path == "availability.sized_for"


def test_what_sizing_for_orders_costs_is_said(catalog: Catalog) -> None:
    asked = {"host_failures": 0, "sized_for": "orders"}
    found = messages(catalog, groups=[group(0, 2, 1), group(1, 1, 2)], **L40S | {"availability": asked})
    assert "1 host more" in found["sized-for-orders"].text and "USD" in found["sized-for-orders"].text
    assert not {"power-on-orders", "orders-not-reached"} & found.keys()
    alike = messages(catalog, groups=[group(0, 9, 0.5)], **L40S | {"availability": asked})
    assert not {"sized-for-orders", "orders-not-reached"} & alike.keys()


def test_orders_that_no_cluster_starts_are_said(catalog: Catalog) -> None:
    asked = {"host_failures": 0, "sized_for": "orders", "hosts_per_cluster": 8}
    many = [group(0, 10, 1), group(1, 2, 2)]
    found = messages(catalog, groups=many, **L40S | {"availability": asked})
    assert has_approved(found["orders-not-reached"].text, "8 hosts")
    assert "fewer than 99 %" in found["orders-not-reached"].text
