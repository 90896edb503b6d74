"""Recovery: decisions after the loss of hosts, on counts.

First a restart (``Pool``): each displaced VM goes where it fits, no other VM moves. If some are left over, empty hosts
take over the content of each lost one (``Cluster.taken_over``), if there are enough. If not, everything is placed again
on the remaining hosts (``Cluster.decide``), and its blocks go where most of the same is already (``Cluster.match``).

Hosts with the same content are examined once (``Cluster.read``). A restart is decided by what is left of the hosts,
never by their numbers, so that hosts filled alike are struck alike. ``failover`` makes VMs with numbers of it.
"""

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from operator import itemgetter
from typing import Any, NamedTuple

from gpuplan.models.placement import Host, Request, Room
from gpuplan.models.placement.fit import Rules
from gpuplan.models.placement.identical_hosts import IdenticalHosts
from gpuplan.models.placement.mixed_hosts import MixedHosts
from gpuplan.models.placement.requests import Blocks, Content, Fit, Kinds, Part, State, vms_in


class HostClass(NamedTuple):
    """Hosts with the same content."""

    room: Room
    content: Content
    state: State
    vms: Kinds
    hosts: list[int]
    """Their indices, lowest first."""


class Choice(NamedTuple):
    """Target of a VM in a restart."""

    at: int
    """Index of a host that was chosen before, or -1: an untouched host in the state ``before``."""
    before: State
    fit: Fit


class Pool:
    """Number of hosts in each state, and for each kind of VM the state it would go to first."""

    def __init__(self, rules: Rules, states: Mapping[State, int]) -> None:
        self.rules, self.states = rules, states
        self._orders: dict[int, list[tuple[Any, State, Fit]]] = {}

    def restart(self, kinds: Sequence[int], gone: Mapping[State, int]) -> list[Choice | None]:
        """Destination of each of these VMs, one after the other, when hosts in some states are gone."""
        taken = Counter(gone)
        touched: list[State] = []
        choices: list[Choice | None] = []
        full: set[int] = set()  # kinds that fit nowhere any more: a restart only ever takes room
        for kind in kinds:
            best: Any = None
            if kind not in full:
                for rank, state, fit in self._order(kind):
                    if taken[state] < self.states[state]:
                        best = rank, -1, state, fit
                        break
                for at, state in enumerate(touched):
                    more = self.rules.fit_later(state, kind)
                    if more is not None:
                        rank = _rank(state, more)
                        if best is None or rank < best[0]:
                            best = rank, at, state, more
            if best is None:
                full.add(kind)
                choices.append(None)
                continue
            _, at, state, fit = best
            choices.append(Choice(at, state, fit))
            if at < 0:
                taken[state] += 1
                touched.append(fit.state)
            else:
                touched[at] = fit.state
        return choices

    def _order(self, kind: int) -> list[tuple[Any, State, Fit]]:
        """States in which a VM of the kind fits, best first."""
        if kind not in self._orders:
            fits = ((state, self.rules.fit_later(state, kind)) for state in self.states)
            self._orders[kind] = sorted(
                (_rank(state, fit), state, fit) for state, fit in fits if fit is not None
            )
        return self._orders[kind]


def _rank(state: State, fit: Fit) -> tuple[int, State]:
    """Shared GPUs that are there before free ones, then the fullest host."""
    return (fit.new_gpus, state)


