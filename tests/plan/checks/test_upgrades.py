"""Checks of upgrades: what is advised is planned again, and then the message is gone."""

from __future__ import annotations

from typing import Any

from approved import has_approved, is_approved
from power_on_designs import DEFAULTS, stated

from gpuplan import Plan, check_plan, load_scenario, make_plan
from gpuplan.catalog import Catalog
from gpuplan.plan.checks.message import Message
from gpuplan.plan.checks.upgrades import upgrades
from gpuplan.scenario import Scenario, from_dict


def only(plan: Plan) -> Message:
    (message,) = upgrades(plan)
    return message


def whole(vsphere: str, **vms: int) -> Scenario:
    """VMs with so many whole GPUs, on hosts of 8."""
    groups: list[dict[str, Any]] = [
        {"id": f"g{gpus}", "name": f"Team {gpus}", "people": n, "gpus_each": int(gpus), "access": "vgpu"}
        | {"stun_read_s": 5.0}
        for gpus, n in ((name[1:], n) for name, n in vms.items())
    ]
    hardware = {"gpu": "a100-pcie-80gb", "gpus_per_host": 8}
    return from_dict({"groups": groups, "hardware": hardware, "platform": {"vsphere": vsphere}})


def test_a_policy_that_is_advised_lets_every_host_be_upgraded(catalog: Catalog) -> None:
    """What is not stated is set up as it would be advised, so that nothing is left to advise."""
    scenario = load_scenario("assistant").with_value("groups.assistant.people", 250)
    scenario = scenario.with_value("groups.assistant.engine_setup", "tuned")
    assert not list(upgrades(make_plan(scenario, catalog)))
    scenario = stated(scenario)
    message = only(make_plan(scenario, catalog))
    assert (message.level, message.path) == ("note", "platform.gpu_policy")
    assert is_approved(message.change)
    assert has_approved(message.text, "12 VMs") and "Data scientists (6)" in message.text
    changed = make_plan(scenario.with_value("platform.gpu_policy", "group"), catalog)
    assert not list(upgrades(changed)) and changed.rehearsed["vgpu"].upgrade.works


def test_two_settings_where_one_is_not_enough(catalog: Catalog, plans: dict[str, Plan]) -> None:
    assert not list(upgrades(plans["current"]))
    plan = make_plan(stated(plans["current"].scenario), catalog)
    message = only(plan)
    assert has_approved(message.change)
    scenario = plan.scenario.with_value("platform.gpu_policy", "group")
    assert list(upgrades(make_plan(scenario, catalog)))
    assert not list(upgrades(make_plan(scenario.with_value("platform.drs_consolidation", True), catalog)))


def test_a_host_kept_out_of_power_on_takes_what_leaves_another(catalog: Catalog) -> None:
    scenario = whole("7.0u3", g3=3, g2=2, g1=2)
    message = only(make_plan(scenario, catalog))
    assert is_approved(message.change, "1 host")
    assert not list(upgrades(make_plan(scenario.with_value("availability.reserved_hosts", 1), catalog)))


def test_no_more_hosts_are_to_be_kept_out_than_may_be(catalog: Catalog) -> None:
    """Hosts already there that no VM needs are not those of the failures: here a half leaves one of two with a GPU empty."""
    small = {"gpu": "a100-pcie-80gb", "gpus_per_host": 4, "existing": "2 x 1"}
    sizes = ((4, 2), (1, 0.5))
    groups = [
        {"id": f"g{n}", "people": n, "gpus_each": gpus, "access": "vgpu", "stun_read_s": 5.0}
        for n, gpus in sizes
    ]
    scenario = from_dict({"groups": groups, "hardware": small, "platform": {"vsphere": "7.0u3"}})
    plan = make_plan(scenario, catalog)
    assert plan.pools[0].hosts_for_failures == 2 and scenario.availability.host_failures == 1
    assert is_approved(only(plan).change, "1 host")
    assert not list(upgrades(make_plan(scenario.with_value("availability.reserved_hosts", 1), catalog)))


def test_what_takes_hardware_or_other_vms_is_a_warning(catalog: Catalog) -> None:
    scenario = whole("7.0u3", g4=2, g3=2, g2=1)
    message = only(make_plan(scenario, catalog))
    assert message.level == "warn" and "Team 3 (2)" in message.text
    assert has_approved(
        message.change.lower().replace("team", "Team").replace("vms", "VMs").replace("gpus", "GPUs"),
        "2",
        "1",
        "2 GPUs",
    )
    smaller = whole("7.0u3", g4=2, g3=2, g1=2)
    assert not list(upgrades(make_plan(smaller, catalog)))
    assert "or add 1 host" in message.change or "or add 2 hosts" in message.change


def test_nothing_is_said_without_failover_capacity_or_where_bitfusion_shares_gpus(
    catalog: Catalog, plans: dict[str, Plan]
) -> None:
    assert not list(upgrades(plans["starter"])) and not list(upgrades(plans["enterprise"]))
    bare = whole("7.0u3", g3=3, g2=2, g1=2).with_value("availability.host_failures", 0)
    assert not list(upgrades(make_plan(bare, catalog)))


L40S = {
    "hardware": {"gpu": "l40s-48gb", "gpus_per_host": 2},
    "availability": {"host_failures": 0},
    "platform": DEFAULTS,
}


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
    assert "99 %" in found["orders-not-reached"].text
