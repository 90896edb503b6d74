"""Names and addresses of a design: numbers, proposals that follow from a subnet, and values as typed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from site_designs import two_sites
from site_values import all_typed

from gpuplan import Plan, make_plan
from gpuplan.catalog import Catalog
from gpuplan.report.physical import networks
from gpuplan.report.site import checklist, site_fields, site_value
from gpuplan.scenario import from_dict
from gpuplan.scenario.inputs import SITE_ROWS
from gpuplan.wording import NAMES

EXAMPLES = ("starter", "enterprise", "current")


def typed(plan: Plan, **values: Any) -> Plan:
    """The plan with some names and addresses, whose keys have two underscores for each dot and one for a hyphen."""
    keys = {name.replace("__", ".").replace("_", "-"): value for name, value in values.items()}
    return make_plan(replace(plan.scenario, site=tuple(keys.items())), plan.catalog)


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_field_has_an_owner_a_day_and_a_number_of_the_checklist(
    plans: dict[str, Plan], name: str
) -> None:
    fields, rows = site_fields(plans[name]), checklist(plans[name])
    assert [row.number for row in rows] == [f"C{at}" for at in range(1, len(rows) + 1)]
    assert len({each.key for each in fields}) == len(fields)
    assert {each.number for each in fields} == {row.number for row in rows}
    for each in fields:
        assert each.owner in NAMES["owner"] and each.due > "2026" and each.what and each.area
        assert site_value(plans[name], each.key) == each.value or each.proposed or each.mark


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_typed_value_is_that_of_its_field_and_moves_no_number(plans: dict[str, Plan], name: str) -> None:
    plan = plans[name]
    full = make_plan(all_typed(plan), plan.catalog)
    assert [each.key for each in site_fields(full)] == [each.key for each in site_fields(plan)]
    for each in site_fields(full):
        if not each.path.startswith("groups."):
            assert site_value(full, each.key) == each.value == str(full.scenario.get(each.path))
    assert full.totals == plan.totals and full.pools == plan.pools


def test_addresses_follow_from_a_subnet(plans: dict[str, Plan]) -> None:
    """Eight hosts, the gateway first; 5 addresses for vCenter, the NSX cluster and its managers."""
    plan = typed(plans["enterprise"], network__management__subnet="10.1.0.0/24")
    assert site_value(plan, "network.management.gateway") == "10.1.0.1"
    assert site_value(plan, "network.management.range") == "10.1.0.2-10.1.0.9"
    hosts = [site_value(plan, f"host.vgpu-{at:02}.management") for at in range(1, 9)]
    assert hosts == [f"10.1.0.{at}" for at in range(2, 10)]
    subnet = next(each for each in site_fields(plan) if each.key == "network.bmc.subnet")
    assert site_value(plan, "host.vgpu-01.bmc") == site_value(plan, "network.bmc.subnet") == subnet.mark
    plan = typed(plan, network__vm_management__subnet="2001:db8::/64")
    appliances = ("vcenter", "nsx", "manager.1", "manager.2", "manager.3")
    assert [site_value(plan, f"{name}.address") for name in appliances] == [
        f"2001:db8::{at}" for at in range(2, 7)
    ]


def test_a_typed_gateway_range_or_address_comes_first(plans: dict[str, Plan]) -> None:
    values = {"network__management__subnet": "10.1.0.0/24", "network__management__gateway": "10.1.0.254"}
    last = typed(plans["enterprise"], **values)
    assert site_value(last, "network.management.range") == "10.1.0.1-10.1.0.8"
    values |= {"network__management__range": "10.1.0.50-10.1.0.52", "host__vgpu_02__management": "10.9.9.9"}
    short = typed(plans["enterprise"], **values)
    addresses = [site_value(short, f"host.vgpu-{at:02}.management") for at in range(1, 5)]
    assert addresses[:3] == ["10.1.0.50", "10.9.9.9", "10.1.0.52"] and addresses[3].startswith("\u2039C")
    small = typed(plans["enterprise"], network__management__subnet="10.1.0.0/30")
    assert site_value(small, "network.management.range").startswith("\u2039C")


def test_each_site_has_its_networks_and_its_hosts_their_addresses(catalog: Catalog) -> None:
    plan = make_plan(two_sites(8, 8), catalog)
    keys = [each.id for each in networks(plan)]
    assert {"berlin-vmotion", "austin-vmotion", "berlin-vm-management"} <= {*keys}
    assert "austin-vm-management" not in keys
    plan = typed(plan, network__austin_management__subnet="10.7.0.0/24")
    addresses = {each.key: site_value(plan, each.key) for each in site_fields(plan) if "host." in each.key}
    first = [value for key, value in addresses.items() if key.endswith(".management") and "10.7" in value]
    assert first[0] == "10.7.0.2" and len(first) == sum(p.hosts for p in plan.pools if p.site == "Austin")


def test_edges_and_supervisor_have_networks_where_the_design_has_them(plans: dict[str, Plan]) -> None:
    scenario = plans["current"].scenario.with_value("management.edges", "large")
    plan = make_plan(scenario.with_value("management.supervisor", "small"), plans["current"].catalog)
    more = {each.id for each in networks(plan)} - {each.id for each in networks(plans["current"])}
    assert more == {"edge-overlay", "edge-uplink-1", "edge-uplink-2", "supervisor"}
    assert 8 <= len(networks(plan)) <= 12
    keys = {each.key for each in site_fields(plan)}
    assert {"bgp.as", "edge.1.uplink-1", "edge.2.address"} <= keys


def test_a_design_without_hosts_asks_for_nothing(catalog: Catalog) -> None:
    assert (
        site_fields(make_plan(from_dict({}), catalog)) == () == checklist(make_plan(from_dict({}), catalog))
    )


def test_rows_have_owners_and_conditions_that_there_are(plans: dict[str, Plan]) -> None:
    assert {row["owner"] for row in SITE_ROWS} <= set(NAMES["owner"])
    assert len({row["key"] for row in SITE_ROWS}) == len(SITE_ROWS)
