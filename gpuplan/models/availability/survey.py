"""Survey: effect of every possible loss of hosts, worst first; on counts, with the decisions of ``failover``."""

import heapq
import math
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from gpuplan.models.availability.failover import Emptying, Step
from gpuplan.models.availability.restart import Cluster, HostClass, Pool
from gpuplan.models.placement import Host, Request, Room
from gpuplan.models.placement.requests import Kinds, State
from gpuplan.units import whole_from_zero

SURVEY_SETS = 10_000
"""Sets of hosts that a survey of the worst looks at."""
SURVEY_STEPS = 30_000
"""VMs that a survey of the worst restarts before it stops to look for worse ones."""
PLACED_AGAIN_STEPS = 800
"""Steps that it counts for placing all VMs again."""
_Chosen = tuple[tuple[int, int], ...]
"""(class of hosts, number of its hosts)."""


class Loss(NamedTuple):
    """Effect of the loss of some hosts, for all sets of hosts with the same content."""

    hosts: tuple[int, ...]
    """One of these sets, the one with the lowest numbers, from 0."""
    alike: int
    """Number of such sets."""
    restarted: int
    moved: int
    unplaced: int
    unplaced_gpus: float
    """GPUs' worth of the VMs that are not placed."""
    proven: bool = True
    """True if no unlisted set is worse; if False, only the sets that lose most were examined."""
    impossible: bool = False
    """True if it is proven that not all VMs fit on the remaining hosts; if False, the search found no placement."""


def failure_survey(
    layout: Sequence[Host],
    *,
    requests: Sequence[Request],
    rooms: Sequence[Room],
    lost: int,
    maintenance: Collection[int] = (),
    most: int = 0,
) -> tuple[Loss, ...]:
    """Effect of each possible loss of hosts, worst first.

    Parameters:
        layout (sequence of Host): Loads of each host, spare hosts being empty. [-]
        lost: How many hosts fail at once. [host]
        maintenance (collection of int): Indices of the hosts that were emptied for maintenance before, from 0; they cannot
            fail. [-]
        most: How many sets are asked for, the worst; 0: all. [-]

    Every set of so many hosts, those filled alike once, with their number: most GPUs' worth not placed first, then most
    VMs not placed, moved and restarted, then the lowest numbers. The same decisions as ``after_failure``, on counts,
    what a maintenance moved and did not place included. Alike are hosts that offer the same and have the same loads by
    group and profile; there are as many sets as products of binomial coefficients say. If only the worst are asked for,
    each set waits with what it does at worst (all that is lost, then all that a restart leaves over), and the worst is
    worked out, until none that waits can be worse. That ends after a number of steps too, and of very many kinds of
    hosts only those on which most is are taken: then the figures hold, but the choice of the sets is not ``proven``.
    [vmware-vsphere-8.0-admission-control]_

    >>> from gpuplan.models.placement import place
    >>> request = Request("research", 3, gpus=3)
    >>> hosts = (*place([request], gpus_per_host=4).hosts, ())
    >>> for loss in failure_survey(hosts, requests=[request], rooms=[Room(4)] * 4, lost=2):
    ...     print(loss.hosts, loss.alike, loss.restarted, loss.unplaced)
    (0, 1) 3 1 1
    (0, 3) 3 0 1
    """
    whole_from_zero(lost=lost, most=most)
    cluster = Cluster(requests, rooms)
    emptied = sorted(set(maintenance))
    before = Emptying(cluster, tuple(layout), emptied, emptied).step()
    classes = [
        one._replace(hosts=left)
        for one in cluster.read(before.hosts)
        if (left := [at for at in one.hosts if at not in maintenance])
    ]
    counts = _Counts(cluster, classes)
    names = [one.hosts for one in classes]
    sizes, cut = [len(hosts) for hosts in names], False
    if most and math.comb(len(names) + lost - 1, lost) > SURVEY_SETS:
        sizes, cut = counts.fullest_classes(lost), True
    sets = [
        (tuple(sorted(at for c, n in chosen for at in names[c][:n])), chosen)
        for chosen in _multisets(sizes, lost)
    ]
    worst, proven = _worst_first(counts, sets, most)
    return tuple(one.loss(before, proven=at < proven and not cut) for at, one in enumerate(worst))


