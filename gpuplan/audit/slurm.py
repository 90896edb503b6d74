"""The output of Slurm's ``sacct``: jobs with the GPUs allocated to them.

Its meaning follows [slurm-sacct]_, GPUs for each node [slurm-sbatch]_ and the total of a job [slurm-gres-header]_.
"""

import re
from collections.abc import Mapping
from functools import lru_cache, partial

import numpy as np

from gpuplan.audit.columns import COLUMNS
from gpuplan.audit.jobs import JobRows
from gpuplan.audit.table import Log, Rows, Table
from gpuplan.audit.trace import Jobs
from gpuplan.audit.values import Clock
from gpuplan.scenario import MAX_GPUS

SACCT_COLUMNS = COLUMNS["sacct"]
TRES = re.compile(r"(?:^|,)gres/gpu(:[^=,]*)?=(\d{1,9})")
GRES = re.compile(r"(?:^|,)(?:gres[:/])?gpu(?::(?=\d*[^\d:,(=])([^:,(=]+))?(?:[:=](\d{1,9}))?(?=[,(]|$)")
SIZES = ("gpus", "requested")
OF_NODE = {"reqgres", "tres_per_node", "gres"}
"""Columns of the GPUs on each node."""
SHARED = re.compile(r"(?:^|,)(?:gres[:/])?(?:shard|mps)(?=[:=,(]|$)")
MIG_TYPE = re.compile(r"\d+g\.\d+gb")
NODES = re.compile(r"\d{1,9}")


@lru_cache(maxsize=100_000)
def slurm_gpus(text: str) -> int:
    """Return the GPUs in a list of Slurm's trackable or generic resources: the untyped total, or else the sum of types.

    >>> slurm_gpus("billing=8,gres/gpu:a100=4,gres/gpu=4"), slurm_gpus("gpu:a100:2,gpu:v100:1"), slurm_gpus("cpu=4")
    (4, 3, 0)
    """
    if text.endswith("+"):
        text = text.rpartition(",")[0]  # the last resource is cut
    pairs = [(kind, int(count)) for kind, count in TRES.findall(text)]
    if not pairs:
        pairs = [(kind, int(count or 1)) for kind, count in GRES.findall(text)]
    return next((count for kind, count in pairs if not kind), sum(count for _, count in pairs))


def _stated(rows: Rows, key: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the GPUs that a column states, and which of its lists are cut."""
    texts = rows.columns.get(key, [""] * len(rows.kept))
    cut = np.array([text.endswith("+") for text in texts], dtype=bool)
    return np.fromiter(map(slurm_gpus, texts), float), cut


def allocated(rows: Rows, *, for_each_node: bool) -> np.ndarray:
    """Return the GPUs of each job as allocated, else as requested; not a number where they cannot be known."""
    gpus, cut = _stated(rows, "gpus")
    none = gpus == 0
    if none.any() and "requested" in rows.columns:
        wanted, cut_too = _stated(rows, "requested")
        if for_each_node and "nodes" in rows.columns:
            nodes = (int(text) if NODES.fullmatch(text) else 1 for text in rows.columns["nodes"])
            wanted *= np.maximum(1, np.fromiter(nodes, float))
        gpus, cut = np.where(none, wanted, gpus), cut | cut_too
    job = rows.columns["job"]
    rows.leave_out(gpus > MAX_GPUS, "audit.row.too many gpus", job, fault=True, most=MAX_GPUS)
    lists = zip(*(rows.columns[key] for key in SIZES if key in rows.columns), strict=True)
    pairs = zip((gpus == 0).tolist(), lists, strict=True)
    shared = np.array([none and any(map(SHARED.search, texts)) for none, texts in pairs], dtype=bool)
    for which, key in ((shared, "audit.row.shard"), (cut, "audit.row.cut")):
        unknown = (gpus == 0) & which
        rows.leave_out(unknown, key, job, fault=key == "audit.row.cut")
        gpus[unknown] = np.nan
    return gpus


def read_sacct(table: Table, given: Mapping[str, str], clock: Clock) -> Jobs:
    """Read the jobs of a file of sacct; their steps are left out, and jobs that still run end with the file."""
    at = table.find(SACCT_COLUMNS, given)
    if "job" not in at or not at.keys() & {"gpus", "requested"} or not at.keys() & {"submit", "start"}:
        raise table.missing("audit.needs.sacct")
    if not at.keys() & {"duration", "end"}:
        raise table.missing("audit.needs.sacct duration")
    for_each_node = "requested" in at and table.names[at["requested"]] in OF_NODE
    log, jobs = Log(clock), JobRows(partial(allocated, for_each_node=for_each_node))
    mig = False
    for rows in table.rows(at, log):
        job = rows.columns["job"]
        rows.leave_out(["." in text for text in job], "audit.row.step", job, void=True)
        jobs.take(rows)
        mig = mig or any(MIG_TYPE.search(text) for key in SIZES for text in set(rows.columns.get(key, ())))
    log.check(len(jobs), "audit.none.sacct")
    notes = {
        **jobs.cut(log, table.again, named=True),
        "audit.note.whole mig": mig,
        "audit.note.nodes": for_each_node,
        "audit.note.only starts": "submit" not in at,
    }
    return jobs.done(log.reading("sacct", len(jobs), table.columns(at), notes))
