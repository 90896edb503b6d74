"""Files of jobs and samples: each format, each time zone, and what is wrong with a file is said with its line."""

from __future__ import annotations

import gzip
import io
import json
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gpuplan.audit import trace
from gpuplan.audit.trace import (
    ALL,
    NO_GROUP,
    Jobs,
    Samples,
    TraceError,
    mig_weight,
    read_trace,
    slurm_gpus,
)

MAY = datetime(2024, 5, 1, tzinfo=UTC).timestamp()

JOBS = """\
submit_time,start_time,duration,num_gpus,vc,user,state
2024-05-01 00:00:00,2024-05-01 00:05:00,3600,4,vision,ana,Pass
2024-05-01 00:10:00,2024-05-01 00:10:00,01:30:00,1,speech,bo,Failed
2024-05-01 00:20:00,2024-05-01 01:20:00,1-00:00:00,0.5,vision,bo,Pass
"""


def read(text: str | bytes, **options: Any) -> Jobs | Samples:
    return read_trace(io.BytesIO(text if isinstance(text, bytes) else text.encode()), **options)


def jobs_of(text: str | bytes, **options: Any) -> Jobs:
    found = read(text, **options)
    assert isinstance(found, Jobs)
    return found


def samples_of(text: str | bytes, **options: Any) -> Samples:
    found = read(text, **options)
    assert isinstance(found, Samples)
    return found


def refused(text: str | bytes, **options: Any) -> str:
    with pytest.raises(TraceError) as caught:
        read(text, **options)
    assert caught.value.problems
    return str(caught.value)


# ---- jobs


def test_a_csv_of_jobs() -> None:
    jobs = jobs_of(JOBS)
    assert (jobs.submit_s - MAY).tolist() == [0, 600, 1200]
    assert (jobs.start_s - jobs.submit_s).tolist() == [300, 0, 3600]
    assert jobs.has_start
    assert jobs.duration_s.tolist() == [3600, 5400, 86400]
    assert jobs.gpus.tolist() == [4, 1, 0.5]
    assert [jobs.groups[n] for n in jobs.group] == ["vision", "speech", "vision"]
    assert jobs.users == 2
    assert jobs.user.tolist() == [0, 1, 1]
    assert jobs.reading.format == "jobs"
    assert (jobs.reading.rows, jobs.reading.used, jobs.reading.skipped) == (3, 3, ())
    assert jobs.reading.columns["gpus"] == "num_gpus"
    assert jobs.reading.time_zone == "UTC"


def same(one: Jobs, other: Jobs) -> None:
    for name in ("submit_s", "start_s", "duration_s", "gpus", "group", "user"):
        assert np.array_equal(getattr(one, name), getattr(other, name)), name
    assert one.groups == other.groups


@pytest.mark.parametrize("delimiter", [";", "\t", "|"])
def test_other_delimiters(delimiter: str) -> None:
    same(jobs_of(JOBS.replace(",", delimiter)), jobs_of(JOBS))


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.encode("utf-8-sig"),
        lambda text: text.encode("utf-16"),
        lambda text: gzip.compress(text.encode()),
        lambda text: text.replace("\n", "\r\n").encode(),
        lambda text: ("\n\n" + text).encode(),
        lambda text: text.replace("vision", '"vision"').replace("\n", ",\n").encode(),
    ],
    ids=["bom", "utf-16", "gzip", "crlf", "blank first lines", "quoted, a last empty cell"],
)
def test_other_ways_to_write_the_same(change: Callable[[str], bytes]) -> None:
    same(jobs_of(change(JOBS)), jobs_of(JOBS))


def test_a_path_is_read_and_a_file_given_stays_open(tmp_path: Path) -> None:
    path = tmp_path / "jobs.csv.gz"
    path.write_bytes(gzip.compress(JOBS.encode()))
    same(read_trace(path), jobs_of(JOBS))  # type: ignore[arg-type]
    same(read_trace(str(path)), jobs_of(JOBS))  # type: ignore[arg-type]
    given = io.BytesIO(JOBS.encode())
    read_trace(given)
    assert not given.closed


def test_columns_named_by_hand() -> None:
    text = "when,long_min,cards,who\n2024-05-01,90,2,x\n2024-05-02,30,8,y\n"
    jobs = jobs_of(text, columns={"submit": "when", "duration": "long_min", "gpus": "cards", "group": "who"})
    assert jobs.duration_s.tolist() == [5400, 1800]
    assert jobs.groups == ("x", "y")
    assert not jobs.has_start
    assert jobs.users == 0


@pytest.mark.parametrize(
    ("column", "value", "seconds"),
    [
        ("duration", "90", 90),
        ("duration_s", "90.5", 90.5),
        ("duration (min)", "2", 120),
        ("Run Time [hours]", "1.5", 5400),
        ("elapsed", "02:03", 123),
        ("elapsed", "1:02:03", 3723),
        ("elapsed", "2-01:00:00", 176400),
        ("elapsed", "2 days 01:00:00", 176400),
        ("duration_ms", "1500", 1.5),
    ],
)
def test_lengths_of_time(column: str, value: str, seconds: float) -> None:
    jobs = jobs_of(f"submit,{column},gpus\n2024-05-01 00:00:00,{value},1\n")
    assert jobs.duration_s.tolist() == [seconds]


