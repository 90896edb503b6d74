"""Ways to divide one GPU into MIG instances or vGPUs of several sizes, and where on it each begins.
[nvidia-mig-user-guide-610]_ [nvidia-vgpu-17.0-user-guide]_
"""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from gpuplan.units import each, whole_from_zero


class Piece(NamedTuple):
    """A part of a GPU that can only begin where the vendor's table says."""

    name: str
    size: int
    """Memory slices of a MIG profile, or GB of the placement table."""
    starts: tuple[int, ...]
    """Permitted starts, in order of preference."""
    most: int
    """Most on one GPU."""
    compute: int = 0
    """Compute slices of a MIG profile; 0 for time slices."""


def gpu_layouts(
    pieces: Sequence[Piece], *, region: int, compute_slices: int = 0, in_order: bool = False
) -> tuple[tuple[int, ...], ...]:
    """All fullest ways to divide one GPU into pieces of given sizes and places.

    Parameters:
        pieces (sequence of Piece): Profiles that may be on one GPU together, with their places. [-]
        region: Memory slices of the GPU, or GB of the placement table. [-]
        compute_slices: Compute slices of the GPU; 0 if compute is not divided. [-]
        in_order: Whether each piece takes the first of its starts that is free, the largest first, and no other is chosen. [-]

    How many of each piece are on the GPU, largest first; no layout is part of another. Pieces take start to start +
    size within the region, at the listed starts only, and do not overlap; at most so many of each piece and so many
    compute slices in all. A dynamic programme over the positions: for each number of the other pieces that end by a
    position, the most of one piece (that which there may be most of). As any piece can be left out, that says
    everything. Exact; some milliseconds for six pieces. With in_order only what comes about by itself counts: vSphere
    makes MIG instances as VMs start, and a 3g whose first start is 0 leaves three 1g, where one that starts at 4 leaves
    four.

    >>> one, three = Piece("1g.10gb", 1, (0, 1, 2, 3, 4, 5, 6), 7, 1), Piece("3g.40gb", 4, (0, 4), 2, 3)
    >>> gpu_layouts([three, one], region=8, compute_slices=7)
    ((2, 0), (1, 4), (0, 7))
    >>> gpu_layouts([three, one], region=8, compute_slices=7, in_order=True)
    ((2, 0), (1, 3), (0, 7))
    """
    whole_from_zero(region=region, compute_slices=compute_slices)
    search = _in_order if in_order else _gpu_layouts
    return search(tuple(piece._replace(name="") for piece in pieces), region, compute_slices)


def layout_starts(
    counts: Sequence[int], *, pieces: Sequence[Piece], region: int, compute_slices: int = 0
) -> tuple[tuple[int, ...], ...]:
    """Start of each piece of a layout on the GPU.

    Parameters:
        counts (sequence of int): How many of each piece are on the GPU. [-]
        pieces (sequence of Piece): Profiles that may be on one GPU together, with their places. [-]
        region: Memory slices of the GPU, or GB of the placement table. [-]
        compute_slices: Compute slices of the GPU; 0 if compute is not divided. [-]

    Of all valid arrangements the first: the first piece at the first of its starts that the others allow, then the
    second, and so on. Each choice is tested by the dynamic programme of gpu_layouts. Refused if the pieces do not fit
    on one GPU together.

    >>> one, three = Piece("1g.10gb", 1, (0, 1, 2, 3, 4, 5, 6), 7, 1), Piece("3g.40gb", 4, (0, 4), 2, 3)
    >>> layout_starts([1, 3], pieces=[three, one], region=8, compute_slices=7)
    ((0,), (4, 5, 6))
    """
    each(whole_from_zero, counts=counts)
    whole_from_zero(region=region, compute_slices=compute_slices)
    starts = _layout_starts(
        tuple(counts), tuple(piece._replace(name="") for piece in pieces), region, compute_slices
    )
    if starts is None:
        names = ", ".join(f"{n} x {piece.name}" for n, piece in zip(counts, pieces, strict=True) if n)
        raise ValueError(f"{names} do not fit on one GPU together")
    return starts


