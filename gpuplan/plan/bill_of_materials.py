"""The bill of materials: what a design is made of, how many of each, by which rule, and what one costs.

Counts follow from the hosts of each pool, so that the same rules say what is bought when a design grows.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gpuplan.catalog import Catalog
from gpuplan.facts import Fact
from gpuplan.models import cost
from gpuplan.models.licences import licensed_cores, licensed_sockets
from gpuplan.plan.fabric import Cabling, Switches, switches_for
from gpuplan.plan.hosts import Pool
from gpuplan.plan.prices import ANY_HOST, LARGE_HOST, Price, PriceList, catalog_factor, stated_or
from gpuplan.plan.trail import Line, Trail
from gpuplan.scenario import Scenario
from gpuplan.wording import number

DOMAIN = "Workload domain"
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
    hosts = counts.at_start()
    many = counts.of(hosts)
    return (
        *_hardware(trail, scenario, catalog, prices, counts, growth),
        *_licences(trail, scenario, catalog, prices, counts, many),
        *_domain(trail, scenario, catalog, prices, counts, sum(hosts.values())),
    )


def _line(
    trail: Trail, scenario: Scenario, key: str, name: str, quantity: float, price: Price | None, discount: str
) -> float | None:
    """Cost of a quantity, with its line; None without a price."""
    if price is None:
        return None
    return float(
        trail.compute(
            f"cost.materials.{key}",
            name,
            price.fact.unit,
            cost.purchase_cost,
            "{quantity} x {unit_price_u}"
            + " less {discount} of it" * (scenario.get(discount) > 0)
            + " = {value_u}",
            quantity=_counted(f"materials/{key}", quantity, name),
            unit_price=price.fact,
            discount=scenario.fact(discount),
        ).value
    )


def _counted(key: str, quantity: float, name: str) -> Fact:
    """A quantity of the bill of materials as an input of its cost."""
    return Fact(key, quantity, "1", None, None, "derived", ("gpuplan-method",), "", f"counted: {name}")


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
    trail: Trail,
    scenario: Scenario,
    catalog: Catalog,
    prices: PriceList,
    counts: Counts,
    growth: Sequence[Mapping[str, int]],
) -> list[Material]:
    many, years = counts.of(counts.at_start()), [counts.of(hosts) for hosts in growth]
    given, fabric = scenario.hardware, counts.fabric
    gpu = catalog.gpus[given.gpu]
    server = catalog.servers[given.server] if given.server else None
    link = scenario.network.link_gbit_s
    server_key, instead = server_price(scenario, catalog)
    there = f", {counts.existing} more are there already" if counts.existing else ""
    board = f" of {counts.per_board} GPUs" if counts.per_board > 1 else ""
    rows: list[tuple[str, str, str, str, str, tuple[str, ...], str]] = [
        (
            "servers",
            "Servers",
            server.name if server else "Server of any make, without GPUs",
            server_key,
            "each",
            instead,
            f"one for each of the {many['servers']} new hosts{there}",
        ),
        (
            "gpus",
            "GPUs",
            gpu.name,
            f"gpus/{gpu.id}",
            "each",
            (),
            f"{counts.boards_per_host} boards{board} in each of {many['servers']} new hosts",
        ),
        ("spare-gpus", "Spares", f"{gpu.name}, spare", f"gpus/{gpu.id}", "each", (), "as stated"),
        (
            "adapters",
            "Network",
            f"Network adapter, two ports of {link} Gbit/s",
            f"adapter-{link}g",
            "each",
            (),
            f"{fabric.adapters if fabric else 0} in each new host",
        ),
    ]
    if fabric is not None and fabric.switches is not None:
        held = fabric.switches
        spine, spine_name = counts.spine(growth)
        rows += [
            (
                "leaf",
                "Network",
                held.leaf_name,
                f"switches/{held.leaf}",
                "each",
                (),
                f"leaves in pairs, for {fabric.gpu_hosts + fabric.compute_hosts} hosts with {fabric.ports.total} ports each",
            ),
            (
                "spine",
                "Network",
                spine_name,
                f"switches/{spine}",
                "each",
                (),
                f"spines, at most {number(fabric.max_oversubscription)}:1 oversubscription",
            ),
            (
                "host-cables",
                "Network",
                f"Cable, {link} Gbit/s, host to leaf",
                f"cable-{link}g",
                "each",
                (),
                "one for each port of a host",
            ),
            (
                "switch-cables",
                "Network",
                f"Cable, {number(held.up_gbit_s)} Gbit/s, between switches",
                f"cable-{number(held.up_gbit_s)}g",
                "each",
                (),
                "uplinks of the leaves, or links between the two leaves of the only pair",
            ),
        ]
    found = []
    for key, part, name, price_key, unit, instead, rule in rows:
        later = max(year[key] for year in years)
        if not many[key] and not later:
            continue
        if not many[key]:
            rule = f"none at the start, {later} for the growth"
        price = prices.price(price_key, name, unit, *instead)
        item = price_key if "/" in price_key else ""
        paid = _line(trail, scenario, key, name, many[key], price, "cost.hardware_discount")
        found.append(
            Material(
                key,
                part,
                name,
                item,
                many[key],
                "1",
                rule,
                "bought",
                price,
                scenario.cost.hardware_discount,
                paid,
                price.fact.sources if price else ("gpuplan-method",),
            )
        )
    return found


def _licences(
    trail: Trail,
    scenario: Scenario,
    catalog: Catalog,
    prices: PriceList,
    counts: Counts,
    many: Mapping[str, int],
) -> list[Material]:
    found = [_platform(trail, scenario, prices, counts, many["platform"])]
    if many["gpu-software"]:
        found.append(_gpu_software(trail, scenario, catalog, prices, many["gpu-software"]))
    return found


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


def _platform(trail: Trail, scenario: Scenario, prices: PriceList, counts: Counts, licences: int) -> Material:
    """Platform licences of all hosts, those already there included: by the core, or by the processor."""
    choice = scenario.cost.platform_licence
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
            "cost.licensed_sockets",
            "Processor licences",
            "1",
            licensed_sockets,
            "{hosts} hosts x {sockets} processors x {cores_per_socket} cores / {cores_per_licence}, rounded up = {value}",
            **held,
            cores_per_licence=counts.cores_per_licence,
        )
    else:
        each = f"{sockets} processors x {max(least, cores)} cores, at least {least} for each"
        trail.compute(
            "cost.licensed_cores",
            "Cores to license",
            "1",
            licensed_cores,
            "{hosts} hosts x {sockets} processors x {cores_per_socket} cores, at least {minimum_cores} each = {value}",
            **held,
            minimum_cores=counts.least_cores,
        )
    price = prices.price(price_key, name, per) if price_key else None
    return Material(
        "platform",
        "Platform licences",
        name,
        item,
        licences,
        "licence" if choice == "socket" else "core",
        f"{trail['totals.hosts'].value} hosts x {each}",
        {"owned": "there", "socket": "bought"}.get(choice, "yearly"),
        price,
        scenario.cost.licence_discount,
        _line(trail, scenario, "platform", name, licences, price, "cost.licence_discount"),
        price.fact.sources if price else ("gpuplan-method",),
    )


def included_years(scenario: Scenario, catalog: Catalog) -> int:
    """Years of GPU software that come with a board."""
    return int(catalog.gpus[scenario.hardware.gpu].value("nvaie_years") or 0)


def _gpu_software(
    trail: Trail, scenario: Scenario, catalog: Catalog, prices: PriceList, gpus: int
) -> Material:
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
            price = prices.price(key, f"{name}, {given.gpu_licence.replace('-', ' ')}", per)
    paid = None
    if status != "included":
        paid = _line(trail, scenario, "gpu-software", name, gpus, price, "cost.licence_discount")
    return Material(
        "gpu-software",
        "GPU software",
        name,
        "products/nvidia-ai-enterprise",
        gpus,
        "GPU",
        rule,
        status,
        price,
        given.licence_discount,
        paid,
        price.fact.sources if price else sources,
    )


def _domain(
    trail: Trail, scenario: Scenario, catalog: Catalog, prices: PriceList, counts: Counts, hosts: int
) -> list[Material]:
    """What the reference architecture puts around the GPU hosts: sized where a rule is published, else to be sized."""
    if not hosts:
        return []
    given = scenario.cost
    rules = {row.id: row for row in catalog.rows("rules")}
    size = "medium" if hosts <= 400 else "large" if hosts <= 1000 else "x-large"
    found = []

    def add(
        key: str,
        name: str,
        quantity: float,
        rule: str,
        status: str,
        sources: tuple[str, ...],
        unit: str = "1",
        priced: tuple[str, ...] = (),
    ) -> None:
        price = prices.price(priced[0], name, *priced[1:]) if priced else None
        paid = _line(trail, scenario, key, name, quantity, price, "cost.hardware_discount") if price else None
        found.append(
            Material(
                key,
                DOMAIN,
                name,
                "",
                quantity,
                unit,
                rule,
                status,
                price,
                given.hardware_discount,
                paid,
                sources,
            )
        )

    included = "included" if given.platform_licence == "vcf" else "to be sized"
    domains, managers = math.ceil(hosts / VCENTER_HOSTS), math.ceil(hosts / NSX_HOSTS)
    add(
        "vcenter",
        f"vCenter Server, {size}",
        domains,
        f"one for the workload domain; {size} serves {number(hosts)} hosts"
        if domains == 1
        else f"one for each of {domains} workload domains: {size} serves {number(VCENTER_HOSTS)} hosts, not {number(hosts)}",
        included,
        (*rules["workload-domain-vcenter"].sources, *rules["management-sizes"].sources),
    )
    add(
        "nsx-manager",
        "NSX Manager, " + ("large" if hosts > 128 else "medium or large"),
        3 * managers,
        "a cluster of three for the first workload domain; later ones may share it"
        if managers == 1
        else f"a cluster of three for every {number(NSX_HOSTS)} hosts",
        included,
        rules["workload-domain-nsx"].sources,
    )
    add(
        "sddc-manager",
        "SDDC Manager",
        1,
        "one for the platform, in the management domain",
        included,
        rules["management-domain-hosts"].sources,
    )
    add(
        "distributed-switches",
        "vSphere Distributed Switch",
        domains * (counts.fabric.distributed_switches if counts.fabric else 1),
        "one for management, storage, vMotion and NSX, and one for each PVRDMA port"
        + ", in each workload domain" * (domains > 1),
        "included",
        rules["workload-domain-vds"].sources,
    )
    buys = given.management_hosts
    add(
        "management-hosts",
        "Host of the management domain",
        buys or 4,
        f"{buys} stated" if buys else "at least 4, taken as there already",
        "bought" if buys else "there",
        rules["management-domain-hosts"].sources,
        "host",
        ("management-host", "each", ANY_HOST) if buys else (),
    )
    compute = scenario.network.compute_hosts
    buys_compute = bool(compute and given.compute_hosts_bought)
    add(
        "compute-hosts",
        "Compute host, client of the GPU cluster",
        compute or 0,
        "as stated with the network" if compute else "CPU and memory of the VMs are sized separately",
        "bought" if buys_compute else "there" if compute else "to be sized",
        ("vmware-sharing-gpus-2020",),
        "host",
        ("compute-host", "each", ANY_HOST) if buys_compute else (),
    )
    add(
        "storage",
        "Shared storage",
        given.storage_tb,
        "as stated" if given.storage_tb else "the domain needs a shared storage allocation",
        "bought" if given.storage_tb else "to be sized",
        rules["workload-domain-storage"].sources,
        "TB",
        ("storage-tb", "tb") if given.storage_tb else (),
    )
    return found
