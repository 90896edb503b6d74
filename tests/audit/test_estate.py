"""The record of an estate."""

from __future__ import annotations

from gpuplan import Catalog
from gpuplan.audit.estate import Device, Draft, Estate, EstateHost, EstateVm, address_of, profile_of


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


def test_addresses_are_alike_however_a_tool_writes_them() -> None:
    assert {address_of(text) for text in ("00000000:4A:00.0", "0000:4a:00.0", "4a:00.0")} == {"0000:4a:00.0"}
    assert address_of("GPU-1234") == "GPU-1234"


def test_a_host_is_known_by_its_short_and_its_full_name_and_the_first_word_counts(catalog: Catalog) -> None:
    draft = Draft(catalog)
    assert draft.host("esx1.example.test", cores=64) == "esx1.example.test"
    assert draft.host("ESX1", cores=32, model="R760xa") == "esx1.example.test"
    assert draft.host("10.0.0.1") != draft.host("10.0.0.2")
    assert (draft.estate().hosts[0].cores, draft.estate().hosts[0].model) == (64, "R760xa")


def test_a_gpu_of_two_files_is_one_gpu(catalog: Catalog) -> None:
    draft = Draft(catalog, {"our board": "l40s-48gb"})
    draft.gpu("a", "our board", "0000:4a:00.0", None)
    draft.gpu("a", "NVIDIA L40S", "00000000:4A:00.0", 45.0)
    (gpu,) = draft.estate().hosts[0].gpus or ()
    assert (gpu.gpu, gpu.address) == ("l40s-48gb", "0000:4a:00.0")


def test_a_vm_of_two_files_is_one_vm_and_one_on_another_host_is_not(catalog: Catalog) -> None:
    draft = Draft(catalog)
    draft.vm(EstateVm("a", "x", vcpus=4))
    draft.vm(EstateVm("a", "x", vcpus=8, restart="high"))
    draft.vm(EstateVm("a", "y"))
    assert [(vm.name, vm.host, vm.vcpus, vm.restart) for vm in draft.estate().vms] == [
        ("a", "x", 4, "high"),
        ("a", "y", None, None),
    ]
