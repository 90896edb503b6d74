"""Layouts: everything on the fewest hosts, with failover capacity, and on the remaining hosts after a failure."""

import math
import operator
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import NamedTuple

from gpuplan.catalog import Catalog
from gpuplan.facts import Brief, Fact
from gpuplan.models import placement
from gpuplan.models.availability.idle import Idle, idle_gpus
from gpuplan.models.availability.survey import Loss, failure_survey
from gpuplan.models.placement.apart import set_apart
from gpuplan.plan.llm.asks import RETRIEVAL, SERVING
from gpuplan.plan.over_time.rules import Enough, more_hosts, readings_of
from gpuplan.plan.prices import stated_or
from gpuplan.plan.requests import Requests, remembered, room_of, spare_hosts
from gpuplan.scenario import Scenario

MOST_EXISTING_DOWN = 8
"""Most existing hosts that are considered down at once; more count as too many."""
MOST_LOSSES = 30
"""The same where differing hosts make for more combinations."""
SETS_DOWN = 4
"""Most existing hosts down at once of which each set counts; of more, which happens so rarely, the worst."""
MOST_SETS = 2000
"""Most combinations of hosts by kind for which a chance is computed."""


@dataclass(frozen=True, slots=True)
class LossLevel:
    """Capacity left when any this many hosts of a pool are down at once."""

    lost: int
    gpus_left: int
    fits: bool | None
    """True if every VM can restart, whichever hosts are lost; None if no placement was found and
    none is disproven."""
    without_moving: bool | None
    """True if restarts alone suffice, without moving any other VM; None if that was not computed."""


def most_hosts_fact(scenario: Scenario, catalog: Catalog) -> Fact:
    """Most hosts of one cluster: stated, or the limit of vSphere."""
    limit = catalog.assumptions["vi-cluster"].fact("max_hosts")
    return stated_or(scenario, "availability.hosts_per_cluster", limit)


def most_hosts(scenario: Scenario, catalog: Catalog) -> int:
    """The same, and at least one for the demand."""
    return max(int(most_hosts_fact(scenario, catalog).value), spare_hosts(scenario) + 1)


@lru_cache(maxsize=16)
def _beside(requests: tuple[placement.Request, ...], room: placement.Room) -> placement.PlacedBeside:
    """Placements of these VMs, kept for the postures and losses of a few designs: they differ in the existing hosts alone."""
    return placement.PlacedBeside(requests, room)


@remembered
def placed_mixed(
    requests: tuple[placement.Request, ...],
    room: placement.Room,
    existing: tuple[placement.Room, ...],
    spare: int = 0,
) -> placement.Placement:
    """``placement.place_mixed``, remembered: postures and designs that differ elsewhere ask for the same ones."""
    return _beside(requests, room).placed(existing, spare)


def numbered_from_1(losses: Iterable[Loss]) -> tuple[Loss, ...]:
    """Losses with hosts that count from 1, as everywhere outside the models."""
    return tuple(loss._replace(hosts=tuple(host + 1 for host in loss.hosts)) for loss in losses)


@remembered
def placed_alike(requests: tuple[placement.Request, ...], gpus_per_host: int) -> placement.Placement:
    """``placement.place``, remembered: postures differ in their spare hosts alone."""
    return placement.place(requests, gpus_per_host=gpus_per_host)


class Kept(NamedTuple):
    """Result of a rule by risk, simulated on the hosts for the demand of the clusters of some groups."""

    value: float
    """Chance that the rule limits."""
    half_width: float | None
    """Of its 95 % interval."""
    held: bool
    more: int = 0
    """Hosts beyond those that the formula takes, as if all GPUs were in one host."""
    at_first: float = 0.0
    """The chance on the hosts that the formula takes."""


