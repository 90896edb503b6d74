"""The user's own serving runs: read from a file, and written with their own fit as part of a catalog folder."""

from __future__ import annotations

import csv
import datetime
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from gpuplan.analysis.llm_calibration import fit, samples
from gpuplan.analysis.llm_runs import NUMBERS, NotPredicted, Run, gpu_of, runs_of
from gpuplan.catalog import Catalog, CatalogError
from gpuplan.catalog.tables import MAX_BYTES, NotAllowed, parse_number, short
from gpuplan.facts import did_you_mean
from gpuplan.models.llm.shape import BITS
from gpuplan.models.llm.speeds import Speeds
from gpuplan.plan.llm_parts import speeds_of

MODES = ("concurrency", "offline", "server", "interactive", "static", "burst", "disaggregated")
TEXTS = (
    "model",
    "gpu",
    "precision_weights",
    "precision_kv",
    "framework",
    "framework_version",
    "mode",
    "note",
)
NEEDED = ("model", "gpu")
KNOWN = (*TEXTS, *NUMBERS, "source_id", "source", "licence", "virtualised")
CHOICES: Mapping[str, tuple[str, ...]] = {
    "mode": MODES,
    "precision_weights": tuple(BITS),
    "precision_kv": tuple(BITS),
}
OWN_WEIGHT = 5
"""Weight of a user's own run relative to a published one."""
SOURCE = "own-llm-runs"


def read_runs(path: Path) -> tuple[Run, ...]:
    """Read runs of a CSV file with the published columns, in any order; CatalogError names line and column.

    ``model`` and ``gpu`` must be there; other columns may be missing and cells empty. A column whose name is nearly one
    of them is refused, so that a misspelled one is not lost; any other is ignored.
    """
    try:
        data = path.read_bytes()[: MAX_BYTES + 1]
        text = data.decode("utf-8-sig")
    except OSError as error:
        raise CatalogError(f"cannot be read ({error.strerror})", file=path.name) from None
    except UnicodeDecodeError as error:
        row = data.count(b"\n", 0, error.start) + 1
        raise CatalogError(
            "is not UTF-8; save it as CSV with that encoding", file=path.name, row=row
        ) from None
    if len(data) > MAX_BYTES or "\0" in text:
        raise CatalogError(f"is no CSV of at most {MAX_BYTES:,} bytes", file=path.name)
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    found: list[Run] = []
    header: tuple[str, ...] = ()
    try:
        for cells in reader:
            if not any(cell.strip() for cell in cells):
                continue
            if not header:
                header = _header(path.name, [cell.strip() for cell in cells], reader.line_num)
                continue
            found.append(_run(path.name, header, cells, reader.line_num))
    except csv.Error as error:
        raise CatalogError(f"is not well-formed CSV ({error})", file=path.name, row=reader.line_num) from None
    if not found:
        raise CatalogError(
            f"has no runs; its first line names columns such as {', '.join(NEEDED)}", file=path.name
        )
    return tuple(found)


def _header(file: str, names: Sequence[str], row: int) -> tuple[str, ...]:
    named = ["source_id" if name == "id" else name for name in names]
    for name in NEEDED:
        if name not in named:
            message = f"there is no column {name}; the columns are {', '.join(KNOWN)}"
            raise CatalogError(message, file=file, row=row, column=name)
    for name in named:
        if name not in KNOWN and (close := did_you_mean(name, KNOWN)):
            raise CatalogError(
                f"{short(name)} is not a column of runs{close}", file=file, row=row, column=name
            )
        if name and named.count(name) > 1:
            raise CatalogError("is there twice; keep one", file=file, row=row, column=name)
    return tuple(named)


def _run(file: str, header: Sequence[str], cells: Sequence[str], row: int) -> Run:
    if len(cells) != len(header):
        raise CatalogError(f"has {len(cells)} cells; the header has {len(header)}", file=file, row=row)
    given = {name: cell.strip() for name, cell in zip(header, cells, strict=True)}
    values: dict[str, Any] = {name: given.get(name, "") for name in TEXTS}
    for name, allowed in CHOICES.items():
        if values[name] and values[name].lower() not in allowed:
            message = f"{short(values[name])} is not allowed; it needs one of {', '.join(allowed)}"
            raise CatalogError(message, file=file, row=row, column=name)
        values[name] = values[name].lower()
    for name in NUMBERS:
        values[name] = _number(file, row, name, given.get(name, ""))
    return Run(id=given.get("source_id") or f"line-{row}", **values)


def _number(file: str, row: int, name: str, text: str) -> float | None:
    if not text:
        return None
    try:
        value = float(parse_number(text))
    except NotAllowed as error:
        raise CatalogError(
            f"{short(text)} is not allowed; it needs {error}", file=file, row=row, column=name
        ) from None
    whole = name in ("gpus", "tp", "pp", "dp", "ep")
    if not 0 < value < 1e9 or (whole and value != int(value)):
        needs = "a whole number from 1" if whole else "a number above 0"
        raise CatalogError(f"{short(text)} is not allowed; it needs {needs}", file=file, row=row, column=name)
    return value


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
    columns = [*(name for name in catalog.schema["llm_runs"])]
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
    given = asdict(run)
    try:
        found = gpu_of(catalog, run.gpu)
        given["gpu"] = found.id
    except NotPredicted:
        pass
    given |= {"basis": "measured", "source": SOURCE, "locator": "", "mode": run.mode or _mode(run)}
    given["gpus"] = run.gpus or (run.tp or 1) * (run.pp or 1) * (run.dp or 1)
    return {name: _cell(given.get(name)) for name in columns}


def _mode(run: Run) -> str:
    return "concurrency" if run.concurrency else "offline"


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
