"""Failures: which VMs restart where when hosts of a plan fail, and which loss is the worst."""

from __future__ import annotations

from collections.abc import Sequence

from gpuplan.models.availability import failover
from gpuplan.plan.plan import Plan

WORST_SHOWN = 8


def fail_hosts(
    plan: Plan, pool_id: str, failed: Sequence[int], maintenance: Sequence[int] = ()
) -> failover.Outcome:
    """What happens when hosts of a pool, numbered from 1, fail after others were emptied for maintenance; the outcome counts from 0."""
    pool = next(p for p in plan.pools if p.id == pool_id)
    return failover.after_failure(
        pool.placement,
        requests=pool.requests,
        rooms=pool.rooms,
        failed={n - 1 for n in failed},
        maintenance={n - 1 for n in maintenance},
    )


def worst_failures(
    plan: Plan, pool_id: str, lost: int, maintenance: Sequence[int] = ()
) -> tuple[failover.Loss, ...]:
    """The loss of any so many hosts of a pool, hosts filled alike once, the worst first and at most ``WORST_SHOWN`` of many."""
    pool = next(p for p in plan.pools if p.id == pool_id)
    if not maintenance and lost == 1:
        return pool.failures
    return failover.failure_survey(
        pool.placement,
        requests=pool.requests,
        rooms=pool.rooms,
        lost=lost,
        maintenance={n - 1 for n in maintenance},
        most=WORST_SHOWN,
    )