@dataclass(frozen=True, repr=False)
class Layout(Brief):
    """VMs on each host, and the results that follow from them alone, computed once on request."""

    asked: tuple[placement.Request, ...]
    existing: tuple[placement.Room, ...]
    room: placement.Room
    needed: placement.Placement
    """Without spare hosts."""
    hosts: tuple[placement.Host, ...]
    """With them."""
    mixed: bool
    more: int = 0
    """Hosts for the demand in addition to ``needed``, for orders of power-on to start every VM or for a rule by risk to hold."""
    reached: bool = True
    """True if these orders do: the limit of a cluster, or a very large design, can prevent finding enough."""
    kept: Kept | None = None
    """Result of the rule by risk; None without one, and where it is not checked."""
    shared: bool = False
    """True if its hosts share a cluster with other kinds, which take over VMs of them."""
    fewest_new: int | None = None
    """New hosts that carry the demand where VMs may run on another kind than their own; None where each has its own."""

    @cached_property
    def rooms(self) -> tuple[placement.Room, ...]:
        """Capacity of each host."""
        return (*self.existing, *(self.room for _ in range(len(self.hosts) - len(self.existing))))

    @cached_property
    def used(self) -> int:
        """Hosts for the demand."""
        return self.fewest + self.more

    @cached_property
    def fewest(self) -> int:
        """Hosts that the best arrangement takes."""
        return sum(bool(host) for host in self.needed.hosts)

    @cached_property
    def hosts_by_gpus(self) -> placement.Placement:
        """The placement if only GPUs counted."""
        return placed_alike(tuple(r for r in self.asked if r.gpus or r.family), self.room.gpus)

    @property
    def new_needed(self) -> tuple[int, ...]:
        """New hosts that carry the demand when 0, 1, 2, ... of the existing hosts are down, whichever these are."""
        return self.needed_down(MOST_EXISTING_DOWN)

    def needed_down(self, most: int) -> tuple[int, ...]:
        """Return the same up to so many hosts down; each number is computed when it is first asked for."""
        existing, counts = Counter(self.existing), self._needed_down
        for down in range(len(counts), min(len(self.existing), most) + 1 if self.other_hosts else 0):
            losses = placement.worst_losses(existing, lost=down)
            if len(losses) > MOST_LOSSES:
                break
            before = worst = counts[-1]
            for loss in losses:
                one_more = before + 1 if any(map(self.room.offers_as_much, loss)) else math.inf
                worst = self._new_beside(existing - loss, worst, one_more)
            counts.append(worst)
        return tuple(counts[: most + 1])

    @cached_property
    def _needed_down(self) -> list[int]:
        if self.fewest_new is not None:
            return [self.fewest_new]
        new = len(self.needed.hosts) - len(self.existing) + self.more
        return [new if self.other_hosts else self.used]

    @cached_property
    def new_needed_by_kind(self) -> tuple[tuple[int, ...], dict[tuple[int, ...], int]]:
        """Existing hosts of each kind, and the new ones needed for each number of each kind that are down.

        Sets of hosts are placed again where bounds (fewer lost, and the worst set as large) differ. Of very many
        kinds, beyond ``MOST_LOSSES`` sets as large, and of more than ``SETS_DOWN`` hosts, the worst count.
        """
        counts = Counter(self.existing)
        kinds, new, needs = sorted(counts), len(self.hosts) - len(self.existing), dict[tuple[int, ...], int]()
        hosts = tuple(counts[kind] for kind in kinds)
        if math.comb(len(self.new_needed) + len(kinds) - 2, len(kinds) - 1) > MOST_SETS:
            return (len(self.existing),), {(down,): n for down, n in enumerate(self.new_needed)}
        for lost, worst in enumerate(self.new_needed):
            tried, limit = 0, MOST_LOSSES if lost <= SETS_DOWN else 0
            for down in _sets(hosts, lost):
                fewer = {
                    kind: needs[tuple(n - (at == one) for at, n in enumerate(down))]
                    for one, (kind, n) in enumerate(zip(kinds, down, strict=True))
                    if n
                }
                least = max(fewer.values(), default=worst)
                if least < worst and least <= new:
                    left = Counter(dict(zip(kinds, map(operator.sub, hosts, down), strict=True)))
                    replaced = (n + 1 for kind, n in fewer.items() if self.room.offers_as_much(kind))
                    most = min(worst, new + 1, *replaced)  # more than there are is too many
                    least = self._new_beside(left, least, most) if tried < limit else worst
                    tried += 1
                needs[down] = least
        return hosts, needs

    def _new_beside(self, left: Counter[placement.Room], least: int, most: float) -> int:
        """New hosts that carry the demand together with these, known to be between two numbers."""
        for other in (used - left for used in self._found):  # what a new host offers as well takes one
            if other.total() <= least - self.more and all(map(self.room.offers_as_much, other)):
                return least
        if most <= least:
            return least
        new, used = _beside(self.asked, self.room).new_needed(left, least - self.more, most - self.more)
        if used is not None:
            self._found.append(used)
        return new + self.more

    @cached_property
    def _found(self) -> list[Counter[placement.Room]]:
        """Hosts that run VMs in each placement that was found."""
        return []

    @property
    def other_hosts(self) -> int:
        """Existing hosts with other GPUs than new ones."""
        return 0 if set(self.existing) <= {self.room} else len(self.existing)

    @cached_property
    def failures(self) -> tuple[Loss, ...]:
        """Effect of the loss of any one host; that of a shared cluster tells it."""
        if self.shared:
            return ()
        return numbered_from_1(failure_survey(self.hosts, requests=self.asked, rooms=self.rooms, lost=1))

    @cached_property
    def idle(self) -> tuple[Idle, ...]:
        """Unused capacity of hosts that run VMs."""
        return idle_gpus(self.hosts, requests=self.asked, rooms=self.rooms)


def _sets(hosts: Sequence[int], count: int) -> Iterator[tuple[int, ...]]:
    if not hosts:
        yield from [()] * (not count)
        return
    for first in range(min(hosts[0], count) + 1):
        yield from ((first, *rest) for rest in _sets(hosts[1:], count - first))


