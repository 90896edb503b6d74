"""The working week: loads by the quarter of an hour, and the mixes of a week."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from gpuplan.catalog import Catalog
from gpuplan.plan import make_plan
from gpuplan.plan.sizing_rule import needed
from gpuplan.plan.working_week import Mix, mixes, weeks
from gpuplan.scenario import Scenario, from_dict

DAY = {"hours": "09:00-18:00", "days": "weekdays"}


NIGHT = {"hours": "20:00-06:00"}


def scenario(*groups: dict[str, Any], **demand: Any) -> Scenario:
    return from_dict({"groups": [{"id": f"g{n}", **g} for n, g in enumerate(groups, 1)], "demand": demand})


def all_mixes(asked: Scenario, catalog: Catalog) -> tuple[Mix, ...]:
    return mixes(weeks(asked, catalog), [g.id for g in asked.groups])


def test_loads_by_the_quarter_of_an_hour(catalog: Catalog) -> None:
    asked = scenario(
        {"people": 40, "active_share": 0.5, "sites": "Bangalore 30, Austin 10", "off_hours_share": 0.1, **DAY}
    )
    week = weeks(asked, catalog)["January"]["g1"]
    assert week.people == (30, 10)
    loads = week.loads.reshape(7, 96)
    wednesday = loads[2]
    assert wednesday[int(3.5 * 4) : int(12.5 * 4)] == pytest.approx(
        30 * 0.5 + 10 * 0.1
    )  # 9 to 18 in Bangalore
    assert wednesday[15 * 4 :] == pytest.approx(30 * 0.1 + 10 * 0.5)  # 9 to 18 in Austin
    assert wednesday[13 * 4] == pytest.approx(40 * 0.1)
    assert loads[6] == pytest.approx(40 * 0.1)  # Sunday
    july = weeks(asked, catalog)["July"]["g1"].loads.reshape(7, 96)[2]
    assert july[14 * 4] == pytest.approx(30 * 0.1 + 10 * 0.5)  # clocks in Austin went forward
    assert july[-1] == pytest.approx(4)


def test_pieces_of_work_a_day_are_spread_over_the_hours(catalog: Catalog) -> None:
    asked = scenario({"people": 1, "jobs_per_day": 90, "work_h": 2, **DAY})
    loads = weeks(asked, catalog)["January"]["g1"].loads
    day = loads.reshape(7, 96)[1]
    assert day.max() == pytest.approx(20, rel=0.02)  # 10 an hour, 2 h each, once it has built up
    assert day[9 * 4] < 2
    assert day[18 * 4] > 15  # what was begun goes on after the hours
    assert loads.sum() / 4 == pytest.approx(5 * 90 * 2)  # GPU-hours of a working week
    always = scenario({"people": 0, "jobs_per_day": 48, "work_h": 3})
    assert weeks(always, catalog)["July"]["g1"].loads == pytest.approx(6)
    partly = scenario({"people": 1, "jobs_per_day": 90, "work_h": 2, "off_hours_share": 0.5, **NIGHT})
    found = weeks(partly, catalog)["January"]["g1"].loads
    assert found.sum() / 4 == pytest.approx(7 * 90 * 2)
    assert 1.5 < found.max() / found.min() < 2.1


def test_mixes_are_those_of_the_week_without_smaller_ones(catalog: Catalog) -> None:
    """Against a plain walk through every quarter of both seasons."""
    rng = np.random.default_rng(5)
    zones = ["Bangalore", "Austin", "UTC", "Berlin", "Tokyo"]
    for _ in range(40):
        groups = []
        for _ in range(rng.integers(1, 4)):
            start, length = int(rng.integers(0, 24)), int(rng.integers(1, 24))
            groups.append(
                {
                    "people": int(rng.integers(1, 20)),
                    "active_share": float(rng.choice([0.25, 0.5, 1])),
                    "sites": ", ".join(rng.choice(zones, rng.integers(1, 3), replace=False)),
                    "hours": f"{start:02}:00-{(start + length - 1) % 24 + 1:02}:00",
                    "days": str(rng.choice(["every-day", "weekdays", "weekends"])),
                }
            )
        groups = [g for g in groups if g["hours"][:5] != g["hours"][6:]]
        if not groups:
            continue
        asked = scenario(*groups)
        by_season = weeks(asked, catalog)
        loads = {
            tuple(round(by_season[s][g.id].loads[q], 9) for g in asked.groups)
            for s in by_season
            for q in range(672)
        }
        largest = {
            a
            for a in loads
            if not any(b != a and all(x >= y for x, y in zip(b, a, strict=True)) for b in loads)
        }
        found = {tuple(round(ask.load, 9) for ask in mix.asks) for mix in all_mixes(asked, catalog)}
        assert largest <= found <= loads
        for mix in all_mixes(asked, catalog):
            for q in mix.quarters:
                now = [by_season[mix.season][g.id].loads[q] for g in asked.groups]
                assert now == pytest.approx([ask.load for ask in mix.asks])


def test_work_that_goes_on_after_its_hours_meets_the_night(catalog: Catalog) -> None:
    """Twenty pieces of 8 h begun from 9 to 18 are 12.6 under way at 18:00, when sixteen people of the night come."""
    asked = scenario(
        {"people": 30, "jobs_per_day": 20, "work_h": 8, "hours": "09:00-18:00", "days": "weekdays"},
        {"people": 16, "hours": "18:00-09:00"},
    )
    largest = all_mixes(asked, catalog)[0]
    rate, left = 20 / 9, math.exp(-9 / 8)
    at_six = rate * 8 * (1 - left)
    assert at_six < largest.asks[0].load < at_six * 1.15  # a little is left of the day before
    assert largest.asks[1].load == 16
    assert all(72 <= q % 96 < 80 for q in largest.quarters)  # 18:00 to 20:00


def test_rare_work_still_counts(catalog: Catalog) -> None:
    (mix,) = all_mixes(scenario({"people": 1, "jobs_per_day": 0.01, "work_h": 0.01, "gpus_each": 4}), catalog)
    assert 0 < mix.asks[0].load < 1e-5
    assert needed(scenario({"people": 1}), catalog, mix, rule="hours").gpus == 4


def test_of_two_mixes_the_smaller_one_is_left_out(catalog: Catalog) -> None:
    """One group around the clock, another by day: nights ask for less of everything than days."""
    asked = scenario({"people": 4}, {"people": 4, "off_hours_share": 0, **DAY})
    (mix,) = all_mixes(asked, catalog)
    assert [ask.group for ask in mix.asks] == ["g1", "g2"]
    assert [ask.load for ask in mix.asks] == [
        pytest.approx(w.loads.max()) for w in weeks(asked, catalog)["January"].values()
    ]


def test_whoever_is_off_duty_and_does_nothing_then_is_in_no_mix(catalog: Catalog) -> None:
    """A closed group of 8, 5 of them in Austin: at noon there 5 are on duty; of the others a tenth is active, or nobody."""
    for off_hours, probabilities in ((0.1, (0.5, 0.1)), (0, (0.5,))):
        group = {
            "people": 8,
            "active_share": 0.5,
            "off_hours_share": off_hours,
            "sites": "Austin 5, Bangalore 3",
        }
        asked = scenario({**group, **DAY}, rule="wait", method="closed")
        week = weeks(asked, catalog)["January"]["g1"]
        wednesday_in_austin = (2 * 24 + 18) * 4  # noon there is 18:00 UTC
        ask = week.ask([wednesday_in_austin])
        assert ask.people == (5, 3)[: len(probabilities)]
        assert ask.chances == probabilities
        assert ask.load == pytest.approx(5 * 0.5 + 3 * off_hours)


def test_a_nightly_job_takes_no_gpu_by_day(catalog: Catalog) -> None:
    """Its tokens say how long it takes, so one that starts by 01:00 is done before the office opens."""
    office = {"id": "office", "people": 8, "hours": "09:00-18:00"}
    job = {
        "id": "job",
        "use_case": "fine-tuning",
        "model": "llama-3.1-8b",
        "tuning_tokens": 100,
        "jobs_per_day": 1,
    }
    for hours, gpus in (("20:00-01:00", 0), ("20:00-08:00", 1)):
        scenario = from_dict(
            {"groups": [office, job | {"hours": hours}], "hardware": {"gpu": "h100-nvl-94gb"}}
        )
        plan = make_plan(scenario.with_value("demand.rule", "hours"), catalog)
        assert 2 < plan.llm.tuning["job"].hours.value < 4
        assert {group.id: group.demand_gpus for group in plan.groups} == {"office": 8, "job": gpus}
