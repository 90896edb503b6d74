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
