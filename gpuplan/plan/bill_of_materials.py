"""The bill of materials: the items of a design, the quantity of each, the rule behind it, and the unit price.

Counts follow from the hosts of each pool, so the same rules size the purchases when a design grows.
"""

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from gpuplan.catalog import Catalog
from gpuplan.facts import Fact, own_rows
from gpuplan.models import cost
from gpuplan.models.licences import licensed_cores, licensed_sockets, ordered_licences
from gpuplan.plan.fabric import Cabling, switches_for
from gpuplan.plan.hardware import boards, gpus_per_board
from gpuplan.plan.hosts import Pool, whole_pools
from gpuplan.plan.inputs import derived, sources_of
from gpuplan.plan.management import SIZES, ManagementDomain
from gpuplan.plan.owned_licences import platform_years, software_years
from gpuplan.plan.prices import TERM_PRICES, Price, PriceList, server_price, sockets
from gpuplan.plan.requests import kind_room
from gpuplan.plan.sharing import version_order
from gpuplan.plan.switches import Switches
from gpuplan.plan.trail import Line, Trail
from gpuplan.scenario import HostKind, Scenario, slug
from gpuplan.wording import PART, TEXTS, in_words, number, said, told

DOMAIN = PART["Workload domain"]
LICENCES = (PART["Platform licences"], PART["GPU software"])
"""Parts of the cost that get the discount of licences."""
WORDS: Mapping[tuple[str, str], Mapping[str, str]] = {
    (row["key"], row["when"]): row for row in own_rows("words/materials")
}
"""(key, case) of a material -> its part of the cost, name, rule, status, price key, and sources."""
EXISTING_SOFTWARE = "gpu-software-existing"
"""Key of the material that licenses the GPUs of existing hosts."""
BY_CORE = ("vcf", "vvf")
"""Platform licences that are subscribed by the core."""
OF_KIND = ("servers", "memory", "gpus", "spare-gpus", "gpu-software")
"""Keys of the materials that each kind of hosts has, followed by ``@`` and its name for a further one."""
FIRST = "@"
"""The first kind of hosts, among the suffixes of the others."""
HARDWARE = ("adapters", "leaf", "spine", "host-cables", "switch-cables")


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
    """Derivation of the quantity from the design, with the numbers."""
    status: str
    """``bought`` at once, ``yearly`` (paid every year), ``included``, ``there`` (nothing to pay) or ``to be sized``."""
    price: Price | None
    """Unit price, before the discount; None if nothing is paid or it is not known."""
    price_key: str
    """Key of that price; empty if nothing is paid."""
    discount: float
    cost: float | None
    """Total cost, at once or for a year; None if it is not known."""
    sources: tuple[str, ...]

    @property
    def unknown(self) -> bool:
        """True if its price is unknown."""
        return self.status in ("bought", "yearly") and self.price is None


class OwnedHost(NamedTuple):
    """An existing host of the design."""

    kind: HostKind
    pool: str
    gpus: int


def _owned_hosts(
    scenario: Scenario, pools: Sequence[Pool], there: Mapping[str, Sequence[HostKind]]
) -> Iterator[OwnedHost]:
    """Existing hosts in the pools; of those with equal resources, in the order in which they are stated."""
    left = {pool: list(kinds) for pool, kinds in there.items()}
    for pool in pools:
        for room in pool.rooms[: pool.existing_hosts]:
            kinds = left[pool.kind]
            kind = next((kind for kind in kinds if kind_room(scenario, kind) == room), kinds[0])
            kinds.remove(kind)
            yield OwnedHost(kind, pool.kind, room.gpus)


