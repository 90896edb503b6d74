"""Logs: the busiest five minutes, what is left out, and traces that say what comes but not how fast it is served."""

from __future__ import annotations

from typing import Any

import pytest
from benchmark_results import Measured, aiperf_lines, litellm

from gpuplan.analysis.benchmarks.logs import LOGS
from gpuplan.analysis.benchmarks.tools import Record, Result
from gpuplan.catalog import CatalogError


def read(log: str, *rows: dict[str, Any]) -> list[Result]:
    return list(LOGS[log]([Record("f.jsonl", row, n) for n, row in enumerate(rows, 1)]))


def test_warm_up_errors_and_cancelled_requests_do_not_count() -> None:
    (found,) = read("aiperf-lines", *aiperf_lines(Measured(concurrency=4)))
    assert found.run.concurrency == pytest.approx(4, rel=1e-6) and len(found.warnings) == 1
    with pytest.raises(CatalogError):
        read("aiperf-lines", aiperf_lines(Measured())[0])


def test_a_log_is_read_by_model_and_keeps_no_person() -> None:
    rows = [row | {"user": "jane", "end_user": "joe"} for row in litellm(Measured(concurrency=4))]
    one, two = read("litellm", *rows, *(row | {"model_group": "other"} for row in rows))
    assert (one.run.model, two.run.model) == (Measured().model, "other")
    assert "jane" not in repr(one) and "joe" not in repr(one)


def test_without_streaming_there_is_no_first_token() -> None:
    rows = [row | {"completionStartTime": row["endTime"]} for row in litellm(Measured(concurrency=2))]
    (found,) = read("litellm", *rows)
    assert found.run.ttft_ms is None and found.run.tpot_ms is None and found.run.tokens_per_s


def test_the_busiest_five_minutes_count() -> None:
    def row(at: int) -> dict[str, Any]:
        return {
            "startTime": f"2026-11-27T{at // 60:02d}:{at % 60:02d}:00",
            "endTime": f"2026-11-27T{at // 60:02d}:{at % 60:02d}:30",
            "prompt_tokens": 100,
            "completion_tokens": 10,
        }

    rows = [row(0), *[row(61) for _ in range(20)], row(300)]
    (found,) = read("litellm", *rows)
    assert found.run.concurrency == pytest.approx(20 * 30 / 300)
    assert found.figures["requests_per_s"] == pytest.approx(20 / 300)


@pytest.mark.parametrize(
    "wrong", [{"endTime": "soon"}, {"endTime": "2026-11-27T10:00:00Z"}, {"startTime": None}]
)
def test_times_that_cannot_be_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(CatalogError, match=r"f\.jsonl, line 1.*(endTime|startTime)"):
        read("litellm", litellm(Measured())[0] | wrong)


@pytest.mark.parametrize(
    "rows",
    [
        [
            {"timestamp": 1000 * n, "input_length": 1024, "output_length": 128, "hash_ids": [0, n]}
            for n in range(5)
        ],
        [
            {"t": n, "in": 1024, "out": 128, "hash_ids": [*range(8), *range(100 * n, 100 * n + 8)]}
            for n in range(1, 6)
        ],
    ],
)
def test_a_trace_gives_rate_lengths_and_what_a_cache_would_hold(rows: list[dict[str, Any]]) -> None:
    (found,) = read("mooncake", *rows)
    assert (found.run.isl, found.run.osl, found.run.ttft_ms) == (1024, 128, None)
    assert found.figures["requests_per_s"] == pytest.approx(1)
    assert found.figures["prefix_hit"] == pytest.approx(0.8 / 2)


def test_a_block_counts_with_all_before_it() -> None:
    rows = [
        {"timestamp": n, "input_length": 32, "output_length": 1, "hash_ids": ids}
        for n, ids in enumerate([[1, 2], [3, 2]])
    ]
    (found,) = read("mooncake", *rows)
    assert found.figures["prefix_hit"] == 0


def test_calls_of_an_agent_are_one_request() -> None:
    rows = [
        {
            "arrival_time_ns": 2e9 * n,
            "sub_requests": [{"input_toks": 100, "output_toks": 5}, {"input_toks": 200, "output_toks": 5}],
        }
        for n in range(3)
    ]
    (found,) = read("mooncake", *rows)
    assert (found.run.isl, found.run.osl, found.figures["requests_per_s"]) == (300, 10, 0.5)


def test_an_export_of_use_gives_its_busiest_bucket_without_batches() -> None:
    def bucket(n: int, requests: int, batch: bool = False) -> dict[str, Any]:
        tokens = {
            "input_tokens": 1000 * requests,
            "output_tokens": 200 * requests,
            "input_cached_tokens": 250 * requests,
        }
        row = tokens | {"num_model_requests": requests, "model": "m", "batch": batch}
        return {"start_time": 3600 * n + 1, "end_time": 3600 * n + 3601, "results": [row]}

    (found,) = read("openai", {"data": [bucket(0, 360), bucket(1, 7200), bucket(2, 99_000, batch=True)]})
    assert (found.run.isl, found.run.osl, found.figures["requests_per_s"]) == (1000, 200, 2)
    assert found.figures["prefix_hit"] == 0.25
