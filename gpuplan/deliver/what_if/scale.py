"""The scale of the chart: from nothing to a round amount above all costs, in thousandths of its height."""

from __future__ import annotations

import math
from typing import NamedTuple

HEIGHT = 1000
MOST_STEPS = 5
ROUND = (1.0, 2.0, 2.5, 5.0, 10.0)


class Scale(NamedTuple):
    """Round amounts from nothing to the top."""

    step: float
    steps: int

    def at(self, value: float) -> int:
        """How high an amount is."""
        return round(HEIGHT * value / (self.step * self.steps))

    @property
    def marks(self) -> tuple[float, ...]:
        """The amounts that are named."""
        return tuple(self.step * n for n in range(self.steps + 1))


def scale_to(most: float) -> Scale:
    """The scale that holds an amount in a few round steps."""
    if most <= 0:
        return Scale(1.0, 1)
    least = most / MOST_STEPS
    size = 10.0 ** math.floor(math.log10(least))
    step = next(round_ * size for round_ in ROUND if round_ * size >= least)
    return Scale(step, max(1, math.ceil(most / step - 1e-9)))
