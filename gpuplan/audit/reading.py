"""Reading a trace: a file of jobs, samples of GPU activity, or requests -> numbers, and an account of the reading.

A row that cannot be read is left out and counted with its reason; a file with less than half that can is refused.
"""

import re
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any, BinaryIO
from zipfile import is_zipfile
from zoneinfo import ZoneInfo, available_timezones

from gpuplan.audit.files import open_text, refusing
from gpuplan.audit.formats import Export, by_gpu, gpu_columns, of_json, of_text, of_workbook, with_dates
from gpuplan.audit.jobs import JOB_COLUMNS, REQUEST_COLUMNS, read_jobs, read_requests
from gpuplan.audit.prometheus import read_answer, read_table
from gpuplan.audit.samples import SAMPLE_COLUMNS, read_samples
from gpuplan.audit.slurm import read_sacct
from gpuplan.audit.table import Table
from gpuplan.audit.trace import Jobs, Requests, Samples, refusal
from gpuplan.audit.values import Clock
from gpuplan.facts import did_you_mean, did_you_mean_file
from gpuplan.scenario import one_line, show

READERS: Mapping[str, Callable[[Table, Mapping[str, str], Clock], Jobs | Samples | Requests]] = {
    "jobs": read_jobs,
    "requests": read_requests,
    "sacct": read_sacct,
    "samples": read_samples,
    "nvidia-smi": partial(read_samples, format="nvidia-smi"),
    "prometheus": read_table,
}
BY_GPU = "by-gpu"
FORMATS = ("auto", *READERS, BY_GPU)

NUMBER = re.compile(r"\d+\.\d*")
NO_HEADER = re.compile(r"[\d\s.:/%-]*|\[?N/A\]?|GPU-.*|NVIDIA .*")


def read_trace(
    path: str | PathLike[str] | BinaryIO,
    *,
    format: str = "auto",
    columns: Mapping[str, str] | None = None,
    time_zone: str = "UTC",
) -> Jobs | Samples | Requests:
    """Read jobs, samples or requests from a file, with a `Reading` that says what was used, what was left out and why.

    A CSV (comma, semicolon, tab or |, UTF-8 or UTF-16 with its mark) or the JSON of Prometheus, with or without gzip.
    ``format`` is one of `FORMATS`; ``columns`` names a column for each value, for Prometheus the label of ``group``
    and the counter (``metric``). ``time_zone`` is that of times without an offset: of a time that comes twice the
    first counts, one that is skipped has the offset before it. A `TraceError` says the line and what is expected.
    """
    if format not in FORMATS:
        raise refusal("audit.one of", where="format", value=show(format), names=", ".join(FORMATS))
    try:
        clock = Clock(ZoneInfo(time_zone))
    except (KeyError, ValueError, OSError):
        meant = did_you_mean(time_zone, sorted(available_timezones()))
        raise refusal("audit.time zone", where="time_zone", value=show(time_zone), meant=meant) from None
    try:
        with open(path, "rb") if isinstance(path, str | PathLike) else nullcontext(path) as file, refusing():
            return _read(file, format, dict(columns or {}), clock)
    except OSError as error:
        why = error.strerror or error
        if not isinstance(path, str | PathLike):
            raise refusal("audit.file.unread", why=why) from error
        name, meant = one_line(str(path)), did_you_mean_file(Path(path))
        raise refusal("audit.file.unread by name", name=name, why=why, meant=meant) from error


def _read(file: BinaryIO, format: str, given: dict[str, str], clock: Clock) -> Jobs | Samples | Requests:
    export = export_of(file, format)
    if not isinstance(export, Export):
        if format not in ("auto", "prometheus"):
            raise refusal("audit.json", where="line 1", value=show(str(export)[:20]), format=repr(format))
        return read_answer(export, given, clock)
    export = export._replace(table=with_dates(export.table, given))
    kind = export.reader or (_recognised(export.table, given) if format == "auto" else format)
    around = export.around
    if kind == BY_GPU:
        export, kind = by_gpu(export.table), "samples"
    trace = READERS[kind](export.table, given, clock)
    notes = tuple(note for note in (around, export.note) if note)
    named = replace(trace.reading, format=export.format or kind, notes=(*notes, *trace.reading.notes))
    return replace(trace, reading=named)


def export_of(file: BinaryIO, format: str) -> Any:
    """Return the table in a file, or an answer of Prometheus as it is."""
    packed = file.seekable() and is_zipfile(file)
    if file.seekable():
        file.seek(0)
    if packed:
        return of_workbook(file, format)
    text, start = open_text(file)
    return of_json(text) if start[0] in "{[" else of_text(text, start, format)


def _recognised(table: Table, given: Mapping[str, str]) -> str:
    """Return the format indicated by the header and by columns named by hand, the surest sign first."""
    names, header = {*table.names}, table.header
    jobs, samples = table.find(JOB_COLUMNS, {}), table.find(SAMPLE_COLUMNS, {})
    requests = table.find(REQUEST_COLUMNS, {}).keys() | given.keys()
    signs = (
        ("sacct", names & {"jobid", "jobidraw"} and names & {"alloctres", "reqtres", "allocgres", "reqgres"}),
        ("nvidia-smi", any(name.lower().startswith("utilization.gpu") for name in header)),
        ("prometheus", any("DCGM_FI_" in name or name == "__name__" or "{" in name for name in header)),
        ("prometheus", "value" in names and names & {"uuid", "modelname", "gpu"}),
        ("requests", requests >= {"time", "tokens_in", "tokens_out"}),
        ("jobs", given.keys() & {"gpus", "gpu_milli", "duration", "submit", "start", "end", "work", "times"}),
        ("samples", given.keys() & {"percent", "gpu", "time"}),
        ("jobs", jobs.keys() & {"gpus", "gpu_milli"} and jobs.keys() & {"duration", "end", "work"}),
        (BY_GPU, "gpu" not in samples and gpu_columns(table)),
        ("samples", samples.keys() >= {"time", "percent"}),
    )
    kind = next((format for format, so in signs if so), None)
    if kind is not None:
        return kind
    headless = all(map(NO_HEADER.fullmatch, header)) or any(map(NUMBER.fullmatch, header[1:]))
    raise table.missing("audit.no header" if headless else "audit.not recognised")
