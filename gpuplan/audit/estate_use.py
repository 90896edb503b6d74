"""How an estate is used: who is on which GPU, what still fits, which hosts cannot be evacuated, and which VMs would not restart."""

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from gpuplan.audit.estate import (
    PASSTHROUGH,
    VGPU,
    Device,
    Estate,
    EstateCluster,
    EstateGpu,
    EstateHost,
    EstateVm,
    profile_of,
)
from gpuplan.catalog import Catalog
from gpuplan.models.gpu_layouts import gpu_layouts
from gpuplan.models.placement.programme import whole_programme
from gpuplan.plan.sharing import pieces_of
from gpuplan.scenario import from_dict
from gpuplan.units import MIB_PER_GIB

WHOLE, UNKNOWN, NO_GPU = "whole GPU", "unknown", "no GPU"
MIG, MIXED, SAME = "multiInstanceGpu", "mixedSize", "sameSize"
Ways = tuple[tuple[int, ...], ...]
"""Fullest additions to a GPU, each as counts of some profiles."""
NOT_STATED: Mapping[str, float] = {}
"""vCPUs per core of no cluster."""


class State(NamedTuple):
    """What decides on what still fits on a GPU."""

    board: str
    graphics: str | None
    mode: str | None
    on: tuple[str, ...] = ()
    """Profiles on it, one for each vGPU, or ``whole GPU``, in order."""

    def joined(self, name: str) -> "State":
        """Return it with one more profile."""
        return self._replace(on=tuple(sorted((*self.on, name))))


@dataclass(slots=True)
class GpuUse:
    """A GPU with the VMs on it and their profiles in the terms of the catalog; memory is None where it is not known."""

    host: str
    gpu: EstateGpu
    vms: list[tuple[str, str]] = field(default_factory=list)
    used_mb: int = 0
    free_mb: int | None = None
    stranded_mb: int | None = None
    """Free memory that no profile in use on such boards can take."""
    more: dict[str, int] = field(default_factory=dict)
    """Profile in use on such boards -> how many more VMs with one fit."""

    @property
    def state(self) -> State:
        """Return what decides on what still fits on it."""
        on = tuple(sorted(profile for _, profile in self.vms))
        return State(self.gpu.gpu, self.gpu.graphics, self.gpu.vgpu_mode, on)


class Blocked(NamedTuple):
    """A VM that cannot leave a host, or would not restart elsewhere, with its profile and the reason (a key of ``names.csv``)."""

    vm: str
    what: str
    why: str


@dataclass(frozen=True)
class EstateUse:
    """The use of an estate; by host with VMs, those that keep it from being emptied and those that would not restart."""

    gpus: tuple[GpuUse, ...]
    evacuation: Mapping[str, tuple[Blocked, ...]]
    restart: Mapping[str, tuple[Blocked, ...]]
    unseated: tuple[tuple[str, str], ...]
    """(VM, device) that no GPU of its host is known for."""
    packed: bool
    """True if the file does not say on which GPU of a host some vGPU is; these were put close together."""
    per_core: Mapping[str, float]
    """Most vCPUs per core that are counted, by cluster."""


def use_of(estate: Estate, catalog: Catalog, per_core: Mapping[str, float] = NOT_STATED) -> EstateUse:
    """Return the use of an estate by the VMs that are powered on, and the vCPUs per core that some clusters may have.

    vGPUs go by the catalog's rules: one size on a GPU, listed places in mixed-size mode and with MIG. An answer of no
    place is proven by a programme over all places. In clusters with GPUs all VMs count, those without one by memory and
    vCPUs alone: memory is not overcommitted, and of vCPUs a core has no more than stated, else than the busiest host has.
    """
    places = Places(estate, catalog, per_core)
    able = {
        host.cluster
        for host in estate.hosts
        if host.gpus or any(map(places.needs.get, estate.by_host[host.name]))
    }
    busy = [host for host in estate.hosts if host.cluster in able and estate.by_host[host.name]]
    evacuation, restart = ({h.name: places.blocked(h, restart=way) for h in busy} for way in (False, True))
    gpus = tuple(use for uses in places.gpus.values() for use in uses)
    in_use: dict[str, set[str]] = {}
    for use in gpus:
        in_use.setdefault(use.gpu.gpu, set()).update({*use.state.on} - {WHOLE})
    for use in gpus:
        _fill(use, catalog, tuple(sorted(in_use[use.gpu.gpu])))
    return EstateUse(gpus, evacuation, restart, tuple(places.unseated), places.packed, places.per_core)


