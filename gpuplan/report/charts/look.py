"""Look of all charts on a light and a dark screen and on paper, and their specifications, of which there is a file each."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from gpuplan.facts import own_specs
from gpuplan.locales import SPOKEN
from gpuplan.report.drawing import FONT, INK, OKABE_ITO, SIZE, SOFT, WIDTH, text_width
from gpuplan.wording import said

Spec = dict[str, Any]

SCHEMA = "https://vega.github.io/schema/vega-lite/v6.1.0.json"
"""Schema of the charts; the name is never fetched."""
MONEY = "replace(replace(replace(format(datum.value, '~s'), 'G', ' bn'), 'M', ' M'), 'k', ' k')"
"""Text style at a money axis."""
WIDE = {"width": "container", "autosize": {"type": "fit-x", "contains": "padding"}}
"""Size of a chart that follows the width of its place."""


@dataclass(frozen=True)
class Look:
    """Colours and sizes of a chart; on paper it has a fixed size and names its colours."""

    ink: str
    soft: str
    """Colour of secondary text."""
    line: str
    ground: str
    """Background of a chart, and the colour between its bars."""
    paper: bool = False
    below: bool = False
    """True if names of colours are below the chart, two in a line: in a notebook it is as narrow as its place."""
    font: str = 'Inter, "Segoe UI", system-ui, -apple-system, Roboto, sans-serif'
    size: int = 12


LIGHT = Look(ink="#1a2230", soft="#5a6576", line="#dfe3e9", ground="#ffffff")
DARK = Look(ink="#e8edf4", soft="#9aa7b8", line="#2b3644", ground="#18202b")
PAPER = Look(ink=INK, soft=SOFT, line="#dfe3e9", ground="#ffffff", paper=True, font=FONT, size=SIZE)
NOTEBOOK = replace(
    PAPER, ink="currentColor", soft="currentColor", line="#8886", ground="transparent", below=True
)
"""Words in the colour of the page around them, light or dark, and lines that both show."""
SHORT_NAME = 150
"""Width of a name up to which two are on a line below a chart in a notebook."""


def config(look: Look) -> Spec:
    """Return the Vega-Lite config of every chart; altair takes it, too: ``chart.configure(**config(DARK))``."""
    here, ground = SPOKEN.get(), look.ground if look.paper else "transparent"
    number = {"decimal": here.decimal, "thousands": here.thousands, "grouping": [3, *[here.grouping] * 5]}
    return filled("config", look, number, background=ground, colours=list(OKABE_ITO))


def drawn(name: str, look: Look, data: Spec, **more: Any) -> Spec:
    """Return the chart of ``NAME.yaml`` in a look, with data filled in."""
    spec = filled(name, look, data, **more)
    return chart(spec["layer"], look, spec["description"], *spec["heights"])


def filled(name: str, look: Look, data: Spec, **more: Any) -> Spec:
    """Return what ``NAME.yaml`` specifies.

    ``$name`` is a value, ``@key`` a text; ``$with`` adds the fields of a value, and a part with ``$if`` is left out where a value is empty.
    """
    spec: Spec = filled_in(
        _template(name), {**vars(look), "money": MONEY, "below": names_below(look), **data, **more}
    )
    return spec


@cache  # reading a file takes 5 ms
def _template(name: str) -> Spec:
    return own_specs("gpuplan.report.charts", name)


def filled_in(part: Any, values: Spec) -> Any:
    """Return a part of a specification with its values and texts."""
    if isinstance(part, str) and part[:1] == "@":
        return said(part[1:], **values)
    if isinstance(part, str):
        return values[part[1:]] if part[:1] == "$" else part
    if isinstance(part, list):
        return [
            filled_in(item, values)
            for item in part
            if not isinstance(item, dict) or "$if" not in item or values[item["$if"]]
        ]
    if not isinstance(part, dict):
        return part
    fields: Spec = {}
    for key, item in part.items():
        if key != "$if":
            fields |= values[item] if key == "$with" else {key: filled_in(item, values)}
    return fields


def names_below(look: Look, names: Iterable[str] = ()) -> Spec:
    """Return the position of a legend's names in a notebook, where they are as wide as their place allows."""
    columns = 1 if any(text_width(name) > SHORT_NAME for name in names) else 2
    fit = {"columns": columns, "labelLimit": {"expr": f"width / {columns} - 30"}}
    return {"orient": "bottom", **fit} if look.below else {}


def named_colours(name: str, colours: Sequence[tuple[str, str]], look: Look, **legend: Any) -> Spec:
    """Encode a field's values as colours, named below the chart on paper and beside it on a screen."""
    scale = {"domain": [value for value, _ in colours], "range": [ink for _, ink in colours]}
    squares = {"symbolType": "square", "symbolSize": 160, "rowPadding": 4}
    key = {"title": None, **squares, **legend, **names_below(look, scale["domain"])}
    return {"field": name, "type": "nominal", "scale": scale, "legend": key if look.paper else None}


def chart(layers: Sequence[Spec], look: Look, about: str, height: Any, paper_height: Any = 0) -> Spec:
    """Layers as a chart: as wide as its place on a screen, 640 units on paper."""
    fit = {"type": "fit", "contains": "padding"}
    size = {"width": WIDTH, "height": paper_height, "padding": 6, "autosize": fit}
    if not look.paper:
        size = WIDE | {"height": height}
    return {"$schema": SCHEMA, **size, "description": about, "layer": list(layers), "config": config(look)}
