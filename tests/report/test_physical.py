"""Names and networks by hand, and that tables have every rack and switch."""

from __future__ import annotations

import pytest
from site_designs import larger, two_sites

from gpuplan import Plan, load_scenario, make_plan
from gpuplan.catalog import Catalog
from gpuplan.plan.racks import Rack, racks
from gpuplan.report.physical import (
    LONGEST_NAME,
    Named,
    alike,
    all_servers,
    clients,
    gpus_of,
    names,
    networks,
    prefix,
    server_memory_gib,
    slug,
)
from gpuplan.report.tables import build
from gpuplan.wording import said


def test_racks_that_are_alike_are_together(plans: dict[str, Plan]) -> None:
    """Ten hosts, three to a rack: the first two have a leaf, the last one host."""
    assert [[rack.number for rack in these] for these in alike(racks(plans["current"]))] == [[1, 2], [3], [4]]


def ends_of(named: Named) -> tuple[int, str, str]:
    """Their number, and the first and the last name."""
    return named.many, named.names[0], named.names[-1]


def test_names_of_the_enterprise_example_by_hand(plans: dict[str, Plan]) -> None:
    assert [ends_of(each) for each in names(plans["enterprise"])] == [
        (8, "vgpu-01", "vgpu-08"),
        (2, "leaf-01a", "leaf-01b"),
        (2, "rack-01", "rack-02"),
    ]


def test_networks_of_the_enterprise_example_by_hand(plans: dict[str, Plan]) -> None:
    """Eight hosts with two tunnel endpoints, vCenter, three NSX Managers and their cluster, 3 + 16 + 2 + 16 + 4 VMs and 4 Bitfusion servers, one RDMA port a host."""
    found = {each.id: (each.addresses, each.prefix, each.mtu) for each in networks(plans["enterprise"])}
    assert found == {
        "management": (8, 28, 1500),
        "vm-management": (5, 29, 1500),
        "bmc": (8, 28, 1500),
        "vmotion": (8, 28, 9000),
        "storage": (8, 28, 9000),
        "overlay": (16, 27, 9000),
        "vm": (45, 26, 1500),
        "rdma": (8, 28, 9000),
    }


def test_the_table_has_all_racks_and_the_names_all_things_that_are_counted(
    plans: dict[str, Plan], catalog: Catalog
) -> None:
    large = make_plan(larger(load_scenario("current"), 60), catalog)
    for plan in (*plans.values(), large, make_plan(two_sites(220, 160), catalog)):
        assert_described(plan, racks(plan))


def test_the_switches_of_each_site_have_their_names(catalog: Catalog) -> None:
    """56 hosts in Berlin on two pairs under two spines, 41 in Austin on a pair."""
    plan = make_plan(two_sites(220, 160), catalog)
    switches = [ends_of(each) for each in names(plan) if each.kind == "switch"]
    assert switches == [
        (4, "leaf-01a", "leaf-02b"),
        (2, "spine-01", "spine-02"),
        (2, "leaf-03a", "leaf-03b"),
    ]


def assert_described(plan: Plan, found: tuple[Rack, ...]) -> None:
    """The table has all racks, those alike in one line, and the names all things that are counted."""
    rows = build.rack_plan(plan).rows
    first, last = rows[0][0], rows[-1][0]
    assert str(first).startswith("1") and str(last).endswith(str(len(found)))
    counted = {each.what: each.many for each in names(plan)}
    assert plan.cabling is not None and plan.cabling.switches is not None
    assert counted[said("physical.racks")] == len(found)
    for kind, many in zip(("leaves", "spines"), plan.cabling.switches.total, strict=False):
        of_kind = (n for what, n in counted.items() if what.startswith(said(f"physical.{kind}")))
        assert sum(of_kind) == many
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
    assert (found["vmotion"].addresses, found["management"].addresses) == (last, last)
    assert found["vm"].addresses >= sum(group.vms for group in plan.groups) * last / plan.costs.hosts[0]
    assert "rdma" not in found and "rdma" in {each.key for each in networks(plans["enterprise"])}


def test_identifiers_are_their_own() -> None:
    taken = {"vgpu"}
    assert [
        slug(text, taken) for text in ("Data scientists", "data-scientists", "vgpu", "7 people", "מרכז")
    ] == [
        "data_scientists",
        "data_scientists_2",
        "vgpu_2",
        "group_7_people",
        "group",
    ]
    assert len(slug("x" * 100, taken)) == LONGEST_NAME


def test_servers_on_vgpu_stand_where_clients_have_gpus(plans: dict[str, Plan]) -> None:
    """Enterprise: clients need 16 of 28 GPUs, on hosts 4 to 7; a server of 4 V100 of 32 GB has 1.5 x 128 GiB."""
    plan = plans["enterprise"]
    (servers,) = all_servers(plan)
    assert [(vm.host, list(vm.gpus)) for vm in servers.vms] == [(at, [0, 1, 2, 3]) for at in (3, 4, 5, 6)]
    assert (servers.profile, servers.least_vcpus, servers.least_memory_gib) == ("V100D-32C", 4, 192)
    assert sum(gpus_of(plan.pools[0], clients(plan))) == 16


def test_servers_with_passthrough_stand_on_every_host(plans: dict[str, Plan]) -> None:
    """Starter: each host is given whole to a server, that of the failover capacity too."""
    (servers,) = all_servers(plans["starter"])
    assert len(servers.vms) == 8 and {tuple(vm.gpus) for vm in servers.vms} == {(0, 1)}
    assert (
        (servers.profile, servers.least_memory_gib)
        == ("", server_memory_gib(plans["starter"], 2))
        == ("", 96)
    )


def test_a_vm_of_few_vgpus_takes_several_servers(plans: dict[str, Plan], catalog: Catalog) -> None:
    scenario = plans["enterprise"].scenario.with_value("platform.vsphere", "6.7u3")
    most = int(catalog.vsphere["6.7u3"].value("max_vgpus_per_vm") or 0)
    for servers in all_servers(make_plan(scenario, catalog)):
        assert all(0 < len(vm.gpus) <= most for vm in servers.vms)
        held = [(vm.host, gpu) for vm in servers.vms for gpu in vm.gpus]
        assert len(held) == len(set(held)) == 16


def test_without_remote_gpus_there_are_none(plans: dict[str, Plan]) -> None:
    assert all_servers(plans["current"]) == () and not clients(plans["current"])
