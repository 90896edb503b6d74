"""Equal hosts where shares of one VM may be on any host: exact for VMs of whole GPUs or one share, for others a bound.
``HostWays`` goes on for these, by a programme over all ways to use the GPUs of a host.
"""

from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from gpuplan.models.placement import packing
from gpuplan.models.placement.fit import Rules
from gpuplan.models.placement.programme import whole_programme
from gpuplan.models.placement.requests import Block, Blocks, Content, Kinds, Room, Used
from gpuplan.models.placement.shared_gpus import SharedGpus, _maximal


class Solution(NamedTuple):
    """A placement in blocks, and its proof."""

    blocks: Blocks
    bound: int
    method: str

    @property
    def hosts(self) -> int:
        """Number of hosts that it takes."""
        return sum(block.times for block in self.blocks)


class HostsApart:
    """The fewest equal hosts for VMs of each kind if shares of one VM may be apart; CPU and memory are ignored."""

    def __init__(self, rules: Rules) -> None:
        self.rules, self.shared = rules, SharedGpus(rules)

    def packed_gpus(self, vms: Kinds, *, search: bool = True) -> dict[int, packing.Packing]:
        """The fewest GPUs of each family, shares of one VM being let apart."""
        return {f: self.shared.packed(f, amounts, search=search) for f, amounts in self.amounts(vms).items()}

    def amounts(self, vms: Kinds) -> dict[int, Counter[int]]:
        """Shares of each profile, or of each amount of memory, in each family that is in use."""
        needs: dict[int, Counter[int]] = {}
        for kind, n in enumerate(vms):
            f = self.rules.family_of[kind]
            if n and f >= 0:
                needs.setdefault(f, Counter())[self.rules.units[kind]] += n * self.rules.requests[kind].shares
        return dict(sorted(needs.items()))

    def apart(self, vms: Kinds, room: Room, *, search: bool = True) -> Solution:
        """The exact answer where all VMs have whole GPUs or one share; for others a bound."""
        packed_gpus = self.packed_gpus(vms, search=search)
        sizes = Counter[int]()
        queues: dict[int, deque[list[Any]]] = defaultdict(deque)
        for f, on_it, n in sorted(self._loads(vms, packed_gpus), key=lambda load: min(load[1])):
            size = self.rules.requests[on_it[0]].gpus if f < 0 else 1
            sizes[size] += n
            queues[size].append([(f, on_it), n])
        packed = packing.pack(sizes, capacity=room.gpus)
        blocks = tuple(
            Block(times, room, ()).joined(content)
            for pattern, often in packed.patterns
            for times, content in _dealt(Counter(pattern), often, queues)
        )
        gap = sum(one.bins - one.bound for one in packed_gpus.values())
        if not gap:
            return Solution(blocks, packed.bound, packed.method)
        # only the bound of the shared GPUs is sure; a gap there is none if it does not reach the hosts
        sizes[1] -= gap
        bound = packing.pack(sizes, capacity=room.gpus).bound
        return Solution(blocks, bound, packed.method if bound == packed.bins else "heuristic")

    def _loads(
        self, vms: Kinds, packed_gpus: Mapping[int, packing.Packing]
    ) -> Iterator[tuple[int, list[int], int]]:
        """Yield loads of whole GPUs, as (family, kinds on it, number)."""
        rules = self.rules
        sharers: dict[int, dict[int, deque[list[Any]]]] = defaultdict(lambda: defaultdict(deque))
        for kind, n in enumerate(vms):
            f = rules.family_of[kind]
            if n and f < 0:
                yield f, [kind], n
            elif n:
                sharers[f][rules.units[kind]].append([kind, n * rules.requests[kind].shares])
        for f, packed in packed_gpus.items():
            for needs, often in self.shared.needs(f, packed):
                for n, on_it in _dealt(needs, often, sharers[f]):
                    yield f, on_it, n