def test_an_end_instead_of_a_duration() -> None:
    jobs = jobs_of("submit,start,end,gpus\n2024-05-01,2024-05-02,2024-05-03,1\n2024-05-01,2024-05-02,,1\n")
    assert jobs.duration_s.tolist() == [86400]
    assert jobs.reading.skipped[0][:3] == ("end is not known", 1, 3)


def test_a_start_alone_stands_for_the_request() -> None:
    jobs = jobs_of("start,duration,gpus\n2024-05-01,60,1\n")
    assert not jobs.has_start
    assert jobs.submit_s.tolist() == jobs.start_s.tolist() == [MAY]
    assert any("waits are not seen" in note for note in jobs.reading.notes)


def test_intervals_count_rows_without_gpus_too() -> None:
    jobs = jobs_of("user,gpu_num,interval,run_time\na,1,5,60\nb,0,10,60\na,2,20,60\n")
    assert jobs.submit_s.tolist() == [5, 35]
    assert jobs.groups == (ALL,)
    assert jobs.users == 1
    notes = " ".join(jobs.reading.notes)
    assert "unknown moment" in notes
    assert "No column names a group" in notes
    assert jobs.reading.skipped[0][:3] == ("no GPUs", 1, 3)


def test_decimal_commas_where_semicolons_divide() -> None:
    assert jobs_of("submit;duration;gpus\n2024-05-01;60;0,5\n").gpus.tolist() == [0.5]


def test_jobs_that_wait_or_never_ran_are_left_out() -> None:
    jobs = jobs_of(
        "submit,duration,gpus,state\n2024-05-01,60,1,DONE\n2024-05-01,60,1,PENDING\n2024-05-01,0,1,DONE\n"
    )
    assert jobs.reading.used == 1
    assert {s.reason: s.first_line for s in jobs.reading.skipped} == {
        "never started": 3,
        "ran for no time": 4,
    }


def test_some_of_the_jobs() -> None:
    jobs = jobs_of(JOBS)
    part = jobs.where(jobs.gpus < 2)
    assert part.gpus.tolist() == [1, 0.5]
    assert part.users == 1
    assert part.groups == jobs.groups


def test_names_are_cut_and_stay_apart() -> None:
    long = "x" * 100
    text = "submit,duration,gpus,group\n" + "".join(
        f"2024-05-01,60,1,{name}\n" for name in (long, long + "y", "=1+1\x07", "", "  ", "a", "a ")
    )
    jobs = jobs_of(text)
    assert all(len(name) <= 60 and name.isprintable() for name in jobs.groups)
    assert len(set(jobs.groups)) == len(jobs.groups)
    assert jobs.groups == ("x" * 60, "x" * 58 + "~2", "=1+1\\x07", NO_GROUP, "a")


# ---- times


@pytest.mark.parametrize(
    ("text", "zone", "utc"),
    [
        ("2024-05-01 12:00:00", "UTC", "2024-05-01T12:00:00"),
        ("2024-05-01T12:00:00Z", "Asia/Tokyo", "2024-05-01T12:00:00"),
        ("2024-05-01T12:00:00+05:30", "UTC", "2024-05-01T06:30:00"),
        ("2024-05-01T12:00:00-0800", "UTC", "2024-05-01T20:00:00"),
        ("2024-05-01T12:00:00.250+02", "UTC", "2024-05-01T10:00:00.250"),
        ("2024-05-01 12:00", "Asia/Kolkata", "2024-05-01T06:30:00"),
        ("2024/05/01 12:00:00.5", "America/Chicago", "2024-05-01T17:00:00.500"),
        ("2024-01-01 12:00:00", "America/Chicago", "2024-01-01T18:00:00"),
        ("2024-05-01", "Europe/Berlin", "2024-04-30T22:00:00"),
        ("1714564800", "Europe/Berlin", "2024-05-01T12:00:00"),
        ("1714564800123", "Europe/Berlin", "2024-05-01T12:00:00.123"),
    ],
)
def test_times(text: str, zone: str, utc: str) -> None:
    rows = f"submit,duration,gpus\n{text},60,1\n{text},60,1\n"
    expected = datetime.fromisoformat(utc).replace(tzinfo=UTC).timestamp()
    assert jobs_of(rows, time_zone=zone).submit_s.tolist() == pytest.approx([expected] * 2, abs=1e-6)


