"""Terraform for the vSphere provider: the clusters, networks and VMs of a plan, and what only the customer can fill in.

The files are the templates of ``templates/terraform``; this module says what they show. Resources and arguments are those of the
provider ``vmware/vsphere`` 2.15.0. It cannot attach a vGPU to a VM by an argument of its own (pull request 2113 of its repository was
closed), so the profile is an entry of ``extra_config``, and the README says what to check. Sources: vmware-terraform-provider-vsphere,
vmware-gpus-directpath-2018 (memory-mapped I/O). Every number comes from the plan; what a plan cannot know is a variable without a default.
"""

from __future__ import annotations

import html
import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple

from gpuplan.plan import UNASSIGNED, Plan
from gpuplan.plan.access import GroupPlan
from gpuplan.plan.hosts import Pool
from gpuplan.report.tables.plan import gpus_by_host
from gpuplan.scenario import other_vms
from gpuplan.units import MIB_PER_GIB, exact
from gpuplan.wording import MODE_NAMES, amount, number, runs

if TYPE_CHECKING:
    from jinja2 import Environment

FILES = (
    "versions.tf",
    "variables.tf",
    "main.tf",
    "cluster.tf",
    "network.tf",
    "vms.tf",
    "outputs.tf",
    "terraform.tfvars.example",
    "README.md",
)
PROVIDER = "vmware/vsphere"
PROVIDER_VERSIONS = ">= 2.15.0, < 3.0.0"
PORT_GROUPS = ("management", "vmotion", "storage", "vm")
"""Port groups on the teamed ports."""
GRID = ("Pascal", "Volta", "Turing", "Ampere")
"""Architectures whose profiles vSphere has been seen to list as grid_...; those of later ones as nvidia_..."""
SOURCES = ("vmware-terraform-provider-vsphere", "vmware-gpus-directpath-2018", "vmware-sharing-gpus-2020")
"""What the files rest on beside the plan."""
LEAST_MMIO_GIB = 64
"""Least memory-mapped I/O for boards with large BARs (rule passthrough-firmware)."""
SERVER_MEMORY = exact(1.5)
"""Memory of a Bitfusion server for each GiB of its GPUs (rule bitfusion-server-memory)."""
SERVER_VCPUS = 4
"""Least virtual CPUs of a Bitfusion server (rule bitfusion-server-memory)."""


def terraform_files(plan: Plan) -> dict[str, str]:
    """File name -> text of the Terraform files that build the clusters, networks and VMs of a plan; a README alone if it has no host."""
    shown = {"title": _one_line(plan.scenario.name) or "GPU design"}
    if not plan.pools:
        return {"README.md": _file("README-nothing.md", shown)}
    shown |= _shown(plan)
    return {name: _file(name, shown) for name in FILES}


# What the templates show


class _Spot(NamedTuple):
    """Devices of one host that a VM holds: numbers of the host and of its GPUs, from 0."""

    host: int
    gpus: list[int]
    mmio_gib: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Vms:
    """VMs of one group, or the Bitfusion servers of a cluster."""

    slug: str
    """Of the resource."""
    name: str
    count: int
    kind: str
    """``vgpu``, ``passthrough``, ``client``, ``vgpu-server`` or ``server``."""
    cluster: str
    key: str
    """Id of the cluster in the plan."""
    label: str = ""
    """What the names of the VMs begin with: that of the group, whose VMs may be in several clusters."""
    before: int = 0
    """VMs of that name in the clusters before."""
    in_all: int = 0
    """VMs of that name in all clusters."""
    group: str = ""
    """Id of the group; empty for servers."""
    mode: str = ""
    profile: str = ""
    vgpus: int = 0
    mmio_gib: int = 0
    spots: tuple[_Spot, ...] = ()
    vcpus: int | None = None
    memory_gib: int | None = None
    least_vcpus: int = 1
    least_memory_gib: int = 1
    rdma: bool = False
    gpus: int = 0
    """GPUs of one client."""
    share: str = ""
    """Share of each GPU of a client."""

    @property
    def address(self) -> str:
        return f"vsphere_virtual_machine.{self.slug}"

    @property
    def client(self) -> bool:
        return self.kind == "client"

    @property
    def server(self) -> bool:
        return self.kind in ("server", "vgpu-server")

    @property
    def pinned(self) -> bool:
        """Whether each VM stays on the host whose GPUs it holds."""
        return self.kind in ("passthrough", "server")

    @property
    def template(self) -> str:
        return "bitfusion_server" if self.server else "template"

    @property
    def digits(self) -> int:
        """Of the number at the end of a VM's name."""
        return max(2, len(str(self.in_all)))

    @property
    def all_gpus(self) -> int:
        return sum(len(spot.gpus) for spot in self.spots)

    @property
    def sizes(self) -> tuple[_Size, _Size]:
        what = "a Bitfusion server" if self.server else f"a VM of {self.name}"
        cpus, memory = self.least_vcpus, self.least_memory_gib
        usual_gib = memory if self.server else 64
        return (
            _Size(f"{self.label}_num_cpus", f"Virtual CPUs of {what}", self.vcpus, cpus, 16),
            _Size(f"{self.label}_memory_gib", f"Memory of {what} in GiB", self.memory_gib, memory, usual_gib),
        )


