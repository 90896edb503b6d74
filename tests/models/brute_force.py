"""A brute force that shares no idea with the code, random requests, and what must be true of every placement.

VMs are put one by one wherever they fit, shares of profiles that are mixed at every start position that is free. A host
is (free GPUs, what is on each shared GPU, vCPUs and memory left).
"""

from __future__ import annotations

import itertools
import operator
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp

from gpuplan.models.gpu_layouts import Piece, gpu_layouts
from gpuplan.models.placement import Family, Host, Placement, Request, Room

MIG = (
    Piece("3g", 4, (0, 4), 2, 3),
    Piece("2g", 2, (0, 2, 4), 3, 2),
    Piece("1g", 1, (0, 1, 2, 3, 4, 5, 6), 7, 1),
)
MIXED = (
    Piece("16C", 16, (0, 32), 2),
    Piece("12C", 12, (0, 12, 24, 36), 4),
    Piece("8C", 8, (0, 16, 24, 40), 4),
)
DIVIDED = {"mig": (MIG, 8, 7), "mixed": (MIXED, 48, 0)}
"""Pieces, size of the region, compute slices."""
FAMILIES = {
    "half": Family("half", ("half",), ((2,),)),
    "third": Family("third", ("third",), ((3,),)),
    "memory": Family("memory", capacity=10),
} | {
    name: Family(
        name, tuple(p.name for p in pieces), gpu_layouts(pieces, region=region, compute_slices=slices)
    )
    for name, (pieces, region, slices) in DIVIDED.items()
}

Used = tuple[int, ...]
"""What is used of a shared GPU: (shares,), (memory,), or (mask of places, compute slices, pieces of each kind)."""

State = tuple[tuple[int, tuple[tuple[str, Used], ...], int, int], ...]
"""Per host: free GPUs, shared GPUs, vCPUs and memory left."""


def with_share(name: str, used: Used | None, request: Request) -> list[Used]:
    """Every way to put one more share on a GPU."""
    if name == "memory":
        total = (used[0] if used else 0) + request.weight
        return [(total,)] if total <= 10 else []
    if name not in DIVIDED:
        total = (used[0] if used else 0) + 1
        return [(total,)] if total <= {"half": 2, "third": 3}[name] else []
    pieces, region, slices = DIVIDED[name]
    mask, compute, *counts = used or (0, 0, *[0] * len(pieces))
    which = [piece.name for piece in pieces].index(request.profile)
    piece = pieces[which]
    ways = []
    for start in piece.starts:
        place_ = ((1 << piece.size) - 1) << start
        if start + piece.size <= region and not mask & place_ and counts[which] < piece.most:
            if slices and compute + piece.compute > slices:
                continue
            more = [n + (i == which) for i, n in enumerate(counts)]
            ways.append((mask | place_, compute + piece.compute, *more))
    return ways


def fits_on(requests: Sequence[Request], rooms: Sequence[Room]) -> bool:
    """Whether all VMs fit on these hosts, every way being tried."""
    vms = [r for r in sorted(requests, key=lambda r: (-r.gpus, -r.shares)) for _ in range(r.vms)]
    seen: set[tuple[int, State]] = set()

    def put(at: int, state: State) -> bool:
        if at == len(vms):
            return True
        if (at, state) in seen:
            return False
        seen.add((at, state))
        for i in sorted({host: i for i, host in enumerate(state)}.values()):
            for host in on_host(state[i], vms[at]):
                if put(at + 1, tuple(sorted((*state[:i], host, *state[i + 1 :])))):
                    return True
        return False

    unlimited = 10**6
    return put(
        0,
        tuple(sorted((r.gpus, (), r.vcpus or unlimited, r.memory_gib or unlimited, r.board) for r in rooms)),
    )


def on_host(
    host: tuple[int, tuple[tuple[str, Used], ...], int, int, str], vm: Request
) -> Iterator[tuple[int, tuple[tuple[str, Used], ...], int, int, str]]:
    free, shared, vcpus, memory, board = host
    vcpus, memory = vcpus - vm.vcpus, memory - vm.memory_gib
    if min(vcpus, memory) < 0 or (vm.boards and board not in vm.boards):
        return
    if vm.family is None:
        if free >= vm.gpus:
            yield free - vm.gpus, shared, vcpus, memory, board
        return
    name = vm.family.name
    reached = {(free, shared)}
    for _ in range(vm.shares):
        after = set()
        for left, gpus in reached:
            for j, (other, used) in enumerate(gpus):
                if other == name:
                    for way in with_share(name, used, vm):
                        after.add((left, tuple(sorted((*gpus[:j], (name, way), *gpus[j + 1 :])))))
            if left:
                for way in with_share(name, None, vm):
                    after.add((left - 1, tuple(sorted((*gpus, (name, way))))))
        reached = after
    for left, gpus in sorted(reached):
        yield left, gpus, vcpus, memory, board


