"""Equal hosts: the fewest of them, with proof, where only GPUs count.

Two steps are exact where every VM has whole GPUs or one share: the fewest shared GPUs of each family, then the fewest
hosts for whole and shared GPUs (``IdenticalHosts._apart``). One shared GPU less never makes the hosts harder to fill, and
what shares a GPU can be in any host.

VMs with several shares tie GPUs of a host together. Let apart, their shares still give a bound. If a greedy placement
misses it, a programme over all ways to use the GPUs of a host is solved: ``_HostPatterns`` where each family has one size
of share (fewer patterns: without it two of 300 designs lost their proof), ``_MixedPatterns`` where one has several. Requests that ask for the same are one in this (``Merged``).
"""

import itertools
import math
from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from gpuplan.models.placement import packing
from gpuplan.models.placement.fit import (
    Block,
    Blocks,
    Content,
    Kinds,
    Part,
    Room,
    Rules,
    State,
    Used,
    vms_in,
)
from gpuplan.models.placement.shared_gpus import SharedGpus, maximal

MANY_SIZES = 12
"""Sizes of shares of a family up to which every question is searched for an answer."""
MOST_ORDERS = 24
"""Orders of the kinds that are tried where there are too many ways to fill a host."""
MOST_LOOKED = 15_000
"""Ways to fill a host that are looked at, whole or in part, where families of several sizes have VMs with several shares."""


class Solution(NamedTuple):
    """A placement in blocks, and its proof."""

    blocks: Blocks
    bound: int
    method: str

    @property
    def hosts(self) -> int:
        """How many hosts it takes."""
        return sum(block.times for block in self.blocks)


