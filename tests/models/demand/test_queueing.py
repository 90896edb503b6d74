"""Erlang, Kaufman-Roberts, Hayward and closed groups: printed values, exact chains, brute force, simulation, limits."""

from __future__ import annotations

import heapq
import itertools
import math
import random
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.stats import binom, gamma, poisson
from scipy.stats import t as student

from gpuplan.models.demand.queueing import (
    closed_blocking,
    closed_blocking_curve,
    closed_demand,
    closed_short_chance,
    closed_short_curve,
    closed_wait_chance,
    closed_wait_curve,
    closed_wait_longer_curve,
    equal_kept_free,
    erlang_b,
    erlang_b_curve,
    erlang_b_real,
    erlang_c,
    erlang_c_curve,
    erlang_c_real,
    hayward_b,
    hayward_c,
    hayward_wait_longer_chance,
    kaufman_roberts,
    kaufman_roberts_curve,
    least_servers,
    mean_wait_h,
    peakedness_of_mix,
    wait_longer_chance,
    wait_quantile_h,
)
from gpuplan.models.demand.simulation import Stream, simulate

# ---- Erlang B and C


def test_the_values_of_any_text() -> None:
    assert erlang_b(10, load=5) == pytest.approx(0.018385, abs=5e-7)
    assert erlang_c(10, load=5) == pytest.approx(0.036105, abs=5e-7)
    assert erlang_b(1, load=1) == 0.5
    assert erlang_c(1, load=0.25) == pytest.approx(0.25)  # M/M/1: the share of time it is busy


@pytest.mark.parametrize(
    ("servers", "target", "load"),
    [
        # loads of the usual Erlang B tables, three figures or two places; 8.108: manual of the calculator of erlang.com
        (1, 0.01, "0.0101"), (2, 0.01, "0.153"), (5, 0.01, "1.36"), (10, 0.01, "4.46"), (15, 0.01, "8.108"),
        (20, 0.01, "12.03"), (57, 0.01, "44.2"), (100, 0.01, "84.06"), (10, 0.02, "5.08"), (50, 0.02, "40.26"),
        (1, 0.05, "0.0526"), (5, 0.05, "2.22"), (10, 0.05, "6.22"), (20, 0.05, "15.25"),
    ],
)  # fmt: skip
def test_erlang_b_agrees_with_printed_tables(servers: int, target: float, load: str) -> None:
    half = 0.5 * 10.0 ** -len(load.split(".")[1])
    assert erlang_b(servers, load=float(load) - half) < target < erlang_b(servers, load=float(load) + half)


def exact_erlang_b(servers: int, load: Fraction) -> Fraction:
    terms = [load**n / math.factorial(n) for n in range(servers + 1)]
    return terms[-1] / sum(terms)


@pytest.mark.parametrize("servers", [0, 1, 2, 7, 40, 150])
@pytest.mark.parametrize("load", [Fraction(1, 100), Fraction(1, 2), 1, 10, 39, 150, 4000])
def test_erlang_in_fractions(servers: int, load: Fraction) -> None:
    b = exact_erlang_b(servers, Fraction(load))
    assert erlang_b(servers, load=float(load)) == pytest.approx(float(b), rel=1e-13)
    c = servers * b / (servers - load * (1 - b)) if load < servers else 1
    assert erlang_c(servers, load=float(load)) == pytest.approx(float(c), rel=1e-12)


@pytest.mark.parametrize("servers", [1, 10, 1000, 100_000])
@pytest.mark.parametrize("times", [0, 1e-6, 0.5, 0.99, 1, 1.5, 1000])
def test_erlang_up_to_a_hundred_thousand_servers(servers: int, times: float) -> None:
    load = times * servers
    for function, curve in ((erlang_b, erlang_b_curve), (erlang_c, erlang_c_curve)):
        chances = curve(servers, load=load)
        assert len(chances) == servers + 1
        assert np.isfinite(chances).all() and chances.min() >= 0 and chances.max() <= 1
        assert (np.diff(chances) <= 0).all()
        assert function(servers, load=load) == pytest.approx(chances[-1], rel=1e-12, abs=1e-300)
        assert function(servers, load=load * 1.01 + 1e-9) >= chances[-1]
    b = erlang_b(servers, load=load)
    assert load * (1 - b) <= servers * (1 + 1e-12)  # no more is carried than there are servers


def test_erlang_of_a_large_group_tends_to_the_normal_distribution() -> None:
    # B sqrt(load) -> phi(k) / Phi(k) and C -> 1 / (1 + k Phi(k) / phi(k)) for servers = load + k sqrt(load)
    for k in (0.0, 0.5, 1.0, 2.0):
        density = math.exp(-k * k / 2) / math.sqrt(2 * math.pi)
        below = (1 + math.erf(k / math.sqrt(2))) / 2
        servers, load = round(100_000 + k * math.sqrt(100_000)), 100_000.0
        assert erlang_b(servers, load=load) * math.sqrt(load) == pytest.approx(density / below, rel=0.01)
        assert erlang_c(servers, load=load) == pytest.approx(1 / (1 + k * below / density), rel=0.02)


def test_curves_are_the_single_values() -> None:
    for load in (0.0, 0.3, 4.0, 7.5, 30.0):
        assert erlang_b_curve(20, load=load).tolist() == [erlang_b(n, load=load) for n in range(21)]
        assert erlang_c_curve(20, load=load) == pytest.approx([erlang_c(n, load=load) for n in range(21)])


def integral_erlang_b(servers: float, load: float) -> float:
    """1 / B = integral of exp(-u) (1 + u / load)^servers, the form ascribed to Fortet; the peak taken out."""
    top = max(0.0, servers - load)

    def log(u: float) -> float:
        return servers * math.log1p(u / load) - u

    width = 40 * math.sqrt(servers + 1) + 60
    points = sorted({0.0, max(0.0, top - width), top, top + width, top + 4 * width})
    area = sum(
        quad(lambda u: math.exp(log(u) - log(top)), a, b, epsabs=0, epsrel=1e-11, limit=500)[0]
        for a, b in itertools.pairwise(points)
    )
    return math.exp(-log(top)) / area


