"""Traces: files of jobs, or of samples of the activity of GPUs -> numbers, and what could be read of them.

Nothing is guessed in silence. A row that cannot be read is left out and counted with its reason and its first line; a
file of which less than half can be read is refused. Jobs say which GPUs were allocated, samples how busy the chips were:
two figures, in two records.

What a file of ``sacct`` means follows [slurm-sacct]_, GPUs for each node [slurm-sbatch]_ and the total of a job
[slurm-gres-header]_. The counters of DCGM follow [nvidia-dcgm-header]_, what they read under MIG [dcgm-exporter-216]_ and
[dcgm-80]_, MIG instances of a GPU [nvidia-mig-user-guide-610]_, the answer of Prometheus [prometheus-http-api]_.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import math
import re
import zlib
from array import array
from collections.abc import Iterable, Iterator, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from os import PathLike
from typing import Any, BinaryIO, NamedTuple
from zoneinfo import ZoneInfo

import numpy as np

from gpuplan.scenario import MAX_GPUS, Problem, one_line, show

FORMATS = ("auto", "jobs", "sacct", "samples", "nvidia-smi", "prometheus")
MAX_ROWS = 20_000_000
MAX_CHARACTERS = 2_000_000_000
MAX_JSON_BYTES = 100_000_000
MAX_JSON_VALUES = 12_000_000
"""Commas and brackets: three for each sample."""
MAX_LINE = 1_000_000
MAX_RATIO = 100
FREE_BYTES = 200_000
"""A packed file may unpack to so many times its size; a smaller one to what one of this size may."""
MAX_COLUMNS = 20_000
MAX_NAME = 60
MAX_NAMES = 200_000
"""Groups, users or GPUs of a file."""
NO_GROUP = "no group"
ALL = "all"

JOB_COLUMNS: Mapping[str, tuple[str, ...]] = {
    "submit": ("submit", "submit_time", "submitted", "timestamp", "arrival", "arrival_time", "time"),
    "start": ("start", "start_time", "started"),
    "end": ("end", "end_time", "finish_time", "finished"),
    "duration": ("duration", "run_time", "runtime", "elapsed", "elapsedraw"),
    "interval": ("interval",),
    "gpus": ("gpus", "num_gpus", "gpu_num", "gpu_count", "ngpus", "n_gpus"),
    "group": ("group", "cluster", "vc", "account", "project", "queue", "partition"),
    "user": ("user", "user_name", "username", "uid"),
    "state": ("state", "status", "job_state", "new_status"),
}
"""What a file of jobs may hold, and the names it is recognised by, the first one first."""

SACCT_COLUMNS: Mapping[str, tuple[str, ...]] = {
    "job": ("jobid", "jobidraw"),
    "submit": ("submit",),
    "start": ("start",),
    "end": ("end",),
    "duration": ("elapsedraw", "elapsed"),
    "gpus": ("alloctres", "allocgres"),
    "requested": ("reqtres", "reqgres"),
    "nodes": ("nnodes", "allocnodes"),
    "group": ("account", "partition"),
    "user": ("user",),
    "state": ("state",),
}
"""What is read of the output of sacct."""

SAMPLE_COLUMNS: Mapping[str, tuple[str, ...]] = {
    "time": ("time", "timestamp", "date", "datetime", "ts"),
    "gpu": ("gpu", "gpu_uuid", "uuid", "gpu_id", "pci_bus_id", "serial", "device", "index", "gpu_index"),
    "host": ("host", "hostname", "node", "instance"),
    "percent": (
        "percent",
        "per_cent",
        "pct",
        "utilization_gpu",
        "gpu_utilization",
        "gpu_utilisation",
        "gpu_util",
        "utilization",
        "utilisation",
        "util",
        "activity",
    ),
    "group": ("group", "namespace", "account", "project", "team", "queue", "partition"),
    "user": ("user", "user_name", "username", "uid"),
    "mig": ("mig_mode_current",),
}
"""What a file of samples may hold."""

PROMETHEUS_KEYS = ("metric", "group", "time", "value")

COUNTERS: Mapping[str, float] = {
    "DCGM_FI_PROF_GR_ENGINE_ACTIVE": 100.0,
    "DCGM_FI_PROF_GR_ENGINE_UTIL_RATIO": 100.0,
    "DCGM_FI_PROF_SM_ACTIVE": 100.0,
    "DCGM_FI_PROF_SM_UTIL_RATIO": 100.0,
    "DCGM_FI_DEV_GPU_UTIL": 1.0,
}
"""Counters of activity, the one to prefer first, and what makes per cent of them: all but the last are ratios from 0 to 1.
DCGM 4 calls the first and the third by the names after them."""

BLIND_UNDER_MIG = "DCGM_FI_DEV_GPU_UTIL"
MIG_COUNTER = "DCGM_FI_PROF_GR_ENGINE_ACTIVE"
UNDER_MIG = (
    f"under MIG this counter is empty or reads zero whatever the GPU does. Export {MIG_COUNTER} (the share of time in which the "
    "graphics or compute engine is active, from 0 to 1) from DCGM, which MIG instances have, and read that"
)

UNIT_S: Mapping[str, float] = {
    "ms": 0.001,
    "s": 1,
    "sec": 1,
    "seconds": 1,
    "min": 60,
    "minutes": 60,
    "h": 3600,
    "hours": 3600,
}
"""Ending of a column's name -> its unit in seconds."""

WAITING = {"pending", "pd", "queued", "waiting"}
NO_VALUE = {"", "n/a", "[n/a]", "none", "unknown", "null", "nan", "[not supported]", "not supported", "-"}


class TraceError(ValueError):
    """A file that cannot be used. ``problems`` names each line, what stands there and what is expected."""

    def __init__(self, *problems: Problem) -> None:
        self.problems = problems
        super().__init__(
            "\n".join(
                ": ".join(part for part in (p.path, p.value, p.message) if part) if p.path else p.message
                for p in problems
            )
        )


class Skipped(NamedTuple):
    """Rows left out for one reason."""

    reason: str
    rows: int
    first_line: int
    example: str


@dataclass(frozen=True, slots=True)
class Reading:
    """What could be read of a file."""

    format: str
    rows: int
    """Rows of data, header not counted; for an answer of Prometheus, samples."""
    used: int
    skipped: tuple[Skipped, ...]
    notes: tuple[str, ...]
    columns: Mapping[str, str]
    """What was read -> the column it stands in."""
    time_zone: str
    """Time zone of the times that state none."""