class IdenticalHosts:
    """The fewest equal hosts for so many VMs of each kind; CPU and memory are not looked at.

    >>> from gpuplan.models.placement.fit import Request
    >>> equal = IdenticalHosts(Rules([Request("three", 1, gpus=3), Request("four", 1, gpus=4)]))
    >>> solution = equal.solve((21, 13), 10)
    >>> solution.hosts, solution.bound, solution.method
    (12, 12, 'programme')
    """

    def __init__(self, rules: Rules) -> None:
        self.rules, self.shared = rules, SharedGpus(rules)
        self._solved: dict[tuple[Kinds, int, bool], Solution] = {}
        self._needed: dict[tuple[Kinds, int, bool], int] = {}

    def solve(self, vms: Kinds, gpus_per_host: int, *, thorough: bool = True) -> Solution:
        """The fewest hosts, what is on them, and the proof; where that is too much, orders of the kinds are tried
        (``thorough``), or only one."""
        key = (vms, gpus_per_host, thorough)
        if key not in self._solved:
            self._solved[key] = self._solve(vms, Room(gpus_per_host), thorough)
        return self._solved[key]

    def hosts_needed(self, vms: Kinds, gpus_per_host: int, *, thorough: bool = True) -> int:
        """How many hosts ``solve`` takes; quicker where it is asked for many mixes."""
        key = (vms, gpus_per_host, thorough)
        if key not in self._needed:
            if self._several(vms):
                self._needed[key] = self.solve(vms, gpus_per_host, thorough=thorough).hosts
            else:
                search = thorough or not self._many_sizes(vms)
                sizes = Counter({1: sum(p.bins for p in self.packed_gpus(vms, search=search).values())})
                for kind, n in enumerate(vms):
                    sizes[self.rules.requests[kind].gpus] += n if self.rules.family_of[kind] < 0 else 0
                self._needed[key] = packing.pack(sizes, capacity=gpus_per_host).bins
        return self._needed[key]

    def fit_on(self, vms: Kinds, gpus_per_host: int, hosts: int, *, thorough: bool = True) -> bool:
        """Whether ``solve`` takes no more hosts; quick where it is far from it."""
        if (vms, gpus_per_host, thorough) not in self._needed:
            least, enough = Counter[int](), Counter[int]()
            for kind, n in enumerate(vms):
                if n and self.rules.family_of[kind] < 0:
                    least[self.rules.requests[kind].gpus] += n
            enough.update(least)
            for f, amounts in self._amounts(vms).items():
                capacity = self.rules.families[f].capacity
                if capacity:
                    least[1] += packing.bins_bound(amounts, capacity=capacity)
                    enough[1] += packing.bins_enough(amounts, capacity=capacity)
                else:
                    gpus = self.shared.packed(f, amounts).bins
                    least[1] += gpus
                    enough[1] += gpus
            apart = not self._several(vms)  # else it is a bound only
            if apart and packing.bins_enough(enough, capacity=gpus_per_host) <= hosts:
                return True
            if packing.bins_bound(least, capacity=gpus_per_host) > hosts:
                return False
        return self.hosts_needed(vms, gpus_per_host, thorough=thorough) <= hosts

    def packed_gpus(self, vms: Kinds, *, search: bool = True) -> dict[int, packing.Packing]:
        """The fewest GPUs of each family, shares of one VM being let apart."""
        return {f: self.shared.packed(f, amounts, search=search) for f, amounts in self._amounts(vms).items()}

    def _amounts(self, vms: Kinds) -> dict[int, Counter[int]]:
        """Shares of each profile, or of each amount of memory, in each family that is in use."""
        found: dict[int, Counter[int]] = {}
        for kind, n in enumerate(vms):
            f = self.rules.family_of[kind]
            if n and f >= 0:
                found.setdefault(f, Counter())[self.rules.units[kind]] += n * self.rules.requests[kind].shares
        return dict(sorted(found.items()))

    def _several(self, vms: Kinds) -> list[int]:
        """Families in which VMs have several shares."""
        rules = self.rules
        return sorted(
            {rules.family_of[k] for k, n in enumerate(vms) if n and rules.requests[k].shares > 1} - {-1}
        )

    def _solve(self, vms: Kinds, room: Room, thorough: bool) -> Solution:
        rules = self.rules
        rules.check(vms, [room])
        joint = self._several(vms)
        if not joint:
            return self._apart(vms, room, search=thorough or not self._many_sizes(vms))
        merged = Merged(rules, vms, gpus_only=True)
        if merged.requests != [r._replace(vms=n) for r, n in zip(rules.requests, vms, strict=True)]:
            equal = IdenticalHosts(Rules(merged.requests))
            solution = equal.solve(equal.rules.vms, room.gpus, thorough=thorough)
            return solution._replace(blocks=merged.told_apart(solution.blocks))
        return self._together(vms, room, joint, thorough)

    def _together(self, vms: Kinds, room: Room, joint: Sequence[int], thorough: bool) -> Solution:
        """Where VMs have several shares: greedily, by the programme over patterns, and by more orders of the kinds."""
        apart = self._apart(vms, room)
        order = [k for k in self.rules.largest_first if vms[k]]
        # the bound of ``apart`` holds here, its blocks do not; what meets the bound is proven, if they do or not
        method = "volume" if apart.method == "heuristic" else apart.method
        found = (Solution(blocks, apart.bound, method) for blocks in self._greedy(vms, room, [order]))
        best = min(found, key=_hosts_of)
        exactly = None
        if best.hosts > best.bound:
            sizes = {
                (f, self.rules.units[k]) for k, f in enumerate(self.rules.family_of) if vms[k] and f in joint
            }
            programme = _HostPatterns if len(sizes) == len(joint) else _MixedPatterns
            exactly = programme(self, vms, room, joint).solved()
            if exactly is not None:
                bound = max(best.bound, exactly.bound)
                best = min(best, exactly, key=_hosts_of)._replace(bound=bound, method="programme")
        if best.hosts > best.bound and exactly is None and thorough:
            orders = itertools.islice(itertools.permutations(order), 1, MOST_ORDERS)
            for blocks in self._greedy(vms, room, orders):
                best = min(best, best._replace(blocks=blocks), key=_hosts_of)
                if best.hosts == best.bound:
                    break
        return best if best.hosts == best.bound else best._replace(method="heuristic")

    def _greedy(self, vms: Kinds, room: Room, orders: Iterable[Sequence[int]]) -> Iterator[Blocks]:
        """Greedy placements by each order of the kinds, onto the fullest host and onto the first."""
        for order, by in itertools.product(orders, (0, None)):
            if blocks := self.rules.greedy(vms, {}, room, order, by):
                yield blocks

    def _many_sizes(self, vms: Kinds) -> bool:
        """Whether a family has so many sizes that a search takes seconds."""
        return any(len(amounts) > MANY_SIZES for amounts in self._amounts(vms).values())

    def _apart(self, vms: Kinds, room: Room, *, search: bool = True) -> Solution:
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
            Block(times, room, _joined((), content))
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
        """What takes whole GPUs, as (family, kinds on it, how many)."""
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


