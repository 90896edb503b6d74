"""Proposed racks: which host and which leaf switch stands in which of them, and what the loss of one takes.

Racks and switches are counted by the plan; nothing here decides how many.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import NamedTuple

from gpuplan.plan.hosts import Pool
from gpuplan.plan.plan import Plan
from gpuplan.plan.power import PowerUse
from gpuplan.plan.switches import Fabric, Switches

LEAST_DIGITS = 2


class Place(NamedTuple):
    """A GPU host in a rack and on a pair of leaf switches."""

    name: str
    pool: str
    number: int
    """Number of the host in its cluster, from 1."""
    peak_w: float
    rack: int
    fabric: int
    """Number of its fabric, from 1; 0 without switches."""
    pair: int
    """Number of the pair of leaf switches among those of all fabrics, from 1; 0 without switches."""
    of: str
    """Kind of the host; empty for the first."""


@dataclass(frozen=True, slots=True)
class Rack:
    """A rack from top to bottom."""

    number: int
    site: str
    leaves: tuple[str, ...]
    hosts: tuple[Place, ...]

    @property
    def kind(self) -> tuple[str, int, int, float]:
        """Attributes that identical racks share."""
        return self.site, len(self.leaves), len(self.hosts), self.peak_w

    @property
    def peak_w(self) -> float:
        """Peak power of its hosts."""
        return sum(host.peak_w for host in self.hosts)

    @property
    def both_leaves(self) -> bool:
        """True if both leaves of a pair stand in it."""
        return len({name[:-1] for name in self.leaves}) < len(self.leaves)


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
    places = list(_places(plan, use, switches))
    sites = {pool.id: pool.site for pool in plan.pools}
    leaves = _leaves(places, switches.total.leaves // 2 if switches else 0)
    by_rack = ((rack, tuple(these)) for rack, these in groupby(places, key=lambda place: place.rack))
    return tuple(
        Rack(rack, sites[these[0].pool], tuple(leaves.get(rack, ())), these) for rack, these in by_rack
    )


class RackLoss(NamedTuple):
    """What the loss of a rack takes of a cluster."""

    rack: Rack
    pool: Pool
    hosts: int
    gpus: int
    vms: int


def worst_loss(plan: Plan) -> RackLoss | None:
    """The loss of a rack that exceeds the failover capacity of a cluster most; None where none does."""
    pools, losses = {pool.id: pool for pool in plan.pools}, []
    for rack in racks(plan):
        for id, places in groupby(rack.hosts, key=lambda place: place.pool):
            pool, lost = pools[id], [place.number - 1 for place in places]
            vms = {(slot.group, slot.vm) for at in lost for load in pool.placement[at] for slot in load.slots}
            gpus = sum(pool.rooms[at].gpus for at in lost)
            losses.append(RackLoss(rack, pool, len(lost), gpus, len(vms)))
    beyond = [loss for loss in losses if loss.hosts > loss.pool.hosts_for_failures]
    return max(beyond, key=lambda loss: loss.hosts - loss.pool.hosts_for_failures, default=None)


def _places(plan: Plan, use: PowerUse, switches: Switches | None) -> Iterator[Place]:
    rack, pairs, clusters = 0, _pairs(switches.fabrics if switches else ()), dict[str, tuple[Pool, int]]()
    for pool in plan.pools:
        for at, share in enumerate(pool.shares):
            clusters[share.pool] = pool, sum(len(one.laid.hosts) for one in pool.shares[:at])
    for site in dict.fromkeys(pool.site for pool in plan.pools):
        for part in plan.by_kind:
            of, pools = part.scenario.hardware.of, [pool for pool in part.pools if pool.site == site]
            hosts = [(pool, number) for pool in pools for number in range(1, pool.hosts + 1)]
            for at, (mine, number) in enumerate(hosts):
                rack += at % use.kinds[of].per_rack == 0
                peak_w, pair = use.host_peaks_w[mine.id][number - 1], next(pairs, (0, 0))
                pool, before = clusters.get(mine.id, (mine, 0))
                number += before
                yield Place(host_name(pool, number), pool.id, number, peak_w, rack, *pair, of)


def _pairs(fabrics: Sequence[Fabric]) -> Iterator[tuple[int, int]]:
    """Yield the fabric and the pair of leaves of each GPU host, as many hosts on each pair of a fabric."""
    before = 0
    for number, fabric in enumerate(fabrics, 1):
        pairs, hosts = fabric.shape.leaves // 2, fabric.hosts.gpu_hosts
        for at in range(hosts):
            yield number, before + 1 + at * pairs // hosts
        before += pairs


def _leaves(places: Sequence[Place], pairs: int) -> dict[int, list[str]]:
    """Return the leaves in each rack: those of a pair in two racks with hosts of their fabric, if it has two."""
    leaves: dict[int, list[str]] = {}
    for pair, on_pair in groupby(places, key=lambda place: place.pair):
        first = next(on_pair)
        if not pair:
            continue
        others = [p.rack for p in places if p.fabric == first.fabric and p.rack != first.rack]
        twin = next((rack for rack in others if rack > first.rack), others[-1] if others else first.rack)
        for rack, name in zip((first.rack, twin), leaf_names(pair, pairs), strict=True):
            leaves.setdefault(rack, []).append(name)
    return leaves
