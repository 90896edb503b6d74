"""The output of Slurm's ``sacct``: jobs with the GPUs allocated to them.

Its meaning follows [slurm-sacct]_, GPUs for each node [slurm-sbatch]_ and the total of a job [slurm-gres-header]_.
"""

import math
import re
from collections.abc import Mapping
from functools import lru_cache

import numpy as np

from gpuplan.audit.jobs import JobRows, lengths_of, times_of
from gpuplan.audit.table import COLUMNS, Log, Rows, Table
from gpuplan.audit.trace import Jobs
from gpuplan.audit.values import Clock, is_missing
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
        raise table.missing("audit.needs.sacct")
    if not at.keys() & {"duration", "end"}:
        raise table.missing("audit.needs.sacct duration")


def read_sacct(table: Table, given: Mapping[str, str], clock: Clock) -> Jobs:
    """Read the jobs of a file of sacct; their steps are left out, and jobs that still run end with the file."""
    at = table.find(SACCT_COLUMNS, given)
    _check_columns(table, at)
    for_each_node = "requested" in at and table.names[at["requested"]] == "reqgres"
    log, jobs = Log(clock), JobRows()
    running, latest, mig = 0, 0.0, False
    for rows in table.rows(at, log):
        job = rows.columns["job"]
        rows.leave_out(["." in text for text in job], "audit.row.step", job)
        rows = rows.rest()
        job = rows.columns["job"]
        gpus, mig_held = _stated(rows, "gpus", rows.kept)
        requested, mig_requested = _stated(rows, "requested", rows.kept & (gpus == 0))
        if for_each_node and "nodes" in at:
            requested *= [_nodes(text) for text in rows.columns["nodes"]]
        gpus += requested
        mig = mig or mig_held or mig_requested
        rows.leave_out(gpus > MAX_GPUS, "audit.row.too many gpus", job, fault=True, most=MAX_GPUS)
        rows.leave_out(gpus == 0, "audit.row.no gpus", job)
        if "start" in rows.columns:
            starts = rows.columns["start"]
            rows.leave_out([is_missing(text) for text in starts], "audit.row.never started", job)
        submit, start = times_of(rows)
        ends = rows.columns.get("end", ["0"] * len(job))
        still_open = np.array([is_missing(text) for text in ends], dtype=bool)
        duration = lengths_of(rows, start, open_s=math.inf)
        states = rows.columns.get("state", [""] * len(job))
        runs = still_open | np.array([text.upper().startswith("RUNNING") for text in states], dtype=bool)
        running += int((rows.kept & runs).sum())
        rows.leave_out(duration == 0, "audit.row.no time", job)
        until = start + np.where(np.isinf(duration), 0.0, duration)
        latest = float(until[rows.kept].max(initial=latest))
        jobs.take(rows, submit=submit, start=start, duration=duration, gpus=gpus)
    log.check(len(jobs), "audit.none.sacct")
    duration = jobs["duration_s"]
    cut = np.isinf(duration)
    duration[cut] = np.maximum(1.0, latest - jobs["start_s"][cut])
    notes = {
        "audit.note.cut at latest": running * cut.any(),
        "audit.note.cut at export": running * (not cut.any()),
        "audit.note.whole mig": mig,
        "audit.note.nodes": for_each_node,
        "audit.note.only starts": "submit" not in at,
    }
    return jobs.done(log.reading("sacct", len(jobs), table.columns(at), notes))
