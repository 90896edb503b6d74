"""The audit in the demand step: a file of the existing use, what it says, its groups, and the replay on the hosts planned."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gpuplan.app.auditing import Auditing
from gpuplan.app.state import Workbook
from gpuplan.app.uploading import CHUNK_BYTES
from gpuplan.audit import FORMATS, REAL_TIME_S
from gpuplan.report import amount, number, percent
from gpuplan.report.table import Table, one_place, records, screen
from gpuplan.report.tables import audit as tables
from gpuplan.wording import DAY_NAMES, wait_words

FORMAT_NAMES = {
    "auto": "by its header",
    "jobs": "jobs, CSV",
    "sacct": "Slurm sacct --parsable2",
    "samples": "samples, CSV",
    "nvidia-smi": "nvidia-smi --query-gpu",
    "prometheus": "Prometheus, DCGM",
}
SHOWN_GROUPS = 10
CHART_GROUPS = 6


def audit_data(workbook: Workbook) -> dict[str, Any]:
    """The file, how it is read, how far it is, and what it says."""
    audit = workbook.auditing
    runner, found = audit.runner, audit.found
    running, sending = runner.state == "running", bool(audit.name) and not audit.complete
    return {
        "shown": True,
        "title": "Audit what exists",
        "hint": "jobs (CSV, Slurm) or samples (nvidia-smi, DCGM); the file stays on this machine",
        "upload": {
            "label": "Choose another file" if audit.name else "Choose a file",
            "accept": ".csv,.txt,.tsv,.json,.gz,.log",
            "name": audit.name,
            "got": audit.got,
            "piece": CHUNK_BYTES,
            "event": "piece",
        },
        "inputs": [
            {
                "what": "audit-format",
                "label": "Format",
                "value": audit.format,
                "options": [{"value": f, "text": FORMAT_NAMES[f]} for f in FORMATS],
            },
            {
                "what": "audit-time_zone",
                "label": "Time zone",
                "value": audit.time_zone,
                "question": "Time zone of times that state none, and of the hours shown, such as Europe/Berlin",
            },
            {
                "what": "audit-columns",
                "label": "Columns",
                "value": audit.columns,
                "empty": "by their names",
                "question": "Where the names are not known: what = column, such as gpus=num_gpus, group=team",
            },
        ],
        "buttons": _buttons(workbook, audit, running),
        "progress": _progress(audit, running, sending),
        "problem": audit.error or runner.error,
        "text": _said(workbook, audit) if found else [_invite()] if not audit.name else [],
        "tables": [],
        "old": False,
        "stale": False,
    }


def audit_tables(workbook: Workbook) -> dict[str, Any]:
    """The findings as tables, below their chart."""
    audit = workbook.auditing
    return {"shown": bool(audit.found), "tables": _tables(audit) if audit.found else [], "stale": False}


def _invite() -> str:
    return (
        "A file of jobs gives each group's load, its hours and how bursty it is; groups for the design with one click; and a "
        "replay of the same jobs on the hosts planned. Samples say how busy the chips were, which is another figure."
    )


def _buttons(workbook: Workbook, audit: Auditing, running: bool) -> list[dict[str, Any]]:
    if running:
        return [{"text": "Stop", "event": "cancel-audit", "key": "audit-stop"}]
    found = audit.found
    buttons: list[dict[str, Any]] = []
    if audit.complete:
        buttons.append({"text": "Read again", "event": "audit", "key": "audit-again"})
    if found and found["suggestions"]:
        buttons.append(
            {
                "text": f"Use these {len(found['suggestions'])} groups",
                "event": "use-audit",
                "key": "audit-use",
                "primary": True,
            }
        )
    if found and found["allocation"] and workbook.plan.pools:
        buttons.append({"text": "Replay on the hosts planned", "event": "replay", "key": "audit-replay"})
    if audit.name:
        buttons.append({"text": "Forget the file", "event": "forget-audit", "key": "audit-forget"})
    return buttons


def _progress(audit: Auditing, running: bool, sending: bool) -> dict[str, Any] | None:
    if sending and not audit.error:
        done = audit.got / audit.size
        return {"done": done, "text": f"Receiving {audit.name[:60]}: {round(100 * done)} %"}
    return {"done": None, "text": audit.runner.step or "Starting"} if running else None


def _said(workbook: Workbook, audit: Auditing) -> list[str]:
    """What was read, and the findings in sentences."""
    found = audit.found
    assert found is not None
    reading, use, activity = found["reading"], found["allocation"], found["activity"]
    left = sum(s["rows"] for s in reading["skipped"])
    said = [f"{audit.name[:80]}: {number(reading['used'])} of {number(reading['rows'])} rows used."]
    if left:
        worst = max(reading["skipped"], key=lambda s: s["rows"])
        said[0] += (
            f" Left out: {number(left)}, most of them for: {worst['reason']} (first in line {worst['first_line']})."
        )
    if use:
        held = use["held"] or use["wanted"]
        peak = "" if use["first_s"] < REAL_TIME_S else f", busiest {_busiest(use['week_gpus'])}"
        said.append(
            f"{number(use['jobs'])} jobs in {number(round(use['days'], 1))} days ask for {one_place(use['offered_gpus'])} GPUs on average, "
            "counting all their work, also what is done after the last request."
        )
        said.append(
            f"{'Held' if use['held'] else 'Wanted'} at once within these days, without work done after them: mean "
            f"{one_place(held['mean_gpus'])}, {one_place(held['p95_gpus'])} or fewer for 95 % of the time, {one_place(held['peak_gpus'])} at the "
            f"peak{peak}."
        )
        said.append(
            f"Burstiness: peakedness {one_place(use['wanted']['peakedness'])}, where independent arrivals of the same sizes give "
            f"{one_place(use['poisson_peakedness'])}: {one_place(use['burst_factor'])} times as peaked."
        )
        if use["waits"]:
            said.append(
                f"Waits as they were: 90 % at most {wait_words(use['waits']['p90_h'])}, {percent(use['waits']['long_share'])} longer "
                "than 10 min."
            )
    if activity:
        said.append(
            f"{number(activity['samples'])} samples of {one_place(activity['gpus_seen'])} GPUs: the chips were "
            f"{activity['mean_activity_pct']:.1f} % busy on average ({activity['metric']}). How many GPUs were allocated is another "
            "figure, which samples do not tell."
        )
    said += [f"{note}." for note in dict.fromkeys([*reading["notes"], *found["notes"]])]
    comparison = found["comparison"]
    if comparison:
        waiting = comparison["waiting"]
        other = " (another design than now)" if audit.replayed != workbook.plan.scenario else ""
        said.append(
            f"Replayed on {len(comparison['hosts'])} hosts with {amount(sum(comparison['hosts']), 'GPU')}{other}: "
            f"{percent(waiting['waited_longer_share'])} of the jobs wait longer than {_minutes(comparison)}, 90 % at most "
            f"{wait_words(waiting['wait_p90_h'])}, {percent(waiting['utilisation'])} of the GPU-hours are held."
        )
        if comparison["left_out_jobs"]:
            said.append(
                f"{amount(comparison['left_out_jobs'], 'job')} left out: larger than all hosts together."
            )
        said.append(
            f"Silos would take {number(comparison['silo_gpus'])} GPUs, the pool {number(comparison['pool_gpus'])}, for the same wait."
        )
    return said


def _minutes(comparison: dict[str, Any]) -> str:
    return f"{number(round(60 * comparison['wait_limit_h'], 3))} min"


def _busiest(week: list[list[float]]) -> str:
    hour = max(range(len(week)), key=lambda at: sum(week[at]))
    return f"{DAY_NAMES[hour // 24]} {hour % 24:02}:00"


def _tables(audit: Auditing) -> list[dict[str, Any]]:
    found = audit.found
    assert found is not None
    drawn = [
        screen(shown.top(SHOWN_GROUPS), title=shown.title, more=_more(len(shown.rows)))
        for part, build in (("allocation", tables.holders), ("activity", tables.activity))
        if found[part]
        for shown in [build(found[part])]
    ]
    if found["suggestions"]:
        drawn.append(screen(tables.suggestions(found["suggestions"]), title="Groups for the design"))
    if compared := found["comparison"]:
        drawn += [_formulas(tables.few_wait(compared)), _formulas(tables.few_turned_away(compared))]
    return drawn


def _more(count: int) -> str:
    return f"and {count - SHOWN_GROUPS} groups more" if count > SHOWN_GROUPS else ""


def _formulas(table: Table) -> dict[str, Any]:
    """Formulas beside the replay; what each assumes is said on hovering."""
    assumed = [row["assumption"] for row in records(table)]
    hovered = table.dressed("name", lambda n, _: {"title": assumed[n]})
    return screen(hovered.without("assumption"), title=table.title)


def week_rows(workbook: Workbook) -> dict[str, Any]:
    """What the chart of the audit draws: GPUs wanted, or activity, by hour of the week and group."""
    found = workbook.auditing.found
    if not found:
        return {}
    use = found["allocation"] or found["activity"]
    week = use["week_gpus"] if found["allocation"] else use["week_activity_pct"]
    names = [g["name"] for g in use["groups"]]
    if found["allocation"] and use["first_s"] < REAL_TIME_S:
        return {}
    shown = names[:CHART_GROUPS]
    pick: Callable[[list[float]], list[float]] = (
        (lambda row: [*row[: len(shown)], sum(row[len(shown) :])])
        if found["allocation"]
        else (lambda row: row[: len(shown)])
    )
    labels = [*shown, "others"] if found["allocation"] and len(names) > len(shown) else shown
    return {
        "stacked": bool(found["allocation"]),
        "title": "GPUs wanted" if found["allocation"] else "Activity, %",
        "zone": found["time_zone"],
        "groups": labels,
        "rows": [
            {
                "hour": hour,
                "when": f"{DAY_NAMES[hour // 24]} {hour % 24:02}:00",
                "group": name,
                "value": value,
            }
            for hour, row in enumerate(week)
            for name, value in zip(labels, pick(row), strict=False)
        ],
    }