@pytest.mark.parametrize("servers", [0.25, 0.999, 1.5, 7.3, 33.333, 250.75, 4000.1])
@pytest.mark.parametrize("times", [0.2, 0.6, 0.95, 1.0, 1.05, 1.7, 20])
def test_real_erlang_b_is_the_integral(servers: float, times: float) -> None:
    load = servers * times
    expected = integral_erlang_b(servers, load)
    assert erlang_b_real(servers, load=load) == pytest.approx(expected, rel=1e-9, abs=1e-300)


@pytest.mark.parametrize("rest", [1e-9, 0.1, 0.5, 0.9, 1 - 1e-9])
def test_real_erlang_b_does_not_jump_where_the_method_changes(rest: float) -> None:
    below, above = (erlang_b_real(rest, load=load) for load in (math.nextafter(1, 0), 1.0))
    assert below == pytest.approx(above, rel=1e-13)
    for load in (1e-9, 1e-3, 0.5, 1.0, 30.0, 1e5, 1e9):
        assert 0 < erlang_b_real(rest, load=load) <= 1
        low, high = erlang_b_real(3 - 1e-12, load=load), erlang_b_real(3 + 1e-12, load=load)
        assert low == pytest.approx(erlang_b(3, load=load), rel=1e-9) == high


@given(st.floats(0, 300), st.floats(0, 300), st.floats(0, 5))
@example(1e-247, 0.8125, 0.0)  # rounding gave 1.0000000000000002
@example(1.0, math.nextafter(1, 0), 0.0)
def test_more_servers_never_wait_more_and_more_load_never_less(
    servers: float, load: float, more: float
) -> None:
    for function in (erlang_b_real, erlang_c_real):
        chance = function(servers, load=load)
        assert 0 <= chance <= 1
        slack = 1e-12 * chance
        assert function(servers + more, load=load) <= chance + slack
        assert function(servers, load=load + more) >= chance - slack


def test_real_erlang_is_whole_erlang_for_whole_servers() -> None:
    for servers, load in itertools.product(
        (0, 1, 2, 10, 1000, 100_000), (0.0, 0.01, 1.0, 9.5, 990.0, 1e5, 2e5)
    ):
        assert erlang_b_real(float(servers), load=load) == erlang_b(servers, load=load)
        assert erlang_c_real(float(servers), load=load) == erlang_c(servers, load=load)


# ---- waits


@pytest.mark.parametrize(("servers", "load"), [(1, 0.7), (3, 2.0), (10, 5.0), (10, 9.0), (50, 42.0)])
def test_waits_against_the_chain_of_states(servers: int, load: float) -> None:
    states = 4000
    weights = [1.0]
    for n in range(1, states):
        weights.append(weights[-1] * load / min(n, servers))
    chances = np.array(weights) / math.fsum(weights)
    ahead = np.arange(1, states - servers + 1)  # departures until one who finds servers + k - 1 there starts
    assert erlang_c(servers, load=load) == pytest.approx(chances[servers:].sum(), rel=1e-10)
    mean = 2.5 * float((chances[servers:] * ahead).sum()) / servers
    assert mean_wait_h(servers, load=load, duration_h=2.5) == pytest.approx(mean, rel=1e-10)
    for wait in (0.0, 0.1, 1.0, 4.0):
        longer = float((chances[servers:] * gamma.sf(wait, ahead, scale=2.5 / servers)).sum())
        given = wait_longer_chance(servers, load=load, duration_h=2.5, wait_h=wait)
        assert given == pytest.approx(longer, rel=1e-9)


