"""Answers and tables of Prometheus: samples of the counters of DCGM, each in a time series with labels.

The answer follows [prometheus-http-api]_, MIG instances of a GPU [nvidia-mig-user-guide-610]_.
"""

import io
import json
import re
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from gpuplan.audit.samples import SAMPLE_COLUMNS, UNDER_MIG, SampleRows
from gpuplan.audit.table import Log, Rows, Table, unknown_keys
from gpuplan.audit.trace import Samples, TraceError, refusal
from gpuplan.audit.values import Clock, is_missing, percent_of
from gpuplan.scenario import show

MAX_JSON_BYTES = 100_000_000
MAX_JSON_VALUES = 12_000_000
"""Commas and brackets: three for each sample."""

PROMETHEUS_KEYS = ("metric", "group", "time", "value")

COUNTERS: Mapping[str, float] = {
    "DCGM_FI_PROF_GR_ENGINE_ACTIVE": 100.0,
    "DCGM_FI_PROF_GR_ENGINE_UTIL_RATIO": 100.0,
    "DCGM_FI_PROF_SM_ACTIVE": 100.0,
    "DCGM_FI_PROF_SM_UTIL_RATIO": 100.0,
    "DCGM_FI_DEV_GPU_UTIL": 1.0,
}
"""Counters of activity, the preferred one first, and the factors that convert them to per cent: all but the last are
ratios from 0 to 1. DCGM 4 calls the first and the third by the names after them."""
BLIND_UNDER_MIG = "DCGM_FI_DEV_GPU_UTIL"

LABEL = re.compile(r'(?<!\w)([A-Za-z_]\w*)\s*=\s*"((?:[^"\\]|\\.)*)"')
PROFILE = re.compile(r"(\d{1,3})g\.")
GPU_LABELS = ("UUID", "gpu_uuid", "uuid")
HOST_LABELS = ("Hostname", "hostname", "instance", "node")
GROUP_LABELS = ("exported_namespace", "namespace", "exported_pod", "pod", "exported_container", "container")
SLICES = {r"\bA30\b": 4, r"RTX PRO 6000": 4, r"RTX PRO 5000": 2}
"""Compute slices of GPUs that have not 7, by a part of their name."""

Labels = Mapping[str, str]


def _counter(labels: Labels, given: Mapping[str, str]) -> str:
    return given.get("metric") or labels.get("__name__") or labels.get("metric") or ""


def _check_keys(given: Mapping[str, str]) -> None:
    if problems := unknown_keys(given, PROMETHEUS_KEYS):
        raise TraceError(*problems)


def _check_counter(metric: str, where: str) -> None:
    if metric not in COUNTERS:
        key = "audit.no counter" if metric else "audit.series without name"
        raise refusal(key, where=where, value=show(metric), names=", ".join(COUNTERS))


def _chosen(metrics: Sequence[str], labels: Sequence[Labels]) -> str:
    """Return the counter to read of those in the file; refuse a counter that is blind under MIG there."""
    chosen = next(name for name in COUNTERS if name in metrics)
    of_mig = {metric for metric, of in zip(metrics, labels, strict=True) if _has_mig(of)}
    if chosen == BLIND_UNDER_MIG and chosen in of_mig:
        raise refusal("audit.blind under mig", counter=chosen, under_mig=UNDER_MIG)
    return chosen


def _has_mig(labels: Labels) -> bool:
    return bool(labels.get("GPU_I_ID") or labels.get("GPU_I_PROFILE"))


def mig_weight(profile: str, *, model: str) -> float:
    """Share of a GPU that a MIG instance such as ``2g.10gb`` is, by its compute slices; 1 without a profile.

    >>> round(mig_weight("2g.10gb", model="NVIDIA A100-SXM4-40GB"), 4), mig_weight("2g.12gb", model="NVIDIA A30")
    (0.2857, 0.5)
    """
    match = PROFILE.match(profile)
    if match is None:
        return 1.0
    slices = next((count for name, count in SLICES.items() if re.search(name, model)), 7)
    return min(1.0, int(match[1]) / slices)


class _Series(NamedTuple):
    """GPU, group and weight of the samples of one time series."""

    gpu: int
    group: int
    weight: float


def _first(labels: Labels, names: Sequence[str]) -> str:
    return next((labels[name] for name in names if labels.get(name)), "")


