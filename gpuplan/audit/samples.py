"""Samples of GPU activity: a CSV with one sample per row, or the log of nvidia-smi.

At each moment a GPU counts once, and each sample counts for the time until its neighbours.

The counters of DCGM follow [nvidia-dcgm-header]_, their readings under MIG [dcgm-exporter-216]_ and [dcgm-80]_.
"""

from collections.abc import Mapping
from functools import partial
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from gpuplan.audit.columns import COLUMNS
from gpuplan.audit.table import Log, Rows, Table
from gpuplan.audit.trace import ALL, Collected, Samples, refusal
from gpuplan.audit.values import Clock, is_missing, percent_of
from gpuplan.wording import said

SAMPLE_COLUMNS = COLUMNS["samples"]
UNDER_MIG = said("audit.under mig")


def read_samples(table: Table, given: Mapping[str, str], clock: Clock, *, format: str = "samples") -> Samples:
    """Read the samples of a file with one sample per row; nvidia-smi leaves out the GPU if there is only one."""
    smi = format == "nvidia-smi"
    at = table.find(SAMPLE_COLUMNS, given)
    if not at.keys() >= {"percent", "time"} or not (smi or "gpu" in at):
        raise table.missing("audit.needs.nvidia-smi" if smi else "audit.needs.samples")
    scale = getattr(table.read["percent"].unit, "factor", 1.0)
    group_from = next((key for key in ("group", "user") if key in at), "")
    log, samples = Log(clock), Collected("time_s", "percent", "weight", codes=("gpu", "group"))
    for rows in table.rows(at, log):
        _leave_out_empty(rows)
        time = rows.time("time")
        percent = rows.read("percent", partial(percent_of, scale=scale))
        samples.add(rows.kept, time_s=time, percent=percent, weight=np.ones(len(time)))
        samples.add_names(gpu=_gpu_names(rows), group=rows.texts(group_from, ALL))
    empty = log.count("audit.row.mig") + log.count("audit.row.no value")
    if smi and empty and not len(samples):
        raise refusal("audit.no utilisation", under_mig=UNDER_MIG)
    log.check(len(samples), "audit.none.samples")
    shared, summed = count_once(samples.columns(), samples["group"], of_each=None)
    by_index = "host" not in at and "gpu" in at and table.names[at["gpu"]] in ("index", "gpu_index")
    notes = {
        "audit.note.mig": smi * empty,
        "audit.note.ratio": scale == 1 and samples["percent"].max() <= 1,
        "audit.note.no group of samples": not group_from,
        "audit.note.index": smi and by_index,
        "audit.note.same gpu": shared,
        "audit.note.shared sum": summed,
    }
    columns = table.columns(at)
    words = {"under_mig": UNDER_MIG, "column": columns["percent"]}
    reading = log.reading(format, len(samples), columns, notes, **words)
    gpus, metric = tuple(samples.names["gpu"].shown), table.header[at["percent"]]
    return Samples(**samples.columns(), gpus=gpus, metric=metric, reading=reading)


def _leave_out_empty(rows: Rows) -> None:
    percent = rows.columns["percent"]
    if "mig" in rows.columns:
        modes = rows.columns["mig"]
        rows.leave_out([text.strip().lower() == "enabled" for text in modes], "audit.row.mig", percent)
    empty = {text for text in set(percent) if is_missing(text) or text.startswith("[")}
    rows.leave_out([text in empty for text in percent], "audit.row.no value", percent)


def _gpu_names(rows: Rows) -> list[str]:
    """Return the GPU of each row that is still included, after its host where there is one."""
    gpus = [text.strip() for text in rows.texts("gpu", "GPU")]
    if "host" not in rows.columns:
        return gpus
    return [f"{host.strip()} {gpu}" for host, gpu in zip(rows.texts("host"), gpus, strict=True)]


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
