"""Failures: which VMs restart where when hosts of a plan fail, and which loss is the worst."""

from collections.abc import Iterable, Sequence
from typing import Any

from gpuplan.models.availability import failover
from gpuplan.models.availability.survey import Loss, failure_survey
from gpuplan.plan.hosts import Pool
from gpuplan.plan.layouts import numbered_from_1
from gpuplan.plan.plan import Plan
from gpuplan.scenario import Field, ScenarioError, as_python, problem, show

WORST_SHOWN = 8
NUMBER = Field("host", "Host", "int", 1)


def fail_hosts(
    plan: Plan, pool_id: str, failed: Sequence[int], maintenance: Sequence[int] = ()
) -> failover.Outcome:
    """Return the outcome when hosts of a pool fail after others were evacuated for maintenance; hosts count from 1."""
    pool = plan.pool(pool_id)
    outcome = failover.after_failure(
        pool.placement,
        requests=pool.requests,
        rooms=pool.rooms,
        failed=_places(pool, failed),
        maintenance=_places(pool, maintenance),
    )
    return outcome._replace(
        evacuated=tuple((group, vm, old + 1, new + 1) for group, vm, old, new in outcome.evacuated),
        restarted=tuple((group, vm, host + 1) for group, vm, host in outcome.restarted),
        moved=tuple((group, vm, old + 1, new + 1) for group, vm, old, new in outcome.moved),
    )


def _places(pool: Pool, hosts: Iterable[int]) -> set[int]:
    """Return the positions of a pool's hosts in its lists; a number that no host has is rejected."""
    numbers = host_numbers(hosts)
    for number in numbers:
        if isinstance(number, bool) or not isinstance(number, int) or not 1 <= number <= pool.hosts:
            key = "limit.host" if pool.hosts else "limit.no hosts"
            raise ScenarioError([problem("host", show(number), key, pool=pool.name, hosts=pool.hosts)])
    return {number - 1 for number in numbers}


def host_numbers(hosts: Iterable[Any]) -> tuple[Any, ...]:
    """Return numbers of hosts as Python integers, also from numpy and pandas and 3.0; all else as it is."""
    return tuple(as_python(NUMBER, host) for host in hosts)


def worst_failures(plan: Plan, pool_id: str, lost: int, maintenance: Sequence[int] = ()) -> tuple[Loss, ...]:
    """Return the losses of every set of hosts of a size, like hosts once, worst first, at most ``WORST_SHOWN``."""
    pool = plan.pool(pool_id)
    if not maintenance and lost == 1:
        return pool.failures
    survey = failure_survey(
        pool.placement,
        requests=pool.requests,
        rooms=pool.rooms,
        lost=lost,
        maintenance=_places(pool, maintenance),
        most=WORST_SHOWN,
    )
    return numbered_from_1(survey)
