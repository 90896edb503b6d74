"""Equal hosts: the fewest of them, with proof, where only GPUs count.

Two steps are exact where every VM has whole GPUs or one share: the fewest shared GPUs of each family, then the fewest
hosts for whole and shared GPUs (``HostsApart``). One shared GPU less never makes the hosts harder to fill, and VMs on a
shared GPU can be in any host.

VMs with several shares tie GPUs of a host together. Split, the shares still give a bound. If a greedy placement misses
it, a programme over all ways to use a host's GPUs follows (``HostWays``). Equal requests are one (``Merged``).
"""

import itertools
from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from gpuplan.models.placement import packing
from gpuplan.models.placement.fit import Rules
from gpuplan.models.placement.host_fills import Greedy
from gpuplan.models.placement.hosts_apart import HostsApart, HostWays, Solution
from gpuplan.models.placement.requests import Block, Blocks, Content, Kinds, Part, Room, vms_in

MANY_SIZES = 12
"""Sizes of shares of a family up to which every question is searched for an answer."""
MOST_ORDERS = 24
"""Orders of the kinds that are tried where there are too many ways to fill a host."""


class IdenticalHosts(HostsApart):
    """The fewest equal hosts for the VMs of each kind; CPU and memory are ignored.

    >>> from gpuplan.models.placement.requests import Request
    >>> equal = IdenticalHosts(Rules([Request("three", 1, gpus=3), Request("four", 1, gpus=4)]))
    >>> solution = equal.solve((21, 13), 10)
    >>> solution.hosts, solution.bound, solution.method
    (12, 12, 'programme')
    """

    def __init__(self, rules: Rules) -> None:
        super().__init__(rules)
        self._solved: dict[tuple[Kinds, int, bool], Solution] = {}

    def solve(self, vms: Kinds, gpus_per_host: int, *, thorough: bool = True) -> Solution:
        """The fewest hosts, what is on them, and the proof; where that is too much, orders of the kinds are tried
        (``thorough``), or only one."""
        key = (vms, gpus_per_host, thorough)
        if key not in self._solved:
            self._solved[key] = self._solve(vms, Room(gpus_per_host), thorough)
        return self._solved[key]

    def fit_on(self, vms: Kinds, gpus_per_host: int, hosts: int, *, thorough: bool = True) -> bool:
        """True if ``solve`` takes no more hosts; quick where it is far from it."""
        if (vms, gpus_per_host, thorough) not in self._solved:
            least = Counter[int]()
            for kind, n in enumerate(vms):
                if n and self.rules.family_of[kind] < 0:
                    least[self.rules.requests[kind].gpus] += n
            enough = Counter(least)
            for f, amounts in self.amounts(vms).items():
                if capacity := self.rules.families[f].capacity:
                    least[1] += packing._bins_bound(amounts, capacity=capacity)
                    enough[1] += packing._bins_enough(amounts, capacity=capacity)
                else:
                    gpus = self.shared.packed(f, amounts).bins
                    least[1], enough[1] = least[1] + gpus, enough[1] + gpus
            apart = not self._several(vms)  # else it is a bound only
            if apart and packing._bins_enough(enough, capacity=gpus_per_host) <= hosts:
                return True
            if packing._bins_bound(least, capacity=gpus_per_host) > hosts:
                return False
        return self.solve(vms, gpus_per_host, thorough=thorough).hosts <= hosts

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
        if not joint:  # a search takes seconds where a family has many sizes
            many = any(len(amounts) > MANY_SIZES for amounts in self.amounts(vms).values())
            return self.apart(vms, room, search=thorough or not many)
        merged = Merged(rules, vms, gpus_only=True)
        if merged.requests != [r._replace(vms=n) for r, n in zip(rules.requests, vms, strict=True)]:
            equal = IdenticalHosts(Rules(merged.requests))
            solution = equal.solve(equal.rules.vms, room.gpus, thorough=thorough)
            return solution._replace(blocks=merged.told_apart(solution.blocks))
        return self._together(vms, room, joint, thorough)

    def _together(self, vms: Kinds, room: Room, joint: Sequence[int], thorough: bool) -> Solution:
        """Place VMs with several shares: greedily, by the programme over patterns, and by more orders of the kinds."""
        apart = self.apart(vms, room)
        order = [k for k in self.rules.largest_first if vms[k]]
        # the bound of ``apart`` holds here, its blocks do not; what meets the bound is proven, if they do or not
        method = "volume" if apart.method == "heuristic" else apart.method
        solutions = (Solution(blocks, apart.bound, method) for blocks in self._greedy(vms, room, [order]))
        best = min(solutions, key=_hosts_of)
        if best.hosts > best.bound:
            exactly = HostWays(self, vms, room, joint).solved()
            if exactly is not None:
                bound = max(best.bound, exactly.bound)
                best = min(best, exactly, key=_hosts_of)._replace(bound=bound, method="programme")
            elif thorough:
                orders = itertools.islice(itertools.permutations(order), 1, MOST_ORDERS)
                for blocks in self._greedy(vms, room, orders):
                    best = min(best, best._replace(blocks=blocks), key=_hosts_of)
                    if best.hosts == best.bound:
                        break
        return best if best.hosts == best.bound else best._replace(method="heuristic")

    def _greedy(self, vms: Kinds, room: Room, orders: Iterable[Sequence[int]]) -> Iterator[Blocks]:
        """Greedy placements by each order of the kinds, onto the fullest host and onto the first."""
        for order, by in itertools.product(orders, (0, None)):
            if blocks := Greedy(self.rules).placed(vms, {}, room, order, by):
                yield blocks


def _hosts_of(solution: Solution) -> int:
    return solution.hosts


class Waiting(deque[list[int]]):
    """VMs that wait for a place, as [kind, how many]."""

    def next(self) -> int:
        """The kind of the next VM, which leaves the queue."""
        self[0][1] -= 1
        return self[0][0] if self[0][1] else self.popleft()[0]


class Merged:
    """Identical requests merged into one, in an order of their own, so that answers depend on neither."""

    def __init__(self, rules: Rules, vms: Kinds, *, gpus_only: bool) -> None:
        requests = [r._replace(vcpus=0, memory_gib=0) if gpus_only else r for r in rules.requests]
        alike: dict[Any, list[int]] = defaultdict(list)
        for k, (_, _, gpus, family, *rest) in enumerate(requests):
            if vms[k]:
                alike[gpus, (family,) if family else (), *rest].append(k)
        self.kinds = [alike[key] for key in sorted(alike, reverse=True)]
        """Kinds in each merged request."""
        self.vms = vms
        self.family_of = [rules.family_of[kinds[0]] for kinds in self.kinds]
        self.requests = [
            requests[kinds[0]]._replace(group=str(at), vms=sum(vms[k] for k in kinds))
            for at, kinds in enumerate(self.kinds)
        ]

    def told_apart(self, blocks: Blocks) -> Blocks:
        """The same hosts with the VMs of the kinds that were merged, a kind after the other."""
        queues = [Waiting([k, self.vms[k]] for k in kinds) for kinds in self.kinds]
        filled: Counter[tuple[Room, Content]] = Counter()
        for times, room, content in blocks:
            wanted = vms_in(content)
            for _ in range(times):
                names: dict[tuple[int, int], tuple[int, int]] = {}
                numbers = Counter[int]()
                for at, n in wanted.items():
                    for vm in range(n):
                        kind = queues[at].next()
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
