"""Exports of tools that are no plain table -> a table of jobs, samples or requests, or what to export instead.

Widths of Slurm's columns follow [slurm-sacct]_.
"""

import io
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import chain, groupby, islice, pairwise
from typing import Any, BinaryIO, NamedTuple
from zoneinfo import ZoneInfo

from gpuplan.audit.columns import AFTER, COLUMNS, words_of
from gpuplan.audit.files import FIRST_LINES, Lines, Workbook, header_at, titles_of
from gpuplan.audit.prometheus import parsed
from gpuplan.audit.schedulers import Line, Row, lsf, pbs, pods, sge, slurm_jobs, sreport
from gpuplan.audit.table import Table
from gpuplan.audit.trace import refusal
from gpuplan.audit.values import DATE, DAY_S, BadValue, Clock, count_of, is_missing
from gpuplan.extensions import added
from gpuplan.facts import own_rows
from gpuplan.scenario import show
from gpuplan.wording import said, some_of

ADVICE = [(re.compile(row["sign"], re.IGNORECASE), row["key"]) for row in own_rows("words/trace_advice")]
"""Beginning of a file without jobs, samples or requests -> the key of what to export instead."""
DASHES = re.compile(r"[ -]*-- -[- ]*\r?$")
RECORDS: Sequence[tuple[re.Pattern[str], str, Callable[[Iterable[Line]], Table]]] = (
    (re.compile(r"\d\d/\d\d/\d{4} \d\d:\d\d:\d\d;[A-Z];"), "pbs", pbs),
    (re.compile(r"=+\s*\nqname\s"), "sge", sge),
    (re.compile(r"Job <\d+|Accounting information about jobs"), "lsf", lsf),
    (re.compile(r"-{40}|Cluster\|[^\n]*TRES Name"), "sreport", sreport),
)
"""Beginning of the records of a scheduler -> name of the format, and what makes a table of them."""
SMI = re.compile(r"#\s*(date|time|gpu|index|entity)\b", re.IGNORECASE)
OF_TIMES = AFTER | {"day", "clock", "hour"}
CLOCK = re.compile(r"\d?\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?: ?[ap]m)?", re.IGNORECASE)
DAY = re.compile(rf"(?:{DATE.pattern}|\d\d?[-/]\d\d?[-/]\d{{4}})")
OF_GPUS = re.compile(r"gpu|util|%|per.?cent", re.IGNORECASE)
OTHERWISE = re.compile(r"temp|power|watt|mem|clock|fb_|vram|fan|bytes|celsius", re.IGNORECASE)
SHARE = re.compile(r"0?[.,]\d+|[01]([.,]0*)?")
ESTIMATED = re.compile(r".*\d [ELX]")
"""An end that bjobs expects, by the limit of a job or as predicted."""
PAI_COLUMNS = ["job_name", "task_name", "inst_num", "status", "start_time", "end_time"]
PAI_COLUMNS += ["plan_cpu", "plan_mem", "plan_gpu", "gpu_type"]
PAI_TASK = re.compile(r"[^,]*,[^,]*,[\d.]+,(?:Terminated|Failed|Running|Waiting)(?:,[\d.]*){5}(?:,[^,]*)?")
"""A row of tasks of Alibaba PAI, whose header is a file of its own."""
SQUEUE = {"tres_alloc", "tres_per_node", "tres_per_job", "gres", "nodelist_reason"}
"""Columns that squeue has and sacct has not."""
BENCHMARKS = [
    {re.split(r"[.[]", field.strip())[0] for field in row["fields"].split(";")}
    for row in own_rows("words/benchmark_fields")
    if row["figure"] == "sign" and row["tool"] not in ("litellm", "openai", "mooncake", "aiperf-lines")
]
"""Fields in the result of a benchmark, which holds no requests."""


class Export(NamedTuple):
    """A table made of an export."""

    table: Table
    format: str = ""
    """Its name; empty for a table that says itself what it is."""
    reader: str = ""
    """Format by which the table is read, where that is known."""
    note: str = ""
    around: str = ""
    """What is said of lines above the table, and of sheets beside it, that are not read."""


