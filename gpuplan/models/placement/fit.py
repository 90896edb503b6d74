"""Filling: VMs that fit on one GPU and on one host.

``Family``, ``Request`` and ``Room`` are the question; ``Rules`` says what fits on one GPU (``more``) and on one host
(``fit``), and places it (``put``). ``greedy`` fills many hosts with that.
"""

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache

from gpuplan.models.placement.requests import (
    Content,
    Family,
    Fit,
    Kinds,
    Part,
    Request,
    Room,
    State,
    Used,
    vms_in,
)
from gpuplan.units import whole_from_zero


class Rules:
    """Rules of fit: the requests as numbered kinds, their families, and answers for one GPU and one host.

    Answers are kept, as one plan asks the same often.
    """

    def __init__(self, requests: Sequence[Request]) -> None:
        self.requests = tuple(requests)
        self.kinds = {request.group: k for k, request in enumerate(self.requests)}
        if len(self.kinds) < len(self.requests):
            raise ValueError("a group has one request")
        for r in self.requests:
            whole_from_zero(vms=r.vms, gpus=r.gpus, weight=r.weight, shares=r.shares)
            whole_from_zero(vcpus=r.vcpus, memory_gib=r.memory_gib)
        self.vms = tuple(r.vms for r in self.requests)
        self.families = list(dict.fromkeys(r.family for r in self.requests if r.family is not None))
        self.family_of = [-1 if r.family is None else self.families.index(r.family) for r in self.requests]
        """Number of the family of each kind; -1: whole GPUs."""
        asked = {(r.family, r.profile) for r in self.requests}
        self.profiles = [
            tuple(p for p in family.profiles if (family, p) in asked) for family in self.families
        ]
        """Profiles of each family that a VM has."""
        self.layouts = list(map(_layouts_of, self.families, self.profiles))
        """Layouts of each family, of these profiles only."""
        every = range(len(self.requests))
        self.units = list(map(self._unit, every))
        """Memory of a share, or number of the profile, of each kind."""
        self._more: dict[tuple[int, Used, int], int] = {}
        self._has_room: dict[tuple[int, Used], bool] = {}
        self.per_gpu = list(map(self._per_gpu, every))
        """Most shares of each kind on one GPU; 0: whole GPUs."""
        self.worth = list(map(self._worth, every))
        """GPUs' worth of one VM of each kind."""
        self.largest_first = sorted(every, key=lambda k: (-self.worth[k], self.family_of[k] >= 0, k))
        self._fits: dict[tuple[State, int], Fit | None] = {}
        self._later: dict[tuple[State, int], Fit | None] = {}

    def _unit(self, kind: int) -> int:
        request, f = self.requests[kind], self.family_of[kind]
        if f < 0:
            return 0
        if self.families[f].capacity:
            return request.weight
        if request.profile not in self.profiles[f]:
            raise ValueError(f"{request.group}: {self.families[f].name} has no profile {request.profile!r}")
        return self.profiles[f].index(request.profile)

    def _per_gpu(self, kind: int) -> int:
        request, f = self.requests[kind], self.family_of[kind]
        if f < 0:
            if request.gpus < 1 and not request.vcpus and not request.memory_gib:
                raise ValueError(f"{request.group}: no GPUs, no shares, no vCPUs and no memory are asked for")
            return 0
        most = self.more(f, self.unused(f), self.units[kind])
        if most < 1 or request.shares < 1:
            raise ValueError(f"{request.group}: a share does not fit on one GPU")
        return most

    def _worth(self, kind: int) -> Fraction:
        request, f = self.requests[kind], self.family_of[kind]
        if f < 0:
            return Fraction(request.gpus)
        if self.families[f].capacity:
            return Fraction(request.weight * request.shares, self.families[f].capacity)
        return Fraction(request.shares, self.per_gpu[kind])

    # ---- one GPU

    def unused(self, family: int) -> Used:
        """Use of a GPU without a VM of the family."""
        return (0,) * (len(self.profiles[family]) or 1)

    def more(self, family: int, used: Used, unit: int) -> int:
        """Count the further shares of a profile (or of so much memory) that fit on a GPU."""
        key = (family, used, unit)
        count = self._more.get(key)
        if count is None:
            capacity = self.families[family].capacity
            if capacity:
                count = (capacity - used[0]) // unit if unit > 0 else 0
            else:
                count = max(
                    (
                        layout[unit] - used[unit]
                        for layout in self.layouts[family]
                        if all(a >= b for a, b in zip(layout, used, strict=True))
                    ),
                    default=0,
                )
            self._more[key] = count
        return count

    def added(self, family: int, used: Used, unit: int, shares: int) -> Used:
        """Use of a GPU after so many more shares."""
        if self.families[family].capacity:
            return (used[0] + unit * shares,)
        return (*used[:unit], used[unit] + shares, *used[unit + 1 :])

    def used_by(self, family: int, kinds: Iterable[int]) -> Used:
        """Use of a GPU by shares of these kinds."""
        used = self.unused(family)
        for kind, shares in Counter(kinds).items():
            used = self.added(family, used, self.units[kind], shares)
        return used

    def has_room(self, family: int, used: Used) -> bool:
        """True if a share of any kind still fits on a GPU."""
        key = family, used
        if key not in self._has_room:
            self._has_room[key] = any(
                f == family and self.more(family, used, unit) > 0
                for f, unit in zip(self.family_of, self.units, strict=True)
            )
        return self._has_room[key]

    # ---- one host

    def counted(self, room: Room) -> Room:
        """A host without the limits of what no request counts."""
        whole_from_zero(gpus=room.gpus, vcpus=room.vcpus, memory_gib=room.memory_gib)
        return Room(
            room.gpus,
            room.vcpus if any(r.vcpus for r in self.requests) else 0,
            room.memory_gib if any(r.memory_gib for r in self.requests) else 0,
            room.board if any(r.boards for r in self.requests) else "",
        )

    def state(self, room: Room, content: Content = ()) -> State:
        """Room left on a host with this content."""
        free, vcpus, memory = room.gpus, room.vcpus or -1, room.memory_gib or -1
        opens = []
        for family, slots in content:
            kinds = [kind for kind, _ in slots]
            free -= self.requests[kinds[0]].gpus if family < 0 else 1
            if family >= 0:
                used = self.used_by(family, kinds)
                if self.has_room(family, used):
                    opens.append((family, used))
        for kind, n in vms_in(content).items():
            vcpus -= n * self.requests[kind].vcpus if room.vcpus else 0
            memory -= n * self.requests[kind].memory_gib if room.memory_gib else 0
        return free, vcpus, memory, tuple(sorted(opens)), room.board

    def offers(self, room: Room, content: Content) -> bool:
        """True if a host offers enough for this content."""
        left = self.state(room, content)[:3]
        return (
            left[0] >= 0
            and all(not most or rest >= 0 for most, rest in zip(room.sizes, left, strict=True))
            and all(room.takes(self.requests[slots[0][0]]) for _, slots in content)
        )

    def fit(self, state: State, kind: int) -> Fit | None:
        """One more VM of a kind on a host: onto shared GPUs with least room first, then onto free GPUs."""
        key = (state, kind)
        try:
            return self._fits[key]
        except KeyError:
            result = self._fits[key] = self.fit_once(state, kind)
            return result

    def fit_once(self, state: State, kind: int) -> Fit | None:
        """The same, not kept: for states that are not met again."""
        return self._fit(state, kind, range(len(self.units)))

    def fit_later(self, state: State, kind: int) -> Fit | None:
        """The same on a host that runs: where the order counts, it joins no GPU that a smaller share is on."""
        family = self.family_of[kind]
        if family < 0 or not self.families[family].in_order:
            return self.fit(state, kind)
        key = (state, kind)
        if key not in self._later:
            self._later[key] = self._fit(state, kind, self._at_least(family, self.units[kind]))
        return self._later[key]

    def _at_least(self, family: int, unit: int) -> Collection[int]:
        """Profiles of a family that are sure to be placed before this one, and itself."""
        profiles, sizes = self.families[family].profiles, self.families[family].sizes
        size = dict(zip(profiles, sizes, strict=True)) if sizes else {}
        here = [size.get(profile, 0) for profile in self.profiles[family]]
        return [unit, *(other for other, size in enumerate(here) if size > here[unit])]

    def _fit(self, state: State, kind: int, beside: Collection[int]) -> Fit | None:
        free, *beside_gpus, opens, board = state
        request, family = self.requests[kind], self.family_of[kind]
        if board and request.boards and board not in request.boards:
            return None
        vcpus, memory = map(_less, beside_gpus, (request.vcpus, request.memory_gib))
        if -2 in (vcpus, memory):
            return None
        if family < 0:
            if request.gpus > free:
                return None
            return Fit(request.gpus, (free - request.gpus, vcpus, memory, opens, board), (), ())
        joins, left = self._joins(opens, kind, beside)
        most = self.per_gpu[kind]
        new = tuple(min(most, left - at) for at in range(0, left, most))
        if len(new) > free:
            return None
        after = list(opens)
        for used, _ in joins:
            after.remove((family, used))
        joined = [*joins, *((self.unused(family), shares) for shares in new)]
        after += [(family, self.added(family, used, self.units[kind], shares)) for used, shares in joined]
        kept = sorted((f, used) for f, used in after if f != family or self.has_room(f, used))
        return Fit(len(new), (free - len(new), vcpus, memory, tuple(kept), board), tuple(joins), new)

    def _joins(
        self, opens: Sequence[tuple[int, Used]], kind: int, beside: Collection[int]
    ) -> tuple[list[tuple[Used, int]], int]:
        """((used before, shares) for each shared GPU that a VM joins, shares for which it needs others)."""
        family, unit, left = self.family_of[kind], self.units[kind], self.requests[kind].shares
        joins = []
        for more, used in sorted((self.more(family, used, unit), used) for f, used in opens if f == family):
            if more > 0 and left and all(other in beside for other, n in enumerate(used) if n):
                joins.append((used, min(more, left)))
                left -= min(more, left)
        return joins, left

    def put(self, content: Content, kind: int, fit: Fit) -> Content:
        """The content of a host with one more VM."""
        family = self.family_of[kind]
        one = (kind, vms_in(content)[kind])
        if family < 0:
            return (*content, Part(-1, (one,)))
        after = list(content)
        for used, shares in fit.joins:
            at = next(
                i
                for i, part in enumerate(after)
                if part.family == family
                and one not in part.slots
                and self.used_by(family, (k for k, _ in part.slots)) == used
            )
            after[at] = Part(family, after[at].slots + (one,) * shares)
        return (*after, *(Part(family, (one,) * shares) for shares in fit.opens))

    def filled(self, room: Room, vms: Mapping[int, int]) -> Content:
        """A host with so many VMs of each kind, in this order, as far as they fit."""
        state, content = self.state(room), Content()
        for kind, n in vms.items():
            for _ in range(n):
                fit = self.fit(state, kind)
                if fit is None:
                    break
                content, state = self.put(content, kind, fit), fit.state
        return content

    def most_on(self, room: Room, kind: int) -> int:
        """Count the VMs of one kind that fit on an empty host."""
        request = self.requests[kind]
        if not room.takes(request):
            return 0
        if self.family_of[kind] < 0:
            most = room.gpus // request.gpus if request.gpus else request.vms
        else:
            most = room.gpus * self.per_gpu[kind] // request.shares
        if room.vcpus and request.vcpus:
            most = min(most, room.vcpus // request.vcpus)
        if room.memory_gib and request.memory_gib:
            most = min(most, room.memory_gib // request.memory_gib)
        return most

    def unfit(self, vms: Kinds, rooms: Iterable[Room]) -> list[int]:
        """Kinds of which no VM fits on any of these hosts when they are empty."""
        every = set(rooms)
        return [k for k, n in enumerate(vms) if n and not any(self.most_on(one, k) for one in every)]

    def check(self, vms: Kinds, rooms: Iterable[Room]) -> None:
        """Refuse a VM that fits on none of these hosts when they are empty."""
        every = list(rooms)
        for kind in self.unfit(vms, every):
            raise ValueError(f"{self.requests[kind].group}: {self._lack(kind, every)}")

    def _lack(self, kind: int, rooms: Sequence[Room]) -> str:
        request = self.requests[kind]
        gpus = request.gpus if self.family_of[kind] < 0 else -(-request.shares // self.per_gpu[kind])
        for name, need, offers in (
            ("GPUs", gpus, [room.gpus for room in rooms]),
            ("vCPUs", request.vcpus, [room.vcpus or math.inf for room in rooms]),
            ("GiB of memory", request.memory_gib, [room.memory_gib or math.inf for room in rooms]),
        ):
            largest = max(offers, default=0)
            if need > largest:
                return f"a VM needs {need} {name} in one host, and the largest host has {largest}"
        if not any(room.takes(request) for room in rooms):
            return f"its VMs run on {', '.join(request.boards)}, which no host has"
        return (
            f"no host has {gpus} GPUs, {request.vcpus} vCPUs and {request.memory_gib} GiB of memory for a VM"
        )


def _less(there: int, needed: int) -> int:
    """What is left of a resource; -1 where it is not limited, -2 where it is too little."""
    return -1 if there < 0 else -2 if there < needed else there - needed


@lru_cache(
    maxsize=128
)  # the years of growth and every change ask for the same: a third of a millisecond each
def _layouts_of(family: Family, profiles: tuple[str, ...]) -> tuple[tuple[int, ...], ...]:
    columns = [family.profiles.index(p) for p in profiles]
    return tuple(sorted({tuple(layout[c] for c in columns) for layout in family.layouts}))
