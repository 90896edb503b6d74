"""Rehearsal: rolling upgrades, restarts after each failure, a week of coming and going, all as vSphere places VMs.

Nothing is rearranged: VMs go where each reading of the power-on rules puts them. Each part is computed when it is read.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from gpuplan.catalog import Catalog
from gpuplan.models import power_on
from gpuplan.models.availability.failover import after_failure
from gpuplan.models.placement import Host, Request, Room
from gpuplan.models.power_on.cluster import SMALLEST
from gpuplan.models.power_on.rehearsal import MOVES, RESTARTS, STAYS
from gpuplan.plan.access import GroupPlan, served_by
from gpuplan.plan.hosts import Pool
from gpuplan.plan.over_time.rules import ends, largest_first, readings_of
from gpuplan.plan.requests import LAST, remembered
from gpuplan.plan.working_week import Week
from gpuplan.scenario import Scenario

LOOKS = 2_000_000
"""VMs x GPUs x readings of a cluster that is rehearsed: some 10 s."""
QUICK_LOOKS = 100_000
"""The same for a cluster that is rehearsed unasked, for its message."""
SEARCH_LOOKS, FEW_LOOKS = 40_000, 10_000
"""Moves x GPUs that the search for an order of hosts tries: some 0.03 s; and the same for a change."""
WEEKS = 10
"""Weeks that are tried under each reading."""
HOURS = 168


class Went(NamedTuple):
    """Outcome for a VM of a host that is evacuated; hosts count from 1."""

    group: str
    vm: int
    how: str
    """``moves`` by vMotion, ``restarts`` on another host after it was shut down, or is ``down`` until its host is back."""
    host: int
    """Host on which it ran."""
    to_host: int | None


class Turn(NamedTuple):
    """A host that is evacuated, upgraded and returned."""

    host: int
    went: tuple[Went, ...]
    """Its VMs, under the reading under which most VMs are down over all hosts."""
    down: tuple[int, int]
    """Fewest and most VMs that are down until it is back, over the readings."""
    stun_s: float | None
    """Total stun of its VMs in vMotion, one after the other; None where it is not known."""

    def vms(self, how: str) -> int:
        """Count its VMs that leave in this way."""
        return sum(vm.how == how for vm in self.went)


class Upgraded(NamedTuple):
    """All hosts of a cluster evacuated in turn."""

    turns: tuple[Turn, ...]
    down: tuple[int, int]
    """Fewest and most VMs that are down with their hosts, over the readings."""
    works: bool
    """True if no VM stays down for lack of room until its host returns, under any reading."""
    proven: bool
    """True if, when this order of hosts fails, every order is proven to fail."""

    @property
    def order(self) -> tuple[int, ...]:
        """The hosts, in turn."""
        return tuple(turn.host for turn in self.turns)


class Failed(NamedTuple):
    """HA restarts when hosts fail; each order of VMs of one priority is equally likely."""

    hosts: tuple[int, ...]
    vms: int
    chance: tuple[float, float]
    """That all restart that may, over the readings: lowest and highest."""
    missing: tuple[float, float]
    """Mean number of VMs that do not."""
    worst: tuple[tuple[str, int], ...]
    """(group, VMs) that do not restart in the worst order under the worst reading."""
    static: int
    """VMs that stay down by their way of access."""
    best: int
    """VMs without a place if all could be placed again."""
    drawn: int
    """Random orders that were tried; 0: all were followed."""


class Lived(NamedTuple):
    """Effects of a week of VMs starting and stopping, over the readings: lowest and highest."""

    back: float
    """VMs that come back in a week."""
    refused: tuple[float, float]
    """Share of starts that do not succeed at once."""
    first_start: tuple[float, float]
    """Share of the VMs of the busiest hour that do not start on empty hosts."""
    missing: tuple[float, ...]
    """Of each hour of the week, UTC, VMs that are wanted and do not run, under the worst reading."""
    stranded_gpus: tuple[float, ...]
    """Of each hour the GPUs' worth that is idle meanwhile."""
    wanted: tuple[int, ...]
    """Of each hour the VMs that are wanted."""
    season: str


