"""Working hours in time zones, quarter of an hour by quarter of an hour."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta, timezone

import numpy as np
import pytest

from gpuplan.models.demand import (
    QUARTERS_PER_WEEK,
    growth_factor,
    jobs_underway,
    on_duty,
    people_at_sites,
    work_rate,
)

DAYS = {"every-day": range(7), "weekdays": range(5), "weekends": (5, 6)}


def by_clock(start: int, end: int, days: str, offset: int) -> list[bool]:
    """The same with the calendar of the standard library: is each quarter within hours begun today or yesterday?"""
    monday = datetime(2027, 1, 11, tzinfo=UTC)
    zone = timezone(timedelta(minutes=offset))
    found = []
    for quarter in range(QUARTERS_PER_WEEK):
        local = (monday + timedelta(minutes=15 * quarter)).astimezone(zone)
        minute = 60 * local.hour + local.minute
        today, yesterday = local.weekday() in DAYS[days], (local.weekday() - 1) % 7 in DAYS[days]
        over_night = end < start
        found.append(
            (today and minute >= start and (over_night or minute < end))
            or (over_night and yesterday and minute < end)
        )
    return found


@pytest.mark.parametrize("days", DAYS)
@pytest.mark.parametrize("offset", [0, 330, -360, 345, 840, -720])
@pytest.mark.parametrize(("start", "end"), [(540, 1080), (1320, 360), (0, 1440), (0, 15), (1425, 1440)])
def test_hours_agree_with_the_calendar(start: int, end: int, days: str, offset: int) -> None:
    assert on_duty(start, end, days=days, offset_min=offset).tolist() == by_clock(start, end, days, offset)


def test_bangalore_and_austin_share_the_hours_they_share() -> None:
    bangalore = on_duty(540, 1080, days="weekdays", offset_min=330)
    austin = on_duty(540, 1080, days="weekdays", offset_min=-360)
    assert bangalore.sum() == austin.sum() == 5 * 36
    assert not (bangalore & austin).any()  # 03:30-12:30 and 15:00-24:00 UTC
    assert (np.flatnonzero(bangalore[:96])[[0, -1]] / 4).tolist() == [3.5, 12.25]
    assert (np.flatnonzero(austin[:96])[[0, -1]] / 4).tolist() == [15.0, 23.75]


@pytest.mark.parametrize(
    ("start", "end", "offset"), [(540, 540, 0), (-15, 60, 0), (0, 1455, 0), (10, 60, 0), (0, 60, 7)]
)
def test_what_are_no_hours_is_refused(start: int, end: int, offset: int) -> None:
    with pytest.raises(ValueError, match="hours"):
        on_duty(start, end, days="every-day", offset_min=offset)


def test_people_are_divided_without_loss() -> None:
    assert people_at_sites(7, [1, 1]) == (4, 3)
    assert people_at_sites(1, [25, 15]) == (1, 0)
    assert people_at_sites(80, [25, 15]) == (50, 30)
    rng = np.random.default_rng(3)
    for _ in range(300):
        parts = [*rng.integers(0, 50, rng.integers(1, 9)).tolist(), 1]
        people = int(rng.integers(0, 1000))
        shares = people_at_sites(people, parts)
        assert sum(shares) == people
        assert all(abs(s - people * p / sum(parts)) < 1 for s, p in zip(shares, parts, strict=True))
    with pytest.raises(ValueError, match="above 0"):
        people_at_sites(4, [0, 0])


def test_jobs_of_a_day_are_spread_over_its_hours() -> None:
    assert work_rate(48, hours_per_day=24) == 2
    assert work_rate(90, hours_per_day=9) == 10
    assert work_rate(0, hours_per_day=0.5) == 0
    with pytest.raises(ValueError, match="above 0"):
        work_rate(1, hours_per_day=0)


def test_growth() -> None:
    assert [growth_factor(year, growth=0.3) for year in range(3)] == pytest.approx([1, 1.3, 1.69])
    assert growth_factor(3, growth=-0.5) == 0.125


def test_work_builds_up_and_fades() -> None:
    steady = jobs_underway([4.0] * 7, duration_h=3.0)
    assert steady == pytest.approx(12.0)
    rates = [10.0 if 9 <= hour % 24 < 18 else 0.0 for hour in range(168)]
    load = jobs_underway(np.repeat(rates, 4).tolist(), duration_h=2.0)
    assert load.mean() * 168 == pytest.approx(10 * 9 * 7 * 2)  # Little: no piece of work is lost
    by_steps, level = [], 0.0
    for _ in range(3):  # Euler in seconds, until a week repeats the one before
        by_steps = []
        for hour in range(168):
            total = 0.0
            for _ in range(360):
                level += (rates[hour] - level / 2.0) / 360
                total += level / 360
            by_steps.append(total)
    assert load.reshape(168, 4).mean(axis=1) == pytest.approx(by_steps, abs=0.02)
    with pytest.raises(ValueError, match="above 0"):
        jobs_underway([1.0], duration_h=0)
    with pytest.raises(ValueError, match="not below 0"):
        jobs_underway([-1.0], duration_h=1)


@pytest.mark.parametrize(
    ("jobs_per_day", "duration_h", "at_once"), [(4, 300.0, 50.0), (24, 1200.0, 1200.0), (96, 300.0, 1200.0)]
)
@pytest.mark.parametrize("parts", [1, 7, 168, 672])
def test_long_jobs_around_the_clock(
    jobs_per_day: float, duration_h: float, at_once: float, parts: int
) -> None:
    # Little: four a day of 300 h are 4 / 24 x 300 = 50 at once, however long a job outlasts the week
    rate = work_rate(jobs_per_day, hours_per_day=24)
    assert jobs_underway([rate] * parts, duration_h=duration_h) == pytest.approx(at_once, rel=1e-12)


def test_long_jobs_of_a_working_week_hardly_fade_over_the_weekend() -> None:
    # four a day on five days of the week, each 300 h: 20 x 300 / 168 = 35.7 at once on average
    week = [4 / 24] * 120 + [0.0] * 48
    load = jobs_underway(week, duration_h=300.0)
    assert load.mean() == pytest.approx(20 * 300 / 168)
    # the weekend leaves exp(-48 / 300) of what Friday leaves, and the five days bring it back: x = 50 - (50 - kx) e, e = exp(-120 / 300)
    k, e = math.exp(-48 / 300), math.exp(-120 / 300)
    friday = 50 * (1 - e) / (1 - k * e)
    assert load[119] == pytest.approx(friday, abs=0.05)
    assert load[120] == pytest.approx(friday, abs=0.1) and load[167] == pytest.approx(k * friday, abs=0.1)
    assert load.argmax() == 119 and load.argmin() in (0, 167)


def test_one_burst_fades_by_hand() -> None:
    # one hour of the week brings 6 jobs of 2 h: at its end 12 (1 - exp(-1/2)) are under way, in the mean of it 12 (1 - 2 (1 - exp(-1/2)))
    load = jobs_underway([6.0] + [0.0] * 167, duration_h=2.0)
    left = 12 * (1 - math.exp(-0.5))
    assert load[0] == pytest.approx(12 * (1 - 2 * (1 - math.exp(-0.5))))
    assert load[1] == pytest.approx(left * 2 * (1 - math.exp(-0.5)))
    assert load[3] == pytest.approx(load[1] * math.exp(-1.0))
    assert load.sum() == pytest.approx(12)


def test_jobs_alike_end_a_job_after_their_hours() -> None:
    # one of 2.5 h begins in each hour from 20:00 to 06:00: 2.5 at once from 22:30 on, and the last ends at 08:30
    rates = [1.0 if hour % 24 >= 20 or hour % 24 < 6 else 0.0 for hour in range(168)]
    load = jobs_underway(np.repeat(rates, 2).tolist(), duration_h=2.5, alike=True).reshape(7, 48)
    assert load.mean() * 168 == pytest.approx(10 * 7 * 2.5)  # Little: no job is lost
    assert load[2, [46, 0, 11]] == pytest.approx([2.5, 2.5, 2.5])
    assert load[2, [12, 16, 17, 39]] == pytest.approx([2.25, 0.25, 0, 0])
    for duration_h in (0.1, 2.5, 167.9, 300.0, 1200.0):
        steady = jobs_underway([4.0] * 672, duration_h=duration_h, alike=True)
        assert steady.min() == steady.max() == pytest.approx(4 * duration_h)
