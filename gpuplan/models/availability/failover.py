"""Failover: what a failure does to a placement, what every failure would do, and what is idle before it.

``recovery`` decides on counts; here are the answers. ``failure_survey`` needs no more than the counts, ``after_failure``
says of every VM where it goes.

References
----------
.. [1] vmware-vsphere-8.0-admission-control
"""

import heapq
import math
from collections import Counter, defaultdict, deque
from collections.abc import Collection, Iterator, Mapping, Sequence
from fractions import Fraction
from operator import itemgetter
from typing import Any, NamedTuple

from gpuplan.models.availability.restart import Choice, Cluster, HostClass, Pool
from gpuplan.models.placement import Host, Load, Request, Room, Slot
from gpuplan.models.placement.fit import Blocks, Content, Fit, Kinds, State, vms_in

SURVEY_SETS = 10_000
"""Sets of hosts that a survey of the worst looks at."""
SURVEY_STEPS = 30_000
"""VMs that a survey of the worst restarts before it stops to look for worse ones."""
PLACED_AGAIN_STEPS = 800
"""Steps that it counts for placing all VMs again."""


class Outcome(NamedTuple):
    """What happens when hosts fail or are taken into maintenance."""

    hosts: tuple[Host, ...]
    """Loads of every host afterwards; lost hosts are empty."""
    evacuated: tuple[tuple[str, int, int, int], ...]
    """(group, VM, from host, to host) of VMs that left a host in maintenance."""
    restarted: tuple[tuple[str, int, int], ...]
    """(group, VM, host it restarts on) of VMs that were on a failed host."""
    moved: tuple[tuple[str, int, int, int], ...]
    """(group, VM, from host, to host) of VMs on healthy hosts that must make room."""
    unplaced: tuple[tuple[str, int], ...]
    """(group, VM) with no GPU left for it."""
    impossible: bool = False
    """Whether it is proven that not all VMs fit on the hosts that are left; if not, no placement was found in the search."""


class Loss(NamedTuple):
    """What the loss of some hosts does, for all sets of hosts that are filled alike."""

    hosts: tuple[int, ...]
    """One of these sets, that with the lowest numbers, from 0."""
    alike: int
    """How many such sets there are."""
    restarted: int
    moved: int
    unplaced: int
    unplaced_gpus: float
    """GPUs' worth of the VMs that are not placed."""
    proven: bool = True
    """Whether no set that is not listed is worse; if not, only those sets were looked at that lose most."""
    impossible: bool = False
    """Whether it is proven that not all VMs fit on the hosts that are left; if not, no placement was found in the search."""


class Idle(NamedTuple):
    """Unused capacity on hosts that run VMs."""

    kind: str
    """``whole``: free GPUs of a host; ``share``: free room on a shared GPU."""
    family: str
    """Family of the shared GPU."""
    room: int
    """Free GPUs on each of these hosts; or shares (of the profile of which most fit) or MB on each of these GPUs."""
    count: int  # type: ignore[assignment]  # hides the method of tuples
    """Hosts, or GPUs, like that."""
    gpus: float
    """GPUs' worth that is idle in all of them."""
    fits: tuple[str, ...]
    """Groups of which one more VM would fit there; none: the capacity is stranded."""


class _Vm(NamedTuple):
    kind: int
    number: int
    host: int


class _Step(NamedTuple):
    """What became of the VMs on some hosts."""

    hosts: tuple[Host, ...]
    """Loads of every host afterwards."""
    placed: list[tuple[_Vm, int]]
    """Which of these VMs went where."""
    moved: list[tuple[_Vm, int]]
    """Who else had to move, and where."""
    unplaced: list[_Vm]


