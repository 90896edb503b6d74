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
