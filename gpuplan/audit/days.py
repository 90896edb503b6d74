"""Cutting a trace to a first and a last day: of a job that crosses an edge the part inside counts."""

import math
import re
from dataclasses import replace
from datetime import UTC, date, datetime, time, timedelta
from typing import TypeVar, cast
from zoneinfo import ZoneInfo

import numpy as np

from gpuplan.audit.curves import REAL_TIME_S, period_s
from gpuplan.audit.trace import Jobs, Requests, Samples, refusal
from gpuplan.audit.values import Clock
from gpuplan.scenario import show
from gpuplan.wording import said

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