def of_workbook(file: BinaryIO, format: str) -> Export:
    """Return the table on the first sheet of a workbook that has cells."""
    sheets = Workbook(file).sheets()
    for _, cells in sheets:
        rows = ((n, row) for n, row in enumerate(cells, 1) if any(row))
        first = list(islice(rows, FIRST_LINES))
        if not first:
            continue
        at = header_at([row for _, row in first])
        header = first[at][1]
        whole = ((n, row + [""] * (len(header) - len(row))) for n, row in chain(first[at + 1 :], rows))
        table = Table(header, whole)
        export = of_table(table) if format == "auto" else Export(table)
        others = [name for name, cells in sheets if any(map(any, cells))]
        notes = [_titles(titles_of(" ".join(filter(None, row)) for _, row in first[:at]))]
        notes += [said("audit.note.sheets", names=some_of(others))] if others else []
        return export._replace(around="; ".join(filter(None, notes)))
    raise refusal("audit.file.empty")


def of_text(text: io.TextIOWrapper, start: str, format: str = "auto") -> Export:
    """Return the table of a file of text, by the lines with which it begins."""
    for sign, key in ADVICE:
        if sign.match(start):
            raise refusal(key, where="line 1", value=show(start.partition("\n")[0][:60]))
    source = Lines(text)
    lines = ((n, line.rstrip("\r\n")) for n, line in enumerate(source, 1) if line.strip())
    first, _, rest = start.partition("\n")
    if SMI.match(start):
        return Export(_smi(next(lines)[1], lines), "nvidia-smi", "samples")
    own = ((sign, name, table_of) for name, (sign, table_of) in added("readers").items())
    for sign, name, table_of in (*own, *RECORDS):
        if sign.match(start):
            return Export(table_of(lines), name, "jobs")
    if DASHES.match(rest.partition("\n")[0]):
        return Export(_by_places(next(lines)[1], lines, next(lines)[1]), "sacct", "sacct")
    if "JOBID" in first.upper().split() and not re.search("[,;|]", first):
        return of_table(_by_places(next(lines)[1], lines))
    table = Table.of_text(text)
    export = of_table(table) if format == "auto" else Export(table)
    return export._replace(around=_titles(table.titles))


def _titles(titles: Sequence[str]) -> str:
    return said("audit.note.titles", n=len(titles), names=some_of(titles)) if titles else ""


def _by_places(first: str, lines: Iterable[Line], dashes: str = "") -> Table:
    """Return a table of columns that lie below their names, or below ``dashes``; a cell that fills its column is cut.

    Where values do not lie below the names, blanks divide a row.
    """
    places = [match.start() for match in re.finditer(r"\S+", dashes or first)]
    slots = [slice(a, b) for a, b in zip(places, [*places[1:], None], strict=True)]
    header = [first[slot].strip() for slot in slots]

    def cells(line: str) -> list[str]:
        words = line.split()
        below = all(line[at - 1 : at].strip() == "" for at in places[1:])
        if not dashes and not below and len(words) == len(slots):
            return words
        *found, last = (line[slot] for slot in slots)
        cut = "" if dashes else "+"
        return [*(cell.strip() + cut * (cell[-1:].strip() != "") for cell in found), last.strip()]

    return Table(header, ((n, cells(line)) for n, line in lines))


def _smi(first: str, lines: Iterable[Line]) -> Table:
    """Return the samples of nvidia-smi dmon, or of pmon, where all processes of a GPU at a time are added."""
    names = first.lower().replace(",", " ").lstrip("# ").split()
    if not {"date", "time", "gpu", "sm"} <= {*names}:
        raise refusal("audit.advice.smi", where="line 1", value=show(first[:60]))
    day, hour, gpu, busy = (names.index(name) for name in ("date", "time", "gpu", "sm"))
    width = max(day, hour, gpu, busy) + 1

    def rows() -> Iterator[Row]:
        for n, line in lines:
            row = line.replace(",", " ").split()
            if line.startswith("#"):
                continue
            if len(row) < width:
                yield n, [line]
            else:
                date = row[day]
                date = f"{date[:4]}-{date[4:6]}-{date[6:]}" if date.isdecimal() else date
                yield n, [f"{date} {row[hour]}", row[gpu], row[busy]]

    def added() -> Iterator[Row]:
        for of, found in groupby(rows(), lambda sample: sample[1][:2]):
            lines_of, cells = zip(*found, strict=True)
            values = [int(text) for row in cells for text in row[2:] if text.isdecimal()]
            yield lines_of[0], [*of, f"{min(100, sum(values))}"]

    return Table(["time", "gpu", "utilization"], added() if "pid" in names else rows())


