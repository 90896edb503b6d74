"""Power-on watched: one order of VMs, forward and back, the content of each GPU, and why a VM does not start."""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from gpuplan.models.placement.requests import Request, Room
from gpuplan.models.power_on.cluster import Cluster, Spot
from gpuplan.models.power_on.gpu_states import NEUTRAL, WHOLE, Rules


class Step(NamedTuple):
    """A VM that was powered on."""

    kind: int
    vm: int
    spot: Spot | None
    """Place of the VM; None: it did not start."""


class Refusal(NamedTuple):
    """State of the GPUs of a cluster in which a VM does not start."""

    gpus: int
    """GPUs that the hosts have."""
    neutral: int
    """GPUs that no VM uses."""
    whole: int
    """GPUs that VMs have whole."""
    full: int
    """GPUs locked to its size that have no place left for it."""
    locked: tuple[tuple[tuple[str, ...], int], ...]
    """(profiles, GPUs locked to them), the most first."""
    open: int
    """GPUs that could take one of its shares."""
    free_on_a_host: int
    """Most neutral GPUs of one host."""
    short_of: tuple[str, ...]
    """Resources that hosts with GPUs for it lack: ``CPU``, ``memory``."""


class Play:
    """One order of power-on, by the kind of each VM: the place of each, and the content of the hosts after each step.

    A VM that does not start stays off, and the next ones are tried. Ties go to the lowest number.

    >>> kinds = [Request("a", 2, gpus=1), Request("b", 1, gpus=2)]
    >>> [step.spot is not None for step in Play(kinds, [Room(2), Room(2)], Rules(), [0, 0, 1]).steps]
    [True, True, False]
    >>> [step.spot is not None for step in Play(kinds, [Room(2), Room(2)], Rules(), [0, 1, 0]).steps]
    [True, True, True]
    """

    def __init__(
        self, requests: Sequence[Request], rooms: Sequence[Room], rules: Rules, order: Sequence[int]
    ) -> None:
        full, counts, steps = Cluster(requests, rooms, rules), Counter[int](), list[Step]()
        for kind in order:
            counts[kind] += 1
            steps.append(Step(kind, counts[kind], full.start(kind, counts[kind])))
        self.steps = tuple(steps)
        self.cluster = Cluster(requests, rooms, rules)
        self.at = 0
        """VMs that were powered on."""

    def go(self, at: int) -> None:
        """Power VMs on or off until so many were tried."""
        at = min(max(at, 0), len(self.steps))
        for step in self.steps[self.at : at]:
            if step.spot is not None:
                self.cluster.put(step.kind, step.vm, step.spot)
        for step in reversed(self.steps[at : self.at]):
            if step.spot is not None:
                self.cluster.stop(step.kind, step.vm)
        self.at = at

    @property
    def now(self) -> Step | None:
        """The VM that was powered on last."""
        return self.steps[self.at - 1] if self.at else None

    @property
    def refused(self) -> tuple[int, ...]:
        """The VMs that do not start, counted from 1 in their order."""
        return tuple(at for at, step in enumerate(self.steps, 1) if step.spot is None)

    def places(self, host: int, gpu: int) -> tuple[tuple[int, int], ...]:
        """(start, size) of each share on a GPU, as ``hosts`` lists them; none where shares are only counted."""
        family, shares = self.cluster.gpus.contents[self.cluster.states[host][gpu]]
        pieces = self.cluster.gpus.ways[family].pieces if family >= 0 else ()
        return tuple(sorted((start, pieces[piece].size) for piece, start in shares)) if pieces else ()

    def region(self, host: int, gpu: int) -> int:
        """Number of units of its size that a shared GPU has."""
        family, _ = self.cluster.gpus.contents[self.cluster.states[host][gpu]]
        return self.cluster.gpus.ways[family].region

    def joins(self, host: int, gpu: int) -> tuple[str, ...]:
        """Profiles of the VMs of this cluster of which a GPU takes one more."""
        gpus, state = self.cluster.gpus, self.cluster.states[host][gpu]
        return tuple(
            dict.fromkeys(
                request.profile
                for kind, request in enumerate(self.cluster.requests)
                if request.family and gpus.added(state, kind) >= 0
            )
        )

    def refusal(self) -> Refusal:
        """Why the VM that was powered on last did not start."""
        assert self.now is not None
        cluster, kind = self.cluster, self.now.kind
        gpus, wanted = cluster.gpus, cluster.gpus.fits.family_of[kind]
        counts = Counter(state for states in cluster.states for state in states)
        locked = Counter[tuple[str, ...]]()
        full = opened = 0
        for state, many in counts.items():
            family = gpus.contents[state][0]
            if wanted >= 0 and gpus.added(state, kind) >= 0:
                opened += many
            elif family >= 0 and family == wanted:
                full += many
            elif family >= 0:
                locked[gpus.fits.families[family].profiles] += many
        return Refusal(
            sum(counts.values()),
            counts[NEUTRAL],
            counts[WHOLE],
            full,
            tuple(locked.most_common()),
            opened,
            max((states.count(NEUTRAL) for states in cluster.states), default=0),
            self._short_of(kind),
        )

    def _short_of(self, kind: int) -> tuple[str, ...]:
        """Return the resources that are short on the hosts with the GPUs for a VM of a kind."""
        cluster, request = self.cluster, self.cluster.requests[kind]
        any_size = cluster.copy()
        any_size.rooms = tuple(Room(room.gpus) for room in cluster.rooms)
        able = any_size.able(kind)
        needs = (
            ("CPU", request.vcpus, cluster.vcpus, [room.vcpus for room in cluster.rooms]),
            ("memory", request.memory_gib, cluster.memory_gib, [room.memory_gib for room in cluster.rooms]),
        )
        return tuple(
            what
            for what, need, used, offered in needs
            if any(offered[host] and used[host] + need > offered[host] for host in able)
        )