def test_every_minute_around_both_clock_changes() -> None:
    # Berlin: 31 March 2024 02:00 -> 03:00, 27 October 03:00 -> 02:00
    zone = trace.ZoneInfo("Europe/Berlin")
    local = [
        datetime(2024, month, day, hour, minute, 30)
        for month, day in ((3, 31), (10, 27))
        for hour in range(5)
        for minute in range(60)
    ]
    text = "submit,duration,gpus\n" + "".join(f"{t:%Y-%m-%d %H:%M:%S},60,1\n" for t in local)
    jobs = jobs_of(text, time_zone="Europe/Berlin")
    assert jobs.submit_s.tolist() == [t.replace(tzinfo=zone).timestamp() for t in local]
    notes = " ".join(jobs.reading.notes)
    assert "60 times come twice in Europe/Berlin" in notes
    assert "60 times do not exist in Europe/Berlin" in notes


def test_a_zone_that_moves_by_half_an_hour() -> None:
    zone = trace.ZoneInfo("Australia/Lord_Howe")
    local = [datetime(2024, 4, 7, hour, minute) for hour in range(4) for minute in range(60)]
    text = "submit,duration,gpus\n" + "".join(f"{t:%Y-%m-%d %H:%M:%S},60,1\n" for t in local)
    jobs = jobs_of(text, time_zone="Australia/Lord_Howe")
    assert jobs.submit_s.tolist() == [t.replace(tzinfo=zone).timestamp() for t in local]
    assert any(note.startswith("30 times come twice") for note in jobs.reading.notes)


@pytest.mark.parametrize(
    "text",
    [
        "2024-13-01 00:00:00",
        "2024-05-01 25:00:00",
        "2024-05-01 00:00:75",
        "-5",
        "yesterday",
        "05/01/2024",
        "1e300",
    ],
)
def test_what_is_no_time(text: str) -> None:
    good = "2024-05-01 00:00:00,60,1\n"
    jobs = jobs_of(f"submit,duration,gpus\n{good}{text},60,1\n{good}")
    (left,) = jobs.reading.skipped
    assert left[:3] == ("submit is no time", 1, 3)
    assert text[:9] in left.example


def test_an_unknown_time_zone() -> None:
    assert "IANA" in refused(JOBS, time_zone="Mars/Base")
    assert "IANA" in refused(JOBS, time_zone="../etc/passwd")


# ---- files that cannot be used


def test_no_rows() -> None:
    assert "empty" in refused("")
    assert "empty" in refused("\n \n")
    assert "empty" in refused(gzip.compress(b""))
    assert "no rows" in refused("submit,duration,gpus\n")


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"PK\x03\x04rest", "workbook"),
        (b"PAR1rest", "Parquet"),
        (b"%PDF-1.7", "PDF"),
        (b"abc\0def", "binary"),
        (gzip.compress(JOBS.encode(), mtime=0)[:40], "unpacked"),
        (b"\x1f\x8bnot gzip at all", "unpacked"),
    ],
)
def test_what_is_no_text(data: bytes, said: str) -> None:
    assert said in refused(data)


def test_a_wrong_delimiter() -> None:
    message = refused(JOBS.replace(",", "#"))
    assert "line 1" in message
    assert "comma, semicolon, tab or |" in message


def test_a_missing_column_names_what_is_there_and_what_is_needed() -> None:
    message = refused("submit,num_gpus\n2024-05-01,1\n")
    assert '"submit", "num_gpus"' in message
    assert "a duration or an end" in message
    assert "needs a time (submit or start)" in refused("a,b\n1,2\n", format="jobs")
    assert "AllocTRES" in refused("JobID|Submit|Elapsed\n1|2024-05-01|1\n", format="sacct")
    assert "a per cent" in refused("a,b\n1,2\n", format="samples")
    assert "utilization.gpu" in refused("timestamp, index\n1,2\n", format="nvidia-smi")
    assert "needs a time" in refused("value,gpu\n1,2\n", format="prometheus")


def test_columns_that_are_not_there() -> None:
    message = refused(JOBS, columns={"gpus": "cards", "colour": "vc"})
    assert 'columns.gpus: "cards": no such column' in message
    assert "columns.colour" in message
    assert '"num_gpus"' in message


def test_an_unknown_format() -> None:
    assert "one of auto, jobs, sacct" in refused(JOBS, format="excel")
    assert "JSON, where format 'jobs' is a CSV" in refused("{}", format="jobs")


GOOD = "2024-05-01 00:00:00,60,1\n"


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ("2024-05-01 00:00:00,-5,1", "duration is negative"),
        ("2024-05-01 00:00:00,-00:05:00,1", "duration is negative"),
        ("2024-05-01 00:00:00,long,1", "duration is no length of time"),
        ("2024-05-01 00:00:00,inf,1", "duration is no length of time"),
        ("2024-05-01 00:00:00,60,-1", "gpus is no count"),
        ("2024-05-01 00:00:00,60,1.5", "gpus is no count"),
        ("2024-05-01 00:00:00,60,1e9", "gpus is no count"),
        ("2024-05-01 00:00:00,60,many", "gpus is no number"),
        ("2024-05-01 00:00:00,60", "has not the 3 cells"),
        ("2024-05-01 00:00:00,60,1,x", "has not the 3 cells"),
    ],
)
def test_a_bad_row_is_left_out_and_counted(row: str, reason: str) -> None:
    text = f"submit,duration,gpus\n{GOOD}{GOOD}{row}\n{GOOD}{row}\n{GOOD}"
    jobs = jobs_of(text)
    (left,) = jobs.reading.skipped
    assert left.reason.startswith(reason)
    assert (left.rows, left.first_line) == (2, 4)
    assert (jobs.reading.rows, jobs.reading.used) == (6, 4)


