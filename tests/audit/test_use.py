"""What a trace says of groups, waits and activity: by hand, and nothing is lost on the way."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pytest
from approved import has_approved
from traces import HOUR, MONDAY, allocation, make, samples

from gpuplan.audit import (
    Jobs,
    Samples,
    audit,
    read_trace,
)
from gpuplan.audit.curves import period_s
from gpuplan.audit.trace import MOST_GROUPS, OTHERS


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
    assert has_approved(few.notes)


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
    assert has_approved(found.notes, "99 workloads")
