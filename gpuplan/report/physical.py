"""Bitfusion servers, proposed names and addresses to assign, identifiers of groups and clusters, and racks that are alike."""

import math
import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import groupby
from typing import NamedTuple

from gpuplan.facts import own_rows
from gpuplan.models.access import holds
from gpuplan.plan import Plan
from gpuplan.plan.access import served_by
from gpuplan.plan.hosts import Pool
from gpuplan.plan.racks import Rack, host_name, switch_names
from gpuplan.plan.switches import Switches
from gpuplan.plan.weighing import listed
from gpuplan.scenario import Group
from gpuplan.units import exact
from gpuplan.wording import said

SERVER_MEMORY = exact(1.5)
"""Memory of a Bitfusion server for each GiB of its GPUs (rule bitfusion-server-memory)."""
SERVER_VCPUS = 4
"""Least virtual CPUs of a Bitfusion server (rule bitfusion-server-memory)."""


class Server(NamedTuple):
    """A Bitfusion server: numbers of its host and of the host's GPUs that it holds, from 0."""

    host: int
    gpus: range


@dataclass(frozen=True, slots=True)
class Servers:
    """The Bitfusion servers of a cluster."""

    pool: str
    vms: tuple[Server, ...]
    profile: str
    """The vGPU profile of each of its GPUs; empty where it holds them by passthrough."""
    least_vcpus: int
    least_memory_gib: int


def servers_of(plan: Plan, pool: Pool) -> Servers | None:
    """Return a cluster's Bitfusion servers: one per host with GPUs for them, more where a VM cannot have all vGPUs."""
    plan = plan.home(pool)
    if served_by(pool.kind) == "bitfusion":
        counts, most, profile = [room.gpus for room in pool.rooms], pool.gpus_per_host, ""
    else:
        counts, profile = gpus_of(pool, clients(plan)), whole_profile(plan)
        version = plan.catalog.vsphere[plan.scenario.platform.vsphere]
        most = int(version.value("max_vgpus_per_vm") or pool.gpus_per_host)
    starts = ((at, gpus, first) for at, gpus in enumerate(counts) for first in range(0, gpus, most))
    vms = tuple(Server(at, range(first, min(first + most, gpus))) for at, gpus, first in starts)
    if not vms:
        return None
    largest = max(len(vm.gpus) for vm in vms)
    return Servers(pool.id, vms, profile, SERVER_VCPUS, server_memory_gib(plan, largest))


def server_memory_gib(plan: Plan, gpus: int) -> int:
    """Return the least memory of a Bitfusion server with ``gpus`` GPUs."""
    return math.ceil(SERVER_MEMORY * gpu_gib(plan) * gpus)


def all_servers(plan: Plan) -> tuple[Servers, ...]:
    """The Bitfusion servers of each cluster that has some."""
    by_pool = (servers_of(plan, pool) for pool in plan.pools)
    return tuple(servers for servers in by_pool if servers is not None)


def clients(plan: Plan) -> frozenset[str]:
    """Ids of the groups that use GPUs over the network."""
    return frozenset(group.id for group in plan.groups if group.mode == "bitfusion")


def gpus_of(pool: Pool, groups: Collection[str]) -> list[int]:
    """GPUs of each host on which some groups are."""
    own = [[load for load in host if load.slots and load.slots[0].group in groups] for host in pool.placement]
    return [sum(load.gpus for load in host) for host in own]


def gpu_gib(plan: Plan) -> Fraction:
    """Memory of a GPU."""
    return exact(plan.catalog.gpus[plan.scenario.hardware.gpu].fact("memory_gib").value)


def whole_profile(plan: Plan) -> str:
    """Return the time-sliced profile with the whole frame buffer, one per GPU of a Bitfusion server; empty if none."""
    rows = plan.catalog.profiles_of(plan.scenario.hardware.gpu)
    whole = (r for r in rows if r["backing"] == "timesliced" and r["full_frame_buffer"])
    return next((str(r["profile"]) for r in whole), "")


TAKEN_ADDRESSES = 3
"""Reserved addresses of a subnet: its own, the gateway's and the broadcast address."""
PREFIX_BITS = 32
LONGEST_NAME = 40
NAMES_TAKEN = ("bitfusion_server", "bitfusion_clients")
"""Identifiers that no group gets."""


class Named(NamedTuple):
    """Things of one kind and their names."""

    what: str
    kind: str
    """``host``, ``switch`` or ``rack``."""
    names: tuple[str, ...]
    site: str = ""

    @property
    def many(self) -> int:
        """Number of things."""
        return len(self.names)


