"""Audit of a trace of existing use: which users have GPUs when, how bursty it is, and how other hosts would have done.

Allocation and activity are two figures. Jobs give the GPUs requested and allocated: ``Allocation``, samples the
activity of the chips: ``Activity``. Neither follows from the other.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from typing import TypeVar
from zoneinfo import ZoneInfo, available_timezones

import numpy as np

from gpuplan.audit.arrivals import Arrivals, arrivals_of
from gpuplan.audit.curves import WEEK_H, Curve, Steps, period_s, week_edges
from gpuplan.audit.trace import Jobs, Requests, Samples
from gpuplan.models.demand.queueing import peakedness_of_mix

LONG_WAIT_S = 600
BUSY_PCT = 5.0
MOST_GROUPS = 100
MOST_YEARS = 20
"""Longest period of jobs; a longer one comes from a wrong time."""
OTHERS = "other groups"
NO_PLACES = {"Factory", "localtime"}
"""Names that Python knows besides time zones, which no scenario accepts."""


@dataclass(frozen=True, slots=True)
class GroupUse:
    """Allocation of one group."""

    name: str
    jobs: int
    gpu_h: float
    share: float
    """Share of all GPU-hours."""
    mean_duration_h: float
    duration_cv: float
    mean_size_gpus: float
    largest_gpus: float
    users: int
    """0 where users are not known."""
    mean_gpus: float
    """Mean concurrent GPUs allocated; where starts are not known, needed."""
    peak_gpus: float
    own_peak_utilisation: float
    """Mean over peak: the utilisation of a silo as large as the group's own peak."""


@dataclass(frozen=True, slots=True)
class SizeClass:
    """Jobs of one size."""

    gpus: float
    jobs: int
    load: float
    """Mean concurrent jobs if none waited, in erlang."""
    gpu_h: float


@dataclass(frozen=True, slots=True)
class Waits:
    """Waits from request to start, as they were."""

    mean_h: float
    p90_h: float
    long_share: float
    """Share of the jobs that waited more than 10 minutes."""


@dataclass(frozen=True, slots=True, eq=False)
class Allocation:
    """GPUs requested and allocated, regardless of the activity of their chips."""

    first_s: float
    last_s: float
    days: float
    jobs: int
    users: int
    gpu_h: float
    offered_gpus: float
    """GPU-hours requested over the hours of the period: the offered load in GPUs."""
    groups: tuple[GroupUse, ...]
    """Largest first; the smallest beyond 100 together."""
    sizes: tuple[SizeClass, ...]
    wanted: Curve
    """Demand as if no job waited: each job from its request, for its duration."""
    held: Curve | None
    """Allocation from the start of each job; None where starts are not known."""
    poisson_peakedness: float
    """Peakedness that independent arrivals of jobs of the same sizes would give."""
    burst_factor: float
    """Peakedness of the GPUs needed over the peakedness of independent arrivals."""
    week_gpus: np.ndarray
    """Mean GPUs needed: 168 hours of the week, Monday 00:00 first, by group."""
    week_hours: np.ndarray
    """Hours of the period that were in each hour of the week."""
    waits: Waits | None
    installed_gpus: int | None
    utilisation: float | None
    """Mean GPUs allocated (else needed) over those installed."""


@dataclass(frozen=True, slots=True)
class ActivityGroup:
    """Chip activity of one group."""

    name: str
    samples: int
    mean_activity_pct: float
    active_share: float
    """Share of the samples above 0."""
    busy_share: float
    """Share of the samples above 5 %."""
    gpus_seen: float
    """GPUs that ever had the group on them, MIG instances as parts."""
    mean_gpus: float
    """GPUs that had the group on them at a time, on average."""
    busy_gpus: float
    """The same times how busy they were: as many fully busy GPUs would do the same."""


@dataclass(frozen=True, slots=True, eq=False)
class Activity:
    """Chip activity, regardless of which users had the chips allocated while they were idle."""

    first_s: float
    last_s: float
    days: float
    interval_s: float
    """Time between two samples of a GPU, the median."""
    samples: int
    metric: str
    gpus_seen: float
    mean_activity_pct: float
    groups: tuple[ActivityGroup, ...]
    week_activity_pct: np.ndarray
    """Mean activity: 168 hours of the week by group; 0 where there is no sample."""
    week_samples: np.ndarray


@dataclass(frozen=True, slots=True, eq=False)
class Audit:
    """Findings of a trace: allocation if it has jobs, activity if it has samples, arrivals if it has requests."""

    trace: Jobs | Samples | Requests
    time_zone: str
    allocation: Allocation | None
    activity: Activity | None
    notes: tuple[str, ...]
    arrivals: Arrivals | None = None


