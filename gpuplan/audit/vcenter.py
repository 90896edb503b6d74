"""vCenter as JSON: the export of gpuplan's own collector, and objects of the vSphere API as other tools write them."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from gpuplan.audit.estate import PASSTHROUGH, VGPU, Device, Draft, EstateCluster, EstateVm, address_of
from gpuplan.catalog.boards import boards_named
from gpuplan.scenario import show
from gpuplan.units import MIB_PER_GIB

NVIDIA, DISPLAY = 0x10DE, 0x03
"""Vendor of the GPUs, and class of a PCI device that is one; bridges of NVSwitch have another."""
BACKINGS = {"vgpu": "vmiop", "alloweddevice": "dynamic", "deviceclass": "dvx", "systemid": "fixed"}
"""Field that only one backing of a PCI device has -> the backing."""
_Flat = dict[str, Any]
"""Fields of an object and of those in it, by their names in lower case."""
SIGNS = {"graphicsinfo", "pcidevice", "sharedpassthrugputypes"}
"""Fields that hosts have, and VMs have not."""


class _Into(NamedTuple):
    """Where objects are taken to: the estate, the name of the file, names by ids, and addresses of GPUs by VM and host."""

    draft: Draft
    file: str
    names: Mapping[str, str]
    seats: dict[tuple[str, str | None], list[str]]


def read_vcenter(data: Any, name: str, draft: Draft) -> bool:
    """Take hosts, VMs and clusters of JSON; False if there are none."""
    of: dict[str, list[_Flat]] = {"host": [], "vm": [], "cluster": [], "": []}
    for flat in map(_flat, _objects(data)):
        of[_kind(flat)].append(flat)
        if {"dasconfig", "haenabled"} & {*flat}:
            of["cluster"].append(flat)
    objects = (*of["host"], *of["vm"], *of["cluster"])
    names = {_id(flat): str(_of(flat, "name", "host") or name) for flat in objects}
    into = _Into(draft, name, names, {})
    for flat in of["cluster"]:
        _cluster(flat, draft)
    for flat in of["host"]:
        _gpus(flat, _host(flat, into), into)
    for flat in sorted(of["vm"], key=lambda flat: "numcpu" not in flat):
        _vm(flat, into)
    for (vm, host), addresses in (
        into.seats.items() if not of["vm"] else ()
    ):  # who is on the GPUs, and nothing else
        draft.vm(EstateVm(vm, host, on=True, devices=tuple(Device(VGPU, "", at) for at in addresses)))
    exported = re.match(r"\d{4}-\d\d-\d\d", str(data.get("exported")) if isinstance(data, dict) else "")
    draft.exported = exported[0] if exported else draft.exported
    return bool(of["host"] or of["vm"])


def _kind(flat: _Flat) -> str:
    """Return whether an object is a host, a VM or neither."""
    bare = {"devices", "device", "guestid"} & {*flat} and not SIGNS & {*flat}
    if "powerstate" in flat and ("numcpu" in flat or bare):
        return "vm"
    return "host" if (SIGNS | {"connectionstate"}) & {*flat} else ""


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


def _host(flat: _Flat, into: _Into) -> str:
    """Take a host, and return its name."""
    cluster = _of(flat, "cluster", "parent")
    host = into.draft.host(
        str(_of(flat, "name", "host") or into.file),
        cluster=into.names.get(_id(cluster), _text(cluster)),
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
    into.draft.gpus.setdefault(host, {})
    return host


def _gpus(flat: _Flat, host: str, into: _Into) -> None:
    """Take the GPUs of a host, and which VMs are on them."""
    devices = {address_of(str(device.get("id"))): device for device in _items(flat, "pcidevice")}
    cards = {address_of(str(card.get("pciid"))): card for card in _items(flat, "graphicsinfo")}
    for address, card in cards.items():
        _card(card, address, devices.get(address), host, into)
    passing = [each for each in _items(flat, "pcipassthruinfo") if each.get("passthruenabled")]
    passed = {address_of(str(each.get("id"))) for each in passing}
    for address, device in devices.items():
        pci, alone = _pci_id(device), not cards and address.endswith(":00.0")
        if not pci:
            into.draft.no_gpus.add((host, address))
        elif address not in cards and (address in passed or alone):
            name = str(device.get("devicename") or "")
            into.draft.gpu(host, name, address, None, pci, graphics="direct")


def _card(card: _Flat, address: str, device: _Flat | None, host: str, into: _Into) -> None:
    """Take a graphics device, if it is a GPU of NVIDIA."""
    name, vendor = (str(card.get(field) or "") for field in ("devicename", "vendorname"))
    pci, named = _pci_id(device or {}), not vendor and boards_named(into.draft.catalog, name)
    if pci or named or "nvidia" in f"{vendor} {name}".lower():
        modes = {"graphics": _text(card.get("graphicstype")), "vgpu_mode": _text(card.get("vgpumode"))}
        into.draft.gpu(host, name, address, _number(card.get("memorysizeinkb"), 2**20), pci, **modes)
        for vm in _listed(card.get("vm")):
            into.seats.setdefault((into.names.get(_id(vm), _id(vm)), host), []).append(address)
    elif not vendor and device is None:
        into.draft.note("estate.note.no vendor", host=host, name=show(name))


def _bits(value: Any) -> int:
    """A PCI id: a number with a sign or without, or its digits, hexadecimal after 0x; 0 for all else."""
    match = re.fullmatch(r"0x([0-9a-f]{1,8})|(-?\d{1,10})", str(value).strip().lower())
    return (int(match[1], 16) if match[1] else int(match[2])) & 0xFFFF if match else 0


def _pci_id(device: Mapping[str, Any]) -> str:
    """Device and subsystem of an NVIDIA GPU, which the API gives as signed 16-bit numbers; empty for all else."""
    keys = ("vendorid", "classid", "deviceid", "subdeviceid")
    vendor, kind, own, sub = (_bits(device.get(key)) for key in keys)
    return f"{own:04X}:{sub:04X}" if vendor == NVIDIA and (not kind or kind >> 8 == DISPLAY) else ""


def _vm(flat: _Flat, into: _Into) -> None:
    draft = into.draft
    if flat.get("template") is True:
        draft.templates += 1
        return
    name, host = str(flat.get("name")), into.names.get(_id(flat.get("host")), _text(flat.get("host")))
    host, free = draft.host(host) if host else None, iter(into.seats.get((name, host), ()))
    backings = _items(flat, "devices") or _items(flat, "device")
    devices = (_device(each, free) for each in backings)
    taken = tuple(each for each in devices if each and (host, each.address) not in draft.no_gpus)
    migrates = [each["migratesupported"] for each in backings if each.get("migratesupported") is not None]
    cluster, on = flat.get("cluster"), str(flat.get("powerstate")).lower() in ("poweredon", "1", "on")
    size = _whole(flat.get("numcpu")), _number(_of(flat, "memorymb", "memorysizemb"), MIB_PER_GIB)
    moves = all(migrates) if migrates else None
    restart = _text(flat.get("restartpriority"))
    draft.vm(EstateVm(name, host, _text(cluster), on, *size, taken, moves, restart))


def _device(each: _Flat, free: Iterator[str]) -> Device | None:
    """Return the GPU that the backing of a device is; ``free`` are addresses of the VM's GPUs for vGPUs without one."""
    kind = next((kind for field, kind in BACKINGS.items() if each.get(field) is not None), "")
    if not kind or (kind == "fixed" and _bits(each.get("vendorid")) != NVIDIA):
        return None
    of = VGPU if kind == "vmiop" else PASSTHROUGH
    address = address_of(str(_of(each, "assignedid", *["id"] * (kind == "fixed")) or ""))
    allowed = tuple(_pci_id({"vendorid": NVIDIA} | one) for one in _items(each, "alloweddevice"))
    label = _text(_of(each, "customlabel", "deviceclass"))
    address = address or (next(free, "") if of == VGPU else "")
    return Device(of, _text(each.get("vgpu")) or "", address, kind, allowed, label)


def _cluster(flat: _Flat, draft: Draft) -> None:
    keys = ("dasconfig", "drsconfig", "admissioncontrolpolicy")
    das, drs, policy = (_flat(flat.get(key) or {}) for key in keys)
    name, admission = str(flat.get("name")), flat.get("admissioncontrolenabled")
    ha, balanced = (flat.get(f"{of}enabled", each.get("enabled")) for of, each in (("ha", das), ("drs", drs)))
    hosts = _whole(_of({**flat, **policy}, "failoverlevel", "failoverhostcount"))
    draft.clusters[name] = EstateCluster(name, ha, admission, hosts, balanced)
