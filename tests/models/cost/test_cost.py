"""Cost: spreadsheets by other routes, conservation, directions, and refused inputs."""

from __future__ import annotations

import math
import random
import re
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.polynomial import Polynomial

from gpuplan.models.cost import (
    allocated_cost,
    avoided_hour_price,
    breakeven_utilisation,
    combined_range,
    crossover_year,
    gpu_hour_cost,
    installed_gpu_hours,
    later_price,
    net_present_cost,
    planned_utilisation,
    purchase_cost,
    rent_cost,
    selling_price,
    total_cost,
    used_gpu_hours,
)

MONEY = st.floats(0, 1e9)
CASH = st.lists(st.floats(-1e9, 1e9), min_size=1, max_size=8)
RATES = st.floats(0, 1)
COUNTS = st.integers(0, 1000)


# ---- purchases and sums


def test_purchases_by_hand() -> None:
    assert purchase_cost(8, unit_price=12500) == 100000
    assert purchase_cost(0, unit_price=12500) == 0
    assert purchase_cost(38.5, unit_price=0.2) == pytest.approx(7.7)
    assert purchase_cost(2, unit_price=10000, discount=0.35) == pytest.approx(13000)
    assert purchase_cost(2, unit_price=10000, discount=1) == 0


def test_a_later_price_by_hand() -> None:
    assert later_price(10_000, yearly_change=0, year=5) == 10_000
    assert later_price(10_000, yearly_change=-0.1, year=3) == pytest.approx(7_290)
    assert later_price(10_000, yearly_change=0.05, year=0) == 10_000
    for wrong in ({"yearly_change": -1}, {"yearly_change": math.nan}):
        with pytest.raises(ValueError, match="yearly_change"):
            later_price(1, year=1, **wrong)


@given(st.floats(0, 1e6), st.floats(0, 1e6), MONEY, RATES, RATES)
def test_more_never_costs_less_and_a_higher_discount_never_more(
    some: float, more: float, price: float, one: float, other: float
) -> None:
    assert purchase_cost(some + more, unit_price=price) >= purchase_cost(some, unit_price=price) >= 0
    assert purchase_cost(some, unit_price=price + more) >= purchase_cost(some, unit_price=price)
    small, large = sorted((one, other))
    dear, cheap = (purchase_cost(some, unit_price=price, discount=share) for share in (small, large))
    assert 0 <= cheap <= dear <= purchase_cost(some, unit_price=price)


@given(CASH, st.randoms(use_true_random=False))
def test_a_total_does_not_depend_on_the_order(parts: list[float], order: random.Random) -> None:
    exactly = float(sum(map(Fraction, parts)))
    assert total_cost(*parts) == exactly
    order.shuffle(parts)
    assert total_cost(*parts) == exactly


def test_a_total_of_nothing_is_zero_and_income_counts_against() -> None:
    assert total_cost() == 0
    assert total_cost(1000, 200, -150) == 1050
    assert total_cost(1e16, 1, -1e16) == 1


# ---- net present cost


@pytest.mark.parametrize(
    ("rate", "values", "npv"),
    # the worked examples of the FormCalc reference
    [
        (0.065, [5000], 4694.83568075117),
        (0.10, [500, 1500, 4000, 10000], 11529.60863329007),
        (0.0275 / 12, [50, 60, 40, 100, 25], 273.14193838457),
    ],
)
def test_net_present_cost_is_the_start_and_the_npv_of_a_spreadsheet(
    rate: float, values: list[float], npv: float
) -> None:
    assert net_present_cost([0, *values], rate=rate) == pytest.approx(npv, abs=1e-9)
    assert net_present_cost([7000, *values], rate=rate) == pytest.approx(7000 + npv, abs=1e-9)


@given(CASH, RATES)
def test_net_present_cost_is_a_polynomial_in_the_discount_factor(cash: list[float], rate: float) -> None:
    worked = float(Polynomial(cash)(1 / (1 + rate)))
    assert net_present_cost(cash, rate=rate) == pytest.approx(worked, rel=1e-9, abs=1e-3)


@given(CASH, RATES)
def test_net_present_cost_is_what_an_account_must_hold(cash: list[float], rate: float) -> None:
    """Put the net present cost into an account, pay each year from it: it ends empty."""
    balance = Fraction(net_present_cost(cash, rate=rate)) - Fraction(cash[0])
    for paid in cash[1:]:
        balance = balance * (1 + Fraction(rate)) - Fraction(paid)
    assert abs(balance) <= 1e-12 * sum(map(abs, cash)) * (1 + rate) ** len(cash)


@given(CASH)
def test_at_rate_zero_it_is_the_plain_sum(cash: list[float]) -> None:
    assert net_present_cost(cash, rate=0) == total_cost(*cash)