def after_failure(
    layout: Sequence[Host],
    *,
    requests: Sequence[Request],
    rooms: Sequence[Room],
    failed: Collection[int],
    maintenance: Collection[int] = (),
) -> Outcome:
    """Which VMs restart where, which must move and which find no place when hosts fail.

    Parameters
    ----------
    layout : sequence of Host
        Loads of each host, spare hosts being empty. [-]
    failed : collection of int
        Indices of the hosts that fail at once, from 0. [-]
    maintenance : collection of int
        Indices of the hosts that were emptied for maintenance before. [-]

    Notes
    -----
    Hosts in maintenance are emptied first, then the failed ones are lost; no VM goes to a lost host. Each
    time first without moving anybody: largest VMs first, onto free shares of the family, else onto free GPUs
    of the fullest host (fewest free GPUs, then least vCPUs and memory) that has room for all of the VM; where a family
    is filled in order (MIG), onto no running GPU that a smaller share is on. If some are left over and there is an
    empty host for each lost one, large enough for all that was on it, these take over. Else everything is placed
    again on the hosts that are left, and VMs that changed host are listed as moved: possible for equal hosts
    without limits of CPU and memory exactly if ``place`` needs no more hosts than are left, else if
    ``place_mixed`` would find room. If that is impossible too, as many of the VMs left over as possible are added
    to what a restart placed, largest first, kind by kind, as long as everything can be placed again (by a greedy
    order where hosts differ, or where there are too many ways to fill a host); the others are not placed.

    Examples
    --------
    >>> from gpuplan.models.placement import place
    >>> request = Request("research", 2, gpus=4)
    >>> hosts = (*place([request], gpus_per_host=4).hosts, ())
    >>> after_failure(hosts, requests=[request], rooms=[Room(4)] * 3, failed={0}).restarted
    (('research', 1, 2),)
    """
    cluster = Cluster(requests, rooms)
    emptied = sorted(set(maintenance))
    lost = sorted(set(failed) - set(maintenance))
    evacuation = _lose(cluster, tuple(layout), emptied, emptied)
    restart = _lose(cluster, evacuation.hosts, lost, [*emptied, *lost])
    name = [request.group for request in requests]
    unplaced = evacuation.unplaced + restart.unplaced
    left = Counter(room for at, room in enumerate(cluster.rooms) if at not in {*emptied, *lost})
    return Outcome(
        restart.hosts,
        tuple((name[vm.kind], vm.number, vm.host, to) for vm, to in evacuation.placed),
        tuple((name[vm.kind], vm.number, to) for vm, to in restart.placed),
        tuple((name[vm.kind], vm.number, vm.host, to) for vm, to in evacuation.moved + restart.moved),
        tuple((name[vm.kind], vm.number) for vm in unplaced),
        bool(unplaced) and cluster.impossible(_vms_of(cluster, layout), left),
    )


def failure_survey(
    layout: Sequence[Host],
    *,
    requests: Sequence[Request],
    rooms: Sequence[Room],
    lost: int,
    maintenance: Collection[int] = (),
    most: int = 0,
) -> tuple[Loss, ...]:
    """What each possible loss of hosts would do, worst first.

    Parameters
    ----------
    layout : sequence of Host
        Loads of each host, spare hosts being empty. [-]
    lost : int
        How many hosts fail at once. [host]
    maintenance : collection of int
        Indices of the hosts that were emptied for maintenance before, from 0; they cannot fail. [-]
    most : int
        How many sets are asked for, the worst; 0: all. [-]

    Returns
    -------
    failure_survey : tuple of Loss
        Every set of so many hosts, those filled alike once, with their number: most GPUs' worth not placed
        first, then most VMs not placed, moved and restarted, then the lowest numbers. [-]

    Notes
    -----
    The same decisions as ``after_failure``, on counts, what a maintenance moved and did not place included. Alike are hosts
    that offer the same and have the same loads by group and profile; there are as many sets as products of binomial
    coefficients say. If only the worst are asked for, each set waits with what it does at worst (all that is lost, then
    all that a restart leaves over), and the worst is worked out, until none that waits can be worse. That ends after a
    number of steps too, and of very many kinds of hosts only those on which most is are taken: then the figures hold, but the choice of the sets is not ``proven``.

    Examples
    --------
    >>> from gpuplan.models.placement import place
    >>> request = Request("research", 3, gpus=3)
    >>> hosts = (*place([request], gpus_per_host=4).hosts, ())
    >>> for loss in failure_survey(hosts, requests=[request], rooms=[Room(4)] * 4, lost=2):
    ...     print(loss.hosts, loss.alike, loss.restarted, loss.unplaced)
    (0, 1) 3 1 1
    (0, 3) 3 0 1
    """
    cluster = Cluster(requests, rooms)
    emptied = sorted(set(maintenance))
    before = _lose(cluster, tuple(layout), emptied, emptied)
    classes = [
        one._replace(hosts=left)
        for one in cluster.read(before.hosts)
        if (left := [at for at in one.hosts if at not in maintenance])
    ]
    counts = _Counts(cluster, classes)
    names = [one.hosts for one in classes]
    sizes, cut = [len(hosts) for hosts in names], False
    if most and math.comb(len(names) + lost - 1, lost) > SURVEY_SETS:
        sizes, cut = counts.fullest_classes(lost), True
    sets = [
        (tuple(sorted(at for c, n in chosen for at in names[c][:n])), chosen)
        for chosen in _multisets(sizes, lost)
    ]
    stuck = sum((cluster.rules.worth[vm.kind] for vm in before.unplaced), Fraction(0))
    found, proven = _worst_first(counts, sets, most)
    return tuple(
        Loss(
            one.example,
            math.prod(math.comb(len(names[c]), n) for c, n in one.chosen),
            int(one.figures.restarted),
            int(one.figures.moved) + len(before.moved),
            int(one.figures.unplaced) + len(before.unplaced),
            float(one.figures.worth + stuck),
            at < proven and not cut,
            one.figures.unplaced > 0 and one.impossible(before.unplaced),
        )
        for at, one in enumerate(found)
    )


