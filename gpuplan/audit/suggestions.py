"""Groups of a scenario that request the GPU-hours of a trace, and the scenario made of them."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from zoneinfo import ZoneInfo

import numpy as np

from gpuplan.audit.curves import REAL_TIME_S, WEEK_H, Steps, week_edges
from gpuplan.audit.trace import MAX_NAME, Jobs
from gpuplan.audit.use import Audit
from gpuplan.locales import THIN_SPACE
from gpuplan.scenario import (
    GROUP_FIELD_BY_NAME,
    MAX_GPUS,
    MAX_GROUPS,
    MAX_VMS,
    RISKS,
    Group,
    Origin,
    Scenario,
    one_line,
)
from gpuplan.wording import amount, said

WINDOW_SHARE = 0.95
WINDOW_HOURS = 14
WINDOW_DAYS = 7
WEEKDAY_DAYS = 14
WINDOW_JOBS = 30
"""A class of jobs has working hours if this share of its GPU-hours is in this many hours, over enough days and jobs."""


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A group of a scenario that requests as many GPU-hours as a part of the trace."""

    name: str
    group: str
    """Group of the trace; empty for small ones of several groups."""
    gpus_each: float
    vms_each: int
    people: int
    """Concurrent jobs exceeded in only 1 % of the time."""
    active_share: float
    jobs_per_day: float
    """Jobs on each of the days named by ``days``."""
    work_h: float
    hours: str
    days: str
    time_zone: str
    days_seen: float
    """Such days in the trace: times jobs_per_day, work_h and GPUs gives its GPU-hours."""
    note: str
    rounded_up: bool
    """True if it requests more GPU-hours than the trace, because a scenario cannot hold as few."""


@dataclass(slots=True)
class _Class:
    group: str
    gpus: float
    jobs: np.ndarray
    gpu_h: float


def suggest_groups(audit: Audit, *, most: int = 12, gpus_per_host: int = 8) -> tuple[Suggestion, ...]:
    """Return groups of a scenario that request the GPU-hours of a trace's jobs; none for samples, which name no users.

    One for each group and size, most GPU-hours first; small ones together by size, rounded up to a power of 2, at
    most ``most``. Jobs of more than ``gpus_per_host`` GPUs become several VMs; where GPUs are rounded up, jobs are
    shorter. Only a class too small for any scenario asks for more. Hours and weekdays hold nearly all its GPU-hours.
    """
    if not 1 <= most <= MAX_GROUPS or not 1 <= gpus_per_host <= 16:
        given = f"most is {most}, gpus_per_host {gpus_per_host}"
        raise ValueError(f"{given}: must be from 1 to {MAX_GROUPS}, and from 1 to 16")
    if audit.allocation is None or not isinstance(audit.trace, Jobs):
        return ()
    jobs = audit.trace
    first, last = audit.allocation.first_s, audit.allocation.last_s
    edges, hour = week_edges(first, last, ZoneInfo(audit.time_zone))
    names: set[str] = set()
    how = (jobs, edges, hour, audit.time_zone, gpus_per_host, names)
    return tuple(_suggestion(part, *how) for part in _classes(jobs, most))


def _classes(jobs: Jobs, most: int) -> list[_Class]:
    """Return group and size, the small ones merged by size until there are few enough."""
    gpu_h = jobs.gpus * jobs.duration_s / 3600
    pairs, which = np.unique(np.column_stack([jobs.group, jobs.gpus]), axis=0, return_inverse=True)
    which = which.reshape(-1)
    order = np.argsort(which, kind="stable")
    parts = np.split(order, np.cumsum(np.bincount(which))[:-1])
    classes = [
        _Class(jobs.groups[int(group)], float(size), at, float(gpu_h[at].sum()))
        for (group, size), at in zip(pairs.tolist(), parts, strict=True)
    ]
    classes.sort(key=lambda c: -c.gpu_h)
    if len(classes) <= most:
        return classes
    for kept in range(most - 1, -1, -1):
        others = _merged(classes[kept:])
        if kept + len(others) <= most:
            return classes[:kept] + others
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
    """Return GPUs of a VM, VMs of a job and such parts: whole VMs that come out even if possible, each in one host."""
    if gpus > 1:
        gpus = math.ceil(gpus)
    if gpus <= per_host:
        return max(gpus, group_field_range("gpus_each")[0]), 1, 1
    even = max(n for n in range(1, per_host + 1) if gpus % n == 0)
    vms = int(gpus) // even
    if 2 * even < per_host:
        vms = math.ceil(gpus / per_host)
        even = math.ceil(gpus / vms)
    pieces = math.ceil(vms / group_field_range("vms_each")[1])
    return even, math.ceil(vms / pieces), pieces


