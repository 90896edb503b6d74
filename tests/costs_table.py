"""A small table with money, a share, sources and a missing price, for tests of what shows tables."""

from __future__ import annotations

from gpuplan.report.table import Cell, Column, Table

COSTS = Table(
    "costs",
    (
        Column("part", "Part"),
        Column("total", "Paid in all", "money", "EUR"),
        Column("share", "Share", "share"),
        Column("sources", "Sources", "sources", detail=True),
    ),
    (
        ("GPUs", Cell(1_234_567.4, line="cost.gpus"), 0.25, ("a", "b")),
        ("Racks", Cell(None, words="no price known"), None, ()),
    ),
    notes=("Prices of today.",),
    title="What is paid",
)
