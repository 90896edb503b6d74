"""Equal hosts: the fewest of them, with proof, where only GPUs count.

Two steps are exact where every VM has whole GPUs or one share: the fewest shared GPUs of each family, then the fewest
hosts for whole and shared GPUs (``EqualHosts._apart``). One shared GPU less never makes the hosts harder to fill, and
what shares a GPU can be in any host.

VMs with several shares tie GPUs of a host together. Let apart, their shares still give a bound. If a greedy placement
misses it, ``_HostPatterns`` is solved: the programme over all ways to use the GPUs of a host.
"""

import itertools
import math
from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from gpuplan.models import packing
from gpuplan.models.filling import Block, Blocks, Content, Kinds, Part, Room, Rules, State, vms_in


class Solution(NamedTuple):
    """A placement in blocks, and its proof."""

    blocks: Blocks
    bound: int
    method: str

    @property
    def hosts(self) -> int:
        """How many hosts it takes."""
        return sum(block.times for block in self.blocks)


class EqualHosts:
    """The fewest equal hosts for so many VMs of each kind; CPU and memory are not looked at.

    >>> from gpuplan.models.filling import Request
    >>> equal = EqualHosts(Rules([Request("three", 1, gpus=3), Request("four", 1, gpus=4)]))
    >>> solution = equal.solve((21, 13), 10)
    >>> solution.hosts, solution.bound, solution.method
    (12, 12, 'programme')
    """

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self._solved: dict[tuple[Kinds, int], Solution] = {}
        self._needed: dict[tuple[Kinds, int], int] = {}

    def solve(self, vms: Kinds, gpus_per_host: int) -> Solution:
        """The fewest hosts, what is on them, and the proof."""
        key = (vms, gpus_per_host)
        if key not in self._solved:
            self._solved[key] = self._solve(vms, Room(gpus_per_host))
        return self._solved[key]

    def hosts_needed(self, vms: Kinds, gpus_per_host: int) -> int:
        """How many hosts ``solve`` takes; quicker where it is asked for many mixes."""
        key = (vms, gpus_per_host)
        if key not in self._needed:
            if self._several(vms):
                self._needed[key] = self.solve(vms, gpus_per_host).hosts
            else:
                sizes = Counter({1: sum(packed.bins for packed in self.packed_gpus(vms).values())})
                for kind, n in enumerate(vms):
                    sizes[self.rules.requests[kind].gpus] += n if self.rules.family_of[kind] < 0 else 0
                self._needed[key] = packing.pack(sizes, capacity=gpus_per_host).bins
        return self._needed[key]

    def packed_gpus(self, vms: Kinds) -> dict[int, packing.Packing]:
        """The fewest GPUs of each family, shares of one VM being let apart."""
        rules, found = self.rules, {}
        for f, family in enumerate(rules.families):
            amounts = Counter[int]()
            for kind, n in enumerate(vms):
                if n and rules.family_of[kind] == f:
                    amounts[rules.units[kind]] += n * rules.requests[kind].shares
            if not amounts:
                continue
            if family.capacity:
                found[f] = packing.pack(amounts, capacity=family.capacity)
            else:
                needed = [amounts[p] for p in range(len(rules.profiles[f]))]
                found[f] = packing.cover(needed, layouts=rules.layouts[f])
        return found

    def _several(self, vms: Kinds) -> list[int]:
        """Families in which VMs have several shares."""
        rules = self.rules
        return sorted(
            {rules.family_of[k] for k, n in enumerate(vms) if n and rules.requests[k].shares > 1} - {-1}
        )

    def _solve(self, vms: Kinds, room: Room) -> Solution:
        rules = self.rules
        rules.check(vms, [room])
        apart = self._apart(vms, room)
        joint = self._several(vms)
        if not joint:
            return apart
        order = [k for k in rules.largest_first if vms[k]]
        found = [rules.greedy(vms, {}, room, order, by) for by in (0, None)]
        # the bound of ``apart`` holds here, its blocks do not; what meets the bound is proven, if they do or not
        method = "volume" if apart.method == "heuristic" else apart.method
        best = min((Solution(b, apart.bound, method) for b in found if b), key=lambda s: s.hosts)
        one_size = all(
            len({rules.units[k] for k, n in enumerate(vms) if n and rules.family_of[k] == f}) == 1
            for f in joint
        )
        if best.hosts > best.bound and one_size:
            exactly = _HostPatterns(self, vms, room, joint).solved()
            if exactly is not None:
                bound = max(best.bound, exactly.bound)
                best = min(best, exactly, key=lambda s: s.hosts)._replace(bound=bound, method="programme")
        return best if best.hosts == best.bound else best._replace(method="heuristic")

    def _apart(self, vms: Kinds, room: Room) -> Solution:
        """The exact answer where all VMs have whole GPUs or one share; for others a bound."""
        rules = self.rules
        packed_gpus = self.packed_gpus(vms)
        # what takes whole GPUs: (its first kind, family, kinds on it, how many), to be kept in the order of the requests
        loads = [(k, -1, [k], n) for k, n in enumerate(vms) if n and rules.family_of[k] < 0]
        for f, packed in packed_gpus.items():
            sharers: dict[int, deque[list[Any]]] = defaultdict(deque)
            for kind, n in enumerate(vms):
                if n and rules.family_of[kind] == f:
                    sharers[rules.units[kind]].append([kind, n * rules.requests[kind].shares])
            for pattern, often in packed.patterns:
                if rules.families[f].capacity:
                    needs = Counter(pattern)
                else:
                    needs = Counter({unit: amount for unit, amount in enumerate(pattern) if amount})
                loads += [(min(on_it), f, on_it, n) for n, on_it in _dealt(needs, often, sharers)]
        sizes = Counter[int]()
        queues: dict[int, deque[list[Any]]] = defaultdict(deque)
        for _, f, on_it, n in sorted(loads, key=lambda load: load[0]):
            size = rules.requests[on_it[0]].gpus if f < 0 else 1
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


