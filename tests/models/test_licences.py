"""Licences: by hand, by enumeration, and what is refused."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable, Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuplan.models.cost import net_present_cost
from gpuplan.models.licences import (
    licensed_cores,
    licensed_sockets,
    ordered_licences,
    perpetual_payment,
    subscription_payments,
)

COUNTS = st.integers(0, 1000)
TERM = {"yearly_price": 1, "term_years": 5, "horizon_years": 7}


@pytest.mark.parametrize(
    ("hosts", "sockets", "cores", "licensed"),
    [(8, 2, 24, 384), (8, 2, 16, 256), (8, 2, 8, 256), (8, 1, 32, 256), (1, 1, 17, 17), (0, 2, 24, 0)],
)
def test_a_socket_counts_at_least_16_cores(hosts: int, sockets: int, cores: int, licensed: int) -> None:
    assert licensed_cores(hosts, sockets=sockets, cores_per_socket=cores) == licensed


def test_another_minimum() -> None:
    assert licensed_cores(2, sockets=2, cores_per_socket=12, minimum_cores=0) == 48
    assert licensed_cores(2, sockets=2, cores_per_socket=12, minimum_cores=32) == 128


@given(COUNTS, st.integers(1, 8), st.integers(1, 128), st.integers(0, 64))
def test_more_cores_never_need_fewer_licences(hosts: int, sockets: int, cores: int, least: int) -> None:
    given = {"hosts": hosts, "sockets": sockets, "cores_per_socket": cores, "minimum_cores": least}
    one_by_one = sum(max(cores, least) for _ in range(hosts) for _ in range(sockets))
    assert licensed_cores(**given) == one_by_one >= hosts * sockets * cores
    for name in given:
        assert licensed_cores(**{**given, name: given[name] + 1}) >= one_by_one


@pytest.mark.parametrize(
    ("hosts", "cores", "licences"),
    [(8, 28, 16), (8, 32, 16), (8, 33, 32), (8, 48, 32), (8, 64, 32), (8, 65, 48), (0, 48, 0)],
)
def test_a_licence_by_the_socket_covers_32_cores(hosts: int, cores: int, licences: int) -> None:
    assert licensed_sockets(hosts, sockets=2, cores_per_socket=cores) == licences


def years_covered(bought: int, included: int, horizon: int) -> list[int]:
    """Years of operation after the included ones, of a thing bought so many years after the start."""
    return [year for year in range(1, horizon + 1) if year > bought][included:]


def cases() -> Iterator[tuple[int, dict[str, int], list[int]]]:
    """Horizon, when something is bought and what is included, and the years that are left to pay."""
    for horizon, bought, included in itertools.product(range(1, 8), range(8), range(7)):
        when = {"bought_year": bought, "years_included": included}
        yield horizon, when, years_covered(bought, included, horizon)


@given(st.lists(st.integers(0, 300), max_size=8).map(sorted), st.integers(0, 100))
def test_orders_cover_what_is_needed_and_no_order_is_below_its_minimum(needed: list[int], least: int) -> None:
    owned = 0
    for needs, order in zip(needed, ordered_licences(needed, minimum_order=least), strict=True):
        assert order == 0 or order >= least
        assert (order > 0) == (needs > owned)
        owned += order
        assert needs <= owned < needs + max(least, 1) or owned == needs


def test_an_order_has_at_least_72_cores() -> None:
    assert ordered_licences([64, 64, 128, 130], minimum_order=72) == (72, 0, 72, 0)
    assert ordered_licences([0, 512, 576], minimum_order=72) == (0, 512, 72)
    assert licensed_cores(1, sockets=2, cores_per_socket=12, minimum_order=72) == 72
    assert licensed_cores(0, sockets=2, cores_per_socket=12, minimum_order=72) == 0


@pytest.mark.parametrize("term", [1, 2, 3, 5])
def test_subscriptions_by_a_register(term: int) -> None:
    """Buy whenever nothing runs: a whole term first, and then, or after years that came with the purchase, as long as whole ones fit; what is left, year by year."""
    for horizon, when, due in cases():
        cash, left = [0] * (horizon + 1), list(due)
        while left:
            whole = (left == due and not when["years_included"]) or len(left) >= term
            cash[left[0] - 1] = 3 * (term * 100 if whole else 130)
            left = left[term if whole else 1 :]
        assert subscription_payments(
            3, yearly_price=100, renewal_price=130, term_years=term, horizon_years=horizon, **when
        ) == tuple(cash), (horizon, when)


@pytest.mark.parametrize(
    ("given", "paid"),
    [
        ({"term_years": 5, "horizon_years": 5}, {0: 50}),
        ({"term_years": 5, "horizon_years": 4}, {0: 50}),
        ({"term_years": 5, "horizon_years": 6}, {0: 50, 5: 12}),
        ({"term_years": 3, "horizon_years": 5}, {0: 30, 3: 12, 4: 12}),
        ({"term_years": 3, "horizon_years": 7}, {0: 30, 3: 30, 6: 12}),
        ({"term_years": 1, "horizon_years": 3}, {0: 10, 1: 10, 2: 10}),
        ({"term_years": 3, "horizon_years": 8, "bought_year": 2}, {2: 30, 5: 30}),
        ({"term_years": 3, "horizon_years": 5, "bought_year": 2}, {2: 30}),
        ({"term_years": 3, "horizon_years": 7, "bought_year": 3}, {3: 30, 6: 12}),
        ({"term_years": 3, "horizon_years": 7, "bought_year": 6}, {6: 30}),
        ({"term_years": 3, "horizon_years": 7, "bought_year": 7}, {}),
        ({"term_years": 1, "horizon_years": 5, "years_included": 3}, {3: 10, 4: 10}),
        ({"term_years": 3, "horizon_years": 5, "years_included": 5}, {}),
        ({"term_years": 3, "horizon_years": 7, "years_included": 5}, {5: 12, 6: 12}),
        ({"term_years": 3, "horizon_years": 8, "years_included": 5}, {5: 30}),
    ],
)
def test_subscriptions_by_hand(given: dict[str, int], paid: dict[int, float]) -> None:
    cash = subscription_payments(1, yearly_price=10, renewal_price=12, **given)
    assert len(cash) == given["horizon_years"] + 1
    assert {year: cost for year, cost in enumerate(cash) if cost} == paid


def test_the_present_value_of_a_prepaid_subscription_by_hand() -> None:
    """100 a year for 5 years at 8 %: 3 years at once, then two single years at 110; in advance costs more than afterwards."""
    prepaid = subscription_payments(1, yearly_price=100, horizon_years=5, term_years=3, renewal_price=110)
    present = 300 + 110 / 1.259712 + 110 / 1.36048896
    assert net_present_cost(prepaid, rate=0.08) == pytest.approx(present) == pytest.approx(468.1749, abs=1e-4)
    yearly = net_present_cost(subscription_payments(1, yearly_price=100, horizon_years=5), rate=0.08)
    assert yearly == pytest.approx(100 * (1 - 1.08**-5) / 0.08 * 1.08) == pytest.approx(431.2127, abs=1e-4)
    assert yearly == pytest.approx(1.08 * net_present_cost([0, *[100] * 5], rate=0.08))
    whole = subscription_payments(1, yearly_price=100, horizon_years=5, term_years=5)
    assert net_present_cost(whole, rate=0.08) == 500


def test_a_perpetual_licence_is_paid_once_or_not_at_all() -> None:
    for horizon, when, due in cases():
        cash = perpetual_payment(2, price=10, horizon_years=horizon, **when)
        assert {year: paid for year, paid in enumerate(cash) if paid} == ({due[0] - 1: 20} if due else {})


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: licensed_sockets(2, sockets=2, cores_per_socket=0),
            "cores_per_socket is 0; it must be a whole number, at least 1",
        ),
        (lambda: licensed_sockets(2.5, sockets=2, cores_per_socket=16), "hosts is 2.5"),
        (
            lambda: licensed_cores(2.5, sockets=2, cores_per_socket=16),
            "hosts is 2.5; it must be a whole number, at least 0",
        ),
        (lambda: licensed_cores(2, sockets=-2, cores_per_socket=16), "sockets is -2"),
        (lambda: licensed_cores(2, sockets=2, cores_per_socket=math.nan), "cores_per_socket is nan"),
        (lambda: subscription_payments(-1, **TERM), "licences is -1"),
        (lambda: subscription_payments(1, **{**TERM, "yearly_price": math.inf}), "yearly_price is inf"),
        (lambda: subscription_payments(1, **TERM, renewal_price=-1), "renewal_price is -1"),
        (lambda: subscription_payments(1, **TERM, bought_year=-1), "bought_year is -1"),
        (lambda: subscription_payments(1, **TERM, years_included=0.5), "years_included is 0.5"),
        (lambda: subscription_payments(1, **{**TERM, "term_years": 0}), "term_years is 0"),
        (lambda: subscription_payments(1, **{**TERM, "horizon_years": -1}), "horizon_years is -1"),
        (lambda: perpetual_payment(1, price=-1, horizon_years=5), "price is -1"),
        (lambda: perpetual_payment(1, price=1, horizon_years=1.5), "horizon_years is 1.5"),
        (lambda: ordered_licences([1, -1], minimum_order=72), "needed is -1"),
        (lambda: ordered_licences([1], minimum_order=-72), "minimum_order is -72"),
    ],
)
def test_bad_input_is_refused(call: Callable[[], object], message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        call()
