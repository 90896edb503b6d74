"""Logs of requests and records of their use: many records -> the load that they describe, with times where they have them."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from statistics import fmean, quantiles
from typing import Any, NamedTuple

from gpuplan.analysis.benchmarks.tools import FIELDS, Record, Result, in_ms, result
from gpuplan.scenario import show

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


def log(records: Sequence[Record], tool: str) -> Iterator[Result]:
    """Read requests of a log by model: those that it counts and that ended well. Nothing that names a person is kept."""
    models: dict[str, list[Request]] = {}
    lost = 0
    for record in records:
        if all(_says(record, rule, empty=True) for rule in _rules(tool, "keep")):
            if any(_says(record, rule) for rule in _rules(tool, "fail")):
                lost += 1
            else:
                models.setdefault(record.words(tool, "model"), []).append(_request(in_ms(record), tool))
    if not models:
        raise records[0].error("", "bench.no requests")
    for model, requests in models.items():
        yield result(records[0], tool, _load(requests) | {"failed": lost}, model=model)


def _rules(tool: str, name: str) -> Iterator[str]:
    return (names[0] for names, _ in FIELDS[tool].get(name, ()))


def _says(record: Record, rule: str, *, empty: bool = False) -> bool:
    """Return whether a field holds one of some words, as ``field=word|word`` asks; ``empty`` where it holds none."""
    name, _, words = rule.partition("=")
    value = record.value(name)
    if value is None or value == "":
        return empty
    return any(word in str(value).lower() for word in words.split("|"))


def _request(record: Record, tool: str) -> Request:
    """Return a request, whose lengths are 0 where they are not stated; an error where it ends before it starts."""
    start, first, end = (record.figure(tool, f"{name}_s") for name in ("start", "first", "end"))
    isl, osl, ttft, tpot = (record.figure(tool, name) for name in ("isl", "osl", "ttft_ms", "tpot_ms"))
    if start is None or end is None or end < start:
        raise record.error(FIELDS[tool]["end_s"][0][0][0], "bench.ends before")
    if first is not None and start < first < end:
        ttft, tpot = 1e3 * (first - start), 1e3 * (end - first) / (osl - 1) if osl and osl > 1 else None
    return Request(start, end, isl or 0.0, osl or 0.0, ttft, tpot)


def _load(requests: Sequence[Request]) -> dict[str, Any]:
    """Return the figures of requests in the window where most are at work; of the whole log where it is shorter."""
    start, end = _busiest(requests)
    inside = [each for each in requests if start <= each.start_s < end] or requests
    window = max(end - start, 1e-9)
    stays = sum(max(0.0, min(each.end_s, end) - max(each.start_s, start)) for each in requests)
    found: dict[str, Any] = {"requests_per_s": len(inside) / window, "duration_s": window, "mode": "server"}
    found |= {"concurrency": stays / window or None, "tokens_per_s": sum(r.osl for r in inside) / window}
    found |= {"stay_ms": 1e3 * fmean(each.end_s - each.start_s for each in inside)}
    for name in ("isl", "osl", "ttft_ms", "tpot_ms"):
        values = [value for each in inside if (value := getattr(each, name)) is not None]
        found[name] = fmean(values) if values else None
        if name.endswith("_ms") and len(values) > 1:
            cuts = quantiles(values, n=100, method="inclusive")
            found |= {f"{name[:4]}_p50_ms": cuts[49], f"{name[:4]}_p99_ms": cuts[98]}
    return found


def _busiest(requests: Sequence[Request]) -> tuple[float, float]:
    """Return start and end of the window where most requests are at work, of the whole log where it is shorter."""
    start, end = min(each.start_s for each in requests), max(each.end_s for each in requests)
    if end - start <= WINDOW_S:
        return start, end
    worked: dict[int, float] = defaultdict(float)
    for each in requests:
        worked[int((each.start_s - start) // WINDOW_S)] += each.end_s - each.start_s
    start += WINDOW_S * max(worked, key=lambda at: (worked[at], -at))
    return start, start + WINDOW_S


def trace(records: Sequence[Record]) -> Iterator[Result]:
    """Read a trace of requests without times of answers: it says what comes, not how fast it is served."""
    starts = [record.figure("mooncake", "start_s") or 0.0 for record in records]
    lengths, hashes = [_lengths(record) for record in records], [_hashes(record) for record in records]
    isl, osl = (fmean(values) for values in zip(*lengths, strict=True))
    if not isl or not osl:
        raise records[0].error("input_length", "bench.needed")
    span = max(starts) - min(starts)
    found: dict[str, Any] = {"isl": isl, "osl": osl, "duration_s": span or None}
    found["requests_per_s"] = (len(starts) - 1) / span if span else None
    found["prefix_hit"] = _prefix_hit([tokens for tokens, _ in lengths], hashes) if any(hashes) else None
    yield result(records[0], "mooncake", found)


def _lengths(record: Record) -> list[float]:
    parts = list(record.listed("sub_requests")) if "sub_requests" in record.data else [record]
    return [sum(part.figure("mooncake", name) or 0.0 for part in parts) for name in ("isl", "osl")]


def _hashes(record: Record) -> list[str]:
    if not isinstance(ids := record.value("hash_ids") or [], list):
        raise record.error("hash_ids", "bench.no list")
    return [show(id) for id in ids]


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
        found = {"isl": tokens / rate / seconds, "osl": row.need("output_tokens") / rate / seconds}
        found |= {"requests_per_s": rate, "duration_s": seconds}
        found["prefix_hit"] = (row.number("input_cached_tokens") or 0.0) / tokens
        yield result(row, "openai", found, model=model)


LOGS: Mapping[str, Callable[[Sequence[Record]], Iterator[Result]]] = {
    "aiperf-lines": partial(log, tool="aiperf-lines"),
    "litellm": partial(log, tool="litellm"),
    "openai": openai_usage,
    "mooncake": trace,
}
