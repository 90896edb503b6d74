"""Pods of Kubernetes as jobs: whole GPUs, MIG instances and time-sliced GPUs, by the labels of their nodes."""

from __future__ import annotations

import json
from typing import Any

import pytest
from traces import jobs_of

from gpuplan.audit import audit
from gpuplan.wording import said


def pod(
    name: str, resources: dict[str, str], *, node: str = "n", phase: str = "Running", **times: str
) -> dict[str, Any]:
    ended = [{"state": {"terminated": {"finishedAt": times["end"]}}}] if "end" in times else []
    start = {"startTime": times.get("start", "2025-03-03T08:00:00Z")} if phase != "Pending" else {}
    return {
        "kind": "Pod",
        "metadata": {"name": name, "namespace": name[:2], "creationTimestamp": "2025-03-03T08:00:00Z"},
        "spec": {"nodeName": node, "containers": [{"name": "c", "resources": {"limits": resources}}]},
        "status": {"phase": phase, "containerStatuses": ended, **start},
    }


def node(name: str = "n", *, seen: str = "2025-03-03T10:00:00Z", **labels: str) -> dict[str, Any]:
    named = {f"nvidia.com/{key.replace('__', '-').replace('_', '.')}": value for key, value in labels.items()}
    heartbeat = {"conditions": [{"type": "Ready", "lastHeartbeatTime": seen}]}
    return {"kind": "Node", "metadata": {"name": name, "labels": named}, "status": heartbeat}


def listed(*objects: dict[str, Any]) -> str:
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": [*objects]}, indent=2)


def test_pods_run_until_they_end_or_until_the_latest_time() -> None:
    jobs = jobs_of(
        listed(
            pod("ml-a", {"nvidia.com/gpu": "2", "cpu": "8"}),
            pod("ml-b", {"nvidia.com/gpu": "4"}, phase="Succeeded", end="2025-03-03T08:30:00Z"),
            pod("ds-c", {"nvidia.com/gpu": "1"}, phase="Pending"),
            pod("ds-d", {"cpu": "1"}),
            node(),
        )
    )
    assert jobs.amount.tolist() == [4, 2]
    assert jobs.groups == ("ml",)
    assert {s.reason: s.rows for s in jobs.reading.skipped} == {
        said("audit.row.never started"): 1,
        said("audit.row.no gpus"): 1,
    }


def test_pods_that_begin_with_the_latest_time_hold_their_gpus_now() -> None:
    found = audit(
        jobs_of(listed(pod("ml-a", {"nvidia.com/gpu": "2"}), pod("ds-b", {"nvidia.com/mig-1g.5gb": "1"})))
    )
    assert found.allocation is not None and found.allocation.held is not None
    assert found.allocation.held.mean_gpus == pytest.approx(2 + 1 / 7)


@pytest.mark.parametrize(
    ("resources", "labels", "gpus"),
    [
        ({"nvidia.com/mig-1g.5gb": "1"}, {}, 1 / 7),
        ({"nvidia.com/mig-3g.40gb": "2"}, {}, 6 / 7),
        ({"nvidia.com/mig-2g.12gb": "1"}, {"gpu_product": "NVIDIA-A30"}, 1 / 2),
        ({"nvidia.com/gpu": "1"}, {"gpu_product": "NVIDIA-A100-SXM4-40GB-MIG-1g.5gb"}, 1 / 7),
        ({"nvidia.com/gpu.shared": "1"}, {"gpu_replicas": "4"}, 1 / 4),
        ({"nvidia.com/gpu": "2"}, {"gpu_replicas": "4", "gpu_product": "Tesla-T4-SHARED"}, 2 / 4),
        ({"nvidia.com/mig-1g.5gb.shared": "1"}, {"mig__1g_5gb_replicas": "2"}, 1 / 14),
        ({"nvidia.com/gpu": "8", "nvidia.com/mig-1g.5gb": "1"}, {}, 8 + 1 / 7),
        ({"amd.com/gpu": "2"}, {}, 2),
    ],
)
def test_parts_of_gpus(resources: dict[str, str], labels: dict[str, str], gpus: float) -> None:
    jobs = jobs_of(listed(pod("ml-a", resources), node(**labels)))
    assert jobs.gpus.sum() == pytest.approx(gpus)


def test_the_containers_of_a_pod_are_one_job_and_claims_are_said() -> None:
    two = pod("ml-a", {"nvidia.com/gpu": "1"})
    two["spec"]["containers"] *= 2
    claims = pod("ml-b", {"cpu": "1"})
    claims["spec"]["resourceClaims"] = [{"name": "gpu"}]
    jobs = jobs_of(listed(two, claims))
    assert jobs.gpus.tolist() == [2]
    assert [s.rows for s in jobs.reading.skipped] == [1]


def test_containers_that_run_before_or_beside_the_others_hold_gpus() -> None:
    before, beside = (pod(f"ml-{name}", {"nvidia.com/gpu": "2"}) for name in "ab")
    first = {"name": "i", "resources": {"limits": {"nvidia.com/gpu": "3"}}}
    before["spec"]["initContainers"] = [first, first | {"resources": {"limits": {"cpu": "1"}}}]
    beside["spec"]["initContainers"] = [first | {"restartPolicy": "Always"}]
    assert jobs_of(listed(before, beside)).gpus.tolist() == [3, 5]


def test_time_sliced_gpus_of_a_node_that_is_not_there_are_said() -> None:
    jobs = jobs_of(listed(pod("ml-a", {"nvidia.com/gpu.shared": "1"}), pod("ml-b", {"nvidia.com/gpu": "1"})))
    assert jobs.gpus.tolist() == [1]
    assert [s.rows for s in jobs.reading.skipped] == [1]
