"""The same work on another board: how many of its GPUs replace those of the design, with today's memory for each VM."""

import math
from fractions import Fraction
from functools import lru_cache
from typing import Any

from gpuplan.catalog import Catalog
from gpuplan.plan.boards import relative, work_of
from gpuplan.plan.llm import uses_model
from gpuplan.plan.prices import catalog_factor
from gpuplan.plan.working_week import work_fact
from gpuplan.scenario import GROUP_FIELD_BY_NAME, Group, Origin, Scenario, views
from gpuplan.units import exact
from gpuplan.wording import said

CONVERTED = said("equivalence.converted")
"""Opening words of the note on a demand that was stated in GPUs of another board."""


def is_converted(scenario: Scenario) -> bool:
    """True if the demand was converted from another board, in GPUs that do the same work."""
    return any(origin.note.startswith(CONVERTED) for _, origin in scenario.origins)


@lru_cache(maxsize=64)  # candidates that differ in server, link or failures ask for the same
def on_board(scenario: Scenario, catalog: Catalog, gpu: str, of: str = "") -> Scenario:
    """Return the scenario with the demand of a kind of hosts in GPUs of another board that do the same work.

    Each VM keeps its memory; without a kind it is the first.
    """
    of = of or scenario.hardware.of
    board, before = next(view for view in views(scenario) if view.hardware.of == of).hardware.gpu, scenario
    for group in before.groups:
        if uses_model(group) or group.profile or (group.hosts or "") != of:
            continue  # the plan works out what it takes of each board; a profile, and other hosts, are one board's
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
    share = relative(catalog.gpus[own], catalog.gpus[gpu], "memory_gib") or 1.0
    little = float(catalog_factor(catalog, "least_gpu_share").value) <= share < 1
    return 1.0 if little else 1 / share


def _gpus(scenario: Scenario) -> float:
    """GPUs of all groups at their peaks."""
    groups = [g for g in scenario.groups if not uses_model(g) and not g.hosts]
    return sum(math.ceil(g.people * g.active_share - 1e-9) * g.vms_each * g.gpus_each for g in groups)


def _changed(given: Scenario, catalog: Catalog, group: Group, ratio: float, memory: float) -> dict[str, Any]:
    """Inputs of a group that change where a GPU does ``ratio`` of the work and ``memory`` of its own fill one of the other.

    Jobs take their time by the ratio; else a faster GPU is divided as memory allows, a slower one makes more VMs.
    """
    changed: dict[str, Any] = {"gpus_each": _each(group, ratio, memory)}
    rest = float(group.gpus_each) / ratio  # GPUs of the other board that do what a VM does
    if group.jobs_per_day is not None:
        hours = float(work_fact(given, catalog, group).value) / ratio
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