class _Size(NamedTuple):
    """A variable with the size of a VM."""

    variable: str
    about: str
    known: int | None
    least: int
    example: int


def _shown(plan: Plan) -> dict[str, Any]:
    """What the templates are given."""
    cabling, network, platform = plan.cabling, plan.scenario.network, plan.scenario.platform
    assert cabling is not None
    gpu = plan.catalog.gpus[plan.scenario.hardware.gpu]
    vms = tuple(_vms(plan))
    profiles = sorted({vm.profile for vm in vms if vm.profile})
    prefix = "grid" if gpu.value("architecture") in GRID else "nvidia"
    version = plan.catalog.vsphere[platform.vsphere]
    requests = [request for pool in plan.pools for request in pool.requests]
    return {
        "customer": plan.scenario.customer,
        "provider": PROVIDER,
        "provider_versions": PROVIDER_VERSIONS,
        "mib_per_gib": MIB_PER_GIB,
        "platform": platform,
        "network": network,
        "host_failures": plan.scenario.availability.host_failures,
        "totals": plan.totals,
        "groups": plan.groups,
        "clusters": [_cluster(plan, pool, vms) for pool in plan.pools],
        "vms": vms,
        "guests": [vm for vm in vms if not vm.server],
        "clients": [vm for vm in vms if vm.client],
        "servers": [vm for vm in vms if vm.server],
        "sizes": _sizes(vms),
        "vsphere_profiles": {name: f"{prefix}_{name.lower()}" for name in profiles},
        "drs_can_balance": version.value("drs_vgpu_balancing") == "automatable",
        "ports": cabling.ports,
        "port_groups": PORT_GROUPS,
        "distributed_switches": cabling.distributed_switches,
        "rdma_switches": cabling.ports.rdma if network.transport == "pvrdma" else 0,
        "gpus_of_no_group": sum(request.vms for request in requests if request.group == UNASSIGNED),
        "other_vms": other_vms(plan.sized.hardware.other_vms),
        "sources": [plan.catalog.sources[id] for id in SOURCES],
    }


FROM_POOL = ("name", "gpu_mode", "hosts", "hosts_for_failures", "existing_hosts")
"""What the templates show of a pool as it is."""


def _cluster(plan: Plan, pool: Pool, vms: tuple[_Vms, ...]) -> dict[str, Any]:
    gpus = [room.gpus for room in pool.rooms]
    here = [vm for vm in vms if vm.cluster == _id(pool)]
    return {name: getattr(pool, name) for name in FROM_POOL} | {
        "id": _id(pool),
        "key": pool.id,
        "gpus": gpus,
        "each_host": gpus_by_host(pool.rooms),
        # admission control allows at most one fewer than the hosts
        "tolerated": min(plan.scenario.availability.host_failures, pool.hosts - 1),
        "used": [at for at, host in enumerate(pool.placement) if host],
        "spare": [at for at, host in enumerate(pool.placement) if not host],
        "mig_hosts": list(_mig_hosts(plan, pool)),
        "vgpu_vms": [vm for vm in here if vm.kind in ("vgpu", "vgpu-server")],
        "pinned_vms": [vm for vm in here if vm.pinned],
    }


def _mig_hosts(plan: Plan, pool: Pool) -> Iterator[str]:
    sliced = {group.id for group in plan.groups if group.backing == "mig"}
    hosts: dict[int, list[int]] = {}
    for at, gpus in enumerate(_gpus_of(pool, sliced), 1):
        if gpus:
            hosts.setdefault(gpus, []).append(at)
    for gpus, numbers in hosts.items():
        words = ", ".join(f"{run[0]} to {run[-1]}" if len(run) > 1 else str(run[0]) for run in runs(numbers))
        where, has = f"{words} of `{_id(pool)}_hosts`", amount(gpus, "GPU")
        yield f"Host {where} has {has}" if len(numbers) == 1 else f"Hosts {where} have {has} each"


