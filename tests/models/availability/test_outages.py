"""Hours short of hosts and the chance of a shortage: by hand, every state, the exact chain, simulation."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.linalg import expm
from scipy.stats import binom
from scipy.stats import t as student

from gpuplan.models.availability import (
    HOURS_PER_YEAR,
    HostMix,
    chance_of_shortage,
    chance_over_pools,
    host_availability,
    hours_over_pools_h,
    hours_short_h,
    mixed_hours_short_h,
)


def test_host_availability() -> None:
    assert host_availability(9900, repair_h=100) == 0.99
    assert host_availability(16000, repair_h=0) == 1
    assert host_availability(48, repair_h=48) == 0.5
    assert host_availability(6300, repair_h=48) < host_availability(16000, repair_h=48)


def share_short(hosts: int, needed: int, availability: float) -> float:
    return hours_short_h(hosts, hosts_needed=needed, availability=availability) / 8760


def test_hours_short_by_hand() -> None:
    a, q = 0.9, 0.1
    assert share_short(1, 1, a) == pytest.approx(q)
    assert share_short(2, 2, a) == pytest.approx(1 - a * a)
    assert share_short(2, 1, a) == pytest.approx(q * q)
    assert share_short(3, 3, a) == pytest.approx(1 - a**3)
    assert share_short(3, 2, a) == pytest.approx(q**3 + 3 * q * q * a)
    assert share_short(3, 1, a) == pytest.approx(q**3)


def test_four_hosts_of_three_nines_with_none_one_and_two_spare() -> None:
    # counted as in VMware's example of 2013, without the failover of single services (its results were not to be read):
    # 4 + s hosts of 0.999, short below 4; the first term of the binomial sum by hand
    q = 0.001
    for spare, rare in ((0, 4 * q), (1, 10 * q**2), (2, 20 * q**3)):
        assert share_short(4 + spare, 4, 1 - q) == pytest.approx(rare, rel=0.005)
    assert hours_short_h(4, hosts_needed=4, availability=0.999) == pytest.approx(34.99, abs=0.005)
    assert hours_short_h(5, hosts_needed=4, availability=0.999) * 60 == pytest.approx(5.245, abs=0.005)


@pytest.mark.parametrize("hosts", range(1, 11))
def test_hours_short_are_what_all_states_add_up_to(hosts: int) -> None:
    mtbf, repair = 700.0, 90.0
    a = mtbf / (mtbf + repair)
    chance = dict.fromkeys(range(hosts + 1), 0.0)
    for state in itertools.product((0, 1), repeat=hosts):
        chance[sum(state)] += math.prod(a if up else 1 - a for up in state)
    for needed in range(hosts + 2):
        short = sum(p for up, p in chance.items() if up < needed)
        assert share_short(hosts, needed, a) == pytest.approx(short, rel=1e-12)


@pytest.mark.parametrize("availability", [0, 0.3, 1])
def test_hours_short_at_the_limits(availability: float) -> None:
    assert share_short(5, 0, availability) == share_short(0, 0, availability) == 0
    assert share_short(5, 6, availability) == share_short(0, 1, availability) == 1
    assert share_short(5, 3, 0) == 1 and share_short(5, 5, 1) == 0
    assert chance_of_shortage(5, hosts_needed=0, mtbf_h=1000, repair_h=10, hours_h=100) == 0
    assert chance_of_shortage(5, hosts_needed=3, mtbf_h=1000, repair_h=0, hours_h=100) == 0
    assert chance_of_shortage(5, hosts_needed=6, mtbf_h=1000, repair_h=10, hours_h=0) == 1
    assert chance_of_shortage(5, hosts_needed=4, mtbf_h=1000, repair_h=10, hours_h=0) == 0


@given(st.integers(0, 80), st.integers(0, 80), st.floats(0, 1))
def test_more_hosts_are_never_short_for_longer_and_more_demand_never_for_less(
    hosts: int, needed: int, availability: float
) -> None:
    hours = hours_short_h(hosts, hosts_needed=needed, availability=availability)
    assert 0 <= hours <= HOURS_PER_YEAR
    slack = 1e-10 * hours + 1e-10
    assert hours_short_h(hosts + 1, hosts_needed=needed, availability=availability) <= hours + slack
    assert hours_short_h(hosts, hosts_needed=needed + 1, availability=availability) >= hours - slack


@given(st.integers(0, 60), st.integers(0, 60), st.floats(24, 1e6), st.floats(1, 1000), st.floats(0, 8760))
def test_more_hosts_never_raise_the_chance_of_a_shortage(
    hosts: int, needed: int, mtbf: float, repair: float, hours: float
) -> None:
    def chance(hosts: int, needed: int, hours: float) -> float:
        return chance_of_shortage(hosts, hosts_needed=needed, mtbf_h=mtbf, repair_h=repair, hours_h=hours)

    given = chance(hosts, needed, hours)
    assert 0 <= given <= 1
    slack = 1e-12
    assert chance(hosts + 1, needed, hours) <= given + slack
    assert chance(hosts, needed + 1, hours) >= given - slack
    assert chance(hosts, needed, hours + 1) >= given - slack


@pytest.mark.parametrize(
    ("hosts", "needed", "availability"),
    [(64, 62, 0.997), (100, 90, 0.999), (10_000, 9900, 0.997), (10_000, 9970, 0.997), (10_000, 9990, 0.997),
     (10_000, 5000, 0.5), (10_000, 9800, 0.997), (10_000, 1, 0.01)],
)  # fmt: skip
def test_small_chances_of_large_clusters_keep_their_digits(
    hosts: int, needed: int, availability: float
) -> None:
    expected = binom.cdf(needed - 1, hosts, availability)
    assert 0 < expected < 1
    assert share_short(hosts, needed, availability) == pytest.approx(expected, rel=1e-9)


def exact_chance(hosts: int, needed: int, mtbf: float, repair: float, hours: float) -> float:
    """Chance of a first shortage in one piece of time: Markov chain of the hosts down, exponential times."""
    spare = hosts - needed
    down = np.arange(spare + 1)
    fails, repairs = (hosts - down) / mtbf, down / repair
    rates = np.diag(-fails - repairs) + np.diag(fails[:-1], 1) + np.diag(repairs[1:], -1)
    start = binom.pmf(down, hosts, repair / (mtbf + repair))
    return float(1 - (start / start.sum() @ expm(rates * hours)).sum())


DESIGNS = [
    (9, 8, 16000, 48, 144),
    (9, 8, 6300, 120, 8760),
    (16, 14, 6300, 120, 768),
    (33, 31, 16000, 48, 500),
    (40, 37, 2000, 48, 50),
    (40, 37, 2000, 48, 500),
]


@pytest.mark.parametrize(("hosts", "needed", "mtbf", "repair", "hours"), DESIGNS)
def test_the_chance_of_a_shortage_is_never_too_low_and_by_how_much_it_is_too_high(
    hosts: int, needed: int, mtbf: float, repair: float, hours: float
) -> None:
    given = chance_of_shortage(hosts, hosts_needed=needed, mtbf_h=mtbf, repair_h=repair, hours_h=hours)
    exact = exact_chance(hosts, needed, mtbf, repair, hours)
    assert exact <= given <= exact * (1 + hosts * repair / (mtbf * (hosts - needed)))


@pytest.mark.parametrize("hosts", [1, 2, 8, 40])
def test_the_chance_of_a_shortage_is_exact_without_spare_hosts(hosts: int) -> None:
    given = chance_of_shortage(hosts, hosts_needed=hosts, mtbf_h=16000, repair_h=48, hours_h=128)
    assert given == pytest.approx(1 - math.exp(-hosts * 128 / 16000), rel=1e-12)
    assert given == pytest.approx(exact_chance(hosts, hosts, 16000, 48, 128), rel=1e-9)


@pytest.mark.parametrize(("hosts", "needed"), [(9, 8), (64, 60), (64, 32), (10_000, 9960), (10_000, 9990)])
def test_the_chance_of_a_shortage_follows_from_how_often_one_begins(hosts: int, needed: int) -> None:
    times = {"mtbf_h": 16000, "repair_h": 48}
    up = 16000 / 16048
    there = 1 - share_short(hosts, needed, up)
    rate = binom.pmf(needed, hosts, up) * needed / 16000 / there
    given = chance_of_shortage(hosts, hosts_needed=needed, **times, hours_h=24)
    assert given == pytest.approx(-math.expm1(-rate * 24), rel=1e-9)


class Watched(NamedTuple):
    """What was seen of a cluster in some years."""

    hours_short: float
    shortages: float
    chance: float


def watch(random: np.random.Generator, hosts: int, needed: int, years: int, window_h: float) -> Watched:
    """Hosts that fail after 2000 h and are repaired after 48 h on average, each for itself."""
    mtbf, repair, end = 2000.0, 48.0, years * 8760.0
    up = random.random(hosts) < mtbf / (mtbf + repair)
    turns = np.arange(int(end / (mtbf + repair) * 3) + 60) % 2 == 0
    fails = turns == up[:, None]
    at = np.cumsum(random.exponential(np.where(fails, mtbf, repair)), axis=1)
    assert at[:, -1].min() > end
    order = np.argsort(at[at < end])
    times = np.append(0.0, at[at < end][order])
    count = up.sum() + np.append(0, np.cumsum(np.where(fails, -1, 1)[at < end][order]))
    short = count < needed
    lasting = np.diff(np.append(times, end))
    begins = times[1:][short[1:] & ~short[:-1]]
    windows = np.arange(0, end - window_h, window_h)
    windows = windows[~short[np.searchsorted(times, windows, side="right") - 1]]
    hit = np.searchsorted(begins, windows + window_h) > np.searchsorted(begins, windows)
    return Watched(float(lasting[short].sum()) / years, len(begins) / years, float(hit.mean()))


def interval(seen: Sequence[float]) -> tuple[float, float]:
    """99 % confidence interval of the mean of independent runs."""
    wide = student.ppf(0.995, len(seen) - 1) * np.std(seen, ddof=1) / math.sqrt(len(seen))
    return float(np.mean(seen) - wide), float(np.mean(seen) + wide)


def test_a_simulation_of_forty_hosts_agrees() -> None:
    random = np.random.default_rng(20261120)
    hosts, mtbf, repair = 40, 2000.0, 48.0
    up = host_availability(mtbf, repair_h=repair)
    for needed, years, window in ((37, 20, 50.0), (40, 5, 24.0)):
        runs = [watch(random, hosts, needed, years, window) for _ in range(60)]
        hours, shortages, chance = (interval(seen) for seen in zip(*runs, strict=True))
        assert hours[1] - hours[0] < 0.15 * hours[0], "narrow enough to find a fault"
        assert hours[0] < hours_short_h(hosts, hosts_needed=needed, availability=up) < hours[1]
        begins = binom.pmf(needed, hosts, up) * needed / mtbf * 8760
        assert shortages[0] < begins < shortages[1]
        assert chance[0] < exact_chance(hosts, needed, mtbf, repair, window) < chance[1]
        given = chance_of_shortage(hosts, hosts_needed=needed, mtbf_h=mtbf, repair_h=repair, hours_h=window)
        if needed == hosts:
            assert chance[0] < given < chance[1]
        else:  # 3 spare: too high by at most 40 * 48 / (2000 * 3)
            assert chance[0] < given < chance[1] * 1.32


def test_chances_of_pools_that_fail_independently() -> None:
    assert chance_over_pools(0.5, 0.5) == 0.75
    assert chance_over_pools(0.2) == pytest.approx(0.2)
    assert chance_over_pools() == 0


def test_hours_of_several_pools_count_once() -> None:
    """Two pools short half of the year each: a quarter of it both, so three quarters of it at least one."""
    assert hours_over_pools_h(4380, 4380) == 6570
    assert hours_over_pools_h(100) == pytest.approx(100)
    assert hours_over_pools_h(10, 20) == pytest.approx(30 - 200 / 8760)
    assert hours_over_pools_h(*[9000.0] * 12) == 8760


# ---- hosts of two kinds

RATES = {"mtbf_h": 2000.0, "repair_h": 40.0}
UP = host_availability(2000, repair_h=40)
CASES = [
    (2, 4, (0, 4)),
    (3, 5, (1, 3, 5)),
    (2, 3, (0, 1, 3)),
    (4, 2, (0, 0, 1, 2)),
    (1, 6, (5,)),
    (5, 1, (1, 1, 1)),
]


def carried(old_down: int, new_down: int, new: int, needed: tuple[int, ...]) -> bool:
    return old_down < len(needed) and new - new_down >= needed[old_down]


def by_down(needed: tuple[int, ...]) -> dict[tuple[int, ...], int]:
    """New hosts needed, by the old ones of a single kind that are down."""
    return {(down,): new for down, new in enumerate(needed)}


def mixed_share_short(old: int, new: int, needed: tuple[int, ...]) -> float:
    """Every state of every host, added up."""
    short = 0.0
    for state in itertools.product((0, 1), repeat=old + new):
        down = sum(state)
        if not carried(sum(state[:old]), sum(state[old:]), new, needed):
            short += UP ** (old + new - down) * (1 - UP) ** down
    return short


@pytest.mark.parametrize(("old", "new", "needed"), CASES)
def test_hours_against_every_state(old: int, new: int, needed: tuple[int, ...]) -> None:
    found = mixed_hours_short_h(HostMix([old], new, by_down(needed)), availability=UP)
    assert found == pytest.approx(8760 * mixed_share_short(old, new, needed), rel=1e-9)


def test_the_hours_against_a_simulation() -> None:
    old, new, needed, years = 3, 6, (3, 5), 4000
    rng = np.random.default_rng(7)
    short = np.zeros(years)
    hours = np.arange(0.5, 8760, 20)
    for year in range(years):
        down = np.zeros((old + new, hours.size), dtype=bool)
        for host in range(old + new):
            at, is_up = 0.0, rng.random() < UP
            while at < 8760:
                length = rng.exponential(RATES["mtbf_h"] if is_up else RATES["repair_h"])
                if not is_up:
                    down[host] |= (hours >= at) & (hours < at + length)
                at, is_up = at + length, not is_up
        old_down, new_down = down[:old].sum(0), down[old:].sum(0)
        need = np.array([*needed, new + 1, new + 1])[old_down]
        short[year] = 8760 * np.mean(new - new_down < need)
    found = mixed_hours_short_h(HostMix([old], new, by_down(needed)), availability=UP)
    assert abs(short.mean() - found) < 2.6 * short.std() / math.sqrt(years)


def test_the_more_new_hosts_the_fewer_hours() -> None:
    needed = by_down((3, 5, 7))
    hours = [mixed_hours_short_h(HostMix([3], n, needed), availability=UP) for n in range(2, 12)]
    assert hours == sorted(hours, reverse=True)
    assert hours[0] == pytest.approx(8760)


@pytest.mark.parametrize(
    ("kinds", "new", "demand"),
    [
        ([(4, 1), (2, 6)], 0, 8),
        ([(4, 1), (2, 6)], 2, 12),
        ([(3, 2), (1, 8), (2, 5)], 3, 20),
        ([(1, 3)], 4, 9),
    ],
)
def test_hosts_of_several_kinds_against_every_state(
    kinds: list[tuple[int, int]], new: int, demand: int
) -> None:
    """Old hosts (number, GPUs) beside new ones with 4: short where the GPUs that are up are fewer than demanded."""
    needed = {
        down: max(
            0, -(-(demand - sum((n - d) * gpus for (n, gpus), d in zip(kinds, down, strict=True))) // 4)
        )
        for down in itertools.product(*(range(n + 1) for n, _ in kinds))
    }
    each = [gpus for n, gpus in kinds for _ in range(n)] + [4] * new
    short = 0.0
    for state in itertools.product((0, 1), repeat=len(each)):
        if sum(gpus * up for gpus, up in zip(each, state, strict=True)) < demand:
            short += UP ** sum(state) * (1 - UP) ** (len(each) - sum(state))
    found = mixed_hours_short_h(HostMix([n for n, _ in kinds], new, needed), availability=UP)
    assert found == pytest.approx(8760 * short, rel=1e-9)
    most = {down: n for down, n in needed.items() if sum(down) <= 2}  # three down count as too many
    assert mixed_hours_short_h(HostMix([n for n, _ in kinds], new, most), availability=UP) >= found
