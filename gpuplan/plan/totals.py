"""Totals: the answer in a few numbers, over all pools of hosts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gpuplan.models import availability, placement
from gpuplan.models.availability import failover
from gpuplan.plan.access import GroupPlan
from gpuplan.plan.hosts import Pool, after_loss_line, counted_vms
from gpuplan.plan.trail import Line, Trail
from gpuplan.scenario import Scenario


@dataclass(frozen=True, slots=True)
class Totals:
    """The answer in a few numbers."""

    hosts: int
    hosts_for_demand: int
    hosts_for_failures: int
    gpus: int
    gpus_after_failure: int
    gpus_demanded: float
    unplaced_vms: int
    unplaced_vms_after_failure: int


def totals(
    trail: Trail, scenario: Scenario, asked: Line, pools: Sequence[Pool], groups: Sequence[GroupPlan]
) -> Totals:
    """Sums over the pools."""

    here = trail.about("totals")

    def total(name: str) -> Line:
        parts = {pool.id: trail[f"pools.{pool.id}.{name}"] for pool in pools}
        if len(parts) == 1:
            return here.repeat(name, next(iter(parts.values())))
        return here.add_up(name, availability.sum_over_pools, parts)

    hosts, needed = total("hosts"), total("hosts_for_demand")
    spare, gpus = total("hosts_for_failures"), total("gpus")
    rooms = [room for pool in pools for room in pool.rooms]
    remaining = after_loss_line(here, scenario, gpus, hosts, rooms)
    missing = sum(u.vms for g in groups for u in g.unplaced)
    worst = max((f.unplaced for pool in pools for f in pool.failures), default=0)
    not_placed = here.record("unplaced_vms", placement.place, missing, demand=asked)
    after = here.record(
        "unplaced_vms_after_failure",
        failover.after_failure,
        missing + worst,
        unplaced=not_placed,
        lost=counted_vms("plan/worst_host_failure", worst),
    )
    return Totals(
        hosts=hosts.value,
        hosts_for_demand=needed.value,
        hosts_for_failures=spare.value,
        gpus=gpus.value,
        gpus_after_failure=remaining.value,
        gpus_demanded=asked.value,
        unplaced_vms=missing,
        unplaced_vms_after_failure=after.value,
    )
