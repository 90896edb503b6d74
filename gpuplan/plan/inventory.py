"""Inventory: the demand that fits on existing hosts, by priority of the groups, and the hosts to buy for the rest."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gpuplan.models import placement
from gpuplan.plan.hosts import Pool
from gpuplan.plan.requests import LAST, Requests, kind_room, placed_most
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
    """True if they are hosts of the design: they have its GPU, or one on which VMs of it run as well."""
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
    """On hosts with another GPU, which are hosts of the design too."""

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
    """True if no placement has more on these hosts."""
    buy: int
    """Hosts that the design buys, failover capacity included."""


def inventory_of(
    trail: Trail, scenario: Scenario, requests: Requests, pools: Sequence[Pool]
) -> Inventory | None:
    """Return the demand that fits on existing hosts; None without any, or without demand."""
    kinds = host_kinds(scenario.hardware.existing)
    if not kinds or not requests.by_group:
        return None
    levels = {group.id: group.priority for group in scenario.groups} | {UNASSIGNED: LAST}
    taken = {(pool.kind, room) for pool in pools for room in pool.rooms[: pool.existing_hosts]}
    joined = {
        kind
        for pool, hosts in requests.there.items()
        for kind in hosts
        if (pool, kind_room(scenario, kind)) in taken
    }
    gpus, vms, proven = _running(scenario, requests, pools, levels)
    own_boards, on = (None, scenario.hardware.gpu), Counter[HostKind | tuple[str, bool]]()
    for (kind, group), count in vms.items():
        on[kind] += count
        on[group, kind.gpu in own_boards] += count
    groups = tuple(
        GroupUse(r.group, levels.get(r.group, 1), r.vms, on[r.group, True], on[r.group, False])
        for r in requests.by_group.values()
    )
    uses = tuple(
        KindUse(
            kind.name,
            kind.hosts * kinds.count(kind),
            kind.gpu or scenario.hardware.gpu,
            kind.gpus or scenario.hardware.gpus_per_host,
            kind in joined,
            gpus[kind],
            on[kind],
        )
        for kind in sorted(dict.fromkeys(kinds), key=lambda kind: kind not in joined)
    )
    buy = sum(pool.hosts - pool.existing_hosts for pool in pools)
    _lines(trail, scenario, uses, buy)
    return Inventory(uses, groups, proven, buy)


def _running(
    scenario: Scenario, requests: Requests, pools: Sequence[Pool], levels: Mapping[str, int]
) -> tuple[Counter[HostKind], Counter[tuple[HostKind, str]], bool]:
    """Return the GPUs and, by group, the VMs that existing hosts of each kind take, and whether none could take more."""
    gpus, vms, proven = Counter[HostKind](), Counter[tuple[HostKind, str]](), True
    left = {pool: list(hosts) for pool, hosts in requests.there.items()}
    for pool in pools:  # those of a group or a site run on the hosts of their own cluster
        rooms = pool.rooms[: pool.existing_hosts]
        most = placed_most(pool.requests, rooms, tuple(levels.get(r.group, 1) for r in pool.requests))
        proven &= most.gpus >= most.bound - 1e-9
        for room, host in zip(rooms, most.hosts, strict=True):
            kind = next(kind for kind in left[pool.kind] if kind_room(scenario, kind) == room)
            left[pool.kind].remove(kind)
            gpus[kind] += sum(load.gpus for load in host)
            running = {(slot.group, slot.vm) for load in host for slot in load.slots}
            vms.update((kind, group) for group, _ in running)
    return gpus, vms, proven


def _lines(trail: Trail, scenario: Scenario, used: Sequence[KindUse], buy: int) -> None:
    stated = scenario.fact("hardware.existing")
    gpus = sum(kind.hosts * kind.gpus_per_host for kind in used if kind.joins)
    placed_gpus: Line = trail.record(
        "inventory.gpus_used",
        placement.place_most,
        sum(kind.gpus_used for kind in used),
        words={"there": gpus},
        existing=stated,
    )
    trail.record("inventory.hosts_to_buy", placement.place_mixed, buy, gpus_used=placed_gpus, existing=stated)
