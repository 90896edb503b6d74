"""Terraform for the vSphere provider: the clusters, networks and VMs of a plan, and what only the customer can fill in.

Resources and arguments are those of the provider ``vmware/vsphere`` 2.15.0. It cannot attach a vGPU to a VM by an argument of
its own (pull request 2113 of its repository was closed), so the profile is an entry of ``extra_config``, and the README says what
to check. Sources: vmware-terraform-provider-vsphere, vmware-gpus-directpath-2018 (memory-mapped I/O). Every number comes from the plan; what a plan cannot know is a variable without a default.
"""

from __future__ import annotations

import html
import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from gpuplan.plan import UNASSIGNED, Plan
from gpuplan.plan.clusters import divided, division_words
from gpuplan.plan.fabric import Cabling
from gpuplan.plan.results import GroupPlan, Pool
from gpuplan.units import MIB_PER_GIB, exact
from gpuplan.wording import MODE_NAMES, TRANSPORT_NAMES, amount, number

PROVIDER = "vmware/vsphere"
PROVIDER_VERSIONS = ">= 2.15.0, < 3.0.0"
TERRAFORM_VERSIONS = ">= 1.5.0"
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

Lines = list[str]


def terraform_files(plan: Plan) -> dict[str, str]:
    """Terraform files that build the clusters, networks and VMs of a plan.

    Parameters
    ----------
    plan : Plan
        The plan. [-]

    Returns
    -------
    terraform_files : dict of str to str
        File name -> text; a README alone if the plan has no host. [-]
    """
    if not plan.pools or plan.cabling is None:
        return {"README.md": _empty_readme(plan)}
    design = _design(plan, plan.cabling)
    return {
        "versions.tf": _versions(),
        "variables.tf": _file(_variables(design), "What only the customer knows, and what may be changed."),
        "main.tf": _file(_main(design), f"{_name(plan)}: what is there already."),
        "cluster.tf": _file(_clusters(design), "Clusters with HA and DRS, and their hosts."),
        "network.tf": _file(_network(design), "Distributed switches and port groups."),
        "vms.tf": _file(_vms(design), "VMs by group and access mode."),
        "outputs.tf": _file(_outputs(design), "What was built, beside the figures of the plan."),
        "terraform.tfvars.example": _example(design),
        "README.md": _readme(design),
    }


@dataclass(frozen=True, slots=True)
class _Spot:
    """A VM that holds devices of one host: numbers of the host and of its GPUs, from 0."""

    host: int
    gpus: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class _Vms:
    """VMs of one group, or of the Bitfusion servers of a pool."""

    slug: str
    name: str
    count: int
    kind: str
    """``vgpu``, ``passthrough``, ``client``, ``vgpu-server`` or ``server``."""
    pool: Pool
    group: str = ""
    """Id of the group; empty for servers."""
    profile: str = ""
    vgpus: int = 0
    spots: tuple[_Spot, ...] = ()
    vcpus: int | None = None
    memory_gib: int | None = None
    rdma: bool = False
    gpus: int = 0
    """GPUs of one client."""
    share: str = ""
    """Share of each GPU of a client."""

    @property
    def address(self) -> str:
        """Address of the resource."""
        return f"vsphere_virtual_machine.{self.slug}"


@dataclass(frozen=True, slots=True)
class _Design:
    """What the files are made of."""

    plan: Plan
    cabling: Cabling
    vms: tuple[_Vms, ...]
    spelled: Mapping[str, str]
    """NVIDIA's name of a profile -> name in vSphere."""
    rdma_switches: int

    def of(self, *kinds: str) -> tuple[_Vms, ...]:
        """VMs of some kinds."""
        return tuple(vms for vms in self.vms if vms.kind in kinds)

    @property
    def profile_pools(self) -> tuple[str, ...]:
        """Pools with vGPUs."""
        return tuple(dict.fromkeys(vms.pool.id for vms in self.of("vgpu", "vgpu-server")))


# What the plan has


def _design(plan: Plan, cabling: Cabling) -> _Design:
    pvrdma = plan.scenario.network.transport == "pvrdma"
    taken = {"bitfusion_server", "bitfusion_clients", *(pool.id for pool in plan.pools)}
    slugs = {group.id: _slug(group.id, taken) for group in plan.groups}
    vms: list[_Vms] = []
    for pool in plan.pools:
        counts = _counts(pool)
        for group in plan.groups:
            if counts[group.id]:
                vms.append(_group_vms(plan, pool, group, slugs[group.id], counts[group.id], pvrdma))
        remote = {g.id for g in plan.groups if g.mode == "bitfusion"} & set(counts)
        if pool.id == "bitfusion":
            spots = tuple(_Spot(at, tuple(range(room.gpus))) for at, room in enumerate(pool.rooms))
            vms.append(_servers(pool, "server", spots, pvrdma))
        elif remote:
            vms.append(
                _servers(pool, "vgpu-server", _server_spots(plan, pool, remote), pvrdma, _whole_profile(plan))
            )
    gpu = plan.catalog.gpus[plan.scenario.hardware.gpu]
    prefix = "grid" if gpu.value("architecture") in GRID else "nvidia"
    names = sorted({v.profile for v in vms if v.profile})
    return _Design(
        plan=plan,
        cabling=cabling,
        vms=tuple(vms),
        spelled={name: f"{prefix}_{name.lower()}" for name in names},
        rdma_switches=cabling.ports.rdma if pvrdma else 0,
    )


def _counts(pool: Pool) -> Counter[str]:
    """VMs of each group that have a place."""
    placed = {(slot.group, slot.vm) for host in pool.placement for load in host for slot in load.slots}
    return Counter(group for group, _ in placed)


def _group_vms(plan: Plan, pool: Pool, group: GroupPlan, slug: str, count: int, pvrdma: bool) -> _Vms:
    asked = next(g for g in plan.scenario.groups if g.id == group.id)
    request = next(r for r in pool.requests if r.group == group.id)
    whole = request.gpus
    kind = {"bitfusion": "client", "passthrough": "passthrough"}.get(group.mode, "vgpu")
    share = exact(1) if whole else exact(asked.gpus_each) / request.shares
    return _Vms(
        slug=slug,
        name=_clean(group.name),
        count=count,
        kind=kind,
        pool=pool,
        group=group.id,
        profile=group.profile if kind == "vgpu" else "",
        vgpus=(whole or request.shares) if kind == "vgpu" else 0,
        spots=_passthrough_spots(pool, group.id) if kind == "passthrough" else (),
        vcpus=asked.vcpus_each,
        memory_gib=asked.memory_gib_each,
        rdma=pvrdma and (kind == "client" or asked.vms_each > 1),
        gpus=whole or request.shares,
        share=f"{float(share):.6g}",
    )


