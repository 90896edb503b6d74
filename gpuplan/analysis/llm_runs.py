"""Measured runs of serving language models from published sources, and gpuplan's prediction for each.

A run names model, board, engine and load in its own words; unstated settings follow the usual practice of such engines,
and a run that cannot be predicted says why. ``gpuplan calibrate --llm`` prints them side by side.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from typing import Any

from gpuplan.catalog import Catalog, Item, Row
from gpuplan.facts import own_rows
from gpuplan.models.llm.memory import Overheads, held, requests_at_once
from gpuplan.models.llm.serving import (
    decode_step_ms,
    first_token_ms,
    prompt_ms,
    time_per_token_ms,
    token_rate,
)
from gpuplan.models.llm.shape import Board, Range, Setup, Shape
from gpuplan.models.llm.speeds import Replica, Speeds
from gpuplan.plan.llm_parts import board_of, key_of, model_named, overheads_of, shape_of_row, speeds_of
from gpuplan.wording import said

MOST = 4096
"""Most requests in a step that engines are run with."""
KEPT = 0.7
"""Share of an answer that requests have written on average when a cache is full: they are at different places."""
TAIL = 0.8
"""Mean time per token over its 99th percentile, by which benchmarks set limits."""
FULL = 0.99
"""Share of the highest rate that open arrivals reach before their queue grows without end."""
OPEN_STEPS, OPEN_PROMPTS = 2.0, 1.5
"""Times per token and prompts until the first token of open arrivals: a step to be let in, one to be read."""
LONGEST = 4.0
"""Longest answer of a burst of chats over the mean: the others have ended by then."""
OTHER = 1.7
"""Power by which a range widens for a kind of run that nothing was fitted on: all but closed loops and offline."""
QUANTITIES = ("tpot_ms", "ttft_ms", "tokens_per_s")


@dataclass(frozen=True, slots=True)
class Run:
    """One measured run; fields are None or empty where the source is silent."""

    id: str
    model: str
    gpu: str
    params_b: float | None = None
    precision_weights: str = ""
    precision_kv: str = ""
    gpus: float | None = None
    tp: float | None = None
    pp: float | None = None
    dp: float | None = None
    ep: float | None = None
    framework: str = ""
    framework_version: str = ""
    isl: float | None = None
    osl: float | None = None
    concurrency: float | None = None
    ttft_ms: float | None = None
    tpot_ms: float | None = None
    tokens_per_s: float | None = None
    tokens_per_s_per_gpu: float | None = None
    mode: str = ""
    note: str = ""

    @property
    def load(self) -> str:
        """Return its mode, also where the source states none."""
        return self.mode or ("concurrency" if self.concurrency else "offline")

    @property
    def replica_gpus(self) -> float:
        """Return the GPUs of one replica."""
        return (self.tp or 1) * (self.pp or 1) * (self.dp or 1)

    @property
    def all_gpus(self) -> float:
        """Return its GPUs: as stated, or those of one replica."""
        return self.gpus or self.replica_gpus


@dataclass(frozen=True, slots=True)
class Prediction:
    """A measured figure of a run beside its prediction; no prediction says why."""

    source_id: str
    quantity: str
    measured: float
    predicted: float | None = None
    low: float | None = None
    high: float | None = None
    why: str = ""
    dense: bool = True

    @property
    def error(self) -> float | None:
        """Return the relative error."""
        return None if self.predicted is None else self.predicted / self.measured - 1

    @property
    def held(self) -> bool | None:
        """True if the measured figure lies between low and high; None where it is unknown."""
        return None if self.low is None or self.high is None else self.low <= self.measured <= self.high


@dataclass(frozen=True, slots=True)
class Work:
    """A run in the terms of the models: model, hardware and load."""

    run: Run
    shape: Shape
    board: Board
    setups: tuple[tuple[Setup, float, float], ...]
    """Ways to cut it, with the number of such replicas and the concurrent requests of each."""
    tokens_in: float
    tokens_out: float
    measured: bool
    """True if the catalog has runs of this board and model."""
    notes: tuple[str, ...] = ()


class NotPredicted(ValueError):
    """A run that cannot be predicted; the message says why."""


def runs_of(catalog: Catalog) -> tuple[Run, ...]:
    """Return the published runs of the catalog."""
    names = [field.name for field in fields(Run) if field.name not in ("id", "note")]
    runs = []
    for row in catalog.rows("llm_runs"):
        cells = {name: row[name] for name in names if row[name] is not None}
        runs.append(Run(id=row.id, note=row.note, **cells))
    return tuple(runs)


# ---- names


def model_of(catalog: Catalog, run: Run) -> tuple[Row | None, Shape]:
    """Return the model of a run: a row of the catalog, or a usual shape of its size where the catalog has none."""
    if not run.model:
        raise NotPredicted(said("runs.no model"))
    row = model_named(catalog, run.model)
    if row is not None and row["kind"] != "generate":
        raise NotPredicted(said("runs.no tokens", model=row["name"]))
    if row is not None:
        return row, shape_of_row(row)
    sizes = {
        a or "total": float(size)
        for a, size in re.findall(r"[-_ ](a?)(\d+(?:\.\d+)?)b(?![a-z])", run.model.lower())
    }
    total = run.params_b or sizes.get("total")
    if total is None:
        raise NotPredicted(said("runs.no shape", model=run.model))
    return None, usual_shape(total, sizes.get("a", total))


def usual_shape(total: float, active: float) -> Shape:
    """Return the typical shape of models with this number of parameters, where nothing else is known."""
    layers = max(16, round(24 * active**0.28))
    hidden = max(1024, round((active * 1e9 / layers / 12) ** 0.5 / 128) * 128)
    heads = max(8, hidden // 128)
    dense = Shape(total, active, layers, hidden, heads, 128_000, 131_072, kv_heads=8)
    return dense if active > 0.7 * total else replace(dense, experts=128, experts_per_token=8)


USUAL_BOARDS = tuple(row["id"] for row in own_rows("words/usual_boards"))
"""Boards usually used to serve language models among those that share a name, unless a form or a memory is named."""


@lru_cache(maxsize=4)
def _boards(catalog: Catalog) -> Mapping[str, Item | Row]:
    boards: dict[str, Item | Row] = {**catalog.gpus, **{row.id: row for row in catalog.rows("llm_boards")}}
    first = {id: boards[id] for id in USUAL_BOARDS}
    return first | boards


def gpu_of(catalog: Catalog, name: str) -> Item | Row:
    """Find the board of a run by id, or a name such as ``NVIDIA H100 80GB HBM3``: the id with most words in common."""
    boards = _boards(catalog)
    if not name:
        raise NotPredicted(said("runs.no gpu"))
    if name.lower() in boards:
        return boards[name.lower()]
    words = set(re.sub(r"[^a-z0-9]+", " ", name.lower()).split())
    words |= {re.sub(r"\d+$", "", word) for word in words if word.startswith(("sxm", "nvl"))}

    def alike(id: str) -> int:
        parts = re.sub(r"(sxm|nvl)\d+", r"\1", id).split("-")
        family = parts[:3] if parts[:2] == ["rtx", "pro"] else parts[:1]
        return len(words & set(parts)) if words >= set(family) else 0

    best = max(boards, key=alike)
    if not alike(best):
        raise NotPredicted(said("runs.no board", name=name))
    return boards[best]


# ---- what a run does not state


@lru_cache(maxsize=4)
def _seen(catalog: Catalog) -> tuple[frozenset[str], frozenset[str]]:
    """Return the boards and models with runs in the catalog."""
    rows = catalog.rows("llm_runs")
    return frozenset(row["gpu"] for row in rows), frozenset(key_of(row["model"]) for row in rows)


def _lengths(catalog: Catalog, run: Run, model: Row | None) -> tuple[float, float, Row | None]:
    """Return tokens in and out of a run; if it names none, those of its benchmark."""
    rows = catalog.rows("llm_benchmarks") if run.isl is None or run.mode in ("server", "interactive") else ()
    wanted = "sharegpt" if run.mode == "burst" else f"mlperf-{model.id}" if model else ""
    row = next((row for row in rows if row.id == wanted), None)
    lengths = []
    for column, stated, usual in (("isl", run.isl, "tokens_in"), ("osl", run.osl, "tokens_out")):
        value = stated or (row and row[usual])
        if not value:
            raise NotPredicted(said("runs.no lengths", column=column))
        lengths.append(float(value))
    return lengths[0], lengths[1], row


def _precision(run: Run, model: Row | None, board: Board) -> tuple[str, str]:
    """Return the precision of weights and cache: as stated, or as the engine's default."""
    weights = run.precision_weights
    if not weights and run.isl is None and board.fp8_tflops:
        weights = "fp8"
    weights = weights or (model and model["native_precision"]) or "bf16"
    quantised = weights in ("fp8", "nvfp4", "mxfp4", "int8") and "tensorrt" in run.framework.lower()
    return weights, run.precision_kv or ("fp8" if quantised else "bf16")


