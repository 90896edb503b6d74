"""Audit: what a trace of existing use says: who holds GPUs when, how bursty it is, and how other hosts would have served it.

Allocation and activity are two figures. Jobs say which GPUs were asked for and held: ``Allocation``. Samples say how busy
the chips were: ``Activity``. Neither is worked out of the other.

The period of jobs is from the first to the last request, since nothing is known of requests after it. Jobs that run on
after its end count with all their GPU-hours where GPU-hours are counted (``gpu_h``, ``offered_gpus``, groups, sizes), and up to
its end in curves and hours of the week.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from zoneinfo import ZoneInfo, available_timezones

import numpy as np

from gpuplan.audit.trace import MAX_NAME, Jobs, Samples
from gpuplan.models.demand.queueing import (
    hayward_b,
    hayward_wait_longer_chance,
    kaufman_roberts,
    least_servers,
    peakedness_of_mix,
)
from gpuplan.models.demand.simulation import Progress, Replayed, replay
from gpuplan.scenario import (
    GROUP_FIELD_BY_NAME,
    MAX_GPUS,
    MAX_GROUPS,
    MAX_VMS,
    Group,
    Origin,
    Scenario,
    one_line,
)
from gpuplan.units import exact
from gpuplan.wording import amount, number

WEEK_H = 168
LONG_WAIT_S = 600
BUSY_PCT = 5.0
MOST_GROUPS = 100
MOST_YEARS = 20
"""Longest period of jobs; a longer one comes from a time that is wrong."""
OTHERS = "other groups"
REAL_TIME_S = 1e8
"""Times before 1973 are counted from an unknown moment: they have no hour of the day."""
MOST_PARTS = 16
"""Finest fraction of a GPU that is counted in the formulas for mixed sizes."""
WINDOW_SHARE = 0.95
WINDOW_HOURS = 14
WINDOW_DAYS = 7
WEEKDAY_DAYS = 14
WINDOW_JOBS = 30
"""A class of jobs has working hours if so large a share of its GPU-hours is within so few hours, seen in so many days and jobs."""
NO_PLACES = {"Factory", "localtime"}
"""Names that Python knows besides time zones, which no scenario can hold."""


@dataclass(frozen=True, slots=True)
class Curve:
    """GPUs at once over the period, weighted by time."""

    mean_gpus: float
    peak_gpus: float
    p95_gpus: float
    p99_gpus: float
    variance: float

    @property
    def peakedness(self) -> float:
        """Variance over mean; 0 where nothing was asked for."""
        return self.variance / self.mean_gpus if self.mean_gpus else 0.0


@dataclass(frozen=True, slots=True)
class GroupUse:
    """What one group had allocated."""

    name: str
    jobs: int
    gpu_h: float
    share: float
    """Of all GPU-hours."""
    mean_duration_h: float
    duration_cv: float
    mean_size_gpus: float
    largest_gpus: float
    users: int
    """0 where users are not known."""
    mean_gpus: float
    """Held at once; where starts are not known, wanted at once."""
    peak_gpus: float
    own_peak_utilisation: float
    """Mean over peak: the utilisation of a silo as large as the group's own peak."""


@dataclass(frozen=True, slots=True)
class SizeClass:
    """Jobs of one size."""

    gpus: float
    jobs: int
    load: float
    """Mean number at once if nobody waited, in erlang."""
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
    """GPUs asked for and held. Says nothing about how busy their chips were."""

    first_s: float
    last_s: float
    days: float
    jobs: int
    users: int
    gpu_h: float
    offered_gpus: float
    """GPU-hours asked for over the hours of the period: the offered load in GPUs."""
    groups: tuple[GroupUse, ...]
    """Largest first; the smallest beyond 100 together."""
    sizes: tuple[SizeClass, ...]
    wanted: Curve
    """As if nobody waited: each job from its request, for its duration."""
    held: Curve | None
    """From its start; None where starts are not known."""
    poisson_peakedness: float
    """Peakedness that independent arrivals of jobs of the same sizes would give."""
    burst_factor: float
    """Peakedness of the GPUs wanted over that of independent arrivals."""
    week_gpus: np.ndarray
    """Mean GPUs wanted: 168 hours of the week, Monday 00:00 first, by group."""
    week_hours: np.ndarray
    """Hours of the period that were in each hour of the week."""
    waits: Waits | None
    installed_gpus: int | None
    utilisation: float | None
    """Mean GPUs held (else wanted) over those installed."""


