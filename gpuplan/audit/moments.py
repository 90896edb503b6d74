"""Samples in time: at each moment a GPU counts once, and each sample counts for the time until its neighbours."""

from collections.abc import Mapping
from itertools import pairwise
from typing import NamedTuple

import numpy as np

LONG_GAP = 3.5
"""Intervals between samples from which on a gap is no time that was sampled: more than two samples are missing."""

BLOCK = 500_000
"""Samples looked at together, whole GPUs."""


def _moments(time: np.ndarray, gpu: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the order of samples by GPU and time, and for each in this order whether it begins another moment."""
    order = np.lexsort((time, gpu))
    begins = np.ones(len(order), dtype=bool)
    begins[1:] = (np.diff(time[order]) != 0) | (np.diff(gpu[order]) != 0)
    return order, begins


def count_once(
    rows: Mapping[str, np.ndarray], sharer: np.ndarray, *, of_each: bool | None = False
) -> tuple[int, bool]:
    """Let the samples of a GPU at one time count once, by their ``weight`` and ``percent``, which are changed.

    Samples of the same ``sharer``, such as those of two Prometheus servers, are averaged. Sharers have equal parts of
    the GPU, all as busy as it is; where their values are ``of_each`` the GPU has their sum, and they have it by these.
    None decides that by whether most sharers differ. Return how many samples share a GPU, and whether by ``of_each``.
    """
    order, begins = _moments(rows["time_s"], rows["gpu"])
    if begins.all():
        return 0, False
    alone = begins & np.append(begins[1:], True)
    at = order[~alone]
    moment = np.cumsum(begins[~alone]) - 1
    _, pair = np.unique(moment * (int(sharer.max()) + 1) + sharer[at], return_inverse=True)
    alike = np.bincount(pair)
    value = (np.bincount(pair, weights=rows["percent"][at]) / alike)[pair]
    each = value / alike[pair]
    total = np.bincount(moment, weights=each)
    sharers = np.bincount(moment, weights=1 / alike[pair])
    if of_each is None:
        most = np.zeros(len(total))
        np.maximum.at(most, moment, value)
        several = (sharers > 1.5) & (most > 0)
        of_each = 2 * np.sum(several & (total < (most - 0.01) * sharers)) > several.sum()
    if of_each:
        part = np.divide(
            each, total[moment], out=1 / (alike[pair] * sharers[moment]), where=total[moment] > 0
        )
        rows["percent"][at] = np.minimum(100, total[moment])
    else:
        part = 1 / (alike[pair] * sharers[moment])
        rows["percent"][at] = value
    rows["weight"][at] *= part
    return len(at), bool(of_each and sharers.max() > 1.5)


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


class _Run(NamedTuple):
    """Moments of GPUs without a gap: for each run an element of each array."""

    when: np.ndarray
    """Its first or its last moment."""
    step: np.ndarray
    """Time to the moment beside it; 0 where there is none."""
    row: np.ndarray
    """First row of this moment, in the order of GPUs and times, and the number of its rows."""
    rows: np.ndarray


def sampled(time: np.ndarray, gpu: np.ndarray, weight: np.ndarray) -> Sampled:
    """Return the time that each sample stands for, from the moments at which its GPU was sampled."""
    order = np.lexsort((time, gpu))
    ends = np.cumsum(np.bincount(gpu))
    cuts = np.searchsorted(ends, np.arange(BLOCK, len(time) + BLOCK, BLOCK)).clip(max=len(ends) - 1)
    length, sizes = np.empty_like(time), np.zeros(len(ends))
    steps, gaps, firsts, lasts = [], [], [], []
    for begin, end in pairwise([0, *np.unique(ends[cuts]).tolist()]):
        at = order[begin:end]
        when, of = time[at], gpu[at]
        begins = np.append(True, (np.diff(when) != 0) | (np.diff(of) != 0))
        row = np.flatnonzero(begins)
        np.maximum.at(sizes, of[row], np.add.reduceat(weight[at], row))
        when, same = when[row], np.diff(of[row]) == 0
        step = np.diff(when)
        gap = _gaps(step, same)
        joined = np.where(same & ~gap, step, 0.0)
        before, after = np.append(0.0, joined), np.append(joined, 0.0)
        length[at] = ((before + after) / 2)[np.cumsum(begins) - 1]
        steps.append(step[same].astype(np.float32))
        gaps.append(step[gap])
        rows = np.diff(row, append=len(at))
        for runs, there, beside in ((firsts, before == 0, after), (lasts, after == 0, before)):
            runs.append(_Run(when[there], beside[there], row[there] + begin, rows[there]))
    known = np.concatenate(steps)
    interval = float(np.median(known)) if len(known) else max(1.0, float(np.ptp(time)))
    first, last = (_Run(*map(np.concatenate, zip(*runs, strict=True))) for runs in (firsts, lasts))
    starts, stops = _until_edges(first, last, interval)
    for run, more in ((first, first.when - starts), (last, stops - last.when)):
        of_each = np.arange(run.rows.sum()) + np.repeat(run.row - np.cumsum(run.rows) + run.rows, run.rows)
        length[order[of_each]] += np.repeat(more, run.rows)
    by_start = np.argsort(starts)
    starts, stops = starts[by_start], np.maximum.accumulate(stops[by_start])
    holes = float(np.maximum(0.0, starts[1:] - stops[:-1]).sum())
    total = float(stops[-1] - starts[0]) - holes
    unsampled = np.concatenate(gaps)
    return Sampled(
        length, total, interval, len(unsampled), float(unsampled.sum()) / 3600, holes / 3600, sizes
    )


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
    gap[at] = step[at] > LONG_GAP * around[np.arange(len(at)), (count - 1) // 2]
    return gap


def _until_edges(first: _Run, last: _Run, interval: float) -> tuple[np.ndarray, np.ndarray]:
    """Return begin and end of each run of moments: half a step before its first and after its last moment.

    A run reaches the edge of the file where that is nearer than a whole step.
    """
    head, tail = (np.where(run.step > 0, run.step, interval) for run in (first, last))
    shortest = min(head.min(), tail.min())
    begin, end = first.when.min() - shortest / 2, last.when.max() + shortest / 2
    starts = np.where(first.when - begin < head, begin, first.when - head / 2)
    stops = np.where(end - last.when < tail, end, last.when + tail / 2)
    return starts, stops
