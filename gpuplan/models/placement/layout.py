"""Placement on equal hosts, and on hosts that differ, as the door of the room says.

Both use ``fit`` for one host, ``shared_gpus`` for VMs that share its GPUs, ``host_patterns`` for ways to fill it, and
``packing`` for bins. ``failover`` computes the effect of a failure.

All GPUs and shares of one VM are in one host. A GPU is divided in one way only: among profiles of one family (whose
layouts say what goes together), or by memory. [martello-toth-1990]_ [gilmore-gomory-1961]_
"""

import itertools
import math
from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Mapping, Sequence
from itertools import repeat
from typing import NamedTuple

from gpuplan.models.placement.fit import Rules
from gpuplan.models.placement.identical_hosts import IdenticalHosts
from gpuplan.models.placement.mixed_hosts import MixedHosts
from gpuplan.models.placement.packing import Packing
from gpuplan.models.placement.requests import Blocks, Content, Family, Request, Room, vms_in
from gpuplan.units import at_least_one, each, exact, not_negative, whole_from_zero

FULL = (
    "the VMs do not fit: some are too large for new hosts, and those already there cannot hold all of these"
)
UNKNOWN = "no placement was found within the limits of the search: some VMs are too large for new hosts"


class Slot(NamedTuple):
    """One share of a GPU, or all GPUs of a VM. A VM with several shares has several equal slots."""

    group: str
    vm: int
    profile: str = ""
    weight: int = 0


class Load(NamedTuple):
    """A load on whole GPUs of a host: one VM with ``gpus`` GPUs, or one GPU shared within a family."""

    gpus: int
    slots: tuple[Slot, ...]
    family: Family | None = None


Host = tuple[Load, ...]


class Shared(NamedTuple):
    """GPUs that a family takes, and the proof that fewer cannot do."""

    family: str
    gpus: int
    bound: int
    method: str


class Placement(NamedTuple):
    """Hosts with their loads, and the proof that fewer hosts cannot hold them."""

    hosts: tuple[Host, ...]
    bound: int
    method: str
    gpus_occupied: int
    shared: tuple[Shared, ...]


def count_hosts(gpus: float, *, gpus_per_host: int) -> int:
    """Fewest hosts whose GPUs add up to the demand, by simple division.

    Parameters:
        gpus: GPUs that are needed. [GPU]
        gpus_per_host: GPUs in each host. [GPU]

    ceil(gpus / gpus_per_host). A lower bound only: it does not know that all GPUs of one VM are in one
    host, nor that profiles of different size cannot share a GPU. [vmware-sharing-gpus-2020]_

    >>> count_hosts(28, gpus_per_host=4), count_hosts(14, gpus_per_host=2)
    (7, 7)
    """
    not_negative(gpus=gpus)
    at_least_one(gpus_per_host=gpus_per_host)
    return math.ceil(exact(gpus) / gpus_per_host)


def place(requests: Sequence[Request], *, gpus_per_host: int) -> Placement:
    """Fewest identical hosts on which every request fits, and the placement.

    Parameters:
        gpus_per_host: GPUs in each host. [GPU]

    CPU and memory are not looked at. Whole GPUs and VMs with one share each: the fewest shared GPUs of each
    family (``cover`` by layouts, ``pack`` by memory), then the fewest hosts (``pack``); exact, whatever the number of
    hosts. VMs with several shares: requests that ask for the same are one, in an order of their own, so that the answer
    depends on neither. A greedy placement, if it meets the bound that holds when their shares are let apart; otherwise
    a programme, exact too, over all fullest choices of VMs for a host whose shares fit on its GPUs by the layouts.
    Where there are too many ways (15000 looked at) the answer is the best of 24 orders of the kinds, labelled
    ``heuristic`` unless it meets the bound. Ties keep the order of the requests, so that a group stays together.

    >>> place([Request("research", 8, gpus=3)], gpus_per_host=4).bound
    8
    >>> half = Family("16C", ("16C",), ((2,),))
    >>> place([Request("pairs", 3, family=half, profile="16C", shares=3)], gpus_per_host=4).bound
    2
    """
    at_least_one(gpus_per_host=gpus_per_host)
    rules = Rules(requests)
    if bare := [request.group for request in requests if not rules.worth[rules.kinds[request.group]]]:
        raise ValueError(f"{bare[0]}: VMs without a GPU take vCPUs and memory, which are not looked at here")
    equal = IdenticalHosts(rules)
    solution = equal.solve(rules.vms, gpus_per_host)
    hosts = _numbered(rules, ((block.content, block.times) for block in solution.blocks))
    shared = _shared(rules, solution.blocks, equal.packed_gpus(rules.vms))
    return _placement(hosts, solution.bound, solution.method, shared)