@dataclass(frozen=True, eq=False)
class Rehearsed:
    """A cluster as vSphere started it, and the rehearsals of upgrades, failures and a week on it."""

    pool: Pool
    asked: tuple[Request, ...]
    rooms: tuple[Room, ...]
    rules: tuple[power_on.Rules, ...]
    """Readings of the rules."""
    ways: tuple[str, ...]
    """The way in which VMs of each request leave a host."""
    priorities: tuple[int, ...]
    stuns: tuple[float | None, ...]
    """Stun of a VM of each request in vMotion."""
    reserved: int
    """Hosts on which no VM is started."""
    weeks: Callable[[], Mapping[str, Mapping[str, Week]]] = field(repr=False)

    @property
    def looks(self) -> int:
        """Size of the search: GPUs x VMs x readings."""
        gpus, vms = sum(room.gpus for room in self.rooms), sum(request.vms for request in self.asked)
        return gpus * vms * len(self.rules)

    @property
    def kept_out(self) -> tuple[int, ...]:
        """Hosts, from 0, on which no VM is started: empty ones of the design before others."""
        filled = self.pool.placement
        order = sorted(range(len(self.rooms)), key=lambda at: (not (at < len(filled) and filled[at]), at))
        return tuple(order[len(order) - self.reserved :])

    @property
    def too_large(self) -> bool:
        """True if the cluster is too large to be rehearsed."""
        return self.looks > LOOKS

    @property
    def quick(self) -> bool:
        """True if an upgrade can be rehearsed in a moment."""
        return self.looks <= QUICK_LOOKS

    def works_unasked(self, looks: int = SEARCH_LOOKS) -> bool:
        """False if an upgrade can be rehearsed in a moment, and a search of this many moves x GPUs shuts VMs down."""
        return not self.quick or (self.upgrade.works if looks == SEARCH_LOOKS else self.works_within(looks))

    @cached_property
    def started(self) -> tuple[power_on.Cluster, ...]:
        """Under each reading the VMs as they were powered on, largest first."""
        return tuple(started(self.asked, self.rooms, rules, self.kept_out) for rules in self.rules)

    @cached_property
    def not_started(self) -> tuple[int, int]:
        """Fewest and most VMs that did not start then."""
        vms = sum(request.vms for request in self.asked)
        return ends([vms - len(cluster.spots) for cluster in self.started])

    @cached_property
    def upgrade(self) -> Upgraded:
        """Hosts evacuated in turn, from the VMs as they were powered on."""
        return self._told(upgraded(self.asked, self.rooms, self.rules, self.ways, self.kept_out))

    def works_within(self, looks: int) -> bool:
        """True if a search of this many moves x GPUs finds an order of hosts that keeps all VMs running."""
        if self.not_started[1]:
            return False
        upgrade = upgraded(self.asked, self.rooms, self.rules, self.ways, self.kept_out, None, looks)
        return upgrade.works

    @cached_property
    def upgrade_as_designed(self) -> Upgraded:
        """The same, from the placement of the design."""
        layout = self.pool.placement
        return self._told(upgraded(self.asked, self.rooms, self.rules, self.ways, (), layout))

    def _told(self, found: power_on.Upgrade) -> Upgraded:
        down = [sum(len(emptied.down) for emptied in world) for world in found.emptied]
        worst = down.index(max(down))
        turns = tuple(self._turn(stage, worst) for stage in zip(*found.emptied, strict=True))
        return Upgraded(turns, ends(down), found.works, found.proven)

    def _turn(self, stage: Sequence[power_on.Emptied], worst: int) -> Turn:
        """Combine the evacuation of a host under all readings, with the details of one of them."""
        shown, host = stage[worst], stage[worst].host + 1
        went = [
            Went(self.asked[kind].group, vm, how, host, None if to is None else to + 1)
            for kind, vm, how, to in shown.went
        ]
        stuns = [self.stuns[move.kind] for move in shown.went if move.how == MOVES]
        times = [stun for stun in stuns if stun is not None]
        stun_s = sum(times) if len(times) == len(stuns) else None
        return Turn(host, tuple(went), ends([len(emptied.down) for emptied in stage]), stun_s)

    @cached_property
    def by_hand(self) -> bool:
        """True if an empty host can take all VMs of any other, so that an operator can move them without downtime."""
        if self.not_started[1] or not self.started:
            return False
        empty = [at for at in range(len(self.rooms)) if not any(c.vms[at] for c in self.started)]
        return self._covers(empty)

    @cached_property
    def by_hand_as_designed(self) -> bool:
        """The same from the placement of the design."""
        return self._covers([at for at, host in enumerate(self.pool.placement) if not host])

    def _covers(self, empty: Sequence[int]) -> bool:
        """True if one of these hosts offers at least as much as each other host."""
        return any(all(self.rooms[at].offers_as_much(room) for room in self.rooms) for at in empty)

    def emptied(self, host: int) -> Turn:
        """One host, from 1, evacuated with the cluster as powered on."""
        stage = [power_on.empty_host(world, host - 1, ways=self.ways)[1] for world in _worlds(self.started)]
        return self._turn(stage, max(range(len(stage)), key=lambda at: len(stage[at].down)))

    @cached_property
    def failures(self) -> tuple[Failed, ...]:
        """HA restarts after the failure of each host, the worst first."""
        outcomes = [self.failed(host) for host in range(1, len(self.rooms) + 1)]
        return tuple(sorted(outcomes, key=lambda each: (-each.missing[1], each.chance[0], each.hosts)))

    def failed(self, *hosts: int) -> Failed:
        """Simulate HA restarts when these hosts fail at once; they count from 1."""
        lost = {host - 1 for host in hosts}
        restarts = [
            power_on.restart_after_failure(cluster, lost, priorities=self.priorities, ways=self.ways)
            for cluster in self.started
        ]
        at = max(range(len(restarts)), key=lambda n: (restarts[n].missing, sum(restarts[n].worst)))
        worst, best = restarts[at], 0
        if any(worst.worst):
            layout = self.started[at].hosts()
            best = len(after_failure(layout, requests=self.asked, rooms=self.rooms, failed=lost).unplaced)
        return Failed(
            hosts,
            worst.vms + sum(worst.static),
            ends([restart.chance for restart in restarts]),
            ends([restart.missing for restart in restarts]),
            tuple((request.group, n) for request, n in zip(self.asked, worst.worst, strict=True) if n),
            sum(worst.static),
            best,
            max(restart.orders for restart in restarts),
        )

    @cached_property
    def week(self) -> Lived | None:
        """Simulate VMs starting and stopping over a week; None where no VM ever leaves."""
        season, groups = next(iter(self.weeks().items()))
        wanted = _wanted(self.asked, groups)
        if len(set(wanted)) == 1:
            return None
        rooms = tuple(room for at, room in enumerate(self.rooms) if at not in self.kept_out)
        results = [lived(self.asked, rooms, rules, wanted) for rules in self.rules]
        worst = max(results, key=lambda each: sum(each.missing))
        return Lived(
            worst.back,
            ends([result.refused / result.back if result.back else 0.0 for result in results]),
            ends([result.first_start for result in results]),
            worst.missing,
            worst.stranded_gpus,
            tuple(sum(hour) for hour in wanted),
            season,
        )


