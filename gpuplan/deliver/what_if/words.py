"""Words: the name of each slider and figure, its format, and its distance from the design."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from gpuplan.deliver.what_if.answers import Answer
from gpuplan.deliver.what_if.axes import Axis
from gpuplan.locales import written
from gpuplan.report.drawing import clean_text
from gpuplan.wording import money, number, priced, said, short_number, unit_of, watts, whole_percent

MINUS = "\u2212"
ISOLATED = "\u2068{}\u2069"
"""Characters around a name, so that right-to-left letters turn nothing beside it."""


def named(text: str) -> str:
    """Return a name for a sentence: on one line, with its direction isolated."""
    text = clean_text(text)
    return text if text.isascii() else ISOLATED.format(text)


def label(axis: Axis) -> str:
    """Return the name of an axis."""
    key = "bought price" if axis.bought else axis.kind
    return said(f"whatif.{key}", name=named(axis.name), unit=unit_of(2, axis.unit))


def readout(axis: Axis, at: int) -> str:
    """Return a position with its unit."""
    value = axis.values[at]
    if axis.kind == "failures":
        return said("whatif.n", hosts=number(value))
    if axis.kind == "price":
        return money(value, axis.unit)
    return f"{number(value)} {unit_of(value, axis.unit)}"


def tick(axis: Axis, at: int) -> str:
    """Return a short form of a position."""
    value = axis.values[at]
    if axis.kind == "failures":
        return readout(axis, at)
    return short_number(value) if axis.kind == "price" or value >= 10_000 else number(value)


def by(axis: Axis, at: int) -> str:
    """Return the distance of a position from the design, with its sign; empty at the design."""
    now, value = axis.values[axis.own], axis.values[at]
    if axis.kind == "failures" or not now:
        return signed(value - now, number)
    return signed((value - now) / now, whole_percent)


def moved(axis: Axis, at: int) -> str:
    """The same beside the slider."""
    return said("whatif.against", by=by(axis, at)) if at != axis.own else said("whatif.designed")


# Figures


class Measure(NamedTuple):
    """A figure by which a position is compared with the design."""

    key: str
    kind: str = "count"
    """``count``, ``money`` or ``power``."""
    field: str = ""
    """Name of it in the answer, where it is not the key."""

    def of(self, answer: Answer) -> float | None:
        """The figure of an answer; None where it has none."""
        name, parts = self.field or self.key, (answer, answer.totals, answer.cost)
        return next((getattr(part, name) for part in parts if hasattr(part, name)), None)

    def words(self, value: float, currency: str = "") -> str:
        """Return a size, with the given currency or without one where it appears elsewhere."""
        if self.kind == "money":
            return money(value, currency).strip()
        return watts(value) if self.kind == "power" else number(value)

    def said(self, answer: Answer, currency: str = "") -> str:
        """The figure of an answer, or nothing."""
        value = self.of(answer)
        return "" if value is None else self.words(value, currency)

    def by(self, here: Answer, there: Answer, currency: str = "") -> str:
        """Return the signed difference of this answer from the other; empty where they are equal or one is missing."""
        one, other = self.of(here), self.of(there)
        if one is None or other is None:
            return ""
        if self.kind == "money" and abs(other) < 100:  # as many decimals as the figures themselves
            return signed(one - other, lambda size: priced(written(size, ",.2f"), currency).strip())
        return signed(one - other, lambda size: self.words(size, currency))


def signed(difference: float, words: Callable[[float], str]) -> str:
    """Return a difference with its sign, in words of its size; empty where it would read like zero."""
    size = words(abs(difference))
    shown = any(digit in size for digit in "123456789")
    return f"{'+' if difference > 0 else MINUS}{size}" if shown else ""


MEASURES = (
    *map(Measure, ("hosts", "hosts_at_end", "gpus", "gpus_after_failure")),
    Measure("unplaced_after_failure", field="unplaced_vms_after_failure"),
    *(Measure(key, "money") for key in ("net_present", "low", "high", "upfront", "gpu_hour_used")),
    Measure("typical_w", "power"),
)
"""Measures in the order of the table."""
