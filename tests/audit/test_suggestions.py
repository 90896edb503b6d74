"""Groups of a scenario ask for the GPU-hours of the trace."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from approved import is_approved
from random_cases import of_the_day
from traces import HOUR, MONDAY, make, samples

from gpuplan import load_scenario, make_plan
from gpuplan.audit import (
    Audit,
    Jobs,
    audit,
    suggest_groups,
    suggested_scenario,
)
from gpuplan.catalog import Catalog
from gpuplan.plan.working_week import weeks
from gpuplan.scenario import Scenario, from_dict, parse_scenario, wrong_values


def kept(found: Audit, **options: Any) -> float:
    return sum(
        s.jobs_per_day * s.days_seen * s.work_h * s.gpus_each * s.vms_each
        for s in suggest_groups(found, **options)
    )


@pytest.mark.parametrize("most", [1, 2, 3, 5, 12, 40])
def test_suggestions_keep_gpu_hours(most: int) -> None:
    rng = np.random.default_rng(most)
    count = 3000
    jobs = make(
        np.sort(rng.uniform(0, 500, count)),
        rng.lognormal(0, 1.5, count),
        rng.choice([0.25, 0.5, 1, 1.5, 2, 3, 4, 7, 8, 12, 12.5, 16, 17, 24, 40, 128], count),
        rng.integers(0, 9, count),
    )
    found = audit(jobs)
    assert found.allocation is not None
    suggested = suggest_groups(found, most=most)
    assert 1 <= len(suggested) <= most
    assert kept(found, most=most) == pytest.approx(found.allocation.gpu_h)
    assert len({s.name for s in suggested}) == len(suggested)
    for s in suggested:
        assert 1 <= len(s.name) <= 60
        assert s.people >= 1
        assert s.gpus_each < 1 or s.gpus_each % 1 == 0
        assert s.gpus_each <= 8
        assert s.vms_each >= 1
        assert 0.01 <= s.work_h <= 2000
        assert s.jobs_per_day >= 0.01


def test_a_suggestion_by_hand() -> None:
    # every hour for 10 days: one job of 2 GPUs for 3 hours, so 3 at once; and one of 12 GPUs on each day
    submit = np.concatenate([np.arange(240), np.arange(0, 241, 24)])
    two = np.arange(251) < 240
    jobs = make(submit, np.where(two, 3.0, 1.0), np.where(two, 2.0, 12.0), names=["lab"])
    first, second = suggest_groups(audit(jobs))
    assert (first.name, first.group, first.gpus_each, first.vms_each, first.people) == (
        "lab, 2 GPUs",
        "lab",
        2,
        1,
        3,
    )
    assert first.jobs_per_day == pytest.approx(24)
    assert first.work_h == pytest.approx(3)
    assert (first.hours, first.days, first.time_zone) == ("00:00-24:00", "every-day", "UTC")
    assert (second.gpus_each, second.vms_each, second.people) == (6, 2, 1)
    assert second.days_seen == pytest.approx(10)


def test_a_size_that_comes_out_uneven_keeps_its_gpu_hours() -> None:
    found = audit(make(np.arange(50), 2.0, 17.0))
    (only,) = suggest_groups(found)
    assert (only.gpus_each, only.vms_each) == (6, 3)
    assert only.work_h == pytest.approx(2 * 17 / 18)
    (wide,) = suggest_groups(found, gpus_per_host=16)
    assert (wide.gpus_each, wide.vms_each) == (9, 2)


def working_hours(zone_offset_h: float, *, weekend: bool) -> Jobs:
    rng = np.random.default_rng(2)
    days = [d for d in range(28) if weekend or d % 7 < 5]
    submit = np.concatenate([24 * d + 9 + rng.uniform(0, 7, 40) for d in days]) - zone_offset_h
    return make([*submit, 28 * 24], 1.0)


def test_working_hours_are_found_in_their_zone() -> None:
    (only,) = suggest_groups(audit(working_hours(5.5, weekend=False), time_zone="Asia/Kolkata"))
    assert only.days == "weekdays"
    start, end = (int(part[:2]) for part in only.hours.split("-"))
    assert 9 <= start <= 10
    assert 16 <= end <= 17
    assert only.days_seen == pytest.approx(20, abs=0.3)
    assert only.jobs_per_day == pytest.approx(40, rel=0.05)
    (daily,) = suggest_groups(audit(working_hours(0, weekend=True)))
    assert daily.days == "every-day"
    assert daily.hours == only.hours


def test_a_night_counts_to_the_day_on_which_it_begins() -> None:
    rng = np.random.default_rng(2)
    submit = np.concatenate([24 * d + 22 + rng.uniform(0, 7, 40) for d in range(28) if d % 7 < 5])
    (only,) = suggest_groups(audit(make([0, *submit, 28 * 24], [0.01] + [1.0] * len(submit) + [0.01])))
    assert only.days == "weekdays"
    start, end = (int(part[:2]) for part in only.hours.split("-"))
    assert start in (22, 23)
    assert end in (5, 6)


def test_times_from_an_unknown_moment_have_no_hours() -> None:
    jobs = working_hours(0, weekend=True)
    late = make((jobs.submit_s - MONDAY) / HOUR, 1.0, begin=0.0)
    (only,) = suggest_groups(audit(late))
    assert only.hours == "00:00-24:00"


def test_very_short_and_very_rare_jobs_stay_within_what_a_scenario_can_hold() -> None:
    found = audit(make([*np.arange(0, 100, 0.1), 4000], [0.001] * 1000 + [0.5], [1.0] * 1000 + [4.0]))
    assert found.allocation is not None
    assert kept(found) == pytest.approx(found.allocation.gpu_h)
    assert all(s.work_h >= 0.01 and s.jobs_per_day >= 0.01 for s in suggest_groups(found))


def test_suggestions_become_a_scenario_that_asks_for_the_same_gpu_hours(catalog: Catalog) -> None:
    rng = np.random.default_rng(8)
    day = rng.uniform(9, 17, 400) + 24 * np.tile(np.arange(5), 80) + 168 * np.repeat(np.arange(4), 100)
    found = audit(
        make(
            np.concatenate([day, rng.uniform(0, 672, 300)]),
            np.concatenate([np.full(400, 0.5), np.full(300, 4.0)]),
            np.concatenate([np.ones(400), np.full(300, 4.0)]),
            np.repeat([0, 1], [400, 300]),
            names=["=HYPERLINK(1)", "b"],
        )
    )
    suggestions = suggest_groups(found)
    base = load_scenario("current")
    made = suggested_scenario(base, found, suggestions, "jobs.csv")
    assert wrong_values(made) == []
    assert from_dict(made.to_dict()) == made
    assert (made.hardware, made.platform) == (base.hardware, base.platform)
    assert made.demand.rule == "wait-time"
    assert found.allocation is not None
    assert made.demand.peakedness == pytest.approx(found.allocation.wanted.peakedness, rel=1e-3)
    by_group = {w.group.name: w for w in weeks(made, catalog)["January"].values()}
    assert set(by_group) == {"=HYPERLINK(1), 1 GPU", "b, 4 GPUs"}
    assert by_group["=HYPERLINK(1), 1 GPU"].group.days == "weekdays"
    for suggestion in suggestions:
        week = by_group[suggestion.name]
        days = 5 if suggestion.days == "weekdays" else 7
        asked = week.loads.sum() / 4 * suggestion.gpus_each * suggestion.vms_each
        assert asked == pytest.approx(
            days * suggestion.jobs_per_day * suggestion.work_h * suggestion.gpus_each, rel=2e-3
        )
    origin = made.origin(f"groups.{made.groups[0].id}.jobs_per_day")
    assert origin.basis == "measured"
    assert is_approved(origin.note, "jobs.csv", "28 days")
    assert made.origin(f"groups.{made.groups[0].id}.use_case").basis == "assumed"
    plan = make_plan(made, catalog)
    assert plan.totals.unplaced_vms == 0
    assert plan.totals.gpus >= found.allocation.offered_gpus


def test_suggestions_need_jobs_and_bounds() -> None:
    assert suggest_groups(audit(samples())) == ()
    for most in (0, 101):
        with pytest.raises(ValueError, match=f"most is {most}"):
            suggest_groups(audit(make([0, 9], 1.0)), most=most)


def planned(jobs: Jobs, catalog: Catalog, base: str = "current", **options: Any) -> Scenario:
    """The scenario suggested for a trace, which a file can hold and a plan can be made of."""
    scenario = load_scenario(base)
    found = audit(jobs, **options)
    suggestions = suggest_groups(found, gpus_per_host=scenario.hardware.gpus_per_host)
    made = suggested_scenario(scenario, found, suggestions, "jobs.csv")
    assert wrong_values(made) == []
    assert parse_scenario(made.to_yaml()) == made
    make_plan(made, catalog)
    return made


def test_a_class_too_small_for_a_scenario_is_rounded_up_and_says_so(catalog: Catalog) -> None:
    # a job of two hours each day of a year, and one of 30 seconds: 0.000023 h a day, where 0.01 of 0.01 h is the least
    jobs = make(
        [*range(0, 365 * 24, 24), 100], [2.0] * 365 + [30 / 3600], [1.0] * 365 + [4.0], [0] * 365 + [1]
    )
    made = planned(jobs, catalog)
    assert [(g.jobs_per_day, g.work_h) for g in made.groups] == [
        (pytest.approx(365 / 364, rel=1e-3), 2),
        (0.01, 0.01),
    ]
    few, small = suggest_groups(audit(jobs))
    assert (few.rounded_up, small.rounded_up) == (False, True)
    origin = made.origin(f"groups.{made.groups[1].id}.work_h")
    assert (origin.basis, origin.note) == ("assumed", small.note)
    assert made.origin(f"groups.{made.groups[0].id}.work_h").basis == "measured"
    assert is_approved(small.note, "1 job", "0 GPU-hours")


def test_a_sliver_of_a_gpu_gets_the_least_and_keeps_its_gpu_hours(catalog: Catalog) -> None:
    (group,) = planned(make(range(100), 1.0, 0.003), catalog).groups
    assert group.gpus_each == 0.01
    assert group.work_h == pytest.approx(0.3)


def test_a_job_of_more_vms_than_a_group_can_hold_becomes_several(catalog: Catalog) -> None:
    (group,) = planned(make(range(0, 1000, 10), 1.0, 9000.0), catalog).groups
    assert (group.vms_each, group.gpus_each, group.people) == (750, 4, 3)
    assert group.work_h == pytest.approx(1)
    assert group.jobs_per_day == pytest.approx(3 * 100 / (990 / 24), rel=1e-3)


def test_known_people_are_no_assumption_for_jobs(catalog: Catalog) -> None:
    base = load_scenario("current")
    base = replace(base, demand=replace(base.demand, rule="wait", method="closed", peakedness_low=3.0))
    found = audit(make(range(100), 1.0))
    made = suggested_scenario(base, found, suggest_groups(found, gpus_per_host=4))
    assert (made.demand.rule, made.demand.method) == ("wait", "auto")
    assert made.origin("demand.method").basis == "assumed"
    make_plan(made, catalog)


@pytest.mark.parametrize(
    ("gpus", "per_host", "words"),
    [(200_000.0, 4, "no scenario is larger"), (8.0, 8, "gpus_per_host=4")],
)
def test_what_no_design_can_hold_is_refused(gpus: float, per_host: int, words: str) -> None:
    found = audit(make(range(100), 1.5, gpus))
    with pytest.raises(ValueError, match=words):
        suggested_scenario(load_scenario("current"), found, suggest_groups(found, gpus_per_host=per_host))


LARGE = (12, 33)
"""Seeds of traces that suggest so many hosts that simulating them takes half a minute or more."""


@pytest.mark.parametrize(
    "seed",
    [
        pytest.param(seed, marks=pytest.mark.nightly) if seed in LARGE else seed
        for seed in of_the_day(range(40), few=10)
    ],
)
def test_whatever_is_suggested_can_be_planned(seed: int, catalog: Catalog) -> None:
    rng = np.random.default_rng(seed)
    count = int(rng.integers(1, 120))
    period_h = float(rng.choice([0.001, 1.2, 30, 1000, 20_000]))
    submit = rng.uniform(0, period_h, count)
    if rng.random() < 0.3:
        submit = np.round(submit / period_h) * period_h
    sizes = np.concatenate([rng.uniform(0.0001, 1, 3), [1, 1, 2, 3, 7, 8, 17, 40]])
    jobs = make(
        submit,
        10 ** rng.uniform(-6, rng.choice([0, 2, 3.5]), count),
        rng.choice(sizes[rng.integers(0, len(sizes), 4)], count),
        rng.integers(0, 15, count),
        names=[f"{'long ' * 12}{n}\n\u202e" for n in range(15)],
        begin=float(rng.choice([0.0, MONDAY])),
    )
    base, zone = (
        rng.choice(["current", "starter", "enterprise"]),
        rng.choice(["UTC", "Asia/Kathmandu", "EST5EDT"]),
    )
    try:
        made = planned(jobs, catalog, str(base), time_zone=str(zone))
    except ValueError as error:
        assert str(error).startswith("the jobs hold")
        return
    assert made.groups
