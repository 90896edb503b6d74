"""Answers and tables of Prometheus: samples of the counters of DCGM, each in a time series with labels.

The answer follows [prometheus-http-api]_, MIG instances of a GPU [nvidia-mig-user-guide-610]_.
"""

import io
import json
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache, partial
from typing import Any

import numpy as np

from gpuplan.audit.columns import Known
from gpuplan.audit.moments import count_once
from gpuplan.audit.samples import SAMPLE_COLUMNS, UNDER_MIG
from gpuplan.audit.table import Log, Rows, Table, unknown_keys
from gpuplan.audit.trace import Collected, Names, Samples, TraceError, refusal
from gpuplan.audit.values import Clock, is_missing, percent_of
from gpuplan.catalog import load_catalog
from gpuplan.catalog.boards import boards_named
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
WORK_LABELS = (
    ("exported_namespace", "exported_pod", "exported_container"),
    ("pod_namespace", "pod_name", "container_name"),
    ("namespace", "pod", "container"),
)
"""Labels of the work on a GPU. Beside one of the first, ``namespace`` and the others are of the exporter itself."""
EXPORTER = "dcgm-exporter"
MIG = " MIG "
LOOKBACK_S = 300
"""For how long Prometheus answers with the last sample of a series."""
SLICES = {"RTX PRO 6000": 4, "RTX PRO 5000": 2}
"""Compute slices of GPUs that are not in the catalog and have not 7, by a part of their name."""

Labels = Mapping[str, str]


def _counter(labels: Labels, given: Mapping[str, str]) -> str:
    return given.get("metric") or labels.get("__name__") or labels.get("metric") or ""


def _check_keys(given: Mapping[str, str]) -> None:
    if problems := unknown_keys(given, PROMETHEUS_KEYS):
        raise TraceError(*problems)


def _chosen(metrics: Sequence[str], labels: Sequence[Labels], places: Iterable[str]) -> str:
    """Return the counter to read of those of some series; refuse unknown ones, and one that is blind under MIG there."""
    for metric, place in zip(metrics, places, strict=True):
        if metric not in COUNTERS:
            key = "audit.no counter" if metric else "audit.series without name"
            raise refusal(key, where=place, value=show(metric), names=", ".join(COUNTERS))
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
    return min(1.0, int(match[1]) / _slices(model)) if match else 1.0


@lru_cache(maxsize=256)  # a file names few models, and has a series for each instance
def _slices(model: str) -> int:
    """Return the compute slices of a board as DCGM names it, those of the catalog if it is there."""
    catalog = load_catalog()
    slices = {int(catalog.gpus[id].value("mig_instances") or 0) for id in boards_named(catalog, model)}
    known = slices.pop() if len(slices) == 1 else 0
    return known or next((count for name, count in SLICES.items() if name in model), 7)


class _Series:
    """Samples of all series, each with the labels of its own; what labels mean is known when all are."""

    def __init__(self) -> None:
        self.rows = Collected("time_s", "percent", codes=("series",))
        self.labels: list[Labels] = []

    def add(self, labels: Labels) -> int:
        """Return the code of one more series."""
        self.labels.append(labels)
        return len(self.labels) - 1

    def take(self, rows: Rows, series: Sequence[int], metric: str) -> None:
        """Append the samples of rows, each of a series."""
        texts = rows.columns["value"]
        rows.leave_out([is_missing(text) for text in texts], "audit.row.no value", texts)
        time = rows.time("time", "a time or value")
        percent = rows.read("value", partial(percent_of, scale=COUNTERS[metric]), "a time or value")
        self.rows.add(rows.kept, time_s=time, percent=percent, series=series)

    def done(
        self,
        log: Log,
        metric: str,
        given: Mapping[str, str],
        columns: Mapping[str, str],
        more: Sequence[str] = (),
    ) -> Samples:
        """Return the samples, in which each GPU counts once at a time."""
        log.check(len(self.rows), "audit.none.samples")
        log.clock.relative = False
        names = defaultdict[str, Names](Names)
        work = _work_labels(self.labels)
        groups: Sequence[str] = (given["group"],) if given.get("group") else work
        series = self.rows["series"]
        gpu = _codes(names["gpu"], map(_gpu, self.labels))[series]
        group = _codes(names["group"], (_of_work(labels, groups) for labels in self.labels))[series]
        sharer = _codes(names["sharer"], (" ".join(_sharer(labels, work)) for labels in self.labels))[series]
        parts = (mig_weight(of.get("GPU_I_PROFILE", ""), model=of.get("modelName", "")) for of in self.labels)
        weight = np.fromiter(parts, float)[series]
        rows = {"time_s": self.rows["time_s"], "percent": self.rows["percent"], "gpu": gpu, "weight": weight}
        shared, of_each = count_once(rows, sharer, of_each=None if metric == BLIND_UNDER_MIG else False)
        boards = _count_rest_of_boards(rows, names["gpu"])
        unused = ", ".join(sorted({*more} - {metric}))
        notes = {
            "audit.note.not used": unused,
            "audit.note.slices": any(map(_has_mig, self.labels)),
            "audit.note.same gpu": shared,
            "audit.note.shared sum": of_each,
            "audit.note.boards": boards,
            "audit.note.no gpu": not all(map(_stated_gpu, self.labels)),
        }
        reading = log.reading("prometheus", len(series), columns, notes, counter=metric)
        shown = {name: tuple(codes.shown) for name, codes in names.items()}
        return Samples(
            **rows, group=group, groups=shown["group"], gpus=shown["gpu"], metric=metric, reading=reading
        )


