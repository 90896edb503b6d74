"""Ranges of totals: by hand, at their limits, and against draws of every cause at random."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuplan.models.uncertainty import combined_range

MOVES = st.lists(st.tuples(st.floats(-1e6, 1e6), st.floats(-1e6, 1e6)), max_size=8)
NINETY = 1.6448536269514722
"""Standard deviations from the middle that hold 90 % of a normal distribution on both sides."""


def test_by_hand() -> None:
    assert combined_range(100, ends=[(97, 103), (96, 104)]) == pytest.approx((95, 105))
    assert combined_range(100, ends=[(90, 120)]) == (90, 120)
    assert combined_range(100, ends=[(120, 90)]) == (90, 120)
    assert combined_range(100, ends=[(100, 130), (100, 140)]) == (100, 150)
    assert combined_range(-5, ends=[]) == (-5, -5)
    half = [(50, 150), (50, 150)]
    assert combined_range(100, ends=half, outermost=(25, 225)) == combined_range(100, ends=half)
    assert combined_range(100, ends=[(20, 100), (20, 100)], outermost=(4, 100)) == (4, 100), (
        "a product of the two"
    )


@given(st.floats(-1e6, 1e6), MOVES)
def test_between_the_widest_cause_and_all_at_their_worst(
    planned: float, ends: list[tuple[float, float]]
) -> None:
    low, high = combined_range(planned, ends=ends)
    below = [max(0.0, planned - min(pair)) for pair in ends]
    above = [max(0.0, max(pair) - planned) for pair in ends]
    slack = 1e-9 * (1 + abs(planned) + math.fsum([*below, *above]))
    assert max(below, default=0) - slack <= planned - low <= math.fsum(below) + slack
    assert max(above, default=0) - slack <= high - planned <= math.fsum(above) + slack


@pytest.mark.parametrize(
    ("ends", "off"),
    [
        ([(-3, 3), (-4, 4), (-12, 12)], 0.01),
        ([(-10, 20), (-15, 10), (-30, 40), (-5, 8)], 0.06),
    ],
)
def test_against_draws_at_random(ends: list[tuple[float, float]], off: float) -> None:
    """Each cause drawn by itself, its range the middle 90 %: the range of the sum is the middle 90 % of the sums."""
    draws = np.random.default_rng(1).normal(size=(len(ends), 400_000)) / NINETY
    sums = sum(np.where(z < 0, -low * z, high * z) for z, (low, high) in zip(draws, ends, strict=True))
    low, high = combined_range(0, ends=ends)
    width = high - low
    assert np.quantile(sums, [0.05, 0.95]) == pytest.approx([low, high], abs=off * width)
    assert np.mean((sums > low) & (sums < high)) == pytest.approx(0.9, abs=0.02)


@pytest.mark.parametrize("planned", [math.inf, math.nan])
def test_what_is_not_finite_is_refused(planned: float) -> None:
    with pytest.raises(ValueError, match="finite"):
        combined_range(planned, ends=[])
    with pytest.raises(ValueError, match="finite"):
        combined_range(0, ends=[(0, planned)])
