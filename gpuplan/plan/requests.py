"""Requests: the resources that VMs of each group need, the groups that share hosts, and the capacity of a host."""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache, wraps
from typing import Any, TypeVar

from gpuplan.catalog import Catalog, Row
from gpuplan.facts import Brief
from gpuplan.models import availability, placement, sharing
from gpuplan.models.gpu_layouts import gpu_layouts
from gpuplan.models.placement.fit import Rules
from gpuplan.plan.access import GroupPlan, Wanted, allocate, of_kind, with_pools
from gpuplan.plan.boards import lack
from gpuplan.plan.profiles import own_gpus
from gpuplan.plan.sharing import pieces_of, share_each, whole_profile
from gpuplan.plan.trail import Line, Trail
from gpuplan.plan.weighing import Weighed
from gpuplan.scenario import OTHER_VMS, UNASSIGNED, Group, HostKind, Scenario, host_kinds, other_vms
from gpuplan.units import MIB_PER_GIB, exact

T = TypeVar("T")


LAST = 10
"""Priority of GPUs of no group: after every group."""
FEW_VMS = 2000
"""VM count above which placements are large (10 MB for 10,000 hosts) and few of them are remembered."""


def remembered(work: Callable[..., T]) -> Callable[..., T]:
    """Cache a function of requests, its first argument: the last 256 answers for few VMs, the last 4 for more."""
    few, many = lru_cache(maxsize=256)(work), lru_cache(maxsize=4)(work)

    @wraps(work)
    def known(requests: tuple[placement.Request, ...], *rest: Any) -> T:
        return (few if sum(request.vms for request in requests) <= FEW_VMS else many)(requests, *rest)

    return known


@remembered
def placed_most(
    requests: tuple[placement.Request, ...], rooms: tuple[placement.Room, ...], priorities: tuple[int, ...]
) -> placement.Most:
    """``placement.place_most``, cached: designs that differ elsewhere share existing hosts."""
    return placement.place_most(requests, rooms=rooms, priorities=priorities)


@dataclass(frozen=True, repr=False)
class Requests(Brief):
    """The groups with their access modes, and the requests placed on the hosts."""

    groups: tuple[GroupPlan, ...]
    by_group: Mapping[str, placement.Request]
    members: Mapping[str, list[str]]
    """Pool -> its groups, and the part of a stated total that no group asks for."""
    there: Mapping[str, tuple[HostKind, ...]]
    """Pool -> the kind of each existing host that joins it."""
    rooms: Mapping[str, tuple[placement.Room, ...]]
    """Pool -> the capacity of each of these."""
    promises: Mapping[str, Any] = field(default_factory=dict)
    """Pool -> the ``Promise`` of a rule by risk to its groups; empty without one, and where it is not checked."""


def requests_of(
    trail: Trail,
    scenario: Scenario,
    catalog: Catalog,
    wanted: Mapping[str, Sequence[Line]],
    weighed: Mapping[str, Weighed],
) -> Requests:
    """Choose how each group reaches its GPUs, within a stated total that sizes the design, and what its VMs request."""
    total = scenario.deciding_total_gpus
    left = None if total is None else Fraction(total)
    groups: list[GroupPlan] = []
    for group in scenario.groups:
        want = Wanted(*(line.value for line in wanted[group.id]))
        plan = allocate(trail, scenario, catalog, group, weighed[group.id], want, left)
        if left is not None:
            left -= plan.vms_placed * exact(group.gpus_each)
        groups.append(plan)
    groups = with_pools(scenario, catalog, groups, weighed)
    requests = group_requests(trail, scenario, catalog, groups)
    members = members_of(groups)
    if unassigned := 0 if left is None else int(left):
        members.setdefault(_home(members, groups), []).append(UNASSIGNED)
        boards = _boards(scenario, catalog, Group(UNASSIGNED, UNASSIGNED), "passthrough")
        requests[UNASSIGNED] = placement.Request(UNASSIGNED, unassigned, gpus=1, boards=boards)
    for request in other_requests(scenario) if members else ():
        members[_home(members, groups)].append(request.group)
        requests[request.group] = request
    existing = existing_hosts(scenario, members, groups, requests)
    return Requests(tuple(groups), requests, members, existing, rooms_of(scenario, existing))


