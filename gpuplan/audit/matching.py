"""Matching: hosts and VMs of an estate with those of a design, by stated patterns, by names, then by GPUs; the rest is listed.

The design is as an inventory would show it, by the names of its infrastructure code.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from itertools import permutations
from typing import NamedTuple

from gpuplan.audit.estate import Estate, EstateHost, EstateVm, profile_of
from gpuplan.audit.estate_use import WHOLE, device_name
from gpuplan.catalog import Catalog
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


NEAR = 0.03
"""Share of a host's memory that firmware and hypervisor may keep from what is shown."""


class VmMatch(NamedTuple):
    """A VM of an estate, and the group of the design that it is of, empty if none is known."""

    vm: EstateVm
    group: str
    by: str
    """``stated``, ``name`` or ``devices``; else it has ``unplanned`` devices, those of ``several`` groups, or ``no GPU``."""
    devices: Devices | None
    """None where the file says nothing of GPUs."""
    may_be: tuple[str, ...] = ()


class Matches(NamedTuple):
    """Every host and VM of both sides, matched or listed; ``others`` are hosts without GPUs, ``clusters`` the design's by the estate's."""

    hosts: Mapping[str, PlannedHost]
    missing: tuple[PlannedHost, ...]
    extra: tuple[EstateHost, ...]
    others: tuple[EstateHost, ...]
    clusters: Mapping[str, str]
    vms: tuple[VmMatch, ...]


def match(design: Design, estate: Estate, stated: Mapping[str, str]) -> Matches:
    """Match an estate with a design; ``stated`` are groups, or clusters of the design, by patterns of names."""
    silent, labels = {host.name for host in estate.hosts if host.gpus is None}, dict[str, str]()
    for id, group in design.groups.items():
        for label in {group.names[0].rpartition("-")[0], plain(group.name)}:
            labels[label] = "" if label in labels else id  # of two groups with one name none is meant
    vms = tuple(_vm(vm, design, labels, stated, known=vm.host not in silent) for vm in estate.vms)
    hosts = _named_hosts(design, estate)
    clusters = _clusters(design, estate, hosts, vms, stated)
    names = {planned.name for planned in hosts.values()}
    left = {host.name: host for host in design.hosts if host.name not in names}
    _pair(hosts, left, estate, clusters)
    rest = [host for host in estate.hosts if host.name not in hosts]
    extra, others = (tuple(host for host in rest if bool(host.gpus) == gpus) for gpus in (True, False))
    return Matches(hosts, tuple(left.values()), extra, others, clusters, vms)


def _named_hosts(design: Design, estate: Estate) -> dict[str, PlannedHost]:
    """Return the hosts that end with a planned name, such as ``acme-vgpu-01.example.com``; those of several kinds in any order."""
    left, hosts = {host.name: host for host in design.hosts}, dict[str, PlannedHost]()
    for host in estate.hosts:
        words = plain(host.name.partition(".")[0]).split("-")
        ends = ("-".join(words[at:]) for at in range(len(words)))
        if name := next((end for end in ends if end in left), ""):
            hosts[host.name] = left.pop(name)
    odd = [host for host in estate.hosts if host.name in hosts and not _alike(host, hosts[host.name])]
    for host, other in permutations(odd, 2):
        mine, its = hosts[host.name], hosts[other.name]
        if mine.pool == its.pool and _alike(host, its) and not _alike(host, mine):
            hosts[host.name], hosts[other.name] = its, mine
    return hosts


def _alike(host: EstateHost, planned: PlannedHost) -> bool:
    """Return whether a host has the GPUs and about the memory of a planned one."""
    gpus, memory = host.gpus or (), host.memory_gib or planned.memory_gib
    if len(gpus) != planned.gpus or (gpus and gpus[0].gpu != planned.board):
        return False
    return not planned.memory_gib or abs(memory / planned.memory_gib - 1) < NEAR


def devices_of(vm: EstateVm, catalog: Catalog) -> Devices:
    """Return the GPU devices of a VM in the terms of the catalog, in order."""
    counts = Counter[str]()
    for device in vm.devices:
        profile = profile_of(catalog, device)
        counts[device_name(catalog, device)] += profile.count if profile else 1
    return tuple(sorted(counts.items()))


