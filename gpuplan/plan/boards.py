"""Boards: the work that a GPU does of another board's, and which VMs of a design run as well on the board of owned hosts."""

import math
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from gpuplan.catalog import Catalog, Item, Row
from gpuplan.facts import Fact, weakest
from gpuplan.plan.hardware import architecture_of
from gpuplan.plan.llm.asks import USES, uses_model
from gpuplan.plan.prices import catalog_factor
from gpuplan.plan.training.speed import LARGE_BATCH, MIXED, usual_workload
from gpuplan.scenario import Group
from gpuplan.wording import NAMES, said


class Work(NamedTuple):
    """Work of one GPU of a board relative to one of another board."""

    ratio: float
    basis: str
    sources: tuple[str, ...]
    how: str


ALIKE = Work(1.0, "assumed", (), said("equivalence.alike"))


def work_of(catalog: Catalog, group: Group, own: str, other: str) -> Work:
    """Return the work of a group that one GPU of another board does, in GPUs of its own board."""
    if own != other and interactive(catalog, group):
        return _in_memory(catalog, own, other)
    if own != other and uses_model(group):
        return Work(1.0, "fitted", ("gpuplan-method",), said("equivalence.model"))
    return speed_of(catalog, group, own, other)


def interactive(catalog: Catalog, group: Group) -> bool:
    """True if each user has a VM open, so that a faster GPU serves no more of them."""
    use_case = catalog.row("use_cases", group.use_case)
    return bool(use_case["interactive"]) and group.workload is None and group.jobs_per_day is None


def _in_memory(catalog: Catalog, own: str, other: str) -> Work:
    """Compare by the VMs that one GPU holds, each with the memory that it has on its own board."""
    facts = [catalog.gpus[gpu].fact("memory_gib") for gpu in (own, other)]
    ratio, sizes = 1 / memory_of(catalog, own, other), {"own": facts[0].value, "other": facts[1].value}
    if ratio == 1 and facts[0].value != facts[1].value:
        return Work(ratio, "assumed", _sources(facts), said("equivalence.little less memory", **sizes))
    return Work(ratio, "derived", _sources(facts), said("equivalence.memory", **sizes))


def memory_of(catalog: Catalog, own: str, other: str) -> float:
    """GPUs of another board that match the memory of one own GPU; one if it has only slightly less."""
    share = relative(catalog.gpus[own], catalog.gpus[other], "memory_gib") or 1.0
    little = float(catalog_factor(catalog, "least_gpu_share").value) <= share < 1
    return 1.0 if little else 1 / share


def speed_of(catalog: Catalog, group: Group, own: str, other: str) -> Work:
    """Return the speed of another board on the work of a group relative to its own board, as published or derived."""
    if own == other:
        return Work(1.0, "derived", (), said("equivalence.same board"))
    if uses_model(group):
        return derived(catalog.gpus[own], catalog.gpus[other])
    if catalog.row("use_cases", group.use_case)["double_precision"]:
        return derived(catalog.gpus[own], catalog.gpus[other], DOUBLE)
    return _on_workload(catalog, usual_workload(catalog, group), own, other)


TENSOR, SINGLE, DOUBLE = "fp16_tensor_tflops", "fp32_tflops", "fp64_tflops"


def _peak(own: Item, other: Item) -> str:
    """Return the peak speed by which networks are compared on two boards; empty where they state none of the same units.

    Single precision is one for boards of an architecture: of others, one may have tensor cores whose speed is not stated.
    """
    if relative(own, other, TENSOR):
        return TENSOR
    alike = own.value("architecture") == other.value("architecture")
    return SINGLE if alike and relative(own, other, SINGLE) else ""


def derived(own: Item, other: Item, peak: str = "") -> Work:
    """Compare by the lesser of memory bandwidth and a peak speed, as most work waits for one of the two; ALIKE if unknown."""
    names = ("memory_bandwidth_gb_s", peak or _peak(own, other))
    ratios = {name: relative(own, other, name) or 0.0 for name in names if name}
    if not all(ratios.values()):
        return ALIKE
    binding, *wider = sorted(ratios, key=lambda name: ratios[name])
    words = {"by": NAMES["board figure"][binding], "times": f"{ratios[binding]:.2g}"}
    for name in wider:
        words |= {"other": NAMES["board figure"][name], "more": f"{ratios[name]:.2g}"}
    how = said("equivalence.derived" if wider else "equivalence.by bandwidth", **words)
    sources = _sources([item.fact(name) for item in (own, other) for name in ratios])
    return Work(ratios[binding], "assumed", sources, how)


def _sources(known: Sequence[Fact | Row]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(source for each in known for source in each.sources))


