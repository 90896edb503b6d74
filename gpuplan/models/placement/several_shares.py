"""Equal hosts for VMs with several shares: a programme over all ways to use the GPUs of a host."""

from collections import Counter, deque
from collections.abc import Iterable, Sequence

from gpuplan.models.placement.hosts_apart import HostsApart, Solution
from gpuplan.models.placement.programme import whole_programme
from gpuplan.models.placement.requests import Block, Blocks, Content, Kinds, Room, Used
from gpuplan.models.placement.shared_gpus import maximal

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
        return maximal(patterns)

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
        """GPUs of a host that are taken."""
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