def idle_gpus(
    layout: Sequence[Host], *, requests: Sequence[Request], rooms: Sequence[Room]
) -> tuple[Idle, ...]:
    """What is idle on hosts in use, and which VMs could still use it.

    Parameters
    ----------
    layout : sequence of Host
        Loads of each host, spare hosts being empty. [-]

    Returns
    -------
    idle_gpus : tuple of Idle
        Free GPUs by how many there are on a host, then shared GPUs by how much room is left on them. [GPU]

    Notes
    -----
    Hosts without VMs are failover capacity, not idle. A VM fits if all of its shares, vCPUs and memory are on the host and
    some of it goes there. What is left of a shared GPU is worth the shares of the profile of which the largest part
    still fits, of the most that one GPU holds.

    Examples
    --------
    >>> from gpuplan.models.placement import place
    >>> requests = [Request("threes", 2, gpus=3), Request("fours", 0, gpus=4)]
    >>> idle_gpus(place(requests, gpus_per_host=4).hosts, requests=requests, rooms=[Room(4)] * 2)
    (Idle(kind='whole', family='', room=1, count=2, gpus=2.0, fits=()),)

    References
    ----------
    .. [1] vmware-sharing-gpus-2020
    """
    cluster = Cluster(requests, rooms)
    rules = cluster.rules
    found: dict[tuple[str, str, int, tuple[str, ...]], tuple[int, Fraction]] = {}

    def add(kind: str, family: str, room: int, fits: Sequence[int], count: int, gpus: Fraction) -> None:
        key = kind, family, room, tuple(rules.requests[k].group for k in fits)
        before, worth = found.get(key, (0, Fraction(0)))
        found[key] = before + count, worth + gpus * count

    for one in cluster.read(layout):
        if not one.content:
            continue
        free, _, _, opens = one.state
        fitting = [k for k in range(len(requests)) if rules.fit_later(one.state, k) is not None]
        if free:
            add("whole", "", free, fitting, len(one.hosts), Fraction(free))
        for f, used in opens:
            mine = [k for k in range(len(requests)) if rules.family_of[k] == f]
            more = {k: rules.more(f, used, rules.units[k]) for k in mine}
            family = rules.families[f]
            if family.capacity:
                room, worth = family.capacity - used[0], Fraction(family.capacity - used[0], family.capacity)
            else:
                room = max(more.values())
                worth = max(Fraction(more[k], rules.per_gpu[k]) for k in mine)
            add("share", family.name, room, [k for k in fitting if more.get(k)], len(one.hosts), worth)
    return tuple(
        Idle(*key[:3], count, float(gpus), key[3])
        for key, (count, gpus) in sorted(
            found.items(), key=lambda item: (item[0][0] != "whole", item[0][1], -item[0][2], item[0][3])
        )
    )


