"""The working week, hour by hour: from an arrangement as a running cluster on, VMs are powered off when their users leave and on when they come back."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from gpuplan.models.gpu_layouts import layout_starts
from gpuplan.models.placement.layout import Host, Load
from gpuplan.models.placement.requests import Request, Room
from gpuplan.models.power_on.cluster import Cluster, Spot
from gpuplan.models.power_on.gpu_states import Rules, Way
from gpuplan.models.power_on.orders import power_on_orders
from gpuplan.units import at_least_one, each, whole_from_zero


class LivedWeek(NamedTuple):
    """Results of a week of starts and stops, over the weeks tried."""

    back: float
    """Mean number of VMs that come back in a week."""
    refused: float
    """Mean number of these that do not start immediately."""
    missing: tuple[float, ...]
    """Mean number of VMs in each hour that should run and do not."""
    stranded_gpus: tuple[float, ...]
    """Mean of the GPUs' worth in each hour that is idle while a VM that should run does not."""
    busiest: int
    """Hour with the highest demand in GPUs' worth, from 0."""
    first_start: float
    """Share of the VMs of that hour that do not start if they are the first on empty hosts, in random orders."""


def lived_week(
    requests: Sequence[Request],
    *,
    rooms: Sequence[Room],
    rules: Rules,
    wanted: Sequence[Sequence[int]],
    weeks: int = 20,
    seed: int = 0,
) -> LivedWeek:
    """VMs that leave and come back hour by hour, and which of them find no place.

    Parameters:
        wanted (sequence of sequence of int): VMs of each kind that are wanted in each hour. [-]
        weeks: Weeks that are tried. [-]
        seed: Where random choices begin; the same seed gives the same weeks. [-]

    Means over these weeks. The hosts are empty before the first hour. When fewer VMs of a kind are wanted than the hour
    before, so many of those that are wanted leave, each as likely as the others; when more, so many come back. All that
    leave do so before those that come back start, in a random order. One that does not start is tried again each hour,
    in that order, until it leaves. Nothing that runs is moved. [gpuplan-method]_ [denneman-mixed-size]_

    >>> kinds = [Request("a", 4, gpus=1), Request("b", 1, gpus=2)]
    >>> found = lived_week(kinds, rooms=[Room(2)] * 2, rules=Rules(), wanted=[(4, 0), (2, 1)] * 4, weeks=100)
    >>> found.busiest, found.missing[0], 0.2 < found.missing[1] < 0.8, found.stranded_gpus[1] == 2 * found.missing[1]
    (0, 0.0, True, True)
    """
    each(whole_from_zero, wanted=wanted)
    at_least_one(weeks=weeks)
    whole_from_zero(seed=seed)
    random = np.random.RandomState(seed)  # its stream is the same in every version of numpy
    missing, stranded = np.zeros(len(wanted)), np.zeros(len(wanted))
    back = refused = 0
    for _ in range(weeks):
        people = _Week(Cluster(requests, rooms, rules), random)
        for hour, (lacking, idle, attempts, failed) in enumerate(map(people.hour, wanted)):
            missing[hour] += lacking
            stranded[hour] += idle
            back, refused = back + attempts, refused + failed
    worth = Cluster(requests, rooms, rules).gpus.fits.worth
    gpus = [sum(w * n for w, n in zip(worth, hour, strict=True)) for hour in wanted]
    busiest = max(range(len(wanted)), key=gpus.__getitem__)
    first = [request._replace(vms=n) for request, n in zip(requests, wanted[busiest], strict=True)]
    started = power_on_orders(first, rooms=rooms, rules=rules, orders=weeks, seed=seed)
    every = max(1, sum(wanted[busiest]))
    return LivedWeek(
        back / weeks,
        refused / weeks,
        tuple((missing / weeks).tolist()),
        tuple((stranded / weeks).tolist()),
        busiest,
        sum(started.missing_by_kind) / every,
    )