def _gpus_of(pool: Pool, groups: set[str]) -> list[int]:
    """GPUs of each host on which some groups are."""
    return [
        sum(load.gpus for load in host if load.slots and load.slots[0].group in groups)
        for host in pool.placement
    ]


# VMs


def _vms(plan: Plan) -> Iterator[_Vms]:
    """VMs of each cluster, those of a name numbered on from one to the next."""
    found = list(_vms_of_clusters(plan))
    parts, in_all, before = Counter(vm.label for vm in found), Counter[str](), Counter[str]()
    for vm in found:
        in_all[vm.label] += vm.count
    taken = {"bitfusion_server", "bitfusion_clients", *map(_id, plan.pools), *parts}
    for vm in found:
        slug = _slug(f"{vm.label}_{vm.cluster}", taken) if parts[vm.label] > 1 else vm.label
        yield replace(vm, slug=slug, before=before[vm.label], in_all=in_all[vm.label])
        before[vm.label] += vm.count


def _vms_of_clusters(plan: Plan) -> Iterator[_Vms]:
    """VMs of each cluster: those of its groups, then its Bitfusion servers."""
    taken = {"bitfusion_server", "bitfusion_clients", *map(_id, plan.pools)}
    slugs = {group.id: _slug(group.id, taken) for group in plan.groups}
    for pool in plan.pools:
        placed = {(slot.group, slot.vm) for host in pool.placement for load in host for slot in load.slots}
        counts = Counter(group for group, _ in placed)
        for group in plan.groups:
            if counts[group.id]:
                yield _group_vms(plan, pool, group, slugs[group.id], counts[group.id])
        remote = {group.id for group in plan.groups if group.mode == "bitfusion"} & set(counts)
        if pool.kind == "bitfusion":
            yield _servers(plan, pool, "server", [room.gpus for room in pool.rooms])
        elif remote:
            yield _servers(plan, pool, "vgpu-server", _gpus_of(pool, remote))


def _sizes(vms: Sequence[_Vms]) -> list[_Size]:
    """The variables with the sizes of the VMs, each once."""
    found: dict[str, _Size] = {}
    for size in (size for vm in vms for size in vm.sizes):
        known = found.get(size.variable, size)
        found[size.variable] = max(known, size, key=lambda each: each.least)
    return list(found.values())


def _id(pool: Pool) -> str:
    """What a cluster is called in identifiers."""
    return pool.id.replace("-", "_")


def _group_vms(plan: Plan, pool: Pool, group: GroupPlan, slug: str, count: int) -> _Vms:
    asked = next(g for g in plan.sized.groups if g.id == group.id)
    request = next(r for r in pool.requests if r.group == group.id)
    kind = {"bitfusion": "client", "passthrough": "passthrough"}.get(group.mode, "vgpu")
    gpus = request.gpus or request.shares
    pvrdma = plan.scenario.network.transport == "pvrdma"
    return _Vms(
        slug=slug,
        label=slug,
        name=_one_line(group.name),
        count=count,
        kind=kind,
        cluster=_id(pool),
        key=pool.id,
        group=group.id,
        mode=MODE_NAMES.get(group.mode, group.mode),
        profile=group.profile if kind == "vgpu" else "",
        vgpus=gpus if kind == "vgpu" else 0,
        mmio_gib=_mmio_gib(plan, gpus),
        spots=tuple(_passthrough_spots(plan, pool, group.id)) if kind == "passthrough" else (),
        vcpus=asked.vcpus_each,
        memory_gib=asked.memory_gib_each,
        rdma=pvrdma and (kind == "client" or asked.vms_each > 1),
        gpus=gpus,
        share="1" if request.gpus else f"{float(exact(asked.gpus_each) / request.shares):.6g}",
    )


def _passthrough_spots(plan: Plan, pool: Pool, group: str) -> Iterator[_Spot]:
    """Devices of each VM of a group, as placed."""
    for at, host in enumerate(pool.placement):
        first = 0
        for load in host:
            if load.slots and load.slots[0].group == group:
                yield _Spot(at, list(range(first, first + load.gpus)), _mmio_gib(plan, load.gpus))
            first += load.gpus


