"""The plan: ``make_plan(scenario, catalog)`` chains the models, one module a chapter of the plan.

Read ``plan.py`` from top to bottom; ``results.py`` has the records of a plan and the trail behind every number.
"""

from gpuplan.plan.plan import (
    UNASSIGNED,
    Plan,
    fail_hosts,
    gpus_by_rule,
    host_counts,
    make_plan,
    plan_costs,
    plan_totals,
    worst_failures,
)

__all__ = [
    "UNASSIGNED",
    "Plan",
    "fail_hosts",
    "gpus_by_rule",
    "host_counts",
    "make_plan",
    "plan_costs",
    "plan_totals",
    "worst_failures",
]
