"""An audit of the existing use as plain data and as text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

import numpy as np

from gpuplan.analysis.llm_traffic import GroupTraffic
from gpuplan.audit import REAL_TIME_S, Audit, Comparison, Reading, ServingGroup, Suggestion, tables
from gpuplan.locales import written
from gpuplan.report.plan_data import as_json, fields_of
from gpuplan.report.table import Table, one_place, text
from gpuplan.report.tables.models import few_digits, seconds
from gpuplan.report.text import Block, Content, chapter, page
from gpuplan.simulation.batching import Simulated
from gpuplan.wording import (
    DAY_NAMES,
    amount,
    counted,
    number,
    percent,
    points,
    rough,
    share_words,
    wait_words,
)

Replay = tuple[GroupTraffic, Simulated]
"""Requests of a trace on the replicas of a plan."""
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
    """An audit as plain JSON values, all finite.

    Keys ``reading``, ``time_zone``, ``allocation``, ``activity``, ``arrivals``, ``notes``, ``suggestions``, ``comparison``; of requests ``serving`` and ``replayed``.
    """
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
    if audit.allocation is not None:
        for name in ("wanted", "held"):
            curve = getattr(audit.allocation, name)
            if curve is not None:
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
        chapter("Input file", *_reading(audit.trace.reading)),
        _allocation(audit, data),
        _activity(audit, data),
        _arrivals(audit, data),
        (f"{note}." for note in audit.notes if note not in audit.trace.reading.notes),
        chapter(
            tables.suggestions(data["suggestions"]),
            *(f"{group.name}: {group.note}." for group in findings.suggestions if group.rounded_up),
        ),
        tables.serving(data["serving"]),
        _again(findings.replay, data),
        _comparison(data["comparison"]) if data["comparison"] else (),
    )


def _reading(reading: Reading) -> Iterator[str]:
    yield (
        f"{reading.format}: {number(reading.used)} of {number(reading.rows)} rows used; times without an offset are read as "
        f"{reading.time_zone}."
    )
    if columns := ", ".join(f"{what} from {column!r}" for what, column in reading.columns.items()):
        yield f"Columns: {columns}."
    for skipped in reading.skipped:
        example = f" ({skipped.example})" if skipped.example else ""
        first = f"first in line {skipped.first_line}{example}"
        yield f"Left out: {number(skipped.rows)} rows, {skipped.reason}; {first}."
    yield from (f"{note}." for note in reading.notes)


def _day(seconds: float, zone: str) -> str:
    return datetime.fromtimestamp(seconds, ZoneInfo(zone)).strftime("%Y-%m-%d %H:%M")


def _from_to(first_s: float, last_s: float, zone: str) -> str:
    return f"{_day(first_s, zone)} to {_day(last_s, zone)} ({zone})"


def hour_of_week(at: int) -> str:
    """Return day and hour of an hour of the week, from 0."""
    return f"{DAY_NAMES[at // 24]} {at % 24:02}:00"


def _allocation(found: Audit, data: dict[str, Any]) -> Iterator[Content]:
    if use := data["allocation"]:
        yield chapter("Allocation: GPUs requested and allocated", *requested(use, found.time_zone))
        yield _largest(tables.holders(use))


def requested(use: Mapping[str, Any], time_zone: str) -> list[str]:
    """Describe in sentences the GPUs of jobs: requests, concurrency, burstiness, and the waits as they were."""
    held, week = use["held"] or use["wanted"], np.array(use["week_gpus"])
    known = use["first_s"] >= REAL_TIME_S
    when = f"{_from_to(use['first_s'], use['last_s'], time_zone)}, " * known
    busiest = f"; busiest hour of the week {hour_of_week(int(np.argmax(week.sum(axis=1))))}" * known
    said = [
        f"{when}{one_place(use['days'])} days: {number(use['jobs'])} jobs ask for {number(round(use['gpu_h']))} GPU-hours, "
        f"which are {one_place(use['offered_gpus'])} GPUs on average over these days, "
        "counting also what is done after the last request.",
        f"{'Held' if use['held'] else 'Wanted'} at once within these days, without work done after them: mean "
        f"{one_place(held['mean_gpus'])}, {share_words(0.95)} of the time at most {one_place(held['p95_gpus'])}, "
        f"peak {one_place(held['peak_gpus'])}{busiest}.",
        f"Bursts: peakedness {written(use['wanted']['peakedness'], '.1f')}; independent arrivals of the same sizes would give "
        f"{written(use['poisson_peakedness'], '.1f')}, so demand is {written(use['burst_factor'], '.1f')} times as peaked.",
    ]
    if use["utilisation"] is not None:
        installed = amount(use["installed_gpus"], "GPU")
        said.append(f"Utilisation of the allocation: {percent(use['utilisation'])} of {installed} installed.")
    if waits := use["waits"]:
        said.append(
            f"Waits as they were: mean {wait_words(waits['mean_h'])}, {share_words(0.9)} at most {wait_words(waits['p90_h'])}, "
            f"{percent(waits['long_share'])} longer than 10 min."
        )
    return said


def _largest(table: Table) -> Block:
    """Return the largest groups, and the number of the others."""
    left = len(table.rows) - MOST_GROUPS
    return Block(text(table.top(MOST_GROUPS)) + (f"\nand {left} groups more" if left > 0 else ""))


def _activity(found: Audit, data: dict[str, Any]) -> Iterator[Content]:
    if use := data["activity"]:
        yield chapter("Activity: how busy the chips were", busy(use, found.time_zone))
        yield _largest(tables.activity(use))


def busy(use: Mapping[str, Any], time_zone: str) -> str:
    """Describe the activity of chips in sentences."""
    return (
        f"{_from_to(use['first_s'], use['last_s'], time_zone)}: "
        f"{number(use['samples'])} samples of {one_place(use['gpus_seen'])} GPUs ({use['metric']}), one in {use['interval_s']:.0f} s; mean "
        f"{points(use['mean_activity_pct'])}. This is not how many GPUs were allocated."
    )


def _arrivals(found: Audit, data: dict[str, Any]) -> Iterator[Content]:
    use = data["arrivals"]
    if use:
        yield chapter("Requests to language models", *came(use, found.time_zone))
        yield _largest(tables.requests(use))


def came(use: Mapping[str, Any], time_zone: str) -> list[str]:
    """Describe in sentences how requests came and how long they are."""
    dated = use["first_s"] >= REAL_TIME_S
    when = f"{_from_to(use['first_s'], use['last_s'], time_zone)}: " * dated
    busiest = f", from {_day(use['busiest_s'], time_zone)}" if dated else ""
    bursts = use["peakedness"]
    return [
        f"{when}{number(use['requests'])} requests, {few_digits(use['per_second'])} a second on average and "
        f"{few_digits(use['busiest_per_second'])} in the busiest hour{busiest}.",
        f"Bursts: peakedness {one_place(bursts)} within an hour (in windows of {number(round(use['window_s']))} s), where independent "
        "requests give 1.",
        *(
            f"{what}: {number(round(lengths['mean']))} tokens on average, half at most {number(lengths['p50'])}, {share_words(0.95)} at most "
            f"{number(lengths['p95'])}, {share_words(0.99)} at most {number(lengths['p99'])}; spread {written(lengths['spread'], '.2f')}."
            for what, lengths in (("Prompts", use["tokens_in"]), ("Answers", use["tokens_out"]))
        ),
    ]


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
    title = f"The same requests on {counted(replay[0].replicas, 'replica')}"
    return chapter(title, *again(data["replayed"]))


def again(found: Mapping[str, Any]) -> list[str]:
    """Describe in sentences the experience of users in the replay."""
    value = {name: found[name]["value"] for name in ("p50_s", "p95_s", "kept_share", "token_s", "busy_share")}
    hour = found["worst_hour"]
    formula = found["formula_p95_s"]
    planned = (
        "is more than they carry"
        if formula is None
        else f"has {share_words(0.95)} start within {seconds(formula)} s by formula"
    )
    speed = 1 / value["token_s"] if value["token_s"] else 0.0
    return [
        f"{found['group']}: half of the requests start within {seconds(value['p50_s'])} s, {share_words(0.95)} within {seconds(value['p95_s'])} s, and "
        f"{percent(value['kept_share'])} within the {written(found['first_token_s'], 'g')} s promised; then {rough(speed)} tokens/s. The replicas work "
        f"{percent(value['busy_share'])} of the time.",
        f"In the worst hour of the day, {hour:02}:00 UTC, {share_words(0.95)} start within {seconds(found['by_part_p95_s'][hour])} s; the design is planned "
        f"for {few_digits(found['planned_per_second'])} requests a second, which {planned}.",
    ]


def _comparison(found: Mapping[str, Any]) -> Iterator[Content]:
    hosts = f"{amount(len(found['hosts']), 'host')} with {amount(sum(found['hosts']), 'GPU')}"
    yield chapter(f"The same jobs on {hosts}", *replayed(found))
    yield from (
        Block(f"{table.title}:\n{text(table)}")
        for table in (tables.few_denied(found), tables.few_wait(found))
    )
    yield silos(found)


def replayed(found: Mapping[str, Any]) -> list[str]:
    """Describe in sentences the experience of the jobs on proposed hosts."""
    waiting, left_out = found["waiting"], found["left_out_jobs"]
    limit = f"{number(round(60 * found['wait_limit_h'], 3))} min"
    said = [
        f"{number(found['jobs'])} jobs; all their work over the days of their requests is {one_place(found['offered_gpus'])} GPUs on "
        f"average. Replayed, {percent(waiting['waited_longer_share'])} wait longer than {limit}, {share_words(0.9)} at most "
        f"{wait_words(waiting['wait_p90_h'])}, and {percent(waiting['utilisation'])} of the GPU-hours are allocated; if no "
        f"job waited, {percent(found['denied_share'])} would be denied."
    ]
    if left_out:
        said.append(f"{amount(left_out, 'job')} left out: they ask for more GPUs than all hosts have.")
    return said


def silos(found: Mapping[str, Any]) -> str:
    """Compare the GPUs of silos with those of the pool, for the same wait."""
    return (
        f"Silos: {amount(found['silo_gpus'], 'GPU')}, {percent(min(1.0, found['silo_utilisation']))} used, if each of the "
        f"{len(found['silos'])} groups keeps the wait on its own; the pool: {amount(found['pool_gpus'], 'GPU')}, "
        f"{percent(min(1.0, found['pool_utilisation']))} used."
    )
