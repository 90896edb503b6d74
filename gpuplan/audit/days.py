"""Cutting a trace to a first and a last day: of a job that crosses an edge the part inside counts."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from datetime import UTC, date, datetime, time, timedelta
from typing import TypeVar, cast
from zoneinfo import ZoneInfo

import numpy as np

from gpuplan.audit.curves import REAL_TIME_S, period_s
from gpuplan.audit.trace import Jobs, Reading, Requests, Samples, TraceError, refusal
from gpuplan.audit.values import Clock
from gpuplan.scenario import show
from gpuplan.wording import number

EXPECTED = "expected a date such as 2020-04-30, or the number of a day of the trace, from 1"
_Trace = TypeVar("_Trace", bound=Jobs | Samples | Requests)


def cut_days(trace: _Trace, *, first_day: str = "", last_day: str = "", time_zone: str = "UTC") -> _Trace:
    """The part of a trace from the first to the last day, both included, as ``time_zone`` has them; no day, no edge.

    A day is a date, or the number of a day of the trace, whose first is 1. Jobs count by the time in which they had
    GPUs (needed them, where starts are not known). Of a job that crosses an edge, only the part inside counts; one
    requested before the first day counts from its begin, and not among the waits. A note says how many these are. A
    `TraceError` says which day cannot be read, that they are in the wrong order, or that nothing is left.
    """
    if not first_day and not last_day:
        return trace
    zone = ZoneInfo(time_zone)
    at = np.array(period_s(trace)) if isinstance(trace, Jobs) else trace.time_s
    span = float(at.min()), float(at.max())
    first, last = (datetime.fromtimestamp(moment, zone).date() for moment in span)
    begin = _day(first_day, "first day", first) if first_day else None
    end = _day(last_day, "last day", first) if last_day else None
    if begin and end and end < begin:
        raise refusal(f"is before the first day, {first_day}", where="last day", value=show(last_day))

    def shown(day: date) -> str:
        return f"day {(day - first).days + 1}" if span[0] < REAL_TIME_S else f"{day}"

    window = (
        _midnight(begin, zone) if begin else -math.inf,
        _midnight(end + timedelta(days=1), zone) if end else math.inf,
    )
    edges = ("from", begin), ("to", end)
    period = " ".join(f"{word} {shown(day)}" for word, day in edges if day)
    nothing = refusal(f"nothing is left {period}: the trace is from {shown(first)} to {shown(last)}")
    if isinstance(trace, Samples):
        return cast(_Trace, _samples(trace, window, period, nothing))
    if isinstance(trace, Requests):
        return cast(_Trace, _requests(trace, window, period, nothing))
    return cast(_Trace, _jobs(trace, window, period, nothing))


def _day(text: str, what: str, first: date) -> date:
    """Parse a day as written."""
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
        raise refusal(EXPECTED, where=what, value=show(text)) from None
    return day


def _midnight(day: date, zone: ZoneInfo) -> float:
    return datetime.combine(day, time(), zone).timestamp()


def _jobs(jobs: Jobs, window: tuple[float, float], asked: str, nothing: TraceError) -> Jobs:
    first, last = period_s(jobs)
    period = max(first, window[0]), min(last, window[1])
    ends = jobs.start_s + jobs.duration_s
    start, end = np.clip(jobs.start_s, *window), np.clip(ends, *window)
    kept = end > start
    if period[0] >= period[1] or not kept.any():
        raise nothing
    crossing = int((kept & ((start > jobs.start_s) | (end < ends))).sum())
    # requested just before the first day, so that no wait of theirs is counted
    early = np.nextafter(window[0], -math.inf)
    submit = np.maximum(jobs.submit_s, early)
    note = f"{_left_out(asked, kept)} jobs are left out; of {number(crossing)} that cross an edge the part inside counts"
    cut = replace(
        jobs,
        submit_s=submit,
        start_s=start if jobs.has_start else submit,
        duration_s=end - start,
        period_s=period,
        reading=_noted(jobs.reading, note),
    )
    return cut.where(kept)


def _samples(samples: Samples, window: tuple[float, float], asked: str, nothing: TraceError) -> Samples:
    kept = (samples.time_s >= window[0]) & (samples.time_s < window[1])
    if not kept.any():
        raise nothing
    note = f"{_left_out(asked, kept)} samples are left out"
    return replace(
        samples,
        time_s=samples.time_s[kept],
        gpu=samples.gpu[kept],
        group=samples.group[kept],
        percent=samples.percent[kept],
        weight=samples.weight[kept],
        reading=_noted(samples.reading, note),
    )


def _requests(requests: Requests, window: tuple[float, float], asked: str, nothing: TraceError) -> Requests:
    kept = (requests.time_s >= window[0]) & (requests.time_s < window[1])
    if not kept.any():
        raise nothing
    note = f"{_left_out(asked, kept)} requests are left out"
    return replace(requests.where(kept), reading=_noted(requests.reading, note))


def _left_out(asked: str, kept: np.ndarray) -> str:
    return f"Only {asked}: {number(int((~kept).sum()))} of {number(len(kept))}"


def _noted(reading: Reading, note: str) -> Reading:
    return replace(reading, notes=(*reading.notes, note))
