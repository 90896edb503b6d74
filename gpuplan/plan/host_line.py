"""The host line: a GPU host that can be ordered, with the rule behind each of its parts.

Stated parts are shown as stated, with a check that they suffice. Processor and memory sizes are those makers submitted.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from gpuplan.catalog import Catalog
from gpuplan.facts import Brief, Fact, own_rows, weakest
from gpuplan.models.host_line import ordered_cores, ordered_disks, ordered_memory_gib
from gpuplan.models.management import share_of_host, vsan_raw_gb
from gpuplan.plan.fabric import Cabling
from gpuplan.plan.hardware import boards, server_of
from gpuplan.plan.hosts import Pool
from gpuplan.plan.inputs import derived, resting_on, sources_of
from gpuplan.plan.prices import catalog_factor, sockets, stated_or
from gpuplan.plan.trail import Given, Line, Trail
from gpuplan.scenario import Scenario, other_vms
from gpuplan.wording import amount, number, said, spanned, stated_percent, told, watts

ITEM = "gpu-host"
"""Planning values of a host."""
TOO_LITTLE, NOT_SOLD = "too little", "not sold"
"""Possible faults of a part."""
WORDS: Mapping[tuple[str, str], Mapping[str, str]] = {
    (row["key"], row["when"]): row for row in own_rows("words/host_parts")
}
"""(key, case) of a part -> its name, size, rule and sources."""


class HostPart(NamedTuple):
    """One part of a host to order."""

    key: str
    name: str
    size: str
    rule: str
    """Derivation of the size, with the numbers."""
    basis: str
    sources: tuple[str, ...]
    line: str = ""
    """Key of the line that explains it."""
    short: str = ""
    """Fault of the part: ``too little`` of a stated size, or a size that is ``not sold``."""


@dataclass(frozen=True, slots=True, repr=False)
class HostLine(Brief):
    """A new GPU host, part by part."""

    hosts: int
    """New hosts of this kind."""
    parts: tuple[HostPart, ...]
    cores: int
    """Of each processor, ordered or stated."""
    memory_gib: int

    @property
    def short(self) -> tuple[HostPart, ...]:
        """Parts that are too little as stated, or not sold."""
        return tuple(part for part in self.parts if part.short)


class Sizes:
    """Sizes of host parts in the catalog, and the shares that hypervisor and vSAN reserve."""

    def __init__(self, scenario: Scenario, catalog: Catalog, vsan: bool) -> None:
        self.catalog, self.vsan = catalog, vsan
        rows = catalog.rows("host_examples")
        self.sources = tuple(dict.fromkeys(source for row in rows for source in row.sources))
        self.cores = tuple(
            sorted({self.value("least_cores_per_socket"), *(r["cores_per_socket"] for r in rows)})
        )
        self.memory = tuple(sorted({row["memory_gib"] for row in rows}))
        self.ratio = stated_or(scenario, "hardware.vcpus_per_core", self.fact("vcpus_per_core"))
        kept = [self.fact("hypervisor_share"), *[self.fact("vsan_cpu_share")] * vsan]
        share = sum(float(fact.value) for fact in kept)
        self.kept_cores = resting_on(kept, "host_line/kept_share", share, keepers=self.keepers)
        self.kept_memory = self.fact("hypervisor_share")
        none = derived("host_line/kept_gib", 0)
        self.kept_gib = self.fact("vsan_memory_gib") if vsan else none

    @property
    def keepers(self) -> str:
        """Users of reserved cores, with the share of vSAN."""
        share = self.fact("vsan_cpu_share")
        value, low, high = (stated_percent(float(x or 0)) for x in (share.value, share.low, share.high))
        return said("host.keepers", share=value, low=low, high=high) if self.vsan else "ESXi"

    def fact(self, name: str) -> Fact:
        """A planning value of a host."""
        return self.catalog.assumptions[ITEM].fact(name)

    def value(self, name: str) -> int:
        """The same as a whole number."""
        return int(self.fact(name).value)

    def sold(self, what: str) -> Fact:
        """The sizes as a fact, so that a line can name them."""
        sizes = ", ".join(map(str, getattr(self, what)))
        return Fact(
            f"host_line/{what}_sold", sizes, "", None, None, "measured", self.sources, "table host_examples"
        )

    def order(
        self, trail: Trail, key: str, inputs: Given, sold: Sequence[int], *, when: str = ""
    ) -> tuple[Line, int]:
        """The line of the cores or the memory to order, the next larger of the sizes that are sold; and that size."""
        what, function = ("cores", ordered_cores) if "sockets" in inputs else ("memory", ordered_memory_gib)
        name = "sizes" if what == "cores" else "sizes_gib"
        values: dict[str, Any] = {name: sold, **{parameter: fact.value for parameter, fact in inputs.items()}}
        ordered = function(**values)
        return trail.record(key, function, ordered, {**inputs, name: self.sold(what)}, when=when), ordered

    def words(self) -> dict[str, str]:
        """Words that rules of several parts have in common."""
        return {
            "ratio": ranged(self.ratio),
            "kept": stated_percent(float(self.kept_memory.value)),
            "keepers": self.keepers,
            "vsan": said("host.vsan memory", gib=self.kept_gib.value) if self.vsan else "",
            "disk": number(self.value("disk_gb") / 1000),
            "next": said("host.next"),
        }

    def part(
        self,
        key: str,
        when: str,
        words: Mapping[str, object],
        behind: Sequence[Fact | Line] = (),
        line: str = "",
        short: str = "",
    ) -> HostPart:
        """Return a part as its table words it, known no better than its inputs."""
        row = WORDS[key, when]
        cited = (*(s for fact in behind for s in fact.sources), *sources_of(self.catalog, row["sources"]))
        return HostPart(
            key,
            row["name"],
            told(row["size"], words),
            told(row["rule"], words),
            weakest(fact.basis for fact in behind) if behind else "derived",
            tuple(dict.fromkeys(cited)),
            line,
            short,
        )


def host_line(
    trail: Trail,
    scenario: Scenario,
    catalog: Catalog,
    pools: Sequence[Pool],
    beside: tuple[int, float],
    fabric: Cabling,
    peak_w: float,
) -> HostLine:
    """Size a new GPU host; ``beside`` is (vCPUs, memory) of platform VMs on each host, in addition to group VMs."""
    hosts = sum(pool.hosts - pool.existing_hosts for pool in pools)
    ordered = _Ordered(trail, scenario, catalog, pools, beside)
    processors, cores = ordered.processors()
    memory, memory_gib = ordered.memory()
    parts = (
        *ordered.bought(),
        processors,
        memory,
        *ordered.connected(fabric),
        ordered.data(hosts),
        ordered.supplies(peak_w),
    )
    return HostLine(hosts, parts, cores, memory_gib)


class _Ordered:
    def __init__(
        self,
        trail: Trail,
        scenario: Scenario,
        catalog: Catalog,
        pools: Sequence[Pool],
        beside: tuple[int, float],
    ) -> None:
        self.trail, self.scenario, self.catalog = trail, scenario, catalog
        self.sizes = Sizes(scenario, catalog, scenario.hardware.storage == "vsan")
        self.vcpus, self.memory_gib = fullest(pools)
        self.beside = beside
        self.new = sum(pool.hosts - pool.existing_hosts for pool in pools)
        self.gpus = scenario.hardware.gpus_per_host
        self.gpu = catalog.gpus[scenario.hardware.gpu]

    def _stated(self, name: str) -> bool:
        """True if all VMs state this."""
        others = other_vms(self.scenario.hardware.other_vms)
        groups = [getattr(group, f"{name}_each") for group in self.scenario.groups]
        return bool(groups) and all(groups) and all(getattr(other, name) for other in others)

    def _behind(self, name: str) -> list[Fact]:
        paths = (f"groups.{group.id}.{name}" for group in self.scenario.groups)
        return [self.scenario.fact(path) for path in paths if self.scenario.get(path)]

    def _taken(self, value: float, unit: str, added: float) -> str:
        """Word the load of the fullest host."""
        return said(
            "host.load of platform" if added else "host.load", value=value + added, unit=unit, added=added
        )

    def bought(self) -> Iterator[HostPart]:
        """Chassis and GPUs."""
        server, count = server_of(self.scenario, self.catalog), boards(self.scenario, self.catalog)
        words = {"boards": count, "gpu": self.gpu.name}
        if server is None:
            yield self.sizes.part("chassis", "open", words)
        else:
            height = server.value("rack_units_u")
            rack = said("host.no height") if height is None else amount(height, "U")
            yield self.sizes.part("chassis", "", {"server": server.name, "rack": rack})
        yield self.sizes.part("gpus", "", words)

    def processors(self) -> tuple[HostPart, int]:
        """Processors, and cores of each."""
        sizes, added = self.sizes, self.beside[0]
        cpus, offered = sockets(self.scenario, self.catalog), self.scenario.hardware.vcpus_per_host
        when, inputs = self._asked_cores()
        stated = self.scenario.cost.cores_per_socket
        sold = sizes.cores if stated is None else ()
        line, cores = sizes.order(self.trail, "host_line.cores", inputs | {"sockets": cpus}, sold, when=when)
        words = sizes.words() | {
            "sockets": cpus.value,
            "taken": self._taken(self.vcpus, "vCPUs", added),
            "per_gpu": ranged(sizes.fact("cores_per_gpu")),
            "gpus": self.gpus,
            "offered": number(offered or 0),
            "needed": cores,
            "cores": stated or cores,
        }
        behind: list[Fact | Line] = [line]
        short = TOO_LITTLE if offered and self.vcpus + added > offered else ""
        if stated is not None:
            when, behind = f"{when} stated".strip(), [self.scenario.fact("cost.cores_per_socket"), line]
            short = short or TOO_LITTLE * (not offered and stated < cores)
        elif cores > max(sold):
            short, words["next"] = short or NOT_SOLD, said("host.beyond", most=max(sold))
        return sizes.part("processors", when, words, behind, line.key, short), stated or cores

    def _asked_cores(self) -> tuple[str, dict[str, Fact]]:
        """Name the rule that sizes the processors, with its inputs: a host's stated offer, its VMs, else its GPUs."""
        sizes, vcpus = self.sizes, float(self.vcpus + self.beside[0])
        if self.scenario.hardware.vcpus_per_host:
            return "offered", {
                "vcpus": self.scenario.fact("hardware.vcpus_per_host"),
                "vcpus_per_core": sizes.ratio,
            }
        per_gpu, usual = sizes.fact("cores_per_gpu"), catalog_factor(self.catalog, "cores_per_socket")
        by_gpu = float(per_gpu.value) * self.gpus
        if (self._stated("vcpus") and self.new) or vcpus > by_gpu:
            behind = self._behind("vcpus_each") or [per_gpu]
            need = resting_on(behind, "host_line/vcpus", vcpus)
            return "", {"vcpus": need, "vcpus_per_core": sizes.ratio, "kept_share": sizes.kept_cores}
        least = float(usual.value) * int(sockets(self.scenario, self.catalog).value)
        if by_gpu >= least or self.scenario.cost.cores_per_socket:
            return "by GPU", {"vcpus": resting_on([per_gpu], "host_line/cores", by_gpu, "cores by GPUs")}
        return "usual", {"vcpus": resting_on([usual], "host_line/cores", least, "usual cores")}

    def memory(self) -> tuple[HostPart, int]:
        """Memory modules and their size."""
        sizes, added = self.sizes, self.beside[1]
        gpus_gib = self.gpus * float(self.gpu.fact("memory_gib").value)
        multiple = sizes.fact("memory_per_gpu_memory")
        gib, taken = self.memory_gib + added, self._taken(self.memory_gib, "GB", added)
        words = sizes.words() | {"taken": taken, "multiple": ranged(multiple), "gpus_gib": number(gpus_gib)}
        behind = self._behind("memory_gib_each")
        when = "" if gib else "by GPU"
        if offered := self.scenario.hardware.memory_gib_per_host:
            stated = [self.scenario.fact("hardware.memory_gib_per_host"), *behind]
            words |= {"stated": number(offered), "by_gpu": number(round(gpus_gib * float(multiple.value)))}
            return sizes.part("memory", "stated", words, stated, short=TOO_LITTLE * (gib > offered)), offered
        inputs = {
            "vms_gib": resting_on(behind or [multiple], "host_line/vms_gib", float(gib), taken=taken),
            "gpus_gib": resting_on([self.gpu.fact("memory_gib")], "host_line/gpus_gib", gpus_gib),
            "per_gpu_memory": multiple,
            "kept_share": sizes.kept_memory,
            "kept_gib": sizes.kept_gib,
        }
        server = server_of(self.scenario, self.catalog)
        holds = int((server and server.value("max_memory_gb")) or 0)
        sold = sizes.memory if not holds else (*(size for size in sizes.memory if size < holds), holds)
        line, ordered = sizes.order(self.trail, "host_line.memory", inputs, sold)
        words["memory"] = number(ordered)
        short = NOT_SOLD * (ordered > max(sold))
        if short:
            words["next"] = said("host.beyond server" if holds else "host.beyond memory", most=max(sold))
        return sizes.part("memory", when, words, [line], line.key, short), ordered

    def connected(self, fabric: Cabling) -> Iterator[HostPart]:
        """List adapters by the network plan, and the boot device of the host."""
        link = self.scenario.network.link_gbit_s
        adapters = fabric.ports_of(self.scenario.hardware.of).adapters
        yield self.sizes.part("adapters", "", {"adapters": adapters, "link": link})
        boot = self.sizes.fact("boot_disks")
        yield self.sizes.part("boot", "", {"boot": boot.value}, [boot])

    def data(self, hosts: int) -> HostPart:
        """Data disks of vSAN, with the stated capacity."""
        sizes, usable = self.sizes, self.scenario.cost.storage_tb
        if not sizes.vsan:
            return sizes.part("data", "", {})
        least, disk = sizes.fact("least_disks"), sizes.fact("disk_gb")
        words = sizes.words() | {"disks": least.value}
        if not usable or hosts < 2:
            return sizes.part("data", "unsized", words, [least, disk])
        raw_gb = vsan_raw(self.catalog, usable * 1000)
        of_host = share_of_host(float(raw_gb[0].value), hosts=hosts)
        share = resting_on(raw_gb, "host_line/raw_gb", of_host)
        line = self.trail.compute("host_line.disks", ordered_disks, raw_gb=share, disk_gb=disk, least=least)
        words |= {"disks": line.value, "usable": number(usable), "hosts": hosts}
        words |= {"raw": number(round(float(raw_gb[0].value) / 1000, 1))}
        return sizes.part("data", "vsan", words, [line], line.key)

    def supplies(self, peak_w: float) -> HostPart:
        """Size the power supplies, and check that one side of them carries the host."""
        server, peak = server_of(self.scenario, self.catalog), watts(peak_w)
        ratings = [server.facts.get(name) for name in ("psu_count", "psu_w")] if server else []
        facts = [fact for fact in ratings if fact is not None]
        if len(facts) < 2:
            return self.sizes.part("supplies", "open", {"peak": peak})
        count, together = int(facts[0].value), float(facts[1].value)
        words = {"supplies": count, "watts": watts(together), "half": watts(together / 2), "peak": peak}
        return self.sizes.part("supplies", "", words, facts, short=TOO_LITTLE * (together / 2 < peak_w))


