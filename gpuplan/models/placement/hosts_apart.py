"""Equal hosts where shares of one VM may be on any host: exact for VMs of whole GPUs or one share, for others a bound."""

from collections import Counter, defaultdict, deque
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from gpuplan.models.placement import packing
from gpuplan.models.placement.fit import Rules
from gpuplan.models.placement.requests import Block, Blocks, Kinds, Room
from gpuplan.models.placement.shared_gpus import SharedGpus


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
