"""The chance of waiting, in whole plans."""

from __future__ import annotations

import pytest

from gpuplan import load_scenario, make_plan
from gpuplan.catalog import Catalog


def test_the_chance_of_waiting_of_the_examples(catalog: Catalog) -> None:
    """Enterprise: 3 researchers hold 12 GPUs, 2 HPC users 2, a distributed job 4, all the time; 14 of the 32 are left for 32
    data scientists with half a GPU half of the time and 40 developers with an eighth at 40 %."""
    plan = make_plan(load_scenario("enterprise"), catalog)

    def binomial(n: int, p: float) -> list[float]:
        chances = [1.0]
        for _ in range(n):
            chances = [(1 - p) * a + p * b for a, b in zip([*chances, 0.0], [0.0, *chances], strict=True)]
        return chances

    held = 8 * (12 + 2 + 4)
    scientists, developers = binomial(31, 0.5), binomial(40, 0.4)
    short = sum(
        a * b
        for i, a in enumerate(scientists)
        for j, b in enumerate(developers)
        if held + 4 * i + j + 4 > 8 * 32
    )
    assert plan.lines["totals.waiting"].value == pytest.approx(100 * short)
    assert plan.lines["totals.waiting_after_failure"].value > 50
