"""Days take turns with the random cases, and the night takes all."""

from __future__ import annotations

import datetime

import pytest
import random_cases
from random_cases import cases, examples, of_the_day, often


@pytest.fixture
def by_day(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(random_cases, "NIGHTLY", False)


def on(monkeypatch: pytest.MonkeyPatch, day: int) -> None:
    monkeypatch.setattr(random_cases, "DAY", datetime.date.fromordinal(day))


@pytest.mark.parametrize(("total", "few"), [(3000, 100), (7, 3), (5, 5), (5, 100), (1, 1)])
def test_each_case_comes_once_before_any_comes_again(
    by_day: None, monkeypatch: pytest.MonkeyPatch, total: int, few: int
) -> None:
    days = -(-total // few)
    seen = []
    for day in range(700_000, 700_000 + days):
        on(monkeypatch, day)
        chosen = of_the_day(range(total), few)
        assert len(chosen) in (total // days, -(-total // days))
        seen += chosen
    assert sorted(seen) == list(range(total))


def test_a_test_that_has_its_day_makes_every_choice_of_its_own(
    by_day: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without an order of its own a test of every fourth day would find the same fourth of the tabs each time."""
    seen = set()
    for day in range(700_000, 700_200):
        on(monkeypatch, day)
        (test,) = of_the_day(range(4), 1, "axe")
        seen |= {(test, tab) for tab in of_the_day(range(41), 12)}
    assert len(seen) == 4 * 41
    days = [of_the_day(range(4), 1, "axe") for day in range(700_000, 700_004) if on(monkeypatch, day) is None]
    assert sorted(test for chosen in days for test in chosen) == [0, 1, 2, 3]


def test_a_case_is_the_same_by_day_and_by_night(by_day: None, monkeypatch: pytest.MonkeyPatch) -> None:
    on(monkeypatch, 700_001)
    some = [rng.random() for rng in cases(9, 30, few=10)]
    monkeypatch.setattr(random_cases, "NIGHTLY", True)
    every = [rng.random() for rng in cases(9, 30, few=10)]
    assert len(set(every)) == 30
    assert some == every[700_001 % 3 :: 3]
    assert not {rng.random() for rng in cases(8, 30)} & set(every), "another seed, other cases"


def test_only_the_night_counts_situations_and_tries_every_example(
    by_day: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert examples(200, few=40) == 40 and often(0, 20)
    monkeypatch.setattr(random_cases, "NIGHTLY", True)
    assert examples(200, few=40) == 200 and often(20, 20) and not often(19, 20)