def _hosts_of(solution: Solution) -> int:
    return solution.hosts


def _dealt(
    needs: Mapping[int, int], often: int, queues: Mapping[int, deque[list[Any]]]
) -> Iterator[tuple[int, list[Any]]]:
    """A pattern used so often, filled from queues of [thing, how many]; what comes out alike in a row comes once, with
    its number."""
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


def _joined(content: Content, parts: Iterable[tuple[int, Iterable[int]]]) -> Content:
    """A host with more parts (family, kinds on it), each slot of which is a VM of its own."""
    numbers = vms_in(content)
    joined = list(content)
    for family, kinds in parts:
        slots = []
        for kind in kinds:
            slots.append((kind, numbers[kind]))
            numbers[kind] += 1
        joined.append(Part(family, tuple(slots)))
    return tuple(joined)


class Merged:
    """Requests that ask for the same as one, in an order of their own, so that answers depend on neither."""

    def __init__(self, rules: Rules, vms: Kinds, *, gpus_only: bool) -> None:
        asked = [r._replace(vcpus=0, memory_gib=0) if gpus_only else r for r in rules.requests]
        alike: dict[Any, list[int]] = defaultdict(list)
        for k, (_, _, gpus, family, *rest) in enumerate(asked):
            if vms[k]:
                alike[gpus, (family,) if family else (), *rest].append(k)
        self.kinds = [alike[key] for key in sorted(alike, reverse=True)]
        """Of each merged request the kinds that are in it."""
        self.vms = vms
        self.family_of = [rules.family_of[kinds[0]] for kinds in self.kinds]
        self.requests = [
            asked[kinds[0]]._replace(group=str(at), vms=sum(vms[k] for k in kinds))
            for at, kinds in enumerate(self.kinds)
        ]

    def told_apart(self, blocks: Blocks) -> Blocks:
        """The same hosts with the VMs of the kinds that were merged, a kind after the other."""
        queues = [deque([k, self.vms[k]] for k in kinds) for kinds in self.kinds]
        filled: Counter[tuple[Room, Content]] = Counter()
        for times, room, content in blocks:
            wanted = vms_in(content)
            for _ in range(times):
                names: dict[tuple[int, int], tuple[int, int]] = {}
                numbers = Counter[int]()
                for at, n in wanted.items():
                    for vm in range(n):
                        kind = _next_of(queues[at])
                        names[at, vm] = kind, numbers[kind]
                        numbers[kind] += 1
                filled[
                    room,
                    tuple(
                        Part(f if f < 0 else self.family_of[slots[0][0]], tuple(names[s] for s in slots))
                        for f, slots in content
                    ),
                ] += 1
        return tuple(Block(times, room, content) for (room, content), times in filled.items())


class _Patterns:
    """A programme over the ways to fill a host, where VMs have several shares of the families ``joint``."""

    def __init__(self, equal: IdenticalHosts, vms: Kinds, room: Room, joint: Sequence[int]) -> None:
        self.equal, self.rules, self.vms, self.room, self.joint = equal, equal.rules, vms, room, joint
        self.others = {f: packed for f, packed in equal.packed_gpus(vms).items() if f not in joint}
        self.other_gpus = sum(packed.bins for packed in self.others.values())

    def _bound(self, proven: int | None) -> int:
        """The bound of a programme, which holds if the GPUs of no other family might be fewer."""
        sure = all(packed.bins == packed.bound for packed in self.others.values())
        return proven or 0 if sure else 0

    def _with_single(self, hosts: Iterable[tuple[int, Content]], single: Kinds) -> Blocks:
        """Hosts of (free GPUs, what is on them), filled up with VMs that take one GPU, or are on one."""
        waiting = deque(
            (part.family, [kind for kind, _ in part.slots])
            for block in self.equal.solve(single, 1).blocks
            for part in block.content * block.times
        )
        filled = Counter[Content]()
        for free, content in hosts:
            parts = [waiting.popleft() for _ in range(min(free, len(waiting)))]
            filled[_joined(content, parts)] += 1
        return tuple(Block(times, self.room, content) for content, times in filled.items() if content)


