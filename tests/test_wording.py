"""Numbers as a reader sees them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuplan.facts import BASES
from gpuplan.models.access import MODES
from gpuplan.scenario import METHODS, RISKS, RULES, field_of
from gpuplan.wording import (
    AGGREGATION_NAMES,
    FORMULA_NAMES,
    LICENCE_NAMES,
    METHOD_NAMES,
    MODE_NAMES,
    RULE_NAMES,
    TRANSPORT_NAMES,
    amount,
    basis_word,
    counted,
    headline_money,
    hours,
    is_currency,
    money,
    number,
    percent,
    run_words,
    runs,
    short_number,
    short_watts,
    some_of,
    verb,
    watts,
)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (8, "8"),
        (28.0, "28"),
        (0, "0"),
        (999, "999"),
        (9999, "9\u202f999"),
        (10_000, "10\u202f000"),
        (1_234_567, "1\u202f234\u202f567"),
        (0.5, "1/2"),
        (0.125, "1/8"),
        (1 / 7, "1/7"),
        (1 / 3, "1/3"),
        (0.3, "3/10"),
        (0.35, "0.35"),
        (2.5, "2.5"),
        (28.333333, "28.333"),
        (12_345.678, "12\u202f345.678"),
        (0.0137, "0.0137"),
        (0.00004, "4e-05"),  # small is not nothing
        (0.0004, "0.0004"),
        (None, "none"),
        (True, "yes"),
        (False, "no"),
        ("V100D-4C", "V100D-4C"),
    ],
)
def test_number(value: Any, text: str) -> None:
    assert number(value) == text


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (8, "host", "8 hosts"),
        (1, "host", "1 host"),
        (0, "GPU", "0 GPUs"),
        (0.5, "GPU", "1/2 GPU"),
        (1.5, "GPU", "1.5 GPUs"),
        (3, "VM", "3 VMs"),
        (25, "Gbit/s", "25 Gbit/s"),
        (3, "1", "3"),
        (3, "", "3"),
        ("vgpu", "GPU", "vgpu"),
        (None, "GPU", "none"),
        (True, "1", "yes"),
        (0.125, "s", "0.125 s"),
        (12, "us", "12 \u00b5s"),
    ],
)
def test_amount(value: Any, unit: str, text: str) -> None:
    assert amount(value, unit) == text


@given(st.floats(1e-9, 1e9))
def test_nothing_but_zero_is_shown_as_zero_and_nothing_far_off(value: float) -> None:
    text = number(value).replace("\u202f", "")
    if "/" in text:
        one, other = text.split("/")
        shown = int(one) / int(other)
    else:
        shown = float(text)
    assert shown > 0
    assert shown == pytest.approx(value, rel=6e-3)


@given(st.integers(-(10**12), 10**12))
def test_whole_numbers_lose_nothing(value: int) -> None:
    assert int(number(value).replace("\u202f", "")) == value


def test_words() -> None:
    assert all(basis_word(basis) for basis in BASES)
    assert set(MODE_NAMES) == {*MODES, ""}
    assert set(RULE_NAMES) == {*RULES}
    assert {*METHOD_NAMES, "auto"} == {*METHODS}
    assert set(FORMULA_NAMES) == {(method, rule) for method in METHOD_NAMES for rule in RISKS}
    named = {**LICENCE_NAMES, "network.transport": TRANSPORT_NAMES, "training.aggregation": AGGREGATION_NAMES}
    for path, names in named.items():
        assert set(names) == {*field_of(path).choices}


@pytest.mark.parametrize(
    ("many", "one"),
    [
        ("are", "is"),
        ("have", "has"),
        ("carry", "carries"),
        ("do", "does"),
        ("need", "needs"),
        ("take", "takes"),
        ("fit", "fits"),
    ],
)
def test_a_verb_agrees_with_its_count(many: str, one: str) -> None:
    assert [verb(count, many) for count in (0, 0.5, 1, 2)] == [many, one, one, many]
    assert amount(0.5, "GPU") == "1/2 GPU"  # the unit, too, is that of one


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "none"),
        (0.001, "less than 1 min"),
        (0.5, "30 min"),
        (2.25, "2.2 h"),
        (128, "128 h"),
        (8760, "8\u202f760 h"),
        (12_345.6, "12\u202f346 h"),
    ],
)
def test_hours(value: float, text: str) -> None:
    assert hours(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0 %"),
        (1, "100 %"),
        (0.00001, "under 0.01 %"),
        (0.99999, "over 99.99 %"),
        (0.0015, "0.15 %"),
        (0.0542, "5.4 %"),
        (0.5, "50 %"),
        (0.996, "99.60 %"),
    ],
)
def test_chances_are_never_certain_unless_they_are(value: float, text: str) -> None:
    assert percent(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "EUR 0"),
        (0.131, "EUR 0.131"),
        (2.405, "EUR 2.40"),
        (99.5, "EUR 99.50"),
        (100.4, "EUR 100"),
        (9937.5, "EUR 9\u202f938"),
        (2_404_692.6, "EUR 2\u202f404\u202f693"),
        (-1500.2, "EUR \u22121\u202f500"),
        (-0.0001, "EUR 0.000"),
    ],
)
def test_money(value: float, text: str) -> None:
    assert money(value, "EUR") == text


def test_money_is_told_by_its_unit() -> None:
    assert amount(1234567.8, "INR") == "INR 1\u202f234\u202f568"
    assert amount(None, "USD") == "none"
    assert [unit for unit in ("USD", "GPU", "kWh", "VM", "1", "", "KRW") if is_currency(unit)] == [
        "USD",
        "KRW",
    ]
    assert amount(3, "GPU") == "3 GPUs"


def test_power_and_counts() -> None:
    assert [watts(w) for w in (0, 455.4, 999.4, 1000, 12_391.5)] == [
        "0 W",
        "455 W",
        "999 W",
        "1 kW",
        "12.4 kW",
    ]
    assert [watts(w) for w in (999_900, 999_960, 19_702_300)] == ["999.9 kW", "1 MW", "19.7 MW"]
    assert some_of([]) == "" and some_of(["a", "b"]) == "a, b"
    assert some_of(list("abcdefg")) == "a, b, c, d, e, f, g", (
        "one name is no longer than saying that one more is there"
    )
    assert some_of(list("abcdefgh")) == "a, b, c, d, e, f and 2 more"
    assert [counted(n, "price") for n in (0, 1, 2, 12_000)] == [
        "no prices",
        "1 price",
        "2 prices",
        "12\u202f000 prices",
    ]


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (1_716_746, "1.72 M"),
        (999_600, "1 M"),
        (999_400, "999 k"),
        (2.5e9, "2.5 bn"),
        (12.345, "12.3"),
        (-4e6, "-4 M"),
    ],
)
def test_short_amounts(value: float, words: str) -> None:
    assert short_number(value) == words


@pytest.mark.parametrize(
    ("power_w", "words"), [(11_234, "11.2 kW"), (19_700_000, "19.7 MW"), (999_600, "1 MW")]
)
def test_short_powers(power_w: float, words: str) -> None:
    assert short_watts(power_w) == words


def test_numbers_without_gaps_are_a_run() -> None:
    assert runs([1, 2, 3, 7, 9, 10]) == [[1, 2, 3], [7], [9, 10]]
    assert runs([]) == []
    assert run_words([10, 1, 2, 3, 5, 4]) == "10, 1\u20133, 5, 4"
    assert run_words([1, 2, 3, 7, 9, 10], dash="-", most=1) == "1-3 and 3 more"


@pytest.mark.parametrize(
    ("value", "ends", "said"),
    [
        (2_403_000, (1_980_000, 3_120_000), "USD 2.4 M (2.0 to 3.1 M)"),
        (12_340_000, (9_870_000, 15_020_000), "USD 12 M (10 to 15 M)"),
        (2_403_000, (2_398_000, 2_431_000), "USD 2.403 M (2.398 to 2.431 M)"),
        (2_403_000, (2_403_000, 2_403_000), "USD 2.40 M"),
        (2_403_000, None, "USD 2.40 M"),
        (943_678, None, "USD 944 k"),
        (999_700, (800_000, 1_100_000), "USD 1.0 M (0.8 to 1.1 M)"),
        (953_000, (659_000, 1_134_000), "USD 0.95 M (0.66 to 1.13 M)"),
        (2.4648, (1.8889, 2.7562), "USD 2.46 (1.89 to 2.76)"),
        (0, (0, 0), "USD 0.00"),
    ],
)
def test_headlines_of_money_are_rounded_with_their_range(
    value: float, ends: tuple[float, float] | None, said: str
) -> None:
    assert headline_money(value, "USD", ends) == said