def group_field_range(name: str) -> tuple[float, float]:
    """Return the permitted range of a group's field."""
    field = GROUP_FIELD_BY_NAME[name]
    return field.low, field.high


def _pieces(vm_h_per_day: float, work_h: float) -> tuple[float, float]:
    """Return jobs a day and their length that keep the hours a day, as near to the length as a scenario can hold."""
    lengths, rates = group_field_range("work_h"), group_field_range("jobs_per_day")
    per_day = float(np.clip(vm_h_per_day / np.clip(work_h, *lengths), *rates))
    return per_day, float(np.clip(vm_h_per_day / per_day, *lengths))


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
    at_once = Steps(begin, length, np.ones(len(begin))).curve(edges[0], edges[-1])
    spent = np.diff(Steps(begin, length, jobs.gpus[part.jobs]).until(edges))
    week = np.bincount(hour, weights=spent, minlength=WEEK_H)
    there_h = np.bincount(hour, weights=np.diff(edges), minlength=WEEK_H) / 3600
    seen_days = there_h.sum() / 24
    real = edges[0] >= REAL_TIME_S and seen_days >= WINDOW_DAYS and len(begin) >= WINDOW_JOBS
    start, hours = window(week.reshape(7, 24).sum(axis=0)) if real else (0, 24)
    workday = np.roll(week, -start).reshape(7, 24).sum(axis=1)
    most = workday[:5].sum() >= WINDOW_SHARE * max(workday.sum(), 1e-9)
    weekdays = real and seen_days >= WEEKDAY_DAYS and most
    days_seen = float(np.roll(there_h, -start)[:120].sum() / 24 if weekdays else seen_days)

    gpus_each, vms_each, pieces = _shape(part.gpus, per_host)
    vm_h = part.gpu_h / gpus_each / vms_each
    jobs_per_day, work_h = _pieces(vm_h / days_seen, vm_h / len(begin) / pieces)
    rounded_up = jobs_per_day * work_h * days_seen > vm_h * (1 + 1e-9)
    note = said("audit.group.jobs", jobs=len(begin), gpu_h=round(part.gpu_h, 1))
    tail = f", {amount(part.gpus, 'GPU')}".replace(THIN_SPACE, " ")
    name = (one_line(part.group) or said("audit.group.other"))[: MAX_NAME - len(tail) - 4].strip() + tail
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
        hours=hours_text(start, hours),
        days="weekdays" if weekdays else "every-day",
        time_zone=time_zone,
        days_seen=days_seen,
        note=said("audit.group.rounded up", note=note) if rounded_up else note,
        rounded_up=rounded_up,
    )


AROUND = "00:00-24:00"


def hours_text(start: int, length: int) -> str:
    """Return hours of the day as a group has them."""
    return f"{start:02}:00-{(start + length - 1) % 24 + 1:02}:00"


def window(day: np.ndarray) -> tuple[int, int]:
    """Return start and length of the shortest window that holds nearly all of a day's GPU-hours, or the whole day."""
    for length in range(1, WINDOW_HOURS + 1):
        sums = [float(np.roll(day, -start)[:length].sum()) for start in range(24)]
        best = int(np.argmax(sums))
        if sums[best] >= WINDOW_SHARE * day.sum() > 0:
            return best, length
    return 0, 24


