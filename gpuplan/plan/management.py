"""The management domain: its appliances by their published sizes, and the hosts that carry them.

The sizes are published for VCF 9.1. Without its own, an older release uses them, which is an assumption.
"""

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from gpuplan.catalog import Catalog, Row
from gpuplan.facts import Brief, Fact
from gpuplan.models import cost
from gpuplan.models.host_line import ordered_disks
from gpuplan.models.management import domain_hosts, share_of_host, vsan_raw_gb
from gpuplan.plan.access import GroupPlan
from gpuplan.plan.host_line import HostPart, Sizes
from gpuplan.plan.hosts import Pool
from gpuplan.plan.inputs import derived, resting_on
from gpuplan.plan.trail import Inputs, Line, Trail
from gpuplan.scenario import Scenario, other_vms
from gpuplan.wording import NAMES, amount, number, said

ITEM = "management-domain"
"""Planning values of the domain."""
SIZED_FOR = (9, 1)
"""Release for which sizes are published."""
WITHOUT = {
    "none": ("vcf-operations", "license-server", "vcf-automation"),
    "operations": ("vcf-automation",),
    "operations-automation": (),
}
"""Extent of the deployment -> components that it leaves out."""
SIZES = NAMES["size of an appliance"]
"""Size of an appliance, as its maker calls it -> its name."""


@dataclass(frozen=True, slots=True)
class Appliance:
    """VMs of one kind."""

    id: str
    name: str
    size: str
    nodes: int
    vcpus: int
    """Total vCPUs of all nodes, like memory and disk."""
    memory_gb: float
    disk_gb: float
    vcpus_each: int
    memory_gb_each: float
    on_gpu_hosts: bool
    """True if it runs on the GPU cluster, not in the management domain."""
    basis: str
    sources: tuple[str, ...]

    def fact(self, name: str, unit: str) -> Fact:
        """A total of its nodes as a fact."""
        note, key = (
            f"{self.nodes} x {self.name} {SIZES.get(self.size, self.size)}".rstrip(),
            f"domain/{self.id}_{name}",
        )
        return Fact(key, getattr(self, name), unit, None, None, self.basis, self.sources, "", note)


@dataclass(frozen=True, slots=True, repr=False)
class ManagementDomain(Brief):
    """The management domain of a design."""

    model: str
    size: str
    domains: int
    """Workload domains of the design, each with its own vCenter."""
    appliances: tuple[Appliance, ...]
    vcpus: int
    memory_gb: float
    disk_gb: float
    raw_gb: int
    """Capacity of vSAN, else of the external storage."""
    needed_hosts: int
    hosts: int
    """Hosts to buy or in place, else those needed."""
    min_hosts: int
    parts: tuple[HostPart, ...]
    """One host."""
    cores: int
    """Of one host."""
    memory_gib: int
    short: str
    """Resources in which the stated hosts are too small; empty where they suffice."""

    def of(self, component: str, domain: bool = False) -> Appliance:
        """Return the appliance of a component, of a workload domain or of the management domain."""
        return next(a for a in self.appliances if a.id == f"{'domain-' * domain}{component}")

    @property
    def on_gpu_hosts(self) -> tuple[int, float]:
        """vCPUs and memory of one VM of each appliance that runs on the GPU cluster: no host carries two of one kind."""
        here = [a for a in self.appliances if a.on_gpu_hosts]
        return sum(a.vcpus_each for a in here), sum(a.memory_gb_each for a in here)


def management_domain(
    trail: Trail, scenario: Scenario, catalog: Catalog, pools: Sequence[Pool], groups: Sequence[GroupPlan]
) -> ManagementDomain | None:
    """The management domain; None without GPU hosts."""
    hosts = sum(pool.hosts for pool in pools)
    if not hosts:
        return None
    vms = sum(group.vms_placed for group in groups) + sum(
        other.vms for other in other_vms(scenario.hardware.other_vms)
    )
    return _Domain(trail, scenario, catalog).made(hosts, vms, len(pools))


def release(scenario: Scenario) -> tuple[int, int]:
    """Version of vSphere as (major, minor); (0, 0) for one with another name."""
    match = re.match(r"(\d+)\.(\d+)", scenario.platform.vsphere)
    return (int(match[1]), int(match[2])) if match else (0, 0)


