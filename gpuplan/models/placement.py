"""Placement: which VM is on which GPU of which host, before and after failures, with proof.

Whole GPUs of one VM are in one host. VMs that share a GPU are grouped by share class (a vGPU or
MIG profile, or Bitfusion's memory shares); a GPU holds one class only. A shared GPU can be in any
host, so the fewest shared GPUs are found first and then placed like single whole GPUs: this is
exact, because one shared GPU less never makes the hosts harder to fill.
"""

import math
from collections import Counter, defaultdict, deque
from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from gpuplan.units import exact

MAX_PATTERNS = 20_000
SOLVER_SECONDS = 10.0


class Packing(NamedTuple):
    """Bins filled with sizes: each pattern with how often it is used, and the proof."""

    patterns: tuple[tuple[tuple[int, ...], int], ...]
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
    bound L2 it is optimal. Otherwise the integer programme over all maximal patterns (Gilmore-
    Gomory) is solved by HiGHS. With more than 20000 patterns, or if the solver runs out of time,
    the answer is labelled ``heuristic`` and the gap to the bound is shown.

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
def _pack(counts: tuple[tuple[int, int], ...], capacity: int) -> Packing:
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


def _first_fit_decreasing(left: dict[int, int], capacity: int) -> tuple[tuple[tuple[int, ...], int], ...]:
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


