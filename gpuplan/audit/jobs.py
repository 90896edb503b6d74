"""A CSV of jobs: request, start and end of each, and its number of GPUs; and one of requests to a language model.

Columns of requests are those of Azure [azure-llm-inference-2023]_, BurstGPT [burstgpt-2024]_ and logs of engines.
"""

from collections.abc import Mapping
from functools import partial

import numpy as np

from gpuplan.audit.table import COLUMNS, Log, Rows, Table
from gpuplan.audit.trace import ALL, Collected, Jobs, Reading, Requests
from gpuplan.audit.values import Clock, duration_s, gpus_of, gpus_of_milli, tokens_of

JOB_COLUMNS, REQUEST_COLUMNS = COLUMNS["jobs"], COLUMNS["requests"]
WAITING = {"pending", "pd", "queued", "waiting"}


class JobRows(Collected):
    """Jobs as they are read."""

    def __init__(self) -> None:
        super().__init__("submit_s", "start_s", "duration_s", "gpus", codes=("group", "user"))

    def take(
        self, rows: Rows, *, submit: np.ndarray, start: np.ndarray, duration: np.ndarray, gpus: np.ndarray
    ) -> None:
        """Append the rows that are still included."""
        self.add(rows.kept, submit_s=submit, start_s=start, duration_s=duration, gpus=gpus)
        self.add_names(group=rows.texts("group", ALL), user=rows.texts("user"))

    def done(self, reading: Reading) -> Jobs:
        """Return the jobs of the whole file."""
        has_start = reading.columns.keys() >= {"submit", "start"}
        users = len(self.names["user"].shown) if "user" in reading.columns else 0
        return Jobs(**self.columns(), has_start=has_start, users=users, reading=reading)


def lengths_of(
    rows: Rows, begin: np.ndarray, *, unit_s: float = 1, open_s: float | None = None
) -> np.ndarray:
    """Return seconds of each job, as stated or until its end; ``open_s`` for one without an end, if permitted."""
    if "duration" in rows.columns:
        return rows.read("duration", partial(duration_s, unit_s=unit_s))
    end = rows.time("end", missing_s=open_s)
    rows.leave_out(end < begin, "audit.row.end before begin", rows.columns["end"], fault=True)
    length: np.ndarray = end - begin
    return length


def times_of(rows: Rows) -> tuple[np.ndarray, np.ndarray]:
    """Return request and start of each job, each replaced by the other where one is unknown."""
    if not rows.columns.keys() >= {"submit", "start"}:
        times = rows.time("submit" if "submit" in rows.columns else "start")
        return times, times
    submit, start = rows.time("submit"), rows.time("start")
    rows.leave_out(start < submit, "audit.row.start before submit", rows.columns["start"], fault=True)
    return submit, start


def requested(rows: Rows) -> np.ndarray:
    """Return each job's GPUs: a count, or thousandths of a GPU; beside a count of one these divide that GPU."""
    if "gpu_milli" not in rows.columns:
        return rows.read("gpus", gpus_of)
    part = rows.read("gpu_milli", gpus_of_milli)
    if "gpus" not in rows.columns:
        return part
    gpus = rows.read("gpus", gpus_of)
    agree = (part == 1) | ((gpus == 1) & (part < 1)) | ((gpus == 0) & (part == 0))
    rows.leave_out(~agree, "audit.row.gpu milli", rows.columns["gpu_milli"], fault=True)
    wanted: np.ndarray = gpus * part
    return wanted


def read_jobs(table: Table, given: Mapping[str, str], clock: Clock) -> Jobs:
    """Read the jobs of a file with one job per row."""
    at = table.find(JOB_COLUMNS, given)
    timed = at.keys() & {"submit", "start", "interval"}
    sized = [key for key in ("gpus", "gpu_milli") if key in at]
    if not sized or not timed or not at.keys() & {"duration", "end"}:
        raise table.missing("audit.needs.jobs")
    if timed != {"interval"}:
        at.pop("interval", None)
    interval_s, unit_s = (table.unit_s(at.get(key)) for key in ("interval", "duration"))
    log, jobs = Log(clock), JobRows()
    now = np.zeros(1)
    for rows in table.rows(at, log):
        if "interval" in at:
            gaps = rows.read("interval", partial(duration_s, unit_s=interval_s))
            now = np.cumsum(np.concatenate([now[-1:], np.nan_to_num(gaps)]))
        if "state" in at:
            state = rows.columns["state"]
            waits = [text.strip().lower() in WAITING for text in state]
            rows.leave_out(waits, "audit.row.never started", state)
        gpus = requested(rows)
        submit, start = (now[1:], now[1:]) if "interval" in at else times_of(rows)
        duration = lengths_of(rows, start, unit_s=unit_s)
        rows.leave_out(gpus == 0, "audit.row.no gpus", rows.columns[sized[0]])
        rows.leave_out(duration == 0, "audit.row.no time")
        jobs.take(rows, submit=submit, start=start, duration=duration, gpus=gpus)
    log.check(len(jobs), "audit.none.jobs")
    clock.relative = clock.relative or "interval" in at
    notes = {
        "audit.note.no group of jobs": "group" not in at,
        "audit.note.intervals": "interval" in at,
        "audit.note.only starts": "start" in at and "submit" not in at,
    }
    return jobs.done(log.reading("jobs", len(jobs), table.columns(at), notes))


def read_requests(table: Table, given: Mapping[str, str], clock: Clock) -> Requests:
    """Read the requests of a file with one request per row."""
    at = table.find(REQUEST_COLUMNS, given)
    if not at.keys() >= {"time", "tokens_in", "tokens_out"}:
        raise table.missing("audit.needs.requests")
    log, requests = Log(clock), Collected("time_s", "tokens_in", "tokens_out")
    for rows in table.rows(at, log, header_again="time"):
        time = rows.time("time")
        tokens_in, tokens_out = (rows.read(key, tokens_of) for key in ("tokens_in", "tokens_out"))
        rows.leave_out(tokens_in == 0, "audit.row.no prompt", rows.columns["tokens_in"])
        rows.leave_out(tokens_out == 0, "audit.row.no answer", rows.columns["tokens_out"])
        requests.add(rows.kept, time_s=time, tokens_in=tokens_in, tokens_out=tokens_out)
        requests.add_names(group=rows.texts("group", ALL))
    log.check(len(requests), "audit.none.requests")
    notes = {"audit.note.no group of requests": "group" not in at}
    reading = log.reading("requests", len(requests), table.columns(at), notes)
    order = np.argsort(requests["time_s"], kind="stable")
    return Requests(**requests.columns(), reading=reading).where(order)
