"""Logs of requests and records of their use: many records -> the load that they describe, with times where they have them."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from statistics import fmean, quantiles
from typing import Any, NamedTuple

from gpuplan.analysis.benchmarks.record import Record, Result
from gpuplan.analysis.benchmarks.tools import in_ms, result
from gpuplan.scenario import show
from gpuplan.wording import said

WINDOW_S = 300.0
"""The busiest five minutes of a log are taken: a mean over a day hides the peak."""
BLOCKS = (16, 32, 64, 128, 256, 512, 1024)
"""Tokens that a hash of a prompt stands for, in traces."""


class Request(NamedTuple):
    """A request of a log; times without a value are not in it."""

    start_s: float
    end_s: float
    isl: float
    osl: float
    ttft_ms: float | None
    tpot_ms: float | None


def _load(record: Record, tool: str, requests: Sequence[Request], **run: Any) -> Result:
    """Return the load of requests in the window where most are at work."""
    start, end = _busiest(requests)
    inside = [each for each in requests if start <= each.start_s < end] or requests
    window = max(end - start, 1e-9)
    worked = sum(max(0.0, min(each.end_s, end) - max(each.start_s, start)) for each in requests)
    at: dict[str, Any] = {"requests_per_s": len(inside) / window, "duration_s": window, "mode": "server"}
    at |= {"concurrency": worked / window or None, "tokens_per_s": sum(r.osl for r in inside) / window}
    at |= {"stay_ms": 1e3 * fmean(r.end_s - r.start_s for r in inside)}
    for name in ("isl", "osl", "ttft_ms", "tpot_ms"):
        values = [value for each in inside if (value := getattr(each, name)) is not None]
        at[name] = fmean(values) if values else None
        if name.endswith("_ms") and len(values) > 1:
            cuts = quantiles(values, n=100, method="inclusive")
            at |= {f"{name[:4]}_p50_ms": cuts[49], f"{name[:4]}_p99_ms": cuts[98]}
    return result(record, tool, at, **run)


def _busiest(requests: Sequence[Request]) -> tuple[float, float]:
    """Return start and end of the window with most work; of the whole log where it is shorter."""
    first, last = min(each.start_s for each in requests), max(each.end_s for each in requests)
    if last - first <= WINDOW_S:
        return first, last
    worked: dict[int, float] = {}
    for each in requests:
        at = int((each.start_s - first) // WINDOW_S)
        worked[at] = worked.get(at, 0.0) + each.end_s - each.start_s
    start = first + WINDOW_S * max(worked, key=lambda at: (worked[at], -at))
    return start, start + WINDOW_S


def aiperf_lines(records: Sequence[Record]) -> Iterator[Result]:
    """Read requests of AIPerf: those of its profiling phase that ended well."""
    requests, lost = [], 0
    for record in records:
        metadata = record.part("metadata")
        if metadata.text("benchmark_phase").lower() not in ("", "profiling"):
            continue
        if record.value("error") is not None or metadata.flag("was_cancelled"):
            lost += 1
            continue
        times = [metadata.need(f"request_{end}_ns", times=1e-9) for end in ("start", "end")]
        metrics = in_ms(record)
        figures = (metrics.figure("aiperf-lines", name) for name in ("isl", "osl", "ttft_ms", "tpot_ms"))
        requests.append(_request(record, "metadata.request_end_ns", *times, *figures))
    if not requests:
        raise records[0].error("", "bench.no requests")
    found = _load(records[0], "aiperf", requests)
    yield replace(found, warnings=(said("bench.lost", lost=lost),)) if lost else found


def _request(record: Record, end: str, *values: float | None) -> Request:
    """Return a request, whose lengths are 0 where they are not stated; an error where it ends before it starts."""
    start_s, end_s, isl, osl, ttft_ms, tpot_ms = values
    if start_s is None or end_s is None or end_s < start_s:
        raise record.error(end, "bench.ends before")
    return Request(start_s, end_s, isl or 0.0, osl or 0.0, ttft_ms, tpot_ms)


def litellm(records: Sequence[Record]) -> Iterator[Result]:
    """Read spend logs of LiteLLM, by model; nothing that names a person is kept.

    Failures, answers of the gateway's own cache, and calls that complete nothing are left out.
    """
    models: dict[str, list[Request]] = {}
    for record in records:
        status, cached, kind = (record.text(n).lower() for n in ("status", "cache_hit", "call_type"))
        if status == "failure" or cached == "true" or (kind and "completion" not in kind):
            continue
        start, end = _moment(record, "startTime"), _moment(record, "endTime")
        first = _moment(record, "completionStartTime")
        isl, osl = (record.figure("litellm", name) for name in ("isl", "osl"))
        waited = start is not None and end is not None and first is not None and start < first < end
        ttft = 1e3 * (first - start) if waited else None
        tpot = 1e3 * (end - first) / (osl - 1) if waited and osl and osl > 1 else None
        request = _request(record, "endTime", start, end, isl, osl, ttft, tpot)
        models.setdefault(record.text("model_group", "model"), []).append(request)
    if not models:
        raise records[0].error("", "bench.no requests")
    for model, requests in models.items():
        yield _load(records[0], "litellm", requests, model=model)


def _moment(record: Record, name: str) -> float | None:
    """Return a moment in seconds; without an offset it is UTC."""
    value = record.value(name)
    if isinstance(value, int | float) or value in (None, "", "None"):
        return record.number(name)
    try:
        moment = datetime.datetime.fromisoformat(str(value).strip())
        return (moment if moment.tzinfo else moment.replace(tzinfo=datetime.UTC)).timestamp()
    except (ValueError, OverflowError):
        raise record.error(name, "bench.no moment", value=show(value)) from None


def trace(records: Sequence[Record]) -> Iterator[Result]:
    """Read a trace of requests without times of answers: it says what comes, not how fast it is served."""
    starts, lengths, hashes = list[float](), list[list[float]](), list[list[str]]()
    for record in records:
        parts = list(record.listed("sub_requests")) if "sub_requests" in record.data else [record]
        lengths.append([sum(part.figure("mooncake", n) or 0.0 for part in parts) for n in ("isl", "osl")])
        starts.append(record.figure("mooncake", "start_s") or 0.0)
        ids = record.value("hash_ids") or []
        if not isinstance(ids, list):
            raise record.error("hash_ids", "bench.no list")
        hashes.append([show(id) for id in ids])
    isl, osl = (fmean(values) for values in zip(*lengths, strict=True))
    if not isl or not osl:
        raise records[0].error("input_length", "bench.needed")
    at: dict[str, Any] = {"isl": isl, "osl": osl, "duration_s": (span := max(starts) - min(starts)) or None}
    at["requests_per_s"] = (len(starts) - 1) / span if span else None
    at["prefix_hit"] = _prefix_hit([tokens for tokens, _ in lengths], hashes) if any(hashes) else None
    yield result(records[0], "mooncake", at)


def _prefix_hit(lengths: Sequence[float], hashes: Sequence[Sequence[str]]) -> float:
    """Return the share of all prompts that a cache without limit would hold: leading blocks seen before.

    A block counts with all before it: traces differ in whether its hash covers those.
    """
    full = max(tokens / len(ids) for tokens, ids in zip(lengths, hashes, strict=True) if ids)
    block = next((size for size in BLOCKS if size >= full - 1e-9), full)
    chains, hit = dict[tuple[int, str], int](), 0.0
    for tokens, ids in zip(lengths, hashes, strict=True):
        at, blocks = 0, 0
        for id in ids:
            blocks += (at, id) in chains
            at = chains.setdefault((at, id), len(chains) + 1)
        hit += min(blocks * block, tokens)
    return hit / max(1.0, sum(lengths))


def openai_usage(records: Sequence[Record]) -> Iterator[Result]:
    """Read an export of use of OpenAI: tokens and requests by model in its busiest bucket; batches are no live load."""
    buckets: dict[str, tuple[float, float, Record]] = {}
    for bucket in (bucket for page in records for bucket in page.listed("data")):
        seconds = bucket.need("end_time") - bucket.need("start_time")
        if seconds <= 0:
            raise bucket.error("end_time", "bench.ends before")
        for each in bucket.listed("results"):
            rate, model = (each.number("num_model_requests") or 0.0) / seconds, each.text("model")
            if rate > buckets.get(model, (0.0,))[0] and not each.flag("batch"):
                buckets[model] = (rate, seconds, each)
    if not buckets:
        raise records[0].error("data", "bench.no requests")
    for model, (rate, seconds, row) in buckets.items():
        tokens = row.need("input_tokens")
        at = {"isl": tokens / rate / seconds, "osl": row.need("output_tokens") / rate / seconds}
        at |= {"requests_per_s": rate, "duration_s": seconds}
        at["prefix_hit"] = (row.number("input_cached_tokens") or 0.0) / tokens
        yield result(row, "openai", at, model=model)


LOGS: Mapping[str, Callable[[Sequence[Record]], Iterator[Result]]] = {
    "aiperf-lines": aiperf_lines,
    "litellm": litellm,
    "openai": openai_usage,
    "mooncake": trace,
}
"""Log -> the reader of all its records."""
