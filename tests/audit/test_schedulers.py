"""Records of PBS, LSF, Grid Engine and Slurm: jobs counted by hand, and what sums without times can tell."""

from __future__ import annotations

import json
from typing import Any

import pytest
from traces import jobs_of, refused

from gpuplan.audit import audit
from gpuplan.wording import said

SGE = """\
==============================================================
qname        gpu.q
hostname     n1
owner        u1
project      bio
jobnumber    1001
taskid       undefined
pe_taskid    NONE
qsub_time    Mon Mar  3 08:00:00 2025
start_time   Mon Mar  3 08:10:00 2025
end_time     Mon Mar  3 12:10:00 2025
slots        1
ru_wallclock 14400
category     -U users -l gpu=2,h_rt=86400,gpu_mem=80 -q gpu.q
==============================================================
qname        gpu.q
owner        u1
project      bio
jobnumber    1001
taskid       undefined
pe_taskid    1.n2
qsub_time    -/-
start_time   Mon Mar  3 08:11:00 2025
end_time     Mon Mar  3 12:10:00 2025
slots        1
category     -l gpu=2
==============================================================
qname        cpu.q
owner        u2
project      ml
jobnumber    1002
taskid       3
pe_taskid    NONE
qsub_time    Mon Mar  3 08:00:00 2025
start_time   Mon Mar  3 09:00:00 2025
end_time     Mon Mar  3 10:00:00 2025
slots        8
category     -l h_rt=3600
Total System Usage
    WALLCLOCK         UTIME
"""


def test_qacct() -> None:
    """2 GPUs for 4 h: slave tasks are parts of their job, and other resources are no GPUs."""
    jobs = jobs_of(SGE)
    assert (jobs.reading.format, jobs.amount.tolist(), jobs.groups) == ("sge", [8], ("bio",))
    assert (jobs.start_s - jobs.submit_s).tolist() == [600]
    assert [(left.reason, left.rows) for left in jobs.reading.skipped] == [(said("audit.row.no gpus"), 1)]
    days_first = SGE.replace("Mon Mar  3", "03/03").replace(" 2025", "")
    days_first = days_first.replace("03/03 ", "13/03/2025 ").replace("12:10:00", "12:10:00.500")
    assert jobs_of(days_first).amount.sum() == pytest.approx(8, rel=1e-3)
    assert jobs_of(SGE + SGE).amount.tolist() == [8]
    assert said("audit.advice.sge") in refused(SGE.replace("category", "cwd"))
    assert said("audit.advice.sge") in refused(
        "job-ID     prior   name       user         state submit/start at\n"
    )


BACCT = """
Accounting information about jobs that are:
  - submitted by all users.
------------------------------------------------------------------------------

Job <1234>, Job Name <a>, User <u1>, Project <p>, Status <DONE>, Queue <gpu>, Co
                     mmand <python train.py>, Share group charged </u1>
Mon Mar  3 08:00:00 2025: Submitted from host <login>, CWD <$HOME>, Requested GP
                     U <num=2:mode=shared:mps=no:j_exclusive=yes>;
Mon Mar  3 08:10:00 2025: Dispatched 4 Task(s) on Host(s) <2*n1> <2*n2>, Allocat
                     ed 4 Slot(s) on Host(s) <2*n1> <2*n2>;
Mon Mar  3 12:10:00 2025: Completed <done>.

Job <1235>, User <u2>, Project <q>, Status <EXIT>, Queue <gpu>, Command <x>
Mon Mar  3 08:00:00 2025: Submitted from host <login>, Requested GPU <num=1/task:mode=shared>;
Mon Mar  3 09:00:00 2025: Starting (Pid 7), 3 Task(s) on Host(s) <n1> <n1> <n2>;
Mon Mar  3 10:00:00 2025: Exited with exit code 1.

Job <1236>, User <u2>, Project <q>, Status <DONE>, Queue <cpu>, Command <x>
Mon Mar  3 08:00:00 2025: Submitted from host <login>;
Mon Mar  3 08:00:00 2025: Dispatched 1 Task(s) on Host(s) <n1>;
Mon Mar  3 12:10:00 2025: Completed <done>.
"""


def test_long_reports_of_lsf() -> None:
    """2 GPUs on each of two hosts for 4 h, and one for each of three tasks for 1 h; without a year nothing."""
    jobs = jobs_of(BACCT)
    assert (jobs.reading.format, jobs.amount.tolist(), jobs.groups) == ("lsf", [16, 3], ("p", "q"))
    assert [left.reason for left in jobs.reading.skipped] == [said("audit.row.no gpus")]
    assert said("audit.advice.lsf") in refused(BACCT.replace(" 2025:", ":"))
    assert said("audit.advice.lsf") in refused(BACCT[:120])


