"""What a trace says: by hand on small ones, within sampling error on drawn ones, and nothing is lost on the way."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pytest

from gpuplan import load_scenario, make_plan
from gpuplan.audit.trace import Jobs, Reading, Samples, read_trace
from gpuplan.audit.use import (
    MOST_GROUPS,
    OTHERS,
    Allocation,
    Audit,
    Cancelled,
    Method,
    audit,
    compare,
    period_s,
    suggest_groups,
    suggested_scenario,
)
from gpuplan.catalog import Catalog
from gpuplan.models.demand.queueing import erlang_b, erlang_c, hayward_wait_longer_chance
from gpuplan.plan.demand import weeks
from gpuplan.scenario import Scenario, from_dict, parse_scenario, wrong_values

MONDAY = datetime(2024, 5, 6, tzinfo=UTC).timestamp()
HOUR = 3600.0
READING = Reading("jobs", 0, 0, (), (), {}, "UTC")


def make(
    submit_h: Sequence[float] | np.ndarray,
    duration_h: Sequence[float] | np.ndarray | float,
    gpus: Sequence[float] | np.ndarray | float = 1.0,
    group: Sequence[int] | np.ndarray | int = 0,
    *,
    wait_h: Sequence[float] | None = None,
    names: Sequence[str] | None = None,
    begin: float = MONDAY,
) -> Jobs:
    """Jobs from hours after a Monday."""
    submit = begin + np.asarray(submit_h, dtype=float) * HOUR
    count = len(submit)
    codes = np.broadcast_to(group, count).astype(np.intc)
    return Jobs(
        submit_s=submit,
        start_s=submit if wait_h is None else submit + np.asarray(wait_h) * HOUR,
        has_start=wait_h is not None,
        duration_s=np.broadcast_to(duration_h, count) * HOUR,
        gpus=np.broadcast_to(gpus, count).astype(float),
        group=codes,
        groups=tuple(names or [f"g{n}" for n in range(int(codes.max()) + 1)]),
        user=np.zeros(count, dtype=np.intc),
        users=0,
        reading=READING,
    )


def allocation(jobs: Jobs, **options: Any) -> Allocation:
    found = audit(jobs, **options)
    assert found.activity is None
    assert found.allocation is not None
    return found.allocation


def poisson(
    seed: int, *, load: float, hours: float, mean_h: float = 2.0, sizes: Sequence[float] = (1,)
) -> Jobs:
    """Independent arrivals, each size with the same number of jobs, exponential durations, ``load`` jobs at once."""
    rng = np.random.default_rng(seed)
    count = rng.poisson(load / mean_h * hours)
    submit = np.sort(rng.uniform(0, hours, count))
    return make(submit, rng.exponential(mean_h, count), rng.choice(sizes, count), rng.integers(0, 3, count))


# ---- curves by hand


def test_a_square_wave() -> None:
    # 10 GPUs for one hour of every two: mean 5, variance 25, so peakedness 5
    found = allocation(make(np.arange(0, 201, 2), 1.0, 10.0))
    assert found.days == pytest.approx(200 / 24)
    assert found.wanted.mean_gpus == pytest.approx(5)
    assert found.wanted.variance == pytest.approx(25)
    assert found.wanted.peakedness == pytest.approx(5)
    assert (found.wanted.peak_gpus, found.wanted.p95_gpus, found.wanted.p99_gpus) == (10, 10, 10)
    assert found.poisson_peakedness == pytest.approx(10), "independent arrivals of 10 GPUs each"
    assert found.burst_factor == pytest.approx(0.5)


def test_percentiles_are_of_the_time() -> None:
    # 1 GPU all the time, 1 more for 4 of 100 hours, 1 more for half an hour of them; the job at 100 h ends the period
    jobs = make([0, 10, 11, 100], [100, 4, 0.5, 1], 1.0)
    wanted = allocation(jobs).wanted
    assert (wanted.p95_gpus, wanted.p99_gpus, wanted.peak_gpus) == (1, 2, 3)
    assert wanted.mean_gpus == pytest.approx(1.045)


def test_a_job_that_begins_as_another_ends_adds_no_peak() -> None:
    assert allocation(make([0, 1, 2, 3], 1.0, 4.0)).wanted.peak_gpus == 4


def test_fractions_add_up_to_nothing_left() -> None:
    wanted = allocation(make(np.linspace(0, 10, 1001), 0.05, 0.1)).wanted
    assert wanted.peak_gpus == pytest.approx(0.5)
    assert wanted.variance >= 0


def test_one_gpu_jobs_at_random_have_peakedness_one() -> None:
    found = allocation(poisson(3, load=40, hours=20_000))
    assert found.poisson_peakedness == 1
    assert found.wanted.peakedness == pytest.approx(1, abs=0.08)
    assert found.wanted.mean_gpus == pytest.approx(40, rel=0.02)


def test_bursts_multiply_peakedness() -> None:
    # as before, but each arrival brings five jobs at once: the infinite-server queue with batches of exponential jobs has
    # peakedness 1 + (5 - 1) / 2
    rng = np.random.default_rng(8)
    submit = np.repeat(np.sort(rng.uniform(0, 40_000, 40_000)), 5)
    found = allocation(make(submit, rng.exponential(2.0, len(submit))))
    assert found.burst_factor == pytest.approx(3, rel=0.08)


def test_a_drawn_trace_gives_its_parameters_back() -> None:
    found = allocation(poisson(5, load=30, hours=8000, mean_h=3.0, sizes=(1, 2, 4)))
    assert found.jobs == pytest.approx(80_000, rel=0.02)
    assert found.offered_gpus == pytest.approx(30 * 7 / 3, rel=0.03)
    assert [s.gpus for s in found.sizes] == [1, 2, 4]
    for size in found.sizes:
        assert size.load == pytest.approx(10, rel=0.04)
    for group in found.groups:
        assert group.mean_duration_h == pytest.approx(3, rel=0.03)
        assert group.duration_cv == pytest.approx(1, rel=0.04)
        assert group.share == pytest.approx(1 / 3, rel=0.05)
    assert found.poisson_peakedness == pytest.approx(21 / 7, rel=0.02)
    assert found.burst_factor == pytest.approx(1, rel=0.1)


def test_skipping_the_start_of_a_trace_that_starts_cold() -> None:
    # a job begins every hour and lasts 10: 0 to 10 GPUs in the first 10 hours, then 10
    jobs = make(np.arange(101), 10.0)
    assert allocation(jobs).wanted.mean_gpus == pytest.approx((55 + 90 * 10) / 100)
    late = allocation(jobs, skip_share=0.1)
    assert late.wanted.mean_gpus == pytest.approx(10)
    assert late.wanted.variance == pytest.approx(0, abs=1e-9)
    assert late.gpu_h == allocation(jobs).gpu_h


# ---- groups, waits, utilisation


def test_groups_by_hand() -> None:
    jobs = make([0, 5, 0, 10], [4, 2, 10, 1], [1, 3, 2, 2], [0, 0, 1, 1], names=["a", "b"])
    found = allocation(jobs)
    b, a = found.groups
    assert (a.name, b.name) == ("a", "b")
    assert (a.jobs, a.gpu_h, b.jobs, b.gpu_h) == (2, 10, 2, 22)
    assert (a.share, b.share) == (10 / 32, 22 / 32)
    assert (a.mean_duration_h, a.duration_cv) == (3, pytest.approx(1 / 3))
    assert (a.mean_size_gpus, a.largest_gpus, a.users) == (2, 3, 0)
    assert (a.mean_gpus, a.peak_gpus) == (1, 3), "10 GPU-hours in 10 hours"
    assert a.own_peak_utilisation == pytest.approx(1 / 3)
    assert (b.mean_gpus, b.peak_gpus) == (2, 2)


def test_users_are_counted_by_group() -> None:
    jobs = make([0, 1, 2, 3], 1.0, 1.0, [0, 0, 0, 1])
    named = Jobs(
        **{name: getattr(jobs, name) for name in jobs.__dataclass_fields__}
        | {"user": np.array([0, 1, 0, 1]), "users": 2}
    )
    found = allocation(named)
    assert found.users == 2
    assert [g.users for g in found.groups] == [2, 1]


def test_waits_and_what_was_held_by_hand() -> None:
    waits = [0, 0, 0, 0, 0, 0, 0, 0, 1 / 6, 1]
    jobs = make(range(10), 1.0, 1.0, wait_h=waits)
    found = allocation(jobs)
    assert found.waits is not None
    assert found.waits.mean_h == pytest.approx((1 / 6 + 1) / 10)
    assert found.waits.p90_h == pytest.approx(1 / 6)
    assert found.waits.long_share == 0.1, "ten minutes are not more than ten minutes"
    assert found.held is not None
    assert found.held.mean_gpus < found.wanted.mean_gpus, "one began later"
    nobody = allocation(make(range(10), 1.0))
    assert (nobody.waits, nobody.held) == (None, None)


def test_utilisation_is_of_what_is_installed() -> None:
    jobs = make([0, 10], [10, 1], 4.0)
    assert allocation(jobs, installed_gpus=16).utilisation == pytest.approx(0.25)
    assert allocation(jobs).utilisation is None
    few = audit(jobs, installed_gpus=2)
    assert few.allocation is not None
    assert few.allocation.utilisation == pytest.approx(2)
    assert any("More GPUs were held" in note for note in few.notes)


@pytest.mark.parametrize(
    "options",
    [
        {"installed_gpus": 0},
        {"skip_share": 1.0},
        {"skip_share": -0.1},
        {"time_zone": "Mars"},
        {"time_zone": "Factory"},
    ],
)
def test_inputs_out_of_range(options: dict[str, Any]) -> None:
    (name,) = options
    with pytest.raises(ValueError, match=f"{name} is"):
        audit(make([0, 10], 1.0), **options)


def test_the_period_of_jobs_that_all_come_at_once() -> None:
    jobs = make([0, 0.5], [4, 8], 1.0)
    assert period_s(jobs) == (MONDAY, MONDAY + 8.5 * HOUR)
    found = allocation(jobs)
    assert found.offered_gpus == pytest.approx(12 / 8.5)
    assert np.isfinite(found.week_gpus).all()


def test_the_period_of_a_job_too_short_to_be_seen() -> None:
    assert period_s(make([0], 1e-12)) == (MONDAY, MONDAY + 1)
    assert allocation(make([0], 1e-12)).offered_gpus == pytest.approx(3.6e-9 / 1)


def test_many_groups_become_few() -> None:
    jobs = make(np.arange(300) / 10, np.linspace(1, 4, 300), 1.0, np.arange(300))
    found = audit(jobs)
    assert found.allocation is not None
    assert len(found.allocation.groups) == 100
    assert OTHERS in {g.name for g in found.allocation.groups}
    assert sum(g.gpu_h for g in found.allocation.groups) == pytest.approx(found.allocation.gpu_h)
    assert any("told apart" in note for note in found.notes)


# ---- hours of the week


def test_hours_of_the_week_by_hand() -> None:
    # Monday 09:30 for 1 h with 2 GPUs, in two weeks; a job on the Monday after them ends the period
    jobs = make([0, 9.5, 168 + 9.5, 336], [0.001, 1, 1, 1], [1, 2, 2, 1])
    found = allocation(jobs)
    assert found.week_hours.tolist() == pytest.approx([2.0] * 168)
    week = found.week_gpus[:, 0]
    assert week[9] == pytest.approx(1), "half of the hour, 2 GPUs"
    assert week[10] == pytest.approx(1)
    assert week[11:].sum() == pytest.approx(0)


@pytest.mark.parametrize(
    ("zone", "hours"),
    [
        ("Asia/Kolkata", {15: 2.0}),
        ("America/New_York", {5: 1.0, 6: 1.0}),
        ("Asia/Kathmandu", {15: 1.5, 16: 0.5}),
    ],
)
def test_hours_of_the_week_in_a_zone(zone: str, hours: dict[int, float]) -> None:
    jobs = make([0, 9.5, 168], [0.0001, 1, 1], [0.5, 2, 1])
    week = allocation(jobs, time_zone=zone).week_gpus[:, 0]
    assert {hour: week[hour] for hour in hours} == pytest.approx(hours)
    assert week[24:].sum() < 0.001, "the first job is half a GPU for a third of a second"


def test_hours_of_the_week_across_a_clock_change() -> None:
    # Berlin, 27 October 2024: the hour from 02:00 comes twice; a job of one GPU runs all day of 24 h UTC
    sunday = datetime(2024, 10, 26, 22, tzinfo=UTC).timestamp()
    found = allocation(make([0, 25], [25, 1], begin=sunday), time_zone="Europe/Berlin")
    assert found.week_hours[6 * 24 + 2] == pytest.approx(2)
    assert found.week_hours[6 * 24 : 7 * 24].sum() == pytest.approx(25)
    assert found.week_gpus[6 * 24 : 7 * 24, 0].tolist() == pytest.approx([1.0] * 24)


@pytest.mark.parametrize("seed", range(5))
def test_gpu_hours_are_conserved(seed: int) -> None:
    jobs = poisson(seed, load=10, hours=700, sizes=(0.25, 0.5, 1, 2, 8))
    found = allocation(jobs, time_zone="Asia/Kolkata")
    total = float((jobs.gpus * jobs.duration_s).sum()) / HOUR
    assert found.gpu_h == pytest.approx(total)
    assert sum(g.gpu_h for g in found.groups) == pytest.approx(total)
    assert sum(g.share for g in found.groups) == pytest.approx(1)
    assert sum(s.gpu_h for s in found.sizes) == pytest.approx(total)
    assert sum(s.load * s.gpus for s in found.sizes) == pytest.approx(found.offered_gpus)
    assert sum(s.jobs for s in found.sizes) == sum(g.jobs for g in found.groups) == found.jobs
    period_h = found.days * 24
    assert found.week_hours.sum() == pytest.approx(period_h)
    within = (found.week_gpus * found.week_hours[:, None]).sum(axis=0)
    assert within.sum() == pytest.approx(found.wanted.mean_gpus * period_h)
    assert within.tolist() == pytest.approx([g.mean_gpus * period_h for g in found.groups])


# ---- suggestions


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
        rng.choice([0.25, 0.5, 1, 2, 3, 4, 7, 8, 12, 16, 17, 24, 40, 128], count),
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
    assert (origin.basis, origin.note) == ("measured", "audit of jobs.csv, 28 days")
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
    assert (
        small.note == "1 job and 0 GPU-hours of the trace; rounded up to the least that a scenario can hold"
    )


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


@pytest.mark.parametrize("seed", range(40))
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


# ---- activity


def samples() -> Samples:
    """Two GPUs each minute for 10 minutes: one of group a at 80 %, the other 0 % for a, then half of it 50 % for b."""
    time = np.repeat(MONDAY + 60.0 * np.arange(10), 2)
    gpu = np.tile([0, 1], 10).astype(np.intc)
    late = (gpu == 1) & (time >= MONDAY + 300)
    percent = np.where(gpu == 0, 80.0, np.where(late, 50.0, 0.0))
    return Samples(
        time_s=time,
        gpu=gpu,
        group=late.astype(np.intc),
        percent=percent,
        weight=np.ones(20),
        groups=("a", "b"),
        gpus=("x", "y"),
        metric="utilization.gpu",
        reading=READING,
    )


def test_activity_by_hand() -> None:
    found = audit(samples())
    assert found.allocation is None
    assert found.activity is not None
    seen = found.activity
    assert (seen.samples, seen.interval_s, seen.gpus_seen) == (20, 60, 2)
    assert seen.mean_activity_pct == pytest.approx((800 + 250) / 20)
    a, b = seen.groups
    assert (a.name, a.samples, a.gpus_seen, a.mean_gpus) == ("a", 15, 2, pytest.approx(1.5))
    assert a.mean_activity_pct == pytest.approx(800 / 15)
    assert (a.active_share, a.busy_share) == (pytest.approx(10 / 15), pytest.approx(10 / 15))
    assert a.busy_gpus == pytest.approx(0.8)
    assert (b.gpus_seen, b.mean_gpus, b.busy_gpus) == (1, pytest.approx(0.5), pytest.approx(0.25))
    assert seen.week_activity_pct[0].tolist() == pytest.approx([800 / 15, 50])
    assert seen.week_samples[0].tolist() == [15, 5]
    assert seen.week_activity_pct[1:].sum() == 0


def test_activity_is_conserved_over_groups_and_in_a_zone() -> None:
    found = audit(samples(), time_zone="Asia/Kolkata").activity
    assert found is not None
    assert sum(g.busy_gpus for g in found.groups) == pytest.approx(found.mean_activity_pct / 100 * 2)
    assert sum(g.mean_gpus for g in found.groups) == pytest.approx(2)
    assert found.week_samples[5].sum() == found.samples


def test_mig_instances_count_as_their_part() -> None:
    whole = samples()
    part = Samples(
        **{name: getattr(whole, name) for name in whole.__dataclass_fields__} | {"weight": np.full(20, 2 / 7)}
    )
    found = audit(part).activity
    assert found is not None
    assert found.gpus_seen == pytest.approx(4 / 7)
    assert sum(g.busy_gpus for g in found.groups) == pytest.approx(1.05 * 2 / 7)


def test_a_single_sample() -> None:
    one = samples()
    cut = Samples(
        **{name: getattr(one, name) for name in one.__dataclass_fields__}
        | {name: getattr(one, name)[:1] for name in ("time_s", "gpu", "group", "percent", "weight")}
    )
    found = audit(cut).activity
    assert found is not None
    assert found.groups[0].mean_gpus == 1


# ---- replay beside the formulas


def by_name(methods: Sequence[Method]) -> dict[str, Method]:
    return {m.name: m for m in methods}


def test_replays_agree_with_the_formulas_where_they_hold() -> None:
    jobs = poisson(11, load=20, hours=6000)
    found = compare(jobs, hosts=[24], wait_limit_h=0.25)
    turned, long = by_name(found.turned_away), by_name(found.waits_long)
    assert found.offered_gpus == pytest.approx(20, rel=0.03)
    assert found.poisson_peakedness == 1
    exact = erlang_b(24, load=found.offered_gpus)
    assert turned["kaufman-roberts"].chance == pytest.approx(exact)
    assert turned["replay"].chance == pytest.approx(exact, rel=0.1)
    assert turned["replay on the hosts"].chance == turned["replay"].chance, "one host is one pool"
    assert turned["hayward"].chance == pytest.approx(exact, rel=0.25), "peakedness near 1"
    assert turned["kaufman-roberts"].gpus_needed == next(
        n for n in range(100) if erlang_b(n, load=found.offered_gpus) <= 0.05
    )
    waits = hayward_wait_longer_chance(24, load=found.offered_gpus, peakedness=1, duration_h=2.0, wait_h=0.25)
    assert erlang_c(24, load=found.offered_gpus) > waits > 0.05
    assert long["erlang-c"].chance == pytest.approx(waits, rel=0.03)
    assert long["replay"].chance == pytest.approx(waits, rel=0.15)
    for methods in (turned, long):
        assert methods["replay on the hosts"].gpus_needed == 48, "hosts of 24 GPUs"
        needed = [m.gpus_needed or 0 for m in methods.values() if m.name != "replay on the hosts"]
        assert max(needed) - min(needed) <= 2


def test_bursts_part_the_replay_from_the_formulas() -> None:
    rng = np.random.default_rng(4)
    submit = np.repeat(np.arange(0, 2000, 20.0), 100)
    found = compare(make(submit, rng.exponential(2.0, len(submit))), hosts=[8] * 3)
    needed = {name: m.gpus_needed for name, m in by_name(found.turned_away).items()}
    assert needed["kaufman-roberts"] < needed["hayward"] < needed["replay"]  # type: ignore[operator]
    assert found.peakedness > 10
    steady = compare(make(submit, 2.0), hosts=[8] * 3, peakedness=1.0)
    assert (
        by_name(steady.turned_away)["hayward"].gpus_needed
        == by_name(steady.turned_away)["kaufman-roberts"].gpus_needed
    )


def test_the_fewest_gpus_of_a_replay_by_hand() -> None:
    # every 10 hours 20 jobs of one hour at once: with 20 GPUs nobody waits, with 19 one of 20 waits an hour, with 18 two
    jobs = make(np.repeat(np.arange(0, 100, 10.0), 20), 1.0)
    found = compare(jobs, hosts=[10, 10])
    assert by_name(found.waits_long)["replay"].gpus_needed == 19
    assert by_name(found.turned_away)["replay"].gpus_needed == 19
    assert by_name(found.waits_long)["replay on the hosts"].gpus_needed == 20
    assert found.waiting.longer_share(0.0) == 0
    assert found.turned_away_share == 0
    assert found.pool_gpus == 19
    assert found.pool_utilisation == pytest.approx(200 / 90 / 19)
    assert compare(jobs, hosts=[10, 10], share=0.11).pool_gpus == 18
    assert compare(jobs, hosts=[10, 9]).waits_long[-1].gpus_needed is None


def test_silos_against_the_pool_by_hand() -> None:
    # two groups that take turns: each needs 4 GPUs alone, 4 do together
    jobs = make(np.arange(100), 1.0, 4.0, np.arange(100) % 2, names=["day", "night"])
    found = compare(jobs, hosts=[4])
    assert [(s.group, s.jobs, s.gpus) for s in found.silos] == [("day", 50, 4), ("night", 50, 4)]
    assert (found.silo_gpus, found.pool_gpus) == (8, 4)
    assert found.pool_utilisation == pytest.approx(2 * found.silo_utilisation)
    assert sum(s.offered_gpus for s in found.silos) == pytest.approx(found.offered_gpus)


def test_a_pool_is_smaller_than_its_silos() -> None:
    found = compare(poisson(6, load=12, hours=1500), hosts=[8, 8])
    assert found.pool_gpus < found.silo_gpus
    assert found.pool_utilisation > found.silo_utilisation


def test_fractions_are_counted_in_parts() -> None:
    rng = np.random.default_rng(9)
    jobs = make(np.sort(rng.uniform(0, 3000, 15_000)), rng.exponential(2.0, 15_000), 0.5)
    found = compare(jobs, hosts=[6])
    exact = erlang_b(12, load=2 * found.offered_gpus)
    turned = by_name(found.turned_away)
    assert turned["kaufman-roberts"].chance == pytest.approx(exact)
    assert turned["replay"].chance == pytest.approx(exact, rel=0.1)
    odd = compare(make(np.arange(30), 1.0, [0.013, 0.31, 0.57] * 10), hosts=[4])
    assert "kaufman-roberts" not in by_name(odd.turned_away)


def test_jobs_larger_than_a_host_run_on_several() -> None:
    jobs = make([0, 1, 2, 3], 1.0, [20.0, 1, 1, 1])
    found = compare(jobs, hosts=[8, 8, 8])
    assert found.waiting.served.all()
    with pytest.raises(ValueError, match="can never start"):
        compare(jobs, hosts=[8, 8])


def test_a_comparison_can_be_watched_and_cancelled() -> None:
    said: list[str] = []

    def watch(what: str) -> bool:
        said.append(what)
        return len(said) < 3

    with pytest.raises(Cancelled):
        compare(make(range(20), 1.0), hosts=[4], progress=watch)
    assert len(said) == 3
    assert "proposed hosts" in said[0]


@pytest.mark.parametrize(
    "options", [{"share": 0.0}, {"share": 1.0}, {"wait_limit_h": -1.0}, {"policy": "first"}]
)
def test_a_comparison_needs_sense(options: dict[str, Any]) -> None:
    with pytest.raises(ValueError):
        compare(make(range(20), 1.0), hosts=[4], **options)


def test_a_period_of_centuries_is_refused_with_its_days() -> None:
    jobs = read_trace(io.BytesIO(b"submit,duration,gpus\n1970-01-01,60,1\n2024-05-01,60,1\n"))
    with pytest.raises(
        ValueError, match="its jobs span 1970-01-01 to 2024-05-01, and at most 20 years are read"
    ):
        audit(jobs)


def test_samples_of_very_many_groups_are_put_together() -> None:
    rows = "".join(f"2024-05-01 00:{n % 60:02}:00,0,{n % 100},g{n}\n" for n in range(500))
    found = audit(read_trace(io.BytesIO(f"time,gpu,percent,group\n{rows}".encode())))
    assert found.activity is not None
    assert len(found.activity.groups) == MOST_GROUPS
    assert sum(g.samples for g in found.activity.groups) == 500
    assert any("99 groups with most samples" in note for note in found.notes)
