"""VMs started one after another by the rules of ``facts/vsphere_placement.md``, as plain as can be: lists, loops, no bookkeeping.

It shares no idea with ``gpuplan.models.power_on``: everything is counted again from what stands on the hosts, each time.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from gpuplan.models.placement import Request, Room


class Standing(NamedTuple):
    """Where a VM stands."""

    host: int
    gpus: tuple[int, ...]
    starts: tuple[int, ...]


class Naive:
    """Hosts as they fill up. ``rules`` is anything with the fields of ``power_on.Rules``."""

    def __init__(self, requests: Sequence[Request], rooms: Sequence[Room], rules: Any) -> None:
        self.requests, self.rules = requests, rules
        # what no VM is asked for is no limit and no load
        self.rooms = [
            Room(
                room.gpus,
                room.vcpus if any(request.vcpus for request in requests) else 0,
                room.memory_gib if any(request.memory_gib for request in requests) else 0,
            )
            for room in rooms
        ]
        self.ways = dict(rules.ways)
        self.standing: dict[tuple[int, int], Standing] = {}
        self.last = -1

    # ---- what stands

    def on(self, host: int) -> list[tuple[Request, Standing]]:
        return [(self.requests[kind], at) for (kind, _), at in self.standing.items() if at.host == host]

    def on_gpu(self, host: int, gpu: int) -> list[tuple[Request, int]]:
        """(request, start) of each share on a GPU; a whole GPU has one."""
        return [
            (request, at.starts[i] if at.starts else 0)
            for request, at in self.on(host)
            for i, other in enumerate(at.gpus)
            if other == gpu
        ]

    # ---- power-on

    def start(self, kind: int, vm: int, without: Collection[int] = ()) -> Standing | None:
        request = self.requests[kind]
        found = {}
        for host in range(len(self.rooms)):
            if host in without or not self._cpu_and_memory_fit(host, request):
                continue
            where = self._whole(host, request) if request.family is None else self._shares(host, request)
            if where is not None:
                found[host] = where
        if not found:
            return None
        host = self._choose(sorted(found), request)
        self.standing[kind, vm] = Standing(host, *found[host])
        self.last = host
        return self.standing[kind, vm]

    def stop(self, kind: int, vm: int) -> Standing:
        return self.standing.pop((kind, vm))

    # ---- host

    def _cpu_and_memory_fit(self, host: int, request: Request) -> bool:
        room = self.rooms[host]
        vcpus = sum(other.vcpus for other, _ in self.on(host)) + request.vcpus
        memory = sum(other.memory_gib for other, _ in self.on(host)) + request.memory_gib
        return (not room.vcpus or vcpus <= room.vcpus) and (not room.memory_gib or memory <= room.memory_gib)

    def _choose(self, hosts: list[int], request: Request) -> int:
        if self.rules.consolidate and request.family is None and request.gpus:
            taken = {
                host: sum(len(at.gpus) for other, at in self.on(host) if other.family is None)
                for host in hosts
            }
            hosts = [host for host in hosts if taken[host] == max(taken.values())]
        if self.rules.host == "turn":
            return next((host for host in hosts if host > self.last), hosts[0])
        return min(hosts, key=lambda host: (self._used(host), host))

    def _used(self, host: int) -> Fraction:
        room, there = self.rooms[host], self.on(host)
        parts = []
        if room.vcpus:
            parts.append(Fraction(sum(other.vcpus for other, _ in there), room.vcpus))
        if room.memory_gib:
            parts.append(Fraction(sum(other.memory_gib for other, _ in there), room.memory_gib))
        return max(parts) if parts else Fraction(len(there))

    # ---- whole GPUs

    def _whole(self, host: int, request: Request) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
        gpus = self.rooms[host].gpus
        free = [gpu for gpu in range(gpus) if not self.on_gpu(host, gpu)]
        if self.rules.partitions and request.gpus:
            chosen = self._partition(free, gpus, request.gpus)
        elif 1 < request.gpus <= self.rules.domain:
            chosen = self._in_domain(free, gpus, request.gpus)
        else:
            chosen = free[: request.gpus] if len(free) >= request.gpus else None
        return None if chosen is None else (tuple(chosen), ())

    def _in_domain(self, free: list[int], gpus: int, wanted: int) -> list[int] | None:
        for first in range(0, gpus, self.rules.domain):
            here = [gpu for gpu in free if first <= gpu < first + self.rules.domain]
            if len(here) >= wanted:
                return here[:wanted]
        return None

    @staticmethod
    def _partition(free: list[int], gpus: int, wanted: int) -> list[int] | None:
        """The free partition that leaves most of the largest free, then most of the next size."""
        sizes = [1, 2, 4, 8]
        size = next((s for s in sizes if s >= wanted), None)
        if size is None:
            return None
        best: tuple[list[int], list[int]] | None = None
        for block in _blocks(free, gpus, size):
            rest = [gpu for gpu in free if gpu not in block]
            left = [len(list(_blocks(rest, gpus, s))) for s in reversed(sizes)]
            if best is None or left > best[0]:
                best = left, block
        return None if best is None else best[1]

    # ---- shares of a GPU

    def _shares(self, host: int, request: Request) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
        new: list[tuple[int, int]] = []
        for _ in range(request.shares):
            one = self._share(host, request, new)
            if one is None:
                return None
            new.append(one)
        return tuple(gpu for gpu, _ in new), tuple(start for _, start in new)

    def _way(self, request: Request) -> Any:
        assert request.family is not None
        return self.ways.get(request.family.name, _SAME_SIZE)

    def _share(self, host: int, request: Request, new: list[tuple[int, int]]) -> tuple[int, int] | None:
        """(GPU, start) for one more share."""
        way = self._way(request)
        able = []
        for gpu in range(self.rooms[host].gpus):
            there = self.on_gpu(host, gpu) + [(request, start) for other, start in new if other == gpu]
            if any(other.family != request.family for other, _ in there):
                continue
            if not way.pieces:
                assert request.family is not None
                if len(there) < request.family.layouts[0][0]:
                    able.append((len(there), gpu, 0))
                continue
            start = _start(way, [(_piece(way, other), at) for other, at in there], _piece(way, request))
            if start is not None:
                able.append((sum(_piece(way, other).size for other, _ in there), gpu, start))
        if not able:
            return None
        most = way.gpu == "fullest"
        _, gpu, start = min(able, key=lambda one: (-one[0] if most else one[0], one[1]))
        return gpu, start


class _Way(NamedTuple):
    gpu: str = "fewest"
    pieces: tuple[()] = ()


_SAME_SIZE = _Way()


def _blocks(free: Sequence[int], gpus: int, size: int) -> Iterator[list[int]]:
    """Aligned blocks of GPUs that are all free."""
    for first in range(0, gpus - size + 1, size):
        block = list(range(first, first + size))
        if all(gpu in free for gpu in block):
            yield block


def _piece(way: Any, request: Request) -> Any:
    return next(piece for piece in way.pieces if piece.name == request.profile)


def _starts(way: Any, there: Sequence[tuple[Any, int]], piece: Any) -> list[int]:
    """Listed starts at which a piece may begin beside what is there, in the order of the list."""
    if sum(other == piece for other, _ in there) >= piece.most:
        return []
    if way.compute_slices and sum(other.compute for other, _ in there) + piece.compute > way.compute_slices:
        return []
    return [
        start
        for start in piece.starts
        if start + piece.size <= way.region
        and all(start + piece.size <= at or at + other.size <= start for other, at in there)
    ]


def _start(way: Any, there: Sequence[tuple[Any, int]], piece: Any) -> int | None:
    starts = _starts(way, there, piece)
    if not starts or way.start == "lowest":
        return starts[0] if starts else None
    largest_first = sorted(way.pieces, key=lambda other: (-other.size, -other.compute))

    def left(start: int) -> list[int]:
        after = [*there, (piece, start)]
        return [len(_starts(way, after, other)) for other in largest_first]

    return max(starts, key=left)
