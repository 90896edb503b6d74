"""GPUs of a job: a count, or parts of a GPU, times a count of nodes or workers where a column says what each has.

The public traces and schedulers mean by a column what its makers say: see ``trace_columns.csv``.
"""

from collections.abc import Mapping
from functools import partial

import numpy as np

from gpuplan.audit.columns import words_of
from gpuplan.audit.table import Rows, Table
from gpuplan.audit.values import UNITS, Clock, count_of, duration_s, gpus_of
from gpuplan.scenario import MAX_GPUS, show
from gpuplan.wording import said

OF_JOB = {"total", "all", "sum", "job", "jobs"}
"""Words by which a column of GPUs says that it counts those of the whole job."""
PER = {**dict.fromkeys(("node", "nodes", "host", "server", "machine"), "nodes"), "task": "tasks"}
"""Word after ``per`` in the name of a column of GPUs -> the count that multiplies it; else ``times``."""
MULTIPLIERS = ("times", "nodes", "tasks")
NEAR = 0.02
"""Two columns agree if their ratio is usually this close to what it should be."""


def requested(rows: Rows, times: str = "") -> np.ndarray:
    """Return each job's GPUs: a count or parts of a GPU, beside a count of one parts of that GPU; times another count."""
    keys = [key for key in ("gpus", "gpu_milli") if key in rows.columns]
    gpus, *parts = (rows.read(key, partial(gpus_of, factor=rows.unit(key))) for key in keys)
    for part in parts:
        agree = (part == 1) | ((gpus == 1) & (part < 1)) | ((gpus == 0) & (part == 0))
        rows.leave_out(~agree, "audit.row.gpu milli", rows.columns["gpu_milli"], fault=True)
        gpus = gpus * part
    if times:
        gpus = np.round(gpus * rows.read(times, count_of), 9)
        rows.leave_out(
            gpus > MAX_GPUS, "audit.row.too many gpus", rows.columns[times], fault=True, most=MAX_GPUS
        )
    wanted: np.ndarray = gpus
    return wanted


def multiplier(table: Table, at: Mapping[str, int], given: Mapping[str, str]) -> str:
    """Return the count that multiplies GPUs, if any: as given, or as the names of columns say; and say where it is doubtful."""
    counts = [key for key in MULTIPLIERS if key in at]
    if "times" in given:
        return "times" if given["times"] else ""
    name = table.header[at["gpus" if "gpus" in at else "gpu_milli"]]
    words = words_of(name)
    values = {"name": show(name), "count": show(table.header[at[counts[0]]]) if counts else ""}
    note, times = "", ""
    if "per" in words or words[-1:] == ["each"]:
        preferred = PER.get(words[-1], "times")
        times = preferred if preferred in counts else "".join(counts[:1])
        note = "" if counts else "audit.note.gpus per"
    elif counts[:1] == ["times"] and not OF_JOB & {*words} and words != ["gpu", "num"]:
        note, times = "audit.note.gpus of each", "times"
    elif counts and any(text.strip() != "1" for text in table.values(at[counts[0]])):
        note = "audit.note.gpus of job"
    table.notes += (said(note, **values),) if note else ()
    return times


def check_lengths(table: Table, at: Mapping[str, int], clock: Clock) -> None:
    """Read durations in the unit in which they agree with starts and ends, if that is another one than their name says."""
    if not at.keys() >= {"duration", "start", "end"} or table.read["duration"].by == "hand":
        return
    rows = table.first_rows(at, clock)
    stated = rows.unit("duration")
    length = rows.read("duration", partial(duration_s, unit_s=stated))
    ratios = (rows.time("end") - rows.time("start")) / np.where(length > 0, length, np.nan)
    ratio = float(np.median(ratios[np.isfinite(ratios)])) if np.isfinite(ratios).any() else 1.0
    unit = next(
        (unit for unit in UNITS["time"].values() if abs(ratio * stated / unit.factor - 1) < NEAR), None
    )
    if unit and unit.factor != stated:
        table.read["duration"] = table.read["duration"]._replace(unit=unit, by="end")
