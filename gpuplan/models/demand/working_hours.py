"""Working hours in time zones -> active users, in quarters of an hour of a week that begins on Monday, 00:00 UTC.
[gpuplan-method]_
"""

import math
from collections.abc import Sequence

import numpy as np

from gpuplan.units import above_zero, each, exact, finite, not_negative, whole_from_zero

QUARTERS_PER_DAY = 96
QUARTERS_PER_WEEK = 7 * QUARTERS_PER_DAY
MINUTES_PER_QUARTER = 15
HOURS_PER_WEEK = 168


def on_duty(start_min: int, end_min: int, *, days: str, offset_min: int) -> np.ndarray:
    """The quarters of an hour of the week, UTC, that are within working hours stated in local time.

    Parameters:
        start_min: Minute of the local day at which the hours begin. [-]
        end_min: Minute of the local day at which they end; before the begin, they end on the next day. [-]
        days: ``every-day``, ``weekdays`` (Monday to Friday) or ``weekends``: the local days on which the hours begin. [-]
        offset_min: Minutes by which local time is ahead of UTC. [-]

    One value for each of the 672 quarters of an hour of a week. The week repeats. A night shift counts to the day on
    which it begins: weekdays from 22:00 to 06:00 end on Saturday at 06:00.

    >>> int(on_duty(9 * 60, 18 * 60, days="weekdays", offset_min=330).sum()) / 4
    45.0
    """
    if not (0 <= start_min < 1440 and 0 < end_min <= 1440 and start_min != end_min):
        raise ValueError(f"start_min is {start_min} and end_min is {end_min}; these are not hours of a day")
    if start_min % MINUTES_PER_QUARTER or end_min % MINUTES_PER_QUARTER or offset_min % MINUTES_PER_QUARTER:
        raise ValueError(
            "hours (start_min, end_min) and offset_min must be multiples of a quarter of an hour"
        )
    worked = {"every-day": range(7), "weekdays": range(5), "weekends": range(5, 7)}[days]
    length = (end_min - start_min) % 1440 or 1440
    local = np.zeros(QUARTERS_PER_WEEK, dtype=bool)
    for day in worked:
        first = (day * 1440 + start_min) // MINUTES_PER_QUARTER
        local[np.arange(first, first + length // MINUTES_PER_QUARTER) % QUARTERS_PER_WEEK] = True
    return np.roll(local, -offset_min // MINUTES_PER_QUARTER)


def people_at_sites(people: int, parts: Sequence[int]) -> tuple[int, ...]:
    """People at each site: the group divided in proportion, in whole people.

    Parameters:
        people: People in the group. [-]
        parts (sequence of int): People, or parts of them, at each site. [-]

    Largest remainders: each site gets its share rounded down, and those with the largest remainders one more, the first
    ones of equal remainders.

    >>> people_at_sites(40, [25, 15]), people_at_sites(10, [1, 1, 1])
    ((25, 15), (4, 3, 3))
    """
    whole_from_zero(people=people)
    each(whole_from_zero, parts=parts)
    total = sum(parts)
    if total <= 0:
        raise ValueError(f"parts {tuple(parts)} do not divide a group: at least one must be above 0")
    shares = [people * part // total for part in parts]
    order = sorted(range(len(parts)), key=lambda site: -(people * parts[site] % total))
    for site in order[: people - sum(shares)]:
        shares[site] += 1
    return tuple(shares)


def work_rate(jobs_per_day: float, *, hours_per_day: float) -> float:
    """Jobs that a group starts per working hour.

    Parameters:
        jobs_per_day: Jobs that the whole group begins on a working day. [-]
        hours_per_day: Hours of work on such a day. [-]

    jobs_per_day / hours_per_day: spread evenly over the hours of work.

    >>> work_rate(90, hours_per_day=9)
    10.0
    """
    not_negative(jobs_per_day=jobs_per_day)
    above_zero(hours_per_day=hours_per_day)
    return jobs_per_day / hours_per_day


def jobs_underway(rates: Sequence[float], *, duration_h: float, alike: bool = False) -> np.ndarray:
    """Average number of running jobs in each part of a repeating week, if no job waits.

    Parameters:
        rates (sequence of float): Jobs begun in an hour, in equal parts of the week. [-]
        duration_h: Mean time for which one holds its GPUs. [h]
        alike: Whether every job takes this long, as one whose work is known does. [-]

    M(t)/M/infinity: dL/dt = rate - L / duration, solved exactly for rates that are constant within a part and repeat every
    week; the mean of L over the part. What was begun within the hours goes on after them, and it takes about a job
    until the load has built up. Exponential durations; the sum over the week is rate * duration for any. [little-1961]_
    Of jobs that are ``alike``, those begun within the last ``duration_h`` are running: none later than that after the hours.

    >>> load = jobs_underway([10.0] * 84 + [0.0] * 84, duration_h=2.0)
    >>> round(float(load[0]), 2), round(float(load[83]), 2), round(float(load[84]), 2)
    (4.26, 20.0, 15.74)
    >>> jobs_underway([10.0] * 84 + [0.0] * 84, duration_h=2.0, alike=True)[[0, 83, 84, 86]].tolist()
    [5.0, 20.0, 15.0, 0.0]
    """
    if not (0 < duration_h < math.inf and min(rates) >= 0 and sum(rates) < math.inf):
        raise ValueError(
            f"duration_h is {duration_h}, the least of the rates {min(rates)}; all must be finite, the first above 0, "
            "the others not below 0"
        )
    step = HOURS_PER_WEEK / len(rates)
    if alike:
        return _begun_within(np.asarray(rates, dtype=float) * step, duration_h / step)
    level = np.asarray(rates, dtype=float) * duration_h
    kept = float(np.exp(-step / duration_h))
    part = duration_h / step * -float(np.expm1(-step / duration_h))
    start = 0.0
    for target in level:  # what a week leaves of nothing
        start = target + (start - target) * kept
    start /= -float(np.expm1(-HOURS_PER_WEEK / duration_h))
    means = np.empty(len(level))
    for at, target in enumerate(level):
        means[at] = target + (start - target) * part
        start = target + (start - target) * kept
    return means


def _begun_within(begun: np.ndarray, parts: float) -> np.ndarray:
    """Mean number of jobs begun within the last ``parts`` of a repeating week, of those begun in each part."""
    whole, rest = divmod(parts, 1)
    weeks, lasting = int(whole) // len(begun) + 2, int(whole)
    before = np.concatenate([[0.0], np.cumsum(np.tile(begun, weeks))])
    now = np.arange((weeks - 1) * len(begun), weeks * len(begun) + 1)
    running = before[now] - (1 - rest) * before[now - lasting] - rest * before[now - lasting - 1]
    return np.round((running[:-1] + running[1:]) / 2, 11)  # without the noise of large sums


def served_gpus(
    left_gpus: Sequence[float] | np.ndarray, *, asked_gpus: Sequence[float] | np.ndarray
) -> np.ndarray:
    """GPUs that jobs get of what others leave, for each quarter of an hour.

    Parameters:
        left_gpus (sequence of float): GPUs that the other groups leave in each quarter of an hour. [GPU]
        asked_gpus (sequence of float): GPUs that the jobs need in it. [GPU]

    The smaller of both: jobs that may be stopped keep nothing. What they miss is not made up later.

    >>> served_gpus([0, 4, 8], asked_gpus=[6, 6, 6]).tolist()
    [0, 4, 6]
    """
    not_negative(left_gpus=float(np.min(left_gpus)), asked_gpus=float(np.min(asked_gpus)))
    served: np.ndarray = np.minimum(left_gpus, asked_gpus)
    return served


def growth_factor(year: int, *, growth: float) -> float:
    """Growth factor of a group after some years of steady growth.

    Parameters:
        year: Years from now; 0 is today. [-]
        growth: Growth a year: 0.3 is 30 %. [-]

    (1 + growth) ** year.

    >>> growth_factor(2, growth=0.5)
    2.25
    """
    whole_from_zero(year=year)
    finite("growth", [growth])
    not_negative(growth_factor=1 + growth)
    return float((1 + exact(growth)) ** year)
