"""Measured runs of serving language models beside gpuplan's prediction for each; one that cannot be predicted says why."""

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from statistics import fmean, median

from gpuplan.analysis.llm_runs import NotPredicted, Run, Work, lengths_of, model_of, pools_of, work_of
from gpuplan.catalog import Catalog
from gpuplan.models.llm.serving import (
    decode_step_ms,
    first_token_ms,
    loop_times_ms,
    prompt_ms,
    prompt_work_ms,
    time_per_token_ms,
    token_rate,
)
from gpuplan.models.llm.shape import Range, Setup
from gpuplan.models.llm.speeds import Speeds
from gpuplan.plan.llm_parts import speeds_of

TAIL = 0.8
"""Mean time per token over its 99th percentile, by which benchmarks set limits."""
WAITS = 6.0
"""99th percentile of a first token over its mean, in records; of an exponential wait it would be 4.6."""
FULL = 0.99
"""Share of the highest rate that open arrivals reach before their queue grows without end."""
LONGEST, FEW = 5.0, 0.05
"""Longest answer of a burst of chats over the mean, and the share of its requests that are still written by then."""
QUANTITIES = ("tpot_ms", "ttft_ms", "tokens_per_s")


@dataclass(frozen=True, slots=True)
class Prediction:
    """A measured figure of a run beside its prediction; no prediction says why."""

    source_id: str
    quantity: str
    measured: float
    predicted: float | None = None
    low: float | None = None
    high: float | None = None
    why: str = ""

    @property
    def error(self) -> float | None:
        """Return the relative error."""
        return None if self.predicted is None else self.predicted / self.measured - 1

    @property
    def held(self) -> bool | None:
        """True if the measured figure lies between low and high; None where it is unknown."""
        return None if self.low is None or self.high is None else self.low <= self.measured <= self.high


@dataclass(frozen=True, slots=True)
class Errors:
    """Errors of some predictions."""

    runs: int
    median: float
    mean: float
    nine_in_ten: float
    signed: float
    """Median of the errors with their sign."""
    held: float
    """Share of them within low and high."""
    width: float
    """Mean of high over low."""


def errors(found: Iterable[Prediction]) -> Errors | None:
    """Return the errors of predictions; None where there are none."""
    usable = [p for p in found if p.predicted is not None and p.error is not None]
    if not usable:
        return None
    off = sorted(abs(p.error or 0.0) for p in usable)
    nine_in_ten, signed = off[min(len(off) - 1, int(0.9 * len(off)))], median(p.error or 0.0 for p in usable)
    held, width = fmean(bool(p.held) for p in usable), fmean((p.high or 1.0) / (p.low or 1.0) for p in usable)
    return Errors(len(off), median(off), fmean(off), nine_in_ten, signed, held, width)


def predict(catalog: Catalog, runs: Iterable[Run], speeds: Speeds | None = None) -> tuple[Prediction, ...]:
    """Return measured figures of runs beside predicted ones, by the catalog's parameters unless others are given."""
    speeds = speeds or speeds_of(catalog)
    results: list[Prediction] = []
    for run in runs:
        why, said = "", dict[str, Range]()
        try:
            said = predicted(catalog, work_of(catalog, run), speeds)
        except NotPredicted as error:
            why = str(error)
        for name, value in _given(run).items():
            figure, low, high = said.get(name, (None, None, None))
            results.append(Prediction(run.id, name, value, figure, low, high, why))
    return tuple(results)


def _given(run: Run) -> dict[str, float]:
    figures = {name: getattr(run, name) for name in QUANTITIES}
    if figures["tokens_per_s"] is None and run.tokens_per_s_per_gpu and run.gpus:
        figures["tokens_per_s"] = run.tokens_per_s_per_gpu * run.gpus
    return {name: value for name, value in figures.items() if value}


def predicted(catalog: Catalog, work: Work, speeds: Speeds) -> dict[str, Range]:
    """Return time per token, first token [ms] and tokens per second of a run, by its mode."""
    other = OTHER_MODES.get(work.run.load)
    if other is None:
        return _closed(work, speeds, *best_cut(work, speeds))
    return other(catalog, work, speeds)


def _times(found: Range, factor: float) -> Range:
    return Range(*(factor * value for value in found))


def best_cut(work: Work, speeds: Speeds) -> tuple[Setup, float, float]:
    """Return the way to cut a run that gives most tokens a second."""

    def rate(cut: tuple[Setup, float, float]) -> float:
        return cut[1] * token_rate(work.on(cut[0], speeds), **work.load(cut[2])).value

    return max(work.setups, key=rate) if len(work.setups) > 1 else work.setups[0]


def _closed(work: Work, speeds: Speeds, setup: Setup, replicas: float, requests: float) -> dict[str, Range]:
    """Predict a replica that is kept busy; in a closed loop as its benchmark measures it."""
    replica, load = work.on(setup, speeds), work.load(requests)
    rate = _times(token_rate(replica, **load), replicas)
    loop = work.run.load == "concurrency"
    if loop:
        per_token, first = loop_times_ms(replica, **load)
    else:
        per_token, first = time_per_token_ms(replica, **load), first_token_ms(replica, **load)
    whole = first.value + per_token.value * (work.tokens_out - 1)
    if loop:  # who waits for a first token does not decode
        rate = _times(rate, replicas * requests * work.tokens_out * 1e3 / whole / rate.value)
    turns = max(1.0, (work.run.concurrency or 0.0) / replicas / requests)  # the others wait for a place
    first = _times(first, 1 + (turns - 1) * whole / first.value)
    return {"tpot_ms": per_token, "ttft_ms": first, "tokens_per_s": rate}