@given(MONEY, st.integers(1, 7), st.floats(0.001, 1))
def test_equal_years_are_an_annuity(yearly: float, years: int, rate: float) -> None:
    annuity = yearly * (1 - (1 + rate) ** -years) / rate
    assert net_present_cost([0, *[yearly] * years], rate=rate) == pytest.approx(annuity, rel=1e-9)


@given(st.lists(MONEY, min_size=1, max_size=8), st.data(), RATES, RATES, MONEY)
def test_present_cost_falls_with_the_rate_and_grows_with_any_year(
    cash: list[float], data: st.DataObject, one: float, other: float, more: float
) -> None:
    small, large = sorted((one, other))
    assert net_present_cost(cash, rate=large) <= net_present_cost(cash, rate=small) <= total_cost(*cash)
    year = data.draw(st.integers(0, len(cash) - 1))
    dearer = [paid + more * (k == year) for k, paid in enumerate(cash)]
    assert net_present_cost(dearer, rate=one) >= net_present_cost(cash, rate=one)


@given(st.lists(st.lists(MONEY, min_size=6, max_size=6), min_size=1, max_size=5), RATES)
def test_net_present_cost_of_the_parts_sums_to_that_of_the_whole(
    parts: list[list[float]], rate: float
) -> None:
    whole = [total_cost(*year) for year in zip(*parts, strict=True)]
    of_parts = total_cost(*(net_present_cost(part, rate=rate) for part in parts))
    assert net_present_cost(whole, rate=rate) == pytest.approx(of_parts)


def test_no_years_cost_nothing() -> None:
    assert net_present_cost([], rate=0.08) == 0


# ---- GPU-hours


def test_gpu_hours_by_hand() -> None:
    assert installed_gpu_hours(32) == 280320
    assert used_gpu_hours(32, utilisation=0.25) == 70080
    assert used_gpu_hours(32, utilisation=1) == installed_gpu_hours(32)
    assert gpu_hour_cost(140160, gpu_hours=70080) == 2
    assert rent_cost(70080, hour_price=2.5) == 175200


def test_planned_utilisation_by_hand() -> None:
    assert planned_utilisation(14, gpus=16) == 0.875
    assert planned_utilisation(0, gpus=16) == 0
    assert planned_utilisation(20, gpus=16) == 1  # shared GPUs may be held by more than one
    assert planned_utilisation(14, gpus=16, stated=0.25) == 0.25
    assert planned_utilisation(14, gpus=16, stated=0) == 0


@given(st.floats(0, 1e4), st.integers(1, 10_000), st.floats(0, 100))
def test_planned_utilisation_is_a_share_that_grows_with_use_and_falls_with_gpus(
    busy: float, gpus: int, more: float
) -> None:
    share = planned_utilisation(busy, gpus=gpus)
    assert 0 <= share <= 1
    assert used_gpu_hours(gpus, utilisation=share) <= installed_gpu_hours(gpus)
    assert planned_utilisation(busy + more, gpus=gpus) >= share >= planned_utilisation(busy, gpus=gpus + more)


@given(MONEY, st.integers(1, 1000), st.floats(0.01, 1))
def test_a_used_hour_costs_an_installed_one_over_the_utilisation(
    cost: float, gpus: int, utilisation: float
) -> None:
    installed = gpu_hour_cost(cost, gpu_hours=installed_gpu_hours(gpus))
    used = gpu_hour_cost(cost, gpu_hours=used_gpu_hours(gpus, utilisation=utilisation))
    assert used == pytest.approx(installed / utilisation)
    assert used >= installed * (1 - 1e-12)


# ---- rent or buy


# ---- risk and groups


def test_the_price_of_an_avoided_hour_by_hand() -> None:
    assert avoided_hour_price(60000, hours_removed_h=480) == 125
    assert avoided_hour_price(-100, hours_removed_h=50) == -2
    assert avoided_hour_price(0, hours_removed_h=50) == 0


def test_allocation_by_hand() -> None:
    assert allocated_cost(1000, shares=[3, 1]) == (750, 250)
    assert allocated_cost(1000, shares=[0, 2, 0]) == (0, 1000, 0)
    assert allocated_cost(0, shares=[1, 2]) == (0, 0)


@given(st.floats(-1e9, 1e9), st.lists(st.floats(0, 1e6), min_size=1, max_size=30), st.floats(0.01, 100))
def test_allocation_sums_to_the_total_and_depends_on_ratios_only(
    total: float, shares: list[float], factor: float
) -> None:
    shares[0] += 1
    parts = allocated_cost(total, shares=shares)
    assert len(parts) == len(shares)
    assert math.fsum(parts) == pytest.approx(total, rel=1e-12, abs=1e-12)
    scaled = allocated_cost(total, shares=[share * factor for share in shares])
    assert scaled == pytest.approx(parts, rel=1e-9, abs=1e-9)
    for part, share in zip(parts, shares, strict=True):
        assert abs(part) <= abs(total) * (1 + 1e-12) and (share > 0 or part == 0)