def members_of(groups: Sequence[GroupPlan]) -> dict[str, list[str]]:
    """Pool -> its groups that have VMs on hosts."""
    members: dict[str, list[str]] = {}
    for plan in groups:
        if plan.vms_placed:
            members.setdefault(plan.pool, []).append(plan.id)
    return members


def group_requests(
    trail: Trail, scenario: Scenario, catalog: Catalog, groups: Sequence[GroupPlan]
) -> dict[str, placement.Request]:
    """Return the request of each group to the hosts; the profiles in use decide which groups can share a GPU."""
    by_profile = _families(scenario, catalog, groups)
    by_id = {group.id: group for group in scenario.groups}
    requests = {}
    for plan in groups:
        if not plan.vms_placed:
            continue
        group = by_id[plan.id]
        request = placement.Request(
            plan.id,
            plan.vms_placed,
            vcpus=group.vcpus_each or 0,
            memory_gib=group.memory_gib_each or 0,
            boards=_boards(scenario, catalog, group, plan.mode),
        )
        if share_each(group) == 1:
            request = request._replace(gpus=int(group.gpus_each))
        elif plan.mode == "bitfusion":
            memory = catalog.gpus[scenario.hardware.gpu].fact("memory_gib")
            share = trail.about(f"groups.{plan.id}", name=plan.name).compute(
                "share_mb",
                sharing.memory_share_mb,
                gpus_each=scenario.fact(f"groups.{plan.id}.gpus_each"),
                memory_gib=memory,
            )
            capacity = int(memory.value * MIB_PER_GIB)
            family = _of_tenant(scenario, group, placement.Family("bitfusion", capacity=capacity))
            request = request._replace(family=family, weight=share.value)
        elif plan.profile not in by_profile:
            request = request._replace(gpus=own_gpus(scenario, catalog, group))
        else:
            family = _of_tenant(scenario, group, by_profile[plan.profile])
            request = request._replace(family=family, profile=plan.profile, shares=group.vgpus_each)
        requests[plan.id] = request
    return requests


def _of_tenant(scenario: Scenario, group: Group, family: placement.Family) -> placement.Family:
    """Return what can share a GPU with a group, where tenants share none."""
    apart = group.tenant and scenario.availability.tenants_apart != "none"
    return family._replace(name=f"{family.name}, {group.tenant}") if apart else family


def _boards(scenario: Scenario, catalog: Catalog, group: Group, mode: str) -> tuple[str, ...]:
    """Boards on which VMs of a group run; none where all hosts have that of the design.

    VMs with whole GPUs run on each board of owned hosts that does their work as well, those with vGPUs in a cluster of its
    own: their profile belongs to one board. So parts of a GPU stay on the board of the design.
    """
    others = other_boards(scenario)
    able = [
        gpu
        for gpu in others
        if (mode == "passthrough" or (mode == "vgpu" and whole_profile(scenario, catalog, group, gpu)))
        and not lack(catalog, group, scenario.hardware.gpu, gpu)
    ]
    return (scenario.hardware.gpu, *able) if others else ()


def other_boards(scenario: Scenario) -> list[str]:
    """Boards of existing hosts, other than that of the design."""
    kinds = host_kinds(scenario.hardware.existing)
    return sorted({kind.gpu for kind in kinds if kind.gpu} - {scenario.hardware.gpu})


def _families(
    scenario: Scenario, catalog: Catalog, groups: Sequence[GroupPlan]
) -> dict[str, placement.Family]:
    """For each requested profile, the profiles that can share a GPU with it."""
    backings = {plan.profile: plan.backing for plan in groups if plan.vms_placed and plan.profile}
    most = {str(row["profile"]): row for row in catalog.profiles_of(scenario.hardware.gpu)}
    families: dict[str, placement.Family] = {}
    for backing, together in (("timesliced", "mixed sizes"), ("mig", "MIG layouts")):
        wanted = tuple(name for name in most if backings.get(name) == backing)
        pieces, region, compute_slices = pieces_of(scenario, catalog, wanted)
        if pieces:
            in_order = backing == "mig"
            layouts = gpu_layouts(pieces, region=region, compute_slices=compute_slices, in_order=in_order)
            family = placement.Family(
                wanted[0] if len(wanted) == 1 else together,
                wanted,
                layouts,
                sizes=tuple(
                    100 * piece.size + piece.compute for piece in pieces
                ),  # memory first, then compute
                in_order=in_order,
            )
            families.update(dict.fromkeys(wanted, family))
        else:  # one size per GPU
            families |= {
                name: placement.Family(name, (name,), ((_most(scenario, most[name]),),)) for name in wanted
            }
    return families


