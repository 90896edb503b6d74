"""VMs of each cluster for Terraform: those of its groups, except on Kubernetes, and its Bitfusion servers."""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from gpuplan.deliver.infrastructure.writing import one_line
from gpuplan.plan import Plan
from gpuplan.plan.access import GroupPlan
from gpuplan.plan.hosts import Pool
from gpuplan.report.physical import (
    NAMES_TAKEN,
    Servers,
    cluster_id,
    gpu_gib,
    group_slugs,
    on_kubernetes,
    servers_of,
    slug,
    vms_of,
)
from gpuplan.report.tables.acceptance import restart_ranks
from gpuplan.report.tables.build import profile_in
from gpuplan.units import exact
from gpuplan.wording import MODE_NAMES, said

LEAST_MMIO_GIB = 64
"""Least memory-mapped I/O for boards with large BARs (rule passthrough-firmware)."""
USUAL_VCPUS, USUAL_GIB = 16, 64
"""Processors and memory of a VM in the example of values to fill in."""


class Spot(NamedTuple):
    """Devices of a VM on one host: numbers of the host and of its GPUs, from 0."""

    host: int
    gpus: list[int]
    mmio_gib: int


class Size(NamedTuple):
    """A variable with the size of a VM."""

    variable: str
    about: str
    known: int | None
    least: int
    example: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Vms:
    """VMs of one group, or the Bitfusion servers of a cluster."""

    slug: str
    name: str
    count: int
    kind: str
    """``vgpu``, ``passthrough``, ``client``, ``vgpu-server`` or ``server``."""
    cluster: str
    key: str
    label: str = ""
    """Prefix of the VM names: the name of the group, whose VMs may be in several clusters."""
    before: int = 0
    """Number of VMs with that name in the clusters before."""
    in_all: int = 0
    """Number of VMs with that name in all clusters."""
    group: str = ""
    """Id of the group; empty for servers."""
    mode: str = ""
    profile: str = ""
    vgpus: int = 0
    mmio_gib: int = 0
    spots: tuple[Spot, ...] = ()
    vcpus: int | None = None
    memory_gib: int | None = None
    least_vcpus: int = 1
    least_memory_gib: int = 1
    rdma: bool = False
    gpus: int = 0
    share: str = ""
    restart: str = ""
    """Restart priority in vSphere HA; empty where all groups have the same."""
    apart: bool = False
    """True if they are replicas, which should run on different hosts."""

    @property
    def client(self) -> bool:
        """True if it uses GPUs over the network."""
        return self.kind == "client"

    @property
    def server(self) -> bool:
        """True if it is a Bitfusion server."""
        return self.kind in ("server", "vgpu-server")

    @property
    def pinned(self) -> bool:
        """True if each VM stays on the host with its GPUs."""
        return self.kind in ("passthrough", "server")

    @property
    def sizes(self) -> tuple[Size, Size]:
        """Variables with its processors and its memory."""
        what = said("terraform.server") if self.server else said("terraform.vm", name=self.name)
        usual = self.least_memory_gib if self.server else USUAL_GIB
        least = (self.least_vcpus, self.least_memory_gib)
        return sizes_of(self.label, what, self.vcpus, self.memory_gib, least, usual)


def sizes_of(
    label: str,
    what: str,
    vcpus: int | None,
    memory_gib: int | None,
    least: tuple[int, int] = (1, 1),
    usual_gib: int = USUAL_GIB,
) -> tuple[Size, Size]:
    """Variables with the processors and the memory of a VM, each with the value that is known."""
    cpus, memory = said("terraform.cpus", what=what), said("terraform.memory", what=what)
    return (
        Size(f"{label}_num_cpus", cpus, vcpus, least[0], USUAL_VCPUS),
        Size(f"{label}_memory_gib", memory, memory_gib, least[1], usual_gib),
    )


def all_vms(plan: Plan) -> Iterator[Vms]:
    """Yield the VMs of each cluster, numbering those of a name across clusters."""
    vms = list(_of_clusters(plan))
    parts, in_all, before = Counter(vm.label for vm in vms), Counter[str](), Counter[str]()
    for vm in vms:
        in_all[vm.label] += vm.count
    taken = {*NAMES_TAKEN, *map(cluster_id, plan.pools), *parts}
    for vm in vms:
        unique = slug(f"{vm.label}_{vm.cluster}", taken) if parts[vm.label] > 1 else vm.label
        yield replace(vm, slug=unique, before=before[vm.label], in_all=in_all[vm.label])
        before[vm.label] += vm.count


