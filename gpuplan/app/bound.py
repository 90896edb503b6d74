"""An input of a design as a slider or a choice of ipywidgets: moving it sets the input, and other changes move it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ipywidgets import Dropdown, FloatSlider, IntSlider, Layout

from gpuplan.analysis.variants import has_input
from gpuplan.app.holding import Holding
from gpuplan.catalog import Catalog
from gpuplan.report.tables.known import input_words
from gpuplan.report.tables.plan import catalog_choices
from gpuplan.scenario import Field, Problem, ScenarioError, field_of, show

WIDTH = "min(100%, 34rem)"
"""Width of a slider: its label, a track that a hand can set, and its value."""
REFUSED = "#d55e00"
"""Colour of a handle whose last value was refused."""
STYLE = {"description_width": "initial"}


def slider(design: Holding, path: str, low: float, high: float, step: float = 1) -> FloatSlider:
    """Return a slider for a number; its ends give way to a value set elsewhere."""
    spec, now = field_of(path), design.plan.planned(path)
    if isinstance(now, str | bool) or spec.kind in ("id", "bool"):
        raise ScenarioError(
            [Problem(path, show(now), "a number for a slider; design.choice offers what it may be")]
        )
    whole = spec.kind == "int" and all(float(end).is_integer() for end in (low, high, step))
    kind, form = (IntSlider, "d") if whole else (FloatSlider, _form(spec.kind, step))
    ends = {"value": low, "min": low, "max": high, "step": step}
    made = kind(**ends, readout_format=form, style=STYLE, layout=Layout(width=WIDTH))

    def put(value: Any) -> None:
        if value is not None:
            made.min, made.max = min(made.min, value), max(made.max, value)
            made.value = value

    return _bound(design, path, made, put)


def choice(design: Holding, path: str, *values: Any) -> Dropdown:
    """Return a choice among the values of an input, by name: all of them, or some."""
    spec = field_of(path)
    known = list(values or _there(design.state.catalog, spec))
    made = Dropdown(style=STYLE, layout=Layout(width=WIDTH))

    def put(value: Any) -> None:
        if value not in known:
            known.append(value)
        made.options = [(input_words(design.plan, path, each), each) for each in known]
        made.value = value

    return _bound(design, path, made, put)


def _there(catalog: Catalog, spec: Field) -> tuple[Any, ...]:
    """Return all values of an input; raise ScenarioError if it is no choice."""
    if spec.kind not in ("choice", "bool", "id"):
        raise ScenarioError([Problem(spec.path, show(spec.kind), "a choice; design.slider moves a number")])
    found: tuple[Any, ...] = (True, False) if spec.kind == "bool" else spec.choices
    if spec.table:
        found = tuple(id for id, _ in catalog_choices(catalog, spec.table))
    return (None, *found) if spec.optional else found


def _form(kind: str, step: float) -> str:
    """Return the number format of a slider: as many digits as its step has."""
    digits = max(0, len(f"{step:.6f}".rstrip("0").partition(".")[2]) - 2 * (kind == "share"))
    return f".{digits}{'%' if kind == 'share' else 'f'}"


def _bound(design: Holding, path: str, made: Any, put: Callable[[Any], None]) -> Any:
    """Tie a widget to an input: a value that cannot be planned springs back, and the widget says so."""
    following = False

    def follow(_change: Any = None) -> None:
        nonlocal following
        made.disabled = not has_input(design.scenario, path)
        if not made.disabled:
            following = True
            try:
                put(design.plan.planned(path))
            finally:
                following = False
            said("")

    def said(why: str, value: Any = None) -> None:
        label = design.scenario.label(path)
        made.description = f"{label}: {show(value)} refused" if why else label
        made.tooltip = why or label
        if made.style.has_trait("handle_color"):
            made.style.handle_color = REFUSED if why else None

    def moved(change: Any) -> None:
        if following:
            return
        try:
            design.scenario = design.scenario.with_value(path, change["new"])
        except ValueError as error:  # of the scenario, or of a model that cannot answer
            follow()
            said(str(error), change["new"])

    follow()
    made.add_class("gp-input")
    made.observe(moved, "value")
    design.observe(follow, "plan")
    return made
