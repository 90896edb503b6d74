"""Amounts as people write them: read alike from a file, a form and Python, with unit and currency checked."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuplan.app.groups import edited
from gpuplan.catalog import load_catalog
from gpuplan.scenario import Scenario, ScenarioError, decode_scenario, field_of, from_dict, parse_value
from gpuplan.scenario.amounts import plain_number

EUROS = {"currency": "EUR", "usd_rate": 0.9}


def in_file(path: str, text: str) -> object:
    head, _, name = path.partition(".")
    return from_dict({head: {name: text}}).get(path)


def in_form(path: str, text: str) -> object:
    return edited(Scenario(), load_catalog(), path, text).get(path)


def on_command_line(path: str, text: str) -> object:
    return parse_value(field_of(path), text, path, "USD")


BUDGET, POWER = "limits.budget", "limits.power_kw"
READERS = pytest.mark.parametrize("read", [in_file, in_form, on_command_line])


@READERS
@pytest.mark.parametrize(
    ("path", "text", "meant"),
    [
        *(
            (BUDGET, text, 1_500_000)
            for text in (
                *(
                    "1500000",
                    "1.5M",
                    "1.5m",
                    "1500k",
                    "1,5 Mio",
                    "1.5 Mio.",
                    "1,500,000",
                    "1.5 mn",
                    "15 lakh",
                ),
                *("USD 1.5 million", "1.5 Million USD", "$1.5M", "1.5e6", "0.0015 bn", "0,15 crore"),
            )
        ),
        *((POWER, text, 40) for text in ("40", "40 kW", "40kW", "40000 W", "40k W", "0.04 MW", "40 KW")),
        ("limits.racks", "2 racks", 2),
        ("limits.rack_units", "84 U", 84),
        ("limits.ports", "48 ports", 48),
        ("limits.delivery_weeks", "16 weeks", 16),
        ("limits.co2_t", "40000 kg", 40),
        ("cost.rack_kw", "17.5 kW", 17.5),
    ],
)
def test_an_amount_is_read_alike(read: object, path: str, text: str, meant: float) -> None:
    assert read(path, text) == meant  # type: ignore[operator]


@READERS
@pytest.mark.parametrize(
    ("path", "text", "named"),
    [
        *((BUDGET, text, "USD") for text in ("1.5M EUR", "EUR 2", "\u20ac2M", "1.5 milliards")),
        *((BUDGET, text, "1.5M") for text in ("much", "-3", "-1.5M", "1.2.3")),
        *((POWER, text, "kW") for text in ("40 kVA", "40 racks", "USD 40")),
        ("limits.racks", "2.5 racks", "whole number"),
    ],
)
def test_another_unit_or_no_amount_is_refused_by_name(read: object, path: str, text: str, named: str) -> None:
    with pytest.raises(ScenarioError) as refused:
        read(path, text)  # type: ignore[operator]
    (wrong,) = refused.value.problems
    assert wrong.path == path and named in wrong.message
    assert text in str(wrong.value) or read is in_form  # which shows the text itself


def test_money_is_in_the_currency_of_the_file() -> None:
    assert from_dict({"cost": EUROS, "limits": {"budget": "\u20ac1.5M"}}).limits.budget == 1_500_000
    assert from_dict({"cost": EUROS, "limits": {"budget": 1}}).fact(BUDGET).unit == "EUR"
    with pytest.raises(ScenarioError, match="EUR"):
        from_dict({"cost": EUROS, "limits": {"budget": "1.5M USD"}})


def test_a_riddle_stays_refused() -> None:
    with pytest.raises(ScenarioError, match="1500"):
        in_file(POWER, "1,500 kW")


def test_a_file_written_again_is_the_same() -> None:
    stated = from_dict(
        {"limits": {"budget": "1.5M", "boards": ["l4-24gb", "l40s-48gb"], "power_kw": "40 kW"}}
    )
    assert decode_scenario(stated.to_yaml().encode()) == stated
    assert stated.to_dict()["limits"] == {
        "budget": 1_500_000,
        "power_kw": 40,
        "boards": ["l4-24gb", "l40s-48gb"],
    }


@given(st.integers(0, 10**9), st.sampled_from(["", " W", " kW", " MW"]))
def test_units_move_the_point_alone(number: int, unit: str) -> None:
    read = plain_number(f"{number}{unit}", unit="kW")
    factor = {"": 1, " W": 0.001, " kW": 1, " MW": 1000}[unit]
    assert read is not None and float(read) == pytest.approx(number * factor)
