"""The tables of an audit: who holds GPUs, how busy they are, groups for a scenario, and formulas beside the replay."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gpuplan.report.table import Cell, Column, Table
from gpuplan.wording import number

Found = Mapping[str, Any]
"""A part of what ``audit_dict`` gives."""


METHOD_TITLES = {
    "kaufman-roberts": "Kaufman-Roberts",
    "erlang-c": "Erlang C",
    "hayward": "Hayward, measured peakedness",
    "replay": "Replay, one pool",
    "replay on the hosts": "Replay on the hosts",
}
"""Formulas by their names in the field."""


def holders(use: Found) -> Table:
    """Who asks for GPUs and holds them."""
    return _of_keys(
        "holders",
        "Who holds GPUs",
        (
            Column("name", "Group"),
            Column("jobs", "Jobs", "number"),
            Column("gpu_h", "GPU-hours", "whole", "h"),
            Column("share", "Share", "share"),
            Column("mean_duration_h", "Mean h", "duration", "h"),
            Column("mean_gpus", "Mean GPUs", "mean"),
            Column("peak_gpus", "Peak", "mean"),
            Column("own_peak_utilisation", "Used of own peak", "share"),
        ),
        use["groups"],
    )


def activity(use: Found) -> Table:
    """How busy the chips of each group were."""
    return _of_keys(
        "activity",
        "How busy the chips were",
        (
            Column("name", "Group"),
            Column("samples", "Samples", "number"),
            Column("mean_activity_pct", "Mean", "points", "%"),
            Column("active_share", "Above 0", "share"),
            Column("busy_share", "Above 5 %", "share"),
            Column("mean_gpus", "GPUs at a time", "mean"),
            Column("busy_gpus", "As busy as", "mean"),
        ),
        use["groups"],
    )


def _of_keys(name: str, title: str, columns: tuple[Column, ...], rows: Sequence[Found]) -> Table:
    """A table of what dicts hold under the keys of its columns."""
    return Table(name, title, columns, tuple(tuple(row[column.key] for column in columns) for row in rows))


def suggestions(found: Sequence[Found]) -> Table:
    """Groups for a scenario, made from the jobs."""
    return Table(
        "suggestions",
        "Groups for a scenario",
        (
            Column("name", "Group"),
            Column("people", "At once", "number"),
            Column("gpus_each", "GPUs each", "number"),
            Column("jobs_per_day", "A day", "number"),
            Column("work_h", "Hours each", "number", "h"),
            Column("when", "When"),
        ),
        tuple(
            (
                s["name"],
                s["people"],
                Cell(
                    s["gpus_each"], words=number(s["gpus_each"]) + f" x {s['vms_each']}" * (s["vms_each"] > 1)
                ),
                Cell(s["jobs_per_day"], words=number(round(s["jobs_per_day"], 2))),
                Cell(s["work_h"], words=f"{s['work_h']:.2f}"),
                "around the clock"
                if s["hours"] == "00:00-24:00"
                else f"{s['hours']} {s['time_zone']}, {s['days']}",
            )
            for s in found
        ),
    )


def formulas(found: Sequence[Found], gpus: int, title: str) -> Table:
    """What each formula says, beside the replay."""
    return Table(
        "formulas",
        title,
        (
            Column("name", "Formulas and replay"),
            Column("chance", f"With {number(gpus)}", "share"),
            Column("gpus_needed", "GPUs needed", "number"),
            Column("assumption", "Assumption"),
        ),
        tuple(
            (
                Cell(m["name"], words=METHOD_TITLES.get(m["name"])),
                m["chance"],
                m["gpus_needed"],
                m["assumption"],
            )
            for m in found
        ),
    )


def few_wait(comparison: Found) -> Table:
    """How many GPUs keep most jobs from waiting long."""
    limit = f"{number(round(60 * comparison['wait_limit_h'], 3))} min"
    title = f"At most {100 * comparison['share']:g} % of the jobs wait longer than {limit}"
    return formulas(comparison["waits_long"], sum(comparison["hosts"]), title)


def few_turned_away(comparison: Found) -> Table:
    """How many GPUs keep most jobs from being turned away."""
    title = f"At most {100 * comparison['share']:g} % of the jobs turned away"
    return formulas(comparison["turned_away"], sum(comparison["hosts"]), title)
