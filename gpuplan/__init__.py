"""gpuplan: size shared-GPU clusters on vSphere, with a source behind every number.

>>> from gpuplan import load_catalog, load_scenario, make_plan
>>> plan = make_plan(load_scenario("enterprise"), load_catalog())
>>> plan.totals.hosts, plan.totals.gpus, plan.totals.gpus_after_failure
(8, 32, 28)
"""

import sys
from importlib import import_module
from pathlib import Path
from typing import Any

from gpuplan.showing import WAYS

__version__ = "0.1.0"

_TYPED = Path(__file__).with_suffix(".pyi").read_text(encoding="utf-8")
_ROOM_OF = {words[3]: words[1] for words in map(str.split, _TYPED.splitlines()) if words[:1] == ["from"]}
"""Public name -> its room, which is loaded when the name is first used: `import gpuplan` alone takes no time."""
__all__ = ["__version__", *_ROOM_OF]


def __getattr__(name: str) -> Any:
    if name not in _ROOM_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if (room := _ROOM_OF[name]) == __name__:
        return import_module(f"{room}.{name}")
    try:
        return globals().setdefault(name, getattr(import_module(room), name))
    except ModuleNotFoundError as error:
        return import_module("gpuplan.extras").stand_in(error)


def __dir__() -> list[str]:
    return sorted(__all__)


WAYS["report"] = lambda *args, **options: import_module("gpuplan.deliver").report(*args, **options)
WAYS["card"] = lambda thing: import_module("gpuplan.report.shown").html(thing)
WAYS["standing"] = lambda plan: import_module("gpuplan.analysis.variants").standing(plan)
WAYS["frame"] = lambda study: import_module("gpuplan.report.studies").frame_of(study)
WAYS["study"] = lambda study, figure: import_module("gpuplan.report.plot").study(study, figure)
WAYS["progress"] = lambda: (
    import_module("gpuplan.report.plot").progress_line() if "IPython" in sys.modules else None
)
WAYS["plot"] = lambda plan: import_module("gpuplan.report.plot").Plot(plan)


def _matched(context: Any) -> Any:
    return import_module("gpuplan.report.completed").matched(context)


if "IPython" in sys.modules and (_shell := sys.modules["IPython"].get_ipython()) is not None:
    _matched.matcher_api_version = 2  # type: ignore[attr-defined]
    _shell.Completer.custom_matchers.append(_matched)
