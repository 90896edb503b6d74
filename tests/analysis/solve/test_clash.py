"""Clashes: the fewest limits that no design keeps together, and the least of each that would do."""

from __future__ import annotations

from itertools import combinations
from random import Random

import pytest

from gpuplan.analysis.solve.clash import _fewest, _relaxed
from gpuplan.plan.limits import Within

KEYS = ("budget", "power_kw", "racks", "ports")


def row(values: dict[str, float], limit: float = 10) -> tuple[Within, ...]:
    return tuple(
        Within(key, key, limit, value, "", value <= limit, "", "derived", "") for key, value in values.items()
    )


@pytest.mark.parametrize("seed", range(40))
def test_the_fewest_are_those_of_trying_every_set(seed: int) -> None:
    random = Random(seed)
    rows = [row({key: random.choice([5, 15]) for key in KEYS}) for _ in range(random.randint(1, 6))]
    if any(all(each.met for each in within) for within in rows):
        return
    over = [{each.key for each in within if not each.met} for within in rows]
    sizes = [len(s) for n in range(1, 5) for s in combinations(KEYS, n) if all(set(s) & o for o in over)]
    fewest = _fewest(rows)
    assert len(fewest) == min(sizes) and all(set(fewest) & o for o in over)


def test_a_limit_is_relaxed_to_the_least_of_a_design_that_keeps_all_others() -> None:
    rows = [
        row({"budget": 14, "racks": 8}),
        row({"budget": 12, "racks": 11}),
        row({"budget": 9, "racks": 13}),
    ]
    assert {each.key: (each.needed, each.more) for each in _relaxed(rows)} == {
        "budget": (14, 4),
        "racks": (13, 3),
    }
