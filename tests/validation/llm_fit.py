"""The fit of serving to published runs, and runs predicted by fits without their source, board or model.

The parameters are in ``data/assumptions.csv``, item ``llm-serving``. Times per token of closed loops and offline rates
fit those of a step, times to the first token those of waiting, with a loss that outliers hardly move: speculative
decoding is not marked in the sources. ``data/llm_ranges.csv`` holds what sources that were left out found over what
was predicted for them.
"""

from __future__ import annotations

import itertools
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import least_squares

from gpuplan.analysis.llm_predictions import QUANTITIES, Prediction, best_cut, predict
from gpuplan.analysis.llm_runs import NotPredicted, Run, Work, load_kind, model_of, runs_of, work_of
from gpuplan.catalog import Catalog
from gpuplan.models.llm.serving import first_token_ms, loop_times_ms, time_per_token_ms, token_rate
from gpuplan.models.llm.speeds import Replica, Speeds
from gpuplan.plan.llm_parts import key_of, overheads_of, speeds_of

STEP: Mapping[str, float] = {
    "step_us": 100,
    "layer_us": 45,
    "expert_us": 25,
    "sequence_us": 12,
    "sum_us": 2.5,
    "bandwidth_share": 0.9,
    "cache_share": 0.85,
    "compute_share": 0.65,
    "rate_power": 0.8,
    "unpack_power": 0.5,
    "power_power": 1,
    "link_share": 0.8,
    "traffic": 20,
    "expert_traffic": 12,
    "installed_power": 0.5,
    "installed_share": 0.75,
    "loop_share": 0.75,
    "vllm": 1.05,
    "sglang": 1.15,
}
"""Parameters of a step -> where each would be without runs; its logarithm may be ``OFF`` off."""
WAIT: Mapping[str, float] = {
    "wait_ms": 3,
    "wait_steps": 0.3,
    "loop_ms": 10,
    "loop_layer_us": 500,
    "loop_expert_us": 700,
    "loop_steps": 2,
    "loop_queue": 0.08,
    "tensorrt_first": 2.5,
    "sglang_first": 3.5,
}
"""The same for the wait of a request before its first token."""
OFF = 0.25
"""How far the logarithm of a parameter may be off: what few runs say of it moves it little."""
MOST_SHARE = 0.95
"""No share of a rate is fitted above this."""
ERRORS = {"tpot_ms": 0.12, "tokens_per_s": 0.2, "ttft_ms": 0.3}
"""Error of a run that counts in full; beyond it, less and less."""
MOST_COUNTED = 250
"""Figures of one source and quantity that count in full: no laboratory decides alone."""
BEYOND = 0.1
"""Share of the figures of a kind below a range, and above it: 80 % within."""
NEW = 1.3
"""Power by which a range is wider for a source that no other is like: as these are from each other."""
LEAST = 10
"""Figures of a source from which it counts as one of several."""
MOST = 60
"""Figures of a source that count in full; more share the weight of so many."""
FEW = 60
"""Runs of a source below which it is left out together with other small ones."""
LOADS = ("served", "loop", "offline", "other")
"""Kinds of load, see ``load_kind``."""


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
        replica, load = Replica(self.work.shape, self.work.board, setup, speeds), self.work.load(requests)
        if self.quantity == "tokens_per_s":
            return token_rate(replica, **load).value * replicas
        if self.run.mode == "server":
            found = first_token_ms if self.quantity == "ttft_ms" else time_per_token_ms
            return found(replica, **load).value
        return loop_times_ms(replica, **load)[self.quantity == "ttft_ms"].value


def samples(catalog: Catalog, runs: Iterable[Run]) -> tuple[Sample, ...]:
    """Return the figures that parameters are fitted to: both times of loads that are stated, and offline rates."""
    figures = []
    speeds, overheads = speeds_of(catalog), overheads_of(catalog)
    for run in runs:
        load = "concurrency" if run.mode == "server" and run.concurrency else run.mode
        wanted = {"concurrency": ("tpot_ms", "ttft_ms"), "offline": ("tokens_per_s",)}.get(load, ())
        names = [name for name in wanted if getattr(run, name)]
        try:
            work = work_of(catalog, run, overheads) if names else None
        except NotPredicted:
            continue
        if work is not None:
            cut = best_cut(work, speeds)
            figures += [Sample(run, name, getattr(run, name), work, cut) for name in names]
    return tuple(figures)