class _Figures(NamedTuple):
    """Effect of a loss."""

    restarted: float
    moved: float
    unplaced: float
    worth: Fraction
    """GPUs' worth of those that are not placed."""


class _Look:
    """A set of hosts to lose, and the known effects of its loss: at first only the content of the hosts."""

    def __init__(self, counts: "_Counts", example: tuple[int, ...], chosen: _Chosen) -> None:
        self.counts, self.example, self.chosen = counts, example, chosen
        self.lost = counts.lost(chosen)
        self.figures = _Figures(math.inf, math.inf, math.inf, counts.worth(self.lost))
        """Effect of the loss, or its worst case."""
        self.done: Kinds | None = None
        """VMs that a restart alone places, if it does not place all."""
        self.begun = self.sure = False

    def key(self) -> tuple[Any, ...]:
        """Smaller for a worse loss."""
        restarted, moved, unplaced, worth = self.figures
        return (-float(worth), -unplaced, -moved, -restarted, self.example)

    def loss(self, before: Step, *, proven: bool) -> Loss:
        """The loss, with what a maintenance moved and left over before."""
        stuck = Counter(vm.kind for vm in before.unplaced)
        kinds = range(len(self.counts.vms))
        return Loss(
            self.example,
            math.prod(math.comb(len(self.counts.classes[c].hosts), n) for c, n in self.chosen),
            int(self.figures.restarted),
            int(self.figures.moved) + len(before.moved),
            int(self.figures.unplaced) + stuck.total(),
            float(self.figures.worth + self.counts.worth([stuck[k] for k in kinds])),
            proven,
            self.figures.unplaced > 0 and self._impossible(stuck),
        )

    def _impossible(self, stuck: Mapping[int, int]) -> bool:
        """True if it is proven that not all VMs, with those left over by a maintenance, fit on the remaining hosts."""
        vms = tuple(n + stuck[kind] for kind, n in enumerate(self.counts.vms))
        return self.counts.cluster.impossible(vms, self.counts.left(self.chosen))

    def closer(self) -> int:
        """Find out more; returns how many steps that took."""
        if self.done is not None:
            self.figures, self.sure = self.counts.placed_again(self.chosen, self.lost, self.done), True
            return PLACED_AGAIN_STEPS
        self.figures, self.done = self.counts.restart(self.chosen, self.lost)
        self.begun, self.sure = True, self.done is None
        if not self.sure:
            self.figures = self.figures._replace(restarted=math.inf, moved=math.inf)
        return sum(self.lost)


def _worst_first(
    counts: "_Counts", sets: Sequence[tuple[tuple[int, ...], _Chosen]], most: int
) -> tuple[list[_Look], int]:
    """The worst of these sets of hosts (0: all), worst first, and of how many of them that is sure."""
    # Each set waits with what it does at worst and comes again when more is known. What comes and is known is the worst.
    heap = [(one.key(), one) for one in (_Look(counts, *pair) for pair in sets)]
    heapq.heapify(heap)
    steps = SURVEY_STEPS if most else math.inf
    worst: list[_Look] = []
    while heap and steps >= 0 and not (most and len(worst) == most):
        _, one = heapq.heappop(heap)
        if one.sure:
            worst.append(one)
        else:
            steps -= one.closer()
            heapq.heappush(heap, (one.key(), one))
    sure = len(worst)
    # if not all could be looked at: of those that were, the worst after a restart, as far as needed worked out
    return worst + (_rest([one for _, one in heap], most - sure) if most else []), sure


def _rest(waiting: Sequence[_Look], most: int) -> list[_Look]:
    """Some bad sets of those that wait, their figures worked out."""
    begun = sorted((one for one in waiting if one.begun), key=_Look.key)
    begun += heapq.nsmallest(most - len(begun), (one for one in waiting if not one.begun), key=_Look.key)
    sure = [one for one in begun if one.sure]
    worked = [one for one in begun if not one.sure][:most]
    for one in worked:
        while not one.sure:
            one.closer()
    return sorted(worked + sure, key=_Look.key)[:most]


