"""Catalog data on a language model, by the names in sources and from users, and on a board, for the serving models."""

import re
from collections.abc import Mapping
from dataclasses import fields
from functools import lru_cache
from typing import Any

from gpuplan.catalog import Catalog, Item, Row
from gpuplan.facts import own_rows
from gpuplan.models.llm.memory import Overheads
from gpuplan.models.llm.shape import Board, Shape, shape_of
from gpuplan.models.llm.speeds import Ranges, Speeds
from gpuplan.plan.hardware import sum_rates
from gpuplan.wording import said


def shape_of_row(row: Row) -> Shape:
    """The shape of a row of ``llm_models``; ValueError if too little of it is known."""
    try:
        return shape_of({**row.cells, "checkpoints": _published().get(row.id)})
    except ValueError as error:
        raise ValueError(f"{row['name']}: {error}") from None


@lru_cache(maxsize=1)
def _published() -> dict[str, tuple[tuple[str, str], ...]]:
    by_model: dict[str, tuple[tuple[str, str], ...]] = {}
    for row in own_rows("llm_checkpoints"):
        by_model[row["model"]] = (*by_model.get(row["model"], ()), (row["precision"], row["kept"]))
    return by_model


DRIVER_SHARE = 0.99
"""Memory that the driver shows of what a board has, where that is not stated: as on the H100, 79.19 of 80 GiB."""


def board_of(catalog: Catalog, gpu: Item | Row) -> Board:
    """Return a board of ``gpus`` or of ``llm_boards``; ValueError where bandwidth or tensor rate are not known.

    Without NVLink, GPUs talk over 16 lanes of PCI Express: 16 GB/s one way in its third generation, twice that in each later one; so
    do those beyond a bridge. On such a board without a published run of serving, on which the models were fitted, sums reach what
    was measured on it or on a board of its architecture, rows of ``nccl_rates``.
    """
    value, name = (gpu.value, gpu.name) if isinstance(gpu, Item) else (gpu.cells.get, gpu["name"])
    bandwidth, half = value("memory_bandwidth_gb_s"), value("fp16_tensor_tflops")
    if not bandwidth or not half:
        raise ValueError(said("llm.no tensor rate" if bandwidth else "llm.no bandwidth", name=name))
    link = value("nvlink_gb_s")
    lanes = 16.0 * 2 ** (int(value("pcie_generation") or 4) - 3)
    sums: list[tuple[int, float]] = []
    if "PCIe" in str(value("form_factor")):
        sums = _sums(catalog, gpu.id, bool(value("llm_runs")))
        if link and not sums:
            sums = [(int(value("nvlink_bridge_gpus") or BRIDGED) * 2, lanes)]
    return Board(
        memory_gib=float(value("reported_memory_gib") or float(value("memory_gib") or 0) * DRIVER_SHARE),
        bandwidth_gb_s=float(bandwidth),
        fp16_tflops=float(half),
        fp8_tflops=float(value("fp8_tensor_tflops") or 0),
        fp4_tflops=float(value("fp4_tensor_tflops") or 0),
        link_gb_s=float(link) / 2 if link else lanes,
        sustained=_sustained(catalog, value("architecture"), value("tdp_w"), float(half)),
        sums_gb_s=tuple(sums),
    )


def _sums(catalog: Catalog, gpu: str, served: bool) -> list[tuple[int, float]]:
    """Return (GPUs, rate) as measured; none for a board with a published run of serving."""
    rates = () if served or gpu not in catalog.gpus else sum_rates(catalog, gpu)
    return [(int(row["gpus"]), float(row["rate_gb_s"])) for row in rates]


BRIDGED = 2
"""Boards that an NVLink bridge joins unless the catalog says otherwise."""


def _sustained(catalog: Catalog, architecture: Any, watts: Any, tflops: float) -> float:
    """Return the watts of a board for its tensor rate over those of its architecture's board for servers; at most 1."""
    row = catalog.row("architectures", str(architecture).lower()) if architecture else None
    usual = row["watts_per_tflop"] if row else None
    return min(1.0, float(watts) / tflops / float(usual)) if usual and watts else 1.0


def ranges_of(catalog: Catalog, load: str, *, experts: bool, known: bool) -> Ranges:
    """The ranges of serving, rows of ``llm_ranges``, for a mixture of ``experts`` and for a ``known`` board and model or not.

    The load is ``served``, as it comes, a closed ``loop``, ``offline``, or ``other``.
    """
    kind = f"{load}-{'experts' if experts else 'dense'}{'' if known else '-unknown'}"
    rows = (catalog.row("llm_ranges", f"{name}-{kind}") for name in ("token", "first", "rate"))
    return Ranges(*((float(row["low"]), float(row["high"])) for row in rows))


LLM_SPEEDS = ("llm-own", "llm-serving")
"""Items of the assumptions that hold the parameters of serving."""


def speeds_of(catalog: Catalog, model: str = "", gpu: str = "") -> Speeds:
    """The fitted parameters of serving, with a customer's own factors for a model on a GPU, where there are some."""
    items = [catalog.assumptions.get(f"llm-own/{model}/{gpu}"), *map(catalog.assumptions.get, LLM_SPEEDS)]
    facts = {name: fact for item in reversed(items) if item for name, fact in item.facts.items()}
    return Speeds(**{field.name: float(facts[field.name].value) for field in fields(Speeds)})


def overheads_of(catalog: Catalog) -> Overheads:
    """Return the memory of an engine beyond weights and cache."""
    item = catalog.assumptions["llm-memory"]
    return Overheads(**{field.name: float(item.fact(field.name).value) for field in fields(Overheads)})


def key_of(name: str) -> str:
    """Return a name without details in which writers differ: case, blanks, hyphens, makers, endings like Instruct."""
    plain = re.sub(r"^.*/", "", name.lower())
    plain = re.sub(
        r"(?<![a-z])(instruct|chat|hf|it|base|fp8|bf16|nvfp4|awq|gptq|int4|preview|dynamic)(?![a-z])",
        "",
        plain,
    )
    return re.sub(r"[^a-z0-9.]", "", plain.replace("meta-", ""))


ALIKE = {row["name"]: row["model"] for row in own_rows("words/alike_models")}
"""Names of models of the same shape, as sources write them -> id."""


def model_named(catalog: Catalog, name: str) -> Row | None:
    """The row of ``llm_models`` for a name; None if the catalog has none."""
    return _models(catalog).get(key_of(name))


MIG_MODEL_B = 8.5
"""Parameters up to which a model is one of the 8 billion that NVIDIA NIM serves on MIG, in 10^9."""


def is_large(model: Row) -> bool:
    """Return whether a model has more parameters than NVIDIA NIM serves on MIG."""
    return float(model["total_parameters"] or 0) > MIG_MODEL_B


def is_vision(model: Row) -> bool:
    """Return whether a model is one of vision and language, by its name."""
    return bool(re.search(r"(?<![a-z])(vl|vlm|vision)(?![a-z])", str(model["name"]).lower()))


@lru_cache(maxsize=4)
def _models(catalog: Catalog) -> Mapping[str, Row]:
    models: dict[str, Row] = {}
    for row in catalog.rows("llm_models"):
        for name in (row.id, row["name"], row["repository"]):
            models.setdefault(key_of(name), row)
    return models | {name: catalog.row("llm_models", id) for name, id in ALIKE.items()}
