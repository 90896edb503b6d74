"""A CSV of jobs: request, start and end of each, and its number of GPUs; and one of requests to a language model.

Columns of requests are those of Azure [azure-llm-inference-2023]_, BurstGPT [burstgpt-2024]_ and logs of engines.
"""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from statistics import median

import numpy as np

from gpuplan.audit.columns import COLUMNS, words_of
from gpuplan.audit.table import Log, Rows, Table
from gpuplan.audit.trace import ALL, Collected, Jobs, Reading, Requests, refusal
from gpuplan.audit.values import UNITS, Clock, count_of, duration_s, gpus_of, missing_of
from gpuplan.scenario import MAX_GPUS, show
from gpuplan.wording import said

JOB_COLUMNS, REQUEST_COLUMNS = COLUMNS["jobs"], COLUMNS["requests"]
WAITING = {"pending", "pd", "pend", "queued", "waiting"}
RUNNING = {"running", "run", "r"}
ENDED = {
    "completed",
    "exit",
    "succeeded",
    "failed",
    "cancelled",
    "canceled",
    "timeout",
    "done",
    "pass",
    "killed",
}

OF_JOB = {"total", "all", "sum", "job", "jobs"}
"""Words by which a column of GPUs says that it counts those of the whole job."""
PER = {**dict.fromkeys(("node", "nodes", "host", "server", "machine"), "nodes"), "task": "tasks"}
"""Word after ``per`` in the name of a column of GPUs -> the count that multiplies it; else ``times``."""
MULTIPLIERS = ("times", "nodes", "tasks")
IDS = re.compile(r"\d{1,2}(?: ?, ?\d{1,2})+")
"""Devices of a job by their numbers, which are no count."""
NEAR, NEAR_S = 0.02, 60.0
"""Two columns agree if their ratio is usually this close to what it should be, or their difference to nothing."""
FEW_EQUAL = 0.05
"""Share of rows equal to others up to which they are a coincidence."""
RUN, REQUEST = ("gpus", "start_s", "submit_s", "job"), ("tokens_out", "tokens_in", "time_s", "job")
"""What the rows of one run of a job, and of one request, have in common."""
ROW = ("job", "row", "line")
"""Of each row: its job or request and all its cells as hashes, and its line."""
MARKS = (*ROW, "still", "contradicts")
"""Of each job also: 1 if it still ran, and if its duration is another."""


class JobRows(Collected):
    """Jobs as they are read; ``size`` gives the GPUs of each."""

    def __init__(self, size: Callable[[Rows], np.ndarray]) -> None:
        super().__init__("submit_s", "start_s", "duration_s", "gpus", codes=("group", "user"), marks=MARKS)
        self.size = size

    def take(self, rows: Rows, now: np.ndarray | None = None) -> None:
        """Append the rows of jobs that ran on GPUs, begun ``now`` if no column says when; weigh those left out."""
        states = rows.columns.get("state")
        waiting = [text in WAITING for text in _states(rows)]
        rows.leave_out(waiting, "audit.row.never started", states, void=True)
        if "start" in rows.columns:
            rows.leave_out(missing_of(rows.columns["start"]), "audit.row.never started", states, void=True)
        gpus = self.size(rows)
        stated = _stated(rows, gpus)
        submit = start = rows.time("start" if "start" in rows.columns else "submit") if now is None else now
        length = _until_end(rows, start, stated)
        with np.errstate(invalid="ignore"):
            hours = np.where(gpus == 0, 0.0, np.where(length >= 0, gpus * length / 3600, math.nan))
        if rows.columns.keys() >= {"submit", "start"}:
            submit = rows.time("submit")
            rows.leave_out(start < submit, "audit.row.start before submit", rows.columns["start"], fault=True)
        rows.leave_out(np.isnan(length), "audit.row.not known", what="duration")
        rows.leave_out(gpus == 0, "audit.row.no gpus", rows.columns.get("gpus"))
        rows.leave_out(length == 0, "audit.row.no time")
        marks = {
            "still": np.isinf(length) | _run_still(rows),
            "contradicts": _contradicts(rows, start, stated),
        }
        self.add(
            rows.kept, submit_s=submit, start_s=start, duration_s=length, gpus=gpus, **marks, **_row(rows)
        )
        self.add_names(group=rows.texts("group", ALL), user=rows.texts("user"))
        rows.weigh(np.where(np.isinf(hours), math.nan, hours))

    def cut(self, log: Log, again: Sequence[int], *, named: bool) -> dict[str, object]:
        """Leave out jobs that stand in the file again, end those that still run with it; return what is to be noted."""
        prefer = (-self["duration_s"], self["still"])
        out = _of_runs(self, RUN, prefer) if named else _of_parts(self, again)
        equal = 0 if named or again else len(self) - len(np.unique(self["row"]))
        if out.any():
            line, gpu_h = int(self["line"][out].min()), (self["gpus"] * self["duration_s"] / 3600)[out]
            known, why = np.isfinite(gpu_h), (said("audit.row.again"), False)
            log.add(why, len(gpu_h), line, None, float(gpu_h[known].sum()), int((~known).sum()))
            self.keep(~out)
        duration, start = self["duration_s"], self["start_s"]
        endless = np.isinf(duration)
        latest_s = max(log.latest_s, float((start + duration)[~endless].max(initial=0.0)))
        duration[endless] = np.maximum(1.0, latest_s - start[endless])
        key = "audit.note.cut at latest" if endless.any() else "audit.note.cut at export"
        return {
            key: int(self["still"].sum()),
            "audit.note.contradicted": int(self["contradicts"].sum()),
            "audit.note.equal rows": equal if equal > FEW_EQUAL * len(self) else 0,
        }

    def done(self, reading: Reading) -> Jobs:
        """Return the jobs of the whole file."""
        has_start = reading.columns.keys() >= {"submit", "start"}
        names = tuple(self.names["user"].shown) if "user" in reading.columns else ()
        columns = {name: values for name, values in self.columns().items() if name not in MARKS}
        values = {**columns, "users": len(names), "user_names": names, "reading": reading}
        return Jobs(**values, has_start=has_start)