# ---- refused


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: purchase_cost(-1, unit_price=2), "quantity is -1; it must be at least 0, and finite"),
        (lambda: purchase_cost(1, unit_price=math.nan), "unit_price is nan"),
        (
            lambda: purchase_cost(1, unit_price=2, discount=20),
            "discount is 20; it must be from 0 to 1",
        ),
        (lambda: planned_utilisation(-1, gpus=16), "busy_gpus is -1"),
        (lambda: planned_utilisation(14, gpus=0), "gpus is 0; it must be above 0, and finite"),
        (lambda: planned_utilisation(14, gpus=16, stated=30), "stated is 30; it must be from 0 to 1"),
        (lambda: total_cost(1, math.inf), "parts_cost has inf; it must be finite"),
        (lambda: net_present_cost([1, math.nan], rate=0.1), "cash has nan; it must be finite"),
        (lambda: net_present_cost([1], rate=8), "rate is 8; it must be from 0 to 1"),
        (lambda: net_present_cost([1], rate=-0.1), "rate is -0.1; it must be from 0 to 1"),
        (lambda: installed_gpu_hours(-1), "gpus is -1"),
        (lambda: used_gpu_hours(4, utilisation=40), "utilisation is 40; it must be from 0 to 1"),
        (lambda: gpu_hour_cost(100, gpu_hours=0), "gpu_hours is 0; it must be above 0, and finite"),
        (lambda: gpu_hour_cost(math.inf, gpu_hours=1), "total_cost has inf"),
        (lambda: rent_cost(-1, hour_price=2), "used_gpu_hours is -1"),
        (lambda: rent_cost(1, hour_price=-2), "hour_price is -2"),
        (
            lambda: breakeven_utilisation(1, rent_hour_price=0),
            "rent_hour_price is 0; it must be above 0, and finite",
        ),
        (lambda: breakeven_utilisation(-1, rent_hour_price=1), "installed_gpu_hour_cost is -1"),
        (
            lambda: crossover_year([1, 2], rent_cash=[1]),
            "own_cash has 2 years, rent_cash 1; both need as many",
        ),
        (lambda: crossover_year([1, math.inf], rent_cash=[1, 2]), "own_cash has inf"),
        (lambda: crossover_year([1, 2], rent_cash=[1, math.nan]), "rent_cash has nan"),
        (
            lambda: avoided_hour_price(1, hours_removed_h=0),
            "hours_removed_h is 0; it must be above 0, and finite",
        ),
        (lambda: avoided_hour_price(math.nan, hours_removed_h=1), "extra_cost has nan"),
        (lambda: allocated_cost(1, shares=[]), "shares is []; one at least must be above 0"),
        (lambda: allocated_cost(1, shares=[0, 0]), "shares is [0, 0]; one at least must be above 0"),
        (lambda: allocated_cost(1, shares=[1, -1]), "shares is -1; it must be at least 0, and finite"),
        (lambda: allocated_cost(math.inf, shares=[1]), "total_cost has inf"),
    ],
)
def test_bad_input_is_refused(call: Callable[[], object], message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        call()


def test_a_selling_price_leaves_its_share() -> None:
    assert selling_price(8_500, margin=0.15) == 10_000
    assert selling_price(100, margin=0.18) == 121.95  # 121.9512...
    assert selling_price(100.123, margin=0) == 100.123
    assert selling_price(0, margin=0.5) == 0
    assert selling_price(0.001, margin=0.5) == 0.002  # never rounded to nothing
    with pytest.raises(ValueError, match="below 1"):
        selling_price(1, margin=1)
    with pytest.raises(ValueError, match="margin"):
        selling_price(1, margin=-0.1)


def test_breakeven_by_hand() -> None:
    assert breakeven_utilisation(0.8, rent_hour_price=2) == pytest.approx(0.4)
    assert breakeven_utilisation(3, rent_hour_price=2) == 1.5
    assert breakeven_utilisation(0, rent_hour_price=2) == 0


@given(st.floats(1, 1e8), st.integers(1, 1000), st.floats(0.01, 100))
def test_at_the_breakeven_owning_costs_what_renting_does(own: float, gpus: int, price: float) -> None:
    hours = installed_gpu_hours(gpus)
    share = breakeven_utilisation(gpu_hour_cost(own, gpu_hours=hours), rent_hour_price=price)
    assert rent_cost(hours * share, hour_price=price) == pytest.approx(own)
    assert share > 1 or rent_cost(used_gpu_hours(gpus, utilisation=share / 2), hour_price=price) < own


@pytest.mark.parametrize(
    ("own", "rent", "year"),
    [
        ([900, 100, 100, 100], [0, 400, 400, 400], 3),  # 900, 600, 300, 0 dearer
        ([900, 100, 100], [0, 700, 700], 1.5),  # 900, 300, -300
        ([100, 0], [0, 400], 0.25),
        ([900, 100, 100], [0, 400, 400], None),
        ([0, 100], [0, 50], 0),
        ([100, 900], [200, 0], 0),
        ([100, 0, 500, 0], [0, 200, 200, 200], 0.5),  # a purchase makes it the dearer one again in year 2
        ([400, 0, 300, 0], [0, 300, 300, 300], 2 + 1 / 3),  # 400, 100, 100, -200
        ([1000.5, 0, 0], [0, 1000, 1], 1.5),  # half a unit dearer after year 1 still is dearer
        ([], [], None),
    ],
)
def test_crossover_by_hand(own: list[float], rent: list[float], year: float | None) -> None:
    found = crossover_year(own, rent_cash=rent)
    assert found == (None if year is None else pytest.approx(year))


@given(st.integers(1, 7), st.data())
def test_crossover_is_where_the_running_sums_meet_first(years: int, data: st.DataObject) -> None:
    sums = st.lists(st.integers(0, 1000), min_size=years + 1, max_size=years + 1)
    own, rent = data.draw(sums), data.draw(sums)

    def dearer(at: float) -> float:
        """Own less rent up to a moment, each year's paid evenly over the year."""
        spent = [c - r for c, r in zip(own, rent, strict=True)]
        return spent[0] + sum(paid * min(1, max(0, at - k)) for k, paid in enumerate(spent[1:]))

    found = crossover_year(own, rent_cash=rent)
    until = years if found is None else found
    assert found is None or (0 <= found <= years and dearer(found) <= 1e-9)
    assert all(dearer(until * k / 50) > -1e-9 for k in range(50) if until)
    if found is None:
        assert all(dearer(k) > 0 for k in range(years + 1))


MOVES = st.lists(st.tuples(st.floats(-1e6, 1e6), st.floats(-1e6, 1e6)), max_size=8)
NINETY = 1.6448536269514722
"""Standard deviations from the middle that hold 90 % of a normal distribution on both sides."""


def test_by_hand() -> None:
    assert combined_range(100, ends=[(97, 103), (96, 104)]) == pytest.approx((95, 105))
    assert combined_range(100, ends=[(90, 120)]) == (90, 120)
    assert combined_range(100, ends=[(120, 90)]) == (90, 120)
    assert combined_range(100, ends=[(100, 130), (100, 140)]) == (100, 150)
    assert combined_range(-5, ends=[]) == (-5, -5)
    half = [(50, 150), (50, 150)]
    assert combined_range(100, ends=half, outermost=(25, 225)) == combined_range(100, ends=half)
    assert combined_range(100, ends=[(20, 100), (20, 100)], outermost=(4, 100)) == (4, 100), (
        "a product of the two"
    )


@given(st.floats(-1e6, 1e6), MOVES)
def test_between_the_widest_cause_and_all_at_their_worst(
    planned: float, ends: list[tuple[float, float]]
) -> None:
    low, high = combined_range(planned, ends=ends)
    below = [max(0.0, planned - min(pair)) for pair in ends]
    above = [max(0.0, max(pair) - planned) for pair in ends]
    slack = 1e-9 * (1 + abs(planned) + math.fsum([*below, *above]))
    assert max(below, default=0) - slack <= planned - low <= math.fsum(below) + slack
    assert max(above, default=0) - slack <= high - planned <= math.fsum(above) + slack


@pytest.mark.parametrize(
    ("ends", "off"),
    [
        ([(-3, 3), (-4, 4), (-12, 12)], 0.01),
        ([(-10, 20), (-15, 10), (-30, 40), (-5, 8)], 0.06),
    ],
)
def test_against_draws_at_random(ends: list[tuple[float, float]], off: float) -> None:
    """Each cause drawn by itself, its range the middle 90 %: the range of the sum is the middle 90 % of the sums."""
    draws = np.random.default_rng(1).normal(size=(len(ends), 400_000)) / NINETY
    sums = sum(np.where(z < 0, -low * z, high * z) for z, (low, high) in zip(draws, ends, strict=True))
    low, high = combined_range(0, ends=ends)
    width = high - low
    assert np.quantile(sums, [0.05, 0.95]) == pytest.approx([low, high], abs=off * width)
    assert np.mean((sums > low) & (sums < high)) == pytest.approx(0.9, abs=0.02)


@pytest.mark.parametrize("planned", [math.inf, math.nan])
def test_what_is_not_finite_is_refused(planned: float) -> None:
    with pytest.raises(ValueError, match="finite"):
        combined_range(planned, ends=[])
    with pytest.raises(ValueError, match="finite"):
        combined_range(0, ends=[(0, planned)])
