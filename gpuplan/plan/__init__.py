"""The plan: ``make_plan(scenario, catalog)`` chains the models, one module a chapter of the plan.

Read ``plan.py`` from top to bottom; ``trail.py`` keeps what is behind every number.
"""

import sys
from pathlib import Path
from types import ModuleType

from gpuplan.catalog import Catalog
from gpuplan.plan.failures import fail_hosts, worst_failures
from gpuplan.plan.plan import Plan, make_plan, planned
from gpuplan.scenario import UNASSIGNED, Scenario


class _Callable(ModuleType):
    """``gpuplan.plan("enterprise")`` makes a plan, and stays the module."""

    def __call__(self, asked: Plan | Scenario | str | Path, catalog: Catalog | None = None) -> Plan:
        """The plan of a scenario, or of an example or a file by its name."""
        return planned(asked, catalog)


sys.modules[__name__].__class__ = _Callable
