"""An audit of the existing use as plain data and as text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, is_dataclass
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np

from gpuplan.audit import REAL_TIME_S, Audit, Comparison, Method, Reading, Suggestion
from gpuplan.report.table import grid_text
from gpuplan.report.text import heading, wrapped
from gpuplan.wording import DAY_NAMES, amount, number, percent, wait_words

MOST_GROUPS = 20
"""Groups of a trace in a table; the rest is counted."""


def audit_dict(
    found: Audit,
    suggestions: Sequence[Suggestion] = (),
    comparison: Comparison | None = None,
    left_out: int = 0,
) -> dict[str, Any]:
    """An audit as plain JSON values, all finite.

    Parameters
    ----------
    found : Audit
        What the trace says. [-]
    suggestions : sequence of Suggestion
        Groups of a scenario made from it. [-]
    comparison : Comparison or None
        The same jobs replayed on proposed hosts. [-]
    left_out : int
        Jobs left out of the comparison, because they ask for more GPUs than all hosts have. [-]

    Returns
    -------
    audit_dict : dict
        Keys ``reading``, ``time_zone``, ``allocation``, ``activity``, ``notes``, ``suggestions``, ``comparison``. [-]
    """
    data = {
        "reading": _plain(found.trace.reading),
        "time_zone": found.time_zone,
        "allocation": _plain(found.allocation),
        "activity": _plain(found.activity),
        "notes": list(found.notes),
        "suggestions": [_plain(s) for s in suggestions],
        "comparison": None,
    }
    if found.allocation is not None:
        for name in ("wanted", "held"):
            curve = getattr(found.allocation, name)
            if curve is not None:
                data["allocation"][name]["peakedness"] = curve.peakedness
    if comparison is not None:
        replayed = comparison.waiting
        data["comparison"] = _plain(comparison) | {
            "left_out_jobs": left_out,
            "waiting": {
                "waited_share": replayed.longer_share(0.0),
                "waited_longer_share": replayed.longer_share(comparison.wait_limit_h),
                "mean_wait_h": replayed.mean_wait_h(),
                "wait_p90_h": replayed.quantile_wait_h(0.9),
                "wait_p95_h": replayed.quantile_wait_h(0.95),
                "utilisation": replayed.utilisation,
                "peak_gpus": replayed.peak_gpus,
            },
        }
    return data


def _plain(record: Any) -> Any:
    """Records, arrays and tuples as what JSON knows."""
    if is_dataclass(record) and not isinstance(record, type):
        return {
            f.name: _plain(value)
            for f in fields(record)
            for value in [getattr(record, f.name)]
            if f.name != "waiting" or record.__class__.__name__ != "Comparison"
        }
    if isinstance(record, np.ndarray):
        return np.round(record, 6).tolist()
    if isinstance(record, np.generic):
        return record.item()
    if hasattr(record, "_asdict"):
        return {name: _plain(value) for name, value in record._asdict().items()}
    if isinstance(record, dict):
        return {str(name): _plain(value) for name, value in record.items()}
    if isinstance(record, list | tuple):
        return [_plain(value) for value in record]
    return record


def audit_text(
    found: Audit,
    suggestions: Sequence[Suggestion] = (),
    comparison: Comparison | None = None,
    left_out: int = 0,
) -> str:
    """An audit as text for a terminal.

    Parameters
    ----------
    found : Audit
        What the trace says. [-]
    suggestions : sequence of Suggestion
        Groups of a scenario made from it. [-]
    comparison : Comparison or None
        The same jobs replayed on proposed hosts. [-]
    left_out : int
        Jobs left out of the comparison, because they ask for more GPUs than all hosts have. [-]

    Returns
    -------
    audit_text : str
        What was read, who used GPUs when, how bursty it was, groups for a scenario, and the replay. [-]
    """
    parts = [_reading(found.trace.reading)]
    if found.allocation is not None:
        parts.append(_allocation(found))
    if found.activity is not None:
        parts.append(_activity(found))
    parts += [wrapped(note + ".") for note in found.notes if note not in found.trace.reading.notes]
    if suggestions:
        parts.append(_suggestions(suggestions))
    if comparison is not None:
        parts.append(_comparison(comparison, left_out))
    return "\n\n".join(parts) + "\n"


def _reading(reading: Reading) -> str:
    lines = [
        f"{reading.format}: {number(reading.used)} of {number(reading.rows)} rows used; times that state no offset are read as "
        f"{reading.time_zone}."
    ]
    columns = ", ".join(f"{what} from {column!r}" for what, column in reading.columns.items())
    if columns:
        lines.append(f"Columns: {columns}.")
    for skipped in reading.skipped:
        example = f" ({skipped.example})" if skipped.example else ""
        lines.append(
            f"Left out: {number(skipped.rows)} rows, {skipped.reason}; first in line {skipped.first_line}{example}."
        )
    lines += [f"{note}." for note in reading.notes]
    return heading("What was read") + "\n".join(wrapped(line) for line in lines)


def _one(value: float) -> str:
    """A mean or a quantile of GPUs: one decimal tells enough."""
    return f"{value:,.1f}".replace(",", "\u202f").removesuffix(".0")


def _day(seconds: float, zone: str) -> str:
    return datetime.fromtimestamp(seconds, ZoneInfo(zone)).strftime("%Y-%m-%d %H:%M")


def _busiest(week: np.ndarray) -> str:
    """Day and hour of the week with the largest sum over the groups."""
    hour = int(np.argmax(week.sum(axis=1)))
    return f"{DAY_NAMES[hour // 24]} {hour % 24:02}:00"


def _allocation(found: Audit) -> str:
    use = found.allocation
    assert use is not None
    held = use.held or use.wanted
    rows = [
        (
            group.name,
            number(group.jobs),
            number(round(group.gpu_h)),
            percent(group.share),
            f"{group.mean_duration_h:.2f}",
            _one(group.mean_gpus),
            _one(group.peak_gpus),
            percent(group.own_peak_utilisation),
        )
        for group in use.groups[:MOST_GROUPS]
    ]
    more = f"\nand {len(use.groups) - MOST_GROUPS} groups more" if len(use.groups) > MOST_GROUPS else ""
    known = use.first_s >= REAL_TIME_S
    when = (
        f"{_day(use.first_s, found.time_zone)} to {_day(use.last_s, found.time_zone)} ({found.time_zone}), "
    )
    text = heading("Allocation: GPUs asked for and held") + wrapped(
        f"{when if known else ''}{_one(use.days)} days: {number(use.jobs)} jobs ask for {number(round(use.gpu_h))} "
        f"GPU-hours, which are {_one(use.offered_gpus)} GPUs on average over these days; all their work counts, also what is done "
        "after the last request."
    )
    text += "\n" + wrapped(
        f"{'Held' if use.held else 'Wanted'} at once within these days, without work done after them: mean {_one(held.mean_gpus)}, 95 % of the time at most {_one(held.p95_gpus)}, peak "
        f"{_one(held.peak_gpus)}"
        + (f"; busiest hour of the week {_busiest(use.week_gpus)}." if known else ".")
    )
    text += "\n" + wrapped(
        f"Bursts: peakedness {use.wanted.peakedness:.1f}; independent arrivals of the same sizes would give "
        f"{use.poisson_peakedness:.1f}, so demand is {use.burst_factor:.1f} times as peaked."
    )
    if use.utilisation is not None:
        text += "\n" + wrapped(
            f"Utilisation of the allocation: {percent(use.utilisation)} of {amount(use.installed_gpus, 'GPU')} installed."
        )
    if use.waits is not None:
        text += "\n" + wrapped(
            f"Waits as they were: mean {wait_words(use.waits.mean_h)}, 90 % at most {wait_words(use.waits.p90_h)}, "
            f"{percent(use.waits.long_share)} longer than 10 min."
        )
    heads = ("Group", "Jobs", "GPU-hours", "Share", "Mean h", "Mean GPUs", "Peak", "Used of own peak")
    return text + "\n\n" + grid_text(heads, rows, right=(1, 2, 3, 4, 5, 6, 7)) + more


def _activity(found: Audit) -> str:
    use = found.activity
    assert use is not None
    rows = [
        (
            group.name,
            number(group.samples),
            f"{group.mean_activity_pct:.1f} %",
            percent(group.active_share),
            percent(group.busy_share),
            _one(group.mean_gpus),
            _one(group.busy_gpus),
        )
        for group in use.groups[:MOST_GROUPS]
    ]
    more = f"\nand {len(use.groups) - MOST_GROUPS} groups more" if len(use.groups) > MOST_GROUPS else ""
    text = heading("Activity: how busy the chips were") + wrapped(
        f"{_day(use.first_s, found.time_zone)} to {_day(use.last_s, found.time_zone)} ({found.time_zone}): "
        f"{number(use.samples)} samples of {_one(use.gpus_seen)} GPUs ({use.metric}), one in "
        f"{use.interval_s:.0f} s; mean {use.mean_activity_pct:.1f} %. This is not how many GPUs were allocated."
    )
    heads = ("Group", "Samples", "Mean", "Above 0", "Above 5 %", "GPUs at a time", "As busy as")
    return text + "\n\n" + grid_text(heads, rows, right=(1, 2, 3, 4, 5, 6)) + more


def _suggestions(suggestions: Sequence[Suggestion]) -> str:
    rows = [
        (
            s.name,
            s.people,
            number(s.gpus_each) + (f" x {s.vms_each}" if s.vms_each > 1 else ""),
            number(round(s.jobs_per_day, 2)),
            f"{s.work_h:.2f}",
            "around the clock" if s.hours == "00:00-24:00" else f"{s.hours} {s.time_zone}, {s.days}",
        )
        for s in suggestions
    ]
    heads = ("Group", "At once", "GPUs each", "A day", "Hours each", "When")
    text = heading("Groups for a scenario") + grid_text(heads, rows, right=(1, 2, 3, 4))
    for s in suggestions:
        if s.rounded_up:
            text += "\n" + wrapped(f"{s.name}: {s.note}.")
    return text


def _methods(found: Sequence[Method], gpus: int, what: str) -> str:
    rows = [
        (m.name, percent(m.chance), "" if m.gpus_needed is None else number(m.gpus_needed), m.assumption)
        for m in found
    ]
    return grid_text((what, f"With {gpus}", "GPUs needed", "Assumption"), rows, right=(1, 2))


def _comparison(found: Comparison, left_out: int) -> str:
    gpus, limit = sum(found.hosts), f"{number(round(60 * found.wait_limit_h, 3))} min"
    replayed = found.waiting
    text = heading(f"The same jobs on {amount(len(found.hosts), 'host')} with {amount(gpus, 'GPU')}")
    text += wrapped(
        f"{number(found.jobs)} jobs; all their work over the days of their requests is {_one(found.offered_gpus)} GPUs on average. "
        f"Replayed, "
        f"{percent(replayed.longer_share(found.wait_limit_h))} wait longer than {limit}, 90 % at most "
        f"{wait_words(replayed.quantile_wait_h(0.9))}, and {percent(replayed.utilisation)} of the GPU-hours are allocated; if nobody "
        f"waited, {percent(found.turned_away_share)} would be turned away."
    )
    if left_out:
        text += "\n" + wrapped(
            f"{amount(left_out, 'job')} left out: they ask for more GPUs than all hosts have."
        )
    text += f"\n\nAt most {100 * found.share:g} % of the jobs turned away:\n"
    text += _methods(found.turned_away, gpus, "Turned away")
    text += f"\n\nAt most {100 * found.share:g} % of the jobs wait longer than {limit}:\n"
    text += _methods(found.waits_long, gpus, "Wait too long")
    text += "\n\n" + wrapped(
        f"Silos: {amount(found.silo_gpus, 'GPU')}, {percent(min(1.0, found.silo_utilisation))} used, if each of the "
        f"{len(found.silos)} groups keeps the wait on its own; the pool: {amount(found.pool_gpus, 'GPU')}, "
        f"{percent(min(1.0, found.pool_utilisation))} used."
    )
    return text