def _multisets(sizes: Sequence[int], total: int, at: int = 0) -> Iterator[tuple[tuple[int, int], ...]]:
    """Yield (class, number of its hosts) for every choice of this total."""
    if total == 0:
        yield ()
        return
    for index in range(at, len(sizes)):
        for n in range(min(sizes[index], total), 0, -1):
            for rest in _multisets(sizes, total - n, index + 1):
                yield ((index, n), *rest)


class _Counts:
    """Numbers of hosts and VMs of each kind, and the effect of a loss on them."""

    def __init__(self, cluster: Cluster, classes: Sequence[HostClass]) -> None:
        self.cluster, self.classes = cluster, classes
        states = Counter[State]()
        self.rooms = Counter[Room]()
        for one in classes:
            states[one.state] += len(one.hosts)
            self.rooms[one.room] += len(one.hosts)
        self.pool = Pool(cluster.rules, states)
        self.vms = [
            sum(one.vms[k] * len(one.hosts) for one in classes) for k in range(len(cluster.rules.requests))
        ]

    def fullest_classes(self, lost: int) -> list[int]:
        """Return hosts of each class, without the emptiest ones, to limit the number of sets of this size."""
        every = range(len(self.classes))
        order = sorted(every, key=lambda c: (-self.worth(self.classes[c].vms), c))
        kept = max(k for k in every if math.comb(k + lost, lost) <= SURVEY_SETS)
        return [len(self.classes[c].hosts) if c in order[: kept + 1] else 0 for c in every]

    def lost(self, chosen: _Chosen) -> Kinds:
        lost = [0] * len(self.vms)
        for c, n in chosen:
            for k, vms in enumerate(self.classes[c].vms):
                lost[k] += n * vms
        return tuple(lost)

    def left(self, chosen: _Chosen) -> Counter[Room]:
        return self.rooms - Counter(room for c, n in chosen for room in [self.classes[c].room] * n)

    def restart(self, chosen: _Chosen, lost: Kinds) -> tuple[_Figures, Kinds | None]:
        """Return the effect of a restart alone after the loss of these hosts, and the VMs placed then (None: all)."""
        gone = Counter[State]()
        for c, n in chosen:
            gone[self.classes[c].state] += n
        order = [k for k in self.cluster.rules.largest_first for _ in range(lost[k])]
        choices = self.pool.restart(order, gone)
        if None not in choices or self._taken_over(chosen):
            return _Figures(len(order), 0, 0, Fraction(0)), None
        done = [0] * len(lost)
        for kind, choice in zip(order, choices, strict=True):
            done[kind] += choice is not None
        return self._figures(lost, done, 0), tuple(done)

    def placed_again(self, chosen: _Chosen, lost: Kinds, done: Kinds) -> _Figures:
        """Return the effect if others may be moved too."""
        cluster, classes = self.cluster, self.classes
        running = tuple(a - b for a, b in zip(self.vms, lost, strict=True))
        decided = cluster.decide(running, lost, done, self.left(chosen))
        if decided is None:
            return self._figures(lost, done, 0)
        placed, blocks = decided
        healthy = Counter[tuple[Room, Kinds]]()
        for one in classes:
            healthy[one.room, one.vms] += len(one.hosts)
        for c, n in chosen:
            healthy[classes[c].room, classes[c].vms] -= n
        moved = sum(running) - sum(n * stay for _, _, n, stay in cluster.match(+healthy, blocks))
        return self._figures(lost, [a - b for a, b in zip(placed, running, strict=True)], moved)

    def worth(self, vms: Sequence[int]) -> Fraction:
        return sum((n * w for n, w in zip(vms, self.cluster.rules.worth, strict=True) if n), Fraction(0))

    def _figures(self, lost: Sequence[int], done: Sequence[int], moved: int) -> _Figures:
        left = [a - b for a, b in zip(lost, done, strict=True)]
        return _Figures(sum(done), moved, sum(left), self.worth(left))

    def _taken_over(self, chosen: _Chosen) -> bool:
        """True if empty hosts can take over everything on the lost ones."""
        empty = Counter({one.room: 0 for one in self.classes if not one.content})
        for one in self.classes:
            if not one.content:
                empty[one.room] += len(one.hosts)
        lost = []
        for c, n in chosen:
            one = self.classes[c]
            if one.content:
                lost += [(one.room, one.content)] * n
            else:
                empty[one.room] -= n
        return self.cluster.taken_over(lost, empty) is not None
