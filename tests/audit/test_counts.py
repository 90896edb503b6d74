"""GPUs as counts or parts, for a whole job or for each node, worker or replica."""

from __future__ import annotations

import pytest
from traces import jobs_of, refused

HEAD = "submit,duration,{},{}\n"
ROWS = "2024-05-01,3600,{},{}\n2024-05-01,3600,{},{}\n"


def gpus_by(
    column: str, cells: tuple[str, str], count: str = "x", counts: tuple[int, int] = (1, 1), **by: str
) -> object:
    rows = ROWS.format(cells[0], counts[0], cells[1], counts[1])
    jobs = jobs_of(HEAD.format(column, count) + rows, columns=by)
    notes = sum(f'"{column}"' in note for note in jobs.reading.notes)
    return jobs.gpus.tolist(), notes, jobs.reading.columns.get("times") or jobs.reading.columns.get("nodes")


@pytest.mark.parametrize(
    ("column", "cells"),
    [
        ("num_gpus", ("2", "0.5")),
        ("GPU Count", ("2", "0.5")),
        ("Requested GPUs", ("2", "0.5")),
        ("nvidia.com/gpu", ("2", "500m")),
        ("plan_gpu", ("200", "50")),
        ("gpus (%)", ("200", "50")),
        ("gpu_percent", ("200", "50")),
        ("numGpuPct", ("200", "50")),
        ("gpus", ("200%", "50 %")),
        ("gpu_milli", ("2000", "500")),
        ("gpus [milli]", ("2000", "500")),
        ("gpu_fraction", ("2", "0.5")),
        ("gpu", ("2", "0.5")),
    ],
)
def test_gpus_are_the_same_in_every_unit(column: str, cells: tuple[str, str]) -> None:
    found, _, _ = gpus_by(column, cells)
    assert found == [2, 0.5]


@pytest.mark.parametrize("column", ["gpus_per_{}", "num_gpus_per_{}", "gpu_per_{}"])
@pytest.mark.parametrize(
    ("one", "counts"),
    [
        ("node", ("node_num", "nodes", "num_nodes", "NNodes", "Node Count")),
        ("worker", ("worker_num", "num_workers", "workers")),
        ("replica", ("replicas", "numReplicas")),
        ("instance", ("inst_num", "instances")),
        ("pod", ("pods", "pod_count")),
        ("task", ("ntasks", "num_tasks")),
    ],
)
def test_gpus_of_each_are_multiplied(column: str, one: str, counts: tuple[str, ...]) -> None:
    for count in counts:
        found = gpus_by(column.format(one), ("4", "0.5"), count, (3, 2))
        assert found[0] == [12, 1], count


def test_the_count_of_what_a_column_says_multiplies_it() -> None:
    head, row = "submit,duration,gpus_per_node,nodes,workers,ntasks\n", "2024-05-01,60,4,2,16,32\n"
    assert jobs_of(head + row).gpus.tolist() == [8]
    assert jobs_of((head + row).replace("per_node", "per_worker")).gpus.tolist() == [64]
    assert jobs_of((head + row).replace("per_node", "per_task")).gpus.tolist() == [128]


def test_gpus_of_the_whole_job_are_not_multiplied_by_its_nodes() -> None:
    for column in ("gpu_num", "num_gpus", "gpus", "total_gpus"):
        assert gpus_by(column, ("16", "8"), "node_num", (2, 1)) == ([16, 8], 1, None)
        assert gpus_by(column, ("16", "8"), "node_num", (1, 1)) == ([16, 8], 0, None), "nothing to say"
    assert gpus_by("total_gpus", ("16", "8"), "replicas", (2, 1)) == ([16, 8], 1, None)
    assert gpus_by("gpu_num", ("16", "8"), "worker_num", (2, 1)) == ([16, 8], 1, None)


def test_gpus_are_those_of_each_worker_where_a_request_is_multiplied() -> None:
    assert gpus_by("gpu_request", ("1", "0.5"), "worker_num", (94, 3)) == ([94, 1.5], 1, "worker_num")
    assert gpus_by("plan_gpu", ("50", "100"), "inst_num", (4, 1)) == ([2, 1], 1, "inst_num")


def test_the_multiplier_is_corrected_by_hand() -> None:
    assert gpus_by("gpu_num", ("16", "8"), "node_num", (2, 1), times="node_num")[0] == [32, 8]
    assert gpus_by("gpu_request", ("1", "2"), "worker_num", (94, 3), times="")[0] == [1, 2]
    assert gpus_by("cards", ("50", "100"), "n", (4, 1), gpus="cards:percent", times="n")[0] == [2, 1]
    assert gpus_by("plan_gpu", ("1", "2"), "n", gpus="plan_gpu:count")[0] == [1, 2]


def test_gpu_time_alone_gives_the_duration() -> None:
    for column, value in (
        ("gpu_hours", 8),
        ("gpu_time", 28800),
        ("GPU-minutes", 480),
        ("gpu_time (h)", 8),
        ("gpu_h", 8),
    ):
        jobs = jobs_of(f"start,gpus,{column}\n2024-05-01,4,{value}\n")
        assert jobs.duration_s.tolist() == [7200], column
        assert jobs.amount.tolist() == [8]


def test_gpus_for_each_of_what_is_not_counted_are_said() -> None:
    assert gpus_by("gpus_per_node", ("4", "8"))[:2] == ([4, 8], 1)


def test_counts_that_are_none_are_left_out() -> None:
    text = "submit,duration,gpus_per_node,nodes\n" + "2024-05-01,3600,4,2\n" * 4
    jobs = jobs_of(
        text + "2024-05-01,3600,4,2.5\n2024-05-01,3600,4,\n2024-05-01,3600,4,0\n2024-05-01,3600,200000,2\n"
    )
    assert jobs.gpus.tolist() == [8] * 4
    assert sum(left.rows for left in jobs.reading.skipped) == 4
    assert "columns.times" in refused(text, columns={"times": "workers"})
