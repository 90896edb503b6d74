"""Estates made up for tests: the export of a vCenter, workbooks, and lists of GPUs, in the shapes that their tools write."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping, Sequence
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
