"""Training of language models against published steps: predictions, errors of what was left out, and the fit of the parameters.

The parameters are the item ``llm-training`` of ``data/assumptions.csv``; ``make refit`` fits them again on the rows of
``data/llm_training.csv`` whose ``use`` is ``fit``, near priors that say what would be taken without these rows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

from gpuplan.catalog import Catalog, Row
from gpuplan.models.llm.training_run import FITTED_NAMES, TUNING_NAMES, step_times
from gpuplan.models.llm.training_setup import Fitted, TrainingBoard, TrainingRun, Transformer
from gpuplan.models.llm.tuning import adapter_parameters, tuning_memory
from gpuplan.models.network import GpuHosts, Link
from gpuplan.plan.training.llm import ITEM, fitted_values, matmul_tflops
from gpuplan.plan.training.speed import nvlink_gb_s
from validation.calibration import TAIL, Errors, Point, errors

STEPS, TUNING, MEMORY = "LLM training step", "LLM tuning step", "LLM tuning memory"

PRIORS: dict[str, tuple[float, float]] = {
    "matmul_share": (0.8, 0.1),
    "rate_decline": (0.1, 0.7),
    "fp8_share": (0.65, 0.2),
    "attention_per_byte": (80.0, 0.4),
    "layer_bytes": (100.0, 0.7),
    "logit_bytes": (16.0, 0.7),
    "layer_us": (100.0, 1.0),
    "recompute_share": (0.9, 0.1),
    "exposed_share": (0.3, 0.7),
    "tensor_exposed_share": (0.5, 0.7),
    "interleaved": (1.0, 0.7),
    "optimizer_bytes": (60.0, 0.7),
    "straggler_share": (0.005, 0.7),
    "adapter_bytes": (300.0, 1.0),
    "unpack_bytes": (20.0, 1.0),
    "start_us": (1000.0, 1.0),
}
"""Parameter -> where it would be without these rows, and how far it may be from there (of its logarithm)."""

SPREAD = 0.05
"""Error that one row is expected to have, of the logarithm of the speed."""

WEIGHTS = {"nemo": 2.0}
"""Source -> how much one of its rows weighs; others 1. It has the only rows in tensor and pipeline parallel, few and of today's software."""

EAGER = ("qwen-a100",)
"""Series whose software starts operations one by one."""

NAMES = {STEPS: FITTED_NAMES, TUNING: TUNING_NAMES}
"""Area -> parameters that are fitted on its rows, the others held."""

RANK = 64
"""Of the adapters in the published profile of tuning."""

GROUPS: dict[str, Callable[[Row], str]] = {
    "model": lambda row: row["model"],
    "GPU": lambda row: row["gpu"],
    "source": lambda row: row["series"].split("-")[0],
}
"""What is left out together."""


def training_points(catalog: Catalog, fitted: Fitted | None = None) -> tuple[Point, ...]:
    """Every published step of training and tuning beside its prediction, in tokens per second of a GPU, and the memory of tuning in GB."""
    fitted = fitted or fitted_values(catalog)
    found = []
    for row in catalog.rows("llm_training"):
        if row["tokens_per_gpu"] is not None:
            found.append(_step_point(catalog, row, fitted))
        if row["memory_gb"] is not None:
            found.append(_memory_point(catalog, row))
    return tuple(found)


def run_of(catalog: Catalog, row: Row) -> TrainingRun:
    """The run that a row describes; one host needs no network."""
    gpu = catalog.gpus[row["gpu"]]
    ring = nvlink_gb_s(catalog, row["gpu"])
    assert ring is not None, f"{row.id}: no published step of a board without NVLink"
    link = Link(row["link_gbit_s"] or 1.0, row["transport"] or "infiniband")
    return TrainingRun(
        Transformer(**{name: row[name] for name in _MODEL}),
        row["parameters"],
        TrainingBoard(
            tensor_tflops=float(gpu.fact("fp16_tensor_tflops").value),
            matmul_tflops=matmul_tflops(catalog, row["gpu"], row["precision"]),
            memory_bandwidth_gb_s=float(gpu.fact("memory_bandwidth_gb_s").value),
            fp8=row["precision"] == "fp8",
        ),
        GpuHosts(row["hosts"], link, row["gpus_per_host"], row["links"] or 1, float(ring.value)),
        **{name: row[name] for name in _SAME},
        eager=row["series"] in EAGER,
    )


