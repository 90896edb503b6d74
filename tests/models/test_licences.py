"""Licences: by hand, by enumeration, and what is refused."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable, Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuplan.models.licences import (
    licensed_cores,
    licensed_sockets,
    subscription_cost,
    term_licence_purchases,
)

COUNTS = st.integers(0, 1000)
TERM = {"price": 1, "term_years": 5, "horizon_years": 7}


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
    """Years of operation after the included ones, of a thing bought in a year or at the start."""
    return [year for year in range(1, horizon + 1) if year >= bought][included:]


def cases() -> Iterator[tuple[int, dict[str, int], list[int]]]:
    """Horizon, when something is bought and what is included, and the years that are left to pay."""
    for horizon, bought, included in itertools.product(range(1, 8), range(8), range(7)):
        when = {"bought_year": bought, "years_included": included}
        yield horizon, when, years_covered(bought, included, horizon)


def test_subscriptions_by_enumeration() -> None:
    for horizon, when, due in cases():
        for year in range(1, horizon + 1):
            paid = subscription_cost(3, yearly_price=4500, year=year, **when)
            assert paid == (13500 if year in due else 0), (year, when)


def test_the_years_of_a_subscription() -> None:
    def paid(bought: int, included: int) -> list[int]:
        return [
            year
            for year in range(1, 8)
            if subscription_cost(1, yearly_price=1, year=year, bought_year=bought, years_included=included)
        ]

    assert paid(0, 0) == paid(1, 0) == [1, 2, 3, 4, 5, 6, 7]
    assert paid(0, 5) == paid(1, 5) == [6, 7]
    assert paid(3, 0) == [3, 4, 5, 6, 7]
    assert paid(3, 2) == [5, 6, 7]
    assert paid(3, 5) == []


@pytest.mark.parametrize("term", [1, 2, 3, 5])
def test_terms_cover_each_year_of_operation_once(term: int) -> None:
    """Buy a term in advance whenever none is running; what is then paid, and when, is the function's answer."""
    for horizon, when, due in cases():
        ahead = 0 if when["bought_year"] else 1  # what is bought at the start is paid before its first year
        cash = [0] * (horizon + 1)
        for year in due[::term]:
            cash[year - ahead] = 18000
        assert term_licence_purchases(
            1, price=18000, term_years=term, horizon_years=horizon, **when
        ) == tuple(cash), (horizon, when)


@pytest.mark.parametrize(
    ("given", "paid"),
    [
        ({"term_years": 5, "horizon_years": 5}, {0: 36000}),
        ({"term_years": 5, "horizon_years": 6}, {0: 36000, 5: 36000}),
        ({"term_years": 3, "horizon_years": 7}, {0: 36000, 3: 36000, 6: 36000}),
        ({"term_years": 5, "horizon_years": 7, "years_included": 5}, {5: 36000}),
        ({"term_years": 5, "horizon_years": 5, "years_included": 5}, {}),
        ({"term_years": 3, "horizon_years": 7, "bought_year": 2}, {2: 36000, 5: 36000}),
        ({"term_years": 3, "horizon_years": 7, "bought_year": 7}, {7: 36000}),
        ({"term_years": 3, "horizon_years": 7, "bought_year": 8}, {}),
        ({"term_years": 1, "horizon_years": 3, "bought_year": 1}, {1: 36000, 2: 36000, 3: 36000}),
    ],
)
def test_term_licences_by_hand(given: dict[str, int], paid: dict[int, float]) -> None:
    cash = term_licence_purchases(2, price=18000, **given)
    assert len(cash) == given["horizon_years"] + 1
    assert {year: cost for year, cost in enumerate(cash) if cost} == paid


def test_a_term_of_one_year_costs_what_a_subscription_does() -> None:
    for horizon, when, _ in cases():
        terms = term_licence_purchases(2, price=10, term_years=1, horizon_years=horizon, **when)
        yearly = [subscription_cost(2, yearly_price=10, year=k, **when) for k in range(1, horizon + 1)]
        assert sum(terms) == sum(yearly)


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
        (
            lambda: subscription_cost(1, yearly_price=1, year=0),
            "year is 0; it must be a whole number, at least 1",
        ),
        (lambda: subscription_cost(-1, yearly_price=1, year=1), "licences is -1"),
        (lambda: subscription_cost(1, yearly_price=-1, year=1), "yearly_price is -1"),
        (lambda: subscription_cost(1, yearly_price=1, year=1, bought_year=-1), "bought_year is -1"),
        (
            lambda: subscription_cost(1, yearly_price=1, year=1, years_included=0.5),
            "years_included is 0.5",
        ),
        (lambda: term_licence_purchases(1, **{**TERM, "term_years": 0}), "term_years is 0"),
        (lambda: term_licence_purchases(1, **{**TERM, "horizon_years": -1}), "horizon_years is -1"),
        (lambda: term_licence_purchases(1, **{**TERM, "price": math.inf}), "price is inf"),
    ],
)
def test_bad_input_is_refused(call: Callable[[], object], message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        call()
