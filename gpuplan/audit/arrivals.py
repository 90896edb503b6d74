"""Arrivals: how many requests to a language model came in which hour, how bursty they were, and how long."""

from dataclasses import dataclass
from zoneinfo import ZoneInfo

import numpy as np

from gpuplan.audit.curves import week_edges
from gpuplan.audit.trace import Requests

DAY_H = 24
LEAST_WINDOW_S, MOST_WINDOW_S = 10.0, 600.0
WINDOW_REQUESTS = 10
"""Bursts are counted in windows with this average number of requests, within these lengths."""
COVERED_S = 1800.0
"""An hour of which less is in the trace is not the busiest one."""


@dataclass(frozen=True, slots=True)
class Lengths:
    """Tokens of prompts or answers."""

    mean: float
    spread: float
    p50: float
    p95: float
    p99: float
    largest: float


@dataclass(frozen=True, slots=True)
class RequestGroup:
    """Requests of one model or application."""

    name: str
    requests: int
    share: float
    busiest_per_second: float
    """Requests a second in its busiest hour."""
    tokens_in: Lengths
    tokens_out: Lengths
    longest: float


@dataclass(frozen=True, slots=True, eq=False)
class Arrivals:
    """Arrivals shown by a trace of requests."""

    first_s: float
    last_s: float
    days: float
    requests: int
    per_second: float
    """Requests a second on average over the period."""
    busiest_per_second: float
    """Requests a second in the busiest hour."""
    busiest_s: float
    day_per_second: np.ndarray
    """Mean requests a second in each hour of the day by the clock; 0 for hours missing from the trace."""
    peakedness: float
    """Variance over mean of requests in a window, less what the hour explains; 1: independent of each other."""
    window_s: float
    tokens_in: Lengths
    tokens_out: Lengths
    groups: tuple[RequestGroup, ...]
    """Most tokens first."""


def arrivals_of(trace: Requests, zone: ZoneInfo) -> Arrivals:
    """Return the figures of a trace of requests."""
    first, last = float(trace.time_s[0]), max(float(trace.time_s[-1]), float(trace.time_s[0]) + 1)
    count, span = len(trace.time_s), last - first
    busiest, when = busiest_hour(trace.time_s, first, last)
    window = min(max(WINDOW_REQUESTS * span / count, LEAST_WINDOW_S), MOST_WINDOW_S)
    return Arrivals(
        first_s=first,
        last_s=last,
        days=span / 86400,
        requests=count,
        per_second=count / span,
        busiest_per_second=busiest,
        busiest_s=when,
        day_per_second=by_hour(trace.time_s, first, last, zone),
        peakedness=_peakedness(trace.time_s, window),
        window_s=window,
        tokens_in=_lengths(trace.tokens_in),
        tokens_out=_lengths(trace.tokens_out),
        groups=tuple(_group(trace, name, at, first, last) for name, at in trace.parts()),
    )


def _group(trace: Requests, name: str, at: np.ndarray, first: float, last: float) -> RequestGroup:
    part = trace.where(at)
    return RequestGroup(
        name=name,
        requests=int(at.sum()),
        share=float(part.amount.sum() / trace.amount.sum()),
        busiest_per_second=busiest_hour(part.time_s, first, last)[0],
        tokens_in=_lengths(part.tokens_in),
        tokens_out=_lengths(part.tokens_out),
        longest=float(part.amount.max()),
    )


def _lengths(tokens: np.ndarray) -> Lengths:
    p50, p95, p99 = np.quantile(tokens, (0.5, 0.95, 0.99), method="inverted_cdf")
    mean = float(tokens.mean())
    return Lengths(mean, float(tokens.std()) / mean, float(p50), float(p95), float(p99), float(tokens.max()))


def busiest_hour(time_s: np.ndarray, first: float, last: float) -> tuple[float, float]:
    """Return requests a second in the busiest hour by the clock, and its start; of the period if none is covered."""
    begin = np.floor(first / 3600) * 3600
    hours = int((last - begin) // 3600) + 1
    edges = begin + 3600 * np.arange(hours + 1)
    covered = np.minimum(edges[1:], last) - np.maximum(edges[:-1], first)
    counts = np.bincount(((time_s - begin) // 3600).astype(int), minlength=hours)[:hours]
    enough = covered >= COVERED_S
    if not enough.any():
        return len(time_s) / (last - first), first
    rates = np.where(enough, counts / np.maximum(covered, 1.0), 0.0)
    hour = int(np.argmax(rates))
    return float(rates[hour]), float(edges[hour])


def by_hour(time_s: np.ndarray, first: float, last: float, zone: ZoneInfo) -> np.ndarray:
    """Return requests a second in each hour of the day."""
    edges, week = week_edges(first, last, zone)
    counts = np.histogram(time_s, edges)[0]
    hour = week % DAY_H
    covered = np.bincount(hour, weights=np.diff(edges), minlength=DAY_H)
    total = np.bincount(hour, weights=counts, minlength=DAY_H)
    return np.divide(total, covered, out=np.zeros(DAY_H), where=covered > 0)


def _peakedness(time_s: np.ndarray, window_s: float) -> float:
    """Return variance over mean of counts in windows, each hour about its own mean."""
    per_hour = max(2, int(3600 // window_s))
    windows = int((time_s[-1] - time_s[0]) // window_s)
    if windows < 2:
        return 1.0
    counts = np.bincount(((time_s - time_s[0]) // window_s).astype(int), minlength=windows)[:windows]
    hours = [counts[n : n + per_hour] for n in range(0, windows, per_hour)]
    busy = [hour for hour in hours if len(hour) > 1 and hour.sum()]
    spread = sum(float(hour.var(ddof=1)) * len(hour) for hour in busy)
    return spread / max(float(sum(hour.sum() for hour in busy)), 1e-9)
