"""Licences of existing hosts: what is owned is not paid, and everything is licensed in every year."""

from __future__ import annotations

import datetime
import math
import random
from typing import Any

import pytest
from random_cases import cases

from gpuplan import Plan, make_plan
from gpuplan.catalog import Catalog
from gpuplan.plan.owned_licences import bundled_years, platform_years, software_years
from gpuplan.plan.prices import price_day
from gpuplan.scenario import from_dict, host_kinds

START = datetime.date(2026, 11, 28)


def day(years: float) -> str:
    """The last day of a licence that runs so many years from the start."""
    return str(START + datetime.timedelta(days=math.ceil(365.25 * years) - 1))


def planned(catalog: Catalog, existing: str, gpu: str = "l40s-48gb", people: int = 24, **cost: Any) -> Plan:
    group = {"id": "g", "people": people, "gpus_each": "1/2", "access": "vgpu", "remote_allowed": False}
    data = {
        "groups": [group],
        "hardware": {"gpu": gpu, "gpus_per_host": 4, "existing": existing},
        "cost": {"as_of": str(START), "years": 5, "licence_term_years": 1} | cost,
    }
    return make_plan(from_dict(data), catalog)


def yearly(plan: Plan, part: str) -> list[float]:
    """What is paid for a part in each year from the purchase."""
    assert plan.costs
    return next((list(p.yearly) for p in plan.costs.parts if p.name == part), [0.0] * 6)


@pytest.mark.parametrize(
    ("words", "platform", "software"),
    [
        ("", 0, 0),
        (f", platform licences until {day(1)}", 1, 0),
        (f", platform licences until {day(2.9)}, GPU software until {day(0.9)}", 2, 0),
        (", platform licences perpetual, GPU software perpetual", math.inf, math.inf),
        (", platform licences until 2020-01-01, GPU software until 2020-01-01", 0, 0),
        (", boards of 2024-11-28", 0, 3),
        (", boards of 2024-11-27", 0, 2),
        (", boards of 2015-01-01", 0, 0),
        (f", GPU software until {day(4)}, boards of 2024-11-28", 0, 4),
    ],
)
def test_years_in_which_licences_are_owned(
    catalog: Catalog, words: str, platform: float, software: float
) -> None:
    """Whole years; the software that comes with an H100 NVL runs five years, whatever it did meanwhile."""
    plan = planned(catalog, f"6 x 4{words}", gpu="h100-nvl-94gb")
    (kind,) = host_kinds(plan.scenario.hardware.existing)
    assert (
        price_day(plan.scenario, catalog) == str(START) and bundled_years(plan.scenario, catalog, kind) == 5
    )
    assert platform_years(plan.scenario, catalog, kind) == platform
    assert software_years(plan.scenario, catalog, kind) == software


def test_licences_that_last_cost_nothing(catalog: Catalog) -> None:
    """Six owned hosts cost USD 727,000 of licences, and nothing could be said to it."""
    silent = planned(catalog, "6 x 4")
    assert sum(yearly(silent, "Platform licences")) > 0 < sum(yearly(silent, "GPU software"))
    owned = planned(catalog, f"6 x 4, platform licences perpetual, GPU software until {day(5)}")
    assert sum(yearly(owned, "Platform licences")) == sum(yearly(owned, "GPU software")) == 0


def test_boards_of_unknown_age_bring_no_licences(catalog: Catalog) -> None:
    """Five bundled years began today on boards of unknown age; new boards have theirs."""
    assert sum(yearly(planned(catalog, "6 x 4", gpu="h100-nvl-94gb"), "GPU software")) > 0
    assert (
        sum(yearly(planned(catalog, "1 x 4, boards of 2026-11-28", gpu="h100-nvl-94gb"), "GPU software")) == 0
    )
    assert (
        yearly(planned(catalog, "6 x 4, boards of 2024-11-28", gpu="h100-nvl-94gb"), "GPU software")[:3]
        == [0] * 3
    )


def some_kinds(rng: random.Random) -> list[tuple[str, int, float, float]]:
    """Kinds of existing hosts: name, hosts, and the years of platform licences and GPU software."""
    lasts = [0, 1, 2, 4, math.inf]
    return [
        (f"k{at}", rng.randint(1, 3), rng.choice(lasts), rng.choice(lasts)) for at in range(rng.randint(1, 3))
    ]


def words(kind: tuple[str, int, float, float], gpus: int) -> str:
    """The kind as it is typed, with no words for what is not owned."""
    name, hosts, *years = kind
    text = f"{name}: {hosts} x {gpus}"
    for what, lasts in zip(("platform licences", "GPU software"), years, strict=True):
        text += f", {what} {'perpetual' if lasts == math.inf else 'until ' + day(lasts)}" * (lasts > 0)
    return text


def test_what_is_owned_and_what_is_paid_is_what_is_needed_in_each_year(catalog: Catalog) -> None:
    """With subscriptions of a year at the price of a year, each year's payment is that of the hosts without a licence."""
    seen = 0
    for rng in cases(20_383, 400, few=25):
        kinds = some_kinds(rng)
        existing = "; ".join(words(kind, 4 + at) for at, kind in enumerate(kinds))
        plan = planned(catalog, existing, people=rng.randint(8, 60))
        assert plan.counts and plan.costs
        prices = {price.key: price.value for price in plan.costs.prices}
        there = {
            kind.name: sum(host.kind == kind for host in plan.counts.owned) for kind in host_kinds(existing)
        }
        for year in range(5):
            licensed = sum(there[name] for name, _, platform, _ in kinds if platform > year)
            needed = plan.counts.of(plan.counts.at_start(), year)
            hosts = plan.totals.hosts - licensed
            assert needed["platform"] == (max(64 * hosts, 72) if hosts else 0)
            gpus = sum(
                there[name] * (4 + at) for at, (name, _, _, years) in enumerate(kinds) if years <= year
            )
            new = (plan.totals.hosts - len(plan.counts.owned)) * 4
            assert needed["gpu-software"] + needed["gpu-software-existing"] == new + gpus
            paid = yearly(plan, "GPU software")[year]
            assert paid == pytest.approx((new + gpus) * prices.get("nvaie-year", 0.0))
            seen += gpus > 0
    assert seen > 20
