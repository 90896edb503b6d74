"""Placement: which VM is on which GPU of which host, before and after failures, with proof.

Whole GPUs of one VM are in one host. VMs that share a GPU are grouped by share class (a vGPU or
MIG profile, or Bitfusion's memory shares); a GPU holds one class only. A shared GPU can be in any
host, so the fewest shared GPUs are found first and then placed like single whole GPUs: this is
exact, because one shared GPU less never makes the hosts harder to fill.
"""

import math
from collections import Counter, defaultdict, deque
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from gpuplan.units import exact

MAX_PATTERNS = 20_000
MAX_SIZES = 200
SOLVER_SECONDS = 3.0

Counts = tuple[tuple[int, int], ...]
"""(size, how many) pairs, largest size first."""

Patterns = tuple[tuple[tuple[int, ...], int], ...]
"""(sizes in one bin, how many such bins) pairs."""


class Packing(NamedTuple):
    """Bins filled with sizes: each pattern with how often it is used, and the proof."""

    patterns: Patterns
    bins: int
    bound: int
    """No packing has fewer bins."""
    method: str
    """What proves the bound: ``volume``, ``large``, ``programme``; ``heuristic`` if there is a gap."""


class Request(NamedTuple):
    """VMs of one kind: ``gpus`` whole GPUs each, or a share (``weight`` of ``capacity``) of one GPU."""

    group: str
    vms: int
    gpus: int = 0
    share_class: str = ""
    weight: int = 0
    capacity: int = 0


class Slot(NamedTuple):
    """One VM on a GPU: its group, its number in the group, and the weight of its share."""

    group: str
    vm: int
    weight: int


class Load(NamedTuple):
    """What takes whole GPUs of a host: one VM with ``gpus`` GPUs, or one GPU shared by several VMs."""

    gpus: int
    slots: tuple[Slot, ...]
    share_class: str = ""
    capacity: int = 0


Host = tuple[Load, ...]


class Placement(NamedTuple):
    """Hosts with their loads, and the proof that fewer hosts cannot hold them."""

    hosts: tuple[Host, ...]
    bound: int
    method: str
    gpus_occupied: int
    shared: tuple[tuple[str, int, int, str], ...]
    """Per share class: GPUs used, bound, method of the proof."""


class Outcome(NamedTuple):
    """What happens when hosts fail."""

    hosts: tuple[Host, ...]
    """Loads of every host afterwards; failed hosts are empty."""
    restarted: tuple[tuple[str, int, int], ...]
    """(group, VM, host it restarts on) of VMs that were on a failed host."""
    moved: tuple[tuple[str, int, int, int], ...]
    """(group, VM, from host, to host) of VMs on healthy hosts that must make room."""
    unplaced: tuple[tuple[str, int], ...]
    """(group, VM) with no GPU left for it."""


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


def pack(sizes: Mapping[int, int], *, capacity: int) -> Packing:
    """The fewest equal bins that hold all sizes, with proof.

    Parameters
    ----------
    sizes : mapping of int to int
        How many there are of each size. [-]
    capacity : int
        Capacity of each bin, in the unit of the sizes. [-]

    Returns
    -------
    pack : Packing
        Patterns with their multiplicity, number of bins, lower bound and method of proof. [-]

    Notes
    -----
    First-fit decreasing; if it meets the volume bound ceil(sum / capacity) or the Martello-Toth
    bound L2 it is optimal. Otherwise the programme over all maximal patterns (Gilmore-Gomory) is
    solved by HiGHS: relaxed and rounded, and if that leaves a gap, in whole numbers. With more than
    20000 patterns, or if the solver runs out of time (3 s), the answer is labelled ``heuristic`` and
    the gap to the bound is shown.

    Raises
    ------
    ValueError
        If a size is larger than the capacity or not positive.

    Examples
    --------
    >>> pack({3: 8}, capacity=4).bins
    8
    >>> pack({4: 3, 1: 16}, capacity=4)[1:]
    (7, 7, 'volume')

    References
    ----------
    .. [1] martello-toth-1990
    .. [2] gilmore-gomory-1961
    """
    counts = {s: n for s, n in sorted(sizes.items(), reverse=True) if n > 0}
    if counts and (min(counts) < 1 or max(counts) > capacity):
        raise ValueError(f"sizes must be from 1 to the capacity {capacity}, not {sorted(counts)}")
    return _pack(tuple(counts.items()), capacity)


