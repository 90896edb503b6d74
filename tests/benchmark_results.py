"""Result files as benchmark tools write them, in several versions, of a run whose figures are known."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Measured:
    """A run that agrees with itself: rate times stay is its concurrency."""

    concurrency: int = 32
    isl: int = 1024
    osl: int = 256
    ttft_ms: float = 365.0
    tpot_ms: float = 15.0
    requests: int = 320
    model: str = "meta-llama/Llama-3.1-8B-Instruct"

    @property
    def stay_ms(self) -> float:
        return self.ttft_ms + self.tpot_ms * (self.osl - 1)

    @property
    def rate(self) -> float:
        return self.concurrency / self.stay_ms * 1e3

    @property
    def tokens_per_s(self) -> float:
        return self.rate * self.osl

    @property
    def seconds(self) -> float:
        return self.requests / self.rate


def vllm(run: Measured, **other: Any) -> dict[str, Any]:
    return {
        "date": "20261127-101500",
        "endpoint_type": "openai",
        "backend": "vllm",
        "label": None,
        "model_id": run.model,
        "tokenizer_id": run.model,
        "num_prompts": run.requests,
        "request_rate": "inf",
        "burstiness": 1.0,
        "max_concurrency": run.concurrency,
        "duration": run.seconds,
        "completed": run.requests,
        "total_input_tokens": run.requests * run.isl,
        "total_output_tokens": run.requests * run.osl,
        "request_throughput": run.rate,
        "output_throughput": run.tokens_per_s,
        "total_token_throughput": run.rate * (run.osl + run.isl),
        "mean_ttft_ms": run.ttft_ms,
        "median_ttft_ms": run.ttft_ms * 0.95,
        "p99_ttft_ms": run.ttft_ms * 2,
        "mean_tpot_ms": run.tpot_ms,
        "median_tpot_ms": run.tpot_ms,
        "p99_tpot_ms": run.tpot_ms * 1.2,
        "mean_itl_ms": run.tpot_ms,
    } | other


def vllm_old(run: Measured) -> dict[str, Any]:
    old = vllm(run) | {"request_goodput:": None}
    return {name: value for name, value in old.items() if name not in ("endpoint_type", "burstiness")}


def vllm_new(run: Measured) -> dict[str, Any]:
    more = {"failed": 0, "max_concurrent_requests": 40, "mean_e2el_ms": run.stay_ms, "rtfx": 0.0}
    return vllm(run, **more, spec_decode_acceptance_rate=61.5, spec_decode_acceptance_length=2.4)


def vllm_open(run: Measured) -> dict[str, Any]:
    return vllm(run, request_rate=run.rate, max_concurrency=None, mean_e2el_ms=run.stay_ms)


def sglang(run: Measured, **other: Any) -> dict[str, Any]:
    kept = {name: value for name, value in vllm(run).items() if not name.startswith(("model", "tokenizer"))}
    kept |= {"tag": None, "backend": "sglang", "dataset_name": "random", "random_input_len": 2048}
    kept |= {"mean_e2e_latency_ms": run.stay_ms, "total_output_tokens_retokenized": 1, "accept_length": None}
    return kept | {"concurrency": float(run.concurrency)} | other


def sglang_old(run: Measured) -> dict[str, Any]:
    return {
        name: value
        for name, value in sglang(run).items()
        if name not in ("concurrency", "tag", "accept_length")
    }


def metrics(run: Measured, times: float = 1.0, unit: str = "ms") -> dict[str, Any]:
    def of(value: float, of_unit: str) -> dict[str, Any]:
        return {"unit": of_unit, "avg": value, "p50": value * 0.95, "p99": value * 2}

    return {
        "time_to_first_token": of(run.ttft_ms * times, unit),
        "inter_token_latency": of(run.tpot_ms * times, unit),
        "request_latency": of(run.stay_ms * times, unit),
        "output_sequence_length": of(run.osl, "tokens"),
        "input_sequence_length": of(run.isl, "tokens"),
        "output_token_throughput": {"unit": "tokens/sec", "avg": run.tokens_per_s},
        "request_throughput": {"unit": "requests/sec", "avg": run.rate},
    }


def aiperf(run: Measured) -> dict[str, Any]:
    load = {"endpoint": {"model_names": [run.model]}, "loadgen": {"concurrency": run.concurrency}}
    return metrics(run) | {"input_config": load, "was_cancelled": False, "start_time": "2026-11-27T10:15:00"}


def aiperf_nested(run: Measured) -> dict[str, Any]:
    phases = {
        "phases": [{"name": "profiling", "concurrency": run.concurrency}],
        "models": {"model": run.model},
    }
    return {"records": metrics(run), "input_config": phases, "start_time": "2026-11-27T10:15:00"}


def aiperf_rate(run: Measured) -> dict[str, Any]:
    return metrics(run) | {"input_config": {"loadgen": {"request_rate": run.rate}}, "start_time": "x"}


def genai(run: Measured) -> dict[str, Any]:
    perf = {"model_names": [run.model], "perf_analyzer": {"stimulus": {"concurrency": run.concurrency}}}
    return metrics(run) | {"input_config": perf}


def genai_ns(run: Measured) -> dict[str, Any]:
    return metrics(run, 1e6, "ns") | {"input_config": {"model": [run.model], "concurrency": run.concurrency}}


def genai_csv(run: Measured, unit: str = "ms", times: float = 1.0) -> str:
    def row(name: str, value: float) -> str:
        return f'{name},"{value:,.3f}","{value:,.3f}","{value:,.3f}","{2 * value:,.3f}","{0.95 * value:,.3f}"'

    return "\n".join(
        [
            "Metric,avg,min,max,p99,p50",
            row(f"Time To First Token ({unit})", run.ttft_ms * times),
            row(f"Request Latency ({unit})", run.stay_ms * times),
            row(f"Inter Token Latency ({unit})", run.tpot_ms * times),
            row("Output Sequence Length (tokens)", run.osl),
            row("Input Sequence Length (tokens)", run.isl),
            "",
            "Metric,Value",
            f'Output Token Throughput (tokens/sec),"{run.tokens_per_s:,.3f}"',
            f"Request Throughput (per sec),{run.rate:.6f}",
            f"Request Count (count),{run.requests}",
            "",
        ]
    )


def llmperf(run: Measured, **other: Any) -> dict[str, Any]:
    return {
        "version": "2023-08-31",
        "name": "example_1024_256",
        "model": run.model,
        "mean_input_tokens": run.isl - 24,
        "num_concurrent_requests": run.concurrency,
        "results_inter_token_latency_s_mean": run.stay_ms / run.osl / 1e3,
        "results_ttft_s_mean": run.ttft_ms / 1e3,
        "results_ttft_s_quantiles_p50": run.ttft_ms / 1e3,
        "results_ttft_s_quantiles_p99": run.ttft_ms / 500,
        "results_end_to_end_latency_s_mean": run.stay_ms / 1e3,
        "results_number_input_tokens_mean": run.isl,
        "results_number_output_tokens_mean": run.osl,
        "results_number_errors": 0,
        "results_error_rate": 0.0,
        "results_mean_output_throughput_token_per_s": run.tokens_per_s,
        "results_num_completed_requests_per_min": run.rate * 60,
    } | other


def guidellm(run: Measured, strategy: str = "concurrent", old: bool = False, **other: Any) -> dict[str, Any]:
    def of(value: float) -> dict[str, Any]:
        ends = {"p50": value * 0.95, "p99": value * 2}
        return {"successful": {"mean": value, "percentiles": ends}, "errored": {"mean": 9e9}}

    counts = {"successful": run.requests, "incomplete": 0, "errored": 0, "total": run.requests}
    names = (
        ("prompt_tokens_count", "output_tokens_count")
        if old
        else ("prompt_token_count", "output_token_count")
    )
    figures = {
        "request_totals": counts,
        "requests_per_second": of(run.rate),
        "request_concurrency": of(run.concurrency),
        "request_latency": of(run.stay_ms / 1e3),
        names[0]: of(run.isl),
        names[1]: of(run.osl),
        "time_to_first_token_ms": of(run.ttft_ms),
        "time_per_output_token_ms": of(run.stay_ms / run.osl),
        "inter_token_latency_ms": of(run.tpot_ms),
        "output_tokens_per_second": of(run.tokens_per_s),
    }
    kind = (
        {"args": {"strategy": {"type_": strategy}}} if old else {"config": {"strategy": {"type_": strategy}}}
    )
    step = kind | {"type_": "generative_benchmark", "metrics": figures, "duration": run.seconds} | other
    head = {"args": {"backend": {"model": run.model}}} if old else {"config": {"model": run.model}}
    return {"metadata": {"version": 2}, "benchmarks": [step]} | head


def inferencex(run: Measured, **other: Any) -> dict[str, Any]:
    return {
        "hw": "h100",
        "conc": run.concurrency,
        "model": run.model,
        "framework": "vllm",
        "precision": "fp8",
        "disagg": False,
        "isl": run.isl,
        "osl": run.osl,
        "tp": 2,
        "pp": 1,
        "pcp_size": 1,
        "dp_attention": "false",
        "tput_per_gpu": run.rate * (run.osl + run.isl) / 2,
        "output_tput_per_gpu": run.tokens_per_s / 2,
        "mean_ttft": run.ttft_ms / 1e3,
        "p99_ttft": run.ttft_ms / 500,
        "mean_tpot": run.tpot_ms / 1e3,
        "mean_intvty": 1e3 / run.tpot_ms,
    } | other


def aiperf_lines(run: Measured) -> list[dict[str, Any]]:
    """Requests in waves, with one of the warm-up, one that failed and one that was cancelled."""

    def line(
        at_s: float, phase: str = "profiling", error: Any = None, cancelled: bool = False
    ) -> dict[str, Any]:
        start = round(1_764_237_600_000_000_000 + at_s * 1e9)
        ends = {"request_start_ns": start, "request_end_ns": start + round(run.stay_ms * 1e6)}
        values = {
            "input_sequence_length": (run.isl, "tokens"),
            "output_sequence_length": (run.osl, "tokens"),
            "time_to_first_token": (run.ttft_ms, "ms"),
            "inter_token_latency": (run.tpot_ms, "ms"),
        }
        return {
            "metadata": ends | {"benchmark_phase": phase, "was_cancelled": cancelled},
            "metrics": {name: {"value": value, "unit": unit} for name, (value, unit) in values.items()},
            "error": error,
        }

    each = run.stay_ms / 1e3
    waves = [line(wave * each) for wave in range(4) for _ in range(run.concurrency)]
    return [line(-900, "warmup"), *waves, line(0, error={"code": 500}), line(0, cancelled=True)]


def litellm(run: Measured) -> list[dict[str, Any]]:
    """Rows in waves, beside a failure, an answer of the cache and an embedding."""

    def row(at_s: float, **other: Any) -> dict[str, Any]:
        def moment(seconds: float) -> str:
            return f"2026-11-27T10:{15 + int(seconds // 60):02d}:{seconds % 60:09.6f}Z"

        times = {"startTime": at_s, "completionStartTime": at_s + run.ttft_ms / 1e3, "endTime": at_s + each}
        return (
            {
                "request_id": "r",
                "call_type": "acompletion",
                "model_group": run.model,
                "prompt_tokens": run.isl,
                "completion_tokens": run.osl,
                "cache_hit": "False",
                "status": "success",
            }
            | {name: moment(value) for name, value in times.items()}
            | other
        )

    each = run.stay_ms / 1e3
    waves = [row(wave * each) for wave in range(3) for _ in range(run.concurrency)]
    return [*waves, row(0, status="failure"), row(0, cache_hit="True"), row(0, call_type="aembedding")]


def as_csv(rows: list[dict[str, Any]]) -> str:
    lines = [
        ",".join(rows[0]),
        *(",".join("" if v is None else str(v) for v in row.values()) for row in rows),
    ]
    return "\n".join(lines) + "\n"


def as_lines(rows: list[dict[str, Any]]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


FILES: Mapping[str, tuple[str, Callable[[Measured], str]]] = {
    "vllm": ("vllm.json", lambda run: json.dumps(vllm(run))),
    "vllm before 0.10": ("vllm.json", lambda run: json.dumps(vllm_old(run), indent=1)),
    "vllm of 2026": ("vllm.json", lambda run: json.dumps(vllm_new(run))),
    "vllm, requests by the clock": ("vllm.json", lambda run: json.dumps(vllm_open(run))),
    "vllm, appended": ("vllm.json", lambda run: json.dumps(vllm(run)) + "\n" + json.dumps(vllm_new(run))),
    "sglang": ("sglang.jsonl", lambda run: as_lines([sglang(run)])),
    "sglang without concurrency": ("sglang.jsonl", lambda run: as_lines([sglang_old(run)])),
    "sglang, several runs": ("sglang.jsonl", lambda run: as_lines([sglang(run), sglang(run)])),
    "sglang of vllm": ("sglang.jsonl", lambda run: as_lines([sglang(run, backend="vllm")])),
    "aiperf": ("profile_export_aiperf.json", lambda run: json.dumps(aiperf(run))),
    "aiperf, nested": ("profile_export_aiperf.json", lambda run: json.dumps(aiperf_nested(run))),
    "aiperf by rate": ("profile_export_aiperf.json", lambda run: json.dumps(aiperf_rate(run))),
    "aiperf lines": ("profile_export.jsonl", lambda run: as_lines(aiperf_lines(run))),
    "aiperf csv": ("aiperf-concurrency32.csv", genai_csv),
    "genai-perf": ("profile_export_genai_perf.json", lambda run: json.dumps(genai(run))),
    "genai-perf in ns": ("profile_export_genai_perf.json", lambda run: json.dumps(genai_ns(run))),
    "genai-perf csv": ("openai-concurrency32.csv", genai_csv),
    "genai-perf csv in ns": ("openai-concurrency32.csv", lambda run: genai_csv(run, "ns", 1e6)),
    "llmperf": ("x_summary.json", lambda run: json.dumps(llmperf(run))),
    "guidellm": ("guide.json", lambda run: json.dumps(guidellm(run))),
    "guidellm 0.2": ("guide.json", lambda run: json.dumps(guidellm(run, old=True))),
    "guidellm by rate": ("guide.json", lambda run: json.dumps(guidellm(run, "poisson"))),
    "inferencex": ("agg.json", lambda run: json.dumps([inferencex(run)])),
    "inferencex csv": ("agg.csv", lambda run: as_csv([inferencex(run)])),
    "inferencex in ms": (
        "agg.json",
        lambda run: json.dumps(inferencex(run, mean_ttft=run.ttft_ms, mean_tpot=run.tpot_ms)),
    ),
    "litellm csv": ("spend.csv", lambda run: as_csv(litellm(run))),
    "litellm json": ("spend.json", lambda run: json.dumps(litellm(run))),
}
"""Format and version -> the name of a file, and its text for a run."""
