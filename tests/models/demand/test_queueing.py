"""Erlang, Kaufman-Roberts and Hayward: printed values, exact chains, brute force, simulation, limits."""

from __future__ import annotations

import heapq
import itertools
import math
import random
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.stats import gamma, poisson
from scipy.stats import t as student

from gpuplan.models.demand.queueing import (
    _denied,
    _growth,
    erlang_b,
    erlang_c,
    hayward_b,
    hayward_c,
    hayward_wait_longer_chance,
    kaufman_roberts,
    least_servers,
    peakedness_of_mix,
)

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
    fewer = sorted({0, servers // 2, servers - 1, servers})
    for function in (erlang_b, erlang_c):
        chances = [function(n, load=load) for n in fewer]
        assert chances[0] <= 1 and chances[-1] >= 0
        assert chances == sorted(chances, reverse=True)
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
    assert erlang_b(servers, load=load) == pytest.approx(expected, rel=1e-9, abs=1e-300)


@pytest.mark.parametrize("rest", [1e-9, 0.1, 0.5, 0.9, 1 - 1e-9])
def test_real_erlang_b_does_not_jump_where_the_method_changes(rest: float) -> None:
    below, above = (erlang_b(rest, load=load) for load in (math.nextafter(1, 0), 1.0))
    assert below == pytest.approx(above, rel=1e-13)
    for load in (1e-9, 1e-3, 0.5, 1.0, 30.0, 1e5, 1e9):
        assert 0 < erlang_b(rest, load=load) <= 1
        low, high = erlang_b(3 - 1e-12, load=load), erlang_b(3 + 1e-12, load=load)
        assert low == pytest.approx(erlang_b(3, load=load), rel=1e-9) == high


@given(st.floats(0, 300), st.floats(0, 300), st.floats(0, 5))
@example(1e-247, 0.8125, 0.0)  # rounding gave 1.0000000000000002
@example(1.0, math.nextafter(1, 0), 0.0)
def test_more_servers_never_wait_more_and_more_load_never_less(
    servers: float, load: float, more: float
) -> None:
    for function in (erlang_b, erlang_c):
        chance = function(servers, load=load)
        assert 0 <= chance <= 1
        slack = 1e-12 * chance
        assert function(servers + more, load=load) <= chance + slack
        assert function(servers, load=load + more) >= chance - slack


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
    for wait in (0.0, 0.1, 1.0, 4.0):
        longer = float((chances[servers:] * gamma.sf(wait, ahead, scale=2.5 / servers)).sum())
        given = hayward_wait_longer_chance(servers, load=load, peakedness=1, duration_h=2.5, wait_h=wait)
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


def test_too_much_load_waits_without_end() -> None:
    for load in (10.0, 12.0):
        assert erlang_c(10, load=load) == 1
        assert hayward_wait_longer_chance(10, load=load, peakedness=1, duration_h=2, wait_h=1000) == 1
        assert hayward_wait_longer_chance(10, load=load, peakedness=3, duration_h=2, wait_h=1000) == 1


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
    exact = kaufman_roberts(servers, loads=[load / size], sizes=[size])[-1, 0]
    assert hayward_b(servers, load=load, peakedness=size) == pytest.approx(exact, rel=1e-11)
    assert hayward_c(servers, load=load, peakedness=size) == pytest.approx(erlang_c(places, load=load / size))


def test_hayward_lies_near_the_share_of_units_denied() -> None:
    # requests of 1, 2, 4 and 8 units: Kaufman-Roberts by units, exact; between the smallest and the largest class too
    sizes = (1, 2, 4, 8)
    for loads, servers in (((16, 8, 4, 1), 60), ((100, 20, 20, 8), 300), ((100, 20, 10, 5), 240)):
        exact = kaufman_roberts(servers, loads=loads, sizes=sizes)[-1]
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


def random_mixes(count: int, seed: int) -> Iterator[tuple[int, list[float], list[int]]]:
    rng = random.Random(seed)
    for _ in range(count):
        classes = rng.randint(1, 3)
        capacity = rng.randint(1, 14 if classes == 3 else 24)
        sizes = [rng.randint(1, 4) for _ in range(classes)]
        yield capacity, [rng.uniform(0.05, 1.2) * capacity / size / classes for size in sizes], sizes


def test_a_small_pool_by_hand() -> None:
    given = kaufman_roberts(5, loads=[2, 1], sizes=[1, 2])
    assert given[5] == pytest.approx([0.1721854, 0.3818984], abs=1e-7)
    # q = 1, 2, 3, 10/3, 19/6, 78/30 for 0 to 5 units in use
    q = [1, 2, 3, Fraction(10, 3), Fraction(19, 6), Fraction(13, 5)]
    assert given[5] == pytest.approx([float(q[5] / sum(q)), float((q[4] + q[5]) / sum(q))], rel=1e-14)
    assert given[3] == pytest.approx([float(q[3] / sum(q[:4])), float((q[2] + q[3]) / sum(q[:4]))], rel=1e-14)
    assert given[1] == pytest.approx([2 / 3, 1], rel=1e-14)


def test_kaufman_roberts_against_all_states() -> None:
    for capacity, loads, sizes in random_mixes(600, seed=1):
        exact = product_form(capacity, loads, sizes)
        curve = kaufman_roberts(capacity + 3, loads=loads, sizes=sizes)
        assert curve.shape == (capacity + 4, len(sizes))
        assert curve[capacity] == pytest.approx(exact, rel=1e-12)
        for size, column in zip(sizes, curve.T, strict=True):
            assert (column[:size] == 1).all()


def test_kaufman_roberts_with_single_units_is_erlang_b() -> None:
    for load in (0.5, 9.0, 200.0):
        curve = kaufman_roberts(150, loads=[load / 4, load / 2, load / 4], sizes=[1, 1, 1])
        for column in curve.T:
            assert column == pytest.approx([erlang_b(n, load=load) for n in range(151)], rel=1e-11)


def test_kaufman_roberts_keeps_its_digits() -> None:
    # 3 classes in fractions: chances from 1 down to 1e-36
    loads, sizes = [Fraction(3), Fraction(1, 2), Fraction(1, 4)], [1, 2, 5]
    q = [Fraction(1)]
    for j in range(1, 121):
        parts = (load * size * q[j - size] for load, size in zip(loads, sizes, strict=True) if size <= j)
        q.append(sum(parts, Fraction(0)) / j)
    curve = kaufman_roberts(120, loads=[float(load) for load in loads], sizes=sizes)
    for capacity, k in itertools.product((5, 20, 60, 120), range(3)):
        exact = float(sum(q[capacity - sizes[k] + 1 : capacity + 1]) / sum(q[: capacity + 1]))
        assert curve[capacity, k] == pytest.approx(exact, rel=1e-12)
    assert curve[120, 0] < 1e-36


@pytest.mark.parametrize("times", [1e-9, 0.5, 0.99, 1, 1.5, 1000])
def test_kaufman_roberts_with_a_hundred_thousand_units(times: float) -> None:
    sizes, shares = [1, 2, 4, 8, 16], [0.3, 0.2, 0.2, 0.2, 0.1]
    loads = [times * 100_000 * share / size for share, size in zip(shares, sizes, strict=True)]
    curve = kaufman_roberts(100_000, loads=loads, sizes=sizes)
    assert np.isfinite(curve).all() and curve.min() >= 0 and curve.max() <= 1
    assert (np.diff(curve, axis=1) >= 0).all()  # larger requests fare worse
    assert (np.diff(curve.max(axis=1)) <= 1e-12).all()
    carried = sum(a * b * (1 - p) for a, b, p in zip(loads, sizes, curve[-1], strict=True))
    assert carried <= 100_000 * (1 + 1e-9)


def test_a_pool_of_sizes_that_do_not_divide_each_other_may_turn_away_more_when_it_grows() -> None:
    # 6 units hold three requests of 2 where 5 held two and left room: a request of 3 is denied more often
    curve = kaufman_roberts(6, loads=[3.0, 0.1], sizes=[2, 3]).max(axis=1)
    assert curve[6] > curve[5] + 0.1
    # sizes that are powers of two, single units among them: never here
    for load in (3.0, 20.0, 90.0):
        parts = [load * share / size for share, size in ((0.4, 1), (0.3, 2), (0.2, 4), (0.1, 8))]
        worst = kaufman_roberts(150, loads=parts, sizes=[1, 2, 4, 8]).max(axis=1)
        assert (np.diff(worst) <= 1e-13).all()


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
        (lambda: erlang_b(-1, load=1), "servers is -1: must be a number from 0 to 10,000,000"),
        (lambda: erlang_c(10**8, load=1), "must be a number from 0 to 10,000,000"),
        (lambda: erlang_b(True, load=1), "servers is True: must be a number"),
        (lambda: erlang_b(1, load=-0.1), "load is -0.1: must be a number from 0"),
        (lambda: erlang_b(1, load=NAN), "load is nan"),
        (lambda: erlang_c(1, load=math.inf), "load is inf"),
        (lambda: erlang_b(-0.5, load=1), "servers is -0.5"),
        (lambda: erlang_b(1, load="5"), "load is '5'"),  # type: ignore[arg-type]
        (lambda: hayward_wait_longer_chance(2, load=1, peakedness=1, duration_h=0, wait_h=1), "duration_h is 0: must be above 0"),
        (lambda: hayward_wait_longer_chance(2, load=1, peakedness=1, duration_h=1, wait_h=-1), "wait_h is -1"),
        (lambda: hayward_b(2, load=1, peakedness=0), "peakedness is 0: must be above 0"),
        (lambda: hayward_b(2, load=1, peakedness=1e-9), "peakedness is 1e-09: too small"),
        (lambda: hayward_c(2, load=1, peakedness=-1), "peakedness is -1"),
        (lambda: peakedness_of_mix([0, 0], sizes=[1, 2]), "at least one must be above 0"),
        (lambda: peakedness_of_mix([1], sizes=[0]), r"sizes\[0\] is 0: must be above 0"),
        (lambda: kaufman_roberts(4, loads=[1, 2], sizes=[1]), "2 loads, 1 sizes"),
        (lambda: kaufman_roberts(4, loads=[], sizes=[]), "at least one class"),
        (lambda: kaufman_roberts(4, loads=[1], sizes=[0]), r"sizes\[0\] is 0: must be a whole number from 1"),
        (lambda: kaufman_roberts(2.5, loads=[1], sizes=[1]), "capacity is 2.5: must be a whole number"),  # type: ignore[arg-type]
        (lambda: kaufman_roberts(True, loads=[1], sizes=[1]), "capacity is True: must be a whole number"),
        (lambda: kaufman_roberts(10**8, loads=[1], sizes=[1]), "from 0 to 10,000,000"),
        (lambda: kaufman_roberts(4, loads=[-1], sizes=[1]), r"loads\[0\] is -1"),
        (lambda: least_servers(lambda n: 0.0, target=1, start=0), "target is 1: must be above 0 and below 1"),
        (lambda: least_servers(lambda n: 0.0, target=0, start=0), "target is 0"),
        (lambda: least_servers(lambda n: 0.0, target=0.1, start=-1), "start is -1"),
    ],
)  # fmt: skip
def test_what_is_refused_is_named(call: Callable[[], object], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        call()


def test_weights_of_single_units_are_those_of_erlang() -> None:
    load, units = 3.0, 6
    weights = np.cumsum([load**n / math.factorial(n) for n in range(units + 1)])
    assert _growth(units, [load], [1]) == pytest.approx(np.diff(np.log(weights)))


def test_denied_are_the_states_in_which_a_request_finds_no_room() -> None:
    growth = np.array(_growth(5, [2.0, 1.0], [1, 2]))
    weights = np.exp(np.concatenate([[0.0], np.cumsum(growth)]))
    by_hand = [1.0 if n < 2 else 1 - weights[n - 2] / weights[n] for n in range(6)]
    assert _denied(growth, 2) == pytest.approx(by_hand)