def _servers(pool: Pool, kind: str, spots: tuple[_Spot, ...], pvrdma: bool, profile: str = "") -> _Vms:
    return _Vms(
        slug="bitfusion_server",
        name="Bitfusion server",
        count=len(spots),
        kind=kind,
        pool=pool,
        profile=profile,
        spots=spots,
        rdma=pvrdma,
    )


def _passthrough_spots(pool: Pool, group: str) -> tuple[_Spot, ...]:
    """Devices of each VM of a group, as placed."""
    found = []
    for at, host in enumerate(pool.placement):
        first = 0
        for load in host:
            if load.slots and load.slots[0].group == group:
                found.append(_Spot(at, tuple(range(first, first + load.gpus))))
            first += load.gpus
    return tuple(found)


def _server_spots(plan: Plan, pool: Pool, remote: set[str]) -> tuple[_Spot, ...]:
    """Bitfusion servers that have vGPUs: one on each host with GPUs for them, more where one VM cannot have so many."""
    version = plan.catalog.vsphere[plan.scenario.platform.vsphere]
    most = int(version.value("max_vgpus_per_vm") or pool.gpus_per_host)
    found = []
    for at, host in enumerate(pool.placement):
        gpus = sum(load.gpus for load in host if load.slots and load.slots[0].group in remote)
        for first in range(0, gpus, most):
            found.append(_Spot(at, tuple(range(first, min(first + most, gpus)))))
    return tuple(found)


def _whole_profile(plan: Plan) -> str:
    """The time-sliced profile with the whole frame buffer, of which Bitfusion servers have one for each GPU."""
    return next(
        str(row["profile"])
        for row in plan.catalog.profiles_of(plan.scenario.hardware.gpu)
        if row["backing"] == "timesliced" and row["full_frame_buffer"]
    )


def _mmio_gib(design: _Design, gpus: int) -> int:
    """Memory-mapped I/O of a VM with so many GPUs: a power of two, at least twice their memory."""
    return max(LEAST_MMIO_GIB, 1 << (math.ceil(2 * _gpu_gib(design) * gpus) - 1).bit_length())


def _gpu_gib(design: _Design) -> Fraction:
    """Memory of a GPU."""
    gpu = design.plan.catalog.gpus[design.plan.scenario.hardware.gpu]
    return exact(gpu.fact("memory_gib").value)


def _tolerated(plan: Plan, pool: Pool) -> int:
    """Host failures for admission control, which allows at most one fewer than the hosts."""
    return min(plan.scenario.availability.host_failures, pool.hosts - 1)


def _spare(pool: Pool) -> tuple[int, ...]:
    """Hosts on which nothing is placed, from 0."""
    return tuple(at for at, host in enumerate(pool.placement) if not host)


def _mig_hosts(plan: Plan, pool: Pool) -> Lines:
    """Which hosts have how many GPUs in MIG mode."""
    sliced = {group.id for group in plan.groups if group.backing == "mig"}
    runs: dict[int, list[list[int]]] = {}
    for at, host in enumerate(pool.placement, 1):
        gpus = sum(load.gpus for load in host if load.slots and load.slots[0].group in sliced)
        if not gpus:
            continue
        known = runs.setdefault(gpus, [])
        if known and known[-1][-1] == at - 1:
            known[-1].append(at)
        else:
            known.append([at])
    where, found = f"`{pool.id}_hosts`", []
    for gpus, parts in runs.items():
        words = ", ".join(f"{run[0]} to {run[-1]}" if len(run) > 1 else str(run[0]) for run in parts)
        gpu = amount(gpus, "GPU")
        one = len(parts) == len(parts[0]) == 1
        found.append(
            f"Host {words} of {where} has {gpu}" if one else f"Hosts {words} of {where} have {gpu} each"
        )
    return found


# How HCL is written


def _clean(text: str) -> str:
    """A text on one line, without characters that do not print."""
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())


def _text(text: str) -> str:
    """A string of HCL that means the text itself."""
    quoted = _clean(text).replace("\\", "\\\\").replace('"', '\\"')
    return '"' + quoted.replace("${", "$${").replace("%{", "%%{") + '"'


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


def _aligned(*pairs: tuple[str, str]) -> Lines:
    """Arguments with their equals signs in one column."""
    width = max(len(name) for name, _ in pairs)
    return [f"{name:<{width}} = {value}" for name, value in pairs]


def _inside(lines: Iterable[str]) -> Lines:
    return [f"  {line}" if line else "" for line in lines]


def _block(head: str, *parts: Lines) -> Lines:
    """A block whose parts stand apart."""
    body: Lines = []
    for part in parts:
        if part:
            body += ["", *part] if body else part
    return [f"{head} {{", *_inside(body), "}"]


def _map(name: str, lines: Lines) -> Lines:
    return [f"{name} = {{", *_inside(lines), "}"]


def _list(items: Iterable[str]) -> str:
    return "[" + ", ".join(items) + "]"


def _rows(name: str, items: Sequence[str]) -> Lines:
    """A list with an item to a line."""
    return [f"{name} = [", *_inside(f"{item}," for item in items), "]"]


def _variable(
    name: str,
    kind: str,
    about: str,
    *,
    default: str = "",
    sensitive: bool = False,
    checks: Sequence[Lines] = (),
) -> Lines:
    pairs = [("description", _text(about)), ("type", kind)]
    if default:
        pairs.append(("default", default))
    if sensitive:
        pairs.append(("sensitive", "true"))
    return _block(f'variable "{name}"', _aligned(*pairs), *checks)


def _check(condition: str, message: str) -> Lines:
    return _block("validation", _aligned(("condition", condition), ("error_message", _text(message))))


def _file(blocks: Iterable[Lines], title: str) -> str:
    parts = ["\n".join(block) for block in blocks]
    return "\n\n".join([f"# {title}", *parts]) + "\n"


def _name(plan: Plan) -> str:
    return _clean(plan.scenario.name) or "GPU design"


# The files