def _vm(
    vm: EstateVm, design: Design, labels: Mapping[str, str], stated: Mapping[str, str], *, known: bool
) -> VmMatch:
    devices = devices_of(vm, design.plan.catalog) if known or vm.devices else None
    if group := next((group for group in _stated(vm.name, stated) if group in design.groups), ""):
        return VmMatch(vm, group, "stated", devices)
    if group := _named(vm.name, labels, anywhere=bool(devices)):
        return VmMatch(vm, group, "name", devices)
    groups = design.groups.items() if devices else ()
    able = tuple(id for id, group in groups if any(devices in ways for ways in group.devices.values()))
    if len(able) == 1:
        return VmMatch(vm, able[0], "devices", devices)
    return VmMatch(vm, "", "several" if able else "unplanned" if devices else "no GPU", devices, able)


def _stated(name: str, stated: Mapping[str, str]) -> list[str]:
    return [of for pattern, of in stated.items() if fnmatchcase(name.lower(), pattern.lower())]


def _named(name: str, labels: Mapping[str, str], *, anywhere: bool) -> str:
    """Return the group whose label a name has before its number, or ``anywhere``: the longest, if one group has it."""
    words = re.sub(r"-?\d+$", "", plain(name)).split("-")
    for size in range(len(words), 0, -1):
        starts = range(len(words) - size + 1) if anywhere else [len(words) - size]
        if groups := {labels.get("-".join(words[at : at + size])) for at in starts} - {None}:
            return str(groups.pop()) if len(groups) == 1 else ""
    return ""


def _clusters(
    design: Design,
    estate: Estate,
    hosts: Mapping[str, PlannedHost],
    vms: Sequence[VmMatch],
    stated: Mapping[str, str],
) -> dict[str, str]:
    """Return the design's cluster that each cluster is: stated, by name, else that of most of its hosts, then of its VMs."""
    pools = {plain(pool.id): pool.id for pool in design.plan.pools}
    votes: dict[str, Counter[str]] = {host.cluster or "": Counter() for host in estate.hosts}
    for cluster, pool, weight in _votes(design, estate, hosts, vms):
        if cluster in votes:
            votes[cluster][pool] += weight
    clusters = dict[str, str]()
    for cluster, of in votes.items():
        said = [*_stated(cluster, stated), _named(f"{cluster}-0", pools, anywhere=False)]
        voted = max(sorted(of), key=of.__getitem__, default="")
        if pool := next((pool for pool in said if pool in pools.values()), voted):
            clusters[cluster] = pool
    return clusters


def _votes(
    design: Design, estate: Estate, hosts: Mapping[str, PlannedHost], vms: Sequence[VmMatch]
) -> Iterator[tuple[str, str, int]]:
    """Yield which cluster may be which of the design, by a named host with more weight than all VMs have."""
    pools = [pool.id for pool in design.plan.pools]
    for host in estate.hosts:
        if planned := hosts.get(host.name):
            yield host.cluster or "", planned.pool, len(vms) + 1
        elif host.gpus and len(pools) == 1:
            yield host.cluster or "", pools[0], 1
    for each in vms:
        ways = [*design.groups[each.group].devices] if each.group and each.devices != () else []
        if len(ways) == 1:
            yield each.vm.cluster or "", ways[0], 1


def _pair(
    hosts: dict[str, PlannedHost], left: dict[str, PlannedHost], estate: Estate, clusters: Mapping[str, str]
) -> None:
    """Pair hosts with names of their own, in clusters where no host has its planned name: by board and GPUs, by board, by order."""
    named = {planned.pool for planned in hosts.values()}
    there = {
        host.name: (clusters[host.cluster or ""], host.gpus[0].gpu if host.gpus else "", len(host.gpus or ()))
        for host in estate.hosts
        if host.gpus != () and clusters.get(host.cluster or "", "") in {*clusters.values()} - named
    }
    for known in (3, 2, 1):
        for name, key in there.items():
            free = (of for of in left.values() if (of.pool, of.board, of.gpus)[:known] == key[:known])
            if name not in hosts and (planned := next(free, None)):
                hosts[name] = left.pop(planned.name)
