"""Waiting: how often a request has to wait in the busiest hours, normally and after a failure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from gpuplan.catalog import Catalog
from gpuplan.facts import Fact, derived
from gpuplan.plan.access import GroupPlan
from gpuplan.plan.demand import peakedness_fact
from gpuplan.plan.hosts import Pool, whole_pools
from gpuplan.plan.sizing_rule import FUNCTIONS, Target, odds_of, peakedness_range
from gpuplan.plan.trail import Line, Trail
from gpuplan.plan.working_week import Week, mixes
from gpuplan.scenario import Scenario


def waiting_lines(
    trail: Trail,
    scenario: Scenario,
    catalog: Catalog,
    pools: Sequence[Pool],
    groups: Sequence[GroupPlan],
    by_season: Mapping[str, Mapping[str, Week]],
) -> dict[str, Line]:
    """Lines for the chance that a request has to wait in the busiest hours, normally and after a failure.

    A closed group of people where all are one, else as bursty as is stated or planned for. ``by_season`` are the weeks of the
    year with what each group holds.
    """
    target = replace(Target.of(scenario), rule="wait")
    busy = []
    for pool in whole_pools(pools).values():
        for mix in mixes(by_season, [g.id for g in groups if g.pool == pool.kind and g.mode]):
            odds = odds_of(mix, target)
            closed = odds.known("closed")
            z = 1.0 if closed or not odds.asks else peakedness_range(scenario, catalog, odds)[1]
            counts, method = (pool.gpus, pool.gpus_after_failure), "closed" if closed else "bursty"
            busy.append((counts, [odds.chance(gpus, method, z) for gpus in counts], method, mix.gpus, z))
    for at, (key, about) in enumerate(
        (("waiting", "installed"), ("waiting_after_failure", "left after a failure"))
    ):
        found = [
            (chances[at], method, counts[at], load_gpus, z) for counts, chances, method, load_gpus, z in busy
        ]
        if not found:
            continue
        chance, method, gpus, load, z = max(found)
        inputs: dict[str, Fact | Line] = {
            "gpus": derived(f"plan/GPUs {about}", gpus, "GPU", "in the pool where it is most likely"),
            "load": derived("plan/GPUs needed on average", load, "GPU", "in its busiest hours"),
        }
        if method == "bursty":
            inputs["peakedness"] = peakedness_fact(scenario, catalog, z)
        bursts = {"bursts": ", peakedness {peakedness}" * (method == "bursty")}
        trail.record(f"totals.{key}", FUNCTIONS[method, "wait"], 100 * chance, inputs, words=bursts)
    return trail.lines
