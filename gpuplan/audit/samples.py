"""Samples of GPU activity: a CSV with one sample per row, or the log of nvidia-smi.

The counters of DCGM follow [nvidia-dcgm-header]_, their readings under MIG [dcgm-exporter-216]_ and [dcgm-80]_.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import partial

import numpy as np

from gpuplan.audit.table import COLUMNS, Collected, Log, Names, Rows, Table
from gpuplan.audit.trace import ALL, Reading, Samples, refusal
from gpuplan.audit.values import Clock, is_missing, percent_of

SAMPLE_COLUMNS = COLUMNS["samples"]
NEEDS = {
    "samples": "a time, a gpu and a per cent",
    "nvidia-smi": "timestamp and utilization.gpu (and uuid or index), with their header",
}
MIG_COUNTER = "DCGM_FI_PROF_GR_ENGINE_ACTIVE"
UNDER_MIG = (
    f"under MIG this counter is empty or reads zero whatever the GPU does. Export {MIG_COUNTER} (the share of time in which the "
    "graphics or compute engine is active, from 0 to 1) from DCGM, which MIG instances have, and read that"
)
NO_VALUE_STATED = "no value"
NO_UTILISATION = "a GPU in MIG mode, which has no utilization.gpu"


class SampleRows(Collected):
    """Samples as they are read."""

    def __init__(self) -> None:
        super().__init__(time="d", percent="d", weight="d", gpu="i", group="i")
        self.gpus, self.groups = Names(), Names()

    def done(self, metric: str, reading: Reading) -> Samples:
        """Return the samples of the whole file."""
        return Samples(
            time_s=self["time"],
            gpu=self["gpu"],
            group=self["group"],
            percent=self["percent"],
            weight=self["weight"],
            groups=tuple(self.groups.shown),
            gpus=tuple(self.gpus.shown),
            metric=metric,
            reading=reading,
        )


def read_samples(table: Table, given: Mapping[str, str], clock: Clock, *, format: str = "samples") -> Samples:
    """Read the samples of a file with one sample per row; nvidia-smi leaves out the GPU if there is only one."""
    smi = format == "nvidia-smi"
    at = table.find(SAMPLE_COLUMNS, given)
    if not at.keys() >= {"percent", "time"} or not (smi or "gpu" in at):
        raise table.missing(format, NEEDS[format])
    scale = _scale(table.names[at["percent"]])
    group_from = next((key for key in ("group", "user") if key in at), "")
    log, samples = Log(clock), SampleRows()
    for rows in table.rows(at, log, header_again="time"):
        _leave_out_empty(rows)
        time = rows.time("time")
        percent = rows.read("percent", partial(percent_of, scale=scale))
        kept = rows.kept
        count = int(kept.sum())
        samples.add(
            time=time[kept],
            gpu=samples.gpus.codes(_gpu_names(rows, count)),
            group=samples.groups.codes(rows.texts(group_from) if group_from else [ALL] * count),
            percent=percent[kept],
            weight=np.ones(count),
        )
    empty = log.count(NO_UTILISATION) + log.count(NO_VALUE_STATED)
    if smi and empty and not len(samples):
        raise refusal(f"no row has a value of utilization.gpu: {UNDER_MIG}")
    log.check(len(samples), "a sample")
    by_index = "host" not in at and "gpu" in at and table.names[at["gpu"]] in ("index", "gpu_index")
    notes = {
        f"{empty} samples have no utilization.gpu, as GPUs in MIG mode have none: {UNDER_MIG}": smi and empty,
        "No sample is above 1: if the column holds shares from 0 to 1, let its name end in _ratio": (
            scale == 1 and samples["percent"].max() <= 1
        ),
        "No column names a group: all samples are one": not group_from,
        "GPUs are told apart by their index: samples of several hosts need the uuid": smi and by_index,
    }
    reading = log.reading(format, len(samples), table.columns(at), notes)
    return samples.done(table.header[at["percent"]], reading)


def _scale(name: str) -> float:
    """Return the factor that converts the numbers of a column to per cent, by its name."""
    return 100.0 if re.search(r"(^|_)(ratio|share|fraction)$", name) else 1.0


def _leave_out_empty(rows: Rows) -> None:
    percent = rows.columns["percent"]
    if "mig" in rows.columns:
        modes = rows.columns["mig"]
        rows.leave_out([text.strip().lower() == "enabled" for text in modes], NO_UTILISATION, percent)
    empty = {text for text in set(percent) if is_missing(text) or text.startswith("[")}
    rows.leave_out([text in empty for text in percent], NO_VALUE_STATED, percent)


def _gpu_names(rows: Rows, count: int) -> list[str]:
    """Return the GPU of each row that is still included, after its host where there is one."""
    gpus = [text.strip() for text in rows.texts("gpu")] if "gpu" in rows.columns else ["GPU"] * count
    if "host" not in rows.columns:
        return gpus
    return [f"{host.strip()} {gpu}" for host, gpu in zip(rows.texts("host"), gpus, strict=True)]