def of_table(table: Table) -> Export:
    """Return a table as one that is read: by its columns squeue, usage by the hour or another time, or a column for each GPU."""
    names = {*table.names}
    if not names:
        raise refusal("audit.file.empty")
    if "jobid" in names and names & SQUEUE:
        header = [re.sub("(?i)^end_time$", "time_limit", name) for name in table.header]
        table = table.changed(header, lambda row: [row])
        at = table.find(COLUMNS["sacct"], {}).keys()
        if not at >= {"job", "start", "duration"} or not at & {"gpus", "requested"}:
            raise table.missing("audit.advice.squeue")
        return Export(table, "squeue", "sacct")
    if PAI_TASK.fullmatch(",".join(table.header)):
        return Export(table.below(PAI_COLUMNS), "pai", "jobs", said("audit.note.pai"))
    if names >= {"jobid", "stat", "finish_time"}:  # of bjobs
        times = table.values(table.names.index("finish_time"))
        if times and not any(re.search(r"\d{4}", text) for text in times):
            raise refusal("audit.advice.lsf", where="line 2", value=show(times[0]))
        return Export(table.changed(table.header, lambda row: [[ESTIMATED.sub("", cell) for cell in row]]))
    usage = table.find(COLUMNS["usage"], {})
    if {"time", "requests", "tokens_in", "tokens_out"} <= usage.keys():
        return _spread(table, usage)
    if names == {"series", "time", "value"}:
        return Export(table.changed(["gpu", "time", "utilization"], lambda row: [row]), "samples", "samples")
    return Export(table)


def with_dates(table: Table, given: Mapping[str, str]) -> Table:
    """Return a table in which a column of dates is joined with those of its times of day, such as ``end_time``."""
    words = ["_".join(word for word in words_of(name) if word not in OF_TIMES) for name in table.header]
    day_of = _days_of(table, words, given)
    if not day_of:
        return table
    kept = [at for at in range(len(words)) if at not in day_of.values()]

    def joined(row: list[str]) -> list[list[str]]:
        whole = {at: " ".join((row[day], row[at])) for at, day in day_of.items() if not is_missing(row[at])}
        return [[whole.get(at, row[at]) for at in kept]]

    header = [(words[at] if at in day_of else "") or table.header[at] for at in kept]
    return table.changed(header, joined)


def _days_of(table: Table, words: Sequence[str], given: Mapping[str, str]) -> dict[int, int]:
    """Return the column of dates of each column of times of day: one of the same words, for a job's one without any."""
    hours = [
        at for at, name in enumerate(table.header) if name not in given.values() and _all(CLOCK, table, at)
    ]
    days = {words[at]: at for at in range(len(words)) if hours and _all(DAY, table, at)}
    of_jobs = {name for key in ("submit", "start", "end") for name in COLUMNS["jobs"][key][0]}
    general = {at: days.get("") for at in hours if words[at].replace("_", "") in of_jobs}
    found = {at: days.get(words[at], general.get(at)) for at in hours}
    return {at: day for at, day in found.items() if day is not None}


def _all(sign: re.Pattern[str], table: Table, at: int) -> bool:
    texts = table.values(at)
    return bool(texts) and all(map(sign.fullmatch, texts))


def gpu_columns(table: Table) -> list[int]:
    """Return the columns of a dashboard's table that are of GPUs, beside its time; none of a table of another kind."""
    timed = table.find({"time": COLUMNS["samples"]["time"]}, {}).get("time") == 0
    columns = [(at, name) for at, name in enumerate(table.header) if at and not OTHERWISE.search(name)]
    texts = {at: table.values(at) or [""] for at, _ in columns if timed}
    per_cent = {at for at, values in texts.items() if all(text.endswith("%") for text in values)}
    return [at for at, name in columns if timed and (OF_GPUS.search(name) or at in per_cent)]


def by_gpu(table: Table) -> Export:
    """Return the samples of a table with a time and a column for each GPU."""
    at = table.find({key: COLUMNS["samples"][key] for key in ("host", "group")}, {})
    others = [n for n in range(1, len(table.header)) if n not in at.values()]
    places = gpu_columns(table) or others
    left = some_of([table.header[n] for n in others if n not in places])
    values = [text for place in places for text in table.values(place)]
    shares = all(map(SHARE.fullmatch, values)) and not all(map(str.isdecimal, values))

    def of_row(row: list[str]) -> Iterator[list[str]]:
        begin = [row[0], *(row[n] for n in at.values())]
        yield from ([*begin, table.header[n], row[n]] for n in places if row[n].strip())

    header = ["time", *at, "gpu", "utilization_ratio" if shares else "utilization"]
    samples = table.changed(header, of_row)
    notes = [said("audit.note.by gpu left" if left else "audit.note.by gpu", names=left)]
    notes += [said("audit.note.by gpu shares")] * shares
    return Export(samples, "by-gpu", "samples", "; ".join(notes))


