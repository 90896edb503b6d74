"""Words: what each slider and each figure is called, how it is written, and how far it is from the design."""

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


# Figures


class Measure(NamedTuple):
    """A figure by which a position is compared with the design."""

    key: str
    kind: str = "count"
    """``count``, ``money`` or ``power``."""

    def of(self, answer: Answer) -> float | None:
        """The figure of an answer; None where it has none."""
        name = {"unplaced_after_failure": "unplaced_vms_after_failure"}.get(self.key, self.key)
        parts = (answer, answer.totals, answer.cost)
        return next((getattr(part, name) for part in parts if hasattr(part, name)), None)

    def words(self, value: float, currency: str = "") -> str:
        """A size of it, with the currency at hand or an empty one where that stands elsewhere."""
        if self.kind == "money":
            return money(value, currency).strip()
        return watts(value) if self.kind == "power" else number(value)

    def said(self, answer: Answer, currency: str = "") -> str:
        """The figure of an answer, or nothing."""
        value = self.of(answer)
        return "" if value is None else self.words(value, currency)

    def by(self, here: Answer, there: Answer, currency: str = "") -> str:
        """How much more or less it is here than there, with its sign; nothing where it is the same or one has none."""
        one, other = self.of(here), self.of(there)
        if one is None or other is None:
            return ""
        if self.kind == "money" and abs(other) < 100:  # as many decimals as the figures themselves
            return signed(one - other, lambda size: priced(written(size, ",.2f"), currency).strip())
        return signed(one - other, lambda size: self.words(size, currency))


def signed(difference: float, words: Callable[[float], str]) -> str:
    """A difference with its sign, in words of its size; nothing where that would read like none."""
    size = words(abs(difference))
    shown = any(digit in size for digit in "123456789")
    return f"{'+' if difference > 0 else MINUS}{size}" if shown else ""


MEASURES = (
    *map(Measure, ("hosts", "hosts_at_end", "gpus", "gpus_after_failure", "unplaced_after_failure")),
    *(Measure(key, "money") for key in ("net_present", "low", "high", "upfront", "gpu_hour_used")),
    Measure("typical_w", "power"),
)
"""In the order of the table."""
