"""Hosts: the fewest on which everything fits, the spare ones, and what stands on each of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache, wraps
from typing import Any, TypeVar

from gpuplan.facts import Fact, derived
from gpuplan.models import availability, demand, placement
from gpuplan.models.availability import failover
from gpuplan.models.availability.failover import Idle, Loss
from gpuplan.models.placement import Host, Request, Room, Shared
from gpuplan.plan.access import Unplaced
from gpuplan.plan.requests import Requests, room_of
from gpuplan.plan.trail import Given, Line, Trail
from gpuplan.scenario import UNASSIGNED, Scenario

T = TypeVar("T")


POOL_NAMES = {
    "vgpu": "vGPU cluster",
    "passthrough": "Passthrough cluster",
    "bitfusion": "Bitfusion cluster",
    "gpu": "GPU cluster",
}


@dataclass(frozen=True, slots=True)
class Pool:
    """Equal GPU hosts that back each other up."""

    id: str
    name: str
    access: tuple[str, ...]
    gpu_mode: str
    server: str
    gpu: str
    hosts: int
    hosts_for_demand: int
    hosts_for_failures: int
    existing_hosts: int
    gpus_per_host: int
    gpus: int
    gpus_after_failure: int
    gpus_demanded: float
    gpus_occupied: int
    requests: tuple[Request, ...]
    rooms: tuple[Room, ...]
    """What each host offers, in the order of ``placement``; those already there first."""
    new_room: Room
    """What a new host offers."""
    placement: tuple[Host, ...]
    bound: int
    """No design without spare hosts has fewer, those already there included."""
    hosts_without_spare: int
    """Hosts of the design without spare ones, those already there included."""
    new_needed: tuple[int, ...]
    """New hosts that carry the demand when 0, 1, 2, ... of those already there are down, if they have other GPUs than
    new ones; otherwise one number, the hosts that carry it."""
    method: str
    shared: tuple[Shared, ...]
    idle: tuple[Idle, ...]
    unplaced: tuple[Unplaced, ...]
    failures: tuple[Loss, ...]
    """The loss of each host, those filled alike once, the worst first."""
    losses: tuple[LossLevel, ...]

    @property
    def mixed(self) -> bool:
        """Whether hosts differ, or CPU or memory is counted: then the placement is a heuristic with a bound."""
        return bool(self.existing_hosts or self.new_room.vcpus or self.new_room.memory_gib)


@dataclass(frozen=True, slots=True)
class LossLevel:
    """What is left when any so many hosts of a pool are down at once."""

    lost: int
    gpus_left: int
    fits: bool | None
    """Whether everything has a place again, whichever hosts are lost; None if no place was found, and no bound says
    that there is none."""
    without_moving: bool | None
    """Whether it does by restarts alone, nobody else being moved; None if that was not worked out."""


def spare_hosts(scenario: Scenario) -> int:
    """Spare hosts of each cluster."""
    return availability.spare_hosts(
        scenario.availability.host_failures,
        maintenance_failure_accepted=scenario.availability.maintenance_failure_accepted,
    )


FEW_VMS = 2000
"""Placements of more VMs are large (10 MB for 10,000 hosts), so few of them are remembered."""


def remembered(work: Callable[..., T]) -> Callable[..., T]:
    """Remembers what follows from the requests that it is given first: of few VMs the last 256 answers, of more the last 4."""
    few, many = lru_cache(maxsize=256)(work), lru_cache(maxsize=4)(work)

    @wraps(work)
    def known(requests: tuple[placement.Request, ...], *rest: Any) -> T:
        return (few if sum(request.vms for request in requests) <= FEW_VMS else many)(requests, *rest)

    return known


@remembered
def placed_mixed(
    requests: tuple[placement.Request, ...],
    room: placement.Room,
    existing: tuple[placement.Room, ...],
    spare: int = 0,
) -> placement.Placement:
    """``placement.place_mixed``, remembered: postures and designs that differ elsewhere ask for the same ones."""
    return placement.place_mixed(requests, room=room, existing=existing, spare=spare)


def numbered_from_1(losses: Iterable[failover.Loss]) -> tuple[failover.Loss, ...]:
    """Losses whose hosts count from 1, as everywhere outside the models."""
    return tuple(loss._replace(hosts=tuple(host + 1 for host in loss.hosts)) for loss in losses)


@dataclass(frozen=True)
class Layout:
    """What stands on which host, and what follows from that alone: worked out once, when it is asked for."""

    asked: tuple[placement.Request, ...]
    existing: tuple[placement.Room, ...]
    room: placement.Room
    needed: placement.Placement
    """Without spare hosts."""
    hosts: tuple[placement.Host, ...]
    """With them."""
    mixed: bool

    @cached_property
    def rooms(self) -> tuple[placement.Room, ...]:
        """What each host offers."""
        return (*self.existing, *(self.room for _ in range(len(self.hosts) - len(self.existing))))

    @cached_property
    def hosts_by_gpus(self) -> placement.Placement:
        """The placement if only GPUs counted."""
        return placement.place(self.asked, gpus_per_host=self.room.gpus)

    @cached_property
    def new_needed(self) -> tuple[int, ...]:
        """New hosts that carry the demand when 0, 1, 2, ... of the hosts already there are down, never fewer with more down."""
        if set(self.existing) <= {self.room}:
            return (sum(bool(host) for host in self.needed.hosts),)
        counts = [len(self.needed.hosts) - len(self.existing)]
        for down in range(1, min(len(self.existing), MOST_EXISTING_DOWN) + 1):
            left = self.existing[down:]
            placed = placed_mixed(self.asked, self.room, left)
            counts.append(max(counts[-1], len(placed.hosts) - len(left)))
        return tuple(counts)

    @property
    def other_hosts(self) -> int:
        """Hosts already there that have other GPUs than new ones."""
        return len(self.existing) if len(self.new_needed) > 1 else 0

    @cached_property
    def failures(self) -> tuple[failover.Loss, ...]:
        """What the loss of any host would do."""
        return numbered_from_1(
            failover.failure_survey(self.hosts, requests=self.asked, rooms=self.rooms, lost=1)
        )

    @cached_property
    def idle(self) -> tuple[failover.Idle, ...]:
        """What nobody uses on hosts that somebody is on."""
        return failover.idle_gpus(self.hosts, requests=self.asked, rooms=self.rooms)


MOST_EXISTING_DOWN = 8
"""Of hosts already there, as many are looked at down at once; more count as too many."""


def layouts(scenario: Scenario, requests: Requests) -> dict[str, Layout]:
    """What is asked of each pool, placed on the fewest hosts and on those with the spare ones."""
    room, spare = room_of(scenario, scenario.hardware.gpus_per_host), spare_hosts(scenario)
    return {
        pool: _placed(tuple(requests.by_group[m] for m in members), requests.rooms.get(pool, ()), room, spare)
        for pool, members in requests.members.items()
    }


@remembered
def _placed(
    asked: tuple[placement.Request, ...],
    existing: tuple[placement.Room, ...],
    room: placement.Room,
    lost: int,
) -> Layout:
    """The layout of one pool; kept, as designs that differ in their network or prices alone share it."""
    mixed = bool(existing or room.vcpus or room.memory_gib)
    if mixed:
        needed = placed_mixed(asked, room, existing)
        hosts = placed_mixed(asked, room, existing, lost).hosts
    else:
        needed = placement.place(asked, gpus_per_host=room.gpus)
        hosts = (*needed.hosts, *(() for _ in range(lost)))
    return Layout(asked, existing, room, needed, hosts, mixed)


def pools(
    trail: Trail, scenario: Scenario, requests: Requests, layouts: Mapping[str, Layout]
) -> tuple[Pool, ...]:
    """Each pool of hosts, with its placement and what failures do to it."""
    return tuple(_pool(trail, scenario, requests, pool_id, laid) for pool_id, laid in layouts.items())


def _pool(trail: Trail, scenario: Scenario, requests: Requests, pool_id: str, laid: Layout) -> Pool:
    """The hosts for the groups of one pool: the fewest on which everything fits, plus the spare ones."""
    here, name = trail.about(f"pools.{pool_id}", name=POOL_NAMES[pool_id]), POOL_NAMES[pool_id]
    members, groups, existing = requests.members[pool_id], requests.groups, laid.existing
    needed, layout, rooms = laid.needed, laid.hosts, laid.rooms
    used = sum(bool(host) for host in needed.hosts)

    demanded = _demand_lines(trail, here, scenario, members, requests)
    if laid.mixed and not existing:
        alone = laid.hosts_by_gpus
        when, words = "heuristic" * (alone.method == "heuristic"), {"least": alone.bound}
        count = len(alone.hosts)
        here.record("hosts_by_gpus", placement.place, count, when=when, words=words, gpus_demanded=demanded)
    lines = _host_lines(here, scenario, demanded, laid)
    for loss in laid.failures:  # a line for each kind of host that can be lost
        number = loss.hosts[0]
        here.record(
            f"failure.{number}",
            failover.after_failure,
            loss.restarted,
            words={"number": number},
            restarted=counted_vms("plan/VMs_restarted", loss.restarted),
            moved=counted_vms("plan/VMs_moved", loss.moved),
            unplaced=counted_vms("plan/VMs_unplaced", loss.unplaced),
        )
    return Pool(
        id=pool_id,
        name=name,
        access=tuple(dict.fromkeys(g.mode for g in groups if g.id in members)),
        gpu_mode="vgpu" if pool_id == "vgpu" else "passthrough",
        server=scenario.hardware.server or "",
        gpu=scenario.hardware.gpu,
        hosts=len(layout),
        hosts_for_demand=used,
        hosts_for_failures=len(layout) - used,
        existing_hosts=len(existing),
        gpus_per_host=scenario.hardware.gpus_per_host,
        gpus=lines["gpus"].value,
        gpus_after_failure=lines["gpus_after_failure"].value,
        gpus_demanded=demanded.value,
        gpus_occupied=needed.gpus_occupied,
        requests=laid.asked,
        rooms=rooms,
        new_room=laid.room,
        placement=layout,
        bound=needed.bound,
        hosts_without_spare=len(needed.hosts),
        new_needed=laid.new_needed,
        method=needed.method,
        shared=needed.shared,
        idle=laid.idle,
        unplaced=tuple(u for g in groups if g.id in members for u in g.unplaced),
        failures=laid.failures,
        losses=tuple(_loss_level(lost, laid) for lost in range(3)),
    )


def _demand_lines(
    trail: Trail, here: Trail, scenario: Scenario, members: Sequence[str], asked: Requests
) -> Line:
    """GPUs that the members of a pool demand, each part with a line."""
    groups = [group for group in asked.groups if group.id in members]
    parts = {group.id: trail[f"groups.{group.id}.demand_gpus"] for group in groups}
    stated = scenario.fact("demand.stated_gpus")
    if UNASSIGNED in members:
        parts[UNASSIGNED] = trail.record(
            "demand.unassigned_gpus",
            demand.planned_demand_gpus,
            float(asked.by_group[UNASSIGNED].vms),
            groups_gpus=trail["demand.groups_gpus"],
            stated_gpus=stated,
        )
    for plan in (group for group in groups if group.vms_placed < group.vms):
        admitted = demand.group_demand_gpus(plan.vms_placed, gpus_each=plan.gpus_each)
        parts[plan.id] = trail.about(f"groups.{plan.id}", name=plan.name).record(
            "admitted_gpus", demand.admitted_vms, admitted, gpus=parts[plan.id], stated=stated
        )
    return here.add_up("gpus_demanded", demand.total_demand_gpus, parts)


def _host_lines(here: Trail, scenario: Scenario, demanded: Line, laid: Layout) -> dict[str, Line]:
    """Lines from the demand of a pool to its hosts and GPUs, before and after a failure."""
    per_host = scenario.fact("hardware.gpus_per_host")
    needed, rooms, existing = laid.needed, laid.rooms, len(laid.existing)
    place = placement.place_mixed if laid.mixed else placement.place
    for share in needed.shared:
        here.record(
            f"shared.{share.family}",
            place,
            share.gpus,
            when="" if share.gpus == share.bound else "heuristic",
            words={"family": share.family, "least": share.bound},
            gpus_demanded=demanded,
        )
    occupied = here.record("gpus_occupied", place, needed.gpus_occupied, gpus_demanded=demanded)
    counted = here.compute("count_hosts", placement.count_hosts, gpus=demanded, gpus_per_host=per_host)
    used = sum(bool(host) for host in needed.hosts)
    when, words = _proof(needed, laid.mixed, existing)
    for_demand = here.record(
        "hosts_for_demand",
        place,
        used,
        when=when,
        words=words,
        gpus_occupied=occupied,
        gpus_per_host=per_host,
        count_hosts=counted,
    )
    failures = scenario.fact("availability.host_failures")
    accepted = scenario.fact("availability.maintenance_failure_accepted")
    when = "accepted" if accepted.value else "not accepted"
    if laid.mixed:
        spare = here.record(
            "hosts_for_failures",
            placement.place_mixed,
            len(rooms) - used,
            when=f"{when}, placed again",
            host_failures=failures,
            hosts_for_demand=for_demand,
        )
    else:
        spare = here.compute(
            "hosts_for_failures",
            availability.spare_hosts,
            when=when,
            host_failures=failures,
            maintenance_failure_accepted=accepted,
        )
    hosts = here.compute(
        "hosts", availability.total_hosts, hosts_for_demand=for_demand, hosts_for_failures=spare
    )
    held: dict[str, Fact | Line] = {"hosts": hosts, "gpus_per_host": per_host}
    if existing:
        each = scenario.fact("hardware.existing_gpus_per_host")
        held["existing_hosts"] = scenario.fact("hardware.existing_hosts")
        held["existing_gpus_per_host"] = replace(each, value=rooms[0].gpus)
    gpus = here.compute("gpus", availability.installed_gpus, held, when="existing" * bool(existing))
    return {"gpus": gpus, "gpus_after_failure": after_loss_line(here, scenario, gpus, hosts, rooms)}


def _proof(placed: placement.Placement, mixed: bool, existing: int) -> tuple[str, dict[str, int]]:
    """How it is known that fewer hosts cannot do, and the numbers that are named with it."""
    new, least = len(placed.hosts) - existing, max(0, placed.bound - existing)
    how: str = placed.method
    if existing:
        how = "existing" if new == least else "existing, heuristic"
    elif mixed and how != "heuristic":
        how = "mixed"
    return how, {"existing": existing, "new": new, "least": least, "bound": placed.bound}


def after_loss_line(
    trail: Trail, scenario: Scenario, gpus: Line, hosts: Line, rooms: Sequence[placement.Room]
) -> Line:
    """GPUs left when the number of hosts to tolerate, and at least one, is lost; the largest where hosts differ."""
    key, failures = "gpus_after_failure", scenario.fact("availability.host_failures")
    count = min(max(1, int(failures.value)), len(rooms))
    lost = replace(failures, value=count)
    if any(room.gpus != scenario.hardware.gpus_per_host for room in rooms):
        function = availability.gpus_without_largest
        value = function([room.gpus for room in rooms], hosts_lost=count)
        return trail.record(key, function, value, when="largest", gpus=gpus, hosts=hosts, hosts_lost=lost)
    per_host = scenario.fact("hardware.gpus_per_host")
    held: Given = {"gpus": gpus, "gpus_per_host": per_host, "hosts_lost": lost, "hosts": hosts}
    return trail.compute(key, availability.gpus_after_failure, held)


def _loss_level(lost: int, laid: Layout) -> LossLevel:
    """What any so many losses leave, and whether everything fits on it."""
    largest = sorted((room.gpus for room in laid.rooms), reverse=True)
    fits = _fits_without(lost, laid)
    return LossLevel(lost, sum(largest[lost:]), fits, _without_moving(lost, laid, fits))


def _fits_without(lost: int, laid: Layout) -> bool | None:
    """Whether everything has a place again after any so many losses; None where nobody knows.

    Hosts of one size are all alike to a new placement, so what counts is how many of each size are left.
    """
    needed, old, new = laid.new_needed, laid.other_hosts, len(laid.rooms) - laid.other_hosts
    ways = [(down, lost - down) for down in range(lost + 1) if down <= old and lost - down <= new]
    if all(down < len(needed) and new - others >= needed[down] for down, others in ways):
        return True
    unknown = laid.needed.method == "heuristic" and len(laid.rooms) - lost >= laid.needed.bound
    return None if unknown else False


def _without_moving(lost: int, laid: Layout, fits: bool | None) -> bool | None:
    """Whether restarts alone do; an empty host can take over what any lost host of its size held."""
    empty = sum(not host for host in laid.hosts)
    if lost == 0 or (not laid.other_hosts and empty >= lost):
        return True
    if lost == 1:
        return all(not loss.unplaced and not loss.moved for loss in laid.failures)
    return False if fits is False else None


def counted_vms(key: str, value: int) -> Fact:
    """A count of VMs that the placement itself gives."""
    return derived(key, value, "VM", "counted in the placement, each host failed in turn")
