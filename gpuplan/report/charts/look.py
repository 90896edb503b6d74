"""Look of all charts on a light and a dark screen and on paper, and building blocks of their specifications."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from gpuplan.locales import SPOKEN
from gpuplan.report.colours import OKABE_ITO
from gpuplan.report.drawing import FONT, INK, SIZE, SOFT, WIDTH

Spec = dict[str, Any]

SCHEMA = "https://vega.github.io/schema/vega-lite/v6.1.0.json"
"""Schema of the charts; the name is never fetched."""
MONEY = "replace(replace(replace(format(datum.value, '~s'), 'G', ' bn'), 'M', ' M'), 'k', ' k')"
"""Text style at a money axis."""


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
    font: str = '"Segoe UI", system-ui, -apple-system, Roboto, sans-serif'
    size: int = 12
    small: int = 11


LIGHT = Look(ink="#1a2230", soft="#5a6576", line="#dfe3e9", ground="#ffffff")
DARK = Look(ink="#e8edf4", soft="#9aa7b8", line="#2b3644", ground="#18202b")
PAPER = Look(
    ink=INK, soft=SOFT, line="#dfe3e9", ground="#ffffff", paper=True, font=FONT, size=SIZE, small=SIZE
)
NOTEBOOK = replace(PAPER, ink="currentColor", soft="currentColor", ground="transparent", below=True)
"""Words in the colour of the page around them, light or dark."""


def config(look: Look) -> Spec:
    """Return the Vega-Lite config of every chart; altair takes it, too: ``chart.configure(**config(DARK))``."""
    words = {"labelFontSize": look.size, "titleFontSize": look.size, "titleFontWeight": 400}
    title = {"fontSize": 14, "fontWeight": 600, "anchor": "start"}
    lines = dict.fromkeys(("gridColor", "domainColor", "tickColor"), look.line)
    here = SPOKEN.get()
    number = {"decimal": here.decimal, "thousands": here.thousands, "currency": ["", ""]}
    return {
        "background": look.ground if look.paper else "transparent",
        "font": look.font,
        "view": {"stroke": None},
        "title": {"color": look.ink, "subtitleColor": look.soft, **title},
        "axis": {"labelColor": look.soft, "titleColor": look.soft, **words, **lines},
        "legend": {"labelColor": look.ink, "titleColor": look.soft, **words},
        "header": {"labelColor": look.ink, "titleColor": look.soft},
        "text": {"color": look.ink, "fontSize": look.size},
        "rule": {"color": look.soft},
        "range": {"category": list(OKABE_ITO)},
        "locale": {"number": number | {"grouping": [3, *[here.grouping] * 5]}},
    }


def field(name: str, kind: str = "quantitative", **rest: Any) -> Spec:
    """A field of the rows, and how it is drawn."""
    return {"field": name, "type": kind, **rest}


def as_is(name: str, **rest: Any) -> Spec:
    """Return a field whose values are colours, points or dashes."""
    return field(name, "nominal", scale=None, **rest)


def tooltip(**titles: str) -> list[Spec]:
    """Return the tooltip: field -> its name."""
    return [field(name, "nominal", title=title) for name, title in titles.items()]


def layer(rows: Sequence[Any], mark: str, how: Spec, **encoding: Any) -> Spec:
    """Marks of one kind, one for each row. Screen readers are given the table beside the chart instead."""
    return {"data": {"values": rows}, "mark": {"type": mark, "aria": False, **how}, "encoding": encoding}


def labels(rows: Sequence[Any], name: str, how: Spec, **encoding: Any) -> Spec:
    """Words of the rows, one text for each."""
    return layer(rows, "text", how, text={"field": name}, **encoding)


def names_below(look: Look) -> Spec:
    """Return the position of a legend's names in a notebook."""
    return {"orient": "bottom", "columns": 2} if look.below else {}


def told_apart(name: str, looks: Mapping[str, Any], legend: Spec | None = None) -> Spec:
    """Encode a field so that each value has a distinct colour, point or dash pattern."""
    scale = {"domain": list(looks), "range": list(looks.values())}
    return field(name, "nominal", title=None, scale=scale, **({"legend": legend} if legend else {}))


def named_colours(name: str, colours: Sequence[tuple[str, str]], look: Look, **legend: Any) -> Spec:
    """Encode a field's values as colours, named below the chart on paper and beside it on a screen."""
    scale = {"domain": [value for value, _ in colours], "range": [ink for _, ink in colours]}
    squares = {"symbolType": "square", "symbolSize": 160, "rowPadding": 4}
    key = {"title": None, **squares, **legend, **names_below(look)}
    return field(name, "nominal", scale=scale, legend=key if look.paper else None)


def chart(layers: Sequence[Spec], look: Look, about: str, height: Any, paper_height: Any = 0) -> Spec:
    """Layers as a chart: as wide as its place on a screen, 640 units on paper."""
    fit = {"type": "fit", "contains": "padding"}
    size = {"width": WIDTH, "height": paper_height, "padding": 6, "autosize": fit}
    if not look.paper:
        size = {"width": "container", "height": height, "autosize": {"type": "fit-x", "contains": "padding"}}
    return {"$schema": SCHEMA, **size, "description": about, "layer": list(layers), "config": config(look)}