def fits(requests: Sequence[Request], *, rooms: Sequence[Room]) -> bool:
    """Whether everything has a place on these hosts, if all is placed anew.

    Notes
    -----
    The same decision as that of ``after_failure`` when all is placed again: exact where ``place`` is for equal hosts without
    limits of CPU and memory, and where ``place_mixed`` is for others, on these hosts alone. A host with 0 GPUs
    offers nothing to a VM that needs one.

    Examples
    --------
    >>> request = Request("research", 3, gpus=3)
    >>> fits([request], rooms=[Room(4)] * 3), fits([request], rooms=[Room(4)] * 2), fits([], rooms=[])
    (True, False, True)

    References
    ----------
    .. [1] martello-toth-1990
    """
    cluster = Cluster(requests, rooms)
    return cluster.possible(cluster.rules.vms, Counter(cluster.rooms), thorough=True)


_Chosen = tuple[tuple[int, int], ...]
"""(class of hosts, how many of it)."""


class _Figures(NamedTuple):
    """What a loss does."""

    restarted: float
    moved: float
    unplaced: float
    worth: Fraction
    """GPUs' worth of those that are not placed."""


class _Look:
    """A set of hosts to lose, and what is known of its loss: at first only what is on them."""

    def __init__(self, counts: "_Counts", example: tuple[int, ...], chosen: _Chosen) -> None:
        self.counts, self.example, self.chosen = counts, example, chosen
        self.lost = counts.lost(chosen)
        self.figures = _Figures(math.inf, math.inf, math.inf, counts.worth(self.lost))
        """What it does, or at worst does."""
        self.done: Kinds | None = None
        """VMs that a restart alone places, if it does not place all."""
        self.begun = self.sure = False

    def key(self) -> tuple[Any, ...]:
        """Smaller for a worse loss."""
        restarted, moved, unplaced, worth = self.figures
        return (-float(worth), -unplaced, -moved, -restarted, self.example)

    def impossible(self, stuck: Sequence[_Vm]) -> bool:
        """Whether it is proven that not all VMs, those included that a maintenance left over, fit on the hosts that are left."""
        vms = [n + sum(vm.kind == kind for vm in stuck) for kind, n in enumerate(self.counts.vms)]
        return self.counts.cluster.impossible(tuple(vms), self.counts.left(self.chosen))

    def closer(self) -> int:
        """Find out more; returns how many steps that took."""
        if self.done is not None:
            self.figures, self.sure = self.counts.placed_again(self.chosen, self.lost, self.done), True
            return PLACED_AGAIN_STEPS
        self.figures, self.done = self.counts.restart(self.chosen, self.lost)
        self.begun, self.sure = True, self.done is None
        if not self.sure:
            self.figures = self.figures._replace(restarted=math.inf, moved=math.inf)
        return sum(self.lost)


def _worst_first(
    counts: "_Counts", sets: Sequence[tuple[tuple[int, ...], _Chosen]], most: int
) -> tuple[list[_Look], int]:
    """The worst of these sets of hosts (0: all), worst first, and of how many of them that is sure."""
    # Each set waits with what it does at worst and comes again when more is known. What comes and is known is the worst.
    heap = [(one.key(), one) for one in (_Look(counts, *each) for each in sets)]
    heapq.heapify(heap)
    steps = SURVEY_STEPS if most else math.inf
    found: list[_Look] = []
    while heap and steps >= 0 and not (most and len(found) == most):
        _, one = heapq.heappop(heap)
        if one.sure:
            found.append(one)
        else:
            steps -= one.closer()
            heapq.heappush(heap, (one.key(), one))
    sure = len(found)
    # if not all could be looked at: of those that were, the worst after a restart, as far as needed worked out
    return found + (_rest([one for _, one in heap], most - sure) if most else []), sure


def _rest(waiting: Sequence[_Look], most: int) -> list[_Look]:
    """Some bad sets of those that wait, their figures worked out."""
    begun = sorted((one for one in waiting if one.begun), key=_Look.key)
    begun += heapq.nsmallest(most - len(begun), (one for one in waiting if not one.begun), key=_Look.key)
    known = [one for one in begun if one.sure]
    worked = [one for one in begun if not one.sure][:most]
    for one in worked:
        while not one.sure:
            one.closer()
    return sorted(worked + known, key=_Look.key)[:most]


def _multisets(sizes: Sequence[int], total: int, at: int = 0) -> Iterator[tuple[tuple[int, int], ...]]:
    """(class, how many of it) for every choice of so many in all."""
    if total == 0:
        yield ()
        return
    for index in range(at, len(sizes)):
        for n in range(min(sizes[index], total), 0, -1):
            for rest in _multisets(sizes, total - n, index + 1):
                yield ((index, n), *rest)


