"""An estate as a file of it says: hosts with their GPUs, VMs with theirs, and clusters. What the file does not say is None."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from gpuplan.catalog import Catalog
from gpuplan.catalog.boards import Profile, profile_named

VGPU, PASSTHROUGH = "vgpu", "passthrough"


@dataclass(frozen=True, slots=True)
class EstateGpu:
    """A GPU of a host. A board with four GPUs, such as the A16, has four of them."""

    name: str
    """As printed; empty where the file has none."""
    gpu: str = ""
    """Id of the catalog; empty where no board has the name, or several."""
    may_be: tuple[str, ...] = ()
    """Ids of the boards that the name may mean, where it is not known which."""
    address: str = ""
    """PCI address without leading zeros of its domain: ``0000:4a:00.0``."""
    memory_gib: float | None = None
    """As the driver or hypervisor shows it."""
    graphics: str | None = None
    """``shared``, ``sharedDirect`` (vGPU), ``basic`` or ``direct``, as vSphere says it."""
    vgpu_mode: str | None = None
    """``sameSize``, ``mixedSize`` or ``multiInstanceGpu``; ``none`` where vSphere says so."""
    mig: tuple[str, ...] = ()
    """MIG instances outside vSphere, such as ``1g.5gb``."""


@dataclass(frozen=True, slots=True)
class EstateHost:
    """A host."""

    name: str
    cluster: str | None = None
    version: str | None = None
    """Of ESXi, such as ``8.0.3``."""
    state: str | None = None
    """``connected``, ``maintenance``, ``disconnected`` or ``notResponding``."""
    model: str | None = None
    sockets: int | None = None
    cores: int | None = None
    threads: int | None = None
    memory_gib: float | None = None
    gpus: tuple[EstateGpu, ...] | None = None
    """None where the file says nothing of GPUs."""
    profiles: tuple[str, ...] = ()
    """vGPU profiles that the host offers, as printed."""

    @property
    def takes_vms(self) -> bool:
        """Return whether VMs can start on it, as far as known."""
        return self.state in (None, "connected")


@dataclass(frozen=True, slots=True)
class Device:
    """A vGPU of a VM, or a GPU passed through to it."""

    kind: str
    """``vgpu`` or ``passthrough``."""
    profile: str = ""
    """vGPU profile as printed."""
    address: str = ""
    """PCI address of the GPU, where known."""
    backing: str = ""
    """``vmiop`` (vGPU), ``fixed``, ``dynamic`` or ``dvx`` (DirectPath)."""
    allowed: tuple[str, ...] = ()
    """PCI ids of the boards that a dynamic DirectPath device may be."""
    label: str | None = None


@dataclass(frozen=True, slots=True)
class EstateVm:
    """A VM."""

    name: str
    host: str | None = None
    cluster: str | None = None
    on: bool | None = None
    """True if it is powered on."""
    vcpus: int | None = None
    memory_gib: float | None = None
    devices: tuple[Device, ...] = ()
    migrates: bool | None = None
    """Whether vMotion takes its devices, as vSphere says it."""
    restart: str | None = None
    """Restart priority of vSphere HA; ``disabled`` where it is not restarted."""


@dataclass(frozen=True, slots=True)
class EstateCluster:
    """A cluster."""

    name: str
    ha: bool | None = None
    admission: bool | None = None
    """Whether admission control is on."""
    failover_hosts: int | None = None
    """Host failures that admission control keeps room for."""
    drs: bool | None = None
    assignment: str | None = None
    """``performance`` (spread VMs on GPUs) or ``consolidation``."""


@dataclass(frozen=True)
class Estate:
    """Hosts, VMs and clusters as a file says."""

    format: str
    """Key of its name in ``names.csv``."""
    hosts: tuple[EstateHost, ...]
    vms: tuple[EstateVm, ...] = ()
    clusters: tuple[EstateCluster, ...] = ()
    exported: str | None = None
    """Day of the export, if the file has it: ``2026-11-29``."""
    notes: tuple[str, ...] = ()
    """What was left out, and what was read in which unit, in words."""

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
