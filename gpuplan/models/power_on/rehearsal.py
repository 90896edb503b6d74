"""Rehearsal: each host emptied for an upgrade in turn, and VMs that restart after a failure, placed by the rules and no other VM moved."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np

from gpuplan.models.power_on.cluster import LARGEST, Cluster, Spot
from gpuplan.units import at_least_one, each, whole_from_zero, whole_number

MOVES, RESTARTS, STAYS = "moves", "restarts", "stays"
"""Ways to leave a host: by vMotion; shut down and started elsewhere; not at all, down until the host is back."""
DOWN = "down"
"""State of a VM that stays, or finds no place."""
STEPS = 20_000
"""Moves that a search for an order of hosts tries."""
BRANCHES = 4_000
"""Restarts after which orders are drawn at random instead of all being followed."""


class Left(NamedTuple):
    """Result for a VM of an evacuated host."""

    kind: int
    vm: int
    how: str
    """Result: it ``moves``, ``restarts`` or is ``down`` until the host is back."""
    to_host: int | None


class Emptied(NamedTuple):
    """A host that is emptied, and its VMs: those that move in this order, then those that restart, then those that are down."""

    host: int
    went: tuple[Left, ...]

    @property
    def down(self) -> tuple[Left, ...]:
        """VMs that are down until the host is back."""
        return tuple(vm for vm in self.went if vm.how == DOWN)


class Upgrade(NamedTuple):
    """Evacuation of all hosts, one after another."""

    order: tuple[int, ...]
    emptied: tuple[tuple[Emptied, ...], ...]
    """Result for each host in each world, in this order."""
    works: bool
    """True if no VM is down until its host is back, in any world."""
    proven: bool
    """True if it is proven that no order works, if this one does not."""


class Restart(NamedTuple):
    """Result for the VMs of failed hosts, over the orders in which they may restart."""

    vms: int
    """VMs that were on these hosts and may restart."""
    static: tuple[int, ...]
    """VMs of each kind that stay down whatever is free."""
    chance: float
    """Probability that all others restart, with all orders within a priority equally likely."""
    missing: float
    """Mean number of VMs that do not."""
    worst: tuple[int, ...]
    """VMs of each kind that do not restart in the order in which most GPUs' worth does not."""
    orders: int
    """Random orders that were tried; 0: every order was followed."""


def empty_host(cluster: Cluster, host: int, *, ways: Sequence[str]) -> tuple[Cluster, Emptied]:
    """One host emptied and back again.

    Parameters:
        cluster: VMs as they run; it is left as it is. [-]
        host: Host that is emptied, from 0. [-]
        ways (sequence of str): How VMs of each kind leave a host: ``moves``, ``restarts`` or ``stays``. [-]

    With the cluster when the host is back. One VM after another goes where the rules put it on the other hosts; no VM
    on these moves. One without a place is shut down and runs where it was when the host is back. VMs are as large as
    the GPUs' worth that they hold, then by vCPUs and memory. [denneman-drs-placement]_ [broadcom-kb-313479]_

    >>> from gpuplan.models.placement import Request, Room
    >>> from gpuplan.models.power_on import Rules
    >>> cluster = Cluster([Request("a", 3, gpus=1)], [Room(2), Room(2)], Rules())
    >>> for vm in (1, 2, 3):
    ...     spot = cluster.start(0, vm)
    >>> [tuple(vm) for vm in empty_host(cluster, 0, ways=["moves"])[1].went]
    [(0, 1, 'moves', 1), (0, 3, 'down', None)]
    """
    whole_number("host", host, most=len(cluster.rooms) - 1)
    now, size = cluster.copy(), cluster.gpus.sizes
    leaving = sorted(vm for vm, spot in now.spots.items() if spot.host == host)
    leaving.sort(key=lambda vm: size[vm[0]], reverse=cluster.first == LARGEST)
    went, down = list[Left](), list[tuple[int, int, Spot]]()
    for kind, vm in leaving:
        was = now.stop(kind, vm)
        to = None if ways[kind] == STAYS else now.start(kind, vm, without=(host,))
        went.append(Left(kind, vm, ways[kind], to.host) if to else Left(kind, vm, DOWN, None))
        if to is None:
            down.append((kind, vm, was))
    for kind, vm, was in down:
        now.put(kind, vm, was)
    return now, Emptied(host, tuple(sorted(went, key=lambda each: (MOVES, RESTARTS, DOWN).index(each.how))))