def fit(found: Sequence[Sample], start: Speeds, *, rounds: int = 12) -> Speeds:
    """Return parameters fitted to measured figures: first those of a step, then those of waiting."""
    step = [sample for sample in found if sample.quantity != "ttft_ms"]
    wait = [sample for sample in found if sample.quantity == "ttft_ms"]
    return _fit(wait, _fit(step, start, STEP, rounds), WAIT, rounds)


def _fit(found: Sequence[Sample], start: Speeds, centre: Mapping[str, float], rounds: int) -> Speeds:
    names = list(centre)
    middle = np.log([centre[name] for name in names])
    share = math.log(MOST_SHARE)
    limit = np.array([share if name.endswith(("_share", "_power")) else 20.0 for name in names])
    measured = np.log([sample.measured for sample in found] or [1.0])
    count = Counter((sample.run.source, sample.quantity) for sample in found)
    weight = np.array([_weight(sample, count) for sample in found] or [0.0])

    def misses(logs: Any) -> Any:
        speeds = replace(start, **dict(zip(names, map(float, np.exp(logs)), strict=True)))
        values = np.log([sample.value(speeds) for sample in found] or [1.0])
        return np.concatenate([(values - measured) * weight, (logs - middle) / OFF])

    first = np.minimum(np.log([getattr(start, name) for name in names]), limit - 1e-3)
    best = least_squares(misses, first, loss="soft_l1", bounds=(-20.0, limit), x_scale="jac", max_nfev=rounds)
    return replace(start, **dict(zip(names, map(float, np.exp(best.x)), strict=True)))


def _weight(sample: Sample, count: Mapping[tuple[str, str], int]) -> float:
    """Return the weight of a figure: beyond ``MOST_COUNTED``, those of one source share that of so many."""
    many = count[sample.run.source, sample.quantity]
    return math.sqrt(min(1.0, MOST_COUNTED / many)) / ERRORS[sample.quantity]


class Figure(NamedTuple):
    """A published figure, its prediction by parameters that were fitted without it, and its kind."""

    prediction: Prediction
    load: str
    experts: bool
    known: bool
    """True if other sources have its board, and its model."""

    @property
    def off(self) -> float:
        """Logarithm of the measured figure over the predicted one."""
        return float(np.log(self.prediction.measured / (self.prediction.predicted or 1.0)))


@dataclass(frozen=True)
class LeftOut:
    """A source, board or model, the parameters fitted on all others, and what they predict for it."""

    name: str
    speeds: Speeds
    figures: tuple[Figure, ...]


def sources(runs: Sequence[Run]) -> Mapping[str, str]:
    """The source of each run by its id: rounds of a benchmark are one, and small sources count together."""
    names = {run.id: re.sub(r"-\d[\d.]*$", "", run.source) for run in runs}
    count = Counter(names.values())
    return {id: name if count[name] >= FEW else "other sources" for id, name in names.items()}


BY: Mapping[str, Callable[[Sequence[Run]], Mapping[str, str]]] = {
    "source": sources,
    "board": lambda runs: {run.id: run.gpu for run in runs},
    "model": lambda runs: {run.id: run.model for run in runs},
}
"""What can be left out in turn -> the group of each run by its id."""


def left_out(catalog: Catalog, by: str = "source", *, every: int = 1, rounds: int = 8) -> Iterator[LeftOut]:
    """Yield each source, board or model with what the runs of all others predict for it.

    Parameters:
        by: ``source``, ``board`` or ``model``. [-]
        every: Only one in so many of the other runs is fitted on, which is as much faster. [-]
        rounds: Steps of each fit at most. [-]
    """
    runs, start = runs_of(catalog), speeds_of(catalog)
    known, group = samples(catalog, runs), BY[by](runs)
    for name in sorted({group[sample.run.id] for sample in known}):
        others = [sample for sample in known if group[sample.run.id] != name]
        yield without(catalog, runs, group, name, fit(others[::every], start, rounds=rounds))


