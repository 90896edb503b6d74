"""Measured runs of serving language models, and each in the terms of the models: model, board, engine and load.

A run names these in its own words; unstated settings follow the usual practice of such engines.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from typing import Any

from gpuplan.catalog import Catalog, Item, Row
from gpuplan.catalog.boards import boards_like, boards_named
from gpuplan.facts import own_rows
from gpuplan.models.llm.memory import Overheads, held, requests_at_once
from gpuplan.models.llm.shape import Board, Setup, Shape
from gpuplan.models.llm.speeds import Ranges, Replica, Speeds
from gpuplan.plan.llm_parts import board_of, key_of, model_named, overheads_of, ranges_of, shape_of_row
from gpuplan.wording import said

MOST = 4096
"""Most requests in a step that engines are run with."""
KEPT = 0.7
"""Share of an answer that requests have written on average when a cache is full: they are at different places."""
USUAL_BOARDS = tuple(row["id"] for row in own_rows("words/usual_boards"))
"""Boards usually used to serve language models among those that share a name, unless a form or a memory is named."""


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
    tuned: bool = False
    """True if engine, precision and kernels were tuned for the load, as for records."""
    source: str = ""
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
class Work:
    """A run in the terms of the models: model, hardware and load."""

    run: Run
    shape: Shape
    board: Board
    setups: tuple[tuple[Setup, float, float], ...]
    """Ways to cut it, with the number of such replicas and the concurrent requests of each."""
    tokens_in: float
    tokens_out: float
    ranges: Ranges
    """Of its kind of load and model."""

    def on(self, setup: Setup, speeds: Speeds) -> Replica:
        """Return a replica that is cut in one way."""
        return Replica(self.shape, self.board, setup, speeds, ranges=self.ranges)

    def load(self, requests: float) -> dict[str, float]:
        """Return concurrent requests with their tokens."""
        return {"requests": requests, "tokens_in": self.tokens_in, "tokens_out": self.tokens_out}


def load_kind(run: Run) -> str:
    """Return the kind of load of a run: ``served``, as it comes, a closed ``loop``, ``offline``, or ``other``."""
    kinds = {"server": "served", "interactive": "served", "concurrency": "loop", "offline": "offline"}
    return kinds.get(run.load, "other")


class NotPredicted(ValueError):
    """A run that cannot be predicted; the message says why."""


def runs_of(catalog: Catalog) -> tuple[Run, ...]:
    """Return the published runs of the catalog."""
    names = [field.name for field in fields(Run) if field.name not in ("id", "source", "note")]
    runs = []
    for row in catalog.rows("llm_runs"):
        cells = {name: row[name] for name in names if row[name] is not None}
        runs.append(Run(id=row.id, source=row["source"][0], note=row.note, **cells))
    return tuple(runs)


def model_of(catalog: Catalog, run: Run) -> tuple[Row, Shape]:
    """Return the model of a run, a row of the catalog; NotPredicted where there is none, or too little is known of it."""
    if not run.model:
        raise NotPredicted(said("runs.no model"))
    row = model_named(catalog, run.model)
    if row is None:
        raise NotPredicted(said("runs.no shape", model=run.model))
    if row["kind"] != "generate":
        raise NotPredicted(said("runs.no tokens", model=row["name"]))
    try:
        return row, replace(shape_of_row(row), checkpoints=())  # a run names its own
    except ValueError as error:
        raise NotPredicted(str(error)) from None


@lru_cache(maxsize=4)
def _boards(catalog: Catalog) -> Mapping[str, Item | Row]:
    boards: dict[str, Item | Row] = {**catalog.gpus, **{row.id: row for row in catalog.rows("llm_boards")}}
    return {id: boards[id] for id in USUAL_BOARDS} | boards


def gpu_of(catalog: Catalog, name: str) -> Item | Row:
    """Find the board of a run by id, or a name such as ``NVIDIA H100 80GB HBM3``: of several, the usual one."""
    boards = _boards(catalog)
    if not name:
        raise NotPredicted(said("runs.no gpu"))
    fits = [name.lower()] if name.lower() in boards else boards_like(catalog, name, of_runs=True)
    best = next((id for id in boards if id in (fits or boards_named(catalog, name))), None)
    if best is None:
        raise NotPredicted(said("runs.no board", name=name))
    return boards[best]


@lru_cache(maxsize=4)
def _seen(catalog: Catalog) -> tuple[frozenset[str], frozenset[str]]:
    rows = catalog.rows("llm_runs")
    return frozenset(row["gpu"] for row in rows), frozenset(key_of(row["model"]) for row in rows)


def lengths_of(catalog: Catalog, run: Run, model: Row | None) -> tuple[float, float, Row | None]:
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


def _precision(run: Run, model: Row, board: Board) -> tuple[str, str]:
    """Return the precision of weights and cache: as stated, or as the engine's default."""
    weights = run.precision_weights
    if not weights and run.isl is None and board.fp8_tflops:
        weights = "fp8"
    weights = weights or model["native_precision"] or "bf16"
    quantised = weights in ("fp8", "nvfp4", "mxfp4", "int8") and "tensorrt" in run.framework.lower()
    return weights, run.precision_kv or ("fp8" if quantised else "bf16")


def work_of(catalog: Catalog, run: Run, overheads: Overheads | None = None) -> Work:
    """Return a run in the terms of the models; NotPredicted where it states too little."""
    taken = overheads or overheads_of(catalog)
    model, shape = model_of(catalog, run)
    gpu = gpu_of(catalog, run.gpu)
    try:
        board = board_of(catalog, gpu)
    except ValueError as error:
        raise NotPredicted(str(error)) from None
    tokens_in, tokens_out, _ = lengths_of(catalog, run, model)
    weights, cache = _precision(run, model, board)
    engine = run.framework.lower() or "vllm"
    gpus, tokens = run.all_gpus, tokens_in + KEPT * tokens_out
    if gpus < 1:
        board, gpus = board.part(gpus), 1.0
    named = (row for row in catalog.rows("llm_checkpoints") if row["precision"] == weights)
    kept = next((row["kept"] for row in named if str(row["repository"]).lower() == run.model.lower()), "")
    early = "vllm" in engine and re.match(r"v?0\.[0-5](\D|$)", run.framework_version) is not None
    stated = Setup(weights, cache, engine=engine, kept=kept, early=early, tuned=run.tuned)
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
    ranges = ranges_of(catalog, load_kind(run), experts=not shape.dense, known=known)
    return Work(run, shape, board, tuple(setups), tokens_in, tokens_out, ranges)


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
    """Return concurrent requests on a replica: as stated, or as many as fit: those of a burst and of open arrivals wait."""
    if not run.concurrency:
        return float(min(fit, MOST))
    if run.mode == "disaggregated":
        replicas = pools_of(run)[1]
    per_replica = max(run.concurrency / max(replicas, 1.0), 1.0)
    return min(per_replica, fit) if fit and run.mode in ("burst", "server") else per_replica


def pools_of(run: Run) -> tuple[Setup | None, float]:
    """Return the cut of the GPUs that read prompts, and the number of decoding replicas, from the note of a run."""
    matches = re.findall(r"(prefill|decode) (\d+) x \(tp (\d+), dp (\d+)", run.note)
    pools = {name: (int(n), int(tp), int(dp)) for name, n, tp, dp in matches}
    decode = pools["decode"][0] if "decode" in pools else max(1, round(run.all_gpus / run.replica_gpus / 2))
    if "prefill" not in pools:
        return None, decode
    n, tensor, data = pools["prefill"]
    return Setup(tensor=tensor, data=data, pipeline=n), decode