def _fill(use: GpuUse, catalog: Catalog, wanted: tuple[str, ...]) -> None:
    """Complete the figures of a GPU, with the profiles in use on such boards."""
    board, state = catalog.gpus.get(use.gpu.gpu), use.state
    if board is None or use.gpu.mig:
        return
    if any(name != WHOLE and profile_row(catalog, board.id, name) is None for name in state.on):
        return
    whole = int(float(str(board.value("memory_gib"))) * MIB_PER_GIB)
    use.used_mb = sum(whole if name == WHOLE else _mb(catalog, board.id, name) for name in state.on)
    use.free_mb, use.stranded_mb = max(0, whole - use.used_mb), 0
    if wanted and state.graphics in (None, "sharedDirect"):
        ways, sizes = free_ways(catalog, state, wanted), [_mb(catalog, board.id, name) for name in wanted]
        takes = max((sum(n * mb for n, mb in zip(way, sizes, strict=True)) for way in ways), default=0)
        use.stranded_mb = max(0, use.free_mb - takes)
        use.more = {name: max((way[at] for way in ways), default=0) for at, name in enumerate(wanted)}


@lru_cache(maxsize=4096)
def profile_row(catalog: Catalog, board: str, name: str) -> Any:
    """Profile of a board in the catalog; of another series what is published of its size, None where nothing is."""
    if board not in catalog.gpus:
        return None
    rows = {str(row["profile"]).upper(): row for row in catalog.profiles_of(board)}
    size = re.fullmatch(r"(.+)-(\d+)[ABQ]", name.upper())
    row = rows.get(name.upper()) or rows.get(f"{name.upper().rstrip('ABCEMQ')}C")
    if row is None and size and any(other.startswith(f"{size[1]}-") for other in rows):
        memory, mb = catalog.gpus[board].value("memory_gib"), MIB_PER_GIB * int(size[2])
        places = [each for each in catalog.rows("vgpu_placements") if each["region_gb"] == memory]
        most = max((each["max_per_gpu"] for each in places if each["frame_buffer_mb"] == mb), default=0)
        shape = {"profile": name, "backing": "timesliced", "frame_buffer_mb": mb, "max_per_gpu": most}
        return shape if most else None
    return row


def _mb(catalog: Catalog, board: str, name: str) -> int:
    row = profile_row(catalog, board, name)
    return int(row["frame_buffer_mb"]) if row else 0


@lru_cache(maxsize=65_536)
def free_ways(catalog: Catalog, state: State, wanted: tuple[str, ...]) -> Ways:
    """All fullest ways to add vGPUs, or a VM with the whole GPU; none of what may not join those on it.

    Parameters:
        catalog: The catalog with the profiles and their places.
        state: The GPU; its mode follows from what is on it where vSphere does not say; an empty one takes any.
        wanted: Profiles that may be added; ``whole GPU`` alone, or with a board, is a GPU for one VM.
    """
    ways = _whole(state, wanted)
    there = [row for name in state.on if (row := profile_row(catalog, state.board, name))]
    if state.graphics not in (None, "sharedDirect") or len(there) < len(state.on):
        return tuple(ways)
    rows = {at: row for at, name in enumerate(wanted) if (row := profile_row(catalog, state.board, name))}
    for mode in _modes(state, there):
        if mode == SAME:
            ways |= _by_size(there, rows, len(wanted))
        else:
            ways |= _by_place(catalog, state.board, mode, there, rows, len(wanted))
    return tuple(sorted(ways))


def _whole(state: State, wanted: Sequence[str]) -> set[tuple[int, ...]]:
    """Return the ways to give an empty GPU to one VM."""
    able = not state.on and state.graphics in (None, "direct")
    names = (WHOLE, f"{WHOLE} {state.board}") if able else ()
    return {_only(at, 1, len(wanted)) for at, name in enumerate(wanted) if name in names}


def _modes(state: State, there: Sequence[Any]) -> tuple[str, ...]:
    """Return the mode of a GPU, from the profiles on it where vSphere does not say; an empty one may have either."""
    if state.mode in (MIG, MIXED, SAME):
        return (str(state.mode),)
    if not there:
        return (SAME, MIG)
    if any(row["backing"] == "mig" for row in there):
        return (MIG,)
    return (MIXED if len({row["frame_buffer_mb"] for row in there}) > 1 else SAME,)


def _by_size(there: Sequence[Any], rows: Mapping[int, Any], of: int) -> set[tuple[int, ...]]:
    """Return the ways where all vGPUs of a GPU have one size."""
    sizes = {row["frame_buffer_mb"] for row in there}
    alike = {at: row for at, row in rows.items() if sizes <= {row["frame_buffer_mb"]}}
    left = {
        at: row["max_per_gpu"] - len(there) for at, row in alike.items() if row["backing"] == "timesliced"
    }
    return {_only(at, n, of) for at, n in left.items() if n > 0}


