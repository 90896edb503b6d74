"""Spare hosts, what a failure leaves, hours short of hosts, and the stun of vMotion."""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.linalg import expm
from scipy.stats import binom
from scipy.stats import t as student

from gpuplan.catalog import Catalog
from gpuplan.models.availability import (
    HOURS_PER_YEAR,
    chance_of_shortage,
    chance_over_pools,
    evacuation_time_s,
    exposed_hours_h,
    gpus_after_failure,
    host_availability,
    hours_short_h,
    installed_gpus,
    maintenance_chance,
    maintenance_hours_h,
    maintenance_short_h,
    shortages_per_year,
    spare_hosts,
    stun_time_s,
    sum_over_pools,
    total_hosts,
    worst_stun_time_s,
)


@pytest.mark.parametrize(
    ("failures", "accepted", "spare"),
    [(0, True, 0), (1, True, 1), (1, False, 2), (2, True, 2), (0, False, 1)],
)
def test_spare_hosts(failures: int, accepted: bool, spare: int) -> None:
    assert spare_hosts(failures, maintenance_failure_accepted=accepted) == spare


def test_the_worked_designs() -> None:
    # starter: 7 + 1 hosts of 2 GPUs; enterprise: 7 + 1 hosts of 4
    assert total_hosts(7, hosts_for_failures=1) == 8
    assert installed_gpus(8, gpus_per_host=2) == 16
    assert gpus_after_failure(16, gpus_per_host=2, hosts_lost=1, hosts=8) == 14
    assert installed_gpus(8, gpus_per_host=4) == 32
    assert gpus_after_failure(32, gpus_per_host=4, hosts_lost=1, hosts=8) == 28


@given(st.integers(0, 1000), st.integers(1, 16), st.integers(1, 5))
def test_what_is_left_is_what_the_other_hosts_hold(hosts: int, each: int, lost: int) -> None:
    left = gpus_after_failure(
        installed_gpus(hosts, gpus_per_host=each), gpus_per_host=each, hosts_lost=lost, hosts=hosts
    )
    assert left == installed_gpus(max(0, hosts - lost), gpus_per_host=each) >= 0


def test_sum_over_pools() -> None:
    assert sum_over_pools() == 0
    assert sum_over_pools(5, 5) == 10


# ---- how often and how long hosts are short


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
def test_hours_short_and_shortages_count_what_all_states_add_up_to(hosts: int) -> None:
    mtbf, repair = 700.0, 90.0
    a = mtbf / (mtbf + repair)
    chance = dict.fromkeys(range(hosts + 1), 0.0)
    for state in itertools.product((0, 1), repeat=hosts):
        chance[sum(state)] += math.prod(a if up else 1 - a for up in state)
    for needed in range(hosts + 2):
        short = sum(p for up, p in chance.items() if up < needed)
        assert share_short(hosts, needed, a) == pytest.approx(short, rel=1e-12)
        begins = chance.get(needed, 0) * needed / mtbf * 8760
        given = shortages_per_year(hosts, hosts_needed=needed, mtbf_h=mtbf, repair_h=repair)
        assert given == pytest.approx(begins, rel=1e-12)
        # as many shortages end as begin: one more repair brings the hosts back to what is needed
        ends = chance.get(needed - 1, 0) * (hosts - needed + 1) / repair * 8760
        assert given == pytest.approx(ends if needed <= hosts else 0, rel=1e-12)


@pytest.mark.parametrize("availability", [0, 0.3, 1])
def test_hours_short_at_the_limits(availability: float) -> None:
    assert share_short(5, 0, availability) == share_short(0, 0, availability) == 0
    assert share_short(5, 6, availability) == share_short(0, 1, availability) == 1
    assert share_short(5, 3, 0) == 1 and share_short(5, 5, 1) == 0
    for function in (shortages_per_year, chance_of_shortage):
        some = {"hours_h": 100} if function is chance_of_shortage else {}
        assert function(5, hosts_needed=0, mtbf_h=1000, repair_h=10, **some) == 0
        assert function(5, hosts_needed=3, mtbf_h=1000, repair_h=0, **some) == 0
    assert shortages_per_year(5, hosts_needed=6, mtbf_h=1000, repair_h=10) == 0
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


def test_ten_thousand_hosts_take_less_than_a_millisecond() -> None:
    def seconds() -> float:
        start = time.perf_counter()
        hours_short_h(10_000, hosts_needed=5000, availability=0.5)
        chance_of_shortage(10_000, hosts_needed=9950, mtbf_h=16000, repair_h=48, hours_h=1000)
        return time.perf_counter() - start

    assert min(seconds() for _ in range(20)) < 1e-3