def test_nan_is_a_value_that_is_not_known() -> None:
    jobs = jobs_of(f"submit,duration,gpus\n{GOOD}2024-05-01 00:00:00,nan,1\n2024-05-01 00:00:00,60,NaN\n")
    assert {s.reason for s in jobs.reading.skipped} == {"duration is not known", "gpus is not known"}


def test_a_file_of_which_more_than_half_is_bad_is_refused() -> None:
    bad = ["x,60,1", "2024-05-01,-1,1", "2024-05-01,-2,1", "2024-05-01,60,?", "2024-05-01"]
    text = "submit,duration,gpus\n" + GOOD * 4 + "\n".join(bad) + "\n"
    message = refused(text)
    assert "5 of 9 rows cannot be read" in message
    assert 'line 7: "-1": duration is negative (2 rows)' in message
    assert message.count("line ") == 3, "the three commonest reasons"
    assert jobs_of(text + GOOD).reading.used == 5, "half of it is not more than half"


def test_a_file_with_nothing_to_use_says_why() -> None:
    message = refused("submit,duration,gpus\n2024-05-01,60,0\n2024-05-01,60,0\n")
    assert "none of 2 rows holds a job with GPUs" in message
    assert "no GPUs (2 rows)" in message


def test_start_before_submit_and_end_before_start() -> None:
    text = "submit,start,end,gpus\n" + "2024-05-02,2024-05-03,2024-05-04,1\n" * 3
    jobs = jobs_of(text + "2024-05-02,2024-05-01,2024-05-04,1\n2024-05-02,2024-05-03,2024-05-02,1\n")
    assert {s.reason for s in jobs.reading.skipped} == {"start is before submit", "end is before the begin"}


def test_a_quotation_mark_left_open_and_a_line_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "quotation mark" in refused('submit,duration,gpus\n"' + GOOD * 10_000)
    monkeypatch.setattr(trace, "MAX_LINE", 1000)
    assert "a line is longer than 1000 characters" in refused("submit,duration,gpus\n" + "x" * 5000)


def test_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trace, "MAX_ROWS", 10)
    assert "10 rows or more" in refused("submit,duration,gpus\n" + GOOD * 11)
    monkeypatch.setattr(trace, "MAX_CHARACTERS", 100)
    assert "longer than 100 characters" in refused("submit,duration,gpus\n" + GOOD * 11)
    monkeypatch.setattr(trace, "MAX_JSON_BYTES", 10)
    assert "larger step" in refused('{"status": "success"}')


def test_more_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trace, "MAX_COLUMNS", 10)
    assert refused(",".join("abcdefghijk") + "\n") == "line 1: 11 columns: more than the 10 that are read"
    monkeypatch.setattr(trace, "MAX_NAMES", 3)
    rows = "".join(f"2024-05-01,60,1,{name}\n" for name in "abcd")
    assert "3 different ones or more" in refused("submit,duration,gpus,group\n" + rows)
    monkeypatch.setattr(trace, "MAX_ROWS", 10)
    assert "mostly empty lines" in refused("submit,duration,gpus\n" + "\n" * 30 + GOOD)
    monkeypatch.setattr(trace, "MAX_JSON_VALUES", 30)
    assert "JSON of more than 10 samples" in refused('{"data": [' + "[1,2]," * 20 + "3]}")


