"""An estate as a file of it says: hosts with their GPUs, VMs with theirs, and clusters. What the file does not say is None."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from gpuplan.catalog import Catalog
from gpuplan.catalog.boards import Profile, profile_named

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
