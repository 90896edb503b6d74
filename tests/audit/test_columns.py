"""Columns by their names however spelled, their units, and what their values say against both."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import product

import numpy as np
import pytest
from traces import jobs_of, read, refused

from gpuplan.audit import Requests, Samples
from gpuplan.audit.columns import words_of

UNITS = {
    "ns": (1e-9, ["ns", "nanoseconds"]),
    "us": (1e-6, ["us", "usec", "micros", "\u00b5s", "microseconds"]),
    "ms": (1e-3, ["ms", "msec", "millis", "milliseconds"]),
    "s": (1.0, ["s", "sec", "secs", "seconds"]),
    "min": (60.0, ["min", "mins", "minutes"]),
    "h": (3600.0, ["h", "hr", "hrs", "hours"]),
    "d": (86400.0, ["d", "days"]),
}
SPELLINGS = (
    lambda name, unit: f"{name}_{unit}",
    lambda name, unit: f"{name.upper()}_{unit.upper()}",
    lambda name, unit: f"{name.replace('_', ' ').title()} ({unit})",
    lambda name, unit: f"{name.replace('_', '-')} [{unit}]",
    lambda name, unit: f"{name.split('_')[0]}{''.join(w.title() for w in name.split('_')[1:])}{unit.title()}",
    lambda name, unit: f" {name}.in.{unit} ",
    lambda name, unit: f"{name}/{unit}",
)
STARTS = ("start", "start_time", "started_at", "job_start", "start_ts", "begin_time")
LENGTHS = ("duration", "run_time", "elapsed", "wall_time", "execution_time", "job_duration")
TIMES = ("timestamp", "time", "created_at", "arrival_time", "request_time")


def spelled(names: tuple[str, ...]) -> Iterator[tuple[str, str, float]]:
    """Yield each name with each unit, spelled in one of the ways, and the seconds of the unit."""
    for n, (name, (unit, (seconds, words))) in enumerate(product(names, UNITS.items())):
        for m, word in enumerate(words):
            yield SPELLINGS[(n + m) % len(SPELLINGS)](name, word), unit, seconds


def in_unit(seconds: float, unit_s: float) -> str:
    return f"{seconds / unit_s:.12g}"


@pytest.mark.parametrize("name", LENGTHS)
def test_a_length_of_time_is_the_same_in_every_unit_and_spelling(name: str) -> None:
    for column, unit, seconds in spelled((name,)):
        rows = f"2024-05-01 00:00:00,{in_unit(7200, seconds)},2\n2024-05-01 00:00:00,{in_unit(86400, seconds)},1\n"
        jobs = jobs_of(f"submit,{column},gpus\n{rows}")
        assert jobs.amount.tolist() == pytest.approx([4, 24]), column
        read_in = jobs.reading.units["duration"]
        assert read_in.unit and (read_in.unit.name, read_in.by) == (unit, "name"), column


@pytest.mark.parametrize("name", STARTS)
@pytest.mark.parametrize("since", [0.0, 1.7e9])
def test_starts_and_ends_are_the_same_in_every_unit_and_spelling(name: str, since: float) -> None:
    for column, unit, seconds in spelled((name,)):
        if since and unit in ("min", "h", "d", "ns"):
            continue
        end = column.replace("start", "end").replace("START", "END").replace("Start", "End")
        end = end.replace("begin", "end").replace("BEGIN", "END").replace("Begin", "End")
        cells = [(since + 3600 * a, since + 3600 * b) for a, b in ((0, 1), (0.5, 1.5), (2, 4))]
        rows = "".join(
            f"{in_unit(a, seconds)},{in_unit(b, seconds)},{g}\n"
            for (a, b), g in zip(cells, (2, 4, 1), strict=True)
        )
        jobs = jobs_of(f"{column},{end},num_gpus\n{rows}")
        assert jobs.amount.sum() == pytest.approx(8, rel=1e-4), column
        assert jobs.start_s[2] - jobs.start_s[0] == pytest.approx(7200, abs=1), column


@pytest.mark.parametrize("name", TIMES)
def test_requests_come_as_fast_in_every_unit_and_spelling(name: str) -> None:
    for column, _, seconds in spelled((name,)):
        rows = "".join(f"{in_unit(n / 2, seconds)},10,20\n" for n in range(241))
        found = read(f"{column},prompt_tokens,output_tokens\n{rows}")
        assert isinstance(found, Requests)
        assert found.time_s[-1] == pytest.approx(120), column


TOKENS = {
    "in": ("prompt", "input", "context", "prefill"),
    "out": ("completion", "output", "generated", "decode"),
}


@pytest.mark.parametrize(
    "spelling",
    [
        *("{}_tokens", "num_{}_tokens", "n_{}_tokens_total", "usage.{}_tokens", "gen_ai.usage.{}_tokens"),
        *("{}Tokens", "{}_len", "{}_length", "{} token count", "{}_tok", "Number of {} Tokens", "{}tokens"),
    ],
)
def test_counts_of_tokens_are_known_however_they_are_spelled(spelling: str) -> None:
    for of_in, of_out in product(TOKENS["in"], TOKENS["out"]):
        text = f"created,prompt,max_tokens,{spelling.format(of_out)},{spelling.format(of_in)}\n"
        found = read(text + "".join(f"{n},hello,4096,{n + 7},{n + 1}\n" for n in range(9)))
        assert isinstance(found, Requests), text
        assert (found.tokens_in.sum(), found.tokens_out.sum()) == (45, 99), text


@pytest.mark.parametrize(
    ("name", "per_s"), [("t", 1), ("t_s", 1e3), ("t_ms", 1), ("t_ms", 1e6), ("t_h", 1), ("t", 1e9)]
)
def test_times_since_1970_are_in_the_unit_of_their_size(name: str, per_s: float) -> None:
    rows = "".join(f"{(1.7e9 + n) * per_s:.0f},60,1\n" for n in range(3))
    jobs = jobs_of(f"{name},duration,gpus\n{rows}", columns={"submit": name})
    assert jobs.submit_s.tolist() == pytest.approx([1.7e9, 1.7e9 + 1, 1.7e9 + 2])
    assert jobs.reading.units["submit"].by == "size"


@pytest.mark.parametrize(
    ("column", "whole", "given"),
    [
        *(
            (name, 100, "")
            for name in ("utilization.gpu [%]", "GPU Usage (%)", "gpu_util", "sm_util", "load")
        ),
        *((name, 1, "") for name in ("gpu_util_ratio", "util_share", "gr_engine_active", "SM Active")),
        *(("x", whole, unit) for whole, unit in ((1, "x:ratio"), (100, "x:percent"), (100, "x"))),
    ],
)
def test_how_busy_a_gpu_was_is_known_as_per_cent_or_as_a_share(column: str, whole: int, given: str) -> None:
    text = f"epoch_ms,device,{column}\n" + "".join(
        f"{1_735_689_600_000 + 60_000 * n},0,{whole * n / 8:g}\n" for n in range(9)
    )
    found = read(text, columns={"percent": given} if given else {})
    assert isinstance(found, Samples)
    assert found.percent.tolist() == pytest.approx([12.5 * n for n in range(9)])
    assert np.ptp(found.time_s) == 480


def test_the_unit_given_by_hand_decides() -> None:
    jobs = jobs_of("a,b,gpus\n1,2,1\n", columns={"start": "a:h", "end": "b:h"})
    assert jobs.amount.tolist() == [1]
    assert jobs.reading.units["end"].by == "hand"
    assert jobs_of(
        "a:b,c,gpus\n1,2,1\n", columns={"start": "a:b", "duration": "c:min"}
    ).duration_s.tolist() == [120]
    assert jobs_of(
        "submit,duration_h,gpus\n0,2,1\n", columns={"duration": "duration_h:s"}
    ).duration_s.tolist() == [2]
    for wrong in ("a:fortnight", "c:h", "a:percent"):
        assert "columns.start" in refused("a,b,gpus\n1,2,1\n", columns={"start": wrong, "end": "b"})


def test_a_duration_is_in_the_unit_in_which_it_agrees_with_start_and_end() -> None:
    rows = "2024-05-01 00:00:00,2024-05-01 02:00:00,{},1\n2024-05-01 00:00:00,2024-05-01 03:00:00,{},1\n"
    for name, cells in (("duration", (120, 180)), ("duration_ms", (7200, 10800)), ("elapsed", (2, 3))):
        jobs = jobs_of(f"start,end,{name},gpus\n" + rows.format(*cells))
        assert jobs.amount.sum() == pytest.approx(5), name
        assert jobs.reading.units["duration"].by == "end"
    jobs = jobs_of("start,end,duration,gpus\n" + rows.format(120, 180), columns={"duration": "duration:s"})
    assert jobs.duration_s.tolist() == [120, 180]


@pytest.mark.parametrize(
    "text", ["2h", "120 min", "1h60m", "7200s", "PT2H", "P0DT2H0M", "0d 2h", "2 hours", "7.2e3", "2:00:00"]
)
def test_a_unit_beside_the_value(text: str) -> None:
    assert jobs_of(f"submit,duration,gpus\n2024-05-01,{text},1\n").duration_s.tolist() == [7200]


def test_a_decimal_comma_before_a_unit() -> None:
    jobs = jobs_of("submit;duration;gpus\n2024-05-01;1,5 h;1\n2024-05-01;1 day, 2h;1\n2024-05-01;5,400 s;1\n")
    assert jobs.duration_s.tolist() == [5400, 93600]
    assert [left.rows for left in jobs.reading.skipped] == [1]


@pytest.mark.parametrize("text", ["2 fortnights", "h", "2h of it", "PT", "1h-"])
def test_what_is_no_length_of_time(text: str) -> None:
    assert json.dumps(text) in refused(f"submit,duration,gpus\n2024-05-01,{text},1\n")


def groups_by(column: str, values: list[object]) -> tuple[str, ...]:
    rows = "".join(f"2024-05-01,60,1,{value},u{n % 2}\n" for n, value in enumerate(values))
    return jobs_of(f"submit,duration,gpus,{column},user\n{rows}").groups


def test_a_column_of_measures_is_no_group_because_of_its_name() -> None:
    for column in ("queue", "partition", "project", "account", "vc"):
        for waits in (
            [600, 7, 9],
            [0, 0, 0, 0, 11, 23],
            [0.5, 0.5, 1.5, 1.5],
            ["00:10:00", "00:00:07"],
            [0] * 5,
        ):
            assert groups_by(column, waits) == ("all",), (column, waits)
        assert groups_by(column, ["a", "b", "a"]) == ("a", "b")
        assert groups_by(column, ["a100", "4", "7"]) == ("all",)
    assert groups_by("project", [13, 57, 57, 13, 13, 99, 99]) == ("13", "57", "99"), "codes"
    assert groups_by("queue", [0, 7, 7, 0, 0, 9, 9]) == ("all",), "the wait of public traces"
    assert jobs_of("submit,duration,gpus,queue\n0,60,1,5\n", columns={"group": "queue"}).groups == ("5",)


def test_the_next_name_is_the_group_where_the_first_holds_measures() -> None:
    jobs = jobs_of("submit,duration,gpus,queue,team\n2024-05-01,60,1,600,x\n2024-05-01,60,1,7,y\n")
    assert jobs.groups == ("x", "y")
    assert any('"queue"' in note for note in jobs.reading.notes)
    assert any("'queue'" in note for note in jobs.reading.notes), "nor is it read as anything else"


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("gpu_num", ["gpu", "num"]),
        ("numGPUs", ["num", "gpus"]),
        ("GPUCount", ["gpu", "count"]),
        ("GPU Memory (MB)", ["gpu", "memory", "mb"]),
        ("utilization.gpu [%]", ["utilization", "gpu", "percent"]),
        ("Per cent", ["percent"]),
        ("\u00b5s", ["us"]),
        ("", []),
    ],
)
def test_words_of_a_name(name: str, words: list[str]) -> None:
    assert words_of(name) == words


def test_a_gpu_model_is_no_count_of_gpus() -> None:
    jobs = jobs_of("submit,duration,gpu,gpu_request\n2024-05-01,60,A100,2\n")
    assert jobs.gpus.tolist() == [2]