@dataclass(frozen=True, slots=True)
class ActivityGroup:
    """How busy the chips of one group were."""

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
    """How busy chips were. Says nothing about who had them allocated while they were idle."""

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
    """What a trace says: allocation if it holds jobs, activity if it holds samples."""

    trace: Jobs | Samples
    time_zone: str
    allocation: Allocation | None
    activity: Activity | None
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A group of a scenario that asks for as many GPU-hours as a part of the trace."""

    name: str
    group: str
    """Group of the trace; empty for small ones of several groups."""
    gpus_each: float
    vms_each: int
    people: int
    """Jobs at once that were exceeded in 1 % of the time only."""
    active_share: float
    jobs_per_day: float
    """On each of the days named by ``days``."""
    work_h: float
    hours: str
    days: str
    time_zone: str
    days_seen: float
    """Such days in the trace: times jobs_per_day, work_h and GPUs gives its GPU-hours."""
    note: str
    rounded_up: bool
    """Whether it asks for more GPU-hours than the trace, because a scenario cannot hold as few."""


@dataclass(frozen=True, slots=True)
class Method:
    """One way to answer a question, and its answers."""

    name: str
    assumption: str
    chance: float
    """On as many GPUs as the proposed hosts have."""
    gpus_needed: int | None
    """Fewest GPUs with which the chance is at most the target; None on hosts that differ, of which none can be added."""


@dataclass(frozen=True, slots=True)
class Silo:
    """A group on GPUs of its own."""

    group: str
    jobs: int
    offered_gpus: float
    gpus: int
    utilisation: float


@dataclass(frozen=True, slots=True, eq=False)
class Comparison:
    """The same jobs on proposed hosts, by replay and by formula."""

    hosts: tuple[int, ...]
    policy: str
    wait_limit_h: float
    share: float
    jobs: int
    offered_gpus: float
    peakedness: float
    poisson_peakedness: float
    waiting: Replayed
    """On the hosts, everybody waits."""
    turned_away_share: float
    """On the hosts, nobody waits: who finds too few GPUs free is turned away."""
    turned_away: tuple[Method, ...]
    waits_long: tuple[Method, ...]
    """Chance of waiting longer than the limit."""
    silos: tuple[Silo, ...]
    silo_gpus: int
    silo_utilisation: float
    """Offered load over GPUs, which is the utilisation as long as the trace goes on as it is."""
    pool_gpus: int
    pool_utilisation: float


class Cancelled(Exception):
    """The comparison was ended by its caller."""


def audit(
    trace: Jobs | Samples,
    *,
    time_zone: str = "UTC",
    installed_gpus: int | None = None,
    skip_share: float = 0.0,
) -> Audit:
    """What a trace of jobs or samples says.

    Parameters
    ----------
    trace : Jobs or Samples
        As `gpuplan.audit.trace.read_trace` gives it.
    time_zone : str
        IANA name of the zone whose hours of the week are shown; an hour that comes twice when clocks go back counts twice.
    installed_gpus : int, optional
        GPUs there are, for the utilisation of the allocation.
    skip_share : float
        First share of the period of jobs that curves, hours of the week and waits leave out, for a trace that starts cold;
        jobs that began in it still hold their GPUs after it. Jobs and GPU-hours count in full.

    Returns
    -------
    Audit
        With an allocation or an activity, never both.

    Raises
    ------
    ValueError
        If an input is out of its range.
    """
    if installed_gpus is not None and installed_gpus < 1:
        raise ValueError(f"installed_gpus is {installed_gpus}: must be at least 1")
    if not 0 <= skip_share <= 0.9:
        raise ValueError(f"skip_share is {skip_share}: must be from 0 to 0.9")
    if time_zone not in available_timezones() - NO_PLACES:
        raise ValueError(f"time_zone is {time_zone!r}: must be an IANA name such as Europe/Berlin")
    zone = ZoneInfo(time_zone)
    if isinstance(trace, Samples):
        trace = _few_sampled(trace)
        return Audit(trace, time_zone, None, _activity(trace, zone), _remarks(trace))
    trace = _few_groups(trace)
    found = _allocation(trace, zone, installed_gpus, skip_share)
    return Audit(trace, time_zone, found, None, _remarks(trace, found))


def _remarks(trace: Jobs | Samples, found: Allocation | None = None) -> tuple[str, ...]:
    notes = list(trace.reading.notes)
    if isinstance(trace, Jobs):
        if OTHERS in trace.groups:
            notes.append(f"Only the {MOST_GROUPS - 1} groups with most GPU-hours are told apart")
        if found and found.held is None:
            notes.append("Starts or requests are not known: GPUs are those wanted, as if nobody waited")
        if found and found.utilisation is not None and found.utilisation > 1:
            notes.append("More GPUs were held than are said to be installed")
    elif OTHERS in trace.groups:
        notes.append(f"Only the {MOST_GROUPS - 1} groups with most samples are told apart")
    return tuple(notes)


def period_s(jobs: Jobs) -> tuple[float, float]:
    """First and last request; the last end where all requests come within an hour, a second later at least.

    Parameters
    ----------
    jobs : Jobs
        Jobs of a trace.

    Returns
    -------
    tuple of float
        Seconds since 1970.
    """
    first, last = float(jobs.submit_s.min()), float(jobs.submit_s.max())
    if last - first >= 3600:
        return first, last
    return first, max(first + 1, float((jobs.submit_s + jobs.duration_s).max()))


def _few_groups(jobs: Jobs) -> Jobs:
    if len(jobs.groups) <= MOST_GROUPS:
        return jobs
    return jobs.with_groups(*_largest(jobs.group, jobs.groups, jobs.gpus * jobs.duration_s))


def _few_sampled(samples: Samples) -> Samples:
    if len(samples.groups) <= MOST_GROUPS:
        return samples
    group, groups = _largest(samples.group, samples.groups, samples.weight)
    return replace(samples, group=group, groups=groups)


def _largest(
    group: np.ndarray, groups: tuple[str, ...], amount: np.ndarray
) -> tuple[np.ndarray, tuple[str, ...]]:
    """The group of each element, and the groups, where all but those with most are one."""
    work = np.bincount(group, weights=amount, minlength=len(groups))
    kept = np.sort(np.argsort(-work, kind="stable")[: MOST_GROUPS - 1])
    code = np.full(len(groups), MOST_GROUPS - 1)
    code[kept] = np.arange(len(kept))
    return code[group], (*(groups[n] for n in kept), OTHERS)


# ---- curves


class _Steps:
    """A number of GPUs at once that changes in steps."""

    def __init__(self, begin: np.ndarray, duration: np.ndarray, gpus: np.ndarray) -> None:
        times = np.concatenate([begin, begin + duration])
        change = np.concatenate([gpus, -gpus])
        order = np.lexsort((change, times))
        self.times = times[order]
        self.level = np.round(np.cumsum(change[order]), 9)
        """Level from each time to the next."""

    def until(self, edges: np.ndarray) -> np.ndarray:
        """GPU-seconds before each edge."""
        done = np.concatenate([[0.0], np.cumsum(self.level[:-1] * np.diff(self.times))])
        return np.asarray(np.interp(edges, self.times, done))

    def curve(self, first: float, last: float) -> Curve:
        """The figures over a period."""
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


def _week_edges(first: float, last: float, zone: ZoneInfo) -> tuple[np.ndarray, np.ndarray]:
    """Quarters of an hour of a period, in which no zone changes its hour, and the hour of the week of each."""
    grid = np.arange(math.floor(first / 900) + 1, math.ceil(last / 900)) * 900.0
    edges = np.concatenate([[first], grid, [last]])
    local = [datetime.fromtimestamp(t, zone) for t in edges[:-1].tolist()]
    return edges, np.array([24 * t.weekday() + t.hour for t in local])


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
    edges, hour = _week_edges(begin, last, zone)
    week_hours = np.bincount(hour, weights=np.diff(edges), minlength=WEEK_H) / 3600
    groups: list[GroupUse] = []
    week: list[np.ndarray] = []
    work = np.bincount(jobs.group, weights=gpu_h, minlength=len(jobs.groups))
    present = [n for n in np.argsort(-work, kind="stable").tolist() if (jobs.group == n).any()]
    for n in present:
        at = jobs.group == n
        steps = _Steps(jobs.submit_s[at], jobs.duration_s[at], jobs.gpus[at])
        spent = np.bincount(hour, weights=np.diff(steps.until(edges)), minlength=WEEK_H) / 3600
        week.append(np.divide(spent, week_hours, out=np.zeros(WEEK_H), where=week_hours > 0))
        held = _Steps(jobs.start_s[at], jobs.duration_s[at], jobs.gpus[at]) if jobs.has_start else steps
        groups.append(_group_use(jobs, at, jobs.groups[n], total, held.curve(begin, last)))
    wanted = _Steps(jobs.submit_s, jobs.duration_s, jobs.gpus).curve(begin, last)
    held_curve = (
        _Steps(jobs.start_s, jobs.duration_s, jobs.gpus).curve(begin, last) if jobs.has_start else None
    )
    sizes = tuple(
        SizeClass(
            gpus=float(size),
            jobs=int((jobs.gpus == size).sum()),
            load=float(jobs.duration_s[jobs.gpus == size].sum() / 3600 / hours),
            gpu_h=float(gpu_h[jobs.gpus == size].sum()),
        )
        for size in np.unique(jobs.gpus)
    )
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
        waits=_waits(jobs, begin) if jobs.has_start else None,
        installed_gpus=installed,
        utilisation=mean_held / installed if installed else None,
    )


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


# ---- activity


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
        there = np.bincount(hour[at], weights=w, minlength=WEEK_H)
        busy = np.bincount(hour[at], weights=w * p, minlength=WEEK_H)
        pct.append(np.divide(busy, there, out=np.zeros(WEEK_H), where=there > 0))
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


# ---- groups for a scenario


@dataclass(slots=True)
class _Class:
    group: str
    gpus: float
    jobs: np.ndarray
    gpu_h: float


def suggest_groups(audit: Audit, *, most: int = 12, gpus_per_host: int = 8) -> tuple[Suggestion, ...]:
    """Groups of a scenario that ask for the GPU-hours of the trace.

    Parameters
    ----------
    audit : Audit
        Of jobs; samples do not say who asked for how many GPUs, so they give no groups.
    most : int
        Suggestions at most, 1 to 100.
    gpus_per_host : int
        Jobs with more GPUs become several VMs.

    Returns
    -------
    tuple of Suggestion
        One for each group and size, those with most GPU-hours first; the small ones together by size, rounded up to
        the next power of 2. Where that rounds GPUs up, the length of a piece of work goes down, so GPU-hours stay. Only a
        class too small for any scenario asks for more than the trace, which its note says.
        They have hours and weekdays where nearly all their GPU-hours are within them, else they run around the clock.
    """
    if not 1 <= most <= MAX_GROUPS or not 1 <= gpus_per_host <= 16:
        raise ValueError(
            f"most is {most}, gpus_per_host {gpus_per_host}: must be from 1 to {MAX_GROUPS}, and from 1 to 16"
        )
    if audit.allocation is None or not isinstance(audit.trace, Jobs):
        return ()
    jobs = audit.trace
    first, last = audit.allocation.first_s, audit.allocation.last_s
    edges, hour = _week_edges(first, last, ZoneInfo(audit.time_zone))
    names: set[str] = set()
    return tuple(
        _suggestion(c, jobs, edges, hour, audit.time_zone, gpus_per_host, names) for c in _classes(jobs, most)
    )


def _classes(jobs: Jobs, most: int) -> list[_Class]:
    """Group and size, the small ones merged by size until there are few enough."""
    gpu_h = jobs.gpus * jobs.duration_s / 3600
    pairs, which = np.unique(np.column_stack([jobs.group, jobs.gpus]), axis=0, return_inverse=True)
    which = which.reshape(-1)
    order = np.argsort(which, kind="stable")
    parts = np.split(order, np.cumsum(np.bincount(which))[:-1])
    found = [
        _Class(jobs.groups[int(group)], float(size), at, float(gpu_h[at].sum()))
        for (group, size), at in zip(pairs.tolist(), parts, strict=True)
    ]
    found.sort(key=lambda c: -c.gpu_h)
    if len(found) <= most:
        return found
    for kept in range(most - 1, -1, -1):
        others = _merged(found[kept:])
        if kept + len(others) <= most:
            return found[:kept] + others
    while len(others) > most:
        least = min(range(len(others)), key=lambda n: others[n].gpu_h)
        into = least + 1 if least + 1 < len(others) else least - 1
        low, high = sorted((least, into))
        others[low : high + 1] = [_joined(others[low : high + 1], others[high].gpus)]
    return others


def _merged(classes: Sequence[_Class]) -> list[_Class]:
    sizes: dict[float, list[_Class]] = {}
    for c in classes:
        sizes.setdefault(2.0 ** math.ceil(math.log2(c.gpus)), []).append(c)
    return [_joined(part, size) for size, part in sorted(sizes.items())]


def _joined(parts: Sequence[_Class], gpus: float) -> _Class:
    return _Class("", gpus, np.concatenate([c.jobs for c in parts]), sum(c.gpu_h for c in parts))


def _shape(gpus: float, per_host: int) -> tuple[float, int, int]:
    """GPUs of a VM, VMs of a piece of work and such pieces of a job: whole VMs that come out even where they can, each in a host."""
    if gpus <= per_host:
        return max(gpus, _range("gpus_each")[0]), 1, 1
    even = max(n for n in range(1, per_host + 1) if gpus % n == 0)
    vms = int(gpus) // even
    if 2 * even < per_host:
        vms = math.ceil(gpus / per_host)
        even = math.ceil(gpus / vms)
    pieces = math.ceil(vms / _range("vms_each")[1])
    return even, math.ceil(vms / pieces), pieces


def _range(name: str) -> tuple[float, float]:
    """What a field of a group can hold."""
    field = GROUP_FIELD_BY_NAME[name]
    return field.low, field.high


def _pieces(vm_h_per_day: float, work_h: float) -> tuple[float, float]:
    """Pieces of work a day and the length of each that keep the hours a day, as near to the length as a scenario can hold."""
    shortest, longest = _range("work_h")
    fewest, most = _range("jobs_per_day")
    per_day = vm_h_per_day / min(max(work_h, shortest), longest)
    per_day = min(max(per_day, fewest), most)
    return per_day, min(max(vm_h_per_day / per_day, shortest), longest)


def _suggestion(
    part: _Class,
    jobs: Jobs,
    edges: np.ndarray,
    hour: np.ndarray,
    time_zone: str,
    per_host: int,
    names: set[str],
) -> Suggestion:
    begin, length = jobs.submit_s[part.jobs], jobs.duration_s[part.jobs]
    at_once = _Steps(begin, length, np.ones(len(begin))).curve(edges[0], edges[-1])
    spent = np.diff(_Steps(begin, length, jobs.gpus[part.jobs]).until(edges))
    week = np.bincount(hour, weights=spent, minlength=WEEK_H)
    there_h = np.bincount(hour, weights=np.diff(edges), minlength=WEEK_H) / 3600
    seen_days = there_h.sum() / 24
    real = edges[0] >= REAL_TIME_S and seen_days >= WINDOW_DAYS and len(begin) >= WINDOW_JOBS
    start, hours = _window(week.reshape(7, 24).sum(axis=0)) if real else (0, 24)
    workday = np.roll(week, -start).reshape(7, 24).sum(axis=1)
    weekdays = (
        real and seen_days >= WEEKDAY_DAYS and workday[:5].sum() >= WINDOW_SHARE * max(workday.sum(), 1e-9)
    )
    days_seen = float(np.roll(there_h, -start)[:120].sum() / 24 if weekdays else seen_days)

    gpus_each, vms_each, pieces = _shape(part.gpus, per_host)
    vm_h = part.gpu_h / gpus_each / vms_each
    jobs_per_day, work_h = _pieces(vm_h / days_seen, vm_h / len(begin) / pieces)
    rounded_up = jobs_per_day * work_h * days_seen > vm_h * (1 + 1e-9)
    note = f"{amount(len(begin), 'job')} and {number(round(part.gpu_h, 1))} GPU-hours of the trace"
    tail = f", {amount(part.gpus, 'GPU')}"
    name = (one_line(part.group) or "other")[: MAX_NAME - len(tail) - 4].strip() + tail
    n = 1
    while name in names:
        n += 1
        name = f"{name.removesuffix(f'~{n - 1}')}~{n}"
    names.add(name)
    return Suggestion(
        name=name,
        group=part.group,
        gpus_each=gpus_each,
        vms_each=vms_each,
        people=max(1, math.ceil(at_once.p99_gpus)) * pieces,
        active_share=1.0,
        jobs_per_day=jobs_per_day,
        work_h=work_h,
        hours=f"{start:02}:00-{(start + hours - 1) % 24 + 1:02}:00",
        days="weekdays" if weekdays else "every-day",
        time_zone=time_zone,
        days_seen=days_seen,
        note=note + ("; rounded up to the least that a scenario can hold" if rounded_up else ""),
        rounded_up=rounded_up,
    )


def _window(day: np.ndarray) -> tuple[int, int]:
    """First hour and length of the shortest window that holds nearly all of a day's GPU-hours, or the whole day."""
    for length in range(1, WINDOW_HOURS + 1):
        sums = [float(np.roll(day, -start)[:length].sum()) for start in range(24)]
        best = int(np.argmax(sums))
        if sums[best] >= WINDOW_SHARE * day.sum() > 0:
            return best, length
    return 0, 24


