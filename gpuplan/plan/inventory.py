"""Inventory: the demand that fits on existing hosts, by priority of the groups, and the hosts to buy for the rest."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from gpuplan.catalog import Catalog
from gpuplan.models import placement
from gpuplan.models.placement import Request
from gpuplan.plan.hosts import Pool
from gpuplan.plan.layouts import placed, spare_hosts
from gpuplan.plan.requests import LAST, Requests, joins, kind_room, placed_most, room_of
from gpuplan.plan.trail import Line, Trail
from gpuplan.scenario import UNASSIGNED, HostKind, Scenario, host_kinds


@dataclass(frozen=True, slots=True)
class KindUse:
    """Existing hosts of one kind, and the demand that fits on them."""

    name: str
    hosts: int
    gpu: str
    """In the catalog."""
    gpus_per_host: int
    joins: bool
    """True if they have the GPU of the design, and so are in its cluster."""
    gpus_used: int
    """GPUs that the VMs take that fit on them."""
    vms: int


@dataclass(frozen=True, slots=True)
class GroupUse:
    """VMs of a group: those that fit on existing hosts, and those that need new hosts."""

    id: str
    priority: int
    vms: int
    there: int
    """On hosts with the GPU of the design."""
    elsewhere: int
    """On hosts with another GPU."""

    @property
    def rest(self) -> int:
        """VMs that no host that is there has room for."""
        return self.vms - self.there - self.elsewhere


@dataclass(frozen=True, slots=True)
class Inventory:
    """The demand that fits on existing hosts, all of them being up."""

    kinds: tuple[KindUse, ...]
    groups: tuple[GroupUse, ...]
    proven: bool
    """True if no placement has more on the hosts with the GPU of the design."""
    buy: int
    """Hosts that the design buys, failover capacity included."""
    buy_beside: int
    """The same if hosts with another GPU run the VMs that fit on them."""


def inventory_of(
    trail: Trail, scenario: Scenario, catalog: Catalog, requests: Requests, pools: Sequence[Pool]
) -> Inventory | None:
    """Return the demand that fits on existing hosts; None without any, or without demand."""
    kinds = host_kinds(scenario.hardware.existing)
    if not kinds or not requests.by_group:
        return None
    levels = {group.id: group.priority for group in scenario.groups} | {UNASSIGNED: LAST}
    in_pools, elsewhere, proven = Counter[str](), Counter[str](), True
    used = dict.fromkeys(sorted(kinds, key=lambda kind: not joins(scenario, kind)), (0, 0))
    for pool, hosts in requests.there.items():
        wanted = [requests.by_group[member] for member in requests.members[pool]]
        most = _fit(scenario, wanted, hosts, levels, in_pools, used)
        proven &= most.gpus >= most.bound - 1e-9
    for kind in (kind for kind in kinds if not joins(scenario, kind)):
        left = (
            r._replace(vms=r.vms - in_pools[r.group] - elsewhere[r.group]) for r in requests.by_group.values()
        )
        able = [r for r in left if r.vms and _able(scenario, catalog, kind, r)]
        _fit(scenario, able, (kind,) * kind.hosts, levels, elsewhere, used)
    groups = tuple(
        GroupUse(r.group, levels.get(r.group, 1), r.vms, in_pools[r.group], elsewhere[r.group])
        for r in requests.by_group.values()
    )
    buy = sum(pool.hosts - pool.existing_hosts for pool in pools)
    fewer = _bought(scenario, requests, Counter()) - _bought(scenario, requests, elsewhere)
    uses = tuple(
        replace(_use(scenario, kind, *taken), hosts=kind.hosts * kinds.count(kind))
        for kind, taken in used.items()
    )
    _lines(trail, scenario, uses, buy)
    return Inventory(uses, groups, proven, buy, buy - fewer)


def _fit(
    scenario: Scenario,
    asked: Sequence[Request],
    hosts: Sequence[HostKind],
    levels: Mapping[str, int],
    there: Counter[str],
    used: dict[HostKind, tuple[int, int]],
) -> placement.Most:
    """As much as fits on hosts of these kinds, noted in the VMs that are there and in the GPUs and VMs of each kind."""
    rooms = tuple(kind_room(scenario, kind) for kind in hosts)
    most = placed_most(tuple(asked), rooms, tuple(levels.get(r.group, 1) for r in asked))
    there.update({r.group: placed for r, placed in zip(asked, most.placed, strict=True)})
    for kind, host in zip(hosts, most.hosts, strict=True):
        gpus, vms = used[kind]
        standing = {(slot.group, slot.vm) for load in host for slot in load.slots}
        used[kind] = gpus + sum(load.gpus for load in host), vms + len(standing)
    return most


def _able(scenario: Scenario, catalog: Catalog, kind: HostKind, request: Request) -> bool:
    """True if VMs may run on hosts with another GPU: without a GPU, or with whole GPUs if its memory is as large."""
    if request.family is not None or kind.gpu is None:
        return False
    memory, least = (catalog.gpus[gpu].fact("memory_gib").value for gpu in (kind.gpu, scenario.hardware.gpu))
    return not request.gpus or float(memory) >= float(least)


def _use(scenario: Scenario, kind: HostKind, gpus: int, vms: int) -> KindUse:
    """Return the use of the hosts of a kind."""
    per_host = kind.gpus or scenario.hardware.gpus_per_host
    gpu = kind.gpu or scenario.hardware.gpu
    return KindUse(kind.name, kind.hosts, gpu, per_host, joins(scenario, kind), gpus, vms)


def _bought(scenario: Scenario, requests: Requests, elsewhere: Mapping[str, int]) -> int:
    """Return the hosts to buy if this many VMs of each group run on hosts with another GPU, in the best arrangement."""
    room, spare, bought = room_of(scenario, scenario.hardware.gpus_per_host), spare_hosts(scenario), 0
    for pool, members in requests.members.items():
        wanted = (requests.by_group[m]._replace(vms=requests.by_group[m].vms - elsewhere[m]) for m in members)
        existing = requests.rooms.get(pool, ())
        if left := tuple(request for request in wanted if request.vms):
            bought += len(placed(left, existing, room, spare).hosts) - len(existing)
    return bought


def _lines(trail: Trail, scenario: Scenario, used: Sequence[KindUse], buy: int) -> None:
    stated = scenario.fact("hardware.existing")
    gpus = sum(kind.hosts * kind.gpus_per_host for kind in used)
    placed_gpus: Line = trail.record(
        "inventory.gpus_used",
        placement.place_most,
        sum(kind.gpus_used for kind in used),
        words={"there": gpus},
        existing=stated,
    )
    trail.record("inventory.hosts_to_buy", placement.place_mixed, buy, gpus_used=placed_gpus, existing=stated)