def test_a_packed_file_holds_no_more_than_text_can(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "submit,duration,gpus\n" + GOOD * 20_000
    monkeypatch.setattr(trace, "FREE_BYTES", 1_000)
    assert len(text) / len(gzip.compress(text.encode())) > trace.MAX_RATIO
    assert "more than 100 times its size" in refused(gzip.compress(text.encode()))
    monkeypatch.setattr(trace, "FREE_BYTES", 200_000)
    assert len(jobs_of(gzip.compress(text.encode())).gpus) == 20_000


@pytest.mark.parametrize(
    "duration", ["9" * 5000 + "-00:01:30", "9" * 400 + ":01:30", "9" * 5000, "1e999", "nan", "-1"]
)
def test_durations_that_are_none(duration: str) -> None:
    assert "line 2" in refused(f"submit,duration,gpus\n2024-05-01,{duration},1\n")


def test_counts_of_slurm_that_are_none() -> None:
    head = "JobID|Submit|Start|ElapsedRaw|AllocTRES|ReqGRES|NNodes\n"
    row = "1|2024-05-01T00:00:00|2024-05-01T00:00:00|60|"
    assert "more than 200000 GPUs" in refused(f"{head}{row}gres/gpu={'9' * 5000}||1\n")
    assert jobs_of(f"{head}{row}|gpu:2|\u00b2\n").gpus.tolist() == [2]
    assert slurm_gpus("gpu:" + "a" * 100_000 + "=x") == 0


def test_very_many_names_that_begin_alike_are_told_apart() -> None:
    rows = "".join(f"2024-05-01,60,1,{'x' * 60}{n}\n" for n in range(2_000))
    groups = jobs_of("submit,duration,gpus,group\n" + rows).groups
    assert len(set(groups)) == 2_000
    assert max(map(len, groups)) == trace.MAX_NAME


def test_lines_are_put_together_across_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "submit,duration,gpus\n" + "".join(f"2024-05-01 00:00:{n % 60:02},{n + 1},1\n" for n in range(500))
    whole = jobs_of(text)
    for size in (40, 41, 57, 100):
        monkeypatch.setattr(trace, "MAX_LINE", size)
        same(jobs_of(text), whole)


def test_bytes_that_are_no_utf8_do_no_harm() -> None:
    jobs = jobs_of(b"submit,duration,gpus,group\n2024-05-01,60,1,M\xfcller\n")
    assert jobs.groups == ("M\ufffdller",)


# ---- sacct


@pytest.mark.parametrize(
    ("text", "gpus"),
    [
        ("billing=8,cpu=8,gres/gpu=4,mem=64G,node=1", 4),
        ("cpu=8,gres/gpu:a100=4", 4),
        ("cpu=8,gres/gpu:a100=4,gres/gpu:v100=2", 6),
        ("cpu=8,gres/gpu:a100=4,gres/gpu=4", 4),
        ("gres/gpu=3,gres/gpu:a100=3,gres/gpumem=10G,gres/gpuutil=50", 3),
        ("gres/gpu:1g.10gb=2", 2),
        ("cpu=4,mem=8G", 0),
        ("gres/gpumem=10,gres/shard=2", 0),
        ("", 0),
        ("gpu:4", 4),
        ("gpu", 1),
        ("gpu:a100", 1),
        ("gpu:a100:2", 2),
        ("craynetwork:1,gpu:tesla:2(IDX:0-1),gpu:kepler:1", 3),
        ("gres:gpu:2", 2),
    ],
)
def test_gpus_of_slurm(text: str, gpus: int) -> None:
    assert slurm_gpus(text) == gpus


SACCT = """\
JobID|User|Account|Partition|Submit|Start|End|Elapsed|State|NNodes|ReqTRES|AllocTRES
101|ana|physics|gpu|2024-05-01T08:00:00|2024-05-01T08:10:00|2024-05-01T10:10:00|02:00:00|COMPLETED|1|cpu=8,gres/gpu=2|cpu=8,gres/gpu:a100=2,gres/gpu=2
101.batch||physics||2024-05-01T08:10:00|2024-05-01T08:10:00|2024-05-01T10:10:00|02:00:00|COMPLETED|1||cpu=8,gres/gpu=2
101.0||physics||2024-05-01T08:10:00|2024-05-01T08:10:00|2024-05-01T10:10:00|02:00:00|COMPLETED|1||gres/gpu=2
102|bo|chem|cpu|2024-05-01T08:00:00|2024-05-01T08:00:00|2024-05-01T09:00:00|01:00:00|COMPLETED|1|cpu=8|cpu=8
103_7|bo|chem|gpu|2024-05-01T08:00:00|2024-05-01T09:00:00|Unknown|1-00:00:00|RUNNING|2|gres/gpu=8|gres/gpu=8
104|bo|chem|gpu|2024-05-01T08:00:00|Unknown|Unknown|00:00:00|PENDING|1|gres/gpu=1|
105|bo|chem|gpu|2024-05-01T08:00:00|None|2024-05-01T08:30:00|00:00:00|CANCELLED by 7|1|gres/gpu=1|
"""


def test_sacct() -> None:
    jobs = jobs_of(SACCT)
    assert jobs.reading.format == "sacct"
    eight = MAY + 8 * 3600
    assert jobs.submit_s.tolist() == [eight, eight]
    assert jobs.start_s.tolist() == [eight + 600, eight + 3600]
    assert jobs.duration_s.tolist() == [7200, 86400]
    assert jobs.gpus.tolist() == [2, 8]
    assert jobs.groups == ("physics", "chem")
    assert jobs.users == 2
    reasons = {s.reason: (s.rows, s.first_line) for s in jobs.reading.skipped}
    assert reasons == {"a step of a job": (2, 3), "never started": (2, 7), "no GPUs": (1, 5)}
    assert any(note.startswith("1 jobs still run") for note in jobs.reading.notes)


def test_sacct_with_a_bar_at_the_end_of_lines_is_parsable() -> None:
    same(jobs_of(SACCT.replace("\n", "|\n")), jobs_of(SACCT))


def test_slurm_writes_local_time() -> None:
    jobs = jobs_of(SACCT, time_zone="America/New_York")
    assert jobs.submit_s[0] == MAY + 12 * 3600


def test_a_running_job_without_elapsed_is_cut_at_the_latest_time() -> None:
    rows = [row.split("|") for row in SACCT.splitlines()]
    text = "\n".join("|".join(row[:7] + row[8:]) for row in rows)
    jobs = jobs_of(text)
    assert jobs.duration_s.tolist() == [7200, 4200], "from 09:00 to the end of the other at 10:10"
    assert any("cut at the latest time in the file" in note for note in jobs.reading.notes)


def test_old_slurm() -> None:
    text = (
        "JobIDRaw|Submit|Start|ElapsedRaw|NNodes|ReqGRES|AllocGRES|Account\n"
        "1|2018-05-01T08:00:00|2018-05-01T08:00:00|60|2|gpu:4|gpu:8|x\n"
        "2|2018-05-01T08:00:00|2018-05-01T08:00:00|60|2|gpu:4||x\n"
    )
    jobs = jobs_of(text)
    assert jobs.gpus.tolist() == [8, 8], "allocated for the job, requested for each node"
    assert any("for each node" in note for note in jobs.reading.notes)


def test_mig_instances_of_slurm_are_noted() -> None:
    text = "JobID|Submit|Start|Elapsed|AllocTRES\n1|2024-05-01T08:00:00|2024-05-01T08:00:00|01:00|gres/gpu:1g.10gb=1\n"
    assert any("MIG" in note for note in jobs_of(text).reading.notes)


# ---- samples


SAMPLES = """\
time,host,gpu,gpu_util,project
2024-05-01 00:00:00,n1,0,50,vision
2024-05-01 00:01:00,n1,0,0,vision
2024-05-01 00:00:00,n2,0,100 %,speech
"""


def test_samples() -> None:
    found = samples_of(SAMPLES)
    assert found.quantity == "activity"
    assert found.percent.tolist() == [50, 0, 100]
    assert (found.time_s - MAY).tolist() == [0, 60, 0]
    assert found.gpus == ("n1 0", "n2 0")
    assert found.gpu.tolist() == [0, 0, 1]
    assert [found.groups[n] for n in found.group] == ["vision", "vision", "speech"]
    assert found.weight.tolist() == [1, 1, 1]


def test_samples_by_hand_as_ratios_and_by_user() -> None:
    text = "t,card,busy_ratio,who\n2024-05-01,a,0.25,ana\n2024-05-01,b,1,bo\n"
    found = samples_of(text, columns={"time": "t", "gpu": "card", "percent": "busy_ratio", "user": "who"})
    assert found.percent.tolist() == [25, 100]
    assert found.groups == ("ana", "bo")


def test_samples_out_of_range() -> None:
    found = samples_of(SAMPLES + "2024-05-01 00:00:00,n2,0,101,x\n2024-05-01 00:00:00,n2,0,-1,x\n")
    assert found.reading.skipped[0][:3] == ("percent is outside 0 to 100", 2, 5)


def test_samples_that_look_like_shares_are_noted() -> None:
    found = samples_of("time,gpu,percent\n2024-05-01,a,0.5\n2024-05-01,b,1\n")
    assert found.percent.tolist() == [0.5, 1]
    assert any("shares from 0 to 1" in note for note in found.reading.notes)


SMI = """\
timestamp, index, uuid, name, utilization.gpu [%], memory.used [MiB]
2024/05/01 12:00:00.123, 0, GPU-aa, NVIDIA A100-SXM4-40GB, 45 %, 1024 MiB
2024/05/01 12:00:00.125, 1, GPU-bb, NVIDIA A100-SXM4-40GB, 0 %, 3 MiB
timestamp, index, uuid, name, utilization.gpu [%], memory.used [MiB]
2024/05/01 12:00:05.123, 0, GPU-aa, NVIDIA A100-SXM4-40GB, 100 %, 1024 MiB
"""


@pytest.mark.parametrize(
    "text", [SMI, SMI.replace(" %,", ",").replace(" MiB\n", "\n")], ids=["units", "nounits"]
)
def test_nvidia_smi(text: str) -> None:
    found = samples_of(text)
    assert found.reading.format == "nvidia-smi"
    assert found.percent.tolist() == [45, 0, 100]
    assert found.gpus == ("GPU-aa", "GPU-bb")
    assert (found.reading.rows, found.reading.used) == (3, 3)
    assert found.time_s[0] == pytest.approx(MAY + 12 * 3600 + 0.123, abs=1e-6)
    assert found.metric == "utilization.gpu [%]"


def test_nvidia_smi_without_header() -> None:
    message = refused("2024/05/01 12:00:00.123, 0, GPU-aa, NVIDIA A100-SXM4-40GB, 45 %\n" * 3)
    assert "without noheader" in message


@pytest.mark.parametrize("value", ["[N/A]", "N/A", "[Not Supported]"])
def test_nvidia_smi_under_mig_names_the_right_counter(value: str) -> None:
    text = SMI.replace("45 %", value).replace("100 %", value).replace("0 %", value)
    message = refused(text)
    assert "MIG" in message
    assert "DCGM_FI_PROF_GR_ENGINE_ACTIVE" in message
    part = samples_of(SMI.replace("45 %", value))
    assert part.reading.used == 2
    assert any("DCGM_FI_PROF_GR_ENGINE_ACTIVE" in note for note in part.reading.notes)


def test_nvidia_smi_that_states_mig_mode() -> None:
    text = (
        "timestamp, uuid, mig.mode.current, utilization.gpu [%]\n"
        "2024/05/01 12:00:00.123, GPU-aa, Enabled, 0 %\n"
        "2024/05/01 12:00:00.123, GPU-bb, Disabled, 7 %\n"
    )
    assert samples_of(text).percent.tolist() == [7]
    assert "DCGM_FI_PROF_GR_ENGINE_ACTIVE" in refused(text.replace("Disabled", "Enabled"))


# ---- Prometheus


def labels(metric: str, gpu: str = "0", **more: str) -> dict[str, str]:
    return {
        "__name__": metric,
        "UUID": f"GPU-{gpu}",
        "gpu": gpu,
        "Hostname": "node1",
        "modelName": "NVIDIA A100-SXM4-80GB",
        **more,
    }


def answer(*series: tuple[Mapping[str, str], list[Any]]) -> str:
    result = [
        {"metric": dict(m), "values": [[MAY + 30 * n, v] for n, v in enumerate(vs)]} for m, vs in series
    ]
    return json.dumps({"status": "success", "data": {"resultType": "matrix", "result": result}})


UTIL, ACTIVE = "DCGM_FI_DEV_GPU_UTIL", "DCGM_FI_PROF_GR_ENGINE_ACTIVE"


def test_a_range_query() -> None:
    found = samples_of(
        answer((labels(UTIL, "0", namespace="a"), ["50", "70"]), (labels(UTIL, "1"), ["0", "NaN"]))
    )
    assert found.reading.format == "prometheus"
    assert found.percent.tolist() == [50, 70, 0]
    assert found.time_s.tolist() == [MAY, MAY + 30, MAY]
    assert found.gpus == ("GPU-0", "GPU-1")
    assert [found.groups[n] for n in found.group] == ["a", "a", NO_GROUP]
    assert found.metric == UTIL
    assert found.reading.skipped[0].reason == "no value"


@pytest.mark.parametrize("metric", [ACTIVE, "DCGM_FI_PROF_GR_ENGINE_UTIL_RATIO", "DCGM_FI_PROF_SM_ACTIVE"])
def test_ratios_become_per_cent(metric: str) -> None:
    found = samples_of(answer((labels(metric), ["0.5", "1"]), (labels(UTIL), ["7"])))
    assert found.percent.tolist() == [50, 100]
    assert found.metric == metric


@pytest.mark.parametrize("mig", [{"GPU_I_ID": "3", "GPU_I_PROFILE": "1g.10gb"}, {"GPU_I_PROFILE": "1g.10gb"}])
def test_the_counter_that_is_blind_under_mig_is_refused(mig: dict[str, str]) -> None:
    blind = labels(UTIL, "0", **mig)
    plain = labels(UTIL, "1")
    for text in (
        answer((blind, ["0", "0"])),
        answer((plain, ["50", "60"]), (blind, ["0", "0"])),
        "timestamp,gpu,GPU_I_ID,GPU_I_PROFILE,DCGM_FI_DEV_GPU_UTIL\n2024-05-01,0,,,50\n2024-05-01,0,3,1g.10gb,0\n",
        'Time,"DCGM_FI_DEV_GPU_UTIL{gpu=""0"",GPU_I_ID=""3""}"\n2024-05-01,0\n',
    ):
        message = refused(text)
        assert "DCGM_FI_DEV_GPU_UTIL" in message
        assert "refused" in message
        assert "DCGM_FI_PROF_GR_ENGINE_ACTIVE" in message


def test_empty_mig_labels_are_none() -> None:
    found = samples_of(answer((labels(UTIL, "0", GPU_I_ID="", GPU_I_PROFILE=""), ["40"])))
    assert found.percent.tolist() == [40]


def test_mig_instances_weigh_their_slices() -> None:
    found = samples_of(
        answer(
            (labels(ACTIVE, "0", GPU_I_ID="1", GPU_I_PROFILE="3g.40gb"), ["1"]),
            (labels(ACTIVE, "0", GPU_I_ID="2", GPU_I_PROFILE="1g.10gb"), ["0"]),
            (labels(UTIL, "0", GPU_I_ID="1", GPU_I_PROFILE="3g.40gb"), ["0"]),
        )
    )
    assert found.metric == ACTIVE, "the other counter is left aside, not refused"
    assert found.weight.tolist() == pytest.approx([3 / 7, 1 / 7])
    assert found.gpus == ("GPU-0 MIG 1", "GPU-0 MIG 2")
    notes = " ".join(found.reading.notes)
    assert "compute slices" in notes
    assert UTIL in notes


def test_mig_weights() -> None:
    assert mig_weight("7g.80gb", model="NVIDIA H100 80GB HBM3") == 1
    assert mig_weight("2g.12gb", model="NVIDIA A30") == 0.5
    assert mig_weight("", model="NVIDIA A30") == 1


def test_the_namespace_of_the_work_not_of_the_exporter() -> None:
    found = samples_of(
        answer(
            (labels(UTIL, "0", namespace="gpu-operator", exported_namespace="team-a"), ["5"]),
            (labels(UTIL, "1", namespace="gpu-operator", exported_namespace=""), ["5"]),
        )
    )
    assert [found.groups[n] for n in found.group] == ["team-a", NO_GROUP]
    by_pod = samples_of(
        answer((labels(UTIL, "0", namespace="a", pod="p-1"), ["5"])), columns={"group": "pod"}
    )
    assert by_pod.groups == ("p-1",)


def test_a_query_that_dropped_the_name() -> None:
    bare = labels(UTIL)
    del bare["__name__"]
    text = answer((bare, ["50"]))
    assert "columns metric" in refused(text)
    assert samples_of(text, columns={"metric": UTIL}).percent.tolist() == [50]
    assert "known are metric, group, time, value" in refused(text, columns={"gpus": "x"})


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"status": "error", "error": "too many points"}', "too many points"),
        ('{"status": "success", "data": {"resultType": "vector", "result": []}}', "a matrix is needed"),
        ('{"status": "success", "data": {"resultType": "matrix", "result": []}}', "no series"),
        ('{"status": "success", "data": {"resultType": "matrix", "result": [5]}}', "a list of series"),
        ('{"status": "success"}', "query_range"),
        ("[1, 2]", "query_range"),
        ('{"status": "succ', "no JSON"),
        (answer((labels("DCGM_FI_DEV_POWER_USAGE"), ["5"])), "no counter of activity"),
        (answer((labels(UTIL), ["9223372036854775794", "500"])), "outside 0 to 100"),
    ],
)
def test_answers_that_cannot_be_used(text: str, said: str) -> None:
    assert said in refused(text)