def _most(scenario: Scenario, row: Row) -> int:
    """Return the most vGPUs of a profile on one GPU."""
    mixed = scenario.platform.vgpu_sizes == "mixed" and row["backing"] == "timesliced"
    return int(row["max_per_gpu_mixed" if mixed else "max_per_gpu"])


def held_gpus(scenario: Scenario, catalog: Catalog, group: Group, plan: GroupPlan) -> float:
    """GPUs that one VM of a group occupies: a partial share counts as a GPU divided by the most such shares on it."""
    share = exact(share_each(group))
    if share == 1:
        return float(group.gpus_each)
    if plan.profile:
        rows = {str(row["profile"]): row for row in catalog.profiles_of(scenario.hardware.gpu)}
        if plan.profile not in rows:
            return own_gpus(scenario, catalog, group)
        most, whole = _most(scenario, rows[plan.profile]), rows[plan.profile]["full_frame_buffer"]
        return group.vgpus_each / most if most > 1 or whole else float(group.gpus_each)
    return group.vgpus_each / (1 / share).__floor__()


def other_requests(scenario: Scenario) -> list[placement.Request]:
    """VMs without a GPU that run on the GPU hosts and take something of them that is stated."""
    apart, hardware = OTHER_VMS + of_kind(scenario), scenario.hardware
    return [
        placement.Request(f"{apart}{at}", other.vms, vcpus=other.vcpus, memory_gib=other.memory_gib)
        for at, other in enumerate(other_vms(hardware.other_vms), 1)
        if (other.vcpus and hardware.vcpus_per_host) or (other.memory_gib and hardware.memory_gib_per_host)
    ]


def room_of(
    scenario: Scenario,
    gpus: int,
    vcpus: int | None = None,
    memory_gib: int | None = None,
    gpu: str | None = None,
) -> placement.Room:
    """Return the capacity of a host with these GPUs, else as a new host; resources that none states are ignored."""
    hardware, others = scenario.hardware, other_vms(scenario.hardware.other_vms)
    by_vcpus = any(g.vcpus_each for g in scenario.groups) or any(other.vcpus for other in others)
    by_memory = any(g.memory_gib_each for g in scenario.groups) or any(other.memory_gib for other in others)
    return placement.Room(
        gpus,
        (vcpus or hardware.vcpus_per_host or 0) if by_vcpus else 0,
        (memory_gib or hardware.memory_gib_per_host or 0) if by_memory else 0,
        (gpu or hardware.gpu) if other_boards(scenario) else "",
    )


def kind_room(scenario: Scenario, kind: HostKind) -> placement.Room:
    """Return the capacity of an existing host of this kind."""
    gpus = kind.gpus or scenario.hardware.gpus_per_host
    return room_of(scenario, gpus, kind.vcpus, kind.memory_gib, kind.gpu)


def joins(scenario: Scenario, kind: HostKind, requests: Iterable[placement.Request]) -> bool:
    """True if existing hosts join VMs: they have the GPU of the design, or one that some of these run on."""
    if kind.gpu in (None, scenario.hardware.gpu):
        return True
    asked = [request for request in requests if request.boards]
    return len(too_large(asked, kind_room(scenario, kind))) < len(asked)


def spare_hosts(scenario: Scenario) -> int:
    """Spare hosts of each cluster."""
    return availability.spare_hosts(
        scenario.availability.host_failures,
        maintenance_failure_accepted=scenario.availability.maintenance_failure_accepted,
    )


def too_large(asked: Iterable[placement.Request], room: placement.Room) -> tuple[placement.Request, ...]:
    """Requests of which no VM fits on such a host when it is empty."""
    return tuple(request for request in asked if not Rules((request,)).most_on(room, 0))


def _home(by_pool: Mapping[str, Sequence[str]], groups: Sequence[GroupPlan]) -> str:
    """The pool with the largest demand."""
    return max(by_pool, key=lambda p: sum(g.demand_gpus for g in groups if g.pool == p), default="gpu")


def rooms_of(
    scenario: Scenario, there: Mapping[str, Sequence[HostKind]]
) -> dict[str, tuple[placement.Room, ...]]:
    """Return the capacity of each existing host, by pool."""
    return {pool: tuple(kind_room(scenario, kind) for kind in kinds) for pool, kinds in there.items()}


