"""The models of serving against measured runs: errors, and the fit of their parameters.

The parameters are in ``data/assumptions.csv``, item ``llm-serving``. Times per token of closed loops and offline rates
fit those of a step, times to the first token those of waiting, with a loss that outliers hardly move: speculative
decoding is not marked in the sources.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean, median
from typing import Any

from gpuplan.analysis.llm_runs import NotPredicted, Prediction, Run, Work, best_cut, work_of
from gpuplan.catalog import Catalog
from gpuplan.models.llm.serving import first_token_ms, time_per_token_ms, token_rate
from gpuplan.models.llm.speeds import Replica, Speeds
from gpuplan.plan.llm_parts import overheads_of, speeds_of

STEP: Mapping[str, float] = {
    "step_us": 130,
    "layer_us": 50,
    "expert_us": 26,
    "sequence_us": 9,
    "sum_us": 2.4,
    "bandwidth_share": 0.9,
    "compute_share": 0.6,
    "rate_power": 0.7,
    "link_share": 0.9,
    "traffic": 40,
    "expert_traffic": 10,
    "overlap_share": 0.6,
    "vllm": 1.06,
    "sglang": 1.2,
}
"""Parameters of a step -> where each would be without runs; its logarithm may be 1 off."""
WAIT: Mapping[str, float] = {
    "wait_ms": 30,
    "wait_steps": 3,
    "queue_share": 0.05,
    "queue_power": 1.1,
    "tensorrt_first": 2,
    "sglang_first": 3,
}
"""The same for the wait of a request before its first token."""
MOST_SHARE = 0.95
"""No share of a rate is fitted above this."""
ERRORS = {"tpot_ms": 0.12, "tokens_per_s": 0.2, "ttft_ms": 0.3}
"""Error of a run that counts in full; beyond it, less and less."""


@dataclass(frozen=True, slots=True)
class Errors:
    """Errors of some predictions."""

    runs: int
    median: float
    mean: float
    nine_in_ten: float
    held: float
    """Share of them within low and high."""
    width: float
    """Mean of high over low."""


def errors(found: Iterable[Prediction]) -> Errors | None:
    """Return the errors of predictions; None where there are none."""
    known = [p for p in found if p.predicted is not None and p.error is not None]
    if not known:
        return None
    off = sorted(abs(p.error or 0.0) for p in known)
    return Errors(
        len(off),
        median(off),
        fmean(off),
        off[min(len(off) - 1, int(0.9 * len(off)))],
        fmean(bool(p.held) for p in known),
        fmean((p.high or 1.0) / (p.low or 1.0) for p in known),
    )


@dataclass(frozen=True, slots=True)
class Sample:
    """A measured figure and how it is worked out from parameters."""

    run: Run
    quantity: str
    measured: float
    work: Work
    cut: tuple[Any, float, float]

    def value(self, speeds: Speeds) -> float:
        """Return the figure for given parameters."""
        setup, replicas, requests = self.cut
        of = {"tpot_ms": time_per_token_ms, "ttft_ms": first_token_ms, "tokens_per_s": token_rate}
        replica = Replica(self.work.shape, self.work.board, setup, speeds)
        lengths = {"tokens_in": self.work.tokens_in, "tokens_out": self.work.tokens_out}
        found = of[self.quantity](replica, requests=requests, **lengths).value
        return found * replicas if self.quantity == "tokens_per_s" else found


def samples(catalog: Catalog, runs: Iterable[Run]) -> tuple[Sample, ...]:
    """Return the figures that parameters are fitted to: both times of closed loops, and offline rates."""
    found = []
    speeds, held = speeds_of(catalog), overheads_of(catalog)
    for run in runs:
        wanted = {"concurrency": ("tpot_ms", "ttft_ms"), "offline": ("tokens_per_s",)}.get(run.mode, ())
        given = [name for name in wanted if getattr(run, name)]
        try:
            work = work_of(catalog, run, held) if given else None
        except NotPredicted:
            continue
        if work is not None:
            cut = best_cut(work, speeds)
            found += [Sample(run, name, getattr(run, name), work, cut) for name in given]
    return tuple(found)


def fit(found: Sequence[Sample], start: Speeds, *, rounds: int = 12) -> Speeds:
    """Return parameters fitted to measured figures: first those of a step, then those of waiting."""
    step = [sample for sample in found if sample.quantity != "ttft_ms"]
    wait = [sample for sample in found if sample.quantity == "ttft_ms"]
    fitted = _fit(step, start, STEP, rounds)
    return _fit(wait, fitted, WAIT, rounds)


def _fit(found: Sequence[Sample], start: Speeds, centre: Mapping[str, float], rounds: int) -> Speeds:
    import numpy as np
    from scipy.optimize import least_squares

    names = list(centre)
    middle = np.log([centre[name] for name in names])
    limit = np.array([math.log(MOST_SHARE) if name.endswith("_share") else 20.0 for name in names])
    measured = np.log([sample.measured for sample in found] or [1.0])
    weight = np.array([1 / ERRORS[sample.quantity] for sample in found] or [0.0])

    def residuals(logs: Any) -> Any:
        tried = replace(start, **dict(zip(names, map(float, np.exp(logs)), strict=True)))
        values = np.log([sample.value(tried) for sample in found] or [1.0])
        return np.concatenate([(values - measured) * weight, logs - middle])

    first = np.minimum(np.log([getattr(start, name) for name in names]), limit - 1e-3)
    solved = least_squares(
        residuals, first, loss="soft_l1", bounds=(-20.0, limit), x_scale="jac", max_nfev=rounds
    )
    return replace(start, **dict(zip(names, map(float, np.exp(solved.x)), strict=True)))