def suggested_scenario(
    base: Scenario, found: Audit, suggestions: Sequence[Suggestion], file: str = "a trace"
) -> Scenario:
    """A scenario with the suggested groups in place of those of ``base``, and the measured peakedness.

    Parameters
    ----------
    base : Scenario
        Hardware, platform and everything else that a trace does not know.
    found : Audit
        Of jobs.
    suggestions : sequence of Suggestion
        As `suggest_groups` gives them.
    file : str
        Name of the trace, for the origins.

    Returns
    -------
    Scenario
        A stated total is dropped; few of the requests wait longer than ``base`` says unless it accepts another risk. Jobs are
        no closed group, so an assumption of known people is dropped as well.

    Raises
    ------
    ValueError
        If there are no jobs, a VM has more GPUs than a host of ``base``, or no design is as large as the trace.
    """
    use = found.allocation
    if use is None:
        raise ValueError("samples say nothing about jobs, so they give no groups")
    _refuse(base, suggestions)
    scenario = replace(
        base, groups=(), origins=tuple(o for o in base.origins if not o[0].startswith("groups"))
    )
    measured = Origin("measured", "scenario", note=f"audit of {one_line(file)[:80]}, {use.days:.0f} days")
    guessed = Origin("assumed", "scenario", note="guessed from the size of the jobs of an audit")
    for s in suggestions:
        group_id = scenario.new_group_id(s.name)
        around = s.hours == "00:00-24:00"
        group = Group(
            id=group_id,
            name=s.name,
            use_case=_use_case(s),
            people=s.people,
            active_share=s.active_share,
            vms_each=s.vms_each,
            gpus_each=s.gpus_each if s.gpus_each < 1 else int(s.gpus_each),
            sites=None if around and s.days == "every-day" else s.time_zone,
            hours=None if around else s.hours,
            days=None if s.days == "every-day" else s.days,
            work_h=float(f"{s.work_h:.4g}"),
            jobs_per_day=float(f"{s.jobs_per_day:.4g}"),
        )
        scenario = scenario.with_groups((*scenario.groups, group))
        scenario = scenario.with_origin(f"groups.{group_id}", measured)
        for name in ("jobs_per_day", "work_h") if s.rounded_up else ():
            scenario = scenario.with_origin(f"groups.{group_id}.{name}", replace(guessed, note=s.note))
        for name in ("use_case", "remote_allowed", "low_latency", "isolation", "access"):
            scenario = scenario.with_origin(f"groups.{group_id}.{name}", guessed)
    asked = scenario.demand
    scenario = replace(
        scenario,
        demand=replace(
            asked,
            stated_gpus=None,
            rule="wait-time" if asked.rule in ("sum", "hours") else asked.rule,
            method="auto" if asked.method == "closed" else asked.method,
            peakedness=float(f"{min(max(use.wanted.peakedness, 0.1), 10_000):.4g}"),
            peakedness_low=None,
            peakedness_high=None,
        ),
    )
    if scenario.demand.method != asked.method:
        scenario = scenario.with_origin(
            "demand.method", replace(guessed, note="jobs are no closed group of people")
        )
    return scenario.with_origin("demand.peakedness", measured)