def audit(
    trace: Jobs | Samples | Requests,
    *,
    time_zone: str = "UTC",
    installed_gpus: int | None = None,
    skip_share: float = 0.0,
) -> Audit:
    """Return the findings of a trace: of jobs an allocation, of samples an activity, of requests their arrivals.

    Hours of the week are in ``time_zone``; one that comes twice when clocks go back counts twice. ``installed_gpus``
    gives the utilisation of the allocation. ``skip_share`` of the period of jobs, its beginning, is left out of curves,
    hours of the week and waits, for a trace that starts cold; jobs that began in it still keep their GPUs after it, and
    jobs and GPU-hours count in full. A ValueError names an input that is out of its range.
    """
    if installed_gpus is not None and installed_gpus < 1:
        raise ValueError(f"installed_gpus is {installed_gpus}: must be at least 1")
    if not 0 <= skip_share <= 0.9:
        raise ValueError(f"skip_share is {skip_share}: must be from 0 to 0.9")
    if time_zone not in available_timezones() - NO_PLACES:
        raise ValueError(f"time_zone is {time_zone!r}: must be an IANA name such as Europe/Berlin")
    zone = ZoneInfo(time_zone)
    if isinstance(trace, Requests):
        trace = few_groups(trace)
        return Audit(trace, time_zone, None, None, _remarks(trace), arrivals_of(trace, zone))
    if isinstance(trace, Samples):
        trace = few_groups(trace)
        return Audit(trace, time_zone, None, _activity(trace, zone), _remarks(trace))
    trace = few_groups(trace)
    allocation = _allocation(trace, zone, installed_gpus, skip_share)
    return Audit(trace, time_zone, allocation, None, _remarks(trace, allocation))


def _remarks(trace: Jobs | Samples | Requests, found: Allocation | None = None) -> tuple[str, ...]:
    most = {Jobs: "GPU-hours", Samples: "samples", Requests: "tokens"}[type(trace)]
    said = {
        f"Only the {MOST_GROUPS - 1} groups with most {most} are told apart": OTHERS in trace.groups,
        "Starts or requests are not known: GPUs are those needed, as if no job waited": found
        and found.held is None,
        "More GPUs were allocated than are stated as installed": found and (found.utilisation or 0) > 1,
    }
    return (*trace.reading.notes, *(note for note, so in said.items() if so))


_Trace = TypeVar("_Trace", Jobs, Samples, Requests)


def few_groups(trace: _Trace) -> _Trace:
    """Return a trace with the groups that have most GPU-hours, samples or tokens; all smaller ones are merged."""
    if len(trace.groups) <= MOST_GROUPS:
        return trace
    if isinstance(trace, Jobs):
        amount = trace.gpus * trace.duration_s
    else:
        amount = trace.weight if isinstance(trace, Samples) else trace.tokens_in + trace.tokens_out
    work = np.bincount(trace.group, weights=amount, minlength=len(trace.groups))
    kept: np.ndarray = np.sort(np.argsort(-work, kind="stable")[: MOST_GROUPS - 1])
    code = np.full(len(trace.groups), MOST_GROUPS - 1)
    code[kept] = np.arange(len(kept))
    return replace(trace, group=code[trace.group], groups=(*(trace.groups[n] for n in kept), OTHERS))


def _allocation(jobs: Jobs, zone: ZoneInfo, installed: int | None, skip: float) -> Allocation:
    first, last = period_s(jobs)
    if last - first > MOST_YEARS * 366 * 86400:
        days = " to ".join(f"{datetime.fromtimestamp(moment, zone):%Y-%m-%d}" for moment in (first, last))
        raise ValueError(
            f"its jobs span {days}, and at most {MOST_YEARS} years are read: leave out the rows with a wrong time"
        )
    begin = first + skip * (last - first)
    gpu_h = jobs.gpus * jobs.duration_s / 3600
    total = float(gpu_h.sum())
    hours = (last - first) / 3600
    edges, hour = week_edges(begin, last, zone)
    week_hours = np.bincount(hour, weights=np.diff(edges), minlength=WEEK_H) / 3600
    groups: list[GroupUse] = []
    week: list[np.ndarray] = []
    work = np.bincount(jobs.group, weights=gpu_h, minlength=len(jobs.groups))
    present = [n for n in np.argsort(-work, kind="stable").tolist() if (jobs.group == n).any()]
    for n in present:
        at = jobs.group == n
        steps = Steps(jobs.submit_s[at], jobs.duration_s[at], jobs.gpus[at])
        spent = np.bincount(hour, weights=np.diff(steps.until(edges)), minlength=WEEK_H) / 3600
        week.append(np.divide(spent, week_hours, out=np.zeros(WEEK_H), where=week_hours > 0))
        actual = Steps(jobs.start_s[at], jobs.duration_s[at], jobs.gpus[at]) if jobs.has_start else steps
        groups.append(_group_use(jobs, at, jobs.groups[n], total, actual.curve(begin, last)))
    wanted = Steps(jobs.submit_s, jobs.duration_s, jobs.gpus).curve(begin, last)
    held_steps = Steps(jobs.start_s, jobs.duration_s, jobs.gpus) if jobs.has_start else None
    held_curve = held_steps.curve(begin, last) if held_steps else None
    sizes = _sizes(jobs, hours)
    poisson = peakedness_of_mix([s.load for s in sizes], sizes=[s.gpus for s in sizes])
    mean_held = (held_curve or wanted).mean_gpus
    return Allocation(
        first_s=first,
        last_s=last,
        days=hours / 24,
        jobs=len(jobs.gpus),
        users=jobs.users,
        gpu_h=total,
        offered_gpus=total / hours,
        groups=tuple(groups),
        sizes=sizes,
        wanted=wanted,
        held=held_curve,
        poisson_peakedness=poisson,
        burst_factor=wanted.peakedness / poisson,
        week_gpus=np.column_stack(week),
        week_hours=week_hours,
        waits=_waits(jobs, begin) if jobs.has_start and (jobs.submit_s >= begin).any() else None,
        installed_gpus=installed,
        utilisation=mean_held / installed if installed else None,
    )


