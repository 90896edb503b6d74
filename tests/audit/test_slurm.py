"""The output of sacct."""

from __future__ import annotations

import pytest
from approved import has_approved
from traces import MAY, jobs_of, refused, same

from gpuplan.audit.slurm import slurm_gpus


def test_counts_of_slurm_that_are_none() -> None:
    head = "JobID|Submit|Start|ElapsedRaw|AllocTRES|ReqGRES|NNodes\n"
    row = "1|2024-05-01T00:00:00|2024-05-01T00:00:00|60|"
    assert "more than 200000 GPUs" in refused(f"{head}{row}gres/gpu={'9' * 5000}||1\n")
    assert jobs_of(f"{head}{row}|gpu:2|\u00b2\n").gpus.tolist() == [2]
    assert slurm_gpus("gpu:" + "a" * 100_000 + "=x") == 0


@pytest.mark.parametrize(
    ("text", "gpus"),
    [
        ("billing=8,cpu=8,gres/gpu=4,mem=64G,node=1", 4),
        ("cpu=8,gres/gpu:a100=4", 4),
        ("cpu=8,gres/gpu:a100=4,gres/gpu:v100=2", 6),
        ("cpu=8,gres/gpu:a100=4,gres/gpu=4", 4),
        ("gres/gpu=3,gres/gpu:a100=3,gres/gpumem=10G,gres/gpuutil=50", 3),
        ("gres/gpu:1g.10gb=2", 2),
        ("cpu=4,mem=8G", 0),
        ("gres/gpumem=10,gres/shard=2", 0),
        ("", 0),
        ("gpu:4", 4),
        ("gpu", 1),
        ("gpu:a100", 1),
        ("gpu:a100:2", 2),
        ("craynetwork:1,gpu:tesla:2(IDX:0-1),gpu:kepler:1", 3),
        ("gres:gpu:2", 2),
    ],
)
def test_gpus_of_slurm(text: str, gpus: int) -> None:
    assert slurm_gpus(text) == gpus


SACCT = """\
JobID|User|Account|Partition|Submit|Start|End|Elapsed|State|NNodes|ReqTRES|AllocTRES
101|ana|physics|gpu|2024-05-01T08:00:00|2024-05-01T08:10:00|2024-05-01T10:10:00|02:00:00|COMPLETED|1|cpu=8,gres/gpu=2|cpu=8,gres/gpu:a100=2,gres/gpu=2
101.batch||physics||2024-05-01T08:10:00|2024-05-01T08:10:00|2024-05-01T10:10:00|02:00:00|COMPLETED|1||cpu=8,gres/gpu=2
101.0||physics||2024-05-01T08:10:00|2024-05-01T08:10:00|2024-05-01T10:10:00|02:00:00|COMPLETED|1||gres/gpu=2
102|bo|chem|cpu|2024-05-01T08:00:00|2024-05-01T08:00:00|2024-05-01T09:00:00|01:00:00|COMPLETED|1|cpu=8|cpu=8
103_7|bo|chem|gpu|2024-05-01T08:00:00|2024-05-01T09:00:00|Unknown|1-00:00:00|RUNNING|2|gres/gpu=8|gres/gpu=8
104|bo|chem|gpu|2024-05-01T08:00:00|Unknown|Unknown|00:00:00|PENDING|1|gres/gpu=1|
105|bo|chem|gpu|2024-05-01T08:00:00|None|2024-05-01T08:30:00|00:00:00|CANCELLED by 7|1|gres/gpu=1|
"""


def test_sacct() -> None:
    jobs = jobs_of(SACCT)
    assert jobs.reading.format == "sacct"
    eight = MAY + 8 * 3600
    assert jobs.submit_s.tolist() == [eight, eight]
    assert jobs.start_s.tolist() == [eight + 600, eight + 3600]
    assert jobs.duration_s.tolist() == [7200, 86400]
    assert jobs.gpus.tolist() == [2, 8]
    assert jobs.groups == ("physics", "chem")
    assert jobs.users == 2
    reasons = {s.reason: (s.rows, s.first_line) for s in jobs.reading.skipped}
    assert reasons == {"a step of a job": (2, 3), "never started": (2, 7), "no GPUs": (1, 5)}
    assert any(note.startswith("1 jobs still run") for note in jobs.reading.notes)


