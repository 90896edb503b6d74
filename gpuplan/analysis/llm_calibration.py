"""The models of serving against measured runs: errors, and the fit of their parameters.

The parameters are in ``data/assumptions.csv``, item ``llm-serving``. Times per token of closed loops and offline rates
fit those of a step, times to the first token those of waiting, with a loss that outliers hardly move: speculative
decoding is not marked in the sources.
"""

import csv
import datetime
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean, median
from typing import Any

from gpuplan.analysis.llm_predictions import Prediction, best_cut
from gpuplan.analysis.llm_runs import NotPredicted, Run, Work, work_of
from gpuplan.catalog import Catalog, CatalogError
from gpuplan.catalog.tables import Column, Line, NotAllowed, csv_lines, short
from gpuplan.facts import did_you_mean
from gpuplan.models.llm.serving import first_token_ms, loop_times_ms, time_per_token_ms, token_rate
from gpuplan.models.llm.speeds import Replica, Speeds
from gpuplan.plan.llm_parts import overheads_of, speeds_of
from gpuplan.wording import said

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
NEEDED = ("model", "gpu")
SOURCE = "own-llm-runs"


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
    import numpy as np
    from scipy.optimize import least_squares

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


# A user's own runs


def read_runs(path: Path, catalog: Catalog) -> tuple[Run, ...]:
    """Read runs of a CSV file with the published columns, in any order; CatalogError names line and column.

    ``model`` and ``gpu`` must be there; other columns may be missing and cells empty. A column whose name is nearly one
    of them is refused, so that a misspelled one is not lost; any other is ignored.
    """
    columns = catalog.schema["llm_runs"]
    header, *lines = list(csv_lines(path, path.name)) or [Line(path.name, 1, NEEDED)]
    names = _header(header, (*columns, "source_id"))
    if not lines:
        raise CatalogError(said("own runs.none", names=", ".join(NEEDED)), file=path.name)
    return tuple(_run(line, names, columns) for line in lines)


def _header(line: Line, known: Sequence[str]) -> Sequence[str]:
    """Return the columns of a file by their published names."""
    for name in NEEDED:
        if name not in line.cells:
            raise line.error(name, said("own runs.no column", name=name, names=", ".join(known)))
    for name in line.cells:
        if name not in known and (close := did_you_mean(name, known)):
            raise line.error(name, said("own runs.unknown column", name=short(name), close=close))
        if name and line.cells.count(name) > 1:
            raise line.error(name, said("own runs.twice"))
    return ["id" if name == "source_id" else name for name in line.cells]


def _run(line: Line, names: Sequence[str], columns: Mapping[str, Column]) -> Run:
    if len(line.cells) != len(names):
        raise line.error("", said("own runs.cells", cells=len(line.cells), header=len(names)))
    values: dict[str, Any] = {"id": f"line-{line.number}", "model": "", "gpu": ""}
    for name, text in zip(names, line.cells, strict=True):
        if text and name in Run.__dataclass_fields__:
            try:
                values[name] = text if name == "id" else columns[name].parse(_spelled(columns[name], text))
            except NotAllowed as error:
                raise line.error(name, str(error)) from None
    return Run(**values)


def _spelled(column: Column, text: str) -> str:
    """Return a choice in lower case, as the published runs have it."""
    return text.lower() if column.allowed else text


def write_own(folder: Path, factors: Mapping[str, Mapping[str, float]], runs: int) -> tuple[str, ...]:
    """Write a customer's factors, by item of the assumptions, into a catalog folder; return the names of the files written."""
    folder.mkdir(parents=True, exist_ok=True)
    source = {"id": SOURCE, "title": said("own runs.title"), "producer": "Own", "url": ""}
    source |= {"published": "", "accessed": _today(), "kind": "measurement", "note": ""}
    _merge(folder / "sources.csv", list(source), [source], 1)
    head = ["item", "parameter", "value", "low", "high", "unit", "basis", "source", "locator", "note"]
    rows: list[list[str]] = []
    for item, values in factors.items():
        rows.append([item, "name", said("own runs.title"), "", "", ""])
        rows += [[item, name, f"{value:.4g}", "", "", "1"] for name, value in values.items()]
    end = ["fitted", SOURCE, "", said("own runs.note", n=runs)]
    _merge(folder / "assumptions.csv", head, [dict(zip(head, row + end, strict=True)) for row in rows], 2)
    return ("sources.csv", "assumptions.csv")


def _today() -> str:
    return datetime.date.today().isoformat()


def _merge(path: Path, columns: Sequence[str], rows: Iterable[Mapping[str, str]], width: int) -> None:
    """Write rows into a table; those there already stay, but for rows with the same key."""
    kept: dict[tuple[str, ...], Mapping[str, Any]] = {}
    if path.exists():
        with path.open(encoding="utf-8-sig", newline="") as file:
            existing = list(csv.DictReader(file))
        kept = {tuple(row[name] for name in columns[:width]): row for row in existing}
    kept |= {tuple(row[name] for name in columns[:width]): row for row in rows}
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows(kept.values())