class _Pattern(NamedTuple):
    """A way to use a host: GPUs given to each family, and VMs of each item."""

    given: tuple[int, ...]
    vms: tuple[int, ...]


class _HostPatterns(_Patterns):
    """The programme over host patterns for VMs with several shares, of families with one size of share each.

    A pattern gives GPUs to each such family and fills them with VMs that have several shares, and fills the other GPUs
    with VMs of two whole GPUs and more, as full as it goes. What stays free is for VMs with one share and for what
    takes one GPU. Only full patterns are needed: a VM too many may give its place to such single ones.
    """

    def __init__(self, equal: IdenticalHosts, vms: Kinds, room: Room, joint: Sequence[int]) -> None:
        super().__init__(equal, vms, room, joint)
        asked = Counter[tuple[int, int]]()
        self.queues: dict[tuple[int, int], deque[list[int]]] = defaultdict(deque)
        self.most: dict[int, int] = {}
        """Shares on one GPU of each such family."""
        for k, n in enumerate(vms):
            f, request = self.rules.family_of[k], self.rules.requests[k]
            if n and (f < 0 or f in joint):
                item = (f, request.gpus if f < 0 else request.shares)
                asked[item] += n
                self.queues[item].append([k, n])
                self.most[f] = self.rules.per_gpu[k]
        self.sizes = {
            f: sorted((size for of, size in asked if of == f and size > 1), reverse=True)
            for f in (-1, *joint)
        }
        self.items = [(f, size) for f, sizes in self.sizes.items() for size in sizes]
        """What patterns are made of, as (-1, whole GPUs) and (family, shares), largest first."""
        self.needed = [
            *(asked[item] for item in self.items),
            *(asked[f, 1] for f in joint),
            asked[-1, 1] + self.other_gpus,
        ]
        """Rows: VMs of each item, VMs with one share of each family, what takes one GPU."""

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
        chosen, bound = packing.whole_programme(
            [*columns, *(tuple(swap.get(row, 0) for row in rows) for swap in swaps)],
            self.needed,
            costs=[1] * len(columns) + [0] * len(swaps),
        )
        if chosen is None:
            return None
        return Solution(self._blocks(patterns, chosen[: len(patterns)]), self._bound(bound), "programme")

    def _column(self, pattern: _Pattern) -> tuple[int, ...]:
        """What a host filled like that adds to each row."""
        taken = Counter[int]()
        for (f, size), n in zip(self.items, pattern.vms, strict=True):
            taken[f] += size * n
        rests = [self.most[f] * g - taken[f] for f, g in zip(self.joint, pattern.given, strict=True)]
        return (*pattern.vms, *rests, self.room.gpus - sum(pattern.given) - taken[-1])

    def _patterns(self) -> list[_Pattern] | None:
        """All patterns; None if there are too many."""
        gpus = self.room.gpus
        ways: dict[tuple[int, int], list[tuple[int, ...]]] = {}
        for f, sizes in self.sizes.items():
            asked = self.needed[: len(self.items)]
            counts = [n for (of, _), n in zip(self.items, asked, strict=True) if of == f]
            for given in range(gpus + 1):
                capacity = given if f < 0 else given * self.most[f]
                found = packing.maximal_patterns(sizes, counts=counts, capacity=capacity)
                if found is None:
                    return None
                # GPUs are given to a family for at least one VM with several shares
                ways[f, given] = [way for way in found if any(way)] if f >= 0 and given else found
        patterns: list[_Pattern] = []
        for given_to in itertools.product(range(gpus + 1), repeat=len(self.joint)):
            rest = gpus - sum(given_to)
            if rest < 0:
                continue
            options = [ways[-1, rest], *(ways[f, g] for f, g in zip(self.joint, given_to, strict=True))]
            if len(patterns) + math.prod(map(len, options)) > packing.MAX_PATTERNS:
                return None
            patterns += [
                _Pattern(given_to, tuple(itertools.chain(*each))) for each in itertools.product(*options)
            ]
        return patterns

    def _blocks(self, patterns: Sequence[_Pattern], chosen: Sequence[int]) -> Blocks:
        """Hosts filled after the patterns; then with VMs that have one share, then with what takes one GPU."""
        known: dict[tuple[int, ...], tuple[State, Content]] = {}
        hosts = [
            self._filled(pattern, known)
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
                yield _next_of(queue)


def _next_of(queue: deque[list[int]]) -> int:
    """The kind of the next VM in a queue of [kind, how many]."""
    queue[0][1] -= 1
    return queue[0][0] if queue[0][1] else queue.popleft()[0]


class _MixedPatterns(_Patterns):
    """The programme over host patterns for VMs with several shares, of families with several sizes.

    A pattern says how many VMs of each item are on a host: of these families by size and number of shares, of whole GPUs
    by number; what takes one GPU gets the rest. It is possible if the fewest GPUs on which its shares fit are there.
    """

    def __init__(self, equal: IdenticalHosts, vms: Kinds, room: Room, joint: Sequence[int]) -> None:
        super().__init__(equal, vms, room, joint)
        rules = self.rules
        kinds = [k for k, n in enumerate(vms) if n]
        self.items = [
            k
            for k in kinds
            if rules.family_of[k] in joint or (rules.family_of[k] < 0 and rules.requests[k].gpus > 1)
        ]
        """What patterns are made of; requests that ask for the same are one."""
        self.items.sort(key=lambda k: (-rules.worth[k], k))
        single = sum(vms[k] for k in kinds if rules.family_of[k] < 0 and rules.requests[k].gpus == 1)
        self.needed = [*(vms[k] for k in self.items), single + self.other_gpus]
        self.units = equal.shared.units
        self._gpus: dict[tuple[int, Used], int] = {}
        self._contents: dict[tuple[int, ...], Content] = {}

    def solved(self) -> Solution | None:
        """The fewest hosts; None if there are too many patterns or nothing was found."""
        patterns = self._patterns()
        if patterns is None:
            return None
        chosen, bound = packing.whole_programme(patterns, self.needed, costs=[1] * len(patterns))
        if chosen is None:
            return None
        return Solution(self._blocks(patterns, chosen), self._bound(bound), "programme")

    def _patterns(self) -> list[tuple[int, ...]] | None:
        """All patterns, with the GPUs that stay free last; None if there are too many."""
        gpus, items = self.room.gpus, self.items
        found: list[tuple[int, ...]] = []
        looked = 0

        def extend(counts: tuple[int, ...], used: tuple[Used, ...], whole: int) -> bool:
            nonlocal looked
            looked += 1
            if looked > MOST_LOOKED:
                return False
            at = len(counts)
            if at == len(items):
                found.append((*counts, gpus - self._taken(used, whole)))
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
        return maximal(found)

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
        """The fewest GPUs of a family for so many shares of each size; more than a host has where they do not fit."""
        key = f, amounts
        if key not in self._gpus:
            self._gpus[key] = int(self.equal.shared.fewest(f, [amounts], most=self.room.gpus)[0])
        return self._gpus[key]

    def _divisible(self) -> bool:
        """Whether the ways to divide the GPUs of a host are few enough."""
        return all(self.equal.shared.ways(f, self.room.gpus) is not None for f in self.joint)

    def _blocks(self, patterns: Sequence[tuple[int, ...]], chosen: Sequence[int]) -> Blocks:
        """Hosts filled after the patterns, then with what takes one GPU."""
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
        """A host with so many VMs of each item, each family on its fewest GPUs."""
        if counts not in self._contents:
            vms = dict(zip(self.items, counts, strict=True))
            self._contents[counts] = self.equal.shared.content(vms)
        return self._contents[counts]
