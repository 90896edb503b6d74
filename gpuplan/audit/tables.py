"""The tables of an audit: GPU users, how busy they are, requests to language models, groups for a scenario, and formulas beside the replay."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gpuplan.locales import written
from gpuplan.report.table import Cell, Column, Table, listed, two_places
from gpuplan.report.tables.traffic import few_digits
from gpuplan.wording import NAMES, number, said

Found = Mapping[str, Any]
"""A part of what ``audit_dict`` gives."""
METHOD_TITLES = NAMES["replay method"]
"""Formulas by their names in the field."""


def holders(use: Found) -> Table:
    """Users of GPUs."""
    return listed(
        "holders",
        said("table.holders"),
        (
            Column("name", said("table.holders.name")),
            Column("jobs", said("table.holders.jobs"), "number"),
            Column("gpu_h", said("table.holders.gpu_h"), "whole", "h"),
            Column("share", said("table.holders.share"), "share"),
            Column("mean_duration_h", said("table.holders.mean_duration_h"), "duration", "h"),
            Column("mean_gpus", said("table.holders.mean_gpus"), "mean"),
            Column("peak_gpus", said("table.holders.peak_gpus"), "mean"),
            Column("own_peak_utilisation", said("table.holders.own_peak_utilisation"), "share"),
        ),
        use["groups"],
    )


def activity(use: Found) -> Table:
    """How busy the chips of each group were."""
    return listed(
        "activity",
        said("table.activity"),
        (
            Column("name", said("table.activity.name")),
            Column("samples", said("table.activity.samples"), "number"),
            Column("mean_activity_pct", said("table.activity.mean_activity_pct"), "points", "%"),
            Column("active_share", said("table.activity.active_share"), "share"),
            Column("busy_share", said("table.activity.busy_share"), "share"),
            Column("mean_gpus", said("table.activity.mean_gpus"), "mean"),
            Column("busy_gpus", said("table.activity.busy_gpus"), "mean"),
        ),
        use["groups"],
    )


def requests(arrivals: Found) -> Table:
    """Requests to each language model, or by each application."""
    return listed(
        "requests",
        said("table.requests"),
        (
            Column("name", said("table.requests.name")),
            Column("requests", said("table.requests.requests"), "number"),
            Column("share", said("table.requests.share"), "share"),
            Column(
                "busiest_per_second", said("table.requests.busiest_per_second"), "number", words=few_digits
            ),
            Column(
                "in", said("table.requests.in"), "number", of=lambda group: round(group["tokens_in"]["mean"])
            ),
            Column(
                "in_p95",
                said("table.requests.in_p95"),
                "number",
                of=lambda group: round(group["tokens_in"]["p95"]),
            ),
            Column(
                "out",
                said("table.requests.out"),
                "number",
                of=lambda group: round(group["tokens_out"]["mean"]),
            ),
            Column(
                "out_p95",
                said("table.requests.out_p95"),
                "number",
                of=lambda group: round(group["tokens_out"]["p95"]),
            ),
        ),
        arrivals["groups"],
    )


def suggestions(found: Sequence[Found]) -> Table:
    """Groups for a scenario, made from the jobs."""
    return listed(
        "suggestions",
        said("table.suggestions"),
        (
            Column("name", said("table.suggestions.name")),
            Column("people", said("table.suggestions.people"), "number"),
            Column("gpus_each", said("table.suggestions.gpus_each"), "number", of=_gpus_each),
            Column(
                "jobs_per_day",
                said("table.suggestions.jobs_per_day"),
                "number",
                words=lambda jobs: number(round(jobs, 2)),
            ),
            Column("work_h", said("table.suggestions.work_h"), "number", "h", words=two_places),
            Column("when", said("table.suggestions.when"), of=_when),
        ),
        found,
    )


def serving(found: Sequence[Found]) -> Table:
    """Groups for a scenario, made from the requests."""
    return listed(
        "serving",
        said("table.serving"),
        (
            Column("name", said("table.serving.name")),
            Column("requests_per_s", said("table.serving.requests_per_s"), "number", words=few_digits),
            Column("tokens_in", said("table.serving.tokens_in"), "number"),
            Column("tokens_out", said("table.serving.tokens_out"), "number"),
            Column(
                "spread",
                said("table.serving.spread"),
                of=lambda group: said(
                    "table.serving.and",
                    spread_in=written(group["spread_in"], "g"),
                    spread_out=written(group["spread_out"], "g"),
                ),
            ),
            Column("peakedness", said("table.serving.peakedness"), "number", words=number),
            Column("longest_context", said("table.serving.longest_context"), "number"),
            Column(
                "when",
                said("table.serving.when"),
                of=lambda group: _when({**group, "days": said("table.serving.every day")}),
            ),
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
    """What each formula says, beside the replay."""
    return listed(
        "formulas",
        title,
        (
            Column("name", said("table.formulas.name"), words=METHOD_TITLES.get),
            Column("chance", said("table.formulas.chance", gpus=number(gpus)), "share"),
            Column("gpus_needed", said("table.formulas.gpus_needed"), "number"),
            Column("assumption", said("table.formulas.assumption")),
        ),
        found,
    )


def few_wait(comparison: Found) -> Table:
    """How many GPUs keep most jobs from waiting long."""
    share, limit = written(100 * comparison["share"], "g"), round(60 * comparison["wait_limit_h"], 3)
    title = said("table.formulas.few wait", share=share, limit=limit)
    return formulas(comparison["waits_long"], sum(comparison["hosts"]), title)


def few_denied(comparison: Found) -> Table:
    """How many GPUs keep most jobs from being denied."""
    title = said("table.formulas.few denied", share=written(100 * comparison["share"], "g"))
    return formulas(comparison["denied"], sum(comparison["hosts"]), title)