def _by_place(
    catalog: Catalog, board: str, mode: str, there: Sequence[Any], rows: Mapping[int, Any], of: int
) -> set[tuple[int, ...]]:
    """Return the same where places are listed, from the fullest layouts of a GPU with what is on it."""
    backing = "mig" if mode == MIG else "timesliced"
    counts = Counter(str(row["profile"]) for row in there)
    names = {at: str(row["profile"]) for at, row in rows.items() if row["backing"] == backing}
    design = from_dict({"hardware": {"gpu": board}, "platform": {"vgpu_sizes": "mixed"}})
    if {*counts, *names.values()} - {row["profile"] for row in catalog.profiles_of(board)}:
        return set()  # no places are published for such profiles of this board
    pieces, region, compute = pieces_of(design, catalog, sorted({*counts, *names.values()}))
    sizes = {piece.name: (piece.size, piece.compute) for piece in pieces}
    # instances that run may stand in the way of larger ones
    least = min((sizes.get(name, (0, 0)) for name in counts if mode == MIG), default=(math.inf, 0))
    able = {at: name for at, name in names.items() if sizes.get(name, (0, 0)) <= least}
    ways = set()
    for layout in gpu_layouts(pieces, region=region, compute_slices=compute, in_order=mode == MIG):
        left = Counter(dict(zip(sizes, layout, strict=True)))
        if counts <= left:
            left.subtract(counts)
            ways.add(tuple(left[able.get(at, "")] for at in range(of)))
    return ways - {(0,) * of}


def _only(at: int, n: int, of: int) -> tuple[int, ...]:
    return tuple(n if each == at else 0 for each in range(of))


Kind = tuple[tuple[tuple[str, int], ...], tuple[int, ...]]
"""Profiles of a VM, each with how many, and its memory in GiB and vCPUs, as far as they count."""
Room = tuple[list[State], tuple[int, ...]]
"""What a host has: its GPUs, and free memory in GiB and vCPUs, as far as they count."""
REASONS = ("slot", "memory", "cpu")
"""Why a VM finds no place where nothing but GPUs counts, memory too, and vCPUs too."""
PRIORITIES = {"highest": 0, "high": 1, "medium": 2, "low": 3, "lowest": 4}


