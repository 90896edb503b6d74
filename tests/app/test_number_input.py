"""Numbers as people type them: thousands, decimals, per cent, units and k, in each locale."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuplan.app.number_input import as_typed, is_half_typed
from gpuplan.locales import LOCALES, PLAIN, speaking, written
from gpuplan.scenario import ScenarioError, field_of, parse_value

INT, SHARE, PRICE, NUMBER = (
    "demand.stated_gpus",
    "cost.hardware_discount",
    "prices.v100",
    "network.tcp_gbit_s",
)


def value(path: str, text: str, locale: str = "") -> object:
    typed = as_typed(path, text, LOCALES.get(locale, PLAIN), "USD")
    try:
        return parse_value(field_of(path), typed, path)
    except ScenarioError:
        return None


@pytest.mark.parametrize(
    ("path", "text", "locale", "meant"),
    [
        *(
            (INT, text, "", 24_000)
            for text in ("24000", "24,000", "24 000", "24\u202f000", "24'000", "24k", "24 K")
        ),
        (INT, "24,000 GPUs", "", 24_000),
        (INT, "1,00,000", "en-IN", 100_000),
        (INT, "1 lakh", "en-IN", 100_000),
        (INT, "24.000", "de-DE", 24_000),
        (INT, "24\u2019000", "de-CH", 24_000),
        (INT, "24,5k", "de-DE", 24_500),
        *((INT, text, "", None) for text in ("24.000", "1 2", "24,000,5", "abc", "24 Gbit/s", "12m")),
        (INT, "24,000", "de-DE", None),  # 24 to some of them, and 24 000 to others
        *((SHARE, text, "", 0.5) for text in ("50", "50 %", "50%", "0.5", "50 percent", "50.0")),
        *((SHARE, text, "de-DE", 0.505) for text in ("50,5", "50,5 %", "0,505", "50.5")),
        (SHARE, "1", "", 0.01),
        (SHARE, "120", "", None),
        (PRICE, "USD 2500", "", 2_500),
        (PRICE, "$2,500.50", "", 2_500.5),
        (PRICE, "2.500,50 USD", "de-DE", 2_500.5),
        (PRICE, "2.5M", "", 2_500_000),
        (PRICE, "2500 EUR", "", None),
        (NUMBER, "100 Gbit/s", "", 100),
        (NUMBER, "12,5 Gbit/s", "fr-FR", 12.5),
        ("cost.years", "5 years", "", 5),
        ("network.latency_us", "50 \u00b5s", "", 50),
        ("groups.g.gpus_each", "1/8", "", 0.125),
        ("groups.g.tokens_in", "8k", "", None),  # 8000 or 8192
        ("ranges.cost.hardware_discount", "20 to 60", "", (0.2, 0.6)),
        ("ranges.cost.hardware_discount", "20-60 %", "", (0.2, 0.6)),
        ("ranges.cost.hardware_discount", "0.2 to 0.6", "", (0.2, 0.6)),
        ("ranges.prices.v100", "1.000 \u2013 2.000", "de-DE", (1_000, 2_000)),
    ],
)
def test_what_is_typed_is_what_was_meant(path: str, text: str, locale: str, meant: object) -> None:
    assert value(path, text, locale) == meant


@pytest.mark.parametrize("text", ["1,", "24,0", "24 00", "0.", "5 ye", "-", "24,"])
def test_a_number_that_may_go_on_is_half_typed(text: str) -> None:
    assert is_half_typed(text, PLAIN)


@pytest.mark.parametrize("text", ["1", "24,000", "24 000", "0.5", "50 %", "50 % "])
def test_a_number_that_is_whole_is_not(text: str) -> None:
    assert not is_half_typed(text, PLAIN)


def test_a_decimal_comma_is_whole_where_it_is_the_locale_s() -> None:
    assert is_half_typed("50,5", PLAIN) and not is_half_typed("50,5", LOCALES["de-DE"])


@given(st.sampled_from(["", *LOCALES]), st.integers(1, 200_000))
def test_whole_numbers_are_read_as_they_are_written(locale: str, number: int) -> None:
    with speaking(locale):
        assert value(INT, written(number, ","), locale) == number


@given(st.sampled_from(["", *LOCALES]), st.integers(1, 10**7), st.integers(0, 99))
def test_money_is_read_as_it_is_written(locale: str, whole: int, cents: int) -> None:
    amount = float(Fraction(100 * whole + cents, 100))
    with speaking(locale):
        assert value(PRICE, written(amount, ",.2f"), locale) == amount


@given(st.text(max_size=30))
def test_anything_at_all_is_read_or_refused(text: str) -> None:
    for path in (INT, SHARE, PRICE, NUMBER, "ranges.cost.hardware_discount", "name"):
        for locale in ("", "de-DE", "fr-FR"):
            value(path, text, locale)