def without(catalog: Catalog, runs: Sequence[Run], by: Mapping[str, str], name: str, made: Speeds) -> LeftOut:
    """What parameters that were fitted without a group of the runs predict for it; ``by`` has the group of each by its id."""
    own, rest = ([run for run in runs if (by[run.id] == name) == out] for out in (True, False))
    return LeftOut(name, made, tuple(_figures(catalog, own, rest, made)))


def _figures(catalog: Catalog, own: Sequence[Run], rest: Sequence[Run], speeds: Speeds) -> Iterator[Figure]:
    boards, models = {run.gpu for run in rest}, {key_of(run.model) for run in rest}
    runs = {run.id: run for run in own}
    for found in predict(catalog, own, speeds):
        run = runs[found.source_id]
        if found.predicted is not None:
            experts = not model_of(catalog, run)[1].dense
            known = run.gpu in boards and key_of(run.model) in models
            yield Figure(found, load_kind(run), experts, known)


class Spread(NamedTuple):
    """Low and high of measured figures of a kind over predicted ones."""

    quantity: str
    load: str
    experts: bool
    known: bool
    low: float
    high: float
    figures: int


def spreads(found: Sequence[LeftOut]) -> tuple[Spread, ...]:
    """Ranges of each quantity by the kind of load and model, and by whether board and model are known.

    Quantiles of 10 and 90 % of measured over predicted, each source with the weight of at most 60 figures, to the power
    1.3. A kind of which fewer than two sources have ten figures takes those of all loads.
    """
    kinds = itertools.product(QUANTITIES, LOADS, (False, True), (True, False))
    return tuple(spread(found, *kind) for kind in kinds)


def spread(found: Sequence[LeftOut], quantity: str, load: str, experts: bool, known: bool) -> Spread:
    """The range of one quantity under one of ``LOADS``, of models with experts or dense, known with their board or not."""

    def kept(of: Callable[[Figure], bool], least: int = 2) -> list[list[float]]:
        figures = [[f for f in each.figures if f.prediction.quantity == quantity and of(f)] for each in found]
        offs = [[figure.off for figure in source] for source in figures]
        return offs if sum(len(source) >= LEAST for source in offs) >= least else []

    alike = kept(lambda f: f.experts == experts and f.load == load)
    of = alike or kept(lambda f: f.experts == experts) or kept(lambda f: True, 0)
    low, high = _ends(of)
    if not known:
        new = kept(lambda f: f.experts == experts and f.load == load and not f.known)
        further = _ends(new or kept(lambda f: f.experts == experts and not f.known) or of)
        low, high = min(low, further[0]), max(high, further[1])
    return Spread(quantity, load, experts, known, low, high, sum(map(len, of)))


def _ends(of: Sequence[Sequence[float]]) -> tuple[float, float]:
    """Return low and high of figures by source, each source with a limited weight."""
    offs = np.array([off for source in of for off in source])
    weight = np.array([min(1.0, MOST / len(source)) for source in of for _ in source])
    order = np.argsort(offs)
    at = np.cumsum(weight[order]) - weight[order] / 2
    low, high = np.interp(np.array([BEYOND, 1 - BEYOND]) * weight.sum(), at, offs[order])
    return float(np.exp(NEW * min(low, -0.02))), float(np.exp(NEW * max(high, 0.02)))


def held(found: Sequence[LeftOut]) -> dict[str, tuple[Prediction, ...]]:
    """Predictions of each group with the ranges that all other groups give."""
    result = {}
    for group in found:
        others = [other for other in found if other is not group]
        kinds = {(f.prediction.quantity, *f[1:]) for f in group.figures}
        ranges = {kind: spread(others, *kind) for kind in kinds}
        result[group.name] = tuple(_within(f, ranges[(f.prediction.quantity, *f[1:])]) for f in group.figures)
    return result


def _within(figure: Figure, of: Spread) -> Prediction:
    value = figure.prediction.predicted or 0.0
    return replace(figure.prediction, low=value * of.low, high=value * of.high)
