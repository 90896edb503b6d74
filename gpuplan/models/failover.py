"""Failover: what a failure does to a placement, what every failure would do, and what is idle before it.

Hosts that are filled alike are looked at once. A restart is decided by what is left of the hosts, never by
their numbers, so that hosts filled alike are struck alike.
"""

import math
from collections import Counter, defaultdict, deque
from collections.abc import Collection, Iterator, Mapping, Sequence
from fractions import Fraction
from operator import itemgetter
from typing import Any, NamedTuple

from gpuplan.models.placement import (
    Block,
    Content,
    Fit,
    Host,
    Load,
    Part,
    Request,
    Room,
    Rules,
    Slot,
    State,
    vms_in,
)


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


class Idle(NamedTuple):
    """Capacity that nobody uses on hosts that somebody is on."""

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


Kinds = tuple[int, ...]
"""How many VMs of each kind."""


class _Class(NamedTuple):
    """Hosts filled alike."""

    room: Room
    content: Content
    state: State
    vms: Kinds


class _Vm(NamedTuple):
    kind: int
    number: int
    host: int


class _Choice(NamedTuple):
    """Where a restart puts a VM."""

    at: int
    """Index of a host that was chosen before, or -1: an untouched host in the state ``before``."""
    before: State
    fit: Fit


def after_failure(
    layout: Sequence[Host],
    *,
    requests: Sequence[Request],
    rooms: Sequence[Room],
    failed: Collection[int],
    maintenance: Collection[int] = (),
) -> Outcome:
    """Who restarts where, who must move and who is not placed when hosts fail.

    Parameters
    ----------
    layout : sequence of Host
        Loads of each host, spare hosts being empty. [-]
    requests : sequence of Request
        What one VM of each group asks for. [-]
    rooms : sequence of Room
        What each host offers. [-]
    failed : collection of int
        Indices of the hosts that fail at once, from 0. [-]
    maintenance : collection of int
        Indices of the hosts that were emptied for maintenance before. [-]

    Returns
    -------
    after_failure : Outcome
        Loads afterwards, evacuations, restarts, moves and what is not placed. [-]

    Notes
    -----
    Hosts in maintenance are emptied first, then the failed ones are lost; nobody goes to a lost host. Each
    time first without moving anybody: largest VMs first, onto free shares of the family, else onto free GPUs
    of the fullest host (fewest free GPUs, then least vCPUs and memory) that has room for all of the VM. If some are
    left over, everything is placed again on the hosts that are left, and VMs that changed host are listed as moved:
    possible for equal hosts without limits of CPU and memory exactly if ``place`` needs no more hosts
    than are left, else if ``place_varied`` would find room. If that is impossible too, as
    many of the VMs left over as possible are added to what a restart placed, largest first, kind by kind, as long as
    everything can be placed again (by a greedy order where hosts differ); the others are not placed.

    Examples
    --------
    >>> from gpuplan.models.placement import place
    >>> request = Request("research", 2, gpus=4)
    >>> hosts = (*place([request], gpus_per_host=4).hosts, ())
    >>> after_failure(hosts, requests=[request], rooms=[Room(4)] * 3, failed={0}).restarted
    (('research', 1, 2),)

    References
    ----------
    .. [1] vmware-vsphere-8.0-admission-control
    """
    cluster = _Cluster(requests, rooms)
    hosts = tuple(layout)
    evacuated: list[tuple[_Vm, int]] = []
    moved: list[tuple[_Vm, int]] = []
    unplaced: list[_Vm] = []
    restarted: list[tuple[_Vm, int]] = []
    emptied = sorted(set(maintenance))
    lost = sorted(set(failed) - set(maintenance))
    for now, gone, entries in ((emptied, emptied, evacuated), (lost, [*emptied, *lost], restarted)):
        hosts, placed, others, left = cluster.lose(hosts, now, set(gone))
        entries += placed
        moved += others
        unplaced += left
    name = [request.group for request in requests]
    return Outcome(
        hosts,
        tuple((name[vm.kind], vm.number, vm.host, to) for vm, to in evacuated),
        tuple((name[vm.kind], vm.number, to) for vm, to in restarted),
        tuple((name[vm.kind], vm.number, vm.host, to) for vm, to in moved),
        tuple((name[vm.kind], vm.number) for vm in unplaced),
    )