class KindCounts:
    """Quantities of the items of the hosts of one kind."""

    def __init__(
        self,
        scenario: Scenario,
        catalog: Catalog,
        pools: Sequence[Pool],
        cores: Fact,
        there: Mapping[str, Sequence[HostKind]],
        memory_gib: int = 0,
    ) -> None:
        self.memory_gib = memory_gib  # of a new host, as ordered
        key, instead = server_price(scenario, catalog)
        self.price_keys = (key, *instead)
        self.scenario, self.catalog, self.pools, self.cores = scenario, catalog, pools, cores
        self.name = scenario.hardware.of
        self.kinds = frozenset(pool.kind for pool in pools)
        self.suffix = f"@{slug(self.name)}" if self.name else ""
        self.per_board = gpus_per_board(scenario, catalog)
        self.boards_per_host = boards(scenario, catalog)
        self.gpus_per_host = scenario.hardware.gpus_per_host
        self.sockets = sockets(scenario, catalog)
        self.owned = tuple(_owned_hosts(scenario, pools, there))
        self.existing = len(self.owned)
        self.needs_licence = {pool.kind for pool in pools if pool.gpu_mode == "vgpu"}

    def hosts(self, hosts: Mapping[str, int]) -> int:
        """Return the hosts of this kind among those of each pool."""
        return sum(count for pool, count in hosts.items() if pool in self.kinds)

    def gpus(self, hosts: Mapping[str, int]) -> int:
        """Return the GPUs of the hosts of each pool."""
        return sum(host.gpus for host in self.owned) + self.new_gpus(hosts, self.kinds & hosts.keys())

    def new_gpus(self, hosts: Mapping[str, int], pools: Collection[str]) -> int:
        """Return the GPUs of new hosts of some pools."""
        existing = sum(host.pool in pools for host in self.owned)
        return (sum(hosts[pool] for pool in pools) - existing) * self.gpus_per_host

    def unlicensed(self, year: int) -> int:
        """Return the GPUs of existing hosts whose sharing takes licences that are not owned in a year from 0."""
        shared = (host for host in self.owned if host.pool in self.needs_licence)
        return sum(
            host.gpus for host in shared if software_years(self.scenario, self.catalog, host.kind) <= year
        )

    def licensed(self, year: int) -> int:
        """Return the existing hosts whose platform licences are owned in a year from 0."""
        return sum(platform_years(self.scenario, self.catalog, host.kind) > year for host in self.owned)


