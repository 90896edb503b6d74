"""The audit in the demand step: a file of existing use, its findings and groups, and the replay on planned hosts."""

from collections.abc import Callable, Mapping
from typing import Any

from gpuplan.app.cards import IDLE, STARTING, receiving, select, upload_data
from gpuplan.app.state import Workbook
from gpuplan.audit import REAL_TIME_S, report
from gpuplan.audit.report import PARTS, again, hour_of_week, more_groups, reading, replayed, silos
from gpuplan.audit.upload import Auditing
from gpuplan.report.table import Table, records, screen
from gpuplan.widgets import contract
from gpuplan.wording import NAMES, said

SHOWN_GROUPS = 10
CHART_GROUPS = 6
INPUTS, QUESTIONS, EMPTY = NAMES["audit input"], NAMES["audit question"], NAMES["audit empty input"]
"""Input of an audit -> its label, its question, and what counts while it is empty."""


def audit_data(workbook: Workbook) -> dict[str, Any]:
    """Return the file, its reading options, its progress, and its findings."""
    audit = workbook.auditing
    findings = audit.found
    read = findings and findings["reading"]
    label = said("audit.choose another" if audit.name else "audit.choose")
    return {
        **IDLE,
        "title": said("audit.title"),
        "hint": said("audit.hint"),
        "upload": upload_data(audit, label, ".csv,.txt,.tsv,.json,.jsonl,.xlsx,.gz,.log", "piece"),
        "inputs": [
            select("audit-format", said("audit.format"), audit.format, NAMES["format of a trace"]),
            *(
                {
                    "what": f"audit-{name}",
                    "label": label,
                    "value": getattr(audit, name) or (_columns(read) if read and name == "columns" else ""),
                    "question": QUESTIONS[name],
                    **({"empty": EMPTY[name]} if name in EMPTY else {}),
                }
                for name, label in INPUTS.items()
            ),
        ],
        "buttons": _buttons(workbook, audit),
        "progress": _progress(audit),
        "problem": audit.error or audit.runner.error,
        "text": _said(workbook, findings) if findings else [] if audit.name else [said("audit.invite")],
    }


def _columns(read: Mapping[str, Any]) -> str:
    """Return which column is read as what, and in which unit, as a user states it."""
    units = {what: column["unit"]["name"] for what, column in read["units"].items() if column["unit"]}
    named = {what: name for what, name in read["columns"].items() if "," not in name}
    return ", ".join(
        f"{what}={name}" + f":{units.get(what)}" * (what in units) for what, name in named.items()
    )


def _buttons(workbook: Workbook, audit: Auditing) -> list[contract.Button]:
    if audit.runner.state == "running":
        return [{"text": said("audit.stop"), "event": "cancel-audit", "key": "audit-stop"}]
    findings = audit.found
    groups = len(findings["suggestions"]) + len(findings["serving"]) if findings else 0
    requests = findings and findings["arrivals"]

    def button(key: str, event: str, at: str, shown: object) -> list[contract.Button]:
        return [{"text": said(key, groups=groups), "event": event, "key": at}] if shown else []

    use = button("audit.use groups" if groups > 1 else "audit.use group", "use-audit", "audit-use", groups)
    on = "audit.replay on replicas" if requests else "audit.replay on hosts"
    jobs = findings and findings["allocation"] and workbook.plan.pools
    return [
        *button("audit.again", "audit", "audit-again", audit.complete),
        *(each | {"primary": True} for each in use),
        *button(on, "replay", "audit-replay", workbook.plan.llm.serving if requests else jobs),
        *button("audit.forget", "forget-audit", "audit-forget", audit.name),
    ]


def _progress(audit: Auditing) -> contract.Progress | None:
    if audit.name and not audit.complete and not audit.error:
        return receiving(audit)
    running = audit.runner.state == "running"
    return {"done": None, "text": audit.runner.step or STARTING} if running else None


def _said(workbook: Workbook, found: dict[str, Any]) -> list[str]:
    read, zone = found["reading"], found["time_zone"]
    changed = workbook.auditing.replayed != workbook.plan.scenario
    return [
        said("audit.read", name=workbook.auditing.name[:80], used=read["used"], rows=read["rows"]),
        *reading(read),
        *(text for part, (_, says, _) in PARTS.items() if found[part] for text in says(found[part], zone)),
        *(f"{note}." for note in found["notes"] if note not in read["notes"]),
        *(_replayed(found["comparison"], changed) if found["comparison"] else ()),
        *(again(found["replayed"]) if found["replayed"] else ()),
    ]


def _replayed(found: dict[str, Any], changed: bool) -> list[str]:
    """Describe the experience of the jobs on the hosts of the plan, or of the one before it changed."""
    first, *others = replayed(found)
    key = "audit.replayed before" if changed else "audit.replayed on"
    on_hosts = said(key, hosts=len(found["hosts"]), gpus=sum(found["hosts"]))
    return [f"{on_hosts} {first}", *others, silos(found)]


def audit_tables(workbook: Workbook) -> dict[str, Any]:
    """Return the findings as tables, below their chart."""
    findings = workbook.auditing.found
    return {"shown": bool(findings), "tables": _tables(findings) if findings else [], "stale": False}


def _tables(found: dict[str, Any]) -> list[dict[str, Any]]:
    parts = [build(found[part]) for part, (_, _, build) in PARTS.items() if found[part]]
    tops = [(part, more_groups(part, SHOWN_GROUPS)) for part in parts]
    drawn = [screen(part.top(SHOWN_GROUPS), title=part.title, more=more) for part, more in tops]
    for made, build in (("suggestions", report.suggestions), ("serving", report.serving)):
        if found[made]:
            drawn.append(screen(build(found[made]), title=said("audit.groups")))
    if compared := found["comparison"]:
        drawn += [_formulas(report.few_wait(compared)), _formulas(report.few_denied(compared))]
    return drawn


def _formulas(table: Table) -> dict[str, Any]:
    """Return the formulas beside the replay, with their assumptions as tooltips."""
    assumed = [row["assumption"] for row in records(table)]
    hovered = table.dressed("name", lambda n, _: {"title": assumed[n]})
    return screen(hovered.without("assumption"), title=table.title)


def week_rows(workbook: Workbook) -> dict[str, Any]:
    """Return the rows of the audit chart: GPUs needed, or activity, by hour of the week and group."""
    findings = workbook.auditing.found or {"allocation": None, "activity": None}
    allocation = findings["allocation"]
    use = allocation or findings["activity"]
    if not use or (allocation and allocation["first_s"] < REAL_TIME_S):
        return {}
    names = [group["name"] for group in use["groups"]]
    shown = names[:CHART_GROUPS]
    week = use["week_gpus" if allocation else "week_activity_pct"]
    if allocation and len(names) > len(shown):
        week = [[*row[: len(shown)], sum(row[len(shown) :])] for row in week]
        shown = [*shown, said("audit.others")]
    return {
        "stacked": bool(allocation),
        "title": said("audit.chart of gpus" if allocation else "audit.chart of activity"),
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
