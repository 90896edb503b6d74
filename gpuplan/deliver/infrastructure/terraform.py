"""Terraform in two flavours: for the vSphere provider, and for the workload domain of VMware Cloud Foundation; the data of a plan for them.

Every number comes from the plan. Resources and arguments follow the providers' documentation and source
(vmware-terraform-provider-vsphere, vmware-terraform-provider-vcf), the release of each provider the vSphere version of the design by
``data/software.csv``; ``tests/deliver/infrastructure`` compares every file with them. The vSphere provider has no argument that attaches a
vGPU to a VM (pull request 2113 of its repository was closed), so the profile is an entry of ``extra_config``, and the README says what to check.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from ipaddress import ip_network
from typing import Any

from gpuplan.deliver.infrastructure.vms import Vms, all_vms, sizes
from gpuplan.deliver.infrastructure.writing import in_quotes, one_line, written
from gpuplan.plan import UNASSIGNED, Plan
from gpuplan.plan.hardware import vsphere_profile
from gpuplan.plan.hosts import Pool
from gpuplan.plan.management import release
from gpuplan.plan.profiles import vgpus_named
from gpuplan.plan.racks import host_name
from gpuplan.report.physical import cluster_id, gpus_of, networks, on_kubernetes, prefix, site_ids
from gpuplan.report.site import known_value
from gpuplan.report.tables.plan import gpus_by_host
from gpuplan.scenario import other_vms
from gpuplan.units import MIB_PER_GIB
from gpuplan.wording import runs, said

LARGE_CLUSTER = 64
"""Hosts of a cluster that releases of the vSphere provider before 2.16 take."""
VSPHERE_9 = (9, 0)
PORT_GROUPS = ("management", "vmotion", "storage", "vm")
"""Port groups on the teamed ports."""
FROM_POOL = ("name", "gpu_mode", "hosts", "hosts_for_failures", "existing_hosts")
VSPHERE_FILES = (
    "main.tf", "variables.tf", "cluster.tf", "network.tf", "vms.tf", "outputs.tf", "terraform.tfvars.example",
)  # fmt: skip
VCF_FILES = ("main.tf", "variables.tf", "domain.tf", "outputs.tf", "terraform.tfvars.example")
VCENTER_SIZES = {"x-large": "xlarge"}
"""Sizes of vCenter Server that the provider spells differently."""
NSX_SIZES = ("small", "medium", "large")
"""Sizes of an NSX Manager that the provider accepts."""
LEAST_HOSTS = {True: 3, False: 2}
"""With vSAN or without -> fewest hosts of a cluster that the provider accepts."""


KINDS_OF_VMS: Mapping[str, Callable[[Vms], bool]] = {
    "guests": lambda vm: not vm.server,
    "clients": lambda vm: vm.client,
    "servers": lambda vm: vm.server,
}


@dataclass(frozen=True, slots=True)
class Provider:
    """A provider and the release that a design takes, with the reason."""

    source: str
    versions: str
    note: str


@dataclass(frozen=True, slots=True)
class Foundation:
    """VMware Cloud Foundation as a design has it."""

    release: str
    provider: Provider
    licence_keys: bool
    """True if hosts, vSAN and NSX take licence keys: before VCF 9."""
    esa: bool
    """True if vSAN supports the Express Storage Architecture."""


def vsphere_provider(plan: Plan) -> Provider:
    """The vSphere provider, in the release that the vSphere version of the design takes."""
    provider = _provider(plan, "vsphere")
    assert provider is not None
    return provider


def too_large(plan: Plan) -> int:
    """Return the hosts of the largest cluster if no provider release for this vSphere version takes them; else 0."""
    most = max(pool.hosts for pool in plan.pools)
    return most if most > LARGE_CLUSTER and release(plan.scenario)[0] < 8 else 0


def foundation(plan: Plan) -> Foundation | None:
    """The release of VMware Cloud Foundation and its provider; None where the provider supports no release with this vSphere."""
    provider, named = _provider(plan, "vcf"), _software(plan, "platform")
    if provider is None or named is None:
        return None
    version = release(plan.scenario)
    return Foundation(named[0], provider, licence_keys=version < VSPHERE_9, esa=version[0] >= 8)


def _provider(plan: Plan, name: str) -> Provider | None:
    entry = _software(plan, f"terraform-{name}")
    if entry is None:
        return None
    source, versions = entry[0].split(maxsplit=1)
    return Provider(source, versions, entry[1])


def _software(plan: Plan, part: str) -> tuple[str, str] | None:
    wanted = (part, plan.scenario.platform.vsphere)
    rows = (row for row in plan.catalog.rows("software") if (row["part"], row["vsphere"]) == wanted)
    return next(((str(row["value"]), row["note"]) for row in rows), None)


@dataclass(frozen=True, slots=True)
class Site:
    """Location of clusters that share switches, VLANs and subnets; a design not divided by site has a single one."""

    id: str
    """Identifier; empty if it is the only site."""
    name: str
    clusters: tuple[dict[str, Any], ...]

    def named(self, what: str) -> str:
        """An identifier of this site."""
        return f"{self.id}_{what}" if self.id else what

    def title(self, what: str) -> str:
        """A name of this site, as vSphere shows it, and as the key of a network has it."""
        return self.named(what).replace("_", "-")

    @property
    def hosts(self) -> int:
        """Hosts of its clusters."""
        return sum(cluster["hosts"] for cluster in self.clusters)

    @property
    def where(self) -> str:
        """Its location, for the end of a sentence."""
        return f" at {one_line(self.name)}" if self.id else ""


@dataclass(frozen=True, slots=True)
class Stated:
    """Names and addresses for the quotes of HCL: as the customer states them, else as an example."""

    plan: Plan

    def __call__(self, key: str, example: object = "") -> str:
        """Return the value of a key."""
        return in_quotes(known_value(self.plan, key) or str(example))

    def full(self, key: str, example: str = "") -> str:
        """Return a name with its domain."""
        name = self(key, example)
        return name if "." in name else f"{name}.{self('dns.domain', 'example.com')}"

    def short(self, key: str, example: str = "") -> str:
        """Return a name without its domain."""
        return self(key, example).partition(".")[0]

    def ends(self, network: str) -> tuple[str, str]:
        """Return the first and the last address of the range of a network; empty where none is stated."""
        first, _, last = self(f"network.{network}.range").partition("-")
        return first, last

    def mask(self, network: str, example: str) -> str:
        """Return the mask of the subnet of a network."""
        subnet = self(f"network.{network}.subnet")
        return str(ip_network(subnet).netmask) if subnet else example


def shown(plan: Plan) -> dict[str, Any]:
    """Return the data for every template."""
    vms = tuple(all_vms(plan))
    version = plan.catalog.vsphere[plan.scenario.platform.vsphere]
    requests = (request for pool in plan.pools for request in pool.requests)
    sites = _sites(plan, vms)
    assert plan.cabling is not None
    rdma = plan.cabling.ports.rdma if plan.scenario.network.transport == "pvrdma" else 0
    return {
        "plan": plan,
        "stated": Stated(plan),
        "port_groups": PORT_GROUPS,
        "distributed_switches": plan.cabling.distributed_switches * len(sites),
        "rdma_switches": rdma,
        **{name: [vm for vm in vms if of(vm)] for name, of in KINDS_OF_VMS.items()},
        "vms": vms,
        "sizes": sizes(vms),
        "vsphere_profiles": vsphere_profiles(plan, vms),
        "provider": vsphere_provider(plan),
        "too_large": too_large(plan),
        "mib_per_gib": MIB_PER_GIB,
        "vsphere": version.name,
        "sites": sites,
        "clusters": [cluster for site in sites for cluster in site.clusters],
        "site_of": {cluster["id"]: site for site in sites for cluster in site.clusters},
        "pods": [group.name for group in on_kubernetes(plan)],
        "drs_can_balance": version.value("drs_vgpu_balancing") == "automatable",
        "maintenance_can_move": version.value("maintenance_evacuates_vgpu") == "opt-in automatic",
        "gpus_of_no_group": sum(request.vms for request in requests if request.group == UNASSIGNED),
        "other_vms": other_vms(plan.sized.hardware.other_vms),
    }


def vsphere_profiles(plan: Plan, vms: Iterable[Any]) -> dict[str, str]:
    """Return the assumed name in vSphere of each vGPU profile of these VMs, or classes of VMs."""
    names = {name for vm in vms if vm.profile for name in vgpus_named(vm.profile, vm.vgpus)}
    rows = {str(row["profile"]): gpu for gpu in plan.new_boards for row in plan.catalog.profiles_of(gpu)}
    boards = {name: rows.get(name, plan.new_boards[0]) for name in sorted(names)}
    return {name: vsphere_profile(plan.catalog, gpu, name) for name, gpu in boards.items()}


def subnets(plan: Plan, site: Site) -> dict[str, int]:
    """Network -> prefix of the smallest subnet that holds the hosts of a site in the last year that is planned."""
    own = {network.key: network.prefix for network in networks(plan) if network.site == site.name}
    return {"overlay": prefix(2 * site.hosts)} | own


def _sites(plan: Plan, vms: Sequence[Vms]) -> tuple[Site, ...]:
    here = {cluster_id(pool): [vm for vm in vms if vm.cluster == cluster_id(pool)] for pool in plan.pools}
    sites = []
    for name, id in site_ids(plan).items():
        clusters = (_cluster(plan, pool, here[cluster_id(pool)]) for pool in plan.pools if pool.site == name)
        sites.append(Site(id, name, tuple(clusters)))
    return tuple(sites)


def _cluster(plan: Plan, pool: Pool, vms: Sequence[Vms]) -> dict[str, Any]:
    return {name: getattr(pool, name) for name in FROM_POOL} | {
        "id": cluster_id(pool),
        "key": pool.id,
        "host_names": [host_name(pool, number) for number in range(1, pool.hosts + 1)],
        "gpus": [room.gpus for room in pool.rooms],
        "each_host": gpus_by_host(plan, pool.rooms),
        # admission control allows at most one fewer than the hosts
        "tolerated": min(plan.scenario.availability.host_failures, pool.hosts - 1),
        "used": [at for at, host in enumerate(pool.placement) if host],
        "spare": [at for at in range(pool.hosts) if not pool.placement[at]],
        "mig_hosts": list(_mig_hosts(plan, pool)),
        "vms": [vm for vm in vms if not vm.client],
        "vgpu_vms": [vm for vm in vms if "vgpu" in vm.kind],
        "pinned_vms": [vm for vm in vms if vm.pinned],
    }


def _mig_hosts(plan: Plan, pool: Pool) -> Iterator[str]:
    sliced = {group.id for group in plan.groups if group.backing == "mig"}
    hosts: dict[int, list[int]] = {}
    for at, gpus in enumerate(gpus_of(pool, sliced), 1):
        if gpus:
            hosts.setdefault(gpus, []).append(at)
    for gpus, numbers in hosts.items():
        words = ", ".join(f"{run[0]} to {run[-1]}" if len(run) > 1 else str(run[0]) for run in runs(numbers))
        key = "terraform.mig host" if len(numbers) == 1 else "terraform.mig hosts"
        yield said(key, numbers=words, cluster=cluster_id(pool), gpus=gpus)


def terraform_files(plan: Plan, given: Mapping[str, Any]) -> dict[str, str]:
    """Path -> text of the Terraform files of both flavours; the second only where its provider supports the version of vSphere."""
    vcf = foundation(plan)
    both = dict(given) | {"foundation": vcf}
    files = {"README.md": written("terraform.md", both)}
    files |= _vsphere(both, "vsphere", made=True)
    files["vsphere/README.md"] = written("vsphere/README.md", both | _flavour(made=True))
    if vcf:
        domain = both | _domain(plan, vcf, given)
        files |= {f"vcf/{name}": written(f"vcf/{name}", domain) for name in VCF_FILES}
        files["vcf/versions.tf"] = written("versions.tf", domain)
        files["vcf/README.md"] = written("vcf/README.md", domain)
        files |= _vsphere(both, "vcf/workloads", made=False)
    return files


def _flavour(*, made: bool) -> dict[str, Any]:
    """Return the differences between creating clusters and switches here and using those of the workload domain."""
    return {"made": made, "there": "" if made else "data."}


def _vsphere(both: Mapping[str, Any], folder: str, *, made: bool) -> dict[str, str]:
    provider = {"provider_name": "vSphere", "provider_key": "vsphere", "taken_for": both["vsphere"]}
    shown = {**both, **_flavour(made=made), **provider}
    empty = {"vms.tf": not shown["vms"], "network.tf": not (made or shown["rdma_switches"] or shown["vms"])}
    names = [name for name in VSPHERE_FILES if not empty.get(name)]
    files = {f"{folder}/{name}": written(f"vsphere/{name}", shown) for name in names}
    return files | {f"{folder}/versions.tf": written("versions.tf", shown)}


def _domain(plan: Plan, found: Foundation, given: Mapping[str, Any]) -> dict[str, Any]:
    management = plan.management
    assert management is not None
    vcenter, nsx = management.of("vcenter", domain=True), management.of("nsx-manager", domain=True)
    return {
        **_flavour(made=False),
        "provider": found.provider,
        "provider_name": "VMware Cloud Foundation",
        "provider_key": "vcf",
        "taken_for": found.release,
        "subnets": {site.id: subnets(plan, site) for site in given["sites"]},
        "site_loop": {site.id: at for at, site in enumerate(given["sites"])},
        "vcenter_size": VCENTER_SIZES.get(vcenter.size, vcenter.size),
        "nsx_planned": nsx.size,
        "nsx_size": nsx.size if nsx.size in NSX_SIZES else NSX_SIZES[-1],
        "nsx_managers": nsx.nodes // management.domains,
        "least_hosts": LEAST_HOSTS[plan.vsan],
    }
