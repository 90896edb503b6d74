"""Samples in time: at each moment a GPU counts once, and each sample counts for the time until its neighbours."""

from collections.abc import Mapping
from itertools import pairwise
from typing import NamedTuple

import numpy as np

LONG_GAP = 3.5
"""Intervals between samples from which on a gap is no time that was sampled: more than two samples are missing."""

BLOCK = 500_000
"""Samples looked at together, whole GPUs."""


def count_once(
    rows: Mapping[str, np.ndarray], sharer: np.ndarray, *, of_each: bool | None = False
) -> tuple[int, bool]:
    """Let the samples of a GPU at one time count once, by their ``weight`` and ``percent``, which are changed.

    Samples of the same ``sharer``, such as those of two Prometheus servers, are averaged. Sharers have equal parts of
    the GPU, all as busy as it is; where their values are ``of_each`` the GPU has their sum, and they have it by these.
    None decides that by whether most sharers differ. Return how many samples share a GPU, and whether by ``of_each``.
    """
    order = np.lexsort((rows["time_s"], rows["gpu"]))
    begins = np.append(True, _changes(rows, order))
    shared = ~(begins & np.append(begins[1:], True))
    if not shared.any():
        return 0, False
    order, starts = order[shared], np.flatnonzero(begins[shared])
    cuts = starts[np.searchsorted(starts, np.arange(0, len(order), BLOCK)).clip(max=len(starts) - 1)]
    blocks = [order[a:b] for a, b in pairwise([*np.unique(cuts), len(order)])]
    if of_each is None:
        of_each = sum(_differing(*_shares(rows, sharer, at)) for at in blocks) > 0
    parted = False
    for at in blocks:
        moment, value, alike, sharers = _shares(rows, sharer, at)
        part = 1 / (alike * sharers[moment])
        if of_each:
            total = np.bincount(moment, weights=value / alike)[moment]
            part = np.divide(value / alike, total, out=part, where=total > 0)
            value = np.minimum(100, total)
            parted = parted or sharers.max() > 1.5
        rows["percent"][at] = value
        rows["weight"][at] *= part
    return len(order), bool(parted)


def _changes(rows: Mapping[str, np.ndarray], at: np.ndarray) -> np.ndarray:
    """Return which samples, in this order, are of another moment than the one before; all but the first."""
    changes: np.ndarray = np.diff(rows["time_s"][at]) != 0
    changes |= np.diff(rows["gpu"][at]) != 0
    return changes