def _versions() -> str:
    source = _map("vsphere", _aligned(("source", _text(PROVIDER)), ("version", _text(PROVIDER_VERSIONS))))
    block = _block(
        "terraform",
        _aligned(("required_version", _text(TERRAFORM_VERSIONS))),
        _block("required_providers", source),
    )
    return _file([block], "Terraform and the vSphere provider.")


def _variables(design: _Design) -> Iterable[Lines]:
    yield _variable("vsphere_server", "string", "Host name of the vCenter Server of the workload domain.")
    yield _variable("vsphere_user", "string", "User of vCenter.", sensitive=True)
    yield _variable("vsphere_password", "string", "Password of that user.", sensitive=True)
    yield _variable(
        "allow_unverified_ssl",
        "bool",
        "Whether a certificate that cannot be verified is accepted.",
        default="false",
    )
    yield _variable("datacenter", "string", "Datacenter in vCenter.")
    if design.vms:
        yield _variable("datastore", "string", "Datastore of the VMs.")
    yield _variable("name_prefix", "string", "What every name begins with.", default=_text("gpu-"))
    for pool in design.plan.pools:
        yield _hosts_variable(pool)
    yield from _network_variables(design)
    yield from _vm_variables(design)


def _hosts_variable(pool: Pool) -> Lines:
    name = f"{pool.id}_hosts"
    there = f"; the first {pool.existing_hosts} are there already" if pool.existing_hosts else ""
    hosts = amount(pool.hosts, "host")
    return _variable(
        name,
        "list(string)",
        f"Names in vCenter of the {hosts} of the {pool.name}, in the order of the plan{there}.",
        checks=[
            _check(
                f"length(var.{name}) == {pool.hosts} && length(distinct(var.{name})) == {pool.hosts}",
                f"The plan has {hosts} in the {pool.name}: name each of them once.",
            )
        ],
    )


def _network_variables(design: _Design) -> Iterable[Lines]:
    ports = design.cabling.ports
    yield _nics_variable("teamed_nics", "teamed", ports.shared)
    if design.rdma_switches:
        yield _nics_variable("rdma_nics", "PVRDMA", ports.rdma)
        yield _variable(
            "rdma_vlan",
            "number",
            "VLAN of the RDMA port groups; 0 for none.",
            checks=[_vlan_check("var.rdma_vlan")],
        )
    if any(vms.rdma for vms in design.vms):
        yield _variable(
            "rdma_adapter_type",
            "string",
            "Adapter type of PVRDMA. The source of the provider has vmxnet3vrdma, its documentation does not: see the README.",
            default=_text("vmxnet3vrdma"),
        )
    fields = _aligned(*((name, "number") for name in PORT_GROUPS))
    yield _block(
        'variable "vlans"',
        [
            "description = " + _text("VLAN of each port group; 0 for none."),
            "type = object({",
            *_inside(fields),
            "})",
        ],
        _check(
            "alltrue([for vlan in values(var.vlans) : vlan >= 0 && vlan <= 4094])",
            "A VLAN is a number from 0 to 4094.",
        ),
    )


def _vlan_check(value: str) -> Lines:
    return _check(f"{value} >= 0 && {value} <= 4094", "A VLAN is a number from 0 to 4094.")


def _nics_variable(name: str, what: str, ports: int) -> Lines:
    return _variable(
        name,
        "list(string)",
        f"Physical NICs of each host for its {ports} {what} port{'' if ports == 1 else 's'}, such as vmnic0; spread over adapters.",
        checks=[
            _check(
                f"length(var.{name}) == {ports} && length(distinct(var.{name})) == {ports}",
                f"The plan has {ports} {what} port{'' if ports == 1 else 's'} in each host.",
            )
        ],
    )


def _vm_variables(design: _Design) -> Iterable[Lines]:
    if design.of("vgpu", "passthrough", "client"):
        yield _variable(
            "template",
            "string",
            "Template of the VMs of all groups: EFI firmware, drivers of the GPU software installed.",
        )
    if design.of("server", "vgpu-server"):
        yield _variable(
            "bitfusion_server_template", "string", "Template made from the appliance of a Bitfusion server."
        )
    if design.of("client"):
        yield _variable(
            "compute_cluster", "string", "Cluster whose hosts run the VMs that use GPUs over the network."
        )
        yield _variable("client_network", "string", "Network of these VMs on the hosts of that cluster.")
        if design.rdma_switches:
            yield _variable(
                "client_rdma_network", "string", "RDMA network of these VMs on the hosts of that cluster."
            )
    if design.spelled:
        yield _block(
            'variable "vgpu_profile_names"',
            _aligned(
                ("description", _text("Profile -> its name in vSphere; compared with what the hosts offer.")),
                ("type", "map(string)"),
            ),
            _map("default", _aligned(*((_text(name), _text(said)) for name, said in design.spelled.items()))),
        )
    for pool_id in dict.fromkeys(vms.pool.id for vms in design.of("passthrough", "server")):
        yield _pci_variable(next(pool for pool in design.plan.pools if pool.id == pool_id))
    for vms in design.vms:
        yield from _size_variables(design, vms)


def _pci_variable(pool: Pool) -> Lines:
    name = f"{pool.id}_gpu_pci_ids"
    counts = _list(str(room.gpus) for room in pool.rooms)
    return _variable(
        name,
        "list(list(string))",
        f"PCI ids of the GPUs of each host of {pool.id}_hosts, in the same order, such as 0000:3b:00.0.",
        checks=[
            _check(
                f"length(var.{name}) == {pool.hosts} && alltrue([for host, gpus in {counts} : "
                f"try(length(distinct(var.{name}[host])) == gpus, false)])",
                f"Name the ids of all GPUs of each host: {_each_host(pool)}.",
            )
        ],
    )


def _each_host(pool: Pool) -> str:
    counts = Counter(room.gpus for room in pool.rooms)
    return ", ".join(f"{hosts} x {amount(gpus, 'GPU')}" for gpus, hosts in counts.items())


def _size_variables(design: _Design, vms: _Vms) -> Iterable[Lines]:
    server = vms.kind in ("server", "vgpu-server")
    what = "a Bitfusion server" if server else f"a VM of {vms.name}"
    least_cpus, least_gib = (SERVER_VCPUS, _server_gib(design, vms)) if server else (1, 1)
    for name, about, known, least in (
        (f"{vms.slug}_num_cpus", f"Virtual CPUs of {what}.", vms.vcpus, least_cpus),
        (f"{vms.slug}_memory_gib", f"Memory of {what} in GiB.", vms.memory_gib, least_gib),
    ):
        yield _variable(
            name,
            "number",
            about,
            default="" if known is None else str(known),
            checks=[
                _check(
                    f"var.{name} >= {least} && floor(var.{name}) == var.{name}",
                    f"{about[:-1]}: a whole number of at least {least}.",
                )
            ],
        )


