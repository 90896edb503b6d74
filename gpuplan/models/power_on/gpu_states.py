"""One GPU as vSphere fills it: VMs that may join it, the start of a share on it, and the choice among several GPUs.

``Rules`` is one reading of vSphere's behaviour; where sources differ there are several. ``Gpus`` numbers the contents
of a GPU as they occur, so that a host is a row of numbers: 0 is neutral, 1 belongs to a VM that has it whole.
"""

from collections.abc import Sequence
from functools import lru_cache
from threading import Lock
from typing import Any, NamedTuple

from gpuplan.models.gpu_layouts import Piece
from gpuplan.models.placement.fit import Rules as Fits
from gpuplan.models.placement.requests import Request

NEUTRAL, WHOLE = 0, 1


class Way(NamedTuple):
    """Rule by which the shares of one family are put on the GPUs of a host."""

    gpu: str = "fewest"
    """``fewest``: the GPU that may take it with least in use, a neutral one before all others; ``fullest``: that with most."""
    start: str = "lowest"
    """``lowest``: the first of its listed starts that is free; ``open``: that which leaves the largest profiles the most starts."""
    pieces: tuple[Piece, ...] = ()
    """Permitted starts of profiles (mixed size, MIG), requested or not; none: shares of one size are only counted."""
    region: int = 0
    compute_slices: int = 0


class Rules(NamedTuple):
    """One reading of how vSphere places a VM that is powered on."""

    host: str = "spread"
    """``spread``: the host with most headroom of those that can take it; ``turn``: the next one after the last that was taken."""
    consolidate: bool = False
    """VMs with whole GPUs go to the host on which most GPUs are taken whole; it does not see parts of GPUs."""
    ways: tuple[tuple[str, Way], ...] = ()
    """(family, way); a family that is not in it has ``Way()``."""
    domain: int = 0
    """GPUs that NVLink bridges join; a VM with several has them in one domain if they fit in one. 0: no condition."""
    partitions: bool = False
    """True if NVSwitch joins the GPUs: a VM gets 1, 2, 4 or 8 aligned ones, leaving the largest partitions free."""
    own_first: bool = False
    """True if a VM goes to a host with the first of its boards while one can take it, as a VM-host rule asks (should)."""


Shares = tuple[tuple[int, int], ...]
"""(profile or kind, start) of each share on a GPU, in order."""


class Placed(NamedTuple):
    """A VM on the GPUs of a host."""

    gpus: tuple[int, ...]
    """GPU of each share, or the GPUs that it has whole."""
    starts: tuple[int, ...]
    """Start of each share on its GPU; none for whole GPUs."""
    states: tuple[int, ...]
    """Content of the GPUs of the host afterwards."""