def _states(rows: Rows) -> list[str]:
    states = rows.columns.get("state", [""] * len(rows.kept))
    small = {text: text.strip().lower() for text in set(states)}
    return [small[text] for text in states]


def _run_still(rows: Rows) -> np.ndarray:
    """Return which jobs still run: those without an end; by their state if no column has ends."""
    return missing_of(rows.columns["end"]) if "end" in rows.columns else np.isin(_states(rows), [*RUNNING])


def _stated(rows: Rows, gpus: np.ndarray) -> np.ndarray:
    """Return the seconds of each job as a column has them, or its GPU time over its GPUs."""
    length = np.full(len(rows.kept), math.nan)
    for key, over in (("duration", 1.0), ("work", np.where(gpus > 0, gpus, 1.0))):
        if key in rows.columns and (rows.kept & np.isnan(length)).any():
            stated = rows.read(key, partial(duration_s, unit_s=rows.unit(key)), missing=math.nan) / over
            length = np.where(np.isnan(length), stated, length)
    return length


def _until_end(rows: Rows, start: np.ndarray, length: np.ndarray) -> np.ndarray:
    """Return the seconds of each job, until its end where they are not stated; infinite for one that still runs."""
    unknown = rows.kept & np.isnan(length)
    if not unknown.any():
        return length
    if "end" not in rows.columns:
        runs = _run_still(rows) | ("start" in rows.columns and "state" not in rows.columns)
        return np.where(unknown & runs, math.inf, length)
    end = rows.time("end", missing_s=math.inf)
    rows.leave_out(unknown & (end < start), "audit.row.end before begin", rows.columns["end"], fault=True)
    rows.leave_out(unknown & np.isinf(end) & np.isin(_states(rows), [*ENDED]), "audit.row.end not known")
    return np.where(unknown, end - start, length)


def _contradicts(rows: Rows, start: np.ndarray, stated: np.ndarray) -> np.ndarray:
    """Return which jobs state a duration other than that from start to end, by more than rounding."""
    if not rows.columns.keys() >= {"start", "end"} or np.isnan(stated).all():
        return np.zeros(len(stated), dtype=bool)
    texts = "".join(rows.columns.get("duration", ()))
    step = NEAR_S if set(".:,") & {*texts} else max(NEAR_S, rows.unit("duration"))
    off: np.ndarray = np.abs(rows.time("end", else_s=math.nan) - start - stated)
    contradicts: np.ndarray = np.isfinite(off) & (off >= step) & (off > NEAR * stated)
    return contradicts