class Cluster:
    """Requests and rooms, and the possible placements on the rest of them.

    >>> from gpuplan.models.placement import Request, Room, place
    >>> requests = [Request("research", 3, gpus=4)]
    >>> cluster = Cluster(requests, [Room(4)] * 4)
    >>> [len(hosts.hosts) for hosts in cluster.read((*place(requests, gpus_per_host=4).hosts, ()))]
    [3, 1]
    """

    def __init__(self, requests: Sequence[Request], rooms: Sequence[Room]) -> None:
        self.rules = Rules(requests)
        self.equal = IdenticalHosts(self.rules)
        self.mixed = MixedHosts(self.equal)
        self.rooms = tuple(self.rules.counted(room) for room in rooms)

    # ---- from hosts to counts

    def read(self, layout: Sequence[Host]) -> list[HostClass]:
        """Classes of hosts filled alike, in order of their first."""
        # First by what is quick to compare, the groups of all slots; then by that without regard to the order.
        same: dict[Any, list[int]] = defaultdict(list)
        group = itemgetter(0)
        for at, (host, room) in enumerate(zip(layout, self.rooms, strict=True)):
            same[room, tuple([tuple(map(group, load[1])) for load in host])].append(at)
        alike: dict[Any, tuple[Content, list[int]]] = {}
        for (room, _), hosts in same.items():
            content = self._content(layout[hosts[0]])
            key = (room, tuple(sorted(Part(f, tuple((k, 0) for k, _ in sorted(s))) for f, s in content)))
            alike.setdefault(key, (content, []))[1].extend(hosts)
        classes = []
        for (room, _), (content, hosts) in alike.items():
            counts = vms_in(content)
            vms = tuple(counts[k] for k in range(len(self.rules.requests)))
            classes.append(HostClass(room, content, self.rules.state(room, content), vms, sorted(hosts)))
        return classes

    def _content(self, host: Host) -> Content:
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

    # ---- decisions

    def taken_over(
        self, lost: Sequence[tuple[Room, Content]], empty: Mapping[Room, int]
    ) -> list[Room] | None:
        """For each lost host what the empty host offers that takes over all that is on it; None if some have none."""
        if len(lost) > sum(empty.values()):
            return None
        takers: dict[Room, list[int]] = {room: [] for room in sorted(empty)}
        large = [
            [room for room in takers if room == before or self.rules.offers(room, content)]
            for before, content in lost
        ]
        if not all(_find_taker(at, large, takers, empty, set()) for at in range(len(lost))):
            return None
        chosen = {at: room for room, every in takers.items() for at in every}
        return [chosen[at] for at in range(len(lost))]

    def decide(
        self, running: Kinds, lost: Kinds, restarted: Kinds, rooms: Counter[Room]
    ) -> tuple[Kinds, Blocks] | None:
        """VMs that are placed when all are placed again, and their layout; None if a restart alone does as much."""
        total = tuple(a + b for a, b in zip(running, lost, strict=True))
        if self.possible(total, rooms, thorough=True):
            return total, self._placed(total, rooms, thorough=True)
        # As many as possible beside what a restart placed, largest first: by halving, kind by kind.
        placed = tuple(a + b for a, b in zip(running, restarted, strict=True))
        most = placed
        for kind in self.rules.largest_first:
            top = lost[kind] - restarted[kind]
            with_more = [(*most[:kind], most[kind] + more, *most[kind + 1 :]) for more in range(top, -1, -1)]
            most = with_more[
                bisect_left(with_more[:-1], True, key=lambda vms: self.possible(vms, rooms, thorough=False))
            ]
        return (most, self._placed(most, rooms, thorough=False)) if most != placed else None

    def possible(self, vms: Kinds, rooms: Counter[Room], *, thorough: bool) -> bool:
        """True if all VMs can be placed again on so many hosts of each kind (or a way is found)."""
        rooms = Counter({room: n for room, n in rooms.items() if n and room.gpus})  # all take GPUs
        kinds = tuple(rooms)
        if self.rules.unfit(vms, kinds):
            return False
        if _only_gpus_count(kinds):
            return not any(vms) or self.equal.fit_on(vms, kinds[0].gpus, rooms.total(), thorough=thorough)
        return self.mixed.arrange(vms, rooms, thorough=thorough).blocks is not None

    def impossible(self, vms: Kinds, rooms: Counter[Room]) -> bool:
        """True if it is proven that not all VMs can be placed on so many hosts of each kind."""
        rooms = Counter({room: n for room, n in rooms.items() if n and room.gpus})
        kinds = tuple(rooms)
        if self.rules.unfit(vms, kinds):
            return True
        if _only_gpus_count(kinds):
            return self.equal.solve(vms, kinds[0].gpus).bound > rooms.total()
        return self.mixed.arrange(vms, rooms, thorough=True).impossible

    def _placed(self, vms: Kinds, rooms: Counter[Room], *, thorough: bool) -> Blocks:
        """All VMs placed again, where that is possible."""
        rooms = Counter({room: n for room, n in rooms.items() if n and room.gpus})
        kinds = tuple(rooms)
        if _only_gpus_count(kinds):
            blocks = self.equal.solve(vms, kinds[0].gpus, thorough=thorough).blocks
            return tuple(block._replace(room=kinds[0]) for block in blocks)  # with its board
        return self.mixed.arrange(vms, rooms, thorough=thorough).blocks or ()

    def match(
        self, hosts: Mapping[tuple[Room, Kinds], int], blocks: Blocks
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


def _find_taker(
    at: int,
    large: Sequence[Sequence[Room]],
    takers: dict[Room, list[int]],
    empty: Mapping[Room, int],
    seen: set[Room],
) -> bool:
    """Give a lost host one of the rooms that are large enough, by augmenting paths, so that no match is missed."""
    for room in large[at]:
        if room in seen:
            continue
        seen.add(room)
        if len(takers[room]) < empty[room]:
            takers[room].append(at)
            return True
        for i, other in enumerate(takers[room]):
            if _find_taker(other, large, takers, empty, seen):
                takers[room][i] = at
                return True
    return False


def _only_gpus_count(kinds: Sequence[Room]) -> bool:
    """True if hosts of these kinds are equal and only their GPUs count."""
    return len(kinds) == 1 and not kinds[0].vcpus and not kinds[0].memory_gib
