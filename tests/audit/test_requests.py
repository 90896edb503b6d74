"""Requests to a language model are recognised by their headers and read; what cannot be is said."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import numpy as np
import pytest
from approved import has_approved, is_approved
from traces import read, refused

from gpuplan.audit import Jobs, Requests, TraceError, cut_days

AZURE = """\
TIMESTAMP,ContextTokens,GeneratedTokens
2023-11-16 18:15:46.6805900,374,44
2023-11-16 18:15:50.9951690,396,109
2023-11-16 18:15:48.2224640,879,55
"""


def requests_of(text: str, **options: Any) -> Requests:
    found = read(text, **options)
    assert isinstance(found, Requests)
    return found


def test_the_azure_traces_are_recognised_and_put_in_order() -> None:
    found = requests_of(AZURE)
    assert found.reading.format == "requests"
    assert found.tokens_in.tolist() == [374, 879, 396]
    assert found.tokens_out.tolist() == [44, 55, 109]
    assert found.time_s[0] == pytest.approx(datetime(2023, 11, 16, 18, 15, 46, 680590, UTC).timestamp())
    assert found.groups == ("all",)
    assert has_approved(found.reading.notes)


@pytest.mark.parametrize(
    ("header", "row"),
    [
        (
            "Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type",
            "5,GPT-4,472,18,490,API log",
        ),
        ("arrived_at,num_prefill_tokens,num_decode_tokens", "0.5,472,18"),
        ("time,model,prompt_tokens,completion_tokens", "2024-05-01T00:00:00Z,m,472,18"),
        ("timestamp,input_length,output_length", "1714521600,472,18"),
        ("created_at,input_tokens,output_tokens,user", "2024-05-01 10:00,472,18,ana"),
    ],
)
def test_names_of_other_traces_are_known(header: str, row: str) -> None:
    found = requests_of(f"{header}\n{row}\n")
    assert (found.tokens_in[0], found.tokens_out[0]) == (472, 18)


def test_columns_named_by_hand() -> None:
    found = requests_of(
        "at,p,a\n2024-05-01,7,8\n", columns={"time": "at", "tokens_in": "p", "tokens_out": "a"}
    )
    assert (found.tokens_in[0], found.tokens_out[0]) == (7, 8)


def test_jobs_are_still_jobs() -> None:
    assert isinstance(read("submit_time,duration,num_gpus\n2024-05-01,60,1\n"), Jobs)


def test_requests_without_an_answer_are_left_out_and_counted() -> None:
    found = requests_of("timestamp,model,input_tokens,output_tokens\n5,a,10,0\n6,b,10,20\n7,a,0,4\n8,b,5,\n")
    assert found.tokens_out.tolist() == [20] and found.groups == ("b",)
    assert is_approved(
        {(s.reason, s.rows) for s in found.reading.skipped},
        "no answer",
        "1",
        "no prompt",
        "1",
        "tokens_out",
        "1",
    )


def test_what_cannot_be_read_is_refused() -> None:
    assert has_approved(refused("time,prompt_tokens\n1,2\n", format="requests"), "tokens_in", "tokens_out")
    assert has_approved(refused("time,input_tokens,output_tokens\n1,-2,3\n2,1.5,3\n"))
    assert has_approved(refused("a,b\n1,2\n"), "tokens_in", "tokens_out")


def test_days_are_cut() -> None:
    rows = "".join(f"2024-05-0{day} 12:00:00,10,{day}\n" for day in range(1, 6))
    found = cut_days(
        requests_of("time,input_tokens,output_tokens\n" + rows), first_day="2024-05-02", last_day="3"
    )
    assert found.tokens_out.tolist() == [2, 3]
    assert has_approved(found.reading.notes[-1], "3", "5 requests")
    with pytest.raises(TraceError, match="nothing is left"):
        cut_days(requests_of(AZURE), first_day="2024-01-01")


def test_some_of_them() -> None:
    found = requests_of(AZURE)
    assert found.where(found.tokens_in > 380).tokens_out.tolist() == [55, 109]
    assert found.where(np.array([0])).groups == found.groups


def test_requests_of_overlapping_exports_count_once() -> None:
    head = "request_id,timestamp,prompt_tokens,completion_tokens\n"
    rows = [f"r{n},2024-05-01 00:00:{n:02},{10 + n},5\n" for n in range(9)]
    for text in (head + "".join(rows[:6] + rows[3:]), head + "".join(rows[:6]) + head + "".join(rows[3:])):
        found = requests_of(text)
        assert found.tokens_in.tolist() == [10 + n for n in range(9)]
        assert [(left.rows, left.first_line) for left in found.reading.skipped] == [
            (3, text.count("request_id") + 7)
        ]
    azure = requests_of(AZURE + AZURE)
    assert len(azure.time_s) == 3, "a second header tells where another export begins"
    assert len(requests_of(AZURE + AZURE.split("\n", 1)[1]).time_s) == 6
    retried = requests_of(head + rows[0] + rows[0].replace("00:00:00", "00:01:00"))
    assert len(retried.time_s) == 2
