"""Answers and tables of Prometheus: samples of the counters of DCGM, each in a time series with labels.

The answer follows [prometheus-http-api]_, MIG instances of a GPU [nvidia-mig-user-guide-610]_.
"""

import io
import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache, partial
from typing import Any

import numpy as np

from gpuplan.audit.samples import SAMPLE_COLUMNS, UNDER_MIG, count_once
from gpuplan.audit.table import Log, Table, unknown_keys
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
SERIES = ("time", "value", "series")
"""Columns of the table that each file is made: times, values, and numbers of the series."""


def _counter(labels: Labels, given: Mapping[str, str]) -> str:
    return given.get("metric") or labels.get("__name__") or labels.get("metric") or ""


def _check_keys(given: Mapping[str, str]) -> None:
    if problems := unknown_keys(given, PROMETHEUS_KEYS):
        raise TraceError(*problems)


def _chosen(
    metrics: Sequence[str], labels: Sequence[Labels], places: Sequence[str]
) -> tuple[str, Sequence[int]]:
    """Return the counter to read, and which series are of it; refuse unknown ones, and one that is blind under MIG."""
    for metric, place in zip(metrics, places, strict=True):
        if metric not in COUNTERS:
            key = "audit.no counter" if metric else "audit.series without name"
            raise refusal(key, where=place, value=show(metric), names=", ".join(COUNTERS))
    chosen = next(name for name in COUNTERS if name in metrics)
    of_mig = {metric for metric, of in zip(metrics, labels, strict=True) if _has_mig(of)}
    if chosen == BLIND_UNDER_MIG and chosen in of_mig:
        raise refusal("audit.blind under mig", counter=chosen, under_mig=UNDER_MIG)
    return chosen, [n for n, metric in enumerate(metrics) if metric == chosen]


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