class _Pattern(NamedTuple):
    """A way to use a host: GPUs given to each family, and VMs of each item."""

    given: tuple[int, ...]
    vms: tuple[int, ...]


class _HostPatterns:
    """The programme over host patterns for VMs with several shares, of families with one size of share each.

    A pattern gives GPUs to each such family and fills them with VMs that have several shares, and fills the other GPUs
    with VMs of two whole GPUs and more, as full as it goes. What stays free is for VMs with one share and for what
    takes one GPU. Only full patterns are needed: a VM too many may give its place to such single ones.
    """

    def __init__(self, equal: EqualHosts, vms: Kinds, room: Room, joint: Sequence[int]) -> None:
        self.equal, self.rules, self.vms, self.room, self.joint = equal, equal.rules, vms, room, joint
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
        sizes = {
            f: sorted((size for of, size in asked if of == f and size > 1), reverse=True)
            for f in (-1, *joint)
        }
        self.items = [(f, size) for f in (-1, *joint) for size in sizes[f]]
        """What patterns are made of, as (-1, whole GPUs) and (family, shares), largest first."""
        self.sizes = sizes
        self.others = {f: packed for f, packed in equal.packed_gpus(vms).items() if f not in joint}
        self.needed = [
            *(asked[item] for item in self.items),
            *(asked[f, 1] for f in joint),
            asked[-1, 1] + sum(packed.bins for packed in self.others.values()),
        ]
        """Rows: VMs of each item, VMs with one share of each family, what takes one GPU."""

    def solved(self) -> Solution | None:
        """The fewest hosts; None if there are too many patterns or no answer in time."""
        patterns = self._patterns()
        if patterns is None:
            return None
        items, joint = self.items, self.joint
        columns: list[tuple[int, ...]] = []
        for given, counts in patterns:
            taken = Counter[int]()
            for (f, size), n in zip(items, counts, strict=True):
                taken[f] += size * n
            rests = [self.most[f] * g - taken[f] for f, g in zip(joint, given, strict=True)]
            columns.append((*counts, *rests, self.room.gpus - sum(given) - taken[-1]))
        # Columns that cost no host: a VM gives its place to as many single ones, a free GPU is taken by a family.
        ones = {f: len(items) + i for i, f in enumerate((*joint, -1))}  # row of single ones
        swaps = [
            *({row: -1, ones[f]: size} for row, (f, size) in enumerate(items)),
            *({ones[f]: self.most[f], ones[-1]: -1} for f in joint),
        ]
        rows = range(len(self.needed))
        chosen, bound = packing.whole_programme(
            [*columns, *(tuple(swap.get(row, 0) for row in rows) for swap in swaps)],
            self.needed,
            costs=[1] * len(columns) + [0] * len(swaps),
        )
        if chosen is None:
            return None
        if any(packed.bins > packed.bound for packed in self.others.values()):
            bound = 0  # fewer GPUs of another family might do
        return Solution(self._blocks(patterns, chosen[: len(patterns)]), bound, "programme")

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
        rules, hosts = self.rules, []
        known: dict[tuple[int, ...], tuple[State, Content]] = {}
        for pattern, times in zip(patterns, chosen, strict=True):
            for _ in range(times):
                kinds = tuple(
                    kind
                    for item, n in zip(self.items, pattern.vms, strict=True)
                    for kind in self._next(item, n)
                )
                if kinds not in known:
                    content = rules.filled(self.room, Counter(kinds))
                    known[kinds] = rules.state(self.room, content), content
                hosts.append(known[kinds])
        for at, (state, content) in enumerate(hosts):
            for f in self.joint:
                while self.queues[f, 1]:
                    fit = rules.fit(state, self.queues[f, 1][0][0])
                    if fit is None or fit.new_gpus:
                        break
                    (kind,) = self._next((f, 1), 1)
                    content, state = rules.put(content, kind, fit), fit.state
            hosts[at] = state, content
        single = [n if rules.family_of[k] in self.others else 0 for k, n in enumerate(self.vms)]
        for f in (-1, *self.joint):
            for kind, n in self.queues[f, 1]:
                single[kind] = n
        waiting = deque(
            (part.family, [kind for kind, _ in part.slots])
            for block in self.equal.solve(tuple(single), 1).blocks
            for part in block.content * block.times
        )
        filled = Counter[Content]()
        for (free, *_), content in hosts:
            parts = [waiting.popleft() for _ in range(min(free, len(waiting)))]
            filled[_joined(content, parts)] += 1
        return tuple(Block(times, self.room, content) for content, times in filled.items() if content)

    def _next(self, item: tuple[int, int], most: int) -> Iterator[int]:
        """Kinds of the next VMs of an item, as many as there still are."""
        queue = self.queues[item]
        for _ in range(most):
            if queue:
                queue[0][1] -= 1
                yield queue[0][0] if queue[0][1] else queue.popleft()[0]
