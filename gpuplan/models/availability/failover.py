"""Failover: the fate of every VM of a placement when hosts fail; ``restart`` decides on counts, here VMs are named."""

import itertools
from collections import Counter, defaultdict, deque
from collections.abc import Collection, Mapping, Sequence
from operator import itemgetter
from typing import NamedTuple

from gpuplan.models.availability.restart import Choice, Cluster, Pool
from gpuplan.models.placement import Host, Load, Request, Room, Slot
from gpuplan.models.placement.requests import Blocks, Content, Fit, Kinds, State, vms_in


class Outcome(NamedTuple):
    """Result of a host failure or of maintenance."""

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
    """True if it is proven that not all VMs fit on the remaining hosts; if False, the search found no placement."""


class Vm(NamedTuple):
    """A VM by its kind and number, and the host that it was on."""

    kind: int
    number: int
    host: int


class Step(NamedTuple):
    """Result for the VMs on some hosts."""

    hosts: tuple[Host, ...]
    """Loads of every host afterwards."""
    placed: list[tuple[Vm, int]]
    """VMs of these hosts with their new host."""
    moved: list[tuple[Vm, int]]
    """Other VMs that had to move, with their new host."""
    unplaced: list[Vm]


def after_failure(
    layout: Sequence[Host],
    *,
    requests: Sequence[Request],
    rooms: Sequence[Room],
    failed: Collection[int],
    maintenance: Collection[int] = (),
) -> Outcome:
    """VMs that restart, with their hosts, those that must move and those without a place when hosts fail.

    Parameters:
        layout (sequence of Host): Loads of each host, spare hosts being empty. [-]
        failed (collection of int): Indices of the hosts that fail at once, from 0. [-]
        maintenance (collection of int): Indices of the hosts that were emptied for maintenance before. [-]

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
    [vmware-vsphere-8.0-admission-control]_

    >>> from gpuplan.models.placement import place
    >>> request = Request("research", 2, gpus=4)
    >>> hosts = (*place([request], gpus_per_host=4).hosts, ())
    >>> after_failure(hosts, requests=[request], rooms=[Room(4)] * 3, failed={0}).restarted
    (('research', 1, 2),)
    """
    cluster = Cluster(requests, rooms)
    emptied = sorted(set(maintenance))
    lost = sorted(set(failed) - set(maintenance))
    evacuation = Emptying(cluster, tuple(layout), emptied, emptied).step()
    restart = Emptying(cluster, evacuation.hosts, lost, [*emptied, *lost]).step()
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