def _server_gib(design: _Design, vms: _Vms) -> int:
    """Least memory of a Bitfusion server: one and a half times that of its GPUs."""
    return math.ceil(SERVER_MEMORY * _gpu_gib(design) * max(len(spot.gpus) for spot in vms.spots))


def _main(design: _Design) -> Iterable[Lines]:
    yield _block(
        'provider "vsphere"',
        _aligned(
            ("vsphere_server", "var.vsphere_server"),
            ("user", "var.vsphere_user"),
            ("password", "var.vsphere_password"),
            ("allow_unverified_ssl", "var.allow_unverified_ssl"),
        ),
    )
    yield _block('data "vsphere_datacenter" "this"', ["name = var.datacenter"])
    if design.vms:
        yield _lookup("vsphere_datastore", "this", "var.datastore")
    for pool in design.plan.pools:
        yield _block(
            f'data "vsphere_host" "{pool.id}"',
            _aligned(
                ("count", f"length(var.{pool.id}_hosts)"),
                ("name", f"var.{pool.id}_hosts[count.index]"),
                ("datacenter_id", "data.vsphere_datacenter.this.id"),
            ),
        )
    if design.of("vgpu", "passthrough", "client"):
        yield _lookup("vsphere_virtual_machine", "template", "var.template")
    if design.of("server", "vgpu-server"):
        yield _lookup("vsphere_virtual_machine", "bitfusion_server", "var.bitfusion_server_template")
    if design.of("client"):
        yield _lookup("vsphere_compute_cluster", "clients", "var.compute_cluster")
        yield _lookup("vsphere_network", "clients", "var.client_network")
        if design.rdma_switches:
            yield _lookup("vsphere_network", "clients_rdma", "var.client_rdma_network")
    for pool_id in design.profile_pools:
        yield [
            "# Profiles that the hosts offer: a profile spelled otherwise stops the plan of Terraform.",
            *_block(
                f'data "vsphere_host_vgpu_profile" "{pool_id}"',
                _aligned(
                    ("count", f"length(var.{pool_id}_hosts)"),
                    ("host_id", f"data.vsphere_host.{pool_id}[count.index].id"),
                ),
            ),
        ]
        yield _block(
            "locals",
            [
                f"{pool_id}_profiles_offered = distinct(flatten([",
                f"  for host in data.vsphere_host_vgpu_profile.{pool_id} : [for profile in host.vgpu_profiles : profile.vgpu]",
                "]))",
            ],
        )


def _lookup(kind: str, name: str, value: str) -> Lines:
    return _block(
        f'data "{kind}" "{name}"',
        _aligned(("name", value), ("datacenter_id", "data.vsphere_datacenter.this.id")),
    )


def _clusters(design: _Design) -> Iterable[Lines]:
    plan = design.plan
    asked = plan.scenario.availability.host_failures
    for pool in plan.pools:
        tolerated = _tolerated(plan, pool)
        admission = [
            "# availability.host_failures"
            + ("" if tolerated == asked else f", {asked}, but at most one fewer than the hosts")
            + "; it counts CPU and memory only, no GPU."
        ]
        if tolerated:
            admission += _aligned(
                ("ha_admission_control_policy", _text("resourcePercentage")),
                ("ha_admission_control_host_failure_tolerance", str(tolerated)),
            )
        else:
            admission += ['ha_admission_control_policy = "disabled"']
        yield [
            f"# {_clean(pool.name)}: {amount(pool.hosts, 'host')} (pools.{pool.id}.hosts), "
            f"{pool.hosts_for_failures} of them for failures and maintenance (pools.{pool.id}.hosts_for_failures), "
            f"{_each_host(pool)}.",
            *_block(
                f'resource "vsphere_compute_cluster" "{pool.id}"',
                _aligned(
                    ("name", f'"${{var.name_prefix}}{pool.id}"'),
                    ("datacenter_id", "data.vsphere_datacenter.this.id"),
                    ("host_system_ids", f"data.vsphere_host.{pool.id}[*].id"),
                ),
                [
                    f"# {_drs_reason(pool)}",
                    *_aligned(("drs_enabled", "true"), ("drs_automation_level", _text("partiallyAutomated"))),
                ],
                ["ha_enabled = true"],
                admission,
            ),
        ]
        spare = _spare(pool)
        used = [at for at in range(pool.hosts) if at not in spare]
        yield _host_group(pool, "gpu", "GPU hosts that carry the demand.", used)
        if spare:
            yield _host_group(pool, "spare", "GPU hosts kept free for failures and maintenance.", spare)


def _drs_reason(pool: Pool) -> str:
    if pool.gpu_mode == "vgpu":
        return "DRS places VMs when they start and only recommends moves: a VM is stunned while its frame buffer is copied."
    return "VMs with passthrough GPUs are tied to their hosts: DRS is off for each of them."


def _host_group(pool: Pool, what: str, about: str, hosts: Sequence[int]) -> Lines:
    chosen = _list(str(at) for at in hosts)
    return [
        f"# {about}",
        *_block(
            f'resource "vsphere_compute_cluster_host_group" "{pool.id}_{what}"',
            _aligned(
                ("name", f'"${{var.name_prefix}}{pool.id}-{what}-hosts"'),
                ("compute_cluster_id", f"vsphere_compute_cluster.{pool.id}.id"),
                ("host_system_ids", f"[for host in {chosen} : data.vsphere_host.{pool.id}[host].id]"),
            ),
        ),
    ]


def _network(design: _Design) -> Iterable[Lines]:
    ports, given = design.cabling.ports, design.plan.scenario.network
    yield _block(
        "locals",
        [
            "gpu_host_ids = concat(",
            *_inside(f"data.vsphere_host.{pool.id}[*].id," for pool in design.plan.pools),
            ")",
        ],
    )
    uplinks = [f"uplink{port}" for port in range(1, ports.shared + 1)]
    yield [
        f"# {ports.shared} teamed ports of {given.link_gbit_s} Gbit/s in each host (network.ports.shared): management, vMotion, "
        "storage, VMs.",
        *_switch("shared", uplinks, given.mtu_bytes, "var.teamed_nics"),
    ]
    for name in PORT_GROUPS:
        yield _port_group(name, "shared", f"var.vlans.{name}")
    for port in range(1, design.rdma_switches + 1):
        yield [
            f"# PVRDMA (network.ports.rdma, {port} of {ports.rdma}): one port, the only uplink of a switch of its own, not teamed.",
            *_switch(f"rdma_{port}", ["uplink1"], given.mtu_bytes, f"[var.rdma_nics[{port - 1}]]"),
        ]
        yield _port_group(f"rdma_{port}", f"rdma_{port}", "var.rdma_vlan")