class Places:
    """GPUs of each host with their VMs, and the question whether some VMs find places on other hosts."""

    def __init__(
        self,
        estate: Estate,
        catalog: Catalog,
        per_core: Mapping[str, float] = NOT_STATED,
        any_board: Set[EstateVm] = frozenset(),
    ) -> None:
        """Take vCPUs per core by cluster, else as many whole ones as its busiest host has, and VMs that may have any board."""
        self.estate, self.catalog, self.any_board = estate, catalog, any_board
        self.gpus = {host.name: [GpuUse(host.name, gpu) for gpu in host.gpus or ()] for host in estate.hosts}
        self.needs: dict[EstateVm, Counter[str]] = {}
        """VM -> profiles, and boards that it has whole."""
        self.unseated: list[tuple[str, str]] = []
        self.packed = False
        self._known: dict[tuple[str, tuple[EstateVm, ...]], dict[EstateVm, str]] = {}
        self.clusters = {cluster.name: cluster for cluster in estate.clusters}
        taken = {name: _sum(map(_size, vms)) for name, vms in estate.by_host.items()}
        self.per_core = dict[str, float]()
        for host in estate.hosts:
            self._seat(host)
            if host.cores:
                busiest = max(
                    self.per_core.get(host.cluster or "", 1), math.ceil(taken[host.name][1] / host.cores)
                )
                self.per_core[host.cluster or ""] = per_core.get(host.cluster or "", busiest)
        self.free = {host.name: self._free(host, *taken[host.name]) for host in estate.hosts}

    def _free(self, host: EstateHost, memory: int, vcpus: int) -> tuple[float, float]:
        """Return the memory and the vCPUs that are free beside those taken; infinite where the file does not say."""
        gib = math.inf if host.memory_gib is None else int(host.memory_gib)
        most = math.floor(host.cores * self.per_core[host.cluster or ""]) if host.cores else math.inf
        return gib - memory, most - vcpus

    def _seat(self, host: EstateHost) -> None:
        """Put the VMs of a host on its GPUs: where the file says, and the others close together."""
        uses, waiting = self.gpus[host.name], list[tuple[int, str, str, EstateVm]]()
        at = {use.gpu.address: use for use in uses if use.gpu.address}
        for vm in self.estate.by_host[host.name]:
            self.needs[vm] = Counter()
            for device in vm.devices:
                name, profile = device_name(self.catalog, device), profile_of(self.catalog, device)
                use = at.get(device.address)
                if use and (name != WHOLE or not use.vms):
                    self._put(use, vm, name)
                else:
                    waiting.append((-(profile.memory_gb if profile else 10_000), name, vm.name, vm))
        for _, name, _, vm in sorted(waiting, key=lambda one: one[:3]):
            able = [use for use in uses if self._fits(use.state, name)]
            if able:
                self._put(max(able, key=lambda use: bool(use.vms)), vm, name)
                self.packed |= len(uses) > 1
            else:
                self.unseated.append((vm.name, name))
                self.needs[vm][name] += 1

    def _put(self, use: GpuUse, vm: EstateVm, name: str) -> None:
        use.vms.append((vm.name, name))
        one_board = name == WHOLE and vm not in self.any_board
        self.needs[vm][f"{name} {use.gpu.gpu}" if one_board else name] += 1

    def _fits(self, state: State, name: str) -> bool:
        return any(way[0] for way in free_ways(self.catalog, state, (name,)))

    def blocked(self, host: EstateHost, *, restart: bool) -> tuple[Blocked, ...]:
        """Return the VMs of a host that find no place on the other hosts of its cluster, or may not leave."""
        cluster, vms = self.clusters.get(host.cluster or ""), self.estate.by_host[host.name]
        whys = {vm: _not_restarted(vm, cluster) if restart else not_moved(vm) for vm in vms}
        whys |= {vm: UNKNOWN for vm, why in whys.items() if not why and self._is_unknown(vm)}
        whys |= self._short(host, tuple(vm for vm, why in whys.items() if not why))
        return tuple(sorted(Blocked(vm.name, self._words(vm), why) for vm, why in whys.items() if why))

    def _is_unknown(self, vm: EstateVm) -> bool:
        profiles = (profile_of(self.catalog, device) for device in vm.devices if device.kind == VGPU)
        return any(profile is None or not profile.gpus for profile in profiles)

    def _short(self, host: EstateHost, moving: tuple[EstateVm, ...]) -> dict[EstateVm, str]:
        """Return the VMs of a host that find no place on others, with what is short; of alike ones as many as it is short for."""
        if (key := (host.name, moving)) not in self._known:
            others = [
                o for o in self.estate.hosts if o.cluster == host.cluster and o is not host and o.takes_vms
            ]
            left, whys = self.unplaced(moving, others), dict[EstateVm, str]()
            for limits, why in enumerate(REASONS if left else ()):
                short = self.unplaced(moving, others, limits) if why != REASONS[-1] else left
                kinds = {self._words(vm) for vm in short}
                rest = [vm for vm in left if vm not in whys and (limits or vm.devices)]
                rest.sort(key=lambda vm: self._words(vm) not in kinds)
                whys |= dict.fromkeys(rest[: max(0, len(short) - len(whys))], why)
            self._known[key] = whys
        return self._known[key]

    def _words(self, vm: EstateVm) -> str:
        needs = sorted(self.needs[vm].items())
        return " + ".join(f"{n} x {name}" if n > 1 else name for name, n in needs) or NO_GPU

    def unplaced(self, vms: Sequence[EstateVm], on: Sequence[EstateHost], limits: int = 2) -> list[EstateVm]:
        """Return the fewest VMs that find no place on hosts; of alike ones the last in priority.

        ``limits`` is 0 where only GPUs count, 1 with memory, 2 with vCPUs, too.
        """
        kinds: dict[Kind, list[EstateVm]] = {}
        for vm in sorted(vms, key=lambda vm: (PRIORITIES.get(vm.restart or "", 2), vm.name)):
            kinds.setdefault((tuple(sorted(self.needs[vm].items())), _size(vm)[:limits]), []).append(vm)
        counts, most = {kind: len(of) for kind, of in kinds.items()}, _sum(map(_size, vms))[:limits]
        hosts = list[Room]()
        for host in on:
            free = (int(max(0, min(pair))) for pair in zip(most, self.free[host.name], strict=False))
            hosts.append(([use.state for use in self.gpus[host.name]], tuple(free)))
        left = self._greedy(counts, sorted(hosts, key=lambda room: room[1]))
        left = self._fewest(counts, hosts, left) if sum(left) else left
        return [vm for n, of in zip(left, kinds.values(), strict=True) for vm in of[len(of) - n :]]

    def _fewest(self, kinds: Mapping[Kind, int], hosts: Sequence[Room], left: list[int]) -> list[int]:
        """Return how many of each kind find no place, by a programme where all hosts as one would take more."""
        able = [(room, [at for at, kind in enumerate(kinds) if self._takes(room, kind)]) for room in hosts]
        able = [(room, taken) for room, taken in able if taken]
        if able:
            states, amounts = zip(*(room for room, _ in able), strict=True)
            at_best = self._programme(kinds, [(([*chain(*states)], _sum(amounts)), range(len(kinds)))])
            left = self._programme(kinds, able) if sum(at_best) < sum(left) else left
        return left

    def _greedy(self, kinds: Mapping[Kind, int], hosts: Sequence[Room]) -> list[int]:
        """Return how many of each kind find no place, those of most GPUs and memory first, each on the first host that takes it."""
        now, left = list(hosts), dict(kinds)
        for kind in sorted(
            kinds, key=lambda kind: (-sum(n for _, n in kind[0]), *(-n for n in kind[1]), kind)
        ):
            at = 0
            while left[kind] and at < len(now):
                after = self._takes(now[at], kind)
                if after is None:
                    at += 1
                else:
                    now[at], left[kind] = after, left[kind] - 1
        return list(left.values())

    def _takes(self, room: Room, kind: Kind) -> Room | None:
        """Return what a host has after one more VM, which takes shared GPUs first; None if it finds no place."""
        after, free = [*room[0]], tuple(n - need for n, need in zip(room[1], kind[1], strict=True))
        if min(free, default=0) < 0:
            return None
        for name in (name for name, n in kind[0] for _ in range(n)):
            able = [at for at, state in enumerate(after) if self._fits(state, name)]
            if not able:
                return None
            at = max(able, key=lambda at: len(after[at].on))
            after[at] = after[at].joined(name)
        return after, free

    def _programme(self, kinds: Mapping[Kind, int], hosts: Sequence[tuple[Room, Sequence[int]]]) -> list[int]:
        """Return how many of each kind find no place at best: by host, VMs of the kinds that it takes and ways to fill its GPUs."""
        names = tuple(sorted({name for needs, _ in kinds for name, _ in needs}))
        needed, columns, needs_of = list(kinds.values()), [{at: 1} for at in range(len(kinds))], [*kinds]
        for (states, free), able in hosts:
            first = len(needed)
            amounts = first + len(names)
            needed += [*[0] * len(names), *(-n for n in free)]
            for at, (needs, size) in ((at, needs_of[at]) for at in able):
                taken = {first + names.index(name): -n for name, n in needs}
                columns.append({at: 1, **taken, **{amounts + i: -n for i, n in enumerate(size)}})
            for state, n in Counter(states).items():
                for way in free_ways(self.catalog, state, names):
                    columns.append({len(needed): -1, **{first + i: amount for i, amount in enumerate(way)}})
                needed.append(-n)
        rows = np.zeros((len(columns), len(needed)), dtype=int)
        for at, column in enumerate(columns):
            rows[at, [*column]] = [*column.values()]
        costs = [1] * len(kinds) + [0] * (len(columns) - len(kinds))
        chosen, _ = whole_programme(rows.tolist(), needed, costs=costs)
        return list(chosen[: len(kinds)]) if chosen else list(kinds.values())