class _Week:
    """One simulated week."""

    def __init__(self, cluster: Cluster, random: Any) -> None:
        self.cluster, self.random = cluster, random
        self.on: list[list[int]] = [[] for _ in cluster.requests]
        """VMs of each kind that should run."""
        self.off = [list(range(1, request.vms + 1)) for request in cluster.requests]
        self.waiting: list[tuple[int, int]] = []
        """VMs that should run and do not, the longest waiting first."""

    def hour(self, wanted: Sequence[int]) -> tuple[int, float, int, int]:
        """Return unplaced VMs in an hour, idle GPUs' worth, VMs that come back, and how many of these do not start."""
        for kind, n in enumerate(wanted):
            for vm in self._drawn(self.on[kind], len(self.on[kind]) - n):
                self.off[kind].append(vm)
                if (kind, vm) in self.cluster.spots:
                    self.cluster.stop(kind, vm)
                else:
                    self.waiting.remove((kind, vm))
        come = [
            (kind, vm)
            for kind, n in enumerate(wanted)
            for vm in self._drawn(self.off[kind], n - len(self.on[kind]))
        ]
        come = [come[at] for at in self.random.permutation(len(come))]
        for kind, vm in come:
            self.on[kind].append(vm)
        before = set(self.waiting)
        self.waiting = [vm for vm in (*self.waiting, *come) if self.cluster.start(*vm) is None]
        failed = len(set(self.waiting) - before)
        idle = self.cluster.idle_gpus() if self.waiting else 0.0
        return len(self.waiting), idle, len(come), failed

    def _drawn(self, vms: list[int], count: int) -> Iterator[int]:
        """Yield this number of VMs removed from a list at random; none if it is negative."""
        for _ in range(count):
            yield vms.pop(self.random.randint(len(vms)))


def arranged(
    requests: Sequence[Request], *, rooms: Sequence[Room], rules: Rules, layout: Sequence[Host]
) -> Cluster:
    """The cluster in which every VM runs where an arrangement has it.

    Parameters:
        layout (sequence of Host): Loads of each host. [-]

    On each host VMs with most GPUs have those with the lowest numbers, so that partitions of 2, 4 and 8 are aligned; shared GPUs follow. Where on a
    GPU shares begin, ``layout_starts`` says. [gpuplan-method]_

    >>> from gpuplan.models.placement import place
    >>> kinds = [Request("a", 2, gpus=1), Request("b", 1, gpus=2)]
    >>> cluster = arranged(kinds, rooms=[Room(4)], rules=Rules(), layout=place(kinds, gpus_per_host=4).hosts)
    >>> cluster.spots[1, 1], cluster.spots[0, 2]
    (Spot(host=0, gpus=(0, 1), starts=()), Spot(host=0, gpus=(3,), starts=()))
    """
    cluster = Cluster(requests, rooms, rules)
    kinds = {request.group: kind for kind, request in enumerate(requests)}
    ways = dict(rules.ways)
    for at, host in enumerate(layout):
        shares: dict[tuple[int, int], list[tuple[int, int]]] = {}
        gpu = 0
        for load in sorted(host, key=lambda load: (load.family is not None, -load.gpus)):
            if load.family is None:
                vm = kinds[load.slots[0].group], load.slots[0].vm
                cluster.put(*vm, Spot(at, tuple(range(gpu, gpu + load.gpus)), ()))
            else:
                starts = _starts(load, ways.get(load.family.name, Way()))
                for slot, start in zip(load.slots, starts, strict=True):
                    shares.setdefault((kinds[slot.group], slot.vm), []).append((gpu, start))
            gpu += load.gpus
        for vm, on in shares.items():
            cluster.put(*vm, Spot(at, tuple(gpu for gpu, _ in on), tuple(start for _, start in on)))
    return cluster


def _starts(load: Load, way: Way) -> list[int]:
    if not way.pieces:
        return [0] * len(load.slots)
    counts = Counter(slot.profile for slot in load.slots)
    places = layout_starts(
        [counts[piece.name] for piece in way.pieces],
        pieces=way.pieces,
        region=way.region,
        compute_slices=way.compute_slices,
    )
    free = {piece.name: list(starts) for piece, starts in zip(way.pieces, places, strict=True)}
    return [free[slot.profile].pop(0) for slot in load.slots]
