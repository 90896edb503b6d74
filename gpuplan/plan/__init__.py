"""The plan: ``make_plan(scenario, catalog)`` chains the models, one module a chapter of the plan.

Read ``plan.py`` from top to bottom; ``trail.py`` records the inputs of every number.
"""

import sys
from types import ModuleType

from gpuplan.catalog import Catalog
from gpuplan.plan import mixed
from gpuplan.plan.failures import fail_hosts, host_numbers, worst_failures
from gpuplan.plan.plan import Asked, Plan, make_plan, of_design, planned, scenario_of
from gpuplan.scenario import UNASSIGNED


class _Callable(ModuleType):
    def __call__(self, asked: Asked, catalog: Catalog | None = None) -> Plan:
        """The plan of a scenario, of an example or a file by its name, or of a design."""
        return planned(asked, catalog)


sys.modules[__name__].__class__ = _Callable