class _Domain:
    def __init__(self, trail: Trail, scenario: Scenario, catalog: Catalog) -> None:
        self.trail, self.scenario, self.catalog = trail, scenario, catalog
        settings = self.given = scenario.management
        self.release = release(scenario)
        self.simple = settings.model == "simple" and self.release >= (9, 0)
        self.size = settings.size or "medium"
        self.vsan = (settings.storage or "vsan") == "vsan"
        self.sizes = Sizes(scenario, catalog, self.vsan)
        self.rows = catalog.rows("appliances")

    def made(self, hosts: int, vms: int, clusters: int) -> ManagementDomain:
        """Size the domain for these GPU hosts, VMs and clusters."""
        appliances = (*self._own(), *self._of_domains(hosts, vms, clusters), *self._on_gpu_hosts())
        vcpus, memory, disk = self._sums([a for a in appliances if not a.on_gpu_hosts])
        raw = self._raw(disk, memory)
        least = self._min_hosts()
        stated = self.scenario.cost.management_hosts or self.given.hosts
        parts, cores, memory_gib = self._host(vcpus, memory, raw, int(least.value))
        needed = self._needed(vcpus, memory, cores, memory_gib, least)
        short = ""
        if stated and stated < int(needed.value):
            short = self._short(stated, vcpus, memory, cores, memory_gib, least)
        return ManagementDomain(
            model="simple" if self.simple else "high-availability",
            size=self.size,
            domains=next(a.nodes for a in appliances if a.id == "domain-vcenter"),
            appliances=appliances,
            vcpus=int(vcpus.value),
            memory_gb=float(memory.value),
            disk_gb=float(disk.value),
            raw_gb=int(raw.value),
            needed_hosts=int(needed.value),
            hosts=stated or int(needed.value),
            min_hosts=int(least.value),
            parts=parts,
            cores=cores,
            memory_gib=memory_gib,
            short=short,
        )

    def _fact(self, name: str) -> Fact:
        return self.catalog.assumptions[ITEM].fact(name)

    def _appliance(self, row: Row, id: str, sets: int = 1, on_gpu_hosts: bool = False) -> Appliance:
        """Size sets of the VMs of a row; sizes published for another release make them an assumption."""
        nodes = int(row["nodes_simple" if self.simple else "nodes_high"] or 1) * sets
        return Appliance(
            id=id,
            name=row["name"],
            size="" if row["size"] == "fixed" else row["size"],
            nodes=nodes,
            vcpus=nodes * row["vcpus"],
            memory_gb=nodes * row["memory_gb"],
            disk_gb=nodes * (row["disk_gb"] or 0) + (row["data_gb"] or 0),
            vcpus_each=row["vcpus"],
            memory_gb_each=row["memory_gb"],
            on_gpu_hosts=on_gpu_hosts,
            basis=row.basis if self.release == SIZED_FOR else "assumed",
            sources=row.sources,
        )

    def _own(self) -> Iterator[Appliance]:
        """Appliances of the domain itself, by its size and availability."""
        column = "profile_simple" if self.simple else "profile_high"
        without = WITHOUT[self.given.services or "operations"]
        for row in self.rows:
            since = tuple(map(int, (row["from_version"] or "0.0").split(".")))
            taken = self.size in (row[column] or "").split()
            if row["component"] not in without and taken and self.release >= since:
                yield self._appliance(row, row["component"])

    def _of_domains(self, hosts: int, vms: int, clusters: int) -> Iterator[Appliance]:
        """vCenter and NSX Managers of the workload domains: the smallest that serve them, or several of the largest."""
        for component, served in (
            ("vcenter", {"hosts": hosts, "vms": vms}),
            ("nsx-manager", {"hosts": hosts, "clusters": clusters}),
        ):
            sizes = [row for row in self.rows if row["component"] == component and row["domain"]]
            fits = [row for row in sizes if all(row[name] >= many for name, many in served.items())]
            row = fits[0] if fits else sizes[-1]
            sets = max(math.ceil(many / row[name]) for name, many in served.items())
            yield self._appliance(row, f"domain-{component}", sets)

    def _on_gpu_hosts(self) -> Iterator[Appliance]:
        """NSX Edges and Supervisor, on the GPU cluster."""
        for component, size in (
            ("nsx-edge", self.given.edges),
            ("supervisor-control-plane", self.given.supervisor),
        ):
            for row in self.rows:
                if row["component"] == component and row["size"] == size:
                    yield self._appliance(row, component, on_gpu_hosts=True)

    def _sums(self, here: Sequence[Appliance]) -> list[Line]:
        """vCPUs, memory and disk of all appliances of the domain."""
        lines = []
        for name, unit in (("vcpus", "1"), ("memory_gb", "GB"), ("disk_gb", "GB")):
            facts = {a.id: a.fact(name, unit) for a in here}
            lines.append(self.trail.add_up(f"domain.{name}", cost.total_cost, facts))
        return lines

    def _raw(self, disk: Line, memory: Line) -> Line:
        """Capacity of the storage, swap of the memory included."""
        names = ("vsan_redundancy", "vsan_reserve_share", "growth_share")
        facts: Inputs = {"disk_gb": disk, "memory_gb": memory}
        facts |= {name.removeprefix("vsan_"): self._fact(name) for name in names}
        if not self.vsan:
            facts["redundancy"] = derived("domain/redundancy", 1.0)
            facts["reserve_share"] = derived("domain/reserve_share", 0.0)
        return self.trail.compute("domain.raw_gb", vsan_raw_gb, facts)

    def _min_hosts(self) -> Fact:
        """Fewest hosts of the domain, by release, availability and storage."""
        if self.simple and self.release >= SIZED_FOR:
            return self._fact("simple_vsan_min_hosts" if self.vsan else "simple_min_hosts")
        return self._fact("min_hosts")

    def _host(
        self, vcpus: Line, memory: Line, raw: Line, hosts: int
    ) -> tuple[tuple[HostPart, ...], int, int]:
        """Size one host, its cores and memory, so that the fewest hosts carry the domain, however many are bought."""
        sizes, left = self.sizes, hosts - 1
        words = sizes.words() | {"left": amount(left, "host"), "sockets": 2, "vcpus": number(vcpus.value)}
        processors, cores = self._processors(vcpus, hosts, words)
        words |= {"raw": number(round(float(raw.value) / 1000, 1))}
        part, memory_gib = self._memory(memory, hosts, words)
        if self.vsan:
            of_host = share_of_host(raw.value, hosts=hosts)
            disk_gb, least = sizes.value("disk_gb"), sizes.value("least_disks")
            words["disks"] = ordered_disks(of_host, disk_gb=disk_gb, least=least)
        data = sizes.part("management-data", "vsan" * self.vsan, words, [raw], raw.key)
        boot = sizes.fact("boot_disks")
        parts = (processors, part, sizes.part("boot", "", {"boot": boot.value}, [boot]), data)
        return parts, cores, memory_gib

    def _processors(self, vcpus: Line, hosts: int, words: dict[str, object]) -> tuple[HostPart, int]:
        """Processors of one host: as stated, or of the next size."""
        sizes, stated = self.sizes, self.given.cores_per_host
        if stated:
            fact = self.scenario.fact("management.cores_per_host")
            return sizes.part("management-processors", "stated", {"cores": stated}, [fact]), stated
        share = share_of_host(float(vcpus.value), hosts=hosts)
        inputs = {
            "vcpus": resting_on([vcpus], "domain/vcpus_each", share, hosts=hosts - 1),
            "sockets": derived("domain/sockets", 2),
            "vcpus_per_core": sizes.ratio,
            "kept_share": sizes.kept_cores,
        }
        line, cores = sizes.order(self.trail, "domain.cores", inputs, sizes.cores)
        return sizes.part("management-processors", "", words | {"cores": cores}, [line], line.key), 2 * cores

    def _memory(self, memory: Line, hosts: int, words: dict[str, object]) -> tuple[HostPart, int]:
        """Size the memory of one host: as stated, or of the next size; from VCF 9.1 on as the workbook requires."""
        sizes, stated = self.sizes, self.given.memory_gib_per_host
        if stated:
            fact = self.scenario.fact("management.memory_gib_per_host")
            return sizes.part("management-memory", "stated", {"memory": number(stated)}, [fact]), stated
        share = share_of_host(float(memory.value), hosts=hosts)
        inputs = {
            "vms_gib": resting_on([memory], "domain/memory_each", share, hosts=hosts - 1),
            "kept_share": sizes.kept_memory,
            "kept_gib": sizes.kept_gib,
        }
        line, ordered = sizes.order(self.trail, "domain.memory", inputs, sizes.memory)
        words = words | {"memory": number(ordered), "needed": number(share)}
        least = self._fact("least_memory_gib")
        if self.release >= SIZED_FOR and int(least.value) > ordered:
            words |= {"memory": number(least.value)}
            return sizes.part("management-memory", "least", words, [least], line.key), int(least.value)
        return sizes.part("management-memory", "", words, [line], line.key), ordered

    def _offered(self, cores: int, memory_gib: int) -> tuple[float, float]:
        """vCPUs and memory that one host gives to its VMs."""
        sizes = self.sizes
        vcpus = cores * float(sizes.ratio.value) * (1 - float(sizes.kept_cores.value))
        memory = memory_gib * (1 - float(sizes.kept_memory.value)) - float(sizes.kept_gib.value)
        return vcpus, max(memory, 1.0)

    def _needed(self, vcpus: Line, memory: Line, cores: int, memory_gib: int, least: Fact) -> Line:
        """Hosts that the appliances need."""
        sizes, (host_vcpus, host_memory) = self.sizes, self._offered(cores, memory_gib)
        by_cores, by_gib = (sizes.ratio, sizes.kept_cores), (sizes.kept_memory, sizes.kept_gib)
        offered = resting_on(by_cores, "domain/host_vcpus", round(host_vcpus, 6), cores=cores)
        gives = resting_on(by_gib, "domain/host_memory_gb", round(host_memory, 6), gib=memory_gib)
        inputs: Inputs = {"vcpus": vcpus, "memory_gb": memory, "host_vcpus": offered, "host_memory_gb": gives}
        inputs |= {"min_hosts": least, "spare_hosts": self._fact("spare_hosts")}
        return self.trail.compute("domain.hosts", domain_hosts, inputs)

    def _short(self, hosts: int, vcpus: Line, memory: Line, cores: int, memory_gib: int, least: Fact) -> str:
        """Name the resources in which the stated hosts are too small."""
        host_vcpus, host_memory = self._offered(cores, memory_gib)
        left = hosts - 1
        short = [said("host.least", least=least.value)] * (hosts < int(least.value))
        for what, need, offers in (("vCPUs", vcpus, host_vcpus), (said("host.memory"), memory, host_memory)):
            if left * offers < float(need.value):
                words = {"left": math.floor(left * offers), "need": need.value, "what": what}
                short.append(said("host.too few left", **words))
        return "; ".join(short)
