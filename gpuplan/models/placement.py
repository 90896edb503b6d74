"""Placement: which VM is on which GPU of which host, before any failure, with proof.

All GPUs and shares of one VM are in one host. A GPU is divided in one way only: among profiles of one family
(whose layouts say what goes together), or by memory. A GPU shared by VMs with one share each can be in any
host, so the fewest of those are found first and then placed like single whole GPUs: this is exact, because
one shared GPU less never makes the hosts harder to fill.

Inside, everything is counted: hosts that hold the same are one block, however many there are. VMs get their
numbers at the end.
"""

import itertools
import math
from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import partial
from typing import Any, NamedTuple

from gpuplan.models import packing
from gpuplan.models.packing import (
    bins_bound,
    cover,
    maximal_patterns,
    pack,
    relaxed_programme,
    whole_programme,
)
from gpuplan.units import exact

MOST_LOSSES = 8
PRICE_ROUNDS = 12
PRICE_UNIT = 10**6
GPU_UNIT = 2**16
PRICE_WEIGHTS = (
    (1.0, 1.0, 1.0),
    (1.0, 0.0, 0.0),
    (0.0, 1.0, 0.0),
    (0.0, 0.0, 1.0),
    (1.0, 0.3, 0.3),
    (0.3, 1.0, 1.0),
)
"""Weights of GPUs, vCPUs and memory by which it is judged what a VM takes."""


class Family(NamedTuple):
    """Shares that can be on one GPU together."""

    name: str
    profiles: tuple[str, ...] = ()
    """Layouts count these."""
    layouts: tuple[tuple[int, ...], ...] = ()
    """How many of each profile one GPU holds at most; equal-size mode has one profile and one layout."""
    capacity: int = 0
    """Memory to divide freely instead, in MB; then there are no profiles and no layouts."""


class Request(NamedTuple):
    """VMs of one kind: ``gpus`` whole GPUs each, or ``shares`` shares of one family. A group has one request."""

    group: str
    vms: int
    gpus: int = 0
    family: Family | None = None
    profile: str = ""
    """Profile of each share, in a family with layouts."""
    weight: int = 0
    """Memory of each share, in a family that is divided freely, in MB."""
    shares: int = 1
    """Shares of one VM, on one GPU or on several of the same host."""
    vcpus: int = 0
    """Virtual CPUs of one VM; 0 is not counted."""
    memory_gib: int = 0
    """Memory of one VM; 0 is not counted."""


class Slot(NamedTuple):
    """One share of a GPU, or all GPUs of a VM. A VM with several shares has several equal slots."""

    group: str
    vm: int
    profile: str = ""
    weight: int = 0


class Load(NamedTuple):
    """What takes whole GPUs of a host: one VM with ``gpus`` GPUs, or one GPU shared within a family."""

    gpus: int
    slots: tuple[Slot, ...]
    family: Family | None = None


Host = tuple[Load, ...]


class Room(NamedTuple):
    """What a host offers; 0 vCPUs or memory is not limited."""

    gpus: int
    vcpus: int = 0
    memory_gib: int = 0


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


Slots = tuple[tuple[int, int], ...]
"""(kind, which VM of it on this host) for each slot."""


class Part(NamedTuple):
    """A load, counted: the family it is of (-1: whole GPUs), and its slots."""

    family: int
    slots: Slots


Content = tuple[Part, ...]
"""What is on one host, with VMs of each kind numbered from 0."""


class Block(NamedTuple):
    """Hosts alike: how many, what they offer, and what is on each."""

    times: int
    room: Room
    content: Content


State = tuple[int, int, int, tuple[tuple[int, tuple[int, ...]], ...]]
"""What is left of a host: GPUs, vCPUs and memory (-1: not limited), and its shared GPUs that have room left as
(family, used)."""


class Fit(NamedTuple):
    """One more VM on a host: what it takes, and what is left then."""

    new_gpus: int
    """GPUs that were free."""
    state: State
    joins: tuple[tuple[tuple[int, ...], int], ...]
    """(used before, shares) for each shared GPU that it joins."""
    opens: tuple[int, ...]
    """Shares on each GPU that it is the first on."""


class New(NamedTuple):
    """New hosts beside others: how many, how many at least, and what is on all hosts."""

    hosts: int
    bound: int
    blocks: tuple[Block, ...]


class Solution(NamedTuple):
    """A placement in blocks, and its proof."""

    blocks: tuple[Block, ...]
    bound: int
    method: str
    shared: tuple[Shared, ...]

    @property
    def hosts(self) -> int:
        """How many hosts it takes."""
        return sum(block.times for block in self.blocks)


def count_hosts(gpus: float, *, gpus_per_host: int) -> int:
    """Fewest hosts whose GPUs add up to the demand, by plain division.

    Parameters
    ----------
    gpus : float
        GPUs that are needed. [GPU]
    gpus_per_host : int
        GPUs in each host. [GPU]

    Returns
    -------
    count_hosts : int
        Hosts by arithmetic on whole GPUs. [host]

    Notes
    -----
    ceil(gpus / gpus_per_host). A lower bound only: it does not know that all GPUs of one VM are in one
    host, nor that profiles of different size cannot share a GPU.

    Examples
    --------
    >>> count_hosts(28, gpus_per_host=4), count_hosts(14, gpus_per_host=2)
    (7, 7)

    References
    ----------
    .. [1] vmware-sharing-gpus-2020
    """
    return math.ceil(exact(gpus) / gpus_per_host)


def place(requests: Sequence[Request], *, gpus_per_host: int) -> Placement:
    """The fewest equal hosts on which every request fits, and who is where.

    Parameters
    ----------
    requests : sequence of Request
        VMs by kind; all GPUs and shares of one VM are in one host. [-]
    gpus_per_host : int
        GPUs in each host. [GPU]

    Returns
    -------
    place : Placement
        Hosts with their loads, the bound, and how it is proven. [-]

    Notes
    -----
    CPU and memory are not looked at. Whole GPUs and VMs with one share each: the fewest shared GPUs of each
    family (``cover`` by layouts, ``pack`` by memory), then the fewest hosts (``pack``); exact, whatever the number of
    hosts. VMs with several shares: a greedy placement, if it meets the bound that holds when their shares
    are let apart; otherwise, for families of which one size of share is used, the programme over
    all ways to divide the GPUs of a host between whole requests and families (surplus VMs in it give
    their place to single ones), which is exact too. For several shares per VM of a mixed family, or with more than
    20000 ways, the greedy answer is labelled ``heuristic`` unless it meets the bound. Ties keep the
    order of the requests, so that a group stays together.

    Raises
    ------
    ValueError
        If a VM does not fit on an empty host.

    Examples
    --------
    >>> place([Request("research", 8, gpus=3)], gpus_per_host=4).bound
    8
    >>> half = Family("16C", ("16C",), ((2,),))
    >>> place([Request("pairs", 3, family=half, profile="16C", shares=3)], gpus_per_host=4).bound
    2

    References
    ----------
    .. [1] martello-toth-1990
    .. [2] gilmore-gomory-1961
    """
    rules = Rules(requests)
    solution = rules.solve(rules.vms, gpus_per_host)
    hosts = rules.hosts_of(solution.blocks)
    return _placement(hosts, solution.bound, solution.method, solution.shared)


