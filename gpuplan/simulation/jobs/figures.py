"""Figures of a simulation, with intervals by batch means."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from gpuplan.simulation.arrivals import Floats, Ints
from gpuplan.simulation.event_loop import loop
from gpuplan.simulation.event_loop.engine import Engine
from gpuplan.simulation.event_loop.loop import Rules

FLOOR = 0.04
"""Half width that is tight enough for a share, however small the share is, relative to the tolerance."""
EVENTS_PER_CALL = {True: 1 << 20, False: 1 << 16}
"""Requests between two calls of ``progress``, compiled or not."""


class Estimate(NamedTuple):
    """A figure and the half width of its 95 % interval; the half width is None where too little was seen to tell."""

    value: float
    half_width: float | None


class Progress(NamedTuple):
    """Progress of a simulation or a replay."""

    requests: int
    most_requests: int
    hours: float


@dataclass(frozen=True, slots=True)
class Outcome:
    """Result for the requests of one stream, or of all, that arrived after the warm-up.

    ``denied``, ``waited`` (started late, or left after waiting) and ``waited_longer`` (than the threshold) are shares
    of the requests; those that still wait count with the wait so far. Mean and percentiles are of the waits of those
    served, the percentiles within 2 %; below 4 ms they are 0.
    """

    name: str
    requests: int
    served: int
    denied_requests: int
    still_waiting: int
    denied: Estimate
    waited: Estimate
    waited_longer: Estimate
    mean_wait_h: Estimate
    wait_p50_h: float
    wait_p90_h: float
    wait_p95_h: float
    wait_p99_h: float


@dataclass(frozen=True, slots=True)
class Simulated:
    """Results of a simulation: each stream, all of them, and the GPUs.

    ``utilisation`` counts a fraction as its ``gpus``, ``peak_gpus`` a shared GPU as one; it, ``requests`` and
    ``hours`` are with the warm-up. ``busy_by_hour``: mean GPUs allocated by hour of the week, if a rate varies.
    ``ended``: tight, limit or cancelled. ``growing``: the queue still grew at the end, so waits depend on how long it
    ran.
    """

    streams: tuple[Outcome, ...]
    overall: Outcome
    utilisation: Estimate
    busy_by_hour: tuple[float, ...]
    peak_gpus: int
    requests: int
    hours: float
    ended: str
    growing: bool


def _estimate(parts: Floats, of: Floats, *, share: bool = False) -> Estimate:
    """Ratio of two sums over the batches, with the half width of its 95 % interval by batch means."""
    from scipy.special import stdtrit

    whole, count = float(of.sum()), len(of)
    if whole == 0:
        return Estimate(0.0, None)
    value = float(parts.sum()) / whole
    if share and value in (0.0, 1.0):
        return Estimate(value, min(1.0, 3 / whole))
    if count < 2:
        return Estimate(value, None)
    away = parts - value * of
    square = float(np.sum(away * away))
    if square == 0:
        return Estimate(value, 0.0)
    neighbours = min(max(float(np.sum(away[1:] * away[:-1])) / square, 0.0), 0.9)
    deviation = math.sqrt(square / (count - 1) / count * (1 + neighbours) / (1 - neighbours)) / (
        whole / count
    )
    return Estimate(value, float(stdtrit(count - 1, 0.975)) * deviation)


def _shares(sums: Floats, rules: Rules) -> tuple[Estimate, Estimate, Estimate]:
    """Return denied, waited, waited longer; cases that the rules exclude are exactly 0."""
    requests = sums[:, loop.ASKED]
    longest_h = rules.longest

    def share(column: int, may_be: bool) -> Estimate:
        return _estimate(sums[:, column], requests, share=True) if may_be else Estimate(0.0, 0.0)

    turned, waited = share(loop.TURNED, longest_h < math.inf), share(loop.WAITED, longest_h > 0)
    return turned, waited, share(loop.LONGER, longest_h > rules.threshold)


def _window(engine: Engine) -> slice:
    """The batches that count: those complete, without the first eighth; the first, if none is."""
    complete = engine.batches
    return slice(complete // 8, complete) if complete else slice(0, 1)


def _tight(engine: Engine, tolerance: float) -> bool:
    shares = _shares(engine.sums()[_window(engine)].sum(axis=1), engine.rules)
    return all(e.half_width is not None and e.half_width <= tolerance * max(e.value, FLOOR) for e in shares)


def _quantiles(bins: Ints) -> list[float]:
    """Percentiles 50, 90, 95 and 99 of the waits in bins: the middle of the bin."""
    total = np.cumsum(bins)
    if total[-1] == 0:
        return [0.0] * 4
    waits = []
    for share in (0.5, 0.9, 0.95, 0.99):
        place = int(np.searchsorted(total, share * total[-1])) - 1
        octave, part = divmod(place, loop.PER_OCTAVE)
        low = 0.0 if place < 0 else 2.0 ** (loop.LOWEST + octave)
        waits.append(low * (1 + (part + 0.5) / loop.PER_OCTAVE))
    return waits


def _outcome(name: str, sums: Floats, bins: Ints, rules: Rules) -> Outcome:
    columns = (loop.ASKED, loop.TURNED, loop.SERVED)
    requests, turned, served = (int(sums[:, column].sum()) for column in columns)
    counts, mean = (requests, served, turned), _estimate(sums[:, loop.HOURS], sums[:, loop.SERVED])
    left = requests - served - turned
    return Outcome(name, *counts, left, *_shares(sums, rules), mean, *_quantiles(bins))


def _simulated(engine: Engine, names: Sequence[str], gpus: int, ended: str) -> Simulated:
    window = _window(engine)
    sums, area, bins = engine.sums()[window], engine.area()[window], engine.bins(window)
    batch_h = engine.time_of(1) if engine.batches else engine.now_h
    hours = np.full(len(area), batch_h)
    overall = _outcome("all", sums.sum(axis=1), bins.sum(axis=0), engine.rules)
    early = sums[: (len(sums) + 1) // 2]
    early_wait_h = early[:, :, [loop.HOURS, loop.PENDING]].sum() / max(1.0, early[:, :, loop.ASKED].sum())
    many = overall.still_waiting > 0.01 * overall.requests
    weekly = engine.slots > 1 and engine.batches > 0
    return Simulated(
        streams=tuple(_outcome(name, sums[:, n], bins[n], engine.rules) for n, name in enumerate(names)),
        overall=overall,
        utilisation=_estimate(area.sum(axis=1), hours * gpus),
        busy_by_hour=tuple((area.sum(axis=0) / (hours.sum() / engine.slots)).tolist()) if weekly else (),
        peak_gpus=engine.peak_gpus,
        requests=engine.asked,
        hours=engine.now_h,
        ended=ended,
        growing=bool(many and engine.oldest_wait_h() > 1.25 * early_wait_h),
    )