@lru_cache(maxsize=512)  # a candidate asks for each of its groups: without it the rows are read each time
def _on_workload(catalog: Catalog, workload: str, own: str, other: str) -> Work:
    """Compare by measurements of one series on both boards, or on the boards nearest to them."""
    preset = catalog.row("network_workloads", workload)
    matches, network = [], preset["neural_network"] if preset["batch"] >= LARGE_BATCH else ""
    for series in _series(catalog, network, preset["phase"]) if network else ():
        near_own, near_other = (_nearest(catalog, gpu, series) for gpu in (own, other))
        if near_own and near_other:
            (far, mine), (away, theirs) = near_own, near_other
            boards = ((own, mine), (other, theirs))
            matches.append((far + away, _measured(catalog, preset, series, boards, scaled=far + away > 0)))
    if not matches:
        return derived(catalog.gpus[own], catalog.gpus[other])
    closest = min(distance for distance, _ in matches)
    works = sorted(work for distance, work in matches if distance <= closest + 1e-9)
    return works[(len(works) - 1) // 2]


def _measured(
    catalog: Catalog,
    preset: Row,
    series: Mapping[str, Row],
    boards: Sequence[tuple[str, str]],
    *,
    scaled: bool,
) -> Work:
    """Return the ratio of two measurements of a series, each scaled from the measured board to the intended one."""
    gpus, ratio = catalog.gpus, 1.0
    for (gpu, measured), sign in zip(boards, (-1, 1), strict=True):
        times = derived(gpus[measured], gpus[gpu]).ratio
        ratio *= (float(series[measured]["throughput_per_s"]) * times) ** sign
    rows = [series[measured] for _, measured in boards]
    alike = any(gpu != measured for gpu, measured in boards)
    basis = "derived" if alike else weakest(row.basis for row in rows)
    names = [gpus[board].name for board in dict.fromkeys(measured for _, measured in boards)]
    how = said(
        "equivalence.measured and scaled" if scaled else "equivalence.measured",
        work=preset["name"].split(",")[0],
        boards=names[0] if len(names) == 1 else said("equivalence.two boards", own=names[0], other=names[1]),
    )
    return Work(ratio, "assumed" if scaled else basis, _sources(rows), how)


@lru_cache(maxsize=64)  # reads all published measurements
def _series(catalog: Catalog, network: str, phase: str) -> Sequence[Mapping[str, Row]]:
    """Return results measured together on one GPU each, in mixed precision where available."""
    groups: dict[tuple[Any, ...], dict[str, Row]] = {}
    for row in catalog.rows("workloads"):
        gpu = row["gpu"] or row["gpu_like"]
        kept = gpu and row["gpus"] == 1 and row["scaling"] != "fixed" and row["neural_network"] == network
        if kept and (row["phase"] == "inference") == (phase == "inference"):
            key = (row.sources, row["framework"], row["phase"], row["precision"])
            groups.setdefault(key, {}).setdefault(gpu, row)
    mixed = {key: rows for key, rows in groups.items() if key[-1] in MIXED}
    return tuple((mixed or groups).values())


def _nearest(catalog: Catalog, gpu: str, series: Mapping[str, Row]) -> tuple[float, str] | None:
    """Return (distance, board) of the board of a series nearest in memory bandwidth and peak speed; None if unknown."""
    if gpu in series:
        return 0.0, gpu
    distances, item = [], catalog.gpus[gpu]
    for board in series:
        near = catalog.gpus[board]
        peak = relative(item, near, TENSOR) or relative(item, near, SINGLE)
        if peak and (bandwidth := relative(item, near, "memory_bandwidth_gb_s")):
            distances.append((abs(math.log(bandwidth)) + abs(math.log(peak)), board))
    return min(distances, default=None)


def relative(own: Item, other: Item, name: str) -> float | None:
    """Return a value of another board in parts of the own one; None if one of them is unknown."""
    mine, theirs = own.value(name), other.value(name)
    return float(theirs) / float(mine) if mine and theirs else None


FORMATS = ("fp16", "bf16")
"""Formats of tensor cores that a workload may use unasked; a language model may use every one."""


def lack(catalog: Catalog, group: Group, own: str, other: str) -> str:
    """Return in what another board is less than the design's for the VMs of a group, by key; empty if it does their work.

    Measured speed decides where there is a measurement, else memory bandwidth and peak speed, both of which must be as high.
    """
    mine, theirs = catalog.gpus[own], catalog.gpus[other]
    models = group.use_case in USES
    double = bool(catalog.row("use_cases", group.use_case)["double_precision"])
    missing = _formats(catalog, own) - _formats(catalog, other)
    linked = [float(item.value("nvlink_gb_s") or 0) for item in (mine, theirs)]
    work = derived(mine, theirs) if models else speed_of(catalog, group, own, other)
    lacking = {
        "memory": (relative(mine, theirs, "memory_gib") or 0) < 1,
        "precision": not double and bool(missing if models else missing.intersection(FORMATS)),
        "fp64": double and (relative(mine, theirs, "fp64_tflops") or 0) < 1,
        "nvlink": group.gpus_each > 1 and linked[1] < linked[0],
        "unknown": work == ALIKE,
        "speed": work.ratio < 1 - 1e-9,
    }
    return next((name for name, lacks in lacking.items() if lacks), "")


def _formats(catalog: Catalog, gpu: str) -> frozenset[str]:
    """Formats in which the tensor cores of a board compute."""
    return frozenset(str(architecture_of(catalog, gpu).get("tensor_formats") or "").split("; ")) - {""}
