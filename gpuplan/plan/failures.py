"""Failures: which VMs restart where when hosts of a plan fail, and which loss is the worst."""

from __future__ import annotations

from collections.abc import Sequence

from gpuplan.models.availability import failover
from gpuplan.plan.plan import Plan

WORST_SHOWN = 8


def fail_hosts(
    plan: Plan, pool_id: str, failed: Sequence[int], maintenance: Sequence[int] = ()
) -> failover.Outcome:
    """What happens when hosts of a pool fail, others being in maintenance.

    Parameters
    ----------
    plan : Plan
        The plan. [-]
    pool_id : str
        Id of the pool. [-]
    failed : sequence of int
        Numbers of the failed hosts, from 1. [-]
    maintenance : sequence of int
        Numbers of the hosts in maintenance, from 1; they are emptied before the others fail. [-]

    Returns
    -------
    fail_hosts : Outcome
        Loads afterwards, evacuations, restarts, moves and what is not placed; host numbers in it count from 0. [-]
    """
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
    """The loss of any so many hosts of a pool, hosts filled alike once, the worst first.

    Parameters
    ----------
    plan : Plan
        The plan. [-]
    pool_id : str
        Id of the pool. [-]
    lost : int
        Hosts lost at once. [host]
    maintenance : sequence of int
        Numbers of the hosts in maintenance, from 1. [-]

    Returns
    -------
    worst_failures : tuple of Loss
        The worst, at most as many as a reader looks at if there are many kinds; host indices count from 0. [-]
    """
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
