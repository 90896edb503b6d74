"""Files are recognised, and what cannot be used is said."""

from __future__ import annotations

import gzip
import io
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest
from approved import has_approved
from traces import JOBS, MAY, jobs_of, refused, same

from gpuplan.audit import TraceError, read_trace


def test_a_path_is_read_and_a_file_given_stays_open(tmp_path: Path) -> None:
    path = tmp_path / "jobs.csv.gz"
    path.write_bytes(gzip.compress(JOBS.encode()))
    same(read_trace(path), jobs_of(JOBS))  # type: ignore[arg-type]
    same(read_trace(str(path)), jobs_of(JOBS))  # type: ignore[arg-type]
    given = io.BytesIO(JOBS.encode())
    read_trace(given)
    assert not given.closed


def test_an_unknown_time_zone() -> None:
    assert "IANA" in refused(JOBS, time_zone="Mars/Base")
    assert "IANA" in refused(JOBS, time_zone="../etc/passwd")


def test_a_missing_column_names_what_is_there_and_what_is_needed() -> None:
    message = refused("submit,num_gpus\n2024-05-01,1\n")
    assert '"submit", "num_gpus"' in message
    assert has_approved(message)
    assert has_approved(refused("a,b\n1,2\n", format="jobs"))
    assert "AllocTRES" in refused("JobID|Submit|Elapsed\n1|2024-05-01|1\n", format="sacct")
    assert "a per cent" in refused("a,b\n1,2\n", format="samples")
    assert "utilization.gpu" in refused("timestamp, index\n1,2\n", format="nvidia-smi")
    assert "needs a time" in refused("value,gpu\n1,2\n", format="prometheus")


def test_columns_that_are_not_there() -> None:
    message = refused(JOBS, columns={"gpus": "cards", "colour": "vc"})
    assert has_approved(message, "columns.gpus", '"cards"')
    assert "columns.colour" in message
    assert '"num_gpus"' in message


def test_an_unknown_format() -> None:
    assert has_approved(refused(JOBS, format="excel"))
    assert has_approved(refused("{}", format="jobs"), "'jobs'")


def test_many_rows_agree_with_what_was_written() -> None:
    rng = np.random.default_rng(1)
    count = 20_000
    submit = np.sort(rng.integers(0, 30 * 86400, count)) + int(MAY)
    duration = rng.integers(1, 100_000, count)
    gpus = rng.choice([1, 2, 4, 8], count)
    group = rng.integers(0, 7, count)
    rows = "".join(
        f"{datetime.fromtimestamp(int(t), UTC):%Y-%m-%dT%H:%M:%S},{d},{g},g{k}\n"
        for t, d, g, k in zip(submit, duration, gpus, group, strict=True)
    )
    jobs = jobs_of("submit,duration,gpus,group\n" + rows)
    assert np.array_equal(jobs.submit_s, submit)
    assert np.array_equal(jobs.duration_s, duration)
    assert np.array_equal(jobs.gpus, gpus)
    assert [jobs.groups[n] for n in jobs.group] == [f"g{k}" for k in group]


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(TraceError, match=r"^cannot read .*none\.csv: No such file or directory$"):
        read_trace(tmp_path / "none.csv")
    with pytest.raises(TraceError, match=r"^cannot read .*: Is a directory$"):
        read_trace(str(tmp_path))


REAL = {
    "hours in the names of starts and ends": (
        "job_id,user,start_h,end_h,num_gpus\n1,a,0,1,2\n2,b,0.5,1.5,4\n3,a,2,4,1\n",
        {},
        8,
        ("all",),
    ),
    "AcmeTrace, whose queue is the wait in seconds": (
        "job_id,user,node_num,gpu_num,cpu_num,type,state,submit_time,start_time,end_time,duration,queue,gpu_time\n"
        "1,u1,2,16,240,Pretrain,COMPLETED,2023-03-01 00:00:00+08:00,2023-03-01 00:10:00+08:00,"
        "2023-03-01 02:10:00+08:00,7200,600,115200\n"
        "2,u1,1,8,96,SFT,COMPLETED,2023-03-01 01:00:00+08:00,2023-03-01 01:00:07+08:00,"
        "2023-03-01 02:00:07+08:00,3600,7,28800\n"
        "3,u2,1,8,96,SFT,COMPLETED,2023-03-01 02:00:00+08:00,2023-03-01 02:00:09+08:00,"
        "2023-03-01 03:00:09+08:00,3600,9,28800\n",
        {},
        48,
        ("all",),
    ),
    "a pod that still runs": (
        "name,namespace,num_gpus,creation_time,scheduled_time,deletion_time\n"
        "train-a,ml,8,2025-03-01 00:00:00,2025-03-01 00:01:00,2025-03-03 00:01:00\n"
        "serve-b,web,4,2025-03-01 00:00:00,2025-03-01 00:01:00,\n"
        "train-c,ml,2,2025-03-05 00:00:00,2025-03-05 00:01:00,2025-03-06 00:01:00\n",
        {},
        912,
        ("ml", "web"),
    ),
    "Alibaba's spot trace of 2026, GPUs of each worker": (
        "job_name,organization,gpu_model,cpu_request,gpu_request,worker_num,submit_time,duration,job_type\n"
        "239255,13,A10,20,1,1,0,2764799,HP\n437260,57,A100-SXM4-80GB,15,1,16,9589663,41060,Spot\n"
        "437261,57,A100-SXM4-80GB,15,1,94,9589663,71718,Spot\n",
        {"gpus": "gpu_request", "group": "organization"},
        (2764799 + 16 * 41060 + 94 * 71718) / 3600,
        ("13", "57"),
    ),
    "Alibaba PAI, per cent of a GPU of each instance": (
        "job_name,task_name,inst_num,status,start_time,end_time,plan_cpu,plan_mem,plan_gpu,gpu_type\n"
        "j1,worker,4,Terminated,494000,497600,600,29,50,V100\nj2,worker,1,Terminated,495000,502200,600,29,100,T4\n",
        {},
        4,
        ("all",),
    ),
    "Helios": (
        "job_id,user,vc,gpu_num,cpu_num,node_num,state,submit_time,start_time,end_time,duration,queue\n"
        "1,u1,vc1,8,32,2,COMPLETED,2020-05-01 00:00:00,2020-05-01 00:10:00,2020-05-01 01:10:00,3600,600\n",
        {},
        8,
        ("vc1",),
    ),
}


@pytest.mark.parametrize("name", REAL)
def test_files_as_public_traces_and_customers_have_them(name: str) -> None:
    text, columns, gpu_h, groups = REAL[name]
    jobs = jobs_of(text, columns=columns)
    assert jobs.amount.sum() == pytest.approx(gpu_h)
    assert jobs.groups == groups
    assert not jobs.reading.skipped