def _spread(table: Table, at: Mapping[str, int]) -> Export:
    """Return as many requests as a row of usage counts, at equal steps in its time and of its mean length."""
    clock = Clock(ZoneInfo("UTC"))
    times = set[float]()
    for text in table.values(at["time"]):
        with suppress(BadValue):
            times.add(clock(text))
    long_s = min((b - a for a, b in pairwise(sorted(times))), default=DAY_S)
    dotted = table.dotted(at)

    def requests(row: list[str]) -> Iterator[list[str]]:
        value = {key: row[place] for key, place in at.items()}
        value |= {key: value[key].replace(".", "") for key in dotted}
        try:
            count, *tokens = (int(count_of(value[key])) for key in ("requests", "tokens_in", "tokens_out"))
            begin = clock(value["time"])
            step = (clock(value["until"]) - begin if "until" in at else long_s) / max(1, count)
        except (BadValue, ValueError, OverflowError):
            yield row[:1]
            return
        for n in range(count):
            lengths = (str((n + 1) * all // count - n * all // count) for all in tokens)
            yield [f"{begin + (n + 0.5) * step:.3f}", *lengths, value.get("group", "")]

    header = ["time", "tokens_in", "tokens_out", "model"]
    return Export(table.changed(header, requests), "usage", "requests", said("audit.note.usage"))


def of_json(text: io.TextIOWrapper) -> Any:
    """Return the table of the objects in a document or in lines of JSON; a document without them as it is."""
    document = parsed(text)
    objects = _objects(document)
    first = objects[0] if objects else {}
    outer = document if isinstance(document, dict) else first
    if any(outer.keys() >= fields for fields in BENCHMARKS):
        raise refusal("audit.advice.benchmark", where="line 1", value=show(", ".join(sorted(outer)[:4])))
    if "items" in outer and not objects:
        raise refusal("audit.advice.kubectl", where="items", value="[]")
    return _of_objects(objects, outer) if objects else document


def _of_objects(objects: Sequence[Mapping[str, Any]], outer: Mapping[str, Any]) -> Export:
    """Return the table of objects in a document, by the fields of the first."""
    first = objects[0]
    if "job_id" in first and {"tres", "tres_alloc_str"} & first.keys():
        return Export(_table(slurm_jobs(objects, outer.get("last_update"))), "slurm-json", "sacct")
    if {"kind", "metadata"} <= first.keys():
        return Export(_table([*pods(objects)]), "kubernetes", "jobs", said("audit.note.pods"))
    rows = [row for each in objects for row in _unfolded(each)]
    if "attempts" in first:
        return Export(_table([*map(_attempt, rows)]), "philly", "jobs", said("audit.note.philly"))
    if {"input_length", "hash_ids"} <= rows[0].keys():
        rows = [{"timestamp_ms" if key == "timestamp" else key: row[key] for key in row} for row in rows]
    return of_table(_table(rows))


def _attempt(row: dict[str, Any]) -> dict[str, Any]:
    """Return an attempt of Philly with the GPUs of all its hosts."""
    hosts = row.pop("detail", None)
    gpus = str([host.get("gpus") for host in hosts]).count("gpu") if _are_objects(hosts) else 0
    return row | {"gpus": gpus}


def _table(rows: Sequence[Mapping[str, Any]]) -> Table:
    header = list(dict.fromkeys(key for row in rows for key in row))
    return Table(header, ((n, [_cell(row.get(key)) for key in header]) for n, row in enumerate(rows, 1)))


def _cell(value: Any) -> str:
    return "" if value is None or isinstance(value, list | dict) else str(value)


def _objects(document: Any) -> Sequence[Mapping[str, Any]]:
    """Return the objects of a list, of the ``jobs`` of a document, or of its only list, such as ``items``; none without."""
    if isinstance(document, dict):
        lists = [value for value in document.values() if _are_objects(value)]
        lists = [document["jobs"]] if document.get("jobs") in lists else lists
        document = lists[0] if len(lists) == 1 else None
    return document if _are_objects(document) else []


def _are_objects(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(each, dict) for each in value)


def _unfolded(each: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield an object with the fields of those in it, once for each of its attempts or results."""
    flat: dict[str, Any] = {}
    for key, value in each.items():
        flat |= {k: v for k, v in value.items() if k not in each} if isinstance(value, dict) else {key: value}
    lists = (flat.pop(key) for key in ("attempts", "results") if _are_objects(flat.get(key)))
    yield from (flat | inner for inner in next(lists, [dict[str, Any]()]))
