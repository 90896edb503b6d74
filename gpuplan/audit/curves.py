"""Concurrent GPUs over the period of a trace, from the first to the last request, and the hours of the week in it.

Jobs that run on count with all their GPU-hours where these are counted, and up to its end in curves and the week.
"""

import math
from dataclasses import dataclass
from datetime import datetime
from zoneinfo import ZoneInfo

import numpy as np

from gpuplan.audit.trace import Jobs

WEEK_H = 168
REAL_TIME_S = 1e8
"""Times before 1973 are counted from an unknown moment: they have no hour of the day."""


@dataclass(frozen=True, slots=True)
class Curve:
    """Concurrent GPUs over the period, weighted by time."""

    mean_gpus: float
    peak_gpus: float
    p95_gpus: float
    p99_gpus: float
    variance: float

    @property
    def peakedness(self) -> float:
        """Return variance over mean; 0 where there was no demand."""
        return self.variance / self.mean_gpus if self.mean_gpus else 0.0


class Steps:
    """A number of concurrent GPUs that changes in steps."""

    def __init__(self, begin: np.ndarray, duration: np.ndarray, gpus: np.ndarray) -> None:
        times = np.concatenate([begin, begin + duration])
        change = np.concatenate([gpus, -gpus])
        order = np.lexsort((change, times))
        self.times = times[order]
        self.level = np.round(np.cumsum(change[order]), 9)
        """Level from each time to the next."""

    def until(self, edges: np.ndarray) -> np.ndarray:
        """Return GPU-seconds before each edge."""
        done = np.concatenate([[0.0], np.cumsum(self.level[:-1] * np.diff(self.times))])
        return np.asarray(np.interp(edges, self.times, done))

    def curve(self, first: float, last: float) -> Curve:
        """Return the figures over a period."""
        times = np.clip(np.concatenate([[first], self.times, [last]]), first, last)
        width = np.diff(times)
        level = np.concatenate([[0.0], self.level])[width > 0]
        width = width[width > 0]
        mean = float(np.average(level, weights=width))
        order = np.argsort(level, kind="stable")
        part = np.cumsum(width[order]) / width.sum()
        p95, p99 = (float(level[order][np.searchsorted(part, q - 1e-12)]) for q in (0.95, 0.99))
        variance = float(np.average((level - mean) ** 2, weights=width))
        return Curve(mean, float(level.max()), p95, p99, variance)


def needed_steps(jobs: Jobs) -> Steps:
    """Return GPUs as if no job waited: from the request of each."""
    return Steps(jobs.submit_s, jobs.duration_s, jobs.gpus)


def held_steps(jobs: Jobs) -> Steps:
    """Return GPUs from the start of each; from its request where starts are not known."""
    return Steps(jobs.start_s, jobs.duration_s, jobs.gpus)


def week_edges(first: float, last: float, zone: ZoneInfo) -> tuple[np.ndarray, np.ndarray]:
    """Return quarters of an hour of a period, in which no zone changes its hour, and the hour of the week of each."""
    grid = np.arange(math.floor(first / 900) + 1, math.ceil(last / 900)) * 900.0
    edges = np.concatenate([[first], grid, [last]])
    return edges, hours_of_week(edges[:-1], zone)


def hours_of_week(time_s: np.ndarray, zone: ZoneInfo) -> np.ndarray:
    """Return the hour of the week, Monday 00:00 first, of each time."""
    local = [datetime.fromtimestamp(t, zone) for t in time_s.tolist()]
    return np.array([24 * t.weekday() + t.hour for t in local])


def period_s(jobs: Jobs) -> tuple[float, float]:
    """Return first and last request; the last end if all requests come within an hour, at least a second later."""
    if jobs.period_s:
        return jobs.period_s
    first, last = float(jobs.submit_s.min()), float(jobs.submit_s.max())
    if last - first >= 3600:
        return first, last
    return first, max(first + 1, float((jobs.submit_s + jobs.duration_s).max()))