def test_a_sample_that_is_no_pair_is_left_out() -> None:
    text = answer((labels(UTIL), ["5", "6", "7"])).replace(f'[{MAY + 30}, "6"]', '["x"]')
    found = samples_of(text)
    assert found.percent.tolist() == [5, 7]
    assert found.reading.skipped[0].reason == "is no pair of a time and a value"


def test_tables_of_prometheus() -> None:
    long = (
        "timestamp,__name__,UUID,namespace,value\n"
        f"2024-05-01T00:00:00Z,{ACTIVE},GPU-0,a,0.5\n2024-05-01T00:00:30Z,{ACTIVE},GPU-1,b,1\n"
    )
    named = long.replace("value", ACTIVE).replace("__name__,", "").replace(f"{ACTIVE},GPU", "GPU")
    wide = (
        f'"Time","{ACTIVE}{{UUID=""GPU-0"", namespace=""a""}}","{{__name__=""{ACTIVE}"", UUID=""GPU-1"", namespace=""b""}}"\n'
        "2024-05-01 00:00:00,0.5,\n2024-05-01 00:00:30,,1\n"
    )
    for text in (long, named, wide):
        found = samples_of(text)
        assert found.percent.tolist() == [50, 100]
        assert found.gpus == ("GPU-0", "GPU-1")
        assert found.groups == ("a", "b")
        assert (found.time_s - MAY).tolist() == [0, 30]
        assert found.metric == ACTIVE
    mixed = long.replace(f"30Z,{ACTIVE}", f"30Z,{UTIL}")
    assert "several counters" in refused(mixed)


# ---- size


def test_many_rows_agree_with_what_was_written() -> None:
    rng = np.random.default_rng(1)
    count = 20_000
    submit = np.sort(rng.integers(0, 30 * 86400, count)) + int(MAY)
    duration = rng.integers(1, 100_000, count)
    gpus = rng.choice([1, 2, 4, 8], count)
    group = rng.integers(0, 7, count)
    rows = "".join(
        f"{datetime.fromtimestamp(int(t), UTC):%Y-%m-%dT%H:%M:%S},{d},{g},g{k}\n"
        for t, d, g, k in zip(submit, duration, gpus, group, strict=True)
    )
    jobs = jobs_of("submit,duration,gpus,group\n" + rows)
    assert np.array_equal(jobs.submit_s, submit)
    assert np.array_equal(jobs.duration_s, duration)
    assert np.array_equal(jobs.gpus, gpus)
    assert [jobs.groups[n] for n in jobs.group] == [f"g{k}" for k in group]


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(TraceError, match=r"^cannot read .*none\.csv: No such file or directory$"):
        read_trace(tmp_path / "none.csv")
    with pytest.raises(TraceError, match=r"^cannot read .*: Is a directory$"):
        read_trace(str(tmp_path))
