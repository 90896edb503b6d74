"""The export of a vCenter, and objects of the vSphere API."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from estates import A100, L40S, card, estate_of, export, host, pci, vgpu, vm

from gpuplan import Catalog
from gpuplan.audit import TraceError
from gpuplan.audit.estate_use import use_of
from gpuplan.facts import data_root

FIXED = {"Id": "0000:af:00.0", "DeviceId": "20b5", "SystemId": "x", "VendorId": 0x10DE}
DYNAMIC = {
    "AllowedDevice": [{"VendorId": 0x10DE, "DeviceId": 0x20B5}],
    "CustomLabel": "A100",
    "AssignedId": None,
}


def test_the_collector_only_reads() -> None:
    script = (data_root() / "collect_vcenter.ps1").read_text(encoding="utf-8")
    verbs = {verb for verb, _ in re.findall(r"\b([A-Z][A-Za-z]+)-([A-Z]\w+)", re.sub(r"#.*", "", script))}
    assert verbs == {"Get", "Where", "ForEach", "Select", "ConvertTo", "Out"}
    assert not re.search(r"\b(Set|New|Remove|Add|Move|Stop|Start|Restart|Update|Invoke|Clear)-", script)
    assert len(script.splitlines()) < 60


def test_hosts_gpus_vms_and_clusters(catalog: Catalog) -> None:
    cards = [
        card("0000:4a:00.0", L40S, 1, 2),
        card("0000:61:00.0", A100, graphicsType="direct", vgpuMode="none"),
    ]
    devices = [
        pci("0000:4a:00.0", 0x26B9),
        pci("0000:61:00.0", 0x20B5),
        pci("0000:07:00.0", 0x1AF1, kind=0x0680),
    ]
    vms = [vm(at, 1, vgpu("nvidia_l40s-24c")) for at in (1, 2)]
    vms += [vm(3, 1, restartPriority="high"), vm(4, 1, powerState="poweredOff"), vm(5, 1, template=True)]
    estate = estate_of(catalog, export([host(1, cards, devices, inMaintenanceMode=True)], vms))
    (one,) = estate.hosts
    assert (one.name, one.cluster, one.version, one.state) == (
        "esx1.example.test",
        "GPU-C1",
        "8.0.3",
        "maintenance",
    )
    assert (one.sockets, one.cores, one.threads, one.memory_gib) == (2, 64, 128, 1024)
    assert one.gpus is not None
    assert [(gpu.gpu, gpu.address, gpu.graphics) for gpu in one.gpus] == [
        ("l40s-48gb", "0000:4a:00.0", "sharedDirect"),
        ("a100-pcie-80gb", "0000:61:00.0", "direct"),
    ]
    assert [(vm.name, vm.on, vm.restart, vm.cluster) for vm in estate.vms] == [
        ("vm1", True, None, "GPU-C1"),
        ("vm2", True, None, "GPU-C1"),
        ("vm3", True, "high", "GPU-C1"),
        ("vm4", False, None, "GPU-C1"),
    ]
    (device,) = estate.vms[0].devices
    assert (device.kind, device.profile, device.address) == ("vgpu", "nvidia_l40s-24c", "0000:4a:00.0")
    (cluster,) = estate.clusters
    assert (cluster.ha, cluster.admission, cluster.failover_hosts, cluster.drs) == (True, True, 1, True)
    assert (estate.exported, len(estate.notes)) == ("2026-11-29", 2)


def test_all_four_backings(catalog: Catalog) -> None:
    backings = [vgpu("grid_a100d-40c"), FIXED, DYNAMIC, {"DeviceClass": "nvidia/a100", "ConfigParams": []}]
    devices = [pci("0000:af:00.0", 0x20B5), pci("0000:b0:00.0", 0x20B5)]
    passed = {"pciPassthruInfo": [{"Id": device["Id"], "PassthruEnabled": True} for device in devices]}
    estate = estate_of(catalog, export([host(1, (), devices, **passed)], [vm(1, 1, *backings)]))
    assert [(device.kind, device.backing) for device in estate.vms[0].devices] == [
        ("vgpu", "vmiop"),
        ("passthrough", "fixed"),
        ("passthrough", "dynamic"),
        ("passthrough", "dvx"),
    ]
    assert estate.vms[0].devices[1].address == "0000:af:00.0"
    assert estate.vms[0].devices[2].label == "A100"
    assert [gpu.gpu for gpu in estate.hosts[0].gpus or ()] == ["a100-pcie-80gb"] * 2


def test_switches_and_other_devices_are_no_gpus(catalog: Catalog) -> None:
    switch = pci("0000:07:00.0", 0x22A3, kind=0x0680)
    vms = [vm(1, 1, FIXED | {"Id": "0000:07:00.0"}, FIXED | {"VendorId": 0x15B3, "Id": "0000:08:00.0"})]
    matrox = card("0000:03:00.0", vendorName="Matrox Electronics Systems Ltd.", deviceName="G200eW3")
    estate = estate_of(catalog, export([host(1, [matrox], [switch])], vms))
    assert estate.hosts[0].gpus == ()
    assert estate.vms[0].devices == ()


@pytest.mark.parametrize("device", [0x20B5, 0x26B9, 0x2BB5, 0x1EB8])
def test_ids_come_as_signed_numbers(device: int, catalog: Catalog) -> None:
    gpu = pci("0000:af:00.0", device, sub=0x9ABC)
    estate = estate_of(catalog, export([host(1, (), [gpu])]))
    assert [gpu.gpu for gpu in estate.hosts[0].gpus or ()] != [""]


def test_a_device_id_decides_where_a_name_does_not(catalog: Catalog) -> None:
    for sub, board in ((0x14A9, "a16-64gb"), (0x157E, "a2-16gb")):
        name = ("GA107GL [A2 / A16]", 16 * 2**20, 0)
        estate = estate_of(
            catalog, export([host(1, [card("0000:af:00.0", name)], [pci("0000:af:00.0", 0x25B6, sub=sub)])])
        )
        assert [gpu.gpu for gpu in estate.hosts[0].gpus or ()] == [board]


def test_objects_of_the_api_in_their_own_shape(catalog: Catalog) -> None:
    product = {"version": "8.0.3"}
    config = {
        "graphicsInfo": [card("0000:4a:00.0")],
        "sharedPassthruGpuTypes": ["nvidia_l40s-24c"],
        "product": product,
    }
    moref = {"type": "HostSystem", "value": "host-9"}
    one = {"self": moref, "name": "esx9", "config": config, "runtime": {"connectionState": "connected"}}
    one |= {"hardware": {"memorySize": 2**40, "cpuInfo": {"numCpuCores": 32, "numCpuPackages": 2}}}
    backing = {"vgpu": "nvidia_l40s-24c", "migrateSupported": False}
    guest = {"name": "vm1", "runtime": {"host": moref, "powerState": "poweredOn"}}
    guest |= {
        "config": {"hardware": {"numCPU": 4, "memoryMB": 4096, "device": [{"key": 1}, {"backing": backing}]}}
    }
    estate = estate_of(catalog, {"hostSystems": [one], "virtualMachines": [guest]})
    assert (estate.hosts[0].name, estate.hosts[0].cores, estate.hosts[0].version) == ("esx9", 32, "8.0.3")
    assert estate.vms[0].host == "esx9" and estate.vms[0].migrates is False
    assert [device.profile for device in estate.vms[0].devices] == ["nvidia_l40s-24c"]
    inside = estate_of(
        catalog, {"clusters": [{"name": "c", "haEnabled": True, "hosts": [one], "vms": [guest]}]}
    )
    assert (len(inside.hosts), len(inside.vms), len(inside.clusters)) == (1, 1, 1)
    single = estate_of(catalog, {"host": "esx11.example.test", "graphicsInfo": [card("0000:4a:00.0")]})
    assert single.hosts[0].name == "esx11.example.test" and len(single.hosts[0].gpus or ()) == 1


def test_of_hosts_alone_it_is_known_which_vms_are_on_their_gpus(catalog: Catalog) -> None:
    card_of = card("0000:4a:00.0") | {"vm": ["vm-41", {"type": "VirtualMachine", "value": "vm-42"}]}
    estate = estate_of(catalog, {"host": "esx11.example.test", "graphicsInfo": [card_of]})
    assert [(vm.name, vm.host, vm.devices[0].address) for vm in estate.vms] == [
        ("vm-41", "esx11.example.test", "0000:4a:00.0"),
        ("vm-42", "esx11.example.test", "0000:4a:00.0"),
    ]
    use = use_of(estate, catalog)
    assert use.gpus[0].free_mb is None and len(use.gpus[0].vms) == 2
    assert {vm.why for vm in use.evacuation["esx11.example.test"]} == {"unknown"}


@pytest.mark.parametrize("junk", [None, [], {}, "x", -1, 1e308, True, "0x10de", [None], {"name": 1}])
def test_odd_values_are_left_out_or_refused(junk: object, catalog: Catalog) -> None:
    cards, devices = [card("0000:4a:00.0", L40S, 1)], [pci("0000:4a:00.0", 0x26B9)]
    whole = export([host(1, cards, devices)], [vm(1, 1, vgpu("nvidia_l40s-24c"), DYNAMIC)])
    for path in paths(whole):
        content = json.loads(json.dumps(whole))
        at = content
        for key in path[:-1]:
            at = at[key]
        at[path[-1]] = junk
        try:
            use_of(estate_of(catalog, content), catalog)
        except TraceError:
            continue


def paths(data: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every place in JSON but the whole."""
    items = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for key, value in items:
        yield (*path, key)
        yield from paths(value, (*path, key))