def _switch(name: str, uplinks: Sequence[str], mtu: int, devices: str) -> Lines:
    listed = _list(_text(uplink) for uplink in uplinks)
    return _block(
        f'resource "vsphere_distributed_virtual_switch" "{name}"',
        _aligned(
            ("name", f'"${{var.name_prefix}}{name.replace("_", "-")}"'),
            ("datacenter_id", "data.vsphere_datacenter.this.id"),
            ("max_mtu", str(mtu)),
            ("uplinks", listed),
            ("active_uplinks", listed),
            ("standby_uplinks", "[]"),
        ),
        _block(
            'dynamic "host"',
            ["for_each = local.gpu_host_ids"],
            _block("content", _aligned(("host_system_id", "host.value"), ("devices", devices))),
        ),
    )


def _port_group(name: str, switch: str, vlan: str) -> Lines:
    return _block(
        f'resource "vsphere_distributed_port_group" "{name}"',
        _aligned(
            ("name", f'"${{var.name_prefix}}{name.replace("_", "-")}-ports"'),
            ("distributed_virtual_switch_uuid", f"vsphere_distributed_virtual_switch.{switch}.id"),
            ("vlan_id", vlan),
        ),
    )


def _vms(design: _Design) -> Iterable[Lines]:
    for vms in design.vms:
        if vms.spots:
            yield _spots_locals(design, vms)
        yield _virtual_machine(design, vms)
        if vms.kind in ("passthrough", "server"):
            yield _block(
                f'resource "vsphere_drs_vm_override" "{vms.slug}"',
                _aligned(
                    ("for_each", vms.address),
                    ("compute_cluster_id", f"vsphere_compute_cluster.{vms.pool.id}.id"),
                    ("virtual_machine_id", "each.value.id"),
                    ("drs_enabled", "false"),
                ),
            )
    for pool in design.plan.pools:
        local = [v for v in design.vms if v.pool.id == pool.id and v.kind in ("vgpu", "vgpu-server")]
        if local:
            yield _block(
                f'resource "vsphere_compute_cluster_vm_group" "{pool.id}"',
                _aligned(
                    ("name", f'"${{var.name_prefix}}{pool.id}-vms"'),
                    ("compute_cluster_id", f"vsphere_compute_cluster.{pool.id}.id"),
                ),
                [
                    "virtual_machine_ids = concat(",
                    *_inside(
                        (f"[for vm in {v.address} : vm.id]," if v.spots else f"{v.address}[*].id,")
                        for v in local
                    ),
                    ")",
                ],
            )
            yield [
                "# Not mandatory: after a failure and in maintenance the spare hosts may be used.",
                *_block(
                    f'resource "vsphere_compute_cluster_vm_host_rule" "{pool.id}"',
                    _aligned(
                        ("name", f'"${{var.name_prefix}}{pool.id}-vms-on-gpu-hosts"'),
                        ("compute_cluster_id", f"vsphere_compute_cluster.{pool.id}.id"),
                        ("vm_group_name", f"vsphere_compute_cluster_vm_group.{pool.id}.name"),
                        (
                            "affinity_host_group_name",
                            f"vsphere_compute_cluster_host_group.{pool.id}_gpu.name",
                        ),
                        ("mandatory", "false"),
                    ),
                ),
            ]


def _spots_locals(design: _Design, vms: _Vms) -> Lines:
    """The table of VMs that differ by their host or their number of GPUs."""
    width = max(2, len(str(len(vms.spots))))
    if vms.kind == "vgpu-server":
        about = "vGPUs of each server, one for each GPU that the plan places for Bitfusion."
        values = [
            f"{{ vgpus = {len(spot.gpus)}, mmio_gib = {_mmio_gib(design, len(spot.gpus))} }}"
            for spot in vms.spots
        ]
    else:
        about = f"Host of {vms.pool.id}_hosts and GPUs of {vms.pool.id}_gpu_pci_ids, counted from 0, as the plan places the VMs."
        values = [
            f"{{ host = {spot.host}, gpus = {_list(map(str, spot.gpus))}, mmio_gib = {_mmio_gib(design, len(spot.gpus))} }}"
            for spot in vms.spots
        ]
    pairs = [(_text(f"{at:0{width}}"), value) for at, value in enumerate(values, 1)]
    return _block("locals", [f"# {about}", *_map(f"{vms.slug}_vms", _aligned(*pairs))])


def _virtual_machine(design: _Design, vms: _Vms) -> Lines:
    width = max(2, len(str(vms.count)))
    index = "each.key" if vms.spots else f'format("%0{width}d", count.index + 1)'
    template = "bitfusion_server" if vms.kind in ("server", "vgpu-server") else "template"
    source = f"data.vsphere_virtual_machine.{template}"
    cluster = (
        "data.vsphere_compute_cluster.clients"
        if vms.kind == "client"
        else f"vsphere_compute_cluster.{vms.pool.id}"
    )
    head = [
        ("for_each", f"local.{vms.slug}_vms") if vms.spots else ("count", str(vms.count)),
        ("name", f'"${{var.name_prefix}}{vms.slug.replace("_", "-")}-${{{index}}}"'),
        ("annotation", _text(vms.name)),
        ("resource_pool_id", f"{cluster}.resource_pool_id"),
        ("datastore_id", "data.vsphere_datastore.this.id"),
    ]
    memory = f"var.{vms.slug}_memory_gib * {MIB_PER_GIB}"
    size = [("num_cpus", f"var.{vms.slug}_num_cpus"), ("memory", memory)]
    if vms.kind != "client":
        size += [("memory_reservation", memory), ("memory_reservation_locked_to_max", "true")]
    pinned: Lines = []
    if vms.kind in ("passthrough", "server"):
        host = f"{vms.pool.id}_gpu_pci_ids[each.value.host]"
        pinned = _aligned(
            ("host_system_id", f"data.vsphere_host.{vms.pool.id}[each.value.host].id"),
            ("pci_device_id", f"[for gpu in each.value.gpus : var.{host}[gpu]]"),
        )
    network = "data.vsphere_network.clients" if vms.kind == "client" else "vsphere_distributed_port_group.vm"
    return [
        f"# {_about_vms(design, vms)}",
        *_block(
            f'resource "vsphere_virtual_machine" "{vms.slug}"',
            _aligned(*head),
            _aligned(
                ("guest_id", f"{source}.guest_id"),
                ("scsi_type", f"{source}.scsi_type"),
                ("firmware", _text("efi")),
            ),
            _aligned(*size),
            pinned,
            _extra_config(design, vms),
            ["# The network of the guest is set up by the template.", "wait_for_guest_net_timeout = 0"],
            _block("network_interface", [f"network_id = {network}.id"]),
            _rdma_interface(design, vms),
            _block(
                "disk",
                _aligned(
                    ("label", _text("disk0")),
                    ("size", f"{source}.disks[0].size"),
                    ("thin_provisioned", f"{source}.disks[0].thin_provisioned"),
                ),
            ),
            _block("clone", [f"template_uuid = {source}.id"]),
            _lifecycle(vms),
        ),
    ]