# ---- the chance of a shortage against the exact chain, and all of it against a simulation


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
    there = 1 - share_short(hosts, needed, host_availability(16000, repair_h=48))
    rate = shortages_per_year(hosts, hosts_needed=needed, **times) / 8760 / there
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
        begins = shortages_per_year(hosts, hosts_needed=needed, mtbf_h=mtbf, repair_h=repair)
        assert shortages[0] < begins < shortages[1]
        assert chance[0] < exact_chance(hosts, needed, mtbf, repair, window) < chance[1]
        given = chance_of_shortage(hosts, hosts_needed=needed, mtbf_h=mtbf, repair_h=repair, hours_h=window)
        if needed == hosts:
            assert chance[0] < given < chance[1]
        else:  # 3 spare: too high by at most 40 * 48 / (2000 * 3)
            assert chance[0] < given < chance[1] * 1.32


# ---- maintenance


def test_maintenance_hours() -> None:
    assert maintenance_hours_h(8, maintenance_h_per_host=16) == 128
    assert maintenance_hours_h(0, maintenance_h_per_host=16) == 0
    assert maintenance_hours_h(8, maintenance_h_per_host=0) == 0
    assert maintenance_hours_h(10_000, maintenance_h_per_host=16) == HOURS_PER_YEAR


def test_hours_short_during_maintenance_are_those_of_one_host_fewer() -> None:
    for hosts in range(1, 12):
        for needed in range(hosts + 2):
            given = maintenance_short_h(hosts, hosts_needed=needed, availability=0.98, maintenance_h=8760)
            assert given == hours_short_h(hosts - 1, hosts_needed=needed, availability=0.98)
    assert maintenance_short_h(8, hosts_needed=8, availability=1, maintenance_h=128) == 128
    assert maintenance_short_h(9, hosts_needed=8, availability=1, maintenance_h=128) == 0
    one, two = (
        maintenance_short_h(hosts, hosts_needed=8, availability=0.997, maintenance_h=16 * hosts)
        for hosts in (9, 10)
    )
    assert one == pytest.approx(144 * (1 - 0.997**8))
    assert two < one / 50, "what one more host changes"


# ---- vMotion


def test_stun_and_evacuation() -> None:
    assert stun_time_s(0, fixed_s=1.5, copy_rate_gb_s=0.8) == 1.5
    assert stun_time_s(32, fixed_s=1.5, copy_rate_gb_s=0.8) == 41.5
    assert evacuation_time_s() == 0
    assert evacuation_time_s(41.5, 21.5, 21.5) == 84.5


def test_worst_stun_by_hand() -> None:
    rates = {"fixed_s": 1, "copy_rate_gb_s": 0.4, "memory_rate_gb_s": 4}
    assert worst_stun_time_s(32, vm_memory_gb=32, **rates) == 1 + 80 + 8
    assert worst_stun_time_s(0, vm_memory_gb=16, **rates) == 5
    assert worst_stun_time_s(8, vm_memory_gb=0, **rates) == 21
    assert worst_stun_time_s(0, vm_memory_gb=0, **rates) == 1
    assert worst_stun_time_s(8, vm_memory_gb=0, **rates) == stun_time_s(8, fixed_s=1, copy_rate_gb_s=0.4)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        *(
            (name, -1)
            for name in ("vgpu_gb", "vm_memory_gb", "fixed_s", "copy_rate_gb_s", "memory_rate_gb_s")
        ),
        ("copy_rate_gb_s", 0),
        ("memory_rate_gb_s", 0),
        ("vgpu_gb", math.nan),
        ("memory_rate_gb_s", math.nan),
        ("vm_memory_gb", math.inf),
    ],
)
def test_worst_stun_refuses(field: str, value: float) -> None:
    good = {
        "vgpu_gb": 1,
        "vm_memory_gb": 1,
        "fixed_s": 1,
        "copy_rate_gb_s": 1,
        "memory_rate_gb_s": 1,
        field: value,
    }
    with pytest.raises(ValueError, match=f"^{field} is {value}; it must be "):
        worst_stun_time_s(good.pop("vgpu_gb"), **good)