@cache
def _fewest(requests: tuple[Request, ...], gpus: int) -> int:
    return next(n for n in itertools.count() if fits_on(requests, [Room(gpus)] * n))


def fewest_hosts(requests: Sequence[Request], gpus: int) -> int:
    """Fewest equal hosts, every way being tried."""
    return _fewest(tuple(requests), gpus)


def random_requests(
    rng: random.Random, gpus: int, most: int = 7, shares: int = 1, kinds: str = "wwseem"
) -> list[Request]:
    """A few VMs: whole GPUs, a profile (e), mixed profiles (m), shares of the memory (s)."""
    requests: list[Request] = []
    left = rng.randint(1, most)
    while left > 0:
        vms = rng.randint(1, left)
        left -= vms
        name, kind = f"g{len(requests)}", rng.choice(kinds)
        each = rng.randint(1, shares)
        if kind == "w":
            requests.append(Request(name, vms, gpus=rng.randint(1, gpus)))
        elif kind == "e":
            family = FAMILIES[rng.choice(["half", "third"])]
            each = min(each, gpus * family.layouts[0][0])
            requests.append(Request(name, vms, family=family, profile=family.profiles[0], shares=each))
        elif kind == "m":
            family = FAMILIES[rng.choice(["mig", "mixed"])]
            request = Request(name, vms, family=family, profile=rng.choice(family.profiles), shares=each)
            requests.append(request._replace(shares=min(each, gpus * 2)))
        else:
            weight = rng.randint(1, 10)
            each = min(each, gpus * (10 // weight))
            requests.append(Request(name, vms, family=FAMILIES["memory"], weight=weight, shares=each))
    return requests


def limited(rng: random.Random, requests: Sequence[Request], room: Room) -> list[Request]:
    """The same requests with vCPUs and memory that fit on an empty host."""
    return [
        r._replace(vcpus=rng.randint(0, room.vcpus), memory_gib=rng.randint(0, room.memory_gib))
        for r in requests
    ]


def design(rng: random.Random, vms: int, kinds: int = 8) -> tuple[list[Request], Room]:
    """About so many VMs of several kinds, and a host that is limited by its GPUs, vCPUs and memory."""
    gpus = rng.choice([1, 2, 3, 4, 4, 6, 8, 8])
    room = Room(gpus, rng.choice([32, 48, 64, 96, 128, 192]), rng.choice([128, 256, 512, 768, 1024, 2048]))
    parts = [rng.random() for _ in range(rng.randint(2, kinds))]
    requests = []
    for at, part in enumerate(parts):
        name, n, kind = f"g{at}", max(1, round(vms * part / sum(parts))), rng.choice("wweems")
        if kind == "w":
            request = Request(name, n, gpus=rng.randint(1, gpus))
        elif kind == "s":
            request = Request(name, n, family=FAMILIES["memory"], weight=rng.randint(1, 10))
        else:
            family = FAMILIES[rng.choice(["half", "third"] if kind == "e" else ["mig", "mixed"])]
            request = Request(name, n, family=family, profile=rng.choice(family.profiles))
        requests.append(request)
    return limited(rng, requests, Room(0, min(40, room.vcpus), min(256, room.memory_gib))), room


def fits_by_programme(requests: Sequence[Request], rooms: Sequence[Room]) -> bool:
    """Whether all VMs fit: whole numbers of each kind on each host and of each layout of its GPUs, that know no patterns."""
    families = list(dict.fromkeys(r.family for r in requests if r.family))
    layouts = {family: _layouts(family, requests) for family in families}
    width = len(requests) + sum(len(each) for _, each in layouts.values())
    rows: list[tuple[np.ndarray, float, float]] = []
    for host, room in enumerate(rooms):
        each = np.zeros((3, len(rooms), width))
        each[:, host, : len(requests)] = [
            [0 if r.family else r.gpus for r in requests],
            [r.vcpus for r in requests],
            [r.memory_gib for r in requests],
        ]
        each[0, host, len(requests) :] = 1
        rows += [(row, 0, most or np.inf) for row, most in zip(each, room.sizes, strict=True)]
        at = len(requests)
        for units, ways in layouts.values():
            for unit, name in enumerate(units):
                row = np.zeros((len(rooms), width))
                row[host, : len(requests)] = [r.shares * (_unit(r) == name) for r in requests]
                row[host, at : at + len(ways)] = [-way[unit] for way in ways]
                rows.append((row, -np.inf, 0))
            at += len(ways)
    for kind, request in enumerate(requests):
        row = np.zeros((len(rooms), width))
        row[:, kind] = 1
        rows.append((row, request.vms, request.vms))
    matrix, low, high = (np.array(part) for part in zip(*rows, strict=True))
    limits = LinearConstraint(matrix.reshape(len(rows), -1), low, high)
    cells = matrix[0].size
    solved = milp(np.zeros(cells), constraints=limits, integrality=np.ones(cells), bounds=Bounds(0, np.inf))
    assert solved.status in (0, 2), solved.message
    return bool(solved.status == 0)


def _unit(request: Request) -> tuple[str, str, int]:
    return (request.family.name if request.family else "", request.profile, request.weight)


def _layouts(
    family: Family, requests: Sequence[Request]
) -> tuple[list[tuple[str, str, int]], list[tuple[int, ...]]]:
    """Sizes of share of a family, and what one GPU can have of each."""
    if not family.capacity:
        return [(family.name, profile, 0) for profile in family.profiles], list(family.layouts)
    weights = sorted({r.weight for r in requests if r.family == family})
    counts = (range(family.capacity // weight + 1) for weight in weights)
    ways = [
        way for way in itertools.product(*counts) if sum(map(operator.mul, way, weights)) <= family.capacity
    ]
    return [(family.name, "", weight) for weight in weights], ways


def large_mix(scale: float) -> list[Request]:
    equal = {n: Family(f"profile-{n}", ("p",), ((n,),)) for n in (2, 4, 8)}
    memory = Family("memory", capacity=49_152)
    return [
        Request(name, int(vms * scale), **what)  # type: ignore[arg-type]
        for name, vms, what in (
            ("eights", 800, {"gpus": 8}),
            ("quads", 1700, {"gpus": 4}),
            ("triples", 1500, {"gpus": 3}),
            ("pairs", 5200, {"gpus": 2}),
            ("singles", 9001, {"gpus": 1}),
            ("halves", 20_001, {"family": equal[2], "profile": "p"}),
            ("quarters", 30_003, {"family": equal[4], "profile": "p"}),
            ("eighths", 70_003, {"family": equal[8], "profile": "p"}),
            ("threes", 7000, {"family": FAMILIES["mig"], "profile": "3g"}),
            ("ones", 29_000, {"family": FAMILIES["mig"], "profile": "1g"}),
            ("thirds", 9000, {"family": memory, "weight": 16_384}),
            ("bits", 19_000, {"family": memory, "weight": 5000}),
        )
    ]


def check_hosts(hosts: Sequence[Host], rooms: Sequence[Room], requests: Sequence[Request]) -> None:
    """Nothing is over its capacity, one family to a GPU, all of a VM in one host and as it was asked for."""
    of = {r.group: r for r in requests}
    for host, room in zip(hosts, rooms, strict=True):
        assert sum(load.gpus for load in host) <= room.gpus
        vms = Counter((slot.group, slot.vm) for load in host for slot in load.slots)
        assert sum(of[group].vcpus for group, _ in vms) <= (room.vcpus or 10**9)
        assert sum(of[group].memory_gib for group, _ in vms) <= (room.memory_gib or 10**9)
        assert not room.board or all(room.board in (of[group].boards or (room.board,)) for group, _ in vms)
        for (group, _), slots in vms.items():
            assert slots == of[group].shares
        for load in host:
            assert load.slots
            for slot in load.slots:
                assert (slot.profile, slot.weight) == (of[slot.group].profile, of[slot.group].weight)
                assert of[slot.group].family == load.family
            if load.family is None:
                assert len(load.slots) == 1
                assert load.gpus == of[load.slots[0].group].gpus
                continue
            assert load.gpus == 1
            if load.family.capacity:
                assert sum(slot.weight for slot in load.slots) <= load.family.capacity
            else:
                counts = Counter(slot.profile for slot in load.slots)
                on_it = [counts[profile] for profile in load.family.profiles]
                assert any(
                    all(a <= b for a, b in zip(on_it, layout, strict=True)) for layout in load.family.layouts
                )


def vms_in(hosts: Sequence[Host]) -> set[tuple[str, int]]:
    """VMs on these hosts; none is on two."""
    each = [{(slot.group, slot.vm) for load in host for slot in load.slots} for host in hosts]
    every = set().union(*each)
    assert sum(map(len, each)) == len(every)
    return every


def vms_asked(requests: Sequence[Request]) -> set[tuple[str, int]]:
    return {(r.group, vm) for r in requests for vm in range(1, r.vms + 1)}


def check_placement(placed: Placement, requests: Sequence[Request], gpus: int) -> None:
    check_hosts(placed.hosts, [Room(gpus)] * len(placed.hosts), requests)
    assert vms_in(placed.hosts) == vms_asked(requests)
    assert placed.gpus_occupied == sum(load.gpus for host in placed.hosts for load in host)
    assert placed.bound <= len(placed.hosts)
    assert (placed.method == "heuristic") == (placed.bound < len(placed.hosts))
    used = Counter(load.family.name for host in placed.hosts for load in host if load.family)
    assert {one.family: one.gpus for one in placed.shared} == used
    for one in placed.shared:
        assert one.bound <= one.gpus
        assert (one.method == "heuristic") == (one.bound < one.gpus)