class Counts:
    """Quantities of all items of a design with given hosts in each pool."""

    def __init__(
        self, scenario: Scenario, catalog: Catalog, kinds: Sequence[KindCounts], fabric: Cabling, remote: bool
    ) -> None:
        self._built: dict[int, Switches | None] = {}
        self.remote = remote  # True if VMs on hosts without GPUs use these over the network
        self.scenario, self.catalog, self.fabric = scenario, catalog, fabric
        self.kinds = tuple(kinds)
        self.pools = [pool for kind in kinds for pool in kind.pools]
        self.cores, self.sockets = kinds[0].cores, kinds[0].sockets
        boards = {kind.scenario.hardware.gpu: kind.suffix for kind in reversed(kinds)}
        self.boards = frozenset(boards.values())  # the first kind of hosts with each board
        self.management_hosts = scenario.cost.management_hosts
        self.least_cores = catalog.products["vcf"].fact("least_cores")
        self.least_order = catalog.products["vcf"].fact("least_order_cores")
        self.cores_per_licence = catalog.products["vsphere"].fact("cores_per_licence")
        self.ai_add_on = _ai_add_on(scenario, catalog)
        self.owned = tuple(host for kind in kinds for host in kind.owned)
        self.existing = len(self.owned)
        self.memory_gib: dict[str, int] = {}
        """Key of a server's price -> memory of a host in it: the least of the kinds that share the price."""
        for kind in kinds:
            key = kind.price_keys[0]
            self.memory_gib[key] = min(kind.memory_gib, self.memory_gib.get(key, kind.memory_gib))
        beyond = PriceList(scenario, catalog).beyond_gib
        more = {
            kind: beyond(kind.memory_gib, self.memory_gib[kind.price_keys[0]], *kind.price_keys)
            for kind in kinds
        }
        self.more_gib = {kind.suffix: gib for kind, gib in more.items() if gib}
        self.needs_licence = {pool for kind in kinds for pool in kind.needs_licence}

    def sharing_price(self) -> dict[str, KindCounts]:
        """Key of its own price -> further kind of hosts that shares the price of a server with other memory."""
        memory: dict[str, set[int]] = {}
        for kind in self.kinds:
            memory.setdefault(kind.price_keys[0], set()).add(kind.memory_gib)
        further = ((kind.price_keys[0], kind) for kind in self.kinds[1:] if self.more_gib)
        return {key + kind.suffix: kind for key, kind in further if len(memory[key]) > 1}

    def at_start(self) -> dict[str, int]:
        """Hosts of each pool on the day the design is installed."""
        return {kind: pool.hosts for kind, pool in whole_pools(self.pools).items()}

    def gpus(self, hosts: Mapping[str, int]) -> int:
        """Return the GPUs of the hosts of each pool."""
        return sum(kind.gpus(hosts) for kind in self.kinds)

    def licensed(self, year: int) -> int:
        """Return the existing hosts whose platform licences are owned in a year from 0."""
        return sum(kind.licensed(year) for kind in self.kinds)

    def of(self, hosts: Mapping[str, int], year: int = 0) -> dict[str, int]:
        """Return the quantity of each material, by key, for the hosts of each pool in a year from 0."""
        total = sum(hosts.values())
        new = {kind.suffix: kind.hosts(hosts) - kind.existing for kind in self.kinds}
        quantities = {
            **{f"servers{suffix}": count for suffix, count in new.items()},
            **{f"gpus{kind.suffix}": new[kind.suffix] * kind.boards_per_host for kind in self.kinds},
            **{f"memory{suffix}": new[suffix] * gib for suffix, gib in self.more_gib.items()},
            **{
                f"spare-gpus{suffix}": self.scenario.cost.spare_gpus if total else 0 for suffix in self.boards
            },
            "adapters": sum(new[k.suffix] * self.fabric.ports_of(k.name).adapters for k in self.kinds),
            "leaf": 0,
            "spine": 0,
            "host-cables": 0,
            "switch-cables": 0,
            "platform": self._platform(
                {kind: kind.hosts(hosts) - kind.licensed(year) for kind in self.kinds}
            ),
            "ai-add-on": self.core_licences({kind: kind.hosts(hosts) for kind in self.kinds})
            if self.ai_add_on
            else 0,
            **{f"gpu-software{kind.suffix}": kind.new_gpus(hosts, kind.needs_licence) for kind in self.kinds},
            EXISTING_SOFTWARE: sum(kind.unlicensed(year) for kind in self.kinds),
        }
        switches = self._switches(total)
        if switches is not None:
            built = switches.total
            quantities |= {
                "leaf": built.leaves,
                "spine": built.spines,
                "host-cables": built.host_cables
                - sum(kind.hosts(hosts) * self.fewer_cables(kind) for kind in self.kinds),
                "switch-cables": built.between_switches,
            }
        return quantities

    def spine(self, growth: Sequence[Mapping[str, int]]) -> tuple[str, str]:
        """Spine and its name in the first year that needs some; empty if none does."""
        years = (self._switches(sum(hosts.values())) for hosts in growth)
        return next(((s.spine, s.spine_name) for s in years if s is not None and s.spine), ("", ""))

    def several_fabrics(self, growth: Sequence[Mapping[str, int]]) -> bool:
        """True if the hosts of any year take more than one fabric."""
        years = (self._switches(sum(hosts.values())) for hosts in growth)
        return any(switches is not None and len(switches.fabrics) > 1 for switches in years)

    def fewer_cables(self, kind: KindCounts) -> int:
        """Return the cables to leaves that a host of a kind has fewer than leaves are sized for."""
        most, mine = self.fabric.ports, self.fabric.ports_of(kind.name)
        return (
            most.total - mine.total
            if self.scenario.network.transport != "infiniband"
            else most.shared - mine.shared
        )

    def _switches(self, hosts: int) -> Switches | None:
        """Return the switches for this many hosts; each number of hosts of the years of growth is asked for again and again."""
        if hosts not in self._built:
            self._built[hosts] = switches_for(self.scenario, self.catalog, self.fabric, hosts)
        return self._built[hosts]

    def hosts_of(self, key: str) -> str:
        """Return the kind of hosts that a material is for, as its key says; empty where it is for all."""
        base, apart, suffix = key.partition("@")
        return apart + suffix or (FIRST if base in OF_KIND else "")

    def _platform(self, hosts: Mapping[KindCounts, int]) -> int:
        """Return the core or processor licences for so many hosts of each kind."""
        choice = self.scenario.cost.platform_licence
        if choice == "socket":
            return sum(
                licensed_sockets(
                    count,
                    sockets=int(kind.sockets.value),
                    cores_per_socket=int(kind.cores.value),
                    cores_per_licence=int(self.cores_per_licence.value),
                )
                for kind, count in hosts.items()
            )
        return self.core_licences(hosts, int(self.least_order.value) if choice in BY_CORE else 0)

    def core_licences(self, hosts: Mapping[KindCounts, int], minimum_order: int = 0) -> int:
        """Return the licensed cores of so many hosts of each kind, at least those of a minimum order."""
        cores = sum(self.cores_of(kind, count) for kind, count in hosts.items())
        return ordered_licences([cores], minimum_order=minimum_order)[0]

    def cores_of(self, kind: KindCounts, hosts: int) -> int:
        """Return the licensed cores of so many hosts of a kind, without the minimum of an order."""
        return licensed_cores(
            hosts,
            sockets=int(kind.sockets.value),
            cores_per_socket=int(kind.cores.value),
            minimum_cores=int(self.least_cores.value),
        )