def _rdma_interface(design: _Design, vms: _Vms) -> Lines:
    """The PVRDMA adapter of a VM; the VMs of a group take turns where there are several switches."""
    if not vms.rdma:
        return []
    names = [f"vsphere_distributed_port_group.rdma_{port}.id" for port in range(1, design.rdma_switches + 1)]
    at = f"index(keys(local.{vms.slug}_vms), each.key)" if vms.spots else "count.index"
    network = names[0] if len(names) == 1 else f"element({_list(names)}, {at})"
    if vms.kind == "client":
        network = "data.vsphere_network.clients_rdma.id"
    return _block(
        "network_interface", _aligned(("network_id", network), ("adapter_type", "var.rdma_adapter_type"))
    )


def _about_vms(design: _Design, vms: _Vms) -> str:
    count = amount(vms.count, "VM")
    if vms.kind == "server":
        return f"{count}: a Bitfusion server on each host (pools.{vms.pool.id}.hosts), with all its GPUs in passthrough."
    if vms.kind == "vgpu-server":
        gpus = sum(len(spot.gpus) for spot in vms.spots)
        return (
            f"{count}: Bitfusion servers with {gpus} vGPUs of the whole frame buffer, profile {vms.profile}."
        )
    plan = design.plan.group(vms.group)
    what = {
        "vgpu": f"{vms.vgpus} x {vms.profile} each (groups.{vms.group}.profile)",
        "passthrough": f"{amount(vms.gpus, 'GPU')} each",
        "client": f"{_over_network(vms)} each",
    }[vms.kind]
    mode = MODE_NAMES.get(plan.mode, plan.mode)
    return f"{vms.name}: {count} (groups.{vms.group}.vms), {mode}, {what}."


def _extra_config(design: _Design, vms: _Vms) -> Lines:
    if vms.kind == "client":
        return []
    note = (
        "# Memory-mapped I/O: a power of two, at least twice the memory of the whole GPUs that the VM is on."
    )
    mmio = '"pciPassthru.use64bitMMIO"', '"pciPassthru.64bitMMIOSizeGB"'
    if vms.kind == "vgpu":
        gib = str(_mmio_gib(design, vms.vgpus))
        pairs = [(mmio[0], _text("TRUE")), (mmio[1], _text(gib))]
        pairs += [
            (_text(f"pciPassthru{at}.vgpu"), f"var.vgpu_profile_names[{_text(vms.profile)}]")
            for at in range(vms.vgpus)
        ]
        return [note, *_map("extra_config", _aligned(*pairs))]
    fixed = _aligned((mmio[0], _text("TRUE")), (mmio[1], "tostring(each.value.mmio_gib)"))
    if vms.kind != "vgpu-server":
        return [note, *_map("extra_config", fixed)]
    return [
        note,
        "extra_config = merge(",
        "  {",
        *_inside(_inside(fixed)),
        "  },",
        '  { for vgpu in range(each.value.vgpus) : "pciPassthru${vgpu}.vgpu" => '
        f"var.vgpu_profile_names[{_text(vms.profile)}] }},",
        ")",
    ]


def _lifecycle(vms: _Vms) -> Lines:
    """Guards of a VM: the provider would replace it, with its disk, as soon as its template is made anew."""
    kept = [
        "# A template that is made anew later neither replaces nor changes this VM.",
        "ignore_changes = [clone, disk, guest_id, scsi_type]",
    ]
    if not vms.profile:
        return _block("lifecycle", kept)
    return _block(
        "lifecycle",
        kept,
        _block(
            "precondition",
            _aligned(
                (
                    "condition",
                    f"contains(local.{vms.pool.id}_profiles_offered, var.vgpu_profile_names[{_text(vms.profile)}])",
                ),
                (
                    "error_message",
                    _text(
                        f"No host of {vms.pool.id}_hosts offers this name for {vms.profile}: correct vgpu_profile_names."
                    ),
                ),
            ),
        ),
    )


def _outputs(design: _Design) -> Iterable[Lines]:
    plan, totals = design.plan, design.plan.totals
    yield _block(
        'output "design"',
        ['description = "Figures of the plan: totals.*"'],
        _map(
            "value",
            _aligned(
                ("hosts", str(totals.hosts)),
                ("gpus", str(totals.gpus)),
                ("gpus_after_failure", str(totals.gpus_after_failure)),
                ("distributed_switches", str(design.cabling.distributed_switches)),
            ),
        ),
    )
    yield _block(
        'output "clusters"',
        ['description = "Ids of the clusters."'],
        _map("value", _aligned(*((pool.id, f"vsphere_compute_cluster.{pool.id}.id") for pool in plan.pools))),
    )
    if design.vms:
        yield _block(
            'output "vms"',
            ['description = "Names of the VMs."'],
            _map(
                "value",
                _aligned(
                    *(
                        (v.slug, f"[for vm in {v.address} : vm.name]" if v.spots else f"{v.address}[*].name")
                        for v in design.vms
                    )
                ),
            ),
        )
    if clients := design.of("client"):
        yield _block(
            'output "bitfusion_clients"',
            ['description = "How the VMs of each group start their work on remote GPUs."'],
            _map("value", _aligned(*((v.slug, _text(_client_command(v))) for v in clients))),
        )