def _refuse(base: Scenario, suggestions: Sequence[Suggestion]) -> None:
    """Stop where no scenario can hold these groups."""
    per_host = base.hardware.gpus_per_host
    widest = max((s.gpus_each for s in suggestions), default=0.0)
    if widest > per_host:
        raise ValueError(
            f"a suggestion has {widest:g} GPUs in a VM, a host {per_host}: must be made with gpus_per_host={per_host}"
        )
    vms = sum(s.people * s.vms_each for s in suggestions)
    peak = sum(s.people * s.vms_each * s.gpus_each for s in suggestions)
    mean = sum(s.jobs_per_day * s.work_h / _window_h(s.hours) * s.vms_each * s.gpus_each for s in suggestions)
    if max(vms / MAX_VMS, peak / MAX_GPUS, mean / MAX_GPUS) > 1:
        raise ValueError(
            f"the jobs hold {number(round(max(peak, mean)))} GPUs at once in {number(vms)} VMs: no scenario is larger than "
            f"{number(MAX_GPUS)} GPUs and {number(MAX_VMS)} VMs; leave out the largest jobs"
        )
    most = max(suggestions, key=lambda s: s.people, default=None)
    if most and most.people > _range("people")[1]:
        raise ValueError(
            f"{most.name} has {number(most.people)} jobs at once: a group has at most {number(_range('people')[1])}"
        )


