"""A customer's own runs: matched to the groups of a design, factors fitted to them, and the design planned again.

Few runs do not refit a model of thirty parameters. Each quantity gets a factor instead, the shrunken mean of
log(measured / predicted) of runs like it; how alike runs of one source are is taken from the published ones. [gpuplan-method]_
"""

import datetime
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from gpuplan.analysis.benchmarks.tools import Result
from gpuplan.analysis.llm_predictions import Prediction, predict
from gpuplan.analysis.llm_runs import NotPredicted, Run, gpu_of
from gpuplan.catalog import Catalog, CatalogError, load_catalog
from gpuplan.catalog.own import put, rows_of, write_rows
from gpuplan.plan import Plan, make_plan
from gpuplan.plan.llm_parts import key_of, model_named
from gpuplan.scenario import ScenarioError
from gpuplan.wording import said

DOUBLINGS = 2.0
"""Doublings of concurrency, lengths and GPUs by which runs of one model stop being at a like load."""
USUAL = 256.0
"""Concurrency and tokens of a run that does not state them: offline, or of a benchmark."""
MOST_RUNS = 1000
"""Most runs that a fit takes."""
PRIOR_RUNS = 5
"""Runs that the spread counts for, when the customer's own scatter more or less."""
FILLED = ("model", "gpu", "precision_weights", "precision_kv", "tp", "framework", "tuned", "gpus")
"""What a group of the design says of a run that does not state it."""
SOURCE = "own-llm-runs"


class Spread(NamedTuple):
    """Standard deviations of log(measured / predicted) within a source, by what its runs have in common."""

    all: float
    model: float
    near: float
    """Of runs of one model at a like load."""
    noise: float
    """Of single runs."""
    most: float
    """So far from the median of all runs one says no more: it was another set-up."""


SPREADS: Mapping[str, Spread] = {
    "tpot_ms": Spread(0.03, 0.1, 0.1, 0.1, 0.3),
    "ttft_ms": Spread(0.1, 0.3, 0.6, 0.3, 1.0),
    "tokens_per_s": Spread(0.05, 0.05, 0.3, 0.1, 1.0),
}
"""Quantity -> its spreads: those with which five published runs of a model on a board tell most of its others."""


class Factor(NamedTuple):
    """What the customer's runs say of a prediction."""

    value: float = 1.0
    """Times the prediction."""
    width: float = 1.0
    """Power of its range: below 1 it is narrower."""


@dataclass(frozen=True)
class Own:
    """The runs of a customer: by quantity, each with log(measured / predicted)."""

    runs: Mapping[str, Sequence[tuple[Run, float]]]

    def factor(self, quantity: str, run: Run) -> Factor:
        """Return the factor of a quantity for a run, from all other runs.

        exp(k (K + noise^2 I)^-1 r), the best linear estimate from r = log(measured / predicted). Runs vary together, in K and
        k, by all^2 + model^2 for one model + near^2 exp(-d^2 / 2) for it d times two doublings away. The range has the power
        sqrt(s^2 (c - k (K + noise^2 I)^-1 k) / c), with c = k(run, run) + noise^2: what is left, and
        s^2 = (5 + r (K + noise^2 I)^-1 r) / (5 + n) for runs that scatter more or less than those of sources.
        """
        own, spread = self.runs.get(quantity, ()), SPREADS[quantity]
        if not any(each.id != run.id for each, _ in own):
            return Factor()
        ids, off, inverse = self._solved[quantity]
        whole = float(_alike(spread, [run], [run])[0, 0]) + spread.noise**2
        scatter = (PRIOR_RUNS + off @ inverse @ off) / (PRIOR_RUNS + len(off))
        if run.id in ids:  # what the others say of it follows from the same inverse
            at = ids.index(run.id)
            left = 1 / inverse[at, at]
            log = off[at] - left * (inverse @ off)[at]
        else:
            to = _alike(spread, [run], [each for each, _ in own[:MOST_RUNS]])[0]
            log, left = to @ inverse @ off, whole - to @ inverse @ to
        return Factor(math.exp(log), math.sqrt(scatter * left / whole))

    @cached_property
    def _solved(self) -> dict[str, tuple[list[str], Any, Any]]:
        """By quantity the ids of the runs, their logarithms and the inverse of K + noise^2 I."""
        import numpy as np

        solved = {}
        for quantity, own in ((name, own) for name, own in self.runs.items() if own):
            runs, spread = [run for run, _ in own[:MOST_RUNS]], SPREADS[quantity]
            logs = [log for _, log in own[:MOST_RUNS]]
            middle = min(2 * spread.most, max(-2 * spread.most, median(logs) if len(logs) > 2 else 0.0))
            off = np.clip(logs, middle - spread.most, middle + spread.most)
            inverse = np.linalg.inv(_alike(spread, runs, runs) + spread.noise**2 * np.eye(len(runs)))
            solved[quantity] = ([run.id for run in runs], off, inverse)
        return solved

    def refitted(self, run: Run, old: Prediction) -> Prediction:
        """Return a prediction of a run with the factor of the customer's other runs."""
        if old.predicted is None or old.low is None or old.high is None:
            return old
        factor, width = self.factor(old.quantity, run)
        value = old.predicted * factor
        low, high = (value * (end / old.predicted) ** width for end in (old.low, old.high))
        return replace(old, predicted=value, low=low, high=high)