def _codes(names: Names, texts: Iterable[str]) -> np.ndarray:
    return np.array([names[text] for text in texts], dtype=np.int32)


def _first(labels: Labels, names: Sequence[str]) -> str:
    return next((labels[name] for name in names if labels.get(name)), "")


def _stated_gpu(labels: Labels) -> str:
    return _first(labels, (*GPU_LABELS, "gpu", "device"))


def _gpu(labels: Labels) -> str:
    """Return the name of a GPU or MIG instance; where no label is of a GPU, each series is one."""
    there = f"{_first(labels, HOST_LABELS)} {_stated_gpu(labels) or ' '.join(labels.values())}"
    gpu = _first(labels, GPU_LABELS) or there.strip()
    if _has_mig(labels):
        gpu = f"{gpu}{MIG}{labels.get('GPU_I_ID', labels.get('GPU_I_PROFILE', ''))}"
    return gpu or "GPU"


def _work_labels(series: Iterable[Labels]) -> Sequence[str]:
    """Return the labels of the work on a GPU: the first family that any series has, as the others are the exporter's."""
    there = {name for labels in series for name, value in labels.items() if value}
    return next((family for family in WORK_LABELS if there & {*family}), WORK_LABELS[-1])


def _of_work(labels: Labels, names: Sequence[str]) -> str:
    """Return the first of some labels, unless they are of the exporter, which an idle GPU has."""
    own = names == WORK_LABELS[-1] and any(EXPORTER in labels.get(name, "") for name in ("pod", "container"))
    return "" if own else _first(labels, names)


def _sharer(labels: Labels, names: Sequence[str]) -> list[str]:
    """Return what tells sharers of a GPU apart, and not the labels of two servers that sample the same."""
    return [_of_work(labels, names) and labels.get(name, "") for name in names] + [labels.get("vgpu", "")]


def _count_rest_of_boards(rows: Mapping[str, np.ndarray], names: Mapping[str, int]) -> int:
    """Let the sample of a board beside those of its MIG instances stand for the part without one, which is idle."""
    instances: dict[int, list[int]] = {}
    for name, code in names.items():
        board = names.get(name.partition(MIG)[0])
        if MIG in name and board is not None:
            instances.setdefault(board, []).append(code)
    changed = 0
    for board, codes in instances.items():
        at, of = np.flatnonzero(rows["gpu"] == board), np.isin(rows["gpu"], codes)
        times, moment = np.unique(rows["time_s"][of], return_inverse=True)
        part = np.bincount(moment, weights=rows["weight"][of])
        when = rows["time_s"][at]
        last = np.maximum(0, np.searchsorted(times, when, side="right") - 1)
        near = np.abs(when - times[last]) <= LOOKBACK_S
        rows["weight"][at[near]] *= np.maximum(0.0, 1 - part[last[near]])
        rows["percent"][at[near]] = 0.0
        changed += int(near.sum())
    return changed