def _window_h(hours: str) -> int:
    """Length of the hours of a suggestion."""
    start, end = (int(clock[:2]) for clock in hours.split("-"))
    return (end - start - 1) % 24 + 1


def _use_case(suggestion: Suggestion) -> str:
    """The use case of Table 1 that jobs of this size look like."""
    if suggestion.vms_each > 1:
        return "horovod"
    return (
        "high-end-training"
        if suggestion.gpus_each > 1
        else "ds-workstation"
        if suggestion.gpus_each == 1
        else "small-workstation"
    )


# ---- replay beside the formulas


def compare(
    jobs: Jobs,
    *,
    hosts: Sequence[int],
    policy: str = "pack",
    wait_limit_h: float = 1 / 6,
    share: float = 0.05,
    peakedness: float | None = None,
    progress: Callable[[str], bool] | None = None,
) -> Comparison:
    """The same jobs on proposed hosts, by replay and by formula, and silos against the pool.

    Parameters
    ----------
    jobs : Jobs
        Jobs of a trace; their requests count, not when they started.
    hosts : sequence of int
        GPUs of each proposed host.
    policy : str
        Placement on the hosts: pack or spread.
    wait_limit_h : float
        Wait that is too long.
    share : float
        Share of the jobs that may wait longer, or be turned away.
    peakedness : float, optional
        For Hayward's formulas; that of the GPUs wanted in the trace where none is given.
    progress : callable, optional
        Called with what is being worked out; it ends the comparison by returning False.

    Returns
    -------
    Comparison
        ``replay on the hosts`` knows them and the policy; all others see one pool of as many GPUs. The fewest GPUs of
        replays are found by bisection, as if more GPUs never made more jobs wait; first come first served does not
        promise that for every trace. Jobs larger than a host run as VMs of whole hosts.

    Raises
    ------
    ValueError
        If an input is out of its range, or a job needs more GPUs than all hosts have.
    Cancelled
        If ``progress`` returned False.
    """
    if not 0 < share < 1 or not 0 <= wait_limit_h < math.inf:
        raise ValueError(
            f"share is {share}, wait_limit_h {wait_limit_h}: must be between 0 and 1, and at least 0"
        )
    jobs = _few_groups(jobs)
    replays = _Replays(jobs, policy, wait_limit_h, progress)
    waiting = replays.run(hosts, "the proposed hosts, everybody waits")
    turned_away = replays.run(
        hosts, "the proposed hosts, nobody waits", longest_wait_h=0.0
    ).turned_away_share()
    first, last = period_s(jobs)
    hours = (last - first) / 3600
    offered = float((jobs.gpus * jobs.duration_s).sum()) / 3600 / hours
    wanted = _Steps(jobs.submit_s, jobs.duration_s, jobs.gpus).curve(first, last)
    sizes, count = np.unique(jobs.gpus, return_counts=True)
    loads = [float(jobs.duration_s[jobs.gpus == size].sum()) / 3600 / hours for size in sizes]
    poisson = peakedness_of_mix(loads, sizes=sizes.tolist())
    z = wanted.peakedness if peakedness is None else peakedness
    mean_size = float(jobs.gpus.mean())
    mean_h = float((jobs.gpus * jobs.duration_s).sum() / jobs.gpus.sum()) / 3600
    gpus = sum(hosts)
    start = max(1, math.ceil(offered))

    def needed(chance: Callable[[int], float]) -> int:
        return least_servers(chance, target=share, start=start)

    def bursty_b(n: int) -> float:
        return hayward_b(n, load=offered, peakedness=z) if z > 0 else float(n < offered)

    def long_wait(n: int, by: float) -> float:
        if by <= 0:
            return float(n < offered)
        return hayward_wait_longer_chance(
            n, load=offered, peakedness=by, duration_h=mean_h, wait_h=wait_limit_h
        )

    turned = [
        *_kaufman_roberts(gpus, share, loads, sizes, count),
        Method("hayward", f"one pool, peakedness {z:.3g}, sizes in it", bursty_b(gpus), needed(bursty_b)),
        Method(
            "replay",
            "one pool, the jobs as they came",
            replays.turned_away(gpus),
            needed(replays.turned_away),
        ),
        Method(
            "replay on the hosts",
            f"the proposed hosts, {policy}",
            turned_away,
            _on_equal_hosts(replays, hosts, share, Replayed.turned_away_share, 0.0),
        ),
    ]
    pool_gpus = needed(replays.waits_long)
    long = [
        Method(
            "erlang-c",
            f"one pool, independent arrivals, all of the mean size {mean_size:.3g}",
            long_wait(gpus, mean_size),
            needed(lambda n: long_wait(n, mean_size)),
        ),
        Method(
            "hayward",
            f"one pool, peakedness {z:.3g}",
            long_wait(gpus, z),
            needed(lambda n: long_wait(n, z)),
        ),
        Method("replay", "one pool, the jobs as they came", replays.waits_long(gpus), pool_gpus),
        Method(
            "replay on the hosts",
            f"the proposed hosts, {policy}",
            waiting.longer_share(wait_limit_h),
            _on_equal_hosts(replays, hosts, share, lambda r: r.longer_share(wait_limit_h), math.inf),
        ),
    ]
    silos = _silos(jobs, policy, wait_limit_h, share, hours, progress)
    silo_gpus = sum(s.gpus for s in silos)
    return Comparison(
        hosts=tuple(hosts),
        policy=policy,
        wait_limit_h=wait_limit_h,
        share=share,
        jobs=len(jobs.gpus),
        offered_gpus=offered,
        peakedness=wanted.peakedness,
        poisson_peakedness=poisson,
        waiting=waiting,
        turned_away_share=turned_away,
        turned_away=tuple(turned),
        waits_long=tuple(long),
        silos=silos,
        silo_gpus=silo_gpus,
        silo_utilisation=offered / silo_gpus,
        pool_gpus=pool_gpus,
        pool_utilisation=offered / pool_gpus,
    )


