"""An audit of the existing use as plain data and as text."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

import numpy as np

from gpuplan.analysis.llm_traffic import GroupTraffic
from gpuplan.audit import REAL_TIME_S, Audit, Comparison, ServingGroup, Suggestion
from gpuplan.locales import DAY_NAMES
from gpuplan.report.plan_data import as_json, fields_of
from gpuplan.report.table import Cell, Table, Worded, columns, listed, tabulate
from gpuplan.report.text import Block, Content, chapter, page, text
from gpuplan.simulation.batching import Simulated
from gpuplan.wording import NAMES, counted, number, points, said, three_digits

Found = Mapping[str, Any]
METHOD_TITLES = NAMES["replay method"]


def holders(use: Found) -> Table:
    """Return the users of GPUs."""
    return tabulate("holders", use["groups"])


def activity(use: Found) -> Table:
    """Return the chip activity of each group."""
    return tabulate("activity", use["groups"])


def requests(arrivals: Found) -> Table:
    """Return the requests to each language model, or by each application."""
    tokens: dict[str, Any] = {
        "in": lambda group: round(group["tokens_in"]["mean"]),
        "in_p95": lambda group: round(group["tokens_in"]["p95"]),
        "out": lambda group: round(group["tokens_out"]["mean"]),
        "out_p95": lambda group: round(group["tokens_out"]["p95"]),
    }
    return tabulate("requests", arrivals["groups"], busiest_per_second=Worded(three_digits), **tokens)


def suggestions(found: Sequence[Found]) -> Table:
    """Return the groups for a scenario, made from the jobs."""
    return tabulate(
        "suggestions",
        found,
        gpus_each=_gpus_each,
        jobs_per_day=Worded(lambda jobs: number(round(jobs, 2))),
        when=_when,
    )


def serving(found: Sequence[Found]) -> Table:
    """Return the groups for a scenario, made from the requests."""
    return listed(
        "serving",
        columns(
            "suggested_serving",
            requests_per_s=Worded(three_digits),
            spread=lambda group: said("table.serving.and", **group),
            peakedness=Worded(number),
            when=lambda group: _when({**group, "days": said("table.serving.every day")}),
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
    return tabulate(
        "formulas",
        found,
        name=Worded(METHOD_TITLES.get),
        heads={"chance": said("table.formulas.chance", gpus=number(gpus))},
        title=title,
    )


def few_wait(comparison: Found) -> Table:
    """Return the number of GPUs that keeps most jobs from waiting long."""
    limit = round(60 * comparison["wait_limit_h"], 3)
    title = said("table.formulas.few wait", **comparison, limit=limit)
    return formulas(comparison["waits_long"], sum(comparison["hosts"]), title)


def few_denied(comparison: Found) -> Table:
    """Return the number of GPUs that keeps most jobs from being denied."""
    title = said("table.formulas.few denied", **comparison)
    return formulas(comparison["denied"], sum(comparison["hosts"]), title)


Replay = tuple[GroupTraffic, Simulated]
MOST_GROUPS = 20
"""Groups of a trace in a table; the rest is counted."""


class Findings(NamedTuple):
    """All findings on a file: GPU use, groups for a design, and a replay on its hosts or replicas."""

    found: Audit
    suggestions: Sequence[Suggestion] = ()
    comparison: Comparison | None = None
    left_out: int = 0
    """Jobs that need more GPUs than all hosts of the comparison have."""
    serving: Sequence[ServingGroup] = ()
    replay: Replay | None = None


def audit_dict(findings: Findings) -> dict[str, Any]:
    """An audit as plain JSON values, all finite; the keys are those of the call of ``as_json``."""
    audit, suggestions, comparison, left_out, serving, replay = findings
    data = as_json(
        reading=audit.trace.reading,
        time_zone=audit.time_zone,
        allocation=audit.allocation,
        activity=audit.activity,
        arrivals=audit.arrivals,
        notes=audit.notes,
        suggestions=suggestions,
        comparison=comparison and _comparison_dict(comparison, left_out),
        serving=serving,
        replayed=replay and _replay_dict(*replay),
    )
    for name in ("wanted", "held") if audit.allocation else ():
        if curve := getattr(audit.allocation, name):
            data["allocation"][name]["peakedness"] = curve.peakedness
    return data


def _comparison_dict(found: Comparison, left_out: int) -> dict[str, Any]:
    data = fields_of(found)
    replayed = data.pop("waiting")
    return data | {
        "left_out_jobs": left_out,
        "waiting": {
            "waited_share": replayed.longer_share(0.0),
            "waited_longer_share": replayed.longer_share(found.wait_limit_h),
            "mean_wait_h": replayed.mean_wait_h(),
            "wait_p90_h": replayed.quantile_wait_h(0.9),
            "wait_p95_h": replayed.quantile_wait_h(0.95),
            "utilisation": replayed.utilisation,
            "peak_gpus": replayed.peak_gpus,
        },
    }


def audit_text(findings: Findings) -> str:
    """Return an audit as text for a terminal."""
    data, audit = audit_dict(findings), findings.found
    return page(
        "",
        chapter(
            said("audit.input file"),
            said("audit.reading", **fields_of(audit.trace.reading)),
            *reading(data["reading"]),
        ),
        *(
            (chapter(said(head), *sentences(use, audit.time_zone)), _largest(build(use)))
            for part, (head, sentences, build) in PARTS.items()
            if (use := data[part])
        ),
        (f"{note}." for note in audit.notes if note not in audit.trace.reading.notes),
        chapter(
            suggestions(data["suggestions"]),
            *(f"{group.name}: {group.note}." for group in findings.suggestions if group.rounded_up),
        ),
        serving(data["serving"]),
        _again(findings.replay, data),
        _comparison(data["comparison"]) if data["comparison"] else (),
    )


def reading(found: Mapping[str, Any]) -> Iterator[str]:
    """Describe in sentences how a file was read: columns and their units, rows left out, and what was decided."""
    if columns := found["columns"]:
        named = (_column(what, name, found["units"].get(what, {})) for what, name in columns.items())
        yield said("audit.columns read", names=", ".join(named))
    for skipped in found["skipped"]:
        keys = ["audit.left out example" if skipped["example"] else "audit.left out"]
        keys += [f"audit.left out {name}" for name in ("gpu_h", "unknown") if skipped[name]]
        yield " ".join(said(key, **skipped) for key in keys)
    yield from (f"{note}." for note in found["notes"])


def _column(what: str, name: str, column: Mapping[str, Any]) -> str:
    unit = column.get("unit")
    plain = not unit or (unit["factor"] == 1 and column["by"] == "name")
    key = "audit.column" if plain else f"audit.column {column['by']}"
    return said(key, what=what, name=repr(name), unit=unit["shown"] if unit else "")


def _day(seconds: float, zone: str) -> str:
    return datetime.fromtimestamp(seconds, ZoneInfo(zone)).strftime("%Y-%m-%d %H:%M")


def _period(use: Mapping[str, Any], zone: str) -> dict[str, str]:
    return {"first": _day(use["first_s"], zone), "last": _day(use["last_s"], zone), "zone": zone}


def hour_of_week(at: int) -> str:
    """Return day and hour of an hour of the week, from 0."""
    return f"{DAY_NAMES[at // 24]} {at % 24:02}:00"


def requested(use: Mapping[str, Any], time_zone: str) -> list[str]:
    """Describe in sentences the GPUs of jobs: requests, concurrency, burstiness, and the waits as they were."""
    held, dated = use["held"] or use["wanted"], use["first_s"] >= REAL_TIME_S
    hour = hour_of_week(int(np.argmax(np.array(use["week_gpus"]).sum(axis=1))))
    told = [
        said("audit.jobs dated" if dated else "audit.jobs", **use, **_period(use, time_zone)),
        said(AT_ONCE[bool(use["held"]), dated], **held, hour=hour),
        said("audit.bursts", **use, peakedness=use["wanted"]["peakedness"]),
    ]
    if use["utilisation"] is not None:
        told.append(said("audit.utilisation", **use))
    if use["waits"]:
        told.append(said("audit.waits", **use["waits"]))
    return told


AT_ONCE = {
    (True, True): "audit.allocated dated",
    (True, False): "audit.allocated",
    (False, True): "audit.needed dated",
    (False, False): "audit.needed",
}
"""Starts known, and days known -> the sentence on GPUs at once."""


def _largest(table: Table) -> Block:
    more = more_groups(table, MOST_GROUPS)
    return Block(text(table.top(MOST_GROUPS)) + (more and f"\n{more}"))


def more_groups(table: Table, shown: int) -> str:
    """Say how many rows of a table are not shown; empty if all are."""
    left = len(table.rows) - shown
    return said("audit.more groups", n=left) if left > 0 else ""


def busy(use: Mapping[str, Any], time_zone: str) -> list[str]:
    """Describe the activity of chips in sentences."""
    mean = points(use["mean_activity_pct"])
    return [said("audit.samples", **use, mean=mean, **_period(use, time_zone))]


def came(use: Mapping[str, Any], time_zone: str) -> list[str]:
    """Describe in sentences how requests came and how long they are."""
    key = "audit.requests dated" if use["first_s"] >= REAL_TIME_S else "audit.requests"
    return [
        said(key, **use, when=_day(use["busiest_s"], time_zone), **_period(use, time_zone)),
        said("audit.bursts of requests", **use),
        said("audit.prompts", **use["tokens_in"]),
        said("audit.answers", **use["tokens_out"]),
    ]


PARTS: Mapping[str, tuple[str, Callable[[Any, str], list[str]], Callable[[Any], Table]]] = {
    "allocation": ("audit.allocation", requested, holders),
    "activity": ("audit.activity", busy, activity),
    "arrivals": ("audit.arrivals", came, requests),
}
"""Part of an audit -> the head of its chapter, what it says, and its table."""


def _replay_dict(of: GroupTraffic, found: Simulated) -> dict[str, Any]:
    """Return the experience of users of the planned replicas, beside the formula for the same traffic as planned."""
    hours = found.by_part_p95_s
    return {
        "group": of.name,
        "replicas": of.replicas,
        "first_token_s": of.first_token_s,
        "planned_per_second": of.per_second,
        "formula_p95_s": None if of.planned.load_share >= 1 else of.planned.p95_s,
        "worst_hour": max(range(len(hours)), key=hours.__getitem__),
        **fields_of(found),
    }


def _again(replay: Replay | None, data: Mapping[str, Any]) -> str:
    if replay is None:
        return ""
    title = said("audit.same requests", replicas=counted(replay[0].replicas, "replica"))
    return chapter(title, *again(data["replayed"]))


def again(found: Mapping[str, Any]) -> list[str]:
    """Describe in sentences the experience of users in the replay."""
    value = {name: found[name]["value"] for name in ("p50_s", "p95_s", "kept_share", "token_s", "busy_share")}
    speed, hour = 1 / value["token_s"] if value["token_s"] else 0.0, found["worst_hour"]
    key = "audit.worst hour overloaded" if found["formula_p95_s"] is None else "audit.worst hour"
    return [
        said("audit.replicas", **{**found, **value}, speed=speed),
        said(key, **found, hour=f"{hour:02}:00", p95=found["by_part_p95_s"][hour]),
    ]


def _comparison(found: Mapping[str, Any]) -> Iterator[Content]:
    title = said("audit.same jobs", hosts=len(found["hosts"]), gpus=sum(found["hosts"]))
    yield chapter(title, *replayed(found))
    parts = (few_denied(found), few_wait(found))
    yield from (Block(f"{table.title}:\n{text(table)}") for table in parts)
    yield silos(found)


def replayed(found: Mapping[str, Any]) -> list[str]:
    """Describe in sentences the experience of the jobs on proposed hosts."""
    jobs = said("audit.replayed", **found | found["waiting"], limit=round(60 * found["wait_limit_h"], 3))
    return [jobs, *[said("audit.too large jobs", **found)] * bool(found["left_out_jobs"])]


def silos(found: Mapping[str, Any]) -> str:
    """Compare the GPUs of silos with those of the pool, for the same wait."""
    shares = {f"{of}_share": min(1.0, found[f"{of}_utilisation"]) for of in ("silo", "pool")}
    return said("audit.silos", **found, **shares, groups=len(found["silos"]))