def suggested_scenario(
    base: Scenario, found: Audit, suggestions: Sequence[Suggestion], file: str = "a trace"
) -> Scenario:
    """Return a scenario with the suggested groups in place of those of ``base``, and the measured peakedness.

    A stated total and an assumption of known people are dropped; unless ``base`` accepts another risk, few requests
    wait. A ValueError if there are no jobs, or no host or design of ``base`` is large enough.
    """
    use = found.allocation
    if use is None:
        raise ValueError(said("audit.samples without jobs"))
    _refuse(base, suggestions)
    others = tuple(o for o in base.origins if not o[0].startswith("groups"))
    scenario = replace(base, groups=(), origins=others)
    note = said("audit.origin.days", file=one_line(file)[:80], days=f"{use.days:.0f}")
    measured = Origin("measured", "scenario", note=note)
    guessed = Origin("assumed", "scenario", note=said("audit.origin.guessed"))
    for s in suggestions:
        around = s.hours == AROUND
        group = Group(
            id=scenario.new_group_id(s.name),
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
        rounded = ("jobs_per_day", "work_h") if s.rounded_up else ()
        origins = dict.fromkeys(rounded, replace(guessed, note=s.note)) | dict.fromkeys(GUESSED, guessed)
        scenario = with_group(scenario, group, {"": measured, **origins})
    demand = scenario.demand
    scenario = replace(
        scenario,
        demand=replace(
            demand,
            stated_gpus=None,
            rule=demand.rule if demand.rule in RISKS else "wait-time",
            method="auto" if demand.method == "closed" else demand.method,
            peakedness=float(f"{min(max(use.wanted.peakedness, 0.1), 10_000):.4g}"),
            peakedness_low=None,
            peakedness_high=None,
        ),
    )
    if scenario.demand.method != demand.method:
        origin = replace(guessed, note=said("audit.origin.method"))
        scenario = scenario.with_origin("demand.method", origin)
    return scenario.with_origin("demand.peakedness", measured)


GUESSED = ("use_case", "remote_allowed", "low_latency", "isolation", "vmotion", "access")
"""Inputs of a group that jobs say nothing about."""


def with_group(scenario: Scenario, group: Group, origins: Mapping[str, Origin]) -> Scenario:
    """Return a scenario with one more group, and with the origins of its inputs by name: the empty one for all others."""
    scenario = scenario.with_groups((*scenario.groups, group))
    for name, origin in origins.items():
        scenario = scenario.with_origin(f"groups.{group.id}.{name}".rstrip("."), origin)
    return scenario


def _refuse(base: Scenario, suggestions: Sequence[Suggestion]) -> None:
    per_host = base.hardware.gpus_per_host
    widest = max((s.gpus_each for s in suggestions), default=0.0)
    if widest > per_host:
        raise ValueError(said("audit.group.wide", widest=f"{widest:g}", per_host=per_host))
    vms = sum(s.people * s.vms_each for s in suggestions)
    peak = sum(s.people * s.vms_each * s.gpus_each for s in suggestions)
    mean = sum(s.jobs_per_day * s.work_h / _window_h(s.hours) * s.vms_each * s.gpus_each for s in suggestions)
    if max(vms / MAX_VMS, peak / MAX_GPUS, mean / MAX_GPUS) > 1:
        limits = {"most_gpus": MAX_GPUS, "most_vms": MAX_VMS}
        raise ValueError(said("audit.group.too large", gpus=round(max(peak, mean)), vms=vms, **limits))
    most, limit = max(suggestions, key=lambda s: s.people, default=None), group_field_range("people")[1]
    if most and most.people > limit:
        raise ValueError(said("audit.group.too many", name=most.name, jobs=most.people, most=limit))


def _window_h(hours: str) -> int:
    start, end = (int(clock[:2]) for clock in hours.split("-"))
    return (end - start - 1) % 24 + 1


def _use_case(suggestion: Suggestion) -> str:
    """Return the workload kind of Table 1 that jobs of this size resemble."""
    if suggestion.vms_each > 1:
        return "horovod"
    if suggestion.gpus_each > 1:
        return "high-end-training"
    return "ds-workstation" if suggestion.gpus_each == 1 else "small-workstation"
