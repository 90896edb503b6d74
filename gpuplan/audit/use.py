"""Audit of a trace of existing use: which users have GPUs when, and how bursty it is.

``Allocation`` (of jobs) and ``Activity`` of the chips (of samples) are two figures; neither follows from the other.
"""

from dataclasses import dataclass
from datetime import datetime
from zoneinfo import ZoneInfo, available_timezones

import numpy as np

from gpuplan.audit.arrivals import Arrivals, arrivals_of
from gpuplan.audit.curves import WEEK_H, Curve, held_steps, hours_of_week, needed_steps, period_s, week_edges
from gpuplan.audit.samples import sampled
from gpuplan.audit.trace import MOST_GROUPS, OTHERS, Jobs, Requests, Samples
from gpuplan.models.demand.queueing import peakedness_of_mix
from gpuplan.wording import said

LONG_WAIT_S = 600
BUSY_PCT = 5.0
MOST_YEARS = 20
"""Longest period of jobs; a longer one comes from a wrong time."""
NO_PLACES = {"Factory", "localtime"}
"""Names that Python knows besides time zones, which no scenario accepts."""


@dataclass(frozen=True, slots=True)
class GroupUse:
    """Allocation of one group."""

    name: str
    jobs: int
    gpu_h: float
    share: float
    mean_duration_h: float
    duration_cv: float
    mean_size_gpus: float
    largest_gpus: float
    users: int
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
    """Over time, as all means: a sample counts for the time until its neighbours."""
    active_share: float
    busy_share: float
    """Share of the time above 5 %."""
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
    gaps: int
    """Gaps in the samples of a GPU; their time is in no mean."""
    gaps_gpu_h: float
    gaps_h: float
    """Time in which no GPU has samples."""
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

    Hours of the week are in ``time_zone``; ``installed_gpus`` gives the utilisation. ``skip_share`` of the period of
    jobs, its beginning, is left out of curves, hours of the week and waits. A ValueError names an input out of range.
    """
    if installed_gpus is not None and installed_gpus < 1:
        raise ValueError(said("audit.installed", value=installed_gpus))
    if not 0 <= skip_share <= 0.9:
        raise ValueError(said("audit.skip", value=skip_share))
    if time_zone not in available_timezones() - NO_PLACES:
        raise ValueError(said("audit.no place", value=repr(time_zone)))
    zone, few = ZoneInfo(time_zone), trace.with_few_groups()
    allocation = _allocation(few, zone, installed_gpus, skip_share) if isinstance(few, Jobs) else None
    activity = _activity(few, zone) if isinstance(few, Samples) else None
    arrivals = arrivals_of(few, zone) if isinstance(few, Requests) else None
    return Audit(few, time_zone, allocation, activity, _remarks(few, allocation, activity), arrivals)


def _remarks(
    trace: Jobs | Samples | Requests, found: Allocation | None, activity: Activity | None
) -> tuple[str, ...]:
    notes = {
        TOLD[type(trace)]: OTHERS in trace.groups,
        "audit.note.as needed": found and found.held is None,
        "audit.note.more than installed": found and (found.utilisation or 0) > 1,
        "audit.note.gaps": activity and activity.gaps,
    }
    told = (said(key, most=MOST_GROUPS - 1, of=activity) for key, so in notes.items() if so)
    return (*trace.reading.notes, *told)


TOLD = {Jobs: "audit.note.most hours", Samples: "audit.note.most samples", Requests: "audit.note.most tokens"}


def _allocation(jobs: Jobs, zone: ZoneInfo, installed: int | None, skip: float) -> Allocation:
    first, last = period_s(jobs)
    if last - first > MOST_YEARS * 366 * 86400:
        begin_day, end_day = (f"{datetime.fromtimestamp(at, zone):%Y-%m-%d}" for at in (first, last))
        raise ValueError(said("audit.span", most=MOST_YEARS, begin=begin_day, end=end_day))
    begin = first + skip * (last - first)
    total = float(jobs.amount.sum())
    hours = (last - first) / 3600
    edges, hour = week_edges(begin, last, zone)
    week_hours = np.bincount(hour, weights=np.diff(edges), minlength=WEEK_H) / 3600
    groups: list[GroupUse] = []
    week: list[np.ndarray] = []
    for name, at in jobs.parts():
        part = jobs.where(at)
        spent = np.bincount(hour, weights=np.diff(needed_steps(part).until(edges)), minlength=WEEK_H) / 3600
        week.append(np.divide(spent, week_hours, out=np.zeros(WEEK_H), where=week_hours > 0))
        groups.append(_group_use(part, name, total, held_steps(part).curve(begin, last)))
    wanted = needed_steps(jobs).curve(begin, last)
    held_curve = held_steps(jobs).curve(begin, last) if jobs.has_start else None
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
    parts = ((float(size), jobs.where(jobs.gpus == size)) for size in np.unique(jobs.gpus))
    return tuple(
        SizeClass(size, len(part.gpus), float(part.duration_s.sum() / 3600 / hours), float(part.amount.sum()))
        for size, part in parts
    )


def _group_use(jobs: Jobs, name: str, total_gpu_h: float, held: Curve) -> GroupUse:
    hours, gpus = jobs.duration_s / 3600, jobs.gpus
    gpu_h = float((hours * gpus).sum())
    return GroupUse(
        name=name,
        jobs=len(gpus),
        gpu_h=gpu_h,
        share=gpu_h / total_gpu_h,
        mean_duration_h=float(hours.mean()),
        duration_cv=float(hours.std() / hours.mean()),
        mean_size_gpus=float(gpus.mean()),
        largest_gpus=float(gpus.max()),
        users=jobs.users,
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
    time, percent = samples.time_s, samples.percent
    spans = sampled(time, samples.gpu, samples.weight)
    amount = spans.length_s * samples.weight
    quarter = (time / 900).astype(np.int32)
    first = int(quarter.min())
    quarter -= first
    hours = np.zeros(int(quarter.max()) + 1, dtype=np.uint8)
    there = np.unique(quarter)
    hours[there] = hours_of_week((there + first) * 900.0, zone)
    hour = hours[quarter]
    groups: list[ActivityGroup] = []
    pct: list[np.ndarray] = []
    seen: list[np.ndarray] = []
    for name, at in samples.parts():
        a, p = amount[at], percent[at]
        present = np.bincount(hour[at], weights=a, minlength=WEEK_H)
        busy = np.bincount(hour[at], weights=a * p, minlength=WEEK_H)
        total = float(a.sum()) or 1.0
        groups.append(
            ActivityGroup(
                name=name,
                samples=len(p),
                mean_activity_pct=float(busy.sum() / total),
                active_share=float(a[p > 0].sum() / total),
                busy_share=float(a[p > BUSY_PCT].sum() / total),
                gpus_seen=float(spans.sizes[np.unique(samples.gpu[at])].sum()),
                mean_gpus=float(a.sum() / spans.total_s),
                busy_gpus=float(busy.sum() / 100 / spans.total_s),
            )
        )
        pct.append(np.divide(busy, present, out=np.zeros(WEEK_H), where=present > 0))
        seen.append(np.bincount(hour[at], minlength=WEEK_H))
    return Activity(
        first_s=float(time.min()),
        last_s=float(time.max()),
        days=float(np.ptp(time)) / 86400,
        interval_s=spans.interval_s,
        gaps=spans.gaps,
        gaps_gpu_h=spans.gaps_gpu_h,
        gaps_h=spans.gaps_h,
        samples=len(percent),
        metric=samples.metric,
        gpus_seen=float(spans.sizes.sum()),
        mean_activity_pct=float(np.average(percent, weights=amount)),
        groups=tuple(groups),
        week_activity_pct=np.column_stack(pct),
        week_samples=np.column_stack(seen),
    )
