"""GPUs at once and the hours of the week: by hand on small traces, within sampling error on drawn ones."""

from __future__ import annotations

from datetime import UTC, datetime

import numpy as np
import pytest
from traces import HOUR, allocation, make, poisson


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
