"""The fabric of a design: ports of a host, leaf and spine switches, cables, settings, and bandwidth after a failure.

The model is ``gpuplan.models.network.fabric``; switches come from the catalog. The fewest switches win, then the fewest ports.
"""

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from operator import attrgetter
from types import MappingProxyType
from typing import NamedTuple

from gpuplan.catalog import Catalog, Item
from gpuplan.facts import Brief, Fact, own_rows
from gpuplan.locales import filled
from gpuplan.models.availability import cluster_hosts
from gpuplan.models.network.fabric import (
    MOST_HOSTS,
    LeafSpine,
    TooManyLeaves,
    bandwidth_left,
    host_ports,
    leaf_spine,
    oversubscription,
    pvrdma_ports,
)
from gpuplan.plan.hosts import Pool
from gpuplan.plan.inputs import derived, sources_of
from gpuplan.plan.layouts import most_hosts_fact
from gpuplan.plan.network import NetworkUse
from gpuplan.plan.switches import Fabric, Hosts, Kind, Switches, Totals
from gpuplan.plan.trail import Trail
from gpuplan.plan.training.speed import ITEM, RDMA
from gpuplan.scenario import Scenario
from gpuplan.wording import kept_range, said, told, whole_percent

PORT_SPEEDS = (10, 25, 100, 200, 400)
"""Kinds of switch ports in the catalog. A port takes the slower speeds of its kind too: SFP28 10, QSFP28 40 and 50."""

TAKES = {1: (), 10: (10, 25), 25: (25,), 40: (100,), 50: (100, 200), 100: (100,), 200: (200,), 400: (400,)}
"""Link of a host -> kinds of switch ports that it can be plugged into, one cable to one port."""


APART = ("pvrdma", "infiniband")
"""Transports that have ports of their own, which carry nothing else."""

SPINE_PORTS = 16
"""A switch with fewer ports of the right speed is not taken for a spine."""

SETTINGS, FAILURES = own_rows("words/settings"), own_rows("words/failures")
"""Settings to configure, and remaining bandwidth after a failure, each with the transports to which it applies."""


