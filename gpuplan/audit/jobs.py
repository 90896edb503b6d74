"""A CSV of jobs: request, start and end of each, and its number of GPUs."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import numpy as np

from gpuplan.audit.table import COLUMNS, Collected, Log, Names, Rows, Table
from gpuplan.audit.trace import ALL, Jobs, Reading
from gpuplan.audit.values import Clock, duration_s, gpus_of, gpus_of_milli

JOB_COLUMNS = COLUMNS["jobs"]
NEEDS = "a time (submit or start), a duration or an end, and gpus or gpu_milli"
WAITING = {"pending", "pd", "queued", "waiting"}
ONLY_STARTS = "Only starts are known: they stand for the time of the request, so waits are not seen"


class JobRows(Collected):
    """Jobs as they are read."""

    def __init__(self) -> None:
        super().__init__(submit="d", start="d", duration="d", gpus="d", group="i", user="i")
        self._groups, self._users = Names(), Names()

    def take(
        self, rows: Rows, *, submit: np.ndarray, start: np.ndarray, duration: np.ndarray, gpus: np.ndarray
    ) -> None:
        """Append the rows that are still included."""
        kept = rows.kept
        self.add(submit=submit[kept], start=start[kept], duration=duration[kept], gpus=gpus[kept])
        for name, names, unknown in (("group", self._groups, ALL), ("user", self._users, "")):
            texts = rows.texts(name) if name in rows.columns else [unknown] * int(kept.sum())
            self.add(**{name: names.codes(texts)})

    def done(self, reading: Reading) -> Jobs:
        """Return the jobs of the whole file."""
        return Jobs(
            submit_s=self["submit"],
            start_s=self["start"],
            has_start=reading.columns.keys() >= {"submit", "start"},
            duration_s=self["duration"],
            gpus=self["gpus"],
            group=self["group"],
            groups=tuple(self._groups.shown),
            user=self["user"],
            users=len(self._users.shown) if "user" in reading.columns else 0,
            reading=reading,
        )


def until_end(rows: Rows, begin: np.ndarray, *, open_s: float | None = None) -> np.ndarray:
    """Return seconds from the start of each job to its end; ``open_s`` for one without an end, if permitted."""
    end = rows.time("end", missing_s=open_s)
    rows.leave_out(end < begin, "end is before the begin", rows.columns["end"], fault=True)
    length: np.ndarray = end - begin
    return length


def times_of(rows: Rows) -> tuple[np.ndarray, np.ndarray]:
    """Return request and start of each job, each replaced by the other where one is unknown."""
    if not rows.columns.keys() >= {"submit", "start"}:
        times = rows.time("submit" if "submit" in rows.columns else "start")
        return times, times
    submit, start = rows.time("submit"), rows.time("start")
    rows.leave_out(start < submit, "start is before submit", rows.columns["start"], fault=True)
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
    reason = "gpu_milli is other than 1000 for several GPUs, or above 1000 for one"
    rows.leave_out(~agree, reason, rows.columns["gpu_milli"], fault=True)
    wanted: np.ndarray = gpus * part
    return wanted


def read_jobs(table: Table, given: Mapping[str, str], clock: Clock) -> Jobs:
    """Read the jobs of a file with one job per row."""
    at = table.find(JOB_COLUMNS, given)
    timed = at.keys() & {"submit", "start", "interval"}
    sized = [key for key in ("gpus", "gpu_milli") if key in at]
    if not sized or not timed or not at.keys() & {"duration", "end"}:
        raise table.missing("jobs", NEEDS)
    if timed != {"interval"}:
        at.pop("interval", None)
    length_of = {
        key: partial(duration_s, unit_s=table.unit_s(at[key]))
        for key in ("interval", "duration")
        if key in at
    }
    log, jobs = Log(clock), JobRows()
    now = np.zeros(1)
    for rows in table.rows(at, log):
        if "interval" in at:
            gaps = rows.read("interval", length_of["interval"])
            now = np.cumsum(np.concatenate([now[-1:], np.nan_to_num(gaps)]))
        if "state" in at:
            state = rows.columns["state"]
            rows.leave_out([text.strip().lower() in WAITING for text in state], "never started", state)
        gpus = requested(rows)
        submit, start = (now[1:], now[1:]) if "interval" in at else times_of(rows)
        if "duration" in at:
            duration = rows.read("duration", length_of["duration"])
        else:
            duration = until_end(rows, start)
        rows.leave_out(gpus == 0, "no GPUs", rows.columns[sized[0]])
        rows.leave_out(duration == 0, "ran for no time")
        jobs.take(rows, submit=submit, start=start, duration=duration, gpus=gpus)
    log.check(len(jobs), "a job with GPUs")
    clock.relative = clock.relative or "interval" in at
    notes = {
        "No column names a group: all jobs are one. Choose a column for the group, such as that of the user": (
            "group" not in at
        ),
        "Times are added up from the intervals between jobs; a row that cannot be read shifts those after it": (
            "interval" in at
        ),
        ONLY_STARTS: "start" in at and "submit" not in at,
    }
    return jobs.done(log.reading("jobs", len(jobs), table.columns(at), notes))
