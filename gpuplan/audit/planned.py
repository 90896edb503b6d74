"""A design as an inventory would show it: hosts and VMs with GPUs, by the names of its infrastructure code."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from gpuplan.audit.estate_use import WHOLE
from gpuplan.plan import Plan
from gpuplan.plan.hosts import Pool
from gpuplan.plan.profiles import vgpus_named
from gpuplan.plan.racks import host_name
from gpuplan.report.physical import NAMES_TAKEN, group_slugs, servers_of, vms_of
from gpuplan.report.tables.build import profile_in
from gpuplan.wording import said

Devices = tuple[tuple[str, int], ...]
"""GPU devices of a VM: vGPU profiles, or ``whole GPU`` for passthrough, each with how many."""
SERVERS = NAMES_TAKEN[0]
"""Id of the Bitfusion servers, which are one group."""


class PlannedHost(NamedTuple):
    """A host, with 0 for vCPUs or memory that are not stated, and its GPUs with MIG instances and with time-sliced vGPUs."""

    name: str
    pool: str
    gpus: int
    board: str
    vcpus: int
    memory_gib: int
    mig: int
    shared: int


class PlannedVms(NamedTuple):
    """VMs of a group: their names, what one may have by cluster, and its size, 0 where that is not stated."""

    name: str
    names: list[str]
    devices: dict[str, frozenset[Devices]]
    vcpus: int = 0
    memory_gib: int = 0


class Design(NamedTuple):
    """Hosts, and VMs with GPUs by group, of a plan."""

    plan: Plan
    hosts: tuple[PlannedHost, ...]
    groups: Mapping[str, PlannedVms]

    def boards(self, group: str) -> set[str]:
        """Return the boards on which VMs of a group may run."""
        return {host.board for host in self.hosts if host.pool in self.groups[group].devices}

    def is_vgpu(self, host: PlannedHost) -> bool:
        """Return whether the GPUs of a host are for vGPUs."""
        return self.plan.pool(host.pool).gpu_mode == "vgpu"


def design_of(plan: Plan) -> Design:
    """Return the hosts and VMs of a plan."""
    names = {SERVERS: said("build.servers"), **{group.id: group.name for group in plan.groups}}
    slugs, groups, counts = group_slugs(plan), dict[str, PlannedVms](), Counter[str]()
    for pool in plan.pools:
        for id, vms, devices, *size in _vms(plan, pool):
            groups.setdefault(id, PlannedVms(names[id], [], {}, *size)).devices[pool.id] = devices
            counts[id] += vms
    for id, n in counts.items():
        stem, digits = plain(slugs.get(id, id)), max(2, len(str(n)))
        groups[id].names.extend(f"{stem}-{at:0{digits}}" for at in range(1, n + 1))
    return Design(plan, tuple(host for pool in plan.pools for host in _hosts(plan, pool)), groups)


def plain(text: str) -> str:
    """Return a name in lower case, its words joined by hyphens."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def _hosts(plan: Plan, pool: Pool) -> Iterator[PlannedHost]:
    kinds = plan.hardware_of(pool)
    sliced = {group.id for group in plan.groups if group.backing == "mig"}
    for at, (room, loads) in enumerate(zip(pool.rooms, pool.placement, strict=True)):
        gpus = Counter[bool]()
        for load in loads if pool.gpu_mode == "vgpu" else ():
            if load.slots:
                gpus[load.slots[0].group in sliced] += load.gpus
        of_new = kinds[at].vcpus_per_host or 0, kinds[at].memory_gib_per_host or 0
        vcpus, memory = of_new if at >= pool.existing_hosts else (0, 0)
        size = room.gpus, room.board or pool.gpu, room.vcpus or vcpus, room.memory_gib or memory
        yield PlannedHost(host_name(pool, at + 1), pool.id, *size, gpus[True], gpus[False])


def _vms(plan: Plan, pool: Pool) -> Iterator[tuple[str, int, frozenset[Devices], int, int]]:
    """Yield the VMs with GPUs in a cluster: group, how many, what one may have, vCPUs and memory of one."""
    groups, counts = {group.id: group for group in plan.groups if group.mode != "bitfusion"}, vms_of(pool)
    for request in pool.requests:
        if (group := groups.get(request.group)) and counts[group.id]:
            gpus = [WHOLE] * request.gpus if group.mode == "passthrough" else []
            names = gpus or vgpus_named(profile_in(plan, pool, group), group.vgpus)
            devices = frozenset([tuple(sorted(Counter(names).items()))])
            yield group.id, counts[group.id], devices, request.vcpus, request.memory_gib
    if servers := servers_of(plan, pool):
        name = servers.profile or WHOLE
        yield SERVERS, len(servers.vms), frozenset(((name, len(vm.gpus)),) for vm in servers.vms), 0, 0
