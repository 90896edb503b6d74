"""Times and lengths of time as they are written."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from approved import has_approved, is_approved
from random_cases import cases
from traces import jobs_of, read, refused


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
        ("duration_h", "1:30", 5400),
        ("duration_h", "0:01:30", 90),
        ("duration_min", "1:30", 90),
    ],
)
def test_lengths_of_time(column: str, value: str, seconds: float) -> None:
    jobs = jobs_of(f"submit,{column},gpus\n2024-05-01 00:00:00,{value},1\n")
    assert jobs.duration_s.tolist() == [seconds]


def test_decimal_commas_where_semicolons_divide() -> None:
    assert jobs_of("submit;duration;gpus\n2024-05-01;60;0,5\n").gpus.tolist() == [0.5]


def test_commas_in_a_number_divide_thousands_where_commas_divide_columns() -> None:
    text = 'submit,duration,gpus\n2024-05-01,"86,400","1,000"\n2024-05-01,"1,086,400.5","0,125"\n'
    jobs = jobs_of(text)
    assert jobs.duration_s.tolist() == [86400, 1086400.5]
    assert jobs.gpus.tolist() == [1000, 0.125]
    assert jobs_of("submit;duration_h;gpus\n2024-05-01;1,125;1\n").duration_s.tolist() == [4050]
    nodes = jobs_of("submit\tduration\tnodes\tgpus_per_node\n2024-05-01\t60\t1,000\t4\n")
    assert nodes.gpus.tolist() == [4000]


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
        ("01.05.2024 14:00", "Europe/Berlin", "2024-05-01T12:00:00"),
        ("2024/5/1 9:05:00 UTC", "Europe/Berlin", "2024-05-01T09:05:00"),
        ("01/May/2024:09:05:00 +0200", "UTC", "2024-05-01T07:05:00"),
        ("2024-05-01 14:00:00 +0200", "UTC", "2024-05-01T12:00:00"),
        ("1714564800", "Europe/Berlin", "2024-05-01T12:00:00"),
        ("1714564800123", "Europe/Berlin", "2024-05-01T12:00:00.123"),
    ],
)
def test_times(text: str, zone: str, utc: str) -> None:
    rows = f"submit,duration,gpus\n{text},60,1\n{text},60,1\n"
    expected = datetime.fromisoformat(utc).replace(tzinfo=UTC).timestamp()
    assert jobs_of(rows, time_zone=zone).submit_s.tolist() == pytest.approx([expected] * 2, abs=1e-6)


@pytest.mark.parametrize("digits", [6, 10])
def test_times_as_spreadsheets_count_them(digits: int) -> None:
    # 2024-05-01 is day 45413 from the end of 1899
    rows = "".join(f"{45413 + hour / 24:.{digits}f},60,1\n" for hour in range(0, 40, 5))
    jobs = jobs_of("submit,duration,gpus\n" + rows, time_zone="Europe/Berlin")
    first = datetime(2024, 5, 1, tzinfo=UTC).timestamp()
    assert jobs.submit_s.tolist() == pytest.approx([first + 3600 * h for h in range(0, 40, 5)], abs=0.05)
    by_hand = jobs_of("submit,duration,gpus\n45413,60,1\n", columns={"submit": "submit:d"})
    assert by_hand.submit_s.tolist() == [first]


@pytest.mark.parametrize("times", [["45413", "45414"], ["45413.1", "45414.23"], ["0.5", "45413.5"]])
def test_seconds_are_no_days_of_a_spreadsheet(times: list[str]) -> None:
    jobs = jobs_of("submit,duration,gpus\n" + "".join(f"{text},60,1\n" for text in times))
    assert jobs.submit_s.tolist() == [float(text) for text in times]


def test_every_minute_around_both_clock_changes() -> None:
    # Berlin: 31 March 2024 02:00 -> 03:00, 27 October 03:00 -> 02:00
    zone = ZoneInfo("Europe/Berlin")
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
    assert has_approved(notes, "60 times")
    assert has_approved(notes, "60 times")


def test_a_zone_that_moves_by_half_an_hour() -> None:
    zone = ZoneInfo("Australia/Lord_Howe")
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
    assert is_approved(left[:3], "1", "3")
    assert text[:9] in left.example


@pytest.mark.parametrize(
    "duration", ["9" * 5000 + "-00:01:30", "9" * 400 + ":01:30", "9" * 5000, "1e999", "nan", "-1"]
)
def test_durations_that_are_none(duration: str) -> None:
    assert "line 2" in refused(f"submit,duration,gpus\n2024-05-01,{duration},1\n")


WAYS = {
    "%m/%d/%Y %H:%M:%S": "mdy",
    "%d/%m/%Y %H:%M:%S": "dmy",
    "%d-%m-%Y %H:%M": "dmy",
    "%m/%d/%Y %I:%M:%S %p": "mdy",
    "%d.%m.%Y %H:%M": "",
    "%d-%b-%Y %H:%M:%S": "",
    "%b %d, %Y %I:%M %p": "",
    "%a %b %d %H:%M:%S %Y": "",
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("padded", [True, False])
def test_dates_as_offices_and_schedulers_write_them(way: str, padded: bool) -> None:
    """The same times as in the form of ISO 8601; what is first is decided by any value of any column of times."""
    for rng in cases(40_11, 60, few=10):
        begin = datetime(2025, rng.randint(1, 12), rng.randint(1, 12), 12)
        late = datetime(2025, rng.randint(1, 12), rng.randint(13, 28), rng.randrange(24), 5)
        submits = [begin + timedelta(minutes=n) for n in range(rng.choice((3, 700)))] + [late]
        rows = [(t, t + timedelta(hours=1), t + timedelta(hours=2)) for t in submits]
        texts = [[t.strftime(way) for t in row] for row in rows]
        if not padded:
            texts = [[re.sub(r"(^|(?<=[/.-]))0(?=\d[/.-])", "", text) for text in row] for row in texts]
        head = "submit,start,end,gpus\n"
        jobs = jobs_of(head + "".join(",".join(f'"{t}"' for t in row) + ",2\n" for row in texts))
        assert jobs.submit_s.tolist() == [t.replace(tzinfo=UTC).timestamp() for t in submits], texts
        assert jobs.duration_s.tolist() == [3600] * len(rows)
        unit = jobs.reading.units["submit"].unit
        assert (unit.name if unit else "") == WAYS[way]


@pytest.mark.parametrize(
    ("head", "row", "value"),
    [
        ("submit,duration,gpus", "3/4/2025 10:00:{:02},60,1", "submit"),
        ("time,prompt_tokens,output_tokens", "3/4/2025 10:00:{:02},10,20", "time"),
        ("time,gpu,percent", "3/4/2025 10:00:{:02},0,50", "time"),
    ],
)
def test_no_row_is_lost_by_looking_for_the_order_of_dates(head: str, row: str, value: str) -> None:
    text = "\n".join([head, *(row.format(n % 60) for n in range(700))])
    found = read(text, columns={value: f"{head.partition(',')[0]}:dmy"})
    assert found.reading.rows == 700


@pytest.mark.parametrize("odd", ["7258118400", "9e10", "-1", "nan", "inf", "soon", ""])
def test_a_column_of_seconds_leaves_out_what_is_no_time(odd: str) -> None:
    rows = "".join(f"{1_700_000_000 + n},60,1\n" for n in range(9))
    jobs = jobs_of(f"submit,duration,gpus\n{rows}{odd},60,1\n")
    assert jobs.submit_s.tolist() == [1_700_000_000 + n for n in range(9)]
    assert sum(left.rows for left in jobs.reading.skipped) == 1


def test_dates_that_could_be_either_are_refused_with_the_correction() -> None:
    text = "submit,start,end,gpus\n" + "3/4/2025 10:00,3/4/2025 11:00,4/4/2025 11:00,1\n" * 3
    assert "submit=submit:dmy" in refused(text)
    for order, month in (("dmy", 4), ("mdy", 3)):
        jobs = jobs_of(text, columns={"submit": f"submit:{order}"})
        assert {datetime.fromtimestamp(t, UTC).month for t in jobs.submit_s} == {month}, (
            "and for the others, too"
        )
    both = jobs_of(text.replace("end", "end_dmy"))
    assert both.duration_s.tolist() == [86400] * 3
    mixed = jobs_of(
        text
        + "13/4/2025 10:00,13/4/2025 11:00,14/4/2025 11:00,1\n4/13/2025 1:00,4/13/2025 1:00,4/13/2025 2:00,1\n"
    )
    assert [left.rows for left in mixed.reading.skipped] == [1], "what is against the order is no time"
