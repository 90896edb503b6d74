"""Files of before open with the names and units of today."""

from __future__ import annotations

from typing import Any

import pytest

from gpuplan.scenario import ScenarioError, from_dict


def test_licences_by_the_year_and_for_five_years_are_subscriptions() -> None:
    year = from_dict({"cost": {"gpu_licence": "year"}}).cost
    assert (year.gpu_licence, year.licence_term_years) == ("subscription", 3)
    five = from_dict({"cost": {"gpu_licence": "5-years"}}).cost
    assert (five.gpu_licence, five.licence_term_years) == ("subscription", 5)
    stated = from_dict({"cost": {"gpu_licence": "5-years", "licence_term_years": 1}}).cost
    assert stated.licence_term_years == 1


def test_a_price_for_five_years_is_one_for_each_of_them() -> None:
    origin = {"basis": "quoted", "source": "scenario", "note": "by phone"}
    data: dict[str, Any] = {
        "prices": {"nvaie-5-years": 15_000, "vcf-core-year": 300},
        "ranges": {"prices.nvaie-5-years": [14_000, 16_000]},
        "origins": {"prices.nvaie-5-years": origin, "ranges.prices.nvaie-5-years": origin},
    }
    scenario = from_dict(data)
    assert dict(scenario.prices) == {"vcf-core-year": 300, "nvaie-year-5": 3_000}
    assert dict(scenario.ranges) == {"prices.nvaie-year-5": (2_800, 3_200)}
    assert scenario.origin("prices.nvaie-year-5").note == "by phone"
    assert scenario.origin("ranges.prices.nvaie-year-5").note == "by phone"
    assert data["prices"] == {"nvaie-5-years": 15_000, "vcf-core-year": 300}


def test_a_sizing_rule_by_its_old_name_is_the_rule_of_today() -> None:
    assert from_dict({"demand": {"rule": "turned-away"}}).demand.rule == "denied"


@pytest.mark.parametrize(
    "data",
    [
        {"demand": {"rule": ["turned-away"]}},
        {"cost": {"gpu_licence": ["year"]}},
        {"cost": "year"},
        {"prices": {"nvaie-5-years": "many"}},
        {"ranges": {"prices.nvaie-5-years": ["a", 2]}},
        {"origins": [1]},
    ],
)
def test_what_cannot_be_read_is_refused_as_ever(data: dict[str, Any]) -> None:
    with pytest.raises(ScenarioError):
        from_dict(data)
