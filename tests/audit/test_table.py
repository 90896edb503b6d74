"""Tables: delimiters, names, limits, and what is said of rows that cannot be read."""

from __future__ import annotations

import gzip
from zoneinfo import ZoneInfo

import pytest
from approved import has_approved, is_approved
from traces import GOOD, JOBS, jobs_of, refused, same

from gpuplan.audit import files, prometheus, table, trace
from gpuplan.audit.jobs import read_jobs
from gpuplan.audit.trace import MAX_NAME, NO_GROUP
from gpuplan.audit.values import Clock


@pytest.mark.parametrize("delimiter", [";", "\t", "|"])
def test_other_delimiters(delimiter: str) -> None:
    same(jobs_of(JOBS.replace(",", delimiter)), jobs_of(JOBS))


def test_names_are_cut_and_stay_apart() -> None:
    long = "x" * 100
    text = "submit,duration,gpus,group\n" + "".join(
        f"2024-05-01,60,1,{name}\n" for name in (long, long + "y", "=1+1\x07", "", "  ", "a", "a ")
    )
    jobs = jobs_of(text)
    assert all(len(name) <= 60 and name.isprintable() for name in jobs.groups)
    assert len(set(jobs.groups)) == len(jobs.groups)
    assert jobs.groups == ("x" * 60, "x" * 58 + "~2", "=1+1\\x07", NO_GROUP, "a")


def test_no_rows() -> None:
    assert "empty" in refused("")
    assert "empty" in refused("\n \n")
    assert "empty" in refused(gzip.compress(b""))
    assert "no rows" in refused("submit,duration,gpus\n")


def test_a_wrong_delimiter() -> None:
    message = refused(JOBS.replace(",", "#"))
    assert "line 1" in message
    assert has_approved(message)


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


def test_a_file_of_which_more_than_half_is_bad_is_refused() -> None:
    bad = ["x,60,1", "2024-05-01,-1,1", "2024-05-01,-2,1", "2024-05-01,60,?", "2024-05-01"]
    text = "submit,duration,gpus\n" + GOOD * 4 + "\n".join(bad) + "\n"
    message = refused(text)
    assert has_approved(message, "5", "9 rows")
    assert has_approved(message, "7", '"-1"', "2 rows")
    assert message.count("line ") == 3, "the three commonest reasons"
    assert jobs_of(text + GOOD).reading.used == 5, "half of it is not more than half"


def test_a_file_with_nothing_to_use_says_why() -> None:
    message = refused("submit,duration,gpus\n2024-05-01,60,0\n2024-05-01,60,0\n")
    assert has_approved(message, "2 rows")
    assert "no GPUs (2 rows)" in message


def test_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table, "MAX_ROWS", 10)
    assert "10 rows or more" in refused("submit,duration,gpus\n" + GOOD * 11)
    monkeypatch.setattr(files, "MAX_CHARACTERS", 100)
    assert "longer than 100 characters" in refused("submit,duration,gpus\n" + GOOD * 11)
    monkeypatch.setattr(prometheus, "MAX_JSON_BYTES", 10)
    assert "larger step" in refused('{"status": "success"}')


def test_more_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table, "MAX_COLUMNS", 10)
    assert is_approved(refused(",".join("abcdefghijk") + "\n"), "1", "11 columns", "10")
    monkeypatch.setattr(trace, "MAX_NAMES", 3)
    rows = "".join(f"2024-05-01,60,1,{name}\n" for name in "abcd")
    assert has_approved(refused("submit,duration,gpus,group\n" + rows), "3")
    monkeypatch.setattr(table, "MAX_ROWS", 10)
    assert "mostly empty lines" in refused("submit,duration,gpus\n" + "\n" * 30 + GOOD)
    monkeypatch.setattr(prometheus, "MAX_JSON_VALUES", 30)
    assert has_approved(refused('{"data": [' + "[1,2]," * 20 + "3]}"), "10 samples")


def test_very_many_names_that_begin_alike_are_told_apart() -> None:
    rows = "".join(f"2024-05-01,60,1,{'x' * 60}{n}\n" for n in range(2_000))
    groups = jobs_of("submit,duration,gpus,group\n" + rows).groups
    assert len(set(groups)) == 2_000
    assert max(map(len, groups)) == MAX_NAME


def test_a_format_gives_a_header_and_rows() -> None:
    header, rows = ["submit", "duration", "gpus", ""], [(3, ["2024-05-01", "60", "2"]), (7, ["?", "60", "1"])]
    clock = Clock(ZoneInfo("UTC"))
    jobs = read_jobs(table.Table(header, rows), {}, clock)
    assert jobs.gpus.tolist() == [2]
    assert [s.first_line for s in jobs.reading.skipped] == [7]


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize("end", ["", "\n", '\n4,2024-05-01,60,1,"zoe"\n'])
@pytest.mark.parametrize("column", range(5))
@pytest.mark.parametrize("row", range(3))
def test_an_open_quote_does_not_hold_rows_in_silence(row: int, column: int, end: str, delimiter: str) -> None:
    rows = [[str(n), "2024-05-01", "60", "1", "ann"] for n in range(4)]
    rows[row][column] = '"' + rows[row][column]
    text = "id,submit,duration,gpus,user\n" + "\n".join(map(",".join, rows)) + end
    assert f"line {row + 2}" in refused(text.replace(",", delimiter))


def test_a_cell_of_several_lines_is_a_cell() -> None:
    text = 'submit,duration,gpus,comment\n2024-05-01,60,1,"one, two\nthree"\n2024-05-01,60,2,"\n"\n'
    assert jobs_of(text).gpus.tolist() == [1, 2]