def work_of(catalog: Catalog, run: Run, overheads: Overheads | None = None) -> Work:
    """Return a run in the terms of the models; NotPredicted where it states too little."""
    taken = overheads or overheads_of(catalog)
    model, shape = model_of(catalog, run)
    gpu = gpu_of(catalog, run.gpu)
    try:
        board = board_of(gpu, catalog.rows("nccl_rates"))
    except ValueError as error:
        raise NotPredicted(str(error)) from None
    tokens_in, tokens_out, _ = _lengths(catalog, run, model)
    weights, cache = _precision(run, model, board)
    engine = run.framework.lower() or "vllm"
    gpus, tokens = run.all_gpus, tokens_in + KEPT * tokens_out
    stated = Setup(weights, cache, engine=engine)
    setups = []
    for setup in _cuts(run, stated, shape, gpus):
        on: dict[str, Any] = {"setup": setup, "memory_gib": board.memory_gib}
        bare = held(shape, **on, overheads=replace(taken, usable_share=1.0))
        fit, replicas = requests_at_once(shape, **on, tokens=tokens, overheads=taken), gpus / setup.gpus
        if bare.cache_gib >= 0 and (at_once := _at_once(run, replicas, fit)):
            setups.append((setup, replicas, at_once))
    if not setups:
        where = {"gpus": f"{gpus:g}", "gpu": run.gpu}
        raise NotPredicted(said("runs.no room", model=run.model, weights=weights, **where))
    boards, models = _seen(catalog)
    known = gpu.id in boards and key_of(run.model) in models
    return Work(run, shape, board, tuple(setups), tokens_in, tokens_out, known)


