"""Samples of GPU activity: a CSV with one sample per row, or the log of nvidia-smi.

The counters of DCGM follow [nvidia-dcgm-header]_, their readings under MIG [dcgm-exporter-216]_ and [dcgm-80]_.
"""

from collections.abc import Mapping
from functools import partial

import numpy as np

from gpuplan.audit.columns import COLUMNS
from gpuplan.audit.moments import count_once
from gpuplan.audit.table import Log, Rows, Table
from gpuplan.audit.trace import ALL, Collected, Samples, refusal
from gpuplan.audit.values import Clock, is_missing, percent_of
from gpuplan.wording import said

SAMPLE_COLUMNS = COLUMNS["samples"]
UNDER_MIG = said("audit.under mig")


def read_samples(table: Table, given: Mapping[str, str], clock: Clock, *, format: str = "samples") -> Samples:
    """Read the samples of a file with one sample per row; nvidia-smi leaves out the GPU if there is only one."""
    smi = format == "nvidia-smi"
    at = table.find(SAMPLE_COLUMNS, given)
    if not at.keys() >= {"percent", "time"} or not (smi or "gpu" in at):
        raise table.missing("audit.needs.nvidia-smi" if smi else "audit.needs.samples")
    scale = getattr(table.read["percent"].unit, "factor", 1.0)
    group_from = next((key for key in ("group", "user") if key in at), "")
    log, samples = Log(clock), Collected("time_s", "percent", "weight", codes=("gpu", "group"))
    for rows in table.rows(at, log):
        _leave_out_empty(rows)
        time = rows.time("time")
        percent = rows.read("percent", partial(percent_of, scale=scale))
        samples.add(rows.kept, time_s=time, percent=percent, weight=np.ones(len(time)))
        samples.add_names(gpu=_gpu_names(rows), group=rows.texts(group_from, ALL))
    empty = log.count("audit.row.mig") + log.count("audit.row.no value")
    if smi and empty and not len(samples):
        raise refusal("audit.no utilisation", under_mig=UNDER_MIG)
    log.check(len(samples), "audit.none.samples")
    shared, summed = count_once(samples.columns(), samples["group"], of_each=None)
    by_index = "host" not in at and "gpu" in at and table.names[at["gpu"]] in ("index", "gpu_index")
    notes = {
        "audit.note.mig": smi * empty,
        "audit.note.ratio": scale == 1 and samples["percent"].max() <= 1,
        "audit.note.no group of samples": not group_from,
        "audit.note.index": smi and by_index,
        "audit.note.same gpu": shared,
        "audit.note.shared sum": summed,
    }
    columns = table.columns(at)
    words = {"under_mig": UNDER_MIG, "column": columns["percent"]}
    reading = log.reading(format, len(samples), columns, notes, **words)
    gpus, metric = tuple(samples.names["gpu"].shown), table.header[at["percent"]]
    return Samples(**samples.columns(), gpus=gpus, metric=metric, reading=reading)


def _leave_out_empty(rows: Rows) -> None:
    percent = rows.columns["percent"]
    if "mig" in rows.columns:
        modes = rows.columns["mig"]
        rows.leave_out([text.strip().lower() == "enabled" for text in modes], "audit.row.mig", percent)
    empty = {text for text in set(percent) if is_missing(text) or text.startswith("[")}
    rows.leave_out([text in empty for text in percent], "audit.row.no value", percent)


def _gpu_names(rows: Rows) -> list[str]:
    """Return the GPU of each row that is still included, after its host where there is one."""
    gpus = [text.strip() for text in rows.texts("gpu", "GPU")]
    if "host" not in rows.columns:
        return gpus
    return [f"{host.strip()} {gpu}" for host, gpu in zip(rows.texts("host"), gpus, strict=True)]