def place_varied(
    requests: Sequence[Request], *, room: Room, existing: Sequence[Room] = (), spare: int = 0
) -> Placement:
    """A few new hosts beside the existing ones on which everything fits, also after the loss of some hosts.

    Parameters
    ----------
    requests : sequence of Request
        VMs by kind; all GPUs and shares of one VM are in one host, with its vCPUs and memory. [-]
    room : Room
        What each new host offers. [-]
    existing : sequence of Room
        What each host that is already there offers. [-]
    spare : int
        Hosts that may be lost at once, whichever they are. [host]

    Returns
    -------
    place_varied : Placement
        Existing hosts, then the new ones, with their loads (spare ones empty), the bound, and whether it is
        met. [-]

    Notes
    -----
    A portfolio of greedy orders: the exact placement of the GPUs where all hosts have as many and CPU and
    memory allow it, then largest first by GPUs, by memory, by vCPUs and by the largest of these parts of
    a host, each with best fit (the host with least left of that) and first fit, onto shared GPUs before
    free ones. The fewest new hosts win, ties go to the first in this order. If that leaves a gap to the
    bound, more ways to fill a host are generated at the prices of the relaxed programme over those seen so far
    (column generation, 12 rounds); its answer is rounded down and the rest is placed by the same orders. With spare
    hosts everything is placed again after each loss by kind of host: new hosts = max over the losses of
    (new hosts then needed + new hosts lost); where there are more than 8 such losses, those that take less than
    another are left out. The bound is the largest of the volume of each resource, hosts that hold one kind only,
    sizes that exclude each other in one resource, the exact bound for the GPUs, and the prices (no host
    is worth more than the dearest choice of VMs for it). Method ``volume`` if the bound is met, else ``heuristic``.

    Raises
    ------
    ValueError
        If a VM is larger than the largest host, or has no host left after a loss.

    Examples
    --------
    >>> vm = Request("research", 6, gpus=2, vcpus=16, memory_gib=256)
    >>> placed = place_varied([vm], room=Room(4, 64, 384), spare=1)
    >>> len(placed.hosts), placed.bound, placed.method
    (7, 7, 'volume')

    References
    ----------
    .. [1] martello-toth-1990
    .. [2] gilmore-gomory-1961
    """
    rules = Rules(requests)
    room, *there = (rules.counted(one) for one in (room, *existing))
    rules.check({room, *there})
    others = Counter(one for one in there if one != room)  # hosts like the new ones are counted with them
    needed: list[int] = []
    least: list[int] = []
    for lost in range(min(spare, others.total()) + 1):
        found = [rules.new_hosts(rules.vms, others - loss, room) for loss in _losses(others, lost)]
        needed.append(max(new.hosts for new in found))
        least.append(max(new.bound for new in found))
    needed, least = list(itertools.accumulate(needed, max)), list(itertools.accumulate(least, max))
    count, bound = (
        max(0, _fewest_new(each, spare, others.total()) - there.count(room)) for each in (needed, least)
    )
    chosen = rules.new_hosts(rules.vms, others, room)
    if chosen.hosts > there.count(room) + count:  # what is placed after a loss is placed before it too
        chosen = min(found, key=lambda new: new.hosts)
    hosts = rules.hosts_on(chosen.blocks, [*there, *[room] * count])
    bound += len(existing)
    method = "volume" if bound == len(hosts) else "heuristic"
    return _placement(hosts, bound, method, rules.shared_on(hosts))


def _placement(hosts: Sequence[Host], bound: int, method: str, shared: tuple[Shared, ...]) -> Placement:
    occupied = sum(load.gpus for host in hosts for load in host)
    return Placement(tuple(hosts), bound, method, occupied, shared)


def _losses(there: Counter[Room], lost: int) -> list[Counter[Room]]:
    """Sets of hosts to lose, by kind; if there are many, only those that leave least."""
    kinds = sorted(there)
    chosen = (Counter(each) for each in itertools.combinations_with_replacement(kinds, lost))
    losses = [loss for loss in chosen if loss <= there]
    if len(losses) <= MOST_LOSSES:
        return losses
    return [
        loss
        for loss in losses
        if not any(
            loss[large] < there[large] and large != small and _at_least(large, small)
            for small in loss
            for large in kinds
        )
    ]


def _at_least(large: Room, small: Room) -> bool:
    """Whether a host offers as much as another of everything."""
    return large.gpus >= small.gpus and all(
        a == 0 or 0 < b <= a for a, b in zip(large[1:], small[1:], strict=True)
    )


def _fewest_new(needed: Sequence[int], spare: int, existing: int) -> int:
    """New hosts so that enough are left, of the lost hosts any number being new ones."""
    for count in itertools.count(max(needed[0], spare - existing if needed[-1] else 0)):
        lost = range(max(0, spare - existing), min(spare, count) + 1)
        if all(count >= new + needed[spare - new] for new in lost):
            return count
    raise AssertionError