class Gpus:
    """Possible contents of the GPUs of hosts, by number, for some requests and one reading of the rules.

    >>> from gpuplan.models.placement.requests import Family
    >>> half = Family("16C", ("16C",), ((2,),))
    >>> gpus = Gpus([Request("a", 4, family=half, profile="16C"), Request("b", 1, gpus=1)], Rules())
    >>> one = gpus.added(NEUTRAL, 0)
    >>> gpus.added(one, 0) != one, gpus.added(one, 1), gpus.used[one]
    (True, -1, 1)
    >>> gpus.placed((one, NEUTRAL), 1)
    Placed(gpus=(1,), starts=(), states=(2, 1))
    """

    def __init__(self, requests: Sequence[Request], rules: Rules) -> None:
        self.requests, self.rules = tuple(requests), rules
        self.fits = Fits(requests)
        ways = dict(rules.ways)
        self.ways = [ways.get(family.name, Way()) for family in self.fits.families]
        self.fullest = [f >= 0 and self.ways[f].gpu == "fullest" for f in self.fits.family_of]
        """True for each kind whose shares join the GPU with most in use."""
        self._pieces = [self._piece(kind) for kind in range(len(requests))]
        by_size = sorted(range(len(requests)), key=self._size)
        self.sizes = [by_size.index(kind) for kind in range(len(requests))]
        """Rank of each kind by size, the smallest first: GPUs' worth, then vCPUs and memory."""
        self.contents: list[tuple[int, Shares]] = [(-1, ()), (-1, ())]
        """(family, shares) of each number."""
        self.used: list[int] = [0, 0]
        """Memory in use in units of the family; shares where they are only counted."""
        self.known: list[dict[tuple[int, ...], Placed | None]] = [{} for _ in requests]
        """For each kind: content of the GPUs of a host -> place of one more VM."""
        self._numbers: dict[tuple[int, Shares], int] = {}
        self._added: dict[tuple[int, int], int] = {}
        self._growing = Lock()

    def _size(self, kind: int) -> tuple[Any, ...]:
        request = self.requests[kind]
        return self.fits.worth[kind], request.vcpus, request.memory_gib, -kind

    def _piece(self, kind: int) -> int:
        """Return the piece of its family that a kind has; its profile where shares are only counted."""
        family, profile = self.fits.family_of[kind], self.requests[kind].profile
        if family < 0 or not self.ways[family].pieces:
            return kind
        names = [piece.name for piece in self.ways[family].pieces]
        if profile not in names:
            raise ValueError(f"{self.requests[kind].group}: there are no places for {profile}")
        return names.index(profile)

    def number(self, family: int, shares: Shares) -> int:
        """The number of what is on a GPU."""
        if not shares:
            return NEUTRAL
        key = family, tuple(sorted(shares))
        if key not in self._numbers:
            with self._growing:
                if key not in self._numbers:
                    self.contents.append(key)
                    self.used.append(self._units(family, shares))
                    self._numbers[key] = len(self.contents) - 1
        return self._numbers[key]

    def _units(self, family: int, shares: Shares) -> int:
        if pieces := self.ways[family].pieces:
            return sum(pieces[piece].size for piece, _ in shares)
        if self.fits.families[family].capacity:
            return sum(self.requests[kind].weight for kind, _ in shares)
        return len(shares)

    def added(self, state: int, kind: int) -> int:
        """Content of a GPU after one more share of a kind; -1 if there is no place for it."""
        key = state, kind
        if key not in self._added:
            self._added[key] = self._after(state, kind)
        return self._added[key]

    def _after(self, state: int, kind: int) -> int:
        family = self.fits.family_of[kind]
        if family < 0:
            return WHOLE if state == NEUTRAL and self.requests[kind].gpus else -1
        start = self.start_of(state, kind)
        return -1 if start is None else self.put(state, kind, start)

    def _shares(self, state: int) -> Shares:
        return self.contents[state][1]

    def removed(self, state: int, kind: int, start: int) -> int:
        """Content of a GPU after a share of a kind has left it."""
        family = self.fits.family_of[kind]
        if family < 0:
            return NEUTRAL
        left = list(self._shares(state))
        left.remove((self._pieces[kind], start))
        return self.number(family, tuple(left))

    def put(self, state: int, kind: int, start: int) -> int:
        """Content of a GPU after one more share of a kind that begins there."""
        family = self.fits.family_of[kind]
        return (
            WHOLE if family < 0 else self.number(family, (*self._shares(state), (self._pieces[kind], start)))
        )

    def start_of(self, state: int, kind: int) -> int | None:
        """Start of one more share of a kind on a GPU; 0 where shares are only counted, None if there is no place for it."""
        family = self.fits.family_of[kind]
        if state == WHOLE or (state != NEUTRAL and self.contents[state][0] != family):
            return None
        shares, way = self._shares(state), self.ways[family]
        if not way.pieces:
            used = self.fits.used_by(family, (one for one, _ in shares))
            return 0 if self.fits.more(family, used, self.fits.units[kind]) > 0 else None
        return _start(way, shares, self._pieces[kind])

    def placed(self, states: Sequence[int], kind: int) -> Placed | None:
        """GPUs of a host for one more VM of a kind, the start of its shares, and the content of the GPUs then; None if they cannot take it."""
        request, after = self.requests[kind], list(states)
        if request.family is None:
            return self._placed_whole(after, request.gpus)
        sign, chosen, starts = -1 if self.fullest[kind] else 1, list[int](), list[int]()
        for _ in range(request.shares):
            able = [at for at, state in enumerate(after) if self.added(state, kind) >= 0]
            if not able:
                return None
            at = min(able, key=lambda at: sign * self.used[after[at]])
            chosen.append(at)
            starts.append(self.start_of(after[at], kind) or 0)
            after[at] = self.added(after[at], kind)
        return Placed(tuple(chosen), tuple(starts), tuple(after))

    def _placed_whole(self, after: list[int], count: int) -> Placed | None:
        """Return the same for a VM with this number of whole GPUs, or none."""
        free = sum(1 << at for at, state in enumerate(after) if state == NEUTRAL)
        taken = _whole_gpus(free, count, len(after), self.rules.domain, self.rules.partitions) if count else 0
        if count and not taken:
            return None
        gpus = tuple(at for at in range(len(after)) if taken >> at & 1)
        return Placed(gpus, (), tuple(WHOLE if at in gpus else state for at, state in enumerate(after)))


