"""Published runs of serving, each board or model predicted by parameters fitted on all others, and ranges from them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from statistics import quantiles

from gpuplan.analysis.llm_calibration import fit, samples
from gpuplan.analysis.llm_predictions import Prediction, predict
from gpuplan.analysis.llm_runs import Run, runs_of
from gpuplan.catalog import Catalog
from gpuplan.models.llm.speeds import Speeds
from gpuplan.plan.llm_parts import speeds_of

BEYOND = 0.08
"""Share of the runs below a range, and above it."""
BY: Mapping[str, Callable[[Run], str]] = {"board": lambda run: run.gpu, "model": lambda run: run.model}


def left_out(
    catalog: Catalog, by: str, *, every: int = 1, rounds: int = 5
) -> tuple[tuple[str, Speeds, tuple[Prediction, ...]], ...]:
    """Each board or model, the parameters fitted on the runs of all others, and what they predict for its own.

    With ``every``, only one in so many of the other runs is fitted on, which is as much faster.
    """
    runs, start = runs_of(catalog), speeds_of(catalog)
    known = samples(catalog, runs)
    key = BY[by]
    found = []
    for group in sorted({key(sample.run) for sample in known}):
        others = [sample for sample in known if key(sample.run) != group]
        speeds = fit(others[::every], start, rounds=rounds)
        own = [run for run in runs if key(run) == group]
        said = predict(catalog, own, speeds, measured=False)
        found.append((group, speeds, said))
    return tuple(found)


def spread(found: Iterable[Prediction], quantity: str) -> tuple[float, float]:
    """Low and high over a value, with ``BEYOND`` of the figures below and above."""
    off = [p.measured / p.predicted for p in found if p.predicted and p.quantity == quantity]
    cut = quantiles(off, n=100)
    return cut[round(100 * BEYOND) - 1], cut[99 - round(100 * BEYOND)]
