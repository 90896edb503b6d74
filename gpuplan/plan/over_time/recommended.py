"""Settings of vSphere that were not stated: the design takes the values under which most VMs start.

vGPUs of mixed sizes are never recommended: their hosts would be laid out anew, and a guaranteed share is lost.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from gpuplan.catalog import Catalog
from gpuplan.models.power_on.cluster import LARGEST
from gpuplan.plan.access import GroupPlan
from gpuplan.plan.hosts import Pool
from gpuplan.plan.over_time.power_on import PowerOn, distinct, starts_of
from gpuplan.plan.over_time.rehearsal import FEW_LOOKS, rehearsed_of
from gpuplan.plan.over_time.rules import CONSOLIDATION, OPEN, alike, is_open, lacks
from gpuplan.plan.over_time.tried import Tried, setting_words, vms_words
from gpuplan.scenario import Origin, Scenario
from gpuplan.wording import said

MOST_MOVES = 8
"""More than the settings have values together."""


def recommended(
    scenario: Scenario, catalog: Catalog, groups: Sequence[GroupPlan], pools: Sequence[Pool]
) -> Mapping[str, PowerOn]:
    """Power-on in each cluster by its id, with the open settings as recommended.

    Those under which most orders start every VM; of equal ones those with which hosts are upgraded one by one. Where
    hosts are sized for orders, they have decided.
    """

    def made(way: Scenario) -> Mapping[str, PowerOn]:
        return starts_of(way, catalog, groups, pools)

    def upgrades(way: Scenario, *looks: int) -> bool:
        rehearsals = rehearsed_of(way, catalog, groups, pools, dict)
        return all(each.works_unasked(*looks) for each in rehearsals.values() if each.pool.hosts_for_failures)

    starts, all_start = made(scenario), False
    for _ in range(MOST_MOVES if scenario.availability.sized_for == "best" else 0):
        better, all_start = (None, True) if all_start else _better(starts)
        if better is None and not upgrades(scenario):
            ways = _ways(scenario, catalog, said("power on.recommended for upgrades"))[1:]
            works = (way for way in ways if upgrades(way, FEW_LOOKS))
            better = next((way for way in works if worst(made(way)) >= worst(starts)), None)
        if better is None:
            break
        scenario, starts = better, made(better)
    return starts


def _better(starts: Mapping[str, PowerOn]) -> tuple[Scenario | None, bool]:
    """Return the scenario with the value of an open setting under which more VMs start, and if all, in any order; or None."""
    clusters, worst = _mixed(starts), dict[str, Tried]()
    ways = {key: start.settings[key] for start in clusters for key in start.settings if start.is_open(key)}
    for key in ("now", *ways, LARGEST, *(f"{way}, {LARGEST}" for way in ways)) if ways else ():
        worst[key] = min((_tried(start, key) for start in clusters), key=lambda each: each.score)
        if worst[key].all_start:
            break
    best = max(worst, key=lambda key: worst[key].score, default="now")
    if (setting := ways.get(best.partition(", ")[0])) is None:
        return None, False
    tried, values = worst[best], {"way": setting_words(best), "orders": worst[best].short_words}
    case = "power on.recommended" if tried.all_start else "power on.recommended of all"
    reason = said(case, **values, vms=vms_words(*tried.stuck))
    return _recommended(setting.scenario, setting.path, reason), tried.all_start and LARGEST not in best


def _tried(start: PowerOn, key: str) -> Tried:
    """Return the outcome of a way in a cluster, which may not have its setting."""
    way, _, order = key.partition(", ")
    return start.tried(key if way in ("now", LARGEST, *start.settings) else order or "now")


def _mixed(starts: Mapping[str, PowerOn]) -> list[PowerOn]:
    """Return the clusters in which orders differ."""
    return [start for start in distinct(starts) if not alike(start.pool.requests)]


def worst(starts: Mapping[str, PowerOn]) -> tuple[float, ...]:
    """Return the score of the cluster in which fewest VMs start, in any order or the largest first."""
    return min((start.as_planned.score for start in _mixed(starts)), default=())


def _recommended(scenario: Scenario, path: str, reason: str) -> Scenario:
    return scenario.with_origin(path, Origin("assumed", "gpuplan-method", note=reason))


def _ways(scenario: Scenario, catalog: Catalog, reason: str) -> list[Scenario]:
    """Return the scenario with each value of its open settings, recommended for a reason; unchanged first."""
    ways = [scenario]
    for path in OPEN:
        known = path == CONSOLIDATION and lacks(scenario.platform.vsphere, catalog, "host-consolidate")
        if is_open(scenario, path) and not known:
            now, name = scenario.get(path), path.partition(".")[2]
            value: Any = not now if path == CONSOLIDATION else "group" if now == "spread" else "spread"
            others = [replace(way, platform=replace(way.platform, **{name: value})) for way in ways]
            ways += [_recommended(way, path, reason) for way in others]
    return ways


def for_orders(
    scenario: Scenario, catalog: Catalog, groups: Sequence[GroupPlan], best: Sequence[Pool]
) -> Scenario:
    """Return the scenario with the open settings under which most VMs start in any order on the best arrangement.

    With them the required share of orders takes the fewest hosts, in nearly all designs.
    """

    def starting(way: Scenario) -> tuple[float, ...]:
        results = [start.now for start in _mixed(starts_of(way, catalog, groups, best))]
        return min(((*now.chance, -now.missing[1], -now.missing[0]) for now in results), default=())

    return max(_ways(scenario, catalog, said("power on.recommended for orders")), key=starting)


def set_up_as(scenario: Scenario, decided: Scenario) -> Scenario:
    """Return a scenario with the open settings of another one, and their reasons."""
    for path in OPEN:
        if is_open(scenario, path) and scenario.get(path) != decided.get(path):
            scenario = scenario.with_value(path, decided.get(path)).with_origin(path, decided.origin(path))
    return scenario