def _sizes(jobs: Jobs, hours: float) -> tuple[SizeClass, ...]:
    classes = []
    for size in np.unique(jobs.gpus):
        at = jobs.gpus == size
        classes.append(
            SizeClass(
                gpus=float(size),
                jobs=int(at.sum()),
                load=float(jobs.duration_s[at].sum() / 3600 / hours),
                gpu_h=float((jobs.gpus[at] * jobs.duration_s[at] / 3600).sum()),
            )
        )
    return tuple(classes)


def _group_use(jobs: Jobs, at: np.ndarray, name: str, total_gpu_h: float, held: Curve) -> GroupUse:
    hours, gpus = jobs.duration_s[at] / 3600, jobs.gpus[at]
    gpu_h = float((hours * gpus).sum())
    return GroupUse(
        name=name,
        jobs=int(at.sum()),
        gpu_h=gpu_h,
        share=gpu_h / total_gpu_h,
        mean_duration_h=float(hours.mean()),
        duration_cv=float(hours.std() / hours.mean()),
        mean_size_gpus=float(gpus.mean()),
        largest_gpus=float(gpus.max()),
        users=len(np.unique(jobs.user[at])) if jobs.users else 0,
        mean_gpus=held.mean_gpus,
        peak_gpus=held.peak_gpus,
        own_peak_utilisation=held.mean_gpus / held.peak_gpus if held.peak_gpus else 0.0,
    )


def _waits(jobs: Jobs, begin: float) -> Waits:
    at = jobs.submit_s >= begin
    wait = jobs.start_s[at] - jobs.submit_s[at]
    return Waits(
        mean_h=float(wait.mean()) / 3600,
        p90_h=float(np.quantile(wait, 0.9, method="inverted_cdf")) / 3600,
        long_share=float((wait > LONG_WAIT_S).mean()),
    )


def _activity(samples: Samples, zone: ZoneInfo) -> Activity:
    time, weight, percent = samples.time_s, samples.weight, samples.percent
    first, last = float(time.min()), float(time.max())
    order = np.lexsort((time, samples.gpu))
    gaps = np.diff(time[order])[np.diff(samples.gpu[order]) == 0]
    gaps = gaps[gaps > 0]
    interval = float(np.median(gaps)) if len(gaps) else max(1.0, last - first)
    slots = (last - first) / interval + 1
    _, hour_of = np.unique(np.floor(time / 900), return_inverse=True)
    quarters = np.unique(np.floor(time / 900)) * 900
    local = [datetime.fromtimestamp(t, zone) for t in quarters.tolist()]
    hour = np.array([24 * t.weekday() + t.hour for t in local])[hour_of]
    groups: list[ActivityGroup] = []
    pct: list[np.ndarray] = []
    seen: list[np.ndarray] = []
    work = np.bincount(samples.group, weights=weight, minlength=len(samples.groups))
    for n in np.argsort(-work, kind="stable").tolist():
        at = samples.group == n
        if not at.any():
            continue
        w, p = weight[at], percent[at]
        _, one_each = np.unique(samples.gpu[at], return_index=True)
        groups.append(
            ActivityGroup(
                name=samples.groups[n],
                samples=len(p),
                mean_activity_pct=float(np.average(p, weights=w)),
                active_share=float((p > 0).mean()),
                busy_share=float((p > BUSY_PCT).mean()),
                gpus_seen=float(w[one_each].sum()),
                mean_gpus=float(w.sum() / slots),
                busy_gpus=float((w * p).sum() / 100 / slots),
            )
        )
        present = np.bincount(hour[at], weights=w, minlength=WEEK_H)
        busy = np.bincount(hour[at], weights=w * p, minlength=WEEK_H)
        pct.append(np.divide(busy, present, out=np.zeros(WEEK_H), where=present > 0))
        seen.append(np.bincount(hour[at], minlength=WEEK_H))
    _, one_each = np.unique(samples.gpu, return_index=True)
    return Activity(
        first_s=first,
        last_s=last,
        days=(last - first) / 86400,
        interval_s=interval,
        samples=len(percent),
        metric=samples.metric,
        gpus_seen=float(weight[one_each].sum()),
        mean_activity_pct=float(np.average(percent, weights=weight)),
        groups=tuple(groups),
        week_activity_pct=np.column_stack(pct),
        week_samples=np.column_stack(seen),
    )
