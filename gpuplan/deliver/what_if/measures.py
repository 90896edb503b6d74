"""Measures: the figures by which a position is compared with the design, and how each is written."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from gpuplan.deliver.what_if.answers import Answer
from gpuplan.locales import written
from gpuplan.plan.totals import Totals
from gpuplan.report.figures import CostFigures
from gpuplan.wording import money, number, priced, watts

MINUS = "\u2212"


@dataclass(frozen=True, slots=True)
class Measure:
    """A figure of an answer."""

    key: str
    of: Callable[[Answer], float | None]
    """None where the answer has none."""
    words: Callable[[float, str], str]
    """A size of it, with the currency at hand or an empty one where that stands elsewhere."""
    is_money: bool = False

    def said(self, answer: Answer, currency: str = "") -> str:
        """The figure of an answer, or nothing."""
        value = self.of(answer)
        return "" if value is None else self.words(value, currency)

    def by(self, here: Answer, there: Answer, currency: str = "") -> str:
        """How much more or less it is here than there, with its sign; nothing where it is the same or one has none."""
        one, other = self.of(here), self.of(there)
        if one is None or other is None:
            return ""
        if self.is_money and abs(other) < 100:  # as many decimals as the figures themselves
            return signed(one - other, lambda size: priced(written(size, ",.2f"), currency).strip())
        return signed(one - other, lambda size: self.words(size, currency))


def signed(difference: float, words: Callable[[float], str]) -> str:
    """A difference with its sign, in words of its size; nothing where that would read like none."""
    size = words(abs(difference))
    shown = any(digit in size for digit in "123456789")
    return f"{'+' if difference > 0 else MINUS}{size}" if shown else ""


def _count(key: str) -> Measure:
    return Measure(key, lambda answer: _part(answer.totals, key), lambda value, _: number(value))


def _money(key: str) -> Measure:
    def words(value: float, currency: str) -> str:
        return money(value, currency).strip()

    return Measure(key, lambda answer: _part(answer.cost, key), words, is_money=True)


def _part(of: Totals | CostFigures | None, key: str) -> float | None:
    found: float | None = None if of is None else getattr(of, key)
    return found


MEASURES = (
    _count("hosts"),
    Measure("hosts_at_end", lambda answer: _part(answer.cost, "hosts_at_end"), lambda n, _: number(n)),
    _count("gpus"),
    _count("gpus_after_failure"),
    Measure(
        "unplaced_after_failure",
        lambda answer: answer.totals.unplaced_vms_after_failure,
        lambda value, _: number(value),
    ),
    _money("net_present"),
    _money("low"),
    _money("high"),
    _money("upfront"),
    _money("gpu_hour_used"),
    Measure("typical_w", lambda answer: answer.typical_w, lambda value, _: watts(value)),
)
"""In the order of the table."""
