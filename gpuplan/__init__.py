"""gpuplan: size shared-GPU clusters on vSphere, with a source behind every number.

>>> from gpuplan import load_catalog, load_scenario, make_plan
>>> plan = make_plan(load_scenario("enterprise"), load_catalog())
>>> plan.totals.hosts, plan.totals.gpus, plan.totals.gpus_after_failure
(8, 32, 28)
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
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

_ROOMS = {
    "gpuplan.catalog": ("Catalog", "CatalogError", "load_catalog"),
    "gpuplan.scenario": ("Scenario", "ScenarioError", "load_scenario"),
    "gpuplan.plan": ("Plan", "make_plan"),
    "gpuplan.plan.checks": ("check_plan",),
    "gpuplan.report": ("plan_dict", "plan_frames"),
}
"""What is loaded when one of its names is first used: `import gpuplan` alone takes no time."""
_ROOM_OF = {name: room for room, names in _ROOMS.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _ROOM_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(_ROOM_OF[name]), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
