"""The plan: ``make_plan(scenario, catalog)`` chains the models, one module a chapter of the plan.

Read ``plan.py`` from top to bottom; ``trail.py`` keeps what is behind every number.
"""

from gpuplan.plan.failures import fail_hosts, worst_failures
from gpuplan.plan.plan import Plan, make_plan
from gpuplan.scenario import UNASSIGNED
