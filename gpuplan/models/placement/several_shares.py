"""Equal hosts for VMs with several shares: programmes over all ways to use the GPUs of a host."""

import itertools
import math
from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from gpuplan.models.placement import programme
from gpuplan.models.placement.hosts_apart import HostsApart, Solution
from gpuplan.models.placement.requests import Block, Blocks, Content, Kinds, Room, State, Used
from gpuplan.models.placement.shared_gpus import maximal

MOST_LOOKED = 15_000
"""Limit on full and partial ways to fill a host, where families of several sizes have VMs with several shares."""


class Waiting(deque[list[int]]):
    """VMs that wait for a place, as [kind, how many]."""

    def next(self) -> int:
        """The kind of the next VM, which leaves the queue."""
        self[0][1] -= 1
        return self[0][0] if self[0][1] else self.popleft()[0]


class Ways:
    """A programme over the ways to fill a host, where VMs have several shares of the families ``joint``."""

    def __init__(self, hosts: HostsApart, vms: Kinds, room: Room, joint: Sequence[int]) -> None:
        self.hosts, self.rules, self.vms, self.room, self.joint = hosts, hosts.rules, vms, room, joint
        self.others = {f: packed for f, packed in hosts.packed_gpus(vms).items() if f not in joint}
        self.other_gpus = sum(packed.bins for packed in self.others.values())

    def _bound(self, proven: int | None) -> int:
        """The bound of a programme, which holds if the GPUs of no other family might be fewer."""
        sure = all(packed.bins == packed.bound for packed in self.others.values())
        return proven or 0 if sure else 0

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


class _Pattern(NamedTuple):
    """A way to use a host: GPUs of each family, and VMs of each item."""

    given: tuple[int, ...]
    vms: tuple[int, ...]


class HostWays(Ways):
    """The programme over host patterns for VMs with several shares, of families with one size of share each.

    A pattern gives GPUs to each such family and fills them with VMs that have several shares, and fills the other GPUs
    with VMs of two whole GPUs and more, as full as it goes. The rest is for VMs with one share and for users of one
    GPU. Only full patterns are needed: a VM too many may give its place to such single ones.
    """

    def __init__(self, hosts: HostsApart, vms: Kinds, room: Room, joint: Sequence[int]) -> None:
        super().__init__(hosts, vms, room, joint)
        counts = Counter[tuple[int, int]]()
        self.queues: dict[tuple[int, int], Waiting] = defaultdict(Waiting)
        self.most: dict[int, int] = {}
        """Shares on one GPU of each such family."""
        for k, n in enumerate(vms):
            f, request = self.rules.family_of[k], self.rules.requests[k]
            if n and (f < 0 or f in joint):
                item = (f, request.gpus if f < 0 else request.shares)
                counts[item] += n
                self.queues[item].append([k, n])
                self.most[f] = self.rules.per_gpu[k]
        self.sizes = {
            f: sorted((size for of, size in counts if of == f and size > 1), reverse=True)
            for f in (-1, *joint)
        }
        self.items = [(f, size) for f, sizes in self.sizes.items() for size in sizes]
        """Items of patterns, as (-1, whole GPUs) and (family, shares), largest first."""
        self.needed = [
            *(counts[item] for item in self.items),
            *(counts[f, 1] for f in joint),
            counts[-1, 1] + self.other_gpus,
        ]
        """Rows: VMs of each item, VMs with one share of each family, users of one GPU."""

    def solved(self) -> Solution | None:
        """The fewest hosts; None if there are too many patterns or no answer in time."""
        patterns = self._patterns()
        if patterns is None:
            return None
        columns = [self._column(pattern) for pattern in patterns]
        # Columns that cost no host: a VM gives its place to as many single ones, a free GPU is taken by a family.
        ones = {f: len(self.items) + i for i, f in enumerate((*self.joint, -1))}  # row of single ones
        swaps = [
            *({row: -1, ones[f]: size} for row, (f, size) in enumerate(self.items)),
            *({ones[f]: self.most[f], ones[-1]: -1} for f in self.joint),
        ]
        rows = range(len(self.needed))
        chosen, bound = programme.whole_programme(
            [*columns, *(tuple(swap.get(row, 0) for row in rows) for swap in swaps)],
            self.needed,
            costs=[1] * len(columns) + [0] * len(swaps),
        )
        if chosen is None:
            return None
        return Solution(self._blocks(patterns, chosen[: len(patterns)]), self._bound(bound), "programme")

    def _column(self, pattern: _Pattern) -> tuple[int, ...]:
        """Return the contribution to each row of a host filled like that."""
        taken = Counter[int]()
        for (f, size), n in zip(self.items, pattern.vms, strict=True):
            taken[f] += size * n
        rests = [self.most[f] * g - taken[f] for f, g in zip(self.joint, pattern.given, strict=True)]
        return (*pattern.vms, *rests, self.room.gpus - sum(pattern.given) - taken[-1])

    def _patterns(self) -> list[_Pattern] | None:
        """All patterns; None if there are too many."""
        gpus, ways = self.room.gpus, self._ways()
        if ways is None:
            return None
        patterns: list[_Pattern] = []
        for given_to in itertools.product(range(gpus + 1), repeat=len(self.joint)):
            rest = gpus - sum(given_to)
            if rest < 0:
                continue
            options = [ways[-1, rest], *(ways[f, g] for f, g in zip(self.joint, given_to, strict=True))]
            if len(patterns) + math.prod(map(len, options)) > programme.MAX_PATTERNS:
                return None
            patterns += [
                _Pattern(given_to, tuple(itertools.chain(*choice))) for choice in itertools.product(*options)
            ]
        return patterns

    def _ways(self) -> dict[tuple[int, int], list[tuple[int, ...]]] | None:
        """All full ways to use each number of GPUs that a family is given; None if there are too many."""
        ways = {}
        for f, sizes in self.sizes.items():
            needed = self.needed[: len(self.items)]
            counts = [n for (of, _), n in zip(self.items, needed, strict=True) if of == f]
            for given in range(self.room.gpus + 1):
                capacity = given if f < 0 else given * self.most[f]
                fills = programme.maximal_patterns(sizes, counts=counts, capacity=capacity)
                if fills is None:
                    return None
                # GPUs are given to a family for at least one VM with several shares
                ways[f, given] = [way for way in fills if any(way)] if f >= 0 and given else fills
        return ways

    def _blocks(self, patterns: Sequence[_Pattern], chosen: Sequence[int]) -> Blocks:
        """Return hosts filled after the patterns; then with VMs that have one share, then with users of one GPU."""
        cache: dict[tuple[int, ...], tuple[State, Content]] = {}
        hosts = [
            self._filled(pattern, cache)
            for pattern, times in zip(patterns, chosen, strict=True)
            for _ in range(times)
        ]
        more = [self._with_shares(*host) for host in hosts]
        single = [n if self.rules.family_of[k] in self.others else 0 for k, n in enumerate(self.vms)]
        for f in (-1, *self.joint):
            for kind, n in self.queues[f, 1]:
                single[kind] = n
        return self._with_single(((state[0], content) for state, content in more), tuple(single))

    def _filled(
        self, pattern: _Pattern, known: dict[tuple[int, ...], tuple[State, Content]]
    ) -> tuple[State, Content]:
        """A host with the next VMs of each item of a pattern."""
        items = zip(self.items, pattern.vms, strict=True)
        kinds = tuple(kind for item, n in items for kind in self._next(item, n))
        if kinds not in known:
            content = self.rules.filled(self.room, Counter(kinds))
            known[kinds] = self.rules.state(self.room, content), content
        return known[kinds]

    def _with_shares(self, state: State, content: Content) -> tuple[State, Content]:
        """A host with as many more VMs with one share as its shared GPUs have room for."""
        for f in self.joint:
            while self.queues[f, 1]:
                fit = self.rules.fit(state, self.queues[f, 1][0][0])
                if fit is None or fit.new_gpus:
                    break
                (kind,) = self._next((f, 1), 1)
                content, state = self.rules.put(content, kind, fit), fit.state
        return state, content

    def _next(self, item: tuple[int, int], most: int) -> Iterator[int]:
        """Kinds of the next VMs of an item, as many as there still are."""
        queue = self.queues[item]
        for _ in range(most):
            if queue:
                yield queue.next()