def rehearsed_of(
    scenario: Scenario,
    catalog: Catalog,
    groups: Sequence[GroupPlan],
    pools: Sequence[Pool],
    weeks: Callable[[], Mapping[str, Mapping[str, Week]]],
) -> dict[str, Rehearsed]:
    """Cluster -> its rehearsal; none where Bitfusion shares the GPUs."""
    plans, priority = {group.id: group for group in groups}, {g.id: g.priority for g in scenario.groups}
    by_pool = {}
    for pool in pools:
        requests = pool.requests
        rules = readings(scenario, catalog, pool)
        if rules and pool.hosts:
            by_pool[pool.id] = Rehearsed(
                pool,
                requests,
                pool.rooms,
                rules,
                tuple(_way(pool, plans.get(request.group)) for request in requests),
                tuple(priority.get(request.group, LAST) for request in requests),
                tuple(_stun(plans.get(request.group), request) for request in requests),
                min(scenario.availability.reserved_hosts, pool.hosts - 1),
                weeks,
            )
    return by_pool


def readings(scenario: Scenario, catalog: Catalog, pool: Pool) -> tuple[power_on.Rules, ...]:
    """Every reading of the rules for a cluster; none where Bitfusion shares its GPUs."""
    if served_by(pool.kind) == "bitfusion":
        return ()
    return tuple(reading.rules for reading in readings_of(scenario, catalog, pool.kind, pool.requests))