@pytest.mark.parametrize("left", [("NumCpu",), ("NumCpu", "MemoryMB"), ("NumCpu", "MemoryMB", "Template")])
def test_vms_without_their_size_are_vms(left: tuple[str, ...], catalog: Catalog) -> None:
    whole = export([host(1, [card("0000:4a:00.0", A100)])], [vm(1, 1, vgpu("nvidia_a100-10c"))])
    gone = {key.lower() for key in left}
    vms = [{key: value for key, value in one.items() if key.lower() not in gone} for one in whole["vms"]]
    estate = estate_of(catalog, whole | {"vms": vms})
    assert [(one.name, one.on, len(one.devices), one.vcpus) for one in estate.vms] == [("vm1", True, 1, None)]
    assert len(estate.hosts) == 1


@pytest.mark.parametrize(
    ("name", "gpus"), [("Tesla T4", 1), ("GA100 [A100 PCIe 40GB]", 1), ("Matrox G200", 0), ("", 0)]
)
def test_a_board_without_a_vendor_is_read_or_said(name: str, gpus: int, catalog: Catalog) -> None:
    bare = {"deviceName": name, "pciId": "0000:4a:00.0", "graphicsType": "sharedDirect"}
    estate = estate_of(catalog, {"hosts": [{"name": "a", "graphicsInfo": [bare]}]})
    assert [len(one.gpus or ()) for one in estate.hosts] == [gpus]
    assert len(estate.notes) == 1 - gpus