@lru_cache(maxsize=16)
def shared_gpus(requests: tuple[Request, ...], rules: Rules) -> Gpus:
    """The ``Gpus`` of all clusters with these requests, one VM of each, whatever host a VM goes to.

    An upgrade is rehearsed on some ten clusters that differ in hosts, in how many VMs there are and in the choice of the host: what
    goes onto one GPU is worked out once.
    """
    return Gpus(requests, rules)


def _start(way: Way, shares: Shares, piece: int) -> int | None:
    """Return the start of one more piece on a GPU, by the rule of its family."""
    free = _free_starts(way, shares, piece)
    if not free or way.start != "open":
        return free[0] if free else None
    largest = sorted(range(len(way.pieces)), key=lambda p: (-way.pieces[p].size, -way.pieces[p].compute))

    def left(start: int) -> tuple[int, ...]:
        return tuple(len(_free_starts(way, (*shares, (piece, start)), other)) for other in largest)

    return max(free, key=left)


def _free_starts(way: Way, shares: Shares, piece: int) -> list[int]:
    """Return listed starts for one more of a piece; none if its limit is reached, or compute slices are short."""
    one = way.pieces[piece]
    compute = sum(way.pieces[other].compute for other, _ in shares) + one.compute
    count = sum(other == piece for other, _ in shares)
    if count >= one.most or (way.compute_slices and compute > way.compute_slices):
        return []
    taken = [(start, start + way.pieces[other].size) for other, start in shares]
    return [
        start
        for start in one.starts
        if start + one.size <= way.region and all(start + one.size <= a or b <= start for a, b in taken)
    ]


@lru_cache(maxsize=200_000)
def _whole_gpus(free: int, count: int, gpus: int, domain: int, partitions: bool) -> int:
    """Free GPUs of a host for a VM that takes so many whole.

    A bit for each GPU; 0 if there are too few. Without a condition those with the lowest numbers. With bridges the
    first domain that has enough; a VM that no domain can hold takes any. With NVSwitch a partition of 1, 2, 4 or 8, the
    smallest that is large enough, aligned to its size: that after which the most partitions of 8 are free, then of 4, 2
    and 1. [frankdenneman-partitions-2026]_
    """
    if partitions:
        size = 1 << (count - 1).bit_length()
        blocks = [block for block in _aligned(gpus, size) if block & free == block]
        sizes = [1 << n for n in range(gpus.bit_length() - 1, -1, -1)]
        return max(blocks, key=lambda taken: [_whole(free & ~taken, gpus, part) for part in sizes], default=0)
    groups = [(1 << gpus) - 1]
    if 1 < count <= domain:
        groups = [((1 << domain) - 1) << at for at in range(0, gpus, domain)]
    for group in groups:
        here = [1 << at for at in range(gpus) if free & group & 1 << at]
        if len(here) >= count:
            return sum(here[:count])
    return 0


def _aligned(gpus: int, size: int) -> list[int]:
    return [((1 << size) - 1) << at for at in range(0, gpus - size + 1, size)]


def _whole(free: int, gpus: int, size: int) -> int:
    """Return the number of free partitions of a size."""
    return sum(block & free == block for block in _aligned(gpus, size))