def _cuts(run: Run, given: Setup, shape: Shape, gpus: float) -> Iterator[Setup]:
    """Yield the ways to cut a run over its GPUs: the stated one, or all that engines offer."""
    if run.tp or run.dp or run.pp:
        tensor, pipeline, data = (int(value or 1) for value in (run.tp, run.pp, run.dp))
        yield replace(given, tensor=tensor, pipeline=pipeline, data=data)
        return
    if run.concurrency and shape.heads % int(gpus) == 0:
        yield replace(given, tensor=int(gpus))
        return
    for tensor, data in ((1, 1), (2, 1), (4, 1), (8, 1), (1, 4), (1, 8)):
        if tensor * data <= gpus and (data == 1 or not shape.dense) and shape.heads % tensor == 0:
            yield replace(given, tensor=tensor, data=data)


def _at_once(run: Run, replicas: float, fit: float) -> float:
    """Return concurrent requests on a replica: as stated by the run, or as many as fit if it sends all of them."""
    if not run.concurrency:
        return float(min(fit, MOST))
    if run.mode == "disaggregated":
        replicas = _pools(run)[1]
    per_replica = max(run.concurrency / max(replicas, 1.0), 1.0)
    return min(per_replica, fit) if run.mode == "burst" and fit else per_replica


# ---- predictions