@lru_cache(maxsize=256)
def _pack(counts: Counts, capacity: int) -> Packing:
    patterns = _first_fit_decreasing(dict(counts), capacity)
    bins = sum(n for _, n in patterns)
    volume = -(-sum(s * n for s, n in counts) // capacity)
    if bins == volume:
        return Packing(patterns, bins, volume, "volume")
    bound = max(volume, _martello_toth(counts, capacity))
    if bins == bound:
        return Packing(patterns, bins, bound, "large")
    solved, proven = _integer_programme(counts, capacity)
    bound = max(bound, proven)
    if solved and sum(n for _, n in solved) <= bins:
        patterns, bins = solved, sum(n for _, n in solved)
    return Packing(patterns, bins, bound, "programme" if bins == bound else "heuristic")


def _first_fit_decreasing(left: dict[int, int], capacity: int) -> Patterns:
    """Bins filled one after the other, the largest size that fits first; equal bins taken at once."""
    patterns = []
    while left:
        room, pattern, times = capacity, [], None
        for size, count in left.items():
            fit = min(count, room // size)
            if fit:
                pattern += [size] * fit
                room -= fit * size
        used = Counter(pattern)
        times = min(left[size] // n for size, n in used.items())
        patterns.append((tuple(pattern), times))
        left = {s: n - used[s] * times for s, n in left.items() if n > used[s] * times}
    return tuple(patterns)


def _martello_toth(counts: Counts, capacity: int) -> int:
    """Bound L2: sizes that exclude each other need bins of their own, small ones what room is left."""
    best = 0
    for alpha in {0, *(s for s, _ in counts if 2 * s <= capacity)}:
        alone = sum(n for s, n in counts if s > capacity - alpha)
        half = [(s, n) for s, n in counts if s <= capacity - alpha and 2 * s > capacity]
        small = sum(s * n for s, n in counts if alpha <= s and 2 * s <= capacity)
        room = sum(n for _, n in half) * capacity - sum(s * n for s, n in half)
        best = max(best, alone + sum(n for _, n in half) + max(0, -(-(small - room) // capacity)))
    return best


def _integer_programme(counts: Counts, capacity: int) -> tuple[Patterns, int]:
    """Bins over all maximal patterns and a proven bound; no bins if there are too many patterns."""
    found = _maximal_patterns(tuple(s for s, _ in counts), tuple(n for _, n in counts), capacity)
    if found is None:
        return (), 0
    import numpy as np  # imported here: most plans are proven without a solver
    from scipy.optimize import Bounds, LinearConstraint, linprog, milp

    matrix = np.array(found, dtype=float).T
    needed = np.array([n for _, n in counts], dtype=float)
    ones = np.ones(len(found))
    relaxed = linprog(ones, A_ub=-matrix, b_ub=-needed)
    bound = math.ceil(relaxed.fun - 1e-6)
    rounded = _filled(counts, capacity, found, np.floor(relaxed.x + 1e-6))
    if sum(n for _, n in rounded) == bound:
        return rounded, bound
    solved = milp(
        ones,
        constraints=LinearConstraint(matrix, lb=needed),
        integrality=ones,
        bounds=Bounds(0, np.inf),
        options={"time_limit": SOLVER_SECONDS},
    )
    if solved.mip_dual_bound is not None and math.isfinite(solved.mip_dual_bound):
        bound = max(bound, math.ceil(solved.mip_dual_bound - 1e-6))
    if solved.x is None:
        return rounded, bound
    return min(
        rounded, _filled(counts, capacity, found, np.rint(solved.x)), key=lambda p: sum(n for _, n in p)
    ), bound


def _filled(
    counts: Counts, capacity: int, found: Sequence[Sequence[int]], times: Iterable[float]
) -> Patterns:
    """Bins filled by patterns, each so many times; what the patterns leave is filled first-fit decreasing."""
    left = dict(counts)
    patterns: Counter[tuple[int, ...]] = Counter()
    for amounts, often in zip(found, times, strict=True):
        for _ in range(int(often)):
            pattern: list[int] = []
            for (size, _), amount in zip(counts, amounts, strict=True):
                take = min(amount, left[size])
                left[size] -= take
                pattern += [size] * take
            if pattern:
                patterns[tuple(pattern)] += 1
    for last, often in _first_fit_decreasing({s: n for s, n in left.items() if n}, capacity):
        patterns[last] += often
    return tuple(sorted(patterns.items(), reverse=True))


def _maximal_patterns(
    sizes: tuple[int, ...], counts: tuple[int, ...], capacity: int
) -> list[tuple[int, ...]] | None:
    """All ways to fill a bin to which no further size can be added; None if there are too many.

    ``short`` is the smallest size of which some are left out: a way is maximal if less room is left at
    the end. Where even all smaller sizes leave more, the search goes back.
    """
    if len(sizes) > MAX_SIZES:
        return None
    found: list[tuple[int, ...]] = []
    rest = [sum(s * n for s, n in zip(sizes[i:], counts[i:], strict=True)) for i in range(len(sizes) + 1)]

    def extend(index: int, room: int, short: int, chosen: tuple[int, ...]) -> bool:
        if index == len(sizes):
            found.append(chosen)
            return len(found) <= MAX_PATTERNS
        size = sizes[index]
        for amount in range(min(counts[index], room // size), -1, -1):
            left, limit = room - amount * size, short if amount == counts[index] else min(short, size)
            if left - rest[index + 1] >= limit:
                break
            if not extend(index + 1, left, limit, (*chosen, amount)):
                return False
        return True

    return found if extend(0, capacity, capacity + 1, ()) else None


def place(requests: Sequence[Request], *, gpus_per_host: int) -> Placement:
    """The fewest equal hosts on which every request fits, and who is where.

    Parameters
    ----------
    requests : sequence of Request
        VMs by kind; all GPUs of one VM are in one host. [-]
    gpus_per_host : int
        GPUs in each host. [GPU]

    Returns
    -------
    place : Placement
        Hosts with their loads, the bound, and how it is proven. [-]

    Notes
    -----
    Shared GPUs first, one share class per GPU, then hosts; both by ``pack``. Ties keep the order of
    the requests, so that a group stays together.

    Raises
    ------
    ValueError
        If a VM needs more GPUs than a host has.

    Examples
    --------
    >>> place([Request("research", 8, gpus=3)], gpus_per_host=4).bound
    8

    References
    ----------
    .. [1] martello-toth-1990
    """
    loads, shared = _loads(requests)
    packing = pack(Counter(load.gpus for load in loads), capacity=gpus_per_host)
    queues: dict[int, deque[Load]] = defaultdict(deque)
    for load in loads:
        queues[load.gpus].append(load)
    hosts = tuple(
        tuple(queues[size].popleft() for size in pattern)
        for pattern, times in packing.patterns
        for _ in range(times)
    )
    occupied = sum(load.gpus for load in loads)
    method, bound = packing.method, packing.bound
    if any(how == "heuristic" for *_, how in shared):
        fewest = Counter({r.gpus: 0 for r in requests if r.gpus})
        for request in requests:
            fewest[request.gpus] += request.vms if request.gpus else 0
        fewest[1] += sum(least for _, _, least, _ in shared)
        bound = pack(fewest, capacity=gpus_per_host).bound
        method = packing.method if bound == len(hosts) else "heuristic"
    return Placement(hosts, bound, method, occupied, tuple(shared))


def _loads(requests: Sequence[Request]) -> tuple[list[Load], list[tuple[str, int, int, str]]]:
    """Loads in the order of the requests, and per share class (GPUs, bound, method)."""
    loads: list[tuple[int, Load]] = []
    shared: list[tuple[str, int, int, str]] = []
    classes: dict[str, list[tuple[int, Request]]] = defaultdict(list)
    for order, request in enumerate(requests):
        if request.gpus:
            loads += [
                (order, Load(request.gpus, (Slot(request.group, vm, 0),))) for vm in range(1, request.vms + 1)
            ]
        elif request.vms:
            classes[request.share_class].append((order, request))
    for name, members in classes.items():
        capacity = members[0][1].capacity
        queues: dict[int, deque[tuple[int, Slot]]] = defaultdict(deque)
        for order, request in members:
            queues[request.weight].extend(
                (order, Slot(request.group, vm, request.weight)) for vm in range(1, request.vms + 1)
            )
        packing = pack({weight: len(queue) for weight, queue in queues.items()}, capacity=capacity)
        for pattern, times in packing.patterns:
            for _ in range(times):
                taken = [queues[weight].popleft() for weight in pattern]
                slots = tuple(slot for _, slot in taken)
                loads.append((min(order for order, _ in taken), Load(1, slots, name, capacity)))
        shared.append((name, packing.bins, packing.bound, packing.method))
    loads.sort(key=lambda item: item[0])
    return [load for _, load in loads], shared


def after_failure(layout: Sequence[Host], *, failed: Collection[int], gpus_per_host: int) -> Outcome:
    """Who restarts where, who must move and who is not placed when hosts fail.

    Parameters
    ----------
    layout : sequence of Host
        Loads of each host, spare hosts being empty. [-]
    failed : collection of int
        Indices of the failed hosts, from 0. [-]
    gpus_per_host : int
        GPUs in each host. [GPU]

    Returns
    -------
    after_failure : Outcome
        Loads afterwards, restarts, moves and what is not placed. [-]

    Notes
    -----
    First without moving anybody: VMs of failed hosts restart in free shares of their class, else on
    free GPUs of the fullest host they fit on, largest first, ties to the lowest host number. If some
    are left over, everything is placed again from scratch on the hosts that are left, and VMs that
    changed host are listed as moved. If that is impossible too, the first answer stands with what is
    not placed: the VMs that a restart alone leaves without a GPU.

    Examples
    --------
    >>> research = place([Request("research", 2, gpus=4)], gpus_per_host=4).hosts
    >>> after_failure((*research, ()), failed={0}, gpus_per_host=4).restarted
    (('research', 1, 2),)

    References
    ----------
    .. [1] vmware-vsphere-8.0-admission-control
    """
    first = _restart(layout, failed, gpus_per_host)
    if not first.unplaced:
        return first
    loads = [load for host in layout for load in host]
    if _hosts_needed(loads, gpus_per_host) > len(layout) - len(set(failed)):
        return first
    return _match(layout, failed, place(_requests_of(loads), gpus_per_host=gpus_per_host).hosts)


def _restart(hosts: Sequence[Host], failed: Collection[int], gpus_per_host: int) -> Outcome:
    after: list[list[Load]] = [[] if i in failed else list(host) for i, host in enumerate(hosts)]
    free = [
        0 if i in failed else gpus_per_host - sum(load.gpus for load in host) for i, host in enumerate(hosts)
    ]
    displaced = [load for i in sorted(failed) for load in hosts[i]]
    restarted: list[tuple[str, int, int]] = []
    unplaced: list[tuple[str, int]] = []

    def fullest(gpus: int) -> int | None:
        fitting = [i for i in range(len(after)) if free[i] >= gpus and i not in failed]
        return min(fitting, key=lambda i: (free[i], i), default=None)

    for load in sorted((d for d in displaced if not d.share_class), key=lambda d: -d.gpus):
        target = fullest(load.gpus)
        if target is None:
            unplaced += [(slot.group, slot.vm) for slot in load.slots]
            continue
        after[target].append(load)
        free[target] -= load.gpus
        restarted += [(slot.group, slot.vm, target) for slot in load.slots]
    waiting = [(load, slot) for load in displaced if load.share_class for slot in load.slots]
    room: dict[str, list[list[int]]] = defaultdict(list)
    for i, host in enumerate(after):
        for at, load in enumerate(host):
            spare = load.capacity - sum(s.weight for s in load.slots)
            if load.share_class and spare:
                room[load.share_class].append([spare, i, at])
    for load, slot in sorted(waiting, key=lambda item: -item[1].weight):
        open_gpus = room[load.share_class]
        seat = next((s for s in open_gpus if s[0] >= slot.weight), None)
        if seat is None:
            target = fullest(1)
            if target is None:
                unplaced.append((slot.group, slot.vm))
                continue
            after[target].append(Load(1, (), load.share_class, load.capacity))
            free[target] -= 1
            seat = [load.capacity, target, len(after[target]) - 1]
            open_gpus.append(seat)
        spare, target, at = seat
        seat[0] = spare - slot.weight
        shared = after[target][at]
        after[target][at] = shared._replace(slots=(*shared.slots, slot))
        restarted.append((slot.group, slot.vm, target))
    return Outcome(tuple(tuple(host) for host in after), tuple(restarted), (), tuple(unplaced))


def _hosts_needed(loads: Sequence[Load], gpus_per_host: int) -> int:
    """Hosts that ``place`` would use for the VMs of these loads."""
    sizes = Counter(load.gpus for load in loads if not load.share_class)
    shares: dict[tuple[str, int], Counter[int]] = defaultdict(Counter)
    for load in loads:
        if load.share_class:
            shares[load.share_class, load.capacity].update(slot.weight for slot in load.slots)
    sizes[1] += sum(pack(weights, capacity=capacity).bins for (_, capacity), weights in shares.items())
    return pack(sizes, capacity=gpus_per_host).bins


def _requests_of(loads: Sequence[Load]) -> list[Request]:
    """One request per kind of VM, so that everything can be placed again."""
    kinds = Counter((_kind(load, slot), load.capacity) for load in loads for slot in load.slots)
    return [
        Request(group, n, gpus, cls, weight, room) for ((group, gpus, cls, weight), room), n in kinds.items()
    ]


def _kind(load: Load, slot: Slot) -> tuple[str, int, str, int]:
    """What VMs have in common that can take each other's place."""
    return slot.group, 0 if load.share_class else load.gpus, load.share_class, slot.weight


def _match(hosts: Sequence[Host], failed: Collection[int], fresh: Sequence[Host]) -> Outcome:
    """New bins laid on the healthy hosts that hold most of the same kinds; a VM stays on its host if it can."""
    there = [[(_kind(load, slot), slot) for load in host for slot in load.slots] for host in hosts]
    bins: dict[Any, list[Host]] = defaultdict(list)
    for host in fresh:
        wanted = Counter(_kind(load, slot) for load in host for slot in load.slots)
        bins[tuple(sorted(wanted.items()))].append(host)
    overlap = sorted(
        (-(Counter(kind for kind, _ in there[i]) & Counter(dict(wanted))).total(), i, wanted)
        for i in range(len(hosts))
        if i not in failed
        for wanted in bins
    )
    laid: dict[int, Host] = {}
    for _, i, wanted in overlap:
        if i not in laid and bins[wanted]:
            laid[i] = bins[wanted].pop(0)
    stay: dict[Any, deque[Slot]] = defaultdict(deque)
    away: dict[Any, deque[tuple[int, Slot]]] = defaultdict(deque)
    for i, slots in enumerate(there):
        free = Counter(_kind(load, slot) for load in laid.get(i, ()) for slot in load.slots)
        for kind, slot in slots:
            if free[kind]:
                free[kind] -= 1
                stay[i, kind].append(slot)
            else:
                away[kind].append((i, slot))
    after: list[Host] = [()] * len(hosts)
    restarted, moved = [], []
    for i, host in sorted(laid.items()):
        loads = []
        for load in host:
            taken = []
            for kind in (_kind(load, slot) for slot in load.slots):
                if stay[i, kind]:
                    taken.append(stay[i, kind].popleft())
                    continue
                before, slot = away[kind].popleft()
                taken.append(slot)
                if before in failed:
                    restarted.append((slot.group, slot.vm, i))
                else:
                    moved.append((slot.group, slot.vm, before, i))
            loads.append(load._replace(slots=tuple(taken)))
        after[i] = tuple(loads)
    return Outcome(tuple(after), tuple(restarted), tuple(moved), ())