@lru_cache(maxsize=256)
def _gpu_layouts(pieces: tuple[Piece, ...], region: int, compute_slices: int) -> tuple[tuple[int, ...], ...]:
    limits = [min(piece.most, len(piece.starts), region // piece.size) for piece in pieces]
    if not pieces:
        return ()
    first = max(range(len(pieces)), key=lambda i: limits[i])
    others = [i for i in range(len(pieces)) if i != first]
    most = _most_of_one(pieces, region, limits, first)
    if compute_slices:
        used = np.zeros(most.shape, dtype=np.int64)
        for axis, i in enumerate(others):
            steps = np.arange(limits[i] + 1) * pieces[i].compute
            used += steps.reshape([-1 if a == axis else 1 for a in range(len(others))])
        left = compute_slices - used
        compute = pieces[first].compute
        most = np.where(left < 0, -1, np.minimum(most, left // compute if compute else most))
    maximal = most >= 0
    for axis in range(len(others)):
        ahead = np.full(most.shape, -1, dtype=most.dtype)
        size = most.shape[axis]
        ahead[_part(axis, 0, size - 1)] = most[_part(axis, 1, size)]
        maximal &= ahead < most
    layouts = []
    for where in np.argwhere(maximal):
        layout = [0] * len(pieces)
        for i, amount in zip(others, where, strict=True):
            layout[i] = int(amount)
        layout[first] = int(most[tuple(where)])
        if any(layout):
            layouts.append(tuple(layout))
    return tuple(sorted(layouts, reverse=True))


@lru_cache(maxsize=256)
def _in_order(pieces: tuple[Piece, ...], region: int, compute_slices: int) -> tuple[tuple[int, ...], ...]:
    """Return the same where each piece, the largest first, goes to the first of its free starts."""
    order = sorted(range(len(pieces)), key=lambda i: (-pieces[i].size, -pieces[i].compute))
    layouts: list[tuple[int, ...]] = []

    def put(at: int, counts: list[int], taken: frozenset[int], compute: int) -> None:
        if at == len(order):
            layouts.append(tuple(counts))
            return
        piece = pieces[order[at]]
        put(at + 1, counts, taken, compute)
        compute += piece.compute
        spans = (range(start, start + piece.size) for start in piece.starts)
        span = next((s for s in spans if s.stop <= region and taken.isdisjoint(s)), None)
        if span and counts[order[at]] < piece.most and (not compute_slices or compute <= compute_slices):
            put(at, [n + (i == order[at]) for i, n in enumerate(counts)], taken | set(span), compute)

    put(0, [0] * len(pieces), frozenset(), 0)
    inside = set(layouts)
    fullest = [
        layout
        for layout in inside
        if any(layout)
        and not any((*layout[:i], n + 1, *layout[i + 1 :]) in inside for i, n in enumerate(layout))
    ]
    return tuple(sorted(fullest, reverse=True))


def _part(axis: int, start: int, stop: int) -> tuple[slice, ...]:
    return (*[slice(None)] * axis, slice(start, stop))


def _most_of_one(
    pieces: Sequence[Piece],
    region: int,
    limits: Sequence[int],
    first: int,
    taken: AbstractSet[int] = frozenset(),
) -> Any:
    """For each number of the other pieces the most of the first that fit with them beside what is taken; -1 if they do not."""
    others = [i for i in range(len(pieces)) if i != first]
    shape = [limits[i] + 1 for i in others]
    nothing = np.full(shape, -1, dtype=np.int16)
    nothing[(0,) * len(others)] = 0
    ends: dict[int, list[int]] = {}
    for i, piece in enumerate(pieces):
        for start in piece.starts:
            end = start + piece.size
            if limits[i] and end <= region and taken.isdisjoint(range(start, end)):
                ends.setdefault(end, []).append(i)
    upto = [nothing]
    for position in range(1, region + 1):
        best = upto[-1]
        for i in ends.get(position, ()):
            before = upto[position - pieces[i].size]
            if i == first:
                with_it = np.where(before >= 0, np.minimum(before + 1, limits[i]), -1)
            else:
                axis = others.index(i)
                with_it = np.full(shape, -1, dtype=np.int16)
                with_it[_part(axis, 1, limits[i] + 1)] = before[_part(axis, 0, limits[i])]
            best = np.maximum(best, with_it)
        upto.append(best)
    return upto[-1]


@lru_cache(maxsize=1024)
def _layout_starts(
    counts: tuple[int, ...], pieces: tuple[Piece, ...], region: int, compute_slices: int
) -> tuple[tuple[int, ...], ...] | None:
    if any(n > min(piece.most, len(piece.starts)) for n, piece in zip(counts, pieces, strict=True)):
        return None
    if compute_slices and sum(n * p.compute for n, p in zip(counts, pieces, strict=True)) > compute_slices:
        return None
    left = list(counts)
    taken: AbstractSet[int] = frozenset()
    if not _rest_fits(pieces, region, left, taken):
        return None
    chosen: list[tuple[int, ...]] = []
    for i, piece in enumerate(pieces):
        here: list[int] = []
        for start in piece.starts:
            part = range(start, start + piece.size)
            if left[i] and part.stop <= region and taken.isdisjoint(part):
                fewer = [n - (at == i) for at, n in enumerate(left)]
                if _rest_fits(pieces, region, fewer, taken | set(part)):
                    here.append(start)
                    left, taken = fewer, taken | set(part)
        chosen.append(tuple(here))
    return tuple(chosen)


def _rest_fits(pieces: Sequence[Piece], region: int, left: Sequence[int], taken: AbstractSet[int]) -> bool:
    """True if these pieces still fit beside the occupied slices."""
    if not any(left):
        return True
    first = max(range(len(left)), key=lambda i: left[i])
    others = tuple(n for i, n in enumerate(left) if i != first)
    return bool(_most_of_one(pieces, region, left, first, taken)[others] >= left[first])