def names(plan: Plan) -> Iterator[Named]:
    """Yield the things to name, with the names that drawings and Terraform files use."""
    for pool in plan.pools:
        hosts = tuple(host_name(pool, number) for number in range(1, pool.hosts + 1))
        yield Named(said("physical.hosts of", cluster=pool.name), "host", hosts, pool.site)
    switches = plan.cabling.switches if plan.cabling else None
    if switches:
        yield from _switches(switches)
    if plan.power and plan.power.racks:
        racks = tuple(f"rack-{number:02}" for number in range(1, plan.power.racks + 1))
        yield Named(said("physical.racks"), "rack", racks)


def _switches(switches: Switches) -> Iterator[Named]:
    """Yield the leaves and spines of each fabric."""
    for number, fabric in enumerate(switch_names(switches), 1):
        where = f", {switches.name(number)}".removesuffix(", ")
        leaves = tuple(name for both in fabric.pairs.values() for name in both)
        for key, these in (("physical.leaves", leaves), ("physical.spines", tuple(fabric.spines))):
            if these:
                yield Named(said(key) + where, "switch", these)


class Network(NamedTuple):
    """A network of a site of the workload domain: its traffic, and the number of addresses that it needs."""

    key: str
    """A key of ``networks.csv``; ``rdma-2`` where the site has several fabrics for RDMA."""
    site: str
    id: str
    """The key, after the site if there are several."""
    purpose: str
    """Its name for readers."""
    addresses: int
    prefix: int
    """Prefix of the smallest subnet that holds them, as in /27."""
    mtu: int
    dhcp: str
    owner: str


def networks(plan: Plan) -> tuple[Network, ...]:
    """The networks of each site, sized for the hosts and VMs of the last year that is planned."""
    sites = enumerate(site_ids(plan))
    return tuple(network for at, site in sites for network in _networks_of(plan, site, first=not at))


def site_ids(plan: Plan) -> dict[str, str]:
    """Site of clusters -> its identifier, which is empty for the only one."""
    names, taken = list(dict.fromkeys(pool.site for pool in plan.pools)), set[str]()
    return {name: slug(name or "other", taken, "site") if names[1:] else "" for name in names}


def _networks_of(plan: Plan, site: str, *, first: bool) -> Iterator[Network]:
    """Yield the networks of a site; appliances, edges and Supervisor have theirs at the first."""
    now, here = max(1, plan.totals.hosts), sum(pool.hosts for pool in plan.pools if pool.site == site)
    grown = Fraction(max((*(plan.costs.hosts if plan.costs else ()), now)), now)
    ports = plan.cabling.ports.rdma if plan.cabling else 0
    counts: dict[str, list[Fraction]] = {
        "hosts": [here * grown],
        "vms": [sum(_vms(plan)) * here * grown / now],
    }
    counts["rdma"] = [ports * hosts * grown for hosts in _by_fabric(plan, site, here)]
    counts |= {name: [Fraction(count)] for name, count in appliances(plan).items() if first and count}
    facts, id = design_facts(plan), site_ids(plan)[site].replace("_", "-")
    for row in own_rows("words/networks"):
        parts = counts.get(row["for"], []) if holds(listed(row["when"]), facts=facts) else []
        for number, part in enumerate(parts, 1):
            key, name = (
                f"{row[column]} {number}" if parts[1:] else row[column] for column in ("key", "name")
            )
            key, count = key.replace(" ", "-"), math.ceil(int(row["addresses"]) * part)
            mtu = int(row["mtu"] or plan.scenario.network.mtu_bytes)
            full = f"{id}-{key}" if id else key
            name = said("physical.network at", network=name, site=site) if id else name
            yield Network(key, site, full, name, count, prefix(count), mtu, row["dhcp"], row["owner"])


def _by_fabric(plan: Plan, site: str, hosts: int) -> list[int]:
    """GPU hosts of a site on each fabric."""
    fabrics = plan.cabling.switches.fabrics if plan.cabling and plan.cabling.switches else ()
    return [fabric.hosts.gpu_hosts for fabric in fabrics if fabric.hosts.site in ("", site)] or [hosts]