def _alike(spread: Spread, ones: Sequence[Run], others: Sequence[Run]) -> Any:
    """Return how much runs vary together with others, as a matrix."""
    import numpy as np

    loads = [np.array([_load(run) for run in runs]) for runs in (ones, others)]
    models = [np.array([key_of(run.model) for run in runs]) for runs in (ones, others)]
    away = sum((a[:, None] - b[None]) ** 2 for a, b in zip(loads[0].T, loads[1].T, strict=True))
    near = spread.near**2 * np.exp(-away / DOUBLINGS**2 / 2)
    return spread.all**2 + (models[0][:, None] == models[1][None]) * (spread.model**2 + near)


def _load(run: Run) -> tuple[float, ...]:
    """Return concurrency of a replica, lengths and GPUs in doublings; what a run does not state is usual."""
    replicas = max(1.0, run.all_gpus / run.replica_gpus)
    values = ((run.concurrency or USUAL) / replicas, run.isl or USUAL, run.osl or USUAL, run.replica_gpus)
    return tuple(math.log2(max(value, 1e-3)) for value in values)


def calibrated(runs: Iterable[Run], predictions: Iterable[Prediction]) -> Own:
    """Fit a customer's factors to the predictions of their runs."""
    by_id = {run.id: run for run in runs}
    logs: dict[str, list[tuple[Run, float]]] = {name: [] for name in SPREADS}
    for each in predictions:
        if each.predicted and 0 < each.predicted < math.inf:
            logs[each.quantity].append((by_id[each.source_id], math.log(each.measured / each.predicted)))
    return Own(logs)


def write_factors(folder: Path, catalog: Catalog, runs: Iterable[Run], own: Own) -> tuple[str, ...]:
    """Write the factors at the load of some runs, the last of each model and board, into a catalog folder."""
    factors: dict[str, Mapping[str, float]] = {}
    for run in runs:
        try:
            model, gpu = model_named(catalog, run.model), gpu_of(catalog, run.gpu)
        except NotPredicted:
            continue
        if model is None:
            continue
        token, first = own.factor("tpot_ms", run), own.factor("ttft_ms", run)
        if not own.runs["tpot_ms"]:
            rate = own.factor("tokens_per_s", run)
            token = Factor(1 / rate.value, rate.width)
        widths = {"own_width": token.width, "own_first_width": first.width}
        values = {"own_step": token.value, "own_first": first.value / token.value}
        factors[f"llm-own/{model.id}/{gpu.id}"] = values | widths
    return write_own(folder, factors, len({run.id for own_runs in own.runs.values() for run, _ in own_runs}))


def write_own(folder: Path, factors: Mapping[str, Mapping[str, float]], runs: int) -> tuple[str, ...]:
    """Write a customer's factors, by item of the assumptions, into a catalog folder; return the names of the files written."""
    names = ("sources", "assumptions")
    tables = {table: rows for table, rows in rows_of(folder).items() if table in names}
    source = {"id": SOURCE, "title": said("own runs.title"), "producer": "Own", "tier": "measured"}
    put(tables, "sources", source | {"accessed": datetime.date.today().isoformat()})
    origin = {"basis": "fitted", "source": SOURCE, "note": said("own runs.note", n=runs)}
    for item, values in factors.items():
        cells = {"name": {"value": said("own runs.title")}}
        cells |= {name: {"value": f"{value:.4g}", "unit": "1"} for name, value in values.items()}
        rows = ({"item": item, "parameter": name, **cells[name], **origin} for name in cells)
        put(tables, "assumptions", *rows)
    write_rows(folder, tables)
    return tuple(f"{name}.csv" for name in names)


