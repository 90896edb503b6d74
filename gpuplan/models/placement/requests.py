"""Requests of VMs and resources of a host, counted.

Everything is counted. VMs of one request are a *kind*, numbered as the requests; a host is its free part (``State``) or
its content (``Content``); hosts that hold the same are one ``Block``, however many there are. VMs get their numbers in
``layout``, at the end.
"""

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple


class Family(NamedTuple):
    """Shares that can be on one GPU together."""

    name: str
    profiles: tuple[str, ...] = ()
    """Layouts count these."""
    layouts: tuple[tuple[int, ...], ...] = ()
    """Largest number of each profile on one GPU; equal-size mode has one profile and one layout."""
    capacity: int = 0
    """Memory to divide freely instead, in MB; then there are no profiles and no layouts."""
    sizes: tuple[int, ...] = ()
    """Rank of each profile, larger for the one that is placed before the other."""
    in_order: bool = False
    """True if the layouts hold for larger shares first only, and no VM on a running GPU makes room (MIG)."""


class Request(NamedTuple):
    """VMs of one kind: ``gpus`` whole GPUs each, or ``shares`` shares of one family, or vCPUs and memory only. A group has one
    request. All GPUs and shares of one VM are in one host, with its vCPUs and memory."""

    group: str
    vms: int
    gpus: int = 0
    family: Family | None = None
    profile: str = ""
    """Profile of each share, in a family with layouts."""
    weight: int = 0
    """Memory of each share, in a family that is divided freely, in MB."""
    shares: int = 1
    """Shares of one VM, on one GPU or on several of the same host."""
    vcpus: int = 0
    """Virtual CPUs of one VM; 0 is not counted."""
    memory_gib: int = 0
    """Memory of one VM; 0 is not counted."""
    boards: tuple[str, ...] = ()
    """GPU boards that its VMs run on; empty: any."""


class Room(NamedTuple):
    """Resources of a host; 0 vCPUs or memory is not limited."""

    gpus: int
    vcpus: int = 0
    memory_gib: int = 0
    board: str = ""
    """Board of its GPUs, where requests tell boards apart."""

    @property
    def sizes(self) -> tuple[int, int, int]:
        """Its GPUs, vCPUs and memory."""
        return self[:3]

    def takes(self, request: Request) -> bool:
        """True if VMs of a request run on its board."""
        return not self.board or not request.boards or self.board in request.boards

    def offers_as_much(self, other: "Room") -> bool:
        """True if it offers at least as much as another host, of everything."""
        limits = ((self.vcpus, other.vcpus), (self.memory_gib, other.memory_gib))
        return (
            self.gpus >= other.gpus
            and self.board == other.board
            and all(most == 0 or 0 < least <= most for most, least in limits)
        )


Kinds = tuple[int, ...]
"""Number of VMs of each kind."""

Used = tuple[int, ...]
"""Used part of a shared GPU: shares of each profile, or (memory,)."""

Slots = tuple[tuple[int, int], ...]
"""(kind, index of its VM on this host) for each slot."""


class Part(NamedTuple):
    """A user of whole GPUs of a host: one VM (family -1), or one GPU shared within a family."""

    family: int
    slots: Slots


Content = tuple[Part, ...]
"""Content of one host, with VMs of each kind numbered from 0."""


class Block(NamedTuple):
    """Identical hosts: number, resources, and content of each."""

    times: int
    room: Room
    content: Content

    def joined(self, parts: Iterable[tuple[int, Iterable[int]]]) -> "Block":
        """The same with more parts (family, kinds on it), each slot of which is a VM of its own."""
        numbers = vms_in(self.content)
        joined = list(self.content)
        for family, kinds in parts:
            slots = []
            for kind in kinds:
                slots.append((kind, numbers[kind]))
                numbers[kind] += 1
            joined.append(Part(family, tuple(slots)))
        return self._replace(content=tuple(joined))


Blocks = tuple[Block, ...]


State = tuple[int, int, int, tuple[tuple[int, Used], ...], str]
"""Free part of a host: GPUs, vCPUs and memory (-1: not limited), its shared GPUs with room left as (family, used), and
its board."""


class Fit(NamedTuple):
    """One more VM on a host: its resources, and the free part of the host afterwards."""

    new_gpus: int
    """GPUs that were free."""
    state: State
    joins: tuple[tuple[Used, int], ...]
    """(used before, shares) for each shared GPU that it joins."""
    opens: tuple[int, ...]
    """Shares on each GPU that it is the first on."""


def vms_in(content: Content) -> Counter[int]:
    """Count the VMs of each kind on a host.

    By number of their kind. VMs of a kind are numbered from 0 on each host, and one VM may have several slots.
    [gpuplan-method]_

    >>> vms_in((Part(-1, ((0, 0),)), Part(2, ((1, 0), (1, 0), (1, 1)))))
    Counter({1: 2, 0: 1})
    """
    most: Counter[int] = Counter()
    for _, slots in content:
        for kind, vm in slots:
            if vm >= most[kind]:
                most[kind] = vm + 1
    return most