def _shares(
    rows: Mapping[str, np.ndarray], sharer: np.ndarray, at: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return moment, mean value of its sharer, and number of samples of that for each row, and sharers by moment."""
    moment = np.cumsum(np.append(False, _changes(rows, at)))
    pair = moment * (int(sharer.max()) + 1) + sharer[at]
    _, pair, alike = np.unique(pair, return_inverse=True, return_counts=True)
    value = np.bincount(pair, weights=rows["percent"][at]) / alike
    return moment, value[pair], alike[pair], np.bincount(moment, weights=1 / alike[pair])


def _differing(moment: np.ndarray, value: np.ndarray, alike: np.ndarray, sharers: np.ndarray) -> int:
    """Return at how many moments sharers that are not all idle have other values, less those at which they have not."""
    most, total = np.zeros(len(sharers)), np.bincount(moment, weights=value / alike)
    np.maximum.at(most, moment, value)
    several = (sharers > 1.5) & (most > 0)
    return int(2 * np.sum(several & (total < (most - 0.01) * sharers)) - several.sum())


class Sampled(NamedTuple):
    """Time that samples stand for."""

    length_s: np.ndarray
    """Time of each sample: half of that to the sample before and to the one after."""
    total_s: float
    """Time in which any GPU is sampled."""
    interval_s: float
    """Time between two samples of a GPU, the median."""
    gaps: int
    """Gaps between the samples of each GPU, longer than a few intervals: no time of the samples beside them."""
    gaps_gpu_h: float
    gaps_h: float
    """Time in which no GPU is sampled."""
    sizes: np.ndarray
    """Largest part of each GPU, or of a MIG instance of its board, that is sampled at one time."""


def sampled(time: np.ndarray, gpu: np.ndarray, weight: np.ndarray) -> Sampled:
    """Return the time that each sample stands for, from the moments at which its GPU was sampled."""
    order = np.lexsort((time, gpu))
    step = np.diff(time[order])
    step = step[(np.diff(gpu[order]) == 0) & (step > 0)]
    interval = float(np.median(step)) if len(step) else max(1.0, float(np.ptp(time)))
    around = step.min(initial=interval) / 2
    file = float(time.min()) - around, float(time.max()) + around
    ends = np.cumsum(np.bincount(gpu))
    cuts = np.searchsorted(ends, np.arange(BLOCK, len(time) + BLOCK, BLOCK)).clip(max=len(ends) - 1)
    length, sizes = np.empty_like(time), np.zeros(len(ends))
    gaps, runs = [], []
    for begin, end in pairwise([0, *np.unique(ends[cuts]).tolist()]):
        at = order[begin:end]
        when, of = time[at], gpu[at]
        begins = np.append(True, (np.diff(when) != 0) | (np.diff(of) != 0))
        first = np.flatnonzero(begins)
        np.maximum.at(sizes, of[first], np.add.reduceat(weight[at], first))
        step, same = np.diff(when[first]), np.diff(of[first]) == 0
        gap = _gaps(step, same)
        gaps.append(step[gap])
        lengths, run = _lengths(when[first], np.where(same & ~gap, step, 0.0), interval, file)
        length[at] = lengths[np.cumsum(begins) - 1]
        runs.append(run)
    starts, stops = np.concatenate(runs, axis=1)
    by_start = np.argsort(starts)
    starts, stops = starts[by_start], np.maximum.accumulate(stops[by_start])
    holes = float(np.maximum(0.0, starts[1:] - stops[:-1]).sum())
    total = float(stops[-1] - starts[0]) - holes
    gap = np.concatenate(gaps)
    return Sampled(length, total, interval, len(gap), float(gap.sum()) / 3600, holes / 3600, sizes)


def _gaps(step: np.ndarray, same: np.ndarray) -> np.ndarray:
    """Return which steps from a sample to the next one of its GPU are gaps, compared with two steps on either side."""
    steps = np.concatenate(([np.inf] * 2, np.where(same, step, np.inf), [np.inf] * 2))
    gap: np.ndarray = same & (step > LONG_GAP * np.minimum(steps[1:-3], steps[3:-1]))
    at = np.flatnonzero(gap)
    around = steps[at[:, None] + np.arange(5)]
    around[:, 0][np.isinf(around[:, 1])] = np.inf  # of another GPU
    around[:, 4][np.isinf(around[:, 3])] = np.inf
    around.sort(axis=1)
    count = np.isfinite(around).sum(axis=1)
    gap[at] = step[at] > LONG_GAP * around[np.arange(len(at)), count // 2]
    return gap


def _lengths(
    when: np.ndarray, joined: np.ndarray, interval: float, file: tuple[float, float]
) -> tuple[np.ndarray, np.ndarray]:
    """Return the time of each moment, and begin and end of each run of moments without a gap.

    ``joined`` is the step to the next moment, 0 after the last one of a run. A run begins half a step before its first
    and ends half a step after its last moment, or at the edge of the file where that is nearer than a whole step.
    """
    before, after = np.append(0.0, joined), np.append(joined, 0.0)
    first, last = before == 0, after == 0
    head, tail = (np.where(step > 0, step, interval) for step in (after[first], before[last]))
    starts = np.where(when[first] - file[0] < head, file[0], when[first] - head / 2)
    stops = np.where(file[1] - when[last] < tail, file[1], when[last] + tail / 2)
    length = (before + after) / 2
    length[first] += when[first] - starts
    length[last] += stops - when[last]
    return length, np.stack((starts, stops))
