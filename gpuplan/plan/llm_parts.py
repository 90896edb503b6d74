"""What the catalog knows of a language model and of a board, as the models of serving take it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields
from typing import TypeVar

from gpuplan.catalog import Catalog, Item, Row
from gpuplan.models.llm.memory import Overheads
from gpuplan.models.llm.serving import Speeds
from gpuplan.models.llm.shape import Board, Shape, shape_of

_T = TypeVar("_T")


def shape_of_row(row: Row) -> Shape:
    """The shape of a row of ``llm_models``; ValueError where it is not known well enough."""
    try:
        return shape_of(row.cells)
    except ValueError as error:
        raise ValueError(f"{row['name']}: {error}") from None


def board_of(gpu: Item | Row, measured: Iterable[Row] = (), driver_share: float = 0.99) -> Board:
    """A board of ``gpus`` or of ``llm_boards``; ValueError where bandwidth or tensor rate are not known.

    Where the memory that the driver shows is not stated, it is 99 % of what the board is sold with, as on the H100 (79.19 of 80 GiB).
    Without NVLink, GPUs talk over 16 lanes of PCI Express: 16 GB/s one way in its third generation, twice that in each later one; so
    do those beyond a bridge. On such a board without a published run of serving, on which the models were fitted, sums reach what
    was ``measured``, rows of ``nccl_rates``.
    """
    value = gpu.value if isinstance(gpu, Item) else gpu.cells.get
    bandwidth, half = value("memory_bandwidth_gb_s"), value("fp16_tensor_tflops")
    name = gpu.name if isinstance(gpu, Item) else gpu["name"]
    if not bandwidth or not half:
        missing = "tensor rate" if bandwidth else "memory bandwidth"
        raise ValueError(f"{name}: its {missing} is not known, so it cannot be sized for a language model")
    link = value("nvlink_gb_s")
    lanes = 16.0 * 2 ** (int(value("pcie_generation") or 4) - 3)
    joined = "PCIe" not in str(value("form_factor") or "")
    shown = value("reported_memory_gib") or float(value("memory_gib") or 0) * driver_share
    own = () if value("llm_runs") else [row for row in measured if row["gpu"] == gpu.id]
    sums = [(int(row["gpus"]), float(row["rate_gb_s"])) for row in own] or (
        [(BRIDGED * 2, lanes)] if link else []
    )
    return Board(
        memory_gib=float(shown),
        bandwidth_gb_s=float(bandwidth),
        fp16_tflops=float(half),
        fp8_tflops=float(value("fp8_tensor_tflops") or 0),
        fp4_tflops=float(value("fp4_tensor_tflops") or 0),
        link_gb_s=float(link) / 2 if link else lanes,
        sums_gb_s=() if joined else tuple(sums),
    )


BRIDGED = 2
"""Boards that an NVLink bridge joins."""


def speeds_of(catalog: Catalog) -> Speeds:
    """The fitted parameters of serving."""
    return _facts(catalog.assumptions["llm-serving"], Speeds)


def overheads_of(catalog: Catalog) -> Overheads:
    """What an engine holds beside weights and cache."""
    return _facts(catalog.assumptions["llm-memory"], Overheads)


def _facts(item: Item, kind: type[_T]) -> _T:
    """A record whose fields are parameters of an item."""
    return kind(**{field.name: float(item.fact(field.name).value) for field in fields(kind)})  # type: ignore[arg-type]