def _ai_add_on(scenario: Scenario, catalog: Catalog) -> bool:
    """True if the private AI add-on is used, or its price is stated, on a platform that has it."""
    wanted = scenario.cost.private_ai or any(key == "private-ai-core-year" for key, _ in scenario.prices)
    order, earliest = version_order(catalog), catalog.products["private-ai-foundation"].value("min_vsphere")
    late = order[scenario.platform.vsphere] >= order[str(earliest)]
    return wanted and scenario.cost.platform_licence == "vcf" and late


def bill(
    trail: Trail,
    prices: PriceList,
    counts: Counts,
    growth: Sequence[Mapping[str, int]],
    domain: ManagementDomain,
) -> tuple[Material, ...]:
    """List all items of a design; items that only its growth takes are listed with none at the start."""
    builder, scenario, many = _Bill(trail, prices, counts), counts.scenario, counts.of(counts.at_start())
    years = [counts.of(hosts, year) for year, hosts in enumerate(growth)]
    materials = [*_hardware(builder, counts, growth), _platform(builder, counts, many["platform"])]
    if counts.ai_add_on and many["ai-add-on"]:
        price = TERM_PRICES["private-ai"][scenario.cost.licence_term_years]
        words = {"cores": number(many["ai-add-on"]), "price": price}
        materials.append(builder.material("ai-add-on", many["ai-add-on"], "", words))
    for key, bundled in software_of(counts).items():
        if later := max(year[key] for year in years):
            materials.append(_gpu_software(builder, key, many[key], bundled, later))
    materials += _management_platform(builder, counts, domain)
    return (*materials, *_domain(builder, counts, domain))


def software_of(counts: Counts) -> dict[str, int]:
    """Key of each material of GPU software -> the years of it that come with its boards."""
    new = {f"gpu-software{k.suffix}": included_years(k.scenario, counts.catalog) for k in counts.kinds}
    return new | {EXISTING_SOFTWARE: 0}


