"""The bill of materials: what a design is made of, how many of each, by which rule, and what one costs.

Counts follow from the hosts of each pool, so that the same rules say what is bought when a design grows.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gpuplan.catalog import Catalog
from gpuplan.facts import Fact, derived
from gpuplan.models import cost
from gpuplan.models.licences import licensed_cores, licensed_sockets
from gpuplan.plan.fabric import Cabling, Switches, switches_for
from gpuplan.plan.hosts import Pool
from gpuplan.plan.prices import ANY_HOST, LARGE_HOST, Price, PriceList, catalog_factor, stated_or
from gpuplan.plan.trail import Line, Trail
from gpuplan.scenario import Scenario
from gpuplan.wording import number

DOMAIN = "Workload domain"
DOMAIN_PRICES = {
    "management-hosts": ("management-host", "each", ANY_HOST),
    "compute-hosts": ("compute-host", "each", ANY_HOST),
    "storage": ("storage-tb", "tb"),
}
"""Material of the workload domain -> id of its price, per what it is, and what is taken instead."""
LICENCES = ("Platform licences", "GPU software")
"""Parts of the cost that get the discount of licences."""
VCENTER_HOSTS, NSX_HOSTS = 2000, 1024
"""Hosts that the largest vCenter Server and the largest NSX Manager serve, by the rule ``management-sizes``."""
GPU_LICENCES = {
    "year": ("nvaie-year", "gpu-year"),
    "5-years": ("nvaie-5-years", "gpu"),
    "perpetual": ("nvaie-perpetual", "gpu"),
}
"""Choice of the scenario -> id of the price, and per what it is."""


@dataclass(frozen=True, slots=True)
class Material:
    """One line of the bill of materials, on the day the design is installed."""

    key: str
    part: str
    """Part of the cost that it belongs to."""
    name: str
    item: str
    """Catalog item as table/id, or nothing."""
    quantity: float
    unit: str
    rule: str
    """How the quantity follows from the design, with the numbers."""
    status: str
    """``bought`` at once, ``yearly`` (paid every year), ``included``, ``there`` (nothing to pay) or ``to be sized``."""
    price: Price | None
    """Of one, before the discount; None if nothing is paid or nobody knows it."""
    discount: float
    cost: float | None
    """Of all of them, at once or for a year; None if it is not known."""
    sources: tuple[str, ...]

    @property
    def unknown(self) -> bool:
        """Whether it costs money that nobody knows."""
        return self.status in ("bought", "yearly") and self.price is None


class Counts:
    """How many of everything a design with some hosts in each pool has."""

    def __init__(
        self, scenario: Scenario, catalog: Catalog, pools: Sequence[Pool], fabric: Cabling | None
    ) -> None:
        self.scenario, self.catalog, self.fabric = scenario, catalog, fabric
        self.pools = pools
        gpu = catalog.gpus[scenario.hardware.gpu]
        self.per_board = int(gpu.value("gpus_per_board") or 1)
        self.boards_per_host = -(-scenario.hardware.gpus_per_host // self.per_board)
        self.existing = sum(pool.existing_hosts for pool in pools)
        self.sockets = _sockets(scenario, catalog)
        self.cores = stated_or(scenario, "cost.cores_per_socket", catalog_factor(catalog, "cores_per_socket"))
        self.least_cores = catalog.products["vcf"].fact("least_cores")
        self.cores_per_licence = catalog.products["vsphere"].fact("cores_per_licence")
        self.needs_licence = {pool.id for pool in pools if pool.gpu_mode == "vgpu"}

    def at_start(self) -> dict[str, int]:
        """Hosts of each pool on the day the design is installed."""
        return {pool.id: pool.hosts for pool in self.pools}

    def gpus(self, hosts: Mapping[str, int], licensed: bool = False) -> int:
        """GPUs of so many hosts of each pool; ``licensed`` counts those whose sharing takes a licence."""
        found = 0
        for pool in self.pools:
            if licensed and pool.id not in self.needs_licence:
                continue
            there = [room.gpus for room in pool.rooms[: pool.existing_hosts]]
            found += sum(there) + (hosts[pool.id] - len(there)) * self.scenario.hardware.gpus_per_host
        return found

    def of(self, hosts: Mapping[str, int]) -> dict[str, int]:
        """Key of a material -> how many of it there are with so many hosts of each pool."""
        total = sum(hosts.values())
        new = total - self.existing
        found = {
            "servers": new,
            "gpus": new * self.boards_per_host,
            "spare-gpus": self.scenario.cost.spare_gpus if total else 0,
            "adapters": new * (self.fabric.adapters if self.fabric else 0),
            "leaf": 0,
            "spine": 0,
            "host-cables": 0,
            "switch-cables": 0,
            "platform": self._platform(total),
            "gpu-software": self.gpus(hosts, licensed=True),
        }
        switches = self._switches(total)
        if switches is not None:
            shape = switches.shape
            found |= {
                "leaf": shape.leaves,
                "spine": shape.spines,
                "host-cables": shape.host_cables,
                "switch-cables": shape.uplink_cables + shape.peer_cables,
            }
        return found

    def spine(self, growth: Sequence[Mapping[str, int]]) -> tuple[str, str]:
        """Spine and its name in the first year that takes some; nothing if none does."""
        years = (self._switches(sum(hosts.values())) for hosts in growth)
        return next(((s.spine, s.spine_name) for s in years if s is not None and s.spine), ("", ""))

    def _switches(self, hosts: int) -> Switches | None:
        """Switches of so many hosts."""
        if self.fabric is None or self.fabric.switches is None:
            return None
        return switches_for(self.scenario, self.catalog, self.fabric, hosts)

    def _platform(self, hosts: int) -> int:
        """Cores or processor licences of so many hosts."""
        sockets, cores = int(self.sockets.value), int(self.cores.value)
        if self.scenario.cost.platform_licence == "socket":
            return licensed_sockets(
                hosts,
                sockets=sockets,
                cores_per_socket=cores,
                cores_per_licence=int(self.cores_per_licence.value),
            )
        return licensed_cores(
            hosts, sockets=sockets, cores_per_socket=cores, minimum_cores=int(self.least_cores.value)
        )


def _sockets(scenario: Scenario, catalog: Catalog) -> Fact:
    """Processors of a host: stated, of the server, or the planning value."""
    server = catalog.servers[scenario.hardware.server] if scenario.hardware.server else None
    known = server.facts.get("cpu_sockets") if server else None
    return stated_or(scenario, "cost.sockets", known or catalog_factor(catalog, "sockets"))


def bill(
    trail: Trail,
    scenario: Scenario,
    catalog: Catalog,
    prices: PriceList,
    counts: Counts,
    growth: Sequence[Mapping[str, int]],
) -> tuple[Material, ...]:
    """Everything that a design is made of; what only its growth takes is in it with none at the start."""
    made, hosts = _Bill(trail, scenario, prices), counts.at_start()
    many = counts.of(hosts)
    found = [*_hardware(made, scenario, catalog, counts, growth), _platform(made, counts, many["platform"])]
    if many["gpu-software"]:
        found.append(_gpu_software(made, scenario, catalog, many["gpu-software"]))
    return (*found, *_domain(made, scenario, catalog, counts, sum(hosts.values())))


class _Bill:
    """Makes the lines of the bill of materials, each with its price and, in the trail, its cost."""

    def __init__(self, trail: Trail, scenario: Scenario, prices: PriceList) -> None:
        self.trail, self.cost, self.prices = trail, scenario.cost, prices
        self.discounts = {
            name: scenario.fact(f"cost.{name}") for name in ("hardware_discount", "licence_discount")
        }

    def material(
        self,
        key: str,
        part: str,
        name: str,
        quantity: float,
        rule: str,
        status: str,
        price: Price | None,
        **more: Any,
    ) -> Material:
        """A line of the bill; ``more`` are its item, its unit, and its sources where they are not those of the price."""
        discount = "licence_discount" if part in LICENCES else "hardware_discount"
        paid = None if status == "included" else self._paid(key, name, quantity, price, discount)
        return Material(
            key=key,
            part=part,
            name=name,
            item=more.get("item", ""),
            quantity=quantity,
            unit=more.get("unit", "1"),
            rule=rule,
            status=status,
            price=price,
            discount=getattr(self.cost, discount),
            cost=paid,
            sources=more.get("sources") or (price.fact.sources if price else ("gpuplan-method",)),
        )

    def _paid(self, key: str, name: str, quantity: float, price: Price | None, discount: str) -> float | None:
        """Cost of a quantity, with its line; None without a price."""
        if price is None:
            return None
        line = self.trail.compute(
            f"cost.materials.{key}",
            cost.purchase_cost,
            words={"name": name, "less": " less {discount} of it" * (getattr(self.cost, discount) > 0)},
            quantity=derived(f"materials/{key}", quantity, "1", f"counted: {name}"),
            unit_price=price.fact,
            discount=self.discounts[discount],
        )
        return float(line.value)


def server_price(scenario: Scenario, catalog: Catalog) -> tuple[str, tuple[str, ...]]:
    """What the price of a GPU host without its GPUs is known by, and what is taken instead if it has none of its own.

    The quoted host stands for servers of its kind: two processors, and slots for few boards. A server for more boards, or for SXM
    modules, is another thing: its price stays unknown until somebody states it.
    """
    server = catalog.servers[scenario.hardware.server] if scenario.hardware.server else None
    per_board = int(catalog.gpus[scenario.hardware.gpu].value("gpus_per_board") or 1)
    boards = -(-scenario.hardware.gpus_per_host // per_board)
    usual_boards = float(catalog_factor(catalog, "usual_boards").value)
    if server is None:
        return (LARGE_HOST if boards > usual_boards else ANY_HOST), ()
    slots = server.value("max_gpus_double_wide")
    modules = server.value("max_gpus_sxm") is not None and slots is None
    usual = not modules and int(slots if slots is not None else boards) <= usual_boards
    return f"servers/{server.id}", (ANY_HOST,) if usual else ()


def _hardware(
    made: _Bill,
    scenario: Scenario,
    catalog: Catalog,
    counts: Counts,
    growth: Sequence[Mapping[str, int]],
) -> Iterator[Material]:
    """Servers, GPUs and the network of the GPU hosts."""
    many, years = counts.of(counts.at_start()), [counts.of(hosts) for hosts in growth]
    for key, part, name, price_key, rule in _hardware_rows(scenario, catalog, counts, growth, many):
        later = max(year[key] for year in years)
        if not many[key] and not later:
            continue
        if not many[key]:
            rule = f"none at the start, {later} for the growth"
        instead = server_price(scenario, catalog)[1] if key == "servers" else ()
        price = made.prices.price(price_key, name, "each", *instead)
        item = price_key if "/" in price_key else ""
        yield made.material(key, part, name, many[key], rule, "bought", price, item=item)


def _hardware_rows(
    scenario: Scenario,
    catalog: Catalog,
    counts: Counts,
    growth: Sequence[Mapping[str, int]],
    many: Mapping[str, int],
) -> Iterator[tuple[str, str, str, str, str]]:
    """Key, part of the cost, name, what its price is known by, and the rule by which it is counted."""
    gpu, fabric, link = catalog.gpus[scenario.hardware.gpu], counts.fabric, scenario.network.link_gbit_s
    named, new = scenario.hardware.server, many["servers"]
    server = catalog.servers[named].name if named else "Server of any make, without GPUs"
    there = f", {counts.existing} more are there already" if counts.existing else ""
    rule = f"one for each of the {new} new hosts{there}"
    yield "servers", "Servers", server, server_price(scenario, catalog)[0], rule
    board = f" of {counts.per_board} GPUs" if counts.per_board > 1 else ""
    rule = f"{counts.boards_per_host} boards{board} in each of {new} new hosts"
    yield "gpus", "GPUs", gpu.name, f"gpus/{gpu.id}", rule
    yield "spare-gpus", "Spares", f"{gpu.name}, spare", f"gpus/{gpu.id}", "as stated"
    adapter = f"Network adapter, two ports of {link} Gbit/s"
    rule = f"{fabric.adapters if fabric else 0} in each new host"
    yield "adapters", "Network", adapter, f"adapter-{link}g", rule
    if fabric is None or fabric.switches is None:
        return
    held, up = fabric.switches, number(fabric.switches.up_gbit_s)
    spine, spine_name = counts.spine(growth)
    hosts = fabric.gpu_hosts + fabric.compute_hosts
    rule = f"leaves in pairs, for {hosts} hosts with {fabric.ports.total} ports each"
    yield "leaf", "Network", held.leaf_name, f"switches/{held.leaf}", rule
    rule = f"spines, at most {number(fabric.max_oversubscription)}:1 oversubscription"
    yield "spine", "Network", spine_name, f"switches/{spine}", rule
    cable = f"Cable, {link} Gbit/s, host to leaf"
    yield "host-cables", "Network", cable, f"cable-{link}g", "one for each port of a host"
    cable = f"Cable, {up} Gbit/s, between switches"
    rule = "uplinks of the leaves, or links between the two leaves of the only pair"
    yield "switch-cables", "Network", cable, f"cable-{up}g", rule


PLATFORMS = {
    "vcf": ("VMware Cloud Foundation", "products/vcf", "vcf-core-year", "core-year"),
    "vvf": ("VMware vSphere Foundation", "products/vsphere", "vvf-core-year", "core-year"),
    "socket": (
        "VMware licences by the processor, perpetual",
        "products/vsphere",
        "platform-socket",
        "socket",
    ),
    "owned": ("VMware platform licence", "products/vsphere", "", "core-year"),
}
"""Choice of the scenario -> name, catalog item, what its price is known by, and per what it is."""


def _platform(made: _Bill, counts: Counts, licences: int) -> Material:
    """Platform licences of all hosts, those already there included: by the core, or by the processor."""
    choice, trail = made.cost.platform_licence, made.trail
    name, item, price_key, per = PLATFORMS[choice]
    sockets, cores = int(counts.sockets.value), int(counts.cores.value)
    held: dict[str, Fact | Line] = {
        "hosts": trail["totals.hosts"],
        "sockets": counts.sockets,
        "cores_per_socket": counts.cores,
    }
    least, covered = int(counts.least_cores.value), int(counts.cores_per_licence.value)
    if choice == "socket":
        each = f"{sockets} processors of {cores} cores, up to {covered} of them by one licence"
        trail.compute(
            "cost.licensed_sockets", licensed_sockets, held, cores_per_licence=counts.cores_per_licence
        )
    else:
        each = f"{sockets} processors x {max(least, cores)} cores, at least {least} for each"
        trail.compute("cost.licensed_cores", licensed_cores, held, minimum_cores=counts.least_cores)
    price = made.prices.price(price_key, name, per) if price_key else None
    rule = f"{trail['totals.hosts'].value} hosts x {each}"
    status = {"owned": "there", "socket": "bought"}.get(choice, "yearly")
    unit = "licence" if choice == "socket" else "core"
    return made.material(
        "platform", "Platform licences", name, licences, rule, status, price, item=item, unit=unit
    )


def included_years(scenario: Scenario, catalog: Catalog) -> int:
    """Years of GPU software that come with a board."""
    return int(catalog.gpus[scenario.hardware.gpu].value("nvaie_years") or 0)


def _gpu_software(made: _Bill, scenario: Scenario, catalog: Catalog, gpus: int) -> Material:
    """NVIDIA AI Enterprise: one licence for each physical GPU that is shared, those of a board with several each."""
    given = scenario.cost
    years = included_years(scenario, catalog)
    name = "NVIDIA AI Enterprise"
    rule = "one for each GPU of the hosts that share GPUs as vGPU or MIG, spare hosts included"
    sources = catalog.products["nvidia-ai-enterprise"].fact("licence_unit").sources
    status, price = "there", None
    if given.gpu_licence != "owned":
        key, per = GPU_LICENCES[given.gpu_licence]
        status = "yearly" if given.gpu_licence == "year" else "bought"
        if years:
            rule += f"; {years} years come with the board"
            status = "included"
        if years < given.years:
            price = made.prices.price(key, f"{name}, {given.gpu_licence.replace('-', ' ')}", per)
    if price:
        sources = price.fact.sources
    item = "products/nvidia-ai-enterprise"
    return made.material(
        "gpu-software",
        "GPU software",
        name,
        gpus,
        rule,
        status,
        price,
        item=item,
        unit="GPU",
        sources=sources,
    )


def _domain(
    made: _Bill, scenario: Scenario, catalog: Catalog, counts: Counts, hosts: int
) -> Iterator[Material]:
    """What the reference architecture puts around the GPU hosts: sized where a rule is published, else to be sized."""
    if not hosts:
        return
    given = scenario.cost
    cited = {row.id: row.sources for row in catalog.rows("rules")}

    def material(
        key: str,
        name: str,
        quantity: float,
        rule: str,
        status: str,
        sources: tuple[str, ...],
        unit: str = "1",
    ) -> Material:
        priced = DOMAIN_PRICES.get(key, ()) if status == "bought" else ()
        price = made.prices.price(priced[0], name, *priced[1:]) if priced else None
        return made.material(key, DOMAIN, name, quantity, rule, status, price, unit=unit, sources=sources)

    size = "medium" if hosts <= 400 else "large" if hosts <= 1000 else "x-large"
    included = "included" if given.platform_licence == "vcf" else "to be sized"
    domains, managers = math.ceil(hosts / VCENTER_HOSTS), math.ceil(hosts / NSX_HOSTS)
    rule = f"one for the workload domain; {size} serves {number(hosts)} hosts"
    if domains > 1:
        rule = f"one for each of {domains} workload domains: {size} serves {number(VCENTER_HOSTS)} hosts, not {number(hosts)}"
    sources = (*cited["workload-domain-vcenter"], *cited["management-sizes"])
    yield material("vcenter", f"vCenter Server, {size}", domains, rule, included, sources)

    rule = "a cluster of three for the first workload domain; later ones may share it"
    if managers > 1:
        rule = f"a cluster of three for every {number(NSX_HOSTS)} hosts"
    name, sources = (
        f"NSX Manager, {'large' if hosts > 128 else 'medium or large'}",
        cited["workload-domain-nsx"],
    )
    yield material("nsx-manager", name, 3 * managers, rule, included, sources)

    rule, sources = "one for the platform, in the management domain", cited["management-domain-hosts"]
    yield material("sddc-manager", "SDDC Manager", 1, rule, included, sources)

    rule = "one for management, storage, vMotion and NSX, and one for each PVRDMA port"
    rule += ", in each workload domain" * (domains > 1)
    switches = domains * (counts.fabric.distributed_switches if counts.fabric else 1)
    name, sources = "vSphere Distributed Switch", cited["workload-domain-vds"]
    yield material("distributed-switches", name, switches, rule, "included", sources)

    bought = given.management_hosts
    rule = f"{bought} stated" if bought else "at least 4, taken as there already"
    name, sources = "Host of the management domain", cited["management-domain-hosts"]
    status = "bought" if bought else "there"
    yield material("management-hosts", name, bought or 4, rule, status, sources, "host")

    compute = scenario.network.compute_hosts or 0
    rule = "as stated with the network" if compute else "CPU and memory of the VMs are sized separately"
    status = "to be sized" if not compute else "bought" if given.compute_hosts_bought else "there"
    name, sources = "Compute host, client of the GPU cluster", ("vmware-sharing-gpus-2020",)
    yield material("compute-hosts", name, compute, rule, status, sources, "host")

    rule = "as stated" if given.storage_tb else "the domain needs a shared storage allocation"
    status, sources = "bought" if given.storage_tb else "to be sized", cited["workload-domain-storage"]
    yield material("storage", "Shared storage", given.storage_tb, rule, status, sources, "TB")