def _read(
    table: Table,
    labels: Sequence[Labels],
    clock: Clock,
    metric: str,
    given: Mapping[str, str],
    used: Mapping[str, str],
    named: Sequence[str] = (),
) -> Samples:
    """Read a table of times, values and numbers of series, whose labels are complete when it has been read."""
    log, read = Log(clock), Collected("time_s", "percent", codes=("series",))
    for rows in table.rows({"time": 0, "value": 1, "series": 2}, log):
        texts, series = rows.columns["value"], np.fromiter(map(int, rows.columns["series"]), int)
        rows.leave_out([is_missing(text) for text in texts], "audit.row.no value", texts)
        time = rows.time("time", "a time or value")
        percent = rows.read("value", partial(percent_of, scale=COUNTERS[metric]), "a time or value")
        read.add(rows.kept, time_s=time, percent=percent, series=series)
    log.check(len(read), "audit.none.samples")
    log.clock.relative = False
    names = defaultdict[str, Names](Names)
    work = _work_labels(labels)
    groups: Sequence[str] = (given["group"],) if given.get("group") else work
    series = read["series"]
    gpu = _codes(names["gpu"], map(_gpu, labels))[series]
    group = _codes(names["group"], (_of_work(of, groups) for of in labels))[series]
    sharer = _codes(names["sharer"], (" ".join(_sharer(of, work)) for of in labels))[series]
    parts = (mig_weight(of.get("GPU_I_PROFILE", ""), model=of.get("modelName", "")) for of in labels)
    weight = np.fromiter(parts, float)[series]
    rows_of = {"time_s": read["time_s"], "percent": read["percent"], "gpu": gpu, "weight": weight}
    shared, of_each = count_once(rows_of, sharer, of_each=None if metric == BLIND_UNDER_MIG else False)
    notes = {
        "audit.note.not used": ", ".join(sorted({*named} - {metric})),
        "audit.note.slices": any(map(_has_mig, labels)),
        "audit.note.same gpu": shared,
        "audit.note.shared sum": of_each,
        "audit.note.boards": _count_rest_of_boards(rows_of, names["gpu"]),
        "audit.note.no gpu": not all(map(_stated_gpu, labels)),
    }
    reading = log.reading("prometheus", len(series), dict(used), notes, counter=metric)
    shown = {name: tuple(codes.shown) for name, codes in names.items()}
    return Samples(
        **rows_of, group=group, groups=shown["group"], gpus=shown["gpu"], metric=metric, reading=reading
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
    named = [_counter(of, given) for of in labels]
    chosen, at = _chosen(named, labels, [f"series {n}" for n in range(1, len(labels) + 1)])
    pairs = ((n + 1, [*_pair(pair), str(code)]) for code, n in enumerate(at) for pair in result[n]["values"])
    return _read(Table(SERIES, pairs), [labels[n] for n in at], clock, chosen, given, given, named)


def result_of(answer: Any) -> list[dict[str, Any]]:
    """Return the series of an answer to a range query."""
    if not isinstance(answer, dict):
        raise refusal("audit.answer", where="line 1", value=type(answer).__name__)
    if answer.get("status") == "error":
        raise refusal("audit.answer with an error", where="status", value=show(answer.get("error", "")))
    if "status" not in answer and not isinstance(answer.get("data"), dict):
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


def _pair(pair: Any) -> list[str]:
    return [str(part) for part in pair] if isinstance(pair, list) and len(pair) == 2 else ["", str(pair)]


def read_table(table: Table, given: Mapping[str, str], clock: Clock) -> Samples:
    """Read the samples of a table: one per row, labels in columns, or a series per column, labels in its header."""
    _check_keys(given)
    by_hand = {key: text for key, text in given.items() if key in ("time", "value")}
    at = table.find({"time": SAMPLE_COLUMNS["time"], "value": (("value",), "")}, by_hand)
    if "time" not in at:
        raise table.missing("audit.needs.prometheus")
    wide = {place: dict(LABEL.findall(name)) for place, name in enumerate(table.header) if "{" in name}
    named, used = list[str](), {"time": table.header[at["time"]]}
    labels: list[Labels]
    samples: Callable[[list[str]], list[list[str]]]
    if wide:
        named = [
            _counter(of, given) or table.header[place].split("{")[0].strip() for place, of in wide.items()
        ]
        metric, chosen = _chosen(named, [*wide.values()], [f"column {place + 1}" for place in wide])
        places = [[*wide][n] for n in chosen]
        labels = [wide[place] for place in places]
        samples = partial(_of_row, at["time"], places)
    else:
        given = _with_value(table, at, given)
        labels, samples = _long(table, at, given)
        used |= {"value": table.header[at["value"]], **given}
    series = table.changed([table.header[at["time"]], *SERIES[1:]], samples)
    series.read["time"] = table.read["time"]._replace(place=0)
    if not wide:
        metric = _counter(labels[0], given) if labels else ""
    return _read(series, labels, clock, metric, given, used, named)


def _of_row(time_at: int, places: Sequence[int], row: list[str]) -> list[list[str]]:
    return [[row[time_at], row[place], str(n)] for n, place in enumerate(places)]


def _with_value(table: Table, at: dict[str, int], given: Mapping[str, str]) -> Mapping[str, str]:
    """Find the column of values: as given, by its usual name, or by that of the preferred counter, which is given then."""
    named = [place for place, name in enumerate(table.header) if name in COUNTERS]
    if "value" not in at:
        if not named:
            raise table.missing("audit.needs.prometheus value", names=", ".join(COUNTERS))
        at["value"] = min(named, key=lambda place: list(COUNTERS).index(table.header[place]))
    own = at["value"] in named and "value" not in given
    return {**given, "metric": table.header[at["value"]]} if own else given


def _long(
    table: Table, at: Mapping[str, int], given: Mapping[str, str]
) -> tuple[list[Labels], Callable[[list[str]], list[list[str]]]]:
    """Return what makes samples of rows, and the labels of the series that it finds in them."""
    others = {*at.values()}
    names = {n: name for n, name in enumerate(table.header) if n not in others and name not in COUNTERS}
    labels, codes = list[Labels](), dict[tuple[str, ...], str]()

    def samples(row: list[str]) -> list[list[str]]:
        key = tuple([row[place] for place in names])
        if key not in codes:
            codes[key] = str(len(labels))
            labels.append(dict(zip(names.values(), key, strict=True)))
            metric, place = _counter(labels[-1], given), f"series {len(labels)}"
            if metric in COUNTERS and metric != _counter(labels[0], given):
                raise refusal("audit.several counters", where=place, value=show(metric))
            _chosen([metric], labels[-1:], [place])
        return [[row[at["time"]], row[at["value"]], codes[key]]]

    return labels, samples
