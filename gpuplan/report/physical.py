"""Proposed locations and names: racks, hosts on leaf pairs, names and addresses to assign.

Nothing here decides anything: racks and switches are counted by the plan; this says which host is in which of them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count, groupby
from typing import NamedTuple

from gpuplan.plan import Plan
from gpuplan.plan.hosts import Pool
from gpuplan.report.bitfusion import all_servers
from gpuplan.scenario import Group
from gpuplan.wording import NAMES, said

LEAST_DIGITS = 2
TAKEN_ADDRESSES = 3
"""Reserved addresses of a subnet: its own, the gateway's and the broadcast address."""
PREFIX_BITS = 32
TUNNEL_ENDPOINTS = 2
"""Tunnel endpoints of NSX on a host with two teamed ports: one for each."""


class Place(NamedTuple):
    """A GPU host in a rack and on a pair of leaf switches."""

    name: str
    pool: str
    number: int
    """Number of the host in its cluster, from 1."""
    rack: int
    pair: int
    """Number of the pair of leaf switches, from 1; 0 without switches."""


@dataclass(frozen=True, slots=True)
class Rack:
    """A rack from top to bottom."""

    number: int
    site: str
    leaves: tuple[str, ...]
    hosts: tuple[Place, ...]

    @property
    def kind(self) -> tuple[str, int, int]:
        """Attributes that identical racks share."""
        return self.site, len(self.leaves), len(self.hosts)


def host_name(pool: Pool, number: int) -> str:
    """The proposed name of a host, the same as in the variables of the Terraform files."""
    return f"{pool.id}-{number:0{max(LEAST_DIGITS, len(str(pool.hosts)))}}"


def leaf_names(pair: int, pairs: int) -> tuple[str, str]:
    """The proposed names of the two leaves of a pair."""
    digits = max(LEAST_DIGITS, len(str(pairs)))
    return f"leaf-{pair:0{digits}}a", f"leaf-{pair:0{digits}}b"


def racks(plan: Plan) -> tuple[Rack, ...]:
    """The racks of a design; none where one host is more than a rack may carry."""
    use, switches = plan.power, plan.cabling.switches if plan.cabling else None
    if use is None or not use.hosts_per_rack:
        return ()
    pairs = switches.shape.leaves // 2 if switches else 0
    places = list(_places(plan, use.hosts_per_rack, pairs))
    sites = {pool.id: pool.site for pool in plan.pools}
    leaves: dict[int, list[str]] = {}
    for pair, rack in {place.pair: place.rack for place in reversed(places) if place.pair}.items():
        leaves.setdefault(rack, []).extend(leaf_names(pair, pairs))
    by_rack = ((rack, tuple(these)) for rack, these in groupby(places, key=lambda place: place.rack))
    return tuple(
        Rack(rack, sites[these[0].pool], tuple(leaves.get(rack, ())), these) for rack, these in by_rack
    )


def _places(plan: Plan, hosts_per_rack: int, pairs: int) -> Iterator[Place]:
    """Yield the hosts in their racks, each site in racks of its own, on as many pairs of leaves."""
    rack, placed = 0, count()
    for _, pools in groupby(plan.pools, key=lambda pool: pool.site):
        hosts = [(pool, number) for pool in pools for number in range(1, pool.hosts + 1)]
        for at, (pool, number) in enumerate(hosts):
            rack += at % hosts_per_rack == 0
            pair = 1 + next(placed) * pairs // plan.totals.hosts if pairs else 0
            yield Place(host_name(pool, number), pool.id, number, rack, pair)


class Named(NamedTuple):
    """Things of one kind and their names."""

    what: str
    many: int
    first: str
    last: str


def names(plan: Plan) -> Iterator[Named]:
    """Yield the things to name, with the names that drawings and Terraform files use."""
    for pool in plan.pools:
        yield Named(
            said("physical.hosts of", cluster=pool.name),
            pool.hosts,
            host_name(pool, 1),
            host_name(pool, pool.hosts),
        )
    switches = plan.cabling.switches if plan.cabling else None
    if switches:
        pairs = switches.shape.leaves // 2
        yield Named(
            said("physical.leaves"),
            switches.shape.leaves,
            leaf_names(1, pairs)[0],
            leaf_names(pairs, pairs)[1],
        )
        if spines := switches.shape.spines:
            yield Named(said("physical.spines"), spines, "spine-01", f"spine-{spines:02}")
    if plan.power and plan.power.racks:
        yield Named(said("physical.racks"), plan.power.racks, "rack-01", f"rack-{plan.power.racks:02}")


NETWORKS = NAMES["network of a host"]


class Network(NamedTuple):
    """A network of the workload domain: its traffic, and the number of addresses that it needs."""

    key: str
    """``management``, ``vmotion``, ``storage``, ``overlay``, ``vm``, ``rdma``."""
    purpose: str
    addresses: int
    prefix: int
    """Prefix of the smallest subnet that holds them, as in /27."""
    mtu: int


def networks(plan: Plan) -> tuple[Network, ...]:
    """The networks of the GPU hosts, sized for the hosts and VMs of the last year that is planned."""
    hosts = max((*(plan.costs.hosts if plan.costs else ()), plan.totals.hosts))
    grown = hosts / max(1, plan.totals.hosts)
    vms = math.ceil(sum(_vms(plan)) * grown)
    mtu, ports = plan.scenario.network.mtu_bytes, plan.cabling.ports if plan.cabling else None
    needs = [
        ("management", 2 * hosts, 1500),
        ("vmotion", hosts, mtu),
        ("storage", hosts, mtu),
        ("overlay", TUNNEL_ENDPOINTS * hosts, mtu),
    ]
    needs.append(("vm", vms, 1500))
    if ports and ports.rdma:
        needs.append(("rdma", hosts * ports.rdma, mtu))
    return tuple(Network(key, NETWORKS[key], count, prefix(count), size) for key, count, size in needs)


def _vms(plan: Plan) -> Iterator[int]:
    """VMs of the workloads, and those that serve them."""
    yield from (group.vms for group in plan.groups)
    yield from (len(servers.vms) for servers in all_servers(plan))
    yield from (retrieval.database_vms for retrieval in plan.llm.retrieval.values())


def prefix(addresses: int) -> int:
    """Return the prefix length of the smallest subnet with ``addresses`` addresses to assign, beside a gateway."""
    return PREFIX_BITS - math.ceil(math.log2(max(addresses, 1) + TAKEN_ADDRESSES))


def on_kubernetes(plan: Plan) -> tuple[Group, ...]:
    """Groups whose users get pods."""
    return tuple(group for group in plan.scenario.groups if group.runs_as == "kubernetes")


def first_and_last(names: Sequence[str]) -> str:
    """Return the first and the last of some names; one where they are the same."""
    return names[0] if names[0] == names[-1] else f"{names[0]} \u2013 {names[-1]}"


def alike(found: Sequence[Rack]) -> list[list[Rack]]:
    """Group consecutive identical racks."""
    return [list(these) for _, these in groupby(found, key=lambda rack: rack.kind)]