_MODEL = ("active_parameters", "layers", "hidden_size", "attention_size", "vocabulary", "tied_embeddings")
_SAME = (
    *("sequence_tokens", "micro_batch", "batch", "method", "recompute"),
    *("sharding", "tensor", "pipeline", "context", "gradient_bytes"),
)


def _tokens_per_gpu(run: TrainingRun, fitted: Fitted) -> tuple[float, float]:
    """Tokens per second of each GPU, and the share of the step in which it computes."""
    times = step_times(run, fitted)
    return run.batch * run.sequence_tokens / run.gpus / times.step_s, times.alone_s / times.step_s


def _step_point(catalog: Catalog, row: Row, fitted: Fitted) -> Point:
    predicted, efficiency = _tokens_per_gpu(run_of(catalog, row), fitted)
    what = f"{row['model']}, {row['hosts']} x {row['gpus_per_host']} GPUs, {row['sequence_tokens']} tokens, {row['precision']}"
    fit, held = row["use"] == "fit", row["use"] == "held"
    area = STEPS if row["kind"] == "pretraining" else TUNING
    return Point(
        row.id, row["series"], area, what, fit, row["tokens_per_gpu"], predicted, min(1.0, efficiency), held
    )


def _memory_point(catalog: Catalog, row: Row) -> Point:
    run = run_of(catalog, row)
    model = run.model
    adapters = adapter_parameters(
        RANK,
        layers=model.layers,
        hidden_size=model.hidden_size,
        attention_size=model.attention_size,
        kv_size=model.attention_size,
        mlp_size=8 * model.hidden_size // 3,
    )
    held = tuning_memory(run, adapters=adapters).total_gib * run.gpus * 2**30 / 1e9
    what = f"{row['model']}, {row['method']}, {row['sequence_tokens']} tokens"
    return Point(f"{row.id}-memory", row["series"], MEMORY, what, True, row["memory_gb"], held)


def fit_training(catalog: Catalog, area: str = STEPS, *, by: str = "", without: str = "") -> Fitted:
    """Fit the parameters of an area on its rows to fit on, without those of one model, GPU or source; all others as the catalog has them."""
    import numpy as np
    from scipy.optimize import least_squares

    kept = [row for row in _fit_rows(catalog, area) if not by or GROUPS[by](row) != without]
    runs, names = [run_of(catalog, row) for row in kept], NAMES[area]
    seen = np.log([row["tokens_per_gpu"] for row in kept])
    weights = np.array([WEIGHTS.get(GROUPS["source"](row), 1.0) for row in kept]) / SPREAD
    centre = np.array([math.log(PRIORS[name][0]) for name in names])
    width = np.array([PRIORS[name][1] for name in names])
    base = fitted_values(catalog)

    def tried(logs: Any) -> Fitted:
        return replace(base, **dict(zip(names, map(float, np.exp(logs)), strict=True)))

    def residuals(logs: Any) -> Any:
        values = tried(logs)
        off = np.log([_tokens_per_gpu(run, values)[0] for run in runs]) - seen
        return np.concatenate([off * weights, (logs - centre) / width])

    limit = np.array([0.0 if "share" in name else 20.0 for name in names])
    if area == TUNING:
        starts = [centre - width, centre, centre + width]
    else:  # without some rows from where the fit of all ended: a third of the time
        starts = [np.log([getattr(base, name) for name in names]) if by else centre]
    solved = [
        least_squares(
            residuals, np.minimum(start, limit - 1e-6), loss="soft_l1", bounds=(-20.0, limit + 1e-9)
        )
        for start in starts
    ]
    return tried(min(solved, key=lambda each: float(each.cost)).x)