def place_mixed(
    requests: Sequence[Request], *, room: Room, existing: Sequence[Room] = (), spare: int = 0
) -> Placement:
    """Fewest new hosts beside the existing ones on which everything fits, even after the loss of some hosts.

    Parameters:
        room: What each new host offers. [-]
        existing (sequence of Room): What each host that is already there offers. [-]
        spare: Hosts that may fail at once, whichever they are. [host]

    Existing hosts first, then the new ones, with their loads (failover capacity empty). A portfolio of greedy orders:
    the exact placement of the GPUs where all hosts have as many and CPU and memory allow it, then largest first by
    GPUs, by memory, by vCPUs and by the largest of these parts of a host, each with best fit (the host with least left
    of that) and first fit, onto shared GPUs before free ones. The fewest new hosts win, ties go to the first in this
    order. The bound is the largest of the volume of each resource, hosts that hold one kind only, sizes that exclude
    each other in one resource, and the exact bound for the GPUs. If that leaves a gap, a programme over all full ways
    to fill a host is solved (Gilmore-Gomory; ways are listed where 2.8 million counts do, else found at the prices of
    the relaxed programme, likely ones before the best one): relaxed, which proves a bound as no host is worth more than
    its dearest way; rounded down with a programme in whole numbers for the rest; then over all ways that an answer with
    a host less could have, which is exact. With spare hosts everything is placed again after each loss by kind of host:
    new hosts = max over the losses of (new hosts then needed + new hosts lost); where there are more than 8 such
    losses, those that take less than another are left out; VMs too large for a new host that find no room after a loss
    are not counted with it. Method ``volume`` if the bound is met, else ``heuristic``.
    Refused if the VMs do not fit: one is larger than the largest host, or those that fit on no new host are too many
    for the existing ones; or, in other words, if no placement was found within the limits of the search.

    >>> vm = Request("research", 6, gpus=2, vcpus=16, memory_gib=256)
    >>> placed = place_mixed([vm], room=Room(4, 64, 384), spare=1)
    >>> len(placed.hosts), placed.bound, placed.method
    (7, 7, 'volume')
    """
    whole_from_zero(spare=spare)
    return PlacedBeside(requests, room).placed(existing, spare)


class PlacedBeside:
    """The same VMs on new hosts beside different existing ones: what was found for some is kept for others.

    >>> beside = PlacedBeside([Request("research", 6, gpus=2)], Room(4))
    >>> [beside.new_needed(Counter({Room(8): hosts}))[0] for hosts in range(3)]
    [3, 1, 0]
    """

    def __init__(self, requests: Sequence[Request], room: Room) -> None:
        self.rules = Rules(requests)
        self.equal = IdenticalHosts(self.rules)
        self.mixed, self.room = MixedHosts(self.equal), self.rules.counted(room)

    def new_needed(
        self, existing: Counter[Room], least: int = 0, most: float = math.inf
    ) -> tuple[int, Counter[Room] | None]:
        """Fewest new hosts beside existing ones, known to be between two numbers, and the hosts that run VMs then.

        Without these where a bound decides. Found hosts up to ``least`` end the search.
        """
        others = Counter[Room]()
        for room, hosts in (+existing).items():
            others[self.rules.counted(room)] += hosts
        like_new = others.pop(self.room, 0)
        if most <= least or self.mixed.bound(self.rules.vms, others, self.room) - like_new >= most:
            return int(most), None
        new = self.mixed.new_hosts(self.rules.vms, others, self.room, like_new + least)
        used = Counter[Room]()
        for block in new.blocks:
            used[block.room] += block.times
        return max(least, new.hosts - like_new), used or None

    def placed(self, existing: Sequence[Room], spare: int) -> Placement:
        """Return the answer of ``place_mixed`` beside these hosts."""
        rules, mixed, room = self.rules, self.mixed, self.room
        rooms = [rules.counted(one) for one in existing]
        rules.check(rules.vms, {room, *rooms})
        # Hosts like the new ones are counted with them: what is looked for is how many of those there must be in all.
        others, like_new = Counter(one for one in rooms if one != room), rooms.count(room)
        chosen = mixed.new_hosts(rules.vms, others, room)
        if chosen.hosts > sum(rules.vms):
            raise ValueError(FULL if chosen.bound > sum(rules.vms) else UNKNOWN)
        needed: list[int] = []
        least: list[int] = []
        for lost in range(min(spare, others.total()) + 1):
            rests = [others - loss for loss in worst_losses(others, lost=lost)]
            after = [mixed.new_hosts(mixed.most_vms(rules.vms, left, room), left, room) for left in rests]
            needed.append(max(new.hosts for new in after))
            least.append(max(new.bound for new in after))
        count, bound = (
            max(0, _fewest_new(list(itertools.accumulate(counts, max)), spare, others.total()) - like_new)
            for counts in (needed, least)
        )
        hosts = _laid(rules, chosen.blocks, rooms=[*rooms, *[room] * count])
        bound += len(existing)
        shared = _shared(rules, chosen.blocks, self.equal.packed_gpus(rules.vms))
        return _placement(hosts, bound, "volume" if bound == len(hosts) else "heuristic", shared)