def _servers(plan: Plan, pool: Pool, kind: str, gpus_of_hosts: list[int]) -> _Vms:
    """Bitfusion servers: one on each host with GPUs for them, more where one VM cannot have so many vGPUs."""
    version = plan.catalog.vsphere[plan.scenario.platform.vsphere]
    most = max(gpus_of_hosts)
    if kind == "vgpu-server":
        most = int(version.value("max_vgpus_per_vm") or pool.gpus_per_host)
    held = [
        (at, list(range(first, min(first + most, gpus))))
        for at, gpus in enumerate(gpus_of_hosts)
        for first in range(0, gpus, most)
    ]
    spots = tuple(_Spot(at, gpus, _mmio_gib(plan, len(gpus))) for at, gpus in held)
    return _Vms(
        slug="bitfusion_server",
        label="bitfusion_server",
        name="Bitfusion server",
        count=len(spots),
        kind=kind,
        cluster=_id(pool),
        key=pool.id,
        profile=_whole_profile(plan) if kind == "vgpu-server" else "",
        spots=spots,
        least_vcpus=SERVER_VCPUS,
        least_memory_gib=math.ceil(SERVER_MEMORY * _gpu_gib(plan) * max(len(spot.gpus) for spot in spots)),
        rdma=plan.scenario.network.transport == "pvrdma",
    )


def _whole_profile(plan: Plan) -> str:
    """The time-sliced profile with the whole frame buffer, of which Bitfusion servers have one for each GPU."""
    return next(
        str(row["profile"])
        for row in plan.catalog.profiles_of(plan.scenario.hardware.gpu)
        if row["backing"] == "timesliced" and row["full_frame_buffer"]
    )


def _mmio_gib(plan: Plan, gpus: int) -> int:
    """Memory-mapped I/O of a VM with so many GPUs: a power of two, at least twice their memory."""
    return max(LEAST_MMIO_GIB, 1 << (math.ceil(2 * _gpu_gib(plan) * gpus) - 1).bit_length())


def _gpu_gib(plan: Plan) -> Fraction:
    """Memory of a GPU."""
    return exact(plan.catalog.gpus[plan.scenario.hardware.gpu].fact("memory_gib").value)


# How the files are written


@cache  # reading them takes 0.1 s, filling them 3 ms
def _templates() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    found = Environment(
        loader=PackageLoader("gpuplan.report", "templates/terraform"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found.filters |= {
        "amount": amount,
        "hcl": _in_quotes,
        "line": _one_line,
        "markdown": _markdown,
        "number": number,
    }
    return found


def _one_line(text: str) -> str:
    """A text on one line, without characters that do not print: what a comment of HCL can hold."""
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())


def _in_quotes(text: str) -> str:
    """A text for between the quotes of HCL, where it means itself."""
    quoted = _one_line(text).replace("\\", "\\\\").replace('"', '\\"')
    return quoted.replace("${", "$${").replace("%{", "%%{")


def _markdown(text: str) -> str:
    """A text that Markdown and HTML show as it is."""
    escaped = re.sub(r"([\\`*_\[\]|~#])", r"\\\1", _one_line(text))
    return html.escape(escaped, quote=False)


def _slug(text: str, taken: set[str]) -> str:
    """An identifier of its own."""
    stem = re.sub(r"[^a-z0-9]+", "_", text.lower()).strip("_")[:40] or "group"
    stem = stem if stem[0].isalpha() else f"group_{stem}"
    found, count = stem, 1
    while found in taken:
        count += 1
        found = f"{stem}_{count}"
    taken.add(found)
    return found


_ARGUMENT = re.compile(r'( *)([\w-]+|"(?:[^"\\]|\\.)*") += (.*[^\[{(])')
"""Indent, name and value of an argument that ends on its line."""


def _file(name: str, shown: Mapping[str, Any]) -> str:
    text = _templates().get_template(f"{name}.j2").render(shown)
    text = re.sub(r"\n{3,}", "\n\n", text).strip()
    return (text if name.endswith(".md") else _aligned(text)) + "\n"


def _aligned(text: str) -> str:
    """HCL with the equals signs of neighbours in one column, as ``terraform fmt`` leaves it."""
    lines: list[str] = []
    matched = ((line, _ARGUMENT.fullmatch(line)) for line in text.split("\n"))
    for indent, neighbours in groupby(matched, key=lambda pair: pair[1][1] if pair[1] else None):
        run = list(neighbours)
        width = max(len(found[2]) if found else 0 for _, found in run)
        lines += [f"{indent}{found[2]:<{width}} = {found[3]}" if found else line for line, found in run]
    return "\n".join(lines)