def _fit_rows(catalog: Catalog, area: str) -> list[Row]:
    rows = [row for row in catalog.rows("llm_training") if row["use"] == "fit"]
    return [row for row in rows if (row["kind"] == "pretraining") == (area == STEPS)]


@lru_cache(maxsize=8)  # a fit for each group takes seconds: the text and the tests ask for the same
def left_out(catalog: Catalog, area: str, by: str) -> tuple[Point, ...]:
    """The rows of an area that were fitted on, each predicted by parameters fitted without its model, GPU or source."""
    found = []
    for group in sorted({GROUPS[by](row) for row in _fit_rows(catalog, area)}):
        fitted = fit_training(catalog, area, by=by, without=group)
        for row in _fit_rows(catalog, area):
            if GROUPS[by](row) == group:
                found.append(_step_point(catalog, row, fitted))
    return tuple(found)


def tail_shares(found: Sequence[Point]) -> tuple[float, float]:
    """How much longer than predicted a step took, and the other way, with ``TAIL`` of the rows of each series beyond; the widest series counts."""
    ends = []
    for way in (1, -1):
        beyond = []
        for series in {p.series for p in found}:
            late = sorted((p.predicted / p.measured) ** way - 1 for p in found if p.series == series)
            beyond.append(late[math.ceil((1 - TAIL) * len(late)) - 1])
        ends.append(max(0.0, *beyond))
    return ends[0], ends[1]


def unseen_steps(catalog: Catalog) -> dict[str, tuple[Point, ...]]:
    """Beginning of the name of a width -> the rows that it comes from: models unseen, boards unseen, and tuning."""
    points = training_points(catalog)
    held = tuple(p for p in points if p.area == TUNING and p.held)
    return {
        "": left_out(catalog, STEPS, "model"),
        "unseen_": left_out(catalog, STEPS, "GPU"),
        "tuning_": (*left_out(catalog, TUNING, "model"), *held),
    }


def held_by_ranges(catalog: Catalog) -> tuple[int, int]:
    """Of the rows predicted without their model or board, how many a range of the plan holds, and how many there are."""
    found = _ranged(catalog)
    return sum(low <= point.measured <= high for point, low, high in found), len(found)


def mean_speed_width(catalog: Catalog) -> float:
    """Mean width of those ranges, as a share of what is predicted."""
    found = _ranged(catalog)
    return sum((high - low) / point.predicted for point, low, high in found) / len(found)


def _ranged(catalog: Catalog) -> list[tuple[Point, float, float]]:
    """Each unseen row with its range: what a plan prints for a step that waits for no network."""
    held, found = catalog.assumptions[ITEM], []
    for begin, rows in unseen_steps(catalog).items():
        slower, faster = (float(held.fact(f"{begin}{end}_share").value) for end in ("slower", "faster"))
        found += [(p, p.predicted / (1 + slower), p.predicted * (1 + faster)) for p in rows]
    return found


def left_out_errors(catalog: Catalog) -> tuple[Errors, ...]:
    """Errors of the rows predicted without their model ("": all), and of steps without their GPU and without their source."""
    rows = {row.id: row for row in catalog.rows("llm_training")}
    found: list[Errors] = []
    for area, by in ((STEPS, "model"), (STEPS, "GPU"), (STEPS, "source"), (TUNING, "model")):
        seen = left_out(catalog, area, by)
        if by == "model":
            found += errors(seen)
        else:
            found += errors([replace(p, series=f"each {by} unseen") for p in seen], by_series=True)
            named = [replace(p, series=f"without {GROUPS[by](rows[p.id])}") for p in seen]
            found += errors(named, by_series=True)
    return tuple(found)


def fit_of(fitted: Fitted, area: str) -> dict[str, float]:
    """The parameters of an area by name."""
    return {name: getattr(fitted, name) for name in NAMES[area]}
