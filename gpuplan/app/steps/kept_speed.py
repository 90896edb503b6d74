"""Share of its speed that a GPU keeps over the network: a bar with its range, a verdict with a sign, and its basis."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gpuplan.app.cards import source_titles
from gpuplan.app.state import Workbook
from gpuplan.catalog import Catalog
from gpuplan.plan.remote_gpus import RemoteUse
from gpuplan.plan.training.use import TrainingUse
from gpuplan.report.table import Cell, Column, Table
from gpuplan.wording import VERDICTS, kept_range, kept_share

MARKS = {
    "good": {"sign": "\u2713", "text": VERDICTS["good"], "tone": "good"},
    "fair": {"sign": "!", "text": VERDICTS["fair"], "tone": "warn"},
    "bad": {"sign": "\u2715", "text": VERDICTS["bad"], "tone": "bad"},
    "over": {"sign": "\u2191", "text": VERDICTS["over"], "tone": "warn"},
    "unknown": {"sign": "?", "text": VERDICTS["unknown"], "tone": "warn"},
}
"""A sign and a word beside each colour."""


def presets(catalog: Catalog, phase: str = "") -> list[tuple[str, str]]:
    """Return the workloads in the catalog, or those of one phase, with their names."""
    rows = catalog.rows("network_workloads")
    return [(row.id, str(row["name"])) for row in rows if phase in ("", row["phase"])]


def bar(catalog: Catalog, low: float, typical: float, high: float) -> dict[str, Any]:
    """Return a share with its range as a bar; the marks are the limits of slower and suitable work."""
    planning = catalog.assumptions["network-planning"]
    return {
        "low": low,
        "typical": typical,
        "high": high,
        "marks": [float(planning.fact(name).value) for name in ("fair_share", "good_share")],
        "text": kept_range(low, high),
        "words": f"{kept_share(typical)}, between {kept_share(low)} and {kept_share(high)}",
    }


def judged(
    workbook: Workbook,
    table: Table,
    column: str,
    uses: Sequence[RemoteUse | TrainingUse | None],
    verdict: str = "verdict",
    basis: str = "basis",
) -> Table:
    """Return a table with shares of a column as bars, signs beside verdicts, and any badges' sources on hovering."""

    def shown(_: int, cell: Cell) -> dict[str, Any]:
        if cell.value is None:
            return {}
        drawn = bar(workbook.catalog, cell.low or 0.0, cell.value, cell.high or 1.0)
        return {"text": kept_share(cell.value), "range": drawn}

    def signed(_: int, cell: Cell) -> dict[str, Any]:
        return {"text": "", "mark": MARKS[cell.value]} if cell.value in MARKS else {}

    def sourced(n: int, _: Cell) -> dict[str, Any]:
        use = uses[n]
        return {"title": source_titles(workbook, use.sources if use else ())}

    table = table.dressed(column, shown).dressed(verdict, signed)
    return table.dressed(basis, sourced) if basis else table


def with_changes(table: Table, uses: Sequence[RemoteUse | TrainingUse]) -> Table:
    """Return a table with the changes that would let each workload keep more of its speed."""
    cells = [Cell("; ".join(use.changes) or "\u2013", tone="help") for use in uses]
    return table.beside(Column("changes", "What would change it"), cells, after="basis")