class _Replays:
    """Replays of the same jobs."""

    def __init__(
        self, jobs: Jobs, policy: str, wait_limit_h: float, progress: Callable[[str], bool] | None
    ) -> None:
        self.arrival = (jobs.submit_s - jobs.submit_s.min()) / 3600
        self.duration = jobs.duration_s / 3600
        self.gpus = jobs.gpus
        self.policy, self.wait_limit_h, self.progress = policy, wait_limit_h, progress

    def run(self, hosts: Sequence[int], what: str, longest_wait_h: float = math.inf) -> Replayed:
        def going_on(_: Progress | None = None) -> bool:
            return self.progress is None or self.progress(f"Replay on {what}")

        if not going_on():
            raise Cancelled
        done = replay(
            self.arrival,
            duration_h=self.duration,
            gpus=self.gpus,
            hosts=hosts,
            policy=self.policy,
            longest_wait_h=longest_wait_h,
            split=True,
            progress=going_on,
        )
        if done.ended == "cancelled":
            raise Cancelled
        return done

    def waits_long(self, gpus: int) -> float:
        """Share that waits longer than the limit in one pool; all of them if the largest job never fits."""
        if gpus < self.gpus.max():
            return 1.0
        return self.run([gpus], f"a pool of {gpus} GPUs").longer_share(self.wait_limit_h)

    def turned_away(self, gpus: int) -> float:
        if gpus < self.gpus.max():
            return 1.0
        return self.run([gpus], f"a pool of {gpus} GPUs, nobody waits", 0.0).turned_away_share()


