"""GPUs at once and the hours of the week: by hand on small traces, within sampling error on drawn ones."""

from __future__ import annotations

from datetime import UTC, datetime

import numpy as np
import pytest
from approved import has_approved, is_approved
from traces import HOUR, MONDAY, allocation, jobs_of, make, poisson, samples, samples_of

from gpuplan.audit import TraceError, audit, cut_days


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


DAY = 86400.0
# 6 to 9 May; held from 6th 22:00 for 4 h, 7th 12:00 for 2 h, 7th 23:00 for 30 h, 9th 0:00 for 1 h
EDGES = """\
submit,start,duration,gpus,user
2024-05-06 21:00,2024-05-06 22:00,14400,2,ana
2024-05-07 11:00,2024-05-07 12:00,7200,1,bo
2024-05-07 22:30,2024-05-07 23:00,108000,4,bo
2024-05-09 00:00,2024-05-09 00:00,3600,8,cy
"""


def test_of_jobs_that_cross_an_edge_the_part_inside_counts() -> None:
    cut = cut_days(jobs_of(EDGES), first_day="2024-05-07", last_day="2024-05-07")
    begin = MONDAY + DAY
    assert (cut.start_s - begin).tolist() == [0, 12 * HOUR, 23 * HOUR]
    assert cut.duration_s.tolist() == [2 * HOUR, 2 * HOUR, HOUR]
    assert cut.period_s == (begin, begin + DAY)
    assert cut.users == 2
    assert is_approved(cut.reading.notes[-1], "2024-05-07", "2024-05-07", "1", "4 jobs", "2")
    found = allocation(cut)
    assert (found.days, found.gpu_h) == (1, pytest.approx(2 * 2 + 2 + 4))
    assert found.held is not None
    assert found.offered_gpus == pytest.approx(10 / 24)
    assert found.held.mean_gpus == pytest.approx(10 / 24)
    assert found.waits is not None
    assert found.waits.mean_h == pytest.approx((1 + 0.5) / 2), "the job that ran already did not wait"


def test_one_edge_leaves_the_other_open() -> None:
    late = cut_days(jobs_of(EDGES), first_day="2024-05-08")
    assert (late.start_s - MONDAY - 2 * DAY).tolist() == [0, DAY]
    assert late.duration_s.tolist() == [29 * HOUR, HOUR]
    early = cut_days(jobs_of(EDGES), last_day="2024-05-06")
    assert early.duration_s.tolist() == [2 * HOUR]
    assert early.start_s.tolist() == [MONDAY + 22 * HOUR]
    assert has_approved(early.reading.notes[-1], "2024-05-06", "3", "4 jobs", "1")
    whole = jobs_of(EDGES)
    assert cut_days(whole) is whole


def test_days_by_number_and_by_the_clock_of_a_place() -> None:
    numbered = cut_days(jobs_of(EDGES), first_day="2", last_day="2")
    assert numbered.period_s == (MONDAY + DAY, MONDAY + 2 * DAY)
    berlin = jobs_of(EDGES, time_zone="Europe/Berlin")
    cut = cut_days(berlin, first_day="2024-05-07", last_day="2024-05-07", time_zone="Europe/Berlin")
    assert cut.period_s == (MONDAY + 22 * HOUR, MONDAY + 46 * HOUR)
    unknown = jobs_of("submit,duration,gpus\n0,60,1\n90000,60,1\n180000,60,1\n")
    cut = cut_days(unknown, first_day="2", last_day="3")
    assert cut.submit_s.tolist() == cut.start_s.tolist() == [90000, 180000]
    assert has_approved(cut.reading.notes[-1], "2", "3", "1", "3 jobs", "0")


def test_the_days_of_a_trace_hold_its_gpu_hours_together() -> None:
    jobs = poisson(3, load=9, hours=96, mean_h=20, sizes=(0.25, 1, 8))
    each = [cut_days(jobs, first_day=f"{n}", last_day=f"{n}") for n in range(1, 5)]
    rest = cut_days(jobs, last_day="4")
    split = sum(float((day.gpus * day.duration_s).sum()) for day in each)
    assert split == pytest.approx(float((rest.gpus * rest.duration_s).sum()))
    minutes = MONDAY + DAY + 60 * np.arange(1440) + 30
    ends = jobs.start_s + jobs.duration_s
    at_once = [jobs.gpus[(jobs.start_s <= t) & (t < ends)].sum() for t in minutes]
    assert allocation(each[1]).wanted.mean_gpus == pytest.approx(np.mean(at_once), rel=1e-3)


def test_a_job_over_all_days_has_no_wait_and_fills_them() -> None:
    jobs = make([0, 200], [150, 1], 2, wait_h=[1, 0])
    found = allocation(cut_days(jobs, first_day="2024-05-08", last_day="2024-05-09"))
    assert (found.gpu_h, found.days, found.waits) == (96, 2, None)
    assert found.held is not None
    assert (found.held.mean_gpus, found.held.variance) == (2, 0)


def test_samples_count_by_their_time() -> None:
    rows = "".join(f"2024-05-0{day} 12:00:00,0,{10 * day}\n" for day in range(1, 6))
    cut = cut_days(samples_of("time,gpu,percent\n" + rows), first_day="2024-05-02", last_day="2024-05-03")
    assert cut.percent.tolist() == [20, 30]
    assert is_approved(cut.reading.notes[-1], "2024-05-02", "2024-05-03", "3", "5 samples")
    activity = audit(cut).activity
    assert activity is not None
    assert activity.mean_activity_pct == 25
    with pytest.raises(TraceError, match="nothing is left from 2024-05-07: the trace is from 2024-05-06 to"):
        cut_days(samples(), first_day="2024-05-07")


@pytest.mark.parametrize(
    ("days", "words"),
    [
        (("2024-05-08", "2024-05-07"), 'last day: "2024-05-07": is before the first day, 2024-05-08'),
        (("9.5.2024", ""), 'first day: "9.5.2024": expected a date such as'),
        (("", "2024-02-30"), 'last day: "2024-02-30": expected a date such as'),
        (("0", ""), 'first day: "0": expected'),
        (("999999", ""), 'first day: "999999": expected'),
        (("", "9999-12-31"), 'last day: "9999-12-31": expected'),
        (("", "1969-12-31"), 'last day: "1969-12-31": expected'),
        (("2024-05-10", ""), "nothing is left from 2024-05-10: the trace is from 2024-05-06 to 2024-05-09"),
        (("", "2024-05-05"), "nothing is left to 2024-05-05: the trace is from 2024-05-06 to 2024-05-09"),
    ],
)
def test_days_that_cannot_be_are_refused(days: tuple[str, str], words: str) -> None:
    with pytest.raises(TraceError) as caught:
        cut_days(jobs_of(EDGES), first_day=days[0], last_day=days[1])
    assert str(caught.value).startswith(words)