def planned_run(plan: Plan, id: str) -> Run:
    """Return one replica of a group at its planned load, as a run without figures."""
    made, group = plan.llm.serving[id], next(g for g in plan.scenario.groups if g.id == id)
    row = plan.catalog.row("llm_models", str(group.model))
    return Run(
        id=f"plan/{id}",
        model=str(row["repository"] or row["name"]),
        gpu=next(part for part in plan.parts if id in part.llm.serving).scenario.hardware.gpu,
        precision_weights=made.weights,
        precision_kv=made.cache,
        gpus=made.gpus,
        tp=max(1.0, made.gpus),
        framework="vllm",
        isl=made.load.tokens_in,
        osl=made.load.tokens_out,
        concurrency=max(1.0, made.found.requests),
        mode="server",
        tuned=group.engine_setup == "tuned",
    )


def of_design(found: Result, plan: Plan) -> Result:
    """Return a result with what it does not name taken from the group of the design that it was run for.

    The group is the one that file or folder name, or the only one with its model; CatalogError where it may be several.
    """
    planned = {id: planned_run(plan, id) for id in plan.llm.serving}
    named = model_named(plan.catalog, found.run.model)
    id = _group_of(found, planned, plan.catalog)
    base = planned.get(id, Run("", "", plan.scenario.hardware.gpu))
    stated = {name: value for name in FILLED if (value := getattr(found.run, name))}
    if id and named is None:
        stated.pop("model", None)
    if found.run.dp or stated.get("tp", base.tp) != base.tp:  # cut in another way than planned
        stated.setdefault("gpus", found.run.all_gpus)
    filled = {name: getattr(base, name) for name in FILLED} | stated
    return replace(found, group=id, run=replace(found.run, **filled))


def _group_of(found: Result, planned: Mapping[str, Run], catalog: Catalog) -> str:
    if found.group in planned:
        return found.group
    named, nameless = model_named(catalog, found.run.model), found.run.model[:1] in ("", "/", ".")
    same = [id for id, run in planned.items() if nameless or model_named(catalog, run.model) == named]
    if len(same) == 1:
        return same[0]
    if nameless:
        raise CatalogError(said("bench.which group", names=", ".join(planned)), file=found.file)
    return ""


@dataclass(frozen=True)
class Calibration:
    """Results beside predictions, before and after the fit, and a design before and after."""

    results: tuple[Result, ...]
    predictions: tuple[Prediction, ...]
    refitted: tuple[Prediction, ...]
    """Each by the factors of the other runs."""
    own: Own
    plan: Plan | None = None
    again: Plan | None = None
    why: str = ""
    """Why there is no plan with the factors; empty where there is one."""

    @property
    def runs(self) -> list[Run]:
        """The runs of the results, with those of the design last: at their load a plan takes the factors."""
        planned = [planned_run(self.plan, id) for id in self.plan.llm.serving] if self.plan else []
        return [*(each.run for each in self.results), *planned]


def calibrate(catalog: Catalog, results: Iterable[Result], plan: Plan | None = None) -> Calibration:
    """Compare results with predictions, fit a customer's factors to them, and plan a design again with these."""
    read = tuple(of_design(each, plan) if plan else each for each in results)
    ids = Counter[str]()
    for at, each in enumerate(read):
        ids[each.run.id] += 1
        if (count := ids[each.run.id]) > 1:
            again = replace(each.run, id=f"{each.run.id} ({count})")
            read = (*read[:at], replace(each, run=again), *read[at + 1 :])
    by_id = {each.run.id: each.run for each in read}
    found = predict(catalog, by_id.values())
    own = calibrated(by_id.values(), found)
    made = Calibration(read, found, tuple(own.refitted(by_id[p.source_id], p) for p in found), own, plan)
    if plan is None:
        return made
    with TemporaryDirectory() as folder:
        write_factors(Path(folder), catalog, made.runs, own)
        try:
            return replace(made, again=make_plan(plan.scenario, load_catalog(*catalog.folders[1:], folder)))
        except ScenarioError as error:
            return replace(made, why=str(error))
