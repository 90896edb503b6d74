"""Hosts as tiles: the load of each GPU, and what may join it, for every drawing of them."""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from gpuplan.models.placement import Family, Host, Load
from gpuplan.plan import Plan
from gpuplan.plan.hosts import Pool
from gpuplan.plan.sharing import more_that_fit, starts_of
from gpuplan.units import MIB_PER_GIB
from gpuplan.wording import joined, number, said

SHOWN_PLACES = 8
"""Most places on a GPU that are listed; of more, the first and the last."""


class Share(NamedTuple):
    """Part of a GPU that a group takes."""

    vms: int
    mb: int


class Shares:
    """Memory of a pool's GPUs, and the part of it that one VM of each group takes."""

    def __init__(self, plan: Plan, pool: Pool) -> None:
        self.gpu_mb = int(plan.catalog.gpus[pool.gpu].fact("memory_gib").value * MIB_PER_GIB)
        self._piece_mb = {g.id: g.frame_buffer_mb // max(1, g.vgpus_each) for g in plan.groups}
        self._piece_mb |= {request.group: request.weight for request in pool.requests if request.weight}

    def piece_mb(self, group: str, unknown: int = 1) -> int:
        """Return the part of one VM; ``unknown`` where its memory is."""
        return self._piece_mb.get(group, 0) or unknown

    def of(self, load: Load, unknown: int = 1) -> dict[str, Share]:
        """Return the parts of the groups on a GPU, in the order of their first VMs."""
        counts = Counter(slot.group for slot in load.slots)
        return {group: Share(vms, vms * self.piece_mb(group, unknown)) for group, vms in counts.items()}

    def left_mb(self, load: Load) -> int:
        """Return the memory of a GPU that no group takes."""
        return max(0, self.gpu_mb - sum(share.mb for share in self.of(load).values()))


def on_each_gpu(loads: Host, gpus: int) -> list[Load | None]:
    """Return the load on each GPU of a host; None for an empty one."""
    found: list[Load | None] = [load for load in loads for _ in range(load.gpus)]
    return found + [None] * (gpus - len(found))


def room_words(family: Family, counts: Sequence[int]) -> str:
    """Return the VMs that still fit on a GPU with these counts."""
    room = more_that_fit(family, counts)
    return said("hosts.or").join(said("hosts.more of a profile", more=n, profile=name) for n, name in room)


def layout_words(plan: Plan, family: Family, counts: Sequence[int]) -> str:
    """Return the profiles on a GPU, and the start of each, where a source lists it."""
    starts = starts_of(plan.scenario, plan.catalog, family.profiles, counts)
    if starts is None:
        return ", ".join(f"{n} x {name}" for n, name in zip(counts, family.profiles, strict=True) if n)
    return ", ".join(said("hosts.profile at", profile=name, places=places_words(at)) for name, at in starts)


def places_words(numbers: Sequence[int]) -> str:
    """Return numbers as a list that ends with 'and'; of many the first and the last."""
    if len(numbers) > SHOWN_PLACES:
        return said("hosts.places", places=len(numbers), first=numbers[0], last=numbers[-1])
    return joined([*map(number, numbers)])
