"""A cluster in use: VMs that are started and stopped one after another, each placed by the rules and never moved."""

from collections import Counter
from collections.abc import Collection, Sequence
from itertools import zip_longest
from typing import NamedTuple

from gpuplan.models.placement.layout import Host, Load, Slot
from gpuplan.models.placement.requests import Request, Room
from gpuplan.models.power_on.gpu_states import NEUTRAL, Rules, shared_gpus
from gpuplan.units import each, whole_from_zero

LARGEST, SMALLEST = "largest", "smallest"
"""VM that leaves a host first."""


class Spot(NamedTuple):
    """Place where a VM runs."""

    host: int
    gpus: tuple[int, ...]
    """GPU of each share, or the GPUs that it has whole."""
    starts: tuple[int, ...]
    """Start of each share on its GPU; 0 where shares are only counted, none for whole GPUs."""


class Cluster:
    """Hosts, and the VMs that run on them.

    >>> cluster = Cluster([Request("a", 3, gpus=1), Request("b", 1, gpus=2)], [Room(2), Room(2)], Rules())
    >>> cluster.start(0, 1), cluster.start(0, 2)
    (Spot(host=0, gpus=(0,), starts=()), Spot(host=1, gpus=(0,), starts=()))
    >>> cluster.start(1, 1) is None
    True
    """

    def __init__(self, requests: Sequence[Request], rooms: Sequence[Room], rules: Rules) -> None:
        self.requests, self.rules = tuple(requests), rules
        self.gpus = shared_gpus(
            tuple(request._replace(vms=1) for request in requests), rules._replace(host="", consolidate=False)
        )
        each(whole_from_zero, vms=[request.vms for request in requests])
        self.rooms = tuple(self.gpus.fits.counted(room) for room in rooms)
        self.counted = any(room.vcpus or room.memory_gib or room.board for room in self.rooms)
        """True if CPU, memory or boards are counted on any host."""
        self.states = [(NEUTRAL,) * room.gpus for room in rooms]
        """Content of the GPUs of each host."""
        self.vcpus, self.memory_gib, self.vms, self.whole = ([0] * len(rooms) for _ in range(4))
        """Resources used by the VMs of each host, their number, and their number of whole GPUs."""
        self.spots: dict[tuple[int, int], Spot] = {}
        """(kind, VM) -> where it runs."""
        self.last = -1
        """The host that was taken last."""
        self.first = LARGEST
        """VM that leaves an evacuated host first."""

    def leaving(self, first: str) -> "Cluster":
        """The same cluster, of which another VM leaves a host first."""
        other = self.copy()
        other.first = first
        return other

    def copy(self) -> "Cluster":
        """The same cluster, to try something on."""
        clone = object.__new__(Cluster)
        vars(clone).update(vars(self))
        clone.states = list(self.states)
        clone.vcpus, clone.memory_gib = list(self.vcpus), list(self.memory_gib)
        clone.vms, clone.whole, clone.spots = list(self.vms), list(self.whole), dict(self.spots)
        return clone

    def start(self, kind: int, vm: int, *, without: Collection[int] = ()) -> Spot | None:
        """Power on a VM: where it runs then, or None if no host other than ``without`` can take it."""
        able = self.able(kind, without=without)
        if not able:
            return None
        host = self._chosen(able, kind)
        self.last = host
        placed = self.gpus.known[kind][self.states[host]]
        assert placed is not None
        spot = Spot(host, placed.gpus, placed.starts)
        self._run(kind, vm, spot, placed.states)
        return spot

    def able(self, kind: int, *, without: Collection[int] = ()) -> list[int]:
        """The hosts, but for those ``without``, that can take one more VM of a kind."""
        placed = self.gpus.known[kind]
        for states in self.states:
            if states not in placed:
                placed[states] = self.gpus.placed(states, kind)
        able = [host for host, states in enumerate(self.states) if placed[states] and host not in without]
        return [host for host in able if self._has_room(host, self.requests[kind])] if self.counted else able

    def _has_room(self, host: int, request: Request) -> bool:
        """True if a host has the board, the CPU and the memory for one more VM."""
        room = self.rooms[host]
        if not room.takes(request):
            return False
        if room.vcpus and self.vcpus[host] + request.vcpus > room.vcpus:
            return False
        return not (room.memory_gib and self.memory_gib[host] + request.memory_gib > room.memory_gib)

    def _chosen(self, able: list[int], kind: int) -> int:
        """Return the host that gets a VM, among those that can take it."""
        if self.rules.own_first:
            own = self.requests[kind].boards[:1]
            able = [host for host in able if self.rooms[host].board in own] or able
        if self.rules.consolidate and self.requests[kind].gpus:
            most = max(self.whole[host] for host in able)
            able = [host for host in able if self.whole[host] == most]
        if self.rules.host == "turn":
            return min(able, key=lambda host: (host - self.last - 1) % len(self.rooms))
        return min(able, key=self._used_share)

    def _used_share(self, host: int) -> float:
        """Return the used share of a host: of its CPU or memory, the scarcer, where these are counted; else its VMs."""
        room = self.rooms[host]
        if not room.vcpus and not room.memory_gib:
            return self.vms[host]
        return max(
            self.vcpus[host] / room.vcpus if room.vcpus else 0.0,
            self.memory_gib[host] / room.memory_gib if room.memory_gib else 0.0,
        )

    def put(self, kind: int, vm: int, spot: Spot) -> None:
        """A VM that runs there already."""
        states = list(self.states[spot.host])
        for at, start in zip_longest(spot.gpus, spot.starts, fillvalue=0):
            states[at] = self.gpus.put(states[at], kind, start)
        self._run(kind, vm, spot, tuple(states))

    def _run(self, kind: int, vm: int, spot: Spot, states: tuple[int, ...]) -> None:
        """A VM runs, and this is on the GPUs of its host then."""
        self.states[spot.host] = states
        self._count(kind, spot, 1)
        self.spots[kind, vm] = spot

    def stop(self, kind: int, vm: int) -> Spot:
        """Power off a VM: where it ran."""
        spot = self.spots.pop((kind, vm))
        states = list(self.states[spot.host])
        for at, start in zip_longest(spot.gpus, spot.starts, fillvalue=0):
            states[at] = self.gpus.removed(states[at], kind, start)
        self.states[spot.host] = tuple(states)
        self._count(kind, spot, -1)
        return spot

    def _count(self, kind: int, spot: Spot, by: int) -> None:
        request, host = self.requests[kind], spot.host
        self.vcpus[host] += by * request.vcpus
        self.memory_gib[host] += by * request.memory_gib
        self.vms[host] += by
        self.whole[host] += by * len(spot.gpus) * (request.family is None)

    def idle_gpus(self) -> float:
        """GPUs' worth that no VM has."""
        running = Counter(kind for kind, _ in self.spots)
        worth = sum(self.gpus.fits.worth[kind] * n for kind, n in running.items())
        return float(sum(room.gpus for room in self.rooms) - worth)

    def by_gpu(self) -> list[list[Load | None]]:
        """Content of each GPU of each host."""
        loads: list[list[Load | None]] = [[None] * len(states) for states in self.states]
        shared: dict[tuple[int, int], list[tuple[int, int, Slot]]] = {}
        for (kind, vm), spot in sorted(self.spots.items()):
            slot, load = self._slot(kind, vm), Load(len(spot.gpus), (self._slot(kind, vm),))
            for at, start in zip_longest(spot.gpus, spot.starts, fillvalue=0):
                loads[spot.host][at] = load
                if self.requests[kind].family:
                    shared.setdefault((spot.host, at), []).append((start, kind, slot))
        for (host, at), slots in shared.items():
            family = self.requests[slots[0][1]].family
            loads[host][at] = Load(1, tuple(slot for _, _, slot in sorted(slots)), family)
        return loads

    def _slot(self, kind: int, vm: int) -> Slot:
        request = self.requests[kind]
        return Slot(request.group, vm, request.profile, request.weight)

    def hosts(self) -> tuple[Host, ...]:
        """Content of each host, GPU by GPU, and then VMs without a GPU."""
        without: list[list[Load]] = [[] for _ in self.rooms]
        for (kind, vm), spot in sorted(self.spots.items()):
            if not spot.gpus:
                without[spot.host].append(Load(0, (self._slot(kind, vm),)))
        taken = ({id(load): load for load in loads if load} for loads in self.by_gpu())
        return tuple((*loads.values(), *rest) for loads, rest in zip(taken, without, strict=True))