def _kaufman_roberts(
    gpus: int, share: float, loads: Sequence[float], sizes: np.ndarray, count: np.ndarray
) -> list[Method]:
    """Left out where fractions of a GPU are too many to count in equal parts."""
    parts = math.lcm(*(exact(float(size)).denominator for size in sizes))
    if parts > MOST_PARTS:
        return []
    units = [round(float(size) * parts) for size in sizes]
    capacity = max(gpus * parts, max(units))
    while True:
        curve = kaufman_roberts(capacity, loads=loads, sizes=units) @ (count / count.sum())
        enough = np.flatnonzero(curve[::parts] <= share)
        if len(enough):
            break
        capacity *= 2
    name = "one pool, independent arrivals of the same sizes"
    return [Method("kaufman-roberts", name, float(curve[gpus * parts]), int(enough[0]))]


def _on_equal_hosts(
    replays: _Replays,
    hosts: Sequence[int],
    share: float,
    chance: Callable[[Replayed], float],
    longest_wait_h: float,
) -> int | None:
    """GPUs of the fewest hosts like the proposed ones; None where these differ."""
    size = hosts[0]
    if set(hosts) != {size}:
        return None

    def on(n: int) -> float:
        if n * size < math.ceil(replays.gpus.max() / size) * size:
            return 1.0
        return chance(replays.run([size] * n, f"{n} hosts of {size} GPUs", longest_wait_h))

    return size * least_servers(on, target=share, start=len(hosts))


def _silos(
    jobs: Jobs,
    policy: str,
    wait_limit_h: float,
    share: float,
    hours: float,
    progress: Callable[[str], bool] | None,
) -> tuple[Silo, ...]:
    found = []
    for n, group in enumerate(jobs.groups):
        at = jobs.group == n
        if not at.any():
            continue
        alone = jobs.where(at)
        offered = float((alone.gpus * alone.duration_s).sum()) / 3600 / hours
        replays = _Replays(alone, policy, wait_limit_h, progress)
        gpus = least_servers(replays.waits_long, target=share, start=max(1, math.ceil(offered)))
        found.append(Silo(group, len(alone.gpus), offered, gpus, offered / gpus))
    return tuple(sorted(found, key=lambda s: -s.gpus))