def parsed(text: io.TextIOWrapper) -> Any:
    """Return a document of JSON, or the list of those in lines of JSON."""
    body = text.read(MAX_JSON_BYTES + 1)
    if len(body) > MAX_JSON_BYTES:
        raise refusal("audit.json too long", most=MAX_JSON_BYTES)
    if sum(body.count(mark) for mark in ",[{") > MAX_JSON_VALUES:
        raise refusal("audit.json too many samples", most=MAX_JSON_VALUES // 3)
    try:
        try:
            return json.loads(body)
        except json.JSONDecodeError as error:
            if error.msg != "Extra data":
                raise
            return [json.loads(line) for line in body.splitlines() if line.strip()]
    except (ValueError, RecursionError) as error:
        line = getattr(error, "lineno", 1)
        raise refusal("audit.no json", where=f"line {line}", value=show(str(error))) from error


def read_answer(answer: Any, given: Mapping[str, str], clock: Clock) -> Samples:
    """Read the samples of an answer to a range query."""
    _check_keys(given)
    result = result_of(answer)
    labels = [{str(k): str(v) for k, v in series["metric"].items()} for series in result]
    metrics = [_counter(of, given) for of in labels]
    chosen = _chosen(metrics, labels, (f"series {n}" for n in range(1, len(metrics) + 1)))
    log, samples = Log(clock), _Series()
    for n, (of, metric, series) in enumerate(zip(labels, metrics, result, strict=True), 1):
        if metric == chosen:
            code, pairs = samples.add(of), series["values"]
            samples.take(_pairs(pairs, n, log), [code] * len(pairs), chosen)
    return samples.done(log, chosen, given, dict(given), metrics)


def result_of(answer: Any) -> list[dict[str, Any]]:
    """Return the series of an answer to a range query."""
    if not isinstance(answer, dict):
        raise refusal("audit.answer", where="line 1", value=type(answer).__name__)
    if answer.get("status") == "error":
        raise refusal("audit.answer with an error", where="status", value=show(answer.get("error", "")))
    if not {"status", "data"} & answer.keys():
        raise refusal("audit.json keys", where="line 1", value=", ".join(map(show, [*answer][:10])) or "{}")
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
    good = [isinstance(pair, list) and len(pair) == 2 for pair in pairs]
    texts = [pair if so else ("", "") for pair, so in zip(pairs, good, strict=True)]
    columns = {name: [str(text[at]) for text in texts] for at, name in enumerate(("time", "value"))}
    rows = Rows(log, [line] * len(pairs), columns)
    if not all(good):
        rows.leave_out([not so for so in good], "audit.row.no pair", list(map(str, pairs)), fault=True)
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


def _place(table: Table, key: str, names: Known, given: Mapping[str, str]) -> int | None:
    return table.find({key: names}, {k: v for k, v in given.items() if k == key}).get(key)


def _value_place(table: Table, given: Mapping[str, str], named: Sequence[int]) -> int:
    """Return the column of the values: as given, by its usual name, or by that of the preferred counter."""
    place = _place(table, "value", (("value",), ""), given)
    if place is None and not named:
        raise table.missing("audit.needs.prometheus value", names=", ".join(COUNTERS))
    return min(named, key=lambda at: list(COUNTERS).index(table.header[at])) if place is None else place


def _read_long(table: Table, given: Mapping[str, str], clock: Clock, time_at: int) -> Samples:
    named = [at for at, name in enumerate(table.header) if name in COUNTERS]
    value_at = _value_place(table, given, named)
    if value_at in named and given.get("value") is None:
        given = {**given, "metric": table.header[value_at]}
    label_at = [at for at in range(len(table.header)) if at not in (time_at, value_at, *named)]
    log, samples = Log(clock), _Series()
    series: dict[tuple[str, ...], int] = {}
    chosen = ""
    for lines, cells in table.blocks(log):
        keys = [tuple([row[at] for at in label_at]) for row in cells]
        for line, key in zip(lines, keys, strict=True):
            if key not in series:
                labels = {table.header[at]: text for at, text in zip(label_at, key, strict=True)}
                chosen = _same_counter(labels, given, line, chosen)
                series[key] = samples.add(labels)
        column = list(zip(*cells, strict=True))
        columns = {"time": column[time_at], "value": column[value_at]}
        samples.take(Rows(log, lines, columns), [series[key] for key in keys], chosen)
    used = {"time": table.header[time_at], "value": table.header[value_at], **given}
    return samples.done(log, chosen, given, used)


def _same_counter(labels: Labels, given: Mapping[str, str], line: int, before: str) -> str:
    """Return the counter of a series, which must be the same as before."""
    metric, place = _counter(labels, given), f"line {line}"
    if metric in COUNTERS and before not in ("", metric):
        raise refusal("audit.several counters", where=place, value=show(metric))
    return _chosen([metric], [labels], [place])


def _read_wide(
    table: Table, given: Mapping[str, str], clock: Clock, time_at: int, wide: Mapping[int, Labels]
) -> Samples:
    names = {at: table.header[at].split("{")[0].strip() for at in wide}
    metric_of = {at: _counter(labels, given) or names[at] for at, labels in wide.items()}
    metrics = list(metric_of.values())
    chosen = _chosen(metrics, list(wide.values()), (f"column {at + 1}" for at in wide))
    log, samples = Log(clock), _Series()
    read = [at for at, metric in metric_of.items() if metric == chosen]
    series = [samples.add(wide[at]) for at in read]
    for lines, cells in table.blocks(log):
        times = [row[time_at] for row in cells for _ in read]
        columns = {"time": times, "value": [row[at] for row in cells for at in read]}
        rows = Rows(log, [line for line in lines for _ in read], columns)
        samples.take(rows, series * len(cells), chosen)
    return samples.done(log, chosen, given, {"time": table.header[time_at]}, metrics)