def test_sacct_with_a_bar_at_the_end_of_lines_is_parsable() -> None:
    same(jobs_of(SACCT.replace("\n", "|\n")), jobs_of(SACCT))


def test_slurm_writes_local_time() -> None:
    jobs = jobs_of(SACCT, time_zone="America/New_York")
    assert jobs.submit_s[0] == MAY + 12 * 3600


def test_old_slurm() -> None:
    text = (
        "JobIDRaw|Submit|Start|ElapsedRaw|NNodes|ReqGRES|AllocGRES|Account\n"
        "1|2018-05-01T08:00:00|2018-05-01T08:00:00|60|2|gpu:4|gpu:8|x\n"
        "2|2018-05-01T08:00:00|2018-05-01T08:00:00|60|2|gpu:4||x\n"
    )
    jobs = jobs_of(text)
    assert jobs.gpus.tolist() == [8, 8], "allocated for the job, requested for each node"
    assert any("for each node" in note for note in jobs.reading.notes)


def test_mig_instances_of_slurm_are_noted() -> None:
    text = "JobID|Submit|Start|Elapsed|AllocTRES\n1|2024-05-01T08:00:00|2024-05-01T08:00:00|01:00|gres/gpu:1g.10gb=1\n"
    assert any("MIG" in note for note in jobs_of(text).reading.notes)


def test_a_running_job_without_elapsed_is_cut_at_the_latest_time() -> None:
    rows = [row.split("|") for row in SACCT.splitlines()]
    text = "\n".join("|".join(row[:7] + row[8:]) for row in rows)
    jobs = jobs_of(text)
    assert jobs.duration_s.tolist() == [7200, 4200], "from 09:00 to the end of the other at 10:10"
    assert has_approved(jobs.reading.notes)


def test_very_many_steps_in_a_row_do_no_harm() -> None:
    head, first, step, *rest = SACCT.splitlines()
    assert jobs_of("\n".join([head, first, *[step] * 2000, *rest]) + "\n").gpus.tolist() == [2, 8]


HEAD = "JobID|Submit|Start|End|ElapsedRaw|AllocTRES|ReqTRES\n"
ROW = "{}|2024-05-01T08:00:00|2024-05-01T08:00:00|2024-05-01T12:00:00|14400|{}|{}\n"


def test_shards_of_a_gpu_are_said_and_not_called_none() -> None:
    lists = ["cpu=2,gres/shard=4,mem=8G", "gres/mps=50", "gres/mps:a100=50,cpu=1", "shard:4", "gres:mps:200"]
    rows = "".join(ROW.format(n, text, "") for n, text in enumerate(lists))
    rows += (
        ROW.format(8, "", "cpu=1,gres/shard=2")
        + ROW.format(9, "cpu=4", "")
        + ROW.format(10, "gres/gpu=1,gres/shard=1", "")
    )
    jobs = jobs_of(HEAD + rows)
    assert jobs.amount.tolist() == [4]
    assert [(left.rows, left.gpu_h, left.unknown) for left in jobs.reading.skipped] == [(6, 0, 6), (1, 0, 0)]
    assert has_approved(jobs.reading.skipped[0].reason)


def test_a_list_that_is_cut_is_said_with_the_command_that_gives_it_whole() -> None:
    good = "".join(ROW.format(n, "billing=1,gres/gpu=2", "") for n in range(3))
    cut = ["billing=8+", "billing=8,cpu=1,gres/gp+", "gres/gpu:a100=+", "gres/gpu=1+", "+"]
    for text in cut:
        jobs = jobs_of(HEAD + good + ROW.format(4, text, "billing=8+"))
        assert jobs.gpus.tolist() == [2] * 3, text
        assert [(left.rows, left.unknown) for left in jobs.reading.skipped] == [(1, 1)]
        assert jobs_of(HEAD + good + ROW.format(4, text, "cpu=8,gres/gpu=4")).gpus.tolist() == [2, 2, 2, 4]
    assert jobs_of(HEAD + good + ROW.format(4, "gres/gpu=4,mem=8+", "")).gpus.tolist() == [2, 2, 2, 4]
    assert has_approved(refused(HEAD + ROW.format(1, "billing=8+", "billing=8+")), "-P")