class Rules:
    """What fits with what: the requests as numbered kinds, the families, and what is known of them so far.

    Kinds are numbered as the requests. Everything that is found out is kept, as one plan asks the same often.
    """

    def __init__(self, requests: Sequence[Request]) -> None:
        self.requests = tuple(requests)
        self.kinds = {request.group: k for k, request in enumerate(self.requests)}
        if len(self.kinds) < len(self.requests):
            raise ValueError("a group has one request")
        self.vms = tuple(request.vms for request in self.requests)
        self.families: list[Family] = []
        self.family_of: list[int] = []
        numbers: dict[Family, int] = {}
        for request in self.requests:
            family = request.family
            if family is None:
                self.family_of.append(-1)
                continue
            if family not in numbers:
                numbers[family] = len(self.families)
                self.families.append(family)
            self.family_of.append(numbers[family])
        self.profiles: list[list[str]] = []
        """Profiles of each family that somebody has."""
        self.layouts: list[tuple[tuple[int, ...], ...]] = []
        """Layouts of each family, of these profiles only."""
        for f, family in enumerate(self.families):
            members = [r for r, of in zip(self.requests, self.family_of, strict=True) if of == f]
            used = [p for p in family.profiles if any(r.profile == p for r in members)]
            for request in members:
                if not family.capacity and request.profile not in used:
                    raise ValueError(f"{request.group}: {family.name} has no profile {request.profile!r}")
            columns = [family.profiles.index(p) for p in used]
            self.profiles.append(used)
            self.layouts.append(
                tuple(sorted({tuple(layout[c] for c in columns) for layout in family.layouts}))
            )
        self.units = [
            r.weight
            if f >= 0 and self.families[f].capacity
            else self.profiles[f].index(r.profile)
            if f >= 0
            else 0
            for r, f in zip(self.requests, self.family_of, strict=True)
        ]
        """Of each kind the memory of a share, or the number of its profile."""
        self._more: dict[tuple[int, tuple[int, ...], int], int] = {}
        self.per_gpu = [
            self.more(f, self.unused(f), unit) if f >= 0 else 0
            for f, unit in zip(self.family_of, self.units, strict=True)
        ]
        """Most shares of each kind on one GPU."""
        for request, f, most in zip(self.requests, self.family_of, self.per_gpu, strict=True):
            if f >= 0 and (most < 1 or request.shares < 1):
                raise ValueError(f"{request.group}: a share does not fit on one GPU")
            if f < 0 and request.gpus < 1:
                raise ValueError(f"{request.group}: neither whole GPUs nor shares are asked for")
        self.worth = [
            Fraction(r.gpus)
            if f < 0
            else Fraction(r.weight * r.shares, self.families[f].capacity)
            if self.families[f].capacity
            else Fraction(r.shares, most)
            for r, f, most in zip(self.requests, self.family_of, self.per_gpu, strict=True)
        ]
        """GPUs' worth of one VM of each kind."""
        fullest = [
            max(
                (sum(Fraction(n, m) for n, m in zip(layout, most, strict=True)) for layout in layouts),
                default=1,
            )
            for layouts in self.layouts
            for most in [
                [max(layout[p] for layout in layouts) for p in range(len(layouts[0]))] if layouts else []
            ]
        ]
        self.least_gpus = [
            worth / fullest[f] if f >= 0 and not self.families[f].capacity else worth
            for worth, f in zip(self.worth, self.family_of, strict=True)
        ]
        """GPUs that a VM of each kind takes at least, however well its GPUs are filled with other profiles."""
        self.largest_first = sorted(
            range(len(self.requests)), key=lambda k: (-self.worth[k], self.family_of[k] >= 0, k)
        )
        self._fits: dict[tuple[State, int], Fit | None] = {}
        self._solved: dict[tuple[tuple[int, ...], int], Solution] = {}
        self._needed: dict[tuple[tuple[int, ...], int], int] = {}
        self._arranged: dict[Any, tuple[Block, ...] | None] = {}
        self._new: dict[Any, New | None] = {}

    # ---- one GPU, one host

    def counted(self, room: Room) -> Room:
        """A host without the limits of what nobody's request counts."""
        return Room(
            room.gpus,
            room.vcpus if any(r.vcpus for r in self.requests) else 0,
            room.memory_gib if any(r.memory_gib for r in self.requests) else 0,
        )

    def unused(self, family: int) -> tuple[int, ...]:
        """What is used of a GPU that nobody of the family is on."""
        return (0,) if self.families[family].capacity else (0,) * len(self.profiles[family])

    def more(self, family: int, used: tuple[int, ...], unit: int) -> int:
        """How many more shares of a profile (or of so much memory) fit on a GPU."""
        key = (family, used, unit)
        found = self._more.get(key)
        if found is None:
            capacity = self.families[family].capacity
            if capacity:
                found = (capacity - used[0]) // unit if unit > 0 else 0
            else:
                found = max(
                    (
                        layout[unit] - used[unit]
                        for layout in self.layouts[family]
                        if all(a >= b for a, b in zip(layout, used, strict=True))
                    ),
                    default=0,
                )
            self._more[key] = found
        return found

    def added(self, family: int, used: tuple[int, ...], unit: int, shares: int) -> tuple[int, ...]:
        """What is used of a GPU after so many more shares."""
        if self.families[family].capacity:
            return (used[0] + unit * shares,)
        return (*used[:unit], used[unit] + shares, *used[unit + 1 :])

    def used_by(self, family: int, kinds: Iterable[int]) -> tuple[int, ...]:
        """What shares of these kinds use of a GPU."""
        used = self.unused(family)
        for kind, shares in Counter(kinds).items():
            used = self.added(family, used, self.units[kind], shares)
        return used

    def has_room(self, family: int, used: tuple[int, ...]) -> bool:
        """Whether a share of anybody still fits on a GPU."""
        return any(
            f == family and self.more(family, used, unit) > 0
            for f, unit in zip(self.family_of, self.units, strict=True)
        )

    def state(self, room: Room, content: Content = ()) -> State:
        """What is left of a host with this content."""
        free, vcpus, memory = room.gpus, room.vcpus or -1, room.memory_gib or -1
        opens = []
        for family, slots in content:
            kinds = [kind for kind, _ in slots]
            free -= self.requests[kinds[0]].gpus if family < 0 else 1
            if family >= 0:
                used = self.used_by(family, kinds)
                if self.has_room(family, used):
                    opens.append((family, used))
        for kind, n in vms_in(content).items():
            vcpus -= n * self.requests[kind].vcpus if room.vcpus else 0
            memory -= n * self.requests[kind].memory_gib if room.memory_gib else 0
        return free, vcpus, memory, tuple(sorted(opens))

    def fit(self, state: State, kind: int) -> Fit | None:
        """One more VM of a kind on a host: onto shared GPUs with least room first, then onto free GPUs."""
        key = (state, kind)
        try:
            return self._fits[key]
        except KeyError:
            found = self._fits[key] = self._fit(state, kind)
            return found

    def _fit(self, state: State, kind: int) -> Fit | None:
        free, vcpus, memory, opens = state
        request, family, unit = self.requests[kind], self.family_of[kind], self.units[kind]
        if vcpus >= 0:
            vcpus -= request.vcpus
            if vcpus < 0:
                return None
        if memory >= 0:
            memory -= request.memory_gib
            if memory < 0:
                return None
        if family < 0:
            if request.gpus > free:
                return None
            return Fit(request.gpus, (free - request.gpus, vcpus, memory, opens), (), ())
        after = list(opens)
        joins, left = [], request.shares
        for more, used in sorted((self.more(family, used, unit), used) for f, used in opens if f == family):
            if more > 0 and left:
                shares = min(more, left)
                left -= shares
                joins.append((used, shares))
                after.remove((family, used))
                after.append((family, self.added(family, used, unit, shares)))
        most = self.per_gpu[kind]
        new = tuple(min(most, left - at) for at in range(0, left, most))
        if len(new) > free:
            return None
        after += [(family, self.added(family, self.unused(family), unit, shares)) for shares in new]
        kept = sorted((f, used) for f, used in after if f != family or self.has_room(f, used))
        return Fit(len(new), (free - len(new), vcpus, memory, tuple(kept)), tuple(joins), new)

    def put(self, content: Content, kind: int, fit: Fit) -> Content:
        """The content of a host with one more VM."""
        family = self.family_of[kind]
        one = (kind, vms_in(content)[kind])
        if family < 0:
            return (*content, Part(-1, (one,)))
        after = list(content)
        for used, shares in fit.joins:
            at = next(
                i
                for i, part in enumerate(after)
                if part.family == family
                and one not in part.slots
                and self.used_by(family, (k for k, _ in part.slots)) == used
            )
            after[at] = Part(family, after[at].slots + (one,) * shares)
        return (*after, *(Part(family, (one,) * shares) for shares in fit.opens))

    # ---- hosts that differ

    def check(self, rooms: Iterable[Room]) -> None:
        """Refuse a VM that fits on none of these hosts when they are empty."""
        every = list(rooms)
        for kind, request in enumerate(self.requests):
            if request.vms and not any(self.fit(self.state(room), kind) for room in every):
                raise ValueError(f"{request.group}: {self._lack(kind, every)}")

    def _lack(self, kind: int, rooms: Sequence[Room]) -> str:
        request, most = self.requests[kind], self.per_gpu[kind]
        gpus = request.gpus if self.family_of[kind] < 0 else -(-request.shares // most)
        for name, need, offers in (
            ("GPUs", gpus, [room.gpus for room in rooms]),
            ("vCPUs", request.vcpus, [room.vcpus or math.inf for room in rooms]),
            ("GiB of memory", request.memory_gib, [room.memory_gib or math.inf for room in rooms]),
        ):
            if need > max(offers, default=0):
                return (
                    f"a VM needs {need} {name} in one host, and the largest host has {max(offers, default=0)}"
                )
        return (
            f"no host has {gpus} GPUs, {request.vcpus} vCPUs and {request.memory_gib} GiB of memory for a VM"
        )

    def arrange(
        self, vms: tuple[int, ...], rooms: Counter[Room], *, thorough: bool
    ) -> tuple[Block, ...] | None:
        """Hosts filled by the first way that does it; None if none is found by the greedy orders, or by prices too."""
        key = (vms, tuple(sorted(rooms.items())), thorough)
        if key not in self._arranged:
            found = next(self._portfolio(vms, rooms, None), None)
            if found is None and thorough:
                found = self._arrange(vms, rooms)
            self._arranged[key] = found
        return self._arranged[key]

    def _arrange(self, vms: tuple[int, ...], rooms: Counter[Room]) -> tuple[Block, ...] | None:
        """Hosts filled as if any number were there of one kind, if no more than there are turn out to be needed."""
        for room in sorted(rooms):
            others = Counter({other: n for other, n in rooms.items() if other != room})
            if self.new_bound(vms, others, room) <= rooms[room]:
                new = self._new_hosts(vms, others, room)
                if new is not None and new.hosts <= rooms[room]:
                    return new.blocks
        return None

    def new_hosts(self, vms: tuple[int, ...], rooms: Counter[Room], room: Room) -> New:
        """Hosts of another kind that are needed beside these rooms, and what is on all of them."""
        found = self._new_hosts(vms, rooms, room)
        if found is None:
            self.check({room, *rooms})
            raise ValueError(
                "no order was found in which everything fits: the new hosts are too small for some VMs"
            )
        return found

    def _new_hosts(self, vms: tuple[int, ...], rooms: Counter[Room], room: Room) -> New | None:
        key = (vms, tuple(sorted(rooms.items())), room)
        if key not in self._new:
            found = (New(_new(blocks, room), 0, blocks) for blocks in self._portfolio(vms, rooms, room))
            best = min(found, key=lambda new: new.hosts, default=None)
            if best is not None:
                best = best._replace(bound=self.new_bound(vms, rooms, room))
                if best.hosts > best.bound:
                    priced = _Priced(self, vms, rooms, room, best.blocks).solved()
                    bound = max(best.bound, priced.bound)
                    best = min(best, priced, key=lambda new: new.hosts)._replace(bound=bound)
            self._new[key] = best
        return self._new[key]

    def _portfolio(
        self, vms: tuple[int, ...], rooms: Counter[Room], extra: Room | None
    ) -> Iterator[tuple[Block, ...]]:
        """Placements that were found, the exact one of the GPUs first."""
        every = [*rooms, *([extra] if extra else [])]
        if len({room.gpus for room in every}) == 1 and all(
            n == 0 or self.fit((every[0].gpus, -1, -1, ()), kind) for kind, n in enumerate(vms)
        ):
            laid = self._laid(self.solve(vms, every[0].gpus).blocks, rooms, extra)
            if laid is not None:
                yield laid
        for by, order in self.orders(vms, every, extra):
            for best_fit in (True, False):
                blocks = self.greedy(vms, rooms, extra, order, by if best_fit else None)
                if blocks is not None:
                    yield blocks

    def parts_of(self, every: Sequence[Room]) -> list[tuple[float, ...]]:
        """What part of the largest host's GPUs, vCPUs and memory a VM of each kind takes."""
        offers = [
            max((math.inf if i and not room[i] else room[i] for room in every), default=0) or math.inf
            for i in range(3)
        ]
        needs = [(float(w), r.vcpus, r.memory_gib) for w, r in zip(self.worth, self.requests, strict=True)]
        return [tuple(need / offer for need, offer in zip(each, offers, strict=True)) for each in needs]

    def orders(
        self, vms: tuple[int, ...], every: Sequence[Room], extra: Room | None
    ) -> Iterator[tuple[int, list[int]]]:
        """Kinds, largest first by GPUs, memory, vCPUs and the largest part; what fits on no new host before all."""
        parts = self.parts_of(every)
        stuck = [extra is not None and self.fit(self.state(extra), k) is None for k in range(len(vms))]
        for by in (0, 2, 1, 3):
            size = [each[by] if by < 3 else max(each) for each in parts]
            yield (
                by,
                sorted(
                    (k for k, n in enumerate(vms) if n),
                    key=lambda k: (not stuck[k], -size[k], -parts[k][0], self.family_of[k] >= 0, k),
                ),
            )

    def _laid(
        self, blocks: Sequence[Block], rooms: Counter[Room], extra: Room | None
    ) -> tuple[Block, ...] | None:
        """Blocks of hosts that have equal GPUs laid on rooms in which CPU and memory suffice as well."""
        left = dict(rooms)
        if extra:
            left[extra] = left.get(extra, 0) + sum(block.times for block in blocks)
        laid = []
        for block in blocks:
            counts = vms_in(block.content)
            vcpus = sum(n * self.requests[k].vcpus for k, n in counts.items())
            memory = sum(n * self.requests[k].memory_gib for k, n in counts.items())
            times = block.times
            for room, n in left.items():
                if n and times and vcpus <= (room.vcpus or vcpus) and memory <= (room.memory_gib or memory):
                    laid.append(Block(min(n, times), room, block.content))
                    left[room] -= min(n, times)
                    times -= min(n, times)
            if times:
                return None
        return tuple(laid)

    def greedy(
        self,
        vms: tuple[int, ...],
        rooms: Counter[Room],
        extra: Room | None,
        order: Sequence[int],
        by: int | None,
    ) -> tuple[Block, ...] | None:
        """Kind by kind onto the host that takes the fewest free GPUs, then has least left (or is the first)."""
        blocks = [(n, room, self.state(room), Content()) for room, n in rooms.items() if n]
        if extra:
            blocks.append((sum(vms), extra, self.state(extra), Content()))
        for kind in order:
            left = vms[kind]
            while left:
                chosen = None
                for at, (_, room, state, _) in enumerate(blocks):
                    fit = self.fit(state, kind)
                    if fit is not None:
                        new = extra is not None and at == len(blocks) - 1
                        rank = (new, fit.new_gpus, _left(state, room, by) if by is not None else 0, at)
                        if chosen is None or rank < chosen[0]:
                            chosen = rank, fit
                if chosen is None:
                    return None
                (_, new_gpus, _, at), fit = chosen
                times, room, state, content = blocks[at]
                n = 0
                filled, now, more = content, state, fit
                while n < left:
                    filled, now, n = self.put(filled, kind, more), more.state, n + 1
                    another = self.fit(now, kind)
                    if another is None or another.new_gpus > new_gpus:
                        break
                    more = another
                often = min(times, left // n)
                left -= often * n
                blocks[at : at + 1] = [
                    (often, room, now, filled),
                    *([(times - often, room, state, content)] if times > often else []),
                ]
        return tuple(Block(n, room, content) for n, room, _, content in blocks if content)

    def new_bound(self, vms: tuple[int, ...], rooms: Counter[Room], room: Room) -> int:
        """A number of new hosts below which nothing can go."""
        there = list(rooms.elements())
        bound = 0
        shared = self.shared_bounds(vms)
        gpus = sum(n * r.gpus for n, r in zip(vms, self.requests, strict=True)) + sum(shared)
        for need, i in (
            (gpus, 0),
            (sum(n * r.vcpus for n, r in zip(vms, self.requests, strict=True)), 1),
            (sum(n * r.memory_gib for n, r in zip(vms, self.requests, strict=True)), 2),
        ):
            if room[i] and (i == 0 or all(one[i] for one in there)):
                bound = max(bound, -(-(need - sum(one[i] for one in there)) // room[i]))
        for kind, n in enumerate(vms):
            least = n - sum(times * self.most_on(one, kind) for one, times in rooms.items())
            if least > 0 and self.most_on(room, kind):
                bound = max(bound, -(-least // self.most_on(room, kind)))
        largest = [
            0 if i and any(not one[i] for one in (room, *there)) else max(one[i] for one in (room, *there))
            for i in range(3)
        ]
        for i, sizes in ((1, [r.vcpus for r in self.requests]), (2, [r.memory_gib for r in self.requests])):
            if largest[i]:
                amounts = Counter[int]()
                for size, n in zip(sizes, vms, strict=True):
                    amounts[size] += n if size else 0
                bound = max(bound, bins_bound(amounts, capacity=largest[i]) - len(there))
        return max(bound, self.solve(vms, largest[0]).bound - len(there), 0)

    def most_on(self, room: Room, kind: int) -> int:
        """How many VMs of one kind fit on an empty host."""
        request = self.requests[kind]
        if self.family_of[kind] < 0:
            most = room.gpus // request.gpus
        else:
            most = room.gpus * self.per_gpu[kind] // request.shares
        if room.vcpus and request.vcpus:
            most = min(most, room.vcpus // request.vcpus)
        if room.memory_gib and request.memory_gib:
            most = min(most, room.memory_gib // request.memory_gib)
        return most

    # ---- equal hosts

    def solve(self, vms: tuple[int, ...], gpus_per_host: int) -> Solution:
        """The fewest equal hosts for so many VMs of each kind; CPU and memory are not looked at."""
        key = (vms, gpus_per_host)
        if key not in self._solved:
            self._solved[key] = self._solve(vms, gpus_per_host)
        return self._solved[key]

    def hosts_needed(self, vms: tuple[int, ...], gpus_per_host: int) -> int:
        """How many hosts ``solve`` takes; quicker where it is asked for many mixes."""
        key = (vms, gpus_per_host)
        if key not in self._needed:
            if any(n and self.requests[kind].shares > 1 for kind, n in enumerate(vms)):
                self._needed[key] = self.solve(vms, gpus_per_host).hosts
            else:
                sizes = Counter({1: sum(packed.bins for packed in self.packed_gpus(vms).values())})
                for kind, n in enumerate(vms):
                    sizes[self.requests[kind].gpus] += n if self.family_of[kind] < 0 else 0
                self._needed[key] = pack(sizes, capacity=gpus_per_host).bins
        return self._needed[key]

    def _solve(self, vms: tuple[int, ...], gpus_per_host: int) -> Solution:
        room = Room(gpus_per_host)
        for kind, n in enumerate(vms):
            if n and self.fit((gpus_per_host, -1, -1, ()), kind) is None:
                raise ValueError(f"{self.requests[kind].group}: {self._lack(kind, [room])}")
        apart = self._solve_apart(vms, room)
        several = [
            k for k, n in enumerate(vms) if n and self.requests[k].shares > 1 and self.family_of[k] >= 0
        ]
        if not several:
            return apart
        order = [k for k in self.largest_first if vms[k]]
        tries = [self.greedy(vms, Counter(), room, order, by) for by in (0, None)]
        blocks = min((b for b in tries if b is not None), key=lambda b: sum(x.times for x in b))
        bound = apart.bound
        if sum(b.times for b in blocks) > bound:
            exactly = self._solve_together(vms, room, several)
            if exactly is not None:
                proven, found = exactly
                bound = max(bound, proven)
                blocks = min(blocks, found, key=lambda b: sum(x.times for x in b))
                method = "programme"
        else:
            method = apart.method if apart.method != "heuristic" else "volume"
        if sum(b.times for b in blocks) > bound:
            method = "heuristic"
        return Solution(blocks, bound, method, self._shared_in(blocks, apart.shared))

    def _shared_in(self, blocks: Sequence[Block], bounds: Sequence[Shared]) -> tuple[Shared, ...]:
        """GPUs that each family takes in these blocks, beside what is proven of it."""
        gpus = Counter[str]()
        for block in blocks:
            for part in block.content:
                if part.family >= 0:
                    gpus[self.families[part.family].name] += block.times
        return tuple(
            known._replace(
                gpus=gpus[known.family],
                method=known.method if gpus[known.family] == known.bound else "heuristic",
            )
            for known in bounds
        )

    def shared_on(self, hosts: Sequence[Host]) -> tuple[Shared, ...]:
        """GPUs that each family takes on these hosts, and whether that is proven to be the fewest."""
        gpus = Counter(load.family.name for host in hosts for load in host if load.family)
        found = []
        for f, packed in self.packed_gpus(self.vms).items():
            name = self.families[f].name
            method = packed.method if gpus[name] == packed.bound else "heuristic"
            found.append(Shared(name, gpus[name], packed.bound, method))
        return tuple(found)

    def shared_bounds(self, vms: tuple[int, ...]) -> list[int]:
        """GPUs that each family needs at least."""
        return [packed.bound for packed in self.packed_gpus(vms).values()]

    def packed_gpus(self, vms: tuple[int, ...]) -> dict[int, packing.Packing]:
        """The fewest GPUs of each family, shares of one VM being let apart."""
        found = {}
        for f, family in enumerate(self.families):
            amounts = Counter[int]()
            for kind, n in enumerate(vms):
                if n and self.family_of[kind] == f:
                    amounts[self.units[kind]] += n * self.requests[kind].shares
            if not amounts:
                continue
            if family.capacity:
                found[f] = pack(amounts, capacity=family.capacity)
            else:
                needed = [amounts[p] for p in range(len(self.profiles[f]))]
                found[f] = cover(needed, layouts=self.layouts[f])
        return found

    def _solve_apart(self, vms: tuple[int, ...], room: Room) -> Solution:
        """The exact answer where all VMs have whole GPUs or one share; for others a bound."""
        runs: list[tuple[int, int, tuple[int, ...], int]] = []  # first kind, family, kinds on it, how many
        shared = []
        for kind, n in enumerate(vms):
            if n and self.family_of[kind] < 0:
                runs.append((kind, -1, (kind,), n))
        for f, packed in self.packed_gpus(vms).items():
            shared.append(Shared(self.families[f].name, packed.bins, packed.bound, packed.method))
            queues: dict[int, deque[list[Any]]] = defaultdict(deque)
            for kind, n in enumerate(vms):
                if n and self.family_of[kind] == f:
                    queues[self.units[kind]].append([kind, n * self.requests[kind].shares])
            for pattern, often in packed.patterns:
                if self.families[f].capacity:
                    needs = Counter(pattern)
                else:
                    needs = Counter({unit: amount for unit, amount in enumerate(pattern) if amount})
                for times, kinds in _dealt(needs, often, queues):
                    runs.append((min(kinds), f, tuple(kinds), times))
        runs.sort(key=lambda run: run[0])
        sizes = Counter[int]()
        loads: dict[int, deque[list[Any]]] = defaultdict(deque)
        for _, f, on_it, n in runs:
            size = self.requests[on_it[0]].gpus if f < 0 else 1
            sizes[size] += n
            loads[size].append([(f, on_it), n])
        packed = pack(sizes, capacity=room.gpus)
        blocks = tuple(
            Block(times, room, _numbered(content))
            for pattern, often in packed.patterns
            for times, content in _dealt(Counter(pattern), often, loads)
        )
        method, bound = packed.method, packed.bound
        if any(one.bound < one.gpus for one in shared):
            least = Counter(sizes)
            least[1] -= sum(one.gpus - one.bound for one in shared)
            bound = pack(least, capacity=room.gpus).bound
            method = packed.method if bound == packed.bins else "heuristic"
        return Solution(blocks, bound, method, tuple(shared))

    def _solve_together(
        self, vms: tuple[int, ...], room: Room, several: Sequence[int]
    ) -> tuple[int, tuple[Block, ...]] | None:
        """Bound and blocks by the programme over host patterns; None if it does not apply or there are too many."""
        joint = sorted({self.family_of[k] for k in several})
        if any(
            len({self.units[k] for k, n in enumerate(vms) if n and self.family_of[k] == f}) > 1 for f in joint
        ):
            return None
        return _Together(self, vms, room, joint).solved()

    # ---- from blocks to VMs with numbers

    def hosts_of(self, blocks: Iterable[Block]) -> tuple[Host, ...]:
        """Hosts of these blocks, one after the other."""
        deal = _Deal(self)
        hosts: list[Host] = []
        for block in blocks:
            hosts += deal.hosts(block.content, block.times)
        return tuple(hosts)

    def hosts_on(self, blocks: Iterable[Block], rooms: Sequence[Room]) -> tuple[Host, ...]:
        """Hosts of these blocks, each laid on the next of the rooms that is like its own."""
        waiting: dict[Room, deque[list[Any]]] = defaultdict(deque)
        for block in blocks:
            waiting[block.room].append([block.content, block.times])
        deal = _Deal(self)
        hosts: list[Host] = []
        for room in rooms:
            queue = waiting[room]
            if not queue:
                hosts.append(())
                continue
            hosts += deal.hosts(queue[0][0], 1)
            queue[0][1] -= 1
            if not queue[0][1]:
                queue.popleft()
        return tuple(hosts)


def vms_in(content: Content) -> Counter[int]:
    """How many VMs of each kind are on a host.

    Parameters
    ----------
    content : tuple of Part
        What is on the host, counted. [-]

    Returns
    -------
    vms_in : Counter
        VMs by number of their kind. [VM]

    Notes
    -----
    VMs of a kind are numbered from 0 on each host, and one VM may have several slots.

    Examples
    --------
    >>> vms_in((Part(-1, ((0, 0),)), Part(2, ((1, 0), (1, 0), (1, 1)))))
    Counter({1: 2, 0: 1})

    References
    ----------
    .. [1] gpuplan-method
    """
    most: Counter[int] = Counter()
    for _, slots in content:
        for kind, vm in slots:
            if vm >= most[kind]:
                most[kind] = vm + 1
    return most


def _new(blocks: Sequence[Block], room: Room) -> int:
    """Hosts of one kind."""
    return sum(block.times for block in blocks if block.room == room)


def _left(state: State, room: Room, by: int) -> float:
    """What part of a resource (3: of the scarcest) is left of a host."""
    parts = [
        max(0, left) / offered if offered else 1.0 for left, offered in zip(state[:3], room, strict=True)
    ]
    return parts[by] if by < 3 else min(parts)


def _dealt(
    needs: Mapping[Any, int], often: int, queues: Mapping[Any, deque[list[Any]]]
) -> Iterator[tuple[int, list[Any]]]:
    """Patterns filled from queues of (thing, how many); what comes out alike in a row comes once, with its number."""
    while often:
        times = min(often, *(queues[key][0][1] // amount for key, amount in needs.items()))
        taken: list[Any] = []
        for key, amount in needs.items():
            queue = queues[key]
            left = amount * max(1, times)
            while left:
                thing, n = queue[0]
                used = min(n, left)
                taken += [thing] * (amount if times else used)
                left -= used
                queue[0][1] -= used
                if n == used:
                    queue.popleft()
        yield max(1, times), taken
        often -= max(1, times)


def _numbered(content: Iterable[tuple[int, Iterable[int]]]) -> Content:
    """Parts of one host whose slots are each a VM of their own."""
    next_of: Counter[int] = Counter()
    parts = []
    for family, kinds in content:
        slots = []
        for kind in kinds:
            slots.append((kind, next_of[kind]))
            next_of[kind] += 1
        parts.append(Part(family, tuple(slots)))
    return tuple(parts)


class _Deal:
    """Gives VMs their numbers, host by host."""

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self.slots: dict[int, list[Slot]] = {}
        self.next_of: Counter[int] = Counter()

    def hosts(self, content: Content, times: int) -> list[Host]:
        """So many hosts with this content, with the next VMs."""
        requests = self.rules.requests
        counts = vms_in(content)
        for kind in counts:
            if kind not in self.slots:
                r = requests[kind]
                same = itertools.repeat
                values = zip(same(r.group), range(1, r.vms + 1), same(r.profile), same(r.weight))  # noqa: B905
                self.slots[kind] = list(map(partial(tuple.__new__, Slot), values))
        plan: list[tuple[int, list[Slot], int, int, int, Slots, Family | None]] = []
        for family, slots in content:
            kind, first = slots[0]
            gpus = 1 if family >= 0 else requests[kind].gpus
            if slots == tuple((kind, first + i) for i in range(len(slots))):
                plan.append(
                    (gpus, self.slots[kind], kind, first, first + len(slots), (), requests[kind].family)
                )
            else:
                plan.append((gpus, [], kind, 0, 0, slots, requests[kind].family))
        hosts = []
        at = self.next_of
        for _ in range(times):
            hosts.append(
                tuple(
                    [
                        Load(
                            gpus,
                            tuple([self.slots[k][at[k] + vm] for k, vm in mixed])
                            if mixed
                            else tuple(row[at[kind] + start : at[kind] + stop]),
                            family,
                        )
                        for gpus, row, kind, start, stop, mixed, family in plan
                    ]
                )
            )
            for kind, n in counts.items():
                at[kind] += n
        return hosts


class _Pattern(NamedTuple):
    """A way to use a host: GPUs given to each family, VMs of each whole size, VMs with several shares."""

    given: tuple[int, ...]
    wholes: tuple[int, ...]
    several: tuple[int, ...]


class _Together:
    """The programme over host patterns for VMs with several shares, of families with one size of share each.

    A pattern gives GPUs to each such family and fills them with VMs that have several shares, and fills the
    other GPUs with whole requests of two and more, as full as it goes. A VM too many gives its place
    to single ones, so fuller is never worse; GPUs are free for single whole GPUs, other families and VMs
    with one share.
    """

    def __init__(self, rules: Rules, vms: tuple[int, ...], room: Room, joint: Sequence[int]) -> None:
        self.rules, self.vms, self.room, self.joint = rules, vms, room, joint
        present = [k for k, n in enumerate(vms) if n]
        self.most = {f: next(rules.per_gpu[k] for k in present if rules.family_of[k] == f) for f in joint}
        self.whole = Counter[int]()
        self.bundles: dict[int, Counter[int]] = {f: Counter() for f in joint}
        for k in present:
            f, r = rules.family_of[k], rules.requests[k]
            if f < 0:
                self.whole[r.gpus] += vms[k]
            elif f in joint:
                self.bundles[f][r.shares] += vms[k]
        self.singles = {f: self.bundles[f].pop(1, 0) for f in joint}
        ones = self.whole.pop(1, 0)
        packed = rules.packed_gpus(vms)
        self.exact_rest = all(p.bins == p.bound for f, p in packed.items() if f not in joint)
        self.ones = ones + sum(p.bins for f, p in packed.items() if f not in joint)

    def solved(self) -> tuple[int, tuple[Block, ...]] | None:
        """Bound and blocks."""
        patterns = self._patterns()
        if patterns is None:
            return None
        sizes, bundles = self._rows()
        rows = len(sizes) + len(bundles) + len(self.joint) + 1
        columns: list[tuple[int, ...]] = []
        for given, wholes, counts in patterns:
            free = self.room.gpus - sum(given) - sum(s * n for s, n in zip(sizes, wholes, strict=True))
            rests = [
                self.most[f] * g - sum(m * n for (of, m), n in zip(bundles, counts, strict=True) if of == f)
                for f, g in zip(self.joint, given, strict=True)
            ]
            columns.append((*wholes, *counts, *rests, free))
        costs = [1] * len(columns)

        def swap(changes: Mapping[int, int]) -> None:
            columns.append(tuple(changes.get(row, 0) for row in range(rows)))
            costs.append(0)

        first_rest = len(sizes) + len(bundles)
        for row, size in enumerate(sizes):
            swap({row: -1, rows - 1: size})
        for row, (f, m) in enumerate(bundles):
            swap({len(sizes) + row: -1, first_rest + self.joint.index(f): m})
        for row, f in enumerate(self.joint):
            swap({first_rest + row: self.most[f], rows - 1: -1})
        needed = [
            *(self.whole[s] for s in sizes),
            *(self.bundles[f][m] for f, m in bundles),
            *(self.singles[f] for f in self.joint),
            self.ones,
        ]
        chosen, bound = whole_programme(columns, needed, costs=costs, seconds=packing.SOLVER_SECONDS)
        if chosen is None:
            return None
        return bound if self.exact_rest else 0, self._blocks(patterns, chosen[: len(patterns)])

    def _rows(self) -> tuple[list[int], list[tuple[int, int]]]:
        sizes = sorted(self.whole, reverse=True)
        return sizes, [(f, m) for f in self.joint for m in sorted(self.bundles[f], reverse=True)]

    def _patterns(self) -> list[_Pattern] | None:
        """All patterns; None if there are too many."""
        sizes, _ = self._rows()
        gpus = self.room.gpus
        wholes: dict[int, list[tuple[int, ...]]] = {}
        fills: dict[tuple[int, int], list[tuple[int, ...]]] = {}
        for left in range(gpus + 1):
            ways = maximal_patterns(sizes, counts=[self.whole[s] for s in sizes], capacity=left)
            if ways is None:
                return None
            wholes[left] = ways
        for f in self.joint:
            shares = sorted(self.bundles[f], reverse=True)
            for given in range(gpus + 1):
                ways = maximal_patterns(
                    shares, counts=[self.bundles[f][m] for m in shares], capacity=given * self.most[f]
                )
                if ways is None:
                    return None
                fills[f, given] = [way for way in ways if any(way)] if given else ways
        found: list[_Pattern] = []
        for given_to in itertools.product(range(gpus + 1), repeat=len(self.joint)):
            if sum(given_to) > gpus:
                continue
            options = [fills[f, g] for f, g in zip(self.joint, given_to, strict=True)]
            number = len(wholes[gpus - sum(given_to)]) * math.prod(map(len, options))
            if len(found) + number > packing.MAX_PATTERNS:
                return None
            for whole in wholes[gpus - sum(given_to)]:
                found += [
                    _Pattern(given_to, whole, tuple(itertools.chain(*each)))
                    for each in itertools.product(*options)
                ]
        return found

    def _blocks(
        self,
        patterns: Sequence[_Pattern],
        chosen: Sequence[int],
    ) -> tuple[Block, ...]:
        """Hosts filled after the patterns; then VMs with one share, then what takes one GPU."""
        rules = self.rules
        sizes, bundles = self._rows()
        queues: dict[Any, deque[list[int]]] = defaultdict(deque)
        for k, n in enumerate(self.vms):
            if n:
                f, r = rules.family_of[k], rules.requests[k]
                queues[(f, r.shares) if f in self.joint else ("whole", r.gpus) if f < 0 else "other"].append(
                    [k, n]
                )

        def take(key: Any) -> int | None:
            queue = queues[key]
            if not queue:
                return None
            kind = queue[0][0]
            queue[0][1] -= 1
            if not queue[0][1]:
                queue.popleft()
            return kind

        hosts: list[tuple[int, list[tuple[int, list[tuple[int, int]]]]]] = []  # free GPUs, (family, slots)
        for (_, wholes, counts), times in zip(patterns, chosen, strict=True):
            for _ in range(times):
                free, parts, numbers = self.room.gpus, [], Counter[int]()
                for size, n in zip(sizes, wholes, strict=True):
                    for _ in range(n):
                        kind = take(("whole", size))
                        if kind is not None:
                            parts.append((-1, [(kind, numbers[kind])]))
                            numbers[kind] += 1
                            free -= size
                for f in self.joint:
                    slots: list[tuple[int, int]] = []
                    for (of, m), n in zip(bundles, counts, strict=True):
                        for _ in range(n if of == f else 0):
                            kind = take((f, m))
                            if kind is not None:
                                slots += [(kind, numbers[kind])] * m
                                numbers[kind] += 1
                    most = self.most[f]
                    shared = [(f, slots[at : at + most]) for at in range(0, len(slots), most)]
                    parts += shared
                    free -= len(shared)
                hosts.append((free, parts))
        content: list[tuple[int, list[tuple[int, list[tuple[int, int]]]]]] = hosts
        for at, (free, parts) in enumerate(content):
            numbers = Counter(kind for kind, _ in {slot for _, slots in parts for slot in slots})
            for f, slots in parts:
                while f >= 0 and len(slots) < self.most[f] and queues[f, 1]:
                    kind = take((f, 1))
                    assert kind is not None
                    slots.append((kind, numbers[kind]))
                    numbers[kind] += 1
            content[at] = (free, parts)
        rest = [0] * len(self.vms)
        for k in range(len(self.vms)):
            f = rules.family_of[k]
            if f >= 0 and f not in self.joint:
                rest[k] = self.vms[k]
        for key in [("whole", 1), *((f, 1) for f in self.joint)]:
            for kind, n in queues[key]:
                rest[kind] = n
        singles = [
            part for block in rules.solve(tuple(rest), 1).blocks for part in [block.content[0]] * block.times
        ]
        waiting = deque(singles)
        for at, (free, parts) in enumerate(content):
            numbers = Counter(kind for kind, _ in {slot for _, slots in parts for slot in slots})
            while free and waiting:
                part = waiting.popleft()
                slots = []
                for kind, _ in part.slots:
                    slots.append((kind, numbers[kind]))
                    numbers[kind] += 1
                parts.append((part.family, slots))
                free -= 1
            content[at] = (free, parts)
        alike = Counter(tuple(Part(f, tuple(slots)) for f, slots in parts) for _, parts in content if parts)
        return tuple(Block(times, self.room, parts) for parts, times in alike.items())


class _Priced:
    """The relaxed programme over patterns of hosts, of GPUs, vCPUs and memory, that are generated at its prices.

    A pattern is what a greedy order puts on a host, those VMs first that are worth most for what they take; if
    that finds nothing new, the dearest choice of VMs by a small programme in which a GPU can be divided at will. That
    one also proves a bound: no host is worth more than it says, whatever the prices are.
    """

    def __init__(
        self, rules: Rules, vms: tuple[int, ...], rooms: Counter[Room], new: Room, start: Sequence[Block]
    ) -> None:
        self.rules, self.vms, self.rooms, self.new, self.start = rules, vms, rooms, new, tuple(start)
        self.kinds = [k for k, n in enumerate(vms) if n]
        self.places = [new, *rooms]
        """The first is any number of new hosts, the others are there so often."""
        self.parts = rules.parts_of(self.places)
        self.columns: dict[tuple[int, ...], tuple[int, Content]] = {}
        self.bound = 0
        for block in start:
            self._add(self.places.index(block.room), block.content)

    def solved(self) -> New:
        """New hosts, and the bound that was proven."""
        kinds = self.kinds
        needed = [*(self.vms[k] for k in kinds), *(-self.rooms[room] for room in self.places[1:])]
        for _ in range(PRICE_ROUNDS):
            costs = [int(at == 0) for at, _ in self.columns.values()]
            times, prices = relaxed_programme(list(self.columns), needed, costs=costs)
            if self.bound >= math.ceil(sum(t * c for t, c in zip(times, costs, strict=True)) - 1e-6):
                break
            before = len(self.columns)
            for at, room in enumerate(self.places):
                limit = prices[len(kinds) + at - 1] if at else 1.0
                for weights in PRICE_WEIGHTS:
                    content = self._dense(room, prices, weights)
                    counts = vms_in(content)
                    if sum(p * counts[k] for p, k in zip(prices, kinds, strict=False)) > limit + 1e-6:
                        self._add(at, content)
            if len(self.columns) == before:
                self._prove(prices)
            if len(self.columns) == before:
                break
        blocks = self._rounded(times)
        return New(_new(blocks, self.new), self.bound, blocks)

    def _add(self, at: int, content: Content) -> None:
        counts = vms_in(content)
        column = (
            *(counts[k] for k in self.kinds),
            *(-int(at == other) for other in range(1, len(self.places))),
        )
        self.columns.setdefault(column, (at, content))

    def _dense(self, room: Room, prices: Sequence[float], weights: Sequence[float]) -> Content:
        """A host filled with those VMs first that are worth most for what they take."""
        worth = {
            k: price / (sum(w * part for w, part in zip(weights, self.parts[k], strict=True)) or 1e-9)
            for k, price in zip(self.kinds, prices, strict=False)
            if price > 0
        }
        return self._filled(room, {k: self.vms[k] for k in sorted(worth, key=lambda k: -worth[k])})

    def _filled(self, room: Room, vms: Mapping[int, int]) -> Content:
        """A host with so many VMs of each kind, as far as they fit."""
        state, content = self.rules.state(room), Content()
        for kind, n in vms.items():
            for _ in range(n):
                fit = self.rules.fit(state, kind)
                if fit is None:
                    break
                content, state = self.rules.put(content, kind, fit), fit.state
        return content

    def _prove(self, prices: Sequence[float]) -> None:
        """A bound from these prices; the choices that it rests on become patterns."""
        rules, kinds = self.rules, self.kinds
        whole = [int(price * PRICE_UNIT) for price, _ in zip(prices, kinds, strict=False)]
        dearest = []
        for at, room in enumerate(self.places):
            most = [min(self.vms[k], rules.most_on(room, k)) for k in kinds]
            needs = [
                (
                    -int(rules.least_gpus[k] * GPU_UNIT),
                    -rules.requests[k].vcpus if room.vcpus else 0,
                    -rules.requests[k].memory_gib if room.memory_gib else 0,
                    *(-int(k == other) for other in kinds),
                )
                for k in kinds
            ]
            limits = [-room.gpus * GPU_UNIT, -room.vcpus, -room.memory_gib, *(-n for n in most)]
            chosen, least = whole_programme(needs, limits, costs=[-price for price in whole])
            dearest.append(-least)
            if chosen is not None:
                largest = {
                    k: n
                    for k in rules.largest_first
                    for other, n in zip(kinds, chosen, strict=True)
                    if k == other
                }
                self._add(at, self._filled(room, largest))
        total = sum(price * self.vms[k] for price, k in zip(whole, kinds, strict=True))
        total -= sum(
            value * self.rooms[room] for value, room in zip(dearest[1:], self.places[1:], strict=True)
        )
        if dearest[0] > 0:
            self.bound = max(self.bound, -(-total // dearest[0]))

    def _rounded(self, times: Sequence[float]) -> tuple[Block, ...]:
        """Whole multiples of the patterns, and what they leave over by the best greedy order."""
        rules = self.rules
        left, there = list(self.vms), Counter(self.rooms)
        blocks = []
        for (at, content), often in zip(self.columns.values(), times, strict=False):
            room, counts = self.places[at], vms_in(content)
            n = min([int(often + 1e-6), *(left[k] // amount for k, amount in counts.items())])
            n = min(n, there[room]) if at else n
            if n > 0:
                blocks.append(Block(n, room, content))
                for k, amount in counts.items():
                    left[k] -= n * amount
                if at:
                    there[room] -= n
        rest = tuple(left)
        found = [
            rules.greedy(rest, there, self.new, order, by if best_fit else None)
            for by, order in rules.orders(rest, self.places, self.new)
            for best_fit in (True, False)
        ]
        best = min((b for b in found if b is not None), key=lambda b: _new(b, self.new), default=None)
        return self.start if best is None else (*blocks, *best)
