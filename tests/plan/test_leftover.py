"""Jobs that may be stopped: what others leave, hour by hour, with failover capacity counted and taken back."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
import pytest
from random_cases import cases, often

from gpuplan import make_plan
from gpuplan.catalog import Catalog
from gpuplan.plan import Plan
from gpuplan.plan.working_week import weeks
from gpuplan.scenario import ScenarioError, from_dict

DAY = {"hours": "08:00-18:00", "days": "weekdays"}
WHOLE = {"gpus_each": 1, "access": "passthrough"}


def planned(catalog: Catalog, groups: list[dict[str, Any]], **sections: Any) -> Plan:
    data = {"groups": groups, "hardware": {"gpu": "l40s-48gb", "gpus_per_host": 4}, **sections}
    return make_plan(from_dict(data), catalog)


def test_what_is_left_is_counted_by_hand(catalog: Catalog) -> None:
    """8 GPUs by day on 3 hosts of 4: 12 - 8 = 4 of weekdays' 10 hours, 12 in the other 118 hours; 8 - 8 and 8 after a failure."""
    day = {"id": "day", "people": 8, "active_share": 1, **WHOLE, **DAY}
    jobs = {"id": "jobs", "people": 20, "active_share": 1, "preemptible": True, **WHOLE}
    plan = planned(catalog, [day, jobs], availability={"host_failures": 1})
    assert (plan.totals.hosts, plan.group("jobs").vms) == (3, 0)
    assert plan.leftover is not None
    (jobs_get,) = plan.leftover.groups
    assert jobs_get.asked_gpu_h == pytest.approx(20 * 168)
    assert jobs_get.gpu_h == pytest.approx(4 * 50 + 12 * 118)
    assert jobs_get.gpu_h_after_failure == pytest.approx(0 * 50 + 8 * 118)


def test_the_first_by_priority_is_served_first(catalog: Catalog) -> None:
    """Two hosts of 4 GPUs without demand of 3: 5 are left, the first takes its 4, the second gets 1."""
    groups = [
        {"id": "base", "people": 3, "active_share": 1, **WHOLE},
        {"id": "b", "people": 6, "active_share": 1, "preemptible": True, "priority": 2, **WHOLE},
        {"id": "a", "people": 4, "active_share": 1, "preemptible": True, "priority": 1, **WHOLE},
    ]
    plan = planned(catalog, groups, availability={"host_failures": 1})
    assert plan.leftover is not None and plan.totals.gpus == 8
    got = {one.group: one.gpu_h / 168 for one in plan.leftover.groups}
    assert got == pytest.approx({"a": 4, "b": 1})
    assert [one.gpu_h_after_failure / 168 for one in plan.leftover.groups] == pytest.approx([1, 0])


def test_reserved_vms_of_jobs_that_may_be_stopped_are_not_given_twice(catalog: Catalog) -> None:
    """One host of 4 GPUs for 2 reserved VMs, no failover: 10 jobs use these and the other 2, so 2 of 8 are given."""
    group = {"id": "a", "people": 10, "active_share": 1, "preemptible": True, "reserved_vms": 2, **WHOLE}
    plan = planned(catalog, [group], availability={"host_failures": 0})
    assert plan.leftover is not None and plan.totals.gpus == 4
    (jobs,) = plan.leftover.groups
    assert (jobs.asked_gpu_h / 168, jobs.gpu_h / 168) == pytest.approx((8, 2))


@pytest.mark.parametrize("rule", ["sum", "hours"])
def test_reserved_vms_always_have_a_place(catalog: Catalog, rule: str) -> None:
    group = {"id": "a", "people": 9, "active_share": 0.2, **WHOLE, **DAY}
    for reserved, vms in ((None, 2), (1, 2), (5, 5), (9, 9)):
        plan = planned(catalog, [group | {"reserved_vms": reserved}], demand={"rule": rule})
        assert plan.group("a").vms == vms
        assert sum(request.vms for pool in plan.pools for request in pool.requests) == vms


def test_a_service_that_people_wait_for_may_not_be_stopped(catalog: Catalog) -> None:
    group = {"id": "a", "use_case": "llm-serving", "model": "llama-3.1-8b", "preemptible": True}
    with pytest.raises(ScenarioError) as refused:
        planned(catalog, [group])
    assert [problem.path for problem in refused.value.problems] == ["groups.a.preemptible"]


def shared(rng: Random) -> list[dict[str, Any]]:
    """Groups with and without jobs that may be stopped, of all access modes, for tenants or none."""
    modes = (
        {"gpus_each": 1, "access": "passthrough"},
        {"gpus_each": 0.25, "access": "vgpu"},
        {"gpus_each": 2},
    )
    groups = []
    for at in range(rng.randint(2, 5)):
        group = {
            "id": f"g{at}",
            "people": rng.randint(0, 9),
            **rng.choice(modes),
            "priority": rng.randint(1, 3),
        }
        group |= {"tenant": rng.choice(["North", "South", None]), "preemptible": rng.random() < 0.4}
        group |= rng.choice(
            ({}, DAY, {"hours": "20:00-06:00"}, {"jobs_per_day": rng.randint(1, 30), "work_h": 2})
        )
        group |= {"reserved_vms": rng.choice([None, None, 2])}
        groups.append(group)
    return groups


def test_no_gpu_hour_is_given_twice_and_nothing_else_moves(catalog: Catalog) -> None:
    """Conservation, by a second count; and the hosts are those of the design without the jobs that may be stopped."""
    short = 0
    for rng in cases(40_7, 80, few=20):
        groups, apart = shared(rng), rng.choice(["none", "host", "cluster"])
        sections = {"availability": {"tenants_apart": apart, "host_failures": rng.randint(0, 2)}}
        plan = planned(catalog, groups, **sections)
        firm = [
            g | {"preemptible": False}
            if not g["preemptible"]
            else g | {"people": 0, "jobs_per_day": None, "preemptible": False}
            for g in groups
        ]
        alone = planned(catalog, firm, **sections)
        assert (plan.totals.hosts, plan.totals.gpus) == (alone.totals.hosts, alone.totals.gpus)
        left = plan.leftover
        if left is None:
            assert not any(group["preemptible"] for group in groups)
            continue
        busy = sum(
            week.loads * week.gpus
            for week in next(iter(weeks(plan.sized, catalog, plan.groups).values())).values()
        )
        free = np.maximum(plan.totals.gpus - busy, 0).sum() / 4
        given = sum(one.gpu_h for one in left.groups)
        assert given <= sum(gpus.sum() for gpus in left.left_gpus.values()) / 4 + 1e-6
        assert (
            apart != "none"
            or len(plan.pools) != 1
            or not left.left_gpus  # whole GPUs are asked of a cluster that shares its GPUs
            or sum(g.sum() for g in left.left_gpus.values()) / 4 == pytest.approx(free)
        )
        for one in left.groups:
            assert 0 <= one.gpu_h_after_failure <= one.gpu_h + 1e-9 <= one.asked_gpu_h + 2e-9
            short += one.gpu_h < one.asked_gpu_h - 1e-6
    assert often(short, 5)
