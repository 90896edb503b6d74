"""Bitfusion servers: which GPUs they hold, and how large they are."""

from __future__ import annotations

from gpuplan import Plan, make_plan
from gpuplan.catalog import Catalog
from gpuplan.report.bitfusion import all_servers, clients, gpus_of, server_memory_gib


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
