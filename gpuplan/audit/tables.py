"""The tables of an audit: GPU users, how busy they are, requests to language models, groups for a scenario, and formulas beside the replay."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gpuplan.locales import written
from gpuplan.report.table import Cell, Column, Table, listed, two_places
from gpuplan.report.tables.traffic import few_digits
from gpuplan.wording import NAMES, number, said

Found = Mapping[str, Any]
"""A part of the result of ``audit_dict``."""
METHOD_TITLES = NAMES["replay method"]
"""Formulas by their names in the field."""


def holders(use: Found) -> Table:
    """Return the users of GPUs."""
    return listed(
        "holders",
        (
            Column("name"),
            Column("jobs", kind="number"),
            Column("gpu_h", kind="whole", unit="h"),
            Column("share", kind="share"),
            Column("mean_duration_h", kind="duration", unit="h"),
            Column("mean_gpus", kind="mean"),
            Column("peak_gpus", kind="mean"),
            Column("own_peak_utilisation", kind="share"),
        ),
        use["groups"],
    )


def activity(use: Found) -> Table:
    """Return the chip activity of each group."""
    return listed(
        "activity",
        (
            Column("name"),
            Column("samples", kind="number"),
            Column("mean_activity_pct", kind="points", unit="%"),
            Column("active_share", kind="share"),
            Column("busy_share", kind="share"),
            Column("mean_gpus", kind="mean"),
            Column("busy_gpus", kind="mean"),
        ),
        use["groups"],
    )


def requests(arrivals: Found) -> Table:
    """Return the requests to each language model, or by each application."""
    return listed(
        "requests",
        (
            Column("name"),
            Column("requests", kind="number"),
            Column("share", kind="share"),
            Column("busiest_per_second", kind="number", words=few_digits),
            Column("in", kind="number", of=lambda group: round(group["tokens_in"]["mean"])),
            Column("in_p95", kind="number", of=lambda group: round(group["tokens_in"]["p95"])),
            Column("out", kind="number", of=lambda group: round(group["tokens_out"]["mean"])),
            Column("out_p95", kind="number", of=lambda group: round(group["tokens_out"]["p95"])),
        ),
        arrivals["groups"],
    )


def suggestions(found: Sequence[Found]) -> Table:
    """Return the groups for a scenario, made from the jobs."""
    return listed(
        "suggestions",
        (
            Column("name"),
            Column("people", kind="number"),
            Column("gpus_each", kind="number", of=_gpus_each),
            Column("jobs_per_day", kind="number", words=lambda jobs: number(round(jobs, 2))),
            Column("work_h", kind="number", unit="h", words=two_places),
            Column("when", of=_when),
        ),
        found,
    )


def serving(found: Sequence[Found]) -> Table:
    """Return the groups for a scenario, made from the requests."""
    return listed(
        "serving",
        (
            Column("name"),
            Column("requests_per_s", kind="number", words=few_digits),
            Column("tokens_in", kind="number"),
            Column("tokens_out", kind="number"),
            Column(
                "spread",
                of=lambda group: said(
                    "table.serving.and",
                    spread_in=written(group["spread_in"], "g"),
                    spread_out=written(group["spread_out"], "g"),
                ),
            ),
            Column("peakedness", kind="number", words=number),
            Column("longest_context", kind="number"),
            Column("when", of=lambda group: _when({**group, "days": said("table.serving.every day")})),
        ),
        found,
    )


def _gpus_each(group: Found) -> Cell:
    several = f" x {group['vms_each']}" * (group["vms_each"] > 1)
    return Cell(group["gpus_each"], words=number(group["gpus_each"]) + several)


def _when(group: Found) -> str:
    if group["hours"] == "00:00-24:00":
        return said("table.serving.always")
    return f"{group['hours']} {group['time_zone']}, {group['days']}"


def formulas(found: Sequence[Found], gpus: int, title: str) -> Table:
    """Return the result of each formula, beside the replay."""
    return listed(
        "formulas",
        (
            Column("name", words=METHOD_TITLES.get),
            Column("chance", said("table.formulas.chance", gpus=number(gpus)), "share"),
            Column("gpus_needed", kind="number"),
            Column("assumption"),
        ),
        found,
        title=title,
    )


def few_wait(comparison: Found) -> Table:
    """Return the number of GPUs that keeps most jobs from waiting long."""
    share, limit = written(100 * comparison["share"], "g"), round(60 * comparison["wait_limit_h"], 3)
    title = said("table.formulas.few wait", share=share, limit=limit)
    return formulas(comparison["waits_long"], sum(comparison["hosts"]), title)


def few_denied(comparison: Found) -> Table:
    """Return the number of GPUs that keeps most jobs from being denied."""
    title = said("table.formulas.few denied", share=written(100 * comparison["share"], "g"))
    return formulas(comparison["denied"], sum(comparison["hosts"]), title)