def layouts(
    scenario: Scenario, catalog: Catalog, requests: Requests, spare: int | None = None
) -> dict[str, Layout]:
    """The demand of each pool, placed on the fewest hosts and with failover capacity, as if it were one cluster."""
    room = room_of(scenario, scenario.hardware.gpus_per_host)
    spare = spare_hosts(scenario) if spare is None else spare
    apart = tuple(group.id for group in scenario.groups if group.use_case in APART)
    by_pool = {}
    for pool, members in requests.members.items():
        wanted = tuple(requests.by_group[m] for m in members)
        ids = tuple(id for id in apart if id in members)
        enough = enough_of(scenario, catalog, pool, wanted)
        by_pool[pool] = placed(wanted, requests.rooms.get(pool, ()), room, spare, ids, enough)
    return by_pool


def enough_of(
    scenario: Scenario, catalog: Catalog, kind: str, asked: Sequence[placement.Request]
) -> Enough | None:
    """Return the target for orders of power-on on the hosts of a pool; None where the best arrangement is enough."""
    if scenario.availability.sized_for == "best":
        return None
    return for_share(scenario, catalog, kind, asked)


def for_share(
    scenario: Scenario, catalog: Catalog, kind: str, asked: Sequence[placement.Request]
) -> Enough | None:
    """Return the target for the requested share of orders; None where Bitfusion shares the GPUs."""
    readings = readings_of(scenario, catalog, kind, asked)
    most = most_hosts(scenario, catalog) - spare_hosts(scenario)
    return Enough(readings, scenario.availability.orders_share, most) if readings else None


APART = (SERVING, RETRIEVAL)
"""Workload kinds whose VMs answer the same users: a failure should affect as few of them as possible."""


@remembered
def placed(
    asked: tuple[placement.Request, ...],
    existing: tuple[placement.Room, ...],
    room: placement.Room,
    lost: int,
    apart: tuple[str, ...] = (),
    enough: Enough | None = None,
) -> Layout:
    """The layout of one cluster, VMs of some groups ``apart``; kept, as designs that differ in their network or prices alone share it."""
    mixed = bool(existing or room.vcpus or room.memory_gib)
    if mixed:
        needed = placed_mixed(asked, room, existing)
        hosts = placed_mixed(asked, room, existing, lost).hosts
    else:
        needed = placed_alike(asked, room.gpus)
        hosts = (*needed.hosts, *(() for _ in range(lost)))
    if apart:
        rooms = (*existing, *(room for _ in range(len(hosts) - len(existing))))
        hosts = set_apart(hosts, requests=asked, rooms=rooms, groups=apart)
    laid = Layout(asked, existing, room, needed, hosts, mixed)
    return laid if enough is None else for_orders(laid, enough, lost)


def for_orders(laid: Layout, enough: Enough, lost: int) -> Layout:
    """Add the hosts that let orders of power-on start every VM of the demand; unused existing hosts come first."""
    used = tuple(room for room, host in zip(laid.rooms, laid.needed.hosts, strict=False) if host)
    most = len(used) + unused(laid, lost) + max(0, enough.most + lost - len(laid.hosts))
    more, reached = more_hosts(laid.asked, used, laid.room, enough._replace(most=most))
    return replace(with_more(laid, more, lost), reached=reached)


def with_more(laid: Layout, more: int, lost: int) -> Layout:
    """Return a cluster with this many hosts more for the demand; unused existing hosts come first."""
    new = ((),) * max(0, more - unused(laid, lost))
    return replace(laid, more=laid.more + more, hosts=laid.hosts + new) if more else laid


def unused(laid: Layout, lost: int) -> int:
    """Return the hosts that the demand and failures leave unused, and that offer as much as a new one."""
    free = (room for room, host in zip(laid.rooms, laid.hosts, strict=True) if not host)
    return max(0, sum(room.offers_as_much(laid.room) for room in free) - lost - laid.more)


def loss_level(lost: int, laid: Layout) -> LossLevel:
    """Return the capacity after any this many losses, and whether everything fits on it."""
    largest = sorted((room.gpus for room in laid.rooms), reverse=True)
    fits = fits_without(lost, laid)
    return LossLevel(lost, sum(largest[lost:]), fits, _without_moving(lost, laid, fits))


def fits_without(lost: int, laid: Layout) -> bool | None:
    """True if every VM can restart after any this many losses; None where it is not known.

    Hosts of one size are all alike to a new placement, so only the number left of each size counts.
    """
    needed = [count - laid.more for count in laid.needed_down(lost)]  # in the best arrangement
    old, new = laid.other_hosts, len(laid.rooms) - laid.other_hosts
    ways = [(down, lost - down) for down in range(lost + 1) if down <= old and lost - down <= new]
    if ways and all(down < len(needed) and new - others >= needed[down] for down, others in ways):
        return True
    if lost == 1 and not any(loss.unplaced for loss in laid.failures):
        return True
    unknown = laid.needed.method == "heuristic" and len(laid.rooms) - lost >= laid.needed.bound
    return None if unknown else False


def _without_moving(lost: int, laid: Layout, fits: bool | None) -> bool | None:
    """True if restarts alone suffice; an empty host can replace any lost host of its size."""
    empty = sum(not host for host in laid.hosts)
    if lost == 0 or (not laid.other_hosts and empty >= lost):
        return True
    if lost == 1:
        return all(not loss.unplaced and not loss.moved for loss in laid.failures)
    return False if fits is False else None