def _dealt(
    needs: Mapping[int, int], often: int, queues: Mapping[int, deque[list[Any]]]
) -> Iterator[tuple[int, list[Any]]]:
    """Yield the items of a pattern used this often, from queues of [thing, how many]; equal neighbours come once, with
    their number."""
    while often:
        # so many times the first thing of each queue suffices; 0: one pattern takes of several things
        times = min(often, *(queues[key][0][1] // amount for key, amount in needs.items()))
        taken: list[Any] = []
        for key, amount in needs.items():
            queue = queues[key]
            left = amount * max(1, times)
            while left:
                thing, n = queue[0]
                used = min(n, left)
                taken += [thing] * (amount if times else used)
                left -= used
                queue[0][1] -= used
                if n == used:
                    queue.popleft()
        yield max(1, times), taken
        often -= max(1, times)


MOST_LOOKED = 15_000
"""Limit on full and partial ways to fill a host."""


class HostWays:
    """The programme over the ways to fill a host, where VMs have several shares of the families ``joint``.

    A pattern has the number of VMs of each item on a host: of these families by size and number of shares, of whole
    GPUs by number; users of one GPU get the rest. It is possible if the host has the fewest GPUs for its shares.
    """

    def __init__(self, hosts: HostsApart, vms: Kinds, room: Room, joint: Sequence[int]) -> None:
        self.hosts, self.rules, self.vms, self.room, self.joint = hosts, hosts.rules, vms, room, joint
        self.others = {f: packed for f, packed in hosts.packed_gpus(vms).items() if f not in joint}
        other_gpus = sum(packed.bins for packed in self.others.values())
        rules = self.rules
        kinds = [k for k, n in enumerate(vms) if n]
        self.items = [
            k
            for k in kinds
            if rules.family_of[k] in joint or (rules.family_of[k] < 0 and rules.requests[k].gpus > 1)
        ]
        """Items of patterns; identical requests are one."""
        self.items.sort(key=lambda k: (-rules.worth[k], k))
        single = sum(vms[k] for k in kinds if rules.family_of[k] < 0 and rules.requests[k].gpus == 1)
        self.needed = [*(vms[k] for k in self.items), single + other_gpus]
        self.units = hosts.shared.units
        self._gpus: dict[tuple[int, Used], int] = {}

    def solved(self) -> Solution | None:
        """The fewest hosts; None if there are too many patterns or nothing was found."""
        patterns = self._patterns()
        if patterns is None:
            return None
        chosen, bound = whole_programme(patterns, self.needed, costs=[1] * len(patterns))
        if chosen is None:
            return None
        # it holds if the GPUs of no other family might be fewer
        sure = all(packed.bins == packed.bound for packed in self.others.values())
        return Solution(self._blocks(patterns, chosen), (bound or 0) if sure else 0, "programme")

    def _patterns(self) -> list[tuple[int, ...]] | None:
        """All patterns, with the GPUs that stay free last; None if there are too many."""
        gpus, items = self.room.gpus, self.items
        patterns: list[tuple[int, ...]] = []
        looked = 0

        def extend(counts: tuple[int, ...], used: tuple[Used, ...], whole: int) -> bool:
            nonlocal looked
            looked += 1
            if looked > MOST_LOOKED:
                return False
            at = len(counts)
            if at == len(items):
                patterns.append((*counts, gpus - self._taken(used, whole)))
                return True
            ways = [(used, whole)]
            while len(ways) <= self.vms[items[at]]:
                more = self._with(items[at], *ways[-1])
                if self._taken(*more) > gpus:
                    break
                ways.append(more)
            last = at == len(items) - 1 and not self.needed[-1]  # of the last as many as go
            return all(
                extend((*counts, n), *ways[n])
                for n in reversed(range(len(ways)))
                if not last or n == len(ways) - 1
            )

        divisible = all(self.hosts.shared.ways(f, gpus) is not None for f in self.joint)
        if not divisible or not extend((), tuple((0,) * len(self.units[f]) for f in self.joint), 0):
            return None
        return _maximal(patterns)

    def _with(self, kind: int, used: tuple[Used, ...], whole: int) -> tuple[tuple[Used, ...], int]:
        """Shares of each family and whole GPUs on a host with one more VM."""
        f, request = self.rules.family_of[kind], self.rules.requests[kind]
        if f < 0:
            return used, whole + request.gpus
        at, column = self.joint.index(f), self.units[f].index(self.rules.units[kind])
        amounts = used[at]
        amounts = (*amounts[:column], amounts[column] + request.shares, *amounts[column + 1 :])
        return (*used[:at], amounts, *used[at + 1 :]), whole

    def _taken(self, used: tuple[Used, ...], whole: int) -> int:
        return whole + sum(self._fewest(f, amounts) for f, amounts in zip(self.joint, used, strict=True))

    def _fewest(self, f: int, amounts: Used) -> int:
        """Return the fewest GPUs of a family for these shares of each size; more than a host has if they do not fit."""
        key = f, amounts
        if key not in self._gpus:
            self._gpus[key] = int(self.hosts.shared.fewest(f, [amounts], most=self.room.gpus)[0])
        return self._gpus[key]

    def _blocks(self, patterns: Sequence[tuple[int, ...]], chosen: Sequence[int]) -> Blocks:
        """Return hosts filled after the patterns, then with users of one GPU."""
        hosts = []
        left = {k: self.vms[k] for k in self.items}
        for pattern, times in zip(patterns, chosen, strict=True):
            for _ in range(times):
                taken = {k: min(n, left[k]) for k, n in zip(self.items, pattern, strict=False)}
                for k, n in taken.items():
                    left[k] -= n
                content = self.hosts.shared.content(taken)
                hosts.append((self.rules.state(self.room, content)[0], content))
        single = tuple(0 if k in left else n for k, n in enumerate(self.vms))
        return self._with_single(hosts, single)

    def _with_single(self, hosts: Iterable[tuple[int, Content]], single: Kinds) -> Blocks:
        """Return hosts of (free GPUs, content), filled up with VMs that take one GPU, or are on one."""
        waiting = deque(
            (part.family, [kind for kind, _ in part.slots])
            for block in self.hosts.apart(single, Room(1)).blocks
            for part in block.content * block.times
        )
        filled = Counter[Block]()
        for free, content in hosts:
            parts = [waiting.popleft() for _ in range(min(free, len(waiting)))]
            filled[Block(1, self.room, content).joined(parts)] += 1
        return tuple(block._replace(times=times) for block, times in filled.items() if block.content)