@dataclass(frozen=True, slots=True, eq=False)
class Jobs:
    """Jobs that held GPUs: one element of each array for each job, times in seconds since 1970, UTC."""

    submit_s: np.ndarray
    start_s: np.ndarray
    """The same as ``submit_s`` where starts are not known."""
    has_start: bool
    """Whether submit and start are both known, so that waits are seen."""
    duration_s: np.ndarray
    gpus: np.ndarray
    group: np.ndarray
    """Index into ``groups``."""
    groups: tuple[str, ...]
    user: np.ndarray
    """A number for each user, 0 for all if users are not known."""
    users: int
    """Distinct users, 0 if they are not known."""
    reading: Reading

    def where(self, chosen: np.ndarray) -> Jobs:
        """Some of the jobs, by a mask or by their numbers; groups keep their numbers."""
        users = len(np.unique(self.user[chosen])) if self.users else 0
        return replace(
            self,
            submit_s=self.submit_s[chosen],
            start_s=self.start_s[chosen],
            duration_s=self.duration_s[chosen],
            gpus=self.gpus[chosen],
            group=self.group[chosen],
            user=self.user[chosen],
            users=users,
        )

    def with_groups(self, group: np.ndarray, groups: tuple[str, ...]) -> Jobs:
        """The same jobs in other groups."""
        return replace(self, group=group, groups=groups)


@dataclass(frozen=True, slots=True, eq=False)
class Samples:
    """Samples of how busy the chip was: one element of each array for each sample."""

    time_s: np.ndarray
    gpu: np.ndarray
    """Index into ``gpus``."""
    group: np.ndarray
    """Index into ``groups``."""
    percent: np.ndarray
    weight: np.ndarray
    """Share of the GPU sampled: 1, or for a MIG instance its compute slices over those of the GPU."""
    groups: tuple[str, ...]
    gpus: tuple[str, ...]
    metric: str
    reading: Reading
    quantity: str = "activity"
    """Never the share of GPUs allocated, which is another figure."""


def read_trace(
    path: str | PathLike[str] | BinaryIO,
    *,
    format: str = "auto",
    columns: Mapping[str, str] | None = None,
    time_zone: str = "UTC",
) -> Jobs | Samples:
    """Jobs or samples of a file.

    Parameters
    ----------
    path : path or binary file
        CSV (comma, semicolon, tab or |, UTF-8 or UTF-16 with its mark), JSON of Prometheus, either packed with gzip or not.
    format : str
        One of `FORMATS`; ``auto`` goes by the header.
    columns : mapping of str to str
        Name of the file's column for what is read: keys of `JOB_COLUMNS`, `SACCT_COLUMNS`, `SAMPLE_COLUMNS` or
        `PROMETHEUS_KEYS`. For Prometheus ``group`` names a label and ``metric`` the counter where a query has dropped it.
    time_zone : str
        IANA name of the zone of times that state no offset. Of a local time that comes twice the first is taken, one that a
        clock change leaves out is read with the offset before it; both are counted in the notes.

    Returns
    -------
    Jobs or Samples
        With a `Reading` that says what was used, what was left out and why.

    Raises
    ------
    TraceError
        Naming the line and what is expected.
    """
    if format not in FORMATS:
        raise TraceError(Problem("format", show(format), "one of " + ", ".join(FORMATS)))
    try:
        clock = _Clock(ZoneInfo(time_zone))
    except (KeyError, ValueError, OSError):
        raise TraceError(
            Problem("time_zone", show(time_zone), "an IANA name such as Europe/Berlin or UTC")
        ) from None
    given = dict(columns or {})
    try:
        with open(path, "rb") if isinstance(path, str | PathLike) else nullcontext(path) as file:
            return _read(file, format, given, clock)
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise TraceError(Problem("", "", f"the file cannot be unpacked: {error}")) from error
    except csv.Error as error:
        raise TraceError(
            Problem("", "", f"the file is no CSV: {error}; is a quotation mark left open?")
        ) from error
    except RecursionError as error:
        raise TraceError(Problem("", "", "the file is nested too deeply")) from error
    except OSError as error:
        name = one_line(str(path)) if isinstance(path, str | PathLike) else "the file"
        raise TraceError(Problem("", "", f"cannot read {name}: {error.strerror or error}")) from error


def _read(file: BinaryIO, format: str, given: dict[str, str], clock: _Clock) -> Jobs | Samples:
    packed: Any = io.BufferedReader(file) if isinstance(file, io.RawIOBase) else file
    head = packed.read(4096)
    raw = _Again(head, packed)
    packed = io.BufferedReader(raw)
    if head[:2] == b"\x1f\x8b":
        packed = io.BufferedReader(_Inflated(raw, gzip.GzipFile(fileobj=packed)))
        head = packed.peek(4096)[:4096]
    _refuse_binary(head)
    utf16 = head[:2] in (b"\xff\xfe", b"\xfe\xff")
    text = io.TextIOWrapper(packed, encoding="utf-16" if utf16 else "utf-8-sig", errors="replace")
    start = head.decode("utf-16" if utf16 else "utf-8-sig", errors="replace").lstrip()
    if not start:
        raise TraceError(Problem("", "", "the file is empty: expected a header and rows"))
    if start[0] in "{[":
        if format not in ("auto", "prometheus"):
            raise TraceError(Problem("line 1", show(start[:20]), f"JSON, where format {format!r} is a CSV"))
        return _read_json(text, given, clock)
    return _read_csv(text, format, given, clock)


class _Again(io.RawIOBase):
    """A stream whose first bytes have been read already."""

    def __init__(self, head: bytes, rest: BinaryIO) -> None:
        self.head, self.rest = head, rest
        self.bytes = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        part = self.head or self.rest.read(len(buffer))
        part, self.head = part[: len(buffer)], part[len(buffer) :]
        buffer[: len(part)] = part
        self.bytes += len(part)
        return len(part)


class _Inflated(io.RawIOBase):
    """What a packed stream holds, as long as that is no more than text can hold."""

    def __init__(self, packed: _Again, unpacked: gzip.GzipFile) -> None:
        self.packed, self.unpacked = packed, unpacked
        self.bytes = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        part = self.unpacked.read(len(buffer))
        buffer[: len(part)] = part
        self.bytes += len(part)
        if self.bytes > MAX_RATIO * max(self.packed.bytes, FREE_BYTES):
            raise TraceError(
                Problem(
                    "", "", f"the file unpacks to more than {MAX_RATIO} times its size, which no trace does"
                )
            )
        return len(part)


def _refuse_binary(head: bytes) -> None:
    kinds = {
        b"PK": "a workbook or a zip archive: save the sheet as CSV, or unpack it",
        b"PAR1": "a Parquet file: write it as CSV",
        b"%PDF": "a PDF",
        b"\xd0\xcf\x11\xe0": "an old workbook: save the sheet as CSV",
        b"\x89PNG": "a picture",
        b"\xff\xd8\xff": "a picture",
        b"GIF8": "a picture",
        b"\x1f\x8b": "packed with gzip twice: unpack it once",
        b"BZh": "packed with bzip2: unpack it, or pack it with gzip",
        b"\xfd7zXZ": "packed with xz: unpack it, or pack it with gzip",
        b"\x28\xb5\x2f\xfd": "packed with zstd: unpack it, or pack it with gzip",
    }
    for magic, what in kinds.items():
        if head.startswith(magic):
            raise TraceError(Problem("", "", f"the file is {what}"))
    if b"\0" in head and head[:2] not in (b"\xff\xfe", b"\xfe\xff"):
        raise TraceError(
            Problem("", "", "the file is binary: expected text, a CSV or the JSON of Prometheus")
        )


