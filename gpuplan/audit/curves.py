"""Concurrent GPUs over the period of a trace, from the first to the last request, and the hours of the week in it;
and a trace cut to a first and a last day.

Jobs that run on count with all their GPU-hours where these are counted, and up to its end in curves and the week.
"""

import math
import re
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
from typing import TypeVar, cast
from zoneinfo import ZoneInfo

import numpy as np

from gpuplan.audit.trace import Jobs, Requests, Samples, refusal
from gpuplan.audit.values import Clock
from gpuplan.scenario import show
from gpuplan.wording import said

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


_Trace = TypeVar("_Trace", bound=Jobs | Samples | Requests)


def cut_days(trace: _Trace, *, first_day: str = "", last_day: str = "", time_zone: str = "UTC") -> _Trace:
    """The part of a trace from the first to the last day, both included, as ``time_zone`` has them; no day, no edge.

    A day is a date, or the number of a day of the trace, from 1. Of a job that crosses an edge only the part inside
    counts, and no wait before it; a note says how many these are. A `TraceError` names what cannot be read.
    """
    if not first_day and not last_day:
        return trace
    at = np.array(period_s(trace)) if isinstance(trace, Jobs) else trace.time_s
    window, words = _window((float(at.min()), float(at.max())), first_day, last_day, ZoneInfo(time_zone))
    edges = "audit.days.from" if not last_day else "audit.days.between" if first_day else "audit.days.to"
    period, crossing = said(edges, **words), 0
    cut: Jobs | Samples | Requests = trace
    if isinstance(cut, Jobs):
        cut, kept, crossing = _clipped(cut, window)
    else:
        kept = (cut.time_s >= window[0]) & (cut.time_s < window[1])
    if not kept.any():
        raise refusal("audit.days.nothing", period=period, **words)
    counts = {"left": int((~kept).sum()), "rows": len(kept), "crossing": crossing}
    note = said(NOTES[type(cut)], period=period, **counts)
    reading = replace(cut.reading, notes=(*cut.reading.notes, note))
    return cast(_Trace, replace(cut, reading=reading).where(kept))


NOTES = {Jobs: "audit.days.jobs", Samples: "audit.days.samples", Requests: "audit.days.requests"}


def _window(
    span: tuple[float, float], first_day: str, last_day: str, zone: ZoneInfo
) -> tuple[tuple[float, float], dict[str, str]]:
    """Return begin and end of the days to which a trace is cut, and these and those of the trace in words."""
    first, last = (datetime.fromtimestamp(moment, zone).date() for moment in span)
    begin = _day(first_day, "first day", first) if first_day else first
    end = _day(last_day, "last day", first) if last_day else last
    if first_day and last_day and end < begin:
        raise refusal("audit.days.order", where="last day", value=show(last_day), first=first_day)
    days = {"begin": begin, "end": end, "first": first, "last": last}
    if span[0] < REAL_TIME_S:
        words = {name: said("audit.days.day", n=(day - first).days + 1) for name, day in days.items()}
    else:
        words = {name: f"{day}" for name, day in days.items()}
    opened = _midnight(begin, zone) if first_day else -math.inf
    closed = _midnight(end + timedelta(days=1), zone) if last_day else math.inf
    return (opened, closed), words


def _day(text: str, what: str, first: date) -> date:
    try:
        if re.fullmatch(r"\d{1,6}", text, re.ASCII):
            day = first + timedelta(days=int(text) - 1)
            inside = day >= first
        else:
            day = date.fromisoformat(text)
            inside = day.year >= 1970
        if not inside or datetime.combine(day, time(), UTC).timestamp() >= Clock.LATEST_S:
            raise ValueError
    except (ValueError, OverflowError):
        raise refusal("audit.days.expected", where=what, value=show(text)) from None
    return day


def _midnight(day: date, zone: ZoneInfo) -> float:
    return datetime.combine(day, time(), zone).timestamp()


def _clipped(jobs: Jobs, window: tuple[float, float]) -> tuple[Jobs, np.ndarray, int]:
    """Return the jobs with the part of each inside, which of them have one, and how many of these cross an edge."""
    first, last = period_s(jobs)
    period = max(first, window[0]), min(last, window[1])
    ends = jobs.start_s + jobs.duration_s
    start, end = np.clip(jobs.start_s, *window), np.clip(ends, *window)
    kept = (end > start) & (period[0] < period[1])
    crossing = int((kept & ((start > jobs.start_s) | (end < ends))).sum())
    # requested just before the first day, so that no wait of theirs is counted
    submit = np.maximum(jobs.submit_s, np.nextafter(window[0], -math.inf))
    start_s = start if jobs.has_start else submit
    cut = replace(jobs, submit_s=submit, start_s=start_s, duration_s=end - start, period_s=period)
    return cut, kept, crossing