class _Counts:
    """How many hosts and VMs there are of each kind, and what a loss does to them."""

    def __init__(self, cluster: Cluster, classes: Sequence[HostClass]) -> None:
        self.cluster, self.classes = cluster, classes
        states = Counter[State]()
        self.rooms = Counter[Room]()
        for one in classes:
            states[one.state] += len(one.hosts)
            self.rooms[one.room] += len(one.hosts)
        self.pool = Pool(cluster.rules, states)
        self.vms = [
            sum(one.vms[k] * len(one.hosts) for one in classes) for k in range(len(cluster.rules.requests))
        ]

    def fullest_classes(self, lost: int) -> list[int]:
        """Hosts of each class, none of those on which least is, so that there are not too many sets of so many hosts."""
        every = range(len(self.classes))
        order = sorted(every, key=lambda c: (-self.worth(self.classes[c].vms), c))
        kept = max(k for k in every if math.comb(k + lost, lost) <= SURVEY_SETS)
        return [len(self.classes[c].hosts) if c in order[: kept + 1] else 0 for c in every]

    def lost(self, chosen: _Chosen) -> Kinds:
        """VMs of each kind on these hosts."""
        lost = [0] * len(self.vms)
        for c, n in chosen:
            for k, vms in enumerate(self.classes[c].vms):
                lost[k] += n * vms
        return tuple(lost)

    def left(self, chosen: _Chosen) -> Counter[Room]:
        """Hosts that are left, by kind."""
        return self.rooms - Counter(room for c, n in chosen for room in [self.classes[c].room] * n)

    def restart(self, chosen: _Chosen, lost: Kinds) -> tuple[_Figures, Kinds | None]:
        """What a restart alone does when so many hosts of some classes are lost, and who has a place then (None: all)."""
        gone = Counter[State]()
        for c, n in chosen:
            gone[self.classes[c].state] += n
        order = [k for k in self.cluster.rules.largest_first for _ in range(lost[k])]
        choices = self.pool.restart(order, gone)
        if None not in choices or self._taken_over(chosen):
            return _Figures(len(order), 0, 0, Fraction(0)), None
        done = [0] * len(lost)
        for kind, choice in zip(order, choices, strict=True):
            done[kind] += choice is not None
        return self._figures(lost, done, 0), tuple(done)

    def placed_again(self, chosen: _Chosen, lost: Kinds, done: Kinds) -> _Figures:
        """What it does if others may be moved too."""
        cluster, classes = self.cluster, self.classes
        running = tuple(a - b for a, b in zip(self.vms, lost, strict=True))
        decided = cluster.decide(running, lost, done, self.left(chosen))
        if decided is None:
            return self._figures(lost, done, 0)
        placed, blocks = decided
        healthy = Counter[tuple[Room, Kinds]]()
        for one in classes:
            healthy[one.room, one.vms] += len(one.hosts)
        for c, n in chosen:
            healthy[classes[c].room, classes[c].vms] -= n
        moved = sum(running) - sum(n * stay for _, _, n, stay in cluster.match(+healthy, blocks))
        return self._figures(lost, [a - b for a, b in zip(placed, running, strict=True)], moved)

    def worth(self, vms: Sequence[int]) -> Fraction:
        """GPUs' worth of so many VMs of each kind."""
        return sum((n * w for n, w in zip(vms, self.cluster.rules.worth, strict=True) if n), Fraction(0))

    def _figures(self, lost: Sequence[int], done: Sequence[int], moved: int) -> _Figures:
        left = [a - b for a, b in zip(lost, done, strict=True)]
        return _Figures(sum(done), moved, sum(left), self.worth(left))

    def _taken_over(self, chosen: _Chosen) -> bool:
        """Whether empty hosts can take over all that is on the lost ones."""
        empty = Counter({one.room: 0 for one in self.classes if not one.content})
        for one in self.classes:
            if not one.content:
                empty[one.room] += len(one.hosts)
        lost = []
        for c, n in chosen:
            one = self.classes[c]
            if one.content:
                lost += [(one.room, one.content)] * n
            else:
                empty[one.room] -= n
        return self.cluster.taken_over(lost, empty) is not None


