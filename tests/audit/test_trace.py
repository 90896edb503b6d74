"""Some of the jobs of a trace."""

from __future__ import annotations

from traces import JOBS, jobs_of


def test_some_of_the_jobs() -> None:
    jobs = jobs_of(JOBS)
    part = jobs.where(jobs.gpus < 2)
    assert part.gpus.tolist() == [1, 0.5]
    assert part.users == 1
    assert part.groups == jobs.groups