def _over_network(vms: _Vms) -> str:
    share = "" if vms.share == "1" else f"{vms.share} of "
    return f"{share}{amount(vms.gpus, 'GPU')} over the network"


def _client_command(vms: _Vms) -> str:
    share = "" if vms.share == "1" else f" -p {vms.share}"
    return f"bitfusion run -n {vms.gpus}{share} -- COMMAND"


def _example(design: _Design) -> str:
    parts: list[Lines] = [
        _aligned(
            ("vsphere_server", _text("vcenter.example.com")),
            ("vsphere_user", _text("administrator@example.com")),
            ("datacenter", _text("datacenter-01")),
            *([("datastore", _text("datastore-01"))] if design.vms else []),
        ),
        ["# Better not in a file: set the environment variable TF_VAR_vsphere_password instead."],
    ]
    for pool in design.plan.pools:
        names = [_text(f"{pool.id}-{at:02}.example.com") for at in range(1, pool.hosts + 1)]
        parts.append(_rows(f"{pool.id}_hosts", names))
    ports = design.cabling.ports
    nics = [_text(f"vmnic{at}") for at in range(ports.total)]
    parts.append([f"teamed_nics = {_list(nics[: ports.shared])}"])
    if design.rdma_switches:
        parts.append(_aligned(("rdma_nics", _list(nics[ports.shared :])), ("rdma_vlan", "105")))
    parts.append(_map("vlans", _aligned(*((name, str(101 + at)) for at, name in enumerate(PORT_GROUPS)))))
    names_of = []
    if design.of("vgpu", "passthrough", "client"):
        names_of.append(("template", _text("gpu-guest")))
    if design.of("server", "vgpu-server"):
        names_of.append(("bitfusion_server_template", _text("bitfusion-server")))
    if design.of("client"):
        names_of += [("compute_cluster", _text("compute-01")), ("client_network", _text("compute-vms"))]
        if design.rdma_switches:
            names_of.append(("client_rdma_network", _text("compute-rdma")))
    if names_of:
        parts.append(_aligned(*names_of))
    for pool_id in dict.fromkeys(vms.pool.id for vms in design.of("passthrough", "server")):
        pool = next(pool for pool in design.plan.pools if pool.id == pool_id)
        rows = [
            _list(_text(f"0000:{0x3B + gpu:02x}:00.0") for gpu in range(room.gpus)) for room in pool.rooms
        ]
        parts.append(_rows(f"{pool_id}_gpu_pci_ids", rows))
    sizes = []
    for vms in design.vms:
        server = vms.kind in ("server", "vgpu-server")
        if vms.vcpus is None:
            sizes.append((f"{vms.slug}_num_cpus", "16"))
        if vms.memory_gib is None:
            sizes.append((f"{vms.slug}_memory_gib", str(_server_gib(design, vms) if server else 64)))
    if sizes:
        parts.append(["# Examples only: the plan does not know these.", *_aligned(*sizes)])
    return _file(parts, "Copy to terraform.tfvars and replace every value by the customer's own.")


# The README


def _markdown(text: str) -> str:
    """A text that Markdown and HTML show as it is."""
    escaped = re.sub(r"([\\`*_\[\]|~#])", r"\\\1", _clean(text))
    return html.escape(escaped, quote=False)


def _empty_readme(plan: Plan) -> str:
    return (
        f"# {_markdown(_name(plan))}\n\nNobody asks for a GPU yet: the plan has no host, so there is nothing to build "
        "and no Terraform file.\n"
    )


def _readme(design: _Design) -> str:
    plan, totals = design.plan, design.plan.totals
    customer = _clean(plan.scenario.customer)
    parts = [
        f"# {_markdown(_name(plan))}: Terraform",
        (f"For {_markdown(customer)}. " if customer else "")
        + f"{amount(totals.hosts, 'host')} with {amount(totals.gpus, 'GPU')}, {totals.gpus_after_failure} after a failure; "
        f"vSphere {_markdown(plan.scenario.platform.vsphere)}, provider `{PROVIDER}` {PROVIDER_VERSIONS}.",
        "## What is built\n\n" + _table(("What", "How many", "Where from"), _built(design)),
        "## VMs\n\n" + _table(("Resource", "Group", "VMs", "GPUs"), [_vm_row(vms) for vms in design.vms])
        if design.vms
        else "## VMs\n\nNo group asks for GPUs, so there is no VM.",
        "## How to use it\n\n" + _numbered(_steps()),
        "## What must be checked first\n\n" + _bullets(_to_check(design)),
        "## What these files leave out\n\n" + _bullets(_left_out(design)),
        "## Sources\n\n" + _bullets(_sources(plan)),
    ]
    return "\n\n".join(parts) + "\n"


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = ["| " + " | ".join(heads) + " |", "|" + " --- |" * len(heads)]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in rows)])


def _bullets(points: Iterable[str]) -> str:
    return "\n".join(f"* {point}" for point in points)


def _numbered(points: Iterable[str]) -> str:
    return "\n".join(f"{at}. {point}" for at, point in enumerate(points, 1))


def _built(design: _Design) -> Iterable[Sequence[str]]:
    plan = design.plan
    for pool in plan.pools:
        yield (
            _markdown(pool.name),
            f"{amount(pool.hosts, 'host')} ({_each_host(pool)}), {len(_spare(pool))} kept free",
            f"`pools.{pool.id}.hosts`",
        )
        yield (
            "HA",
            f"{amount(_tolerated(plan, pool), 'host failure')} tolerated",
            "`availability.host_failures`",
        )
    yield (
        "Distributed switches",
        f"{design.cabling.distributed_switches}, MTU {number(plan.scenario.network.mtu_bytes)}",
        "`network.ports.shared`, `network.ports.rdma`, `network.mtu_bytes`",
    )


def _vm_row(vms: _Vms) -> Sequence[str]:
    gpus = {
        "vgpu": f"{vms.vgpus} x {vms.profile}",
        "passthrough": f"{vms.gpus} in passthrough",
        "client": _over_network(vms),
        "vgpu-server": f"{sum(len(spot.gpus) for spot in vms.spots)} x {vms.profile} in all",
        "server": f"{sum(len(spot.gpus) for spot in vms.spots)} in passthrough in all",
    }[vms.kind]
    return f"`{vms.address}`", _markdown(vms.name), str(vms.count), gpus


