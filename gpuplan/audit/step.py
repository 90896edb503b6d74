"""The audit in the demand step: a file of existing use, its findings and groups, and the replay on planned hosts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from gpuplan.app.cards import IDLE, STARTING, receiving, select, upload_data
from gpuplan.app.state import Workbook
from gpuplan.audit import REAL_TIME_S, tables
from gpuplan.audit.report import again, busy, came, hour_of_week, replayed, requested, silos
from gpuplan.audit.upload import Auditing
from gpuplan.report import amount, number
from gpuplan.report.table import Table, records, screen
from gpuplan.widgets import contract
from gpuplan.wording import NAMES

SHOWN_GROUPS = 10
CHART_GROUPS = 6
INVITE = (
    "A job log shows each group's load, hours and burstiness, turns its groups into the design with one click, and "
    "replays the same jobs on the planned hosts. Samples show only how busy the chips were. A request log of a "
    "language model shows prompts, answers and bursts."
)


def audit_data(workbook: Workbook) -> dict[str, Any]:
    """Return the file, its reading options, its progress, and its findings."""
    audit = workbook.auditing
    findings, label = audit.found, "Choose another file" if audit.name else "Choose a file"
    return {
        **IDLE,
        "title": "Audit of existing use",
        "hint": "jobs (CSV, Slurm), samples (nvidia-smi, DCGM) or requests to a language model; the file stays on this machine",
        "upload": upload_data(audit, label, ".csv,.txt,.tsv,.json,.gz,.log", "piece"),
        "inputs": [
            select("audit-format", "Format", audit.format, NAMES["format of a trace"]),
            {
                "what": "audit-time_zone",
                "label": "Time zone",
                "value": audit.time_zone,
                "question": "Time zone of times without one, and of the hours shown, such as Europe/Berlin",
            },
            {
                "what": "audit-columns",
                "label": "Columns",
                "value": audit.columns,
                "empty": "by their names",
                "question": "If the column names are not recognised: what = column, such as gpus=num_gpus, group=team",
            },
            {
                "what": "audit-first_day",
                "label": "First day",
                "value": audit.first_day,
                "empty": "of the file",
                "question": "Ignore everything before this day: a date (2020-04-01), or the number of a day in the file, from 1",
            },
            {
                "what": "audit-last_day",
                "label": "Last day",
                "value": audit.last_day,
                "empty": "of the file",
                "question": "Ignore everything after this day; of jobs that cross an edge, the part inside counts",
            },
        ],
        "buttons": _buttons(workbook, audit),
        "progress": _progress(audit),
        "problem": audit.error or audit.runner.error,
        "text": _said(workbook, findings) if findings else [] if audit.name else [INVITE],
    }


def _buttons(workbook: Workbook, audit: Auditing) -> list[contract.Button]:
    if audit.runner.state == "running":
        return [{"text": "Stop", "event": "cancel-audit", "key": "audit-stop"}]
    findings = audit.found
    groups = len(findings["suggestions"]) + len(findings["serving"]) if findings else 0
    where = "replicas" if findings and findings["arrivals"] else "hosts"
    use = f"Use these {groups} groups" if groups > 1 else "Use this group"

    def button(text: str, event: str, key: str) -> contract.Button:
        return {"text": text, "event": event, "key": key}

    return [
        *[button("Read again", "audit", "audit-again")] * audit.complete,
        *[button(use, "use-audit", "audit-use") | {"primary": True}] * bool(groups),
        *[button(f"Replay on the {where} planned", "replay", "audit-replay")]
        * bool(findings and _can_replay(workbook, findings)),
        *[button("Remove the file", "forget-audit", "audit-forget")] * bool(audit.name),
    ]


def _can_replay(workbook: Workbook, found: dict[str, Any]) -> bool:
    """True if the design has hosts for the jobs, or replicas for the requests."""
    return (
        bool(workbook.plan.llm.serving)
        if found["arrivals"]
        else bool(found["allocation"] and workbook.plan.pools)
    )


def _progress(audit: Auditing) -> contract.Progress | None:
    if audit.name and not audit.complete and not audit.error:
        return receiving(audit)
    running = audit.runner.state == "running"
    return {"done": None, "text": audit.runner.step or STARTING} if running else None


def _said(workbook: Workbook, found: dict[str, Any]) -> list[str]:
    """Return the reading and the findings in sentences."""
    notes, zone = dict.fromkeys([*found["reading"]["notes"], *found["notes"]]), found["time_zone"]
    changed = workbook.auditing.replayed != workbook.plan.scenario
    return [
        _read(workbook.auditing.name, found["reading"]),
        *(requested(found["allocation"], zone) if found["allocation"] else ()),
        *([busy(found["activity"], zone)] if found["activity"] else ()),
        *(came(found["arrivals"], zone) if found["arrivals"] else ()),
        *(f"{note}." for note in notes),
        *(_replayed(found["comparison"], changed) if found["comparison"] else ()),
        *(again(found["replayed"]) if found["replayed"] else ()),
    ]


def _read(name: str, reading: dict[str, Any]) -> str:
    used = f"{name[:80]}: {number(reading['used'])} of {number(reading['rows'])} rows used."
    left = sum(s["rows"] for s in reading["skipped"])
    if not left:
        return used
    worst = max(reading["skipped"], key=lambda s: s["rows"])
    return f"{used} Left out: {number(left)}, most of them for: {worst['reason']} (first in line {worst['first_line']})."


def _replayed(found: dict[str, Any], changed: bool) -> list[str]:
    """Describe the experience of the jobs on the hosts of the plan, or of the one before it changed."""
    hosts = f"{len(found['hosts'])} hosts with {amount(sum(found['hosts']), 'GPU')}"
    since = " (the design has changed since)" * changed
    first, *others = replayed(found)
    return [f"Replayed on {hosts}{since}: {first}", *others, silos(found)]


def audit_tables(workbook: Workbook) -> dict[str, Any]:
    """Return the findings as tables, below their chart."""
    findings = workbook.auditing.found
    return {"shown": bool(findings), "tables": _tables(findings) if findings else [], "stale": False}


def _tables(found: dict[str, Any]) -> list[dict[str, Any]]:
    drawn = [
        screen(shown.top(SHOWN_GROUPS), title=shown.title, more=_more(len(shown.rows)))
        for part, build in (
            ("allocation", tables.holders),
            ("activity", tables.activity),
            ("arrivals", tables.requests),
        )
        if found[part]
        for shown in [build(found[part])]
    ]
    if found["suggestions"]:
        drawn.append(screen(tables.suggestions(found["suggestions"]), title="Groups for the design"))
    if found["serving"]:
        drawn.append(screen(tables.serving(found["serving"]), title="Groups for the design"))
    if compared := found["comparison"]:
        drawn += [_formulas(tables.few_wait(compared)), _formulas(tables.few_denied(compared))]
    return drawn


def _more(count: int) -> str:
    return f"and {count - SHOWN_GROUPS} groups more" if count > SHOWN_GROUPS else ""


def _formulas(table: Table) -> dict[str, Any]:
    """Return the formulas beside the replay, with their assumptions as tooltips."""
    assumed = [row["assumption"] for row in records(table)]
    hovered = table.dressed("name", lambda n, _: {"title": assumed[n]})
    return screen(hovered.without("assumption"), title=table.title)


def week_rows(workbook: Workbook) -> dict[str, Any]:
    """Return the rows of the audit chart: GPUs needed, or activity, by hour of the week and group."""
    findings = workbook.auditing.found
    if not findings:
        return {}
    allocation = findings["allocation"]
    if not allocation and not findings["activity"]:
        return {}
    if allocation and allocation["first_s"] < REAL_TIME_S:
        return {}
    use = allocation or findings["activity"]
    names = [group["name"] for group in use["groups"]]
    shown = names[:CHART_GROUPS]
    week = use["week_gpus" if allocation else "week_activity_pct"]
    if allocation and len(names) > len(shown):
        week = [[*row[: len(shown)], sum(row[len(shown) :])] for row in week]
        shown = [*shown, "others"]
    return {
        "stacked": bool(allocation),
        "title": "GPUs needed" if allocation else "Activity, %",
        "zone": findings["time_zone"],
        "groups": shown,
        "rows": [
            {"hour": hour, "when": hour_of_week(hour), "group": name, "value": value}
            for hour, row in enumerate(week)
            for name, value in zip(shown, row, strict=False)
        ],
    }


def _piece(workbook: Workbook, content: Mapping[str, Any]) -> None:
    """Accept a part of a file to audit; the last one starts the audit."""
    if workbook.auditing.arrived(content):
        workbook.auditing.start(workbook.plan.scenario)


EVENTS: dict[str, Callable[[Workbook, Mapping[str, Any]], None]] = {
    "piece": _piece,
    "audit": lambda workbook, _: workbook.auditing.start(workbook.plan.scenario),
    "replay": lambda workbook, _: workbook.auditing.start(workbook.plan.scenario, replay=True),
    "cancel-audit": lambda workbook, _: workbook.auditing.runner.cancel(),
    "forget-audit": lambda workbook, _: workbook.auditing.forget(),
}
"""Name of an event -> action of the workbook."""