def _martello_toth(counts: Sequence[tuple[int, int]], capacity: int) -> int:
    """Bound L2: sizes that exclude each other need bins of their own, small ones what room is left."""
    best = 0
    for alpha in {0, *(s for s, _ in counts if 2 * s <= capacity)}:
        alone = sum(n for s, n in counts if s > capacity - alpha)
        half = [(s, n) for s, n in counts if s <= capacity - alpha and 2 * s > capacity]
        small = sum(s * n for s, n in counts if alpha <= s and 2 * s <= capacity)
        room = sum(n for _, n in half) * capacity - sum(s * n for s, n in half)
        best = max(best, alone + sum(n for _, n in half) + max(0, -(-(small - room) // capacity)))
    return best


def _integer_programme(
    counts: tuple[tuple[int, int], ...], capacity: int
) -> tuple[tuple[tuple[tuple[int, ...], int], ...], int]:
    """Fewest bins over all maximal patterns: (patterns, proven bound); nothing if there are too many."""
    found = _maximal_patterns(tuple(s for s, _ in counts), tuple(n for _, n in counts), capacity)
    if found is None:
        return (), 0
    import numpy as np  # imported here: most plans are proven without a solver
    from scipy.optimize import Bounds, LinearConstraint, milp

    matrix = np.array(found, dtype=float).T
    result = milp(
        np.ones(len(found)),
        constraints=LinearConstraint(matrix, lb=[n for _, n in counts]),
        integrality=np.ones(len(found)),
        bounds=Bounds(0, np.inf),
        options={"time_limit": SOLVER_SECONDS},
    )
    bound = int(np.ceil(result.mip_dual_bound - 1e-6)) if result.mip_dual_bound is not None else 0
    if result.x is None:
        return (), max(bound, 0)
    left = dict(counts)
    patterns: Counter[tuple[int, ...]] = Counter()
    for amounts, times in zip(found, np.rint(result.x).astype(int), strict=True):
        for _ in range(times):
            pattern: list[int] = []
            for (size, _), amount in zip(counts, amounts, strict=True):
                take = min(amount, left[size])
                left[size] -= take
                pattern += [size] * take
            if pattern:
                patterns[tuple(pattern)] += 1
    if any(left.values()):
        return (), bound
    return tuple(sorted(patterns.items(), reverse=True)), bound


def _maximal_patterns(
    sizes: tuple[int, ...], counts: tuple[int, ...], capacity: int
) -> list[tuple[int, ...]] | None:
    """All ways to fill a bin to which no further size can be added; None if there are too many."""
    found: list[tuple[int, ...]] = []

    def extend(index: int, room: int, chosen: tuple[int, ...]) -> bool:
        if index == len(sizes):
            maximal = all(room < s or chosen[i] == counts[i] for i, s in enumerate(sizes))
            if maximal:
                found.append(chosen)
            return len(found) <= MAX_PATTERNS
        size = sizes[index]
        return all(
            extend(index + 1, room - amount * size, (*chosen, amount))
            for amount in range(min(counts[index], room // size), -1, -1)
        )

    return found if extend(0, capacity, ()) else None


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
        for pattern, times in packing.patterns for _ in range(times)
    )
    method = packing.method
    if any(how == "heuristic" for *_, how in shared):
        method = "heuristic"
    occupied = sum(load.gpus for load in loads)
    fewest = occupied - sum(gpus - least for _, gpus, least, _ in shared)
    bound = packing.bound if method != "heuristic" else max(
        -(-fewest // gpus_per_host),
        pack(Counter(r.gpus for r in requests for _ in range(r.vms) if r.gpus), capacity=gpus_per_host).bound,
    )
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


def after_failure(hosts: Sequence[Host], *, failed: Collection[int], gpus_per_host: int) -> Outcome:
    """Who restarts where, who must move and who is not placed when hosts fail.

    Parameters
    ----------
    hosts : sequence of Host
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
    not placed.

    Examples
    --------
    >>> research = place([Request("research", 2, gpus=4)], gpus_per_host=4).hosts
    >>> after_failure((*research, ()), failed={0}, gpus_per_host=4).restarted
    (('research', 1, 2),)

    References
    ----------
    .. [1] vmware-vsphere-8.0-admission-control
    """
    first = _restart(hosts, failed, gpus_per_host)
    if not first.unplaced:
        return first
    everything = [load for host in hosts for load in host]
    requests = _requests_of(everything)
    again = place(requests, gpus_per_host=gpus_per_host)
    if len(again.hosts) > len(hosts) - len(set(failed)):
        return first
    return _match(hosts, failed, again.hosts)


def _restart(hosts: Sequence[Host], failed: Collection[int], gpus_per_host: int) -> Outcome:
    after: list[list[Load]] = [[] if i in failed else list(host) for i, host in enumerate(hosts)]
    free = [0 if i in failed else gpus_per_host - sum(load.gpus for load in host) for i, host in enumerate(hosts)]
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


def _requests_of(loads: Sequence[Load]) -> list[Request]:
    """One request per VM-shape of a group, so that everything can be placed again."""
    kinds: dict[tuple[str, int, str, int, int], int] = {}
    for load in loads:
        for slot in load.slots:
            whole = 0 if load.share_class else load.gpus
            key = (slot.group, whole, load.share_class, slot.weight, load.capacity)
            kinds[key] = kinds.get(key, 0) + 1
    return [Request(g, n, whole, cls, weight, cap) for (g, whole, cls, weight, cap), n in kinds.items()]


def _match(hosts: Sequence[Host], failed: Collection[int], fresh: Sequence[Host]) -> Outcome:
    """New bins laid on the healthy hosts they share most VMs with."""
    was = {(s.group, s.vm): i for i, host in enumerate(hosts) for load in host for s in load.slots}
    healthy = [i for i in range(len(hosts)) if i not in failed]
    overlap = sorted(
        (
            (-sum(was[s.group, s.vm] == i for load in host for s in load.slots), i, at)
            for at, host in enumerate(fresh) for i in healthy
        ),
    )
    seat_of: dict[int, int] = {}
    for _, i, at in overlap:
        if at not in seat_of and i not in seat_of.values():
            seat_of[at] = i
    after: list[Host] = [()] * len(hosts)
    for at, i in seat_of.items():
        after[i] = tuple(fresh[at])
    restarted, moved = [], []
    for i, host in enumerate(after):
        for load in host:
            for slot in load.slots:
                before = was[slot.group, slot.vm]
                if before in failed:
                    restarted.append((slot.group, slot.vm, i))
                elif before != i:
                    moved.append((slot.group, slot.vm, before, i))
    return Outcome(tuple(after), tuple(restarted), tuple(moved), ())