def _steps() -> Sequence[str]:
    return (
        "Add the hosts to vCenter, with no cluster (in VMware Cloud Foundation SDDC Manager commissions hosts and makes the first "
        "cluster: import it with `terraform import` rather than make a second one).",
        "Copy `terraform.tfvars.example` to `terraform.tfvars` and replace every value. Passwords belong in environment variables.",
        "`terraform init`, then `terraform plan`: it stops where numbers of hosts, NICs or GPUs differ from the plan, or where no host "
        "offers a vGPU profile of that name.",
        "`terraform apply` for the clusters and networks first (`-target`), then VMkernel adapters and host settings, then the VMs. VMs are "
        "powered on as soon as they are made.",
        "With the files of a changed design read `terraform plan` before anything else: VMs that the design no longer has are destroyed "
        "with their disks, and VMs that it puts elsewhere are shut down.",
    )


def _to_check(design: _Design) -> Iterable[str]:
    plan = design.plan
    yield (
        "**NICs.** Name only NICs that carry nothing yet: where a host is managed over one of them, move its management network first, "
        "or the host is lost to vCenter."
    )
    for pool in plan.pools:
        if found := divided(plan.scenario, plan.catalog, pool):
            yield (
                f"**Size of the {_markdown(pool.name)}.** These files put all {amount(pool.hosts, 'host')} into one cluster, and a cluster "
                f"has at most {amount(found.most, 'host')}: divide the groups over several designs, one for each cluster. "
                f"{division_words(found)}"
            )
    if design.spelled:
        names = ", ".join(f"{name} as `{said}`" for name, said in design.spelled.items())
        yield (
            "**Attaching the vGPU.** The provider has no argument for a vGPU (2.15.0; pull request 2113 was closed), so "
            '`extra_config` names the profile ("pciPassthru0.vgpu"). Try it with one VM: if the VM starts without a vGPU, '
            "add the PCI device in the vSphere Client or with a script while the VM is off, and see whether the next "
            "`terraform plan` leaves it alone."
        )
        yield (
            f"**Names of profiles.** {names}: lower case, `grid_` for boards up to Ampere and `nvidia_` for later ones. That rule was "
            "seen for V100, T4, A100 and H100 only; `vsphere_host_vgpu_profile` compares the names with what the hosts offer, "
            "and the variable `vgpu_profile_names` corrects them."
        )
        sizes = "mixed" if plan.scenario.platform.vgpu_sizes == "mixed" else "equal"
        policy = (
            "fill one GPU first" if plan.scenario.platform.assignment == "pack" else "spread over the GPUs"
        )
        yield (
            "**Hosts with vGPUs.** The host driver of NVIDIA is installed, the graphics type is Shared Direct, SR-IOV and IOMMU are on "
            f"where the board needs them, the assignment policy is: {policy}; sizes of vGPUs on one GPU: {sizes}. None of it "
            "is set by these files."
        )
        yield "**vMotion of vGPUs** is switched on in vCenter (`vgpu.hotmigrate.enabled`)."
        if plan.catalog.vsphere[plan.scenario.platform.vsphere].value("drs_vgpu_balancing") == "automatable":
            yield (
                "**DRS** is partly automated: it places VMs and recommends moves. This version can balance vGPU VMs by advanced "
                "options of the cluster; decide on them with the stun times of the plan at hand."
            )
    for pool in plan.pools:
        for hosts in _mig_hosts(plan, pool):
            yield (
                f"**MIG.** {hosts} in MIG mode; switch it on with `nvidia-smi` on "
                "the host (an Ampere board needs a restart of the host). VMs restart after a failure only where the same slices are free, so a "
                "host kept free needs it too."
            )
    if design.of("passthrough", "server"):
        yield (
            "**Passthrough.** Switch passthrough on for each GPU of the host first; the provider does not. Take PCI ids from the data "
            "source `vsphere_host_pci_device`. VMs are pinned to the hosts of the plan: HA does not restart them elsewhere, and they "
            "are shut down for maintenance."
        )
    if design.of("server"):
        servers = next(iter(design.of("server")))
        if servers.count == 2:
            yield "**Two Bitfusion servers** can lose their quorum: add a witness, or have one or at least three."
    if design.of("vgpu-server"):
        yield (
            "**Bitfusion servers with vGPUs.** The vendor's FAQ asks for GPUs in passthrough: confirm support before building it."
        )
    if design.rdma_switches:
        yield (
            "**PVRDMA.** Tag a VMkernel adapter for PVRDMA on each host and open its firewall rule. The adapter type `vmxnet3vrdma` is in "
            "the source of the provider, while its documentation names others: set `rdma_adapter_type` to what your version takes."
        )
    if plan.scenario.availability.host_failures:
        yield "**HA** counts CPU and memory only: nothing but the free hosts keeps a GPU free for a restart."
    short = [
        pool for pool in plan.pools if _tolerated(plan, pool) != plan.scenario.availability.host_failures
    ]
    for pool in short:
        yield f"**HA of the {_markdown(pool.name)}** tolerates fewer failures than asked for: it has {amount(pool.hosts, 'host')}."


def _left_out(design: _Design) -> Iterable[str]:
    plan, transport = design.plan, design.plan.scenario.network.transport
    yield "ESXi, SDDC Manager, NSX, storage and licences; VMkernel adapters and their addresses; guest networks and drivers."
    if transport in ("roce", "roce-v1", "pvrdma"):
        yield "Priority flow control and congestion notification on adapters and physical switches."
    if transport == "infiniband":
        yield f"The {TRANSPORT_NAMES[transport]} fabric and its ports."
    if design.of("client"):
        yield (
            "Enabling Bitfusion for client VMs and servers in vCenter; `terraform output bitfusion_clients` says how work is started."
        )
    spare = sum(r.vms for pool in plan.pools for r in pool.requests if r.group == UNASSIGNED)
    if spare:
        yield f"{amount(spare, 'GPU')} of the stated total that no group asks for: hosts carry them, no VM uses them."
    for group in plan.groups:
        for unplaced in group.unplaced:
            yield f"{amount(unplaced.vms, 'VM')} of {_markdown(group.name)} without a GPU in the plan."
    if any(pool.existing_hosts for pool in plan.pools):
        yield "Moving hosts that are there already out of the cluster they are in."


def _sources(plan: Plan) -> Iterable[str]:
    for id in SOURCES:
        source = plan.catalog.sources[id]
        yield f"{_markdown(source.title)}, {_markdown(source.producer)}" + (
            f", {source.published}" if source.published else ""
        )
