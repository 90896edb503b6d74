"""Demand: hand values, limits, directions, and arithmetic that is exact on the decimals given."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuplan.models.demand import (
    active_people,
    admitted_vms,
    group_demand_gpus,
    group_vms,
    mean_active,
    planned_demand_gpus,
    planned_requests,
    total_demand_gpus,
)

PEOPLE = st.integers(0, 100_000)
PERCENT = st.integers(0, 10_000)


@pytest.mark.parametrize(
    ("people", "share", "active"),
    [
        (30, 0.1, 3),  # 30 x 1/10 = 3, though 30 * 0.1 is 3.0000000000000004 in floats
        (10, 0.35, 4),  # 3.5, rounded up
        (32, 0.5, 16),
        (40, 0.4, 16),
        (3, 1 / 3, 1),  # a third, not 0.3333333333333333
        (100_000, 0.00004, 4),  # 100000 / 25000
        (20_000, 0.12345, 2469),  # exactly 2469
        (1, 1e-9, 1),  # somebody is active: one person
        (0, 1.0, 0),
        (7, 0.0, 0),
        (7, 1.0, 7),
    ],
)
def test_active_people(people: int, share: float, active: int) -> None:
    assert active_people(people, active_share=share) == active


@given(PEOPLE, PERCENT)
def test_active_people_are_the_exact_product_rounded_up(people: int, hundredths: int) -> None:
    share = hundredths / 10_000
    exact = Fraction(people * hundredths, 10_000)
    assert active_people(people, active_share=share) == -(-exact.numerator // exact.denominator)


@given(PEOPLE, PERCENT, PERCENT)
def test_more_people_or_a_larger_share_never_means_fewer_active(people: int, one: int, other: int) -> None:
    low, high = sorted((one / 10_000, other / 10_000))
    assert active_people(people, active_share=low) <= active_people(people, active_share=high) <= people
    assert active_people(people, active_share=low) <= active_people(people + 1, active_share=low)


def test_group_vms() -> None:
    assert group_vms(2, vms_each=8) == 16  # two jobs of eight workers
    assert group_vms(0, vms_each=8) == 0
    assert group_vms(5, vms_each=1) == 5


def test_group_demand() -> None:
    assert group_demand_gpus(16, gpus_each=0.125) == 2.0  # 16 / 8
    assert group_demand_gpus(3, gpus_each=4) == 12.0
    assert group_demand_gpus(14, gpus_each=1 / 7) == 2.0  # seven of them are one GPU, not 0.9999
    assert group_demand_gpus(0, gpus_each=1) == 0.0


def test_total_is_the_sum_without_rounding_noise() -> None:
    assert total_demand_gpus() == 0.0
    assert total_demand_gpus(12.0, 8.0, 2.0, 2.0, 4.0) == 28.0  # the enterprise example
    assert total_demand_gpus(*[0.1] * 10) == 1.0  # sum() of ten 0.1 is 0.9999999999999999


@pytest.mark.parametrize(
    ("vms", "each", "left", "fit"),
    [
        (10, 0.5, 4.0, 8),  # 4 / 0.5
        (10, 0.5, 100.0, 10),  # all of them
        (10, 4, 3.0, 0),  # none
        (10, 3, 10.0, 3),  # 3 x 3 = 9, one GPU is left over
        (14, 1 / 7, 2.0, 14),  # exactly two GPUs
        (30, 0.1, 3.0, 30),
        (5, 1, 0.0, 0),
    ],
)
def test_admitted_vms(vms: int, each: float, left: float, fit: int) -> None:
    assert admitted_vms(vms, gpus_each=each, gpus_left=left) == fit


@given(
    st.integers(0, 1000),
    st.sampled_from([0.01, 0.1, 1 / 8, 1 / 7, 1 / 3, 0.5, 1, 2, 3, 16]),
    st.integers(0, 400),
)
def test_admitted_vms_fit_and_one_more_would_not(vms: int, each: float, left: int) -> None:
    fit = admitted_vms(vms, gpus_each=each, gpus_left=left)
    assert 0 <= fit <= vms
    assert group_demand_gpus(fit, gpus_each=each) <= left
    assert fit == vms or group_demand_gpus(fit + 1, gpus_each=each) > left


def test_a_stated_total_wins() -> None:
    assert planned_demand_gpus(20.0, stated_gpus=28) == 28.0
    assert planned_demand_gpus(40.0, stated_gpus=28) == 28.0
    assert planned_demand_gpus(20.0, stated_gpus=None) == 20.0


def test_mean_active_by_hand() -> None:
    assert mean_active([40], shares=[0.25]) == 10
    assert mean_active([30, 10, 5], shares=[0.1, 0.5, 0]) == 8  # 3 + 5 + 0
    assert mean_active([], shares=[]) == 0
    with pytest.raises(ValueError, match="zip"):
        mean_active([1, 2], shares=[0.5])


@pytest.mark.parametrize(
    ("gpus", "loads", "spreads", "sizes", "most", "requests"),
    [
        (10, [4.0], [2.0], [2], [99], (5,)),  # five of two GPUs
        (9, [4.0], [2.0], [2], [99], (5,)),  # four would be one GPU short
        (10, [4.0], [2.0], [2], [3], (3,)),  # three people want no more than that
        (6, [2.0, 2.0], [1.0, 3.0], [1, 1], [9, 2], (4, 2)),  # two people of the second group: the first makes up for them
        (6, [2.0, 2.0], [1.0, 1.0], [1, 1], [9, 9], (3, 3)),  # one spread above the mean
        (8, [2.0, 2.0], [1.0, 3.0], [1, 1], [9, 9], (3, 5)),  # the same, spread 1 and 3
        (7, [2.0, 2.0], [1.0, 3.0], [1, 1], [9, 9], (3, 4)),  # a third of it: 2.33 and 3, rounded up
        (5, [2.0, 2.0], [1.0, 1.0], [1, 1], [9, 9], (2, 3)),  # hardly above the mean 3 + 3, one too many: the first
        # just above one spread 3, 3 and 3 want 12 + 3 + 3; of 2.5 and 2.2, both rounded up to 3, the second is taken back
        (17, [1.0, 2.0, 2.0], [1.0, 0.5, 0.2], [4, 1, 1], [9, 9, 9], (3, 3, 2)),
        (16, [1.0, 2.0, 2.0], [1.0, 0.5, 0.2], [4, 1, 1], [9, 9, 9], (3, 2, 2)),
        (14, [1.0, 2.0, 2.0], [1.0, 0.5, 0.2], [4, 1, 1], [9, 9, 9], (2, 3, 3)),
        (8, [2.0, 4.0], [1.0, 2.0], [2, 0.5], [9, 9], (3, 4)),
        (1, [4.0, 4.0], [2.0, 2.0], [1, 1], [9, 9], (0, 1)),  # k = -2 wants nothing, a little more one of each
        (0, [4.0], [2.0], [1], [9], (0,)),
        (5, [3.0], [0.0], [1], [9], (3,)),  # without spread no more than the mean, which is whole
        (4, [3.2], [0.0], [1], [9], (4,)),
        (0.75, [2.0], [1.0], [0.25], [9], (3,)),
        (20, [2.0, 3.0], [1.0, 1.0], [1, 2], [4, 5], (4, 5)),  # all people are 14 GPUs
    ],
)  # fmt: skip
def test_a_crowded_moment_by_hand(
    gpus: float,
    loads: list[float],
    spreads: list[float],
    sizes: list[float],
    most: list[int],
    requests: tuple[int, ...],
) -> None:
    assert planned_requests(gpus, loads=loads, spreads=spreads, sizes_gpus=sizes, most=most) == requests