def _placement(hosts: Sequence[Host], bound: int, method: str, shared: tuple[Shared, ...]) -> Placement:
    occupied = sum(load.gpus for host in hosts for load in host)
    return Placement(tuple(hosts), bound, method, occupied, shared)


def _shared(rules: Rules, blocks: Blocks, fewest: Mapping[int, Packing]) -> tuple[Shared, ...]:
    """GPUs that each family takes in these blocks, and whether that is proven to be the fewest."""
    gpus = Counter[int]()
    for block in blocks:
        for part in block.content:
            gpus[part.family] += block.times
    return tuple(
        Shared(
            rules.families[f].name,
            gpus[f],
            packed.bound,
            packed.method if gpus[f] == packed.bound else "heuristic",
        )
        for f, packed in fewest.items()
    )


def _fewest_new(needed: Sequence[int], spare: int, existing: int) -> int:
    """New hosts so that enough are left, of the lost hosts any number being new ones.

    ``needed`` says how many new hosts it takes when 0, 1, ... of the existing ones are lost.
    """
    for count in itertools.count(max(needed[0], spare - existing if needed[-1] else 0)):
        lost = range(max(0, spare - existing), min(spare, count) + 1)
        if all(count >= new + needed[spare - new] for new in lost):
            return count
    raise AssertionError


def _laid(rules: Rules, blocks: Blocks, *, rooms: Sequence[Room]) -> list[Host]:
    """Hosts of these blocks, each laid on the next of the rooms that is like its own; the other rooms stay empty.

    VMs of each group are numbered from 1 in the order of the rooms. [gpuplan-method]_
    """
    waiting: dict[Room, deque[Content]] = defaultdict(deque)
    for block in blocks:
        waiting[block.room].extend([block.content] * block.times)
    return _numbered(rules, ((waiting[room].popleft() if waiting[room] else (), 1) for room in rooms))


def _numbered(rules: Rules, runs: Iterable[tuple[Content, int]]) -> list[Host]:
    """Hosts of (content, how many in a row), VMs of each group being numbered from 1 in the order of the hosts."""
    requests = rules.requests
    slots_of = [
        list(map(Slot._make, zip(repeat(r.group), range(1, r.vms + 1), repeat(r.profile), repeat(r.weight))))
        for r in requests
    ]
    placed = [0] * len(requests)
    hosts: list[Host] = []
    for content, times in runs:
        counts = vms_in(content)
        parts = [
            (1 if f >= 0 else requests[slots[0][0]].gpus, slots, requests[slots[0][0]].family)
            for f, slots in content
        ]
        for _ in range(times):
            # lists and not generators: this loop makes every VM of a large cluster
            hosts.append(
                tuple(
                    [
                        Load(gpus, tuple([slots_of[k][placed[k] + vm] for k, vm in slots]), family)
                        for gpus, slots, family in parts
                    ]
                )
            )
            for kind, n in counts.items():
                placed[kind] += n
    return hosts


MOST_LOSSES = 8


def worst_losses(there: Mapping[Room, int], *, lost: int) -> list[Counter[Room]]:
    """Sets of hosts to lose, by kind, among which is the worst.

    Parameters:
        there (mapping of Room to int): How many hosts there are of each kind. [host]
        lost: Hosts that are lost at once. [host]

    How many hosts of each kind are lost, for each set. All sets if there are no more than 8; else only those in which
    no host could be exchanged for one that is left and offers as much of everything: the loss of that one leaves no
    more. [gpuplan-method]_

    >>> small, large = Room(2, 32), Room(8, 64)
    >>> [loss.total() for loss in worst_losses({small: 3, large: 2}, lost=2)]
    [2, 2, 2]
    """
    whole_from_zero(lost=lost)
    each(whole_from_zero, there=there)
    kinds = sorted(there)
    chosen = (Counter(rooms) for rooms in itertools.combinations_with_replacement(kinds, lost))
    losses = [loss for loss in chosen if all(n <= there[room] for room, n in loss.items())]
    if len(losses) <= MOST_LOSSES:
        return losses
    return [
        loss
        for loss in losses
        if not any(
            loss[large] < there[large] and large != small and large.offers_as_much(small)
            for small in loss
            for large in kinds
        )
    ]
