"""An estate as a file of it says: hosts with their GPUs, VMs with theirs, and clusters. What the file does not say is None.

What several files say of one host is joined while they are read: the first to say something wins.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

from gpuplan.catalog import Catalog
from gpuplan.catalog.boards import Profile, boards_named, profile_named
from gpuplan.scenario import one_line
from gpuplan.wording import joined, said

VGPU, PASSTHROUGH = "vgpu", "passthrough"


@dataclass(frozen=True, slots=True)
class EstateGpu:
    """A GPU of a host, as printed and in the terms of the catalog; a board with four GPUs, such as the A16, has four of them."""

    name: str
    gpu: str = ""
    """Id of the catalog; empty where no board has the name, or several have (``may_be``)."""
    may_be: tuple[str, ...] = ()
    address: str = ""
    """PCI address, with four digits of its domain: ``0000:4a:00.0``."""
    memory_gib: float | None = None
    graphics: str | None = None
    """``shared``, ``sharedDirect`` (vGPU), ``basic`` or ``direct``, as vSphere says it."""
    vgpu_mode: str | None = None
    """``sameSize``, ``mixedSize`` or ``multiInstanceGpu``; ``none`` where vSphere says so."""
    mig: tuple[str, ...] = ()
    """MIG instances outside vSphere, such as ``1g.5gb``."""


@dataclass(frozen=True, slots=True)
class EstateHost:
    """A host; ``gpus`` are None where the file says nothing of them."""

    name: str
    cluster: str | None = None
    version: str | None = None
    state: str | None = None
    """``connected``, ``maintenance``, ``disconnected`` or ``notResponding``."""
    model: str | None = None
    sockets: int | None = None
    cores: int | None = None
    threads: int | None = None
    memory_gib: float | None = None
    gpus: tuple[EstateGpu, ...] | None = None
    profiles: tuple[str, ...] = ()
    """vGPU profiles that the host offers, as printed."""
    assignment: str | None = None
    """Assignment policy of its GPUs: ``performance`` (spread VMs) or ``consolidation``."""
    kind: str | None = None
    """Name of hosts like it, in a list of kinds."""

    @property
    def takes_vms(self) -> bool:
        """Return whether VMs can start on it, as far as known."""
        return self.state in (None, "connected")


@dataclass(frozen=True, slots=True)
class Device:
    """A vGPU of a VM, or a GPU passed through to it (``kind``), with its profile as printed, or its PCI address."""

    kind: str
    profile: str = ""
    address: str = ""
    backing: str = ""
    """``vmiop`` (vGPU), ``fixed``, ``dynamic`` or ``dvx`` (DirectPath)."""
    allowed: tuple[str, ...] = ()
    """PCI ids of the boards that a dynamic DirectPath device may be."""
    label: str | None = None


@dataclass(frozen=True, slots=True)
class EstateVm:
    """A VM; ``on`` if it is powered on, ``migrates`` if vMotion takes its devices."""

    name: str
    host: str | None = None
    cluster: str | None = None
    on: bool | None = None
    vcpus: int | None = None
    memory_gib: float | None = None
    devices: tuple[Device, ...] = ()
    migrates: bool | None = None
    restart: str | None = None
    """Restart priority of vSphere HA; ``disabled`` where it is not restarted."""


@dataclass(frozen=True, slots=True)
class EstateCluster:
    """A cluster: vSphere HA, admission control with the host failures that it keeps room for, DRS."""

    name: str
    ha: bool | None = None
    admission: bool | None = None
    failover_hosts: int | None = None
    drs: bool | None = None


@dataclass(frozen=True)
class Estate:
    """Hosts, VMs and clusters as files of some format say, with the day of the export and notes on the reading."""

    format: str
    hosts: tuple[EstateHost, ...]
    vms: tuple[EstateVm, ...] = ()
    clusters: tuple[EstateCluster, ...] = ()
    exported: str | None = None
    notes: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()
    """Columns of lists of hosts that say nothing known."""

    @cached_property
    def by_host(self) -> Mapping[str, tuple[EstateVm, ...]]:
        """Return the VMs that are powered on, by host."""
        found: dict[str, list[EstateVm]] = {host.name: [] for host in self.hosts}
        for vm in self.vms:
            if vm.host is not None and vm.on is not False:
                found.setdefault(vm.host, []).append(vm)
        return {name: tuple(vms) for name, vms in found.items()}


def profile_of(catalog: Catalog, device: Device) -> Profile | None:
    """Return the vGPU profile of a device in the terms of the catalog; None for passthrough and unknown names."""
    return profile_named(catalog, device.profile) if device.kind == VGPU else None


MAX_NAMES = 20
"""Names that a note lists."""


class Draft:
    """Hosts, VMs and clusters as read so far."""

    def __init__(self, catalog: Catalog, models: Mapping[str, str] | None = None) -> None:
        self.catalog, self.models = catalog, models or {}
        self.hosts: dict[str, dict[str, Any]] = {}
        self.gpus: dict[str, dict[str, EstateGpu]] = {}
        self.vms: dict[str, EstateVm] = {}
        self.clusters: dict[str, EstateCluster] = {}
        self.no_gpus: set[tuple[str | None, str]] = set()
        """(host, address) of PCI devices that are no GPUs."""
        self.templates, self.exported = 0, ""
        self.rows: set[tuple[str, ...]] = set()
        """Rows of lists of hosts, as printed."""
        self.left = Counter[str]()
        """Key of a note -> rows of lists of hosts that are left out for it."""
        self.notes: list[str] = []
        self.unread: list[str] = []
        self._short: dict[str, str] = {}

    def host(self, name: str, **facts: Any) -> str:
        """Take what a file says of a host, and return the name by which it is known; ``esx1`` is ``esx1.example.test``."""
        name = one_line(name.strip())[:80]
        short = name if re.fullmatch(r"[\d.]+", name) else name.partition(".")[0].lower()
        known = self._short.setdefault(short, name)
        row = self.hosts.setdefault(known, {})
        row |= {key: value for key, value in facts.items() if value is not None and row.get(key) is None}
        return known

    def gpu(
        self, host: str, name: str, address: str, memory_gib: float | None, pci_id: str = "", **more: Any
    ) -> None:
        """Take a GPU of a host, known by its address or by its number in a list."""
        gpus, key = self.gpus.setdefault(self.host(host), {}), address_of(address)
        if key not in gpus:
            model = self.models.get(name, name)
            boards = boards_named(self.catalog, model, memory_gib=memory_gib, pci_id=pci_id)
            one, several = (boards[0], ()) if len(boards) == 1 else ("", boards)
            there = key if ":" in key else ""
            gpus[key] = EstateGpu(one_line(name)[:80], one, several, there, memory_gib, **more)

    def vm(self, vm: EstateVm) -> None:
        """Take a VM; one of a file before keeps what that said."""
        key, old = vm.name, self.vms.get(vm.name)
        if old and vm.host and old.host not in (vm.host, None):
            key, old = f"{vm.name} {vm.host}", self.vms.get(f"{vm.name} {vm.host}")
        before = {field.name: getattr(old, field.name) for field in fields(EstateVm)} if old else {}
        known = {name: value for name, value in before.items() if value not in (None, ())}
        self.vms[key] = replace(vm, **known)

    def note(self, key: str, **values: object) -> None:
        """Note what a reader should know of the reading."""
        self.notes.append(said(key, **values))

    def estate(self) -> Estate:
        """Return the estate, with the notes on what is not known of it."""
        gpus = {name: tuple(of.values()) for name, of in self.gpus.items()}
        hosts = tuple(EstateHost(name, gpus=gpus.get(name), **facts) for name, facts in self.hosts.items())
        self._note_gaps(hosts)
        of = {host.name: host.cluster for host in hosts}
        vms = tuple(replace(vm, cluster=vm.cluster or of.get(vm.host or "")) for vm in self.vms.values())
        told = self.exported or None, tuple(self.notes), tuple(dict.fromkeys(self.unread))
        return Estate("inventory", hosts, vms, tuple(self.clusters.values()), *told)

    def _note_gaps(self, hosts: Sequence[EstateHost]) -> None:
        """Note what is not known of hosts, and what is left out."""
        if silent := [host.name for host in hosts if host.gpus is None]:
            self.note("estate.note.no GPUs", hosts=len(silent), names=joined(silent[:MAX_NAMES]))
        off = sum(vm.on is False for vm in self.vms.values())
        nameless = sum(
            any(gpu == EstateGpu("", address=gpu.address) for gpu in host.gpus or ()) for host in hosts
        )
        notes = {"off": off, "templates": self.templates, "no model": nameless}
        for key, n in ({f"estate.note.{key}": n for key, n in notes.items()} | self.left).items():
            if n:
                self.note(key, n=n, vms=n)


def address_of(text: str) -> str:
    """PCI address with four digits of its domain in lower case: nvidia-smi prints ``00000000:4A:00.0``, ESXi ``0000:4a:00.0``."""
    match = re.fullmatch(r"(?:([0-9a-f]{4,8}):)?([0-9a-f]{2}:[0-9a-f]{2}\.[0-9a-f])", text.strip().lower())
    return f"{(match[1] or '0000')[-4:]}:{match[2]}" if match else text.strip()