def failure_survey(
    layout: Sequence[Host], *, requests: Sequence[Request], rooms: Sequence[Room], lost: int
) -> tuple[Loss, ...]:
    """What the loss of any hosts would do, worst first.

    Parameters
    ----------
    layout : sequence of Host
        Loads of each host, spare hosts being empty. [-]
    requests : sequence of Request
        What one VM of each group asks for. [-]
    rooms : sequence of Room
        What each host offers. [-]
    lost : int
        How many hosts fail at once. [host]

    Returns
    -------
    failure_survey : tuple of Loss
        Every set of so many hosts, those filled alike once, with their number: most GPUs' worth not placed
        first, then most VMs not placed, moved and restarted, then the lowest numbers. [-]

    Notes
    -----
    The same decisions as ``after_failure``, on counts. Alike are hosts that offer the same and have the same
    loads by group and profile; there are as many sets as products of binomial coefficients say.

    Examples
    --------
    >>> from gpuplan.models.placement import place
    >>> request = Request("research", 3, gpus=3)
    >>> hosts = (*place([request], gpus_per_host=4).hosts, ())
    >>> for loss in failure_survey(hosts, requests=[request], rooms=[Room(4)] * 4, lost=2):
    ...     print(loss.hosts, loss.alike, loss.restarted, loss.unplaced)
    (0, 1) 3 1 1
    (0, 3) 3 0 1

    References
    ----------
    .. [1] vmware-vsphere-8.0-admission-control
    """
    cluster = _Cluster(requests, rooms)
    classes, members = cluster.read(layout)
    pool = Counter[State]()
    total = Counter[Room]()
    for one, hosts in zip(classes, members, strict=True):
        pool[one.state] += len(hosts)
        total[one.room] += len(hosts)
    base = _Pool(cluster.rules, pool)
    everywhere = tuple(
        sum(one.vms[k] * len(hosts) for one, hosts in zip(classes, members, strict=True))
        for k in range(len(requests))
    )
    losses = []
    for chosen in _multisets([len(hosts) for hosts in members], lost):
        found = cluster.loss(classes, members, chosen, base, total, everywhere)
        example = sorted(members[c][i] for c, n in chosen for i in range(n))
        alike = math.prod(math.comb(len(members[c]), n) for c, n in chosen)
        losses.append(Loss(tuple(example), alike, *found))
    return tuple(
        sorted(losses, key=lambda x: (-x.unplaced_gpus, -x.unplaced, -x.moved, -x.restarted, x.hosts))
    )


