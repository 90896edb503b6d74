"""Estates made up for tests: the export of a vCenter, workbooks, and lists of GPUs, in the shapes that their tools write."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from random import Random
from typing import Any, BinaryIO

import xlsxwriter

from gpuplan import Catalog
from gpuplan.audit.estate import Device, Estate, EstateGpu, EstateHost, EstateVm
from gpuplan.audit.inventories import read_estate

L40S = ("NVIDIA L40S", 46068 * 1024, 0x26B9)
A100 = ("GA100 [A100 PCIe 80GB]", 81920 * 1024, 0x20B5)
CLUSTER = "ClusterComputeResource-domain-c1"


def card(address: str, board: tuple[str, int, int] = L40S, *vms: int, **more: Any) -> dict[str, Any]:
    """A GPU as vSphere lists it."""
    name, kib, _ = board
    ids = [f"VirtualMachine-vm-{vm}" for vm in vms]
    shown = {"deviceName": name, "vendorName": "NVIDIA Corporation", "pciId": address, "memorySizeInKB": kib}
    return shown | {"graphicsType": "sharedDirect", "vgpuMode": "sameSize", "vm": ids} | more


def signed(number: int) -> int:
    """A 16-bit number as the API has it."""
    return number - 0x10000 if number >= 0x8000 else number


def pci(address: str, device: int, *, kind: int = 0x0302, sub: int = 0) -> dict[str, Any]:
    """A PCI device as vSphere lists it, with signed ids."""
    ids = {"VendorId": 0x10DE, "DeviceId": signed(device), "SubDeviceId": signed(sub)}
    return {"Id": address, "ClassId": kind, "DeviceName": "", **ids}


def host(at: int, cards: Sequence[Any] = (), devices: Sequence[Any] = (), **more: Any) -> dict[str, Any]:
    """A host of the export."""
    of = {
        "id": f"HostSystem-host-{at}",
        "name": f"esx{at}.example.test",
        "cluster": CLUSTER,
        "version": "8.0.3",
    }
    state = {"connectionState": "connected", "inMaintenanceMode": False, "memorySize": 1024 * 2**30}
    cpu = {"numCpuPackages": 2, "numCpuCores": 64, "numCpuThreads": 128, "graphicsInfo": list(cards)}
    return of | state | cpu | {"pciDevice": list(devices), "sharedPassthruGpuTypes": []} | more


def vm(at: int, on: int, *backings: Mapping[str, Any], gib: int = 64, **more: Any) -> dict[str, Any]:
    """A VM of the export."""
    devices = [{"kind": "VirtualPCIPassthrough", "backing": dict(backing)} for backing in backings]
    of = {
        "id": f"VirtualMachine-vm-{at}",
        "name": f"vm{at}",
        "host": f"HostSystem-host-{on}",
        "devices": devices,
    }
    return of | {"powerState": "poweredOn", "template": False, "numCPU": 8, "memoryMB": 1024 * gib} | more


def vgpu(profile: str, *, migrates: bool = True) -> dict[str, Any]:
    """The backing of a vGPU."""
    return {"Vgpu": profile, "MigrateSupported": migrates}


def export(hosts: Sequence[Any], vms: Sequence[Any] = (), *, ha: bool = True) -> dict[str, Any]:
    """The export of a vCenter with one cluster."""
    cluster = {"id": CLUSTER, "name": "GPU-C1", "haEnabled": ha, "drsEnabled": True}
    cluster |= {"admissionControlEnabled": True, "failoverLevel": 1}
    return {"exported": "2026-11-29T01:00:00", "clusters": [cluster], "hosts": list(hosts), "vms": list(vms)}


def estate_of(catalog: Catalog, *contents: Any, names: Sequence[str] = ()) -> Estate:
    """The estate of files with these contents: JSON of objects, text, or bytes."""
    files: list[tuple[str, BinaryIO]] = []
    for at, content in enumerate(contents):
        text = content if isinstance(content, str | bytes) else json.dumps(content)
        data = text.encode() if isinstance(text, str) else text
        files.append((names[at] if names else f"file{at}.txt", io.BytesIO(data)))
    return read_estate(files, catalog)


def workbook(**sheets: Sequence[Sequence[Any]]) -> bytes:
    """A workbook with these sheets; ``_`` in a name is a blank."""
    file = io.BytesIO()
    with xlsxwriter.Workbook(file, {"in_memory": True}) as book:
        for name, rows in sheets.items():
            sheet = book.add_worksheet(name.replace("_", " "))
            for at, row in enumerate(rows):
                for column, value in enumerate(row):
                    sheet.write(at, column, value)
    return file.getvalue()


def drawn_estate(
    rng: Random, hosts: int, gpus: int, profiles: Sequence[str], mode: str, board: str
) -> Estate:
    """A small estate with random vGPUs, each on a GPU where it fits by equal size."""
    most = dict(part.split("=") for part in profiles)
    all_hosts, vms = [], list[EstateVm]()
    for at in range(hosts):
        cards = []
        for gpu in range(gpus):
            address = f"0000:{16 * (gpu + 1):02x}:00.0"
            cards.append(EstateGpu("", board, (), address, 48.0, "sharedDirect", mode))
            profile = rng.choice(list(most))
            for _ in range(rng.randint(0, int(most[profile]))):
                memory = float(rng.choice((16, 32, 64)))
                device = Device("vgpu", f"nvidia_{profile.lower()}", address, "vmiop")
                vms.append(EstateVm(f"vm{len(vms):02}", f"esx{at}", "c", True, 8, memory, (device,), True))
        all_hosts.append(
            EstateHost(f"esx{at}", "c", "8.0.3", "connected", memory_gib=256.0, gpus=tuple(cards))
        )
    return Estate("vcenter", tuple(all_hosts), tuple(vms))


MOST = {"L40S-12C": 4, "L40S-24C": 2, "L40S-48C": 1}
"""Profiles of drawn estates, and how many of each a GPU takes."""
Free = dict[str, tuple[int, int]]
"""Host -> free memory in GiB and vCPUs."""


def profile(vm: EstateVm) -> str:
    """The profile of a VM in the terms of the catalog; empty without a GPU."""
    return vm.devices[0].profile.removeprefix("nvidia_").upper() if vm.devices else ""


def with_others(rng: Random, estate: Estate, most: int) -> Estate:
    """The estate with VMs that have no GPU, and with memory and cores that some of its hosts run short of."""
    vms = list(estate.vms)
    for at in range(rng.randint(0, most)):
        size = rng.choice((2, 4, 8)), float(rng.choice((8, 32, 64)))
        vms.append(EstateVm(f"web{at}", rng.choice(estate.hosts).name, "c", True, *size, (), True))
    memory, cores = rng.choice((96.0, 160.0, 256.0, 512.0)), rng.choice((None, 8, 12, 16, 32))
    return replace(
        estate, vms=tuple(vms), hosts=tuple(replace(h, memory_gib=memory, cores=cores) for h in estate.hosts)
    )


def free_of(estate: Estate, names: Sequence[str], staying: Sequence[EstateVm], per_core: int = 0) -> Free:
    """What hosts have free: vCPUs per core as stated, else as many whole ones as the busiest host has."""
    on = {host.name: sum(vm.vcpus or 0 for vm in estate.by_host[host.name]) for host in estate.hosts}
    ratio = per_core or max([1, *(-(-on[host.name] // host.cores) for host in estate.hosts if host.cores)])
    free = {}
    for host in (host for host in estate.hosts if host.name in names):
        vms = [vm for vm in staying if vm.host == host.name]
        vcpus = ratio * host.cores if host.cores else 10_000
        gib = int(host.memory_gib or 0) - sum(int(vm.memory_gib or 0) for vm in vms)
        free[host.name] = gib, vcpus - sum(vm.vcpus or 0 for vm in vms)
    return free


def best(vms: Sequence[EstateVm], gpus: list[tuple[str, list[str]]], free: Free) -> int:
    """Most VMs that find a place, by trying every host and GPU for each; a GPU has one size, a host its memory and vCPUs."""
    if not vms:
        return 0
    one, rest = vms[0], vms[1:]
    name, gib, vcpus = profile(one), int(one.memory_gib or 0), one.vcpus or 0
    most, tried = best(rest, gpus, free), set[tuple[str, tuple[str, ...]]]()
    here = [each for each in gpus if not each[1] or each[1][0] == name]
    places = here if name else [(host, list[str]()) for host in free]
    for host, on in places:
        memory, cpu = free[host]
        if (host, tuple(on)) in tried or memory < gib or cpu < vcpus or (name and len(on) >= MOST[name]):
            continue
        tried.add((host, tuple(on)))
        on.append(name)
        most = max(most, 1 + best(rest, gpus, free | {host: (memory - gib, cpu - vcpus)}))
        on.pop()
        if most == len(vms):
            break
    return most