def _lose(cluster: Cluster, layout: tuple[Host, ...], now: Sequence[int], gone: Collection[int]) -> _Step:
    """Some hosts emptied; no VM goes to a host that is gone."""
    rules = cluster.rules
    place_of = {kind: i for i, kind in enumerate(rules.largest_first)}
    displaced = sorted(
        (vm for at in now for vm in _vms_on(cluster, layout, at)), key=lambda vm: place_of[vm.kind]
    )
    if not displaced:
        return _Step(layout, [], [], [])
    states: dict[State, deque[int]] = {}
    healthy: dict[tuple[Room, Kinds], list[int]] = defaultdict(list)
    classes = cluster.read(layout)
    for one in classes:
        left = [at for at in one.hosts if at not in gone]
        states[one.state] = deque(sorted([*states.get(one.state, ()), *left]))
        healthy[one.room, one.vms] += left
    pool = Pool(rules, {state: len(hosts) for state, hosts in states.items()})
    choices = pool.restart([vm.kind for vm in displaced], {})
    if None in choices:
        taken = _taken_over(cluster, now, classes, gone)
        if taken is not None:
            after = list(layout)
            for at, to in taken.items():
                after[at], after[to] = (), layout[at]
            return _Step(tuple(after), [(vm, taken[vm.host]) for vm in displaced], [], [])
        blocks = _decided(cluster, displaced, choices, healthy)
        if blocks is not None:
            return _placed_again(cluster, layout, displaced, healthy, blocks)
    return _restarted(cluster, layout, displaced, choices, states)


def _decided(
    cluster: Cluster,
    displaced: Sequence[_Vm],
    choices: Sequence[Choice | None],
    healthy: Mapping[tuple[Room, Kinds], list[int]],
) -> Blocks | None:
    """How all VMs are placed again; None if a restart alone does as much."""
    every = range(len(cluster.rules.requests))
    lost = Counter(vm.kind for vm in displaced)
    done = Counter(vm.kind for vm, choice in zip(displaced, choices, strict=True) if choice is not None)
    running, rooms = Counter[int](), Counter[Room]()
    for (room, vms), hosts in healthy.items():
        rooms[room] += len(hosts)
        running.update({k: len(hosts) * n for k, n in enumerate(vms)})
    running_vms, lost_vms, done_vms = (tuple(n[k] for k in every) for n in (running, lost, done))
    decided = cluster.decide(running_vms, lost_vms, done_vms, rooms)
    return decided[1] if decided else None


def _taken_over(
    cluster: Cluster,
    now: Sequence[int],
    classes: Sequence[HostClass],
    gone: Collection[int],
) -> dict[int, int] | None:
    """For each host that is emptied an empty one that takes over all that is on it; None if there are too few."""
    lost = [(at, one.room, one.content) for one in classes for at in one.hosts if at in now and one.content]
    empty: dict[Room, deque[int]] = defaultdict(deque)
    for one in classes:
        if not one.content:
            empty[one.room].extend(at for at in one.hosts if at not in gone)
    lost.sort(key=itemgetter(0))
    rooms = cluster.taken_over(
        [(room, content) for _, room, content in lost], {room: len(hosts) for room, hosts in empty.items()}
    )
    return (
        None
        if rooms is None
        else {at: empty[room].popleft() for (at, *_), room in zip(lost, rooms, strict=True)}
    )


def _vms_on(cluster: Cluster, layout: Sequence[Host], at: int) -> list[_Vm]:
    named = dict.fromkeys((slot.group, slot.vm) for load in layout[at] for slot in load.slots)
    return [_Vm(cluster.kind(group), number, at) for group, number in named]


def _vms_of(cluster: Cluster, layout: Sequence[Host]) -> Kinds:
    """How many VMs of each kind are on these hosts."""
    counts = Counter(vm.kind for at in range(len(layout)) for vm in _vms_on(cluster, layout, at))
    return tuple(counts[kind] for kind in range(len(cluster.rules.requests)))


