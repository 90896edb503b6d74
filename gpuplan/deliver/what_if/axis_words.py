"""Words of the sliders: what each is called, its positions, and how far they are from the design."""

from __future__ import annotations

from gpuplan.deliver.what_if.axes import Axis
from gpuplan.deliver.what_if.measures import signed
from gpuplan.report.drawing import clean_text
from gpuplan.wording import money, number, said, short_number, unit_of, whole_percent

ISOLATED = "\u2068{}\u2069"
"""Around a name, so that its letters from right to left turn nothing beside it."""


def named(text: str) -> str:
    """A name as a sentence holds it: on one line, and its direction its own."""
    text = clean_text(text)
    return text if text.isascii() else ISOLATED.format(text)


def label(axis: Axis) -> str:
    """What an axis is called."""
    key = "bought price" if axis.bought else axis.kind
    return said(f"whatif.{key}", name=named(axis.name), unit=unit_of(2, axis.unit))


def readout(axis: Axis, at: int) -> str:
    """A position with its unit."""
    value = axis.values[at]
    if axis.kind == "failures":
        return said("whatif.n", hosts=number(value))
    if axis.kind == "price":
        return money(value, axis.unit)
    return f"{number(value)} {unit_of(value, axis.unit)}"


def tick(axis: Axis, at: int) -> str:
    """A position where there is little room."""
    value = axis.values[at]
    if axis.kind == "failures":
        return readout(axis, at)
    return short_number(value) if axis.kind == "price" or value >= 10_000 else number(value)


def by(axis: Axis, at: int) -> str:
    """How far a position is from the design, with its sign; nothing at the design."""
    now, value = axis.values[axis.own], axis.values[at]
    if axis.kind == "failures" or not now:
        return signed(value - now, number)
    return signed((value - now) / now, whole_percent)


def moved(axis: Axis, at: int) -> str:
    """The same beside the slider."""
    return said("whatif.against", by=by(axis, at)) if at != axis.own else said("whatif.designed")
