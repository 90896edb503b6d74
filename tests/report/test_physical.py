"""Racks, names and networks by hand, and that every host and leaf is somewhere once."""

from __future__ import annotations

from collections import Counter

import pytest

from gpuplan import Plan, load_scenario, make_plan
from gpuplan.catalog import Catalog
from gpuplan.report.physical import Rack, alike, host_name, leaf_names, names, networks, prefix, racks
from gpuplan.report.tables import build
from gpuplan.wording import said


def test_racks_of_the_enterprise_example_by_hand(plans: dict[str, Plan]) -> None:
    """Eight hosts, five to a rack, both leaves in the first."""
    first, second = racks(plans["enterprise"])
    assert first.leaves == ("leaf-01a", "leaf-01b") and second.leaves == ()
    assert [place.name for place in first.hosts] == ["vgpu-01", "vgpu-02", "vgpu-03", "vgpu-04", "vgpu-05"]
    assert [place.number for place in second.hosts] == [6, 7, 8]
    assert {place.pair for rack in (first, second) for place in rack.hosts} == {1}


def test_racks_that_are_alike_are_together(plans: dict[str, Plan]) -> None:
    """Ten hosts, three to a rack: the first has the leaves, the last one host."""
    assert [[rack.number for rack in these] for these in alike(racks(plans["current"]))] == [[1], [2, 3], [4]]


def test_names_have_as_many_digits_as_the_last_needs(plans: dict[str, Plan]) -> None:
    (pool,) = plans["enterprise"].pools
    assert host_name(pool, 3) == "vgpu-03"
    assert leaf_names(3, 8) == ("leaf-03a", "leaf-03b")
    assert leaf_names(3, 120) == ("leaf-003a", "leaf-003b")


def test_names_of_the_enterprise_example_by_hand(plans: dict[str, Plan]) -> None:
    assert [each[1:] for each in names(plans["enterprise"])] == [
        (8, "vgpu-01", "vgpu-08"),
        (2, "leaf-01a", "leaf-01b"),
        (2, "rack-01", "rack-02"),
    ]


def test_no_rack_where_a_host_is_more_than_one_carries(plans: dict[str, Plan]) -> None:
    assert racks(plans["enterprise"].but(power=None)) == ()


def test_networks_of_the_enterprise_example_by_hand(plans: dict[str, Plan]) -> None:
    """Eight hosts with BMC and two tunnel endpoints, 3 + 16 + 2 + 16 + 4 VMs and 4 Bitfusion servers, one RDMA port a host."""
    found = {each.key: each[2:] for each in networks(plans["enterprise"])}
    assert found == {
        "management": (16, 27, 1500),
        "vmotion": (8, 28, 9000),
        "storage": (8, 28, 9000),
        "overlay": (16, 27, 9000),
        "vm": (45, 26, 1500),
        "rdma": (8, 28, 9000),
    }


def test_every_host_is_in_one_rack_and_on_one_pair_of_leaves(
    plans: dict[str, Plan], catalog: Catalog
) -> None:
    scenario = load_scenario("current")
    people = [group.people * 60 for group in scenario.groups]
    for group, many in zip(scenario.groups, people, strict=True):
        scenario = scenario.with_value(f"groups.{group.id}.people", many)
    for plan in (*plans.values(), make_plan(scenario, catalog)):
        found = racks(plan)
        assert plan.power is not None and plan.cabling is not None and plan.cabling.switches is not None
        assert len(found) == plan.power.racks
        places = [place for rack in found for place in rack.hosts]
        assert len({place.name for place in places}) == len(places) == plan.totals.hosts
        assert max(len(rack.hosts) for rack in found) <= plan.power.hosts_per_rack
        leaves = [leaf for rack in found for leaf in rack.leaves]
        shape = plan.cabling.switches.shape
        assert len(leaves) == len(set(leaves)) == shape.leaves
        assert max(Counter(place.pair for place in places).values()) <= shape.hosts_per_pair
        assert_described(plan, found)


def assert_described(plan: Plan, found: tuple[Rack, ...]) -> None:
    """The table has all racks, those alike in one line, and the names all things that are counted."""
    rows = build.rack_plan(plan).rows
    first, last = rows[0][0], rows[-1][0]
    assert str(first).startswith("1") and str(last).endswith(str(len(found)))
    counted = {each.what: each.many for each in names(plan)}
    assert counted[said("physical.racks")] == len(found)
    assert sum(many for what, many in counted.items() if what.startswith("ESX")) == plan.totals.hosts


@pytest.mark.parametrize(
    ("addresses", "bits"),
    [(1, 30), (5, 29), (6, 28), (13, 28), (14, 27), (29, 27), (30, 26), (253, 24), (254, 23)],
)
def test_a_subnet_holds_its_addresses_and_a_gateway(addresses: int, bits: int) -> None:
    assert prefix(addresses) == bits
    assert 2 ** (32 - bits) - 2 >= addresses + 1  # without the subnet's own and the broadcast address
    assert 2 ** (32 - bits - 1) - 2 < addresses + 1


def test_networks_are_sized_for_the_last_year(plans: dict[str, Plan]) -> None:
    plan = plans["current"]
    assert plan.costs is not None
    found = {each.key: each for each in networks(plan)}
    last = plan.costs.hosts[-1]
    assert (found["vmotion"].addresses, found["management"].addresses) == (last, 2 * last)
    assert found["vm"].addresses >= sum(group.vms for group in plan.groups) * last / plan.costs.hosts[0]
    assert "rdma" not in found and "rdma" in {each.key for each in networks(plans["enterprise"])}