def _restarted(
    cluster: Cluster,
    layout: tuple[Host, ...],
    displaced: Sequence[_Vm],
    choices: Sequence[Choice | None],
    states: Mapping[State, deque[int]],
) -> _Step:
    """Displaced VMs put where a restart chose, no other VM being touched."""
    after = list(layout)
    for vm in displaced:
        after[vm.host] = ()
    touched: list[int] = []
    placed, unplaced = [], []
    for vm, choice in zip(displaced, choices, strict=True):
        if choice is None:
            unplaced.append(vm)
            continue
        if choice.at < 0:
            touched.append(states[choice.before].popleft())
        at = touched[choice.at]
        after[at] = _joined(cluster, after[at], vm, choice.fit)
        placed.append((vm, at))
    return _Step(tuple(after), placed, [], unplaced)


def _slot(request: Request, number: int) -> Slot:
    return Slot(request.group, number, request.profile, request.weight)


def _joined(cluster: Cluster, host: Host, vm: _Vm, fit: Fit) -> Host:
    """A host with one more VM."""
    rules, request = cluster.rules, cluster.rules.requests[vm.kind]
    f, slot = rules.family_of[vm.kind], _slot(request, vm.number)
    if f < 0:
        return (*host, Load(request.gpus, (slot,)))
    loads = list(host)
    for used, shares in fit.joins:
        at = next(
            i
            for i, load in enumerate(loads)
            if load.family == request.family
            and slot not in load.slots
            and rules.used_by(f, (cluster.kind(s.group) for s in load.slots)) == used
        )
        loads[at] = loads[at]._replace(slots=loads[at].slots + (slot,) * shares)
    return (*loads, *(Load(1, (slot,) * shares, request.family) for shares in fit.opens))


def _placed_again(
    cluster: Cluster,
    layout: tuple[Host, ...],
    displaced: Sequence[_Vm],
    healthy: Mapping[tuple[Room, Kinds], list[int]],
    blocks: Blocks,
) -> _Step:
    """New contents laid on the healthy hosts; a VM stays on its host if it can."""
    requests = cluster.rules.requests
    laid = _laid(cluster, healthy, blocks)
    running = [vm for hosts in healthy.values() for at in hosts for vm in _vms_on(cluster, layout, at)]
    numbers, away = _staying(running, laid)
    for vm in displaced:  # after those that run, so that it is they who are not placed
        away[vm.kind].append(vm)
    order = {vm: i for i, vm in enumerate(displaced)}
    placed: list[tuple[_Vm, int]] = []
    moved: list[tuple[_Vm, int]] = []
    after: list[Host] = [()] * len(layout)
    for at, content in sorted(laid.items()):
        for kind, n in vms_in(content).items():
            while len(numbers[at, kind]) < n:
                vm = away[kind].popleft()
                (placed if vm in order else moved).append((vm, at))
                numbers[at, kind].append(vm.number)
        loads = []
        for f, slots in content:
            request = requests[slots[0][0]]
            named = tuple(_slot(requests[k], numbers[at, k][vm]) for k, vm in slots)
            loads.append(Load(1 if f >= 0 else request.gpus, named, request.family))
        after[at] = tuple(loads)
    unplaced = sorted((vm for vms in away.values() for vm in vms), key=order.__getitem__)
    return _Step(tuple(after), placed, moved, unplaced)


def _laid(
    cluster: Cluster, healthy: Mapping[tuple[Room, Kinds], list[int]], blocks: Blocks
) -> dict[int, Content]:
    """Host -> new content, laid where most of the same is."""
    laid: dict[int, Content] = {}
    queues = {key: deque(sorted(hosts)) for key, hosts in healthy.items()}
    for key, b, n, _ in cluster.match({key: len(hosts) for key, hosts in healthy.items()}, blocks):
        for _ in range(n):
            laid[queues[key].popleft()] = blocks[b].content
    return laid


def _staying(
    running: Sequence[_Vm], laid: Mapping[int, Content]
) -> tuple[dict[tuple[int, int], list[int]], dict[int, deque[_Vm]]]:
    """(numbers of the VMs of each host and kind that stay there, by kind the VMs that cannot)."""
    wanted = {at: vms_in(content) for at, content in laid.items()}
    numbers: dict[tuple[int, int], list[int]] = defaultdict(list)
    away: dict[int, deque[_Vm]] = defaultdict(deque)
    for vm in running:
        here = numbers[vm.host, vm.kind]
        if vm.host in wanted and len(here) < wanted[vm.host][vm.kind]:
            here.append(vm.number)
        else:
            away[vm.kind].append(vm)
    return numbers, away
