"""VMs of one group kept apart: exchanges between hosts, so that the loss of one takes as few of them as possible."""

import itertools
from collections.abc import Iterator, Sequence

from gpuplan.models.placement.layout import Host, Load
from gpuplan.models.placement.requests import Request, Room

MOST_TRIED = 24
"""Hosts that an exchange is tried with, those with fewest of the group first."""
MOST_EXCHANGED = 3
"""Loads of a host exchanged in one step."""


def set_apart(
    hosts: Sequence[Host], *, requests: Sequence[Request], rooms: Sequence[Room], groups: Sequence[str]
) -> tuple[Host, ...]:
    """The same VMs on the same hosts, those of some groups spread over the hosts that are used.

    Parameters:
        hosts (sequence of Host): What stands on each host. [host]
        groups (sequence of str): Groups whose VMs are kept apart, the first before the others. [-]

    While a host has two more of a group than another that is used, up to three of them are exchanged for up to three loads there, or for a
    share of the same profile, if both hosts hold the result. No VM is added or lost and no empty host is used, so what is proven of
    the number of hosts stays proven. VMs with several shares stay where they are. [gpuplan-method]_

    >>> from gpuplan.models.placement.layout import Slot
    >>> asked = [Request("serve", 2, gpus=2), Request("learn", 2, gpus=2)]
    >>> full = [tuple(Load(2, (Slot(group, vm),)) for vm in (0, 1)) for group in ("serve", "learn")]
    >>> [[load.slots[0].group for load in host] for host in set_apart(full, requests=asked, rooms=[Room(4)] * 2, groups=["serve"])]
    [['serve', 'learn'], ['learn', 'serve']]
    """
    exchanges, spread = _Exchanges(requests, rooms, groups), list(hosts)
    for group in groups:
        while step := exchanges.step(spread, group):
            for at, host in step.items():
                spread[at] = host
    return tuple(spread)


class _Exchanges:
    """Exchanges between two hosts that keep VMs of some groups apart."""

    def __init__(self, requests: Sequence[Request], rooms: Sequence[Room], apart: Sequence[str]) -> None:
        self.rooms, self.asked = rooms, {request.group: request for request in requests}
        self.staying = {r.group for r in requests if r.shares > 1 or r.group in apart}
        """Groups whose VMs give their place to no other."""

    def step(self, hosts: Sequence[Host], group: str) -> dict[int, Host]:
        """VMs of a group moved from the host with most of them to one with at least two fewer; nothing where that cannot be."""
        counts = {at: sum(name == group for name, _ in _vms(host)) for at, host in enumerate(hosts) if host}
        if not counts:
            return {}
        source = max(counts, key=lambda at: (counts[at], -at))
        fewer = sorted((n, at) for at, n in counts.items() if n <= counts[source] - 2)
        for count, target in fewer[:MOST_TRIED]:
            most = (counts[source] - count) // 2
            for mine, theirs in self._ways(hosts[source], hosts[target], group, most):
                if self._holds(self.rooms[source], mine) and self._holds(self.rooms[target], theirs):
                    return {source: mine, target: theirs}
        return {}

    def _ways(self, source: Host, target: Host, group: str, most: int) -> Iterator[tuple[Host, Host]]:
        """Yield the content of the two hosts after each possible exchange of at most this many VMs of the group."""
        alone = [load for load in source if load.family is None and [s.group for s in load.slots] == [group]]
        theirs = [one for one in target if one.gpus and self.staying.isdisjoint(s.group for s in one.slots)]
        moved_most = min(most, MOST_EXCHANGED, len(alone))
        for moved, count in itertools.product(range(1, moved_most + 1), range(MOST_EXCHANGED + 1)):
            for others in itertools.combinations(theirs, count):
                loads = alone[:moved]
                yield (*_without(source, *loads), *others), (*_without(target, *others), *loads)
        for mine, other in itertools.product(source, target):
            for here, there in self._swapped(mine, other, group):
                yield (*_without(source, mine), here), (*_without(target, other), there)

    def _swapped(self, mine: Load, other: Load, group: str) -> Iterator[tuple[Load, Load]]:
        """Yield two shared GPUs after a share of the group is exchanged for an equal one of another group, if it can be."""
        if mine.family is None or mine.family != other.family:
            return
        for slot, theirs in itertools.product(mine.slots, other.slots):
            alike = (slot.profile, slot.weight) == (theirs.profile, theirs.weight)
            movable = theirs.group in self.asked and theirs.group not in self.staying
            if slot.group == group and self.asked[group].shares == 1 and alike and movable:
                here = mine._replace(slots=tuple(theirs if s is slot else s for s in mine.slots))
                yield here, other._replace(slots=tuple(slot if s is theirs else s for s in other.slots))
                return

    def _holds(self, room: Room, host: Host) -> bool:
        vms = [self.asked[group] for group, _ in _vms(host) if group in self.asked]
        return (
            sum(load.gpus for load in host) <= room.gpus
            and (not room.vcpus or sum(vm.vcpus for vm in vms) <= room.vcpus)
            and (not room.memory_gib or sum(vm.memory_gib for vm in vms) <= room.memory_gib)
            and all(map(room.takes, vms))
        )


def _vms(host: Host) -> set[tuple[str, int]]:
    return {(slot.group, slot.vm) for load in host for slot in load.slots}


def _without(host: Host, *gone: Load) -> Host:
    return tuple(load for load in host if not any(load is other for other in gone))