# ---- times and numbers


class _Bad(Exception):
    """A value that cannot be read: what is expected, and the value."""


class _Clock:
    """Reads times. Most of the work is remembered for ten minutes of clock time, in which no zone changes its offset."""

    def __init__(self, zone: ZoneInfo) -> None:
        self.zone = zone
        self.known: dict[str, float] = {}
        self.tails: dict[str, float] = {}
        self.odd: dict[str, str] = {}
        self.twice = 0
        self.missing = 0
        self.relative = True

    TIME = re.compile(
        r"(\d{4})[-/](\d\d?)[-/](\d\d?)(?:[ T](\d\d?):(\d\d)(?::(\d\d(?:[.,]\d+)?))?\s*(Z|UTC|GMT|[+-]\d\d(?::?\d\d)?)?)?",
        re.IGNORECASE,
    )
    TAIL = re.compile(r"(\d):(\d\d(?:\.\d+)?)", re.ASCII)
    LATEST_S = datetime(2200, 1, 1, tzinfo=UTC).timestamp()

    def __call__(self, text: str) -> float:
        """Seconds since 1970, UTC."""
        base = self.known.get(text[:15])
        if base is not None:
            rest = self.tails.get(text[15:])
            if rest is None:
                rest = self._tail(text[15:])
            if rest < 600:
                if self.odd:
                    self._count(text[:15])
                return base + rest
        return self._slow(text)

    def _tail(self, text: str) -> float:
        """Seconds after ten minutes of ``7:30``; infinite for anything else."""
        match = self.TAIL.fullmatch(text)
        rest = 60 * int(match[1]) + float(match[2]) if match and float(match[2]) < 60 else math.inf
        if len(self.tails) < 10_000:
            self.tails[text] = rest
        return rest

    def _count(self, minutes: str) -> None:
        kind = self.odd.get(minutes)
        self.twice += kind == "twice"
        self.missing += kind == "missing"

    def _slow(self, text: str) -> float:
        text = text.strip()
        match = self.TIME.fullmatch(text)
        if match is None:
            return self._epoch(text)
        self.relative = False
        year, month, day, hour, minute = (int(part or 0) for part in match.groups()[:5])
        seconds = float((match[6] or "0").replace(",", "."))
        try:
            tens = datetime(year, month, day, hour, minute - minute % 10, tzinfo=self.zone)
            if minute > 59 or seconds >= 61 or not 1970 <= year < 2200:
                raise ValueError
        except ValueError:
            raise _Bad("is no time", text) from None
        rest = 60 * (minute % 10) + seconds
        if match[7]:
            return tens.replace(tzinfo=UTC).timestamp() + rest - _offset_s(match[7])
        key = text[:15]
        if (later := tens.replace(fold=1)).utcoffset() != tens.utcoffset():
            before, after = tens.utcoffset(), later.utcoffset()
            assert before is not None and after is not None
            self.odd[key] = "twice" if after < before else "missing"
        if len(self.known) > 200_000:
            self.known.clear()
        base = tens.timestamp()
        if re.fullmatch(r"\d{4}[-/]\d\d[-/]\d\d[ T]\d\d:\d", key):
            self.known[key] = base
        self._count(key)
        return base + rest

    def _epoch(self, text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            raise _Bad("is no time", text) from None
        if value > 1e11:
            value /= 1000
        if not 0 <= value < self.LATEST_S:
            raise _Bad("is no time", text)
        self.relative = self.relative and value < 1e8
        return value

    def notes(self) -> list[str]:
        """What has to be said about the times read."""
        found = []
        if self.twice:
            found.append(
                f"{self.twice} times come twice in {self.zone.key} where clocks go back: the first is taken"
            )
        if self.missing:
            found.append(
                f"{self.missing} times do not exist in {self.zone.key} where clocks go forward: the offset before the change is used"
            )
        if self.relative:
            found.append(
                "Times count from an unknown moment: the hours of the day and the week are not the real ones"
            )
        return found


def _offset_s(text: str) -> float:
    if text[0] not in "+-":
        return 0.0
    digits = text[1:].replace(":", "").ljust(4, "0")
    return (1 if text[0] == "+" else -1) * (3600 * int(digits[:2]) + 60 * int(digits[2:]))


DURATION = re.compile(r"(-?)(?:(\d{1,9})(?:-| days?,? ))?(?:(\d{1,9}):)?(\d{1,9}):(\d\d(?:\.\d+)?)")


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        try:
            return float(text.strip().replace(",", "."))
        except ValueError:
            raise _Bad("is no number", text) from None


def _duration_s(text: str, unit_s: float) -> float:
    """Seconds of ``90``, ``01:30``, ``00:01:30`` or ``2-00:01:30``."""
    try:
        value = float(text) * unit_s
    except ValueError:
        match = DURATION.fullmatch(text.strip())
        if match is None:
            raise _Bad("is no length of time (seconds, HH:MM:SS or D-HH:MM:SS)", text) from None
        sign, days, hours, minutes, seconds = match.groups()
        value = 86400 * int(days or 0) + 3600 * int(hours or 0) + 60 * int(minutes) + float(seconds)
        value = -value if sign else value
    if value < 0:
        raise _Bad("is negative", text)
    if not value < 1e10:
        raise _Bad("is no length of time (seconds, HH:MM:SS or D-HH:MM:SS)", text)
    return value


def _gpus(text: str) -> float:
    value = _number(text)
    if not 0 <= value <= MAX_GPUS or (value > 1 and value != int(value)):
        raise _Bad(f"is no count of GPUs (a fraction of one, or a whole number up to {MAX_GPUS})", text)
    return value


# ---- tables


class _Names(dict[str, int]):
    """Codes for names. A name is cut to what a table can show; two that look the same then stay apart."""

    def __init__(self) -> None:
        super().__init__()
        self.shown: dict[str, None] = {}
        self.alike: dict[str, int] = {}

    def __missing__(self, text: str) -> int:
        if text != text.strip():
            self[text] = self[text.strip()]
            return self[text]
        code = self[text] = len(self.shown)
        if code >= MAX_NAMES:
            raise TraceError(
                Problem(
                    "",
                    "",
                    f"a column of names holds {MAX_NAMES} different ones or more: name the columns by hand if it is none",
                )
            )
        name = one_line(text[: 2 * MAX_NAME] or NO_GROUP)
        shown = name[:MAX_NAME]
        n = self.alike.get(shown, 1)
        while shown in self.shown:
            n += 1
            shown = f"{name[: MAX_NAME - len(str(n)) - 1]}~{n}"
        self.alike[name[:MAX_NAME]] = n
        self.shown[shown] = None
        return code


class _Log:
    """Counts rows and what is left out of them."""

    def __init__(self) -> None:
        self.rows = 0
        self.left: dict[str, list[Any]] = {}
        self.bad: dict[str, list[Any]] = {}

    def add(self, kind: dict[str, list[Any]], reason: str, line: int, example: str = "") -> None:
        entry = kind.get(reason)
        if entry is None:
            kind[reason] = [1, line, show(example)]
        else:
            entry[0] += 1

    def skipped(self) -> tuple[Skipped, ...]:
        both = [Skipped(reason, *entry) for kind in (self.bad, self.left) for reason, entry in kind.items()]
        return tuple(sorted(both, key=lambda s: (-s.rows, s.first_line)))

    def check(self, used: int, what: str) -> None:
        """Refuse a file of which more than half is bad, or nothing is left."""
        if not self.rows:
            raise TraceError(Problem("", "", "the file has a header and no rows"))
        bad = sum(entry[0] for entry in self.bad.values())
        if used and 2 * bad <= self.rows:
            return
        worst = self.bad if 2 * bad > self.rows else {**self.left, **self.bad}
        commonest = sorted(worst.items(), key=lambda item: -item[1][0])[:3]
        first = (
            f"{bad} of {self.rows} rows cannot be read" if bad else f"none of {self.rows} rows holds {what}"
        )
        raise TraceError(
            Problem("", "", first),
            *(
                Problem(f"line {line}", example, f"{reason} ({count} rows)")
                for reason, (count, line, example) in commonest
            ),
        )


def _lines(text: io.TextIOWrapper) -> Iterator[str]:
    size = 0
    rest = ""
    while chunk := text.read(MAX_LINE):
        size += len(chunk)
        if size > MAX_CHARACTERS:
            raise TraceError(
                Problem(
                    "", "", f"the file is longer than {MAX_CHARACTERS} characters: read a part of the period"
                )
            )
        first, *others = chunk.split("\n")
        if not others and rest:
            raise TraceError(
                Problem(
                    "", "", f"a line is longer than {MAX_LINE} characters: expected a CSV with a row a line"
                )
            )
        rest += first
        if others:
            yield rest
            rest = others.pop()
            yield from others
    if rest:
        yield rest


def _norm(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")


def _without_unit(name: str) -> tuple[str, float]:
    stem, _, unit = name.rpartition("_")
    return (stem, UNIT_S[unit]) if stem and unit in UNIT_S else (name, 1.0)


class _Table:
    """A CSV with its header, its delimiter and the columns found."""

    def __init__(self, text: io.TextIOWrapper) -> None:
        lines = _lines(text)
        self.blank = 0
        while not (first := next(lines)).strip():
            self.blank += 1
        self.delimiter = max(",;\t|", key=first.count)
        self.reader = csv.reader(self._from(first, lines), delimiter=self.delimiter, skipinitialspace=True)
        self.header = [name.strip() for name in next(self.reader)]
        if self.header and not self.header[-1]:
            self.header.pop()
        if len(self.header) > MAX_COLUMNS:
            raise TraceError(
                Problem("line 1", f"{len(self.header)} columns", f"more than the {MAX_COLUMNS} that are read")
            )
        self.names = [_norm(name) for name in self.header]
        if len(self.header) < 2:
            raise TraceError(
                Problem(
                    "line 1",
                    show(first.strip()),
                    "no delimiter found: expected a header whose columns are divided by comma, semicolon, tab or |",
                )
            )

    @staticmethod
    def _from(first: str, lines: Iterable[str]) -> Iterator[str]:
        yield first
        yield from lines

    @property
    def line(self) -> int:
        return self.reader.line_num + self.blank

    def rows(self, log: _Log) -> Iterator[list[str]]:
        """The rows that have as many cells as the header; a last empty one, as ``sacct --parsable`` writes it, does no harm."""
        width = len(self.header)
        for row in self.reader:
            if not row:
                if self.reader.line_num > 2 * MAX_ROWS:
                    raise TraceError(Problem(f"line {self.line}", "", "the file is mostly empty lines"))
                continue
            log.rows += 1
            if len(row) != width:
                if len(row) == width + 1 and not row[-1].strip():
                    row.pop()
                else:
                    reason = f"has not the {width} cells of the header"
                    log.add(log.bad, reason, self.line, self.delimiter.join(row))
                    continue
            yield row
            if log.rows >= MAX_ROWS:
                raise TraceError(
                    Problem(f"line {self.line}", "", f"{MAX_ROWS} rows or more: read a part of the period")
                )

    def find(self, known: Mapping[str, tuple[str, ...]], given: Mapping[str, str]) -> dict[str, int]:
        """Where each thing stands: as told, else by the common names, with or without a unit at their end."""
        problems = [
            Problem(f"columns.{key}", show(key), "not read here; known are " + ", ".join(known))
            for key in given
            if key not in known
        ] + [
            Problem(f"columns.{key}", show(name), f"no such column; there are {self.listed()}")
            for key, name in given.items()
            if key in known and name not in self.header
        ]
        if problems:
            raise TraceError(*problems)
        found = {key: self.header.index(name) for key, name in given.items()}
        plain = [_without_unit(name)[0] for name in self.names]
        for key, options in known.items():
            if key in found:
                continue
            for option in options:
                place = next((at for at, name in enumerate(self.names) if name == option), None)
                if place is None:
                    place = next((at for at, name in enumerate(plain) if name == option), None)
                if place is not None and place not in found.values():
                    found[key] = place
                    break
        return found

    def listed(self) -> str:
        return ", ".join(show(name) for name in self.header[:40])

    def missing(self, format: str, needs: str) -> TraceError:
        return TraceError(Problem("line 1", self.listed(), f"format {format} needs {needs}"))


def _read_csv(text: io.TextIOWrapper, format: str, given: dict[str, str], clock: _Clock) -> Jobs | Samples:
    table = _Table(text)
    if format == "auto":
        format = _recognise(table, given)
    if format == "sacct":
        return _read_sacct(table, given, clock)
    if format == "jobs":
        return _read_jobs(table, given, clock)
    if format == "prometheus":
        return _read_prometheus_csv(table, given, clock)
    return _read_samples(table, format, given, clock)


def _recognise(table: _Table, given: Mapping[str, str]) -> str:
    names = set(table.names)
    if "jobid" in names or "jobidraw" in names:
        for name in ("alloctres", "reqtres", "allocgres", "reqgres"):
            if name in names:
                return "sacct"
    if any(name.lower().startswith("utilization.gpu") for name in table.header):
        return "nvidia-smi"
    if any("DCGM_FI_" in name or name == "__name__" or "{" in name for name in table.header):
        return "prometheus"
    if "value" in names and names & {"uuid", "modelname", "gpu"}:
        return "prometheus"
    if given.keys() & {"gpus", "duration", "submit", "start", "end"}:
        return "jobs"
    if given.keys() & {"percent", "gpu", "time"}:
        return "samples"
    jobs = table.find(JOB_COLUMNS, {})
    if "gpus" in jobs and jobs.keys() & {"duration", "end"}:
        return "jobs"
    samples = table.find(SAMPLE_COLUMNS, {})
    if {"time", "percent"} <= samples.keys():
        return "samples"
    if all(re.fullmatch(r"[\d\s.:/%-]*|\[?N/A\]?|GPU-.*|NVIDIA .*", name) for name in table.header):
        raise TraceError(
            Problem(
                "line 1",
                table.listed(),
                "the file has no header: export it with one (nvidia-smi without noheader, sacct without --noheader)",
            )
        )
    raise TraceError(
        Problem(
            "line 1",
            table.listed(),
            "not recognised. Jobs need a time (submit or start), a duration or an end, and gpus; samples a time, a gpu and a per "
            "cent; sacct JobID and AllocTRES. Name the columns by hand where they are called otherwise",
        )
    )


# ---- jobs


class _JobRows:
    """Jobs as they are read."""

    def __init__(self) -> None:
        self.submit, self.start, self.duration, self.gpus = (array("d") for _ in range(4))
        self.group, self.user = array("i"), array("i")
        self.groups, self.users = _Names(), _Names()

    def add(self, submit: float, start: float, duration: float, gpus: float, group: str, user: str) -> None:
        self.submit.append(submit)
        self.start.append(start)
        self.duration.append(duration)
        self.gpus.append(gpus)
        self.group.append(self.groups[group])
        self.user.append(self.users[user])

    def done(self, has_start: bool, knows_users: bool, reading: Reading) -> Jobs:
        return Jobs(
            submit_s=np.frombuffer(self.submit),
            start_s=np.frombuffer(self.start),
            has_start=has_start,
            duration_s=np.frombuffer(self.duration),
            gpus=np.frombuffer(self.gpus),
            group=np.frombuffer(self.group, dtype=np.intc),
            groups=tuple(self.groups.shown),
            user=np.frombuffer(self.user, dtype=np.intc),
            users=len(self.users.shown) if knows_users else 0,
            reading=reading,
        )


def _reading(
    format: str, table: _Table, at: Mapping[str, int], log: _Log, used: int, clock: _Clock, notes: list[str]
) -> Reading:
    return Reading(
        format=format,
        rows=log.rows,
        used=used,
        skipped=log.skipped(),
        notes=(*notes, *clock.notes()),
        columns={key: table.header[place] for key, place in at.items()},
        time_zone=clock.zone.key,
    )


def _until(end: str, begin: float, clock: _Clock) -> float:
    duration = clock(end) - begin
    if duration < 0:
        raise _Bad("is before the begin", end)
    return duration


def _leave_out(log: _Log, key: str, bad: _Bad, line: int) -> None:
    """A value that is not there is no fault of the file; one that cannot be read is."""
    reason, value = bad.args
    if value.strip().lower() in NO_VALUE:
        log.add(log.left, f"{key} is not known", line, value)
    else:
        log.add(log.bad, f"{key} {reason}", line, value)


def _read_jobs(table: _Table, given: Mapping[str, str], clock: _Clock) -> Jobs:
    at = table.find(JOB_COLUMNS, given)
    if (
        "gpus" not in at
        or not at.keys() & {"duration", "end"}
        or not at.keys() & {"submit", "start", "interval"}
    ):
        raise table.missing("jobs", "a time (submit or start), a duration or an end, and gpus")
    if at.keys() & {"submit", "start"}:
        at.pop("interval", None)
    units = {key: _without_unit(table.names[place])[1] for key, place in at.items()}

    place_of = {key: at.get(key, -1) for key in JOB_COLUMNS}
    of_submit, of_start, of_end, of_duration = (
        place_of[key] for key in ("submit", "start", "end", "duration")
    )
    of_interval, of_gpus, of_group, of_user = (place_of[key] for key in ("interval", "gpus", "group", "user"))
    of_state = place_of["state"]

    log, out = _Log(), _JobRows()
    key = ""
    now = 0.0
    for row in table.rows(log):
        try:
            if of_interval >= 0:
                key = "interval"
                now += _duration_s(row[of_interval], units["interval"])
            if of_state >= 0 and row[of_state].strip().lower() in WAITING:
                log.add(log.left, "never started", table.line, row[of_state])
                continue
            key = "gpus"
            gpus = _gpus(row[of_gpus])
            submit = now
            if of_submit >= 0:
                key = "submit"
                submit = clock(row[of_submit])
            begin = submit
            if of_start >= 0:
                key = "start"
                begin = clock(row[of_start])
                if of_submit < 0:
                    submit = begin
                elif begin < submit:
                    raise _Bad("is before submit", row[of_start])
            if of_duration >= 0:
                key = "duration"
                duration = _duration_s(row[of_duration], units["duration"])
            else:
                key = "end"
                duration = _until(row[of_end], begin, clock)
        except _Bad as bad:
            _leave_out(log, key, bad, table.line)
            continue
        if gpus == 0:
            log.add(log.left, "no GPUs", table.line, row[of_gpus])
        elif duration == 0:
            log.add(log.left, "ran for no time", table.line)
        else:
            group = row[of_group] if of_group >= 0 else ALL
            out.add(submit, begin, duration, gpus, group, row[of_user] if of_user >= 0 else "")
    log.check(len(out.gpus), "a job with GPUs")
    notes = []
    if "group" not in at:
        notes.append(
            "No column names a group: all jobs are one. Choose a column for the group, such as that of the user"
        )
    if "interval" in at:
        clock.relative = True
        notes.append(
            "Times are added up from the intervals between jobs; a row that cannot be read shifts those after it"
        )
    elif "submit" not in at:
        notes.append("Only starts are known: they stand for the time of the request, so waits are not seen")
    reading = _reading("jobs", table, at, log, len(out.gpus), clock, notes)
    return out.done("submit" in at and "start" in at, "user" in at, reading)


TRES = re.compile(r"(?:^|,)gres/gpu(:[^=,]*)?=(\d{1,9})")
GRES = re.compile(r"(?:^|,)(?:gres[:/])?gpu(?::(?=\d*[^\d:,(=])([^:,(=]+))?(?:[:=](\d{1,9}))?(?=[,(]|$)")
MIG_TYPE = re.compile(r"\d+g\.\d+gb")


def slurm_gpus(text: str) -> int:
    """GPUs of a list of Slurm's trackable or generic resources.

    Parameters
    ----------
    text : str
        Such as ``cpu=8,gres/gpu:a100=4,gres/gpu=4`` (AllocTRES) or ``gpu:a100:4`` (AllocGRES of old versions).

    Returns
    -------
    int
        The untyped total where there is one, else the sum over the types.

    Examples
    --------
    >>> slurm_gpus("billing=8,gres/gpu:a100=4,gres/gpu=4"), slurm_gpus("gpu:a100:2,gpu:v100:1"), slurm_gpus("cpu=4")
    (4, 3, 0)
    """
    found = [(kind, int(count)) for kind, count in TRES.findall(text)]
    if not found:
        found = [(kind, int(count or 1)) for kind, count in GRES.findall(text)]
    totals = [count for kind, count in found if not kind]
    return totals[0] if totals else sum(count for _, count in found)


def _read_sacct(table: _Table, given: Mapping[str, str], clock: _Clock) -> Jobs:
    at = table.find(SACCT_COLUMNS, given)
    if "job" not in at or not at.keys() & {"gpus", "requested"} or not at.keys() & {"submit", "start"}:
        raise table.missing(
            "sacct", "JobID, Submit or Start, AllocTRES or ReqTRES (in old versions AllocGRES or ReqGRES)"
        )
    if not at.keys() & {"duration", "end"}:
        raise table.missing("sacct", "ElapsedRaw, Elapsed or End")
    asked_each = "requested" in at and table.names[at["requested"]] == "reqgres"
    counts: dict[str, int] = {}

    def gpus_in(key: str, row: list[str]) -> int:
        text = row[at[key]] if key in at else ""
        count = counts.get(text)
        if count is None:
            if len(counts) > 100_000:
                counts.clear()
            count = counts[text] = slurm_gpus(text)
        return count

    log, out = _Log(), _JobRows()
    running = 0
    open_ends = array("q")
    latest = 0.0
    for row in table.rows(log):
        if "." in row[at["job"]]:
            log.add(log.left, "a step of a job", table.line, row[at["job"]])
            continue
        gpus = gpus_in("gpus", row)
        if gpus == 0:
            gpus = gpus_in("requested", row)
            if asked_each and gpus and "nodes" in at and re.fullmatch(r"\d{1,9}", row[at["nodes"]]):
                gpus *= max(1, int(row[at["nodes"]]))
        if gpus > MAX_GPUS:
            log.add(log.bad, f"more than {MAX_GPUS} GPUs", table.line, row[at["job"]])
            continue
        if gpus == 0:
            log.add(log.left, "no GPUs", table.line, row[at["job"]])
            continue
        begins = row[at["start"]] if "start" in at else ""
        if "start" in at and begins.strip().lower() in NO_VALUE:
            log.add(log.left, "never started", table.line, row[at["job"]])
            continue
        open_end = "end" in at and row[at["end"]].strip().lower() in NO_VALUE
        key = ""
        try:
            if "start" in at:
                key = "start"
                begin = submit = clock(begins)
            if "submit" in at:
                key = "submit"
                submit = clock(row[at["submit"]])
                if "start" not in at:
                    begin = submit
                elif begin < submit:
                    raise _Bad("is after start", row[at["submit"]])
            if "duration" in at:
                key = "duration"
                duration = _duration_s(row[at["duration"]], 1.0)
            elif open_end:
                duration = 0.0
                open_ends.append(len(out.gpus))
            else:
                key = "end"
                duration = _until(row[at["end"]], begin, clock)
        except _Bad as bad:
            _leave_out(log, key, bad, table.line)
            continue
        running += open_end or ("state" in at and row[at["state"]].upper().startswith("RUNNING"))
        if duration == 0 and not (open_end and "duration" not in at):
            log.add(log.left, "ran for no time", table.line, row[at["job"]])
            continue
        latest = max(latest, begin + duration)
        out.add(
            submit,
            begin,
            duration,
            gpus,
            row[at["group"]] if "group" in at else ALL,
            row[at["user"]] if "user" in at else "",
        )
    log.check(len(out.gpus), "a job with GPUs that started")
    for n in open_ends:
        out.duration[n] = max(1.0, latest - out.start[n])
    notes = []
    if running:
        cut = "the latest time in the file" if open_ends else "the time of the export"
        notes.append(
            f"{running} jobs still run: they are cut at {cut}, so they really hold their GPUs for longer"
        )
    if any(MIG_TYPE.search(text) for text in counts):
        notes.append("MIG instances (such as gpu:1g.10gb) are counted as whole GPUs, as Slurm counts them")
    if asked_each:
        notes.append(
            "ReqGRES states GPUs for each node: they are multiplied by the number of nodes where AllocGRES is empty"
        )
    if "submit" not in at:
        notes.append("Only starts are known: they stand for the time of the request, so waits are not seen")
    reading = _reading("sacct", table, at, log, len(out.gpus), clock, notes)
    return out.done("submit" in at and "start" in at, "user" in at, reading)


# ---- samples


class _SampleRows:
    """Samples as they are read."""

    def __init__(self) -> None:
        self.time, self.percent, self.weight = (array("d") for _ in range(3))
        self.gpu, self.group = array("i"), array("i")
        self.gpus, self.groups = _Names(), _Names()

    def add(self, time: float, gpu: int, group: int, percent: float, weight: float) -> None:
        self.time.append(time)
        self.gpu.append(gpu)
        self.group.append(group)
        self.percent.append(percent)
        self.weight.append(weight)

    def done(self, metric: str, reading: Reading) -> Samples:
        return Samples(
            time_s=np.frombuffer(self.time),
            gpu=np.frombuffer(self.gpu, dtype=np.intc),
            group=np.frombuffer(self.group, dtype=np.intc),
            percent=np.frombuffer(self.percent),
            weight=np.frombuffer(self.weight),
            groups=tuple(self.groups.shown),
            gpus=tuple(self.gpus.shown),
            metric=metric,
            reading=reading,
        )


def _percent(text: str, scale: float) -> float:
    value = _number(text.strip().removesuffix("%")) * scale
    if not 0 <= value <= 100.0001:
        raise _Bad(f"is outside 0 to {100 / scale:g}", text)
    return min(value, 100.0)


def _read_samples(table: _Table, format: str, given: Mapping[str, str], clock: _Clock) -> Samples:
    smi = format == "nvidia-smi"
    at = table.find(SAMPLE_COLUMNS, given)
    if "percent" not in at or "time" not in at or ("gpu" not in at and not smi):
        needs = (
            "timestamp and utilization.gpu (and uuid or index), with their header"
            if smi
            else "a time, a gpu and a per cent"
        )
        raise table.missing(format, needs)
    name = table.names[at["percent"]]
    scale = 100.0 if re.search(r"(^|_)(ratio|share|fraction)$", name) else 1.0
    metric = table.header[at["percent"]]
    group_at = at.get("group", at.get("user"))

    log, out = _Log(), _SampleRows()
    key = ""
    mig = 0
    for row in table.rows(log):
        if row[at["time"]] == table.header[at["time"]] and [c.strip() for c in row] == table.header:
            log.rows -= 1
            continue
        try:
            if "mig" in at and row[at["mig"]].strip().lower() == "enabled":
                mig += 1
                log.add(
                    log.left,
                    "a GPU in MIG mode, which has no utilization.gpu",
                    table.line,
                    row[at["percent"]],
                )
                continue
            if row[at["percent"]].strip().lower() in NO_VALUE or row[at["percent"]].startswith("["):
                log.add(log.left, "no value", table.line, row[at["percent"]])
                continue
            key = "time"
            time = clock(row[at["time"]])
            key = "percent"
            percent = _percent(row[at["percent"]], scale)
        except _Bad as bad:
            _leave_out(log, key, bad, table.line)
            continue
        gpu = row[at["gpu"]].strip() if "gpu" in at else "GPU"
        if "host" in at:
            gpu = f"{row[at['host']].strip()} {gpu}"
        group = row[group_at] if group_at is not None else ALL
        out.add(time, out.gpus[gpu], out.groups[group], percent, 1.0)
    empty = sum(entry[0] for reason, entry in log.left.items() if reason == "no value")
    if smi and not out.time and (mig or empty):
        raise TraceError(Problem("", "", f"no row has a value of utilization.gpu: {UNDER_MIG}"))
    log.check(len(out.time), "a sample")
    notes = []
    if smi and (mig or empty):
        notes.append(
            f"{mig + empty} samples have no utilization.gpu, as GPUs in MIG mode have none: {UNDER_MIG}"
        )
    if scale == 1 and max(out.percent) <= 1:
        notes.append(
            "No sample is above 1: if the column holds shares from 0 to 1, let its name end in _ratio"
        )
    if group_at is None:
        notes.append("No column names a group: all samples are one")
    if smi and "gpu" in at and table.names[at["gpu"]] in ("index", "gpu_index") and "host" not in at:
        notes.append("GPUs are told apart by their index: samples of several hosts need the uuid")
    return out.done(metric, _reading(format, table, at, log, len(out.time), clock, notes))


# ---- Prometheus

LABEL = re.compile(r'(?<!\w)([A-Za-z_]\w*)\s*=\s*"((?:[^"\\]|\\.)*)"')
PROFILE = re.compile(r"(\d{1,3})g\.")
GPU_LABELS = ("UUID", "gpu_uuid", "uuid")
HOST_LABELS = ("Hostname", "hostname", "instance", "node")
GROUP_LABELS = ("exported_namespace", "namespace", "exported_pod", "pod", "exported_container", "container")


def _counter(labels: Mapping[str, str], given: Mapping[str, str]) -> str:
    return given.get("metric") or labels.get("__name__") or labels.get("metric") or ""


def _check_keys(given: Mapping[str, str]) -> None:
    unknown = [key for key in given if key not in PROMETHEUS_KEYS]
    if unknown:
        known = ", ".join(PROMETHEUS_KEYS)
        raise TraceError(
            *(Problem(f"columns.{key}", show(key), f"not read here; known are {known}") for key in unknown)
        )


def _check_counter(metric: str, where: str) -> None:
    if metric in COUNTERS:
        return
    known = ", ".join(COUNTERS)
    if not metric:
        raise TraceError(
            Problem(where, '""', f"the series have no name: say by columns metric which of {known} they are")
        )
    raise TraceError(Problem(where, show(metric), f"no counter of activity; known are {known}"))


def _has_mig(labels: Mapping[str, str]) -> bool:
    return bool(labels.get("GPU_I_ID") or labels.get("GPU_I_PROFILE"))


def mig_weight(profile: str, *, model: str) -> float:
    """Share of a GPU that a MIG instance is, by its compute slices.

    Parameters
    ----------
    profile : str
        Such as ``2g.10gb``; empty for a whole GPU.
    model : str
        Name of the GPU as DCGM states it.

    Returns
    -------
    float
        Compute slices of the instance over those of the GPU: 7, on the A30 and RTX PRO 6000 4, on the RTX PRO 5000 2.

    Examples
    --------
    >>> round(mig_weight("2g.10gb", model="NVIDIA A100-SXM4-40GB"), 4), mig_weight("2g.12gb", model="NVIDIA A30")
    (0.2857, 0.5)
    """
    match = PROFILE.match(profile)
    if match is None:
        return 1.0
    small = {r"\bA30\b": 4, r"RTX PRO 6000": 4, r"RTX PRO 5000": 2}
    slices = next((count for name, count in small.items() if re.search(name, model)), 7)
    return min(1.0, int(match[1]) / slices)


class _Series:
    """One time series: where its samples belong, and what makes per cent of its values."""

    __slots__ = ("gpu", "group", "scale", "weight")

    def __init__(
        self, labels: Mapping[str, str], metric: str, group_label: str | None, out: _SampleRows
    ) -> None:
        gpu = next((labels[name] for name in GPU_LABELS if labels.get(name)), "")
        if not gpu:
            host = next((labels[name] for name in HOST_LABELS if labels.get(name)), "")
            gpu = f"{host} {labels.get('gpu', labels.get('device', 'GPU'))}".strip()
        if _has_mig(labels):
            gpu = f"{gpu} MIG {labels.get('GPU_I_ID', labels.get('GPU_I_PROFILE', ''))}"
        names = (group_label,) if group_label else GROUP_LABELS
        group = next((labels[name] for name in names if labels.get(name)), "")
        if group_label is None and any(name.startswith("exported_") for name in labels):
            group = next((labels[n] for n in names if n.startswith("exported_") and labels.get(n)), "")
        self.scale = COUNTERS[metric]
        self.weight = mig_weight(labels.get("GPU_I_PROFILE", ""), model=labels.get("modelName", ""))
        self.gpu, self.group = out.gpus[gpu], out.groups[group]


def _refuse_mig(metrics: set[str], migs: set[str]) -> str:
    """The one counter to read of those in the file; that which is blind under MIG is refused there."""
    chosen = next(name for name in COUNTERS if name in metrics)
    if chosen == BLIND_UNDER_MIG and chosen in migs:
        raise TraceError(
            Problem(
                "", "", f"{chosen} of MIG instances (labels GPU_I_ID, GPU_I_PROFILE) is refused: {UNDER_MIG}"
            )
        )
    return chosen


def _prometheus_done(
    out: _SampleRows, log: _Log, metric: str, columns: Mapping[str, str], clock: _Clock, notes: list[str]
) -> Samples:
    log.check(len(out.time), "a sample")
    clock.relative = False
    if min(out.weight) < 1:
        notes.append("MIG instances count as their share of the GPU, by compute slices")
    reading = Reading(
        format="prometheus",
        rows=log.rows,
        used=len(out.time),
        skipped=log.skipped(),
        notes=(*notes, *clock.notes()),
        columns=columns,
        time_zone=clock.zone.key,
    )
    return out.done(metric, reading)


def _read_json(text: io.TextIOWrapper, given: Mapping[str, str], clock: _Clock) -> Samples:
    _check_keys(given)
    body = text.read(MAX_JSON_BYTES + 1)
    if len(body) > MAX_JSON_BYTES:
        raise TraceError(
            Problem(
                "",
                "",
                f"JSON longer than {MAX_JSON_BYTES} characters: ask Prometheus for a larger step or a shorter period",
            )
        )
    values = sum(body.count(mark) for mark in ",[{")
    if values > MAX_JSON_VALUES:
        raise TraceError(
            Problem(
                "", "", f"JSON of more than {MAX_JSON_VALUES // 3} samples: ask Prometheus for a larger step"
            )
        )
    expected = "expected the answer of /api/v1/query_range: status, data, resultType matrix, result"
    try:
        answer = json.loads(body)
    except (ValueError, RecursionError) as error:
        line = getattr(error, "lineno", 1)
        raise TraceError(Problem(f"line {line}", show(str(error)), f"no JSON; {expected}")) from error
    if not isinstance(answer, dict):
        raise TraceError(Problem("line 1", type(answer).__name__, expected))
    if answer.get("status") == "error":
        raise TraceError(
            Problem("status", show(answer.get("error", "")), "Prometheus answered with an error")
        )
    data = answer.get("data")
    kind = data.get("resultType") if isinstance(data, dict) else None
    if kind != "matrix":
        raise TraceError(Problem("data.resultType", show(str(kind)), f"a matrix is needed; {expected}"))
    assert isinstance(data, dict)
    result = data.get("result")
    if not isinstance(result, list) or not all(
        isinstance(s, dict) and isinstance(s.get("metric"), dict) and isinstance(s.get("values"), list)
        for s in result
    ):
        raise TraceError(Problem("data.result", show(type(result).__name__), f"a list of series; {expected}"))
    if not result:
        raise TraceError(Problem("data.result", "[]", "no series: the query found nothing in this period"))
    all_labels = [{str(k): str(v) for k, v in s["metric"].items()} for s in result]
    metrics = [_counter(labels, given) for labels in all_labels]
    for n, metric in enumerate(metrics):
        _check_counter(metric, f"series {n + 1}")
    migs = {metric for metric, labels in zip(metrics, all_labels, strict=True) if _has_mig(labels)}
    chosen = _refuse_mig(set(metrics), migs)
    log, out = _Log(), _SampleRows()
    for n, (labels, metric, part) in enumerate(zip(all_labels, metrics, result, strict=True), 1):
        if metric != chosen:
            continue
        series = _Series(labels, metric, given.get("group"), out)
        for pair in part["values"]:
            log.rows += 1
            _add_sample(log, out, series, n, pair, clock)
    notes = _others(set(metrics), chosen)
    return _prometheus_done(out, log, chosen, dict(given), clock, notes)


def _others(metrics: set[str], chosen: str) -> list[str]:
    others = sorted(metrics - {chosen})
    return [f"{', '.join(others)} is in the file too and not used: {chosen} is"] if others else []


def _add_sample(log: _Log, out: _SampleRows, series: _Series, line: int, pair: Any, clock: _Clock) -> None:
    """One [time, value] pair."""
    if log.rows > MAX_ROWS:
        raise TraceError(Problem("", "", f"more than {MAX_ROWS} samples: read a part of the period"))
    try:
        when, text = pair
        text = str(text)
        if text.strip().lower() in NO_VALUE:
            log.add(log.left, "no value", line, text)
            return
        out.add(clock(str(when)), series.gpu, series.group, _percent(text, series.scale), series.weight)
    except _Bad as bad:
        log.add(log.bad, f"a time or value {bad.args[0]}", line, bad.args[1])
    except (TypeError, ValueError):
        log.add(log.bad, "is no pair of a time and a value", line, str(pair))


def _read_prometheus_csv(table: _Table, given: Mapping[str, str], clock: _Clock) -> Samples:
    """A row a sample with the labels in columns, or a column a series with the labels in its header."""
    _check_keys(given)
    time_at = table.find(
        {"time": SAMPLE_COLUMNS["time"]}, {k: v for k, v in given.items() if k == "time"}
    ).get("time")
    if time_at is None:
        raise table.missing("prometheus", "a time")
    wide = {at: dict(LABEL.findall(name)) for at, name in enumerate(table.header) if "{" in name}
    if wide:
        return _read_wide(table, given, clock, time_at, wide)
    named = [at for at, name in enumerate(table.header) if name in COUNTERS]
    value_at = table.find({"value": ("value",)}, {k: v for k, v in given.items() if k == "value"}).get(
        "value"
    )
    if value_at is None:
        if not named:
            raise table.missing(
                "prometheus", f"a column value, or one called as the counter ({', '.join(COUNTERS)})"
            )
        value_at = min(named, key=lambda at: list(COUNTERS).index(table.header[at]))
        given = {**given, "metric": table.header[value_at]}
    label_at = [at for at in range(len(table.header)) if at not in (time_at, value_at, *named)]
    log, out = _Log(), _SampleRows()
    known: dict[tuple[str, ...], _Series] = {}
    metrics: set[str] = set()
    for row in table.rows(log):
        key = tuple(row[at] for at in label_at)
        series = known.get(key)
        if series is None:
            labels = {table.header[at]: row[at] for at in label_at}
            metric = _counter(labels, given)
            _check_counter(metric, f"line {table.line}")
            metrics.add(metric)
            if len(metrics) > 1:
                raise TraceError(
                    Problem(
                        f"line {table.line}",
                        show(metric),
                        f"several counters in one table: export {MIG_COUNTER} alone",
                    )
                )
            _refuse_mig(metrics, metrics if _has_mig(labels) else set())
            series = known[key] = _Series(labels, metric, given.get("group"), out)
        _add_sample(log, out, series, table.line, (row[time_at], row[value_at]), clock)
    columns = {"time": table.header[time_at], "value": table.header[value_at], **given}
    return _prometheus_done(out, log, min(metrics, default=""), columns, clock, [])


def _read_wide(
    table: _Table,
    given: Mapping[str, str],
    clock: _Clock,
    time_at: int,
    wide: Mapping[int, Mapping[str, str]],
) -> Samples:
    metrics = {
        at: _counter(labels, given) or table.header[at].split("{")[0].strip() for at, labels in wide.items()
    }
    for at, metric in metrics.items():
        _check_counter(metric, f"column {at + 1}")
    chosen = _refuse_mig(
        set(metrics.values()), {metrics[at] for at, labels in wide.items() if _has_mig(labels)}
    )
    log, out = _Log(), _SampleRows()
    read = {
        at: _Series(labels, chosen, given.get("group"), out)
        for at, labels in wide.items()
        if metrics[at] == chosen
    }
    rows = _Log()
    for row in table.rows(rows):
        for at, series in read.items():
            log.rows += 1
            _add_sample(log, out, series, table.line, (row[time_at], row[at]), clock)
    log.rows += sum(entry[0] for entry in rows.bad.values())
    log.bad.update(rows.bad)
    return _prometheus_done(
        out, log, chosen, {"time": table.header[time_at]}, clock, _others(set(metrics.values()), chosen)
    )