def idle_gpus(
    layout: Sequence[Host], *, requests: Sequence[Request], rooms: Sequence[Room]
) -> tuple[Idle, ...]:
    """What is idle on hosts that somebody is on, and who could still use it.

    Parameters
    ----------
    layout : sequence of Host
        Loads of each host, spare hosts being empty. [-]
    requests : sequence of Request
        What one VM of each group asks for. [-]
    rooms : sequence of Room
        What each host offers. [-]

    Returns
    -------
    idle_gpus : tuple of Idle
        Free GPUs by how many there are on a host, then shared GPUs by how much room is left on them. [GPU]

    Notes
    -----
    Hosts that nobody is on are spare, not idle. A VM fits if all of its shares, vCPUs and memory are on the host and
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
    rules = Rules(requests)
    classes, members = _Cluster(requests, rooms).read(layout)
    found: dict[tuple[str, str, int, tuple[str, ...]], tuple[int, Fraction]] = {}

    def add(kind: str, family: str, room: int, fits: Sequence[int], count: int, gpus: Fraction) -> None:
        key = kind, family, room, tuple(rules.requests[k].group for k in fits)
        before, worth = found.get(key, (0, Fraction(0)))
        found[key] = before + count, worth + gpus * count

    for one, hosts in zip(classes, members, strict=True):
        if not one.content:
            continue
        free, _, _, opens = one.state
        fitting = [k for k in range(len(requests)) if rules.fit(one.state, k) is not None]
        if free:
            add("whole", "", free, fitting, len(hosts), Fraction(free))
        for f, used in opens:
            mine = [k for k in range(len(requests)) if rules.family_of[k] == f]
            more = {k: rules.more(f, used, rules.units[k]) for k in mine}
            family = rules.families[f]
            if family.capacity:
                room, worth = family.capacity - used[0], Fraction(family.capacity - used[0], family.capacity)
            else:
                room = max(more.values())
                worth = max(Fraction(more[k], rules.per_gpu[k]) for k in mine)
            add("share", family.name, room, [k for k in fitting if more.get(k)], len(hosts), worth)
    return tuple(
        Idle(*key[:3], count, float(gpus), key[3])
        for key, (count, gpus) in sorted(
            found.items(), key=lambda item: (item[0][0] != "whole", item[0][1], -item[0][2], item[0][3])
        )
    )


def _multisets(sizes: Sequence[int], total: int, at: int = 0) -> Iterator[tuple[tuple[int, int], ...]]:
    """(class, how many of it) for every choice of so many in all."""
    if total == 0:
        yield ()
        return
    for index in range(at, len(sizes)):
        for n in range(min(sizes[index], total), 0, -1):
            for rest in _multisets(sizes, total - n, index + 1):
                yield ((index, n), *rest)


class _Pool:
    """How many hosts are in each state, and for each kind of VM which state it would go to first."""

    def __init__(self, rules: Rules, states: Mapping[State, int]) -> None:
        self.rules, self.states = rules, states
        self._orders: dict[int, list[tuple[Any, State, Fit]]] = {}

    def order(self, kind: int) -> list[tuple[Any, State, Fit]]:
        """States in which a VM of the kind fits, best first."""
        if kind not in self._orders:
            fits = ((state, self.rules.fit(state, kind)) for state in self.states)
            self._orders[kind] = sorted(
                (_rank(state, fit), state, fit) for state, fit in fits if fit is not None
            )
        return self._orders[kind]

    def restart(self, kinds: Sequence[int], gone: Mapping[State, int]) -> list[_Choice | None]:
        """Where each of these VMs goes, one after the other, when hosts in some states are gone."""
        taken = Counter(gone)
        touched: list[State] = []
        choices: list[_Choice | None] = []
        full: set[int] = set()
        for kind in kinds:
            best: Any = None
            if kind not in full:
                for rank, state, fit in self.order(kind):
                    if taken[state] < self.states[state]:
                        best = rank, -1, state, fit
                        break
                for at, state in enumerate(touched):
                    more = self.rules.fit(state, kind)
                    if more is not None:
                        rank = _rank(state, more)
                        if best is None or rank < best[0]:
                            best = rank, at, state, more
            if best is None:
                full.add(kind)
                choices.append(None)
                continue
            _, at, state, fit = best
            choices.append(_Choice(at, state, fit))
            if at < 0:
                taken[state] += 1
                touched.append(fit.state)
            else:
                touched[at] = fit.state
        return choices


def _rank(state: State, fit: Fit) -> tuple[int, State]:
    """Shared GPUs that are there before free ones, then the fullest host."""
    return (fit.new_gpus, state)


class _Cluster:
    """Requests and rooms, and what can be placed on what is left of them."""

    def __init__(self, requests: Sequence[Request], rooms: Sequence[Room]) -> None:
        self.rules = Rules(requests)
        self.rooms = tuple(self.rules.counted(room) for room in rooms)
        self._misfits: dict[tuple[Room, ...], list[int]] = {}

    def read(self, layout: Sequence[Host]) -> tuple[list[_Class], list[list[int]]]:
        """Classes of hosts filled alike, in order of their first, and which hosts are in each."""
        seen: dict[Any, list[int]] = {}
        group = itemgetter(0)
        for at, (host, room) in enumerate(zip(layout, self.rooms, strict=True)):
            key = (room, tuple([tuple(map(group, load[1])) for load in host]))
            if key in seen:
                seen[key].append(at)
            else:
                seen[key] = [at]
        members: dict[Any, list[int]] = {}
        contents: dict[Any, Content] = {}
        for (room, _), hosts in seen.items():
            host = layout[hosts[0]]
            content = self.content(host)
            key = (room, tuple(sorted(Part(f, tuple((k, 0) for k, _ in sorted(s))) for f, s in content)))
            contents.setdefault(key, content)
            if key in members:
                members[key] = sorted(members[key] + hosts)
            else:
                members[key] = hosts
        classes = []
        for key, content in contents.items():
            counts = vms_in(content)
            vms = tuple(counts[k] for k in range(len(self.rules.requests)))
            classes.append(_Class(key[0], content, self.rules.state(key[0], content), vms))
        return classes, list(members.values())

    def content(self, host: Host) -> Content:
        """The loads of a host, counted."""
        numbers: dict[tuple[int, int], int] = {}
        counts: Counter[int] = Counter()
        parts = []
        for load in host:
            slots = []
            for slot in load.slots:
                kind = self.kind(slot.group)
                if (kind, slot.vm) not in numbers:
                    numbers[kind, slot.vm] = counts[kind]
                    counts[kind] += 1
                slots.append((kind, numbers[kind, slot.vm]))
            parts.append(Part(self.rules.family_of[slots[0][0]], tuple(slots)))
        return tuple(parts)

    def kind(self, group: str) -> int:
        """Number of the request of a group."""
        try:
            return self.rules.kinds[group]
        except KeyError:
            raise ValueError(f"{group} is on a host, but there is no request of it") from None

    # ---- decisions, on counts

    def possible(self, vms: Kinds, rooms: Counter[Room], *, thorough: bool = False) -> bool:
        """Whether all VMs can be placed again on so many hosts of each kind (or a way is found)."""
        rules, kinds = self.rules, [room for room, n in rooms.items() if n]
        if any(vms[kind] for kind in self.misfits(tuple(kinds))):
            return False
        if self.equal(kinds):
            return not any(vms) or rules.hosts_needed(vms, kinds[0].gpus) <= rooms.total()
        return rules.arrange(vms, +rooms, thorough=thorough) is not None

    def fresh(self, vms: Kinds, rooms: Counter[Room], *, thorough: bool = False) -> tuple[Block, ...]:
        """All VMs placed again, where that is possible."""
        kinds = [room for room, n in rooms.items() if n]
        if self.equal(kinds):
            return tuple(b._replace(room=kinds[0]) for b in self.rules.solve(vms, kinds[0].gpus).blocks)
        return self.rules.arrange(vms, +rooms, thorough=thorough) or ()

    def misfits(self, rooms: tuple[Room, ...]) -> list[int]:
        """Kinds of which no VM fits on any of these hosts when they are empty."""
        if rooms not in self._misfits:
            every = range(len(self.rules.requests))
            self._misfits[rooms] = [k for k in every if not any(self.rules.most_on(r, k) for r in rooms)]
        return self._misfits[rooms]

    def equal(self, kinds: Sequence[Room]) -> bool:
        """Whether hosts of these kinds are equal and only their GPUs count."""
        return len(kinds) == 1 and not kinds[0].vcpus and not kinds[0].memory_gib

    def decide(
        self, running: Kinds, lost: Kinds, restarted: Kinds, rooms: Counter[Room]
    ) -> tuple[Kinds, tuple[Block, ...]] | None:
        """Which VMs are placed when all are placed again, and how; None if a restart alone does as much."""
        total = tuple(a + b for a, b in zip(running, lost, strict=True))
        if self.possible(total, rooms, thorough=True):
            return total, self.fresh(total, rooms, thorough=True)
        placed = tuple(a + b for a, b in zip(running, restarted, strict=True))
        most = placed
        for kind in self.rules.largest_first:
            low, high = 0, lost[kind] - restarted[kind]
            while low < high:
                more = (low + high + 1) // 2
                if self.possible((*most[:kind], most[kind] + more, *most[kind + 1 :]), rooms):
                    low = more
                else:
                    high = more - 1
            most = (*most[:kind], most[kind] + low, *most[kind + 1 :])
        return (most, self.fresh(most, rooms)) if most != placed else None

    def match(
        self, hosts: Mapping[tuple[Room, Kinds], int], blocks: Sequence[Block]
    ) -> list[tuple[tuple[Room, Kinds], int, int, int]]:
        """(class of hosts, block, how many, VMs that stay on each): blocks laid where most of the same is."""
        wanted = [vms_in(block.content) for block in blocks]
        pairs = sorted(
            (-sum(min(vms[k], n) for k, n in want.items()), b, room, vms)
            for room, vms in hosts
            for b, (block, want) in enumerate(zip(blocks, wanted, strict=True))
            if block.room == room
        )
        left, waiting = dict(hosts), [block.times for block in blocks]
        laid = []
        for minus, b, room, vms in pairs:
            n = min(left[room, vms], waiting[b])
            if n:
                left[room, vms] -= n
                waiting[b] -= n
                laid.append(((room, vms), b, n, -minus))
        return laid

    def loss(
        self,
        classes: Sequence[_Class],
        members: Sequence[Sequence[int]],
        chosen: Sequence[tuple[int, int]],
        base: _Pool,
        total: Counter[Room],
        everywhere: Kinds,
    ) -> tuple[int, int, int, float]:
        """(restarted, moved, not placed, GPUs' worth not placed) when so many hosts of some classes are lost."""
        rules = self.rules
        gone = Counter[State]()
        rooms = Counter(total)
        lost = [0] * len(rules.requests)
        for c, n in chosen:
            gone[classes[c].state] += n
            rooms[classes[c].room] -= n
            for k, vms in enumerate(classes[c].vms):
                lost[k] += n * vms
        order = [k for k in rules.largest_first for _ in range(lost[k])]
        choices = base.restart(order, gone)
        if None not in choices:
            return len(order), 0, 0, 0.0
        done = [0] * len(rules.requests)
        for kind, choice in zip(order, choices, strict=True):
            done[kind] += choice is not None
        running = tuple(a - b for a, b in zip(everywhere, lost, strict=True))
        decided = self.decide(running, tuple(lost), tuple(done), rooms)
        moved = 0
        if decided is not None:
            placed, blocks = decided
            healthy = Counter[tuple[Room, Kinds]]()
            for one, hosts in zip(classes, members, strict=True):
                healthy[one.room, one.vms] += len(hosts)
            for c, n in chosen:
                healthy[classes[c].room, classes[c].vms] -= n
            moved = sum(running) - sum(n * stay for _, _, n, stay in self.match(+healthy, blocks))
            done = [a - b for a, b in zip(placed, running, strict=True)]
        left = [a - b for a, b in zip(lost, done, strict=True)]
        worth = sum((n * w for n, w in zip(left, rules.worth, strict=True) if n), Fraction(0))
        return sum(done), moved, sum(left), float(worth)

    # ---- the same with VMs

    def lose(
        self, layout: tuple[Host, ...], now: Sequence[int], gone: Collection[int]
    ) -> tuple[tuple[Host, ...], list[tuple[_Vm, int]], list[tuple[_Vm, int]], list[_Vm]]:
        """Hosts after some are emptied; where their VMs went; who else moved; who has no place."""
        displaced: list[_Vm] = []
        for at in now:
            named = dict.fromkeys((slot.group, slot.vm) for load in layout[at] for slot in load.slots)
            displaced += [_Vm(self.kind(group), number, at) for group, number in named]
        if not displaced:
            return layout, [], [], []
        classes, members = self.read(layout)
        states: dict[State, deque[int]] = {}
        healthy: dict[tuple[Room, Kinds], list[int]] = defaultdict(list)
        for one, hosts in zip(classes, members, strict=True):
            left = [at for at in hosts if at not in gone]
            states[one.state] = deque(sorted([*states.get(one.state, ()), *left]))
            healthy[one.room, one.vms] += left
        place_of = {kind: i for i, kind in enumerate(self.rules.largest_first)}
        displaced.sort(key=lambda vm: place_of[vm.kind])
        pool = _Pool(self.rules, {state: len(hosts) for state, hosts in states.items()})
        choices = pool.restart([vm.kind for vm in displaced], {})
        if None in choices:
            count = Counter(vm.kind for vm in displaced)
            done = Counter(
                vm.kind for vm, choice in zip(displaced, choices, strict=True) if choice is not None
            )
            every = range(len(self.rules.requests))
            running = [0] * len(every)
            rooms = Counter[Room]()
            for (room, vms), hosts in healthy.items():
                rooms[room] += len(hosts)
                for k in every:
                    running[k] += len(hosts) * vms[k]
            decided = self.decide(
                tuple(running), tuple(count[k] for k in every), tuple(done[k] for k in every), rooms
            )
            if decided is not None:
                return self.moved(layout, displaced, healthy, decided[1])
        return self.restarted(layout, now, displaced, choices, states)

    def restarted(
        self,
        layout: tuple[Host, ...],
        now: Sequence[int],
        displaced: Sequence[_Vm],
        choices: Sequence[_Choice | None],
        states: Mapping[State, deque[int]],
    ) -> tuple[tuple[Host, ...], list[tuple[_Vm, int]], list[tuple[_Vm, int]], list[_Vm]]:
        """Displaced VMs put where a restart chose, nobody else being touched."""
        after = list(layout)
        for at in now:
            after[at] = ()
        touched: list[int] = []
        placed, unplaced = [], []
        for vm, choice in zip(displaced, choices, strict=True):
            if choice is None:
                unplaced.append(vm)
                continue
            if choice.at < 0:
                touched.append(states[choice.before].popleft())
            at = touched[choice.at]
            after[at] = self.joined(after[at], vm, choice.fit)
            placed.append((vm, at))
        return tuple(after), placed, [], unplaced

    def joined(self, host: Host, vm: _Vm, fit: Fit) -> Host:
        """A host with one more VM."""
        request, f = self.rules.requests[vm.kind], self.rules.family_of[vm.kind]
        slot = Slot(request.group, vm.number, request.profile, request.weight)
        if f < 0:
            return (*host, Load(request.gpus, (slot,)))
        loads = list(host)
        for used, shares in fit.joins:
            at = next(
                i
                for i, load in enumerate(loads)
                if slot not in load.slots
                and self.rules.family_of[self.kind(load.slots[0].group)] == f
                and self.rules.used_by(f, (self.kind(s.group) for s in load.slots)) == used
            )
            loads[at] = loads[at]._replace(slots=loads[at].slots + (slot,) * shares)
        return (*loads, *(Load(1, (slot,) * shares, request.family) for shares in fit.opens))

    def moved(
        self,
        layout: tuple[Host, ...],
        displaced: Sequence[_Vm],
        healthy: Mapping[tuple[Room, Kinds], list[int]],
        blocks: Sequence[Block],
    ) -> tuple[tuple[Host, ...], list[tuple[_Vm, int]], list[tuple[_Vm, int]], list[_Vm]]:
        """New contents laid on the healthy hosts; a VM stays on its host if it can."""
        laid: dict[int, Content] = {}
        queues = {key: deque(sorted(hosts)) for key, hosts in healthy.items()}
        for key, b, n, _ in self.match({key: len(hosts) for key, hosts in healthy.items()}, blocks):
            for _ in range(n):
                laid[queues[key].popleft()] = blocks[b].content
        chosen: dict[int, dict[int, list[int]]] = {}
        away: dict[int, deque[_Vm]] = defaultdict(deque)
        for hosts in healthy.values():
            for at in hosts:
                wanted = vms_in(laid.get(at, ()))
                named = dict.fromkeys((slot.group, slot.vm) for load in layout[at] for slot in load.slots)
                stay: dict[int, list[int]] = defaultdict(list)
                for group, number in named:
                    kind = self.kind(group)
                    if len(stay[kind]) < wanted[kind]:
                        stay[kind].append(number)
                    else:
                        away[kind].append(_Vm(kind, number, at))
                chosen[at] = stay
        running = {kind: len(vms) for kind, vms in away.items()}
        for vm in displaced:
            away[vm.kind].append(vm)
        after: list[Host] = [()] * len(layout)
        placed: list[tuple[_Vm, int]] = []
        moved: list[tuple[_Vm, int]] = []
        for at, content in sorted(laid.items()):
            for kind, n in vms_in(content).items():
                while len(chosen[at][kind]) < n:
                    vm = away[kind].popleft()
                    if running.get(kind, 0):
                        running[kind] -= 1
                        moved.append((vm, at))
                    else:
                        placed.append((vm, at))
                    chosen[at][kind].append(vm.number)
            loads = []
            for f, slots in content:
                request = self.rules.requests[slots[0][0]]
                loads.append(
                    Load(
                        1 if f >= 0 else request.gpus,
                        tuple(
                            Slot(
                                self.rules.requests[k].group,
                                chosen[at][k][vm],
                                self.rules.requests[k].profile,
                                self.rules.requests[k].weight,
                            )
                            for k, vm in slots
                        ),
                        request.family,
                    )
                )
            after[at] = tuple(loads)
        order = {vm: i for i, vm in enumerate(displaced)}
        unplaced = sorted((vm for vms in away.values() for vm in vms), key=order.__getitem__)
        return tuple(after), placed, moved, unplaced
