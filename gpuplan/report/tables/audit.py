"""The tables of an audit: GPU users, how busy they are, requests to language models, groups for a scenario, and formulas beside the replay."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gpuplan.locales import written
from gpuplan.report.table import Cell, Column, Table, listed, two_places
from gpuplan.wording import NAMES, number

Found = Mapping[str, Any]
"""A part of what ``audit_dict`` gives."""
METHOD_TITLES = NAMES["replay method"]
"""Formulas by their names in the field."""


def holders(use: Found) -> Table:
    """Users of GPUs."""
    return listed(
        "holders",
        "GPU users",
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
    return listed(
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


def requests(arrivals: Found) -> Table:
    """Requests to each language model, or by each application."""
    return listed(
        "requests",
        "Users of language models",
        (
            Column("name", "Group"),
            Column("requests", "Requests", "number"),
            Column("share", "Share of tokens", "share"),
            Column("busiest_per_second", "A second, busiest hour", "number", words=few_digits),
            Column("in", "Prompt", "number", of=lambda group: round(group["tokens_in"]["mean"])),
            Column("in_p95", "95 % at most", "number", of=lambda group: round(group["tokens_in"]["p95"])),
            Column("out", "Answer", "number", of=lambda group: round(group["tokens_out"]["mean"])),
            Column("out_p95", "95 % at most", "number", of=lambda group: round(group["tokens_out"]["p95"])),
        ),
        arrivals["groups"],
    )


def few_digits(value: float) -> str:
    """A rate to three digits, never as a fraction."""
    return written(value, ".3g") if value < 1000 else number(round(value))


def suggestions(found: Sequence[Found]) -> Table:
    """Groups for a scenario, made from the jobs."""
    return listed(
        "suggestions",
        "Groups for a scenario",
        (
            Column("name", "Group"),
            Column("people", "At once", "number"),
            Column("gpus_each", "GPUs each", "number", of=_gpus_each),
            Column("jobs_per_day", "A day", "number", words=lambda jobs: number(round(jobs, 2))),
            Column("work_h", "Hours each", "number", "h", words=two_places),
            Column("when", "When", of=_when),
        ),
        found,
    )


def serving(found: Sequence[Found]) -> Table:
    """Groups for a scenario, made from the requests."""
    return listed(
        "serving",
        "Groups for a scenario",
        (
            Column("name", "Group"),
            Column("requests_per_s", "Requests a second", "number", words=few_digits),
            Column("tokens_in", "Prompt", "number"),
            Column("tokens_out", "Answer", "number"),
            Column(
                "spread",
                "Spread",
                of=lambda group: (
                    f"{written(group['spread_in'], 'g')} and {written(group['spread_out'], 'g')}"
                ),
            ),
            Column("peakedness", "Bursts", "number", words=number),
            Column("longest_context", "Longest", "number"),
            Column("when", "When", of=lambda group: _when({**group, "days": "every day"})),
        ),
        found,
    )


def _gpus_each(group: Found) -> Cell:
    several = f" x {group['vms_each']}" * (group["vms_each"] > 1)
    return Cell(group["gpus_each"], words=number(group["gpus_each"]) + several)


def _when(group: Found) -> str:
    if group["hours"] == "00:00-24:00":
        return "around the clock"
    return f"{group['hours']} {group['time_zone']}, {group['days']}"


def formulas(found: Sequence[Found], gpus: int, title: str) -> Table:
    """What each formula says, beside the replay."""
    return listed(
        "formulas",
        title,
        (
            Column("name", "Formulas and replay", words=METHOD_TITLES.get),
            Column("chance", f"With {number(gpus)}", "share"),
            Column("gpus_needed", "GPUs needed", "number"),
            Column("assumption", "Assumption"),
        ),
        found,
    )


def few_wait(comparison: Found) -> Table:
    """How many GPUs keep most jobs from waiting long."""
    limit = f"{number(round(60 * comparison['wait_limit_h'], 3))} min"
    title = f"At most {written(100 * comparison['share'], 'g')} % of the jobs wait longer than {limit}"
    return formulas(comparison["waits_long"], sum(comparison["hosts"]), title)


def few_denied(comparison: Found) -> Table:
    """How many GPUs keep most jobs from being denied."""
    title = f"At most {written(100 * comparison['share'], 'g')} % of the jobs denied"
    return formulas(comparison["denied"], sum(comparison["hosts"]), title)