def appliances(plan: Plan) -> dict[str, int]:
    """Nodes of the workload domain that have addresses: NSX Managers, edges, the Supervisor, and all in VM management."""
    nodes = {each.id: each.nodes for each in plan.management.appliances} if plan.management else {}
    edges, managers = nodes.get("nsx-edge", 0), nodes.get("domain-nsx-manager", 0)
    every = nodes.get("domain-vcenter", 0) + managers + bool(managers) + edges
    supervisor = int("supervisor-control-plane" in nodes)
    return {"managers": managers, "edges": edges, "supervisor": supervisor, "appliances": every}


def design_facts(plan: Plan) -> frozenset[str]:
    """Facts of a design on which its networks and what the customer has to state depend."""
    nodes, pods = appliances(plan), on_kubernetes(plan)
    facts = {
        "vcf": plan.scenario.cost.platform_licence in ("vcf", "owned"),
        "vsan": plan.vsan,
        "edges": nodes["edges"],
        "supervisor": nodes["supervisor"],
        "kubernetes": pods,
        "rdma": plan.cabling and plan.cabling.ports.rdma,
        "vgpu": any(pool.gpu_mode == "vgpu" for pool in plan.pools),
        "pinned": any(group.mode in ("passthrough", "bitfusion") for group in plan.groups),
        "vms": len(pods) < len(plan.groups),
    }
    return frozenset(name for name, value in facts.items() if value)


def _vms(plan: Plan) -> Iterator[int]:
    yield from (group.vms for group in plan.groups)
    yield from (len(servers.vms) for servers in all_servers(plan))
    yield from (retrieval.database_vms for retrieval in plan.llm.retrieval.values())


def prefix(addresses: int) -> int:
    """Return the prefix length of the smallest subnet with ``addresses`` addresses to assign, beside a gateway."""
    return PREFIX_BITS - math.ceil(math.log2(max(addresses, 1) + TAKEN_ADDRESSES))


def slug(text: str, taken: set[str], stem: str = "group") -> str:
    """Return a unique identifier."""
    result = re.sub(r"[^a-z0-9]+", "_", text.lower()).strip("_")[:LONGEST_NAME] or stem
    result = base = result if result[0].isalpha() else f"{stem}_{result}"
    count = 1
    while result in taken:
        count += 1
        result = f"{base}_{count}"
    taken.add(result)
    return result


def cluster_id(pool: Pool) -> str:
    """Return the name of a cluster in identifiers."""
    return pool.id.replace("-", "_")


def group_slugs(plan: Plan) -> dict[str, str]:
    """Group -> its identifier."""
    taken = {*NAMES_TAKEN, *map(cluster_id, plan.pools)}
    return {group.id: slug(group.id, taken) for group in plan.groups}


def vms_of(pool: Pool) -> Counter[str]:
    """Group -> its VMs that have a place in a cluster."""
    placed = {(slot.group, slot.vm) for host in pool.placement for load in host for slot in load.slots}
    return Counter(group for group, _ in placed)


def on_kubernetes(plan: Plan) -> tuple[Group, ...]:
    """Groups whose users get pods."""
    return tuple(group for group in plan.scenario.groups if group.runs_as == "kubernetes")


PODS_OF_A_NODE, USUAL_PODS, USUAL_NODES = 256, "192.168.128.0/17", 64
"""Addresses that kube-controller-manager gives to the pods of a node, a network for 128 nodes, and half as many worker nodes."""


def most_nodes(plan: Plan) -> int:
    """Return the worker nodes of the largest Kubernetes cluster: one on each cluster of vSphere."""
    pods = {group.id for group in on_kubernetes(plan)}
    return max(
        (sum(count for id, count in vms_of(pool).items() if id in pods) for pool in plan.pools), default=0
    )


def pod_network(nodes: int) -> str:
    """Return a private network for the pods of a cluster: twice as many subnets as worker nodes, for growth, upgrades and control planes.

    >>> pod_network(20), pod_network(700)
    ('192.168.128.0/17', '172.16.0.0/13')
    """
    prefix = max(12, 24 - math.ceil(math.log2(max(2 * nodes, 1))))
    return USUAL_PODS if nodes <= USUAL_NODES else f"172.16.0.0/{prefix}"


def first_and_last(names: Sequence[str]) -> str:
    """Return the first and the last of some names; one where they are the same."""
    return names[0] if names[0] == names[-1] else f"{names[0]} \u2013 {names[-1]}"


def alike(found: Sequence[Rack]) -> list[list[Rack]]:
    """Group consecutive identical racks."""
    return [list(these) for _, these in groupby(found, key=lambda rack: rack.kind)]
