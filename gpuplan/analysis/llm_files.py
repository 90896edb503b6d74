"""The user's own serving runs: read from a file, and written with their own fit as part of a catalog folder."""

from __future__ import annotations

import contextlib
import csv
import datetime
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from gpuplan.analysis.llm_calibration import fit, samples
from gpuplan.analysis.llm_runs import NotPredicted, Run, gpu_of, runs_of
from gpuplan.catalog import Catalog, CatalogError
from gpuplan.catalog.tables import Column, Line, NotAllowed, csv_lines, short
from gpuplan.facts import did_you_mean
from gpuplan.models.llm.speeds import Speeds
from gpuplan.plan.llm_parts import speeds_of

NEEDED = ("model", "gpu")
OWN_WEIGHT = 5
"""Weight of a user's own run relative to a published one."""
SOURCE = "own-llm-runs"


def read_runs(path: Path, catalog: Catalog) -> tuple[Run, ...]:
    """Read runs of a CSV file with the published columns, in any order; CatalogError names line and column.

    ``model`` and ``gpu`` must be there; other columns may be missing and cells empty. A column whose name is nearly one
    of them is refused, so that a misspelled one is not lost; any other is ignored.
    """
    columns = catalog.schema["llm_runs"]
    header, *lines = list(csv_lines(path, path.name)) or [Line(path.name, 1, NEEDED)]
    names = _header(header, (*columns, "source_id"))
    if not lines:
        message = f"has no runs; its first line names columns such as {', '.join(NEEDED)}"
        raise CatalogError(message, file=path.name)
    return tuple(_run(line, names, columns) for line in lines)


def _header(line: Line, known: Sequence[str]) -> Sequence[str]:
    """Return the columns of a file by their published names."""
    for name in NEEDED:
        if name not in line.cells:
            raise line.error(name, f"there is no column {name}; the columns are {', '.join(known)}")
    for name in line.cells:
        if name not in known and (close := did_you_mean(name, known)):
            raise line.error(name, f"{short(name)} is not a column of runs{close}")
        if name and line.cells.count(name) > 1:
            raise line.error(name, "is there twice; keep one")
    return ["id" if name == "source_id" else name for name in line.cells]


def _run(line: Line, names: Sequence[str], columns: Mapping[str, Column]) -> Run:
    if len(line.cells) != len(names):
        raise line.error("", f"has {len(line.cells)} cells; the header has {len(names)}")
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


def fit_own(catalog: Catalog, own: Sequence[Run]) -> Speeds:
    """Fit parameters to the published runs and the user's own, each of which counts for several."""
    start = speeds_of(catalog)
    known = samples(catalog, [run for run in runs_of(catalog) if run.id not in {r.id for r in own}])
    return fit((*known, *samples(catalog, own) * OWN_WEIGHT), start)


def write_own(folder: Path, catalog: Catalog, own: Sequence[Run], speeds: Speeds) -> tuple[str, ...]:
    """Write runs and parameters into a catalog folder, beside existing files; return the names of the files written."""
    folder.mkdir(parents=True, exist_ok=True)
    source = {"id": SOURCE, "title": "Own runs of language models", "producer": "Own", "url": ""}
    source |= {"published": "", "accessed": _today(), "kind": "measurement", "note": ""}
    _merge(folder / "sources.csv", list(source), [source], 1)
    columns = list(catalog.schema["llm_runs"])
    _merge(folder / "llm_runs.csv", columns, [_row(catalog, run, columns) for run in own], 1)
    facts = catalog.assumptions["llm-serving"]
    head = ["item", "parameter", "value", "low", "high", "unit", "basis", "source", "locator", "note"]
    rows = []
    for name, value in asdict(speeds).items():
        fact = facts.fact(name)
        low, high = (min(fact.low or value, value), max(fact.high or value, value))
        cells = ["llm-serving", name, f"{value:.4g}", f"{low:.4g}", f"{high:.4g}", fact.unit, "fitted"]
        rows.append(dict(zip(head, [*cells, SOURCE, "", f"with {len(own)} own runs"], strict=True)))
    _merge(folder / "assumptions.csv", head, rows, 2)
    return ("sources.csv", "llm_runs.csv", "assumptions.csv")


def _today() -> str:
    return datetime.date.today().isoformat()


def _row(catalog: Catalog, run: Run, columns: Sequence[str]) -> dict[str, str]:
    given = asdict(run) | {"basis": "measured", "source": SOURCE, "gpus": run.all_gpus, "mode": run.load}
    with contextlib.suppress(NotPredicted):
        given["gpu"] = gpu_of(catalog, run.gpu).id
    return {name: _cell(given.get(name)) for name in columns}


def _cell(value: object) -> str:
    return "" if value is None else f"{value:.10g}" if isinstance(value, float) else str(value)


def _merge(path: Path, columns: Sequence[str], rows: Iterable[Mapping[str, str]], width: int) -> None:
    """Write rows into a table; those there already stay, but for rows with the same key."""
    kept: dict[tuple[str, ...], Mapping[str, Any]] = {}
    if path.exists():
        with path.open(encoding="utf-8-sig", newline="") as file:
            there = list(csv.DictReader(file))
        kept = {tuple(row[name] for name in columns[:width]): row for row in there}
    kept |= {tuple(row[name] for name in columns[:width]): row for row in rows}
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows(kept.values())
