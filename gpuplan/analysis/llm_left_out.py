"""Published runs predicted by parameters that were fitted without them, and the ranges that follow.

Sources, boards or models are left out in turn. ``data/llm_ranges.csv`` holds what sources that were left out found over
what was predicted for them; ``gpuplan calibrate --llm --left-out source`` prints their errors.
"""

import itertools
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from gpuplan.analysis.llm_calibration import fit, samples
from gpuplan.analysis.llm_predictions import QUANTITIES, Prediction, predict
from gpuplan.analysis.llm_runs import Run, load_kind, model_of, runs_of
from gpuplan.catalog import Catalog
from gpuplan.models.llm.speeds import Speeds
from gpuplan.plan.llm_parts import key_of, speeds_of
from gpuplan.wording import said

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
    return {id: name if count[name] >= FEW else said("runs.other sources") for id, name in names.items()}


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