def _row(rows: Rows) -> dict[str, np.ndarray | Sequence[float]]:
    """Return what tells rows apart: the job with the part of it that a column names, all cells, and the line."""
    jobs = np.array(rows.lines)
    if "job" in rows.columns:
        jobs = np.where(missing_of(rows.columns["job"]), jobs, rows.hashes("job", "part"))
    return {"job": jobs, "row": [hash("\0".join(row)) for row in rows.cells], "line": rows.lines}


def _of_runs(rows: Collected, run: Sequence[str], prefer: Sequence[np.ndarray]) -> np.ndarray:
    """Return which rows are of a run that another row has, too: of a job the one that has ended, else the longest, stays."""
    out = np.zeros(len(rows), dtype=bool)
    _, id, times = np.unique(rows["job"], return_inverse=True, return_counts=True)
    at = np.flatnonzero(times[id] > 1)
    keys = [rows[name][at] for name in run]
    order = np.lexsort((*(values[at] for values in prefer), *keys))
    out[at[order][1:]] = np.all([values[order][1:] == values[order][:-1] for values in keys], axis=0)
    return out


def _of_parts(jobs: Collected, again: Sequence[int]) -> np.ndarray:
    """Return which rows an earlier part of the file has, too: parts begin with a header."""
    _, row = np.unique(jobs["row"], return_inverse=True)
    part = np.searchsorted(again, jobs["line"])
    pairs, times = np.unique(row * (len(again) + 1) + part, return_counts=True)
    most = np.zeros(row.max(initial=-1) + 1, dtype=int)
    np.maximum.at(most, pairs // (len(again) + 1), times)
    order = np.lexsort((jobs["line"], row))
    first = np.flatnonzero(np.diff(row[order], prepend=-1))
    nth = np.arange(len(row)) - np.repeat(first, np.diff(first, append=len(row)))
    out = np.zeros(len(row), dtype=bool)
    out[order] = nth >= most[row[order]]
    return out


def _requested(rows: Rows, times: str = "") -> np.ndarray:
    """Return each job's GPUs: a count or parts of a GPU, beside a count of one parts of that GPU; times another count."""
    keys = [key for key in ("gpus", "gpu_milli") if key in rows.columns]
    gpus, *parts = (rows.read(key, partial(gpus_of, factor=rows.unit(key))) for key in keys)
    for part in parts:
        agree = (part == 1) | ((gpus == 1) & (part < 1)) | ((gpus == 0) & (part == 0))
        rows.leave_out(~agree, "audit.row.gpu milli", rows.columns["gpu_milli"], fault=True)
        gpus = gpus * part
    if times:
        gpus, counts = np.round(gpus * rows.read(times, count_of), 9), rows.columns[times]
        rows.leave_out(gpus > MAX_GPUS, "audit.row.too many gpus", counts, fault=True, most=MAX_GPUS)
    return np.asarray(gpus)


def _multiplier(table: Table, at: Mapping[str, int], given: Mapping[str, str]) -> str:
    """Return the count that multiplies GPUs, if any: as given, or as the names of columns say; and say where it is doubtful."""
    if "times" in given:
        return "times" if given["times"] else ""
    counts = [key for key in MULTIPLIERS if key in at]
    name = table.header[at["gpus" if "gpus" in at else "gpu_milli"]]
    several = bool(counts) and any(text.strip() != "1" for text in table.values(at[counts[0]]))
    times, note = _of_what(words_of(name), counts, several=several)
    values = {"name": show(name), "count": show(table.header[at[counts[0]]]) if counts else ""}
    table.notes += (said(note, **values),) if note else ()
    return times


def _of_what(words: Sequence[str], counts: Sequence[str], *, several: bool) -> tuple[str, str]:
    """Return the count of what a column has the GPUs of, by the words of its name, and the key of a note."""
    if "per" in words or words[-1:] == ["each"]:
        preferred = PER.get(words[-1], "times")
        times = preferred if preferred in counts else "".join(counts[:1])
        return times, "" if counts else "audit.note.gpus per"
    if counts[:1] == ["times"] and not OF_JOB & {*words} and words != ["gpu", "num"]:
        return "times", "audit.note.gpus of each"
    return "", "audit.note.gpus of job" if several else ""


def _check_lengths(table: Table, at: Mapping[str, int], clock: Clock) -> None:
    """Read durations in the unit in which they agree with starts and ends, if that is another one than their name says."""
    if not at.keys() >= {"duration", "start", "end"} or table.read["duration"].by == "hand":
        return
    rows = table.first_rows(at, clock)
    stated = rows.unit("duration")
    length = rows.read("duration", partial(duration_s, unit_s=stated))
    ratios = (rows.time("end") - rows.time("start")) / np.where(length > 0, length, math.nan)
    seconds = stated * median([*ratios[np.isfinite(ratios)]] or [1.0])
    unit = next((unit for unit in UNITS["time"].values() if abs(seconds / unit.factor - 1) < NEAR), None)
    if unit and unit.factor != stated:
        table.read["duration"] = table.read["duration"]._replace(unit=unit, by="end")


def read_jobs(table: Table, given: Mapping[str, str], clock: Clock) -> Jobs:
    """Read the jobs of a file with one job per row; jobs that still run end with the file."""
    at = _columns(table, given)
    _check_lengths(table, at, clock)
    times = _multiplier(table, at, given)
    unused = {*MULTIPLIERS} - {times} | ({"work"} if at.keys() & {"duration", "end"} else set())
    at = {key: place for key, place in at.items() if key not in unused}
    log, jobs = Log(clock), JobRows(partial(_requested, times=times))
    now = np.zeros(1)
    for rows in table.rows(at, log):
        if "interval" in at:
            gaps = rows.read("interval", partial(duration_s, unit_s=rows.unit("interval")))
            now = np.cumsum(np.concatenate([now[-1:], np.nan_to_num(gaps)]))
        jobs.take(rows, now[1:] if "interval" in at else None)
    log.check(len(jobs), "audit.none.jobs")
    clock.relative = clock.relative or "interval" in at
    days = all(key in at and table.dates_only(at[key]) for key in ("start", "end"))
    notes = {
        **jobs.cut(log, table.again, named="job" in at),
        "audit.note.only dates": "duration" not in at and days,
        "audit.note.rounded up": int(((jobs["gpus"] > 1) & (jobs["gpus"] % 1 > 0)).sum()),
        "audit.note.no group of jobs": "group" not in at,
        "audit.note.intervals": "interval" in at,
        "audit.note.only starts": "start" in at and "submit" not in at,
    }
    return jobs.done(log.reading("jobs", len(jobs), table.columns(at), notes))


def _columns(table: Table, given: Mapping[str, str]) -> dict[str, int]:
    """Return the columns of jobs; refuse a table without what is needed, or with lists of devices as their number."""
    at = table.find(JOB_COLUMNS, given)
    timed = at.keys() & {"submit", "start", "interval"}
    if not at.keys() & {"gpus", "gpu_milli"} or not timed or not at.keys() & {"duration", "end", "work"}:
        raise table.missing("audit.needs.jobs")
    counts = table.values(at["gpus"]) if "gpus" in at and table.delimiter == "," else []
    if ids := next(filter(IDS.fullmatch, counts), ""):
        raise refusal("audit.ids of gpus", where=table.header[at["gpus"]], value=show(ids))
    if timed != {"interval"}:
        at.pop("interval", None)
    return at


def read_requests(table: Table, given: Mapping[str, str], clock: Clock) -> Requests:
    """Read the requests of a file with one request per row."""
    at = table.find(REQUEST_COLUMNS, given)
    if not at.keys() >= {"time", "tokens_in", "tokens_out"}:
        raise table.missing("audit.needs.requests")
    log, requests = Log(clock), Collected("time_s", "tokens_in", "tokens_out", marks=ROW)
    for rows in table.rows(at, log):
        time = rows.time("time")
        tokens_in, tokens_out = (rows.read(key, count_of) for key in ("tokens_in", "tokens_out"))
        rows.leave_out(tokens_in == 0, "audit.row.no prompt", rows.columns["tokens_in"])
        rows.leave_out(tokens_out == 0, "audit.row.no answer", rows.columns["tokens_out"])
        requests.add(rows.kept, time_s=time, tokens_in=tokens_in, tokens_out=tokens_out, **_row(rows))
        requests.add_names(group=rows.texts("group", ALL))
    log.check(len(requests), "audit.none.requests")
    line = requests["line"]
    out = _of_runs(requests, REQUEST, (line,)) if "job" in at else _of_parts(requests, table.again)
    if out.any():
        log.add((said("audit.row.request again"), False), int(out.sum()), int(line[out].min()))
        requests.keep(~out)
    notes = {"audit.note.no group of requests": "group" not in at}
    reading = log.reading("requests", len(requests), table.columns(at), notes)
    order = np.argsort(requests["time_s"], kind="stable")
    columns = {name: values for name, values in requests.columns().items() if name not in ROW}
    return Requests(**columns, reading=reading).where(order)