def test_the_worst_stun_is_the_least_squares_fit_of_the_worst_cases(catalog: Catalog) -> None:
    rows = [row for row in catalog.rows("stun_times") if row["vm_memory_gb"]]
    assert len(rows) == 24 and {row["vsphere"] for row in rows} == {"7.0"}
    sizes = np.array([(1, row["frame_buffer_gb"], row["vm_memory_gb"]) for row in rows])
    stuns = np.array([row["stun_s"] for row in rows])
    fitted, squares, *_ = np.linalg.lstsq(sizes, stuns, rcond=None)
    errors = np.sqrt(np.diag(np.linalg.inv(sizes.T @ sizes)) * squares[0] / 21)
    wide = student.ppf(0.975, 21) * errors

    item = catalog.assumptions["vmotion-worst-stun-10g"]
    names = ("fixed_s", "copy_rate_gb_s", "memory_rate_gb_s")
    fixed, copied, memory = (item.fact(name) for name in names)
    assert {item.fact(name).basis for name in names} == {"fitted"}
    assert (fixed.value, fixed.low, fixed.high) == pytest.approx(
        (fitted[0], fitted[0] - wide[0], fitted[0] + wide[0]), abs=5e-4
    )
    for fact, slope, by in ((copied, fitted[1], wide[1]), (memory, fitted[2], wide[2])):
        expected = 1 / slope, 1 / (slope + by), 1 / (slope - by)
        assert (fact.value, fact.low, fact.high) == pytest.approx(expected, rel=1e-3)

    chosen = {name: float(item.fact(name).value) for name in names}
    measured = catalog.assumptions["vmotion-stun-10g"]
    line = {name: float(measured.fact(name).value) for name in names[:2]}
    off = []
    for row in rows:
        vgpu, stun = row["frame_buffer_gb"], row["stun_s"]
        worst = worst_stun_time_s(vgpu, vm_memory_gb=row["vm_memory_gb"], **chosen)
        off.append(abs(worst - stun))
        assert worst > stun_time_s(vgpu, **line)
    assert max(off) < 2
    assert max(off) == pytest.approx(0.50, abs=0.02) and np.mean(off) == pytest.approx(0.27, abs=0.01)


@pytest.mark.parametrize(
    ("name", "version"), [("vmotion-stun-10g", "7.0"), ("vmotion-stun-10g-6.7u3", "6.7u3")]
)
def test_stuns_are_within_two_seconds_of_those_measured(catalog: Catalog, name: str, version: str) -> None:
    item = catalog.assumptions[name]
    line = {field: float(item.fact(field).value) for field in ("fixed_s", "copy_rate_gb_s")}
    rows = [row for row in catalog.rows("stun_times") if row["gpu"] and row["vsphere"] == version]
    assert len(rows) == 6
    for row in rows:
        assert abs(stun_time_s(row["frame_buffer_gb"], **line) - row["stun_s"]) < 2, row


@given(st.floats(0, 1000), st.floats(0, 1000))
def test_one_vm_after_another_takes_no_less_than_one_with_all_the_frame_buffer(a: float, b: float) -> None:
    line = {"fixed_s": 1.67, "copy_rate_gb_s": 0.84}
    together = stun_time_s(a + b, **line)
    assert evacuation_time_s(stun_time_s(a, **line), stun_time_s(b, **line)) >= together


# ---- several pools, hosts already there, and the bet on maintenance


def test_hosts_already_there_have_their_own_gpus() -> None:
    assert installed_gpus(8, gpus_per_host=4) == 32
    assert installed_gpus(5, gpus_per_host=8, existing_hosts=2, existing_gpus_per_host=3) == 3 * 8 + 2 * 3


def test_the_bet_is_open_while_the_only_spare_host_is_in_maintenance() -> None:
    assert exposed_hours_h(8, hosts_needed=7, maintenance_h=128) == 128
    assert exposed_hours_h(9, hosts_needed=7, maintenance_h=144) == 0
    assert exposed_hours_h(7, hosts_needed=7, maintenance_h=112) == 112
    assert exposed_hours_h(0, hosts_needed=0, maintenance_h=0) == 0


def test_the_chance_of_losing_the_bet() -> None:
    rates = {"mtbf_h": 16000, "repair_h": 48}
    by_hand = 1 - math.exp(-7 * 128 / 16000)  # seven hosts left, each failing once in 16000 h, for 128 h
    chance = maintenance_chance(8, hosts_needed=7, maintenance_h=128, **rates)
    assert chance == pytest.approx(
        by_hand, rel=0.03
    )  # the form weighs it with all seven being up at the start
    assert maintenance_chance(7, hosts_needed=7, maintenance_h=112, **rates) == 1
    assert maintenance_chance(8, hosts_needed=7, maintenance_h=0, **rates) == 0
    one_more = maintenance_chance(9, hosts_needed=7, maintenance_h=144, **rates)
    assert 0 < one_more < chance / 10


def test_chances_of_pools_that_fail_independently() -> None:
    assert chance_over_pools(0.5, 0.5) == 0.75
    assert chance_over_pools(0.2) == pytest.approx(0.2)
    assert chance_over_pools() == 0
