"""Closed groups: person by person, exact chains, fractions, Engset, the open crowd as a limit, simulation."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, poisson

from gpuplan.models.demand.closed_groups import closed_blocking, closed_wait_chance, closed_wait_longer_chance
from gpuplan.models.demand.queueing import kaufman_roberts
from gpuplan.simulation.arrivals import Stream
from gpuplan.simulation.jobs import simulate


def states_within(capacity: int, sizes: Sequence[int]) -> Iterator[tuple[tuple[int, ...], int]]:
    for state in itertools.product(*(range(capacity // size + 1) for size in sizes)):
        used = sum(n * size for n, size in zip(state, sizes, strict=True))
        if used <= capacity:
            yield state, used


def chain(
    capacity: int,
    sizes: Sequence[int],
    births: Callable[[tuple[int, ...], int], float],
    durations: Sequence[float],
) -> list[float]:
    """Exact chance of each class by the stationary Markov chain: requests denied over requests made."""
    states = list(states_within(capacity, sizes))
    index = {state: k for k, (state, _) in enumerate(states)}
    rates = np.zeros((len(states), len(states)))
    refused, asked = np.zeros((2, len(sizes), len(states)))
    for k, (state, used) in enumerate(states):
        for i, size in enumerate(sizes):
            rate = births(state, i)
            asked[i, k] = rate
            if used + size > capacity:
                refused[i, k] = rate
            elif rate:
                rates[k, index[(*state[:i], state[i] + 1, *state[i + 1 :])]] += rate
            if state[i]:
                rates[k, index[(*state[:i], state[i] - 1, *state[i + 1 :])]] += state[i] / durations[i]
    balance = (rates - np.diag(rates.sum(axis=1))).T
    balance[-1] = 1.0
    at_rest = np.linalg.solve(balance, np.eye(len(states))[-1])
    return [float(r @ at_rest / (a @ at_rest)) for r, a in zip(refused, asked, strict=True)]


def random_groups(count: int, seed: int) -> Iterator[tuple[list[int], list[float], list[int]]]:
    rng = random.Random(seed)
    for _ in range(count):
        classes = rng.randint(1, 3)
        yield (
            [rng.randint(1, 5) for _ in range(classes)],
            [rng.uniform(0.02, 0.98) for _ in range(classes)],
            [rng.randint(1, 4) for _ in range(classes)],
        )


def enumerated(people: Sequence[int], shares: Sequence[float], sizes: Sequence[int]) -> np.ndarray:
    """Every person active or not, one by one."""
    each = [(p, b) for n, p, b in zip(people, shares, sizes, strict=True) for _ in range(n)]
    demand = np.zeros(sum(b for _, b in each) + 1)
    for active in itertools.product((0, 1), repeat=len(each)):
        chance = math.prod(p if on else 1 - p for (p, _), on in zip(each, active, strict=True))
        demand[sum(b for (_, b), on in zip(each, active, strict=True) if on)] += chance
    return demand


def fewer(people: Sequence[int], own: int) -> list[int]:
    return [n - (k == own) for k, n in enumerate(people)]


def wanted_more(top: int, people: Sequence[int], shares: Sequence[float], sizes: Sequence[int]) -> np.ndarray:
    """Chance that a group wants more than 0, 1, ... units: what one more person, with a request of one unit, would meet."""
    guest = {"people": [*people, 0], "shares": [*shares, 0.5], "sizes": [*sizes, 1]}
    return closed_wait_chance(top + 1, **guest)[1:, -1]


def test_closed_groups_person_by_person() -> None:
    for people, shares, sizes in random_groups(40, seed=6):
        if sum(people) > 9:
            continue
        group = {"people": people, "shares": shares, "sizes": sizes}
        demand = enumerated(people, shares, sizes)
        top = len(demand) + 2
        tail = [demand[units + 1 :].sum() for units in range(top + 1)]
        assert wanted_more(top, **group) == pytest.approx(tail, rel=1e-11)
        blocking, waits = closed_blocking(top, **group), closed_wait_chance(top, **group)
        for units, (own, size) in itertools.product(range(top + 1), enumerate(sizes)):
            seen = enumerated(fewer(people, own), shares, sizes)
            free = max(0, units - size + 1)
            assert waits[units, own] == pytest.approx(seen[free:].sum(), rel=1e-11)
            blocked = seen[free : units + 1].sum() / seen[: units + 1].sum()
            assert blocking[units, own] == pytest.approx(blocked, rel=1e-10)


@pytest.mark.parametrize(
    ("n", "p"),
    [
        (1, 0.3),
        (40, 0.05),
        (40, 0.9),
        (500, 0.5),
        (100_000, 1e-5),
        pytest.param(100_000, 0.3, marks=pytest.mark.nightly),
    ],
)
def test_one_class_is_binomial(n: int, p: float) -> None:
    short = wanted_more(n, [n], [p], [1])
    expected = binom.sf(np.arange(n + 1), n, p)
    seen = expected > 1e-30
    assert short[seen] == pytest.approx(expected[seen], rel=1e-9)
    eight = wanted_more(8 * n, [n], [p], [8])
    assert eight[::8] == pytest.approx(short, rel=1e-13)
    assert eight[7::8] == pytest.approx(short[:-1], rel=1e-13)


def test_many_people_in_many_classes() -> None:
    people, shares = [2000] * 10, [0.05 + 0.1 * k for k in range(10)]
    sizes = [1, 2, 3, 4, 5, 6, 7, 8, 8, 16]
    mean = sum(n * p * b for n, p, b in zip(people, shares, sizes, strict=True))
    variance = sum(n * p * (1 - p) * b * b for n, p, b in zip(people, shares, sizes, strict=True))
    most = sum(n * b for n, b in zip(people, sizes, strict=True))
    short = wanted_more(most, people, shares, sizes)
    chances = -np.diff(short, prepend=1.0)
    assert (np.diff(short) <= 0).all() and short[0] == 1 and short[-1] == 0
    assert chances @ np.arange(most + 1) == pytest.approx(mean, rel=1e-12)
    assert chances @ (np.arange(most + 1) - mean) ** 2 == pytest.approx(variance, rel=1e-9)
    assert short[round(mean)] == pytest.approx(0.5, abs=0.01)
    blocked = closed_blocking(round(mean), people=people, shares=shares, sizes=sizes)[-1]
    assert all(0 < chance < 1 for chance in blocked)


def test_tails_of_a_sum_keep_their_digits() -> None:
    # two classes of one size and one share are one class: the convolution must give its tail
    short = wanted_more(500, [300, 700], [0.1, 0.1], [2, 2])
    for units in (300, 400, 500):
        assert short[units] == pytest.approx(binom.sf(units // 2, 1000, 0.1), rel=1e-10)
    assert short[500] < 1e-30


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_people_who_never_or_always_work(share: float) -> None:
    group = {"people": [3, 2], "shares": [share, 0.5], "sizes": [2, 1]}
    fixed = int(share * 6)
    assert wanted_more(9, **group)[fixed : fixed + 3] == pytest.approx([0.75, 0.25, 0])
    others = int(share * 4)
    assert closed_wait_chance(9, **group)[others + 3, 0] == pytest.approx(0.75 - 0.5)
    near = {**group, "shares": [abs(share - 1e-7), 0.5]}
    assert closed_blocking(9, **group) == pytest.approx(closed_blocking(9, **near), abs=1e-5)


def engset(units: int, people: int, share: Fraction) -> float:
    odds = share / (1 - share)
    weights = [math.comb(people - 1, k) * odds**k for k in range(units + 1)]
    return float(weights[-1] / sum(weights))


@pytest.mark.parametrize(
    "share", [Fraction(1, 1000), Fraction(1, 10), Fraction(1, 2), Fraction(9, 10), Fraction(999, 1000)]
)
@pytest.mark.parametrize("people", [1, 2, 30, 200])
def test_one_size_is_engset(people: int, share: Fraction) -> None:
    curve = closed_blocking(people + 2, people=[people], shares=[float(share)], sizes=[1])[:, 0]
    assert curve == pytest.approx(
        [engset(units, people, share) for units in range(people + 3)], rel=1e-9, abs=1e-38
    )
    assert curve[0] == 1 and curve[people] == 0  # whoever asks finds the places of the others at most


def test_engset_by_hand() -> None:
    # 4 people, active half the time, 2 units: 3 / (1 + 3 + 3); with 1 unit 3 / (1 + 3), with 3 the last 1 / (1 + 3 + 3 + 1)
    found = closed_blocking(4, people=[4], shares=[0.5], sizes=[1])[:, 0]
    assert found == pytest.approx([1, 3 / 4, 3 / 7, 1 / 8, 0])


def test_closed_blocking_against_the_exact_chain() -> None:
    rng = random.Random(7)
    for people, shares, sizes in random_groups(60, seed=8):
        units = rng.randint(1, 9)
        durations = [rng.choice([0.2, 1.0, 5.0]) for _ in sizes]

        def asks(state: tuple[int, ...], i: int, n=people, p=shares, d=durations) -> float:  # type: ignore[no-untyped-def]
            return max(0, n[i] - state[i]) * p[i] / (1 - p[i]) / d[i]

        exact = chain(units, sizes, asks, durations)
        given = closed_blocking(units, people=people, shares=shares, sizes=sizes)[-1]
        assert given == pytest.approx(exact, rel=1e-8, abs=1e-12)


def closed_in_fractions(
    units: int, people: Sequence[int], shares: Sequence[Fraction], sizes: Sequence[int], own: int
) -> float:
    weights = [Fraction(1)] + [Fraction(0)] * units
    for n, p, b in zip(fewer(people, own), shares, sizes, strict=True):
        odds = p / (1 - p)
        weights = [
            sum(
                (math.comb(n, k) * odds**k * weights[j - k * b] for k in range(min(n, j // b) + 1)),
                Fraction(0),
            )
            for j in range(units + 1)
        ]
    return float(sum(weights[max(0, units - sizes[own] + 1) :]) / sum(weights))


@pytest.mark.parametrize("units", [1, 3, 8, 20, 45, 60])
def test_closed_blocking_far_below_what_is_wanted(units: int) -> None:
    # 700 units are wanted on average: the chance of so few is far below the smallest float
    people, sizes = [60, 1, 40], [3, 50, 16]
    shares = [Fraction(19, 20), Fraction(1, 2), Fraction(8, 10)]
    given = closed_blocking(units, people=people, shares=[float(p) for p in shares], sizes=sizes)[-1]
    curve = closed_blocking(700, people=people, shares=[float(p) for p in shares], sizes=sizes)
    for own in range(3):
        exact = closed_in_fractions(units, people, shares, sizes, own)
        assert given[own] == pytest.approx(exact, rel=1e-11)
        assert curve[units, own] == pytest.approx(exact, rel=1e-11)


def test_a_lone_large_request_among_many_small_ones() -> None:
    # two humps, the sum far from normal: one who takes 200 units beside 40 who take one each
    people, sizes, shares = [40, 1], [1, 200], [Fraction(9, 10), Fraction(9, 10)]
    curve = closed_blocking(245, people=people, shares=[float(p) for p in shares], sizes=sizes)
    for units, own in itertools.product((5, 20, 30, 36, 40, 100, 199, 200, 205, 230, 238), range(2)):
        exact = closed_in_fractions(units, people, shares, sizes, own)
        assert curve[units, own] == pytest.approx(exact, rel=1e-10, abs=1e-30)


def test_closed_blocking_does_not_jump_between_its_pieces() -> None:
    people, shares, sizes = [3000, 300], [0.9, 0.6], [1, 8]
    curve = closed_blocking(4800, people=people, shares=shares, sizes=sizes)
    assert curve[:, 0] == pytest.approx(np.maximum.accumulate(curve[::-1, 0])[::-1], rel=1e-9)
    for units in (10, 700, 1500, 2500, 3600, 4140, 4400):
        alone = closed_blocking(units, people=people, shares=shares, sizes=sizes)
        assert alone[-1] == pytest.approx(curve[units], rel=1e-10)


def test_a_large_group_that_is_rarely_active_is_an_open_crowd() -> None:
    loads, sizes = [6.0, 1.5, 0.5], [1, 2, 8]
    open_crowd = kaufman_roberts(40, loads=loads, sizes=sizes)
    errors = []
    for n in (1_000, 10_000, 100_000):
        curve = closed_blocking(40, people=[n] * 3, shares=[a / n for a in loads], sizes=sizes)
        errors.append(float(abs(curve - open_crowd).max()))
    assert errors[0] > 5 * errors[1] > 25 * errors[2]
    assert errors[2] < 1e-4
    tail = wanted_more(40, [100_000], [6e-5], [1])
    assert tail == pytest.approx(poisson.sf(np.arange(41), 6), rel=0.02)


@given(
    st.lists(st.tuples(st.integers(0, 30), st.floats(0, 1), st.integers(1, 9)), min_size=1, max_size=3),
    st.integers(0, 120),
)
def test_closed_chances_are_chances_in_order(group: list[tuple[int, float, int]], units: int) -> None:
    people, shares, sizes = (list(column) for column in zip(*group, strict=True))
    short = wanted_more(units, people, shares, sizes)
    assert ((short >= 0) & (short <= 1)).all() and (np.diff(short) <= 0).all()
    blocked = closed_blocking(units, people=people, shares=shares, sizes=sizes)
    assert np.isfinite(blocked).all() and ((blocked >= 0) & (blocked <= 1)).all()
    waits = closed_wait_chance(units, people=people, shares=shares, sizes=sizes)
    assert ((waits >= 0) & (waits <= 1)).all() and (np.diff(waits, axis=0) <= 0).all()
    # turning somebody away leaves more for the others: never refused more often than nobody refused would wait
    assert (blocked <= waits + 1e-9).all()


@pytest.mark.parametrize(
    "times",
    [
        0.0001,
        0.5,
        pytest.param(0.99, marks=pytest.mark.nightly),
        pytest.param(1, marks=pytest.mark.nightly),
        1.5,
    ],
)
def test_closed_groups_of_a_hundred_thousand(times: float) -> None:
    group = {"people": [100_000, 20_000], "shares": [0.3, 0.9], "sizes": [1, 8]}
    mean = 174_000
    units = round(mean * times)
    chances = [*closed_blocking(units, **group)[-1], *closed_wait_chance(units, **group)[-1]]
    chances.append(wanted_more(units, **group)[-1])
    assert all(0 <= chance <= 1 for chance in chances)
    if times < 1:
        assert chances[1] > 1 - times - 0.01 and chances[-1] > 0.999
    if times > 1:
        assert max(chances) < 1e-30


def test_a_class_of_nobody_is_seen_by_one_who_comes() -> None:
    nobody = closed_blocking(4, people=[0, 9], shares=[0.3, 0.4], sizes=[2, 1])
    one = closed_blocking(4, people=[1, 9], shares=[0.0, 0.4], sizes=[2, 1])
    assert nobody == pytest.approx(one, rel=1e-12)


def test_how_far_one_looks_changes_no_chance() -> None:
    rng = np.random.default_rng(11)
    for _ in range(60):
        kinds = int(rng.integers(1, 5))
        group: dict[str, Any] = {
            "people": rng.integers(0, 30, kinds).tolist(),
            "shares": rng.choice([0, 0.1, 0.5, 0.9, 1], kinds).tolist(),
            "sizes": rng.integers(1, 9, kinds).tolist(),
        }
        curve = closed_wait_chance(120, **group)
        assert curve.shape == (121, kinds)
        for units in (0, 1, 2, 7, 40, 120):
            assert curve[units] == pytest.approx(closed_wait_chance(units, **group)[-1], abs=1e-13)


def test_long_waits_of_a_closed_group_are_rarer_than_waits_and_near_a_simulation() -> None:
    group: dict[str, Any] = {"people": [40], "shares": [1 / 3], "sizes": [1]}
    waits = closed_wait_chance(30, **group)
    late = closed_wait_longer_chance(30, **group, duration_h=2.0, wait_h=1 / 6)
    assert (closed_wait_longer_chance(30, **group, duration_h=2.0, wait_h=0) == waits).all()
    assert (late <= waits).all()
    assert late[13] == waits[13]  # the mean: nothing is spare
    for units in (17, 19):
        seen = simulate(
            [Stream("people", people=40, rates_per_h=(1 / 3,), duration_h=2.0)], hosts=[units], wait_h=1 / 6
        ).overall.waited_longer
        assert seen.half_width is not None
        assert seen.value - seen.half_width < late[units, 0] < 1.5 * seen.value
    mixed = closed_wait_longer_chance(
        12, people=[3, 4], shares=[0.5, 0.25], sizes=[2, 4], duration_h=3.0, wait_h=1.0
    )
    z = (1.5 * 4 + 1 * 16) / 7
    plain = closed_wait_chance(12, people=[3, 4], shares=[0.5, 0.25], sizes=[2, 4])
    assert mixed[12] == pytest.approx(plain[12] * math.exp(-5 / (3 * z)))


def test_each_of_many_classes_sees_all_the_others() -> None:
    """Nine classes: whoever asks finds one person of the own class fewer, and all of the other eight."""
    people, sizes = [3, 1, 4, 1, 5, 0, 2, 6, 5], [1, 2, 3, 1, 2, 4, 8, 1, 3]
    shares = [0.1, 0.9, 0.5, 1.0, 0.3, 0.2, 0.7, 0.4, 0.25]
    found = closed_wait_chance(30, people=people, shares=shares, sizes=sizes)[-1]
    for own, size in enumerate(sizes):
        wanted = np.ones(1)
        for at, (n, share, takes) in enumerate(zip(people, shares, sizes, strict=True)):
            for _ in range(max(0, n - (at == own))):
                one = np.zeros(takes + 1)
                one[0], one[takes] = 1 - share, share
                wanted = np.convolve(wanted, one)
        assert found[own] == pytest.approx(wanted[30 - size + 1 :].sum(), rel=1e-9)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: closed_wait_chance(1, people=[1], shares=[1.1], sizes=[1]), r"shares\[0\] is 1.1: must be a number from 0 to 1"),
        (lambda: closed_wait_chance(1, people=[1, 2], shares=[0.1], sizes=[1, 1]), "2 people, 1 shares, 2 sizes"),
        (lambda: closed_wait_chance(1, people=[10**6], shares=[0.1], sizes=[16]), "16,000,000 units"),
        (lambda: closed_wait_chance(1, people=[-1], shares=[0.1], sizes=[1]), r"people\[0\] is -1"),
        (lambda: closed_blocking(-1, people=[1], shares=[0.1], sizes=[1]), "units is -1"),
        (lambda: closed_blocking(1, people=[1], shares=[0.1], sizes=[0]), r"sizes\[0\] is 0: must be a whole number from 1"),
        (lambda: closed_wait_longer_chance(1, people=[1], shares=[0.1], sizes=[1], duration_h=0, wait_h=1), "duration_h is 0"),
        (lambda: closed_wait_longer_chance(1, people=[1], shares=[0.1], sizes=[1], duration_h=1, wait_h=-1), "wait_h is -1"),
    ],
)  # fmt: skip
def test_what_is_refused_is_named(call: Callable[[], object], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        call()
