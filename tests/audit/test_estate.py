"""The record of an estate."""

from __future__ import annotations

from gpuplan import Catalog
from gpuplan.audit.estate import Device, Estate, EstateHost, EstateVm, profile_of


def test_vms_that_are_on_stand_under_their_host() -> None:
    vms = (EstateVm("a", "x", on=True), EstateVm("b", "x", on=False), EstateVm("c"), EstateVm("d", "x"))
    estate = Estate("vcenter", (EstateHost("x"), EstateHost("y")), vms)
    assert {name: [vm.name for vm in vms] for name, vms in estate.by_host.items()} == {
        "x": ["a", "d"],
        "y": [],
    }


def test_hosts_in_maintenance_take_no_vms() -> None:
    states = (None, "connected", "maintenance", "disconnected", "notResponding")
    assert [EstateHost("x", state=state).takes_vms for state in states] == [True, True, False, False, False]


def test_a_device_has_its_profile_in_the_terms_of_the_catalog(catalog: Catalog) -> None:
    profile = profile_of(catalog, Device("vgpu", "nvidia_h100xm-80c"))
    assert profile is not None and profile.gpus == ("h100-sxm5-80gb",)
    assert profile_of(catalog, Device("passthrough", address="0000:4a:00.0")) is None
