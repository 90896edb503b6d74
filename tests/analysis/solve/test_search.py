"""The search: a gap is a share of the best, and unknown without one."""

from __future__ import annotations

import pytest

from gpuplan.analysis.solve.search import gap_of


@pytest.mark.parametrize(
    ("best", "bound", "most", "gap"),
    [
        (100, 102, True, 0.02),
        (100, 100, True, 0),
        (200, 190, False, 0.05),
        (None, 3, True, None),
        (5, None, True, None),
    ],
)
def test_the_gap_is_a_share_of_the_best(
    best: float | None, bound: float | None, most: bool, gap: float | None
) -> None:
    assert gap_of(best, bound, most=most) == (None if gap is None else pytest.approx(gap))