def predict(
    catalog: Catalog,
    runs: Iterable[Run],
    speeds: Speeds | None = None,
    *,
    measured: bool | None = None,
) -> tuple[Prediction, ...]:
    """Return measured figures of runs beside predicted ones, by the catalog's parameters unless others are given.

    ``measured`` says whether runs of their boards and models are known, if the catalog is not to be asked.
    """
    speeds = speeds or speeds_of(catalog)
    results: list[Prediction] = []
    for run in runs:
        figures = _given(run)
        try:
            work = work_of(catalog, run)
            work = work if measured is None else replace(work, measured=measured)
            said = predicted(catalog, work, speeds)
        except NotPredicted as error:
            results += [Prediction(run.id, name, value, why=str(error)) for name, value in figures.items()]
            continue
        results += [
            Prediction(run.id, name, value, *said[name], dense=work.shape.dense)
            for name, value in figures.items()
        ]
    return tuple(results)


def _given(run: Run) -> dict[str, float]:
    """Return the measured figures of a run."""
    figures = {name: getattr(run, name) for name in QUANTITIES}
    if figures["tokens_per_s"] is None and run.tokens_per_s_per_gpu and run.gpus:
        figures["tokens_per_s"] = run.tokens_per_s_per_gpu * run.gpus
    return {name: value for name, value in figures.items() if value}


def predicted(catalog: Catalog, work: Work, speeds: Speeds) -> dict[str, Range]:
    """Return time per token, first token [ms] and tokens per second of a run, by its mode."""
    mode = work.run.load
    if mode in ("server", "interactive"):
        said = _open(catalog, work, speeds, mode)
    elif mode == "static":
        said = _static(work, speeds)
    elif mode == "disaggregated":
        said = _disaggregated(work, speeds)
    else:
        usual = _closed(work, speeds, *best_cut(work, speeds))
        if mode != "burst":
            return usual
        said = _burst(work, usual)
    return {name: _wider(figure) for name, figure in said.items()}


def _wider(found: Range) -> Range:
    value = found.value
    return Range(value, value * (found.low / value) ** OTHER, value * (found.high / value) ** OTHER)


def _on(work: Work, setup: Setup, speeds: Speeds) -> Replica:
    return Replica(work.shape, work.board, setup, speeds, measured=work.measured)


def _load(work: Work, requests: float) -> dict[str, float]:
    return {"requests": requests, "tokens_in": work.tokens_in, "tokens_out": work.tokens_out}


def _times(found: Range, factor: float) -> Range:
    return Range(*(factor * value for value in found))


def best_cut(work: Work, speeds: Speeds) -> tuple[Setup, float, float]:
    """Return the way to cut a run that gives most tokens a second."""

    def rate(cut: tuple[Setup, float, float]) -> float:
        speed = token_rate(_on(work, cut[0], speeds), **_load(work, cut[2]))
        return cut[1] * speed.value

    return max(work.setups, key=rate) if len(work.setups) > 1 else work.setups[0]


def _closed(work: Work, speeds: Speeds, setup: Setup, replicas: float, requests: float) -> dict[str, Range]:
    replica, load = _on(work, setup, speeds), _load(work, requests)
    per_token = time_per_token_ms(replica, **load)
    first = first_token_ms(replica, **load)
    rate = _times(token_rate(replica, **load), replicas)
    if work.run.mode in ("", "concurrency"):  # who waits for a first token does not decode
        whole = first.value + per_token.value * (work.tokens_out - 1)
        rate = _times(rate, per_token.value * work.tokens_out / whole)
    return {"tpot_ms": per_token, "ttft_ms": first, "tokens_per_s": rate}


def _open(catalog: Catalog, work: Work, speeds: Speeds, mode: str) -> dict[str, Range]:
    """Predict open arrivals at the highest rate within the limits of the benchmark, with the time per token kept.

    Near the highest rate more concurrent requests only wait longer: it is run a little below.
    """
    model, _ = model_of(catalog, work.run)
    _, _, row = _lengths(catalog, work.run, model)
    allowed = row and row[f"{mode}_token_ms"]
    options = [_open_at(work, speeds, cut, TAIL * allowed if allowed else math.inf) for cut in work.setups]
    return max(options, key=lambda said: said["tokens_per_s"].value)


