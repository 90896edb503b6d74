"""The plan: ``make_plan(scenario, catalog)`` chains the models, one module a chapter of the plan.

Read ``plan.py`` from top to bottom; ``trail.py`` records the inputs of every number.
"""

from gpuplan.plan import mixed
from gpuplan.plan.failures import fail_hosts, host_numbers, worst_failures
from gpuplan.plan.plan import Asked, Plan, make_plan, of_design, planned, scenario_of
from gpuplan.scenario import UNASSIGNED

__all__ = ["UNASSIGNED", "Asked", "Plan", "fail_hosts", "host_numbers", "make_plan", "mixed", "of_design"]
__all__ += ["planned", "scenario_of", "worst_failures"]