def _open(catalog: Catalog, work: Work, speeds: Speeds) -> dict[str, Range]:
    """Predict open arrivals at the highest rate within the limits of the benchmark, with the time per token kept.

    Near the highest rate more concurrent requests only wait longer: it is run a little below. Where a first token has a
    limit, too, arrivals come until its 99th percentile is there.
    """
    model, _ = model_of(catalog, work.run)
    _, _, row = lengths_of(catalog, work.run, model)
    allowed, soon = (row and row[f"{work.run.load}_{name}_ms"] for name in ("token", "first"))
    options = [_open_at(work, speeds, cut, TAIL * allowed if allowed else math.inf) for cut in work.setups]
    best = max(options, key=lambda said: said["tokens_per_s"].value)
    if soon and not work.run.concurrency:
        best["ttft_ms"] = _times(best["ttft_ms"], max(1.0, soon / WAITS / best["ttft_ms"].value))
    return best


def _open_at(work: Work, speeds: Speeds, cut: tuple[Setup, float, float], most_ms: float) -> dict[str, Range]:
    setup, replicas, most = cut

    def at(requests: float) -> dict[str, Range]:
        return _closed(work, speeds, setup, replicas, requests)

    if work.run.concurrency:  # its load is stated
        return at(most)
    top = _highest(max(1.0, most), lambda n: at(n)["tpot_ms"].value <= most_ms)
    goal = FULL * at(top)["tokens_per_s"].value
    return at(_highest(top, lambda n: at(n)["tokens_per_s"].value <= goal))


def _highest(most: float, keeps: Callable[[float], bool]) -> float:
    """Return the highest number from 1 for which a condition holds that all lower ones meet."""
    low, high = 1.0, most
    if keeps(most):
        return most
    for _ in range(12):
        middle = (low + high) / 2
        low, high = (middle, high) if keeps(middle) else (low, middle)
    return low


def _burst(catalog: Catalog, work: Work, speeds: Speeds) -> dict[str, Range]:
    """Predict a burst of all requests: waves of as many as fit, and the tail until the longest answer ends."""
    setup, replicas, requests = best_cut(work, speeds)
    said = _closed(work, speeds, setup, replicas, requests)
    replica, context = work.on(setup, speeds), work.tokens_in + work.tokens_out / 2
    each = max(requests, (work.run.concurrency or requests) / replicas)
    counts = (requests, max(1.0, FEW * requests))
    step, few = (decode_step_ms(replica, requests=n, context_tokens=context) for n in counts)
    reading = each / setup.pipeline * prompt_work_ms(replica, tokens_in=work.tokens_in, requests=requests)
    whole = reading + work.tokens_out * (each / requests * step + (LONGEST - 1) * few)
    rate = replicas * each * work.tokens_out * 1e3 / whole
    token = (step + few) / 2  # answers are written while others end
    found = {"tpot_ms": token, "tokens_per_s": rate}
    return said | {name: _times(said[name], value / said[name].value) for name, value in found.items()}


def _static(catalog: Catalog, work: Work, speeds: Speeds) -> dict[str, Range]:
    """Predict one batch from its start to its end, and nothing else."""
    setup, replicas, requests = work.setups[0]
    context = work.tokens_in + work.tokens_out / 2
    step = decode_step_ms(work.on(setup, speeds), requests=requests, context_tokens=context)
    prompt = prompt_ms(work.on(setup, speeds), tokens_in=work.tokens_in)
    first = max(requests * prompt, step)
    rate = replicas * requests * work.tokens_out * 1e3 / (first + step * (work.tokens_out - 1))
    now = {"tpot_ms": step, "ttft_ms": first, "tokens_per_s": rate}
    usual = _closed(work, speeds, setup, replicas, requests)
    return {name: _times(usual[name], now[name] / usual[name].value) for name in now}


def _disaggregated(catalog: Catalog, work: Work, speeds: Speeds) -> dict[str, Range]:
    """Predict a run whose prompts are read on GPUs of their own: decoding does not wait for them."""
    setup, _, requests = work.setups[0]
    apart = replace(speeds, loop_share=1e-9)
    reading, replicas = pools_of(work.run)
    token, _ = loop_times_ms(work.on(setup, apart), **work.load(requests))
    cut = replace(setup, tensor=reading.tensor, data=reading.data) if reading else setup
    queue = requests * replicas / (reading.pipeline if reading else 1)
    _, first = loop_times_ms(work.on(cut, speeds), **work.load(queue))
    rate = _times(token_rate(work.on(setup, apart), **work.load(requests)), replicas)
    return {"tpot_ms": token, "ttft_ms": first, "tokens_per_s": rate}


OTHER_MODES: Mapping[str, Callable[[Catalog, Work, Speeds], dict[str, Range]]] = {
    "server": _open,
    "interactive": _open,
    "static": _static,
    "disaggregated": _disaggregated,
    "burst": _burst,
}
"""Kinds of runs that nothing was fitted on -> how each is predicted."""