BJOBS = [
    {"JOBID": "1", "USER": "u", "STAT": "RUN", "QUEUE": "q", "SUBMIT_TIME": "Mar  3 08:00:00 2025",
     "START_TIME": "Mar  3 09:00:00 2025", "FINISH_TIME": "Mar  9 09:00:00 2025 L", "GPU_NUM": "2"},
    {"JOBID": "2", "USER": "u", "STAT": "DONE", "QUEUE": "q", "SUBMIT_TIME": "Mar  3 08:00:00 2025",
     "START_TIME": "Mar  3 09:00:00 2025", "FINISH_TIME": "Mar  3 13:00:00 2025", "GPU_NUM": "4"},
    {"JOBID": "3", "USER": "u", "STAT": "PEND", "QUEUE": "q", "SUBMIT_TIME": "Mar  3 08:00:00 2025",
     "START_TIME": "-", "FINISH_TIME": "-", "GPU_NUM": "4"},
]  # fmt: skip


def test_bjobs() -> None:
    """A running job ends with the file and not with its limit."""
    table = "\n".join(";".join(row) for row in ([*BJOBS[0]], *(job.values() for job in BJOBS)))
    for text in (json.dumps({"COMMAND": "bjobs", "JOBS": 3, "RECORDS": BJOBS}), table):
        assert jobs_of(text).amount.tolist() == [8, 16]
    assert said("audit.advice.lsf") in refused(table.replace(" 2025", ""))


def set_to(number: int) -> dict[str, Any]:
    return {"set": True, "infinite": False, "number": number}


@pytest.mark.parametrize("number", [int, set_to])
def test_slurm_as_json(number: Any) -> None:
    gpus = [
        {"type": "cpu", "name": "", "id": 1, "count": 8},
        {"type": "gres", "name": "gpu", "id": 1001, "count": 4},
    ]
    gpus += [{"type": "gres", "name": "gpu:a100", "id": 1002, "count": 4}]
    job = {"job_id": 7, "account": "bio", "user": "u", "partition": "gpu", "steps": [{"tres": {}}]}
    times = {
        "elapsed": 7200,
        "submission": number(1741000000),
        "start": number(1741000100),
        "end": number(1741007300),
    }
    ended = job | {
        "state": {"current": ["COMPLETED"]},
        "time": times,
        "tres": {"allocated": gpus, "requested": gpus},
    }
    waits = ended | {
        "job_id": 8,
        "state": {"current": "PENDING"},
        "time": times | {"start": 0, "end": 0, "elapsed": 0},
    }
    runs = ended | {
        "job_id": 9,
        "state": {"current": ["RUNNING"]},
        "time": times | {"elapsed": 3600, "end": 0},
    }
    document = {
        "meta": {},
        "errors": [],
        "warnings": [{"description": "x"}],
        "jobs": [ended, waits, runs, ended],
    }
    jobs = jobs_of(json.dumps(document))
    assert (jobs.reading.format, jobs.amount.tolist(), jobs.groups) == ("slurm-json", [8, 4], ("bio",))
    assert (jobs.start_s - jobs.submit_s).tolist() == [100, 100]
    queue = {"job_id": 9, "job_state": ["RUNNING"], "account": "ml", "tres_alloc_str": "cpu=8,gres/gpu=2"}
    queue |= {
        "submit_time": number(1741000000),
        "start_time": number(1741002800),
        "end_time": number(1749999999),
    }
    squeue = jobs_of(json.dumps({"jobs": [queue], "last_update": number(1741010000)}))
    assert squeue.amount.tolist() == [4]


SREPORT = """\
--------------------------------------------------------------------------------
Cluster/Account/User Utilization 2025-03-01T00:00:00 - 2025-03-31T23:59:59 (2678400 secs)
Usage reported in TRES Hours
--------------------------------------------------------------------------------
  Cluster         Account     Login     Proper Name      TRES Name     Used
--------- --------------- --------- --------------- -------------- --------
  cluster            root                                 gres/gpu    10000
  cluster             bio                                 gres/gpu     7000
  cluster             bio        u1          U One       gres/gpu     7000
  cluster             bio        u1          U One            cpu   900000
  cluster              ml        u2            U 2       gres/gpu     3000
"""


def test_sums_of_sreport_tell_means_and_ask_for_the_jobs() -> None:
    text = refused(SREPORT)
    assert said("audit.advice.sreport") in text
    assert "10,000.0" in text and "13.44" in text and "bio 9.41, ml 4.03" in text
    minutes = refused(SREPORT.replace("Hours", "Minutes"))
    assert "166.7" in minutes and "bio 0.16" in minutes
    lines = [
        *SREPORT.splitlines()[:4],
        "Cluster|Account|Login|Proper Name|TRES Name|Used",
        "c|bio||x|gres/gpu|9",
        "c|bio|u|x|gres/gpu|744",
    ]
    assert "744.0" in refused("\n".join(lines)) and "bio 1.00" in refused("\n".join(lines))
    assert refused(SREPORT.replace("(2678400 secs)", "")) == refused("-" * 80 + "\n")


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