def _series(labels: Labels, group_label: str | None, found: SampleRows) -> _Series:
    gpu = _first(labels, GPU_LABELS)
    if not gpu:
        gpu = f"{_first(labels, HOST_LABELS)} {labels.get('gpu', labels.get('device', 'GPU'))}".strip()
    if _has_mig(labels):
        gpu = f"{gpu} MIG {labels.get('GPU_I_ID', labels.get('GPU_I_PROFILE', ''))}"
    names: Sequence[str] = (group_label,) if group_label else GROUP_LABELS
    if group_label is None and any(name.startswith("exported_") for name in labels):
        names = [name for name in GROUP_LABELS if name.startswith("exported_")]
    weight = mig_weight(labels.get("GPU_I_PROFILE", ""), model=labels.get("modelName", ""))
    return _Series(found.names["gpu"][gpu], found.names["group"][_first(labels, names)], weight)


def _take(rows: Rows, series: Sequence[_Series], metric: str, found: SampleRows) -> None:
    texts = rows.columns["value"]
    rows.leave_out([is_missing(text) for text in texts], "audit.row.no value", texts)
    time = rows.time("time", "a time or value")
    percent = rows.read("value", partial(percent_of, scale=COUNTERS[metric]), "a time or value")
    gpu, group, weight = zip(*series, strict=True) if series else ((), (), ())
    found.add(rows.kept, time_s=time, percent=percent, gpu=gpu, group=group, weight=weight)


def _done(
    found: SampleRows, log: Log, metric: str, columns: Mapping[str, str], metrics: Sequence[str] = ()
) -> Samples:
    log.check(len(found), "audit.none.samples")
    log.clock.relative = False
    unused = ", ".join(sorted({*metrics} - {metric}))
    notes = {"audit.note.not used": unused, "audit.note.slices": found["weight"].min() < 1}
    reading = log.reading("prometheus", len(found), columns, notes, counter=metric)
    return found.done(metric, reading)


def read_json(text: io.TextIOWrapper, given: Mapping[str, str], clock: Clock) -> Samples:
    """Read the samples of an answer to a range query."""
    _check_keys(given)
    result = _result_of(_parsed(text))
    labels = [{str(k): str(v) for k, v in series["metric"].items()} for series in result]
    metrics = [_counter(of, given) for of in labels]
    for n, metric in enumerate(metrics, 1):
        _check_counter(metric, f"series {n}")
    chosen = _chosen(metrics, labels)
    log, samples = Log(clock), SampleRows()
    for n, (of, metric, series) in enumerate(zip(labels, metrics, result, strict=True), 1):
        if metric == chosen:
            belongs = _series(of, given.get("group"), samples)
            pairs = series["values"]
            rows = _pairs(pairs, n, log)
            _take(rows, [belongs] * len(pairs), chosen, samples)
    return _done(samples, log, chosen, dict(given), metrics)


