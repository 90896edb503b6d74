"""gpuplan: size shared-GPU clusters on vSphere, with a source behind every number.

>>> from gpuplan import load_catalog, load_scenario, make_plan
>>> plan = make_plan(load_scenario("enterprise"), load_catalog())
>>> plan.totals.hosts, plan.totals.gpus, plan.totals.gpus_after_failure
(8, 32, 28)
"""

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

from gpuplan.showing import WAYS

if TYPE_CHECKING:
    from gpuplan import plan as plan
    from gpuplan import scenario as scenario
    from gpuplan.analysis.compare import compare as compare
    from gpuplan.analysis.power_on import power_on as power_on
    from gpuplan.analysis.same_work import same_work as same_work
    from gpuplan.analysis.solve import solve as solve
    from gpuplan.app import Design as Design
    from gpuplan.app import workbook as workbook
    from gpuplan.catalog import Catalog as Catalog
    from gpuplan.catalog import CatalogError as CatalogError
    from gpuplan.catalog import load_catalog as load_catalog
    from gpuplan.plan import Plan as Plan
    from gpuplan.plan import make_plan as make_plan
    from gpuplan.plan.checks import check_plan as check_plan
    from gpuplan.plan.llm.own_models import own_model as own_model
    from gpuplan.report import explain as explain
    from gpuplan.report import plan_dict as plan_dict
    from gpuplan.report import plan_frames as plan_frames
    from gpuplan.report.exported import sweep as sweep
    from gpuplan.scenario import Availability as Availability
    from gpuplan.scenario import Cost as Cost
    from gpuplan.scenario import Demand as Demand
    from gpuplan.scenario import Group as Group
    from gpuplan.scenario import Hardware as Hardware
    from gpuplan.scenario import Limits as Limits
    from gpuplan.scenario import Management as Management
    from gpuplan.scenario import Network as Network
    from gpuplan.scenario import Note as Note
    from gpuplan.scenario import Origin as Origin
    from gpuplan.scenario import Platform as Platform
    from gpuplan.scenario import Scenario as Scenario
    from gpuplan.scenario import ScenarioError as ScenarioError
    from gpuplan.scenario import Training as Training
    from gpuplan.scenario import load_scenario as load_scenario
    from gpuplan.widgets.chart import Chart as Chart

__version__ = "0.1.0"

_ROOMS = {
    "gpuplan.analysis.compare": ("compare",),
    "gpuplan.analysis.power_on": ("power_on",),
    "gpuplan.analysis.same_work": ("same_work",),
    "gpuplan.analysis.solve": ("solve",),
    "gpuplan.app": ("Design", "workbook"),
    "gpuplan.catalog": ("Catalog", "CatalogError", "load_catalog"),
    "gpuplan.plan": ("Plan", "make_plan"),
    "gpuplan.plan.checks": ("check_plan",),
    "gpuplan.plan.llm.own_models": ("own_model",),
    "gpuplan.report": ("explain", "plan_dict", "plan_frames"),
    "gpuplan.report.exported": ("sweep",),
    "gpuplan.scenario": (
        *(
            "Availability",
            "Cost",
            "Demand",
            "Group",
            "Hardware",
            "Limits",
            "Management",
            "Network",
            "Note",
            "Origin",
        ),
        *("Platform", "Scenario", "ScenarioError", "Training", "load_scenario"),
    ),
    "gpuplan.widgets.chart": ("Chart",),
}
"""Modules that are loaded when one of their names is first used: `import gpuplan` alone takes no time."""
_ROOM_OF = {name: room for room, names in _ROOMS.items() for name in names}
__all__ = ["__version__", "plan", "scenario", *_ROOM_OF]


def __getattr__(name: str) -> Any:
    if name in ("plan", "scenario"):
        return import_module(f"gpuplan.{name}")
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(_ROOM_OF[name]), name)
    return value


def __dir__() -> list[str]:
    return sorted(__all__)


WAYS["card"] = lambda thing: import_module("gpuplan.report.shown").html(thing)
WAYS["standing"] = lambda plan: import_module("gpuplan.analysis.variants").standing(plan)
WAYS["plot"] = lambda plan: import_module("gpuplan.report.plot").Plot(plan)

_KEPT = {
    ("altair.vegalite.v6.api", "TopLevelMixin"): "gpuplan.report.plot",
    ("ipywidgets.widgets.widget_box", "Box"): "gpuplan.widgets.chart",
}
"""Types of other packages in a notebook -> the module whose ``bundle_of`` says what a cell keeps of them."""


def _kept_by(module: str) -> Any:
    return lambda thing, **which: import_module(module).bundle_of(thing, **which)


def _matched(context: Any) -> Any:
    return import_module("gpuplan.report.completed").matched(context)


if "IPython" in sys.modules and (_shell := sys.modules["IPython"].get_ipython()) is not None:
    for _kind, _module in _KEPT.items():
        _shell.display_formatter.mimebundle_formatter.for_type_by_name(*_kind, _kept_by(_module))
    _matched.matcher_api_version = 2  # type: ignore[attr-defined]
    _shell.Completer.custom_matchers.append(_matched)