def simulated_waits(servers: int, load: float, size: int, requests: int, seed: int) -> np.ndarray:
    """Waits in durations, first come first served; the load is requests, each takes so many servers at once."""
    rng = np.random.default_rng(seed)
    arrivals = np.cumsum(rng.exponential(1 / load, requests)).tolist()
    durations = rng.exponential(1.0, requests).tolist()
    ends: list[float] = [0.0] * (servers // size)
    waits = []
    for arrival, duration in zip(arrivals, durations, strict=True):
        start = max(arrival, ends[0])
        heapq.heapreplace(ends, start + duration)
        waits.append(start - arrival)
    return np.array(waits[requests // 10 :])


@pytest.mark.parametrize(
    ("servers", "load", "size"), [(5, 4.0, 1), (20, 17.0, 1), (12, 2.0, 4), (30, 4.0, 6)]
)
def test_waits_against_a_simulation(servers: int, load: float, size: int) -> None:
    runs = [simulated_waits(servers, load, size, 20_000, seed) for seed in range(20)]
    figures: list[tuple[Callable[[np.ndarray], float], float]] = [
        (
            lambda waits: float((waits > 0).mean()),
            hayward_c(servers, load=load * size, peakedness=size),
        ),
        (
            lambda waits: float((waits > 0.2).mean()),
            hayward_wait_longer_chance(servers, load=load * size, peakedness=size, duration_h=3, wait_h=0.6),
        ),
    ]
    if size == 1:
        figures.append((lambda waits: float(waits.mean()), mean_wait_h(servers, load=load, duration_h=1)))
    for figure, expected in figures:
        seen = np.array([figure(run) for run in runs])
        half = student.ppf(0.9995, len(seen) - 1) * seen.std(ddof=1) / math.sqrt(len(seen))
        assert abs(seen.mean() - expected) < half
        assert half < 0.2 * expected  # or the interval would prove nothing


def test_hayward_is_low_for_whole_requests_of_mixed_sizes() -> None:
    # 1 and 4 units, first come first served: who waits, by units, and who waits over a fifth of the duration
    servers, loads, sizes, requests = 60, [20.0, 6.0], [1, 4], 150_000
    rng = np.random.default_rng(1)
    arrivals = np.cumsum(rng.exponential(1 / sum(loads), requests))
    units = rng.choice(sizes, requests, p=np.array(loads) / sum(loads))
    free, now, running, waits = servers, 0.0, [], np.zeros(requests)
    for k, duration in enumerate(rng.exponential(1.0, requests)):
        now = max(now, arrivals[k])
        while running and (running[0][0] <= now or free < units[k]):
            end, back = heapq.heappop(running)
            now, free = max(now, end), free + back
        free -= units[k]
        heapq.heappush(running, (now + duration, units[k]))
        waits[k] = now - arrivals[k]
    assert free + sum(back for _, back in running) == servers
    load = sum(a * b for a, b in zip(loads, sizes, strict=True))
    z = peakedness_of_mix(loads, sizes=sizes)
    for wait in (0.0, 0.2):
        seen = units[waits > wait].sum() / units.sum()
        given = hayward_wait_longer_chance(servers, load=load, peakedness=z, duration_h=1, wait_h=wait)
        assert 1.1 < seen / given < 1.7


@given(st.integers(1, 200), st.floats(0.05, 0.999), st.floats(0.01, 100), st.floats(0, 0.9999))
def test_the_quantile_is_where_the_chance_falls_to_the_rest(
    servers: int, used: float, duration: float, share: float
) -> None:
    load = used * servers
    wait = wait_quantile_h(servers, load=load, duration_h=duration, share=share)
    longer = wait_longer_chance(servers, load=load, duration_h=duration, wait_h=wait)
    if wait == 0:
        assert erlang_c(servers, load=load) <= 1 - share
    else:
        assert longer == pytest.approx(1 - share, rel=1e-6)
    assert wait_longer_chance(servers, load=load, duration_h=duration, wait_h=0) == erlang_c(
        servers, load=load
    )


def test_too_much_load_waits_without_end() -> None:
    for load in (10.0, 12.0):
        assert erlang_c(10, load=load) == 1
        assert wait_longer_chance(10, load=load, duration_h=2, wait_h=1000) == 1
        with pytest.raises(ValueError, match=r"load 1\d\.0 is not below the 10 servers"):
            mean_wait_h(10, load=load, duration_h=2)
        with pytest.raises(ValueError, match="without end"):
            wait_quantile_h(10, load=load, duration_h=2, share=0.5)


# ---- peakedness and Hayward


def test_peakedness_of_a_mix() -> None:
    assert peakedness_of_mix([3.7], sizes=[1]) == 1
    assert peakedness_of_mix([0.2], sizes=[8]) == 8
    assert peakedness_of_mix([10, 0], sizes=[1, 8]) == 1
    loads, sizes = [4.0, 1.5, 0.5], [1, 2, 8]
    seen = sum(size * poisson.rvs(load, size=400_000, random_state=n) for n, (load, size) in enumerate(zip(loads, sizes, strict=True)))  # fmt: skip
    assert peakedness_of_mix(loads, sizes=sizes) == pytest.approx(seen.var() / seen.mean(), rel=0.01)
    assert peakedness_of_mix([1e-300, 1e-300], sizes=[1, 3]) == pytest.approx(2.5)


@given(st.integers(1, 60), st.floats(0.01, 90), st.integers(1, 9))
def test_hayward_is_exact_for_requests_of_one_size(places: int, load: float, size: int) -> None:
    servers = places * size
    assert hayward_b(servers, load=load, peakedness=1) == erlang_b(servers, load=load)
    assert hayward_c(servers, load=load, peakedness=1) == erlang_c(servers, load=load)
    (exact,) = kaufman_roberts(servers, loads=[load / size], sizes=[size])
    assert hayward_b(servers, load=load, peakedness=size) == pytest.approx(exact, rel=1e-11)
    assert hayward_c(servers, load=load, peakedness=size) == pytest.approx(erlang_c(places, load=load / size))


def test_hayward_lies_near_the_share_of_units_turned_away() -> None:
    # requests of 1, 2, 4 and 8 units: Kaufman-Roberts by units, exact; between the smallest and the largest class too
    sizes = (1, 2, 4, 8)
    for loads, servers in (((16, 8, 4, 1), 60), ((100, 20, 20, 8), 300), ((100, 20, 10, 5), 240)):
        exact = kaufman_roberts(servers, loads=loads, sizes=sizes)
        wanted = [load * size for load, size in zip(loads, sizes, strict=True)]
        lost = sum(units * chance for units, chance in zip(wanted, exact, strict=True)) / sum(wanted)
        z = peakedness_of_mix(loads, sizes=sizes)
        given = hayward_b(servers, load=sum(wanted), peakedness=z)
        assert given == pytest.approx(lost, rel=0.1)
        assert exact[0] < given < exact[-1]


@pytest.mark.parametrize("function", [hayward_b, hayward_c])
@pytest.mark.parametrize("servers", [5, 20, 100, 1000])
@pytest.mark.parametrize("times", [0.3, 0.5, 0.7, 0.9, 1, 1.2, 3])
def test_burstier_is_never_better(function: Callable[..., float], servers: int, times: float) -> None:
    """True on this whole sweep, from smoother than at random to single bursts as large as the servers, and beyond."""
    bursts = np.geomspace(0.2, 2 * servers, 60)
    chances = [function(servers, load=times * servers, peakedness=float(z)) for z in bursts]
    assert all(a <= b + 1e-13 for a, b in itertools.pairwise(chances))
    assert chances[0] >= 0 and chances[-1] <= 1


def test_hayward_takes_hundred_thousand_servers() -> None:
    for times, z in itertools.product((0.5, 0.99, 1, 1.5), (0.5, 1, 3.7, 117, 1e6)):
        for function in (hayward_b, hayward_c):
            assert 0 <= function(100_000, load=times * 100_000, peakedness=z) <= 1


# ---- several sizes


def states_within(capacity: int, sizes: Sequence[int]) -> Iterator[tuple[tuple[int, ...], int]]:
    for state in itertools.product(*(range(capacity // size + 1) for size in sizes)):
        used = sum(n * size for n, size in zip(state, sizes, strict=True))
        if used <= capacity:
            yield state, used


def product_form(capacity: int, loads: Sequence[float], sizes: Sequence[int]) -> list[float]:
    weights = {
        (state, used): math.prod(load**n / math.factorial(n) for load, n in zip(loads, state, strict=True))
        for state, used in states_within(capacity, sizes)
    }
    total = math.fsum(weights.values())
    return [
        math.fsum(w for (_, used), w in weights.items() if used + size > capacity) / total for size in sizes
    ]


def chain(
    capacity: int,
    sizes: Sequence[int],
    births: Callable[[tuple[int, ...], int], float],
    durations: Sequence[float],
    kept: Sequence[int],
) -> list[float]:
    """Exact chance of each class by the stationary Markov chain: requests turned away over requests made."""
    states = list(states_within(capacity, sizes))
    index = {state: k for k, (state, _) in enumerate(states)}
    rates = np.zeros((len(states), len(states)))
    refused, asked = np.zeros((2, len(sizes), len(states)))
    for k, (state, used) in enumerate(states):
        for i, size in enumerate(sizes):
            rate = births(state, i)
            asked[i, k] = rate
            if used + size + kept[i] > capacity:
                refused[i, k] = rate
            elif rate:
                rates[k, index[(*state[:i], state[i] + 1, *state[i + 1 :])]] += rate
            if state[i]:
                rates[k, index[(*state[:i], state[i] - 1, *state[i + 1 :])]] += state[i] / durations[i]
    balance = (rates - np.diag(rates.sum(axis=1))).T
    balance[-1] = 1.0
    at_rest = np.linalg.solve(balance, np.eye(len(states))[-1])
    return [float(r @ at_rest / (a @ at_rest)) for r, a in zip(refused, asked, strict=True)]


def random_mixes(count: int, seed: int) -> Iterator[tuple[int, list[float], list[int]]]:
    rng = random.Random(seed)
    for _ in range(count):
        classes = rng.randint(1, 3)
        capacity = rng.randint(1, 14 if classes == 3 else 24)
        sizes = [rng.randint(1, 4) for _ in range(classes)]
        yield capacity, [rng.uniform(0.05, 1.2) * capacity / size / classes for size in sizes], sizes


def test_the_small_pool_of_the_brief() -> None:
    assert kaufman_roberts(5, loads=[2, 1], sizes=[1, 2]) == pytest.approx([0.1721854, 0.3818984], abs=1e-7)
    # by hand: q = 1, 2, 3, 10/3, 19/6, 78/30 for 0 to 5 units in use
    q = [1, 2, 3, Fraction(10, 3), Fraction(19, 6), Fraction(13, 5)]
    assert kaufman_roberts(5, loads=[2, 1], sizes=[1, 2]) == pytest.approx(
        [float(q[5] / sum(q)), float((q[4] + q[5]) / sum(q))], rel=1e-14
    )


def test_kaufman_roberts_against_all_states() -> None:
    for capacity, loads, sizes in random_mixes(600, seed=1):
        exact = product_form(capacity, loads, sizes)
        assert kaufman_roberts(capacity, loads=loads, sizes=sizes) == pytest.approx(exact, rel=1e-12)
        curve = kaufman_roberts_curve(capacity + 3, loads=loads, sizes=sizes)
        assert curve.shape == (capacity + 4, len(sizes))
        assert curve[capacity] == pytest.approx(exact, rel=1e-12)
        for size, column in zip(sizes, curve.T, strict=True):
            assert (column[:size] == 1).all()


def test_kaufman_roberts_with_single_units_is_erlang_b() -> None:
    for load in (0.5, 9.0, 200.0):
        curve = kaufman_roberts_curve(150, loads=[load / 4, load / 2, load / 4], sizes=[1, 1, 1])
        for column in curve.T:
            assert column == pytest.approx(erlang_b_curve(150, load=load), rel=1e-11)


def test_kaufman_roberts_keeps_its_digits() -> None:
    # 3 classes in fractions: chances from 1 down to 1e-36
    loads, sizes = [Fraction(3), Fraction(1, 2), Fraction(1, 4)], [1, 2, 5]
    q = [Fraction(1)]
    for j in range(1, 121):
        parts = (load * size * q[j - size] for load, size in zip(loads, sizes, strict=True) if size <= j)
        q.append(sum(parts, Fraction(0)) / j)
    curve = kaufman_roberts_curve(120, loads=[float(load) for load in loads], sizes=sizes)
    for capacity, k in itertools.product((5, 20, 60, 120), range(3)):
        exact = float(sum(q[capacity - sizes[k] + 1 : capacity + 1]) / sum(q[: capacity + 1]))
        assert curve[capacity, k] == pytest.approx(exact, rel=1e-12)
    assert curve[120, 0] < 1e-36


@pytest.mark.parametrize("times", [1e-9, 0.5, 0.99, 1, 1.5, 1000])
def test_kaufman_roberts_with_a_hundred_thousand_units(times: float) -> None:
    sizes, shares = [1, 2, 4, 8, 16], [0.3, 0.2, 0.2, 0.2, 0.1]
    loads = [times * 100_000 * share / size for share, size in zip(shares, sizes, strict=True)]
    curve = kaufman_roberts_curve(100_000, loads=loads, sizes=sizes)
    assert np.isfinite(curve).all() and curve.min() >= 0 and curve.max() <= 1
    assert (np.diff(curve, axis=1) >= 0).all()  # larger requests fare worse
    assert (np.diff(curve.max(axis=1)) <= 1e-12).all()
    assert curve[-1] == pytest.approx(kaufman_roberts(100_000, loads=loads, sizes=sizes), rel=1e-9)
    carried = sum(a * b * (1 - p) for a, b, p in zip(loads, sizes, curve[-1], strict=True))
    assert carried <= 100_000 * (1 + 1e-9)


def test_a_pool_of_sizes_that_do_not_divide_each_other_may_turn_away_more_when_it_grows() -> None:
    # 6 units hold three requests of 2 where 5 held two and left room: a request of 3 is turned away more often
    curve = kaufman_roberts_curve(6, loads=[3.0, 0.1], sizes=[2, 3]).max(axis=1)
    assert curve[6] > curve[5] + 0.1
    # sizes that are powers of two, single units among them: never here
    for load in (3.0, 20.0, 90.0):
        parts = [load * share / size for share, size in ((0.4, 1), (0.3, 2), (0.2, 4), (0.1, 8))]
        worst = kaufman_roberts_curve(150, loads=parts, sizes=[1, 2, 4, 8]).max(axis=1)
        assert (np.diff(worst) <= 1e-13).all()


@pytest.mark.parametrize(
    ("spread", "largest", "mean"), [((1.0,), 0.06, 0.006), ((0.1, 1.0, 10.0), 0.12, 0.015)]
)
def test_units_kept_free_against_the_exact_chain(
    spread: tuple[float, ...], largest: float, mean: float
) -> None:
    """Roberts' approximation: the stated tolerances are for small pools, where it is at its worst."""
    rng = random.Random(2)
    errors = []
    for capacity, loads, sizes in random_mixes(110, seed=3):
        kept = [rng.randint(0, 3) for _ in sizes]
        durations = [rng.choice(spread) for _ in sizes]
        rates = [load / duration for load, duration in zip(loads, durations, strict=True)]
        exact = chain(capacity, sizes, lambda _, i, r=rates: r[i], durations, kept)
        given = kaufman_roberts(capacity, loads=loads, sizes=sizes, kept_free=kept)
        errors.append(max(abs(a - b) for a, b in zip(exact, given, strict=True)))
    assert max(errors) < largest
    assert sum(errors) / len(errors) < mean


def test_keeping_units_free_makes_the_classes_equal() -> None:
    for capacity, loads, sizes in random_mixes(60, seed=4):
        kept = equal_kept_free(sizes)
        assert {size + units for size, units in zip(sizes, kept, strict=True)} == {max(sizes)}
        given = kaufman_roberts(capacity, loads=loads, sizes=sizes, kept_free=kept)
        exact = chain(capacity, sizes, lambda _, i, a=loads: a[i], [1.0] * len(sizes), kept)
        assert max(given) - min(given) < 1e-14 and max(exact) - min(exact) < 1e-10
        assert given[0] == pytest.approx(exact[0], abs=0.06)
        plain = kaufman_roberts(capacity, loads=loads, sizes=sizes)
        assert min(plain) - 1e-9 <= given[0]  # the small ones pay
    for single in ([1], [3, 3]):
        assert equal_kept_free(single) == (0,) * len(single)


def test_keeping_nothing_free_changes_nothing() -> None:
    for capacity, loads, sizes in random_mixes(30, seed=5):
        plain = kaufman_roberts(capacity, loads=loads, sizes=sizes)
        assert kaufman_roberts(capacity, loads=loads, sizes=sizes, kept_free=[0] * len(sizes)) == plain
        all_kept = kaufman_roberts(capacity, loads=loads, sizes=sizes, kept_free=[capacity] * len(sizes))
        assert all_kept == (1.0,) * len(sizes)


# ---- closed groups


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


def test_closed_groups_person_by_person() -> None:
    for people, shares, sizes in random_groups(40, seed=6):
        if sum(people) > 9:
            continue
        group = {"people": people, "shares": shares, "sizes": sizes}
        demand = enumerated(people, shares, sizes)
        assert closed_demand(**group) == pytest.approx(demand, rel=1e-11)
        top = len(demand) + 2
        tail = [demand[units + 1 :].sum() for units in range(top + 1)]
        assert closed_short_curve(top, **group) == pytest.approx(tail, rel=1e-11)
        curve = closed_blocking_curve(top, **group)
        for units in range(top + 1):
            assert closed_short_chance(units, **group) == pytest.approx(tail[units], rel=1e-11)
            waits = closed_wait_chance(units, **group)
            assert closed_blocking(units, **group) == pytest.approx(curve[units], rel=1e-11)
            for own, size in enumerate(sizes):
                seen = enumerated(fewer(people, own), shares, sizes)
                assert waits[own] == pytest.approx(seen[max(0, units - size + 1) :].sum(), rel=1e-11)
                blocked = seen[max(0, units - size + 1) : units + 1].sum() / seen[: units + 1].sum()
                assert curve[units, own] == pytest.approx(blocked, rel=1e-10)


@pytest.mark.parametrize(
    ("n", "p"), [(1, 0.3), (40, 0.05), (40, 0.9), (500, 0.5), (100_000, 0.3), (100_000, 1e-5)]
)
def test_one_class_is_binomial(n: int, p: float) -> None:
    demand = closed_demand([n], shares=[p], sizes=[1])
    expected = binom.pmf(np.arange(n + 1), n, p)
    seen = expected > 1e-30
    assert demand[seen] == pytest.approx(expected[seen], rel=1e-9)
    assert demand.sum() == pytest.approx(1, abs=1e-13)
    eight = closed_demand([n], shares=[p], sizes=[8])
    assert eight[::8] == pytest.approx(demand, rel=1e-13) and eight.sum() == pytest.approx(1, abs=1e-13)
    for units in {int(n * p), int(n * p + 5 * math.sqrt(n * p * (1 - p))), n - 1}:
        short = closed_short_chance(units, people=[n], shares=[p], sizes=[1])
        assert short == pytest.approx(binom.sf(units, n, p), rel=1e-9, abs=1e-30)


def test_many_people_in_many_classes() -> None:
    people, shares = [2000] * 10, [0.05 + 0.1 * k for k in range(10)]
    sizes = [1, 2, 3, 4, 5, 6, 7, 8, 8, 16]
    demand = closed_demand(people, shares=shares, sizes=sizes)
    units = np.arange(len(demand))
    mean = sum(n * p * b for n, p, b in zip(people, shares, sizes, strict=True))
    variance = sum(n * p * (1 - p) * b * b for n, p, b in zip(people, shares, sizes, strict=True))
    assert demand.min() >= 0 and demand.sum() == pytest.approx(1, abs=1e-12)
    assert demand @ units == pytest.approx(mean, rel=1e-12)
    assert demand @ (units - mean) ** 2 == pytest.approx(variance, rel=1e-10)
    at = round(mean)
    curve = closed_short_curve(at, people=people, shares=shares, sizes=sizes)
    assert (np.diff(curve) <= 0).all() and curve[0] == 1 and curve[-1] == pytest.approx(0.5, abs=0.01)
    assert curve[-1] == pytest.approx(closed_short_chance(at, people=people, shares=shares, sizes=sizes))
    blocked = closed_blocking(at, people=people, shares=shares, sizes=sizes)
    assert all(0 < chance < 1 for chance in blocked)


def test_tails_of_a_sum_keep_their_digits() -> None:
    # two classes of one size and one share are one class: the convolution must give its tail
    parts = closed_demand([300, 700], shares=[0.1, 0.1], sizes=[2, 2])
    for units in (300, 400, 500):
        given = parts[units + 1 :].sum()
        assert given == pytest.approx(binom.sf(units // 2, 1000, 0.1), rel=1e-10)
    assert given < 1e-30


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_people_who_never_or_always_work(share: float) -> None:
    group = {"people": [3, 2], "shares": [share, 0.5], "sizes": [2, 1]}
    fixed = int(share * 6)
    assert closed_demand(**group)[fixed : fixed + 3] == pytest.approx([0.25, 0.5, 0.25])
    assert closed_short_chance(fixed, **group) == pytest.approx(0.75)
    others = int(share * 4)
    assert closed_wait_chance(others + 3, **group)[0] == pytest.approx(0.75 - 0.5)
    near = {**group, "shares": [abs(share - 1e-7), 0.5]}
    for units in range(10):
        assert closed_blocking(units, **group) == pytest.approx(closed_blocking(units, **near), abs=1e-5)


def engset(units: int, people: int, share: Fraction) -> float:
    odds = share / (1 - share)
    weights = [math.comb(people - 1, k) * odds**k for k in range(units + 1)]
    return float(weights[-1] / sum(weights))


@pytest.mark.parametrize(
    "share", [Fraction(1, 1000), Fraction(1, 10), Fraction(1, 2), Fraction(9, 10), Fraction(999, 1000)]
)
@pytest.mark.parametrize("people", [1, 2, 30, 200])
def test_one_size_is_engset(people: int, share: Fraction) -> None:
    curve = closed_blocking_curve(people + 2, people=[people], shares=[float(share)], sizes=[1])[:, 0]
    assert curve == pytest.approx(
        [engset(units, people, share) for units in range(people + 3)], rel=1e-9, abs=1e-38
    )
    assert curve[0] == 1 and curve[people] == 0  # whoever asks finds the places of the others at most


def test_engset_by_hand() -> None:
    # 4 people, active half the time, 2 units: 3 / (1 + 3 + 3)
    assert closed_blocking(2, people=[4], shares=[0.5], sizes=[1]) == pytest.approx([3 / 7])


def test_closed_blocking_against_the_exact_chain() -> None:
    rng = random.Random(7)
    for people, shares, sizes in random_groups(60, seed=8):
        units = rng.randint(1, 9)
        durations = [rng.choice([0.2, 1.0, 5.0]) for _ in sizes]

        def asks(state: tuple[int, ...], i: int, n=people, p=shares, d=durations) -> float:  # type: ignore[no-untyped-def]
            return max(0, n[i] - state[i]) * p[i] / (1 - p[i]) / d[i]

        exact = chain(units, sizes, asks, durations, [0] * len(sizes))
        given = closed_blocking(units, people=people, shares=shares, sizes=sizes)
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
    given = closed_blocking(units, people=people, shares=[float(p) for p in shares], sizes=sizes)
    curve = closed_blocking_curve(700, people=people, shares=[float(p) for p in shares], sizes=sizes)
    for own in range(3):
        exact = closed_in_fractions(units, people, shares, sizes, own)
        assert given[own] == pytest.approx(exact, rel=1e-11)
        assert curve[units, own] == pytest.approx(exact, rel=1e-11)


def test_a_lone_large_request_among_many_small_ones() -> None:
    # two humps, the sum far from normal: one who takes 200 units beside 40 who take one each
    people, sizes, shares = [40, 1], [1, 200], [Fraction(9, 10), Fraction(9, 10)]
    curve = closed_blocking_curve(245, people=people, shares=[float(p) for p in shares], sizes=sizes)
    for units, own in itertools.product((5, 20, 30, 36, 40, 100, 199, 200, 205, 230, 238), range(2)):
        exact = closed_in_fractions(units, people, shares, sizes, own)
        assert curve[units, own] == pytest.approx(exact, rel=1e-10, abs=1e-30)


def test_closed_blocking_does_not_jump_between_its_pieces() -> None:
    people, shares, sizes = [3000, 300], [0.9, 0.6], [1, 8]
    curve = closed_blocking_curve(4800, people=people, shares=shares, sizes=sizes)
    assert curve[:, 0] == pytest.approx(np.maximum.accumulate(curve[::-1, 0])[::-1], rel=1e-9)
    for units in (10, 700, 1500, 2500, 3600, 4140, 4400):
        assert closed_blocking(units, people=people, shares=shares, sizes=sizes) == pytest.approx(
            curve[units], rel=1e-10
        )


def test_a_large_group_that_is_rarely_active_is_an_open_crowd() -> None:
    loads, sizes = [6.0, 1.5, 0.5], [1, 2, 8]
    open_crowd = kaufman_roberts_curve(40, loads=loads, sizes=sizes)
    errors = []
    for n in (1_000, 10_000, 100_000):
        curve = closed_blocking_curve(40, people=[n] * 3, shares=[a / n for a in loads], sizes=sizes)
        errors.append(float(abs(curve - open_crowd).max()))
    assert errors[0] > 5 * errors[1] > 25 * errors[2]
    assert errors[2] < 1e-4
    tail = closed_short_curve(40, people=[100_000], shares=[6e-5], sizes=[1])
    assert tail == pytest.approx(poisson.sf(np.arange(41), 6), rel=0.02)


@given(
    st.lists(st.tuples(st.integers(0, 30), st.floats(0, 1), st.integers(1, 9)), min_size=1, max_size=3),
    st.integers(0, 120),
)
def test_closed_chances_are_chances_in_order(group: list[tuple[int, float, int]], units: int) -> None:
    people, shares, sizes = (list(column) for column in zip(*group, strict=True))
    demand = closed_demand(people, shares=shares, sizes=sizes)
    assert demand.min() >= 0 and demand.sum() == pytest.approx(1, abs=1e-12)
    short = closed_short_curve(units, people=people, shares=shares, sizes=sizes)
    assert ((short >= 0) & (short <= 1)).all() and (np.diff(short) <= 0).all()
    blocked = closed_blocking_curve(units, people=people, shares=shares, sizes=sizes)
    assert np.isfinite(blocked).all() and ((blocked >= 0) & (blocked <= 1)).all()
    waits = closed_wait_chance(units, people=people, shares=shares, sizes=sizes)
    assert all(0 <= chance <= 1 for chance in waits)
    # turning somebody away leaves more for the others: never refused more often than nobody refused would wait
    assert all(b <= w + 1e-9 for b, w in zip(blocked[-1], waits, strict=True))
    more = closed_wait_chance(units + 1, people=people, shares=shares, sizes=sizes)
    assert all(b <= a + 1e-12 for a, b in zip(waits, more, strict=True))


@pytest.mark.parametrize("times", [0.0001, 0.5, 0.99, 1, 1.5])
def test_closed_groups_of_a_hundred_thousand(times: float) -> None:
    group = {"people": [100_000, 20_000], "shares": [0.3, 0.9], "sizes": [1, 8]}
    mean = 174_000
    units = round(mean * times)
    chances = [*closed_blocking(units, **group), *closed_wait_chance(units, **group)]
    chances.append(closed_short_chance(units, **group))
    assert all(0 <= chance <= 1 for chance in chances)
    if times < 1:
        assert chances[1] > 1 - times - 0.01 and chances[-1] > 0.999
    if times > 1:
        assert max(chances) < 1e-30


def test_a_class_of_nobody_is_seen_by_one_who_comes() -> None:
    nobody = closed_blocking(4, people=[0, 9], shares=[0.3, 0.4], sizes=[2, 1])
    one = closed_blocking(4, people=[1, 9], shares=[0.0, 0.4], sizes=[2, 1])
    assert nobody == pytest.approx(one, rel=1e-12)


# ---- the other way round


@pytest.mark.parametrize("start", [0, 1, 5, 14, 15, 16, 4000])
def test_the_fewest_servers(start: int) -> None:
    for function, target in itertools.product((erlang_b, erlang_c), (0.5, 0.05, 0.01, 1e-9)):
        curve = [function(n, load=8.0) for n in range(100)]
        expected = next(n for n, chance in enumerate(curve) if chance <= target)
        assert least_servers(lambda n, f=function: f(n, load=8.0), target=target, start=start) == expected
    assert least_servers(lambda n: 0.0, target=0.5, start=start) == 0


def test_the_fewest_servers_of_a_large_pool() -> None:
    tried = []

    def chance(n: int) -> float:
        tried.append(n)
        return erlang_b(n, load=90_000.0)

    found = least_servers(chance, target=0.01, start=90_000)
    assert erlang_b(found, load=90_000.0) <= 0.01 < erlang_b(found - 1, load=90_000.0)
    assert len(tried) < 25


def test_a_target_that_cannot_be_met_is_said() -> None:
    with pytest.raises(ValueError, match="not reached with 10,000,000 servers"):
        least_servers(lambda n: 0.5, target=0.1, start=3)


# ---- what is refused

NAN = float("nan")


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: erlang_b(-1, load=1), "servers is -1: must be a whole number from 0"),
        (lambda: erlang_b(2.5, load=1), "servers is 2.5: must be a whole number"),  # type: ignore[arg-type]
        (lambda: erlang_b(True, load=1), "servers is True: must be a whole number"),
        (lambda: erlang_c(10**8, load=1), "must be a whole number from 0 to 10,000,000"),
        (lambda: erlang_b(1, load=-0.1), "load is -0.1: must be a number from 0"),
        (lambda: erlang_b_curve(1, load=NAN), "load is nan"),
        (lambda: erlang_c_curve(1, load=math.inf), "load is inf"),
        (lambda: erlang_b_real(-0.5, load=1), "servers is -0.5"),
        (lambda: erlang_b(1, load="5"), "load is '5'"),  # type: ignore[arg-type]
        (lambda: mean_wait_h(2, load=1, duration_h=0), "duration_h is 0: must be above 0"),
        (lambda: wait_longer_chance(2, load=1, duration_h=1, wait_h=-1), "wait_h is -1"),
        (lambda: wait_quantile_h(2, load=1, duration_h=1, share=1), "share is 1: must be below 1"),
        (lambda: hayward_b(2, load=1, peakedness=0), "peakedness is 0: must be above 0"),
        (lambda: hayward_b(2, load=1, peakedness=1e-9), "peakedness is 1e-09: too small"),
        (lambda: hayward_c(2, load=1, peakedness=-1), "peakedness is -1"),
        (lambda: peakedness_of_mix([0, 0], sizes=[1, 2]), "at least one must be above 0"),
        (lambda: peakedness_of_mix([1], sizes=[0]), r"sizes\[0\] is 0: must be above 0"),
        (lambda: kaufman_roberts(4, loads=[1, 2], sizes=[1]), "2 loads, 1 sizes"),
        (lambda: kaufman_roberts(4, loads=[], sizes=[]), "at least one class"),
        (lambda: kaufman_roberts(4, loads=[1], sizes=[0]), r"sizes\[0\] is 0: must be a whole number from 1"),
        (lambda: kaufman_roberts(4, loads=[1], sizes=[1], kept_free=[1, 1]), "2 kept_free, 1 sizes"),
        (lambda: kaufman_roberts(4, loads=[1], sizes=[1], kept_free=[-1]), r"kept_free\[0\] is -1"),
        (lambda: kaufman_roberts_curve(4, loads=[-1], sizes=[1]), r"loads\[0\] is -1"),
        (lambda: equal_kept_free([]), "at least one class"),
        (lambda: closed_demand([1], shares=[1.1], sizes=[1]), r"shares\[0\] is 1.1: must be a number from 0 to 1"),
        (lambda: closed_demand([1, 2], shares=[0.1], sizes=[1, 1]), "2 people, 1 shares, 2 sizes"),
        (lambda: closed_demand([10**6], shares=[0.1], sizes=[16]), "16,000,000 units"),
        (lambda: closed_blocking(-1, people=[1], shares=[0.1], sizes=[1]), "units is -1"),
        (lambda: least_servers(lambda n: 0.0, target=1, start=0), "target is 1: must be above 0 and below 1"),
        (lambda: least_servers(lambda n: 0.0, target=0, start=0), "target is 0"),
        (lambda: least_servers(lambda n: 0.0, target=0.1, start=-1), "start is -1"),
    ],
)  # fmt: skip
def test_what_is_refused_is_named(call: Callable[[], object], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        call()


def test_the_curve_of_waiting_is_the_chance_at_every_number_of_units() -> None:
    rng = np.random.default_rng(11)
    for _ in range(60):
        kinds = int(rng.integers(1, 5))
        group: dict[str, Any] = {
            "people": rng.integers(0, 30, kinds).tolist(),
            "shares": rng.choice([0, 0.1, 0.5, 0.9, 1], kinds).tolist(),
            "sizes": rng.integers(1, 9, kinds).tolist(),
        }
        curve = closed_wait_curve(120, **group)
        assert curve.shape == (121, kinds)
        for units in (0, 1, 2, 7, 40, 120):
            assert curve[units] == pytest.approx(closed_wait_chance(units, **group), abs=1e-13)


def test_long_waits_of_a_closed_group_are_rarer_than_waits_and_near_a_simulation() -> None:
    group: dict[str, Any] = {"people": [40], "shares": [1 / 3], "sizes": [1]}
    waits = closed_wait_curve(30, **group)
    late = closed_wait_longer_curve(30, **group, duration_h=2.0, wait_h=1 / 6)
    assert (closed_wait_longer_curve(30, **group, duration_h=2.0, wait_h=0) == waits).all()
    assert (late <= waits).all()
    assert late[13] == waits[13]  # the mean: nothing is spare
    for units in (17, 19):
        seen = simulate(
            [Stream("people", people=40, rates_per_h=(1 / 3,), duration_h=2.0)], hosts=[units], wait_h=1 / 6
        ).overall.waited_longer
        assert seen.half_width is not None
        assert seen.value - seen.half_width < late[units, 0] < 1.5 * seen.value
    mixed = closed_wait_longer_curve(
        12, people=[3, 4], shares=[0.5, 0.25], sizes=[2, 4], duration_h=3.0, wait_h=1.0
    )
    z = (1.5 * 4 + 1 * 16) / 7
    plain = closed_wait_curve(12, people=[3, 4], shares=[0.5, 0.25], sizes=[2, 4])
    assert mixed[12] == pytest.approx(plain[12] * math.exp(-5 / (3 * z)))


def test_each_of_many_classes_sees_all_the_others() -> None:
    """Nine classes: whoever asks finds one person of the own class fewer, and all of the other eight."""
    people, sizes = [3, 1, 4, 1, 5, 0, 2, 6, 5], [1, 2, 3, 1, 2, 4, 8, 1, 3]
    shares = [0.1, 0.9, 0.5, 1.0, 0.3, 0.2, 0.7, 0.4, 0.25]
    found = closed_wait_chance(30, people=people, shares=shares, sizes=sizes)
    for own, size in enumerate(sizes):
        wanted = np.ones(1)
        for at, (n, share, takes) in enumerate(zip(people, shares, sizes, strict=True)):
            for _ in range(max(0, n - (at == own))):
                one = np.zeros(takes + 1)
                one[0], one[takes] = 1 - share, share
                wanted = np.convolve(wanted, one)
        assert found[own] == pytest.approx(wanted[30 - size + 1 :].sum(), rel=1e-9)
