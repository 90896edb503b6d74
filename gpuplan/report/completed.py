"""Tab completions inside quotes: inputs and their values, figures, charts, tables and examples, as in ``design.set("hardware.``."""

import re
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from gpuplan.catalog import load_catalog
from gpuplan.plan import planned, scenario_of
from gpuplan.report.plot import CHARTS, SPECS, Plot
from gpuplan.report.shown import STEP_OF
from gpuplan.report.tables import TABLES
from gpuplan.report.tables.plan import catalog_choices
from gpuplan.scenario import example_names, field_of
from gpuplan.scenario.sections import SECTIONS

CALL = re.compile(
    r"""(?:(?P<of>[\w.]+)\.)?(?P<call>\w+)\(\s*(?:(?P<first>[\w.]+|"[^"]*"|'[^']*')\s*,\s*)?(?:\{(?:[^{}]*,\s*)?)?["'](?P<typed>[^"']*)$"""
)
"""A call whose first or second argument, or a key of it, is being typed as text."""
PART = re.compile(r"""\b(?P<part>[A-Z]\w+)\((?:[^()]|\([^()]*\))*?\b(?P<input>\w+)=["'](?P<typed>[^"']*)$""")
"""A part of a scenario whose input is being typed as text, as in ``Hardware(gpu="``."""
PATH_OF = {kind.__name__: f"{head}." for head, kind in SECTIONS.items()} | {"Group": "groups.*."}
EXAMPLES = ("load_scenario", "make_plan", "Design", "workbook", "explain", "compare", "report", "check_plan")
"""Functions whose first argument may be the name of an example."""
PLOT = re.compile(r"(?P<of>[\w.]+\.plot)\.(?P<typed>\w*)$")
Names = Callable[[Any], Iterable[str]]


def _paths(of: Any) -> Iterable[str]:
    return scenario_of(of).paths


def _keys(of: Any) -> Iterable[str]:
    return planned(of).lines


def _values(path: str) -> Iterable[str]:
    """What an input may be, where it is a choice or a row of the catalog."""
    spec = field_of(path)
    ids = [id for id, _ in catalog_choices(load_catalog(), spec.table)] if spec.table else spec.choices
    return map(str, ids)


METHODS: Mapping[str, Names] = {
    **dict.fromkeys(("set", "slider", "choice", "with_value", "get", "label", "origin"), _paths),
    "chart": lambda _: SPECS,
    "line": _keys,
    "group": lambda of: (group.id for group in of.groups),
    "pool": lambda of: (pool.id for pool in of.pools),
    "widget": lambda _: STEP_OF,
    "table": lambda _: [*STEP_OF, *TABLES],
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
    match = CALL.search(text) or PART.search(text)
    if match is None:
        return _charts(text, names)
    try:
        return [name for name in _names(match.groupdict(), names) if name.startswith(match["typed"])]
    except (AttributeError, KeyError, ValueError):  # a foreign object with such a method, or no design
        return []


def _names(typed: Mapping[str, str], names: Mapping[str, Any]) -> Iterable[str]:
    """Everything that may stand where text is typed."""
    if "part" in typed:
        return _values(PATH_OF[typed["part"]] + typed["input"])
    call, first = typed["call"], typed["first"]
    if first and first[0] in "'\"" and call in ("set", "choice", "with_value"):
        return _values(first[1:-1])
    if call in EXAMPLES and not first:
        return example_names()
    lookup, of = (FUNCTIONS if first else METHODS).get(call), _named(first or typed["of"] or "", names)
    return () if lookup is None or of is None else lookup(of)


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
    typed = CALL.search(text) or PART.search(text) or PLOT.search(text)
    fragment = typed["typed"] if completions and typed else context.token
    return {"completions": completions, "suppress": bool(completions), "matched_fragment": fragment}
