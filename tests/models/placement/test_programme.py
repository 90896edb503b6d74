"""Programmes: all ways to fill a bin, the cheapest choice of columns, and the knapsack, each by brute force."""

from __future__ import annotations

import itertools

from random_cases import cases

from gpuplan.models.placement import programme
from gpuplan.models.placement.programme import _maximal_patterns, whole_programme


def test_a_programme_without_a_proof_says_so() -> None:
    assert programme.whole_programme([(1, 0)], (1, 1), costs=(1,)) == (None, None)


def test_the_knapsack_finds_the_dearest_pattern() -> None:
    for rng in cases(2, 300, few=60):
        capacity = rng.randint(5, 40)
        sizes = tuple(sorted(rng.sample(range(1, capacity + 1), rng.randint(1, 4)), reverse=True))
        needed = tuple(rng.randint(1, 6) for _ in sizes)
        prices = [rng.randint(0, 50) for _ in sizes]
        every = [
            sum(p * a for p, a in zip(prices, amounts, strict=True))
            for amounts in itertools.product(*(range(n + 1) for n in needed))
            if sum(s * a for s, a in zip(sizes, amounts, strict=True)) <= capacity
        ]
        worth, chosen = programme._most_valuable(prices, sizes, needed=needed, capacity=capacity)
        assert worth == max(every)
        assert worth == sum(p * a for p, a in zip(prices, chosen, strict=True))
        assert sum(s * a for s, a in zip(sizes, chosen, strict=True)) <= capacity
        assert all(a <= n for a, n in zip(chosen, needed, strict=True))


def test_all_maximal_patterns_are_found_once() -> None:
    for rng in cases(3, 300, few=60):
        capacity = rng.randint(4, 30)
        sizes = sorted(rng.sample(range(1, capacity + 1), rng.randint(1, min(4, capacity))), reverse=True)
        counts = [rng.randint(1, 4) for _ in sizes]
        every = {
            amounts
            for amounts in itertools.product(*(range(n + 1) for n in counts))
            if (room := capacity - sum(a * s for a, s in zip(amounts, sizes, strict=True))) >= 0
            and all(a == n or s > room for a, n, s in zip(amounts, counts, sizes, strict=True))
        }
        found = _maximal_patterns(sizes, counts=counts, capacity=capacity)
        assert found is not None
        assert len(found) == len(set(found))
        assert set(found) == every


def test_too_many_patterns_are_not_listed() -> None:
    assert _maximal_patterns(range(60, 0, -1), counts=[9] * 60, capacity=400) is None
    assert _maximal_patterns(range(300, 0, -1), counts=[1] * 300, capacity=300) is None


def test_the_whole_programme() -> None:
    assert whole_programme([(1, 0), (0, 1), (1, 1)], (2, 3), costs=(1, 1, 1)) == ((0, 0, 3), 3)
    assert whole_programme([(1, 0), (0, 1), (1, 1)], (2, 3), costs=(1, 1, 5)) == ((2, 3, 0), 5)