def existing_hosts(
    scenario: Scenario,
    by_pool: Mapping[str, Sequence[str]],
    groups: Sequence[GroupPlan],
    asked: Mapping[str, placement.Request],
) -> dict[str, tuple[HostKind, ...]]:
    """Assign existing hosts to the pools that they join: with the GPU of the design, or one that VMs of the pool run on.

    VMs that no new host can take come first. Then, by the priority of the groups, of equal ones in the larger pool first,
    each pool takes the smallest hosts with all that can be held; the rest, and all if no priority is better than another,
    join the pool with the largest demand that they can join.
    """
    kinds = host_kinds(scenario.hardware.existing)
    left = [kind for kind in kinds for _ in range(kind.hosts)]
    left.sort(key=lambda kind: kind_room(scenario, kind))
    if not by_pool or not left:
        return {}
    home, every = _home(by_pool, groups), {pool: [asked[g] for g in ids] for pool, ids in by_pool.items()}
    taken = _claimed(scenario, by_pool, home, every, left)
    for kind in left:
        pools = (pool for pool in (home, *taken) if joins(scenario, kind, every[pool]))
        if pool := next(pools, ""):
            taken[pool].append(kind)
    order = {kind: at for at, kind in enumerate(kinds)}
    return {pool: tuple(sorted(hosts, key=lambda k: order[k])) for pool, hosts in taken.items() if hosts}


def _claimed(
    scenario: Scenario,
    by_pool: Mapping[str, Sequence[str]],
    home: str,
    every: Mapping[str, Sequence[placement.Request]],
    left: list[HostKind],
) -> dict[str, list[HostKind]]:
    """Take from the hosts left those for VMs that no new host can take, then for those of each priority; return them by pool."""
    taken: dict[str, list[HostKind]] = {pool: [] for pool in by_pool}
    priority = {group.id: group.priority for group in scenario.groups}
    new = room_of(scenario, scenario.hardware.gpus_per_host)
    claims = [(pool, too_large(requests, new)) for pool, requests in every.items()]
    for level, pool in _turns(by_pool, home, priority):
        claims.append((pool, tuple(r for r in every[pool] if priority.get(r.group, LAST) <= level)))
    for pool, requests in claims if len(every) > 1 else ():
        able = [kind for kind in left if joins(scenario, kind, requests)]
        used = _taken(scenario, requests, priority, taken[pool], able)
        if requests and requests == too_large(requests, new):
            used |= _spare(scenario, requests, able, used)
        for kind in [able[at] for at in sorted(used)]:
            taken[pool].append(kind)
            left.remove(kind)
    return taken


def _spare(
    scenario: Scenario, asked: tuple[placement.Request, ...], able: Sequence[HostKind], used: set[int]
) -> set[int]:
    """Return the largest other hosts as failover for VMs that no new host can take."""
    free = [at for at in range(len(able)) if at not in used]
    fit = [at for at in free if asked != too_large(asked, kind_room(scenario, able[at]))]
    return set(fit[::-1][: spare_hosts(scenario)])


def _turns(
    by_pool: Mapping[str, Sequence[str]], home: str, priority: Mapping[str, int]
) -> list[tuple[int, str]]:
    """Priority and pool, in turn: larger pool first at equal priorities; none where all priorities are equal."""
    keys = {(priority[g], pool != home, pool) for pool, ids in by_pool.items() for g in ids if g in priority}
    turns = [(level, pool) for level, _, pool in sorted(keys)]
    return turns if len(dict(turns)) > 1 else []


def _taken(
    scenario: Scenario,
    asked: tuple[placement.Request, ...],
    priority: Mapping[str, int],
    mine: Sequence[HostKind],
    left: Sequence[HostKind],
) -> set[int]:
    """Return the smallest of these hosts that, with a pool's own, carry as many of its VMs as all would."""
    levels = tuple(priority.get(request.group, LAST) for request in asked)
    rooms = [kind_room(scenario, kind) for kind in (*mine, *left)]

    def held(hosts: int) -> placement.Most:
        return placed_most(asked, tuple(rooms[: len(mine) + hosts]), levels)

    every = held(len(left)).placed
    fewest = bisect_left(range(len(left)), True, key=lambda hosts: held(hosts).placed == every)
    return {at - len(mine) for at, host in enumerate(held(fewest).hosts) if host and at >= len(mine)}
