"""gpuplan: size shared-GPU clusters on vSphere, with a source behind every number.

>>> from gpuplan import load_catalog, load_scenario, make_plan
>>> plan = make_plan(load_scenario("enterprise"), load_catalog())
>>> plan.totals.hosts, plan.totals.gpus, plan.totals.gpus_after_failure
(8, 32, 28)
"""

from gpuplan.catalog import Catalog, CatalogError, load_catalog
from gpuplan.plan import Plan, make_plan
from gpuplan.plan.checks import check_plan
from gpuplan.report import plan_dict, plan_frames
from gpuplan.scenario import Scenario, ScenarioError, load_scenario

__version__ = "0.1.0"

__all__ = [
    "Catalog",
    "CatalogError",
    "Plan",
    "Scenario",
    "ScenarioError",
    "__version__",
    "check_plan",
    "load_catalog",
    "load_scenario",
    "make_plan",
    "plan_dict",
    "plan_frames",
]