class _Bill:
    """Makes the lines of the bill of materials, each with its price and, in the trail, its cost."""

    def __init__(self, trail: Trail, prices: PriceList, counts: Counts) -> None:
        self.trail, self.prices, self.scenario, self.catalog = trail, prices, counts.scenario, counts.catalog
        self.cost = self.scenario.cost
        self.of_kind = {kind.suffix: f" ({kind.name})" for kind in counts.kinds if kind.name}

    def material(
        self,
        key: str,
        quantity: float,
        when: str = "",
        words: Mapping[str, object] | None = None,
        *,
        rule: str = "",
        instead: tuple[str, ...] = (),
    ) -> Material:
        """A line of the bill as the table words it, with its price from ``PriceList.price``."""
        base = key.partition("@")[0]
        row = {
            column: told(cell, words or {}) if "{" in cell else cell
            for column, cell in WORDS[base, when].items()
        }
        name, part, cited = row["name"], PART[row["part"]], tuple(sources_of(self.catalog, row["sources"]))
        price = None
        if row["price"]:
            titled = row["price_name"] or name
            price = self.prices.price(row["price"], titled, row["per"], *row["instead"].split(), *instead)
        name += self.of_kind.get(key.removeprefix(base), "")
        discount = "licence_discount" if part in LICENCES else "hardware_discount"
        paid = None
        if price is not None and row["status"] != "included":
            paid = float(self._paid(key, name, quantity, price, discount).value)
        return Material(
            key=key,
            part=part,
            name=name,
            item=row["item"],
            quantity=quantity,
            unit=row["unit"],
            rule=rule or row["rule"],
            status=row["status"],
            price=price,
            price_key=row["price"],
            discount=getattr(self.cost, discount),
            cost=paid,
            sources=cited if part == DOMAIN or price is None else price.fact.sources,
        )

    def _paid(self, key: str, name: str, quantity: float, price: Price, discount: str) -> Line:
        """Cost of a quantity."""
        return self.trail.compute(
            f"cost.materials.{key}",
            cost.purchase_cost,
            words={"name": name, "less": TEXTS["bill.less discount"] * (getattr(self.cost, discount) > 0)},
            quantity=derived(f"materials/{key}", quantity, "quantity of a material", name=name),
            unit_price=price.fact,
            discount=self.scenario.fact(f"cost.{discount}"),
        )


def _hardware(made: _Bill, counts: Counts, growth: Sequence[Mapping[str, int]]) -> Iterator[Material]:
    """List servers, GPUs and the network of the GPU hosts, including purchases for the growth alone."""
    many, years = counts.of(counts.at_start()), [counts.of(hosts) for hosts in growth]
    network = _network_words(made, counts, many, growth)

    def listed(key: str, words: Mapping[str, object], instead: tuple[str, ...] = ()) -> Iterator[Material]:
        later = max(year[key] for year in years)
        if many[key] or later:
            rule = "" if many[key] else said("bill.for growth", later=later)
            yield made.material(key, many[key], "", words, rule=rule, instead=instead)

    for kind in counts.kinds:
        words = _kind_words(made, kind, many)
        yield from listed(f"servers{kind.suffix}", words, kind.price_keys[1:])
        if kind.suffix in counts.more_gib:
            yield from listed(f"memory{kind.suffix}", words | {"more": number(counts.more_gib[kind.suffix])})
        yield from listed(f"gpus{kind.suffix}", words)
        if kind.suffix in counts.boards:
            yield from listed(f"spare-gpus{kind.suffix}", words)
    for key in HARDWARE:
        yield from listed(key, network)


def _network_words(
    made: _Bill, counts: Counts, many: Mapping[str, int], growth: Sequence[Mapping[str, int]]
) -> dict[str, object]:
    """Words for adapters, switches and cables."""
    fabric, (spine, spine_name) = counts.fabric, counts.spine(growth)
    switches = fabric.switches
    adapters = (str(fabric.ports_of(kind.name).adapters) for kind in counts.kinds)
    return {
        "new": sum(many[f"servers{kind.suffix}"] for kind in counts.kinds),
        "adapters": " / ".join(dict.fromkeys(adapters)),
        "link": made.scenario.network.link_gbit_s,
        "hosts": fabric.gpu_hosts + fabric.compute_hosts,
        "ports": said("bill.up to ports" if fabric.kinds else "bill.ports", ports=fabric.ports.total),
        "leaf": switches.leaf_name if switches else "",
        "leaf_id": switches.leaf if switches else "",
        "spine": spine_name,
        "spine_id": spine,
        "most": number(fabric.max_oversubscription),
        "up": number(switches.up_gbit_s) if switches else "",
    }