class MixedWays(Ways):
    """The programme over host patterns for VMs with several shares, of families with several sizes.

    A pattern has the number of VMs of each item on a host: of these families by size and number of shares, of whole
    GPUs by number; users of one GPU get the rest. It is possible if the host has the fewest GPUs for its shares.
    """

    def __init__(self, hosts: HostsApart, vms: Kinds, room: Room, joint: Sequence[int]) -> None:
        super().__init__(hosts, vms, room, joint)
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
        self.needed = [*(vms[k] for k in self.items), single + self.other_gpus]
        self.units = hosts.shared.units
        self._gpus: dict[tuple[int, Used], int] = {}
        self._contents: dict[tuple[int, ...], Content] = {}

    def solved(self) -> Solution | None:
        """The fewest hosts; None if there are too many patterns or nothing was found."""
        patterns = self._patterns()
        if patterns is None:
            return None
        chosen, bound = programme.whole_programme(patterns, self.needed, costs=[1] * len(patterns))
        if chosen is None:
            return None
        return Solution(self._blocks(patterns, chosen), self._bound(bound), "programme")

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

        if not self._divisible() or not extend((), tuple((0,) * len(self.units[f]) for f in self.joint), 0):
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

    def _divisible(self) -> bool:
        """True if the ways to divide the GPUs of a host are few enough."""
        return all(self.hosts.shared.ways(f, self.room.gpus) is not None for f in self.joint)

    def _blocks(self, patterns: Sequence[tuple[int, ...]], chosen: Sequence[int]) -> Blocks:
        """Return hosts filled after the patterns, then with users of one GPU."""
        hosts = []
        left = {k: self.vms[k] for k in self.items}
        for pattern, times in zip(patterns, chosen, strict=True):
            for _ in range(times):
                taken = {k: min(n, left[k]) for k, n in zip(self.items, pattern, strict=False)}
                for k, n in taken.items():
                    left[k] -= n
                content = self._filled(tuple(taken.values()))
                hosts.append((self.rules.state(self.room, content)[0], content))
        single = tuple(0 if k in left else n for k, n in enumerate(self.vms))
        return self._with_single(hosts, single)

    def _filled(self, counts: tuple[int, ...]) -> Content:
        """Return a host with these VMs of each item, each family on its fewest GPUs."""
        if counts not in self._contents:
            vms = dict(zip(self.items, counts, strict=True))
            self._contents[counts] = self.hosts.shared.content(vms)
        return self._contents[counts]
