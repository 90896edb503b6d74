"""What other programs get of a table."""

from __future__ import annotations

import csv
import io

from costs_table import COSTS

from gpuplan.report.exported import csv_text, frame
from gpuplan.report.table import Column, Table, records


def test_programs_get_what_was_not_rounded() -> None:
    assert records(COSTS)[0] == {"part": "GPUs", "total": 1_234_567.4, "share": 0.25, "sources": ("a", "b")}
    assert next(csv.DictReader(io.StringIO(csv_text(COSTS))))["total"] == "1234567.4"
    assert frame(COSTS)["total"][0] == 1_234_567.4


def test_no_cell_is_a_formula_to_a_spreadsheet() -> None:
    table = Table(
        "cells", (Column("a", "A"), Column("b", "B", "yes")), (("=1+1", True), (("x", "y"), False)), title=""
    )
    assert csv_text(table).splitlines() == ["a,b", "'=1+1,yes", "x; y,no"]
