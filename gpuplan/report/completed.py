"""Tab completions inside quotes: inputs, figures, charts, steps and tables, as in ``design.set("hardware.``."""

import re
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from gpuplan.plan import planned, scenario_of
from gpuplan.report.plot import CHARTS, SPECS, Plot
from gpuplan.report.shown import STEP_OF
from gpuplan.report.tables import TABLES

CALL = re.compile(
    r"""(?:(?P<of>[\w.]+)\.)?(?P<call>\w+)\(\s*(?:(?P<first>[\w.]+|"[^"]*"|'[^']*')\s*,\s*)?["'](?P<typed>[^"']*)$"""
)
"""A call whose first or second argument is being typed as text."""
PLOT = re.compile(r"(?P<of>[\w.]+\.plot)\.(?P<typed>\w*)$")
Names = Callable[[Any], Iterable[str]]


def _paths(of: Any) -> Iterable[str]:
    return scenario_of(of).paths


def _keys(of: Any) -> Iterable[str]:
    return planned(of).lines


METHODS: Mapping[str, Names] = {
    **dict.fromkeys(("set", "slider", "choice", "with_value", "get", "label", "origin"), _paths),
    "chart": lambda _: SPECS,
    "line": _keys,
    "widget": lambda _: STEP_OF,
}
"""Method -> what its first argument may be."""
FUNCTIONS: Mapping[str, Names] = {
    "sweep": _paths,
    "grid": _paths,
    "explain": _keys,
    "plan_table": lambda _: TABLES,
}


def offered(text: str, names: Mapping[str, Any]) -> list[str]:
    """List completions for the end of a code line, by the variables there are; empty where it is none of our calls."""
    match = CALL.search(text)
    if match is None:
        return _charts(text, names)
    first = match["first"]
    lookup = (FUNCTIONS if first else METHODS).get(match["call"])
    of = _named(first or match["of"] or "", names)
    if lookup is None or of is None:
        return []
    try:
        return [name for name in lookup(of) if name.startswith(match["typed"])]
    except (AttributeError, ValueError):  # a foreign object with such a method, or no design
        return []


def _charts(text: str, names: Mapping[str, Any]) -> list[str]:
    """The charts of a plan after ``plan.plot.``, whose kind the code does not say."""
    match = PLOT.search(text)
    if match is None or not isinstance(_named(match["of"], names), Plot):
        return []
    return [name for name in CHARTS if name.startswith(match["typed"])]


def _named(words: str, names: Mapping[str, Any]) -> Any:
    """Return the object behind dotted names or a quoted text; nothing is called."""
    if words[:1] in ("'", '"'):
        return words[1:-1]
    head, *rest = words.split(".")
    thing = names.get(head)
    for name in rest:
        thing = getattr(thing, name, None)
    return thing


def matched(context: Any) -> Any:
    """The same for IPython, which then offers nothing else, such as files."""
    from IPython.core.completer import SimpleCompletion

    shell = sys.modules["IPython"].get_ipython()
    text = context.text_until_cursor
    completions = [SimpleCompletion(name, type="text") for name in offered(text, shell.user_ns)]
    typed = CALL.search(text) or PLOT.search(text)
    fragment = typed["typed"] if completions and typed else context.token
    return {"completions": completions, "suppress": bool(completions), "matched_fragment": fragment}
