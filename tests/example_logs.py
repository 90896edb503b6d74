"""The logs in data/examples: a cluster of 16 GPUs that never existed, made with a fixed seed. `python tests/example_logs.py` writes them."""

from __future__ import annotations

import random
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import NamedTuple

FOLDER = Path(__file__).resolve().parents[1] / "data" / "examples"
MONDAY, DAYS, GPUS, SEED = datetime(2026, 8, 31), 28, 16, 44
SAMPLED = range(14, 19)
"""Days of which the second file has samples, a working week."""


class Habit(NamedTuple):
    """How the users of an account work."""

    account: str
    users: int
    jobs: float
    """On a weekday; at the weekend the share of it."""
    weekend: float
    hours: tuple[float, float]
    """When jobs are submitted."""
    duration_h: tuple[float, float]
    """Median, and the spread of its logarithm."""
    gpus: tuple[int, ...]
    idle: float
    """Share of the hours in which its GPUs do nothing."""
    busy_pct: float


HABITS = (
    Habit("imaging", 6, 4.5, 0.6, (9, 22), (7, 0.5), (1, 2, 2, 4), 0.04, 88),
    Habit("analytics", 24, 12, 0.05, (8, 13), (5, 0.35), (1,), 0.72, 41),
    Habit("course", 40, 9, 0.3, (10, 22), (1.4, 0.6), (1,), 0.25, 63),
)


class Job(NamedTuple):
    """One job with the GPUs that it held."""

    habit: Habit
    user: str
    submit: datetime
    start: datetime
    end: datetime
    gpus: list[int]


def jobs() -> list[Job]:
    """Jobs in the order of their numbers: first come, first served, on the GPUs that are free first."""
    chance, requests = random.Random(SEED), []
    for day in range(DAYS):
        for habit in HABITS:
            expected = habit.jobs * (habit.weekend if day % 7 > 4 else 1)
            for _ in range(round(chance.gauss(expected, expected**0.5))):
                submit = MONDAY + timedelta(days=day, hours=chance.uniform(*habit.hours))
                user = f"{habit.account[0]}{chance.randint(1, habit.users):02}"
                hours = min(24.0, chance.lognormvariate(0, habit.duration_h[1]) * habit.duration_h[0])
                requests.append((submit, user, habit, hours, chance.choice(habit.gpus)))
    free, done = [MONDAY] * GPUS, []
    for submit, user, habit, hours, size in sorted(requests):
        taken = sorted(range(GPUS), key=lambda gpu: free[gpu])[:size]
        start = max(submit, *(free[gpu] for gpu in taken)).replace(microsecond=0)
        end = (start + timedelta(hours=hours)).replace(microsecond=0)
        for gpu in taken:
            free[gpu] = end
        done.append(Job(habit, user, submit.replace(microsecond=0), start, end, taken))
    return done


def sacct() -> Iterator[str]:
    """The jobs as `sacct --parsable2` prints them."""
    yield "JobID|User|Account|Submit|Start|End|AllocTRES|State"
    for number, job in enumerate(jobs(), 4001):
        times = "|".join(at.isoformat() for at in (job.submit, job.start, job.end))
        yield f"{number}|{job.user}|{job.habit.account}|{times}|gres/gpu={len(job.gpus)}|COMPLETED"


def samples() -> Iterator[str]:
    """Activity of each GPU once an hour, with the account of the job that held it."""
    yield "time,gpu,account,utilization_gpu"
    chance, held = random.Random(SEED), jobs()
    for hour in range(24 * SAMPLED.start, 24 * SAMPLED.stop):
        at = MONDAY + timedelta(hours=hour)
        for gpu in range(GPUS):
            job = next((job for job in held if gpu in job.gpus and job.start <= at < job.end), None)
            works = job and chance.random() > job.habit.idle
            busy = round(min(100, chance.gauss(job.habit.busy_pct, 6))) if job and works else 0
            yield f"{at:%Y-%m-%d %H:%M},{gpu},{job.habit.account if job else ''},{busy}"


FILES = {"northwind_sacct.txt": sacct, "northwind_activity.csv": samples}

if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name, lines in FILES.items():
        (FOLDER / name).write_text("\n".join([*lines(), ""]), encoding="utf-8")
