"""What engines of language models held in memory, as they printed it, beside what gpuplan works out."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from gpuplan.analysis.llm_runs import NotPredicted, Run, model_of
from gpuplan.catalog import Catalog, Row
from gpuplan.models.llm.memory import Overheads, held, request_gib
from gpuplan.models.llm.shape import Setup, Shape
from gpuplan.plan.llm_parts import overheads_of

OLDER = 2.5
"""Activations that vLLM printed before 0.17 over those after it; a row without version counts as older."""


@dataclass(frozen=True, slots=True)
class Kept:
    """A figure that an engine printed beside the one worked out; both in GiB a GPU, tokens or yes and no."""

    id: str
    quantity: str
    """``weights``, ``cache``, ``tokens`` or ``fits``."""
    measured: float
    predicted: float

    @property
    def error(self) -> float:
        """Relative error."""
        return self.predicted / self.measured - 1 if self.measured else self.predicted - self.measured


def kept(catalog: Catalog) -> tuple[Kept, ...]:
    """The published figures of memory beside those worked out; models without a shape are left out."""
    found: list[Kept] = []
    checkpoints = {row.id: str(row["kept"]) for row in catalog.rows("llm_checkpoints")}
    for row in catalog.rows("llm_memory"):
        try:
            model, shape = _model(catalog, row)
        except NotPredicted:
            continue
        parts = checkpoints.get(f"{model.id}-{row['precision_weights']}", "")
        found += _figures(row, shape, parts, overheads_of(catalog))
    return tuple(found)


def _model(catalog: Catalog, row: Row) -> tuple[Row, Shape]:
    """A model of the catalog and its shape; of others weights say nothing about the model."""
    model, shape = model_of(catalog, Run(row.id, row["model"], ""))
    if row["precision_weights"] == "nvfp4":
        raise NotPredicted(f"the shape of {row['model']} is not known")
    return model, shape


def _figures(row: Row, shape: Shape, parts: str, usual: Overheads) -> Iterable[Kept]:
    cache = row["precision_kv"] or "bf16"
    setup = Setup(row["precision_weights"], cache, tensor=row["tp"], pipeline=row["pp"], kept=parts)
    older = not (row["framework_version"] or "").startswith(("0.17", "0.18", "0.19"))
    factor = OLDER if older else 1.0
    overheads = replace(
        usual,
        usable_share=row["gpu_memory_utilization"] or usual.usable_share,
        activation_gib=factor * usual.activation_gib,
        token_bytes=factor * usual.token_bytes,
    )
    memory = row["gpu_memory_gib"]
    found = held(shape, setup=setup, memory_gib=memory or 80.0, overheads=overheads)
    if row["weights_gib_per_gpu"]:
        yield Kept(row.id, "weights", row["weights_gib_per_gpu"], found.weights_gib)
    room = row["kv_cache_gib_per_gpu"]
    if room is not None and memory:
        yield Kept(row.id, "fits", float(room > 0), float(found.cache_gib > 0))
        if room > 0:
            yield Kept(row.id, "cache", room, max(found.cache_gib, 0.0))
    if room and room > 0 and row["kv_tokens"]:
        each = request_gib(shape, setup=setup, tokens=1)
        yield Kept(row.id, "tokens", row["kv_tokens"], room / each)