def device_name(catalog: Catalog, device: Device) -> str:
    """Return the profile of a device in the terms of the catalog, else as printed; or ``whole GPU``."""
    profile = profile_of(catalog, device)
    return WHOLE if device.kind == PASSTHROUGH else profile.name if profile else device.profile or UNKNOWN


def _size(vm: EstateVm) -> tuple[int, int]:
    """Memory of a VM in whole GiB, and its vCPUs; 0 where the file does not say."""
    return math.ceil(vm.memory_gib or 0), vm.vcpus or 0


def _sum(amounts: Iterable[tuple[int, ...]]) -> tuple[int, ...]:
    return tuple(map(sum, zip(*amounts, strict=True))) or (0, 0)


def not_moved(vm: EstateVm) -> str:
    """Why vMotion does not take a VM: a key, empty if it does."""
    passed = any(device.kind == PASSTHROUGH and device.backing != "dvx" for device in vm.devices)
    return "passthrough" if passed else "no vmotion" if vm.migrates is False else ""


def _not_restarted(vm: EstateVm, cluster: EstateCluster | None) -> str:
    """Why vSphere HA does not restart a VM wherever there is room: a key, empty if it does."""
    if cluster is not None and cluster.ha is False:
        return "no ha"
    fixed = any(device.backing == "fixed" for device in vm.devices)
    return "not restarted" if vm.restart == "disabled" else "fixed" if fixed else ""