def _parsed(text: io.TextIOWrapper) -> Any:
    body = text.read(MAX_JSON_BYTES + 1)
    if len(body) > MAX_JSON_BYTES:
        raise refusal("audit.json too long", most=MAX_JSON_BYTES)
    if sum(body.count(mark) for mark in ",[{") > MAX_JSON_VALUES:
        raise refusal("audit.json too many samples", most=MAX_JSON_VALUES // 3)
    try:
        return json.loads(body)
    except (ValueError, RecursionError) as error:
        line = getattr(error, "lineno", 1)
        raise refusal("audit.no json", where=f"line {line}", value=show(str(error))) from error


def _result_of(answer: Any) -> list[dict[str, Any]]:
    if not isinstance(answer, dict):
        raise refusal("audit.answer", where="line 1", value=type(answer).__name__)
    if answer.get("status") == "error":
        raise refusal("audit.answer with an error", where="status", value=show(answer.get("error", "")))
    data = answer.get("data")
    data = data if isinstance(data, dict) else {}
    kind, result = data.get("resultType"), data.get("result")
    if kind != "matrix":
        raise refusal("audit.answer no matrix", where="data.resultType", value=show(str(kind)))
    if not isinstance(result, list) or not all(map(_is_series, result)):
        raise refusal("audit.answer no series", where="data.result", value=show(type(result).__name__))
    if not result:
        raise refusal("audit.answer empty", where="data.result", value="[]")
    return result


def _is_series(series: Any) -> bool:
    fits = {"metric": dict, "values": list}
    return isinstance(series, dict) and all(isinstance(series.get(key), kind) for key, kind in fits.items())


def _pairs(pairs: list[Any], line: int, log: Log) -> Rows:
    """Return the samples of one series of an answer, without those that are no pairs."""
    columns: dict[str, list[str]] = {"time": [], "value": []}
    broken: list[int] = []
    for n, pair in enumerate(pairs):
        try:
            when, value = pair
        except (TypeError, ValueError):
            broken.append(n)
            when = value = ""
        columns["time"].append(str(when))
        columns["value"].append(str(value))
    rows = Rows(log, [line] * len(pairs), columns)
    if broken:
        which = np.isin(np.arange(len(pairs)), broken)
        rows.leave_out(which, "audit.row.no pair", [str(pair) for pair in pairs], fault=True)
    return rows


def read_table(table: Table, given: Mapping[str, str], clock: Clock) -> Samples:
    """Read the samples of a table: one per row, labels in columns, or a series per column, labels in its header."""
    _check_keys(given)
    time_at = _place(table, "time", SAMPLE_COLUMNS["time"], given)
    if time_at is None:
        raise table.missing("audit.needs.prometheus")
    wide = {at: dict(LABEL.findall(name)) for at, name in enumerate(table.header) if "{" in name}
    if wide:
        return _read_wide(table, given, clock, time_at, wide)
    return _read_long(table, given, clock, time_at)


def _place(table: Table, key: str, names: tuple[str, ...], given: Mapping[str, str]) -> int | None:
    return table.find({key: names}, {k: v for k, v in given.items() if k == key}).get(key)


def _value_place(table: Table, given: Mapping[str, str], named: Sequence[int]) -> int:
    """Return the column of the values: as given, by its usual name, or by that of the preferred counter."""
    place = _place(table, "value", ("value",), given)
    if place is None and not named:
        raise table.missing("audit.needs.prometheus value", names=", ".join(COUNTERS))
    return min(named, key=lambda at: list(COUNTERS).index(table.header[at])) if place is None else place


def _read_long(table: Table, given: Mapping[str, str], clock: Clock, time_at: int) -> Samples:
    named = [at for at, name in enumerate(table.header) if name in COUNTERS]
    value_at = _value_place(table, given, named)
    if value_at in named and given.get("value") is None:
        given = {**given, "metric": table.header[value_at]}
    label_at = [at for at in range(len(table.header)) if at not in (time_at, value_at, *named)]
    log, samples = Log(clock), SampleRows()
    series: dict[tuple[str, ...], _Series] = {}
    chosen = ""
    for lines, cells in table.blocks(log):
        keys = [tuple([row[at] for at in label_at]) for row in cells]
        for line, key in zip(lines, keys, strict=True):
            if key not in series:
                labels = {table.header[at]: text for at, text in zip(label_at, key, strict=True)}
                chosen = _same_counter(labels, given, line, chosen)
                series[key] = _series(labels, given.get("group"), samples)
        column = list(zip(*cells, strict=True))
        columns = {"time": column[time_at], "value": column[value_at]}
        _take(Rows(log, lines, columns), [series[key] for key in keys], chosen, samples)
    used = {"time": table.header[time_at], "value": table.header[value_at], **given}
    return _done(samples, log, chosen, used)


def _same_counter(labels: Labels, given: Mapping[str, str], line: int, before: str) -> str:
    """Return the counter of a series, which must be the same as before."""
    metric = _counter(labels, given)
    _check_counter(metric, f"line {line}")
    if before not in ("", metric):
        raise refusal("audit.several counters", where=f"line {line}", value=show(metric))
    return _chosen([metric], [labels])


def _read_wide(
    table: Table, given: Mapping[str, str], clock: Clock, time_at: int, wide: Mapping[int, Labels]
) -> Samples:
    names = {at: table.header[at].split("{")[0].strip() for at in wide}
    metric_of = {at: _counter(labels, given) or names[at] for at, labels in wide.items()}
    for at, metric in metric_of.items():
        _check_counter(metric, f"column {at + 1}")
    metrics = list(metric_of.values())
    chosen = _chosen(metrics, list(wide.values()))
    log, samples = Log(clock), SampleRows()
    read = [at for at, metric in metric_of.items() if metric == chosen]
    series = [_series(wide[at], given.get("group"), samples) for at in read]
    for lines, cells in table.blocks(log):
        times = [row[time_at] for row in cells for _ in read]
        columns = {"time": times, "value": [row[at] for row in cells for at in read]}
        rows = Rows(log, [line for line in lines for _ in read], columns)
        _take(rows, series * len(cells), chosen, samples)
    return _done(samples, log, chosen, {"time": table.header[time_at]}, metrics)