class Ports(NamedTuple):
    """Network ports of one GPU host."""

    shared: int
    """Ports that are teamed: TCP, storage, vMotion and, without PVRDMA, RDMA."""
    rdma: int
    """Ports for PVRDMA or InfiniBand alone."""
    demand_gbit_s: float
    """Total demand on the shared ports."""
    rdma_gbit_s: float
    """Demand on the RDMA ports."""

    @property
    def total(self) -> int:
        """All ports."""
        return self.shared + self.rdma

    @property
    def adapters(self) -> int:
        """Adapters with two ports; at least two, the teamed ports spread over them."""
        return max(2, -(-self.total // 2))


@dataclass(frozen=True, slots=True)
class Setting:
    """Something to configure."""

    where: str
    what: str
    sources: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Failure:
    """Remaining bandwidth after one part fails."""

    part: str
    left: str
    affected: str


@dataclass(frozen=True, slots=True, repr=False)
class Cabling(Brief):
    """The fabric of a design."""

    gpu_hosts: int
    sites: tuple[str, ...]
    """Sites where clusters are by site; otherwise one without a name."""
    site_hosts: tuple[int, ...]
    """GPU hosts of each site where clusters are by site, each with its own switches; otherwise all."""
    compute_hosts: int
    ports: Ports
    """Of a GPU host, of the kind with most where kinds differ; leaves are sized for these."""
    compute_ports: Ports | None
    """Ports of a compute host; None if none is on these switches."""
    distributed_switches: int
    max_oversubscription: float
    switches: Switches | None
    reason: str
    """Reason for having no switches."""
    adapters: int
    """Of such a host."""
    settings: tuple[Setting, ...]
    failures: tuple[Failure, ...]
    kinds: Mapping[str, Ports]
    """Kind of GPU hosts -> ports of a host, where kinds differ."""

    def ports_of(self, kind: str) -> Ports:
        """Ports of a GPU host of a kind."""
        return self.kinds.get(kind, self.ports)


def cabling(
    trail: Trail,
    scenario: Scenario,
    catalog: Catalog,
    pools: Sequence[Pool],
    use: NetworkUse,
    of_kinds: Mapping[str, NetworkUse] = MappingProxyType({}),
) -> Cabling | None:
    """Ports, switches and cables of a design; None without GPU hosts."""
    hosts = sum(p.hosts for p in pools)
    if not hosts:
        return None
    network = scenario.network
    ports = _ports(trail, scenario, catalog, use)
    compute = _compute_ports(scenario, catalog, use, hosts)
    kinds = {of: _ports(Trail({}), scenario, catalog, one) for of, one in of_kinds.items()}
    kinds = kinds if len({*kinds.values()}) > 1 else {}
    bound = _bound(scenario, use)
    clusters: dict[str, list[int]] = {}
    for pool in pools:
        clusters.setdefault(pool.site, []).append(pool.hosts)
    site_hosts = {site: sum(sizes) for site, sizes in clusters.items()}
    compute_hosts = network.compute_hosts or 0
    ethernet = _ethernet_ports(scenario, ports, compute)
    wanted = _Wanted(catalog, network.link_gbit_s, network.leaf, network.spine, ethernet, float(bound.value))
    computing = _shares(compute_hosts, [*site_hosts.values()])
    sites = [
        _Site(name, sizes, others) for (name, sizes), others in zip(clusters.items(), computing, strict=True)
    ]
    switches, reason = _fabrics(wanted, sites, int(most_hosts_fact(scenario, catalog).value))
    if switches is not None:
        _record(trail, scenario, switches, hosts + compute_hosts, ethernet, bound)
    return Cabling(
        gpu_hosts=hosts,
        sites=tuple(site_hosts),
        site_hosts=tuple(site_hosts.values()),
        compute_hosts=compute_hosts,
        ports=ports,
        compute_ports=compute,
        distributed_switches=1 + (ports.rdma if network.transport == "pvrdma" else 0),
        max_oversubscription=float(bound.value),
        switches=switches,
        reason=reason,
        adapters=ports.adapters,
        settings=tuple(_settings(scenario, catalog, switches)),
        failures=tuple(_failures(scenario, _by_kind(ports, kinds, compute), switches)),
        kinds=kinds,
    )


def switches_for(scenario: Scenario, catalog: Catalog, fabric: Cabling, gpu_hosts: int) -> Switches | None:
    """The same leaves and spines for another number of GPU hosts; None if they cannot connect them."""
    switches = fabric.switches
    if switches is None or gpu_hosts == fabric.gpu_hosts:
        return switches
    ethernet = _ethernet_ports(scenario, fabric.ports, fabric.compute_ports)
    link, spine = scenario.network.link_gbit_s, switches.spine or scenario.network.spine
    wanted = _Wanted(catalog, link, switches.leaf, spine, ethernet, fabric.max_oversubscription)
    most = int(most_hosts_fact(scenario, catalog).value)
    shares = zip(
        fabric.sites,
        _shares(gpu_hosts, fabric.site_hosts),
        _shares(fabric.compute_hosts, fabric.site_hosts),
        strict=True,
    )
    sites = [_Site(name, _clusters(hosts, most), others) for name, hosts, others in shares if hosts + others]
    return _fabrics(wanted, sites, most)[0]


def at_sites(gpu_hosts: int, other_hosts: int, sites: Sequence[int]) -> tuple[int, ...]:
    """Divide a number of hosts between sites; GPU hosts and the others are divided like the GPU hosts of the plan."""
    shares = zip(_shares(gpu_hosts, sites), _shares(other_hosts, sites), strict=True)
    return tuple(filter(None, map(sum, shares)))


def _shares(count: int, sites: Sequence[int]) -> list[int]:
    """Divide so many hosts between sites like their GPU hosts."""
    upto = [round(count * Fraction(hosts, sum(sites))) for hosts in itertools.accumulate(sites)]
    return [after - before for before, after in itertools.pairwise([0, *upto])]


def _clusters(hosts: int, most: int) -> Sequence[int]:
    """Divide hosts into the fewest clusters of at most so many."""
    return cluster_hosts(hosts, clusters=-(-hosts // most)) if hosts else ()


def _ethernet_ports(scenario: Scenario, *hosts: Ports | None) -> int:
    """Return the most ports that any host has on the leaves; InfiniBand has its own switches."""
    apart = scenario.network.transport == "infiniband"
    return max(ports.shared if apart else ports.total for ports in hosts if ports)


def _ports(trail: Trail, scenario: Scenario, catalog: Catalog, use: NetworkUse) -> Ports:
    """Size the ports of a GPU host by concurrent traffic: remote GPUs, the largest training job, everything else."""
    network = scenario.network
    remote = use.remote_gbit_s
    trains = max((t.needs_gbit_s for t in use.training[:-1]), default=0.0)
    usable = catalog.assumptions[ITEM["ring"]].fact("usable_share")
    port = scenario.fact("network.link_gbit_s")
    together = derived("network.ports/work_gbit_s", round(remote + trains, 3))
    other = scenario.fact("network.other_gbit_s")
    apart = network.transport in APART
    demand = float(other.value) + (0.0 if apart else float(together.value))
    words = {"other": float(other.value), "work": round(demand - float(other.value), 2)}
    note, by_port = said("fabric.work traffic", **words), {"port_gbit_s": port, "usable_share": usable}
    needed = replace(other, key="network.ports/demand_gbit_s", value=demand, note=note)
    shared = trail.compute("network.ports.shared", host_ports, {"demand_gbit_s": needed, **by_port})
    rdma = 0
    if apart:
        line = trail.compute("network.ports.rdma", pvrdma_ports, {"rdma_demand_gbit_s": together, **by_port})
        rdma = int(line.value)
        if network.transport == "pvrdma":
            trail.record("network.distributed_switches", pvrdma_ports, 1 + rdma, rdma_ports=line)
    return Ports(int(shared.value), rdma, demand, float(together.value) if apart else 0.0)


def _compute_ports(scenario: Scenario, catalog: Catalog, use: NetworkUse, gpu_hosts: int) -> Ports | None:
    """Ports of a compute host: the users of remote GPUs spread over them, and as much other traffic as a GPU host."""
    network = scenario.network
    if not network.compute_hosts:
        return None
    usable = float(catalog.assumptions[ITEM["ring"]].fact("usable_share").value)
    remote = use.remote_gbit_s * gpu_hosts / network.compute_hosts
    apart = network.transport in APART
    demand = network.other_gbit_s + (0.0 if apart else remote)
    return Ports(
        host_ports(demand, network.link_gbit_s, usable_share=usable),
        pvrdma_ports(remote, network.link_gbit_s, usable_share=usable) if apart else 0,
        demand,
        remote if apart else 0.0,
    )


def _bound(scenario: Scenario, use: NetworkUse) -> Fact:
    """Oversubscription that is allowed: stated, or 1:1 for training over RDMA and 3:1 for everything else."""
    stated = scenario.fact("network.oversubscription")
    if stated.value is not None:
        return stated
    trains = scenario.network.transport in RDMA and len(use.training) > 1
    key, note = "rules/leaf-oversubscription/effect", said("fabric.oversubscription")
    sources = ("vmware-vvd-4.0-leaf-spine", "gpuplan-method")
    return Fact(key, 1.0 if trains else 3.0, "1", None, None, "assumed", sources, note=note)


class _Wanted(NamedTuple):
    """Criteria for the switches of a fabric: links and ports of a host, stated models, allowed oversubscription."""

    catalog: Catalog
    link_gbit_s: float
    leaf: str | None
    spine: str | None
    ports: int
    bound: float


class _Kind(NamedTuple):
    """Role of a switch as a leaf: ports down and up, or ports all alike."""

    id: str
    down: int | None
    up: int | None
    alike: int | None
    up_gbit_s: float
    ports: int


def _count(item: Item, speed: int) -> int:
    return int(item.value(f"ports_{speed}g") or 0)


def _leaf_kinds(catalog: Catalog, link: float, wanted: str | None) -> list[_Kind]:
    """Switches for sale, or the named one, whose ports match the link: with faster ports for uplinks, or all alike."""
    kinds = []
    for id, item in catalog.switches.items():
        if wanted != id and (wanted or item.value("end_of_sale")):
            continue
        for speed in TAKES[int(link)]:
            down = _count(item, speed)
            if down < 4:
                continue
            faster = [s for s in PORT_SPEEDS if s > speed and _count(item, s) >= 2]
            total = sum(_count(item, s) for s in PORT_SPEEDS)
            if faster:
                up = faster[-1]
                kinds.append(_Kind(id, down, _count(item, up), None, up, total))
            else:
                kinds.append(_Kind(id, None, None, down, speed, total))
            break
    return kinds


class _Site(NamedTuple):
    """Hosts of one site: the GPU hosts of each of its clusters, and its compute hosts."""

    name: str
    clusters: Sequence[int]
    compute_hosts: int

    def on_fabrics(self, more: int, cluster: int, most: int = MOST_HOSTS) -> Iterator[Hosts]:
        """Divide whole clusters between the fewest fabrics of at most so many hosts, and more."""
        fabrics = -(-(sum(self.clusters) + self.compute_hosts) // most) + more
        computing = _clusters(self.compute_hosts, cluster)
        both = (_together(sizes, fabrics) for sizes in (self.clusters, computing))
        for gpu_hosts, compute_hosts in itertools.zip_longest(*both, fillvalue=0):
            yield Hosts(self.name, gpu_hosts, compute_hosts)


def _together(clusters: Sequence[int], fabrics: int) -> Iterator[int]:
    """Yield the hosts on each of at most so many fabrics."""
    left = iter(clusters)
    for count in cluster_hosts(len(clusters), clusters=min(len(clusters), fabrics)) if clusters else ():
        yield sum(itertools.islice(left, count))


def _fabrics(wanted: _Wanted, sites: Sequence[_Site], cluster: int) -> tuple[Switches | None, str]:
    """Design a fabric per site, or else the fewest, each for whole clusters of at most this size; else say why none fits."""
    parts = [hosts for site in sites for hosts in site.on_fabrics(0, cluster)]
    chosen, reason, most = _cheapest(wanted, tuple(part.total for part in parts))
    if chosen is None and most < min(cluster, max(part.total for part in parts)):
        return None, reason
    for more in itertools.count():
        if chosen is not None:
            return _built(wanted, chosen, parts), ""
        before, parts = parts, [hosts for site in sites for hosts in site.on_fabrics(more, cluster, most)]
        if parts == before:
            break
        chosen = _cheapest(wanted, tuple(part.total for part in parts))[0]
    return None, reason


class _Chosen(NamedTuple):
    """Switches, and the fabric that each number of hosts takes of them."""

    kind: _Kind
    spine: str
    shapes: Mapping[int, LeafSpine]


@lru_cache(maxsize=256)  # without it `sensitivity` takes a half longer
def _cheapest(wanted: _Wanted, parts: tuple[int, ...]) -> tuple[_Chosen | None, str, int]:
    """Find fabrics for these numbers of hosts with the fewest switches, then ports, and spines like leaves; else
    say why none fits, and for how many hosts one would.
    """
    catalog, link, leaf = wanted.catalog, wanted.link_gbit_s, wanted.leaf
    leaves = _leaf_kinds(catalog, link, leaf)
    if not leaves:
        return None, _no_leaf(catalog, link, leaf), 0
    built: list[tuple[tuple[object, ...], _Chosen]] = []
    reason, most = "", 0
    """Reason why no fabric fits: of switches that connect too few hosts, the reason of those that connect most."""
    for kind in leaves:
        spines, missing = _spines(catalog, kind, wanted.spine)
        for spine_id, spine_ports in spines:
            try:
                shapes = _shapes(wanted, kind, spine_ports, parts)
                if missing and any(shape.spines for shape in shapes.values()):
                    raise ValueError(missing)
            except TooManyLeaves as error:
                if error.most_hosts > most and not missing:
                    most, reason = error.most_hosts, str(error)
            except ValueError as error:
                reason = reason if most else missing or str(error)
            else:
                total = _total([shapes[hosts] for hosts in parts])
                order = _order(catalog, kind, spine_id, spine_ports, total)
                built.append((order, _Chosen(kind, spine_id, shapes)))
    if not built:
        return None, reason, most
    return min(built, key=lambda found: found[0])[1], "", 0


def _shapes(wanted: _Wanted, kind: _Kind, spine_ports: int, parts: Iterable[int]) -> Mapping[int, LeafSpine]:
    """Return the fabric for each number of hosts; raises a ValueError where switches connect too few."""
    return {
        hosts: leaf_spine(
            hosts,
            ports_per_host=wanted.ports,
            port_gbit_s=wanted.link_gbit_s,
            leaf_down_ports=kind.down,
            leaf_up_ports=kind.up,
            leaf_ports=kind.alike,
            up_gbit_s=kind.up_gbit_s,
            spine_ports=spine_ports,
            max_oversubscription=wanted.bound,
        )
        for hosts in {*parts}
    }


def _no_leaf(catalog: Catalog, link: float, leaf: str | None) -> str:
    """Say that the chosen switch, or every one of the catalog, lacks ports for hosts."""
    if not leaf:
        return said("fabric.no leaf", link=f"{link:g}")
    return said("fabric.leaf has no ports", leaf=catalog.switches[leaf].name, link=f"{link:g}")


def _ports_up(kind: _Kind, shape: LeafSpine) -> int:
    """Ports of the busiest leaf for other switches: its faster ones, or where all are alike those without a host."""
    return kind.up or 0 if kind.alike is None else kind.alike - shape.down_ports_used


def _total(shapes: Iterable[LeafSpine]) -> Totals:
    """Add up switches and cables of fabrics."""
    return Totals(*map(sum, zip(*map(attrgetter(*Totals._fields), shapes), strict=True)))


def _spines(catalog: Catalog, kind: _Kind, wanted: str | None) -> tuple[list[tuple[str, int]], str]:
    """Find switches with enough ports for a leaf's uplinks, and how many; else none, and what the catalog lacks."""
    offered = catalog.switches.items()
    sold = [item for id, item in offered if id in (wanted, kind.id) or not item.value("end_of_sale")]
    counts = {item.id: _count(item, int(kind.up_gbit_s)) for item in sold}
    spines = [(id, n) for id, n in counts.items() if wanted in (None, id) and n >= SPINE_PORTS]
    if spines:
        return spines, ""
    words = {"ports": SPINE_PORTS, "speed": f"{kind.up_gbit_s:g}", "leaf": catalog.switches[kind.id].name}
    if wanted:
        words["spine"] = catalog.switches[wanted].name
    return [("", SPINE_PORTS)], said("fabric.spine has no ports" if wanted else "fabric.no spine", **words)


def _order(catalog: Catalog, kind: _Kind, spine: str, spine_ports: int, total: Totals) -> tuple[object, ...]:
    """Return a sort key: fewer switches, fewer ports, equal models, one maker."""
    leaf, above = catalog.switches[kind.id], catalog.switches.get(spine)
    other_maker = above is not None and above.value("vendor") != leaf.value("vendor")
    ports = total.leaves * kind.ports + total.spines * spine_ports
    return (total.leaves + total.spines, ports, kind.id, spine != kind.id, other_maker, spine)


def _built(wanted: _Wanted, chosen: _Chosen, parts: Iterable[Hosts]) -> Switches:
    """Build the chosen fabrics for these hosts."""
    kind, catalog = chosen.kind, wanted.catalog
    fabrics = []
    for hosts in parts:
        shape = chosen.shapes[hosts.total]
        used = shape.uplinks_per_leaf or shape.peer_cables
        fabrics.append(Fabric(hosts, shape, _ports_up(kind, shape) - used))
    total = _total(fabric.shape for fabric in fabrics)
    spine = chosen.spine if total.spines else ""
    name = catalog.switches[spine].name if spine else ""
    leaf = catalog.switches[kind.id].name
    return Switches(kind.id, leaf, spine, name, wanted.link_gbit_s, kind.up_gbit_s, tuple(fabrics), total)


def _record(
    trail: Trail, scenario: Scenario, switches: Switches, hosts: int, ports: int, bound: Fact
) -> None:
    inputs = {
        "hosts": derived("network.fabric/hosts", hosts),
        "ports_per_host": derived("network.fabric/ports_per_host", ports),
        "port_gbit_s": scenario.fact("network.link_gbit_s"),
        "max_oversubscription": bound,
    }
    for key in ("leaves", "spines", "host_cables"):
        trail.record(
            f"network.fabric.{key}",
            leaf_spine,
            getattr(switches.total, key),
            inputs,
            words={"leaf": switches.leaf_name, "fabrics": switches.where},
        )
    shape = switches.busiest.shape
    up = shape.uplinks_per_leaf or shape.peer_cables
    trail.compute(
        "network.fabric.oversubscription",
        oversubscription,
        down_ports=derived("network.fabric/down_ports", shape.down_ports_used),
        down_gbit_s=scenario.fact("network.link_gbit_s"),
        up_ports=derived("network.fabric/up_ports", up),
        up_gbit_s=derived("network.fabric/up_gbit_s", switches.up_gbit_s),
    )


def _settings(scenario: Scenario, catalog: Catalog, switches: Switches | None) -> Iterator[Setting]:
    """List the settings to configure, by transport."""
    holds = {"always", scenario.network.transport}
    if switches is not None and switches.total.spines:
        holds.add("spines")
    for row in SETTINGS:
        if holds & {*row["when"].split()}:
            what = told(row["what"], {"mtu": scenario.network.mtu_bytes})
            yield Setting(row["where"], what, tuple(sources_of(catalog, row["sources"])))


def _by_kind(ports: Ports, kinds: Mapping[str, Ports], compute: Ports | None) -> dict[str, Ports]:
    """Kind of hosts -> ports of a host; compute hosts are a kind where they have other ports."""
    apart = compute is not None and compute[:2] != ports[:2]
    others = {said("fabric.compute host"): compute} if compute and apart else {}
    return {**(kinds or {"": ports}), **others}


def _failures(scenario: Scenario, hosts: Mapping[str, Ports], switches: Switches | None) -> Iterator[Failure]:
    """List the remaining bandwidth after a failure: of a host by its kind, of a switch and of a link by its fabric."""
    transport = scenario.network.transport
    on_hosts = [_host_failures(of, ports) for of, ports in hosts.items()]
    cases = {"always": on_hosts, transport: on_hosts}
    if switches is not None:
        ports = [one.shared if transport == "infiniband" else one.total for one in hosts.values()]
        for kind in switches.kinds:
            for when, words in _fabric_failures(kind, switches, ports):
                words["fall_back"] = said("fabric.fall back") if transport == "pvrdma" else ""
                cases.setdefault(when, []).append(words)
    for row in FAILURES:
        for words in cases.get(row["when"], ()):
            yield Failure(*(filled(row[name], **words) for name in ("part", "left", "affected")))


def _host_failures(of: str, ports: Ports) -> dict[str, object]:
    """Words about the failure of a port and of an adapter of a host."""
    on_adapter = -(-ports.shared // ports.adapters)
    return {
        "of": f" ({of})" * bool(of),
        "shared": whole_percent(bandwidth_left(ports.shared)),
        "adapter": whole_percent(bandwidth_left(ports.shared, on_adapter)),
        "rdma": whole_percent(bandwidth_left(ports.rdma)) if ports.rdma else "",
        "lost": said("fabric.RDMA lost") if ports.rdma else "",
        "jobs": said("fabric.jobs continue" if ports.rdma > 1 else "fabric.jobs stop"),
    }


def _fabric_failures(
    kind: Kind, switches: Switches, ports: Iterable[int]
) -> Iterator[tuple[str, dict[str, object]]]:
    """Yield the parts of a fabric that can fail, each with its words; of hosts whose ports differ the range that is left."""
    shape, up = kind.fabric.shape, switches.up_gbit_s
    words = {"where": f", {kind.name}" if switches.kinds[1:] else "", "before": shape.oversubscription}
    shares = sorted({bandwidth_left(each, -(-each // 2)) for each in ports})
    left = kept_range(shares[0], shares[-1]) if shares[1:] else whole_percent(shares[0])
    yield "switches", words | {"left": left, "hosts": shape.hosts_per_pair}
    if not shape.spines:
        yield "peers", words | {"left": whole_percent(bandwidth_left(shape.peer_cables))}
        return
    links = shape.uplinks_per_leaf
    after = oversubscription(shape.down_ports_used, switches.port_gbit_s, up_ports=links - 1, up_gbit_s=up)
    yield "links", words | {"left": whole_percent(bandwidth_left(links)), "after": after}
    after = shape.oversubscription_after_spine or shape.oversubscription
    yield "spines", words | {"left": whole_percent(bandwidth_left(shape.spines)), "after": after}
