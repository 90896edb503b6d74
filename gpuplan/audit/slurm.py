"""The output of Slurm's ``sacct``: jobs with the GPUs allocated to them.

Its meaning follows [slurm-sacct]_, GPUs for each node [slurm-sbatch]_ and the total of a job [slurm-gres-header]_.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from functools import lru_cache

import numpy as np

from gpuplan.audit.jobs import ONLY_STARTS, JobRows, times_of, until_end
from gpuplan.audit.table import COLUMNS, Log, Rows, Table
from gpuplan.audit.trace import Jobs
from gpuplan.audit.values import Clock, duration_s, is_missing
from gpuplan.scenario import MAX_GPUS

SACCT_COLUMNS = COLUMNS["sacct"]
TRES = re.compile(r"(?:^|,)gres/gpu(:[^=,]*)?=(\d{1,9})")
GRES = re.compile(r"(?:^|,)(?:gres[:/])?gpu(?::(?=\d*[^\d:,(=])([^:,(=]+))?(?:[:=](\d{1,9}))?(?=[,(]|$)")
MIG_TYPE = re.compile(r"\d+g\.\d+gb")


@lru_cache(maxsize=100_000)
def slurm_gpus(text: str) -> int:
    """Return the GPUs in a list of Slurm's trackable or generic resources: the untyped total, or else the sum of types.

    >>> slurm_gpus("billing=8,gres/gpu:a100=4,gres/gpu=4"), slurm_gpus("gpu:a100:2,gpu:v100:1"), slurm_gpus("cpu=4")
    (4, 3, 0)
    """
    pairs = [(kind, int(count)) for kind, count in TRES.findall(text)]
    if not pairs:
        pairs = [(kind, int(count or 1)) for kind, count in GRES.findall(text)]
    totals = [count for kind, count in pairs if not kind]
    return totals[0] if totals else sum(count for _, count in pairs)


def _stated(rows: Rows, key: str, which: np.ndarray) -> tuple[np.ndarray, bool]:
    """Return the GPUs that a column states for some of the rows, and whether there are MIG instances among them."""
    if key not in rows.columns:
        return np.zeros(len(which)), False
    texts = [text if so else "" for text, so in zip(rows.columns[key], which.tolist(), strict=True)]
    return np.fromiter(map(slurm_gpus, texts), float), any(map(MIG_TYPE.search, set(texts)))


def _nodes(text: str) -> int:
    return max(1, int(text)) if re.fullmatch(r"\d{1,9}", text) else 1


def _check_columns(table: Table, at: Mapping[str, int]) -> None:
    if "job" not in at or not at.keys() & {"gpus", "requested"} or not at.keys() & {"submit", "start"}:
        raise table.missing(
            "sacct", "JobID, Submit or Start, AllocTRES or ReqTRES (in old versions AllocGRES or ReqGRES)"
        )
    if not at.keys() & {"duration", "end"}:
        raise table.missing("sacct", "ElapsedRaw, Elapsed or End")


def read_sacct(table: Table, given: Mapping[str, str], clock: Clock) -> Jobs:
    """Read the jobs of a file of sacct; their steps are left out, and jobs that still run end with the file."""
    at = table.find(SACCT_COLUMNS, given)
    _check_columns(table, at)
    for_each_node = "requested" in at and table.names[at["requested"]] == "reqgres"
    log, jobs = Log(clock), JobRows()
    running, latest, mig = 0, 0.0, False
    for rows in table.rows(at, log):
        job = rows.columns["job"]
        rows.leave_out(["." in text for text in job], "a step of a job", job)
        rows = rows.rest()
        job = rows.columns["job"]
        gpus, mig_held = _stated(rows, "gpus", rows.kept)
        requested, mig_requested = _stated(rows, "requested", rows.kept & (gpus == 0))
        if for_each_node and "nodes" in at:
            requested *= [_nodes(text) for text in rows.columns["nodes"]]
        gpus += requested
        mig = mig or mig_held or mig_requested
        rows.leave_out(gpus > MAX_GPUS, f"more than {MAX_GPUS} GPUs", job, fault=True)
        rows.leave_out(gpus == 0, "no GPUs", job)
        if "start" in rows.columns:
            starts = rows.columns["start"]
            rows.leave_out([is_missing(text) for text in starts], "never started", job)
        submit, start = times_of(rows)
        still_open = np.array(
            [is_missing(text) for text in rows.columns.get("end", ["0"] * len(job))], dtype=bool
        )
        if "duration" in at:
            duration = rows.read("duration", duration_s)
        else:
            duration = until_end(rows, start, open_s=math.inf)
        states = rows.columns.get("state", [""] * len(job))
        runs = still_open | np.array([text.upper().startswith("RUNNING") for text in states], dtype=bool)
        running += int((rows.kept & runs).sum())
        rows.leave_out(duration == 0, "ran for no time", job)
        ends = start + np.where(np.isinf(duration), 0.0, duration)
        latest = float(ends[rows.kept].max(initial=latest))
        jobs.take(rows, submit=submit, start=start, duration=duration, gpus=gpus)
    log.check(len(jobs), "a job with GPUs that started")
    duration = jobs["duration"]
    cut = np.isinf(duration)
    duration[cut] = np.maximum(1.0, latest - jobs["start"][cut])
    notes = {
        f"{running} jobs still run: they are cut at {'the latest time in the file' if cut.any() else 'the time of the export'}, "
        "so they use their GPUs for longer": running,
        "MIG instances (such as gpu:1g.10gb) are counted as whole GPUs, as Slurm counts them": mig,
        "ReqGRES states GPUs for each node: they are multiplied by the number of nodes where AllocGRES is empty": for_each_node,
        ONLY_STARTS: "submit" not in at,
    }
    return jobs.done(log.reading("sacct", len(jobs), table.columns(at), notes))
