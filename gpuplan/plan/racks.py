"""Proposed racks: which host and which leaf switch stands in which of them, and what the loss of one takes.

Racks and switches are counted by the plan; nothing here decides how many.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
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
    """Number of its rack, from 1; 0 where racks are not known."""
    fabric: int
    """Number of its fabric, from 1; 0 without switches."""
    pair: int
    """Number of the pair of leaf switches among those of all fabrics, from 1; 0 without switches."""
    of: str
    """Kind of the host; empty for the first."""


class Device(NamedTuple):
    """What stands in a rack at a height."""

    name: str
    what: str
    """``leaf``, ``spine`` or ``host``."""
    bottom_u: float
    """Rack units below it."""
    height_u: float

    @property
    def units(self) -> str:
        """The rack units that it takes, as printed on the rails: ``U41``, ``U1-2``."""
        first, last = int(self.bottom_u) + 1, math.ceil(self.bottom_u + self.height_u)
        return f"U{first}" if first == last else f"U{first}-{last}"


@dataclass(frozen=True, slots=True)
class Rack:
    """A rack from top to bottom."""

    number: int
    site: str
    leaves: tuple[str, ...]
    spines: tuple[str, ...]
    hosts: tuple[Place, ...]
    devices: tuple[Device, ...]
    """Switches from the top down, then hosts from the bottom up."""
    units: int
    limit_w: float
    """Power that its hosts may draw."""

    @property
    def name(self) -> str:
        """The proposed name."""
        return f"rack-{self.number:02}"

    @property
    def kind(self) -> tuple[object, ...]:
        """Attributes that identical racks share."""
        return self.site, self.peak_w, tuple(device[1:] for device in self.devices)

    @property
    def peak_w(self) -> float:
        """Peak power of its hosts."""
        return sum(host.peak_w for host in self.hosts)

    @property
    def free_u(self) -> float:
        """Rack units that no device takes."""
        return self.units - sum(device.height_u for device in self.devices)

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


class FabricNames(NamedTuple):
    """The proposed names of the switches of a fabric."""

    pairs: Mapping[int, tuple[str, str]]
    """Pair of leaves, by its number among those of all fabrics -> their names."""
    spines: tuple[str, ...]


def switch_names(switches: Switches) -> list[FabricNames]:
    """Name the switches of each fabric, numbered through all of them."""
    found, pairs, spines, all_pairs = list[FabricNames](), 0, 0, switches.total.leaves // 2
    for fabric in switches.fabrics:
        upto, last = pairs + fabric.shape.leaves // 2, spines + fabric.shape.spines
        named = {pair: leaf_names(pair, all_pairs) for pair in range(pairs + 1, upto + 1)}
        found.append(FabricNames(named, tuple(f"spine-{at:02}" for at in range(spines + 1, last + 1))))
        pairs, spines = upto, last
    return found


def places(plan: Plan) -> list[Place]:
    """The hosts of a design in their order, each with its rack and its pair of leaf switches where these are known."""
    return list(_places(plan, plan.power, plan.cabling.switches if plan.cabling else None))


def racks(plan: Plan) -> tuple[Rack, ...]:
    """The racks of a design; none where one host is more than a rack may carry."""
    use, switches = plan.power, plan.cabling.switches if plan.cabling else None
    if use is None or not use.hosts_per_rack:
        return ()
    every, sites = places(plan), {pool.id: pool.site for pool in plan.pools}
    by_rack = {rack: tuple(these) for rack, these in groupby(every, key=lambda place: place.rack)}
    names = switch_names(switches) if switches else []
    leaves = _leaves(every, {pair: both for one in names for pair, both in one.pairs.items()})
    spines = _spines(every, names)
    heights = [_switch_u(plan, id) for id in (switches.leaf, switches.spine)] if switches else []

    def stood(number: int, hosts: tuple[Place, ...]) -> Rack:
        given = use.kinds[hosts[0].of].rack
        host_u, units = float(given["host_u"].value), int(given["rack_units_u"].value)
        mine, above = leaves.get(number, ()), spines.get(number, ())
        devices, top = list[Device](), float(units)
        for what, these, height in zip(("leaf", "spine"), (mine, above), heights, strict=False):
            for name in these:
                top -= height
                devices.append(Device(name, what, top, height))
        devices += [Device(host.name, "host", at * host_u, host_u) for at, host in enumerate(hosts)]
        site, limit_w = sites[hosts[0].pool], 1000 * float(given["rack_kw"].value)
        return Rack(number, site, tuple(mine), tuple(above), hosts, tuple(devices), units, limit_w)

    return tuple(stood(number, hosts) for number, hosts in by_rack.items())


def _switch_u(plan: Plan, id: str) -> float:
    """Height of a switch; one rack unit where the catalog does not know it."""
    return float(plan.catalog.switches[id].value("rack_units_u") or 1) if id else 1.0


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


def _places(plan: Plan, use: PowerUse | None, switches: Switches | None) -> Iterator[Place]:
    rack, pairs, clusters = 0, _pairs(switches.fabrics if switches else ()), dict[str, tuple[Pool, int]]()
    for pool in plan.pools:
        for at, share in enumerate(pool.shares):
            clusters[share.pool] = pool, sum(len(one.laid.hosts) for one in pool.shares[:at])
    for of, hosts in _apart(plan):
        per_rack = use.kinds[of].per_rack if use else 0
        for at, (mine, number) in enumerate(hosts):
            rack += bool(per_rack) and at % per_rack == 0
            peak_w, pair = use.host_peaks_w[mine.id][number - 1] if use else 0.0, next(pairs, (0, 0))
            pool, before = clusters.get(mine.id, (mine, 0))
            number += before
            yield Place(host_name(pool, number), pool.id, number, peak_w, rack, *pair, of)


def _apart(plan: Plan) -> Iterator[tuple[str, list[tuple[Pool, int]]]]:
    """Yield the hosts that share no rack with others: a kind of them at a site, each with its number in its cluster."""
    for site in dict.fromkeys(pool.site for pool in plan.pools):
        for part in plan.by_kind:
            pools = [pool for pool in part.pools if pool.site == site]
            hosts = [(pool, number) for pool in pools for number in range(1, pool.hosts + 1)]
            yield part.scenario.hardware.of, hosts


def _pairs(fabrics: Sequence[Fabric]) -> Iterator[tuple[int, int]]:
    """Yield the fabric and the pair of leaves of each GPU host, as many hosts on each pair of a fabric."""
    before = 0
    for number, fabric in enumerate(fabrics, 1):
        pairs, hosts = fabric.shape.leaves // 2, fabric.hosts.gpu_hosts
        for at in range(hosts):
            yield number, before + 1 + at * pairs // hosts
        before += pairs


def _leaves(places: Sequence[Place], names: Mapping[int, tuple[str, str]]) -> dict[int, list[str]]:
    """Return the leaves in each rack: those of a pair in two racks with hosts of their fabric, if it has two."""
    leaves: dict[int, list[str]] = {}
    for pair, on_pair in groupby(places, key=lambda place: place.pair):
        first = next(on_pair)
        if not pair:
            continue
        others = [p.rack for p in places if p.fabric == first.fabric and p.rack != first.rack]
        twin = next((rack for rack in others if rack > first.rack), others[-1] if others else first.rack)
        for rack, name in zip((first.rack, twin), names[pair], strict=True):
            leaves.setdefault(rack, []).append(name)
    return leaves


def _spines(places: Sequence[Place], names: Sequence[FabricNames]) -> dict[int, list[str]]:
    """Return the spines in each rack: spread over the racks with GPU hosts of their fabric; one without has none here."""
    spines: dict[int, list[str]] = {}
    for number, fabric in enumerate(names, 1):
        stand = list(dict.fromkeys(place.rack for place in places if place.fabric == number))
        for at, name in enumerate(fabric.spines if stand else ()):
            spines.setdefault(stand[at * len(stand) // len(fabric.spines)], []).append(name)
    return spines
