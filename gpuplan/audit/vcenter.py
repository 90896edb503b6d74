"""vCenter as JSON: the export of gpuplan's own collector, and objects of the vSphere API as other tools write them."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from gpuplan.audit.estate import PASSTHROUGH, VGPU, Device, EstateCluster, EstateVm
from gpuplan.audit.estate_draft import Draft, address_of
from gpuplan.catalog.boards import boards_named
from gpuplan.scenario import show
from gpuplan.units import MIB_PER_GIB

NVIDIA, DISPLAY = 0x10DE, 0x03
"""Vendor of the GPUs, and class of a PCI device that is one; bridges of NVSwitch have another."""
BACKINGS = {"vgpu": "vmiop", "alloweddevice": "dynamic", "deviceclass": "dvx", "systemid": "fixed"}
"""Field that only one backing of a PCI device has -> the backing."""
_Flat = dict[str, Any]
"""Fields of an object and of those in it, by their names in lower case."""
_Seats = dict[tuple[str, str | None], list[str]]
"""Name of a VM and its host -> addresses of its GPUs."""


def read_vcenter(data: Any, name: str, draft: Draft) -> bool:
    """Take hosts, VMs and clusters of JSON; False if there are none."""
    objects = list(map(_flat, _objects(data)))
    signs = {"graphicsinfo", "pcidevice", "sharedpassthrugputypes"}
    sized = [flat for flat in objects if {"powerstate", "numcpu"} <= {*flat}]
    bare = [flat for flat in objects if "powerstate" in flat and {"devices", "device", "guestid"} & {*flat}]
    vms = sized + [flat for flat in bare if flat not in sized and not signs & {*flat}]
    hosts = [flat for flat in objects if (signs | {"connectionstate"}) & {*flat} and flat not in vms]
    clusters = [flat for flat in objects if {"dasconfig", "haenabled"} & {*flat}]
    names = {_id(flat): str(_of(flat, "name", "host") or name) for flat in (*hosts, *vms, *clusters)}
    for flat in clusters:
        _cluster(flat, draft)
    seats: _Seats = {}
    for flat in hosts:
        _gpus(flat, names, _host(flat, names, name, draft), draft, seats)
    for flat in vms:
        _vm(flat, names, draft, seats)
    if not vms:  # who is on the GPUs, and nothing else of them
        for (vm, host), addresses in seats.items():
            draft.vm(EstateVm(vm, host, on=True, devices=tuple(Device(VGPU, "", at) for at in addresses)))
    exported = re.match(r"\d{4}-\d\d-\d\d", str(data.get("exported")) if isinstance(data, dict) else "")
    draft.exported = exported[0] if exported else draft.exported
    return bool(hosts or vms)


def _objects(data: Any, depth: int = 0) -> Iterator[Mapping[str, Any]]:
    """Objects, and those in lists, at most three lists deep."""
    lists = [data] if isinstance(data, list) else []
    if isinstance(data, dict):
        yield data
        lists = [value for value in data.values() if isinstance(value, list)]
    for one in (one for some in lists for one in some if depth < 3):
        yield from _objects(one, depth + 1)


def _flat(data: Mapping[str, Any]) -> _Flat:
    """Fields of an object and of those in it; the outermost of a name counts."""
    flat, level = _Flat(), [data]
    for _ in range(6):
        for each in level:
            for key, value in each.items():
                flat.setdefault(key.lower(), value)
        level = [value for each in level for value in each.values() if isinstance(value, dict)]
    return flat


def _id(value: Any) -> str:
    """Id of a managed object, which tools write as text or as an object with a type."""
    if isinstance(value, dict) and "name" in value:
        value = _of(value, "self", "moref", "id", "name")
    if isinstance(value, dict):
        value = value.get("value", value.get("Value"))
    return re.sub(r"^(HostSystem|VirtualMachine|ClusterComputeResource)[-:]", "", str(value))


def _of(flat: Mapping[str, Any], *keys: str) -> Any:
    return next((flat[key] for key in keys if flat.get(key) is not None), None)


def _text(value: Any) -> str | None:
    return str(value) if isinstance(value, str | int | float) and value != "" else None


def _number(value: Any, per: float = 1) -> float | None:
    return float(value) / per if isinstance(value, int | float) and 0 < value < 2**60 else None


def _whole(value: Any) -> int | None:
    return int(value) if isinstance(value, int | float) and 0 < value < 2**31 else None


def _listed(value: Any) -> list[Any]:
    """A list; PowerShell writes a list of one as that one."""
    return value if isinstance(value, list) else [value] if value else []


def _items(flat: _Flat, *keys: str) -> list[_Flat]:
    return [_flat(each) for each in _listed(_of(flat, *keys)) if isinstance(each, dict)]


def _host(flat: _Flat, names: Mapping[str, str], file: str, draft: Draft) -> str:
    """Take a host, and return its name."""
    cluster = _of(flat, "cluster", "parent")
    host = draft.host(
        str(_of(flat, "name", "host") or file),
        cluster=names.get(_id(cluster), _text(cluster)),
        version=_text(flat.get("version")),
        state="maintenance" if flat.get("inmaintenancemode") is True else _text(flat.get("connectionstate")),
        model=_text(flat.get("model")),
        sockets=_whole(_of(flat, "numcpupackages", "numcpupkgs")),
        cores=_whole(flat.get("numcpucores")),
        threads=_whole(flat.get("numcputhreads")),
        memory_gib=_number(flat.get("memorysize"), 2**30),
        profiles=tuple(map(str, _listed(flat.get("sharedpassthrugputypes")))) or None,
        assignment=_text(flat.get("sharedpassthruassignmentpolicy")),
    )
    draft.gpus.setdefault(host, {})
    return host


def _gpus(flat: _Flat, names: Mapping[str, str], host: str, draft: Draft, seats: _Seats) -> None:
    """Take the GPUs of a host; ``seats`` gets those of each VM."""
    devices = {address_of(str(device.get("id"))): device for device in _items(flat, "pcidevice")}
    cards = {address_of(str(card.get("pciid"))): card for card in _items(flat, "graphicsinfo")}
    passing = [each for each in _items(flat, "pcipassthruinfo") if each.get("passthruenabled")]
    passed = {address_of(str(each.get("id"))) for each in passing}
    for address, card in cards.items():
        pci, name = _pci_id(devices.get(address, {})), str(card.get("devicename") or "")
        vendor = str(card.get("vendorname") or "")
        if (
            pci
            or "nvidia" in f"{vendor} {name}".lower()
            or (not vendor and boards_named(draft.catalog, name))
        ):
            modes = {"graphics": _text(card.get("graphicstype")), "vgpu_mode": _text(card.get("vgpumode"))}
            draft.gpu(host, name, address, _number(card.get("memorysizeinkb"), 2**20), pci, **modes)
            for vm in _listed(card.get("vm")):
                seats.setdefault((names.get(_id(vm), _id(vm)), host), []).append(address)
        elif not vendor and address not in devices:
            draft.note("estate.note.no vendor", host=host, name=show(name))
    for address, device in devices.items():
        pci, alone = _pci_id(device), not cards and address.endswith(":00.0")
        if not pci:
            draft.no_gpus.add((host, address))
        elif address not in cards and (address in passed or alone):
            draft.gpu(host, str(device.get("devicename") or ""), address, None, pci, graphics="direct")


def _bits(value: Any) -> int:
    """A PCI id: a number with a sign or without, or its digits, hexadecimal after 0x; 0 for all else."""
    match = re.fullmatch(r"0x([0-9a-f]{1,8})|(-?\d{1,10})", str(value).strip().lower())
    return (int(match[1], 16) if match[1] else int(match[2])) & 0xFFFF if match else 0


def _pci_id(device: Mapping[str, Any]) -> str:
    """Device and subsystem of an NVIDIA GPU, which the API gives as signed 16-bit numbers; empty for all else."""
    keys = ("vendorid", "classid", "deviceid", "subdeviceid")
    vendor, kind, own, sub = (_bits(device.get(key)) for key in keys)
    return f"{own:04X}:{sub:04X}" if vendor == NVIDIA and (not kind or kind >> 8 == DISPLAY) else ""


def _vm(flat: _Flat, names: Mapping[str, str], draft: Draft, seats: _Seats) -> None:
    if flat.get("template") is True:
        draft.templates += 1
        return
    name, host = str(flat.get("name")), names.get(_id(flat.get("host")), _text(flat.get("host")))
    host, free, devices = draft.host(host) if host else None, iter(seats.get((name, host), ())), []
    backings = _items(flat, "devices") or _items(flat, "device")
    for each in backings:
        kind = next((kind for field, kind in BACKINGS.items() if each.get(field) is not None), "")
        address = address_of(str(_of(each, "assignedid", *["id"] * (kind == "fixed")) or ""))
        foreign = kind == "fixed" and _bits(each.get("vendorid")) != NVIDIA
        if kind and not foreign and (host, address) not in draft.no_gpus:
            of = VGPU if kind == "vmiop" else PASSTHROUGH
            address = address or (next(free, "") if of == VGPU else "")
            allowed = tuple(_pci_id({"vendorid": NVIDIA} | one) for one in _items(each, "alloweddevice"))
            label = _text(_of(each, "customlabel", "deviceclass"))
            devices.append(Device(of, _text(each.get("vgpu")) or "", address, kind, allowed, label))
    migrates = [each["migratesupported"] for each in backings if each.get("migratesupported") is not None]
    cluster, on = flat.get("cluster"), str(flat.get("powerstate")).lower() in ("poweredon", "1", "on")
    size = _whole(flat.get("numcpu")), _number(_of(flat, "memorymb", "memorysizemb"), MIB_PER_GIB)
    moves = all(migrates) if migrates else None
    restart = _text(flat.get("restartpriority"))
    draft.vm(EstateVm(name, host, _text(cluster), on, *size, tuple(devices), moves, restart))


def _cluster(flat: _Flat, draft: Draft) -> None:
    keys = ("dasconfig", "drsconfig", "admissioncontrolpolicy")
    das, drs, policy = (_flat(flat.get(key) or {}) for key in keys)
    name, admission = str(flat.get("name")), flat.get("admissioncontrolenabled")
    ha, balanced = (flat.get(f"{of}enabled", each.get("enabled")) for of, each in (("ha", das), ("drs", drs)))
    hosts = _whole(_of({**flat, **policy}, "failoverlevel", "failoverhostcount"))
    draft.clusters[name] = EstateCluster(name, ha, admission, hosts, balanced)