def rehearse_upgrade(worlds: Sequence[Cluster], *, ways: Sequence[str], steps: int = STEPS) -> Upgrade:
    """An order of hosts in which each can be emptied while every VM keeps running, in every world.

    Parameters:
        worlds (sequence of Cluster): Readings of what happens: VMs as they run, all on the same hosts. [-]
        ways (sequence of str): How VMs of each kind leave a host: ``moves``, ``restarts`` or ``stays``. [-]
        steps: VMs that the search takes off a host before it gives up. [-]

    An order that works, or that which comes furthest. One host after another is emptied, upgraded and back empty, and
    the next one's VMs may go there; no VM is moved back. Depth first, hosts with few VMs before others; what was met
    before and leads nowhere is not tried again. First hosts filled alike count as one; as a tie among other hosts may
    then be broken otherwise, only a second search that tells all hosts apart proves that there is none. Only VMs that
    stay whatever is free (``stays``) may be down. If no order is found, the furthest is ended with the other hosts as
    they are counted. [gpuplan-method]_

    >>> from gpuplan.models.placement import Request, Room
    >>> from gpuplan.models.power_on import Rules
    >>> cluster = Cluster([Request("a", 4, gpus=1)], [Room(2)] * 3, Rules())
    >>> for vm in (1, 2, 3, 4):
    ...     spot = cluster.start(0, vm)
    >>> found = rehearse_upgrade([cluster], ways=["moves"])
    >>> found.works, found.order
    (True, (1, 0, 2))
    """
    at_least_one(steps=steps)
    hosts = range(len(worlds[0].rooms))
    for alike in (True, False):
        search = _Search(ways, steps // 2, alike)
        works = search.ends(tuple(worlds), frozenset(hosts), ())
        if works:
            break
    proven = not works and search.left > 0
    taken, now = list(search.furthest), search.reached
    for host in sorted(set(hosts) - {stage[0].host for stage in taken}):
        now, stage = search.tried(now, host, anyway=True)
        taken.append(stage)
    order = tuple(stage[0].host for stage in taken)
    return Upgrade(order, tuple(zip(*taken, strict=True)) if taken else ((),) * len(worlds), works, proven)


Stage = tuple[Emptied, ...]
"""A host emptied in each world."""


class _Search:
    """Depth-first search over orders of hosts, within a limit on steps."""

    def __init__(self, ways: Sequence[str], steps: int, alike: bool) -> None:
        self.ways, self.left = ways, steps
        self.alike = alike
        """True if hosts with the same content count as one."""
        self.furthest: tuple[Stage, ...] = ()
        self.reached: tuple[Cluster, ...] = ()
        """The worlds at the end of the furthest order."""
        self._dead: set[Any] = set()

    def ends(self, worlds: tuple[Cluster, ...], hosts: frozenset[int], taken: tuple[Stage, ...]) -> bool:
        """True if all these hosts can be evacuated from here in some order."""
        if not self.reached or len(taken) > len(self.furthest):
            self.furthest, self.reached = taken, worlds
        if not hosts:
            return True
        seen = [_seen(world) for world in worlds]
        rows = [
            (host in hosts, *(world[host] for world in seen), 0 if self.alike else host)
            for host in range(len(seen[0]))
        ]
        key = tuple(sorted(rows))
        if key in self._dead:
            return False
        vms = worlds[0].vms
        first = {row: host for host, row in reversed(list(enumerate(rows))) if host in hosts}
        for host in sorted(first.values(), key=lambda host: (vms[host], host)):
            after, stage = self.tried(worlds, host)
            if stage and self.ends(after, hosts - {host}, (*taken, stage)):
                return True
            if self.left <= 0:
                return False
        self._dead.add(key)
        return False

    def tried(
        self, worlds: tuple[Cluster, ...], host: int, *, anyway: bool = False
    ) -> tuple[tuple[Cluster, ...], Stage]:
        """A host emptied in each world, unless a VM finds no place in one and it is not emptied ``anyway``."""
        after, stage = list[Cluster](), list[Emptied]()
        for world in worlds:
            now, emptied = empty_host(world, host, ways=self.ways)
            self.left -= 1 + world.vms[host]
            if not anyway and any(self.ways[vm.kind] != STAYS for vm in emptied.down):
                return (), ()
            after.append(now)
            stage.append(emptied)
        return tuple(after), tuple(stage)


def _seen(cluster: Cluster) -> list[Any]:
    """Return the state of each host that later moves depend on; where hosts are taken in turn, its position too."""
    kinds = [[0] * len(cluster.requests) for _ in cluster.rooms]
    for (kind, _), spot in cluster.spots.items():
        kinds[spot.host][kind] += 1
    turn, hosts = cluster.rules.host == "turn", len(cluster.rooms)
    return [
        (
            cluster.rooms[host],
            cluster.states[host],
            tuple(kinds[host]),
            turn * ((host - cluster.last) % hosts),
        )
        for host in range(hosts)
    ]


def restart_after_failure(
    cluster: Cluster,
    failed: Collection[int],
    *,
    priorities: Sequence[int],
    ways: Sequence[str],
    orders: int = 200,
    seed: int = 0,
) -> Restart:
    """Outcome for the VMs of hosts that fail, in the orders in which they may restart.

    Parameters:
        cluster: VMs as they run; it is left as it is. [-]
        failed (collection of int): Hosts that fail at once, from 0. [-]
        priorities (sequence of int): Of each kind, those with 1 before those with 2. [-]
        ways (sequence of str): How VMs of each kind leave a host; those that ``stay`` do not restart. [-]
        orders: Random orders that are tried where there are too many to follow all. [-]
        seed: Where random orders begin. [-]

    By priority, each order of VMs of the same one being equally likely. Each VM goes where the rules put it on the hosts that are
    left; no VM on these moves; one that does not start stays off. Orders that lead to the same cluster are followed once, so that
    the chance is exact; where that takes too many steps, it is the share of random orders. [gpuplan-method]_

    >>> from gpuplan.models.placement import Request, Room
    >>> from gpuplan.models.power_on import Rules
    >>> cluster = Cluster([Request("a", 2, gpus=1), Request("b", 1, gpus=2)], [Room(4), Room(3)], Rules())
    >>> cluster.put(0, 1, Spot(0, (0,), ())), cluster.put(0, 2, Spot(0, (1,), ())), cluster.put(1, 1, Spot(0, (2, 3), ()))
    (None, None, None)
    >>> found = restart_after_failure(cluster, {0}, priorities=[1, 1], ways=["moves"] * 2)
    >>> round(found.chance, 3), found.worst, round(found.missing, 3)
    (0.0, (0, 1), 1.0)
    """
    each(whole_from_zero, priorities=priorities)
    at_least_one(orders=orders)
    whole_from_zero(seed=seed)
    now, lost = cluster.copy(), Counter[int]()
    for kind, vm in [vm for vm, spot in cluster.spots.items() if spot.host in failed]:
        now.stop(kind, vm)
        lost[kind] += 1
    kinds = range(len(cluster.requests))
    static = tuple(lost[kind] if ways[kind] == STAYS else 0 for kind in kinds)
    back = tuple(lost[kind] - static[kind] for kind in kinds)
    tree = _Restarts(now, frozenset(failed), priorities)
    try:
        outcomes, drawn = tree.outcomes(now, back), 0
    except _TooManyError:
        outcomes, drawn = tree.drawn(now, back, orders, seed), orders
    worth = cluster.gpus.fits.worth
    worst = max(
        outcomes, key=lambda missing: (sum(w * n for w, n in zip(worth, missing, strict=True)), missing)
    )
    missing = sum(sum(chance * outcome[kind] for outcome, chance in outcomes.items()) for kind in kinds)
    none = tuple(0 for _ in kinds)
    chance = outcomes.get(none, 0.0) if len(outcomes) > 1 else float(none in outcomes)
    return Restart(sum(back), static, chance, missing, worst, drawn)


Outcomes = Mapping[tuple[int, ...], float]
"""VMs of each kind that do not restart -> how likely that is."""


class _TooManyError(Exception):
    """There are too many orders to follow all."""


class _Restarts:
    """Restarts on the hosts that are left."""

    def __init__(self, cluster: Cluster, failed: frozenset[int], priorities: Sequence[int]) -> None:
        self.failed, self.priorities, self.left = failed, priorities, BRANCHES
        self.turn = cluster.rules.host == "turn"
        self._known: dict[Any, Outcomes] = {}

    def outcomes(self, cluster: Cluster, back: tuple[int, ...]) -> Outcomes:
        """Return the possible results for VMs that are still to restart, over all orders."""
        if not any(back):
            return {back: 1.0}
        first = min(self.priorities[kind] for kind, n in enumerate(back) if n)
        turn = [kind for kind, n in enumerate(back) if n and self.priorities[kind] == first]
        taken = (cluster.vcpus, cluster.memory_gib, cluster.vms)
        last = cluster.last if self.turn else 0
        key = back, tuple(cluster.states), tuple(map(tuple, taken)), last
        if key not in self._known:
            self._known[key] = self._followed(cluster, back, turn)
        return self._known[key]

    def _followed(self, cluster: Cluster, back: tuple[int, ...], turn: Sequence[int]) -> Outcomes:
        outcomes = defaultdict[tuple[int, ...], float](float)
        every = sum(back[kind] for kind in turn)
        for kind in turn:
            self.left -= 1
            if self.left < 0:
                raise _TooManyError
            now = cluster.copy()
            starts = now.start(kind, -back[kind], without=self.failed) is not None
            left = tuple(n - (at == kind) for at, n in enumerate(back))
            for missing, chance in self.outcomes(now, left).items():
                more = missing if starts else tuple(n + (at == kind) for at, n in enumerate(missing))
                outcomes[more] += chance * back[kind] / every
        return outcomes

    def drawn(self, cluster: Cluster, back: tuple[int, ...], orders: int, seed: int) -> Outcomes:
        """The same by random orders."""
        random = np.random.RandomState(seed)  # its stream is the same in every version of numpy
        outcomes = defaultdict[tuple[int, ...], float](float)
        for _ in range(orders):
            now, missing = cluster.copy(), [0] * len(back)
            for vm, kind in enumerate(self._order(back, random), 1):
                missing[kind] += now.start(kind, -vm, without=self.failed) is None
            outcomes[tuple(missing)] += 1 / orders
        return outcomes

    def _order(self, back: tuple[int, ...], random: Any) -> Iterator[int]:
        kinds = sorted((kind for kind in range(len(back))), key=self.priorities.__getitem__)
        for _, alike in groupby(kinds, key=self.priorities.__getitem__):
            vms = [kind for kind in alike for _ in range(back[kind])]
            yield from random.permutation(vms).tolist()
