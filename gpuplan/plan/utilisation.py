"""Utilisation: GPUs allocated on average over the year, and their share of those installed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from gpuplan.facts import Fact, derived
from gpuplan.models import cost, demand
from gpuplan.plan.requests import Requests
from gpuplan.plan.trail import Line, Trail, resting_on
from gpuplan.plan.working_week import Week
from gpuplan.scenario import UNASSIGNED, Scenario
from gpuplan.units import exact


def held_gpus_lines(
    trail: Trail, scenario: Scenario, asked: Requests, by_season: Mapping[str, Mapping[str, Week]]
) -> dict[str, Line]:
    """GPUs that each group holds on average over the year, those of no group like the others, and all together."""
    parts: dict[str, Fact | Line] = {}
    for plan in asked.groups:
        held = [season[plan.id] for season in by_season.values()]
        share = plan.vms_placed / plan.vms if plan.vms else 0.0
        requests = share * sum(float(week.loads.mean()) for week in held) / len(held)
        behind = [scenario.fact(f"groups.{plan.id}.{name}") for name in ("people", "active_share")]
        note = "over all hours of the year, by the group's people, active share and hours"
        parts[plan.id] = trail.about(f"groups.{plan.id}", name=plan.name).compute(
            "held_gpus",
            demand.group_demand_gpus,
            vms=resting_on(behind, f"groups/{plan.id}/requests_under_way", requests, "1", note),
            gpus_each=derived(
                f"groups/{plan.id}/gpus_held", held[0].gpus, "GPU", "GPUs that one of them really takes"
            ),
        )
    if UNASSIGNED in asked.by_group:
        peak = sum(plan.vms_placed * exact(plan.gpus_each) for plan in asked.groups)
        share = min(1.0, sum(float(part.value) for part in parts.values()) / float(peak)) if peak else 1.0
        parts[UNASSIGNED] = derived(
            "demand/unassigned_busy_gpus",
            asked.by_group[UNASSIGNED].vms * share,
            "GPU",
            "stated GPUs of no group, allocated as much of the time as those of the groups; without groups, always",
        )
    whole = trail.add_up("demand.busy_gpus", demand.total_demand_gpus, parts)
    return {key: part for key, part in parts.items() if isinstance(part, Line)} | {"": whole}


def utilisation_line(trail: Trail, scenario: Scenario, busy: Line) -> Line:
    """Share of their time in which the GPUs are used: stated, or what the groups hold on average."""
    stated = scenario.fact("cost.utilisation")
    named: dict[str, Fact | Line] = {"busy_gpus": busy, "gpus": trail["totals.gpus"]}
    if stated.value is not None:
        named["stated"] = replace(stated, key="cost/stated_utilisation")  # the line has the key of the input
    when = "" if stated.value is None else "stated"
    return trail.compute("cost.utilisation", cost.planned_utilisation, named, when=when)
