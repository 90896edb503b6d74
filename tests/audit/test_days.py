"""A trace cut to a first and a last day, by hand and by a second method."""

from __future__ import annotations

import numpy as np
import pytest
from approved import has_approved, is_approved
from traces import HOUR, MONDAY, allocation, jobs_of, make, poisson, samples, samples_of

from gpuplan.audit import TraceError, audit, cut_days

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