def _way(pool: Pool, group: GroupPlan | None) -> str:
    """Return the way in which VMs of a group leave a host, by what its access mode gives up."""
    if group is None:  # VMs without a GPU, or GPUs of no group
        return RESTARTS if served_by(pool.kind) == "passthrough" else MOVES
    verdict = {trait.feature: trait.verdict for trait in group.traits}
    if verdict.get("vMotion") != "no":
        return MOVES
    return STAYS if verdict.get("HA restart") == "no" else RESTARTS


def _stun(group: GroupPlan | None, request: Request) -> float | None:
    """Return the stun of a VM in vMotion; one without a GPU has none."""
    if not request.gpus and not request.family:
        return 0.0
    return group.stun_s if group else None


@remembered
def started(
    asked: tuple[Request, ...], rooms: tuple[Room, ...], rules: power_on.Rules, kept_out: tuple[int, ...]
) -> power_on.Cluster:
    """The VMs of a cluster powered on, largest first, on all hosts but some; cached, so copy it before a trial."""
    cluster = power_on.Cluster(asked, rooms, rules)
    for kind in largest_first(asked):
        for vm in range(1, asked[kind].vms + 1):
            cluster.start(kind, vm, without=kept_out)
    return cluster


def _worlds(clusters: Sequence[power_on.Cluster]) -> list[power_on.Cluster]:
    """Each reading with the largest and with the smallest VM leaving first, where that makes a difference."""
    if len(clusters[0].requests) < 2:
        return list(clusters)
    return [world for cluster in clusters for world in (cluster, cluster.leaving(SMALLEST))]


@remembered
def upgraded(
    asked: tuple[Request, ...],
    rooms: tuple[Room, ...],
    rules: tuple[power_on.Rules, ...],
    ways: tuple[str, ...],
    kept_out: tuple[int, ...],
    layout: tuple[Host, ...] | None = None,
    looks: int = SEARCH_LOOKS,
) -> power_on.Upgrade:
    """``rehearse_upgrade`` under every reading, remembered; from a layout, or from VMs powered on."""
    clusters = [
        started(asked, rooms, reading, kept_out)
        if layout is None
        else power_on.arranged(asked, rooms=rooms, rules=reading, layout=layout)
        for reading in rules
    ]
    worlds = _worlds(clusters)
    once = len(worlds) * (len(rooms) + sum(request.vms for request in asked))
    steps = max(2 * once, looks // max(1, sum(room.gpus for room in rooms)))
    return power_on.rehearse_upgrade(worlds, ways=ways, steps=steps)


@remembered
def lived(
    asked: tuple[Request, ...],
    rooms: tuple[Room, ...],
    rules: power_on.Rules,
    wanted: tuple[tuple[int, ...], ...],
) -> power_on.LivedWeek:
    """``lived_week``, remembered."""
    return power_on.lived_week(asked, rooms=rooms, rules=rules, wanted=wanted, weeks=WEEKS)


def _wanted(asked: Sequence[Request], groups: Mapping[str, Week]) -> tuple[tuple[int, ...], ...]:
    """VMs of each request that are wanted in each hour of the week: all at the peak of its group, else in proportion."""
    hours = []
    for request in asked:
        week = groups.get(request.group)
        loads = week.loads.reshape(HOURS, -1).max(axis=1) if week else None
        peak = float(loads.max()) if loads is not None else 0.0
        if loads is None or not peak:
            hours.append([request.vms] * HOURS)
        else:
            hours.append([-int(-request.vms * float(load) / peak // 1) for load in loads])
    return tuple(zip(*hours, strict=True))