def sizes(vms: Sequence[Vms]) -> list[Size]:
    """The variables with the sizes of the VMs, each once."""
    largest: dict[str, Size] = {}
    for size in (size for vm in vms for size in vm.sizes):
        largest[size.variable] = max(largest.get(size.variable, size), size, key=lambda each: each.least)
    return list(largest.values())


def _of_clusters(plan: Plan) -> Iterator[Vms]:
    slugs, pods = group_slugs(plan), {group.id for group in on_kubernetes(plan)}
    for pool in plan.pools:
        counts = vms_of(pool)
        for group in plan.groups:
            if counts[group.id] and group.id not in pods:
                yield _of_group(plan, pool, group, slugs[group.id], counts[group.id])
        if servers := servers_of(plan, pool):
            yield _of_servers(plan, pool, servers)


def _of_group(plan: Plan, pool: Pool, group: GroupPlan, label: str, count: int) -> Vms:
    inputs = next(g for g in plan.sized.groups if g.id == group.id)
    request = next(r for r in pool.requests if r.group == group.id)
    kind = {"bitfusion": "client", "passthrough": "passthrough"}.get(group.mode, "vgpu")
    gpus = request.gpus or request.shares
    vms = Vms(
        slug=label,
        label=label,
        name=one_line(group.name),
        count=count,
        kind=kind,
        cluster=cluster_id(pool),
        key=pool.id,
        group=group.id,
        mode=MODE_NAMES.get(group.mode, group.mode),
        mmio_gib=_mmio_gib(plan.home(pool), gpus),
        vcpus=inputs.vcpus_each,
        memory_gib=inputs.memory_gib_each,
        rdma=_pvrdma(plan) and (kind == "client" or inputs.vms_each > 1),
        gpus=gpus,
        share="1" if request.gpus else f"{float(exact(inputs.gpus_each) / request.shares):.6g}",
    )
    if kind == "passthrough":
        return replace(vms, spots=tuple(_passthrough_spots(plan, pool, group.id)))
    return _with_profile(plan, vms, group, pool) if kind == "vgpu" else vms


def _with_profile(plan: Plan, vms: Vms, group: GroupPlan, pool: Pool) -> Vms:
    """VMs with vGPUs: their profile, their restart priority if groups differ, and whether they are replicas."""
    ranks, serving = restart_ranks(plan), plan.llm.serving.get(group.id)
    rank = next(item.priority for item in plan.scenario.groups if item.id == group.id)
    apart = vms.count > 1 and serving is not None and serving.replicas > 1
    restart, profile = ranks[rank] if len(ranks) > 1 else "", profile_in(plan, pool, group)
    return replace(vms, profile=profile, vgpus=group.vgpus, restart=restart, apart=apart)


def _pvrdma(plan: Plan) -> bool:
    return plan.scenario.network.transport == "pvrdma"


def _of_servers(plan: Plan, pool: Pool, servers: Servers) -> Vms:
    return Vms(
        slug="bitfusion_server",
        label="bitfusion_server",
        name="Bitfusion server",
        count=len(servers.vms),
        kind="vgpu-server" if servers.profile else "server",
        cluster=cluster_id(pool),
        key=pool.id,
        profile=servers.profile,
        spots=tuple(
            Spot(vm.host, list(vm.gpus), _mmio_gib(plan.home(pool), len(vm.gpus))) for vm in servers.vms
        ),
        least_vcpus=servers.least_vcpus,
        least_memory_gib=servers.least_memory_gib,
        rdma=_pvrdma(plan),
    )


def _passthrough_spots(plan: Plan, pool: Pool, group: str) -> Iterator[Spot]:
    for at, host in enumerate(pool.placement):
        first = 0
        for load in host:
            if load.slots and load.slots[0].group == group:
                yield Spot(at, list(range(first, first + load.gpus)), _mmio_gib(plan.home(pool), load.gpus))
            first += load.gpus


def _mmio_gib(plan: Plan, gpus: int) -> int:
    """Return the memory-mapped I/O of a VM with ``gpus`` GPUs: a power of two, at least twice their memory."""
    return max(LEAST_MMIO_GIB, 1 << (math.ceil(2 * gpu_gib(plan) * gpus) - 1).bit_length())
