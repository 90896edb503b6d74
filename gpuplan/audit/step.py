"""The audit in the demand step: a file of existing use, its findings and groups, and the replay on planned hosts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from gpuplan.app.cards import IDLE, STARTING, receiving, select, upload_data
from gpuplan.app.state import Workbook
from gpuplan.audit import REAL_TIME_S, tables
from gpuplan.audit.report import again, came
from gpuplan.audit.upload import Auditing
from gpuplan.report import amount, number, percent
from gpuplan.report.table import Table, one_place, records, screen
from gpuplan.wording import DAY_NAMES, NAMES, points, share_words, wait_words

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
    found, label = audit.found, "Choose another file" if audit.name else "Choose a file"
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
        "text": _said(workbook, found) if found else [] if audit.name else [INVITE],
    }


def _buttons(workbook: Workbook, audit: Auditing) -> list[dict[str, Any]]:
    if audit.runner.state == "running":
        return [{"text": "Stop", "event": "cancel-audit", "key": "audit-stop"}]
    found = audit.found
    groups = len(found["suggestions"]) + len(found["serving"]) if found else 0
    use = {
        "text": f"Use these {groups} groups" if groups > 1 else "Use this group",
        "event": "use-audit",
        "key": "audit-use",
        "primary": True,
    }
    where = "replicas" if found and found["arrivals"] else "hosts"
    replay = {"text": f"Replay on the {where} planned", "event": "replay", "key": "audit-replay"}
    return [
        *([{"text": "Read again", "event": "audit", "key": "audit-again"}] if audit.complete else []),
        *([use] if groups else []),
        *([replay] if found and _can_replay(workbook, found) else []),
        *(
            [{"text": "Remove the file", "event": "forget-audit", "key": "audit-forget"}]
            if audit.name
            else []
        ),
    ]


def _can_replay(workbook: Workbook, found: dict[str, Any]) -> bool:
    """True if the design has hosts for the jobs, or replicas for the requests."""
    return (
        bool(workbook.plan.llm.serving)
        if found["arrivals"]
        else bool(found["allocation"] and workbook.plan.pools)
    )


def _progress(audit: Auditing) -> dict[str, Any] | None:
    if audit.name and not audit.complete and not audit.error:
        return receiving(audit)
    running = audit.runner.state == "running"
    return {"done": None, "text": audit.runner.step or STARTING} if running else None


def _said(workbook: Workbook, found: dict[str, Any]) -> list[str]:
    """Return the reading and the findings in sentences."""
    notes = dict.fromkeys([*found["reading"]["notes"], *found["notes"]])
    return [
        _read(workbook.auditing.name, found["reading"]),
        *(_held(found["allocation"]) if found["allocation"] else ()),
        *(_busy(found["activity"]) if found["activity"] else ()),
        *(came(found["arrivals"], found["time_zone"]) if found["arrivals"] else ()),
        *(f"{note}." for note in notes),
        *(_replayed(workbook, found["comparison"]) if found["comparison"] else ()),
        *(again(found["replayed"]) if found["replayed"] else ()),
    ]


def _read(name: str, reading: dict[str, Any]) -> str:
    used = f"{name[:80]}: {number(reading['used'])} of {number(reading['rows'])} rows used."
    left = sum(s["rows"] for s in reading["skipped"])
    if not left:
        return used
    worst = max(reading["skipped"], key=lambda s: s["rows"])
    return f"{used} Left out: {number(left)}, most of them for: {worst['reason']} (first in line {worst['first_line']})."


def _held(use: dict[str, Any]) -> Iterator[str]:
    """Yield sentences on the GPUs of jobs: requests, concurrency, burstiness, and observed waits."""
    held = use["held"] or use["wanted"]
    week = [sum(hour) for hour in use["week_gpus"]]
    peak = "" if use["first_s"] < REAL_TIME_S else f", busiest {_hour(week.index(max(week)))}"
    yield (
        f"{number(use['jobs'])} jobs in {number(round(use['days'], 1))} days ask for {one_place(use['offered_gpus'])} GPUs on average, "
        "including work done after the last request."
    )
    yield (
        f"{'Allocated' if use['held'] else 'Needed'} at once within these days, without work done after them: mean "
        f"{one_place(held['mean_gpus'])}, {one_place(held['p95_gpus'])} or fewer for {share_words(0.95)} of the time, {one_place(held['peak_gpus'])} at the "
        f"peak{peak}."
    )
    yield (
        f"Burstiness: peakedness {one_place(use['wanted']['peakedness'])}, where independent arrivals of the same sizes would give "
        f"{one_place(use['poisson_peakedness'])}: {one_place(use['burst_factor'])} times as bursty."
    )
    if waits := use["waits"]:
        yield (
            f"Actual waits: {share_words(0.9)} at most {wait_words(waits['p90_h'])}, {percent(waits['long_share'])} longer "
            "than 10 min."
        )


def _busy(activity: dict[str, Any]) -> Iterator[str]:
    """Yield sentences on chip activity."""
    yield (
        f"{number(activity['samples'])} samples of {one_place(activity['gpus_seen'])} GPUs: the chips were "
        f"{points(activity['mean_activity_pct'])} busy on average ({activity['metric']}). They do not show "
        "how many GPUs were allocated."
    )


def _replayed(workbook: Workbook, comparison: dict[str, Any]) -> Iterator[str]:
    """Yield sentences on the experience of the jobs on the planned hosts."""
    waiting, hosts = comparison["waiting"], comparison["hosts"]
    other = "" if workbook.auditing.replayed == workbook.plan.scenario else " (the design has changed since)"
    limit = f"{number(round(60 * comparison['wait_limit_h'], 3))} min"
    yield (
        f"Replayed on {len(hosts)} hosts with {amount(sum(hosts), 'GPU')}{other}: "
        f"{percent(waiting['waited_longer_share'])} of the jobs wait longer than {limit}, {share_words(0.9)} at most "
        f"{wait_words(waiting['wait_p90_h'])}, {percent(waiting['utilisation'])} of the GPU-hours are allocated."
    )
    if comparison["left_out_jobs"]:
        yield f"{amount(comparison['left_out_jobs'], 'job')} left out: larger than all hosts."
    yield f"Silos would take {number(comparison['silo_gpus'])} GPUs, the pool {number(comparison['pool_gpus'])}, for the same wait."


def _hour(at: int) -> str:
    """Format an hour of the week."""
    return f"{DAY_NAMES[at // 24]} {at % 24:02}:00"


def audit_tables(workbook: Workbook) -> dict[str, Any]:
    """Return the findings as tables, below their chart."""
    found = workbook.auditing.found
    return {"shown": bool(found), "tables": _tables(found) if found else [], "stale": False}


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
    found = workbook.auditing.found
    if not found:
        return {}
    held = found["allocation"]
    if not held and not found["activity"]:
        return {}
    if held and held["first_s"] < REAL_TIME_S:
        return {}
    use = held or found["activity"]
    names = [group["name"] for group in use["groups"]]
    shown = names[:CHART_GROUPS]
    week = use["week_gpus" if held else "week_activity_pct"]
    if held and len(names) > len(shown):
        week = [[*row[: len(shown)], sum(row[len(shown) :])] for row in week]
        shown = [*shown, "others"]
    return {
        "stacked": bool(held),
        "title": "GPUs needed" if held else "Activity, %",
        "zone": found["time_zone"],
        "groups": shown,
        "rows": [
            {"hour": hour, "when": _hour(hour), "group": name, "value": value}
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