def _kind_words(made: _Bill, kind: KindCounts, many: Mapping[str, int]) -> dict[str, object]:
    """Words for server and board of a kind of hosts."""
    catalog, hardware = made.catalog, kind.scenario.hardware
    gpu, named = catalog.gpus[hardware.gpu], hardware.server
    return {
        "server": catalog.servers[named].name if named else said("bill.any server"),
        "server_price": kind.price_keys[0],
        "server_item": f"servers/{named}" if named else "",
        "new": many[f"servers{kind.suffix}"],
        "there": said("bill.existing", hosts=kind.existing) if kind.existing else "",
        "gpu": gpu.name,
        "gpu_id": gpu.id,
        "boards": kind.boards_per_host,
        "of": said("bill.of GPUs", gpus=kind.per_board) if kind.per_board > 1 else "",
    }


def _platform(made: _Bill, counts: Counts, licences: int) -> Material:
    """Platform licences of all hosts, existing ones included: by the core, or by the processor."""
    choice, owned = made.cost.platform_licence, counts.licensed(0)
    hosts: Fact | Line = made.trail["totals.hosts"]
    if owned and choice != "owned":
        unlicensed = int(hosts.value) - owned
        hosts = derived("materials/platform/hosts", unlicensed, "hosts without licences")
    if counts.kinds[1:]:
        return _platform_of_kinds(made, counts, hosts, licences)
    inputs: dict[str, Fact | Line] = {
        "hosts": hosts,
        "sockets": counts.sockets,
        "cores_per_socket": counts.cores,
    }
    if choice == "socket":
        covered = counts.cores_per_licence
        made.trail.compute("cost.licensed_sockets", licensed_sockets, inputs, cores_per_licence=covered)
    else:
        least_of = {"minimum_cores": counts.least_cores}
        when = "" if choice in BY_CORE else "owned"
        if choice in BY_CORE:
            least_of["minimum_order"] = counts.least_order
        made.trail.compute("cost.licensed_cores", licensed_cores, {**inputs, **least_of}, when=when)
    cores, least = int(counts.cores.value), int(counts.least_cores.value)
    words = _platform_words(made, counts, hosts) | {
        "sockets": int(counts.sockets.value),
        "cores": cores,
        "counted": max(least, cores),
    }
    return made.material("platform", licences, choice, words)


def _platform_words(made: _Bill, counts: Counts, hosts: Fact | Line) -> dict[str, object]:
    """Words of the platform licences that do not depend on the processors."""
    term, choice, owned = made.cost.licence_term_years, made.cost.platform_licence, counts.licensed(0)
    return {
        "hosts": hosts.value,
        "least": int(counts.least_cores.value),
        "covered": int(counts.cores_per_licence.value),
        "order": int(counts.least_order.value),
        "advance": in_advance(term),
        "there": said("bill.licensed hosts", hosts=owned) if owned else "",
        "price": TERM_PRICES[choice][term] if choice in BY_CORE else "",
        "term": term,
    }


def _platform_of_kinds(made: _Bill, counts: Counts, hosts: Fact | Line, licences: int) -> Material:
    """The same of several kinds of hosts, each with its own processors."""
    choice, at_start, each = made.cost.platform_licence, counts.at_start(), []
    for kind in counts.kinds:
        many = kind.hosts(at_start) - (0 if choice == "owned" else kind.licensed(0))
        words = {"hosts": many, "sockets": kind.sockets.value, "cores": kind.cores.value}
        each.append(said("bill.processors of kind", **words))
    facts = {f"part{n}": kind.cores for n, kind in enumerate(counts.kinds, 1)}
    by_socket, least = choice == "socket", counts.least_order.value if choice in BY_CORE else 0
    made.trail.record(
        "cost.licensed_sockets" if by_socket else "cost.licensed_cores",
        licensed_sockets if by_socket else licensed_cores,
        licences,
        facts,
        when="kinds",
        words={"each": " + ".join(each), "order": least},
        hosts=hosts,
    )
    shared: dict[str, object] = dict.fromkeys(("sockets", "cores", "counted"), "")
    shared |= _platform_words(made, counts, hosts)
    rule = said("bill.platform of kinds", each="; ".join(each), **shared)
    return made.material("platform", licences, choice, shared, rule=rule)


def in_advance(years: int) -> str:
    """Word the payment of a subscription."""
    return said("bill.in advance", years=years)


def included_years(scenario: Scenario, catalog: Catalog) -> int:
    """Years of GPU software that come with a board."""
    return int(catalog.gpus[scenario.hardware.gpu].value("nvaie_years") or 0)