def _open_at(
    work: Work, speeds: Speeds, cut: tuple[Setup, float, float], allowed_ms: float
) -> dict[str, Range]:
    setup, replicas, most = cut

    def at(requests: float) -> dict[str, Range]:
        return _closed(work, speeds, setup, replicas, requests)

    top = _highest(max(1.0, most), lambda n: at(n)["tpot_ms"].value <= allowed_ms)
    goal = FULL * at(top)["tokens_per_s"].value
    said = at(_highest(top, lambda n: at(n)["tokens_per_s"].value <= goal))
    prompt = prompt_ms(_on(work, setup, speeds), tokens_in=work.tokens_in)
    first = OPEN_STEPS * said["tpot_ms"].value + OPEN_PROMPTS * prompt
    return said | {"ttft_ms": _times(said["ttft_ms"], first / said["ttft_ms"].value)}


def _highest(most: float, keeps: Callable[[float], bool]) -> float:
    """Return the highest number from 1 for which a condition holds that all lower ones meet."""
    low, high = 1.0, most
    if keeps(most):
        return most
    for _ in range(12):
        middle = (low + high) / 2
        low, high = (middle, high) if keeps(middle) else (low, middle)
    return low


def _burst(work: Work, said: dict[str, Range]) -> dict[str, Range]:
    """Predict a burst of all requests, until the longest ends: waves of as many as fit, and the tail of the last."""
    _, replicas, requests = work.setups[0]
    waves = (work.run.concurrency or requests) / (requests * replicas)
    return said | {"tokens_per_s": _times(said["tokens_per_s"], waves / (waves + LONGEST - 1))}


def _static(work: Work, speeds: Speeds) -> dict[str, Range]:
    """Predict one batch from its start to its end, and nothing else."""
    setup, replicas, requests = work.setups[0]
    context = work.tokens_in + work.tokens_out / 2
    step = decode_step_ms(_on(work, setup, speeds), requests=requests, context_tokens=context)
    prompt = prompt_ms(_on(work, setup, speeds), tokens_in=work.tokens_in)
    first = max(requests * prompt, step)
    rate = replicas * requests * work.tokens_out * 1e3 / (first + step * (work.tokens_out - 1))
    now = {"tpot_ms": step, "ttft_ms": first, "tokens_per_s": rate}
    usual = _closed(work, speeds, setup, replicas, requests)
    return {name: _times(usual[name], now[name] / usual[name].value) for name in now}


def _pools(run: Run) -> tuple[Setup | None, float]:
    """Return the cut of the GPUs that read prompts, and the number of decoding replicas, from the note of a run."""
    matches = re.findall(r"(prefill|decode) (\d+) x \(tp (\d+), dp (\d+)", run.note)
    pools = {name: (int(n), int(tp), int(dp)) for name, n, tp, dp in matches}
    decode = pools["decode"][0] if "decode" in pools else max(1, round(run.all_gpus / run.replica_gpus / 2))
    if "prefill" not in pools:
        return None, decode
    n, tensor, data = pools["prefill"]
    return Setup(tensor=tensor, data=data, pipeline=n), decode


def _disaggregated(work: Work, speeds: Speeds) -> dict[str, Range]:
    """Predict a run whose prompts are read on GPUs of their own: decoding does not wait for them."""
    setup, _, requests = work.setups[0]
    apart = replace(speeds, overlap_share=1e-9)
    reading, replicas = _pools(work.run)
    said = _closed(work, apart, setup, replicas, requests)
    cut = replace(setup, tensor=reading.tensor, data=reading.data) if reading else setup
    queue = requests * replicas / (reading.pipeline if reading else 1)
    return said | {"ttft_ms": first_token_ms(_on(work, cut, speeds), **_load(work, queue))}