def processor_cores(scenario: Scenario, catalog: Catalog, line: HostLine | None) -> Fact:
    """Cores of a processor that licences are counted for: as stated, as ordered, else the planning value."""
    usual = catalog_factor(catalog, "cores_per_socket")
    if scenario.cost.cores_per_socket or line is None or not line.hosts or line.cores == usual.value:
        return stated_or(scenario, "cost.cores_per_socket", usual)
    part = next(part for part in line.parts if part.key == "processors")
    return replace(
        usual,
        value=line.cores,
        low=min(float(usual.low or 0), line.cores),
        high=max(float(usual.high or 0), line.cores),
        basis=part.basis,
        sources=part.sources,
        note=said("host.to order"),
    )


def ranged(fact: Fact) -> str:
    """A planning value with its range, where it has one."""
    if fact.low is None or fact.high is None:
        return number(fact.value)
    ends = spanned(number(fact.low), number(fact.high))
    return said("wording.with range", value=number(fact.value), range=ends)


def vsan_raw(catalog: Catalog, disk_gb: float, memory_gb: float = 0.0) -> tuple[Fact, ...]:
    """Return the raw capacity of vSAN for this disk and memory, and the facts behind it."""
    item = catalog.assumptions["management-domain"]
    shares = [item.fact(name) for name in ("vsan_redundancy", "vsan_reserve_share", "growth_share")]
    redundancy, reserve, growth = (float(fact.value) for fact in shares)
    raw = vsan_raw_gb(
        disk_gb, memory_gb=memory_gb, redundancy=redundancy, reserve_share=reserve, growth_share=growth
    )
    return resting_on(shares, "host_line/vsan_raw_gb", raw), *shares


def fullest(pools: Sequence[Pool]) -> tuple[int, float]:
    """(vCPUs, memory) of the VMs on the fullest new host, each on its own."""
    vcpus, memory = 0, 0.0
    for pool in pools:
        sizes = {request.group: (request.vcpus, request.memory_gib) for request in pool.requests}
        if not any(map(any, sizes.values())):
            continue
        for host in pool.placement[pool.existing_hosts :]:
            vms = [sizes[group] for group, _ in {(s.group, s.vm) for load in host for s in load.slots}]
            vcpus = max(vcpus, sum(vm[0] for vm in vms))
            memory = max(memory, sum(vm[1] for vm in vms))
    return vcpus, memory
