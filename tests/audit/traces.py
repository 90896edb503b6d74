"""Files of jobs and how tests read them, and jobs made up."""

from __future__ import annotations

import io
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pytest

from gpuplan.audit import Allocation, Jobs, Reading, Samples, TraceError, audit, read_trace

MAY = datetime(2024, 5, 1, tzinfo=UTC).timestamp()
MONDAY = datetime(2024, 5, 6, tzinfo=UTC).timestamp()
HOUR = 3600.0
READING = Reading("jobs", 0, 0, (), (), {}, "UTC")

JOBS = """\
submit_time,start_time,duration,num_gpus,vc,user,state
2024-05-01 00:00:00,2024-05-01 00:05:00,3600,4,vision,ana,Pass
2024-05-01 00:10:00,2024-05-01 00:10:00,01:30:00,1,speech,bo,Failed
2024-05-01 00:20:00,2024-05-01 01:20:00,1-00:00:00,0.5,vision,bo,Pass
"""

GOOD = "2024-05-01 00:00:00,60,1\n"


def read(text: str | bytes, **options: Any) -> Jobs | Samples:
    return read_trace(io.BytesIO(text if isinstance(text, bytes) else text.encode()), **options)


def jobs_of(text: str | bytes, **options: Any) -> Jobs:
    found = read(text, **options)
    assert isinstance(found, Jobs)
    return found


def samples_of(text: str | bytes, **options: Any) -> Samples:
    found = read(text, **options)
    assert isinstance(found, Samples)
    return found


def refused(text: str | bytes, **options: Any) -> str:
    with pytest.raises(TraceError) as caught:
        read(text, **options)
    assert caught.value.problems
    return str(caught.value)


def same(one: Jobs, other: Jobs) -> None:
    for name in ("submit_s", "start_s", "duration_s", "gpus", "group", "user"):
        assert np.array_equal(getattr(one, name), getattr(other, name)), name
    assert one.groups == other.groups


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