def _gpu_software(made: _Bill, key: str, gpus: int, years: int, later: int) -> Material:
    """NVIDIA AI Enterprise: one licence for each shared physical GPU, and for each GPU of a board with several."""
    choice = made.cost.gpu_licence
    term, owned = made.cost.licence_term_years, choice == "owned"
    status = {"subscription": "yearly", "perpetual": "bought", "owned": "there"}[choice]
    price = {"subscription": TERM_PRICES["nvaie"][term], "perpetual": "nvaie-perpetual", "owned": ""}[choice]
    paid = years < made.cost.years
    days = made.catalog.products["nvidia-ai-enterprise"].value("bundled_after_days")
    with_board = said("bill.with board", years=years, days=days) if years and not owned else ""
    if paid and choice == "subscription":
        with_board += f"; {said('bill.then by subscription') if years else in_advance(term)}"
    words = {
        "status": "included" if years and not owned else status,
        "with_board": with_board,
        "price": price if paid else "",
        "term": term,
    }
    rule = "" if gpus else said("bill.later" if key == EXISTING_SOFTWARE else "bill.for growth", later=later)
    return made.material(key, gpus, choice, words, rule=rule)


def _domain(made: _Bill, counts: Counts, domain: ManagementDomain) -> Iterator[Material]:
    """List the items that the reference architecture puts around the GPU hosts, as the management domain sizes them."""
    scenario, settings = made.scenario, made.cost
    vcenter, nsx = (domain.of(component, domain=True) for component in ("vcenter", "nsx-manager"))
    cluster = domain.of("nsx-manager").nodes
    hosts = sum(counts.at_start().values())
    words = {
        "status": "included" if settings.platform_licence == "vcf" else "to be sized",
        "size": SIZES[vcenter.size],
        "hosts": number(hosts),
        "domains": domain.domains,
        "nsx_size": SIZES[nsx.size],
        "cluster": in_words(cluster),
        "clusters": nsx.nodes // cluster,
        "each": said("bill.each domain") if domain.domains > 1 else "",
        "stated": domain.hosts,
        "needed": domain.needed_hosts,
        "vcpus": number(domain.vcpus),
        "memory": number(domain.memory_gb),
        "where": said("bill.vSAN") if scenario.hardware.storage == "vsan" else "",
        "line": ", ".join(part.size for part in domain.parts if part.key != "boot"),
    }
    switches = domain.domains * counts.fabric.distributed_switches
    compute = scenario.network.compute_hosts or 0
    compute_when = "to be sized"
    if compute:
        compute_when = "bought" if settings.compute_hosts_bought else "there"
    storage = "bought" if settings.storage_tb else "to be sized"
    for key, many, when in (
        ("vcenter", domain.domains, "several" * (domain.domains > 1)),
        ("nsx-manager", nsx.nodes, "several" * (nsx.nodes > cluster)),
        ("sddc-manager", 1, ""),
        ("distributed-switches", switches, ""),
        ("management-hosts", domain.hosts, "bought" if settings.management_hosts else "there"),
        *[("compute-hosts", compute, compute_when)] * (compute > 0 or counts.remote),
        ("storage", settings.storage_tb, storage),
        ("uplinks", 0, ""),
        ("rack-equipment", 0, ""),
    ):
        yield made.material(key, many, when, words)


def _management_platform(made: _Bill, counts: Counts, domain: ManagementDomain) -> Iterator[Material]:
    """Platform licences of the hosts that are bought for the management domain, where they are subscribed by the core."""
    choice, term, hosts = made.cost.platform_licence, made.cost.licence_term_years, made.cost.management_hosts
    if not hosts or choice not in BY_CORE:
        return
    least = int(counts.least_cores.value)
    cores = licensed_cores(
        hosts, sockets=2, cores_per_socket=math.ceil(domain.cores / 2), minimum_cores=least
    )
    words = {"hosts": hosts, "cores": domain.cores, "least": least, "advance": in_advance(term), "term": term}
    yield made.material("management-platform", cores, choice, words | {"price": TERM_PRICES[choice][term]})
