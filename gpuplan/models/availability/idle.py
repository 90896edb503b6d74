"""Idle capacity: what hosts in use have left, which groups could use it, and whether all fits on existing hosts."""

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

from gpuplan.models.availability.restart import Cluster
from gpuplan.models.placement import Host, Request, Room
from gpuplan.models.placement.fit import Rules
from gpuplan.models.placement.requests import Used


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


def idle_gpus(
    layout: Sequence[Host], *, requests: Sequence[Request], rooms: Sequence[Room]
) -> tuple[Idle, ...]:
    """Idle GPUs of hosts in use, and the VMs that could still use them.

    Parameters:
        layout (sequence of Host): Loads of each host, spare hosts being empty. [-]

    Free GPUs by how many there are on a host, then shared GPUs by how much room is left on them. Hosts without VMs are
    failover capacity, not idle. A VM fits if all of its shares, vCPUs and memory are on the host and some of it goes
    there. What is left of a shared GPU is worth the shares of the profile of which the largest part still fits, of the
    most that one GPU holds. [vmware-sharing-gpus-2020]_

    >>> from gpuplan.models.placement import place
    >>> requests = [Request("threes", 2, gpus=3), Request("fours", 0, gpus=4)]
    >>> idle_gpus(place(requests, gpus_per_host=4).hosts, requests=requests, rooms=[Room(4)] * 2)
    (Idle(kind='whole', family='', room=1, count=2, gpus=2.0, fits=()),)
    """
    cluster = Cluster(requests, rooms)
    rules = cluster.rules
    idle: dict[tuple[bool, str, int, tuple[str, ...]], tuple[int, Fraction]] = {}

    def add(shared: str, room: int, fits: Sequence[int], count: int, gpus: Fraction) -> None:
        key = bool(shared), shared, -room, tuple(rules.requests[k].group for k in fits)
        before, worth = idle.get(key, (0, Fraction(0)))
        idle[key] = before + count, worth + gpus * count

    for one in cluster.read(layout):
        if not one.content:
            continue
        free, _, _, opens, _ = one.state
        fitting = [k for k in range(len(requests)) if rules.fit_later(one.state, k) is not None]
        if free:
            add("", free, fitting, len(one.hosts), Fraction(free))
        for f, used in opens:
            room, worth, takers = _left_on(rules, f, used)
            takers = [k for k in fitting if k in takers]
            add(rules.families[f].name, room, takers, len(one.hosts), worth)
    return tuple(
        Idle("share" if shared else "whole", family, -minus, count, float(gpus), groups)
        for (shared, family, minus, groups), (count, gpus) in sorted(idle.items())
    )


def _left_on(rules: Rules, family: int, used: Used) -> tuple[int, Fraction, list[int]]:
    """Room left on a shared GPU, its worth in GPUs, and the kinds of which a share still fits."""
    more = {k: rules.more(family, used, rules.units[k]) for k, f in enumerate(rules.family_of) if f == family}
    takers = [k for k, n in more.items() if n]
    capacity = rules.families[family].capacity
    if capacity:
        return capacity - used[0], Fraction(capacity - used[0], capacity), takers
    return max(more.values()), max(Fraction(n, rules.per_gpu[k]) for k, n in more.items()), takers


def fits(requests: Sequence[Request], *, rooms: Sequence[Room]) -> bool:
    """True if everything has a place on these hosts when all is placed anew.

    The same decision as that of ``after_failure`` when all is placed again: exact where ``place`` is for equal hosts without
    limits of CPU and memory, and where ``place_mixed`` is for others, on these hosts alone. A host with 0 GPUs
    offers nothing to a VM that needs one. [martello-toth-1990]_

    >>> request = Request("research", 3, gpus=3)
    >>> fits([request], rooms=[Room(4)] * 3), fits([request], rooms=[Room(4)] * 2), fits([], rooms=[])
    (True, False, True)
    """
    cluster = Cluster(requests, rooms)
    return cluster.possible(cluster.rules.vms, Counter(cluster.rooms), thorough=True)
