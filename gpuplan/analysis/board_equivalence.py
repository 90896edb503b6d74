"""The same work on another board: how many of its GPUs replace those of the design, with today's memory for each VM."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any, NamedTuple

from gpuplan.catalog import Catalog, Item, Row
from gpuplan.facts import weakest
from gpuplan.plan.llm import uses_model
from gpuplan.plan.prices import catalog_factor
from gpuplan.plan.training.speed import LARGE_BATCH, MIXED, usual_workload
from gpuplan.plan.working_week import work_fact
from gpuplan.scenario import GROUP_FIELD_BY_NAME, Group, Origin, Scenario
from gpuplan.units import exact
from gpuplan.wording import said


class Work(NamedTuple):
    """Work of one GPU of a board relative to one of another board."""

    ratio: float
    basis: str
    sources: tuple[str, ...]
    how: str


ALIKE = Work(1.0, "assumed", (), said("equivalence.alike"))


def work_of(catalog: Catalog, group: Group, own: str, other: str) -> Work:
    """Return the work of a group that one GPU of another board does, in GPUs of its own board."""
    if own == other:
        return Work(1.0, "derived", (), said("equivalence.same board"))
    if uses_model(group):
        return Work(1.0, "fitted", ("gpuplan-method",), said("equivalence.model"))
    use_case = catalog.row("use_cases", group.use_case)
    if use_case["double_precision"]:
        return _in_double_precision(catalog.gpus[own], catalog.gpus[other])
    return _on_workload(catalog, usual_workload(catalog, group), own, other)


def _in_double_precision(own: Item, other: Item) -> Work:
    """Compare by the lesser of double precision and memory bandwidth, as most such work waits for one of the two."""
    speed, bandwidth = (_times(own, other, name) for name in ("fp64_tflops", "memory_bandwidth_gb_s"))
    if speed is None or bandwidth is None:
        return ALIKE
    facts = [item.fact(name) for item in (own, other) for name in ("fp64_tflops", "memory_bandwidth_gb_s")]
    sources = tuple(dict.fromkeys(source for fact in facts for source in fact.sources))
    how = said("equivalence.double precision", speed=f"{speed:.2g}", bandwidth=f"{bandwidth:.2g}")
    return Work(min(speed, bandwidth), "assumed", sources, how)


@lru_cache(maxsize=512)  # a candidate asks for each of its groups: without it the rows are read each time
def _on_workload(catalog: Catalog, workload: str, own: str, other: str) -> Work:
    """Compare by measurements of one series on both boards, or on the boards nearest to them."""
    preset = catalog.row("network_workloads", workload)
    if preset["batch"] < LARGE_BATCH or not preset["neural_network"]:
        return ALIKE
    matches = []
    for series in _series(catalog, preset["neural_network"], preset["phase"]):
        near_own, near_other = (_nearest(catalog, gpu, series) for gpu in (own, other))
        if near_own and near_other:
            (far, mine), (away, theirs) = near_own, near_other
            matches.append((far + away, _measured(catalog, preset, series, (own, mine), (other, theirs))))
    if not matches:
        times = _both(catalog.gpus[own], catalog.gpus[other])
        return Work(min(times), "assumed", (), said("equivalence.scaled")) if times else ALIKE
    closest = min(distance for distance, _ in matches)
    works = sorted(work for distance, work in matches if distance <= closest + 1e-9)
    return works[(len(works) - 1) // 2]


def _measured(
    catalog: Catalog, preset: Row, series: Mapping[str, Row], own: tuple[str, str], other: tuple[str, str]
) -> Work:
    """Return the ratio of two measurements of a series, each scaled from the measured board to the intended one."""
    gpus, ratio, scaled = catalog.gpus, 1.0, False
    for (gpu, measured), sign in ((own, -1), (other, 1)):
        times = _both(gpus[measured], gpus[gpu]) or (1.0, 1.0)
        ratio *= (float(series[measured]["throughput_per_s"]) * min(times)) ** sign
        scaled = scaled or times != (1.0, 1.0)
    rows = [series[own[1]], series[other[1]]]
    basis = "derived" if own[0] != own[1] or other[0] != other[1] else weakest(row.basis for row in rows)
    names = [gpus[board].name for board in dict.fromkeys((own[1], other[1]))]
    how = said(
        "equivalence.measured and scaled" if scaled else "equivalence.measured",
        work=preset["name"].split(",")[0],
        boards=names[0] if len(names) == 1 else said("equivalence.two boards", own=names[0], other=names[1]),
    )
    sources = tuple(dict.fromkeys(source for row in rows for source in row.sources))
    return Work(ratio, "assumed" if scaled else basis, sources, how)


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
    distances = []
    for other in series:
        times = _both(catalog.gpus[gpu], catalog.gpus[other])
        if times:
            distances.append((sum(abs(math.log(ratio)) for ratio in times), other))
    return min(distances, default=None)


def _both(own: Item, other: Item) -> tuple[float, float] | None:
    """Return memory bandwidth and peak speed of another board relative to the own board; None if either is unknown."""
    bandwidth = _times(own, other, "memory_bandwidth_gb_s")
    peak = _times(own, other, "fp16_tensor_tflops") or _times(own, other, "fp32_tflops")
    return (bandwidth, peak) if bandwidth and peak else None


def _times(own: Item, other: Item, name: str) -> float | None:
    mine, theirs = own.value(name), other.value(name)
    return float(theirs) / float(mine) if mine and theirs else None


# What that makes of the demand


CONVERTED = said("equivalence.converted")
"""Opening words of the note on a demand that was stated in GPUs of another board."""


def is_converted(scenario: Scenario) -> bool:
    """True if the demand was converted from another board, in GPUs that do the same work."""
    return any(origin.note.startswith(CONVERTED) for _, origin in scenario.origins)


@lru_cache(maxsize=64)  # candidates that differ in server, link or failures ask for the same
def on_board(scenario: Scenario, catalog: Catalog, gpu: str) -> Scenario:
    """Return the scenario with its demand in GPUs of another board that do the same work; each VM keeps its memory."""
    board, before = scenario.hardware.gpu, scenario
    for group in before.groups:
        if uses_model(group):
            continue  # the plan works out what it takes of each board
        work = work_of(catalog, group, board, gpu)
        memory = _memory(catalog, board, gpu)
        for name, value in _changed(before, catalog, group, work.ratio, memory).items():
            path = f"groups.{group.id}.{name}"
            values = {"value": getattr(group, name), "board": catalog.gpus[board].name, "how": work.how}
            note = f"{CONVERTED} {said('equivalence.of board', **values)}"
            scenario = scenario.with_value(path, value)
            scenario = scenario.with_origin(path, Origin("assumed", "gpuplan-method", note=note))
    stated = before.deciding_total_gpus
    if stated is not None:
        rest = (stated - _gpus(before)) / work_of(catalog, Group("all", "All"), board, gpu).ratio
        scenario = scenario.with_value("demand.stated_gpus", max(1, math.ceil(_gpus(scenario) + rest - 1e-9)))
    return scenario


def _memory(catalog: Catalog, own: str, gpu: str) -> float:
    """GPUs of a board that match the memory of one own GPU; one if it has only slightly less."""
    share = _times(catalog.gpus[own], catalog.gpus[gpu], "memory_gib") or 1.0
    little = float(catalog_factor(catalog, "least_gpu_share").value) <= share < 1
    return 1.0 if little else 1 / share


def _gpus(scenario: Scenario) -> float:
    """GPUs of all groups at their peaks."""
    return sum(
        math.ceil(g.people * g.active_share - 1e-9) * g.vms_each * g.gpus_each
        for g in scenario.groups
        if not uses_model(g)
    )


def _changed(
    scenario: Scenario, catalog: Catalog, group: Group, ratio: float, memory: float
) -> Mapping[str, Any]:
    """Inputs of a group that change where a GPU does ``ratio`` of the work and ``memory`` of its own fill one of the other.

    Work that is stated by the piece takes its time by the ratio. Else a faster GPU is divided, as far as the memory allows, or a
    VM has fewer; a slower one makes whole GPUs more VMs, and a part of a GPU a larger part.
    """
    changed: dict[str, Any] = {"gpus_each": _each(group, ratio, memory)}
    rest = float(group.gpus_each) / ratio  # GPUs of the other board that do what a VM does
    if group.jobs_per_day is not None:
        hours = float(work_fact(scenario, catalog, group).value) / ratio
        changed["work_h"] = min(max(hours, _limit("work_h").low), _limit("work_h").high)
        changed["gpus_each"] = _each(group, 1.0, memory)
    elif group.vms_each > 1 and group.gpus_each >= 1:
        changed["vms_each"] = math.ceil(group.vms_each / ratio - 1e-9)
        changed["gpus_each"] = _each(group, 1.0, memory)
    elif ratio < 1 and rest > changed["gpus_each"]:
        people = math.ceil(group.people * rest / changed["gpus_each"] - 1e-9)
        changed["people"] = min(people, int(_limit("people").high))
    return {name: value for name, value in changed.items() if value != getattr(group, name)}


def _limit(name: str) -> Any:
    return GROUP_FIELD_BY_NAME[name]


def _each(group: Group, ratio: float, memory: float) -> float:
    """GPUs of the other board for a VM: enough for its memory, and a part of a GPU where an own GPU may be shared."""
    gpus = exact(group.gpus_each)
    least = max(gpus / exact(max(ratio, 1.0) if gpus >= 1 else ratio), gpus * exact(memory))
    whole = group.isolation or group.access == "passthrough" or group.vgpus_each > 1
    if group.vgpus_each > 1 or (gpus <= 1 and whole):
        least = max(gpus, gpus * exact(memory))
    if least > 1 or gpus > 1:
        return float(min(max(1, math.ceil(least - Fraction(1, 10**9))), 16)) if gpus >= 1 else 1.0
    return float(Fraction(1, int(1 / least + Fraction(1, 10**9))))