class Emptying:
    """Hosts ``now`` to empty, whose VMs go to other hosts, none to one that is gone."""

    def __init__(
        self, cluster: Cluster, layout: tuple[Host, ...], now: Sequence[int], gone: Collection[int]
    ) -> None:
        self.cluster, self.rules, self.layout, self.now, self.gone = cluster, cluster.rules, layout, now, gone
        place_of = {kind: i for i, kind in enumerate(self.rules.largest_first)}
        displaced = (vm for at in now for vm in _vms_on(cluster, layout, at))
        self.displaced = sorted(displaced, key=lambda vm: place_of[vm.kind])
        self.classes = cluster.read(layout) if self.displaced else []
        self.states: dict[State, deque[int]] = {}
        """Hosts that are left, by their state."""
        self.healthy: dict[tuple[Room, Kinds], list[int]] = defaultdict(list)
        """The same by what they offer and have."""
        for one in self.classes:
            left = [at for at in one.hosts if at not in gone]
            self.states[one.state] = deque(sorted([*self.states.get(one.state, ()), *left]))
            self.healthy[one.room, one.vms] += left

    def step(self) -> Step:
        """The hosts emptied by what does least: a restart, spare hosts taking over, or all VMs placed again."""
        pool = Pool(self.rules, {state: len(hosts) for state, hosts in self.states.items()})
        choices = pool.restart([vm.kind for vm in self.displaced], {})
        if None not in choices:
            return self._restarted(choices)
        return self._taken_over() or self._placed_again(choices) or self._restarted(choices)

    def _restarted(self, choices: Sequence[Choice | None]) -> Step:
        """Displaced VMs put where a restart chose, no other VM being touched."""
        after = list(self.layout)
        for vm in self.displaced:
            after[vm.host] = ()
        touched: list[int] = []
        placed, unplaced = [], []
        for vm, choice in zip(self.displaced, choices, strict=True):
            if choice is None:
                unplaced.append(vm)
                continue
            if choice.at < 0:
                touched.append(self.states[choice.before].popleft())
            at = touched[choice.at]
            after[at] = _joined(self.cluster, after[at], vm, choice.fit)
            placed.append((vm, at))
        return Step(tuple(after), placed, [], unplaced)

    def _taken_over(self) -> Step | None:
        """For each host that is emptied an empty one takes over all that is on it; None if there are too few."""
        lost: list[tuple[int, tuple[Room, Content]]] = []
        empty: dict[Room, deque[int]] = defaultdict(deque)
        for one in self.classes:
            if one.content:
                lost += [(at, (one.room, one.content)) for at in one.hosts if at in self.now]
            else:
                empty[one.room].extend(at for at in one.hosts if at not in self.gone)
        lost.sort(key=itemgetter(0))
        offers = {room: len(hosts) for room, hosts in empty.items()}
        rooms = self.cluster.taken_over([on_it for _, on_it in lost], offers)
        if rooms is None:
            return None
        taken = {at: empty[room].popleft() for (at, _), room in zip(lost, rooms, strict=True)}
        after = list(self.layout)
        for at, to in taken.items():
            after[at], after[to] = (), self.layout[at]
        return Step(tuple(after), [(vm, taken[vm.host]) for vm in self.displaced], [], [])

    def _decided(self, choices: Sequence[Choice | None]) -> Blocks | None:
        """Return the new placement of all VMs; None if a restart alone does as well."""
        lost = Counter(vm.kind for vm in self.displaced)
        done = Counter(vm.kind for vm, choice in zip(self.displaced, choices, strict=True) if choice)
        running, rooms = Counter[int](), Counter[Room]()
        for (room, vms), hosts in self.healthy.items():
            rooms[room] += len(hosts)
            running.update({k: len(hosts) * n for k, n in enumerate(vms)})
        every = range(len(self.rules.requests))
        running_vms, lost_vms, done_vms = (tuple(n[k] for k in every) for n in (running, lost, done))
        decided = self.cluster.decide(running_vms, lost_vms, done_vms, rooms)
        return decided[1] if decided else None

    def _placed_again(self, choices: Sequence[Choice | None]) -> Step | None:
        """New contents laid on the healthy hosts, a VM staying on its host if it can; None if a restart does as well."""
        blocks = self._decided(choices)
        if blocks is None:
            return None
        laid = self._laid(blocks)
        numbers, away = self._staying(laid)
        for vm in self.displaced:  # after those that run, so that it is they who are not placed
            away[vm.kind].append(vm)
        order = {vm: i for i, vm in enumerate(self.displaced)}
        placed: list[tuple[Vm, int]] = []
        moved: list[tuple[Vm, int]] = []
        after: list[Host] = [()] * len(self.layout)
        for at, content in sorted(laid.items()):
            for kind, n in vms_in(content).items():
                while len(numbers[at, kind]) < n:
                    vm = away[kind].popleft()
                    (placed if vm in order else moved).append((vm, at))
                    numbers[at, kind].append(vm.number)
            after[at] = self._host(content, {kind: numbers[at, kind] for kind in vms_in(content)})
        unplaced = sorted((vm for vms in away.values() for vm in vms), key=order.__getitem__)
        return Step(tuple(after), placed, moved, unplaced)

    def _laid(self, blocks: Blocks) -> dict[int, Content]:
        """Host -> new content, laid where most of the same is."""
        laid: dict[int, Content] = {}
        queues = {key: deque(sorted(hosts)) for key, hosts in self.healthy.items()}
        for key, b, n, _ in self.cluster.match({key: len(hosts) for key, hosts in queues.items()}, blocks):
            for _ in range(n):
                laid[queues[key].popleft()] = blocks[b].content
        return laid

    def _staying(
        self, laid: Mapping[int, Content]
    ) -> tuple[dict[tuple[int, int], list[int]], dict[int, deque[Vm]]]:
        """(numbers of the VMs of each host and kind that stay there, by kind the VMs that cannot)."""
        wanted = {at: vms_in(content) for at, content in laid.items()}
        numbers: dict[tuple[int, int], list[int]] = defaultdict(list)
        away: dict[int, deque[Vm]] = defaultdict(deque)
        for at in itertools.chain.from_iterable(self.healthy.values()):
            for vm in _vms_on(self.cluster, self.layout, at):
                here = numbers[at, vm.kind]
                if at in wanted and len(here) < wanted[at][vm.kind]:
                    here.append(vm.number)
                else:
                    away[vm.kind].append(vm)
        return numbers, away

    def _host(self, content: Content, numbers: Mapping[int, Sequence[int]]) -> Host:
        """The loads of a content, with the numbers of the VMs of each kind."""
        requests, loads = self.rules.requests, []
        for f, slots in content:
            request = requests[slots[0][0]]
            named = tuple(_slot(requests[k], numbers[k][vm]) for k, vm in slots)
            loads.append(Load(1 if f >= 0 else request.gpus, named, request.family))
        return tuple(loads)


def _vms_on(cluster: Cluster, layout: Sequence[Host], at: int) -> list[Vm]:
    named = dict.fromkeys((slot.group, slot.vm) for load in layout[at] for slot in load.slots)
    return [Vm(cluster.kind(group), number, at) for group, number in named]


def _vms_of(cluster: Cluster, layout: Sequence[Host]) -> Kinds:
    counts = Counter(vm.kind for at in range(len(layout)) for vm in _vms_on(cluster, layout, at))
    return tuple(counts[kind] for kind in range(len(cluster.rules.requests)))


def _slot(request: Request, number: int) -> Slot:
    return Slot(request.group, number, request.profile, request.weight)


def _joined(cluster: Cluster, host: Host, vm: Vm, fit: Fit) -> Host:
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
