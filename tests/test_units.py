"""Units: the fraction a decimal stands for, and the table of suffixes."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuplan.units import (
    MIB_PER_GIB,
    SUFFIX,
    above_zero,
    at_least_one,
    exact,
    exact_number,
    not_negative,
    number_between,
    whole_from_zero,
    whole_number,
    zero_to_one,
)


@pytest.mark.parametrize(
    ("value", "fraction"),
    [
        (0.1, Fraction(1, 10)),
        (1 / 3, Fraction(1, 3)),
        (0.333333, Fraction(1, 3)),
        (0.33, Fraction(33, 100)),
        (0.33333, Fraction(33_333, 100_000)),  # five places: as typed
        (1 / 7, Fraction(1, 7)),
        (7 / 300, Fraction(7, 300)),
        (0.12345, Fraction(2469, 20_000)),
        (0.00004, Fraction(1, 25_000)),  # not nothing
        (1e-9, Fraction(1, 10**9)),
        (100_000 / 7, Fraction(100_000, 7)),
        (0.0, Fraction(0)),
        (28, Fraction(28)),
        (12.0, Fraction(12)),
        (-0.5, Fraction(-1, 2)),
    ],
)
def test_exact(value: float, fraction: Fraction) -> None:
    assert exact(value) == fraction


@given(st.integers(0, 10_000_000), st.integers(0, 5))
def test_a_decimal_of_up_to_five_places_is_taken_as_it_stands(digits: int, places: int) -> None:
    assert exact(float(f"{digits}e-{places}")) == Fraction(digits, 10**places)


@given(st.integers(1, 2000), st.integers(1, 2000))
def test_a_quotient_is_recognised(one: int, other: int) -> None:
    assert exact(one / other) == Fraction(one, other)


@given(st.floats(min_value=1e-12, max_value=1e9))
def test_nothing_is_lost(value: float) -> None:
    found = exact(value)
    assert found > 0
    assert abs(found - Fraction(value)) < Fraction(1, 2_000_000) + Fraction(value) / 10**12


def test_suffixes() -> None:
    assert len(set(SUFFIX.values())) == len(SUFFIX) - 1  # a cost and a price are both money
    assert SUFFIX["gpus"] == "GPU"
    assert MIB_PER_GIB == 1024


@pytest.mark.parametrize("value", [0, -1, math.nan, math.inf, -math.inf])
def test_a_quantity_above_zero(value: float) -> None:
    above_zero(link_gbit_s=1e-9, step_s=1e9)
    with pytest.raises(ValueError, match=re.escape(f"step_s is {value}; it must be above 0, and finite")):
        above_zero(link_gbit_s=1, step_s=value)


@pytest.mark.parametrize("value", [-1e-9, math.nan, math.inf])
def test_a_quantity_that_is_not_negative(value: float) -> None:
    not_negative(sent_mb=0)
    with pytest.raises(ValueError, match=re.escape(f"sent_mb is {value}; it must be at least 0, and finite")):
        not_negative(calls=3, sent_mb=value)


@pytest.mark.parametrize("value", [-0.1, 1.1, math.nan])
def test_a_share(value: float) -> None:
    zero_to_one(discount=0, pue_share=1)
    with pytest.raises(ValueError, match=re.escape(f"rate is {value}; it must be from 0 to 1")):
        zero_to_one(discount=0.5, rate=value)


@pytest.mark.parametrize("value", ["2", None, True, [1]])
@pytest.mark.parametrize("check", [above_zero, not_negative, zero_to_one, at_least_one, whole_from_zero])
def test_what_is_no_number_is_refused_by_its_name(check: Callable[..., None], value: object) -> None:
    with pytest.raises(ValueError, match=re.escape(f"rate is {value!r}; it must be ")):
        check(rate=value)


@pytest.mark.parametrize("value", [0, -3, 2.5, math.nan, math.inf])
def test_a_count(value: float) -> None:
    at_least_one(hosts=1, gpus=10**6)
    message = f"hosts is {value!r}; it must be a whole number, at least 1"
    with pytest.raises(ValueError, match=re.escape(message)):
        at_least_one(gpus=4, hosts=value)  # type: ignore[arg-type]


@pytest.mark.parametrize("value", [-1, 2.5, math.nan, math.inf])
def test_a_count_that_may_be_none(value: float) -> None:
    whole_from_zero(hosts=0, gpus=10**6)
    with pytest.raises(
        ValueError, match=re.escape(f"hosts is {value!r}; it must be a whole number, at least 0")
    ):
        whole_from_zero(gpus=4, hosts=value)  # type: ignore[arg-type]


@pytest.mark.parametrize("value", [0, 9, True, 1.5, math.nan])
def test_a_whole_number(value: float) -> None:
    assert whole_number("ports", 8, least=1, most=8) == 8
    with pytest.raises(
        ValueError, match=re.escape(f"ports is {value!r}: must be a whole number from 1 to 8")
    ):
        whole_number("ports", value, least=1, most=8)  # type: ignore[arg-type]


@pytest.mark.parametrize("value", [-1, 2001, True, math.nan])
def test_a_number_between_two_others(value: float) -> None:
    assert number_between("load", 2, most=2000) == 2.0
    with pytest.raises(ValueError, match=re.escape(f"load is {value!r}: must be a number from 0 to 2,000")):
        number_between("load", value, most=2000)


@pytest.mark.parametrize(
    ("text", "number"),
    [
        (3, 3),
        (0.1, Fraction(1, 10)),
        ("1/8", Fraction(1, 8)),
        (".5", Fraction(1, 2)),
        ("1e-3", Fraction(1, 1000)),
        ("1,5", None),
        ("1/0", None),
        (True, None),
        (math.inf, None),
        ("9" * 41, None),
    ],
)
def test_a_number_is_read_as_it_is_written(text: object, number: float | None) -> None:
    assert exact_number(text, percent=False) == number


def test_a_percentage_is_one_where_it_may_be() -> None:
    assert (exact_number("12.5 %", percent=True), exact_number("12.5 %", percent=False)) == (0.125, None)
